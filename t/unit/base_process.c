/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a claim is: a process that was killed is dead at once, also before its parent has asked for it; one that is
 * stopped lives; and of what is not certain nobody is called dead. */
#include "base/base.h"
#include "tap.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static apr_pool_t *pool;

/* A process that waits, and its name. */
static pid_t start(char name[256])
{
    int ends[2];

    if (pipe(ends)) return -1;
    const pid_t pid = fork();
    if (!pid) {
        const char *own = sr_process_name(pool);
        if (write(ends[1], own, strlen(own) + 1) < 0) _exit(1);
        for (;;) pause();
    }
    close(ends[1]);
    for (size_t at = 0; at < 256 && read(ends[0], name + at, 1) == 1 && name[at]; at++) continue;
    close(ends[0]);
    return pid;
}

int main(void)
{
    char name[256] = "";
    int status;

    apr_initialize();
    apr_pool_create(&pool, NULL);
    const char *own = sr_process_name(pool);
    ok(!strchr(own, '.') && *own != '-', "a name: %s", own);
    ok(!sr_process_is_dead(own, own), "we live");
    const pid_t pid = start(name);
    ok(pid > 0 && strcmp(name, own) != 0, "another process has another name: %s", name);
    ok(!sr_process_is_dead(own, name), "it lives");
    kill(pid, SIGSTOP);
    waitpid(pid, &status, WUNTRACED);
    ok(!sr_process_is_dead(own, name), "stopped it lives");
    kill(pid, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    ok(sr_process_is_dead(own, name), "killed it is dead, though its parent does not know yet");
    waitpid(pid, &status, 0);
    ok(sr_process_is_dead(own, name), "and when it does");
    /* its process id, used again: another time of start */
    const char *place = apr_pstrndup(pool, own, strcspn(own, "-"));
    ok(sr_process_is_dead(own, apr_psprintf(pool, "%s-%ld-1-x", place, (long)getpid())),
       "its number belongs to another");
    ok(!sr_process_is_dead(own, apr_psprintf(pool, "000000000000-%ld-1-x", (long)pid)), "of another machine's nothing");
    ok(!sr_process_is_dead(apr_psprintf(pool, "-1-1-x"), apr_psprintf(pool, "-%ld-1-x", (long)pid)),
       "nor without a place of our own");
    static const char *const odd[] = {"", "x", "-", "--", "-1-1-x", "%s"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        ok(!sr_process_is_dead(own, odd[i]), "not a name: \"%s\"", odd[i]);
    ok(!sr_process_is_dead(own, apr_psprintf(pool, "%s-0-1-x", place)), "no process");
    ok(!sr_process_is_dead(own, apr_psprintf(pool, "%s--5-1-x", place)), "nor a group of them");
    ok(!sr_process_is_dead(own, apr_psprintf(pool, "%s-x-1-x", place)), "nor a word");
    apr_pool_destroy(pool);
    return done();
}
