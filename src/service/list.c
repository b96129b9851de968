/* SPDX-License-Identifier: Apache-2.0 */
/* page.c: keyset pages over any list operation. One row more than wanted is asked for: it says whether there is
 * another page. A row without a body is one that the page has no room for. */
#include "service/private.h"

#include <apr_encode.h>
#include <apr_lib.h>
#include <string.h>

typedef struct place_t {
    bool newer;                  /* walks towards the newest */
    const char *created_at, *id; /* NULL: from the newest */
} place_t;

static bool is_number(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits >= 1 && digits <= 18 && !text[digits];
}

/* "o1763662163123456:42" (older than that row) or "n…" (newer), base64url. */
static const char *cursor_make(char direction, const char *key, apr_pool_t *pool)
{
    return apr_pencode_base64(pool, apr_psprintf(pool, "%c%s", direction, key), APR_ENCODE_STRING, APR_ENCODE_BASE64URL,
                              NULL);
}

static sr_error_t *cursor_read(place_t *place, const char *cursor, apr_pool_t *pool)
{
    *place = (place_t){false, NULL, NULL};
    if (!cursor) return NULL;
    const char *text = apr_pdecode_base64(pool, cursor, APR_ENCODE_STRING, APR_ENCODE_BASE64URL, NULL);
    const char *colon = text ? strchr(text, ':') : NULL;
    if (colon && (*text == 'o' || *text == 'n')) {
        place->newer = *text == 'n';
        place->created_at = apr_pstrmemdup(pool, text + 1, (apr_size_t)(colon - text - 1));
        place->id = colon + 1;
        if (is_number(place->created_at) && is_number(place->id)) return NULL;
    }
    return sr_error(pool, SR_EBADREQUEST, "after is not a cursor of this list");
}

/* Puts the rows newest first and works out the cursors. */
static void fill(sr_list_result_t *page, const apr_array_header_t *rows, const place_t *place, int limit,
                 apr_pool_t *pool)
{
    const sr_row_t *row = (const sr_row_t *)rows->elts;
    int count = 0;
    while (count < limit && count < rows->nelts && row[count].body) count++;
    bool more = rows->nelts > count;
    apr_array_header_t *bodies = apr_array_make(pool, count, sizeof(const char *));
    for (int i = 0; i < count; i++) APR_ARRAY_PUSH(bodies, const char *) = row[place->newer ? count - 1 - i : i].body;
    page->bodies = bodies;
    page->next = page->prev = NULL;
    if (!count) return;
    const char *newest = row[place->newer ? count - 1 : 0].key, *oldest = row[place->newer ? 0 : count - 1].key;
    /* a page reached by a cursor has the rows it was reached from on the other side */
    if (place->newer ? true : more) page->next = cursor_make('o', oldest, pool);
    if (place->newer ? more : place->created_at != NULL) page->prev = cursor_make('n', newest, pool);
}

sr_error_t *sr_service_list(const sr_service_t *service, sr_list_result_t *page, sr_op_t op, const char *token_hash,
                            const sr_list_query_t *query, const char *const *filters, int filter_count,
                            apr_pool_t *pool)
{
    const char *arguments[16] = {token_hash, sr_service_now(pool), apr_itoa(pool, query->limit + 1)};
    apr_array_header_t *rows;
    place_t place;
    SR_TRY(cursor_read(&place, query->cursor, pool));
    arguments[3] = place.newer ? "newer" : "older";
    arguments[4] = place.created_at;
    arguments[5] = place.id;
    for (int i = 0; i < filter_count; i++) arguments[6 + i] = filters[i];
    SR_TRY(sr_service_call(service, op, &rows, NULL, arguments, 6 + filter_count, pool));
    fill(page, rows, &place, query->limit, pool);
    return NULL;
}
