/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h: what the files of src/pdf share: one worker process, the template that they are forked from, the pool that
 * says who may have one, one request, and what a long answer comes in. Private to src/pdf. */
#ifndef SR_PDF_WORKER_H
#define SR_PDF_WORKER_H

#include "pdf/pdf.h"

#include <pthread.h>
#include <sys/types.h>

typedef struct sr_pdf_worker_t {
    pid_t pid; /* 0: no process */
    int socket;
    uint32_t asked; /* requests so far: the next one's id is one more */
} sr_pdf_worker_t;

/* Showing a page is work that a signer can ask for as often as they like: it has places of its own, so that creating,
 * signing and checking never wait for it. So has what anybody can ask for without a token or a link. */
typedef enum sr_pdf_class_t { SR_PDF_WORK, SR_PDF_SHOW, SR_PDF_PUBLIC, SR_PDF_CLASSES } sr_pdf_class_t;

#define SR_PDF_SPARES 2 /* workers that are forked before anybody needs them */

/* The template of a process, and its spares. template.c */
typedef struct sr_pdf_template_t {
    pthread_mutex_t mutex;
    sr_pdf_worker_t process;
    int spares[SR_PDF_SPARES]; /* sockets of workers that were asked for, and have greeted or will; the oldest first */
    int spare_count;
} sr_pdf_template_t;

/* Those who wait for a place. */
typedef struct sr_pdf_queue_t {
    pthread_cond_t freed;
    int waiting;
} sr_pdf_queue_t;

#define SR_PDF_MAX_SCOPE 159

/* A worker that waits for the next HTTP request of its scope. idle.c */
typedef struct sr_pdf_idle_t {
    sr_pdf_worker_t worker;
    int64_t since;
    char scope[SR_PDF_MAX_SCOPE + 1];
} sr_pdf_idle_t;

/* What all pools of a process share. */
typedef struct sr_pdf_shared_t {
    sr_pdf_options_t options;
    pid_t owner; /* the process that made it: a fork that clears its pools ends nobody's workers */
    sr_pdf_template_t template;
    pthread_mutex_t mutex;
    /* Under the mutex. */
    int limit[SR_PDF_CLASSES], busy[SR_PDF_CLASSES]; /* requests under way */
    sr_pdf_queue_t queues[SR_PDF_CLASSES][2];        /* [1]: of HTTP requests that have a worker */
    int kept;                                        /* workers that wait for the next request about their document */
    sr_pdf_idle_t *idle;                             /* workers whose requests are over, the oldest first */
    int idle_count, idle_room;
    pid_t *alive; /* workers that are used, kept or idle; 0: a free place */
    int alive_room;
    int64_t pinged; /* when a ping was last answered; 0: never */
    /* Requests for pages, of all processes that share the memory. gate.c */
    apr_uint64_t *visits;
    int visit_room, visit_room_of_all; /* how many this process and all of them may have under way */
} sr_pdf_shared_t;

struct sr_pdf_pool_t {
    sr_pdf_shared_t *shared;
    bool is_public; /* its requests have the places of SR_PDF_PUBLIC */
    /* Of a pool for one document: */
    bool keeps;             /* the worker, from one request to the next */
    const char *scope;      /* of the later HTTP requests that it may answer; NULL: none */
    sr_pdf_worker_t worker; /* the one that is kept */
    int64_t latest;         /* no request may end later (sr_pdf_clock); 0: without a bound */
    int64_t used;           /* processor time of its requests, in microseconds */
};

/* ---------------------------------------------------------------------------------------------- worker.c */
/* Starts the program and waits for its greeting. On failure (SR_EUNAVAILABLE) there is no process. *template: it forks
 * workers and answers no requests. */
sr_error_t *sr_pdf_worker_start(sr_pdf_worker_t *worker, bool *template, const sr_pdf_options_t *options,
                                int64_t deadline, apr_pool_t *pool);
/* True when the process had ended by itself; it is then reaped and there is none. Never waits. */
bool sr_pdf_worker_reap(sr_pdf_worker_t *worker);

/* True while the process can be asked. Never waits. */
bool sr_pdf_worker_lives(const sr_pdf_worker_t *worker);

typedef struct sr_pdf_death_t {
    const char *text; /* what it died of */
    int64_t used;     /* processor time in microseconds */
} sr_pdf_death_t;
/* Kills and reaps the process, if there is one. The text is in `pool`. */
sr_pdf_death_t sr_pdf_worker_end(sr_pdf_worker_t *worker, apr_pool_t *pool);
/* The processor time that it has used so far, in microseconds. */
int64_t sr_pdf_worker_used(const sr_pdf_worker_t *worker);

/* -------------------------------------------------------------------------------------------- template.c */
/* A worker that no document has reached: a spare, or a new one. SR_EUNAVAILABLE when there is none until the deadline.
 */
sr_error_t *sr_pdf_template_take(sr_pdf_worker_t *worker, sr_pdf_shared_t *shared, int64_t deadline, apr_pool_t *pool);
/* Ends the template and its spares. */
void sr_pdf_template_end(sr_pdf_shared_t *shared, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ gate.c */
void sr_pdf_gate_create(sr_pdf_shared_t *shared, const sr_pdf_options_t *options, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ pool.c */
/* A place for one request, or SR_EUNAVAILABLE when there is none until the deadline. `goes_on`: of an HTTP request
 * that has a worker already. */
sr_error_t *sr_pdf_pool_enter(sr_pdf_shared_t *shared, sr_pdf_class_t class, bool goes_on, int64_t deadline,
                              apr_pool_t *pool);
void sr_pdf_pool_leave(sr_pdf_shared_t *shared, sr_pdf_class_t class);
/* The worker that the pool keeps, or an idle one of its scope, or a new one. `fresh`: no idle one. */
sr_error_t *sr_pdf_pool_lend(sr_pdf_worker_t *worker, sr_pdf_pool_t *workers, bool fresh, int64_t deadline,
                             apr_pool_t *pool);
/* Keeps it for the next request about the document, if the pool does, or ends it. */
void sr_pdf_pool_return(sr_pdf_pool_t *workers, sr_pdf_worker_t *worker, apr_pool_t *pool);
/* Ends one that failed. */
sr_pdf_death_t sr_pdf_pool_end(sr_pdf_pool_t *workers, sr_pdf_worker_t *worker, apr_pool_t *pool);
/* Passes a message to the owner of the pool. */
void sr_pdf_pool_notice(const sr_pdf_pool_t *workers, const char *message);
/* The error for "no worker can be had", with its cause. */
sr_error_t *sr_pdf_unavailable(apr_pool_t *pool, const char *cause);

/* ------------------------------------------------------------------------------------------------ idle.c */
/* An idle worker of the scope. False if there is none. */
bool sr_pdf_idle_take(sr_pdf_worker_t *worker, sr_pdf_pool_t *workers, apr_pool_t *pool);
/* False if the worker must not be used again, or there is no room: the caller ends it. */
bool sr_pdf_idle_put(sr_pdf_pool_t *workers, const sr_pdf_worker_t *worker, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- output.c */
/* A new output with room for so many bytes. One that `output` had (else its descriptor is -1) is closed. `output` must
 * live as long as the pool, which closes it. */
sr_error_t *sr_pdf_output_begin(sr_pdf_output_t *output, apr_size_t room, apr_pool_t *pool);
/* Cuts it to the length that an answer says (NULL: 0) and seals it. False when that is no possible length, or the
 * worker can still change it. */
bool sr_pdf_output_end(sr_pdf_output_t *output, const json_t *length);

/* ---------------------------------------------------------------------------------------------- client.c */
typedef struct sr_pdf_request_t {
    const char *op;
    sr_pdf_class_t class;
    const char *text;            /* the JSON object; NULL: {"op":"<op>"} */
    int descriptor;              /* the document, or -1 */
    sr_pdf_output_t *output;     /* for a result of many bytes, or NULL */
    apr_size_t room;             /* the most bytes of it */
    apr_interval_time_t timeout; /* of processor time; 0: the pool's */
    bool goes_on;                /* the HTTP request keeps another worker meanwhile */
    /* Reads the answer (and the output, already sealed) into `result`; false if it is not a valid answer. */
    bool (*read)(void *result, const json_t *response, apr_pool_t *pool);
    void *result;
} sr_pdf_request_t;

/* Puts a request. Success with *failed set when the workers that were asked failed, and the request is to blame. */
sr_error_t *sr_pdf_put(bool *failed, sr_pdf_pool_t *workers, const sr_pdf_request_t *request, apr_pool_t *pool);
/* A worker has read hostile bytes, so its words are shown to nobody unless they look like ours. */
bool sr_pdf_is_plain(const char *text);

#endif
