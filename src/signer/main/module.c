/* SPDX-License-Identifier: Apache-2.0 */
/* module.c: finds a token and a key in it, and signs with it, by a PKCS#11 module (2.40). */
#include "signer/main/module.h"

#include <dlfcn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/x509.h>
#include <p11-kit/p11-kit.h>
#include <string.h>

#define MAX_SLOTS 64
#define MAX_VALUE 2048 /* of an attribute */
#define COORDINATES 64 /* bytes at the end of a public key: enough to tell one from another */

static CK_FUNCTION_LIST *p11;

const char *sr_signd_module_text(CK_RV value, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%s (0x%lx)", p11_kit_strerror(value), value);
}

static sr_error_t *fault(apr_pool_t *pool, const char *text)
{
    return sr_error(pool, SR_EINTERNAL, "%s", text);
}

static sr_error_t *refused(apr_pool_t *pool, const char *what, CK_RV value)
{
    return sr_error(pool, SR_EINTERNAL, "%s: %s", what, sr_signd_module_text(value, pool));
}

/* ------------------------------------------------------------------------------------------------------ URIs */

sr_error_t *sr_signd_object_make(sr_signd_object_t *object, const char *uri, apr_pool_t *pool)
{
    CK_OBJECT_CLASS class = CKO_PRIVATE_KEY;
    *object = (sr_signd_object_t){
        .uri = p11_kit_uri_new(), .mutex = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};
    const int wrong = p11_kit_uri_parse(uri, P11_KIT_URI_FOR_ANY, object->uri);
    if (wrong) return sr_error(pool, SR_EINTERNAL, "%s: %s (RFC 7512)", uri, p11_kit_uri_message(wrong));
    if (p11_kit_uri_any_unrecognized(object->uri))
        return sr_error(pool, SR_EINTERNAL, "%s: a part of it is not known", uri);
    if (p11_kit_uri_get_pin_value(object->uri) || p11_kit_uri_get_pin_source(object->uri))
        return sr_error(pool, SR_EINTERNAL, "the URI must not name a PIN: SigreqSealPIN does");
    if (p11_kit_uri_get_module_path(object->uri) || p11_kit_uri_get_module_name(object->uri))
        return sr_error(pool, SR_EINTERNAL, "the URI must not name a module: SigreqPKCS11Module does");
    CK_ATTRIBUTE *given = p11_kit_uri_get_attribute(object->uri, CKA_CLASS);
    if (given && given->ulValueLen == sizeof class && memcmp(given->pValue, &class, sizeof class) != 0)
        return sr_error(pool, SR_EINTERNAL, "%s: it must have type=private", uri);
    p11_kit_uri_set_attribute(object->uri, &(CK_ATTRIBUTE){CKA_CLASS, &class, sizeof class});
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------- module */

sr_error_t *sr_signd_module_open(const char *path, apr_pool_t *pool)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return sr_error(pool, SR_EINTERNAL, "SigreqPKCS11Module: %s", dlerror());
    CK_RV (*get)(CK_FUNCTION_LIST **);
    *(void **)&get = dlsym(library, "C_GetFunctionList");
    if (!get || get(&p11) || !p11)
        return sr_error(pool, SR_EINTERNAL, "SigreqPKCS11Module: %s is not a PKCS#11 module", path);
    return NULL;
}

sr_error_t *sr_signd_module_begin(apr_pool_t *pool)
{
    CK_C_INITIALIZE_ARGS arguments = {.flags = CKF_OS_LOCKING_OK};
    const CK_RV value = p11->C_Initialize(&arguments);
    return value && value != CKR_CRYPTOKI_ALREADY_INITIALIZED
               ? refused(pool, "the module of SigreqPKCS11Module cannot be used", value)
               : NULL;
}

void sr_signd_module_end(void)
{
    p11->C_Finalize(NULL);
}

/* ---------------------------------------------------------------------------------------------------- tokens */

static sr_error_t *find_token(sr_signd_object_t *object, apr_pool_t *pool)
{
    CK_SLOT_ID slots[MAX_SLOTS];
    CK_ULONG count = MAX_SLOTS;
    int found = 0;
    p11->C_GetSlotList(CK_TRUE, NULL, &(CK_ULONG){0}); /* only then may a module look for new slots (2.40, 5.5) */
    const CK_RV value = p11->C_GetSlotList(CK_TRUE, slots, &count);
    if (value) return refused(pool, "the tokens cannot be listed", value);
    for (CK_ULONG i = 0; i < count; i++) {
        CK_SLOT_INFO slot;
        CK_TOKEN_INFO token;
        if (p11->C_GetSlotInfo(slots[i], &slot) || p11->C_GetTokenInfo(slots[i], &token)) continue;
        if (!(token.flags & CKF_TOKEN_INITIALIZED) || !p11_kit_uri_match_token_info(object->uri, &token)) continue;
        if (!p11_kit_uri_match_slot_info(object->uri, &slot)) continue;
        const CK_SLOT_ID wanted = p11_kit_uri_get_slot_id(object->uri);
        if (wanted != (CK_SLOT_ID)-1 && wanted != slots[i]) continue;
        object->slot = slots[i];
        object->token = token;
        found++;
    }
    if (found == 1) return NULL;
    return fault(pool, found ? "more than one token matches the URI: add token=, serial= or slot-id="
                             : "the token is not there, or httpd's user cannot reach it");
}

static sr_error_t *login(const sr_signd_object_t *object, CK_SESSION_HANDLE session, apr_pool_t *pool)
{
    CK_SESSION_INFO info;
    if (!(object->token.flags & CKF_LOGIN_REQUIRED)) return NULL;
    CK_RV value = p11->C_GetSessionInfo(session, &info);
    if (!value && (info.state == CKS_RO_USER_FUNCTIONS || info.state == CKS_RW_USER_FUNCTIONS)) return NULL;
    const char *why = sr_signd_pin_try(&object->token);
    if (why) return fault(pool, why);
    value = p11->C_Login(session, CKU_USER, sr_signd_pin().text, sr_signd_pin().length);
    const bool wrong = value == CKR_PIN_INCORRECT || value == CKR_PIN_INVALID || value == CKR_PIN_LEN_RANGE
                       || value == CKR_PIN_EXPIRED || value == CKR_PIN_LOCKED;
    const bool good = !value || value == CKR_USER_ALREADY_LOGGED_IN;
    sr_signd_pin_tried(&object->token, good ? SR_SIGND_PIN_GOOD : wrong ? SR_SIGND_PIN_WRONG : SR_SIGND_PIN_UNKNOWN);
    if (good) return NULL;
    if (!wrong) return refused(pool, "the login to the token failed", value);
    return refused(pool, sr_signd_pin_refused(), value);
}

/* Opens sessions, as many as the token permits. */
static sr_error_t *open_sessions(sr_signd_object_t *object, apr_pool_t *pool)
{
    CK_RV value = CKR_OK;
    object->count = 0;
    while (!value && object->count < SR_SIGND_SESSIONS) {
        value = p11->C_OpenSession(object->slot, CKF_SERIAL_SESSION, NULL, NULL, &object->sessions[object->count]);
        if (!value) object->count++;
    }
    object->idle = object->count;
    return object->count ? NULL : refused(pool, "the token opens no session", value);
}

/* Counts the objects with these attributes; two are more than one. */
static CK_ULONG module_find_objects(CK_OBJECT_HANDLE *first, CK_SESSION_HANDLE session, CK_ATTRIBUTE *attributes,
                                    CK_ULONG count)
{
    CK_OBJECT_HANDLE found[2] = {0};
    CK_ULONG number = 0;
    if (p11->C_FindObjectsInit(session, attributes, count)) return 0;
    if (p11->C_FindObjects(session, found, 2, &number)) number = 0;
    p11->C_FindObjectsFinal(session);
    *first = found[0];
    return number;
}

static sr_error_t *module_find_key(sr_signd_object_t *object, CK_SESSION_HANDLE session, apr_pool_t *pool)
{
    CK_ULONG count;
    CK_BBOOL always = CK_FALSE;
    CK_ATTRIBUTE *attributes = p11_kit_uri_get_attributes(object->uri, &count);
    const CK_ULONG found = module_find_objects(&object->key, session, attributes, count);
    if (found != 1)
        return fault(pool, found ? "more than one private key matches the URI: add object= or id="
                                 : "the token has no private key that matches the URI");
    CK_ATTRIBUTE asked = {CKA_ALWAYS_AUTHENTICATE, &always, sizeof always};
    object->always = !p11->C_GetAttributeValue(session, object->key, &asked, 1) && always;
    return NULL;
}

sr_error_t *sr_signd_object_open(sr_signd_object_t *object, apr_pool_t *pool)
{
    SR_TRY(find_token(object, pool));
    SR_TRY(open_sessions(object, pool));
    SR_TRY(login(object, object->sessions[0], pool));
    return module_find_key(object, object->sessions[0], pool);
}

void sr_signd_object_close(sr_signd_object_t *object)
{
    for (int i = 0; i < object->count; i++) p11->C_CloseSession(object->sessions[i]);
    object->count = object->idle = 0;
}

/* ------------------------------------------------------------------------------------------------ public key */

/* Finds the public key of the same name and id, or else that with the id of the private key. */
static bool find_public(CK_OBJECT_HANDLE *found, const sr_signd_object_t *object)
{
    CK_ULONG count;
    unsigned char id[MAX_VALUE];
    CK_OBJECT_CLASS class = CKO_PUBLIC_KEY, private = CKO_PRIVATE_KEY;
    CK_ATTRIBUTE same[] = {{CKA_CLASS, &class, sizeof class}, {CKA_ID, id, sizeof id}};
    p11_kit_uri_set_attribute(object->uri, &same[0]);
    CK_ATTRIBUTE *attributes = p11_kit_uri_get_attributes(object->uri, &count);
    const CK_ULONG number = module_find_objects(found, object->sessions[0], attributes, count);
    p11_kit_uri_set_attribute(object->uri, &(CK_ATTRIBUTE){CKA_CLASS, &private, sizeof private});
    if (number == 1) return true;
    return !p11->C_GetAttributeValue(object->sessions[0], object->key, &same[1], 1)
           && module_find_objects(found, object->sessions[0], same, 2) == 1;
}

/* Reads an attribute of the public key, or of the private one. Returns false if neither has it. */
static bool module_read_value(CK_ATTRIBUTE *attribute, const sr_signd_object_t *object, CK_OBJECT_HANDLE public_key)
{
    const CK_OBJECT_HANDLE from[] = {public_key, object->key};
    const CK_ULONG room = attribute->ulValueLen;
    for (int i = 0; i < 2; i++) {
        attribute->ulValueLen = room;
        if (from[i] && !p11->C_GetAttributeValue(object->sessions[0], from[i], attribute, 1) && attribute->ulValueLen
            && attribute->ulValueLen <= room)
            return true;
    }
    return false;
}

/* Returns NULL if the parts are no key. */
static EVP_PKEY *make_key(const char *type, OSSL_PARAM_BLD *parts)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    OSSL_PARAM *all = OSSL_PARAM_BLD_to_param(parts);
    if (context && all && EVP_PKEY_fromdata_init(context) > 0)
        (void)EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, all);
    OSSL_PARAM_free(all);
    EVP_PKEY_CTX_free(context);
    return key;
}

static EVP_PKEY *read_rsa(OSSL_PARAM_BLD *parts, const sr_signd_object_t *object, CK_OBJECT_HANDLE public_key)
{
    unsigned char modulus[MAX_VALUE], exponent[MAX_VALUE];
    CK_ATTRIBUTE n = {CKA_MODULUS, modulus, sizeof modulus}, e = {CKA_PUBLIC_EXPONENT, exponent, sizeof exponent};
    if (!module_read_value(&n, object, public_key) || !module_read_value(&e, object, public_key)) return NULL;
    BIGNUM *number = BN_bin2bn(modulus, (int)n.ulValueLen, NULL), *power = BN_bin2bn(exponent, (int)e.ulValueLen, NULL);
    const bool pushed = number && power && OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_N, number)
                        && OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_E, power);
    EVP_PKEY *key = pushed ? make_key("RSA", parts) : NULL;
    BN_free(number);
    BN_free(power);
    return key;
}

/* The point is in an OCTET STRING (PKCS#11 2.40, 2.3.3); some modules return it as it is. */
static EVP_PKEY *read_ec(OSSL_PARAM_BLD *parts, const sr_signd_object_t *object, CK_OBJECT_HANDLE public_key)
{
    unsigned char curve[MAX_VALUE], point[MAX_VALUE];
    CK_ATTRIBUTE p = {CKA_EC_POINT, point, sizeof point}, c = {CKA_EC_PARAMS, curve, sizeof curve};
    if (!module_read_value(&c, object, public_key) || !module_read_value(&p, object, public_key)) return NULL;
    const unsigned char *at = curve, *from = point;
    ASN1_OBJECT *name = d2i_ASN1_OBJECT(NULL, &at, (long)c.ulValueLen);
    ASN1_OCTET_STRING *inner = d2i_ASN1_OCTET_STRING(NULL, &from, (long)p.ulValueLen);
    const char *group = name ? OBJ_nid2sn(OBJ_obj2nid(name)) : NULL;
    const void *octets = inner ? ASN1_STRING_get0_data(inner) : point;
    const size_t length = inner ? (size_t)ASN1_STRING_length(inner) : p.ulValueLen;
    const bool pushed = group && OSSL_PARAM_BLD_push_utf8_string(parts, OSSL_PKEY_PARAM_GROUP_NAME, group, 0)
                        && OSSL_PARAM_BLD_push_octet_string(parts, OSSL_PKEY_PARAM_PUB_KEY, octets, length);
    EVP_PKEY *key = pushed ? make_key("EC", parts) : NULL;
    ASN1_OCTET_STRING_free(inner);
    ASN1_OBJECT_free(name);
    return key;
}

sr_error_t *sr_signd_object_public(sr_cms_bytes_t *public_key, sr_signd_object_t *object, apr_pool_t *pool)
{
    CK_KEY_TYPE type = CKK_VENDOR_DEFINED;
    CK_ATTRIBUTE kind = {CKA_KEY_TYPE, &type, sizeof type};
    CK_OBJECT_HANDLE found = 0;
    unsigned char *der = NULL;
    if (p11->C_GetAttributeValue(object->sessions[0], object->key, &kind, 1) || (type != CKK_RSA && type != CKK_EC))
        return fault(pool, "the key in the token is neither an RSA nor an EC key");
    const bool seen = find_public(&found, object);
    if (!seen && type == CKK_EC)
        return fault(pool, "the token has no public key that belongs to the private one: it needs the same id");
    OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = !parts ? NULL : type == CKK_RSA ? read_rsa(parts, object, found) : read_ec(parts, object, found);
    const int length = key ? i2d_PUBKEY(key, &der) : 0;
    *public_key = (sr_cms_bytes_t){apr_pmemdup(pool, der, length > 0 ? (apr_size_t)length : 0), (apr_size_t)length};
    OPENSSL_free(der);
    EVP_PKEY_free(key);
    OSSL_PARAM_BLD_free(parts);
    return length > 0 ? NULL : fault(pool, "the public key in the token cannot be read");
}

/* ------------------------------------------------------------------------------------------- without a login */

/* Returns false if the object is a public key, and another one than that of the certificate. An EC point and a modulus
 * are in the SubjectPublicKeyInfo as they are. */
static bool may_be(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, const sr_cms_bytes_t *public_key)
{
    unsigned char value[MAX_VALUE];
    CK_ATTRIBUTE point = {CKA_EC_POINT, value, sizeof value}, modulus = {CKA_MODULUS, value, sizeof value};
    if (!p11->C_GetAttributeValue(session, object, &modulus, 1) && modulus.ulValueLen < sizeof value)
        return memmem(public_key->data, public_key->length, value, modulus.ulValueLen) != NULL;
    if (p11->C_GetAttributeValue(session, object, &point, 1) || point.ulValueLen > sizeof value) return true;
    if (point.ulValueLen < COORDINATES || public_key->length < COORDINATES) return false;
    return !memcmp(value + point.ulValueLen - COORDINATES, public_key->data + public_key->length - COORDINATES,
                   COORDINATES);
}

/* Looks for the public key or the certificate of the same name and id. Private keys are usually hidden. */
static sr_error_t *see(sr_signd_object_t *object, CK_SESSION_HANDLE session, const sr_cms_bytes_t *public_key,
                       apr_pool_t *pool)
{
    static const CK_OBJECT_CLASS classes[] = {CKO_PRIVATE_KEY, CKO_PUBLIC_KEY, CKO_CERTIFICATE};
    bool found = false, others = false;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        CK_ULONG count;
        CK_OBJECT_HANDLE one;
        CK_OBJECT_CLASS class = classes[i];
        CK_ATTRIBUTE kind = {CKA_CLASS, &class, sizeof class};
        others = others || module_find_objects(&one, session, &kind, 1);
        p11_kit_uri_set_attribute(object->uri, &kind);
        CK_ATTRIBUTE *attributes = p11_kit_uri_get_attributes(object->uri, &count);
        if (!module_find_objects(&one, session, attributes, count)) continue;
        found = true;
        if (class == CKO_PUBLIC_KEY && !may_be(session, one, public_key))
            return fault(pool, "the key in the token is not that of the certificate");
    }
    if (found || (!others && object->token.flags & CKF_LOGIN_REQUIRED)) return NULL;
    return fault(pool, "the token has no key, public key or certificate that matches the URI");
}

sr_error_t *sr_signd_object_see(sr_signd_object_t *object, const sr_cms_bytes_t *public_key, apr_pool_t *pool)
{
    CK_SESSION_HANDLE session;
    SR_TRY(find_token(object, pool));
    if (object->token.flags & CKF_LOGIN_REQUIRED && !sr_signd_pin().length)
        return fault(pool, "the token needs a PIN, and there is no SigreqSealPIN");
    const CK_RV value = p11->C_OpenSession(object->slot, CKF_SERIAL_SESSION, NULL, NULL, &session);
    if (value) return refused(pool, "the token opens no session", value);
    sr_error_t *error = see(object, session, public_key, pool);
    p11->C_CloseSession(session);
    return error;
}

/* ------------------------------------------------------------------------------------------------ signatures */

static CK_RV module_sign(const sr_signd_object_t *object, CK_SESSION_HANDLE session, CK_MECHANISM_TYPE mechanism,
                         const sr_cms_bytes_t *data, unsigned char *signature, CK_ULONG *length)
{
    CK_MECHANISM how = {mechanism, NULL, 0};
    CK_RV value = p11->C_SignInit(session, &how, object->key);
    if (!value && object->always) {
        if (sr_signd_pin_try(&object->token)) return CKR_PIN_INCORRECT;
        value = p11->C_Login(session, CKU_CONTEXT_SPECIFIC, sr_signd_pin().text, sr_signd_pin().length);
        if (value == CKR_PIN_INCORRECT || value == CKR_PIN_LOCKED)
            sr_signd_pin_tried(&object->token, SR_SIGND_PIN_WRONG);
    }
    if (!value) value = p11->C_Sign(session, (unsigned char *)data->data, data->length, signature, length);
    return value;
}

CK_RV sr_signd_object_sign(sr_signd_object_t *object, CK_MECHANISM_TYPE mechanism, const sr_cms_bytes_t *data,
                           unsigned char *signature, CK_ULONG *length)
{
    if (!object->count) return CKR_TOKEN_NOT_PRESENT;
    pthread_mutex_lock(&object->mutex);
    while (!object->idle) pthread_cond_wait(&object->freed, &object->mutex);
    const CK_SESSION_HANDLE session = object->sessions[--object->idle];
    pthread_mutex_unlock(&object->mutex);
    const CK_RV value = module_sign(object, session, mechanism, data, signature, length);
    pthread_mutex_lock(&object->mutex);
    object->sessions[object->idle++] = session;
    pthread_cond_signal(&object->freed);
    pthread_mutex_unlock(&object->mutex);
    return value;
}
