/* SPDX-License-Identifier: Apache-2.0 */
/* submissions.c: reading submissions and their documents. */
#include "service/private.h"
#include "model/names.h"

#include <string.h>

#define CLOCKS_DIFFER apr_time_from_sec(3600)
#define LIST_ATTEMPTS 5
#define LIST_BYTES (8 << 20) /* of the representations of a page; the last one may exceed it */

static sr_error_t *read_record(json_t **row, sr_submission_t *submission, const sr_service_t *service,
                               const char *token_hash, const char *uuid, apr_pool_t *pool)
{
    const sr_body_row_t *found;
    sr_outcome_t outcome;
    SR_TRY(sr_store_submission_record(service->database, &outcome, &found, token_hash, sr_time_now(), uuid, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    SR_TRY(sr_json_read(row, found->body, pool));
    return sr_submission_parse(submission, *row, pool);
}

/* Renders the representation from the records into result_pool, and stores it. If it cannot be stored, because the
 * database is read-only or the submission has changed meanwhile, it is rendered again for the next request. The records
 * need several times the memory of the representation. They are in scratch_pool, and so is an error. A submission whose
 * deadline is over is expired first. The database's clock decides, which may differ from this one. */
static sr_error_t *render_again(const sr_service_t *service, sr_shown_submission_t *shown, const char *token_hash,
                                const char *uuid, apr_pool_t *result_pool, apr_pool_t *scratch_pool)
{
    sr_submission_t submission;
    sr_outcome_t outcome;
    json_t *row;
    SR_TRY(read_record(&row, &submission, service, token_hash, uuid, scratch_pool));
    if (submission.state == SR_SUBMISSION_OPEN && submission.expires_at
        && submission.expires_at < sr_time_now() + CLOCKS_DIFFER) {
        SR_TRY(sr_service_expire(service, uuid, scratch_pool));
        SR_TRY(read_record(&row, &submission, service, token_hash, uuid, scratch_pool));
    }
    const char *hash = sr_json_string(row, "events_hash");
    shown->representation = apr_pstrdup(result_pool, sr_submission_render(&submission, scratch_pool));
    shown->tag = sr_representation_tag(hash, submission.saves, result_pool);
    (void)sr_store_submission_rendered(service->database, &outcome, uuid, hash, submission.saves,
                                       SR_REPRESENTATION_VERSION, shown->representation, scratch_pool);
    return NULL;
}

sr_error_t *sr_service_submission(const sr_service_t *service, sr_shown_submission_t *shown, const char *token_hash,
                                  const char *uuid, const char *known, apr_pool_t *pool)
{
    const sr_shown_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_submission_get(service->database, &outcome, &row, token_hash, sr_time_now(), uuid,
                                   SR_REPRESENTATION_VERSION, known, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    *shown = (sr_shown_submission_t){row->representation, row->tag};
    return shown->tag ? NULL : render_again(service, shown, token_hash, uuid, pool, pool);
}

/* Returns the representation of a deleted submission, which has nothing but its uuids and times. */
static const char *tombstone(const sr_listed_row_t *row, apr_pool_t *pool)
{
    const sr_submission_t submission = {.uuid = row->uuid,
                                        .name = "",
                                        .template_uuid = row->template,
                                        .state = SR_SUBMISSION_DELETED,
                                        .created_at = row->created_at,
                                        .updated_at = row->updated_at,
                                        .created_by = {"", "", ""},
                                        .documents = apr_array_make(pool, 1, sizeof(sr_document_state_t)),
                                        .signers = apr_array_make(pool, 1, sizeof(sr_signer_t))};
    return sr_submission_render(&submission, pool);
}

/* Makes the items of a page of the list. Those after the one with which the representations have LIST_BYTES get none.
 */
static sr_error_t *items_of(const sr_service_t *service, apr_array_header_t **items, const apr_array_header_t *rows,
                            bool deleted, const char *token_hash, const sr_list_place_t *place, apr_pool_t *pool)
{
    apr_size_t size = 0;
    apr_pool_t *each;
    apr_pool_create(&each, pool);
    *items = apr_array_make(pool, rows->nelts, sizeof(sr_list_item_t));
    for (int i = 0; i < rows->nelts; i++) {
        const sr_listed_row_t *row = &APR_ARRAY_IDX(rows, i, sr_listed_row_t);
        sr_list_item_t *item = apr_array_push(*items);
        *item = (sr_list_item_t){NULL, row->created_at, row->id};
        if (size >= LIST_BYTES) continue;
        item->body = deleted ? tombstone(row, pool) : row->representation;
        apr_pool_clear(each);
        if (!deleted && row->old && i < place->limit - 1) {
            sr_shown_submission_t shown;
            SR_TRY(render_again(service, &shown, token_hash, row->uuid, pool, each));
            item->body = shown.representation;
        }
        size += item->body ? strlen(item->body) : 0;
    }
    apr_pool_destroy(each);
    return NULL;
}

/* A row without a uuid is the place up to which the database has looked for rows that fit. */
static void take_end(sr_list_place_t *place, apr_array_header_t *rows, apr_pool_t *pool)
{
    const sr_listed_row_t *last = rows->nelts ? &APR_ARRAY_IDX(rows, rows->nelts - 1, sr_listed_row_t) : NULL;
    if (!last || last->uuid) return;
    const sr_list_item_t end = {NULL, last->created_at, last->id};
    place->end = apr_pmemdup(pool, &end, sizeof end);
    rows->nelts--;
}

static sr_error_t *submissions_list(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                                    const sr_list_query_t *query, const sr_submission_filter_t *filter,
                                    apr_pool_t *pool)
{
    const char *q = filter->q ? sr_text_fold(sr_text_trimmed(filter->q, pool), pool) : NULL;
    const bool of_signer = filter->status && sr_name_is(sr_status_names, filter->status);
    const char *states = of_signer ? sr_signer_states_of_status(filter->status, pool) : NULL;
    const bool deleted = filter->status && !strcmp(filter->status, "deleted");
    apr_array_header_t *rows, *items;
    sr_list_place_t place;
    sr_outcome_t outcome;
    SR_TRY(sr_service_list_place(&place, query, pool));
    SR_TRY(sr_store_submission_list(service->database, &outcome, &rows, token_hash, sr_time_now(), place.limit,
                                    place.direction, place.at, place.id, states, of_signer ? NULL : filter->status,
                                    filter->external_id, filter->updated_after, q, filter->created_after,
                                    filter->created_before, LIST_BYTES, SR_REPRESENTATION_VERSION, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    take_end(&place, rows, pool);
    SR_TRY(items_of(service, &items, rows, deleted, token_hash, &place, pool));
    sr_service_list_page(page, items, &place, pool);
    return NULL;
}

/* The list is read again if a submission was deleted after it was read, before it was rendered. */
sr_error_t *sr_service_submissions(const sr_service_t *service, sr_list_result_t *page, const char *token_hash,
                                   const sr_list_query_t *query, const sr_submission_filter_t *filter, apr_pool_t *pool)
{
    sr_error_t *error = submissions_list(service, page, token_hash, query, filter, pool);
    for (int i = 1; i < LIST_ATTEMPTS && error && error->code == SR_EGONE; i++)
        error = submissions_list(service, page, token_hash, query, filter, pool);
    return error;
}
