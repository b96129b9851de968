/* SPDX-License-Identifier: Apache-2.0 */
/* contents.c: stores contents. Keys are reserved in the database, the contents are stored under them, and the
 * transaction that refers to them ends the reservations. If a collection was faster, that transaction is SR_STALE,
 * and everything is stored again under new keys. */
#include "service/documents/contents.h"

#include <string.h>

apr_array_header_t *sr_contents_make(apr_pool_t *pool)
{
    return apr_array_make(pool, 4, sizeof(sr_content_t));
}

/* `key` is a key or a SHA-256. */
sr_content_t *sr_contents_get(const apr_array_header_t *contents, const char *key)
{
    for (int i = 0; i < contents->nelts; i++) {
        sr_content_t *content = &APR_ARRAY_IDX(contents, i, sr_content_t);
        if (!strncmp(content->sha256, key, SR_SHA256_HEX_LENGTH)) return content;
    }
    return NULL;
}

static bool needs_key(const sr_content_t *content)
{
    return !content->stored && !content->key;
}

sr_error_t *sr_contents_folder(const char **folder, sr_blobs_t *blobs, apr_pool_t *pool)
{
    const char *database;
    SR_TRY(sr_blobs_binding(&database, folder, blobs, pool));
    if (*folder) return NULL;
    return sr_error_because(
        sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be stored at the moment, try again later"), pool,
        "the folder of documents has lost its file .database: run sigreqctl documents adopt");
}

/* Chooses the key of a content. A content that was stored, but whose file is missing, is stored under the new key.
 * The disk is queried in any case, so that the time of the response does not tell that others have the content. A
 * bucket is asked once in any case: here, or after the new object was sent (sr_blobs_spare). */
static sr_error_t *contents_take_key(sr_content_t *content, const sr_reserved_row_t *row, sr_blobs_t *blobs,
                                     apr_pool_t *pool)
{
    const bool bucket = sr_blobs_is_bucket(blobs);
    apr_off_t size;
    bool there = false;
    if (bucket && row->stored) SR_TRY(sr_blobs_measure(&there, &size, blobs, row->stored, pool));
    if (!bucket) SR_TRY(sr_blobs_exists(&there, blobs, row->stored ? row->stored : row->key, pool));
    content->key = row->key;
    content->replaces = there ? NULL : row->stored;
    content->found = there && bucket ? row->stored : NULL;
    return NULL;
}

sr_error_t *sr_contents_reserve(const sr_service_t *service, apr_array_header_t *contents, sr_blobs_t *blobs,
                                apr_pool_t *pool)
{
    json_t *wanted = sr_json_own(json_array(), pool);
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    const char *folder;
    for (int i = 0; i < contents->nelts; i++) {
        const sr_content_t *content = &APR_ARRAY_IDX(contents, i, sr_content_t);
        if (needs_key(content)) json_array_append_new(wanted, json_string(content->sha256));
    }
    if (!json_array_size(wanted)) return NULL;
    SR_TRY(sr_contents_folder(&folder, blobs, pool));
    SR_TRY(sr_store_blob_reserve(service->database, &outcome, &rows, folder, sr_json_text(wanted, pool), pool));
    for (int i = 0; i < rows->nelts; i++) {
        const sr_reserved_row_t *row = &APR_ARRAY_IDX(rows, i, sr_reserved_row_t);
        sr_content_t *content = sr_contents_get(contents, row->key);
        if (content) SR_TRY(contents_take_key(content, row, blobs, pool));
    }
    for (int i = 0; i < contents->nelts; i++)
        if (needs_key(&APR_ARRAY_IDX(contents, i, sr_content_t)))
            return sr_error(pool, SR_EINTERNAL, "The store gave no key");
    return NULL;
}

sr_error_t *sr_contents_store(const sr_service_t *service, apr_array_header_t *contents, sr_blobs_t *blobs,
                              apr_pool_t *pool)
{
    apr_array_header_t *before = apr_array_copy(pool, contents);
    apr_array_header_t *parts = apr_array_make(pool, contents->nelts, sizeof(sr_blob_part_t));
    SR_TRY(sr_contents_reserve(service, contents, blobs, pool));
    for (int i = 0; i < contents->nelts; i++) {
        const sr_content_t *content = &APR_ARRAY_IDX(contents, i, sr_content_t);
        if (needs_key(&APR_ARRAY_IDX(before, i, sr_content_t)))
            APR_ARRAY_PUSH(parts, sr_blob_part_t) =
                (sr_blob_part_t){content->key, content->bytes, (apr_size_t)content->size};
    }
    return sr_blobs_put_all(blobs, (const sr_blob_part_t *)(const void *)parts->elts, parts->nelts, pool);
}

apr_array_header_t *sr_contents_blobs(const apr_array_header_t *contents, bool only_new, apr_pool_t *pool)
{
    apr_array_header_t *blobs = apr_array_make(pool, contents->nelts, sizeof(sr_blob_arg_t));
    for (int i = 0; i < contents->nelts; i++) {
        const sr_content_t *content = &APR_ARRAY_IDX(contents, i, sr_content_t);
        if (only_new && !content->key) continue;
        APR_ARRAY_PUSH(blobs, sr_blob_arg_t) = (sr_blob_arg_t){.sha256 = content->sha256,
                                                               .size = content->size,
                                                               .key = content->key,
                                                               .replaces = content->replaces,
                                                               .found = content->found};
    }
    return blobs;
}

/* *key is NULL if the database has none. */
static sr_error_t *ask_key(const sr_service_t *service, const char **key, const char *folder, const char *sha256,
                           apr_pool_t *pool)
{
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    SR_TRY(
        sr_store_blob_find(service->database, &outcome, &rows, folder, apr_psprintf(pool, "[\"%s\"]", sha256), pool));
    *key = rows->nelts ? APR_ARRAY_IDX(rows, 0, sr_key_row_t).key : NULL;
    return NULL;
}

sr_error_t *sr_contents_find(const sr_service_t *service, const char **key, sr_blobs_t *blobs, const char *owner,
                             const char *sha256, apr_pool_t *pool)
{
    bool there = false;
    const char *folder;
    SR_TRY(sr_contents_folder(&folder, blobs, pool));
    const char *digest = sr_key_cache_digest(folder, owner, sha256, pool);
    *key = sr_key_cache_get(service->child->keys, digest, pool);
    if (*key) SR_TRY(sr_blobs_exists(&there, blobs, *key, pool));
    if (there) return NULL;
    SR_TRY(ask_key(service, key, folder, sha256, pool));
    if (*key) SR_TRY(sr_blobs_exists(&there, blobs, *key, pool));
    if (!there) *key = NULL;
    sr_key_cache_put(service->child->keys, digest, *key);
    return NULL;
}

sr_error_t *sr_contents_forget(const sr_service_t *service, sr_blobs_t *blobs, const char *owner, const char *sha256,
                               apr_pool_t *pool)
{
    const char *folder;
    SR_TRY(sr_contents_folder(&folder, blobs, pool));
    sr_key_cache_put(service->child->keys, sr_key_cache_digest(folder, owner, sha256, pool), NULL);
    return NULL;
}
