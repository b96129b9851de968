/* SPDX-License-Identifier: Apache-2.0 */
/* service.h: the use cases, one file each; a use case owns its transaction. No httpd.h.
 *
 * Sections: call.c · authenticate.c · create.c · brand.c · submissions.c · verify.c · open.c ·
 * access_cache.c · standing.c · folder.c · show.c · sign.c · preview.c · refuse.c · tokens.c · webhooks.c ·
 * history.c · page.c · health.c
 *
 * Every function returns SR_EUNAUTHORIZED when the token (given as its SHA-256) is unknown, revoked or expired,
 * SR_ENOTFOUND for what is not in the caller's scope, SR_EUNAVAILABLE when database, disk or helper are away.
 * Results live in `pool`.
 */
#ifndef SR_SERVICE_H
#define SR_SERVICE_H

#include <apr_buckets.h>
#include <apr_file_io.h>

#include "model/model.h"

/* What a use case works with (setup.h). */
typedef struct sr_service_t sr_service_t;

/* ------------------------------------------------------------------------------------------------- call.c */
/* The SHA-256 of a bearer token (or NULL) as it was sent. Errors: SR_EUNAUTHORIZED if it is not of a token's form. */
sr_error_t *sr_service_token_hash(const char **token_hash, const char *token, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------- authenticate.c */
sr_error_t *sr_service_authenticate(const sr_service_t *service, sr_token_t **token, const char *token_hash,
                                    apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- receive.c
 * Files as they come in, one after the other. Each is hashed while it is written, to memory or to a file without a
 * name.
 */
typedef struct sr_uploads_t sr_uploads_t;
sr_error_t *sr_service_receive(const sr_service_t *service, sr_uploads_t **uploads, apr_pool_t *pool);
/* The next file begins. `name` as it was decoded, `raw` as it was sent; both NULL if it has no name. `declared_pdf`: it
 * was said to be application/pdf, or nothing was said. */
sr_error_t *sr_service_receive_begin(sr_uploads_t *uploads, const char *name, const char *raw, bool declared_pdf);
sr_error_t *sr_service_receive_data(sr_uploads_t *uploads, const void *data, apr_size_t length);
sr_error_t *sr_service_receive_end(sr_uploads_t *uploads);
int sr_service_received(const sr_uploads_t *uploads);
/* Lets go of memory and descriptors: now, not when a slow client has read the answer. */
void sr_service_receive_drop(sr_uploads_t *uploads);

/* ----------------------------------------------------------------------------------------------- create.c */
typedef struct sr_create_t {
    const char *token_hash;
    const sr_token_t *caller; /* of sr_service_authenticate, before the body was read */
    sr_client_t client;
    const sr_uploads_t *uploads;
    const char *name, *signers; /* NULL: the part was not there */
    apr_size_t signers_length;
    const char *skip_intro, *send_email; /* text of the parts, or NULL */
    const char *locale;                  /* the same: of signers who have no locale of their own */
    const char *caption;                 /* the same: of fields that have no caption of their own */
    const char *idempotency_key;         /* or NULL */
    sr_remarks_t *remarks;               /* on the form; the use case adds its own. Or NULL */
} sr_create_t;

/* Checks everything in the contract's order, stores documents, then the submission. *representation is the answer,
 * *uuid the submission's. Errors: SR_EBADREQUEST, SR_EFORBIDDEN (quota), SR_ECONFLICT (idempotency key), SR_ETOOMANY
 * (too many invitations). */
sr_error_t *sr_service_create(const sr_service_t *service, const char **uuid, const char **representation,
                              const sr_create_t *request, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ brand.c */
/* What mail shows of the theme: {"name"?, "logo"? (a URL), "accent"?, "onAccent"?}; the pool's. */
json_t *sr_service_brand(const sr_service_t *service, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- page.c
 * Keyset pages. A cursor is opaque: direction, time and id of the row it starts from.
 */
typedef struct sr_list_query_t {
    int limit;          /* 1 to 100 */
    const char *cursor; /* or NULL for the newest */
} sr_list_query_t;

typedef struct sr_list_result_t {
    const apr_array_header_t *bodies; /* const char *, newest first */
    const char *next, *prev;          /* cursors, or NULL */
} sr_list_result_t;

/* ------------------------------------------------------------------------------------------ submissions.c */
/* The representation; rendered again, and stored if that is possible, when the stored one is of an older version. */
sr_error_t *sr_service_submission(const sr_service_t *service, const char **representation, const char *token_hash,
                                  const char *uuid, apr_pool_t *pool);

typedef struct sr_submission_filter_t {
    const char *status, *q;                   /* or NULL */
    apr_time_t created_after, created_before; /* or 0 */
} sr_submission_filter_t;
sr_error_t *sr_service_submissions(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                                   const sr_list_query_t *query, const sr_submission_filter_t *filter,
                                   apr_pool_t *pool);

typedef struct sr_download_t {
    const apr_array_header_t *blobs; /* sr_blob_t (blobs.h): to be read one after the other */
    const char *name, *sha256;
} sr_download_t;
/* Its content in buckets, with no end-of-stream bucket. */
apr_bucket_brigade *sr_service_brigade(const sr_download_t *download, apr_bucket_alloc_t *allocator, apr_pool_t *pool);
/* A document as it is now, or as it was uploaded. */
sr_error_t *sr_service_document(const sr_service_t *service, sr_download_t *download, const char *token_hash,
                                const char *submission_uuid, const char *document_uuid, bool original,
                                apr_pool_t *pool);
/* The certificate of completion. */
sr_error_t *sr_service_certificate(const sr_service_t *service, sr_download_t *download, const char *token_hash,
                                   const char *submission_uuid, apr_pool_t *pool);
/* The events as a JSON array. */
sr_error_t *sr_service_audit(const sr_service_t *service, json_t **events, const char *token_hash,
                             const char *submission_uuid, apr_pool_t *pool);
/* The same downloads, for who has them already. */
sr_error_t *sr_service_download(const sr_service_t *service, sr_download_t *download,
                                const sr_document_state_t *document, bool original, apr_pool_t *pool);
sr_error_t *sr_service_download_certificate(const sr_service_t *service, sr_download_t *download,
                                            const char *submission_name, const char *sha256, const char *key,
                                            apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- open.c
 * Signing: a caller who knows a signer's uuid is that signer. No token; SR_ENOTFOUND if there is no such link.
 */
/* The submission as the signer meets it. Changes nothing. */
sr_error_t *sr_service_signing(const sr_service_t *service, sr_signing_t **signing, const char *signer,
                               apr_pool_t *pool);
/* Reads it again, if it has changed since. */
sr_error_t *sr_service_signing_refresh(const sr_service_t *service, sr_signing_t **signing, apr_pool_t *pool);
/* The same, and it is recorded that the signer has opened it. */
sr_error_t *sr_service_signing_open(const sr_service_t *service, sr_signing_t **signing, const char *signer,
                                    const sr_client_t *client, apr_pool_t *pool);

/* Looks up the sizes of all pages (`boxes`), where they are known. */
sr_error_t *sr_service_signing_boxes(const sr_service_t *service, sr_signing_t *signing, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- folder.c */
typedef struct sr_health_t {
    const sr_error_t *database, *helper, *documents; /* NULL: well */
} sr_health_t;
/* For health: whether the database can be written, and documents be stored. Tried every five seconds. */
void sr_service_probe(const sr_service_t *service, sr_health_t *health, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- show.c */
typedef struct sr_show_t {
    const char *signer, *document; /* uuids */
    const char *version;           /* SHA-256 of the document as it is to be shown; NULL: as it is now */
    int page;                      /* from 0 */
    int width;                     /* one of sr_show_width; 0: not as an image, but what it says */
    bool png;                      /* of an image: PNG, even if JPEG suits the page */
    bool only_cached;              /* a page that the cache does not have is not made: `file` is NULL then */
} sr_show_t;
typedef struct sr_shown_t {
    apr_file_t *file; /* closed with the pool: an image, or the JSON of sr_pdf_text_t */
    const char *type; /* of its content; NULL: that depends on the file that was not made */
    apr_off_t size;
    const char *etag;
    const sr_error_t *uncached; /* NULL: the cache has it. Set with an error, too. */
} sr_shown_t;
/* A page for a signer. Errors: SR_ENOTFOUND for no link, no document, no page, and what never was a version of this
 * document; SR_ECONTENT, "Page {n} cannot be shown: {reason}". */
sr_error_t *sr_service_show(const sr_service_t *service, sr_shown_t *shown, const sr_show_t *show, apr_pool_t *pool);
/* The least width, of the few that there are, that is not less than this one (SR_SHOW_MIN_WIDTH to SR_SHOW_MAX_WIDTH).
 */
#define SR_SHOW_MIN_WIDTH 16
#define SR_SHOW_MAX_WIDTH 4000
int sr_show_width(int wanted);

/* ------------------------------------------------------------------------------------------------- sign.c */
/* Seals all documents on which the signer has fields; *signing as it was read, then as it is now. When it returns
 * without an error all is durable; with one nothing has changed. The signer accepted `consent`. Errors: SR_ECONFLICT
 * when the signer has signed or refused already, or another has refused; SR_EBADREQUEST if a signature cannot be drawn;
 * SR_EUNAVAILABLE when it cannot be sealed now. */
sr_error_t *sr_service_sign(const sr_service_t *service, sr_signing_t **signing, const sr_client_t *client,
                            const sr_signature_t *signature, const sr_consent_t *consent, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- preview.c */
/* How the signature will look, and the captions of the signer's fields if they signed now. `client` and `language` are
 * as in sr_captions_t. Errors: SR_ECONFLICT for who cannot sign any more, SR_EUNAVAILABLE. */
typedef struct sr_preview_t {
    const char *reason;                /* NULL: there is a drawing; else a sentence for the signer */
    const apr_array_header_t *unknown; /* with a reason: characters (const char *) that cannot be drawn. Or NULL */
    const char *drawing;               /* JSON for the page (sr_pdf_preview_t) */
    apr_size_t length;
} sr_preview_t;
sr_error_t *sr_service_preview(const sr_service_t *service, sr_preview_t *preview, const sr_signing_t *signing,
                               const sr_signature_t *signature, const sr_client_t *client,
                               const sr_language_t *language, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- refuse.c */
/* `reason` may be NULL. Errors: SR_ECONFLICT as above, SR_EBADREQUEST for a reason that is too long. */
sr_error_t *sr_service_refuse(const sr_service_t *service, sr_signing_t **signing, const sr_client_t *client,
                              const char *reason, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- verify.c */
typedef struct sr_verify_t {
    const char *token_hash;
    sr_environment_t environment; /* of the caller */
    const sr_uploads_t *uploads;  /* the document */
} sr_verify_t;
/* *answer (the caller's reference) is the object of sr_pdf_verification_json with "sha256", "size", "known" (these
 * very bytes are the caller's: see SR_OP_DOCUMENT_KNOWN), "submission" (uuid or null) and "document" ({"uuid","name"}
 * or null). Nothing is stored. Errors: SR_EBADREQUEST when signatures cannot be looked for, with the reason. */
sr_error_t *sr_service_verify(const sr_service_t *service, json_t **answer, const sr_verify_t *request,
                              apr_pool_t *pool);

/* The same for anybody: `token_hash` and `environment` are not looked at, and nothing is said of whether these bytes
 * are known here. *answer is the pool's: sr_pdf_verification_json of all conclusions, with "sha256", "size", "finding"
 * (the conclusion, or "validation": extended by data for validation alone; "incomparable": unchecked because changes
 * cannot be told; "encrypted", "refused": unreadable) and, in each signature, "environment" of the seal that made it,
 * or null. */
sr_error_t *sr_service_verify_public(const sr_service_t *service, json_t **answer, const sr_verify_t *request,
                                     apr_pool_t *pool);
/* Before its body is read: at most a quarter and four more of the threads that may make pages do this. SR_EUNAVAILABLE
 * if there are too many. The visit ends with `pool`, or by sr_service_verify_leave. */
typedef struct sr_pdf_visit_t sr_verify_visit_t;
sr_error_t *sr_service_verify_enter(const sr_service_t *service, sr_verify_visit_t **visit, apr_pool_t *pool);
void sr_service_verify_leave(sr_verify_visit_t *visit);

/* ----------------------------------------------------------------------------------------------- tokens.c */
/* *secret is shown once. `name` was checked by the caller; expires_at 0: never, or as long as `max_token_age` allows.
 * Errors: SR_EBADREQUEST when expires_at is later than that. */
sr_error_t *sr_service_token_create(const sr_service_t *service, sr_token_t **token, const char **secret,
                                    const char *token_hash, const char *name, apr_time_t expires_at, apr_pool_t *pool);
sr_error_t *sr_service_token(const sr_service_t *service, sr_token_t **token, const char *token_hash, const char *uuid,
                             apr_pool_t *pool);
sr_error_t *sr_service_tokens(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                              const sr_list_query_t *query, apr_pool_t *pool);
/* `children`: all tokens that it made, directly or through others, end too. */
sr_error_t *sr_service_token_revoke(const sr_service_t *service, const char *token_hash, const char *uuid,
                                    bool children, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- webhooks.c */
/* `kind` is "sent", "signed" or "completed"; NULL `url` removes it. Errors: SR_EBADREQUEST, "url is invalid: …". */
sr_error_t *sr_service_webhook_set(const sr_service_t *service, const char *token_hash, const char *kind,
                                   const char *url, apr_pool_t *pool);
/* The same for any token of the caller's user, organisation and environment, revoked or not. `urls` as in store.h: a
 * member for each URL to change. *token is the token after that. */
sr_error_t *sr_service_token_webhooks(const sr_service_t *service, sr_token_t **token, const char *token_hash,
                                      const char *uuid, const json_t *urls, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- history.c */
typedef struct sr_history_filter_t {
    const char *event, *submission, *success; /* a kind, a uuid, "true" or "false"; or NULL */
} sr_history_filter_t;
/* Bodies are what the API shows of each (sr_delivery_representation), newest first. */
sr_error_t *sr_service_history(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                               const sr_list_query_t *query, const sr_history_filter_t *filter, apr_pool_t *pool);
/* Calls once more; *delivery is what the API shows of the new call. Errors: SR_ECONFLICT when there is no URL for it
 * now, SR_ETOOMANY. */
sr_error_t *sr_service_redeliver(const sr_service_t *service, const char **delivery, const char *token_hash,
                                 const char *event_id, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- health.c */
void sr_service_health(const sr_service_t *service, sr_health_t *health, apr_pool_t *pool);

#endif
