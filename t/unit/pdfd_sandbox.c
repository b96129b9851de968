/* SPDX-License-Identifier: Apache-2.0 */
/* pdfd_sandbox.c: what code inside a document could do once it has taken over sigreq-pdfd. Each attempt is made by
 * a child of its own that has entered the sandbox: it must fail with EPERM (or EACCES: files that are not fonts), or
 * end the child, or (for what reading needs) work. The sandbox without files, for kernels that have no landlock, is
 * tried as well. */
#include "helper/main/pdfd.h"
#include "helper/main/process/process.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int other; /* a descriptor that is neither the log nor the client */
static char fonts[] = "/tmp/sigreq-fonts-XXXXXX", font[64], beside[64], linked[64], created[64];
static const char *folders[] = {fonts, "/nonexistent", NULL};

static int try_open(void)
{
    return open("/etc/passwd", O_RDONLY);
}
static int try_open_beside(void)
{
    return open(beside, O_RDONLY);
}
static int try_open_upwards(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/../..%s", fonts, beside);
    return open(path, O_RDONLY);
}
static int try_open_link(void)
{
    return open(linked, O_RDONLY);
}
static int try_open_process(void)
{
    return open("/proc/self/mem", O_RDONLY);
}
static int try_write_font(void)
{
    return open(font, O_WRONLY);
}
static int try_change_font(void)
{
    return open(font, O_RDWR);
}
static int try_cut_font(void)
{
    return open(font, O_RDONLY | O_TRUNC);
}
static int try_create_font(void)
{
    return open(created, O_CREAT | O_RDONLY, 0600);
}
static int try_unnamed_font(void)
{
    return open(fonts, O_TMPFILE | O_RDWR, 0600);
}
static int try_list_fonts(void)
{
    return open(fonts, O_RDONLY | O_DIRECTORY);
}
static int try_path_only(void)
{
    return open("/etc/passwd", O_PATH);
}
static int try_remove_font(void)
{
    return unlink(font);
}
static int try_create(void)
{
    return open("/tmp/sigreq-sandbox", O_CREAT | O_WRONLY, 0600);
}
static int try_stat_empty(void)
{
    struct stat info;
    return fstatat(AT_FDCWD, "/etc/passwd", &info, AT_EMPTY_PATH);
}
static int try_read_log(void)
{
    char byte;
    return (int)read(STDERR_FILENO, &byte, 1);
}
static int try_read_log_disguised(void) /* the kernel looks at half of the register */
{
    char byte;
    return (int)syscall(SYS_read, 0x400000000L + STDERR_FILENO, &byte, 1);
}
static int try_move_log(void)
{
    return (int)lseek(STDERR_FILENO, 0, SEEK_CUR);
}
static int try_stat(void)
{
    struct stat info;
    return stat("/etc/passwd", &info);
}
static int try_unlink(void)
{
    return unlink("/tmp/sigreq-sandbox-none");
}
static int try_read(void)
{
    char byte;
    return (int)read(other, &byte, 1);
}
static int try_write(void)
{
    return (int)write(other, "x", 1);
}
static int try_log(void)
{
    return (int)write(STDERR_FILENO, "x", 1);
}
static int try_send(void)
{
    struct iovec part = {(char *)"x", 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    return (int)sendmsg(other, &message, 0);
}
static int try_signal(void)
{
    return kill(getppid(), 0);
}
static int try_thread_signal(void)
{
    return (int)syscall(SYS_tgkill, 1, 1, 0);
}
static int try_executable_memory(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}
static int try_make_executable(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? 0 : mprotect(page, 4096, PROT_READ | PROT_EXEC);
}
static int try_limit_of_other(void)
{
    struct rlimit limit;
    return prlimit(1, RLIMIT_CPU, NULL, &limit);
}
static int try_become_root(void)
{
    return setuid(0);
}
static int try_core_memory(void)
{
    return (int)syscall(SYS_memfd_create, "x", 0);
}
static int try_socketpair(void)
{
    int pair[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
}

static int try_exec(void)
{
    char *const none[] = {NULL};
    return execve("/bin/true", none, none);
}
static int try_fork(void)
{
    return fork();
}
static int try_fork_worker(void)
{
    return (int)syscall(SYS_clone, SR_PDFD_FORK_FLAGS, 0, 0, 0, 0);
}
static int try_thread(void)
{
    return (int)syscall(SYS_clone, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0);
}
static int try_filter(void)
{
    return (int)syscall(SYS_seccomp, 0, 0, NULL);
}
static int try_other_socket(void)
{
    return dup3(other, SR_PDF_SOCKET, O_CLOEXEC);
}
static int try_abort_other(void)
{
    return (int)syscall(SYS_tgkill, getppid(), getppid(), SIGABRT);
}
static int try_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0);
}
static int try_connect(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/nonexistent"};
    return connect(SR_PDF_SOCKET, (struct sockaddr *)&address, sizeof address);
}
static int try_ptrace(void)
{
    return (int)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}
static int try_namespace(void)
{
    return unshare(CLONE_NEWUSER);
}
#ifdef __x86_64__
static int try_old_calls(void)
{
    int response; /* getpid of 32-bit programs, whose number is another call's here */
    __asm__ volatile("int $0x80" : "=a"(response) : "a"(20) : "memory");
    return response;
}
/* Whether the kernel has the calls of 32-bit programs: without IA32 emulation, int 0x80 is a fault in every process. */
static bool has_old_calls(void)
{
    int status;
    pid_t pid = fork();
    if (!pid) _exit(try_old_calls() != getpid());
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    skip("this kernel has no calls of 32-bit programs");
    return false;
}
#endif

static int do_font(void)
{
    struct stat info;
    char text[5];
    int fd = open(font, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) || info.st_size != 4) return -1;
    if (read(fd, text, 4) != 4 || memcmp(text, "font", 4) != 0 || lseek(fd, 0, SEEK_SET)) return -1;
    void *mapped = mmap(NULL, 4, PROT_READ, MAP_PRIVATE, fd, 0);
    return mapped == MAP_FAILED || memcmp(mapped, "font", 4) != 0 ? -1 : close(fd);
}
static int do_font_stream(void)
{
    char text[5] = "";
    FILE *file = fopen(font, "rb");
    bool read_it = file && fread(text, 1, 4, file) == 4 && !strcmp(text, "font");
    return read_it ? fclose(file) : -1;
}
static int do_memory(void)
{
    char *bytes = malloc(64 << 20);
    if (!bytes) return -1;
    memset(bytes, 1, 64 << 20);
    bytes = realloc(bytes, 80 << 20);
    free(bytes);
    return bytes ? 0 : -1;
}
static int do_limits(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_CPU, &limit) || setrlimit(RLIMIT_CPU, &limit) ? -1 : 0;
}
static int do_clock(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
}
static int do_fstat(void)
{
    struct stat info;
    return fstat(other, &info);
}
static int do_answer(void)
{
    return sr_pdf_send(SR_PDF_SOCKET, 1, 0, "{}", 2, NULL, sr_time_steady() + 1000000) == SR_PDF_WIRE_OK ? 0 : -1;
}
typedef struct attempt_t {
    const char *name;
    int (*attempt)(void);
    enum { REFUSED, CONFINED, KILLED, ALLOWED } want;
} attempt_t;

static const attempt_t ATTEMPTS[] = {
    {"open a file", try_open, CONFINED},
    {"open a file beside the fonts", try_open_beside, CONFINED},
    {"open a file by way of the fonts", try_open_upwards, CONFINED},
    {"open a file that a link among the fonts points to", try_open_link, CONFINED},
    {"open its own memory", try_open_process, CONFINED},
    {"write to a font", try_write_font, REFUSED},
    {"read and write a font", try_change_font, REFUSED},
    {"cut a font", try_cut_font, REFUSED},
    {"create a font", try_create_font, REFUSED},
    {"create a font without a name", try_unnamed_font, REFUSED},
    {"list the fonts", try_list_fonts, REFUSED},
    {"hold a path", try_path_only, REFUSED},
    {"remove a font", try_remove_font, REFUSED},
    {"create a file", try_create, REFUSED},
    {"look at a file", try_stat, REFUSED},
    {"look at a file as at a descriptor", try_stat_empty, REFUSED},
    {"remove a file", try_unlink, REFUSED},
    {"read another descriptor", try_read, REFUSED},
    {"write to another descriptor", try_write, REFUSED},
    {"write to the error log", try_log, REFUSED},
    {"read the error log", try_read_log, REFUSED},
    {"read the error log by half a register", try_read_log_disguised, REFUSED},
    {"move in the error log", try_move_log, REFUSED},
    {"send to another socket", try_send, REFUSED},
    {"signal its parent", try_signal, REFUSED},
    {"signal another thread", try_thread_signal, REFUSED},
    {"abort its parent", try_abort_other, REFUSED},
    {"have executable memory", try_executable_memory, REFUSED},
    {"make memory executable", try_make_executable, REFUSED},
    {"look at another process's limits", try_limit_of_other, REFUSED},
    {"become root", try_become_root, REFUSED},
    {"make a file in memory", try_core_memory, REFUSED},
    {"make a pair of sockets", try_socketpair, REFUSED},
    {"execute a program", try_exec, KILLED},
    {"fork", try_fork, KILLED},
    {"fork as the template does", try_fork_worker, KILLED},
    {"start a thread", try_thread, KILLED},
    {"have another filter", try_filter, KILLED},
    {"have another socket for its own", try_other_socket, KILLED},
    {"open a socket", try_socket, KILLED},
    {"connect", try_connect, KILLED},
    {"trace its parent", try_ptrace, KILLED},
    {"have a namespace of its own", try_namespace, KILLED},
    {"open, measure, read and map a font", do_font, ALLOWED},
    {"read a font as a stream", do_font_stream, ALLOWED},
    {"take and give back memory", do_memory, ALLOWED},
    {"set its own limits", do_limits, ALLOWED},
    {"see how much time it has used", do_clock, ALLOWED},
    {"see a document's size", do_fstat, ALLOWED},
    {"answer its client", do_answer, ALLOWED},
};

#define NOT_ENTERED 99

static bool enter(const char *const *allowed)
{
    bool files;
    return sr_pdfd_sandbox_enter(&files, allowed) && files == (allowed != NULL) && sr_pdfd_sandbox_tighten();
}

/* The wait status of a child that tries it. */
static int outcome_of(int (*attempt)(void), const char *const *allowed)
{
    int status;
    pid_t pid = fork();
    if (!pid) {
        if (!enter(allowed)) _exit(NOT_ENTERED);
        _exit(attempt() < 0 ? errno : 0);
    }
    waitpid(pid, &status, 0);
    return status;
}

static void test_attempt(const attempt_t *attempt)
{
    static const char *const wanted[] = {"may not", "may not", "is ended when it tries to", "may"};
    static const int wanted_status[] = {EPERM, EACCES, 0, 0};
    int status = outcome_of(attempt->attempt, folders);
    bool passed = attempt->want == KILLED ? WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS
                                          : WIFEXITED(status) && WEXITSTATUS(status) == wanted_status[attempt->want];
    ok(passed, "it %s %s", wanted[attempt->want], attempt->name);
    if (!passed) printf("#   wait status %x\n", (unsigned)status);
}

/* A worker that ends by abort() is to be seen to. */
static void test_abort(void)
{
    int status;
    pid_t pid = fork();
    if (!pid) {
        if (!enter(folders)) _exit(NOT_ENTERED);
        abort();
    }
    waitpid(pid, &status, 0);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "abort() is seen as what it is");
}

/* Where nothing confines open(), there is none. */
static void test_without_files(void)
{
    static const attempt_t attempts[] = {
        {"open a font", do_font, REFUSED},
        {"open a file", try_open, REFUSED},
        {"read another descriptor", try_read, REFUSED},
        {"answer its client", do_answer, ALLOWED},
    };
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        int status = outcome_of(attempts[i].attempt, NULL);
        ok(WIFEXITED(status) && WEXITSTATUS(status) == (attempts[i].want == ALLOWED ? 0 : EPERM),
           "without files it %s %s", attempts[i].want == ALLOWED ? "may" : "may not", attempts[i].name);
    }
}

static void make_fonts(void)
{
    if (!mkdtemp(fonts)) abort();
    snprintf(font, sizeof font, "%s/font", fonts);
    snprintf(beside, sizeof beside, "%s-beside", fonts);
    snprintf(linked, sizeof linked, "%s/linked", fonts);
    snprintf(created, sizeof created, "%s/new", fonts);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(i ? beside : font, "w");
        if (!file || fputs("font", file) < 0 || fclose(file)) abort();
    }
    if (symlink(beside, linked)) abort();
}

static void remove_fonts(void)
{
    ok(!unlink(font) && !unlink(beside) && !unlink(linked) && !rmdir(fonts), "and nothing more is among the fonts");
}

/* Without the sandbox these work, or the test above would prove nothing. */
static void test_outside(void)
{
    int fd = try_open();
    ok(fd >= 0 && try_write() == 1 && try_send() == 1, "outside it, files and other descriptors are there");
    close(fd);
    ok(try_open_beside() >= 0 && try_open_upwards() >= 0 && try_open_link() >= 0 && try_write_font() >= 0
           && try_list_fonts() >= 0 && try_path_only() >= 0 && !try_stat_empty() && !do_font(),
       "the fonts and what is beside them");
    fd = try_socket();
    ok(fd >= 0, "and sockets");
    close(fd);
}

static void test_status(void)
{
    char path[64], line[200];
    int privileges = -1, filter = -1;
    pid_t pid = fork();
    if (!pid) {
        if (!enter(folders)) _exit(NOT_ENTERED);
        poll(NULL, 0, 5000);
        _exit(0);
    }
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    for (int i = 0; i < 200 && filter != 2; i++) {
        poll(NULL, 0, 5);
        FILE *status = fopen(path, "r");
        while (status && fgets(line, sizeof line, status)) {
            sscanf(line, "NoNewPrivs: %d", &privileges);
            sscanf(line, "Seccomp: %d", &filter);
        }
        if (status) fclose(status);
    }
    is_int(privileges, 1, "it gains no privileges");
    is_int(filter, 2, "the kernel says that it filters");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

int main(void)
{
    int client[2], strangers[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, client) || socketpair(AF_UNIX, SOCK_STREAM, 0, strangers)) return 1;
    other = fcntl(strangers[0], F_DUPFD, 50);
    int peer = fcntl(client[1], F_DUPFD, 50);
    if (other < 0 || peer < 0 || dup2(client[0], SR_PDF_SOCKET) < 0) return 1;
    make_fonts();
    test_outside();
    for (size_t i = 0; i < sizeof ATTEMPTS / sizeof *ATTEMPTS; i++) test_attempt(&ATTEMPTS[i]);
#ifdef __x86_64__
    if (has_old_calls()) test_attempt(&(attempt_t){"use another architecture's calls", try_old_calls, KILLED});
#endif
    test_abort();
    test_without_files();
    test_status();
    remove_fonts();
    return done();
}
