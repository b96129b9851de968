/* SPDX-License-Identifier: Apache-2.0 */
/* The C functions that tools/sql2c makes of the operations' signatures: their arguments, rows, lists and NULLs. */
#include "store.h"

#define NOW ((apr_time_t)1790000000000000)

/* A number, none, and 0. */
static void check_numbers(sr_store_source_t *source, apr_pool_t *p)
{
    const sr_organization_row_t *organization = NULL;
    const apr_int64_t none = 0;
    sr_outcome_t outcome;
    ok(!sr_store_admin_organization_create(source, &outcome, &organization, uuid(5, 1, p), "Org", NULL, NOW, p),
       "no number");
    ok(!organization->quota && organization->used == 0, "is NULL");
    json_t *object = sr_json_own(sr_store_row_json(SR_OP_ADMIN_ORGANIZATION_CREATE, organization), p);
    is_str(sr_json_text(object, p),
           apr_psprintf(p, "{\"uuid\":\"%s\",\"name\":\"Org\",\"quota\":null,\"used\":0,\"created_at\":%s}",
                        uuid(5, 1, p), number(NOW, p)),
           "the row as JSON");
    ok(!sr_store_admin_organization_quota(source, &outcome, &organization, "Org", &none, p), "the number 0");
    ok(organization->quota && *organization->quota == 0, "is 0");
    ok(!sr_store_admin_organization_quota(source, &outcome, &organization, "nobody", &none, p) && outcome == SR_MISSING
           && !organization,
       "an outcome without a row has none");
}

static sr_error_t *borrow_nothing(sr_store_source_t *source, sr_store_t **store, apr_pool_t *pool)
{
    return sr_error(pool, SR_EUNAVAILABLE, "no connection");
}

/* Structs are sent as JSON: what is NULL or 0 is null, if it may be NULL, and lists have their rows. */
static void check_records(sr_store_source_t *source, link_t *l)
{
    apr_pool_t *p = l->pool;
    apr_array_header_t *documents = apr_array_make(p, 1, sizeof(sr_document_arg_t));
    apr_array_header_t *signers = apr_array_make(p, 2, sizeof(sr_signer_arg_t));
    json_t *fields = sr_json_own(json_pack("[{s:s}]", "name", "s1"), p);
    const sr_representation_row_t *none;
    const sr_body_row_t *body;
    sr_outcome_t outcome;
    APR_ARRAY_PUSH(documents, sr_document_arg_t) = (sr_document_arg_t){
        .uuid = uuid(3, 1, p), .name = "a.pdf", .sha256 = apr_psprintf(p, "%064x", 1), .size = 9, .pages = 2};
    for (unsigned i = 0; i < 2; i++)
        APR_ARRAY_PUSH(signers, sr_signer_arg_t) = (sr_signer_arg_t){.uuid = uuid(4, i, p),
                                                                     .state = i ? "waiting" : "sent",
                                                                     .firstname = "Ann",
                                                                     .lastname = "\"Lee\"",
                                                                     .fields = fields,
                                                                     .signing_order = i + 1};
    const sr_creation_arg_t creation = {.name = "One",
                                        .template_uuid = uuid(2, 1, p),
                                        .skip_intro = true,
                                        .search = "one",
                                        .base_url = "https://x.org",
                                        .representation_version = 1,
                                        .event_hash = "e1",
                                        .event = "{}",
                                        .documents = documents,
                                        .signers = signers};
    ok(!sr_store_submission_create(source, &outcome, &none, "hash1", NOW, uuid(1, 1, p), &creation, "{}", NULL, NULL,
                                   FOLDER, NULL, NULL, NULL, NULL, NULL, p)
           && outcome == SR_OK,
       "a creation");
    ok(!sr_store_submission_record(source, &outcome, &body, "hash1", NOW, uuid(1, 1, p), p) && outcome == SR_OK,
       "its record");
    is_str(member(body->body, "name", p), "\"One\"", "a text");
    is_str(member(body->body, "expires_at", p), "null", "a time that is 0");
    is_str(member(body->body, "external_id", p), "null", "a text that is NULL");
    const char *skips = member(body->body, "skip_intro", p);
    ok(skips && (!strcmp(skips, "true") || !strcmp(skips, "1")), "a truth value");
    const json_t *record = sr_json_own(json_loads(body->body, 0, NULL), p);
    const json_t *second = json_array_get(json_object_get(record, "signers"), 1);
    is_str(sr_json_string(second, "lastname"), "\"Lee\"", "a member of a row of a list");
    is_str(sr_json_string(second, "state"), "waiting", "in its order");
    ok(json_equal(json_object_get(second, "fields"), fields), "a JSON value");
    is_int(json_integer_value(json_object_get(json_array_get(json_object_get(record, "documents"), 0), "pages")), 2,
           "a number");
}

static void check_after_an_error(apr_pool_t *p)
{
    sr_store_source_t source = {.borrow = borrow_nothing};
    const sr_representation_row_t *row = (const sr_representation_row_t *)(const void *)"garbage";
    apr_array_header_t *rows = (apr_array_header_t *)(void *)&source;
    const sr_creation_arg_t creation = {0};
    sr_outcome_t outcome;
    ok(sr_store_token_list(&source, &outcome, &rows, "hash1", NOW, 5, "older", 0, 0, p) && !rows,
       "there are no rows after an error");
    ok(sr_store_submission_create(&source, &outcome, &row, "hash1", NOW, uuid(1, 1, p), &creation, "{}", NULL, NULL,
                                  uuid(1, 2, p), NULL, NULL, NULL, NULL, NULL, p)
           && !row,
       "nor is there a row");
}

static void checks(base_t *base)
{
    const sr_installation_row_t *installation = NULL;
    const sr_token_row_t *token = NULL;
    const sr_user_row_t *user = NULL;
    const sr_count_row_t *count = NULL;
    const sr_file_row_t *file = NULL;
    apr_array_header_t *items;
    sr_store_source_t *source;
    sr_outcome_t outcome;
    apr_pool_t *p;
    link_t l;
    link_connect(&l, base, base->pool);
    ok(!link_upgrade(&l) && !link_open(&l), "a schema");
    p = l.pool;
    source = sr_store_source(l.store, p);
    ok(!sr_store_ping(source, &outcome, &installation, 1, p) && installation, "three columns");
    ok(installation->schema > 0 && !installation->read_only, "a number and a truth value");
    ok(sr_uuid_valid(installation->database), "and a uuid");
    ok(!sr_store_rewrite(source, &outcome, p) && outcome == SR_OK, "an outcome alone");
    check_numbers(source, p);
    ok(!sr_store_admin_user_create(source, &outcome, &user, uuid(6, 1, p), "Org", "A", "L", "a@x.org", NOW, p),
       "a user");
    for (unsigned i = 1; i <= 2; i++)
        ok(!sr_store_admin_token_create(source, &outcome, &token, uuid(7, i, p), "Org", "a@x.org", "test", "t",
                                        apr_psprintf(p, "hash%u", i), i == 2 ? NOW + 9 : 0, NOW + i, p),
           "token %u", i);
    ok(token->expires_at == NOW + 9 && !token->revoked_at && !token->parent, "a time, none, and no text");
    const json_t *object = sr_json_own(sr_store_row_json(SR_OP_ADMIN_TOKEN_CREATE, token), p);
    ok(json_is_null(json_object_get(object, "revoked_at")) && json_is_null(json_object_get(object, "parent")),
       "which are null in JSON");
    ok(!sr_store_token_list(source, &outcome, &items, "hash1", NOW, 5, "older", 0, 0, p), "a list from the newest");
    is_int(items->nelts, 2, "of two rows");
    is_str(APR_ARRAY_IDX(items, 0, sr_token_row_t).uuid, uuid(7, 2, p), "the newest first");
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
    link_contents(&l);
    check_records(source, &l);
    check_after_an_error(l.pool);
    link_close(&l);
}

int main(void)
{
    return each_base(checks);
}
