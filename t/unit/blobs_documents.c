/* SPDX-License-Identifier: Apache-2.0 */
/* blobs_documents.c: tests of src/blobs/writer.c, reports.c and temporary.c: a stored document has the content that
 * was written. A failure or a killed process leaves no files. */
#include "blobs/private.h"
#include "disk.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_open(void)
{
    sr_blobs_t *opened;
    sr_error_t *error = sr_blobs_folder(&opened, "/nowhere/at/all", pool);
    ok(error && error->code == SR_EUNAVAILABLE, "a missing folder is SR_EUNAVAILABLE");
    is_str(error->cause, "opening the folder /nowhere/at/all: No such file or directory", "the cause says why");
    error = sr_blobs_folder(&opened, "/etc/passwd", pool);
    ok(error && strstr(error->cause, "Not a directory"), "a file instead of the folder is an error");
    ok(!sr_blobs_folder(&opened, apr_pstrcat(pool, root, "//", NULL), pool), "slashes at the end are allowed");
    is_str(sr_blobs_path(opened, "0123456789", pool), apr_pstrcat(pool, root, "/01/0123456789", NULL),
           "the path of a document");
}

/* Reads a descriptor to its end and compares. */
static bool holds(int descriptor, const char *content, apr_size_t length)
{
    char *got = malloc(length + 1);
    apr_size_t total = 0;
    ssize_t count;
    bool same;
    while (total <= length && (count = read(descriptor, got + total, length + 1 - total)) > 0)
        total += (apr_size_t)count;
    same = total == length && memcmp(got, content, length) == 0;
    free(got);
    return same;
}

static bool file_holds(const char *path, const char *content, apr_size_t length)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    const bool same = descriptor >= 0 && holds(descriptor, content, length);
    if (descriptor >= 0) close(descriptor);
    return same;
}

static int open_descriptors(void)
{
    int i, count = 0;
    for (i = 0; i < 256; i++) count += fcntl(i, F_GETFD) >= 0 ? 1 : 0;
    return count;
}

static void test_descriptor(sr_blob_writer_t *spool, const char *content, apr_size_t length)
{
    int descriptor = -1, again = -2;
    ok(!sr_blobs_descriptor(spool, &descriptor) && holds(descriptor, content, length),
       "its descriptor has the content");
    ok(!sr_blobs_descriptor(spool, &again) && again == descriptor && holds(again, content, length),
       "the descriptor is the same if it is requested again");
    ok(write(descriptor, "x", 1) < 0 && ftruncate(descriptor, (off_t)length + 1) < 0, "the descriptor is read-only");
    ok(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, "the descriptor is closed by exec");
}

/* Writes and stores a document, in writes of `step` bytes. */
static void test_content(apr_size_t length, apr_size_t step)
{
    const int before = open_descriptors();
    const char *content = make_content(length), *sha256 = NULL, *head;
    apr_pool_t *own;
    sr_blob_writer_t *spool;
    const char *pages;
    apr_size_t at, head_length;
    apr_off_t size = -1;
    struct stat status;
    bool written = true;
    start_over();
    apr_pool_create(&own, pool);
    if (sr_blobs_begin(&spool, documents, own)) ok(false, "a spool begins");
    for (at = 0; at < length; at += step)
        written = written && !sr_blobs_write(spool, content + at, length - at < step ? length - at : step);
    ok(written && !sr_blobs_end(spool, &sha256, &size), "%d bytes are written, %d at a time", (int)length, (int)step);
    is_str(sha256, sr_sha256_hex(content, length, pool), "the digest");
    is_int(size, length, "the size");
    sr_blobs_head(spool, &head, &head_length);
    is_int(head_length, length < 4096 ? length : 4096, "the head has its length");
    ok(memcmp(head, content, head_length) == 0, "the head has the first bytes");
    test_descriptor(spool, content, length);
    is_int(count_files(), 0, "the folder has no file yet");
    ok(!sr_reports_read(&pages, documents, sha256, own) && !pages, "the document has no report yet");

    ok(!sr_blobs_commit(spool, sha256, REPORT), "the document is committed");
    ok(file_holds(sr_blobs_path(documents, sha256, own), content, length), "the file has the content");
    ok(stat(sr_blobs_path(documents, sha256, own), &status) == 0 && (status.st_mode & 0777) == 0400,
       "the file is read-only");
    ok(!sr_reports_read(&pages, documents, sha256, own), "its report is read");
    is_str(pages, REPORT, "the report is the one that was stored");
    is_int(count_files(), 2, "there are no other files");
    test_descriptor(spool, content, length);
    apr_pool_destroy(own);
    is_int(open_descriptors(), before, "no descriptor is left open");
}

static void test_drop(void)
{
    const int before = open_descriptors();
    const char *content = make_content(300000);
    sr_blob_writer_t *spool;
    int descriptor;
    start_over();
    ok(!sr_blobs_begin(&spool, documents, pool) && !sr_blobs_write(spool, content, 300000),
       "a large upload is in a file");
    ok(!sr_blobs_descriptor(spool, &descriptor) && open_descriptors() == before + 2, "it has two descriptors");
    sr_blobs_drop(spool);
    is_int(open_descriptors(), before, "dropping it closes them");
    sr_blobs_drop(spool);
    is_int(count_files(), 0, "dropping leaves no file, and may be repeated");
}

/* The same upload under another key, as after a collection has removed the first one. */
static void test_twice(void)
{
    static const apr_size_t lengths[] = {5, 300000};
    sr_blob_writer_t *spool;
    const char *sha256, *pages;
    apr_off_t size;
    bool there;
    for (int i = 0; i < 4; i++) {
        const bool small = i % 2 == 0, removed = i >= 2;
        const char *content = make_content(lengths[small ? 0 : 1]);
        start_over();
        ok(!sr_blobs_begin(&spool, documents, pool) && !sr_blobs_write(spool, content, lengths[small ? 0 : 1])
               && !sr_blobs_end(spool, &sha256, &size),
           "an upload of %ld bytes", (long)size);
        const char *first = apr_pstrcat(pool, sha256, ".1", NULL), *second = apr_pstrcat(pool, sha256, ".2", NULL);
        ok(!sr_blobs_commit(spool, first, REPORT) && !sr_blobs_commit(spool, first, REPORT), "it is stored");
        if (removed) unlink(sr_blobs_path(documents, first, pool));
        ok(!sr_blobs_commit(spool, second, OTHER_REPORT), "it is stored again under another key, %s",
           removed ? "after the first file was removed" : "while the first file is there");
        ok(file_holds(sr_blobs_path(documents, second, pool), content, lengths[small ? 0 : 1]),
           "the second file has the content");
        ok(!sr_blobs_exists(&there, documents, first, pool) && there != removed, "the first key has not changed");
        ok(!sr_reports_read(&pages, documents, sha256, pool) && strcmp(pages, OTHER_REPORT) == 0,
           "the report is replaced");
        sr_blobs_drop(spool);
    }
}

/* A document of one owner is new to every other one: there is no report, and it is written again. */
static void test_owners(void)
{
    const char *pages;
    start_over();
    const char *sha256 = keep("shared", REPORT);
    ok(sha256 != NULL, "a document of one owner is stored");
    sr_blobs_own(documents, NULL);
    ok(!sr_reports_read(&pages, documents, sha256, pool) && !pages, "without an owner there is no report");
    sr_blobs_own(documents, OTHER);
    ok(!sr_reports_read(&pages, documents, sha256, pool) && !pages, "another owner has no report");
    ok(keep_under("shared", ".1", OTHER_REPORT) != NULL, "the other owner stores it, too, like a new document");
    ok(!sr_reports_read(&pages, documents, sha256, pool) && pages && strcmp(pages, OTHER_REPORT) == 0,
       "the other owner has their own report");
    sr_blobs_own(documents, OWNER);
    ok(!sr_reports_read(&pages, documents, sha256, pool) && pages && strcmp(pages, REPORT) == 0,
       "the report of the first owner has not changed");
    is_int(count_files(), 4, "there are two files and two reports");
    sr_reports_remove(documents, sha256, pool);
    is_int(count_files(), 3, "one owner may remove their report");
    sr_blobs_own(documents, OTHER);
    ok(!sr_reports_read(&pages, documents, sha256, pool) && pages, "the other owner still has theirs");
    sr_blobs_own(documents, OWNER);
}

/* A stored report is replaced atomically, and a stored document can be read. */
static void test_rewrite(void)
{
    const char *sha256;
    const char *pages;
    apr_pool_t *own;
    int descriptor, before;
    start_over();
    sha256 = keep("rewritten", REPORT);
    before = open_descriptors();
    ok(!sr_reports_write(documents, sha256, OTHER_REPORT, pool), "a report is replaced");
    ok(!sr_reports_read(&pages, documents, sha256, pool), "the new report is read");
    is_str(pages, OTHER_REPORT, "it has the new text");
    ok(!sr_reports_write(documents, sha256, REPORT, pool), "a report is replaced again");
    is_int(count_files(), 2, "there are no other files");
    is_int(open_descriptors(), before, "no descriptor is left open");
    ok(keep("rewritten", OTHER_REPORT) && !sr_reports_read(&pages, documents, sha256, pool)
           && strcmp(pages, OTHER_REPORT) == 0,
       "storing the document again replaces its report");
    ok(sr_reports_write(documents, DIGITS, REPORT, pool) != NULL, "a report of a missing document cannot be written");
    is_int(count_files(), 2, "no file is made for it");

    apr_pool_create(&own, pool);
    ok(!sr_blobs_reader(&descriptor, documents, sha256, own) && holds(descriptor, "rewritten", 9),
       "the document is read");
    apr_pool_destroy(own);
    is_int(open_descriptors(), before, "the blob is closed with its pool");
    ok(sr_blobs_reader(&descriptor, documents, DIGITS, pool) != NULL, "a missing document cannot be read");
}

/* --- failures; each in a child process, whose exit code is the result */

/* Returns 0 if writing these sizes is refused with SR_EUNAVAILABLE and leaves no file. Files that were stored before
 * must be kept. */
static int refuses(apr_size_t length)
{
    const char *content = make_content(length), *sha256;
    const int files = count_files();
    sr_error_t *error;
    sr_blob_writer_t *spool;
    apr_pool_t *own;
    apr_off_t size;
    apr_pool_create(&own, pool);
    error = sr_blobs_begin(&spool, documents, own);
    if (!error) error = sr_blobs_write(spool, content, length);
    if (error && !sr_blobs_end(spool, &sha256, &size)) return 10; /* sr_blobs_end must fail after a failed write */
    if (!error) error = sr_blobs_end(spool, &sha256, &size);
    if (!error) error = sr_blobs_commit(spool, sha256, REPORT);
    if (!error) return 11;
    if (error->code != SR_EUNAVAILABLE || !error->cause) return 12;
    printf("# %s\n", error->cause);
    apr_pool_destroy(own);
    return count_files() == files ? 0 : 13;
}

static int with_small_limit(void)
{
    const struct rlimit limit = {60000, 60000};
    signal(SIGXFSZ, SIG_IGN); /* as httpd does */
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    return refuses(70000) ? 2 : refuses(400000) ? 3 : keep("small enough", REPORT) ? 0 : 4;
}

static int on_full_disk(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0) return 77;
    if (mount("none", root, "tmpfs", 0, "size=128k") != 0) return 77;
    if (!keep("small enough", REPORT)) return 4;
    return refuses(200000) ? 2 : refuses(400000) ? 3 : count_files() == 2 ? 0 : 5;
}

static int without_permission(void)
{
    if (chmod(root, 0555) != 0) return 77;
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 77;
    return refuses(10) ? 2 : refuses(400000) ? 3 : 0;
}

/* Killed in the middle of an upload, and just before storing it. */
static int killed(void)
{
    const char *content = make_content(400000), *sha256;
    sr_blob_writer_t *spool;
    apr_off_t size;
    if (sr_blobs_begin(&spool, documents, pool) || sr_blobs_write(spool, content, 400000)) return 1;
    if (sr_blobs_begin(&spool, documents, pool) || sr_blobs_write(spool, content, 300000)) return 2;
    if (sr_blobs_end(spool, &sha256, &size)) return 3;
    kill(getpid(), SIGKILL);
    return 4;
}

/* As on a filesystem without O_TMPFILE and a kernel without memfd_create. */
static bool forbid_unnamed_files(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_memfd_create, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof program / sizeof program[0], program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static int without_unnamed_files(void)
{
    static const apr_size_t lengths[] = {0, 5, 300000};
    if (!forbid_unnamed_files()) return 77;
    if (open(root, O_TMPFILE | O_RDWR, 0600) >= 0) return 76; /* the filter has no effect, so nothing would be tested */
    for (apr_size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const char *content = make_content(lengths[i]), *sha256;
        sr_blob_writer_t *spool;
        const char *pages;
        apr_off_t size;
        int descriptor;
        if (sr_blobs_begin(&spool, documents, pool) || sr_blobs_write(spool, content, lengths[i])) return 1;
        if (sr_blobs_end(spool, &sha256, &size) || sr_blobs_descriptor(spool, &descriptor)) return 2;
        if (!holds(descriptor, content, lengths[i]) || write(descriptor, "x", 1) >= 0) return 3;
        if (sr_blobs_commit(spool, sha256, REPORT)) return 4;
        if (sr_blobs_commit(spool, sha256, REPORT)) return 4; /* storing it again is allowed */
        if (!file_holds(sr_blobs_path(documents, sha256, pool), content, lengths[i])) return 5;
        if (sr_reports_write(documents, sha256, OTHER_REPORT, pool)) return 10;
        if (sr_reports_read(&pages, documents, sha256, pool) || !pages) return 6;
        if (strcmp(pages, OTHER_REPORT) != 0) return 11;
        if (count_files() != 2 * (int)(i + 1)) return 7; /* no file may be in tmp */
        if (sr_blobs_begin(&spool, documents, pool) || sr_blobs_write(spool, content, lengths[i])) return 8;
        sr_blobs_drop(spool);
        if (count_files() != 2 * (int)(i + 1)) return 9;
    }
    return 0;
}

static void test_child(const char *name, int (*body)(void))
{
    int result;
    start_over();
    result = in_child(body);
    if (result == 77) skip(apr_pstrcat(pool, name, ": not possible here", NULL));
    else is_int(result, 0, "%s", name);
}

static void test_trouble(void)
{
    test_child("with a limit on file sizes large uploads are refused and leave no file, and small ones are stored",
               with_small_limit);
    test_child("with a full disk uploads are refused and leave no file", on_full_disk);
    test_child("in a folder that cannot be written uploads are refused and leave no file", without_permission);
    test_child("on a file system without unnamed files, named ones are used", without_unnamed_files);
    start_over();
    is_int(in_child(killed), 128 + SIGKILL, "a process is killed during two uploads");
    is_int(count_files(), 0, "no file of these uploads is left");
}

/* --- several processes at the same time */

/* Readers of a report that is replaced repeatedly find one or the other report, and always a complete one. */
#define REWRITES 400
static const char *rewritten;

static int rewrite_often(void)
{
    int i;
    for (i = 0; i < REWRITES; i++)
        if (sr_reports_write(documents, rewritten, i % 2 ? REPORT : OTHER_REPORT, pool)) return 1;
    return 0;
}

static int read_often(void)
{
    const char *pages;
    int i;
    for (i = 0; i < REWRITES; i++) {
        if (sr_reports_read(&pages, documents, rewritten, pool) || !pages) return 1;
        if (strcmp(pages, REPORT) != 0 && strcmp(pages, OTHER_REPORT) != 0) return 2;
    }
    return 0;
}

static void test_rewriters(void)
{
    int (*const bodies[])(void) = {rewrite_often, rewrite_often, read_often, read_often};
    pid_t children[4];
    int i;
    start_over();
    rewritten = keep("rewritten often", REPORT);
    for (i = 0; i < 4; i++) children[i] = start_child(bodies[i]);
    for (i = 0; i < 2; i++) is_int(wait_child(children[i]), 0, "two processes replace a report at the same time");
    for (; i < 4; i++) is_int(wait_child(children[i]), 0, "readers always find a complete report");
    is_int(count_files(), 2, "no other file is left");
}

int main(void)
{
    begin();
    test_open();
    test_content(0, 1);
    test_content(1, 1);
    test_content(1023, 7);
    test_content(5000, 4999);
    test_content(262144, 65536);
    test_content(262145, 65536);
    test_content(1500000, 9973);
    test_content(600000, 600000);
    test_drop();
    test_twice();
    test_owners();
    test_rewrite();
    test_trouble();
    test_rewriters();
    end();
    return done();
}
