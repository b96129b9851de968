/* SPDX-License-Identifier: Apache-2.0 */
/* blobs_joined.c: tests of src/blobs/joined.c and lock.c: a document is joined from its blobs. Locks exclude threads
 * and processes, and end with their process. */
#include "disk.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#define PIECE_TEXT "what was appended"

static int open_descriptors(void)
{
    int i, count = 0;
    for (i = 0; i < 256; i++) count += fcntl(i, F_GETFD) >= 0 ? 1 : 0;
    return count;
}

static const char *kept(const char *data, apr_size_t length)
{
    const char *sha256 = sr_sha256_hex(data, length, pool);
    sr_error_t *error = sr_blobs_put(documents, sha256, data, length, pool);
    if (error) printf("# %s\n", error->cause);
    return error ? NULL : sha256;
}

static bool is_content(int descriptor, const char *content, apr_size_t length)
{
    char *got = malloc(length + 1);
    const ssize_t count = pread(descriptor, got, length + 1, 0);
    const bool same = count == (ssize_t)length && (!length || !memcmp(got, content, length));
    free(got);
    return same;
}

static void test_keep(void)
{
    struct stat first, second;
    const char *sha256 = kept(PIECE_TEXT, strlen(PIECE_TEXT)), *path;
    int descriptor;
    is_str(sha256, sr_sha256_hex(PIECE_TEXT, strlen(PIECE_TEXT), pool),
           "a blob is stored under the SHA-256 of its content");
    path = sr_blobs_path(documents, sha256, pool);
    ok(!stat(path, &first) && (first.st_mode & 0777) == 0400, "its file is read-only");
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ok(is_content(descriptor, PIECE_TEXT, strlen(PIECE_TEXT)), "its file has the content");
    close(descriptor);
    is_str(kept(PIECE_TEXT, strlen(PIECE_TEXT)), sha256, "storing it again succeeds");
    ok(!stat(path, &second) && first.st_ino == second.st_ino, "the file is not replaced");
    is_int(count_files(), 1, "there is no other file");
    ok(kept("", 0) != NULL, "an empty blob is stored");
    ok(access(sr_reports_path(documents, sha256, pool), F_OK) != 0, "no report is written");
}

static void test_no_room(void)
{
    sr_blobs_t gone = {.provider = &sr_blobs_fs, .root = "/nowhere/at/all"};
    sr_error_t *error = sr_blobs_put(&gone, sr_sha256_hex("x", 1, pool), "x", 1, pool);
    ok(error && error->code == SR_EUNAVAILABLE && error->cause, "if the folder is missing, storing is SR_EUNAVAILABLE");
}

/* --- joining */

static apr_array_header_t *files_of(const char *const *contents, int count)
{
    apr_array_header_t *files = apr_array_make(pool, count + 1, sizeof(const char *));
    int i;
    for (i = 0; i < count; i++) APR_ARRAY_PUSH(files, const char *) = kept(contents[i], strlen(contents[i]));
    return files;
}

static void check_join(const char *const *contents, int count, const char *tail)
{
    const apr_array_header_t *files = files_of(contents, count);
    const int before = open_descriptors();
    const char *all = "";
    apr_pool_t *own;
    sr_joined_t joined;
    sr_error_t *error;
    int i;
    for (i = 0; i < count; i++) all = apr_pstrcat(pool, all, contents[i], NULL);
    apr_pool_create(&own, pool);
    error = sr_blobs_join(&joined, documents, files, *tail, own);
    if (!error && *tail) error = sr_blobs_extend(&joined, tail, strlen(tail), own);
    if (!ok(!error, "%d files and a tail of %d bytes", count, (int)strlen(tail))) {
        apr_pool_destroy(own);
        return;
    }
    is_str(joined.sha256, sr_sha256_hex(all, strlen(all), pool), "the SHA-256 is that of the files");
    all = apr_pstrcat(pool, all, tail, NULL);
    is_int(joined.size, strlen(all), "the size includes the tail");
    is_str(sr_sha256_end_hex(joined.digest, own), sr_sha256_hex(all, strlen(all), pool),
           "the digest includes the tail");
    ok(is_content(joined.descriptor, all, strlen(all)), "the content includes the tail");
    is_int(lseek(joined.descriptor, 0, SEEK_CUR), 0, "the descriptor is at the beginning");
    ok(write(joined.descriptor, "x", 1) < 0, "the descriptor is read-only");
    ok(fcntl(joined.descriptor, F_GETFD) & FD_CLOEXEC, "the descriptor is closed by exec");
    apr_pool_destroy(own);
    is_int(open_descriptors(), before, "no descriptor is left open");
}

static void test_joins(void)
{
    static const char *const contents[] = {"%PDF the upload\n", "a first signature\n", "", "another\n", "z"};
    start_over();
    check_join(contents, 0, "a tail");
    check_join(contents, 1, "");
    check_join(contents, 1, "a tail");
    check_join(contents, 2, "");
    check_join(contents, 5, "");
    check_join(contents, 5, "a tail");
    is_int(count_files(), 5, "no temporary file is left");
}

/* Files that are larger than the buffer for copying. */
static void test_large(void)
{
    const apr_size_t length = 3000001;
    const char *content = make_content(length), *const more = make_content(length + 12345) + 12345;
    apr_array_header_t *files = apr_array_make(pool, 2, sizeof(const char *));
    char *all = apr_palloc(pool, 2 * length + 6);
    sr_joined_t joined;
    APR_ARRAY_PUSH(files, const char *) = kept(content, length);
    APR_ARRAY_PUSH(files, const char *) = kept(more, length);
    memcpy(all, content, length);
    memcpy(all + length, more, length);
    ok(!sr_blobs_join(&joined, documents, files, true, pool), "two large files are joined");
    ok(joined.size == (apr_off_t)(2 * length) && is_content(joined.descriptor, all, 2 * length),
       "the result has the content of both");
    is_str(joined.sha256, sr_sha256_hex(all, 2 * length, pool), "its SHA-256 is right");
    is_int(joined.memory, -1, "it is not in memory");
    memcpy(all + 2 * length, "a tail", 6);
    ok(!sr_blobs_extend(&joined, "a tail", 6, pool), "it is extended");
    ok(joined.size == (apr_off_t)(2 * length) + 6 && is_content(joined.descriptor, all, 2 * length + 6), "by a tail");
    is_str(joined.sha256, sr_sha256_hex(all, 2 * length, pool), "the SHA-256 is that of the files");
    is_str(sr_sha256_end_hex(joined.digest, pool), sr_sha256_hex(all, 2 * length + 6, pool),
           "the digest includes the tail");
    files->nelts = 1;
    APR_ARRAY_IDX(files, 0, const char *) = kept(all, 2 * length);
    ok(!sr_blobs_join(&joined, documents, files, false, pool) && !joined.file, "one large file is read directly");
    ok(!sr_blobs_join(&joined, documents, files, true, pool) && !sr_blobs_extend(&joined, "a tail", 6, pool),
       "one large file that is extended is copied");
    ok(is_content(joined.descriptor, all, 2 * length + 6), "by a tail");
    is_str(sr_sha256_end_hex(joined.digest, pool), sr_sha256_hex(all, 2 * length + 6, pool),
           "its digest includes the tail");
}

/* Damage on the disk is not an error here, because the caller compares the SHA-256. */
static void test_damaged(void)
{
    static const char *const contents[] = {"the upload", "a signature"};
    apr_array_header_t *files = files_of(contents, 2);
    const char *path = sr_blobs_path(documents, APR_ARRAY_IDX(files, 1, const char *), pool),
               *const want = sr_sha256_hex("the uploada signature", 21, pool);
    const int before = open_descriptors();
    sr_joined_t joined;
    apr_pool_t *own;
    sr_error_t *error;
    apr_pool_create(&own, pool);
    put_file(path, "a sig");
    ok(!sr_blobs_join(&joined, documents, files, false, own), "a truncated file is joined");
    is_int(joined.size, 15, "the size is that of the truncated file");
    ok(strcmp(joined.sha256, want) != 0, "the SHA-256 differs");
    put_file(path, "a signaturf");
    ok(!sr_blobs_join(&joined, documents, files, false, own), "a file with a changed byte is joined");
    ok(joined.size == 21 && strcmp(joined.sha256, want) != 0, "the SHA-256 differs because of the changed byte");
    put_file(path, "a signature");
    ok(!sr_blobs_join(&joined, documents, files, false, own) && !strcmp(joined.sha256, want),
       "the restored file has the right SHA-256");
    unlink(path);
    error = sr_blobs_join(&joined, documents, files, false, own);
    ok(error && error->code == SR_EUNAVAILABLE && strstr(error->cause, path),
       "a missing file is an error whose cause says so");
    apr_pool_destroy(own);
    is_int(open_descriptors(), before, "no descriptor is left open");
}

/* --- locks */

static const char *const KEY = "a submission";

static sr_file_lock_t *take(const char *key, apr_pool_t *own)
{
    sr_file_lock_t *turn = NULL;
    if (sr_file_lock_take(&turn, documents, key, sr_time_steady() + apr_time_from_sec(60), own)) abort();
    return turn;
}

/* Adds one to a counter in shared memory, slowly. Without the lock additions would be lost. */
static volatile int *counter;
#define ROUNDS 50

static void count_slowly(apr_pool_t *own)
{
    int i;
    for (i = 0; i < ROUNDS; i++) {
        sr_file_lock_t *turn = take(KEY, own);
        const int was = *counter;
        usleep(100);
        *counter = was + 1;
        sr_file_lock_release(turn);
    }
}

static void *count_in_thread(void *own)
{
    count_slowly(own);
    return NULL;
}

static int count_in_child(void)
{
    count_slowly(pool);
    return 0;
}

static void test_threads(void)
{
    pthread_t threads[4];
    apr_pool_t *pools[4];
    int i;
    *counter = 0;
    for (i = 0; i < 4; i++) {
        apr_pool_create_unmanaged_ex(&pools[i], NULL, NULL);
        pthread_create(&threads[i], NULL, count_in_thread, pools[i]);
    }
    for (i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        apr_pool_destroy(pools[i]);
    }
    is_int(*counter, 4 * ROUNDS, "the lock excludes four threads");
}

static void test_processes(void)
{
    pid_t children[4];
    int i, failures = 0;
    *counter = 0;
    for (i = 0; i < 4; i++) children[i] = start_child(count_in_child);
    for (i = 0; i < 4; i++) failures += wait_child(children[i]) != 0;
    is_int(failures, 0, "four processes take the lock");
    is_int(*counter, 4 * ROUNDS, "the lock excludes four processes");
}

/* Returns true if a child process gets the lock at once. */
static const char *wanted_key;

static int take_in_child(void)
{
    ualarm(300000, 0); /* ends it by SIGALRM */
    take(wanted_key, pool);
    return 0;
}

static bool is_free(const char *key)
{
    wanted_key = key;
    return in_child(take_in_child) == 0;
}

static int channel[2];

static int hold_in_child(void)
{
    take(KEY, pool);
    if (write(channel[1], "x", 1) != 1) return 1;
    pause();
    return 0;
}

static void test_ends(void)
{
    apr_pool_t *own;
    char byte;
    pid_t child;
    sr_file_lock_t *turn;
    apr_pool_create(&own, pool);
    ok(is_free(KEY), "a new lock is free");
    turn = take(KEY, own);
    ok(!is_free(KEY), "a taken lock is not free");
    ok(is_free("another submission"), "the lock of another key is free");
    sr_file_lock_release(turn);
    ok(is_free(KEY), "a released lock is free");
    sr_file_lock_release(turn);
    take(KEY, own);
    ok(!is_free(KEY), "it can be taken again");
    apr_pool_destroy(own);
    ok(is_free(KEY), "the lock is released with its pool");

    if (pipe(channel)) abort();
    child = start_child(hold_in_child);
    ok(read(channel[0], &byte, 1) == 1 && !is_free(KEY), "a child process has the lock");
    kill(child, SIGKILL);
    is_int(wait_child(child), 128 + SIGKILL, "the child process is killed");
    ok(is_free(KEY), "the lock of a killed process is free");
}

/* The wait for a lock ends at its time and leaves nothing behind. */
static void test_deadline(void)
{
    const int before = open_descriptors();
    sr_file_lock_t *late = NULL;
    apr_pool_t *own;
    apr_pool_create(&own, pool);
    sr_file_lock_t *turn = take(KEY, own);
    const apr_time_t begun = sr_time_steady();
    sr_error_t *error = sr_file_lock_take(&late, documents, KEY, begun + apr_time_from_msec(300), own);
    ok(error && error->code == SR_EUNAVAILABLE && !late, "the end of the wait is an error: %s",
       error ? error->message : "none");
    ok(sr_time_steady() >= begun + apr_time_from_msec(300), "the wait does not end before its time");
    sr_time_forward(apr_time_from_sec(60));
    ok(sr_file_lock_take(&late, documents, KEY, begun + apr_time_from_sec(60), own) && !late,
       "the wait ends at once when the clock passes its time");
    sr_time_forward(-apr_time_from_sec(60));
    is_int(open_descriptors(), before + 1, "the wait leaves no descriptor open");
    sr_file_lock_release(turn);
    ok(!sr_file_lock_take(&late, documents, KEY, begun, own), "a free lock is taken even if the time is over");
    apr_pool_destroy(own);
}

static void test_forever(void)
{
    const int before = open_descriptors();
    apr_pool_t *own;
    int i;
    apr_pool_create(&own, pool);
    for (i = 0; i < 100; i++) sr_file_lock_release(take(apr_itoa(own, i), own));
    is_int(open_descriptors(), before, "a hundred locks leave no descriptor open");
    sr_file_lock_t *turn = take(KEY, own);
    const int held = open_descriptors();
    sr_file_lock_release(turn);
    const int other = open("/dev/null", O_RDONLY | O_CLOEXEC); /* it has the same number as the closed one */
    sr_file_lock_release(turn);
    apr_pool_destroy(own);
    ok(held == before + 1 && fcntl(other, F_GETFD) >= 0,
       "releasing a lock twice and with its pool closes no other descriptor");
    close(other);
}

int main(void)
{
    begin();
    counter = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counter == MAP_FAILED) abort();
    test_keep();
    test_no_room();
    test_joins();
    test_large();
    test_damaged();
    test_threads();
    test_processes();
    test_ends();
    test_deadline();
    test_forever();
    end();
    return done();
}
