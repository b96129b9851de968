/* SPDX-License-Identifier: Apache-2.0 */
/* signers.c: the `signers` part of a creation: whatever is accepted keeps the rules, whatever is not has an answer. */
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
    sr_error_t *error = sr_signers_resolve(signers, documents, 1000, pool);
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
            json_t *warnings = sr_remarks_json(remarks);
            for (size_t j = 0; j < json_array_size(warnings); j++)
                fuzz_must(json_string_length(json_array_get(warnings, j)) < 400);
            json_decref(warnings);
        }
        apr_pool_destroy(pool);
    }
    return 0;
}
