/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_disk.c: tests of src/metrics/disk.c: nobody waits for a file system that does not respond. */
#include <apr_general.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "metrics/metrics.h"
#include "tap.h"

#define PATIENCE apr_time_from_sec(60)

enum { GOOD, DEAD, MISSING, FOLDERS };
static const char *const paths[FOLDERS] = {"good", "dead", "missing"};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t revived = PTHREAD_COND_INITIALIZER;
static bool alive;
static int asked[FOLDERS];

/* Stands for statvfs. The file system "dead" does not respond while it is not alive. */
static int ask(const char *path, struct statvfs *room)
{
    int number = 0;
    while (strcmp(paths[number], path) != 0) number++;
    pthread_mutex_lock(&mutex);
    const int times = ++asked[number];
    while (number == DEAD && !alive) pthread_cond_wait(&revived, &mutex);
    pthread_mutex_unlock(&mutex);
    *room = (struct statvfs){.f_frsize = 1000, .f_blocks = 9, .f_bavail = (fsblkcnt_t)times, .f_favail = 5};
    return number == MISSING ? -1 : 0;
}

static int times_asked(int number)
{
    pthread_mutex_lock(&mutex);
    const int times = asked[number];
    pthread_mutex_unlock(&mutex);
    return times;
}

static void revive(void)
{
    pthread_mutex_lock(&mutex);
    alive = true;
    pthread_cond_broadcast(&revived);
    pthread_mutex_unlock(&mutex);
}

static long value(sr_metric_t metric, int number)
{
    return (long)sr_metrics_value(metric, number, 0);
}

static void wait_for_answer(int number)
{
    while (!value(SR_METRIC_FOLDER_READ, number)) usleep(1000);
}

int main(void)
{
    apr_pool_t *pool;
    alarm(300); /* a request that waits would otherwise block the test */
    apr_initialize();
    apr_pool_create(&pool, NULL);
    apr_array_header_t *folders = apr_array_make(pool, FOLDERS, sizeof(const char *));
    for (int i = 0; i < FOLDERS; i++) APR_ARRAY_PUSH(folders, const char *) = paths[i];
    sr_disks_t *disks = sr_disks_create(folders, ask, pool);

    sr_disks_measure(disks, 0);
    ok(true, "without patience nobody waits for a file system that does not respond");
    wait_for_answer(GOOD);
    wait_for_answer(MISSING);
    is_int(value(SR_METRIC_FOLDER_FREE, GOOD), 1000, "another one has told its free bytes");
    is_int(value(SR_METRIC_FOLDER_SIZE, GOOD), 9000, "its size");
    is_int(value(SR_METRIC_FOLDER_FILES, GOOD), 5, "and its free files");
    is_int(value(SR_METRIC_FOLDER_SIZE, MISSING), 0, "one that cannot be read has the size 0");

    sr_time_forward(2 * PATIENCE);
    sr_disks_measure(disks, PATIENCE);
    is_int(value(SR_METRIC_FOLDER_FREE, GOOD), 2000, "with patience, those that respond are read");
    is_int(times_asked(DEAD), 1, "the one that does not respond is not asked again");
    is_int(value(SR_METRIC_FOLDER_READ, DEAD), 0, "and was never read");

    revive();
    wait_for_answer(DEAD);
    is_int(value(SR_METRIC_FOLDER_FREE, DEAD), 1000, "its answer counts, however late it comes");
    sr_disks_measure(disks, PATIENCE);
    is_int(value(SR_METRIC_FOLDER_FREE, DEAD), 2000, "after that it is asked again");
    is_int(value(SR_METRIC_FOLDER_FREE, GOOD), 3000, "like the others");
    return done();
}
