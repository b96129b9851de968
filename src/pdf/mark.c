/* mark.c: the signature that was seen when a document was signed, for the certificate of completion. What was appended
 * then holds it as one object, which its appearances draw as /M (src/pdfd/appearance.c). It is found by its bytes, and
 * a worker draws it: nothing of it is parsed here. */
#include "pdf/pdf.h"

#include <apr_encode.h>
#include <string.h>

#define MAX_DICTIONARY 2000
#define CHUNK 24000 /* bytes that are one text, which must have less than 32 KiB */

/* The number that follows `words` from `at` on, or -1. */
static long number_after(const char *at, const char *end, const char *words)
{
    const char *found = memmem(at, (size_t)(end - at), words, strlen(words));
    long number = 0;
    if (!found) return -1;
    for (found += strlen(words); found < end && *found >= '0' && *found <= '9' && number < 100000000; found++)
        number = number * 10 + (*found - '0');
    return number;
}

json_t *sr_pdf_mark(const void *revision, apr_size_t size, apr_size_t most, apr_pool_t *pool)
{
    static const char stream[] = ">>stream\n";
    const char *bytes = revision, *end = bytes + size;
    const long object = number_after(bytes, end, "/XObject<</M ");
    const char *head = apr_psprintf(pool, "\n%ld 0 obj\n<<", object);
    const char *found = object > 0 ? memmem(bytes, size, head, strlen(head)) : NULL;
    if (object > 0 && size >= strlen(head) && !memcmp(bytes, head + 1, strlen(head) - 1)) found = bytes - 1;
    if (!found) return NULL;
    const char *begin = found + strlen(head) - 2;
    const size_t left = (size_t)(end - begin), near = left < MAX_DICTIONARY ? left : MAX_DICTIONARY;
    const char *data = memmem(begin, near, stream, strlen(stream));
    const long length = data ? number_after(begin, data, "/Length ") : -1;
    if (length <= 0 || (apr_size_t)length > most || length > end - data - (long)strlen(stream)) return NULL;
    const char *last = data + strlen(stream) + length;
    json_t *chunks = json_array();
    for (const char *at = begin; at < last; at += CHUNK) {
        const apr_ssize_t count = last - at < CHUNK ? last - at : CHUNK;
        json_array_append_new(chunks, json_string(apr_pencode_base64(pool, at, count, APR_ENCODE_NONE, NULL)));
    }
    return chunks;
}
