/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_render_speed.c: what it costs that a page is drawn by a helper and comes as an image: the whole way of a page of
 * text, of a scan or of a photograph (request, opening the document, drawing, encoding, response) beside poppler-glib
 * drawing the same page, turn by turn. Poppler draws it twice: of a document that is open (a text page takes at
 * most 1.2 times as long, and 10 ms), and opening the document, as a worker does (at most 4 times as long). What is
 * compared is processor time, of client and worker together, because machines do other things too. The worker is a new
 * one, as for the first page of a document, or one that has shown the document before, as for its other pages. The
 * medians by the clock are printed as well. An argument selects kinds of pages by a part of their names. */
#include "../unit/pdf_show.h"
#include "figures.h"

#include <cairo.h>
#include <jpeglib.h>
#include <poppler.h>
#include <sys/resource.h>

#define TURNS 25

static double ms_of(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now)) abort();
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double used_here(void)
{
    return ms_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* Processor time of this process and of its workers: of those that have ended, or of the one that the pool keeps. */
static double used_ms(const sr_pdf_pool_t *kept)
{
    struct rusage workers;
    if (kept) return used_here() + (double)sr_pdf_pool_used(kept) / 1e3;
    if (getrusage(RUSAGE_CHILDREN, &workers)) abort();
    return used_here() + (double)(workers.ru_utime.tv_sec + workers.ru_stime.tv_sec) * 1e3
           + (double)(workers.ru_utime.tv_usec + workers.ru_stime.tv_usec) / 1e3;
}

static unsigned state;

static int random_number(int below)
{
    state = state * 1103515245 + 12345;
    return (int)(state >> 16 & 0x7fff) % below;
}

/* A4, 60 lines of words that do not repeat, and a red line if the page is to have colour. */
static int text_page(bool colour, apr_pool_t *pool)
{
    const char *content = colour ? "1 0 0 RG 50 30 m 500 30 l S BT /F 10 Tf 50 800 Td " : "BT /F 10 Tf 50 800 Td ";
    state = 1;
    for (int line = 0; line < 60; line++) {
        char text[96];
        for (size_t i = 0; i < sizeof text - 1; i++) text[i] = "   etaoinshrdlucmf"[random_number(18)];
        text[sizeof text - 1] = '\0';
        content = apr_psprintf(pool, "%s(%s) Tj 0 -12.5 Td ", content, text);
    }
    return show_document("/MediaBox[0 0 595 842]", apr_pstrcat(pool, content, "ET", NULL), NULL, pool);
}

#define ACROSS 1654 /* pixels of A4 at 200 dpi */
#define DOWN 2339

/* A gray scan has lines of dark bars on paper with a little noise. A photograph has smooth colours with noise. */
static void fill_row(unsigned char *row, int y, bool colour)
{
    const bool in_line = y % 44 > 14 && y % 44 < 36;
    for (int x = 0; x < ACROSS; x++) {
        const bool ink = in_line && x > 140 && x < 1500 && (x * 7 + y / 44 * 31) / 9 % 3 == 0;
        const int light = (ink ? 40 : 226) + random_number(12);
        for (int i = 0; colour && i < 3; i++)
            *row++ = (unsigned char)(60 + (x * (i + 1) + y * (3 - i)) / 64 % 160 + random_number(12));
        if (!colour) *row++ = (unsigned char)light;
    }
}

static unsigned long image_of(unsigned char **data, bool colour)
{
    struct jpeg_compress_struct jpeg = {0};
    struct jpeg_error_mgr errors;
    unsigned char row[3 * ACROSS], *rows = row;
    unsigned long length = 0;
    *data = NULL;
    state = 1;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, data, &length);
    jpeg.image_width = ACROSS;
    jpeg.image_height = DOWN;
    jpeg.input_components = colour ? 3 : 1;
    jpeg.in_color_space = colour ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        fill_row(row, (int)jpeg.next_scanline, colour);
        jpeg_write_scanlines(&jpeg, &rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return length;
}

/* A4 with one image, as a scanner writes it. */
static int image_page(bool colour, apr_pool_t *pool)
{
    unsigned char *image;
    const unsigned long length = image_of(&image, colour);
    pdf_t pdf;
    pdf_begin(&pdf);
    pdf_object(&pdf, "<</Type/Catalog/Pages 2 0 R>>");
    pdf_object(&pdf, "<</Type/Pages/Count 1/Kids[3 0 R]>>");
    pdf_object(&pdf,
               "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>");
    pdf_object(&pdf, show_stream("", "595 0 0 842 0 0 cm /I Do", pool));
    pdf.offset[++pdf.count] = pdf.size;
    pdf_print(&pdf,
              "5 0 obj\n<</Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/Device%s/BitsPerComponent 8"
              "/Filter/DCTDecode/Length %lu>>stream\n",
              ACROSS, DOWN, colour ? "RGB" : "Gray", length);
    pdf_add(&pdf, image, length);
    pdf_print(&pdf, "\nendstream\nendobj\n");
    pdf_end(&pdf, "");
    free(image);
    const int fd = help_descriptor(pdf.data, pdf.size);
    free(pdf.data);
    return fd;
}

typedef struct kind_t {
    const char *name;
    int (*make)(bool colour, apr_pool_t *pool);
    bool colour, text;
} kind_t;

static const kind_t KINDS[] = {
    {"a text page without colour", text_page, false, true},
    {"a text page with colour", text_page, true, true},
    {"a scan without colour", image_page, false, false},
    {"a photograph", image_page, true, false},
};

static void draw(PopplerPage *page, int width)
{
    double w, h;
    poppler_page_get_size(page, &w, &h);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, (int)(h * width / w));
    cairo_t *context = cairo_create(surface);
    cairo_set_source_rgb(context, 1, 1, 1);
    cairo_paint(context);
    cairo_scale(context, width / w, width / w);
    poppler_page_render(page, context);
    cairo_surface_flush(surface);
    cairo_destroy(context);
    cairo_surface_destroy(surface);
}

static PopplerPage *open_page(PopplerDocument **document, GBytes *bytes)
{
    *document = poppler_document_new_from_bytes(bytes, NULL, NULL);
    PopplerPage *page = *document ? poppler_document_get_page(*document, 0) : NULL;
    if (!page) abort();
    return page;
}

static void open_and_draw(GBytes *bytes, int width)
{
    PopplerDocument *document;
    PopplerPage *page = open_page(&document, bytes);
    draw(page, width);
    g_object_unref(page);
    g_object_unref(document);
}

typedef struct times_t {
    double used[TURNS], clock[TURNS];
} times_t;

static void finish(times_t *times, double used, double clock, int turn)
{
    if (turn < 0) return; /* to warm up */
    times->used[turn] = used;
    times->clock[turn] = ms_of(CLOCK_MONOTONIC) - clock;
}

/* How many times as long as poppler that opens the document, and for text what it takes over 1.2 times as long as
 * poppler with the document open. The times are sorted afterwards. */
static void tell(times_t *ours, times_t *own, times_t *opened, const char *what, bool text)
{
    double over[TURNS], times[TURNS];
    for (int i = 0; i < TURNS; i++) over[i] = ours->used[i] - 1.2 * own->used[i];
    for (int i = 0; i < TURNS; i++) times[i] = ours->used[i] / opened->used[i];
    if (text)
        figures_row(what, "poppler alone; then what is over 1.2 times that", ours->used, own->used, over, TURNS, 10,
                    " ms");
    figures_row(what, "poppler opening the document", ours->used, opened->used, times, TURNS, 4, " × the time");
    printf("# by the clock %.1f and %.1f ms\n", figures_median(ours->clock, TURNS), figures_median(own->clock, TURNS));
}

/* One page, drawn with the worker that the pool keeps, or (NULL) each time with another one. */
static bool show(int *size, sr_pdf_pool_t *workers, int fd, const kind_t *kind, int width, apr_pool_t *pool)
{
    sr_pdf_image_t image = {0};
    if (sr_pdf_render(&image, workers, fd, 0, width, false, pool) || image.reason) return false;
    *size = (int)image.output->size / 1024;
    return image.gray != kind->colour && image.jpeg != kind->text;
}

static void measure(sr_pdf_pool_t *workers, bool keep, const kind_t *kind, int width, apr_pool_t *root)
{
    apr_pool_t *pool, *each;
    times_t own, opened, ours;
    apr_pool_create(&pool, root);
    apr_pool_create(&each, pool);
    sr_pdf_pool_t *kept = keep ? sr_pdf_pool_for_request(workers, "document", apr_time_from_sec(600), pool) : NULL;
    int fd = kind->make(kind->colour, pool), failed = 0, size = 0;
    GMappedFile *file = g_mapped_file_new_from_fd(fd, FALSE, NULL);
    GBytes *bytes = g_mapped_file_get_bytes(file);
    PopplerDocument *document;
    PopplerPage *page = open_page(&document, bytes);
    for (int turn = -2; turn < TURNS; turn++) {
        double used = used_here(), clock = ms_of(CLOCK_MONOTONIC);
        draw(page, width);
        finish(&own, used_here() - used, clock, turn);
        used = used_here();
        open_and_draw(bytes, width);
        finish(&opened, used_here() - used, clock, turn);
        used = used_ms(kept);
        clock = ms_of(CLOCK_MONOTONIC);
        if (!show(&size, keep ? kept : workers, fd, kind, width, each)) failed++;
        finish(&ours, used_ms(kept) - used, clock, turn);
        apr_pool_clear(each);
    }
    const char *what = apr_psprintf(pool, "%s as an image, %d pixels wide, %s, processor time", kind->name, width,
                                    keep ? "a helper that has shown the document before" : "a new helper");
    is_int(failed, 0, "%s: %d kB", what, size);
    tell(&ours, &own, &opened, what, kind->text);
    g_object_unref(page);
    g_object_unref(document);
    g_bytes_unref(bytes);
    g_mapped_file_unref(file);
    close(fd);
    apr_pool_destroy(pool);
}

int main(int argc, char **argv)
{
    static const int widths[] = {800, 1200, 1600};
    apr_pool_t *root;
    apr_initialize();
    apr_pool_create(&root, NULL);
    sr_pdf_pool_t *workers = help_pool(help_program(), 1, 2500, root);
    sr_pdf_ping(workers, root);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
            for (int keep = 1; keep >= 0; keep--)
                if (argc < 2 || strstr(KINDS[i].name, argv[1])) measure(workers, keep, &KINDS[i], widths[k], root);
    is_int(help_notices, 0, "no worker was lost");
    apr_pool_destroy(root);
    return done();
}
