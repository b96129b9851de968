/* SPDX-License-Identifier: Apache-2.0 */
/* seccomp.c: makes a filter of system calls from lists, and enters it. Only the programs beside httpd use it, so only
 * they are linked with libseccomp. */
#include "base/seccomp.h"

#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define CALL SR_CONFINE_CALL
#define EQUAL SR_CONFINE_EQUAL
#define MASKED SR_CONFINE_MASKED
#define COUNT(rules) (sizeof(rules) / sizeof *(rules))

static const sr_seccomp_rule_t COMMON[] = {
    CALL(poll),
    CALL(ppoll),
    CALL(close),
    CALL(fstat),
    /* memory that is not executable */
    {SCMP_SYS(mmap), MASKED, 2, 0, PROT_EXEC},
    {SCMP_SYS(mprotect), MASKED, 2, 0, PROT_EXEC},
    CALL(munmap),
    CALL(mremap),
    CALL(madvise),
    CALL(brk),
    /* the process itself */
    {SCMP_SYS(prlimit64), EQUAL, 0, 0, 0},
    CALL(getrlimit),
    CALL(setrlimit),
    CALL(clock_gettime),
    CALL(gettimeofday),
    CALL(futex),
    CALL(getrandom),
    CALL(getpid),
    CALL(gettid),
    CALL(rt_sigprocmask),
    CALL(rt_sigreturn),
    CALL(restart_syscall),
    CALL(exit),
    CALL(exit_group),
};
const sr_seccomp_list_t sr_seccomp_common = {COMMON, COUNT(COMMON), false};

/* No library has a reason to use these, so code that does has taken over the process. */
static const sr_seccomp_rule_t FATAL[] = {
    CALL(execve),
    CALL(execveat),
    CALL(fork),
    CALL(vfork),
    CALL(clone3),
    CALL(socket),
    CALL(connect),
    CALL(bind),
    CALL(listen),
    CALL(accept),
    CALL(accept4),
    CALL(ptrace),
    CALL(unshare),
    CALL(setns),
    CALL(mount),
    CALL(bpf),
    CALL(keyctl),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(io_uring_setup),
};
const sr_seccomp_list_t sr_seccomp_fatal = {FATAL, COUNT(FATAL), true};

static int add_rule(scmp_filter_ctx filter, uint32_t action, const sr_seccomp_rule_t *rule)
{
    struct scmp_arg_cmp compare = {.arg = rule->argument, .op = SCMP_CMP_EQ, .datum_a = rule->value};
    if (rule->compare == SR_CONFINE_OTHER) compare.op = SCMP_CMP_NE;
    if (rule->compare == SR_CONFINE_MASKED)
        compare = (struct scmp_arg_cmp){rule->argument, SCMP_CMP_MASKED_EQ, rule->mask, rule->value};
    return seccomp_rule_add_array(filter, action, rule->call, rule->compare == SR_CONFINE_ANY ? 0 : 1, &compare);
}

static int add_rules(scmp_filter_ctx filter, const sr_seccomp_list_t *list)
{
    int failed = 0;
    for (size_t i = 0; !failed && i < list->count; i++)
        failed = add_rule(filter, list->fatal ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ALLOW, &list->rules[i]);
    return failed;
}

static int seccomp_fill(scmp_filter_ctx filter, const sr_seccomp_list_t *const *lists)
{
    /* The numbers of system calls of another architecture could match the rules. The binary tree keeps a long list
     * fast. */
    int failed = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (!failed) failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (!failed) failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    for (; !failed && *lists; lists++) failed = add_rules(filter, *lists);
    return failed;
}

bool sr_seccomp_enter(const char *program, const sr_seccomp_list_t *const *lists)
{
    int failed = 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)) failed = -errno;
    if (!failed) {
        scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
        failed = filter ? seccomp_fill(filter, lists) : -ENOMEM;
        if (!failed) failed = seccomp_load(filter);
        if (filter) seccomp_release(filter);
    }
    if (failed) fprintf(stderr, "%s: no sandbox on this system, so no work: %s\n", program, strerror(-failed));
    return !failed;
}
