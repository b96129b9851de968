/* SPDX-License-Identifier: Apache-2.0 */
/* erase.c: sigreqctl submission delete, and what user delete and org delete do with --erase. */
#include "ctl/ctl.h"
#include "service/setup.h"

#define ROWS 100 /* rows of one query */

/* Makes a service that can erase submissions with their files. `documents`: of ctl_open_documents. */
static sr_error_t *make_service(ctl_t *ctl, sr_service_t *service, sr_blobs_t *documents)
{
    const char *folder, *cache;
    SR_TRY(ctl_find_cache(ctl, &cache));
    SR_TRY(ctl_same_database(ctl, &folder, documents, ctl->values[OPTION_DOCUMENTS]));
    *service = (sr_service_t){.database = ctl->database, .storage = ctl->storage, .cache_root = cache};
    return NULL;
}

sr_error_t *ctl_submission_delete(ctl_t *ctl)
{
    static const char *const columns[] = {"uuid", "state", NULL};
    const sr_caller_t caller = {.submission = ctl->values[OPTION_UUID]};
    sr_blobs_t *documents;
    sr_service_t service;
    SR_TRY(ctl_open_documents(ctl, &documents));
    SR_TRY(make_service(ctl, &service, documents));
    sr_error_t *error = sr_service_erase(&service, &caller, ctl->pool);
    if (error && error->code == SR_ENOTFOUND) return sr_error(ctl->pool, SR_ENOTFOUND, "There is no such submission");
    if (error && error->code == SR_EGONE) return sr_error(ctl->pool, SR_ECONFLICT, "%s", error->message);
    SR_TRY(error);
    ctl_print(ctl, json_pack("{s:s,s:s}", "uuid", caller.submission, "state", "deleted"), columns);
    return NULL;
}

/* Erases the submissions of these rows. SR_EGONE: what was left of a killed process has been removed. */
static sr_error_t *erase_page(const sr_service_t *service, const apr_array_header_t *rows, apr_pool_t *pool)
{
    sr_error_t *error = NULL;
    apr_pool_t *each;
    apr_pool_create(&each, pool);
    for (int i = 0; !error && i < rows->nelts; i++) {
        const sr_caller_t caller = {.submission = APR_ARRAY_IDX(rows, i, sr_past_row_t).submission};
        error = sr_service_erase(service, &caller, each);
        error = error && error->code != SR_EGONE ? sr_error_copy(error, pool) : NULL;
        apr_pool_clear(each);
    }
    return error;
}

static sr_error_t *erase_pages(ctl_t *ctl, apr_int64_t *erased, const sr_service_t *service, const char *organization,
                               const char *user)
{
    sr_error_t *error = NULL;
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    apr_pool_t *page;
    apr_pool_create(&page, ctl->pool);
    for (bool more = true; more && !error; *erased += rows->nelts) {
        apr_pool_clear(page);
        SR_TRY(sr_store_admin_people_closed(ctl->database, &outcome, &rows, organization, user, ROWS, page));
        error = sr_error_copy(erase_page(service, rows, page), ctl->pool);
        more = rows->nelts > 0;
    }
    return error;
}

sr_error_t *ctl_erase_people(ctl_t *ctl, sr_outcome_t *outcome, apr_int64_t *erased, sr_blobs_t *documents,
                             const char *organization, const char *user)
{
    sr_service_t service;
    *erased = 0;
    SR_TRY(make_service(ctl, &service, documents));
    SR_TRY(sr_store_admin_people_freeze(ctl->database, outcome, organization, user, sr_time_now(), ctl->pool));
    return *outcome == SR_OK ? erase_pages(ctl, erased, &service, organization, user) : NULL;
}
