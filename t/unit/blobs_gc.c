/* SPDX-License-Identifier: Apache-2.0 */
/* blobs_gc.c: tests of src/blobs/gc.c: what is used stays, what is not goes, what is not ours is left alone. */
#include "blobs/private.h"
#include "disk.h"

#include <signal.h>
#include <sys/syscall.h>

/* The digests that are used, and how often somebody asked. */
typedef struct rows_t {
    const char *used[4];
    int asked, fail_at;
} rows_t;

static sr_error_t *is_used(void *baton, const char *sha256, bool *used, apr_pool_t *scratch)
{
    rows_t *const rows = baton;
    int i;

    if (++rows->asked == rows->fail_at) return sr_error(scratch, SR_EUNAVAILABLE, "The database is away");
    *used = false;
    for (i = 0; i < 4; i++) *used = *used || (rows->used[i] && strcmp(rows->used[i], sha256) == 0);
    return NULL;
}

static bool is_there(const char *sha256)
{
    return access(sr_blobs_path(documents, sha256, pool), F_OK) == 0;
}

static const char *in_root(const char *name)
{
    return apr_pstrcat(pool, root, "/", name, NULL);
}

static void test_gc(void)
{
    const char *used, *unused, *another;
    sr_blobs_gc_t result;
    rows_t rows = {0};

    start_over();
    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, false, pool) && !result.deleted && !result.kept,
       "an empty folder has nothing to collect");
    used = rows.used[1] = keep("used", REPORT);
    unused = keep("unused", REPORT);
    another = keep("another", REPORT);
    age_all(DAY - 60);
    ok(!sr_blobs_gc(&result, documents, is_used, &(rows_t){.fail_at = 1}, 100, false, pool),
       "a run, a little before a day has passed");
    ok(result.kept == 3 && !result.deleted && count_files() == 6, "keeps all, and the database is not asked");
    age_all(DAY + 60);

    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, true, pool), "a dry run");
    is_int(result.kept, 1, "says what would be kept");
    is_int(result.deleted, 2, "and deleted");
    is_int(result.freed, strlen("unused") + strlen("another") + 2 * strlen(REPORT), "and freed");
    is_int(count_files(), 6, "and deletes nothing");

    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, false, pool), "a run");
    is_int(result.kept, 1, "keeps what is used");
    is_int(result.deleted, 2, "deletes the rest");
    is_int(result.freed, strlen("unused") + strlen("another") + 2 * strlen(REPORT), "and says what that freed");
    ok(is_there(used) && !is_there(unused) && !is_there(another), "the right ones are gone");
    is_int(count_files(), 2, "with their reports");
    ok(access(apr_psprintf(pool, "%s/%.2s/%.2s", root, unused, unused + 2), F_OK) != 0,
       "and the folders that became empty");
    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, false, pool) && result.kept == 1 && !result.deleted,
       "a second run finds nothing more");
    ok(keep("unused", REPORT) && is_there(unused), "what was deleted can come again");
}

/* Reports of all owners go with their document, and stay with it. */
static void test_owners(void)
{
    sr_blobs_gc_t result;
    rows_t rows = {0};

    start_over();
    rows.used[0] = keep("used", REPORT);
    keep("unused", REPORT);
    sr_blobs_own(documents, OTHER);
    keep("used", REPORT);
    keep("unused", REPORT);
    sr_blobs_own(documents, OWNER);
    unlink(sr_blobs_path(documents, keep("orphan", REPORT), pool));
    is_int(count_files(), 7, "documents with reports of two owners, and a report alone");
    age_all(DAY + 60);
    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, false, pool), "a run");
    is_int(result.deleted, 2, "deletes what is not used");
    is_int(result.freed, strlen("unused") + 3 * strlen(REPORT), "with all reports of it");
    is_int(count_files(), 3, "and leaves those of what is used");
}

static void test_odd(void)
{
    static const char *const foreign[] = {"lost+found",
                                          "ab/readme.txt",
                                          "ab/cd/short",
                                          "ab/cd/.hidden",
                                          "ab/cd/0000000000000000000000000000000000000000000000000000000000000000",
                                          "ab/cd/abcd000000000000000000000000000000000000000000000000000000000000.bak"};
    const char *const alone = "ab/cd/abcd111111111111111111111111111111111111111111111111111111111111";
    const char *const orphan = "ab/cd/abcd222222222222222222222222222222222222222222222222222222222222.json";
    sr_blobs_gc_t result;
    rows_t rows = {0};
    apr_size_t i;

    start_over();
    mkdir(in_root("ab"), 0700);
    mkdir(in_root("ab/cd"), 0700);
    mkdir(in_root("abc"), 0700);
    mkdir(in_root("xy"), 0700);
    for (i = 0; i < sizeof foreign / sizeof foreign[0]; i++) put_file(in_root(foreign[i]), "x");
    put_file(in_root(alone), "12345");
    put_file(in_root(orphan), "{}");
    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, false, pool) && !result.deleted, "young things stay");
    age_all(DAY + 60);
    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, false, pool), "a run over odd things");
    is_int(result.deleted, 2, "deletes a document without a report, and a report without a document");
    is_int(result.freed, 7, "and counts their bytes");
    is_int(count_files(), sizeof foreign / sizeof foreign[0], "what is not ours is left alone");
}

#define OLD "tmp/00000000-0000-4000-8000-000000000000"
#define YOUNG "tmp/00000000-0000-4000-8000-000000000001"

static void test_temporary(void)
{
    const struct utimbuf old = {time(NULL) - 3700, time(NULL) - 3700}, young = {time(NULL) - 3500, time(NULL) - 3500};
    sr_blobs_gc_t result;
    rows_t rows = {0};

    start_over();
    mkdir(in_root("tmp"), 0700);
    put_file(in_root(OLD), "123");
    put_file(in_root(YOUNG), "1234");
    put_file(in_root("tmp/foreign"), "12345");
    utime(in_root(OLD), &old);
    utime(in_root(YOUNG), &young);
    utime(in_root("tmp/foreign"), &old);
    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, true, pool), "a dry run");
    ok(result.temporary == 1 && result.freed == 3 && count_files() == 3, "tells of temporary files older than an hour");
    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, false, pool), "a run");
    ok(result.temporary == 1 && result.freed == 3 && count_files() == 2, "takes them and no others");
    ok(access(in_root(YOUNG), F_OK) == 0, "the young one stays");
}

/* Links to folders and files that belong to somebody else: nothing behind them is touched. */
static void test_links(void)
{
    const char *const digest = "abcd000000000000000000000000000000000000000000000000000000000000";
    const char *const other = apr_pstrcat(pool, root, "/elsewhere", NULL);
    const char *const targets[] = {apr_pstrcat(pool, other, "/", digest, NULL),
                                   apr_pstrcat(pool, other, "/", strchr(OLD, '/') + 1, NULL)};
    const struct utimbuf old = {1000000000, 1000000000};
    sr_blobs_gc_t result;
    rows_t rows = {0};

    start_over();
    mkdir(other, 0700);
    for (int i = 0; i < 2; i++) {
        put_file(targets[i], "x");
        utime(targets[i], &old);
    }
    mkdir(in_root("ab"), 0700);
    ok(symlink(other, in_root("ab/cd")) == 0 && symlink(other, in_root("tmp")) == 0, "links for ab/cd and tmp");
    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, false, pool), "a run");
    ok(!result.deleted && !result.temporary && count_files() == 2, "follows neither");
    unlink(in_root("ab/cd"));
    rmdir(in_root("ab"));
    mkdir(in_root("elsewhere/cd"), 0700);
    put_file(apr_pstrcat(pool, other, "/cd/", digest, NULL), "x");
    ok(symlink(other, in_root("ab")) == 0, "a link for ab");
    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, false, pool) && !result.deleted && count_files() == 3,
       "is not followed either");
    unlink(in_root("ab"));
    mkdir(in_root("ab"), 0700);
    mkdir(in_root("ab/cd"), 0700);
    ok(symlink(targets[0], in_root(apr_pstrcat(pool, "ab/cd/", digest, NULL))) == 0, "a link for a document");
    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, false, pool) && !result.deleted && count_files() == 3,
       "is no document");
}

static void test_failing(void)
{
    sr_blobs_gc_t result;
    sr_error_t *error;

    for (int i = 1; i <= 3; i++) { /* at the first, the second, and when it is asked again */
        rows_t rows = {.fail_at = i};
        start_over();
        keep("one", REPORT);
        keep("two", REPORT);
        age_all(DAY + 60);
        error = sr_blobs_gc(&result, documents, is_used, &rows, 100, false, pool);
        ok(error && strcmp(error->message, "The database is away") == 0, "when the database is away, so is gc");
        is_int(count_files(), 4, "nothing was deleted");
    }
}

/* --- documents that are used while gc runs */

/* What happens while the database is asked about a document for the second time: just before it would be deleted. */
typedef struct meanwhile_t {
    int asked;
    const char *text; /* which is stored, or found again */
    bool fresh;       /* stored by somebody who did not have it */
} meanwhile_t;

static sr_error_t *use_meanwhile(void *baton, const char *sha256, bool *used, apr_pool_t *scratch)
{
    meanwhile_t *const meanwhile = baton;
    bool there = false;

    *used = false;
    if (++meanwhile->asked != 2) return NULL;
    if (meanwhile->fresh) sr_blobs_own(documents, OTHER);
    if (!meanwhile->fresh) ok(!sr_blobs_use(&there, documents, sha256, pool) && there, "meanwhile it is found");
    is_str(keep(meanwhile->text, REPORT), sha256, "meanwhile it is stored");
    sr_blobs_own(documents, OWNER);
    return NULL;
}

static void test_meanwhile(void)
{
    sr_blobs_gc_t result;

    for (int fresh = 0; fresh < 2; fresh++) {
        meanwhile_t meanwhile = {.text = "document", .fresh = fresh};
        start_over();
        const char *const sha256 = keep("document", REPORT);
        age_all(2 * DAY);
        ok(!sr_blobs_gc(&result, documents, use_meanwhile, &meanwhile, 100, false, pool), "a run");
        ok(is_there(sha256) && result.kept == 1 && !result.deleted, "what was used meanwhile stays");
    }
}

/* The same at the very moment of the deletion: gc's unlinkat() is this one, which starts another process first. That
 * process must wait until gc has let go of the folder. */
static int (*before_deletion)(void);
static pid_t other_process;

int unlinkat(int folder, const char *name, int flags)
{
    if (before_deletion && !flags && strlen(name) == SR_SHA256_HEX_LENGTH) {
        siginfo_t ended = {0};
        other_process = start_child(before_deletion);
        before_deletion = NULL;
        for (int i = 0; i < 50 && !ended.si_pid; i++) {
            apr_sleep(5000);
            waitid(P_PID, (id_t)other_process, &ended, WEXITED | WNOHANG | WNOWAIT);
        }
    }
    return (int)syscall(SYS_unlinkat, folder, name, flags);
}

static int store_own(void)
{
    return keep("document", REPORT) ? 0 : 1;
}

static int store_new(void)
{
    sr_blobs_own(documents, OTHER);
    return keep("document", REPORT) ? 0 : 1;
}

/* What was found stays; what was not found is stored, as an upload is. */
static int find_or_store(void)
{
    bool there;
    if (sr_blobs_use(&there, documents, sr_sha256_hex("document", 8, pool), pool)) return 1;
    return there || keep("document", REPORT) ? 0 : 2;
}

static int store_part(void)
{
    return sr_blobs_put(documents, sr_sha256_hex("document", 8, pool), "document", 8, pool) ? 1 : 0;
}

static void test_races(void)
{
    static int (*const bodies[])(void) = {store_own, store_new, find_or_store, store_part};
    static const char *const names[] = {"stored by who had it", "stored by another", "found", "stored as a part"};
    sr_blobs_gc_t result;

    for (int i = 0; i < 4; i++) {
        rows_t rows = {0};
        start_over();
        const char *const sha256 = keep("document", REPORT);
        age_all(2 * DAY);
        before_deletion = bodies[i];
        ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, false, pool) && result.deleted == 1, "a run");
        is_int(wait_child(other_process), 0, "while it deletes the document, that is %s", names[i]);
        ok(is_there(sha256), "and is there afterwards");
    }
}

static time_t last_used(const char *sha256)
{
    struct stat status;
    return stat(sr_blobs_path(documents, sha256, pool), &status) == 0 ? status.st_mtime : 0;
}

static void test_use(void)
{
    const struct utimbuf old = {time(NULL) - DAY / 2 - 60, time(NULL) - DAY / 2 - 60};
    const struct utimbuf young = {time(NULL) - DAY / 2 + 60, time(NULL) - DAY / 2 + 60};
    bool there = true;

    start_over();
    const char *const sha256 = keep("document", REPORT), *const path = sr_blobs_path(documents, sha256, pool);
    ok(!sr_blobs_use(&there, documents, sr_sha256_hex("x", 1, pool), pool) && !there, "what is not there");
    utime(path, &young);
    ok(!sr_blobs_use(&there, documents, sha256, pool) && there, "used within 12 hours");
    is_int(last_used(sha256), young.modtime, "nothing is written");
    utime(path, &old);
    ok(!sr_blobs_use(&there, documents, sha256, pool) && there, "used longer ago");
    ok(last_used(sha256) >= time(NULL) - 60, "it is young again");
    utime(path, &old);
    is_str(keep("document", REPORT), sha256, "stored again by who has it");
    ok(last_used(sha256) >= time(NULL) - 60, "it is young again");
    const char *again = sr_sha256_hex("part", 4, pool);
    ok(!sr_blobs_put(documents, again, "part", 4, pool), "what was appended");
    utime(sr_blobs_path(documents, again, pool), &old);
    ok(!sr_blobs_put(documents, again, "part", 4, pool) && last_used(again) >= time(NULL) - 60,
       "stored again, it is young again");
}

/* Most of the documents are unknown: the folder of another database. */
static void test_most(void)
{
    sr_blobs_gc_t result;
    rows_t rows = {0};
    sr_error_t *error;

    start_over();
    for (int i = 0; i < 18; i++) rows.used[0] = keep(apr_psprintf(pool, "document %d", i), REPORT);
    age_all(DAY + 60);
    error = sr_blobs_gc(&result, documents, is_used, &rows, 5, false, pool);
    ok(error && error->code == SR_ECONFLICT && strstr(error->message, " 17 of the 18 documents"), "17 of 18 unknown");
    is_int(count_files(), 36, "nothing is deleted");
    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 5, true, pool) && result.deleted == 17, "a dry run says it");
    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 100, false, pool) && result.deleted == 17, "forced, it is");
    for (int i = 0; i < 3; i++) keep(apr_psprintf(pool, "few %d", i), REPORT);
    age_all(DAY + 60);
    ok(!sr_blobs_gc(&result, documents, is_used, &rows, 5, false, pool) && result.deleted == 3,
       "a few may go whatever part of all they are");
}

int main(void)
{
    begin();
    test_gc();
    test_owners();
    test_odd();
    test_temporary();
    test_links();
    test_failing();
    test_meanwhile();
    test_races();
    test_use();
    test_most();
    end();
    return done();
}
