/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_drawing.c: drawings of signatures, as they are kept for the certificate of completion: strokes, typed texts, and
 * images of each format and size. A composed document shows them at their place and with their proportions. What
 * cannot be drawn is left out, and no worker is lost by it. */
#include "pdf_pixels.h"

#include <apr_encode.h>

#define DPI 144
#define PLACE_LEFT 328 /* pixels: 164 points, where values begin */
#define PLACE_RIGHT 863
#define PLACE_HEIGHT 64

static seal_bench_t bench;
static pixels_t empty; /* the page with nothing drawn */

/* -------------------------------------------------------------------------------------------- composed documents */

typedef struct bytes_t {
    void *data;
    size_t size;
} bytes_t;

/* Composes a document with a row of text and this number of rows with the drawing, a JSON text. */
static bytes_t compose(const char *drawing, int rows, const char *direction, apr_pool_t *pool)
{
    sr_pdf_composed_t composed;
    json_t *list = json_pack("[[s,s]]", "Above", "gjpqy, gjpqy"), *value;
    if (sr_json_read(&value, drawing, pool)) abort();
    for (int i = 0; i < rows; i++)
        json_array_append_new(list, json_pack("{s:[s,{s:O}]}", "cells", "Signature", "drawing", value));
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

static pixels_t show(const char *drawing, const char *direction, apr_pool_t *pool)
{
    const bytes_t bytes = compose(drawing, 1, direction, pool);
    return pixels_render(&bench, bytes.data, bytes.size, DPI, pool);
}

/* The same document has the same bytes. */
static bool is_drawn(const char *drawing, apr_pool_t *pool)
{
    const bytes_t with = compose(drawing, 1, "ltr", pool), without = compose("{}", 1, "ltr", pool);
    return with.size != without.size || memcmp(with.data, without.data, with.size) != 0;
}

typedef struct seen_t {
    int left, top, right, bottom; /* around the dark pixels */
    int dark, gray, covered;      /* pixels */
} seen_t;

/* Describes what a page has and the empty one has not. */
static seen_t look_at(const pixels_t *page)
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

static bool is_near(double value, double want, double share)
{
    return fabs(value - want) <= share * fmax(want, 1);
}

/* Two drawings are seen in the same place. */
static bool is_same_place(const char *one, const char *other, apr_pool_t *pool)
{
    pixels_t page = show(one, "rtl", pool);
    const seen_t first = look_at(&page);
    page = show(other, "rtl", pool);
    const seen_t second = look_at(&page);
    printf("# from %d to %d, from %d to %d\n", first.left, first.right, second.left, second.right);
    return first.dark > 100 && abs(first.left - second.left) < 3 && abs(first.right - second.right) < 3
           && abs(first.top - second.top) < 3 && abs(first.bottom - second.bottom) < 3;
}

/* --------------------------------------------------------------------------------------------------- signatures */

/* Returns the drawing of a signature in at most `most` bytes, or NULL. */
static const char *drawing_of(const sr_pdf_signature_t *signature, size_t most, apr_pool_t *pool)
{
    const char *drawing;
    sr_error_t *error = sr_pdf_drawing(&drawing, bench.workers, signature, most, pool);
    if (error) printf("# %s: %s\n", error->message, error->cause);
    return error ? NULL : drawing;
}

static const char *drawing_of_image(const void *image, size_t size, size_t most, apr_pool_t *pool)
{
    const sr_pdf_signature_t signature = {.image = image, .image_size = size};
    return drawing_of(&signature, most, pool);
}

/* Returns a PNG of black that is opaque in its first third, half transparent in the second, and transparent in the
 * last. */
static const void *blended(size_t *size, int width, int height, apr_pool_t *pool)
{
    unsigned char *pixels = calloc((size_t)width * (size_t)height, 2);
    if (!pixels) abort();
    for (int i = 0; i < width * height; i++) pixels[2 * i + 1] = (unsigned char[]){255, 128, 0}[i % width * 3 / width];
    const void *png = pixels_png(size, pixels, width, height, PNG_FORMAT_GA, pool);
    free(pixels);
    return png;
}

/* Returns a PNG of noise in which no pixel is lighter than a quarter. */
static const void *noise(size_t *size, int width, int height, apr_pool_t *pool)
{
    unsigned char *pixels = apr_palloc(pool, (size_t)width * (size_t)height * 3);
    unsigned state = 1;
    for (int i = 0; i < width * height * 3; i++)
        pixels[i] = (unsigned char)((state = state * 1103515245 + 12345) >> 16) / 4;
    return pixels_png(size, pixels, width, height, PNG_FORMAT_RGB, pool);
}

/* Returns a drawing of this number of points. */
static const sr_ink_t *scribble(int count, apr_pool_t *pool)
{
    apr_array_header_t *points = apr_array_make(pool, count, sizeof(const char *));
    unsigned state = 1;
    for (int i = 0; i < count; i++) {
        state = state * 1103515245 + 12345;
        APR_ARRAY_PUSH(points, const char *) =
            apr_psprintf(pool, "[%.2f,%.2f]", 3000.0 * i / count, (state >> 16) % 80000 / 100.0 + 100);
    }
    return seal_ink(
        apr_psprintf(pool, "{\"width\":3000,\"height\":1000,\"strokes\":[[%s]]}", apr_array_pstrcat(pool, points, ',')),
        pool);
}

/* -------------------------------------------------------------------------------------------------------- tests */

typedef enum kind_t { BLENDED, OPAQUE, GRAY_JPEG, COLOUR_JPEG } kind_t;

static const struct {
    const char *name;
    kind_t kind;
    double proportion; /* of what is dark */
    double gray;       /* as much as is dark */
} IMAGES[] = {
    {"a PNG with transparency", BLENDED, 1, 1},
    {"an opaque PNG", OPAQUE, 3, 0},
    {"a gray JPEG", GRAY_JPEG, 2, 0},
    {"a JPEG in colours", COLOUR_JPEG, 2, 0},
};

static const void *image_of(size_t *size, kind_t kind, apr_pool_t *pool)
{
    if (kind == BLENDED) return blended(size, 90, 30, pool);
    if (kind == OPAQUE) return pixels_png(size, apr_pcalloc(pool, 90 * 30 * 3), 90, 30, PNG_FORMAT_RGB, pool);
    return pixels_jpeg(size, kind == GRAY_JPEG ? 1 : 3, pool);
}

static void test_images(void)
{
    for (size_t i = 0; i < sizeof IMAGES / sizeof *IMAGES; i++) {
        apr_pool_t *pool;
        size_t size;
        apr_pool_create(&pool, bench.pool);
        const void *image = image_of(&size, IMAGES[i].kind, pool);
        const char *drawing = drawing_of_image(image, size, SR_PDF_MAX_DRAWING, pool);
        ok(drawing && !strncmp(drawing, "{\"png\":\"", 8), "%s is kept as a PNG", IMAGES[i].name);
        pixels_t page = show(drawing ? drawing : "{}", "ltr", pool);
        const seen_t is = look_at(&page);
        const int width = is.right - is.left, height = is.bottom - is.top;
        ok(is.left >= PLACE_LEFT && is.left < PLACE_LEFT + 16, "%s begins at %d", IMAGES[i].name, is.left);
        ok(height > 0.75 * PLACE_HEIGHT && height <= PLACE_HEIGHT + 2, "it is %d pixels high", height);
        ok(is_near(width, IMAGES[i].proportion * height, 0.06), "it is %d pixels wide", width);
        ok(is.dark > 0.9 * width * height, "it is filled");
        is_int(is.covered, 0, "no pixel of the text above is covered");
        ok(is_near(is.gray, IMAGES[i].gray * is.dark, IMAGES[i].gray > 0 ? 0.1 : 0.08 * is.dark),
           "%d pixels are half transparent", is.gray);
        page = show(drawing ? drawing : "{}", "rtl", pool);
        const seen_t mirrored = look_at(&page);
        if (IMAGES[i].gray <= 0)
            ok(abs(mirrored.right - PLACE_RIGHT) < 16, "from right to left it ends at %d", mirrored.right);
        apr_pool_destroy(pool);
    }
}

/* Strokes and texts are kept as they were sent, and no worker is asked. */
static void test_paths(apr_pool_t *pool)
{
    sr_pdf_signature_t signature = {.text = "Ann \"L\xc3\xa9\""};
    const char *drawing = drawing_of(&signature, SR_PDF_MAX_DRAWING, pool);
    is_str(drawing, "{\"text\":\"Ann \\\"L\xc3\xa9\\\"\"}", "a typed signature is kept as its text");
    ok(is_drawn(drawing, pool), "a typed signature is drawn");
    signature = (sr_pdf_signature_t){.ink = scribble(10, pool)};
    drawing = drawing_of(&signature, SR_PDF_MAX_DRAWING, pool);
    is_str(drawing, apr_pstrcat(pool, "{\"ink\":", signature.ink->text, "}", NULL), "strokes are kept as they are");
    ok(is_drawn(drawing, pool), "strokes are drawn");
}

/* What is no drawing leaves no trace. */
static void test_hostile(apr_pool_t *pool)
{
    size_t size;
    const char *png = noise(&size, 8, 8, pool), *cut, *jpeg;
    cut = apr_pencode_base64(pool, png, (apr_ssize_t)size / 2, APR_ENCODE_NONE, NULL);
    png = apr_pencode_base64(pool, png, (apr_ssize_t)size, APR_ENCODE_NONE, NULL);
    jpeg = pixels_jpeg(&size, 3, pool);
    jpeg = apr_pencode_base64(pool, jpeg, (apr_ssize_t)size, APR_ENCODE_NONE, NULL);
    const char *const drawings[] = {
        "[]",
        "{\"png\":7}",
        "{\"png\":\"\"}",
        "{\"png\":\"!\"}",
        apr_pstrcat(pool, "{\"png\":\"", cut, "\"}", NULL),
        apr_pstrcat(pool, "{\"png\":\"", jpeg, "\"}", NULL),
        apr_pstrcat(pool, "{\"image\":\"", png, "\"}", NULL),
        "{\"text\":7}",
        "{\"ink\":{}}",
        "{\"ink\":{\"width\":1,\"height\":0.5,\"pen\":0.01,\"strokes\":[]}}",
        "{\"ink\":{\"width\":1,\"height\":0.5,\"pen\":0.01,\"strokes\":[[1]]}}",
        "{\"ink\":{\"width\":1,\"height\":0.5,\"pen\":0.01,\"strokes\":[[1,1,9]]}}",
        "{\"ink\":{\"width\":9,\"height\":0.5,\"pen\":0.01,\"strokes\":[[1,0.1,0.1]]}}",
    };
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++)
        ok(!is_drawn(drawings[i], pool), "%.40s is not drawn", drawings[i]);
    ok(is_drawn(apr_pstrcat(pool, "{\"png\":\"", png, "\"}", NULL), pool), "the whole PNG is drawn");
}

/* A drawing that is too large becomes an image that fits, in the same place. */
static void test_reduced(const sr_pdf_signature_t *signature, const char *whole, const char *name, apr_pool_t *pool)
{
    static const size_t limits[] = {SR_PDF_MAX_DRAWING, 40 << 10, 10 << 10};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const char *drawing = drawing_of(signature, limits[i], pool);
        const size_t length = drawing ? strlen(drawing) : 0;
        ok(length > 1000 && length <= limits[i], "%s: %d of %d bytes", name, (int)length, (int)limits[i]);
        ok(is_same_place(drawing ? drawing : "{}", whole, pool), "%s is seen in the same place", name);
    }
    ok(!drawing_of(signature, 100, pool), "%s does not fit into 100 bytes", name);
}

static void test_large(apr_pool_t *pool)
{
    int status;
    size_t size;
    sr_pdf_signature_t signature = {.image = noise(&size, 900, 300, pool)};
    signature.image_size = size;
    test_reduced(&signature, drawing_of(&signature, 1 << 20, pool), "a photograph", pool);
    signature = (sr_pdf_signature_t){.ink = scribble(SR_INK_MAX_POINTS, pool)};
    test_reduced(&signature, drawing_of(&signature, 1 << 20, pool), "a drawing of 20,000 points", pool);
    const void *image = blended(&size, 2000, 2000, pool);
    const char *drawing = drawing_of_image(image, size, SR_PDF_MAX_DRAWING, pool);
    ok(drawing && strlen(drawing) < 20000, "an image of 4 million pixels becomes small");
    const pixels_t page = show(drawing ? drawing : "{}", "ltr", pool);
    const seen_t is = look_at(&page);
    ok(is_near(is.right - is.left, (is.bottom - is.top) / 3.0, 0.1) && is_near(is.gray, is.dark, 0.15),
       "an image of 4 million pixels is seen as it is");
    const bytes_t composed = compose(drawing ? drawing : "{}", 20, "ltr", pool);
    seal_write(&bench, "twenty.pdf", composed.data, composed.size);
    is_int(seal_count(seal_run(&status, &bench, pool, "pdfimages -list twenty.pdf"), " smask "), 20,
           "twenty of them are drawn");
}

int main(void)
{
    bench = seal_begin(30000); /* twenty large images take long on a busy machine */
    empty = show("{}", "ltr", bench.pool);
    test_images();
    test_paths(bench.pool);
    test_hostile(bench.pool);
    test_large(bench.pool);
    is_int(help_notices, 0, "no worker was lost");
    return seal_end(&bench);
}
