/* SPDX-License-Identifier: Apache-2.0 */
/* placed_fields.c: converts the fields of signers for the helpers, and has the values of fields drawn. A value is drawn
 * by a worker that reads no document, so that no document can change what is shown. */
#include "service/documents/placed_fields.h"

#include <string.h>

/* The states of a check box are drawn by poppler only if they are in a direct dictionary. With such a dictionary,
 * pyHanko cannot compare the versions of a document that two people have signed. So a check box that is added is a text
 * field in the PDF, which shows a tick and whose text is X. A check box that the document has stays one. */
static const sr_pdf_entry_kind_t KINDS[] = {[SR_WIDGET_TEXT] = SR_PDF_ENTRY_TEXT,
                                            [SR_WIDGET_CHECKBOX] = SR_PDF_ENTRY_TEXT,
                                            [SR_WIDGET_CHOICE] = SR_PDF_ENTRY_CHOICE};
#define TICKED "X"

/* Returns the value of a field in the PDF. */
static const char *placed_text(const sr_field_t *field)
{
    if (field->type->widget == SR_WIDGET_CHECKBOX) return json_is_true(field->entry->value) ? TICKED : "";
    return sr_entry_text(field->entry);
}

static int placed_rotation(const sr_field_t *field, const sr_pages_t *pages)
{
    const sr_page_t *page = pages ? sr_pages_at(pages, field->placement.page) : NULL;
    return page ? page->rotate : 0;
}

static const apr_array_header_t *placed_options(const json_t *options, apr_pool_t *pool)
{
    apr_array_header_t *list = apr_array_make(pool, (int)json_array_size(options), sizeof(const char *));
    for (size_t i = 0; i < json_array_size(options); i++)
        APR_ARRAY_PUSH(list, const char *) = json_string_value(json_array_get(options, i));
    return list;
}

static const apr_array_header_t *placed_buttons(const json_t *buttons, apr_pool_t *pool)
{
    apr_array_header_t *list = apr_array_make(pool, (int)json_array_size(buttons), sizeof(sr_pdf_button_t));
    for (size_t i = 0; i < json_array_size(buttons); i++) {
        const json_t *json = json_array_get(buttons, i), *rect = json_object_get(json, "rect");
        const char *option = sr_json_string(json, "option"), *state = sr_json_string(json, "state");
        sr_pdf_button_t *button = apr_array_push(list);
        *button = (sr_pdf_button_t){.page = (int)json_integer_value(json_object_get(json, "page")),
                                    .option = option,
                                    .state = state ? state : option};
        for (size_t k = 0; k < 4; k++) button->rect[k] = json_number_value(json_array_get(rect, k));
    }
    return list;
}

static sr_pdf_entry_kind_t placed_kind(const sr_field_t *field)
{
    if (field->existing && field->type->widget == SR_WIDGET_CHECKBOX) return SR_PDF_ENTRY_CHECKBOX;
    return field->entry->buttons ? SR_PDF_ENTRY_RADIO : KINDS[field->type->widget];
}

static const sr_pdf_entry_t *placed_entry(const sr_field_t *field, const sr_pages_t *pages, apr_pool_t *pool)
{
    const sr_entry_t *entry = field->entry;
    sr_pdf_entry_t *made = apr_palloc(pool, sizeof *made);
    const bool is_limited = field->type->widget == SR_WIDGET_TEXT && field->type->filler == SR_FILLER_PERSON;
    *made = (sr_pdf_entry_t){.kind = placed_kind(field),
                             .name = field->name,
                             .label = field->name,
                             .multiline = entry->multiline,
                             .max_length = is_limited ? entry->max_length : 0,
                             .options = entry->options ? placed_options(entry->options, pool) : NULL,
                             .buttons = entry->buttons ? placed_buttons(entry->buttons, pool) : NULL,
                             .text = placed_text(field),
                             .ticked = json_is_true(entry->value),
                             .rotate = placed_rotation(field, pages),
                             .content = entry->content};
    return made;
}

static bool placed_is_in(const sr_field_t *field, const char *document)
{
    return !strcmp(field->document, document);
}

apr_array_header_t *sr_placed_fields(const apr_array_header_t *signers, const char *document, const sr_pages_t *pages,
                                     apr_pool_t *pool)
{
    apr_array_header_t *fields = apr_array_make(pool, 8, sizeof(sr_pdf_field_t));
    for (int i = 0; i < signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(signers, i, sr_signer_t);
        const char *alias = sr_signer_alias(signer, pool);
        for (int j = 0; j < signer->fields->nelts; j++) {
            const sr_field_t *field = &APR_ARRAY_IDX(signer->fields, j, sr_field_t);
            if (!placed_is_in(field, document)) continue;
            sr_pdf_field_t *made = apr_array_push(fields);
            *made = (sr_pdf_field_t){.signer = alias,
                                     .page = field->placement.page,
                                     .existing = field->existing,
                                     .initials = field->type->initials,
                                     .entry = field->entry ? placed_entry(field, pages, pool) : NULL};
            memcpy(made->rect, field->placement.rect, sizeof made->rect);
        }
    }
    return fields;
}

bool sr_placed_entries(const apr_array_header_t *signers, const char *document)
{
    for (int i = 0; i < signers->nelts; i++) {
        const apr_array_header_t *fields = APR_ARRAY_IDX(signers, i, sr_signer_t).fields;
        for (int j = 0; j < fields->nelts; j++) {
            const sr_field_t *field = &APR_ARRAY_IDX(fields, j, sr_field_t);
            if (field->entry && placed_is_in(field, document)) return true;
        }
    }
    return false;
}

sr_pdf_value_t sr_placed_value(const sr_field_t *field, const sr_pages_t *pages)
{
    const sr_entry_t *entry = field->entry;
    sr_pdf_value_t value = {.text = entry->labels ? sr_entry_label(entry) : placed_text(field),
                            .ticked = json_is_true(entry->value),
                            .size = entry->size,
                            .multiline = entry->multiline,
                            .comb = entry->comb,
                            .color = entry->color,
                            .align = (int)entry->align};
    if (value.ticked) value.text = NULL;
    sr_pdf_entry_size(&value.width, &value.height, field->placement.rect, placed_rotation(field, pages));
    return value;
}

static sr_error_t *placed_ask(const apr_array_header_t **drawn, const sr_service_t *service, const char *owner,
                              const apr_array_header_t *values, apr_pool_t *pool)
{
    apr_pool_t *work; /* destroying it releases the worker */
    apr_pool_create(&work, pool);
    const sr_service_t own = sr_service_for_drawing(service, owner, work);
    sr_error_t *error = sr_pdf_values(drawn, own.pdf, values, pool);
    apr_pool_destroy(work);
    return error;
}

sr_error_t *sr_placed_draw(apr_array_header_t *faults, const sr_service_t *service, const char *owner,
                           const sr_signer_t *signer, const char *document, const sr_pages_t *pages, apr_pool_t *pool)
{
    apr_array_header_t *values = apr_array_make(pool, 8, sizeof(sr_pdf_value_t));
    apr_array_header_t *numbers = apr_array_make(pool, 8, sizeof(int));
    const apr_array_header_t *drawn;
    for (int i = 0; i < signer->fields->nelts; i++) {
        const sr_field_t *field = &APR_ARRAY_IDX(signer->fields, i, sr_field_t);
        if (!field->entry || field->entry->buttons || !placed_is_in(field, document)) continue;
        APR_ARRAY_PUSH(values, sr_pdf_value_t) = sr_placed_value(field, pages);
        APR_ARRAY_PUSH(numbers, int) = i + 1;
    }
    if (!values->nelts) return NULL;
    SR_TRY(placed_ask(&drawn, service, owner, values, pool));
    for (int i = 0; i < drawn->nelts; i++) {
        const sr_pdf_drawn_value_t *value = &APR_ARRAY_IDX(drawn, i, sr_pdf_drawn_value_t);
        const int number = APR_ARRAY_IDX(numbers, i, int);
        APR_ARRAY_IDX(signer->fields, number - 1, sr_field_t).entry->content = value->content;
        if (value->reason) APR_ARRAY_PUSH(faults, sr_entry_fault_t) = (sr_entry_fault_t){number, "fit", value->reason};
    }
    return NULL;
}
