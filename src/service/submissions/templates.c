/* SPDX-License-Identifier: Apache-2.0 */
/* templates.c: the templates of submissions. A template is the documents of a submission that was made from files, and
 * the fields of its signers as they were sent. It exists as long as that submission, unless it is deleted before. */
#include "service/submissions/templates.h"

#include <string.h>

sr_error_t *sr_template_unknown(const char *uuid, apr_pool_t *pool)
{
    return sr_error(pool, SR_EBADREQUEST, "Template %s not found", sr_remark_name(uuid, pool));
}

static sr_error_t *templates_read_documents(sr_template_record_t *record, apr_pool_t *pool)
{
    const json_t *rows = json_object_get(record->row, "documents");
    for (size_t i = 0; i < json_array_size(rows); i++)
        SR_TRY(sr_document_state_parse(apr_array_push(record->documents), json_array_get(rows, i), pool));
    return NULL;
}

sr_error_t *sr_template_read(sr_template_record_t *record, const sr_service_t *service, const char *token_hash,
                             const char *uuid, apr_pool_t *pool)
{
    const sr_body_row_t *found;
    sr_outcome_t outcome;
    json_t *row;
    *record = (sr_template_record_t){.documents = apr_array_make(pool, 1, sizeof(sr_document_state_t))};
    if (!sr_uuid_valid(uuid)) return NULL;
    SR_TRY(sr_store_template_get(service->database, &outcome, &found, token_hash, sr_time_now(),
                                 sr_text_fold(uuid, pool), pool));
    if (outcome == SR_MISSING) return NULL;
    SR_TRY(sr_service_refusal(outcome, pool));
    SR_TRY(sr_json_read(&row, found->body, pool));
    record->row = row;
    record->uuid = sr_json_string(row, "uuid");
    record->deleted = json_is_integer(json_object_get(row, "deleted_at"));
    record->roles = json_object_get(row, "roles");
    return templates_read_documents(record, pool);
}

static apr_time_t templates_time(const json_t *row, const char *key)
{
    return json_integer_value(json_object_get(row, key));
}

sr_error_t *sr_service_template(const sr_service_t *service, json_t **answer, const char *token_hash, const char *uuid,
                                apr_pool_t *pool)
{
    sr_template_record_t record;
    SR_TRY(sr_template_read(&record, service, token_hash, uuid, pool));
    if (!record.uuid || record.deleted) return sr_service_refusal(SR_MISSING, pool);
    const sr_template_facts_t facts = {.uuid = record.uuid,
                                       .name = sr_json_string(record.row, "name"),
                                       .created_at = templates_time(record.row, "created_at"),
                                       .used_at = templates_time(record.row, "used_at"),
                                       .signers = (int)json_array_size(record.roles),
                                       .documents = record.documents->nelts};
    *answer = sr_template_json(&facts);
    sr_template_add_content(*answer, record.documents, record.roles);
    return NULL;
}

sr_error_t *sr_service_templates(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                                 const sr_list_query_t *query, apr_pool_t *pool)
{
    apr_array_header_t *rows;
    sr_list_place_t place;
    sr_outcome_t outcome;
    SR_TRY(sr_service_list_place(&place, query, pool));
    SR_TRY(sr_store_template_list(service->database, &outcome, &rows, token_hash, sr_time_now(), place.limit,
                                  place.direction, place.at, place.id, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    apr_array_header_t *items = apr_array_make(pool, rows->nelts, sizeof(sr_list_item_t));
    for (int i = 0; i < rows->nelts; i++) {
        const sr_template_row_t *row = &APR_ARRAY_IDX(rows, i, sr_template_row_t);
        sr_list_item_t item = {NULL, row->created_at, row->id};
        const sr_template_facts_t facts = {.uuid = row->uuid,
                                           .name = row->name,
                                           .created_at = row->created_at,
                                           .used_at = row->used_at,
                                           .signers = (int)row->signers,
                                           .documents = (int)row->documents};
        if (!row->uuid) { /* the place where the search has ended */
            place.end = apr_pmemdup(pool, &item, sizeof item);
            break;
        }
        item.body = sr_json_text(sr_json_own(sr_template_json(&facts), pool), pool);
        APR_ARRAY_PUSH(items, sr_list_item_t) = item;
    }
    sr_service_list_page(page, items, &place, pool);
    return NULL;
}

sr_error_t *sr_service_template_delete(const sr_service_t *service, const char *token_hash, const char *uuid,
                                       apr_pool_t *pool)
{
    sr_outcome_t outcome;
    SR_TRY(sr_store_template_delete(service->database, &outcome, token_hash, sr_time_now(), uuid, pool));
    return sr_service_refusal(outcome, pool);
}
