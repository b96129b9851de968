/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of the job thread on both databases: a wildcard domain has as many names as its owner likes, and they do
 * not take the turn of another organization; a walk over them goes on where the last one ended. */
#include "jobs.h"

enum { NAMES = 200, ROUNDS = 20 };

static void add(link_t *l, unsigned n, const char *hash, const char *url)
{
    CREATE(l, wish(&(wish_t){.token = hash, .now = NOW, .number = n, .name = "One"}, l->pool));
    if (strcmp(link_outcome(l), "ok") != 0) is_str(link_outcome(l), "ok", "a submission");
    set_url(l, hash, "signed", url);
    event(l, n, 1, "signed");
}

/* How many of what the last batch claimed go to a destination with this word. */
static int claimed(link_t *l, const char *word)
{
    int count = 0;
    for (int i = 0; i < l->rows->nelts - 1; i++) count += strstr(claim_member(l, i, "destination"), word) != NULL;
    return count;
}

static void checks(base_t *base)
{
    static const char shares[] = "\"share\":" SHARE(128, 32, "") ",\"other\":64," NOBODY ",\"destinations\":{}";
    const char *after = "";
    int total = 0;
    link_t l;
    link_connect(&l, base, base->pool);
    now_text = number(NOW, base->pool);
    events = 0;
    ok(!link_upgrade(&l) && !link_open(&l), "a schema");
    link_contents(&l);
    make_organizations(&l);
    for (unsigned i = 0; i < NAMES; i++)
        add(&l, i + 1, token_hash(1, l.pool), apr_psprintf(l.pool, "http://%03u.wild.org/", i));
    for (unsigned i = 0; i < 3; i++) add(&l, NAMES + i + 1, token_hash(2, l.pool), "http://zz.org/");

    batch_of(&l, "w1", 100, shares, "");
    is_int(claimed(&l, "wild.org"), 32, "of the names of one there are no more than its share");
    is_int(claimed(&l, "zz.org"), 1, "another organization has its own");
    const char *done = ended(&l, "w1", GOOD);
    total = claimed(&l, "wild.org");
    batch_of(&l, "w2", 64, PLENTY ",\"destinations\":{\"2\":{" DESTINATION("zz.org", 16) "}}", done);
    is_int(claimed(&l, "zz.org"), 2, "the other organization gets the rest of its share");
    total += claimed(&l, "wild.org");
    batch_of(&l, "w3", 0, shares, ended(&l, "w2", GOOD));

    for (int round = 0; round < ROUNDS && total < NAMES; round++) {
        const char *shares_of_round = apr_psprintf(
            l.pool,
            "\"share\":" SHARE(128, 10, "%s") ",\"other\":64,\"from\":1,\"organizations\":{},\"destinations\":{}",
            after);
        batch_of(&l, apr_psprintf(l.pool, "x%d", round), 99, shares_of_round, "");
        if (l.rows->nelts < 2) break;
        after = claim_member(&l, l.rows->nelts - 2, "destination");
        total += l.rows->nelts - 1;
        batch_of(&l, "xx", 0, shares, ended(&l, apr_psprintf(l.pool, "x%d", round), GOOD));
    }
    is_int(total, NAMES, "all names have their turn");
    RUN(&l, SR_OP_JOB_POLL, now_text);
    is_str(link_outcome(&l), "missing", "nothing is left");
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
