/* SPDX-License-Identifier: Apache-2.0 */
/* readers.c: limits how many threads may wait for request bodies that arrive slowly, and for events, so that clients
 * cannot occupy all threads. Half of the threads of a child may wait; with an MPM without threads, half of the
 * children. A body that is available at once is not counted. If no place is free, a body gets 100 ms to arrive
 * (body.c). Only half as many threads as there are places may spend this time, so that many slow clients do not occupy
 * the other half of the threads with it. A quarter of the threads may wait for events.
 *
 * Children without threads count in shared memory: each waiting child writes its process id into a free place. A
 * child that was killed leaves its id there, so a place whose process does not exist is free too. */
#include "http/http.h"
#include "metrics/metrics.h"

#include <ap_mpm.h>
#include <apr_atomic.h>
#include <apr_portable.h>
#include <errno.h>
#include <http_core.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PLACES = 4096 };

static apr_uint32_t own[SR_READERS * PLACES], *places = own; /* process ids; 0: free. The places of each sr_reader_t */
static apr_uint32_t busy[SR_READERS];                        /* threads of this child */
static apr_uint32_t most[SR_READERS] = {1, 1, 1};
static bool is_threaded = true;

apr_size_t sr_http_readers_size(void)
{
    return sizeof own;
}

void sr_http_readers_use(void *block)
{
    places = block;
}

void sr_http_readers_child_init(void)
{
    int threads = 0, children = 0;
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &children);
    is_threaded = threads > 1;
    const int all = is_threaded ? threads : children;
    most[SR_READER_WAITS] = all < 4 ? 1 : all / 2 < PLACES ? (apr_uint32_t)all / 2 : PLACES;
    most[SR_READER_LINGERS] = most[SR_READER_EVENTS] = (most[SR_READER_WAITS] + 1) / 2;
}

static bool is_free(apr_uint32_t id)
{
    return !id || (kill((pid_t)id, 0) && errno == ESRCH);
}

static bool readers_take(int *place, sr_reader_t what)
{
    const apr_uint32_t first = what * PLACES;
    *place = (int)first;
    if (is_threaded) {
        if (apr_atomic_inc32(&busy[what]) < most[what]) return true;
        apr_atomic_dec32(&busy[what]);
        return false;
    }
    for (apr_uint32_t i = first; i < first + most[what]; i++) {
        const apr_uint32_t id = apr_atomic_read32(&places[i]);
        if (!is_free(id) || apr_atomic_cas32(&places[i], (apr_uint32_t)getpid(), id) != id) continue;
        *place = (int)i;
        return true;
    }
    return false;
}

bool sr_http_readers_enter(int *place, sr_reader_t what)
{
    const bool entered = readers_take(place, what);
    if (entered && what == SR_READER_EVENTS) sr_metrics_live_add(SR_METRIC_FEED_WAITING, 0, 1);
    return entered;
}

void sr_http_readers_leave(int place)
{
    if (place / PLACES == SR_READER_EVENTS) sr_metrics_live_add(SR_METRIC_FEED_WAITING, 0, -1);
    if (is_threaded) apr_atomic_dec32(&busy[place / PLACES]);
    else apr_atomic_set32(&places[place], 0);
}

/* A client that has closed a connection with TLS is not noticed: the last record of TLS is there to be read. */
static bool readers_client_is_gone(conn_rec *connection)
{
    apr_socket_t *socket = connection->master ? NULL : ap_get_conn_socket(connection);
    int descriptor;
    char byte;
    if (!socket || apr_os_sock_get(&descriptor, socket)) return false;
    return recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool sr_http_readers_end(const sr_http_t *http)
{
    int state = 0;
    ap_mpm_query(AP_MPMQ_MPM_STATE, &state);
    return state == AP_MPMQ_STOPPING || readers_client_is_gone(http->r->connection);
}
