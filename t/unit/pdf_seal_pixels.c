/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_seal_pixels.c: what is seen of a signature, by comparing rendered pages before and after: on pages turned,
 * cropped and scaled in every way the ink is in the area that was asked for, upright, and no pixel outside it changes;
 * names in many scripts and images leave ink; what cannot be drawn is refused and changes nothing. */
#include "pdf_pixels.h"

static seal_bench_t bench;
static pdf_t last; /* the document that was signed last */

#define SIGNER "0b8f9d2e-5a0c-4a8e-9d51-1b2f6f0c9a11"
#define CONTENT "0.9 g 20 20 300 300 re f 0 0 1 RG 0 0 m 600 600 l 0 300 m 600 100 l S"

/* ----------------------------------------------------------------------------------------------------- rendered pages
 */

static pixels_t render(const pdf_t *pdf, apr_pool_t *pool)
{
    return pixels_render(&bench, pdf->data, pdf->size, 100, pool);
}

typedef struct change_t {
    int inside, outside;
    int quarter[4];                  /* of those inside: top left, top right, bottom left, bottom right */
    double left, top, right, bottom; /* around those inside, in parts of the area */
} change_t;

static change_t compare(const pixels_t *a, const pixels_t *b, const double percent[4])
{
    change_t change = {.left = 1, .top = 1};
    if (a->width != b->width || a->height != b->height) abort();
    double x0 = percent[0] * a->width / 100, y0 = percent[1] * a->height / 100;
    double w = percent[2] * a->width / 100, h = percent[3] * a->height / 100;
    for (int y = 0; y < a->height; y++)
        for (int x = 0; x < a->width; x++) {
            if (a->gray[y * a->width + x] == b->gray[y * a->width + x]) continue;
            bool inside = x >= x0 - 1 && x <= x0 + w && y >= y0 - 1 && y <= y0 + h;
            if (inside) change.inside++;
            else change.outside++;
            if (!inside) continue;
            change.quarter[(y > y0 + h / 2 ? 2 : 0) + (x > x0 + w / 2 ? 1 : 0)]++;
            change.left = fmin(change.left, (x - x0) / w);
            change.right = fmax(change.right, (x + 1 - x0) / w);
            change.top = fmin(change.top, (y - y0) / h);
            change.bottom = fmax(change.bottom, (y + 1 - y0) / h);
        }
    return change;
}

static pdf_t page_of(const char *keys)
{
    pdf_parts_t parts = {.pages = 1};
    char page[300], content[200];
    snprintf(page, sizeof page, "/Contents 4 0 R%s", keys);
    snprintf(content, sizeof content, "<</Length %zu>>stream\n%s\nendstream", strlen(CONTENT), CONTENT);
    parts.page = page;
    parts.objects[0] = content;
    return pdf_document(&parts);
}

/* The page before anything is done with it. Most tests have the same one. */
static pixels_t render_upload(const pdf_t *pdf, const char *keys)
{
    static apr_pool_t *kept_pool;
    static const char *kept_keys;
    static pixels_t kept;
    if (kept_keys && !strcmp(kept_keys, keys)) return kept;
    if (kept_pool) apr_pool_destroy(kept_pool);
    apr_pool_create(&kept_pool, bench.pool);
    kept = render(pdf, kept_pool);
    kept_keys = apr_pstrdup(kept_pool, keys);
    return kept;
}

/* Signs in an area of a page, and says what has changed. NULL, or why it cannot be signed. */
static const char *sign_at(change_t *change, const char *keys, const sr_area_t *area, sr_pdf_signature_t *signature,
                           apr_pool_t *pool)
{
    sr_pdf_probe_t probe;
    sr_placement_t placement;
    pdf_t pdf = page_of(keys);
    if (help_probe(&probe, bench.workers, pdf.data, pdf.size, pool) || probe.verdict != SR_PDF_ACCEPTED) abort();
    sr_area_place(&placement, area, sr_pages_at(probe.pages, 0));
    pixels_t before = render_upload(&pdf, keys);
    const double *r = placement.rect;
    sr_pdf_field_t field = seal_field(SIGNER, 0, r[0], r[1], r[2], r[3]);
    const char *reason = seal_prepare(&bench, &pdf, &field, 1, pool);
    if (reason) return reason;
    pixels_t prepared = render(&pdf, pool);
    change_t none = compare(&before, &prepared, placement.percent);
    if (none.inside + none.outside) return "preparing is visible";
    size_t size = pdf.size;
    signature->signer = SIGNER;
    signature->name = "Ann Lee";
    signature->time = apr_time_now();
    reason = seal_fill(&bench, &pdf, signature, pool);
    if (reason && pdf.size != size) return "what is refused leaves something behind";
    pixels_t after = render(&pdf, pool);
    *change = compare(&before, &after, placement.percent);
    if (!reason) reason = seal_pdfsig(&bench, "page.pdf", 1, pool);
    free(last.data);
    last = pdf;
    return reason;
}

/* ---------------------------------------------------------------------------------------------------- turned pages */

static void test_page(const char *keys, apr_pool_t *pool)
{
    /* along the top and along the left: nothing is at the bottom right */
    static const char corner[] = "{\"width\":300,\"height\":100,\"strokes\":[[[5,5],[100,5]],[[5,5],[5,40]]]}";
    const sr_area_t area = {.x = 40, .y = 90, .w = 150, .h = 50, .page = 0, .origin = SR_ORIGIN_TOP_LEFT};
    sr_pdf_signature_t signature = {.ink = seal_ink(corner, pool)};
    change_t change;
    const char *reason = sign_at(&change, keys, &area, &signature, pool);
    ok(!reason, "%s: signed%s%s", keys, reason ? ", but: " : "", reason ? reason : "");
    if (reason) return;
    is_int(change.outside, 0, "%s: no pixel outside the area changes", keys);
    ok(change.quarter[0] > 50 && change.quarter[1] > 50 && change.quarter[2] > 50 && !change.quarter[3],
       "%s: the ink is upright: %d, %d, %d and %d pixels", keys, change.quarter[0], change.quarter[1],
       change.quarter[2], change.quarter[3]);
}

static void test_matrix(void)
{
    static const char *const boxes[] = {"/MediaBox[0 0 400 300]", "/MediaBox[-50 -80 450 420]/CropBox[10 20 330 390.5]",
                                        "/MediaBox[100 100 500 600]/CropBox[50 150 440 640]"};
    static const char *const units[] = {"", "/UserUnit 2"};
    for (int rotate = 0; rotate < 360; rotate += 90)
        for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
            for (size_t j = 0; j < sizeof units / sizeof *units; j++) {
                apr_pool_t *pool;
                apr_pool_create(&pool, bench.pool);
                test_page(apr_psprintf(pool, "%s%s/Rotate %d", boxes[i], units[j], rotate), pool);
                apr_pool_destroy(pool);
            }
}

/* ---------------------------------------------------------------------------------------------------------- trimming
 */

/* The same strokes, wherever on their canvas and however large it is: they fill the area, but for the padding. 95 x 35
 * and a pen of 100/72 are scaled by 50 / (36.39 / 0.82) = 1.1267: 108.6 of 150 and 41 of 50 points. */
static void test_trim(void)
{
    static const char *const drawings[] = {
        "{\"width\":300,\"height\":100,\"strokes\":[[[5,5],[100,5]],[[5,5],[5,40]]]}",
        "{\"width\":300,\"height\":100,\"strokes\":[[[200,60],[295,60]],[[200,60],[200,95]]]}",
        "{\"width\":3000,\"height\":1000,\"strokes\":[[[50,500],[1000,500]],[[50,500],[50,850]]]}",
        "{\"width\":900,\"height\":100,\"strokes\":[[[400,5],[495,5]],[[400,5],[400,40]]]}",
    };
    const sr_area_t area = {.x = 40, .y = 90, .w = 150, .h = 50, .origin = SR_ORIGIN_TOP_LEFT};
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++) {
        apr_pool_t *pool;
        apr_pool_create(&pool, bench.pool);
        sr_pdf_signature_t signature = {.ink = seal_ink(drawings[i], pool)};
        change_t is = {0};
        const char *reason = sign_at(&is, "/MediaBox[0 0 400 300]", &area, &signature, pool);
        ok(!reason && fabs(is.left - 0.138) < 0.02 && fabs(is.right - 0.862) < 0.02 && fabs(is.top - 0.09) < 0.03
               && fabs(is.bottom - 0.91) < 0.03,
           "drawing %d: the ink is from %.3f to %.3f, from %.3f to %.3f", (int)i, is.left, is.right, is.top, is.bottom);
        apr_pool_destroy(pool);
    }
}

/* ------------------------------------------------------------------------------------------------ what can be signed
 * with */

static void test_ink(sr_pdf_signature_t *signature, const char *name, int least, bool may_lack_font)
{
    const sr_area_t area = {.x = 30, .y = 30, .w = 180, .h = 50};
    change_t change;
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    const char *reason = sign_at(&change, "/MediaBox[0 0 300 200]", &area, signature, pool);
    if (reason && may_lack_font && strstr(reason, "No font on this server")) {
        skip(apr_psprintf(pool, "%s: %s", name, reason));
    } else {
        ok(!reason && !change.outside && change.inside >= least, "%s: %d pixels of ink, %d outside%s%s", name,
           reason ? 0 : change.inside, reason ? 0 : change.outside, reason ? ": " : "", reason ? reason : "");
    }
    apr_pool_destroy(pool);
}

static void test_typed(void)
{
    static const struct {
        const char *name, *text;
        bool may_lack_font;
    } texts[] = {
        {"Latin", "Ann Lee", false},
        {"Latin with marks", "\xc5\x81ukasz \xc5\xbb\xc3\xb3\xc5\x82\xc4\x87, Jose\xcc\x81", true},
        {"one letter", "x", false},
        {"Greek", "\xce\x95\xce\xbb\xce\xad\xce\xbd\xce\xb7", true},
        {"Arabic", "\xd9\x85\xd8\xad\xd9\x85\xd8\xaf \xd8\xb9\xd9\x84\xd9\x8a", true},
        {"Hebrew and digits", "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d 42 (\xd7\x90)", true},
        {"Devanagari", "\xe0\xa4\x95\xe0\xa5\x8d\xe0\xa4\xb7\xe0\xa4\xbf\xe0\xa4\xa4\xe0\xa4\xbf\xe0\xa4\x9c", true},
        {"Chinese", "\xe6\x9d\x8e\xe5\xa8\x9c", true},
        {"three scripts", "Ann \xd8\xb9\xd9\x84\xd9\x8a \xe6\x9d\x8e", true},
        {"200 letters",
         "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
         "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm",
         false},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        test_ink(&(sr_pdf_signature_t){.text = texts[i].text}, texts[i].name, 20, texts[i].may_lack_font);
    test_ink(&(sr_pdf_signature_t){.text = "Ann Lee", .test = true}, "TEST beneath it", 3000, false);
}

/* A PNG of some size: 4 channels with a transparent half, or 3 without. */
static const void *make_png(size_t *size, int width, int height, int channels, apr_pool_t *pool)
{
    unsigned char *pixels = calloc((size_t)width * (size_t)height, (size_t)channels);
    if (!pixels) abort();
    for (int i = 0; channels == 4 && i < width * height; i++) pixels[4 * i + 3] = i % width < width / 2 ? 255 : 0;
    const void *png = pixels_png(size, pixels, width, height, channels == 4 ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB, pool);
    free(pixels);
    return png;
}

static void test_images(apr_pool_t *pool)
{
    size_t size;
    const void *png = make_png(&size, 90, 30, 4, pool);
    test_ink(&(sr_pdf_signature_t){.image = png, .image_size = size}, "a PNG half transparent", 4000, false);
    png = make_png(&size, 90, 30, 3, pool);
    test_ink(&(sr_pdf_signature_t){.image = png, .image_size = size}, "a PNG without transparency", 9000, false);
    png = make_png(&size, 2000, 2000, 3, pool);
    test_ink(&(sr_pdf_signature_t){.image = png, .image_size = size}, "a PNG of 4 million pixels", 4000, false);
    const void *jpeg = pixels_jpeg(&size, 1, pool);
    test_ink(&(sr_pdf_signature_t){.image = jpeg, .image_size = size}, "a gray JPEG", 4000, false);
    jpeg = pixels_jpeg(&size, 3, pool);
    test_ink(&(sr_pdf_signature_t){.image = jpeg, .image_size = size}, "a colour JPEG", 4000, false);
    ok(memmem(jpeg, size, "secret", 6) && !memmem(last.data, last.size, "secret", 6), "its comment is left out");
}

/* An image that is very narrow, but for one row of its pixels opaque, is padded by its width: by its height it would
 * have 2,700 million pixels. */
static void test_narrow(int width, int height)
{
    const sr_area_t area = {.x = 40, .y = 90, .w = 150, .h = 50, .origin = SR_ORIGIN_TOP_LEFT};
    change_t is = {0};
    size_t size, room = (size_t)width * (size_t)height * 2;
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    unsigned char *pixels = apr_pcalloc(pool, room);
    for (size_t i = 2 * (size_t)width; i < room; i += 2) pixels[i + 1] = 255;
    const void *png = pixels_png(&size, pixels, width, height, PNG_FORMAT_GA, pool);
    sr_pdf_signature_t signature = {.image = png, .image_size = size};
    const char *reason = sign_at(&is, "/MediaBox[0 0 400 300]", &area, &signature, pool);
    ok(!reason && is.inside > 0, "%d x %d pixels: %d change%s%s", width, height, is.inside, reason ? ", but: " : "",
       reason ? reason : "");
    apr_pool_destroy(pool);
}

/* ------------------------------------------------------------------------------------------------ what is refused */

static void is_refused(sr_pdf_signature_t *signature, const char *want, const char *name)
{
    const sr_area_t area = {.x = 30, .y = 30, .w = 180, .h = 50};
    change_t change;
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    is_str(sign_at(&change, "/MediaBox[0 0 300 200]", &area, signature, pool), want, "%s", name);
    apr_pool_destroy(pool);
}

#define UNKNOWN "The image is neither a PNG nor a JPEG nor a WebP"

static void test_refused(apr_pool_t *pool)
{
    size_t size;
    const void *png = make_png(&size, 2001, 2000, 3, pool);
    is_refused(&(sr_pdf_signature_t){.image = png, .image_size = size}, "The image has more than 4 million pixels",
               "more pixels");
    png = make_png(&size, 20, 20, 3, pool);
    is_refused(&(sr_pdf_signature_t){.image = png, .image_size = size / 2}, "The image is damaged", "half a PNG");
    const void *jpeg = pixels_jpeg(&size, 3, pool);
    is_refused(&(sr_pdf_signature_t){.image = jpeg, .image_size = size / 2}, "The image is damaged", "half a JPEG");
    jpeg = pixels_jpeg(&size, 4, pool);
    is_refused(&(sr_pdf_signature_t){.image = jpeg, .image_size = size},
               "The JPEG image is in printing colours (CMYK); RGB and gray can be used", "a JPEG in CMYK");
    png = make_png(&size, 1, 1, 4, pool); /* its one pixel is in the transparent half */
    is_refused(&(sr_pdf_signature_t){.image = png, .image_size = size}, "The image is fully transparent", "no colour");
    is_refused(&(sr_pdf_signature_t){.image = "GIF89a", .image_size = 6}, UNKNOWN, "a GIF");
    is_refused(&(sr_pdf_signature_t){.image = "", .image_size = 0}, UNKNOWN, "no bytes");
    is_refused(&(sr_pdf_signature_t){.image = apr_pcalloc(pool, (1 << 20) + 1), .image_size = (1 << 20) + 1},
               "The image is larger than 1 MiB", "too many bytes");
    is_refused(&(sr_pdf_signature_t){.text = " \t "}, "The typed signature is empty", "blanks");
    is_refused(&(sr_pdf_signature_t){.text = "\xf4\x8f\xbf\xbd"},
               "No font on this server has the character U+10FFFD of the typed signature", "a private character");
    is_refused(&(sr_pdf_signature_t){.name = ""}, "There is no signature", "nothing at all");
    char *long_text = apr_pcalloc(pool, 202);
    memset(long_text, 'a', 201);
    is_refused(&(sr_pdf_signature_t){.text = long_text}, "The typed signature has more than 200 characters",
               "a long text");
}

int main(void)
{
    bench = seal_begin(8000);
    test_matrix();
    test_trim();
    test_typed();
    test_images(bench.pool);
    test_narrow(40, 100000);
    test_narrow(1, 1000000);
    test_narrow(100000, 40);
    test_refused(bench.pool);
    is_int(help_notices, 0, "no worker died of any of it%s%s", help_notices ? ": " : "",
           help_notices ? help_last_notice : "");
    return seal_end(&bench);
}
