/* SPDX-License-Identifier: Apache-2.0 */
/* model_signers.c: tests of src/model/signers.c: the exact text of every message, and which one comes first. */
#include "model/model.h"
#include "tap.h"

#define AREA "{\"x\":1,\"y\":2.5,\"w\":3,\"h\":4,\"page\":0}"
#define FIELD "{\"type\":\"signature\",\"name\":\"Here\",\"document\":\"a.pdf\",\"area\":" AREA "}"
#define ANN "\"firstname\":\"Ann\",\"lastname\":\"Lee\""
#define MAIL "\"email\":\"ann@x.org\""
/* signers with one field, in which one value differs */
#define WITH_FIELD(field) "[{" ANN "," MAIL ",\"fields\":[" field "]}]"
#define WITH_AREA(area)                                                                                                \
    WITH_FIELD("{\"type\":\"signature\",\"name\":\"Here\",\"document\":\"a.pdf\",\"area\":" area "}")
#define WITH_EMAIL(email) "[{" ANN ",\"email\":" email ",\"fields\":[" FIELD "]}]"
#define F1 "Signer 1 (ann@x.org), Field 1: "
#define TIMES_10(text) text text text text text text text text text text
#define TIMES_100(text) TIMES_10(TIMES_10(text))
#define NOT_ARRAY "Signers must be a JSON array: "

static apr_pool_t *pool;

static sr_error_t *parse(apr_array_header_t **signers, const char *text, bool send_email)
{
    const sr_signers_rules_t rules = {.send_email = send_email, .max_signers = 5, .max_fields = 7};
    return sr_signers_parse(signers, text, strlen(text), &rules, pool);
}

static void is_refused(const char *text, bool send_email, const char *message)
{
    apr_array_header_t *signers;
    const sr_error_t *error = parse(&signers, text, send_email);
    is_str(error ? error->message : NULL, message, "%.100s", text);
    if (error && error->code != SR_EBADREQUEST) ok(false, "the code is SR_EBADREQUEST");
}

typedef struct case_t {
    const char *text, *message;
} case_t;

static const case_t whole[] = {
    {"", NOT_ARRAY "unexpected token near end of file at line 1 column 0"},
    {"[{\"firstname\":\"Ann\",]", NOT_ARRAY "string or '}' expected near ']' at line 1 column 21"},
    {"[\n{\"a\":1,\n \"a\":2}]", NOT_ARRAY "duplicate object key near '\"a\"' at line 3 column 4"},
    {"{}", NOT_ARRAY "an object was sent"},
    {"\"[]\"", NOT_ARRAY "a string was sent"},
    {"7", NOT_ARRAY "a number was sent"},
    {"1e400", NOT_ARRAY "null was sent"},
    {"null", NOT_ARRAY "null was sent"},
    {"[]", "At least 1 signer must be provided"},
    {" [ ] ", "At least 1 signer must be provided"},
    {"[{},{},{},{},{},{}]", "At most 5 signers can be provided"},
    {"[" TIMES_100("{},") TIMES_100("\",[{\",") "{}]", "At most 5 signers can be provided"},
    {"[" TIMES_100("{},{},{},") "1e400]", NOT_ARRAY "more than 600 values"},
    {"[7]", "Signer 1: Must be an object"},
    {"[null]", "Signer 1: Must be an object"},
    {"[[]]", "Signer 1: Must be an object"},
    {"[{" ANN ",\"fields\":[" FIELD "]},\"x\"]", "Signer 2: Must be an object"},
};

static const case_t names[] = {
    {"[{}]", "Signer 1: A firstname must be provided"},
    {"[{\"firstname\":null}]", "Signer 1: A firstname must be provided"},
    {"[{\"firstname\":\"\"}]", "Signer 1: A firstname must be provided"},
    {"[{\"firstname\":\" \\t\\u00a0\\u200b\"}]", "Signer 1: A firstname must be provided"},
    {"[{\"firstname\":7}]", "Signer 1: A firstname must be provided"},
    {"[{\"firstname\":1e400}]", "Signer 1: A firstname must be provided"},
    {"[{\"firstname\":[\"Ann\"]}]", "Signer 1: A firstname must be provided"},
    {"[{\"Firstname\":\"Ann\"}]", "Signer 1: A firstname must be provided"},
    {"[{\"firstname\":\"Ann\"}]", "Signer 1: A lastname must be provided"},
    {"[{\"firstname\":\"Ann\",\"lastname\":\" \"}]", "Signer 1: A lastname must be provided"},
    {"[{\"firstname\":\"Ann\",\"lastname\":{}}]", "Signer 1: A lastname must be provided"},
    {"[{\"firstname\":\"Ann\\r\\nBcc: x@y.z\"}]", "Signer 1: A firstname must not contain control characters"},
    {"[{\"firstname\":\"A\\u0001nn\"}]", "Signer 1: A firstname must not contain control characters"},
    {"[{\"firstname\":\"A\\u0085nn\"}]", "Signer 1: A firstname must not contain control characters"},
    {"[{\"firstname\":\"Ann\",\"lastname\":\"L\\u2028\"}]", "Signer 1: A lastname must not contain control characters"},
};

static const case_t emails[] = {
    {WITH_EMAIL("\"ann\""), "Signer 1: Invalid email format: ann"},
    {WITH_EMAIL("\"@x.org\""), "Signer 1: Invalid email format: @x.org"},
    {WITH_EMAIL("\"ann@\""), "Signer 1: Invalid email format: ann@"},
    {WITH_EMAIL("\"ann@x\""), "Signer 1: Invalid email format: ann@x"},
    {WITH_EMAIL("\"ann@.org\""), "Signer 1: Invalid email format: ann@.org"},
    {WITH_EMAIL("\"ann@x.\""), "Signer 1: Invalid email format: ann@x."},
    {WITH_EMAIL("\"ann@b@x.org\""), "Signer 1: Invalid email format: ann@b@x.org"},
    {WITH_EMAIL("\"ann@x@.org\""), "Signer 1: Invalid email format: ann@x@.org"},
    {WITH_EMAIL("\"ann lee@x.org\""), "Signer 1: Invalid email format: ann lee@x.org"},
    {WITH_EMAIL("\"ann@x.org \""), "Signer 1: Invalid email format: ann@x.org "},
    {WITH_EMAIL("\" \""), "Signer 1: Invalid email format:  "},
    {WITH_EMAIL("\"ann@x.org\\n\""), "Signer 1: Invalid email format: ann@x.org\n"},
    {WITH_EMAIL("\"ann\\u00a0@x.org\""), "Signer 1: Invalid email format: ann\xC2\xA0@x.org"},
    {WITH_EMAIL("\"ann\\ufeff@x.org\""), "Signer 1: Invalid email format: ann\xEF\xBB\xBF@x.org"},
    {WITH_EMAIL("\"ann\\u3000@x.org\""), "Signer 1: Invalid email format: ann\xE3\x80\x80@x.org"},
    {WITH_EMAIL("7"), "Signer 1: Invalid email format: 7"},
    {WITH_EMAIL("false"), "Signer 1: Invalid email format: false"},
    {WITH_EMAIL("[\"ann@x.org\"]"), "Signer 1: Invalid email format: [\"ann@x.org\"]"},
    {WITH_EMAIL("{\"a\":\"\\r\\n\"}"), "Signer 1: Invalid email format: {\"a\":\"\\r\\n\"}"},
    {WITH_EMAIL("\"a\\u0001nn@x.org\""), "Signer 1: An email must not contain control characters"},
    {WITH_EMAIL("\"a\\tb@x.org\""), "Signer 1: Invalid email format: a\tb@x.org"},
    {WITH_EMAIL("\"a\\u0007\""), "Signer 1: Invalid email format: a\a"},
};

static const case_t fields[] = {
    {"[{" ANN "," MAIL "}]", "Signer 1 (ann@x.org): Must have at least 1 field"},
    {"[{" ANN "}]", "Signer 1: Must have at least 1 field"},
    {"[{" ANN ",\"email\":\"\"}]", "Signer 1: Must have at least 1 field"},
    {"[{" ANN ",\"fields\":[]}]", "Signer 1: Must have at least 1 field"},
    {"[{" ANN ",\"fields\":null}]", "Signer 1: Must have at least 1 field"},
    {"[{" ANN ",\"fields\":{\"a\":1}}]", "Signer 1: Must have at least 1 field"},
    {"[{" ANN ",\"fields\":\"x\"}]", "Signer 1: Must have at least 1 field"},
    {WITH_FIELD("{},{},{},{},{},{},{},{}"), "At most 7 fields can be provided"},
    {WITH_FIELD("7"), F1 "Must be an object"},
    {WITH_FIELD("[]"), F1 "Must be an object"},
    {WITH_FIELD("{}"), F1 "A type must be provided"},
    {"[{" ANN ",\"fields\":[{}]}]", "Signer 1, Field 1: A type must be provided"},
    {WITH_FIELD(FIELD ",{\"type\":7}"), "Signer 1 (ann@x.org), Field 2: A type must be provided"},
    {WITH_FIELD("{\"type\":\"\"}"), F1 "A type must be provided"},
    {WITH_FIELD("{\"type\":\"stamp\"}"), F1 "Only type signature is supported"},
    {WITH_FIELD("{\"type\":\"Signature\"}"), F1 "Only type signature is supported"},
    {WITH_FIELD("{\"type\":\"signature\"}"), F1 "A name must be provided"},
    {WITH_FIELD("{\"type\":\"signature\",\"name\":\" \"}"), F1 "A name must be provided"},
    {WITH_FIELD("{\"type\":\"signature\",\"name\":[]}"), F1 "A name must be provided"},
    {WITH_FIELD("{\"type\":\"signature\",\"name\":\"a\\nb\"}"), F1 "A name must not contain control characters"},
    {WITH_FIELD("{\"type\":\"signature\",\"name\":\"N\"}"), F1 "A document must be provided"},
    {WITH_FIELD("{\"type\":\"signature\",\"name\":\"N\",\"document\":\"\"}"), F1 "A document must be provided"},
    {WITH_FIELD("{\"type\":\"signature\",\"name\":\"N\",\"document\":0}"), F1 "A document must be provided"},
    {WITH_FIELD("{\"type\":\"signature\",\"name\":\"N\",\"document\":\"d\"}"), F1 "An area must be provided"},
    {WITH_AREA("null"), F1 "An area must be provided"},
    {WITH_AREA("[1,2,3,4]"), F1 "An area must be provided"},
    {WITH_AREA("\"x\""), F1 "An area must be provided"},
};

#define XY F1 "Area x/y coordinate must be a number"
#define WH F1 "Area width/height must be a positive number"
#define PAGE F1 "Area page must be a non-negative integer"
#define ORIGIN F1 "Area origin must be user-space or top-left"
#define UNIT F1 "Area unit must be percent or absent"
#define IN_PERCENT F1 "Area in percent must not have an origin"
#define FROM F1 "Area pageFrom must be end or absent"
#define BOTH F1 "Area must have either a field or coordinates, not both"
#define NAMED F1 "Area field must be the name of a signature field"
#define ON_PAGE(page) "{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"page\":" page "}"

static const case_t areas[] = {
    {WITH_AREA("{}"), XY},
    {WITH_AREA("{\"x\":1}"), XY},
    {WITH_AREA("{\"y\":1}"), XY},
    {WITH_AREA("{\"x\":\"1\",\"y\":1}"), XY},
    {WITH_AREA("{\"x\":null,\"y\":1}"), XY},
    {WITH_AREA("{\"x\":true,\"y\":1}"), XY},
    {WITH_AREA("{\"x\":1e400,\"y\":1}"), XY},
    {WITH_AREA("{\"x\":1,\"y\":-1e400}"), XY},
    {WITH_AREA("{\"x\":123456789012345678901234567890,\"y\":1}"), WH},
    {WITH_AREA("{\"x\":1,\"y\":1}"), WH},
    {WITH_AREA("{\"x\":1,\"y\":1,\"w\":0,\"h\":1}"), WH},
    {WITH_AREA("{\"x\":1,\"y\":1,\"w\":1,\"h\":0.0}"), WH},
    {WITH_AREA("{\"x\":1,\"y\":1,\"w\":-5,\"h\":1}"), WH},
    {WITH_AREA("{\"x\":1,\"y\":1,\"w\":1,\"h\":-0.5}"), WH},
    {WITH_AREA("{\"x\":1,\"y\":1,\"w\":1,\"h\":\"1\"}"), WH},
    {WITH_AREA("{\"x\":1,\"y\":1,\"w\":1e999,\"h\":1}"), WH},
    {WITH_AREA("{\"x\":1,\"y\":1,\"w\":1,\"h\":1}"), PAGE},
    {WITH_AREA(ON_PAGE("null")), PAGE},
    {WITH_AREA(ON_PAGE("-1")), PAGE},
    {WITH_AREA(ON_PAGE("1.0")), PAGE},
    {WITH_AREA(ON_PAGE("0.5")), PAGE},
    {WITH_AREA(ON_PAGE("1e0")), PAGE},
    {WITH_AREA(ON_PAGE("\"0\"")), PAGE},
    {WITH_AREA(ON_PAGE("true")), PAGE},
    {WITH_AREA(ON_PAGE("1e400")), PAGE},
    {WITH_AREA(ON_PAGE("-99999999999999999999")), PAGE},
    {WITH_AREA(ON_PAGE("0,\"origin\":\"bottom\"")), ORIGIN},
    {WITH_AREA(ON_PAGE("0,\"origin\":\"\"")), ORIGIN},
    {WITH_AREA(ON_PAGE("0,\"origin\":0")), ORIGIN},
    {WITH_AREA(ON_PAGE("0,\"unit\":\"percent\"")), NULL},
    {WITH_AREA(ON_PAGE("0,\"unit\":null,\"pageFrom\":null")), NULL},
    {WITH_AREA(ON_PAGE("0,\"unit\":\"pt\"")), UNIT},
    {WITH_AREA(ON_PAGE("0,\"unit\":\"Percent\"")), UNIT},
    {WITH_AREA(ON_PAGE("0,\"unit\":\"\"")), UNIT},
    {WITH_AREA(ON_PAGE("0,\"unit\":1")), UNIT},
    {WITH_AREA(ON_PAGE("0,\"unit\":\"percent\",\"origin\":null")), NULL},
    {WITH_AREA(ON_PAGE("0,\"unit\":\"percent\",\"origin\":\"top-left\"")), IN_PERCENT},
    {WITH_AREA(ON_PAGE("0,\"unit\":\"percent\",\"origin\":7")), IN_PERCENT},
    {WITH_AREA(ON_PAGE("0,\"pageFrom\":\"end\"")), NULL},
    {WITH_AREA(ON_PAGE("0,\"pageFrom\":\"start\"")), FROM},
    {WITH_AREA(ON_PAGE("0,\"pageFrom\":true")), FROM},
    {WITH_AREA(ON_PAGE("-1,\"pageFrom\":\"end\"")), PAGE},
    {WITH_AREA("{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"pageFrom\":\"end\"}"), PAGE},
    {WITH_AREA("{\"field\":\"Tenant\",\"unit\":\"percent\"}"), BOTH},
    {WITH_AREA("{\"field\":\"Tenant\",\"pageFrom\":\"end\"}"), BOTH},
    {WITH_AREA(ON_PAGE("0,\"field\":\"Tenant\"")), BOTH},
    {WITH_AREA("{\"field\":\"Tenant\",\"page\":0}"), BOTH},
    {WITH_AREA("{\"field\":\"Tenant\",\"origin\":null}"), BOTH},
    {WITH_AREA("{\"field\":7}"), NAMED},
    {WITH_AREA("{\"field\":\"\"}"), NAMED},
    {WITH_AREA("{\"field\":\" \\t\"}"), NAMED},
    {WITH_AREA("{\"field\":null}"), XY},
    {WITH_AREA("{\"field\":\"Tenant\"}"), NULL},
};

/* Which of two failures is reported. */
static const case_t order[] = {
    {"[{\"firstname\":\"\",\"lastname\":\"\"}]", "Signer 1: A firstname must be provided"},
    {"[{\"firstname\":\"A\",\"email\":\"x\"}]", "Signer 1: A lastname must be provided"},
    {"[{" ANN ",\"email\":\"x\",\"fields\":[]}]", "Signer 1: Invalid email format: x"},
    {"[{" ANN ",\"fields\":[" FIELD ",{}]},{}]", "Signer 1, Field 2: A type must be provided"},
    {"[{" ANN ",\"fields\":[" FIELD "]},{}]", "Signer 2: A firstname must be provided"},
    {WITH_AREA("{\"x\":\"a\",\"w\":0,\"page\":-1}"), XY},
    {WITH_AREA("{\"x\":1,\"y\":1,\"w\":0,\"h\":1,\"page\":-1}"), WH},
    {WITH_AREA(ON_PAGE("-1,\"origin\":7")), PAGE},
    {WITH_AREA(ON_PAGE("-1,\"pageFrom\":7,\"unit\":7")), PAGE},
    {WITH_AREA(ON_PAGE("0,\"pageFrom\":7,\"unit\":7")), FROM},
    {WITH_AREA(ON_PAGE("0,\"unit\":7,\"origin\":7")), UNIT},
    {"[{" ANN ",\"fields\":[" FIELD "]},{" ANN ",\"fields\":[" FIELD "," FIELD "," FIELD "," FIELD "," FIELD "," FIELD
     "," FIELD "]}]",
     "At most 7 fields can be provided"},
};

static void test_table(const case_t *table, apr_size_t count)
{
    apr_size_t i;
    for (i = 0; i < count; i++) is_refused(table[i].text, false, table[i].message);
}
#define TEST(table) test_table(table, sizeof(table) / sizeof((table)[0]))

static void test_send_email(void)
{
    static const char message[] = "Signer 1: An email must be provided when sendEmail is enabled";
    apr_array_header_t *signers;
    is_refused("[{" ANN ",\"fields\":[" FIELD "]}]", true, message);
    is_refused(WITH_EMAIL("null"), true, message);
    is_refused(WITH_EMAIL("\"\""), true, message);
    is_refused("[{" ANN "}]", true, message);
    is_refused(WITH_EMAIL("\"x\""), true, "Signer 1: Invalid email format: x");
    ok(!parse(&signers, WITH_EMAIL("\"ann@x.org\""), true), "with an email it is accepted");
}

static const char *repeat(const char *text, int count)
{
    const apr_size_t length = strlen(text);
    char *out = apr_pcalloc(pool, length * (apr_size_t)count + 1);
    int i;
    for (i = 0; i < count; i++) memcpy(out + length * (apr_size_t)i, text, length);
    return out;
}

static void test_lengths(void)
{
    const char *long_name = repeat("\xC3\xA9", 500), *const head = repeat("a", 200);
    const char *long_email = apr_pstrcat(pool, head, "@", repeat("b", 49), ".org", NULL);
    apr_array_header_t *signers;
    ok(!parse(&signers,
              apr_psprintf(pool, "[{\"firstname\":\"%s\",\"lastname\":\"%s\",\"fields\":[" FIELD "]}]", long_name,
                           long_name),
              false),
       "a name may have 500 characters of two bytes");
    is_refused(apr_psprintf(pool, "[{\"firstname\":\"%sx\"}]", long_name), false,
               "Signer 1: A firstname must have at most 500 characters");
    is_refused(apr_psprintf(pool, "[{\"firstname\":\"A\",\"lastname\":\"%sx\"}]", long_name), false,
               "Signer 1: A lastname must have at most 500 characters");
    is_refused(apr_psprintf(pool, WITH_FIELD("{\"type\":\"signature\",\"name\":\"%sx\"}"), long_name), false,
               F1 "A name must have at most 500 characters");
    ok(!parse(&signers, apr_psprintf(pool, WITH_EMAIL("\"%s\""), long_email), false),
       "an email may have 254 characters");
    is_refused(apr_psprintf(pool, WITH_EMAIL("\"x%s\""), long_email), false,
               "Signer 1: An email must have at most 254 characters");
    is_refused(apr_psprintf(pool, WITH_EMAIL("\"@%s\""), repeat("\xC3\xA9", 300)), false,
               apr_psprintf(pool, "Signer 1: Invalid email format: @%s\xE2\x80\xA6", repeat("\xC3\xA9", 253)));
}

static void test_accepted(void)
{
    static const char text[] =
        "[{" ANN ",\"email\":\"\xC3\xA9l.\xE6\x9D\x8E+1@x.y.org\",\"extra\":1e999,\"fields\":[" FIELD
        ",{\"type\":\"signature\",\"name\":\"\xE2\x82\xAC\",\"document\":\"b.pdf\",\"area\":{\"x\":-1e308,\"y\":1E-400,"
        "\"w\":0.5,\"h\":1e308,\"page\":2147483646,\"origin\":\"top-left\"}}]},"
        "{\"firstname\":\" Bo \",\"lastname\":\"O'Neil\",\"email\":null,"
        "\"fields\":[{\"type\":\"signature\",\"name\":\"N\","
        "\"document\":\" \xC3\xA9.pdf\",\"area\":{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"page\":9223372036854775807,"
        "\"origin\":null}}]}]";
    const sr_signers_rules_t rules = {.default_origin = SR_ORIGIN_TOP_LEFT, .max_signers = 2, .max_fields = 3};
    apr_array_header_t *signers;
    const sr_signer_t *signer;
    const sr_field_t *field;
    if (!ok(!sr_signers_parse(&signers, text, strlen(text), &rules, pool), "signers at the very limits are accepted"))
        return;
    is_int(signers->nelts, 2, "two signers");
    signer = &APR_ARRAY_IDX(signers, 0, sr_signer_t);
    is_str(signer->firstname, "Ann", "firstname");
    is_str(signer->lastname, "Lee", "lastname");
    is_str(signer->email, "\xC3\xA9l.\xE6\x9D\x8E+1@x.y.org", "email");
    ok(sr_uuid_valid(signer->uuid), "uuid");
    is_int(signer->fields->nelts, 2, "two fields");
    field = &APR_ARRAY_IDX(signer->fields, 0, sr_field_t);
    is_str(field->name, "Here", "field name");
    is_str(field->type->name, "signature", "type");
    is_str(field->document, "a.pdf", "document");
    is_num(field->area.y, 2.5, "y");
    is_num(field->area.h, 4, "h");
    is_int(field->area.origin, SR_ORIGIN_TOP_LEFT, "the default origin");
    field = &APR_ARRAY_IDX(signer->fields, 1, sr_field_t);
    ok(field->area.x == -1e308 && field->area.h == 1e308, "any finite coordinate is accepted");
    is_int(field->area.page, 2147483646, "a high page number");
    signer = &APR_ARRAY_IDX(signers, 1, sr_signer_t);
    is_str(signer->email, NULL, "no email");
    is_str(signer->firstname, " Bo ", "names are not trimmed");
    field = &APR_ARRAY_IDX(signer->fields, 0, sr_field_t);
    is_int(field->area.page, 2147483647, "a page beyond int is the last int");
    is_int(field->area.origin, SR_ORIGIN_TOP_LEFT, "a null origin is the default one");

    ok(!parse(&signers, WITH_AREA(ON_PAGE("0,\"origin\":\"user-space\"")), false), "origin user-space");
    ok(!parse(&signers, WITH_AREA(ON_PAGE("0,\"origin\":\"top-left\"")), false), "origin top-left");
    field = &APR_ARRAY_IDX(APR_ARRAY_IDX(signers, 0, sr_signer_t).fields, 0, sr_field_t);
    is_int(field->area.origin, SR_ORIGIN_TOP_LEFT, "an origin in the area is used");
    const char *percent = WITH_AREA(ON_PAGE("3,\"pageFrom\":\"end\",\"unit\":\"percent\""));
    ok(!sr_signers_parse(&signers, percent, strlen(percent), &rules, pool), "percent, from the end");
    field = &APR_ARRAY_IDX(APR_ARRAY_IDX(signers, 0, sr_signer_t).fields, 0, sr_field_t);
    ok(field->area.percent && field->area.from_end && field->area.page == 3, "both are read");
    ok(!parse(&signers, percent, false), "percent with another default origin");
    field = &APR_ARRAY_IDX(APR_ARRAY_IDX(signers, 0, sr_signer_t).fields, 0, sr_field_t);
    is_int(field->area.origin, SR_ORIGIN_TOP_LEFT, "percentages count from the top left in any case");
    ok(!parse(&signers, WITH_EMAIL("\"a@b..\""), false), "the contract's pattern accepts a@b..");
    ok(!parse(&signers, WITH_EMAIL("\"a@.b.c\""), false), "the contract's pattern accepts a@.b.c");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    TEST(whole);
    TEST(names);
    TEST(emails);
    TEST(fields);
    TEST(areas);
    TEST(order);
    test_send_email();
    test_lengths();
    test_accepted();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
