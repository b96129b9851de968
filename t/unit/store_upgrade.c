/* SPDX-License-Identifier: Apache-2.0 */
/* A process that upgrades a database is killed before its statements: nothing has changed then, and the next upgrade
 * does everything. From nothing, from an older version, and from another build's functions and views. An upgrade from
 * call 1 to the end is repeated for each of them, so it is killed before every 16th one only. What one of the others
 * had committed would be seen there, too. It is killed before each of those that begin the upgrade or are near its
 * COMMIT. SIGREQ_UPGRADE=all: before each. */
#include "store.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "store/private.h"

#define NEAR 6 /* calls */
#define STEP 16
#define COMMIT (-1) /* instead of the number of a call */

static int *calls;   /* of the database, in the process that upgrades; shared with its parent */
static int end_with; /* the process is killed before this call; 0: it is not */

static void *real(const char *name)
{
    if (++*calls == end_with) kill(getpid(), SIGKILL);
    return dlsym(RTLD_NEXT, name);
}

/* These take the place of apr-util's functions, which they call. */
int apr_dbd_query(const apr_dbd_driver_t *driver, apr_dbd_t *handle, int *rows, const char *statement)
{
    int (*function)(const apr_dbd_driver_t *, apr_dbd_t *, int *, const char *);
    *(void **)&function = real("apr_dbd_query");
    if (end_with == COMMIT && !strcmp(statement, "COMMIT")) kill(getpid(), SIGKILL);
    return function(driver, handle, rows, statement);
}

int apr_dbd_select(const apr_dbd_driver_t *driver, apr_pool_t *pool, apr_dbd_t *handle, apr_dbd_results_t **results,
                   const char *statement, int seek)
{
    int (*function)(const apr_dbd_driver_t *, apr_pool_t *, apr_dbd_t *, apr_dbd_results_t **, const char *, int);
    *(void **)&function = real("apr_dbd_select");
    return function(driver, pool, handle, results, statement, seek);
}

int apr_dbd_pquery(const apr_dbd_driver_t *driver, apr_pool_t *pool, apr_dbd_t *handle, int *rows,
                   apr_dbd_prepared_t *statement, int count, const char **arguments)
{
    int (*function)(const apr_dbd_driver_t *, apr_pool_t *, apr_dbd_t *, int *, apr_dbd_prepared_t *, int,
                    const char **);
    *(void **)&function = real("apr_dbd_pquery");
    return function(driver, pool, handle, rows, statement, count, arguments);
}

/* Everything that is in the database besides rows, and what it says of itself. */
static const char *state_of(const base_t *base, apr_pool_t *pool)
{
    const bool sqlite = strcmp(base->driver_name, "sqlite3") == 0;
    const char *sql = sqlite ? "SELECT coalesce(group_concat(type || name, ' '), '') FROM sqlite_master"
                             : "SELECT coalesce((SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class "
                               "WHERE relnamespace = to_regnamespace('sigreq')), '') || coalesce((SELECT "
                               "string_agg(oid::regprocedure::text, ' ' ORDER BY oid::regprocedure::text) "
                               "FROM pg_proc WHERE pronamespace = to_regnamespace('sigreq')), '')";
    apr_dbd_results_t *results = NULL;
    apr_dbd_row_t *row = NULL;
    sr_schema_t schema;
    link_t l;
    link_connect(&l, base, pool);
    if (apr_dbd_select(base->driver, pool, l.handle, &results, sql, 1)) die(sql, "refused");
    if (apr_dbd_get_row(base->driver, pool, results, &row, -1)) die(sql, "no row");
    const char *text = apr_pstrdup(pool, apr_dbd_get_entry(base->driver, row, 0));
    if (sr_schema_read(&schema, base->driver, l.handle, pool)) die("sr_schema_read", "refused");
    text =
        apr_psprintf(pool, "version %d, %s: %s", schema.version, schema.problem ? schema.problem : "no problem", text);
    while (apr_dbd_get_row(base->driver, pool, results, &row, -1) == 0) continue;
    link_close(&l);
    return text;
}

/* An upgrade by a process of its own, which is killed before this call of the database. True if it was. */
static bool upgrade(const base_t *base, int call)
{
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        link_t l;
        apr_pool_t *pool;
        apr_pool_create(&pool, NULL);
        link_connect(&l, base, pool);
        *calls = 0;
        end_with = call;
        _exit(link_upgrade(&l) ? 1 : 0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) die("fork", "waitpid");
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGKILL;
    if (WEXITSTATUS(status) != 0) die("upgrade", "an error");
    return false;
}

/* The call that is tried after this one. */
static int next_call(int call, int commit)
{
    static const char *all;
    if (!all && !(all = getenv("SIGREQ_UPGRADE"))) all = "";
    const bool each = !strcmp(all, "all") || call < NEAR || call >= commit - NEAR;
    return each ? call + 1 : call + STEP < commit - NEAR ? call + STEP : commit - NEAR;
}

static void killed_everywhere(const base_t *base, const char *from, int least)
{
    apr_pool_t *pool, *each;
    const char *other = NULL;
    int call = 1, kills = 0;
    apr_pool_create(&pool, base->pool);
    apr_pool_create(&each, pool);
    const char *before = state_of(base, pool);
    ok(upgrade(base, COMMIT), "%s: an upgrade ends with a COMMIT", from);
    const int commit = *calls;
    is_str(state_of(base, pool), before, "nothing has changed before it");
    for (; upgrade(base, call); call = next_call(call, commit)) {
        apr_pool_clear(each);
        const char *after = state_of(base, each);
        if (strcmp(after, before) != 0 && !other) other = apr_psprintf(pool, "call %d: %s", call, after);
        kills++;
    }
    ok(*calls > least && *calls < call, "%s: killed before %d of %d calls", from, kills, *calls);
    ok(!other, "nothing had changed: %s", other ? other : "");
    const char *end = state_of(base, pool);
    ok(strstr(end, ", no problem: "), "the last one, which was not killed, does everything: %.60s", end);
    apr_pool_destroy(pool);
}

/* The first migration alone, as a build that knew no other has left it. */
static void older(const base_t *base, const sr_sql_t *sql)
{
    const bool sqlite = strcmp(base->driver_name, "sqlite3") == 0;
    const sr_migration_t *first = &sql->migrations[0];
    link_t l;
    link_connect(&l, base, base->pool);
    if (!sqlite) execute(&l, "DROP SCHEMA sigreq CASCADE");
    for (const char *const *statement = first->statements; *statement; statement++) execute(&l, *statement);
    execute(&l, apr_psprintf(l.pool,
                             "INSERT INTO %sschema_version (version, name, checksum, applied_at) VALUES "
                             "(1, '%s', '%s', 0)",
                             sqlite ? "" : "sigreq.", first->name, first->checksum));
    link_close(&l);
    killed_everywhere(base, "from the first version", sqlite ? 20 : 40);
}

static void checks(base_t *base)
{
    const bool sqlite = strcmp(base->driver_name, "sqlite3") == 0;
    base_t second;
    link_t l;
    killed_everywhere(base, "from nothing", 40);
    link_connect(&l, base, base->pool);
    execute(&l, sqlite ? "UPDATE installation SET definitions_checksum = 'x'"
                       : "UPDATE sigreq.installation SET definitions_checksum = 'x'");
    link_close(&l);
    killed_everywhere(base, "from another build's definitions", sqlite ? 10 : 30);
    if (!sqlite) {
        older(base, &sr_sql_pgsql);
    } else if (base_make(&second, "sqlite3", base->pool)) {
        older(&second, &sr_sql_sqlite3);
        base_remove(&second);
    }
}

int main(void)
{
    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (calls == MAP_FAILED) return 1;
    return each_base(checks);
}
