/* SPDX-License-Identifier: Apache-2.0 */
/* creation.c: what a creation and the sending of a draft have in common: their event, the first revisions of documents,
 * and the mails that they count. */
#include "service/submissions/creation.h"

#include <string.h>

#include "service/submissions/copies.h"

const char *sr_creation_rewritten(const sr_document_state_t *document)
{
    return strcmp(document->base_sha256, document->sha256) ? document->base_sha256 : NULL;
}

apr_array_header_t *sr_creation_revisions(const sr_submission_t *submission, apr_pool_t *pool)
{
    apr_array_header_t *rows = apr_array_make(pool, submission->documents->nelts, sizeof(sr_revision_arg_t));
    for (int i = 0; i < submission->documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(submission->documents, i, sr_document_state_t);
        if (!document->revisions->nelts) continue;
        const sr_revised_t *first = &APR_ARRAY_IDX(document->revisions, 0, sr_revised_t);
        APR_ARRAY_PUSH(rows, sr_revision_arg_t) = (sr_revision_arg_t){.document = document->uuid,
                                                                      .number = 1,
                                                                      .sha256 = first->sha256,
                                                                      .size = first->size,
                                                                      .whole_sha256 = first->whole_sha256,
                                                                      .whole_size = first->whole_size};
    }
    return rows->nelts ? rows : NULL;
}

static json_t *viewers_json(const apr_array_header_t *viewers)
{
    json_t *list = json_array();
    for (int i = 0; i < viewers->nelts; i++) {
        const sr_viewer_t *viewer = &APR_ARRAY_IDX(viewers, i, sr_viewer_t);
        json_array_append_new(list, json_pack("{s:s,s:s,s:s*,s:s*,s:s*}", "uuid", viewer->uuid, "kind",
                                              viewer->is_copy ? "copy" : "viewer", "firstname", viewer->firstname,
                                              "lastname", viewer->lastname, "email", viewer->email));
    }
    return list;
}

json_t *sr_creation_detail(const sr_submission_t *submission, const char *token, bool from_template, apr_pool_t *pool)
{
    json_t *detail = sr_json_own(json_object(), pool), *documents = json_array(), *signers = json_array();
    for (int i = 0; i < submission->documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(submission->documents, i, sr_document_state_t);
        json_t *row = json_pack("{s:s,s:s,s:s,s:s?}", "uuid", document->uuid, "name", document->name, "sha256",
                                document->sha256, "normalisedSha256", sr_creation_rewritten(document));
        if (document->warnings) json_object_set_new(row, "warnings", sr_warnings_names(document->warnings));
        if (document->revisions->nelts)
            json_object_set_new(row, "preparedSha256", json_string(sr_document_state_sha256(document)));
        json_array_append_new(documents, row);
    }
    for (int i = 0; i < submission->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        json_t *row = json_pack("{s:s,s:s,s:s,s:s?}", "uuid", signer->uuid, "firstname", signer->firstname, "lastname",
                                signer->lastname, "email", signer->email);
        if (signer->order > 1) json_object_set_new(row, "order", json_integer(signer->order));
        if (signer->authentication)
            json_object_set_new(row, "authentication", sr_authentication_kind(signer->authentication));
        json_t *values = sr_entries_json(submission, signer);
        if (values) json_object_set_new(row, "values", values);
        json_array_append_new(signers, row);
    }
    json_object_set_new(detail, "submission", json_string(submission->uuid));
    if (token) json_object_set_new(detail, "token", json_string(token));
    if (from_template) json_object_set_new(detail, "template", json_string(submission->template_uuid));
    json_object_set_new(detail, "documents", documents);
    json_object_set_new(detail, "signers", signers);
    json_object_set_new(detail, "sendEmail", json_boolean(submission->send_email));
    if (submission->expires_at) json_object_set_new(detail, "expiresAt", sr_time_json(submission->expires_at));
    if (submission->reminders.most) json_object_set_new(detail, "reminders", sr_reminders_json(&submission->reminders));
    json_object_update(detail, sr_options_json(&submission->options, pool));
    if (submission->viewers) json_object_set_new(detail, "viewers", viewers_json(submission->viewers));
    return detail;
}

apr_array_header_t *sr_creation_addresses(int *others, const sr_submission_t *submission, apr_pool_t *pool)
{
    apr_array_header_t *addresses = apr_array_make(pool, submission->signers->nelts, sizeof(const char *));
    for (int i = 0; submission->send_email && i < submission->signers->nelts; i++)
        APR_ARRAY_PUSH(addresses, const char *) = APR_ARRAY_IDX(submission->signers, i, sr_signer_t).email;
    *others = sr_copies_addresses(addresses, submission, pool);
    return addresses;
}
