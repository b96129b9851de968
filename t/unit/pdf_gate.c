/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_gate.c: how many requests for pages may be under way, in all, of an organisation and of a submission: of one
 * process, and of several that share the memory. */
#include "pdf_help.h"

static apr_pool_t *pool;
static sr_pdf_pool_t *workers;

static int let_in(int wanted, const char *submission, const char *organization, apr_pool_t *own)
{
    sr_pdf_visit_t *visit;
    int count = 0;
    for (int i = 0; i < wanted; i++)
        if (!sr_pdf_visit_begin(&visit, workers, submission, organization, own)) count++;
    return count;
}

static void begin(int visits)
{
    const sr_pdf_options_t options = {
        .program = "/nowhere", .workers = 1, .visits = visits, .timeout = APR_USEC_PER_SEC};
    if (sr_pdf_pool_create(&workers, &options, pool)) abort();
}

/* A process that shares the places: it takes as many as it can for three organisations, and waits with them. */
typedef struct sharer_t {
    pid_t pid;
    int in, out; /* what it says, and what ends it */
} sharer_t;

static void share(void *places, int visits, int visits_of_all)
{
    const sr_pdf_options_t options = {.program = "/nowhere",
                                      .workers = 1,
                                      .visits = visits,
                                      .visits_of_all = visits_of_all,
                                      .visit_places = places,
                                      .timeout = APR_USEC_PER_SEC};
    if (sr_pdf_pool_create(&workers, &options, pool)) abort();
}

static sharer_t start_sharer(void *places, const char *submission, const char *organization, int *got)
{
    int said[2], told[2];
    char byte;
    if (pipe(said) || pipe(told)) abort();
    const pid_t pid = fork();
    if (!pid) {
        close(told[1]);
        share(places, 4, 8);
        const int count = let_in(20, submission, organization, pool);
        if (write(said[1], &count, sizeof count) != sizeof count || read(told[0], &byte, 1) != 1) abort();
        apr_pool_destroy(pool);
        _exit(0);
    }
    close(said[1]);
    close(told[0]);
    if (read(said[0], got, sizeof *got) != sizeof *got) abort();
    return (sharer_t){pid, said[0], told[1]};
}

static void end_sharer(const sharer_t *sharer, int signal)
{
    if (signal) kill(sharer->pid, signal);
    else if (write(sharer->out, "", 1) != 1) abort();
    close(sharer->in);
    close(sharer->out);
    waitpid(sharer->pid, NULL, 0);
}

static void test_processes(void)
{
    apr_pool_t *own;
    int got;
    void *places = mmap(NULL, sr_pdf_visits_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (places == MAP_FAILED) abort();
    apr_pool_create(&own, pool);
    share(places, 4, 8);
    const sharer_t first = start_sharer(places, "a", "org", &got);
    is_int(got, 3, "another process takes three of its four places for one organisation");
    is_int(let_in(20, "b", "org", own), 3, "and this one three");
    const sharer_t second = start_sharer(places, "c", "org", &got);
    is_int(got, 1, "the third gets what is left for the organisation in all processes together");
    const sharer_t third = start_sharer(places, "d", "other", &got);
    is_int(got, 1, "another organisation finds the last place");
    is_int(let_in(1, "e", "third", own), 0, "now there is none");
    end_sharer(&third, 0);
    is_int(let_in(2, "e", "third", own), 1, "a process that ends gives back what it had");
    end_sharer(&first, SIGKILL);
    apr_pool_clear(own);
    is_int(let_in(20, "a", "org", own), 3, "one organisation again has three of this process's four");
    is_int(let_in(20, "f", "other", own), 1, "and another one the fourth");
    const sharer_t fourth = start_sharer(places, "g", "third", &got);
    is_int(got, 3, "the places of a process that was killed are free when they are needed");
    end_sharer(&second, 0);
    end_sharer(&fourth, 0);
    apr_pool_clear(own);
    munmap(places, sr_pdf_visits_size());
}

int main(void)
{
    apr_pool_t *first, *second;
    sr_pdf_visit_t *visit;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    apr_pool_create(&first, pool);
    apr_pool_create(&second, pool);

    begin(16);
    is_int(let_in(20, "a", "org", first), 8, "one submission has a part");
    is_int(let_in(20, "b", "org", first), 6, "one organisation has more, but not all");
    is_int(let_in(20, "c", "org", first), 0, "whatever the submission");
    is_int(let_in(1, "d", "other", second), 1, "another organisation finds a place");
    ok(!sr_pdf_visit_begin(&visit, workers, "d", "other", second), "or two");
    sr_error_t *error = sr_pdf_visit_begin(&visit, workers, "e", "third", second);
    ok(error && error->code == SR_EUNAVAILABLE, "and when there is none it is said at once: %s",
       error ? error->message : "");
    apr_pool_clear(second);
    is_int(let_in(20, "e", "third", second), 2, "places are free again with the pool of their request");
    apr_pool_clear(first);
    ok(!sr_pdf_visit_begin(&visit, workers, "a", "org", first), "a place");
    is_int(let_in(20, "a", "org", first), 7, "counts");
    sr_pdf_visit_end(visit);
    is_int(let_in(20, "a", "org", first), 1, "until it is given back");
    sr_pdf_visit_end(visit);
    is_int(let_in(20, "a", "org", first), 0, "once: the place is another's now");

    apr_pool_clear(first);
    apr_pool_clear(second);
    begin(4);
    is_int(let_in(20, "a", "org", first), 3, "where there are few, one place is left for others");
    is_int(let_in(20, "b", "other", first), 1, "and only that");
    test_processes();
    apr_pool_destroy(pool);
    return done();
}
