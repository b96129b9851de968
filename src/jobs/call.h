/* SPDX-License-Identifier: Apache-2.0 */
/* call.h: one transfer by libcurl, an HTTP call or a mail. Shared by call.c and mail.c. Other files use jobs.h. */
#ifndef SR_JOBS_CALL_H
#define SR_JOBS_CALL_H

#include "jobs/work.h"

struct sr_call_t {
    CURL *easy;
    struct curl_slist *headers; /* the request headers of an HTTP call; made once */
    const sr_jobs_options_t *options;
    CURLM *multi;    /* the handle of all transfers */
    sr_work_t *work; /* the thread in which the job's work is done, or NULL */
    bool is_mail;
    struct curl_slist *mail_headers, *recipients; /* of a mail; freed when it has been sent */
    const char *body;            /* of an HTTP call the JSON text, of a mail the message with its headers */
    size_t length, sent;         /* bytes of the body, and how many of them libcurl has taken */
    size_t received;             /* bytes of the response so far */
    int status;                  /* set when the headers of the final response are complete */
    const char *forbidden;       /* the kind of an address that the call may not connect to, or NULL */
    bool tried;                  /* libcurl has tried to connect to an address that is allowed */
    char error[CURL_ERROR_SIZE]; /* libcurl's error message */
    char said[CURL_ERROR_SIZE];  /* the message of the result; of a mail, the server's last error reply */
};

/* Resets the easy handle and sets the options that HTTP calls and mails have in common. The limits are in
 * milliseconds. Returns the handle. */
CURL *sr_call_reset(sr_call_t *call, long connect_limit_ms, long limit_ms);
/* A read function for libcurl that sends the body of `call`. */
size_t sr_call_send(char *buffer, size_t size, size_t count, void *call);
/* Frees the lists of a mail: its headers and its recipients. */
void sr_call_drop_mail(sr_call_t *call);

#endif
