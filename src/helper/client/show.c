/* SPDX-License-Identifier: Apache-2.0 */
/* show.c: a page as an image and as text. The response of a worker is checked before it is used: an image must be a PNG
 * or JPEG of the requested width, and a text must be JSON. */
#include "helper/client/worker.h"

#include <string.h>
#include <sys/mman.h>

typedef struct shown_t {
    const char *reason, *unavailable;
    bool missing, costly;
    int width; /* the requested width */
    bool png;  /* the image must be a PNG */
    sr_pdf_output_t *output;
    sr_pdf_image_t *image;
    sr_pdf_text_t *text;
} shown_t;

static int show_number_at(const unsigned char *bytes)
{
    return (int)((uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3]);
}

/* Checks the PNG signature and the head of the first chunk, and reads the size of the image. */
static bool read_png(sr_pdf_image_t *image, const unsigned char *bytes, apr_size_t length)
{
    static const unsigned char start[16] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
                                            0,    0,   0,   13,  'I',  'H',  'D',  'R'};
    if (length < sizeof start + 8 || memcmp(bytes, start, sizeof start) != 0) return false;
    image->width = show_number_at(bytes + sizeof start);
    image->height = show_number_at(bytes + sizeof start + 4);
    return true;
}

/* Skips the segments before the frame header, which contains the size of the image (ITU-T T.81, B.1 and B.2.2). libjpeg
 * writes these segments first. */
static bool read_jpeg(sr_pdf_image_t *image, const unsigned char *bytes, apr_size_t length)
{
    if (length < 4 || bytes[0] != 0xff || bytes[1] != 0xd8) return false;
    for (apr_size_t at = 2; at + 9 <= length && bytes[at] == 0xff;) {
        const unsigned char *segment = bytes + at;
        if (segment[1] == 0xc0) {
            image->height = segment[5] << 8 | segment[6];
            image->width = segment[7] << 8 | segment[8];
            return true;
        }
        if ((segment[1] & 0xf0) != 0xe0 && segment[1] != 0xdb)
            return false; /* only APPn and DQT segments are skipped */
        at += 2 + (apr_size_t)(segment[2] << 8 | segment[3]);
    }
    return false;
}

static bool read_image(shown_t *shown, const json_t *response, apr_pool_t *pool)
{
    sr_pdf_image_t *image = shown->image;
    unsigned char bytes[1024];
    const apr_ssize_t length = sr_descriptor_read(shown->output->descriptor, bytes, sizeof bytes, 0);
    *image = (sr_pdf_image_t){.output = shown->output, .gray = json_is_true(json_object_get(response, "gray"))};
    if (length < 0) return false;
    if (!read_png(image, bytes, (apr_size_t)length)) {
        image->jpeg = read_jpeg(image, bytes, (apr_size_t)length);
        if (!image->jpeg || shown->png) return false;
    }
    return image->width == shown->width && image->height > 0;
}

static bool show_read_text(shown_t *shown, const json_t *response, apr_pool_t *pool)
{
    json_t *parsed;
    const char *json = sr_pdf_output_json(&parsed, shown->output, pool);
    *shown->text = (sr_pdf_text_t){.json = json, .length = (apr_size_t)shown->output->size, .output = shown->output};
    return json && json_is_array(json_object_get(parsed, "lines"));
}

static bool read_shown(void *result, const json_t *response, apr_pool_t *pool)
{
    shown_t *shown = result;
    shown->missing = json_is_true(json_object_get(response, "missing"));
    if (shown->missing) return true;
    if (json_object_get(response, "length"))
        return shown->image ? read_image(shown, response, pool) : show_read_text(shown, response, pool);
    const char *refused = sr_json_string(response, "refused"), *unavailable = sr_json_string(response, "unavailable");
    if (!sr_pdf_is_plain(refused ? refused : unavailable)) return false;
    if (refused) shown->reason = apr_pstrdup(pool, refused);
    else shown->unavailable = apr_pstrdup(pool, unavailable);
    return true;
}

static sr_error_t *show(shown_t *shown, sr_pdf_pool_t *workers, sr_pdf_request_t *request, apr_pool_t *pool)
{
    bool failed = false;
    shown->output = apr_palloc(pool, sizeof *shown->output);
    *shown->output = (sr_pdf_output_t){.descriptor = -1};
    request->output = shown->output;
    request->class = SR_PDF_SHOW;
    request->timeout = workers->shared->options.show_timeout;
    request->read = read_shown;
    request->result = shown;
    SR_TRY(sr_pdf_put(&failed, workers, request, pool));
    shown->costly = failed;
    if (failed) shown->reason = SR_PDF_LIMITS_REASON;
    else if (shown->missing) return sr_error(pool, SR_ENOTFOUND, "Not found");
    else if (shown->unavailable)
        return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "Pages cannot be shown on this server"), pool, "%s",
                                shown->unavailable);
    return NULL;
}

sr_error_t *sr_pdf_render(sr_pdf_image_t *image, sr_pdf_pool_t *workers, int descriptor, int page, int width, bool png,
                          apr_pool_t *pool)
{
    shown_t shown = {.width = width, .png = png, .image = image};
    sr_pdf_request_t request = {.op = SR_PDF_OP_RENDER, .descriptor = descriptor, .room = SR_PDF_MAX_PNG};
    if (page < 0) return sr_error(pool, SR_ENOTFOUND, "Not found");
    if (width < SR_PDF_MIN_WIDTH || width > SR_PDF_MAX_WIDTH)
        return sr_error(pool, SR_EBADREQUEST, "width must be %d to %d", SR_PDF_MIN_WIDTH, SR_PDF_MAX_WIDTH);
    request.text = apr_psprintf(pool, "{\"op\":\"%s\",\"page\":%d,\"width\":%d,\"png\":%s}", request.op, page, width,
                                png ? "true" : "false");
    SR_TRY(show(&shown, workers, &request, pool));
    if (shown.reason) *image = (sr_pdf_image_t){.reason = shown.reason, .costly = shown.costly};
    return NULL;
}

sr_error_t *sr_pdf_text(sr_pdf_text_t *text, sr_pdf_pool_t *workers, int descriptor, int page, apr_pool_t *pool)
{
    shown_t shown = {.text = text};
    sr_pdf_request_t request = {.op = SR_PDF_OP_TEXT, .descriptor = descriptor, .room = SR_PDF_MAX_PAGE_TEXT};
    if (page < 0) return sr_error(pool, SR_ENOTFOUND, "Not found");
    request.text = apr_psprintf(pool, "{\"op\":\"%s\",\"page\":%d}", request.op, page);
    SR_TRY(show(&shown, workers, &request, pool));
    if (shown.reason) *text = (sr_pdf_text_t){.reason = shown.reason, .costly = shown.costly};
    return NULL;
}
