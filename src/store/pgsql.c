/* SPDX-License-Identifier: Apache-2.0 */
/* pgsql.c: PostgreSQL: distinguishes a lost connection from a refused statement, by the SQLSTATE, because the server's
 * messages may be in any language. apr_dbd gives only the message, so libpq is asked to put the SQLSTATE into it. Eight
 * functions of libpq that apr_dbd does not offer are looked up in the libpq that its driver has loaded, so that the
 * module is not linked with libpq. */
#include "store/private.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define VERBOSE 2 /* PQERRORS_VERBOSE of libpq-fe.h */
#define SQLSTATE_LENGTH 5
/* The server does not accept writes, for example because it has become a standby. The connection string may name
 * another server. */
#define READ_ONLY "25006"

/* SQLSTATEs, or their beginnings, of refusals that the server has caused, and not the statement. */
static const char *const troubles[] = {
    "40001", /* a standby had to remove rows that the statement reads */
    "53",    /* no room on the disk, no memory, too many connections */
    "55P03", /* lock_timeout */
    "57014", /* cancelled: statement_timeout, or by an administrator */
    "57P03", /* the server starts or stops */
};

static struct {
    int (*socket)(const void *connection);
    int (*process)(const void *connection);
    char *(*host)(const void *connection);
    char *(*port)(const void *connection);
    void (*reset)(void *connection);
    int (*verbosity)(void *connection, int verbosity);
    struct pq_option_t *(*options)(const void *connection);
    void (*release)(struct pq_option_t *options);
} pq;

/* PQconninfoOption of libpq-fe.h */
typedef struct pq_option_t {
    char *keyword, *variable, *compiled, *value, *label, *display;
    int size;
} pq_option_t;

static void pgsql_find_functions(void)
{
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_NOLOAD);
    *(void **)&pq.socket = dlsym(library ? library : RTLD_DEFAULT, "PQsocket");
    *(void **)&pq.process = dlsym(library ? library : RTLD_DEFAULT, "PQbackendPID");
    *(void **)&pq.host = dlsym(library ? library : RTLD_DEFAULT, "PQhost");
    *(void **)&pq.port = dlsym(library ? library : RTLD_DEFAULT, "PQport");
    *(void **)&pq.reset = dlsym(library ? library : RTLD_DEFAULT, "PQreset");
    *(void **)&pq.verbosity = dlsym(library ? library : RTLD_DEFAULT, "PQsetErrorVerbosity");
    *(void **)&pq.options = dlsym(library ? library : RTLD_DEFAULT, "PQconninfo");
    *(void **)&pq.release = dlsym(library ? library : RTLD_DEFAULT, "PQconninfoFree");
}

static void *native(const sr_connection_t *connection)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, pgsql_find_functions); /* libpq is loaded if there is a connection */
    return apr_dbd_native_handle(connection->driver, connection->handle);
}

/* libpq keeps this when it opens the connection again. */
static void pgsql_begin(const sr_connection_t *connection)
{
    void *own = native(connection);
    if (own && pq.verbosity) pq.verbosity(own, VERBOSE);
}

static int socket_of(const sr_connection_t *connection)
{
    const void *own = native(connection);
    return own && pq.socket ? pq.socket(own) : -1;
}

static int pgsql_session_of(const sr_connection_t *connection)
{
    const void *own = native(connection);
    return own && pq.process ? pq.process(own) : 0;
}

/* The server process, with the address of the server, because processes of two servers may have the same number. */
static apr_uint64_t pgsql_server_of(const sr_connection_t *connection)
{
    const void *own = native(connection);
    const char *host = own && pq.host ? pq.host(own) : NULL, *port = own && pq.port ? pq.port(own) : NULL;
    apr_ssize_t host_length = APR_HASH_KEY_STRING, port_length = APR_HASH_KEY_STRING;
    apr_uint32_t address = 1; /* the number is not 0 */
    if (host) address += apr_hashfunc_default(host, &host_length);
    if (port) address = address * 31 + apr_hashfunc_default(port, &port_length);
    return (apr_uint64_t)address << 32 | (apr_uint32_t)pgsql_session_of(connection);
}

/* Opens a lost connection again, or (`anyway`) one that works but cannot be used, if there is time for that.
 * apr_dbd_check_conn checks only the local state, which the failed statement has updated. */
static sr_failure_t pgsql_open_again(const sr_connection_t *connection, bool anyway, apr_pool_t *pool)
{
    void *own = native(connection);
    if (!sr_watch_allows(connection->watch, connection->watch ? connection->watch->connect_time : 0))
        return SR_FAILURE_AWAY;
    if (anyway && own && pq.reset) pq.reset(own);
    return apr_dbd_check_conn(connection->driver, pool, connection->handle) == APR_SUCCESS ? SR_FAILURE_GONE
                                                                                           : SR_FAILURE_AWAY;
}

/* Returns the SQLSTATE of a message "SEVERITY:  SQLSTATE: text", and "" if it is not the server's but libpq's own. The
 * server translates the severity. */
static const char *sqlstate_of(const char *message, apr_pool_t *pool)
{
    const char *state = strstr(message, ":  ");
    if (!state || strspn(state += 3, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != SQLSTATE_LENGTH) return "";
    return apr_pstrmemdup(pool, state, SQLSTATE_LENGTH);
}

/* Classifies a failure. A connection that still responds was not lost. */
static sr_failure_t pgsql_judge(const sr_connection_t *connection, const char *reason, apr_pool_t *pool)
{
    const char *state = sqlstate_of(reason, pool);
    if (!strcmp(state, READ_ONLY) || !strcmp(reason, SR_FORMER)) return pgsql_open_again(connection, true, pool);
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        if (!strncmp(state, troubles[i], strlen(troubles[i]))) return SR_FAILURE_AWAY;
    }
    if (sr_connection_send(connection, connection->dialect->sql->engine[SR_SQL_PROBE]) == 0) {
        return SR_FAILURE_STATEMENT;
    }
    return pgsql_open_again(connection, false, pool);
}

/* libpq marks secrets, for programs that show a field for each option. */
const char *sr_schema_parameters(const char **password, const apr_dbd_driver_t *driver, apr_dbd_t *handle,
                                 apr_pool_t *pool)
{
    const sr_connection_t connection = {.driver = driver, .handle = handle};
    const void *own = native(&connection);
    pq_option_t *options = own && pq.options && pq.release ? pq.options(own) : NULL;
    const char *text = options ? "" : NULL;
    *password = NULL;
    for (const pq_option_t *option = options; option && option->keyword; option++) {
        if (!option->value || !*option->value) continue;
        if (!strcmp(option->keyword, "password")) *password = apr_pstrdup(pool, option->value);
        if (*option->display == '*') continue;
        text = apr_pstrcat(pool, text, *text ? " " : "", option->keyword, "='", NULL);
        for (const char *c = option->value; *c; c++)
            text = apr_psprintf(pool, *c == '\'' || *c == '\\' ? "%s\\%c" : "%s%c", text, *c);
        text = apr_pstrcat(pool, text, "'", NULL);
    }
    if (options) pq.release(options);
    return text;
}

/* Returns the text after a key such as "host=" of a connection string, or NULL. */
static const char *value_of(const char *params, const char *key)
{
    for (const char *at = params; (at = strstr(at, key)) != NULL; at++)
        if (at == params || at[-1] == ' ') return at + strlen(key);
    return NULL;
}

/* The hosts are separated by commas, in "host=a,b …" and in "postgresql://user:password@a,b/database". */
int sr_store_servers(const char *driver, const char *params)
{
    const char *scheme = strstr(params, "://"), *hosts = value_of(params, "host=");
    int count = 1;
    if (strcmp(driver, "pgsql") != 0) return 0;
    if (!hosts) hosts = value_of(params, "hostaddr=");
    if (scheme) {
        const char *end = scheme + 3 + strcspn(scheme + 3, "/?");
        hosts = scheme + 3;
        for (const char *at = hosts; at < end; at++)
            if (*at == '@') hosts = at + 1;
    }
    for (; hosts && *hosts && !strchr(" '/?", *hosts); hosts++) count += *hosts == ',';
    return count;
}

const sr_dialect_t sr_dialect_pgsql = {"pgsql",   &sr_sql_pgsql,    NULL,           pgsql_begin, pgsql_judge,
                                       socket_of, pgsql_session_of, pgsql_server_of};
