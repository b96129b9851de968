/* SPDX-License-Identifier: Apache-2.0 */
/* cipher.c: the encryption of strings and streams in a PDF (ISO 32000-2, 7.6.3). The initialisation vector is derived
 * from the key and the content, so that every process with the key encrypts an object to the same bytes. RC4 is
 * implemented here because OpenSSL has it in a provider module, which would have to be loaded from a file. */
#include "base/base.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#define BLOCK 16

static const char *const NAMES[] = {"none", "rc4", "aes128", "aes256"};

typedef struct object_key_t {
    unsigned char bytes[32];
    apr_size_t length;
} object_key_t;

const char *sr_cipher_name(const sr_cipher_t *cipher)
{
    return NAMES[cipher->method];
}

static int digit(char c)
{
    const char *digits = "0123456789abcdef", *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

bool sr_cipher_unhex(unsigned char *bytes, const char *digits, apr_size_t count)
{
    if (count % 2) return false;
    for (apr_size_t i = 0; i < count / 2; i++) {
        const int high = digit(digits[2 * i]), low = digit(digits[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static bool is_length(const sr_cipher_t *cipher)
{
    switch (cipher->method) {
    case SR_CIPHER_RC4: return cipher->length >= 5 && cipher->length <= 16;
    case SR_CIPHER_AES128: return cipher->length == 16;
    case SR_CIPHER_AES256: return cipher->length == 32;
    default: return false;
    }
}

bool sr_cipher_read(sr_cipher_t *cipher, const char *name, const char *key)
{
    *cipher = (sr_cipher_t){SR_CIPHER_NONE, {0}, 0};
    for (int i = SR_CIPHER_RC4; name && key && i <= SR_CIPHER_AES256; i++) {
        if (strcmp(NAMES[i], name) != 0) continue;
        cipher->method = (sr_cipher_method_t)i;
        cipher->length = strlen(key) / 2;
        return is_length(cipher) && sr_cipher_unhex(cipher->key, key, strlen(key));
    }
    return false;
}

/* Returns the key of an object (algorithm 1). With AES-256 (algorithm 1.A) all objects have the same key. */
static object_key_t cipher_key_of(const sr_cipher_t *cipher, apr_int64_t number, int generation)
{
    static const unsigned char salt[4] = "sAlT";
    object_key_t key = {.length = cipher->length};
    unsigned char text[32 + 5 + sizeof salt], hash[EVP_MAX_MD_SIZE];
    apr_size_t length = cipher->length;
    memcpy(key.bytes, cipher->key, cipher->length);
    if (cipher->method == SR_CIPHER_AES256) return key;
    memcpy(text, cipher->key, length);
    for (int i = 0; i < 3; i++) text[length++] = (unsigned char)(number >> 8 * i);
    for (int i = 0; i < 2; i++) text[length++] = (unsigned char)(generation >> 8 * i);
    if (cipher->method == SR_CIPHER_AES128) {
        memcpy(text + length, salt, sizeof salt);
        length += sizeof salt;
    }
    if (!EVP_Digest(text, length, hash, NULL, EVP_md5(), NULL)) abort();
    key.length = cipher->length + 5 < 16 ? cipher->length + 5 : 16;
    memcpy(key.bytes, hash, key.length);
    return key;
}

static void rc4(unsigned char *out, const object_key_t *key, const unsigned char *data, apr_size_t size)
{
    unsigned char state[256], a = 0, b = 0;
    for (int i = 0; i < 256; i++) state[i] = (unsigned char)i;
    for (int i = 0; i < 256; i++) {
        const unsigned char held = state[i];
        b = (unsigned char)(b + held + key->bytes[(apr_size_t)i % key->length]);
        state[i] = state[b];
        state[b] = held;
    }
    b = 0;
    for (apr_size_t i = 0; i < size; i++) {
        const unsigned char held = state[++a];
        b = (unsigned char)(b + held);
        state[a] = state[b];
        state[b] = held;
        out[i] = data[i] ^ state[(unsigned char)(state[a] + held)];
    }
}

/* Returns false if the padding is wrong. */
static bool aes(unsigned char *out, apr_size_t *size, const object_key_t *key, const unsigned char *vector,
                const unsigned char *data, apr_size_t length, bool encrypt)
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int first = 0, last = 0;
    if (!context || length > INT32_MAX - BLOCK) abort();
    if (!EVP_CipherInit_ex(context, key->length == 32 ? EVP_aes_256_cbc() : EVP_aes_128_cbc(), NULL, key->bytes, vector,
                           encrypt)
        || !EVP_CipherUpdate(context, out, &first, data, (int)length))
        abort();
    const bool done = EVP_CipherFinal_ex(context, out + first, &last) == 1;
    EVP_CIPHER_CTX_free(context);
    *size = (apr_size_t)first + (done ? (apr_size_t)last : 0);
    return done;
}

static void make_vector(unsigned char *vector, const object_key_t *key, const unsigned char *data, apr_size_t size)
{
    unsigned char code[EVP_MAX_MD_SIZE];
    unsigned int length;
    if (!HMAC(EVP_sha256(), key->bytes, (int)key->length, data, size, code, &length)) abort();
    memcpy(vector, code, BLOCK);
}

void sr_cipher_encrypt(unsigned char *out, apr_size_t *size, const sr_cipher_t *cipher, apr_int64_t number,
                       int generation, const void *data, apr_size_t length)
{
    const object_key_t key = cipher_key_of(cipher, number, generation);
    *size = length;
    if (cipher->method == SR_CIPHER_RC4) {
        rc4(out, &key, data, length);
        return;
    }
    make_vector(out, &key, data, length);
    aes(out + BLOCK, size, &key, out, data, length, true);
    *size += BLOCK;
}

bool sr_cipher_decrypt(unsigned char *out, apr_size_t *size, const sr_cipher_t *cipher, apr_int64_t number,
                       int generation, const void *data, apr_size_t length)
{
    const object_key_t key = cipher_key_of(cipher, number, generation);
    *size = length;
    if (cipher->method == SR_CIPHER_RC4) {
        rc4(out, &key, data, length);
        return true;
    }
    if (length < (apr_size_t)2 * BLOCK || length % BLOCK || length > INT32_MAX - BLOCK) return false;
    return aes(out, size, &key, data, (const unsigned char *)data + BLOCK, length - BLOCK, false);
}
