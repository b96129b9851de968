/* SPDX-License-Identifier: Apache-2.0 */
/* viewers.h: people who see a submission by a link and never sign it: viewers, and recipients of copies. Part of
 * model.h. */
#ifndef SR_MODEL_VIEWERS_H
#define SR_MODEL_VIEWERS_H

#include "model/options.h"

/* A person who sees the submission by a link and never signs it. */
typedef struct sr_viewer_t {
    const char *uuid;                          /* the secret of the link */
    bool is_copy;                              /* a recipient of a copy (copies.to), else one of `viewers` */
    bool when_completed;                       /* the link shows nothing before the submission is completed */
    const char *firstname, *lastname, *email;  /* a recipient of a copy has only an address */
    apr_time_t sent_at, opened_at, revoked_at; /* sent_at: since when the link is in use; of a copy, when it was mailed
                                                  last. 0: not yet */
} sr_viewer_t;

#define SR_VIEWERS_MAX 20
#define SR_COPY_LIFETIME apr_time_from_sec(APR_INT64_C(90) * 24 * 3600) /* of a link in a copy */

/* Reads the part `viewers` of a form (sr_options_form_t), and adds the recipients of copies who are no signers.
 * *viewers (sr_viewer_t) is NULL if there are none. They have new uuids. `sender` is the address of the caller. Errors:
 * SR_EBADREQUEST. */
sr_error_t *sr_viewers_read(const apr_array_header_t **viewers, const sr_sent_t *form, const sr_options_t *options,
                            const char *sender, apr_pool_t *pool);
/* Reads the viewers of a submission row. *viewers is NULL if it has none. Errors: SR_EINTERNAL. */
sr_error_t *sr_viewers_parse(const apr_array_header_t **viewers, const json_t *rows, apr_pool_t *pool);
/* Returns the path of a viewer's link, relative to the base URL. */
const char *sr_viewer_path(const sr_viewer_t *viewer, apr_pool_t *pool);
/* Returns true if the link of a viewer shows the submission at a time, by the database's clock. */
bool sr_viewer_may_see(const sr_viewer_t *viewer, const sr_submission_t *submission, apr_time_t now);

#endif
