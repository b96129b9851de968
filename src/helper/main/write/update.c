/* SPDX-License-Identifier: Apache-2.0 */
/* update.c: makes an incremental update (ISO 32000-2, 7.5.6): objects and a cross-reference section of the same kind as
 * the newest one (7.5.4 and 7.5.8). A hybrid file is continued with a table. No byte of the document changes, so
 * earlier signatures stay valid, and the upload is a prefix of every revision. */
#include "helper/main/pdfd.h"
#include "helper/main/read/scan.h"

#include <stdlib.h>
#include <string.h>

#define OWN_ID 32          /* digits */
#define FAR_NUMBERS 500000 /* more numbers than all updates of a document need */

typedef struct entry_t {
    int64_t number;
    int generation;
    apr_size_t offset;
} entry_t;

void sr_pdfd_update_begin(sr_pdfd_update_t *update, const sr_pdfd_document_t *document, apr_pool_t *pool)
{
    const sr_pdfd_bytes_t *bytes = &document->bytes;
    *update = (sr_pdfd_update_t){.document = document, .next = document->xref.highest + 1, .pool = pool};
    update->out = sr_pdfd_buffer(pool);
    update->entries = apr_array_make(pool, 16, sizeof(entry_t));
    if (bytes->data[bytes->size - 1] != '\n') sr_pdfd_put_text(update->out, "\n");
}

void sr_pdfd_update_new(sr_pdfd_update_t *update, apr_pool_t *pool)
{
    static const sr_pdfd_document_t none;
    *update = (sr_pdfd_update_t){.document = &none, .next = 1, .pool = pool};
    update->out = sr_pdfd_buffer(pool);
    update->entries = apr_array_make(pool, 256, sizeof(entry_t));
    sr_pdfd_put_text(update->out, "%PDF-1.5\n%\xbf\xf7\xa2\xfe\n");
}

/* Reads white space and the number before it backwards. *at is the end of the white space, and then the number. */
static bool read_back(const unsigned char **at, const unsigned char *from, int64_t *number)
{
    const unsigned char *c = *at;
    int64_t scale = 1;
    while (c > from && is_space(c[-1])) c--;
    if (c == *at) return false;
    *number = 0;
    for (*at = c; c > from && c[-1] >= '0' && c[-1] <= '9' && scale < INT32_MAX; c--, scale *= 10)
        *number += (c[-1] - '0') * scale;
    const bool found = c < *at;
    *at = c;
    return found;
}

static void avoid_in(sr_pdfd_update_t *update, const unsigned char *data, apr_size_t size)
{
    const unsigned char *end = data + size;
    for (const unsigned char *at = data; (at = memchr(at, 'R', (size_t)(end - at))); at++) {
        const unsigned char *c = at;
        int64_t generation, number;
        if (!read_back(&c, data, &generation) || !read_back(&c, data, &number)) continue;
        if (number >= update->next && number - update->next < FAR_NUMBERS) update->next = number + 1;
    }
}

/* Looks into the object stream whose dictionary has the bytes at `at`. */
static void avoid_in_stream(sr_pdfd_update_t *update, const unsigned char *at)
{
    static const char begin[] = " obj";
    const unsigned char *data = update->document->bytes.data;
    qpdf_data q = update->document->q;
    while (at > data && memcmp(at, begin, sizeof begin - 1) != 0) at--;
    int64_t generation, number;
    at++;
    if (!read_back(&at, data, &generation) || !read_back(&at, data, &number)) return;
    qpdf_oh stream = qpdf_get_object_by_id(q, (int)number, (int)generation);
    unsigned char *text = NULL;
    size_t size = 0;
    QPDF_BOOL filtered = QPDF_FALSE;
    if (qpdf_oh_is_stream(q, stream)
        && !(qpdf_oh_get_stream_data(q, stream, qpdf_dl_generalized, &filtered, &text, &size) & QPDF_ERRORS))
        avoid_in(update, text, size);
    free(text);
    qpdf_oh_release(q, stream);
}

void sr_pdfd_update_avoid(sr_pdfd_update_t *update)
{
    static const char kind[] = "/ObjStm";
    const sr_pdfd_bytes_t *bytes = &update->document->bytes;
    const unsigned char *end = bytes->data + bytes->size;
    avoid_in(update, bytes->data, bytes->size);
    for (const unsigned char *at = bytes->data; (at = memmem(at, (size_t)(end - at), kind, sizeof kind - 1)); at++)
        avoid_in_stream(update, at);
}

int64_t sr_pdfd_object_number(sr_pdfd_update_t *update)
{
    return update->next++;
}

static void update_note(sr_pdfd_update_t *update, int64_t number, int generation)
{
    apr_size_t offset = update->document->bytes.size + update->out->size;
    APR_ARRAY_PUSH(update->entries, entry_t) = (entry_t){number, generation, offset};
}

sr_pdfd_buffer_t *sr_pdfd_object_begin(sr_pdfd_update_t *update, int64_t number, int generation)
{
    update_note(update, number, generation);
    sr_pdfd_print(update->out, "%lld %d obj\n", (long long)number, generation);
    update->number = number;
    update->generation = generation;
    update->body = update->out->size;
    return update->out;
}

void sr_pdfd_object_end(sr_pdfd_update_t *update)
{
    sr_pdfd_encrypt_strings(update);
    sr_pdfd_put_text(update->out, SR_PDFD_OBJECT_END);
}

void sr_pdfd_object_again(sr_pdfd_update_t *update, qpdf_oh object, const char *text)
{
    qpdf_data q = update->document->q;
    sr_pdfd_object_begin(update, qpdf_oh_get_object_id(q, object), qpdf_oh_get_generation(q, object));
    sr_pdfd_put_text(update->out, text);
    sr_pdfd_object_end(update);
}

const char *sr_pdfd_spliced(qpdf_data q, qpdf_oh container, const char *more, apr_pool_t *pool)
{
    const char *text = qpdf_oh_unparse_resolved(q, container);
    apr_size_t length = strlen(text), bracket = text[0] == '[' ? 1 : 2;
    return apr_pstrcat(pool, apr_pstrmemdup(pool, text, length < bracket ? 0 : length - bracket), " ", more,
                       bracket == 1 ? "]" : ">>", NULL);
}

void sr_pdfd_stream_packed(sr_pdfd_update_t *update, int64_t number, const char *keys, const void *data,
                           apr_size_t size)
{
    sr_pdfd_buffer_t *out = update->out;
    if (update->document->cipher.method) {
        sr_pdfd_buffer_t *secret = sr_pdfd_buffer(update->pool);
        sr_pdfd_encrypt_stream(secret, update, number, data, size);
        data = secret->data;
        size = secret->size;
    }
    sr_pdfd_object_begin(update, number, 0);
    sr_pdfd_print(out, "<<%s/Length %lld>>stream\n", keys, (long long)size);
    sr_pdfd_put(out, data, size);
    sr_pdfd_put_text(out, "\nendstream" SR_PDFD_OBJECT_END); /* its dictionary has no strings to encrypt */
}

void sr_pdfd_stream(sr_pdfd_update_t *update, int64_t number, const char *keys, const void *data, apr_size_t size)
{
    sr_pdfd_buffer_t *packed = sr_pdfd_buffer(update->pool);
    if (size <= update->loose || strstr(keys, "/Filter") || !sr_pdfd_pack(packed, data, size))
        sr_pdfd_stream_packed(update, number, keys, data, size);
    else
        sr_pdfd_stream_packed(update, number, apr_pstrcat(update->pool, keys, "/Filter/FlateDecode", NULL),
                              packed->data, packed->size);
}

int sr_pdfd_stream_new(sr_pdfd_update_t *update, const char *keys, const void *data, apr_size_t size)
{
    const int64_t number = sr_pdfd_object_number(update);
    sr_pdfd_stream(update, number, keys, data, size);
    return (int)number;
}

/* ------------------------------------------------------------------------------------ the cross-reference section */

static int update_compare(const void *a, const void *b)
{
    int64_t left = ((const entry_t *)a)->number, right = ((const entry_t *)b)->number;
    return left < right ? -1 : left > right;
}

/* Returns the index after the run of consecutive numbers that begins at `first`. */
static int update_run_end(const sr_pdfd_update_t *update, int first)
{
    const entry_t *entries = (const entry_t *)update->entries->elts;
    int end = first + 1;
    while (end < update->entries->nelts && entries[end].number == entries[end - 1].number + 1) end++;
    return end;
}

/* Writes the entries that each trailer must repeat, because readers only use the newest one. The first half of /ID
 * stays the same. The second half identifies this revision (14.4), and is the same if the same update is made again. */
static void put_trailer_keys(sr_pdfd_buffer_t *out, const sr_pdfd_update_t *update)
{
    qpdf_data q = update->document->q;
    qpdf_oh trailer = qpdf_get_trailer(q), root = qpdf_get_root(q), info = qpdf_oh_get_key(q, trailer, "/Info");
    qpdf_oh ids = qpdf_oh_get_key(q, trailer, "/ID");
    sr_sha256_t *digest = sr_sha256_begin(update->pool);
    const char *own;
    size_t first_size = 0;
    const char *first = NULL;

    sr_pdfd_print(out, "/Root %d %d R", qpdf_oh_get_object_id(q, root), qpdf_oh_get_generation(q, root));
    if (qpdf_oh_is_dictionary(q, info) && qpdf_oh_is_indirect(q, info))
        sr_pdfd_print(out, "/Info %d %d R", qpdf_oh_get_object_id(q, info), qpdf_oh_get_generation(q, info));
    if (update->document->cipher.method) {
        qpdf_oh encryption = qpdf_oh_get_key(q, trailer, "/Encrypt");
        sr_pdfd_print(out, "/Encrypt %d %d R", qpdf_oh_get_object_id(q, encryption),
                      qpdf_oh_get_generation(q, encryption));
    }
    sr_sha256_update(digest, &update->document->bytes.size, sizeof update->document->bytes.size);
    sr_sha256_update(digest, update->out->data, update->out->size);
    own = apr_pstrndup(update->pool, sr_sha256_end_hex(digest, update->pool), OWN_ID);
    if (qpdf_oh_is_array(q, ids) && qpdf_oh_get_array_n_items(q, ids) > 0) {
        qpdf_oh id = qpdf_oh_get_array_item(q, ids, 0);
        if (qpdf_oh_is_string(q, id)) first = qpdf_oh_get_binary_string_value(q, id, &first_size);
    }
    sr_pdfd_put_text(out, "/ID[<");
    if (first_size) sr_pdfd_put_hex(out, first, first_size);
    else if (!update->document->cipher.method)
        sr_pdfd_put_text(out,
                         own); /* in an encrypted document the key depends on the first half, so it must not change */
    sr_pdfd_print(out, "><%s>]/Prev %lld", own, (long long)update->document->xref.start);
}

static void put_rows(sr_pdfd_update_t *update, int from, int end)
{
    for (int i = from; i < end; i++) {
        const entry_t *entry = &APR_ARRAY_IDX(update->entries, i, entry_t);
        sr_pdfd_print(update->out, "%010llu %05d n \n", (unsigned long long)entry->offset, entry->generation);
    }
}

static void put_table(sr_pdfd_update_t *update)
{
    sr_pdfd_buffer_t *out = update->out, *keys = sr_pdfd_buffer(update->pool);
    put_trailer_keys(keys, update);
    sr_pdfd_put_text(out, "xref\n");
    for (int i = 0, end; i < update->entries->nelts; i = end) {
        end = update_run_end(update, i);
        sr_pdfd_print(out, "%lld %d\n", (long long)APR_ARRAY_IDX(update->entries, i, entry_t).number, end - i);
        put_rows(update, i, end);
    }
    sr_pdfd_print(out, "trailer\n<</Size %lld%s>>\n", (long long)update->next, keys->data);
}

static void update_put_row(sr_pdfd_buffer_t *rows, const entry_t *entry)
{
    uint64_t fields = (uint64_t)entry->offset << 16 | (uint64_t)entry->generation;
    unsigned char *row = sr_pdfd_grow(rows, 8);
    row[0] = 1;
    for (int i = 7; i > 0; i--, fields >>= 8) row[i] = (unsigned char)fields;
}

static void put_stream(sr_pdfd_update_t *update)
{
    sr_pdfd_buffer_t *keys = sr_pdfd_buffer(update->pool), *rows = sr_pdfd_buffer(update->pool);
    int64_t number = sr_pdfd_object_number(update);
    put_trailer_keys(keys, update);
    update_note(update, number, 0); /* it is the highest number, so the entries stay sorted */
    const entry_t *entries = (const entry_t *)update->entries->elts;
    sr_pdfd_print(keys, "/Type/XRef/Size %lld/W[1 5 2]/Index[", (long long)update->next);
    for (int i = 0; i < update->entries->nelts;) {
        int end = update_run_end(update, i);
        sr_pdfd_print(keys, "%lld %d ", (long long)entries[i].number, end - i);
        for (; i < end; i++) update_put_row(rows, &entries[i]);
    }
    sr_pdfd_print(update->out, "%lld 0 obj\n<<%s]/Length %lld>>stream\n", (long long)number, keys->data,
                  (long long)rows->size);
    sr_pdfd_put(update->out, rows->data, rows->size);
    sr_pdfd_put_text(update->out, "\nendstream" SR_PDFD_OBJECT_END);
}

const char *sr_pdfd_update_end(sr_pdfd_update_t *update)
{
    apr_array_header_t *entries = update->entries;
    if (update->spoils) return SR_PDFD_ENCRYPTED;
    qsort(entries->elts, (size_t)entries->nelts, sizeof(entry_t), update_compare);
    for (int i = 1; i < entries->nelts; i++)
        if (!update_compare((const entry_t *)entries->elts + i - 1, (const entry_t *)entries->elts + i))
            return SR_PDFD_DAMAGED;
    apr_size_t start = update->document->bytes.size + update->out->size;
    if (update->document->xref.stream) put_stream(update);
    else put_table(update);
    sr_pdfd_print(update->out, "startxref\n%llu\n%%%%EOF\n", (unsigned long long)start);
    return sr_pdfd_document_check(update->document);
}

void sr_pdfd_update_close(sr_pdfd_update_t *update, int catalog, int information)
{
    sr_pdfd_buffer_t *out = update->out;
    const apr_size_t start = out->size;
    const char *id = apr_pstrndup(update->pool, sr_sha256_hex(out->data, out->size, update->pool), OWN_ID);
    qsort(update->entries->elts, (size_t)update->entries->nelts, sizeof(entry_t), update_compare);
    sr_pdfd_print(out, "xref\n0 %lld\n0000000000 65535 f \n", (long long)update->next);
    put_rows(update, 0, update->entries->nelts);
    sr_pdfd_print(out, "trailer\n<</Size %lld/Root %d 0 R/Info %d 0 R/ID[<%s><%s>]>>\nstartxref\n%llu\n%%%%EOF\n",
                  (long long)update->next, catalog, information, id, id, (unsigned long long)start);
}
