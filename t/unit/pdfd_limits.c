/* SPDX-License-Identifier: Apache-2.0 */
/* pdfd_limits.c: what the kernel holds a worker to, before and during a request. */
#include "helper/main/pdfd.h"
#include "helper/main/process/process.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static long long soft(int resource)
{
    struct rlimit limit;
    return getrlimit((__rlimit_resource_t)resource, &limit) ? -1 : (long long)limit.rlim_cur;
}

static bool can_map(size_t size)
{
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED) return false;
    munmap(bytes, size);
    return true;
}

/* What code that a document has taken over would do. */
static bool can_raise(int resource)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit)) abort();
    limit.rlim_max++;
    bool raised = !setrlimit((__rlimit_resource_t)resource, &limit);
    limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
    return raised || !setrlimit((__rlimit_resource_t)resource, &limit);
}

/* No privileges, as httpd's children have none: with them any limit can be raised. */
static void test_hard(size_t mb)
{
    struct rlimit memory, time;
    if (!geteuid() && setuid(65534)) abort();
    if (getrlimit(RLIMIT_AS, &memory) || getrlimit(RLIMIT_CPU, &time)) abort();
    is_int((long long)memory.rlim_max, (1536 + 400) * mb, "the ceiling is 1.5 GiB and four times the first document");
    ok(!can_raise(RLIMIT_AS), "which cannot be raised");
    memory.rlim_cur = memory.rlim_max;
    ok(!setrlimit(RLIMIT_AS, &memory) && can_map(1200 * mb) && !can_map(2000 * mb), "and holds");
    is_int((long long)time.rlim_max, 6 * 4, "no worker has more processor time than six questions");
    ok(!can_raise(RLIMIT_CPU), "whatever it does");
}

int main(void)
{
    const size_t mb = 1 << 20;
    int fd = fcntl(0, F_DUPFD, 40);
    ok(fd >= 40 && can_map(900 * mb), "before: descriptors and memory");
    sr_pdfd_limits_begin();
    ok(fcntl(fd, F_GETFD) < 0, "a descriptor that was inherited is closed");
    is_int(soft(RLIMIT_CORE), 0, "no core files");
    ok(fcntl(0, F_DUPFD, 40) < 0 && soft(RLIMIT_NOFILE) == 16, "few descriptors");

    sr_pdfd_limits_worker(3);
    sr_pdfd_limits_request(512 * mb, 100 * mb);
    is_int(soft(RLIMIT_AS), (512 + 200) * mb, "512 MB of memory and twice the document");
    ok(can_map(600 * mb) && !can_map(720 * mb), "no more can be had");
    is_int(soft(RLIMIT_CPU), 4, "3 seconds of CPU time, and the one that has begun");
    sr_pdfd_limits_request(512 * mb, 0);
    is_int(soft(RLIMIT_AS), 512 * mb, "the next document has its own limit");
    ok(!can_map(600 * mb), "which holds");
    sr_pdfd_limits_request(512 * mb, 200 * mb);
    ok(can_map(800 * mb), "and a larger one may have more again");
    test_hard(mb);
    return done();
}
