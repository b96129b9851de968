/* SPDX-License-Identifier: Apache-2.0 */
/* find_text.c: finds the places of texts on the pages of a document. poppler decides what a line is, and the order of
 * lines. A text is found within one line. Case counts; a run of white space, or a gap between two characters, equals
 * one space; composed characters equal decomposed ones; ligatures and presentation forms are read as their letters;
 * format characters are skipped. A soft hyphen is read as a hyphen where the text has one, and is skipped elsewhere. */
#include "helper/main/read/page.h"

#include <math.h>
#include <string.h>

#define SOFT_HYPHEN 0xAD
#define CHAINS 256                     /* of texts, by the low byte of their first letter */
#define REMEMBERED 4                   /* results */
#define LARGEST ((apr_size_t)16 << 10) /* bytes of a result that is remembered */

/* Letters in decomposed form. */
typedef struct letters_t {
    gunichar *letters;
    gboolean *joined; /* it belongs to the letter before, which must not be found without it */
    int *sources;     /* the index of the character that it is a part of */
    int count, room;
} letters_t;

typedef struct wanted_t {
    letters_t letters;
    int page; /* -1: every page */
    int count;
    json_t *places;
    struct wanted_t *next; /* of its chain */
    int end;               /* of its last place in the line */
} wanted_t;

typedef struct search_t {
    wanted_t *wanted;
    int wanted_count;
    wanted_t *chains[CHAINS];
    size_t most; /* places that are listed for each text */
    bool has_text;
    letters_t line;
} search_t;

/* ------------------------------------------------------------------------------------------------------- letters */

static void letters_push(letters_t *letters, gunichar letter, gboolean joined, int source)
{
    if (letters->count == letters->room) {
        letters->room = letters->room ? 2 * letters->room : 256;
        const gsize room = (gsize)letters->room;
        letters->letters = g_renew(gunichar, letters->letters, room);
        letters->joined = g_renew(gboolean, letters->joined, room);
        letters->sources = g_renew(int, letters->sources, room);
    }
    letters->letters[letters->count] = letter;
    letters->joined[letters->count] = joined;
    letters->sources[letters->count++] = source;
}

static void letters_free(letters_t *letters)
{
    g_free(letters->letters);
    g_free(letters->joined);
    g_free(letters->sources);
}

static void letters_space(letters_t *letters, int source)
{
    if (letters->count && letters->letters[letters->count - 1] != ' ') letters_push(letters, ' ', FALSE, source);
}

/* The blocks of ligatures and of Hebrew and Arabic presentation forms. */
static bool is_presentation(gunichar c)
{
    return (c >= 0xFB00 && c <= 0xFDFF) || (c >= 0xFE70 && c <= 0xFEFC);
}

/* Combining marks have a canonical order. A mark that has a lower class than the one before moves ahead of it. */
static void letters_order(letters_t *letters)
{
    for (int i = letters->count - 1; i > 0; i--) {
        const int class = g_unichar_combining_class(letters->letters[i]);
        if (!class || g_unichar_combining_class(letters->letters[i - 1]) <= class) return;
        const gunichar letter = letters->letters[i];
        letters->letters[i] = letters->letters[i - 1];
        letters->letters[i - 1] = letter;
    }
}

static void letters_add(letters_t *letters, gunichar c, int source)
{
    gunichar parts[G_UNICHAR_MAX_DECOMPOSITION_LENGTH];
    if (c > ' ' && c < 0x7F) { /* most letters; the tables of Unicode are slow */
        letters_push(letters, c, FALSE, source);
        return;
    }
    if (g_unichar_isspace(c)) {
        letters_space(letters, source);
        return;
    }
    if (g_unichar_iscntrl(c) || (g_unichar_type(c) == G_UNICODE_FORMAT && c != SOFT_HYPHEN)) return;
    const gboolean presentation = is_presentation(c);
    const gsize count = g_unichar_fully_decompose(c, presentation, parts, G_N_ELEMENTS(parts));
    for (gsize i = 0; i < count; i++) {
        if (g_unichar_isspace(parts[i])) continue; /* of an Arabic mark that stands alone */
        const gboolean joined = (i > 0 && !presentation) || g_unichar_combining_class(parts[i]) != 0;
        letters_push(letters, parts[i], joined, source);
        letters_order(letters);
    }
}

static void letters_of(letters_t *letters, const char *text)
{
    for (int i = 0; *text; text = g_utf8_next_char(text)) letters_add(letters, g_utf8_get_char(text), i++);
    if (letters->count && letters->letters[letters->count - 1] == ' ') letters->count--;
}

/* ------------------------------------------------------------------------------------------------------- searching */

/* Returns the end of the text in the line if it begins at `at`, or -1. */
static int match(const letters_t *line, int at, const letters_t *text)
{
    if (line->joined[at]) return -1;
    for (int i = 0; i < text->count; at++) {
        if (at == line->count) return -1;
        const gunichar c = line->letters[at], wanted = text->letters[i];
        const bool hyphen = c == SOFT_HYPHEN && (wanted == '-' || wanted == SOFT_HYPHEN);
        if (c == wanted || hyphen) i++;
        else if (wanted == SOFT_HYPHEN) i++, at--;
        else if (c != SOFT_HYPHEN || i == 0) return -1;
    }
    return at < line->count && line->joined[at] ? -1 : at;
}

static void add_place(wanted_t *wanted, const search_t *search, const letters_t *line, int begin, int end,
                      const PopplerRectangle *boxes, const sr_pdfd_page_t *page)
{
    double x1 = INFINITY, y1 = INFINITY, x2 = -INFINITY, y2 = -INFINITY;
    wanted->count++;
    if (json_array_size(wanted->places) >= search->most) return;
    for (int i = begin; i < end; i++) {
        if (line->letters[i] == ' ') continue;
        const PopplerRectangle *box = &boxes[line->sources[i]];
        x1 = fmin(x1, fmin(box->x1, box->x2));
        y1 = fmin(y1, fmin(box->y1, box->y2));
        x2 = fmax(x2, fmax(box->x1, box->x2));
        y2 = fmax(y2, fmax(box->y1, box->y2));
    }
    json_array_append_new(wanted->places, json_pack("[i,f,f,f,f]", page->index, x1, y1, x2 - x1, y2 - y1));
}

/* Adds the place of a text, if one begins at `at`. Places of the same text do not overlap. */
static void search_at(wanted_t *wanted, const search_t *search, int at, const PopplerRectangle *boxes,
                      const sr_pdfd_page_t *page)
{
    if (at < wanted->end || (wanted->page >= 0 && wanted->page != page->index)) return;
    const int end = match(&search->line, at, &wanted->letters);
    if (end <= at) return;
    add_place(wanted, search, &search->line, at, end, boxes, page);
    wanted->end = end;
}

static void search_line(search_t *search, const PopplerRectangle *boxes, const sr_pdfd_page_t *page)
{
    const letters_t *line = &search->line;
    for (int i = 0; i < search->wanted_count; i++) search->wanted[i].end = 0;
    for (int at = 0; at < line->count; at++) {
        const bool is_soft = line->letters[at] == SOFT_HYPHEN; /* a text may begin with a hyphen there */
        wanted_t *wanted = is_soft ? NULL : search->chains[line->letters[at] % CHAINS];
        for (; wanted; wanted = wanted->next) search_at(wanted, search, at, boxes, page);
        for (int i = 0; is_soft && i < search->wanted_count; i++)
            search_at(&search->wanted[i], search, at, boxes, page);
    }
    search->has_text |= line->count > 0;
    search->line.count = 0;
}

static void search_page(search_t *search, const sr_pdfd_page_t *page)
{
    sr_pdfd_letters_t letters;
    sr_pdfd_letters_read(&letters, page);
    const char *at = letters.text;
    const PopplerRectangle *boxes = letters.boxes;
    for (guint i = 0; i < letters.count; i++, at = g_utf8_next_char(at)) {
        if (*at == '\n') {
            search_line(search, boxes, page);
            continue;
        }
        if (search->line.count && sr_pdfd_text_is_apart(&boxes[i - 1], &boxes[i])) letters_space(&search->line, (int)i);
        letters_add(&search->line, g_utf8_get_char(at), (int)i);
    }
    search_line(search, boxes, page);
    sr_pdfd_letters_free(&letters);
}

static bool is_wanted(const search_t *search, int page)
{
    for (int i = 0; i < search->wanted_count; i++)
        if (search->wanted[i].page < 0 || search->wanted[i].page == page) return true;
    return false;
}

static const char *search_pages(search_t *search, sr_pdfd_page_t *page, apr_pool_t *pool)
{
    const int count = poppler_document_get_n_pages(page->document);
    for (int i = 0; i < count; i++) {
        if (!is_wanted(search, i)) continue;
        const char *reason = sr_pdfd_page_turn(page, i, pool);
        if (reason) return reason;
        search_page(search, page);
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------- response */

/* Adds a text to the chain of the letter with which its places begin, unless they begin with a soft hyphen. */
static void search_chain(search_t *search, wanted_t *wanted)
{
    const letters_t *letters = &wanted->letters;
    int i = 0;
    while (i < letters->count && letters->letters[i] == SOFT_HYPHEN) i++;
    if (i == letters->count) return;
    wanted_t **chain = &search->chains[letters->letters[i] % CHAINS];
    wanted->next = *chain;
    *chain = wanted;
}

static bool read_wanted(search_t *search, const json_t *texts, apr_pool_t *pool)
{
    search->wanted_count = (int)json_array_size(texts);
    search->wanted = apr_pcalloc(pool, json_array_size(texts) * sizeof *search->wanted);
    for (int i = 0; i < search->wanted_count; i++) {
        const json_t *text = json_array_get(texts, (size_t)i), *page = json_object_get(text, "page");
        wanted_t *wanted = &search->wanted[i];
        if (!sr_json_string(text, "text")) return false;
        letters_of(&wanted->letters, sr_json_string(text, "text"));
        wanted->page = page ? (int)json_integer_value(page) : -1;
        wanted->places = sr_json_own(json_array(), pool);
        if (!wanted->letters.count) return false;
        search_chain(search, wanted);
    }
    return search->wanted_count > 0;
}

/* The results of the last requests. The same document is often sent to many signers within seconds, and a request names
 * the document by its SHA-256. */
static struct {
    json_t *asked;
    char *found;
} remembered[REMEMBERED];

static const char *recall(const json_t *asked)
{
    for (int i = 0; i < REMEMBERED; i++)
        if (remembered[i].asked && json_equal(remembered[i].asked, asked)) return remembered[i].found;
    return NULL;
}

static void remember(const json_t *asked, const char *found)
{
    static int oldest;
    if (strlen(found) > LARGEST) return;
    json_decref(remembered[oldest].asked);
    g_free(remembered[oldest].found);
    remembered[oldest].asked = json_deep_copy(asked);
    remembered[oldest].found = g_strdup(found);
    oldest = (oldest + 1) % REMEMBERED;
}

static json_t *write_found(const search_t *search, const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    json_t *found = sr_json_own(json_object(), pool), *texts = json_array();
    bool is_missing = false;
    for (int i = 0; i < search->wanted_count; i++) {
        const wanted_t *wanted = &search->wanted[i];
        is_missing |= !wanted->count;
        json_array_append_new(texts, json_pack("{s:i,s:O}", "count", wanted->count, "places", wanted->places));
    }
    const bool unreadable = is_missing && sr_pdfd_fonts_unreadable(&request->bytes, pool);
    json_object_set_new(found, "hasText", json_boolean(search->has_text));
    json_object_set_new(found, "unreadable", json_boolean(unreadable));
    json_object_set_new(found, "texts", texts);
    const char *text = sr_json_text(found, pool);
    remember(request->text, text);
    return sr_pdfd_result(request, text, strlen(text));
}

static json_t *find_in_document(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    search_t search = {.most = (size_t)json_integer_value(json_object_get(request->text, "most"))};
    sr_pdfd_page_t page;
    json_t *response = NULL;
    if (!read_wanted(&search, json_object_get(request->text, "texts"), pool)) return NULL;
    const char *reason = sr_pdfd_pages_open(&page, request);
    if (!reason) reason = search_pages(&search, &page, pool);
    response = reason ? sr_pdfd_page_refuse(reason) : write_found(&search, request, pool);
    sr_pdfd_page_close(&page);
    for (int i = 0; i < search.wanted_count; i++) letters_free(&search.wanted[i].letters);
    letters_free(&search.line);
    return response;
}

json_t *sr_pdfd_find(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    const char *found = recall(request->text);
    return found ? sr_pdfd_result(request, found, strlen(found)) : find_in_document(request, pool);
}
