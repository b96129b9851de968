/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.c: sigreqctl check --evidence: compares what the database has of each submission with its events. One
 * submission after the other is read, so the size of the database does not matter. httpd may run meanwhile, because
 * each submission is read by one statement. */
#include "ctl/ctl.h"
#include "model/model.h"

#define ROWS 1000

typedef struct evidence_t {
    ctl_t *ctl;
    json_t *calls, *problems;
    apr_int64_t submissions, wrong;
} evidence_t;

/* A submission that was deleted with its user meanwhile is left out. */
static sr_error_t *check_submission(void *baton, const char *uuid, apr_pool_t *pool)
{
    evidence_t *evidence = baton;
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    json_t *stored, *text;
    size_t i;
    SR_TRY(sr_store_admin_evidence_get(evidence->ctl->database, &outcome, &row, uuid, pool));
    if (outcome == SR_MISSING) return NULL;
    SR_TRY(sr_json_read(&stored, row->body, pool));
    json_t *faults = sr_json_own(sr_evidence_faults(stored, evidence->calls, pool), pool);
    evidence->submissions++;
    json_array_foreach (faults, i, text)
        ctl_note_problem(evidence->problems, &evidence->wrong, "evidence", uuid, json_string_value(text));
    return NULL;
}

/* Checks the submissions after the id *after. Sets *after to the id of the last one, or to -1 if there is none. */
static sr_error_t *check_page(evidence_t *evidence, apr_int64_t *after, apr_pool_t *pool)
{
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    SR_TRY(sr_store_admin_evidence_find(evidence->ctl->database, &outcome, &rows, *after, ROWS, pool));
    *after = -1;
    return ctl_each_found(evidence->ctl, rows, after, check_submission, evidence, pool);
}

/* Rows of submissions that do not exist show that one was removed without this program. */
static sr_error_t *check_lost(evidence_t *evidence)
{
    apr_pool_t *pool = evidence->ctl->pool;
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    json_t *lost, *count;
    const char *table;
    SR_TRY(sr_store_admin_evidence_lost(evidence->ctl->database, &outcome, &row, pool));
    SR_TRY(sr_json_read(&lost, row->body, pool));
    json_object_foreach (lost, table, count)
        if (json_integer_value(count))
            ctl_note_problem(evidence->problems, &evidence->wrong, "evidence", table,
                             apr_psprintf(pool, "%d rows belong to no submission", (int)json_integer_value(count)));
    return NULL;
}

sr_error_t *ctl_check_evidence(ctl_t *ctl, json_t *problems, apr_int64_t *submissions, apr_int64_t *wrong)
{
    evidence_t evidence = {.ctl = ctl, .problems = problems};
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    apr_int64_t after = 0;
    apr_pool_t *page;
    SR_TRY(sr_store_admin_evidence_calls(ctl->database, &outcome, &row, ctl->pool));
    SR_TRY(sr_json_read(&evidence.calls, row->body, ctl->pool));
    apr_pool_create(&page, ctl->pool);
    while (after >= 0) {
        SR_TRY(check_page(&evidence, &after, page));
        apr_pool_clear(page);
    }
    SR_TRY(check_lost(&evidence));
    *submissions = evidence.submissions;
    *wrong = evidence.wrong;
    return NULL;
}
