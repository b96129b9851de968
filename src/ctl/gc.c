/* SPDX-License-Identifier: Apache-2.0 */
/* gc.c: sigreqctl gc: takes away the documents that no submission has, the images of pages that nobody looks at, and
 * the Idempotency-Keys and webhook calls whose time is over. */
#include "ctl/ctl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DAY apr_time_from_sec(24 * 60 * 60)
#define UNUSED_DAYS 30
#define MOST_PERCENT 5 /* of the documents, that may be deleted at once */

/* How long a key is kept: docs/api.md, Repeating a request safely. */
#define KEY_LIFETIME DAY
#define HISTORY_DAYS "90"

static sr_error_t *is_used(void *baton, const char *sha256, bool *used, apr_pool_t *pool)
{
    ctl_t *ctl = baton;
    sr_outcome_t outcome;

    SR_TRY(sr_store_admin_document_used(ctl->database, &outcome, sha256, pool));
    *used = outcome == SR_OK;
    return NULL;
}

static sr_error_t *expire_all(ctl_t *ctl, json_t *report)
{
    const char *days = ctl->given[OPTION_HISTORY_DAYS] ? ctl->values[OPTION_HISTORY_DAYS] : HISTORY_DAYS;
    const apr_time_t now = apr_time_now();
    const sr_count_row_t *row;
    sr_outcome_t outcome;

    SR_TRY(sr_store_admin_expire(ctl->database, &outcome, &row, now - KEY_LIFETIME, ctl->pool));
    json_object_set_new(report, "keys_deleted", json_integer(row->deleted));
    SR_TRY(sr_store_admin_history_expire(ctl->database, &outcome, &row, now - strtol(days, NULL, 10) * DAY, ctl->pool));
    json_object_set_new(report, "history_deleted", json_integer(row->deleted));
    return NULL;
}

/* Where documents were named and a cache was not, it is where httpd puts it. A link there was not named by the
 * administrator. */
static sr_error_t *find_cache(ctl_t *ctl, const char **folder)
{
    struct stat status;

    *folder = ctl->values[OPTION_CACHE];
    if (ctl->given[OPTION_CACHE]) return NULL;
    *folder = apr_pstrcat(ctl->pool, ctl->values[OPTION_DOCUMENTS], "/cache", NULL);
    if (lstat(*folder, &status) != 0 || !S_ISLNK(status.st_mode)) return NULL;
    return sr_error(ctl->pool, SR_ECONFLICT,
                    "%s is a link, which is not followed: nothing was deleted. If it is right, name the folder with "
                    "--cache or SigreqCache",
                    *folder);
}

/* A folder of another database would look unused. */
static sr_error_t *collect_documents(ctl_t *ctl, sr_blobs_gc_t *done, sr_blobs_t *documents)
{
    const int most = ctl->given[OPTION_FORCE] ? 100 : MOST_PERCENT;
    sr_error_t *error = sr_blobs_gc(done, documents, is_used, ctl, most, ctl->given[OPTION_DRY_RUN], ctl->pool);

    if (!error || error->code != SR_ECONFLICT) return error;
    return sr_error(ctl->pool, SR_ECONFLICT,
                    "%s. If the database and the folder belong together, repeat it with --force", error->message);
}

static sr_error_t *collect_cache(ctl_t *ctl, json_t *report, const char *folder)
{
    const apr_int64_t days = ctl->given[OPTION_UNUSED] ? apr_atoi64(ctl->values[OPTION_UNUSED]) : UNUSED_DAYS;
    sr_cache_gc_t done;

    SR_TRY(sr_cache_gc(&done, folder, apr_time_now() - days * DAY, ctl->given[OPTION_DRY_RUN], ctl->pool));
    json_object_set_new(report, "cache_kept", json_integer((json_int_t)done.kept));
    json_object_set_new(report, "cache_deleted", json_integer((json_int_t)done.deleted));
    json_object_set_new(report, "cache_freed_bytes", json_integer(done.freed));
    return NULL;
}

sr_error_t *ctl_gc(ctl_t *ctl)
{
    static const char *const columns[] = {"kept",
                                          "deleted",
                                          "freed_bytes",
                                          "temporary_deleted",
                                          "keys_deleted",
                                          "history_deleted",
                                          "cache_kept",
                                          "cache_deleted",
                                          "cache_freed_bytes",
                                          "dry_run",
                                          NULL};
    const bool dry_run = ctl->given[OPTION_DRY_RUN];
    json_t *report = sr_json_own(json_object(), ctl->pool);
    sr_blobs_t *documents;
    sr_blobs_gc_t done;
    const char *cache;

    SR_TRY(ctl_open_documents(ctl, &documents));
    SR_TRY(find_cache(ctl, &cache));
    SR_TRY(ctl_same_database(ctl, documents));
    SR_TRY(collect_documents(ctl, &done, documents));
    if (!dry_run) SR_TRY(expire_all(ctl, report));
    SR_TRY(ctl_become_owner(ctl, cache));
    SR_TRY(collect_cache(ctl, report, cache));
    json_object_set_new(report, "kept", json_integer((json_int_t)done.kept));
    json_object_set_new(report, "deleted", json_integer((json_int_t)done.deleted));
    json_object_set_new(report, "freed_bytes", json_integer(done.freed));
    json_object_set_new(report, "temporary_deleted", json_integer((json_int_t)done.temporary));
    json_object_set_new(report, "dry_run", json_boolean(dry_run));
    ctl_print(ctl, json_incref(report), columns);
    return NULL;
}
