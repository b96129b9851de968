/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_mark.c: signatures that were sealed are seen once more in a composed document: strokes, and images in each form
 * in which they are written, at their place and with their proportions. What is damaged, too large or written
 * otherwise is left out, and no worker is lost by it. */
#include "pdf_marks.h"

/* ----------------------------------------------------------------------------------------------------------- tests */

static const struct {
    const char *name;
    kind_t kind;
    bool archival;
    double proportion; /* of what is dark */
    double gray;       /* as much as is dark */
    const char *has;
} IMAGES[] = {
    {"a PNG with transparency", BLENDED, false, 1, 1, "/SMask "},
    {"a PNG with transparency in PDF/A", BLENDED, true, 1, 1, "/Mask "},
    {"an opaque PNG", OPAQUE, false, 3, 0, "/DeviceRGB/BitsPerComponent 8/Filter/FlateDecode"},
    {"an opaque PNG in PDF/A", OPAQUE, true, 3, 0, "/CalRGB"},
    {"a gray JPEG", GRAY_JPEG, false, 2, 0, "/DeviceGray/BitsPerComponent 8/Filter/DCTDecode"},
    {"a JPEG in colours", COLOUR_JPEG, false, 2, 0, "/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode"},
    {"a gray JPEG in PDF/A", GRAY_JPEG, true, 2, 0, "/CalGray"},
    {"a JPEG in colours in PDF/A", COLOUR_JPEG, true, 2, 0, "/CalRGB"},
};

static bool is_near(double value, double want, double share)
{
    return fabs(value - want) <= share * fmax(want, 1);
}

static void test_images(void)
{
    for (size_t i = 0; i < sizeof IMAGES / sizeof *IMAGES; i++) {
        apr_pool_t *pool;
        size_t size;
        apr_pool_create(&pool, bench.pool);
        const void *image = image_of(&size, IMAGES[i].kind, pool);
        pdf_t objects = objects_of(image, size, IMAGES[i].archival, pool);
        ok(memmem(objects.data, objects.size, IMAGES[i].has, strlen(IMAGES[i].has)) != NULL, "%s: it has %s",
           IMAGES[i].name, IMAGES[i].has);
        pixels_t page = show(mark_of(objects.data, objects.size, pool), "ltr", pool);
        const seen_t is = look_at(&page);
        const int width = is.right - is.left, height = is.bottom - is.top;
        ok(is.left >= PLACE_LEFT && is.left < PLACE_LEFT + 16, "… begins at %d", is.left);
        ok(height > 0.75 * PLACE_HEIGHT && height <= PLACE_HEIGHT + 2, "… %d pixels high", height);
        ok(is_near(width, IMAGES[i].proportion * height, 0.06), "… %d pixels wide", width);
        ok(is.dark > 0.9 * width * height, "… filled");
        is_int(is.covered, 0, "… no pixel of the text above is covered");
        ok(is_near(is.gray, IMAGES[i].gray * is.dark, IMAGES[i].gray > 0 ? 0.1 : 0.08 * is.dark),
           "… %d pixels are half transparent", is.gray);
        page = show(mark_of(objects.data, objects.size, pool), "rtl", pool);
        const seen_t mirrored = look_at(&page);
        if (IMAGES[i].gray <= 0) ok(abs(mirrored.right - PLACE_RIGHT) < 16, "… on the right at %d", mirrored.right);
        free(objects.data);
        apr_pool_destroy(pool);
    }
}

#define IMAGE "<</Type/XObject/Subtype/Image"
#define TWO IMAGE "/Width 2/Height 1"
#define GRAY "/ColorSpace/DeviceGray/BitsPerComponent 8"
#define BITS "/ImageMask true/BitsPerComponent 1"
#define DATA "/Length 2>>stream\n\1\1"

/* Two pixels, of which a mask may hide one. */
static void test_masks(apr_pool_t *pool)
{
    static const struct {
        const char *name, *object;
        int left, right; /* half of the width of each pixel is enough: readers smooth between them */
    } masks[] = {
        {"no mask", TWO GRAY DATA, 1, 1},
        {"a stencil", TWO GRAY "/Mask 9 0 R" DATA TWO BITS "/Length 1>>stream\n@", 1, 0},
        {"a stencil the other way", TWO GRAY "/Mask 9 0 R" DATA TWO BITS "/Length 1>>stream\n\x80", 0, 1},
        {"a soft mask", TWO GRAY "/SMask 9 0 R" DATA TWO GRAY "/Length 2>>stream\n\xff\1", 1, 0},
        {"a soft mask the other way", TWO GRAY "/SMask 9 0 R" DATA TWO GRAY "/Length 2>>stream\n\1\xff", 0, 1},
    };
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        const pixels_t page = show(mark_of(masks[i].object, strlen(masks[i].object), pool), "ltr", pool);
        const seen_t is = look_at(&page);
        is_int(is.left < PLACE_LEFT + 2, masks[i].left, "%s: the left pixel is painted, or not", masks[i].name);
        is_int(is.right > PLACE_LEFT + 2 * PLACE_HEIGHT - 2, masks[i].right, "… the right one");
        ok(is.dark > 0, "… one of them is");
    }
}

/* What is not written as this program writes it is left out. */
static void test_hostile(apr_pool_t *pool)
{
    static const char *const objects[] = {
        "",
        "x",
        "<</BBox[0 0 9 9]/Length 3>>stream\n",
        "<</BBox[0 0 9 9]/Length 9>>stream\n/X Do 1 2",
        "<</BBox[0 0 0 0]/Length 9>>stream\n1 1 m 9 9 l S",
        "<</BBox[0 0 nan 9]>>stream\n1 1 m 9 9 l S",
        "<</BBox[0 0 9 9]/FlateDecode>>stream\n1 1 m 9 9 l S",
        "<</BBox[0 0 9 9]>>stream\n1e99 1 m 9 9 l S",
        "<</BBox[0 0 9 9]>>stream\n1 1 1 1 1 1 1 1 m 9 9 l S",
        IMAGE,
        IMAGE ">>stream\n\1\1",
        IMAGE "/Width 0/Height 1" GRAY DATA,
        IMAGE "/Width -2/Height 1" GRAY DATA,
        IMAGE "/Width 3/Height 1" GRAY DATA,
        IMAGE "/Width 1/Height 1" GRAY DATA,
        IMAGE "/Width 2829/Height 2829" GRAY DATA,
        IMAGE "/Width 4294967297/Height 4294967296" GRAY DATA,
        IMAGE "/Width 999999999999999999/Height 999999999999999999" GRAY DATA,
        TWO "/ColorSpace/DeviceCMYK/BitsPerComponent 8" DATA,
        TWO "/ColorSpace/DeviceGray/BitsPerComponent 4" DATA,
        TWO "/ColorSpace/DeviceRGB/BitsPerComponent 8" DATA,
        TWO GRAY "/Length 3>>stream\n\1\1",
        TWO GRAY "/Length 0>>stream\n",
        TWO GRAY "/Length 99999999999999999999>>stream\n\1\1",
        TWO GRAY "/Filter/FlateDecode" DATA,
        TWO GRAY "/Filter/DCTDecode" DATA,
        TWO GRAY "/Filter/JPXDecode" DATA,
        TWO BITS "/Length 1>>stream\n@",
        TWO GRAY "/Mask 9 0 R" DATA,
        TWO GRAY "/Mask[1 1]" DATA,
        TWO GRAY "/Mask 9 0 R" DATA "x",
        TWO GRAY "/SMask 9 0 R" DATA IMAGE "/Width 1/Height 2" GRAY DATA,
        TWO GRAY "/SMask 9 0 R" DATA TWO "/ColorSpace/DeviceRGB/BitsPerComponent 8/Length 6>>stream\n123456",
        TWO GRAY "/SMask 9 0 R" DATA TWO GRAY "/SMask 9 0 R" DATA,
        TWO GRAY "/Mask 9 0 R" DATA TWO BITS DATA,
        TWO GRAY "/Mask 9 0 R" DATA IMAGE "/Width 2000/Height 2000" BITS "/Length 1>>stream\n@",
    };
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        ok(!is_drawn(mark_of(objects[i], strlen(objects[i]), pool), pool), "not drawn: %d", (int)i);
    ok(!is_drawn(json_pack("[i,s]", 7, "!"), pool), "nor what is no text");
}

/* Real marks that are cut, or that say another size. */
static void test_damaged(kind_t kind, apr_pool_t *pool)
{
    size_t size;
    const void *image = image_of(&size, kind, pool);
    pdf_t objects = objects_of(image, size, false, pool);
    for (size_t part = 1; part <= 5; part++)
        ok(!is_drawn(mark_of(objects.data, objects.size * part / 6, pool), pool), "cut after %d of 6 parts: not drawn",
           (int)part);
    ok(is_drawn(mark_of(objects.data, objects.size, pool), pool), "whole: drawn");
    char *digit = (char *)memmem(objects.data, objects.size, "/Width ", 7) + 7;
    *digit = (char)(*digit == '9' ? '8' : *digit + 1);
    ok(!is_drawn(mark_of(objects.data, objects.size, pool), pool), "with another width: not drawn");
    free(objects.data);
}

/* Outlines of letters begin with a shift of their origin: it counts. */
static void test_strokes(apr_pool_t *pool)
{
    static const char *const triangles[] = {
        "<</BBox[0 0 9 9]>>stream\n0 0 m 9 0 l 9 9 l h f",
        "<</BBox[0 0 9 9]>>stream\n1 0 0 1 -20 30 cm\n20 -30 m 29 -30 l 29 -21 l h f"};
    pixels_t pages[2];
    for (int i = 0; i < 2; i++) pages[i] = show(mark_of(triangles[i], strlen(triangles[i]), pool), "ltr", pool);
    ok(look_at(&pages[0]).dark > 1000, "a triangle is drawn");
    ok(!memcmp(pages[0].gray, pages[1].gray, (size_t)empty.width * (size_t)empty.height),
       "… also if its origin is shifted");
    sr_pdf_signature_t signature = {.text = "Ann Lee"};
    pdf_t appended = sign(document(false), &signature, pool);
    ok(is_drawn(found_mark(&appended, &plain, 1 << 20, pool), pool), "a typed signature is drawn");
    free(appended.data);
}

/* What is found in what was appended: the image with its mask, or nothing. */
static void test_found(apr_pool_t *pool)
{
    size_t size;
    const void *image = image_of(&size, BLENDED, pool);
    sr_pdf_signature_t signature = {.image = image, .image_size = size};
    pdf_t appended = sign(document(false), &signature, pool), objects = objects_of(image, size, false, pool);
    ok(!found_mark(&appended, &plain, objects.size - 1, pool), "not if it is too large with its mask");
    json_t *mark = found_mark(&appended, &plain, objects.size, pool);
    ok(mark != NULL, "but if it just fits");
    json_decref(mark);
    int found = 0;
    for (size_t length = 0; length < appended.size; length += 7) {
        const pdf_t cut = {.data = apr_pmemdup(pool, appended.data, length), .size = length, .base = appended.base};
        mark = found_mark(&cut, &plain, 1 << 20, pool);
        found += mark != NULL;
        json_decref(mark);
    }
    is_int(found, 0, "cut anywhere, it is not found");
    const pdf_t moved = {.data = appended.data, .size = appended.size, .base = appended.base + 1};
    ok(!found_mark(&moved, &plain, 1 << 20, pool), "nor if its cross-reference section is about other bytes");
    ok(!found_mark(&(pdf_t){.data = NULL}, &plain, 10, pool), "nothing is found in nothing");
    char *number = (char *)memmem(appended.data, appended.size, "/SMask ", 7) + 7;
    *number = '0';
    number[1] = 'x';
    mark = found_mark(&appended, &plain, 1 << 20, pool);
    ok(!is_drawn(mark ? mark : json_array(), pool), "not drawn if it refers to no mask");
    free(appended.data);
    free(objects.data);
}

/* Images of many pixels become as small as their place, and not more of them are drawn than a worker has time for. */
static void test_large(apr_pool_t *pool)
{
    int status;
    size_t size;
    const void *image = blended(&size, 2000, 2000, pool);
    pdf_t objects = objects_of(image, size, false, pool);
    bytes_t composed = compose(mark_of(objects.data, objects.size, pool), 1, "ltr", pool);
    pixels_t page = pixels_render(&bench, composed.data, composed.size, DPI, pool);
    const seen_t is = look_at(&page);
    ok(is_near(is.right - is.left, (is.bottom - is.top) / 3.0, 0.1) && is_near(is.gray, is.dark, 0.15),
       "an image of 4 million pixels is drawn");
    ok(composed.size < 50000, "… with fewer of them, in %d bytes", (int)composed.size);
    composed = compose(mark_of(objects.data, objects.size, pool), 20, "ltr", pool);
    seal_write(&bench, "twenty.pdf", composed.data, composed.size);
    const char *list = seal_run(&status, &bench, pool, "pdfimages -list twenty.pdf");
    const int drawn = seal_count(list, " smask ");
    ok(drawn >= 5 && drawn < 20, "of twenty such images %d are drawn", drawn);
    ok(is_drawn(mark_of(objects.data, objects.size, pool), pool), "the next document has room again");
    free(objects.data);
}

/* An encrypted document: with its key the mark is found as it is in any other. */
static void test_encrypted(const char *cipher_name, const char *options, apr_pool_t *pool)
{
    sr_cipher_t cipher;
    int status;
    size_t size;
    const void *image = image_of(&size, BLENDED, pool);
    pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 1, .trailer = "/ID[<0102><0304>]"}), encrypted = {0};
    seal_write(&bench, "plain.pdf", pdf.data, pdf.size);
    free(pdf.data);
    seal_run(&status, &bench, pool, "qpdf --allow-weak-crypto --encrypt '' owner %s -- plain.pdf secret.pdf", options);
    FILE *file = fopen(apr_pstrcat(pool, bench.folder, "/secret.pdf", NULL), "rb");
    char piece[4096];
    for (size_t got; file && (got = fread(piece, 1, sizeof piece, file)) > 0;) pdf_add(&encrypted, piece, got);
    if (!file || fclose(file)) abort();
    const char *said = seal_run(&status, &bench, pool, "qpdf --show-encryption --show-encryption-key secret.pdf");
    const char *key = strstr(said, "Encryption key = ");
    key = key ? apr_pstrndup(pool, key + 17, strcspn(key + 17, "\n")) : "";
    ok(sr_cipher_read(&cipher, cipher_name, key), "%s: qpdf tells the key", cipher_name);
    sr_pdf_signature_t signature = {.image = image, .image_size = size};
    pdf_t appended = sign(encrypted, &signature, pool), objects = objects_of(image, size, false, pool);
    json_t *mark = found_mark(&appended, &cipher, 1 << 20, pool);
    ok(is_drawn(mark ? mark : json_array(), pool), "… the image is drawn");
    ok(!found_mark(&appended, &plain, 1 << 20, pool), "… and not found without the key");
    cipher.key[0] ^= 1;
    mark = found_mark(&appended, &cipher, 1 << 20, pool);
    ok(!is_drawn(mark ? mark : json_array(), pool), "… nor drawn with another one");
    free(appended.data);
    free(objects.data);
}

int main(void)
{
    marks_begin();
    test_strokes(bench.pool);
    test_images();
    test_masks(bench.pool);
    test_hostile(bench.pool);
    test_damaged(BLENDED, bench.pool);
    test_damaged(COLOUR_JPEG, bench.pool);
    test_found(bench.pool);
    test_large(bench.pool);
    test_encrypted("rc4", "40", bench.pool);
    test_encrypted("aes128", "128 --use-aes=y", bench.pool);
    test_encrypted("aes256", "256", bench.pool);
    is_int(help_notices, 0, "no worker was lost");
    return seal_end(&bench);
}
