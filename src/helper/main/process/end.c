/* SPDX-License-Identifier: Apache-2.0 */
/* end.c: how the process ends, and what builds for tests do then (see pdfd.h). The helper has no environment and runs
 * no destructors. So the options of the sanitizers are compiled in, and the leak check is called explicitly. */
#include "helper/main/pdfd.h"
#include "helper/main/process/process.h"

#include <unistd.h>

#ifdef SR_SANITIZE
/* The libraries of the sanitizers look up these symbols. */
#pragma GCC visibility push(default)
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__asan_default_options(void)
{
    return SR_SANITIZE;
}
const char *__ubsan_default_options(void)
{
    return SR_SANITIZE;
}

/* Memory that a library keeps until the process ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}
#pragma GCC visibility pop

/* Which of these functions exist depends on the options of the compiler. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);
__attribute__((weak)) void __gcov_dump(void);
__attribute__((weak)) void __gcov_reset(void);

void sr_pdfd_note_counters(void)
{
    if (!__gcov_dump || !__gcov_reset) return;
    __gcov_dump();
    __gcov_reset();
}

static void end_report(apr_pool_t *pool)
{
    apr_pool_destroy(pool);
    if (__lsan_do_recoverable_leak_check) __lsan_do_recoverable_leak_check();
    if (__gcov_dump) __gcov_dump();
}
#else
void sr_pdfd_note_counters(void)
{
}

static void end_report(apr_pool_t *pool)
{
}
#endif

_Noreturn void sr_pdfd_end(apr_pool_t *pool)
{
    end_report(pool);
    _exit(0);
}
