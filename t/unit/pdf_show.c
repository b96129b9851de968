/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_show.c: what the client makes of a worker's word about a page. A worker that a document has taken over may answer
 * anything: nothing gets through that is not a PNG of the size asked for, a text that is JSON, or a plain reason. Each
 * fake is a shell script that greets, takes the request and gives one answer; its result stays all zeros. */
#include "pdf_show.h"

#include <sys/stat.h>

#define GREETING "printf 'SPR1\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\0\\0{}' >&3\n"
#define WIDTH 100
/* Takes the request away, so that the answer is not mixed up with a reset. */
#define QUESTION "dd bs=%d count=1 <&3 >/dev/null 2>&1\n"

static apr_pool_t *root;
static char script[] = "/tmp/sigreq-show-XXXXXX";

#define LIMITS "refused: it could not be read within the limits"
#define UNAVAILABLE "error 13: Documents cannot be read at the moment, try again later"

typedef struct fake_t {
    const char *response, *says;
    int notices;
} fake_t;

static const fake_t FAKES[] = {
    {"{\"refused\":\"it is odd\"}", "refused: it is odd", 0},
    {"{\"missing\":true}", "error 4: Not found", 0},
    {"{\"unavailable\":\"no fonts\"}", "error 13: Pages cannot be shown on this server", 0},
    {"{\"missing\":1}", LIMITS, 2},
    {"{}", LIMITS, 2},
    {"[]", LIMITS, 2},
    {"{\"refused\":\"\"}", LIMITS, 2},
    {"{\"refused\":\"caf\\303\\251\"}", LIMITS, 2},
    {"{\"refused\":7}", LIMITS, 2},
    {"{\"unavailable\":\"\"}", LIMITS, 2},
    {"{\"length\":0}", LIMITS, 2},
    {"{\"length\":100,\"width\":100,\"height\":1}", LIMITS, 2},
    {"{\"length\":-1}", LIMITS, 2},
    {"{\"length\":999999999999}", LIMITS, 2},
    {"{\"length\":\"10\"}", LIMITS, 2},
    {"{\"length\":null}", LIMITS, 2},
};

/* The bytes that printf makes of the answer: \ooo is one. */
static int length_of(const char *response)
{
    int length = 0;
    for (; *response; response += *response == '\\' ? 4 : 1) length++;
    return length;
}

static void write_script(const fake_t *fake, int request)
{
    FILE *file = fopen(script, "w");
    if (!file) abort();
    fprintf(file, "#!/bin/sh\n" GREETING QUESTION, request);
    fprintf(file, "printf 'SPR1\\1\\0\\0\\0\\0\\0\\0\\0\\%o\\0\\0\\0%s' >&3\nexec sleep 5\n",
            (unsigned)length_of(fake->response), fake->response);
    fclose(file);
    chmod(script, 0700);
}

static void test_fake(const fake_t *fake)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_image_t image = {0};
    sr_pdf_text_t text = {0};
    int fd = help_descriptor("%PDF-1.7", 8), before = help_descriptors();
    write_script(fake, 16 + (int)strlen("{\"op\":\"render\",\"page\":0,\"width\":100}"));
    sr_pdf_pool_t *workers = help_pool(script, 1, 700, pool);
    is_str(show_say(sr_pdf_render(&image, workers, fd, 0, WIDTH, false, pool), &image, pool), fake->says, "image %s",
           fake->response);
    is_int(help_notices, fake->notices, "with %d notices", fake->notices);
    write_script(fake, 16 + (int)strlen("{\"op\":\"text\",\"page\":0}"));
    workers = help_pool(script, 1, 700, pool);
    is_str(show_say_text(sr_pdf_text(&text, workers, fd, 0, pool), &text, pool), fake->says, "text %s", fake->response);
    apr_pool_destroy(pool);
    help_children_t now = help_children();
    ok(now.alive + now.zombies == 0 && help_descriptors() == before, "nothing is left");
    close(fd);
}

/* Beside a helper that is not there, the rules for what is asked come first. */
static void test_order(void)
{
    sr_pdf_image_t image = {0};
    int fd = help_descriptor("%PDF-1.7", 8);
    sr_pdf_pool_t *workers = help_pool("/nonexistent/sigreq-pdfd", 1, 700, root);
    is_str(show_say(sr_pdf_render(&image, workers, fd, 0, 1, false, root), &image, root),
           "error 1: width must be 16 to 4000", "a wrong width is wrong without a worker");
    is_str(show_say(sr_pdf_render(&image, workers, fd, 0, WIDTH, false, root), &image, root), UNAVAILABLE,
           "else there is none, for now");
    close(fd);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    close(mkstemp(script));
    for (size_t i = 0; i < sizeof FAKES / sizeof *FAKES; i++) test_fake(&FAKES[i]);
    test_order();
    ok(!unlink(script), "the script is gone");
    apr_pool_destroy(root);
    return done();
}
