/* agent.c: who asks, and for what kind of answer: what a client says of itself in headers. */
#include "http/http.h"

#include <apr_uri.h>
#include <http_protocol.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define AGENT_MAX_BYTES 500

const char *sr_http_user_agent(sr_http_t *http)
{
    const char *sent = apr_table_get(http->r->headers_in, "User-Agent");
    if (!sent) return NULL;
    /* cut first: what is cut in two is then replaced too */
    return sr_text_printable(apr_pstrndup(http->pool, sent, AGENT_MAX_BYTES), http->pool);
}

/* The weight of a media type in an Accept header: of its most particular range, -1 where none is. */
static double weight(const char *accept, const char *type, apr_pool_t *pool)
{
    const apr_size_t major = (apr_size_t)(strchr(type, '/') - type);
    double best = -1;
    int particular = -1;
    char *last, *ranges = apr_pstrdup(pool, accept);
    for (char *range = apr_strtok(ranges, ",", &last); range; range = apr_strtok(NULL, ",", &last)) {
        range += strspn(range, " \t");
        const apr_size_t length = strcspn(range, "; \t");
        const char *q = strcasestr(range + length, "q=");
        int level = length == strlen(type) && !strncasecmp(range, type, length)                               ? 2
                    : length == major + 2 && !strncasecmp(range, type, major + 1) && range[length - 1] == '*' ? 1
                    : length == 3 && !strncmp(range, "*/*", 3)                                                ? 0
                                                                                                              : -1;
        if (level <= particular) continue;
        particular = level;
        best = q ? atof(q + 2) : 1;
    }
    return best;
}

bool sr_http_prefers_json(sr_http_t *http)
{
    const char *accept = apr_table_get(http->r->headers_in, "Accept");
    return accept && weight(accept, "application/json", http->pool) > weight(accept, "text/html", http->pool);
}

bool sr_http_is_prefetch(sr_http_t *http)
{
    static const char *const headers[] = {"Sec-Purpose", "Purpose", "X-Moz"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const char *purpose = apr_table_get(http->r->headers_in, headers[i]);
        if (purpose && !strncasecmp(purpose, "prefetch", 8)) return true;
    }
    return false;
}

/* scheme://host[:port] of a URL, without what follows. */
static const char *origin_of(const char *url, apr_pool_t *pool)
{
    const char *host = strstr(url, "://");
    return host ? apr_pstrndup(pool, url, (apr_size_t)(host + 3 - url) + strcspn(host + 3, "/")) : url;
}

/* Browsers that say where a request comes from are believed. The others name the origin, but as "null" where the page
 * sends no referrer, as ours does: that says nothing. Nobody can guess a signing link anyway. */
bool sr_http_is_foreign(sr_http_t *http)
{
    const char *site = apr_table_get(http->r->headers_in, "Sec-Fetch-Site");
    const char *origin = apr_table_get(http->r->headers_in, "Origin"), *host = http->r->hostname;
    apr_uri_t from;
    if (site) return strcmp(site, "same-origin") && strcmp(site, "none");
    if (!origin || !strcmp(origin, "null") || !strcasecmp(origin, origin_of(http->base_url, http->pool))) return false;
    /* behind a proxy that ends TLS the scheme, and the port, may be other than what we see */
    return !host || apr_uri_parse(http->pool, origin, &from) || !from.hostname || strcasecmp(from.hostname, host);
}
