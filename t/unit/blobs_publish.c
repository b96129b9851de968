/* SPDX-License-Identifier: Apache-2.0 */
/* blobs_publish.c: tests of src/blobs/commit.c: what is linked and synced, in which order and how often. Every file
 * and every folder in which something has a new name is synced once, and no file before all of them have their names.
 */
#include "disk.h"

#include <dlfcn.h>

/* --- what this process links and syncs. The functions take the place of libc's, which they call. */

static const char *done_so_far; /* "link" or the path that was synced, each with a space before it */
static bool folders_break;      /* the disk of folders does */
static bool dies;               /* the process does, before it syncs something */

static void note(int descriptor)
{
    char path[4096] = "";
    const ssize_t length = readlink(apr_psprintf(pool, "/proc/self/fd/%d", descriptor), path, sizeof path - 1);
    struct stat status;
    const bool file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    const apr_size_t before = strlen(root);
    if (length < (ssize_t)before) return;
    done_so_far = apr_pstrcat(pool, done_so_far, " ", file ? "file" : path[before] ? path + before + 1 : "root", NULL);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    int (*function)(int, const char *, int, const char *, int);
    *(void **)&function = dlsym(RTLD_NEXT, "linkat");
    done_so_far = apr_pstrcat(pool, done_so_far, " link", NULL);
    return function(from, old, to, new, flags);
}

static int call(const char *name, int descriptor)
{
    int (*function)(int);
    if (dies) kill(getpid(), SIGKILL);
    *(void **)&function = dlsym(RTLD_NEXT, name);
    note(descriptor);
    return function(descriptor);
}

int fdatasync(int descriptor)
{
    return call("fdatasync", descriptor);
}

int fsync(int descriptor)
{
    if (!folders_break) return call("fsync", descriptor);
    errno = EIO;
    return -1;
}

/* --- putting. A key is one character again and again, but for its first four and its last one. */

static const char *key(const char *folder, char last)
{
    char *made = apr_pcalloc(pool, SR_SHA256_HEX_LENGTH + 1);
    memset(made, '0', SR_SHA256_HEX_LENGTH);
    memcpy(made, folder, 4);
    made[SR_SHA256_HEX_LENGTH - 1] = last;
    return made;
}

static bool put(const char *which)
{
    done_so_far = "";
    return !sr_blobs_put(documents, which, "one", 3, pool);
}

static bool is_there(const char *which)
{
    bool there;
    return !sr_blobs_exists(&there, documents, which, pool) && there;
}

static bool knows_births(void)
{
    struct statx status;
    return statx(AT_FDCWD, root, 0, STATX_BTIME, &status) == 0 && status.stx_mask & STATX_BTIME;
}

static void test_one(void)
{
    ok(put(key("aabb", '1')), "the first file");
    is_str(done_so_far, " link file root aa", "is linked, and then it and all folders are synced");
    ok(put(key("aabb", '2')), "the second in its folder");
    is_str(done_so_far, " link file aa", "is linked and synced, and so is the folder");
    ok(put(key("aabb", '2')), "the same again");
    is_str(done_so_far, " link file aa", "may not have come so far before");
    ok(put(key("cccc", '1')), "one in another folder");
    is_str(done_so_far, " link file root cc", "needs a sync of the root");
}

static void test_several(void)
{
    const sr_blob_part_t parts[] = {{key("dd00", '1'), "a", 1}, {key("dd00", '2'), "b", 1}, {key("de11", '1'), "c", 1}};
    done_so_far = "";
    ok(!sr_blobs_put_all(documents, parts, 3, pool), "three files");
    is_str(done_so_far, " link link link file file file root dd de",
           "all are linked before the first is synced, and each folder is synced once");
    for (int i = 0; i < 3; i++) {
        sr_blob_t blob;
        ok(!sr_blobs_open(&blob, documents, parts[i].key, pool) && blob.size == 1, "file %d is there", i);
    }
    done_so_far = "";
    ok(!sr_blobs_put_all(documents, parts, 0, pool) && !*done_so_far, "nothing to store needs no sync");
}

/* The report is a cache: it is written at the same time, and not synced. */
static void test_report(void)
{
    done_so_far = "";
    ok(keep("a document", REPORT) != NULL, "a document with its report");
    ok(strncmp(done_so_far, " link link file root ", 21) == 0 && strlen(done_so_far) == 23,
       "both are linked before the document is synced: %s", done_so_far);
}

/* A folder that another process has made may not be durable, nor one that an administrator has put there. */
static void test_others(void)
{
    mkdir(apr_pstrcat(pool, root, "/ee", NULL), 0700);
    ok(put(key("ee00", '1')), "a file in a folder that is there");
    is_str(done_so_far, " link file root ee", "all folders are synced");
    rename(apr_pstrcat(pool, root, "/ee", NULL), apr_pstrcat(pool, root, "/before", NULL));
    mkdir(apr_pstrcat(pool, root, "/ee", NULL), 0700);
    ok(put(key("ee00", '1')), "one in a folder that was replaced");
    is_str(done_so_far, " link file root ee", "all folders are synced again");
}

static void test_broken(void)
{
    const sr_blob_part_t parts[] = {{key("ff00", '1'), "a", 1}, {key("ff00", '2'), "b", 1}};
    const int files = count_files();
    folders_break = true;
    ok(sr_blobs_put_all(documents, parts, 2, pool) != NULL, "a folder that cannot be synced is an error");
    ok(!is_there(parts[0].key) && !is_there(parts[1].key) && count_files() == files, "no file is left");
    folders_break = false;
    ok(put(key("ff00", '1')), "later it can");
    is_str(done_so_far, " link file root ff", "and nothing was taken for durable before");
}

/* What a crash leaves between linking and syncing. `sigreqctl gc` and `check` find such a file by its key. */
static int die(void)
{
    dies = true;
    return put(key("0000", '1')) ? 1 : 2;
}

static const char *listed;

static sr_error_t *note_listed(void *baton, const char *which, apr_off_t size, apr_pool_t *scratch)
{
    listed = apr_pstrcat(pool, listed, " ", which, NULL);
    return NULL;
}

static void test_crash(void)
{
    apr_off_t size;
    bool removed;
    start_over();
    listed = "";
    is_int(in_child(die), 128 + SIGKILL, "a process dies before it syncs its file");
    ok(!sr_blobs_list(documents, note_listed, NULL, pool), "the blobs are listed");
    is_str(listed, apr_pstrcat(pool, " ", key("0000", '1'), NULL), "the file has its name");
    ok(!sr_blobs_remove(&removed, &size, documents, key("0000", '1'), pool) && removed, "a collection removes it");
    ok(put(key("0000", '2')), "the next file is stored");
    is_str(done_so_far, " link file root 00", "the folder that the process has made is not taken for durable");
}

int main(void)
{
    begin();
    if (!knows_births()) {
        skip("this filesystem has no times of birth, so every folder is synced each time");
    } else {
        test_one();
        test_several();
        test_report();
        test_others();
        test_broken();
        test_crash();
    }
    end();
    return done();
}
