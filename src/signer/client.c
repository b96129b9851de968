/* SPDX-License-Identifier: Apache-2.0 */
/* client.c: the client of sigreq-signd (protocol.h) in a child of httpd. A request that gets no response is sent again
 * on another connection until its time is over: a signature that is made twice does no harm. So requests survive a new
 * start of the process. */
#include "signer/protocol.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "metrics/metrics.h"

#define MAX_CONNECTIONS 16
#define WAITING_EACH 16                                           /* callers that wait, for each connection */
#define PAUSE ((apr_interval_time_t)20 * APR_USEC_PER_SEC / 1000) /* between two attempts */

/* The pool of a certificate that has replaced another one while httpd runs. It is in this pool itself. */
typedef struct replaced_t replaced_t;
struct replaced_t {
    apr_pool_t *pool;
    replaced_t *next;
};

struct sr_signd_t {
    int door;
    int most, open, idle, waiting;
    int sockets[MAX_CONNECTIONS]; /* those that are idle */
    apr_interval_time_t timeout;
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    replaced_t *replaced; /* stay until the child ends, because requests may use them */
};

static apr_status_t client_end(void *data)
{
    sr_signd_t *signd = data;
    while (signd->idle) close(signd->sockets[--signd->idle]);
    pthread_cond_destroy(&signd->freed);
    pthread_mutex_destroy(&signd->mutex);
    for (replaced_t *one = signd->replaced, *next; one; one = next) {
        next = one->next;
        apr_pool_destroy(one->pool);
    }
    return APR_SUCCESS;
}

sr_signd_t *sr_signd_create(int door, int connections, apr_interval_time_t timeout, apr_pool_t *pool)
{
    sr_signd_t *signd = apr_pcalloc(pool, sizeof *signd);
    pthread_condattr_t monotonic;
    *signd = (sr_signd_t){
        .door = door, .most = connections < MAX_CONNECTIONS ? connections : MAX_CONNECTIONS, .timeout = timeout};
    pthread_mutex_init(&signd->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&signd->freed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    apr_pool_cleanup_register(pool, signd, client_end, apr_pool_cleanup_null);
    return signd;
}

static sr_error_t *unavailable(apr_pool_t *pool, const char *cause)
{
    sr_error_t *error = sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be sealed at the moment, try again later");
    return sr_error_because(error, pool, "the signer process: %s", cause);
}

/* ---------------------------------------------------------------------------------------------- connections */

/* Waits until the socket is ready. Returns false if the time is over. */
static bool client_wait_for(int socket, short events, apr_time_t deadline)
{
    for (apr_time_t left; (left = deadline - sr_time_steady()) > 0;) {
        struct pollfd ready = {.fd = socket, .events = events};
        const int count = poll(&ready, 1, (int)(left / 1000) + 1);
        if (count > 0) return true;
        if (count < 0 && errno != EINTR) return false;
    }
    return false;
}

static bool client_pass(int door, int socket, apr_time_t deadline)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    char one = 'c';
    struct iovec part = {&one, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    control.header =
        (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(&control.header), &socket, sizeof socket);
    for (;;) {
        if (sendmsg(door, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1) return true;
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return false;
        if (!client_wait_for(door, POLLOUT, deadline)) return false;
    }
}

/* Returns a new connection, or -1 if the process is gone for good. */
static int client_connect_to(const sr_signd_t *signd, apr_time_t deadline)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) return -1;
    const bool passed = client_pass(signd->door, pair[1], deadline);
    close(pair[1]);
    if (passed) return pair[0];
    close(pair[0]);
    return -1;
}

/* Takes the right to use a connection: *socket is one that is idle, or -1 if the caller has to make one. */
static const char *client_take(int *socket, sr_signd_t *signd, apr_time_t deadline)
{
    const struct timespec until = {.tv_sec = deadline / 1000000, .tv_nsec = deadline % 1000000 * 1000};
    const char *why = NULL;
    pthread_mutex_lock(&signd->mutex);
    if (!signd->idle && signd->open >= signd->most && signd->waiting >= signd->most * WAITING_EACH)
        why = "too many requests wait for it";
    signd->waiting++;
    while (!why && !signd->idle && signd->open >= signd->most)
        if (pthread_cond_timedwait(&signd->freed, &signd->mutex, &until)) why = "no connection became free in time";
    signd->waiting--;
    if (!why) {
        *socket = signd->idle ? signd->sockets[--signd->idle] : -1;
        if (*socket < 0) signd->open++;
    }
    pthread_mutex_unlock(&signd->mutex);
    return why;
}

/* Gives the connection back. A socket of -1 is a connection that was closed. */
static void give(int socket, sr_signd_t *signd)
{
    pthread_mutex_lock(&signd->mutex);
    if (socket >= 0) signd->sockets[signd->idle++] = socket;
    else signd->open--;
    pthread_cond_signal(&signd->freed);
    pthread_mutex_unlock(&signd->mutex);
}

/* ------------------------------------------------------------------------------------------------- requests */

typedef struct message_t {
    const unsigned char *data;
    apr_size_t length;
} message_t;

/* Sends the request and receives the response. Returns its length; 0 if the connection is closed; -1 if the time is
 * over. */
static apr_ssize_t exchange(int socket, const message_t *request, unsigned char *response, apr_size_t room,
                            apr_time_t deadline)
{
    for (;;) {
        if (send(socket, request->data, request->length, MSG_NOSIGNAL) == (ssize_t)request->length) break;
        if (errno != EINTR) return 0;
    }
    for (;;) {
        if (!client_wait_for(socket, POLLIN, deadline)) return -1;
        const ssize_t got = recv(socket, response, room, MSG_DONTWAIT);
        if (got >= 0) return got;
        if (errno != EINTR && errno != EAGAIN) return 0;
    }
}

/* Asks until there is a response. *socket is the connection, which the caller gives back. */
static const char *converse(int *socket, apr_ssize_t *got, sr_signd_t *signd, const message_t *request,
                            unsigned char *response, apr_size_t room, apr_time_t deadline)
{
    for (;;) {
        if (*socket < 0) *socket = client_connect_to(signd, deadline);
        if (*socket < 0) return "it is gone, or cannot be reached";
        *got = exchange(*socket, request, response, room, deadline);
        if (*got >= SR_SIGND_RESPONSE && !memcmp(response, SR_SIGND_MAGIC, 4)) return NULL;
        close(*socket);
        *socket = -1;
        if (*got < 0) return "it did not answer in time";
        if (*got > 0) return "it does not speak this version's protocol";
        if (sr_time_steady() + PAUSE >= deadline) return "it ends before it answers";
        apr_sleep(PAUSE);
    }
}

typedef struct answer_t {
    sr_signd_status_t status;
    sr_cms_bytes_t attributes, rest;
} answer_t;

/* Reads the two lengths, which must be those of the message. */
static bool client_parse(answer_t *answer, const unsigned char *response, apr_size_t length)
{
    const apr_size_t first = (apr_size_t)response[6] << 8 | response[7];
    const apr_size_t second = (apr_size_t)response[8] << 8 | response[9];
    if (SR_SIGND_RESPONSE + first + second != length) return false;
    answer->status = (sr_signd_status_t)response[4];
    answer->attributes = (sr_cms_bytes_t){response + SR_SIGND_RESPONSE, first};
    answer->rest = (sr_cms_bytes_t){response + SR_SIGND_RESPONSE + first, second};
    return true;
}

static sr_error_t *client_ask(answer_t *answer, sr_signd_t *signd, const message_t *request, apr_size_t room,
                              apr_pool_t *pool)
{
    const apr_time_t begun = sr_time_steady(), deadline = begun + signd->timeout;
    unsigned char *response = apr_palloc(pool, room);
    apr_ssize_t got = 0;
    int socket;
    const char *why = client_take(&socket, signd, deadline);
    if (!why) {
        why = converse(&socket, &got, signd, request, response, room, deadline);
        give(socket, signd);
    }
    if (!why && !client_parse(answer, response, (apr_size_t)got)) why = "its response is not valid";
    if (!why && answer->status == SR_SIGND_INVALID) why = "it refuses the request";
    if (!why && answer->status == SR_SIGND_FAILED) why = "the key cannot sign";
    sr_metrics_count(SR_METRIC_SIGNER_REQUESTS, 0, 0, 1);
    sr_metrics_observe(SR_METRIC_SIGNER_SECONDS, 0, sr_time_steady() - begun);
    if (why) sr_metrics_count(SR_METRIC_SIGNER_FAILURES, 0, 0, 1);
    return why ? unavailable(pool, why) : NULL;
}

sr_error_t *sr_signd_sign(unsigned char *signature, apr_size_t *length, void *baton, const sr_cms_identity_t *identity,
                          const unsigned char *digest, const sr_cms_bytes_t *attributes, apr_pool_t *pool)
{
    const sr_signd_seal_t *seal = baton;
    unsigned char request[SR_SIGND_MAX_REQUEST] = SR_SIGND_MAGIC;
    apr_size_t size;
    answer_t answer;
    const int hash = sr_signd_hash(sr_cms_identity_hash(identity), &size);
    request[4] = SR_SIGND_SIGN;
    request[5] = (unsigned char)seal->number;
    request[6] = (unsigned char)hash;
    if (!sr_cipher_unhex(request + SR_SIGND_HEADER, sr_cms_identity_certificate(identity)->sha256,
                         2 * (apr_size_t)SR_SIGND_FINGERPRINT))
        return unavailable(pool, "the certificate has no fingerprint");
    memcpy(request + SR_SIGND_HEADER + SR_SIGND_FINGERPRINT, digest, size);
    const message_t message = {request, SR_SIGND_HEADER + SR_SIGND_FINGERPRINT + size};
    SR_TRY(client_ask(&answer, seal->signd, &message, SR_SIGND_MAX_SIGNED, pool));
    if (answer.status == SR_SIGND_OTHER) {
        if (seal->changed) seal->changed(seal->changed_baton, seal->number, identity);
        return unavailable(pool, "the seal has another certificate now");
    }
    if (answer.attributes.length != attributes->length
        || memcmp(answer.attributes.data, attributes->data, attributes->length) != 0)
        return unavailable(pool, "it has signed other attributes");
    if (!answer.rest.length || answer.rest.length > *length) return unavailable(pool, "its signature is not valid");
    memcpy(signature, answer.rest.data, answer.rest.length);
    *length = answer.rest.length;
    return NULL;
}

sr_error_t *sr_signd_certificates(const char **pem, sr_signd_t *signd, int number, const char *organization,
                                  apr_pool_t *pool)
{
    unsigned char request[SR_SIGND_HEADER + SR_SIGND_FINGERPRINT] = SR_SIGND_MAGIC;
    answer_t answer;
    request[4] = SR_SIGND_CERTIFICATES;
    request[5] = (unsigned char)number;
    if (organization) sr_signd_organization(request + SR_SIGND_HEADER, organization);
    SR_TRY(client_ask(&answer, signd, &(message_t){request, sizeof request}, SR_SIGND_MAX_RESPONSE, pool));
    *pem = apr_pstrmemdup(pool, (const char *)answer.rest.data, answer.rest.length);
    return NULL;
}

static void client_keep(sr_signd_t *signd, apr_pool_t *pool)
{
    replaced_t *one = apr_palloc(pool, sizeof *one);
    one->pool = pool;
    pthread_mutex_lock(&signd->mutex);
    one->next = signd->replaced;
    signd->replaced = one;
    pthread_mutex_unlock(&signd->mutex);
}

/* An own seal without a certificate keeps the one that it had, and is refused when it signs. */
void sr_signd_replace(const sr_cms_identity_t **used, sr_signd_seal_t *seal, int number, const char *organization)
{
    const sr_cms_identity_t *made = NULL, *old = *used;
    const char *pem;
    apr_pool_t *pool;
    if (apr_pool_create_unmanaged_ex(&pool, NULL, NULL)) return;
    sr_error_t *error = sr_signd_certificates(&pem, seal->signd, number, organization, pool);
    if (!error && *pem) error = sr_cms_identity_without_key(&made, pem, "memory", sr_signd_sign, seal, pool);
    const bool same =
        made && old && !strcmp(sr_cms_identity_certificate(made)->sha256, sr_cms_identity_certificate(old)->sha256);
    if (!error && !same && (made || !organization)) __atomic_store_n(used, made, __ATOMIC_RELEASE);
    if (error || same || !made) apr_pool_destroy(pool);
    else client_keep(seal->signd, pool);
}
