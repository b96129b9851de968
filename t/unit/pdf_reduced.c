/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_reduced.c: signatures that are too large for a certificate of completion: images of many bytes or pixels, and
 * drawings of many points. They are scaled down until each has its share of the room, and seen in the same place. */
#include "pdf_marks.h"

/* A PNG of noise in which no pixel is lighter than a quarter. */
static const void *noise(size_t *size, int width, int height, apr_pool_t *pool)
{
    unsigned char *pixels = apr_palloc(pool, (size_t)width * (size_t)height * 3);
    unsigned state = 1;
    for (int i = 0; i < width * height * 3; i++)
        pixels[i] = (unsigned char)((state = state * 1103515245 + 12345) >> 16) / 4;
    return pixels_png(size, pixels, width, height, PNG_FORMAT_RGB, pool);
}

/* A signature as it is given to a certificate with room for `room` bytes, which `shares` signers share. */
static json_t *reduced(apr_size_t *room, int shares, const pdf_t *appended, apr_pool_t *pool)
{
    json_t *mark;
    const sr_pdf_revised_t revision = revised(appended);
    sr_error_t *error = sr_pdf_mark_reduced(&mark, bench.workers, &revision, &plain, room, shares, pool);
    if (error) printf("# %s: %s\n", error->message, error->cause);
    return error ? NULL : mark;
}

static int bytes_of(const json_t *mark)
{
    size_t length = 0;
    for (size_t i = 0; i < json_array_size(mark); i++) length += json_string_length(json_array_get(mark, i));
    return (int)length / 4 * 3;
}

/* Two signatures are seen in the same place. */
static bool is_same_place(json_t *one, json_t *other, apr_pool_t *pool)
{
    pixels_t page = show(one ? one : json_array(), "rtl", pool);
    const seen_t first = look_at(&page);
    page = show(other ? other : json_array(), "rtl", pool);
    const seen_t second = look_at(&page);
    printf("# from %d to %d, from %d to %d\n", first.left, first.right, second.left, second.right);
    return first.dark > 100 && abs(first.left - second.left) < 3 && abs(first.right - second.right) < 3
           && abs(first.top - second.top) < 3 && abs(first.bottom - second.bottom) < 3;
}

/* A large photograph is seen in the same place and size, scaled down. A small one stays as it is, if its share of the
 * room is not smaller. */
static void test_reduced(apr_pool_t *pool)
{
    size_t size;
    apr_size_t room = 512 << 10, before = room;
    const void *image = noise(&size, 900, 300, pool);
    sr_pdf_signature_t signature = {.image = image, .image_size = size};
    pdf_t appended = sign(document(false), &signature, pool);
    ok(appended.size > 600000, "a signature of %d bytes", (int)appended.size);
    json_t *mark = reduced(&room, 1, &appended, pool);
    const int bytes = bytes_of(mark);
    ok(bytes > 1000 && (apr_size_t)bytes < before, "… is reduced to %d bytes", bytes);
    ok(before - room >= (apr_size_t)bytes - 3 && before - room <= (apr_size_t)bytes, "… which it takes of the room");
    ok(is_same_place(mark, found_mark(&appended, &plain, 2 << 20, pool), pool), "… and seen in the same place");
    room = 100;
    ok(!reduced(&room, 1, &appended, pool) && room == 100, "… or not at all if there is no room for it");
    free(appended.data);
    image = image_of(&size, BLENDED, pool);
    signature = (sr_pdf_signature_t){.image = image, .image_size = size};
    appended = sign(document(false), &signature, pool);
    room = 1 << 20;
    json_t *whole = sr_json_own(found_mark(&appended, &plain, 1 << 20, pool), pool);
    mark = sr_json_own(reduced(&room, 1, &appended, pool), pool);
    ok(json_equal(mark, whole), "a small one stays as it is");
    free(appended.data);
}

/* The signatures of many signers share the room: each of them is seen, however large it is, and together they are not
 * larger than the room. */
static void test_shared(int signers, const void *image, size_t size, apr_pool_t *pool)
{
    apr_size_t room = SR_PDF_MARKS_BYTES;
    int found = 0, least = INT_MAX, bytes = 0;
    sr_pdf_signature_t signature = {.image = image, .image_size = size};
    pdf_t appended = sign(document(false), &signature, pool);
    json_t *mark = NULL;
    for (int i = 0; i < signers; i++) {
        json_decref(mark);
        mark = reduced(&room, signers - i, &appended, pool);
        found += mark != NULL;
        bytes += bytes_of(mark);
        if (bytes_of(mark) < least) least = bytes_of(mark);
    }
    is_int(found, signers, "%d large images: each has a share of the room, of %d bytes at least", signers, least);
    ok(bytes <= (int)SR_PDF_MARKS_BYTES, "… together they have %d bytes", bytes);
    ok(is_same_place(mark, found_mark(&appended, &plain, 4 << 20, pool), pool),
       "… the last one is seen in the same place");
    free(appended.data);
}

/* The pixels of many images together are as limited as their bytes, so that all of them are drawn. */
static void test_many_pixels(apr_pool_t *pool)
{
    int status;
    size_t size;
    apr_size_t room = SR_PDF_MARKS_BYTES;
    sr_pdf_signature_t signature = {0};
    signature.image = blended(&size, 1500, 1500, pool);
    signature.image_size = size;
    pdf_t appended = sign(document(false), &signature, pool);
    json_t *mark = reduced(&room, 20, &appended, pool);
    ok(appended.size < SR_PDF_LARGE_MARK, "a signature with 2 million pixels in %d bytes", (int)appended.size);
    const bytes_t composed = compose(mark ? mark : json_array(), 20, "ltr", pool);
    seal_write(&bench, "pixels.pdf", composed.data, composed.size);
    is_int(seal_count(seal_run(&status, &bench, pool, "pdfimages -list pixels.pdf"), " smask "), 20,
           "… is reduced, and twenty of them are drawn");
    free(appended.data);
}

/* A drawing of as many points as are accepted becomes an image, which is seen in the same place. */
static void test_many_points(apr_pool_t *pool)
{
    apr_size_t room = SR_PDF_MARKS_BYTES;
    apr_array_header_t *points = apr_array_make(pool, SR_INK_MAX_POINTS, sizeof(const char *));
    unsigned state = 1;
    for (int i = 0; i < SR_INK_MAX_POINTS; i++) {
        state = state * 1103515245 + 12345;
        APR_ARRAY_PUSH(points, const char *) =
            apr_psprintf(pool, "[%.2f,%.2f]", 3000.0 * i / SR_INK_MAX_POINTS, (state >> 16) % 80000 / 100.0 + 100);
    }
    sr_pdf_signature_t signature = {0};
    signature.ink = seal_ink(
        apr_psprintf(pool, "{\"width\":3000,\"height\":1000,\"strokes\":[[%s]]}", apr_array_pstrcat(pool, points, ',')),
        pool);
    pdf_t appended = sign(document(false), &signature, pool);
    ok(appended.size > SR_PDF_LARGE_MARK, "a drawing of 20,000 points in %d bytes", (int)appended.size);
    json_t *mark = reduced(&room, 1, &appended, pool);
    ok(mark && bytes_of(mark) < (int)SR_PDF_MARKS_BYTES, "… becomes an image of %d bytes", bytes_of(mark));
    ok(is_same_place(mark, found_mark(&appended, &plain, 4 << 20, pool), pool), "… and is seen in the same place");
    free(appended.data);
}

int main(void)
{
    size_t size;
    marks_begin();
    test_reduced(bench.pool);
    const void *image = noise(&size, 600, 140, bench.pool);
    test_shared(20, image, size, bench.pool);
    test_shared(100, image, size, bench.pool);
    test_many_pixels(bench.pool);
    test_many_points(bench.pool);
    is_int(help_notices, 0, "no worker was lost");
    return seal_end(&bench);
}
