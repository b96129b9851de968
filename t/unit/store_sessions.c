/* SPDX-License-Identifier: Apache-2.0 */
/* store_sessions.c: sessions of signers who have passed a check: they begin, are used, and end by time or with a
 * change. And the names of their logins. */
#include "store.h"

#define NOW 1790000000000000
#define SECOND APR_INT64_C(1000000)
#define HOUR (3600 * SECOND)

static const char token[] = "00000000000000000000000000000000000000000000000000000000000000a1";

static const char *hash(char digit, apr_pool_t *pool)
{
    char *text = apr_palloc(pool, 65);
    memset(text, digit, 64);
    text[64] = '\0';
    return text;
}

static void make_submissions(link_t *l)
{
    apr_pool_t *p = l->pool;
    const char *now = number(NOW, p);
    link_contents(l);
    RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, p), "Org", NULL, now);
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, p), "Org", "Ann", "Lee", "ann@x.org", now);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, p), "Org", "ann@x.org", "test", "t", token, NULL, now);
    CREATE(l, wish(&(wish_t){.token = token, .now = NOW, .number = 1, .name = "One"}, p));
    is_str(link_outcome(l), "ok", "a submission");
}

/* Makes the times of a session earlier. */
static void put_back(link_t *l, const char *column, apr_int64_t by, char digit)
{
    const char *schema = strcmp(l->base->driver_name, "pgsql") == 0 ? "sigreq." : "";
    execute(l, apr_psprintf(l->pool, "UPDATE %ssigner_session SET %s = %s - %" APR_INT64_T_FMT " WHERE hash = '%s'",
                            schema, column, column, by, hash(digit, l->pool)));
}

static const char *begin(link_t *l, char digit, const char *signer)
{
    RUN(l, SR_OP_SESSION_CREATE, hash(digit, l->pool), signer);
    return link_outcome(l);
}

/* Returns "fresh", "used" or the outcome without a session. */
static const char *find(link_t *l, char digit, const char *signer)
{
    RUN(l, SR_OP_SESSION_GET, hash(digit, l->pool), signer);
    if (strcmp(link_outcome(l), "ok") != 0) return link_outcome(l);
    const char *fresh = COLUMN(l, "fresh");
    return *fresh == 't' || *fresh == '1' ? "fresh" : "used";
}

static void use(link_t *l, char digit)
{
    RUN(l, SR_OP_SESSION_USED, hash(digit, l->pool));
    is_str(link_outcome(l), "ok", "a use is recorded");
}

static void check_times(link_t *l, const char *ann, const char *bob)
{
    is_str(find(l, '1', ann), "missing", "there is no session");
    is_str(begin(l, '1', ann), "ok", "one begins");
    is_str(find(l, '1', ann), "fresh", "and is found");
    is_str(find(l, '1', bob), "missing", "not for another signer");
    is_str(find(l, '2', ann), "missing", "nor by another secret");
    is_str(begin(l, '2', ann), "ok", "a second one begins");
    is_str(begin(l, '3', bob), "ok", "and one of another signer");
    is_str(find(l, '1', ann), "fresh", "the first one goes on");

    put_back(l, "used_at", 301 * SECOND, '1');
    is_str(find(l, '1', ann), "used", "after five minutes its use must be recorded");
    is_str(find(l, '2', ann), "fresh", "that of the second one need not");
    use(l, '1');
    is_str(find(l, '1', ann), "fresh", "then not for five minutes");
    put_back(l, "used_at", 2 * HOUR - 60 * SECOND, '1');
    is_str(find(l, '1', ann), "used", "a minute before two hours it goes on");
    put_back(l, "used_at", 120 * SECOND, '1');
    is_str(find(l, '1', ann), "missing", "after two hours without a use it ends");
    use(l, '1');
    is_str(find(l, '1', ann), "missing", "and no use renews it");

    put_back(l, "made_at", 12 * HOUR - 60 * SECOND, '2');
    is_str(find(l, '2', ann), "fresh", "a minute before twelve hours the second one goes on");
    put_back(l, "made_at", 120 * SECOND, '2');
    is_str(find(l, '2', ann), "missing", "after twelve hours it ends, however it is used");
    use(l, '2');
    is_str(find(l, '2', ann), "missing", "and no use renews it");
    is_str(find(l, '3', bob), "fresh", "that of the other signer goes on");
}

static apr_int64_t rows_of(link_t *l)
{
    apr_dbd_results_t *results = NULL;
    apr_dbd_row_t *row = NULL;
    const char *schema = strcmp(l->base->driver_name, "pgsql") == 0 ? "sigreq." : "";
    if (apr_dbd_select(l->base->driver, l->pool, l->handle, &results,
                       apr_psprintf(l->pool, "SELECT count(*) FROM %ssigner_session", schema), 1)
        || apr_dbd_get_row(l->base->driver, l->pool, results, &row, -1))
        die("count", "no answer");
    return apr_atoi64(apr_dbd_get_entry(l->base->driver, row, 0));
}

/* A change with the members `more`, of the event with this number. */
static void change(link_t *l, int number, const char *more)
{
    apr_pool_t *p = l->pool;
    CHANGE(l, apr_psprintf(p,
                           "{\"submission\":\"%s\",\"now\":%d,\"seen\":%d,\"seen_hash\":\"e%d\","
                           "\"events\":[{\"hash\":\"e%d\",\"body\":\"{}\"}],\"representation\":\"{}\",\"over\":false,"
                           "\"representation_version\":1,\"submission_state\":\"open\",\"signers\":[]%s}",
                           uuid(1, 1, p), number, number, number, number + 1, more));
    is_str(link_outcome(l), "ok", "a change");
}

static const char *epoch(link_t *l)
{
    const char *body = RUN(l, SR_OP_SIGNING_DUE, uuid(1, 1, l->pool), NULL);
    return member(member(body, "submission", l->pool), "access_epoch", l->pool);
}

static void check_ends(link_t *l, const char *ann, const char *bob)
{
    apr_pool_t *p = l->pool;
    is_int(rows_of(l), 3, "sessions that have ended stay in the table");
    is_str(begin(l, '4', ann), "ok", "until the next one of their signer begins");
    is_int(rows_of(l), 2, "then they are removed");
    const char *before = epoch(l);
    ok(before, "the access epoch");
    change(l, 1, "");
    is_str(find(l, '4', ann), "fresh", "a change ends no session");
    is_str(epoch(l), before, "and leaves the access epoch");
    change(l, 2, apr_psprintf(p, ",\"ended\":[{\"signer\":\"%s\"}]", ann));
    is_str(find(l, '4', ann), "missing", "a change may end those of a signer");
    is_str(find(l, '3', bob), "fresh", "and not those of others");
    ok(before && epoch(l) && strcmp(epoch(l), before) != 0, "which changes the access epoch");
    change(l, 3,
           apr_psprintf(p,
                        ",\"replaced\":{\"old\":\"%s\",\"position\":1,\"uuid\":\"%s\",\"state\":\"sent\","
                        "\"firstname\":\"Eve\",\"lastname\":\"Roe\",\"alias\":\"S\",\"search\":\"eve\"}",
                        bob, uuid(4, 9, p)));
    is_str(begin(l, '5', bob), "missing", "a signer who was replaced gets none");
    is_str(begin(l, '5', uuid(4, 9, p)), "ok", "their successor does");
    is_str(begin(l, '6', uuid(4, 7, p)), "missing", "an unknown signer does not");
}

/* Returns the name of a signer's login, which is `fresh` if there is no recent one, or the outcome. */
static const char *login(link_t *l, const char *fresh, const char *signer)
{
    RUN(l, SR_OP_LOGIN_BEGIN, fresh, signer);
    return strcmp(link_outcome(l), "ok") != 0 ? link_outcome(l) : COLUMN(l, "name");
}

static const char *claimant(link_t *l, const char *name)
{
    RUN(l, SR_OP_LOGIN_GET, name);
    return strcmp(link_outcome(l), "ok") != 0 ? link_outcome(l) : COLUMN(l, "signer");
}

static void put_logins_back(link_t *l, apr_int64_t seconds)
{
    const char *schema = strcmp(l->base->driver_name, "pgsql") == 0 ? "sigreq." : "";
    execute(l, apr_psprintf(l->pool, "UPDATE %ssigner_login SET made_at = made_at - %" APR_INT64_T_FMT, schema,
                            seconds * SECOND));
}

static void check_logins(link_t *l, const char *ann, const char *eve, const char *replaced)
{
    is_str(claimant(l, "a"), "missing", "there is no login");
    is_str(login(l, "a", ann), "a", "a login gets a name");
    is_str(login(l, "b", ann), "a", "which the next one has as well");
    is_str(login(l, "c", eve), "c", "another signer has another name");
    is_str(claimant(l, "a"), ann, "a name names its signer");
    is_str(claimant(l, "c"), eve, "and the other one the other signer");
    is_str(claimant(l, "b"), "missing", "a name that was not used names nobody");
    put_logins_back(l, 1740);
    is_str(login(l, "d", ann), "a", "within half an hour the name stays");
    put_logins_back(l, 120);
    is_str(login(l, "d", ann), "d", "after that there is a new one");
    is_str(claimant(l, "a"), "missing", "which replaces it");
    put_logins_back(l, 1680);
    is_str(claimant(l, "c"), eve, "a minute before an hour a name is valid");
    put_logins_back(l, 120);
    is_str(claimant(l, "c"), "missing", "after an hour it is not");
    is_str(claimant(l, "d"), ann, "the later one is");
    is_str(login(l, "e", replaced), "missing", "a signer who was replaced gets none");
    is_str(login(l, "e", uuid(4, 7, l->pool)), "missing", "an unknown signer does not");
}

static void checks(base_t *base)
{
    link_t l;
    link_connect(&l, base, base->pool);
    ok(!link_upgrade(&l) && !link_open(&l), "a schema");
    make_submissions(&l);
    const char *ann = uuid(4, 2, l.pool), *bob = uuid(4, 3, l.pool);
    check_times(&l, ann, bob);
    check_ends(&l, ann, bob);
    check_logins(&l, ann, uuid(4, 9, l.pool), bob);
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
