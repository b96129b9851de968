/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c: the resources that a document may use. Files of 2 kB have made readers use 3.4 GB and 20 s. The kernel ends
 * the worker long before that, whatever code is running. The client reads the processor time of the worker and is
 * stricter. */
#include "helper/main/pdfd.h"
#include "helper/main/process/process.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define DESCRIPTORS 16
#define QUESTIONS 6                        /* the number of requests for which one worker has processor time */
#define CEILING_BYTES ((rlim_t)1536 << 20) /* more than any operation needs, not counting the document */
#define CEILING_DOCUMENTS 4                /* a document that is rewritten is in memory four times */

static unsigned cpu_seconds = 5;
static bool has_ceiling;

static void limits_set(int resource, rlim_t soft, rlim_t hard)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit)) return;
    if (hard < limit.rlim_max) limit.rlim_max = hard;
    limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
    setrlimit((__rlimit_resource_t)resource, &limit);
}

/* If the host runs out of memory, the kernel should kill the worker and not httpd. */
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

void sr_pdfd_limits_worker(unsigned seconds)
{
    if (seconds) cpu_seconds = seconds;
    limits_set(RLIMIT_CPU, RLIM_INFINITY, (rlim_t)QUESTIONS * (cpu_seconds + 1));
}

/* A process without privileges cannot raise a hard limit again. */
void sr_pdfd_limits_request(apr_size_t memory, apr_size_t size)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    rlim_t ceiling = has_ceiling ? RLIM_INFINITY : CEILING_BYTES + CEILING_DOCUMENTS * (rlim_t)size;
    has_ceiling = true;
    if (!SR_PDFD_INSTRUMENTED) limits_set(RLIMIT_AS, (rlim_t)memory + 2 * (rlim_t)size, ceiling);
    limits_set(RLIMIT_CPU, (rlim_t)used.tv_sec + 1 + cpu_seconds, RLIM_INFINITY);
}
