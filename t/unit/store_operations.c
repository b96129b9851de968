/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation of store.h on both databases: its outcomes, its bodies, and that nothing of one user, organisation
 * or environment is there for another. */
#include "store.h"

#define NOW ((apr_time_t)1790000000000000)

typedef struct caller_t {
    const char *hash;
    const char *token_uuid;
} caller_t;

/* Two organisations, two users in the first, and their tokens. */
typedef enum who_t { A_TEST, A_LIVE, A_OTHER_USER, B_TEST, B_LIVE, CALLERS } who_t;
static caller_t callers[CALLERS];
static const char *now_text;

#define IS(link, want, ...) is_str(link_outcome(link), (want), __VA_ARGS__)

static void administration(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *body;
    body = RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, p), "Org A", "3", now_text);
    IS(l, "ok", "organization create");
    is_str(member(body, "uuid", p), apr_psprintf(p, "\"%s\"", uuid(5, 1, p)), "its uuid");
    is_str(member(body, "quota", p), "3", "its quota");
    is_str(member(body, "used", p), "0", "nothing used");
    is_str(member(body, "created_at", p), now_text, "its time");
    RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, p), "Org A", "3", now_text);
    IS(l, "ok", "the same again is a repetition");
    RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 9, p), "Org A", NULL, now_text);
    IS(l, "conflict", "its name is taken");
    body = RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 2, p), "Org \"B\" \xc3\xa9", NULL, now_text);
    is_str(member(body, "quota", p), "null", "no quota is null");
    RUN(l, SR_OP_ADMIN_ORGANIZATION_LIST);
    is_int(l->rows->nelts, 2, "two organizations");
    is_str(member(body_at(l, 1), "name", p), "\"Org \\\"B\\\" \xc3\xa9\"", "oldest first");
    body = RUN(l, SR_OP_ADMIN_ORGANIZATION_QUOTA, "Org A", "2");
    is_str(member(body, "quota", p), "2", "quota by name");
    body = RUN(l, SR_OP_ADMIN_ORGANIZATION_QUOTA, uuid(5, 1, p), NULL);
    is_str(member(body, "quota", p), "null", "quota by uuid, unlimited");
    RUN(l, SR_OP_ADMIN_ORGANIZATION_QUOTA, "Org A", "2");
    RUN(l, SR_OP_ADMIN_ORGANIZATION_QUOTA, "nobody", "2");
    IS(l, "missing", "quota of nobody");

    body = RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, p), "Org A", "Ann", "Lee", "Ann@X.org", now_text);
    IS(l, "ok", "user create");
    is_str(member(body, "organization_uuid", p), apr_psprintf(p, "\"%s\"", uuid(5, 1, p)), "its organization");
    is_str(member(body, "email", p), "\"Ann@X.org\"", "its email as given");
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, p), "Org A", "Ann", "Lee", "Ann@X.org", now_text);
    IS(l, "ok", "the same user again is a repetition");
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 9, p), "Org A", "Ann", "Lee", "aNN@x.ORG", now_text);
    IS(l, "conflict", "the email is taken in another case");
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 9, p), "nobody", "Ann", "Lee", "z@x.org", now_text);
    IS(l, "missing", "no such organization");
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 2, p), uuid(5, 1, p), "Bob", "Ray", "bob@x.org", now_text);
    IS(l, "ok", "a second user, organization by uuid");
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 3, p), uuid(5, 2, p), "Ann", "Lee", "ann@x.org", now_text);
    IS(l, "ok", "the same email in another organization");
    RUN(l, SR_OP_ADMIN_USER_LIST, NULL);
    is_int(l->rows->nelts, 3, "all users");
    RUN(l, SR_OP_ADMIN_USER_LIST, "Org A");
    is_int(l->rows->nelts, 2, "users of an organization");
    RUN(l, SR_OP_ADMIN_USER_LIST, "nobody");
    IS(l, "missing", "users of nobody");
}

static void tokens_by_administration(link_t *l)
{
    static const struct {
        const char *organization, *user, *environment;
    } rows[CALLERS] = {{"Org A", "ANN@x.org", "test"},
                       {"Org A", "Ann@X.org", "production"},
                       {"Org A", NULL, "test"},
                       {NULL, "ann@x.org", "test"},
                       {NULL, "ann@x.org", "production"}};
    apr_pool_t *p = l->pool;
    const char *body;

    for (int i = 0; i < CALLERS; i++) {
        callers[i].hash = apr_psprintf(p, "%064x", 0xabc0 + i);
        callers[i].token_uuid = uuid(7, (unsigned)i, p);
        body = RUN(l, SR_OP_ADMIN_TOKEN_CREATE, callers[i].token_uuid,
                   rows[i].organization ? rows[i].organization : uuid(5, 2, p),
                   rows[i].user ? rows[i].user : uuid(6, 2, p), rows[i].environment, "first", callers[i].hash, NULL,
                   now_text);
        IS(l, "ok", "token create %d", i);
        is_str(member(body, "environment", p), apr_psprintf(p, "\"%s\"", rows[i].environment), "its environment");
    }
    is_str(member(body, "organization_name", p), "\"Org \\\"B\\\" \xc3\xa9\"", "its organization");
    is_str(member(body, "expires_at", p), "null", "it does not expire");
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 99, p), "Org A", "nobody@x.org", "test", "n", "h", NULL, now_text);
    IS(l, "missing", "no such user");
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 99, p), "nobody", "ann@x.org", "test", "n", "h", NULL, now_text);
    IS(l, "missing", "no such organization");
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 99, p), "Org A", uuid(6, 3, p), "test", "n", "h", NULL, now_text);
    IS(l, "missing", "a user of another organization");
    RUN(l, SR_OP_ADMIN_TOKEN_LIST, NULL, NULL, now_text, NULL);
    is_int(l->rows->nelts, CALLERS, "all tokens");
    RUN(l, SR_OP_ADMIN_TOKEN_LIST, "Org A", NULL, now_text, NULL);
    is_int(l->rows->nelts, 3, "tokens of an organization");
    RUN(l, SR_OP_ADMIN_TOKEN_LIST, NULL, uuid(6, 2, p), now_text, NULL);
    is_int(l->rows->nelts, 1, "tokens of a user");
    RUN(l, SR_OP_ADMIN_TOKEN_LIST, NULL, NULL, now_text, number(NOW + 9, p));
    is_int(l->rows->nelts, 0, "none of them expires");
    RUN(l, SR_OP_ADMIN_TOKEN_LIST, "nobody", NULL, now_text, NULL);
    IS(l, "missing", "tokens of nobody");
}

static void token_current(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *body = RUN(l, SR_OP_TOKEN_CURRENT, callers[A_TEST].hash, now_text);
    const char *expiring = apr_psprintf(p, "%064x", 0xe);
    IS(l, "ok", "current token");
    is_str(member(body, "uuid", p), apr_psprintf(p, "\"%s\"", callers[A_TEST].token_uuid), "it is the one");
    is_str(member(body, "user_uuid", p), apr_psprintf(p, "\"%s\"", uuid(6, 1, p)), "its user");
    is_str(member(body, "firstname", p), "\"Ann\"", "its user's name");
    is_str(member(body, "sent_webhook_url", p), "null", "no URL yet");
    RUN(l, SR_OP_TOKEN_CURRENT, "nohash", now_text);
    IS(l, "unauthorized", "an unknown token");
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 50, p), "Org A", "bob@x.org", "test", "e", expiring, number(NOW + 10, p),
        now_text);
    RUN(l, SR_OP_TOKEN_CURRENT, expiring, number(NOW + 9, p));
    IS(l, "ok", "just before it expires");
    RUN(l, SR_OP_TOKEN_CURRENT, expiring, number(NOW + 10, p));
    IS(l, "unauthorized", "when it expires");
}

static void webhooks(link_t *l)
{
    static const char *const kinds[] = {"sent", "signed", "completed"};
    apr_pool_t *p = l->pool;
    for (int i = 0; i < 3; i++) {
        const char *url = apr_psprintf(p, "https://x.org/%s", kinds[i]);
        const char *name = apr_psprintf(p, "%s_webhook_url", kinds[i]);
        RUN(l, SR_OP_WEBHOOK_SET, callers[A_TEST].hash, now_text, kinds[i], url);
        IS(l, "ok", "set %s", kinds[i]);
        is_str(member(RUN(l, SR_OP_TOKEN_CURRENT, callers[A_TEST].hash, now_text), name, p),
               apr_psprintf(p, "\"%s\"", url), "it is there");
        is_str(member(RUN(l, SR_OP_TOKEN_CURRENT, callers[A_LIVE].hash, now_text), name, p), "null",
               "another token has none");
    }
    RUN(l, SR_OP_WEBHOOK_SET, callers[A_TEST].hash, now_text, "signed", NULL);
    IS(l, "ok", "unset");
    is_str(member(RUN(l, SR_OP_TOKEN_CURRENT, callers[A_TEST].hash, now_text), "signed_webhook_url", p), "null",
           "it is gone");
    is_str(member(RUN(l, SR_OP_TOKEN_CURRENT, callers[A_TEST].hash, now_text), "sent_webhook_url", p),
           "\"https://x.org/sent\"", "the others are not");
    RUN(l, SR_OP_WEBHOOK_SET, "nohash", now_text, "sent", "https://x.org");
    IS(l, "unauthorized", "set without a token");
}

static void creation(link_t *l)
{
    apr_pool_t *p = l->pool;
    const wish_t first = {callers[A_TEST].hash, NOW, 1, "First", NULL, NULL, 0};
    const wish_t unknown = {"nohash", NOW, 99, "No", NULL, NULL, 0};
    const char *view = "{\"link\":\"\x01/1\",\"name\":\"First \\\"q\\\" \xc3\xa9\"}";
    const char *body;
    CREATE(l, wish(&first, p));
    IS(l, "ok", "create");
    CREATE(l, wish(&first, p));
    IS(l, "ok", "the same uuid again is a repetition");
    CREATE(l, wish(&unknown, p));
    IS(l, "unauthorized", "create without a token");
    is_str(MEMBER("representation", l, SR_OP_SUBMISSION_GET, callers[A_TEST].hash, now_text, uuid(1, 1, p), "1", NULL),
           view, "get: byte 1 and quotes come back");
    body = RUN(l, SR_OP_DOCUMENT_GET, callers[A_TEST].hash, now_text, uuid(1, 1, p), uuid(3, 2, p));
    IS(l, "ok", "document get");
    is_str(member(body, "name", p), "\"a \\\"b\\\".pdf\"", "its name");
    is_str(member(body, "size", p), "1234", "its size");
    is_str(member(body, "pages", p), "3", "its pages");
    is_str(member(body, "sha256", p), apr_psprintf(p, "\"%064x\"", 1), "its sha256");
    RUN(l, SR_OP_DOCUMENT_KNOWN, callers[A_TEST].hash, now_text, apr_psprintf(p, "%064x", 1));
    IS(l, "ok", "the same by its digest");
    is_str(COLUMN(l, "submission"), uuid(1, 1, p), "its submission");
    is_str(COLUMN(l, "document"), uuid(3, 2, p), "its uuid");
    is_str(COLUMN(l, "name"), "a \"b\".pdf", "its name");
    RUN(l, SR_OP_DOCUMENT_KNOWN, callers[A_TEST].hash, now_text, apr_psprintf(p, "%064x", 99));
    IS(l, "missing", "a digest that nothing has");
    RUN(l, SR_OP_DOCUMENT_GET, callers[A_TEST].hash, now_text, uuid(1, 1, p), uuid(3, 3, p));
    IS(l, "ok", "the second document, of size 0");
    RUN(l, SR_OP_DOCUMENT_GET, callers[A_TEST].hash, now_text, uuid(1, 1, p), uuid(3, 99, p));
    IS(l, "missing", "a document that is not there");
    RUN(l, SR_OP_SUBMISSION_GET, callers[A_TEST].hash, now_text, uuid(1, 77, p), "1", NULL);
    IS(l, "missing", "a submission that is not there");
    RUN(l, SR_OP_SUBMISSION_GET, callers[A_TEST].hash, now_text, apr_pstrdup(p, "00000001-0000-4000-8000-00000000000A"),
        "1", NULL);
    IS(l, "missing", "a uuid in upper case is a uuid");
}

static void isolation(link_t *l)
{
    apr_pool_t *p = l->pool;
    for (int owner = 0; owner < CALLERS; owner++) {
        const wish_t w = {callers[owner].hash, NOW + 5, 200 + (unsigned)owner, "Mine", NULL, NULL, 0};
        CREATE(l, wish(&w, p));
        IS(l, "ok", "caller %d creates", owner);
    }
    for (int owner = 0; owner < CALLERS; owner++) {
        const unsigned n = 200 + (unsigned)owner;
        for (int caller = 0; caller < CALLERS; caller++) {
            const char *want = caller == owner ? "ok" : "missing";
            RUN(l, SR_OP_SUBMISSION_GET, callers[caller].hash, now_text, uuid(1, n, p), "1", NULL);
            IS(l, want, "caller %d gets submission of %d", caller, owner);
            RUN(l, SR_OP_DOCUMENT_GET, callers[caller].hash, now_text, uuid(1, n, p), uuid(3, n * 2, p));
            IS(l, want, "caller %d gets document of %d", caller, owner);
            RUN(l, SR_OP_DOCUMENT_KNOWN, callers[caller].hash, now_text, apr_psprintf(p, "%064x", n));
            IS(l, want, "caller %d knows the document of %d", caller, owner);
            RUN(l, SR_OP_TOKEN_GET, callers[caller].hash, now_text, callers[owner].token_uuid);
            IS(l, want, "caller %d gets token of %d", caller, owner);
            if (caller == owner) continue;
            RUN(l, SR_OP_TOKEN_REVOKE, callers[caller].hash, now_text, callers[owner].token_uuid, "true");
            IS(l, "missing", "caller %d revokes token of %d", caller, owner);
            RUN(l, SR_OP_TOKEN_WEBHOOKS, callers[caller].hash, now_text, callers[owner].token_uuid, "{\"sent\":null}");
            IS(l, "missing", "caller %d changes the URLs of the token of %d", caller, owner);
        }
        RUN(l, SR_OP_DOCUMENT_GET, callers[owner].hash, now_text, uuid(1, n, p), uuid(3, 2, p));
        IS(l, "missing", "a document of another submission");
        RUN(l, SR_OP_SUBMISSION_LIST, callers[owner].hash, now_text, "100", "older", NULL, NULL, NULL, NULL, NULL, NULL,
            NULL, NULL, NULL, "1000000", "1");
        is_int(l->rows->nelts, owner == A_TEST ? 2 : 1, "caller %d lists what is its own", owner);
        RUN(l, SR_OP_TOKEN_LIST, callers[owner].hash, now_text, "100", "newer", NULL, NULL);
        is_int(l->rows->nelts, owner == A_OTHER_USER ? 2 : 1, "caller %d lists its tokens", owner);
    }
    RUN(l, SR_OP_SUBMISSION_LIST, "nohash", now_text, "100", "older", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        NULL, "1000000", "1");
    IS(l, "unauthorized", "list without a token");
    RUN(l, SR_OP_TOKEN_LIST, "nohash", now_text, "100", "older", NULL, NULL);
    IS(l, "unauthorized", "list tokens without a token");
    RUN(l, SR_OP_SUBMISSION_GET, "nohash", now_text, uuid(1, 1, p), "1", NULL);
    IS(l, "unauthorized", "get without a token");
    RUN(l, SR_OP_DOCUMENT_GET, "nohash", now_text, uuid(1, 1, p), uuid(3, 2, p));
    IS(l, "unauthorized", "document get without a token");
    RUN(l, SR_OP_DOCUMENT_KNOWN, "nohash", now_text, apr_psprintf(p, "%064x", 1));
    IS(l, "unauthorized", "document known without a token");
    RUN(l, SR_OP_DOCUMENT_KNOWN, callers[B_TEST].hash, now_text, apr_psprintf(p, "%064x", 0xb0b));
    IS(l, "ok", "a document that everybody has");
    is_str(COLUMN(l, "submission"), uuid(1, 200 + B_TEST, p), "is each caller's own");
}

/* Walks the list page by page and says the numbers it met: "12,11;10,9;…". */
static const char *walk(link_t *l, const char *direction, const char *size, const char *status, const char *q,
                        const char *after, const char *before)
{
    apr_pool_t *p = l->pool;
    const char *seen = "", *at = NULL, *id = NULL;
    for (int page = 0; page < 20; page++) {
        RUN(l, SR_OP_SUBMISSION_LIST, callers[B_TEST].hash, now_text, size, direction, at, id, status, NULL, NULL, NULL,
            q, after, before, "1000000", "1");
        if (l->error || !l->rows->nelts) break;
        for (int i = 0; i < l->rows->nelts; i++) {
            const char *link = strchr(column_at(l, i, "representation"), '\x01') + 2;
            seen = apr_pstrcat(p, seen, i ? "," : *seen ? ";" : "", apr_pstrmemdup(p, link, strcspn(link, "\"")), NULL);
            at = apr_pstrmemdup(p, key_at(l, i), strcspn(key_at(l, i), ":"));
            id = strchr(key_at(l, i), ':') + 1;
        }
    }
    return l->error ? link_outcome(l) : seen;
}

static void listing(link_t *l)
{
    apr_pool_t *p = l->pool;
    for (unsigned i = 1; i <= 5; i++) { /* two of them at the same time */
        const wish_t w = {
            callers[B_TEST].hash, NOW + 100 + (i == 3 ? 2 : i), 300 + i, i % 2 ? "odd 50%" : "even", NULL, NULL, 0};
        CREATE(l, wish(&w, p));
        IS(l, "ok", "create %u", i);
    }
    is_str(walk(l, "older", "2", NULL, NULL, NULL, NULL), "305,304;303,302;301,203", "older by two");
    is_str(walk(l, "newer", "2", NULL, NULL, NULL, NULL), "203,301;302,303;304,305", "newer by two");
    is_str(walk(l, "older", "100", NULL, NULL, NULL, NULL), "305,304,303,302,301,203", "older in one page");
    is_str(walk(l, "older", "2", NULL, "odd 50%", NULL, NULL), "305,303;301", "q, with a percent sign");
    is_str(walk(l, "newer", "2", NULL, "even", NULL, NULL), "302,304", "q, newer");
    is_str(walk(l, "older", "9", NULL, "%", NULL, NULL), "305,303,301", "q is no pattern");
    is_str(walk(l, "older", "9", NULL, "_dd", NULL, NULL), "", "nor is an underscore");
    is_str(walk(l, "older", "4", "sent", NULL, NULL, NULL), "305,304,303,302;301,203", "all are sent");
    is_str(walk(l, "older", "4", "completed", NULL, NULL, NULL), "", "none is completed");
    is_str(walk(l, "newer", "4", "opened", "odd", NULL, NULL), "", "none is opened");
    is_str(walk(l, "older", "2", NULL, NULL, number(NOW + 101, p), number(NOW + 105, p)), "304,303;302",
           "both dates are exclusive");
    is_str(walk(l, "newer", "2", NULL, NULL, number(NOW + 101, p), number(NOW + 105, p)), "302,303;304",
           "and so for newer");
    is_str(walk(l, "older", "1", NULL, NULL, number(NOW + 105, p), NULL), "", "after the last");
    is_str(walk(l, "newer", "1", NULL, NULL, NULL, number(NOW + 5, p)), "", "before the first");
}

/* What has come when the representations have so many bytes: "305,304,-,-". */
static const char *bounded(link_t *l, const char *direction, apr_size_t bytes)
{
    const char *seen = "";
    RUN(l, SR_OP_SUBMISSION_LIST, callers[B_TEST].hash, now_text, "4", direction, NULL, NULL, NULL, NULL, NULL, NULL,
        NULL, NULL, NULL, apr_psprintf(l->pool, "%" APR_SIZE_T_FMT, bytes), "1");
    for (int i = 0; i < l->rows->nelts; i++) {
        const char *body = column_at(l, i, "representation"), *link = body ? strchr(body, '\x01') + 2 : "-\"";
        seen = apr_pstrcat(l->pool, seen, i ? "," : "", apr_pstrmemdup(l->pool, link, strcspn(link, "\"")), NULL);
        ok(strchr(key_at(l, i), ':') != NULL, "row %d has its key, whether or not it has its view", i);
    }
    return l->error ? link_outcome(l) : seen;
}

static void listing_by_bytes(link_t *l)
{
    bounded(l, "older", 1000000);
    const apr_size_t size = strlen(COLUMN(l, "representation"));
    is_str(bounded(l, "older", 0), "-,-,-,-", "no bytes, no representations");
    is_str(bounded(l, "older", 1), "305,-,-,-", "the first representation always comes");
    is_str(bounded(l, "older", size), "305,-,-,-", "it is as large as is wanted");
    is_str(bounded(l, "older", size + 1), "305,304,-,-", "one byte more is wanted");
    is_str(bounded(l, "older", 1000000), "305,304,303,302", "room for all");
    is_str(bounded(l, "newer", size + 1), "203,301,-,-", "newer, from the oldest");
}

static void own_tokens(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *hash = callers[A_LIVE].hash, *fresh = apr_psprintf(p, "%064x", 0xf00d);
    const char *body =
        RUN(l, SR_OP_TOKEN_CREATE, hash, number(NOW + 7, p), uuid(8, 1, p), "mine", fresh, number(NOW + 1000, p));
    IS(l, "ok", "token create by a token");
    is_str(member(body, "environment", p), "\"production\"", "in the same environment");
    is_str(member(body, "expires_at", p), number(NOW + 1000, p), "its expiry");
    RUN(l, SR_OP_TOKEN_CREATE, hash, number(NOW + 7, p), uuid(8, 1, p), "mine", fresh, number(NOW + 1000, p));
    IS(l, "ok", "the same again is a repetition");
    RUN(l, SR_OP_TOKEN_CREATE, "nohash", now_text, uuid(8, 2, p), "mine", "other", NULL);
    IS(l, "unauthorized", "token create without a token");
    RUN(l, SR_OP_TOKEN_GET, "nohash", now_text, uuid(8, 1, p));
    IS(l, "unauthorized", "token get without a token");
    RUN(l, SR_OP_TOKEN_REVOKE, "nohash", now_text, uuid(8, 1, p), "false");
    IS(l, "unauthorized", "token revoke without a token");
    RUN(l, SR_OP_TOKEN_LIST, hash, now_text, "1", "older", NULL, NULL);
    is_int(l->rows->nelts, 1, "a page of one");
    is_str(member(body_at(l, 0), "name", p), "\"mine\"", "the newest first");
    RUN(l, SR_OP_TOKEN_LIST, hash, now_text, "5", "older", apr_pstrmemdup(p, key_at(l, 0), strcspn(key_at(l, 0), ":")),
        strchr(key_at(l, 0), ':') + 1);
    is_int(l->rows->nelts, 1, "and one older");
    is_str(member(body_at(l, 0), "name", p), "\"first\"", "the first");
    RUN(l, SR_OP_TOKEN_REVOKE, fresh, number(NOW + 8, p), uuid(8, 1, p), "false");
    IS(l, "ok", "a token revokes itself");
    RUN(l, SR_OP_TOKEN_CURRENT, fresh, number(NOW + 8, p));
    IS(l, "unauthorized", "it is revoked at once");
    RUN(l, SR_OP_TOKEN_REVOKE, hash, number(NOW + 9, p), uuid(8, 1, p), "false");
    IS(l, "ok", "revoking twice is well");
    body = RUN(l, SR_OP_TOKEN_GET, hash, now_text, uuid(8, 1, p));
    is_str(member(body, "revoked_at", p), number(NOW + 8, p), "and keeps the first time");
    RUN(l, SR_OP_TOKEN_LIST, hash, now_text, "9", "newer", NULL, NULL);
    is_int(l->rows->nelts, 2, "the revoked one is listed");
    body = RUN(l, SR_OP_ADMIN_TOKEN_REVOKE, callers[B_LIVE].token_uuid, number(NOW + 3, p), "false");
    is_str(member(body, "revoked_at", p), number(NOW + 3, p), "revoked by the administrator");
    RUN(l, SR_OP_ADMIN_TOKEN_REVOKE, uuid(8, 99, p), now_text, "false");
    IS(l, "missing", "no such token to revoke");
    RUN(l, SR_OP_SUBMISSION_GET, callers[B_LIVE].hash, now_text, uuid(1, 204, p), "1", NULL);
    IS(l, "unauthorized", "its submissions are closed to it");
}

static void quota_and_keys(link_t *l)
{
    apr_pool_t *p = l->pool;
    wish_t w = {callers[A_LIVE].hash, NOW + 20, 400, "Live", "key", "print", NOW - 100};
    const char *first;
    RUN(l, SR_OP_ADMIN_ORGANIZATION_QUOTA, "Org A", "2"); /* one is used by `isolation` */
    CREATE(l, wish(&w, p));
    IS(l, "ok", "the last of the quota, with a key");
    first = MEMBER("representation", l, SR_OP_SUBMISSION_GET, w.token, now_text, uuid(1, 400, p), "1", NULL);
    CREATE(l, wish(&w, p));
    IS(l, "ok", "repeated: no quota is needed");
    w.number = 401;
    /* a signer has signed meanwhile */
    execute(l, apr_psprintf(p, "UPDATE %s SET representation = 'later' WHERE name = 'Live'",
                            strcmp(l->base->driver_name, "pgsql") == 0 ? "sigreq.submission" : "submission"));
    is_str(CREATE(l, wish(&w, p)), first, "the key again gives the first answer");
    IS(l, "replay", "as a replay");
    w.fingerprint = "another";
    CREATE(l, wish(&w, p));
    IS(l, "conflict", "the key with another request");
    w.key = "second", w.number = 402;
    CREATE(l, wish(&w, p));
    IS(l, "quota", "the quota is used up");
    RUN(l, SR_OP_SUBMISSION_GET, w.token, now_text, uuid(1, 402, p), "1", NULL);
    IS(l, "missing", "nothing of it is stored");
    RUN(l, SR_OP_ADMIN_ORGANIZATION_QUOTA, "Org A", "3");
    CREATE(l, wish(&w, p));
    IS(l, "ok", "nor its key: with more quota it is created");
    is_str(member(RUN(l, SR_OP_ADMIN_ORGANIZATION_LIST), "used", p), "3", "used counts what was created");
    w = (wish_t){callers[A_TEST].hash, NOW + 20, 403, "Test", "key", "print", NOW - 100};
    CREATE(l, wish(&w, p));
    IS(l, "ok", "the same key of another token is another key; test needs no quota");
    w.number = 404, w.now = NOW + 50, w.since = NOW + 20;
    CREATE(l, wish(&w, p));
    IS(l, "replay", "as old as the limit still counts");
    w.since = NOW + 21;
    CREATE(l, wish(&w, p));
    IS(l, "ok", "older than the limit counts as absent");
    w.number = 405;
    CREATE(l, wish(&w, p));
    IS(l, "replay", "and the key is renewed");
    is_str(RUN(l, SR_OP_ADMIN_EXPIRE, number(NOW + 50, p)), "2", "expire what is older");
    is_str(RUN(l, SR_OP_ADMIN_EXPIRE, number(NOW + 51, p)), "1", "expire the rest");
    CREATE(l, wish(&w, p));
    IS(l, "ok", "an expired key is free");
}

static void refusals(link_t *l)
{
    apr_pool_t *p = l->pool;
    RUN(l, SR_OP_PING, "1");
    const char *version = COLUMN(l, "schema"), *database = COLUMN(l, "database");
    sr_schema_t schema;

    ok(!sr_schema_read(&schema, l->base->driver, l->handle, p), "the schema");
    is_str(version, apr_itoa(p, schema.latest), "ping tells the schema");
    RUN(l, SR_OP_REWRITE);
    IS(l, "ok", "what is there is written again");
    RUN(l, SR_OP_PING, "1");
    is_str(COLUMN(l, "database"), database, "and is the same then");
    RUN(l, SR_OP_TOKEN_CURRENT, "one");
    ok(l->error && l->error->code == SR_EINTERNAL, "too few arguments are refused");
    RUN(l, SR_OP_SUBMISSION_CREATE, callers[A_TEST].hash, now_text, uuid(1, 500, p), "{\"name\": \"secret-words", "",
        NULL, NULL, FOLDER, "[]", NULL, NULL, NULL, NULL);
    ok(l->error && l->error->code == SR_EINTERNAL, "broken JSON is refused");
    ok(l->error && l->error->cause && !strstr(l->error->cause, "secret"), "without its words: %s", l->error->cause);
    RUN(l, SR_OP_WEBHOOK_SET, callers[A_TEST].hash, now_text, "sent", apr_psprintf(p, "https://secret/%0300d", 0));
    ok(l->error && l->error->code == SR_EINTERNAL, "a URL too long is refused");
    ok(l->error && l->error->cause && !strstr(l->error->cause, "secret"), "without its words: %s", l->error->cause);
    RUN(l, SR_OP_TOKEN_CURRENT, callers[A_TEST].hash, now_text);
    IS(l, "ok", "and the connection serves on");
}

static void checks(base_t *base)
{
    link_t link;
    link_connect(&link, base, base->pool);
    link_open(&link);
    ok(link.error && link.error->code == SR_EUNAVAILABLE && strstr(link.error->cause, "run: sigreqctl db init"),
       "no schema: %s", link.error ? link.error->cause : "");
    link_upgrade(&link);
    link_contents(&link);
    ok(!link.error, "upgrade %s", link.error ? link.error->cause : "");
    link_open(&link);
    ok(!link.error, "open %s", link.error ? link.error->cause : "");
    if (link.error) return;
    now_text = number(NOW, base->pool);
    administration(&link);
    tokens_by_administration(&link);
    token_current(&link);
    webhooks(&link);
    creation(&link);
    isolation(&link);
    listing(&link);
    listing_by_bytes(&link);
    own_tokens(&link);
    quota_and_keys(&link);
    refusals(&link);
    link_close(&link);
}

int main(void)
{
    return each_base(checks);
}
