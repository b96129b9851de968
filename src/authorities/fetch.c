/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.c: requests by libcurl, several at a time. A multi handle keeps the connections that its transfers have used,
 * and belongs to one thread at a time. So a fetcher has a stack of idle multi handles: the one that was used last,
 * whose connections are most likely still open, is taken first. */
#include "authorities/fetch.h"
#include "base/curl.h"

#include <apr_thread_mutex.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define IDLE_MOST 64        /* multi handles that are kept */
#define CONNECTIONS_MOST 8L /* idle connections of one multi handle */
#define AT_ONCE_MOST 32L    /* connections to one host at the same time: further requests wait for one */
#define FIRST_ROOM 8192

typedef struct line_t {
    CURLM *multi;
    struct line_t *next;
} line_t;

struct sr_fetcher_t {
    sr_fetch_options_t options;
    apr_thread_mutex_t *mutex;
    line_t *idle;
    int count; /* of the idle ones */
};

typedef struct transfer_t {
    const sr_fetch_options_t *options;
    sr_fetch_t *request;
    CURL *easy;
    struct curl_slist *headers;
    unsigned char *bytes; /* by malloc, because a CRL may grow to many megabytes */
    apr_size_t size, room;
    const char *forbidden; /* why an address was not called */
    bool large;
    char error[CURL_ERROR_SIZE];
} transfer_t;

/* --- multi handles */

static void line_free(line_t *line)
{
    if (line) curl_multi_cleanup(line->multi);
    free(line);
}

static apr_status_t fetcher_end(void *data)
{
    sr_fetcher_t *fetcher = data;
    for (line_t *line = fetcher->idle, *next; line; line = next) {
        next = line->next;
        line_free(line);
    }
    fetcher->idle = NULL;
    return APR_SUCCESS;
}

sr_error_t *sr_fetcher_create(sr_fetcher_t **fetcher, const sr_fetch_options_t *options, apr_pool_t *pool)
{
    sr_fetcher_t *made = *fetcher = apr_pcalloc(pool, sizeof *made);
    made->options = *options;
    apr_status_t status = apr_thread_mutex_create(&made->mutex, APR_THREAD_MUTEX_DEFAULT, pool);
    if (status) return sr_error(pool, SR_EINTERNAL, "no mutex: %pm", &status);
    apr_pool_cleanup_register(pool, made, fetcher_end, apr_pool_cleanup_null);
    return NULL;
}

/* Returns NULL if there is no memory. */
static line_t *line_make(void)
{
    line_t *line = calloc(1, sizeof *line);
    if (line) line->multi = curl_multi_init();
    if (line && line->multi) {
        curl_multi_setopt(line->multi, CURLMOPT_MAXCONNECTS, CONNECTIONS_MOST);
        curl_multi_setopt(line->multi, CURLMOPT_MAX_HOST_CONNECTIONS, AT_ONCE_MOST);
        return line;
    }
    free(line);
    return NULL;
}

static line_t *line_take(sr_fetcher_t *fetcher)
{
    apr_thread_mutex_lock(fetcher->mutex);
    line_t *line = fetcher->idle;
    if (line) {
        fetcher->idle = line->next;
        fetcher->count--;
    }
    apr_thread_mutex_unlock(fetcher->mutex);
    return line ? line : line_make();
}

static void line_return(sr_fetcher_t *fetcher, line_t *line)
{
    apr_thread_mutex_lock(fetcher->mutex);
    const bool kept = fetcher->count < IDLE_MOST;
    if (kept) {
        line->next = fetcher->idle;
        fetcher->idle = line;
        fetcher->count++;
    }
    apr_thread_mutex_unlock(fetcher->mutex);
    if (!kept) line_free(line);
}

/* --- one transfer */

static apr_status_t fetch_transfer_end(void *data)
{
    transfer_t *transfer = data;
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    transfer->easy = NULL;
    transfer->headers = NULL;
    return APR_SUCCESS;
}

static apr_status_t bytes_free(void *data)
{
    free(data);
    return APR_SUCCESS;
}

static bool transfer_grow(transfer_t *transfer, apr_size_t wanted)
{
    apr_size_t room = transfer->room ? transfer->room : FIRST_ROOM;
    while (room < wanted) room *= 2;
    if (room == transfer->room) return true;
    unsigned char *bytes = realloc(transfer->bytes, room);
    if (!bytes) return false;
    transfer->bytes = bytes;
    transfer->room = room;
    return true;
}

static size_t fetch_take_body(char *data, size_t size, size_t count, void *baton)
{
    transfer_t *transfer = baton;
    const size_t length = size * count;
    transfer->large = length > transfer->request->limit - transfer->size;
    if (transfer->large || !transfer_grow(transfer, transfer->size + length)) return 0;
    memcpy(transfer->bytes + transfer->size, data, length);
    transfer->size += length;
    return length;
}

static curl_socket_t fetch_open_socket(void *baton, curlsocktype purpose, struct curl_sockaddr *address)
{
    transfer_t *transfer = baton;
    const sr_fetch_options_t *options = transfer->options;
    const bool direct = !options->proxy || !*options->proxy;
    transfer->forbidden = direct && options->forbidden ? options->forbidden(&address->addr, options->baton) : NULL;
    return transfer->forbidden ? CURL_SOCKET_BAD
                               : socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* An empty "Expect:" keeps libcurl from waiting for a "100 Continue". */
static bool fetch_set_headers(transfer_t *transfer, apr_pool_t *pool)
{
    const char *type = transfer->request->type;
    transfer->headers = curl_slist_append(NULL, "Expect:");
    if (!transfer->headers) return false;
    return !type || curl_slist_append(transfer->headers, apr_pstrcat(pool, "Content-Type: ", type, NULL));
}

static void fetch_set_options(transfer_t *transfer)
{
    const sr_fetch_options_t *options = transfer->options;
    const sr_fetch_t *request = transfer->request;
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* a slow DNS server would delay the end of the transfer */
    curl_easy_setopt(easy, CURLOPT_URL, request->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, options->proxy ? options->proxy : "");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    curl_easy_setopt(easy, CURLOPT_USERAGENT, options->agent);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(easy, CURLOPT_USERPWD, request->login);
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)apr_time_as_msec(request->connect));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)apr_time_as_msec(request->all));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, fetch_take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, fetch_open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer);
    if (!request->body) return;
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body); /* libcurl can send it again on another connection */
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
}

/* Returns true if the transfer can begin. */
static bool transfer_make(transfer_t *transfer, const sr_fetch_options_t *options, sr_fetch_t *request,
                          apr_pool_t *pool)
{
    transfer->options = options;
    transfer->request = request;
    transfer->easy = curl_easy_init();
    apr_pool_cleanup_register(pool, transfer, fetch_transfer_end, apr_pool_cleanup_null);
    if (!transfer->easy || !fetch_set_headers(transfer, pool)
        || sr_curl_authorities(transfer->easy, options->authorities))
        return false;
    fetch_set_options(transfer);
    return true;
}

/* --- the result */

static bool is_type(const char *got, const char *wanted)
{
    const size_t length = strlen(wanted);
    return got && !strncasecmp(got, wanted, length) && strchr("; \t", got[length]);
}

static void set_result(sr_fetch_t *request, sr_fetch_state_t state, const char *fault)
{
    request->state = state;
    request->fault = fault;
}

static void fetch_of_failure(const transfer_t *transfer, CURLcode code, apr_pool_t *pool)
{
    sr_fetch_t *request = transfer->request;
    const char *error = apr_pstrdup(pool, *transfer->error ? transfer->error : curl_easy_strerror(code));
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT: set_result(request, SR_FETCH_LATE, error); return;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_URL_MALFORMAT:
    case CURLE_PROXY: set_result(request, SR_FETCH_UNREACHABLE, error); return;
    default: set_result(request, SR_FETCH_CLOSED, error);
    }
}

static void transfer_judge(transfer_t *transfer, CURLcode code, apr_pool_t *pool)
{
    sr_fetch_t *request = transfer->request;
    const char *type = NULL;
    curl_off_t took = 0;
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &type);
    curl_easy_getinfo(transfer->easy, CURLINFO_TOTAL_TIME_T, &took);
    request->status = (int)status;
    request->took = (apr_interval_time_t)took;
    if (transfer->forbidden && code == CURLE_COULDNT_CONNECT)
        set_result(request, SR_FETCH_UNREACHABLE, apr_psprintf(pool, "its address is %s", transfer->forbidden));
    else if (transfer->large)
        set_result(request, SR_FETCH_LARGE,
                   apr_psprintf(pool, "its answer is larger than %" APR_SIZE_T_FMT " bytes", request->limit));
    else if (code) fetch_of_failure(transfer, code, pool);
    else if (status != 200) set_result(request, SR_FETCH_REFUSED, apr_psprintf(pool, "it answered with %ld", status));
    else if (request->wanted && !is_type(type, request->wanted))
        set_result(request, SR_FETCH_OTHER,
                   apr_psprintf(pool, "it answered with the content type %s", type ? type : "none"));
    else set_result(request, SR_FETCH_DONE, NULL);
    if (request->state != SR_FETCH_DONE) return;
    request->answer = transfer->bytes ? transfer->bytes : (const unsigned char *)"";
    request->size = transfer->size;
}

/* --- all transfers */

static void end_some(CURLM *multi, apr_pool_t *pool)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        transfer_t *transfer;
        const CURLcode code = message->data.result;
        CURL *easy = message->easy_handle;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (void *)&transfer);
        curl_multi_remove_handle(multi, easy);
        transfer_judge(transfer, code, pool);
    }
}

static bool fetch_is_stopped(const sr_fetch_options_t *options)
{
    return options->stopped && options->stopped(options->baton);
}

/* Each transfer has its time limit, so this ends. */
static void fetch_run(CURLM *multi, const sr_fetch_options_t *options, apr_pool_t *pool)
{
    const int pause = options->stopped ? 200 : 1000;
    int running = 0;
    do {
        if (curl_multi_perform(multi, &running)) break;
        end_some(multi, pool);
    } while (running && !fetch_is_stopped(options) && !curl_multi_poll(multi, NULL, 0, pause, NULL));
}

void sr_fetch_all(sr_fetcher_t *fetcher, sr_fetch_t *requests, int count, apr_pool_t *pool)
{
    line_t *line = line_take(fetcher);
    transfer_t *transfers = apr_pcalloc(pool, sizeof *transfers * (apr_size_t)count);
    for (int i = 0; i < count; i++) {
        sr_fetch_t *request = &requests[i];
        request->answer = NULL;
        request->size = 0;
        request->status = 0;
        request->took = 0;
        set_result(request, SR_FETCH_UNREACHABLE, "libcurl has no memory");
        if (line && transfer_make(&transfers[i], &fetcher->options, request, pool))
            curl_multi_add_handle(line->multi, transfers[i].easy);
    }
    if (line) fetch_run(line->multi, &fetcher->options, pool);
    for (int i = 0; i < count; i++) {
        transfer_t *transfer = &transfers[i];
        if (line && transfer->easy) curl_multi_remove_handle(line->multi, transfer->easy); /* unless it was removed */
        apr_pool_cleanup_run(pool, transfer, fetch_transfer_end);
        if (transfer->bytes) apr_pool_cleanup_register(pool, transfer->bytes, bytes_free, apr_pool_cleanup_null);
    }
    if (line) line_return(fetcher, line);
}
