/* SPDX-License-Identifier: Apache-2.0 */
/* mail.c: an invitation as a message, or a code if the name begins with #. The input is
 * signer|email|sender|name of the submission|text template|html template, what people and administrators write.
 * Nothing of it adds a header, a line or a recipient. */
#include "jobs/call.h"
#include "fuzz.h"

#define PARTS 6
#define LONGEST_LINE 998 /* RFC 5322, 2.1.1 */

/* A value goes on in the next line only where that line begins with a space. */
static void check_header(const char *header)
{
    for (const char *line = header; line;) {
        const char *end = strstr(line, "\r\n");
        size_t length = end ? (size_t)(end - line) : strlen(line);
        fuzz_must(length <= LONGEST_LINE && !memchr(line, '\r', length) && !memchr(line, '\n', length));
        fuzz_must(line == header ? strchr(header, ':') != NULL : *line == ' ');
        for (size_t i = 0; i < length; i++) fuzz_must(line[i] >= ' ' && line[i] < 0x7f);
        line = end ? end + 2 : NULL;
    }
}

static int count(const struct curl_slist *list, const char *name)
{
    int found = 0;
    for (; list; list = list->next) found += !strncasecmp(list->data, name, strlen(name));
    return found;
}

static void check(const sr_call_t *call)
{
    static const char *const ONCE[] = {"Date:", "From:", "To:", "Subject:", "Message-ID:", "Auto-Submitted:"};
    for (const struct curl_slist *header = call->mail_headers; header; header = header->next)
        check_header(header->data);
    for (size_t i = 0; i < sizeof ONCE / sizeof *ONCE; i++) fuzz_must(count(call->mail_headers, ONCE[i]) == 1);
    fuzz_must(count(call->mail_headers, "Reply-To:") <= 1);
    fuzz_must(count(call->mail_headers, "Bcc") + count(call->mail_headers, "Cc") == 0);
    fuzz_must(call->recipients && !call->recipients->next && !strpbrk(call->recipients->data, "\r\n <>,"));
}

static const json_t *body_of(char *const *parts, apr_pool_t *pool)
{
    static const char *const MEMBERS[] = {"signer", "email", "sender", "name"};
    json_t *body = sr_json_own(json_object(), pool);
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++)
        json_object_set_new(body, MEMBERS[i], sr_json_string_or_null(parts[i]));
    json_object_set_new(body, "address", sr_json_string_or_null(parts[1]));
    json_object_set_new(body, "organization", json_string("Example"));
    json_object_set_new(body, "replyTo", sr_json_string_or_null(*parts[0] ? parts[1] : NULL));
    json_object_set_new(body, "message", json_pack("{s:s,s:s}", "subject", parts[2], "text", parts[0]));
    if (*parts[3] == '#') json_object_set_new(body, "code", sr_json_string_or_null(parts[3]));
    else json_object_set_new(body, "link", json_string("https://example.org/sign/0"));
    return body;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sr_jobs_options_t OPTIONS = {.agent = "fuzz"};
    static char nothing[] = "";
    char *text = fuzz_text(data, size), *rest = text, *parts[PARTS];
    apr_pool_t *pool = fuzz_pool();
    sr_call_t *call;
    for (int i = 0; i < PARTS; i++) {
        parts[i] = rest ? strsep(&rest, "|") : nothing;
        if (!sr_text_is_utf8(parts[i], strlen(parts[i]))) parts[i] = nothing;
    }
    if (text && !sr_call_create(&call, &OPTIONS, pool)) {
        const sr_mail_t mail = {.url = "smtp://127.0.0.1:25",
                                .from_name = parts[2],
                                .from_address = "sign@example.org",
                                .names_requester = true,
                                .templates = {{{parts[4], parts[5]}, {parts[4], parts[5]}, {parts[4], parts[5]}}}};
        const char *fault;
        CURL *easy = sr_mail_begin(call, &mail, body_of(parts, pool), &fault, pool);
        fuzz_must(!easy == (fault != NULL));
        if (easy) check(call);
        sr_call_drop_mail(call);
    }
    apr_pool_destroy(pool);
    free(text);
    return 0;
}
