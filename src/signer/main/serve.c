/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c: takes connections from the door, and answers their requests. All threads wait for one epoll. A descriptor is
 * served by one thread at a time (EPOLLONESHOT), and a thread never waits for a client: a client that does not read its
 * responses loses its connection. */
#include "signer/main/seals.h"
#include "signer/main/pkcs11.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_OF_PROCESS 64 /* connections of one child of httpd */
#define DOOR SR_SIGND_DOOR

static const sr_signd_keys_t *keys;
static uid_t user; /* of the process */
static int events = -1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t peers[SR_SIGND_MOST_CONNECTIONS + 64]; /* by descriptor: the process of a connection; 0: none */
static int connections;
static bool closed; /* nobody has the other end of the door */

#ifdef SR_SANITIZE
/* t/conf/leaks.supp names functions. Only the slow way finds them above libcrypto's. The sanitizer looks up the symbol.
 */
#pragma GCC visibility push(default)
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "fast_unwind_on_malloc=0";
}
#pragma GCC visibility pop
#endif

/* Ends the process if nobody can ask for anything any more. exit() would wait for no thread, but runs destructors that
 * other threads may be using. */
static void end_if_unused(void)
{
    pthread_mutex_lock(&mutex);
    const bool unused = closed && !connections;
    pthread_mutex_unlock(&mutex);
#ifdef SR_SANITIZE
    if (unused) sr_signd_token_hold();
    if (unused) exit(0); /* writes reports and counters */
#endif
    if (unused) _exit(0);
}

static void serve_watch(int operation, int descriptor, uint32_t what)
{
    struct epoll_event event = {.events = what | EPOLLONESHOT, .data.fd = descriptor};
    epoll_ctl(events, operation, descriptor, &event);
}

/* ------------------------------------------------------------------------------------------------ the door */

/* Returns the process of a connection, or 0 if it must not be served: it is not a process of httpd's user, or it has
 * enough connections. */
static pid_t serve_admit(int descriptor)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    int same = 0;
    if (descriptor >= (int)(sizeof peers / sizeof *peers)) return 0;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) || (peer.uid != user && peer.uid != 0))
        return 0;
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++) same += peers[i] == peer.pid;
    return same < MOST_OF_PROCESS && connections < SR_SIGND_MOST_CONNECTIONS ? peer.pid : 0;
}

static bool is_connection(int descriptor)
{
    int type = 0, domain = 0;
    socklen_t length = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length)) return false;
    return !getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) && type == SOCK_SEQPACKET
           && domain == AF_UNIX;
}

static void serve_add(int descriptor)
{
    pthread_mutex_lock(&mutex);
    const pid_t pid = is_connection(descriptor) ? serve_admit(descriptor) : 0;
    if (pid) {
        peers[descriptor] = pid;
        connections++;
    }
    pthread_mutex_unlock(&mutex);
    if (pid) serve_watch(EPOLL_CTL_ADD, descriptor, EPOLLIN);
    else close(descriptor);
}

/* Takes what one message brings: one descriptor. If it brings more, all of them are closed. */
static void serve_take(uint32_t happened)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    char one;
    struct iovec part = {&one, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = CMSG_LEN(sizeof(int))};
    const ssize_t got = recvmsg(DOOR, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    const struct cmsghdr *header = got >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        int descriptor;
        memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
        serve_add(descriptor);
    } else if (got == 0 && happened & EPOLLHUP) {
        pthread_mutex_lock(&mutex);
        closed = true;
        pthread_mutex_unlock(&mutex);
        end_if_unused();
        return; /* it is not watched any more */
    }
    /* A child that shuts the door down makes it readable for ever. */
    serve_watch(EPOLL_CTL_MOD, DOOR, happened & EPOLLRDHUP && got == 0 && !header ? 0 : EPOLLIN | EPOLLRDHUP);
}

/* -------------------------------------------------------------------------------------------- connections */

static void serve_drop(int descriptor)
{
    pthread_mutex_lock(&mutex);
    peers[descriptor] = 0;
    connections--;
    close(descriptor);
    pthread_mutex_unlock(&mutex);
    end_if_unused();
}

static void serve_answer(int descriptor, unsigned char *response, apr_pool_t *pool)
{
    unsigned char request[SR_SIGND_MAX_REQUEST + 1];
    const ssize_t got = recv(descriptor, request, sizeof request, MSG_DONTWAIT);
    if (got <= 0 && (got == 0 || (errno != EAGAIN && errno != EINTR))) {
        serve_drop(descriptor);
        return;
    }
    if (got > 0) {
        const apr_size_t length = sr_signd_keys_respond(response, keys, request, (apr_size_t)got, pool);
        if (send(descriptor, response, length, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)length) {
            serve_drop(descriptor);
            return;
        }
    }
    serve_watch(EPOLL_CTL_MOD, descriptor, EPOLLIN);
}

static void *serve_work(apr_pool_t *pool)
{
    unsigned char *response = apr_palloc(pool, SR_SIGND_MAX_RESPONSE);
    apr_pool_t *scratch;
    apr_pool_create(&scratch, pool);
    for (;; apr_pool_clear(scratch)) {
        struct epoll_event event;
        const int count = epoll_wait(events, &event, 1, -1);
        if (count < 0 && errno != EINTR) abort();
        if (count != 1) continue;
        if (event.data.fd == DOOR) serve_take(event.events);
        else serve_answer(event.data.fd, response, scratch);
    }
    return NULL;
}

/* A new thread makes system calls that the sandbox does not permit, so the sandbox waits for it. */
static pthread_barrier_t begun;
static void *work_in_thread(void *pool)
{
    pthread_barrier_wait(&begun);
    return serve_work(pool);
}

bool sr_signd_threads_start(const sr_signd_keys_t *loaded, int count)
{
    keys = loaded;
    user = getuid();
    events = epoll_create1(EPOLL_CLOEXEC);
    if (events < 0 || pthread_barrier_init(&begun, NULL, (unsigned)count)) return false;
    for (int i = 1; i < count; i++) {
        pthread_t thread;
        apr_pool_t *own;
        if (apr_pool_create_unmanaged_ex(&own, NULL, NULL) || pthread_create(&thread, NULL, work_in_thread, own))
            return false;
        pthread_detach(thread);
    }
    pthread_barrier_wait(&begun);
    return true;
}

void sr_signd_serve(apr_pool_t *pool)
{
    serve_watch(EPOLL_CTL_ADD, DOOR, EPOLLIN | EPOLLRDHUP);
    serve_work(pool);
}
