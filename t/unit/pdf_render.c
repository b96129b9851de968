/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_render.c: pages as images, from the real sigreq-pdfd, decoded by libpng: sizes, rotation, crop, what is drawn on
 * them and in which colours, limits, and what becomes of pages that cannot be shown. */
#include "pdf_show.h"

#include <errno.h>
#include <fcntl.h>
#include <png.h>

static apr_pool_t *root;
static sr_pdf_pool_t *workers;
static bool any; /* images of any format, else PNG alone */

static const char *render(sr_pdf_image_t *image, int fd, int page, int width, apr_pool_t *pool)
{
    const int notices = help_notices;
    sr_error_t *error;
    do {
        help_notices = notices;
        *image = (sr_pdf_image_t){0};
        error = sr_pdf_render(image, workers, fd, page, width, !any, pool);
    } while (help_is_busy(error));
    return show_say(error, image, pool);
}

static bool has_only_grays(const unsigned char *pixels, const sr_pdf_image_t *image)
{
    const int bytes = 3 * image->width * image->height;
    for (int i = 0; i < bytes; i += 3)
        if (pixels[i] != pixels[i + 1] || pixels[i] != pixels[i + 2]) return false;
    return true;
}

/* The image as RGB, three bytes per pixel; NULL when libpng finds a fault in it. */
static unsigned char *decode(const sr_pdf_image_t *image, apr_pool_t *pool)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    unsigned char *bytes = apr_palloc(pool, (apr_size_t)image->output->size);
    if (pread(image->output->descriptor, bytes, (size_t)image->output->size, 0) != image->output->size) return NULL;
    if (!png_image_begin_read_from_memory(&png, bytes, (size_t)image->output->size)) return NULL;
    bool fits =
        (int)png.width == image->width && (int)png.height == image->height && !(png.format & PNG_FORMAT_FLAG_ALPHA);
    png.format = PNG_FORMAT_RGB;
    unsigned char *pixels = apr_palloc(pool, PNG_IMAGE_SIZE(png));
    bool read_it = png_image_finish_read(&png, NULL, pixels, 0, NULL) && !png.warning_or_error;
    png_image_free(&png);
    return fits && read_it && (!image->gray || has_only_grays(pixels, image)) ? pixels : NULL;
}

/* The colour at a place in percent: a letter, or '?'. */
static char colour_at(const unsigned char *pixels, const sr_pdf_image_t *image, double x, double y)
{
    static const struct {
        char name;
        unsigned char red, green, blue;
    } colours[] = {{'w', 255, 255, 255}, {'k', 0, 0, 0}, {'r', 255, 0, 0}, {'g', 0, 255, 0}, {'b', 0, 0, 255}};
    if (!pixels) return '!';
    const unsigned char *p =
        pixels + 3 * ((size_t)(y * image->height / 100) * (size_t)image->width + (size_t)(x * image->width / 100));
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        if (p[0] == colours[i].red && p[1] == colours[i].green && p[2] == colours[i].blue) return colours[i].name;
    return '?';
}

typedef struct view_t {
    const char *name, *keys;
    const char *content;
    int width;
    const char *says;
    const char *colours; /* left above, right above, left below, right below (2 % from the edges), middle */
} view_t;

#define ANNOTATION                                                                                                     \
    "/Annots[<</Type/Annot/Subtype/Stamp/F 4/Rect[80 40 120 60]/AP<</N 10 0 R>>>>"                                     \
    "<</Type/Annot/Subtype/Stamp/F 2/Rect[0 0 200 100]/AP<</N 10 0 R>>>>]" /* hidden */

static const view_t VIEWS[] = {
    {"upright", SHOW_BOX, SHOW_CORNERS, 200, "200x100 colour", "bkrgw"},
    {"larger", SHOW_BOX, SHOW_CORNERS, 1000, "1000x500 colour", "bkrgw"},
    {"small", SHOW_BOX, SHOW_CORNERS, 16, "16x8 colour", NULL},
    {"turned by 90", SHOW_BOX "/Rotate 90", SHOW_CORNERS, 100, "100x200 colour", "rbgkw"},
    {"turned by 180", SHOW_BOX "/Rotate 180", SHOW_CORNERS, 400, "400x200 colour", "grkbw"},
    {"turned by 270", SHOW_BOX "/Rotate 270", SHOW_CORNERS, 300, "300x600 colour", "kgbrw"},
    {"turned by -90", SHOW_BOX "/Rotate -90", SHOW_CORNERS, 100, "100x200 colour", "kgbrw"},
    {"cropped to the left half", SHOW_BOX "/CropBox[0 0 100 100]", SHOW_CORNERS, 200, "200x200 colour", "bwrww"},
    {"cropped and turned", SHOW_BOX "/CropBox[100 0 200 100]/Rotate 90", SHOW_CORNERS, 200, "200x200 colour", "wwgkw"},
    {"with a crop larger than the page", SHOW_BOX "/CropBox[-50 -50 500 500]", SHOW_CORNERS, 200, "200x100 colour",
     "bkrgw"},
    {"away from the origin", "/MediaBox[1000 1000 1200 1100]", "1 0 0 1 1000 1000 cm " SHOW_CORNERS, 200,
     "200x100 colour", "bkrgw"},
    {"below the origin, corners swapped", "/MediaBox[-100 0 -300 -100]", "1 0 0 1 -300 -100 cm " SHOW_CORNERS, 200,
     "200x100 colour", "bkrgw"},
    {"with units of its own", SHOW_BOX "/UserUnit 2", SHOW_CORNERS, 200, "200x100 colour", "bkrgw"},
    {"empty", SHOW_BOX, "", 200, "200x100 gray", "wwwww"},
    {"black", SHOW_BOX, "0 0 200 100 re f", 200, "200x100 gray", "kkkkk"},
    {"gray", SHOW_BOX, "0.5 g 0 0 200 100 re f", 200, "200x100 gray", "?????"},
    {"nearly gray", SHOW_BOX, "0.5 0.5 0.51 rg 0 0 1 1 re f", 200, "200x100 colour", "wwwww"},
    {"with an annotation and a hidden one", SHOW_BOX ANNOTATION, "", 200, "200x100 colour", "wwwwb"},
    {"with a form field", SHOW_BOX "/Annots[9 0 R]", "", 200, "200x100 colour", "wwwwb"},
    {"of 1 point", "/MediaBox[0 0 1 1]", "", 100, "100x100 gray", "wwwww"},
    {"with content that is none", SHOW_BOX, SHOW_CORNERS " Q Q Q ) >> BT", 200, "200x100 colour", "bkrgw"},
    {"as large as they come", "/MediaBox[0 0 14400 14400]", "0 0 14400 14400 re f", 4000, "4000x4000 gray", "kkkkk"},
    {"long and narrow", "/MediaBox[0 0 1000 3700]", "0 1 0 rg 0 0 1000 3700 re f", 4000, "4000x14800 colour", "ggggg"},
    {"of too many pixels", "/MediaBox[0 0 1000 3800]", "", 4000,
     "refused: page 1 at that width is larger than 60 million pixels, or than 32767 a side", NULL},
    {"of too many pixels in a column", "/MediaBox[0 0 1 14400]", "", 16,
     "refused: page 1 at that width is larger than 60 million pixels, or than 32767 a side", NULL},
    {"too large", "/MediaBox[0 0 14401 100]", "", 200, "refused: page 1 is larger than 14400 points a side", NULL},
    {"flat as a line", "/MediaBox[0 0 14400 1]", "", 16, "16x1 gray", NULL},
};

static void test_view(const view_t *view)
{
    static const double places[5][2] = {{2, 4}, {98, 4}, {2, 96}, {98, 96}, {50, 50}};
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_image_t image;
    int fd = show_document(view->keys, view->content, NULL, pool);
    is_str(render(&image, fd, 0, view->width, pool), view->says, "a page %s", view->name);
    close(fd);
    if (image.output) {
        unsigned char *pixels = decode(&image, pool);
        ok(pixels != NULL, "%s: libpng reads it, of that size and kind", view->name);
        char colours[6] = "";
        for (int i = 0; i < 5; i++) colours[i] = colour_at(pixels, &image, places[i][0], places[i][1]);
        if (view->colours) is_str(colours, view->colours, "%s: the colours are where they belong", view->name);
    }
    apr_pool_destroy(pool);
}

/* Rows of two kinds, flat ones and busy ones, come out of the PNG as they went in: a shading changes in each pixel. */
static void test_shading(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_image_t image;
    int fd = show_document("/MediaBox[0 0 256 100]",
                           "q 256 0 0 50 0 50 cm BI /W 4 /H 1 /CS /RGB /BPC 8 /I true /F /AHx ID "
                           "ff0000 00ff00 0000ff ffffff> EI Q",
                           NULL, pool);
    render(&image, fd, 0, 1024, pool);
    close(fd);
    unsigned char *pixels = image.output ? decode(&image, pool) : NULL;
    int changes = 0, wrong = 0;
    for (int x = 1; pixels && x < 1024; x++) {
        const unsigned char *p = pixels + 3 * (100 * 1024 + x);
        if (memcmp(p, p - 3, 3) != 0) changes++;
        if (abs(p[0] - p[-3]) > 4 || abs(p[1] - p[-2]) > 4 || abs(p[2] - p[-1]) > 4) wrong++;
        if (memcmp(pixels + 3 * (300 * 1024 + x), "\xff\xff\xff", 3) != 0) wrong++;
    }
    ok(changes > 300, "a shading has many colours (%d changes in a row)", changes);
    is_int(wrong, 0, "which change smoothly, and white below");
    apr_pool_destroy(pool);
}

/* A page of noise, as scans are: an image whose pixels differ a little from each other. */
static int noise(apr_pool_t *pool)
{
    const char *pixels = "";
    unsigned state = 1;
    for (int i = 0; i < 64 * 64; i++) {
        state = state * 1103515245 + 12345;
        pixels = i % 64 ? pixels : apr_pstrcat(pool, pixels, "\n", NULL);
        pixels = apr_psprintf(pool, "%s%02x", pixels, 160 + (state >> 16 & 31));
    }
    const char *image = "q 200 0 0 100 0 0 cm BI /W 64 /H 64 /CS /G /BPC 8 /I true /F /AHx ID ";
    return show_document(SHOW_BOX, apr_pstrcat(pool, image, pixels, "> EI Q", NULL), NULL, pool);
}

/* Text comes as PNG and scans as JPEG, unless only a PNG will do. */
static void test_formats(void)
{
    apr_pool_t *pool;
    sr_pdf_image_t scan, png, text;
    apr_pool_create(&pool, root);
    any = true;
    int fd = noise(pool);
    is_str(render(&scan, fd, 0, 800, pool), "800x400 gray", "a page that is a scan");
    ok(scan.jpeg, "comes as JPEG");
    any = false;
    is_str(render(&png, fd, 0, 800, pool), "800x400 gray", "the same page as PNG");
    ok(!png.jpeg && decode(&png, pool), "is one");
    ok(2 * scan.output->size < png.output->size, "the JPEG has less than half of the bytes: %d of %d",
       (int)scan.output->size, (int)png.output->size);
    close(fd);
    any = true;
    fd = show_document(SHOW_BOX, "1 0 0 rg BT /F 24 Tf 20 40 Td (Sample) Tj ET", NULL, pool);
    is_str(render(&text, fd, 0, 800, pool), "800x400 colour", "a page of text");
    ok(!text.jpeg, "comes as PNG");
    close(fd);
    any = false;
    apr_pool_destroy(pool);
}

/* A light gray area stays what it is, and does not become white, however few grays the page has. */
static void test_light_gray(void)
{
    static const char *const contents[] = {"0.98 g 0 0 200 100 re f 0 g 20 20 10 10 re f",
                                           "0.98 g 0 0 200 100 re f 1 0 0 rg 20 20 10 10 re f"};
    apr_pool_t *pool;
    sr_pdf_image_t image;
    apr_pool_create(&pool, root);
    for (int i = 0; i < 2; i++) {
        int fd = show_document(SHOW_BOX, contents[i], NULL, pool);
        render(&image, fd, 0, 400, pool);
        const unsigned char *pixels = image.output ? decode(&image, pool) : NULL;
        const int level = pixels ? pixels[0] : 0;
        ok(level >= 247 && level <= 252, "a light gray page with %s: %d", i ? "red" : "black", level);
        close(fd);
    }
    apr_pool_destroy(pool);
}

static long ink(const sr_pdf_image_t *image, const unsigned char *pixels, const double *box)
{
    long dark = 0;
    for (int y = (int)(box[1] * image->height / 100); y < (int)((box[1] + box[3]) * image->height / 100); y++)
        for (int x = (int)(box[0] * image->width / 100); x < (int)((box[0] + box[2]) * image->width / 100); x++)
            dark += pixels[3 * (y * image->width + x)] < 128;
    return dark;
}

/* In the sandbox the worker has to open the font, which no document brings. */
static void test_system_font(void)
{
    static const double page[4] = {0, 0, 100, 100}, middle[4] = {9, 40, 44, 30};
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_image_t image;
    int fd = show_document(SHOW_BOX, "BT /F 24 Tf 20 40 Td (Sample) Tj ET", NULL, pool);
    is_str(render(&image, fd, 0, 800, pool), "800x400 gray", "text in a font that the document does not bring");
    unsigned char *pixels = image.output ? decode(&image, pool) : NULL;
    ok(pixels && ink(&image, pixels, middle) > 2000, "leaves ink");
    ok(pixels && ink(&image, pixels, page) == ink(&image, pixels, middle), "where it is written and nowhere else");
    close(fd);
    apr_pool_destroy(pool);
}

static void test_questions(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_image_t image;
    pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 3});
    int fd = help_descriptor(pdf.data, pdf.size);
    is_str(render(&image, fd, 2, 306, pool), "306x396 gray", "the last page of three");
    is_str(render(&image, fd, 3, 306, pool), "error 4: Not found", "there is no fourth");
    is_str(render(&image, fd, 2000000000, 306, pool), "error 4: Not found", "nor one far behind");
    is_str(render(&image, fd, -1, 306, pool), "error 4: Not found", "nor one before the first");
    is_str(render(&image, fd, 0, 15, pool), "error 1: width must be 16 to 4000", "too narrow");
    is_str(render(&image, fd, 0, 4001, pool), "error 1: width must be 16 to 4000", "too wide");
    is_str(render(&image, fd, 0, 4000, pool), "4000x5176 gray", "as wide as may be");
    is_int(lseek(fd, 0, SEEK_CUR), (off_t)pdf.size, "the document's descriptor stays where it was");
    close(fd);

    static const struct {
        const char *bytes, *says;
    } wrong[] = {
        {"", "refused: it is not a PDF that can be read"},
        {"hello", "refused: it is not a PDF that can be read"},
        {"%PDF-1.7\n%%EOF", "refused: it is not a PDF that can be read"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fd = help_descriptor(wrong[i].bytes, strlen(wrong[i].bytes));
        is_str(render(&image, fd, 0, 100, pool), wrong[i].says, "'%.8s' is no page", wrong[i].bytes);
        close(fd);
    }
    free(pdf.data);
    apr_pool_destroy(pool);
}

/* Forms within forms: ten levels, each drawn ten times by the one above. */
static int bomb(apr_pool_t *pool)
{
    pdf_t pdf;
    pdf_begin(&pdf);
    pdf_object(&pdf, "<</Type/Catalog/Pages 2 0 R>>");
    pdf_object(&pdf, "<</Type/Pages/Count 1/Kids[3 0 R]>>");
    pdf_object(&pdf, "<</Type/Page/Parent 2 0 R" SHOW_BOX "/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>");
    pdf_object(&pdf, show_stream("", "/X Do", pool));
    for (int i = 5; i < 15; i++) {
        pdf_object(&pdf, show_stream(apr_pstrcat(pool, "/Subtype/Form/BBox[0 0 200 100]/Resources<</XObject<</X ",
                                                 apr_itoa(pool, i + 1), " 0 R>>>>", NULL),
                                     "/X Do /X Do /X Do /X Do /X Do /X Do /X Do /X Do /X Do /X Do", pool));
    }
    pdf_object(&pdf, show_stream("/Subtype/Form/BBox[0 0 200 100]", "0 0 9 9 re f", pool));
    pdf_end(&pdf, "");
    int fd = help_descriptor(pdf.data, pdf.size);
    free(pdf.data);
    return fd;
}

static void test_bomb(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    if (skip_if_sanitized()) return;
    sr_pdf_options_t options = {.program = help_program(),
                                .workers = 1,
                                .timeout = 2500 * HELP_MS,
                                .show_timeout = 1500 * HELP_MS,
                                .notice = help_notice};
    sr_pdf_pool_t *usual = workers;
    sr_pdf_image_t image;
    if (sr_pdf_pool_create(&workers, &options, pool)) abort();
    sr_pdf_ping(workers, pool);
    help_notices = 0;
    int fd = bomb(pool);
    is_str(render(&image, fd, 0, 200, pool), "refused: it could not be read within the limits",
           "a page that takes for ever is refused");
    ok(help_notices == 1 && strstr(help_last_notice, "used up its processor time"), "with a notice: %s",
       help_last_notice);
    close(fd);
    fd = show_document(SHOW_BOX, SHOW_CORNERS, NULL, pool);
    is_str(render(&image, fd, 0, 200, pool), "200x100 colour", "and the next page is shown");
    close(fd);
    workers = usual;
    apr_pool_destroy(pool);
}

static void test_output(void)
{
    apr_pool_t *pool, *inner;
    apr_pool_create(&pool, root);
    apr_pool_create(&inner, pool);
    sr_pdf_image_t image;
    int fd = show_document(SHOW_BOX, SHOW_CORNERS, NULL, pool), before = help_descriptors();
    render(&image, fd, 0, 200, inner);
    is_int(help_descriptors(), before + 1, "an image is one descriptor");
    errno = 0;
    ok(pwrite(image.output->descriptor, "x", 1, 0) < 0 && errno == EPERM, "that nobody can write");
    ok(ftruncate(image.output->descriptor, 0) < 0 && errno == EPERM, "or cut");
    ok(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, image.output->descriptor, 0) == MAP_FAILED,
       "or map to write");
    ok(fcntl(image.output->descriptor, F_GETFD) & FD_CLOEXEC, "and no program inherits");
    apr_pool_destroy(inner);
    is_int(help_descriptors(), before, "closed with its pool");
    close(fd);
    apr_pool_destroy(pool);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    workers = help_pool(help_program(), 1, 2500, root);
    sr_pdf_ping(workers, root);
    for (size_t i = 0; i < sizeof VIEWS / sizeof *VIEWS; i++) test_view(&VIEWS[i]);
    test_shading();
    test_formats();
    test_light_gray();
    test_system_font();
    test_questions();
    test_output();
    is_int(help_notices, 0, "no worker was lost in all this");
    test_bomb();
    apr_pool_destroy(root);
    return done();
}
