/* webhooks.c: the three webhook URLs of a token. What is stored can be called; which addresses may be called is
 * judged when the connection is made. */
#include "service/service.h"

#include <apr_uri.h>
#include <string.h>

/* NULL when the URL can be stored, else the reason. */
static const char *fault_of_url(const char *url, apr_pool_t *pool)
{
    apr_uri_t uri;
    if (strlen(url) > SR_STORE_URL_MAX) return "longer than 255 characters";
    for (const char *p = url; *p; p++)
        if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f)
            return "white space, control or non-ASCII characters";
    if (apr_uri_parse(pool, url, &uri) != APR_SUCCESS) return "it cannot be parsed";
    if (!uri.scheme || (strcasecmp(uri.scheme, "http") && strcasecmp(uri.scheme, "https"))) return "not http or https";
    if (!uri.hostname || !*uri.hostname) return "no host";
    if (uri.user || uri.password || strchr(uri.hostinfo ? uri.hostinfo : "", '@'))
        return "user and password are not allowed";
    if (uri.port_str && !sr_text_is_port(uri.port_str)) return "the port is not a port";
    return NULL;
}

sr_error_t *sr_service_webhook_set(const sr_service_t *service, const char *token_hash, const char *kind,
                                   const char *url, apr_pool_t *pool)
{
    const char *arguments[] = {token_hash, sr_service_now(pool), kind, url};
    const char *fault = url ? fault_of_url(url, pool) : NULL;
    if (fault) return sr_error(pool, SR_EBADREQUEST, "url is invalid: %s", fault);
    return sr_service_call(service, SR_OP_WEBHOOK_SET, NULL, NULL, arguments, 4, pool);
}
