/* SPDX-License-Identifier: Apache-2.0 */
/* new_draft.c: makes a draft of the form of a new request, by the use case of POST /signatures, and finds the input
 * that its error is about. */
#include <apr_fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "desk/new.h"

#define REMINDERS_MOST 3

static const char *draft_value(const json_t *object, const char *name)
{
    const char *text = sr_json_string(object, name);
    return text && !sr_text_is_blank(text) ? text : NULL;
}

static void draft_copy(json_t *to, const json_t *from, const char *name)
{
    const char *text = draft_value(from, name);
    if (text) json_object_set_new(to, name, json_string(text));
}

static json_t *draft_signer(const json_t *row)
{
    static const char *const names[] = {"firstname", "lastname", "email", "locale"};
    const char *order = draft_value(row, "order"), *check = draft_value(row, "check"), *code = draft_value(row, "code");
    json_t *signer = json_object();
    int number;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) draft_copy(signer, row, names[i]);
    if (order)
        json_object_set_new(signer, "order",
                            sr_text_number(&number, order) ? json_integer(number) : json_string(order));
    if (!check) return signer;
    json_t *authentication = json_pack("{s:s}", "method", check);
    if (code && !strcmp(check, "code")) json_object_set_new(authentication, "code", json_string(code));
    json_object_set_new(signer, "authentication", authentication);
    return signer;
}

static json_t *draft_viewer(const json_t *row)
{
    static const char *const names[] = {"firstname", "lastname", "email", "when"};
    json_t *viewer = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) draft_copy(viewer, row, names[i]);
    return viewer;
}

/* Returns the JSON text of the rows of a list. */
static sr_sent_t draft_rows(const sr_desk_form_t *form, const char *list, json_t *(*convert)(const json_t *row),
                            apr_pool_t *pool)
{
    json_t *sent = sr_json_own(json_array(), pool), *row;
    size_t i;
    json_array_foreach (sr_desk_rows(form, list), i, row) json_array_append_new(sent, convert(row));
    const char *text = sr_json_text(sent, pool);
    return (sr_sent_t){text, strlen(text)};
}

/* Returns the JSON text of an object. Nothing was entered if it is empty. Takes over the reference. */
static sr_sent_t draft_object(json_t *object, apr_pool_t *pool)
{
    const char *text = json_object_size(sr_json_own(object, pool)) ? sr_json_text(object, pool) : NULL;
    return (sr_sent_t){text, text ? strlen(text) : 0};
}

static sr_sent_t draft_message(const json_t *values, apr_pool_t *pool)
{
    json_t *message = json_object();
    draft_copy(message, values, "subject");
    draft_copy(message, values, "text");
    return draft_object(message, pool);
}

static sr_sent_t draft_copies(const json_t *values, apr_pool_t *pool)
{
    json_t *to = json_array(), *copies = json_object();
    const char *others = draft_value(values, "copy-others");
    char *at, *each = others ? apr_strtok(apr_pstrdup(pool, others), ",; ", &at) : NULL;
    if (draft_value(values, "copy-signers")) json_array_append_new(to, json_string("signers"));
    if (draft_value(values, "copy-sender")) json_array_append_new(to, json_string("sender"));
    for (; each; each = apr_strtok(NULL, ",; ", &at)) json_array_append_new(to, json_string(each));
    if (json_array_size(to)) json_object_set(copies, "to", to);
    json_decref(to);
    return draft_object(copies, pool);
}

static sr_sent_t draft_reminders(const json_t *values, apr_pool_t *pool)
{
    const char *after = draft_value(values, "reminders");
    json_t *reminders =
        after ? json_pack("{s:s,s:s,s:i}", "after", after, "every", after, "most", REMINDERS_MOST) : json_object();
    return draft_object(reminders, pool);
}

/* A deadline is the end of its day in the time zone of this server. */
static const char *draft_deadline(const json_t *values, apr_pool_t *pool)
{
    const char *day = draft_value(values, "deadline");
    apr_time_t noon;
    if (!day || !sr_time_parse(&noon, apr_pstrcat(pool, day, "T12:00:00Z", NULL))) return day;
    const int offset = sr_zone_of_server(noon, pool).offset;
    return apr_psprintf(pool, "%sT23:59:59%c%02d:%02d", day, offset < 0 ? '-' : '+', abs(offset) / 60,
                        abs(offset) % 60);
}

sr_error_t *sr_desk_new_draft(const char **uuid, sr_desk_t *desk, const sr_desk_form_t *form)
{
    sr_http_t *http = desk->http;
    const json_t *values = form->values;
    const sr_sent_t signers = draft_rows(form, "signer", draft_signer, http->pool);
    const sr_sent_t viewers = draft_rows(form, "viewer", draft_viewer, http->pool);
    const sr_sent_t reminders = draft_reminders(values, http->pool);
    const char *representation;
    const sr_create_t request = {.token_hash = desk->token_hash,
                                 .caller = desk->caller,
                                 .client = sr_web_client(http),
                                 .uploads = form->uploads,
                                 .name = sr_json_string(values, "name"),
                                 .template = form->template,
                                 .signers = signers.text,
                                 .signers_length = signers.length,
                                 .send_email = draft_value(values, "mail") ? "true" : "false",
                                 .draft = "true",
                                 .expires_at = draft_deadline(values, http->pool),
                                 .reminders = reminders.text,
                                 .reminders_length = reminders.length,
                                 .options = {.message = draft_message(values, http->pool),
                                             .copies = draft_copies(values, http->pool),
                                             .viewers = viewers},
                                 .idempotency_key = form->name,
                                 .remarks = sr_remarks_make(http->pool)};
    if (form->refused) return form->refused;
    return sr_service_create(http->service, uuid, &representation, &request, http->pool);
}

/* --- errors */

/* The beginnings of messages, and the inputs that they are about. */
typedef struct subject_t {
    const char *pattern, *input;
} subject_t;

static const subject_t subjects[] = {
    {"A name *", "name"},
    {"expiresAt *", "deadline"},
    {"reminders*", "reminders"},
    {"message: subject *", "subject"},
    {"message*", "text"},
    {"copies*", "copy-others"},
    {"*: copies must be left out", "copy-others"},
    {"*: sendEmail must be false or left out", "mail"},
    {"*: no code can be sent by email", "signer"},
    {"viewers*", "viewer"},
    {"At least 1 signer *", "signer"},
    {"At most * signers *", "signer"},
    {"Template * has * signers*", "signer"},
    {"At least 1 file *", "file"},
    {"At most * files *", "file"},
    {"A file *", "file"},
    {"Only PDF *", "file"},
    {"All documents *", "file"},
    {"Document *", "file"},
    {NULL, NULL},
};

/* What follows "Signer 2 (…): " */
static const subject_t signer_subjects[] = {
    {"A lastname *", "lastname"},     {"An email *", "email"}, {"Invalid email *", "email"},
    {"A locale *", "locale"},         {"An order *", "order"}, {"An authentication code *", "code"},
    {"An authentication *", "check"}, {"*", "firstname"},      {NULL, NULL},
};

/* What follows "viewers: viewer 2: " */
static const subject_t viewer_subjects[] = {
    {"a lastname *", "lastname"}, {"lastname *", "lastname"}, {"email *", "email"},
    {"when *", "when"},           {"*", "firstname"},         {NULL, NULL},
};

static const char *subject_of(const subject_t *table, const char *message)
{
    while (table->pattern && apr_fnmatch(table->pattern, message, 0)) table++;
    return table->input;
}

/* If the message begins with the text and a number, sets the row and the input. */
static bool fault_in_row(sr_desk_fault_t *fault, const char *begin, const char *list, const subject_t *table)
{
    const size_t length = strlen(begin);
    if (strncmp(fault->message, begin, length) != 0) return false;
    char *rest;
    const long row = strtol(fault->message + length, &rest, 10);
    const char *reason = strstr(rest, "): "); /* after the address */
    if (!reason) reason = strstr(rest, ": ");
    if (row < 1 || row > INT_MAX || !reason) return false;
    fault->list = list;
    fault->row = (int)row;
    fault->input = subject_of(table, strchr(reason, ' ') + 1);
    return true;
}

sr_desk_fault_t sr_desk_new_fault(const sr_error_t *error, apr_pool_t *pool)
{
    sr_desk_fault_t fault = {.message = error->message, .language = "en"};
    if (!fault_in_row(&fault, "Signer ", "signer", signer_subjects)
        && !fault_in_row(&fault, "viewers: viewer ", "viewer", viewer_subjects))
        fault.input = subject_of(subjects, fault.message);
    return fault;
}
