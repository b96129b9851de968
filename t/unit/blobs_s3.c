/* SPDX-License-Identifier: Apache-2.0 */
/* blobs_s3.c: tests of src/blobs/s3.c against a server that lies: what is stored, fetched, cached and removed; that
 * nothing is read whose SHA-256 differs, and that a cache that is damaged, full or gone costs nothing but time. */
#include "disk.h"
#include "s3_liar.h"

#include <apr_portable.h>
#include <sys/resource.h>

#define KEY_END ".0123456789abcdef"

static sr_bucket_t *bucket;

static sr_bucket_t *make_bucket(const char *name, apr_off_t limit)
{
    const sr_s3_options_t options = {.scheme = "http",
                                     .authority = apr_psprintf(pool, "127.0.0.1:%d", liar.port),
                                     .bucket = "b",
                                     .prefix = "p/",
                                     .region = "us-east-1",
                                     .credentials = {"test:tester", "testing", NULL},
                                     .stall = apr_time_from_sec(1)};
    sr_bucket_t *made;
    if (sr_bucket_create(&made, &options, apr_pstrcat(pool, root, "/", name, NULL), limit, pool)) abort();
    return made;
}

static sr_blobs_t *blobs_of(sr_bucket_t *of, bool remote)
{
    sr_blobs_t *blobs;
    if (sr_blobs_bucket(&blobs, of, remote, pool)) abort();
    return blobs;
}

static const char *key_of(const char *content)
{
    return apr_pstrcat(pool, sr_sha256_hex(content, strlen(content), pool), KEY_END, NULL);
}

static const char *cached_path(const char *name, const char *key)
{
    return apr_psprintf(pool, "%s/%s/objects/%.2s/%.2s/%s.blob", root, name, key, key + 2, key);
}

static const char *object_path(const char *key)
{
    return apr_psprintf(pool, "/b/p/%.2s/%s", key, key);
}

/* Returns the content of a blob, or the cause of the error. */
static const char *content_of(sr_blobs_t *blobs, const char *key)
{
    sr_blob_t blob;
    apr_os_file_t descriptor;
    sr_error_t *error = sr_blobs_open(&blob, blobs, key, pool);
    if (error) return error->cause;
    char *text = apr_pcalloc(pool, (apr_size_t)blob.size + 1);
    apr_os_file_get(&descriptor, blob.file);
    if (sr_descriptor_read(descriptor, text, (apr_size_t)blob.size + 1, 0) != blob.size) return "another size";
    apr_file_close(blob.file);
    return text;
}

static void put(sr_blobs_t *blobs, const char *content)
{
    if (sr_blobs_put(blobs, key_of(content), content, strlen(content), pool)) abort();
}

static void test_storing(void)
{
    sr_blobs_t *blobs = blobs_of(bucket, false);
    const char *key = key_of("one"), *sha256;
    sr_blob_writer_t *writer;
    apr_off_t size;
    bool there;
    ok(!sr_blobs_exists(&there, blobs, key, pool) && !there, "nothing is there");
    if (sr_blobs_begin(&writer, blobs, pool) || sr_blobs_write(writer, "one", 3)) abort();
    if (sr_blobs_end(writer, &sha256, &size)) abort();
    ok(!sr_blobs_commit(writer, key, NULL), "an upload is stored");
    ok(liar_find(object_path(key)) != NULL, "as an object that has the name of a file in a folder");
    ok(!sr_blobs_exists(&there, blobs, key, pool) && there, "it is there");
    liar_arm("denied", 99);
    is_str(content_of(blobs, key), "one", "it is read from the cache, without the bucket");
    ok(!sr_blobs_exists(&there, blobs, key, pool) && there, "and found there");
    ok(sr_blobs_exists(&there, blobs_of(bucket, true), key, pool) != NULL, "but not if the bucket itself is meant");
    liar_arm("", 0);
    ok(!sr_blobs_measure(&there, &size, blobs, key, pool) && there && size == 3, "its size");
    liar_arm("denied", 99);
    const sr_error_t *error = sr_blobs_put(blobs, key_of("two"), "two", 3, pool);
    ok(error && error->code == SR_EUNAVAILABLE, "a refusal is an error of storing");
    ok(access(cached_path("main", key_of("two")), F_OK) != 0, "and nothing is in the cache");
    liar_arm("", 0);
}

/* An object is sent, and the bucket is asked whether it has kept it, unless nobody will read it. */
static void test_round_trips(void)
{
    sr_blobs_t *blobs = blobs_of(bucket, false);
    const char *key = key_of("trips"), *other = apr_psprintf(pool, "%s.00000000ffffffff", key), *sha256;
    sr_blob_writer_t *writer;
    apr_off_t size;
    if (sr_blobs_begin(&writer, blobs, pool) || sr_blobs_write(writer, "trips", 5)) abort();
    if (sr_blobs_end(writer, &sha256, &size)) abort();
    liar_arm("", 0);
    ok(!sr_blobs_commit(writer, key, NULL), "an upload is stored");
    is_int(liar.requests, 2, "by two requests");
    liar_arm("", 0);
    sr_blobs_spare(writer, true);
    ok(!sr_blobs_commit(writer, apr_pstrcat(pool, key, ".0123456789abcdef", NULL), NULL), "the same under a spare key");
    is_int(liar.requests, 1, "by one");
    liar_arm("lie", 1);
    sr_blobs_spare(writer, false);
    ok(!sr_blobs_commit(writer, other, NULL), "a server that has not kept it");
    is_int(liar.requests, 4, "is asked, and gets it again");
    ok(liar_find(object_path(other)) != NULL, "then it has it");
    liar_arm("", 0);
}

static void test_reading(void)
{
    sr_bucket_t *other = make_bucket("other", APR_INT64_C(1) << 30);
    sr_blobs_t *blobs = blobs_of(other, false);
    const char *key = key_of("one"), *path = cached_path("other", key);
    liar_arm("", 0);
    is_str(content_of(blobs, key), "one", "another host fetches it");
    is_int(liar.requests, 1, "by one request");
    is_str(content_of(blobs, key), "one", "and has it then");
    is_int(liar.requests, 1, "in its cache");
    if (chmod(path, 0600)) abort();
    const int damaged = open(path, O_WRONLY);
    if (damaged < 0 || pwrite(damaged, "0", 1, 0) != 1) abort();
    close(damaged);
    is_str(content_of(blobs, key), "one", "a byte of the file is changed: it is fetched again");
    is_int(liar.requests, 2, "from the bucket");
    if (chmod(path, 0600) || truncate(path, 0)) abort();
    is_str(content_of(blobs, key), "one", "the same of a file that was cut");
    liar_arm("denied", 99);
    sr_blobs_t *again = blobs_of(make_bucket("other", APR_INT64_C(1) << 30), false);
    is_str(content_of(again, key), "one", "a process that has just started reads the cache");
    if (unlink(path)) abort();
    liar_arm("wrong", 99);
    const char *cause = content_of(blobs, key);
    ok(strstr(cause, "the content's SHA-256 is "), "wrong bytes are an error: %s", cause);
    ok(access(path, F_OK) != 0, "and do not get into the cache");
    liar_arm("", 0);
    start_over();
    is_str(content_of(blobs_of(other, false), key), "one", "the folder was removed: it is made again");
    ok(strstr(content_of(blobs, key_of("nothing")), "404 NoSuchKey"), "an object that is missing is an error");
}

/* A folder in which nothing can be written, as on a disk that is full. */
static void test_full(void)
{
    sr_bucket_t *full = make_bucket("full", APR_INT64_C(1) << 30);
    sr_blobs_t *blobs = blobs_of(full, false);
    const struct rlimit before = {RLIM_INFINITY, RLIM_INFINITY}, none = {1, RLIM_INFINITY};
    const char *key = key_of("one");
    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &none)) abort();
    const char *got = content_of(blobs, key);
    if (setrlimit(RLIMIT_FSIZE, &before)) abort();
    ok(strstr(got, "writing to a file: File too large"), "a file that cannot be written is the cause: %s", got);
    if (rmdir(apr_pstrcat(pool, root, "/full/objects", NULL)) || rmdir(apr_pstrcat(pool, root, "/full", NULL))) abort();
    is_str(content_of(blobs, key), "one", "without a folder it is read into memory");
}

static sr_error_t *count_one(void *baton, const char *key, apr_off_t size, apr_pool_t *each)
{
    char *text = baton;
    sprintf(text + strlen(text), "%.4s:%d ", key, (int)size);
    return NULL;
}

static void test_removing(void)
{
    sr_blobs_t *blobs = blobs_of(bucket, false);
    const char *key = key_of("removed");
    char text[400] = "";
    sr_blobs_gc_t result;
    apr_off_t size;
    bool there;
    for (int i = 0; i < liar.count; i++) liar.objects[i].path[0] = '\0';
    liar.count = 0;
    put(blobs, "removed");
    put(blobs, "stays");
    ok(!sr_blobs_list(blobs, count_one, text, pool), "all blobs are listed");
    is_str(text, apr_psprintf(pool, "%.4s:7 %.4s:5 ", key, key_of("stays")), "with their sizes");
    ok(!sr_blobs_remove(&there, &size, blobs, key, pool) && there && size == 7, "one is removed");
    ok(!liar_find(object_path(key)) && access(cached_path("main", key), F_OK) != 0, "from the bucket and the cache");
    ok(!sr_quarantine_has(&there, blobs, key, pool) && there, "it is in the quarantine");
    ok(!sr_blobs_remove(&there, &size, blobs, key, pool) && !there && !size, "it cannot be removed again");
    *text = '\0';
    ok(!sr_blobs_list(blobs, count_one, text, pool) && !strstr(text, ":7 "), "the quarantine is not listed: %s", text);
    sr_time_stop(apr_time_from_sec(1763985600 + 365 * 86400)); /* 2026-11-24T12:00:00Z, when the liar makes objects */
    ok(!sr_quarantine_expire(&result, blobs, apr_time_from_sec(60), false, pool) && !result.deleted, "it is new");
    ok(!sr_quarantine_expire(&result, blobs, 0, true, pool) && result.deleted == 1 && result.freed == 7, "it is old");
    ok(!sr_quarantine_has(&there, blobs, key, pool) && there, "a dry run only counts");
    ok(!sr_quarantine_expire(&result, blobs, 0, false, pool) && result.deleted == 1, "it is deleted");
    sr_time_stop(0);
    ok(!sr_quarantine_has(&there, blobs, key, pool) && !there, "for good");
    is_str(content_of(blobs, key_of("stays")), "stays", "the other one stays");
}

static void test_binding(void)
{
    const char *one = "11111111-1111-4111-8111-111111111111", *two = "22222222-2222-4222-8222-222222222222";
    sr_blobs_t *here = blobs_of(make_bucket("here", 1 << 20), false);
    sr_blobs_t *there = blobs_of(make_bucket("there", 1 << 20), false);
    const char *database, *folder, *other;
    ok(!sr_blobs_binding(&database, &folder, here, pool) && !database, "a bucket of no database");
    ok(!sr_blobs_check(here, one, pool), "belongs to the first that asks");
    ok(!sr_blobs_binding(&database, &folder, here, pool), "it is read");
    is_str(database, one, "the database");
    ok(sr_uuid_valid(folder), "the folder has a uuid: %s", folder);
    liar_arm("", 0);
    ok(!sr_blobs_binding(&database, &other, here, pool) && !liar.requests, "and read again without the bucket");
    ok(!sr_blobs_binding(&database, &other, there, pool) && !strcmp(other, folder), "another host reads the same");
    const sr_error_t *error = sr_blobs_check(there, two, pool);
    ok(error && strstr(error->cause, "s3://b/p/ belongs to the database 11111111"), "another database is refused");
    liar_find("/b/p/.database")->path[0] = '\0';
    ok(!sr_blobs_check(there, one, pool) && liar_find("/b/p/.database"), "an object that was lost is stored again");
    ok(!sr_blobs_bind(here, two, true, pool) && !sr_blobs_check(there, two, pool),
       "the bucket is adopted, for all hosts");
    ok(!sr_blobs_binding(&database, &other, there, pool) && !strcmp(other, folder), "and its uuid stays");
    liar_find("/b/p/.database")->path[0] = '\0';
    start_over();
    const sr_blobs_t *fresh = blobs_of(make_bucket("fresh", 1 << 20), false);
    ok(!sr_blobs_check((sr_blobs_t *)fresh, one, pool), "a new host and a new bucket");
    ok(!sr_blobs_binding(&database, &other, (sr_blobs_t *)fresh, pool) && !strcmp(other, folder),
       "which hosts that begin at the same time call the same: %s", other);
}

static void test_cached(void)
{
    sr_blobs_t *blobs = blobs_of(make_bucket("walked", 1 << 20), false);
    char text[400] = "";
    put(blobs, "walked");
    ok(!sr_blobs_list_cached(blobs, count_one, text, pool), "the cache is walked");
    is_str(text, apr_psprintf(pool, "%.4s:6 ", key_of("walked")), "and has what was stored");
    sr_blobs_uncache(blobs, key_of("walked"), pool);
    *text = '\0';
    ok(!sr_blobs_list_cached(blobs, count_one, text, pool) && !*text, "until it is deleted there");
    is_str(content_of(blobs, key_of("walked")), "walked", "and fetched again");
    ok(!sr_blobs_list_cached(documents, count_one, text, pool) && strlen(text) == 0, "a folder has no cache");
}

static void test_limit(void)
{
    sr_bucket_t *small = make_bucket("small", 64 << 10);
    sr_blobs_t *blobs = blobs_of(small, false);
    char content[20];
    int left = 0;
    for (int i = 0; i < 40; i++) { /* each counts as a block of 4 KiB */
        snprintf(content, sizeof content, "content %d", i);
        put(blobs, content);
        const struct timespec times[2] = {{.tv_sec = 1000000 + i}, {.tv_sec = 1000000 + i}};
        if (utimensat(AT_FDCWD, cached_path("small", key_of(content)), times, 0)) break;
    }
    for (int i = 0; i < 40; i++) {
        snprintf(content, sizeof content, "content %d", i);
        left += access(cached_path("small", key_of(content)), F_OK) == 0;
    }
    ok(left > 0 && left <= 17, "the cache is limited: %d of 40 files are left", left);
    is_str(content_of(blobs, key_of("content 0")), "content 0", "and those that were deleted are fetched again");
}

int main(void)
{
    begin();
    liar_start();
    bucket = make_bucket("main", APR_INT64_C(1) << 30);
    test_storing();
    test_round_trips();
    test_reading();
    test_full();
    test_removing();
    test_binding();
    liar.count = 0;
    test_cached();
    test_limit();
    end();
    return done();
}
