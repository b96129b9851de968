/* SPDX-License-Identifier: Apache-2.0 */
/* flow.c: places the rows of a composed document on pages, with a banner and a footer on each page. */
#include "helper/main/compose/flow.h"

#include <math.h>

#define TOP 36.0
#define BOTTOM (SR_PDFD_HEIGHT - 26)
#define MARK_ABOVE 2.0 /* free space above a signature, and in total */
#define MARK_FREE 4.0
#define PINK 0xfde9e9
#define MAX_KEPT 1024u     /* limit on paragraphs; the others of a longer document are set again in the second pass */
#define MAX_LATER 512u     /* limit on paragraphs that are kept for the next document */
#define MAX_KEPT_TEXT 1024 /* limit on bytes of each */

static const sr_pdfd_look_t BANNER = {SR_PDFD_BOLD, 9.5, 14, SR_PDFD_RED};
const sr_pdfd_look_t sr_pdfd_small = {SR_PDFD_PLAIN, 7.5, 10, SR_PDFD_GRAY};

/* ---------------------------------------------------------------------------------------------------- marks */

double sr_pdfd_flow_side(const sr_pdfd_flow_t *flow, double x, double width)
{
    return flow->rtl ? SR_PDFD_WIDTH - x - width : x;
}

void sr_pdfd_flow_fill(const sr_pdfd_flow_t *flow, double x, double y, double width, double height, uint32_t colour)
{
    sr_pdfd_box(flow->canvas, sr_pdfd_flow_side(flow, x, width), y, width, height, colour);
}

void sr_pdfd_flow_rule(const sr_pdfd_flow_t *flow, double y, uint32_t colour)
{
    sr_pdfd_flow_fill(flow, SR_PDFD_LEFT, y, SR_PDFD_RIGHT - SR_PDFD_LEFT, 0.6, colour);
}

/* pango would set all paragraphs again after the language of its context has changed. */
apr_hash_t *sr_pdfd_flow_kept(const char *language)
{
    static apr_pool_t *pool;
    static apr_hash_t *kept;
    static const char *kept_language;
    if (!language) language = "";
    if (pool && (apr_hash_count(kept) > MAX_LATER || strcmp(language, kept_language) != 0)) {
        apr_pool_destroy(pool);
        pool = NULL;
    }
    if (pool) return kept;
    apr_pool_create(&pool, NULL);
    kept_language = apr_pstrdup(pool, language);
    return kept = apr_hash_make(pool);
}

sr_pdfd_paragraph_t *sr_pdfd_flow_set(const sr_pdfd_flow_t *flow, const char *text, const sr_pdfd_look_t *look,
                                      double width, apr_pool_t *pool)
{
    const bool may_keep = text && apr_hash_count(flow->kept) < MAX_KEPT && strlen(text) <= MAX_KEPT_TEXT;
    apr_pool_t *kept_pool = apr_hash_pool_get(flow->kept);
    const char *key = apr_psprintf(pool, "%s %pp %.3f", text ? text : "", (const void *)look, width);
    sr_pdfd_paragraph_t *set = text ? apr_hash_get(flow->kept, key, APR_HASH_KEY_STRING) : NULL;
    if (set) return set;
    set = sr_pdfd_paragraph(text, look, width, flow->language, may_keep ? kept_pool : pool);
    if (set && may_keep) apr_hash_set(flow->kept, apr_pstrdup(kept_pool, key), APR_HASH_KEY_STRING, set);
    return set;
}

static bool has_signatures(const sr_pdfd_row_t *row)
{
    for (int i = 0; i < SR_PDFD_COLUMNS; i++)
        if (row->signatures[i]) return true;
    return false;
}

/* Returns false after the last line. */
static bool measure_line(double *above, double *height, const sr_pdfd_row_t *row, int line)
{
    double below = 0, leading = 0, a, b;
    *above = 0;
    for (int i = 0; i < SR_PDFD_COLUMNS; i++) {
        sr_pdfd_paragraph_extents(&a, &b, row->columns[i], line);
        *above = fmax(*above, a);
        below = fmax(below, b);
        leading = fmax(leading, sr_pdfd_paragraph_leading(row->columns[i], line));
    }
    *height = fmax(*above + below, leading);
    const bool has_signature = !line && has_signatures(row);
    if (has_signature) *height = fmax(*height, SR_PDFD_SIGNATURE_HEIGHT + MARK_FREE);
    *above += has_signature ? 0 : (*height - *above - below) / 2; /* the additional leading is shared above and below */
    return *height > 0;
}

double sr_pdfd_flow_measure(const sr_pdfd_row_t *row, int lines)
{
    double above, height, sum = 0;
    for (int i = 0; i < lines && measure_line(&above, &height, row, i); i++) sum += height;
    return sum;
}

static void put_column(const sr_pdfd_flow_t *flow, const sr_pdfd_row_t *row, int column, int line, double y)
{
    const sr_pdfd_paragraph_t *paragraph = row->columns[column];
    if (sr_pdfd_paragraph_lines(paragraph) <= line) return;
    const double x = sr_pdfd_flow_side(flow, row->x[column], sr_pdfd_paragraph_room(paragraph));
    sr_pdfd_content_begin(flow->canvas, flow->structure, row->elements[column]);
    sr_pdfd_paragraph_draw(flow->canvas, paragraph, line, x, y, flow->rtl);
    sr_pdfd_content_end(flow->canvas, flow->structure, row->elements[column]);
}

static void put_signature(const sr_pdfd_flow_t *flow, const sr_pdfd_row_t *row, int column, double y)
{
    if (!row->signatures[column]) return;
    const sr_pdfd_place_t place = {sr_pdfd_flow_side(flow, row->x[column], SR_PDFD_SIGNATURE_WIDTH), y + MARK_ABOVE,
                                   SR_PDFD_SIGNATURE_WIDTH, SR_PDFD_SIGNATURE_HEIGHT, flow->rtl};
    sr_pdfd_content_begin(flow->canvas, flow->structure, row->elements[column]);
    sr_pdfd_put_drawing(flow->canvas, json_object_get(row->signatures[column], "drawing"), &place, flow->item_pool);
    sr_pdfd_content_end(flow->canvas, flow->structure, row->elements[column]);
}

static void put_line(const sr_pdfd_flow_t *flow, const sr_pdfd_row_t *row, int line, double y)
{
    if (!flow->canvas) return;
    for (int i = 0; i < SR_PDFD_COLUMNS; i++) put_column(flow, row, i, line, y);
    for (int i = 0; i < SR_PDFD_COLUMNS && !line; i++) put_signature(flow, row, i, y);
}

double sr_pdfd_flow_put_lines(const sr_pdfd_flow_t *flow, const sr_pdfd_row_t *row, double y, int lines)
{
    double above, height;
    for (int i = 0; i < lines && measure_line(&above, &height, row, i); i++) {
        put_line(flow, row, i, y + above);
        y += height;
    }
    return y;
}

sr_pdfd_row_t sr_pdfd_flow_alone(const sr_pdfd_flow_t *flow, const char *text, const sr_pdfd_look_t *look, double x,
                                 double width, apr_pool_t *pool)
{
    return (sr_pdfd_row_t){
        .kind = SR_PDFD_ROW_TEXT, .type = "P", .columns = {sr_pdfd_flow_set(flow, text, look, width, pool)}, .x = {x}};
}

/* ---------------------------------------------------------------------------------------------------- pages */

#define FOOT_ABOVE 10.0
#define NUMBER_WIDTH 60.0

static sr_pdfd_row_t set_foot(sr_pdfd_flow_t *flow)
{
    const char *text = sr_json_string(flow->request, "footer");
    return sr_pdfd_flow_alone(flow, text, &sr_pdfd_small, SR_PDFD_LEFT, SR_PDFD_RIGHT - SR_PDFD_LEFT - NUMBER_WIDTH,
                              flow->page_pool);
}

static void put_foot(sr_pdfd_flow_t *flow)
{
    sr_pdfd_row_t foot = set_foot(flow);
    if (flow->page == flow->pages) sr_pdfd_flow_tag(flow, &foot);
    if (flow->pages > 1) {
        const char *number = apr_psprintf(flow->page_pool, "%d / %d", flow->page, flow->pages);
        foot.columns[1] = sr_pdfd_flow_set(flow, number, &sr_pdfd_small, NUMBER_WIDTH, flow->page_pool);
        foot.x[1] = SR_PDFD_RIGHT - sr_pdfd_paragraph_width(foot.columns[1], 0);
    }
    sr_pdfd_flow_put_lines(flow, &foot, flow->bottom + FOOT_ABOVE, SR_PDFD_SIDE_LINES);
}

static void put_banner(sr_pdfd_flow_t *flow)
{
    const char *text = sr_json_string(flow->request, "banner");
    sr_pdfd_row_t banner =
        sr_pdfd_flow_alone(flow, text, &BANNER, SR_PDFD_LEFT + 14, SR_PDFD_RIGHT - SR_PDFD_LEFT - 24, flow->page_pool);
    if (!banner.columns[0]) return;
    if (flow->page == 1) sr_pdfd_flow_tag(flow, &banner);
    double height = sr_pdfd_flow_measure(&banner, SR_PDFD_SIDE_LINES) + 9;
    sr_pdfd_flow_fill(flow, SR_PDFD_LEFT, flow->y, SR_PDFD_RIGHT - SR_PDFD_LEFT, height, PINK);
    sr_pdfd_flow_fill(flow, SR_PDFD_LEFT, flow->y, 3, height, SR_PDFD_RED);
    sr_pdfd_flow_put_lines(flow, &banner, flow->y + 4.5, SR_PDFD_SIDE_LINES);
    flow->y += height + 8;
}

void sr_pdfd_flow_begin_page(sr_pdfd_flow_t *flow)
{
    apr_pool_clear(flow->page_pool);
    flow->page++;
    flow->y = TOP;
    const sr_pdfd_row_t foot = set_foot(flow);
    flow->bottom = BOTTOM - FOOT_ABOVE - fmax(sr_pdfd_small.leading, sr_pdfd_flow_measure(&foot, SR_PDFD_SIDE_LINES));
    put_banner(flow);
    if (flow->page > 1) {
        const char *text = sr_json_string(flow->request, "title");
        const sr_pdfd_row_t title =
            sr_pdfd_flow_alone(flow, text, &sr_pdfd_small, SR_PDFD_LEFT, SR_PDFD_RIGHT - SR_PDFD_LEFT, flow->page_pool);
        flow->y = sr_pdfd_flow_put_lines(flow, &title, flow->y, 1) + 4;
        sr_pdfd_flow_rule(flow, flow->y, SR_PDFD_HAIRLINE);
        flow->y += 12;
    }
    flow->top = flow->y;
}

void sr_pdfd_flow_end_page(sr_pdfd_flow_t *flow)
{
    put_foot(flow);
    if (flow->canvas) sr_pdfd_canvas_end_page(flow->canvas);
}

void sr_pdfd_flow_make_room(sr_pdfd_flow_t *flow, double height)
{
    if (flow->y + height <= flow->bottom || height > flow->bottom - flow->top || flow->y <= flow->top) return;
    sr_pdfd_flow_end_page(flow);
    sr_pdfd_flow_begin_page(flow);
}

/* -------------------------------------------------------------------------------------------------- structure */

static int add_element(const sr_pdfd_flow_t *flow, int parent, const char *type)
{
    return sr_pdfd_element(flow->structure, parent, type);
}

/* Returns the list or table that contains the previous row, or a new one. */
static int block_of(sr_pdfd_flow_t *flow, const char *type)
{
    if (!flow->block || strcmp(sr_pdfd_element_type(flow->structure, flow->block), type) != 0)
        flow->block = add_element(flow, flow->group, type);
    return flow->block;
}

static void tag_pairs(sr_pdfd_flow_t *flow, sr_pdfd_row_t *row)
{
    for (int i = 0; i < SR_PDFD_COLUMNS; i += 2) {
        if (!row->columns[i] && !row->columns[i + 1]) continue;
        const int item = add_element(flow, block_of(flow, "L"), "LI");
        if (row->columns[i]) row->elements[i] = add_element(flow, item, "Lbl");
        if (row->columns[i + 1]) row->elements[i + 1] = add_element(flow, item, "LBody");
    }
}

static void tag_cells(sr_pdfd_flow_t *flow, sr_pdfd_row_t *row)
{
    const int line = add_element(flow, block_of(flow, "Table"), "TR");
    for (int i = 0; i < SR_PDFD_COLUMNS && row->x[i] > 0; i++) {
        const bool is_head = (row->kind == SR_PDFD_ROW_HEAD) == (i > 0);
        row->elements[i] = add_element(flow, line, is_head ? "TH" : "TD");
        const char *alternative = sr_json_string(row->signatures[i], "alternative");
        if (row->signatures[i]) row->elements[i] = sr_pdfd_figure(flow->structure, row->elements[i], alternative);
    }
}

void sr_pdfd_flow_tag(sr_pdfd_flow_t *flow, sr_pdfd_row_t *row)
{
    if (!flow->structure) return;
    if (row->kind == SR_PDFD_ROW_PAIRS) tag_pairs(flow, row);
    else if (row->kind != SR_PDFD_ROW_TEXT) tag_cells(flow, row);
    else flow->block = 0;
    if (row->columns[0] && row->kind == SR_PDFD_ROW_TEXT) row->elements[0] = add_element(flow, flow->group, row->type);
}

/* ------------------------------------------------------------------------------------------------------- rows */

void sr_pdfd_flow_put_row(sr_pdfd_flow_t *flow, const sr_pdfd_row_t *untagged)
{
    double above, height;
    sr_pdfd_row_t row = *untagged;
    sr_pdfd_flow_make_room(flow, sr_pdfd_flow_measure(&row, SR_PDFD_ALL_LINES));
    sr_pdfd_flow_tag(flow, &row);
    for (int i = 0; measure_line(&above, &height, &row, i); i++) {
        sr_pdfd_flow_make_room(flow, height);
        put_line(flow, &row, i, flow->y + above);
        flow->y += height;
    }
}
