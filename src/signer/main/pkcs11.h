/* SPDX-License-Identifier: Apache-2.0 */
/* pkcs11.h: keys in tokens (PKCS#11), for main.c and seals.c. The module of the token is code of others, and needs
 * files and sockets. So it is opened after the process has given up its rights, in a sandbox of its own (rights.c). */
#ifndef SR_SIGNER_MAIN_PKCS11_H
#define SR_SIGNER_MAIN_PKCS11_H

#include "signer/protocol.h"

/* ------------------------------------------------------------------------------------------------ pkcs11.c */
/* Takes `setup`, the JSON object that httpd/signd.c makes: "module" is the path of the PKCS#11 module, "pin" that of
 * the file with the PIN, which is read now, with the rights of the user who started httpd. Without "module" there are
 * no keys in tokens. A fault is one of each key in a token. */
void sr_signd_token_setup(const json_t *setup, apr_pool_t *pool);
/* Makes the identity of a certificate whose key is in a token. `uri` is a URI of RFC 7512. `seal` is its number, for
 * faults. It does not sign until sr_signd_token_start has found the key. The certificate is judged by `when`. */
sr_error_t *sr_signd_token_identity(const sr_cms_identity_t **identity, const char *certificate_path, const char *uri,
                                    int seal, sr_cms_when_t when, apr_pool_t *pool);
/* The fault of a key, or NULL; and whether the key is tried again. */
typedef struct sr_signd_token_fault_t {
    const char *text;
    bool heals;
} sr_signd_token_fault_t;
/* Returns true if there are keys in tokens. */
bool sr_signd_token_is_used(void);
/* Opens the module, logs in and finds the keys, each of which makes a trial signature, and starts the thread that does
 * so again when a token was pulled, or not there. Sets the faults of keys, by seal. If `again` is true, those that this
 * thread heals later are written to standard error instead. */
sr_error_t *sr_signd_token_start(sr_signd_token_fault_t faults[SR_SIGND_SEALS], bool again, apr_pool_t *pool);
/* The same for `httpd -t`, which needs no signatures: opens the module and finds the tokens, and the keys as far as
 * that is possible without a login. No PIN is tried. */
sr_error_t *sr_signd_token_check(int *seal, apr_pool_t *pool);
/* Makes a request for a certificate of a key in a token, for `sigreqctl seal request`. It logs in. */
sr_error_t *sr_signd_token_request(const char **request, const char *uri, const char *name, apr_pool_t *pool);
#ifdef SR_SANITIZE
/* No thread uses a token any more. For an instrumented process, before exit(), which ends the modules. */
void sr_signd_token_hold(void);
#endif

#endif
