/* SPDX-License-Identifier: Apache-2.0 */
/* service_folder.c: tests of src/service/documents/ownership.c: the health check if the documents folder does not
 * respond.
 */
#include <apr_general.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "service/private.h"
#include "tap.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t revived = PTHREAD_COND_INITIALIZER;
static bool alive;
static int borrowed;

/* The check of the folder asks the database to whom it belongs, after a write for the check of the database. So this
 * source of connections, whose second one never comes, stands for a folder that does not respond. */
static sr_error_t *borrow(sr_store_source_t *source, sr_store_t **store, apr_pool_t *pool)
{
    pthread_mutex_lock(&mutex);
    if (++borrowed == 2)
        while (!alive) pthread_cond_wait(&revived, &mutex);
    pthread_mutex_unlock(&mutex);
    return sr_error(pool, SR_EUNAVAILABLE, "no connection");
}

static void give_back(sr_store_source_t *source, sr_store_t *store)
{
}

static int times_borrowed(void)
{
    pthread_mutex_lock(&mutex);
    const int times = borrowed;
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

static sr_store_source_t database = {.borrow = borrow, .give_back = give_back};
static sr_child_t child;
static const sr_settings_t settings;
static const sr_service_t service = {
    .child = &child, .settings = &settings, .database = &database, .storage.main.root = "/"};

/* Why no document can be stored, or "". */
static const char *reason(apr_pool_t *pool)
{
    sr_health_t health;
    sr_service_probe(&service, &health, pool);
    return health.documents ? health.documents->cause : "";
}

static void *probe(void *pool)
{
    return (void *)reason(pool);
}

int main(void)
{
    apr_pool_t *pool, *of_thread;
    pthread_t thread;
    void *said;
    alarm(300); /* a request that waits would otherwise block the test */
    apr_initialize();
    apr_pool_create(&pool, NULL);
    apr_pool_create(&of_thread, NULL);
    child.folders = sr_folders_create(pool);

    if (pthread_create(&thread, NULL, probe, of_thread)) return 1;
    while (times_borrowed() < 2) usleep(1000);
    is_str(reason(pool), "", "a request does not wait for the one that asks a folder that does not respond");
    sr_time_forward(apr_time_from_sec(10));
    is_str(reason(pool), "", "also after 10 s, when another one would ask");
    sr_time_forward(apr_time_from_sec(6));
    is_str(reason(pool), "/: storing a document has not ended after 15 s", "after 16 s the folder is unavailable");
    is_int(times_borrowed(), 2, "and no other request asks it");
    revive();
    pthread_join(thread, &said);
    is_str(said, "no connection", "the one that has asked gets its answer");
    is_str(reason(pool), "no connection", "then another one asks");
    is_int(times_borrowed(), 4, "both the database and the folder");
    return done();
}
