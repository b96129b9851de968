/* SPDX-License-Identifier: Apache-2.0 */
/* setup.h: the members of the service, for the adapter that makes it and for the use cases. */
#ifndef SR_SERVICE_SETUP_H
#define SR_SERVICE_SETUP_H

#include "blobs/blobs.h"
#include "helper/pdf.h"
#include "service/service.h"
#include "settings/settings.h"
#include "store/store.h"
#include "authorities/proofs.h"
#include "authorities/timestamp.h"

/* A bounded cache of a process (bounded_cache.c). */
typedef struct sr_bounded_cache_t sr_bounded_cache_t;

/* The access cache of a process (access_cache.c). */
typedef sr_bounded_cache_t sr_access_cache_t;

/* The version cache of a process (version_cache.c). */
typedef sr_bounded_cache_t sr_version_cache_t;

/* The key cache of a process (key_cache.c). */
typedef sr_bounded_cache_t sr_key_cache_t;

/* The results of the checks of documents folders, in a process (ownership.c). */
typedef struct sr_folders_t sr_folders_t;

/* The objects that a child of httpd makes once, for all its requests. */
typedef struct sr_child_t {
    sr_pdf_pool_t *helpers;
    sr_folders_t *folders;                            /* or NULL: results are not stored */
    sr_access_cache_t *access;                        /* or NULL */
    sr_version_cache_t *versions;                     /* or NULL */
    sr_key_cache_t *keys;                             /* or NULL */
    sr_proof_cache_t *proofs;                         /* or NULL: revocation is not watched */
    const sr_cms_identity_t *seal[SR_PRODUCTION + 1]; /* by sr_environment_t; NULL: it cannot be used */
    const apr_array_header_t *own;                    /* own seals of organisations (sr_cms_own_t); or NULL */
    const apr_array_header_t *former; /* const sr_cms_certificate_t *: those that production had before */
    bool long_term;                   /* signatures get proofs, if there are timestamps and proofs */
    sr_timestamps_t *timestamps;      /* or NULL: signatures get no timestamps */
    const sr_cms_anchors_t *trust;    /* whom signatures of verified documents must lead to; or NULL */
    bool sends_mail;                  /* if false, sendEmail is refused */
    apr_interval_time_t draft_lifetime;
    /* Calls SigreqCodeHook with a JSON text, waits for its response for at most 10 s, and logs a failure. Returns true
     * if the response was 2xx. NULL: there is no hook. */
    bool (*code_hook)(const char *body, apr_pool_t *pool);
    /* Called with the number of a database after a commit that has inserted jobs which are due now or soon, so that the
     * job thread does not wait for its next poll. Or NULL. */
    void (*wake)(int database);
} sr_child_t;

/* The environment of a use case, made for each request. httpd merges the settings of a location for each request
 * (ap_location_walk), so no object of a location lives as long as a child. */
struct sr_service_t {
    const sr_child_t *child;
    const sr_settings_t *settings; /* of the location; NULL: the service needs none, has no theme and limits no mail */
    sr_store_source_t *database;
    const char *base_url;     /* the beginning of links to this location, without a slash at the end */
    const char *set_base_url; /* base_url if it is configured and not taken from the request, else NULL */
    sr_storage_t storage;
    const char *cache_root; /* a local folder */
    sr_pdf_pool_t *pdf;     /* that of the child, or one for the documents of one owner */
    const char *session;    /* the hash of the session that the request names (sr_session_hash); or NULL */
};

/* session.c: the number of hexadecimal digits of a session, and the hash by which the database finds it. */
#define SR_SESSION_LENGTH 32
const char *sr_session_hash(const char *session, apr_pool_t *pool);

/* The caches of a child. They are NULL if there is no memory. */
sr_access_cache_t *sr_access_cache_create(apr_pool_t *pool);
sr_version_cache_t *sr_version_cache_create(apr_pool_t *pool);
sr_key_cache_t *sr_key_cache_create(apr_pool_t *pool);
sr_folders_t *sr_folders_create(apr_pool_t *pool);
/* version_cache.c needs memory that all processes share: sr_version_cache_size bytes, initially 0. sr_version_cache_use
 * sets it.
 */
apr_size_t sr_version_cache_size(void);
void sr_version_cache_use(void *block);

/* For the job thread, when the database answers (token_use.c): ends leases that could not be ended before, and writes
 * which tokens were used today. */
void sr_service_answered(sr_store_source_t *database, apr_pool_t *pool);

/* For the job thread (timer.c): the work of a job of the kind "expiry" or "remind" for a submission. *again is the time
 * after which it must be done again, or 0. The service needs a database alone. */
sr_error_t *sr_service_timer(const sr_service_t *service, apr_interval_time_t *again, const char *kind,
                             const char *submission, apr_pool_t *pool);
/* For the job thread (retain.c): deletes submissions whose retention is over, a few at a time, and sets their number.
 * It continues at *at, and sets it for the next call; after the last one the next run begins. The files in folders are
 * left to sr_service_erase_rest. The service needs a database alone. It goes on after an error, and returns the last
 * one. */
sr_error_t *sr_service_retain(const sr_service_t *service, int *deleted, sr_retained_t *at,
                              const sr_retention_t *retention, apr_pool_t *pool);
/* For requests that read a submission (expire.c). Expires a submission whose deadline is over by the database's clock.
 * Nothing happens if it is not, or if the submission is closed or gone. The service needs a database alone. */
sr_error_t *sr_service_expire(const sr_service_t *service, const char *uuid, apr_pool_t *pool);

/* For the job thread (attachments.c): opens the files of a copy (sr_attachment_t). *files is NULL if they are larger
 * than SR_ATTACHED_MAX. Errors: SR_ENOTFOUND and SR_EGONE if there is no copy to send any more. The service needs a
 * database and the storage. */
sr_error_t *sr_service_attachments(const sr_service_t *service, const apr_array_header_t **files,
                                   const char *submission_uuid, apr_pool_t *pool);

/* For the job thread (archive.c). Does what sr_service_archive does for a job: it is not an error if the submission was
 * deleted. *again is that of the result. The service needs all that sr_service_archive needs. */
sr_error_t *sr_service_archive_due(const sr_service_t *service, apr_interval_time_t *again, const char *uuid,
                                   const sr_archive_options_t *options, apr_pool_t *pool);
/* Queues a job for each submission that is due (SR_OP_JOB_ARCHIVE). *due is their number. */
sr_error_t *sr_service_archive_queue(const sr_service_t *service, apr_int64_t *due, const sr_archive_options_t *options,
                                     apr_pool_t *pool);

/* For sigreqctl (cancel.c). Cancels a submission as the administrator, without waiting for the submission lock: if a
 * signer signs at the same time, the transition that commits first wins. The service needs a database alone. Cancelling
 * again is OK and changes nothing. Errors: SR_ENOTFOUND, SR_ECONFLICT if the submission is closed, SR_EBADREQUEST. */
sr_error_t *sr_service_withdraw(const sr_service_t *service, const char *submission, const char *reason,
                                apr_pool_t *pool);

/* subject.c, for sigreqctl: sets *uuids (const char *) to the signers of a submission with this email, or whose uuid
 * begins with these 8 characters; NULL: those whose turn it is. Errors: SR_ENOTFOUND, SR_EGONE. */
sr_error_t *sr_service_signers(const sr_service_t *service, apr_array_header_t **uuids, const char *submission,
                               const char *which, apr_pool_t *pool);

/* legal_hold.c, for sigreqctl: puts a submission under legal hold, or (`reason` is NULL) releases it. As above, this
 * waits for no lock. Errors: SR_ENOTFOUND, SR_ECONFLICT if it is held already, or not held, or deleted. */
sr_error_t *sr_service_hold(const sr_service_t *service, const char *submission, const char *reason, apr_pool_t *pool);

#endif
