/* error.c: making errors. An error is a plain record in a pool, so passing one up costs a pointer and freeing
 * it costs nothing; where it was made is kept for the log. */
#include "base/base.h"

#include <stdarg.h>

sr_error_t *sr_error_make(apr_pool_t *pool, const char *file, int line, sr_code_t code, const char *format, ...)
{
    sr_error_t *error = apr_pcalloc(pool, sizeof *error);
    va_list arguments;

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

sr_error_t *sr_error_retry(sr_error_t *error, apr_interval_time_t wait)
{
    error->retry_after = (int)((wait + APR_USEC_PER_SEC - 1) / APR_USEC_PER_SEC);
    return error;
}
