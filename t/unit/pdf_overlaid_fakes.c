/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_overlaid_fakes.c: the client's treatment of a drawn preview. A document that has taken the helper over may answer
 * anything: the caller gets a PDF of limited size, a plain reason, or 400. This program is the fake helper as well. */
#include "fake_helper.h"

#include <fcntl.h>

static apr_pool_t *root;
static char script[] = "/tmp/sigreq-overlaid-XXXXXX";

#define LIMITS "refused: " SR_PDF_LIMITS_REASON

static const struct {
    const char *bytes, *answer; /* no answer: the length of `bytes` */
    const char *said;
    int notices;
} FAKES[] = {
    {"%PDF-1.7 anything", NULL, "17 bytes", 0},
    {"<html>", NULL, LIMITS, 2},
    {"%PDF", NULL, LIMITS, 2},
    {"%PDF-1.7", "{\"length\":0}", LIMITS, 2},
    {"%PDF-1.7", "{\"length\":-1}", LIMITS, 2},
    {"%PDF-1.7", "{\"length\":\"8\"}", LIMITS, 2},
    {"%PDF-1.7", "{\"length\":99999999}", LIMITS, 2}, /* more than a document of 100 bytes can become */
    {NULL, "{\"fault\":\"document\",\"reason\":\"it is odd\"}", "refused: it is odd", 0},
    {NULL, "{\"fault\":\"document\",\"reason\":\"caf\xc3\xa9\"}", LIMITS, 2},
    {NULL, "{\"fault\":\"document\",\"reason\":\"<b>\\u0007\"}", LIMITS, 2},
    {NULL, "{\"unavailable\":\"there are no fonts\"}", "error: there are no fonts", 0},
    {NULL, "{}", LIMITS, 2},
};

static void ask(int number, sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    const int document = open("/dev/null", O_RDONLY | O_CLOEXEC);
    json_t *what = sr_json_own(json_pack("{s:s}", "op", SR_PDF_OP_OVERLAY), pool);
    sr_pdf_overlaid_t overlaid;
    sr_error_t *error = sr_pdf_overlay(&overlaid, workers, document, 100, what, pool);
    close(document);
    const char *said = error             ? apr_pstrcat(pool, "error: ", error->cause, NULL)
                       : overlaid.reason ? apr_pstrcat(pool, "refused: ", overlaid.reason, NULL)
                                         : apr_psprintf(pool, "%d bytes", (int)overlaid.document->size);
    is_str(said, FAKES[number].said, "%s %s", FAKES[number].bytes ? FAKES[number].bytes : "no bytes",
           FAKES[number].answer ? FAKES[number].answer : "");
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
