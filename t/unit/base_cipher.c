/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"
#include "tap.h"

#include <string.h>

static apr_pool_t *pool;

typedef struct row_t {
    const char *name, *key;
    size_t grows; /* the bytes that encryption adds to 5 bytes */
} row_t;

static void test_way(const row_t *row)
{
    sr_cipher_t cipher, other;
    unsigned char secret[64], again[64], plain[64];
    apr_size_t size, length;
    ok(sr_cipher_read(&cipher, row->name, row->key), "%s: a key of %zu digits", row->name, strlen(row->key));
    is_str(sr_cipher_name(&cipher), row->name, "a cipher that was read has its name");
    sr_cipher_encrypt(secret, &size, &cipher, 7, 0, "Hello", 5);
    is_int((long long)size, (long long)(5 + row->grows), "the ciphertext has the right length");
    ok(!memmem(secret, size, "Hell", 4), "the ciphertext does not contain the plaintext");
    sr_cipher_encrypt(again, &length, &cipher, 7, 0, "Hello", 5);
    ok(length == size && !memcmp(secret, again, size), "encrypting again gives the same bytes");
    ok(sr_cipher_decrypt(plain, &length, &cipher, 7, 0, secret, size) && length == 5 && !memcmp(plain, "Hello", 5),
       "decrypting gives the plaintext");
    other = cipher;
    other.key[0] ^= 1;
    ok(!sr_cipher_decrypt(plain, &length, &other, 7, 0, secret, size) || length != 5 || memcmp(plain, "Hello", 5) != 0,
       "decrypting with another key fails");
    sr_cipher_encrypt(secret, &size, &cipher, 7, 0, "", 0);
    ok(sr_cipher_decrypt(plain, &length, &cipher, 7, 0, secret, size) && length == 0,
       "an empty string is encrypted and decrypted");
}

/* The examples of RFC 6229 and FIPS 197 test the ciphers. pdf_encrypted.c checks the keys of objects by reading
 * documents with qpdf. Here: before version 5 the key depends on number and generation, and invalid keys are
 * refused. */
int main(void)
{
    static const row_t rows[] = {
        {"rc4", "0102030405", 0},
        {"rc4", "0102030405060708090a0b0c0d0e0f10", 0},
        {"aes128", "0102030405060708090a0b0c0d0e0f10", 27},
        {"aes256", "0102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f10", 27},
    };
    sr_cipher_t cipher;
    unsigned char one[64], two[64];
    apr_size_t size;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) test_way(&rows[i]);
    ok(!sr_cipher_read(&cipher, "rc4", "01020304"), "refused: a key that is too short");
    ok(!sr_cipher_read(&cipher, "aes128", "0102030405"), "refused: an AES key of another length");
    ok(!sr_cipher_read(&cipher, "aes256", rows[2].key), "refused: a key for another method");
    ok(!sr_cipher_read(&cipher, "rc4", "010203040"), "refused: a key with an odd number of digits");
    ok(!sr_cipher_read(&cipher, "rc4", "010203040G"), "refused: a key that is not hexadecimal");
    ok(!sr_cipher_read(&cipher, "none", "0102030405"), "refused: an unknown method");
    ok(!sr_cipher_read(&cipher, "aes128", apr_pstrcat(pool, rows[3].key, rows[3].key, NULL)),
       "refused: a key that is too long");
    ok(!sr_cipher_read(&cipher, "rc4", NULL) && !sr_cipher_read(&cipher, NULL, "0102030405"),
       "refused: a missing key or method");
    sr_cipher_read(&cipher, "aes128", rows[2].key);
    sr_cipher_encrypt(one, &size, &cipher, 7, 0, "Hello", 5);
    sr_cipher_encrypt(two, &size, &cipher, 7, 1, "Hello", 5);
    ok(memcmp(one, two, size) != 0, "objects of different generations have different ciphertexts");
    ok(!sr_cipher_decrypt(two, &size, &cipher, 7, 0, one, 31) && !sr_cipher_decrypt(two, &size, &cipher, 7, 0, one, 16),
       "refused: a ciphertext that is not a multiple of the block size");
    apr_pool_destroy(pool);
    return done();
}
