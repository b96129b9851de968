/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_http2.c: calls use HTTP/2 if the receiver offers it by ALPN, else HTTP/1.1. Each call has its own connection,
 * and no call is sent twice. */
#include "jobs/jobs.h"
#include "tap.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <fcntl.h>
#include <unistd.h>

enum { CALLS = 12 };

static apr_pool_t *pool;
static FILE *said, *told; /* output of the receiver, and input for it */
static int port;

/* The receiver's TLS certificate is not trusted, because other tests check trust. */
static void start_receiver(void)
{
    static const char script[] = "d=$(mktemp -d) && build/sigreqctl seal create $d/seal >$d/log && "
                                 "{ node t/tool/http2.mjs $d/seal/seal.crt $d/seal/seal.key; rm -r $d; }";
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) exit(2);
    if (!fork()) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(2);
    }
    close(in[0]);
    close(out[1]);
    told = fdopen(in[1], "w"); /* the receiver ends when this is closed, at the latest at the end of this process */
    said = fdopen(out[0], "r");
    if (told && said && fscanf(said, "%d", &port) == 1) return;
    printf("Bail out! no receiver\n");
    exit(2);
}

/* Makes calls at the same time. Counts the successes, and the calls by this HTTP version. */
static int make_calls(sr_call_t **calls, CURLM *multi, const char *path, int count, long version, int *of_version)
{
    int running, left, good = 0;
    CURLMsg *message;
    *of_version = 0;
    for (int i = 0; i < count; i++) {
        const char *url = apr_psprintf(pool, "https://127.0.0.1:%d%s", port, path);
        CURL *easy = sr_call_begin(calls[i], url, apr_psprintf(pool, "{\"n\":%d}", i));
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
        if (version == CURL_HTTP_VERSION_1_1) {
            curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
            curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        }
        curl_multi_add_handle(multi, easy);
    }
    do {
        curl_multi_perform(multi, &running);
        while ((message = curl_multi_info_read(multi, &left)) != NULL) {
            sr_call_t *call;
            sr_call_result_t result;
            long was = 0;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
            curl_easy_getinfo(message->easy_handle, CURLINFO_HTTP_VERSION, &was);
            sr_call_end(call, &result, message->data.result);
            good += result.success;
            *of_version += was == version;
            if (!result.success) ok(result.error != NULL, "an error: %s", result.error);
            curl_multi_remove_handle(multi, message->easy_handle);
        }
        if (running) curl_multi_poll(multi, NULL, 0, 100, NULL);
    } while (running);
    return good;
}

/* Checks the requests that arrived: COUNT lines with a path. Returns the number of the last connection. */
static int arrived(const char *path, int count, const char *version)
{
    char was[8], at[32], body[32];
    int connection = 0, number, seen[CALLS] = {0}, good = 0;
    for (int i = 0; i < count; i++) {
        int which = -1;
        if (fscanf(said, "%7s %d %31s %31s", was, &number, at, body) != 4) break;
        if (number > connection) connection = number;
        if (sscanf(body, "{\"n\":%d}", &which) == 1 && which >= 0 && which < CALLS) seen[which]++;
        good += !strcmp(was, version) && !strcmp(at, path);
    }
    is_int(good, count, "%s: HTTP/%s", path, version);
    for (int i = 0; i < count; i++)
        if (seen[i] != 1) ok(false, "%s: body %d came %d times", path, i, seen[i]);
    return connection;
}

int main(void)
{
    CURLM *multi;
    sr_call_t *calls[CALLS];
    int of_version;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    apr_array_header_t *allowed = apr_array_make(pool, 1, sizeof(apr_ipsubnet_t *));
    apr_ipsubnet_create(apr_array_push(allowed), "127.0.0.1", NULL, pool);
    const sr_jobs_options_t options = {.agent = "test", .allowed = allowed};
    multi = curl_multi_init();
    for (int i = 0; i < CALLS; i++)
        if (sr_call_create(&calls[i], &options, pool)) return 2;
    start_receiver();

    is_int(make_calls(calls, multi, "/first", CALLS, CURL_HTTP_VERSION_2_0, &of_version), CALLS, "all calls arrive");
    is_int(of_version, CALLS, "all calls use HTTP/2");
    const int opened = arrived("/first", CALLS, "2.0");
    is_int(opened, CALLS, "each call has its own connection");
    is_int(make_calls(calls, multi, "/again", CALLS, CURL_HTTP_VERSION_2_0, &of_version), CALLS,
           "all calls of a second round arrive");
    is_int(arrived("/again", CALLS, "2.0"), opened + CALLS, "the calls of the second round have new connections");
    is_int(make_calls(calls, multi, "/refused", CALLS, CURL_HTTP_VERSION_2_0, &of_version), 0,
           "calls whose streams are refused fail");
    arrived("/refused", CALLS, "2.0");
    is_int(make_calls(calls, multi, "/old", 2, CURL_HTTP_VERSION_1_1, &of_version), 2,
           "calls to a receiver without ALPN arrive");
    is_int(of_version, 2, "they use HTTP/1.1");
    arrived("/old", 2, "1.1");
    fclose(told);
    is_int(fgetc(said) == '\n' ? fgetc(said) : 0, EOF, "no other request arrived");
    curl_multi_cleanup(multi);
    apr_pool_destroy(pool);
    return done();
}
