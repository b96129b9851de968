/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_find_fakes.c: the client's treatment of a helper's list of places of texts. A document that has taken the helper
 * over may answer anything: the caller gets places on pages of the document, or none. This program is the fake helper
 * as well. */
#include "fake_helper.h"

#include <fcntl.h>

static apr_pool_t *root;
static char script[] = "/tmp/sigreq-find-XXXXXX";

#define MOST 2
#define RESULTS(flags, results) "{" flags ",\"texts\":[" results "]}"
#define FLAGS "\"hasText\":true,\"unreadable\":false"
#define FOUND(count, places) "{\"count\":" count ",\"places\":[" places "]}"
#define NOTHING FOUND("0", "")
#define PLACE "[0,1,2.5,3,4]"

/* Two texts are looked for in a document of two pages: one anywhere, one on page 1. */
static const struct {
    const char *bytes, *answer; /* no answer: the length of `bytes` */
    bool is_valid;
    int notices;
} FAKES[] = {
    {RESULTS(FLAGS, NOTHING "," NOTHING), NULL, true, 0},
    {RESULTS(FLAGS, FOUND("1", PLACE) "," FOUND("1", "[1,0,0,0,0]")), NULL, true, 0},
    {RESULTS(FLAGS, FOUND("9", PLACE "," PLACE) "," NOTHING), NULL, true, 0},
    {RESULTS(FLAGS, NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, NOTHING "," NOTHING "," NOTHING), NULL, false, 2},
    {RESULTS("\"hasText\":true", NOTHING "," NOTHING), NULL, false, 2},
    {RESULTS("\"hasText\":1,\"unreadable\":false", NOTHING "," NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, FOUND("1", "") "," NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, FOUND("0", PLACE) "," NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, FOUND("-1", "") "," NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, FOUND("99999999999", PLACE "," PLACE) "," NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, FOUND("3", PLACE "," PLACE "," PLACE) "," NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, FOUND("1", "[2,1,2,3,4]") "," NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, FOUND("1", "[-1,1,2,3,4]") "," NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, NOTHING "," FOUND("1", PLACE)), NULL, false, 2},
    {RESULTS(FLAGS, FOUND("1", "[0,1,2,3]") "," NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, FOUND("1", "[0,1,2,-3,4]") "," NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, FOUND("1", "[0,1e9,2,3,4]") "," NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, FOUND("1", "[0,\"1\",2,3,4]") "," NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, FOUND("1", "{}") "," NOTHING), NULL, false, 2},
    {RESULTS(FLAGS, "1," NOTHING), NULL, false, 2},
    {"[]", NULL, false, 2},
    {"nothing", NULL, false, 2},
    {"x", "{\"length\":-1}", false, 2},
    {NULL, "{\"refused\":\"it is odd\"}", false, 0},
    {NULL, "{\"refused\":\"caf\xc3\xa9\"}", false, 2},
    {NULL, "{}", false, 2},
};

static void ask(int number, sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    const char *bytes = FAKES[number].bytes, *answer = FAKES[number].answer;
    const int document = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const json_t *texts = sr_json_own(json_pack("[{s:s},{s:s,s:i}]", "text", "a", "text", "b", "page", 1), pool);
    json_t *found;
    sr_error_t *error = sr_pdf_find(&found, workers, document, "", 2, texts, MOST, pool);
    close(document);
    ok(!error && (found != NULL) == FAKES[number].is_valid, "%.150s %s is %s", bytes ? bytes : "no bytes",
       answer ? answer : "", FAKES[number].is_valid ? "taken" : "refused");
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
