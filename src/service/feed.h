/* SPDX-License-Identifier: Apache-2.0 */
/* feed.h: reading the event feed. Part of service.h. */
#ifndef SR_SERVICE_FEED_H
#define SR_SERVICE_FEED_H

#include "service/service.h"

/* feed.c: the event feed, oldest first. Errors: SR_EGONE if the events after the cursor are not kept. */
#define SR_FEED_NOW "now"
typedef struct sr_feed_query_t {
    const char *after; /* an id, or SR_FEED_NOW; NULL: begin with the first event that is kept */
    const char *types; /* separated by commas; NULL: all */
    int limit;
} sr_feed_query_t;
typedef struct sr_feed_page_t {
    const apr_array_header_t *bodies; /* const char * */
    const char *next;                 /* the cursor after them */
} sr_feed_page_t;
sr_error_t *sr_service_feed(const sr_service_t *service, sr_feed_page_t *page, const char *token_hash,
                            const sr_feed_query_t *query, apr_pool_t *pool);
/* Returns a number that changes when this host has written an event of the caller's organisation. */
apr_uint32_t sr_service_feed_count(const sr_token_t *caller);

#endif
