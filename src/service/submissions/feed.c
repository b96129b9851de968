/* SPDX-License-Identifier: Apache-2.0 */
/* feed.c: reads the event feed (docs/decisions/0031-event-feed.md). An event has no position until a reader comes that
 * needs it, so that those who write events never wait for each other. */
#include "service/private.h"

#include <stdlib.h>
#include <string.h>

#include "metrics/metrics.h"

#define LAST (-1)

/* Makes the JSON of an event by hand, because a page has many. Only the external id needs to be escaped. */
static const char *feed_text(const sr_feed_row_t *row, apr_pool_t *pool)
{
    const char *signer = row->signer ? apr_pstrcat(pool, ",\"signerId\":\"", row->signer, "\"", NULL) : "";
    const char *submission = row->submission ? apr_pstrcat(pool, "\"", row->submission, "\"", NULL) : "null";
    const char *external = "";
    if (row->external_id) {
        const json_t *text = sr_json_own(json_pack("{s:s}", "externalId", row->external_id), pool);
        const char *object = sr_json_text(text, pool);
        external = apr_pstrcat(pool, ",", apr_pstrmemdup(pool, object + 1, strlen(object) - 2), NULL);
    }
    return apr_pstrcat(pool, "{\"id\":\"", sr_feed_id(row->place, row->mark, pool), "\",\"type\":\"", row->type,
                       "\",\"createdAt\":\"", sr_time_format(row->created_at, pool), "\",\"environment\":\"",
                       row->environment, "\",\"submissionId\":", submission, signer, external,
                       ",\"detail\":", row->detail ? row->detail : "{}", "}", NULL);
}

/* Reads events, and the last row of the list. */
static sr_error_t *feed_read(const sr_service_t *service, apr_array_header_t **rows, sr_feed_row_t *end,
                             const char *token_hash, const sr_feed_query_t *query, apr_pool_t *pool)
{
    apr_int64_t position = LAST;
    const char *mark = NULL;
    sr_outcome_t outcome;
    const bool now = query->after && !strcmp(query->after, SR_FEED_NOW);
    if (query->after && !now && !sr_feed_id_read(&position, &mark, query->after))
        return sr_error(pool, SR_EBADREQUEST, "after must be the id of an event, a value of next, or now");
    SR_TRY(sr_store_feed_list(service->database, &outcome, rows, token_hash, sr_time_now(),
                              query->after ? &position : NULL, mark, query->types, query->limit, pool));
    if (outcome == SR_GONE)
        return sr_error(pool, SR_EGONE,
                        "The events after this one are not kept any more, or the database was restored: read from the "
                        "first event that is kept, without after, and compare with GET /signatures");
    SR_TRY(sr_service_refusal(outcome, pool));
    if (!(*rows)->nelts) return sr_error(pool, SR_EINTERNAL, "The store gave no end of the feed");
    *end = APR_ARRAY_IDX(*rows, --(*rows)->nelts, sr_feed_row_t);
    return NULL;
}

/* Events that have no position yet are given one if the page has room for them. If nothing can be written, the reader
 * gets those that have one. With `after=now` the cursor follows all events that are there. */
sr_error_t *sr_service_feed(const sr_service_t *service, sr_feed_page_t *page, const char *token_hash,
                            const sr_feed_query_t *query, apr_pool_t *pool)
{
    const bool now = query->after && !strcmp(query->after, SR_FEED_NOW);
    apr_array_header_t *rows;
    sr_feed_row_t end;
    sr_outcome_t outcome = SR_OK;
    SR_TRY(feed_read(service, &rows, &end, token_hash, query, pool));
    for (int i = 0; end.pending && rows->nelts < query->limit && (now || !i); i++) {
        if (sr_store_feed_number(service->database, &outcome, token_hash, sr_time_now(), pool)) break;
        SR_TRY(sr_service_refusal(outcome, pool));
        SR_TRY(feed_read(service, &rows, &end, token_hash, query, pool));
    }
    apr_array_header_t *bodies = apr_array_make(pool, rows->nelts, sizeof(const char *));
    for (int i = 0; i < rows->nelts; i++)
        APR_ARRAY_PUSH(bodies, const char *) = feed_text(&APR_ARRAY_IDX(rows, i, sr_feed_row_t), pool);
    sr_metrics_count(SR_METRIC_FEED_EVENTS, 0, 0, (apr_uint64_t)rows->nelts);
    *page = (sr_feed_page_t){bodies, sr_feed_id(end.place, end.mark, pool)};
    return NULL;
}

apr_uint32_t sr_service_feed_count(const sr_token_t *caller)
{
    return sr_version_cache_count(caller->organization_uuid);
}
