/* SPDX-License-Identifier: Apache-2.0 */
/* ending.c: until when a timestamp proves something: the end of the certificate that made it, or of the algorithms with
 * which it was made, if that is earlier. Before that, another timestamp must prove that it was valid. */
#include "authorities/timestamp.h"

#include <openssl/pkcs7.h>
#include <openssl/x509.h>
#include <time.h>

/* NIST SP 800-57 part 1 rev. 5, table 4: a security strength of 112 bits is acceptable until the end of 2030. */
#define END_OF_112_BITS apr_time_from_sec(APR_INT64_C(1924992000))

/* Weak keys, and weak hashes of signatures. */
static const struct {
    int type, bits; /* keys with fewer bits than this */
    apr_time_t end;
} keys[] = {{EVP_PKEY_RSA, 3072, END_OF_112_BITS}, {EVP_PKEY_EC, 256, END_OF_112_BITS}};
static const struct {
    int hash;
    apr_time_t end;
} hashes[] = {{NID_sha1, END_OF_112_BITS}, {NID_sha224, END_OF_112_BITS}};

static apr_time_t earlier(apr_time_t one, apr_time_t other)
{
    return one < other ? one : other;
}

/* Returns 0 if the certificate cannot be read. */
static apr_time_t end_of_certificate(const sr_trust_der_t *der)
{
    const unsigned char *at = der->data;
    X509 *certificate = d2i_X509(NULL, &at, (long)der->length);
    const EVP_PKEY *key = certificate ? X509_get0_pubkey(certificate) : NULL;
    struct tm until;
    apr_time_t end = 0;
    if (key && ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &until))
        end = apr_time_from_sec((apr_time_t)timegm(&until));
    for (size_t i = 0; end && i < sizeof keys / sizeof *keys; i++)
        if (EVP_PKEY_get_base_id(key) == keys[i].type && EVP_PKEY_get_bits(key) < keys[i].bits)
            end = earlier(end, keys[i].end);
    X509_free(certificate);
    return end;
}

/* Returns the end of the hash that the authority has signed. */
static apr_time_t end_of_hash(apr_time_t end, const void *token, apr_size_t length)
{
    const unsigned char *at = token;
    PKCS7 *read = d2i_PKCS7(NULL, &at, (long)length);
    const PKCS7_SIGNER_INFO *signer =
        read && PKCS7_type_is_signed(read) ? sk_PKCS7_SIGNER_INFO_value(PKCS7_get_signer_info(read), 0) : NULL;
    const int hash = signer ? OBJ_obj2nid(signer->digest_alg->algorithm) : NID_undef;
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
        if (hash == hashes[i].hash) end = earlier(end, hashes[i].end);
    PKCS7_free(read);
    return end;
}

sr_error_t *sr_timestamps_end(apr_time_t *end, const sr_timestamps_t *timestamps, const void *token, apr_size_t length,
                              apr_pool_t *pool)
{
    apr_array_header_t *chain;
    SR_TRY(sr_timestamps_chain(&chain, timestamps, token, length, pool));
    *end = end_of_certificate(&APR_ARRAY_IDX(chain, 0, sr_trust_der_t));
    if (!*end) return sr_error(pool, SR_EINTERNAL, "the timestamp's certificate cannot be read");
    *end = end_of_hash(*end, token, length);
    return NULL;
}
