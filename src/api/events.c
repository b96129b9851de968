/* SPDX-License-Identifier: Apache-2.0 */
/* events.c: /events: the event feed. A request may wait for an event. It has no connection to the database meanwhile:
 * it compares a counter of this host, and asks the database once a second, because other hosts write events, too. */
#include "api/api.h"

#include <string.h>

#define LIMIT_DEFAULT "100"
#define WAIT_MAX 30
#define GLANCE apr_time_from_msec(50)
#define ASK apr_time_from_sec(1)

static sr_error_t *events_query(sr_feed_query_t *query, int *wait, sr_http_t *http)
{
    const char *limit = NULL, *seconds = NULL;
    sr_list_query_t page;
    const sr_query_param_t params[] = {
        {"after", &query->after}, {"limit", &limit}, {"type", &query->types}, {"wait", &seconds}, {NULL, NULL}};
    SR_TRY(sr_http_query(http, params));
    SR_TRY(sr_api_list_query(&page, http, limit ? limit : LIMIT_DEFAULT, NULL));
    query->limit = page.limit;
    if (query->types) SR_TRY(sr_feed_types_check(query->types, http->pool));
    *wait = 0;
    if (!seconds || (strlen(seconds) <= 2 && sr_text_number(wait, seconds) && *wait <= WAIT_MAX)) return NULL;
    return sr_error(http->pool, SR_EBADREQUEST, "wait must be a whole number from 0 to %d", WAIT_MAX);
}

/* Sleeps until an event of the organisation was committed on this host, until it is time to ask the database, or until
 * the request should end. */
static void events_sleep(const sr_http_t *http, const sr_token_t *caller, apr_uint32_t count, apr_time_t until)
{
    const apr_time_t ask = sr_time_steady() + ASK, end = ask < until ? ask : until;
    while (sr_service_feed_count(caller) == count && sr_time_steady() < end && !sr_http_readers_end(http))
        apr_sleep(GLANCE);
}

/* Reads the feed again until there are events. Each page lives until the next one is read. */
static sr_error_t *events_wait(sr_http_t *http, sr_feed_page_t *page, const char *token_hash, sr_feed_query_t *query,
                               int seconds)
{
    const apr_time_t until = sr_time_steady() + apr_time_from_sec(seconds);
    sr_token_t *caller;
    apr_pool_t *each;
    sr_error_t *error = NULL;
    SR_TRY(sr_service_authenticate(http->service, &caller, token_hash, http->pool));
    apr_pool_create(&each, http->pool);
    for (bool last = false; !error && !last && !page->bodies->nelts;) {
        const apr_uint32_t count = sr_service_feed_count(caller);
        query->after = apr_pstrdup(http->pool, page->next);
        apr_pool_clear(each);
        error = sr_service_feed(http->service, page, token_hash, query, each);
        if (error || page->bodies->nelts) break;
        last = sr_time_steady() >= until || sr_http_readers_end(http);
        if (!last) events_sleep(http, caller, count, until);
    }
    return error;
}

/* Too many wait: a client shall ask again in 5 to 10 seconds, so that thousands of them do not use up the host. Until
 * then its connection would only keep others out. */
static void events_postpone(const sr_http_t *http)
{
    const apr_time_t seconds = 5 + sr_time_steady() % 6;
    apr_table_setn(http->r->headers_out, "Retry-After", apr_psprintf(http->pool, "%" APR_TIME_T_FMT, seconds));
    http->r->connection->keepalive = AP_CONN_CLOSE;
}

sr_error_t *sr_api_events(sr_http_t *http)
{
    sr_feed_query_t query = {0};
    sr_feed_page_t page;
    const char *token_hash;
    int wait, place;
    SR_TRY(sr_api_token(&token_hash, http));
    SR_TRY(events_query(&query, &wait, http));
    SR_TRY(sr_service_feed(http->service, &page, token_hash, &query, http->pool));
    if (wait && !page.bodies->nelts) {
        if (sr_http_readers_enter(&place, SR_READER_EVENTS)) {
            sr_error_t *error = events_wait(http, &page, token_hash, &query, wait);
            sr_http_readers_leave(place);
            if (error) return error;
        } else events_postpone(http);
    }
    return sr_api_bodies_reply(http, page.bodies, apr_pstrcat(http->pool, "\"next\":\"", page.next, "\"", NULL));
}
