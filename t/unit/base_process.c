/* SPDX-License-Identifier: Apache-2.0 */
/* base_process.c: tests of src/base/process.c. A killed process is dead at once, also before its parent has waited
 * for it. A stopped process is alive. If it is not certain that a process is dead, it counts as alive. */
#include "base/base.h"
#include "tap.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static apr_pool_t *pool;

/* Starts a process that waits, and sets its name. */
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
    ok(!strchr(own, '.') && *own != '-', "the name of this process has the right form: %s", own);
    ok(!sr_process_is_dead(own, own), "this process is alive");
    const pid_t pid = start(name);
    ok(pid > 0 && strcmp(name, own) != 0, "another process has another name: %s", name);
    ok(!sr_process_is_dead(own, name), "the other process is alive");
    kill(pid, SIGSTOP);
    waitpid(pid, &status, WUNTRACED);
    ok(!sr_process_is_dead(own, name), "a stopped process is alive");
    ok(!sr_process_is_runnable(pid) && sr_process_is_runnable(getpid()), "it is not runnable, but this process is");
    kill(pid, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    ok(sr_process_is_dead(own, name), "a killed process is dead before its parent has waited for it");
    waitpid(pid, &status, 0);
    ok(sr_process_is_dead(own, name), "it is dead after its parent has waited for it");
    ok(!sr_process_is_runnable(pid), "it is not runnable");
    /* the process id was used again: the start time is another one */
    const char *place = apr_pstrndup(pool, own, strcspn(own, "-"));
    ok(sr_process_is_dead(own, apr_psprintf(pool, "%s-%ld-1-x", place, (long)getpid())),
       "a process whose id belongs to another process is dead");
    ok(!sr_process_is_dead(own, apr_psprintf(pool, "000000000000-%ld-1-x", (long)pid)),
       "a process of another machine counts as alive");
    ok(!sr_process_is_dead(apr_psprintf(pool, "-1-1-x"), apr_psprintf(pool, "-%ld-1-x", (long)pid)),
       "without an own machine every process counts as alive");
    static const char *const odd[] = {"", "x", "-", "--", "-1-1-x", "%s"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        ok(!sr_process_is_dead(own, odd[i]), "a text that is not a name counts as alive: \"%s\"", odd[i]);
    ok(!sr_process_is_dead(own, apr_psprintf(pool, "%s-0-1-x", place)), "process id 0 counts as alive");
    ok(!sr_process_is_dead(own, apr_psprintf(pool, "%s--5-1-x", place)), "a process group counts as alive");
    ok(!sr_process_is_dead(own, apr_psprintf(pool, "%s-x-1-x", place)),
       "a word instead of a process id counts as alive");
    apr_pool_destroy(pool);
    return done();
}
