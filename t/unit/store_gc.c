/* store_gc.c: tests of src/store/gc.c: what is used stays, what is not goes, what is not ours is left alone. */
#include "store/documents.h"
#include "disk.h"

#include <time.h>
#include <utime.h>

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
    return access(sr_documents_path(documents, sha256, pool), F_OK) == 0;
}

static const char *in_root(const char *name)
{
    return apr_pstrcat(pool, root, "/", name, NULL);
}

static void test_gc(void)
{
    const char *used, *unused, *another;
    sr_documents_gc_t result;
    rows_t rows = {0};

    start_over();
    ok(!sr_documents_gc(&result, documents, is_used, &rows, false, pool) && !result.deleted && !result.kept,
       "an empty folder has nothing to collect");
    used = rows.used[1] = keep("used", REPORT);
    unused = keep("unused", REPORT);
    another = keep("another", REPORT);

    ok(!sr_documents_gc(&result, documents, is_used, &rows, true, pool), "a dry run");
    is_int(result.kept, 1, "says what would be kept");
    is_int(result.deleted, 2, "and deleted");
    is_int(result.freed, strlen("unused") + strlen("another") + 2 * strlen(REPORT), "and freed");
    is_int(count_files(), 6, "and deletes nothing");

    ok(!sr_documents_gc(&result, documents, is_used, &rows, false, pool), "a run");
    is_int(result.kept, 1, "keeps what is used");
    is_int(result.deleted, 2, "deletes the rest");
    is_int(result.freed, strlen("unused") + strlen("another") + 2 * strlen(REPORT), "and says what that freed");
    ok(is_there(used) && !is_there(unused) && !is_there(another), "the right ones are gone");
    is_int(count_files(), 2, "with their reports");
    ok(access(apr_psprintf(pool, "%s/%.2s", root, unused), F_OK) != 0, "and the folders that became empty");
    ok(!sr_documents_gc(&result, documents, is_used, &rows, false, pool) && result.kept == 1 && !result.deleted,
       "a second run finds nothing more");
    ok(keep("unused", REPORT) && is_there(unused), "what was deleted can come again");
}

/* Reports of all owners go with their document, and stay with it. */
static void test_owners(void)
{
    sr_documents_gc_t result;
    rows_t rows = {0};

    start_over();
    rows.used[0] = keep("used", REPORT);
    keep("unused", REPORT);
    sr_documents_own(documents, OTHER);
    keep("used", REPORT);
    keep("unused", REPORT);
    sr_documents_own(documents, OWNER);
    unlink(sr_documents_path(documents, keep("orphan", REPORT), pool));
    is_int(count_files(), 7, "documents with reports of two owners, and a report alone");
    ok(!sr_documents_gc(&result, documents, is_used, &rows, false, pool), "a run");
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
    sr_documents_gc_t result;
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
    ok(!sr_documents_gc(&result, documents, is_used, &rows, false, pool), "a run over odd things");
    is_int(result.deleted, 2, "deletes a document without a report, and a report without a document");
    is_int(result.freed, 7, "and counts their bytes");
    is_int(count_files(), sizeof foreign / sizeof foreign[0], "what is not ours is left alone");
}

#define OLD "tmp/00000000-0000-4000-8000-000000000000"
#define YOUNG "tmp/00000000-0000-4000-8000-000000000001"

static void test_temporary(void)
{
    const struct utimbuf old = {time(NULL) - 3700, time(NULL) - 3700}, young = {time(NULL) - 3500, time(NULL) - 3500};
    sr_documents_gc_t result;
    rows_t rows = {0};

    start_over();
    mkdir(in_root("tmp"), 0700);
    put_file(in_root(OLD), "123");
    put_file(in_root(YOUNG), "1234");
    put_file(in_root("tmp/foreign"), "12345");
    utime(in_root(OLD), &old);
    utime(in_root(YOUNG), &young);
    utime(in_root("tmp/foreign"), &old);
    ok(!sr_documents_gc(&result, documents, is_used, &rows, true, pool), "a dry run");
    ok(result.temporary == 1 && result.freed == 3 && count_files() == 3, "tells of temporary files older than an hour");
    ok(!sr_documents_gc(&result, documents, is_used, &rows, false, pool), "a run");
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
    sr_documents_gc_t result;
    rows_t rows = {0};

    start_over();
    mkdir(other, 0700);
    for (int i = 0; i < 2; i++) {
        put_file(targets[i], "x");
        utime(targets[i], &old);
    }
    mkdir(in_root("ab"), 0700);
    ok(symlink(other, in_root("ab/cd")) == 0 && symlink(other, in_root("tmp")) == 0, "links for ab/cd and tmp");
    ok(!sr_documents_gc(&result, documents, is_used, &rows, false, pool), "a run");
    ok(!result.deleted && !result.temporary && count_files() == 2, "follows neither");
    unlink(in_root("ab/cd"));
    rmdir(in_root("ab"));
    mkdir(in_root("elsewhere/cd"), 0700);
    put_file(apr_pstrcat(pool, other, "/cd/", digest, NULL), "x");
    ok(symlink(other, in_root("ab")) == 0, "a link for ab");
    ok(!sr_documents_gc(&result, documents, is_used, &rows, false, pool) && !result.deleted && count_files() == 3,
       "is not followed either");
    unlink(in_root("ab"));
    mkdir(in_root("ab"), 0700);
    mkdir(in_root("ab/cd"), 0700);
    ok(symlink(targets[0], in_root(apr_pstrcat(pool, "ab/cd/", digest, NULL))) == 0, "a link for a document");
    ok(!sr_documents_gc(&result, documents, is_used, &rows, false, pool) && !result.deleted && count_files() == 3,
       "is no document");
}

static void test_failing(void)
{
    sr_documents_gc_t result;
    sr_documents_lock_t *lock;
    sr_error_t *error;
    rows_t rows = {.fail_at = 2};

    start_over();
    keep("one", REPORT);
    keep("two", REPORT);
    error = sr_documents_gc(&result, documents, is_used, &rows, false, pool);
    ok(error && strcmp(error->message, "The database is away") == 0, "when the database is away, so is gc");
    ok(!sr_documents_try_lock(&lock, documents, true, 0, pool) && lock, "and it holds no lock");
    sr_documents_unlock(lock);
    rows = (rows_t){.fail_at = 1};
    ok(sr_documents_collect(documents, keep("one", REPORT), is_used, &rows, pool) != NULL, "nor does it collect one");
    ok(!sr_documents_try_lock(&lock, documents, true, 0, pool) && lock, "and it holds no lock either");
    sr_documents_unlock(lock);
}

static void test_collect(void)
{
    const char *used, *unused;
    sr_documents_lock_t *lock;
    rows_t rows = {0};

    start_over();
    used = rows.used[0] = keep("used", REPORT);
    unused = keep("unused", REPORT);
    ok(!sr_documents_collect(documents, used, is_used, &rows, pool) && is_there(used), "what is used is not collected");
    ok(!sr_documents_lock(&lock, documents, false, pool), "while somebody holds the lock");
    ok(!sr_documents_collect(documents, unused, is_used, &rows, pool) && is_there(unused), "nothing is collected");
    sr_documents_unlock(lock);
    ok(!sr_documents_collect(documents, unused, is_used, &rows, pool) && !is_there(unused), "then what is not used is");
    is_int(count_files(), 2, "with its report");
    ok(!sr_documents_collect(documents, unused, is_used, &rows, pool), "and once more does no harm");
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
    test_collect();
    end();
    return done();
}
