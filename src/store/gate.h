/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h: how long operations may take, and which threads may use a database that does not respond. Part of store.h.
 *
 * Sections: watch.c · gate.c */
#ifndef SR_STORE_GATE_H
#define SR_STORE_GATE_H

#include "store/store.h"

/* ------------------------------------------------------------------------------------------------ watch.c
 * A time limit for one operation on PostgreSQL. When the time is up, the socket of the connection is shut down, and
 * the operation fails as with a lost connection. It may have been committed. */
typedef struct sr_watchdog_t sr_watchdog_t; /* the thread that checks the watches of this process */
sr_error_t *sr_watchdog_start(sr_watchdog_t **watchdog, apr_interval_time_t limit, apr_pool_t *pool);

/* The watch of one operation. It must not move between sr_watch_begin and sr_watch_end. Callers only read it. */
struct sr_watch_t {
    sr_watchdog_t *watchdog; /* NULL if there is no limit */
    sr_watch_t *next, **link;
    apr_time_t until; /* a time of sr_time_steady */
    int socket;
    int database; /* its number in SR_LABEL_SERVER, or -1 */
    apr_interval_time_t connect_time;
    bool late, answered; /* late: the time is up. answered: the database has responded in time */
};
/* Starts the time of an operation. `connect_time` is that of the gate: how long opening a connection may take. */
void sr_watch_begin(sr_watch_t *watch, sr_watchdog_t *watchdog, int database, apr_interval_time_t connect_time);
void sr_watch_end(sr_watch_t *watch);

/* ------------------------------------------------------------------------------------------------- gate.c
 * Decides which threads of a process may use a database. While it responds, all of them may, up to the limits of
 * sr_gate_create. When one operation was not answered in time, the database counts as stopped for all processes of
 * the machine, unless it was a read and others were answered meanwhile. Then one thread at a time tries it, and all
 * others are refused at once instead of waiting, until one is answered. Reading and writing are counted separately.
 * When 10 connections in a row were refused, one thread in half a second tries to open one. */
typedef struct sr_gate_t sr_gate_t;
/* `number` is the database's number in SR_LABEL_SERVER, `servers` comes from sr_store_servers. At most three quarters
 * of `threads`, and at least two, may use the database at the same time, two thirds of them to write. */
sr_gate_t *sr_gate_create(int number, int threads, int servers, apr_interval_time_t limit, apr_pool_t *pool);
int sr_gate_servers(const sr_gate_t *gate);

/* SR_VISIT_UNREACHABLE: the time was up before the connection was open */
typedef enum sr_visit_end_t { SR_VISIT_UNKNOWN, SR_VISIT_ANSWERED, SR_VISIT_LATE, SR_VISIT_UNREACHABLE } sr_visit_end_t;
typedef enum sr_gate_change_t { SR_GATE_SAME, SR_GATE_STOPPED, SR_GATE_ANSWERS } sr_gate_change_t;
typedef struct sr_visit_t {
    sr_gate_t *gate;
    sr_use_t use;
    bool tries; /* true for the one thread that tries a stopped database */
    bool asks;  /* true for the one thread that tries a database that refuses connections */
    apr_time_t begun;
} sr_visit_t;

/* The longest time to open a connection, for each server of the connection string (libpq's connect_timeout). */
#define SR_CONNECT_SECONDS "2"
#define SR_CONNECT_TIME apr_time_from_sec(2)
/* Returns that time for all servers, but at most two thirds of the time limit of an operation. */
apr_interval_time_t sr_gate_connect_time(const sr_gate_t *gate);

/* Returns NULL if the thread may use the database, else the reason why not. Waits until `until` at the latest. The
 * thread then opens its connection and calls sr_gate_opened, because one thread at a time opens a connection. */
const char *sr_gate_enter(sr_visit_t *visit, sr_gate_t *gate, sr_use_t use, apr_time_t until);
sr_gate_change_t sr_gate_opened(sr_visit_t *visit, bool refused);
/* Returns what this has changed, for the log. */
sr_gate_change_t sr_gate_leave(sr_visit_t *visit, sr_visit_end_t end);

#endif
