/* SPDX-License-Identifier: Apache-2.0 */
/* completion.c: the certificate of completion. It says in plain words what happened to a submission, for people who
 * have its documents and no access to this service. It is in the language of the signers and in English, and is made
 * only from the records and the audit trail. A signer's uuid is the secret of their link, so the certificate contains
 * neither uuids of signers nor links. */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct work_t {
    const sr_completion_t *completion;
    const sr_submission_t *submission;
    const json_t *words[2]; /* the texts of both languages; the second may be NULL */
    apr_pool_t *pool;
} work_t;

/* --- words */

static const char *word(const work_t *work, int which, const char *key)
{
    const char *text = work->words[which] ? sr_json_string(work->words[which], key) : NULL;
    return text ? text : "";
}

/* Returns a text with its placeholder {…} replaced by the value. */
static const char *filled(const work_t *work, const char *text, const char *value)
{
    const char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;
    if (!close) return text;
    return apr_pstrcat(work->pool, apr_pstrmemdup(work->pool, text, (apr_size_t)(open - text)), value, close + 1, NULL);
}

/* Returns a label in both languages, such as "Geöffnet / Opened". */
static const char *label_with(const work_t *work, const char *key, const char *value)
{
    const char *own = filled(work, word(work, 0, key), value), *english = filled(work, word(work, 1, key), value);
    return *english && strcmp(own, english) != 0 ? apr_pstrcat(work->pool, own, " / ", english, NULL) : own;
}

static const char *label(const work_t *work, const char *key)
{
    return label_with(work, key, "");
}

/* --- rows: those without a value are left out */

static json_t *texts(const char *label, const char *value)
{
    return json_pack("[s,s]", label, value);
}

static void completion_add(json_t *rows, const char *label, const char *value)
{
    if (value && *value) json_array_append_new(rows, texts(label, value));
}

static void add_code(json_t *rows, const char *label, const char *value)
{
    if (!value || !*value) return;
    json_t *row = texts(label, value);
    json_array_append_new(row, json_string("code"));
    json_array_append_new(rows, row);
}

/* Adds two values side by side, if both exist. */
static void add_two(json_t *rows, const char *label, const char *value, const char *other_label, const char *other)
{
    if (!value || !*value || !other || !*other) {
        completion_add(rows, label, value);
        completion_add(rows, other_label, other);
        return;
    }
    json_t *row = texts(label, value);
    json_array_append_new(row, json_string(other_label));
    json_array_append_new(row, json_string(other));
    json_array_append_new(rows, row);
}

static json_t *item(const char *heading, json_t *rows)
{
    json_t *object = json_object();
    if (heading) json_object_set_new(object, "heading", json_string(heading));
    json_object_set_new(object, "rows", rows);
    return object;
}

static json_t *add_section(json_t *sections, const char *heading, json_t *items)
{
    json_t *object = json_object();
    if (heading) json_object_set_new(object, "heading", json_string(heading));
    json_object_set_new(object, "items", items);
    json_array_append_new(sections, object);
    return object;
}

static json_t *one_item(json_t *rows)
{
    return json_pack("[o]", item(NULL, rows));
}

/* --- times: in the time zone of the signer, if their browser has told it; else in that of this server */

sr_zone_t sr_zone_of_server(apr_time_t when, apr_pool_t *pool)
{
    const time_t seconds = (time_t)apr_time_sec(when);
    struct tm local = {0};
    localtime_r(&seconds, &local);
    return (sr_zone_t){apr_pstrdup(pool, local.tm_zone ? local.tm_zone : "UTC"), (int)(local.tm_gmtoff / 60)};
}

/* Returns the event of this kind and signer, or NULL. */
static const json_t *event_of(const work_t *work, const char *kind, const char *signer)
{
    for (size_t i = 0; i < json_array_size(work->completion->events); i++) {
        const json_t *event = json_array_get(work->completion->events, i);
        const char *its = sr_json_string(event, "event"), *whose = sr_json_string(event, "signer");
        if (its && !strcmp(its, kind) && (!signer || (whose && !strcmp(whose, signer)))) return event;
    }
    return NULL;
}

/* Returns what is recorded of the moment when a signer signed, or NULL. */
static const json_t *signed_detail(const work_t *work, const char *signer)
{
    const json_t *event = signer ? event_of(work, "signed", signer) : NULL;
    return event ? json_object_get(event, "detail") : NULL;
}

static bool has_zone(sr_zone_t *zone, const work_t *work, const char *signer)
{
    const json_t *detail = signed_detail(work, signer);
    const char *name = detail ? sr_json_string(detail, "timeZone") : NULL;
    if (!name) return false;
    *zone = (sr_zone_t){name, (int)json_integer_value(json_object_get(detail, "utcOffset"))};
    return true;
}

/* Returns a time such as "2026-11-20 19:09:23 +01:00"; NULL for 0. */
static const char *completion_time_text(const work_t *work, apr_time_t when, const char *signer)
{
    sr_zone_t zone;
    char text[SR_TIME_PRINTED];
    if (!when) return NULL;
    if (!has_zone(&zone, work, signer)) zone = sr_zone_of_server(when, work->pool);
    sr_time_print(text, "%Y-%m-%d %H:%M:%S", when + apr_time_from_sec((apr_time_t)zone.offset * 60));
    return apr_psprintf(work->pool, "%s %c%02d:%02d", text, zone.offset < 0 ? '-' : '+', abs(zone.offset) / 60,
                        abs(zone.offset) % 60);
}

/* Returns a time of an event; 0 if it has none. */
static apr_time_t time_at(const json_t *event, const char *key)
{
    const char *text = sr_json_string(event, key);
    apr_time_t when;
    return text && sr_time_parse(&when, text) ? when : 0;
}

/* --- values */

static const char *completion_name_of(const sr_signer_t *signer, apr_pool_t *pool)
{
    return sr_person_name(signer->firstname, signer->lastname, pool);
}

static const char *creator(const work_t *work)
{
    const sr_person_t *person = &work->submission->created_by;
    return sr_person_name(person->firstname, person->lastname, work->pool);
}

static const char *completion_requester(const work_t *work)
{
    const char *name = creator(work), *email = work->submission->created_by.email;
    return apr_pstrcat(work->pool, name, *name && email ? ", " : "", email ? email : "", NULL);
}

static const sr_signer_t *signer_at(const work_t *work, int index)
{
    return &APR_ARRAY_IDX(work->submission->signers, index, sr_signer_t);
}

static const char *kind_of_signature(const work_t *work, const char *type)
{
    static const char *const kinds[] = {"drawn", "typed", "uploaded"};
    for (size_t i = 0; type && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(type, kinds[i])) return label(work, kinds[i]);
    return type;
}

/* Returns a masked address such as "a…@example.org". */
static const char *masked(const char *email, apr_pool_t *pool)
{
    const char *at = strrchr(email, '@');
    apr_size_t first = 1;
    while (first < strlen(email) && (email[first] & 0xc0) == 0x80) first++;
    if (!at || (apr_size_t)(at - email) <= first) return email;
    return apr_pstrcat(pool, apr_pstrmemdup(pool, email, first), "\xe2\x80\xa6", at, NULL);
}

/* Returns how a signer was identified: by their link, which was sent to an address or handed over by the requester. */
static const char *identification(const work_t *work, const sr_signer_t *signer)
{
    const json_t *created = event_of(work, "created", NULL);
    if (!signer->email || !created || !json_is_true(json_object_get(json_object_get(created, "detail"), "sendEmail")))
        return label(work, "handed");
    return label_with(work, "mailed", masked(signer->email, work->pool));
}

/* Returns when the last signer signed; 0 if a signer has not signed. */
static apr_time_t completed_at(const work_t *work)
{
    apr_time_t last = 0;
    for (int i = 0; i < work->submission->signers->nelts; i++) {
        const apr_time_t when = signer_at(work, i)->completed_at;
        if (!when) return 0;
        if (when > last) last = when;
    }
    return last;
}

/* Returns the SHA-256 of the sealed document; NULL if no signer had a field in it. */
static const char *sealed_sha256(const work_t *work, const sr_document_state_t *document)
{
    for (int i = 0; i < work->submission->signers->nelts; i++)
        if (sr_signer_has_field(signer_at(work, i), document)) return sr_document_state_sha256(document);
    return NULL;
}

/* --- sections */

static json_t *submission_rows(const work_t *work)
{
    json_t *rows = json_array();
    add_code(rows, label(work, "identifier"), work->submission->uuid);
    completion_add(rows, label(work, "number"), sr_submission_number(work->submission->uuid, work->pool));
    completion_add(rows, label(work, "requester"), completion_requester(work));
    completion_add(rows, label(work, "organization"), work->completion->organization);
    add_two(rows, label(work, "created"), completion_time_text(work, work->submission->created_at, NULL),
            label(work, "completed"), completion_time_text(work, completed_at(work), NULL));
    return rows;
}

static json_t *document_items(const work_t *work)
{
    const apr_array_header_t *documents = work->submission->documents;
    json_t *items = json_array();
    for (int i = 0; i < documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(documents, i, sr_document_state_t);
        json_t *rows = json_array();
        completion_add(rows, label(work, "pages"), apr_itoa(work->pool, document->pages));
        add_code(rows, label(work, "sha256"), document->sha256);
        add_code(rows, label(work, "sha256.sealed"), sealed_sha256(work, document));
        json_array_append_new(items, item(document->name, rows));
    }
    return items;
}

/* --- signers: a table with a row for each of these members, and a column for each of two signers */

static const char *const MEMBERS[] = {"signature",      "email",
                                      "identification", "check",
                                      "check.to",       "check.user",
                                      "check.how",      "check.reference",
                                      "check.said",     "event.authenticated",
                                      "opened",         "signed",
                                      "zone",           "ip",
                                      "browser",        "consent",
                                      "terms"};
#define MEMBER_COUNT (sizeof MEMBERS / sizeof *MEMBERS)

/* Returns true if this signer has agreed to the same text as one of the `count` first signers. */
static bool is_repeated(const work_t *work, const sr_signer_t *signer, int count)
{
    for (int i = 0; i < count; i++) {
        const char *version = signer_at(work, i)->consent;
        if (version && signer->consent && !strcmp(version, signer->consent)) return true;
    }
    return false;
}

/* Returns true if all signers have agreed to the text of the first one. */
static bool all_agree(const work_t *work)
{
    for (int i = 0; i < work->submission->signers->nelts; i++)
        if (!is_repeated(work, signer_at(work, i), 1)) return false;
    return true;
}

/* Reads the values of these members. */
static void completion_read_values(const char *values[MEMBER_COUNT], const work_t *work, const sr_signer_t *signer)
{
    sr_zone_t zone;
    const bool knows_zone = has_zone(&zone, work, signer->uuid);
    const json_t *detail = signed_detail(work, signer->uuid);
    const char *when = completion_time_text(work, signer->completed_at, signer->uuid);
    const sr_identified_t check = sr_identified_read(work->completion->events, signer, work->pool);
    const char *const all[MEMBER_COUNT] = {kind_of_signature(work, signer->signature_type),
                                           signer->email,
                                           identification(work, signer),
                                           check.text ? label(work, check.text) : NULL,
                                           check.to,
                                           check.user,
                                           check.how,
                                           check.reference,
                                           completion_time_text(work, check.said_at, signer->uuid),
                                           completion_time_text(work, check.at, signer->uuid),
                                           completion_time_text(work, signer->opened_at, signer->uuid),
                                           when ? when : label(work, "unsigned"),
                                           knows_zone ? zone.name : NULL,
                                           signer->ip,
                                           signer->user_agent,
                                           all_agree(work) ? NULL : signer->consent,
                                           detail ? sr_json_string(detail, "termsUrl") : NULL};
    memcpy(values, all, sizeof all);
}

/* Begins a row of a table. The label is empty in the rows of names and signatures. */
static json_t *add_cells(json_t *rows, const char *label)
{
    json_t *row = json_pack("{s:[s]}", "cells", label);
    json_array_append_new(rows, row);
    return json_object_get(row, "cells");
}

/* Returns the drawing of a signature (sr_pdf_drawing), or NULL. */
static json_t *drawing_of(const work_t *work, const sr_signer_t *signer)
{
    const json_t *detail = signed_detail(work, signer->uuid);
    const char *text = detail ? sr_json_string(detail, "drawing") : NULL;
    json_t *drawing;
    return text && !sr_json_read(&drawing, text, work->pool) ? drawing : NULL;
}

/* Adds the names, and the drawings of the signatures with the texts that screen readers speak. */
static void add_names(json_t *rows, const work_t *work, int from, int to)
{
    json_t *names = add_cells(rows, ""), *drawings = json_array();
    bool has_drawing = false;
    json_object_set_new(json_array_get(rows, 0), "head", json_true());
    json_array_append_new(drawings, json_string(""));
    for (int i = from; i < to; i++) {
        const char *name = completion_name_of(signer_at(work, i), work->pool);
        json_t *drawing = drawing_of(work, signer_at(work, i));
        const char *spoken = apr_pstrcat(work->pool, label(work, "signature"), ": ", name, NULL);
        json_array_append_new(names, json_string(name));
        json_array_append_new(drawings, drawing ? json_pack("{s:O,s:s}", "drawing", drawing, "alternative", spoken)
                                                : json_null());
        has_drawing |= drawing != NULL;
    }
    if (has_drawing) json_array_append_new(rows, json_pack("{s:O}", "cells", drawings));
    json_decref(drawings);
}

static json_t *signer_rows(const work_t *work, int from, int to)
{
    const char *values[2][MEMBER_COUNT];
    json_t *rows = json_array();
    add_names(rows, work, from, to);
    for (int k = from; k < to; k++) completion_read_values(values[k - from], work, signer_at(work, k));
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        json_t *cells = add_cells(rows, label(work, MEMBERS[i]));
        bool has_value = false;
        for (int k = 0; k < to - from; k++) {
            const char *value = values[k][i];
            json_array_append_new(cells, json_string(value ? value : ""));
            has_value |= value && *value;
        }
        if (!has_value) json_array_remove(rows, json_array_size(rows) - 1);
    }
    return rows;
}

/* Each text to which signers have agreed is printed once. */
static json_t *consent_rows(const work_t *work)
{
    json_t *rows = json_array();
    for (int i = 0; i < work->submission->signers->nelts; i++) {
        const char *version = signer_at(work, i)->consent;
        if (!version || is_repeated(work, signer_at(work, i), i)) continue;
        const sr_consent_t *consent = sr_consent_of_version(version);
        completion_add(rows, apr_pstrcat(work->pool, label(work, "consent"), " (", version, ")", NULL),
                       consent ? consent->text : version);
    }
    return rows;
}

static void add_field_values(json_t *items, const work_t *work, const sr_signer_t *signer)
{
    json_t *rows = sr_entries_rows(signer, label(work, "yes"), label(work, "no"), work->pool);
    if (rows)
        json_array_append_new(items, item(label_with(work, "fields", completion_name_of(signer, work->pool)), rows));
}

static json_t *signer_items(const work_t *work)
{
    const int count = work->submission->signers->nelts;
    json_t *items = json_array();
    for (int i = 0; i < count; i += 2)
        json_array_append_new(items, item(NULL, signer_rows(work, i, i + 2 < count ? i + 2 : count)));
    for (int i = 0; i < count; i++) add_field_values(items, work, signer_at(work, i));
    json_array_append_new(items, item(NULL, consent_rows(work)));
    return items;
}

/* Returns true if the caller has done something with the check of a signer's identity. */
static bool is_by_caller(const char *kind)
{
    static const char *const kinds[] = {"authenticationChanged", "admitted", "unlocked"};
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kind, kinds[i])) return true;
    return false;
}

/* Returns the name of the signer or viewer who caused an event, and their address. An opening by another agent than the
 * signer's has this agent, because a program may have opened the link and not the signer. What the caller has done with
 * a check has only the signer's name, so that nobody takes the caller's address for the signer's. */
static const char *actor(const work_t *work, const json_t *event)
{
    const char *uuid = sr_json_string(event, "signer"), *ip = sr_json_string(event, "ip");
    const sr_signer_t *signer = uuid ? sr_submission_signer(work->submission, uuid) : NULL;
    const char *kind = sr_json_string(event, "event");
    const char *viewer = sr_viewer_name(work->submission, event, work->pool);
    const char *name = viewer ? viewer : !uuid ? creator(work) : signer ? completion_name_of(signer, work->pool) : "";
    const char *agent = kind && !strcmp(kind, "opened") ? sr_json_string(event, "userAgent") : NULL;
    if (is_by_caller(kind)) ip = NULL;
    if (agent && signer && signer->user_agent && !strcmp(agent, signer->user_agent)) agent = NULL;
    return apr_pstrcat(work->pool, name, *name && ip ? ", " : "", ip ? ip : "", agent ? ", " : "", agent, NULL);
}

static json_t *event_rows(const work_t *work)
{
    const sr_completion_t *completion = work->completion;
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(completion->events); i++) {
        const json_t *event = json_array_get(completion->events, i);
        const char *kind = sr_json_string(event, "event");
        const char *what = kind ? label(work, apr_pstrcat(work->pool, "event.", kind, NULL)) : "";
        const char *when = completion_time_text(work, time_at(event, "at"), sr_json_string(event, "signer"));
        if (kind && !*what) what = kind;
        json_t *row = json_pack("{s:[s,s,s]}", "event", when ? when : "", what, actor(work, event));
        if (row) json_array_append_new(rows, row);
    }
    add_code(rows, label(work, "hash"), completion->events_hash);
    return rows;
}

/* Sets the texts of the panel with the seal: how to check the documents, in both languages, and with what. */
static void set_seal(json_t *object, const work_t *work)
{
    const char *service = work->completion->service, *sha256 = work->completion->seal_sha256;
    const char *url = work->completion->verify_url;
    json_t *rows = json_array(), *notes = json_array();
    json_object_set_new(object, "seal",
                        json_string(service ? label_with(work, "sealed", service) : label(work, "seal")));
    for (int i = 0; i < 2; i++)
        if (work->words[i]) json_array_append_new(notes, json_string(word(work, i, "verify.reader")));
    json_object_set_new(object, "sealNotes", notes);
    completion_add(rows, label(work, "fingerprint"), sha256);
    completion_add(rows, label(work, "verify.page"), url);
    json_object_set_new(object, "sealRows", rows);
    json_object_set_new(object, "qr", sr_json_string_or_null(url));
    if (url)
        json_object_set_new(object, "qrText",
                            json_string(apr_pstrcat(work->pool, word(work, 0, "verify.page"), ": ", url, NULL)));
}

json_t *sr_completion_certificate(const sr_completion_t *completion, apr_pool_t *pool)
{
    const sr_submission_t *submission = completion->submission;
    const char *uuid = submission->uuid;
    const work_t made = {completion, submission, {completion->texts, completion->english}, pool}, *work = &made;
    json_t *object = json_object(), *sections = json_array();
    json_object_set_new(add_section(sections, NULL, one_item(submission_rows(work))), "panel", json_true());
    add_section(sections, label(work, "documents"), document_items(work));
    add_section(sections, label(work, "signers"), signer_items(work));
    add_section(sections, label(work, "events"), one_item(event_rows(work)));
    json_object_set_new(object, "title", json_string(word(work, 0, "title")));
    json_object_set_new(object, "second", json_string(word(work, 1, "title")));
    json_object_set_new(object, "subtitle", json_string(submission->name));
    if (completion->environment == SR_TEST) json_object_set_new(object, "banner", json_string(label(work, "test")));
    json_object_set_new(object, "sections", sections);
    set_seal(object, work);
    json_object_set_new(object, "footer",
                        json_string(apr_pstrcat(pool, word(work, 0, "title"), " \xc2\xb7 ", uuid, NULL)));
    json_object_set_new(object, "language", json_string(completion->language ? completion->language : "en"));
    if (completion->rtl) json_object_set_new(object, "dir", json_string("rtl"));
    json_object_set_new(object, "time", json_string(sr_time_format(completion->time, pool)));
    return object;
}
