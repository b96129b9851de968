/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c: compares what two documents show, as poppler draws it. A rewritten document must show the same as the
 * upload. qpdf and poppler repair damage in different ways. For example, if an object is defined twice, each may choose
 * another definition. If comparing all pages takes too long, pages from all parts of the document are compared. Other
 * documents are two revisions of a signed one, of which the second one may cover what the first one shows. */
#include "helper/main/read/page.h"

#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIDE 600.0  /* pixels of the longer side of a page */
#define SECONDS 0.8 /* of processor time; afterwards no further page is compared */
#define VISIBLE 24  /* of 255; a channel that differs by more is visibly different */
/* The number of pixels of a page that may differ, because cairo draws rewritten lines slightly differently. */
#define FEW_PIXELS 3
#define SAME_SIZE 0.01 /* greatest difference in points */
/* Something is covered if the edges in some blocks disappear, as many as a small letter fills. Lines of a pen that
 * cross a text leave some edges in most blocks. The blocks are squares, and the pictures have this number of pixels a
 * point. */
#define ZOOM 2
#define COVERED_SIDE 1000.0
#define EDGE 80
#define BLOCK 12
#define FEW_EDGES 4
#define FEW_BLOCKS 2

#define CHANGED "it is damaged, and its repair would change what page %d shows"
static const char UNREADABLE[] = "it is damaged beyond repair";

struct sr_pdfd_pair_t {
    PopplerDocument *before, *after;
    uint32_t *pixels[2]; /* two rasters */
};

typedef sr_pdfd_pair_t pair_t;

static PopplerDocument *compare_open_bytes(const sr_pdfd_bytes_t *bytes)
{
    GBytes *shared = g_bytes_new_static(bytes->data, bytes->size);
    PopplerDocument *document = poppler_document_new_from_bytes(shared, NULL, NULL);
    g_bytes_unref(shared);
    return document;
}

/* Draws the part of a page whose left and top edge are at these points. */
static bool compare_draw(uint32_t *pixels, int width, int height, double scale, const double *corner, PopplerPage *page)
{
    memset(pixels, 0xff, (size_t)width * (size_t)height * sizeof *pixels);
    cairo_surface_t *surface =
        cairo_image_surface_create_for_data((unsigned char *)pixels, CAIRO_FORMAT_RGB24, width, height, width * 4);
    cairo_t *context = cairo_create(surface);
    cairo_scale(context, scale, scale);
    cairo_translate(context, -corner[0], -corner[1]);
    poppler_page_render(page, context);
    cairo_surface_flush(surface);
    const bool drawn = !cairo_status(context);
    cairo_destroy(context);
    cairo_surface_destroy(surface);
    return drawn;
}

static bool differs(uint32_t one, uint32_t other, int most)
{
    for (int shift = 0; shift < 24; shift += 8)
        if (abs((int)(one >> shift & 0xff) - (int)(other >> shift & 0xff)) > most) return true;
    return false;
}

static bool is_same_page(const pair_t *pair, PopplerPage *before, PopplerPage *after)
{
    double width, height, other_width, other_height;
    if (!before || !after) return !before && !after;
    poppler_page_get_size(before, &width, &height);
    poppler_page_get_size(after, &other_width, &other_height);
    if (fabs(width - other_width) > SAME_SIZE || fabs(height - other_height) > SAME_SIZE) return false;
    if (!(width > 0 && height > 0)) return true;
    const double scale = SIDE / fmax(width, height);
    const int columns = (int)fmax(1, width * scale), rows = (int)fmax(1, height * scale);
    static const double corner[2];
    const bool drawn = compare_draw(pair->pixels[0], columns, rows, scale, corner, before);
    if (compare_draw(pair->pixels[1], columns, rows, scale, corner, after) != drawn) return false;
    int different = 0;
    for (int i = 0; drawn && i < columns * rows; i++)
        if (pair->pixels[0][i] != pair->pixels[1][i])
            different += differs(pair->pixels[0][i], pair->pixels[1][i], VISIBLE);
    return different <= FEW_PIXELS;
}

static int common_divisor(int a, int b)
{
    while (b) {
        const int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Returns a step that visits all pages, and whose first pages are far from each other. */
static int step_of(int pages)
{
    int step = (int)(pages * 0.618) + 1;
    while (common_divisor(pages, step) > 1) step++;
    return step;
}

static int64_t used(void)
{
    return (int64_t)clock();
}

static const char *compare(const pair_t *pair, apr_pool_t *pool)
{
    if (!pair->before || !pair->after || !pair->pixels[0] || !pair->pixels[1]) return UNREADABLE;
    const int pages = poppler_document_get_n_pages(pair->before), step = step_of(pages);
    const int64_t end = used() + (int64_t)(SECONDS * CLOCKS_PER_SEC);
    if (pages != poppler_document_get_n_pages(pair->after)) return UNREADABLE;
    for (int i = 0, index = 0; i < pages && used() < end; i++, index = (index + step) % pages) {
        PopplerPage *before = poppler_document_get_page(pair->before, index);
        PopplerPage *after = poppler_document_get_page(pair->after, index);
        const bool same = is_same_page(pair, before, after);
        if (before) g_object_unref(before);
        if (after) g_object_unref(after);
        if (!same) return apr_psprintf(pool, CHANGED, index + 1);
    }
    return NULL;
}

static apr_status_t close_pair(void *data)
{
    pair_t *pair = data;
    for (int i = 0; i < 2; i++) free(pair->pixels[i]);
    if (pair->before) g_object_unref(pair->before);
    if (pair->after) g_object_unref(pair->after);
    return APR_SUCCESS;
}

/* The rasters have at most `side` x `side` pixels. */
static pair_t *open_pair(const sr_pdfd_bytes_t *before, const sr_pdfd_bytes_t *after, double side, apr_pool_t *pool)
{
    const size_t room = (size_t)(side * side) * sizeof(uint32_t);
    pair_t *pair = apr_palloc(pool, sizeof *pair);
    *pair = (pair_t){compare_open_bytes(before), compare_open_bytes(after), {malloc(room), malloc(room)}};
    apr_pool_cleanup_register(pool, pair, close_pair, apr_pool_cleanup_null);
    return pair;
}

const char *sr_pdfd_compare(const sr_pdfd_bytes_t *before, const sr_pdfd_bytes_t *after, apr_pool_t *pool)
{
    pair_t *pair = open_pair(before, after, SIDE, pool);
    const char *reason = compare(pair, pool);
    apr_pool_cleanup_run(pool, pair, close_pair);
    return reason;
}

/* ------------------------------------------------------------------------------------------------ what is covered */

/* Returns true if a block of the first picture has edges, and the second one has nearly none of them. */
static bool hides(const pair_t *pair, int columns, int rows, int left, int top)
{
    int had = 0, lost = 0;
    for (int y = top; y < top + BLOCK && y < rows; y++)
        for (int x = left; x < left + BLOCK && x < columns; x++) {
            const int at = y * columns + x, next[2] = {x + 1 < columns ? at + 1 : at, y + 1 < rows ? at + columns : at};
            for (int k = 0; k < 2; k++) {
                if (!differs(pair->pixels[0][at], pair->pixels[0][next[k]], EDGE)) continue;
                had++;
                lost += !differs(pair->pixels[1][at], pair->pixels[1][next[k]], VISIBLE);
            }
        }
    return had >= FEW_EDGES && lost * 10 >= had * 9;
}

static int count_covered(const pair_t *pair, int columns, int rows)
{
    int covered = 0;
    for (int top = 0; top < rows; top += BLOCK)
        for (int left = 0; left < columns; left += BLOCK) covered += hides(pair, columns, rows, left, top);
    return covered;
}

sr_pdfd_pair_t *sr_pdfd_pair_open(const sr_pdfd_bytes_t *before, const sr_pdfd_bytes_t *after, apr_pool_t *pool)
{
    return open_pair(before, after, COVERED_SIDE, pool);
}

bool sr_pdfd_covers_content(const sr_pdfd_pair_t *pair, int index, const double *area)
{
    double width, height;
    PopplerPage *pages[2] = {NULL};
    if (pair->before && pair->after && pair->pixels[0] && pair->pixels[1]) {
        pages[0] = poppler_document_get_page(pair->before, index);
        pages[1] = poppler_document_get_page(pair->after, index);
    }
    bool drawn = pages[0] && pages[1];
    if (drawn) {
        poppler_page_get_size(pages[0], &width, &height);
        const double wide = fmin(fabs(area[2]), 1) * width, high = fmin(fabs(area[3]), 1) * height;
        const double scale = fmin(ZOOM, COVERED_SIDE / fmax(fmax(wide, high), 1));
        const double corner[2] = {fmax(area[0], 0) * width, fmax(area[1], 0) * height};
        const int columns = (int)fmax(1, wide * scale), rows = (int)fmax(1, high * scale);
        for (int i = 0; drawn && i < 2; i++)
            drawn = compare_draw(pair->pixels[i], columns, rows, scale, corner, pages[i]);
        drawn = drawn && count_covered(pair, columns, rows) < FEW_BLOCKS;
    }
    for (int i = 0; i < 2; i++)
        if (pages[i]) g_object_unref(pages[i]);
    return !drawn;
}
