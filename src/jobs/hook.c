/* SPDX-License-Identifier: Apache-2.0 */
/* hook.c: one call of the administrator's service that delivers codes (SigreqCodeHook). It is made by the thread of a
 * request, which waits for it. */
#include "jobs/call.h"

#include <apr_strings.h>

#define CONNECT_LIMIT_MS 5000L
#define HOOK_LIMIT_MS 10000L

/* The call must not use the headers of all other calls, because it has a secret. The list belongs to the call. */
static bool hook_authorize(sr_call_t *call, const char *secret, apr_pool_t *pool)
{
    return curl_slist_append(call->headers, apr_pstrcat(pool, "Authorization: Bearer ", secret, NULL)) != NULL;
}

static void hook_call(sr_call_result_t *result, sr_call_t *call, const sr_code_hook_t *hook, const char *body)
{
    CURL *easy = sr_call_begin(call, hook->url, body);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, NULL); /* the administrator may name any address */
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_LIMIT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, HOOK_LIMIT_MS);
    const CURLcode code = curl_easy_perform(easy);
    sr_call_end(call, result, code);
    if (!result->status && code == CURLE_OPERATION_TIMEDOUT) result->error = "no response within 10 s";
}

void sr_code_hook_call(sr_call_result_t *result, const sr_code_hook_t *hook, const char *body, apr_pool_t *pool)
{
    const sr_jobs_options_t options = {.agent = hook->agent, .authorities = hook->authorities};
    apr_pool_t *own; /* the options must live as long as the call */
    sr_call_t *call;
    apr_pool_create(&own, pool);
    const sr_error_t *error = sr_call_create(&call, &options, own);
    *result = (sr_call_result_t){0};
    if (!error && hook_authorize(call, hook->secret, own)) hook_call(result, call, hook, body);
    else result->error = "there is no memory";
    result->error = result->error ? apr_pstrdup(pool, result->error) : NULL;
    result->detail = result->detail ? apr_pstrdup(pool, result->detail) : NULL;
    apr_pool_destroy(own);
}
