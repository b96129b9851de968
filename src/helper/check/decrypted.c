/* SPDX-License-Identifier: Apache-2.0 */
/* decrypted.c: converts an update of an encrypted document to the update that a document without encryption would have,
 * so that the same checks apply. The key comes from a worker. A wrong key does not produce the requested texts, and
 * another worker, which found the key by itself, has confirmed the prepared fields. So a key that decrypts both the
 * fields and the signature is the key of the document. Each string and stream must be encrypted exactly as the writer
 * does it. */
#include "helper/check/appended.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char NO_KEY[] = "it is encrypted otherwise than the document";
static const char NOT_OURS[] = "something in it is not encrypted as the rest of the document";

typedef struct text_t {
    char *at;
    apr_size_t length, room;
} text_t;

typedef struct view_t {
    const sr_cipher_t *cipher;
    const char **contents; /* the string that is not encrypted, then its position in the decrypted text; or NULL */
    apr_pool_t *pool;
} view_t;

static void decrypted_add(text_t *text, const void *more, apr_size_t length, apr_pool_t *pool)
{
    if (text->length + length > text->room) {
        char *larger = apr_palloc(pool, text->room = 2 * (text->room + length) + 256);
        if (text->length) memcpy(larger, text->at, text->length);
        text->at = larger;
    }
    if (length) memcpy(text->at + text->length, more, length);
    text->length += length;
}

/* Returns the decrypted bytes. Returns NULL if encrypting them again does not give the same bytes. */
static unsigned char *decrypt(apr_size_t *size, const view_t *view, const sr_pdf_object_t *object, const void *bytes,
                              apr_size_t length)
{
    unsigned char *plain = apr_palloc(view->pool, length + 1);
    unsigned char *again = apr_palloc(view->pool, length + SR_CIPHER_MORE);
    apr_size_t again_size;
    if (!sr_cipher_decrypt(plain, size, view->cipher, object->number, object->generation, bytes, length)) return NULL;
    sr_cipher_encrypt(again, &again_size, view->cipher, object->number, object->generation, plain, *size);
    return again_size == length && !memcmp(again, bytes, length) ? plain : NULL;
}

/* Writes a string as src/helper/main/write/buffer.c does. */
static void add_string(text_t *text, const unsigned char *plain, apr_size_t size, apr_pool_t *pool)
{
    char hex[3];
    apr_size_t printable = 0;
    while (printable < size && plain[printable] >= ' ' && plain[printable] <= '~') printable++;
    const bool literal = printable == size;
    decrypted_add(text, literal ? "(" : "<", 1, pool);
    for (apr_size_t i = 0; i < size; i++) {
        if (literal && strchr("()\\", plain[i])) decrypted_add(text, "\\", 1, pool);
        if (literal) decrypted_add(text, plain + i, 1, pool);
        else decrypted_add(text, hex, (apr_size_t)snprintf(hex, sizeof hex, "%02X", plain[i]), pool);
    }
    decrypted_add(text, literal ? ")" : ">", 1, pool);
}

static bool add_decrypted(text_t *text, const view_t *view, const sr_pdf_object_t *object, const sr_pdf_span_t *token)
{
    const apr_size_t digits = (apr_size_t)(token->end - token->at) - 2;
    unsigned char *bytes = apr_palloc(view->pool, digits / 2 + 1);
    apr_size_t size;
    if (!sr_cipher_unhex(bytes, token->at + 1, digits)) return false;
    const unsigned char *plain = decrypt(&size, view, object, bytes, digits / 2);
    if (!plain) return false;
    add_string(text, plain, size, view->pool);
    return true;
}

static bool decrypt_body(const view_t *view, sr_pdf_object_t *object)
{
    sr_pdf_span_t left = object->body, token;
    text_t text = {0};
    apr_size_t contents = 0;
    bool kept = false;
    for (;;) {
        const char *before = left.at;
        const char kind = sr_pdf_take_token(&left, &token);
        decrypted_add(&text, before, (apr_size_t)(token.at - before), view->pool);
        if (!kind) break;
        if (kind == '<' && view->contents && token.at == *view->contents) {
            contents = text.length;
            kept = true;
        } else if (kind == '(') return false;
        else if (kind == '<') {
            if (!add_decrypted(&text, view, object, &token)) return false;
            continue;
        }
        decrypted_add(&text, token.at, (apr_size_t)(token.end - token.at), view->pool);
    }
    if (left.at != left.end) return false;
    object->body = (sr_pdf_span_t){text.at, text.at + text.length};
    if (kept) *view->contents = text.at + contents;
    return true;
}

/* The dictionary of a stream ends with its length. */
static bool decrypt_data(const view_t *view, sr_pdf_object_t *object)
{
    const apr_size_t length = (apr_size_t)(object->data.end - object->data.at);
    apr_size_t size;
    const char *end = apr_psprintf(view->pool, "/Length %" APR_SIZE_T_FMT ">>", length);
    if (!sr_pdf_span_ends(&object->body, end)) return false;
    const unsigned char *plain = decrypt(&size, view, object, object->data.at, length);
    if (!plain) return false;
    const apr_size_t keys = (apr_size_t)(object->body.end - object->body.at) - strlen(end);
    text_t text = {0};
    decrypted_add(&text, object->body.at, keys, view->pool);
    end = apr_psprintf(view->pool, "/Length %" APR_SIZE_T_FMT ">>", size);
    decrypted_add(&text, end, strlen(end), view->pool);
    object->body = (sr_pdf_span_t){text.at, text.at + text.length};
    object->data = (sr_pdf_span_t){(const char *)plain, (const char *)plain + size};
    return true;
}

const char *sr_pdf_appended_decrypt(sr_pdf_appended_t *appended, const sr_cipher_t *cipher, const char **contents,
                                    apr_pool_t *pool)
{
    const view_t view = {cipher, contents, pool};
    apr_array_header_t *objects = apr_array_copy(pool, appended->objects);
    if (appended->trailer.is_encrypted != (cipher->method != SR_CIPHER_NONE)) return NO_KEY;
    if (!cipher->method) return NULL;
    for (int i = 0; i < objects->nelts; i++) {
        sr_pdf_object_t *object = &APR_ARRAY_IDX(objects, i, sr_pdf_object_t);
        if (!decrypt_body(&view, object) || (object->is_stream && !decrypt_data(&view, object))) return NOT_OURS;
    }
    appended->objects = objects;
    return NULL;
}
