/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_fakes.c: helpers that are not what they should be: absent, mute, talking nonsense, or made to lie by a
 * document. Before its greeting a program is at fault (an error); after it the document is (refused). Nothing
 * that comes over the socket may do more. Each fake is a shell script; descriptor 3 is its socket. */
#include "pdf_help.h"

#include <sys/stat.h>

#define GREETING "printf 'SPR1\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\0\\0{}' >&3\n"
/* Takes the request away (16 bytes and {"op":"probe"}), so that the answer is not mixed up with a reset. */
#define QUESTION "dd bs=30 count=1 <&3 >/dev/null 2>&1\n"
#define STAY "exec sleep 5\n"

static apr_pool_t *root;
static int scripts;
static char folder[] = "/tmp/sigreq-fakes-XXXXXX";

#define ERROR "error 13: " /* SR_EUNAVAILABLE */
#define REFUSED "refused: it could not be read within the limits"

typedef struct fake_t {
    const char *name, *script;
    const char *response; /* to the request, after the script */
    const char *says;     /* how the answer begins */
    int notices;
    int id; /* of the answer; 0: the right one */
} fake_t;

static const fake_t FAKES[] = {
    {"ends at once", "exit 0\n", NULL, ERROR, 1, 0},
    {"dies at once", "kill -SEGV $$\n", NULL, ERROR, 1, 0},
    {"says nothing", STAY, NULL, ERROR, 1, 0},
    {"greets with garbage", "echo garbage garbage garbage >&3\n" STAY, NULL, ERROR, 1, 0},
    {"greets with half a header", "printf 'SPR1' >&3\n", NULL, ERROR, 1, 0},
    {"greets with too much", "printf 'SPR1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\377' >&3\n" STAY, NULL, ERROR, 1, 0},
    {"speaks another version", "printf 'SPR0\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\0\\0{}' >&3\n" STAY, NULL, ERROR, 1, 0},
    {"closes its socket", "exec 3>&-\n" STAY, NULL, ERROR, 1, 0},
    {"dies of each question", GREETING QUESTION "kill -SEGV $$\n", NULL, REFUSED, 2, 0},
    {"never answers", GREETING STAY, NULL, ERROR, 1, 0},
    {"answers garbage", GREETING QUESTION "echo garbage garbage garbage >&3\n" STAY, NULL, REFUSED, 2, 0},
    {"answers half", GREETING QUESTION "printf 'SPR1\\1\\0\\0\\0' >&3\n", NULL, REFUSED, 2, 0},
    {"answers another question", GREETING QUESTION, "{\"verdict\":\"password\"}", REFUSED, 2, 7},
    {"answers no JSON", GREETING QUESTION, "{{", REFUSED, 2, 0},
    {"answers no object", GREETING QUESTION, "[]", REFUSED, 2, 0},
    {"answers no verdict", GREETING QUESTION, "{}", REFUSED, 2, 0},
    {"answers a new verdict", GREETING QUESTION, "{\"verdict\":\"perhaps\"}", REFUSED, 2, 0},
    {"accepts without a report", GREETING QUESTION, "{\"verdict\":\"accepted\"}", REFUSED, 2, 0},
    {"accepts with a broken report", GREETING QUESTION, "{\"verdict\":\"accepted\",\"report\":\"{}}\"}", REFUSED, 2, 0},
    {"refuses without a reason", GREETING QUESTION, "{\"verdict\":\"refused\"}", REFUSED, 2, 0},
    {"refuses with control bytes", GREETING QUESTION, "{\"verdict\":\"refused\",\"reason\":\"a\\\\u000ab\"}", REFUSED,
     2, 0},
    {"refuses well", GREETING QUESTION, "{\"verdict\":\"refused\",\"reason\":\"a b\"}", "refused: a b", 0, 0},
    {"answers well", GREETING QUESTION, "{\"verdict\":\"password\"}", "password", 0, 0},
};

static const char *write_script(const fake_t *fake, apr_pool_t *pool)
{
    const char *path = apr_psprintf(pool, "%s/fake%d", folder, scripts++);
    FILE *file = fopen(path, "w");
    if (!file) abort();
    fprintf(file, "#!/bin/sh\n%s", fake->script);
    if (fake->response)
        fprintf(file, "printf 'SPR1\\%o\\0\\0\\0\\0\\0\\0\\0\\%o\\0\\0\\0%s' >&3\n" STAY, fake->id ? fake->id : 1,
                (unsigned)(strlen(fake->response) - (strstr(fake->response, "\\\\") ? 1 : 0)), fake->response);
    fclose(file);
    chmod(path, 0700);
    return path;
}

static void test_fake(const fake_t *fake)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    int before = help_descriptors();
    sr_pdf_pool_t *workers = help_pool(write_script(fake, pool), 1, 700, pool);
    sr_pdf_probe_t probe;
    sr_error_t *error = help_probe(&probe, workers, "%PDF-1.7", 8, pool);
    const char *said = help_say(error, &probe, pool);
    ok(!strncmp(said, fake->says, strlen(fake->says)), "a helper that %s: %s", fake->name, said);
    ok(!error || error->code == SR_EUNAVAILABLE, "%s: an error is SR_EUNAVAILABLE", fake->name);
    is_int(help_notices, fake->notices, "%s: notices: %s", fake->name, help_last_notice);
    apr_pool_destroy(pool);
    help_children_t now = help_children();
    ok(now.alive + now.zombies == 0 && help_descriptors() == before, "%s: nothing is left", fake->name);
}

static void test_program(const char *program, const char *what)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(program, 2, 700, pool);
    sr_pdf_probe_t probe;
    int before = help_descriptors();
    sr_error_t *error = help_probe(&probe, workers, "%PDF-1.7", 8, pool);
    ok(error && error->code == SR_EUNAVAILABLE && strstr(error->cause, program), "%s: %s", what,
       help_say(error, &probe, pool));
    ok(error && !strstr(error->message, program), "%s: a client does not see the path", what);
    error = sr_pdf_ping(workers, pool);
    ok(error && error->code == SR_EUNAVAILABLE, "%s: no ping either", what);
    ok(help_descriptors() == before && !help_children().zombies, "%s: nothing is left", what);
    apr_pool_destroy(pool);
}

typedef struct waiter_t {
    sr_pdf_pool_t *workers;
    const char *said;
} waiter_t;

static void *ask(void *data)
{
    waiter_t *waiter = data;
    apr_pool_t *pool;
    sr_pdf_probe_t probe;
    apr_pool_create_unmanaged_ex(&pool, NULL, NULL);
    const char *said = help_say(help_probe(&probe, waiter->workers, "%PDF-1.7", 8, pool), &probe, pool);
    waiter->said = strdup(said);
    apr_pool_destroy(pool);
    return NULL;
}

enum { WAITERS = 5 };

/* One place, and slow workers: of five requests at once the last ones come too late to get it. */
static void test_fair_share(void)
{
    const fake_t slow = {.script = GREETING QUESTION "sleep 2.2\n", .response = "{\"verdict\":\"password\"}"};
    apr_pool_t *pool;
    pthread_t threads[WAITERS];
    waiter_t waiters[WAITERS];
    int answered = 0, late = 0;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(write_script(&slow, pool), 1, 3000, pool);
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = (waiter_t){workers, NULL};
        pthread_create(&threads[i], NULL, ask, &waiters[i]);
    }
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(threads[i], NULL);
        answered += !strcmp(waiters[i].said, "password");
        late += !strncmp(waiters[i].said, ERROR, strlen(ERROR));
        free((void *)waiters[i].said);
    }
    ok(answered > 0, "a slow answer is an answer");
    ok(late > 0 && answered + late == WAITERS, "a document that got no worker in time is not to blame");
    apr_pool_destroy(pool);
}

/* A worker that gets a part of the processor only, as on a busy machine: it has used a quarter of its time when it
 * answers, after more than twice this time by the clock. */
static void test_busy_machine(void)
{
    const fake_t starved = {.script =
                                GREETING QUESTION "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done\nsleep 2.5\n",
                            .response = "{\"verdict\":\"password\"}"};
    apr_pool_t *pool;
    sr_pdf_probe_t probe;
    sr_error_t *error;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(write_script(&starved, pool), 1, 1000, pool);
    do error = help_probe(&probe, workers, "%PDF-1.7", 8, pool);
    while (help_is_busy(error));
    is_str(help_say(error, &probe, pool), "password", "a worker that gets little processor time is waited for");
    apr_pool_destroy(pool);
}

static void test_settings(void)
{
    sr_pdf_pool_t *workers;
    const sr_pdf_options_t wrong[] = {
        {.program = "sigreq-pdfd", .workers = 1, .timeout = 1},
        {.program = NULL, .workers = 1, .timeout = 1},
        {.program = "/bin/true", .workers = 0, .timeout = 1},
        {.program = "/bin/true", .workers = 1, .timeout = 0},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ok(sr_pdf_pool_create(&workers, &wrong[i], root), "settings %d are refused", (int)i);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    if (!mkdtemp(folder)) abort();
    for (size_t i = 0; i < sizeof FAKES / sizeof *FAKES; i++) test_fake(&FAKES[i]);
    test_program("/nonexistent/sigreq-pdfd", "no program");
    test_program("/tmp", "a folder");
    test_program("/bin/true", "another program");
    test_fair_share();
    test_busy_machine();
    test_settings();
    int removed = 0;
    for (int i = 0; i < scripts; i++) removed += !unlink(apr_psprintf(root, "%s/fake%d", folder, i));
    ok(!rmdir(folder) && removed == scripts, "the scripts are gone");
    apr_pool_destroy(root);
    return done();
}
