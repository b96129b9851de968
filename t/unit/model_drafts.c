/* SPDX-License-Identifier: Apache-2.0 */
/* model_drafts.c: tests of drafts in src/model: the fields that are placed in them, and their representation. */
#include "model/model.h"
#include "tap.h"

#include <apr_general.h>

#define AREA "\"area\":{\"x\":1,\"y\":2.5,\"w\":3,\"h\":4,\"page\":0,\"unit\":\"percent\"}"
#define FIELD(type, more) "{\"type\":\"" type "\",\"name\":\"n\",\"document\":\"a.pdf\"," AREA more "}"
#define SHOWN ",\"page\":4,\"percent\":{\"x\":9,\"y\":8,\"w\":7,\"h\":6},\"rect\":[1,2,3,4]"
#define ANCHOR                                                                                                         \
    "{\"type\":\"signature\",\"name\":\"n\",\"document\":\"a.pdf\",\"area\":{\"anchor\":{\"text\":\"x\","              \
    "\"occurrence\":\"all\"}}"

static apr_pool_t *pool;

/* Two signers without fields, of whom the second one has no address. */
static apr_array_header_t *people(void)
{
    apr_array_header_t *signers = apr_array_make(pool, 2, sizeof(sr_signer_t));
    const sr_signer_t ann = {.uuid = "1", .firstname = "Ann", .lastname = "Lee", .email = "ann@x.org", .order = 1};
    for (int i = 0; i < 2; i++) {
        sr_signer_t *signer = apr_array_push(signers);
        *signer = ann;
        signer->fields = apr_array_make(pool, 1, sizeof(sr_field_t));
    }
    APR_ARRAY_IDX(signers, 1, sr_signer_t).email = NULL;
    return signers;
}

static const char *place(apr_array_header_t *signers, const char *text, bool draft, sr_remarks_t *remarks)
{
    const sr_signers_rules_t rules = {.max_signers = 5, .max_fields = 3, .draft = draft, .remarks = remarks};
    const sr_error_t *error = sr_signers_place(signers, text, text ? strlen(text) : 0, &rules, pool);
    return error ? error->message : NULL;
}

static const sr_field_t *field_of(const apr_array_header_t *signers, int signer, int index)
{
    return &APR_ARRAY_IDX(APR_ARRAY_IDX(signers, signer, sr_signer_t).fields, index, sr_field_t);
}

static void refused(void)
{
    static const char *const cases[][2] = {
        {"x", "Signers must be a JSON array: invalid token near 'x' at line 1 column 1"},
        {"{}", "Signers must be a JSON array: an object was sent"},
        {"[]", "The draft has 2 signers, and 0 are provided"},
        {"[{\"fields\":[]},{\"fields\":[]},{\"fields\":[]}]", "The draft has 2 signers, and 3 are provided"},
        {"[7,{\"fields\":[]}]", "Signer 1 (ann@x.org): Must be an object"},
        {"[{\"fields\":[]},{}]", "Signer 2: fields must be an array"},
        {"[{\"fields\":[]},{\"fields\":null}]", "Signer 2: fields must be an array"},
        {"[{\"fields\":[7]},{\"fields\":[]}]", "Signer 1 (ann@x.org), Field 1: Must be an object"},
        {"[{\"fields\":[]},{\"fields\":[[]]}]", "Signer 2, Field 1: Must be an object"},
        {"[{\"fields\":[{}]},{\"fields\":[]}]", "Signer 1 (ann@x.org), Field 1: A type must be provided"},
        {"[{\"fields\":[" FIELD("text", ",\"size\":1") "]},{\"fields\":[]}]",
         "Signer 1 (ann@x.org), Field 1: size must be a number from 6 to 72"},
        {"[{\"fields\":[" FIELD("text", "") "," FIELD("text", "") "]},{\"fields\":[" FIELD("text", "") "," FIELD(
             "text", "") "]}]",
         "At most 3 fields can be provided"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_str(place(people(), cases[i][0], true, NULL), cases[i][1], "%s", cases[i][0]);
}

static void accepted(void)
{
    sr_remarks_t *remarks = sr_remarks_make(pool);
    apr_array_header_t *signers = people();
    is_str(place(signers, "[{\"fields\":[]},{\"fields\":[]}]", true, remarks), NULL, "nobody has fields");
    is_str(place(signers, NULL, true, NULL), NULL, "which is no fault of a draft");
    is_str(place(signers, NULL, false, NULL), "Signer 1 (ann@x.org): Must have at least 1 field",
           "but when it is sent");
    const char *text =
        "[{\"fields\":[" FIELD("text", SHOWN) "," ANCHOR SHOWN
                                              "}]},{\"fields\":[" FIELD("date", SHOWN ",\"value\":null") "]}]";
    is_str(place(signers, text, true, remarks), NULL, "fields as they are shown");
    ok(!sr_remarks_json(remarks), "without remarks");
    is_str(APR_ARRAY_IDX(signers, 0, sr_signer_t).uuid, "1", "signers stay");
    ok(field_of(signers, 0, 0)->area.y == 2.5, "the area is that of the field, not where it was shown");
    const sr_field_t *found = field_of(signers, 0, 1);
    ok(!found->anchor && found->area.percent && found->area.y == 8 && found->area.page == 4,
       "a field at a text stays where it was found");
    is_str(place(signers, "[{\"fields\":[" ANCHOR "}]},{\"fields\":[],\"email\":1}]", true, remarks), NULL,
           "an anchor");
    ok(field_of(signers, 0, 0)->anchor != NULL, "that was not shown is looked for");
    json_t *list = sr_remarks_json(remarks);
    is_str(json_string_value(json_array_get(list, 0)), "Signer 2: unknown member email", "a remark");
    json_decref(list);
}

static void shown(void)
{
    sr_submission_t submission = {.uuid = "u",
                                  .name = "n",
                                  .template_uuid = "t",
                                  .state = SR_SUBMISSION_DRAFT,
                                  .draft_until = 5,
                                  .placement = "p",
                                  .placement_until = apr_time_from_sec(1),
                                  .documents = apr_array_make(pool, 1, sizeof(sr_document_state_t)),
                                  .signers = people()};
    const char *text = sr_submission_render(&submission, pool);
    ok(strstr(text, "\"status\":\"draft\"") && strstr(text, "\"signatureLink\":null"),
       "a draft has no links of signers");
    ok(strstr(text, "\"placementLink\":\"\x01/place/p\"")
           && strstr(text, "\"placementExpiresAt\":\"1970-01-01T00:00:01.000Z\""),
       "it has a link to place fields");
    submission.state = SR_SUBMISSION_OPEN;
    text = sr_submission_render(&submission, pool);
    ok(strstr(text, "\"status\":\"open\"") && strstr(text, "\"signatureLink\":\"\x01/sign/1\""), "after it was sent");
    ok(!strstr(text, "placement"), "the placement link is not shown");
    is_str(sr_representation_tag("h", 0, pool), apr_psprintf(pool, "h-%d", SR_REPRESENTATION_VERSION), "the tag");
    is_str(sr_representation_tag("h", 3, pool), apr_psprintf(pool, "h-%d-3", SR_REPRESENTATION_VERSION),
           "that of a draft that was saved");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    refused();
    accepted();
    shown();
    apr_pool_destroy(pool);
    return done();
}
