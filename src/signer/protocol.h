/* SPDX-License-Identifier: Apache-2.0 */
/* protocol.h: the protocol of sigreq-signd, the process that holds the keys of the seals, and its client. client.c is
 * the client; signer/main is the program.
 *
 * httpd's parent makes a pair of sockets, the door, before it starts the program. The program has one end. The other
 * end is inherited by the children of httpd. No socket has a name, so no other process can talk to the program. A child
 * that wants to be served makes a pair of sockets (SOCK_SEQPACKET) and sends one of them through the door, with one
 * byte. Then each request is one message, and so is its response. Requests and responses have a fixed layout, because
 * code that has taken over a child may send anything.
 *
 *   request    "SQS1"  operation  seal  hash  0  SHA-256 of the seal's certificate (32)  digest of the document
 *   response   "SQS1"  status     0     length of attributes (2)  of the rest (2)  0 (6)  attributes  the rest
 *
 * SIGN makes the signed attributes of the digest, and signs them: the rest of the response is the signature. So a child
 * cannot have anything signed but the digest of a document. CERTIFICATES returns the certificates of a seal as PEM
 * text. It is empty if there is none. Own seals of organisations share one number: SIGN finds the key by the
 * certificate alone, and CERTIFICATES has the 32 digits of the organisation's uuid in the place of the certificate's
 * SHA-256. */
#ifndef SR_SIGNER_PROTOCOL_H
#define SR_SIGNER_PROTOCOL_H

#include "cms/cms.h"

#include <string.h>

#define SR_SIGND_MAGIC "SQS1"
#define SR_SIGND_HEADER 8       /* of a request: everything before the two hashes */
#define SR_SIGND_FINGERPRINT 32 /* SHA-256 of a certificate */
#define SR_SIGND_MAX_REQUEST (SR_SIGND_HEADER + SR_SIGND_FINGERPRINT + SR_CMS_MAX_DIGEST)
#define SR_SIGND_RESPONSE 16 /* header of a response */
#define SR_SIGND_MAX_RESPONSE ((apr_size_t)64 << 10)
#define SR_SIGND_MAX_SIGNED ((apr_size_t)4096) /* a response to SIGN */
#define SR_SIGND_DOOR 3                        /* descriptor of sigreq-signd: requests to be served */
#define SR_SIGND_SETUP 4                       /* its configuration, and the answer to it */
#define SR_SIGND_TRIES 5                       /* a file in memory: which PINs were tried (src/signer/main/pin.c) */
#define SR_SIGND_SEALS 2                       /* by sr_environment_t */
#define SR_SIGND_PRODUCTION 1                  /* SR_PRODUCTION of sr_environment_t */
#define SR_SIGND_OWN 2                         /* the own seals of organisations */
/* The members of the answer that say that the keys were not loaded, and with the certificates (null if there is none),
 * by sr_environment_t. */
#define SR_SIGND_FAULT "fault"
#define SR_SIGND_PEM "certificates"
/* The member of the answer with why a seal cannot be used, or null, by sr_environment_t. A seal that has certificates
 * nevertheless is tried again by the process, because its key is in a token. The others stay so until the next
 * configuration; the setup of a process that is started again names them in a member of the same name. */
#define SR_SIGND_FAULTS "faults"
/* The member of the setup that names the folder of own seals, and the member of the answer with an object for each of
 * them: "organization", SR_SIGND_PEM, SR_SIGND_FAULT; null if absent. */
#define SR_SIGND_OWN_SEALS "own"
/* The member of a setup that asks for a request for a certificate, with `key` (a URI) and `name`, and for nothing else;
 * and the member of the answer with its PEM text. sigreqctl starts the program in this way. */
#define SR_SIGND_REQUEST "request"

typedef enum sr_signd_operation_t { SR_SIGND_SIGN = 1, SR_SIGND_CERTIFICATES = 2 } sr_signd_operation_t;
typedef enum sr_signd_status_t {
    SR_SIGND_DONE,
    SR_SIGND_INVALID, /* the request is not valid */
    SR_SIGND_OTHER,   /* the seal has another certificate now: the process was started again after its file had changed,
                         or the certificate was generated */
    SR_SIGND_FAILED   /* the key cannot sign at the moment */
} sr_signd_status_t;

/* Returns the number of a hash function in the protocol: its digest has 32, 48 or 64 bytes. 0: unknown. */
static inline int sr_signd_hash(const char *name, apr_size_t *size)
{
    const int number = !strcmp(name, "SHA256") ? 1 : !strcmp(name, "SHA384") ? 2 : !strcmp(name, "SHA512") ? 3 : 0;
    *size = 16 * ((apr_size_t)number + 1);
    return number;
}

/* Writes the 32 hexadecimal digits of a uuid, without its hyphens. */
static inline void sr_signd_organization(unsigned char *digits, const char *uuid)
{
    for (int i = 0; *uuid && i < SR_SIGND_FINGERPRINT; uuid++)
        if (*uuid != '-') digits[i++] = (unsigned char)*uuid;
}

/* ----------------------------------------------------------------------------------------------- client.c */
typedef struct sr_signd_t sr_signd_t;
/* Makes the client of a child of httpd. It keeps up to `connections` connections. When all of them are in use, callers
 * wait in a queue of limited length. A request and the wait before it take at most `timeout`. Connections that
 * break, because the process has died, are made again meanwhile. */
sr_signd_t *sr_signd_create(int door, int connections, apr_interval_time_t timeout, apr_pool_t *pool);
/* Signs by the process (sr_cms_sign_t); `baton` is an sr_signd_seal_t. */
typedef struct sr_signd_seal_t {
    sr_signd_t *signd;
    int number; /* of the seal: sr_environment_t, or SR_SIGND_OWN */
    /* Called if the signer process does not have the certificate of an identity that is used; or NULL. */
    void (*changed)(void *baton, int number, const sr_cms_identity_t *identity);
    void *changed_baton;
} sr_signd_seal_t;
sr_cms_sign_t sr_signd_sign;
/* Asks for the certificates of a seal. `organization` is the uuid for SR_SIGND_OWN, else NULL. */
sr_error_t *sr_signd_certificates(const char **pem, sr_signd_t *signd, int number, const char *organization,
                                  apr_pool_t *pool);
/* Asks for the certificate of a seal, and replaces *used if it is another one. A new identity signs by `seal`, and
 * lives as long as `seal->signd`. The arguments are those of sr_signd_certificates. */
void sr_signd_replace(const sr_cms_identity_t **used, sr_signd_seal_t *seal, int number, const char *organization);

#endif
