/* SPDX-License-Identifier: Apache-2.0 */
/* problems.c: what keeps a draft from being sent, for the page on which its fields are placed. */
#include "model/model.h"

#include <string.h>

static void problems_add(json_t *list, int signer, const char *code, const char *message)
{
    json_t *number = signer ? json_integer(signer) : json_null();
    json_array_append_new(list, json_pack("{s:o,s:s,s:s}", "signer", number, "code", code, "message", message));
}

static void problems_add_signer(json_t *list, const sr_signer_t *signer, int number, apr_pool_t *pool)
{
    const char *fault = sr_entries_fault(signer, false, pool);
    const sr_field_t *field = fault ? NULL : sr_signer_unsealed(signer);
    if (fault) problems_add(list, number, "signature", apr_psprintf(pool, "Signer %d: %s", number, fault));
    if (field)
        problems_add(list, number, "document",
                     apr_psprintf(pool, "Signer %d: " SR_UNSEALED, number, sr_text_printable(field->document, pool)));
}

json_t *sr_submission_problems(const sr_submission_t *submission, apr_time_t now, apr_pool_t *pool)
{
    json_t *list = json_array();
    for (int i = 0; i < submission->signers->nelts; i++)
        problems_add_signer(list, &APR_ARRAY_IDX(submission->signers, i, sr_signer_t), i + 1, pool);
    if (submission->expires_at && submission->expires_at <= now)
        problems_add(list, 0, "deadline", "expiresAt must be in the future");
    return list;
}
