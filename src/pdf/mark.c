/* mark.c: the signature that was seen when a document was signed, for the certificate of completion. What was appended
 * then holds it as one object, which its appearances draw as /M (src/pdfd/appearance.c), and its mask as another one if
 * it is an image with transparency. They are found by their bytes and decrypted if the document is encrypted. A worker
 * draws them: nothing of them is decoded here. */
#include "pdf/pdf.h"

#include <apr_encode.h>
#include <string.h>

#define MAX_DICTIONARY 2000
#define CHUNK 24000 /* bytes that are one text, which must have less than 32 KiB */

typedef struct mark_t {
    const char *bytes, *end; /* what was appended */
    const sr_cipher_t *cipher;
    char *objects; /* that were found, one after the other */
    apr_size_t length, most;
    apr_pool_t *pool;
} mark_t;

static bool has(const char *at, const char *end, const char *words)
{
    return memmem(at, (size_t)(end - at), words, strlen(words)) != NULL;
}

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

/* The dictionary of an object, or NULL. */
static const char *find(const mark_t *mark, long number)
{
    const char *head = apr_psprintf(mark->pool, "\n%ld 0 obj\n<<", number);
    const size_t size = (size_t)(mark->end - mark->bytes), length = strlen(head);
    if (number <= 0 || size < length) return NULL;
    if (!memcmp(mark->bytes, head + 1, length - 1)) return mark->bytes + length - 3;
    const char *found = memmem(mark->bytes, size, head, length);
    return found ? found + length - 2 : NULL;
}

/* An object without encryption, its length at the end of its dictionary as src/pdfd/writer.c writes it. */
static bool put(mark_t *mark, const char *keys, apr_size_t keys_length, const void *data, apr_size_t length)
{
    const char *rest = apr_psprintf(mark->pool, "/Length %" APR_SIZE_T_FMT ">>stream\n", length);
    const apr_size_t size = keys_length + strlen(rest) + length;
    if (size > mark->most - mark->length) return false;
    char *objects = apr_palloc(mark->pool, mark->length + size), *at = objects + mark->length;
    if (mark->length) memcpy(objects, mark->objects, mark->length);
    memcpy(at, keys, keys_length);
    memcpy(at + keys_length, rest, strlen(rest));
    memcpy(at + size - length, data, length);
    mark->objects = objects;
    mark->length += size;
    return true;
}

/* *mask: the number of the object that is its mask; at most 0 if it has no mask. */
static bool add(mark_t *mark, long number, long *mask)
{
    static const char stream[] = ">>stream\n", length_key[] = "/Length ";
    const char *keys = find(mark, number), *data;
    if (!keys) return false;
    const size_t left = (size_t)(mark->end - keys), near = left < MAX_DICTIONARY ? left : MAX_DICTIONARY;
    data = memmem(keys, near, stream, strlen(stream));
    const char *end = data ? memmem(keys, (size_t)(data - keys), length_key, strlen(length_key)) : NULL;
    if (!end) return false;
    const long length = number_after(end, data, length_key);
    data += strlen(stream);
    if (length <= 0 || length > mark->end - data || (apr_size_t)length > mark->most + SR_CIPHER_MORE) return false;
    *mask = number_after(keys, end, "Mask "); /* /SMask or, in PDF/A, /Mask */
    if (!mark->cipher->method) return put(mark, keys, (apr_size_t)(end - keys), data, (apr_size_t)length);
    apr_size_t size;
    void *plain = apr_palloc(mark->pool, (apr_size_t)length);
    return sr_cipher_decrypt(plain, &size, mark->cipher, number, 0, data, (apr_size_t)length)
           && put(mark, keys, (apr_size_t)(end - keys), plain, size);
}

json_t *sr_pdf_mark(const void *revision, apr_size_t size, const sr_cipher_t *cipher, apr_size_t most, apr_pool_t *pool)
{
    mark_t mark = {revision, (const char *)revision + size, cipher, NULL, 0, most, pool};
    long mask = 0, ignored;
    if (!cipher->method && has(mark.bytes, mark.end, " R/Encrypt ")) return NULL;
    if (!add(&mark, number_after(mark.bytes, mark.end, "/XObject<</M "), &mask)) return NULL;
    if (mask > 0 && !add(&mark, mask, &ignored)) return NULL;
    json_t *chunks = json_array();
    const char *last = mark.objects + mark.length;
    for (const char *at = mark.objects; at < last; at += CHUNK) {
        const apr_ssize_t count = last - at < CHUNK ? last - at : CHUNK;
        json_array_append_new(chunks, json_string(apr_pencode_base64(pool, at, count, APR_ENCODE_NONE, NULL)));
    }
    return chunks;
}
