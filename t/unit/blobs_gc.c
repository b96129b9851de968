/* SPDX-License-Identifier: Apache-2.0 */
/* blobs_gc.c: tests of src/blobs/gc.c: what is removed is in the quarantine for its time, temporary files and reports
 * go, and links are not followed. */
#include "disk.h"

#define MONTH (30 * DAY)
#define SHA256 "abcd000000000000000000000000000000000000000000000000000000000000"
#define KEY SHA256 ".0123456789abcdef"

static const char *in_root(const char *name)
{
    return apr_pstrcat(pool, root, "/", name, NULL);
}

static sr_error_t *expire(sr_blobs_gc_t *result, apr_int64_t seconds, bool dry_run)
{
    return sr_quarantine_expire(result, documents, apr_time_from_sec(seconds), dry_run, pool);
}

static void test_quarantine(void)
{
    sr_blobs_gc_t result;
    apr_off_t size;
    bool removed, there;

    start_over();
    const char *key = keep_under("removed", ".1", REPORT), *other = keep_under("other", ".1", REPORT);
    ok(!expire(&result, 0, false) && !result.deleted, "without a quarantine nothing is deleted");
    age_all(MONTH + 60);
    ok(!sr_blobs_remove(&removed, &size, documents, key, pool) && removed && size == 7, "an old blob is removed");
    ok(!sr_blobs_exists(&there, documents, key, pool) && !there, "it is not there any more");
    ok(sr_quarantine_has(documents, key, pool) && !sr_quarantine_has(documents, other, pool),
       "but in the quarantine, as the only one");
    is_int(count_files(), 4, "nothing is deleted");
    ok(!expire(&result, MONTH, false) && !result.deleted, "its time there begins when it is removed");
    age_all(MONTH - 60);
    ok(!expire(&result, MONTH, false) && !result.deleted, "a little before the end it is there");
    age_all(MONTH + 60);
    ok(!expire(&result, MONTH, true) && result.deleted == 1 && result.freed == 7,
       "a dry run says what would be deleted");
    is_int(count_files(), 4, "and deletes nothing");
    ok(!expire(&result, MONTH, false) && result.deleted == 1 && result.freed == 7, "then it is deleted");
    ok(!sr_quarantine_has(documents, key, pool), "and is not there");
    ok(!sr_blobs_exists(&there, documents, other, pool) && there, "what was not removed stays, however old it is");
    ok(!sr_blobs_remove(&removed, &size, documents, key, pool) && !removed, "what is not there cannot be removed");
    ok(!sr_blobs_remove(&removed, &size, documents, other, pool) && removed && !expire(&result, 0, false)
           && result.deleted == 1,
       "without a time it is deleted at once");
}

/* What the administrator can do with a blob that was removed by mistake. */
static void test_back(void)
{
    apr_off_t size;
    bool removed;
    sr_blob_t blob;

    start_over();
    const char *key = keep_under("back", ".1", REPORT);
    ok(!sr_blobs_remove(&removed, &size, documents, key, pool) && removed, "a blob is removed");
    ok(sr_blobs_open(&blob, documents, key, pool) != NULL, "it cannot be opened");
    ok(rename(in_root(apr_pstrcat(pool, SR_BLOBS_QUARANTINE "/", key, NULL)), sr_blobs_path(documents, key, pool)) == 0
           && !sr_blobs_open(&blob, documents, key, pool),
       "moved back it can");
}

static void test_reports(void)
{
    const char *pages;

    start_over();
    const char *key = keep_under("document", ".1", REPORT), *other = keep_under("other", ".1", REPORT);
    const char *sha256 = apr_pstrndup(pool, key, SR_SHA256_HEX_LENGTH);
    sr_blobs_own(documents, OTHER);
    keep_under("document", ".2", REPORT);
    sr_blobs_own(documents, OWNER);
    is_int(count_files(), 6, "documents with reports of two owners");
    ok(!sr_reports_forget(documents, sha256, pool), "reports are forgotten");
    is_int(count_files(), 4, "those of both owners");
    ok(!sr_reports_read(&pages, documents, apr_pstrndup(pool, other, SR_SHA256_HEX_LENGTH), pool) && pages,
       "those of another document stay");
    ok(!sr_reports_forget(documents, SHA256, pool), "there need not be any");
}

#define OLD "tmp/00000000-0000-4000-8000-000000000000"
#define YOUNG "tmp/00000000-0000-4000-8000-000000000001"

static void test_temporary(void)
{
    const struct utimbuf old = {time(NULL) - 3700, time(NULL) - 3700}, young = {time(NULL) - 3500, time(NULL) - 3500};
    sr_blobs_gc_t result;

    start_over();
    ok(!sr_temporary_expire(&result, documents, false, pool) && !result.deleted, "no folder for temporary files");
    mkdir(in_root("tmp"), 0700);
    put_file(in_root(OLD), "123");
    put_file(in_root(YOUNG), "1234");
    put_file(in_root("tmp/foreign"), "12345");
    utime(in_root(OLD), &old);
    utime(in_root(YOUNG), &young);
    utime(in_root("tmp/foreign"), &old);
    ok(!sr_temporary_expire(&result, documents, true, pool), "a dry run");
    ok(result.deleted == 1 && result.freed == 3 && count_files() == 3, "tells of temporary files older than an hour");
    ok(!sr_temporary_expire(&result, documents, false, pool), "a run");
    ok(result.deleted == 1 && result.freed == 3 && count_files() == 2, "takes them and no others");
    ok(access(in_root(YOUNG), F_OK) == 0, "the young one stays");
}

/* Links to folders and files that belong to somebody else: nothing behind them is touched. */
static void test_links(void)
{
    static const char *const folders[] = {"ab", "ab/cd"};
    const char *other = in_root("elsewhere");
    const struct utimbuf old = {1000000000, 1000000000};
    sr_blobs_gc_t result;
    apr_off_t size;
    bool removed;

    start_over();
    mkdir(other, 0700);
    mkdir(in_root("elsewhere/cd"), 0700);
    static const char *const names[] = {"elsewhere/cd/" KEY, "elsewhere/" KEY, "elsewhere/" SHA256 "." OWNER ".json",
                                        "elsewhere/00000000-0000-4000-8000-000000000000"};
    for (int i = 0; i < 4; i++) {
        put_file(in_root(names[i]), "x");
        utime(in_root(names[i]), &old);
    }
    for (int i = 0; i < 2; i++) {
        if (i == 1) mkdir(in_root("ab"), 0700);
        ok(symlink(other, in_root(folders[i])) == 0, "a link as %s", folders[i]);
        ok(!sr_blobs_remove(&removed, &size, documents, KEY, pool) && !removed, "nothing behind it is removed");
        ok(!sr_reports_forget(documents, SHA256, pool) && count_files() == 4, "and no report");
        unlink(in_root(folders[i]));
    }
    mkdir(in_root("ab/cd"), 0700);
    ok(symlink(in_root(names[0]), in_root("ab/cd/" KEY)) == 0, "a link as a blob");
    ok(!sr_blobs_remove(&removed, &size, documents, KEY, pool) && !removed, "is no blob");
    unlink(in_root("ab/cd/" KEY));
    ok(symlink(other, in_root("tmp")) == 0 && symlink(other, in_root(SR_BLOBS_QUARANTINE)) == 0,
       "links as tmp and quarantine");
    ok(!sr_temporary_expire(&result, documents, false, pool) && !result.deleted && !expire(&result, 0, false)
           && !result.deleted && count_files() == 4,
       "nothing behind them is deleted");
    put_file(in_root("ab/cd/" KEY), "x");
    ok(sr_blobs_remove(&removed, &size, documents, KEY, pool) && !removed && count_files() == 5,
       "and nothing is moved there");
}

int main(void)
{
    begin();
    test_quarantine();
    test_back();
    test_reports();
    test_temporary();
    test_links();
    end();
    return done();
}
