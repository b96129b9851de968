/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c: what a client or a proxy says about itself in header fields, and which media type a client prefers. */
#include "http/http.h"

#include <apr_atomic.h>
#include <apr_uri.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <string.h>
#include <strings.h>

#define AGENT_MAX_BYTES 500

const char *sr_http_user_agent(sr_http_t *http)
{
    const char *sent = apr_table_get(http->r->headers_in, "User-Agent");
    if (!sent) return NULL;
    /* cut before it is checked, so that half a character at the end is replaced too */
    return sr_text_printable(apr_pstrndup(http->pool, sent, AGENT_MAX_BYTES), http->pool);
}

/* Returns how much an Accept header prefers a media type, or 0: by the weight of the most specific media range that
 * matches, and then by how specific it is. Many HTTP clients send JSON by its name, and then any type. */
static int preference(const char *header, const char *type, apr_pool_t *pool)
{
    const apr_size_t major = (apr_size_t)(strchr(type, '/') - type) + 1;
    char *rest = apr_pstrdup(pool, header);
    int best = 0, particular = 0;
    sr_accept_t range;
    while (sr_accept_next(&range, &rest)) {
        const bool is_major = !strncasecmp(range.name, type, major) && !strcmp(range.name + major, "*");
        const int level = !strcasecmp(range.name, type) ? 3 : is_major ? 2 : !strcmp(range.name, "*/*") ? 1 : 0;
        if (level <= particular) continue;
        particular = level;
        best = range.weight;
    }
    return best ? 4 * best + particular : 0;
}

bool sr_http_prefers_json(sr_http_t *http)
{
    const char *accept = apr_table_get(http->r->headers_in, "Accept");
    return accept && preference(accept, "application/json", http->pool) > preference(accept, "text/html", http->pool);
}

int sr_http_preferred(sr_http_t *http, const char *const *types)
{
    const char *accept = apr_table_get(http->r->headers_in, "Accept");
    int best = 0;
    for (int i = 1; accept && types[i]; i++)
        if (preference(accept, types[i], http->pool) > preference(accept, types[best], http->pool)) best = i;
    return best;
}

bool sr_http_is_prefetch(sr_http_t *http)
{
    static const char *const headers[] = {"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const char *purpose = apr_table_get(http->r->headers_in, headers[i]);
        if (purpose && (!strncasecmp(purpose, "prefetch", 8) || !strncasecmp(purpose, "preview", 7))) return true;
    }
    return false;
}

bool sr_http_is_robot(sr_http_t *http)
{
    static const char *const parts[] = {
#define SR_ROBOT(part) part,
#include "http/robots.def"
    };
    const char *agent = apr_table_get(http->r->headers_in, "User-Agent");
    for (size_t i = 0; agent && i < sizeof parts / sizeof *parts; i++)
        if (ap_strcasestr(agent, parts[i])) return true;
    return false;
}

/* Returns true if two authorities have the same host and port. Without a port, the default port of the scheme counts.
 */
static bool is_same_place(const apr_uri_t *one, const apr_uri_t *other, const char *scheme)
{
    const int usual = apr_uri_port_of_scheme(scheme);
    return one->hostname && other->hostname && !strcasecmp(one->hostname, other->hostname)
           && (one->port_str ? one->port : usual) == (other->port_str ? other->port : usual);
}

/* Returns true if an origin (scheme, host and port) is that of the signing links, or the one that the request was
 * sent to. Behind a proxy that ends TLS, an https request arrives by http, but its Host is the one that the browser
 * sent. A request that arrived by https cannot come from a page loaded by http. */
static bool is_own_origin(sr_http_t *http, const char *origin)
{
    const char *host = apr_table_get(http->r->headers_in, "Host"), *scheme = ap_http_scheme(http->r);
    apr_uri_t from, links, here;
    if (apr_uri_parse(http->pool, origin, &from) || !from.scheme) return false;
    if (!apr_uri_parse(http->pool, http->base_url, &links) && links.scheme && !strcasecmp(from.scheme, links.scheme)
        && is_same_place(&from, &links, links.scheme))
        return true;
    if (!host || apr_uri_parse(http->pool, apr_pstrcat(http->pool, "http://", host, NULL), &here)
        || !is_same_place(&from, &here, from.scheme))
        return false;
    return !strcasecmp(from.scheme, scheme) || !strcasecmp(from.scheme, "https");
}

/* Sec-Fetch-Site is trusted if the browser sends it. Other browsers send Origin, but with the value "null" if the
 * page sends no referrer, as our pages do. Then nothing is known, and the request is accepted: a foreign page does
 * not know the signing link anyway. */
bool sr_http_is_foreign(sr_http_t *http)
{
    const char *site = apr_table_get(http->r->headers_in, "Sec-Fetch-Site");
    const char *origin = apr_table_get(http->r->headers_in, "Origin");
    if (site) return strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
    return origin && strcmp(origin, "null") != 0 && !is_own_origin(http, origin);
}

void sr_http_warn_of_proxy(request_rec *r, const char *base)
{
    static apr_uint32_t warned;
    const char *host = apr_table_get(r->headers_in, "X-Forwarded-Host"), *own = apr_table_get(r->headers_in, "Host");
    const char *scheme = apr_table_get(r->headers_in, "X-Forwarded-Proto");
    const bool same = (!host || !own || !strcasecmp(host, own)) && (!scheme || !strcasecmp(scheme, ap_http_scheme(r)));
    if (same || apr_atomic_cas32(&warned, 1, 0)) return;
    ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r,
                  "SR0005: a proxy forwards requests, and links begin with %s: "
                  "set SigreqBaseURL to the address that people use",
                  base);
}
