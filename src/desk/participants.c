/* SPDX-License-Identifier: Apache-2.0 */
/* participants.c: the signers of a request with what they have done, its viewers, and the recipients of copies. */
#include <string.h>

#include "desk/request_page.h"
#include "model/authentication.h"

static const char *participants_name(const char *firstname, const char *lastname, const char *email, apr_pool_t *pool)
{
    const char *name = sr_person_name(firstname, lastname, pool);
    return *name ? name : email;
}

/* Returns the state of a signer. The states of those who have not signed stay when a request is closed. */
static const char *signer_state(const sr_signer_t *signer, const sr_submission_t *submission)
{
    return submission->state == SR_SUBMISSION_DRAFT ? "draft" : sr_signer_state_name(signer->state);
}

static void signer_add_times(const sr_desk_request_t *request, json_t *row, const sr_signer_t *signer)
{
    const sr_submission_t *submission = &request->signing->submission;
    const bool due = signer->state != SR_SIGNER_WAITING && submission->state != SR_SUBMISSION_DRAFT;
    const struct {
        const char *name;
        apr_time_t at;
    } times[] = {{"sent", !due             ? 0
                          : signer->due_at ? signer->due_at
                                           : submission->created_at},
                 {"opened", signer->opened_at},
                 {"reminded", signer->reminded_at},
                 {"signed", signer->completed_at},
                 {"refused", signer->refused_at}};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        json_t *time = json_object();
        sr_desk_request_set(time, "label", sr_desk_request_word(request, "signer", times[i].name));
        sr_desk_request_set_time(request, time, "time", times[i].at);
        if (times[i].at) json_array_append(list, time);
        json_decref(time);
    }
    json_object_set_new(row, "times", list);
}

static void signer_add_check(const sr_desk_request_t *request, json_t *row, const sr_signer_t *signer)
{
    const sr_authentication_t *authentication = signer->authentication;
    json_object_set_new(row, "check", json_null());
    if (!authentication) return;
    const bool locked = sr_authentication_is_locked(authentication, request->signing->clock);
    const char *state = locked ? "locked" : authentication->passed_at ? "passed" : "pending";
    json_t *check = json_object();
    sr_desk_request_set(check, "method",
                        sr_desk_request_word(request, "check", sr_auth_method_name(authentication->method)));
    sr_desk_request_set(check, "result", sr_desk_request_word(request, "check", state));
    sr_desk_request_set_time(request, check, "passed", authentication->passed_at);
    json_object_set_new(check, "locked", json_boolean(locked));
    json_object_set_new(row, "check", check);
    if (locked) sr_desk_add_form(request, row, "unlock", signer->uuid);
}

/* Returns the name of a signer who was replaced: an event has it. */
static const char *signer_replaced(const sr_desk_request_t *request, const char *uuid)
{
    return uuid ? sr_desk_event_name(request, uuid) : NULL;
}

static json_t *participants_languages(const char *chosen)
{
    json_t *list = json_array();
    for (int i = 0; i < sr_language_count(); i++) {
        const sr_language_t *row = sr_language(i);
        json_array_append_new(list, json_pack("{s:s,s:s,s:b}", "tag", row->code, "native", row->name, "chosen",
                                              chosen && sr_language_of(chosen) == row));
    }
    return list;
}

/* --- the form with which a signer is replaced */

static const struct {
    const char *name, *type;
} inputs[] = {{"firstname", "text"}, {"lastname", "text"}, {"email", "email"}, {"authentication", "text"}};
#define INPUTS (sizeof inputs / sizeof *inputs)

/* Returns the number of the input that a message names first, or INPUTS. */
static size_t replace_input_of(const char *message)
{
    const char *first = NULL;
    size_t found = INPUTS;
    for (size_t i = 0; message && i < INPUTS; i++) {
        const char *at = strstr(message, inputs[i].name);
        if (!at || (first && at > first)) continue;
        first = at;
        found = i;
    }
    return found;
}

/* Adds the inputs, with a fault beside the one that it concerns. `secret`: the label of what a check of the identity
 * needs of the new signer, or NULL. */
static void replace_add_inputs(const sr_desk_request_t *request, json_t *form, const char *secret)
{
    const size_t faulty = replace_input_of(sr_json_string(form, "error"));
    const bool mails = request->signing->submission.send_email;
    json_t *list = json_array();
    for (size_t i = 0; i < INPUTS; i++) {
        const char *name = inputs[i].name, *label = secret;
        if (strcmp(name, "authentication") != 0) label = sr_desk_request_word(request, "new", name);
        if (!label) continue;
        json_t *input = json_object();
        sr_desk_request_set(input, "input", name);
        sr_desk_request_set(input, "type", inputs[i].type);
        sr_desk_request_set(input, "label", label);
        sr_desk_request_set(input, "value", sr_json_string(form, name));
        sr_desk_request_set(input, "fault", i == faulty ? sr_json_string(form, "error") : NULL);
        json_object_set_new(input, "required", json_boolean(mails || strcmp(name, "email") != 0));
        json_array_append_new(list, input);
    }
    json_object_set_new(form, "inputs", list);
    if (faulty < INPUTS) json_object_set_new(form, "error", json_null());
}

static void signer_add_replace(const sr_desk_request_t *request, json_t *row, const sr_signer_t *signer)
{
    json_t *form = sr_desk_add_form(request, row, "replace", signer->uuid);
    if (!form) return;
    const sr_authentication_t *check = signer->authentication;
    const char *locale = sr_json_string(form, "locale");
    json_object_set_new(form, "choices", participants_languages(locale ? locale : signer->locale));
    replace_add_inputs(request, form,
                       check ? sr_desk_request_word(request, "check.new", sr_auth_method_name(check->method)) : NULL);
}

static json_t *participants_signer(const sr_desk_request_t *request, const sr_signer_t *signer, int number)
{
    const sr_submission_t *submission = &request->signing->submission;
    const char *state = signer_state(signer, submission);
    const bool open = submission->state == SR_SUBMISSION_OPEN;
    const bool due = signer->state == SR_SIGNER_SENT || signer->state == SR_SIGNER_OPENED;
    /* somebody with a link can sign, which a desk that is read-only does not let its user do */
    const bool linked = (open && !request->desk->read_only) || signer->completed_at;
    json_t *row = json_object();
    json_object_set_new(row, "number", json_integer(number));
    json_object_set_new(row, "order", json_integer(signer->order));
    sr_desk_request_set(row, "name", participants_name(signer->firstname, signer->lastname, NULL, request->pool));
    sr_desk_request_set(row, "email", signer->email);
    sr_desk_request_set(row, "state", state);
    sr_desk_request_set(row, "stateText",
                        sr_desk_request_word(request, "signer", signer->completed_at ? "signed" : state));
    sr_desk_request_set(row, "refusal", signer->refusal_reason);
    sr_desk_request_set(row, "replaced", signer_replaced(request, signer->replaces));
    sr_desk_request_set(row, "link",
                        linked ? apr_pstrcat(request->pool, request->desk->http->base_url,
                                             sr_signature_path(signer, submission->skip_intro, request->pool), NULL)
                               : NULL);
    signer_add_times(request, row, signer);
    signer_add_check(request, row, signer);
    if (open && due && signer->email) sr_desk_add_form(request, row, "remind", signer->uuid);
    if (open && (due || signer->state == SR_SIGNER_WAITING)) signer_add_replace(request, row, signer);
    return row;
}

static json_t *participants_viewer(const sr_desk_request_t *request, const sr_viewer_t *viewer, int number)
{
    const bool draft = request->signing->submission.state == SR_SUBMISSION_DRAFT;
    json_t *row = json_object();
    json_object_set_new(row, "number", json_integer(number));
    sr_desk_request_set(row, "name",
                        participants_name(viewer->firstname, viewer->lastname, viewer->email, request->pool));
    sr_desk_request_set(row, "email", viewer->is_copy ? NULL : viewer->email);
    sr_desk_request_set_time(request, row, "openedAt", viewer->opened_at);
    sr_desk_request_set_time(request, row, "revokedAt", viewer->revoked_at);
    sr_desk_request_set(row, "link",
                        draft || viewer->revoked_at ? NULL
                                                    : apr_pstrcat(request->pool, request->desk->http->base_url,
                                                                  sr_viewer_path(viewer, request->pool), NULL));
    if (!draft && !viewer->revoked_at) sr_desk_add_form(request, row, "revoke", viewer->uuid);
    return row;
}

static void participants_add_copies(const sr_desk_request_t *request, json_t *values, json_t *links)
{
    const sr_submission_t *submission = &request->signing->submission;
    json_object_set_new(values, "copies", json_null());
    if (!submission->options.copies) {
        json_decref(links);
        return;
    }
    json_t *copies = json_object();
    sr_desk_request_set_time(request, copies, "sentAt", submission->copied_at);
    json_object_set_new(copies, "links", links);
    if (submission->state == SR_SUBMISSION_COMPLETED) sr_desk_add_form(request, copies, "copies", NULL);
    json_object_set_new(values, "copies", copies);
}

void sr_desk_add_participants(const sr_desk_request_t *request, json_t *values)
{
    const sr_submission_t *submission = &request->signing->submission;
    json_t *signers = json_array(), *viewers = json_array(), *links = json_array();
    bool ordered = false;
    for (int i = 0; i < submission->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        json_array_append_new(signers, participants_signer(request, signer, i + 1));
        ordered |= signer->order > 1;
    }
    for (int i = 0; submission->viewers && i < submission->viewers->nelts; i++) {
        const sr_viewer_t *viewer = &APR_ARRAY_IDX(submission->viewers, i, sr_viewer_t);
        json_array_append_new(viewer->is_copy ? links : viewers, participants_viewer(request, viewer, i + 1));
    }
    json_object_set_new(values, "signers", signers);
    json_object_set_new(values, "ordered", json_boolean(ordered));
    json_object_set_new(values, "looking",
                        json_array_size(viewers) ? json_pack("{s:O}", "viewers", viewers) : json_null());
    json_decref(viewers);
    participants_add_copies(request, values, links);
}
