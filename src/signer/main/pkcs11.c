/* SPDX-License-Identifier: Apache-2.0 */
/* pkcs11.c: keys in tokens. Threads sign under a read lock. When a signature fails, because a token was pulled, its
 * session has ended, or its key is another one, a thread of its own opens the key again under the write lock:
 *
 *   ready --a signature fails--> broken --once a second: opens the key, trial signature--> ready
 *
 * A thread whose signature has failed waits for the first attempt and then tries once more. While the key is broken,
 * requests fail at once. Each signature is verified with the certificate before it is returned. */
#include "signer/main/pkcs11.h"
#include "signer/main/module.h"

#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PROGRAM "sigreq-signd: "
#define MAX_KEYS 8
#define MAX_REASON 512
#define PREFIX 19                  /* of a DigestInfo with a hash function of the SHA-2 family */
#define PAUSE apr_time_from_sec(1) /* between two attempts */

typedef struct token_key_t {
    sr_signd_object_t object;
    const sr_cms_identity_t *identity;
    EVP_PKEY *public_key;
    const char *uri, *hash;
    int seal;
    bool ready;              /* changed under `mutex` */
    char reason[MAX_REASON]; /* why the last attempt failed, as it was logged */
} token_key_t;

static token_key_t keys[MAX_KEYS];
static int key_count;
static const char *module_path;
static sr_error_t *pin_fault;
static bool begun; /* the module is initialised */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_cond_t asked_for, attempted = PTHREAD_COND_INITIALIZER;
static bool heals, asked;
static unsigned attempts;

/* ------------------------------------------------------------------------------------------------ signatures */

/* What the token signs: a digest, or for RSA its DigestInfo (RFC 8017, 9.2). */
static sr_cms_bytes_t to_sign(unsigned char *room, const sr_cms_bytes_t *digest, int hash, bool rsa)
{
    const unsigned char size = (unsigned char)digest->length;
    const unsigned char prefix[PREFIX] = {0x30,
                                          (unsigned char)(PREFIX - 2 + size),
                                          0x30,
                                          0x0d,
                                          0x06,
                                          0x09,
                                          0x60,
                                          0x86,
                                          0x48,
                                          0x01,
                                          0x65,
                                          0x03,
                                          0x04,
                                          0x02,
                                          (unsigned char)hash,
                                          0x05,
                                          0x00,
                                          0x04,
                                          size};
    if (!rsa) return *digest;
    memcpy(room, prefix, PREFIX);
    memcpy(room + PREFIX, digest->data, digest->length);
    return (sr_cms_bytes_t){room, PREFIX + digest->length};
}

/* ECDSA signatures of PKCS#11 are r and s, each as long as the order of the curve. Returns the length of the DER, or 0.
 */
static apr_size_t to_der(unsigned char *der, const unsigned char *raw, CK_ULONG length)
{
    unsigned char *at = NULL;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    const int half = (int)length / 2;
    BIGNUM *r = BN_bin2bn(raw, half, NULL), *s = BN_bin2bn(raw + half, half, NULL);
    const bool set = pair && r && s && length % 2 == 0 && ECDSA_SIG_set0(pair, r, s);
    const int size = set ? i2d_ECDSA_SIG(pair, &at) : 0;
    if (!set) BN_free(r);
    if (!set) BN_free(s);
    ECDSA_SIG_free(pair);
    const bool fits = size > 0 && size <= SR_CMS_MAX_SIGNATURE;
    if (fits) memcpy(der, at, (apr_size_t)size);
    OPENSSL_free(at);
    return fits ? (apr_size_t)size : 0;
}

static bool verifies(EVP_PKEY *public_key, const EVP_MD *hash, const sr_cms_bytes_t *digest,
                     const sr_cms_bytes_t *signature)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(public_key, NULL);
    const bool valid =
        context && EVP_PKEY_verify_init(context) > 0 && EVP_PKEY_CTX_set_signature_md(context, hash) > 0
        && EVP_PKEY_verify(context, signature->data, signature->length, digest->data, digest->length) == 1;
    EVP_PKEY_CTX_free(context);
    ERR_clear_error();
    return valid;
}

/* Signs the attributes. Returns NULL, or why that failed. The caller holds `lock`. */
static const char *sign_once(unsigned char *signature, apr_size_t *length, token_key_t *key,
                             const sr_cms_bytes_t *attributes, apr_pool_t *pool)
{
    unsigned char hashed[SR_CMS_MAX_DIGEST], room[PREFIX + SR_CMS_MAX_DIGEST], raw[SR_CMS_MAX_SIGNATURE];
    apr_size_t size;
    const int number = sr_signd_hash(key->hash, &size);
    const EVP_MD *hash = EVP_get_digestbyname(key->hash);
    const sr_cms_bytes_t digest = {hashed, size};
    const bool rsa = EVP_PKEY_get_base_id(key->public_key) == EVP_PKEY_RSA;
    CK_ULONG count = sizeof raw;
    if (EVP_Digest(attributes->data, attributes->length, hashed, NULL, hash, NULL) != 1) return "no digest can be made";
    const sr_cms_bytes_t data = to_sign(room, &digest, number, rsa);
    const CK_RV value = sr_signd_object_sign(&key->object, rsa ? CKM_RSA_PKCS : CKM_ECDSA, &data, raw, &count);
    if (value == CKR_KEY_TYPE_INCONSISTENT) return "the key in the token is not that of the certificate";
    if (!value && count > sizeof raw) return "the token cannot sign: its signature is too long";
    if (value) return apr_psprintf(pool, "the token cannot sign: %s", sr_signd_module_text(value, pool));
    *length = rsa ? count : to_der(signature, raw, count);
    if (rsa) memcpy(signature, raw, count);
    if (*length && verifies(key->public_key, hash, &digest, &(sr_cms_bytes_t){signature, *length})) return NULL;
    return "the key in the token is not that of the certificate: its signature is not valid";
}

/* A signature has failed after as many attempts as `seen`. Waits until the key was opened again, or that has failed.
 * Returns true if it is ready. */
static bool heal(token_key_t *key, unsigned seen, const char *why)
{
    pthread_mutex_lock(&mutex);
    if (heals && attempts == seen) {
        if (key->ready) fprintf(stderr, PROGRAM "SR0413: %s: %s. It is opened again\n", key->uri, why);
        key->ready = false;
        asked = true;
        pthread_cond_signal(&asked_for);
        while (attempts == seen) pthread_cond_wait(&attempted, &mutex);
    }
    const bool ready = key->ready;
    pthread_mutex_unlock(&mutex);
    return ready;
}

static bool pkcs11_is_ready(const token_key_t *key, unsigned *seen)
{
    pthread_mutex_lock(&mutex);
    const bool ready = key->ready;
    *seen = attempts;
    pthread_mutex_unlock(&mutex);
    return ready;
}

/* sr_cms_sign_t; the baton is a token_key_t */
static sr_error_t *token_sign(unsigned char *signature, apr_size_t *length, void *baton,
                              const sr_cms_identity_t *identity, const unsigned char *digest,
                              const sr_cms_bytes_t *attributes, apr_pool_t *pool)
{
    token_key_t *key = baton;
    const char *why = "the token is not ready";
    for (int i = 0; i < 2; i++) {
        unsigned seen;
        pthread_rwlock_rdlock(&lock);
        const bool ready = pkcs11_is_ready(key, &seen);
        if (ready) why = sign_once(signature, length, key, attributes, pool);
        pthread_rwlock_unlock(&lock);
        if (ready && !why) return NULL;
        if (!ready || !heal(key, seen, why)) break;
    }
    sr_error_t *error = sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be sealed at the moment, try again later");
    return sr_error_because(error, pool, "%s", why);
}

/* ---------------------------------------------------------------------------------------------------- opening */

/* Opens the key, and makes a trial signature. */
static sr_error_t *open_key(token_key_t *key, apr_pool_t *pool)
{
    unsigned char signature[SR_CMS_MAX_SIGNATURE];
    apr_size_t length;
    sr_signd_object_close(&key->object);
    SR_TRY(sr_signd_object_open(&key->object, pool));
    const char *why = sign_once(signature, &length, key, &(sr_cms_bytes_t){(const unsigned char *)"trial", 5}, pool);
    return why ? sr_error(pool, SR_EINTERNAL, "%s", why) : NULL;
}

static sr_error_t *pkcs11_begin(apr_pool_t *pool)
{
    if (begun) return NULL;
    SR_TRY(sr_signd_module_begin(pool));
    begun = true;
    return NULL;
}

/* Ends the use of the module, and begins again. Many modules find a token that has returned only in this way. It ends
 * the sessions of all keys. */
static sr_error_t *begin_again(apr_pool_t *pool)
{
    for (int i = 0; i < key_count; i++) sr_signd_object_close(&keys[i].object);
    if (begun) sr_signd_module_end();
    begun = false;
    return pkcs11_begin(pool);
}

static bool is_other_ready(const token_key_t *key)
{
    bool ready = false;
    unsigned unused;
    for (int i = 0; i < key_count; i++) ready = ready || (&keys[i] != key && pkcs11_is_ready(&keys[i], &unused));
    return ready;
}

/* The caller holds the write lock. */
static sr_error_t *mend(token_key_t *key, apr_pool_t *pool)
{
    sr_error_t *error = pkcs11_begin(pool);
    if (!error) error = open_key(key, pool);
    if (!error || is_other_ready(key)) return error;
    SR_TRY(begin_again(pool));
    return open_key(key, pool);
}

/* A state that lasts is logged once. */
static void pkcs11_report(token_key_t *key, const sr_error_t *error)
{
    const char *reason = error ? error->message : "";
    if (!strncmp(reason, key->reason, MAX_REASON - 1)) return;
    apr_cpystrn(key->reason, reason, MAX_REASON);
    if (error)
        fprintf(stderr, PROGRAM "SR0414: %s: %s. Nothing is sealed with it until it is ready again\n", key->uri,
                reason);
    else fprintf(stderr, PROGRAM "SR0415: %s: the token is ready again\n", key->uri);
}

/* Returns true if all keys are ready. */
static bool mend_all(apr_pool_t *pool)
{
    bool all = true;
    for (int i = 0; i < key_count; i++) {
        unsigned unused;
        if (pkcs11_is_ready(&keys[i], &unused)) continue;
        pthread_rwlock_wrlock(&lock);
        const sr_error_t *error = mend(&keys[i], pool);
        pthread_rwlock_unlock(&lock);
        pkcs11_report(&keys[i], error);
        pthread_mutex_lock(&mutex);
        keys[i].ready = !error;
        pthread_mutex_unlock(&mutex);
        all = all && !error;
    }
    pthread_mutex_lock(&mutex);
    attempts++;
    pthread_cond_broadcast(&attempted);
    pthread_mutex_unlock(&mutex);
    return all;
}

#ifdef SR_SANITIZE
void sr_signd_token_hold(void)
{
    pthread_rwlock_wrlock(&lock);
}
#endif

static void make_condition(void)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&asked_for, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void *heal_in_thread(void *data)
{
    apr_pool_t *pool = data;
    for (bool all = false;; all = mend_all(pool), apr_pool_clear(pool)) {
        const apr_time_t at = sr_time_steady() + PAUSE;
        const struct timespec until = {.tv_sec = at / APR_USEC_PER_SEC, .tv_nsec = at % APR_USEC_PER_SEC * 1000};
        int late = 0;
        pthread_mutex_lock(&mutex);
        while (!asked && !late)
            late = all ? pthread_cond_wait(&asked_for, &mutex) : pthread_cond_timedwait(&asked_for, &mutex, &until);
        asked = false;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- interface */

void sr_signd_token_setup(const json_t *setup, apr_pool_t *pool)
{
    const char *pin = sr_json_string(setup, "pin");
    module_path = sr_json_string(setup, "module");
    pin_fault = module_path && pin ? sr_signd_pin_read(pin, pool) : NULL;
}

sr_error_t *sr_signd_token_identity(const sr_cms_identity_t **identity, const char *certificate_path, const char *uri,
                                    int seal, sr_cms_when_t when, apr_pool_t *pool)
{
    if (!module_path) return sr_error(pool, SR_EINTERNAL, "%s needs SigreqPKCS11Module", uri);
    if (pin_fault) return pin_fault;
    if (key_count == MAX_KEYS) return sr_error(pool, SR_EINTERNAL, "there are more than %d keys in tokens", MAX_KEYS);
    token_key_t *key = &keys[key_count];
    *key = (token_key_t){.uri = apr_pstrdup(pool, uri), .seal = seal};
    SR_TRY(sr_signd_object_make(&key->object, uri, pool));
    SR_TRY(sr_cms_identity_remote(identity, certificate_path, when, token_sign, key, pool));
    const sr_cms_bytes_t encoded = sr_cms_identity_certificate(*identity)->public_key;
    const unsigned char *at = encoded.data;
    key->public_key = d2i_PUBKEY(NULL, &at, (long)encoded.length);
    if (!key->public_key) return sr_error(pool, SR_EINTERNAL, "%s: its key cannot be read", certificate_path);
    key->identity = *identity;
    key->hash = sr_cms_identity_hash(*identity);
    key_count++;
    return NULL;
}

bool sr_signd_token_is_used(void)
{
    return key_count > 0;
}

/* The signature with its certificates must fit into the room of a document. A certificate that has expired signs
 * nothing. */
static sr_error_t *start_key(token_key_t *key, apr_pool_t *pool)
{
    const unsigned char *der, digest[SR_CMS_MAX_DIGEST] = {0};
    apr_size_t length;
    SR_TRY(pkcs11_begin(pool));
    SR_TRY(open_key(key, pool));
    key->ready = true;
    if (sr_time_now() > sr_cms_identity_certificate(key->identity)->until) return NULL;
    sr_error_t *error = sr_cms_sign(&der, &length, key->identity, digest, pool);
    return error ? sr_error(pool, SR_EINTERNAL, "%s", error->cause) : NULL;
}

/* Opens all keys. A key with a fault is tried again by the thread: its token may come later. */
static void start_keys(sr_signd_token_fault_t faults[SR_SIGND_SEALS], bool again, apr_pool_t *pool)
{
    for (int i = 0; i < key_count; i++) {
        token_key_t *key = &keys[i];
        sr_error_t *error = start_key(key, pool);
        if (!error) continue;
        key->ready = false;
        if (!again) faults[key->seal] = (sr_signd_token_fault_t){error->message, true};
        if (again) pkcs11_report(key, error);
        else apr_cpystrn(key->reason, error->message, MAX_REASON); /* the parent logs it */
    }
}

/* Without the module no key is tried again. */
static void give_up_all(sr_signd_token_fault_t faults[SR_SIGND_SEALS], const char *fault)
{
    for (int i = 0; i < key_count; i++) {
        faults[keys[i].seal] = (sr_signd_token_fault_t){fault, false};
    }
}

sr_error_t *sr_signd_token_start(sr_signd_token_fault_t faults[SR_SIGND_SEALS], bool again, apr_pool_t *pool)
{
    pthread_t thread;
    apr_pool_t *own;
    sr_error_t *error = sr_signd_module_open(module_path, pool);
    if (error) return give_up_all(faults, error->message), NULL;
    start_keys(faults, again, pool);
    make_condition();
    heals = true;
    if (apr_pool_create_unmanaged_ex(&own, NULL, NULL) || pthread_create(&thread, NULL, heal_in_thread, own))
        return sr_error(pool, SR_EINTERNAL, "the signer process has no threads");
    pthread_detach(thread);
    return NULL;
}

sr_error_t *sr_signd_token_check(int *seal, apr_pool_t *pool)
{
    *seal = -1;
    SR_TRY(sr_signd_module_open(module_path, pool));
    SR_TRY(sr_signd_module_begin(pool));
    sr_error_t *error = NULL;
    for (int i = 0; !error && i < key_count; i++) {
        *seal = keys[i].seal;
        error = sr_signd_object_see(&keys[i].object, &sr_cms_identity_certificate(keys[i].identity)->public_key, pool);
    }
    sr_signd_module_end();
    return error;
}

/* ---------------------------------------------------------------------------------------------------- requests */

/* sr_cms_request_sign_t; the baton is a token_key_t */
static sr_error_t *pkcs11_request_sign(unsigned char *signature, apr_size_t *length, void *baton,
                                       const sr_cms_bytes_t *bytes, apr_pool_t *pool)
{
    const char *why = sign_once(signature, length, baton, bytes, pool);
    return why ? sr_error(pool, SR_EINTERNAL, "%s", why) : NULL;
}

sr_error_t *sr_signd_token_request(const char **request, const char *uri, const char *name, apr_pool_t *pool)
{
    token_key_t *key = &keys[0];
    sr_cms_bytes_t public_key;
    if (!module_path) return sr_error(pool, SR_EINTERNAL, "%s needs SigreqPKCS11Module", uri);
    if (pin_fault) return pin_fault;
    sr_signd_pin_for_command();
    *key = (token_key_t){.uri = uri};
    SR_TRY(sr_signd_object_make(&key->object, uri, pool));
    SR_TRY(sr_signd_module_open(module_path, pool));
    SR_TRY(pkcs11_begin(pool));
    SR_TRY(sr_signd_object_open(&key->object, pool));
    SR_TRY(sr_signd_object_public(&public_key, &key->object, pool));
    const unsigned char *at = public_key.data;
    key->public_key = d2i_PUBKEY(NULL, &at, (long)public_key.length);
    key->hash = sr_cms_public_key_hash(&public_key);
    if (!key->public_key || !key->hash) return sr_error(pool, SR_EINTERNAL, "%s: its key cannot be read", uri);
    sr_error_t *error = sr_cms_request_remote(request, name, &public_key, pkcs11_request_sign, key, pool);
    sr_signd_object_close(&key->object);
    sr_signd_module_end();
    return error;
}
