/* show.c: a page as an image, and as text. What a worker answers is looked at before anybody else sees it: an image
 * is a PNG of the size asked for, a text is JSON. */
#include "pdf/worker.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct shown_t {
    const char *reason, *unavailable;
    bool missing, costly;
    int width; /* asked for */
    sr_pdf_output_t *output;
    sr_pdf_image_t *image;
    sr_pdf_text_t *text;
} shown_t;

static int number_at(const unsigned char *bytes)
{
    return (int)((uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3]);
}

/* The signature, the first chunk's size and type, and the size of the image in it. */
static bool read_image(shown_t *shown, const json_t *answer, apr_pool_t *pool)
{
    static const unsigned char start[16] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
                                            0,    0,   0,   13,  'I',  'H',  'D',  'R'};
    sr_pdf_image_t *image = shown->image;
    unsigned char bytes[sizeof start + 8];
    if (pread(shown->output->descriptor, bytes, sizeof bytes, 0) != sizeof bytes) return false;
    if (memcmp(bytes, start, sizeof start) != 0) return false;
    *image = (sr_pdf_image_t){.png = shown->output,
                              .width = number_at(bytes + sizeof start),
                              .height = number_at(bytes + sizeof start + 4),
                              .gray = json_is_true(json_object_get(answer, "gray"))};
    return image->width == shown->width && image->height > 0;
}

static bool read_text(shown_t *shown, const json_t *answer, apr_pool_t *pool)
{
    apr_size_t length = (apr_size_t)shown->output->size;
    char *json = apr_palloc(pool, length + 1);
    json_t *parsed;
    if (pread(shown->output->descriptor, json, length, 0) != (ssize_t)length) return false;
    json[length] = '\0';
    *shown->text = (sr_pdf_text_t){.json = json, .length = length, .output = shown->output};
    if (sr_json_parse(&parsed, json, length, pool)) return false;
    return json_is_array(json_object_get(parsed, "lines"));
}

static bool read_shown(void *result, const json_t *answer, apr_pool_t *pool)
{
    shown_t *shown = result;
    shown->missing = json_is_true(json_object_get(answer, "missing"));
    if (shown->missing) return true;
    if (json_object_get(answer, "length"))
        return shown->image ? read_image(shown, answer, pool) : read_text(shown, answer, pool);
    const char *refused = sr_json_string(answer, "refused"), *unavailable = sr_json_string(answer, "unavailable");
    if (!sr_pdf_is_plain(refused ? refused : unavailable)) return false;
    if (refused) shown->reason = apr_pstrdup(pool, refused);
    else shown->unavailable = apr_pstrdup(pool, unavailable);
    return true;
}

static sr_error_t *show(shown_t *shown, sr_pdf_pool_t *workers, sr_pdf_question_t *question, apr_pool_t *pool)
{
    bool failed = false;
    shown->output = apr_palloc(pool, sizeof *shown->output);
    *shown->output = (sr_pdf_output_t){.descriptor = -1};
    question->output = shown->output;
    question->class = SR_PDF_SHOW;
    question->timeout = workers->shared->options.show_timeout;
    question->read = read_shown;
    question->result = shown;
    SR_TRY(sr_pdf_put(&failed, workers, question, pool));
    shown->costly = failed;
    if (failed) shown->reason = SR_PDF_LIMITS_REASON;
    else if (shown->missing) return sr_error(pool, SR_ENOTFOUND, "Not found");
    else if (shown->unavailable)
        return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "Pages cannot be shown on this server"), pool, "%s",
                                shown->unavailable);
    return NULL;
}

sr_error_t *sr_pdf_render(sr_pdf_image_t *image, sr_pdf_pool_t *workers, int descriptor, int page, int width,
                          apr_pool_t *pool)
{
    shown_t shown = {.width = width, .image = image};
    sr_pdf_question_t question = {.op = SR_PDF_OP_RENDER, .descriptor = descriptor, .room = SR_PDF_MAX_PNG};
    if (page < 0) return sr_error(pool, SR_ENOTFOUND, "Not found");
    if (width < SR_PDF_MIN_WIDTH || width > SR_PDF_MAX_WIDTH)
        return sr_error(pool, SR_EBADREQUEST, "width must be %d to %d", SR_PDF_MIN_WIDTH, SR_PDF_MAX_WIDTH);
    question.text = apr_psprintf(pool, "{\"op\":\"%s\",\"page\":%d,\"width\":%d}", question.op, page, width);
    SR_TRY(show(&shown, workers, &question, pool));
    if (shown.reason) *image = (sr_pdf_image_t){.reason = shown.reason, .costly = shown.costly};
    return NULL;
}

sr_error_t *sr_pdf_text(sr_pdf_text_t *text, sr_pdf_pool_t *workers, int descriptor, int page, apr_pool_t *pool)
{
    shown_t shown = {.text = text};
    sr_pdf_question_t question = {.op = SR_PDF_OP_TEXT, .descriptor = descriptor, .room = SR_PDF_MAX_PAGE_TEXT};
    if (page < 0) return sr_error(pool, SR_ENOTFOUND, "Not found");
    question.text = apr_psprintf(pool, "{\"op\":\"%s\",\"page\":%d}", question.op, page);
    SR_TRY(show(&shown, workers, &question, pool));
    if (shown.reason) *text = (sr_pdf_text_t){.reason = shown.reason, .costly = shown.costly};
    return NULL;
}
