/* SPDX-License-Identifier: Apache-2.0 */
/* signd_start.h: starts build/sigreq-signd as httpd's parent does, for tests and for `make bench`. */
#ifndef SR_TEST_SIGND_START_H
#define SR_TEST_SIGND_START_H

#include "signer/protocol.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct signd_run_t {
    int door, inside; /* the ends of the door */
    pid_t pid;
    const json_t *answer; /* to the setup; NULL: none */
} signd_run_t;

static inline int signd_high(int descriptor)
{
    const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 16);
    close(descriptor);
    return moved;
}

static inline void signd_door(signd_run_t *run)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) abort();
    run->door = signd_high(pair[0]);
    run->inside = signd_high(pair[1]);
}

/* Starts the program behind the door that is there, and waits for its answer. `setup` is JSON text. */
static inline void signd_start(signd_run_t *run, const char *setup, apr_pool_t *pool)
{
    int pair[2];
    char *text = apr_palloc(pool, 1 << 18);
    json_t *answer;
    apr_size_t length = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) abort();
    pair[1] = signd_high(pair[1]);
    const int tries = signd_high(memfd_create("tries", MFD_CLOEXEC));
    const int descriptors[] = {run->inside, pair[1], tries};
    const char *build = getenv("O") ? getenv("O") : "build";
    const sr_spawn_t what = {apr_pstrcat(pool, build, "/sigreq-signd", NULL), "sigreq-signd: test", descriptors, 3,
                             environ};
    if (sr_process_spawn(&run->pid, &what)) abort();
    close(pair[1]);
    close(tries);
    if (write(pair[0], setup, strlen(setup)) != (ssize_t)strlen(setup)) abort();
    shutdown(pair[0], SHUT_WR);
    for (ssize_t got; (got = read(pair[0], text + length, (1 << 18) - length)) > 0;) length += (apr_size_t)got;
    close(pair[0]);
    run->answer = sr_json_parse(&answer, text, length, pool) ? NULL : answer;
}

static inline const char *signd_pem(const signd_run_t *run, size_t number)
{
    return json_string_value(json_array_get(json_object_get(run->answer, SR_SIGND_PEM), number));
}

static inline int signd_wait(const signd_run_t *run)
{
    int status = 0;
    while (waitpid(run->pid, &status, 0) < 0) continue;
    return status;
}

#endif
