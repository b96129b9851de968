/* SPDX-License-Identifier: Apache-2.0 */
/* transition.h: a transition of a submission, from reading to commit. For open.c, sign.c, refuse.c, cancel.c, extend.c,
 * expire.c, replace.c, remind.c, admit.c, identify.c, erase.c, legal_hold.c and archive.c. */
#ifndef SR_SERVICE_SUBMISSIONS_TRANSITION_H
#define SR_SERVICE_SUBMISSIONS_TRANSITION_H

#include "service/documents/contents.h"
#include "service/submissions/submission_lock.h"

/* The deadline is checked in the transaction, by the database's clock. */
typedef enum sr_deadline_t {
    SR_DEADLINE_BEFORE, /* the submission must not be over its deadline */
    SR_DEADLINE_AFTER   /* it must be over its deadline */
} sr_deadline_t;

/* When an open submission needs a job: at its deadline, and for its next automatic reminder. 0: it does not. */
typedef struct sr_times_t {
    apr_time_t expiry, remind;
} sr_times_t;

typedef struct sr_transition_t {
    sr_signing_t *signing; /* as it was read, then as `body` changes it */
    sr_submission_lock_t lock;
    const sr_client_t *client;
    apr_time_t now;
    int number;                             /* of the last event */
    const char *hash;                       /* of the last event */
    apr_array_header_t *events, *revisions; /* sr_event_arg_t, sr_revision_arg_t */
    apr_array_header_t *told;               /* const char *: the kinds of the events */
    apr_array_header_t *contents;           /* sr_content_t, to which it refers */
    const char *folder;                     /* the uuid of their folder (sr_contents_folder), or NULL */
    const char *kinds[3];                   /* the webhooks to call, in their order, terminated by NULL */
    apr_array_header_t *changed;            /* sr_signer_t *: the signers whose rows change */
    apr_array_header_t *ended;              /* sr_ended_arg_t: the signers whose sessions end */
    apr_array_header_t *feed;               /* sr_told_t: what the feed tells of the events */
    apr_array_header_t *seen;               /* sr_viewer_change_arg_t: the viewers whose rows change */
    json_t *jobs;                           /* other jobs to write, rows of the store ("webhook" in store.h) */
    const sr_replacement_arg_t *replaced;   /* a signer who replaces another one, or NULL */
    json_t *erased;           /* the SHA-256 of all that is erased with the submission (store.h), or NULL */
    apr_array_header_t *sent; /* of a draft that is sent, which counts against the quota: sr_sent_arg_t; or NULL */
    const char *hold_reason;  /* of a legal hold that begins, or NULL */
    sr_deadline_t deadline;   /* where the time of the commit must lie */
    apr_time_t stamped_until; /* when the certificate of a new document timestamp ends; 0: there is none */
    apr_time_t remind_at;     /* when the next automatic reminder is due; 0: as the records say */
    sr_times_t before;        /* as the records were read */
    apr_pool_t *pool;
} sr_transition_t;

/* One kind of transition: it checks and changes transition->signing, and adds events. It is called again if the
 * submission was changed by another request in between. */
typedef sr_error_t *(*sr_transition_body_t)(const sr_service_t *service, sr_transition_t *transition, void *baton);

/* Takes the submission lock, reads the submission again if it has changed since *signing was read, calls `body`, and
 * commits the transition if it has events. If another request has changed the submission in between, everything
 * begins again with the new state. *signing is then the committed state. */
sr_error_t *sr_transition_take(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                               const sr_client_t *client, sr_transition_body_t body, void *baton, apr_pool_t *pool);
/* Reads the submission into *signing and takes the transition. */
sr_error_t *sr_transition_run(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                              const sr_client_t *client, sr_transition_body_t body, void *baton, apr_pool_t *pool);
/* The transition that deletes a submission (tombstone.c). */
sr_error_t *sr_tombstone_take(const sr_service_t *service, sr_transition_t *transition, void *baton);
/* Returns NULL if a transition of a job failed because the submission was deleted meanwhile. */
sr_error_t *sr_transition_error(sr_error_t *error);
/* Writes a signer's row with this transition. */
void sr_transition_change(sr_transition_t *transition, sr_signer_t *signer);
/* Ends the sessions of a signer whose identity was checked (session.c), also those that they may still get. */
void sr_transition_end_sessions(sr_transition_t *transition, const sr_signer_t *signer);
/* The transition is also possible after the deadline of a submission that is a draft, or closed: its links stay in use.
 */
void sr_transition_ignore_deadline(sr_transition_t *transition);
/* Makes the signers due who come next, and invites them. */
void sr_transition_due(const sr_service_t *service, sr_transition_t *transition);
/* Invites a signer, if the request asks for mail. */
void sr_transition_invite(const sr_service_t *service, sr_transition_t *transition, const sr_signer_t *signer);
/* Adds a revision to a document: `bytes` are appended, which makes the document the one with the hash `whole_sha256`.
 * The bytes must stay until they are stored. `archives`: it is a document timestamp and no signature. Returns what the
 * event says of it (uuid, before, after). New reference. */
json_t *sr_transition_revise(const sr_transition_t *transition, sr_document_state_t *document, const void *bytes,
                             apr_size_t length, const char *whole_sha256, bool archives);
/* Adds an event. `signer` is NULL if the event is not of a signer. `detail` may be NULL, and its reference is
 * stolen. */
void sr_transition_event(sr_transition_t *transition, const char *signer, const char *kind, json_t *detail);
/* Adds an event of the feed that is not an event of the submission. It follows the last one that was added. `detail`
 * belongs to the pool. */
void sr_transition_tell(sr_transition_t *transition, const char *type, const char *signer, json_t *detail);
/* Returns events of the feed (sr_told_t) as rows of the store (sr_feed_arg_t). feed_rows.c */
apr_array_header_t *sr_feed_rows(const apr_array_header_t *told, apr_pool_t *pool);
/* Adds a webhook that is called after the commit if the token has a URL: "sent", "signed", "refused", "completed". */
void sr_transition_notify(sr_transition_t *transition, const char *kind);
/* Records that the signer has opened the link, if that is not recorded yet. A signer who signs or refuses has opened
 * it. */
void sr_transition_open(sr_transition_t *transition);

#endif
