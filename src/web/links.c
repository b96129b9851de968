/* SPDX-License-Identifier: Apache-2.0 */
/* links.c: links of signers, viewers and placement pages, with the session that a request names, and the client that
 * uses them. */
#include "web/web.h"

const char *sr_web_link(sr_http_t *http, const char *signer)
{
    const char *area = http->viewing ? "/view/" : http->placing ? "/place/" : "/sign/";
    return apr_pstrcat(http->pool, http->base_url, area, signer, NULL);
}

const char *sr_web_name_in(sr_http_t *http, const char *signer, const char *session)
{
    return apr_pstrcat(http->pool, signer, "~", session, NULL);
}

const char *sr_web_name(sr_http_t *http, const char *signer)
{
    return http->session ? sr_web_name_in(http, signer, http->session) : signer;
}

sr_error_t *sr_web_uuid(const char **uuid, sr_http_t *http, int param)
{
    *uuid = http->params[param];
    return sr_uuid_valid(*uuid) ? NULL : sr_error(http->pool, SR_ENOTFOUND, "Not found");
}

sr_client_t sr_web_client(sr_http_t *http)
{
    return (sr_client_t){.ip = http->r->useragent_ip, .user_agent = sr_http_user_agent(http)};
}

bool sr_web_only_looks(sr_http_t *http, bool json)
{
    return http->r->header_only || sr_http_is_prefetch(http) || (!json && sr_http_is_robot(http));
}

sr_error_t *sr_web_refuse_foreign(sr_http_t *http)
{
    if (!sr_http_is_foreign(http)) return NULL;
    return sr_error(http->pool, SR_EFORBIDDEN, "The request must come from the %s page",
                    http->placing ? "placement" : "signing");
}
