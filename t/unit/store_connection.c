/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a connection: lost and healed, the schema checked at its first use and again after trouble, and no
 * growth over many calls. */
#include "store.h"

#include <malloc.h>

#define NOW "1790000000000000"

static void ask(char *answer, apr_size_t size, link_t *link, const char *sql)
{
    apr_dbd_results_t *results = NULL;
    apr_dbd_row_t *row = NULL;
    if (apr_dbd_select(link->base->driver, link->pool, link->handle, &results, sql, 1)
        || apr_dbd_get_row(link->base->driver, link->pool, results, &row, -1)) {
        die(sql, "no row");
    }
    apr_cpystrn(answer, apr_dbd_get_entry(link->base->driver, row, 0), size);
}

static void kill_backend(link_t *other, const char *pid)
{
    char gone[8];
    ask(gone, sizeof gone, other, apr_psprintf(other->pool, "SELECT pg_terminate_backend(%s, 5000)", pid));
}

static void lost(link_t *l, link_t *other)
{
    const wish_t w = {"hash", 1790000000000000, 1, "Lost", NULL, NULL, 0};
    char pid[16], now[16];
    ask(pid, sizeof pid, l, "SELECT pg_backend_pid()");
    RUN(l, SR_OP_SUBMISSION_GET, "hash", NOW, "not a uuid", "1", NULL);
    ok(l->error && l->error->code == SR_EINTERNAL, "a refused statement is an error");
    ask(now, sizeof now, l, "SELECT pg_backend_pid()");
    is_str(now, pid, "the connection is not opened again");
    kill_backend(other, pid);
    RUN(l, SR_OP_TOKEN_CURRENT, "hash", NOW);
    is_str(link_outcome(l), "ok", "a lost connection heals within the operation");
    ask(pid, sizeof pid, l, "SELECT pg_backend_pid()");
    ok(strcmp(now, pid) != 0, "it is another one");
    kill_backend(other, pid);
    CREATE(l, wish(&w, l->pool));
    is_str(link_outcome(l), "ok", "and so for a write");
    CREATE(l, wish(&w, l->pool));
    is_str(link_outcome(l), "ok", "which may be repeated");
    ask(pid, sizeof pid, l, "SELECT pg_backend_pid()");
    kill_backend(other, pid);
    l->prepared = apr_hash_make(l->pool);
    ok(!link_open(l), "a connection lost before its first use heals too");
    RUN(l, SR_OP_TOKEN_CURRENT, "hash", NOW);
    is_str(link_outcome(l), "ok", "and serves");
}

/* The statements that the server keeps prepared for this connection, and how often each was executed. */
static const char *names(link_t *l)
{
    char text[200];
    ask(text, sizeof text, l,
        "SELECT coalesce(string_agg(name || ' ' || generic_plans + custom_plans, ' '), 'none') "
        "FROM pg_prepared_statements");
    return apr_pstrdup(l->pool, text);
}

static const char *outcome_of_many(link_t *l)
{
    for (int i = 0; i < 5; i++) RUN(l, SR_OP_TOKEN_CURRENT, "hash", NOW);
    return link_outcome(l);
}

/* The named statement of SR_OP_SUBMISSION_GET. */
#define GET "EXECUTE sigreq_submission_get('hash', '1', '00000000-0000-4000-8000-000000000000', '1', NULL)"

/* The plan of a statement. */
static const char *plan(link_t *l, const char *statement)
{
    const char *text = "";
    apr_dbd_results_t *results = NULL;
    apr_dbd_row_t *row = NULL;
    statement = apr_pstrcat(l->pool, "EXPLAIN ", statement, NULL);
    if (apr_dbd_select(l->base->driver, l->pool, l->handle, &results, statement, 1)) return "none";
    while (apr_dbd_get_row(l->base->driver, l->pool, results, &row, -1) == 0)
        text = apr_pstrcat(l->pool, text, apr_dbd_get_entry(l->base->driver, row, 0), "\n", NULL);
    return text;
}

/* Statements that are used again and again get a name, and everything works if the server does not know it. */
static void named(link_t *l, link_t *other)
{
    char pid[16];
    execute(l, "DEALLOCATE ALL");
    ask(pid, sizeof pid, l, "SELECT pg_backend_pid()");
    kill_backend(other, pid);
    RUN(l, SR_OP_TOKEN_CURRENT, "hash", NOW);
    is_str(names(l), "none", "an operation that runs once gets no name");
    is_str(outcome_of_many(l), "ok", "many run");
    is_str(names(l), "sigreq_token_current 4", "now it has a name, by which it is executed");
    ask(pid, sizeof pid, l, "SELECT pg_backend_pid()");
    kill_backend(other, pid);
    is_str(outcome_of_many(l), "ok", "a new session");
    is_str(names(l), "sigreq_token_current 3", "has it, too");
    execute(other, "ALTER FUNCTION sigreq.token_current_first RENAME TO former_first");
    execute(other, "ALTER FUNCTION sigreq.token_current RENAME TO former");
    execute(other, "CREATE FUNCTION sigreq.token_current(text, bigint) RETURNS TABLE (outcome text) "
                   "LANGUAGE sql AS 'SELECT ''unauthorized''::text'");
    RUN(l, SR_OP_TOKEN_CURRENT, "hash", NOW);
    is_str(link_outcome(l), "unauthorized", "a function with other columns is called");
    execute(other, "DROP FUNCTION sigreq.token_current");
    execute(other, "ALTER FUNCTION sigreq.former RENAME TO token_current");
    execute(other, "ALTER FUNCTION sigreq.former_first RENAME TO token_current_first");
    is_str(outcome_of_many(l), "ok", "and the former one again");
    ask(pid, sizeof pid, l, "SELECT pg_backend_pid()");
    kill_backend(other, pid);
    is_str(outcome_of_many(l), "ok", "another session");
    execute(l, "DEALLOCATE ALL");
    is_str(outcome_of_many(l), "ok", "names that the server has lost");
    is_str(names(l), "none", "this session uses none any more");
    ask(pid, sizeof pid, l, "SELECT pg_backend_pid()");
    kill_backend(other, pid);
    for (int i = 0; i < 5; i++) RUN(l, SR_OP_SUBMISSION_GET, "hash", NOW, uuid(1, 1, l->pool), "1", NULL);
    is_str(names(l), "sigreq_submission_get 3", "another operation");
    ok(strstr(plan(l, GET), "using submission_uuid_key") != NULL, "its function is a part of the statement");
    ok(!strstr(plan(l, GET), "Seq Scan") && !strstr(plan(l, GET), "Function Scan"),
       "it reads no whole table, though it is small");
    execute(l, "CREATE TEMPORARY TABLE without_index (x integer)");
    const char *whole = plan(l, "SELECT count(*) FROM without_index");
    ok(strstr(whole, "Seq Scan") && !strstr(whole, "JIT:"),
       "a statement that must read a whole table is not compiled: %s", whole);
    RUN(l, SR_OP_SUBMISSION_GET, "hash", NOW, "not a uuid", "1", NULL);
    ok(l->error && l->error->code == SR_EINTERNAL, "a named statement that is refused is an error");
    RUN(l, SR_OP_SUBMISSION_GET, "hash", NOW, uuid(1, 1, l->pool), "1", NULL);
    is_str(link_outcome(l), "ok", "and the next one is not");
}

/* Failures are classified by SQLSTATE, whatever the language of the message. */
static void states(link_t *l, link_t *other)
{
    static const struct {
        const char *state;
        int code; /* of the error */
        bool same_session;
    } rows[] = {
        {"40001", SR_EUNAVAILABLE, true},  {"53100", SR_EUNAVAILABLE, true}, {"53200", SR_EUNAVAILABLE, true},
        {"55P03", SR_EUNAVAILABLE, true},  {"57014", SR_EUNAVAILABLE, true}, {"57P03", SR_EUNAVAILABLE, true},
        {"25006", SR_EUNAVAILABLE, false}, {"22P02", SR_EINTERNAL, true},    {"P0001", SR_EINTERNAL, true},
    };
    char before[16], after[16];

    execute(other, "ALTER FUNCTION sigreq.token_current RENAME TO former");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        execute(other, apr_psprintf(other->pool,
                                    "CREATE OR REPLACE FUNCTION sigreq.token_current(text, bigint) RETURNS TABLE "
                                    "(outcome text) LANGUAGE plpgsql AS $$ BEGIN RAISE '%s', $1 "
                                    "USING ERRCODE = '%s'; END $$",
                                    i % 2 ? "ὕδωρ: »%«" : "ὕδωρ \"%\"", rows[i].state));
        ask(before, sizeof before, l, "SELECT pg_backend_pid()");
        RUN(l, SR_OP_TOKEN_CURRENT, "secret", NOW);
        const char *cause = l->error ? l->error->cause : "";
        is_int(l->error ? (int)l->error->code : 0, rows[i].code, "SQLSTATE %s: %s", rows[i].state, cause);
        ok(strstr(cause, rows[i].state) && !strstr(cause, "secret"), "the log has it, and no value of an argument");
        ask(after, sizeof after, l, "SELECT pg_backend_pid()");
        is_int(!strcmp(before, after), rows[i].same_session, "whether the connection stays open");
    }
    execute(other, "DROP FUNCTION sigreq.token_current");
    execute(other, "ALTER FUNCTION sigreq.former RENAME TO token_current");
    RUN(l, SR_OP_TOKEN_CURRENT, "hash", NOW);
    is_str(link_outcome(l), "ok", "nothing of it remains");
}

/* sqlite3_prepare's statements die with any change of the schema. */
static void stale(link_t *l, link_t *other)
{
    const wish_t w = {"hash", 1790000000000000, 2, "Stale", NULL, NULL, 0};
    execute(other, "CREATE TABLE another (x)");
    RUN(l, SR_OP_TOKEN_CURRENT, "hash", NOW);
    is_str(link_outcome(l), "ok", "reading survives a change of the schema");
    execute(other, "DROP TABLE another");
    CREATE(l, wish(&w, l->pool));
    is_str(link_outcome(l), "ok", "and so does writing");
    execute(other, "CREATE TABLE another (x)");
    execute(other, "INSERT INTO schema_version VALUES (99, 'future', 'c', 0)");
    RUN(l, SR_OP_TOKEN_CURRENT, "hash", NOW);
    ok(l->error && l->error->code == SR_EUNAVAILABLE && strstr(l->error->cause, "version 99"),
       "another version is noticed then: %s", l->error ? l->error->cause : "");
    execute(other, "DELETE FROM schema_version WHERE version = 99");
    RUN(l, SR_OP_TOKEN_CURRENT, "hash", NOW);
    is_str(link_outcome(l), "ok", "and checked again at the next use");
}

static void version(link_t *l, link_t *other, const char *table)
{
    execute(other, apr_psprintf(other->pool, "INSERT INTO %s VALUES (99, 'future', 'c', 0)", table));
    l->prepared = apr_hash_make(l->pool);
    link_open(l);
    ok(l->error && l->error->code == SR_EUNAVAILABLE
           && strstr(l->error->cause, "schema is version 99, this build needs"),
       "a newer schema: %s", l->error ? l->error->cause : "");
    RUN(l, SR_OP_PING, "1");
    ok(l->error && l->error->code == SR_EUNAVAILABLE, "it stays so");
    execute(other, apr_psprintf(other->pool, "DELETE FROM %s WHERE version = 99", table));
    RUN(l, SR_OP_PING, "1");
    is_str(link_outcome(l), "ok", "until it is of our version");
    RUN(l, SR_OP_PING, "1", "one");
    ok(l->error && strstr(l->error->message, "takes 1 arguments, not 2"), "arguments are counted");
}

/* Bytes in use after many operations, each in a pool of its own. */
static long long growth(link_t *l, int rounds)
{
    const char *arguments[] = {"hash", NOW, uuid(1, 1, l->pool), "1", NULL};
    const wish_t w = {"nohash", 1790000000000000, 3, "Refused", NULL, NULL, 0};
    const char *refused[] = {
        w.token, NOW, uuid(1, 9, l->pool), wish(&w, l->pool), "", NULL, NULL, FOLDER, "[]", NULL, NULL, NULL, NULL};
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    struct mallinfo2 before, after;
    apr_pool_t *pool;
    apr_pool_create(&pool, l->pool);
    for (int i = 0; i < rounds * 2; i++) {
        if (i == rounds) before = mallinfo2();
        apr_pool_clear(pool);
        if (sr_store_run(l->store, SR_OP_SUBMISSION_GET, &outcome, &rows, arguments, 5, pool)) return -1;
        if (sr_store_run(l->store, SR_OP_SUBMISSION_CREATE, &outcome, &rows, refused, 13, pool)) return -1;
    }
    after = mallinfo2();
    apr_pool_destroy(pool);
    return (long long)(after.uordblks + after.hblkhd) - (long long)(before.uordblks + before.hblkhd);
}

static void checks(base_t *base)
{
    const bool sqlite = strcmp(base->driver_name, "sqlite3") == 0;
    link_t l, other;
    long long grown;
    link_connect(&l, base, base->pool);
    link_connect(&other, base, base->pool);
    ok(!link_upgrade(&l), "upgrade");
    link_contents(&l);
    ok(!link_open(&l), "open");
    RUN(&l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, l.pool), "Org", NULL, NOW);
    RUN(&l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, l.pool), "Org", "Ann", "Lee", "ann@x.org", NOW);
    RUN(&l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, l.pool), "Org", "ann@x.org", "test", "t", "hash", NULL, NOW);
    is_str(link_outcome(&l), "ok", "a token");
    if (sqlite) stale(&l, &other);
    else {
        lost(&l, &other);
        named(&l, &other);
        states(&l, &other);
    }
    version(&l, &other, sqlite ? "schema_version" : "sigreq.schema_version");
    grown = growth(&l, 1000);
    ok(grown >= 0 && grown < 3000, "no growth over 2000 calls (%lld bytes)", grown);
    link_close(&other);
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
