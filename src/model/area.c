/* SPDX-License-Identifier: Apache-2.0 */
/* area.c: computes where an area is on the displayed page and in the PDF. There are two coordinate systems. In user
 * space the origin is the lower left corner of the page box, y points up and the page is not turned. On the displayed
 * page the origin is its top left corner, y points down and the page is turned clockwise by /Rotate. See docs/api.md,
 * Areas; ISO 32000-2, 8.3.2.3 and table 31 (Rotate). */
#include "model/model.h"

#include <math.h>

/* The contract allows any number, and sums of finite numbers may overflow. Coordinates, sizes and percentages are
 * limited to 1e9 points (350 km), so that all results are finite. */
#define FARTHEST 1e9
/* A size is at least 0.01, so that it is not 0 when it is written with four decimals. A rectangle without area cannot
 * be signed. */
#define SMALLEST 0.01

/* A rectangle: the corner nearest to the origin of its coordinate system, and its size. */
typedef struct rectangle_t {
    double x, y, w, h;
} rectangle_t;

static double clamp(double value)
{
    return fmax(-FARTHEST, fmin(FARTHEST, value));
}

/* Converts a rectangle from one coordinate system to the other. The same formula works in both directions if `w` and
 * `h` are the page's size in the system of `from`. */
static rectangle_t area_turn(const rectangle_t *from, int rotate, double w, double h)
{
    const double beside = w - from->x - from->w, beyond = h - from->y - from->h;
    switch (rotate) {
    case 90: return (rectangle_t){from->y, from->x, from->h, from->w};
    case 180: return (rectangle_t){beside, from->y, from->w, from->h};
    case 270: return (rectangle_t){beyond, beside, from->h, from->w};
    default: sr_assert(rotate == 0); return (rectangle_t){from->x, beyond, from->w, from->h};
    }
}

static double area_points(double value, double unit)
{
    return clamp(clamp(value) * unit);
}

static double percent_of(double value, double whole)
{
    return whole > 0 ? clamp(100 * value / whole) : 0;
}

void sr_area_place(sr_placement_t *placement, const sr_area_t *area, const sr_page_t *page)
{
    const double x0 = clamp(page->box[0]), y0 = clamp(page->box[1]);
    const double w = clamp(page->box[2]) - x0, h = clamp(page->box[3]) - y0;
    const bool sideways = page->rotate % 180 != 0;
    const double shown_w = sideways ? h : w, shown_h = sideways ? w : h;
    const double unit_x = area->percent ? shown_w / 100 : 1, unit_y = area->percent ? shown_h / 100 : 1;
    const rectangle_t given = {area_points(area->x, unit_x), area_points(area->y, unit_y),
                               fmax(SMALLEST, area_points(area->w, unit_x)),
                               fmax(SMALLEST, area_points(area->h, unit_y))};
    rectangle_t user, shown;
    if (area->origin == SR_ORIGIN_TOP_LEFT) {
        shown = given;
        user = area_turn(&given, page->rotate, shown_w, shown_h);
    } else {
        user = given;
        shown = area_turn(&given, page->rotate, w, h);
    }
    placement->rect[0] = x0 + user.x;
    placement->rect[1] = y0 + user.y;
    placement->rect[2] = x0 + user.x + user.w;
    placement->rect[3] = y0 + user.y + user.h;
    placement->percent[0] = percent_of(shown.x, shown_w);
    placement->percent[1] = percent_of(shown.y, shown_h);
    placement->percent[2] = percent_of(shown.w, shown_w);
    placement->percent[3] = percent_of(shown.h, shown_h);
}

void sr_page_size(double size[2], const sr_page_t *page)
{
    const int across = page->rotate % 180 ? 1 : 0;
    size[across] = page->box[2] - page->box[0];
    size[!across] = page->box[3] - page->box[1];
}

sr_area_t sr_area_of(const double rect[4], int index, const sr_page_t *page)
{
    return (sr_area_t){.x = rect[0] - page->box[0],
                       .y = rect[1] - page->box[1],
                       .w = rect[2] - rect[0],
                       .h = rect[3] - rect[1],
                       .page = index,
                       .origin = SR_ORIGIN_USER_SPACE};
}

sr_area_t sr_area_of_placement(const sr_placement_t *placement)
{
    const double *percent = placement->percent;
    return (sr_area_t){.x = percent[0],
                       .y = percent[1],
                       .w = percent[2],
                       .h = percent[3],
                       .page = placement->page,
                       .origin = SR_ORIGIN_TOP_LEFT,
                       .percent = true};
}
