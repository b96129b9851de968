/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_render_speed.c: what it costs that a page is drawn by a helper and comes as PNG: the whole way of a text page
 * (question, opening the document, drawing, encoding, answer) beside poppler-glib drawing the same page, turn by turn.
 * Poppler draws it twice: of a document that is open (the figure to keep: at most 1.2 times as long, and 10 ms), and
 * opening the document, as a worker does (at most 4 times as long). What is compared is processor time, of client and
 * worker together, since tests run on machines that do other things too; the medians by the clock are told as well, and
 * what wider images take. */
#include "../unit/pdf_show.h"
#include "figures.h"

#include <cairo.h>
#include <poppler.h>
#include <sys/resource.h>

#define TURNS 25

static double ms_of(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now)) abort();
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Processor time of this process, and of its workers: each has ended with its page. */
static double used_ms(void)
{
    struct rusage workers;
    if (getrusage(RUSAGE_CHILDREN, &workers)) abort();
    return ms_of(CLOCK_PROCESS_CPUTIME_ID) + (double)(workers.ru_utime.tv_sec + workers.ru_stime.tv_sec) * 1e3
           + (double)(workers.ru_utime.tv_usec + workers.ru_stime.tv_usec) / 1e3;
}

/* A4, 60 lines of words that do not repeat, and a red line if the page is to have colour. */
static int text_page(bool colour, apr_pool_t *pool)
{
    const char *content = colour ? "1 0 0 RG 50 30 m 500 30 l S BT /F 10 Tf 50 800 Td " : "BT /F 10 Tf 50 800 Td ";
    unsigned state = 1;
    for (int line = 0; line < 60; line++) {
        char text[96];
        for (size_t i = 0; i < sizeof text - 1; i++) {
            state = state * 1103515245 + 12345;
            text[i] = i % 6 == 5 ? ' ' : "etaoinshrdlucmfwypvbgkqj"[state >> 16 & 15];
        }
        text[sizeof text - 1] = '\0';
        content = apr_psprintf(pool, "%s(%s) Tj 0 -12.5 Td ", content, text);
    }
    return show_document("/MediaBox[0 0 595 842]", apr_pstrcat(pool, content, "ET", NULL), NULL, pool);
}

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
    times->used[turn] = used_ms() - used;
    times->clock[turn] = ms_of(CLOCK_MONOTONIC) - clock;
}

/* What it takes over 1.2 times as long as poppler with the document open, and how many times as long as poppler that
 * opens it. The times are sorted afterwards. */
static void tell(times_t *ours, times_t *own, times_t *opened, const char *kind, int width, apr_pool_t *pool)
{
    double over[TURNS], times[TURNS];
    const char *what = apr_psprintf(pool, "a text page %s as PNG, %d pixels wide, processor time", kind, width);
    for (int i = 0; i < TURNS; i++) over[i] = ours->used[i] - 1.2 * own->used[i];
    for (int i = 0; i < TURNS; i++) times[i] = ours->used[i] / opened->used[i];
    figures_row(what, "poppler alone; then what is over 1.2 times that", ours->used, own->used, over, TURNS, 10, " ms");
    figures_row(what, "poppler opening the document", ours->used, opened->used, times, TURNS, 4, " × the time");
    printf("# by the clock %.1f and %.1f ms\n", figures_median(ours->clock, TURNS), figures_median(own->clock, TURNS));
}

static void measure(sr_pdf_pool_t *workers, bool colour, int width, bool holds, apr_pool_t *root)
{
    apr_pool_t *pool, *each;
    times_t own, opened, ours;
    apr_pool_create(&pool, root);
    apr_pool_create(&each, pool);
    int fd = text_page(colour, pool), failed = 0, size = 0;
    GMappedFile *file = g_mapped_file_new_from_fd(fd, FALSE, NULL);
    GBytes *bytes = g_mapped_file_get_bytes(file);
    PopplerDocument *document;
    PopplerPage *page = open_page(&document, bytes);
    for (int turn = -2; turn < TURNS; turn++) {
        sr_pdf_image_t image = {0};
        double used = used_ms(), clock = ms_of(CLOCK_MONOTONIC);
        draw(page, width);
        finish(&own, used, clock, turn);
        used = used_ms();
        open_and_draw(bytes, width);
        finish(&opened, used, clock, turn);
        used = used_ms();
        clock = ms_of(CLOCK_MONOTONIC);
        if (sr_pdf_render(&image, workers, fd, 0, width, false, each) || image.reason || image.gray == colour) failed++;
        finish(&ours, used, clock, turn);
        size = image.output ? (int)image.output->size : 0;
        apr_pool_clear(each);
    }
    const char *kind = colour ? "with colour" : "without colour";
    is_int(failed, 0, "a text page %s, %d pixels wide: %d kB", kind, width, size / 1024);
    tell(&ours, &own, &opened, kind, width, pool);
    if (holds)
        ok(ours.used[0] <= 1.2 * own.used[0] + 10, "takes at most 1.2 x %.1f + 10 ms: %.1f ms", own.used[0],
           ours.used[0]);
    g_object_unref(page);
    g_object_unref(document);
    g_bytes_unref(bytes);
    g_mapped_file_unref(file);
    close(fd);
    apr_pool_destroy(pool);
}

int main(void)
{
    apr_pool_t *root;
    apr_initialize();
    apr_pool_create(&root, NULL);
    sr_pdf_pool_t *workers = help_pool(help_program(), 1, 2500, root);
    sr_pdf_ping(workers, root);
    measure(workers, false, 800, true, root);
    measure(workers, false, 1200, true, root);
    measure(workers, true, 800, true, root);
    measure(workers, true, 1200, false, root);
    measure(workers, false, 1600, false, root);
    measure(workers, true, 1600, false, root);
    is_int(help_notices, 0, "no worker was lost");
    apr_pool_destroy(root);
    return done();
}
