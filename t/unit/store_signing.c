/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of signing on both databases: a submission's steps, one at a time whoever comes at the same time, and
 * what is read of them afterwards. */
#include "store.h"

#define NOW ((apr_time_t)1790000000000000)

static const char hash[] = "00000000000000000000000000000000000000000000000000000000000000a1";
static const char *now_text;

static void set_up(link_t *l)
{
    apr_pool_t *p = l->pool;

    RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, p), "Org", NULL, now_text);
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, p), "Org", "Ann", "Lee", "ann@x.org", now_text);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, p), "Org", "ann@x.org", "test", "t", hash, NULL, now_text);
    RUN(l, SR_OP_SUBMISSION_CREATE, wish(&(wish_t){.token = hash, .now = NOW, .number = 1, .name = "One"}, p));
    is_str(link_outcome(l), "ok", "a submission");
    RUN(l, SR_OP_SUBMISSION_CREATE, wish(&(wish_t){.token = hash, .now = NOW, .number = 2, .name = "Two"}, p));
}

/* One step: `revisions` and `more` are JSON members, or "". */
static const char *step(link_t *l, int seen, const char *seen_hash, const char *new_hash, const char *members)
{
    return apr_psprintf(
        l->pool,
        "{\"submission\":\"%s\",\"signer\":\"%s\",\"now\":%" APR_TIME_T_FMT
        ",\"seen\":%d,\"seen_hash\":\"%s\",\"events\":[{\"hash\":\"%s\",\"body\":\"{\\\"n\\\":%d}\"}]%s}",
        uuid(1, 1, l->pool), uuid(4, 2, l->pool), NOW + seen, seen, seen_hash, new_hash, seen + 1, members);
}

/* A submission row. */
static void check_record(link_t *l, const char *row)
{
    static const char *const wanted[][2] = {
        {"name", "\"One\""},
        {"state", "\"open\""},
        {"access_epoch", "0"},
        {"events", "1"},
        {"events_hash", "\"e1\""},
        {"certificate_sha256", "null"},
        {"warnings", "null"},
        {"created_by", "{\"firstname\":\"Ann\",\"lastname\":\"Lee\",\"email\":\"ann@x.org\"}"},
    };
    json_t *record, *signer;

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        is_str(member(row, wanted[i][0], l->pool), wanted[i][1], "the record's %s", wanted[i][0]);
    if (!ok(row && !sr_json_read(&record, row, l->pool), "it is JSON")) return;
    is_int(json_array_size(json_object_get(record, "documents")), 2, "two documents");
    is_int(json_array_size(json_object_get(json_array_get(json_object_get(record, "documents"), 0), "revisions")), 0,
           "without revisions");
    signer = json_array_get(json_object_get(record, "signers"), 1);
    is_str(sr_json_string(signer, "firstname"), "Bob", "signers in their order");
    is_str(sr_json_string(signer, "state"), "sent", "the state of a signer");
    is_str(sr_json_text(json_object_get(signer, "fields"), l->pool), "[{\"name\":\"s2\"}]", "and the fields");
}

static void check_reading(link_t *l)
{
    const char *body = RUN(l, SR_OP_SIGNING_GET, uuid(4, 2, l->pool), NULL);

    is_str(link_outcome(l), "ok", "a signer's link");
    is_str(member(body, "environment", l->pool), "\"test\"", "its environment");
    is_str(member(body, "organization", l->pool), "\"Org\"", "its organization");
    is_str(member(body, "base_url", l->pool), "\"https://x.org\"", "the base of its links");
    check_record(l, member(body, "submission", l->pool));
    const char *version = member(body, "version", l->pool);
    version = apr_pstrndup(l->pool, version + 1, strlen(version) - 2);
    is_str(RUN(l, SR_OP_SIGNING_GET, uuid(4, 2, l->pool), version), NULL, "nothing to read again");
    is_str(link_outcome(l), "ok", "as nothing has changed");
    RUN(l, SR_OP_WEBHOOK_SET, hash, now_text, "signed", "https://x.org/hook");
    body = RUN(l, SR_OP_SIGNING_GET, uuid(4, 2, l->pool), version);
    is_str(member(body, "tell_signed", l->pool), "1", "a new webhook URL is read");
    RUN(l, SR_OP_WEBHOOK_SET, hash, now_text, "signed", NULL);
    RUN(l, SR_OP_SIGNING_GET, uuid(4, 99, l->pool), NULL);
    is_str(link_outcome(l), "missing", "nobody's link");
    is_str(RUN(l, SR_OP_AUDIT_GET, hash, now_text, uuid(1, 1, l->pool)), "[{\"number\":1}]", "the first event");
    is_str(RUN(l, SR_OP_SIGNING_EVENTS, uuid(4, 2, l->pool)), "[{\"number\":1}]", "the same by a signer's link");
    RUN(l, SR_OP_SIGNING_EVENTS, uuid(4, 99, l->pool));
    is_str(link_outcome(l), "missing", "and by nobody's");
    RUN(l, SR_OP_AUDIT_GET, hash, now_text, uuid(1, 99, l->pool));
    is_str(link_outcome(l), "missing", "no such submission");
    RUN(l, SR_OP_AUDIT_GET, "nobody", now_text, uuid(1, 1, l->pool));
    is_str(link_outcome(l), "unauthorized", "an unknown token");
    RUN(l, SR_OP_CERTIFICATE_GET, hash, now_text, uuid(1, 1, l->pool));
    is_str(link_outcome(l), "missing", "no certificate to get");
}

#define OPENED(representation)                                                                                         \
    ",\"representation\":\"" representation                                                                            \
    "\",\"representation_version\":\"1\",\"submission_state\":\"open\",\"state\":\"opened\""

/* One that was rendered by an older program is not read; what was rendered in its place is, unless something has
 * changed since. */
static void check_versions(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *body;

    is_str(RUN(l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "2"), NULL, "a representation of version 1");
    is_str(link_outcome(l), "ok", "is too old for version 2");
    RUN(l, SR_OP_SUBMISSION_LIST, hash, now_text, "10", "older", NULL, NULL, "completed", NULL, NULL, NULL, "1000000",
        "2");
    is_str(COLUMN(l, "representation"), NULL, "a list has none");
    is_str(member(body_at(l, 0), "old", p), "true", "… because it is too old");
    is_str(COLUMN(l, "uuid"), uuid(1, 1, p), "… of which submission");
    body = RUN(l, SR_OP_SUBMISSION_RECORD, hash, now_text, uuid(1, 1, p));
    is_str(member(body, "events_hash", p), "\"e3\"", "the record that it is rendered from");
    is_str(member(body, "state", p), "\"completed\"", "the state of the submission");
    is_str(member(body, "access_epoch", p), "1", "has raised its access epoch");
    ok(strstr(body, "Agent/7") && strstr(body, "::1") && strstr(body, "typed") && strstr(body, "1-en"),
       "how a signer has signed");
    RUN(l, SR_OP_SUBMISSION_RECORD, hash, now_text, uuid(1, 99, p));
    is_str(link_outcome(l), "missing", "the record of no submission");
    RUN(l, SR_OP_SUBMISSION_RECORD, "nobody", now_text, uuid(1, 1, p));
    is_str(link_outcome(l), "unauthorized", "nor for nobody's token");
    RUN(l, SR_OP_SUBMISSION_RENDERED, uuid(1, 1, p), "e2", "2", "stale");
    is_str(link_outcome(l), "ok", "one that was rendered before the last event");
    is_str(RUN(l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "1"), "v3", "is not stored");
    RUN(l, SR_OP_SUBMISSION_RENDERED, uuid(1, 1, p), "e3", "2", "rendered again");
    is_str(RUN(l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "2"), "rendered again", "the current one is");
    RUN(l, SR_OP_SUBMISSION_RENDERED, uuid(1, 1, p), "e3", "2", "twice");
    is_str(RUN(l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "1"), "rendered again",
           "once; and an older program reads it");
}

static void check_steps(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *const revisions = apr_psprintf(
        p,
        ",\"representation\":\"v3\",\"representation_version\":\"1\",\"submission_state\":\"completed\","
        "\"state\":\"completed\",\"completed_at\":%" APR_TIME_T_FMT ",\"ip\":\"::1\",\"user_agent\":\"Agent/7\","
        "\"signature_type\":\"typed\",\"consent\":\"1-en\","
        "\"revisions\":[{\"document\":\"%s\",\"number\":1,\"sha256\":\"part\",\"size\":10,"
        "\"whole_sha256\":\"whole\",\"whole_size\":1244}],\"certificate_sha256\":\"cert\",\"certificate_size\":99,"
        "\"folder\":\"" FOLDER "\"",
        NOW + 5, uuid(3, 2, p));
    const char *body;

    RUN(l, SR_OP_SIGNING_CHANGE, step(l, 1, "e1", "e2", OPENED("v2") ",\"opened_at\":7"));
    is_str(link_outcome(l), "ok", "opened");
    RUN(l, SR_OP_SIGNING_CHANGE, step(l, 1, "e1", "e2", OPENED("v2") ",\"opened_at\":7"));
    is_str(link_outcome(l), "ok", "the same again is a repetition");
    RUN(l, SR_OP_SIGNING_CHANGE, step(l, 1, "e1", "ex", OPENED("vx")));
    is_str(link_outcome(l), "stale", "another one came first");
    RUN(l, SR_OP_SIGNING_CHANGE, step(l, 2, "e1", "ex", OPENED("vx")));
    is_str(link_outcome(l), "stale", "another hash was seen");
    is_str(RUN(l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "1"), "v2", "what the first has rendered");
    RUN(l, SR_OP_SIGNING_CHANGE, step(l, 2, "e2", "e3", revisions));
    is_str(link_outcome(l), "ok", "completed");
    is_str(RUN(l, SR_OP_AUDIT_GET, hash, now_text, uuid(1, 1, p)), "[{\"number\":1},{\"n\":2},{\"n\":3}]",
           "the events in order");
    RUN(l, SR_OP_CERTIFICATE_GET, hash, now_text, uuid(1, 1, p));
    is_str(COLUMN(l, "name"), "One", "its submission's name");
    is_str(COLUMN(l, "sha256"), "cert", "the certificate");
    is_str(COLUMN(l, "size"), "99", "its size");
    body = RUN(l, SR_OP_DOCUMENT_GET, hash, now_text, uuid(1, 1, p), uuid(3, 2, p));
    is_str(member(body, "revisions", p),
           "[{\"sha256\":\"part\",\"key\":\"part.0\",\"size\":10,\"whole_sha256\":\"whole\","
           "\"whole_size\":1244}]",
           "the revision");
    is_str(member(body, "rewritten_sha256", p), "null", "a document as it was uploaded");
    body = RUN(l, SR_OP_DOCUMENT_GET, hash, now_text, uuid(1, 1, p), uuid(3, 3, p));
    is_str(member(body, "revisions", p), "[]", "the other document has none");
    for (int i = 0; i < 3; i++) {
        static const char *const files[] = {"whole", "cert", "part"};
        RUN(l, SR_OP_DOCUMENT_KNOWN, hash, now_text, files[i]);
        is_str(link_outcome(l), i < 2 ? "ok" : "missing", "%s is known or not", files[i]);
        is_str(COLUMN(l, "document"), i == 0 ? uuid(3, 2, p) : NULL, "as which document");
    }
    RUN(l, SR_OP_SUBMISSION_LIST, hash, now_text, "10", "older", NULL, NULL, "completed", NULL, NULL, NULL, "1000000",
        "1");
    is_int(l->rows->nelts, 1, "one submission has a signer who completed");
    check_versions(l);
}

static void checks(base_t *base)
{
    link_t l;

    link_connect(&l, base, base->pool);
    now_text = number(NOW, base->pool);
    ok(!link_upgrade(&l) && !link_open(&l), "a schema");
    link_contents(&l);
    set_up(&l);
    check_reading(&l);
    check_steps(&l);
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
