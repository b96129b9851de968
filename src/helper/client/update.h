/* SPDX-License-Identifier: Apache-2.0 */
/* update.h: requests whose results are updates of a document, and the checks of these results, for the files of
 * src/helper/client.
 *
 * Sections: confirm.c · update.c · fill.c
 */
#ifndef SR_HELPER_CLIENT_UPDATE_H
#define SR_HELPER_CLIENT_UPDATE_H

#include "helper/check/appended.h"
#include "helper/client/worker.h"

/* --------------------------------------------------------------------------------------------- confirm.c */
/* Check the answer of a worker. If it is refused, they set the fault and write the reason to the log. */
void sr_pdf_check_prepared(sr_pdf_update_t *update, sr_pdf_pool_t *workers, apr_off_t size,
                           const apr_array_header_t *fields, apr_pool_t *pool);
/* The update with the fields of all signers, as it is in the document. */
typedef struct sr_pdf_prepared_t {
    const char *why; /* NULL, or the reason why it is no such update */
    sr_pdf_appended_t appended;
} sr_pdf_prepared_t;
/* `prepared` is decrypted. */
sr_error_t *sr_pdf_check_filled(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                                const sr_pdf_signature_t *signature, sr_pdf_prepared_t *prepared, sr_pdf_dss_t *dss,
                                const char *time, apr_pool_t *pool);
sr_error_t *sr_pdf_prepared_read(sr_pdf_prepared_t *prepared, int descriptor, const sr_pdf_signature_t *signature,
                                 apr_pool_t *pool);
/* Refuses an update. The log gets the reason `why`, and the caller a general one. */
void sr_pdf_refuse(sr_pdf_fault_t *fault, const char **reason, sr_pdf_pool_t *workers, const char *op, const char *why,
                   apr_pool_t *pool);

/* -------------------------------------------------------------------------------------------- update.c */
typedef struct sr_pdf_response_t {
    apr_size_t room;   /* size limit of the result */
    bool has_contents; /* the result has room for a CMS */
    bool goes_on;      /* the HTTP request keeps another worker meanwhile */
    apr_size_t asked;  /* as in sr_pdf_request_t: the length of the request */
    sr_pdf_fault_t fault;
    const char *reason;
    apr_size_t length, contents;
    sr_cipher_t cipher;
} sr_pdf_response_t;
/* Sends a request whose result is a document or an update. If no worker could answer it, the fault is that of the
 * document. The caller sets the first four members. */
sr_error_t *sr_pdf_ask(sr_pdf_response_t *response, sr_pdf_output_t *output, sr_pdf_pool_t *workers, const char *op,
                       const char *text, int descriptor, apr_pool_t *pool);
/* Does the same, and reads the result, which is small enough for memory. */
sr_error_t *sr_pdf_ask_for_bytes(sr_pdf_response_t *response, unsigned char **bytes, sr_pdf_pool_t *workers,
                                 const char *op, const char *text, int descriptor, apr_pool_t *pool);
/* A request for an update with room for a CMS. */
typedef struct sr_pdf_asked_t {
    const char *op, *text;
    apr_size_t length; /* as in sr_pdf_request_t */
    int descriptor;
    apr_off_t size;
    apr_size_t room; /* bytes that are reserved for the CMS */
} sr_pdf_asked_t;
/* Asks for the update, and checks its byte ranges. */
sr_error_t *sr_pdf_revision_ask(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, const sr_pdf_asked_t *asked,
                                apr_pool_t *pool);
/* Asks a worker that has read no document for the same update. The update is refused if the bytes are not the same. */
sr_error_t *sr_pdf_revision_confirm(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, const sr_pdf_asked_t *asked,
                                    apr_pool_t *pool);
/* Computes the digest that is signed, and the SHA-256 of the document before. The document is only read if one of these
 * is not known yet. */
sr_error_t *sr_pdf_revision_digest(sr_pdf_revision_t *revision, const sr_pdf_asked_t *asked, const char *hash,
                                   const sr_sha256_t *known, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ fill.c */
/* Makes a request about fields: {"op":op,"fields":[…]}, and adds the contents of entries. `pool` owns the reference. */
json_t *sr_pdf_fields_json(const char *op, const apr_array_header_t *fields, apr_array_header_t *contents,
                           apr_pool_t *pool);

#endif
