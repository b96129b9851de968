/* SPDX-License-Identifier: Apache-2.0 */
/* certificate.c: certificates as files and as text. Anybody may have written the names in a certificate, so they are
 * shown only as printable UTF-8 of limited length. */
#include "cms/certificate.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE_BYTES (1 << 20)
#define MAX_NAME_BYTES 500

const char *sr_cms_why(apr_pool_t *pool)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    reason = reason ? apr_pstrdup(pool, reason) : "OpenSSL gives no reason";
    ERR_clear_error();
    return reason;
}

/* -------------------------------------------------------------------------------------------------- files */

static const char *certificate_read_all(BIO *bio, int fd)
{
    char buffer[4096];
    ssize_t count;
    int total = 0;
    while ((count = read(fd, buffer, sizeof buffer)) > 0 && (total += (int)count) <= MAX_FILE_BYTES)
        BIO_write(bio, buffer, (int)count);
    OPENSSL_cleanse(buffer, sizeof buffer);
    if (count < 0) return strerror(errno);
    return total > MAX_FILE_BYTES ? "it is too large" : NULL;
}

sr_error_t *sr_cms_open(BIO **bio, const char *path, apr_pool_t *pool)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return sr_error(pool, errno == ENOENT ? SR_ENOTFOUND : SR_EINTERNAL, "%s: %s", path, strerror(errno));
    *bio = BIO_new(BIO_s_secmem());
    const char *wrong = *bio ? certificate_read_all(*bio, fd) : "no memory";
    close(fd);
    if (!wrong) return NULL;
    BIO_free(*bio);
    return sr_error(pool, SR_EINTERNAL, "%s: %s", path, wrong);
}

static void free_all(STACK_OF(X509) * certificates)
{
    sk_X509_pop_free(certificates, X509_free);
}

/* Error messages refer to the file as `name`. */
static sr_error_t *certificate_read_certificates(STACK_OF(X509) * *certificates, BIO *bio, const char *name,
                                                 apr_pool_t *pool)
{
    ERR_clear_error();
    STACK_OF(X509) *found = sk_X509_new_null();
    for (X509 *one; found && (one = PEM_read_bio_X509(bio, NULL, NULL, NULL));)
        if (!sk_X509_push(found, one)) X509_free(one);
    bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    const char *why = sr_cms_why(pool);
    if (ended && sk_X509_num(found) > 0) {
        *certificates = found;
        return NULL;
    }
    int readable = sk_X509_num(found);
    free_all(found);
    if (ended)
        return sr_error(pool, SR_EINTERNAL,
                        "%s: it holds no certificate in PEM form (openssl x509 -inform der converts a DER file)", name);
    return sr_error(pool, SR_EINTERNAL, "%s: certificate %d in it cannot be read: %s", name, readable + 1, why);
}

sr_error_t *sr_cms_certificates_read(STACK_OF(X509) * *certificates, const char *path, apr_pool_t *pool)
{
    BIO *bio;
    SR_TRY(sr_cms_open(&bio, path, pool));
    sr_error_t *error = certificate_read_certificates(certificates, bio, path, pool);
    BIO_free(bio);
    return error;
}

sr_error_t *sr_cms_certificates_parse(STACK_OF(X509) * *certificates, const char *pem, const char *name,
                                      apr_pool_t *pool)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    sr_error_t *error =
        bio ? certificate_read_certificates(certificates, bio, name, pool) : sr_error(pool, SR_EINTERNAL, "No memory");
    BIO_free(bio);
    return error;
}

/* --------------------------------------------------------------------------------------------------- text */

static const char *printable(const char *text, apr_size_t length, apr_pool_t *pool)
{
    char *copy = apr_palloc(pool, length + 1);
    for (apr_size_t i = 0; i < length; i++)
        copy[i] = (char)(text[i] ? text[i] : '\x01'); /* otherwise a NUL would end the name */
    if (length > MAX_NAME_BYTES)
        for (length = MAX_NAME_BYTES; length > 0 && ((unsigned char)copy[length] & 0xc0) == 0x80;) length--;
    copy[length] = '\0';
    return sr_text_printable(copy, pool);
}

static const char *certificate_name_text(const X509_NAME *name, apr_pool_t *pool)
{
    const char *text = "";
    BIO *bio = BIO_new(BIO_s_mem());
    char *data;
    if (bio && X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB) >= 0) {
        long length = BIO_get_mem_data(bio, &data);
        text = printable(data, length > 0 ? (apr_size_t)length : 0, pool);
    }
    BIO_free(bio);
    return text;
}

static const char *part_text(const X509_NAME *name, int nid, apr_pool_t *pool)
{
    unsigned char *utf8;
    int at = -1;
    for (int next; (next = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;)
        at = next; /* the last one is the most specific */
    if (at < 0) return NULL;
    int length = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (length < 0) return NULL;
    const char *text = printable((const char *)utf8, (apr_size_t)length, pool);
    OPENSSL_free(utf8);
    return sr_text_is_blank(text) ? NULL : text;
}

static const char *short_name(const X509_NAME *name, apr_pool_t *pool)
{
    static const int parts[] = {NID_commonName, NID_organizationName, NID_pkcs9_emailAddress};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *text = part_text(name, parts[i], pool);
        if (text) return text;
    }
    return certificate_name_text(name, pool);
}

const char *sr_cms_key_name(EVP_PKEY *key, apr_pool_t *pool)
{
    static const struct {
        const char *group, *name;
    } curves[] = {{SN_X9_62_prime256v1, "P-256"}, {SN_secp384r1, "P-384"}, {SN_secp521r1, "P-521"}};
    char group[64];
    if (!key) return "unknown";
    if (EVP_PKEY_get_group_name(key, group, sizeof group, NULL) == 1)
        for (size_t i = 0; i < sizeof curves / sizeof *curves; i++)
            if (!strcmp(curves[i].group, group)) return curves[i].name;
    const char *type = OBJ_nid2sn(EVP_PKEY_get_base_id(key));
    if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA) type = "RSA";
    return apr_psprintf(pool, "%s %d", type ? type : "unknown", EVP_PKEY_get_bits(key));
}

apr_time_t sr_cms_time(const ASN1_TIME *time)
{
    struct tm parts;
    if (!time || !ASN1_TIME_to_tm(time, &parts)) return 0;
    apr_time_exp_t exploded = {.tm_sec = parts.tm_sec,
                               .tm_min = parts.tm_min,
                               .tm_hour = parts.tm_hour,
                               .tm_mday = parts.tm_mday,
                               .tm_mon = parts.tm_mon,
                               .tm_year = parts.tm_year};
    apr_time_t when = 0;
    return apr_time_exp_gmt_get(&when, &exploded) == APR_SUCCESS ? when : 0;
}

const sr_cms_certificate_t *sr_cms_describe(X509 *certificate, apr_pool_t *pool)
{
    sr_cms_certificate_t *about = apr_pcalloc(pool, sizeof *about);
    const ASN1_INTEGER *serial = X509_get0_serialNumber(certificate);
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    X509_digest(certificate, EVP_sha256(), hash, &length);
    about->name = short_name(X509_get_subject_name(certificate), pool);
    about->subject = certificate_name_text(X509_get_subject_name(certificate), pool);
    about->issuer = certificate_name_text(X509_get_issuer_name(certificate), pool);
    about->serial = sr_text_hex(ASN1_STRING_get0_data(serial), (apr_size_t)ASN1_STRING_length(serial), pool);
    about->sha256 = sr_text_hex(hash, length, pool);
    about->key = sr_cms_key_name(X509_get0_pubkey(certificate), pool);
    unsigned char *encoded = NULL;
    int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded); /* as it is encoded in the certificate */
    if (size > 0) about->public_key = (sr_cms_bytes_t){apr_pmemdup(pool, encoded, (apr_size_t)size), (apr_size_t)size};
    OPENSSL_free(encoded);
    about->from = sr_cms_time(X509_get0_notBefore(certificate));
    about->until = sr_cms_time(X509_get0_notAfter(certificate));
    ERR_clear_error();
    return about;
}

sr_error_t *sr_cms_certificate_read(const sr_cms_certificate_t **certificate, const char *path, apr_pool_t *pool)
{
    STACK_OF(X509) * all;
    SR_TRY(sr_cms_certificates_read(&all, path, pool));
    *certificate = sr_cms_describe(sk_X509_value(all, 0), pool);
    free_all(all);
    return NULL;
}

/* Returns NULL on failure. */
static const char *certificate_to_pem(STACK_OF(X509) * certificates, apr_pool_t *pool)
{
    char *text;
    BIO *bio = BIO_new(BIO_s_mem());
    bool written = bio != NULL;
    for (int i = 0; written && i < sk_X509_num(certificates); i++)
        written = PEM_write_bio_X509(bio, sk_X509_value(certificates, i));
    long length = written ? BIO_get_mem_data(bio, &text) : 0;
    const char *pem = written ? apr_pstrmemdup(pool, text, (apr_size_t)length) : NULL;
    BIO_free(bio);
    return pem;
}

sr_error_t *sr_cms_certificates_text(const char **pem, const char *path, apr_pool_t *pool)
{
    STACK_OF(X509) * all;
    SR_TRY(sr_cms_certificates_read(&all, path, pool));
    *pem = certificate_to_pem(all, pool);
    free_all(all);
    return *pem ? NULL : sr_error(pool, SR_EINTERNAL, "%s: %s", path, sr_cms_why(pool));
}

/* ------------------------------------------------------------------------------------------------ anchors */

static apr_status_t free_store(void *data)
{
    X509_STORE_free(data);
    return APR_SUCCESS;
}

/* Makes the anchors, and frees `all`. */
static sr_error_t *make_anchors(sr_cms_anchors_t **anchors, STACK_OF(X509) * all, const char *name, apr_pool_t *pool)
{
    sr_cms_anchors_t *made = apr_pcalloc(pool, sizeof *made);
    made->pem = certificate_to_pem(all, pool);
    made->store = X509_STORE_new();
    bool added = made->store && made->pem;
    for (int i = 0; added && i < sk_X509_num(all); i++) added = X509_STORE_add_cert(made->store, sk_X509_value(all, i));
    free_all(all);
    if (made->store) apr_pool_cleanup_register(pool, made->store, free_store, apr_pool_cleanup_null);
    if (!added) return sr_error(pool, SR_EINTERNAL, "%s: %s", name, sr_cms_why(pool));
    *anchors = made;
    return NULL;
}

sr_error_t *sr_cms_anchors_read(sr_cms_anchors_t **anchors, const char *path, apr_pool_t *pool)
{
    STACK_OF(X509) * all;
    SR_TRY(sr_cms_certificates_read(&all, path, pool));
    return make_anchors(anchors, all, path, pool);
}

sr_error_t *sr_cms_anchors_parse(sr_cms_anchors_t **anchors, const char *pem, apr_pool_t *pool)
{
    STACK_OF(X509) * all;
    SR_TRY(sr_cms_certificates_parse(&all, pem, "anchors", pool));
    return make_anchors(anchors, all, "anchors", pool);
}

/* --- the hash function that matches the strength of a key */

#define STRONG_RSA_BITS 4096    /* from this size on, SHA-384 is used */
#define STRONGEST_RSA_BITS 7680 /* from this size on, SHA-512 is used */

static const char *certificate_hash_of(const EVP_PKEY *key)
{
    const int bits = EVP_PKEY_get_bits(key);
    const bool rsa = EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA;
    if (bits < (rsa ? STRONG_RSA_BITS : 384)) return "SHA256";
    return bits < (rsa ? STRONGEST_RSA_BITS : 512) ? "SHA384" : "SHA512";
}

const char *sr_cms_identity_hash(const sr_cms_identity_t *identity)
{
    return certificate_hash_of(X509_get0_pubkey(identity->certificate));
}

const char *sr_cms_public_key_hash(const sr_cms_bytes_t *public_key)
{
    const unsigned char *at = public_key->data;
    EVP_PKEY *key = d2i_PUBKEY(NULL, &at, (long)public_key->length);
    const char *hash = key ? certificate_hash_of(key) : NULL;
    EVP_PKEY_free(key);
    ERR_clear_error();
    return hash;
}
