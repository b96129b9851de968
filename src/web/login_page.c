/* SPDX-License-Identifier: Apache-2.0 */
/* login_page.c: a signer signs in at this server. httpd has a module for the login, which protects
 * <location>/sign/login. SigreqSignerUser gives the user. The URL there does not have the signing link
 * (service/signing/login.c). Nobody else is treated as a user by the service, wherever else httpd asks for a login. */
#include <http_core.h>
#include <http_log.h>
#include <string.h>

#include "mod_sigreq.h"
#include "web/web.h"

APLOG_USE_MODULE(sigreq);

sr_error_t *sr_web_login_begin(sr_http_t *http)
{
    const char *signer, *name;
    SR_TRY(sr_web_uuid(&signer, http, 0));
    SR_TRY(sr_service_login_begin(http->service, &name, signer, http->pool));
    const char *url = sr_web_link(http, apr_pstrcat(http->pool, "login/", name, NULL));
    return sr_http_redirect(http, HTTP_SEE_OTHER, apr_pstrcat(http->pool, url, sr_web_language_query(http), NULL));
}

/* The page does not have the link either. */
static sr_error_t *login_refuse(sr_http_t *http)
{
    json_t *values = sr_json_own(json_object(), http->pool), *texts;
    sr_web_theme_t theme;
    sr_web_theme(&theme, http);
    SR_TRY(sr_web_texts(&texts, http, &theme));
    json_object_set_new(values, "check", json_pack("{s:b,s:b,s:b}", "httpd", true, "offered", true, "stranger", true));
    json_object_set_new(values, "login", json_string(apr_pstrcat(http->pool, "login/", http->params[0], NULL)));
    json_object_set_new(values, "title", json_string(sr_web_word(texts, "check.title")));
    json_object_set_new(values, "way", json_string(sr_web_way_up(http)));
    return sr_web_reply(http, HTTP_FORBIDDEN, values, &theme, texts);
}

sr_error_t *sr_web_login(sr_http_t *http)
{
    const sr_client_t client = sr_web_client(http);
    const char *user, *by, *session, *signer = NULL;
    SR_TRY(sr_web_user(&user, &by, http, http->settings->signer_user, "SigreqSignerUser", "/sign/login"));
    sr_error_t *error =
        sr_service_login(http->service, &session, &signer, http->params[0], user, by, &client, http->pool);
    if (error && error->code == SR_EFORBIDDEN)
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, http->r, "SR0102: another user has signed in than signer %.8s...",
                      signer);
    if (error) return error->code == SR_EFORBIDDEN && !sr_http_prefers_json(http) ? login_refuse(http) : error;
    const char *url = sr_web_link(http, sr_web_name_in(http, signer, session));
    return sr_http_redirect(http, HTTP_SEE_OTHER, apr_pstrcat(http->pool, url, sr_web_language_query(http), NULL));
}
