/* SPDX-License-Identifier: Apache-2.0 */
/* blobs_cache.c: tests of src/blobs/cache.c and cache_size.c: a file is found only if it is complete. Old files are
 * deleted. Files that are not the cache's own are kept, even if the cache is in the documents folder. */
#include "disk.h"

#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#define DIGEST "abcd000000000000000000000000000000000000000000000000000000000000"
#define KEY DIGEST ".1.0.800.png"

static const char *in_cache(const char *name)
{
    return apr_pstrcat(pool, root, "/cache/ab/cd/", name, NULL);
}

/* Returns the content of a key, or NULL. */
static const char *found(const char *folder, const char *key)
{
    sr_cached_t cached;
    char *text;
    apr_size_t length;
    if (!sr_cache_get(&cached, folder, key, pool)) return NULL;
    length = (apr_size_t)cached.size;
    text = apr_pcalloc(pool, length + 1);
    return apr_file_read_full(cached.file, text, length, NULL) ? "unreadable" : text;
}

static void make_older(const char *path, long seconds)
{
    const struct timeval then = {time(NULL) - seconds, 0}, times[2] = {then, then};
    utimes(path, times);
}

static void test_put(const char *folder)
{
    char seven[] = "seven\n\n";
    int descriptor;
    start_over();
    ok(!found(folder, KEY), "an empty cache has no file");
    ok(!sr_cache_put(folder, KEY, "one", 3, pool), "a file is put");
    is_str(found(folder, KEY), "one", "the file is found");
    ok(!found(folder, DIGEST ".1.1.800.png"), "another key is not found");
    ok(!sr_cache_put(folder, KEY, "two", 3, pool), "the same key is put again");
    is_str(found(folder, KEY), "one", "the first file is kept");
    sr_cache_remove(folder, KEY, pool);
    ok(!found(folder, KEY), "removed");
    ok(!sr_cache_put(folder, KEY, "", 0, pool) && found(folder, KEY), "an empty file can be put");
    is_int(count_files(), 1, "no temporary file is left");
    descriptor = memfd_create("test", 0);
    ok(write(descriptor, seven, 7) == 7 && !sr_cache_copy(folder, DIGEST ".1.0.json", descriptor, 7, pool),
       "a file is copied into the cache");
    is_str(found(folder, DIGEST ".1.0.json"), seven, "the copy has its content");
    close(descriptor);
}

static void test_broken(const char *folder)
{
    const char *path = in_cache(KEY);
    start_over();
    ok(!sr_cache_put(folder, KEY, "content", 7, pool), "a file is copied into the cache");
    chmod(path, 0600);
    for (long size = 14; size >= 0; size--)
        if (truncate(path, size) || found(folder, KEY) || access(path, F_OK) == 0
            || sr_cache_put(folder, KEY, "content", 7, pool) || chmod(path, 0600))
            ok(false, "a file that was cut to %ld bytes is not found, is removed, and can be put again", size);
    is_str(found(folder, KEY), "content",
           "a file that was cut to any length is not found, is removed, and can be put again");
    unlink(path);
    mkdir(path, 0700);
    ok(!found(folder, KEY), "a folder instead of the file is not found");
    rmdir(path);
    ok(symlink("/dev/zero", path) == 0 && !found(folder, KEY), "a device instead of the file is not found");
    start_over();
    put_file(folder, "x");
    ok(sr_cache_put(folder, KEY, "one", 3, pool) != NULL, "if the root is a file, nothing can be put");
    ok(!found(folder, KEY), "if the root is a file, nothing is found");
    ok(sr_cache_put(apr_pstrcat(pool, root, "/not/there", NULL), KEY, "one", 3, pool) != NULL,
       "if the folder above the root is missing, nothing can be put");
}

static void test_gc(const char *folder)
{
    static const char *const foreign[] = {DIGEST,         DIGEST ".json",  DIGEST ".bak",
                                          "readme.1.txt", DIGEST ".1.PNG", DIGEST ".1.0.png "};
    const int count = sizeof foreign / sizeof *foreign;
    const apr_time_t month = apr_time_from_sec(30 * 24 * 3600);
    sr_cached_t cached;
    sr_cache_gc_t done;
    start_over();
    ok(!sr_cache_gc(&done, folder, apr_time_now(), false, pool) && !done.deleted && !done.kept,
       "without a cache sr_cache_gc does nothing");
    ok(!sr_cache_put(folder, KEY, "old", 3, pool) && !sr_cache_put(folder, DIGEST ".1.1.800.png", "young", 5, pool),
       "two files are put");
    make_older(in_cache(KEY), 31 * 24 * 3600);
    make_older(in_cache(DIGEST ".1.1.800.png"), 29 * 24 * 3600);
    for (int i = 0; i < count; i++) {
        put_file(in_cache(foreign[i]), "x");
        make_older(in_cache(foreign[i]), 31 * 24 * 3600);
    }
    ok(!sr_cache_gc(&done, folder, apr_time_now() - month, true, pool), "a dry run succeeds");
    ok(done.deleted == 1 && done.kept == 1 && done.freed == 3 + 8, "a dry run counts the files to delete");
    is_int(count_files(), 2 + count, "a dry run deletes nothing");
    ok(!sr_cache_gc(&done, folder, apr_time_now() - month, false, pool), "a run succeeds");
    ok(done.deleted == 1 && done.kept == 1 && !found(folder, KEY), "the old file is deleted");
    is_int(count_files(), 1 + count, "no other file is deleted");
    make_older(in_cache(DIGEST ".1.1.800.png"), 2 * 24 * 3600);
    ok(sr_cache_get(&cached, folder, DIGEST ".1.1.800.png", pool), "a file is read");
    ok(!sr_cache_gc(&done, folder, apr_time_now() - apr_time_from_sec(60), false, pool) && done.kept == 1,
       "a file that was read is kept");
    for (int i = 0; i < count; i++) unlink(in_cache(foreign[i]));
    ok(!sr_cache_gc(&done, folder, apr_time_now() + month, false, pool) && done.deleted == 1, "all");
    ok(access(apr_pstrcat(pool, folder, "/ab", NULL), F_OK) != 0, "empty folders are removed");
    ok(!sr_cache_put(folder, KEY, "new", 3, pool), "removed folders are made again");
}

/* A cache in the documents folder, or in a folder below it: sr_cache_gc deletes no documents. */
static void test_together(void)
{
    const char *sha256 = sr_sha256_hex("document", 8, pool);
    const char *key = apr_pstrcat(pool, sha256, ".1.0.json", NULL);
    sr_cache_gc_t done;
    start_over();
    is_str(keep("document", REPORT), sha256, "a document is stored");
    ok(!sr_cache_put(root, key, "page", 4, pool), "a page of it is put in the same folder");
    ok(!sr_cache_gc(&done, root, apr_time_now() + apr_time_from_sec(60), false, pool) && done.deleted == 1,
       "the page is deleted");
    is_int(count_files(), 2, "the document and its report are kept");
}

/* --- the size of the cache */

static apr_off_t size_of_all(const char *folder)
{
    sr_cache_ages_t ages;
    return sr_cache_measure(&ages, folder, apr_time_now(), pool) ? -1 : ages.total;
}

/* Puts a page of 100,000 bytes whose last use was `age` ago. */
static const char *put_page(const char *folder, int number, long age, apr_off_t limit)
{
    static char bytes[100000];
    const char *key = apr_psprintf(pool, DIGEST ".1.%d.800.png", number);
    if (sr_cache_put(folder, key, bytes, sizeof bytes, pool)) return NULL;
    make_older(in_cache(key), age);
    return sr_cache_count(NULL, folder, sizeof bytes, limit, pool) ? NULL : key;
}

static void test_size(const char *folder)
{
    const apr_off_t limit = 1000000;
    apr_off_t most = 0;
    int failed = 0;
    start_over();
    for (int i = 0; i < 9; i++) failed += !put_page(folder, i, 1000 - 100 * i, limit);
    is_int(failed, 0, "nine pages are put");
    is_int(count_files(), 9 + 1, "nine pages and the count are there");
    put_page(folder, 9, 50, limit);
    put_page(folder, 10, 40, limit);
    ok(size_of_all(folder) <= limit / 5 * 4 + 100008 && size_of_all(folder) >= limit / 2,
       "if one more page exceeds the limit, a fifth is deleted");
    ok(!found(folder, DIGEST ".1.0.800.png") && found(folder, DIGEST ".1.10.800.png"),
       "the oldest page is deleted, the newest is kept");
    for (int i = 11; i < 100; i++) {
        failed += !put_page(folder, i, 0, limit);
        if (size_of_all(folder) > most) most = size_of_all(folder);
    }
    ok(!failed && most <= limit + 100008, "the cache never exceeds the limit by more than one page: %ld", (long)most);
    for (int i = 0; i < 30; i++) sr_cache_put(folder, apr_psprintf(pool, DIGEST ".2.%d.800.png", i), "x", 1, pool);
    unlink(apr_pstrcat(pool, folder, "/.size", NULL));
    put_page(folder, 100, 0, 150000);
    ok(size_of_all(folder) <= 150000, "without a count all files are counted");
    ok(sr_cache_has_room(folder, 4 * 1024 * 1024) && !sr_cache_has_room(folder, 4 * 1024 * 1024 + 1),
       "a page of more than 4 MiB is not cached");
    for (apr_int64_t age = 0; age < 400000000; age += 1 + age / 7)
        if (sr_cache_age_of(sr_cache_age_number(age)) > age)
            ok(false, "an age is at least the least age of its class: %ld", (long)age);
}

static int count_often(void)
{
    int failed = 0;
    for (int i = 0; i < 50; i++)
        failed += !put_page(apr_pstrcat(pool, root, "/cache", NULL), 1000 * (int)getpid() + i, 0, 1000000);
    return failed ? 1 : 0;
}

static void test_counting(const char *folder)
{
    pid_t children[4];
    start_over();
    for (int i = 0; i < 4; i++) children[i] = start_child(count_often);
    for (int i = 0; i < 4; i++) is_int(wait_child(children[i]), 0, "four processes put pages at the same time");
    ok(size_of_all(folder) <= 1000000 + 8 * 100008,
       "the cache exceeds the limit by at most two pages for each process");
}

/* Symbolic links in the cache: their targets are not changed. */
static void test_links(const char *folder)
{
    const char *const names[] = {"ab", "tmp"};
    const char *other = apr_pstrcat(pool, root, "/elsewhere", NULL);
    sr_cache_gc_t done;
    start_over();
    ok(!sr_cache_put(other, KEY, "file", 4, pool) && mkdir(folder, 0700) == 0, "a file in another folder");
    put_file(apr_pstrcat(pool, other, "/00000000-0000-4000-8000-000000000000", NULL), "x");
    ok(symlink(apr_pstrcat(pool, other, "/ab", NULL), apr_pstrcat(pool, folder, "/", names[0], NULL)) == 0
           && symlink(other, apr_pstrcat(pool, folder, "/", names[1], NULL)) == 0,
       "symbolic links instead of the folders ab and tmp");
    ok(!sr_cache_gc(&done, folder, apr_time_now() + apr_time_from_sec(7200), false, pool) && !done.deleted,
       "sr_cache_gc deletes nothing");
    is_int(count_files(), 2, "the files in the targets are kept");
}

int main(void)
{
    begin();
    const char *folder = apr_pstrcat(pool, root, "/cache", NULL);
    test_put(folder);
    test_broken(folder);
    test_gc(folder);
    test_together();
    test_links(folder);
    test_size(folder);
    test_counting(folder);
    end();
    return done();
}
