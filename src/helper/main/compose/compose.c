/* SPDX-License-Identifier: Apache-2.0 */
/* compose.c: composes a new document of headings and rows with a label and a value. It has A4 pages, one if possible,
 * and a panel for the seal at its end. Only the client knows the meaning of its texts. The document is laid out twice:
 * first to count the pages, whose number each footer shows, and then to draw them. The same request always gives the
 * same bytes. */
#include "helper/main/compose/flow.h"

#include <math.h>
#include <string.h>

#define LABELS 96.0       /* width of the column of labels */
#define WIDE_LABELS 128.0 /* the same for labels in two languages */
#define SECTION_ABOVE 9.0
#define HEADING_BELOW 5.0
#define ITEM_ABOVE 6.0
#define INSET 8.0 /* margin inside a panel */
#define FIELD_WIDTH 168.0
#define FIELD_HEIGHT 40.0
#define SEAL_ABOVE 11.0
#define SEAL_GAP 6.0
#define SEAL_ROWS 8
#define QR_SIZE 74.0
#define LOGO_WIDTH 140.0 /* at most */
#define LOGO_HEIGHT 36.0
#define TIMES 108.0  /* width of a time */
#define EVENTS 186.0 /* width of the second column of events */

#define INK 0x1b1f27
#define NAVY 0x172b63
#define GROUND 0xf3f5f9

static const sr_pdfd_look_t TITLE = {SR_PDFD_BOLD, 20, 24, NAVY};
static const sr_pdfd_look_t SECOND = {SR_PDFD_PLAIN, 10, 13, SR_PDFD_GRAY};
static const sr_pdfd_look_t SUBTITLE = {SR_PDFD_BOLD, 11, 15, INK};
static const sr_pdfd_look_t HEADING = {SR_PDFD_BOLD, 10.5, 14, NAVY};
static const sr_pdfd_look_t ITEM = {SR_PDFD_BOLD, 9, 13, INK};
static const sr_pdfd_look_t LABEL = {SR_PDFD_PLAIN, 8, 10.6, SR_PDFD_GRAY};
static const sr_pdfd_look_t VALUE = {SR_PDFD_PLAIN, 8.5, 10.6, INK};
static const sr_pdfd_look_t CODE = {SR_PDFD_CODE, 7.4, 10.6, INK};
static const sr_pdfd_look_t SMALL_CODE = {SR_PDFD_CODE, 7.4, 10, INK};
static const sr_pdfd_look_t WHAT = {SR_PDFD_BOLD, 8.3, 10.6, INK};

/* ----------------------------------------------------------------------------------------------------- rows */

/* Sets a label of this width and its value, beginning at `x`. */
static void set_pair(sr_pdfd_row_t *row, int at, const sr_pdfd_flow_t *flow, const json_t *texts, size_t from, double x,
                     double label_width, double width)
{
    const char *label = json_string_value(json_array_get(texts, from));
    const char *value = json_string_value(json_array_get(texts, from + 1));
    const char *kind = from ? NULL : json_string_value(json_array_get(texts, 2));
    bool is_code = kind && json_array_size(texts) == 3 && !strcmp(kind, "code");
    const double before = label_width + SR_PDFD_GAP;
    row->columns[at] = sr_pdfd_flow_set(flow, label, &LABEL, label_width, flow->item_pool);
    row->columns[at + 1] = sr_pdfd_flow_set(flow, value, is_code ? &CODE : &VALUE, width - before, flow->item_pool);
    row->x[at] = x;
    row->x[at + 1] = x + before;
}

static bool is_short(const sr_pdfd_row_t *row)
{
    for (int i = 0; i < SR_PDFD_COLUMNS; i++)
        if (sr_pdfd_paragraph_lines(row->columns[i]) > 1) return false;
    return true;
}

/* Sets a row of three columns: when, what and who. */
static sr_pdfd_row_t set_event(const sr_pdfd_flow_t *flow, const json_t *event)
{
    static const sr_pdfd_look_t *const looks[] = {&VALUE, &WHAT, &VALUE};
    static const double x[] = {SR_PDFD_LEFT, SR_PDFD_LEFT + TIMES + SR_PDFD_GAP,
                               SR_PDFD_LEFT + TIMES + EVENTS + 2 * SR_PDFD_GAP, SR_PDFD_RIGHT + SR_PDFD_GAP};
    sr_pdfd_row_t row = {.kind = SR_PDFD_ROW_CELLS};
    for (size_t i = 0; i < 3; i++) {
        const char *text = json_string_value(json_array_get(event, i));
        row.columns[i] = sr_pdfd_flow_set(flow, text, looks[i], x[i + 1] - x[i] - SR_PDFD_GAP, flow->item_pool);
        row.x[i] = x[i];
    }
    return row;
}

/* Sets a row of a table: a label, and one or two values or signatures. */
static sr_pdfd_row_t set_cells(const sr_pdfd_flow_t *flow, const json_t *cells, bool is_head)
{
    const int values = json_array_size(cells) > 2 ? 2 : 1;
    const double first = SR_PDFD_LEFT + flow->labels + SR_PDFD_GAP,
                 step = (SR_PDFD_RIGHT + SR_PDFD_GAP - first) / values;
    const char *label = json_string_value(json_array_get(cells, 0));
    sr_pdfd_row_t row = {.kind = is_head ? SR_PDFD_ROW_HEAD : SR_PDFD_ROW_CELLS,
                         .columns = {sr_pdfd_flow_set(flow, label, &LABEL, flow->labels, flow->item_pool)},
                         .x = {SR_PDFD_LEFT}};
    for (int i = 1; i <= values; i++) {
        const json_t *cell = json_array_get(cells, (size_t)i);
        row.columns[i] = sr_pdfd_flow_set(flow, json_string_value(cell), is_head ? &ITEM : &VALUE, step - SR_PDFD_GAP,
                                          flow->item_pool);
        row.x[i] = first + (i - 1) * step;
        if (json_object_get(cell, "drawing")) row.signatures[i] = cell;
    }
    return row;
}

/* Sets a row of the request as one or two rows. Two pairs are placed below each other if a text needs more than one
 * line. */
static int set_rows(sr_pdfd_row_t *rows, const sr_pdfd_flow_t *flow, const json_t *texts)
{
    const double all = SR_PDFD_RIGHT - SR_PDFD_LEFT, time = SR_PDFD_GAP + TIMES, first = flow->labels + time;
    bool two = json_array_size(texts) >= 4;
    const json_t *cells = json_object_get(texts, "cells");
    if (cells) {
        rows[0] = set_cells(flow, cells, json_is_true(json_object_get(texts, "head")));
        return 1;
    }
    if (json_is_object(texts)) {
        rows[0] = set_event(flow, json_object_get(texts, "event"));
        return 1;
    }
    rows[0] = rows[1] = (sr_pdfd_row_t){0};
    if (two) {
        const double rest = all - first - SR_PDFD_GAP;
        set_pair(rows, 0, flow, texts, 0, SR_PDFD_LEFT, flow->labels, first);
        set_pair(rows, 2, flow, texts, 2, SR_PDFD_RIGHT - rest, fmin(flow->labels, rest - time), rest);
        if (is_short(rows)) return 1;
        rows[0] = (sr_pdfd_row_t){0};
        set_pair(rows + 1, 0, flow, texts, 2, SR_PDFD_LEFT, flow->labels, all);
    }
    set_pair(rows, 0, flow, texts, 0, SR_PDFD_LEFT, flow->labels, all);
    return two ? 2 : 1;
}

/* Sets the rows of an item, the heading first. *height is their total height. */
static sr_pdfd_row_t *set_item(int *count, double *height, const sr_pdfd_flow_t *flow, const json_t *item)
{
    const json_t *list = json_object_get(item, "rows");
    apr_size_t most = 2 * json_array_size(list) + 1;
    sr_pdfd_row_t *rows = apr_palloc(flow->item_pool, most * sizeof *rows);
    rows[0] = sr_pdfd_flow_alone(flow, sr_json_string(item, "heading"), &ITEM, SR_PDFD_LEFT,
                                 SR_PDFD_RIGHT - SR_PDFD_LEFT, flow->item_pool);
    rows[0].type = "H3";
    *count = 1;
    for (size_t i = 0; i < json_array_size(list); i++) *count += set_rows(rows + *count, flow, json_array_get(list, i));
    *height = 0;
    for (int i = 0; i < *count; i++) *height += sr_pdfd_flow_measure(&rows[i], SR_PDFD_ALL_LINES);
    return rows;
}

static void put_panel(const sr_pdfd_flow_t *flow, double height)
{
    sr_pdfd_flow_fill(flow, SR_PDFD_LEFT - INSET, flow->y, SR_PDFD_RIGHT - SR_PDFD_LEFT + 2 * INSET, height, GROUND);
    sr_pdfd_flow_fill(flow, SR_PDFD_LEFT - INSET, flow->y, 2.5, height, NAVY);
}

/* Begins a new element, to which further elements are added. Returns the previous one. */
static int begin_group(sr_pdfd_flow_t *flow, const char *type)
{
    const int before = flow->group;
    flow->group = sr_pdfd_element(flow->structure, before, type);
    flow->block = 0;
    return before;
}

static void end_group(sr_pdfd_flow_t *flow, int before)
{
    flow->group = before;
    flow->block = 0;
}

/* Draws an item, on one page if possible, together with `heading` (or NULL). */
static void put_item(sr_pdfd_flow_t *flow, const json_t *item, const sr_pdfd_row_t *heading, bool is_panel)
{
    int count;
    double height, before = heading ? SECTION_ABOVE : ITEM_ABOVE, own = 0;
    const sr_pdfd_row_t *rows = set_item(&count, &height, flow, item);
    if (heading) own = sr_pdfd_flow_measure(heading, SR_PDFD_ALL_LINES) + HEADING_BELOW;
    if (is_panel) before += INSET;
    if (before + own + height
        > flow->bottom - flow->top) { /* too long for a page: only the heading and the first row are kept together */
        height = sr_pdfd_flow_measure(&rows[0], SR_PDFD_ALL_LINES)
                 + (count > 1 ? sr_pdfd_flow_measure(&rows[1], SR_PDFD_ALL_LINES) : 0);
        height = fmin(height, flow->bottom - flow->top - before - own);
        is_panel = false;
    }
    sr_pdfd_flow_make_room(flow, before + own + height + (is_panel ? INSET : 0));
    if (flow->y > flow->top) flow->y += before;
    if (is_panel) {
        flow->y -= INSET;
        put_panel(flow, height + 2 * INSET);
        flow->y += INSET;
    }
    if (heading) {
        sr_pdfd_flow_put_row(flow, heading);
        sr_pdfd_flow_rule(flow, flow->y + 2, SR_PDFD_HAIRLINE);
        flow->y += HEADING_BELOW;
    }
    const int section = begin_group(flow, "Sect");
    for (int i = 0; i < count; i++) sr_pdfd_flow_put_row(flow, &rows[i]);
    end_group(flow, section);
    if (is_panel) flow->y += INSET;
}

static void put_section(sr_pdfd_flow_t *flow, const json_t *section)
{
    const json_t *items = json_object_get(section, "items");
    const int document = begin_group(flow, "Sect");
    for (size_t i = 0; i < json_array_size(items); i++) {
        apr_pool_clear(flow->item_pool);
        const char *text = sr_json_string(section, "heading");
        sr_pdfd_row_t heading =
            sr_pdfd_flow_alone(flow, text, &HEADING, SR_PDFD_LEFT, SR_PDFD_RIGHT - SR_PDFD_LEFT, flow->item_pool);
        heading.type = "H2";
        put_item(flow, json_array_get(items, i), i || !heading.columns[0] ? NULL : &heading,
                 json_is_true(json_object_get(section, "panel")));
    }
    end_group(flow, document);
}

/* --------------------------------------------------------------------------------------------- the document */

/* Draws the logo opposite to the title. */
static void put_logo(const sr_pdfd_flow_t *flow, const json_t *logo)
{
    const char *png = sr_json_string(logo, "png");
    cairo_surface_t *surface = flow->canvas && png ? sr_pdfd_png_surface(png, flow->item_pool) : NULL;
    if (!surface) return;
    const double width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);
    const double scale = fmin(LOGO_WIDTH / width, LOGO_HEIGHT / height), w = width * scale, h = height * scale;
    surface = sr_pdfd_reduced_surface(surface, w, h, SR_PDFD_DENSITY);
    if (!surface) return;
    const int figure = sr_pdfd_figure(flow->structure, flow->group, sr_json_string(logo, "text"));
    sr_pdfd_content_begin(flow->canvas, flow->structure, figure);
    sr_pdfd_canvas_image(flow->canvas, surface, sr_pdfd_flow_side(flow, SR_PDFD_RIGHT - w, w), flow->y, w, h);
    sr_pdfd_content_end(flow->canvas, flow->structure, figure);
}

static void put_title(sr_pdfd_flow_t *flow)
{
    const json_t *logo = json_object_get(flow->request, "logo");
    const double width = SR_PDFD_RIGHT - SR_PDFD_LEFT - (logo ? LOGO_WIDTH + SR_PDFD_GAP : 0);
    put_logo(flow, logo);
    static const struct {
        const char *key;
        const sr_pdfd_look_t *look;
        double above;
        const char *type;
    } lines[] = {{"title", &TITLE, 0, "H1"}, {"second", &SECOND, 0, "P"}, {"subtitle", &SUBTITLE, 6, "P"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *text = sr_json_string(flow->request, lines[i].key);
        sr_pdfd_row_t row = sr_pdfd_flow_alone(flow, text, lines[i].look, SR_PDFD_LEFT, width, flow->item_pool);
        row.type = lines[i].type;
        if (row.columns[0]) flow->y += lines[i].above;
        sr_pdfd_flow_put_row(flow, &row);
    }
}

/* The rows beside the seal: paragraphs, one below the other. */
typedef struct lines_t {
    sr_pdfd_row_t rows[SEAL_ROWS];
    int count;
    double height;
} lines_t;

static void compose_add_line(lines_t *lines, const sr_pdfd_flow_t *flow, const char *text, const sr_pdfd_look_t *look,
                             double x, double width)
{
    if (lines->count == SEAL_ROWS) return;
    sr_pdfd_row_t *row = &lines->rows[lines->count++];
    *row = sr_pdfd_flow_alone(flow, text, look, x, width, flow->item_pool);
    lines->height += sr_pdfd_flow_measure(row, SR_PDFD_SIDE_LINES);
}

static void compose_put_lines(sr_pdfd_flow_t *flow, lines_t *lines, double y)
{
    for (int i = 0; i < lines->count; i++) {
        sr_pdfd_flow_tag(flow, &lines->rows[i]);
        y = sr_pdfd_flow_put_lines(flow, &lines->rows[i], y, SR_PDFD_SIDE_LINES);
    }
}

static void put_qr(sr_pdfd_flow_t *flow, const char *address, double y)
{
    const char *text = sr_json_string(flow->request, "qrText");
    if (!flow->canvas || !address) return;
    const int figure = sr_pdfd_figure(flow->structure, flow->group, text ? text : address);
    sr_pdfd_content_begin(flow->canvas, flow->structure, figure);
    sr_pdfd_qr(flow->canvas, address, sr_pdfd_flow_side(flow, SR_PDFD_RIGHT - QR_SIZE, QR_SIZE), y, QR_SIZE);
    sr_pdfd_content_end(flow->canvas, flow->structure, figure);
}

/* Draws the panel at the end, which is at the bottom of a single page: how to check the document, and below that the
 * area of the seal, the certificate, and the address for the check with its QR code. */
static void put_seal(sr_pdfd_flow_t *flow, double *rect)
{
    const char *address = sr_json_string(flow->request, "qr");
    const json_t *notes = json_object_get(flow->request, "sealNotes"),
                 *rows = json_object_get(flow->request, "sealRows");
    const double x = SR_PDFD_LEFT + FIELD_WIDTH + SR_PDFD_GAP,
                 end = SR_PDFD_RIGHT - (address ? QR_SIZE + SR_PDFD_GAP : 0);
    apr_pool_clear(flow->item_pool);
    lines_t about = {.count = 0}, caption = {.count = 0}, beside = {.count = 0};
    for (size_t i = 0; i < json_array_size(notes); i++)
        compose_add_line(&about, flow, json_string_value(json_array_get(notes, i)), &sr_pdfd_small, SR_PDFD_LEFT,
                         end - SR_PDFD_LEFT);
    compose_add_line(&caption, flow, sr_json_string(flow->request, "seal"), &sr_pdfd_small, SR_PDFD_LEFT, FIELD_WIDTH);
    for (size_t i = 0; i < 2 * json_array_size(rows); i++)
        compose_add_line(&beside, flow, json_string_value(json_array_get(json_array_get(rows, i / 2), i % 2)),
                         i % 2 ? &SMALL_CODE : &sr_pdfd_small, x, end - x);
    const double below = about.height > 0 ? about.height + SEAL_GAP : 0;
    const double height =
        2 * INSET + fmax(below + fmax(FIELD_HEIGHT + caption.height, beside.height), address ? QR_SIZE : 0);
    sr_pdfd_flow_make_room(flow, SEAL_ABOVE + height);
    const double top = flow->page > 1 ? flow->y + SEAL_ABOVE : flow->bottom - height, y = top + INSET + below;
    flow->y = top;
    put_panel(flow, height);
    rect[0] = sr_pdfd_flow_side(flow, SR_PDFD_LEFT, FIELD_WIDTH);
    rect[1] = SR_PDFD_HEIGHT - y - FIELD_HEIGHT + 1;
    rect[2] = rect[0] + FIELD_WIDTH;
    rect[3] = SR_PDFD_HEIGHT - y;
    compose_put_lines(flow, &about, top + INSET);
    compose_put_lines(flow, &caption, y + FIELD_HEIGHT + 2);
    compose_put_lines(flow, &beside, y);
    put_qr(flow, address, top + (height - QR_SIZE) / 2);
}

static void compose_put_all(sr_pdfd_flow_t *flow, double *rect)
{
    const json_t *sections = json_object_get(flow->request, "sections");
    flow->page = 0;
    sr_pdfd_flow_begin_page(flow);
    put_title(flow);
    for (size_t i = 0; i < json_array_size(sections); i++) put_section(flow, json_array_get(sections, i));
    put_seal(flow, rect);
    sr_pdfd_flow_end_page(flow);
    flow->pages = flow->page;
}

static void put_catalog(sr_pdfd_update_t *update, int catalog, int pages, int structure, const char *language)
{
    sr_pdfd_buffer_t *out = sr_pdfd_object_begin(update, catalog, 0);
    sr_pdfd_print(out,
                  "<</Type/Catalog/Pages %d 0 R/StructTreeRoot %d 0 R/MarkInfo<</Marked true>>"
                  "/ViewerPreferences<</DisplayDocTitle true>>",
                  pages, structure);
    if (language) {
        sr_pdfd_put_text(out, "/Lang");
        sr_pdfd_put_string(out, language);
    }
    sr_pdfd_put_text(out, ">>");
    sr_pdfd_object_end(update);
}

/* Returns NULL if a font cannot be embedded. */
static const sr_pdfd_buffer_t *compose_write_file(const sr_pdfd_flow_t *flow, apr_time_t when, apr_pool_t *pool)
{
    sr_pdfd_update_t new, *update = &new;
    sr_pdfd_update_new(update, pool);
    const int catalog = (int)sr_pdfd_object_number(update), root = (int)sr_pdfd_object_number(update);
    const int about = sr_pdfd_describe(update, sr_json_string(flow->request, "title"), when);
    const int *pages = sr_pdfd_file_pages(update, root, flow->canvas);
    if (!pages) return NULL;
    put_catalog(update, catalog, root, sr_pdfd_structure_put(update, flow->structure, pages, flow->pages),
                flow->language);
    sr_pdfd_update_close(update, catalog, about);
    return update->out;
}

static json_t *answer_with(const char *key, const char *reason)
{
    json_t *response = json_object();
    json_object_set_new(response, key, json_string(reason));
    return response;
}

json_t *sr_pdfd_compose(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    const char *second = sr_json_string(request->text, "second"), *direction = sr_json_string(request->text, "dir");
    sr_pdfd_flow_t flow = {.request = request->text,
                           .language = sr_json_string(request->text, "language"),
                           .rtl = direction && !strcmp(direction, "rtl"),
                           .labels = second && *second ? WIDE_LABELS : LABELS};
    const char *time = sr_json_string(request->text, "time");
    apr_time_t when;
    double rect[4];
    if (!sr_pdfd_font(SR_PDFD_PLAIN, 0)) return answer_with("unavailable", "there are no fonts to write with");
    if (!time || !sr_time_parse(&when, time)) return answer_with("refused", "it has no time");
    if (!sr_pdfd_texts_are_short(request->text)) return answer_with("refused", "a text in it is longer than 32 KiB");
    apr_pool_create(&flow.page_pool, pool);
    apr_pool_create(&flow.item_pool, pool);
    flow.kept = sr_pdfd_flow_kept(flow.language);
    compose_put_all(&flow, rect);
    flow.structure = sr_pdfd_structure(pool);
    flow.canvas = sr_pdfd_canvas(pool);
    compose_put_all(&flow, rect);
    const sr_pdfd_buffer_t *file = compose_write_file(&flow, when, pool);
    if (!file || file->size > request->room) return answer_with("refused", SR_PDF_LIMITS_REASON);
    memcpy(request->result, file->data, file->size);
    return json_pack("{s:I,s:i,s:{s:i,s:[f,f,f,f]}}", "length", (json_int_t)file->size, "pages", flow.pages, "field",
                     "page", flow.pages - 1, "rect", rect[0], rect[1], rect[2], rect[3]);
}

/* Used in each style, so that fonts and letter widths are loaded before workers are forked. */
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz 0123456789 .,:;-/()@+"

bool sr_pdfd_compose_warm_up(apr_pool_t *pool)
{
    static const char text[] =
        "{\"title\":\"" LETTERS "\",\"subtitle\":\"" LETTERS "\",\"banner\":\"" LETTERS "\",\"seal\":\"" LETTERS
        "\",\"footer\":\"" LETTERS "\",\"time\":\"1970-01-01T00:00:00Z\",\"sections\":[{\"heading\":\"" LETTERS
        "\",\"items\":[{\"heading\":\"" LETTERS "\",\"rows\":[[\"" LETTERS "\",\"" LETTERS "\"],[\"" LETTERS
        "\",\"" LETTERS "\",\"code\"]]}]}]}";
    sr_pdfd_request_t request = {.room = 1 << 20};
    json_t *parsed;
    if (!sr_pdfd_font(SR_PDFD_PLAIN, 0)) return true;
    sr_pdfd_typeset_warm_up();
    request.result = apr_palloc(pool, request.room);
    if (sr_json_parse(&parsed, text, sizeof text - 1, pool)) return false;
    request.text = parsed;
    return json_object_get(sr_json_own(sr_pdfd_compose(&request, pool), pool), "length");
}
