/* SPDX-License-Identifier: Apache-2.0 */
/* action.c: reads the requests of signers: JSON, a form, or a form with an image of the signature as a file. */
#include <string.h>

#include "web/web.h"

#define JSON_MAX ((apr_size_t)2 << 20)  /* an image of 1 MiB in base64, or 20,000 points */
#define JSON_VALUES ((apr_size_t)90000) /* 20,000 points of three numbers, 1,000 strokes, and room */
#define UPLOAD_MAX (SR_SIGNATURE_IMAGE_MAX + ((apr_size_t)256 << 10)) /* the image and the other parts */
#define TEXT_MAX ((apr_size_t)64 << 10)
#define PARTS_MAX 16
#define FORM "application/x-www-form-urlencoded"
#define UPLOAD "multipart/form-data"

typedef struct form_t {
    const char *action, *consent, *version, *terms_url, *typed, *reason, *time_zone, *utc_offset;
    char *image; /* NULL: there is no such part */
    apr_size_t image_size;
} form_t;

static bool has_type(sr_http_t *http, const char *type, const char **parameters)
{
    return !sr_http_expect_type(http, type, parameters);
}

bool sr_web_answers_json(sr_http_t *http)
{
    if (has_type(http, UPLOAD, NULL)) return sr_http_prefers_json(http);
    return !has_type(http, FORM, NULL);
}

/* ------------------------------------------------------------------------------------------------------ the forms */

#define FIELDS 9 /* of text, and the end of their list */

/* Lists the fields of text that both kinds of forms have. */
static void list_fields(sr_http_field_t fields[FIELDS], form_t *form)
{
    const sr_http_field_t list[FIELDS] = {
        {"action", &form->action},      {"consent", &form->consent},      {"consentVersion", &form->version},
        {"termsUrl", &form->terms_url}, {"typed", &form->typed},          {"reason", &form->reason},
        {"timeZone", &form->time_zone}, {"utcOffset", &form->utc_offset}, {NULL, NULL}};
    memcpy(fields, list, sizeof list);
}

static sr_error_t *action_read_form(form_t *form, sr_http_t *http)
{
    sr_http_field_t fields[FIELDS];
    list_fields(fields, form);
    return sr_http_read_form(http, fields);
}

typedef struct receiver_t {
    sr_http_t *http;
    form_t *form;
    sr_multipart_t *parser;
    const char **text; /* the form field that the part belongs to, or NULL */
    bool is_image;
    char *data; /* the data of the part, with room for `most` bytes and a NUL */
    apr_size_t length, most;
} receiver_t;

static sr_error_t *action_begin_part(void *baton, const sr_part_t *part)
{
    receiver_t *receiver = baton;
    form_t *form = receiver->form;
    sr_http_field_t fields[FIELDS];
    list_fields(fields, form);
    receiver->text = NULL;
    /* a form sends a file field that was left empty as a part with an empty file name */
    receiver->is_image = !strcmp(part->name, "image") && part->filename && *part->filename && !form->image;
    for (size_t i = 0; !part->filename && fields[i].name; i++)
        if (!strcmp(part->name, fields[i].name)) receiver->text = fields[i].value;
    if (!receiver->is_image && !receiver->text) return NULL;
    receiver->most = receiver->is_image ? SR_SIGNATURE_IMAGE_MAX + 1 : TEXT_MAX;
    receiver->data = apr_palloc(receiver->http->pool, receiver->most + 1);
    receiver->length = 0;
    return NULL;
}

static sr_error_t *action_part_data(void *baton, const char *data, apr_size_t length)
{
    receiver_t *receiver = baton;
    if (!receiver->is_image && !receiver->text) return NULL;
    if (length > receiver->most - receiver->length) {
        if (!receiver->is_image)
            return sr_error(receiver->http->pool, SR_ETOOLARGE, "A field of the form must be at most %d bytes",
                            (int)TEXT_MAX);
        length = receiver->most - receiver->length; /* one byte above the limit is enough to refuse the part */
    }
    memcpy(receiver->data + receiver->length, data, length);
    receiver->length += length;
    return NULL;
}

static sr_error_t *action_end_part(void *baton)
{
    receiver_t *receiver = baton;
    if (receiver->is_image) {
        receiver->form->image = receiver->data;
        receiver->form->image_size = receiver->length;
    }
    if (!receiver->text) return NULL;
    receiver->data[receiver->length] = '\0';
    if (strlen(receiver->data) != receiver->length || !sr_text_is_utf8(receiver->data, receiver->length))
        return sr_error(receiver->http->pool, SR_EBADREQUEST, "The fields of a form must be UTF-8 text");
    *receiver->text = receiver->data;
    return NULL;
}

static sr_error_t *action_body_piece(void *baton, const char *data, apr_size_t length)
{
    return sr_multipart_feed(((receiver_t *)baton)->parser, data, length);
}

static sr_error_t *action_read_upload(form_t *form, sr_http_t *http, const char *parameters)
{
    receiver_t receiver = {.http = http, .form = form};
    const sr_multipart_sink_t sink = {action_begin_part, action_part_data, action_end_part, &receiver};
    SR_TRY(sr_multipart_make(&receiver.parser, parameters, &sink, PARTS_MAX, http->pool));
    SR_TRY(sr_http_read(http, (apr_off_t)UPLOAD_MAX, action_body_piece, &receiver));
    return sr_multipart_finish(receiver.parser);
}

/* Reads a form of either type. *is_form is false if the request has another type: it is JSON then. */
static sr_error_t *read_any_form(bool *is_form, form_t *form, sr_http_t *http)
{
    const char *parameters;
    *is_form = true;
    if (has_type(http, FORM, NULL)) return action_read_form(form, http);
    if (has_type(http, UPLOAD, &parameters)) return action_read_upload(form, http, parameters);
    *is_form = false;
    return NULL;
}

static sr_error_t *form_signature(sr_signature_t *signature, const form_t *form, apr_pool_t *pool)
{
    if (form->image) return sr_signature_uploaded(signature, form->image, form->image_size, pool);
    return sr_signature_typed(signature, form->typed, pool);
}

/* ------------------------------------------------------------------------------------------------------- an action */

static sr_error_t *action_read_name(sr_web_action_t *action, const char *name, apr_pool_t *pool)
{
    if (name && !strcmp(name, "sign")) action->action = SR_ACTION_SIGN;
    else if (name && !strcmp(name, "refuse")) action->action = SR_ACTION_REFUSE;
    else return sr_error(pool, SR_EBADREQUEST, "action must be sign or refuse");
    return NULL;
}

/* Finds the page that was linked beside the text: the one in the request, which must be the one that the signing page
 * shows now. So the evidence has no page that was not shown. */
static sr_error_t *read_terms(sr_web_action_t *action, sr_http_t *http, const char *terms_url)
{
    action->terms_url = http->settings->terms_url;
    if (!terms_url || !strcmp(terms_url, action->terms_url)) return NULL;
    return sr_error(http->pool, SR_ECONFLICT,
                    "termsUrl is not the page that is linked now. Load the signing page again");
}

/* Finds the text that the signer accepted: the one of the version in the request, else the one that the page shows. */
static sr_error_t *read_consent(sr_web_action_t *action, sr_http_t *http, bool given, const char *version)
{
    if (!given) return sr_error(http->pool, SR_EBADREQUEST, "The consent to sign electronically is missing");
    action->consent = version ? sr_consent_of_version(version) : sr_consent_of_language(sr_web_language(http)->code);
    return action->consent ? NULL : sr_error(http->pool, SR_EBADREQUEST, "consentVersion is unknown");
}

static sr_error_t *read_json_signature(sr_signature_t *signature, json_t *body, apr_pool_t *pool)
{
    SR_TRY(sr_signature_parse(signature, json_object_get(body, "signature"), pool));
    if (!signature->text) json_object_del(body, "signature"); /* an image may have megabytes */
    return NULL;
}

static void read_json_zone(sr_web_action_t *action, const json_t *body)
{
    action->time_zone = json_object_get(body, "timeZone");
    action->utc_offset = json_object_get(body, "utcOffset");
}

static void read_form_zone(sr_web_action_t *action, const form_t *form, apr_pool_t *pool)
{
    if (form->time_zone) action->time_zone = sr_json_own(json_string(form->time_zone), pool);
    const bool is_west = form->utc_offset && *form->utc_offset == '-';
    int minutes;
    if (form->utc_offset && sr_text_number(&minutes, form->utc_offset + is_west))
        action->utc_offset = sr_json_own(json_integer(is_west ? -minutes : minutes), pool);
}

static sr_error_t *read_json(sr_web_action_t *action, sr_http_t *http)
{
    json_t *body;
    SR_TRY(sr_http_read_json(&body, http, JSON_MAX, JSON_VALUES));
    SR_TRY(action_read_name(action, sr_json_string(body, "action"), http->pool));
    const json_t *reason = json_object_get(body, "reason");
    if (reason && !json_is_null(reason) && !json_is_string(reason))
        return sr_error(http->pool, SR_EBADREQUEST, "reason must be a string");
    action->reason = sr_json_string(body, "reason");
    if (action->action != SR_ACTION_SIGN) return NULL;
    const json_t *version = json_object_get(body, "consentVersion");
    if (version && !json_is_string(version))
        return sr_error(http->pool, SR_EBADREQUEST, "consentVersion must be a string");
    SR_TRY(read_consent(action, http, json_is_true(json_object_get(body, "consent")), json_string_value(version)));
    const json_t *terms_url = json_object_get(body, "termsUrl");
    if (terms_url && !json_is_string(terms_url))
        return sr_error(http->pool, SR_EBADREQUEST, "termsUrl must be a string");
    SR_TRY(read_terms(action, http, json_string_value(terms_url)));
    read_json_zone(action, body);
    return read_json_signature(&action->signature, body, http->pool);
}

sr_error_t *sr_web_read_action(sr_web_action_t *action, sr_http_t *http)
{
    form_t form = {0};
    bool is_form;
    SR_TRY(read_any_form(&is_form, &form, http));
    if (!is_form) return read_json(action, http);
    action->reason = form.reason;
    read_form_zone(action, &form, http->pool);
    SR_TRY(action_read_name(action, form.action, http->pool));
    if (action->action != SR_ACTION_SIGN) return NULL;
    SR_TRY(read_consent(action, http, form.consent && !strcmp(form.consent, "yes"), form.version));
    SR_TRY(read_terms(action, http, form.terms_url));
    return form_signature(&action->signature, &form, http->pool);
}

sr_error_t *sr_web_read_signature(sr_web_action_t *action, sr_http_t *http)
{
    form_t form = {0};
    json_t *body;
    bool is_form;
    SR_TRY(read_any_form(&is_form, &form, http));
    if (is_form) {
        read_form_zone(action, &form, http->pool);
        SR_TRY(read_consent(action, http, true, form.version));
        return form_signature(&action->signature, &form, http->pool);
    }
    SR_TRY(sr_http_read_json(&body, http, JSON_MAX, JSON_VALUES));
    read_json_zone(action, body);
    SR_TRY(read_consent(action, http, true, sr_json_string(body, "consentVersion")));
    return read_json_signature(&action->signature, body, http->pool);
}
