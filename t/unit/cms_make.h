/* SPDX-License-Identifier: Apache-2.0 */
/* cms_make.h: keys and certificates for tests, good and bad ones, as PEM files in a folder of their own; and a way to
 * run a command. */
#ifndef SR_TEST_CMS_MAKE_H
#define SR_TEST_CMS_MAKE_H

#include "verify/verify.h"
#include "tap.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct made_t {
    EVP_PKEY *key;
    X509 *certificate;
    char certificate_path[200], key_path[200];
} made_t;

typedef struct make_t {
    const char *name;             /* common name, and the files' names */
    int rsa;                      /* bits; 0: a key on `curve` */
    const char *curve;            /* NULL: P-256 */
    const char *type;             /* another kind of key, such as "ED25519" */
    int from, until;              /* seconds from now; both 0: a day ago to tomorrow */
    const char *usage, *extended; /* NULL: digitalSignature, and keyCertSign of a CA; none */
    bool ca;
    const made_t *issuer; /* NULL: itself */
} make_t;

/* A signature, checked over a document with this digest: what a worker and httpd do together. */
static inline void cms_check(sr_cms_result_t *result, const void *der, apr_size_t length, const unsigned char *digest,
                             apr_size_t size, const sr_cms_context_t *context, apr_pool_t *pool)
{
    sr_cms_check(result, der, length, context, pool);
    sr_cms_is_our_seal(result, digest, size, context);
}

static char make_folder[64];

static inline void make_begin(void)
{
    const char *base = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    snprintf(make_folder, sizeof make_folder, "%.40s/sigreq-cms.XXXXXX", base);
    if (!mkdtemp(make_folder)) abort();
}

/* Runs a shell command with its output thrown away; its exit status. */
__attribute__((format(printf, 1, 2))) static inline int make_run(const char *format, ...)
{
    char command[2000], whole[2100];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)sizeof command) abort();
    snprintf(whole, sizeof whole, "{ %s; } >/dev/null 2>&1", command);
    int status = system(whole);
    return status < 0 ? -1 : status >> 8;
}

static inline bool make_has(const char *program)
{
    return make_run("command -v %s", program) == 0;
}

static inline void make_end(void)
{
    make_run("rm -rf '%s'", make_folder);
}

static inline const char *make_file(const char *name, const void *data, size_t size, apr_pool_t *pool)
{
    const char *path = apr_psprintf(pool, "%s/%s", make_folder, name);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file)) abort();
    return path;
}

static inline void make_extension(X509 *certificate, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    if (!extension || !X509_add_ext(certificate, extension, -1)) abort();
    X509_EXTENSION_free(extension);
}

/* With as many primes as there may be. They are found in a tenth of the time that two primes take, and a signature and
 * its public key show no difference. */
static inline EVP_PKEY *make_rsa(int bits)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    const int primes = bits < 1024 ? 2 : bits < 4096 ? 3 : 4;
    if (EVP_PKEY_keygen_init(context) <= 0 || EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) <= 0
        || EVP_PKEY_CTX_set_rsa_keygen_primes(context, primes) <= 0 || EVP_PKEY_generate(context, &key) <= 0)
        abort();
    EVP_PKEY_CTX_free(context);
    return key;
}

static inline EVP_PKEY *make_key(const make_t *make)
{
    if (make->type) return EVP_PKEY_Q_keygen(NULL, NULL, make->type);
    return make->rsa ? make_rsa(make->rsa) : EVP_EC_gen(make->curve ? make->curve : "P-256");
}

/* Writes NAME.crt and NAME.key into the folder. */
static inline made_t *make_certificate(const make_t *make, apr_pool_t *pool)
{
    static long serial = 1000;
    made_t *made = apr_pcalloc(pool, sizeof *made);
    made->key = make_key(make);
    X509 *x = made->certificate = X509_new();
    if (!made->key || !x) abort();
    const made_t *issuer = make->issuer ? make->issuer : made;
    bool day = !make->from && !make->until;
    X509_set_version(x, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x), serial++);
    X509_NAME_add_entry_by_NID(X509_get_subject_name(x), NID_commonName, MBSTRING_UTF8,
                               (const unsigned char *)make->name, -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(issuer->certificate));
    X509_gmtime_adj(X509_getm_notBefore(x), day ? -86400 : make->from);
    X509_gmtime_adj(X509_getm_notAfter(x), day ? 86400 : make->until);
    X509_set_pubkey(x, made->key);
    make_extension(x, issuer->certificate, NID_basic_constraints, make->ca ? "critical,CA:TRUE" : "CA:FALSE");
    make_extension(x, issuer->certificate, NID_key_usage,
                   make->usage ? make->usage
                   : make->ca  ? "keyCertSign,digitalSignature"
                               : "digitalSignature");
    if (make->extended) make_extension(x, issuer->certificate, NID_ext_key_usage, make->extended);
    bool plain = EVP_PKEY_get_base_id(issuer->key) == EVP_PKEY_ED25519;
    if (!X509_sign(x, issuer->key, plain ? NULL : EVP_sha256())) abort();

    snprintf(made->certificate_path, sizeof made->certificate_path, "%s/%s.crt", make_folder, make->name);
    snprintf(made->key_path, sizeof made->key_path, "%s/%s.key", make_folder, make->name);
    FILE *file = fopen(made->certificate_path, "w");
    if (!file || !PEM_write_X509(file, x) || fclose(file)) abort();
    file = fopen(made->key_path, "w");
    if (!file || !PEM_write_PrivateKey(file, made->key, NULL, NULL, 0, NULL, NULL) || fclose(file)) abort();
    return made;
}

static inline void make_free(made_t *made)
{
    EVP_PKEY_free(made->key);
    X509_free(made->certificate);
}

/* One that loads, or the test ends. */
static inline const sr_cms_identity_t *make_identity(const make_t *make, apr_pool_t *pool)
{
    const sr_cms_identity_t *identity = NULL;
    made_t *made = make_certificate(make, pool);
    sr_error_t *error = sr_cms_identity_load(&identity, made->certificate_path, made->key_path, pool);
    make_free(made);
    if (!error) return identity;
    printf("Bail out! %s\n", error->message);
    exit(1);
}

#endif
