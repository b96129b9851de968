/* SPDX-License-Identifier: Apache-2.0 */
/* model_entries.c: tests of src/model/field_types.c and src/model/entries.c: which members and values of fields are
 * accepted, the text of every fault, and what is stored and shown. */
#include "model/model.h"
#include "tap.h"

#define DAY "2026-11-22"
#define PLACE "\"document\":\"a.pdf\",\"area\":{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"page\":0}"
#define FIELD(type, members) "{\"type\":\"" type "\",\"name\":\"N\"," PLACE members "}"
#define SIGN FIELD("signature", "")
#define BOX(members) FIELD("checkbox", members)
#define TEXT(members) FIELD("text", members)
#define AB ",\"options\":[\"A\",\"B\"]"
#define TIMES_10(text) text text text text text text text text text text
#define TIMES_100(text) TIMES_10(TIMES_10(text))

static apr_pool_t *pool;

static json_t *parse(const char *text)
{
    json_t *value;
    if (sr_json_parse(&value, text, strlen(text), pool)) abort();
    return value;
}

/* Reads the fields of one signer as a creation does. */
static sr_error_t *take(sr_signer_t **signer, const char *fields, sr_remarks_t *remarks)
{
    const char *text = apr_psprintf(pool, "[{\"firstname\":\"Ann\",\"lastname\":\"Lee\",\"fields\":[%s]}]", fields);
    const sr_signers_rules_t rules = {.max_signers = 1, .max_fields = 200, .remarks = remarks};
    apr_array_header_t *signers;
    SR_TRY(sr_signers_parse(&signers, text, strlen(text), &rules, pool));
    *signer = &APR_ARRAY_IDX(signers, 0, sr_signer_t);
    return NULL;
}

static sr_signer_t *taken(const char *fields)
{
    sr_signer_t *signer;
    const sr_error_t *error = take(&signer, fields, NULL);
    if (error) printf("# %s: %s\n", fields, error->message);
    if (error) abort();
    return signer;
}

static const sr_entry_t *entry_of(const sr_signer_t *signer, int index)
{
    return APR_ARRAY_IDX(signer->fields, index, sr_field_t).entry;
}

static const sr_entry_t *entry(const char *field)
{
    return entry_of(taken(apr_pstrcat(pool, field, "," SIGN, NULL)), 0);
}

/* --- creation */

static void test_defaults(void)
{
    static const struct {
        const char *field;
        bool required, read_only;
        int max_length;
    } rows[] = {{TEXT(""), true, false, 200},
                {FIELD("choice", AB), true, false, 200},
                {BOX(""), false, false, 200},
                {FIELD("date", ""), false, true, 200},
                {TEXT(",\"required\":false,\"value\":\"x\",\"readOnly\":true,\"maxLength\":1"), false, true, 1},
                {TEXT(",\"required\":null,\"readOnly\":null,\"maxLength\":null,\"value\":null"), true, false, 200},
                {BOX(",\"required\":true"), true, false, 200}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sr_entry_t *read = entry(rows[i].field);
        ok(read->required == rows[i].required && read->read_only == rows[i].read_only
               && read->max_length == rows[i].max_length,
           "required, readOnly and maxLength of %s", rows[i].field);
    }
    ok(!entry_of(taken(SIGN "," FIELD("initials", "")), 1), "initials have no value");
    is_int(entry(TEXT(",\"value\":\"" TIMES_100("abc") "\""))->max_length, 300,
           "without maxLength a text may be as long as the caller's value");
    ok(!entry(FIELD("date", ",\"value\":\"1999-01-01\""))->value, "a caller cannot set a date");
}

static void test_members(void)
{
    const sr_entry_t *read =
        entry(TEXT(",\"value\":\"1\",\"multiline\":true,\"format\":\"integer\",\"size\":6.5,\"align\":\"end\""));
    ok(read->multiline && read->size == 6.5 && read->align == SR_ALIGN_END, "the members of a text");
    is_str(read->format, "integer", "its format");
    is_str(json_string_value(read->value), "1", "its value");
    is_int(entry(FIELD("date", ",\"size\":72,\"align\":\"center\""))->align, SR_ALIGN_CENTER, "a date has a place");
    is_str(entry(BOX(",\"group\":\"g\""))->group, "g", "the group of a check box");
    is_int((int)json_array_size(entry(FIELD("choice", AB))->options), 2, "the options of a choice");
}

typedef struct case_t {
    const char *field, *message;
} case_t;

#define FLAG(key) key " must be true or false"
#define FORMAT "format must be integer, decimal, email or date"
#define SIZE "size must be a number from 6 to 72"
#define ALIGN "align must be start, center, end, left or right"
#define LENGTH "maxLength must be an integer from 1 to 4000"
#define GROUP "group must be a text of at most 100 characters"
#define OPTIONS "options must be 2 to 100 different texts of at most 200 characters"

static const case_t refused[] = {
    {TEXT(",\"value\":7"), "value must be a string, true or false"},
    {TEXT(",\"value\":[]"), "value must be a string, true or false"},
    {TEXT(",\"value\":true"), "value must be a string"},
    {BOX(",\"value\":\"true\""), "value must be true or false"},
    {TEXT(",\"value\":\"a\\nb\""), "value must not contain control characters"},
    {TEXT(",\"value\":\"abc\",\"maxLength\":2"), "value must have at most 2 characters"},
    {TEXT(",\"value\":\"" TIMES_100(TIMES_10("abcde")) "\""), "value must have at most 4000 characters"},
    {TEXT(",\"value\":\"x\",\"format\":\"integer\""), "value must be a whole number, such as 42"},
    {FIELD("choice", AB ",\"value\":\"C\""), "value must be one of the options"},
    {FIELD("choice", AB ",\"value\":false"), "value must be a string"},
    {TEXT(",\"readOnly\":1"), FLAG("readOnly")},
    {TEXT(",\"readOnly\":true"), "readOnly needs a value"},
    {BOX(",\"readOnly\":true"), "readOnly needs a value"},
    {TEXT(",\"required\":\"no\""), FLAG("required")},
    {TEXT(",\"multiline\":0"), FLAG("multiline")},
    {TEXT(",\"maxLength\":0"), LENGTH},
    {TEXT(",\"maxLength\":4001"), LENGTH},
    {TEXT(",\"maxLength\":1.5"), LENGTH},
    {TEXT(",\"maxLength\":\"9\""), LENGTH},
    {TEXT(",\"maxLength\":9223372036854775807"), LENGTH},
    {TEXT(",\"format\":\"Integer\""), FORMAT},
    {TEXT(",\"format\":7"), FORMAT},
    {TEXT(",\"size\":5.9"), SIZE},
    {TEXT(",\"size\":72.1"), SIZE},
    {TEXT(",\"size\":\"12\""), SIZE},
    {FIELD("date", ",\"size\":0"), SIZE},
    {TEXT(",\"align\":\"top\""), ALIGN},
    {TEXT(",\"align\":true"), ALIGN},
    {BOX(",\"group\":\" \""), GROUP},
    {BOX(",\"group\":7"), GROUP},
    {BOX(",\"group\":\"" TIMES_100("g") "g\""), "group must have at most 100 characters"},
    {BOX(",\"group\":\"a\\tb\""), "group must not contain control characters"},
    {FIELD("choice", ""), OPTIONS},
    {FIELD("choice", ",\"options\":null"), OPTIONS},
    {FIELD("choice", ",\"options\":[\"A\"]"), OPTIONS},
    {FIELD("choice", ",\"options\":{\"A\":1,\"B\":2}"), OPTIONS},
    {FIELD("choice", ",\"options\":[\"A\",\"A\"]"), OPTIONS},
    {FIELD("choice", ",\"options\":[\"A\",7]"), OPTIONS},
    {FIELD("choice", ",\"options\":[\"A\",\" \"]"), OPTIONS},
    {FIELD("choice", ",\"options\":[\"A\",\"" TIMES_100("bb") "b\"]"), "an option must have at most 200 characters"},
    {FIELD("choice", ",\"options\":[\"A\",\"b\\r\"]"), "an option must not contain control characters"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        sr_signer_t *signer;
        const sr_error_t *error = take(&signer, refused[i].field, NULL);
        is_str(error ? error->message : NULL, apr_pstrcat(pool, "Signer 1, Field 1: ", refused[i].message, NULL),
               "%.160s", refused[i].field);
    }
}

/* Returns the options of a choice with so many of them. */
static const char *choice_of(int count)
{
    const char *options = "\"0\"";
    for (int i = 1; i < count; i++) options = apr_psprintf(pool, "%s,\"%d\"", options, i);
    return apr_psprintf(pool, FIELD("choice", ",\"options\":[%s]") "," SIGN, options);
}

static const char *fault_of(const char *fields)
{
    sr_signer_t *signer;
    const sr_error_t *error = take(&signer, fields, NULL);
    return error ? error->message : NULL;
}

static void test_signer(void)
{
    static const char none[] = "Signer 1: Must have at least 1 field of type signature";
    static const char both[] = BOX(",\"group\":\"g\",\"value\":true");
    is_str(fault_of(TEXT("")), none, "a signer without a signature");
    is_str(fault_of(FIELD("initials", "")), none, "initials are no signature");
    is_str(fault_of(apr_pstrcat(pool, SIGN ",", both, ",", both, NULL)),
           "Signer 1: At most 1 check box of group g can be ticked", "two ticked boxes of a group");
    is_str(fault_of(apr_pstrcat(pool, SIGN ",", both, "," BOX(",\"group\":\"h\",\"value\":true"), NULL)), NULL,
           "ticked boxes of two groups");
    is_str(fault_of(choice_of(100)), NULL, "a choice of 100 options");
    is_str(fault_of(choice_of(101)), "Signer 1, Field 1: " OPTIONS, "a choice of 101 options");
    is_str(fault_of(FIELD("date", "") "," FIELD("stamp", "")), "Signer 1, Field 2: Only type signature is supported",
           "an unknown type");
    is_str(
        fault_of("{\"type\":\"text\",\"name\":\"N\",\"document\":\"a.pdf\",\"area\":{\"field\":\"rent\",\"page\":0}}"),
        "Signer 1, Field 1: Area must have either a field or coordinates, not both", "a form field of the document");
}

static void test_remarks(void)
{
    static const struct {
        const char *field, *unknown;
    } rows[] = {{TEXT(",\"group\":\"g\""), "group"},
                {TEXT(",\"caption\":\"x\""), "caption"},
                {BOX(",\"maxLength\":7"), "maxLength"},
                {FIELD("date", ",\"value\":\"x\""), "value"},
                {FIELD("choice", AB ",\"format\":\"date\""), "format"},
                {FIELD("signature", ",\"required\":true"), "required"},
                {FIELD("initials", ",\"value\":\"AL\""), "value"},
                {TEXT(",\"value\":\"\",\"readOnly\":false,\"required\":true,\"maxLength\":9,\"multiline\":false,"
                      "\"format\":\"date\",\"size\":9,\"align\":\"start\""),
                 NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sr_remarks_t *remarks = sr_remarks_make(pool);
        sr_signer_t *signer;
        ok(!take(&signer, apr_pstrcat(pool, rows[i].field, "," SIGN, NULL), remarks), "accepted: %s", rows[i].field);
        json_t *list = sr_remarks_json(remarks);
        const char *want = apr_psprintf(pool, "Signer 1, Field 1: unknown member %s", rows[i].unknown);
        is_str(json_string_value(json_array_get(list, 0)), rows[i].unknown ? want : NULL, "with a remark");
        json_decref(list);
    }
}

#define BOTH "Area must have either a page or pages, not both"
#define REPEATS "Only initials, date and read-only text can be on all pages"

static void test_pages(void)
{
    static const char all[] = "{\"type\":\"%s\",\"name\":\"N\",\"document\":\"a.pdf\",\"area\":{\"x\":1,\"y\":2,"
                              "\"w\":3,\"h\":4,%s}}," SIGN;
    static const struct {
        const char *type, *area, *message;
    } rows[] = {
        {"initials", "\"pages\":\"all\"", NULL},
        {"initials", "\"pages\":\"all\",\"page\":null,\"pageFrom\":null,\"unit\":\"percent\"", NULL},
        {"date", "\"pages\":\"all\"", NULL},
        {"text", "\"pages\":\"all\"},\"value\":\"x\",\"readOnly\":true,\"extra\":{", NULL},
        {"initials", "\"pages\":\"all\",\"page\":1", BOTH},
        {"initials", "\"pages\":\"all\",\"page\":-1", BOTH},
        {"date", "\"pages\":\"all\",\"pageFrom\":\"end\"", BOTH},
        {"initials", "\"pages\":\"odd\"", "Area pages must be all or absent"},
        {"initials", "\"pages\":0", "Area pages must be all or absent"},
        {"initials", "\"pages\":null", "Area page must be a non-negative integer"},
        {"text", "\"pages\":\"all\"},\"value\":\"x\",\"extra\":{", REPEATS},
        {"checkbox", "\"pages\":\"all\"},\"value\":true,\"readOnly\":true,\"extra\":{", REPEATS},
        {"choice", "\"pages\":\"all\"},\"options\":[\"A\",\"B\"],\"value\":\"A\",\"readOnly\":true,\"extra\":{",
         REPEATS},
        {"signature", "\"pages\":\"all\"", REPEATS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *fields = apr_psprintf(pool, all, rows[i].type, rows[i].area);
        const char *want = rows[i].message ? apr_pstrcat(pool, "Signer 1, Field 1: ", rows[i].message, NULL) : NULL;
        is_str(fault_of(fields), want, "%s with %s", rows[i].type, rows[i].area);
        if (!want) ok(APR_ARRAY_IDX(taken(fields)->fields, 0, sr_field_t).on_all_pages, "it is on all pages");
    }
}

/* --- values */

/* Returns the fault of a value as "code: message", or "" if it is accepted. */
static const char *value_fault(const char *field, const char *value)
{
    const sr_signer_t *signer = taken(apr_pstrcat(pool, field, "," SIGN, NULL));
    const sr_field_t *first = &APR_ARRAY_IDX(signer->fields, 0, sr_field_t);
    sr_entry_fault_t fault;
    json_t *sent = sr_json_own(json_loads(value, JSON_DECODE_ANY, NULL), pool);
    if (sr_entry_accepts(&fault, first->type, first->entry, sent, pool)) return "";
    return apr_pstrcat(pool, fault.code, ": ", fault.message, NULL);
}

#define WHOLE "format: must be a whole number, such as 42"
#define DECIMAL "format: must be a number, such as 42.50"
#define A_DAY "format: must be a day, such as 2026-11-22"
#define AS(format) TEXT(",\"format\":\"" format "\"")

static const struct {
    const char *field, *value, *fault;
} values[] = {
    {TEXT(""), "\"\"", ""},
    {TEXT(""), "\"\xE6\x9D\x8E\"", ""},
    {TEXT(""), "42", "type: must be a string"},
    {TEXT(""), "true", "type: must be a string"},
    {TEXT(""), "\"a\\nb\"", "length: must not contain control characters"},
    {TEXT(",\"multiline\":true"), "\"a\\nb\"", ""},
    {TEXT(",\"multiline\":true"), "\"a\\tb\"", "length: must not contain control characters"},
    {TEXT(",\"maxLength\":2"), "\"\xC3\xA9\xC3\xA9\"", ""},
    {TEXT(",\"maxLength\":2"), "\"abc\"", "length: must have at most 2 characters"},
    {AS("integer"), "\"\"", ""},
    {AS("integer"), "\"007\"", ""},
    {AS("integer"), "\"-42\"", ""},
    {AS("integer"), "\"-\"", WHOLE},
    {AS("integer"), "\"+1\"", WHOLE},
    {AS("integer"), "\"4.2\"", WHOLE},
    {AS("integer"), "\" 4\"", WHOLE},
    {AS("decimal"), "\"42\"", ""},
    {AS("decimal"), "\"-1,50\"", ""},
    {AS("decimal"), "\"0.5\"", ""},
    {AS("decimal"), "\".5\"", DECIMAL},
    {AS("decimal"), "\"5.\"", DECIMAL},
    {AS("decimal"), "\"1.000,00\"", DECIMAL},
    {AS("email"), "\"ann@x.org\"", ""},
    {AS("email"), "\"ann\"", "format: must be an email address"},
    {AS("date"), "\"2028-02-29\"", ""},
    {AS("date"), "\"2026-02-29\"", A_DAY},
    {AS("date"), "\"22.11.2026\"", A_DAY},
    {AS("date"), "\"2026-11-22T10:00:00Z\"", A_DAY},
    {FIELD("choice", AB), "\"B\"", ""},
    {FIELD("choice", AB), "\"\"", ""},
    {FIELD("choice", AB), "\"b\"", "option: must be one of the options"},
    {BOX(""), "false", ""},
    {BOX(""), "\"on\"", "type: must be true or false"},
    {BOX(""), "1", "type: must be true or false"},
};

static void test_values(void)
{
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        is_str(value_fault(values[i].field, values[i].value), values[i].fault, "%s in %s", values[i].value,
               values[i].field);
}

/* Fills in values and returns the faults as "2 required: …, …", or "" if there are none. */
static const char *filled(sr_signer_t *signer, const char *sent)
{
    apr_array_header_t *faults;
    const char *text = "";
    sr_entries_fill(&faults, signer, sent ? parse(sent) : NULL, DAY, "22 November 2026", pool);
    for (int i = 0; i < faults->nelts; i++) {
        const sr_entry_fault_t *fault = &APR_ARRAY_IDX(faults, i, sr_entry_fault_t);
        text = apr_psprintf(pool, "%s%s%d %s: %s", text, *text ? ", " : "", fault->number, fault->code, fault->message);
    }
    return text;
}

#define MISSING "required: The field must be filled in"
#define UNTICKED "required: One check box of the group must be ticked"
#define OF_GROUP(members) BOX(",\"group\":\"g\"" members)
#define REQUIRED ",\"required\":true"

static const struct {
    const char *fields, *sent, *faults;
} fillings[] = {
    {SIGN, NULL, ""},
    {SIGN "," TEXT(""), NULL, "2 " MISSING},
    {SIGN "," TEXT(""), "{\"2\":\" \\u00a0\"}", "2 " MISSING},
    {SIGN "," TEXT(""), "{\"2\":null}", "2 " MISSING},
    {SIGN "," TEXT(",\"value\":\"x\""), "{\"2\":\"\"}", "2 " MISSING},
    {SIGN "," TEXT(",\"value\":\"x\""), "{}", ""},
    {SIGN "," TEXT(",\"required\":false"), NULL, ""},
    {SIGN "," BOX(""), NULL, ""},
    {SIGN "," BOX(REQUIRED), NULL, "2 " MISSING},
    {SIGN "," BOX(REQUIRED), "{\"2\":false}", "2 " MISSING},
    {SIGN "," FIELD("choice", AB), "{\"2\":\"\"}", "2 " MISSING},
    {SIGN "," FIELD("choice", AB), "{\"2\":\"C\"}", "2 option: The value must be one of the options"},
    {SIGN "," TEXT(",\"value\":\"x\",\"readOnly\":true"), "{\"2\":\"x\"}", ""},
    {SIGN "," TEXT(",\"value\":\"x\",\"readOnly\":true"), "{\"2\":\"y\"}", "2 readOnly: The value cannot be changed"},
    {SIGN "," TEXT(",\"value\":\"\",\"readOnly\":true"), NULL, ""},
    {SIGN "," BOX(",\"value\":false,\"readOnly\":true,\"required\":true"), NULL, ""},
    {SIGN "," TEXT(""), "{\"1\":\"x\",\"2\":\"y\"}", "0 unknown: There is no such field"},
    {TEXT("") "," SIGN, "{\"1\":\"y\",\"0\":\"x\"}", "0 unknown: There is no such field"},
    {TEXT("") "," SIGN, "{\"1\":\"y\",\"3\":\"x\"}", "0 unknown: There is no such field"},
    {TEXT("") "," SIGN, "{\"01\":\"y\"}", "0 unknown: There is no such field, 1 " MISSING},
    {TEXT("") "," SIGN, "{\"N\":\"y\"}", "0 unknown: There is no such field, 1 " MISSING},
    {OF_GROUP("") "," OF_GROUP("") "," SIGN, NULL, ""},
    {OF_GROUP("") "," OF_GROUP(REQUIRED) "," SIGN, NULL, "1 " UNTICKED},
    {OF_GROUP("") "," OF_GROUP(REQUIRED) "," SIGN, "{\"1\":true}", ""},
    {OF_GROUP(",\"value\":true") "," OF_GROUP("") "," SIGN, "{\"2\":true}",
     "1 group: At most one check box of the group can be ticked"},
    {OF_GROUP(",\"value\":true") "," OF_GROUP("") "," SIGN, "{\"1\":false,\"2\":true}", ""},
    {AS("integer") "," BOX(REQUIRED) "," SIGN, "{\"1\":\"x\",\"9\":1}",
     "0 unknown: There is no such field, 1 format: The value must be a whole number, such as 42, 2 " MISSING},
};

static void test_filling(void)
{
    for (size_t i = 0; i < sizeof fillings / sizeof *fillings; i++)
        is_str(filled(taken(fillings[i].fields), fillings[i].sent), fillings[i].faults, "%s of %s",
               fillings[i].sent ? fillings[i].sent : "nothing", fillings[i].fields);
}

/* Fields of the greatest length, as many as it takes. */
static void test_size(void)
{
    enum { LONGEST = 4000, FITTING = SR_SIGNERS_TEXTS_MAX / LONGEST };
    char *const long_text = apr_palloc(pool, LONGEST + 1);
    memset(long_text, 'x', LONGEST);
    long_text[LONGEST] = '\0';
    for (int more = 0; more < 2; more++) {
        const char *fields = SIGN, *sent = "\"1\":null";
        for (int i = 0; i < FITTING + more; i++) {
            fields = apr_pstrcat(pool, fields, "," TEXT(",\"maxLength\":4000"), NULL);
            sent = apr_psprintf(pool, "%s,\"%d\":\"%s\"", sent, i + 2, long_text);
        }
        const char *said = filled(taken(fields), apr_pstrcat(pool, "{", sent, "}", NULL));
        is_str(strstr(said, "All"), more ? "All values together must have at most 262144 bytes" : NULL, "%d values",
               FITTING + more);
    }
}

/* Returns the values of the fields that have one, as the events have them. */
static const char *entries_text(const sr_signer_t *signer)
{
    apr_array_header_t *documents = apr_array_make(pool, 1, sizeof(sr_document_state_t));
    APR_ARRAY_PUSH(documents, sr_document_state_t) = (sr_document_state_t){.uuid = "u", .name = "a.pdf"};
    json_t *list = sr_entries_json(&(sr_submission_t){.documents = documents}, signer);
    return list ? sr_json_text(sr_json_own(list, pool), pool) : NULL;
}

#define ALL                                                                                                            \
    SIGN "," TEXT(",\"multiline\":true") "," BOX("") "," FIELD("choice", AB) "," FIELD(                                \
        "date", ",\"size\":9") "," TEXT(",\"required\":false")
#define VALUE(value) "{\"document\":\"u\",\"field\":\"N\",\"value\":" value "}"

/* Writes the fields of a signer and reads them again, as the store does. */
static sr_signer_t *stored(const sr_signer_t *signer)
{
    sr_signer_t *read = apr_pcalloc(pool, sizeof *read);
    json_t *fields = parse(sr_json_text(sr_json_own(sr_signer_fields_json(signer), pool), pool));
    if (!ok(!sr_signer_fields_parse(read, fields, pool), "stored fields can be read")) abort();
    is_str(sr_json_text(sr_json_own(sr_signer_fields_json(read), pool), pool), sr_json_text(fields, pool),
           "and are the same");
    return read;
}

static void test_filled(void)
{
    sr_signer_t *signer = stored(taken(ALL));
    is_str(entries_text(signer), NULL, "there are no values before");
    is_str(filled(signer, "{\"2\":\"a\\r\\nb\\rc\",\"4\":\"B\"}"),
           "2 length: The value must not contain control characters", "a lone CR");
    is_str(filled(signer, "{\"2\":\"a\\r\\nb\",\"4\":\"B\",\"5\":\"1999-01-01\"}"), "", "all fields are filled in");
    is_str(entries_text(signer),
           "[" VALUE("\"a\\nb\"") "," VALUE("false") "," VALUE("\"B\"") "," VALUE("\"" DAY "\"") "]",
           "the values: lines end with LF, a box is not ticked, and the service enters the day");
    is_str(sr_entry_text(entry_of(signer, 4)), "22 November 2026", "the PDF shows the day in words");
    is_str(sr_entry_text(entry_of(signer, 1)), "a\nb", "a text is shown as it is");
    is_str(sr_entry_text(entry_of(signer, 2)), NULL, "a check box has no text");
    is_str(sr_entry_text(entry_of(signer, 5)), "", "an empty field shows nothing");
    is_str(entries_text(stored(signer)), entries_text(signer), "stored values are the same");
    ok(sr_entries_any(signer) && !sr_entries_any(taken(SIGN)), "whether there are such fields");
}

static const char members[] = ",\"value\":\"7\",\"readOnly\":true,\"required\":false,\"maxLength\":9,"
                              "\"multiline\":false,\"format\":\"integer\",\"size\":9.5,\"align\":\"center\"";

static void test_shown(void)
{
    const sr_signer_t *signer = taken(
        apr_pstrcat(pool, "{\"type\":\"text\",\"name\":\"N\"," PLACE, members, "}," FIELD("date", "") "," SIGN, NULL));
    json_t *fields = sr_json_own(sr_signer_fields_json(stored(signer)), pool), *value;
    json_t *sent = parse(apr_psprintf(pool, "{%s}", members + 1));
    const char *key;
    json_object_foreach (sent, key, value)
        ok(json_equal(json_object_get(json_array_get(fields, 0), key), value), "a field shows %s as it was sent", key);
    ok(json_is_null(json_object_get(json_array_get(fields, 1), "value")), "a field without a value has null");
    ok(!json_object_get(json_array_get(fields, 1), "readOnly"), "members that were not sent are not shown");
    ok(!json_object_get(json_array_get(fields, 2), "value"), "a signature has no value");
}

static void test_errors(void)
{
    static const char *const sent[] = {NULL, "{\"1\":\"\",\"2\":false}"};
    static const char *const messages[] = {"A field is not filled in correctly",
                                           "Some fields are not filled in correctly"};
    for (int i = 0; i < 2; i++) {
        sr_signer_t *signer = taken(i ? TEXT("") "," BOX(REQUIRED) "," SIGN : TEXT("") "," SIGN);
        apr_array_header_t *faults;
        sr_entries_fill(&faults, signer, sent[i] ? parse(sent[i]) : NULL, DAY, DAY, pool);
        const sr_error_t *error = sr_entries_error(faults, pool);
        is_str(error->message, messages[i], "the message for %d", i + 1);
        is_int(error->code, SR_EBADREQUEST, "the code");
        is_int((int)json_array_size(error->fields), i + 1, "each fault is listed");
        is_str(sr_json_text(json_array_get(error->fields, 0), pool),
               "{\"number\":1,\"code\":\"required\",\"message\":\"The field must be filled in\"}", "with its field");
    }
    ok(!sr_entries_error(apr_array_make(pool, 1, sizeof(sr_entry_fault_t)), pool), "without faults there is no error");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_defaults();
    test_members();
    test_refused();
    test_signer();
    test_remarks();
    test_pages();
    test_values();
    test_filling();
    test_size();
    test_filled();
    test_shown();
    test_errors();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
