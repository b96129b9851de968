/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_drawing_fakes.c: the client's treatment of a helper's response about an uploaded signature. Images come from
 * anybody, and one that has taken the helper over may answer anything: a certificate without the drawing is all that
 * it can cause. This program is the fake helper as well. */
#include "fake_helper.h"

static apr_pool_t *root;
static char script[] = "/tmp/sigreq-drawing-XXXXXX";

#define MOST 256
#define HEAD "{\"width\":2,\"height\":1,\"type\":\"image/png\",\"image\":\""
#define PATHS "{\"width\":2,\"height\":1,\"paths\":[{\"d\":\"M0 0L1 1\"}]}"
#define A64 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

/* An `answer` of NULL is the length of `bytes`. */
static const struct {
    const char *bytes, *answer, *drawing; /* NULL: none */
    int notices;
} FAKES[] = {
    {HEAD "AAAA\"}", NULL, "{\"png\":\"AAAA\"}", 0},
    {HEAD "\"}", NULL, NULL, 2},
    {HEAD "A\\\"}", NULL, NULL, 2},
    {HEAD "A<A\"}", NULL, NULL, 2},
    {HEAD "AAAA\",\"x\":1}", NULL, NULL, 2},
    {HEAD A64 A64 A64 A64 "\"}", NULL, NULL, 0},
    {"{\"width\":2,\"height\":1,\"type\":\"image/svg+xml\",\"image\":\"AAAA\"}", NULL, NULL, 2},
    {"{\"width\":0,\"height\":1,\"type\":\"image/png\",\"image\":\"AAAA\"}", NULL, NULL, 2},
    {PATHS, NULL, NULL, 0},
    {"[]", NULL, NULL, 2},
    {"nothing", NULL, NULL, 2},
    {"x", "{\"length\":-1}", NULL, 2},
    {"x", "{\"length\":99999999999}", NULL, 2},
    {NULL, "{\"fault\":\"signature\",\"reason\":\"It is odd\"}", NULL, 0},
    {NULL, "{\"fault\":\"signature\",\"reason\":\"caf\xc3\xa9\"}", NULL, 2},
    {NULL, "{\"fault\":\"document\",\"reason\":\"It is odd\"}", NULL, 2},
    {NULL, "{}", NULL, 2},
    {NULL, "nothing", NULL, 2},
};

static void ask(int number, sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    const sr_pdf_signature_t signature = {.image = "image", .image_size = 5};
    const char *drawing;
    sr_error_t *error = sr_pdf_drawing(&drawing, workers, &signature, MOST, pool);
    is_str(error ? error->cause : drawing, FAKES[number].drawing, "the drawing of %.60s %s",
           FAKES[number].bytes ? FAKES[number].bytes : "no bytes", FAKES[number].answer ? FAKES[number].answer : "");
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
