/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h: the queue of jobs: the calls of webhooks, and invitations by mail. No httpd.h: src/run gives it a thread and
 * databases.
 *
 * Sections: address.c · call.c · mail.c (letter.c) · maildir.c · kinds.c · queue.c
 *
 * A job is a row of the table `job`. It is written by the transaction that makes it necessary, with the time at which
 * it is due. It is claimed, and the claim is committed, before anything is sent for it. The process that made the claim
 * records the result. Whether a job that failed is tried again is a property of its kind (kinds.def): a webhook is
 * called at most once. Everything that has to survive is in the store. queue.c has the diagram of a job's states.
 */
#ifndef SR_JOBS_H
#define SR_JOBS_H

#include <apr_network_io.h>
#include <curl/curl.h>

#include "model/model.h"
#include "store/store.h"

struct sockaddr;
typedef struct sr_jobs_options_t sr_jobs_options_t;
typedef struct sr_job_kind_t sr_job_kind_t;

/* ---------------------------------------------------------------------------------------------- address.c */
/* What kind of address it is when nobody may be called there ("loopback", "private", …), or NULL. Forms that hold an
 * IPv4 address (mapped, NAT64, 6to4, …) are what that is. `allowed` (apr_ipsubnet_t *) are exceptions. */
const char *sr_address_forbidden(const struct sockaddr *address, const apr_array_header_t *allowed);
/* Reads the addresses of this host's interfaces: they are forbidden too from then on. One thread at a time, which is
 * also the one that asks. */
void sr_address_refresh(void);

/* ------------------------------------------------------------------------------------------------- call.c
 * One HTTP call: POST, JSON, no redirects, no proxy; 5 s to connect, 15 s in all; the answer is read to at most 64 KiB
 * and thrown away. An easy handle is used again and again, a connection never.
 */
typedef struct sr_call_t sr_call_t;

typedef struct sr_call_result_t {
    int status;         /* of the answer (HTTP's, or SMTP's last), or 0 when none came */
    bool success;       /* 2xx */
    const char *error;  /* why not, in words for those who registered the URL; the call's until it is begun again */
    const char *detail; /* what the log says instead, or NULL */
    bool unaccepted;    /* it failed, perhaps for a time, and it is certain that the other side has accepted nothing */
} sr_call_result_t;

/* The options must live as long as the call. */
sr_error_t *sr_call_create(sr_call_t **call, const sr_jobs_options_t *options, apr_pool_t *pool);
/* Prepares the handle; body and URL must live until the call is over. *easy is what to put into a multi handle, with
 * the call as CURLINFO_PRIVATE. */
CURL *sr_call_begin(sr_call_t *call, const char *url, const char *body);
void sr_call_end(sr_call_t *call, sr_call_result_t *result, CURLcode code);

/* ------------------------------------------------------------------------------------------------- mail.c
 * One invitation by SMTP, in the signer's language, on the same kind of handle; STARTTLS and AUTH where the server
 * wants them; 20 s in all.
 */
typedef struct sr_mail_templates_t {
    const char *text; /* its first line is "Subject: …", then an empty line */
    const char *html;
} sr_mail_templates_t; /* as base/template.c fills them: with the members of sr_invitation_row, and the texts "mail" */
extern const sr_mail_templates_t sr_mail_builtin;

typedef struct sr_mail_t {
    const char *url;             /* smtp://host:port or smtps://…, or NULL */
    const char *folder;          /* instead of a server: mails are files there. Or NULL; neither: no mail is sent */
    const char *test_to;         /* address that gets the invitations of the test environment, or NULL: the signers */
    const char *user, *password; /* or NULL */
    const char *from_name, *from_address;
    sr_mail_templates_t templates;
    const sr_mail_templates_t *translated; /* by the number of the language (sr_language), or NULL: the same for all */
} sr_mail_t;

/* As sr_call_begin, of an invitation (the body of model's sr_invitation_row). NULL if it cannot be sent: *fault says
 * why. */
CURL *sr_mail_begin(sr_call_t *call, const sr_mail_t *mail, const json_t *invitation, const char **fault,
                    apr_pool_t *pool);
/* The same invitation as a file of the mail's folder. */
void sr_mail_keep(sr_call_t *call, const sr_mail_t *mail, const json_t *invitation, sr_call_result_t *result,
                  apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- maildir.c */
/* Writes a message into a new file of the folder: NULL, or what failed, for the log. */
const char *sr_maildir_write(const char *folder, const char *message, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ kinds.c
 * A job that is claimed, and what its kind says. kinds.def has the kinds.
 */
typedef struct sr_job_t {
    const sr_job_kind_t *kind;
    apr_int64_t id, organization; /* organization 0: the service's own job */
    int attempts;                 /* that have failed before */
    apr_time_t due_at;
    const char *destination;
    const char *url, *token; /* or NULL */
    const json_t *body;      /* an object */
} sr_job_t;

typedef enum sr_repeat_t {
    SR_REPEAT_NEVER,      /* at most one attempt. If its process dies, the job is "interrupted, outcome unknown" */
    SR_REPEAT_UNACCEPTED, /* again if it is certain that the other side has accepted nothing */
    SR_REPEAT_FAILED      /* again whenever it failed or was interrupted: for work that may be done twice */
} sr_repeat_t;

#define SR_JOB_UNCOUNTED (-1)

struct sr_job_kind_t { /* kinds.def says what each is */
    const char *name;
    sr_repeat_t repeat;
    int attempts;
    apr_interval_time_t pause, lease;
    int most, metric;
    /* Begins an attempt. Returns a handle for libcurl: the attempt ends with its transfer. NULL: the attempt is over
     * already, and *result says how it went. It runs in the thread of all jobs, so it must not wait. */
    CURL *(*begin)(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool);
};

/* ------------------------------------------------------------------------------------------------ queue.c */
typedef struct sr_jobs_t sr_jobs_t;

struct sr_jobs_options_t {
    int databases; /* how many; each is asked for by its number */
    sr_store_source_t *(*database)(void *baton, int number, apr_pool_t *pool);
    /* Something for the log; grave: an administrator should see it. */
    void (*notice)(void *baton, bool grave, const char *message);
    void *baton;
    const char *agent;                 /* User-Agent */
    const apr_array_header_t *allowed; /* apr_ipsubnet_t *: addresses that may be called though they are not public */
    const char *authorities;           /* PEM: those who verify https receivers and mail servers; NULL: the system's */
    const sr_mail_t *mail;             /* or NULL */
    const sr_job_kind_t *kinds;        /* what this process can run. NULL: those of kinds.def */
    int kind_count;
};

/* Makes the queue; nothing runs yet. The pool is the thread's own until it has returned. */
sr_error_t *sr_jobs_create(sr_jobs_t **jobs, const sr_jobs_options_t *options, apr_pool_t *pool);
/* Claims jobs when they are due, runs them and records the results until it is stopped: the body of a thread. */
void sr_jobs_run(sr_jobs_t *jobs);
/* From any thread: there may be something new in a database. */
void sr_jobs_wake(sr_jobs_t *jobs, int database);
/* From any thread, and from a signal's handler: claim nothing more, wait that long for what is under way, record it,
 * and return from sr_jobs_run. A second call sets the time again. */
void sr_jobs_stop(sr_jobs_t *jobs, apr_interval_time_t grace);

#endif
