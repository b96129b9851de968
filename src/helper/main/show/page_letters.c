/* SPDX-License-Identifier: Apache-2.0 */
/* page_letters.c: the text of a page in the order of reading, with a box for each letter. poppler puts each word that
 * is read from right to left between marks, which have no boxes, and lists its boxes from the left to the right. On a
 * page that is read from right to left it leaves out lines, unless the area begins at the right side. */
#include "helper/main/read/page.h"

#include <string.h>

#define EMBED_LEFT 0x202A /* what follows is read from left to right, up to the end of the embedding */
#define EMBED_RIGHT 0x202B
#define EMBED_END 0x202C
#define MAX_DEPTH 8

static void letters_reverse(PopplerRectangle *boxes, guint count)
{
    for (guint i = 0; i < count / 2; i++) {
        const PopplerRectangle box = boxes[i];
        boxes[i] = boxes[count - 1 - i];
        boxes[count - 1 - i] = box;
    }
}

/* Removes the marks from the text, and puts the boxes of words from right to left into the order of their letters.
 * Returns the number of letters. With boxes == NULL it only counts. */
static guint order_letters(char *text, PopplerRectangle *boxes)
{
    bool backwards[MAX_DEPTH + 1] = {false};
    guint count = 0, begin = 0; /* of the word */
    int depth = 0;
    char *to = text;
    for (const char *at = text, *next;; at = next) {
        const gunichar c = g_utf8_get_char(at);
        const bool is_mark = c >= EMBED_LEFT && c <= EMBED_END;
        next = g_utf8_next_char(at);
        if (is_mark || g_unichar_isspace(c) || !c) {
            if (boxes && backwards[depth]) letters_reverse(boxes + begin, count - begin);
            begin = is_mark ? count : count + 1;
        }
        if (!c) break;
        if (c == EMBED_END && depth > 0) depth--;
        if (is_mark && c != EMBED_END && depth < MAX_DEPTH) backwards[++depth] = c == EMBED_RIGHT;
        if (is_mark) continue;
        count++;
        if (boxes) memmove(to, at, (size_t)(next - at));
        to += next - at;
    }
    if (boxes) *to = '\0';
    return count;
}

/* Returns false if poppler's text and boxes do not fit together. */
static bool read_area(sr_pdfd_letters_t *letters, bool *turned, PopplerPage *page, PopplerRectangle area)
{
    guint boxes = 0;
    *letters = (sr_pdfd_letters_t){.text = poppler_page_get_selected_text(page, POPPLER_SELECTION_GLYPH, &area)};
    *turned = false;
    if (!letters->text || !g_utf8_validate(letters->text, -1, NULL)) return false;
    *turned = g_utf8_strchr(letters->text, -1, EMBED_RIGHT) != NULL;
    letters->count = *turned ? order_letters(letters->text, NULL) : (guint)g_utf8_strlen(letters->text, -1);
    poppler_page_get_text_layout_for_area(page, &area, &letters->boxes, &boxes);
    if (letters->count != boxes) return false;
    if (*turned) order_letters(letters->text, letters->boxes);
    return true;
}

void sr_pdfd_letters_read(sr_pdfd_letters_t *letters, const sr_pdfd_page_t *page)
{
    const PopplerRectangle area = {0, 0, page->width, page->height}, from_right = {page->width, 0, 0, page->height};
    sr_pdfd_letters_t other;
    bool turned;
    const bool fits = read_area(letters, &turned, page->page, area);
    if (fits && letters->count && !turned) return;
    if (read_area(&other, &turned, page->page, from_right) && (!fits || other.count > letters->count)) {
        sr_pdfd_letters_free(letters);
        *letters = other;
        return;
    }
    sr_pdfd_letters_free(&other);
    if (!fits) sr_pdfd_letters_free(letters);
}

void sr_pdfd_letters_free(sr_pdfd_letters_t *letters)
{
    g_free(letters->text);
    g_free(letters->boxes);
    *letters = (sr_pdfd_letters_t){0};
}
