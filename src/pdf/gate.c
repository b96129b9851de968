/* gate.c: how many requests for pages may be under way at once. Each holds a thread of httpd while its page is made,
 * and whoever has a signing link can ask for as many as they like. So they are counted, by submission, by organisation
 * and in all, and one too many is refused at once: then threads are left for everything else. */
#include "pdf/worker.h"

#include <apr_hash.h>
#include <string.h>

struct sr_pdf_visit_t {
    sr_pdf_shared_t *shared;
    int place; /* -1 once it is over */
};

/* A browser asks for six pages at once. */
#define OF_SUBMISSION(all) (6 + ((all)-8) / 4)
#define OF_ORGANIZATION(all) (7 * (all) / 8)

/* Two names with one number only share what one of them may have. */
static unsigned number_of(const char *name)
{
    apr_ssize_t length = APR_HASH_KEY_STRING;
    return apr_hashfunc_default(name, &length);
}

/* The free place; -1: too many. Under the mutex. */
static int find_place(const sr_pdf_shared_t *shared, unsigned submission, unsigned organization)
{
    int place = -1, of_submission = 0, of_organization = 0;
    for (int i = 0; i < shared->visit_room; i++) {
        const sr_pdf_visited_t *visited = &shared->visits[i];
        if (!visited->taken) place = i;
        else if (visited->organization == organization) of_organization++;
        if (visited->taken && visited->submission == submission) of_submission++;
    }
    if (of_submission >= OF_SUBMISSION(shared->visit_room)) return -1;
    return of_organization >= OF_ORGANIZATION(shared->visit_room) ? -1 : place;
}

void sr_pdf_visit_end(sr_pdf_visit_t *visit)
{
    if (visit->place < 0) return;
    pthread_mutex_lock(&visit->shared->mutex);
    visit->shared->visits[visit->place].taken = false;
    pthread_mutex_unlock(&visit->shared->mutex);
    visit->place = -1;
}

static apr_status_t end_visit(void *visit)
{
    sr_pdf_visit_end(visit);
    return APR_SUCCESS;
}

sr_error_t *sr_pdf_visit_begin(sr_pdf_visit_t **visit, sr_pdf_pool_t *workers, const char *submission,
                               const char *organization, apr_pool_t *pool)
{
    sr_pdf_shared_t *shared = workers->shared;
    const sr_pdf_visited_t visited = {true, number_of(submission), number_of(organization)};
    pthread_mutex_lock(&shared->mutex);
    int place = find_place(shared, visited.submission, visited.organization);
    if (place >= 0) shared->visits[place] = visited;
    pthread_mutex_unlock(&shared->mutex);
    if (place < 0)
        return sr_error_because(
            sr_error(pool, SR_EUNAVAILABLE, "Too many pages are asked for at once, try again in a moment"), pool,
            "this process makes pages for as many requests as it may");
    *visit = apr_palloc(pool, sizeof **visit);
    **visit = (sr_pdf_visit_t){shared, place};
    apr_pool_cleanup_register(pool, *visit, end_visit, apr_pool_cleanup_null);
    return NULL;
}
