/* SPDX-License-Identifier: Apache-2.0 */
/* store_lock.c: leases of submissions: PostgreSQL keeps them, one holder at a time, until it ends its lease, its time
 * is over or its change is committed; SQLite says that it keeps none. */
#include "store.h"

#define LONG "3600000000"

#define NOW 1790000000000000

static const char hash[] = "00000000000000000000000000000000000000000000000000000000000000a1";

static void make_submissions(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *now = number(NOW, p);
    link_contents(l);
    RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, p), "Org", NULL, now);
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, p), "Org", "Ann", "Lee", "ann@x.org", now);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, p), "Org", "ann@x.org", "test", "t", hash, NULL, now);
    for (unsigned i = 1; i <= 2; i++)
        CREATE(l, wish(&(wish_t){.token = hash, .now = NOW, .number = i, .name = "One"}, p));
    is_str(link_outcome(l), "ok", "submissions");
}

/* The first signer of submission n takes its lease for some microseconds. Gives the version that was read. */
static const char *take(link_t *l, unsigned n, const char *holder, const char *lease, const char *version)
{
    apr_pool_t *p = l->pool;
    RUN(l, SR_OP_LOCK_TAKE, uuid(1, n, p), holder, lease, uuid(4, 2 * n, p), version);
    const char *body = COLUMN(l, "body"), *read = body ? member(body, "version", p) : NULL;
    return read ? apr_pstrndup(p, read + 1, strlen(read) - 2) : NULL;
}

static void change(link_t *l, const char *holder, const char *seen, const char *hash_now)
{
    apr_pool_t *p = l->pool;
    CHANGE(
        l,
        apr_psprintf(
            p,
            "{\"submission\":\"%s\",\"signer\":\"%s\",\"now\":%s,\"seen\":1,\"seen_hash\":\"%s\","
            "\"events\":[{\"hash\":\"%s\",\"body\":\"{}\"}],\"representation\":\"{}\","
            "\"representation_version\":1,\"submission_state\":\"open\",\"over\":false,\"search\":\"s\",\"signers\":[],"
            "\"holder\":\"%s\"}",
            uuid(1, 1, p), uuid(4, 2, p), number(NOW, p), seen, hash_now, holder));
}

static void check_leases(link_t *l)
{
    const char *one = uuid(1, 1, l->pool), *ann = "aa-1-1-ann", *bob = "aa-1-1-bob";
    const char *version = take(l, 1, ann, LONG, NULL);
    is_str(link_outcome(l), "ok", "a lease that nobody has is taken");
    ok(version, "and the submission is read");
    is_str(take(l, 1, ann, LONG, version), NULL, "it is not read again, as nothing has changed");
    is_str(link_outcome(l), "ok", "taking it again, after a lost connection, changes nothing");
    is_str(take(l, 1, bob, LONG, NULL), NULL, "somebody else reads nothing");
    is_str(link_outcome(l), "stale", "and does not get it");
    is_str(COLUMN(l, "holder"), ann, "but is told who has it");
    ok(take(l, 2, bob, LONG, NULL), "and gets that of another submission");
    RUN(l, SR_OP_LOCK_RELEASE, one, bob);
    take(l, 1, bob, LONG, NULL);
    is_str(link_outcome(l), "stale", "only the holder can end it");
    RUN(l, SR_OP_LOCK_RELEASE, one, ann);
    is_str(link_outcome(l), "ok", "the holder ends it");
    take(l, 1, bob, "0", NULL);
    is_str(link_outcome(l), "ok", "then another one has it");
    take(l, 1, ann, LONG, NULL);
    is_str(link_outcome(l), "ok", "and when its time is over, the next one");
    RUN(l, SR_OP_LOCK_RELEASE, one, bob);
    take(l, 1, bob, LONG, NULL);
    is_str(link_outcome(l), "stale", "which a holder whose time was over does not end");

    change(l, ann, "e0", "e2");
    is_str(link_outcome(l), "stale", "a change that comes too late");
    take(l, 1, bob, LONG, version);
    is_str(link_outcome(l), "stale", "does not end the lease");
    change(l, ann, "e1", "e2");
    is_str(link_outcome(l), "ok", "a change");
    ok(take(l, 1, bob, LONG, version), "ends it, and the next holder reads what has changed");

    RUN(l, SR_OP_LOCK_TAKE, uuid(1, 9, l->pool), ann, LONG, uuid(4, 99, l->pool), NULL);
    is_str(link_outcome(l), "missing", "without a signer there is no lease");
}

static void check_none(link_t *l)
{
    take(l, 1, "aa-1-1-ann", LONG, NULL);
    is_str(link_outcome(l), "missing", "there are no leases");
    RUN(l, SR_OP_LOCK_RELEASE, uuid(1, 1, l->pool), "aa-1-1-ann");
    is_str(link_outcome(l), "missing", "and nothing to end");
}

static void checks(base_t *base)
{
    link_t l;
    link_connect(&l, base, base->pool);
    ok(!link_upgrade(&l) && !link_open(&l), "a schema");
    make_submissions(&l);
    if (strcmp(base->driver_name, "pgsql") == 0) check_leases(&l);
    else check_none(&l);
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
