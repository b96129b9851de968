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

static const char VIEW[] =
    "{\"name\":\"Contract\",\"uuid\":\"44444444-d9cb-469f-a165-70867728950e\","
    "\"createdAt\":\"2026-11-20T18:09:23.123Z\",\"updatedAt\":\"2026-11-21T18:09:24.000Z\","
    "\"template\":{\"name\":\"Contract\",\"uuid\":\"55555555-d9cb-469f-a165-70867728950e\"},"
    "\"submitters\":[{\"email\":\"Eva@X.org\",\"firstname\":\"\xC3\x89va\",\"lastname\":\"Lee\",\"uuid\":\"" ANN "\","
    "\"signatureLink\":\"https://x.org/sign/" ANN "\",\"status\":\"completed\",\"signedDocuments\":["
    "{\"name\":\"a.pdf\",\"uuid\":\"" FIRST "\",\"url\":\"https://x.org/secret\",\"sha256\":\"last-a\",\"size\":900},"
    "{\"name\":\"b.pdf\",\"uuid\":\"" OTHER "\",\"url\":\"https://x.org/secret\",\"sha256\":\"only-b\",\"size\":5}],"
    "\"signerInformation\":{\"ip\":\"::1\",\"userAgent\":\"Agent/7\",\"openedAt\":\"2026-11-20T19:00:00.000Z\","
    "\"signedAt\":\"2026-11-21T18:09:24.999Z\",\"signatureType\":\"drawn\",\"consent\":\"1-en\"},"
    "\"completedAt\":\"2026-11-21T18:09:24.999Z\",\"openedAt\":\"2026-11-20T19:00:00.000Z\",\"refusedAt\":null,"
    "\"refusalReason\":null,\"fields\":[]},"
    "{\"firstname\":\"Bo\",\"lastname\":\"O'Neil\",\"uuid\":\"" BO "\",\"signatureLink\":\"https://x.org/sign/" BO "\","
    "\"status\":\"completed\",\"signedDocuments\":[{\"name\":\"a.pdf\",\"uuid\":\"" FIRST "\",\"sha256\":\"before\","
    "\"size\":800}],\"signerInformation\":{\"ip\":\"10.0.0.1\",\"userAgent\":null,\"openedAt\":null,"
    "\"signedAt\":\"2026-11-21T10:00:00.000Z\",\"signatureType\":\"uploaded\",\"consent\":\"unknown\"},"
    "\"completedAt\":\"2026-11-21T10:00:00.000Z\",\"openedAt\":\"2026-11-20T20:00:00.000Z\"}],"
    "\"createdBy\":{\"firstname\":\"Cy\",\"lastname\":\"Owner\",\"email\":\"cy@x.org\"},"
    "\"documents\":[{\"uuid\":\"" FIRST "\",\"name\":\"a.pdf\",\"sha256\":\"upload-a\",\"size\":500,\"pages\":12},"
    "{\"uuid\":\"" OTHER "\",\"name\":\"b.pdf\",\"sha256\":\"upload-b\",\"size\":4,\"pages\":1},"
    "{\"uuid\":\"77777777-d9cb-469f-a165-70867728950e\",\"name\":\"c.pdf\",\"sha256\":\"upload-c\",\"size\":4,"
    "\"pages\":1}]}";

static json_t *parse(const char *text)
{
    json_t *value;

    if (sr_json_parse(&value, text, strlen(text), pool)) abort();
    return value;
}

static const char EVENTS[] =
    "[{\"event\":\"created\",\"at\":\"2026-11-20T18:09:23.123Z\",\"signer\":null,\"ip\":\"10.0.0.9\",\"detail\":{"
    "\"sendEmail\":true}},"
    "{\"event\":\"signed\",\"at\":\"2026-11-21T18:09:24.999Z\",\"signer\":\"" ANN "\",\"ip\":\"::1\",\"detail\":{"
    "\"timeZone\":\"America/St_Johns\",\"utcOffset\":-210}}]";

static const json_t *texts_of(const char *code)
{
    json_t *texts;
    if (sr_language_texts(&texts, sr_language_of(code), pool)) abort();
    return json_object_get(texts, "certificate");
}

static const char *said_in(const char *code, const char *view, const char *events, sr_environment_t environment,
                           const char *service)
{
    const sr_completion_t completion = {.view = parse(view),
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

static const char *said(const char *view, sr_environment_t environment, const char *service)
{
    return said_in("en", view, EVENTS, environment, service);
}

static const char *const WANTED[] = {
    "{\"title\":\"Certificate of completion\",\"second\":\"\",\"subtitle\":\"Contract\",\"sections\":[{\"items\":[{",
    "[\"Request\",\"44444444-d9cb-469f-a165-70867728950e\",\"code\"],[\"Requested by\",\"Cy Owner, cy@x.org\"],"
    "[\"Organization\",\"Example Ltd\"],[\"Created\",\"2026-11-20 18:09:23 +00:00\",\"Completed\","
    "\"2026-11-21 18:09:24 +00:00\"]]}],\"panel\":true}",
    "{\"heading\":\"a.pdf\",\"rows\":[[\"Pages\",\"12\"],[\"SHA-256 as uploaded\",\"upload-a\",\"code\"],"
    "[\"SHA-256 as sealed\",\"last-a\",\"code\"]]}",
    "{\"heading\":\"c.pdf\",\"rows\":[[\"Pages\",\"1\"],[\"SHA-256 as uploaded\",\"upload-c\",\"code\"]]}",
    "{\"heading\":\"\xC3\x89va Lee\",\"rows\":[[\"Email\",\"Eva@X.org\"],[\"Identification\",\"Link sent to "
    "E\xE2\x80\xA6@X.org\"],[\"Opened\",\"2026-11-20 15:30:00 -03:30\"],[\"Signed\",\"2026-11-21 14:39:24 -03:30\"],"
    "[\"Time zone\",\"America/St_Johns\"],[\"Signature\",\"Drawn by hand\"],[\"IP address\",\"::1\"],"
    "[\"Browser\",\"Agent/7\"],[\"Agreed to (1-en)\",\"I have read the documents, I agree",
    "{\"heading\":\"Bo O'Neil\",\"rows\":[[\"Identification\",\"Link distributed by the requester\"],"
    "[\"Opened\",\"2026-11-20 20:00:00 +00:00\"],[\"Signed\",\"2026-11-21 10:00:00 +00:00\"],"
    "[\"Signature\",\"Uploaded image\"],[\"IP address\",\"10.0.0.1\"],[\"Agreed to (unknown)\",\"unknown\"]]}",
    "{\"event\":[\"2026-11-20 18:09:23 +00:00\",\"Request created\",\"Cy Owner, 10.0.0.9\"]},"
    "{\"event\":[\"2026-11-21 14:39:24 -03:30\",\"Signed\",\"\xC3\x89va Lee, ::1\"]},"
    "[\"Hash of the last event\",\"the-last\",\"code\"]",
    "{\"note\":\"Or choose them at https://sign.x.org/verify.\"}",
    "\"seal\":\"Sealed by sign.x.org\",\"sealRows\":[[\"Fingerprint of the seal\xE2\x80\x99s certificate (SHA-256)\","
    "\"of-the-seal\",\"code\"]],\"qr\":\"https://sign.x.org/verify\"",
    "\"footer\":\"Certificate of completion \xC2\xB7 44444444-d9cb-469f-a165-70867728950e\",\"language\":\"en\","
    "\"time\":\"2026-11-21T18:09:25.000Z\"}",
};

static void test_whole(void)
{
    const char *text = said(VIEW, SR_PRODUCTION, "sign.x.org");
    for (size_t i = 0; i < sizeof WANTED / sizeof *WANTED; i++)
        if (!ok(strstr(text, WANTED[i]) != NULL, "the certificate, part %d", (int)i))
            printf("# wanted %s\n# of %s\n", WANTED[i], text);
    ok(!strstr(text, "\"banner\""), "no test");
    const char *test = said(VIEW, SR_TEST, NULL);
    ok(strstr(test, "\"banner\":\"TEST \xE2\x80\x94 not legally binding\"") != NULL, "of a test, it says so");
    ok(strstr(test, "\"seal\":\"Seal\"") != NULL, "and without a name the seal is a seal");
}

static void test_languages(void)
{
    const char *text = said_in("de", VIEW, EVENTS, SR_PRODUCTION, "x");
    ok(strstr(text, "\"title\":\"Abschlusszertifikat\",\"second\":\"Certificate of completion\"") != NULL,
       "in German and English");
    ok(strstr(text, "[\"Ge\xC3\xB6"
                    "ffnet / Opened\",")
           != NULL,
       "labels have both");
    ok(strstr(text, "[\"Browser\",") != NULL, "once, if they are the same");
    ok(strstr(text, "Link gesendet an E\xE2\x80\xA6@X.org / Link sent to E\xE2\x80\xA6@X.org") != NULL, "both filled");

    static const struct {
        const char *versions[3], *code;
    } rows[] = {{{"1-en", "1-en", NULL}, "en"},
                {{"1-en", "1-en", "1-de"}, "de"},
                {{"1-fr", "2-de", "1-de"}, "de"},
                {{"nonsense", NULL, NULL}, "en"},
                {{NULL, NULL, NULL}, "en"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *signers = json_array();
        for (size_t k = 0; k < 3; k++)
            json_array_append_new(signers,
                                  json_pack("{s:{s:s?}}", "signerInformation", "consent", rows[i].versions[k]));
        json_t *view = sr_json_own(json_pack("{s:o}", "submitters", signers), pool);
        is_str(sr_completion_language(view)->code, rows[i].code, "the language of signers, %d", (int)i);
    }
}

/* A locale goes before the language that a signer has read the text in. */
static void test_locales(void)
{
    static const struct {
        const char *locale, *version, *code;
    } rows[] = {{"ar-EG", "2-en", "ar"}, {"en-GB", "2-de", "en"}, {"tlh", "2-de", "de"}, {"pt-BR", NULL, "pt-BR"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *view = json_pack("{s:[{s:s,s:{s:s?}}]}", "submitters", "locale", rows[i].locale, "signerInformation",
                                 "consent", rows[i].version);
        is_str(sr_completion_language(sr_json_own(view, pool))->code, rows[i].code, "the locale %s", rows[i].locale);
    }
}

static void test_secrets(void)
{
    const char *text = said(VIEW, SR_TEST, "x");

    ok(!strstr(text, ANN) && !strstr(text, BO), "no signer's uuid, which is the way to their page");
    ok(!strstr(text, "/sign/") && !strstr(text, "x.org/secret"), "and no links");
}

static void test_gaps(void)
{
    static const char *const views[] = {"{}", "[]", "null", "{\"submitters\":{},\"documents\":7,\"createdBy\":[]}",
                                        "{\"submitters\":[null,7,{}],\"documents\":[null,[],{}],\"name\":5}"};
    static const char *const trails[] = {"[]",
                                         "{}",
                                         "null",
                                         "[null,7,{}]",
                                         "[{\"event\":7,\"at\":\"x\",\"detail\":[]}]",
                                         "[{\"event\":\"other\",\"detail\":{\"timeZone\":5}}]"};

    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++)
        for (size_t k = 0; k < sizeof trails / sizeof trails[0]; k++) {
            const char *text = said_in("en", views[i], trails[k], SR_PRODUCTION, NULL);
            ok(strstr(text, "[\"Hash of the last event\"") && !strstr(text, "Completed\""), "of %s and %s", views[i],
               trails[k]);
        }
    const char *text =
        said("{\"submitters\":[{\"firstname\":\"A\",\"completedAt\":\"2026-11-21T10:00:00.000Z\"},{\"lastname\":\"B\","
             "\"openedAt\":\"x\"}],\"createdAt\":\"2026-11-20T10:00:00.000Z\"}",
             SR_PRODUCTION, NULL);
    ok(strstr(text, "[\"Created\",\"2026-11-20 10:00:00 +00:00\"]]") != NULL,
       "not completed while somebody has not signed");
    ok(strstr(text, "[\"Signed\",\"Not signed\"]") != NULL, "which is said of them");
}

int main(void)
{
    setenv("TZ", "UTC", 1); /* the zone of this server */
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_whole();
    test_languages();
    test_locales();
    test_secrets();
    test_gaps();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
