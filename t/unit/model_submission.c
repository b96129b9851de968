/* SPDX-License-Identifier: Apache-2.0 */
/* model_submission.c: tests of src/model/submission.c. */
#include "model/model.h"
#include "tap.h"

static apr_pool_t *pool;

static sr_submission_t *example(void)
{
    sr_submission_t *submission = apr_pcalloc(pool, sizeof *submission);
    apr_array_header_t *documents = apr_array_make(pool, 1, sizeof(sr_document_state_t));
    apr_array_header_t *signers = apr_array_make(pool, 2, sizeof(sr_signer_t));
    apr_array_header_t *fields = apr_array_make(pool, 1, sizeof(sr_field_t));
    APR_ARRAY_PUSH(documents, sr_document_state_t) =
        (sr_document_state_t){.uuid = "11111111-d9cb-469f-a165-70867728950e",
                              .name = "a.pdf",
                              .sha256 = "c0ffee",
                              .size = 5000000000,
                              .base_sha256 = "c0ffee",
                              .base_size = 5000000000,
                              .pages = 12,
                              .revisions = apr_array_make(pool, 1, sizeof(sr_revised_t))};
    APR_ARRAY_PUSH(fields, sr_field_t) =
        (sr_field_t){.type = sr_field_type("signature"),
                     .name = "Here",
                     .document = "a.pdf",
                     .area.page = 3,
                     .placement = {{0.1 + 0.2, 50, 100.0 / 3, 1e9}, {-0.00001, 12.34567, 612, -7.5}, 3}};
    APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){.uuid = "22222222-d9cb-469f-a165-70867728950e",
                                                         .firstname = "\xC3\x89va",
                                                         .lastname = "Lee",
                                                         .email = "Eva@X.org",
                                                         .locale = "fr",
                                                         .fields = fields,
                                                         .state = SR_SIGNER_SENT};
    APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){.uuid = "33333333-d9cb-469f-a165-70867728950e",
                                                         .firstname = "Bo",
                                                         .lastname = "O'Neil",
                                                         .fields = fields,
                                                         .state = SR_SIGNER_SENT};
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

static void test_new(void)
{
    static const char want[] =
        "{\"name\":\"Contract \\\"7\\\"\",\"uuid\":\"44444444-d9cb-469f-a165-70867728950e\","
        "\"createdAt\":\"2026-11-20T18:09:23.123Z\",\"updatedAt\":\"2026-11-20T18:09:24.000Z\","
        "\"template\":{\"name\":\"Contract \\\"7\\\"\",\"uuid\":\"55555555-d9cb-469f-a165-70867728950e\","
        "\"createdAt\":\"2026-11-20T18:09:23.123Z\",\"updatedAt\":\"2026-11-20T18:09:23.123Z\"},"
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
    is_str(sr_submission_render(submission, pool), want, "the representation of a new submission");
    is_str(sr_json_text(sr_json_own(sr_signer_fields_json(signer), pool), pool), strchr(FIELDS, '['),
           "the fields of a signer");
    submission->skip_intro = true;
    ok(strstr(sr_submission_render(submission, pool), "728950e?skipIntro=true\",") != NULL, "the link has skipIntro");
}

/* One signer has signed and one has refused; then the submission is completed. */
static void test_progress(void)
{
    static const char signed_by_eva[] =
        "\"status\":\"completed\",\"signedDocuments\":[{\"name\":\"a.pdf\",\"uuid\":"
        "\"11111111-d9cb-469f-a165-70867728950e\",\"url\":\"\x01/api/v3/signatures/44444444-d9cb-469f-a165-"
        "70867728950e/documents/11111111-d9cb-469f-a165-70867728950e\",\"sha256\":\"whole\",\"size\":99}],"
        "\"signerInformation\":{\"ip\":\"::1\",\"userAgent\":null,\"openedAt\":\"2026-11-20T18:09:24.000Z\","
        "\"signedAt\":\"2026-11-20T18:09:25.000Z\",\"signatureType\":\"typed\",\"consent\":\"1-en\"},"
        "\"completedAt\":\"2026-11-20T18:09:25.000Z\",\"openedAt\":\"2026-11-20T18:09:24.000Z\",\"refusedAt\":null,"
        "\"refusalReason\":null,\"fields\":[",
                      refused_by_bo[] = "\"status\":\"opened\",\"signedDocuments\":null,\"signerInformation\":null,"
                                        "\"completedAt\":null,\"openedAt\":\"2026-11-20T18:09:24.000Z\",\"refusedAt\":"
                                        "\"2026-11-20T18:09:25.000Z\",\"refusalReason\":\"no \\\"x\\\"\",\"fields\":[",
                      end[] = ",\"warnings\":[\"It has a form\"]}],\"certificate\":{\"url\":\"\x01/api/v3/signatures/"
                              "44444444-d9cb-469f-a165-70867728950e/certificate\",\"sha256\":\"cert\",\"size\":7},"
                              "\"warnings\":[\"w\"]}";
    const apr_time_t then = APR_TIME_C(1795198164000000), later = APR_TIME_C(1795198165000000);
    sr_submission_t *submission = example();
    sr_signer_t *eva = &APR_ARRAY_IDX(submission->signers, 0, sr_signer_t), *bo = eva + 1;
    sr_document_state_t *document = &APR_ARRAY_IDX(submission->documents, 0, sr_document_state_t);
    const char *text;

    APR_ARRAY_PUSH(document->revisions, sr_revised_t) = (sr_revised_t){"part", 9, "whole", 99, "part.1", false};
    eva->state = SR_SIGNER_COMPLETED, eva->opened_at = then, eva->completed_at = later;
    eva->ip = "::1", eva->signature_type = "typed", eva->consent = "1-en";
    bo->state = SR_SIGNER_REFUSED, bo->opened_at = then, bo->refused_at = later, bo->refusal_reason = "no \"x\"";
    document->warnings = SR_WARNING_BIT(0);
    submission->certificate_sha256 = "cert", submission->certificate_size = 7;
    submission->warnings = sr_json_own(json_pack("[s]", "w"), pool);
    text = sr_submission_render(submission, pool);
    ok(strstr(text, signed_by_eva) != NULL, "a signer who has signed has documents, information and times");
    ok(strstr(text, refused_by_bo) != NULL, "a signer who has refused has the status opened");
    const char *sentence = sr_warning(0)->sentence, *form = apr_psprintf(pool, ",\"warnings\":[\"%s\"]}]", sentence);
    const char *tail = strstr(text, ",\"warnings\":["), *rest = strstr(end, "]}],") + 3;
    ok(tail && !strncmp(tail, form, strlen(form)) && !strcmp(tail + strlen(form), rest),
       "warnings and the certificate are the last members");
    text = sr_signer_render(submission, eva, pool);
    ok(!strncmp(text, "{\"email\":\"Eva@X.org\",", 21) && strstr(text, signed_by_eva),
       "a signer can be rendered alone");
    ok(strstr(sr_submission_render(submission, pool), text) != NULL, "the submission has the same text");
}

/* Stored fields are parsed and written again unchanged. */
static void test_fields(void)
{
    static const char *const areas[] = {
        "{\"x\":12.5,\"y\":1e-5,\"w\":300,\"h\":0.3,\"page\":0,\"origin\":\"top-left\"}",
        "{\"x\":-1,\"y\":7.0,\"w\":1e20,\"h\":2,\"page\":0,\"origin\":\"user-space\"}",
        "{\"field\":\"Tenant\"}",
        "{\"x\":12.5,\"y\":-3,\"w\":33.333333,\"h\":10.0,\"page\":0,\"unit\":\"percent\"}",
        "{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"page\":7,\"pageFrom\":\"end\",\"origin\":\"top-left\"}",
        "{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"page\":0,\"pageFrom\":\"end\",\"unit\":\"percent\"}"};
    for (size_t i = 0; i < sizeof areas / sizeof *areas; i++) {
        const char *text = apr_pstrcat(pool,
                                       "[{\"name\":\"Here\",\"type\":\"signature\",\"document\":\"a.pdf\",\"page\":0,"
                                       "\"area\":",
                                       areas[i],
                                       ",\"percent\":{\"x\":0.3,\"y\":33.3333,\"w\":1,\"h\":0},\"rect\":[0,12.3457,612,"
                                       "-7.5],\"caption\":\"name,date\"}]",
                                       NULL);
        sr_signer_t signer;
        json_t *json;
        if (sr_json_read(&json, text, pool)) abort();
        ok(!sr_signer_fields_parse(&signer, json, pool), "field %d is read", (int)i);
        is_str(sr_json_text(sr_json_own(sr_signer_fields_json(&signer), pool), pool), text,
               "the field is written unchanged");
    }
    static const char *const spoilt[] = {"[{}]", "[7]", "[{\"name\":\"a\",\"type\":\"b\",\"document\":\"c\"}]"};
    for (size_t i = 0; i < sizeof spoilt / sizeof *spoilt; i++) {
        sr_signer_t signer;
        json_t *json;
        if (sr_json_read(&json, spoilt[i], pool)) abort();
        const sr_error_t *error = sr_signer_fields_parse(&signer, json, pool);
        ok(error && error->code == SR_EINTERNAL, "%s is refused", spoilt[i]);
    }
}

/* Parses the representation as a reader gets it: each placeholder is replaced by the base URL. */
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
    sr_document_state_t *document = &APR_ARRAY_IDX(submission->documents, 0, sr_document_state_t);
    apr_size_t i;
    for (i = 0; i < sizeof nasty / sizeof nasty[0]; i++) {
        const char *evil = nasty[i];
        json_t *read, *submitter;
        int marks;
        submission->name = submission->created_by.firstname = document->name = evil;
        signer->firstname = signer->lastname = signer->email = field->name = field->document = evil;
        read = as_read(sr_submission_render(submission, pool), &marks);
        is_int(marks, 2, "there is one placeholder for each signer, whatever the names (%d)", (int)i);
        if (!ok(read != NULL, "the result is valid JSON")) continue;
        submitter = json_array_get(json_object_get(read, "submitters"), 0);
        is_str(sr_json_string(read, "name"), evil, "the name is unchanged");
        is_str(sr_representation_uuid(sr_submission_render(submission, pool), pool), submission->uuid,
               "sr_representation_uuid finds the uuid");
        is_str(sr_json_string(submitter, "email"), evil, "the email is unchanged");
        is_str(sr_json_string(submitter, "signatureLink"),
               "https://x.org/base/sign/22222222-d9cb-469f-a165-70867728950e", "the link has the base URL");
    }
}

static void test_uuid(void)
{
    is_str(sr_representation_uuid("{}", pool), NULL, "an empty object has no uuid");
    is_str(sr_representation_uuid("{\"uuid\":\"123", pool), NULL, "a truncated representation has no uuid");
}

static void test_search(void)
{
    is_str(sr_submission_search_text(example(), pool), "contract \"7\"\n\xC3\xA9va lee eva@x.org\nbo o'neil",
           "the search text has names and emails, folded");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_new();
    test_progress();
    test_fields();
    test_injection();
    test_uuid();
    test_search();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
