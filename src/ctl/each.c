/* SPDX-License-Identifier: Apache-2.0 */
/* each.c: walks over the blobs and the submissions that the database names, and notes what is wrong with them; for
 * sigreqctl check, documents copy and export. */
#include "ctl/ctl.h"

#include <string.h>

#define ROWS 1000
#define LISTED 10000 /* problems of a kind that are listed. All are counted. */
#define PIECE ((apr_size_t)64 << 10)

void ctl_note_problem(json_t *problems, apr_int64_t *count, const char *problem, const char *key, const char *detail)
{
    if ((*count)++ >= LISTED) return;
    json_array_append_new(problems, json_pack("{s:s,s:s,s:s}", "problem", problem, "key", key, "detail", detail));
}

sr_error_t *ctl_blob_is_named(bool *named, const ctl_t *ctl, const char *folder, const sr_blob_row_t *row,
                              apr_pool_t *pool)
{
    const char *wanted = apr_psprintf(pool, "[\"%s\"]", row->sha256);
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    SR_TRY(sr_store_blob_find(ctl->database, &outcome, &rows, folder, wanted, pool));
    *named = rows->nelts && !strcmp(APR_ARRAY_IDX(rows, 0, sr_key_row_t).key, row->key);
    return NULL;
}

sr_error_t *ctl_blob_read(const char **fault, const sr_blob_t *blob, const sr_blob_row_t *row, sr_blob_writer_t *writer,
                          apr_pool_t *pool)
{
    sr_sha256_t *digest = sr_sha256_begin(pool);
    char *piece = apr_palloc(pool, PIECE);
    apr_size_t length = PIECE;
    apr_status_t status = APR_SUCCESS;
    *fault = NULL;
    while ((status = apr_file_read(blob->file, piece, &length)) == APR_SUCCESS) {
        sr_sha256_update(digest, piece, length);
        if (writer) SR_TRY(sr_blobs_write(writer, piece, length));
        length = PIECE;
    }
    const char *found = sr_sha256_end_hex(digest, pool);
    if (status != APR_EOF) *fault = "it cannot be read";
    else if (strcmp(found, row->sha256) != 0) *fault = apr_pstrcat(pool, "its SHA-256 is ", found, NULL);
    return NULL;
}

/* Calls `each` for a page of rows. *after is NULL at the end. */
static sr_error_t *walk_page(ctl_t *ctl, const char *folder, const char **after, ctl_blob_each_t each, void *baton,
                             apr_pool_t *pool)
{
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    apr_pool_t *one; /* cleared for each blob, which closes its file */
    SR_TRY(sr_store_admin_blob_list(ctl->database, &outcome, &rows, folder, *after, ROWS, pool));
    apr_pool_create(&one, pool);
    *after = NULL;
    for (int i = 0; i < rows->nelts; i++) {
        const sr_blob_row_t *row = &APR_ARRAY_IDX(rows, i, sr_blob_row_t);
        *after = apr_pstrdup(ctl->pool, row->sha256);
        SR_TRY(each(baton, row, one));
        apr_pool_clear(one);
    }
    return NULL;
}

sr_error_t *ctl_each_blob(ctl_t *ctl, const char *folder, ctl_blob_each_t each, void *baton)
{
    const char *after = "";
    apr_pool_t *page;
    apr_pool_create(&page, ctl->pool);
    while (after) {
        SR_TRY(walk_page(ctl, folder, &after, each, baton, page));
        apr_pool_clear(page);
    }
    apr_pool_destroy(page);
    return NULL;
}

sr_error_t *ctl_each_found(ctl_t *ctl, const apr_array_header_t *rows, apr_int64_t *after, ctl_found_each_t each,
                           void *baton, apr_pool_t *pool)
{
    apr_pool_t *one;
    sr_error_t *error = NULL;
    apr_pool_create(&one, pool);
    for (int i = 0; !error && i < rows->nelts; i++) {
        const sr_found_row_t *row = &APR_ARRAY_IDX(rows, i, sr_found_row_t);
        error = sr_error_copy(each(baton, row->submission, one), ctl->pool);
        *after = row->id;
        apr_pool_clear(one);
    }
    return error;
}

typedef struct strangers_t {
    ctl_t *ctl;
    json_t *listed; /* keys that have not been looked up in the database yet */
    ctl_stranger_each_t each;
    void *baton;
} strangers_t;

static sr_error_t *each_look_up(const strangers_t *strangers, apr_pool_t *pool)
{
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    if (!json_array_size(strangers->listed)) return NULL;
    SR_TRY(sr_store_admin_blob_strangers(strangers->ctl->database, &outcome, &rows,
                                         sr_json_text(strangers->listed, pool), pool));
    json_array_clear(strangers->listed);
    for (int i = 0; i < rows->nelts; i++)
        SR_TRY(strangers->each(strangers->baton, APR_ARRAY_IDX(rows, i, sr_key_row_t).key, pool));
    return NULL;
}

static sr_error_t *note_key(void *baton, const char *key, apr_off_t size, apr_pool_t *pool)
{
    const strangers_t *strangers = baton;
    json_array_append_new(strangers->listed, json_string(key));
    return json_array_size(strangers->listed) < ROWS ? NULL : each_look_up(strangers, pool);
}

sr_error_t *ctl_each_stranger(ctl_t *ctl, ctl_blobs_list_t list, sr_blobs_t *blobs, ctl_stranger_each_t each,
                              void *baton)
{
    const strangers_t strangers = {ctl, sr_json_own(json_array(), ctl->pool), each, baton};
    SR_TRY(list(blobs, note_key, (void *)&strangers, ctl->pool));
    return each_look_up(&strangers, ctl->pool);
}
