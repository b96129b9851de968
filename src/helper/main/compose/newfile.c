/* SPDX-License-Identifier: Apache-2.0 */
/* newfile.c: writes a new document (ISO 32000-2, 7.5): objects, a cross-reference table and a trailer. */
#include "helper/main/compose/canvas.h"

#include <string.h>

#define ID_DIGITS 32

sr_pdfd_file_t *sr_pdfd_file(apr_pool_t *pool)
{
    sr_pdfd_file_t *file = apr_palloc(pool, sizeof *file);
    *file = (sr_pdfd_file_t){.out = sr_pdfd_buffer(pool), .pool = pool};
    file->offsets = apr_array_make(pool, 256, sizeof(apr_size_t));
    sr_pdfd_put_text(file->out, "%PDF-1.5\n%\xbf\xf7\xa2\xfe\n");
    return file;
}

int sr_pdfd_file_number(sr_pdfd_file_t *file)
{
    APR_ARRAY_PUSH(file->offsets, apr_size_t) = 0;
    return file->offsets->nelts;
}

sr_pdfd_buffer_t *sr_pdfd_file_begin(sr_pdfd_file_t *file, int number)
{
    APR_ARRAY_IDX(file->offsets, number - 1, apr_size_t) = file->out->size;
    sr_pdfd_print(file->out, "%d 0 obj\n", number);
    return file->out;
}

void sr_pdfd_file_end(sr_pdfd_file_t *file)
{
    sr_pdfd_put_text(file->out, "\nendobj\n");
}

int sr_pdfd_file_stream(sr_pdfd_file_t *file, const char *keys, const void *data, apr_size_t size)
{
    const int number = sr_pdfd_file_number(file);
    sr_pdfd_buffer_t *packed = sr_pdfd_buffer(file->pool), *out = sr_pdfd_file_begin(file, number);
    const bool is_packed = sr_pdfd_pack(packed, data, size);
    if (is_packed) size = packed->size;
    sr_pdfd_print(out, "<<%s%s/Length %lld>>stream\n", keys, is_packed ? "/Filter/FlateDecode" : "", (long long)size);
    sr_pdfd_put(out, is_packed ? packed->data : data, size);
    sr_pdfd_put_text(out, "\nendstream");
    sr_pdfd_file_end(file);
    return number;
}

void sr_pdfd_file_close(sr_pdfd_file_t *file, int catalog, int information)
{
    sr_pdfd_buffer_t *out = file->out;
    const apr_size_t start = out->size;
    const char *id = apr_pstrndup(file->pool, sr_sha256_hex(out->data, out->size, file->pool), ID_DIGITS);
    sr_pdfd_print(out, "xref\n0 %d\n0000000000 65535 f \n", file->offsets->nelts + 1);
    for (int i = 0; i < file->offsets->nelts; i++)
        sr_pdfd_print(out, "%010llu 00000 n \n", (unsigned long long)APR_ARRAY_IDX(file->offsets, i, apr_size_t));
    sr_pdfd_print(out, "trailer\n<</Size %d/Root %d 0 R/Info %d 0 R/ID[<%s><%s>]>>\nstartxref\n%llu\n%%%%EOF\n",
                  file->offsets->nelts + 1, catalog, information, id, id, (unsigned long long)start);
}
