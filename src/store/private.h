/* SPDX-License-Identifier: Apache-2.0 */
/* private.h: shared by the files of src/store/: the tables of SQL that tools/sql2c makes, and the differences between
 * the drivers. No file outside this folder includes it.
 */
#ifndef SR_STORE_PRIVATE_H
#define SR_STORE_PRIVATE_H

#include "store/schema.h"

/* The SQL that the engine itself sends. A text that a driver does not need is NULL. */
typedef enum sr_engine_sql_t {
    SR_SQL_CONNECT, /* at the first use of a connection, before statements are prepared */
    SR_SQL_CREATE,  /* before the first migration, outside a transaction */
    SR_SQL_BEGIN,
    SR_SQL_COMMIT,
    SR_SQL_ROLLBACK,
    SR_SQL_SYNCED,    /* outside a transaction: commits of this connection wait for the disk, as they do at first */
    SR_SQL_UNSYNCED,  /* outside a transaction: commits do not wait for the disk */
    SR_SQL_PROBE,     /* does nothing, and succeeds if the connection works */
    SR_SQL_SESSION,   /* gives the number of the server process that runs it */
    SR_SQL_NAMING,    /* before statements are prepared under names in a session */
    SR_SQL_LIMITED,   /* takes milliseconds: the server ends statements that take longer */
    SR_SQL_UNLIMITED, /* the limit is as it was */
    SR_SQL_LEADER,    /* gives "<system> <timeline>" of a server that leads, or NULL */
    SR_SQL_SCHEMA_EXISTS,
    SR_SQL_SCHEMA_STATE,
    SR_SQL_SCHEMA_VERSION,
    SR_SQL_SCHEMA_LOCK, /* in the transaction of an upgrade: makes other upgrades wait */
    SR_SQL_SCHEMA_RECORD,
    SR_SQL_DEFINITIONS_RECORD,
    SR_SQL_DEFINITIONS_DROP,
    SR_SQL_DEFINITIONS_TIDY, /* NULL if definitions cannot be replaced but are removed first */
    SR_SQL_VACUUM,           /* takes the path of a new file, to which the database is copied, or NULL */
    SR_SQL_IMPORT,           /* gives the statements that copy another database into this one (import.c), or NULL */
    SR_SQL_COUNT
} sr_engine_sql_t;

typedef struct sr_statement_t {
    const char *text;
    int arguments;     /* the number of the operation's arguments that it takes, from the first */
    bool answer;       /* if it gives rows, they are the result and end the operation */
    int needs;         /* the number of an argument, from 1: the statement is skipped if it is NULL; 0: none */
    bool typed;        /* its text has the types of the arguments, so that it can be prepared under a name (named.c) */
    const char *named; /* another text for that, or NULL. If it gives no row, the statement itself is run. */
} sr_statement_t;

typedef struct sr_operation_t {
    const char *name;
    const sr_statement_t *statements;
    int count;
    int arguments;
    bool write;    /* true if it runs between BEGIN and COMMIT */
    bool unsynced; /* true if its commit does not wait for the disk */
} sr_operation_t;

typedef struct sr_sql_t {
    sr_operation_t operations[SR_OP_COUNT];
    const char *engine[SR_SQL_COUNT];
    const sr_migration_t *migrations;
    int migration_count;
    const char *const *definitions; /* functions and views; terminated by NULL */
    const char *definitions_checksum;
    const char *definition_names; /* a JSON array */
} sr_sql_t;

extern const sr_sql_t sr_sql_pgsql, sr_sql_sqlite3;

/* The rows and outcomes of an operation, by its signature (made by tools/sql2c). */
typedef enum sr_value_type_t {
    SR_VALUE_TEXT,
    SR_VALUE_INT,
    SR_VALUE_BOOL,
    SR_VALUE_JSON, /* the member of a record is a JSON value, or NULL */
    SR_VALUE_LIST  /* the member of a record is an array of records, or NULL */
} sr_value_type_t;

typedef struct sr_column_t {
    const char *name;
    sr_value_type_t type;
    bool maybe;                         /* may be NULL */
    bool pointer;                       /* the member points to a number or boolean, and is NULL for SQL's NULL */
    size_t offset;                      /* in the row's struct */
    const struct sr_row_kind_t *record; /* of a list */
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

/* A row: its columns without the outcome, as text, or NULL for SQL's NULL. */
typedef struct sr_row_t {
    const char *const *values;
} sr_row_t;

bool sr_store_reads(sr_op_t op); /* true if the operation writes nothing */
/* Runs an operation with `count` arguments, each a NUL-terminated text or NULL. A wrong count is SR_EINTERNAL. *rows
 * holds sr_row_t, in `pool`. */
sr_error_t *sr_store_run(sr_store_t *store, sr_op_t op, sr_outcome_t *outcome, apr_array_header_t **rows,
                         const char *const *arguments, int count, apr_pool_t *pool);
/* Borrows a connection, runs an operation and checks its outcome and rows. `result` is NULL, or the address of a
 * pointer, which is set to the row, or to an array of rows. It is set to NULL after an error. */
sr_error_t *sr_store_call(sr_store_source_t *source, sr_op_t op, sr_outcome_t *outcome, void *result,
                          const char *const *arguments, int count, apr_pool_t *pool);
const char *sr_value_number(apr_int64_t value, apr_pool_t *pool);
/* Return a record, or an array of records, as JSON text. Nothing of a NULL pointer or an empty array: NULL. */
const char *sr_value_record(const sr_row_kind_t *kind, const void *record, apr_pool_t *pool);
const char *sr_value_list(const sr_row_kind_t *kind, const apr_array_header_t *records, apr_pool_t *pool);

/* Why a statement failed, as far as this matters to the caller. */
typedef enum sr_failure_t {
    SR_FAILURE_NONE,
    SR_FAILURE_STATEMENT, /* the database refuses the statement: a repetition would be refused, too */
    SR_FAILURE_GONE,      /* the connection was lost and has been opened again */
    SR_FAILURE_STALE,     /* the prepared statements are not valid any more and must be prepared again */
    SR_FAILURE_BUSY,      /* another writer has the lock */
    SR_FAILURE_AWAY,      /* the database cannot be reached, or its disk is full */
    SR_FAILURE_LATE       /* there was no response in time, and the connection was shut down */
} sr_failure_t;

/* An open connection. */
typedef struct sr_connection_t {
    const struct sr_dialect_t *dialect;
    const apr_dbd_driver_t *driver;
    apr_dbd_t *handle;
    sr_watch_t *watch; /* or NULL */
} sr_connection_t;

/* The differences between the databases. */
typedef struct sr_dialect_t {
    const char *name;
    const sr_sql_t *sql;
    const char *stale; /* the text of an error that a repetition of the statement avoids, or NULL */
    /* Called before a connection is used. NULL if there is nothing to do. */
    void (*begin)(const sr_connection_t *connection);
    /* Classifies the last error, and reconnects if that helps. `reason` is the database's message. */
    sr_failure_t (*judge)(const sr_connection_t *connection, const char *reason, apr_pool_t *pool);
    /* Returns the socket of a connection, or -1. NULL if connections have no sockets. */
    int (*socket)(const sr_connection_t *connection);
    /* Returns the number of the server process, as it was told when the connection was made, or 0. NULL if statements
     * cannot be prepared under a name. */
    int (*session)(const sr_connection_t *connection);
    /* Returns a number that is another one when the connection was opened again. NULL if there are no servers. */
    apr_uint64_t (*server)(const sr_connection_t *connection);
} sr_dialect_t;

extern const sr_dialect_t sr_dialect_pgsql, sr_dialect_sqlite3;

/* ------------------------------------------------------------------------------------------ connection.c */

/* Returns false if the driver is not supported. */
bool sr_connection_make(sr_connection_t *connection, const apr_dbd_driver_t *driver, apr_dbd_t *handle);

/* A failed statement: the kind of failure, and the database's message as one line, in which quoted arguments are
 * masked. */
typedef struct sr_fault_t {
    sr_failure_t failure;
    const char *reason;
} sr_fault_t;
/* Classifies the last error. It must be called before anything else is sent. */
sr_fault_t sr_connection_fault(const sr_connection_t *connection, int status, const char *const *arguments, int count,
                               apr_pool_t *pool);
/* Makes the error of a fault. `what` says what failed. */
sr_error_t *sr_connection_error(const sr_fault_t *fault, const char *what, apr_pool_t *pool);
/* Does both, for a statement without arguments that must be masked. */
sr_error_t *sr_connection_failed(const sr_connection_t *connection, int status, const char *what, apr_pool_t *pool);

/* Every call of apr_dbd that waits for a response is between these two functions, so that the watchdog limits its
 * time. sr_connection_enter returns 0, or SR_CONNECTION_LATE if the time is up. Then the call must not be made. */
#define SR_CONNECTION_LATE (-1)
/* Not a status of apr_dbd: the server of the connection does not lead any more (leader.c). */
#define SR_CONNECTION_FORMER (-2)
#define SR_FORMER "a former leader: another server of this database has a newer timeline"
int sr_connection_enter(const sr_connection_t *connection);
/* Returns the status of the call. */
int sr_connection_leave(const sr_connection_t *connection, int status);

/* Sends SQL that gives no rows. Returns 0, or the status of apr_dbd. */
int sr_connection_send(const sr_connection_t *connection, const char *sql);
/* Sends SQL that may give a row. *value is its first column, or NULL if there is no row. */
int sr_connection_ask(const char **value, const sr_connection_t *connection, const char *sql, apr_pool_t *pool);
/* Reads the recorded state of tables and definitions. */
int sr_connection_schema(sr_schema_t *schema, const sr_connection_t *connection, apr_pool_t *pool);

/* Begins a transaction, and waits about two seconds for another writer. It is rolled back when `pool` is cleared,
 * unless it was committed. */
int sr_connection_begin(const sr_connection_t *connection, apr_pool_t *pool);
int sr_connection_commit(const sr_connection_t *connection, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ named.c */

typedef struct sr_named_t sr_named_t; /* the named statements of a connection */
sr_named_t *sr_named_make(apr_pool_t *connection_pool);
/* Returns the named statement of an operation, which is prepared if that is worth it. Returns NULL if the operation is
 * to be sent without a name. */
apr_dbd_prepared_t *sr_named_get(sr_named_t *named, const sr_connection_t *connection, sr_op_t op, apr_pool_t *pool);
/* The statement of the operation has failed. Returns true if it had a name. Then this session uses no names any more,
 * and the operation should be sent again. */
bool sr_named_give_up(sr_named_t *named, sr_op_t op);
/* Has the server end a list before the watchdog shuts down the connection, so that the error is this statement's. To be
 * called before each operation, with whether it reads and gives many rows. Returns 0, or the status of apr_dbd. */
int sr_named_limit(sr_named_t *named, const sr_connection_t *connection, bool reads, bool many, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- leader.c */

/* What a connection knows about its server. It begins with zeros. */
typedef struct sr_leader_t {
    apr_uint64_t server;   /* of the dialect, when it was asked */
    apr_uint64_t position; /* 0: not known */
    bool asking;
} sr_leader_t;
/* Returns false if the connection was opened (again) and its server must be asked. */
bool sr_leader_is_known(const sr_leader_t *leader, const sr_connection_t *connection);
/* Asks the server, if that is necessary. */
int sr_leader_ask(sr_leader_t *leader, const sr_connection_t *connection, apr_pool_t *pool);
/* The server has refused a statement. Returns true if it was the one of sr_leader_ask. Then nothing is known about
 * this server, and it is used. */
bool sr_leader_give_up(sr_leader_t *leader, const sr_connection_t *connection);
/* Returns true if another server has become the leader after this one. */
bool sr_leader_is_former(const sr_leader_t *leader, const sr_connection_t *connection);

/* ------------------------------------------------------------------------------------------------ watch.c */

/* Until sr_watch_disarm the watchdog may shut down this socket. Returns false if the time is up already. */
bool sr_watch_arm(sr_watch_t *watch, int socket);
void sr_watch_disarm(sr_watch_t *watch, bool answered);
/* Returns the time limit of an operation, or 0 if it has no limit. */
apr_interval_time_t sr_watch_limit(const sr_watch_t *watch);
/* Returns true if at least this time is left, or if there is no watch. */
bool sr_watch_allows(const sr_watch_t *watch, apr_interval_time_t time);

#endif
