/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.h: HTTP requests to authorities that prove something: timestamps, OCSP, CRLs. Several requests are made at the
 * same time, and connections are kept for the next ones. Redirects are not followed, and no setting of the environment
 * (http_proxy, .netrc) has an effect. src/jobs calls strangers, with rules of its own. */
#ifndef SR_AUTHORITIES_FETCH_H
#define SR_AUTHORITIES_FETCH_H

#include <sys/socket.h>

#include "base/base.h"

typedef struct sr_fetcher_t sr_fetcher_t;

/* All texts live as long as the fetcher. */
typedef struct sr_fetch_options_t {
    const char *agent;       /* User-Agent */
    const char *proxy;       /* URL of the proxy for all requests; NULL or "": none */
    const char *authorities; /* PEM text: the authorities of https servers; NULL: the system's */
    /* Returns why an address must not be called, or NULL. It is asked before each connection, unless there is a proxy,
     * which then decides. NULL: every address may be called. */
    const char *(*forbidden)(const struct sockaddr *address, const void *baton);
    const void *baton;
    /* Returns true if requests under way are to be given up, because the process ends; or NULL. It is asked five times
     * a second. */
    bool (*stopped)(const void *baton);
} sr_fetch_options_t;

/* What became of a request. */
typedef enum sr_fetch_state_t {
    SR_FETCH_DONE,        /* status 200, and a body of the wanted type that is complete */
    SR_FETCH_UNREACHABLE, /* no connection: DNS, TCP, the proxy or TLS */
    SR_FETCH_LATE,        /* a time limit passed */
    SR_FETCH_CLOSED,      /* the connection ended too early, or the response is not HTTP */
    SR_FETCH_REFUSED,     /* another status than 200 */
    SR_FETCH_OTHER,       /* another content type */
    SR_FETCH_LARGE        /* the body is larger than the limit */
} sr_fetch_state_t;

typedef struct sr_fetch_t {
    /* the request */
    const char *url;                  /* http:// or https:// */
    const void *body;                 /* NULL: GET, else POST */
    apr_size_t length;                /* of the body */
    const char *type;                 /* content type of the body */
    const char *wanted;               /* media type that the response must have; NULL: any */
    const char *login;                /* "user:password" for basic authentication, or NULL */
    apr_size_t limit;                 /* the largest body that is accepted */
    apr_interval_time_t connect, all; /* time limits: of connecting, and of the whole request */
    /* the result */
    sr_fetch_state_t state;
    const char *fault;           /* why it is not SR_FETCH_DONE: a text of one line for the log; else NULL */
    int status;                  /* of the response; 0: none came */
    const unsigned char *answer; /* its body; NULL unless it is SR_FETCH_DONE */
    apr_size_t size;
    apr_interval_time_t took;
} sr_fetch_t;

/* Makes a fetcher for any number of threads. curl_global_init must have been called. Connections that are idle are kept
 * until the pool is destroyed, or their server closes them. Make it after a fork. */
sr_error_t *sr_fetcher_create(sr_fetcher_t **fetcher, const sr_fetch_options_t *options, apr_pool_t *pool);
/* Makes all requests at the same time, and returns when the last one has a result. The results are in `pool`. */
void sr_fetch_all(sr_fetcher_t *fetcher, sr_fetch_t *requests, int count, apr_pool_t *pool);

#endif
