/* SPDX-License-Identifier: Apache-2.0 */
/* The C functions that tools/sql2c makes of the operations' signatures: their arguments, rows, lists and NULLs. */
#include "store.h"

#define NOW ((apr_time_t)1790000000000000)

static void checks(base_t *base)
{
    const sr_installation_row_t *installation = NULL;
    const sr_body_row_t *row = NULL;
    const sr_count_row_t *count = NULL;
    const sr_file_row_t *file = NULL;
    const apr_int64_t none = 0;
    apr_array_header_t *items;
    sr_store_source_t *source;
    sr_outcome_t outcome;
    apr_pool_t *p;
    link_t l;

    link_connect(&l, base, base->pool);
    ok(!link_upgrade(&l) && !link_open(&l), "a schema");
    p = l.pool;
    source = sr_store_source(l.store, p);
    ok(!sr_store_ping(source, &outcome, &installation, p) && installation, "three columns");
    ok(installation->schema > 0 && !installation->read_only, "a number and a truth value");
    ok(sr_uuid_valid(installation->database), "and a uuid");
    ok(!sr_store_rewrite(source, &outcome, p) && outcome == SR_OK, "an outcome alone");
    ok(!sr_store_admin_organization_create(source, &outcome, &row, uuid(5, 1, p), "Org", NULL, NOW, p), "no number");
    is_str(member(row->body, "quota", p), "null", "is NULL");
    ok(!sr_store_admin_organization_quota(source, &outcome, &row, "Org", &none, p), "the number 0");
    is_str(member(row->body, "quota", p), "0", "is 0");
    ok(!sr_store_admin_organization_quota(source, &outcome, &row, "nobody", &none, p) && outcome == SR_MISSING && !row,
       "an outcome without a row has none");
    ok(!sr_store_admin_user_create(source, &outcome, &row, uuid(6, 1, p), "Org", "A", "L", "a@x.org", NOW, p),
       "a user");
    for (unsigned i = 1; i <= 2; i++)
        ok(!sr_store_admin_token_create(source, &outcome, &row, uuid(7, i, p), "Org", "a@x.org", "test", "t",
                                        apr_psprintf(p, "hash%u", i), i == 2 ? NOW + 9 : 0, NOW + i, p),
           "token %u", i);
    is_str(member(row->body, "expires_at", p), number(NOW + 9, p), "a time");
    ok(!sr_store_token_list(source, &outcome, &items, "hash1", NOW, 5, "older", 0, 0, p), "a list from the newest");
    is_int(items->nelts, 2, "of two rows");
    ok(strchr(APR_ARRAY_IDX(items, 0, sr_item_row_t).key, ':') != NULL, "with both columns");
    ok(!sr_store_token_list(source, &outcome, &items, "hash1", NOW, 5, "older", NOW + 2, 0, p), "from a place");
    is_int(items->nelts, 1, "of one row");
    ok(!sr_store_token_list(source, &outcome, &items, "nohash", NOW, 5, "older", 0, 0, p) && outcome == SR_UNAUTHORIZED
           && !items->nelts,
       "a list that may not be seen is empty");
    ok(!sr_store_history_list(source, &outcome, &items, "hash1", NOW, 5, "newer", 0, 0, NULL, NULL, NULL, p),
       "no filter");
    ok(!sr_store_history_list(source, &outcome, &items, "hash1", NOW, 5, "newer", 0, 0, NULL, NULL, &(bool){false}, p),
       "a filter by a truth value");
    ok(outcome == SR_OK && !items->nelts, "an empty list");
    ok(!sr_store_document_known(source, &outcome, &file, "hash1", NOW, "none", p) && outcome == SR_MISSING && !file,
       "no file");
    ok(!sr_store_token_revoke(source, &outcome, "hash1", NOW, uuid(7, 2, p), true, p) && outcome == SR_OK, "true");
    ok(!sr_store_admin_expire(source, &outcome, &count, NOW, p) && count->deleted == 0, "a row of one number");
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
