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
#include "base/seccomp.h"
#include "helper/main/pdfd.h"
#include "helper/main/process/process.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EQUAL SR_CONFINE_EQUAL
#define MASKED SR_CONFINE_MASKED

static const sr_seccomp_rule_t MESSAGES[] = {
    {SCMP_SYS(recvmsg), EQUAL, 0, SR_PDF_SOCKET, 0},
    {SCMP_SYS(sendmsg), EQUAL, 0, SR_PDF_SOCKET, 0},
};

/* System calls that the template needs to fork a worker. sr_pdfd_sandbox_tighten() removes them. abort() raises a
 * signal in its own thread. */
static const sr_seccomp_rule_t TEMPLATE[] = {
    {SCMP_SYS(clone), EQUAL, 0, SR_PDFD_FORK_FLAGS, 0},
    {SCMP_SYS(dup3), EQUAL, 1, SR_PDF_SOCKET, 0},
    SR_CONFINE_CALL(seccomp),
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
static const sr_seccomp_rule_t FILES[] = {
    {SCMP_SYS(openat), MASKED, 2, 0, NOT_FOR_READING},
    OPENED(read),
    OPENED(pread64),
    OPENED(lseek),
};

/* Any other clone() than that of the template. */
static const sr_seccomp_rule_t OTHER_CLONE[] = {
    {SCMP_SYS(clone), SR_CONFINE_OTHER, 0, SR_PDFD_FORK_FLAGS, 0},
};

#define LIST(rules, fatal)                                                                                             \
    &(const sr_seccomp_list_t)                                                                                         \
    {                                                                                                                  \
        rules, sizeof(rules) / sizeof *(rules), fatal                                                                  \
    }

bool sr_pdfd_sandbox_enter(bool *files, const char *const *folders)
{
    *files = true;
    if (SR_PDFD_INSTRUMENTED) return true;
    *files = folders && sr_pdfd_landlock_enter(folders);
    const sr_seccomp_list_t *const lists[] = {&sr_seccomp_common,
                                              LIST(MESSAGES, false),
                                              LIST(TEMPLATE, false),
                                              &sr_seccomp_fatal,
                                              LIST(OTHER_CLONE, true),
                                              *files ? LIST(FILES, false) : NULL,
                                              NULL};
    return sr_seccomp_enter("sigreq-pdfd", lists);
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
