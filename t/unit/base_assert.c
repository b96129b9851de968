/* SPDX-License-Identifier: Apache-2.0 */
/* base_assert.c: tests of src/base/assert.c: an assertion that does not hold ends the process and says where. */
#include "base/base.h"
#include "tap.h"

#include <apr_general.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char said[500];

/* Calls `body` in a child process, keeps what it writes to stderr, and returns its status. */
static int status_of(void (*body)(void))
{
    int ends[2], status;
    if (pipe(ends)) abort();
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        body();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], said + length, sizeof said - 1 - length)) > 0;) length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    return waitpid(child, &status, 0) == child ? status : -1;
}

static int one = 1;

static void assert_true(void)
{
    sr_assert(one == 1);
}

static void assert_false(void)
{
    sr_assert(one == 2);
}

/* A state that no code of ours can reach. */
static void error_without_code(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, NULL);
    (void)sr_error(pool, (sr_code_t)0, "nothing");
}

int main(void)
{
    apr_initialize();
#ifdef NDEBUG
    skip("this build has no assertions");
    return done();
#endif
    is_int(status_of(assert_true), 0, "an assertion that holds does nothing");
    is_str(said, "", "and writes nothing");
    int status = status_of(assert_false);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "one that does not hold ends the process");
    ok(strstr(said, "assertion failed at t/unit/base_assert.c:") && strstr(said, ": one == 2\n"), "and says where: %s",
       said);
    status = status_of(error_without_code);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "so does an error without a code");
    apr_terminate();
    return done();
}
