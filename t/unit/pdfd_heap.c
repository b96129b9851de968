/* SPDX-License-Identifier: Apache-2.0 */
/* pdfd_heap.c: after the template has settled its heap, what is allocated lies behind all that was there before. */
#include "helper/main/pdfd.h"
#include "helper/main/process/process.h"
#include "tap.h"

#include <stdlib.h>

#define PIECES 4000

static char *pieces[PIECES];

static size_t size_of(int i)
{
    return 16 + (size_t)(i * 7919 % 3000);
}

/* How many of some pieces of all sizes lie before `end`. */
static int count_before(const char *end)
{
    int count = 0;
    for (int i = 0; i < PIECES / 4; i++) {
        char *piece = malloc(size_of(i));
        if (piece < end) count++;
        pieces[2 * i] = piece;
    }
    for (int i = 0; i < PIECES / 4; i++) free(pieces[2 * i]);
    return count;
}

int main(void)
{
    const char *end = NULL;
    if (skip_if_sanitized()) return done();
    for (int i = 0; i < PIECES; i++) pieces[i] = malloc(size_of(i));
    for (int i = 0; i < PIECES; i += 2) free(pieces[i]);
    for (int i = 1; i < PIECES; i += 2)
        if (pieces[i] > end) end = pieces[i];
    ok(count_before(end) > 0, "free pieces in between are used again");
    sr_pdfd_heap_settle();
    is_int(count_before(end), 0, "but not once the heap has settled");
    return done();
}
