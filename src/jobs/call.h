/* SPDX-License-Identifier: Apache-2.0 */
/* call.h: what call.c and mail.c share: one transfer by libcurl, of either kind. Others use jobs.h. */
#ifndef SR_CALL_H
#define SR_CALL_H

#include "jobs/jobs.h"

struct sr_call_t {
    CURL *easy;
    struct curl_slist *headers; /* of an HTTP call; made once */
    const sr_jobs_options_t *options;
    bool is_mail;
    struct curl_slist *mail_headers, *recipients; /* of a mail, until it is over */
    const char *body;                             /* of a mail the message, headers and all */
    size_t length, sent;                          /* of the body */
    size_t received;                              /* of the answer */
    int status;                                   /* once the answer's headers are complete */
    const char *forbidden;                        /* what kind of address it was that may not be called */
    bool tried;                                   /* there was one that may */
    char error[CURL_ERROR_SIZE];                  /* libcurl's words */
    char said[CURL_ERROR_SIZE];                   /* ours, where they are put together; of a mail, the server's */
};

/* The handle as new, with what holds for both. */
CURL *sr_call_reset(sr_call_t *call, long connect_limit_ms, long limit_ms);
/* libcurl's read function: it sends the body, whose reader is the call. */
size_t sr_call_send(char *buffer, size_t size, size_t count, void *call);
/* What a mail took besides the handle. */
void sr_mail_release(sr_call_t *call);

#endif
