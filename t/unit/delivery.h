/* delivery.h: what the tests of webhook calls in the store share: events, and turns of the delivery thread. */
#ifndef SR_TEST_DELIVERY_H
#define SR_TEST_DELIVERY_H

#include "store.h"

#define NOW ((apr_time_t)1790000000000000)
#define LEASE "30000000"

static const char *now_text;
static unsigned events; /* made so far */

/* An event of submission `n` (its step's state follows from how many it had). */
static inline const char *event(link_t *l, unsigned n, int seen, const char *kind)
{
    const char *id = uuid(9, ++events, l->pool);

    RUN(l, SR_OP_SIGNING_CHANGE,
        apr_psprintf(
            l->pool,
            "{\"submission\":\"%s\",\"signer\":\"%s\",\"now\":%" APR_TIME_T_FMT ",\"seen\":%d,\"seen_hash\":\"e%d\","
            "\"representation\":\"v\",\"representation_version\":1,\"state\":\"opened\",\"submission_state\":\"open\","
            "\"events\":[{\"hash\":\"e%d\",\"body\":\"{}\"}],"
            "\"webhooks\":[{\"event_id\":\"%s\",\"kind\":\"%s\",\"body\":\"{\\\"n\\\":\\\"\xc3\xa9 %u\\\"}\"}]}",
            uuid(1, n, l->pool), uuid(4, n * 2, l->pool), NOW + seen, seen, seen, seen + 1, id, kind, events));
    if (strcmp(link_outcome(l), "ok") != 0) is_str(link_outcome(l), "ok", "an event of submission %u", n);
    return id;
}

/* The token of organisation 1 or 2. */
static inline const char *token_hash(unsigned n, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%063d%u", 0, n);
}

/* Two organisations, each with a user and a token. Needs now_text. */
static inline void make_organizations(link_t *l)
{
    apr_pool_t *p = l->pool;

    for (unsigned i = 1; i <= 2; i++) {
        const char *name = apr_psprintf(p, "Org %u", i);
        RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, i, p), name, NULL, now_text);
        RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, i, p), name, "Ann", "Lee", "ann@x.org", now_text);
        RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, i, p), name, "ann@x.org", "test", "t", token_hash(i, p), NULL,
            now_text);
    }
}

static inline void set_url(link_t *l, const char *token, const char *kind, const char *url)
{
    RUN(l, SR_OP_WEBHOOK_SET, token, now_text, kind, url);
}

#define SHARE(room, new, slow) "{\"room\":" #room ",\"new\":" #new ",\"slow\":" #slow "}"
#define NOBODY "\"from\":0,\"after\":{},\"organizations\":{}"
#define PLENTY "\"share\":" SHARE(99, 99, 99) ",\"new\":99,\"slow\":99," NOBODY

/* One turn that knows these lanes; the claims' destinations come as "a b c". */
static inline const char *turn_of(link_t *l, const char *claim, int rows, const char *shares, const char *more)
{
    const char *said = "";

    RUN(l, SR_OP_DELIVERY_TURN,
        apr_psprintf(l->pool, "{\"claim\":\"%s\",\"lease\":" LEASE ",\"rows\":%d,%s%s}", claim, rows, shares,
                     *more ? more : ",\"ended\":[]"));
    if (strcmp(link_outcome(l), "ok") != 0) return link_outcome(l);
    for (int i = 0; i < l->rows->nelts - 1; i++) {
        char *key = apr_pstrdup(l->pool, key_at(l, i)); /* id, time, organization, destination */
        for (int word = 0; word < 3; word++) apr_strtok(word ? NULL : key, " ", &key);
        said = apr_pstrcat(l->pool, said, *said ? " " : "", apr_strtok(NULL, " ", &key), NULL);
    }
    ok(l->rows->nelts > 0 && !APR_ARRAY_IDX(l->rows, l->rows->nelts - 1, sr_row_t).body, "the last row is empty");
    return said;
}

#define LANES(text) "\"lanes\":{\"1\":[" text "]}"
#define LANE(name, slow, room) "[\"" name "\"," #slow "," #room "]"

/* The `ended` of everything the last turn claimed. */
static inline const char *ended(link_t *l, const char *claim, const char *rest)
{
    const char *said = "";

    for (int i = 0; i < l->rows->nelts - 1; i++) {
        const char *key = key_at(l, i);
        said = apr_pstrcat(l->pool, said, i ? "," : "", "{\"id\":", apr_pstrndup(l->pool, key, strcspn(key, " ")),
                           ",\"claim\":\"", claim, "\",", rest, "}", NULL);
    }
    return apr_pstrcat(l->pool, ",\"ended\":[", said, "]", NULL);
}

#define GOOD "\"status\":204,\"success\":true,\"error\":null"

#endif
