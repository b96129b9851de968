/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h: the queue of jobs: webhook calls and invitations by mail. It does not include httpd.h. src/httpd gives it a
 * thread and the databases.
 *
 * Sections: address.c · call.c · hook.c · mail.c (letter.c, attached.c) · maildir.c · kinds.c (work.c) · queue.c
 *
 * A job is a row of the table `job`. The transaction that makes the job necessary inserts the row, with the time at
 * which it is due. A process claims the job and commits the claim before it sends anything. The same process records
 * the result. Whether a failed job is tried again is a property of its kind (kinds.def). A webhook is called at most
 * once. Everything that must survive a crash is in the database. queue.c has the diagram of a job's states. */
#ifndef SR_JOBS_JOBS_H
#define SR_JOBS_JOBS_H

#include <apr_network_io.h>
#include <curl/curl.h>

#include "model/model.h"
#include "store/store.h"

struct sockaddr;
typedef struct sr_jobs_options_t sr_jobs_options_t;
typedef struct sr_job_kind_t sr_job_kind_t;

/* ---------------------------------------------------------------------------------------------- address.c */
/* Returns the kind of an address that must not be called ("loopback", "private", …), or NULL if it may be called. An
 * IPv6 address that contains an IPv4 address (mapped, NAT64, 6to4, …) is judged by that IPv4 address. Addresses in
 * `allowed` (apr_ipsubnet_t *) are exceptions. */
const char *sr_address_forbidden(const struct sockaddr *address, const apr_array_header_t *allowed);
/* Reads the addresses of this host's interfaces. They are forbidden from then on. Call it only from the thread that
 * calls sr_address_forbidden. */
void sr_address_refresh(void);

/* ------------------------------------------------------------------------------------------------- call.c
 * One HTTP call: POST of JSON, without redirects or a proxy. Connecting may take 5 s and the whole call 15 s. At most
 * 64 KiB of the response are read and thrown away. An easy handle is used again, a connection is not.
 */
typedef struct sr_call_t sr_call_t;

typedef struct sr_mail_files_t sr_mail_files_t; /* attached.h */

typedef struct sr_call_result_t {
    int status;        /* the status of the HTTP response or of the last SMTP reply; 0: there was none */
    bool success;      /* the status is 2xx */
    const char *error; /* why the call failed, in words for the owner of the URL; valid until the call is begun again */
    const char *detail; /* more precise text for the log, or NULL */
    bool unaccepted;    /* the call failed, perhaps only for now, and it is certain that the other side has accepted
                           nothing */
    apr_interval_time_t again;    /* it succeeded, and is to be done again after this time; 0: it is done */
    const sr_mail_files_t *files; /* what a thread has read, with which the mail begins; or NULL */
} sr_call_result_t;

/* Makes a call, which is released with the pool. The options must live as long. Errors: SR_EINTERNAL. */
sr_error_t *sr_call_create(sr_call_t **call, const sr_jobs_options_t *options, apr_pool_t *pool);
/* Prepares a call. `url` and `body` must live until the call has ended. Returns the handle for a libcurl multi
 * handle, with the call as CURLINFO_PRIVATE. */
CURL *sr_call_begin(sr_call_t *call, const char *url, const char *body);
void sr_call_end(sr_call_t *call, sr_call_result_t *result, CURLcode code);

/* ------------------------------------------------------------------------------------------------- hook.c */
typedef struct sr_code_hook_t {
    const char *url, *secret, *agent;
    const char *authorities; /* as in sr_jobs_options_t */
} sr_code_hook_t;
/* Calls SigreqCodeHook, and waits for at most 10 s. The texts of the result are in the pool. */
void sr_code_hook_call(sr_call_result_t *result, const sr_code_hook_t *hook, const char *body, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- mail.c
 * One invitation, reminder or code by SMTP, in the signer's language, with the same kind of handle. STARTTLS and AUTH
 * are used if the server offers or needs them. Sending may take 20 s.
 */
typedef struct sr_mail_template_t {
    const char *text; /* plain text; its first line is "Subject: …", followed by an empty line */
    const char *html;
} sr_mail_template_t; /* templates of base/template.c. Their values are the members of sr_invitation_row, their texts
                         are the texts "mail" of the catalogue */
typedef enum sr_mail_of_t {
    SR_MAIL_INVITATION,
    SR_MAIL_REMINDER,
    SR_MAIL_CODE,
    SR_MAIL_COPY,
    SR_MAIL_VIEW,
    SR_MAIL_COUNT
} sr_mail_of_t;
typedef struct sr_mail_templates_t {
    sr_mail_template_t of[SR_MAIL_COUNT];
} sr_mail_templates_t;
extern const sr_mail_templates_t sr_mail_builtin;

typedef struct sr_mail_t {
    const char *url;     /* smtp://host:port or smtps://host:port, or NULL */
    const char *folder;  /* mails are written as files into this folder instead of being sent; or NULL. Without both, no
                            mail is sent */
    const char *test_to; /* the address that gets all invitations of the test environment; NULL: the signers get them */
    const char *user, *password; /* or NULL */
    const char *from_name, *from_address;
    bool names_requester; /* mails come "from" the requester "via" from_name, who also gets replies */
    sr_mail_templates_t templates;
    const sr_mail_files_t *files;          /* of the one mail that is made with this; or NULL */
    const sr_mail_templates_t *translated; /* by language number (sr_language); NULL: all use `templates` */
} sr_mail_t;

/* Sets url and folder, user and password from what SigreqSMTP names, and the sender from SigreqMailFrom. Returns false
 * if no mail is sent. */
bool sr_mail_read(sr_mail_t *mail, const char *smtp, const char *from, apr_pool_t *pool);
/* Sets the name (or NULL) and the address of "name <address>" or "address". */
void sr_mail_read_box(const char **name, const char **address, const char *text, apr_pool_t *pool);

/* Like sr_call_begin, for an invitation (the body of sr_invitation_row or sr_code_row). Returns NULL and sets *fault if
 * it cannot be sent. */
CURL *sr_mail_begin(sr_call_t *call, const sr_mail_t *mail, const json_t *invitation, const char **fault,
                    apr_pool_t *pool);
/* Writes the invitation as a file into mail->folder. *result says whether that succeeded. */
void sr_mail_keep(sr_call_t *call, const sr_mail_t *mail, const json_t *invitation, sr_call_result_t *result,
                  apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- maildir.c */
/* Writes a message to a new file in the folder. Returns NULL, or the fault as text for the log. */
const char *sr_maildir_write(const char *folder, const char *message, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ kinds.c
 * A claimed job and its kind. kinds.def lists the kinds.
 */
typedef struct sr_job_t {
    const sr_job_kind_t *kind;
    apr_int64_t id, organization; /* organization is 0 for jobs of the service itself */
    int attempts;                 /* the number of attempts that have failed */
    apr_time_t due_at;
    int database; /* its number */
    const char *destination;
    const char *url, *token; /* or NULL */
    const json_t *body;      /* a JSON object */
} sr_job_t;

typedef enum sr_repeat_t {
    SR_REPEAT_NEVER,      /* at most one attempt; if its process dies, the result is "interrupted, outcome unknown" */
    SR_REPEAT_UNACCEPTED, /* try again if it is certain that the other side has accepted nothing */
    SR_REPEAT_FAILED      /* try again whenever it failed or was interrupted; for work that may be done twice */
} sr_repeat_t;

#define SR_JOB_UNCOUNTED (-1)

struct sr_job_kind_t { /* kinds.def describes the members */
    const char *name;
    sr_repeat_t repeat;
    int attempts;
    apr_interval_time_t pause, lease;
    int most, metric;
    /* Begins an attempt. Returns a libcurl handle, and the attempt ends with its transfer; or NULL and sets call->work,
     * and the attempt ends with that; or NULL if the attempt has ended already, and *result is set. It runs in the
     * thread that serves all jobs, so it must not block. */
    CURL *(*begin)(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool);
};

/* ------------------------------------------------------------------------------------------------ queue.c */
typedef struct sr_jobs_t sr_jobs_t;

struct sr_jobs_options_t {
    int databases; /* the number of databases; they are numbered from 0 */
    sr_store_source_t *(*database)(void *baton, int number, apr_pool_t *pool);
    /* Called when a database has answered: what could not be done before can be repeated. Or NULL. */
    void (*answered)(void *baton, int number, apr_pool_t *pool);
    /* Writes a message to the log. grave: an administrator should see it. */
    void (*notice)(void *baton, bool grave, const char *message);
    void *baton;
    const char *agent;                 /* the User-Agent header */
    const apr_array_header_t *allowed; /* apr_ipsubnet_t *: addresses that may be called although they are not public */
    const char *authorities; /* PEM text: the certificate authorities for https receivers and mail servers; NULL: the
                                system's */
    const sr_mail_t *mail;   /* or NULL */
    /* Does the work of a job of the kind "expiry" or "remind" for a submission (uuid) of a database. *again is the time
     * after which it must be done again, or 0. NULL: this process does not. */
    sr_error_t *(*timer)(void *baton, int number, const char *kind, const char *submission, apr_interval_time_t *again,
                         apr_pool_t *pool);
    /* Does the work of a job of the kind "archive". It may block, and is called in a thread of its own, also by several
     * at a time. `folder` is the uuid of the folder of the documents, or NULL. NULL: this process does not. */
    sr_error_t *(*work)(void *baton, int number, const char *kind, const char *submission, const char *folder,
                        apr_interval_time_t *again, apr_pool_t *pool);
    /* Reads the files (sr_attachment_t) of a mail about a submission. It is called like `work`. *files is NULL if they
     * are larger than SR_ATTACHED_MAX. Errors: SR_ENOTFOUND or SR_EGONE if it is not completed or was deleted. NULL: no
     * mail has files. */
    sr_error_t *(*files)(void *baton, int number, const char *submission, const char *folder,
                         const apr_array_header_t **files, apr_pool_t *pool);
    /* Returns false if this process does not run jobs of this kind at present. It is asked before each batch. NULL: it
     * runs all kinds. */
    bool (*runs)(void *baton, const char *kind);
    /* Queues the submissions of a database that are to be archived. Called like `retain`. Or NULL. */
    void (*queue)(void *baton, int number, apr_pool_t *pool);
    /* Deletes a few of the submissions of a database whose retention is over. Called every few seconds by one process
     * of the machine. Or NULL. */
    void (*retain)(void *baton, int number, apr_pool_t *pool);
    const sr_job_kind_t *kinds; /* the kinds that this process can run; NULL: those of kinds.def */
    int kind_count;
};

/* Makes the queue. No job runs yet. The thread that runs the queue is the only user of the pool until it has
 * returned. */
sr_error_t *sr_jobs_create(sr_jobs_t **jobs, const sr_jobs_options_t *options, apr_pool_t *pool);
/* The body of the job thread. It claims jobs when they are due, runs them and records the results until sr_jobs_stop
 * is called. */
void sr_jobs_run(sr_jobs_t *jobs);
/* Reports, from any thread, that a job may have been written to a database. */
void sr_jobs_wake(sr_jobs_t *jobs, int database);
/* Makes sr_jobs_run return: no job is claimed any more, jobs under way get `grace` microseconds to end, and their
 * results are recorded. It may be called from any thread and from a signal handler. A second call replaces `grace`. */
void sr_jobs_stop(sr_jobs_t *jobs, apr_interval_time_t grace);

#endif
