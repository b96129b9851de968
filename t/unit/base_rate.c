/* SPDX-License-Identifier: Apache-2.0 */
/* base_rate.c: tests of src/base/rate.c. */
#include "base/base.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static const sr_rate_t ten = {10, APR_USEC_PER_SEC};
static const apr_time_t start = 1700000000 * APR_USEC_PER_SEC;

static int take(apr_uint64_t key, const sr_rate_t *rate, apr_time_t now, int times)
{
    int allowed = 0;
    for (int i = 0; i < times; i++) allowed += sr_rate_take(NULL, key, rate, now);
    return allowed;
}

static void check_allowance(void)
{
    const apr_uint64_t key = sr_rate_key("token", "a", 1, &ten), other = sr_rate_key("link", "a", 1, &ten);
    sr_rate_state_t state;
    ok(key != other, "the kind is part of the key");
    ok(key != sr_rate_key("token", "a", 1, NULL), "the limit is part of the key");
    ok(sr_rate_has(NULL, key, &ten, start), "a new key has its whole limit");
    is_int(take(key, &ten, start, 15), 10, "ten of fifteen requests at the same time are allowed");
    ok(!sr_rate_has(NULL, key, &ten, start), "nothing is left of the limit");
    is_int(take(other, &ten, start, 1), 1, "another key has its own count");
    ok(!sr_rate_take(&state, key, &ten, start), "the eleventh is refused");
    is_int((int)state.wait, 100000, "it has to wait until one is allowed again");
    is_int((int)state.left, 0, "the state says that none is left");
    is_int(take(key, &ten, start + 100000, 3), 1, "one is allowed after 0.1 s");
    is_int(take(key, &ten, start + 600000, 30), 5, "five more are allowed after half a second");
    ok(sr_rate_take(&state, key, &ten, start + 5 * APR_USEC_PER_SEC),
       "after some seconds the whole limit is available");
    is_int((int)state.left, 9, "nine are left");
    is_int((int)state.whole, 100000, "the whole limit is available again in 0.1 s");
    is_int(take(key, &ten, start - apr_time_from_sec(3600), 15), 10, "if the clock is set back, nobody is refused");
    const sr_rate_t none = {0, 0};
    is_int(take(sr_rate_key("x", "a", 1, &none), &none, start, 1000), 1000, "without a limit all requests are allowed");
}

static void check_some(void)
{
    const apr_uint64_t key = sr_rate_key("mail", "some", 4, &ten);
    sr_rate_state_t state;
    ok(!sr_rate_take_some(NULL, key, &ten, 11, start), "eleven at once exceed a limit of ten");
    ok(sr_rate_take_some(&state, key, &ten, 6, start), "six at once are allowed");
    is_int((int)state.left, 4, "four are left");
    ok(!sr_rate_take_some(&state, key, &ten, 6, start), "six more are refused");
    is_int((int)state.wait, 200000, "they have to wait until two are allowed again");
    is_int((int)state.left, 4, "a refusal counts nothing");
    ok(sr_rate_take_some(NULL, key, &ten, 6, start + 200000), "after that time six more are allowed");
    sr_rate_give_back(key, &ten, 5, start + 200000);
    is_int(take(key, &ten, start + 200000, 9), 5, "what was subtracted is allowed again");
    sr_rate_give_back(key, &ten, 1000, start + 200000);
    is_int(take(key, &ten, start + 200000, 15), 10, "subtracting more than was counted does not raise the limit");
    sr_rate_give_back(sr_rate_key("mail", "unknown", 7, &ten), &ten, 1, start);
}

static void check_memory(void)
{
    const apr_uint64_t key = sr_rate_key("known", "b", 1, NULL);
    const apr_interval_time_t hour = apr_time_from_sec(3600);
    ok(!sr_rate_remembers(key, hour, start), "a new key is not remembered");
    sr_rate_remember(key, hour, start);
    ok(sr_rate_remembers(key, hour, start + hour - 1), "a key is remembered for an hour");
    ok(!sr_rate_remembers(key, hour, start + hour), "a key is not remembered longer");
    sr_rate_remember(key, hour, start + hour / 2);
    ok(sr_rate_remembers(key, hour, start + hour), "a key that is used again is remembered for another hour");
    sr_rate_forget(key);
    ok(!sr_rate_remembers(key, hour, start + hour), "forgotten");
}

/* Many other keys do not remove the key that is refused for the longest time. */
static void check_flood(void)
{
    const sr_rate_t slow = {5, apr_time_from_sec(60)};
    const apr_uint64_t key = sr_rate_key("failures", "victim", 6, &slow);
    take(key, &slow, start, 5);
    for (int i = 0; i < 200000; i++) take(sr_rate_key("failures", &i, sizeof i, &slow), &slow, start, 1);
    ok(!sr_rate_has(NULL, key, &slow, start),
       "200,000 keys that were counted once do not remove a key whose limit is used up");
}

static void *take_many(void *sum)
{
    *(int *)sum = take(sr_rate_key("token", "threads", 7, &ten), &ten, start, 100000);
    return NULL;
}

static void check_threads(void)
{
    pthread_t threads[8];
    int sums[8], all = 0;
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, take_many, &sums[i]);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        all += sums[i];
    }
    ok(all >= 10 && all <= 20, "eight threads together get ten, or a few more if all are the first at the same time");
}

static void check_processes(void)
{
    void *block = mmap(NULL, sr_rate_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sr_rate_use(block);
    const apr_uint64_t key = sr_rate_key("token", "processes", 9, &ten);
    if (!fork()) _exit(take(key, &ten, start, 7));
    int status;
    wait(&status);
    is_int(WEXITSTATUS(status), 7, "a child counts seven");
    is_int(take(key, &ten, start, 7), 3, "its parent gets the other three");
    sr_rate_use(block);
    is_int(sr_rate_key("token", "processes", 9, &ten) == key, 1, "a memory block that is used again keeps its keys");
}

static void check_texts(apr_pool_t *pool)
{
    static const char *const wrong[] = {"", "0/s", "/s", "5", "5/", "5/ms", "-1/s", "1000000000/s", "5 /s", "5/s "};
    sr_rate_t rate;
    ok(sr_rate_parse(&rate, "100/s") && rate.times == 100 && rate.period == APR_USEC_PER_SEC, "100/s");
    ok(sr_rate_parse(&rate, "60/min") && rate.times == 60 && rate.period == apr_time_from_sec(60), "60/min");
    is_str(sr_rate_text(&rate, pool), "60 per minute", "the text of a rate");
    ok(sr_rate_parse(&rate, "999999/h") && rate.period == apr_time_from_sec(3600), "999999/h");
    ok(sr_rate_parse(&rate, "1/d") && rate.period == apr_time_from_sec(86400), "1/d");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ok(!sr_rate_parse(&rate, wrong[i]), "not a rate: '%s'", wrong[i]);
}

int main(void)
{
    apr_pool_t *pool;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    check_allowance();
    check_some();
    check_memory();
    check_flood();
    check_threads();
    check_processes();
    check_texts(pool);
    return done();
}
