/* SPDX-License-Identifier: Apache-2.0 */
/* pdfd_fork_server.c: the process that workers are forked from: what its sandbox lets it do, and that it forks a worker
 * for each message, which is a child of its parent. */
#include "helper/main/pdfd.h"
#include "helper/main/process/process.h"
#include "tap.h"

#include <apr_general.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_ENTERED 99
#define SOON (sr_time_steady() + 5000000)

static const char *const folders[] = {"/usr/share/fonts", NULL};

static int try_fork(void)
{
    return fork();
}
static int try_thread(void)
{
    return (int)syscall(SYS_clone, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0);
}
static int try_exec(void)
{
    char *const none[] = {NULL};
    return execve("/bin/true", none, none);
}
static int try_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0);
}
static int try_open(void)
{
    return open("/etc/passwd", O_RDONLY);
}
static int try_move_socket(void)
{
    return dup3(0, 9, O_CLOEXEC);
}

static void test_sandbox(void)
{
    static const struct {
        const char *name;
        int (*attempt)(void);
        bool killed;
    } attempts[] = {
        {"fork as usual", try_fork, true},     {"start a thread", try_thread, true},
        {"execute a program", try_exec, true}, {"open a socket", try_socket, true},
        {"open a file", try_open, false},      {"move others", try_move_socket, false},
    };
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        int status;
        bool files;
        pid_t pid = fork();
        if (!pid) _exit(sr_pdfd_sandbox_enter(&files, folders) && attempts[i].attempt() < 0 ? 0 : NOT_ENTERED);
        waitpid(pid, &status, 0);
        ok(attempts[i].killed ? WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS
                              : WIFEXITED(status) && !WEXITSTATUS(status),
           "the template may not %s", attempts[i].name);
    }
}

static int prepared = 0;

static void prepare(void)
{
    prepared++;
}

/* Each worker tells its number, and ends. Its status is 7, and 1 more for each preparation before it. */
static pid_t start_template(int *client, apr_pool_t *pool)
{
    int pair[2];
    bool files;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) abort();
    pid_t pid = fork();
    if (pid) {
        close(pair[1]);
        *client = pair[0];
        return pid;
    }
    close(pair[0]);
    dup2(pair[1], SR_PDF_SOCKET);
    if (!sr_pdfd_template_possible() || !sr_pdfd_sandbox_enter(&files, folders)) _exit(NOT_ENTERED);
    if (!sr_pdfd_template_serve(prepare, pool)) _exit(0);
    const char *text = apr_psprintf(pool, "{\"pid\":%d}", (int)getpid());
    _exit(sr_pdf_send(SR_PDF_SOCKET, 0, 0, text, strlen(text), NULL, SOON) == SR_PDF_WIRE_OK ? 7 + prepared
                                                                                             : NOT_ENTERED);
}

/* What a worker says, NULL when none came. */
static const char *order(int template, const char *text, apr_pool_t *pool)
{
    int pair[2];
    sr_pdf_header_t header;
    const char *said = NULL;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) abort();
    const int descriptors[SR_PDF_DESCRIPTORS] = {pair[1], -1};
    if (sr_pdf_send(template, 0, 0, text, strlen(text), descriptors, SOON) != SR_PDF_WIRE_OK) abort();
    close(pair[1]);
    if (sr_pdf_receive(&header, &said, NULL, pair[0], 100, SOON, pool) != SR_PDF_WIRE_OK) said = NULL;
    close(pair[0]);
    return said;
}

static void test_forks(apr_pool_t *pool)
{
    int client, status;
    pid_t template = start_template(&client, pool), last = 0;
    for (int i = 0; i < 3; i++) {
        const char *said = order(client, "{\"cpu\":3}", pool);
        pid_t pid = said ? (pid_t)atoi(said + strlen("{\"pid\":")) : 0;
        ok(pid > 1 && pid != last && pid != template, "a worker of its own: %s", said ? said : "none");
        ok(pid > 1 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7,
           "which is a child of the template's client");
        last = pid;
    }
    ok(!order(client, "{{", pool), "a message that is none: no worker");
    for (int orders = 5; orders <= SR_PDFD_MANY_ORDERS + 1; orders++) {
        const int expected = orders > SR_PDFD_MANY_ORDERS ? 8 : 7;
        ok(order(client, "{\"cpu\":3}", pool) && waitpid(-1, &status, 0) > 0 && WEXITSTATUS(status) == expected,
           "order %d: the worker is forked %s", orders, expected == 8 ? "after the preparation" : "before it");
    }
    ok(!kill(template, 0), "and the template is still there");
    close(client);
    ok(waitpid(template, &status, 0) == template && WIFEXITED(status) && !WEXITSTATUS(status),
       "it ends when its client is gone");
}

int main(void)
{
    apr_pool_t *pool;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_sandbox();
    test_forks(pool);
    apr_pool_destroy(pool);
    return done();
}
