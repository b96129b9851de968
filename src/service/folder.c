/* folder.c: whether the folder of documents belongs to the database of the request. That is asked once a minute in each
 * process, before something is stored, for each folder that a virtual host has. */
#include "service/service.h"

#include <apr_thread_mutex.h>
#include <string.h>

#define CHECKED_FOR apr_time_from_sec(60)
#define PROBED_FOR apr_time_from_sec(5)
#define FOLDERS_MOST 64 /* virtual hosts and locations beyond that are asked each time */

typedef struct folder_t {
    const void *database;
    const char *root;
    apr_time_t checked; /* it was right then */
    apr_time_t probed;  /* for health, with this result: "" if all was well */
    char reason[300];
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
    apr_pool_create(&folders->pool, pool); /* used under the mutex alone */
    return apr_thread_mutex_create(&folders->mutex, APR_THREAD_MUTEX_DEFAULT, pool) ? NULL : folders;
}

/* Held by the caller. NULL when there is no room. */
static folder_t *find(sr_folders_t *folders, const sr_service_t *service)
{
    for (int i = 0; i < folders->count; i++)
        if (folders->folders[i].database == service->database_key
            && !strcmp(folders->folders[i].root, service->documents_root))
            return &folders->folders[i];
    if (folders->count == FOLDERS_MOST) return NULL;
    folder_t *made = &folders->folders[folders->count++];
    *made = (folder_t){.database = service->database_key, .root = apr_pstrdup(folders->pool, service->documents_root)};
    return made;
}

static bool was_checked(const sr_service_t *service)
{
    sr_folders_t *folders = service->folders;
    if (!folders) return false;
    apr_thread_mutex_lock(folders->mutex);
    const folder_t *folder = find(folders, service);
    const apr_time_t age = folder ? apr_time_now() - folder->checked : -1;
    apr_thread_mutex_unlock(folders->mutex);
    return age >= 0 && age < CHECKED_FOR;
}

static void note_checked(const sr_service_t *service)
{
    sr_folders_t *folders = service->folders;
    if (!folders) return;
    apr_thread_mutex_lock(folders->mutex);
    folder_t *folder = find(folders, service);
    if (folder) folder->checked = apr_time_now();
    apr_thread_mutex_unlock(folders->mutex);
}

sr_error_t *sr_service_folder(const sr_service_t *service, sr_documents_t *documents, apr_pool_t *pool)
{
    const char *body;
    json_t *answer;
    if (was_checked(service)) return NULL;
    SR_TRY(sr_service_call_one(service, SR_OP_PING, &body, NULL, 0, pool));
    SR_TRY(sr_json_parse(&answer, body, strlen(body), pool));
    const char *uuid = sr_json_string(answer, "database");
    if (!uuid) return sr_error(pool, SR_EINTERNAL, "The database has no uuid");
    SR_TRY(sr_documents_check(documents, uuid, pool));
    note_checked(service);
    return NULL;
}

/* --- for health */

static sr_error_t *probe(const sr_service_t *service, apr_pool_t *pool)
{
    sr_documents_t *documents;
    SR_TRY(sr_documents_open(&documents, service->documents_root, pool));
    SR_TRY(sr_service_folder(service, documents, pool));
    return sr_documents_probe(documents, pool);
}

static sr_error_t *result_of(const char *reason, apr_pool_t *pool)
{
    if (!*reason) return NULL;
    return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be stored"), pool, "%s", reason);
}

/* One request in five seconds probes; while it does, the others answer what was found last. */
sr_error_t *sr_service_probe(const sr_service_t *service, apr_pool_t *pool)
{
    sr_folders_t *folders = service->folders;
    char reason[sizeof folders->folders[0].reason] = "";
    bool due = false;
    if (!folders) return probe(service, pool);
    apr_thread_mutex_lock(folders->mutex);
    folder_t *folder = find(folders, service);
    if (folder) {
        const apr_time_t now = apr_time_now();
        due = now - folder->probed >= PROBED_FOR || now < folder->probed;
        if (due) folder->probed = now;
        apr_cpystrn(reason, folder->reason, sizeof reason);
    }
    apr_thread_mutex_unlock(folders->mutex);
    if (!due) return result_of(reason, pool);
    sr_error_t *error = probe(service, pool);
    apr_thread_mutex_lock(folders->mutex);
    apr_cpystrn(folder->reason, error ? error->cause ? error->cause : error->message : "", sizeof folder->reason);
    apr_thread_mutex_unlock(folders->mutex);
    return error ? sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be stored"), pool, "%s",
                                    error->cause ? error->cause : error->message)
                 : NULL;
}
