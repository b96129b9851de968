/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c: checks that a rewritten document shows the same as the upload. qpdf and poppler repair damage in different
 * ways. For example, if an object is defined twice, each may choose another definition. So poppler draws the pages of
 * both documents at a small size, and they are compared. If that takes too long, pages from all parts of the document
 * are compared. */
#include "pdfd/page.h"

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

#define CHANGED "it is damaged, and its repair would change what page %d shows"
static const char UNREADABLE[] = "it is damaged beyond repair";

typedef struct pair_t {
    PopplerDocument *before, *after;
    uint32_t *pixels[2]; /* two rasters of at most SIDE x SIDE pixels */
} pair_t;

static PopplerDocument *open_bytes(const sr_pdfd_bytes_t *bytes)
{
    GBytes *shared = g_bytes_new_static(bytes->data, bytes->size);
    PopplerDocument *document = poppler_document_new_from_bytes(shared, NULL, NULL);
    g_bytes_unref(shared);
    return document;
}

static bool draw(uint32_t *pixels, int width, int height, double scale, PopplerPage *page)
{
    memset(pixels, 0xff, (size_t)width * (size_t)height * sizeof *pixels);
    cairo_surface_t *surface =
        cairo_image_surface_create_for_data((unsigned char *)pixels, CAIRO_FORMAT_RGB24, width, height, width * 4);
    cairo_t *context = cairo_create(surface);
    cairo_scale(context, scale, scale);
    poppler_page_render(page, context);
    cairo_surface_flush(surface);
    const bool drawn = !cairo_status(context);
    cairo_destroy(context);
    cairo_surface_destroy(surface);
    return drawn;
}

static bool is_visible(uint32_t one, uint32_t other)
{
    for (int shift = 0; shift < 24; shift += 8)
        if (abs((int)(one >> shift & 0xff) - (int)(other >> shift & 0xff)) > VISIBLE) return true;
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
    const bool drawn = draw(pair->pixels[0], columns, rows, scale, before);
    if (draw(pair->pixels[1], columns, rows, scale, after) != drawn) return false;
    int different = 0;
    for (int i = 0; drawn && i < columns * rows; i++)
        if (pair->pixels[0][i] != pair->pixels[1][i]) different += is_visible(pair->pixels[0][i], pair->pixels[1][i]);
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

const char *sr_pdfd_compare(const sr_pdfd_bytes_t *before, const sr_pdfd_bytes_t *after, apr_pool_t *pool)
{
    const size_t room = (size_t)(SIDE * SIDE) * sizeof(uint32_t);
    pair_t pair = {open_bytes(before), open_bytes(after), {malloc(room), malloc(room)}};
    const char *reason = compare(&pair, pool);
    for (int i = 0; i < 2; i++) free(pair.pixels[i]);
    if (pair.before) g_object_unref(pair.before);
    if (pair.after) g_object_unref(pair.after);
    return reason;
}
