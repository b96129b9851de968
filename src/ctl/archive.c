/* SPDX-License-Identifier: Apache-2.0 */
/* archive.c: sigreqctl archive: appends proofs and a document timestamp to the documents of completed submissions, or
 * another one before the certificate of the present one ends. Cron runs it. */
#include "ctl/ctl.h"
#include "metrics/metrics.h"
#include "service/setup.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ROWS 100                   /* rows of one query */
#define RENEW 90                   /* days, without --renew */
#define EACH apr_time_from_sec(10) /* time limits: nobody waits for the answer */
#define ALL apr_time_from_sec(60)
#define HELPER_TIMEOUT apr_time_from_sec(30)

typedef struct work_t {
    ctl_t *ctl;
    sr_service_t service;
    sr_archive_options_t options;
    apr_int64_t archived, failed;
} work_t;

static void archive_notice(void *baton, const char *text)
{
    (void)baton;
    fprintf(stderr, "sigreqctl: %s\n", text);
}

/* Splits the value of --timestamp. */
static apr_array_header_t *urls_of(const char *text, apr_pool_t *pool)
{
    apr_array_header_t *urls = apr_array_make(pool, 2, sizeof(const char *));
    char *left = apr_pstrdup(pool, text), *at;
    for (const char *url; (url = apr_strtok(left, " ", &at)); left = NULL) APR_ARRAY_PUSH(urls, const char *) = url;
    return urls;
}

/* Reads the files with the rights of the caller. */
static sr_error_t *make_timestamps(ctl_t *ctl, sr_timestamps_t **timestamps)
{
    static const ctl_option_id_t wanted[] = {
        OPTION_TIMESTAMP,        OPTION_AUTHORITIES, OPTION_PROXY, OPTION_PROOFS, OPTION_CERTIFICATE,
        OPTION_TEST_CERTIFICATE, OPTION_HELPER,      OPTION_RENEW, OPTION_SEALS,  OPTION_COUNT};
    const sr_fetch_options_t fetching = {.agent = "sigreqctl", .proxy = ctl->values[OPTION_PROXY]};
    sr_timestamp_options_t options = {.each = EACH, .all = ALL, .required = true, .notice = archive_notice};
    SR_TRY(ctl_read_config(ctl, wanted, 2, false));
    if (!ctl->given[OPTION_TIMESTAMP] || !ctl->given[OPTION_AUTHORITIES])
        return sr_error(ctl->pool, SR_EBADREQUEST,
                        "no timestamp authority is named: give --timestamp and --authorities, or --config with "
                        "SigreqTimestamp and SigreqTimestampAuthorities");
    options.urls = urls_of(ctl->values[OPTION_TIMESTAMP], ctl->pool);
    if (!options.urls->nelts || options.urls->nelts > SR_TIMESTAMP_AUTHORITIES)
        return sr_error(ctl->pool, SR_EBADREQUEST, "--timestamp has 1 to %d URLs", SR_TIMESTAMP_AUTHORITIES);
    SR_TRY(sr_cms_certificates_text(&options.authorities, ctl->values[OPTION_AUTHORITIES], ctl->pool));
    options.logins = apr_pcalloc(ctl->pool, sizeof *options.logins * SR_TIMESTAMP_AUTHORITIES);
    options.breakers = apr_pcalloc(ctl->pool, sr_timestamp_breakers_size());
    if (curl_global_init(CURL_GLOBAL_DEFAULT)) return sr_error(ctl->pool, SR_EINTERNAL, "libcurl cannot be used");
    SR_TRY(sr_fetcher_create(&options.fetcher, &fetching, ctl->pool));
    return sr_timestamps_create(timestamps, &options, ctl->pool);
}

sr_error_t *ctl_try_timestamp(ctl_t *ctl, const char **authority)
{
    sr_timestamps_t *timestamps;
    sr_stamp_t stamp = {.token = NULL};
    SR_TRY(make_timestamps(ctl, &timestamps));
    SR_TRY(sr_timestamps_make(timestamps, &stamp, 1, ctl->pool));
    *authority = stamp.authority;
    return NULL;
}

/* Reads --renew, or SigreqRenew: days, such as 90d, or none. */
static sr_error_t *read_renew(ctl_t *ctl, apr_interval_time_t *renew)
{
    const char *text = ctl->values[OPTION_RENEW];
    int days;
    *renew = RENEW * CTL_DAY;
    if (!ctl->given[OPTION_RENEW]) return NULL;
    if (!strcasecmp(text, "none")) {
        *renew = 0;
        return NULL;
    }
    if (!sr_text_number(&days, apr_pstrmemdup(ctl->pool, text, strcspn(text, "d")))
        || strcspn(text, "d") + 1 < strlen(text))
        return sr_error(ctl->pool, SR_EBADREQUEST, "SigreqRenew %s is not a number of days: give --renew", text);
    *renew = days * CTL_DAY;
    return NULL;
}

/* Makes the memory of the proofs, and names the chains whose proofs are added. */
static sr_error_t *make_proofs(ctl_t *ctl, sr_child_t *child, sr_archive_options_t *options)
{
    static const ctl_option_id_t files[] = {[SR_TEST] = OPTION_TEST_CERTIFICATE, [SR_PRODUCTION] = OPTION_CERTIFICATE};
    if (!ctl->given[OPTION_PROOFS]) return NULL;
    child->proofs = sr_proof_cache_create(ctl->values[OPTION_PROOFS], ctl->pool);
    child->long_term = true;
    for (int i = SR_TEST; i <= SR_PRODUCTION; i++) {
        const sr_cms_certificate_t *certificate;
        if (!ctl->given[files[i]]) continue;
        SR_TRY(sr_cms_certificate_read(&certificate, ctl->values[files[i]], ctl->pool));
        options->seals[i] = certificate->sha256;
    }
    if (!ctl->given[OPTION_SEALS]) return NULL;
    apr_array_header_t *own;
    SR_TRY(sr_cms_own_read(&own, ctl->values[OPTION_SEALS], ctl->pool));
    child->own = own;
    return NULL;
}

static sr_error_t *make_helper(ctl_t *ctl, sr_pdf_pool_t **workers)
{
    const char *helper = ctl->given[OPTION_HELPER] ? ctl->values[OPTION_HELPER] : SR_DEFAULT_HELPER;
    char *absolute = realpath(helper, NULL);
    const sr_pdf_options_t options = {.program = apr_pstrdup(ctl->pool, absolute ? absolute : helper),
                                      .workers = 2,
                                      .timeout = HELPER_TIMEOUT,
                                      .notice = archive_notice};
    if (!absolute) return sr_error(ctl->pool, SR_EUNAVAILABLE, "%s: %s: give --helper", helper, strerror(errno));
    free(absolute);
    return sr_pdf_pool_create(workers, &options, ctl->pool);
}

static sr_error_t *archive_one(work_t *work, const char *uuid, apr_pool_t *pool)
{
    sr_archived_t result = {false};
    sr_error_t *error = sr_service_archive(&work->service, &result, uuid, &work->options, pool);
    if (error && error->code == SR_EGONE) return sr_error(pool, SR_ECONFLICT, "%s", error->message);
    work->archived += !error && result.archived;
    return error;
}

/* One submission that cannot be archived does not keep the others from it. */
static void archive_rows(work_t *work, const apr_array_header_t *rows)
{
    apr_pool_t *each;
    apr_pool_create(&each, work->ctl->pool);
    for (int i = 0; i < rows->nelts; i++) {
        const char *uuid = APR_ARRAY_IDX(rows, i, sr_archivable_row_t).submission;
        const sr_error_t *error = archive_one(work, uuid, each);
        if (error) fprintf(stderr, "sigreqctl: %s: %s\n", uuid, sr_error_text(error, false, each));
        work->failed += error != NULL;
        apr_pool_clear(each);
    }
    apr_pool_destroy(each);
}

static sr_error_t *archive_all(work_t *work)
{
    const apr_time_t before = work->options.renew ? sr_time_now() + work->options.renew : 0;
    sr_archivable_row_t last = {0};
    apr_pool_t *page;
    apr_pool_create(&page, work->ctl->pool);
    for (bool more = true; more;) {
        apr_array_header_t *rows;
        sr_outcome_t outcome;
        apr_pool_clear(page);
        SR_TRY(sr_store_admin_archive_due(work->ctl->database, &outcome, &rows, before, last.stamped_until, last.id,
                                          ROWS, page));
        archive_rows(work, rows);
        more = rows->nelts > 0;
        if (more) last = APR_ARRAY_IDX(rows, rows->nelts - 1, sr_archivable_row_t);
    }
    return NULL;
}

sr_error_t *ctl_archive(ctl_t *ctl)
{
    static const char *const columns[] = {"archived", "failed", NULL};
    sr_child_t child = {0};
    work_t work = {.ctl = ctl};
    sr_blobs_t *documents;
    const char *folder;
    SR_TRY(make_timestamps(ctl, &child.timestamps));
    SR_TRY(read_renew(ctl, &work.options.renew));
    SR_TRY(make_proofs(ctl, &child, &work.options));
    SR_TRY(ctl_open_documents(ctl, &documents));
    SR_TRY(ctl_same_database(ctl, &folder, documents, ctl->values[OPTION_DOCUMENTS]));
    work.service = (sr_service_t){.database = ctl->database, .storage = ctl->storage, .child = &child};
    SR_TRY(make_helper(ctl, &work.service.pdf));
    if (ctl->given[OPTION_UUID]) SR_TRY(archive_one(&work, ctl->values[OPTION_UUID], ctl->pool));
    else SR_TRY(archive_all(&work));
    if (work.failed) ctl->status = CTL_FAILED;
    ctl_print(ctl, json_pack("{s:I,s:I}", "archived", work.archived, "failed", work.failed), columns);
    return NULL;
}
