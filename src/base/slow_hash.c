/* SPDX-License-Identifier: Apache-2.0 */
/* slow_hash.c: hashes of short secrets, such as codes of six digits, by scrypt (RFC 7914). A reader of the database
 * cannot try all codes quickly. A hash takes 16 MiB of memory, so a process makes one at a time. */
#include "base/base.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define COST 16384 /* N of scrypt */
#define BLOCK 8    /* r */
#define MEMORY ((uint64_t)32 << 20)
#define SALT_BYTES 16
#define HASH_BYTES 32
#define BEGIN "scrypt$14$" /* the form of a hash: this, the salt, "$", and the digest, both in hexadecimal */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

const char *sr_slow_derive(const char *text, const char *salt, apr_pool_t *pool)
{
    unsigned char digest[HASH_BYTES];
    pthread_mutex_lock(&turn);
    const int done = EVP_PBE_scrypt(text, strlen(text), (const unsigned char *)salt, strlen(salt), COST, BLOCK, 1,
                                    MEMORY, digest, sizeof digest);
    pthread_mutex_unlock(&turn);
    if (done != 1) abort(); /* only without memory, and then httpd aborts too */
    return sr_text_hex(digest, sizeof digest, pool);
}

const char *sr_slow_hash(const char *text, apr_pool_t *pool)
{
    unsigned char random[SALT_BYTES];
    sr_random_fill(random, sizeof random);
    const char *salt = sr_text_hex(random, sizeof random, pool);
    return apr_pstrcat(pool, BEGIN, salt, "$", sr_slow_derive(text, salt, pool), NULL);
}

bool sr_slow_hash_matches(const char *hash, const char *text, apr_pool_t *pool)
{
    const size_t begin = strlen(BEGIN), whole = begin + 2 * (size_t)SALT_BYTES + 1 + 2 * (size_t)HASH_BYTES;
    const bool is_hash = hash && strlen(hash) == whole && !strncmp(hash, BEGIN, begin);
    const char *salt = is_hash ? apr_pstrmemdup(pool, hash + begin, 2 * (apr_size_t)SALT_BYTES) : "";
    const char *digest = sr_slow_derive(text, salt, pool); /* without a hash too, so that it takes as long */
    return is_hash && !CRYPTO_memcmp(digest, hash + whole - 2 * (size_t)HASH_BYTES, 2 * (size_t)HASH_BYTES);
}
