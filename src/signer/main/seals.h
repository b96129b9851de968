/* SPDX-License-Identifier: Apache-2.0 */
/* seals.h: sigreq-signd, the process that holds the keys of the seals. Only children of httpd can talk to it
 * (signer/protocol.h has the protocol). It signs digests of documents, and reads nothing that others have written
 * except its requests of fixed layout.
 *
 * Sections: seals.c · serve.c · rights.c */
#ifndef SR_SIGNER_MAIN_SEALS_H
#define SR_SIGNER_MAIN_SEALS_H

#include "signer/protocol.h"

/* ------------------------------------------------------------------------------------------------ seals.c */
typedef struct sr_signd_keys_t sr_signd_keys_t;
/* Loads the keys with the rights of the user who started httpd. `setup` is the JSON object that httpd/signd.c makes.
 * Its array "seals" has an object for each seal: "certificate" and "key" are paths. If they are missing, a key and a
 * certificate for tests are made. The member SR_SIGND_OWN_SEALS is the folder of own seals of organisations. Faults of
 * seals are in the answer. With the member "check" they are errors, and so is a certificate that has expired. Returns
 * an error of the seal *seal, or -1. */
sr_error_t *sr_signd_keys_load(sr_signd_keys_t **keys, int *seal, const json_t *setup, apr_pool_t *pool);
/* Returns true if a fault of this seal is no reason for the process to end. */
bool sr_signd_tolerates(const json_t *setup, int seal);
/* Records that a seal cannot be used, and why. If `forget` is true, its certificate is forgotten. */
void sr_signd_keys_fault(sr_signd_keys_t *keys, int seal, const char *fault, bool forget);
/* Returns the JSON text of the answer to the setup: the certificates of all seals. */
const char *sr_signd_keys_answer(const sr_signd_keys_t *keys, apr_pool_t *pool);
/* Answers a request. `response` has room for SR_SIGND_MAX_RESPONSE bytes. Returns the length of the response. Several
 * threads may call it. */
apr_size_t sr_signd_keys_respond(unsigned char *response, const sr_signd_keys_t *keys, const unsigned char *request,
                                 apr_size_t length, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ serve.c */
/* Starts the threads, `count` with the calling one. They wait until it calls sr_signd_serve. Returns false if that is
 * not possible. */
bool sr_signd_threads_start(const sr_signd_keys_t *keys, int count);
/* Serves, and ends the process when all children of httpd have closed their ends of the door and of their connections.
 */
void sr_signd_serve(apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- rights.c */
/* Sets limits: no core files, and as many descriptors as the connections of all children need. */
void sr_signd_limits(void);
/* Takes the rights of httpd's user, if the process has those of root. Returns false if that is not possible. */
bool sr_signd_become(uid_t user, gid_t group);
/* Enters the sandbox. With a token, files and sockets stay, because its module needs them. Returns false, after a line
 * to standard error, if there is none. */
bool sr_signd_sandbox(bool token);
#define SR_SIGND_MOST_CONNECTIONS 8192

#endif
