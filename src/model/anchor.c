/* SPDX-License-Identifier: Apache-2.0 */
/* anchor.c: areas that are placed at a text of the document: {"anchor":{"text":"Signature:"},"dx":0,"dy":-40}. The top
 * left corner of the area is that of the text, moved to the right and down by dx and dy points, on the page as it is
 * displayed. */
#include "model/model.h"

#include <limits.h>
#include <string.h>

#define MAX_TEXT 500 /* characters */
#define MAX_OCCURRENCE 1000
#define LOWEST 16 /* points; the least height of an area that is sent without one, so that a signature fits */

const char *const sr_anchor_area_members[] = {"x",     "y",      "unit", "page", "pageFrom", "pages", "origin",
                                              "field", "anchor", "dx",   "dy",   "w",        "h",     NULL};
#define REFUSED 8 /* the first of them, which an area with an anchor must not have */
const char *const sr_anchor_members[] = {"text", "occurrence", "page", "ifMissing", NULL};

static const char *read_text(sr_anchor_t *anchor, const json_t *sent, apr_pool_t *pool)
{
    const char *given = sr_json_string(sent, "text");
    if (!given || sr_text_is_blank(given)) return "Area anchor text must be provided";
    char *text = apr_pstrdup(pool, given);
    for (char *c = text; *c; c++)
        if (strchr("\t\n\r", *c)) *c = ' ';
    anchor->text = text;
    const char *fault = sr_text_fault(anchor->text, MAX_TEXT, pool);
    return fault ? apr_psprintf(pool, "Area anchor text %s", fault) : NULL;
}

static const char *read_occurrence(sr_anchor_t *anchor, const json_t *sent, apr_pool_t *pool)
{
    const json_t *value = sr_json_given(sent, "occurrence");
    const char *word = json_string_value(value);
    const json_int_t number = json_integer_value(value);
    anchor->occurrence = word ? SR_ANCHOR_ALL : (int)number;
    if (!value || (word && !strcmp(word, "all")) || (number >= 1 && number <= MAX_OCCURRENCE)) return NULL;
    return apr_psprintf(pool, "Area anchor occurrence must be all or an integer from 1 to %d", MAX_OCCURRENCE);
}

static const char *anchor_read_page(sr_anchor_t *anchor, const json_t *sent)
{
    const json_t *value = sr_json_given(sent, "page");
    const json_int_t number = json_integer_value(value);
    anchor->page = !value ? SR_ANCHOR_ANY_PAGE : number > INT_MAX ? INT_MAX : (int)number;
    if (!value || (json_is_integer(value) && number >= 0)) return NULL;
    return "Area anchor page must be a non-negative integer";
}

static const char *read_if_missing(sr_anchor_t *anchor, const json_t *sent)
{
    const json_t *value = sr_json_given(sent, "ifMissing");
    const char *word = json_string_value(value);
    anchor->skip = word && !strcmp(word, "skip");
    return !value || anchor->skip || (word && !strcmp(word, "refuse")) ? NULL
                                                                       : "Area anchor ifMissing must be refuse or skip";
}

/* Reads dx, dy, w and h. All are optional. */
static const char *read_numbers(sr_anchor_t *anchor, const json_t *area)
{
    const struct {
        const char *key;
        double *number;
        bool is_size;
    } numbers[] = {
        {"dx", &anchor->dx, false}, {"dy", &anchor->dy, false}, {"w", &anchor->w, true}, {"h", &anchor->h, true}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const json_t *value = sr_json_given(area, numbers[i].key);
        *numbers[i].number = json_number_value(value);
        if (!value) continue;
        if (!json_is_number(value) && !numbers[i].is_size) return "Area dx/dy must be a number";
        if (numbers[i].is_size && !(*numbers[i].number > 0)) return "Area width/height must be a positive number";
    }
    return NULL;
}

const char *sr_anchor_read(const sr_anchor_t **anchor, const json_t *area, apr_pool_t *pool)
{
    const json_t *sent = sr_json_given(area, "anchor");
    *anchor = NULL;
    if (!sent) return NULL;
    sr_anchor_t *made = apr_pcalloc(pool, sizeof *made);
    for (size_t i = 0; i < REFUSED; i++)
        if (sr_json_given(area, sr_anchor_area_members[i]))
            return apr_psprintf(pool, "Area must not have both an anchor and %s", sr_anchor_area_members[i]);
    const char *fault = json_is_object(sent) ? read_text(made, sent, pool) : "Area anchor must be an object";
    if (!fault) fault = read_occurrence(made, sent, pool);
    if (!fault) fault = anchor_read_page(made, sent);
    if (!fault) fault = read_if_missing(made, sent);
    if (!fault) fault = read_numbers(made, area);
    *anchor = fault ? NULL : made;
    return fault;
}

/* Copies the members with these names, without those that are null. */
static json_t *anchor_copy(const json_t *object, const char *const *names)
{
    json_t *copy = json_object();
    for (; *names; names++)
        if (sr_json_given(object, *names)) json_object_set(copy, *names, json_object_get(object, *names));
    return copy;
}

json_t *sr_anchor_echo(const json_t *area)
{
    json_t *echo = anchor_copy(area, sr_anchor_area_members + REFUSED);
    json_object_set_new(echo, "anchor", anchor_copy(json_object_get(area, "anchor"), sr_anchor_members));
    return echo;
}

static const char *anchor_key(const sr_anchor_t *anchor, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%d %s", anchor->page, anchor->text);
}

void sr_anchor_want(json_t *texts, apr_hash_t *numbers, const sr_anchor_t *anchor, apr_pool_t *pool)
{
    const char *key = anchor_key(anchor, pool);
    if (apr_hash_get(numbers, key, APR_HASH_KEY_STRING)) return;
    json_t *text = json_pack("{s:s}", "text", anchor->text);
    if (anchor->page != SR_ANCHOR_ANY_PAGE) json_object_set_new(text, "page", json_integer(anchor->page));
    json_array_append_new(texts, text);
    int *number = apr_palloc(pool, sizeof *number);
    *number = (int)json_array_size(texts) - 1;
    apr_hash_set(numbers, key, APR_HASH_KEY_STRING, number);
}

int sr_anchor_most(int max_fields)
{
    return max_fields > MAX_OCCURRENCE ? max_fields : MAX_OCCURRENCE;
}

/* Returns why a text cannot be used: it is missing, or there are too few or too many of it. */
static sr_error_t *anchor_fault(const sr_anchor_t *anchor, const sr_document_t *document, json_int_t count,
                                apr_pool_t *pool)
{
    const json_t *found = document->anchors.found;
    const char *name = sr_text_printable(document->name, pool), *text = sr_text_printable(anchor->text, pool);
    const char *on = anchor->page == SR_ANCHOR_ANY_PAGE ? "" : apr_psprintf(pool, " on page %d", anchor->page);
    const bool unreadable = json_is_true(json_object_get(found, "unreadable"));
    sr_error_t *error;
    if (count) {
        const char *times = count == 1 ? "once" : apr_psprintf(pool, "%d times", (int)count);
        const char *wanted = anchor->occurrence ? apr_psprintf(pool, ", not %d times", anchor->occurrence) : "";
        error = sr_error(pool, SR_EBADREQUEST, "Document %s has the text \"%s\" %s%s%s", name, text, times, on, wanted);
        return anchor->occurrence ? error
                                  : sr_error_hint(error, pool, "anchor.occurrence says which of them, or all of them");
    }
    if (!json_is_true(json_object_get(found, "hasText")))
        return sr_error(pool, SR_EBADREQUEST, "Document %s has no text: %s", name,
                        unreadable ? "its fonts do not say which letters they show" : "it consists of images");
    error = sr_error(pool, SR_EBADREQUEST, "Document %s does not have the text \"%s\"%s", name, text, on);
    return unreadable ? sr_error_hint(error, pool, "some of its fonts do not say which letters they show") : error;
}

static sr_area_t anchor_area(const sr_anchor_t *anchor, const json_t *place)
{
    double at[5];
    for (size_t i = 0; i < 5; i++) at[i] = json_number_value(json_array_get(place, i));
    const double h = at[4] > LOWEST ? at[4] : LOWEST;
    return (sr_area_t){.page = (int)at[0],
                       .x = at[1] + anchor->dx,
                       .y = at[2] + anchor->dy,
                       .w = anchor->w > 0 ? anchor->w : at[3],
                       .h = anchor->h > 0 ? anchor->h : h,
                       .origin = SR_ORIGIN_TOP_LEFT};
}

sr_error_t *sr_anchor_areas(apr_array_header_t **areas, json_int_t *count, const sr_anchor_t *anchor,
                            const sr_document_t *document, apr_pool_t *pool)
{
    const char *key = anchor_key(anchor, pool);
    const int *number = apr_hash_get(document->anchors.numbers, key, APR_HASH_KEY_STRING);
    const json_t *texts = json_object_get(document->anchors.found, "texts");
    const json_t *found = number ? json_array_get(texts, (size_t)*number) : NULL;
    const json_t *places = json_object_get(found, "places");
    const bool all = anchor->occurrence == SR_ANCHOR_ALL;
    *areas = apr_array_make(pool, 1, sizeof(sr_area_t));
    *count = json_integer_value(json_object_get(found, "count"));
    if (!*count && anchor->skip) return NULL;
    if (!*count || (!all && (anchor->occurrence ? anchor->occurrence > *count : *count != 1)))
        return anchor_fault(anchor, document, *count, pool);
    const size_t first = anchor->occurrence > 0 ? (size_t)anchor->occurrence - 1 : 0;
    for (size_t i = first; i < (all ? json_array_size(places) : first + 1); i++)
        APR_ARRAY_PUSH(*areas, sr_area_t) = anchor_area(anchor, json_array_get(places, i));
    return NULL;
}
