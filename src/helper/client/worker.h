/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h: shared by the files of src/helper/client. One worker process, the template that forks workers, the pool
 * that limits them, one request, and the file for a long answer. Private to src/helper. */
#ifndef SR_HELPER_CLIENT_WORKER_H
#define SR_HELPER_CLIENT_WORKER_H

#include "helper/memory_file.h"

#include <pthread.h>
#include <sys/types.h>

typedef struct sr_pdf_worker_t {
    pid_t pid; /* 0: no process */
    int socket;
    uint32_t asked; /* number of requests so far; the next request has this number plus 1 as its id */
} sr_pdf_worker_t;

/* Classes of requests. A signer can request pages as often as they like, so SR_PDF_SHOW has permits of its own, and
 * creating, signing and checking (SR_PDF_WORK) never wait for pages. SR_PDF_PUBLIC, for requests without a token or a
 * link, and SR_PDF_PREVIEW, for previews of creations, have their own permits for the same reason. */
typedef enum sr_pdf_class_t { SR_PDF_WORK, SR_PDF_SHOW, SR_PDF_PUBLIC, SR_PDF_PREVIEW, SR_PDF_CLASSES } sr_pdf_class_t;

#define SR_PDF_SPARES 2 /* workers that are forked ahead of time */

/* The template process and its pre-forked workers. fork_server.c */
typedef struct sr_pdf_template_t {
    pthread_mutex_t mutex;
    sr_pdf_worker_t process;
    int spares[SR_PDF_SPARES]; /* sockets of workers that were ordered from the template, oldest first; they have sent
                                  their greeting or will */
    int spare_count;
} sr_pdf_template_t;

/* Threads that wait for a permit. */
typedef struct sr_pdf_queue_t {
    pthread_cond_t freed;
    int waiting;
} sr_pdf_queue_t;

#define SR_PDF_MAX_SCOPE 159

/* A worker that waits for the next HTTP request of its scope. reuse.c */
typedef struct sr_pdf_idle_t {
    sr_pdf_worker_t worker;
    int64_t since;
    char scope[SR_PDF_MAX_SCOPE + 1];
} sr_pdf_idle_t;

/* What all pools of a process share. */
typedef struct sr_pdf_shared_t {
    sr_pdf_options_t options;
    pid_t owner; /* the process that made it; in a forked child, clearing the pool must not end the workers of its
                    parent */
    sr_pdf_template_t template;
    pthread_mutex_t mutex;
    /* The following members are protected by the mutex. */
    int limit[SR_PDF_CLASSES], busy[SR_PDF_CLASSES]; /* permits, and requests that are being served */
    sr_pdf_queue_t queues[SR_PDF_CLASSES][2];        /* [1]: HTTP requests that already have a worker */
    int kept;            /* workers that wait for the next request of the same HTTP request */
    sr_pdf_idle_t *idle; /* workers whose HTTP requests have ended, oldest first */
    int idle_count, idle_room;
    pid_t *alive; /* all workers that are busy, kept or idle; 0: a free entry */
    int alive_room;
    int64_t pinged; /* time of the last answer to a ping (sr_time_steady); 0: never */
    /* Requests for pages of all processes that share the memory. admission.c */
    apr_uint64_t *visits;
    int visit_room, visit_room_of_all; /* the greatest number for this process, and for all processes */
} sr_pdf_shared_t;

struct sr_pdf_pool_t {
    sr_pdf_shared_t *shared;
    sr_pdf_class_t lane; /* the permits of its requests; SR_PDF_WORK: those of their class */
    /* Only for a pool of one HTTP request: */
    bool keeps;             /* it keeps its worker from one request to the next */
    const char *scope;      /* the worker may answer later HTTP requests of this scope; NULL: none */
    sr_pdf_worker_t worker; /* the worker that is kept */
    int64_t latest;         /* time at which every request must have ended (sr_time_steady); 0: no bound */
    int64_t used;           /* processor time of its requests, in microseconds */
};

/* ---------------------------------------------------------------------------------------------- worker.c */
/* Starts the program and waits for its greeting. *template is set to true if the program forks workers and answers no
 * requests. Returns SR_EUNAVAILABLE on failure. Then no process is left. */
sr_error_t *sr_pdf_worker_start(sr_pdf_worker_t *worker, bool *template, const sr_pdf_options_t *options,
                                int64_t deadline, apr_pool_t *pool);
/* Returns true if the worker can be asked. Does not wait. */
bool sr_pdf_worker_lives(const sr_pdf_worker_t *worker);

typedef struct sr_pdf_death_t {
    const char *text; /* cause of the death, for the log */
    int64_t used;     /* processor time in microseconds */
} sr_pdf_death_t;
/* Kills and reaps the process, if there is one. The text is in `pool`. */
sr_pdf_death_t sr_pdf_worker_end(sr_pdf_worker_t *worker, apr_pool_t *pool);
/* Returns the processor time that the worker has used so far, in microseconds. */
int64_t sr_pdf_worker_used(const sr_pdf_worker_t *worker);

/* -------------------------------------------------------------------------------------------- fork_server.c */
/* Takes a worker that has read no document: a pre-forked or a new one. Returns SR_EUNAVAILABLE if none is ready before
 * the deadline. */
sr_error_t *sr_pdf_template_take(sr_pdf_worker_t *worker, sr_pdf_shared_t *shared, int64_t deadline, apr_pool_t *pool);
/* Ends the template and its pre-forked workers. */
void sr_pdf_template_end(sr_pdf_shared_t *shared, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ admission.c */
void sr_pdf_gate_create(sr_pdf_shared_t *shared, const sr_pdf_options_t *options, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- alive.c */
/* Replaces a process id in the list of workers that are alive. 0: a free entry. */
void sr_pdf_alive_note(sr_pdf_shared_t *shared, pid_t from, pid_t to);
/* Ends a worker and removes it from the list. */
sr_pdf_death_t sr_pdf_alive_end(sr_pdf_pool_t *workers, sr_pdf_worker_t *worker, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ pool.c */
/* Waits for a permit for one request. Returns SR_EUNAVAILABLE if there is none before the deadline, or if as many
 * previews wait as there are permits for them. `goes_on`: the HTTP request already has a worker. */
sr_error_t *sr_pdf_pool_enter(sr_pdf_shared_t *shared, sr_pdf_class_t class, bool goes_on, int64_t deadline,
                              apr_pool_t *pool);
void sr_pdf_pool_leave(sr_pdf_shared_t *shared, sr_pdf_class_t class);
/* Takes the worker that the pool keeps, or else an idle one of its scope, or else a new one. `fresh`: idle ones are not
 * used. */
sr_error_t *sr_pdf_pool_lend(sr_pdf_worker_t *worker, sr_pdf_pool_t *workers, bool fresh, int64_t deadline,
                             apr_pool_t *pool);
/* Keeps the worker for the next request of the pool if the pool does so, and otherwise ends it. */
void sr_pdf_pool_return(sr_pdf_pool_t *workers, sr_pdf_worker_t *worker, apr_pool_t *pool);
/* Calls the `notice` function of the pool's owner. */
void sr_pdf_pool_notice(const sr_pdf_pool_t *workers, const char *message);

/* ------------------------------------------------------------------------------------------------ reuse.c */
/* Takes an idle worker of the scope. Returns false if there is none. */
bool sr_pdf_idle_take(sr_pdf_worker_t *worker, sr_pdf_pool_t *workers, apr_pool_t *pool);
/* Adds a worker to the idle ones. Returns false if it must not be used again, or if there is no room. The caller then
 * ends it. */
bool sr_pdf_idle_put(sr_pdf_pool_t *workers, const sr_pdf_worker_t *worker, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- request.c */
typedef struct sr_pdf_request_t {
    const char *op;
    sr_pdf_class_t class;
    const char *text;            /* the JSON object; NULL: {"op":"<op>"} */
    apr_size_t length;           /* of the text, with the contents of entries; 0: it has none */
    int descriptor;              /* the document, or -1 */
    sr_pdf_output_t *output;     /* for a result of many bytes; or NULL */
    apr_size_t room;             /* size limit of the output */
    apr_interval_time_t timeout; /* processor time that it may use; 0: that of the pool */
    bool goes_on;                /* the HTTP request keeps another worker meanwhile */
    /* Reads the response, and the output, which is already sealed, into `result`. Returns false if the response is not
     * valid. */
    bool (*read)(void *result, const json_t *response, apr_pool_t *pool);
    void *result;
} sr_pdf_request_t;

/* Sends a request and reads its response. It succeeds with *failed set if the request is to blame: the workers that it
 * was sent to died or took too long. */
sr_error_t *sr_pdf_put(bool *failed, sr_pdf_pool_t *workers, const sr_pdf_request_t *request, apr_pool_t *pool);

#endif
