/* SPDX-License-Identifier: Apache-2.0 */
/* rights.c: what the process gives up after it has read the keys. It has no files, no network, no programs and no other
 * processes. Nobody but root can read its memory, and there is no core file of it. */
#include "base/confine.h"
#include "signd/seals.h"

#include <grp.h>
#include <pwd.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define OTHER_DESCRIPTORS 64

void sr_signd_limits(void)
{
    const rlim_t wanted = SR_SIGND_MOST_CONNECTIONS + OTHER_DESCRIPTORS;
    struct rlimit files = {wanted, wanted};
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (setrlimit(RLIMIT_NOFILE, &files) == 0 || getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max; /* without the rights of root the limit may not be raised */
    setrlimit(RLIMIT_NOFILE, &files);
}

bool sr_signd_become(uid_t user, gid_t group)
{
    if (geteuid() != 0) return true;
    const struct passwd *entry = getpwuid(user);
    if (setgid(group) != 0) return false;
    if ((entry ? initgroups(entry->pw_name, group) : setgroups(1, &group)) != 0) return false;
    return setuid(user) == 0 && getuid() == user && geteuid() == user;
}

#define ANY SR_CONFINE_ANY
static const sr_confine_rule_t SERVING[] = {
    {SCMP_SYS(epoll_wait), ANY, 0, 0, 0},
    {SCMP_SYS(epoll_pwait), ANY, 0, 0, 0},
    {SCMP_SYS(epoll_ctl), ANY, 0, 0, 0},
    {SCMP_SYS(recvmsg), ANY, 0, 0, 0},
    {SCMP_SYS(recvfrom), ANY, 0, 0, 0},
    {SCMP_SYS(sendto), ANY, 0, 0, 0},
    {SCMP_SYS(getsockopt), ANY, 0, 0, 0},
    {SCMP_SYS(write), SR_CONFINE_EQUAL, 0, STDERR_FILENO, 0},
    {SCMP_SYS(tgkill), SR_CONFINE_EQUAL, 2, SIGABRT, 0}, /* a failed assertion */
};
static const sr_confine_list_t serving = {SERVING, sizeof SERVING / sizeof *SERVING, false};

/* Instrumented builds need files for their reports and counters. */
bool sr_signd_sandbox(void)
{
#ifdef SR_SANITIZE
    return true;
#else
    static const sr_confine_list_t *const lists[] = {&sr_confine_common, &serving, &sr_confine_fatal, NULL};
    return sr_confine_enter("sigreq-signd", lists);
#endif
}
