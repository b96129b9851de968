/* SPDX-License-Identifier: Apache-2.0 */
/* updates.h: updates as they are read (helper/check/appended.h), made of texts, and with one object changed. */
#ifndef SR_TEST_UPDATES_H
#define SR_TEST_UPDATES_H

#include "helper/check/appended.h"

#include <apr_strings.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline sr_pdf_object_t update_object(int number, const char *text)
{
    sr_pdf_object_t object = {.number = number, .body = {text, text + strlen(text)}};
    object.is_stream = strstr(text, "/Length") != NULL;
    return object;
}

static inline const char *update_replaced(const char *text, const char *find, const char *put, apr_pool_t *pool)
{
    const char *found = strstr(text, find);
    if (!found) printf("# no %s in %s\n", find, text);
    if (!found) abort();
    const char *before = apr_pstrmemdup(pool, text, (apr_size_t)(found - text));
    return apr_pstrcat(pool, before, put, found + strlen(find), NULL);
}

/* Changes an object as a row of the test's table says. */
typedef void update_change_t(sr_pdf_object_t *object, size_t row);

/* The same objects, with the one of that number changed, or without it. */
static inline apr_array_header_t *update_changed(const apr_array_header_t *objects, int number, bool drop,
                                                 update_change_t *change, size_t row, apr_pool_t *pool)
{
    apr_array_header_t *made = apr_array_make(pool, objects->nelts + 1, sizeof(sr_pdf_object_t));
    for (int i = 0; i < objects->nelts; i++) {
        sr_pdf_object_t object = APR_ARRAY_IDX(objects, i, sr_pdf_object_t);
        const bool meant = object.number == number;
        if (meant) change(&object, row);
        if (!meant || !drop) APR_ARRAY_PUSH(made, sr_pdf_object_t) = object;
    }
    return made;
}

#endif
