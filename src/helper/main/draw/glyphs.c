/* SPDX-License-Identifier: Apache-2.0 */
/* glyphs.c: a typed signature or a caption as filled outlines, so that readers do not need the font. The text is
 * divided into runs of one direction (fribidi), one script and one font. HarfBuzz shapes each run, which Arabic and
 * Devanagari need. Unlike typeset.c it does not need pango, because there is only one line. */
#include "helper/main/draw/glyphs.h"

#include <fribidi.h>
#include <math.h>

#define ASCENT 720.0  /* units; every line reaches at least so far above its base line */
#define DESCENT 200.0 /* and below it; otherwise "a" would be as large as "Ay" */
#define MARGIN 20.0

#define DIGITS 2
#define MAX_LINE 1000 /* characters; a typed signature has at most SR_PDF_MAX_TYPED */

typedef struct run_t {
    int from, to; /* indexes of characters */
    const sr_pdfd_font_t *font;
    hb_script_t script;
    FriBidiLevel level;
} run_t;

typedef struct text_t {
    FriBidiChar characters[MAX_LINE];
    FriBidiLevel levels[MAX_LINE];
    hb_script_t scripts[MAX_LINE];
    const sr_pdfd_font_t *fonts[MAX_LINE];
    run_t runs[MAX_LINE];
    int length, run_count;
    sr_pdfd_style_t style;
} text_t;

/* ------------------------------------------------------------------------------------------------- into runs */

/* Returns true for characters without a glyph: joiners, variation selectors and marks of direction. */
static bool is_invisible(hb_codepoint_t c)
{
    return hb_unicode_general_category(hb_unicode_funcs_get_default(), c) == HB_UNICODE_GENERAL_CATEGORY_FORMAT
           || (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0100 && c <= 0xe01ef);
}

static bool glyphs_has(const sr_pdfd_font_t *font, hb_codepoint_t c)
{
    hb_codepoint_t glyph;
    return is_invisible(c) || hb_font_get_nominal_glyph(font->font, c, &glyph);
}

static const char *read_characters(text_t *text, const char *utf8)
{
    if (sr_text_is_blank(utf8)) return "The typed signature is empty";
    for (uint32_t c; (c = sr_text_next(&utf8)) != 0;) {
        if (text->length == (text->style == SR_PDFD_TYPED ? SR_PDF_MAX_TYPED : MAX_LINE))
            return "The typed signature has more than 200 characters";
        bool control = c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
        text->characters[text->length++] = control ? ' ' : c;
    }
    return NULL;
}

static void find_levels(text_t *text)
{
    FriBidiCharType types[MAX_LINE];
    FriBidiBracketType brackets[MAX_LINE];
    FriBidiParType direction = FRIBIDI_PAR_ON;
    fribidi_get_bidi_types(text->characters, text->length, types);
    fribidi_get_bracket_types(text->characters, text->length, types, brackets);
    if (!fribidi_get_par_embedding_levels_ex(types, brackets, text->length, &direction, text->levels))
        for (int i = 0; i < text->length; i++) text->levels[i] = 0;
}

static bool is_neutral(hb_script_t script)
{
    return script == HB_SCRIPT_COMMON || script == HB_SCRIPT_INHERITED || script == HB_SCRIPT_UNKNOWN;
}

/* Spaces, digits and marks belong to the script before them, or to the one after them at the beginning of the text. */
static void find_scripts(text_t *text)
{
    hb_script_t last = HB_SCRIPT_COMMON;
    for (int i = 0; i < text->length; i++) {
        hb_script_t own = hb_unicode_script(hb_unicode_funcs_get_default(), text->characters[i]);
        last = text->scripts[i] = is_neutral(own) ? last : own;
    }
    for (int i = text->length - 2; i >= 0; i--)
        if (is_neutral(text->scripts[i])) text->scripts[i] = text->scripts[i + 1];
}

/* Returns the first font that has all characters of a range, or NULL. */
static const sr_pdfd_font_t *glyphs_find_font(const text_t *text, int from, int to)
{
    const sr_pdfd_font_t *font;
    for (int i = 0; (font = sr_pdfd_font(text->style, i)); i++) {
        int at = from;
        while (at < to && glyphs_has(font, text->characters[at])) at++;
        if (at == to) return font;
    }
    return NULL;
}

/* Uses one font for all characters of a script if possible, otherwise one for each character. A character that no font
 * has gets NULL. */
static void find_fonts(text_t *text)
{
    for (int from = 0, to; from < text->length; from = to) {
        for (to = from + 1; to < text->length && text->scripts[to] == text->scripts[from];) to++;
        const sr_pdfd_font_t *whole = glyphs_find_font(text, from, to);
        for (int i = from; i < to; i++) {
            const sr_pdfd_font_t *before = i > from ? text->fonts[i - 1] : NULL;
            text->fonts[i] = whole ? whole : glyphs_find_font(text, i, i + 1);
            if (before && !is_invisible(text->characters[i]) && !glyphs_has(before, text->characters[i])) before = NULL;
            if (before && hb_unicode_combining_class(hb_unicode_funcs_get_default(), text->characters[i]))
                text->fonts[i] = before;
        }
    }
}

/* Lists the characters without a font, each once. */
static const char *find_unknown(sr_pdfd_drawing_t *drawing, const text_t *text, apr_pool_t *pool)
{
    const char *reason = NULL;
    for (int i = 0; i < text->length; i++) {
        bool again = text->fonts[i];
        for (int j = 0; j < i && !again; j++) again = text->characters[j] == text->characters[i];
        if (again) continue;
        if (!reason) {
            drawing->unknown = sr_json_own(json_array(), pool);
            reason = apr_psprintf(pool, "No font on this server has the character U+%04X of the typed signature",
                                  text->characters[i]);
        }
        json_array_append_new(drawing->unknown, json_integer((json_int_t)text->characters[i]));
    }
    return reason;
}

static void find_runs(text_t *text)
{
    for (int from = 0, to; from < text->length; from = to) {
        for (to = from + 1; to < text->length; to++)
            if (text->levels[to] != text->levels[from] || text->fonts[to] != text->fonts[from]
                || text->scripts[to] != text->scripts[from])
                break;
        text->runs[text->run_count++] = (run_t){from, to, text->fonts[from], text->scripts[from], text->levels[from]};
    }
}

/* Changes the order of the runs from logical to visual (UAX #9, L2). */
static void reorder(text_t *text)
{
    FriBidiLevel highest = 0;
    for (int i = 0; i < text->run_count; i++)
        if (text->runs[i].level > highest) highest = text->runs[i].level;
    for (FriBidiLevel level = highest; level > 0; level--) {
        for (int from = 0, to; from < text->run_count; from = to) {
            to = from + 1;
            if (text->runs[from].level < level) continue;
            while (to < text->run_count && text->runs[to].level >= level) to++;
            for (int a = from, b = to - 1; a < b; a++, b--) {
                run_t run = text->runs[a];
                text->runs[a] = text->runs[b];
                text->runs[b] = run;
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------------- into outlines */

typedef struct pen_t {
    sr_pdfd_drawing_t *out;
    double scale, x, y;     /* of the current glyph */
    double low[2], high[2]; /* bounding box of everything that was drawn */
} pen_t;

/* A step of an outline with no point, one point, or a curve with three points, in font units. */
typedef struct stroke_t {
    char step;
    int count;
    float points[6];
} stroke_t;

/* The outlines of glyphs that were drawn last. To read them from the font takes longer than to draw them. */
static struct outline_t {
    hb_font_t *font;
    hb_codepoint_t glyph;
    sr_pdfd_buffer_t strokes; /* stroke_t */
} outlines[256];
#define OUTLINES (sizeof outlines / sizeof *outlines)

static void put_stroke(pen_t *pen, const stroke_t *stroke)
{
    double at[6];
    for (int i = 0; i < stroke->count; i++) {
        at[i] = (i % 2 ? pen->y : pen->x) + (double)stroke->points[i] * pen->scale;
        if (at[i] < pen->low[i % 2]) pen->low[i % 2] = at[i];
        if (at[i] > pen->high[i % 2]) pen->high[i % 2] = at[i];
    }
    sr_pdfd_draw(pen->out, stroke->step, at, stroke->count);
}

static void glyphs_move_to(hb_draw_funcs_t *funcs, void *data, hb_draw_state_t *state, float x, float y, void *none)
{
    sr_pdfd_put(data, &(stroke_t){'m', 2, {x, y}}, sizeof(stroke_t));
}

static void glyphs_line_to(hb_draw_funcs_t *funcs, void *data, hb_draw_state_t *state, float x, float y, void *none)
{
    sr_pdfd_put(data, &(stroke_t){'l', 2, {x, y}}, sizeof(stroke_t));
}

/* HarfBuzz converts quadratic curves to cubic ones if no function for them is set. */
static void glyphs_curve_to(hb_draw_funcs_t *funcs, void *data, hb_draw_state_t *state, float x1, float y1, float x2,
                            float y2, float x3, float y3, void *none)
{
    sr_pdfd_put(data, &(stroke_t){'c', 6, {x1, y1, x2, y2, x3, y3}}, sizeof(stroke_t));
}

static void close_path(hb_draw_funcs_t *funcs, void *data, hb_draw_state_t *state, void *none)
{
    sr_pdfd_put(data, &(stroke_t){'h', 0, {0}}, sizeof(stroke_t));
}

static void read_outline(struct outline_t *outline, hb_draw_funcs_t *funcs)
{
    outline->strokes.size = 0;
#if HB_VERSION_ATLEAST(7, 0, 0)
    hb_font_draw_glyph(outline->font, outline->glyph, funcs, &outline->strokes);
#else
    hb_font_get_glyph_shape(outline->font, outline->glyph, funcs, &outline->strokes);
#endif
}

static void draw_glyph(hb_font_t *font, hb_codepoint_t glyph, hb_draw_funcs_t *funcs, pen_t *pen)
{
    struct outline_t *outline = &outlines[glyph % OUTLINES];
    if (outline->font != font || outline->glyph != glyph) {
        outline->font = font;
        outline->glyph = glyph;
        read_outline(outline, funcs);
    }
    const stroke_t *strokes = (const stroke_t *)(const void *)outline->strokes.data;
    for (size_t i = 0; i < outline->strokes.size / sizeof *strokes; i++) put_stroke(pen, &strokes[i]);
}

/* Draws a run at `x` and returns where it ends. */
static double glyphs_draw_run(pen_t *pen, const text_t *text, const run_t *run, double x, hb_draw_funcs_t *funcs)
{
    hb_buffer_t *buffer = hb_buffer_create();
    unsigned count;
    hb_buffer_add_utf32(buffer, text->characters, text->length, (unsigned)run->from, run->to - run->from);
    hb_buffer_set_direction(buffer, run->level % 2 ? HB_DIRECTION_RTL : HB_DIRECTION_LTR);
    hb_buffer_set_script(buffer, run->script);
    hb_buffer_set_language(buffer, hb_language_from_string("und", -1));
    hb_shape(run->font->font, buffer, NULL, 0);
    const hb_glyph_info_t *glyphs = hb_buffer_get_glyph_infos(buffer, &count);
    const hb_glyph_position_t *places = hb_buffer_get_glyph_positions(buffer, &count);
    pen->scale = run->font->scale;
    for (unsigned i = 0; i < count; i++) {
        pen->x = x + places[i].x_offset * pen->scale;
        pen->y = places[i].y_offset * pen->scale;
        draw_glyph(run->font->font, glyphs[i].codepoint, funcs, pen);
        x += places[i].x_advance * pen->scale;
    }
    hb_buffer_destroy(buffer);
    return x;
}

static double glyphs_draw(pen_t *pen, const text_t *text)
{
    hb_draw_funcs_t *funcs = hb_draw_funcs_create();
    double x = 0;
    hb_draw_funcs_set_move_to_func(funcs, glyphs_move_to, NULL, NULL);
    hb_draw_funcs_set_line_to_func(funcs, glyphs_line_to, NULL, NULL);
    hb_draw_funcs_set_cubic_to_func(funcs, glyphs_curve_to, NULL, NULL);
    hb_draw_funcs_set_close_path_func(funcs, close_path, NULL, NULL);
    for (int i = 0; i < text->run_count; i++) x = glyphs_draw_run(pen, text, &text->runs[i], x, funcs);
    hb_draw_funcs_destroy(funcs);
    return x;
}

static void analyse(text_t *text)
{
    find_levels(text);
    find_scripts(text);
    find_fonts(text);
}

/* Replaces characters without a font by "?". Returns false if there were none. */
static bool replace_unknown(text_t *text)
{
    bool replaced = false;
    for (int i = 0; i < text->length; i++) {
        if (text->fonts[i]) continue;
        text->characters[i] = '?';
        replaced = true;
    }
    return replaced;
}

static const char *draw_analysed(sr_pdfd_drawing_t *drawing, text_t *text)
{
    pen_t pen = {.out = drawing, .low = {0, -DESCENT}, .high = {0, ASCENT}};
    find_runs(text);
    reorder(text);
    pen.high[0] = fmax(pen.high[0], glyphs_draw(&pen, text));
    if (!drawing->steps->size) return "The typed signature leaves no ink";
    sr_pdfd_draw(drawing, 'f', NULL, 0);
    drawing->width = pen.high[0] - pen.low[0] + 2 * MARGIN;
    drawing->height = pen.high[1] - pen.low[1] + 2 * MARGIN;
    drawing->left = pen.low[0] - MARGIN;
    drawing->bottom = pen.low[1] - MARGIN;
    return NULL;
}

static const char *glyphs_begin(text_t **text, sr_pdfd_drawing_t *drawing, sr_pdfd_style_t style, const json_t *value,
                                apr_pool_t *pool)
{
    *text = apr_pcalloc(pool, sizeof **text);
    (*text)->style = style;
    *drawing = (sr_pdfd_drawing_t){.digits = DIGITS, .steps = sr_pdfd_buffer(pool)};
    const char *wrong = json_is_string(value) ? read_characters(*text, json_string_value(value)) : "That is no text";
    if (!wrong) analyse(*text);
    return wrong;
}

const char *sr_pdfd_draw_text(sr_pdfd_drawing_t *drawing, const json_t *value, apr_pool_t *pool)
{
    text_t *text;
    const char *wrong = glyphs_begin(&text, drawing, SR_PDFD_TYPED, value, pool);
    if (!wrong) wrong = find_unknown(drawing, text, pool);
    return wrong ? wrong : draw_analysed(drawing, text);
}

const char *sr_pdfd_draw_plain(sr_pdfd_drawing_t *drawing, const json_t *value, apr_pool_t *pool)
{
    text_t *text;
    const char *wrong = glyphs_begin(&text, drawing, SR_PDFD_PLAIN, value, pool);
    if (!wrong) wrong = find_unknown(drawing, text, pool);
    return wrong ? wrong : draw_analysed(drawing, text);
}

static const char *draw_line(sr_pdfd_drawing_t *drawing, sr_pdfd_style_t style, const json_t *value, apr_pool_t *pool)
{
    text_t *text;
    const char *wrong = glyphs_begin(&text, drawing, style, value, pool);
    if (wrong) return wrong;
    if (replace_unknown(text)) analyse(text);
    wrong = find_unknown(drawing, text, pool); /* no font has a question mark */
    return wrong ? wrong : draw_analysed(drawing, text);
}

const char *sr_pdfd_draw_line(sr_pdfd_drawing_t *drawing, const json_t *value, apr_pool_t *pool)
{
    return draw_line(drawing, SR_PDFD_PLAIN, value, pool);
}

/* ------------------------------------------------------------------------------------------------------- seals */

#define SEAL_HEIGHT 3400.0 /* of a drawing with one line of text, and its least width */
#define SEAL_WIDTH 14600.0
#define SEAL_MIDDLE 360.0 /* the middle of capital letters */
#define SEAL_RADIUS 1560.0
#define SEAL_GAP 700.0
#define SEAL_TEETH 24
static const char SEAL_COLOUR[] = "0.09 0.17 0.39 RG 0.09 0.17 0.39 rg 1 J 1 j\n";

static void glyphs_draw_stroke(sr_pdfd_drawing_t *drawing, const double (*points)[2], int count, bool closed,
                               double width)
{
    sr_pdfd_draw(drawing, 'w', &width, 1);
    for (int i = 0; i < count; i++) sr_pdfd_draw(drawing, i ? 'l' : 'm', points[i], 2);
    if (closed) sr_pdfd_draw(drawing, 'h', NULL, 0);
    sr_pdfd_draw(drawing, 'S', NULL, 0);
}

/* Draws a disc with a toothed edge and a tick in it. */
static void draw_disc(sr_pdfd_drawing_t *drawing, double x)
{
    const double tick[][2] = {{x - 620, SEAL_MIDDLE - 30}, {x - 170, SEAL_MIDDLE - 500}, {x + 660, SEAL_MIDDLE + 480}};
    double edge[2 * SEAL_TEETH][2];
    for (int i = 0; i < 2 * SEAL_TEETH; i++) {
        const double radius = i % 2 ? SEAL_RADIUS : SEAL_RADIUS - 170, angle = M_PI * i / SEAL_TEETH;
        edge[i][0] = x + radius * cos(angle);
        edge[i][1] = SEAL_MIDDLE + radius * sin(angle);
    }
    glyphs_draw_stroke(drawing, edge, 2 * SEAL_TEETH, true, 110);
    glyphs_draw_stroke(drawing, tick, 3, false, 260);
}

const char *sr_pdfd_draw_seal(sr_pdfd_drawing_t *drawing, const json_t *value, apr_pool_t *pool)
{
    const bool right = json_is_true(json_object_get(value, "right"));
    const char *wrong = draw_line(drawing, SR_PDFD_BOLD, json_object_get(value, "name"), pool);
    if (wrong) return wrong;
    const double text = drawing->width, before = 2 * SEAL_RADIUS + SEAL_GAP;
    draw_disc(drawing, right ? drawing->left + text + SEAL_GAP + SEAL_RADIUS : drawing->left - SEAL_GAP - SEAL_RADIUS);
    drawing->width = fmax(before + text, SEAL_WIDTH);
    drawing->left -= right ? drawing->width - before - text : before;
    drawing->height = SEAL_HEIGHT;
    drawing->bottom = SEAL_MIDDLE - SEAL_HEIGHT / 2;
    drawing->colour = SEAL_COLOUR;
    return NULL;
}
