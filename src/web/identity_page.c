/* SPDX-License-Identifier: Apache-2.0 */
/* identity_page.c: the page on which a signer shows who they are, before they see or sign anything. It shows nothing of
 * the documents, of their names, of what the sender has written or of other signers. GET never sends a code, because
 * mail scanners open links. */
#include <string.h>

#include "web/web.h"

#define FORM "application/x-www-form-urlencoded"
#define FORM_MAX 4096
#define CODE_MAX 200 /* bytes of what is entered */

static sr_error_t *identity_begin(sr_http_t *http, sr_signing_t **signing, bool json)
{
    const char *signer;
    http->show_error = json ? NULL : sr_web_error;
    SR_TRY(sr_web_uuid(&signer, http, 0));
    SR_TRY(sr_service_identity(http->service, signing, signer, http->pool));
    sr_web_use_locale(http, *signing);
    return NULL;
}

/* Returns where a code is sent, in a form that only its owner recognises, or NULL. */
static const char *identity_to(const sr_signing_t *signing, apr_pool_t *pool)
{
    const sr_authentication_t *authentication = signing->signer->authentication;
    if (authentication->method == SR_AUTH_HOOK) return sr_address_masked(authentication->to, pool);
    return authentication->method == SR_AUTH_EMAIL ? sr_address_masked(signing->signer->email, pool) : NULL;
}

/* What programs get: {"method","when","to"}. */
static json_t *identity_json(const sr_signing_t *signing, apr_pool_t *pool)
{
    const sr_authentication_t *authentication = signing->signer->authentication;
    json_t *object = json_object();
    json_object_set_new(object, "method", json_string(sr_auth_method_name(authentication->method)));
    json_object_set_new(object, "when", json_string(authentication->on_sign ? "sign" : "open"));
    json_object_set_new(object, "to", sr_json_string_or_null(identity_to(signing, pool)));
    return object;
}

/* Returns the key of the title: after the end of the request, or of the signer's part in it, the title says that. */
static const char *identity_title(const sr_signing_t *signing, bool ended, apr_pool_t *pool)
{
    const sr_signing_state_t state = sr_signing_state(signing);
    if (!ended) return "check.title";
    return apr_pstrcat(pool, state == SR_SIGNING_COMPLETED ? "done" : sr_signing_state_name(state), ".title", NULL);
}

/* Returns the values of check.html. `notice` is the key of a text that says what has happened, or NULL. */
static json_t *identity_values(const sr_signing_t *signing, bool ended, const char *notice, apr_pool_t *pool)
{
    const sr_authentication_t *authentication = signing->signer->authentication;
    const bool sends = authentication->method == SR_AUTH_EMAIL || authentication->method == SR_AUTH_HOOK;
    const bool sent = sends && signing->clock < authentication->challenge_until;
    json_t *check = json_object();
    json_object_set_new(check, sr_auth_method_name(authentication->method), json_true());
    json_object_set_new(check, "offered", json_boolean(!sr_signing_may_see(signing, pool)));
    json_object_set_new(check, "sends", json_boolean(sends));
    json_object_set_new(check, "sent", json_boolean(sent));
    json_object_set_new(check, "enters", json_boolean(sent || authentication->method == SR_AUTH_CODE));
    json_object_set_new(check, "signed", json_boolean(ended));
    json_object_set_new(check, "before", json_boolean(authentication->on_sign));
    json_object_set_new(check, "declines", json_boolean(signing->submission.options.refusal != SR_REFUSAL_NEVER));
    json_object_set_new(check, "focus", json_boolean(!ended || notice || sent));
    if (notice) json_object_set_new(check, notice, json_true());
    return check;
}

static bool identity_ended(const sr_signing_t *signing)
{
    const sr_signing_state_t state = sr_signing_state(signing);
    return state != SR_SIGNING_SENT && state != SR_SIGNING_OPENED;
}

/* `notice`: see identity_values. After the end, only the title of the state is shown, and the script adds the link to
 * the sender's page (redirectUrl), which only the tab that has signed knows. */
static sr_error_t *identity_show(sr_http_t *http, const sr_signing_t *signing, int status, const char *notice)
{
    const bool ended = identity_ended(signing);
    const char *title = identity_title(signing, ended, http->pool);
    json_t *values = sr_json_own(json_object(), http->pool), *texts;
    sr_web_theme_t theme;
    sr_web_theme(&theme, http);
    SR_TRY(sr_web_texts(&texts, http, &theme));
    json_object_set_new(values, "check", identity_values(signing, ended, notice, http->pool));
    json_object_set_new(values, "to", sr_json_string_or_null(identity_to(signing, http->pool)));
    json_object_set_new(values, "login", json_string(apr_pstrcat(http->pool, signing->signer->uuid, "/login", NULL)));
    json_object_set_new(values, "link", json_string(signing->signer->uuid));
    json_object_set_new(values, "test", json_boolean(signing->environment == SR_TEST));
    json_object_set_new(values, "requester", json_pack("{s:s}", "organization", signing->organization));
    json_object_set_new(values, "title", json_string(sr_web_word(texts, title)));
    json_object_set_new(values, "way", json_string(sr_web_way_up(http)));
    json_object_set_new(values, "host", json_string("{host}"));
    if (ended) sr_web_add_closing(values, sr_signing_state_name(sr_signing_state(signing)));
    return sr_web_reply(http, status, values, &theme, texts);
}

static sr_error_t *identity_redirect(sr_http_t *http, const char *url)
{
    return sr_http_redirect(http, HTTP_SEE_OTHER, apr_pstrcat(http->pool, url, sr_web_language_query(http), NULL));
}

/* A signer who is checked before they sign has nothing to confirm when they cannot sign. */
static bool identity_is_idle(const sr_signing_t *signing)
{
    return signing->signer->authentication->on_sign && identity_ended(signing);
}

sr_error_t *sr_web_check_get(sr_http_t *http)
{
    const bool json = sr_http_prefers_json(http);
    sr_signing_t *signing;
    SR_TRY(identity_begin(http, &signing, json));
    if (json) {
        SR_TRY(sr_signing_may_see(signing, http->pool));
        return sr_http_json(http, HTTP_OK, identity_json(signing, http->pool));
    }
    if (!identity_is_idle(signing)) return identity_show(http, signing, HTTP_OK, NULL);
    return identity_redirect(http, sr_web_link(http, signing->signer->uuid));
}

sr_error_t *sr_web_unchecked(sr_http_t *http, sr_error_t *error)
{
    sr_signing_t *signing;
    if (!error || error->code != SR_EUNCHECKED || !http->show_error) return error;
    SR_TRY(identity_begin(http, &signing, false));
    return identity_show(http, signing, HTTP_FORBIDDEN, NULL);
}

static sr_error_t *identity_take(void *baton, const char *name, const char *value)
{
    const char **code = baton;
    if (!strcmp(name, "code")) *code = value;
    return NULL;
}

static sr_error_t *identity_read_code(const char **code, sr_http_t *http, bool json)
{
    json_t *body;
    *code = NULL;
    if (json) {
        SR_TRY(sr_http_read_json(&body, http, FORM_MAX, 20));
        *code = sr_json_string(body, "code");
    } else SR_TRY(sr_http_read_form(http, FORM_MAX, 20, identity_take, (void *)code));
    if (!*code || sr_text_is_blank(*code) || strlen(*code) > CODE_MAX || !sr_text_is_utf8(*code, strlen(*code)))
        return sr_error(http->pool, SR_EBADREQUEST, "code must be a string of 1 to %d bytes", CODE_MAX);
    return NULL;
}

/* Answers with the link in the session. */
static sr_error_t *identity_passed(sr_http_t *http, const char *session, bool json)
{
    const char *url = sr_web_link(http, sr_web_name_in(http, http->params[0], session));
    if (json) return sr_http_json(http, HTTP_OK, json_pack("{s:s}", "url", url));
    return identity_redirect(http, url);
}

sr_error_t *sr_web_check_post(sr_http_t *http)
{
    const bool json = sr_web_answers_json(http);
    const sr_client_t client = sr_web_client(http);
    const char *code, *session;
    sr_signing_t *signing;
    SR_TRY(identity_begin(http, &signing, json));
    SR_TRY(sr_web_refuse_foreign(http));
    sr_error_t *unseen = sr_signing_may_see(signing, http->pool);
    if (unseen) return json ? unseen : identity_show(http, signing, HTTP_CONFLICT, NULL);
    SR_TRY(sr_http_rate_guess(http));
    SR_TRY(identity_read_code(&code, http, json));
    sr_error_t *error = sr_service_identify(http->service, &session, signing->signer->uuid, &client, code, http->pool);
    if (!error) return identity_passed(http, session, json);
    if (error->code != SR_EFORBIDDEN) return error;
    sr_http_rate_guessed(http);
    return json ? error : identity_show(http, signing, HTTP_FORBIDDEN, "wrong");
}

/* A URL for one visit. What only looks at it does not use it up: the page says where a new one is. */
sr_error_t *sr_web_visit(sr_http_t *http)
{
    const bool json = sr_http_prefers_json(http);
    const sr_client_t client = sr_web_client(http);
    const char *session;
    sr_signing_t *signing;
    SR_TRY(identity_begin(http, &signing, json));
    if (sr_web_only_looks(http, json)) return identity_show(http, signing, HTTP_OK, NULL);
    sr_error_t *error = sr_service_visit(http->service, &session, signing->signer->uuid, &client, http->pool);
    if (!error) return identity_passed(http, session, json);
    return json || error->code != SR_EFORBIDDEN ? error : identity_show(http, signing, HTTP_FORBIDDEN, NULL);
}

/* --- sending a code */

/* Shows a failure on the page, except one of this service, such as of its database. */
static sr_error_t *identity_unsent(sr_http_t *http, const sr_signing_t *signing, sr_error_t *error)
{
    const bool shown = error->retry_after && !error->cause;
    if (!shown) return error;
    apr_table_setn(http->r->headers_out, "Retry-After", apr_itoa(http->pool, error->retry_after));
    return identity_show(http, signing, error->code == SR_ETOOMANY ? HTTP_TOO_MANY_REQUESTS : HTTP_SERVICE_UNAVAILABLE,
                         "unsent");
}

sr_error_t *sr_web_code_post(sr_http_t *http)
{
    const bool json = sr_web_answers_json(http);
    const sr_client_t client = sr_web_client(http);
    sr_signing_t *signing;
    SR_TRY(identity_begin(http, &signing, json));
    SR_TRY(sr_web_refuse_foreign(http));
    sr_error_t *unseen = sr_signing_may_see(signing, http->pool);
    if (unseen) return json ? unseen : identity_show(http, signing, HTTP_CONFLICT, NULL);
    sr_error_t *error = sr_service_send_code(http->service, signing->signer->uuid, &client, http->pool);
    if (error) return json ? error : identity_unsent(http, signing, error);
    const char *url = sr_web_link(http, sr_web_name(http, http->params[0]));
    if (!json) return identity_redirect(http, apr_pstrcat(http->pool, url, "/check", NULL));
    return sr_http_json(http, HTTP_ACCEPTED,
                        json_pack("{s:o}", "to", sr_json_string_or_null(identity_to(signing, http->pool))));
}
