/* SPDX-License-Identifier: Apache-2.0 */
/* private.h: what use cases share. For src/service alone. */
#ifndef SR_SERVICE_PRIVATE_H
#define SR_SERVICE_PRIVATE_H

#include "service/setup.h"

/* ------------------------------------------------------------------------------------------------- call.c */
/* The error of an outcome; NULL for SR_OK, SR_REPLAY and SR_STALE. */
sr_error_t *sr_service_refusal(sr_outcome_t outcome, apr_pool_t *pool);
/* After the commit of what may have an event for webhooks. */
void sr_service_wake(const sr_service_t *service);
/* The same for the work on the documents of one submission: the questions may have the same helper, which may have
 * answered other requests of that scope (sr_pdf_pool_for_request). Ends with the pool. */
sr_service_t sr_service_for_request(const sr_service_t *service, const char *scope, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- receive.c */
typedef struct sr_upload_t {
    const char *name, *raw;  /* decoded, and as sent */
    bool declared_pdf;       /* its part said application/pdf, or no type: its content decides */
    sr_blob_writer_t *spool; /* ended */
    const char *sha256;
    apr_off_t size;
} sr_upload_t;
struct sr_uploads_t {
    sr_blobs_t *documents;     /* the folder the spools belong to */
    apr_array_header_t *files; /* sr_upload_t */
    apr_pool_t *pool;
};

/* ------------------------------------------------------------------------------------------------- meet.c */
/* The access_epoch of a signer's submission. */
sr_error_t *sr_service_access_epoch(const sr_service_t *service, apr_int64_t *epoch, const char *signer,
                                    apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- list.c */
/* Where a page begins, as the list operations of the store take it. */
typedef struct sr_list_place_t {
    int limit;             /* one row more than the page has: it says whether there is another page */
    const char *direction; /* "older" or "newer" */
    apr_time_t at;         /* 0: from the newest */
    apr_int64_t id;
} sr_list_place_t;
sr_error_t *sr_service_list_place(sr_list_place_t *place, const sr_list_query_t *query, apr_pool_t *pool);
/* A row of a list, as it is shown. */
typedef struct sr_list_item_t {
    const char *body; /* JSON text; NULL: the page has no room for it */
    apr_time_t at;    /* its place in the list */
    apr_int64_t id;
} sr_list_item_t;
/* The page of what an operation gave: sr_list_item_t, in the order in which it gave them. */
void sr_service_list_page(sr_list_result_t *page, const apr_array_header_t *items, const sr_list_place_t *place,
                          apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- uploads.c */
/* The pages of a document by its owner's report, or NULL if there is no report of this version. */
sr_error_t *sr_service_pages(sr_pages_t **pages, sr_blobs_t *documents, const char *sha256, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- recent.c */
/* A table of fixed size, for any number of threads; NULL when there is no memory. Keys are SHA-256 in hexadecimal, each
 * with a value of `value_size` bytes, which is copied. What is kept may be forgotten at any time. */
sr_recent_t *sr_recent_create(apr_size_t value_size, apr_pool_t *pool);
/* `recent` may be NULL: nothing is kept. */
bool sr_recent_get(sr_recent_t *recent, const char *digest, void *value);
void sr_recent_put(sr_recent_t *recent, const char *digest, const void *value);

/* ----------------------------------------------------------------------------------------- access_cache.c */
#define SR_ACCESS_OWNER_LENGTH 16
typedef struct sr_access_t {
    char owner[SR_ACCESS_OWNER_LENGTH + 1];
    apr_int64_t epoch; /* the submission's access_epoch */
} sr_access_t;
/* Whether something is known. If it is not *current, it has to be compared with the epoch in the database. `digest`: of
 * who asks, and for what; `document`: the uuid of what is asked for. `cache` may be NULL: nothing is kept. */
bool sr_access_cache_get(sr_access_cache_t *cache, sr_access_t *access, bool *current, const char *digest,
                         const char *document, apr_time_t now);
/* `count`: sr_standing_count before the database was asked. */
void sr_access_cache_put(sr_access_cache_t *cache, const char *digest, const sr_access_t *access, apr_uint32_t count,
                         apr_time_t now);

/* --------------------------------------------------------------------------------------------- standing.c */
/* Which version of a document (uuid) is current, and its owner as above, if that was found out in the last second and
 * no signature of it was committed on this machine since. `digest`: of who asks, and for what. `version`: room for
 * SR_SHA256_HEX_LENGTH characters and a NUL. `standing` may be NULL: nothing is kept. */
bool sr_standing_has(sr_standing_t *standing, const char *digest, const char *document, apr_time_t now, char *version,
                     char *owner);
/* `count`: sr_standing_count before the database was asked. */
void sr_standing_add(sr_standing_t *standing, const char *digest, apr_uint32_t count, apr_time_t now,
                     const char *version, const char *owner);
apr_uint32_t sr_standing_count(const char *document);
/* After the commit of what changed it, and before anybody is told. */
void sr_standing_changed(const char *document);

/* ----------------------------------------------------------------------------------------------- folder.c */
/* Before something is stored: the folder belongs to this database, or to nobody, and then it does from now on. Errors:
 * SR_EUNAVAILABLE. */
sr_error_t *sr_service_folder(const sr_service_t *service, sr_blobs_t *documents, apr_pool_t *pool);

#endif
