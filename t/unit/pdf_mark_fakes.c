/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_mark_fakes.c: what the client makes of a helper's word about a large image (reduce) and about the key of an
 * encrypted document (key). Images come from anybody, and one that has taken the helper over may answer anything:
 * a certificate without the image is all that it can cause. This program is the fake helper as well. */
#include "fake_helper.h"

#include <apr_encode.h>
#include <fcntl.h>

static apr_pool_t *root;
static char script[] = "/tmp/sigreq-mark-XXXXXX";

/* ------------------------------------------------------------------------------------------------ large images */

typedef struct fake_t {
    const char *bytes, *response, *result; /* of an image; of a key: its method and length; NULL: none */
    int notices;
} fake_t;

static const fake_t REDUCED[] = {
    {"image", "{\"length\":5}", "image", 0},
    {"image", "{\"length\":0}", NULL, 2},
    {"image", "{\"length\":-1}", NULL, 2},
    {"image", "{\"length\":4}", "imag", 0},
    {"image", "{\"length\":1048577}", NULL, 2},
    {"image", "{\"length\":999999999999}", NULL, 2},
    {"image", "{\"length\":\"5\"}", NULL, 2},
    {"image", "{\"length\":true}", NULL, 2},
    {NULL, "{\"refused\":\"it is odd\"}", NULL, 0},
    {NULL, "{\"refused\":\"caf\xc3\xa9\"}", NULL, 2},
    {NULL, "{\"refused\":7}", NULL, 2},
    {NULL, "{}", NULL, 2},
    {NULL, "[]", NULL, 2},
    {NULL, "nothing", NULL, 2},
};

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define KEY "000102030405060708090a0b0c0d0e0f"

static const fake_t KEYS[] = {
    {NULL, "{\"cipher\":\"aes128\",\"key\":\"" KEY "\"}", "2 16", 0},
    {NULL, "{\"cipher\":\"aes256\",\"key\":\"" KEY KEY "\"}", "3 32", 0},
    {NULL, "{\"cipher\":\"rc4\",\"key\":\"0102030405\"}", "1 5", 0},
    {NULL, "{\"cipher\":\"aes256\",\"key\":\"" KEY "\"}", NULL, 2},
    {NULL, "{\"cipher\":\"aes128\",\"key\":\"" KEY KEY KEY KEY "\"}", NULL, 2},
    {NULL, "{\"cipher\":\"aes128\",\"key\":\"x" KEY "\"}", NULL, 2},
    {NULL, "{\"cipher\":\"aes128\",\"key\":\"\"}", NULL, 2},
    {NULL, "{\"cipher\":\"aes128\",\"key\":16}", NULL, 2},
    {NULL, "{\"cipher\":\"aes128\"}", NULL, 2},
    {NULL, "{\"cipher\":\"aes512\",\"key\":\"" KEY "\"}", NULL, 2},
    {NULL, "{\"cipher\":\"\",\"key\":\"" KEY "\"}", NULL, 2},
    {NULL, "{\"key\":\"" KEY "\"}", NULL, 0},
    {NULL, "{}", NULL, 0},
    {NULL, "[]", NULL, 2},
    {NULL, "nothing", NULL, 2},
};

/* What was appended with a mark of so many bytes. */
static char *revision_with(apr_size_t *size, apr_size_t length, apr_pool_t *pool)
{
    const char *head = apr_psprintf(pool,
                                    "\n9 0 obj\n<</Resources<</XObject<</M 7 0 R>>>>>>\nendobj\n7 0 obj\n"
                                    "<</Type/XObject/Subtype/Image/Length %" APR_SIZE_T_FMT ">>stream\n",
                                    length);
    const apr_size_t begin = strlen(head), end = begin + length;
    const char *object = strstr(head, "7 0 obj");
    const char *tail = apr_psprintf(pool,
                                    "\nendstream\nendobj\nxref\n7 1\n%010d 00000 n \n9 1\n0000000001 00000 n \n"
                                    "trailer\n<</Size 10/Root 1 0 R/ID[<00><%032d>]/Prev 0>>\nstartxref\n%d\n%%%%EOF\n",
                                    (int)(object - head), 0, (int)end + 18);
    *size = end + strlen(tail);
    char *revision = apr_palloc(pool, *size);
    memcpy(revision, head, begin);
    memset(revision + begin, 'x', length);
    memcpy(revision + end, tail, strlen(tail));
    return revision;
}

static const char *reduced(sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    static const sr_cipher_t plain;
    apr_size_t size;
    json_t *texts;
    char *revision = revision_with(&size, SR_PDF_LARGE_MARK + 1, pool);
    apr_size_t room = 1 << 20;
    const sr_pdf_revised_t revised = {revision, size, 0};
    sr_error_t *error = sr_pdf_mark_reduced(&texts, workers, &revised, &plain, &room, 1, pool);
    if (error) return error->cause;
    const char *text = json_string_value(json_array_get(sr_json_own(texts, pool), 0));
    apr_size_t length;
    const char *bytes = text ? apr_pdecode_base64(pool, text, APR_ENCODE_STRING, APR_ENCODE_NONE, &length) : NULL;
    return bytes ? apr_pstrmemdup(pool, bytes, length) : NULL;
}

static const char *key(sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    sr_cipher_t cipher = {.method = SR_CIPHER_AES256, .length = 99};
    const int document = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sr_error_t *error = sr_pdf_key(&cipher, workers, document, pool);
    close(document);
    if (error) return error->cause;
    if (!cipher.method) return cipher.length ? "a length without a method" : NULL;
    return apr_psprintf(pool, "%d %d", (int)cipher.method, (int)cipher.length);
}

static void test_fake(const fake_t *fake, int number, const char *(*ask)(sr_pdf_pool_t *, apr_pool_t *))
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    const int before = help_descriptors();
    fake_script(script, number, "");
    sr_pdf_pool_t *workers = help_pool(script, 1, 5000, pool);
    is_str(ask(workers, pool), fake->result, "%s", fake->response);
    is_int(help_notices, fake->notices, "with %d notices", fake->notices);
    apr_pool_destroy(pool);
    const help_children_t now = help_children();
    ok(now.alive + now.zombies == 0 && help_descriptors() == before, "nothing is left");
}

int main(int argc, char **argv)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    if (argc == 3) {
        const int number = atoi(argv[1]);
        const fake_t *fake = number < COUNT(REDUCED) ? &REDUCED[number] : &KEYS[number - COUNT(REDUCED)];
        return fake_serve(fake->bytes, fake->response, root);
    }
    for (int i = 0; i < COUNT(REDUCED); i++) test_fake(&REDUCED[i], i, reduced);
    for (int i = 0; i < COUNT(KEYS); i++) test_fake(&KEYS[i], COUNT(REDUCED) + i, key);
    ok(!unlink(script), "the script is gone");
    apr_pool_destroy(root);
    return done();
}
