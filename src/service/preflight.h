/* SPDX-License-Identifier: Apache-2.0 */
/* prove.h: the files of a creation's documents, and whether they can be sealed; for create.c and uploads.c. */
#ifndef SR_PROVE_H
#define SR_PROVE_H

#include "service/private.h"

/* A file of the folder of documents: there already, or about to be. */
typedef struct sr_file_t {
    const char *sha256; /* NULL: there is no file */
    apr_off_t size;
    sr_blob_writer_t *spool; /* its content; NULL: only where it is stored */
    const sr_pages_t *pages;
    const char *key; /* of the blob that is stored, or NULL */
    bool stored;     /* with a report of its pages */
    bool changed;    /* and `pages` knows more than that says */
} sr_file_t;

/* A document: its upload, and what it is sealed as when the upload cannot be continued. */
typedef struct sr_files_t {
    sr_file_t upload, normalised;
    sr_pdf_pool_t *pdf; /* for all questions about it */
} sr_files_t;

typedef struct sr_intake_t {
    apr_time_t deadline;           /* later on no helper is asked */
    apr_array_header_t *documents; /* sr_document_t */
    apr_array_header_t *files;     /* sr_files_t, in the same order */
} sr_intake_t;

/* Begins an intake: the clock is running. */
void sr_intake_begin(sr_intake_t *intake, int count, apr_pool_t *pool);
/* The helpers for one document of it, which all end with the intake's time. They read documents of the caller's
 * organisation and environment only. */
sr_pdf_pool_t *sr_intake_helper(const sr_intake_t *intake, const sr_service_t *service, const sr_token_t *caller,
                                apr_pool_t *pool);
/* Once the helpers have been asked for long enough: SR_EBADREQUEST where the documents took the time, SR_EUNAVAILABLE
 * where they had to wait for it. */
sr_error_t *sr_intake_in_time(const sr_intake_t *intake, const char *name, apr_pool_t *pool);
/* SR_EBADREQUEST: a document of that name cannot be signed, for that reason. */
sr_error_t *sr_intake_refuse(const char *name, const char *reason, apr_pool_t *pool);

/* Proves that each document which has fields can be prepared for its signers, rewriting it if necessary; the
 * fields are then placed on that. What was proved is remembered by the files' pages. `signers` are resolved. */
sr_error_t *sr_intake_preflight(const sr_service_t *service, sr_intake_t *intake, apr_array_header_t *signers,
                                const sr_create_t *request, apr_pool_t *pool);

#endif
