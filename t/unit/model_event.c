/* SPDX-License-Identifier: Apache-2.0 */
/* model_event.c: tests of src/model/event.c: the canonical form is exactly that of RFC 8785, the hash is computed
 * from it, and each event has the hash of the previous one. */
#include "model/model.h"
#include "tap.h"

#include <apr_general.h>

static apr_pool_t *pool;

#define ANN "22222222-d9cb-469f-a165-70867728950e"
#define AT APR_TIME_C(1795198163123456)

static json_t *detail_of(const char *text)
{
    json_t *detail;
    if (sr_json_parse(&detail, text, strlen(text), pool)) abort();
    return detail;
}

/* Makes a first event with this detail. */
static sr_event_text_t event_with(const char *detail)
{
    sr_event_text_t text;
    const sr_event_t event = {"signed", AT, ANN, {.ip = "::1", .user_agent = "Agent/7"}, detail_of(detail)};
    sr_event_write(&text, &event, 1, NULL, pool);
    return text;
}

static void test_form(void)
{
    const sr_event_t event = {
        "signed", AT, ANN, {0}, detail_of("{\"b\":2,\"a\":\"x\",\"B\":null,\"aa\":[1,{\"z\":0,\"y\":-7}]}")};
    sr_event_text_t text;
    static const char before[] = "{\"at\":\"2026-11-20T18:09:23.123Z\",\"commitments\":{},\"detail\":{\"B\":null,"
                                 "\"a\":\"x\",\"aa\":[1,{\"y\":-7,\"z\":0}],\"b\":2},"
                                 "\"event\":\"signed\",",
                      after[] =
                          "\"ip\":null,\"number\":1,\"previousHash\":null,\"signer\":\"" ANN "\",\"userAgent\":null}";
    sr_event_write(&text, &event, 1, NULL, pool);
    is_str(text.hash, sr_sha256_hex(apr_pstrcat(pool, before, after, NULL), strlen(before) + strlen(after), pool),
           "the hash is that of the members in order, without white space and without the member hash");
    is_str(text.body, apr_pstrcat(pool, before, "\"hash\":\"", text.hash, "\",", after, NULL),
           "the event has the same members and its hash");
    is_str(text.personal, NULL, "it has no personal values");
}

static void test_nobody(void)
{
    sr_event_text_t text;
    const sr_event_t event = {"completed", AT, NULL, {0}, detail_of("{}")};
    sr_event_write(&text, &event, 12, "abc", pool);
    ok(strstr(text.body, "\"ip\":null,\"number\":12,\"previousHash\":\"abc\",\"signer\":null,\"userAgent\":null}"),
       "an event without a signer has null");
}

/* RFC 8785, 3.2.2.2: strings are written as in ECMAScript. */
static void test_strings(void)
{
    static const struct {
        const char *sent, *written, *name;
    } cases[] = {
        {"\\u0000x", NULL, "NUL is refused"},
        {"\\u0001\\u000b\\u000e\\u001F\\u001f", "\\u0001\\u000b\\u000e\\u001f\\u001f", "other control characters"},
        {"\\u0008\\u0009\\u000A\\u000C\\u000D", "\\b\\t\\n\\f\\r", "control characters with a name"},
        {"\\\"\\\\\\/", "\\\"\\\\/", "quote, backslash and slash"},
        {"\\\\u001F\\\\\\u001F", "\\\\u001F\\\\\\u001f", "an escaped backslash"},
        {"\x7f\\u007F\\u0080", "\x7f\x7f\xc2\x80", "control characters that JSON does not escape"},
        {"\\u20AC\\u2028\xe2\x82\xac", "\xe2\x82\xac\xe2\x80\xa8\xe2\x82\xac", "other scripts"},
        {"\\uD83D\\uDE00", "\xf0\x9f\x98\x80", "a character of four bytes"},
        {"e\\u0301", "e\xcc\x81", "Unicode is not normalised"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *sent = apr_pstrcat(pool, "{\"t\":\"", cases[i].sent, "\"}", NULL);
        json_t *detail;
        if (!cases[i].written) {
            ok(sr_json_parse(&detail, sent, strlen(sent), pool) != NULL, "%s", cases[i].name);
            continue;
        }
        const char *want = apr_pstrcat(pool, "\"detail\":{\"t\":\"", cases[i].written, "\"}", NULL);
        const sr_event_text_t text = event_with(sent);
        if (!ok(strstr(text.body, want) != NULL, "%s", cases[i].name)) printf("#   %s\n", text.body);
    }
}

static void test_numbers(void)
{
    const sr_event_text_t text = event_with("{\"n\":[0,-0,1,-1,9007199254740991,-9007199254740991]}");
    ok(strstr(text.body, "\"n\":[0,0,1,-1,9007199254740991,-9007199254740991]"), "whole numbers");
}

/* Verifies an event as a client does: removes the hash, writes the rest in canonical form, and compares. */
static bool is_sound(const char *body, const char **hash)
{
    json_t *event = detail_of(body);
    const char *text;
    *hash = apr_pstrdup(pool, sr_json_string(event, "hash"));
    json_object_del(event, "hash");
    char *dumped = json_dumps(event, JSON_COMPACT | JSON_SORT_KEYS);
    text = sr_sha256_hex(dumped, strlen(dumped), pool);
    free(dumped);
    return !strcmp(text, *hash);
}

static void test_chain(void)
{
    const char *previous = NULL, *bodies[5], *hash;
    int i, linked = 0, sound = 0;
    for (i = 0; i < 5; i++) {
        const sr_event_t event = {i ? "opened" : "created", AT + i * 1000, ANN, {.ip = "::1"}, detail_of("{\"a\":1}")};
        sr_event_text_t text;
        sr_event_write(&text, &event, i + 1, previous, pool);
        bodies[i] = text.body;
        sound += is_sound(text.body, &hash);
        linked += previous ? !strcmp(sr_json_string(detail_of(text.body), "previousHash"), previous) : 1;
        previous = text.hash;
    }
    is_int(sound, 5, "a client computes the same hash for each event");
    is_int(linked, 5, "each event has the hash of the previous one");

    char *changed = apr_pstrdup(pool, bodies[2]);
    *strstr(changed, "opened") = '1';
    ok(!is_sound(changed, &hash), "a changed event is detected");
    ok(strcmp(sr_json_string(detail_of(bodies[3]), "previousHash"), sr_json_string(detail_of(bodies[1]), "hash")) != 0,
       "a missing event is detected");
}

static void test_differences(void)
{
    const sr_event_t one = {"opened", AT, ANN, {0}, detail_of("{}")};
    sr_event_t others[] = {one, one, one, one, one, one};
    sr_event_text_t text, other;
    size_t i;
    others[0].kind = "signed";
    others[1].at += 1000;
    others[2].signer = NULL;
    others[3].client.ip = "::2";
    others[4].client.user_agent = "B";
    others[5].detail = detail_of("{\"a\":null}");
    sr_event_write(&text, &one, 1, NULL, pool);
    for (i = 0; i < sizeof others / sizeof *others; i++) {
        sr_event_write(&other, &others[i], 1, NULL, pool);
        ok(strcmp(text.hash, other.hash) != 0, "difference %d changes the hash", (int)i);
    }
    sr_event_write(&other, &one, 2, NULL, pool);
    ok(strcmp(text.hash, other.hash) != 0, "another number changes the hash");
    sr_event_write(&other, &one, 1, "x", pool);
    ok(strcmp(text.hash, other.hash) != 0, "another previous hash changes the hash");
    sr_event_write(&other, &one, 1, NULL, pool);
    is_str(other.hash, text.hash, "the same event has the same hash");
}

/* --- personal values */

#define DETAIL                                                                                                         \
    "{\"documents\":[{\"name\":\"Miete Küche.pdf\",\"sha256\":\"aa\"}],\"reason\":\"a\\nb\",\"sendEmail\":true,"      \
    "\"signers\":[{\"email\":null,\"firstname\":\"Ann\",\"lastname\":\"Lee\",\"uuid\":\"" ANN                          \
    "\"}],\"timeZone\":\"Europe/Berlin\",\"utcOffset\":60}"

/* Checks a commitment as docs/api.md describes it. */
static void check_commitment(const json_t *event, const char *path, const char *value)
{
    const char *salt = sr_json_string(json_object_get(event, "salts"), path);
    const char *digest = sr_json_string(json_object_get(event, "commitments"), path);
    if (!ok(salt && strlen(salt) == 32, "%s has a salt of 128 bits", path)) return;
    const char *salted = apr_pstrcat(pool, salt, value, NULL);
    is_str(digest, sr_sha256_hex(salted, strlen(salted), pool), "the commitment of %s", path);
}

static json_t *shown(const sr_event_text_t *text, bool erased)
{
    json_t *events;
    const char *rows =
        apr_pstrcat(pool, "[[", text->body, ",", text->personal && !erased ? text->personal : "null", "]]", NULL);
    if (sr_events_read(&events, rows, pool)) abort();
    return json_array_get(events, 0);
}

static void test_personal(void)
{
    static const char *const values[] = {"Küche", "a\\nb", "Ann", "Lee", "Berlin", "60", "::1", "Agent/7"};
    const sr_event_text_t text = event_with(DETAIL);
    const char *hash;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (values[i][0] == '6') continue; /* digests have it, too */
        ok(!strstr(text.body, values[i]), "%s is not in what is hashed", values[i]);
        ok(strstr(text.personal, values[i]), "%s is beside what is hashed", values[i]);
    }
    ok(is_sound(text.body, &hash), "the hash is right");
    const json_t *event = shown(&text, false), *commitments = json_object_get(event, "commitments");
    ok(json_equal(json_object_get(event, "detail"), detail_of(DETAIL)), "the detail is shown as it was written");
    is_str(sr_json_string(event, "ip"), "::1", "and so is the address");
    is_str(sr_json_string(event, "userAgent"), "Agent/7", "and the browser");
    is_int((int)json_object_size(commitments), 8, "each value has a commitment, null has none");
    check_commitment(event, "ip", "::1");
    check_commitment(event, "userAgent", "Agent/7");
    check_commitment(event, "detail.documents.0.name", "Miete Küche.pdf");
    check_commitment(event, "detail.reason", "a\nb");
    check_commitment(event, "detail.signers.0.firstname", "Ann");
    check_commitment(event, "detail.signers.0.lastname", "Lee");
    check_commitment(event, "detail.timeZone", "Europe/Berlin");
    check_commitment(event, "detail.utcOffset", "60");
}

/* A drawing is stored beside the event. The trail shows its SHA-256, which is committed to like any other value. */
static void test_drawing(void)
{
    static const char drawing[] = "{\\\"text\\\":\\\"Ann\\\"}";
    const sr_event_text_t text = event_with(apr_psprintf(pool, "{\"drawing\":\"%s\"}", drawing));
    json_t *event = detail_of(text.body), *personal = detail_of(text.personal), *pair;
    ok(!strstr(text.body, "Ann"), "the event does not have the drawing");
    is_str(sr_event_drawing(personal), "{\"text\":\"Ann\"}", "the drawing is stored beside it");
    is_str(sr_event_fault(event, personal, false, pool), NULL, "hash and commitment are right");
    sr_event_reveal(event, personal, pool);
    is_str(sr_json_string(json_object_get(event, "detail"), "drawing"),
           "d745f62db04b24adcd359d5092cbe30a4959eeb9e7292665c11bbcd899268a58", "the event shows its SHA-256");
    event = detail_of(text.body);
    pair = json_object_get(personal, "detail.drawing");
    json_array_set_new(pair, 2, json_string("{\"text\":\"Bob\"}"));
    is_str(sr_event_fault(event, personal, false, pool), "the drawing is another one", "a changed drawing is found");
    is_str(sr_event_drawing(NULL), NULL, "an event without personal values has none");
}

static void test_erased(void)
{
    const sr_event_text_t text = event_with(DETAIL), other = event_with(DETAIL);
    const json_t *event = shown(&text, true);
    ok(!json_object_get(event, "ip") && !json_object_get(event, "salts"), "an erased event has no values and no salts");
    is_str(sr_json_string(event, "hash"), text.hash, "its hash stays");
    is_int((int)json_object_size(json_object_get(event, "commitments")), 8, "and so do the commitments");
    ok(strcmp(text.hash, other.hash) != 0, "the same values have other salts in another event");
    const sr_event_text_t old = {NULL, "{\"hash\":\"x\",\"ip\":\"::1\",\"number\":1}", NULL};
    ok(json_equal(shown(&old, false), detail_of(old.body)), "an event from before is shown as it is");
}

/* --- for one person */

#define BOB "44444444-d9cb-469f-a165-70867728950e"
#define CID "55555555-d9cb-469f-a165-70867728950e"
#define CREATED                                                                                                        \
    "{\"documents\":[{\"name\":\"Lease.pdf\",\"uuid\":\"" CID                                                          \
    "\"}],\"signers\":[{\"firstname\":\"Ann\",\"uuid\":\"" ANN "\"},{\"firstname\":\"Bob\",\"uuid\":\"" BOB            \
    "\"}],\"submission\":\"" CID "\",\"token\":\"" CID "\"}"
#define REPLACED "{\"firstname\":\"Bob\",\"replaces\":\"" ANN "\",\"signer\":\"" BOB "\"}"

/* Returns what a person gets of an event, as canonical JSON. `old`: it is from before there were commitments. */
static const char *disclosed(const char *kind, const char *signer, const char *detail, const char *link, bool caller,
                             bool old)
{
    const sr_event_t event = {kind, AT, signer, {.ip = "::1", .user_agent = "Agent/7"}, detail_of(detail)};
    const sr_event_reader_t reader = {sr_json_own(link ? json_pack("[s]", link) : json_array(), pool), caller};
    json_t *shown, *personal = NULL;
    sr_event_text_t text;
    sr_event_write(&text, &event, 1, NULL, pool);
    shown = detail_of(text.body);
    if (text.personal) personal = detail_of(text.personal);
    if (old) {
        sr_event_reveal(shown, personal, pool);
        json_object_del(shown, "salts");
        json_object_del(shown, "commitments");
        personal = json_null();
    }
    sr_event_disclose(shown, personal, &reader, pool);
    return sr_json_text(shown, pool);
}

/* Each text of `has`, which are separated by spaces, is in the event, and none of `lacks`. */
static void check_disclosed(const char *text, const char *has, const char *lacks, const char *name)
{
    char *state, *copy = apr_pstrdup(pool, has);
    for (const char *one = apr_strtok(copy, " ", &state); one; one = apr_strtok(NULL, " ", &state))
        if (!ok(strstr(text, one) != NULL, "%s: has %s", name, one)) printf("#   %s\n", text);
    copy = apr_pstrdup(pool, lacks);
    for (const char *one = apr_strtok(copy, " ", &state); one; one = apr_strtok(NULL, " ", &state))
        if (!ok(!strstr(text, one), "%s: lacks %s", name, one)) printf("#   %s\n", text);
}

#define VIEWED                                                                                                         \
    "{\"viewers\":[{\"uuid\":\"" ANN "\",\"firstname\":\"Ann\"},{\"uuid\":\"" BOB "\",\"firstname\":\"Bob\"}]}"

static void test_disclosed(void)
{
    for (int old = 0; old < 2; old++) {
        const char *text = disclosed("created", NULL, CREATED, ANN, false, old);
        check_disclosed(text, "Lease.pdf \"Ann\" \"22222222\" \"44444444\" " CID, "Bob ::1 Agent/7 " ANN " " BOB,
                        "created, for a signer");
        text = disclosed("created", NULL, CREATED, NULL, true, old);
        check_disclosed(text, "Lease.pdf ::1 Agent/7", "Ann Bob " ANN, "created, for the caller");
        text = disclosed("signed", ANN, "{\"timeZone\":\"Europe/Berlin\",\"utcOffset\":60}", ANN, false, old);
        check_disclosed(text, "::1 Agent/7 Berlin \"22222222\"", ANN, "signed, for the signer");
        text = disclosed("refused", ANN, "{\"reason\":\"Rent\"}", BOB, true, old);
        check_disclosed(text, "\"22222222\"", "::1 Agent/7 Rent", "refused, for another signer who is the caller");
        text = disclosed("reminded", ANN, "{\"automatic\":false}", ANN, false, old);
        check_disclosed(text, "\"22222222\"", "::1 Agent/7", "reminded, for the signer: the address is the caller's");
        text = disclosed("viewed", NULL, "{\"viewer\":\"" ANN "\"}", ANN, false, old);
        check_disclosed(text, "::1 Agent/7 \"22222222\"", ANN, "viewed, for the viewer");
        text = disclosed("viewed", NULL, "{\"viewer\":\"" ANN "\"}", BOB, true, old);
        check_disclosed(text, "\"22222222\"", "::1 Agent/7 " ANN, "viewed, for a signer who is the caller");
        text = disclosed("created", NULL, VIEWED, ANN, false, old);
        check_disclosed(text, "\"Ann\" \"22222222\"", "Bob " ANN " " BOB, "created, for a viewer");
        text = disclosed("replaced", NULL, REPLACED, ANN, false, old);
        check_disclosed(text, "\"44444444\" \"22222222\"", "Bob ::1", "replaced, for the old signer");
        check_disclosed(disclosed("replaced", NULL, REPLACED, BOB, false, old), "Bob", "::1",
                        "replaced, for the new signer");
    }
    const char *text = disclosed("created", NULL, CREATED, ANN, false, false);
    check_disclosed(text, "\"salts\":{\"detail.documents.0.name\": detail.signers.0.firstname", "salts\":{}",
                    "salts of what is there");
    ok(!strstr(strstr(text, "\"salts\""), "signers.1"), "there is no salt of anybody else");
}

/* The sender's words and the addresses for replies and copies are the caller's. */
static void test_words(void)
{
    static const char created[] = "{\"message\":{\"text\":\"Words\"},\"replyTo\":\"legal@x.org\","
                                  "\"copies\":{\"to\":[\"archive@x.org\"]},\"refusal\":{\"reason\":\"required\"}}";
    const sr_event_text_t text = event_with(created);
    ok(!strstr(text.body, "Words") && !strstr(text.body, "@x.org"), "there are commitments in their place");
    for (int old = 0; old < 2; old++) {
        check_disclosed(disclosed("created", NULL, created, ANN, false, old), "created", "Words @x.org",
                        "the sender's words, for a signer");
        check_disclosed(disclosed("created", NULL, created, NULL, true, old), "Words legal@x.org archive@x.org", ANN,
                        "the sender's words, for the caller");
    }
}

#define FILLED(value) "\"values\":[{\"document\":\"" CID "\",\"field\":\"Rent\",\"value\":" value "}]"

/* The values of fields are personal: of the signer who has the field. */
static void test_values(void)
{
    static const char created[] =
        "{\"signers\":[{\"uuid\":\"" ANN "\"," FILLED("\"Rent-of-Ann\"") "},{\"uuid\":\"" BOB
                                                                         "\"," FILLED("\"Rent-of-Bob\"") "}]}";
    const sr_event_text_t text = event_with("{" FILLED("true") "}");
    ok(!strstr(text.body, "\"value\"") && strstr(text.body, "\"detail.values.0.value\":"),
       "a value is replaced by its commitment");
    ok(strstr(text.personal, "\"detail.values.0.value\":[") && strstr(text.personal, ",true]"), "it can be erased");
    is_str(sr_event_fault(detail_of(text.body), detail_of(text.personal), false, pool), NULL, "the event is sound");
    for (int old = 0; old < 2; old++) {
        check_disclosed(disclosed("created", NULL, created, ANN, false, old), "Rent-of-Ann \"Rent\" " CID,
                        "Rent-of-Bob", "values of the caller, for a signer");
        check_disclosed(disclosed("created", NULL, created, NULL, true, old), "\"Rent\"", "Rent-of-Ann Rent-of-Bob",
                        "values of the caller, for the caller");
        check_disclosed(disclosed("signed", ANN, "{" FILLED("\"Rent-of-Ann\"") "}", ANN, false, old), "Rent-of-Ann",
                        ANN, "values of a signer, for the signer");
        check_disclosed(disclosed("signed", ANN, "{" FILLED("\"Rent-of-Ann\"") "}", BOB, true, old), "\"Rent\"",
                        "Rent-of-Ann", "values of a signer, for another signer who is the caller");
    }
}

#define IDENTIFIED                                                                                                     \
    "{\"method\":\"caller\",\"how\":\"Passport\",\"reference\":\"R-7\",\"at\":\"2026-11-20T09:00:00.000Z\","           \
    "\"to\":\"+49151\",\"user\":\"ann@idp\"}"

/* What says how a signer was identified is personal, and about the signer, even if the caller did it. */
static void test_identified(void)
{
    static const char *const by_signer[] = {"codeSent", "codeFailed", "authenticated"};
    static const char *const by_caller[] = {"authenticationChanged", "unlocked"};
    static const char values[] = "Passport R-7 +49151 ann@idp", known[] = "caller 2026-11-20T09:00:00.000Z";
    const sr_event_text_t text = event_with(IDENTIFIED);
    check_disclosed(text.body, known, values, "what is hashed");
    const json_t *event = shown(&text, false);
    check_commitment(event, "detail.how", "Passport");
    check_commitment(event, "detail.reference", "R-7");
    check_commitment(event, "detail.to", "+49151");
    check_commitment(event, "detail.user", "ann@idp");
    is_str(sr_event_fault(detail_of(text.body), NULL, true, pool), NULL, "erased, the event is sound");
    const char *all = apr_pstrcat(pool, values, " ", known, NULL), *others = apr_pstrcat(pool, values, " ::1", NULL);
    for (size_t i = 0; i < sizeof by_signer / sizeof *by_signer; i++) {
        const char *kind = by_signer[i];
        check_disclosed(disclosed(kind, ANN, IDENTIFIED, ANN, false, false), apr_pstrcat(pool, all, " ::1", NULL), ANN,
                        apr_pstrcat(pool, kind, ", for the signer", NULL));
        check_disclosed(disclosed(kind, ANN, IDENTIFIED, BOB, true, false), known, others,
                        apr_pstrcat(pool, kind, ", for another signer who is the caller", NULL));
    }
    for (size_t i = 0; i < sizeof by_caller / sizeof *by_caller; i++) {
        const char *kind = by_caller[i];
        check_disclosed(disclosed(kind, ANN, IDENTIFIED, ANN, false, false), all, "::1 Agent/7",
                        apr_pstrcat(pool, kind, ", for the signer: the address is the caller's", NULL));
        check_disclosed(disclosed(kind, ANN, IDENTIFIED, NULL, true, false), "::1 Agent/7", values,
                        apr_pstrcat(pool, kind, ", for the caller", NULL));
    }
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_form();
    test_nobody();
    test_strings();
    test_numbers();
    test_chain();
    test_differences();
    test_personal();
    test_drawing();
    test_erased();
    test_disclosed();
    test_words();
    test_values();
    test_identified();
    apr_pool_destroy(pool);
    return done();
}
