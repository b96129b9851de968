/* SPDX-License-Identifier: Apache-2.0 */
/* review.c: compares all that is stored of a submission with its events. The events are verified first: their
 * numbers, hashes and commitments. Then they are replayed, and the rows must be what the events say. */
#include "model/model.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

#define DAY apr_time_from_sec(86400) /* gc keeps the history at least so long */

typedef struct review_t {
    const json_t *stored, *calls;
    json_t *faults;
    bool deleted;
    const char *state, *outcome, *certificate;
    bool held;
    json_t *signers;   /* uuid: {"state", "person": the object of the event that has their name, "values": of fields,
                          "demand": {"method"} of the check of their identity, or null; and, if these are true,
                          "identified" and "stranger": they have acted before they were identified} */
    json_t *viewers;   /* uuid: {"person"; and, if these are true, "viewed" and "revoked"} */
    json_t *documents; /* uuid: {"uploaded", "rewritten" (may be missing), "versions": SHA-256 of each revision} */
    json_t *expected;  /* event: how many calls the history must have */
    apr_pool_t *pool;
} review_t;

__attribute__((format(printf, 2, 3))) static void fault(const review_t *review, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    json_array_append_new(review->faults, json_string(apr_pvsprintf(review->pool, format, arguments)));
    va_end(arguments);
}

static bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static const char *shown(const char *text)
{
    return text ? text : "nothing";
}

/* As sigreqctl's other output, because a signer's uuid is the secret of their link. */
static const char *link_of(const review_t *review, const char *uuid)
{
    return apr_pstrndup(review->pool, uuid, SR_LINK_SHOWN);
}

static bool is_set(const json_t *value)
{
    return json_is_true(value) || json_integer_value(value) != 0;
}

/* --- calls */

/* Returns true if a call that was queued at this time must be in the history: gc cannot have deleted it. */
static bool is_kept(const review_t *review, apr_time_t at)
{
    const apr_time_t history = (apr_time_t)json_integer_value(json_object_get(review->stored, "history"));
    const apr_time_t clock = (apr_time_t)json_integer_value(json_object_get(review->stored, "clock"));
    return at > clock - DAY || (history && history <= at);
}

static void expect(const review_t *review, const char *event)
{
    const json_int_t count = json_integer_value(json_object_get(review->expected, event));
    json_object_set_new(review->expected, event, json_integer(count + 1));
}

/* A webhook was called if the token has its URL, and has called it before and after this event. `of` names the URL. */
static void expect_webhook(const review_t *review, const char *event, const char *of, apr_time_t at)
{
    const json_t *all = json_object_get(review->calls, shown(sr_json_string(review->stored, "token")));
    const json_t *range = json_object_get(all, of);
    const bool between =
        at > json_integer_value(json_array_get(range, 0)) && at < json_integer_value(json_array_get(range, 1));
    if (sr_json_string(json_object_get(review->stored, "urls"), of) && between && is_kept(review, at))
        expect(review, event);
}

static void expect_invitation(const review_t *review, const json_t *signer, apr_time_t at)
{
    const char *email = sr_json_string(json_object_get(signer, "person"), "email");
    if (is_set(json_object_get(review->stored, "send_email")) && email && is_kept(review, at))
        expect(review, "invitation");
}

static void check_calls(const review_t *review)
{
    const json_t *stored = review->stored;
    const char *event;
    json_t *value;
    json_object_foreach (review->expected, event, value) {
        const int found = (int)json_integer_value(json_object_get(json_object_get(stored, "calls"), event));
        const int wanted = (int)json_integer_value(value);
        if (found < wanted) fault(review, "the history has %d of %d calls of %s", found, wanted, event);
    }
    const json_int_t ends = json_integer_value(json_object_get(stored, "expires_at"));
    if (same(review->state, "open") && ends > json_integer_value(json_object_get(stored, "clock"))
        && !is_set(json_object_get(stored, "expiry")))
        fault(review, "nothing ends it at its deadline");
}

/* --- what the events say */

static json_t *review_signer_of(const review_t *review, const char *uuid)
{
    return uuid ? json_object_get(review->signers, uuid) : NULL;
}

static json_t *review_viewer_of(const review_t *review, const json_t *detail)
{
    const char *uuid = sr_json_string(detail, "viewer");
    return uuid ? json_object_get(review->viewers, uuid) : NULL;
}

static void set_state(const review_t *review, const char *uuid, const char *state)
{
    json_t *signer = review_signer_of(review, uuid);
    if (signer) json_object_set_new(signer, "state", json_string(state));
}

/* Returns [[name of the field, value]] of the fields of a row, or of the values of an event. New reference. */
static json_t *review_values(const json_t *list, const char *name)
{
    json_t *values = json_array(), *row;
    size_t i;
    json_array_foreach (list, i, row) {
        json_t *value = json_object_get(row, "value");
        if (value && !json_is_null(value))
            json_array_append_new(values, json_pack("[O,O]", json_object_get(row, name), value));
    }
    return values;
}

static void set_values(json_t *signer, const json_t *detail)
{
    if (signer) json_object_set_new(signer, "values", review_values(json_object_get(detail, "values"), "field"));
}

static void set_flag(json_t *signer, const char *flag)
{
    if (signer) json_object_set_new(signer, flag, json_true());
}

/* A signer signs or declines. */
static void acted(const review_t *review, const char *uuid, const char *state)
{
    set_state(review, uuid, state);
    json_t *signer = review_signer_of(review, uuid);
    if (!json_object_get(signer, "identified")) set_flag(signer, "stranger");
}

/* The identity of a signer is to be checked in another way, {"method"}, or not at all. */
static void demand(json_t *signer, json_t *check)
{
    if (!signer) return;
    json_object_set_new(signer, "demand", json_incref(json_is_object(check) ? check : json_null()));
    json_object_del(signer, "identified");
}

static json_int_t order_of(const json_t *signer)
{
    const json_t *order = json_object_get(signer, "order");
    return order ? json_integer_value(order) : 1;
}

static void add_document(const review_t *review, const json_t *row)
{
    const char *uuid = sr_json_string(row, "uuid"), *prepared = sr_json_string(row, "preparedSha256");
    if (!uuid) return;
    json_t *document = json_pack("{s:s?,s:s?,s:[]}", "uploaded", sr_json_string(row, "sha256"), "rewritten",
                                 sr_json_string(row, "normalisedSha256"), "versions");
    if (prepared) json_array_append_new(json_object_get(document, "versions"), json_string(prepared));
    json_object_set_new(review->documents, uuid, document);
}

/* `drafted`: it is not sent yet, so nobody is due, and nothing was called. The event of its sending says all again. */
static void created(review_t *review, const json_t *detail, bool drafted, apr_time_t at)
{
    json_t *signers = json_object_get(detail, "signers"), *documents = json_object_get(detail, "documents"), *row;
    json_int_t first = LLONG_MAX;
    size_t i;
    review->state = drafted ? "draft" : "open";
    json_array_foreach (json_object_get(detail, "viewers"), i, row)
        if (sr_json_string(row, "uuid"))
            json_object_set_new(review->viewers, sr_json_string(row, "uuid"), json_pack("{s:O}", "person", row));
    json_array_foreach (documents, i, row) add_document(review, row);
    json_array_foreach (signers, i, row)
        if (order_of(row) < first) first = order_of(row);
    json_array_foreach (signers, i, row) {
        const char *uuid = sr_json_string(row, "uuid");
        if (!uuid) continue;
        const bool due = order_of(row) == first && !drafted;
        json_t *signer = json_pack("{s:s,s:O}", "state", due ? "sent" : "waiting", "person", row);
        set_values(signer, row);
        demand(signer, json_object_get(row, "authentication"));
        json_object_set_new(review->signers, uuid, signer);
        if (due) expect_invitation(review, signer, at);
    }
    if (!drafted) expect_webhook(review, "sent", "sent", at);
}

static void replaced(const review_t *review, const json_t *detail, apr_time_t at)
{
    const char *uuid = sr_json_string(detail, "signer"), *old = sr_json_string(detail, "replaces");
    const bool due = !same(sr_json_string(review_signer_of(review, old), "state"), "waiting");
    if (!uuid) return;
    json_t *signer = json_pack("{s:s,s:O}", "state", due ? "sent" : "waiting", "person", detail);
    json_object_set(signer, "values", json_object_get(review_signer_of(review, old), "values"));
    demand(signer, json_object_get(detail, "authentication"));
    json_object_set_new(review->signers, uuid, signer);
    set_state(review, old, "replaced");
    if (due) expect_invitation(review, signer, at);
}

/* "signed" and "archived" name the documents that were continued. */
static void revised(const review_t *review, const json_t *detail, int number)
{
    json_t *row;
    size_t i;
    json_array_foreach (json_object_get(detail, "documents"), i, row) {
        const char *uuid = sr_json_string(row, "uuid"), *before = sr_json_string(row, "before");
        const json_t *document = uuid ? json_object_get(review->documents, uuid) : NULL;
        json_t *versions = json_object_get(document, "versions");
        const size_t count = json_array_size(versions);
        const char *rewritten = sr_json_string(document, "rewritten");
        const char *last = count       ? json_string_value(json_array_get(versions, count - 1))
                           : rewritten ? rewritten
                                       : sr_json_string(document, "uploaded");
        if (!same(before, last))
            fault(review, "event %d continues another version of document %s", number, shown(uuid));
        json_array_append(versions, json_object_get(row, "after"));
    }
}

static void closed(review_t *review, const char *kind, const json_t *event, apr_time_t at)
{
    const json_t *detail = json_object_get(event, "detail");
    if (!strcmp(kind, "deleted")) {
        review->outcome = sr_json_string(detail, "outcome");
        if (!same(review->outcome, review->state))
            fault(review, "it was %s and deleted as %s", shown(review->state), shown(review->outcome));
    }
    if (!strcmp(kind, "completed")) {
        review->certificate = sr_json_string(detail, "certificate");
        expect_webhook(review, "completed", "completed", at);
    }
    if (!strcmp(kind, "refused")) {
        acted(review, sr_json_string(event, "signer"), "refused");
        expect_webhook(review, "refused", "signed", at);
    }
    review->state = kind;
}

static void replay(review_t *review, const json_t *event, int number)
{
    const char *kind = sr_json_string(event, "event"), *signer = sr_json_string(event, "signer");
    const char *when = sr_json_string(event, "at");
    const json_t *detail = json_object_get(event, "detail");
    sr_submission_state_t state;
    apr_time_t at = 0;
    if (!kind || !when || !sr_time_parse(&at, when)) return;
    if (!strcmp(kind, "created") || !strcmp(kind, "drafted")) created(review, detail, *kind == 'd', at);
    else if (!strcmp(kind, "replaced")) replaced(review, detail, at);
    else if (!strcmp(kind, "opened")) set_state(review, signer, "opened");
    else if (!strcmp(kind, "authenticated")) set_flag(review_signer_of(review, signer), "identified");
    else if (!strcmp(kind, "viewed") || !strcmp(kind, "revoked")) set_flag(review_viewer_of(review, detail), kind);
    else if (!strcmp(kind, "authenticationChanged"))
        demand(review_signer_of(review, signer), json_object_get(detail, "after"));
    else if (!strcmp(kind, "held") || !strcmp(kind, "released")) review->held = !strcmp(kind, "held");
    else if (!strcmp(kind, "archived")) revised(review, detail, number);
    else if (!strcmp(kind, "due")) {
        set_state(review, signer, "sent");
        expect_invitation(review, review_signer_of(review, signer), at);
    } else if (!strcmp(kind, "signed")) {
        acted(review, signer, "completed");
        set_values(review_signer_of(review, signer), detail);
        revised(review, detail, number);
        expect_webhook(review, "signed", "signed", at);
    } else if (sr_submission_state_parse(&state, kind)) closed(review, kind, event, at);
}

/* --- the chain */

static const json_t *review_read_text(const json_t *text, apr_pool_t *pool)
{
    json_t *value = NULL;
    return json_is_string(text) && !sr_json_read(&value, json_string_value(text), pool) ? value : NULL;
}

/* Verifies one row of the chain, [number, hash, body, personal], and replays it. Sets *hash to its hash. */
static void check_event(review_t *review, const char **hash, const json_t *row, int number)
{
    json_t *event = (json_t *)review_read_text(json_array_get(row, 2), review->pool);
    const json_t *personal = review_read_text(json_array_get(row, 3), review->pool);
    const bool is_number = json_integer_value(json_array_get(row, 0)) == number
                           && json_integer_value(json_object_get(event, "number")) == number;
    const char *wrong = !json_is_object(event) ? "it cannot be read"
                        : !is_number           ? "its number is wrong, or one before it is missing"
                        : !same(sr_json_string(event, "previousHash"), *hash)
                            ? "it does not have the hash of the event before it"
                            : sr_event_fault(event, personal, review->deleted, review->pool);
    *hash = json_string_value(json_array_get(row, 1));
    if (!wrong && !same(*hash, sr_json_string(event, "hash"))) wrong = "its row has another hash";
    if (wrong) fault(review, "event %d: %s", number, wrong);
    if (!json_is_object(event)) return;
    sr_event_reveal(event, personal, review->pool);
    replay(review, event, number);
}

static void check_chain(review_t *review)
{
    const json_t *events = json_object_get(review->stored, "events");
    const char *hash = NULL;
    const int count = (int)json_array_size(events);
    for (int i = 0; i < count; i++) check_event(review, &hash, json_array_get(events, (size_t)i), i + 1);
    const int recorded = (int)json_integer_value(json_object_get(review->stored, "events_count"));
    if (recorded != count) fault(review, "it has %d events instead of %d", count, recorded);
    else if (!same(hash, sr_json_string(review->stored, "events_hash")))
        fault(review, "the hash of its last event is another one than it has recorded");
}

/* --- the rows */

/* `what`: "signer" or "viewer". */
static void check_person(const review_t *review, const char *what, const json_t *row, const json_t *person)
{
    static const char *const members[] = {"firstname", "lastname", "email"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!same(sr_json_string(row, members[i]), sr_json_string(person, members[i])))
            fault(review, "%s %s has another %s than the events say", what,
                  link_of(review, sr_json_string(row, "uuid")), members[i]);
}

/* The fields of a draft change without events. */
static void check_values(const review_t *review, const json_t *row, const json_t *signer)
{
    if (same(review->state, "draft")) return;
    json_t *values = review_values(json_object_get(row, "fields"), "name");
    if (!json_equal(values, json_object_get(signer, "values")))
        fault(review, "signer %s has other values of fields than the events say",
              link_of(review, sr_json_string(row, "uuid")));
    json_decref(values);
}

/* Returns what is wrong with the check of a signer's identity, or NULL. */
static const char *identity_fault(const json_t *row, const json_t *signer)
{
    const json_t *check = json_object_get(row, "authentication");
    if (!same(sr_json_string(check, "method"), sr_json_string(json_object_get(signer, "demand"), "method")))
        return "is not checked as the events say";
    if (!json_is_object(check)) return NULL;
    if (json_object_get(signer, "stranger")) return "has acted without a check of their identity";
    if (is_set(json_object_get(check, "passed_at")) && !json_object_get(signer, "identified"))
        return "has passed a check that is in no event";
    return NULL;
}

static void check_identity(const review_t *review, const json_t *row, const json_t *signer)
{
    const char *wrong = identity_fault(row, signer);
    if (wrong) fault(review, "signer %s %s", link_of(review, sr_json_string(row, "uuid")), wrong);
}

static void check_signers(const review_t *review)
{
    const json_t *rows = json_object_get(review->stored, "signers");
    const char *uuid;
    json_t *row, *signer;
    size_t i;
    json_array_foreach (rows, i, row) {
        const char *name = shown(sr_json_string(row, "uuid"));
        const char *state = shown(sr_json_string(row, "state"));
        signer = json_object_get(review->signers, name);
        if (!signer || json_object_get(signer, "seen"))
            fault(review, "signer %s is in no event", link_of(review, name));
        else if (!same(state, sr_json_string(signer, "state")))
            fault(review, "signer %s is %s, but the events say %s", link_of(review, name), state,
                  shown(sr_json_string(signer, "state")));
        if (!signer) continue;
        check_person(review, "signer", row, json_object_get(signer, "person"));
        check_values(review, row, signer);
        check_identity(review, row, signer);
        json_object_set_new(signer, "seen", json_true());
    }
    json_object_foreach (review->signers, uuid, signer)
        if (!json_object_get(signer, "seen")) fault(review, "signer %s is missing", link_of(review, uuid));
}

static void check_viewer(const review_t *review, const json_t *row)
{
    const char *uuid = shown(sr_json_string(row, "uuid"));
    json_t *viewer = json_object_get(review->viewers, uuid);
    if (!viewer) {
        fault(review, "viewer %s is in no event", link_of(review, uuid));
        return;
    }
    check_person(review, "viewer", row, json_object_get(viewer, "person"));
    if (is_set(json_object_get(row, "opened_at")) != json_is_true(json_object_get(viewer, "viewed"))
        || is_set(json_object_get(row, "revoked_at")) != json_is_true(json_object_get(viewer, "revoked")))
        fault(review, "the link of viewer %s was not opened or revoked as the events say", link_of(review, uuid));
    set_flag(viewer, "seen");
}

static void check_viewers(const review_t *review)
{
    const char *uuid;
    json_t *row, *viewer;
    size_t i;
    json_array_foreach (json_object_get(review->stored, "viewers"), i, row) check_viewer(review, row);
    json_object_foreach (review->viewers, uuid, viewer)
        if (!json_object_get(viewer, "seen")) fault(review, "viewer %s is missing", link_of(review, uuid));
}

/* Returns true if the revisions of a row are the versions of the events. */
static bool has_versions(const json_t *row, const json_t *versions)
{
    const json_t *revisions = json_object_get(row, "revisions");
    if (json_array_size(revisions) != json_array_size(versions)) return false;
    for (size_t i = 0; i < json_array_size(versions); i++)
        if (!same(sr_json_string(json_array_get(revisions, i), "whole_sha256"),
                  json_string_value(json_array_get(versions, i))))
            return false;
    return true;
}

static void review_check_documents(const review_t *review)
{
    const json_t *rows = json_object_get(review->stored, "documents");
    const char *uuid;
    json_t *row, *document;
    size_t i;
    json_array_foreach (rows, i, row) {
        const char *name = shown(sr_json_string(row, "uuid"));
        document = json_object_get(review->documents, name);
        if (!document) fault(review, "document %s is in no event", name);
        else if (!same(sr_json_string(row, "sha256"), sr_json_string(document, "uploaded"))
                 || !same(sr_json_string(row, "rewritten_sha256"), sr_json_string(document, "rewritten")))
            fault(review, "document %s is another one than the events say", name);
        else if (!has_versions(row, json_object_get(document, "versions")))
            fault(review, "the revisions of document %s are not those of the events", name);
        if (document) json_object_set_new(document, "seen", json_true());
    }
    json_object_foreach (review->documents, uuid, document)
        if (!json_object_get(document, "seen")) fault(review, "document %s is missing", uuid);
}

static void check_deleted(const review_t *review)
{
    const json_t *stored = review->stored;
    if (json_array_size(json_object_get(stored, "signers")) || json_array_size(json_object_get(stored, "documents"))
        || json_array_size(json_object_get(stored, "viewers")) || json_object_size(json_object_get(stored, "calls"))
        || sr_json_string(stored, "certificate"))
        fault(review, "it was deleted, but has signers, viewers, documents or calls");
    if (!same(sr_json_string(stored, "outcome"), review->outcome))
        fault(review, "its outcome is not that of the events");
}

json_t *sr_evidence_faults(const json_t *stored, const json_t *calls, apr_pool_t *pool)
{
    const char *state = shown(sr_json_string(stored, "state"));
    review_t review = {.stored = stored,
                       .calls = calls,
                       .faults = json_array(),
                       .deleted = !strcmp(state, "deleted"),
                       .signers = sr_json_own(json_object(), pool),
                       .viewers = sr_json_own(json_object(), pool),
                       .documents = sr_json_own(json_object(), pool),
                       .expected = sr_json_own(json_object(), pool),
                       .pool = pool};
    check_chain(&review);
    if (!same(state, review.state)) fault(&review, "it is %s, but the events say %s", state, shown(review.state));
    if (review.deleted) {
        check_deleted(&review);
        return review.faults;
    }
    if (is_set(json_object_get(stored, "held")) != review.held)
        fault(&review, "its legal hold is not that of the events");
    if (!same(sr_json_string(stored, "certificate"), review.certificate))
        fault(&review, "its certificate of completion is not that of the events");
    check_signers(&review);
    check_viewers(&review);
    review_check_documents(&review);
    check_calls(&review);
    return review.faults;
}
