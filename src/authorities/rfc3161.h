/* SPDX-License-Identifier: Apache-2.0 */
/* rfc3161.h: one query to a timestamp authority, and the checks of its response. Private to src/authorities. */
#ifndef SR_AUTHORITIES_RFC3161_H
#define SR_AUTHORITIES_RFC3161_H

#include <openssl/ts.h>

#include "authorities/timestamp.h"

/* A query that asks for a timestamp of `digest`, with a nonce of its own. */
typedef struct sr_token_query_t {
    TS_REQ *request;
    unsigned char *der;
    int length;
} sr_token_query_t;
/* It is freed with the pool. Returns false if there is no memory. */
bool sr_token_query(sr_token_query_t *query, const unsigned char *digest, apr_pool_t *pool);

/* Reads trust anchors from PEM text. Returns NULL if there are none. They are freed with the pool. */
X509_STORE *sr_token_anchors(const char *pem, apr_pool_t *pool);

/* Checks the response to a query. If it is good, sets the token, its time and the authority. Otherwise *why is a text
 * of one line for the log. */
sr_stamp_fault_t sr_token_judge(sr_stamp_t *stamp, const char **why, const sr_token_query_t *query, X509_STORE *anchors,
                                const unsigned char *response, apr_size_t length, apr_pool_t *pool);
/* The same as sr_timestamps_chain. Returns false if there is no such chain. */
bool sr_token_chain(apr_array_header_t *chain, X509_STORE *anchors, const void *token, apr_size_t length,
                    apr_pool_t *pool);

#endif
