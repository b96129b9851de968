/* worker.h: what pool.c, client.c and seal.c share: one worker process, the pool that lends it, and a question to
 * it. Private to src/pdf. */
#ifndef SR_PDF_WORKER_H
#define SR_PDF_WORKER_H

#include "pdf/protocol.h"

#include <pthread.h>
#include <sys/types.h>

typedef struct sr_pdf_worker_t {
    pid_t pid; /* 0: no process */
    int socket;
    uint32_t asked; /* questions so far: the next one's id is one more */
} sr_pdf_worker_t;

struct sr_pdf_pool_t {
    sr_pdf_options_t options;
    pid_t owner; /* the process that made it: a fork that clears its pools ends nobody's workers */
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    /* Under the mutex. Each of `options.workers` slots is in one of the two stacks, or lent. */
    sr_pdf_worker_t *slots;
    int *idle; /* indexes of slots with a process; the last one used is on top */
    int idle_count;
    int *vacant; /* and without */
    int vacant_count;
};

/* ---------------------------------------------------------------------------------------------- worker.c */
/* Starts a process in a slot and waits for its greeting. On failure (SR_EUNAVAILABLE) the slot has none. */
sr_error_t *sr_pdf_worker_start(sr_pdf_worker_t *worker, const sr_pdf_options_t *options, int64_t deadline,
                                apr_pool_t *pool);
/* True when the process had ended by itself; it is then reaped and the slot has none. Never waits. */
bool sr_pdf_worker_reap(sr_pdf_worker_t *worker);
/* Kills and reaps the process, if there is one. The text says what it died of, in `pool`. */
const char *sr_pdf_worker_end(sr_pdf_worker_t *worker, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ pool.c */
/* Lends a worker that has a process (or had: an idle one may have ended), waiting for one until the deadline.
 * SR_EUNAVAILABLE when there is none. */
sr_error_t *sr_pdf_pool_lend(sr_pdf_worker_t **worker, sr_pdf_pool_t *workers, int64_t deadline, apr_pool_t *pool);
/* Takes it back, with or without its process. */
void sr_pdf_pool_return(sr_pdf_pool_t *workers, sr_pdf_worker_t *worker);
/* Passes a message to the owner of the pool. */
void sr_pdf_pool_notice(const sr_pdf_pool_t *workers, const char *message);
/* The error for "no worker can be had"; the caller adds the cause. */
sr_error_t *sr_pdf_unavailable(apr_pool_t *pool, const char *cause);

/* ---------------------------------------------------------------------------------------------- client.c */
typedef struct sr_pdf_question_t {
    const char *op;
    const char *text;                    /* the whole question; NULL: it has no parameters */
    int descriptors[SR_PDF_DESCRIPTORS]; /* -1: none */
    /* Reads the answer into `result`; false when it is none. */
    bool (*read)(void *result, const json_t *answer, apr_pool_t *pool);
    void *result;
} sr_pdf_question_t;

/* Success with *failed set when the workers that were asked failed, and the question is to blame. */
sr_error_t *sr_pdf_put(bool *failed, sr_pdf_pool_t *workers, const sr_pdf_question_t *question, apr_pool_t *pool);
/* A worker has read hostile bytes, so its words are shown to nobody unless they look like ours. */
bool sr_pdf_is_plain(const char *text);

#endif
