/* SPDX-License-Identifier: Apache-2.0 */
/* page_text.c: the text of a page, for a layer over its image that can be selected and read aloud. The boxes of words
 * are in percent of the displayed page, so they fit an image of any size. poppler decides what a line is and the order
 * of lines. */
#include "helper/main/read/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TAIL_BYTES 64 /* reserved for the end of the text */
#define GAP 0.25      /* of the font size: characters that are farther apart belong to two words */

typedef struct writer_t {
    char *at, *end; /* TAIL_BYTES before the end of the buffer */
    bool full;
} writer_t;

static void page_text_put(writer_t *writer, const char *text, apr_size_t length)
{
    if (writer->full || length > (apr_size_t)(writer->end - writer->at)) {
        writer->full = true;
        return;
    }
    memcpy(writer->at, text, length);
    writer->at += length;
}

/* Writes a number with at most two decimals, independent of the locale. */
static void put_number(writer_t *writer, double number)
{
    char text[32];
    long hundredths = lround(number * 100);
    int length = snprintf(text, sizeof text, "%ld.%02ld", hundredths / 100, hundredths % 100);
    while (text[length - 1] == '0') length--;
    if (text[length - 1] == '.') length--;
    page_text_put(writer, text, (apr_size_t)length);
}

typedef struct word_t {
    const char *text;
    apr_size_t length; /* 0: no word has begun */
    double x1, y1, x2, y2;
} word_t;

static double page_text_within(double value, double limit)
{
    return value > 0 ? value < limit ? value : limit : 0; /* 0 for NaN */
}

/* Crops the box of a word to the page. Returns false if it is not on the page. */
static bool clip(word_t *word, const sr_pdfd_page_t *page)
{
    word->x1 = page_text_within(word->x1, page->width);
    word->x2 = page_text_within(word->x2, page->width);
    word->y1 = page_text_within(word->y1, page->height);
    word->y2 = page_text_within(word->y2, page->height);
    return word->x1 < word->x2 && word->y1 < word->y2;
}

static void put_text(writer_t *writer, const word_t *word)
{
    page_text_put(writer, "\"", 1);
    for (const char *c = word->text; c < word->text + word->length; c++) {
        if (*c == '"' || *c == '\\') page_text_put(writer, "\\", 1);
        page_text_put(writer, c, 1);
    }
    page_text_put(writer, "\"", 1);
}

/* Writes a word. If it does not fit, it is removed again, so that the JSON remains valid. */
static void put_word(writer_t *writer, word_t *word, bool *line_open, const sr_pdfd_page_t *page)
{
    if (!word->length || !clip(word, page)) return;
    char *before = writer->at;
    const double box[4] = {100 * word->x1 / page->width, 100 * word->y1 / page->height,
                           100 * (word->x2 - word->x1) / page->width, 100 * (word->y2 - word->y1) / page->height};
    page_text_put(writer,
                  *line_open          ? ",["
                  : before[-1] == '[' ? "[["
                                      : ",[[",
                  *line_open || before[-1] == '[' ? 2 : 3);
    put_text(writer, word);
    for (int i = 0; i < 4; i++) {
        page_text_put(writer, ",", 1);
        put_number(writer, box[i]);
    }
    page_text_put(writer, "]", 1);
    if (writer->full) writer->at = before;
    else *line_open = true;
}

static void page_text_extend(word_t *word, const char *text, apr_size_t length, const PopplerRectangle *box)
{
    if (!word->length) *word = (word_t){text, 0, box->x1, box->y1, box->x2, box->y2};
    word->length += length;
    word->x1 = fmin(word->x1, box->x1);
    word->y1 = fmin(word->y1, box->y1);
    word->x2 = fmax(word->x2, box->x2);
    word->y2 = fmax(word->y2, box->y2);
}

/* fmax is a call of a library, which takes too long for each character of a document. */
static double page_text_larger(double a, double b)
{
    return a > b ? a : b;
}

bool sr_pdfd_text_is_apart(const PopplerRectangle *a, const PopplerRectangle *b)
{
    const double across = page_text_larger(b->x1 - a->x2, a->x1 - b->x2);
    const double along = page_text_larger(b->y1 - a->y2, a->y1 - b->y2);
    return page_text_larger(across, along) > GAP * page_text_larger(a->y2 - a->y1, a->x2 - a->x1);
}

/* poppler returns one box for each character of the text. A space or a gap ends a word, and a line feed ends a line.
 * Other control characters are skipped. */
static void page_text_put_lines(writer_t *writer, const char *text, const PopplerRectangle *boxes, guint count,
                                const sr_pdfd_page_t *page)
{
    word_t word = {0};
    bool line_open = false;
    for (guint i = 0; i < count && *text && !writer->full; i++) {
        const char *next = g_utf8_next_char(text);
        gunichar c = g_utf8_get_char(text);
        const bool ends = g_unichar_isspace(c) || g_unichar_iscntrl(c);
        if (ends || (word.length && sr_pdfd_text_is_apart(&boxes[i - 1], &boxes[i]))) {
            put_word(writer, &word, &line_open, page);
            word.length = 0;
        }
        if (!ends) page_text_extend(&word, text, (apr_size_t)(next - text), &boxes[i]);
        if (c == '\n' && line_open) {
            page_text_put(writer, "]", 1);
            line_open = writer->full;
        }
        text = next;
    }
    put_word(writer, &word, &line_open, page);
    if (line_open) *writer->at++ = ']'; /* in the reserved bytes */
}

static apr_size_t page_text_write_text(char *result, apr_size_t room, const sr_pdfd_page_t *page)
{
    writer_t writer = {.at = result, .end = result + room - TAIL_BYTES};
    sr_pdfd_letters_t letters;
    sr_pdfd_letters_read(&letters, page);
    page_text_put(&writer, "{\"width\":", 9);
    put_number(&writer, page->width);
    page_text_put(&writer, ",\"height\":", 10);
    put_number(&writer, page->height);
    page_text_put(&writer, ",\"lines\":[", 10);
    if (letters.count) page_text_put_lines(&writer, letters.text, letters.boxes, letters.count, page);
    sr_pdfd_letters_free(&letters);
    const char *tail = writer.full ? "],\"truncated\":true}" : "]}";
    memcpy(writer.at, tail, strlen(tail));
    return (apr_size_t)(writer.at - result) + strlen(tail);
}

json_t *sr_pdfd_text(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    sr_pdfd_page_t page;
    json_t *response = sr_pdfd_page_open(&page, request, pool);
    if (response) return response;
    apr_size_t length = page_text_write_text((char *)request->result, request->room, &page);
    sr_pdfd_page_close(&page);
    response = json_object();
    json_object_set_new(response, "length", json_integer((json_int_t)length));
    return response;
}
