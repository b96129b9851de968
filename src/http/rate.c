/* SPDX-License-Identifier: Apache-2.0 */
/* rate.c: limits the requests of a token, a signing link or a client address, and the wrong tokens and links that an
 * address may try. The header fields are those of draft-ietf-httpapi-ratelimit-headers-10.
 *
 * Failures are counted per address, and many people can share one address. So a token or link that was accepted
 * within the last hour is served even if its address has failed too often. */
#include "http/http.h"

#include <string.h>

#include "metrics/metrics.h"

#define KNOWN_FOR apr_time_from_sec(3600)

static const struct {
    const char *name;  /* the name of the policy, of the counter and of the metric */
    const char *whose; /* for the error message */
} kinds[SR_RATE_COUNT] = {
    [SR_RATE_TOKEN] = {"token", "with one token"},
    [SR_RATE_LINK] = {"link", "to one signing link"},
    [SR_RATE_ADDRESS] = {"address", "from one address"},
    [SR_RATE_FAILURES] = {"failures", "with a wrong token or link from one address"},
    [SR_RATE_VERIFY] = {"verify", "to check a document from one address"},
    [SR_RATE_PREVIEW] = {"preview", "to preview a submission with one token"},
};

static apr_uint64_t rate_key_of(const sr_http_t *http, sr_rate_of_t of, const void *data, apr_size_t length)
{
    return sr_rate_key(kinds[of].name, data, length, &http->settings->rates.of[of]);
}

/* An IPv4 address counts as it is, also if it is mapped into IPv6. Of an IPv6 address the first 64 bits count,
 * because a customer usually has a whole /64. */
static apr_uint64_t key_of_address(const sr_http_t *http, sr_rate_of_t of)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    const apr_sockaddr_t *address = http->r->useragent_addr; /* the address that mod_remoteip found, if it is loaded */
    const unsigned char *bytes = address->ipaddr_ptr;
    if (address->ipaddr_len != 16) return rate_key_of(http, of, bytes, (apr_size_t)address->ipaddr_len);
    return memcmp(bytes, mapped, sizeof mapped) ? rate_key_of(http, of, bytes, 8)
                                                : rate_key_of(http, of, bytes + 12, 4);
}

/* Finds the credential of the request: the token, or the whole Authorization header without one, or the uuid of the
 * signing link. Returns false if there is no credential. The case and the spaces of "Bearer " make no other credential.
 */
static bool find_credential(sr_http_t *http)
{
    char *text;
    if (http->is_public) return false;
    if (http->secret_paths) {
        if (!http->route || http->route->path[1] != '{') return false;
        http->credential = text = apr_pstrdup(http->pool, http->params[0]);
        ap_str_tolower(text); /* a uuid in upper case is the same link */
    } else {
        http->credential = sr_http_bearer(http);
        if (!http->credential) http->credential = apr_table_get(http->r->headers_in, "Authorization");
        if (!http->credential) return false;
    }
    http->credential_key = sr_rate_key("known", http->credential, strlen(http->credential), NULL);
    return true;
}

static int rate_seconds(apr_interval_time_t time)
{
    return (int)((time + APR_USEC_PER_SEC - 1) / APR_USEC_PER_SEC);
}

static void add_fields(const sr_http_t *http, sr_rate_of_t of, const sr_rate_state_t *state)
{
    const sr_rate_t *rate = &http->settings->rates.of[of];
    apr_table_t *headers = http->r->err_headers_out;
    apr_table_merge(
        headers, "RateLimit-Policy",
        apr_psprintf(http->pool, "\"%s\";q=%u;w=%d", kinds[of].name, rate->times, rate_seconds(rate->period)));
    apr_table_merge(headers, "RateLimit",
                    apr_psprintf(http->pool, "\"%s\";r=%u;t=%d", kinds[of].name, state->left,
                                 rate_seconds(state->left ? state->whole : state->wait)));
}

static sr_error_t *rate_refuse(const sr_http_t *http, sr_rate_of_t of, const sr_rate_state_t *state)
{
    sr_metrics_count(SR_METRIC_LIMITED, sr_metrics_number(SR_LABEL_LIMIT, kinds[of].name), 0, 1);
    sr_error_t *error =
        sr_error(http->pool, SR_ETOOMANY, "Too many requests %s: the limit is %s, try again in %d s", kinds[of].whose,
                 sr_rate_text(&http->settings->rates.of[of], http->pool), rate_seconds(state->wait));
    return sr_error_retry(error, state->wait);
}

static sr_error_t *rate_take(const sr_http_t *http, sr_rate_of_t of, apr_uint64_t key)
{
    sr_rate_state_t state;
    const bool allowed = sr_rate_take(&state, key, &http->settings->rates.of[of], sr_time_steady());
    add_fields(http, of, &state);
    return allowed ? NULL : rate_refuse(http, of, &state);
}

/* Errors: SR_ETOOMANY if the client address has used too many wrong tokens, links or codes. */
static sr_error_t *rate_check_failures(const sr_http_t *http)
{
    const sr_rate_t *rate = &http->settings->rates.of[SR_RATE_FAILURES];
    sr_rate_state_t state;
    if (sr_rate_has(&state, key_of_address(http, SR_RATE_FAILURES), rate, sr_time_steady())) return NULL;
    add_fields(http, SR_RATE_FAILURES, &state);
    return rate_refuse(http, SR_RATE_FAILURES, &state);
}

sr_error_t *sr_http_rate_begin(sr_http_t *http)
{
    const sr_rate_t *rates = http->settings->rates.of;
    const sr_rate_of_t own = http->secret_paths ? SR_RATE_LINK : SR_RATE_TOKEN;
    if (rates[SR_RATE_ADDRESS].times) SR_TRY(rate_take(http, SR_RATE_ADDRESS, key_of_address(http, SR_RATE_ADDRESS)));
    if (!find_credential(http)) return NULL;
    http->known = sr_rate_remembers(http->credential_key, KNOWN_FOR, sr_time_steady());
    if (!http->known) SR_TRY(rate_check_failures(http));
    if (!rates[own].times) return NULL;
    return rate_take(http, own, rate_key_of(http, own, http->credential, strlen(http->credential)));
}

sr_error_t *sr_http_rate_verify(sr_http_t *http)
{
    if (!http->settings->rates.of[SR_RATE_VERIFY].times) return NULL;
    return rate_take(http, SR_RATE_VERIFY, key_of_address(http, SR_RATE_VERIFY));
}

sr_error_t *sr_http_rate_preview(sr_http_t *http)
{
    const apr_uint64_t key = rate_key_of(http, SR_RATE_PREVIEW, http->credential, strlen(http->credential));
    return http->settings->rates.of[SR_RATE_PREVIEW].times ? rate_take(http, SR_RATE_PREVIEW, key) : NULL;
}

/* The slow hash of a guess costs processor time, so one link gets few, whatever their addresses. */
static sr_error_t *guess_at_link(const sr_http_t *http)
{
    static const sr_rate_t rate = {30, 60 * APR_USEC_PER_SEC};
    sr_rate_state_t state;
    const apr_uint64_t key = sr_rate_key("guess", http->credential, strlen(http->credential), &rate);
    if (sr_rate_take(&state, key, &rate, sr_time_steady())) return NULL;
    sr_metrics_count(SR_METRIC_LIMITED, sr_metrics_number(SR_LABEL_LIMIT, "link"), 0, 1);
    sr_error_t *error = sr_error(http->pool, SR_ETOOMANY, "Too many codes for one signing link, try again in %d s",
                                 rate_seconds(state.wait));
    return sr_error_retry(error, state.wait);
}

sr_error_t *sr_http_rate_guess(sr_http_t *http)
{
    SR_TRY(rate_check_failures(http));
    return guess_at_link(http);
}

void sr_http_rate_guessed(sr_http_t *http)
{
    sr_rate_take(NULL, key_of_address(http, SR_RATE_FAILURES), &http->settings->rates.of[SR_RATE_FAILURES],
                 sr_time_steady());
}

/* Returns true if the error says that the token or the link is wrong. For a known link, 404 says that a document or
 * page is missing. */
static bool is_failure(const sr_http_t *http, const sr_error_t *error)
{
    if (error->code == SR_EUNAUTHORIZED) return true;
    return error->code == SR_ENOTFOUND && http->secret_paths && http->credential && !http->known;
}

sr_error_t *sr_http_rate_end(sr_http_t *http, sr_error_t *error)
{
    sr_rate_state_t state;
    if (!error && http->credential) sr_rate_remember(http->credential_key, KNOWN_FOR, sr_time_steady());
    if (!error || !is_failure(http, error)) return error;
    if (http->known) sr_rate_forget(http->credential_key);
    const char *reason = error->code != SR_EUNAUTHORIZED ? "link" : http->credential ? "token" : "missing";
    sr_metrics_count(SR_METRIC_AUTHENTICATION, sr_metrics_number(SR_LABEL_CREDENTIAL, reason), 0, 1);
    if (sr_rate_take(&state, key_of_address(http, SR_RATE_FAILURES), &http->settings->rates.of[SR_RATE_FAILURES],
                     sr_time_steady()))
        return error;
    add_fields(http, SR_RATE_FAILURES, &state);
    return rate_refuse(http, SR_RATE_FAILURES, &state);
}
