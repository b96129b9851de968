/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_values.c: the values of fields as they are drawn: texts as large as they fit, in one line or several, in each
 * direction and script, ticks, and what cannot be shown. Readers find the text of each value. */
#include <libdeflate.h>

#include "helper/protocol.h"
#include "pdf_pixels.h"

#define DPI 72
#define LONG "This is a long text that needs several lines in a field of this width, and it says so once more. "

static seal_bench_t bench;

typedef sr_error_t *draw_function_t(const apr_array_header_t **drawn, sr_pdf_pool_t *workers,
                                    const apr_array_header_t *values, apr_pool_t *pool);

static sr_pdf_drawn_value_t draw_by(draw_function_t *function, const sr_pdf_value_t *value, apr_pool_t *pool)
{
    apr_array_header_t *values = apr_array_make(pool, 1, sizeof *value);
    const apr_array_header_t *drawn;
    APR_ARRAY_PUSH(values, sr_pdf_value_t) = *value;
    sr_error_t *error = function(&drawn, bench.workers, values, pool);
    if (error) {
        printf("Bail out! %s: %s\n", error->message, error->cause);
        exit(1);
    }
    return APR_ARRAY_IDX(drawn, 0, sr_pdf_drawn_value_t);
}

static sr_pdf_drawn_value_t draw(const sr_pdf_value_t *value, apr_pool_t *pool)
{
    return draw_by(sr_pdf_values, value, pool);
}

/* Returns a content as it is before it is packed. */
static const char *plain(const char *content, apr_pool_t *pool)
{
    sr_pdf_content_t packed;
    if (!sr_pdf_content_read(&packed, content, pool)) abort();
    if (!packed.packed) return apr_pstrmemdup(pool, packed.data, packed.size);
    apr_size_t size = 64 * packed.size + 4096;
    char *text = apr_palloc(pool, size + 1);
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (libdeflate_zlib_decompress(decompressor, packed.data, packed.size, text, size, &size)) abort();
    libdeflate_free_decompressor(decompressor);
    text[size] = '\0';
    return text;
}

/* Writes page.pdf, whose page has the size of the field and this content. */
static pixels_t show(const sr_pdf_value_t *value, const char *content, apr_pool_t *pool)
{
    const char *page = apr_psprintf(pool, "/MediaBox[0 0 %g %g]/Resources" SR_PDF_CAPTION_RESOURCES "/Contents 4 0 R",
                                    value->width, value->height);
    content = plain(content, pool);
    const char *stream = apr_psprintf(pool, "<</Length %d>>stream\n%s\nendstream", (int)strlen(content), content);
    pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 1, .page = page, .objects = {stream}});
    const pixels_t pixels = pixels_render(&bench, pdf.data, pdf.size, DPI, pool);
    free(pdf.data);
    return pixels;
}

typedef struct ink_t {
    int left, right, top, bottom, dark;
} ink_t;

static ink_t ink_of(const pixels_t *page)
{
    ink_t ink = {.left = INT_MAX, .top = INT_MAX};
    for (int y = 0; y < page->height; y++)
        for (int x = 0; x < page->width; x++) {
            if (page->gray[y * page->width + x] > 160) continue;
            ink.dark++;
            if (x < ink.left) ink.left = x;
            if (x > ink.right) ink.right = x;
            if (y < ink.top) ink.top = y;
            ink.bottom = y;
        }
    return ink;
}

static const char *text_of(apr_pool_t *pool)
{
    int status;
    return seal_squeeze(seal_run(&status, &bench, pool, "pdftotext -raw page.pdf - | tr -d '\\f'"), pool);
}

static void test_shown(apr_pool_t *pool)
{
    static const struct {
        sr_pdf_value_t value;
        double size; /* of the font; negative: less than this */
        const char *name;
    } rows[] = {
        {{"950,00", .width = 100, .height = 20}, 12, "a short text has 12 points"},
        {{"950,00", .width = 100, .height = 10}, 8.3333, "a text fits into the height"},
        {{"950,00", .width = 100, .height = 40, .size = 30}, 30, "a size can be asked for"},
        {{"Chief Operating Engineer", .width = 100, .height = 20}, -12, "a long text becomes smaller"},
        {{LONG, .width = 200, .height = 100, .multiline = true}, 12, "several lines have 12 points"},
        {{LONG LONG LONG, .width = 200, .height = 80, .multiline = true}, -12, "many lines become smaller"},
        {{"one\n\nthree", .width = 200, .height = 60, .multiline = true}, 12, "lines that the text breaks itself"},
        {{"Zo\xc3\xab \xc5\x81\xc3\xb3\xc5\xba", .width = 100, .height = 20}, 12, "other Latin letters"},
        {{"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d", .width = 100, .height = 20}, 12, "Hebrew"},
        {{"\xce\x91\xce\xb8\xce\xae\xce\xbd\xce\xb1", .width = 100, .height = 20}, 12, "Greek"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sr_pdf_value_t *value = &rows[i].value;
        const sr_pdf_drawn_value_t drawn = draw(value, pool);
        is_str(drawn.reason, NULL, "%s: it can be shown", rows[i].name);
        if (drawn.reason) continue;
        const bool fits =
            rows[i].size < 0 ? drawn.size < -rows[i].size && drawn.size >= 5 : fabs(drawn.size - rows[i].size) < 0.001;
        ok(fits, "%s: %g points", rows[i].name, drawn.size);
        const pixels_t page = show(value, drawn.content, pool);
        const ink_t ink = ink_of(&page);
        ok(ink.dark > 20 && ink.left >= 1 && ink.right <= page.width - 2, "%s: the ink is within the field",
           rows[i].name);
        /* poppler takes the order of letters from right to left for the one in which they are seen */
        if (strcmp(rows[i].name, "Hebrew") != 0)
            is_str(text_of(pool), seal_squeeze(value->text, pool), "%s: readers find the text", rows[i].name);
    }
}

/* Returns the cells of 20 points that have ink, as digits. */
static const char *cells_of(const pixels_t *page, apr_pool_t *pool)
{
    const char *cells = "";
    for (int cell = 0; cell < page->width / 20; cell++) {
        int inner = 0, edge = 0;
        for (int y = 0; y < page->height; y++)
            for (int x = 0; x < 20; x++) {
                const bool dark = page->gray[y * page->width + cell * 20 + x] < 160;
                inner += dark && x > 2 && x < 17;
                edge += dark && (x < 2 || x > 17);
            }
        if (edge) return "ink between two cells";
        if (inner) cells = apr_psprintf(pool, "%s%d", cells, cell);
    }
    return cells;
}

static void test_cells(apr_pool_t *pool)
{
    static const char hebrew[] = "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d";
    static const struct {
        const char *text;
        int align;
        const char *cells; /* those that have ink */
    } rows[] = {{"W1WW", SR_PDF_START, "0123"},          {"W1WW", SR_PDF_CENTER, "3456"},
                {"W1WW", SR_PDF_RIGHT, "6789"},          {"A B", SR_PDF_START, "02"},
                {hebrew, SR_PDF_START, "6789"},          {hebrew, SR_PDF_LEFT, "0123"},
                {"0123456789", SR_PDF_END, "0123456789"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sr_pdf_value_t value = {rows[i].text, .width = 200, .height = 20, .comb = 10, .align = rows[i].align};
        const pixels_t page = show(&value, draw(&value, pool).content, pool);
        is_str(cells_of(&page, pool), rows[i].cells, "the cells of %s with alignment %d", rows[i].text, rows[i].align);
        if (i < 3) is_str(text_of(pool), rows[i].text, "readers find the text of the cells");
    }
    const sr_pdf_value_t wide = {"WWW", .width = 60, .height = 40, .size = 30, .comb = 5};
    ok(fabs(draw(&wide, pool).size - 12) < 1.5, "letters are as wide as a cell: %g", draw(&wide, pool).size);
    const sr_pdf_value_t many = {"12345678901", .width = 200, .height = 20, .comb = 10};
    is_str(draw(&many, pool).reason, "The text is too long for its field", "more characters than cells");
    const sr_pdf_value_t narrow = {"W", .width = 20, .height = 20, .comb = 10};
    is_str(draw(&narrow, pool).reason, "The text is too long for its field", "cells that are too narrow");
}

static void test_color(apr_pool_t *pool)
{
    const sr_pdf_value_t red = {"Ann", .width = 200, .height = 20, .color = "#ff0033"};
    ok(strstr(plain(draw(&red, pool).content, pool), "\n1 0 0.2 rg\n"), "letters may have a colour");
    ok(strstr(plain(draw(&(sr_pdf_value_t){"Ann", .width = 99, .height = 20}, pool).content, pool), "\n0 0 0 rg\n"),
       "without one they are black");
}

static void test_aligned(apr_pool_t *pool)
{
    static const char hebrew[] = "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d";
    static const struct {
        const char *text;
        int align, place; /* -1: left, 0: middle, 1: right */
    } rows[] = {{"Ann", SR_PDF_START, -1}, {"Ann", SR_PDF_CENTER, 0},  {"Ann", SR_PDF_END, 1},
                {hebrew, SR_PDF_START, 1}, {hebrew, SR_PDF_CENTER, 0}, {hebrew, SR_PDF_END, -1},
                {"Ann", SR_PDF_LEFT, -1},  {"Ann", SR_PDF_RIGHT, 1},   {hebrew, SR_PDF_RIGHT, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sr_pdf_value_t value = {rows[i].text, .width = 200, .height = 20, .align = rows[i].align};
        const pixels_t page = show(&value, draw(&value, pool).content, pool);
        const ink_t ink = ink_of(&page);
        const int middle = (ink.left + ink.right) / 2;
        is_int(middle < 70 ? -1 : middle > 130, rows[i].place, "%s with alignment %d", rows[i].text, rows[i].align);
        ok(abs((ink.top + ink.bottom) / 2 - 10) <= 2, "%s is in the middle of the height", rows[i].text);
    }
}

static void test_tick(apr_pool_t *pool)
{
    sr_pdf_value_t value = {.ticked = true, .width = 30, .height = 20};
    const sr_pdf_drawn_value_t drawn = draw(&value, pool);
    pixels_t page = show(&value, drawn.content, pool);
    const ink_t ink = ink_of(&page);
    ok(ink.dark > 15 && ink.left >= 5 && ink.right <= 25, "a tick is in the middle");
    value.ticked = false;
    page = show(&value, draw(&value, pool).content, pool);
    is_int(ink_of(&page).dark, 0, "without a tick nothing is shown");
    value.text = " \n ";
    page = show(&value, draw(&value, pool).content, pool);
    is_int(ink_of(&page).dark, 0, "a blank text shows nothing");
}

/* The boxes of the drawings for the signing page surround the ink of the content. */
static void test_parts(apr_pool_t *pool)
{
    static const sr_pdf_value_t values[] = {
        {"Engineer", .width = 100, .height = 20},
        {"Engineer", .width = 100, .height = 40, .align = SR_PDF_END},
        {LONG, .width = 200, .height = 100, .multiline = true},
        {.ticked = true, .width = 30, .height = 20},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const sr_pdf_drawn_value_t shown = draw_by(sr_pdf_values_shown, &values[i], pool);
        const pixels_t page = show(&values[i], draw(&values[i], pool).content, pool);
        const ink_t ink = ink_of(&page);
        double left = 1e9, top = 1e9, right = 0, bottom = 0;
        for (size_t k = 0; k < json_array_size(shown.parts); k++) {
            const json_t *box = json_object_get(json_array_get(shown.parts, k), "box");
            double at[4];
            for (size_t side = 0; side < 4; side++) at[side] = json_number_value(json_array_get(box, side));
            left = fmin(left, at[0]);
            top = fmin(top, at[1]);
            right = fmax(right, at[0] + at[2]);
            bottom = fmax(bottom, at[1] + at[3]);
        }
        ok(!shown.content && left <= ink.left + 1 && left >= ink.left - 5 && top <= ink.top + 1 && top >= ink.top - 5
               && right >= ink.right && right <= ink.right + 6 && bottom >= ink.bottom && bottom <= ink.bottom + 6,
           "value %d: the drawings are at %g %g %g %g, the ink is at %d %d %d %d", (int)i, left, top, right, bottom,
           ink.left, ink.top, ink.right, ink.bottom);
    }
    const sr_pdf_value_t blank = {" ", .width = 100, .height = 20}, large = {LONG, .width = 100, .height = 20};
    is_int((int)json_array_size(draw_by(sr_pdf_values_shown, &blank, pool).parts), 0, "a blank text has no drawing");
    is_str(draw_by(sr_pdf_values_shown, &large, pool).reason, "The text is too long for its field",
           "the signing page gets the reason");
}

static void test_refused(apr_pool_t *pool)
{
    static const struct {
        sr_pdf_value_t value;
        const char *reason, *name;
    } rows[] = {
        {{LONG, .width = 100, .height = 20}, "The text is too long for its field", "one line"},
        {{LONG LONG LONG, .width = 60, .height = 20, .multiline = true}, "The text is too long for its field", "lines"},
        {{"a\nb\nc\nd\ne", .width = 60, .height = 12, .multiline = true},
         "The text is too long for its field",
         "breaks"},
        {{"Ann", .width = 100, .height = 5}, "The field is too small for a text", "a low field"},
        {{"Ann", .width = 4, .height = 20}, "The field is too small for a text", "a narrow field"},
        {{"\xf3\xb0\x80\x80", .width = 100, .height = 20},
         "No font on this server has the character U+F0000",
         "a character without a font"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is_str(draw(&rows[i].value, pool).reason, rows[i].reason, "%s", rows[i].name);
}

static void test_same(apr_pool_t *pool)
{
    const sr_pdf_value_t value = {LONG, .width = 200, .height = 100, .multiline = true};
    is_str(draw(&value, pool).content, draw(&value, pool).content, "the same value has the same content");
}

int main(void)
{
    bench = seal_begin(10000);
    test_shown(bench.pool);
    test_aligned(bench.pool);
    test_cells(bench.pool);
    test_color(bench.pool);
    test_tick(bench.pool);
    test_parts(bench.pool);
    test_refused(bench.pool);
    test_same(bench.pool);
    is_int(help_notices, 0, "no worker was lost");
    return seal_end(&bench);
}
