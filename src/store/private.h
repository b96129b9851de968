/* SPDX-License-Identifier: Apache-2.0 */
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
    SR_SQL_SCHEMA_STATE,
    SR_SQL_SCHEMA_VERSION,
    SR_SQL_SCHEMA_LOCK, /* in an upgrade's transaction: another upgrade waits */
    SR_SQL_SCHEMA_RECORD,
    SR_SQL_DEFINITIONS_RECORD,
    SR_SQL_DEFINITIONS_DROP,
    SR_SQL_DEFINITIONS_TIDY, /* NULL if definitions cannot be replaced: they are removed before */
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
    const char *const *definitions; /* functions and views; ends with NULL */
    const char *definitions_checksum;
    const char *definition_names; /* a JSON array */
} sr_sql_t;

extern const sr_sql_t sr_sql_pgsql, sr_sql_sqlite3;

/* What an operation with a signature gives (made by tools/sql2c). */
typedef enum sr_value_type_t { SR_VALUE_TEXT, SR_VALUE_INT, SR_VALUE_BOOL } sr_value_type_t;

typedef struct sr_column_t {
    const char *name;
    sr_value_type_t type;
    bool maybe;    /* it may be NULL */
    bool pointer;  /* it is a pointer to a number or truth value, and NULL says that there is none */
    size_t offset; /* in the row's struct */
} sr_column_t;

typedef struct sr_row_kind_t {
    const char *name;
    size_t size;
    int count;
    const sr_column_t *columns;
} sr_row_kind_t;

typedef struct sr_shape_t {
    const sr_row_kind_t *row;    /* or NULL */
    unsigned outcomes, with_row; /* sets of sr_outcome_t; `outcomes` is 0 for an operation without signature */
    bool many;
} sr_shape_t;

extern const sr_shape_t sr_store_shapes[SR_OP_COUNT];

/* A row as text, or NULL where it has no value: its columns without the outcome. */
typedef struct sr_row_t {
    const char *const *values;
} sr_row_t;

bool sr_store_reads(sr_op_t op); /* it writes nothing */
/* Runs an operation; `arguments` are NUL-terminated text or NULL, `count` of them (checked against the statement).
 * *rows holds sr_row_t, in `pool`. */
sr_error_t *sr_store_run(sr_store_t *store, sr_op_t op, sr_outcome_t *outcome, apr_array_header_t **rows,
                         const char *const *arguments, int count, apr_pool_t *pool);
/* Borrows a connection, runs an operation and checks its outcome and rows. `result` is NULL, the address of a row's
 * address, or of an array's. */
sr_error_t *sr_store_call(sr_store_source_t *source, sr_op_t op, sr_outcome_t *outcome, void *result,
                          const char *const *arguments, int count, apr_pool_t *pool);
const char *sr_value_number(apr_int64_t value, apr_pool_t *pool);

/* Why a statement failed, as far as it matters to who sent it. */
typedef enum sr_failure_t {
    SR_FAILURE_NONE,
    SR_FAILURE_STATEMENT, /* the database refuses it: sending it again changes nothing */
    SR_FAILURE_GONE,      /* the connection was lost, and is there again */
    SR_FAILURE_STALE,     /* the prepared statements are dead: prepare them again */
    SR_FAILURE_BUSY,      /* another writer is at work */
    SR_FAILURE_AWAY,      /* no database, or its disk is full */
    SR_FAILURE_LATE       /* no answer in the time there was: the connection was shut down */
} sr_failure_t;

/* An open connection and how to talk to it. */
typedef struct sr_connection_t {
    const struct sr_dialect_t *dialect;
    const apr_dbd_driver_t *driver;
    apr_dbd_t *handle;
    sr_watch_t *watch; /* or NULL */
} sr_connection_t;

/* What differs between the databases. */
typedef struct sr_dialect_t {
    const char *name;
    const sr_sql_t *sql;
    const char *stale; /* the words of an error that passes when the same is sent again, or NULL */
    /* Tells what an error was, and reconnects where that helps. `reason` is the database's own words for it. */
    sr_failure_t (*judge)(const sr_connection_t *connection, const char *reason, apr_pool_t *pool);
    /* The socket of a connection, or -1; NULL where there is none to watch. */
    int (*socket)(const sr_connection_t *connection);
} sr_dialect_t;

extern const sr_dialect_t sr_dialect_pgsql, sr_dialect_sqlite3;

/* ------------------------------------------------------------------------------------------ connection.c */

/* False when the driver is none of ours. */
bool sr_connection_make(sr_connection_t *connection, const apr_dbd_driver_t *driver, apr_dbd_t *handle);

/* A statement that failed: what it means, and the database's words on one line without anything they quote out of
 * the arguments. */
typedef struct sr_fault_t {
    sr_failure_t failure;
    const char *reason;
} sr_fault_t;
/* Looks at the last error; called before anything else is sent. */
sr_fault_t sr_connection_fault(const sr_connection_t *connection, int status, const char *const *arguments, int count,
                               apr_pool_t *pool);
/* The error of a fault; `what` was being done. */
sr_error_t *sr_connection_error(const sr_fault_t *fault, const char *what, apr_pool_t *pool);

/* Every call of apr_dbd that waits for an answer stands between these two, which watch it: SR_CONNECTION_LATE in the
 * place of its status when the time is up, and the call is not to be made. */
#define SR_CONNECTION_LATE (-1)
int sr_connection_enter(const sr_connection_t *connection);
/* Returns the status of the call. */
int sr_connection_leave(const sr_connection_t *connection, int status);

/* Sends SQL that gives no rows: 0, or apr_dbd's status. */
int sr_connection_send(const sr_connection_t *connection, const char *sql);
/* Sends SQL that may give a row: *value is its first column, or NULL when none came. */
int sr_connection_ask(const char **value, const sr_connection_t *connection, const char *sql, apr_pool_t *pool);
/* Reads what the database says of its tables and definitions. */
int sr_connection_schema(sr_schema_t *schema, const sr_connection_t *connection, apr_pool_t *pool);

/* Begins a transaction, waiting about two seconds for another process that writes. It is rolled back when `pool` is
 * cleared, unless it was committed. */
int sr_connection_begin(const sr_connection_t *connection, apr_pool_t *pool);
int sr_connection_commit(const sr_connection_t *connection, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ watch.c */

/* From now on until disarm the watchdog may shut this socket down. False when the time is up already. */
bool sr_watch_arm(sr_watch_t *watch, int socket);
void sr_watch_disarm(sr_watch_t *watch, bool answered);
/* Whether there is so much time left; always, without a watch. */
bool sr_watch_allows(const sr_watch_t *watch, apr_interval_time_t time);

#endif
