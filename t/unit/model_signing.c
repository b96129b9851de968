/* SPDX-License-Identifier: Apache-2.0 */
/* model_signing.c: tests of src/model/signing.c, record.c and signing_representation.c: what a signer may do in each
 * state, what that changes, and that a signer does not get the links of others. */
#include "model/model.h"
#include "tap.h"

#include <apr_general.h>

static apr_pool_t *pool;

#define ANN "22222222-d9cb-469f-a165-70867728950e"
#define BO "33333333-d9cb-469f-a165-70867728950e"
#define CY "99999999-d9cb-469f-a165-70867728950e"
#define FIRST "11111111-d9cb-469f-a165-70867728950e"
#define OTHER "66666666-d9cb-469f-a165-70867728950e"
#define SUBMISSION "44444444-d9cb-469f-a165-70867728950e"
#define WHEN APR_TIME_C(1795198163123000) /* 2026-11-20T18:09:23.123Z */
#define LATER APR_TIME_C(1795198164000000)

/* The differences of a test from the default; NULL: none. */
typedef struct parts_t {
    const char *ann, *bo, *cy; /* members of a signer, beginning with a comma; NULL: state sent */
    const char *state;         /* the state of the submission; NULL: open */
} parts_t;

/* times in microseconds: 2026-11-19T00:00:00Z, and an hour later */
#define THEN "1795046400000000"
#define SENT ",\"state\":\"sent\",\"opened_at\":null"
#define OPENED ",\"state\":\"opened\",\"opened_at\":" THEN
#define COMPLETED                                                                                                      \
    ",\"state\":\"completed\",\"opened_at\":" THEN ",\"completed_at\":1795050000000000,\"ip\":\"::2\","                \
    "\"signature_type\":\"drawn\",\"consent\":\"1-en\""
#define REFUSED                                                                                                        \
    ",\"state\":\"refused\",\"opened_at\":" THEN ",\"refused_at\":1795050000000000,\"refusal_reason\":\"no\""

static const char *signer_row(const char *uuid, const char *name, const char *fields, const char *more)
{
    return apr_psprintf(pool,
                        "{\"uuid\":\"%s\",\"firstname\":\"%s\",\"lastname\":\"Lee\",\"email\":\"%s@x.org\","
                        "\"locale\":null,\"fields\":[%s]%s}",
                        uuid, name, name, fields, more ? more : SENT);
}

#define FIELD(document, label)                                                                                         \
    "{\"name\":\"" label "\",\"type\":\"signature\",\"document\":\"" document "\",\"page\":2,\"area\":{\"x\":1,"       \
    "\"y\":2,\"w\":3,\"h\":4,\"page\":2,\"origin\":\"user-space\"},\"percent\":{\"x\":1,\"y\":2,\"w\":3,\"h\":4},"     \
    "\"rect\":[1,2,3,4]}"

/* The first document has a revision, the second one was rewritten. */
#define DOCUMENTS                                                                                                      \
    "[{\"uuid\":\"" FIRST "\",\"name\":\"a.pdf\",\"sha256\":\"upload-a\",\"size\":100,\"pages\":12,"                   \
    "\"key\":\"upload-a.1\","                                                                                          \
    "\"warnings\":null,\"rewritten_sha256\":null,\"revisions\":[{\"sha256\":\"part-1\",\"key\":\"part-1.1\",\"size\":" \
    "10,"                                                                                                              \
    "\"whole_sha256\":\"whole-1\",\"whole_size\":110}]},{\"uuid\":\"" OTHER "\",\"name\":\"b.pdf\","                   \
    "\"sha256\":\"upload-b\",\"size\":50,\"pages\":1,\"warnings\":[\"%s\"],\"rewritten_sha256\":\"anew-b\","           \
    "\"rewritten_size\":60,\"key\":\"upload-b.1\",\"rewritten_key\":\"anew-b.1\",\"revisions\":[]}]"

/* Ann signs both documents, Bo the first, Cy the second. */
static const char *row_of(const parts_t *parts)
{
    const char *documents = apr_psprintf(pool, DOCUMENTS, sr_warning(0)->name);
    const char *signers =
        apr_pstrcat(pool, signer_row(ANN, "Ann", FIELD("a.pdf", "A") "," FIELD("b.pdf", "B"), parts->ann), ",",
                    signer_row(BO, "Bo", FIELD("a.pdf", "C"), parts->bo), ",",
                    signer_row(CY, "Cy", FIELD("b.pdf", "D"), parts->cy), NULL);
    return apr_psprintf(pool,
                        "{\"environment\":\"production\",\"organization\":\"Org\",\"organization_uuid\":\"o1\","
                        "\"version\":\"e3.00\",\"base_url\":\"https://x.org\",\"tell_signed\":1,\"tell_completed\":0,"
                        "\"submission\":{\"uuid\":\"" SUBMISSION "\",\"name\":\"Contract\",\"template_uuid\":\"t\","
                        "\"skip_intro\":0,\"send_email\":true,\"state\":\"%s\",\"created_at\":1794960000000000,"
                        "\"updated_at\":1794960000000000,\"events\":3,\"events_hash\":\"e3\","
                        "\"certificate_sha256\":null,\"warnings\":null,\"created_by\":{\"firstname\":\"Dee\","
                        "\"lastname\":\"Owner\",\"email\":\"dee@x.org\"},\"documents\":%s,\"signers\":[%s]}}",
                        parts->state ? parts->state : "open", documents, signers);
}

static sr_signing_t *signing_of(const parts_t *parts, const char *signer)
{
    sr_signing_t *signing;
    sr_error_t *error = sr_signing_parse(&signing, row_of(parts), signer, pool);
    if (!error) return signing;
    printf("Bail out! %s\n", error->cause);
    exit(EXIT_FAILURE);
}

static const char *member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_null(value) ? "null" : value ? sr_json_text(value, pool) : NULL;
}

/* --- states */

static void test_states(void)
{
#define ELSE "Somebody else has refused to sign, which has closed this signature request"
    static const struct {
        const char *state;
        parts_t parts;
        const char *sign, *refuse; /* the message of the refusal; NULL: the signer may */
    } cases[] = {
        {"sent", {0}, NULL, NULL},
        {"opened", {.ann = OPENED}, NULL, NULL},
        {"completed",
         {.ann = COMPLETED},
         "You have signed already",
         "You have signed already, and can no longer refuse"},
        {"refused", {.ann = REFUSED, .state = "refused"}, "You have refused to sign", "You have refused already"},
        {"closed", {.bo = REFUSED, .state = "refused"}, ELSE, ELSE},
        {"closed", {.ann = OPENED, .cy = REFUSED, .state = "refused"}, ELSE, ELSE},
        {"completed",
         {.ann = COMPLETED, .bo = REFUSED, .state = "refused"},
         "You have signed already",
         "You have signed already, and can no longer refuse"},
        {"refused",
         {.ann = REFUSED, .bo = REFUSED, .state = "refused"},
         "You have refused to sign",
         "You have refused already"},
        {"sent", {.bo = COMPLETED, .cy = OPENED}, NULL, NULL},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sr_signing_t *signing = signing_of(&cases[i].parts, ANN);
        const sr_error_t *sign = sr_signing_may(signing, SR_ACTION_SIGN, pool), *const refuse = sr_signing_may(
                                                                                    signing, SR_ACTION_REFUSE, pool);
        is_str(sr_signing_state_name(sr_signing_state(signing)), cases[i].state, "state %d is %s", (int)i,
               cases[i].state);
        is_str(sign ? sign->message : NULL, cases[i].sign, "%s: signing", cases[i].state);
        is_str(refuse ? refuse->message : NULL, cases[i].refuse, "%s: refusing", cases[i].state);
        ok((!sign || sign->code == SR_ECONFLICT) && (!refuse || refuse->code == SR_ECONFLICT),
           "a refusal is a conflict");
    }
}

/* A signer who was never due sees no document, also after another one has refused. */
static void test_never_due(void)
{
    static const parts_t parts[] = {
        {.ann = ",\"state\":\"waiting\",\"opened_at\":null"},
        {.ann = ",\"state\":\"waiting\",\"opened_at\":null", .bo = REFUSED, .state = "refused"},
        {.bo = REFUSED, .state = "refused"}};
    for (int i = 0; i < 3; i++) {
        const sr_error_t *error = sr_signing_may_see(signing_of(&parts[i], ANN), pool);
        is_int(error ? (int)error->code : 0, i < 2 ? SR_ECONFLICT : 0, "documents, case %d", i);
    }
}

static void test_reading(void)
{
    const sr_signing_t *signing = signing_of(&(parts_t){0}, "99999999-D9CB-469F-A165-70867728950E");
    sr_signing_t *none;
    const sr_document_state_t *first, *other;
    sr_error_t *error;
    is_str(signing->signer->firstname, "Cy", "the signer is found by a link in upper case");
    is_int(signing->environment, SR_PRODUCTION, "the environment");
    is_int(signing->events, 3, "the events");
    first = sr_signing_document(signing, FIRST);
    other = sr_signing_document(signing, OTHER);
    ok(first && other && !sr_signing_document(signing, ANN), "documents are found by their uuid");
    is_str(sr_document_state_sha256(first), "whole-1", "a document with a revision");
    is_int(sr_document_state_size(first), 110, "the size of the current revision");
    is_int(sr_document_state_files(first, pool)->nelts, 2, "the number of its files");
    is_str(APR_ARRAY_IDX(sr_document_state_files(first, pool), 0, const char *), "upload-a.1",
           "the first file is the upload");
    is_str(APR_ARRAY_IDX(sr_document_state_files(first, pool), 1, const char *), "part-1.1",
           "the second file is the revision");
    is_str(sr_document_state_sha256(other), "anew-b", "the SHA-256 of a rewritten document");
    is_int(sr_document_state_size(other), 60, "the size of the current revision");
    is_str(sr_signing_contact(signing_of(&(parts_t){0}, BO), pool), "Org, submission " SUBMISSION,
           "the contact has the organisation and the submission, and no signer");
    is_str(sr_signer_alias(&(sr_signer_t){.uuid = BO}, pool),
           apr_pstrndup(pool, sr_sha256_hex(BO, strlen(BO), pool), 12), "the alias is a hash of the uuid");
    ok(!strstr(BO, sr_signer_alias(&(sr_signer_t){.uuid = BO}, pool)), "the alias is not a part of the link");

    error = sr_signing_parse(&none, row_of(&(parts_t){0}), SUBMISSION, pool);
    ok(error && error->code == SR_EINTERNAL, "a signer who is not in the row");
    error = sr_signing_parse(&none, "{}", ANN, pool);
    ok(error && error->code == SR_EINTERNAL, "an empty row");
    error = sr_signing_parse(&none, row_of(&(parts_t){.state = "paused"}), ANN, pool);
    ok(error && error->code == SR_EINTERNAL, "an unknown state of a submission");
    error = sr_signing_parse(&none, row_of(&(parts_t){.cy = ",\"state\":\"sleeping\""}), ANN, pool);
    ok(error && error->code == SR_EINTERNAL, "an unknown state of a signer");
    is_int(other->warnings, SR_WARNING_BIT(0), "the warnings of a document");
}

/* --- actions */

static void test_open(void)
{
    sr_signing_t *signing = signing_of(&(parts_t){0}, ANN);
    sr_signing_open(signing, WHEN);
    is_int(signing->signer->state, SR_SIGNER_OPENED, "opened");
    ok(signing->signer->opened_at == WHEN && signing->submission.updated_at == WHEN, "the time of opening is recorded");
    ok(sr_signing_may(signing, SR_ACTION_OPEN, pool) != NULL, "once");
    is_int(signing->submission.state, SR_SUBMISSION_OPEN, "the submission is still open");
}

static void test_refuse(void)
{
    sr_signing_t *signing = signing_of(&(parts_t){0}, ANN);
    sr_signing_open(signing, WHEN);
    sr_signing_refuse(signing, LATER, "too dear");
    is_int(signing->signer->state, SR_SIGNER_REFUSED, "refused");
    is_int(signing->submission.state, SR_SUBMISSION_REFUSED, "the submission is refused, too");
    ok(signing->signer->refused_at == LATER && signing->signer->opened_at == WHEN && !signing->signer->completed_at,
       "when");
    is_str(signing->signer->refusal_reason, "too dear", "the reason is recorded");
    ok(sr_signing_may(signing, SR_ACTION_SIGN, pool) != NULL, "a signer who has refused cannot sign");
    ok(!sr_submission_all_signed(&signing->submission), "a refused submission is not complete");
}

static void test_complete(void)
{
    static const sr_client_t client = {.ip = "::1", .user_agent = "Agent/7"};
    sr_signing_t *signing = signing_of(&(parts_t){.bo = COMPLETED}, ANN);
    sr_signing_complete(signing, WHEN, &client, "typed", "1-en");
    const sr_signer_t *ann = signing->signer;
    is_int(ann->state, SR_SIGNER_COMPLETED, "completed");
    ok(ann->opened_at == WHEN && ann->completed_at == WHEN, "a signer who signs at once has opened the link");
    is_str(apr_pstrcat(pool, ann->ip, " ", ann->user_agent, " ", ann->signature_type, " ", ann->consent, NULL),
           "::1 Agent/7 typed 1-en", "address, browser, type and consent are recorded");
    ok(!sr_submission_all_signed(&signing->submission), "while a signature is missing, not all have signed");
    is_int(signing->submission.state, SR_SUBMISSION_OPEN, "while a signature is missing, the submission is open");
    signing = signing_of(&(parts_t){NULL, COMPLETED, COMPLETED, NULL}, ANN);
    sr_signing_complete(signing, WHEN, &client, "typed", "1-en");
    ok(sr_submission_all_signed(&signing->submission), "after three signatures all have signed");
    sr_signing_certify(signing, "cert", 999);
    is_int(signing->submission.state, SR_SUBMISSION_COMPLETED, "the certificate completes the submission");
    is_str(signing->submission.certificate_sha256, "cert", "the submission has the certificate's SHA-256");
    is_int(signing->submission.certificate_size, 999, "the submission has the certificate's size");
}

/* --- the state that a signer gets */

static void check_view(const parts_t *parts, const char *name)
{
    static const char *const all[] = {ANN, BO, CY};
    sr_signing_t *signing = signing_of(parts, BO);
    size_t i;
    signing->submission.certificate_sha256 = "cert";
    const json_t *const view =
        sr_json_own(sr_signing_representation(signing, sr_consent_of_language("en"), "", "/sign/link", pool), pool);
    const char *text = sr_json_text(view, pool), *const alias = sr_signer_alias(&(sr_signer_t){.uuid = ANN}, pool);
    for (i = 0; i < 3; i++)
        ok(!strstr(text, all[i]), "%s: no link of %s", name, i == 1 ? "the signer" : "another signer");
    ok(!strstr(text, "Ann") && !strstr(text, "Cy@x.org"), "%s: no names or addresses of others", name);
    ok(!strstr(text, alias), "%s: no alias of a field", name);
}

static void test_view(void)
{
    const sr_signing_t *signing = signing_of(&(parts_t){.bo = OPENED}, BO);
    const json_t *const view =
        sr_json_own(sr_signing_representation(signing, sr_consent_of_language("en"), "", "/sign/link", pool), pool);
    is_str(member(view, "state"), "\"opened\"", "the state of the signer");
    is_str(member(view, "environment"), "\"production\"", "the environment");
    is_str(member(view, "requester"),
           "{\"firstname\":\"Dee\",\"lastname\":\"Owner\",\"email\":\"dee@x.org\",\"organization\":\"Org\"}",
           "who asks, with the address");
    is_str(member(view, "signer"), "{\"firstname\":\"Bo\",\"lastname\":\"Lee\",\"email\":\"Bo@x.org\"}",
           "the name and address of the signer");
    is_str(member(view, "fields"),
           "[{\"document\":\"" FIRST
           "\",\"name\":\"C\",\"type\":\"signature\",\"page\":2,\"percent\":{\"x\":1,\"y\":2,\"w\":3,\"h\":4}}]",
           "only the signer's fields, without rectangles in the file");
    is_str(member(json_array_get(json_object_get(view, "documents"), 0), "sha256"), "\"whole-1\"",
           "the current revision of a document");
    is_str(member(json_array_get(json_object_get(view, "documents"), 1), "url"), "\"/sign/link/documents/" OTHER "\"",
           "the URL of a document is below the signer's link");
    is_str(member(view, "certificate"), "null", "there is no certificate yet");
    is_str(member(view, "skipIntro"), "false", "the introduction is not skipped");
    check_view(&(parts_t){0}, "sent");
    check_view(&(parts_t){.ann = REFUSED, .state = "refused"}, "closed");
    check_view(&(parts_t){COMPLETED, COMPLETED, COMPLETED, "completed"}, "completed");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_states();
    test_never_due();
    test_reading();
    test_open();
    test_refuse();
    test_complete();
    test_view();
    apr_pool_destroy(pool);
    return done();
}
