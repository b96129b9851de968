/* SPDX-License-Identifier: Apache-2.0 */
/* listing.h: the response to "signatures" as a worker sent it. request.c reads it for verify.c. Private to src/helper.
 */
#ifndef SR_HELPER_CLIENT_LISTING_H
#define SR_HELPER_CLIENT_LISTING_H

#include "helper/pdf.h"

typedef struct sr_pdf_listed_t {
    const char *field, *subfilter, *name, *reason, *contact,
        *time; /* printable text; NULL if missing, except `field`, which is always set */
    apr_off_t range[4];
    bool has_range;
    int later;
    const char *fault;
    const char *const *changes, *const *filled; /* the same as in sr_pdf_found_t */
    const char *const *since; /* of a document timestamp after the last signature: the changes since then; or NULL */
} sr_pdf_listed_t;

/* A widget that a revision draws in another way than the one before. */
typedef struct sr_pdf_drawn_t {
    const char *field, *text; /* full name, and the text that names it */
    bool is_signature;
    bool covers;   /* of a signature: it hides something */
    apr_off_t end; /* of the revision before it */
} sr_pdf_drawn_t;

typedef struct sr_pdf_list_t {
    sr_pdf_verdict_t verdict;
    const char *reason;
    sr_pdf_listed_t *signatures;
    int count;
    sr_pdf_drawn_t *drawn;
    int drawn_count;
    const char *const *appended; /* what was changed after the last signature */
    bool validation;             /* only data for the validation of signatures was added there */
    bool locked;                 /* a field that a signature locks was changed there */
    json_t *proofs; /* its document security store, for sr_cms_ask; or NULL. It lives as long as the pool */
} sr_pdf_list_t;

/* ------------------------------------------------------------------------------------------------ request.c */
/* Asks a worker for the signatures of a document. If the document kills the worker or takes too long, the verdict is
 * SR_PDF_REFUSED. */
sr_error_t *sr_pdf_list(sr_pdf_list_t *list, sr_pdf_pool_t *workers, int descriptor, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- listing.c */
/* Reads the response into an sr_pdf_list_t. Returns false if it is not valid. */
bool sr_pdf_list_read(void *list, const json_t *response, apr_pool_t *pool);

#endif
