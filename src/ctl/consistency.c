/* SPDX-License-Identifier: Apache-2.0 */
/* consistency.c: sigreqctl check: compares the documents in the database with the stored files. It changes nothing.
 * httpd may run meanwhile: before a file is reported as missing, the database is queried again, and files are listed
 * before the database is queried for them. */
#include "ctl/ctl.h"

#include <stdlib.h>
#include <string.h>

#define ROWS 1000
#define PIECE ((apr_size_t)64 << 10)

typedef struct checking_t {
    ctl_t *ctl;
    sr_blobs_t *documents;
    const char *folder; /* the uuid of the folder */
    apr_int64_t documents_checked, missing, damaged, foreign;
    apr_off_t bytes;
    json_t *problems;
    json_t *listed; /* keys of files that were found and have not been looked up in the database yet */
} checking_t;

static void note(checking_t *check, apr_int64_t *count, const char *problem, const char *key, const char *detail)
{
    (*count)++;
    json_array_append_new(check->problems,
                          json_pack("{s:s,s:s,s:s}", "problem", problem, "key", key, "detail", detail));
}

/* --- what the database names */

/* Sets *named to true if the database still has a blob with this key. A collection may have removed it meanwhile. */
static sr_error_t *is_named(bool *named, const checking_t *check, const char *sha256, const char *key, apr_pool_t *pool)
{
    const char *wanted = apr_psprintf(pool, "[\"%s\"]", sha256);
    apr_array_header_t *rows;
    sr_outcome_t outcome;

    SR_TRY(sr_store_blob_find(check->ctl->database, &outcome, &rows, check->folder, wanted, pool));
    *named = rows->nelts && !strcmp(APR_ARRAY_IDX(rows, 0, sr_key_row_t).key, key);
    return NULL;
}

static sr_error_t *note_missing(checking_t *check, const char *sha256, const char *key, apr_pool_t *pool)
{
    bool named, quarantined;

    SR_TRY(is_named(&named, check, sha256, key, pool));
    if (!named) return NULL;
    SR_TRY(sr_quarantine_has(&quarantined, check->documents, key, pool));
    note(check, &check->missing, "missing", key,
         quarantined ? "there is no file, but it is in the quarantine" : "there is no file");
    return NULL;
}

/* Returns the fault of a file, or NULL. */
static const char *damage_of(const sr_blob_t *blob, const char *sha256, apr_pool_t *pool)
{
    sr_sha256_t *digest = sr_sha256_begin(pool);
    char *piece = apr_palloc(pool, PIECE);
    apr_size_t length = PIECE;
    apr_status_t status = APR_SUCCESS;

    while ((status = apr_file_read(blob->file, piece, &length)) == APR_SUCCESS) {
        sr_sha256_update(digest, piece, length);
        length = PIECE;
    }
    if (status != APR_EOF) return "it cannot be read";
    const char *found = sr_sha256_end_hex(digest, pool);
    return strcmp(found, sha256) ? apr_pstrcat(pool, "its SHA-256 is ", found, NULL) : NULL;
}

/* The documents of a bucket are read with --remote alone. */
static bool is_quick(const ctl_t *ctl)
{
    return ctl->given[OPTION_QUICK] || (ctl->bucket && !ctl->given[OPTION_REMOTE]);
}

static sr_error_t *check_named(checking_t *check, const sr_blob_row_t *row, apr_pool_t *pool)
{
    const char *sha256 = row->sha256, *key = row->key, *damage;
    apr_off_t size;
    sr_blob_t blob;
    bool there;

    SR_TRY(sr_blobs_measure(&there, &size, check->documents, key, pool));
    check->documents_checked++;
    if (!there) return note_missing(check, sha256, key, pool);
    check->bytes += size;
    if (size != row->size)
        damage = apr_psprintf(pool, "it has %" APR_OFF_T_FMT " bytes instead of %" APR_OFF_T_FMT, size,
                              (apr_off_t)row->size);
    else if (is_quick(check->ctl)) return NULL;
    else if (sr_blobs_open(&blob, check->documents, key, pool)) damage = "it cannot be read";
    else damage = damage_of(&blob, sha256, pool);
    if (damage) note(check, &check->damaged, "damaged", key, damage);
    return NULL;
}

static sr_error_t *check_page(checking_t *check, const char **after, apr_pool_t *pool)
{
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    apr_pool_t *each; /* cleared for each document, which closes its file */

    SR_TRY(sr_store_admin_blob_list(check->ctl->database, &outcome, &rows, check->folder, *after, ROWS, pool));
    apr_pool_create(&each, pool);
    *after = NULL;
    for (int i = 0; i < rows->nelts; i++) {
        const sr_blob_row_t *row = &APR_ARRAY_IDX(rows, i, sr_blob_row_t);

        *after = apr_pstrdup(check->ctl->pool, row->sha256);
        SR_TRY(check_named(check, row, each));
        apr_pool_clear(each);
    }
    return NULL;
}

/* --- what is stored */

static sr_error_t *ask_for_listed(checking_t *check, apr_pool_t *pool)
{
    apr_array_header_t *rows;
    sr_outcome_t outcome;

    if (!json_array_size(check->listed)) return NULL;
    SR_TRY(
        sr_store_admin_blob_strangers(check->ctl->database, &outcome, &rows, sr_json_text(check->listed, pool), pool));
    for (int i = 0; i < rows->nelts; i++)
        note(check, &check->foreign, "foreign", APR_ARRAY_IDX(rows, i, sr_key_row_t).key,
             "the database does not know this file");
    json_array_clear(check->listed);
    return NULL;
}

static sr_error_t *list_file(void *baton, const char *key, apr_off_t size, apr_pool_t *pool)
{
    checking_t *check = baton;

    json_array_append_new(check->listed, json_string(key));
    return json_array_size(check->listed) < ROWS ? NULL : ask_for_listed(check, pool);
}

static sr_error_t *check_all(checking_t *check)
{
    const char *after = "";
    apr_pool_t *each;

    apr_pool_create(&each, check->ctl->pool);
    while (after) {
        SR_TRY(check_page(check, &after, each));
        apr_pool_clear(each);
    }
    SR_TRY(sr_blobs_list(check->documents, list_file, check, each));
    return ask_for_listed(check, each);
}

sr_error_t *ctl_check(ctl_t *ctl)
{
    static const char *const columns[] = {"documents", "bytes", "missing", "damaged", "foreign", NULL};
    static const char *const rows[] = {"problem", "key", "detail", NULL};
    checking_t check = {
        .ctl = ctl, .problems = sr_json_own(json_array(), ctl->pool), .listed = sr_json_own(json_array(), ctl->pool)};

    SR_TRY(ctl_open_documents(ctl, &check.documents));
    SR_TRY(ctl_same_database(ctl, &check.folder, check.documents, ctl->values[OPTION_DOCUMENTS]));
    SR_TRY(check_all(&check));
    json_t *report =
        json_pack("{s:I,s:I,s:I,s:I,s:I,s:O}", "documents", (json_int_t)check.documents_checked, "bytes",
                  (json_int_t)check.bytes, "missing", (json_int_t)check.missing, "damaged", (json_int_t)check.damaged,
                  "foreign", (json_int_t)check.foreign, "problems", check.problems);
    ctl_print(ctl, report, columns);
    if (!json_array_size(check.problems)) return NULL;
    ctl->status = CTL_FAILED;
    if (!ctl->given[OPTION_JSON]) ctl_print(ctl, json_incref(check.problems), rows);
    return NULL;
}
