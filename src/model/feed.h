/* SPDX-License-Identifier: Apache-2.0 */
/* feed.h: the event feed (docs/api.md, The event feed): what a caller is told of the events of a submission, without
 * personal values. Part of model.h.
 *
 * The position of an event is its place among the events of its user and environment, from 1. Its id, which is also the
 * cursor of a reader, is "<position>-<mark>". */
#ifndef SR_MODEL_FEED_H
#define SR_MODEL_FEED_H

#include "model/model.h"

typedef struct sr_told_t {
    const char *type;   /* "signer.signed" */
    const char *signer; /* uuid, or NULL */
    json_t *detail;     /* an object that belongs to the pool, or NULL */
    const char *mark;   /* SR_FEED_MARK hexadecimal digits */
} sr_told_t;

#define SR_FEED_MARK 8
/* Appends what the feed tells of an event of a submission (sr_told_t): nothing, one or two events. `hash` is the
 * event's. */
void sr_feed_tell(apr_array_header_t *told, const sr_event_t *event, const char *hash, apr_pool_t *pool);

/* Returns the id of an event; "0" for position 0, the cursor of a feed that never had an event. */
const char *sr_feed_id(apr_int64_t position, const char *mark, apr_pool_t *pool);
/* Parses an id. Returns false if the text is none. */
bool sr_feed_id_read(apr_int64_t *position, const char **mark, const char *text);
/* Returns NULL if the text is a list of types, separated by commas. Errors: SR_EBADREQUEST. */
sr_error_t *sr_feed_types_check(const char *text, apr_pool_t *pool);

extern const char *const sr_feed_types[]; /* all types, terminated by NULL (feed_types.def) */

#endif
