/* SPDX-License-Identifier: Apache-2.0 */
/* model_warnings.c: tests of src/report/warnings.c. */
#include "model/model.h"
#include "tap.h"

static apr_pool_t *pool;

static json_t *json(const char *text)
{
    json_t *value = NULL;
    if (sr_json_parse_tolerant(&value, text, strlen(text), 100, pool)) abort();
    return value;
}

int main(void)
{
    static const char *const refused[] = {
        "{}", "\"javascript\"", "[1]", "[\"perhaps\"]", "[\"javascript\",null]", "[\"JavaScript\"]"};
    const unsigned int two = SR_WARNING_BIT(SR_WARNING_JAVASCRIPT) | SR_WARNING_BIT(SR_WARNING_FILES);
    unsigned int set = 7;
    apr_size_t i;
    int row;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    for (i = 0; i < sizeof refused / sizeof refused[0]; i++)
        ok(!sr_warnings_parse(&set, json(refused[i])), "refused: %s", refused[i]);
    ok(sr_warnings_parse(&set, NULL) && set == 0, "no member is the empty set");
    ok(sr_warnings_parse(&set, json("[\"embedded-files\",\"javascript\"]")) && set == two, "names are parsed");
    is_str(sr_json_text(sr_json_own(sr_warnings_names(set), pool), pool), "[\"javascript\",\"embedded-files\"]",
           "names are written in the order of the table");
    is_int(json_array_size(sr_json_own(sr_warnings_sentences(set), pool)), 2, "warnings are written as sentences");
    for (row = 0; row < SR_WARNING_COUNT; row++) {
        const sr_warning_row_t *warning = sr_warning((sr_warning_t)row);
        const char *sentence = warning->sentence;
        is_str(sr_warning_named(sentence), warning->name, "%s: found by its sentence", warning->name);
        ok(*sentence >= 'A' && *sentence <= 'Z' && sentence[strlen(sentence) - 1] != '.', "%s", sentence);
    }
    ok(!sr_warning_named("It is odd"), "a sentence of another version has no name");
    ok(!sr_warnings_refusal(0, pool), "a document without warnings is not refused");
    is_str(sr_warnings_refusal(two, pool), "it contains JavaScript, which can change what a PDF reader shows",
           "the first active warning is the reason of a refusal");
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
