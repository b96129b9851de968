/* SPDX-License-Identifier: Apache-2.0 */
/* model_signing.c: tests of src/model/signing.c and signing_view.c: what a signer may do in which state, what becomes
 * of the view by it, and that he is told no other's link. */
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

/* What is different in a test; NULL: nothing. */
typedef struct parts_t {
    const char *ann, *bo, *cy; /* of the submitter: members that begin with a comma; NULL: as if just sent */
} parts_t;

#define SENT ",\"status\":\"sent\",\"openedAt\":null,\"refusedAt\":null,\"refusalReason\":null,\"completedAt\":null"
#define OPENED                                                                                                         \
    ",\"status\":\"opened\",\"openedAt\":\"2026-11-19T00:00:00.000Z\",\"refusedAt\":null,\"refusalReason\":null,"      \
    "\"completedAt\":null"
#define COMPLETED                                                                                                      \
    ",\"status\":\"completed\",\"openedAt\":\"2026-11-19T00:00:00.000Z\",\"refusedAt\":null,\"refusalReason\":null,"   \
    "\"completedAt\":\"2026-11-19T01:00:00.000Z\",\"signedDocuments\":[{\"sha256\":\"of-then\"}]"
#define REFUSED                                                                                                        \
    ",\"status\":\"opened\",\"openedAt\":\"2026-11-19T00:00:00.000Z\",\"completedAt\":null,"                           \
    "\"refusedAt\":\"2026-11-19T01:00:00.000Z\",\"refusalReason\":\"no\""

static const char *submitter(const char *uuid, const char *name, const char *documents, const char *more)
{
    return apr_psprintf(pool,
                        "{\"uuid\":\"%s\",\"firstname\":\"%s\",\"lastname\":\"Lee\",\"email\":\"%s@x.org\","
                        "\"signatureLink\":\"/sign/%s\",\"fields\":[%s]%s}",
                        uuid, name, name, uuid, documents, more ? more : SENT);
}

#define FIELD(document, label)                                                                                         \
    "{\"name\":\"" label "\",\"type\":\"signature\",\"document\":\"" document "\",\"page\":2,\"percent\":{\"x\":1},"   \
    "\"rect\":[1,2,3,4]}"

/* Ann signs both documents, Bo the first, Cy the second, which was rewritten. The first has a revision. */
static const char *row_of(const parts_t *parts)
{
    const char *const people =
        apr_pstrcat(pool, submitter(ANN, "Ann", FIELD("a.pdf", "A") "," FIELD("b.pdf", "B"), parts->ann), ",",
                    submitter(BO, "Bo", FIELD("a.pdf", "C"), parts->bo), ",",
                    submitter(CY, "Cy", FIELD("b.pdf", "D"), parts->cy), NULL);
    const char *const view = apr_pstrcat(
        pool,
        "{\"name\":\"Contract\",\"uuid\":\"" SUBMISSION "\",\"createdAt\":\"2026-11-18T00:00:00.000Z\","
        "\"updatedAt\":\"2026-11-18T00:00:00.000Z\",\"createdBy\":{\"firstname\":\"Dee\",\"lastname\":\"Owner\","
        "\"email\":\"dee@x.org\"},\"submitters\":[",
        people, "]}", NULL);
    json_t *const row =
        sr_json_own(json_pack("{s:s,s:s,s:s,s:s,s:i,s:s,s:s,s:s}", "submission", SUBMISSION, "environment",
                              "production", "organization", "Org", "organization_uuid", "o1", "events", 3,
                              "events_hash", "e3", "base_url", "https://x.org", "view", view),
                    pool);
    json_t *const documents = json_pack(
        "[{s:s,s:s,s:s,s:i,s:i,s:n,s:[{s:s,s:i,s:s,s:i}]},{s:s,s:s,s:s,s:i,s:i,s:s,s:i,s:[]}]", "uuid", FIRST, "name",
        "a.pdf", "sha256", "upload-a", "size", 100, "pages", 12, "rewritten_sha256", "revisions", "sha256", "part-1",
        "size", 10, "whole_sha256", "whole-1", "whole_size", 110, "uuid", OTHER, "name", "b.pdf", "sha256", "upload-b",
        "size", 50, "pages", 1, "rewritten_sha256", "anew-b", "rewritten_size", 60, "revisions");

    json_object_set_new(row, "documents", documents);
    return sr_json_text(row, pool);
}

static sr_signing_t *signing_of(const parts_t *parts, const char *signer)
{
    sr_signing_t *signing;
    sr_error_t *const error = sr_signing_parse(&signing, row_of(parts), signer, pool);

    if (!error) return signing;
    printf("Bail out! %s\n", error->cause);
    exit(EXIT_FAILURE);
}

static const char *member(const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);

    return json_is_null(value) ? "null" : value ? sr_json_text(value, pool) : NULL;
}

/* --- states */

static void test_states(void)
{
#define ELSE "Somebody else has refused to sign, which has closed this signature request"
    static const struct {
        const char *state;
        parts_t parts;
        const char *sign, *refuse; /* NULL: he may */
    } cases[] = {
        {"sent", {0}, NULL, NULL},
        {"opened", {.ann = OPENED}, NULL, NULL},
        {"completed",
         {.ann = COMPLETED},
         "You have signed already",
         "You have signed already, and can no longer refuse"},
        {"refused", {.ann = REFUSED}, "You have refused to sign", "You have refused already"},
        {"closed", {.bo = REFUSED}, ELSE, ELSE},
        {"closed", {.ann = OPENED, .cy = REFUSED}, ELSE, ELSE},
        {"completed",
         {.ann = COMPLETED, .bo = REFUSED},
         "You have signed already",
         "You have signed already, and can no longer refuse"},
        {"refused", {.ann = REFUSED, .bo = REFUSED}, "You have refused to sign", "You have refused already"},
        {"sent", {.bo = COMPLETED, .cy = OPENED}, NULL, NULL},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sr_signing_t *const signing = signing_of(&cases[i].parts, ANN);
        const sr_error_t *const sign = sr_signing_may(signing, SR_SIGNING_SIGN, pool), *const refuse = sr_signing_may(
                                                                                           signing, SR_SIGNING_REFUSE,
                                                                                           pool);

        is_str(sr_signing_state_name(signing->state), cases[i].state, "state %d is %s", (int)i, cases[i].state);
        is_str(sign ? sign->message : NULL, cases[i].sign, "%s: signing", cases[i].state);
        is_str(refuse ? refuse->message : NULL, cases[i].refuse, "%s: refusing", cases[i].state);
        ok((!sign || sign->code == SR_ECONFLICT) && (!refuse || refuse->code == SR_ECONFLICT), "a conflict, if any");
    }
}

static void test_reading(void)
{
    const sr_signing_t *const signing = signing_of(&(parts_t){0}, "99999999-D9CB-469F-A165-70867728950E");
    sr_signing_t *none;
    const sr_document_state_t *first, *other;
    sr_error_t *error;

    is_str(sr_json_string(signing->submitter, "firstname"), "Cy", "his part, whatever the case of his link");
    is_int(signing->environment, SR_PRODUCTION, "the environment");
    is_int(signing->events, 3, "the events");
    first = sr_signing_document(signing, FIRST);
    other = sr_signing_document(signing, OTHER);
    ok(first && other && !sr_signing_document(signing, ANN), "documents by their uuid");
    is_str(sr_document_state_sha256(first), "whole-1", "a document with a revision");
    is_int(sr_document_state_size(first), 110, "its size");
    is_int(sr_document_state_files(first, pool)->nelts, 2, "its files");
    is_str(APR_ARRAY_IDX(sr_document_state_files(first, pool), 0, const char *), "upload-a", "the upload");
    is_str(APR_ARRAY_IDX(sr_document_state_files(first, pool), 1, const char *), "part-1", "and what was appended");
    is_str(sr_document_state_sha256(other), "anew-b", "one that was rewritten");
    is_int(sr_document_state_size(other), 60, "its size");
    is_str(sr_signing_contact(signing_of(&(parts_t){0}, BO), pool), "Org, submission " SUBMISSION,
           "for whom it was made, without any signer");
    is_str(sr_signing_alias(BO, pool), apr_pstrndup(pool, sr_sha256_hex(BO, strlen(BO), pool), 12), "an alias");
    ok(!strstr(BO, sr_signing_alias(BO, pool)), "is no part of the link");

    error = sr_signing_parse(&none, row_of(&(parts_t){0}), SUBMISSION, pool);
    ok(error && error->code == SR_EINTERNAL, "a signer whom the row does not know");
    error = sr_signing_parse(&none, "{}", ANN, pool);
    ok(error && error->code == SR_EINTERNAL, "an empty row");
}

/* --- steps */

static void test_open(void)
{
    sr_signing_t *signing = signing_of(&(parts_t){0}, ANN);

    sr_signing_open(signing, WHEN);
    is_int(signing->state, SR_SIGNING_OPENED, "opened");
    is_str(member(signing->submitter, "status"), "\"opened\"", "his status");
    is_str(member(signing->submitter, "openedAt"), "\"2026-11-20T18:09:23.123Z\"", "since when");
    is_str(member(signing->view, "updatedAt"), "\"2026-11-20T18:09:23.123Z\"", "the submission has changed");
    sr_signing_open(signing, LATER);
    is_str(member(signing->submitter, "openedAt"), "\"2026-11-20T18:09:23.123Z\"", "the first time stays");
}

static void test_refuse(void)
{
    sr_signing_t *signing = signing_of(&(parts_t){0}, ANN);

    sr_signing_open(signing, WHEN);
    sr_signing_refuse(signing, LATER, "too dear");
    is_int(signing->state, SR_SIGNING_REFUSED, "refused");
    is_str(member(signing->submitter, "status"), "\"opened\"", "of the contract's statuses it stays opened");
    is_str(member(signing->submitter, "refusedAt"), "\"2026-11-20T18:09:24.000Z\"", "when");
    is_str(member(signing->submitter, "refusalReason"), "\"too dear\"", "why");
    is_str(member(signing->submitter, "completedAt"), "null", "not completed");
    ok(sr_signing_may(signing, SR_SIGNING_SIGN, pool) != NULL, "and he can no longer sign");
    signing = signing_of(&(parts_t){.ann = OPENED}, ANN);
    sr_signing_refuse(signing, LATER, NULL);
    is_str(member(signing->submitter, "refusalReason"), "null", "without a reason");
    ok(!sr_signing_is_complete(signing), "a refused one is not complete");
}

static json_t *of(const sr_signing_t *signing, size_t index)
{
    return json_array_get(json_object_get(signing->view, "submitters"), index);
}

/* Each row as "name sha256 size", one after the other. */
static const char *signed_documents(const sr_signing_t *signing, size_t index)
{
    const json_t *const list = json_object_get(of(signing, index), "signedDocuments");
    const char *text = json_is_array(list) ? "" : "none";
    size_t i;

    for (i = 0; i < json_array_size(list); i++) {
        const json_t *const row = json_array_get(list, i);

        text = apr_psprintf(pool, "%s%s %s %d;", text, sr_json_string(row, "name"), sr_json_string(row, "sha256"),
                            (int)json_integer_value(json_object_get(row, "size")));
    }
    return text;
}

static void test_complete(void)
{
    static const sr_client_t client = {.ip = "::1", .user_agent = "Agent/7"};
    sr_signing_t *const signing = signing_of(&(parts_t){.bo = COMPLETED}, ANN);
    sr_document_state_t *const first = sr_signing_document(signing, FIRST);

    APR_ARRAY_PUSH(first->revisions, sr_revised_t) = (sr_revised_t){"part-2", 20, "whole-2", 130};
    sr_signing_complete(signing, WHEN, &client, "typed", "1-en", pool);
    is_int(signing->state, SR_SIGNING_COMPLETED, "completed");
    is_str(member(signing->submitter, "status"), "\"completed\"", "his status");
    is_str(member(signing->submitter, "openedAt"), "\"2026-11-20T18:09:23.123Z\"", "who signs at once opens at once");
    is_str(member(signing->submitter, "completedAt"), "\"2026-11-20T18:09:23.123Z\"", "when");
    is_str(member(signing->submitter, "signerInformation"),
           "{\"ip\":\"::1\",\"userAgent\":\"Agent/7\",\"openedAt\":\"2026-11-20T18:09:23.123Z\","
           "\"signedAt\":\"2026-11-20T18:09:23.123Z\",\"signatureType\":\"typed\",\"consent\":\"1-en\"}",
           "how");
    is_str(signed_documents(signing, 0), "a.pdf whole-2 130;b.pdf anew-b 60;", "what he has signed, as it is now");
    is_str(signed_documents(signing, 1), "a.pdf whole-2 130;", "and the same document of who signed before him");
    is_str(signed_documents(signing, 2), "none", "nothing of who has not signed");
    is_str(member(json_array_get(json_object_get(signing->submitter, "signedDocuments"), 1), "url"),
           "\"/api/v3/signatures/" SUBMISSION "/documents/" OTHER "\"", "where it is");
    ok(!sr_signing_is_complete(signing), "one is missing");
    sr_signing_certify(signing, "cert", 999, pool);
    is_str(member(signing->view, "certificate"),
           "{\"url\":\"/api/v3/signatures/" SUBMISSION "/certificate\",\"sha256\":\"cert\",\"size\":999}",
           "the certificate in the view");
    ok(signing->certificate_size == 999 && !strcmp(signing->certificate_sha256, "cert"), "and beside it");
    ok(sr_signing_is_complete(signing_of(&(parts_t){COMPLETED, COMPLETED, COMPLETED}, ANN)), "with all three it is");
}

/* --- what he is told */

static void check_view(const parts_t *parts, const char *name)
{
    static const char *const all[] = {ANN, BO, CY};
    sr_signing_t *const signing = signing_of(parts, BO);
    size_t i;

    signing->certificate_sha256 = "cert";
    const json_t *const view =
        sr_json_own(sr_signing_representation(signing, sr_consent_of_language("en"), "/sign/link", pool), pool);
    const char *const text = sr_json_text(view, pool), *const alias = sr_signing_alias(ANN, pool);
    for (i = 0; i < 3; i++) ok(!strstr(text, all[i]), "%s: no link of %s", name, i == 1 ? "his own" : "another");
    ok(!strstr(text, "Ann") && !strstr(text, "Cy@x.org"), "%s: nor who the others are", name);
    ok(!strstr(text, alias), "%s: nor the name of a field", name);
}

static void test_view(void)
{
    const sr_signing_t *const signing = signing_of(&(parts_t){.bo = OPENED}, BO);
    const json_t *const view =
        sr_json_own(sr_signing_representation(signing, sr_consent_of_language("en"), "/sign/link", pool), pool);

    is_str(member(view, "state"), "\"opened\"", "his state");
    is_str(member(view, "environment"), "\"production\"", "the environment");
    is_str(member(view, "requester"),
           "{\"firstname\":\"Dee\",\"lastname\":\"Owner\",\"email\":\"dee@x.org\",\"organization\":\"Org\"}",
           "who asks, with the address");
    is_str(member(view, "signer"), "{\"firstname\":\"Bo\",\"lastname\":\"Lee\",\"email\":\"Bo@x.org\"}", "who he is");
    is_str(member(view, "fields"),
           "[{\"document\":\"" FIRST "\",\"name\":\"C\",\"type\":\"signature\",\"page\":2,\"percent\":{\"x\":1}}]",
           "his own fields alone, without places in the file");
    is_str(member(json_array_get(json_object_get(view, "documents"), 0), "sha256"), "\"whole-1\"",
           "a document as it stands");
    is_str(member(json_array_get(json_object_get(view, "documents"), 1), "url"), "\"/sign/link/documents/" OTHER "\"",
           "below his link");
    is_str(member(view, "certificate"), "null", "no certificate yet");
    is_str(member(view, "skipIntro"), "false", "with the introduction");
    check_view(&(parts_t){0}, "sent");
    check_view(&(parts_t){.ann = REFUSED}, "closed");
    check_view(&(parts_t){COMPLETED, COMPLETED, COMPLETED}, "completed");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_states();
    test_reading();
    test_open();
    test_refuse();
    test_complete();
    test_view();
    apr_pool_destroy(pool);
    return done();
}
