/* SPDX-License-Identifier: Apache-2.0 */
/* store_lock.c: leases of submissions: PostgreSQL keeps them, one holder at a time; SQLite says that it keeps none. */
#include "store.h"

#define LONG "3600000000"

static void check_leases(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *one = uuid(1, 1, p), *other = uuid(1, 2, p), *ann = "aa-1-1-ann", *bob = "aa-1-1-bob";

    RUN(l, SR_OP_LOCK_TAKE, one, ann, LONG);
    is_str(link_outcome(l), "ok", "a lease that nobody has is taken");
    RUN(l, SR_OP_LOCK_TAKE, one, ann, LONG);
    is_str(link_outcome(l), "ok", "taking it again, after a lost connection, changes nothing");
    const char *holder = RUN(l, SR_OP_LOCK_TAKE, one, bob, LONG);
    is_str(link_outcome(l), "stale", "somebody else does not get it");
    is_str(holder, ann, "and is told who has it");
    RUN(l, SR_OP_LOCK_TAKE, other, bob, LONG);
    is_str(link_outcome(l), "ok", "but gets that of another submission");
    RUN(l, SR_OP_LOCK_RELEASE, one, bob);
    RUN(l, SR_OP_LOCK_TAKE, one, bob, LONG);
    is_str(link_outcome(l), "stale", "only the holder can end it");
    RUN(l, SR_OP_LOCK_RELEASE, one, ann);
    is_str(link_outcome(l), "ok", "the holder ends it");
    RUN(l, SR_OP_LOCK_TAKE, one, bob, "0");
    is_str(link_outcome(l), "ok", "then another one has it");
    RUN(l, SR_OP_LOCK_TAKE, one, ann, LONG);
    is_str(link_outcome(l), "ok", "and when its time is over, the next one");
    RUN(l, SR_OP_LOCK_RELEASE, one, bob);
    RUN(l, SR_OP_LOCK_TAKE, one, bob, LONG);
    is_str(link_outcome(l), "stale", "which a holder whose time was over does not end");
}

static void check_none(link_t *l)
{
    RUN(l, SR_OP_LOCK_TAKE, uuid(1, 1, l->pool), "aa-1-1-ann", LONG);
    is_str(link_outcome(l), "missing", "there are no leases");
    RUN(l, SR_OP_LOCK_RELEASE, uuid(1, 1, l->pool), "aa-1-1-ann");
    is_str(link_outcome(l), "missing", "and nothing to end");
}

static void checks(base_t *base)
{
    link_t l;

    link_connect(&l, base, base->pool);
    ok(!link_upgrade(&l) && !link_open(&l), "a schema");
    if (strcmp(base->driver_name, "pgsql") == 0) check_leases(&l);
    else check_none(&l);
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
