/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.c: growing buffers, and the syntax of numbers and texts in PDF (ISO 32000-2, 7.3). sigreq-pdfd makes all its
 * output in such buffers. If memory runs out, the process ends, and its client blames the document. */
#include "helper/main/pdfd.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FARTHEST 1e9 /* the limit of model/area.c; larger numbers are not valid places */

static apr_status_t buffer_release(void *data)
{
    free(((sr_pdfd_buffer_t *)data)->data);
    return APR_SUCCESS;
}

sr_pdfd_buffer_t *sr_pdfd_buffer(apr_pool_t *pool)
{
    sr_pdfd_buffer_t *buffer = apr_pcalloc(pool, sizeof *buffer);
    apr_pool_cleanup_register(pool, buffer, buffer_release, apr_pool_cleanup_null);
    return buffer;
}

unsigned char *sr_pdfd_grow(sr_pdfd_buffer_t *buffer, apr_size_t size)
{
    if (buffer->size + size + 1 > buffer->room) {
        buffer->room = 2 * (buffer->size + size + 1);
        buffer->data = realloc(buffer->data, buffer->room);
        if (!buffer->data) _exit(1);
    }
    unsigned char *at = buffer->data + buffer->size;
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
    return at;
}

void sr_pdfd_put(sr_pdfd_buffer_t *buffer, const void *bytes, apr_size_t size)
{
    unsigned char *at = sr_pdfd_grow(buffer, size);
    if (size) memcpy(at, bytes, size);
}

void sr_pdfd_put_text(sr_pdfd_buffer_t *buffer, const char *text)
{
    sr_pdfd_put(buffer, text, strlen(text));
}

void sr_pdfd_print(sr_pdfd_buffer_t *buffer, const char *format, ...)
{
    char small[256];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(small, sizeof small, format, arguments);
    if (size > 0 && size < (int)sizeof small) sr_pdfd_put(buffer, small, (apr_size_t)size);
    else if (size > 0) (void)vsnprintf((char *)sr_pdfd_grow(buffer, (apr_size_t)size), (size_t)size + 1, format, again);
    va_end(again);
    va_end(arguments);
}

/* Not by printf, which takes ten times as long and depends on the locale. A drawn signature has thousands of numbers.
 */
void sr_pdfd_put_number(sr_pdfd_buffer_t *buffer, double value)
{
    char text[32], *end = text + sizeof text, *at = end;
    const bool is_whole = fabs(value) <= FARTHEST && value == (int)value; /* as most are */
    if (!isfinite(value)) value = 0;
    long long scaled = is_whole ? (long long)value * 10000 : llround(fmax(-FARTHEST, fmin(FARTHEST, value)) * 10000);
    unsigned long long rest = (unsigned long long)(scaled < 0 ? -scaled : scaled);
    *--at = ' ';
    unsigned fraction = (unsigned)(rest % 10000);
    if (fraction) {
        int digits = 4;
        for (; fraction % 10 == 0; fraction /= 10) digits--;
        for (; digits > 0; digits--, fraction /= 10) *--at = (char)('0' + fraction % 10);
        *--at = '.';
    }
    rest /= 10000;
    do *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (scaled < 0) *--at = '-';
    sr_pdfd_put(buffer, at, (apr_size_t)(end - at));
}

void sr_pdfd_put_numbers(sr_pdfd_buffer_t *buffer, const double *values, int count)
{
    for (int i = 0; i < count; i++) sr_pdfd_put_number(buffer, values[i]);
}

static bool is_printable_ascii(const char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~') return false;
    return true;
}

void sr_pdfd_put_utf16(sr_pdfd_buffer_t *buffer, const char *text)
{
    for (uint32_t c; (c = sr_text_next(&text)) != 0;) {
        if (c > 0xffff) sr_pdfd_print(buffer, "%04X%04X", 0xd800 | ((c - 0x10000) >> 10), 0xdc00 | (c & 0x3ff));
        else sr_pdfd_print(buffer, "%04X", c);
    }
}

void sr_pdfd_put_string(sr_pdfd_buffer_t *buffer, const char *text)
{
    if (is_printable_ascii(text)) {
        sr_pdfd_put_text(buffer, "(");
        for (; *text; text++) {
            if (strchr("()\\", *text)) sr_pdfd_put_text(buffer, "\\");
            sr_pdfd_put(buffer, text, 1);
        }
        sr_pdfd_put_text(buffer, ")");
        return;
    }
    sr_pdfd_put_text(buffer, "<FEFF");
    sr_pdfd_put_utf16(buffer, text);
    sr_pdfd_put_text(buffer, ">");
}

void sr_pdfd_put_hex(sr_pdfd_buffer_t *buffer, const void *bytes, apr_size_t size)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char *at = sr_pdfd_grow(buffer, 2 * size);
    for (apr_size_t i = 0; i < size; i++) {
        int byte = ((const unsigned char *)bytes)[i];
        at[2 * i] = (unsigned char)digits[byte >> 4];
        at[2 * i + 1] = (unsigned char)digits[byte & 15];
    }
}
