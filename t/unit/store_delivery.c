/* Webhook calls on both databases: which rows an event makes, which are claimed and in what order, what is recorded,
 * what becomes of claims whose process died, the history, and calling once more. */
#include "store.h"

#define NOW ((apr_time_t)1790000000000000)
#define LEASE "30000000"

static const char hash[] = "00000000000000000000000000000000000000000000000000000000000000a1";
static const char hash_other[] = "00000000000000000000000000000000000000000000000000000000000000a2";
static const char *now_text;
static unsigned events; /* made so far */

/* An event of submission `n` (its step's state follows from how many it had). */
static const char *event(link_t *l, unsigned n, int seen, const char *kind)
{
    const char *id = uuid(9, ++events, l->pool);

    RUN(l, SR_OP_SIGNING_CHANGE,
        apr_psprintf(
            l->pool,
            "{\"submission\":\"%s\",\"signer\":\"%s\",\"now\":%" APR_TIME_T_FMT ",\"seen\":%d,\"seen_hash\":\"e%d\","
            "\"view\":\"v\",\"status\":\"opened\",\"events\":[{\"hash\":\"e%d\",\"body\":\"{}\"}],"
            "\"webhooks\":[{\"event_id\":\"%s\",\"kind\":\"%s\",\"body\":\"{\\\"n\\\":\\\"\xc3\xa9 %u\\\"}\"}]}",
            uuid(1, n, l->pool), uuid(4, n * 2, l->pool), NOW + seen, seen, seen, seen + 1, id, kind, events));
    if (strcmp(link_outcome(l), "ok") != 0) is_str(link_outcome(l), "ok", "an event of submission %u", n);
    return id;
}

static void set_url(link_t *l, const char *token, const char *kind, const char *url)
{
    RUN(l, SR_OP_WEBHOOK_SET, token, now_text, kind, url);
}

/* One turn; the claims' destinations come as "a b c". */
static const char *turn(link_t *l, const char *claim, int rows, int each, const char *more)
{
    const char *said = "";

    RUN(l, SR_OP_DELIVERY_TURN,
        apr_psprintf(l->pool, "{\"claim\":\"%s\",\"lease\":" LEASE ",\"rows\":%d,\"each\":%d%s}", claim, rows, each,
                     *more ? more : ",\"room\":{},\"after\":\"\",\"ended\":[]"));
    if (strcmp(link_outcome(l), "ok") != 0) return link_outcome(l);
    for (int i = 0; i < l->rows->nelts - 1; i++) {
        const char *key = strchr(strchr(key_at(l, i), ' ') + 1, ' ') + 1; /* behind the id and the time */
        said = apr_pstrcat(l->pool, said, *said ? " " : "", apr_pstrndup(l->pool, key, strcspn(key, " ")), NULL);
    }
    ok(l->rows->nelts > 0 && !APR_ARRAY_IDX(l->rows, l->rows->nelts - 1, sr_row_t).body, "the last row is empty");
    return said;
}

/* The `ended` of everything the last turn claimed. */
static const char *ended(link_t *l, const char *claim, const char *rest)
{
    const char *said = "";

    for (int i = 0; i < l->rows->nelts - 1; i++) {
        const char *key = key_at(l, i);
        said = apr_pstrcat(l->pool, said, i ? "," : "", "{\"id\":", apr_pstrndup(l->pool, key, strcspn(key, " ")),
                           ",\"claim\":\"", claim, "\",", rest, "}", NULL);
    }
    return apr_pstrcat(l->pool, ",\"room\":{},\"after\":\"\",\"ended\":[", said, "]", NULL);
}

#define GOOD "\"status\":204,\"success\":true,\"error\":null"

static void set_up(link_t *l)
{
    apr_pool_t *p = l->pool;

    RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, p), "Org", NULL, now_text);
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, p), "Org", "Ann", "Lee", "ann@x.org", now_text);
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 2, p), "Org", "Bob", "Lee", "bob@x.org", now_text);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, p), "Org", "ann@x.org", "test", "t", hash, NULL, now_text);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 2, p), "Org", "bob@x.org", "test", "t", hash_other, NULL, now_text);
    for (unsigned n = 1; n <= 9; n++) {
        RUN(l, SR_OP_SUBMISSION_CREATE,
            wish(&(wish_t){.token = n == 9 ? hash_other : hash, .now = NOW, .number = n, .name = "One"}, p));
        if (strcmp(link_outcome(l), "ok") != 0) is_str(link_outcome(l), "ok", "a submission");
    }
}

static void check_rows(link_t *l)
{
    const char *id, *body;

    RUN(l, SR_OP_DELIVERY_LOOK);
    is_str(link_outcome(l), "missing", "nothing to do");
    body = RUN(l, SR_OP_DELIVERY_SURVEY);
    is_str(member(body, "waiting", l->pool), "0", "nor to count");
    is_str(member(body, "oldest", l->pool), "0", "… nor old");
    event(l, 1, 1, "signed");
    is_str(turn(l, "none", 10, 10, ""), "", "no URL, no row");
    set_url(l, hash, "signed", "HTTPS://User.Example.org:8443?x=1&\"é\"");
    id = event(l, 1, 2, "signed");
    RUN(l, SR_OP_DELIVERY_LOOK);
    is_str(link_outcome(l), "ok", "something to do");
    body = RUN(l, SR_OP_DELIVERY_SURVEY);
    is_str(member(body, "waiting", l->pool), "1", "one waits");
    ok(strtoll(member(body, "oldest", l->pool), NULL, 10) > 1000000, "… for long, as its time is long ago");
    is_str(turn(l, "c1", 10, 10, ""), "user.example.org:8443", "claimed by its host");
    body = APR_ARRAY_IDX(l->rows, 0, sr_row_t).body;
    is_str(member(body, "userTokenId", l->pool), apr_psprintf(l->pool, "\"%s\"", uuid(7, 1, l->pool)), "the token");
    is_str(member(body, "webhookUrl", l->pool), "\"HTTPS://User.Example.org:8443?x=1&\\\"é\\\"\"", "the URL");
    is_str(member(body, "n", l->pool), "\"é 2\"", "and the event's own");
    is_str(strrchr(key_at(l, 0), ' ') + 1, "HTTPS://User.Example.org:8443?x=1&\"é\"", "what to call");
    is_str(turn(l, "c2", 10, 10, ""), "", "nobody else gets it");
    is_str(turn(l, "c1", 10, 10, ""), "user.example.org:8443", "the same turn again gets it again");
    is_str(turn(l, "c3", 10, 10, ended(l, "wrong", GOOD)), "", "whose claim it is not cannot end it");
    RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "10", "older", NULL, NULL, NULL, NULL, NULL);
    is_int(l->rows->nelts, 0, "no history yet");
    RUN(l, SR_OP_HISTORY_REDELIVER, hash, now_text, id, uuid(8, 1, l->pool));
    is_str(link_outcome(l), "missing", "nothing to repeat yet");
    turn(l, "c1", 10, 10, "");
    turn(l, "c4", 10, 10, ended(l, "c1", GOOD));
    body = RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "10", "older", NULL, NULL, NULL, NULL, NULL);
    is_int(l->rows->nelts, 1, "then it is history");
    is_str(member(body, "event_id", l->pool), apr_psprintf(l->pool, "\"%s\"", id), "its event");
    is_str(member(body, "submission", l->pool), apr_psprintf(l->pool, "\"%s\"", uuid(1, 1, l->pool)), "submission");
    is_str(member(body, "event", l->pool), "\"signed\"", "kind");
    is_str(member(body, "success", l->pool), "true", "success");
    is_str(member(body, "status", l->pool), "204", "status");
    is_str(member(body, "error", l->pool), "null", "no error");
}

static void check_order(link_t *l)
{
    const char *claimed;

    set_url(l, hash, "signed", "http://a.org/x");
    set_url(l, hash, "completed", "http://b.org/y#z");
    event(l, 2, 1, "signed");
    event(l, 2, 2, "completed");
    event(l, 3, 1, "refused");
    claimed = turn(l, "o1", 10, 10, "");
    is_str(claimed, "a.org a.org", "the later event waits, those of others do not");
    is_str(turn(l, "o2", 10, 10, ""), "", "also while the earlier is on its way");
    turn(l, "o1", 10, 10, "");
    is_str(turn(l, "o3", 10, 10, ended(l, "o1", "\"status\":500,\"success\":false,\"error\":\"5 'x'\"")), "b.org",
           "and comes when that is over, however it ended");
    turn(l, "o4", 0, 0, ended(l, "o3", GOOD));
}

static void check_shares(link_t *l)
{
    const char *const hosts[] = {"http://a.org/", "http://b.org?", "http://c.org#"};

    for (int i = 0; i < 6; i++) {
        set_url(l, hash, "signed", hosts[i % 3]);
        event(l, (unsigned)i + 3, i ? 1 : 2, "signed");
    }
    is_str(turn(l, "s1", 2, 1, ",\"room\":{},\"after\":\"\",\"ended\":[]"), "a.org b.org", "one of each");
    is_str(turn(l, "s2", 2, 1, ",\"room\":{\"a.org\":0,\"b.org\":0},\"after\":\"b.org\",\"ended\":[]"), "c.org",
           "whoever has his share waits");
    is_str(turn(l, "s3", 9, 2, ",\"room\":{\"c.org\":0,\"b.org\":1},\"after\":\"a.org\",\"ended\":[]"), "b.org a.org",
           "from there on, and around");
    is_str(turn(l, "s4", 9, 9, ",\"room\":{},\"after\":\"zz\",\"ended\":[]"), "c.org", "the rest");
}

/* A claim whose call has not begun can be given back. */
static void check_released(link_t *l)
{
    set_url(l, hash, "signed", "http://r.org/");
    event(l, 6, 2, "signed");
    is_str(turn(l, "g1", 9, 9, ""), "r.org", "claimed");
    const char *back = ended(l, "g1", "\"x\":1");
    back = apr_pstrcat(l->pool, ",\"room\":{\"r.org\":0},\"after\":\"\",\"ended\":[],\"released\":",
                       strstr(back, "\"ended\":") + strlen("\"ended\":"), NULL);
    is_str(turn(l, "g2", 9, 9, back), "", "given back");
    is_str(turn(l, "g3", 9, 9, ""), "r.org", "somebody else has it");
    is_str(turn(l, "g4", 9, 9, back), "", "who cannot be robbed of it");
    turn(l, "g3", 9, 9, "");
    turn(l, "g5", 0, 0, ended(l, "g3", GOOD));
    is_str(turn(l, "g6", 9, 9, back), "", "nor is it made again");
}

static void make_late(link_t *l)
{
    execute(l, strcmp(l->base->driver_name, "pgsql") == 0
                   ? "UPDATE sigreq.delivery SET claimed_until = 1 WHERE state = 'claimed'"
                   : "UPDATE delivery SET claimed_until = 1 WHERE state = 'claimed'");
}

static void check_interrupted(link_t *l)
{
    const char *body;

    RUN(l, SR_OP_DELIVERY_LOOK);
    is_str(link_outcome(l), "missing", "claims that live are nobody's business");
    turn(l, "s3", 9, 2, ",\"room\":{},\"after\":\"a.org\",\"ended\":[]");
    const char *truth = ended(l, "s3", GOOD);
    body = RUN(l, SR_OP_DELIVERY_SURVEY);
    is_str(member(body, "interrupted", l->pool), "0", "a survey ends none of them");
    is_str(member(body, "under_way", l->pool), "6", "… and counts them");
    make_late(l);
    body = RUN(l, SR_OP_DELIVERY_SURVEY);
    is_str(link_outcome(l), "ok", "those whose time is over are");
    is_str(member(body, "interrupted", l->pool), "6", "… ended by it");
    is_str(member(body, "under_way", l->pool), "0", "… and gone");
    is_str(turn(l, "i1", 9, 9, ""), "", "they are not made again");
    body = RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "10", "older", NULL, NULL, NULL, NULL, "false");
    is_int(l->rows->nelts, 8, "all six are recorded, with the two that failed");
    is_str(member(body, "error", l->pool), "\"interrupted, outcome unknown\"", "as what they are");
    is_str(member(body, "status", l->pool), "null", "without a status");
    turn(l, "i2", 0, 0, truth);
    RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "10", "older", NULL, NULL, NULL, NULL, "false");
    is_int(l->rows->nelts, 6, "the truth replaces it where it still comes");
    RUN(l, SR_OP_DELIVERY_LOOK);
    is_str(link_outcome(l), "missing", "nothing is left to do");
}

static void check_history(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *id, *body, *key;

    RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "4", "older", NULL, NULL, NULL, NULL, NULL);
    is_int(l->rows->nelts, 4, "a page");
    key = key_at(l, 3);
    RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "99", "older", apr_pstrndup(p, key, strcspn(key, ":")),
        strchr(key, ':') + 1, NULL, NULL, NULL);
    is_int(l->rows->nelts, 7, "the rest");
    RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "99", "newer", apr_pstrndup(p, key, strcspn(key, ":")),
        strchr(key, ':') + 1, NULL, NULL, NULL);
    is_int(l->rows->nelts, 3, "and back");
    RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "99", "older", NULL, NULL, "completed", NULL, NULL);
    is_int(l->rows->nelts, 1, "of a kind");
    RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "99", "older", NULL, NULL, NULL, uuid(1, 2, p), NULL);
    is_int(l->rows->nelts, 2, "of a submission");
    RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "99", "older", NULL, NULL, NULL, uuid(1, 99, p), NULL);
    is_int(l->rows->nelts, 0, "of one that is not there");
    RUN(l, SR_OP_HISTORY_LIST, hash_other, now_text, "99", "older", NULL, NULL, NULL, NULL, NULL);
    is_int(l->rows->nelts, 0, "another user sees nothing");
    RUN(l, SR_OP_HISTORY_LIST, "nobody", now_text, "99", "older", NULL, NULL, NULL, NULL, NULL);
    is_str(link_outcome(l), "unauthorized", "nobody even less");

    set_url(l, hash, "completed", NULL);
    body = RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "99", "older", NULL, NULL, "completed", NULL, NULL);
    id = member(body, "event_id", p);
    id = apr_pstrmemdup(p, id + 1, 36);
    RUN(l, SR_OP_HISTORY_REDELIVER, hash, now_text, id, uuid(8, 2, p));
    is_str(link_outcome(l), "conflict", "no URL to repeat it at");
    set_url(l, hash, "completed", "http://new.org/");
    RUN(l, SR_OP_HISTORY_REDELIVER, hash_other, now_text, id, uuid(8, 2, p));
    is_str(link_outcome(l), "missing", "another user's event");
    RUN(l, SR_OP_HISTORY_REDELIVER, "nobody", now_text, id, uuid(8, 2, p));
    is_str(link_outcome(l), "unauthorized", "nobody");
    body = RUN(l, SR_OP_HISTORY_REDELIVER, hash, now_text, id, uuid(8, 2, p));
    is_str(link_outcome(l), "ok", "once more");
    is_str(member(body, "url", p), "\"http://new.org/\"", "where the token's URL points now");
    is_str(member(body, "success", p), "null", "nothing is known of it yet");
    RUN(l, SR_OP_HISTORY_REDELIVER, hash, now_text, id, uuid(8, 2, p));
    is_str(link_outcome(l), "ok", "the same again changes nothing");
    RUN(l, SR_OP_HISTORY_REDELIVER, hash, now_text, uuid(8, 2, p), uuid(8, 3, p));
    is_str(link_outcome(l), "missing", "a call's uuid is no event's");
    is_str(turn(l, "r1", 9, 9, ""), "new.org", "one call");
    turn(l, "r2", 0, 0, ended(l, "r1", GOOD));
    body = RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "99", "older", NULL, NULL, "completed", NULL, "true");
    is_int(l->rows->nelts, 2, "two rows of one event");
    is_str(member(RUN(l, SR_OP_ADMIN_HISTORY_EXPIRE, "5"), "deleted", p), "0", "nothing is that old");
    is_str(member(RUN(l, SR_OP_ADMIN_HISTORY_EXPIRE, "9000000000000000"), "deleted", p), "12", "retention");
}

static void checks(base_t *base)
{
    apr_array_header_t *applied;
    link_t l;

    link_connect(&l, base, base->pool);
    now_text = number(NOW, base->pool);
    events = 0;
    ok(!sr_schema_upgrade(&applied, base->driver, l.handle, l.pool) && !link_open(&l), "a schema");
    set_up(&l);
    check_rows(&l);
    check_order(&l);
    check_shares(&l);
    check_interrupted(&l);
    check_released(&l);
    check_history(&l);
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
