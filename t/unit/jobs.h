/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h: shared by the tests of jobs in the store: events, and batches of the job thread. */
#ifndef SR_TEST_JOBS_H
#define SR_TEST_JOBS_H

#include "store.h"

#define NOW ((apr_time_t)1790000000000000)
#define LEASES "{\"webhook\":30000000,\"invitation\":30000000}"

static const char *now_text;
static unsigned events; /* the number of events made so far */

/* Makes an event of submission `n`, which had `seen` events before. */
static inline const char *event(link_t *l, unsigned n, int seen, const char *kind)
{
    const char *id = uuid(9, ++events, l->pool);

    CHANGE(l,
           apr_psprintf(
               l->pool,
               "{\"submission\":\"%s\",\"signer\":\"%s\",\"now\":%" APR_TIME_T_FMT ",\"seen\":%d,\"seen_hash\":\"e%d\","
               "\"representation\":\"v\",\"representation_version\":1,\"submission_state\":\"open\","
               "\"over\":false,\"search\":\"s\",\"signers\":[],"
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

/* Makes two organisations, each with a user and a token. Needs now_text. */
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

#define SHARE(room, other, after) "{\"room\":" #room ",\"other\":" #other ",\"after\":\"" after "\"}"
#define NOBODY "\"from\":0,\"organizations\":{}"
#define PLENTY "\"share\":" SHARE(99, 99, "") ",\"other\":99," NOBODY

/* Returns a column of the n-th claim of the last batch. */
static inline const char *claim_member(const link_t *l, int index, const char *name)
{
    return column_at(l, index, name);
}

/* Runs a batch that knows these destinations. Returns the destinations of the claims as "a b c". */
static inline const char *batch_of(link_t *l, const char *claim, int rows, const char *shares, const char *more)
{
    const char *said = "";

    RUN(l, SR_OP_JOB_BATCH,
        apr_psprintf(l->pool, "{\"claim\":\"%s\",\"now\":%" APR_TIME_T_FMT ",\"leases\":" LEASES ",\"rows\":%d,%s%s}",
                     claim, NOW, rows, shares, *more ? more : ",\"ended\":[]"));
    if (strcmp(link_outcome(l), "ok") != 0) return link_outcome(l);
    for (int i = 0; i < l->rows->nelts - 1; i++)
        said = apr_pstrcat(l->pool, said, *said ? " " : "", claim_member(l, i, "destination"), NULL);
    is_str(claim_member(l, l->rows->nelts - 1, "id"), "0", "the last row is no claim");
    return said;
}

#define LISTED(text) "\"destinations\":{\"1\":{" text "}}"
#define DESTINATION(name, room) "\"" name "\":" #room

/* Returns the member `ended` for all claims of the last batch. */
static inline const char *ended(link_t *l, const char *claim, const char *rest)
{
    const char *said = "";

    for (int i = 0; i < l->rows->nelts - 1; i++) {
        said = apr_pstrcat(l->pool, said, i ? "," : "", "{\"id\":", claim_member(l, i, "id"), ",\"claim\":\"", claim,
                           "\",", rest, "}", NULL);
    }
    return apr_pstrcat(l->pool, ",\"ended\":[", said, "]", NULL);
}

/* Returns the argument of a survey with these dead processes, as JSON. */
static inline const char *survey_of(link_t *l, const char *dead)
{
    return apr_psprintf(l->pool, "{\"now\":%" APR_TIME_T_FMT ",\"dead\":%s,\"repeated\":{}}",
                        NOW + apr_time_from_sec(10), dead);
}

#define GOOD "\"status\":204,\"success\":true,\"error\":null"

#endif
