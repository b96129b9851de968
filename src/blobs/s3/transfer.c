/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.c: one request by libcurl. A handle of libcurl keeps the connection that it has used, and belongs to one
 * thread at a time. So a client has a stack of idle handles: the one that was used last, whose connection is most
 * likely still open, is taken first. (Connections that threads share, CURL_LOCK_DATA_CONNECT, are not safe.) libcurl
 * repeats a request by itself if a kept connection ends before the response begins. */
#include "base/curl.h"
#include "blobs/s3/private.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define IDLE_MOST 64
#define BODY_MOST ((apr_size_t)8 << 20)   /* bytes of a response that is not written to a file: no list has more */
#define ERROR_MOST ((apr_size_t)64 << 10) /* bytes of the body of an error */
#define OBJECT_MOST ((apr_off_t)5 << 30)  /* bytes of an object that one PUT can store */
#define EXPECT_FROM ((apr_off_t)1 << 20)  /* bytes of a body that is sent only after a "100 Continue" */
#define SLOW 1024L                        /* bytes per second */
#define CONNECT_MS 3000L

struct sr_s3_handle_t {
    CURL *curl;
    sr_s3_handle_t *next;
};

typedef struct transfer_t {
    const sr_s3_call_t *call;
    sr_s3_answer_t *answer;
    apr_pool_t *pool;
    CURL *curl;
    struct curl_slist *headers;
    apr_off_t sent;
    sr_sha256_t *digest; /* of the object that is received; NULL: it is not compared */
    char *body;          /* by malloc */
    apr_size_t length;
    const char *own_fault; /* of a file of this host, or NULL */
    char error[CURL_ERROR_SIZE];
} transfer_t;

/* --- handles */

static sr_s3_handle_t *handle_take(sr_s3_t *s3)
{
    apr_thread_mutex_lock(s3->mutex);
    sr_s3_handle_t *handle = s3->idle;
    if (handle) {
        s3->idle = handle->next;
        s3->count--;
    }
    apr_thread_mutex_unlock(s3->mutex);
    if (handle) return handle;
    handle = calloc(1, sizeof *handle);
    if (handle) handle->curl = curl_easy_init();
    if (handle && handle->curl) return handle;
    free(handle);
    return NULL;
}

static void handle_free(sr_s3_handle_t *handle)
{
    if (handle) curl_easy_cleanup(handle->curl);
    free(handle);
}

static void handle_return(sr_s3_t *s3, sr_s3_handle_t *handle)
{
    curl_easy_reset(handle->curl); /* keeps its connection */
    apr_thread_mutex_lock(s3->mutex);
    const bool kept = s3->count < IDLE_MOST;
    if (kept) {
        handle->next = s3->idle;
        s3->idle = handle;
        s3->count++;
    }
    apr_thread_mutex_unlock(s3->mutex);
    if (!kept) handle_free(handle);
}

void sr_s3_handles_end(sr_s3_t *s3)
{
    for (sr_s3_handle_t *handle = s3->idle, *next; handle; handle = next) {
        next = handle->next;
        handle_free(handle);
    }
    s3->idle = NULL;
}

/* --- what libcurl calls */

static size_t send_some(char *to, size_t size, size_t count, void *baton)
{
    transfer_t *transfer = baton;
    const apr_off_t left = transfer->call->size - transfer->sent;
    const apr_size_t most = (apr_off_t)(size * count) < left ? size * count : (apr_size_t)left;
    const apr_ssize_t got = sr_descriptor_read(transfer->call->source, to, most, transfer->sent);
    if (got < 0 || (apr_size_t)got < most) {
        transfer->own_fault = got < 0 ? "the file cannot be read" : "the file is shorter than it was";
        return CURL_READFUNC_ABORT;
    }
    transfer->sent += got;
    return (size_t)got;
}

static int rewind_body(void *baton, curl_off_t offset, int origin)
{
    transfer_t *transfer = baton;
    if (origin != SEEK_SET) return CURL_SEEKFUNC_FAIL;
    transfer->sent = (apr_off_t)offset;
    return CURL_SEEKFUNC_OK;
}

static bool write_all(const transfer_t *transfer, const char *bytes, size_t length, apr_off_t at)
{
    while (length > 0) {
        const ssize_t written = pwrite(transfer->call->sink, bytes, length, at);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes += written;
        at += written;
        length -= (size_t)written;
    }
    return true;
}

static bool is_good(const transfer_t *transfer)
{
    return transfer->answer->status >= 200 && transfer->answer->status <= 299;
}

static size_t take_object(transfer_t *transfer, const char *bytes, size_t length)
{
    const apr_off_t most = transfer->call->most ? transfer->call->most : OBJECT_MOST;
    if (transfer->answer->received + (apr_off_t)length > most) {
        transfer->answer->fault = "the object is too large";
        return 0;
    }
    if (!write_all(transfer, bytes, length, transfer->answer->received)) {
        char reason[200];
        apr_strerror(errno, reason, sizeof reason);
        transfer->own_fault = apr_pstrcat(transfer->pool, "writing to a file: ", reason, NULL);
        return 0;
    }
    if (transfer->digest) sr_sha256_update(transfer->digest, bytes, length);
    transfer->answer->received += (apr_off_t)length;
    return length;
}

static size_t transfer_take_body(char *bytes, size_t size, size_t count, void *baton)
{
    transfer_t *transfer = baton;
    const size_t length = size * count;
    if (transfer->call->sink >= 0 && is_good(transfer)) return take_object(transfer, bytes, length);
    if (transfer->length + length > (is_good(transfer) ? BODY_MOST : ERROR_MOST)) {
        transfer->answer->fault = "the response is too large";
        return 0;
    }
    char *longer = realloc(transfer->body, transfer->length + length + 1);
    if (!longer) return 0;
    transfer->body = longer;
    memcpy(transfer->body + transfer->length, bytes, length);
    transfer->length += length;
    transfer->answer->received += (apr_off_t)length;
    return length;
}

/* Sets *value if the line is this header. */
static void header_value(const char **value, const char *line, size_t length, const char *name, apr_pool_t *pool)
{
    const size_t named = strlen(name);
    if (length <= named || strncasecmp(line, name, named) != 0 || line[named] != ':') return;
    line += named + 1;
    length -= named + 1;
    while (length && (*line == ' ' || *line == '\t')) line++, length--;
    while (length && strchr("\r\n\t ", line[length - 1])) length--;
    *value = sr_text_printable(apr_pstrmemdup(pool, line, length), pool);
}

static size_t transfer_take_header(char *line, size_t size, size_t count, void *baton)
{
    transfer_t *transfer = baton;
    sr_s3_answer_t *answer = transfer->answer;
    const size_t length = size * count;
    const char *number = NULL;
    if (length > 5 && strncmp(line, "HTTP/", 5) == 0) { /* after a "100 Continue" another response follows */
        const char *at = memchr(line, ' ', length);
        answer->status = at ? (int)strtol(at, NULL, 10) : 0; /* the line ends with CRLF */
        answer->date = answer->request_id = answer->region = answer->sha256 = "";
        answer->length = -1;
        return length;
    }
    header_value(&answer->date, line, length, "date", transfer->pool);
    header_value(&answer->request_id, line, length, "x-amz-request-id", transfer->pool);
    header_value(&answer->region, line, length, "x-amz-bucket-region", transfer->pool);
    header_value(&answer->sha256, line, length, "x-amz-meta-sha256", transfer->pool);
    header_value(&number, line, length, "content-length", transfer->pool);
    if (number) answer->length = apr_atoi64(number);
    return length;
}

/* --- the options of a transfer */

static const char *transfer_path_of(const sr_s3_options_t *options, const char *key, apr_pool_t *pool)
{
    return apr_pstrcat(pool, options->virtual_host ? "" : "/", options->virtual_host ? "" : options->bucket,
                       key || options->virtual_host ? "/" : "", key ? options->prefix : "", key ? key : "", NULL);
}

static void transfer_sign(sr_s3_signed_t *result, sr_s3_t *s3, const sr_s3_call_t *call, apr_pool_t *pool)
{
    const sr_s3_options_t *options = &s3->options;
    const char *authority = options->authority;
    if (options->virtual_host) authority = apr_pstrcat(pool, options->bucket, ".", authority, NULL);
    apr_thread_mutex_lock(s3->mutex);
    const apr_interval_time_t clock = s3->clock;
    apr_thread_mutex_unlock(s3->mutex);
    const sr_s3_request_t request = {.method = call->method,
                                     .scheme = options->scheme,
                                     .authority = authority,
                                     .path = transfer_path_of(options, call->key, pool),
                                     .query = call->query,
                                     .headers = call->headers,
                                     .query_count = call->query_count,
                                     .header_count = call->header_count,
                                     .payload = call->payload ? call->payload : SR_S3_EMPTY,
                                     .region = options->region,
                                     .credentials = &options->credentials,
                                     .now = sr_time_now() + clock};
    sr_s3_sign(result, &request, pool);
}

static bool transfer_set_headers(transfer_t *transfer, const sr_s3_signed_t *request)
{
    for (int i = 0; i < request->headers->nelts; i++) {
        struct curl_slist *longer =
            curl_slist_append(transfer->headers, APR_ARRAY_IDX(request->headers, i, const char *));
        if (!longer) return false;
        transfer->headers = longer;
    }
    if (transfer->call->size >= EXPECT_FROM) return true;
    return curl_slist_append(transfer->headers, "Expect:") != NULL;
}

static void set_method(transfer_t *transfer)
{
    const sr_s3_call_t *call = transfer->call;
    CURL *curl = transfer->curl;
    if (strcmp(call->method, "HEAD") == 0) curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    else if (strcmp(call->method, "GET") != 0) curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call->method);
    if (strcmp(call->method, "PUT") != 0) return;
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)call->size);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, send_some);
    curl_easy_setopt(curl, CURLOPT_READDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, rewind_body);
    curl_easy_setopt(curl, CURLOPT_SEEKDATA, transfer);
}

/* Redirects are not followed, because the Host is signed. Variables of httpd's environment name no proxy. */
static void transfer_set_options(transfer_t *transfer, const sr_s3_options_t *options, const char *url,
                                 apr_time_t until)
{
    const apr_interval_time_t left = until - sr_time_steady();
    CURL *curl = transfer->curl;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->error);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, options->scheme);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, options->agent ? options->agent : "mod_sigreq");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, left < 1000 ? 1L : (long)apr_time_as_msec(left));
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, SLOW);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)apr_time_sec(options->stall));
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, transfer_take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, transfer_take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
    set_method(transfer);
}

/* --- the result */

static void read_error(transfer_t *transfer)
{
    sr_s3_answer_t *answer = transfer->answer;
    if (transfer->body) answer->body = sr_s3_xml_parse(transfer->body, transfer->length, transfer->pool);
    if (!answer->body || !answer->body->root || strcmp(answer->body->root->name, "Error") != 0) return;
    answer->code = sr_text_printable(sr_s3_xml_text(answer->body->root, "Code", transfer->pool), transfer->pool);
    const char *region = sr_s3_xml_text(answer->body->root, "Region", transfer->pool);
    if (*region) answer->region = sr_text_printable(region, transfer->pool);
    if (!*answer->code) answer->code = "Error";
}

static void transfer_judge(transfer_t *transfer, CURLcode code)
{
    sr_s3_answer_t *answer = transfer->answer;
    const char *text = *transfer->error ? transfer->error : curl_easy_strerror(code);
    if (transfer->own_fault) {
        answer->fault = transfer->own_fault;
        answer->final = answer->own = true;
    } else if (code && !answer->fault) answer->fault = apr_pstrdup(transfer->pool, text);
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE || code == CURLE_URL_MALFORMAT)
        answer->final = true;
    if (code) return;
    read_error(transfer);
    if (!transfer->digest || !is_good(transfer) || *answer->code) return;
    const char *found = sr_sha256_end_hex(transfer->digest, transfer->pool);
    if (strcmp(found, transfer->call->expected) != 0)
        answer->fault = apr_pstrcat(transfer->pool, "the content's SHA-256 is ", found, NULL);
}

static void transfer_run(transfer_t *transfer, sr_s3_t *s3, apr_time_t until)
{
    const sr_s3_call_t *call = transfer->call;
    sr_s3_answer_t *answer = transfer->answer;
    sr_s3_signed_t request;
    answer->fault = "libcurl has no memory";
    transfer_sign(&request, s3, call, transfer->pool);
    if (!transfer_set_headers(transfer, &request) || sr_curl_authorities(transfer->curl, s3->options.authorities))
        return;
    answer->fault = NULL;
    transfer_set_options(transfer, &s3->options, request.url, until);
    if (call->sink >= 0 && ftruncate(call->sink, 0) != 0) transfer->own_fault = "a file cannot be emptied";
    if (call->expected) transfer->digest = sr_sha256_begin(transfer->pool);
    transfer_judge(transfer, transfer->own_fault ? CURLE_WRITE_ERROR : curl_easy_perform(transfer->curl));
}

void sr_s3_transfer(sr_s3_answer_t *answer, sr_s3_t *s3, const sr_s3_call_t *call, apr_time_t until, apr_pool_t *pool)
{
    transfer_t transfer = {.call = call, .answer = answer, .pool = pool};
    sr_s3_handle_t *handle = handle_take(s3);
    *answer = (sr_s3_answer_t){.fault = "libcurl has no memory",
                               .code = "",
                               .request_id = "",
                               .date = "",
                               .region = "",
                               .sha256 = "",
                               .length = -1};
    if (!handle) return;
    transfer.curl = handle->curl;
    transfer_run(&transfer, s3, until);
    curl_slist_free_all(transfer.headers);
    free(transfer.body);
    handle_return(s3, handle);
}
