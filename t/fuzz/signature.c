/* SPDX-License-Identifier: Apache-2.0 */
/* signature.c: signatures as signers send them. Everything that is accepted is within the limits, and every refusal
 * has a message. */
#include "fuzz.h"
#include "model/model.h"

static void check_error(const sr_error_t *error)
{
    fuzz_must(error->code == SR_EBADREQUEST && error->message && *error->message);
    fuzz_must(sr_text_is_utf8(error->message, strlen(error->message)));
}

static void check(const sr_signature_t *signature, apr_pool_t *pool)
{
    fuzz_must(signature->kind && !signature->ink + !signature->text + !signature->image == 2);
    if (signature->text) {
        fuzz_must(!sr_text_is_blank(signature->text) && sr_text_length(signature->text) <= 200);
        fuzz_must(sr_text_printable(signature->text, pool) == signature->text);
    }
    if (signature->image) fuzz_must(signature->image_size > 0 && signature->image_size <= 1 << 20);
    if (signature->ink) fuzz_must(signature->ink->points > 0 && signature->ink->points <= SR_INK_MAX_POINTS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    apr_pool_t *pool = fuzz_pool();
    sr_signature_t signature = {0};
    json_t *sent;
    sr_error_t *error = sr_json_parse(&sent, (const char *)data, size, pool);
    if (!error) error = sr_signature_parse(&signature, sent, pool);
    if (error) check_error(error);
    else check(&signature, pool);

    char *text = fuzz_text(data, size); /* a typed one, out of a form */
    if (text && sr_text_is_utf8(text, size)) {
        error = sr_signature_typed(&signature, text, pool);
        if (error) check_error(error);
        else check(&signature, pool);
    }
    free(text);
    apr_pool_destroy(pool);
    return 0;
}
