/* SPDX-License-Identifier: Apache-2.0 */
/* leader.c: detects a PostgreSQL server that led once and does not know yet that another one leads. Such a server was
 * stopped (SIGSTOP, a frozen virtual machine) when its standby took over. When it continues, it still accepts
 * connections as a server that can write, also with target_session_attrs=read-write, until its supervisor ends it.
 * Synchronous replication keeps it from committing, but not from answering with old rows.
 *
 * Each promotion begins a new timeline with a greater number. So a session asks for the timeline of its server once,
 * and the greatest one is kept in the memory of the metrics, which all processes of the machine share. A server of a
 * smaller timeline of the same system is refused. The comparison needs no request: before an operation, and again
 * before its result is used. */
#include "store/private.h"

#include <stdlib.h>

#include "metrics/metrics.h"

#define TIMELINE_BITS 32

static bool is_watched(const sr_connection_t *connection)
{
    return connection->dialect->server && connection->watch && connection->watch->watchdog
           && connection->watch->database >= 0;
}

/* Returns what the server says about itself: a hash of its system identifier, and its timeline. Returns 0 if it is a
 * standby. */
static apr_uint64_t position_of(const char *answer)
{
    const char *timeline = answer ? strchr(answer, ' ') : NULL;
    apr_ssize_t length;
    apr_uint64_t system;
    if (!timeline) return 0;
    length = timeline - answer;
    system = apr_hashfunc_default(answer, &length);
    return system << TIMELINE_BITS | (apr_uint32_t)strtoul(timeline, NULL, 16);
}

static bool is_of_one_system(apr_uint64_t one, apr_uint64_t other)
{
    return one >> TIMELINE_BITS == other >> TIMELINE_BITS;
}

bool sr_leader_is_known(const sr_leader_t *leader, const sr_connection_t *connection)
{
    return !is_watched(connection) || leader->server == connection->dialect->server(connection);
}

bool sr_leader_is_former(const sr_leader_t *leader, const sr_connection_t *connection)
{
    apr_uint64_t newest;
    if (!is_watched(connection) || !leader->position) return false;
    newest = sr_metrics_value(SR_METRIC_DATABASE_LEADER, connection->watch->database, 0);
    if (newest && is_of_one_system(newest, leader->position) && newest >= leader->position)
        return newest > leader->position;
    sr_metrics_set(SR_METRIC_DATABASE_LEADER, connection->watch->database, 0, leader->position);
    return false;
}

int sr_leader_ask(sr_leader_t *leader, const sr_connection_t *connection, apr_pool_t *pool)
{
    const char *answer;
    int status;
    if (sr_leader_is_known(leader, connection)) return 0;
    leader->asking = true;
    status = sr_connection_ask(&answer, connection, connection->dialect->sql->engine[SR_SQL_LEADER], pool);
    if (status != 0) return status;
    *leader = (sr_leader_t){connection->dialect->server(connection), position_of(answer), false};
    return 0;
}

bool sr_leader_give_up(sr_leader_t *leader, const sr_connection_t *connection)
{
    if (!leader->asking) return false;
    *leader = (sr_leader_t){connection->dialect->server(connection), 0, false};
    return true;
}
