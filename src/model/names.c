/* SPDX-License-Identifier: Apache-2.0 */
/* names.c: the words of names.def. */
#include "model/names.h"

#include <string.h>

#define NAME(word) #word,
#define SR_STATUS NAME
const char *const sr_status_names[] = {
#include "model/names.def"
    NULL};
#define SR_FILTER NAME
const char *const sr_filter_names[] = {
#include "model/names.def"
    NULL};
#define SR_NOTICE NAME
const char *const sr_notice_names[] = {
#include "model/names.def"
    NULL};

bool sr_name_is(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0) names++;
    return *names != NULL;
}

sr_error_t *sr_name_expect(const char *const *names, const char *name, const char *label, apr_pool_t *pool)
{
    const char *list = label;
    if (!name || sr_name_is(names, name)) return NULL;
    for (int i = 0; names[i]; i++)
        list = apr_pstrcat(pool, list, !i ? " must be " : names[i + 1] ? ", " : " or ", names[i], NULL);
    return sr_error(pool, SR_EBADREQUEST, "%s", list);
}
