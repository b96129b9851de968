/* SPDX-License-Identifier: Apache-2.0 */
/* Webhook calls on both databases: which rows an event makes, which are claimed and in what order, what is recorded,
 * what becomes of claims whose process died, the history, and calling once more. */
#include "jobs.h"

static const char hash[] = "00000000000000000000000000000000000000000000000000000000000000a1";
static const char hash_other[] = "00000000000000000000000000000000000000000000000000000000000000a2";

/* One batch for which all destinations answer, `each` for each. */
static const char *batch(link_t *l, const char *claim, int rows, int each, const char *more)
{
    static const char *const hosts[] = {"a.org", "b.org", "c.org", "r.org", "new.org", "user.example.org:8443", NULL};
    const char *listed = "";
    for (int i = 0; hosts[i]; i++)
        listed = apr_psprintf(l->pool, "%s%s\"%s\":%d", listed, i ? "," : "", hosts[i], each);
    return batch_of(l, claim, rows, apr_pstrcat(l->pool, PLENTY ",\"destinations\":{\"1\":{", listed, "}}", NULL),
                    more);
}

static void set_up(link_t *l)
{
    apr_pool_t *p = l->pool;
    RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, p), "Org", NULL, now_text);
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, p), "Org", "Ann", "Lee", "ann@x.org", now_text);
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 2, p), "Org", "Bob", "Lee", "bob@x.org", now_text);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, p), "Org", "ann@x.org", "test", "t", hash, NULL, now_text);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 2, p), "Org", "bob@x.org", "test", "t", hash_other, NULL, now_text);
    for (unsigned n = 1; n <= 9; n++) {
        CREATE(l, wish(&(wish_t){.token = n == 9 ? hash_other : hash, .now = NOW, .number = n, .name = "One"}, p));
        if (strcmp(link_outcome(l), "ok") != 0) is_str(link_outcome(l), "ok", "a submission");
    }
}

static void check_rows(link_t *l)
{
    const char *id, *body;
    RUN(l, SR_OP_JOB_POLL, now_text);
    is_str(link_outcome(l), "missing", "nothing to do");
    RUN(l, SR_OP_JOB_SURVEY, survey_of(l, "[]"));
    is_str(COLUMN(l, "waiting"), "0", "nor to count");
    is_str(COLUMN(l, "oldest"), "0", "the queue has no oldest job");
    event(l, 1, 1, "signed");
    is_str(batch(l, "none", 10, 10, ""), "", "no URL, no row");
    set_url(l, hash, "signed", "HTTPS://User.Example.org:8443?x=1&\"é\"");
    id = event(l, 1, 2, "signed");
    RUN(l, SR_OP_JOB_POLL, now_text);
    is_str(link_outcome(l), "ok", "something to do");
    RUN(l, SR_OP_JOB_SURVEY, survey_of(l, "[]"));
    is_str(COLUMN(l, "waiting"), "1", "one waits");
    ok(strtoll(COLUMN(l, "oldest"), NULL, 10) > 1000000,
       "the oldest job has waited for long, because its time is long ago");
    is_str(batch(l, "c1", 10, 10, ""), "user.example.org:8443", "claimed by its host");
    is_str(claim_member(l, 0, "kind"), "webhook", "what it is");
    is_str(claim_member(l, 0, "token"), uuid(7, 1, l->pool), "the token");
    is_str(claim_member(l, 0, "url"), "HTTPS://User.Example.org:8443?x=1&\"é\"", "what to call");
    is_str(claim_member(l, 0, "body"), apr_psprintf(l->pool, "{\"n\":\"é %u\"}", events), "the event's own");
    is_str(claim_member(l, 0, "attempts"), "0", "it is the first attempt");
    is_str(claim_member(l, 0, "due_at"), number(NOW + 2, l->pool), "the first attempt is due since the event");
    is_str(column_at(l, 1, "due_in"), NULL, "nothing is due later");
    is_str(batch(l, "c2", 10, 10, ""), "", "nobody else gets it");
    is_str(batch(l, "c1", 10, 10, ""), "user.example.org:8443", "the same batch again gets it again");
    is_str(batch(l, "c3", 10, 10, ended(l, "wrong", GOOD)), "", "whose claim it is not cannot end it");
    RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "10", "older", NULL, NULL, NULL, NULL, NULL);
    is_int(l->rows->nelts, 0, "no history yet");
    RUN(l, SR_OP_HISTORY_REDELIVER, hash, now_text, id, uuid(8, 1, l->pool));
    is_str(link_outcome(l), "missing", "nothing to repeat yet");
    batch(l, "c1", 10, 10, "");
    batch(l, "c4", 10, 10, ended(l, "c1", GOOD));
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
    claimed = batch(l, "o1", 10, 10, "");
    is_str(claimed, "a.org a.org", "the later event waits, those of others do not");
    is_str(batch(l, "o2", 10, 10, ""), "", "also while the earlier is on its way");
    batch(l, "o1", 10, 10, "");
    is_str(batch(l, "o3", 10, 10, ended(l, "o1", "\"status\":500,\"success\":false,\"error\":\"5 'x'\"")), "b.org",
           "and comes when that is over, however it ended");
    batch(l, "o4", 0, 0, ended(l, "o3", GOOD));
}

/* Two events for each of three destinations of one organization, one for one of another. */
static void check_shares(link_t *l)
{
    const char *const hosts[] = {"http://a.org/", "http://b.org?", "http://c.org#"};
    for (int i = 0; i < 6; i++) {
        set_url(l, hash, "signed", hosts[i % 3]);
        event(l, (unsigned)i + 3, i ? 1 : 2, "signed");
    }
    is_str(batch_of(l, "s0", 0, PLENTY "," LISTED(""), ""), "", "a batch without rows claims nothing");
    is_str(batch_of(l, "s1", 1, PLENTY "," LISTED(""), ""), "a.org", "a destination that is not listed gets one job");
    is_str(batch_of(l, "s2", 9,
                    "\"share\":" SHARE(99, 9, "b.org") ",\"other\":9," NOBODY
                                                       "," LISTED(DESTINATION("a.org", 0) "," DESTINATION("b.org", 0)),
                    ""),
           "c.org", "a destination that is listed without room gets no job");
    is_str(batch_of(l, "s3", 9,
                    "\"share\":" SHARE(99, 1, "b.org") ",\"other\":9," NOBODY "," LISTED(DESTINATION("c.org", 0)), ""),
           "a.org", "the walk begins after `after`, and goes around");
    is_str(batch_of(l, "s4", 9, "\"share\":" SHARE(99, 9, "") ",\"other\":0," NOBODY "," LISTED(""), ""), "",
           "destinations that are not listed get no job if all have enough");
    is_str(batch_of(l, "s5", 9, "\"share\":" SHARE(99, 1, "a.org") ",\"other\":9," NOBODY "," LISTED(""), ""), "b.org",
           "destinations that are not listed get as many jobs as the share says");
    is_str(batch_of(l, "s6", 9,
                    "\"share\":" SHARE(99, 9, "") ",\"other\":9,\"from\":7,\"organizations\":{\"1\":" SHARE(
                        1, 9, "") "}," LISTED(DESTINATION("b.org", 9)),
                    ""),
           "b.org", "an organization gets as many jobs as its share says");
    is_str(batch_of(l, "s7", 9, PLENTY "," LISTED(DESTINATION("c.org", 2)), ""), "c.org",
           "the next batch claims the rest");
}

/* A claim whose call has not begun can be given back. */
static void check_released(link_t *l)
{
    set_url(l, hash, "signed", "http://r.org/");
    event(l, 6, 2, "signed");
    is_str(batch(l, "g1", 9, 9, ""), "r.org", "claimed");
    const char *back = ended(l, "g1", "\"x\":1");
    back = apr_pstrcat(l->pool, ",\"ended\":[],\"released\":", strstr(back, "\"ended\":") + strlen("\"ended\":"), NULL);
    is_str(batch(l, "g2", 9, 0, back), "", "given back");
    is_str(batch(l, "g3", 9, 9, ""), "r.org", "somebody else has it");
    is_str(batch(l, "g4", 9, 9, back), "", "who cannot be robbed of it");
    batch(l, "g3", 9, 9, "");
    batch(l, "g5", 0, 0, ended(l, "g3", GOOD));
    is_str(batch(l, "g6", 9, 9, back), "", "nor is it made again");
}

static void make_late(link_t *l)
{
    execute(l, strcmp(l->base->driver_name, "pgsql") == 0
                   ? "UPDATE sigreq.job SET claimed_until = 1 WHERE state = 'claimed'"
                   : "UPDATE job SET claimed_until = 1 WHERE state = 'claimed'");
}

static void check_interrupted(link_t *l)
{
    const char *body;
    RUN(l, SR_OP_JOB_POLL, now_text);
    is_str(link_outcome(l), "missing", "claims that live are nobody's business");
    batch(l, "s3", 9, 2, "");
    const char *truth = ended(l, "s3", GOOD);
    RUN(l, SR_OP_JOB_SURVEY, survey_of(l, "[]"));
    is_str(COLUMN(l, "interrupted"), "0", "a survey ends none of them");
    is_str(COLUMN(l, "under_way"), "6", "a survey counts the jobs under way");
    make_late(l);
    RUN(l, SR_OP_JOB_SURVEY, survey_of(l, "[]"));
    is_str(link_outcome(l), "ok", "those whose time is over are");
    is_str(COLUMN(l, "interrupted"), "6", "a survey ends the jobs whose time is over");
    is_str(COLUMN(l, "under_way"), "0", "no ended job is under way");
    is_str(batch(l, "i1", 9, 9, ""), "", "they are not made again");
    body = RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "10", "older", NULL, NULL, NULL, NULL, "false");
    is_int(l->rows->nelts, 8, "all six are recorded, with the two that failed");
    is_str(member(body, "error", l->pool), "\"interrupted, outcome unknown\"", "as what they are");
    is_str(member(body, "status", l->pool), "null", "without a status");
    batch(l, "i2", 0, 0, truth);
    RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "10", "older", NULL, NULL, NULL, NULL, "false");
    is_int(l->rows->nelts, 7, "the truth replaces it where it still comes");
    RUN(l, SR_OP_JOB_POLL, now_text);
    is_str(link_outcome(l), "missing", "nothing is left to do");
}

/* Claims of a process that is known to be dead end before their time, those of others do not. */
static void check_dead(link_t *l)
{
    set_url(l, hash, "signed", "http://a.org/x");
    event(l, 1, 3, "signed");
    set_url(l, hash, "signed", "http://b.org/x");
    event(l, 1, 4, "signed");
    event(l, 2, 3, "signed");
    is_str(batch(l, "d-1-2.7", 9, 9, ""), "a.org b.org", "two are claimed, the third waits for the first");
    RUN(l, SR_OP_JOB_SURVEY, survey_of(l, "[\"d-1\",\"d-1-2.7\",\"\"]"));
    is_str(COLUMN(l, "interrupted"), "0", "other processes are dead");
    is_str(COLUMN(l, "owners"), "[\"d-1-2\"]", "whose the claims are");
    RUN(l, SR_OP_JOB_SURVEY, survey_of(l, "[\"x\",\"d-1-2\"]"));
    is_str(COLUMN(l, "interrupted"), "2", "this one is");
    is_str(COLUMN(l, "owners"), "[]", "nobody has claims then");
    is_str(batch(l, "d-1-3.1", 9, 9, ""), "b.org", "and the third has its turn");
    batch(l, "d-1-3.2", 0, 0, ended(l, "d-1-3.1", GOOD));
}

/* A claim of a dead process is scheduled again if its kind may be done twice, as often as the kind says. */
static void check_repeated(link_t *l)
{
    const bool pgsql = strcmp(l->base->driver_name, "pgsql") == 0;
    const char *survey = apr_psprintf(l->pool,
                                      "{\"now\":%" APR_TIME_T_FMT ",\"dead\":[\"e\"],"
                                      "\"repeated\":{\"webhook\":{\"attempts\":2,\"pause\":5000000}}}",
                                      NOW - apr_time_from_sec(5));
    set_url(l, hash, "signed", "http://a.org/x");
    event(l, 8, 2, "signed");
    is_str(batch(l, "e.1", 9, 9, ""), "a.org", "a claim");
    RUN(l, SR_OP_JOB_SURVEY, survey);
    is_str(COLUMN(l, "interrupted"), "0", "it is not lost when its process dies");
    RUN(l, SR_OP_JOB_POLL, now_text);
    is_str(link_outcome(l), "ok", "after its pause it is due again");
    RUN(l, SR_OP_JOB_POLL, number(NOW - apr_time_from_sec(2), l->pool));
    is_str(link_outcome(l), "missing", "before, it is not");
    is_str(COLUMN(l, "due_in"), "2000000", "the poll says when the job is due");
    is_str(batch(l, "e.2", 9, 9, ""), "a.org", "the next attempt");
    is_str(claim_member(l, 0, "attempts"), "1", "the next attempt knows of the first");
    is_str(claim_member(l, 0, "due_at"), now_text, "the next attempt knows since when it is due");
    RUN(l, SR_OP_JOB_SURVEY, survey);
    is_str(COLUMN(l, "interrupted"), "1", "it was the last one");
    execute(l, pgsql ? "DELETE FROM sigreq.job WHERE attempts = 2" : "DELETE FROM job WHERE attempts = 2");
    RUN(l, SR_OP_JOB_POLL, now_text);
    is_str(link_outcome(l), "missing", "nothing is left");
}

/* Of one event, which has been called once more already. */
static void check_limit(link_t *l, const char *id)
{
    apr_pool_t *p = l->pool;
    for (unsigned i = 3; i < 8; i++) {
        RUN(l, SR_OP_HISTORY_REDELIVER, hash, now_text, id, uuid(8, i, p));
        is_str(link_outcome(l), i < 7 ? "ok" : "quota", "five in a minute, and no more");
        if (i == 7) break;
        batch(l, "r3", 9, 9, "");
        batch(l, "r4", 0, 0, ended(l, "r3", GOOD));
    }
    RUN(l, SR_OP_HISTORY_REDELIVER, hash, number(NOW + apr_time_from_sec(61), p), id, uuid(8, 8, p));
    is_str(link_outcome(l), "ok", "and again later");
    batch(l, "r5", 9, 9, "");
    batch(l, "r6", 0, 0, ended(l, "r5", GOOD));
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
    RUN(l, SR_OP_HISTORY_INVITATION, hash, now_text, id);
    is_str(link_outcome(l), "missing", "it invites nobody");
    RUN(l, SR_OP_HISTORY_INVITATION, "nobody", now_text, id);
    is_str(link_outcome(l), "unauthorized", "nobody learns that");
    body = RUN(l, SR_OP_HISTORY_REDELIVER, hash, now_text, id, uuid(8, 2, p));
    is_str(link_outcome(l), "ok", "once more");
    is_str(member(body, "url", p), "\"http://new.org/\"", "where the token's URL points now");
    is_str(member(body, "success", p), "null", "nothing is known of it yet");
    RUN(l, SR_OP_HISTORY_REDELIVER, hash, now_text, id, uuid(8, 2, p));
    is_str(link_outcome(l), "ok", "the same again changes nothing");
    RUN(l, SR_OP_HISTORY_REDELIVER, hash, now_text, uuid(8, 2, p), uuid(8, 3, p));
    is_str(link_outcome(l), "missing", "a call's uuid is no event's");
    RUN(l, SR_OP_HISTORY_REDELIVER, hash, now_text, id, uuid(8, 3, p));
    is_str(link_outcome(l), "stale", "one more waits for it");
    is_str(batch(l, "r1", 9, 9, ""), "new.org", "one call");
    RUN(l, SR_OP_HISTORY_REDELIVER, hash, now_text, id, uuid(8, 3, p));
    is_str(link_outcome(l), "stale", "a redelivery is refused while the call is under way");
    batch(l, "r1", 9, 9, "");
    batch(l, "r2", 0, 0, ended(l, "r1", GOOD));
    body = RUN(l, SR_OP_HISTORY_LIST, hash, now_text, "99", "older", NULL, NULL, "completed", NULL, "true");
    is_int(l->rows->nelts, 2, "two rows of one event");
    check_limit(l, id);
    is_str(RUN(l, SR_OP_ADMIN_HISTORY_EXPIRE, "5"), "0", "nothing is that old");
    is_str(RUN(l, SR_OP_ADMIN_HISTORY_EXPIRE, "9000000000000000"), "17", "retention");
}

static void checks(base_t *base)
{
    link_t l;
    link_connect(&l, base, base->pool);
    now_text = number(NOW, base->pool);
    events = 0;
    ok(!link_upgrade(&l) && !link_open(&l), "a schema");
    link_contents(&l);
    set_up(&l);
    check_rows(&l);
    check_order(&l);
    check_shares(&l);
    check_interrupted(&l);
    check_released(&l);
    check_history(&l);
    check_dead(&l);
    check_repeated(&l);
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
