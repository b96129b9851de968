/* SPDX-License-Identifier: Apache-2.0 */
/* request_forms.c: what the forms of the page of one request need. change.c reads them. */
#include <string.h>

#include "desk/request_page.h"

/* --- the deadline, which a form has in the time zone of this server, as browsers do: 2026-12-01T10:00 */

#define LOCAL "%Y-%m-%dT%H:%M"
#define LOCAL_LENGTH 16

static apr_interval_time_t forms_offset(apr_time_t when, apr_pool_t *pool)
{
    return apr_time_from_sec((apr_interval_time_t)sr_zone_of_server(when, pool).offset * 60);
}

const char *sr_desk_deadline(const char *text, apr_pool_t *pool)
{
    apr_time_t local;
    if (!text || strlen(text) < LOCAL_LENGTH || strpbrk(text + LOCAL_LENGTH, "Zz+-")
        || !sr_time_parse(&local, apr_pstrcat(pool, text, "Z", NULL)))
        return text;
    const apr_time_t about = local - forms_offset(local, pool);
    return sr_time_format(local - forms_offset(about, pool), pool);
}

/* --- forms */

const char *sr_desk_request_form_name(const char *action, const char *submission, const char *of, apr_pool_t *pool)
{
    return apr_pstrcat(pool, action, " ", submission, of ? " " : NULL, of, NULL);
}

static bool forms_was_tried(const sr_desk_tried_t *tried, const char *action, const char *of)
{
    return tried && !strcmp(tried->action, action) && !strcmp(tried->of ? tried->of : "", of ? of : "");
}

json_t *sr_desk_add_form(const sr_desk_request_t *request, json_t *object, const char *action, const char *of)
{
    const char *key = apr_pstrcat(request->pool, "form_", action, NULL);
    const char *name = sr_desk_request_form_name(action, request->signing->submission.uuid, of, request->pool);
    const bool tried = forms_was_tried(request->tried, action, of);
    json_object_set_new(object, key, json_null());
    if (request->desk->read_only) return NULL;
    json_t *form = json_object();
    for (const sr_query_param_t *field = tried ? request->tried->fields : NULL; field && field->name; field++)
        sr_desk_request_set(form, field->name, *field->value);
    sr_desk_request_set(form, "token", sr_desk_form_token(request->desk, name));
    sr_desk_request_set(form, "of", of);
    sr_desk_request_set(form, "error", tried ? request->tried->message : NULL);
    json_object_set_new(form, "open", json_boolean(tried));
    if (tried) request->tried->shown = true;
    json_object_set_new(object, key, form);
    return form;
}

static void forms_add_extend(const sr_desk_request_t *request, json_t *values)
{
    char local[SR_TIME_PRINTED];
    const apr_time_t now = request->signing->submission.expires_at;
    json_t *form = sr_desk_add_form(request, values, "extend", NULL);
    if (!form || json_is_true(json_object_get(form, "open"))) return;
    sr_time_print(local, LOCAL, now + forms_offset(now, request->pool));
    sr_desk_request_set(form, "expiresAt", now ? local : NULL);
}

static void forms_add_draft(const sr_desk_request_t *request, json_t *values)
{
    const sr_submission_t *submission = &request->signing->submission;
    json_t *problems = sr_submission_problems(submission, sr_time_now(), request->pool);
    json_object_set_new(values, "problems",
                        json_array_size(problems) ? json_pack("{s:O}", "list", problems) : json_null());
    json_decref(problems);
    sr_desk_add_form(request, values, "place", NULL);
    sr_desk_add_form(request, values, "send", NULL);
}

void sr_desk_add_forms(const sr_desk_request_t *request, json_t *values)
{
    const sr_submission_t *submission = &request->signing->submission;
    const bool open = submission->state == SR_SUBMISSION_OPEN, draft = submission->state == SR_SUBMISSION_DRAFT;
    if (open) sr_desk_add_form(request, values, "cancel", NULL);
    if (open || draft) forms_add_extend(request, values);
    if (draft) forms_add_draft(request, values);
    json_object_set_new(values, "all", json_boolean(sr_desk_may_download_all(request->desk, submission)));
    json_object_set_new(values, "deletable", json_boolean(!open && !submission->held_at && !request->desk->read_only));
}
