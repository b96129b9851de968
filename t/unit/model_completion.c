/* SPDX-License-Identifier: Apache-2.0 */
/* model_completion.c: tests of src/model/completion.c. */
#include "model/model.h"
#include "tap.h"

#include <stdlib.h>

static apr_pool_t *pool;

#define ANN "22222222-d9cb-469f-a165-70867728950e"
#define BO "33333333-d9cb-469f-a165-70867728950e"
#define FIRST "11111111-d9cb-469f-a165-70867728950e"
#define OTHER "66666666-d9cb-469f-a165-70867728950e"

#define AT(text) at("2026-11-" text "Z")

static apr_time_t at(const char *text)
{
    apr_time_t when;
    if (!sr_time_parse(&when, text)) abort();
    return when;
}

static const apr_array_header_t *fields_in(const char *const *documents)
{
    apr_array_header_t *fields = apr_array_make(pool, 2, sizeof(sr_field_t));
    for (; *documents; documents++) APR_ARRAY_PUSH(fields, sr_field_t) = (sr_field_t){.document = *documents};
    return fields;
}

static void add_document(apr_array_header_t *documents, const char *uuid, const char *name, int pages,
                         const char *const *sha256)
{
    sr_document_state_t document = {.uuid = uuid,
                                    .name = name,
                                    .pages = pages,
                                    .sha256 = sha256[0],
                                    .base_sha256 = sha256[0],
                                    .revisions = apr_array_make(pool, 2, sizeof(sr_revised_t))};
    for (sha256++; *sha256; sha256++)
        APR_ARRAY_PUSH(document.revisions, sr_revised_t) = (sr_revised_t){"part", 1, *sha256, 5, "part.1", false};
    APR_ARRAY_PUSH(documents, sr_document_state_t) = document;
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Two signers have signed: the first document has two signatures, the second one, the third none. */
static sr_submission_t *whole(void)
{
    sr_submission_t *made = apr_pcalloc(pool, sizeof *made);
    apr_array_header_t *documents = apr_array_make(pool, 3, sizeof(sr_document_state_t));
    apr_array_header_t *signers = apr_array_make(pool, 2, sizeof(sr_signer_t));
    add_document(documents, FIRST, "a.pdf", 12, LIST("upload-a", "before", "last-a"));
    add_document(documents, OTHER, "b.pdf", 1, LIST("upload-b", "only-b"));
    add_document(documents, "77777777-d9cb-469f-a165-70867728950e", "c.pdf", 1, LIST("upload-c"));
    APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){.uuid = ANN,
                                                         .firstname = "\xC3\x89va",
                                                         .lastname = "Lee",
                                                         .email = "Eva@X.org",
                                                         .fields = fields_in(LIST("a.pdf", "b.pdf")),
                                                         .state = SR_SIGNER_COMPLETED,
                                                         .opened_at = AT("20T19:00:00.000"),
                                                         .completed_at = AT("21T18:09:24.999"),
                                                         .ip = "::1",
                                                         .user_agent = "Agent/7",
                                                         .signature_type = "drawn",
                                                         .consent = "1-en"};
    APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){.uuid = BO,
                                                         .firstname = "Bo",
                                                         .lastname = "O'Neil",
                                                         .fields = fields_in(LIST("a.pdf")),
                                                         .state = SR_SIGNER_COMPLETED,
                                                         .opened_at = AT("20T20:00:00.000"),
                                                         .completed_at = AT("21T10:00:00.000"),
                                                         .ip = "10.0.0.1",
                                                         .signature_type = "uploaded",
                                                         .consent = "unknown"};
    *made = (sr_submission_t){.uuid = "44444444-d9cb-469f-a165-70867728950e",
                              .name = "Contract",
                              .state = SR_SUBMISSION_COMPLETED,
                              .created_at = AT("20T18:09:23.123"),
                              .created_by = {"Cy", "Owner", "cy@x.org"},
                              .documents = documents,
                              .signers = signers};
    return made;
}

static json_t *parse(const char *text)
{
    json_t *value;
    if (sr_json_parse(&value, text, strlen(text), pool)) abort();
    return value;
}

static const char EVENTS[] =
    "[{\"event\":\"created\",\"at\":\"2026-11-20T18:09:23.123Z\",\"signer\":null,\"ip\":\"10.0.0.9\",\"detail\":{"
    "\"sendEmail\":true}},"
    "{\"event\":\"opened\",\"at\":\"2026-11-20T19:00:00.000Z\",\"signer\":\"" ANN "\",\"ip\":\"10.0.0.7\","
    "\"userAgent\":\"Scanner/1\"},"
    "{\"event\":\"signed\",\"at\":\"2026-11-21T18:09:24.999Z\",\"signer\":\"" ANN "\",\"ip\":\"::1\",\"detail\":{"
    "\"timeZone\":\"America/St_Johns\",\"utcOffset\":-210,"
    "\"termsUrl\":\"https://x.org/terms\"}}]";

static const json_t *texts_of(const char *code)
{
    json_t *texts;
    if (sr_language_texts(&texts, sr_language_of(code), pool)) abort();
    return json_object_get(texts, "certificate");
}

static const char *said_in(const char *code, const sr_submission_t *submission, const char *events,
                           sr_environment_t environment, const char *service)
{
    const sr_completion_t completion = {.submission = submission,
                                        .events = parse(events),
                                        .events_hash = "the-last",
                                        .environment = environment,
                                        .organization = "Example Ltd",
                                        .service = service,
                                        .seal_sha256 = "of-the-seal",
                                        .verify_url = "https://sign.x.org/verify",
                                        .time = APR_TIME_C(1795284565000000),
                                        .language = code,
                                        .texts = texts_of(code),
                                        .english = strcmp(code, "en") ? texts_of("en") : NULL};
    return sr_json_text(sr_json_own(sr_completion_certificate(&completion, pool), pool), pool);
}

static const char *said(const sr_submission_t *submission, sr_environment_t environment, const char *service)
{
    return said_in("en", submission, EVENTS, environment, service);
}

static const char *const WANTED[] = {
    "{\"title\":\"Certificate of completion\",\"second\":\"\",\"subtitle\":\"Contract\",\"sections\":[{\"items\":[{",
    "[\"Request\",\"44444444-d9cb-469f-a165-70867728950e\",\"code\"],[\"Request number\",\"44444444\"],"
    "[\"Requested by\",\"Cy Owner, cy@x.org\"],"
    "[\"Organization\",\"Example Ltd\"],[\"Created\",\"2026-11-20 18:09:23 +00:00\",\"Completed\","
    "\"2026-11-21 18:09:24 +00:00\"]]}],\"panel\":true}",
    "{\"heading\":\"a.pdf\",\"rows\":[[\"Pages\",\"12\"],[\"SHA-256 as uploaded\",\"upload-a\",\"code\"],"
    "[\"SHA-256 as sealed\",\"last-a\",\"code\"]]}",
    "{\"heading\":\"c.pdf\",\"rows\":[[\"Pages\",\"1\"],[\"SHA-256 as uploaded\",\"upload-c\",\"code\"]]}",
    "{\"rows\":[{\"cells\":[\"\",\"\xC3\x89va Lee\",\"Bo O'Neil\"],\"head\":true},"
    "{\"cells\":[\"Signature\",\"Drawn by hand\",\"Uploaded image\"]},{\"cells\":[\"Email\",\"Eva@X.org\",\"\"]},"
    "{\"cells\":[\"Identification\",\"Link sent to E\xE2\x80\xA6@X.org\",\"Link delivered by the requester\"]},"
    "{\"cells\":[\"Opened\",\"2026-11-20 15:30:00 -03:30\",\"2026-11-20 20:00:00 +00:00\"]},"
    "{\"cells\":[\"Signed\",\"2026-11-21 14:39:24 -03:30\",\"2026-11-21 10:00:00 +00:00\"]},"
    "{\"cells\":[\"Time zone\",\"America/St_Johns\",\"\"]},{\"cells\":[\"IP address\",\"::1\",\"10.0.0.1\"]},"
    "{\"cells\":[\"Browser\",\"Agent/7\",\"\"]},{\"cells\":[\"Agreed to\",\"1-en\",\"unknown\"]},"
    "{\"cells\":[\"About electronic signatures\",\"https://x.org/terms\",\"\"]}]},"
    "{\"rows\":[[\"Agreed to (1-en)\",\"I have read the documents, I agree",
    "{\"event\":[\"2026-11-20 18:09:23 +00:00\",\"Request created\",\"Cy Owner, 10.0.0.9\"]},"
    "{\"event\":[\"2026-11-20 15:30:00 -03:30\",\"Documents opened\",\"\xC3\x89va Lee, 10.0.0.7, Scanner/1\"]},"
    "{\"event\":[\"2026-11-21 14:39:24 -03:30\",\"Signed\",\"\xC3\x89va Lee, ::1\"]},"
    "[\"Hash of the last event\",\"the-last\",\"code\"]",
    "\"seal\":\"Sealed by sign.x.org\",\"sealNotes\":[\"Open the signed documents and this certificate in a PDF reader",
    "\"sealRows\":[[\"Fingerprint of the seal\xE2\x80\x99s certificate (SHA-256)\",\"of-the-seal\"],"
    "[\"Check these documents online\",\"https://sign.x.org/verify\"]],\"qr\":\"https://sign.x.org/verify\"",
    "\"footer\":\"Certificate of completion \xC2\xB7 44444444-d9cb-469f-a165-70867728950e\",\"language\":\"en\","
    "\"time\":\"2026-11-21T18:09:25.000Z\"}",
};

static void test_whole(void)
{
    const char *text = said(whole(), SR_PRODUCTION, "sign.x.org");
    for (size_t i = 0; i < sizeof WANTED / sizeof *WANTED; i++)
        if (!ok(strstr(text, WANTED[i]) != NULL, "the certificate, part %d", (int)i))
            printf("# wanted %s\n# of %s\n", WANTED[i], text);
    ok(!strstr(text, "\"banner\""), "a certificate of production has no banner");
    const char *test = said(whole(), SR_TEST, NULL);
    ok(strstr(test, "\"banner\":\"TEST \xE2\x80\x94 not legally binding\"") != NULL,
       "a certificate of the test environment has a banner");
    ok(strstr(test, "\"seal\":\"Seal\"") != NULL, "a seal without a name is called Seal");
}

static void test_languages(void)
{
    const char *text = said_in("de", whole(), EVENTS, SR_PRODUCTION, "x");
    ok(strstr(text, "\"title\":\"Signaturnachweis\",\"second\":\"Certificate of completion\"") != NULL,
       "the certificate has German and English titles");
    ok(strstr(text, "{\"cells\":[\"Ge\xC3\xB6"
                    "ffnet / Opened\",")
           != NULL,
       "labels have both languages");
    ok(strstr(text, "{\"cells\":[\"Browser\",") != NULL, "a label that is the same in both languages appears once");
    ok(strstr(text, "Link gesendet an E\xE2\x80\xA6@X.org / Link sent to E\xE2\x80\xA6@X.org") != NULL,
       "values are filled into the texts of both languages");

    static const struct {
        const char *versions[3], *code;
    } rows[] = {{{"1-en", "1-en", NULL}, "en"},
                {{"1-en", "1-en", "1-de"}, "de"},
                {{"1-fr", "2-de", "1-de"}, "de"},
                {{"nonsense", NULL, NULL}, "en"},
                {{NULL, NULL, NULL}, "en"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        apr_array_header_t *signers = apr_array_make(pool, 3, sizeof(sr_signer_t));
        for (size_t k = 0; k < 3; k++)
            APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){.consent = rows[i].versions[k]};
        is_str(sr_signers_language(&(sr_submission_t){.signers = signers})->code, rows[i].code,
               "the language of signers, %d", (int)i);
    }
}

/* A locale has precedence over the language in which a signer has read the text. */
static void test_locales(void)
{
    static const struct {
        const char *locale, *version, *code;
    } rows[] = {{"ar-EG", "2-en", "ar"}, {"en-GB", "2-de", "en"}, {"tlh", "2-de", "de"}, {"pt-BR", NULL, "pt-BR"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        apr_array_header_t *signers = apr_array_make(pool, 1, sizeof(sr_signer_t));
        APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){.locale = rows[i].locale, .consent = rows[i].version};
        is_str(sr_signers_language(&(sr_submission_t){.signers = signers})->code, rows[i].code, "the locale %s",
               rows[i].locale);
    }
}

/* Fields of Éva with these members and values. */
static sr_submission_t *with_values(void)
{
    static const char *const fields[][2] = {{"text", "\"value\":\"two\\nlines\",\"multiline\":true"},
                                            {"checkbox", "\"value\":true"},
                                            {"checkbox", "\"value\":false"},
                                            {"text", "\"value\":\"\""},
                                            {"date", "\"value\":null"},
                                            {"date", "\"value\":\"2026-11-21\""},
                                            {"date", "\"value\":\"2026-11-21\""}}; /* as on all pages */
    sr_submission_t *made = whole();
    sr_signer_t *eva = &APR_ARRAY_IDX(made->signers, 0, sr_signer_t);
    apr_array_header_t *list = apr_array_copy(pool, eva->fields);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        sr_field_t field = {.type = sr_field_type(fields[i][0]), .document = "a.pdf", .name = fields[i][0]};
        if (sr_entry_read(&field.entry, field.type, parse(apr_psprintf(pool, "{%s}", fields[i][1])), pool)) abort();
        APR_ARRAY_PUSH(list, sr_field_t) = field;
    }
    eva->fields = list;
    return made;
}

#define VALUES(heading, yes, no)                                                                                       \
    "{\"heading\":\"" heading "\",\"rows\":[[\"text\",\"two lines\"],[\"checkbox\",\"" yes "\"],[\"checkbox\",\"" no   \
    "\"],[\"date\",\"2026-11-21\"]]}"

static void test_values(void)
{
    static const char english[] = VALUES("Form fields: \xC3\x89va Lee", "Yes", "No"),
                      german[] = VALUES("Formularfelder: \xC3\x89va Lee / Form fields: \xC3\x89va Lee", "Ja / Yes",
                                        "Nein / No");
    const char *text = said(with_values(), SR_PRODUCTION, "x");
    if (!ok(strstr(text, english) != NULL, "the values of a signer's fields")) printf("# %s\n", text);
    ok(!strstr(text, "Form fields: Bo"), "a signer without values has no such rows");
    ok(strstr(said_in("de", with_values(), EVENTS, SR_PRODUCTION, "x"), german) != NULL, "in two languages");
    ok(!strstr(said(whole(), SR_PRODUCTION, "x"), "Form fields"), "nothing is added if no signer has values");
}

/* --- how signers were identified */

#define IDENTIFIED(at, signer, detail)                                                                                 \
    "{\"event\":\"authenticated\",\"at\":\"2026-11-" at ".000Z\",\"signer\":\"" signer "\",\"detail\":{" detail "}}"
#define SIGNED(at, signer) "{\"event\":\"signed\",\"at\":\"2026-11-" at ".000Z\",\"signer\":\"" signer "\"}"

/* Returns the rows of the table of signers from "Identity check" to those before "Opened", or "" if there are none. */
static const char *check_rows(const char *code, const char *events)
{
    const char *all = said_in(code, whole(), apr_pstrcat(pool, "[", events, "]", NULL), SR_PRODUCTION, NULL);
    const json_t *texts = texts_of(code);
    const char *label = sr_json_string(texts, "check"), *opened = sr_json_string(texts, "opened");
    const char *from = strstr(all, apr_pstrcat(pool, "{\"cells\":[\"", label, NULL));
    const char *to = from ? strstr(from, apr_pstrcat(pool, "{\"cells\":[\"", opened, NULL)) : NULL;
    return to ? apr_pstrmemdup(pool, from, (apr_size_t)(to - from)) : "";
}

#define CONFIRMED(when) "{\"cells\":[\"Identity confirmed\",\"2026-11-" when " +00:00\",\"\"]},"
#define CHECK(what) "{\"cells\":[\"Identity check\",\"" what "\",\"\"]},"

static void test_identified(void)
{
    static const struct {
        const char *events, *rows, *name;
    } cases[] = {
        {IDENTIFIED("20T11:31:00", ANN, "\"method\":\"code\""),
         CHECK("Entered a code from the requester") CONFIRMED("20 11:31:00"), "a code of the caller"},
        {IDENTIFIED("20T11:31:00", ANN, "\"method\":\"email\""),
         CHECK("Entered a code that was sent") "{\"cells\":[\"Code sent to\",\"Eva@X.org\",\"\"]}," CONFIRMED(
             "20 11:31:00"),
         "a code by email"},
        {IDENTIFIED("20T11:31:00", ANN, "\"method\":\"hook\",\"to\":\"+4915112345678\""),
         CHECK("Entered a code that was sent") "{\"cells\":[\"Code sent to\",\"+4915112345678\",\"\"]}," CONFIRMED(
             "20 11:31:00"),
         "a code by the administrator's service"},
        {IDENTIFIED("20T11:31:00", ANN,
                    "\"method\":\"caller\",\"how\":\"Passport\",\"reference\":\"R-7\",\"at\":"
                    "\"2026-11-20T10:00:00.000Z\""),
         CHECK("Checked by the requester") "{\"cells\":[\"In the requester\xE2\x80\x99s words\",\"Passport\",\"\"]},"
                                           "{\"cells\":[\"Requester\xE2\x80\x99s reference\",\"R-7\",\"\"]},"
                                           "{\"cells\":[\"Time given by the requester\",\"2026-11-20 10:00:00 "
                                           "+00:00\",\"\"]}," CONFIRMED("20 11:31:00"),
         "the caller's own check"},
        {IDENTIFIED("20T11:31:00", ANN, "\"method\":\"httpd\",\"user\":\"ann@idp\",\"by\":\"openid-connect\""),
         CHECK("Signed in at this server") "{\"cells\":[\"Signed in as\",\"ann@idp "
                                           "(openid-connect)\",\"\"]}," CONFIRMED("20 11:31:00"),
         "a login of this server"},
        {IDENTIFIED("20T11:31:00", ANN, "\"method\":\"code\"") "," IDENTIFIED(
             "20T12:00:00", ANN, "\"method\":\"code\"") "," SIGNED("21T00:00:00",
                                                                   ANN) "," IDENTIFIED("22T00:00:00", ANN,
                                                                                       "\"method\":\"code\""),
         CHECK("Entered a code from the requester") CONFIRMED("20 12:00:00"), "the last check before the signature"},
        {IDENTIFIED("20T11:31:00", OTHER, "\"method\":\"code\""), "", "a signer who was replaced"},
        {SIGNED("20T00:00:00", ANN) "," IDENTIFIED("20T11:31:00", ANN, "\"method\":\"code\""), "",
         "a check after the signature"},
        {IDENTIFIED("20T11:31:00", ANN, "\"method\":\"code\"") ",{\"event\":\"authenticationChanged\",\"signer\":\"" ANN
                                                               "\"}",
         "", "a check that was changed"},
        {IDENTIFIED("20T11:31:00", ANN, "\"method\":\"other\""), "", "an unknown method"},
        {IDENTIFIED("20T11:31:00", ANN, "\"method\":7") ",{\"event\":\"authenticated\",\"signer\":\"" ANN
                                                        "\",\"detail\":[]}",
         "", "an event without a method"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_str(check_rows("en", cases[i].events), cases[i].rows, "%s", cases[i].name);
    const char *both = check_rows("en", IDENTIFIED("20T11:31:00", ANN, "\"method\":\"code\"") "," IDENTIFIED(
                                            "20T12:00:00", BO, "\"method\":\"httpd\",\"user\":\"bo\""));
    is_str(both,
           "{\"cells\":[\"Identity check\",\"Entered a code from the requester\",\"Signed in at this server\"]},"
           "{\"cells\":[\"Signed in as\",\"\",\"bo\"]},"
           "{\"cells\":[\"Identity confirmed\",\"2026-11-20 11:31:00 +00:00\",\"2026-11-20 12:00:00 +00:00\"]},",
           "two signers with a check each");
    ok(strstr(check_rows("de", IDENTIFIED("20T11:31:00", ANN, "\"method\":\"code\"")),
              "[\"Identit\xC3\xA4tspr\xC3\xBC"
              "fung / Identity check\",\"Code der anfordernden Person eingegeben / "
              "Entered a code from the requester\",\"\"]")
           != NULL,
       "what was checked is said in both languages");
}

/* A check that the caller has changed or unlocked is listed with the signer's name, without the caller's address. */
static void test_caller_events(void)
{
    const char *text = said_in("en", whole(),
                               "[{\"event\":\"unlocked\",\"at\":\"2026-11-20T12:00:00.000Z\",\"signer\":\"" BO
                               "\",\"ip\":\"10.0.0.9\"},{\"event\":\"codeFailed\",\"at\":\"2026-11-20T12:00:01.000Z\","
                               "\"signer\":\"" BO "\",\"ip\":\"10.0.0.8\"}]",
                               SR_PRODUCTION, NULL);
    ok(strstr(text, "{\"event\":[\"2026-11-20 12:00:00 +00:00\",\"Identity check unlocked\",\"Bo O'Neil\"]}") != NULL,
       "an unlocking, without the address of the caller");
    ok(strstr(text, "{\"event\":[\"2026-11-20 12:00:01 +00:00\",\"Wrong code entered\",\"Bo O'Neil, 10.0.0.8\"]}")
           != NULL,
       "a wrong code, with the address of the signer");
}

static void test_secrets(void)
{
    const char *text = said(whole(), SR_TEST, "x");
    ok(!strstr(text, ANN) && !strstr(text, BO), "no uuid of a signer, because it is the secret of their link");
    ok(!strstr(text, "/sign/") && !strstr(text, "x.org/secret"), "no links");
}

static void test_gaps(void)
{
    static const char *const trails[] = {"[]",
                                         "{}",
                                         "null",
                                         "[null,7,{}]",
                                         "[{\"event\":7,\"at\":\"x\",\"detail\":[]}]",
                                         "[{\"event\":\"other\",\"detail\":{\"timeZone\":5}}]"};
    sr_submission_t *partly = whole();
    sr_signer_t *bo = &APR_ARRAY_IDX(partly->signers, 1, sr_signer_t);
    bo->state = SR_SIGNER_SENT, bo->opened_at = bo->completed_at = 0;
    bo->ip = bo->signature_type = bo->consent = NULL;
    partly->created_by = (sr_person_t){0};

    for (size_t k = 0; k < sizeof trails / sizeof trails[0]; k++) {
        const char *text = said_in("en", partly, trails[k], SR_PRODUCTION, NULL);
        ok(strstr(text, "[\"Hash of the last event\"") && !strstr(text, "Completed\""), "of the trail %s", trails[k]);
    }
    const char *text = said(partly, SR_PRODUCTION, NULL);
    ok(strstr(text, "[\"Created\",\"2026-11-20 18:09:23 +00:00\"]]") != NULL,
       "it is not completed while a signer has not signed");
    ok(strstr(text, "{\"cells\":[\"Signed\",\"2026-11-21 14:39:24 -03:30\",\"Not signed\"]}") != NULL,
       "the signer who has not signed is listed as such");
}

int main(void)
{
    setenv("TZ", "UTC", 1); /* the server's time zone */
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_whole();
    test_languages();
    test_locales();
    test_values();
    test_identified();
    test_caller_events();
    test_secrets();
    test_gaps();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
