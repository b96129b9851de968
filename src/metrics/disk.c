/* SPDX-License-Identifier: Apache-2.0 */
/* disk.c: how much room the file systems of folders have. A file system whose server is dead (NFS) may never respond.
 * So a thread asks it, and the request for the metrics waits for that thread with a limit. */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "metrics/metrics.h"

typedef struct disk_t {
    sr_disks_t *all;
    int number; /* in SR_LABEL_FOLDER */
    const char *path;
    apr_time_t asked; /* when a thread began to ask (sr_time_steady), or 0 if none does */
} disk_t;

struct sr_disks_t {
    pthread_mutex_t mutex;
    pthread_cond_t answered;
    sr_disk_ask_t *ask;
    int count;
    disk_t disks[];
};

sr_disks_t *sr_disks_create(const apr_array_header_t *paths, sr_disk_ask_t *ask, apr_pool_t *pool)
{
    sr_disks_t *all = apr_pcalloc(pool, sizeof *all + (apr_size_t)paths->nelts * sizeof(disk_t));
    pthread_condattr_t attributes;
    pthread_mutex_init(&all->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&all->answered, &attributes);
    all->ask = ask;
    all->count = paths->nelts;
    for (int i = 0; i < all->count; i++)
        all->disks[i] = (disk_t){.all = all, .number = i, .path = APR_ARRAY_IDX(paths, i, const char *)};
    return all;
}

static void *ask_in_thread(void *data)
{
    disk_t *disk = data;
    struct statvfs room;
    if (disk->all->ask(disk->path, &room)) room = (struct statvfs){0};
    pthread_mutex_lock(&disk->all->mutex);
    sr_metrics_set(SR_METRIC_FOLDER_FREE, disk->number, 0, (apr_uint64_t)room.f_bavail * room.f_frsize);
    sr_metrics_set(SR_METRIC_FOLDER_SIZE, disk->number, 0, (apr_uint64_t)room.f_blocks * room.f_frsize);
    sr_metrics_set(SR_METRIC_FOLDER_FILES, disk->number, 0, (apr_uint64_t)room.f_favail);
    sr_metrics_set(SR_METRIC_FOLDER_READ, disk->number, 0, (apr_uint64_t)sr_time_now());
    disk->asked = 0;
    pthread_cond_broadcast(&disk->all->answered);
    pthread_mutex_unlock(&disk->all->mutex);
    return NULL;
}

/* The thread ends by itself, and handles no signals. */
static void ask(disk_t *disk)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    disk->asked = sr_time_steady();
    if (pthread_create(&thread, NULL, ask_in_thread, disk)) disk->asked = 0;
    else pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Returns when the last one was asked of those that have not responded; 0 if all have. */
static apr_time_t last_asked(const sr_disks_t *all)
{
    apr_time_t last = 0;
    for (int i = 0; i < all->count; i++)
        if (all->disks[i].asked > last) last = all->disks[i].asked;
    return last;
}

void sr_disks_measure(sr_disks_t *disks, apr_interval_time_t patience)
{
    apr_time_t asked;
    pthread_mutex_lock(&disks->mutex);
    for (int i = 0; i < disks->count; i++)
        if (!disks->disks[i].asked) ask(&disks->disks[i]);
    while ((asked = last_asked(disks)) && sr_time_steady() < asked + patience) {
        const struct timespec until = {apr_time_sec(asked + patience), apr_time_usec(asked + patience) * 1000};
        pthread_cond_timedwait(&disks->answered, &disks->mutex, &until);
    }
    pthread_mutex_unlock(&disks->mutex);
}
