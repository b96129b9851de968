/* limits.c: how much of the host a document may take. Files of 2 kB made readers take 3.4 GB and 20 s; the
 * kernel ends the worker long before, whatever code is running. The client's deadline is the third limit. */
#include "pdfd/pdfd.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define CPU_SECONDS 5
#define DESCRIPTORS 16

static void set_soft(int resource, rlim_t soft)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit)) return;
    limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
    setrlimit((__rlimit_resource_t)resource, &limit);
}

/* When the host runs out of memory the kernel shall take the worker, not httpd. */
static void volunteer_for_oom(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (write(fd, "1000", 4) != 4) fprintf(stderr, "sigreq-pdfd: oom_score_adj stays as it is\n");
    close(fd);
}

void sr_pdfd_limits_begin(void)
{
    close_range(SR_PDF_SOCKET + 1, ~0u, 0);
    volunteer_for_oom();
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){DESCRIPTORS, DESCRIPTORS});
}

void sr_pdfd_limits_question(apr_size_t memory, apr_size_t size)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    set_soft(RLIMIT_AS, (rlim_t)memory + 2 * (rlim_t)size);
    set_soft(RLIMIT_CPU, (rlim_t)used.tv_sec + 1 + CPU_SECONDS);
}
