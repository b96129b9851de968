/* SPDX-License-Identifier: Apache-2.0 */
/* base_descriptor.c: tests of src/base/descriptor.c, alone.c and curl.c: reading and writing that takes several calls,
 * a limit of bytes and one of time, descriptors that belong to a pool, and authorities of libcurl. */
#include "base/base.h"
#include "tap.h"

#include <apr_general.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/curl.h"

#define LARGE ((size_t)300000) /* more than a pipe holds */

static apr_pool_t *pool;
static char large[LARGE];

static bool is_open(int descriptor)
{
    return fcntl(descriptor, F_GETFD) >= 0;
}

static void files(void)
{
    char name[] = "/tmp/descriptor.XXXXXX", bytes[16] = "";
    const int file = mkstemp(name);
    unlink(name);
    ok(sr_descriptor_write(file, "0123456789", 10), "bytes are written to a file");
    is_int(sr_descriptor_read(file, bytes, 4, 3), 4, "4 bytes are read at an offset");
    is_str(bytes, "3456", "they are those of the offset");
    is_int(sr_descriptor_read(file, bytes, sizeof bytes, 8), 2, "at the end of the file there are fewer");
    is_int(sr_descriptor_read(file, bytes, sizeof bytes, 100), 0, "behind it there are none");
    close(file);
    ok(sr_descriptor_read(file, bytes, 1, 0) == -1 && errno == EBADF, "reading from a closed descriptor fails");
    ok(!sr_descriptor_write(file, "x", 1) && errno == EBADF, "so does writing");
}

/* The pipe is filled again and again, so that each side needs several calls. */
static void pipes(void)
{
    int ends[2], status;
    const char *text;
    apr_size_t length;
    if (pipe(ends)) return;
    const pid_t pid = fork();
    if (!pid) {
        close(ends[0]);
        _exit(sr_descriptor_write(ends[1], large, LARGE) ? 0 : 1);
    }
    close(ends[1]);
    ok(sr_descriptor_receive(&text, &length, ends[0], 2 * LARGE, 0, pool), "a pipe is read until it is closed");
    ok(length == LARGE && !memcmp(text, large, LARGE) && !text[length], "all bytes arrive, and a NUL follows");
    waitpid(pid, &status, 0);
    is_int(status, 0, "the writer has written all of them");
    close(ends[0]);
}

static void limits(void)
{
    int ends[2];
    const char *text;
    apr_size_t length;
    if (pipe(ends)) return;
    ok(sr_descriptor_write(ends[1], "waiting", 7), "a pipe has bytes, and stays open");
    ok(!sr_descriptor_receive(&text, &length, ends[0], 100, sr_time_steady() + apr_time_from_msec(20), pool),
       "at the deadline it has not been closed");
    is_str(text, "waiting", "what has arrived is returned");
    ok(sr_descriptor_write(ends[1], large, 10000), "it has more bytes than are wanted");
    ok(!sr_descriptor_receive(&text, &length, ends[0], 100, 0, pool), "reading ends without its end");
    ok(length >= 100 && length < 10000, "about as many as wanted were read: %lu", (unsigned long)length);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    ok(!sr_descriptor_write(ends[1], "x", 1) && errno == EPIPE, "writing fails if nobody can read");
    close(ends[1]);
}

static void belongings(void)
{
    const int low = open("/dev/null", O_RDONLY), raised = sr_descriptor_raise(low);
    apr_pool_t *own;
    ok(raised >= 16 && is_open(raised) && !is_open(low), "a descriptor is moved: %d to %d", low, raised);
    ok(fcntl(raised, F_GETFD) & FD_CLOEXEC, "programs do not inherit it");
    ok(sr_descriptor_raise(low) == -1, "a closed one cannot be moved");
    apr_pool_create(&own, pool);
    sr_descriptor_own(raised, own);
    ok(is_open(raised), "a descriptor of a pool is open");
    apr_pool_destroy(own);
    ok(!is_open(raised), "it is closed with the pool");
}

static void alone(void)
{
    apr_pool_t *own = sr_pool_alone();
    ok(own && !apr_pool_parent_get(own), "a pool has no parent");
    ok(own && apr_pool_allocator_get(own) != apr_pool_allocator_get(pool)
           && apr_allocator_owner_get(apr_pool_allocator_get(own)) == own,
       "it owns an allocator, which ends with it");
    apr_pool_destroy(own);
}

/* No server is asked: a file is not there in the folder of authorities, so that a fault of the text would be hidden. */
static void authorities(void)
{
    CURL *easy = curl_easy_init();
    is_int(sr_curl_authorities(easy, NULL), CURLE_OK, "without authorities nothing is changed");
    is_int(sr_curl_authorities(easy, "-----BEGIN CERTIFICATE-----\n"), CURLE_OK, "a text is taken as it is");
    ok(sr_curl_authorities(NULL, "x") != CURLE_OK, "a failure is returned");
    curl_easy_cleanup(easy);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    for (size_t at = 0; at < LARGE; at++) large[at] = (char)(at * 31 % 251);
    files();
    pipes();
    limits();
    belongings();
    alone();
    authorities();
    return done();
}
