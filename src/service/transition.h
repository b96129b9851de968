/* SPDX-License-Identifier: Apache-2.0 */
/* step.h: what open.c, sign.c and refuse.c share: a step of a submission, from what was read of it to its commit. */
#ifndef SR_STEP_H
#define SR_STEP_H

#include "service/contents.h"

typedef struct sr_transition_t {
    sr_signing_t *signing; /* as it was read; then as it will be */
    const sr_client_t *client;
    apr_time_t now;
    int number;       /* of the last event */
    const char *hash; /* of the last event */
    json_t *events, *revisions;
    apr_array_header_t *contents; /* which it names */
    const char *folder;           /* where they are (sr_contents_folder), or NULL: nowhere */
    const char *kinds[3];         /* of the webhooks to call, in their order; then NULL */
    apr_pool_t *pool;
} sr_transition_t;

/* What one kind of transition does: checks, changes step->signing, adds events. It is called again if somebody else has
 * changed the submission in between. */
typedef sr_error_t *(*sr_transition_body_t)(const sr_service_t *service, sr_transition_t *step, void *baton);

/* Takes the submission lock, reads the submission again if it has changed since *signing was read, calls `body`, and
 * commits what that added, if anything. If somebody else has changed the submission in between, it begins again with
 * what is there then. *signing is then as it is now. */
sr_error_t *sr_transition_take(const sr_service_t *service, sr_signing_t **signing, const sr_client_t *client,
                               sr_transition_body_t body, void *baton, apr_pool_t *pool);
/* Adds an event, of a signer or (NULL) of nobody; `detail` (whose reference is taken over) may be NULL: nothing to
 * tell. */
void sr_transition_event(sr_transition_t *step, const char *signer, const char *kind, json_t *detail);
/* After the commit a webhook is to be called, if there is one: "signed", "refused", "completed". */
void sr_transition_notify(sr_transition_t *step, const char *kind);
/* That the signer has come, where it was not known yet: a signer who signs or refuses has opened the link. */
void sr_transition_open(sr_transition_t *step);

#endif
