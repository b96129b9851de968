/* SPDX-License-Identifier: Apache-2.0 */
/* link.c: serves a signing link: the page, or its state as JSON for programs; and the actions of a signer: to sign,
 * to refuse, and to preview a signature. A JSON request gets a JSON response, and a form gets a page. */
#include <string.h>

#include "web/web.h"

/* Sets headers so that the link is not sent to other sites as a referrer, nothing is cached, and nothing is loaded
 * from other sites. */
static void link_set_headers(sr_http_t *http)
{
    apr_table_t *headers = http->r->err_headers_out;
    apr_table_setn(headers, "Referrer-Policy", "no-referrer");
    apr_table_setn(headers, "X-Robots-Tag", "noindex, nofollow");
    apr_table_setn(headers, "Content-Security-Policy",
                   apr_pstrcat(http->pool, "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors ",
                               sr_web_ancestors(http), NULL));
    apr_table_setn(headers, "Vary", "Accept, Accept-Language");
}

/* Returns the link with the session of the request. */
static const char *link_in_session(sr_http_t *http, const sr_signing_t *signing)
{
    return sr_web_link(http, sr_web_name(http, signing->signer->uuid));
}

/* Begins every handler: finds the signer and the form of errors. */
static sr_error_t *link_begin(sr_http_t *http, const char **signer, bool json)
{
    http->show_error = json ? NULL : sr_web_error;
    return sr_web_uuid(signer, http, 0);
}

void sr_web_begin(sr_http_t *http)
{
    link_set_headers(http);
    sr_web_ask_language(http);
    if (!sr_http_prefers_json(http)) http->show_error = sr_web_error;
}

static json_t *view_of(sr_http_t *http, const sr_signing_t *signing)
{
    const sr_consent_t *consent = sr_consent_of_language(sr_web_language(http)->code);
    return sr_signing_representation(signing, consent, http->settings->terms_url, link_in_session(http, signing),
                                     http->pool);
}

static sr_error_t *reply_state(sr_http_t *http, const sr_signing_t *signing)
{
    return sr_http_json(http, HTTP_OK, view_of(http, signing));
}

/* Programs that make text clickable may take what follows a link as a part of it. */
sr_error_t *sr_web_get_followed(sr_http_t *http)
{
    static const char followers[] = ".,;:)>]\"' \t\r\n";
    const char *uuid = apr_pstrndup(http->pool, http->params[0], SR_UUID_LENGTH);
    const char *end = http->params[0] + strlen(uuid), *args = http->r->args;
    if (!sr_uuid_valid(uuid) || end[strspn(end, followers)]) return sr_error(http->pool, SR_ENOTFOUND, "Not found");
    const char *link = sr_web_link(http, sr_web_name(http, uuid));
    return sr_http_redirect(http, HTTP_PERMANENT_REDIRECT,
                            args ? apr_pstrcat(http->pool, link, "?", args, NULL) : link);
}

/* Sends the page. `entered`: what a form contained that was not accepted, or NULL. */
static sr_error_t *link_show(sr_http_t *http, sr_signing_t *signing, const sr_web_entered_t *entered)
{
    SR_TRY(sr_service_signing_boxes(http->service, signing, http->pool));
    json_t *view = sr_json_own(view_of(http, signing), http->pool);
    json_object_set_new(view, "request", json_string(sr_submission_number(signing->submission.uuid, http->pool)));
    json_object_set_new(view, "submission", json_string(signing->submission.uuid));
    json_object_set_new(view, "mailed", json_boolean(signing->submission.send_email && signing->signer->email));
    return sr_web_show(http, view, sr_web_name(http, signing->signer->uuid), entered);
}

/* The query may have any parameters: mail gateways, chats and analytics add some. */
sr_error_t *sr_web_get(sr_http_t *http)
{
    if (!sr_uuid_valid(http->params[0])) return sr_web_get_followed(http);
    const bool json = sr_http_prefers_json(http);
    const char *signer;
    sr_signing_t *signing;
    sr_client_t client = sr_web_client(http);
    SR_TRY(link_begin(http, &signer, json));
    sr_error_t *unchecked = sr_web_only_looks(http, json) /* this does not mark the link as opened */
                                ? sr_service_signing(http->service, &signing, signer, http->pool)
                                : sr_service_signing_open(http->service, &signing, signer, &client, http->pool);
    if (unchecked && unchecked->code == SR_EUNCHECKED && !json) return sr_web_check_get(http);
    SR_TRY(unchecked);
    sr_web_use_locale(http, signing);
    if (!json) return link_show(http, signing, NULL);
    SR_TRY(sr_service_signing_boxes(http->service, signing, http->pool));
    sr_error_t *error = sr_signing_may_see(signing, http->pool);
    return error && error->code == SR_EGONE ? error : reply_state(http, signing);
}

static const char *page_of_outcome(sr_http_t *http, const sr_signing_t *signing)
{
    return apr_pstrcat(http->pool, link_in_session(http, signing), sr_web_language_query(http), NULL);
}

static sr_client_t client_with_zone(sr_http_t *http, const sr_web_action_t *action)
{
    sr_client_t client = sr_web_client(http);
    sr_client_set_zone(&client, action->time_zone, action->utc_offset);
    return client;
}

static sr_error_t *link_act(sr_signing_t **signing, sr_http_t *http, const sr_web_action_t *action)
{
    const sr_client_t client = client_with_zone(http, action);
    if (action->action == SR_ACTION_REFUSE)
        return sr_service_refuse(http->service, signing, &client, action->reason, http->pool);
    const sr_signed_t what = {&action->signature, action->initials, action->values, action->consent, action->terms_url};
    return sr_service_sign(http->service, signing, &client, &what, http->pool);
}

/* Checks before the body is read that the request does not come from another site and that the link exists. */
static sr_error_t *link_admit(sr_http_t *http, sr_signing_t **signing, bool json)
{
    const char *signer;
    SR_TRY(link_begin(http, &signer, json));
    SR_TRY(sr_web_refuse_foreign(http));
    return sr_service_signing(http->service, signing, signer, http->pool);
}

/* Shows the form again with what was entered and what is wrong with it. */
static sr_error_t *link_show_faults(sr_http_t *http, const sr_web_action_t *action, const json_t *faults)
{
    const sr_web_entered_t entered = {action->values, faults, action->signature.text,
                                      action->action == SR_ACTION_REFUSE};
    sr_signing_t *signing;
    SR_TRY(sr_service_signing(http->service, &signing, http->params[0], http->pool));
    return link_show(http, signing, &entered);
}

/* Signing ends the session of a signer who was checked before they saw anything. The page that follows is shown at
 * once, because another request would show the page of the check. */
static sr_error_t *link_show_outcome(sr_http_t *http, sr_signing_t *signing)
{
    const sr_authentication_t *authentication = signing->signer->authentication;
    if (authentication && !authentication->on_sign) return link_show(http, signing, NULL);
    return sr_http_redirect(http, HTTP_SEE_OTHER, page_of_outcome(http, signing));
}

static sr_error_t *link_post(sr_http_t *http, bool json)
{
    sr_signing_t *signing;
    sr_web_action_t action = {0};
    SR_TRY(link_admit(http, &signing, json));
    sr_web_use_locale(http, signing);
    SR_TRY(sr_web_read_action(&action, http, signing));
    sr_error_t *error = link_act(&signing, http, &action);
    const bool unreasoned = error && error->code == SR_EBADREQUEST && action.action == SR_ACTION_REFUSE
                            && (!action.reason || sr_text_is_blank(action.reason));
    if (error && (error->fields || unreasoned) && !json) return link_show_faults(http, &action, error->fields);
    SR_TRY(error);
    if (!json) return link_show_outcome(http, signing);
    SR_TRY(sr_service_signing_boxes(http->service, signing, http->pool));
    return reply_state(http, signing);
}

sr_error_t *sr_web_post(sr_http_t *http)
{
    return sr_web_unchecked(http, link_post(http, sr_web_answers_json(http)));
}

/* --- how a signature and values will look */

static sr_error_t *reply_unknown(sr_http_t *http, const sr_preview_t *preview)
{
    json_t *answer = json_object(), *characters = json_array();
    json_object_set_new(answer, "unknown", characters);
    for (int i = 0; i < preview->unknown->nelts; i++)
        json_array_append_new(characters, json_string(APR_ARRAY_IDX(preview->unknown, i, const char *)));
    return sr_http_json(http, HTTP_OK, answer);
}

sr_error_t *sr_web_preview(sr_http_t *http)
{
    sr_signing_t *signing;
    sr_web_action_t action = {0};
    sr_preview_t preview;
    SR_TRY(link_admit(http, &signing, true));
    SR_TRY(sr_web_read_preview(&action, http, signing));
    const sr_client_t client = client_with_zone(http, &action);
    const sr_language_t *language = sr_language_of(action.consent->language);
    json_t *values;
    if (action.values) {
        SR_TRY(
            sr_service_preview_values(http->service, &values, signing, action.values, &client, language, http->pool));
        return sr_http_json(http, HTTP_OK, values);
    }
    SR_TRY(sr_service_preview(http->service, &preview, signing, &action.signature, &client, language, http->pool));
    if (!preview.reason) return sr_http_bytes(http, HTTP_OK, SR_HTTP_JSON, preview.drawing, preview.length);
    if (preview.unknown && preview.unknown->nelts) return reply_unknown(http, &preview);
    return sr_error(http->pool, SR_EBADREQUEST, "%s", preview.reason);
}
