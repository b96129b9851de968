/* SPDX-License-Identifier: Apache-2.0 */
/* model_signature.c: tests of src/model/signature.c: the signatures that a signer may send. */
#include "model/model.h"
#include "tap.h"

#include <apr_base64.h>
#include <apr_general.h>

static apr_pool_t *pool;

#define TYPES "A signature must be of type drawn, typed or uploaded"
#define BLANK "A typed signature must have a text that is not blank"
#define CONTROL "A typed signature must not contain control characters"
#define LONG "A typed signature must have at most 200 characters"
#define IMAGE "An uploaded signature must be a PNG, JPEG or WebP image as a base64 data URL"
#define LARGE "The image of a signature must be at most 1 MiB"

/* Parses a signature. Returns "typed text", "drawn points", "uploaded hex", or the message of the error. */
static const char *parse(const char *sent)
{
    sr_signature_t signature = {0};
    json_t *json;
    sr_error_t *error = sr_json_parse(&json, sent, strlen(sent), pool);
    if (error) return "no JSON";
    error = sr_signature_parse(&signature, json, pool);
    if (error) return error->code == SR_EBADREQUEST ? error->message : "an error of another kind";
    if (!signature.ink + !signature.text + !signature.image != 2) return "not one of the three";
    if (signature.ink) return apr_psprintf(pool, "%s %d", signature.kind, signature.ink->points);
    if (signature.text) return apr_pstrcat(pool, signature.kind, " ", signature.text, NULL);
    return apr_pstrcat(pool, signature.kind, " ", sr_text_hex(signature.image, signature.image_size, pool), NULL);
}

static void test_cases(void)
{
#define PNG(text) "{\"type\":\"uploaded\",\"image\":\"data:image/png;base64," text "\"}"
    static const struct {
        const char *sent, *says, *name;
    } cases[] = {
        {"{}", TYPES, "no type"},
        {"[]", TYPES, "an array"},
        {"\"typed\"", TYPES, "a string"},
        {"{\"type\":null}", TYPES, "null"},
        {"{\"type\":\"Typed\",\"text\":\"Ann\"}", TYPES, "a type with a capital letter"},
        {"{\"type\":\"stamped\"}", TYPES, "another type"},

        {"{\"type\":\"typed\",\"text\":\"Ann Lee\"}", "typed Ann Lee", "a typed signature"},
        {"{\"type\":\"typed\",\"text\":\"\\u5b57 \\ud83d\\ude00\"}", "typed \xe5\xad\x97 \xf0\x9f\x98\x80",
         "any script"},
        {"{\"type\":\"typed\"}", BLANK, "no text"},
        {"{\"type\":\"typed\",\"text\":5}", BLANK, "a number"},
        {"{\"type\":\"typed\",\"text\":\"\"}", BLANK, "an empty text"},
        {"{\"type\":\"typed\",\"text\":\" \\u00a0\\u3000\"}", BLANK, "spaces of all kinds"},
        {"{\"type\":\"typed\",\"text\":\"\\u200b\"}", BLANK, "a space without width"},
        {"{\"type\":\"typed\",\"text\":\"a\\nb\"}", CONTROL, "a line end"},
        {"{\"type\":\"typed\",\"text\":\"a\\u2028b\"}", CONTROL, "a line separator"},
        {"{\"type\":\"typed\",\"text\":\"a\\u0001\"}", CONTROL, "a control character"},
        {"{\"type\":\"typed\",\"text\":\"a\\u0085\"}", CONTROL, "a control character of the C1 set"},

        {"{\"type\":\"drawn\",\"width\":2,\"height\":1,\"strokes\":[[[0,0],[1,1]]]}", "drawn 2", "a drawn signature"},
        {"{\"type\":\"drawn\"}", "A drawn signature needs width and height, from 1 to 100000",
         "a signature without data"},

        {PNG("AAEC"), "uploaded 000102", "an image"},
        {PNG("AAE="), "uploaded 0001", "an image with one padding character"},
        {PNG("AA=="), "uploaded 00", "an image with two padding characters"},
        {PNG("+/+/"), "uploaded fbffbf", "both special digits"},
        {"{\"type\":\"uploaded\",\"image\":\"data:image/jpeg;base64,/9j/\"}", "uploaded ffd8ff", "a JPEG"},
        {"{\"type\":\"uploaded\"}", IMAGE, "no image"},
        {"{\"type\":\"uploaded\",\"image\":7}", IMAGE, "a number"},
        {"{\"type\":\"uploaded\",\"image\":\"AAEC\"}", IMAGE, "not a URL"},
        {"{\"type\":\"uploaded\",\"image\":\"data:image/gif;base64,AAEC\"}", IMAGE, "a GIF"},
        {"{\"type\":\"uploaded\",\"image\":\"data:image/svg+xml;base64,AAEC\"}", IMAGE, "an SVG"},
        {"{\"type\":\"uploaded\",\"image\":\"data:image/png,AAEC\"}", IMAGE, "a data URL that is not base64"},
        {"{\"type\":\"uploaded\",\"image\":\"https://x.org/a.png\"}", IMAGE, "an https URL"},
        {PNG(""), IMAGE, "a signature without data"},
        {PNG("A"), IMAGE, "one digit"},
        {PNG("AAE"), IMAGE, "three digits"},
        {PNG("AA="), IMAGE, "missing padding"},
        {PNG("A==="), IMAGE, "three padding characters"},
        {PNG("===="), IMAGE, "only padding"},
        {PNG("AA==AAEC"), IMAGE, "padding in the middle"},
        {PNG("AA=A"), IMAGE, "a digit after the padding"},
        {PNG("AA EC"), IMAGE, "a space between the digits"},
        {PNG("AAEC\\n"), IMAGE, "a line end after the digits"},
        {PNG("AA-_"), IMAGE, "digits of base64url"},
        {PNG("AAE\xc3\xa9"), IMAGE, "another letter"},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) is_str(parse(cases[i].sent), cases[i].says, "%s", cases[i].name);
}

static void test_length(void)
{
    static const char letter[] = "\xe5\xad\x97";
    char text[201 * 3 + 1] = "";
    sr_signature_t signature;
    sr_error_t *error;
    int i;
    for (i = 0; i < 200; i++) memcpy(text + 3 * i, letter, 4);
    ok(!sr_signature_typed(&signature, text, pool) && signature.text == text, "200 characters of three bytes");
    memcpy(text + 600, "a", 2);
    error = sr_signature_typed(&signature, text, pool);
    is_str(error ? error->message : NULL, LONG, "and one more");
    ok(sr_signature_typed(&signature, NULL, pool) != NULL, "none");
}

/* Returns an image of `size` bytes, as a client sends it. */
static const char *upload(apr_size_t size)
{
    unsigned char *const bytes = apr_pcalloc(pool, size);
    char *text = apr_palloc(pool, (apr_size_t)apr_base64_encode_len((int)size));
    bytes[size - 1] = 9;
    apr_base64_encode_binary(text, bytes, (int)size);
    return apr_pstrcat(pool, "{\"type\":\"uploaded\",\"image\":\"data:image/png;base64,", text, "\"}", NULL);
}

static void test_size(void)
{
    const apr_size_t most = (apr_size_t)1 << 20;
    apr_size_t i;
    int right = 0;
    for (i = 1; i <= 9; i++) {
        const char *said = parse(upload(i));
        right += strlen(said) == strlen("uploaded ") + 2 * i && !strcmp(said + strlen(said) - 2, "09");
    }
    is_int(right, 9, "images of one to nine bytes are decoded");
    is_int(strlen(parse(upload(most))), strlen("uploaded ") + 2 * most, "an image of 1 MiB is accepted");
    is_str(parse(upload(most + 1)), LARGE, "an image of one byte more is refused");
    is_str(parse(upload(3 * most)), LARGE, "an image of 3 MiB is refused");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_cases();
    test_length();
    test_size();
    apr_pool_destroy(pool);
    return done();
}
