/* SPDX-License-Identifier: Apache-2.0 */
/* action.c: reads the requests of signers: JSON, a form, or a form with an image of the signature as a file. */
#include <string.h>

#include "web/web.h"

#define JSON_MAX ((apr_size_t)2 << 20)      /* an image of 1 MiB in base64, or 20,000 points */
#define JSON_VALUES ((apr_size_t)90000)     /* 20,000 points of three numbers, 1,000 strokes, and room */
#define UPLOAD_MORE ((apr_size_t)256 << 10) /* beside an image */
#define FORM_MAX ((apr_size_t)64 << 10)
#define TEXT_MAX ((apr_size_t)64 << 10)
#define PARTS_MAX 16
#define PAIRS_MAX 100
#define FORM "application/x-www-form-urlencoded"
#define UPLOAD "multipart/form-data"
#define VALUE "value-" /* and the number of a field: the name of its value in a form */
/* What a value can add to a body: 4,000 characters of 4 bytes, each as %XX in a form, or as \uXXXX\uXXXX in JSON. */
#define VALUE_MAX ((apr_size_t)4000 * 12 + 256)

typedef struct file_t {
    char *data; /* NULL: there is no such part */
    apr_size_t size;
} file_t;

typedef struct form_t {
    const char *action, *consent, *version, *terms_url, *typed, *initials_typed, *reason, *time_zone, *utc_offset;
    file_t image, initials;
    json_t *values; /* number to text; NULL: none */
    apr_pool_t *pool;
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

/* Returns true for a field that is not filled in by the signature. */
static bool needs_more(const sr_field_t *field)
{
    return field->entry || field->type->initials;
}

/* Returns the number of fields that make a body larger. */
static int count_values(const sr_signing_t *signing)
{
    int count = 0;
    for (int i = 0; i < signing->signer->fields->nelts; i++)
        count += needs_more(&APR_ARRAY_IDX(signing->signer->fields, i, sr_field_t));
    return count;
}

/* ------------------------------------------------------------------------------------------------------ the forms */

/* Returns the text of a form that has this name, or NULL. */
static const char **form_text(form_t *form, const char *name)
{
    const struct {
        const char *name, **value;
    } list[] = {
        {"action", &form->action},          {"consent", &form->consent},      {"typed", &form->typed},
        {"consentVersion", &form->version}, {"reason", &form->reason},        {"initials", &form->initials_typed},
        {"timeZone", &form->time_zone},     {"utcOffset", &form->utc_offset}, {"termsUrl", &form->terms_url}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!strcmp(name, list[i].name)) return list[i].value;
    return NULL;
}

static bool form_is_value(const char *name)
{
    return !strncmp(name, VALUE, strlen(VALUE));
}

static sr_error_t *form_take(void *baton, const char *name, const char *value)
{
    form_t *form = baton;
    const char **text = form_text(form, name);
    if (text) *text = value;
    if (!form_is_value(name)) return NULL;
    if (!form->values) form->values = sr_json_own(json_object(), form->pool);
    json_object_set_new(form->values, name + strlen(VALUE), json_string(value));
    return NULL;
}

typedef struct receiver_t {
    sr_http_t *http;
    form_t *form;
    sr_multipart_t *parser;
    const char *name;  /* of the text that the part has, or NULL */
    file_t *file;      /* the file that the part has, or NULL */
    char *text, *data; /* `data`: of the part, with room for `most` bytes and a NUL */
    apr_size_t length, most, beyond;
} receiver_t;

/* A form sends a file field that was left empty as a part with an empty file name. */
static file_t *form_file(form_t *form, const sr_part_t *part)
{
    file_t *file = !strcmp(part->name, "image")      ? &form->image
                   : !strcmp(part->name, "initials") ? &form->initials
                                                     : NULL;
    return file && part->filename && *part->filename && !file->data ? file : NULL;
}

static sr_error_t *action_begin_part(void *baton, const sr_part_t *part)
{
    receiver_t *receiver = baton;
    form_t *form = receiver->form;
    receiver->file = form_file(form, part);
    receiver->name = !part->filename && (form_text(form, part->name) || form_is_value(part->name))
                         ? apr_pstrdup(receiver->http->pool, part->name)
                         : NULL;
    receiver->length = receiver->beyond = 0;
    if (receiver->name && !receiver->text) receiver->text = apr_palloc(receiver->http->pool, TEXT_MAX + 1);
    receiver->most = receiver->file ? SR_SIGNATURE_IMAGE_MAX + 1 : TEXT_MAX;
    receiver->data = receiver->file ? apr_palloc(receiver->http->pool, receiver->most + 1) : receiver->text;
    return NULL;
}

static sr_error_t *part_too_large(const receiver_t *receiver, apr_size_t most)
{
    return sr_error(receiver->http->pool, SR_ETOOLARGE, "A field of the form must be at most %" APR_SIZE_T_FMT " bytes",
                    most);
}

static sr_error_t *action_part_data(void *baton, const char *data, apr_size_t length)
{
    receiver_t *receiver = baton;
    if (!receiver->file && !receiver->name) return NULL;
    if (length > receiver->most - receiver->length) {
        if (!receiver->file) return part_too_large(receiver, TEXT_MAX);
        receiver->beyond += length - (receiver->most - receiver->length);
        length = receiver->most - receiver->length; /* one byte above the limit is enough to refuse the part */
        if (receiver->beyond > UPLOAD_MORE) return part_too_large(receiver, SR_SIGNATURE_IMAGE_MAX);
    }
    memcpy(receiver->data + receiver->length, data, length);
    receiver->length += length;
    return NULL;
}

static sr_error_t *action_end_part(void *baton)
{
    receiver_t *receiver = baton;
    if (receiver->file) *receiver->file = (file_t){receiver->data, receiver->length};
    if (!receiver->name) return NULL;
    const char *text = apr_pstrmemdup(receiver->http->pool, receiver->data, receiver->length);
    if (strlen(text) != receiver->length || !sr_text_is_utf8(text, receiver->length))
        return sr_error(receiver->http->pool, SR_EBADREQUEST, "The fields of a form must be UTF-8 text");
    return form_take(receiver->form, receiver->name, text);
}

static sr_error_t *action_body_piece(void *baton, const char *data, apr_size_t length)
{
    return sr_multipart_feed(((receiver_t *)baton)->parser, data, length);
}

static sr_error_t *action_read_upload(form_t *form, sr_http_t *http, const char *parameters, int values)
{
    receiver_t receiver = {.http = http, .form = form};
    const sr_multipart_sink_t sink = {action_begin_part, action_part_data, action_end_part, &receiver};
    const apr_size_t files = values ? 2 : 1; /* the signature, and the initials */
    const apr_size_t limit = files * SR_SIGNATURE_IMAGE_MAX + UPLOAD_MORE + (apr_size_t)values * VALUE_MAX;
    SR_TRY(sr_multipart_make(&receiver.parser, parameters, &sink, PARTS_MAX + values, http->pool));
    SR_TRY(sr_http_read(http, (apr_off_t)limit, action_body_piece, &receiver));
    return sr_multipart_finish(receiver.parser);
}

/* Reads a form of either type. *is_form is false if the request has another type: it is JSON then. */
static sr_error_t *read_any_form(bool *is_form, form_t *form, sr_http_t *http, int values)
{
    const char *parameters;
    *is_form = true;
    *form = (form_t){.pool = http->pool};
    if (has_type(http, UPLOAD, &parameters)) return action_read_upload(form, http, parameters, values);
    if (has_type(http, FORM, NULL))
        return sr_http_read_form(http, FORM_MAX + (apr_size_t)values * VALUE_MAX, PAIRS_MAX + values, form_take, form);
    *is_form = false;
    return NULL;
}

static sr_error_t *form_signature(sr_signature_t *signature, const file_t *image, const char *typed, apr_pool_t *pool)
{
    if (image->data) return sr_signature_uploaded(signature, image->data, image->size, pool);
    return sr_signature_typed(signature, typed, pool);
}

/* Sets the values of check boxes, as HTML forms send them: "true", or nothing if they are not ticked. */
static void form_set_boxes(form_t *form, const sr_signing_t *signing)
{
    for (int i = 0; i < signing->signer->fields->nelts; i++) {
        const sr_field_t *field = &APR_ARRAY_IDX(signing->signer->fields, i, sr_field_t);
        const char *key = apr_itoa(form->pool, i + 1);
        if (field->type->widget != SR_WIDGET_CHECKBOX || field->entry->read_only) continue;
        if (!form->values) form->values = sr_json_own(json_object(), form->pool);
        const char *value = sr_json_string(form->values, key);
        json_object_set_new(form->values, key, json_boolean(value && !strcmp(value, "true")));
    }
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

/* Reads the values of the fields, and the initials. The model checks the values. */
static sr_error_t *read_json_fields(sr_web_action_t *action, json_t *body, apr_pool_t *pool)
{
    const json_t *values = json_object_get(body, "values"), *initials = json_object_get(body, "initials");
    if (values && !json_is_null(values)) action->values = json_object_get(body, "values");
    if (action->values && !json_is_object(action->values))
        return sr_error(pool, SR_EBADREQUEST, "values must be an object");
    if (!initials || json_is_null(initials)) return NULL;
    action->initials = apr_palloc(pool, sizeof *action->initials);
    return sr_signature_parse(action->initials, initials, pool);
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

static sr_error_t *action_read_body(json_t **body, sr_http_t *http, int values)
{
    const apr_size_t more = values ? JSON_MAX + (apr_size_t)values * VALUE_MAX : 0; /* the initials, too */
    return sr_http_read_json(body, http, JSON_MAX + more, JSON_VALUES + (more ? JSON_VALUES : 0));
}

static sr_error_t *read_json(sr_web_action_t *action, sr_http_t *http, int values)
{
    json_t *body;
    SR_TRY(action_read_body(&body, http, values));
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
    SR_TRY(read_json_fields(action, body, http->pool));
    return read_json_signature(&action->signature, body, http->pool);
}

sr_error_t *sr_web_read_action(sr_web_action_t *action, sr_http_t *http, const sr_signing_t *signing)
{
    const int values = count_values(signing);
    form_t form;
    bool is_form;
    SR_TRY(read_any_form(&is_form, &form, http, values));
    if (!is_form) return read_json(action, http, values);
    action->reason = form.reason;
    read_form_zone(action, &form, http->pool);
    SR_TRY(action_read_name(action, form.action, http->pool));
    if (action->action != SR_ACTION_SIGN) return NULL;
    SR_TRY(read_consent(action, http, form.consent && !strcmp(form.consent, "yes"), form.version));
    SR_TRY(read_terms(action, http, form.terms_url));
    form_set_boxes(&form, signing);
    action->values = form.values;
    if (form.initials.data || (form.initials_typed && *form.initials_typed)) {
        action->initials = apr_palloc(http->pool, sizeof *action->initials);
        SR_TRY(form_signature(action->initials, &form.initials, form.initials_typed, http->pool));
    }
    return form_signature(&action->signature, &form.image, form.typed, http->pool);
}

sr_error_t *sr_web_read_preview(sr_web_action_t *action, sr_http_t *http, const sr_signing_t *signing)
{
    const int values = count_values(signing);
    form_t form;
    json_t *body;
    bool is_form;
    SR_TRY(read_any_form(&is_form, &form, http, values));
    if (is_form) {
        read_form_zone(action, &form, http->pool);
        SR_TRY(read_consent(action, http, true, form.version));
        return form_signature(&action->signature, &form.image, form.typed, http->pool);
    }
    SR_TRY(action_read_body(&body, http, values));
    read_json_zone(action, body);
    SR_TRY(read_consent(action, http, true, sr_json_string(body, "consentVersion")));
    SR_TRY(read_json_fields(action, body, http->pool));
    if (action->values) return NULL;
    return read_json_signature(&action->signature, body, http->pool);
}
