/* SPDX-License-Identifier: Apache-2.0 */
/* model_submission.c: tests of src/model/submission.c. */
#include "model/model.h"
#include "tap.h"

static apr_pool_t *pool;

static sr_submission_t *example(void)
{
    static const sr_pages_t pages = {.count = 12};
    sr_submission_t *submission = apr_pcalloc(pool, sizeof *submission);
    apr_array_header_t *documents = apr_array_make(pool, 1, sizeof(sr_document_t));
    apr_array_header_t *signers = apr_array_make(pool, 2, sizeof(sr_signer_t));
    apr_array_header_t *fields = apr_array_make(pool, 1, sizeof(sr_field_t));

    APR_ARRAY_PUSH(documents, sr_document_t) = (sr_document_t){.uuid = "11111111-d9cb-469f-a165-70867728950e",
                                                               .name = "a.pdf",
                                                               .sha256 = "c0ffee",
                                                               .size = 5000000000,
                                                               .pages = &pages};
    APR_ARRAY_PUSH(fields, sr_field_t) =
        (sr_field_t){.type = "signature",
                     .name = "Here",
                     .document = "a.pdf",
                     .area.page = 3,
                     .placement = {{0.1 + 0.2, 50, 100.0 / 3, 1e9}, {-0.00001, 12.34567, 612, -7.5}}};
    APR_ARRAY_PUSH(signers, sr_signer_t) =
        (sr_signer_t){"22222222-d9cb-469f-a165-70867728950e", "\xC3\x89va", "Lee", "Eva@X.org", "fr", fields};
    APR_ARRAY_PUSH(signers, sr_signer_t) =
        (sr_signer_t){"33333333-d9cb-469f-a165-70867728950e", "Bo", "O'Neil", NULL, NULL, fields};
    *submission = (sr_submission_t){.uuid = "44444444-d9cb-469f-a165-70867728950e",
                                    .name = "Contract \"7\"",
                                    .template_uuid = "55555555-d9cb-469f-a165-70867728950e",
                                    .created_at = APR_TIME_C(1795198163123456),
                                    .updated_at = APR_TIME_C(1795198164000000),
                                    .created_by = {"Cy", "Owner", "cy@x.org"},
                                    .documents = documents,
                                    .signers = signers};
    return submission;
}

#define LATER                                                                                                          \
    "\"signedDocuments\":null,\"signerInformation\":null,\"completedAt\":null,\"openedAt\":null,\"refusedAt\":null,"   \
    "\"refusalReason\":null,"
#define AREA "{\"x\":0,\"y\":0,\"w\":0,\"h\":0,\"page\":3,\"origin\":\"user-space\"}"
#define PERCENT "{\"x\":0.3,\"y\":50,\"w\":33.3333,\"h\":1000000000}"
#define FIELDS                                                                                                         \
    "\"fields\":[{\"name\":\"Here\",\"type\":\"signature\",\"document\":\"a.pdf\","                                    \
    "\"page\":3,\"area\":" AREA ",\"percent\":" PERCENT ",\"rect\":[0,12.3457,612,-7.5]}]"

static void test_view(void)
{
    static const char want[] =
        "{\"name\":\"Contract \\\"7\\\"\",\"uuid\":\"44444444-d9cb-469f-a165-70867728950e\","
        "\"createdAt\":\"2026-11-20T18:09:23.123Z\",\"updatedAt\":\"2026-11-20T18:09:24.000Z\","
        "\"template\":{\"name\":\"Contract \\\"7\\\"\",\"uuid\":\"55555555-d9cb-469f-a165-70867728950e\","
        "\"createdAt\":\"2026-11-20T18:09:23.123Z\",\"updatedAt\":\"2026-11-20T18:09:24.000Z\"},"
        "\"submitters\":[{\"email\":\"Eva@X.org\",\"firstname\":\"\xC3\x89va\",\"lastname\":\"Lee\","
        "\"uuid\":\"22222222-d9cb-469f-a165-70867728950e\",\"locale\":\"fr\","
        "\"signatureLink\":\"\x01/sign/22222222-d9cb-469f-a165-70867728950e\",\"status\":\"sent\"," LATER FIELDS "},"
        "{\"firstname\":\"Bo\",\"lastname\":\"O'Neil\",\"uuid\":\"33333333-d9cb-469f-a165-70867728950e\","
        "\"signatureLink\":\"\x01/sign/33333333-d9cb-469f-a165-70867728950e\",\"status\":\"sent\"," LATER FIELDS "}],"
        "\"createdBy\":{\"firstname\":\"Cy\",\"lastname\":\"Owner\",\"email\":\"cy@x.org\"},"
        "\"documents\":[{\"uuid\":\"11111111-d9cb-469f-a165-70867728950e\",\"name\":\"a.pdf\",\"sha256\":\"c0ffee\","
        "\"size\":5000000000,\"pages\":12}],\"certificate\":null}";
    sr_submission_t *submission = example();
    const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, 1, sr_signer_t);

    is_str(sr_submission_representation(submission, pool), want, "the view");
    is_str(sr_json_text(sr_json_own(sr_signer_fields_json(signer), pool), pool), strchr(FIELDS, '['),
           "a signer's fields");
    submission->skip_intro = true;
    ok(strstr(sr_submission_representation(submission, pool), "728950e?skipIntro=true\",") != NULL,
       "skipIntro is in the link");
}

/* The view as a reader gets it: each mark replaced by the base URL, then read as JSON. */
static json_t *as_read(const char *view, int *marks)
{
    const char *text = "", *next;
    json_t *value;
    sr_error_t *error;

    for (*marks = 0; (next = strchr(view, SR_BASE_URL_PLACEHOLDER)); view = next + 1, ++*marks)
        text =
            apr_pstrcat(pool, text, apr_pstrmemdup(pool, view, (apr_size_t)(next - view)), "https://x.org/base", NULL);
    text = apr_pstrcat(pool, text, view, NULL);
    error = sr_json_parse(&value, text, strlen(text), pool);
    return error ? NULL : value;
}

static void test_injection(void)
{
    static const char *const nasty[] = {"\x01",
                                        "\\u0001",
                                        "\"signatureLink\":\"",
                                        "\"uuid\":\"00000000-0000-4000-8000-000000000000\"",
                                        "\\\"signatureLink\\\":\\\"\x01",
                                        "\"signatureLink\":\"\x01",
                                        "\\",
                                        "\"",
                                        "x\\\"signatureLink\":\"",
                                        "\n\x7F"};
    sr_submission_t *submission = example();
    sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, 0, sr_signer_t);
    sr_field_t *field = &APR_ARRAY_IDX(signer->fields, 0, sr_field_t);
    sr_document_t *document = &APR_ARRAY_IDX(submission->documents, 0, sr_document_t);
    apr_size_t i;

    for (i = 0; i < sizeof nasty / sizeof nasty[0]; i++) {
        const char *const evil = nasty[i];
        json_t *read, *submitter;
        int marks;

        submission->name = submission->created_by.firstname = document->name = evil;
        signer->firstname = signer->lastname = signer->email = field->name = field->document = evil;
        read = as_read(sr_submission_representation(submission, pool), &marks);
        is_int(marks, 2, "one mark for each signer, whatever the names (%d)", (int)i);
        if (!ok(read != NULL, "and it is JSON")) continue;
        submitter = json_array_get(json_object_get(read, "submitters"), 0);
        is_str(sr_json_string(read, "name"), evil, "the name is as it was");
        is_str(sr_submission_representation_uuid(sr_submission_representation(submission, pool), pool),
               submission->uuid, "the uuid is found");
        is_str(sr_json_string(submitter, "email"), evil, "and the email");
        is_str(sr_json_string(submitter, "signatureLink"),
               "https://x.org/base/sign/22222222-d9cb-469f-a165-70867728950e", "and the link is right");
    }
}

static void test_uuid(void)
{
    is_str(sr_submission_representation_uuid("{}", pool), NULL, "no uuid in what is no view");
    is_str(sr_submission_representation_uuid("{\"uuid\":\"123", pool), NULL, "nor in a cut one");
}

static void test_search(void)
{
    is_str(sr_submission_search_text(example(), pool), "contract \"7\"\n\xC3\xA9va lee eva@x.org\nbo o'neil",
           "names and emails are searched, folded");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_view();
    test_injection();
    test_uuid();
    test_search();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
