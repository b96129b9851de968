/* SPDX-License-Identifier: Apache-2.0 */
/* consistency.c: sigreqctl check: compares the documents in the database with the stored files. It changes nothing.
 * httpd may run meanwhile: before a file is reported as missing, the database is queried again; files are listed before
 * the database is queried for them, and a file is reported as foreign only if it still exists then. */
#include "ctl/ctl.h"

#include <stdlib.h>
#include <string.h>

typedef struct checking_t {
    ctl_t *ctl;
    sr_blobs_t *documents;
    const char *folder; /* the uuid of the folder */
    apr_int64_t documents_checked, missing, damaged, foreign;
    apr_off_t bytes;
    json_t *problems;
} checking_t;

/* --- what the database names */

static sr_error_t *consistency_note_missing(checking_t *check, const sr_blob_row_t *row, apr_pool_t *pool)
{
    bool named, quarantined;
    SR_TRY(ctl_blob_is_named(&named, check->ctl, check->folder, row, pool));
    if (!named) return NULL;
    SR_TRY(sr_quarantine_has(&quarantined, check->documents, row->key, pool));
    ctl_note_problem(check->problems, &check->missing, "missing", row->key,
                     quarantined ? "there is no file, but it is in the quarantine" : "there is no file");
    return NULL;
}

/* The documents of a bucket are read with --remote alone. */
static bool is_quick(const ctl_t *ctl)
{
    return ctl->given[OPTION_QUICK] || (ctl->storage.main.bucket && !ctl->given[OPTION_REMOTE]);
}

static sr_error_t *check_named(void *baton, const sr_blob_row_t *row, apr_pool_t *pool)
{
    checking_t *check = baton;
    const char *damage;
    apr_off_t size;
    sr_blob_t blob;
    bool there;
    SR_TRY(sr_blobs_measure(&there, &size, check->documents, row->key, pool));
    check->documents_checked++;
    if (!there) return consistency_note_missing(check, row, pool);
    check->bytes += size;
    if (size != row->size)
        damage = apr_psprintf(pool, "it has %" APR_OFF_T_FMT " bytes instead of %" APR_OFF_T_FMT, size,
                              (apr_off_t)row->size);
    else if (is_quick(check->ctl)) return NULL;
    else if (sr_blobs_open(&blob, check->documents, row->key, pool)) damage = "it cannot be read";
    else SR_TRY(ctl_blob_read(&damage, &blob, row, NULL, pool));
    if (damage) ctl_note_problem(check->problems, &check->damaged, "damaged", row->key, damage);
    return NULL;
}

/* --- what is stored */

static sr_error_t *note_foreign(void *baton, const char *key, apr_pool_t *pool)
{
    checking_t *check = baton;
    apr_off_t size;
    bool there;
    SR_TRY(sr_blobs_measure(&there, &size, check->documents, key, pool));
    if (there) /* the file was not collected after it had been listed */
        ctl_note_problem(check->problems, &check->foreign, "foreign", key, "the database does not know this file");
    return NULL;
}

static sr_error_t *consistency_check_all(checking_t *check)
{
    SR_TRY(ctl_each_blob(check->ctl, check->folder, check_named, check));
    return ctl_each_stranger(check->ctl, sr_blobs_list, check->documents, note_foreign, check);
}

sr_error_t *ctl_check(ctl_t *ctl)
{
    const bool evidence = ctl->given[OPTION_EVIDENCE];
    const char *const columns[] = {
        "documents", "bytes", "missing", "damaged", "foreign", evidence ? "submissions" : NULL, "evidence", NULL};
    static const char *const rows[] = {"problem", "key", "detail", NULL};
    checking_t check = {.ctl = ctl, .problems = sr_json_own(json_array(), ctl->pool)};
    SR_TRY(ctl_open_documents(ctl, &check.documents));
    SR_TRY(ctl_same_database(ctl, &check.folder, check.documents, ctl->values[OPTION_DOCUMENTS]));
    SR_TRY(consistency_check_all(&check));
    apr_int64_t submissions = 0, wrong = 0;
    if (evidence) SR_TRY(ctl_check_evidence(ctl, check.problems, &submissions, &wrong));
    json_t *report =
        json_pack("{s:I,s:I,s:I,s:I,s:I,s:O}", "documents", (json_int_t)check.documents_checked, "bytes",
                  (json_int_t)check.bytes, "missing", (json_int_t)check.missing, "damaged", (json_int_t)check.damaged,
                  "foreign", (json_int_t)check.foreign, "problems", check.problems);
    if (evidence) {
        json_object_set_new(report, "submissions", json_integer(submissions));
        json_object_set_new(report, "evidence", json_integer(wrong));
    }
    ctl_print(ctl, report, columns);
    if (!json_array_size(check.problems)) return NULL;
    ctl->status = CTL_FAILED;
    if (!ctl->given[OPTION_JSON]) ctl_print(ctl, json_incref(check.problems), rows);
    return NULL;
}
