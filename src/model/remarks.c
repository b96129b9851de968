/* SPDX-License-Identifier: Apache-2.0 */
/* remarks.c: the `warnings` in the response to a creation: input that was accepted but may not be what the caller
 * meant. */
#include "model/model.h"

#include <stdarg.h>
#include <string.h>

#define MOST 20       /* texts that are kept; further ones are counted */
#define NAME_SHOWN 64 /* characters */

struct sr_remarks_t {
    apr_array_header_t *texts; /* const char * */
    int left_out;
    apr_pool_t *pool;
};

sr_remarks_t *sr_remarks_make(apr_pool_t *pool)
{
    sr_remarks_t *remarks = apr_pcalloc(pool, sizeof *remarks);
    remarks->texts = apr_array_make(pool, 4, sizeof(const char *));
    remarks->pool = pool;
    return remarks;
}

void sr_remark(sr_remarks_t *remarks, const char *format, ...)
{
    va_list arguments;

    if (!remarks) return;
    va_start(arguments, format);
    const char *text = apr_pvsprintf(remarks->pool, format, arguments);
    va_end(arguments);
    for (int i = 0; i < remarks->texts->nelts; i++)
        if (!strcmp(APR_ARRAY_IDX(remarks->texts, i, const char *), text)) return;
    if (remarks->texts->nelts < MOST) APR_ARRAY_PUSH(remarks->texts, const char *) = text;
    else remarks->left_out++;
}

const char *sr_remark_name(const char *name, apr_pool_t *pool)
{
    return *name ? sr_text_printable(sr_text_cut(name, NAME_SHOWN, pool), pool) : "without a name";
}

json_t *sr_remarks_json(const sr_remarks_t *remarks)
{
    if (!remarks || !remarks->texts->nelts) return NULL;
    json_t *list = json_array();
    for (int i = 0; i < remarks->texts->nelts; i++)
        json_array_append_new(list, json_string(APR_ARRAY_IDX(remarks->texts, i, const char *)));
    if (remarks->left_out) json_array_append_new(list, json_sprintf("and %d more", remarks->left_out));
    return list;
}

sr_error_t *sr_remarks_hint(sr_error_t *error, const sr_remarks_t *remarks)
{
    for (int i = 0; error && error->code == SR_EBADREQUEST && i < remarks->texts->nelts; i++)
        sr_error_hint(error, remarks->pool, "%s", APR_ARRAY_IDX(remarks->texts, i, const char *));
    return error;
}
