/* SPDX-License-Identifier: Apache-2.0 */
/* store_drafts.c: operations on drafts: creating, saving, links, and sending one against the quota. */
#include "store.h"

#define HASH "00000000000000000000000000000000000000000000000000000000000000a1"
#define NOW 1790000000000000
#define LATER "9000000000000000"

/* Returns the arguments of a creation of a draft, whose placement link ends at `until`. */
static const char *draft(unsigned n, const char *until, apr_pool_t *pool)
{
    const wish_t plain = {HASH, NOW, n, "Draft", NULL, NULL, 0};
    const char *text = wish(&plain, pool);
    return apr_psprintf(pool, "%.*s,\"draft_until\":" LATER ",\"placement\":\"%s\",\"placement_until\":%s}",
                        (int)strlen(text) - 1, text, uuid(9, n, pool), until);
}

static const char *saving(int saves, const char *more, apr_pool_t *pool)
{
    return apr_psprintf(pool, "{\"seen_hash\":\"e1\",\"saves\":%d,\"representation_version\":7%s}", saves, more);
}

static void save(link_t *l, unsigned n, const char *how, const char *representation)
{
    RUN(l, SR_OP_DRAFT_SAVE, uuid(1, n, l->pool), number(NOW + 1, l->pool), how, representation);
}

static const char *placed(link_t *l, const char *placement)
{
    RUN(l, SR_OP_SIGNING_PLACED, placement, NULL);
    return link_outcome(l);
}

static const char *used(link_t *l)
{
    RUN(l, SR_OP_ADMIN_ORGANIZATION_LIST);
    return COLUMN(l, "used");
}

static void send_draft(link_t *l, unsigned n, int saves)
{
    apr_pool_t *p = l->pool;
    CHANGE(l, apr_psprintf(p,
                           "{\"submission\":\"%s\",\"now\":" LATER ",\"seen\":1,\"seen_hash\":\"e1\",\"saves\":%d,"
                           "\"submission_state\":\"open\",\"over\":false,\"closes\":false,\"representation\":\"sent\","
                           "\"representation_version\":7,\"signers\":[{\"uuid\":\"%s\",\"state\":\"sent\",\"fields\":"
                           "[{\"name\":\"sent\"}]}],\"events\":[{\"hash\":\"e2\",\"body\":\"{}\"}],\"feed\":[],"
                           "\"sent\":[{\"document\":\"%s\"}],\"folder\":\"" FOLDER "\"}",
                           uuid(1, n, p), saves, uuid(4, n * 2, p), uuid(3, n * 2, p)));
}

static void links(link_t *l)
{
    apr_pool_t *p = l->pool;
    RUN(l, SR_OP_SIGNING_GET, uuid(4, 2, p), NULL);
    is_str(link_outcome(l), "missing", "the link of a signer does not exist");
    RUN(l, SR_OP_SIGNING_ACCESS, uuid(4, 2, p));
    is_str(link_outcome(l), "missing", "nor for a page");
    RUN(l, SR_OP_SIGNING_EVENTS, uuid(4, 2, p));
    is_str(link_outcome(l), "missing", "nor for events");
    is_str(placed(l, uuid(9, 1, p)), "ok", "the placement link does");
    is_str(placed(l, uuid(9, 2, p)), "gone", "one whose time is over is gone");
    is_str(placed(l, uuid(9, 7, p)), "missing", "another one was never there");
}

static void saves(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *signers =
        apr_psprintf(p, ",\"signers\":[{\"uuid\":\"%s\",\"fields\":[{\"name\":\"x\"}]}]", uuid(4, 2, p));
    save(l, 1, saving(0, signers, p), "v1");
    is_str(link_outcome(l), "ok", "a save");
    save(l, 1, saving(0, signers, p), "v1");
    is_str(link_outcome(l), "ok", "its repetition");
    save(l, 1, saving(0, signers, p), "v2");
    is_str(link_outcome(l), "stale", "one of somebody who has read the draft before");
    const char *body = RUN(l, SR_OP_SUBMISSION_RECORD, HASH, number(NOW, p), uuid(1, 1, p));
    is_str(member(body, "saves", p), "1", "they are counted");
    ok(strstr(body, "[{\"name\":\"x\"}]") && strstr(body, "[{\"name\":\"s2\"}]"),
       "the fields of a signer have changed");
    const char *moved = apr_psprintf(p, ",\"placement\":\"%s\",\"placement_until\":" LATER, uuid(9, 3, p));
    save(l, 1, saving(1, moved, p), "v3");
    is_str(link_outcome(l), "ok", "a new placement link");
    is_str(placed(l, uuid(9, 3, p)), "ok", "works");
    is_str(placed(l, uuid(9, 1, p)), "gone", "the former one is gone");
    body = RUN(l, SR_OP_SUBMISSION_RECORD, HASH, number(NOW, p), uuid(1, 1, p));
    ok(strstr(body, "[{\"name\":\"x\"}]") != NULL, "the fields stay");
}

static void sending(link_t *l)
{
    apr_pool_t *p = l->pool;
    is_str(used(l), "0", "drafts are not counted");
    send_draft(l, 1, 1);
    is_str(link_outcome(l), "stale", "it was saved after it was read");
    is_str(used(l), "0", "which is not counted either");
    send_draft(l, 1, 2);
    is_str(link_outcome(l), "ok", "it is sent");
    is_str(used(l), "1", "and counted");
    send_draft(l, 1, 2);
    is_str(link_outcome(l), "ok", "a repetition");
    is_str(used(l), "1", "is not");
    is_str(placed(l, uuid(9, 3, p)), "gone", "the placement link is gone");
    RUN(l, SR_OP_SIGNING_GET, uuid(4, 2, p), NULL);
    is_str(link_outcome(l), "ok", "the link of a signer works");
    save(l, 1, saving(2, "", p), "v4");
    is_str(link_outcome(l), "stale", "what was sent is not saved");
    const char *body = RUN(l, SR_OP_TEMPLATE_GET, HASH, number(NOW, p), uuid(2, 1, p));
    is_str(link_outcome(l), "ok", "it is a template");
    ok(strstr(body, "[{\"name\":\"sent\"}]") != NULL, "of the fields that were sent");
    send_draft(l, 2, 0);
    is_str(link_outcome(l), "quota", "another one exceeds the quota");
    RUN(l, SR_OP_TEMPLATE_GET, HASH, number(NOW, p), uuid(2, 2, p));
    is_str(link_outcome(l), "missing", "it stays a draft, which is no template");
    is_str(used(l), "1", "and is not counted");
}

static void checks(base_t *base)
{
    link_t link, *l = &link;
    link_connect(l, base, base->pool);
    apr_pool_t *p = l->pool;
    const char *now = number(NOW, p);
    ok(!link_upgrade(l), "upgrade");
    link_contents(l);
    link_open(l);
    RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, p), "Org", "1", now);
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, p), "Org", "Ann", "Lee", "ann@x.org", now);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, p), "Org", "ann@x.org", "production", "t", HASH, NULL, now);
    CREATE(l, draft(1, LATER, p));
    is_str(link_outcome(l), "ok", "a draft");
    CREATE(l, draft(2, "5", p));
    is_str(link_outcome(l), "ok", "another one, at the limit of the quota");
    links(l);
    saves(l);
    sending(l);
    link_close(l);
}

int main(void)
{
    return each_base(checks);
}
