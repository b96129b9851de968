/* SPDX-License-Identifier: Apache-2.0 */
/* listing.h: the answer to "signatures", as a worker gave it: what client.c reads for verify.c. Private to src/pdf. */
#ifndef SR_PDF_LISTING_H
#define SR_PDF_LISTING_H

#include "pdf/pdf.h"

typedef struct sr_pdf_listed_t {
    const char *field, *subfilter, *name, *reason, *contact, *time; /* printable; NULL: not told, but for `field` */
    apr_off_t range[4];
    bool has_range;
    int later;
    const char *fault;
    const char *const *changes, *const *filled; /* as in sr_pdf_found_t */
} sr_pdf_listed_t;

typedef struct sr_pdf_list_t {
    sr_pdf_verdict_t verdict;
    const char *reason;
    sr_pdf_listed_t *signatures;
    int count;
    const char *const *appended; /* what was changed after the last signature */
    bool validation;             /* data for the validation of signatures, and nothing else, was added there */
} sr_pdf_list_t;

/* ------------------------------------------------------------------------------------------------ client.c */
/* Asks a worker. A document that kills or outlasts one is SR_PDF_REFUSED. */
sr_error_t *sr_pdf_list(sr_pdf_list_t *list, sr_pdf_pool_t *workers, int descriptor, apr_pool_t *pool);
/* A worker has read hostile bytes, so its words are shown to nobody unless they look like ours. */
bool sr_pdf_is_plain(const char *text);

/* ----------------------------------------------------------------------------------------------- listing.c */
/* Reads the answer into an sr_pdf_list_t; false if it is not a valid answer. */
bool sr_pdf_list_read(void *list, const json_t *response, apr_pool_t *pool);

#endif
