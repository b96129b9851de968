/* private.h: what the files of src/store/ share: the SQL tables that tools/sql2c makes, and what differs between
 * the drivers. Nobody outside this folder includes it.
 */
#ifndef SR_STORE_PRIVATE_H
#define SR_STORE_PRIVATE_H

#include "store/store.h"

/* Texts the engine itself sends; what a driver does not need is NULL. */
typedef enum sr_engine_sql_t {
    SR_SQL_CONNECT, /* at a connection's first use, before anything is prepared */
    SR_SQL_CREATE,  /* before the first migration, outside a transaction */
    SR_SQL_BEGIN,
    SR_SQL_COMMIT,
    SR_SQL_ROLLBACK,
    SR_SQL_PROBE, /* does nothing, and succeeds on a connection that lives */
    SR_SQL_SCHEMA_EXISTS,
    SR_SQL_SCHEMA_VERSION,
    SR_SQL_SCHEMA_LOCK, /* in a migration's transaction: another upgrade waits */
    SR_SQL_SCHEMA_RECORD,
    SR_SQL_COUNT
} sr_engine_sql_t;

typedef struct sr_statement_t {
    const char *text;
    int arguments; /* how many of the operation's it takes, from the first */
    bool answer;   /* its rows, if any, end the operation */
} sr_statement_t;

typedef struct sr_operation_t {
    const char *name;
    const sr_statement_t *statements;
    int count;
    int arguments;
    bool write; /* runs between BEGIN and COMMIT */
} sr_operation_t;

typedef struct sr_sql_t {
    sr_operation_t operations[SR_OP_COUNT];
    const char *engine[SR_SQL_COUNT];
    const sr_migration_t *migrations;
    int migration_count;
} sr_sql_t;

extern const sr_sql_t sr_sql_pgsql, sr_sql_sqlite3;

/* Why a statement failed, as far as it matters to who sent it. */
typedef enum sr_failure_t {
    SR_FAILURE_STATEMENT, /* the database refuses it: sending it again changes nothing */
    SR_FAILURE_GONE,      /* the connection was lost, and is there again */
    SR_FAILURE_STALE,     /* the prepared statements are dead: prepare them anew */
    SR_FAILURE_BUSY,      /* another writer is at work */
    SR_FAILURE_AWAY       /* no database */
} sr_failure_t;

/* An open connection and how to talk to it. */
typedef struct sr_connection_t {
    const struct sr_dialect_t *dialect;
    const apr_dbd_driver_t *driver;
    apr_dbd_t *handle;
} sr_connection_t;

/* What differs between the databases. */
typedef struct sr_dialect_t {
    const char *name;
    const sr_sql_t *sql;
    /* Tells what an error was; called at once after it, before anything else is sent. */
    sr_failure_t (*judge)(const sr_connection_t *connection, int status, apr_pool_t *pool);
} sr_dialect_t;

extern const sr_dialect_t sr_dialect_pgsql, sr_dialect_sqlite3;

/* The dialect of a driver, or NULL when it is none of ours. */
const sr_dialect_t *sr_store_dialect(const apr_dbd_driver_t *driver);

/* The database's words for the last error on one line, with whatever it quotes out of `arguments` left out. */
const char *sr_store_reason(const sr_connection_t *connection, int status, const char *const *arguments, int count,
                            apr_pool_t *pool);
/* The error of a failed statement: `what` it was for, and the reason above as its private cause. */
sr_error_t *sr_store_failed(const sr_connection_t *connection, sr_failure_t failure, int status, const char *what,
                            const char *const *arguments, int count, apr_pool_t *pool);

/* Sends one of the engine's texts that gives no rows. 0 or apr_dbd's status. */
int sr_store_send(const sr_connection_t *connection, sr_engine_sql_t which);
/* Sends one of the engine's texts that may give a row; *value is its first column, or NULL when none came. */
int sr_store_ask(const char **value, const sr_connection_t *connection, sr_engine_sql_t which, apr_pool_t *pool);
/* BEGIN, waiting for another process's writer for at most two seconds. 0 or apr_dbd's status. */
int sr_store_begin(const sr_connection_t *connection, apr_pool_t *pool);

#endif
