/* SPDX-License-Identifier: Apache-2.0 */
/* heap.c: prepares the heap of the template for the workers. Before a worker can write to a page of memory, the kernel
 * copies it. malloc writes to each free block that it uses or merges, and these blocks are scattered over the heap
 * after the libraries are loaded. So the template allocates all of them itself. Workers then allocate at the end of the
 * heap, where new pages cost less and few are needed. */
#include "helper/main/pdfd.h"
#include "helper/main/process/process.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGEST ((apr_size_t)64 << 10) /* larger blocks are returned to the kernel or are mappings of their own */
#define STEP ((apr_size_t)16)          /* granularity of malloc's sizes */
#define ROOM (1 << 20)                 /* requested from the kernel at once */
#define MAPPED (3 * ROOM)              /* blocks from this size on are mappings of their own, which cost page faults */

#define MARGIN ((apr_size_t)64 << 10) /* for what the template itself allocates for a fork */

static char *huge_page; /* a large page in the heap that nothing has written to; NULL: there is none */

/* Allocates all free blocks of a size that lie before `end`. */
static void heap_take_all(apr_size_t size, const char *end)
{
    char *piece;
    while ((piece = malloc(size)) && piece < end) continue;
    free(piece);
}

/* Allocates the memory before the next large page except a margin, so that workers begin there, and lets the heap
 * contain that page, because the kernel makes no large page of memory that is added after a fork. The template must not
 * write to it, otherwise the kernel would give the workers small ones. */
static void take_until_huge_page(void)
{
    char *last = malloc(LARGEST); /* no free block is that large, so it is at the end */
    huge_page = NULL;
    if (!last) return;
    const apr_size_t gap = SR_PDFD_HUGE_PAGE - (uintptr_t)(last + LARGEST) % SR_PDFD_HUGE_PAGE;
    if (gap <= 2 * MARGIN || !malloc(gap - MARGIN)) return;
    void *volatile room = malloc(MARGIN + SR_PDFD_HUGE_PAGE); /* volatile, or the compiler would leave this out */
    free(room);                                               /* it stays in the heap */
    if ((char *)sbrk(0) >= last + LARGEST + gap + SR_PDFD_HUGE_PAGE) huge_page = last + LARGEST + gap;
}

void sr_pdfd_heap_settle(void)
{
    if (SR_PDFD_INSTRUMENTED) return;
    mallopt(M_MMAP_THRESHOLD, MAPPED);
    mallopt(M_TOP_PAD, ROOM);
    mallopt(M_TRIM_THRESHOLD, 4 * ROOM);
    malloc_trim(0);
    const char *end = sbrk(0);
    for (apr_size_t size = LARGEST; size >= STEP; size -= size > 1024 ? 256 : STEP) heap_take_all(size, end);
    take_until_huge_page();
}

/* A large page costs as much as 60 small ones, and drawing a page of text takes more than 400 of them. */
void sr_pdfd_heap_grow(void)
{
    if (huge_page) madvise(huge_page, SR_PDFD_HUGE_PAGE, MADV_HUGEPAGE);
    huge_page = NULL;
}
