/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: one HTTP call by libcurl, and its result. Only the status of the response counts: nothing that the receiver
 * does after the status changes the result. */
#include "jobs/call.h"
#include "base/curl.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define CONNECT_LIMIT_MS 5000L
#define CALL_LIMIT_MS 15000L
#define ANSWER_LIMIT 65536

/* libcurl has no seek function for the body, so it cannot send the body twice. */
size_t sr_call_send(char *buffer, size_t size, size_t count, void *data)
{
    sr_call_t *call = data;
    const size_t left = call->length - call->sent, room = size * count;
    const size_t taken = left < room ? left : room;
    memcpy(buffer, call->body + call->sent, taken);
    call->sent += taken;
    return taken;
}

static size_t call_take(sr_call_t *call, size_t length)
{
    call->received += length;
    return call->received > ANSWER_LIMIT ? 0 : length;
}

static size_t call_take_body(char *data, size_t size, size_t count, void *baton)
{
    return call_take(baton, size * count);
}

/* An empty line ends the headers. After the headers of a 1xx response, other headers follow. */
static size_t call_take_header(char *line, size_t size, size_t count, void *baton)
{
    sr_call_t *call = baton;
    const size_t length = size * count;
    long status = 0;
    if (length <= 2 && (!length || *line == '\r' || *line == '\n')) {
        curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
        if (status >= 200) call->status = (int)status;
    }
    return call_take(call, length);
}

static curl_socket_t call_open_socket(void *baton, curlsocktype purpose, struct curl_sockaddr *address)
{
    sr_call_t *call = baton;
    const char *kind = sr_address_forbidden(&address->addr, call->options->allowed);
    if (kind) {
        call->forbidden = kind;
        return CURL_SOCKET_BAD;
    }
    call->tried = true;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

void sr_call_drop_mail(sr_call_t *call)
{
    curl_slist_free_all(call->mail_headers);
    curl_slist_free_all(call->recipients);
    call->mail_headers = call->recipients = NULL;
}

static apr_status_t call_release(void *data)
{
    sr_call_t *call = data;
    sr_call_drop_mail(call);
    curl_easy_cleanup(call->easy);
    curl_slist_free_all(call->headers);
    return APR_SUCCESS;
}

sr_error_t *sr_call_create(sr_call_t **call, const sr_jobs_options_t *options, apr_pool_t *pool)
{
    sr_call_t *made = *call = apr_pcalloc(pool, sizeof *made);
    made->options = options;
    made->easy = curl_easy_init();
    made->headers = curl_slist_append(NULL, "Content-Type: application/json");
    /* The receiver closes the connection, so the TIME_WAIT state, which occupies the port, is on its side. */
    if (made->headers
        && (!curl_slist_append(made->headers, "Expect:") || !curl_slist_append(made->headers, "Connection: close"))) {
        curl_slist_free_all(made->headers);
        made->headers = NULL;
    }
    apr_pool_cleanup_register(pool, made, call_release, apr_pool_cleanup_null);
    if (!made->easy || !made->headers) return sr_error(pool, SR_EINTERNAL, "libcurl has no memory");
    if (sr_curl_authorities(made->easy, options->authorities))
        return sr_error(pool, SR_EINTERNAL, "this libcurl takes no certificates but the system's");
    return NULL;
}

CURL *sr_call_reset(sr_call_t *call, long connect_limit_ms, long limit_ms)
{
    CURL *easy = call->easy;
    sr_call_drop_mail(call);
    *call = (sr_call_t){.easy = easy, .headers = call->headers, .options = call->options, .multi = call->multi};
    curl_easy_reset(easy); /* this keeps the handle's connections */
    sr_curl_authorities(easy, call->options->authorities);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->error);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* otherwise a slow DNS server would delay all calls */
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_limit_ms);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, limit_ms);
    /* A connection is used once. The receiver may close a reused connection just when a call is sent, or it may hold
     * stray bytes of the previous response. Such a call would be lost, because it must not be sent twice (RFC 9110,
     * 9.2.2). */
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    return easy;
}

CURL *sr_call_begin(sr_call_t *call, const char *url, const char *body)
{
    CURL *easy = sr_call_reset(call, CONNECT_LIMIT_MS, CALL_LIMIT_MS);
    call->body = body;
    call->length = strlen(body);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, call->options->agent);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->length);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, sr_call_send);
    curl_easy_setopt(easy, CURLOPT_READDATA, call);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, call_take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, call_take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, call_open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, call);
    return easy;
}

static const char *of_status(sr_call_t *call)
{
    if (call->status / 100 == 2) return NULL;
    apr_snprintf(call->said, sizeof call->said, "the answer was %d%s", call->status,
                 call->status / 100 == 3 ? ", and redirects are not followed" : "");
    return call->said;
}

/* The user who registers a URL must not learn from the history which names this host's own network has: one text is
 * for a name that does not exist and for an address that may not be called. The log has the difference (*detail). */
static const char *call_of_failure(sr_call_t *call, CURLcode code, const char **detail)
{
    curl_off_t connected = 0;
    const char *url = "";
    if (!call->is_mail && (code == CURLE_COULDNT_RESOLVE_HOST || (call->forbidden && !call->tried))) {
        apr_snprintf(call->said, sizeof call->said, "%s%s", call->forbidden ? "the address is " : call->error,
                     call->forbidden ? call->forbidden : "");
        *detail = call->said;
        return "the host of the URL has no address that may be called";
    }
    if (call->received > ANSWER_LIMIT) return "the answer's headers are larger than 64 KiB";
    /* with TLS; what comes then until a mail can be sent is a talk already */
    curl_easy_getinfo(call->easy, call->is_mail ? CURLINFO_CONNECT_TIME_T : CURLINFO_PRETRANSFER_TIME_T, &connected);
    if (code == CURLE_OPERATION_TIMEDOUT) {
        curl_easy_getinfo(call->easy, CURLINFO_EFFECTIVE_URL, &url);
        const bool tls = !strncasecmp(url, "https", 5) && !call->is_mail;
        if (!connected) return tls ? "no TLS connection within 5 s" : "no connection within 5 s";
        return call->is_mail ? "the mail server took too long" : "no answer within 15 s";
    }
    if (code == CURLE_SEND_FAIL_REWIND) return "the connection was lost before an answer came";
    if (code == CURLE_UNSUPPORTED_PROTOCOL) return "the answer is not HTTP";
    const char *error = *call->error ? call->error : curl_easy_strerror(code);
    if (code != CURLE_SSL_CONNECT_ERROR) return error;
    apr_snprintf(call->said, sizeof call->said, "no TLS connection: %s", error);
    return call->said;
}

/* Faults of a connection that may pass. */
static bool call_may_pass(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING: return true;
    default: return false;
    }
}

/* True if it is certain that the mail server has not accepted the mail, and if it may accept it later: it said so (4yz,
 * RFC 5321, 4.2.1), or the connection failed before a byte of the message was sent. If it failed later, the server may
 * have the mail. */
static bool is_unaccepted(const sr_call_t *call, CURLcode code, long status)
{
    if (code == CURLE_OK || status >= 500) return false;
    return status >= 400 || (!call->sent && call_may_pass(code));
}

/* The mail server has the mail, or it has not: it said so in a status of three digits. */
static void end_mail(sr_call_t *call, sr_call_result_t *result, CURLcode code)
{
    long status = 0;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    result->status = (int)status;
    result->success = code == CURLE_OK;
    result->unaccepted = is_unaccepted(call, code, status);
    result->error = result->success                ? NULL
                    : status >= 400 && *call->said ? call->said
                                                   : call_of_failure(call, code, &result->detail);
}

void sr_call_end(sr_call_t *call, sr_call_result_t *result, CURLcode code)
{
    result->detail = NULL;
    result->again = 0;
    result->unaccepted = false; /* an answer of HTTP does not say what its sender has done already */
    if (call->is_mail) {
        end_mail(call, result, code);
        return;
    }
    result->status = call->status;
    result->success = call->status / 100 == 2;
    result->error = call->status ? of_status(call) : call_of_failure(call, code, &result->detail);
}
