/* SPDX-License-Identifier: Apache-2.0 */
/* rights.c: what the process gives up after it has read the keys. It has no files, no network, no programs and no other
 * processes. With a key in a token it keeps files and sockets. Nobody but root can read its memory, and there is no
 * core file of it. */
#include "base/seccomp.h"
#include "signer/main/seals.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

static const sr_seccomp_rule_t SERVING[] = {
    SR_CONFINE_CALL(epoll_wait),
    SR_CONFINE_CALL(epoll_pwait),
    SR_CONFINE_CALL(epoll_ctl),
    SR_CONFINE_CALL(recvmsg),
    SR_CONFINE_CALL(recvfrom),
    SR_CONFINE_CALL(sendto),
    SR_CONFINE_CALL(getsockopt),
    {SCMP_SYS(write), SR_CONFINE_EQUAL, 0, STDERR_FILENO, 0},
    {SCMP_SYS(tgkill), SR_CONFINE_EQUAL, 2, SIGABRT, 0}, /* a failed assertion */
};
static const sr_seccomp_list_t serving = {SERVING, sizeof SERVING / sizeof *SERVING, false};

/* What no module of a token may do either: start programs or processes, look into other processes, change the system.
 * It may use files and sockets, and start threads. */
static const int REFUSED[] = {
    SCMP_SYS(execve),       SCMP_SYS(execveat),
    SCMP_SYS(fork),         SCMP_SYS(vfork),
    SCMP_SYS(ptrace),       SCMP_SYS(process_vm_readv),
    SCMP_SYS(unshare),      SCMP_SYS(process_vm_writev),
    SCMP_SYS(setns),        SCMP_SYS(mount),
    SCMP_SYS(umount2),      SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),       SCMP_SYS(bpf),
    SCMP_SYS(keyctl),       SCMP_SYS(add_key),
    SCMP_SYS(request_key),  SCMP_SYS(io_uring_setup),
    SCMP_SYS(userfaultfd),  SCMP_SYS(perf_event_open),
    SCMP_SYS(kexec_load),   SCMP_SYS(init_module),
    SCMP_SYS(finit_module), SCMP_SYS(pidfd_getfd),
    SCMP_SYS(personality),  SCMP_SYS(open_by_handle_at),
    SCMP_SYS(kcmp),
};

static int refuse_calls(scmp_filter_ctx filter)
{
    int failed = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (!failed) failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    for (size_t i = 0; !failed && i < sizeof REFUSED / sizeof *REFUSED; i++)
        failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), REFUSED[i], 0);
    /* a thread, and no process; the C library falls back to clone, whose flags can be seen */
    if (!failed) failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (!failed)
        failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                  SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
    return failed ? failed : seccomp_load(filter);
}

/* Enters the weaker sandbox. */
static bool rights_refuse(void)
{
    int failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ? -errno : 0;
    scmp_filter_ctx filter = failed ? NULL : seccomp_init(SCMP_ACT_ALLOW);
    if (!failed) failed = filter ? refuse_calls(filter) : -ENOMEM;
    if (filter) seccomp_release(filter);
    if (failed) fprintf(stderr, "sigreq-signd: no sandbox on this system, so no work: %s\n", strerror(-failed));
    return !failed;
}

/* Instrumented builds need files for their reports and counters. */
bool sr_signd_sandbox(bool token)
{
#ifdef SR_SANITIZE
    return true;
#else
    static const sr_seccomp_list_t *const lists[] = {&sr_seccomp_common, &serving, &sr_seccomp_fatal, NULL};
    return token ? rights_refuse() : sr_seccomp_enter("sigreq-signd", lists);
#endif
}
