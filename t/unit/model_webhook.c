/* SPDX-License-Identifier: Apache-2.0 */
/* model_webhook.c: tests of src/model/webhook.c: every member of a webhook's body, and its links, for submissions
 * and signers. */
#include "model/model.h"
#include "tap.h"

#include <apr_general.h>

static apr_pool_t *pool;

#define SIGNER                                                                                                         \
    "{\"firstname\":\"Bob\",\"uuid\":\"B\",\"signatureLink\":\"\x01/sign/B\",\"refusalReason\":\"no \\\"x\\\"\","      \
    "\"signedDocuments\":[{\"url\":\"\x01/d\"}]}"
#define SUBMISSION                                                                                                     \
    "{\"name\":\"Lease \\u0001\",\"uuid\":\"S\",\"createdAt\":\"2026-01-01T00:00:00.000Z\",\"submitters\":["           \
    "{\"firstname\":\"Ann\",\"uuid\":\"A\",\"signatureLink\":\"\x01/sign/A\",\"refusalReason\":null}," SIGNER          \
    "],\"certificate\":null}"

static json_t *body_of(const sr_webhook_t *webhook, const char **id)
{
    json_t *body = NULL;
    const json_t *row =
        sr_json_own(sr_webhook_row(webhook, webhook->signer ? SIGNER : SUBMISSION, "https://x.org/e", pool), pool);
    sr_error_t *error;
    *id = sr_json_string(row, "event_id");
    ok(*id && sr_uuid_valid(*id), "an event id");
    is_str(sr_json_string(row, "kind"), webhook->kind, "the row has the kind of the event");
    const char *text = sr_json_string(row, "body");
    ok(!strchr(text, SR_BASE_URL_PLACEHOLDER), "no base URL placeholder is left");
    error = sr_json_parse(&body, text, strlen(text), pool);
    ok(!error, "the body is valid JSON without duplicate members %s", error ? error->message : "");
    is_str(sr_json_string(body, "eventId"), *id, "the body has the id of the event");
    is_str(sr_json_string(body, "event"), webhook->kind, "the body has the kind of the event");
    is_str(sr_json_string(body, "submissionId"), "S", "the body has the id of the submission");
    is_str(sr_json_string(body, "environment"), webhook->environment == SR_TEST ? "test" : "production",
           "the body has the environment");
    ok(!json_object_get(body, "webhookUrl") && !json_object_get(body, "userTokenId"),
       "members that belong to the call are missing");
    return body;
}

static void of_submission(const char *kind)
{
    const sr_webhook_t webhook = {
        .kind = kind, .at = APR_TIME_C(1795198164123000), .submission = "S", .environment = SR_PRODUCTION};
    const char *id, *id_again;
    json_t *body = body_of(&webhook, &id);
    const json_t *ann = json_array_get(json_object_get(body, "submitters"), 0);
    body_of(&webhook, &id_again);
    ok(strcmp(id, id_again) != 0, "each event has its own id");
    is_str(sr_json_string(body, "uuid"), "S", "the body has the members of the submission");
    is_str(sr_json_string(body, "name"), "Lease \x01", "a name that contains the placeholder's byte is kept");
    is_str(sr_json_string(body, "createdAt"), "2026-01-01T00:00:00.000Z", "createdAt is that of the submission");
    is_str(sr_json_string(ann, "signatureLink"), "https://x.org/e/sign/A", "links have the base URL");
    ok(json_is_null(json_object_get(body, "certificate")), "the last member of the submission is there");
}

static void of_signer(const char *kind)
{
    const json_t *metadata = sr_json_own(json_pack("{s:i}", "customer", 17), pool);
    const sr_webhook_t webhook = {.kind = kind,
                                  .at = APR_TIME_C(1795198164123000),
                                  .submission = "S",
                                  .signer = "B",
                                  .environment = SR_TEST,
                                  .external_id = "4711",
                                  .metadata = metadata};
    const char *id;
    json_t *body = body_of(&webhook, &id);
    is_str(sr_json_string(body, "uuid"), "B", "the body has the members of the signer");
    is_str(sr_json_string(body, "refusalReason"), "no \"x\"", "the body has the reason");
    is_str(sr_json_string(body, "createdAt"), "2026-11-20T18:09:24.123Z", "createdAt is the time of the event");
    is_str(sr_json_string(body, "signatureLink"), "https://x.org/e/sign/B", "the signer's link has the base URL");
    is_str(sr_json_string(json_array_get(json_object_get(body, "signedDocuments"), 0), "url"), "https://x.org/e/d",
           "links of signed documents have the base URL");
    ok(!json_object_get(body, "submitters"), "other signers are not in the body");
    is_str(sr_json_string(body, "externalId"), "4711", "the body has the external id of the submission");
    ok(json_equal(json_object_get(body, "metadata"), metadata), "the body has the metadata of the submission");
}

static void test_delivery(void)
{
    const bool failed = false;
    const apr_int64_t status = 503;
    sr_delivery_t delivery = {.uuid = "u",
                              .event_id = "e",
                              .event = "signed",
                              .submission = "s",
                              .token = "t",
                              .url = "http://x",
                              .created_at = 1000};
    is_str(sr_json_text(sr_json_own(sr_delivery_representation(&delivery), pool), pool),
           "{\"uuid\":\"u\",\"eventId\":\"e\",\"event\":\"signed\",\"submissionId\":\"s\",\"userTokenId\":\"t\","
           "\"url\":\"http://x\",\"success\":null,\"statusCode\":null,\"error\":null,"
           "\"createdAt\":\"1970-01-01T00:00:00.001Z\",\"endedAt\":null}",
           "a delivery that is not over");
    delivery.success = &failed;
    delivery.status = &status;
    delivery.error = "no";
    delivery.ended_at = 2000;
    const json_t *over = sr_json_own(sr_delivery_representation(&delivery), pool);
    ok(json_is_false(json_object_get(over, "success")), "a failed delivery has success false");
    is_int(json_integer_value(json_object_get(over, "statusCode")), 503, "a failed delivery has its status");
    is_str(sr_json_string(over, "error"), "no", "why");
    is_str(sr_json_string(over, "endedAt"), "1970-01-01T00:00:00.002Z", "when");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    of_submission("sent");
    of_submission("completed");
    of_signer("signed");
    of_signer("refused");
    test_delivery();
    apr_pool_destroy(pool);
    return done();
}
