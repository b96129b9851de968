/* SPDX-License-Identifier: Apache-2.0 */
/* private.h: shared by the use cases. Only files of src/service include it. */
#ifndef SR_SERVICE_PRIVATE_H
#define SR_SERVICE_PRIVATE_H

#include "service/setup.h"

/* ------------------------------------------------------------------------------------------------- refusal.c */
/* Returns the error of an outcome; NULL for SR_OK, SR_REPLAY and SR_STALE. */
sr_error_t *sr_service_refusal(sr_outcome_t outcome, apr_pool_t *pool);
/* A copy of the service for the documents of one submission. Its requests to helpers may use the same worker, which
 * may have read documents for other requests of that scope (sr_pdf_pool_for_request). It ends with the pool. */
sr_service_t sr_service_for_request(const sr_service_t *service, const char *scope, apr_pool_t *pool);
/* The same for what an organisation has drawn: signatures, values and certificates. Its worker reads no document of a
 * caller. `owner`: see sr_owner_of. */
sr_service_t sr_service_for_drawing(const sr_service_t *service, const char *owner, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- wake.c */
/* Adds a job of the kind "expiry" or "remind" to an array of sr_timer_arg_t. 0: there is none any more. */
void sr_timer_add(apr_array_header_t *timers, const char *kind, apr_time_t due_at);
/* Wakes the job thread, after a commit that may have inserted a job. */
void sr_service_wake(const sr_service_t *service);
/* Wakes it if it should look before its next poll: after a commit with these arguments "webhooks" and "timers" of the
 * store. `webhooks` may be NULL. */
void sr_service_wake_for(const sr_service_t *service, const char *webhooks, const apr_array_header_t *timers);

/* ------------------------------------------------------------------------------------------ fingerprint.c */
/* Returns the fingerprint of a creation: everything that the caller sent, with the contents of the documents. */
const char *sr_fingerprint(const sr_create_t *request, const sr_submission_t *submission, apr_pool_t *pool);
/* Returns the error of a request whose fingerprint differs from that of the first request with its Idempotency-Key. */
sr_error_t *sr_fingerprint_conflict(const char *fingerprint, const char *first, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- receive.c */
typedef struct sr_upload_t {
    const char *name, *raw;  /* decoded, and as sent */
    bool declared_pdf;       /* the type of its part is application/pdf or missing; the content decides */
    sr_blob_writer_t *spool; /* ended */
    const char *sha256;
    apr_off_t size;
} sr_upload_t;
struct sr_uploads_t {
    sr_blobs_t *documents;     /* the folder of the spools */
    apr_array_header_t *files; /* sr_upload_t */
    apr_pool_t *pool;
};

/* ---------------------------------------------------------------------------------------------- subject.c */
/* The submission of a transition, and by what right it is read: the uuid of a signer or of a viewer, who has the link,
 * or of the link of a draft; or a caller's token and the uuid of one of their submissions; or, for the service itself,
 * that uuid alone. */
typedef struct sr_subject_t {
    const char *signer, *viewer, *token_hash, *submission, *placement;
    bool locks; /* the service itself takes the submission lock */
    bool asks;  /* the signer has yet to pass the check of their identity: the caller shows nothing that is behind it */
} sr_subject_t;
/* Reads it. Errors: SR_EUNCHECKED if a signer must pass the check of their identity first. */
sr_error_t *sr_service_subject(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                               apr_pool_t *pool);
/* Reads it again if it has changed since *signing was read. */
sr_error_t *sr_service_subject_refresh(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                                       apr_pool_t *pool);
/* Takes the row that the database has read of it (SR_OP_SIGNING_GET). For a signer this is the one place that decides
 * whether they may see it (session.c). */
sr_error_t *sr_service_subject_parse(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                                     const char *body, apr_pool_t *pool);
/* Returns the service for a request of this subject. Without a token the administrator acts, who knows no location:
 * links in mail begin with the base URL of the creation, which was set, because the submission sends mail. */
sr_service_t sr_service_for_subject(const sr_service_t *service, const sr_subject_t *subject,
                                    const sr_signing_t *signing);
/* Says in the detail of an event that the administrator has acted, if nobody's token has. */
void sr_subject_note(json_t *detail, const sr_subject_t *subject);

/* ---------------------------------------------------------------------------------------------- session.c */
/* Sets signing->identified. Errors: SR_EUNCHECKED. A signer who could see nothing anyway gets that error. */
sr_error_t *sr_session_require(const sr_service_t *service, sr_signing_t *signing, apr_pool_t *pool);
/* Returns a new secret of a session, or of a URL that begins one: 128 random bits in hexadecimal. */
const char *sr_session_make(apr_pool_t *pool);
/* Begins a session. *session is its secret, which is not stored. */
sr_error_t *sr_session_begin(const sr_service_t *service, const char **session, const char *signer, apr_pool_t *pool);
/* Returns NULL if the signer may sign or decline. Errors: SR_EUNCHECKED. */
sr_error_t *sr_session_may_act(const sr_signing_t *signing, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- admit.c */
/* Returns NULL if this service can make the check of a signer's identity (NULL: there is none). Errors:
 * SR_EUNAVAILABLE.
 */
sr_error_t *sr_authentication_check(const sr_service_t *service, const sr_authentication_t *authentication,
                                    apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- expire.c */
/* Expires a submission if its deadline is over by the database's clock. *again is set to the time until then if it is
 * not. */
sr_error_t *sr_service_expire_due(const sr_service_t *service, apr_interval_time_t *again, const char *uuid,
                                  apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- remind.c */
/* Returns the column `reminders` of a creation. The object belongs to the pool. */
json_t *sr_service_reminders(const sr_service_t *service, const sr_reminders_t *reminders, apr_pool_t *pool);
/* Sends the automatic reminders of a submission that are due by the database's clock. *again is set to the time until
 * the next one is due, unless its job was written. */
sr_error_t *sr_service_remind_due(const sr_service_t *service, apr_interval_time_t *again, const char *uuid,
                                  apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- reading.c */
/* Reads a submission. If it is open after its deadline, it is expired first. */
sr_error_t *sr_service_read(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                            apr_pool_t *pool);
/* The access_epoch of a submission whose pages are shown. */
sr_error_t *sr_service_access_epoch(const sr_service_t *service, apr_int64_t *epoch, const sr_show_t *show,
                                    apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- list.c */
/* A row of a list. */
typedef struct sr_list_item_t {
    const char *body; /* JSON text; NULL if it does not fit into the page */
    apr_time_t at;    /* its place in the list */
    apr_int64_t id;
} sr_list_item_t;
/* The beginning of a page of a list, as the arguments of a list operation of the store. */
typedef struct sr_list_place_t {
    int limit;             /* one row more than the page has, to detect whether there is another page */
    const char *direction; /* "older" or "newer" */
    apr_time_t at;         /* 0: begin with the newest */
    apr_int64_t id;
    const sr_list_item_t *end; /* the page ends here, although it has fewer rows; or NULL */
} sr_list_place_t;
sr_error_t *sr_service_list_place(sr_list_place_t *place, const sr_list_query_t *query, apr_pool_t *pool);
/* Makes a page of the rows of an operation: sr_list_item_t, in the order of the operation. */
void sr_service_list_page(sr_list_result_t *page, const apr_array_header_t *items, const sr_list_place_t *place,
                          apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- uploads.c */
/* Reads the pages of a document from its owner's report. *pages is NULL if there is no report of this version. */
sr_error_t *sr_service_pages(sr_pages_t **pages, sr_blobs_t *documents, const char *sha256, apr_pool_t *pool);

/* -------------------------------------------------------------------------------------------- page_keys.c */
/* Returns the owner in the keys of pages: a digest of organisation and environment. `owner`: the result of sr_owner_of.
 */
const char *sr_page_owner(const char *owner, apr_pool_t *pool);
/* Returns the beginning of the keys of all pages of a document in the cache. */
const char *sr_service_pages_begin(const char *sha256, const char *owner, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- bounded_cache.c */
/* Makes a bounded cache, a table of fixed size for any number of threads. Returns NULL if there is no memory. Keys
 * are SHA-256 in hexadecimal. A value has `value_size` bytes and is copied. Entries may be dropped at any time. */
sr_bounded_cache_t *sr_bounded_cache_create(apr_size_t value_size, apr_pool_t *pool);
/* `cache` may be NULL: then nothing is stored. */
bool sr_bounded_cache_get(sr_bounded_cache_t *cache, const char *digest, void *value);
void sr_bounded_cache_put(sr_bounded_cache_t *cache, const char *digest, const void *value);

/* ----------------------------------------------------------------------------------------- access_cache.c */
#define SR_ACCESS_OWNER_LENGTH 16
typedef struct sr_access_t {
    char owner[SR_ACCESS_OWNER_LENGTH + 1];
    apr_int64_t epoch; /* the submission's access_epoch */
} sr_access_t;
/* Returns true if there is an entry. If it is not *current, its epoch must be compared with the database. `digest`
 * is of the signer and what they request, `document` is the uuid of the document. `cache` may be NULL: then nothing
 * is stored. */
bool sr_access_cache_get(sr_access_cache_t *cache, sr_access_t *access, bool *current, const char *digest,
                         const char *document, apr_time_t now);
/* `count`: sr_version_cache_count before the database was asked. */
void sr_access_cache_put(sr_access_cache_t *cache, const char *digest, const sr_access_t *access, apr_uint32_t count,
                         apr_time_t now);

/* --------------------------------------------------------------------------------------------- version_cache.c */
/* Returns true, with the current version of a document (uuid) and its owner (as above), if an entry was made in the
 * last second and no change of the document was committed on this machine since. `digest` is as above. `version` has
 * room for SR_SHA256_HEX_LENGTH characters and a NUL. `cache` may be NULL: then nothing is stored. */
bool sr_version_cache_has(sr_version_cache_t *cache, const char *digest, const char *document, apr_time_t now,
                          char *version, char *owner);
/* `count`: sr_version_cache_count before the database was asked. */
void sr_version_cache_add(sr_version_cache_t *cache, const char *digest, apr_uint32_t count, apr_time_t now,
                          const char *version, const char *owner);
apr_uint32_t sr_version_cache_count(const char *document);
/* Called after the commit of a change, before it is reported to anybody. */
void sr_version_cache_changed(const char *document);

/* -------------------------------------------------------------------------------------------- key_cache.c */
/* Returns the key of an entry in the cache: of a content in a folder (its uuid), for an owner (sr_owner_of). */
const char *sr_key_cache_digest(const char *folder, const char *owner, const char *sha256, apr_pool_t *pool);
/* Returns the key under which the content was found, or NULL. `cache` may be NULL: then nothing is stored. */
const char *sr_key_cache_get(sr_key_cache_t *cache, const char *digest, apr_pool_t *pool);
/* `key` may be NULL: then the entry is removed. */
void sr_key_cache_put(sr_key_cache_t *cache, const char *digest, const char *key);

/* ----------------------------------------------------------------------------------------------- downloads.c */
/* Returns the name of the file of a document in its present revision, and of a certificate. */
const char *sr_download_name(const sr_document_state_t *document, apr_pool_t *pool);
const char *sr_certificate_name(const char *submission_name, apr_pool_t *pool);
/* Returns the keys (const char *) of a file that is one blob. */
apr_array_header_t *sr_download_single(const char *key, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- ownership.c */
/* storage.c: opens the storage of the documents. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_service_documents(sr_blobs_t **documents, const sr_service_t *service, apr_pool_t *pool);
/* Called before something is stored. Checks that the folder belongs to this database; a folder that belongs to none
 * becomes this database's. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_service_folder(const sr_service_t *service, sr_blobs_t *documents, apr_pool_t *pool);

#endif
