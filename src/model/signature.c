/* SPDX-License-Identifier: Apache-2.0 */
/* signature.c: parses the signature that a signer sends. Only the helper can tell whether an uploaded image is valid.
 */
#include "model/model.h"

#include <apr_base64.h>
#include <string.h>

#define TEXT_MAX_CHARACTERS 200

sr_error_t *sr_signature_typed(sr_signature_t *signature, const char *text, apr_pool_t *pool)
{
    if (!text || sr_text_is_blank(text))
        return sr_error(pool, SR_EBADREQUEST, "A typed signature must have a text that is not blank");
    const char *fault = sr_text_fault(text, TEXT_MAX_CHARACTERS, pool);
    if (fault) return sr_error(pool, SR_EBADREQUEST, "A typed signature %s", fault);
    *signature = (sr_signature_t){.kind = "typed", .text = text};
    return NULL;
}

static sr_error_t *typed(sr_signature_t *signature, const json_t *sent, apr_pool_t *pool)
{
    return sr_signature_typed(signature, sr_json_string(sent, "text"), pool);
}

static sr_error_t *drawn(sr_signature_t *signature, const json_t *sent, apr_pool_t *pool)
{
    sr_ink_t *ink;
    SR_TRY(sr_ink_parse(&ink, sent, pool));
    *signature = (sr_signature_t){.kind = "drawn", .ink = ink};
    return NULL;
}

/* apr_base64 stops at an unknown character, so it gets only text that is base64 up to its end. */
static bool is_base64(const char *text, apr_size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const apr_size_t used = strspn(text, digits);
    return length && length % 4 == 0 && used + strspn(text + used, "=") == length && length - used <= 2;
}

sr_error_t *sr_signature_uploaded(sr_signature_t *signature, const void *image, apr_size_t size, apr_pool_t *pool)
{
    *signature = (sr_signature_t){.kind = "uploaded", .image = image, .image_size = size};
    if (size <= SR_SIGNATURE_IMAGE_MAX) return NULL;
    return sr_error(pool, SR_EBADREQUEST, "The image of a signature must be at most 1 MiB");
}

static sr_error_t *uploaded(sr_signature_t *signature, const json_t *sent, apr_pool_t *pool)
{
    static const char *const heads[] = {"data:image/png;base64,", "data:image/jpeg;base64,", "data:image/webp;base64,"};
    const char *url = sr_json_string(sent, "image");
    size_t i;
    for (i = 0; url && i < sizeof heads / sizeof *heads; i++) {
        const apr_size_t head = strlen(heads[i]);
        const char *text = url + head;
        unsigned char *image;
        if (strncmp(url, heads[i], head) != 0) continue;
        if (!is_base64(text, strlen(text))) break;
        image = apr_palloc(pool, (apr_size_t)apr_base64_decode_len(text));
        return sr_signature_uploaded(signature, image, (apr_size_t)apr_base64_decode_binary(image, text), pool);
    }
    return sr_error(pool, SR_EBADREQUEST,
                    "An uploaded signature must be a PNG, JPEG or WebP image as a base64 data URL");
}

sr_error_t *sr_signature_parse(sr_signature_t *signature, const json_t *sent, apr_pool_t *pool)
{
    static const struct {
        const char *type;
        sr_error_t *(*parse)(sr_signature_t *signature, const json_t *sent, apr_pool_t *pool);
    } types[] = {{"drawn", drawn}, {"typed", typed}, {"uploaded", uploaded}};
    const char *type = sr_json_string(sent, "type");
    size_t i;

    for (i = 0; type && i < sizeof types / sizeof *types; i++)
        if (!strcmp(type, types[i].type)) return types[i].parse(signature, sent, pool);
    return sr_error(pool, SR_EBADREQUEST, "A signature must be of type drawn, typed or uploaded");
}
