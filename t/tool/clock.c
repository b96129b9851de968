/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c: a library that Sigreq::Clock loads into programs (LD_PRELOAD), which then see another date. The file of
 * SIGREQ_CLOCK has the seconds, as eight bytes, by which it is ahead. It is mapped into memory, so the date changes as
 * soon as the file does. The monotonic clock, what programs wait for and the times of files stay as they are.
 * (libfaketime 0.9.10 ends each wait on the monotonic clock at once: https://github.com/wolfcw/libfaketime/pull/503.
 * A thread that waits in a loop then uses a whole processor.) */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* A point in time that is later than this is a date, and an earlier one is of the monotonic clock, which begins with 0
 * when the machine starts. */
#define FIRST_DATE 1000000000

static const int64_t none;
static const int64_t *ahead = &none;

__attribute__((constructor)) static void map(void)
{
    const char *path = getenv("SIGREQ_CLOCK");
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, fd, 0);
    if (path && at == MAP_FAILED) abort(); /* a test of another date would pass with that of today */
    if (at != MAP_FAILED) ahead = at;
    if (fd >= 0) close(fd);
}

static int64_t seconds(void)
{
    return __atomic_load_n(ahead, __ATOMIC_RELAXED);
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    const int result = real(clock, now);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += seconds();
    return result;
}

EXPORT int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec precise;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &precise)) return -1;
    *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
    return 0;
}

EXPORT time_t time(time_t *result)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME_COARSE, &now)) return -1;
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

/* The date until which a program waits, as the kernel knows it. */
static struct timespec kernels(const struct timespec *until)
{
    struct timespec at = *until;
    if (at.tv_sec > FIRST_DATE) at.tv_sec -= seconds();
    return at;
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                  const struct timespec *restrict until)
{
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    const struct timespec at = kernels(until);
    if (!real) *(void **)&real = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2"); /* x86-64 has an old one */
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    return real(condition, mutex, &at);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict until)
{
    static int (*real)(pthread_mutex_t *, const struct timespec *);
    const struct timespec at = kernels(until);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_timedlock");
    return real(mutex, &at);
}

EXPORT int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
    static int (*real)(sem_t *, const struct timespec *);
    const struct timespec at = kernels(until);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "sem_timedwait");
    return real(semaphore, &at);
}
