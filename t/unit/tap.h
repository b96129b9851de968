/* SPDX-License-Identifier: Apache-2.0 */
/* tap.h: the whole of what a C test needs to print TAP. The plan is printed at the end, so a test that dies half
 * way has none and fails. Each program is one .c file: state and functions are static here. */
#ifndef SR_TAP_H
#define SR_TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failures;

/* Diagnostics go to stdout as well: one stream cannot get out of order. */
__attribute__((format(printf, 4, 0))) static inline bool tap_result(bool passed, const char *file, int line,
                                                                    const char *format, va_list arguments)
{
    printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
    vprintf(format, arguments);
    printf("\n");
    if (!passed) {
        tap_failures++;
        printf("#   failed at %s line %d\n", file, line);
    }
    fflush(stdout);
    return passed;
}

__attribute__((format(printf, 4, 5))) static inline bool tap_ok(bool passed, const char *file, int line,
                                                                const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tap_result(passed, file, line, format, arguments);
    va_end(arguments);
    return passed;
}

__attribute__((format(printf, 5, 6))) static inline bool tap_is_str(const char *got, const char *want, const char *file,
                                                                    int line, const char *format, ...)
{
    const bool passed = got && want ? strcmp(got, want) == 0 : got == want;
    va_list arguments;

    va_start(arguments, format);
    tap_result(passed, file, line, format, arguments);
    va_end(arguments);
    if (!passed) printf("#   got:  %s\n#   want: %s\n", got ? got : "(NULL)", want ? want : "(NULL)");
    return passed;
}

__attribute__((format(printf, 5, 6))) static inline bool tap_is_int(long long got, long long want, const char *file,
                                                                    int line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tap_result(got == want, file, line, format, arguments);
    va_end(arguments);
    if (got != want) printf("#   got:  %lld\n#   want: %lld\n", got, want);
    return got == want;
}

/* Equal within 1e-9. */
__attribute__((format(printf, 5, 6))) static inline bool tap_is_num(double got, double want, const char *file, int line,
                                                                    const char *format, ...)
{
    const bool passed = fabs(got - want) <= 1e-9; /* false for NaN */
    va_list arguments;

    va_start(arguments, format);
    tap_result(passed, file, line, format, arguments);
    va_end(arguments);
    if (!passed) printf("#   got:  %.17g\n#   want: %.17g\n", got, want);
    return passed;
}

/* ok(condition, name…) · is_str(got, want, name…) · is_int(got, want, name…) · is_num(got, want, name…) */
#define ok(passed, ...) tap_ok((passed), __FILE__, __LINE__, __VA_ARGS__)
#define is_str(got, want, ...) tap_is_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...) tap_is_int((long long)(got), (long long)(want), __FILE__, __LINE__, __VA_ARGS__)
#define is_num(got, want, ...) tap_is_num((got), (want), __FILE__, __LINE__, __VA_ARGS__)

/* One test that could not run here, and why. */
static inline void skip(const char *why)
{
    printf("ok %d # SKIP %s\n", ++tap_count, why);
    fflush(stdout);
}

/* True, and a test is skipped, in `make test SANITIZE=1`: its helper has no limit of memory and takes several times as
 * long. */
static inline bool skip_if_sanitized(void)
{
    if (!getenv("SIGREQ_SANITIZE")) return false;
    skip("the helper's limits do not hold with sanitizers");
    return true;
}

/* The last line of main: `return done();` */
static inline int done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failures || !tap_count ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
