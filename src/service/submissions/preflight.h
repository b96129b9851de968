/* SPDX-License-Identifier: Apache-2.0 */
/* preflight.h: the files of a creation's documents, and the check whether they can be sealed. For create.c and
 * uploads.c. */
#ifndef SR_SERVICE_SUBMISSIONS_PREFLIGHT_H
#define SR_SERVICE_SUBMISSIONS_PREFLIGHT_H

#include "service/private.h"

/* A file that is stored, or that will be stored. */
typedef struct sr_file_t {
    const char *sha256; /* NULL if there is no file */
    apr_off_t size;
    sr_blob_writer_t *spool; /* its content; NULL if only storage has it */
    const sr_pages_t *pages;
    const char *key; /* under which its blob was found, or NULL */
    bool stored;     /* the blob is stored and has a report */
    bool changed;    /* `pages` differs from that report */
} sr_file_t;

/* A document: its upload, and the rewritten document, which is sealed if nothing can be appended to the upload. */
typedef struct sr_files_t {
    sr_file_t upload, rewritten;
    const char *prepared; /* what is appended to it before anybody signs (sr_document_t.prepared), or NULL */
    sr_pdf_pool_t *pdf;   /* for all requests to helpers about it */
} sr_files_t;

typedef struct sr_preflight_t {
    apr_time_t deadline;           /* after this time (sr_time_steady) no request is sent to a helper */
    apr_array_header_t *documents; /* sr_document_t */
    apr_array_header_t *files;     /* sr_files_t, in the same order */
    const char *template;          /* the uuid of the template that has the documents and fields; or NULL */
    bool draft;                    /* signatures may be missing */
    const json_t *roles;           /* its fields (model: roles.c); NULL: its submission was deleted */
    sr_error_t *unless_replay;     /* the response if the request is no replay of its Idempotency-Key; or NULL */
} sr_preflight_t;

/* Begins an preflight. Its deadline counts from now. */
void sr_preflight_begin(sr_preflight_t *preflight, int count, apr_pool_t *pool);
/* Returns the helpers for one document, with the preflight's deadline. They read only documents of the caller's
 * organisation and environment. */
sr_pdf_pool_t *sr_preflight_helper(const sr_preflight_t *preflight, const sr_service_t *service,
                                   const sr_token_t *caller, apr_pool_t *pool);
/* Errors: SR_EBADREQUEST if the documents took too much processor time, SR_EUNAVAILABLE after the deadline, because the
 * requests waited for workers or for the processor. */
sr_error_t *sr_preflight_in_time(const sr_preflight_t *preflight, const char *name, apr_pool_t *pool);
/* Counts a document that is refused, for the metrics. */
void sr_preflight_count(const char *reason);
/* Makes an SR_EBADREQUEST: the document of that name cannot be signed, for that reason. Counts it as "unsignable". */
sr_error_t *sr_preflight_refuse(const char *name, const char *reason, apr_pool_t *pool);

/* Opens a document as it is sealed, after sr_preflight. */
sr_error_t *sr_preflight_open(int *descriptor, apr_off_t *size, const sr_preflight_t *preflight, int document,
                              const sr_create_t *request, apr_pool_t *pool);

/* Reads the form of each document whose existing fields get values. Call it before sr_signers_resolve. */
sr_error_t *sr_preflight_forms(const sr_preflight_t *preflight, const apr_array_header_t *signers,
                               const sr_create_t *request, apr_pool_t *pool);
/* Sets the descriptor of the content of a file. */
sr_error_t *sr_preflight_descriptor(int *descriptor, const sr_create_t *request, const sr_file_t *file,
                                    apr_pool_t *pool);
/* Writes the first `size` bytes of a file to a spool. */
sr_error_t *sr_preflight_append(sr_blob_writer_t *spool, int descriptor, apr_off_t size, apr_pool_t *pool);
/* Finds the texts at which fields are placed. Call it before sr_signers_resolve. */
sr_error_t *sr_preflight_texts(const sr_preflight_t *preflight, const apr_array_header_t *signers, int max_fields,
                               const sr_create_t *request, apr_pool_t *pool);
/* Prepares each document that has fields as a trial. A document to which nothing can be appended is rewritten, and
 * the fields are then placed on the rewritten document. The results are stored in the `pages` of the files.
 * `signers` must be resolved. Errors: SR_EBADREQUEST if a document cannot be signed. */
sr_error_t *sr_preflight(const sr_service_t *service, sr_preflight_t *preflight, apr_array_header_t *signers,
                         const sr_create_t *request, apr_pool_t *pool);

#endif
