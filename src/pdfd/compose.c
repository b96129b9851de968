/* compose.c: a new document of headings and rows of a label and a value: A4, one page if that is enough, with a panel
 * for the seal at its end. What its texts are about is known to the client alone. Everything is set twice: once to
 * count the pages, which each page's foot names, and once to draw them. The same request gets the same bytes. */
#include "pdfd/typeset.h"
#include "pdfd/marks.h"

#include <cairo-pdf.h>
#include <math.h>
#include <string.h>

#define WIDTH 595.28
#define HEIGHT 841.89
#define LEFT 56.0
#define RIGHT (WIDTH - LEFT)
#define TOP 48.0
#define BOTTOM (HEIGHT - 34)
#define LABELS 96.0       /* the column of labels */
#define WIDE_LABELS 138.0 /* of labels in two languages */
#define GAP 12.0          /* between columns */
#define SECTION_ABOVE 15.0
#define HEADING_BELOW 9.0
#define ITEM_ABOVE 6.0
#define INSET 12.0 /* of what stands in a panel */
#define FIELD_WIDTH 180.0
#define FIELD_HEIGHT 42.0
#define SEAL_HEIGHT 96.0 /* of the panel with the field */
#define SEAL_ABOVE 14.0
#define QR_SIZE 74.0
#define TIMES 122.0 /* the first two columns of events */
#define EVENTS 150.0
#define MARK_WIDTH 150.0
#define MARK_HEIGHT 44.0

#define INK 0x1b1f27
#define GRAY 0x667080
#define NAVY 0x172b63
#define RED 0xa3171f
#define PINK 0xfde9e9
#define HAIRLINE 0xd5d9e0
#define GROUND 0xf3f5f9

static const sr_pdfd_look_t BANNER = {SR_PDFD_BOLD, 9.5, 14, RED};
static const sr_pdfd_look_t TITLE = {SR_PDFD_BOLD, 21, 26, NAVY};
static const sr_pdfd_look_t SECOND = {SR_PDFD_PLAIN, 11, 15, GRAY};
static const sr_pdfd_look_t SUBTITLE = {SR_PDFD_BOLD, 11.5, 17, INK};
static const sr_pdfd_look_t HEADING = {SR_PDFD_BOLD, 11.5, 16, NAVY};
static const sr_pdfd_look_t ITEM = {SR_PDFD_BOLD, 9.5, 15, INK};
static const sr_pdfd_look_t LABEL = {SR_PDFD_PLAIN, 8.5, 12.8, GRAY};
static const sr_pdfd_look_t VALUE = {SR_PDFD_PLAIN, 9, 12.8, INK};
static const sr_pdfd_look_t CODE = {SR_PDFD_CODE, 7.6, 12.8, INK};
static const sr_pdfd_look_t WHAT = {SR_PDFD_BOLD, 8.8, 12.8, INK};
static const sr_pdfd_look_t NOTE = {SR_PDFD_PLAIN, 8.5, 12.2, GRAY};
static const sr_pdfd_look_t SMALL = {SR_PDFD_PLAIN, 7.5, 10, GRAY};

typedef struct flow_t {
    const json_t *request;
    const char *language;
    cairo_t *context;                  /* NULL: pages are counted, and nothing is drawn */
    int page, pages;                   /* of this pass; in all, known from the first pass on */
    bool rtl;                          /* what is on the left elsewhere is on the right here */
    double labels;                     /* how wide their column is */
    double y;                          /* where the next line begins */
    double top;                        /* where the first one of this page did */
    double bottom;                     /* where the foot begins */
    int64_t *pixels;                   /* how many the images of signatures may still have */
    apr_pool_t *page_pool, *item_pool; /* cleared with each */
} flow_t;

/* ---------------------------------------------------------------------------------------------------- marks */

/* Where something is that would be at `x` if the columns began on the left. */
static double side(const flow_t *flow, double x, double width)
{
    return flow->rtl ? WIDTH - x - width : x;
}

static void fill(const flow_t *flow, double x, double y, double width, double height, uint32_t colour)
{
    sr_pdfd_box(flow->context, side(flow, x, width), y, width, height, colour);
}

static void rule(const flow_t *flow, double y, uint32_t colour)
{
    fill(flow, LEFT, y, RIGHT - LEFT, 0.6, colour);
}

static sr_pdfd_paragraph_t *set(const flow_t *flow, const char *text, const sr_pdfd_look_t *look, double width,
                                apr_pool_t *pool)
{
    return sr_pdfd_paragraph(text, look, width, flow->language, pool);
}

/* Paragraphs that stand side by side, line by line on one base: a heading alone, or labels and values. */
#define COLUMNS 4
typedef struct row_t {
    const sr_pdfd_paragraph_t *columns[COLUMNS]; /* NULL: nothing there */
    double x[COLUMNS];
    const json_t *mark; /* a signature, drawn in the second column; or NULL */
} row_t;

/* False behind the last line. */
static bool measure_line(double *above, double *height, const row_t *row, int line)
{
    double below = 0, leading = 0, a, b;
    *above = 0;
    for (int i = 0; i < COLUMNS; i++) {
        sr_pdfd_paragraph_extents(&a, &b, row->columns[i], line);
        *above = fmax(*above, a);
        below = fmax(below, b);
        leading = fmax(leading, sr_pdfd_paragraph_leading(row->columns[i], line));
    }
    *height = fmax(*above + below, leading);
    if (row->mark && !line) *height = MARK_HEIGHT;
    *above += row->mark ? 0 : (*height - *above - below) / 2; /* what the leading adds is shared out */
    return *height > 0;
}

static double measure_row(const row_t *row, int lines)
{
    double above, height, sum = 0;
    for (int i = 0; i < lines && measure_line(&above, &height, row, i); i++) sum += height;
    return sum;
}

static void put_line(const flow_t *flow, const row_t *row, int line, double y)
{
    for (int i = 0; flow->context && i < COLUMNS; i++) {
        const sr_pdfd_paragraph_t *column = row->columns[i];
        const double x = column ? side(flow, row->x[i], sr_pdfd_paragraph_room(column)) : 0;
        if (column) sr_pdfd_paragraph_draw(flow->context, column, line, x, y, flow->rtl);
    }
    const sr_pdfd_place_t place = {side(flow, row->x[1], MARK_WIDTH), y + 2, MARK_WIDTH, MARK_HEIGHT - 8, flow->rtl};
    if (row->mark && !line) sr_pdfd_put_mark(flow->context, row->mark, &place, flow->pixels, flow->item_pool);
}

/* Puts the first lines at `y`, whether there is room or not. Returns where the next one would be. */
static double put_lines(const flow_t *flow, const row_t *row, double y, int lines)
{
    double above, height;
    for (int i = 0; i < lines && measure_line(&above, &height, row, i); i++) {
        put_line(flow, row, i, y + above);
        y += height;
    }
    return y;
}

/* A row of one paragraph, in its whole width. */
static row_t alone(const flow_t *flow, const char *text, const sr_pdfd_look_t *look, double x, double width,
                   apr_pool_t *pool)
{
    return (row_t){.columns = {set(flow, text, look, width, pool)}, .x = {x}};
}

/* ---------------------------------------------------------------------------------------------------- pages */

#define ALL INT16_MAX
#define SIDE_LINES 3 /* at most, of banner and foot */
#define FOOT_ABOVE 12.0
#define NUMBER_WIDTH 60.0

static row_t set_foot(flow_t *flow)
{
    const char *text = sr_json_string(flow->request, "footer");
    return alone(flow, text, &SMALL, LEFT, RIGHT - LEFT - NUMBER_WIDTH, flow->page_pool);
}

static void put_foot(flow_t *flow)
{
    row_t foot = set_foot(flow);
    if (flow->pages > 1) {
        const char *number = apr_psprintf(flow->page_pool, "%d / %d", flow->page, flow->pages);
        foot.columns[1] = set(flow, number, &SMALL, NUMBER_WIDTH, flow->page_pool);
        foot.x[1] = RIGHT - sr_pdfd_paragraph_width(foot.columns[1], 0);
    }
    put_lines(flow, &foot, flow->bottom + FOOT_ABOVE, SIDE_LINES);
}

static void put_banner(flow_t *flow)
{
    const char *text = sr_json_string(flow->request, "banner");
    const row_t banner = alone(flow, text, &BANNER, LEFT + 14, RIGHT - LEFT - 24, flow->page_pool);
    if (!banner.columns[0]) return;
    double height = measure_row(&banner, SIDE_LINES) + 9;
    fill(flow, LEFT, flow->y, RIGHT - LEFT, height, PINK);
    fill(flow, LEFT, flow->y, 3, height, RED);
    put_lines(flow, &banner, flow->y + 4.5, SIDE_LINES);
    flow->y += height + 12;
}

static void begin_page(flow_t *flow)
{
    apr_pool_clear(flow->page_pool);
    flow->page++;
    flow->y = TOP;
    const row_t foot = set_foot(flow);
    flow->bottom = BOTTOM - FOOT_ABOVE - fmax(SMALL.leading, measure_row(&foot, SIDE_LINES));
    put_banner(flow);
    if (flow->page > 1) {
        const char *text = sr_json_string(flow->request, "title");
        const row_t title = alone(flow, text, &SMALL, LEFT, RIGHT - LEFT, flow->page_pool);
        flow->y = put_lines(flow, &title, flow->y, 1) + 4;
        rule(flow, flow->y, HAIRLINE);
        flow->y += 12;
    }
    flow->top = flow->y;
}

static void end_page(flow_t *flow)
{
    put_foot(flow);
    if (flow->context) cairo_show_page(flow->context);
}

/* Goes on to the next page where so much does not fit here, unless it fits nowhere. */
static void make_room(flow_t *flow, double height)
{
    if (flow->y + height <= flow->bottom || height > flow->bottom - flow->top || flow->y <= flow->top) return;
    end_page(flow);
    begin_page(flow);
}

/* ----------------------------------------------------------------------------------------------------- rows */

static void put_row(flow_t *flow, const row_t *row)
{
    double above, height;
    make_room(flow, measure_row(row, ALL));
    for (int i = 0; measure_line(&above, &height, row, i); i++) {
        make_room(flow, height);
        put_line(flow, row, i, flow->y + above);
        flow->y += height;
    }
}

/* A label and its value, from `x` on. */
static void set_pair(row_t *row, int at, const flow_t *flow, const json_t *texts, size_t from, double x, double width)
{
    const char *label = json_string_value(json_array_get(texts, from));
    const char *value = json_string_value(json_array_get(texts, from + 1));
    const char *kind = from ? NULL : json_string_value(json_array_get(texts, 2));
    bool is_code = kind && json_array_size(texts) == 3 && !strcmp(kind, "code");
    row->columns[at] = set(flow, label, &LABEL, flow->labels, flow->item_pool);
    row->columns[at + 1] = set(flow, value, is_code ? &CODE : &VALUE, width - flow->labels - GAP, flow->item_pool);
    row->x[at] = x;
    row->x[at + 1] = x + flow->labels + GAP;
}

static bool is_short(const row_t *row)
{
    for (int i = 0; i < COLUMNS; i++)
        if (sr_pdfd_paragraph_lines(row->columns[i]) > 1) return false;
    return true;
}

/* When, what, and who: three columns. */
static row_t set_event(const flow_t *flow, const json_t *event)
{
    static const sr_pdfd_look_t *const looks[] = {&VALUE, &WHAT, &VALUE};
    static const double x[] = {LEFT, LEFT + TIMES + GAP, LEFT + TIMES + EVENTS + 2 * GAP, RIGHT + GAP};
    row_t row = {0};
    for (size_t i = 0; i < 3; i++) {
        const char *text = json_string_value(json_array_get(event, i));
        row.columns[i] = set(flow, text, looks[i], x[i + 1] - x[i] - GAP, flow->item_pool);
        row.x[i] = x[i];
    }
    return row;
}

/* Sets one row of the request, as one or two: two pairs stand below each other where they are long. */
static int set_rows(row_t *rows, const flow_t *flow, const json_t *texts)
{
    double half = (RIGHT - LEFT) / 2;
    bool two = json_array_size(texts) >= 4;
    const char *note = sr_json_string(texts, "note");
    if (json_object_get(texts, "mark")) {
        const char *label = sr_json_string(texts, "label");
        rows[0] = (row_t){.columns = {set(flow, label, &LABEL, flow->labels, flow->item_pool)},
                          .x = {LEFT, LEFT + flow->labels + GAP},
                          .mark = json_object_get(texts, "mark")};
        return 1;
    }
    if (json_is_object(texts)) {
        rows[0] = note ? alone(flow, note, &NOTE, LEFT, RIGHT - LEFT, flow->item_pool)
                       : set_event(flow, json_object_get(texts, "event"));
        return 1;
    }
    rows[0] = rows[1] = (row_t){0};
    if (two) {
        set_pair(rows, 0, flow, texts, 0, LEFT, half);
        set_pair(rows, 2, flow, texts, 2, LEFT + half, half);
        if (is_short(rows)) return 1;
        rows[0] = (row_t){0};
        set_pair(rows + 1, 0, flow, texts, 2, LEFT, RIGHT - LEFT);
    }
    set_pair(rows, 0, flow, texts, 0, LEFT, RIGHT - LEFT);
    return two ? 2 : 1;
}

/* Its rows, its heading the first; *height: of them all. */
static row_t *set_item(int *count, double *height, const flow_t *flow, const json_t *item)
{
    const json_t *list = json_object_get(item, "rows");
    apr_size_t most = 2 * json_array_size(list) + 1;
    row_t *rows = apr_palloc(flow->item_pool, most * sizeof *rows);
    rows[0] = alone(flow, sr_json_string(item, "heading"), &ITEM, LEFT, RIGHT - LEFT, flow->item_pool);
    *count = 1;
    for (size_t i = 0; i < json_array_size(list); i++) *count += set_rows(rows + *count, flow, json_array_get(list, i));
    *height = 0;
    for (int i = 0; i < *count; i++) *height += measure_row(&rows[i], ALL);
    return rows;
}

static void put_panel(const flow_t *flow, double height)
{
    fill(flow, LEFT - INSET, flow->y, RIGHT - LEFT + 2 * INSET, height, GROUND);
    fill(flow, LEFT - INSET, flow->y, 2.5, height, NAVY);
}

/* An item stays on one page if that is possible, and `heading` (or NULL) with it. */
static void put_item(flow_t *flow, const json_t *item, const row_t *heading, bool is_panel)
{
    int count;
    double height, before = heading ? SECTION_ABOVE : ITEM_ABOVE, own = 0;
    const row_t *rows = set_item(&count, &height, flow, item);
    if (heading) own = measure_row(heading, ALL) + HEADING_BELOW;
    if (is_panel) before += INSET;
    if (before + own + height > flow->bottom - flow->top) { /* with its own heading and first row, then */
        height = measure_row(&rows[0], ALL) + (count > 1 ? measure_row(&rows[1], ALL) : 0);
        height = fmin(height, flow->bottom - flow->top - before - own);
        is_panel = false;
    }
    make_room(flow, before + own + height + (is_panel ? INSET : 0));
    if (flow->y > flow->top) flow->y += before;
    if (is_panel) {
        flow->y -= INSET;
        put_panel(flow, height + 2 * INSET);
        flow->y += INSET;
    }
    if (heading) {
        put_row(flow, heading);
        rule(flow, flow->y + 2, HAIRLINE);
        flow->y += HEADING_BELOW;
    }
    for (int i = 0; i < count; i++) put_row(flow, &rows[i]);
    if (is_panel) flow->y += INSET;
}

static void put_section(flow_t *flow, const json_t *section)
{
    const json_t *items = json_object_get(section, "items");
    for (size_t i = 0; i < json_array_size(items); i++) {
        apr_pool_clear(flow->item_pool);
        const char *text = sr_json_string(section, "heading");
        const row_t heading = alone(flow, text, &HEADING, LEFT, RIGHT - LEFT, flow->item_pool);
        put_item(flow, json_array_get(items, i), i || !heading.columns[0] ? NULL : &heading,
                 json_is_true(json_object_get(section, "panel")));
    }
}

/* --------------------------------------------------------------------------------------------- the document */

static void put_title(flow_t *flow)
{
    static const struct {
        const char *key;
        const sr_pdfd_look_t *look;
        double above;
    } lines[] = {{"title", &TITLE, 0}, {"second", &SECOND, 0}, {"subtitle", &SUBTITLE, 8}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *text = sr_json_string(flow->request, lines[i].key);
        const row_t row = alone(flow, text, lines[i].look, LEFT, RIGHT - LEFT, flow->item_pool);
        if (row.columns[0]) flow->y += lines[i].above;
        put_row(flow, &row);
    }
}

/* At the bottom of the last page: a line, above which the seal is seen; of which certificate; where to check it. */
static void put_seal(flow_t *flow, double *rect)
{
    make_room(flow, SEAL_ABOVE + SEAL_HEIGHT);
    const char *address = sr_json_string(flow->request, "qr");
    const json_t *rows = json_object_get(flow->request, "sealRows");
    const double top = flow->bottom - SEAL_HEIGHT, line = top + INSET + FIELD_HEIGHT, x = LEFT + FIELD_WIDTH + 2 * GAP;
    const double width = RIGHT - x - (address ? QR_SIZE + GAP : 0);
    flow->y = top;
    put_panel(flow, SEAL_HEIGHT);
    rect[0] = side(flow, LEFT, FIELD_WIDTH);
    rect[1] = HEIGHT - line + 1;
    rect[2] = rect[0] + FIELD_WIDTH;
    rect[3] = HEIGHT - line + FIELD_HEIGHT;
    fill(flow, LEFT, line, FIELD_WIDTH, 0.6, GRAY);
    const row_t caption =
        alone(flow, sr_json_string(flow->request, "seal"), &SMALL, LEFT, FIELD_WIDTH, flow->page_pool);
    put_lines(flow, &caption, line + 3, SIDE_LINES);
    double y = top + INSET - 2;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *texts = json_array_get(rows, i);
        const char *label = json_string_value(json_array_get(texts, 0));
        const char *value = json_string_value(json_array_get(texts, 1));
        const row_t first = alone(flow, label, &SMALL, x, width, flow->page_pool);
        const row_t second = alone(flow, value, &CODE, x, width, flow->page_pool);
        y = put_lines(flow, &second, put_lines(flow, &first, y, SIDE_LINES), SIDE_LINES);
    }
    const double qr = side(flow, RIGHT - QR_SIZE, QR_SIZE);
    sr_pdfd_qr(flow->context, address, qr, top + (SEAL_HEIGHT - QR_SIZE) / 2, QR_SIZE);
}

static void put_all(flow_t *flow, double *rect)
{
    const json_t *sections = json_object_get(flow->request, "sections");
    flow->page = 0;
    begin_page(flow);
    put_title(flow);
    for (size_t i = 0; i < json_array_size(sections); i++) put_section(flow, json_array_get(sections, i));
    put_seal(flow, rect);
    end_page(flow);
    flow->pages = flow->page;
}

typedef struct sink_t {
    const sr_pdfd_request_t *request;
    apr_size_t size;
} sink_t;

static cairo_status_t take_bytes(void *data, const unsigned char *bytes, unsigned length)
{
    sink_t *sink = data;
    if (length > sink->request->room - sink->size) return CAIRO_STATUS_WRITE_ERROR;
    memcpy(sink->request->result + sink->size, bytes, length);
    sink->size += length;
    return CAIRO_STATUS_SUCCESS;
}

static bool draw(sink_t *sink, flow_t *flow, apr_time_t when, double *rect)
{
    cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(take_bytes, sink, WIDTH, HEIGHT);
    sr_pdfd_describe(surface, sr_json_string(flow->request, "title"), when);
    flow->context = cairo_create(surface);
    put_all(flow, rect);
    cairo_status_t status = cairo_status(flow->context);
    cairo_destroy(flow->context);
    cairo_surface_finish(surface);
    if (!status) status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status == CAIRO_STATUS_SUCCESS;
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
    int64_t pixels = SR_PDFD_MARK_PIXELS;
    flow_t flow = {.request = request->text,
                   .pixels = &pixels,
                   .language = sr_json_string(request->text, "language"),
                   .rtl = direction && !strcmp(direction, "rtl"),
                   .labels = second && *second ? WIDE_LABELS : LABELS};
    sink_t sink = {.request = request};
    const char *time = sr_json_string(request->text, "time");
    apr_time_t when;
    double rect[4];
    if (!sr_pdfd_font(SR_PDFD_PLAIN, 0)) return answer_with("unavailable", "there are no fonts to write with");
    if (!time || !sr_time_parse(&when, time)) return answer_with("refused", "it has no time");
    if (!sr_pdfd_texts_are_short(request->text)) return answer_with("refused", "a text in it is longer than 32 KiB");
    apr_pool_create(&flow.page_pool, pool);
    apr_pool_create(&flow.item_pool, pool);
    put_all(&flow, rect);
    if (!draw(&sink, &flow, when, rect)) return answer_with("refused", SR_PDF_LIMITS_REASON);
    return json_pack("{s:I,s:i,s:{s:i,s:[f,f,f,f]}}", "length", (json_int_t)sink.size, "pages", flow.pages, "field",
                     "page", flow.pages - 1, "rect", rect[0], rect[1], rect[2], rect[3]);
}

/* In each look, so that the tables of fonts and the widths of letters are there before workers are forked. */
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
