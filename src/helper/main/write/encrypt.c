/* SPDX-License-Identifier: Apache-2.0 */
/* encrypt.c: encrypts what is appended to an encrypted document (ISO 32000-2, 7.6): every string and stream, except the
 * digits of the signature, which are inserted after the document is hashed. */
#include "helper/main/write/encryption.h"
#include "helper/main/pdfd.h"
#include "helper/main/read/scan.h"

#include <openssl/crypto.h>
#include <string.h>

bool sr_pdfd_cipher_find(sr_cipher_t *cipher, const sr_pdfd_bytes_t *bytes)
{
    unsigned char key[32];
    size_t length = 0;
    char digits[65] = "";
    const char *name = sr_pdfd_encryption_read(key, &length, bytes->data, bytes->size);
    for (size_t i = 0; name && i < length; i++) apr_snprintf(digits + 2 * i, 3, "%02x", key[i]);
    return sr_cipher_read(cipher, name, digits);
}

void sr_pdfd_cipher_tell(json_t *response, const sr_cipher_t *cipher, apr_pool_t *pool)
{
    if (!cipher->method) return;
    json_object_set_new(response, "cipher", json_string(sr_cipher_name(cipher)));
    json_object_set_new(response, "key", json_string(sr_text_hex(cipher->key, cipher->length, pool)));
}

static void encrypt_decode_hex(sr_pdfd_buffer_t *out, const unsigned char *at, const unsigned char *end)
{
    int digits = 0;
    unsigned char byte = 0;
    for (; at < end; at++) {
        const int value = OPENSSL_hexchar2int(*at);
        if (value < 0) continue;
        byte = (unsigned char)(byte << 4 | value);
        if (++digits % 2 == 0) sr_pdfd_put(out, &byte, 1);
    }
    byte = (unsigned char)(byte << 4);
    if (digits % 2) sr_pdfd_put(out, &byte, 1);
}

/* Decodes an escape sequence after its backslash (7.3.4.2). */
static const unsigned char *decode_escape(sr_pdfd_buffer_t *out, const unsigned char *at, const unsigned char *end)
{
    static const char letters[] = "nrtbf", meanings[] = "\n\r\t\b\f";
    const char *letter = *at ? strchr(letters, *at) : NULL;
    unsigned char byte = letter ? (unsigned char)meanings[letter - letters] : *at;
    if (*at == '\n') return at + 1;
    if (*at == '\r') return at + 1 < end && at[1] == '\n' ? at + 2 : at + 1;
    if (*at < '0' || *at > '7') at++;
    else {
        byte = 0;
        for (int i = 0; i < 3 && at < end && *at >= '0' && *at <= '7'; i++)
            byte = (unsigned char)(byte << 3 | (*at++ - '0'));
    }
    sr_pdfd_put(out, &byte, 1);
    return at;
}

static void decode_literal(sr_pdfd_buffer_t *out, const unsigned char *at, const unsigned char *end)
{
    while (at < end) {
        if (*at == '\\' && at + 1 < end) at = decode_escape(out, at + 1, end);
        else sr_pdfd_put(out, at++, 1);
    }
}

void sr_pdfd_string_decode(sr_pdfd_buffer_t *out, const unsigned char *token, const unsigned char *end)
{
    if (end - token < 2) return;
    if (*token == '(') decode_literal(out, token + 1, end - 1);
    else encrypt_decode_hex(out, token + 1, end - 1);
}

static void put_encrypted(sr_pdfd_buffer_t *out, const sr_pdfd_update_t *update, const unsigned char *token,
                          const unsigned char *end)
{
    sr_pdfd_buffer_t *plain = sr_pdfd_buffer(update->pool), *secret = sr_pdfd_buffer(update->pool);
    apr_size_t size;
    sr_pdfd_string_decode(plain, token, end);
    sr_cipher_encrypt(sr_pdfd_grow(secret, plain->size + SR_CIPHER_MORE), &size, &update->document->cipher,
                      update->number, update->generation, plain->data ? plain->data : (const void *)"", plain->size);
    sr_pdfd_put_text(out, "<");
    sr_pdfd_put_hex(out, secret->data, size);
    sr_pdfd_put_text(out, ">");
}

static bool encrypt_is_name(const unsigned char *token, const unsigned char *end, const char *name)
{
    return (size_t)(end - token) == strlen(name) && !memcmp(token, name, strlen(name));
}

void sr_pdfd_encrypt_strings(sr_pdfd_update_t *update)
{
    if (!update->document->cipher.method) return;
    sr_pdfd_buffer_t *out = update->out, *made = sr_pdfd_buffer(update->pool);
    cursor_t c = {out->data + update->body, out->data + out->size};
    const bool is_signature = update->number == update->signature;
    bool keep = false;
    for (;;) {
        const unsigned char *before = c.at;
        skip_space(&c);
        const unsigned char *token = c.at;
        const int kind = skip_token(&c);
        sr_pdfd_put(made, before, (apr_size_t)(token - before));
        if (!kind) break;
        if ((kind == '(' || kind == '<') && !keep) put_encrypted(made, update, token, c.at);
        else sr_pdfd_put(made, token, (apr_size_t)(c.at - token));
        keep = is_signature && kind == '/' && encrypt_is_name(token, c.at, "/Contents");
        /* a signature in this object must not be encrypted, so the object cannot be rewritten */
        if (!is_signature && kind == '/' && encrypt_is_name(token, c.at, "/ByteRange")) update->spoils = true;
    }
    out->size = update->body;
    sr_pdfd_put(out, made->data, made->size);
}

void sr_pdfd_encrypt_stream(sr_pdfd_buffer_t *out, const sr_pdfd_update_t *update, int64_t number, const void *data,
                            apr_size_t size)
{
    apr_size_t length;
    sr_cipher_encrypt(sr_pdfd_grow(out, size + SR_CIPHER_MORE), &length, &update->document->cipher, number, 0, data,
                      size);
    out->size = length;
}
