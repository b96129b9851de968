/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.c: after the libraries are loaded, the process keeps only the system calls that it needs to read a PDF from
 * memory, and, in the template, to fork a worker. Code that a document has taken over can then use up its own processor
 * time and give wrong answers about its document. It has no network, no programs, no other processes, no access to the
 * error log, and of the file system only the public fonts.
 *
 * Fonts are needed because documents name fonts that they do not contain, and a signer could otherwise sign a page of
 * which they have not seen the text. All workers are alike and may read fonts. A second kind of worker for pages only
 * would parse the same documents and would not be safer, and one kind could be idle while the other is overloaded.
 * Passing all fonts as descriptors would take hundreds of them and a replacement for how three libraries open files. So
 * open(2) for reading is permitted, and landlock (available in Debian 12's kernel) confines it to the folders of
 * folders.c. It reveals about other files only whether they exist. On a kernel without landlock open(2) is not
 * permitted. Workers then cannot show pages but can do everything else.
 */
#include "pdfd/pdfd.h"
#include "pdfd/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A rule with `compare` applies if argument `argument` equals `value` (EQUAL), does not (OTHER), or equals it after
 * masking with `mask` (MASKED). */
typedef struct rule_t {
    int call;
    enum { ANY, EQUAL, OTHER, MASKED } compare;
    unsigned argument;
    uint64_t value, mask;
} rule_t;

static const rule_t ALLOWED[] = {
    /* messages */
    {SCMP_SYS(recvmsg), EQUAL, 0, SR_PDF_SOCKET, 0},
    {SCMP_SYS(sendmsg), EQUAL, 0, SR_PDF_SOCKET, 0},
    {SCMP_SYS(poll), ANY, 0, 0, 0},
    {SCMP_SYS(ppoll), ANY, 0, 0, 0},
    {SCMP_SYS(close), ANY, 0, 0, 0},
    {SCMP_SYS(fstat), ANY, 0, 0, 0},
    /* memory that is not executable */
    {SCMP_SYS(mmap), MASKED, 2, 0, PROT_EXEC},
    {SCMP_SYS(mprotect), MASKED, 2, 0, PROT_EXEC},
    {SCMP_SYS(munmap), ANY, 0, 0, 0},
    {SCMP_SYS(mremap), ANY, 0, 0, 0},
    {SCMP_SYS(madvise), ANY, 0, 0, 0},
    {SCMP_SYS(brk), ANY, 0, 0, 0},
    /* the process itself */
    {SCMP_SYS(prlimit64), EQUAL, 0, 0, 0},
    {SCMP_SYS(getrlimit), ANY, 0, 0, 0},
    {SCMP_SYS(setrlimit), ANY, 0, 0, 0},
    {SCMP_SYS(clock_gettime), ANY, 0, 0, 0},
    {SCMP_SYS(gettimeofday), ANY, 0, 0, 0},
    {SCMP_SYS(futex), ANY, 0, 0, 0},
    {SCMP_SYS(getrandom), ANY, 0, 0, 0},
    {SCMP_SYS(getpid), ANY, 0, 0, 0},
    {SCMP_SYS(gettid), ANY, 0, 0, 0},
    {SCMP_SYS(rt_sigprocmask), ANY, 0, 0, 0},
    {SCMP_SYS(rt_sigreturn), ANY, 0, 0, 0},
    {SCMP_SYS(restart_syscall), ANY, 0, 0, 0},
    {SCMP_SYS(exit), ANY, 0, 0, 0},
    {SCMP_SYS(exit_group), ANY, 0, 0, 0},
};

/* System calls that the template needs to fork a worker. sr_pdfd_sandbox_tighten() removes them. abort() raises a
 * signal in its own thread. */
static const rule_t TEMPLATE[] = {
    {SCMP_SYS(clone), EQUAL, 0, SR_PDFD_FORK_FLAGS, 0},
    {SCMP_SYS(dup3), EQUAL, 1, SR_PDF_SOCKET, 0},
    {SCMP_SYS(seccomp), ANY, 0, 0, 0},
    {SCMP_SYS(tgkill), EQUAL, 2, SIGABRT, 0},
};

/* Only with landlock. Descriptors 0 to 3 belong to the log and the client. Descriptors 4 to 15, which are all others
 * that can exist (limits.c), have bit 2 or bit 3 set, whatever the upper half of the register contains. */
#define OPENED(call)                                                                                                   \
    {SCMP_SYS(call), MASKED, 0, 4, 4},                                                                                 \
    {                                                                                                                  \
        SCMP_SYS(call), MASKED, 0, 8, 8                                                                                \
    }
#define NOT_FOR_READING (0xffffffffu & ~(unsigned)(O_CLOEXEC | O_NOCTTY | O_NONBLOCK))
static const rule_t FILES[] = {
    {SCMP_SYS(openat), MASKED, 2, 0, NOT_FOR_READING},
    OPENED(read),
    OPENED(pread64),
    OPENED(lseek),
};

/* No library has a reason to use these, so code that does has taken over the process. */
static const int FATAL[] = {
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(clone3),
    SCMP_SYS(socket),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(listen),
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    SCMP_SYS(ptrace),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(mount),
    SCMP_SYS(bpf),
    SCMP_SYS(keyctl),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(io_uring_setup),
};

static int add_rule(scmp_filter_ctx filter, uint32_t action, const rule_t *rule)
{
    struct scmp_arg_cmp compare = {.arg = rule->argument, .op = SCMP_CMP_EQ, .datum_a = rule->value};
    if (rule->compare == OTHER) compare.op = SCMP_CMP_NE;
    if (rule->compare == MASKED)
        compare = (struct scmp_arg_cmp){rule->argument, SCMP_CMP_MASKED_EQ, rule->mask, rule->value};
    return seccomp_rule_add_array(filter, action, rule->call, rule->compare == ANY ? 0 : 1, &compare);
}

static int add_rules(scmp_filter_ctx filter, const rule_t *rules, size_t count)
{
    int failed = 0;
    for (size_t i = 0; !failed && i < count; i++) failed = add_rule(filter, SCMP_ACT_ALLOW, &rules[i]);
    return failed;
}

static int fill(scmp_filter_ctx filter, bool files)
{
    /* The numbers of system calls of another architecture could match the rules. The binary tree keeps a long list
     * fast. */
    int failed = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (!failed) failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (!failed) failed = add_rules(filter, ALLOWED, sizeof ALLOWED / sizeof *ALLOWED);
    if (!failed) failed = add_rules(filter, TEMPLATE, sizeof TEMPLATE / sizeof *TEMPLATE);
    if (!failed && files) failed = add_rules(filter, FILES, sizeof FILES / sizeof *FILES);
    for (size_t i = 0; !failed && i < sizeof FATAL / sizeof *FATAL; i++)
        failed = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, FATAL[i], 0);
    const rule_t other_clone = {SCMP_SYS(clone), OTHER, 0, SR_PDFD_FORK_FLAGS, 0};
    return failed ? failed : add_rule(filter, SCMP_ACT_KILL_PROCESS, &other_clone);
}

bool sr_pdfd_sandbox_enter(bool *files, const char *const *folders)
{
    *files = true;
    if (SR_PDFD_INSTRUMENTED) return true;
    *files = folders && sr_pdfd_landlock_enter(folders);
    int failed = 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)) failed = -errno;
    if (!failed) {
        scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
        failed = filter ? fill(filter, *files) : -ENOMEM;
        if (!failed) failed = seccomp_load(filter);
        if (filter) seccomp_release(filter);
    }
    if (failed) fprintf(stderr, "sigreq-pdfd: no sandbox on this system, so no work: %s\n", strerror(-failed));
    return !failed;
}

/* The low half of the first argument of a system call. It is enough for process ids. */
#define FIRST_ARGUMENT (offsetof(struct seccomp_data, args) + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0))

/* The kernel applies both filters, and the stricter result wins. This filter removes the calls of TEMPLATE, except a
 * signal to the worker itself, so that the log can name the signal that killed it. It is written by hand because every
 * worker installs it, and libseccomp needs as much time for it as a small document. The first filter guarantees that
 * the numbers of system calls belong to this architecture. */
bool sr_pdfd_sandbox_tighten(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 7, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_dup3, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIRST_ARGUMENT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)getpid(), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return SR_PDFD_INSTRUMENTED || !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* FreeType calls fstat() for the size of a font. glibc may use the system call with a path for it, which is not
 * permitted. The libraries use this function instead, because the symbols of the program come before those of glibc
 * (Makefile, PDFD_LIBS). */
__attribute__((visibility("default"))) int fstat(int descriptor, struct stat *info)
{
    return (int)syscall(SYS_fstat, descriptor, info);
}
