/* SPDX-License-Identifier: Apache-2.0 */
/* list.c: keyset pagination for all list operations. A row without a body does not fit into the page. */
#include "service/private.h"

#include <apr_encode.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <string.h>

#define NEWER "newer"

static bool list_is_number(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits >= 1 && digits <= 18 && !text[digits];
}

/* Makes a cursor: "o1763662163123456:42" (older than that row) or "n…" (newer), in base64url. */
static const char *cursor_make(char direction, const sr_list_item_t *item, apr_pool_t *pool)
{
    const char *text = apr_psprintf(pool, "%c%" APR_TIME_T_FMT ":%" APR_INT64_T_FMT, direction, item->at, item->id);
    return apr_pencode_base64(pool, text, APR_ENCODE_STRING, APR_ENCODE_BASE64URL, NULL);
}

sr_error_t *sr_service_list_place(sr_list_place_t *place, const sr_list_query_t *query, apr_pool_t *pool)
{
    *place = (sr_list_place_t){query->limit + 1, "older", 0, 0, NULL};
    if (!query->cursor) return NULL;
    const char *text = apr_pdecode_base64(pool, query->cursor, APR_ENCODE_STRING, APR_ENCODE_BASE64URL, NULL);
    const char *colon = text ? strchr(text, ':') : NULL;
    if (colon && (*text == 'o' || *text == 'n')) {
        const char *at = apr_pstrmemdup(pool, text + 1, (apr_size_t)(colon - text - 1)), *id = colon + 1;
        if (*text == 'n') place->direction = NEWER;
        if (list_is_number(at) && list_is_number(id)) {
            place->at = apr_atoi64(at);
            place->id = apr_atoi64(id);
            if (!place->at) place->at = 1; /* 0 means the newest, and no row is from that time */
            return NULL;
        }
    }
    return sr_error(pool, SR_EBADREQUEST, "after is not a cursor of this list");
}

/* Puts the rows in order, newest first, and makes the cursors. */
void sr_service_list_page(sr_list_result_t *page, const apr_array_header_t *items, const sr_list_place_t *place,
                          apr_pool_t *pool)
{
    const sr_list_item_t *item = (const sr_list_item_t *)items->elts;
    const bool newer = strcmp(place->direction, NEWER) == 0;
    int count = 0;
    while (count < place->limit - 1 && count < items->nelts && item[count].body) count++;
    const bool more = items->nelts > count;
    apr_array_header_t *bodies = apr_array_make(pool, count, sizeof(const char *));
    for (int i = 0; i < count; i++) APR_ARRAY_PUSH(bodies, const char *) = item[newer ? count - 1 - i : i].body;
    page->bodies = bodies;
    page->next = page->prev = NULL;
    const sr_list_item_t *end = more ? NULL : place->end;
    if (!count && !end) return;
    const sr_list_item_t *newest = end && (newer || !count) ? end : &item[newer ? count - 1 : 0];
    const sr_list_item_t *oldest = end && (!newer || !count) ? end : &item[newer ? 0 : count - 1];
    /* on the other side of a page that a cursor has led to are the rows from which it led */
    if (newer || more || end) page->next = cursor_make('o', oldest, pool);
    if (newer ? more || end : place->at != 0) page->prev = cursor_make('n', newest, pool);
}
