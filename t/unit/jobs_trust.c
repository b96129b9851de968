/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_trust.c: the certificate authorities of calls and mails. If authorities are configured, libcurl gets only
 * these, for every call and every mail. If libcurl cannot take them, there are no calls. t/api/authorities.t tests
 * what libcurl does with them. */
#include "jobs/call.h"
#include "tap.h"

#include <apr_general.h>

static struct {
    bool cafile, capath; /* the system's authorities were removed */
    char pem[64];
} told;
static bool refuses;

#undef curl_easy_setopt
/* Replaces libcurl's function. */
CURLcode curl_easy_setopt(CURL *easy, CURLoption option, ...)
{
    va_list arguments;
    va_start(arguments, option);
    void *value = va_arg(arguments, void *);
    va_end(arguments);
    if (option == CURLOPT_CAINFO) told.cafile = !value;
    if (option == CURLOPT_CAPATH) told.capath = !value;
    if (option != CURLOPT_CAINFO_BLOB) return CURLE_OK;
    if (refuses) return CURLE_NOT_BUILT_IN;
    const struct curl_blob *blob = value;
    snprintf(told.pem, sizeof told.pem, "%.*s", (int)blob->len, (const char *)blob->data);
    return CURLE_OK;
}

static void is_told(const char *what, bool alone, const char *pem)
{
    ok(told.cafile == alone && told.capath == alone, "%s: the system's authorities are %s", what,
       alone ? "taken away" : "left alone");
    is_str(told.pem, pem, "%s: others", what);
    memset(&told, 0, sizeof told);
}

int main(void)
{
    static const char text[] = "{\"email\":\"a@x.org\",\"link\":\"https://x.org/\",\"signer\":\"A\"}";
    const sr_mail_t mail = {.url = "smtp://x.org", .from_address = "s@x.org", .templates = sr_mail_builtin};
    const sr_jobs_options_t system = {.agent = "test"}, given = {.agent = "test", .authorities = "PEM"};
    apr_pool_t *pool;
    sr_call_t *call;
    const char *fault;
    json_t *invitation;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    ok(!sr_call_create(&call, &system, pool), "a call without configured authorities");
    sr_call_begin(call, "https://x.org/", "{}");
    is_told("a call", false, "");
    ok(!sr_call_create(&call, &given, pool), "a call with configured authorities");
    memset(&told, 0, sizeof told);
    sr_call_begin(call, "https://x.org/", "{}");
    is_told("a call", true, "PEM");
    ok(!sr_json_read(&invitation, text, pool) && sr_mail_begin(call, &mail, invitation, &fault, pool) != NULL,
       "a mail");
    is_told("a mail", true, "PEM");
    sr_call_begin(call, "https://x.org/", "{}");
    is_told("another call", true, "PEM");
    refuses = true;
    const sr_error_t *error = sr_call_create(&call, &given, pool);
    ok(error && strstr(error->message, "no certificates but the system's"),
       "if libcurl cannot take authorities, no call can be made");
    apr_pool_destroy(pool);
    return done();
}
