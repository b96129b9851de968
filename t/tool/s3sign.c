/* SPDX-License-Identifier: Apache-2.0 */
/* s3sign.c: signs requests to S3 for t/tool/sigv4.py. It reads one JSON object for each line, and writes what
 * src/blobs/s3 makes of it as another one. */
#include "blobs/s3/s3.h"

#include <stdio.h>
#include <stdlib.h>

static const sr_s3_pair_t *pairs_of(int *count, const json_t *list, apr_pool_t *pool)
{
    sr_s3_pair_t *pairs = apr_pcalloc(pool, (json_array_size(list) + 1) * sizeof *pairs);
    json_t *pair;
    size_t i;
    json_array_foreach (list, i, pair)
        pairs[i] =
            (sr_s3_pair_t){json_string_value(json_array_get(pair, 0)), json_string_value(json_array_get(pair, 1))};
    *count = (int)json_array_size(list);
    return pairs;
}

static void sign(const json_t *row, apr_pool_t *pool)
{
    const sr_s3_credentials_t credentials = {sr_json_string(row, "access"), sr_json_string(row, "secret"),
                                             sr_json_string(row, "token")};
    sr_s3_request_t request = {.method = sr_json_string(row, "method"),
                               .scheme = sr_json_string(row, "scheme"),
                               .authority = sr_json_string(row, "authority"),
                               .path = sr_json_string(row, "path"),
                               .payload = sr_json_string(row, "payload"),
                               .region = sr_json_string(row, "region"),
                               .credentials = &credentials,
                               .now = apr_time_from_sec(json_integer_value(json_object_get(row, "now")))};
    sr_s3_signed_t result;
    request.query = pairs_of(&request.query_count, json_object_get(row, "query"), pool);
    request.headers = pairs_of(&request.header_count, json_object_get(row, "headers"), pool);
    sr_s3_sign(&result, &request, pool);
    json_t *out = json_pack("[s,s,s,s]", result.canonical, result.to_sign, result.url, result.signature);
    puts(out ? sr_json_text(sr_json_own(out, pool), pool) : "null");
}

int main(void)
{
    apr_pool_t *pool;
    char *line = NULL;
    size_t room = 0;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    while (getline(&line, &room, stdin) > 0) {
        json_t *row;
        if (sr_json_read(&row, line, pool)) return EXIT_FAILURE;
        sign(row, pool);
        apr_pool_clear(pool);
    }
    free(line);
    apr_pool_destroy(pool);
    apr_terminate();
    return EXIT_SUCCESS;
}
