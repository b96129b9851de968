/* SPDX-License-Identifier: Apache-2.0 */
/* module.h: the calls to a PKCS#11 module, shared by the files about tokens.
 *
 * Sections: pin.c · module.c */
#ifndef SR_SIGNER_MAIN_MODULE_H
#define SR_SIGNER_MAIN_MODULE_H

#include "signer/protocol.h"

#include <p11-kit/pkcs11.h>
#include <p11-kit/uri.h>
#include <pthread.h>

/* -------------------------------------------------------------------------------------------------- pin.c
 *
 * A token accepts only a few wrong PINs. So a wrong PIN is tried once in the life of a configuration of httpd, also if
 * this process dies and is started again. The record of that is in a file in memory that httpd's parent has made.
 *
 *   untried -> trying -> good          trying, when the process is started again: it may have died because of the PIN
 *                     -> wrong         good: the PIN was right, so it may be tried again as long as its file is the
 * same
 */
/* Reads the PIN. A newline at the end of the file does not belong to it. */
sr_error_t *sr_signd_pin_read(const char *path, apr_pool_t *pool);
/* The PIN. Its length is 0 if there is none. */
typedef struct sr_signd_pin_t {
    unsigned char *text;
    CK_ULONG length;
} sr_signd_pin_t;
sr_signd_pin_t sr_signd_pin(void);
/* Messages are for the user of sigreqctl from now on, and not for the log of httpd. */
void sr_signd_pin_for_command(void);
/* Returns the message about a wrong PIN. */
const char *sr_signd_pin_refused(void);
/* Asks whether the PIN may be tried at this token, and records the attempt. Returns NULL, or why not. */
const char *sr_signd_pin_try(const CK_TOKEN_INFO *token);
/* Records what the attempt has shown. */
typedef enum sr_signd_pin_result_t {
    SR_SIGND_PIN_GOOD,
    SR_SIGND_PIN_WRONG,
    SR_SIGND_PIN_UNKNOWN
} sr_signd_pin_result_t;
void sr_signd_pin_tried(const CK_TOKEN_INFO *token, sr_signd_pin_result_t result);

/* ----------------------------------------------------------------------------------------------- module.c */
#define SR_SIGND_SESSIONS 8 /* of one key, at most */

/* A key in a token. */
typedef struct sr_signd_object_t {
    P11KitUri *uri;
    CK_SLOT_ID slot;
    CK_OBJECT_HANDLE key;
    bool always; /* each signature needs a login of its own (CKA_ALWAYS_AUTHENTICATE) */
    CK_TOKEN_INFO token;
    CK_SESSION_HANDLE sessions[SR_SIGND_SESSIONS];
    int count, idle; /* those below `idle` are not in use */
    pthread_mutex_t mutex;
    pthread_cond_t freed;
} sr_signd_object_t;

/* Reads a URI of RFC 7512 that names a private key. */
sr_error_t *sr_signd_object_make(sr_signd_object_t *object, const char *uri, apr_pool_t *pool);
/* Opens the shared library. */
sr_error_t *sr_signd_module_open(const char *path, apr_pool_t *pool);
/* C_Initialize, C_Finalize. No other thread may use the module meanwhile. */
sr_error_t *sr_signd_module_begin(apr_pool_t *pool);
void sr_signd_module_end(void);
/* Finds the token, opens sessions, logs in, and finds the key. No other thread may use the object meanwhile. */
sr_error_t *sr_signd_object_open(sr_signd_object_t *object, apr_pool_t *pool);
void sr_signd_object_close(sr_signd_object_t *object);
/* Reads the public key that belongs to the key of an object that is open, as a SubjectPublicKeyInfo. */
sr_error_t *sr_signd_object_public(sr_cms_bytes_t *public_key, sr_signd_object_t *object, apr_pool_t *pool);
/* Finds the token and what can be seen of the key without a login. `public_key` is the SubjectPublicKeyInfo that it
 * must have. */
sr_error_t *sr_signd_object_see(sr_signd_object_t *object, const sr_cms_bytes_t *public_key, apr_pool_t *pool);
/* Signs. *length is first the room. Returns what the module says. Several threads may call it. */
CK_RV sr_signd_object_sign(sr_signd_object_t *object, CK_MECHANISM_TYPE mechanism, const sr_cms_bytes_t *data,
                           unsigned char *signature, CK_ULONG *length);
/* Returns the text of a return value, such as "The device was removed (0x32)". */
const char *sr_signd_module_text(CK_RV value, apr_pool_t *pool);

#endif
