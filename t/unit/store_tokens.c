/* SPDX-License-Identifier: Apache-2.0 */
/* store_tokens.c: which token made which, tokens that end with those they made, and webhook URLs of other tokens. */
#include "store.h"

#include <pthread.h>

#define NOW INT64_C(1750000000000000)
#define RUNNERS 8
#define ROUNDS 4
#define IS(link, want, ...) is_str(link_outcome(link), want, __VA_ARGS__)

static const char *now_text, *root;

static const char *hash_of(unsigned n, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%064x", 0x5000 + n);
}

/* The token `n` makes the token `made`. */
static void make_token(link_t *l, unsigned n, unsigned made)
{
    RUN(l, SR_OP_TOKEN_CREATE, hash_of(n, l->pool), now_text, uuid(7, made, l->pool), "t", hash_of(made, l->pool),
        NULL);
}

static bool lives(link_t *l, unsigned n)
{
    RUN(l, SR_OP_TOKEN_CURRENT, hash_of(n, l->pool), now_text);
    return strcmp(link_outcome(l), "ok") == 0;
}

/* Which of the tokens 1 to 5 are not revoked, as digits. */
static const char *living(link_t *l)
{
    const char *found = "";
    for (unsigned n = 1; n <= 5; n++)
        if (lives(l, n)) found = apr_psprintf(l->pool, "%s%u", found, n);
    return found;
}

static void begin(link_t *l)
{
    apr_pool_t *p = l->pool;
    RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, p), "Org", NULL, now_text);
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, p), "Org", "Ann", "Lee", "ann@x.org", now_text);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 0, p), "Org", "ann@x.org", "test", "root", hash_of(0, p), NULL, now_text);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, p), "Org", "ann@x.org", "test", "t", hash_of(1, p), NULL, now_text);
    root = hash_of(0, p);
}

/* 1 makes 2 and 3, 3 makes 4, 4 makes 5. */
static void family(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *body = RUN(l, SR_OP_TOKEN_GET, root, now_text, uuid(7, 1, p));
    is_str(member(body, "parent", p), "null", "the administrator's token has no parent");
    make_token(l, 1, 2);
    make_token(l, 1, 3);
    make_token(l, 3, 4);
    make_token(l, 4, 5);
    body = RUN(l, SR_OP_TOKEN_GET, root, now_text, uuid(7, 4, p));
    is_str(member(body, "parent", p), apr_psprintf(p, "\"%s\"", uuid(7, 3, p)), "a token knows which one made it");
    RUN(l, SR_OP_TOKEN_REVOKE, root, number(NOW + 1, p), uuid(7, 3, p), "false");
    is_str(living(l), "1245", "without children a token ends alone");
    RUN(l, SR_OP_TOKEN_REVOKE, root, number(NOW + 2, p), uuid(7, 3, p), "true");
    IS(l, "ok", "children of a token that has ended");
    is_str(living(l), "12", "end with it, and those they made, too");
    body = RUN(l, SR_OP_TOKEN_GET, root, now_text, uuid(7, 3, p));
    is_str(member(body, "revoked_at", p), number(NOW + 1, p), "the first time stays");
    body = RUN(l, SR_OP_TOKEN_GET, root, now_text, uuid(7, 5, p));
    is_str(member(body, "revoked_at", p), number(NOW + 2, p), "each has its own");
    RUN(l, SR_OP_ADMIN_TOKEN_REVOKE, uuid(7, 1, p), now_text, "true");
    is_int(l->rows->nelts, 5, "by the administrator: a row for each of the family");
    is_str(living(l), "", "none of it lives");
    ok(lives(l, 0), "others do");
}

static void urls(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *other = uuid(7, 3, p); /* revoked */
    const char *body = RUN(l, SR_OP_TOKEN_WEBHOOKS, root, now_text, other,
                           "{\"sent\":\"https://x.org/1\",\"signed\":\"https://x.org/2\"}");
    IS(l, "ok", "URLs of another token, which is revoked");
    is_str(member(body, "sent_webhook_url", p), "\"https://x.org/1\"", "set");
    body = RUN(l, SR_OP_TOKEN_WEBHOOKS, root, now_text, other, "{\"sent\":null}");
    is_str(member(body, "sent_webhook_url", p), "null", "removed");
    is_str(member(body, "signed_webhook_url", p), "\"https://x.org/2\"", "what is not named stays");
    body = RUN(l, SR_OP_ADMIN_TOKEN_WEBHOOKS, other, "{}");
    is_str(member(body, "signed_webhook_url", p), "\"https://x.org/2\"", "the administrator reads");
    body = RUN(l, SR_OP_ADMIN_TOKEN_WEBHOOKS, other, "{\"signed\":null,\"completed\":\"https://x.org/3\"}");
    is_str(member(body, "signed_webhook_url", p), "null", "and changes");
    is_str(member(body, "completed_webhook_url", p), "\"https://x.org/3\"", "them");
    RUN(l, SR_OP_TOKEN_WEBHOOKS, "nohash", now_text, other, "{}");
    IS(l, "unauthorized", "without a token");
    RUN(l, SR_OP_TOKEN_WEBHOOKS, root, now_text, uuid(7, 99, p), "{}");
    IS(l, "missing", "no such token");
    RUN(l, SR_OP_ADMIN_TOKEN_WEBHOOKS, uuid(7, 99, p), "{}");
    IS(l, "missing", "no such token for the administrator");
}

static const char *used_on(link_t *l, unsigned n)
{
    return member(RUN(l, SR_OP_ADMIN_TOKEN_WEBHOOKS, uuid(7, n, l->pool), "{}"), "used_on", l->pool);
}

/* Records that the root token, a revoked one and an unknown one were used on a day. */
static void use(link_t *l, apr_int64_t day)
{
    apr_pool_t *p = l->pool;
    RUN(l, SR_OP_TOKEN_USED, apr_psprintf(p, "[\"%s\",\"%s\",\"nohash\"]", root, hash_of(3, p)), now_text,
        number(day, p));
    IS(l, "ok", "a use of three tokens");
}

static void uses(link_t *l)
{
    is_str(used_on(l, 0), "null", "a new token was not used");
    use(l, 2000);
    is_str(used_on(l, 0), "2000", "a day");
    is_str(used_on(l, 3), "null", "a revoked token is not used");
    use(l, 1000);
    is_str(used_on(l, 0), "2000", "an earlier day changes nothing");
    use(l, 3000);
    is_str(used_on(l, 0), "3000", "a later one does");
}

static const char *rotate(link_t *l, unsigned n, unsigned made, const char *until)
{
    apr_pool_t *p = l->pool;
    return RUN(l, SR_OP_ADMIN_TOKEN_ROTATE, uuid(7, n, p), uuid(7, made, p), hash_of(made, p), number(NOW + 50, p),
               until);
}

static void rotation(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *same[] = {"name", "user_uuid", "environment", "parent", "completed_webhook_url"};
    RUN(l, SR_OP_TOKEN_CREATE, root, now_text, uuid(7, 20, p), "n", hash_of(20, p), number(NOW + 100, p));
    const char *old = RUN(l, SR_OP_ADMIN_TOKEN_WEBHOOKS, uuid(7, 20, p), "{\"completed\":\"https://x.org/3\"}");
    const char *body = rotate(l, 20, 21, number(NOW + 60, p));
    IS(l, "ok", "a token is rotated");
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        is_str(member(body, same[i], p), member(old, same[i], p), "the same %s", same[i]);
    is_str(member(body, "expires_at", p), number(NOW + 150, p), "it is valid as long as the old one");
    is_str(rotate(l, 20, 21, number(NOW + 60, p)), body, "the operation may be repeated");
    ok(lives(l, 20) && lives(l, 21), "both live");
    body = RUN(l, SR_OP_ADMIN_TOKEN_WEBHOOKS, uuid(7, 20, p), "{}");
    is_str(member(body, "expires_at", p), number(NOW + 60, p), "until the old one expires");
    RUN(l, SR_OP_ADMIN_TOKEN_LIST, "Org", uuid(6, 1, p), number(NOW + 60, p), number(NOW + 150, p));
    is_int(l->rows->nelts, 1, "one is valid and expires then");
    rotate(l, 20, 22, number(NOW + 500, p));
    body = RUN(l, SR_OP_ADMIN_TOKEN_WEBHOOKS, uuid(7, 20, p), "{}");
    is_str(member(body, "expires_at", p), number(NOW + 60, p), "it is not prolonged");
    rotate(l, 1, 23, NULL);
    IS(l, "conflict", "a revoked token");
    rotate(l, 21, 23, NULL);
    ok(lives(l, 23) && !lives(l, 21), "at once");
    rotate(l, 99, 24, NULL);
    IS(l, "missing", "no such token");
}

/* Many make tokens in a chain, each with the newest it knows, while another ends the whole family. */
typedef struct runner_t {
    base_t *base;
    pthread_mutex_t *lock; /* SQLite: one writer at a time, as in httpd */
    unsigned round, number;
} runner_t;

static void *run_maker(void *baton)
{
    runner_t *runner = baton;
    link_t l;
    apr_pool_t *pool;
    const unsigned first = 1000 + runner->round * 1000, mine = first + 1 + runner->number * 20;
    apr_pool_create(&pool, NULL);
    link_connect(&l, runner->base, pool);
    if (!link_open(&l))
        for (unsigned i = 0; i < 15; i++) {
            pthread_mutex_lock(runner->lock);
            make_token(&l, i ? mine + i - 1 : first, mine + i);
            pthread_mutex_unlock(runner->lock);
        }
    link_close(&l);
    apr_pool_destroy(pool);
    return NULL;
}

/* PostgreSQL has no lock of ours: there the makers really meet. */
static void race(link_t *l, base_t *base)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, each[RUNNERS];
    const bool sqlite = strcmp(base->driver_name, "sqlite3") == 0;
    apr_pool_t *p = l->pool;
    int left = 0, made = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        runner_t runners[RUNNERS];
        pthread_t threads[RUNNERS];
        const unsigned first = 1000 + round * 1000;
        make_token(l, 0, first);
        for (unsigned i = 0; i < RUNNERS; i++) {
            pthread_mutex_init(&each[i], NULL);
            runners[i] = (runner_t){base, sqlite ? &one : &each[i], round, i};
            pthread_create(&threads[i], NULL, run_maker, &runners[i]);
        }
        while (!lives(l, first + 1 + round % RUNNERS * 20 + round)) /* one of them has come so far */
            apr_sleep(300);
        if (sqlite) pthread_mutex_lock(&one);
        RUN(l, SR_OP_TOKEN_REVOKE, root, now_text, uuid(7, first, p), "true");
        if (sqlite) pthread_mutex_unlock(&one);
        if (strcmp(link_outcome(l), "ok") != 0) left = -1000000;
        for (unsigned i = 0; i < RUNNERS; i++) pthread_join(threads[i], NULL);
        for (unsigned n = first; n < first + 1 + RUNNERS * 20; n++) {
            RUN(l, SR_OP_TOKEN_GET, root, now_text, uuid(7, n, p));
            made += strcmp(link_outcome(l), "ok") == 0;
            left += lives(l, n);
        }
    }
    ok(made > ROUNDS * 2, "%d tokens were made while their family was ended", made);
    is_int(left, 0, "none of them lives");
}

static void checks(base_t *base)
{
    apr_pool_t *pool;
    link_t l;
    apr_pool_create(&pool, base->pool);
    now_text = number(NOW, base->pool);
    link_connect(&l, base, pool);
    link_upgrade(&l);
    ok(!link_open(&l), "the store is open");
    begin(&l);
    family(&l);
    urls(&l);
    race(&l, base);
    uses(&l);
    rotation(&l);
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
