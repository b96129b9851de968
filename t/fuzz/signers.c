/* SPDX-License-Identifier: Apache-2.0 */
/* signers.c: the `signers` part of a creation, and the values that a signer sends, which are the member `values` of the
 * signer: whatever is accepted keeps the rules, whatever is not has an answer. */
#include "fuzz.h"
#include "model/model.h"

#include <math.h>

static void check(const apr_array_header_t *signers, const sr_signers_rules_t *rules)
{
    int fields = 0;
    fuzz_must(signers->nelts > 0 && signers->nelts <= rules->max_signers);
    for (int i = 0; i < signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(signers, i, sr_signer_t);
        fuzz_must(sr_uuid_valid(signer->uuid) && signer->firstname && signer->lastname);
        fuzz_must(!rules->send_email || signer->email);
        fields += signer->fields->nelts;
        for (int j = 0; j < signer->fields->nelts; j++) {
            const sr_field_t *field = &APR_ARRAY_IDX(signer->fields, j, sr_field_t);
            fuzz_must(field->document != NULL);
            fuzz_must(field->existing ? *field->existing != '\0'
                                      : field->area.w > 0 && field->area.h > 0 && field->area.page >= 0);
        }
    }
    fuzz_must(fields <= rules->max_fields);
}

/* A document of two pages that every field is looked for in. */
static void resolve(apr_array_header_t *signers, apr_pool_t *pool)
{
    static const char report[] = "{\"version\":5,\"pages\":2,\"runs\":[[1,0,0,612,792,0],[1,9,9,200,100,90]],"
                                 "\"signatures\":0,\"normalise\":false}";
    sr_pages_t *pages;
    apr_array_header_t *documents = apr_array_make(pool, 1, sizeof(sr_document_t));
    fuzz_must(!sr_pages_parse(&pages, report, pool));
    APR_ARRAY_PUSH(documents, sr_document_t) =
        (sr_document_t){.uuid = "u", .name = "a.pdf", .raw = "a.pdf", .sha256 = "0", .pages = pages};
    sr_error_t *error = sr_signers_resolve(signers, documents, &(sr_resolving_t){.max_fields = 1000}, pool);
    if (error) {
        fuzz_must(error->code == SR_EBADREQUEST && error->message);
        return;
    }
    for (int i = 0; i < signers->nelts; i++) {
        const apr_array_header_t *fields = APR_ARRAY_IDX(signers, i, sr_signer_t).fields;
        for (int j = 0; j < fields->nelts; j++) {
            const double *rect = APR_ARRAY_IDX(fields, j, sr_field_t).placement.rect;
            fuzz_must(isfinite(rect[0] + rect[1] + rect[2] + rect[3]) && rect[0] <= rect[2] && rect[1] <= rect[3]);
        }
    }
}

static sr_signer_t *store(const sr_signer_t *signer, apr_pool_t *pool)
{
    sr_signer_t *stored = apr_pcalloc(pool, sizeof *stored);
    json_t *fields = sr_json_own(sr_signer_fields_json(signer), pool);
    fuzz_must(!sr_signer_fields_parse(stored, fields, pool));
    fuzz_must(json_equal(fields, sr_json_own(sr_signer_fields_json(stored), pool)));
    return stored;
}

/* Fills in values and stores the fields before and after. */
static void fill(const sr_signer_t *signer, const json_t *values, apr_pool_t *pool)
{
    apr_array_header_t *faults;
    sr_signer_t *stored = store(signer, pool);
    sr_entries_fill(&faults, stored, values, "2026-11-22", "22 November 2026", pool);
    for (int i = 0; i < faults->nelts; i++) {
        const sr_entry_fault_t *fault = &APR_ARRAY_IDX(faults, i, sr_entry_fault_t);
        fuzz_must(fault->number >= 0 && fault->number <= stored->fields->nelts && fault->code && fault->message);
    }
    if (faults->nelts) return;
    stored = store(stored, pool);
    for (int i = 0; i < stored->fields->nelts; i++) {
        const sr_entry_t *entry = APR_ARRAY_IDX(stored->fields, i, sr_field_t).entry;
        fuzz_must(!entry || !entry->required || entry->value);
    }
}

/* The same text as the fields of a draft. */
static void place(apr_array_header_t *signers, const uint8_t *data, size_t size, apr_pool_t *pool)
{
    const sr_signers_rules_t rules = {.max_signers = 3, .max_fields = 4, .draft = true};
    const sr_error_t *error = sr_signers_place(signers, (const char *)data, size, &rules, pool);
    fuzz_must(!error || (error->code == SR_EBADREQUEST && sr_text_is_utf8(error->message, strlen(error->message))));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int i = 0; i < 2; i++) {
        apr_pool_t *pool = fuzz_pool();
        sr_remarks_t *remarks = sr_remarks_make(pool);
        const sr_signers_rules_t rules = {.send_email = i, .max_signers = 3, .max_fields = 4, .remarks = remarks};
        apr_array_header_t *signers = NULL;
        sr_error_t *error = sr_signers_parse(&signers, (const char *)data, size, &rules, pool);
        if (error) {
            fuzz_must(error->code == SR_EBADREQUEST && sr_text_is_utf8(error->message, strlen(error->message)));
        } else {
            check(signers, &rules);
            resolve(signers, pool);
            json_t *list; /* without values if it begins with a byte order mark, which only signers may have */
            if (sr_json_parse(&list, (const char *)data, size, pool)) list = NULL;
            for (int j = 0; j < signers->nelts; j++)
                fill(&APR_ARRAY_IDX(signers, j, sr_signer_t),
                     json_object_get(json_array_get(list, (size_t)j), "values"), pool);
            json_t *warnings = sr_remarks_json(remarks);
            for (size_t j = 0; j < json_array_size(warnings); j++)
                fuzz_must(json_string_length(json_array_get(warnings, j)) < 400);
            json_decref(warnings);
            place(signers, data, size, pool);
        }
        apr_pool_destroy(pool);
    }
    return 0;
}
