/* SPDX-License-Identifier: Apache-2.0 */
/* heap.c: prepares the heap of the template for the workers. Before a worker can write to a page of memory, the kernel
 * copies it. malloc writes to each free block that it uses or merges, and these blocks are scattered over the heap
 * after the libraries are loaded. So the template allocates all of them itself. Workers then allocate at the end of the
 * heap, where new pages cost less and few are needed. */
#include "pdfd/pdfd.h"
#include "pdfd/process.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#define LARGEST ((apr_size_t)64 << 10) /* larger blocks are returned to the kernel or are mappings of their own */
#define STEP ((apr_size_t)16)          /* granularity of malloc's sizes */
#define ROOM (1 << 20)                 /* requested from the kernel at once */
#define MAPPED (2 * ROOM)              /* blocks from this size on are mappings of their own, which cost page faults */

/* Allocates all free blocks of a size that lie before `end`. */
static void take_all(apr_size_t size, const char *end)
{
    char *piece;
    while ((piece = malloc(size)) && piece < end) continue;
    free(piece);
}

void sr_pdfd_heap_settle(void)
{
    if (SR_PDFD_INSTRUMENTED) return;
    mallopt(M_MMAP_THRESHOLD, MAPPED);
    mallopt(M_TOP_PAD, ROOM);
    mallopt(M_TRIM_THRESHOLD, 4 * ROOM);
    malloc_trim(0);
    const char *end = sbrk(0);
    for (apr_size_t size = LARGEST; size >= STEP; size -= size > 1024 ? 256 : STEP) take_all(size, end);
}
