/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h: the clock of the code under test, which a test can put forward. It replaces APR's. */
#ifndef SR_TEST_CLOCK_H
#define SR_TEST_CLOCK_H

#include <apr_time.h>
#include <time.h>

static apr_time_t clock_ahead;

apr_time_t apr_time_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return apr_time_from_sec(now.tv_sec) + now.tv_nsec / 1000 + clock_ahead;
}

#endif
