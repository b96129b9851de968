/* SPDX-License-Identifier: Apache-2.0 */
/* trust_fetch.c: tests of src/authorities/fetch.c against a server of a few lines: what is sent, the limits,
 * connections that are kept, and several requests at the same time. */
#include "tap.h"
#include "authorities/fetch.h"

#include <apr_general.h>
#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <signal.h>
#include <unistd.h>

#define GATHERED 20

static apr_pool_t *pool;
static int port;
static atomic_int connections;
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int arrived;     /* requests for /gather */
    char head[4096]; /* of the last request */
} seen = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* --- the server: a thread for each connection */

static void reply(int fd, const char *status, const char *more, const char *body)
{
    dprintf(fd, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n%s", status, more, strlen(body), body);
}

/* Waits until all requests are here: they are answered only if they are sent at the same time. */
static void gather(void)
{
    pthread_mutex_lock(&seen.mutex);
    seen.arrived++;
    pthread_cond_broadcast(&seen.changed);
    while (seen.arrived < GATHERED) pthread_cond_wait(&seen.changed, &seen.mutex);
    pthread_mutex_unlock(&seen.mutex);
}

static char *large_body(size_t length)
{
    char *body = calloc(1, length + 1);
    memset(body, 'x', length);
    return body;
}

/* Returns false if the connection should be closed. */
static bool answer(int fd, const char *head, const char *body)
{
    static const char plain[] = "Content-Type: text/plain; charset=utf-8\r\n";
    char path[64] = "";
    sscanf(head, "%*s %63s", path);
    char *at = strncmp(path, "http://", 7) ? path : strchr(path + 7, '/');
    if (!strcmp(at, "/gather")) gather();
    if (!strcmp(at, "/echo") || !strcmp(at, "/gather")) reply(fd, "200 OK", plain, body);
    else if (!strcmp(at, "/head")) reply(fd, "200 OK", plain, head);
    else if (!strcmp(at, "/html")) reply(fd, "200 OK", "Content-Type: text/html\r\n", "<p>");
    else if (!strcmp(at, "/typeless")) reply(fd, "200 OK", "", "?");
    else if (!strcmp(at, "/missing")) reply(fd, "404 Not Found", plain, "nothing");
    else if (!strcmp(at, "/moved")) reply(fd, "302 Found", "Location: /echo\r\n", "");
    else if (!strcmp(at, "/once")) reply(fd, "200 OK", plain, "kept, or so it seems");
    else if (!strcmp(at, "/exact") || !strcmp(at, "/large")) {
        char *large = large_body(1000 + (at[1] == 'l'));
        reply(fd, "200 OK", plain, large);
        free(large);
    } else if (!strcmp(at, "/endless")) {
        dprintf(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        while (dprintf(fd, "4\r\nabcd\r\n") > 0) {
        }
    } else if (!strcmp(at, "/short")) dprintf(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    else if (!strcmp(at, "/silent"))
        while (read(fd, path, sizeof path) > 0) {
        }
    else if (!strcmp(at, "/noise")) dprintf(fd, "220 this is no HTTP\r\n");
    return strstr("/echo /gather /head /html /typeless /missing /moved /exact /large", at) != NULL;
}

/* Reads one request. Returns false at the end of the connection. */
static bool take(FILE *in, char *head, size_t room, char *body, size_t most)
{
    char line[1024];
    size_t length = 0;
    *head = '\0';
    while (fgets(line, sizeof line, in) && *line != '\r') {
        strncat(head, line, room - strlen(head) - 1);
        if (!strncasecmp(line, "content-length:", 15)) length = strtoul(line + 15, NULL, 10);
    }
    if (length > most) length = most;
    body[fread(body, 1, length, in)] = '\0';
    return *head != '\0';
}

static void *serve(void *data)
{
    const int fd = (int)(intptr_t)data;
    FILE *in = fdopen(fd, "r");
    char head[4096], body[4097];
    bool more = true;
    while (more && take(in, head, sizeof head, body, sizeof body - 1)) {
        pthread_mutex_lock(&seen.mutex);
        memcpy(seen.head, head, sizeof head);
        pthread_mutex_unlock(&seen.mutex);
        more = answer(fd, head, body);
    }
    fclose(in);
    return NULL;
}

static void *listen_on(void *data)
{
    const int listener = (int)(intptr_t)data;
    for (;;) {
        const int fd = accept(listener, NULL, NULL);
        pthread_t thread;
        if (fd < 0) continue;
        connections++;
        pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd);
        pthread_detach(thread);
    }
    return NULL;
}

static int open_listener(int *number)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 64)) exit(1);
    getsockname(listener, (struct sockaddr *)&address, &length);
    *number = ntohs(address.sin_port);
    return listener;
}

/* --- requests */

static const char *url_of(const char *path)
{
    return apr_psprintf(pool, "http://127.0.0.1:%d%s", port, path);
}

static sr_fetch_t request_for(const char *path)
{
    return (sr_fetch_t){
        .url = url_of(path), .limit = 1000, .connect = apr_time_from_sec(20), .all = apr_time_from_sec(60)};
}

static sr_fetcher_t *fetcher_with(const sr_fetch_options_t *options)
{
    sr_fetcher_t *fetcher;
    if (sr_fetcher_create(&fetcher, options, pool)) exit(1);
    return fetcher;
}

static const sr_fetch_options_t usual = {.agent = "test/1"};

static sr_fetch_t fetch(sr_fetcher_t *fetcher, sr_fetch_t request)
{
    sr_fetch_all(fetcher, &request, 1, pool);
    return request;
}

static const char *text_of(const sr_fetch_t *request)
{
    return request->answer ? apr_pstrmemdup(pool, (const char *)request->answer, request->size) : NULL;
}

static void sends(void)
{
    sr_fetcher_t *fetcher = fetcher_with(&usual);
    sr_fetch_t request = request_for("/echo");
    request.body = "a\0b";
    request.length = 3;
    request.type = "application/test";
    request.wanted = "text/plain";
    request = fetch(fetcher, request);
    is_int(request.state, SR_FETCH_DONE, "a POST is done");
    ok(!request.fault && request.status == 200, "it has a status and no fault");
    is_int((long long)request.size, 1, "the server has got the body (and read it up to its NUL)");
    ok(strstr(seen.head, "POST /echo HTTP/1.1") == seen.head, "it was a POST");
    ok(strstr(seen.head, "\r\nContent-Type: application/test\r\n") != NULL, "its content type was sent");
    ok(strstr(seen.head, "\r\nContent-Length: 3\r\n") != NULL, "its length was sent");
    ok(strstr(seen.head, "\r\nUser-Agent: test/1\r\n") != NULL, "the agent was sent");
    ok(!strcasestr(seen.head, "\r\nExpect:"), "nothing is expected");
    ok(!strcasestr(seen.head, "\r\nAuthorization:"), "no login is sent without one");
    request = request_for("/head");
    request.login = "user:pass";
    request = fetch(fetcher, request);
    ok(strstr(text_of(&request), "GET /head HTTP/1.1") != NULL, "without a body it is a GET");
    ok(strstr(text_of(&request), "Authorization: Basic dXNlcjpwYXNz\r\n") != NULL, "the login is sent");
    request = fetch(fetcher, request_for("/head"));
    ok(!strcasestr(text_of(&request), "Authorization"), "the next request on the connection has no login");
}

static void refuses(void)
{
    static const struct {
        const char *path;
        sr_fetch_state_t state;
        const char *fault;
    } rows[] = {
        {"/missing", SR_FETCH_REFUSED, "it answered with 404"},
        {"/moved", SR_FETCH_REFUSED, "it answered with 302"},
        {"/html", SR_FETCH_OTHER, "it answered with the content type text/html"},
        {"/typeless", SR_FETCH_OTHER, "it answered with the content type none"},
        {"/large", SR_FETCH_LARGE, "its answer is larger than 1000 bytes"},
        {"/endless", SR_FETCH_LARGE, "its answer is larger than 1000 bytes"},
        {"/close", SR_FETCH_CLOSED, NULL},
        {"/short", SR_FETCH_CLOSED, NULL},
        {"/noise", SR_FETCH_CLOSED, NULL},
    };
    sr_fetcher_t *fetcher = fetcher_with(&usual);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sr_fetch_t request = request_for(rows[i].path);
        if (rows[i].state == SR_FETCH_OTHER) request.wanted = "text/plain";
        request = fetch(fetcher, request);
        is_int(request.state, rows[i].state, "%s: the state", rows[i].path);
        ok(request.fault && !request.answer && !request.size, "%s: a fault and no answer", rows[i].path);
        if (rows[i].fault) is_str(request.fault, rows[i].fault, "%s: the fault", rows[i].path);
    }
    sr_fetch_t exact = fetch(fetcher, request_for("/exact"));
    ok(exact.state == SR_FETCH_DONE && exact.size == 1000, "an answer of the largest size is accepted");
    sr_fetch_t file = request_for("/");
    file.url = "file:///etc/passwd";
    file = fetch(fetcher, file);
    ok(file.state != SR_FETCH_DONE && !file.answer, "a file is not read");
}

static void has_limits(void)
{
    sr_fetcher_t *fetcher = fetcher_with(&usual);
    sr_fetch_t requests[2] = {request_for("/silent"), request_for("/echo")};
    int closed;
    requests[0].all = apr_time_from_msec(200);
    requests[1].body = "quick";
    requests[1].length = 5;
    sr_fetch_all(fetcher, requests, 2, pool);
    is_int(requests[0].state, SR_FETCH_LATE, "a silent server is given up");
    is_str(text_of(&requests[1]), "quick", "the other request is not hurt");
    close(open_listener(&closed));
    sr_fetch_t request = request_for("/");
    request.url = apr_psprintf(pool, "http://127.0.0.1:%d/", closed);
    is_int(fetch(fetcher, request).state, SR_FETCH_UNREACHABLE, "nobody listens");
    request.url = "http://no-such-host.invalid/";
    is_int(fetch(fetcher, request).state, SR_FETCH_UNREACHABLE, "no such host");
}

static void keeps_connections(void)
{
    sr_fetcher_t *fetcher = fetcher_with(&usual);
    const int before = connections;
    for (int i = 0; i < 5; i++) is_int(fetch(fetcher, request_for("/exact")).state, SR_FETCH_DONE, "request %d", i);
    is_int(connections - before, 1, "five requests use one connection");
    is_int(fetch(fetcher, request_for("/once")).state, SR_FETCH_DONE, "the server closes after this one");
    is_int(fetch(fetcher, request_for("/exact")).state, SR_FETCH_DONE, "a connection that was closed is replaced");
}

static void at_once(void)
{
    sr_fetcher_t *fetcher = fetcher_with(&usual);
    sr_fetch_t requests[GATHERED];
    int answered = 0;
    for (int i = 0; i < GATHERED; i++) {
        requests[i] = request_for("/gather");
        requests[i].body = apr_psprintf(pool, "body %d", i);
        requests[i].length = strlen(requests[i].body);
    }
    sr_fetch_all(fetcher, requests, GATHERED, pool);
    for (int i = 0; i < GATHERED; i++)
        answered += requests[i].answer && !strcmp(text_of(&requests[i]), requests[i].body);
    is_int(answered, GATHERED, "%d requests are under way at the same time, and each gets its answer", GATHERED);
}

static const char *forbid_loopback(const struct sockaddr *address, const void *baton)
{
    return address->sa_family == AF_INET ? baton : NULL;
}

static void asks_addresses(void)
{
    sr_fetch_options_t options = {.agent = "test/1", .forbidden = forbid_loopback, .baton = "loopback"};
    sr_fetch_t request = fetch(fetcher_with(&options), request_for("/exact"));
    is_int(request.state, SR_FETCH_UNREACHABLE, "a forbidden address is not called");
    is_str(request.fault, "its address is loopback", "the fault says why");
    options.proxy = url_of("");
    request = request_for("/head");
    request.url = "http://elsewhere.invalid/head";
    request = fetch(fetcher_with(&options), request);
    is_int(request.state, SR_FETCH_DONE, "with a proxy, the proxy decides");
    ok(request.answer && strstr(text_of(&request), "GET http://elsewhere.invalid/head HTTP/1.1") != NULL,
       "the proxy gets the whole URL");
}

int main(void)
{
    pthread_t thread;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    signal(SIGPIPE, SIG_IGN);
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    pthread_create(&thread, NULL, listen_on, (void *)(intptr_t)open_listener(&port));
    sends();
    refuses();
    has_limits();
    keeps_connections();
    at_once();
    asks_addresses();
    apr_pool_destroy(pool);
    return done();
}
