/* SPDX-License-Identifier: Apache-2.0 */
/* contents.h: the contents to which a creation or a transition will refer, and their keys. */
#ifndef SR_SERVICE_DOCUMENTS_CONTENTS_H
#define SR_SERVICE_DOCUMENTS_CONTENTS_H

#include "service/private.h"

typedef struct sr_content_t {
    const char *sha256;
    apr_off_t size;
    const char *bytes;    /* the content, for sr_contents_store, or NULL */
    bool stored;          /* it is stored already, so no key is reserved */
    const char *found;    /* the key under which it is stored, also if it gets a key; NULL: under any key */
    const char *key;      /* reserved for this request, or NULL */
    const char *replaces; /* the key under which it was stored, if its file is missing; or NULL */
} sr_content_t;

/* Makes an empty list of sr_content_t. A content must be in it only once. */
apr_array_header_t *sr_contents_make(apr_pool_t *pool);
/* Returns NULL if it is not in the list. */
sr_content_t *sr_contents_get(const apr_array_header_t *contents, const char *sha256);
/* Reserves keys for the contents that are not stored and have none. A key may be used only after that. */
sr_error_t *sr_contents_reserve(const sr_service_t *service, apr_array_header_t *contents, sr_blobs_t *blobs,
                                apr_pool_t *pool);
/* The same, and stores the contents from memory. */
sr_error_t *sr_contents_store(const sr_service_t *service, apr_array_header_t *contents, sr_blobs_t *blobs,
                              apr_pool_t *pool);
/* Returns the contents, or only those with a new key, as arguments of the store (sr_blob_arg_t). */
apr_array_header_t *sr_contents_blobs(const apr_array_header_t *contents, bool only_new, apr_pool_t *pool);
/* *key is NULL if this content is not stored, or if its file is missing. `owner` (sr_owner_of) is whose cached keys are
 * used. */
sr_error_t *sr_contents_find(const sr_service_t *service, const char **key, sr_blobs_t *blobs, const char *owner,
                             const char *sha256, apr_pool_t *pool);
/* Removes the cached key of a content, because a transaction has not found the content under it. */
sr_error_t *sr_contents_forget(const sr_service_t *service, sr_blobs_t *blobs, const char *owner, const char *sha256,
                               apr_pool_t *pool);
/* The uuid of the folder, for the argument "folder" beside "blobs". */
sr_error_t *sr_contents_folder(const char **folder, sr_blobs_t *blobs, apr_pool_t *pool);

#endif
