/* SPDX-License-Identifier: Apache-2.0 */
/* contents.h: contents that a creation or a transition is about to name, and the keys that they are stored under. */
#ifndef SR_CONTENTS_H
#define SR_CONTENTS_H

#include "service/private.h"

typedef struct sr_content_t {
    const char *sha256;
    apr_off_t size;
    const char *bytes;    /* of a content that is in memory (sr_contents_store), or NULL */
    bool stored;          /* already, so that no key is reserved */
    const char *key;      /* reserved for this request, or NULL */
    const char *replaces; /* the key under which it is stored already, if the file of that is missing; or NULL */
} sr_content_t;

/* An empty list of sr_content_t. Each content is in it once. */
apr_array_header_t *sr_contents_make(apr_pool_t *pool);
/* NULL if it is not in the list. */
sr_content_t *sr_contents_get(const apr_array_header_t *contents, const char *sha256);
/* Reserves keys, for those that are not stored and have none. Nothing may be stored under a key before that. */
sr_error_t *sr_contents_reserve(const sr_service_t *service, apr_array_header_t *contents, sr_blobs_t *blobs,
                                apr_pool_t *pool);
/* The same, and stores them from memory. */
sr_error_t *sr_contents_store(const sr_service_t *service, apr_array_header_t *contents, sr_blobs_t *blobs,
                              apr_pool_t *pool);
/* The member "blobs" of SR_OP_SUBMISSION_CREATE and SR_OP_SIGNING_CHANGE, a new reference. */
json_t *sr_contents_json(const apr_array_header_t *contents);
/* *key is NULL if this content is not stored. */
sr_error_t *sr_contents_find(const sr_service_t *service, const char **key, sr_blobs_t *blobs, const char *sha256,
                             apr_pool_t *pool);
/* The uuid of the folder: the member "folder" beside "blobs". */
sr_error_t *sr_contents_folder(const char **folder, sr_blobs_t *blobs, apr_pool_t *pool);

#endif
