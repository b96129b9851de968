/* SPDX-License-Identifier: Apache-2.0 */
/* preview.c: draws a signature before it is made. A worker draws it as it would draw it in a document. The response is
 * sent to the signer's own browser and is checked first: paths may only contain numbers and path commands, and an image
 * must be base64. */
#include "helper/client/preview.h"
#include "helper/client/worker.h"

#include <openssl/evp.h>
#include <string.h>

void sr_pdf_mark_ask(json_t *request, const sr_pdf_mark_t *mark, apr_pool_t *pool)
{
    json_t *ink = NULL;
    if (mark->ink && !sr_json_parse(&ink, mark->ink->text, strlen(mark->ink->text), pool))
        json_object_set(request, "ink", ink);
    if (mark->text) json_object_set_new(request, "text", json_string(mark->text));
    if (!mark->image) return;
    char *digits = apr_palloc(pool, 4 * (mark->image_size / 3 + 1) + 1);
    EVP_EncodeBlock((unsigned char *)digits, mark->image, (int)mark->image_size);
    json_object_set_new(request, "image", json_string(digits));
}

void sr_pdf_signature_ask(json_t *request, const sr_pdf_signature_t *signature, apr_pool_t *pool)
{
    const sr_pdf_mark_t mark = {signature->ink, signature->text, signature->image, signature->image_size};
    sr_pdf_mark_ask(request, &mark, pool);
    if (signature->captions) json_object_set(request, "captions", (json_t *)signature->captions);
    if (signature->seal)
        json_object_set_new(request, "seal",
                            json_pack("{s:s,s:b}", "name", signature->seal, "right", signature->right));
}

const char *sr_pdf_signature_fault(const sr_pdf_signature_t *signature)
{
    const sr_pdf_mark_t *initials = signature->initials;
    const bool is_large = signature->image && signature->image_size > SR_PDF_MAX_IMAGE_BYTES;
    if (is_large || (initials && initials->image && initials->image_size > SR_PDF_MAX_IMAGE_BYTES))
        return "The image is larger than 1 MiB";
    return NULL;
}

typedef struct response_t {
    sr_pdf_preview_t *preview;
    sr_pdf_output_t *output;
    const char *text; /* the typed text of the request, or NULL */
    size_t captions;  /* the number of captions in the request */
} response_t;

static bool is_made_of(const json_t *value, const char *letters)
{
    const char *text = json_string_value(value);
    return text && *text && strspn(text, letters) == json_string_length(value);
}

static bool is_path(const json_t *path)
{
    const json_t *stroke = json_object_get(path, "stroke");
    return is_made_of(json_object_get(path, "d"), "MLCZ 0123456789.-") && (!stroke || json_number_value(stroke) > 0)
           && json_object_size(path) == (stroke ? 2 : 1);
}

static bool is_image(const json_t *drawing)
{
    const char *type = sr_json_string(drawing, "type");
    return type && (!strcmp(type, "image/png") || !strcmp(type, "image/jpeg"))
           && is_made_of(json_object_get(drawing, "image"),
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=");
}

static bool has_size(const json_t *drawing)
{
    return json_number_value(json_object_get(drawing, "width")) > 0
           && json_number_value(json_object_get(drawing, "height")) > 0;
}

static bool has_paths(const json_t *drawing)
{
    const json_t *paths = json_object_get(drawing, "paths");
    for (size_t i = 0; i < json_array_size(paths); i++)
        if (!is_path(json_array_get(paths, i))) return false;
    return json_array_size(paths) > 0;
}

bool sr_pdf_has_paths(const json_t *drawing)
{
    return has_size(drawing) && has_paths(drawing) && json_object_size(drawing) == 3;
}

/* Returns true if these are `wanted` captions that contain only paths. */
static bool are_captions(const json_t *captions, size_t wanted)
{
    for (size_t i = 0; i < json_array_size(captions); i++)
        if (!sr_pdf_has_paths(json_array_get(captions, i))) return false;
    return json_array_size(captions) == wanted;
}

static bool is_drawing(const json_t *drawing, size_t captions)
{
    const bool has_image = !json_object_get(drawing, "paths");
    const size_t members = (has_image ? 4 : 3) + (captions > 0);
    return has_size(drawing) && (has_image ? is_image(drawing) : has_paths(drawing))
           && are_captions(json_object_get(drawing, "captions"), captions) && json_object_size(drawing) == members;
}

static bool read_drawing(response_t *response, apr_pool_t *pool)
{
    json_t *drawing;
    const char *text = sr_pdf_output_json(&drawing, response->output, pool);
    *response->preview = (sr_pdf_preview_t){.drawing = text, .length = (apr_size_t)response->output->size};
    return text && is_drawing(drawing, response->captions);
}

/* Returns the characters that cannot be drawn. Only characters of the typed text are accepted. */
static const apr_array_header_t *read_unknown(const response_t *response, const json_t *codes, apr_pool_t *pool)
{
    apr_array_header_t *unknown = apr_array_make(pool, 4, sizeof(const char *));
    const char *at = response->text, *from = at;
    for (uint32_t c; at && (c = sr_text_next(&at)) != 0; from = at)
        for (size_t i = 0; i < json_array_size(codes); i++)
            if (json_integer_value(json_array_get(codes, i)) == (json_int_t)c) {
                const char *character = apr_pstrmemdup(pool, from, (apr_size_t)(at - from));
                bool again = false;
                for (int j = 0; j < unknown->nelts; j++)
                    again = again || !strcmp(character, APR_ARRAY_IDX(unknown, j, const char *));
                if (!again) APR_ARRAY_PUSH(unknown, const char *) = character;
                break;
            }
    return unknown;
}

static bool read_preview(void *result, const json_t *json, apr_pool_t *pool)
{
    response_t *response = result;
    if (json_object_get(json, "length")) return read_drawing(response, pool);
    const char *fault = sr_json_string(json, "fault"), *reason = sr_json_string(json, "reason");
    if (!fault || strcmp(fault, SR_PDF_FAULT_SIGNATURE) != 0 || !sr_pdf_is_plain(reason)) return false;
    *response->preview = (sr_pdf_preview_t){.reason = apr_pstrdup(pool, reason)};
    response->preview->unknown = read_unknown(response, json_object_get(json, "unknown"), pool);
    return true;
}

/* Has a worker draw a signature. `most`: 0, or the bytes of the image that is made of it. */
static sr_error_t *preview_ask(sr_pdf_preview_t *preview, sr_pdf_pool_t *workers, const sr_pdf_signature_t *signature,
                               apr_size_t most, apr_pool_t *pool)
{
    bool failed = false;
    response_t response = {
        .preview = preview, .output = apr_palloc(pool, sizeof *response.output), .text = signature->text};
    response.captions = json_array_size(json_object_get(signature->captions, "texts"));
    sr_pdf_request_t request = {.op = SR_PDF_OP_PREVIEW, .class = most ? SR_PDF_WORK : SR_PDF_SHOW, .descriptor = -1};
    *preview = (sr_pdf_preview_t){.reason = sr_pdf_signature_fault(signature)};
    if (preview->reason) return NULL;
    json_t *asked = sr_json_own(json_object(), pool);
    json_object_set_new(asked, "op", json_string(SR_PDF_OP_PREVIEW));
    if (most) json_object_set_new(asked, "most", json_integer((json_int_t)most));
    sr_pdf_signature_ask(asked, signature, pool);
    *response.output = (sr_pdf_output_t){.descriptor = -1};
    request.text = sr_json_text(asked, pool);
    request.output = response.output;
    request.room = SR_PDF_MAX_PREVIEW;
    request.read = read_preview;
    request.result = &response;
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    if (failed) *preview = (sr_pdf_preview_t){.reason = "The signature could not be drawn within the limits"};
    return NULL;
}

sr_error_t *sr_pdf_preview(sr_pdf_preview_t *preview, sr_pdf_pool_t *workers, const sr_pdf_signature_t *signature,
                           apr_pool_t *pool)
{
    return preview_ask(preview, workers, signature, 0, pool);
}

#define PNG_BYTES(most) (((most)-16) / 4 * 3) /* in base64, in {"png":"…"} */

sr_error_t *sr_pdf_drawing(const char **drawing, sr_pdf_pool_t *workers, const sr_pdf_signature_t *signature,
                           apr_size_t most, apr_pool_t *pool)
{
    json_t *parameters = sr_json_own(json_object(), pool), *image;
    sr_pdf_preview_t preview;
    if (!signature->image) {
        sr_pdf_signature_ask(parameters, signature, pool);
        *drawing = sr_json_text(parameters, pool);
        if (strlen(*drawing) <= most) return NULL;
    }
    *drawing = NULL;
    SR_TRY(preview_ask(&preview, workers, signature, PNG_BYTES(most), pool));
    if (!preview.drawing || sr_json_parse(&image, preview.drawing, preview.length, pool)) return NULL;
    json_object_set(parameters, "png", json_object_get(image, "image"));
    json_object_del(parameters, "ink");
    const char *text = sr_json_text(parameters, pool);
    if (json_object_get(parameters, "png") && strlen(text) <= most) *drawing = text;
    return NULL;
}
