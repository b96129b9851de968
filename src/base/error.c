/* SPDX-License-Identifier: Apache-2.0 */
/* error.c: makes errors. An error is a plain record in a pool: returning it costs a pointer, and it is freed with the
 * pool. Each error knows the source line that made it, for the log. */
#include "base/base.h"

#include <stdarg.h>

sr_error_t *sr_error_make(apr_pool_t *pool, const char *file, int line, sr_code_t code, const char *format, ...)
{
    sr_error_t *error = apr_pcalloc(pool, sizeof *error);
    va_list arguments;

    sr_assert(code > 0 && code < SR_CODE_COUNT);
    error->code = code;
    error->file = file;
    error->line = line;
    va_start(arguments, format);
    error->message = apr_pvsprintf(pool, format, arguments);
    va_end(arguments);
    return error;
}

sr_error_t *sr_error_because(sr_error_t *error, apr_pool_t *pool, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    error->cause = apr_pvsprintf(pool, format, arguments);
    va_end(arguments);
    return error;
}

sr_error_t *sr_error_hint(sr_error_t *error, apr_pool_t *pool, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const char *hint = apr_pvsprintf(pool, format, arguments);
    va_end(arguments);
    error->hint = error->hint ? apr_pstrcat(pool, error->hint, "; ", hint, NULL) : hint;
    return error;
}

sr_error_t *sr_error_from(sr_error_t *error, const sr_error_t *child)
{
    error->child = child;
    return error;
}

// NOLINTNEXTLINE(misc-no-recursion): one for each cause
sr_error_t *sr_error_copy(const sr_error_t *error, apr_pool_t *pool)
{
    if (!error) return NULL;
    sr_error_t *copy = apr_pmemdup(pool, error, sizeof *error);
    copy->message = apr_pstrdup(pool, error->message);
    copy->cause = apr_pstrdup(pool, error->cause);
    copy->hint = apr_pstrdup(pool, error->hint);
    copy->fields = NULL; /* they live in another pool */
    copy->child = sr_error_copy(error->child, pool);
    return copy;
}

const char *sr_error_text(const sr_error_t *error, bool places, apr_pool_t *pool)
{
    const char *text = "", *between = "";
    for (; error; error = error->child, between = ", because: ") {
        const char *place = places ? apr_psprintf(pool, " at %s:%d", error->file, error->line) : "";
        text = apr_psprintf(pool, "%s%s%s (%s)%s", text, between, error->message,
                            error->cause ? error->cause : "no further cause", place);
    }
    return text;
}

sr_error_t *sr_error_retry(sr_error_t *error, apr_interval_time_t wait)
{
    error->retry_after = (int)((wait + APR_USEC_PER_SEC - 1) / APR_USEC_PER_SEC);
    return error;
}
