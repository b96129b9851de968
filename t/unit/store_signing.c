/* SPDX-License-Identifier: Apache-2.0 */
/* store_signing.c: the operations of signing on both databases: transitions of a submission, also at the same time,
 * and reading their results. */
#include "store.h"

#include <dlfcn.h>

#define NOW ((apr_time_t)1790000000000000)

static const char hash[] = "00000000000000000000000000000000000000000000000000000000000000a1";
static const char *now_text;

static void set_up(link_t *l)
{
    apr_pool_t *p = l->pool;
    RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, p), "Org", NULL, now_text);
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, p), "Org", "Ann", "Lee", "ann@x.org", now_text);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, p), "Org", "ann@x.org", "test", "t", hash, NULL, now_text);
    CREATE(l, wish(&(wish_t){.token = hash, .now = NOW, .number = 1, .name = "One"}, p));
    is_str(link_outcome(l), "ok", "a submission");
    CREATE(l, wish(&(wish_t){.token = hash, .now = NOW, .number = 2, .name = "Two"}, p));
}

/* One transition. `signer` has the members of the signer's row, `members` those of the submission, which begin with a
 * comma. */
static const char *step(link_t *l, int seen, const char *seen_hash, const char *new_hash, const char *signer,
                        const char *members)
{
    return apr_psprintf(l->pool,
                        "{\"submission\":\"%s\",\"signer\":\"%s\",\"now\":%" APR_TIME_T_FMT
                        ",\"seen\":%d,\"seen_hash\":\"%s\",\"events\":[{\"hash\":\"%s\",\"body\":\"{\\\"n\\\":%d}\","
                        "\"personal\":\"{\\\"p\\\":%d}\"}],"
                        "\"over\":false,\"search\":\"s\",\"signers\":[{\"uuid\":\"%s\",%s}]%s}",
                        uuid(1, 1, l->pool), uuid(4, 2, l->pool), NOW + seen, seen, seen_hash, new_hash, seen + 1,
                        seen + 1, uuid(4, 2, l->pool), signer, members);
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
    is_str(RUN(l, SR_OP_AUDIT_GET, hash, now_text, uuid(1, 1, l->pool)), "[[{\"number\":1},null]]", "the first event");
    is_str(RUN(l, SR_OP_SIGNING_EVENTS, uuid(4, 2, l->pool)), "[[{\"number\":1},null]]", "the same by a signer's link");
    RUN(l, SR_OP_SIGNING_EVENTS, uuid(4, 99, l->pool));
    is_str(link_outcome(l), "missing", "and by nobody's");
    RUN(l, SR_OP_AUDIT_GET, hash, now_text, uuid(1, 99, l->pool));
    is_str(link_outcome(l), "missing", "no such submission");
    RUN(l, SR_OP_AUDIT_GET, "nobody", now_text, uuid(1, 1, l->pool));
    is_str(link_outcome(l), "unauthorized", "an unknown token");
    RUN(l, SR_OP_CERTIFICATE_GET, hash, now_text, uuid(1, 1, l->pool));
    is_str(link_outcome(l), "missing", "no certificate to get");
}

#define OPEN "\"state\":\"opened\""
#define OPENED(representation)                                                                                         \
    ",\"representation\":\"" representation "\",\"representation_version\":\"1\",\"submission_state\":\"open\""

/* One that was rendered by an older program is not read; what was rendered in its place is, unless something has
 * changed since. */
static void check_versions(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *body;
    is_str(MEMBER("representation", l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "2", NULL), NULL,
           "a representation of version 1");
    is_str(link_outcome(l), "ok", "is too old for version 2");
    RUN(l, SR_OP_SUBMISSION_LIST, hash, now_text, "10", "older", NULL, NULL, "completed", NULL, NULL, NULL, NULL, NULL,
        NULL, "1000000", "2");
    is_str(COLUMN(l, "representation"), NULL, "a list has none");
    is_str(member(body_at(l, 0), "old", p), "true", "a representation that is too old is marked so");
    is_str(COLUMN(l, "uuid"), uuid(1, 1, p), "the row with an old representation names its submission");
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
    RUN(l, SR_OP_SUBMISSION_RENDERED, uuid(1, 1, p), "e2", "0", "2", "stale");
    is_str(link_outcome(l), "ok", "one that was rendered before the last event");
    is_str(MEMBER("representation", l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "1", NULL), "v3",
           "is not stored");
    RUN(l, SR_OP_SUBMISSION_RENDERED, uuid(1, 1, p), "e3", "0", "2", "rendered again");
    is_str(MEMBER("representation", l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "2", NULL),
           "rendered again", "the current one is");
    RUN(l, SR_OP_SUBMISSION_RENDERED, uuid(1, 1, p), "e3", "0", "2", "twice");
    is_str(MEMBER("representation", l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "1", NULL),
           "rendered again", "once; and an older program reads it");
    const char *tag = MEMBER("tag", l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "1", NULL);
    is_str(tag, "e3-2", "the tag has the hash of the last event and the version");
    const char *known = apr_psprintf(p, "\"x\", W/\"%s-abc\"", tag), *const other = "W/\"e3-1-abc\", \"e3-2\"";
    is_str(MEMBER("representation", l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "1", known), NULL,
           "a caller who knows it gets no representation");
    is_str(MEMBER("tag", l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "1", known), tag, "but the tag");
    is_str(MEMBER("representation", l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "1", other),
           "rendered again", "a caller who knows another version gets it");
}

static void check_steps(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *signer = apr_psprintf(p,
                                      "\"state\":\"completed\",\"completed_at\":%" APR_TIME_T_FMT
                                      ",\"ip\":\"::1\",\"user_agent\":\"Agent/7\","
                                      "\"signature_type\":\"typed\",\"consent\":\"1-en\"",
                                      NOW + 5);
    const char *revisions = apr_psprintf(
        p,
        ",\"representation\":\"v3\",\"representation_version\":\"1\",\"submission_state\":\"completed\","
        "\"revisions\":[{\"document\":\"%s\",\"number\":1,\"sha256\":\"part\",\"size\":10,"
        "\"whole_sha256\":\"whole\",\"whole_size\":1244}],\"certificate_sha256\":\"cert\",\"certificate_size\":99,"
        "\"folder\":\"" FOLDER "\"",
        uuid(3, 2, p));
    const char *body;
    CHANGE(l, step(l, 1, "e1", "e2", OPEN ",\"opened_at\":7", OPENED("v2")));
    is_str(link_outcome(l), "ok", "opened");
    CHANGE(l, step(l, 1, "e1", "e2", OPEN ",\"opened_at\":7", OPENED("v2")));
    is_str(link_outcome(l), "ok", "the same again is a repetition");
    CHANGE(l, step(l, 1, "e1", "ex", OPEN, OPENED("vx")));
    is_str(link_outcome(l), "stale", "another one came first");
    CHANGE(l, step(l, 2, "e1", "ex", OPEN, OPENED("vx")));
    is_str(link_outcome(l), "stale", "another hash was seen");
    is_str(MEMBER("representation", l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "1", NULL), "v2",
           "what the first has rendered");
    CHANGE(l, step(l, 2, "e2", "e3", signer, revisions));
    is_str(link_outcome(l), "ok", "completed");
    is_str(RUN(l, SR_OP_AUDIT_GET, hash, now_text, uuid(1, 1, p)),
           "[[{\"number\":1},null],[{\"n\":2},{\"p\":2}],[{\"n\":3},{\"p\":3}]]",
           "the events in order, with their personal values");
    RUN(l, SR_OP_CERTIFICATE_GET, hash, now_text, uuid(1, 1, p));
    is_str(COLUMN(l, "name"), "One", "its submission's name");
    is_str(COLUMN(l, "sha256"), "cert", "the certificate");
    is_str(COLUMN(l, "size"), "99", "its size");
    body = RUN(l, SR_OP_DOCUMENT_GET, hash, now_text, uuid(1, 1, p), uuid(3, 2, p));
    is_str(member(body, "revisions", p),
           "[{\"kind\":\"signature\",\"sha256\":\"part\",\"key\":\"part.0\",\"size\":10,\"whole_sha256\":\"whole\","
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
    RUN(l, SR_OP_SUBMISSION_LIST, hash, now_text, "10", "older", NULL, NULL, "completed", NULL, NULL, NULL, NULL, NULL,
        NULL, "1000000", "1");
    is_int(l->rows->nelts, 1, "one submission has a signer who completed");
    check_versions(l);
}

/* --- timers, and which statements run */

static int count_statement(unsigned type, void *count, void *statement, void *text)
{
    const char *words = text;
    if (strncmp(words, "WITH", 4) == 0 || strncmp(words, "SELECT", 6) == 0) ++*(int *)count;
    return 0;
}

/* Counts the statements of operations that SQLite runs from now on, without BEGIN and COMMIT. A `count` of NULL ends
 * that. */
static void count_statements(link_t *l, int *count)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_NOLOAD);
    int (*trace)(void *, unsigned, int (*)(unsigned, void *, void *, void *), void *);
    *(void **)&trace = library ? dlsym(library, "sqlite3_trace_v2") : NULL;
    ok(trace && !trace(apr_dbd_native_handle(l->base->driver, l->handle), count ? 1 : 0, count_statement, count),
       "statements are %s", count ? "counted" : "no longer counted");
}

static bool is_sqlite(const link_t *l)
{
    return strcmp(l->base->driver_name, "sqlite3") == 0;
}

/* All timers: "<kind> <time>, …". */
static const char *timers(link_t *l)
{
    apr_dbd_results_t *results = NULL;
    apr_dbd_row_t *row = NULL;
    const char *all = "";
    const char *sql = is_sqlite(l) ? "SELECT kind, due_at FROM timer ORDER BY kind"
                                   : "SELECT kind, due_at FROM sigreq.timer ORDER BY kind";
    if (apr_dbd_select(l->base->driver, l->pool, l->handle, &results, sql, 1)) die(sql, "no rows");
    while (apr_dbd_get_row(l->base->driver, l->pool, results, &row, -1) == 0)
        all = apr_pstrcat(l->pool, all, *all ? ", " : "", apr_dbd_get_entry(l->base->driver, row, 0), " ",
                          apr_dbd_get_entry(l->base->driver, row, 1), NULL);
    return all;
}

/* A transition of submission 3, with these timers (JSON) or without. */
static void turn(link_t *l, int seen, const char *wanted)
{
    CHANGE(l, apr_psprintf(l->pool,
                           "{\"submission\":\"%s\",\"now\":%" APR_TIME_T_FMT ",\"seen\":%d,\"seen_hash\":\"e%d\","
                           "\"events\":[{\"hash\":\"e%d\",\"body\":\"{}\"}],\"over\":false,\"signers\":[],"
                           "\"representation\":\"v\",\"representation_version\":1,\"submission_state\":\"open\"%s%s}",
                           uuid(1, 3, l->pool), NOW + seen, seen, seen, seen + 1, wanted ? ",\"timers\":" : "",
                           wanted ? wanted : ""));
    is_str(link_outcome(l), "ok", "a transition");
}

/* One statement finds a representation. Another one finds the reason if there is none. */
static void check_statements(link_t *l)
{
    int count = 0;
    if (!is_sqlite(l)) return;
    count_statements(l, &count);
    RUN(l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 3, l->pool), "1", NULL);
    is_int(count, 1, "a representation is read by one statement");
    RUN(l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 3, l->pool), "1", "\"other\"");
    is_int(count, 2, "a representation is read by one statement with If-None-Match");
    RUN(l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 99, l->pool), "1", NULL);
    is_str(link_outcome(l), "missing", "an unknown submission is missing");
    is_int(count, 2 + 2, "an unknown submission takes a second statement");
    count_statements(l, NULL);
}

static void check_timers(link_t *l)
{
    json_t *json =
        json_loads(wish(&(wish_t){.token = hash, .now = NOW, .number = 3, .name = "Late"}, l->pool), 0, NULL);
    int count = 0;
    json_object_set_new(
        json, "timers",
        json_pack("[{s:s,s:i},{s:s,s:i}]", "kind", "expiry", "due_at", 5000, "kind", "remind", "due_at", 4000));
    is_str(timers(l), "", "a creation without timers inserts none");
    if (is_sqlite(l)) count_statements(l, &count);
    CREATE(l, sr_json_text(json, l->pool));
    json_decref(json);
    if (is_sqlite(l)) is_int(count, 10 + 1, "a creation inserts them by one statement, and needs none for blobs");
    is_str(timers(l), "expiry 5000, remind 4000", "a creation inserts them");
    count = 0;
    turn(l, 1, NULL);
    if (is_sqlite(l)) is_int(count, 9, "a transition that changes no time runs no statement about them");
    is_str(timers(l), "expiry 5000, remind 4000", "the timers stay if no time changes");
    count = 0;
    turn(l, 2, "[{\"kind\":\"expiry\",\"due_at\":6000}]");
    if (is_sqlite(l)) is_int(count, 9 + 3, "one is replaced by three statements");
    is_str(timers(l), "expiry 6000, remind 4000", "one is replaced");
    turn(l, 3, "[{\"kind\":\"expiry\",\"due_at\":null}]");
    is_str(timers(l), "remind 4000", "one is removed");
    turn(l, 4, "[{\"kind\":\"remind\",\"due_at\":null}]");
    is_str(timers(l), "", "the other timer is removed");
    RUN(l, SR_OP_JOB_POLL, number(APR_INT64_C(1) << 50, l->pool));
    is_str(link_outcome(l), "missing", "nothing is left to be done");
    if (is_sqlite(l)) count_statements(l, NULL);
}

/* --- deletion */

static const char *erasure(link_t *l, int seen, const char *seen_hash)
{
    return apr_psprintf(l->pool,
                        "{\"submission\":\"%s\",\"now\":%" APR_TIME_T_FMT ",\"seen\":%d,\"seen_hash\":\"%s\","
                        "\"hash\":\"gone\",\"body\":\"{\\\"n\\\":4}\",\"contents\":[\"whole\",\"shared\"]}",
                        uuid(1, 1, l->pool), NOW + 9, seen, seen_hash);
}

static void check_gone(link_t *l)
{
    apr_pool_t *p = l->pool;
    RUN(l, SR_OP_SUBMISSION_GET, hash, now_text, uuid(1, 1, p), "1", NULL);
    is_str(link_outcome(l), "deleted", "the submission");
    RUN(l, SR_OP_SUBMISSION_RECORD, hash, now_text, uuid(1, 1, p));
    is_str(link_outcome(l), "deleted", "its record");
    RUN(l, SR_OP_DOCUMENT_GET, hash, now_text, uuid(1, 1, p), uuid(3, 2, p));
    is_str(link_outcome(l), "deleted", "its document");
    RUN(l, SR_OP_CERTIFICATE_GET, hash, now_text, uuid(1, 1, p));
    is_str(link_outcome(l), "deleted", "its certificate");
    RUN(l, SR_OP_SIGNING_READ, hash, now_text, uuid(1, 1, p), NULL);
    is_str(link_outcome(l), "deleted", "it has no transitions for its caller");
    RUN(l, SR_OP_SIGNING_DUE, uuid(1, 1, p), NULL);
    is_str(link_outcome(l), "deleted", "nor for the service");
    RUN(l, SR_OP_SIGNING_GET, uuid(4, 2, p), NULL);
    is_str(link_outcome(l), "missing", "a link is unknown");
    RUN(l, SR_OP_SUBMISSION_GET, "nobody", now_text, uuid(1, 1, p), "1", NULL);
    is_str(link_outcome(l), "unauthorized", "an unknown token learns nothing");
    RUN(l, SR_OP_SUBMISSION_LIST, hash, now_text, "10", "older", NULL, NULL, NULL, "deleted", NULL, NULL, NULL, NULL,
        NULL, "1000000", "1");
    is_int(l->rows->nelts, 1, "only the list of deleted submissions has it");
    RUN(l, SR_OP_DOCUMENT_KNOWN, hash, now_text, "whole");
    is_str(link_outcome(l), "missing", "its documents are not known");
}

static void check_erasure(link_t *l)
{
    apr_pool_t *p = l->pool;
    RUN(l, SR_OP_SIGNING_ERASE, erasure(l, 2, "e2"));
    is_str(link_outcome(l), "stale", "another event came first");
    RUN(l, SR_OP_SIGNING_ERASE, erasure(l, 3, "e3"));
    is_str(link_outcome(l), "ok", "a completed submission is deleted");
    RUN(l, SR_OP_SIGNING_ERASE, erasure(l, 3, "e3"));
    is_str(link_outcome(l), "ok", "the same again is a repetition");
    RUN(l, SR_OP_SIGNING_ERASE, erasure(l, 4, "gone"));
    is_str(link_outcome(l), "ok", "a repetition is known, however it is sent");
    check_gone(l);
    const char *events = RUN(l, SR_OP_AUDIT_GET, hash, now_text, uuid(1, 1, p));
    ok(strstr(events, "[{\"n\":4},null]") && strstr(events, "\"e2\""), "the events stay: %s", events);
    ok(!strstr(events, "\"p\"") && !strstr(events, "\"n\":2"), "without what is personal");
    const char *body = RUN(l, SR_OP_ERASURE_GET, NULL);
    is_str(member(body, "submission", p), apr_psprintf(p, "\"%s\"", uuid(1, 1, p)), "files must be removed");
    is_str(member(body, "contents", p), "[\"whole\",\"shared\"]", "of these contents");
    RUN(l, SR_OP_ERASURE_GET, uuid(1, 99, p));
    is_str(link_outcome(l), "missing", "none of another submission");
    RUN(l, SR_OP_ERASURE_DONE, uuid(1, 1, p));
    RUN(l, SR_OP_ERASURE_GET, uuid(1, 1, p));
    is_str(link_outcome(l), "missing", "when they are removed, nothing is left");
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
    check_timers(&l);
    check_statements(&l);
    check_erasure(&l);
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
