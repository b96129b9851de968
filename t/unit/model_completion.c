/* model_completion.c: tests of src/model/completion.c. */
#include "model/model.h"
#include "tap.h"

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
    "\"signedAt\":\"2026-11-21T18:09:24.999Z\",\"signatureType\":\"drawn\",\"consent\":\"2026-01\"},"
    "\"completedAt\":\"2026-11-21T18:09:24.999Z\",\"openedAt\":\"2026-11-20T19:00:00.000Z\",\"refusedAt\":null,"
    "\"refusalReason\":null,\"fields\":[]},"
    "{\"firstname\":\"Bo\",\"lastname\":\"O'Neil\",\"uuid\":\"" BO "\",\"signatureLink\":\"https://x.org/sign/" BO "\","
    "\"status\":\"completed\",\"signedDocuments\":[{\"name\":\"a.pdf\",\"uuid\":\"" FIRST "\",\"sha256\":\"before\","
    "\"size\":800}],\"signerInformation\":{\"ip\":\"10.0.0.1\",\"userAgent\":null,\"openedAt\":null,"
    "\"signedAt\":\"2026-11-21T10:00:00.000Z\",\"signatureType\":\"uploaded\",\"consent\":\"2026-01\"},"
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

static const char *said(const char *view, int events, sr_environment_t environment, const char *service)
{
    const sr_completion_t completion = {.view = parse(view),
                                        .events = events,
                                        .events_hash = events ? "the-last" : NULL,
                                        .environment = environment,
                                        .service = service,
                                        .time = APR_TIME_C(1795284565000000)};

    return sr_json_text(sr_json_own(sr_completion_certificate(&completion, pool), pool), pool);
}

static const char WANT[] =
    "{\"title\":\"Certificate of completion\",\"subtitle\":\"Contract\",\"sections\":["
    "{\"heading\":\"Submission\",\"items\":[{\"rows\":["
    "[\"Identifier\",\"44444444-d9cb-469f-a165-70867728950e\",\"code\"],[\"Requested by\",\"Cy Owner, cy@x.org\"],"
    "[\"Created\",\"2026-11-20 18:09:23 UTC\",\"Completed\",\"2026-11-21 18:09:24 UTC\"]]}]},"
    "{\"heading\":\"Documents\",\"items\":["
    "{\"heading\":\"a.pdf\",\"rows\":[[\"Pages\",\"12\"],[\"SHA-256 as uploaded\",\"upload-a\",\"code\"],"
    "[\"SHA-256 as sealed\",\"last-a\",\"code\"]]},"
    "{\"heading\":\"b.pdf\",\"rows\":[[\"Pages\",\"1\"],[\"SHA-256 as uploaded\",\"upload-b\",\"code\"],"
    "[\"SHA-256 as sealed\",\"only-b\",\"code\"]]},"
    "{\"heading\":\"c.pdf\",\"rows\":[[\"Pages\",\"1\"],[\"SHA-256 as uploaded\",\"upload-c\",\"code\"]]}]},"
    "{\"heading\":\"Signers\",\"items\":["
    "{\"heading\":\"\xC3\x89va Lee\",\"rows\":[[\"Email\",\"Eva@X.org\"],"
    "[\"Opened\",\"2026-11-20 19:00:00 UTC\",\"Signed\",\"2026-11-21 18:09:24 UTC\"],"
    "[\"Signature\",\"Drawn by hand\",\"Consent version\",\"2026-01\"],[\"IP address\",\"::1\"],"
    "[\"Browser\",\"Agent/7\"]]},"
    "{\"heading\":\"Bo O'Neil\",\"rows\":["
    "[\"Opened\",\"2026-11-20 20:00:00 UTC\",\"Signed\",\"2026-11-21 10:00:00 UTC\"],"
    "[\"Signature\",\"Uploaded image\",\"Consent version\",\"2026-01\"],[\"IP address\",\"10.0.0.1\"]]}]},"
    "{\"heading\":\"Audit trail\",\"items\":[{\"rows\":[[\"Events\",\"2\"],"
    "[\"Hash of the last\",\"the-last\",\"code\"]]}]}],"
    "\"seal\":\"Sealed by sign.x.org\","
    "\"footer\":\"Certificate of completion of 44444444-d9cb-469f-a165-70867728950e\",\"language\":\"en\","
    "\"time\":\"2026-11-21T18:09:25.000Z\"}";

static void test_whole(void)
{
    const char *test;

    is_str(said(VIEW, 2, SR_PRODUCTION, "sign.x.org"), WANT, "the certificate");
    test = said(VIEW, 2, SR_TEST, NULL);
    ok(strstr(test, "\"banner\":\"TEST \xE2\x80\x94 not legally binding\"") != NULL, "of a test, it says so");
    ok(strstr(test, "\"seal\":\"Seal\"") != NULL, "and without a name the seal is a seal");
}

static void test_secrets(void)
{
    const char *const text = said(VIEW, 2, SR_TEST, "x");

    ok(!strstr(text, ANN) && !strstr(text, BO), "no signer's uuid, which is the way to his page");
    ok(!strstr(text, "/sign") && !strstr(text, "https:"), "and no links");
}

static void test_gaps(void)
{
    static const char *const views[] = {"{}", "[]", "null", "{\"submitters\":{},\"documents\":7,\"createdBy\":[]}",
                                        "{\"submitters\":[null,7,{}],\"documents\":[null,[],{}],\"name\":5}"};
    size_t i;
    const char *text;

    for (i = 0; i < sizeof views / sizeof views[0]; i++) {
        text = said(views[i], 0, SR_PRODUCTION, NULL);
        ok(strstr(text, "[\"Events\",\"0\"]") != NULL && !strstr(text, "Completed\""), "of %s", views[i]);
    }
    text =
        said("{\"submitters\":[{\"firstname\":\"A\",\"completedAt\":\"2026-11-21T10:00:00.000Z\"},{\"lastname\":\"B\","
             "\"openedAt\":\"x\"}],\"createdAt\":\"2026-11-20T10:00:00.000Z\"}",
             0, SR_PRODUCTION, NULL);
    ok(strstr(text, "[\"Created\",\"2026-11-20 10:00:00 UTC\"]]") != NULL,
       "not completed while somebody has not signed");
    ok(strstr(text, "{\"heading\":\"B\",\"rows\":[[\"Signed\",\"Not signed\"]]}") != NULL, "which is said of him");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_whole();
    test_secrets();
    test_gaps();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
