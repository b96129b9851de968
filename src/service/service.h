/* SPDX-License-Identifier: Apache-2.0 */
/* service.h: the use cases. Each has a file and owns its transaction. They do not depend on httpd.
 *
 * Sections: refusal.c · authenticate.c · create.c · theme_folder.c · templates.c · submissions.c · verify.c ·
 * describe.c · open.c · identify.c · login.c · send_code.c · access_cache.c · version_cache.c · ownership.c ·
 * page_image.c · sign.c · preview.c · refuse.c · cancel.c · extend.c · replace.c · remind.c · admit.c · tokens.c ·
 * token_use.c · webhooks.c · history.c · list.c · archive.c · health.c · choose.c
 *
 * Errors of every function: SR_EUNAUTHORIZED if the token (given as its SHA-256) is unknown, revoked or expired,
 * SR_ENOTFOUND if an object does not exist in the caller's scope, and SR_EUNAVAILABLE if the database, the disk or the
 * helper cannot be used. Results are allocated in `pool`.
 */
#ifndef SR_SERVICE_SERVICE_H
#define SR_SERVICE_SERVICE_H

#include <apr_buckets.h>
#include <apr_file_io.h>

#include "model/model.h"

/* The environment of a use case (setup.h). */
typedef struct sr_service_t sr_service_t;

/* ------------------------------------------------------------------------------------------------- refusal.c */
/* Notes that a request was made with this token, for `sigreqctl token list` (token_use.c). It need not be valid. */
void sr_service_token_used(const sr_service_t *service, const char *token_hash);
/* Sets *token_hash to the SHA-256 of a bearer token, which may be NULL. Errors: SR_EUNAUTHORIZED if the text has not
 * the form of a token. */
sr_error_t *sr_service_token_hash(const char **token_hash, const char *token, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------- authenticate.c */
sr_error_t *sr_service_authenticate(const sr_service_t *service, sr_token_t **token, const char *token_hash,
                                    apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- receive.c
 * Receives files, one after the other. Each is hashed while it is written to memory or to an unnamed file.
 */
typedef struct sr_uploads_t sr_uploads_t;
sr_error_t *sr_service_receive(const sr_service_t *service, sr_uploads_t **uploads, apr_pool_t *pool);
/* Begins the next file. `name` is the decoded name, `raw` the name as it was sent; both are NULL if the file has no
 * name. `declared_pdf`: its type is application/pdf or missing. */
sr_error_t *sr_service_receive_begin(sr_uploads_t *uploads, const char *name, const char *raw, bool declared_pdf);
sr_error_t *sr_service_receive_data(sr_uploads_t *uploads, const void *data, apr_size_t length);
sr_error_t *sr_service_receive_end(sr_uploads_t *uploads);
int sr_service_received(const sr_uploads_t *uploads);
/* Frees memory and descriptors now, instead of when a slow client has read the response. */
void sr_service_receive_drop(sr_uploads_t *uploads);

/* ----------------------------------------------------------------------------------------------- create.c */
typedef struct sr_create_t {
    const char *token_hash;
    const sr_token_t *caller; /* the result of sr_service_authenticate, before the body was read */
    sr_client_t client;
    const sr_uploads_t *uploads;
    const char *name, *signers; /* NULL if the part is missing */
    const char *template;       /* the uuid of a template instead of uploads, as it was sent; or NULL */
    apr_size_t signers_length;
    const char *skip_intro, *send_email, *draft; /* text of the parts, or NULL */
    const char *locale;                          /* the same: for signers without a locale of their own */
    const char *caption;                         /* the same: for fields without a caption of their own */
    const char *expires_at, *external_id, *metadata, *redirect_url; /* the same (model: life.c) */
    apr_size_t metadata_length;
    const char *reminders; /* the same (model: reminders.c) */
    apr_size_t reminders_length;
    sr_options_form_t options;   /* the same (model: options.c, viewers.c) */
    const char *idempotency_key; /* or NULL */
    sr_remarks_t *remarks;       /* on the form, or NULL. The use case adds its own */
} sr_create_t;

/* Checks the request in the contract's order, stores the documents, then the submission. *representation is the
 * response, *uuid that of the submission. Errors: SR_EBADREQUEST, SR_EFORBIDDEN (quota), SR_ECONFLICT (idempotency
 * key), SR_ETOOMANY (too many invitations). */
sr_error_t *sr_service_create(const sr_service_t *service, const char **uuid, const char **representation,
                              const sr_create_t *request, apr_pool_t *pool);
/* What a preview of a creation shows. */
typedef struct sr_preview_view_t {
    enum { SR_VIEW_JSON, SR_VIEW_PDF, SR_VIEW_PNG } form;
    int document, page, width; /* of an image: document and page from 0, and pixels */
    int grid;                  /* the distance of the lines of a grid, in points or percent; 0: no grid */
} sr_preview_view_t;
typedef struct sr_previewed_t {
    const char *representation; /* the response of the creation without uuids, links and times */
    apr_file_t *file;           /* the PDF or PNG; NULL for JSON */
    apr_off_t size;
} sr_previewed_t;
/* Makes the same checks and stores nothing. The Idempotency-Key is ignored. Errors: SR_EBADREQUEST. */
sr_error_t *sr_service_create_preview(const sr_service_t *service, sr_previewed_t *previewed,
                                      const sr_create_t *request, const sr_preview_view_t *view, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------- theme_folder.c */
/* Returns the path of a file of a theme's folder ("" or NULL: no theme), or NULL if it is missing. */
const char *sr_theme_file(apr_finfo_t *info, const char *folder, const char *name, apr_pool_t *pool);
/* Returns the URL of a file relative to <location>/sign/, with its modification time, so that browsers may cache it.
 * NULL if the file is missing. */
const char *sr_theme_url(const char *folder, const char *name, apr_pool_t *pool);
/* Sets *settings to the content of theme.json, or to NULL if it is missing. Fails if it is not a JSON object. */
sr_error_t *sr_theme_settings(json_t **settings, const char *folder, apr_pool_t *pool);
/* Returns the parts of the theme that mail shows: {"name"?, "logo"? (a URL), "accent"?, "onAccent"?}. The object
 * belongs to the pool. */
json_t *sr_service_theme(const sr_service_t *service, apr_pool_t *pool);
/* Returns logo.png of the theme in base64, for the certificate. NULL if it is missing or has more than 24,000 bytes. */
const char *sr_service_logo(const sr_service_t *service, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- list.c
 * Keyset pagination. A cursor is opaque: direction, time and id of the row after which the page begins.
 */
typedef struct sr_list_query_t {
    int limit;          /* 1 to 100 */
    const char *cursor; /* or NULL: begin with the newest */
} sr_list_query_t;

typedef struct sr_list_result_t {
    const apr_array_header_t *bodies; /* const char *, newest first */
    const char *next, *prev;          /* cursors, or NULL */
} sr_list_result_t;

/* -------------------------------------------------------------------------------------------- templates.c */
/* The templates of the caller's submissions. A template that was deleted is SR_ENOTFOUND. */
sr_error_t *sr_service_templates(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                                 const sr_list_query_t *query, apr_pool_t *pool);
/* *answer is a new reference. */
sr_error_t *sr_service_template(const sr_service_t *service, json_t **answer, const char *token_hash, const char *uuid,
                                apr_pool_t *pool);
/* Deletes it. Its submission, and those that were made from it, stay. */
sr_error_t *sr_service_template_delete(const sr_service_t *service, const char *token_hash, const char *uuid,
                                       apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------ submissions.c */
typedef struct sr_shown_submission_t {
    const char *representation; /* NULL if `known` has its tag */
    const char *tag;            /* changes whenever the representation changes */
} sr_shown_submission_t;
/* Reads the representation. If the stored one is of an older version, it is rendered again, and stored if that is
 * possible. `known` is an If-None-Match header, or NULL. If an entity-tag in it begins with the tag and "-", the
 * representation is not read. */
sr_error_t *sr_service_submission(const sr_service_t *service, sr_shown_submission_t *shown, const char *token_hash,
                                  const char *uuid, const char *known, apr_pool_t *pool);

typedef struct sr_submission_filter_t {
    const char *status;                                      /* of a signer or of the submission; or NULL */
    const char *q, *external_id;                             /* or NULL */
    apr_time_t created_after, created_before, updated_after; /* or 0 */
} sr_submission_filter_t;
sr_error_t *sr_service_submissions(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                                   const sr_list_query_t *query, const sr_submission_filter_t *filter,
                                   apr_pool_t *pool);

typedef struct sr_download_t {
    const apr_array_header_t *blobs; /* sr_blob_t (blobs.h), whose concatenation is the content */
    const char *name, *sha256;
} sr_download_t;
/* Returns the content in buckets, without an end-of-stream bucket. */
apr_bucket_brigade *sr_service_brigade(const sr_download_t *download, apr_bucket_alloc_t *allocator, apr_pool_t *pool);
/* A document with its present revisions, or as it was uploaded (`version` is "original"), or as the last signature has
 * left it ("signed"). */
sr_error_t *sr_service_document(const sr_service_t *service, sr_download_t *download, const char *token_hash,
                                const char *submission_uuid, const char *document_uuid, const char *version,
                                apr_pool_t *pool);
/* The certificate of completion. */
sr_error_t *sr_service_certificate(const sr_service_t *service, sr_download_t *download, const char *token_hash,
                                   const char *submission_uuid, apr_pool_t *pool);
/* The audit trail as the API shows it: {"submission", "events"}. It belongs to the pool. The first `most` events; 0:
 * all. Errors: SR_EGONE if the submission was deleted after those. */
sr_error_t *sr_service_audit(const sr_service_t *service, json_t **audit, const char *token_hash,
                             const char *submission_uuid, int most, apr_pool_t *pool);
/* The same downloads, for callers that have read the record already. */
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
/* The same, and records that the signer has opened the link. */
sr_error_t *sr_service_signing_open(const sr_service_t *service, sr_signing_t **signing, const char *signer,
                                    const sr_client_t *client, apr_pool_t *pool);

/* Sets the sizes of all pages (`boxes`) of the documents whose reports are known. */
sr_error_t *sr_service_signing_boxes(const sr_service_t *service, sr_signing_t *signing, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- ownership.c */
typedef struct sr_health_t {
    const sr_error_t *database, *helper, *documents, *seal; /* NULL if it works */
    const char *risk; /* why the database can lose committed data; NULL: it cannot, or did not answer */
} sr_health_t;
/* For the health check: tries to write to the database and to store a document. Results are reused for five seconds. */
void sr_service_probe(const sr_service_t *service, sr_health_t *health, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- page_image.c */
typedef struct sr_show_t {
    const char *signer, *viewer, *placement; /* the uuid of the link that is used; the others are NULL */
    const char *token_hash, *submission;     /* without a link: a caller and one of their submissions */
    const char *document;                    /* uuid */
    const char *version;                     /* SHA-256 of the document; NULL for the current version */
    int page;                                /* from 0 */
    int width;        /* of the image in pixels, one of sr_show_width; 0 for the text of the page */
    bool png;         /* the image must be a PNG, even if JPEG suits the page */
    bool only_cached; /* if the page is not in the cache, it is not made, and `file` is NULL */
} sr_show_t;
typedef struct sr_shown_t {
    apr_file_t *file; /* an image, or the JSON of sr_pdf_text_t; closed with the pool */
    const char *type; /* the media type; NULL if it depends on a file that was not made */
    apr_off_t size;
    const char *etag;
    const sr_error_t *uncached; /* why the page was not cached, or NULL. It is set with an error, too */
} sr_shown_t;
/* Shows a page. Errors: SR_ENOTFOUND if the link, the document, the page or this version of the document does not
 * exist; SR_ECONTENT, "Page {n} cannot be shown: {reason}". */
sr_error_t *sr_service_show(const sr_service_t *service, sr_shown_t *shown, const sr_show_t *show, apr_pool_t *pool);
/* Returns the least of the available widths that is not less than `wanted` (SR_SHOW_MIN_WIDTH to SR_SHOW_MAX_WIDTH).
 */
#define SR_SHOW_MIN_WIDTH 16
#define SR_SHOW_MAX_WIDTH 4000
int sr_show_width(int wanted);

/* ------------------------------------------------------------------------------------------------- sign.c */
/* What a signer sends to sign. */
typedef struct sr_signed_t {
    const sr_signature_t *signature;
    const sr_signature_t *initials; /* NULL: the first letters of the names are typed */
    const json_t *values;           /* of fields, by their numbers: {"3": "Engineer", "4": true}; or NULL */
    const sr_consent_t *consent;    /* what the signer accepted */
    const char *terms_url;          /* the page that was linked beside it, or "" */
} sr_signed_t;
/* Seals all documents on which the signer has fields. *signing is as it was read, and afterwards the new state. Without
 * an error everything is durable, and with an error nothing has changed. Errors: SR_ECONFLICT if the signer has signed
 * or refused already, or another signer has refused; SR_EBADREQUEST if a signature cannot be drawn, or with `fields` if
 * values are missing or wrong; SR_EUNAVAILABLE if documents cannot be sealed at the moment. */
sr_error_t *sr_service_sign(const sr_service_t *service, sr_signing_t **signing, const sr_client_t *client,
                            const sr_signed_t *what, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- preview.c */
/* Previews the signature and the captions of the signer's fields as they would be now. `client` and `language` are
 * as in sr_captions_t. Errors: SR_ECONFLICT if the signer cannot sign any more, SR_EUNAVAILABLE. */
typedef struct sr_preview_t {
    const char *reason;                /* why there is no drawing, a sentence for the signer; or NULL */
    const apr_array_header_t *unknown; /* the characters (const char *) that cannot be drawn, or NULL */
    const char *drawing;               /* JSON for the signing page (sr_pdf_preview_t) */
    apr_size_t length;
} sr_preview_t;
sr_error_t *sr_service_preview(const sr_service_t *service, sr_preview_t *preview, const sr_signing_t *signing,
                               const sr_signature_t *signature, const sr_client_t *client,
                               const sr_language_t *language, apr_pool_t *pool);

#define SR_PREVIEW_VALUES 20
/* Previews values of the signer's fields, {"3":"Engineer",…}. *answer, a new reference, is
 *   {"values":[{"number":3,"width":w,"height":h,"parts":[{"box":[left,top,width,height],"drawing":{…}},…]},…],
 *    "fields":[{"number","code","message"},…]}
 * with the size of the field and the boxes in points (sr_pdf_drawn_value_t), and with the values that are not accepted.
 * A field that the service fills in is shown as it would be today. `language`: of a signer without a locale. Errors: as
 * above, and SR_EBADREQUEST if there are more than SR_PREVIEW_VALUES values. */
sr_error_t *sr_service_preview_values(const sr_service_t *service, json_t **answer, sr_signing_t *signing,
                                      const json_t *values, const sr_client_t *client, const sr_language_t *language,
                                      apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- identify.c
 * The check of a signer's identity (model/authentication.h). These functions are the only ones that read a submission
 * for a signer who has not passed it.
 */
/* Reads it for the page that asks for the check, which must show nothing of the documents, of their names, of what the
 * sender has written or of other signers. Errors: SR_ENOTFOUND if the signer's identity is not checked. */
sr_error_t *sr_service_identity(const sr_service_t *service, sr_signing_t **signing, const char *signer,
                                apr_pool_t *pool);
/* A signer enters a code. *session is the secret of their session, which <location>/sign/<uuid>~<session> names.
 * Errors: SR_EFORBIDDEN if the code is not accepted. */
sr_error_t *sr_service_identify(const sr_service_t *service, const char **session, const char *signer,
                                const sr_client_t *client, const char *code, apr_pool_t *pool);

/* A signer comes by the URL that the caller has got for one visit (sr_service_admit). The request names its secret in
 * place of a session. */
sr_error_t *sr_service_visit(const sr_service_t *service, const char **session, const char *signer,
                             const sr_client_t *client, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ login.c
 * The check of signers who sign in at this server.
 */
/* *name names the signer in the URL of their login, for an hour. It opens nothing, so modules for logins may log it and
 * send it to other servers. Errors: SR_ENOTFOUND if this signer does not sign in. */
sr_error_t *sr_service_login_begin(const sr_service_t *service, const char **name, const char *signer,
                                   apr_pool_t *pool);
/* `user` has signed in, by `by` (such as "Basic", or NULL). *signer is set to the signer whom the name names, *session
 * as by sr_service_identify. Errors: SR_ENOTFOUND; SR_EFORBIDDEN if another user must sign in. */
sr_error_t *sr_service_login(const sr_service_t *service, const char **session, const char **signer, const char *name,
                             const char *user, const char *by, const sr_client_t *client, apr_pool_t *pool);

/* -------------------------------------------------------------------------------------------- send_code.c */
/* Sends the signer a code to enter. Errors: SR_ETOOMANY at a limit or while the check is locked, SR_ECONFLICT if the
 * signer's method needs no code that is sent, SR_EUNAVAILABLE, with retry_after if the code could not be delivered. */
sr_error_t *sr_service_send_code(const sr_service_t *service, const char *signer, const sr_client_t *client,
                                 apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- refuse.c */
/* `reason` may be NULL. Errors: SR_ECONFLICT as for sr_service_sign, SR_EBADREQUEST if the reason is too long. */
sr_error_t *sr_service_refuse(const sr_service_t *service, sr_signing_t **signing, const sr_client_t *client,
                              const char *reason, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- cancel.c
 * What the caller of the API does with one of their submissions. *representation is what it is afterwards. extend,
 * replace, remind and unlock are also for the administrator: caller->token_hash is NULL, and the service needs
 * `database`, `theme` and `sends_mail`. No lock is waited for, no limit of mail is counted, and the event says who has
 * acted.
 */
typedef struct sr_caller_t {
    const char *token_hash, *submission;
    sr_client_t client;
} sr_caller_t;
/* Withdraws an open submission; a submission that is cancelled already stays as it is. `reason` may be NULL. Errors:
 * SR_EBADREQUEST for a reason that is too long, SR_ECONFLICT if it is completed, refused or expired. */
sr_error_t *sr_service_cancel(const sr_service_t *service, const char **representation, const sr_caller_t *caller,
                              const char *reason, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- extend.c */
/* Changes the deadline (sr_deadline_read) of an open submission, or of a draft. 0: it has none. Errors: SR_ECONFLICT if
 * the submission is closed. */
sr_error_t *sr_service_extend(const sr_service_t *service, const char **representation, const sr_caller_t *caller,
                              apr_time_t expires_at, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- replace.c */
typedef struct sr_replace_t {
    const char *signer;   /* uuid */
    const json_t *person; /* the object that was sent: firstname, lastname, email, locale, authentication */
} sr_replace_t;
/* Puts another person in the place of a signer who has neither signed nor refused. They get a new link, and the old one
 * ends. Errors: SR_EBADREQUEST, SR_ENOTFOUND for no such signer, SR_ECONFLICT, SR_ETOOMANY (invitations). */
sr_error_t *sr_service_replace(const sr_service_t *service, const char **representation, const sr_caller_t *caller,
                               const sr_replace_t *request, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- remind.c */
/* Mails the copies of a completed submission again (copies.c). Errors: SR_ENOTFOUND, SR_ECONFLICT if there are none,
 * SR_ETOOMANY (within 10 minutes, and the limits of mail), SR_EUNAVAILABLE (the service sends no mail). */
sr_error_t *sr_service_copy(const sr_service_t *service, const char **representation, const sr_caller_t *caller,
                            apr_pool_t *pool);
/* Reminds a signer (uuid) by mail. Errors: SR_ENOTFOUND for no such signer, SR_ECONFLICT if they cannot be reminded,
 * SR_ETOOMANY (within 10 minutes after the last reminder, or the limits of mail), SR_EUNAVAILABLE if the service sends
 * no mail. */
sr_error_t *sr_service_remind(const sr_service_t *service, const char **representation, const sr_caller_t *caller,
                              const char *signer, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- admit.c */
/* Changes how the identity of a signer is checked. `value` is what was sent; null: it is not checked. Errors:
 * SR_EBADREQUEST, SR_ENOTFOUND for no such signer, SR_ECONFLICT if they have passed the check or signed,
 * SR_EUNAVAILABLE if this service cannot make this check. */
sr_error_t *sr_service_authentication_change(const sr_service_t *service, const char **representation,
                                             const sr_caller_t *caller, const char *signer, const json_t *value,
                                             apr_pool_t *pool);
/* Ends a lock after wrong codes. Errors: SR_ENOTFOUND for no such signer, SR_ECONFLICT if there is no lock. */
sr_error_t *sr_service_unlock(const sr_service_t *service, const char **representation, const sr_caller_t *caller,
                              const char *signer, apr_pool_t *pool);
typedef struct sr_admission_t {
    const char *signer, *ticket; /* <location>/sign/<signer>~<ticket>/visit works once */
    apr_time_t expires_at;
} sr_admission_t;
/* The caller has checked the identity of a signer. `words`: {"how","at","reference"?}, which become evidence. The URL
 * of an earlier call ends. Errors: SR_ENOTFOUND for no such signer, SR_ECONFLICT if the caller does not check them, or
 * if they can see nothing. */
sr_error_t *sr_service_admit(const sr_service_t *service, sr_admission_t *admission, const sr_caller_t *caller,
                             const char *signer, const json_t *words, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ erase.c */
/* Deletes a closed submission or a draft: erases documents, persons, addresses and whatever else is personal, and
 * leaves a tombstone with the chain of its events. caller->client is not used. caller->token_hash is NULL if the
 * service itself deletes it. The service needs `database`, and documents_root and cache_root for files; without
 * documents_root, files are left to sr_service_erase_rest. Errors: SR_ECONFLICT if it is open or under legal hold,
 * SR_EGONE if it was deleted before. */
sr_error_t *sr_service_erase(const sr_service_t *service, const sr_caller_t *caller, apr_pool_t *pool);
/* Removes the files of deleted submissions that are left because a process was killed. */
sr_error_t *sr_service_erase_rest(const sr_service_t *service, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- verify.c */
typedef struct sr_verify_t {
    const char *token_hash;
    sr_environment_t environment; /* of the caller */
    const sr_uploads_t *uploads;  /* the document */
} sr_verify_t;
/* Verifies a document. *answer (a new reference) is the object of sr_pdf_verification_json with "sha256", "size",
 * "known" (true if the caller has a document with this SHA-256: SR_OP_DOCUMENT_KNOWN), "submission" (uuid or null)
 * and "document" ({"uuid","name"} or null). Nothing is stored. Errors: SR_EBADREQUEST, with the reason, if the file
 * cannot be searched for signatures. */
sr_error_t *sr_service_verify(const sr_service_t *service, json_t **answer, const sr_verify_t *request,
                              apr_pool_t *pool);

/* describe.c: describes a document before a request is made. *answer is {"pages","fields","signatures","warnings"}, a
 * new reference. Errors: SR_EBADREQUEST if the document cannot be signed. */
sr_error_t *sr_service_inspect(const sr_service_t *service, json_t **answer, const sr_verify_t *request,
                               apr_pool_t *pool);

/* The same without a token: `token_hash` and `environment` are ignored, and the result does not say whether the
 * document is known. *answer belongs to the pool. It is sr_pdf_verification_json with all conclusions, and has
 * "sha256", "size", "finding" and, in each signature, "environment" of the seal that made it, or null. "finding" is
 * the conclusion or one of: "validation" (only validation data was appended), "incomparable" (unchecked, because
 * changes cannot be detected), "encrypted" and "refused" (the document cannot be read). */
sr_error_t *sr_service_verify_public(const sr_service_t *service, json_t **answer, const sr_verify_t *request,
                                     apr_pool_t *pool);
/* Called before the body is read. A quarter of the threads that may make pages, and four more, may verify at the
 * same time. Errors: SR_EUNAVAILABLE if there are more. The visit ends with `pool`, or by sr_service_verify_leave. */
typedef struct sr_pdf_visit_t sr_verify_visit_t;
sr_error_t *sr_service_verify_enter(const sr_service_t *service, sr_verify_visit_t **visit, apr_pool_t *pool);
void sr_service_verify_leave(sr_verify_visit_t *visit);

/* ----------------------------------------------------------------------------------------------- tokens.c */
/* *secret is not stored and can be shown only once. The caller has checked `name`. If expires_at is 0, the token
 * never expires, or with `max_token_age` after that time. Errors: SR_EBADREQUEST if expires_at is later than that. */
sr_error_t *sr_service_token_create(const sr_service_t *service, sr_token_t **token, const char **secret,
                                    const char *token_hash, const char *name, apr_time_t expires_at, apr_pool_t *pool);
sr_error_t *sr_service_token(const sr_service_t *service, sr_token_t **token, const char *token_hash, const char *uuid,
                             apr_pool_t *pool);
sr_error_t *sr_service_tokens(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                              const sr_list_query_t *query, apr_pool_t *pool);
/* `children`: all tokens that it made, directly or through others, are revoked too. */
sr_error_t *sr_service_token_revoke(const sr_service_t *service, const char *token_hash, const char *uuid,
                                    bool children, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- webhooks.c */
/* Sets a URL of the caller's token. `kind` is "sent", "signed" or "completed". If `url` is NULL, the URL is removed.
 * Errors: SR_EBADREQUEST, "url is invalid: …". */
sr_error_t *sr_service_webhook_set(const sr_service_t *service, const char *token_hash, const char *kind,
                                   const char *url, apr_pool_t *pool);
/* Sets URLs of any token of the caller's user, organisation and environment, revoked or not. `urls` has a member for
 * each URL to change (store.h). *token is the changed token. */
sr_error_t *sr_service_token_webhooks(const sr_service_t *service, sr_token_t **token, const char *token_hash,
                                      const char *uuid, const json_t *urls, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- history.c */
typedef struct sr_history_filter_t {
    const char *event, *submission, *success; /* a kind, a uuid, "true" or "false"; or NULL */
} sr_history_filter_t;
/* The bodies are representations of deliveries (sr_delivery_representation), newest first. */
sr_error_t *sr_service_history(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                               const sr_list_query_t *query, const sr_history_filter_t *filter, apr_pool_t *pool);
/* Makes a call with the event "test" to the URL of the token `caller` (the result of sr_service_authenticate) for
 * `event`: "sent", "signed", "refused" or "completed". *delivery is its representation. Errors: SR_ECONFLICT if there
 * is no URL, SR_ETOOMANY. */
sr_error_t *sr_service_webhook_test(const sr_service_t *service, const char **delivery, const char *token_hash,
                                    const sr_token_t *caller, const char *event, apr_pool_t *pool);
/* Messages about a redelivery, also of sigreqctl. */
#define SR_REDELIVERY_NO_URL "The token no longer has a webhook URL for this event"
#define SR_REDELIVERY_QUEUED "A redelivery of this event is already queued"
#define SR_REDELIVERY_RECENT "This event was delivered again a moment ago"
/* Repeats the delivery of an event. *delivery is the representation of the new one. Errors: SR_ECONFLICT if the
 * token has no URL for it now, SR_ETOOMANY. */
sr_error_t *sr_service_redeliver(const sr_service_t *service, const char **delivery, const char *token_hash,
                                 const char *event_id, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- archive.c */
typedef struct sr_archive_options_t {
    apr_interval_time_t renew; /* how long before the end of a timestamp it is renewed; 0: never */
    /* By sr_environment_t: the SHA-256 of the certificate whose proofs are added too. NULL: that of the child's seal,
     * if it has one. */
    const char *seals[2];
} sr_archive_options_t;
typedef struct sr_archived_t {
    bool archived;
    apr_interval_time_t again; /* it was not time: after this time it may be; 0: nothing is left to do */
} sr_archived_t;
/* Appends proofs and a document timestamp to each document of a completed submission. It is not time if the timestamps
 * that it has end later than in `renew`; if it was completed less than a day ago, and there are no complete proofs yet
 * that were made after that; if the proofs of the newest timestamps are not complete yet, until half of `renew` is
 * over; or if new timestamps would not end later than the old ones. The service must have timestamp authorities.
 * Errors: SR_ECONFLICT if the submission is not completed, SR_EUNAVAILABLE if a document gets no timestamp. */
sr_error_t *sr_service_archive(const sr_service_t *service, sr_archived_t *result, const char *uuid,
                               const sr_archive_options_t *options, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- health.c */
void sr_service_health(const sr_service_t *service, sr_health_t *health, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- choose.c */
/* The seal of production, for people who look after the service. */
typedef struct sr_seal_state_t {
    /* "ok"; "expiring": in less than 30 days; "expired", "revoked" or "unusable": nothing is sealed */
    const char *state;
    apr_time_t expires;      /* the end of its certificate; 0: unusable */
    bool watched;            /* proofs are collected */
    apr_time_t proven_until; /* when the first proof of its chain ends; 0: they are not complete */
} sr_seal_state_t;
void sr_service_seal_state(const sr_service_t *service, sr_seal_state_t *state, apr_pool_t *pool);
/* The own seals of organisations (SigreqOrganizationSeals), in numbers. */
typedef struct sr_own_seals_t {
    bool configured;
    int count, ok, expiring, revoked, unusable; /* `count` is the sum of the others */
} sr_own_seals_t;
void sr_service_own_seals(const sr_service_t *service, sr_own_seals_t *counted, apr_pool_t *pool);

#include "service/desk_users.h"
#include "service/drafts.h"
#include "service/feed.h"
#include "service/viewing.h"

#endif
