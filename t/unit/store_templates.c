/* SPDX-License-Identifier: Apache-2.0 */
/* store_templates.c: operations on templates, and the migration that finds the fields that signed signers had. */
#include "store.h"
#include "store/private.h"

#define HASH "00000000000000000000000000000000000000000000000000000000000000a1"
#define NOW 1790000000000000

static const char *from_template(const char *text, apr_pool_t *pool)
{
    json_t *json = json_loads(text, 0, NULL);
    json_object_set_new(json, "template_uuid", json_string(uuid(2, 1, pool)));
    json_object_set_new(json, "from_template", json_true());
    char *changed = json_dumps(json, JSON_COMPACT);
    const char *kept = apr_pstrdup(pool, changed);
    free(changed);
    json_decref(json);
    return kept;
}

/* Returns the fields of the first signer of the template. */
static const char *role(link_t *l)
{
    const char *body = RUN(l, SR_OP_TEMPLATE_GET, HASH, number(NOW, l->pool), uuid(2, 1, l->pool));
    json_t *json = json_loads(member(body, "roles", l->pool), 0, NULL);
    const char *text = sr_json_text(json_array_get(json, 0), l->pool);
    json_decref(json);
    return text;
}

/* Signers who signed before the migration: what they entered is not in the template. */
static void migration(link_t *l, const sr_sql_t *sql, const char *in)
{
    apr_pool_t *p = l->pool;
    const sr_migration_t *found = sql->migrations;
    while (found->name && strcmp(found->name, "templates") != 0) found++;
    const char *const *last = found->statements;
    while (last[1]) last++;
    execute(l, apr_psprintf(p,
                            "UPDATE %ssigner SET state = 'completed', fields = '[{\"name\":\"a\",\"value\":\"x\"},"
                            "{\"name\":\"b\",\"readOnly\":true,\"value\":\"y\"},{\"name\":\"c\"}]' "
                            "WHERE uuid = '%s'",
                            in, uuid(4, 2, p)));
    is_str(strstr(role(l), "\"x\"") ? "x" : NULL, "x", "before the migration");
    execute(l, *last);
    json_t *json = json_loads(role(l), 0, NULL);
    is_int((int)json_array_size(json), 3, "after it, the fields are there");
    ok(!json_object_get(json_array_get(json, 0), "value"), "the value of the signer is not");
    is_str(json_string_value(json_object_get(json_array_get(json, 1), "value")), "y", "a value that is read-only is");
    json_decref(json);
}

static void checks(base_t *base)
{
    const bool sqlite = strcmp(base->driver_name, "sqlite3") == 0;
    link_t link, *l = &link;
    link_connect(l, base, base->pool);
    apr_pool_t *p = l->pool;
    const char *now = number(NOW, p);
    ok(!link_upgrade(l), "upgrade");
    link_contents(l);
    link_open(l);
    RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, uuid(5, 1, p), "Org", NULL, now);
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, p), "Org", "Ann", "Lee", "ann@x.org", now);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, p), "Org", "ann@x.org", "test", "t", HASH, NULL, now);
    const wish_t first = {HASH, NOW, 1, "First", NULL, NULL, 0}, second = {HASH, NOW + 5, 2, "Second", NULL, NULL, 0};
    const wish_t third = {HASH, NOW + 6, 3, "Third", NULL, NULL, 0};
    CREATE(l, from_template(wish(&second, p), p));
    is_str(link_outcome(l), "missing", "a use of a template that does not exist");
    CREATE(l, wish(&first, p));
    CREATE(l, from_template(wish(&second, p), p));
    is_str(link_outcome(l), "ok", "a use");
    const char *body = RUN(l, SR_OP_TEMPLATE_GET, HASH, now, uuid(2, 1, p));
    is_str(member(body, "name", p), "\"First\"", "the template is the first submission's");
    is_str(member(body, "used_at", p), number(NOW + 5, p), "when it was used");
    RUN(l, SR_OP_TEMPLATE_LIST, HASH, now, "9", "older", NULL, NULL);
    is_int(l->rows->nelts, 1, "the list has it once");
    migration(l, sqlite ? &sr_sql_sqlite3 : &sr_sql_pgsql, sqlite ? "" : "sigreq.");
    RUN(l, SR_OP_TEMPLATE_DELETE, HASH, now, uuid(2, 1, p));
    is_str(link_outcome(l), "ok", "it is deleted");
    RUN(l, SR_OP_TEMPLATE_DELETE, HASH, now, uuid(2, 1, p));
    is_str(link_outcome(l), "ok", "a repetition");
    RUN(l, SR_OP_TEMPLATE_DELETE, HASH, number(NOW + 1, p), uuid(2, 1, p));
    is_str(link_outcome(l), "missing", "another deletion");
    CREATE(l, from_template(wish(&third, p), p));
    is_str(link_outcome(l), "missing", "a use after the deletion");
    CREATE(l, from_template(wish(&second, p), p));
    is_str(link_outcome(l), "ok", "the repetition of a use that was stored");
    RUN(l, SR_OP_TEMPLATE_LIST, HASH, now, "9", "older", NULL, NULL);
    is_int(l->rows->nelts, 0, "the list does not have it");
    link_close(l);
}

int main(void)
{
    return each_base(checks);
}
