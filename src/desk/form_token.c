/* SPDX-License-Identifier: Apache-2.0 */
/* form_token.c: forms that change something. The token of a form is an HMAC. Its key is the hash of the user's token,
 * which is random, is the same for all children and hosts, and never leaves the service. */
#include <openssl/crypto.h>
#include <string.h>

#include "desk/desk.h"

#define HOUR apr_time_from_sec(3600)
#define HOURS_VALID 12
#define FORM_MAX 65536 /* bytes */
#define FIELDS_MAX 200
#define MAC_LENGTH 32

static const char *form_token(const sr_desk_t *desk, const char *form, apr_int64_t hour)
{
    const char *text =
        apr_psprintf(desk->http->pool, "form %" APR_INT64_T_FMT " %s %s", hour, desk->caller->user_uuid, form);
    unsigned char mac[MAC_LENGTH];
    sr_hmac_sha256(mac, desk->token_hash, strlen(desk->token_hash), text, strlen(text));
    return sr_text_hex(mac, sizeof mac, desk->http->pool);
}

const char *sr_desk_form_token(const sr_desk_t *desk, const char *form)
{
    return form_token(desk, form, sr_time_now() / HOUR);
}

sr_error_t *sr_desk_form_check(sr_desk_t *desk, const char *form, const char *token)
{
    const apr_int64_t hour = sr_time_now() / HOUR;
    apr_pool_t *pool = desk->http->pool;
    if (sr_http_is_foreign(desk->http))
        return sr_error(pool, SR_EFORBIDDEN, "The request must come from a page of the desk");
    for (apr_int64_t at = hour; token && sr_text_is_hex(token, (apr_size_t)2 * MAC_LENGTH) && at >= hour - HOURS_VALID;
         at--)
        if (!CRYPTO_memcmp(token, form_token(desk, form, at), (size_t)2 * MAC_LENGTH)) return NULL;
    return sr_error(pool, SR_EFORBIDDEN, "The form is out of date: load its page again");
}

typedef struct form_t {
    sr_desk_t *desk;
    const sr_query_param_t *fields;
    const char *token;
} form_t;

static sr_error_t *form_take(void *baton, const char *name, const char *value)
{
    form_t *form = baton;
    const sr_query_param_t token = {"token", &form->token}, *field = form->fields;
    while (field->name && strcmp(field->name, name) != 0) field++;
    if (!strcmp(name, "token")) field = &token;
    if (!field->name || *field->value)
        return sr_error(form->desk->http->pool, SR_EBADREQUEST, "The form has an unknown or repeated field");
    *field->value = value;
    return NULL;
}

sr_error_t *sr_desk_form_fields(sr_desk_t *desk, const char **token, const sr_query_param_t *fields)
{
    form_t form = {desk, fields, NULL};
    sr_error_t *error = sr_http_read_form(desk->http, FORM_MAX, FIELDS_MAX, form_take, &form);
    *token = form.token;
    return error;
}

sr_error_t *sr_desk_form_read(sr_desk_t *desk, const char *name, const sr_query_param_t *fields)
{
    const char *token;
    SR_TRY(sr_desk_form_fields(desk, &token, fields));
    return sr_desk_form_check(desk, name, token);
}

/* The URL is relative, so that a desk in a virtual host of its own, which has not the host of SigreqBaseURL, stays
 * there. */
sr_error_t *sr_desk_done(sr_desk_t *desk, const char *path, const char *done)
{
    sr_http_t *http = desk->http;
    const char *language = sr_web_language_query(http), *way = *desk->way || *path ? desk->way : "./";
    const char *query = done ? apr_pstrcat(http->pool, *language ? "&" : "?", "done=", done, NULL) : "";
    return sr_http_redirect(http, HTTP_SEE_OTHER, apr_pstrcat(http->pool, way, path, language, query, NULL));
}
