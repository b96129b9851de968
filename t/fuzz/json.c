/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: our strict reading of JSON: what is read can be written and read again as the same, and the tolerant reading
 * takes all that the strict one takes. */
#include "fuzz.h"

static int depth_of(const json_t *value)
{
    const char *key;
    json_t *item;
    size_t i;
    int deepest = 0, depth;
    json_array_foreach (value, i, item) {
        depth = depth_of(item);
        if (depth > deepest) deepest = depth;
    }
    json_object_foreach ((json_t *)(uintptr_t)value, key, item) {
        depth = depth_of(item);
        if (depth > deepest) deepest = depth;
    }
    return deepest + (json_is_array(value) || json_is_object(value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    apr_pool_t *pool = fuzz_pool();
    json_t *strict = NULL, *tolerant = NULL, *again = NULL;
    sr_error_t *error = sr_json_parse(&strict, (const char *)data, size, pool);
    sr_error_t *other = sr_json_parse_tolerant(&tolerant, (const char *)data, size, size, pool);
    if (error) {
        fuzz_must(error->code == SR_EBADREQUEST && sr_text_is_utf8(error->message, strlen(error->message)));
    } else {
        char *text = json_dumps(strict, JSON_COMPACT | JSON_ENCODE_ANY);
        fuzz_must(!other && json_equal(strict, tolerant) && depth_of(strict) <= SR_JSON_MAX_DEPTH);
        fuzz_must(!sr_json_parse(&again, text, strlen(text), pool) && json_equal(strict, again));
        fuzz_must(sr_text_is_utf8(text, strlen(text)));
        free(text);
    }
    if (!other) fuzz_must(tolerant);
    apr_pool_destroy(pool);
    return 0;
}
