/* SPDX-License-Identifier: Apache-2.0 */
/* preview.c: previews a signature and values in a signer's fields. Nothing is stored. Previews share the gate of pages,
 * so that signing never waits for them. */
#include "service/documents/placed_fields.h"

sr_error_t *sr_service_preview(const sr_service_t *service, sr_preview_t *preview, const sr_signing_t *signing,
                               const sr_signature_t *signature, const sr_client_t *client,
                               const sr_language_t *language, apr_pool_t *pool)
{
    const sr_captions_t captions = {signing->signer, language, client, sr_time_now()};
    const sr_pdf_signature_t what = {.captions = sr_captions_json(&captions, NULL, pool),
                                     .ink = signature->ink,
                                     .text = signature->text,
                                     .image = signature->image,
                                     .image_size = signature->image_size};
    sr_pdf_preview_t drawn;
    sr_pdf_visit_t *visit;
    SR_TRY(sr_signing_may(signing, SR_ACTION_SIGN, pool));
    SR_TRY(sr_pdf_visit_begin(&visit, service->pdf, signing->submission.uuid, signing->organization, pool));
    sr_error_t *error = sr_pdf_preview(&drawn, service->pdf, &what, pool);
    sr_pdf_visit_end(visit);
    SR_TRY(error);
    *preview = (sr_preview_t){drawn.reason, drawn.unknown, drawn.drawing, drawn.length};
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ values of fields */

typedef struct preview_t {
    const sr_signing_t *signing;
    const char *day, *day_text;  /* today, as YYYY-MM-DD and in words */
    apr_array_header_t *values;  /* sr_pdf_value_t: what is drawn */
    apr_array_header_t *numbers; /* int: of their fields */
    apr_array_header_t *faults;  /* sr_entry_fault_t */
    apr_pool_t *pool;
} preview_t;

static void preview_add_fault(preview_t *preview, int number, const char *code, const char *message)
{
    APR_ARRAY_PUSH(preview->faults, sr_entry_fault_t) = (sr_entry_fault_t){number, code, message};
}

/* Takes the value of the field with this number, if the field can have it and shows something then. */
static void preview_take(preview_t *preview, const char *key, json_t *value)
{
    const apr_array_header_t *fields = preview->signing->signer->fields;
    sr_entry_fault_t fault;
    int number;
    if (!sr_text_number(&number, key) || number < 1 || number > fields->nelts
        || !APR_ARRAY_IDX(fields, number - 1, sr_field_t).entry) {
        preview_add_fault(preview, 0, "unknown", "There is no such field");
        return;
    }
    sr_field_t field = APR_ARRAY_IDX(fields, number - 1, sr_field_t);
    sr_entry_t entry = *field.entry;
    if (field.type->filler != SR_FILLER_SERVICE
        && !sr_entry_accepts(&fault, field.type, &entry, value, preview->pool)) {
        preview_add_fault(preview, number, fault.code, apr_psprintf(preview->pool, "The value %s", fault.message));
        return;
    }
    if (json_is_false(value) || entry.buttons) return; /* the page shows radio buttons as the document does */
    entry.value = value;
    if (field.type->filler == SR_FILLER_SERVICE)
        sr_entry_set_day(&entry, preview->day, preview->day_text, preview->pool);
    field.entry = &entry;
    const sr_document_state_t *document = sr_submission_document(&preview->signing->submission, field.document);
    APR_ARRAY_PUSH(preview->values, sr_pdf_value_t) = sr_placed_value(&field, document ? document->boxes : NULL);
    APR_ARRAY_PUSH(preview->numbers, int) = number;
}

/* Returns {"values":[…],"fields":[…]}. New reference. */
static json_t *preview_answer(preview_t *preview, const apr_array_header_t *drawn)
{
    json_t *list = json_array();
    for (int i = 0; i < drawn->nelts; i++) {
        const sr_pdf_drawn_value_t *value = &APR_ARRAY_IDX(drawn, i, sr_pdf_drawn_value_t);
        const sr_pdf_value_t *asked = &APR_ARRAY_IDX(preview->values, i, sr_pdf_value_t);
        const int number = APR_ARRAY_IDX(preview->numbers, i, int);
        if (value->reason) preview_add_fault(preview, number, "fit", value->reason);
        else
            json_array_append_new(list,
                                  json_pack("{s:i,s:f,s:f,s:s*,s:O}", "number", number, "width", asked->width, "height",
                                            asked->height, "color", asked->color, "parts", value->parts));
    }
    const sr_error_t *error = sr_entries_error(preview->faults, preview->pool);
    json_t *answer = json_pack("{s:o}", "values", list);
    json_object_set_new(answer, "fields", error ? json_incref(error->fields) : json_array());
    return answer;
}

sr_error_t *sr_service_preview_values(const sr_service_t *service, json_t **answer, sr_signing_t *signing,
                                      const json_t *values, const sr_client_t *client, const sr_language_t *language,
                                      apr_pool_t *pool)
{
    const sr_captions_t captions = {signing->signer, language, client, sr_time_now()};
    preview_t preview = {.signing = signing,
                         .day = sr_captions_day(&captions, pool),
                         .day_text = sr_captions_date(&captions, pool),
                         .values = apr_array_make(pool, 8, sizeof(sr_pdf_value_t)),
                         .numbers = apr_array_make(pool, 8, sizeof(int)),
                         .faults = apr_array_make(pool, 1, sizeof(sr_entry_fault_t)),
                         .pool = pool};
    const apr_array_header_t *drawn = apr_array_make(pool, 1, sizeof(sr_pdf_drawn_value_t));
    const char *key;
    json_t *value;
    sr_pdf_visit_t *visit;
    if (json_object_size(values) > SR_PREVIEW_VALUES)
        return sr_error(pool, SR_EBADREQUEST, "At most %d values can be previewed at once", SR_PREVIEW_VALUES);
    SR_TRY(sr_signing_may(signing, SR_ACTION_SIGN, pool));
    SR_TRY(sr_service_signing_boxes(service, signing, pool));
    json_object_foreach ((json_t *)values, key, value) preview_take(&preview, key, value);
    if (preview.values->nelts) {
        SR_TRY(sr_pdf_visit_begin(&visit, service->pdf, signing->submission.uuid, signing->organization, pool));
        sr_error_t *error = sr_pdf_values_shown(&drawn, service->pdf, preview.values, pool);
        sr_pdf_visit_end(visit);
        SR_TRY(error);
    }
    *answer = preview_answer(&preview, drawn);
    return NULL;
}
