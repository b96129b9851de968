/* SPDX-License-Identifier: Apache-2.0 */
/* model_roles.c: tests of src/model/roles.c: the fields of signers in a creation from a template. */
#include "model/model.h"
#include "tap.h"

#define ANN "\"firstname\":\"Ann\",\"lastname\":\"Lee\""
#define PLACE                                                                                                          \
    "\"document\":\"a.pdf\",\"page\":1,\"percent\":{\"x\":1},\"rect\":[1,2,3,4],"                                      \
    "\"area\":{\"x\":1,\"y\":2.5,\"w\":3,\"h\":4,\"page\":1,\"origin\":\"top-left\"}"
#define SEAL "{\"name\":\"s\",\"type\":\"signature\"," PLACE ",\"caption\":\"\"}"
#define TEXT(name, more) "{\"name\":\"" name "\",\"type\":\"text\"," PLACE more "}"
#define DATE "{\"name\":\"t\",\"type\":\"date\"," PLACE ",\"value\":null}"
#define PERCENT "\"percent\":{\"x\":10,\"y\":20,\"w\":30,\"h\":5}"
#define ANCHOR                                                                                                         \
    "{\"name\":\"s\",\"type\":\"signature\",\"document\":\"a.pdf\",\"page\":2," PERCENT                                \
    ",\"area\":{\"anchor\":{\"text\":\"Sign\",\"occurrence\":\"all\"}}}"
#define TEMPLATE                                                                                                       \
    "[[" SEAL "," TEXT("t", ",\"value\":\"old\"") "," TEXT("t", ",\"value\":null") "," DATE "],[" ANCHOR "]]"
#define BOB ",{\"firstname\":\"Bob\",\"lastname\":\"Day\"}]"

static apr_pool_t *pool;

static const char *parse(apr_array_header_t **signers, sr_remarks_t *remarks, const char *text)
{
    json_t *roles;
    if (sr_json_read(&roles, TEMPLATE, pool)) return "the template";
    const sr_signers_rules_t rules = {.max_signers = 5,
                                      .max_fields = 9,
                                      .template = "T",
                                      .roles = roles,
                                      .caption = "name",
                                      .default_origin = SR_ORIGIN_USER_SPACE,
                                      .remarks = remarks};
    const sr_error_t *error = sr_signers_parse(signers, text, strlen(text), &rules, pool);
    return error ? error->message : NULL;
}

static const char *value_of(const apr_array_header_t *signers, int index)
{
    const sr_field_t *field = &APR_ARRAY_IDX(APR_ARRAY_IDX(signers, 0, sr_signer_t).fields, index, sr_field_t);
    return field->entry->value ? json_string_value(field->entry->value) : NULL;
}

static void accepted(void)
{
    sr_remarks_t *remarks = sr_remarks_make(pool);
    apr_array_header_t *signers;
    is_str(parse(&signers, remarks, "[{" ANN "}" BOB), NULL, "without values");
    ok(!sr_remarks_json(remarks), "nothing to remark");
    is_int(APR_ARRAY_IDX(signers, 0, sr_signer_t).fields->nelts, 4, "the first signer has the first role");
    is_int(APR_ARRAY_IDX(signers, 1, sr_signer_t).fields->nelts, 1, "the second one has the second role");
    const sr_field_t *seal = &APR_ARRAY_IDX(APR_ARRAY_IDX(signers, 0, sr_signer_t).fields, 0, sr_field_t);
    is_str(seal->caption, "", "an empty caption stays");
    ok(seal->area.y == 2.5 && seal->area.page == 1 && seal->area.origin == SR_ORIGIN_TOP_LEFT, "the area as sent");
    seal = &APR_ARRAY_IDX(APR_ARRAY_IDX(signers, 1, sr_signer_t).fields, 0, sr_field_t);
    ok(seal->area.percent && seal->area.y == 20 && seal->area.page == 2, "an anchor: the place that was found");
    is_str(value_of(signers, 1), "old", "the value of the template");
    is_str(value_of(signers, 2), NULL, "no value");
    is_str(parse(&signers, NULL, "[{" ANN ",\"values\":{\"t\":\"new\"}}" BOB), NULL, "a value");
    is_str(value_of(signers, 1), "new", "replaces that of the template");
    is_str(value_of(signers, 2), "new", "is for all fields of the name");
    is_str(value_of(signers, 3), NULL, "but not for a date");
    is_str(parse(&signers, NULL, "[{" ANN ",\"values\":{\"t\":null},\"fields\":null}" BOB), NULL, "null");
    is_str(value_of(signers, 1), NULL, "removes the value");
    is_str(parse(&signers, NULL, "[{" ANN "}" BOB), NULL, "again");
    is_str(value_of(signers, 1), "old", "the template has not changed");
}

int main(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[{" ANN "}]", "Template T has 2 signers, and 1 are provided"},
        {"[]", "At least 1 signer must be provided"},
        {"[{" ANN ",\"fields\":[]}" BOB, "Signer 1: fields cannot be sent with a template"},
        {"[{\"firstname\":\"\",\"fields\":[]}" BOB, "Signer 1: A firstname must be provided"},
        {"[{" ANN ",\"values\":[]}" BOB, "Signer 1: values must be an object"},
        {"[{" ANN ",\"values\":{\"x\":\"y\"}}" BOB, "Signer 1: values: the template has no field x of this signer"},
        {"[{" ANN ",\"values\":{\"s\":\"y\"}}" BOB,
         "Signer 1: values: field s is of type signature and takes no value"},
        {"[{" ANN ",\"email\":\"a@x.org\",\"values\":{\"t\":5}}" BOB,
         "Signer 1 (a@x.org), Field 2: value must be a string, true or false"},
    };
    apr_array_header_t *signers;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    accepted();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_str(parse(&signers, NULL, cases[i].text), cases[i].message, "%.100s", cases[i].text);
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
