/* SPDX-License-Identifier: Apache-2.0 */
/* blobs_gc.c: tests of src/blobs/gc.c: removed blobs are in the quarantine for its time, temporary files and reports
 * are deleted, and symbolic links are not followed. */
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
    ok(!sr_blobs_exists(&there, documents, key, pool) && !there, "the blob does not exist any more");
    ok(is_quarantined(key) && !is_quarantined(other), "the quarantine has this blob and no other one");
    is_int(count_files(), 4, "no file is deleted");
    ok(!expire(&result, MONTH, false) && !result.deleted, "the time in the quarantine begins with the removal");
    age_all(MONTH - 60);
    ok(!expire(&result, MONTH, false) && !result.deleted,
       "shortly before the end of its time the blob is in the quarantine");
    age_all(MONTH + 60);
    ok(!expire(&result, MONTH, true) && result.deleted == 1 && result.freed == 7,
       "a dry run counts the files to delete");
    is_int(count_files(), 4, "a dry run deletes nothing");
    ok(!expire(&result, MONTH, false) && result.deleted == 1 && result.freed == 7,
       "after its time the blob is deleted");
    ok(!is_quarantined(key), "the quarantine does not have it any more");
    ok(!sr_blobs_exists(&there, documents, other, pool) && there, "an old blob that was not removed is kept");
    ok(!sr_blobs_remove(&removed, &size, documents, key, pool) && !removed,
       "removing a blob that does not exist removes nothing");
    ok(!sr_blobs_remove(&removed, &size, documents, other, pool) && removed && !expire(&result, 0, false)
           && result.deleted == 1,
       "with a quarantine time of 0 the blob is deleted at once");
}

/* The administrator can move a blob back that was removed by mistake. */
static void test_back(void)
{
    apr_off_t size;
    bool removed;
    sr_blob_t blob;
    start_over();
    const char *key = keep_under("back", ".1", REPORT);
    ok(!sr_blobs_remove(&removed, &size, documents, key, pool) && removed, "a blob is removed");
    ok(sr_blobs_open(&blob, documents, key, pool) != NULL, "a removed blob cannot be opened");
    ok(rename(in_root(apr_pstrcat(pool, SR_BLOBS_QUARANTINE "/", key, NULL)), sr_blobs_path(documents, key, pool)) == 0
           && !sr_blobs_open(&blob, documents, key, pool),
       "a blob that was moved back can be opened");
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
    ok(!sr_reports_forget(documents, sha256, pool), "sr_reports_forget succeeds");
    is_int(count_files(), 4, "the reports of both owners are deleted");
    ok(!sr_reports_read(&pages, documents, apr_pstrndup(pool, other, SR_SHA256_HEX_LENGTH), pool) && pages,
       "the report of another document is kept");
    ok(!sr_reports_forget(documents, SHA256, pool), "a document without reports is not an error");
}

#define OLD "tmp/00000000-0000-4000-8000-000000000000"
#define YOUNG "tmp/00000000-0000-4000-8000-000000000001"

static void test_temporary(void)
{
    const struct utimbuf old = {time(NULL) - 3700, time(NULL) - 3700}, young = {time(NULL) - 3500, time(NULL) - 3500};
    sr_blobs_gc_t result;
    start_over();
    ok(!sr_temporary_expire(&result, documents, false, pool) && !result.deleted,
       "a missing folder tmp is not an error");
    mkdir(in_root("tmp"), 0700);
    put_file(in_root(OLD), "123");
    put_file(in_root(YOUNG), "1234");
    put_file(in_root("tmp/foreign"), "12345");
    utime(in_root(OLD), &old);
    utime(in_root(YOUNG), &young);
    utime(in_root("tmp/foreign"), &old);
    ok(!sr_temporary_expire(&result, documents, true, pool), "a dry run succeeds");
    ok(result.deleted == 1 && result.freed == 3 && count_files() == 3,
       "a dry run counts temporary files that are older than an hour");
    ok(!sr_temporary_expire(&result, documents, false, pool), "a run succeeds");
    ok(result.deleted == 1 && result.freed == 3 && count_files() == 2, "only these files are deleted");
    ok(access(in_root(YOUNG), F_OK) == 0, "the newer temporary file is kept");
}

/* Symbolic links to folders and files of others: the targets are not changed. */
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
        ok(symlink(other, in_root(folders[i])) == 0, "a symbolic link instead of %s", folders[i]);
        ok(!sr_blobs_remove(&removed, &size, documents, KEY, pool) && !removed, "no blob is removed through the link");
        ok(!sr_reports_forget(documents, SHA256, pool) && count_files() == 4, "no report is deleted through the link");
        unlink(in_root(folders[i]));
    }
    mkdir(in_root("ab/cd"), 0700);
    ok(symlink(in_root(names[0]), in_root("ab/cd/" KEY)) == 0, "a symbolic link instead of a blob");
    ok(!sr_blobs_remove(&removed, &size, documents, KEY, pool) && !removed, "is not removed");
    unlink(in_root("ab/cd/" KEY));
    ok(symlink(in_root(names[0]), in_root("ab/" KEY)) == 0, "the same where blobs are stored now");
    ok(!sr_blobs_remove(&removed, &size, documents, KEY, pool) && !removed, "is not removed");
    unlink(in_root("ab/" KEY));
    ok(symlink(other, in_root("tmp")) == 0 && symlink(other, in_root(SR_BLOBS_QUARANTINE)) == 0,
       "symbolic links instead of tmp and quarantine");
    ok(!sr_temporary_expire(&result, documents, false, pool) && !result.deleted && !expire(&result, 0, false)
           && !result.deleted && count_files() == 4,
       "no file is deleted through these links");
    put_file(in_root("ab/cd/" KEY), "x");
    ok(sr_blobs_remove(&removed, &size, documents, KEY, pool) && !removed && count_files() == 5,
       "no file is moved through these links");
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
