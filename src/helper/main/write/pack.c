/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c: compresses the streams of new objects. libdeflate takes a third of zlib's time for a few kilobytes. */
#include "helper/main/pdfd.h"

#include <libdeflate.h>

#define FEW ((apr_size_t)64 << 10)
#define LEVEL_OF_FEW 1 /* a higher level makes texts and outlines of a few kilobytes hardly smaller */
#define LEVEL 6

bool sr_pdfd_pack(sr_pdfd_buffer_t *packed, const void *data, apr_size_t size)
{
    static struct libdeflate_compressor *compressors[2]; /* for all requests to this process */
    const bool few = size <= FEW;
    packed->size = 0;
    if (!compressors[few]) compressors[few] = libdeflate_alloc_compressor(few ? LEVEL_OF_FEW : LEVEL);
    if (!compressors[few] || size <= SR_PDFD_WORTH_PACKING) return false;
    unsigned char *to = sr_pdfd_grow(packed, size);
    packed->size = libdeflate_zlib_compress(compressors[few], data, size, to, size - 1);
    return packed->size;
}
