/* jobs.h: what leaves by itself: the calls of webhooks, and invitations by mail. No httpd.h: src/run gives it a
 * thread and databases.
 *
 * Sections: address.c · call.c · mail.c (letter.c) · maildir.c · queue.c
 *
 * A delivery is claimed (committed) before its connection is made, and is never sent again by itself: at most once.
 * What became of it is recorded by the process that claimed it. If that process dies, the one that next looks after
 * the claim's time records it as interrupted. Everything that has to survive is in the store.
 */
#ifndef SR_JOBS_H
#define SR_JOBS_H

#include <apr_network_io.h>
#include <curl/curl.h>

#include "model/model.h"
#include "store/store.h"

struct sockaddr;
typedef struct sr_jobs_options_t sr_jobs_options_t;

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

/* As sr_call_begin, of a body of model's sr_invitation_row. NULL where it cannot be sent: *fault says why. */
CURL *sr_mail_begin(sr_call_t *call, const sr_mail_t *mail, const char *body, const char **fault, apr_pool_t *pool);
/* The same invitation as a file of the mail's folder. */
void sr_mail_keep(sr_call_t *call, const sr_mail_t *mail, const char *body, sr_call_result_t *result, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- maildir.c */
/* Writes a message into a new file of the folder: NULL, or what failed, for the log. */
const char *sr_maildir_write(const char *folder, const char *message, apr_pool_t *pool);

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
};

/* Makes it; nothing runs yet. The pool is the thread's own until it has returned. */
sr_error_t *sr_jobs_create(sr_jobs_t **deliver, const sr_jobs_options_t *options, apr_pool_t *pool);
/* Claims, calls and records until it is stopped: the body of a thread. */
void sr_jobs_run(sr_jobs_t *deliver);
/* From any thread: there may be something new in a database. */
void sr_jobs_wake(sr_jobs_t *deliver, int database);
/* From any thread, and from a signal's handler: claim nothing more, give what is under way that long, record, return
 * from run. A second time it says how long again. */
void sr_jobs_stop(sr_jobs_t *deliver, apr_interval_time_t grace);

#endif
