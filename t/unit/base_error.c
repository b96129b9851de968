/* SPDX-License-Identifier: Apache-2.0 */
/* base_error.c: tests of src/base/error.c. */
#include "base/base.h"
#include "tap.h"

static sr_error_t *pass_on(sr_error_t *error, bool *went_on)
{
    *went_on = false;
    SR_TRY(error);
    *went_on = true;
    return NULL;
}

int main(void)
{
    apr_pool_t *pool;
    sr_error_t *error;
    bool went_on;
    apr_initialize();
    apr_pool_create(&pool, NULL);

    error = sr_error(pool, SR_ETOOLARGE, "File %s is over %d bytes", "a.pdf", 12);
    is_int(error->code, SR_ETOOLARGE, "an error has its code");
    is_str(error->message, "File a.pdf is over 12 bytes", "the message is formatted");
    is_str(error->cause, NULL, "a new error has no cause");
    ok(strstr(error->file, "base_error.c") != NULL, "an error has the file that made it");
    is_int(error->line, __LINE__ - 5, "an error has the line that made it");
    ok(sr_error_because(error, pool, "errno %d", 28) == error, "sr_error_because returns the same error");
    is_str(error->cause, "errno 28", "the cause is formatted");

    sr_error_t *first = sr_error(pool, SR_EUNAVAILABLE, "away");
    ok(sr_error_from(error, first) == error && error->child == first, "sr_error_from chains an error to another one");
    is_str(sr_error_text(error, false, pool),
           "File a.pdf is over 12 bytes (errno 28), because: away (no further cause)",
           "the text for the log has both errors");
    ok(strstr(sr_error_text(error, true, pool), "base_error.c:") != NULL,
       "the text for the log has the file and line, if requested");
    apr_pool_t *other;
    apr_pool_create(&other, pool);
    sr_error_t *copy = sr_error_copy(sr_error_copy(error, other), pool);
    apr_pool_destroy(other);
    is_str(sr_error_text(copy, true, pool), sr_error_text(error, true, pool),
           "a copy outlives the pool of the original");
    ok(!sr_error_copy(NULL, pool), "the copy of NULL is NULL");

    ok(pass_on(error, &went_on) == error && !went_on, "SR_TRY returns an error at once");
    ok(pass_on(NULL, &went_on) == NULL && went_on, "SR_TRY goes on after success");

    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
