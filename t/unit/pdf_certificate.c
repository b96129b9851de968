/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_certificate.c: certificates of completion, from the model to a document by a real helper: how many pages they
 * have, and that all of their texts are on them. */
#include "model/model.h"
#include "pdf_seal.h"

#include <apr_encode.h>

#define HASH "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
#define LONG "karl-theodor.maria.nikolaus.johann.jacob.philipp.franz.joseph.sylvester"

static seal_bench_t bench;

/* -------------------------------------------------------------------------------------------------- certificates */

#define AGENT                                                                                                          \
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"

typedef struct people_t {
    const char *firstname, *lastname, *email, *consent;
    int count; /* signers; a name has their number after it if there are more than two */
    bool identified;
} people_t;

/* A submission that so many signers have signed. */
static sr_submission_t contract(const people_t *people, apr_pool_t *pool)
{
    apr_array_header_t *documents = apr_array_make(pool, 1, sizeof(sr_document_state_t));
    apr_array_header_t *signers = apr_array_make(pool, people->count, sizeof(sr_signer_t));
    apr_array_header_t *fields = apr_array_make(pool, 1, sizeof(sr_field_t)), *none = apr_array_make(pool, 0, 1);
    const apr_time_t signed_at = APR_TIME_C(1795284563123000);
    APR_ARRAY_PUSH(fields, sr_field_t) = (sr_field_t){.document = "a.pdf"};
    APR_ARRAY_PUSH(documents, sr_document_state_t) =
        (sr_document_state_t){.name = "a.pdf", .pages = 3, .sha256 = HASH, .base_sha256 = HASH, .revisions = none};
    for (int i = 1; i <= people->count; i++)
        APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){
            .uuid = apr_psprintf(pool, "s%d", i),
            .firstname = people->firstname,
            .lastname = people->count > 2 ? apr_psprintf(pool, "%s %d", people->lastname, i) : people->lastname,
            .email = people->email,
            .fields = fields,
            .state = SR_SIGNER_COMPLETED,
            .opened_at = signed_at - apr_time_from_sec(82800),
            .completed_at = signed_at,
            .ip = "2001:db8::1",
            .user_agent = AGENT,
            .signature_type = "typed",
            .consent = people->consent};
    return (sr_submission_t){.uuid = "44444444-d9cb-469f-a165-70867728950e",
                             .name = "Contract",
                             .created_at = signed_at - apr_time_from_sec(86400),
                             .created_by = {.firstname = "Cy", .email = "cy@x.org"},
                             .documents = documents,
                             .signers = signers};
}

/* A drawn signature, as sr_pdf_drawing returns it, in a JSON text. */
#define DRAWN                                                                                                          \
    "{\\\"ink\\\":{\\\"width\\\":1,\\\"height\\\":0.3,\\\"pen\\\":0.01,"                                               \
    "\\\"strokes\\\":[[0.03,0.2,0.01,0.3,0.1,0.01,0.6,0.2,0.01,0.97,0.1,0.01]]}}"

#define HOW                                                                                                            \
    "I have compared the passport with the person in our branch in Market Street, and again by a call to the number "  \
    "that has been in our files since the account was opened, about which we asked two questions"

/* How the signer with this number was identified: each method in turn. */
static const char *identified_event(int number, apr_pool_t *pool)
{
    static const char *const details[] = {
        "\"method\":\"caller\",\"how\":\"" HOW
        "\",\"reference\":\"KYC-2026-0000471/b\",\"at\":\"2026-11-20T11:00:00Z\"",
        "\"method\":\"httpd\",\"user\":\"" LONG "@directory.example.org\",\"by\":\"openid-connect\"",
        "\"method\":\"hook\",\"to\":\"+4915112345678\"", "\"method\":\"email\"", "\"method\":\"code\""};
    return apr_psprintf(pool,
                        ",{\"event\":\"authenticated\",\"at\":\"2026-11-20T19:09:20.123Z\",\"signer\":\"s%d\","
                        "\"ip\":\"192.0.2.%d\",\"detail\":{%s}}",
                        number, number, details[(number - 1) % (int)(sizeof details / sizeof *details)]);
}

/* The events of such a submission. */
static const char *events_of(const people_t *people, apr_pool_t *pool)
{
    const char *text = "[{\"event\":\"created\",\"at\":\"2026-11-20T18:09:23.123Z\",\"ip\":\"10.0.0.9\",\"detail\":{"
                       "\"sendEmail\":true}}";
    for (int i = 1; i <= people->count; i++)
        text = apr_psprintf(
            pool,
            "%s%s,{\"event\":\"opened\",\"at\":\"2026-11-20T19:09:23.123Z\",\"signer\":\"s%d\",\"ip\":\"192.0.2.%d\","
            "\"userAgent\":\"" AGENT "\"},{\"event\":\"signed\",\"at\":\"2026-11-21T18:09:23.123Z\",\"signer\":\"s%d\","
            "\"ip\":\"192.0.2.%d\",\"detail\":{\"timeZone\":\"Europe/Berlin\",\"utcOffset\":60,\"drawing\":\"%s\"}}",
            text, people->identified ? identified_event(i, pool) : "", i, i, i, i, DRAWN);
    return apr_pstrcat(pool, text, "]", NULL);
}

/* The certificate of such a submission. */
static json_t *certificate_of(const people_t *people, const char *code, sr_environment_t environment, apr_pool_t *pool)
{
    const sr_submission_t submission = contract(people, pool);
    const sr_language_t *language = sr_language_of(code);
    json_t *own, *english, *events;
    const char *text = events_of(people, pool);
    if (sr_language_texts(&own, language, pool) || sr_language_texts(&english, sr_language_of("en"), pool)) abort();
    if (sr_json_parse(&events, text, strlen(text), pool)) abort();
    const sr_completion_t completion = {.submission = &submission,
                                        .events = events,
                                        .events_hash = HASH,
                                        .environment = environment,
                                        .organization = "Example Ltd",
                                        .service = "Example Ltd",
                                        .seal_sha256 = HASH,
                                        .verify_url = "https://sign.example.org/verify",
                                        .time = apr_time_from_sec(1800000000),
                                        .language = language->tag,
                                        .rtl = !strcmp(sr_json_string(own, "dir"), "rtl"),
                                        .texts = json_object_get(own, "certificate"),
                                        .english = strcmp(code, "en") ? json_object_get(english, "certificate") : NULL};
    return sr_json_own(sr_completion_certificate(&completion, pool), pool);
}

/* ----------------------------------------------------------------------------------------------------- tests */

static void compose(sr_pdf_composed_t *composed, const json_t *what, apr_pool_t *pool)
{
    sr_error_t *error = sr_pdf_compose(composed, bench.workers, what, pool);
    if (!ok(!error && !composed->reason, "it is composed")) {
        printf("# %s\n", error ? error->cause : composed->reason);
        exit(done());
    }
    const size_t size = (size_t)composed->document->size;
    char *bytes = apr_palloc(pool, size);
    if (pread(composed->document->descriptor, bytes, size, 0) != (ssize_t)size) abort();
    seal_write(&bench, "certificate.pdf", bytes, size);
}

static bool has(const char *text, const char *words, apr_pool_t *pool)
{
    return strstr(seal_squeeze(text, pool), seal_squeeze(words, pool));
}

/* What the model asks for is what the helper understands: each text of the request is on the page. */
static int count_missing(const json_t *value, const char *text, apr_pool_t *pool)
{
    int missing = 0;
    const char *key;
    json_t *member;
    if (json_object_get(value, "drawing")) return 0;
    if (json_is_string(value) && strcmp(json_string_value(value), "code") != 0
        && !has(text, json_string_value(value), pool)) {
        printf("# missing: %s\n", json_string_value(value));
        missing++;
    }
    for (size_t i = 0; i < json_array_size(value); i++) missing += count_missing(json_array_get(value, i), text, pool);
    json_object_foreach ((json_t *)value, key, member)
        if (strcmp(key, "time") != 0 && strcmp(key, "language") != 0 && strcmp(key, "qrText") != 0)
            missing += count_missing(member, text, pool);
    return missing;
}

static void test_certificate(void)
{
    static const struct {
        const char *code;
        sr_environment_t environment;
        int pages; /* at most */
        people_t people;
    } rows[] = {
        {"en", SR_TEST, 1, {"Ann", "Lee", "ann@example.org", "2-en", 1, false}},
        {"en", SR_TEST, 1, {"Ann", "Lee", "ann@example.org", "2-en", 2, false}},
        {"de",
         SR_TEST,
         1,
         {"Margarete",
          "Wei\xc3\x9f"
          "enfels-Schmidt",
          "margarete.weissenfels@example.org", "2-de", 2, false}},
        {"ar", SR_TEST, 1, {"\xd8\xa3\xd9\x85\xd9\x84", "", "amal@example.org", "1-ar", 2, false}},
        {"el", SR_PRODUCTION, 1, {"Ann", "Lee", "ann@example.org", "1-el", 2, false}},
        {"en", SR_PRODUCTION, 2, {"Ann", "Lee", "ann@example.org", "2-en", 3, false}},
        {"de", SR_PRODUCTION, 3, {"Ann", "Lee", "ann@example.org", "2-de", 10, false}},
        {"de", SR_PRODUCTION, 2, {LONG, LONG, LONG "@example.org", "2-de", 2, false}},
        {"en", SR_PRODUCTION, 20, {"Ann", "Lee", "ann@example.org", "2-en", 100, false}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        apr_pool_t *pool;
        sr_pdf_composed_t composed;
        apr_pool_create(&pool, bench.pool);
        json_t *what = certificate_of(&rows[i].people, rows[i].code, rows[i].environment, pool);
        compose(&composed, what, pool);
        ok(composed.pages <= rows[i].pages, "a certificate of %d signers (%s) has %d pages", rows[i].people.count,
           rows[i].code, composed.pages);
        int status;
        const char *text = seal_run(&status, &bench, pool, "pdfinfo -struct-text certificate.pdf | tr -d '\"'");
        if (strcmp(rows[i].code, "ar") != 0) is_int(count_missing(what, text, pool), 0, "with all of its texts");
        ok(has(text, "Hash of the last event", pool), "the certificate has its texts in English, too");
        apr_pool_destroy(pool);
    }
}

/* Returns true if the certificate has what was checked, in the order of a language that is written from right to
 * left, too. */
static bool has_values(const char *text, apr_pool_t *pool)
{
    static const char *const values[] = {"compared the passport", "KYC-2026-0000471/b", "(openid-connect)",
                                         "+4915112345678",        "2026-11-20",         NULL};
    for (const char *const *value = values; *value; value++)
        if (!has(text, *value, pool)) {
            printf("# missing: %s\n", *value);
            return false;
        }
    return true;
}

/* How signers were identified is on the page in every language. */
static void test_identified(void)
{
    const people_t people = {"Ann", "Lee", "ann@example.org", "2-en", 5, true};
    for (int i = 0; i < sr_language_count(); i++) {
        apr_pool_t *pool;
        sr_pdf_composed_t composed;
        int status;
        apr_pool_create(&pool, bench.pool);
        const char *code = sr_language(i)->code;
        json_t *what = certificate_of(&people, code, SR_PRODUCTION, pool);
        compose(&composed, what, pool);
        ok(composed.pages <= 3, "%s: five signers on %d pages", code, composed.pages);
        const char *text = seal_run(&status, &bench, pool, "pdfinfo -struct-text certificate.pdf | tr -d '\"'");
        ok(has_values(text, pool), "%s: all that was checked", code);
        if (!json_object_get(what, "dir")) is_int(count_missing(what, text, pool), 0, "%s: all of its texts", code);
        apr_pool_destroy(pool);
    }
}

#define LOGO "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAAD0lEQVR42mOoko9hAOL/AArWAup1cfofAAAAAElFTkSuQmCC"

/* A logo that cannot be drawn is left out. */
static void test_logo(void)
{
    static const struct {
        const char *png;
        int images;
    } rows[] = {
        {LOGO, 1}, {"", 0}, {"eA==", 0}, {"?", 0}, {"iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAAD0lEQ", 0}};
    const people_t ann = {"Ann", "Lee", "ann@example.org", "2-en", 2, false};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        apr_pool_t *pool;
        sr_pdf_composed_t composed;
        int status;
        apr_pool_create(&pool, bench.pool);
        json_t *what = certificate_of(&ann, "ar", SR_PRODUCTION, pool);
        json_object_set_new(what, "logo", json_pack("{s:s,s:s}", "png", rows[i].png, "text", "Harbour"));
        compose(&composed, what, pool);
        is_int(composed.pages, 1, "on one page");
        const char *list = seal_run(&status, &bench, pool, "pdfimages -list certificate.pdf");
        is_int(seal_count(list, " smask "), rows[i].images, "the logo %s", rows[i].png);
        const char *objects = seal_run(&status, &bench, pool, "qpdf --qdf --object-streams=disable certificate.pdf -");
        is_int(strstr(objects, "/Alt (Harbour)") != NULL, rows[i].images > 0, "the logo has its alternative text");
        apr_pool_destroy(pool);
    }
}

int main(void)
{
    bench = seal_begin(30000);
    test_certificate();
    test_identified();
    test_logo();
    return seal_end(&bench);
}
