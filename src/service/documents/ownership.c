/* SPDX-License-Identifier: Apache-2.0 */
/* ownership.c: checks that the documents folder belongs to the database of the request. This is done before something
 * is stored, once a minute in each process, for each folder of a virtual host. */
#include "service/private.h"

#include <apr_thread_mutex.h>
#include <string.h>
#include <sys/statvfs.h>

#define CHECKED_FOR apr_time_from_sec(60)
#define PROBED_FOR apr_time_from_sec(5)
#define SILENT apr_time_from_sec(15) /* a document that is not stored after this time cannot be stored */
#define REASON_MOST 300
#define FOLDERS_MOST 64 /* more virtual hosts and locations than these are checked each time */

/* The reason why something cannot be written, or "" if it can. */
typedef struct probed_t {
    char database[REASON_MOST], documents[REASON_MOST];
} probed_t;

typedef struct folder_t {
    int database; /* its number */
    const char *root;
    apr_time_t checked; /* the time of the last successful check (sr_time_steady), or 0 */
    apr_time_t probed;  /* when the last probe for the health check began, or 0 */
    apr_time_t storing; /* when a probe began to store a document that is not stored yet, or 0 */
    bool probing;
    probed_t result;
} folder_t;

struct sr_folders_t {
    apr_pool_t *pool;
    apr_thread_mutex_t *mutex;
    folder_t folders[FOLDERS_MOST];
    int count;
};

sr_folders_t *sr_folders_create(apr_pool_t *pool)
{
    sr_folders_t *folders = apr_pcalloc(pool, sizeof *folders);
    apr_pool_create(&folders->pool, pool); /* used only while the mutex is locked */
    return apr_thread_mutex_create(&folders->mutex, APR_THREAD_MUTEX_DEFAULT, pool) ? NULL : folders;
}

/* Finds or makes the entry of a folder. The caller has locked the mutex. Returns NULL if the table is full. */
static folder_t *ownership_find(sr_folders_t *folders, const sr_service_t *service)
{
    for (int i = 0; i < folders->count; i++)
        if (folders->folders[i].database == service->database->number
            && !strcmp(folders->folders[i].root, service->storage.main.root))
            return &folders->folders[i];
    if (folders->count == FOLDERS_MOST) return NULL;
    folder_t *made = &folders->folders[folders->count++];
    *made = (folder_t){.database = service->database->number,
                       .root = apr_pstrdup(folders->pool, service->storage.main.root)};
    return made;
}

static bool was_checked(const sr_service_t *service)
{
    sr_folders_t *folders = service->child->folders;
    if (!folders) return false;
    apr_thread_mutex_lock(folders->mutex);
    const folder_t *folder = ownership_find(folders, service);
    const apr_time_t age = folder && folder->checked ? sr_time_steady() - folder->checked : -1;
    apr_thread_mutex_unlock(folders->mutex);
    return age >= 0 && age < CHECKED_FOR;
}

static void note_checked(const sr_service_t *service)
{
    sr_folders_t *folders = service->child->folders;
    if (!folders) return;
    apr_thread_mutex_lock(folders->mutex);
    folder_t *folder = ownership_find(folders, service);
    if (folder) folder->checked = sr_time_steady();
    apr_thread_mutex_unlock(folders->mutex);
}

sr_error_t *sr_service_folder(const sr_service_t *service, sr_blobs_t *documents, apr_pool_t *pool)
{
    const sr_installation_row_t *row;
    sr_outcome_t outcome;
    if (was_checked(service)) return NULL;
    SR_TRY(sr_store_ping(service->database, &outcome, &row, service->database->servers, pool));
    SR_TRY(sr_blobs_check(documents, row->database, pool));
    note_checked(service);
    return NULL;
}

/* --- for the health check */

/* A small file can be written to a disk on which no document has room. */
static sr_error_t *check_space(const sr_service_t *service, apr_pool_t *pool)
{
    struct statvfs disk;
    if (statvfs(service->storage.main.root, &disk)) return NULL; /* writing has told what is wrong */
    const apr_off_t left = (apr_off_t)disk.f_bavail * (apr_off_t)disk.f_frsize;
    if (left >= service->settings->free_space) return NULL;
    return sr_error(pool, SR_EUNAVAILABLE, "%s has %" APR_OFF_T_FMT " free bytes, less than SigreqFreeSpace",
                    service->storage.main.root, left);
}

static sr_error_t *probe_documents(const sr_service_t *service, apr_pool_t *pool)
{
    sr_blobs_t *documents;
    SR_TRY(sr_service_documents(&documents, service, pool));
    SR_TRY(sr_service_folder(service, documents, pool));
    SR_TRY(sr_blobs_probe(documents, pool));
    return check_space(service, pool);
}

static void note_reason(char *reason, const sr_error_t *error)
{
    apr_cpystrn(reason, !error ? "" : error->cause ? error->cause : error->message, REASON_MOST);
}

/* Tries to write. sr_store_ping tries only to read, which also works with a full or read-only disk. */
static void probe_database(probed_t *result, const sr_service_t *service, apr_pool_t *pool)
{
    sr_outcome_t outcome;
    note_reason(result->database, sr_store_rewrite(service->database, &outcome, pool));
}

static void probe_both(probed_t *result, folder_t *folder, const sr_service_t *service, apr_pool_t *pool)
{
    apr_thread_mutex_t *mutex = service->child->folders->mutex;
    probe_database(result, service, pool);
    apr_thread_mutex_lock(mutex);
    folder->storing = sr_time_steady();
    apr_thread_mutex_unlock(mutex);
    note_reason(result->documents, probe_documents(service, pool));
    apr_thread_mutex_lock(mutex);
    folder->storing = 0;
    folder->probing = false;
    folder->result = *result;
    apr_thread_mutex_unlock(mutex);
}

static sr_error_t *error_of(const char *message, const char *reason, apr_pool_t *pool)
{
    if (!*reason) return NULL;
    return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "%s", message), pool, "%s", reason);
}

/* One request in five seconds probes. The others meanwhile use the last result. A file system may never respond, if its
 * server is dead (NFS). Then the one request that asks it waits, and no other one. */
static probed_t probe_now_and_then(const sr_service_t *service, apr_pool_t *pool)
{
    sr_folders_t *folders = service->child->folders;
    probed_t result = {"", ""};
    apr_thread_mutex_lock(folders->mutex);
    folder_t *folder = ownership_find(folders, service);
    const apr_time_t now = sr_time_steady();
    const bool due = folder && !folder->probing && (!folder->probed || now - folder->probed >= PROBED_FOR);
    if (due) folder->probed = now;
    if (due) folder->probing = true;
    if (folder) result = folder->result;
    if (folder && folder->storing && now - folder->storing >= SILENT)
        apr_snprintf(result.documents, REASON_MOST, "%s: storing a document has not ended after %d s",
                     service->storage.main.root, (int)apr_time_sec(SILENT));
    apr_thread_mutex_unlock(folders->mutex);
    if (due) probe_both(&result, folder, service, pool);
    return result;
}

void sr_service_probe(const sr_service_t *service, sr_health_t *health, apr_pool_t *pool)
{
    probed_t result;
    if (service->child->folders) result = probe_now_and_then(service, pool);
    else {
        probe_database(&result, service, pool);
        note_reason(result.documents, probe_documents(service, pool));
    }
    health->database = error_of("The database cannot be written", result.database, pool);
    health->documents = error_of("Documents cannot be stored", result.documents, pool);
}
