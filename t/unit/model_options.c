/* SPDX-License-Identifier: Apache-2.0 */
/* model_options.c: tests of src/model/options.c: the sender's words, the types of signatures and the rule of refusal in
 * a creation. */
#include "model/model.h"
#include "tap.h"

static apr_pool_t *pool;
static sr_options_t options;

static const char *fault_of(const sr_options_form_t *form)
{
    const sr_error_t *error = sr_options_read(&options, form, pool);
    return error ? error->message : NULL;
}

static sr_sent_t sent(const char *text)
{
    return (sr_sent_t){text, strlen(text)};
}

static const char *message_fault(const char *text)
{
    const sr_options_form_t form = {.message = sent(text)};
    return fault_of(&form);
}

static void test_nothing(void)
{
    const sr_options_form_t form = {.reply_to = "", .signature_types = ""};
    is_str(fault_of(&form), NULL, "empty parts are none");
    ok(!sr_options_json(&options, pool), "nothing is stored");
    ok(sr_options_allow(&options, "drawn"), "each type is allowed");
    ok(sr_options_parse(&options, NULL) && !options.text && options.refusal == SR_REFUSAL_ALLOWED, "none are read");
}

static void test_message(void)
{
    static const struct {
        const char *sent, *fault;
    } wrong[] = {
        {"[]", "message must be a JSON object"},
        {"null", "message must be a JSON object"},
        {"{}", "message: a text must be provided"},
        {"{\"subject\":\"x\"}", "message: a text must be provided"},
        {"{\"text\":null}", "message: a text must be provided"},
        {"{\"text\":7}", "message: text must be a text that is not blank"},
        {"{\"text\":\" \\r\\n\\u200b\\ufeff\\u202e\"}", "message: text must be a text that is not blank"},
        {"{\"text\":\"a\\u0007\"}", "message: text must not contain control characters"},
        {"{\"text\":\"a\\u2028b\"}", "message: text must not contain control characters"},
        {"{\"text\":\"a\",\"subject\":\"b\\r\\nBcc: c@x.org\"}", "message: subject must be one line"},
        {"{\"text\":\"a\",\"subject\":\"b\\u0085\"}", "message: subject must not contain control characters"},
        {"{\"text\":\"a\",\"subject\":\"\"}", "message: subject must be a text that is not blank"},
        {"{\"text\":\"a\",\"html\":\"b\"}", "message: unknown member html"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        is_str(message_fault(wrong[i].sent), wrong[i].fault, "%s is rejected", wrong[i].sent);
    for (int i = 0; i < 4; i++) {
        static const char *const broken[] = {"{", "{\"text\":\"a\\u0000b\"}", "{\"text\":\"\\ud800\"}",
                                             "{\"text\":\"a\",\"text\":\"b\"}"};
        const char *fault = message_fault(broken[i]);
        ok(fault && !strncmp(fault, "message must be a JSON object: ", 31), "%s is rejected", broken[i]);
    }
}

static void test_words(void)
{
    static const struct {
        const char *sent, *text;
    } cases[] = {
        {"a\\r\\nb\\rc\\nd", "a\nb\nc\nd"},
        {"\\ufeff a\\tb \\n", "a b"},
        {"e\\u0301", "\xc3\xa9"},
        {"a\\u202eb\\u2066c\\u200f", "abc"},
        {"<b>&amp;", "<b>&amp;"},
        {"\\ud83d\\udc69\\u200d\\ud83d\\udcbb", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        is_str(message_fault(apr_pstrcat(pool, "{\"text\":\"", cases[i].sent, "\"}", NULL)), NULL, "%s is accepted",
               cases[i].sent);
        is_str(options.text, cases[i].text, "the text of %s", cases[i].sent);
    }
}

static void test_lengths(void)
{
    char *most = apr_pcalloc(pool, 4001);
    for (int i = 0; i < 2000; i++) memcpy(most + (size_t)2 * (size_t)i, "\xc3\xa9", 2);
    is_str(message_fault(apr_pstrcat(pool, "{\"text\":\"", most, "\"}", NULL)), NULL, "2000 characters");
    is_str(message_fault(apr_pstrcat(pool, "{\"text\":\"", most, "a\"}", NULL)),
           "message: text must have at most 2000 characters", "2001 characters");
    most[400] = '\0';
    is_str(message_fault(apr_pstrcat(pool, "{\"text\":\"a\",\"subject\":\"", most, "a\"}", NULL)),
           "message: subject must have at most 200 characters", "a subject of 201 characters");
}

static void test_reply_to(void)
{
    static const char *const wrong[] = {"a",
                                        "a@x",
                                        "a@x.org\r\nBcc: b@x.org",
                                        "Ann <a@x.org>",
                                        "a b@x.org",
                                        "a@x.org,b@x.org",
                                        "\xff@x.org",
                                        "\xe2\x80\xae@x.org"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const sr_options_form_t form = {.reply_to = wrong[i]};
        is_str(fault_of(&form), "replyTo must be an email address", "replyTo %d is rejected", (int)i);
    }
    const sr_options_form_t form = {.reply_to = "legal+x@b\xc3\xbc\x63her.example"};
    is_str(fault_of(&form), NULL, "an address with an international domain");
    is_str(options.reply_to, form.reply_to, "it is stored as it was sent");
}

static void test_types(void)
{
    static const char *const wrong[] = {"type", "typed,typed", "typed;drawn", ",", "Typed", "typed,x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const sr_options_form_t form = {.signature_types = wrong[i]};
        ok(fault_of(&form) != NULL, "signatureTypes %s is rejected", wrong[i]);
    }
    const sr_options_form_t form = {.signature_types = "uploaded, drawn"};
    is_str(fault_of(&form), NULL, "two types");
    is_str(sr_json_text(sr_options_json(&options, pool), pool), "{\"signatureTypes\":[\"uploaded\",\"drawn\"]}",
           "they are stored in their order");
    ok(sr_options_allow(&options, "drawn") && !sr_options_allow(&options, "typed"), "only these are allowed");
    ok(!sr_options_check_type(&options, "signature", "drawn", pool), "a drawn signature");
    is_str(sr_options_check_type(&options, "initials", "typed", pool)->message,
           "The initials must be uploaded or drawn", "typed initials");
}

static void test_refusal(void)
{
    static const struct {
        const char *sent, *fault, *stored;
    } cases[] = {
        {"{}", NULL, NULL},
        {"{\"allowed\":true}", NULL, NULL},
        {"{\"reason\":\"optional\"}", NULL, NULL},
        {"{\"allowed\":false}", NULL, "{\"refusal\":{\"allowed\":false}}"},
        {"{\"allowed\":true,\"reason\":\"required\"}", NULL, "{\"refusal\":{\"reason\":\"required\"}}"},
        {"{\"allowed\":\"false\"}", "refusal: allowed must be true or false", NULL},
        {"{\"reason\":true}", "refusal: reason must be required or optional", NULL},
        {"{\"allowed\":false,\"reason\":\"required\"}", "refusal: there is no reason if allowed is false", NULL},
        {"false", "refusal must be a JSON object", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sr_options_form_t form = {.refusal = sent(cases[i].sent)};
        is_str(fault_of(&form), cases[i].fault, "the refusal %s", cases[i].sent);
        if (cases[i].fault) continue;
        const sr_refusal_rule_t rule = options.refusal;
        const json_t *stored = sr_options_json(&options, pool);
        is_str(stored ? sr_json_text(stored, pool) : NULL, cases[i].stored, "what is stored of it");
        ok(sr_options_parse(&options, stored) && options.refusal == rule, "what is read of it");
    }
    ok(!sr_options_parse(&options, sr_json_own(json_array(), pool)), "a spoilt object");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_nothing();
    test_message();
    test_words();
    test_lengths();
    test_reply_to();
    test_types();
    test_refusal();
    apr_pool_destroy(pool);
    return done();
}
