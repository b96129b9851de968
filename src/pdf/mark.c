/* SPDX-License-Identifier: Apache-2.0 */
/* mark.c: extracts the visible signature from a signed revision, for the certificate of completion. The revision
 * contains it as one object, which its appearances draw as /M (src/pdfd/appearance.c). If it is an image with
 * transparency, its mask is a second object. Both are found by searching the bytes, and decrypted if the document is
 * encrypted. This file decodes no image. Workers scale large images down and draw them. */
#include "pdf/worker.h"

#include <apr_encode.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAX_DICTIONARY 2000
#define CHUNK 24000 /* bytes in one text; the limit for a text is 32 KiB */

typedef struct mark_t {
    const char *bytes, *end; /* the appended revision */
    const sr_cipher_t *cipher;
    char *objects; /* the objects that were found, one after the other */
    apr_size_t length, most;
    apr_pool_t *pool;
} mark_t;

static bool has(const char *at, const char *end, const char *words)
{
    return memmem(at, (size_t)(end - at), words, strlen(words)) != NULL;
}

/* Returns the first number that follows `words` in the bytes, or -1. */
static long number_after(const char *at, const char *end, const char *words)
{
    const char *found = memmem(at, (size_t)(end - at), words, strlen(words));
    long number = 0;
    if (!found) return -1;
    for (found += strlen(words); found < end && *found >= '0' && *found <= '9' && number < 100000000; found++)
        number = number * 10 + (*found - '0');
    return number;
}

/* Returns the dictionary of an object, or NULL. */
static const char *find(const mark_t *mark, long number)
{
    const char *head = apr_psprintf(mark->pool, "\n%ld 0 obj\n<<", number);
    const size_t size = (size_t)(mark->end - mark->bytes), length = strlen(head);
    if (number <= 0 || size < length) return NULL;
    if (!memcmp(mark->bytes, head + 1, length - 1)) return mark->bytes + length - 3;
    const char *found = memmem(mark->bytes, size, head, length);
    return found ? found + length - 2 : NULL;
}

/* Adds an object without encryption. Its length is at the end of its dictionary, as src/pdfd/writer.c writes it. */
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

/* Adds the object with this number. *mask becomes the number of its mask, or 0 or less if it has none. */
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
    *mask = number_after(keys, end, "Mask "); /* /SMask, or /Mask in PDF/A */
    if (!mark->cipher->method) return put(mark, keys, (apr_size_t)(end - keys), data, (apr_size_t)length);
    apr_size_t size;
    void *plain = apr_palloc(mark->pool, (apr_size_t)length);
    return sr_cipher_decrypt(plain, &size, mark->cipher, number, 0, data, (apr_size_t)length)
           && put(mark, keys, (apr_size_t)(end - keys), plain, size);
}

static bool is_encrypted(const char *bytes, const char *end)
{
    return has(bytes, end, " R/Encrypt ");
}

/* Returns false if the objects are not found. */
static bool find_objects(mark_t *mark, const void *revision, apr_size_t size, const sr_cipher_t *cipher,
                         apr_size_t most, apr_pool_t *pool)
{
    long mask = 0, ignored;
    *mark = (mark_t){revision, (const char *)revision + size, cipher, NULL, 0, most, pool};
    if (!cipher->method && is_encrypted(mark->bytes, mark->end)) return false;
    if (!add(mark, number_after(mark->bytes, mark->end, "/XObject<</M "), &mask)) return false;
    return mask <= 0 || add(mark, mask, &ignored);
}

static json_t *texts_of(const char *objects, apr_size_t length, apr_pool_t *pool)
{
    json_t *chunks = json_array();
    const char *last = objects + length;
    for (const char *at = objects; at < last; at += CHUNK) {
        const apr_ssize_t count = last - at < CHUNK ? last - at : CHUNK;
        json_array_append_new(chunks, json_string(apr_pencode_base64(pool, at, count, APR_ENCODE_NONE, NULL)));
    }
    return chunks;
}

json_t *sr_pdf_mark(const void *revision, apr_size_t size, const sr_cipher_t *cipher, apr_size_t most, apr_pool_t *pool)
{
    mark_t mark;
    return find_objects(&mark, revision, size, cipher, most, pool) ? texts_of(mark.objects, mark.length, pool) : NULL;
}

/* -------------------------------------------------------------------------------------------------- large images */

static bool read_reduced(void *result, const json_t *response, apr_pool_t *pool)
{
    const json_t *length = json_object_get(response, "length");
    bool *is_refused = result;
    *is_refused = !length;
    return length ? json_integer_value(length) > 0 : sr_pdf_is_plain(sr_json_string(response, "refused"));
}

/* Makes *input a file in memory with these bytes. */
static sr_error_t *put_bytes(sr_pdf_output_t *input, const char *bytes, apr_size_t length, apr_pool_t *pool)
{
    *input = (sr_pdf_output_t){.descriptor = -1};
    SR_TRY(sr_pdf_output_begin(input, length, pool));
    for (apr_size_t put = 0; put < length;) {
        const ssize_t count = pwrite(input->descriptor, bytes + put, length - put, (off_t)put);
        if (count < 0 && errno != EINTR) return sr_pdf_unavailable(pool, "no memory for an image");
        if (count > 0) put += (apr_size_t)count;
    }
    return NULL;
}

/* Has a worker scale an image down. The result is as untrusted as the image itself: another request to a worker draws
 * it. */
static sr_error_t *reduce(json_t **texts, sr_pdf_pool_t *workers, const mark_t *mark, apr_size_t most)
{
    apr_pool_t *pool = mark->pool;
    sr_pdf_output_t *input = apr_palloc(pool, sizeof *input), *output = apr_palloc(pool, sizeof *output);
    bool failed = false, is_refused = false;
    SR_TRY(put_bytes(input, mark->objects, mark->length, pool));
    *output = (sr_pdf_output_t){.descriptor = -1};
    const sr_pdf_request_t request = {.op = SR_PDF_OP_REDUCE,
                                      .descriptor = input->descriptor,
                                      .output = output,
                                      .room = SR_PDF_MAX_REDUCED,
                                      .read = read_reduced,
                                      .result = &is_refused};
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    const apr_size_t length = (apr_size_t)output->size;
    if (failed || is_refused || length > most) return NULL;
    char *objects = apr_palloc(pool, length);
    SR_TRY(sr_pdf_read(objects, output->descriptor, 0, length, pool));
    *texts = texts_of(objects, length, pool);
    return NULL;
}

sr_error_t *sr_pdf_mark_reduced(json_t **texts, sr_pdf_pool_t *workers, const void *revision, apr_size_t size,
                                const sr_cipher_t *cipher, apr_size_t most, apr_pool_t *pool)
{
    mark_t mark;
    *texts = NULL;
    if (!find_objects(&mark, revision, size, cipher, size, pool)) return NULL;
    if (mark.length > SR_PDF_LARGE_MARK) return reduce(texts, workers, &mark, most);
    if (mark.length <= most) *texts = texts_of(mark.objects, mark.length, pool);
    return NULL;
}

/* ------------------------------------------------------------------------------------------- encrypted documents */

static bool read_key(void *result, const json_t *response, apr_pool_t *pool)
{
    const char *name = sr_json_string(response, "cipher");
    return name ? sr_cipher_read(result, name, sr_json_string(response, "key")) : json_is_object(response);
}

bool sr_pdf_mark_needs_key(const void *revision, apr_size_t size)
{
    return is_encrypted(revision, (const char *)revision + size);
}

sr_error_t *sr_pdf_key(sr_cipher_t *cipher, sr_pdf_pool_t *workers, int descriptor, apr_pool_t *pool)
{
    bool failed = false;
    const sr_pdf_request_t request = {
        .op = SR_PDF_OP_KEY, .descriptor = descriptor, .goes_on = true, .read = read_key, .result = cipher};
    *cipher = (sr_cipher_t){0};
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    if (failed) *cipher = (sr_cipher_t){0};
    return NULL;
}
