/* SPDX-License-Identifier: Apache-2.0 */
/* mark.c: extracts the visible signature from a signed revision, for the certificate of completion. The revision
 * contains it as one object, which its appearances draw as /M (src/helper/main/fields/appearance.c). If it is an image
 * with transparency, its mask is a second object. The strict parser of appended bytes (appended.c) finds both, and they
 * are decrypted if the document is encrypted. This file decodes no image. Workers scale large signatures down and draw
 * them. */
#include "helper/check/appended.h"
#include "helper/client/worker.h"

#include <apr_encode.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAX_OBJECTS (1 << 20)
#define MAX_SIDE 1000000 /* pixels */
#define CHUNK 24000      /* bytes in one text; the limit for a text is 32 KiB */

typedef struct mark_t {
    sr_pdf_appended_t update; /* the update of the revision that signs */
    const sr_cipher_t *cipher;
    char *objects; /* the objects that were found, one after the other */
    apr_size_t length, most;
    apr_pool_t *pool;
} mark_t;

/* Reads the last update of a revision. The first revision of a document has another one, with the fields. */
static bool read_update(sr_pdf_appended_t *update, const sr_pdf_revised_t *revised, apr_pool_t *pool)
{
    apr_size_t at = 0;
    if (!revised->size) return false;
    for (; at < revised->size; at += update->length) {
        const char *bytes = (const char *)revised->bytes + at;
        if (sr_pdf_appended_read(update, bytes, revised->size - at, revised->base + (apr_off_t)at, MAX_OBJECTS, pool))
            return false;
    }
    return true;
}

/* Returns the object with this number, or NULL. */
static const sr_pdf_object_t *mark_find(const mark_t *mark, apr_int64_t number)
{
    for (int i = 0; i < mark->update.objects->nelts; i++) {
        const sr_pdf_object_t *object = &APR_ARRAY_IDX(mark->update.objects, i, sr_pdf_object_t);
        if (object->number == number) return object;
    }
    return NULL;
}

/* Sets *number to the first number of the value of a key. */
static bool find_number(apr_int64_t *number, const sr_pdf_span_t *body, const char *key)
{
    sr_pdf_span_t value;
    return sr_pdf_find_entry(&value, body, key) && sr_pdf_take_number(&value, number);
}

/* Returns the object that the appearances draw, or NULL. */
static const sr_pdf_object_t *find_drawn(const mark_t *mark)
{
    for (int i = 0; i < mark->update.objects->nelts; i++) {
        const sr_pdf_object_t *object = &APR_ARRAY_IDX(mark->update.objects, i, sr_pdf_object_t);
        sr_pdf_span_t resources, xobjects;
        apr_int64_t number;
        if (sr_pdf_span_begins(&object->body, "<<") && sr_pdf_find_entry(&resources, &object->body, "/Resources")
            && sr_pdf_span_begins(&resources, "<<") && sr_pdf_find_entry(&xobjects, &resources, "/XObject")
            && sr_pdf_span_begins(&xobjects, "<<") && find_number(&number, &xobjects, "/M"))
            return mark_find(mark, number);
    }
    return NULL;
}

/* Adds an object without encryption. Its length is at the end of its dictionary, as src/helper/main/write/update.c
 * writes it. */
static bool mark_put(mark_t *mark, const sr_pdf_span_t *keys, const void *data, apr_size_t length)
{
    const char *rest = apr_psprintf(mark->pool, "/Length %" APR_SIZE_T_FMT ">>stream\n", length);
    const apr_size_t keys_length = (apr_size_t)(keys->end - keys->at), size = keys_length + strlen(rest) + length;
    if (size > mark->most - mark->length) return false;
    char *objects = apr_palloc(mark->pool, mark->length + size), *at = objects + mark->length;
    if (mark->length) memcpy(objects, mark->objects, mark->length);
    memcpy(at, keys->at, keys_length);
    memcpy(at + keys_length, rest, strlen(rest));
    memcpy(at + size - length, data, length);
    mark->objects = objects;
    mark->length += size;
    return true;
}

static bool mark_add(mark_t *mark, const sr_pdf_object_t *object)
{
    static const char length_key[] = "/Length ";
    sr_pdf_span_t value, keys;
    if (!object || !object->is_stream || !sr_pdf_find_entry(&value, &object->body, "/Length")) return false;
    const apr_size_t length = (apr_size_t)(object->data.end - object->data.at);
    if (!length || length > mark->most + SR_CIPHER_MORE || value.end + 2 != object->body.end) return false;
    keys = (sr_pdf_span_t){object->body.at, value.at - strlen(length_key)};
    if (!mark->cipher->method) return mark_put(mark, &keys, object->data.at, length);
    apr_size_t size;
    void *plain = apr_palloc(mark->pool, length);
    return sr_cipher_decrypt(plain, &size, mark->cipher, (int)object->number, object->generation, object->data.at,
                             length)
           && mark_put(mark, &keys, plain, size);
}

/* Returns false if the objects are not found. */
static bool mark_find_objects(mark_t *mark, const sr_pdf_revised_t *revised, const sr_cipher_t *cipher, apr_size_t most,
                              apr_pool_t *pool)
{
    *mark = (mark_t){.cipher = cipher, .most = most, .pool = pool};
    if (!read_update(&mark->update, revised, pool)) return false;
    if (mark->update.trailer.is_encrypted != (cipher->method != SR_CIPHER_NONE)) return false;
    const sr_pdf_object_t *drawn = find_drawn(mark);
    apr_int64_t mask;
    if (!mark_add(mark, drawn)) return false;
    return !(find_number(&mask, &drawn->body, "/SMask") || find_number(&mask, &drawn->body, "/Mask"))
           || mark_add(mark, mark_find(mark, mask));
}

static json_t *mark_texts_of(const char *objects, apr_size_t length, apr_pool_t *pool)
{
    json_t *chunks = json_array();
    const char *last = objects + length;
    for (const char *at = objects; at < last; at += CHUNK) {
        const apr_ssize_t count = last - at < CHUNK ? last - at : CHUNK;
        json_array_append_new(chunks, json_string(apr_pencode_base64(pool, at, count, APR_ENCODE_NONE, NULL)));
    }
    return chunks;
}

json_t *sr_pdf_mark(const sr_pdf_revised_t *revised, const sr_cipher_t *cipher, apr_size_t most, apr_pool_t *pool)
{
    mark_t mark;
    return mark_find_objects(&mark, revised, cipher, most, pool) ? mark_texts_of(mark.objects, mark.length, pool)
                                                                 : NULL;
}

/* ----------------------------------------------------------------------------------------------- large signatures */

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
    for (apr_size_t mark_put = 0; mark_put < length;) {
        const ssize_t count = pwrite(input->descriptor, bytes + mark_put, length - mark_put, (off_t)mark_put);
        if (count < 0 && errno != EINTR) return sr_pdf_unavailable(pool, "no memory for a signature");
        if (count > 0) mark_put += (apr_size_t)count;
    }
    return NULL;
}

/* Has a worker scale a signature down. The result is as untrusted as the signature itself: another request to a worker
 * draws it. */
static sr_error_t *mark_reduce(mark_t *mark, sr_pdf_pool_t *workers, apr_size_t most)
{
    apr_pool_t *pool = mark->pool;
    sr_pdf_output_t *input = apr_palloc(pool, sizeof *input), *output = apr_palloc(pool, sizeof *output);
    bool failed = false, is_refused = false;
    SR_TRY(put_bytes(input, mark->objects, mark->length, pool));
    *output = (sr_pdf_output_t){.descriptor = -1};
    const sr_pdf_request_t request = {
        .op = SR_PDF_OP_REDUCE,
        .descriptor = input->descriptor,
        .output = output,
        .room = SR_PDF_MAX_REDUCED,
        .text = apr_psprintf(pool, "{\"op\":\"%s\",\"most\":%" APR_SIZE_T_FMT "}", SR_PDF_OP_REDUCE, most),
        .read = read_reduced,
        .result = &is_refused};
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    mark->length = 0;
    if (failed || is_refused) return NULL;
    mark->length = (apr_size_t)output->size;
    mark->objects = apr_palloc(pool, mark->length);
    return sr_pdf_read(mark->objects, output->descriptor, 0, mark->length, pool);
}

/* Returns the number of pixels, or 0 if it is a drawing. */
static apr_int64_t pixels_of(const mark_t *mark)
{
    static const char stream[] = ">>stream\n";
    const char *end = memmem(mark->objects, mark->length, stream, strlen(stream));
    const sr_pdf_span_t keys = {mark->objects, end ? end + 2 : mark->objects};
    apr_int64_t width, height;
    if (!end || !sr_pdf_span_begins(&keys, "<<")) return 0;
    if (!find_number(&width, &keys, "/Width") || !find_number(&height, &keys, "/Height")) return 0;
    if (width <= 0 || height <= 0) return 0;
    return width < MAX_SIDE && height < MAX_SIDE ? width * height : (apr_int64_t)MAX_SIDE * MAX_SIDE;
}

/* Returns what a signature takes of the room for all of them: its bytes, or more if it is an image of many pixels. */
static apr_size_t cost_of(const mark_t *mark)
{
    const apr_size_t cost = (apr_size_t)((pixels_of(mark) + SR_PDF_MARK_PIXELS - 1) / SR_PDF_MARK_PIXELS);
    return cost > mark->length ? cost : mark->length;
}

sr_error_t *sr_pdf_mark_reduced(json_t **texts, sr_pdf_pool_t *workers, const sr_pdf_revised_t *revised,
                                const sr_cipher_t *cipher, apr_size_t *room, int shares, apr_pool_t *pool)
{
    const apr_size_t most = *room / (apr_size_t)(shares > 0 ? shares : 1);
    mark_t mark;
    *texts = NULL;
    if (!mark_find_objects(&mark, revised, cipher, revised->size, pool)) return NULL;
    if (mark.length > SR_PDF_LARGE_MARK || cost_of(&mark) > most) SR_TRY(mark_reduce(&mark, workers, most));
    if (!mark.length || cost_of(&mark) > most) return NULL;
    *room -= cost_of(&mark);
    *texts = mark_texts_of(mark.objects, mark.length, pool);
    return NULL;
}

/* ------------------------------------------------------------------------------------------- encrypted documents */

static bool mark_read_key(void *result, const json_t *response, apr_pool_t *pool)
{
    const char *name = sr_json_string(response, "cipher");
    return name ? sr_cipher_read(result, name, sr_json_string(response, "key")) : json_is_object(response);
}

bool sr_pdf_mark_needs_key(const sr_pdf_revised_t *revised, apr_pool_t *pool)
{
    sr_pdf_appended_t update;
    return read_update(&update, revised, pool) && update.trailer.is_encrypted;
}

sr_error_t *sr_pdf_key(sr_cipher_t *cipher, sr_pdf_pool_t *workers, int descriptor, apr_pool_t *pool)
{
    bool failed = false;
    const sr_pdf_request_t request = {
        .op = SR_PDF_OP_KEY, .descriptor = descriptor, .goes_on = true, .read = mark_read_key, .result = cipher};
    *cipher = (sr_cipher_t){0};
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    if (failed) *cipher = (sr_cipher_t){0};
    return NULL;
}
