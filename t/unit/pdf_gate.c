/* pdf_gate.c: how many requests for pages may be under way, in all, of an organisation and of a submission. */
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
    sr_pdf_visit_end(visit);
    is_int(let_in(20, "a", "org", first), 1, "until it is given back, once");

    apr_pool_clear(first);
    apr_pool_clear(second);
    begin(4);
    is_int(let_in(20, "a", "org", first), 3, "where there are few, one place is left for others");
    is_int(let_in(20, "b", "other", first), 1, "and only that");
    apr_pool_destroy(pool);
    return done();
}
