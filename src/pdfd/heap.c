/* SPDX-License-Identifier: Apache-2.0 */
/* heap.c: how the template leaves its heap to the workers. A page that a worker writes to is copied first, and malloc
 * writes to each free piece that it uses or joins with others. They lie all over the heap after the libraries have been
 * loaded. So the template takes them all itself, and what workers allocate comes from the end of the heap, where new
 * pages cost less and few are needed. */
#include "pdfd/pdfd.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#define LARGEST ((apr_size_t)64 << 10) /* what is larger is returned to the kernel, or is a mapping of its own */
#define STEP ((apr_size_t)16)          /* by which malloc's sizes differ */
#define ROOM (1 << 20)                 /* that is asked of the kernel at once */

/* Takes all free pieces of a size that lie before `end`. */
static void take_all(apr_size_t size, const char *end)
{
    char *piece;
    while ((piece = malloc(size)) && piece < end) continue;
    free(piece);
}

void sr_pdfd_heap_settle(void)
{
    if (SR_PDFD_INSTRUMENTED) return;
    mallopt(M_TOP_PAD, ROOM);
    mallopt(M_TRIM_THRESHOLD, 4 * ROOM);
    malloc_trim(0);
    const char *end = sbrk(0);
    for (apr_size_t size = LARGEST; size >= STEP; size -= size > 1024 ? 256 : STEP) take_all(size, end);
}
