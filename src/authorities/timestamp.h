/* SPDX-License-Identifier: Apache-2.0 */
/* timestamp.h: timestamps (RFC 3161, RFC 5816) of a list of timestamp authorities, which are asked in their order. A
 * token counts only if all checks of rfc3161.c accept it: nothing here ever makes up a time. */
#ifndef SR_AUTHORITIES_TIMESTAMP_H
#define SR_AUTHORITIES_TIMESTAMP_H

#include "metrics/metrics.h"
#include "authorities/fetch.h"

#define SR_TIMESTAMP_AUTHORITIES 8 /* the most that can be configured */
#define SR_TIMESTAMP_DIGEST 32     /* bytes of a SHA-256, which is what is stamped */

typedef struct sr_timestamps_t sr_timestamps_t;

/* All texts live as long as the result of sr_timestamps_create. */
typedef struct sr_timestamp_options_t {
    const apr_array_header_t *urls; /* const char * */
    const char *const *logins;      /* "user:password" or NULL, as many as `urls` */
    const char *authorities;        /* PEM text: a chain must end at one of these certificates */
    apr_interval_time_t each, all;  /* time limits: of one authority, and of all of them */
    bool required;                  /* false: a signature without a timestamp is better than none */
    void *breakers;                 /* sr_timestamp_breakers_size() bytes that all processes share, at first 0 */
    sr_fetcher_t *fetcher;
    /* Called with a text of one line for the log when an authority has failed, and when a digest gets no token. Or
     * NULL. */
    void (*notice)(void *baton, const char *text);
    void *baton;
} sr_timestamp_options_t;

typedef struct sr_stamp_t {
    unsigned char digest[SR_TIMESTAMP_DIGEST];
    const unsigned char *token; /* DER; NULL: there is none */
    apr_size_t length;
    apr_time_t time;        /* genTime: what the token proves */
    const char *authority;  /* the subject of the authority's certificate, as in RFC 2253 */
    sr_stamp_fault_t fault; /* without a token: what the last authority did */
} sr_stamp_t;

typedef struct sr_trust_der_t {
    const unsigned char *data;
    apr_size_t length;
} sr_trust_der_t;

/* The memory in which all processes note which authorities fail. An authority that has failed three times in a row is
 * skipped for a second; then one caller tries it. Each further pause is twice as long, up to 30 seconds. */
apr_size_t sr_timestamp_breakers_size(void);
/* Errors: SR_EINTERNAL if `authorities` has no certificates. Any number of threads may use the result. */
sr_error_t *sr_timestamps_create(sr_timestamps_t **timestamps, const sr_timestamp_options_t *options, apr_pool_t *pool);
bool sr_timestamps_required(const sr_timestamps_t *timestamps);
/* Gets tokens for all digests, in one round with the first authority that gives them all. What is missing after its
 * round is asked of the next one. Errors: SR_EUNAVAILABLE if a digest has no token; those that have one keep it. */
sr_error_t *sr_timestamps_make(sr_timestamps_t *timestamps, sr_stamp_t *stamps, int count, apr_pool_t *pool);
/* Returns the certificates (sr_trust_der_t) from the authority that made a token up to the anchor, in this order. */
sr_error_t *sr_timestamps_chain(apr_array_header_t **chain, const sr_timestamps_t *timestamps, const void *token,
                                apr_size_t length, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- ending.c */
/* Sets *end to the time until which a token proves something: the end of the certificate that made it, or of an
 * algorithm that is weak. */
sr_error_t *sr_timestamps_end(apr_time_t *end, const sr_timestamps_t *timestamps, const void *token, apr_size_t length,
                              apr_pool_t *pool);

#endif
