/* SPDX-License-Identifier: Apache-2.0 */
/* paper.c: an image of a signature on paper: the paper becomes transparent and the ink keeps its colour. The brightness
 * of the paper is measured in each cell of a grid, because photographs have shadows. A pixel is ink to the degree that
 * it is darker than the paper at its place, in any channel. */
#include "helper/main/fields/drawing.h"

#include <math.h>
#include <string.h>

#define CELLS 24         /* on the longer side */
#define LEAST_CELL 24    /* pixels; wider than lines if possible */
#define LIGHTEST 0.85    /* the part of the pixels of a cell that are darker than its paper */
#define LEAST_LIGHT 90.0 /* of 255; anything darker is not paper */
#define SHADOW 0.6       /* a cell darker than this part of the brightest cell has no paper */
#define LEAST_PAPER 0.6  /* the least part of the cells that must have paper */
#define MOST_INK 0.4     /* the greatest part of the pixels that may be ink */
#define FAINT 0.12       /* relative darkness from which ink is visible */
#define FULL 0.35        /* relative darkness from which ink is opaque */
#define SEEN 64          /* of 255; pixels with at least this alpha count as ink */
#define TRIMMED 16       /* … and with less than this they are not part of the image */
#define SPECK 40000.0    /* a patch that covers less than one pixel in this number is dirt */
#define EDGE 0.05        /* a patch that covers more than this part of the image, … */
/* … and more than this part of its border is what the paper lies on. Cropped ink only touches the border. */
#define BORDER 0.15
/* Margin on each side, as a part of the shorter side including the margin. model/ink.c uses the same for strokes. */
#define PADDING 0.09

typedef struct grid_t {
    int columns, rows, cell;
    double *paper; /* red, green and blue of each cell; red is negative if it has no paper */
} grid_t;

static const unsigned char *pixel_at(const sr_pdfd_pixels_t *pixels, int x, int y)
{
    return pixels->rgba->data + 4 * ((size_t)y * (size_t)pixels->width + (size_t)x);
}

static int brightness(const unsigned char *pixel)
{
    return (2 * pixel[0] + 5 * pixel[1] + pixel[2]) / 8;
}

/* ------------------------------------------------------------------------------------------------------ the paper */

typedef struct area_t {
    int left, top, right, bottom;
} area_t;

static int at_most(int value, int most)
{
    return value < most ? value : most;
}

/* Computes the mean colour of the brightest pixels of a cell. */
static void measure_cell(double *paper, const sr_pdfd_pixels_t *pixels, const area_t *area)
{
    int counts[256] = {0}, total = (area->right - area->left) * (area->bottom - area->top), light = 0, used = 0;
    for (int y = area->top; y < area->bottom; y++)
        for (int x = area->left; x < area->right; x++) counts[brightness(pixel_at(pixels, x, y))]++;
    for (int darker = counts[0]; darker < total * LIGHTEST && light < 255;) darker += counts[++light];
    for (int y = area->top; y < area->bottom; y++)
        for (int x = area->left; x < area->right; x++) {
            const unsigned char *pixel = pixel_at(pixels, x, y);
            if (brightness(pixel) < light) continue;
            for (int i = 0; i < 3; i++) paper[i] += pixel[i];
            used++;
        }
    for (int i = 0; i < 3; i++) paper[i] = fmax(1, paper[i] / used);
}

static double light_of(const double *paper)
{
    return (2 * paper[0] + 5 * paper[1] + paper[2]) / 8;
}

/* Copies the paper of a neighbour into each cell without paper. Returns false if nothing changed. */
static bool spread(grid_t *grid, apr_pool_t *pool)
{
    const size_t size = (size_t)grid->columns * (size_t)grid->rows * 3 * sizeof *grid->paper;
    const double *before = apr_pmemdup(pool, grid->paper, size);
    bool changed = false;
    for (int i = 0; i < grid->columns * grid->rows; i++) {
        const int x = i % grid->columns;
        const int beside[4] = {x ? i - 1 : -1, x + 1 < grid->columns ? i + 1 : -1, i - grid->columns,
                               i + grid->columns < grid->columns * grid->rows ? i + grid->columns : -1};
        if (before[(size_t)3 * (size_t)i] >= 0) continue;
        for (int j = 0; j < 4; j++) {
            if (beside[j] < 0 || before[(size_t)3 * (size_t)beside[j]] < 0) continue;
            memcpy(grid->paper + (size_t)3 * (size_t)i, before + (size_t)3 * (size_t)beside[j], 3 * sizeof *before);
            changed = true;
        }
    }
    return changed;
}

static int longer_side(const sr_pdfd_pixels_t *pixels)
{
    return pixels->width > pixels->height ? pixels->width : pixels->height;
}

/* Measures the paper. Returns false if the image does not show paper. */
static bool measure_paper(grid_t *grid, const sr_pdfd_pixels_t *pixels, apr_pool_t *pool)
{
    double lightest = 0;
    int dark = 0;
    grid->cell = longer_side(pixels) / CELLS > LEAST_CELL ? longer_side(pixels) / CELLS : LEAST_CELL;
    grid->columns = (pixels->width + grid->cell - 1) / grid->cell;
    grid->rows = (pixels->height + grid->cell - 1) / grid->cell;
    const int count = grid->columns * grid->rows;
    grid->paper = apr_pcalloc(pool, (size_t)count * 3 * sizeof *grid->paper);
    for (int i = 0; i < count; i++) {
        const int left = i % grid->columns * grid->cell, top = i / grid->columns * grid->cell;
        const area_t area = {left, top, at_most(left + grid->cell, pixels->width),
                             at_most(top + grid->cell, pixels->height)};
        measure_cell(grid->paper + (size_t)3 * (size_t)i, pixels, &area);
        lightest = fmax(lightest, light_of(grid->paper + (size_t)3 * (size_t)i));
    }
    for (int i = 0; i < count; i++) {
        if (light_of(grid->paper + (size_t)3 * (size_t)i) >= SHADOW * lightest) continue;
        grid->paper[(size_t)3 * (size_t)i] = -1;
        dark++;
    }
    while (spread(grid, pool)) continue;
    return lightest >= LEAST_LIGHT && dark <= (1 - LEAST_PAPER) * count;
}

static double value_of(const grid_t *grid, int column, int row, int channel)
{
    return grid->paper[3 * ((size_t)row * (size_t)grid->columns + (size_t)column) + (size_t)channel];
}

/* Interpolates between the centres of the cells. */
static void paper_at(double *paper, const grid_t *grid, int x, int y)
{
    const double column = fmax(0, (x + 0.5) / grid->cell - 0.5), row = fmax(0, (y + 0.5) / grid->cell - 0.5);
    const int left = at_most((int)column, grid->columns - 1), top = at_most((int)row, grid->rows - 1);
    const int right = at_most(left + 1, grid->columns - 1), bottom = at_most(top + 1, grid->rows - 1);
    const double across = fmin(1, column - left), down = fmin(1, row - top);
    for (int i = 0; i < 3; i++) {
        const double above = value_of(grid, left, top, i) * (1 - across) + value_of(grid, right, top, i) * across;
        const double below = value_of(grid, left, bottom, i) * (1 - across) + value_of(grid, right, bottom, i) * across;
        paper[i] = above * (1 - down) + below * down;
    }
}

/* -------------------------------------------------------------------------------------------------------- the ink */

/* Returns the alpha of a pixel, as ink on this paper, from 0 to 255. */
static int opacity(const unsigned char *pixel, const double *paper)
{
    double darker = 0;
    for (int i = 0; i < 3; i++) darker = fmax(darker, 1 - pixel[i] / paper[i]);
    const double part = fmax(0, fmin(1, (darker - FAINT) / (FULL - FAINT)));
    return (int)(255 * part * part * (3 - 2 * part) + 0.5);
}

static unsigned char *find_ink(const sr_pdfd_pixels_t *pixels, const grid_t *grid, double *share, apr_pool_t *pool)
{
    const size_t count = (size_t)pixels->width * (size_t)pixels->height;
    unsigned char *ink = sr_pdfd_grow(sr_pdfd_buffer(pool), count);
    size_t seen = 0;
    for (int y = 0; y < pixels->height; y++)
        for (int x = 0; x < pixels->width; x++) {
            double paper[3];
            paper_at(paper, grid, x, y);
            const int value = opacity(pixel_at(pixels, x, y), paper);
            ink[(size_t)y * (size_t)pixels->width + (size_t)x] = (unsigned char)value;
            seen += value >= SEEN;
        }
    *share = (double)seen / (double)count;
    return ink;
}

typedef struct patch_t {
    int *places;
    int count;
    int border; /* number of its pixels on the border of the image */
} patch_t;

/* Collects the pixels of at least this alpha that are connected with a place, and marks them as found. */
static void collect(patch_t *patch, const unsigned char *ink, int least, unsigned char *found, int place, int width,
                    int height)
{
    patch->count = patch->border = 0;
    patch->places[patch->count++] = place;
    found[place] = 1;
    for (int i = 0; i < patch->count; i++) {
        const int x = patch->places[i] % width, y = patch->places[i] / width;
        patch->border += !x || !y || x == width - 1 || y == height - 1;
        for (int down = -1; down <= 1; down++)
            for (int across = -1; across <= 1; across++) {
                const int to_x = x + across, to_y = y + down, to = to_y * width + to_x;
                if (to_x < 0 || to_y < 0 || to_x >= width || to_y >= height || found[to] || ink[to] < least) continue;
                found[to] = 1;
                patch->places[patch->count++] = to;
            }
    }
}

/* Removes dirt, noise, and what the paper lies on. If nothing else is left, the latter is kept. */
static void clean(unsigned char *ink, int width, int height, apr_pool_t *pool)
{
    const int all = width * height, border = 2 * (width + height);
    unsigned char *found = sr_pdfd_grow(sr_pdfd_buffer(pool), (apr_size_t)all);
    unsigned char *before = sr_pdfd_grow(sr_pdfd_buffer(pool), (apr_size_t)all);
    patch_t patch = {.places = (int *)(void *)sr_pdfd_grow(sr_pdfd_buffer(pool), (apr_size_t)all * sizeof(int))};
    bool kept = false, has_ground = false;
    memset(found, 0, (size_t)all);
    memcpy(before, ink, (size_t)all);
    for (int place = 0; place < all; place++) {
        if (found[place] || ink[place] < SEEN) continue;
        collect(&patch, ink, SEEN, found, place, width, height);
        const bool is_ground = patch.count > EDGE * all && patch.border > BORDER * border;
        has_ground |= is_ground;
        if (patch.count >= all / SPECK && !is_ground) kept = true;
        else
            for (int i = 0; i < patch.count; i++) ink[patch.places[i]] = 0;
    }
    if (!kept && has_ground) memcpy(ink, before, (size_t)all);
    if (!kept && !has_ground) return;
    /* Noise of the paper is faint. A faint edge or end of a line is connected with ink. */
    memset(found, 0, (size_t)all);
    for (int place = 0; place < all; place++)
        if (!found[place] && ink[place] >= SEEN) collect(&patch, ink, TRIMMED, found, place, width, height);
    for (int place = 0; place < all; place++)
        if (!found[place]) ink[place] = 0;
}

/* Removes the colour of the paper from pixels in which ink and paper are mixed. */
static void paint(sr_pdfd_pixels_t *pixels, const grid_t *grid, const unsigned char *ink)
{
    unsigned char *pixel = pixels->rgba->data;
    for (int y = 0; y < pixels->height; y++)
        for (int x = 0; x < pixels->width; x++, pixel += 4, ink++) {
            double paper[3];
            pixel[3] = *ink;
            if (*ink == 0 || *ink == 255) continue;
            paper_at(paper, grid, x, y);
            const double part = *ink / 255.0;
            for (int i = 0; i < 3; i++)
                pixel[i] = (unsigned char)fmax(0, fmin(255, (pixel[i] - (1 - part) * paper[i]) / part));
        }
}

bool sr_pdfd_paper_remove(sr_pdfd_pixels_t *pixels, apr_pool_t *pool)
{
    grid_t grid;
    double share;
    if (!measure_paper(&grid, pixels, pool)) return false;
    unsigned char *ink = find_ink(pixels, &grid, &share, pool);
    if (share > MOST_INK) return false;
    clean(ink, pixels->width, pixels->height, pool);
    paint(pixels, &grid, ink);
    return true;
}

/* ------------------------------------------------------------------------------------------------------- trimming */

static area_t seen_area(const sr_pdfd_pixels_t *pixels)
{
    area_t area = {pixels->width, pixels->height, 0, 0};
    for (int y = 0; y < pixels->height; y++)
        for (int x = 0; x < pixels->width; x++) {
            if (pixel_at(pixels, x, y)[3] < TRIMMED) continue;
            if (x < area.left) area.left = x;
            if (x >= area.right) area.right = x + 1;
            if (y < area.top) area.top = y;
            area.bottom = y + 1;
        }
    return area;
}

bool sr_pdfd_paper_trim(sr_pdfd_pixels_t *pixels, apr_pool_t *pool)
{
    const area_t area = seen_area(pixels);
    const int width = area.right - area.left, height = area.bottom - area.top;
    if (width <= 0 || height <= 0) return false;
    /* With the longer side, the margin of a narrow image would be many times its width. */
    const int padding = (int)ceil(at_most(width, height) * PADDING / (1 - 2 * PADDING));
    sr_pdfd_pixels_t trimmed = {sr_pdfd_buffer(pool), width + 2 * padding, height + 2 * padding};
    const size_t row = 4 * (size_t)trimmed.width;
    unsigned char *to = sr_pdfd_grow(trimmed.rgba, row * (size_t)trimmed.height);
    memset(to, 0, row * (size_t)trimmed.height);
    to += row * (size_t)padding + 4 * (size_t)padding;
    for (int y = area.top; y < area.bottom; y++, to += row)
        memcpy(to, pixel_at(pixels, area.left, y), 4 * (size_t)width);
    *pixels = trimmed;
    return true;
}
