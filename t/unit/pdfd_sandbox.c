/* pdfd_sandbox.c: what code inside a document could do once it has taken over sigreq-pdfd. Each attempt is made by
 * a child of its own that has entered the sandbox: it must fail with EPERM, or end the child, or (for what reading
 * needs) work. */
#include "pdfd/pdfd.h"
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

static int try_open(void)
{
    return open("/etc/passwd", O_RDONLY);
}
static int try_create(void)
{
    return open("/tmp/sigreq-sandbox", O_CREAT | O_WRONLY, 0600);
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
    int answer; /* getpid of 32-bit programs, whose number is another call's here */
    __asm__ volatile("int $0x80" : "=a"(answer) : "a"(20) : "memory");
    return answer;
}
#endif

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
    return (int)syscall(SYS_fstat, other, &info);
}
static int do_answer(void)
{
    return sr_pdf_send(SR_PDF_SOCKET, 1, 0, "{}", NULL, sr_pdf_clock() + 1000000) == SR_PDF_WIRE_OK ? 0 : -1;
}
typedef struct attempt_t {
    const char *name;
    int (*attempt)(void);
    enum { REFUSED, KILLED, ALLOWED } want;
} attempt_t;

static const attempt_t ATTEMPTS[] = {
    {"open a file", try_open, REFUSED},
    {"create a file", try_create, REFUSED},
    {"look at a file", try_stat, REFUSED},
    {"remove a file", try_unlink, REFUSED},
    {"read another descriptor", try_read, REFUSED},
    {"write to another descriptor", try_write, REFUSED},
    {"write to the error log", try_log, REFUSED},
    {"send to another socket", try_send, REFUSED},
    {"signal its parent", try_signal, REFUSED},
    {"signal another thread", try_thread_signal, REFUSED},
    {"have executable memory", try_executable_memory, REFUSED},
    {"make memory executable", try_make_executable, REFUSED},
    {"look at another process's limits", try_limit_of_other, REFUSED},
    {"become root", try_become_root, REFUSED},
    {"make a file in memory", try_core_memory, REFUSED},
    {"make a pair of sockets", try_socketpair, REFUSED},
    {"execute a program", try_exec, KILLED},
    {"fork", try_fork, KILLED},
    {"open a socket", try_socket, KILLED},
    {"connect", try_connect, KILLED},
    {"trace its parent", try_ptrace, KILLED},
    {"have a namespace of its own", try_namespace, KILLED},
#ifdef __x86_64__
    {"use another architecture's calls", try_old_calls, KILLED},
#endif
    {"take and give back memory", do_memory, ALLOWED},
    {"set its own limits", do_limits, ALLOWED},
    {"see how much time it has used", do_clock, ALLOWED},
    {"see a document's size", do_fstat, ALLOWED},
    {"answer its client", do_answer, ALLOWED},
};

#define NOT_ENTERED 99

static void test_attempt(const attempt_t *attempt)
{
    static const char *const wanted[] = {"may not", "is ended when it tries to", "may"};
    int status;
    pid_t pid = fork();
    if (!pid) {
        if (!sr_pdfd_sandbox_enter()) _exit(NOT_ENTERED);
        _exit(attempt->attempt() < 0 ? errno : 0);
    }
    waitpid(pid, &status, 0);
    bool passed = attempt->want == KILLED
                      ? WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS
                      : WIFEXITED(status) && WEXITSTATUS(status) == (attempt->want == ALLOWED ? 0 : EPERM);
    ok(passed, "it %s %s", wanted[attempt->want], attempt->name);
    if (!passed) printf("#   wait status %x\n", (unsigned)status);
}

/* Without the sandbox these work, or the test above would prove nothing. */
static void test_outside(void)
{
    int fd = try_open();
    ok(fd >= 0 && try_write() == 1 && try_send() == 1, "outside it, files and other descriptors are there");
    close(fd);
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
        if (!sr_pdfd_sandbox_enter()) _exit(NOT_ENTERED);
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
    test_outside();
    for (size_t i = 0; i < sizeof ATTEMPTS / sizeof *ATTEMPTS; i++) test_attempt(&ATTEMPTS[i]);
    test_status();
    return done();
}
