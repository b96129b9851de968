/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.c: checks a CMS of a PDF, made by this service or by anybody else. It finds the digest that the key has
 * signed, and checks that the signed attributes name the certificate. judge.c follows the chain of the certificate. It
 * is strict where lenient parsers have been attacked: exactly one signer, no embedded content, signed attributes, and
 * only zero bytes after the CMS. Anybody may have written these bytes, so this code only runs in a worker, never in the
 * process that has the key of the seal. */
#include "cms/judge.h"

#include <openssl/err.h>
#include <openssl/ts.h>
#include <string.h>

#define MIN_SECURITY_BITS 80 /* of the signer's key: RSA 1024. Weaker keys can be broken with ordinary hardware */

typedef struct cms_t {
    CMS_ContentInfo *content;
    CMS_SignerInfo *signer;      /* NULL if `fault` is set */
    X509 *certificate;           /* the signer's, or NULL */
    const struct hash_t *digest; /* hash function of the document, or NULL */
    const struct hash_t *own; /* hash function of the signed content, which is the document unless there is a token */
    const ASN1_OCTET_STRING
        *token; /* of a document timestamp (RFC 3161): it contains the digest of the document; or NULL */
    unsigned char imprint[EVP_MAX_MD_SIZE];
    apr_size_t imprint_size;
    apr_time_t time; /* of a token; 0 if it cannot be read */
    bool plain;      /* the key signs without a hash function: EdDSA */
    const char *algorithm;
    sr_cms_state_t state;
    const char *fault;
} cms_t;

typedef struct hash_t {
    int nid;
    const char *name, *shown;
} hash_t;

/* SHA-1 and MD5 are missing on purpose: different documents with the same hash have been made, also as PDFs. */
static const hash_t HASHES[] = {
    {NID_sha256, "SHA256", "SHA-256"},      {NID_sha384, "SHA384", "SHA-384"},
    {NID_sha512, "SHA512", "SHA-512"},      {NID_sha3_256, "SHA3-256", "SHA3-256"},
    {NID_sha3_384, "SHA3-384", "SHA3-384"}, {NID_sha3_512, "SHA3-512", "SHA3-512"},
};

static const hash_t *find_hash(const X509_ALGOR *algorithm)
{
    const ASN1_OBJECT *object;
    X509_ALGOR_get0(&object, NULL, NULL, algorithm);
    for (size_t i = 0; i < sizeof HASHES / sizeof *HASHES; i++)
        if (OBJ_obj2nid(object) == HASHES[i].nid) return &HASHES[i];
    return NULL;
}

/* ------------------------------------------------------------------------------------------- taking apart */

static apr_status_t inspect_release(void *data)
{
    CMS_ContentInfo_free(data);
    return APR_SUCCESS;
}

static const char *broken(cms_t *cms, const char *fault)
{
    cms->state = SR_CMS_BROKEN;
    return fault;
}

static const char *unchecked(cms_t *cms, const char *fault)
{
    cms->state = SR_CMS_UNCHECKED;
    return fault;
}

static const char *inspect_decode(cms_t *cms, const unsigned char *der, apr_size_t length, apr_pool_t *pool)
{
    const unsigned char *at = der;
    cms->content = length <= INT32_MAX ? d2i_CMS_ContentInfo(NULL, &at, (long)length) : NULL;
    if (!cms->content) return broken(cms, "its Contents are not a signature");
    apr_pool_cleanup_register(pool, cms->content, inspect_release, apr_pool_cleanup_null);
    for (; at < der + length; at++)
        if (*at) return broken(cms, "something is hidden after it, in the room that it does not need");
    if (OBJ_obj2nid(CMS_get0_type(cms->content)) != NID_pkcs7_signed)
        return broken(cms, "its Contents are not a signature");
    return NULL;
}

/* Finds the hash function and the kind of key of a signature algorithm. OpenSSL's table lacks ECDSA with SHA-3. */
static bool find_algorithms(int named, int *hash, int *kind)
{
    static const int more[][2] = {{NID_ecdsa_with_SHA3_256, NID_sha3_256},
                                  {NID_ecdsa_with_SHA3_384, NID_sha3_384},
                                  {NID_ecdsa_with_SHA3_512, NID_sha3_512}};
    *kind = EVP_PKEY_EC;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (more[i][0] == named) {
            *hash = more[i][1];
            return true;
        }
    return OBJ_find_sigid_algs(named, hash, kind);
}

/* OpenSSL uses the key and the digest algorithm and ignores the signature algorithm. Other programs use the latter, so
 * it must match. */
static bool fit_together(const X509_ALGOR *signature, const hash_t *hash, const EVP_PKEY *key)
{
    const ASN1_OBJECT *object;
    X509_ALGOR_get0(&object, NULL, NULL, signature);
    int named = OBJ_obj2nid(object), kind = EVP_PKEY_get_base_id(key), its_hash, its_kind;
    if (named == kind || (named == NID_rsassaPss && kind == EVP_PKEY_RSA)) return true;
    return find_algorithms(named, &its_hash, &its_kind) && its_hash == hash->nid && its_kind == kind;
}

static const char *unknown_hash(const X509_ALGOR *digest)
{
    const ASN1_OBJECT *object;
    X509_ALGOR_get0(&object, NULL, NULL, digest);
    int nid = OBJ_obj2nid(object);
    bool weak = nid == NID_sha1 || nid == NID_md5 || nid == NID_md4 || nid == NID_md2 || nid == NID_ripemd160;
    return weak ? "its hash function proves nothing today" : "its hash function is not checked here";
}

/* Returns false for signature algorithms that are not known here, such as plain ECDSA. */
static bool inspect_is_known(const X509_ALGOR *signature)
{
    const ASN1_OBJECT *object;
    int hash, kind;
    X509_ALGOR_get0(&object, NULL, NULL, signature);
    int named = OBJ_obj2nid(object);
    return named == NID_rsassaPss || named == NID_rsaEncryption || named == NID_X9_62_id_ecPublicKey
           || find_algorithms(named, &hash, &kind);
}

/* Reads the header of the next element and moves *at to its content. Returns false if it has another class or tag. */
static bool inspect_take(const unsigned char **at, const unsigned char *end, int class, int tag, long *length)
{
    int its_tag, its_class;
    const unsigned char *from = *at;
    if (from >= end || ASN1_get_object(&from, length, &its_tag, &its_class, end - from) & 0x80) return false;
    if (its_tag != tag || its_class != class) return false;
    *at = from;
    return true;
}

static bool take_version(const unsigned char **at, const unsigned char *end, long *version)
{
    long length;
    if (!inspect_take(at, end, V_ASN1_UNIVERSAL, V_ASN1_INTEGER, &length) || length != 1) return false;
    *version = *(*at)++;
    return true;
}

/* Returns true if all elements have this tag, or the tag `other` of class CONTEXT unless it is negative. */
static bool inspect_take_all(const unsigned char *at, const unsigned char *end, int tag, int other)
{
    for (long length; at < end; at += length) {
        if (inspect_take(&at, end, V_ASN1_UNIVERSAL, tag, &length)) continue;
        if (other < 0 || !inspect_take(&at, end, V_ASN1_CONTEXT_SPECIFIC, other, &length)) return false;
    }
    return true;
}

/* Checks the parts that no signature covers: the versions, the list of hash functions and the kinds of certificates.
 * They must have the values that follow from the rest (RFC 5652, 5.1 and 5.3). Otherwise somebody has changed them. The
 * version of the whole may be any that exists: programs for qualified signatures write others than the one that
 * follows, and it says nothing. */
static bool is_strict_der(const unsigned char *at, const unsigned char *end, const X509_ALGOR *digest, bool by_key)
{
    long length, version, signer_version;
    bool good = inspect_take(&at, end, V_ASN1_UNIVERSAL, V_ASN1_SEQUENCE, &length)
                && inspect_take(&at, end, V_ASN1_UNIVERSAL, V_ASN1_OBJECT, &length);
    if (!good) return false;
    at += length;
    if (!inspect_take(&at, end, V_ASN1_CONTEXT_SPECIFIC, 0, &length)
        || !inspect_take(&at, end, V_ASN1_UNIVERSAL, V_ASN1_SEQUENCE, &length) || !take_version(&at, end, &version)
        || !inspect_take(&at, end, V_ASN1_UNIVERSAL, V_ASN1_SET, &length))
        return false;
    const unsigned char *next = at + length;
    X509_ALGOR *listed = d2i_X509_ALGOR(NULL, &at, length);
    const ASN1_OBJECT *object, *wanted;
    X509_ALGOR_get0(&wanted, NULL, NULL, digest);
    if (listed) X509_ALGOR_get0(&object, NULL, NULL, listed);
    good = listed && at == next && !OBJ_cmp(object, wanted);
    X509_ALGOR_free(listed);
    if (!good || !inspect_take(&at, end, V_ASN1_UNIVERSAL, V_ASN1_SEQUENCE, &length)) return false;
    at += length;
    for (int tag = 0; tag < 2; tag++) {
        if (!inspect_take(&at, end, V_ASN1_CONTEXT_SPECIFIC, tag, &length)) continue;
        if (!inspect_take_all(at, at + length, V_ASN1_SEQUENCE, tag == 1 ? 1 : -1)) return false;
        at += length;
    }
    if (!inspect_take(&at, end, V_ASN1_UNIVERSAL, V_ASN1_SET, &length)
        || !inspect_take(&at, end, V_ASN1_UNIVERSAL, V_ASN1_SEQUENCE, &length)
        || !take_version(&at, end, &signer_version))
        return false;
    return signer_version == (by_key ? 3 : 1) && (version == 1 || (version >= 3 && version <= 5));
}

static bool is_strict(const cms_t *cms, STACK_OF(CMS_SignerInfo) * signers, const X509_ALGOR *digest)
{
    ASN1_OCTET_STRING *key = NULL;
    X509_NAME *issuer = NULL;
    ASN1_INTEGER *serial = NULL;
    unsigned char *der = NULL;
    CMS_SignerInfo_get0_signer_id(sk_CMS_SignerInfo_value(signers, 0), &key, &issuer, &serial);
    int size = i2d_CMS_ContentInfo(cms->content, &der); /* converts BER, which some programs write, to DER */
    bool strict = size > 0 && is_strict_der(der, der + size, digest, key != NULL);
    OPENSSL_free(der);
    return strict;
}

/* Reads TSTInfo, which contains the digest of the document. */
static const char *inspect_read_token(cms_t *cms, const ASN1_OCTET_STRING *content)
{
    const unsigned char *at = ASN1_STRING_get0_data(content), *end = at + ASN1_STRING_length(content);
    TS_TST_INFO *info = d2i_TS_TST_INFO(NULL, &at, end - at);
    TS_MSG_IMPRINT *imprint = info ? TS_TST_INFO_get_msg_imprint(info) : NULL;
    const hash_t *hash = imprint ? find_hash(TS_MSG_IMPRINT_get_algo(imprint)) : NULL;
    const ASN1_OCTET_STRING *digest = imprint ? TS_MSG_IMPRINT_get_msg(imprint) : NULL;
    bool whole = info && at == end && digest && ASN1_STRING_length(digest) <= EVP_MAX_MD_SIZE;
    if (whole) {
        cms->imprint_size = (apr_size_t)ASN1_STRING_length(digest);
        memcpy(cms->imprint, ASN1_STRING_get0_data(digest), cms->imprint_size);
        cms->time = sr_cms_time(TS_TST_INFO_get_time(info));
    }
    TS_TST_INFO_free(info);
    if (!whole) return broken(cms, "its Contents are not a timestamp");
    if (!hash) return unchecked(cms, "its hash function is not checked here");
    cms->token = content;
    cms->digest = hash;
    return NULL;
}

static const char *find_signer(cms_t *cms, STACK_OF(X509) * more, apr_pool_t *pool)
{
    X509_ALGOR *digest, *signature;
    EVP_PKEY *key;
    STACK_OF(CMS_SignerInfo) *signers = CMS_get0_SignerInfos(cms->content);
    if (sk_CMS_SignerInfo_num(signers) != 1) return broken(cms, "it does not have exactly one signer");
    CMS_set1_signers_certs(cms->content, more, 0);
    CMS_SignerInfo_get0_algs(sk_CMS_SignerInfo_value(signers, 0), &key, &cms->certificate, &digest, &signature);
    if (!cms->certificate) return unchecked(cms, "it does not hold the certificate of its signer");
    if (!key) return broken(cms, "the key in its certificate cannot be read");
    int type = OBJ_obj2nid(CMS_get0_eContentType(cms->content));
    bool timestamp = type == NID_id_smime_ct_TSTInfo;
    if (type != NID_pkcs7_data && !timestamp) return unchecked(cms, "it is not a signature of a document");
    ASN1_OCTET_STRING **content = CMS_get0_content(cms->content);
    if (!content || (*content && !timestamp)) return broken(cms, "it holds a content of its own");
    if (timestamp && !*content) return broken(cms, "its Contents are not a timestamp");

    const hash_t *hash = find_hash(digest);
    cms->algorithm =
        apr_psprintf(pool, "%s with %s", sr_cms_key_name(key, pool), hash ? hash->shown : "another hash function");
    cms->plain = EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 || EVP_PKEY_get_base_id(key) == EVP_PKEY_ED448;
    if (!hash) return unchecked(cms, unknown_hash(digest));
    if (!inspect_is_known(signature)) return unchecked(cms, "its algorithm is not checked here");
    if (!fit_together(signature, hash, key)) return broken(cms, "its algorithms do not go together");
    if (!is_strict(cms, signers, digest)) return broken(cms, "parts of it that are not signed were changed");
    if (EVP_PKEY_get_security_bits(key) < MIN_SECURITY_BITS)
        return unchecked(cms, "its key is too short to prove anything today");
    cms->signer = sk_CMS_SignerInfo_value(signers, 0);
    if (CMS_signed_get_attr_count(cms->signer) <= 0) return unchecked(cms, "it has no signed attributes");
    cms->own = hash;
    if (timestamp) return inspect_read_token(cms, *content);
    cms->digest = hash;
    return NULL;
}

static cms_t *read_cms(const unsigned char *der, apr_size_t length, STACK_OF(X509) * more, apr_pool_t *pool)
{
    cms_t *cms = apr_pcalloc(pool, sizeof *cms);
    cms->fault = inspect_decode(cms, der, length, pool);
    if (!cms->fault) cms->fault = find_signer(cms, more, pool);
    ERR_clear_error();
    return cms;
}

/* ----------------------------------------------------------------------------------------------- checking */

/* Returns the value of a signed attribute that must occur once and have one value of this type. Otherwise returns NULL.
 */
static const void *attribute(const cms_t *cms, int nid, int type)
{
    return CMS_signed_get0_data_by_OBJ(cms->signer, OBJ_nid2obj(nid), -3, type);
}

/* Enters the next element of a DER sequence if it has this tag: moves *at to its content. */
static bool inspect_enter(const unsigned char **at, const unsigned char *end, int wanted, long *length)
{
    int tag, class;
    const unsigned char *from = *at;
    if (from >= end || ASN1_get_object(&from, length, &tag, &class, end - from) & 0x80) return false;
    if (tag != wanted || class != V_ASN1_UNIVERSAL) return false;
    *at = from;
    return true;
}

typedef enum binding_t { UNBOUND, BOUND, MISBOUND } binding_t;

/* Checks SigningCertificate or SigningCertificateV2: a sequence of a sequence of ESSCertID(v2), which is { hash
 * algorithm unless it is the default, hash of the certificate, … }. The first one is that of the signer (RFC 5035, 3
 * and 4). */
static binding_t check_binding(const cms_t *cms, int nid, const EVP_MD *hash)
{
    const ASN1_STRING *value = attribute(cms, nid, V_ASN1_SEQUENCE);
    if (!value) return CMS_signed_get_attr_by_NID(cms->signer, nid, -1) < 0 ? UNBOUND : MISBOUND;
    const unsigned char *at = ASN1_STRING_get0_data(value), *end = at + ASN1_STRING_length(value), *algorithm;
    unsigned char own[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    long length;
    for (int depth = 0; depth < 3; depth++) {
        if (!inspect_enter(&at, end, V_ASN1_SEQUENCE, &length)) return MISBOUND;
        end = at + length;
    }
    algorithm = at;
    if (inspect_enter(&at, end, V_ASN1_SEQUENCE, &length)) {
        at = algorithm;
        X509_ALGOR *named = d2i_X509_ALGOR(NULL, &at, end - at);
        const hash_t *known = named ? find_hash(named) : NULL;
        X509_ALGOR_free(named);
        if (!known) return MISBOUND;
        hash = EVP_get_digestbynid(known->nid);
    }
    if (!inspect_enter(&at, end, V_ASN1_OCTET_STRING, &length) || !X509_digest(cms->certificate, hash, own, &size))
        return MISBOUND;
    return (unsigned long)length == size && !memcmp(at, own, size) ? BOUND : MISBOUND;
}

static sr_cms_bytes_t inspect_keep(const void *data, apr_size_t length, apr_pool_t *pool)
{
    return (sr_cms_bytes_t){apr_pmemdup(pool, data, length), length};
}

/* Returns the signed attributes and the signature, so that httpd can verify signatures of this service again
 * (our_seal.c).
 */
static void keep_proof(sr_cms_result_t *result, const cms_t *cms, apr_pool_t *pool)
{
    const ASN1_OCTET_STRING *signature = CMS_SignerInfo_get0_signature(cms->signer);
    size_t length = 0;
    unsigned char *attributes = cms->token ? NULL : sr_cms_attributes(&length, cms->signer);
    if (attributes && length <= SR_CMS_MAX_PROOF && ASN1_STRING_length(signature) <= SR_CMS_MAX_PROOF) {
        result->attributes = inspect_keep(attributes, length, pool);
        result->signature =
            inspect_keep(ASN1_STRING_get0_data(signature), (apr_size_t)ASN1_STRING_length(signature), pool);
    }
    OPENSSL_free(attributes);
}

/* Returns true if the token is the content that was signed. The token contains the digest of the document. */
static bool is_token_signed(const cms_t *cms, const ASN1_STRING *signed_digest)
{
    unsigned char own[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_Digest(ASN1_STRING_get0_data(cms->token), (size_t)ASN1_STRING_length(cms->token), own, &size,
               EVP_get_digestbynid(cms->own->nid), NULL);
    return (unsigned)ASN1_STRING_length(signed_digest) == size
           && !memcmp(ASN1_STRING_get0_data(signed_digest), own, size);
}

/* OpenSSL's CMS always hashes the signed attributes first. EdDSA signs them as they are (RFC 8419). */
static const char *check_value(cms_t *cms)
{
    static const char other[] = "it was not made by the key of its certificate";
    const ASN1_OCTET_STRING *value = CMS_SignerInfo_get0_signature(cms->signer);
    size_t length = 0;
    if (!cms->plain) return CMS_SignerInfo_verify(cms->signer) == 1 ? NULL : other;
    unsigned char *attributes = sr_cms_attributes(&length, cms->signer);
    if (!attributes) return unchecked(cms, "it has more signed attributes than are checked here");
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, X509_get0_pubkey(cms->certificate)) == 1
                && EVP_DigestVerify(context, ASN1_STRING_get0_data(value), (size_t)ASN1_STRING_length(value),
                                    attributes, length)
                       == 1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(attributes);
    return good ? NULL : other;
}

static const char *check_attributes(sr_cms_result_t *result, const cms_t *cms, apr_pool_t *pool)
{
    const ASN1_STRING *signed_digest = attribute(cms, NID_pkcs9_messageDigest, V_ASN1_OCTET_STRING);
    const ASN1_OBJECT *type = attribute(cms, NID_pkcs9_contentType, V_ASN1_OBJECT);
    if (!signed_digest || !type || OBJ_cmp(type, CMS_get0_eContentType(cms->content)))
        return "its signed attributes are not those of a document";
    if (cms->token && !is_token_signed(cms, signed_digest)) return SR_CMS_OTHER_DOCUMENT;
    result->digest = cms->token ? inspect_keep(cms->imprint, cms->imprint_size, pool)
                                : inspect_keep(ASN1_STRING_get0_data(signed_digest),
                                               (apr_size_t)ASN1_STRING_length(signed_digest), pool);
    if (result->digest.length != (apr_size_t)EVP_MD_get_size(EVP_get_digestbynid(cms->digest->nid)))
        return SR_CMS_OTHER_DOCUMENT;

    binding_t newer = check_binding(cms, NID_id_smime_aa_signingCertificateV2, EVP_sha256());
    binding_t older = check_binding(cms, NID_id_smime_aa_signingCertificate, EVP_sha1());
    if (newer == MISBOUND || older == MISBOUND) return "its certificate is not the one that its signer named";
    result->bound = newer == BOUND || older == BOUND;
    keep_proof(result, cms, pool);
    return NULL;
}

static apr_time_t read_signing_time(const cms_t *cms)
{
    const ASN1_TIME *time = attribute(cms, NID_pkcs9_signingTime, V_ASN1_UTCTIME);
    if (!time) time = attribute(cms, NID_pkcs9_signingTime, V_ASN1_GENERALIZEDTIME);
    struct tm parts;
    return time && ASN1_TIME_to_tm(time, &parts) ? apr_time_from_sec(timegm(&parts)) : 0;
}

/* The first timestamp of the signature. No key of the signer signs it, so anybody may have added it. */
static void inspect_read_stamp(sr_cms_checked_t *checked, const cms_t *cms, apr_pool_t *pool)
{
    const int at = CMS_unsigned_get_attr_by_NID(cms->signer, NID_id_smime_aa_timeStampToken, -1);
    const ASN1_OCTET_STRING *value = CMS_SignerInfo_get0_signature(cms->signer);
    const ASN1_TYPE *token = at < 0 ? NULL : X509_ATTRIBUTE_get0_type(CMS_unsigned_get_attr(cms->signer, at), 0);
    checked->value = inspect_keep(ASN1_STRING_get0_data(value), (apr_size_t)ASN1_STRING_length(value), pool);
    if (!token || token->type != V_ASN1_SEQUENCE) return;
    const ASN1_STRING *der = token->value.sequence;
    checked->token = inspect_keep(ASN1_STRING_get0_data(der), (apr_size_t)ASN1_STRING_length(der), pool);
}

static apr_status_t inspect_free_certificates(void *data)
{
    sk_X509_pop_free(data, X509_free);
    return APR_SUCCESS;
}

static void inspect_describe(sr_cms_checked_t *checked, const cms_t *cms, apr_time_t now, apr_pool_t *pool)
{
    sr_cms_result_t *result = &checked->result;
    checked->certificate = cms->certificate;
    checked->others = CMS_get1_certs(cms->content);
    apr_pool_cleanup_register(pool, checked->others, inspect_free_certificates, apr_pool_cleanup_null);
    result->signer = sr_cms_describe(cms->certificate, pool);
    result->expired = now > result->signer->until;
    result->premature = now < result->signer->from;
}

void sr_cms_inspect(sr_cms_checked_t *checked, const void *der, apr_size_t length, STACK_OF(X509) * more,
                    const sr_cms_context_t *context, apr_pool_t *pool)
{
    cms_t *cms = read_cms(der, length, more, pool);
    *checked = (sr_cms_checked_t){.time = cms->time};
    sr_cms_result_t *result = &checked->result;
    *result = (sr_cms_result_t){.state = cms->state, .fault = cms->fault, .algorithm = cms->algorithm};
    if (!cms->fault) {
        result->hash = cms->digest->name;
        result->timestamp = cms->token != NULL;
        cms->state = SR_CMS_BROKEN;
        result->fault = check_value(cms);
        if (!result->fault) result->fault = check_attributes(result, cms, pool);
        if (result->fault) result->state = cms->state;
        result->signing_time = read_signing_time(cms);
        inspect_read_stamp(checked, cms, pool);
    }
    if (cms->certificate) inspect_describe(checked, cms, context->now ? context->now : sr_time_now(), pool);
    ERR_clear_error();
}
