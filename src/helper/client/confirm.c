/* SPDX-License-Identifier: Apache-2.0 */
/* confirm.c: checks the update that a worker wants to append. Everything that the appended bytes alone can show is
 * checked here (appended.c, prepared.c, filled.c). The rest depends on the objects that a page, the catalog or the form
 * had before. Another worker checks it: it makes the same update of the document and compares the bytes. */
#include "helper/client/update.h"

#include <math.h>
#include <string.h>

#define MOST_PREPARED 600008 /* objects, for the greatest number of fields that can be configured */

/* Rounds a side of an area to what a PDF has of it. Otherwise this process and a worker could round the middle between
 * two numbers differently, because JSON does not have every digit. */
static double confirm_rounded(double side)
{
    const double scale = 10000;
    return fabs(side) < 1e9 ? (double)llround(side * scale) / scale : side;
}

static json_t *confirm_field_json(const sr_pdf_field_t *field, apr_array_header_t *contents)
{
    json_t *json = json_object(), *rect = json_array();
    json_object_set_new(json, "signer", json_string(field->signer));
    json_object_set_new(json, "page", json_integer(field->page));
    json_object_set_new(json, "rect", rect);
    for (int i = 0; i < 4; i++) json_array_append_new(rect, json_real(confirm_rounded(field->rect[i])));
    if (field->existing) json_object_set_new(json, "existing", json_string(field->existing));
    if (field->entry) json_object_set_new(json, "entry", sr_pdf_entry_json(field->entry, contents));
    json_t *buttons = json_object_get(json_object_get(json, "entry"), "buttons");
    for (size_t i = 0; i < json_array_size(buttons); i++) {
        json_t *sides = json_object_get(json_array_get(buttons, i), "rect");
        for (size_t k = 0; k < 4; k++)
            json_array_set_new(sides, k, json_real(confirm_rounded(json_number_value(json_array_get(sides, k)))));
    }
    return json;
}

json_t *sr_pdf_fields_json(const char *op, const apr_array_header_t *fields, apr_array_header_t *contents,
                           apr_pool_t *pool)
{
    json_t *request = sr_json_own(json_object(), pool), *list = json_array();
    json_object_set_new(request, "op", json_string(op));
    json_object_set_new(request, "fields", list);
    for (int i = 0; i < fields->nelts; i++)
        json_array_append_new(list, confirm_field_json(&APR_ARRAY_IDX(fields, i, sr_pdf_field_t), contents));
    return request;
}

static const char MORE[] = "something follows it";
static const char BEFORE[] = "something comes before it";

void sr_pdf_refuse(sr_pdf_fault_t *fault, const char **reason, sr_pdf_pool_t *workers, const char *op, const char *why,
                   apr_pool_t *pool)
{
    sr_pdf_pool_notice(workers,
                       apr_psprintf(pool, "asked to %s, a worker gave an update that is refused: %s", op, why));
    sr_pdf_pool_distrust(workers);
    *fault = SR_PDF_DOCUMENT_AT_FAULT;
    *reason = "it made the PDF helper send an invalid answer";
}

static const char *check_prepared(const sr_pdf_update_t *update, apr_off_t size, const apr_array_header_t *fields,
                                  apr_pool_t *pool)
{
    sr_pdf_appended_t appended;
    const int most = sr_pdf_prepared_most(fields);
    const char *why = sr_pdf_appended_read(&appended, update->bytes, update->length, size, most, pool);
    if (!why && appended.length != update->length) why = MORE;
    if (!why) why = sr_pdf_appended_decrypt(&appended, &update->cipher, NULL, pool);
    return why ? why : sr_pdf_prepared_check(&appended, fields, pool);
}

void sr_pdf_check_prepared(sr_pdf_update_t *update, sr_pdf_pool_t *workers, apr_off_t size,
                           const apr_array_header_t *fields, apr_pool_t *pool)
{
    apr_pool_t *scratch;
    apr_pool_create(&scratch, pool);
    const char *why = check_prepared(update, size, fields, scratch);
    if (why) sr_pdf_refuse(&update->fault, &update->reason, workers, SR_PDF_OP_PREPARE, why, scratch);
    apr_pool_destroy(scratch);
}

/* ----------------------------------------------------------------------------------------------------------- fill */

sr_error_t *sr_pdf_prepared_read(sr_pdf_prepared_t *prepared, int descriptor, const sr_pdf_signature_t *signature,
                                 apr_pool_t *pool)
{
    const apr_size_t length = signature->prepared_size;
    char *bytes = apr_palloc(pool, length + 1);
    bytes[length] = '\0';
    SR_TRY(sr_pdf_read(bytes, descriptor, signature->base_size, length, pool));
    prepared->why = sr_pdf_appended_read(&prepared->appended, bytes, length, signature->base_size, MOST_PREPARED, pool);
    return NULL;
}

static sr_error_t *check_filled(const char **why, sr_pdf_revision_t *revision, int descriptor, apr_off_t size,
                                const sr_pdf_signature_t *signature, sr_pdf_prepared_t *before, sr_pdf_dss_t *dss,
                                const char *time, apr_pool_t *pool)
{
    sr_pdf_appended_t appended, *prepared = &before->appended;
    sr_pdf_sections_t sections;
    sr_pdf_filled_t wanted = {.signer = signature->signer,
                              .fields = signature->fields,
                              .contents = (const char *)revision->bytes + revision->contents,
                              .room = revision->room,
                              .dss = dss};
    *why = before->why;
    if (*why) return NULL;
    SR_TRY(sr_pdf_sections_read(why, &sections, descriptor, signature->base_size, size, pool));
    if (*why) return NULL;
    wanted.start = sections.start;
    *why = sr_pdf_appended_read(&appended, revision->bytes, revision->length, size, MOST_PREPARED, pool);
    if (!*why && appended.length != revision->length) *why = MORE;
    if (!*why && *revision->bytes == '\n')
        *why = BEFORE; /* the document already ends with a line feed that the service wrote */
    if (!*why) *why = sr_pdf_appended_decrypt(prepared, &revision->cipher, NULL, pool);
    if (!*why) *why = sr_pdf_appended_decrypt(&appended, &revision->cipher, &wanted.contents, pool);
    if (!*why && dss && dss->number) *why = sr_pdf_appended_decrypt(&dss->known, &revision->cipher, NULL, pool);
    wanted.entries = sr_pdf_entries_of(prepared, signature->signer, signature->fields, pool);
    wanted.dictionary = sr_pdf_signature_text(signature, wanted.entries, time, pool);
    if (!*why) *why = sr_pdf_filled_check(&appended, prepared, &sections.last, &wanted, pool);
    revision->unconfirmed = wanted.made;
    return NULL;
}

sr_error_t *sr_pdf_check_filled(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                                const sr_pdf_signature_t *signature, sr_pdf_prepared_t *prepared, sr_pdf_dss_t *dss,
                                const char *time, apr_pool_t *pool)
{
    apr_pool_t *scratch;
    const char *why = NULL;
    apr_pool_create(&scratch, pool);
    SR_TRY(check_filled(&why, revision, descriptor, size, signature, prepared, dss, time, scratch));
    if (why) sr_pdf_refuse(&revision->fault, &revision->reason, workers, SR_PDF_OP_FILL, why, scratch);
    apr_pool_destroy(scratch);
    return NULL;
}

/* -------------------------------------------------------------------------------------------------------- confirm */

typedef struct response_t {
    bool confirmed;
    const char *reason;
} response_t;

static bool confirm_read_answer(void *result, const json_t *json, apr_pool_t *pool)
{
    response_t *response = result;
    const json_t *confirmed = json_object_get(json, "confirmed");
    const char *reason = sr_json_string(json, "reason");
    if (!json_is_boolean(confirmed) || (!json_is_true(confirmed) && !sr_pdf_is_plain(reason))) return false;
    response->confirmed = json_is_true(confirmed);
    response->reason = response->confirmed ? NULL : apr_pstrdup(pool, reason);
    return true;
}

sr_error_t *sr_pdf_confirm(sr_pdf_confirmed_t *confirmed, sr_pdf_pool_t *workers, int descriptor, apr_off_t base_size,
                           const apr_array_header_t *fields, apr_pool_t *pool)
{
    bool failed = false;
    response_t response = {0};
    apr_array_header_t *contents = apr_array_make(pool, 4, sizeof(const char *));
    json_t *text = sr_pdf_fields_json(SR_PDF_OP_CONFIRM, fields, contents, pool);
    json_object_set_new(text, "size", json_integer(base_size));
    sr_pdf_request_t request = {.op = SR_PDF_OP_CONFIRM, .descriptor = descriptor};
    request.text = sr_pdf_entry_request(&request.length, text, contents, pool);
    request.read = confirm_read_answer;
    request.result = &response;
    request.goes_on = true;
    *confirmed = (sr_pdf_confirmed_t){SR_PDF_DONE, NULL};
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    if (failed) response.reason = "no worker could confirm it";
    if (failed || !response.confirmed)
        sr_pdf_refuse(&confirmed->fault, &confirmed->reason, workers, SR_PDF_OP_PREPARE, response.reason, pool);
    return NULL;
}
