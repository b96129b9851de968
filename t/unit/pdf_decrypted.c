/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_decrypted.c: an update of an encrypted document as it would be without encryption (src/helper/check/decrypted.c).
 * What is not encrypted just as the helper's writer does it is refused, even if PDF readers would see the same. */
#include "helper/check/appended.h"
#include "tap.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <openssl/evp.h>

#define NO_KEY "it is encrypted otherwise than the document"
#define NOT_OURS "something in it is not encrypted as the rest of the document"
#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define NUMBER 7

static apr_pool_t *pool;
static sr_cipher_t cipher, none;

/* A string of object 7, or of another one, as digits. */
static const char *secret(const char *text, int number)
{
    unsigned char bytes[200];
    apr_size_t size;
    sr_cipher_encrypt(bytes, &size, &cipher, number, 0, text, strlen(text));
    return sr_text_hex(bytes, size, pool);
}

/* The same text, encrypted from another beginning: readers see no difference. */
static const char *otherwise(const char *text)
{
    unsigned char bytes[100] = "another beginning", key[32];
    int length, more;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (!context || !sr_cipher_unhex(key, KEY, 64)) abort();
    EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), NULL, key, bytes);
    EVP_EncryptUpdate(context, bytes + 16, &length, (const unsigned char *)text, (int)strlen(text));
    EVP_EncryptFinal_ex(context, bytes + 16 + length, &more);
    EVP_CIPHER_CTX_free(context);
    return sr_text_hex(bytes, 16 + (apr_size_t)length + (apr_size_t)more, pool);
}

/* The body after decryption, or the reason why there is none. */
static const char *decrypted(const char *body, const char *data, apr_size_t length, const char **contents)
{
    apr_array_header_t *objects = apr_array_make(pool, 1, sizeof(sr_pdf_object_t));
    sr_pdf_object_t object = {.number = NUMBER, .body = {body, body + strlen(body)}};
    object.is_stream = data != NULL;
    if (data) object.data = (sr_pdf_span_t){data, data + length};
    APR_ARRAY_PUSH(objects, sr_pdf_object_t) = object;
    sr_pdf_appended_t appended = {.objects = objects, .trailer = {.is_encrypted = true}};
    const char *reason = sr_pdf_appended_decrypt(&appended, &cipher, contents, pool);
    if (reason) return reason;
    object = APR_ARRAY_IDX(appended.objects, 0, sr_pdf_object_t);
    const char *text = apr_pstrmemdup(pool, object.body.at, (apr_size_t)(object.body.end - object.body.at));
    if (!data) return text;
    return apr_pstrcat(pool, text, apr_pstrmemdup(pool, object.data.at, (apr_size_t)(object.data.end - object.data.at)),
                       NULL);
}

/* The text with the digits where "%" stands. */
static const char *body(const char *text, const char *digits)
{
    const char *at = strchr(text, '%');
    return apr_pstrcat(pool, apr_pstrmemdup(pool, text, (apr_size_t)(at - text)), digits, at + 1, NULL);
}

static void test_strings(void)
{
    is_str(decrypted(body("<</A<%>/B 1>>", secret("Signature", NUMBER)), NULL, 0, NULL), "<</A(Signature)/B 1>>",
           "a string");
    is_str(decrypted(body("<</A<%>>>", secret("a(b)\\", NUMBER)), NULL, 0, NULL), "<</A(a\\(b\\)\\\\)>>",
           "a string with brackets");
    is_str(decrypted(body("<</A<%>>>", secret("\xfe\xff\x01", NUMBER)), NULL, 0, NULL), "<</A<FEFF01>>>",
           "a string that is no plain text");
    is_str(decrypted(body("<</A<%>>>", secret("", NUMBER)), NULL, 0, NULL), "<</A()>>", "an empty string");
    is_str(decrypted("<</A(Signature)>>", NULL, 0, NULL), NOT_OURS, "a string that is not encrypted");
    is_str(decrypted("<</A<5369676E>>>", NULL, 0, NULL), NOT_OURS, "digits that are not encrypted");
    is_str(decrypted("<</A<53696>>>", NULL, 0, NULL), NOT_OURS, "an odd number of digits");
    is_str(decrypted("<</A<>>>", NULL, 0, NULL), NOT_OURS, "no digits");
    is_str(decrypted(body("<</A<%>>>", otherwise("Signature")), NULL, 0, NULL), NOT_OURS,
           "a string that is encrypted from another beginning");
    is_str(decrypted("<</A(Signature>>", NULL, 0, NULL), NOT_OURS, "a string without an end");
}

static void test_streams(void)
{
    unsigned char bytes[100];
    apr_size_t size;
    sr_cipher_encrypt(bytes, &size, &cipher, NUMBER, 0, "1 0 0 RG", 8);
    const char *data = (const char *)bytes, *length = apr_itoa(pool, (int)size);
    is_str(decrypted(body("<</A 1/Length %>>", length), data, size, NULL), "<</A 1/Length 8>>1 0 0 RG", "a stream");
    is_str(decrypted(body("<</Length %/A 1>>", length), data, size, NULL), NOT_OURS,
           "a stream whose length is not its last key");
    is_str(decrypted("<</Length 8>>", "1 0 0 RG", 8, NULL), NOT_OURS, "a stream that is not encrypted");
    bytes[size - 1] ^= 1;
    is_str(decrypted(body("<</Length %>>", length), data, size, NULL), NOT_OURS, "a stream with another end");
}

/* The digits of the signature are the one string that is not encrypted. */
static void test_contents(void)
{
    const char *text = body("<</A<%>/Contents<0000>/B 1>>", secret("x", NUMBER));
    const char *digits = strstr(text, "<0000>"), *contents = digits;
    is_str(decrypted(text, NULL, 0, &contents), "<</A(x)/Contents<0000>/B 1>>", "the digits of the signature stay");
    ok(contents != digits && !strncmp(contents, "<0000>/B", 8), "the new place of the digits is told");
    contents = text;
    is_str(decrypted(text, NULL, 0, &contents), NOT_OURS, "digits elsewhere have to be encrypted");
}

static void test_keys(void)
{
    sr_pdf_appended_t appended = {.objects = apr_array_make(pool, 1, sizeof(sr_pdf_object_t))};
    is_str(sr_pdf_appended_decrypt(&appended, &none, NULL, pool), NULL, "a document that is not encrypted");
    is_str(sr_pdf_appended_decrypt(&appended, &cipher, NULL, pool), NO_KEY,
           "a document that is not encrypted needs no key");
    appended.trailer.is_encrypted = true;
    is_str(sr_pdf_appended_decrypt(&appended, &none, NULL, pool), NO_KEY, "one that is encrypted, without a key");
    is_str(sr_pdf_appended_decrypt(&appended, &cipher, NULL, pool), NULL, "an encrypted document is read with a key");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    if (!sr_cipher_read(&cipher, "aes256", KEY)) abort();
    test_strings();
    test_streams();
    test_contents();
    test_keys();
    apr_pool_destroy(pool);
    return done();
}
