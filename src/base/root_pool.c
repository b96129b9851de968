/* SPDX-License-Identifier: Apache-2.0 */
/* root_pool.c: pools that belong to no other pool. */
#include "base/base.h"

apr_pool_t *sr_pool_alone(void)
{
    apr_allocator_t *allocator;
    apr_pool_t *pool;
    if (apr_allocator_create(&allocator)) return NULL;
    if (apr_pool_create_unmanaged_ex(&pool, NULL, allocator)) {
        apr_allocator_destroy(allocator);
        return NULL;
    }
    apr_allocator_owner_set(allocator, pool);
    return pool;
}
