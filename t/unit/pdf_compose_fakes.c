/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_compose_fakes.c: what the client makes of a helper's word about a document that it has composed. Texts come from
 * anybody, and one that has taken the helper over may answer anything: nothing gets through but a file that begins as a
 * PDF does, with a place on one of its pages. This program is the fake helper as well: a script runs it as one. */
#include "fake_helper.h"

static apr_pool_t *root;
static char script[] = "/tmp/sigreq-compose-XXXXXX";

#define LIMITS "it could not be read within the limits"
#define DONE(pages, page, rect) "{\"length\":9,\"pages\":" pages ",\"field\":{\"page\":" page ",\"rect\":[" rect "]}}"

typedef struct fake_t {
    const char *bytes, *response, *reason; /* NULL: a document */
    int code;                              /* of an error, or -1 */
    int notices;
} fake_t;

static const fake_t FAKES[] = {
    {"%PDF-1.5\n", DONE("2", "1", "1,1,2.5,2"), NULL, -1, 0},
    {"%PDF_1.5\n", DONE("2", "1", "1,1,2,2"), LIMITS, -1, 2},
    {"%PDF-1.5\n", "{\"refused\":\"it is odd\"}", "it is odd", -1, 0},
    {"%PDF-1.5\n", "{\"refused\":\"caf\xc3\xa9\"}", LIMITS, -1, 2},
    {"%PDF-1.5\n", "{\"refused\":\"\"}", LIMITS, -1, 2},
    {"%PDF-1.5\n", "{\"unavailable\":\"no fonts\"}", NULL, SR_EUNAVAILABLE, 0},
    {"%PDF-1.5\n", "{}", LIMITS, -1, 2},
    {"%PDF-1.5\n", "[]", LIMITS, -1, 2},
    {"%PDF-1.5\n", "{\"length\":9}", LIMITS, -1, 2},
    {"%PDF-1.5\n", "{\"length\":9,\"pages\":1}", LIMITS, -1, 2},
    {"%PDF-1.5\n", "{\"length\":4,\"pages\":1,\"field\":{\"page\":0,\"rect\":[1,1,2,2]}}", LIMITS, -1, 2},
    {"%PDF-1.5\n", "{\"length\":999999999999,\"pages\":1,\"field\":{\"page\":0,\"rect\":[1,1,2,2]}}", LIMITS, -1, 2},
    {"%PDF-1.5\n", DONE("0", "0", "1,1,2,2"), LIMITS, -1, 2},
    {"%PDF-1.5\n", DONE("99999", "0", "1,1,2,2"), LIMITS, -1, 2},
    {"%PDF-1.5\n", DONE("1", "1", "1,1,2,2"), LIMITS, -1, 2},
    {"%PDF-1.5\n", DONE("1", "-1", "1,1,2,2"), LIMITS, -1, 2},
    {"%PDF-1.5\n", DONE("1", "\"0\"", "1,1,2,2"), LIMITS, -1, 2},
    {"%PDF-1.5\n", DONE("1", "0", "1,1,1,2"), LIMITS, -1, 2},
    {"%PDF-1.5\n", DONE("1", "0", "-1,1,1,2"), LIMITS, -1, 2},
    {"%PDF-1.5\n", DONE("1", "0", "1,1,2,1e9"), LIMITS, -1, 2},
    {"%PDF-1.5\n", DONE("1", "0", "1,1,2"), LIMITS, -1, 2},
    {"%PDF-1.5\n", DONE("1", "0", "1,1,2,true"), LIMITS, -1, 2},
};

static void ask(int number, sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    const fake_t *fake = &FAKES[number];
    sr_pdf_composed_t composed = {0};
    sr_error_t *error = sr_pdf_compose(&composed, workers, sr_json_own(json_object(), pool), pool);
    is_int(error ? (int)error->code : -1, fake->code, "%s", fake->response);
    is_str(composed.reason, fake->reason, "its reason");
    ok((composed.document != NULL) == (!fake->reason && fake->code < 0), "and whether there is a document");
    if (!composed.document) return;
    is_int(composed.document->size, 9, "its size");
    is_int(composed.field.page, 1, "the field's page");
    is_num(composed.field.rect[2], 2.5, "and place");
}

int main(int argc, char **argv)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    if (argc == 3) return fake_serve(FAKES[atoi(argv[1])].bytes, FAKES[atoi(argv[1])].response, root);
    for (int i = 0; i < (int)(sizeof FAKES / sizeof *FAKES); i++) fake_try(script, i, FAKES[i].notices, ask, root);
    ok(!unlink(script), "the script is gone");
    apr_pool_destroy(root);
    return done();
}
