/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_marks.h: what the tests of signatures in composed documents share: such documents, what is seen of a signature in
 * them, and documents that were signed with it. */
#ifndef SR_TEST_PDF_MARKS_H
#define SR_TEST_PDF_MARKS_H

#include "pdf_pixels.h"

#include <apr_encode.h>

#define DPI 144
#define PLACE_LEFT 328 /* pixels: 164 points, where values begin */
#define PLACE_RIGHT 863
#define PLACE_HEIGHT 64
#define CHUNK 24000
#define ARCHIVE "/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(x)>>]"

static seal_bench_t bench;
static const sr_cipher_t plain;
static pixels_t empty; /* the page with a mark that is not drawn */

/* -------------------------------------------------------------------------------------------- composed documents */

typedef struct bytes_t {
    void *data;
    size_t size;
} bytes_t;

/* A document with a row of text and so many of the same mark, whose reference is given away. */
static inline bytes_t compose(json_t *mark, int rows, const char *direction, apr_pool_t *pool)
{
    sr_pdf_composed_t composed;
    json_t *list = json_pack("[[s,s]]", "Above", "gjpqy, gjpqy");
    for (int i = 0; i < rows; i++)
        json_array_append_new(list, json_pack("{s:[s,{s:O}]}", "cells", "Mark", "mark", mark));
    json_decref(mark);
    json_t *what = json_pack("{s:s,s:s,s:[{s:[{s:o}]}]}", "time", "2026-11-20T18:09:23.5Z", "dir", direction,
                             "sections", "items", "rows", list);
    sr_error_t *error = sr_pdf_compose(&composed, bench.workers, sr_json_own(what, pool), pool);
    if (error || composed.reason) {
        printf("Bail out! not composed: %s\n", error ? error->cause : composed.reason);
        exit(1);
    }
    const size_t size = (size_t)composed.document->size;
    const bytes_t bytes = {apr_palloc(pool, size), size};
    if (pread(composed.document->descriptor, bytes.data, size, 0) != (ssize_t)size) abort();
    return bytes;
}

static inline pixels_t show(json_t *mark, const char *direction, apr_pool_t *pool)
{
    const bytes_t bytes = compose(mark, 1, direction, pool);
    return pixels_render(&bench, bytes.data, bytes.size, DPI, pool);
}

static inline json_t *mark_of(const char *objects, size_t size, apr_pool_t *pool)
{
    json_t *mark = json_array();
    for (size_t at = 0; at < size; at += CHUNK) {
        const apr_ssize_t count = (apr_ssize_t)(size - at < CHUNK ? size - at : CHUNK);
        const char *text = apr_pencode_base64(pool, objects + at, count, APR_ENCODE_NONE, NULL);
        json_array_append_new(mark, json_string(text));
    }
    return mark;
}

/* The same document has the same bytes. */
static inline bool is_drawn(json_t *mark, apr_pool_t *pool)
{
    const bytes_t with = compose(mark, 1, "ltr", pool), without = compose(json_array(), 1, "ltr", pool);
    return with.size != without.size || memcmp(with.data, without.data, with.size) != 0;
}

typedef struct seen_t {
    int left, top, right, bottom; /* around what is dark */
    int dark, gray, covered;      /* pixels */
} seen_t;

/* What there is on a page that is not on the empty one. */
static inline seen_t look_at(const pixels_t *page)
{
    seen_t seen = {.left = INT_MAX, .top = INT_MAX};
    for (int y = 0; y < page->height; y++)
        for (int x = 0; x < page->width; x++) {
            const int gray = page->gray[y * page->width + x], before = empty.gray[y * page->width + x];
            seen.covered += before < 255 && gray != before;
            if (before != 255 || gray > 200) continue;
            seen.gray += gray > 90;
            if (gray > 90) continue;
            seen.dark++;
            if (x < seen.left) seen.left = x;
            if (x >= seen.right) seen.right = x + 1;
            if (y < seen.top) seen.top = y;
            seen.bottom = y + 1;
        }
    return seen;
}

/* ------------------------------------------------------------------------------------------------ signed documents */

/* What was appended to a document when it was signed; its `base` is where. */
static inline pdf_t sign(pdf_t pdf, sr_pdf_signature_t *signature, apr_pool_t *pool)
{
    const sr_pdf_field_t field = seal_field("ann", 0, 50, 50, 200, 100);
    pdf_t appended = {0};
    signature->signer = "ann";
    signature->name = "Ann";
    signature->time = apr_time_from_sec(1800000000);
    const char *reason = seal_prepare(&bench, &pdf, &field, 1, pool);
    if (!reason) reason = seal_fill(&bench, &pdf, signature, pool);
    is_str(reason, NULL, "signed");
    if (reason) exit(done());
    pdf_add(&appended, pdf.data + pdf.base, pdf.size - pdf.base);
    appended.base = pdf.base;
    free(pdf.data);
    return appended;
}

static inline sr_pdf_revised_t revised(const pdf_t *appended)
{
    return (sr_pdf_revised_t){appended->data, appended->size, (apr_off_t)appended->base};
}

static inline json_t *found_mark(const pdf_t *appended, const sr_cipher_t *cipher, apr_size_t most, apr_pool_t *pool)
{
    const sr_pdf_revised_t revision = revised(appended);
    return sr_pdf_mark(&revision, cipher, most, pool);
}

static inline pdf_t document(bool archival)
{
    return pdf_document(
        &(pdf_parts_t){.pages = 1, .page = "/MediaBox[0 0 612 792]", .catalog = archival ? ARCHIVE : ""});
}

typedef enum kind_t { BLENDED, OPAQUE, GRAY_JPEG, COLOUR_JPEG } kind_t;

/* A PNG of black that is opaque in its first third, half transparent in the second, and transparent in the last. */
static inline const void *blended(size_t *size, int width, int height, apr_pool_t *pool)
{
    unsigned char *pixels = calloc((size_t)width * (size_t)height, 2);
    if (!pixels) abort();
    for (int i = 0; i < width * height; i++) pixels[2 * i + 1] = (unsigned char[]){255, 128, 0}[i % width * 3 / width];
    const void *png = pixels_png(size, pixels, width, height, PNG_FORMAT_GA, pool);
    free(pixels);
    return png;
}

static inline const void *image_of(size_t *size, kind_t kind, apr_pool_t *pool)
{
    if (kind == BLENDED) return blended(size, 90, 30, pool);
    if (kind == OPAQUE) return pixels_png(size, apr_pcalloc(pool, 90 * 30 * 3), 90, 30, PNG_FORMAT_RGB, pool);
    return pixels_jpeg(size, kind == GRAY_JPEG ? 1 : 3, pool);
}

/* The objects of a mark, as a document that was signed with it has them. */
static inline pdf_t objects_of(const void *image, size_t size, bool archival, apr_pool_t *pool)
{
    sr_pdf_signature_t signature = {.image = image, .image_size = size};
    pdf_t appended = sign(document(archival), &signature, pool), objects = {0};
    json_t *mark = found_mark(&appended, &plain, 1 << 20, pool);
    ok(json_array_size(mark) > 0, "… it is found");
    for (size_t i = 0; i < json_array_size(mark); i++) {
        apr_size_t length;
        const char *text = json_string_value(json_array_get(mark, i));
        const void *bytes = apr_pdecode_base64(pool, text, APR_ENCODE_STRING, APR_ENCODE_NONE, &length);
        pdf_add(&objects, bytes, length);
    }
    json_decref(mark);
    free(appended.data);
    return objects;
}

static inline void marks_begin(void)
{
    bench = seal_begin(30000); /* twenty large images take long on a busy machine */
    empty = show(json_array(), "ltr", bench.pool);
}

#endif
