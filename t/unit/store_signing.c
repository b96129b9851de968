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

static void check_reading(link_t *l)
{
    const char *body = RUN(l, SR_OP_SIGNING_GET, uuid(4, 2, l->pool));

    is_str(link_outcome(l), "ok", "a signer's link");
    is_str(member(body, "environment", l->pool), "\"test\"", "its environment");
    is_str(member(body, "organization", l->pool), "\"Org\"", "its organization");
    is_str(member(body, "events", l->pool), "1", "one event");
    is_str(member(body, "events_hash", l->pool), "\"e1\"", "its hash");
    is_str(member(body, "base_url", l->pool), "\"https://x.org\"", "the base of its links");
    is_str(member(body, "certificate_sha256", l->pool), "null", "no certificate yet");
    ok(strstr(body, "\"revisions\" : []") || strstr(body, "\"revisions\":[]"), "no revision yet");
    RUN(l, SR_OP_SIGNING_GET, uuid(4, 99, l->pool));
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

static void check_steps(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *const revisions = apr_psprintf(
        p,
        ",\"view\":\"v3\",\"status\":\"completed\",\"completed_at\":%" APR_TIME_T_FMT ",\"information\":\"{}\","
        "\"revisions\":[{\"document\":\"%s\",\"number\":1,\"sha256\":\"part\",\"size\":10,"
        "\"whole_sha256\":\"whole\",\"whole_size\":1244}],\"certificate_sha256\":\"cert\",\"certificate_size\":99",
        NOW + 5, uuid(3, 2, p));
    const char *body;

    RUN(l, SR_OP_SIGNING_CHANGE, step(l, 1, "e1", "e2", ",\"view\":\"v2\",\"status\":\"opened\",\"opened_at\":7"));
    is_str(link_outcome(l), "ok", "opened");
    RUN(l, SR_OP_SIGNING_CHANGE, step(l, 1, "e1", "e2", ",\"view\":\"v2\",\"status\":\"opened\",\"opened_at\":7"));
    is_str(link_outcome(l), "ok", "the same again is a repetition");
    RUN(l, SR_OP_SIGNING_CHANGE, step(l, 1, "e1", "ex", ",\"view\":\"vx\",\"status\":\"opened\""));
    is_str(link_outcome(l), "stale", "another one came first");
    RUN(l, SR_OP_SIGNING_CHANGE, step(l, 2, "e1", "ex", ",\"view\":\"vx\",\"status\":\"opened\""));
    is_str(link_outcome(l), "stale", "another hash was seen");
    is_str(RUN(l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p)), "v2", "the view is of the first");
    RUN(l, SR_OP_SIGNING_CHANGE, step(l, 2, "e2", "e3", revisions));
    is_str(link_outcome(l), "ok", "completed");
    is_str(RUN(l, SR_OP_AUDIT_GET, hash, now_text, uuid(1, 1, p)), "[{\"number\":1},{\"n\":2},{\"n\":3}]",
           "the events in order");
    body = RUN(l, SR_OP_CERTIFICATE_GET, hash, now_text, uuid(1, 1, p));
    is_str(member(body, "sha256", p), "\"cert\"", "the certificate");
    is_str(member(body, "size", p), "99", "its size");
    is_str(member(body, "name", p), "\"One\"", "its submission's name");
    body = RUN(l, SR_OP_DOCUMENT_GET, hash, now_text, uuid(1, 1, p), uuid(3, 2, p));
    is_str(member(body, "revisions", p),
           "[{\"sha256\":\"part\",\"size\":10,\"whole_sha256\":\"whole\",\"whole_size\":1244}]", "the revision");
    is_str(member(body, "rewritten_sha256", p), "null", "a document as it was uploaded");
    body = RUN(l, SR_OP_DOCUMENT_GET, hash, now_text, uuid(1, 1, p), uuid(3, 3, p));
    is_str(member(body, "revisions", p), "[]", "the other document has none");
    for (int i = 0; i < 3; i++) {
        static const char *const files[] = {"whole", "cert", "part"};
        body = RUN(l, SR_OP_DOCUMENT_KNOWN, hash, now_text, files[i]);
        is_str(link_outcome(l), i < 2 ? "ok" : "missing", "%s is known or not", files[i]);
        const char *document = apr_psprintf(p, "\"%s\"", uuid(3, 2, p));
        is_str(member(body, "document", p), i == 0 ? document : i == 1 ? "null" : NULL, "as which document");
    }
    RUN(l, SR_OP_SUBMISSION_LIST, hash, now_text, "10", "older", NULL, NULL, "completed", NULL, NULL, NULL, "1000000");
    is_int(l->rows->nelts, 1, "one submission has a signer who completed");
    for (int i = 0; i < 3; i++) {
        static const char *const files[] = {"part", "cert", "nothing"};
        RUN(l, SR_OP_ADMIN_DOCUMENT_USED, files[i]);
        is_str(link_outcome(l), i < 2 ? "ok" : "missing", "the file %s", files[i]);
    }
}

static void checks(base_t *base)
{
    link_t l;

    link_connect(&l, base, base->pool);
    now_text = number(NOW, base->pool);
    ok(!link_upgrade(&l) && !link_open(&l), "a schema");
    set_up(&l);
    check_reading(&l);
    check_steps(&l);
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
