/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h: the tables of the database (sigreqctl db …). Numbered migrations make them: conf/schema/<driver>/
 * NNNN_name.sql. Definitions (functions and views) are in src/store/<driver>/ beside the operations. All are compiled
 * in. The database stores a checksum of each migration that was applied, and one of its definitions. */
#ifndef SR_STORE_SCHEMA_H
#define SR_STORE_SCHEMA_H

#include "store/store.h"

typedef struct sr_migration_t {
    int version;
    const char *name;
    const char *checksum;          /* of the statements, without comments */
    const char *const *statements; /* terminated by NULL */
} sr_migration_t;

typedef struct sr_schema_t {
    int version;         /* 0 if there are no tables */
    int latest;          /* the newest version that this build knows */
    bool definitions;    /* true if they are those of this build */
    const char *foreign; /* why these tables were not made by migrations of this build, or NULL */
    const char *problem; /* why this build cannot use the database, and what to do; or NULL */
} sr_schema_t;

/* Reads the state of the schema. It needs no sr_store_open. */
sr_error_t *sr_schema_read(sr_schema_t *schema, const apr_dbd_driver_t *driver, apr_dbd_t *handle, apr_pool_t *pool);
/* Applies the migrations that are missing, and the definitions if they differ, all in one transaction. A process
 * that is killed has changed nothing, and if several run at the same time, one of them does the work. *applied holds
 * const sr_migration_t *, and *defined is true if definitions were made. Errors: SR_ECONFLICT if the tables were not
 * made by this build or are newer. */
sr_error_t *sr_schema_upgrade(apr_array_header_t **applied, bool *defined, const apr_dbd_driver_t *driver,
                              apr_dbd_t *handle, apr_pool_t *pool);
/* Copies all rows of an SQLite database into a PostgreSQL database without rows, in one transaction (import.c). Both
 * must have the tables of this build. Adds {"table", "rows"} to the report for each table. The uuid of the target
 * stays. Errors: SR_ECONFLICT if the tables are another build's, or the target has rows. */
sr_error_t *sr_schema_import(json_t *report, const apr_dbd_driver_t *from_driver, apr_dbd_t *from,
                             const apr_dbd_driver_t *to_driver, apr_dbd_t *to, apr_pool_t *pool);
/* Writes a copy of an SQLite database to a new file. Others may write meanwhile. */
sr_error_t *sr_schema_vacuum(const apr_dbd_driver_t *driver, apr_dbd_t *handle, const char *path, apr_pool_t *pool);
/* Returns what names a PostgreSQL database, as it is connected, for other programs, or NULL if libpq was not found.
 * *password is set apart from this text, to NULL if the connection has no password. */
const char *sr_schema_parameters(const char **password, const apr_dbd_driver_t *driver, apr_dbd_t *handle,
                                 apr_pool_t *pool);

#endif
