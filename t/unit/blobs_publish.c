/* SPDX-License-Identifier: Apache-2.0 */
/* blobs_publish.c: tests of src/blobs/publish.c: what is synced, and how often. Every file and every folder in which
 * something has a new name is, and each of them once. */
#include "disk.h"

#include <dlfcn.h>

/* --- what this process syncs. Both functions take the place of libc's, which they call. */

static const char *synced; /* the paths, each with a space before it */
static bool broken;        /* the disk of folders is */

static void note(int descriptor)
{
    char path[4096] = "";
    const ssize_t length = readlink(apr_psprintf(pool, "/proc/self/fd/%d", descriptor), path, sizeof path - 1);
    struct stat status;
    const bool file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    const apr_size_t before = strlen(root);

    if (length < (ssize_t)before) return;
    synced = apr_pstrcat(pool, synced, " ", file ? "file" : path[before] ? path + before + 1 : "root", NULL);
}

static int call(const char *name, int descriptor)
{
    int (*function)(int);
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
    if (!broken) return call("fsync", descriptor);
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
    synced = "";
    return !sr_blobs_put(documents, which, "one", 3, pool);
}

static bool knows_births(void)
{
    struct statx status;
    return statx(AT_FDCWD, root, 0, STATX_BTIME, &status) == 0 && status.stx_mask & STATX_BTIME;
}

static void test_one(void)
{
    ok(put(key("aabb", '1')), "the first file");
    is_str(synced, " file root aa aa/bb", "is synced, and so are all folders");
    ok(put(key("aabb", '2')), "the second in its folder");
    is_str(synced, " file aa/bb", "is synced, and so is the folder");
    ok(put(key("aabb", '2')), "the same again");
    is_str(synced, " file aa/bb", "may not have come so far before");
    ok(put(key("aacc", '1')), "one beside its folder");
    is_str(synced, " file aa aa/cc", "needs no sync of the root");
}

static void test_several(void)
{
    const sr_blob_part_t parts[] = {{key("dd00", '1'), "a", 1}, {key("dd00", '2'), "b", 1}, {key("dd11", '1'), "c", 1}};
    synced = "";
    ok(!sr_blobs_put_all(documents, parts, 3, pool), "three files");
    is_str(synced, " file file file root dd dd/00 dd/11", "each folder is synced once");
    for (int i = 0; i < 3; i++) {
        sr_blob_t blob;
        ok(!sr_blobs_open(&blob, documents, parts[i].key, pool) && blob.size == 1, "file %d is there", i);
    }
    synced = "";
    ok(!sr_blobs_put_all(documents, parts, 0, pool) && !*synced, "nothing to store needs no sync");
}

/* A folder that another process has made may not be durable, nor one that an administrator has put there. */
static void test_others(void)
{
    mkdir(apr_pstrcat(pool, root, "/ee", NULL), 0700);
    mkdir(apr_pstrcat(pool, root, "/ee/00", NULL), 0700);
    ok(put(key("ee00", '1')), "a file in a folder that is there");
    is_str(synced, " file root ee ee/00", "all folders are synced");
    rename(apr_pstrcat(pool, root, "/ee", NULL), apr_pstrcat(pool, root, "/before", NULL));
    mkdir(apr_pstrcat(pool, root, "/ee", NULL), 0700);
    mkdir(apr_pstrcat(pool, root, "/ee/00", NULL), 0700);
    ok(put(key("ee00", '1')), "one in a folder that was replaced");
    is_str(synced, " file root ee ee/00", "all folders are synced again");
}

static void test_broken(void)
{
    broken = true;
    ok(!put(key("ff00", '1')), "a folder that cannot be synced is an error");
    broken = false;
    ok(put(key("ff00", '1')), "later it can");
    is_str(synced, " file root ff ff/00", "and nothing was taken for durable before");
}

int main(void)
{
    begin();
    if (!knows_births()) {
        skip("this filesystem has no times of birth, so every folder is synced each time");
    } else {
        test_one();
        test_several();
        test_others();
        test_broken();
    }
    end();
    return done();
}
