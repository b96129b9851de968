/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite3.c: SQLite: classifies errors by their messages, because apr_dbd returns SQLITE_ERROR for nearly all of
 * them. SQLite does not translate its messages. */
#include "store/private.h"

#include <string.h>

static const char stale[] = "database schema has changed"; /* statements must be prepared again */

static const struct {
    const char *words;
    sr_failure_t failure;
} meanings[] = {
    {stale, SR_FAILURE_STALE},
    {"database is locked", SR_FAILURE_BUSY},
    {"database table is locked", SR_FAILURE_BUSY},
    {"database or disk is full", SR_FAILURE_AWAY},
    {"disk I/O error", SR_FAILURE_AWAY},
    {"unable to open database file", SR_FAILURE_AWAY},
    {"attempt to write a readonly database", SR_FAILURE_AWAY},
};

static sr_failure_t sqlite3_judge(const sr_connection_t *connection, const char *reason, apr_pool_t *pool)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (strstr(reason, meanings[i].words)) return meanings[i].failure;
    }
    return SR_FAILURE_STATEMENT;
}

const sr_dialect_t sr_dialect_sqlite3 = {"sqlite3", &sr_sql_sqlite3, stale, NULL, sqlite3_judge, NULL, NULL, NULL};
