/* SPDX-License-Identifier: Apache-2.0 */
/* counted.h: a source of database connections that counts how often a connection is borrowed, for tests of use cases.
 */
#ifndef SR_TEST_COUNTED_H
#define SR_TEST_COUNTED_H

#include "store.h"

typedef struct counted_t {
    sr_store_source_t source; /* first: it is what callers hold */
    sr_store_t *store;
    int reads, writes;
} counted_t;

static sr_error_t *counted_borrow(sr_store_source_t *source, sr_store_t **store, apr_pool_t *scratch)
{
    counted_t *counted = (counted_t *)(void *)source;
    *store = counted->store;
    ++*(source->reads ? &counted->reads : &counted->writes);
    return NULL;
}

static void counted_give_back(sr_store_source_t *source, sr_store_t *store)
{
}

#define COUNTED                                                                                                        \
    {                                                                                                                  \
        .source = {.borrow = counted_borrow, .give_back = counted_give_back }                                          \
    }

#endif
