/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_form_fakes.c: the client's treatment of a helper's list of form fields. A document that has taken the helper
 * over may answer anything: the caller gets fields in the form that is described, or none. This program is the fake
 * helper as well. */
#include "fake_helper.h"

#include <fcntl.h>

static apr_pool_t *root;
static char script[] = "/tmp/sigreq-inspect-XXXXXX";

#define PLACE "{\"page\":0,\"rect\":[1,2,3,4]}"
#define FLAGS "\"required\":true,\"readOnly\":false"
#define FIELD(type, places, more) "[{\"field\":\"a\",\"type\":\"" type "\",\"places\":[" places "]," FLAGS more "}]"

static const struct {
    const char *bytes, *answer; /* no answer: the length of `bytes` */
    int fields;                 /* -1: there is no list */
    int notices;
} FAKES[] = {
    {"[]", NULL, 0, 0},
    {FIELD("text", PLACE, ",\"multiline\":true,\"maxLength\":5,\"value\":\"x\""), NULL, 1, 0},
    {FIELD("choice", PLACE "," PLACE, ",\"options\":[\"x\"],\"multiple\":true,\"value\":\"x\""), NULL, 1, 0},
    {FIELD("checkbox", PLACE, ",\"value\":true"), NULL, 1, 0},
    {FIELD("signature", PLACE, ",\"signed\":true"), NULL, 1, 0},
    {FIELD("button", PLACE, ""), NULL, -1, 2},
    {FIELD("text", "", ""), NULL, -1, 2},
    {FIELD("text", PLACE, ",\"x\":1"), NULL, -1, 2},
    {FIELD("text", PLACE, ",\"value\":1"), NULL, -1, 2},
    {FIELD("text", PLACE, ",\"value\":null"), NULL, -1, 2},
    {FIELD("text", PLACE, ",\"maxLength\":0"), NULL, -1, 2},
    {FIELD("text", PLACE, ",\"multiline\":1"), NULL, -1, 2},
    {FIELD("choice", PLACE, ",\"options\":[1]"), NULL, -1, 2},
    {FIELD("choice", PLACE, ",\"options\":{}"), NULL, -1, 2},
    {FIELD("text", "{\"page\":1,\"rect\":[1,2,3,4]}", ""), NULL, -1, 2},
    {FIELD("text", "{\"page\":-1,\"rect\":[1,2,3,4]}", ""), NULL, -1, 2},
    {FIELD("text", "{\"page\":0,\"rect\":[1,2,3]}", ""), NULL, -1, 2},
    {FIELD("text", "{\"page\":0,\"rect\":[1,2,3,1e300]}", ""), NULL, -1, 2},
    {FIELD("text", "{\"page\":0,\"rect\":[1,2,3,4],\"option\":1}", ""), NULL, -1, 2},
    {FIELD("text", "{\"page\":0,\"rect\":[1,2,3,4],\"x\":1}", ""), NULL, -1, 2},
    {"[{\"field\":\"a\",\"type\":\"text\",\"places\":[" PLACE "],\"required\":true}]", NULL, -1, 2},
    {"[{\"type\":\"text\",\"places\":[" PLACE "]," FLAGS "}]", NULL, -1, 2},
    {"[1]", NULL, -1, 2},
    {"{}", NULL, -1, 2},
    {"nothing", NULL, -1, 2},
    {"x", "{\"length\":-1}", -1, 2},
    {"x", "{\"length\":99999999999}", -1, 2},
    {NULL, "{\"refused\":\"it is odd\"}", -1, 0},
    {NULL, "{\"refused\":\"caf\xc3\xa9\"}", -1, 2},
    {NULL, "{}", -1, 2},
};

static void ask(int number, sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    const char *bytes = FAKES[number].bytes, *answer = FAKES[number].answer;
    const int document = open("/dev/null", O_RDONLY | O_CLOEXEC);
    json_t *fields;
    sr_error_t *error = sr_pdf_inspect(&fields, workers, document, 1, pool);
    close(document);
    const int count = error ? -2 : fields ? (int)json_array_size(fields) : -1;
    is_int(count, FAKES[number].fields, "the fields of %.150s %s", bytes ? bytes : "no bytes", answer ? answer : "");
}

int main(int argc, char **argv)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    if (argc == 3) return fake_serve_json(FAKES[atoi(argv[1])].bytes, FAKES[atoi(argv[1])].answer, root);
    for (int i = 0; i < (int)(sizeof FAKES / sizeof *FAKES); i++) fake_try(script, i, FAKES[i].notices, ask, root);
    ok(!unlink(script), "the script is gone");
    apr_pool_destroy(root);
    return done();
}
