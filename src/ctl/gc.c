/* SPDX-License-Identifier: Apache-2.0 */
/* gc.c: sigreqctl gc: removes the documents that no submission uses, the page images that have not been requested for
 * a time, the Idempotency-Keys, webhook calls and events that have expired, and what is left of submissions that were
 * deleted.
 */
#include "ctl/ctl.h"
#include "service/setup.h"

#include <stdlib.h>
#include <string.h>

#define UNUSED_DAYS 30
#define RESERVED "3600"      /* seconds */
#define QUARANTINE_DAYS "30" /* as in src/settings/directives.def */
#define ROWS 1000            /* rows of one query */
#define MOST_PAGES 1000      /* pages of reservations in one run; the next run continues */

/* The lifetime of an Idempotency-Key: docs/api.md, Repeating a request safely. */
#define KEY_LIFETIME CTL_DAY
#define HISTORY_DAYS "90"
#define EVENT_DAYS "90" /* as in src/settings/directives.def */

/* Deletes rows in small transactions, so that requests that write do not wait long. */
static sr_error_t *gc_expire(ctl_t *ctl, json_t *report, const char *name,
                             sr_error_t *(*some)(sr_store_source_t *, sr_outcome_t *, const sr_count_row_t **,
                                                 apr_time_t, apr_pool_t *),
                             apr_time_t before)
{
    const sr_count_row_t *row;
    sr_outcome_t outcome;
    json_int_t deleted = 0;
    do {
        SR_TRY(some(ctl->database, &outcome, &row, before, ctl->pool));
        deleted += row->deleted;
    } while (row->deleted);
    json_object_set_new(report, name, json_integer(deleted));
    return NULL;
}

static sr_error_t *expire_all(ctl_t *ctl, json_t *report)
{
    const char *days = ctl->given[OPTION_HISTORY_DAYS] ? ctl->values[OPTION_HISTORY_DAYS] : HISTORY_DAYS;
    const char *event_days = ctl->given[OPTION_EVENT_DAYS] ? ctl->values[OPTION_EVENT_DAYS] : EVENT_DAYS;
    const apr_time_t now = sr_time_now();
    const char *wrong = ctl_check_days(&event_days, ctl->pool);
    if (wrong) return sr_error(ctl->pool, SR_EBADREQUEST, "SigreqEventDays %s %s", event_days, wrong);
    SR_TRY(gc_expire(ctl, report, "keys_deleted", sr_store_admin_expire, now - KEY_LIFETIME));
    SR_TRY(gc_expire(ctl, report, "history_deleted", sr_store_admin_history_expire,
                     now - strtol(days, NULL, 10) * CTL_DAY));
    return gc_expire(ctl, report, "events_deleted", sr_store_admin_feed_expire,
                     now - strtol(event_days, NULL, 10) * CTL_DAY);
}

/* --- documents: what the database dooms, then what has become of that */

typedef struct collection_t {
    ctl_t *ctl;
    sr_blobs_t *documents;
    const char *folder; /* the uuid of the folder */
    bool dry_run;
    apr_int64_t kept, deleted;
    apr_off_t freed;
} collection_t;

/* Counts a file that would be removed. */
static void count_file(collection_t *c, const char *key, apr_pool_t *pool)
{
    apr_off_t size;
    bool there;
    if (sr_blobs_measure(&there, &size, c->documents, key, pool) || !there) return;
    c->deleted++;
    c->freed += size;
}

static sr_error_t *doom(const collection_t *c, const char *kind, json_t *list, apr_pool_t *pool)
{
    const json_t *doomed = sr_json_own(json_pack("{s:O}", kind, list), pool);
    sr_outcome_t outcome;
    return sr_store_admin_blob_doom(c->ctl->database, &outcome, sr_json_text(doomed, pool), pool);
}

/* Makes tombstones of blobs that no submission uses, one page of rows at a time. *after is "" at the end. */
static sr_error_t *doom_unnamed(collection_t *c, const char **after, apr_pool_t *pool)
{
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    json_t *page, *key;
    size_t i;
    SR_TRY(sr_store_admin_blob_unnamed(c->ctl->database, &outcome, &row, c->folder, *after, ROWS, pool));
    SR_TRY(sr_json_read(&page, row->body, pool));
    json_t *list = json_object_get(page, "unnamed");
    json_array_foreach (list, i, key)
        if (c->dry_run) count_file(c, json_string_value(key), pool);
    c->kept += json_integer_value(json_object_get(page, "seen")) - (apr_int64_t)json_array_size(list);
    *after = sr_json_string(page, "after");
    *after = *after ? apr_pstrdup(c->ctl->pool, *after) : "";
    return c->dry_run || !json_array_size(list) ? NULL : doom(c, "named", list, pool);
}

/* Makes tombstones of reservations whose upload was refused or whose process died. *more is false at the end. */
static sr_error_t *doom_late(collection_t *c, bool *more, apr_interval_time_t age, apr_pool_t *pool)
{
    json_t *list = sr_json_own(json_array(), pool);
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    SR_TRY(sr_store_admin_blob_late(c->ctl->database, &outcome, &rows, c->folder, age, ROWS, pool));
    for (int i = 0; i < rows->nelts; i++) {
        const char *key = APR_ARRAY_IDX(rows, i, sr_key_row_t).key;
        json_array_append_new(list, json_string(key));
        if (c->dry_run) count_file(c, key, pool);
    }
    *more = !c->dry_run && rows->nelts == ROWS;
    return c->dry_run || !rows->nelts ? NULL : doom(c, "reserved", list, pool);
}

static sr_error_t *remove_file(collection_t *c, const sr_tombstone_row_t *tombstone, apr_pool_t *pool)
{
    apr_off_t size;
    bool removed;
    SR_TRY(sr_blobs_remove(&removed, &size, c->documents, tombstone->key, pool));
    c->deleted += removed;
    c->freed += size;
    if (!tombstone->forget) return NULL;
    return sr_reports_forget(c->documents, apr_pstrndup(pool, tombstone->key, SR_SHA256_HEX_LENGTH), pool);
}

/* Removes the files of tombstones, one page of rows at a time. A tombstone is deleted when its file has been removed.
 * *after is "" at the end. */
static sr_error_t *bury(collection_t *c, const char **after, apr_pool_t *pool)
{
    json_t *buried = sr_json_own(json_array(), pool);
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    apr_pool_t *each;
    apr_pool_create(&each, pool);
    SR_TRY(sr_store_admin_blob_tombstones(c->ctl->database, &outcome, &rows, c->folder, *after, ROWS, pool));
    *after = "";
    for (int i = 0; i < rows->nelts; i++) {
        const sr_tombstone_row_t *tombstone = &APR_ARRAY_IDX(rows, i, sr_tombstone_row_t);
        if (c->dry_run) count_file(c, tombstone->key, each);
        else SR_TRY(remove_file(c, tombstone, each));
        json_array_append_new(buried, json_string(tombstone->key));
        *after = apr_pstrdup(c->ctl->pool, tombstone->key);
        apr_pool_clear(each);
    }
    if (c->dry_run || !rows->nelts) return NULL;
    return sr_store_admin_blob_bury(c->ctl->database, &outcome, sr_json_text(buried, pool), pool);
}

/* Removes the files of deleted submissions that a killed process has left. Page images are removed by their owner. */
static sr_error_t *finish_erasures(const collection_t *c, const char *cache)
{
    const ctl_t *ctl = c->ctl;
    const sr_service_t service = {.database = ctl->database, .storage = ctl->storage, .cache_root = cache};
    return c->dry_run ? NULL : sr_service_erase_rest(&service, ctl->pool);
}

static sr_error_t *collect_documents(collection_t *c)
{
    const ctl_t *ctl = c->ctl;
    const char *after = "", *seconds = ctl->given[OPTION_RESERVED] ? ctl->values[OPTION_RESERVED] : RESERVED;
    const apr_interval_time_t age = apr_time_from_sec(apr_atoi64(seconds));
    bool more = true;
    apr_pool_t *each;
    apr_pool_create(&each, ctl->pool);
    for (int i = 0; i == 0 || *after; i++) {
        SR_TRY(doom_unnamed(c, &after, each));
        apr_pool_clear(each);
    }
    for (int i = 0; more && i < MOST_PAGES; i++) {
        SR_TRY(doom_late(c, &more, age, each));
        apr_pool_clear(each);
    }
    for (int i = 0; i == 0 || *after; i++) {
        SR_TRY(bury(c, &after, each));
        apr_pool_clear(each);
    }
    apr_pool_destroy(each);
    return NULL;
}

/* --- the cache of a bucket on this host, which has what other hosts have removed */

static sr_error_t *uncache_one(void *baton, const char *key, apr_pool_t *pool)
{
    const collection_t *c = baton;
    sr_blobs_uncache(c->documents, key, pool);
    return NULL;
}

static sr_error_t *collect_cached(collection_t *c)
{
    return c->dry_run ? NULL : ctl_each_stranger(c->ctl, sr_blobs_list_cached, c->documents, uncache_one, c);
}

static sr_error_t *expire_files(const collection_t *c, json_t *report)
{
    const ctl_t *ctl = c->ctl;
    const char *days = ctl->given[OPTION_QUARANTINE_DAYS] ? ctl->values[OPTION_QUARANTINE_DAYS] : QUARANTINE_DAYS;
    sr_blobs_gc_t quarantine, temporary;
    const char *wrong = ctl_check_unused(&days, ctl->pool);
    if (wrong) return sr_error(ctl->pool, SR_EBADREQUEST, "SigreqQuarantineDays %s %s", days, wrong);
    SR_TRY(sr_quarantine_expire(&quarantine, c->documents, apr_atoi64(days) * CTL_DAY, c->dry_run, ctl->pool));
    SR_TRY(sr_temporary_expire(&temporary, c->documents, c->dry_run, ctl->pool));
    json_object_set_new(report, "quarantine_deleted", json_integer((json_int_t)quarantine.deleted));
    json_object_set_new(report, "quarantine_freed_bytes", json_integer(quarantine.freed));
    json_object_set_new(report, "temporary_deleted", json_integer((json_int_t)temporary.deleted));
    return NULL;
}

static sr_error_t *collect_cache(ctl_t *ctl, json_t *report, const char *folder)
{
    const apr_int64_t days = ctl->given[OPTION_UNUSED] ? apr_atoi64(ctl->values[OPTION_UNUSED]) : UNUSED_DAYS;
    sr_cache_gc_t done;
    SR_TRY(sr_cache_gc(&done, folder, sr_time_now() - days * CTL_DAY, ctl->given[OPTION_DRY_RUN], ctl->pool));
    json_object_set_new(report, "cache_kept", json_integer((json_int_t)done.kept));
    json_object_set_new(report, "cache_deleted", json_integer((json_int_t)done.deleted));
    json_object_set_new(report, "cache_freed_bytes", json_integer(done.freed));
    return NULL;
}

sr_error_t *ctl_gc(ctl_t *ctl)
{
    static const char *const columns[] = {"kept",
                                          "deleted",
                                          "deleted_bytes",
                                          "quarantine_deleted",
                                          "quarantine_freed_bytes",
                                          "temporary_deleted",
                                          "keys_deleted",
                                          "history_deleted",
                                          "events_deleted",
                                          "cache_kept",
                                          "cache_deleted",
                                          "cache_freed_bytes",
                                          "dry_run",
                                          NULL};
    collection_t c = {.ctl = ctl, .dry_run = ctl->given[OPTION_DRY_RUN]};
    json_t *report = sr_json_own(json_object(), ctl->pool);
    const char *cache;
    SR_TRY(ctl_open_documents(ctl, &c.documents));
    SR_TRY(ctl_find_cache(ctl, &cache));
    SR_TRY(ctl_same_database(ctl, &c.folder, c.documents, ctl->values[OPTION_DOCUMENTS]));
    SR_TRY(finish_erasures(&c, cache));
    SR_TRY(collect_documents(&c));
    SR_TRY(collect_cached(&c));
    SR_TRY(expire_files(&c, report));
    if (!c.dry_run) SR_TRY(expire_all(ctl, report));
    SR_TRY(ctl_become_owner(ctl, cache));
    SR_TRY(collect_cache(ctl, report, cache));
    json_object_set_new(report, "kept", json_integer(c.kept));
    json_object_set_new(report, "deleted", json_integer(c.deleted));
    json_object_set_new(report, "deleted_bytes", json_integer(c.freed));
    json_object_set_new(report, "dry_run", json_boolean(c.dry_run));
    ctl_print(ctl, json_incref(report), columns);
    return NULL;
}
