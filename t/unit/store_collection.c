/* SPDX-License-Identifier: Apache-2.0 */
/* store_collection.c: creations, deletions and collections at once, in a real folder, with processes that stop anywhere
 * and die anywhere: no submission loses its document. Collections wait for nobody: each reservation is old at once. It
 * takes a few seconds; SIGREQ_STRESS=SECONDS makes it longer. */
#include "blobs/blobs.h"
#include "store.h"

#include <apr_thread_mutex.h>
#include <ftw.h>
#include <signal.h>
#include <sys/file.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#define NOW ((apr_time_t)1790000000000000)
#define CREATORS 6
#define DELETERS 2
#define COLLECTORS 3
#define CONTENTS 12 /* so few that all meet at the same ones */
#define STORED_ELSEWHERE 0xb0b

typedef struct counts_t {
    int created, stale, died, deleted, removed, errors;
    bool stop;
} counts_t;
static volatile counts_t *counts; /* shared by all processes */

typedef struct worker_t {
    const base_t *base;
    apr_pool_t *pool;
    sr_blobs_t *blobs;
    const char *root;
    int number;
    unsigned seed;
    link_t link;
} worker_t;

/* One file lock for all processes that write to SQLite, as httpd has. */
static apr_status_t lock_writers(void *baton)
{
    return flock(*(int *)baton, LOCK_EX) ? errno : APR_SUCCESS;
}

static apr_status_t unlock_writers(void *baton)
{
    return flock(*(int *)baton, LOCK_UN) ? errno : APR_SUCCESS;
}

static unsigned roll(worker_t *w, unsigned sides)
{
    return (unsigned)rand_r(&w->seed) % sides;
}

/* Often nothing, mostly a little, sometimes long enough for everybody else to finish. */
static void nap(worker_t *w)
{
    if (roll(w, 2)) apr_sleep(roll(w, 50) ? (apr_interval_time_t)roll(w, 3000) : (apr_interval_time_t)roll(w, 60000));
}

static const char *content_of(worker_t *w, unsigned n)
{
    return apr_psprintf(w->pool, "content %u", n);
}

static void count(volatile int *counter)
{
    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static void count_error(const worker_t *w)
{
    if (!w->link.error) return;
    printf("# %s\n", w->link.error->cause ? w->link.error->cause : w->link.error->message);
    count(&counts->errors);
}

static const char *run(worker_t *w, sr_op_t op, const char *first, const char *second, const char *third)
{
    const char *arguments[] = {first, second, third};
    const char *body = link_run(&w->link, op, arguments, !second ? 1 : !third ? 2 : 3);
    count_error(w);
    return body;
}

/* --- one creation, as service/submissions/create.c does it */

static const char *creation(worker_t *w, unsigned number, const char *sha256, const char *text, const char *key)
{
    const wish_t wanted = {apr_psprintf(w->pool, "%064x", 0xabc), NOW, number, "Stress", NULL, NULL, 0};
    json_t *json = json_loads(wish(&wanted, w->pool), 0, NULL);
    json_array_remove(json_object_get(json, "documents"), 1);
    json_object_set_new(json_array_get(json_object_get(json, "documents"), 0), "sha256", json_string(sha256));
    json_object_set_new(json, "blobs",
                        json_pack("[{s:s,s:i,s:s?}]", "sha256", sha256, "size", (int)strlen(text), "key", key));
    const char *argument = sr_json_text(json, w->pool);
    json_decref(json);
    return argument;
}

/* False if the process is to die here. */
static bool survives(worker_t *w)
{
    nap(w);
    if (roll(w, 40)) return true;
    count(&counts->died);
    return false;
}

static bool create_once(worker_t *w, unsigned number)
{
    const char *text = content_of(w, roll(w, CONTENTS)), *sha256 = sr_sha256_hex(text, strlen(text), w->pool);
    const char *list = apr_psprintf(w->pool, "[\"%s\"]", sha256), *key = NULL;
    for (int attempt = 0; attempt < 20; attempt++) {
        bool known = roll(w, 2) && run(w, SR_OP_BLOB_FIND, FOLDER, list, NULL);
        if (!known) {
            run(w, SR_OP_BLOB_RESERVE, FOLDER, list, NULL);
            key = COLUMN(&w->link, "key");
            if (!key || !survives(w)) return key == NULL;
            if (sr_blobs_put(w->blobs, key, text, strlen(text), w->pool)) count(&counts->errors);
        }
        if (!survives(w)) return false;
        CREATE(&w->link, creation(w, number, sha256, text, known ? NULL : key));
        count_error(w);
        if (w->link.error) return true;
        if (w->link.outcome == SR_OK) {
            count(&counts->created);
            return survives(w);
        }
        count(&counts->stale);
    }
    return true;
}

static void open_link(worker_t *w)
{
    static writers_t writers = {lock_writers, unlock_writers, NULL};
    static int lock_file;
    lock_file = open(apr_pstrcat(w->base->pool, w->root, "/writers", NULL), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    writers.baton = &lock_file;
    link_connect(&w->link, w->base, w->base->pool);
    w->link.lock = strcmp(w->base->driver_name, "sqlite3") == 0 ? &writers : NULL;
    if (link_open(&w->link)) die("open", w->link.error->cause);
}

/* Ends after a while; the next process goes on. So processes die with whatever they were doing. */
static int creator(worker_t *w)
{
    open_link(w);
    for (unsigned i = 0; !counts->stop; i++) {
        apr_pool_clear(w->pool);
        w->link.pool = w->pool;
        if (!create_once(w, (unsigned)w->number * 100000 + i + 1)) raise(SIGKILL);
    }
    return 0;
}

/* Submissions go, as they will when there is deletion. */
static int deleter(worker_t *w)
{
    const char *schema = strcmp(w->base->driver_name, "pgsql") == 0 ? "sigreq." : "";
    int rows;
    open_link(w);
    while (!counts->stop) {
        const char *text = content_of(w, roll(w, CONTENTS)), *sha256 = sr_sha256_hex(text, strlen(text), w->pool);
        const char *sql = apr_psprintf(w->pool,
                                       "DELETE FROM %ssubmission WHERE id IN (SELECT submission_id FROM %sdocument "
                                       "WHERE sha256 = '%s')",
                                       schema, schema, sha256);
        if (w->link.lock) w->link.lock->lock(w->link.lock->baton);
        if (!apr_dbd_query(w->base->driver, w->link.handle, &rows, sql)) count(&counts->deleted);
        if (w->link.lock) w->link.lock->unlock(w->link.lock->baton);
        for (int i = 0; i < 20; i++) nap(w);
        apr_pool_clear(w->pool);
    }
    return 0;
}

/* --- one collection, as ctl/gc.c does it, with pauses */

static void doom(worker_t *w, const char *kind, const json_t *keys)
{
    json_t *doomed = sr_json_own(json_pack("{s:O}", kind, keys), w->pool);
    run(w, SR_OP_ADMIN_BLOB_DOOM, sr_json_text(doomed, w->pool), NULL, NULL);
}

static void collect(worker_t *w)
{
    json_t *page = NULL, *late = sr_json_own(json_array(), w->pool), *buried = sr_json_own(json_array(), w->pool);
    const char *body = run(w, SR_OP_ADMIN_BLOB_UNNAMED, FOLDER, "", "1000");
    if (body && !sr_json_read(&page, body, w->pool)) {
        nap(w);
        doom(w, "named", json_object_get(page, "unnamed"));
    }
    run(w, SR_OP_ADMIN_BLOB_LATE, FOLDER, "0", "1000");
    for (int i = 0; i < w->link.rows->nelts; i++)
        json_array_append_new(late, json_string(column_at(&w->link, i, "key")));
    if (roll(w, 4) == 0) doom(w, "reserved", late); /* or creators would never come to an end */
    run(w, SR_OP_ADMIN_BLOB_TOMBSTONES, FOLDER, "", "1000");
    for (int i = 0; i < w->link.rows->nelts; i++) {
        const char *key = column_at(&w->link, i, "key");
        bool removed = false;
        apr_off_t size;
        nap(w); /* the file is removed late: another one may have finished with this key long ago */
        if (sr_blobs_remove(&removed, &size, w->blobs, key, w->pool)) count(&counts->errors);
        if (removed) count(&counts->removed);
        json_array_append_new(buried, json_string(key));
    }
    run(w, SR_OP_ADMIN_BLOB_BURY, sr_json_text(buried, w->pool), NULL, NULL);
}

static int collector(worker_t *w)
{
    open_link(w);
    while (!counts->stop) {
        apr_pool_clear(w->pool);
        w->link.pool = w->pool;
        collect(w);
        nap(w);
    }
    return 0;
}

/* --- all of them */

typedef int (*body_t)(worker_t *w);

static pid_t start(worker_t *w, body_t body, int number)
{
    const pid_t child = fork();
    if (child) return child;
    w->number = number;
    w->seed = (unsigned)number * 7919u + (unsigned)getpid();
    _exit(body(w));
}

static bool all_happened(void)
{
    return counts->created > 0 && counts->stale > 0 && counts->died > 0 && counts->removed > 0 && counts->deleted > 0;
}

/* On a busy machine it takes longer until all has happened. Processes that die are followed by others; one of them is
 * stopped for a moment now and then. */
static void run_all(worker_t *w, int seconds)
{
    body_t bodies[CREATORS + DELETERS + COLLECTORS];
    pid_t children[CREATORS + DELETERS + COLLECTORS];
    const int all = CREATORS + DELETERS + COLLECTORS;
    const apr_time_t until = apr_time_now() + apr_time_from_sec(seconds);
    int started = 0;
    for (int i = 0; i < all; i++) {
        bodies[i] = i < CREATORS ? creator : i < CREATORS + DELETERS ? deleter : collector;
        children[i] = start(w, bodies[i], ++started);
    }
    while (apr_time_now() < until || (!all_happened() && apr_time_now() < until + apr_time_from_sec(120))) {
        const int one = (int)roll(w, (unsigned)all);
        kill(children[one], SIGSTOP);
        apr_sleep(apr_time_from_msec(20));
        kill(children[one], SIGCONT);
        for (int i = 0; i < all; i++)
            if (waitpid(children[i], NULL, WNOHANG) == children[i]) children[i] = start(w, bodies[i], ++started);
    }
    counts->stop = true;
    for (int i = 0; i < all; i++) waitpid(children[i], NULL, 0);
}

/* How many contents that submissions have are not stored as they should be. */
static int count_lost(worker_t *w, int *named)
{
    int lost = 0;
    *named = 0;
    run(w, SR_OP_ADMIN_BLOB_LIST, FOLDER, "", "100000");
    for (int i = 0; i < w->link.rows->nelts; i++) {
        sr_blob_t blob;
        char text[64];
        apr_size_t length = sizeof text;
        (*named)++;
        if (sr_blobs_open(&blob, w->blobs, column_at(&w->link, i, "key"), w->pool)
            || apr_file_read(blob.file, text, &length)
            || strcmp(sr_sha256_hex(text, length, w->pool), column_at(&w->link, i, "sha256")) != 0)
            lost++;
    }
    return lost;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    return remove(path);
}

static void checks(base_t *base)
{
    const char *stress = getenv("SIGREQ_STRESS");
    const int seconds = stress && atoi(stress) > 0 ? atoi(stress) : 2;
    char folder[] = "/tmp/sigreq-collection-XXXXXX";
    worker_t w = {.base = base, .seed = (unsigned)getpid(), .root = mkdtemp(folder)};
    int named = 0;
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counts == MAP_FAILED || !w.root) die("mmap", "");
    apr_pool_create(&w.pool, base->pool);
    link_connect(&w.link, base, base->pool);
    ok(!link_upgrade(&w.link) && !link_open(&w.link) && !sr_blobs_folder(&w.blobs, w.root, base->pool), "a schema");
    RUN(&w.link, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, w.pool), "Org", NULL, number(NOW, w.pool));
    RUN(&w.link, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, w.pool), "Org", "Ann", "Lee", "ann@x.org", number(NOW, w.pool));
    RUN(&w.link, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, w.pool), "Org", "ann@x.org", "test", "t",
        apr_psprintf(w.pool, "%064x", 0xabc), NULL, number(NOW, w.pool));
    link_close(&w.link);
    run_all(&w, seconds);
    open_link(&w);
    w.link.pool = w.pool;
    const int lost = count_lost(&w, &named);
    is_int(lost, 0, "%d contents are stored, after %d creations, %d of them again, %d deaths and %d removed files",
           named, counts->created, counts->stale, counts->died, counts->removed);
    is_int(counts->errors, 0, "without any error");
    ok(all_happened(), "all of that happened");
    for (int i = 0; i < 10; i++) collect(&w);
    is_int(count_lost(&w, &named), 0, "nor is anything lost later");
    link_close(&w.link);
    nftw(w.root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    return each_base(checks);
}
