/* SPDX-License-Identifier: Apache-2.0 */
/* model_area.c: tests of src/model/area.c: examples that were computed by hand, and a comparison with another way to
 * compute the same (every rotation, both origins, percentages, boxes anywhere). */
#include "model/model.h"
#include "tap.h"

#include <float.h>

/* Computed by hand, with a sheet of paper that is turned. The page box is 400 x 600 with its corner at (10, 20). The
 * area is 100 from the left and 50 from the bottom or top, 80 wide and 30 high. */
static const struct {
    sr_origin_t origin;
    int rotate;
    double percent[4], rect[4];
} worked[] = {
    /* user space: the rectangle in the PDF never depends on /Rotate */
    {SR_ORIGIN_USER_SPACE, 0, {25, 100.0 * 520 / 600, 20, 5}, {110, 70, 190, 100}},
    {SR_ORIGIN_USER_SPACE, 90, {100.0 * 50 / 600, 25, 5, 20}, {110, 70, 190, 100}},
    {SR_ORIGIN_USER_SPACE, 180, {55, 100.0 * 50 / 600, 20, 5}, {110, 70, 190, 100}},
    {SR_ORIGIN_USER_SPACE, 270, {100.0 * 520 / 600, 55, 5, 20}, {110, 70, 190, 100}},
    /* top left of the page as displayed (600 x 400 when it lies on its side): docs/decisions/0002-areas.md */
    {SR_ORIGIN_TOP_LEFT, 0, {25, 100.0 * 50 / 600, 20, 5}, {110, 540, 190, 570}},
    {SR_ORIGIN_TOP_LEFT, 90, {100.0 * 100 / 600, 12.5, 100.0 * 80 / 600, 7.5}, {60, 120, 90, 200}},
    {SR_ORIGIN_TOP_LEFT, 180, {25, 100.0 * 50 / 600, 20, 5}, {230, 70, 310, 100}},
    {SR_ORIGIN_TOP_LEFT, 270, {100.0 * 100 / 600, 12.5, 100.0 * 80 / 600, 7.5}, {330, 440, 360, 520}},
};

static sr_area_t area_at(double x, double y, double w, double h, sr_origin_t origin)
{
    return (sr_area_t){.x = x, .y = y, .w = w, .h = h, .origin = origin};
}

static sr_area_t area_in_percent(double x, double y, double w, double h)
{
    return (sr_area_t){.x = x, .y = y, .w = w, .h = h, .origin = SR_ORIGIN_TOP_LEFT, .percent = true};
}

static void test_worked(void)
{
    apr_size_t i;
    int k;
    for (i = 0; i < sizeof worked / sizeof worked[0]; i++) {
        const sr_page_t page = {{10, 20, 410, 620}, worked[i].rotate};
        const sr_area_t area = area_at(100, 50, 80, 30, worked[i].origin);
        const char *origin = area.origin == SR_ORIGIN_TOP_LEFT ? "top-left" : "user-space";
        sr_placement_t got;
        sr_area_place(&got, &area, &page);
        for (k = 0; k < 4; k++)
            is_num(got.percent[k], worked[i].percent[k], "%s %d: percent %d", origin, page.rotate, k);
        for (k = 0; k < 4; k++) is_num(got.rect[k], worked[i].rect[k], "%s %d: rect %d", origin, page.rotate, k);
    }
}

/* Computes where a viewer shows a point of user space, by turning the sheet in quarter turns. The code computes it
 * in another way. */
static void show(const sr_page_t *page, double x, double y, double *px, double *py, double *w, double *h)
{
    int turns;
    *px = x - page->box[0];
    *py = page->box[3] - y;
    *w = page->box[2] - page->box[0];
    *h = page->box[3] - page->box[1];
    for (turns = page->rotate / 90; turns > 0; turns--) { /* clockwise: what was left is up */
        const double left = *px, height = *h;

        *px = height - *py;
        *py = left;
        *h = *w;
        *w = height;
    }
}

/* Returns true if the two corners of the rectangle, as they are shown, span exactly the percentages. */
static bool agrees(const sr_page_t *page, const sr_placement_t *placement)
{
    const double *p = placement->percent, *r = placement->rect;
    double ax, ay, bx, by, w, h;
    show(page, r[0], r[1], &ax, &ay, &w, &h);
    show(page, r[2], r[3], &bx, &by, &w, &h);
    return fabs(p[0] / 100 * w - fmin(ax, bx)) < 1e-6 && fabs(p[1] / 100 * h - fmin(ay, by)) < 1e-6
           && fabs(p[2] / 100 * w - fabs(ax - bx)) < 1e-6 && fabs(p[3] / 100 * h - fabs(ay - by)) < 1e-6;
}

/* Returns true if the same place, given with the other origin, has the same result. */
static bool returns(const sr_page_t *page, const sr_area_t *area, const sr_placement_t *placement)
{
    const double *p = placement->percent, *r = placement->rect;
    sr_area_t other = area_at(r[0] - page->box[0], r[1] - page->box[1], r[2] - r[0], r[3] - r[1], SR_ORIGIN_USER_SPACE);
    sr_placement_t back;
    double x, y, w, h;
    int k;
    if (area->origin == SR_ORIGIN_USER_SPACE) {
        show(page, 0, 0, &x, &y, &w, &h);
        other = area_at(p[0] / 100 * w, p[1] / 100 * h, p[2] / 100 * w, p[3] / 100 * h, SR_ORIGIN_TOP_LEFT);
    }
    sr_area_place(&back, &other, page);
    for (k = 0; k < 4; k++)
        if (fabs(back.percent[k] - p[k]) > 1e-6 || fabs(back.rect[k] - r[k]) > 1e-6) return false;
    return true;
}

static void test_round_trips(void)
{
    static const double boxes[][4] = {{0, 0, 612, 792}, {10, 20, 410, 620}, {-300, -50.5, 100, 14000}, {5, 5, 6, 6}};
    static const double areas[][4] = {{0, 0, 1, 1}, {100, 50, 80, 30}, {-40, 900, 33.3, 0.5}, {1e4, -1e4, 2e4, 3e4}};
    int total = 0, agreed = 0, returned = 0, rotate, origin;
    apr_size_t b, a;
    for (b = 0; b < 4; b++)
        for (a = 0; a < 4; a++)
            for (rotate = 0; rotate < 360; rotate += 90)
                for (origin = 0; origin < 2; origin++) {
                    const sr_page_t page = {{boxes[b][0], boxes[b][1], boxes[b][2], boxes[b][3]}, rotate};
                    const sr_area_t area = area_at(areas[a][0], areas[a][1], areas[a][2], areas[a][3],
                                                   origin ? SR_ORIGIN_TOP_LEFT : SR_ORIGIN_USER_SPACE);
                    sr_placement_t placement;
                    sr_area_place(&placement, &area, &page);
                    total++;
                    agreed += agrees(&page, &placement) ? 1 : 0;
                    returned += returns(&page, &area, &placement) ? 1 : 0;
                }
    is_int(total, 128, "every rotation, both origins, four boxes, four areas");
    is_int(agreed, total, "the rectangle is shown where the percentages are");
    is_int(returned, total, "the same place with the other origin has the same result");
}

/* The same place on the page of `worked`, 25 % from the left, 10 % from the top, 20 % wide and 5 % high. */
static void test_percent(void)
{
    static const double rects[4][4] = {
        {110, 530, 190, 560}, {50, 170, 70, 290}, {230, 80, 310, 110}, {350, 350, 370, 470}};
    const sr_area_t area = area_in_percent(25, 10, 20, 5);
    for (int turns = 0; turns < 4; turns++) {
        const sr_page_t page = {{10, 20, 410, 620}, 90 * turns};
        sr_placement_t got;
        sr_area_place(&got, &area, &page);
        for (int k = 0; k < 4; k++) is_num(got.rect[k], rects[turns][k], "percent %d: rect %d", page.rotate, k);
    }
}

static double random_between(double least, double most)
{
    return least + (most - least) * ((double)random() / 0x7fffffff);
}

/* Returns true if the rectangles are the same but for a millionth of a point. */
static bool same_rect(const sr_placement_t *one, const sr_placement_t *other)
{
    bool same = true;
    for (int k = 0; k < 4; k++) same &= fabs(one->rect[k] - other->rect[k]) < 1e-6;
    return same;
}

/* Returns true if the placement has the percentages of the area as an answer shows them. */
static bool shows_percent(const sr_placement_t *placement, const sr_area_t *area)
{
    static const char *const keys[] = {"x", "y", "w", "h"};
    const double sent[] = {area->x, area->y, area->w, area->h};
    json_t *shown = sr_area_percent(placement->percent);
    bool same = true;
    for (int k = 0; k < 4; k++) same &= fabs(json_number_value(json_object_get(shown, keys[k])) - sent[k]) < 1e-4;
    json_decref(shown);
    return same;
}

static void test_random(void)
{
    const int rounds = 20000;
    int shown = 0, agreed = 0, same = 0;
    srandom(7);
    for (int i = 0; i < rounds; i++) {
        const double left = random_between(-900, 900), low = random_between(-900, 900);
        const sr_page_t page = {{left, low, left + random_between(30, 14400), low + random_between(30, 14400)},
                                (int)(random() % 4) * 90};
        const sr_area_t area = area_in_percent(random_between(-20, 110), random_between(-20, 110),
                                               random_between(0.1, 120), random_between(0.1, 120));
        double x, y, w, h;
        show(&page, 0, 0, &x, &y, &w, &h);
        const sr_area_t points =
            area_at(area.x / 100 * w, area.y / 100 * h, area.w / 100 * w, area.h / 100 * h, SR_ORIGIN_TOP_LEFT);
        sr_placement_t placed, other;
        sr_area_place(&placed, &area, &page);
        sr_area_place(&other, &points, &page);
        shown += shows_percent(&placed, &area) ? 1 : 0;
        agreed += agrees(&page, &placed) ? 1 : 0;
        same += same_rect(&placed, &other) ? 1 : 0;
    }
    is_int(shown, rounds, "the answer has the percentages of the area");
    is_int(agreed, rounds, "the rectangle is shown where the percentages are");
    is_int(same, rounds, "the same place in points from the top left has the same rectangle");
}

static void test_extremes(void)
{
    static const double sizes[] = {DBL_TRUE_MIN, 1e-300, 1, 1e300, DBL_MAX};
    static const double places[] = {-DBL_MAX, -1e308, 0, 1e308, DBL_MAX};
    static const double boxes[][4] = {{0, 0, 612, 792},
                                      {0, 0, DBL_TRUE_MIN, DBL_TRUE_MIN},
                                      {-DBL_MAX, -1e308, 1e308, DBL_MAX},
                                      {1e300, 1e300, DBL_MAX, DBL_MAX}};
    int total = 0, finite = 0, sized = 0, rotate, origin;
    apr_size_t s, p, b;
    for (s = 0; s < 5; s++)
        for (p = 0; p < 5; p++)
            for (b = 0; b < 4; b++)
                for (rotate = 0; rotate < 360; rotate += 90)
                    for (origin = 0; origin < 3; origin++) {
                        const sr_page_t page = {{boxes[b][0], boxes[b][1], boxes[b][2], boxes[b][3]}, rotate};
                        sr_area_t area = area_at(places[p], places[4 - p], sizes[s], sizes[4 - s],
                                                 origin ? SR_ORIGIN_TOP_LEFT : SR_ORIGIN_USER_SPACE);
                        area.percent = origin == 2;
                        sr_placement_t got;
                        int k, good = 0;
                        sr_area_place(&got, &area, &page);
                        for (k = 0; k < 4; k++) good += fabs(got.percent[k]) < 1e11 && fabs(got.rect[k]) < 1e11 ? 1 : 0;
                        total++;
                        finite += good == 4 ? 1 : 0;
                        sized += got.rect[2] - got.rect[0] > 0.009 && got.rect[3] - got.rect[1] > 0.009 ? 1 : 0;
                    }
    is_int(finite, total, "the results are finite numbers for all inputs");
    is_int(sized, total, "the rectangle is never empty");
}

int main(void)
{
    test_worked();
    test_percent();
    test_round_trips();
    test_random();
    test_extremes();
    return done();
}
