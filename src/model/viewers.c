/* SPDX-License-Identifier: Apache-2.0 */
/* viewers.c: people who see a submission by a link and never sign it. */
#include "model/model.h"
#include "model/names.h"

#include <string.h>
#include <strings.h>

#define NAME_MAX_CHARACTERS 100
#define ADDRESS_MAX 254

/* --- what a creation says */

static sr_error_t *viewers_refuse(int number, const char *fault, apr_pool_t *pool)
{
    return sr_error(pool, SR_EBADREQUEST, "viewers: viewer %d: %s", number, fault);
}

static sr_error_t *read_name(const char **name, const json_t *object, const char *member, int number, apr_pool_t *pool)
{
    *name = sr_json_string(object, member);
    if (!*name || sr_text_is_blank(*name))
        return viewers_refuse(number, apr_psprintf(pool, "a %s must be provided", member), pool);
    const char *fault = sr_text_fault(*name, NAME_MAX_CHARACTERS, pool);
    return fault ? viewers_refuse(number, apr_psprintf(pool, "%s %s", member, fault), pool) : NULL;
}

static sr_error_t *read_when(bool *when_completed, const json_t *object, int number, apr_pool_t *pool)
{
    const json_t *value = sr_json_given(object, "when");
    const char *text = json_string_value(value);
    *when_completed = text && !strcmp(text, "completed");
    if (!value || *when_completed || (text && !strcmp(text, "sent"))) return NULL;
    return viewers_refuse(number, "when must be sent or completed", pool);
}

static sr_error_t *read_viewer(sr_viewer_t *viewer, const json_t *object, int number, apr_pool_t *pool)
{
    static const char *const names[] = {"firstname", "lastname", "email", "when", NULL};
    const char *name;
    json_t *value;
    if (!json_is_object(object)) return viewers_refuse(number, "it must be a JSON object", pool);
    json_object_foreach ((json_t *)object, name, value)
        if (!sr_name_is(names, name))
            return viewers_refuse(number, apr_pstrcat(pool, "unknown member ", sr_remark_name(name, pool), NULL), pool);
    *viewer = (sr_viewer_t){.uuid = sr_uuid_make(pool), .email = sr_json_string(object, "email")};
    SR_TRY(read_name(&viewer->firstname, object, "firstname", number, pool));
    SR_TRY(read_name(&viewer->lastname, object, "lastname", number, pool));
    if (sr_json_given(object, "email")
        && (!viewer->email || strlen(viewer->email) > ADDRESS_MAX || !sr_text_is_email(viewer->email)
            || !sr_address_of(viewer->email, pool)))
        return viewers_refuse(number, "email must be an email address", pool);
    return read_when(&viewer->when_completed, object, number, pool);
}

static sr_error_t *read_form(apr_array_header_t *viewers, const sr_sent_t *form, apr_pool_t *pool)
{
    json_t *list = NULL, *one;
    size_t i;
    if (!form->length) return NULL;
    sr_error_t *error = sr_json_parse(&list, form->text, form->length, pool);
    if (error && error->code != SR_EBADREQUEST) return error;
    if (error) return sr_error(pool, SR_EBADREQUEST, "viewers must be a JSON array: %s", error->message);
    if (!json_is_array(list)) return sr_error(pool, SR_EBADREQUEST, "viewers must be a JSON array");
    if (json_array_size(list) > SR_VIEWERS_MAX)
        return sr_error(pool, SR_EBADREQUEST, "viewers must have at most %d viewers", SR_VIEWERS_MAX);
    json_array_foreach (list, i, one) SR_TRY(read_viewer(apr_array_push(viewers), one, (int)i + 1, pool));
    return NULL;
}

static bool gets_copy(const apr_array_header_t *viewers, const char *email)
{
    for (int i = 0; i < viewers->nelts; i++) {
        const sr_viewer_t *viewer = &APR_ARRAY_IDX(viewers, i, sr_viewer_t);
        if (viewer->is_copy && !strcasecmp(viewer->email, email)) return true;
    }
    return false;
}

static void add_copies(apr_array_header_t *viewers, const json_t *to, const char *sender, apr_pool_t *pool)
{
    json_t *one;
    size_t i;
    json_array_foreach ((json_t *)to, i, one) {
        const char *text = json_string_value(one), *email = strcmp(text, "sender") != 0 ? text : sender;
        if (!strcmp(text, "signers") || gets_copy(viewers, email)) continue;
        APR_ARRAY_PUSH(viewers, sr_viewer_t) =
            (sr_viewer_t){.uuid = sr_uuid_make(pool), .is_copy = true, .when_completed = true, .email = email};
    }
}

sr_error_t *sr_viewers_read(const apr_array_header_t **viewers, const sr_sent_t *form, const sr_options_t *options,
                            const char *sender, apr_pool_t *pool)
{
    apr_array_header_t *list = apr_array_make(pool, 4, sizeof(sr_viewer_t));
    *viewers = NULL;
    SR_TRY(read_form(list, form, pool));
    add_copies(list, options->to, sender, pool);
    if (list->nelts) *viewers = list;
    return NULL;
}

/* --- as they are stored */

static bool parse_viewer(sr_viewer_t *viewer, const json_t *row)
{
    const char *kind = sr_json_string(row, "kind"), *when = sr_json_string(row, "shown_when");
    *viewer = (sr_viewer_t){.uuid = sr_json_string(row, "uuid"),
                            .is_copy = kind && !strcmp(kind, "copy"),
                            .when_completed = when && !strcmp(when, "completed"),
                            .firstname = sr_json_string(row, "firstname"),
                            .lastname = sr_json_string(row, "lastname"),
                            .email = sr_json_string(row, "email"),
                            .sent_at = json_integer_value(json_object_get(row, "sent_at")),
                            .opened_at = json_integer_value(json_object_get(row, "opened_at")),
                            .revoked_at = json_integer_value(json_object_get(row, "revoked_at"))};
    return viewer->uuid && kind && when;
}

sr_error_t *sr_viewers_parse(const apr_array_header_t **viewers, const json_t *rows, apr_pool_t *pool)
{
    apr_array_header_t *list = apr_array_make(pool, (int)json_array_size(rows), sizeof(sr_viewer_t));
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (!parse_viewer(apr_array_push(list), json_array_get(rows, i)))
            return sr_error(pool, SR_EINTERNAL, "A viewer in the database cannot be read");
    *viewers = list->nelts ? list : NULL;
    return NULL;
}

/* --- their links */

const char *sr_viewer_path(const sr_viewer_t *viewer, apr_pool_t *pool)
{
    return viewer->uuid ? apr_pstrcat(pool, "/view/", viewer->uuid, NULL) : NULL;
}

sr_viewer_t *sr_submission_viewer(const sr_submission_t *submission, const char *uuid)
{
    for (int i = 0; submission->viewers && i < submission->viewers->nelts; i++) {
        sr_viewer_t *viewer = &APR_ARRAY_IDX(submission->viewers, i, sr_viewer_t);
        if (!strcasecmp(viewer->uuid, uuid)) return viewer;
    }
    return NULL;
}

bool sr_viewer_may_see(const sr_viewer_t *viewer, const sr_submission_t *submission, apr_time_t now)
{
    const bool completed = submission->state == SR_SUBMISSION_COMPLETED;
    if (viewer->revoked_at || (viewer->when_completed && !completed)) return false;
    if (viewer->is_copy) return viewer->sent_at && now < viewer->sent_at + SR_COPY_LIFETIME;
    return completed || (submission->state == SR_SUBMISSION_OPEN && !submission->late);
}
