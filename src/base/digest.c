/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c: SHA-256, and HMAC with it. Stored documents are named by it, and tokens are stored as it. */
#include "base/base.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

#define DIGEST_LENGTH (SR_SHA256_HEX_LENGTH / 2)

/* NULL: libcrypto looks for the implementation each time, which takes longer than hashing a token. */
static const EVP_MD *fetched;

struct sr_sha256_t {
    EVP_MD_CTX *context;
};

/* libcrypto fails here only if there is no memory, and then httpd aborts too. A wrong digest must never be returned. */
static void require(int success)
{
    if (success != 1) abort();
}

void sr_sha256_prepare(void)
{
    if (!fetched) fetched = EVP_MD_fetch(NULL, "SHA256", NULL);
}

static const EVP_MD *sha256(void)
{
    return fetched ? fetched : EVP_sha256();
}

static apr_status_t digest_release(void *context)
{
    EVP_MD_CTX_free(context);
    return APR_SUCCESS;
}

const char *sr_sha256_hex(const void *data, apr_size_t length, apr_pool_t *pool)
{
    unsigned char digest[DIGEST_LENGTH];
    require(EVP_Digest(data, length, digest, NULL, sha256(), NULL));
    return sr_text_hex(digest, sizeof digest, pool);
}

static sr_sha256_t *digest_make(apr_pool_t *pool)
{
    sr_sha256_t *state = apr_palloc(pool, sizeof *state);
    state->context = EVP_MD_CTX_new();
    require(state->context != NULL);
    apr_pool_cleanup_register(pool, state->context, digest_release, apr_pool_cleanup_null);
    return state;
}

sr_sha256_t *sr_sha256_begin(apr_pool_t *pool)
{
    sr_sha256_t *state = digest_make(pool);
    require(EVP_DigestInit_ex(state->context, sha256(), NULL));
    return state;
}

sr_sha256_t *sr_sha256_copy(const sr_sha256_t *state, apr_pool_t *pool)
{
    sr_sha256_t *copy = digest_make(pool);
    require(EVP_MD_CTX_copy_ex(copy->context, state->context));
    return copy;
}

void sr_sha256_update(sr_sha256_t *state, const void *data, apr_size_t length)
{
    require(EVP_DigestUpdate(state->context, data, length));
}

void sr_sha256_end(unsigned char *digest, sr_sha256_t *state)
{
    require(EVP_DigestFinal_ex(state->context, digest, NULL));
}

const char *sr_sha256_end_hex(sr_sha256_t *state, apr_pool_t *pool)
{
    unsigned char digest[DIGEST_LENGTH];
    sr_sha256_end(digest, state);
    return sr_text_hex(digest, sizeof digest, pool);
}

void sr_hmac_sha256(unsigned char *digest, const void *key, apr_size_t key_length, const void *data, apr_size_t length)
{
    unsigned char result[DIGEST_LENGTH];
    require(HMAC(sha256(), key, (int)key_length, data, length, result, NULL) != NULL);
    memcpy(digest, result, sizeof result);
}
