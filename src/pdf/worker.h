/* worker.h: what the files of src/pdf share: one worker process, the pool that lends it, one question to it, and what
 * a long answer comes in. Private to src/pdf. */
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

/* ---------------------------------------------------------------------------------------------- output.c */
/* A new output with room for so many bytes. One that `output` had (else its descriptor is -1) is closed. `output` must
 * live as long as the pool, which closes it. */
sr_error_t *sr_pdf_output_begin(sr_pdf_output_t *output, apr_size_t room, apr_pool_t *pool);
/* Cuts it to the length that an answer says (NULL: 0) and seals it. False when that is no possible length, or the
 * worker can still change it. */
bool sr_pdf_output_end(sr_pdf_output_t *output, const json_t *length);

/* ---------------------------------------------------------------------------------------------- client.c */
typedef struct sr_pdf_question_t {
    const char *op;
    const char *text;            /* the JSON object; NULL: {"op":"<op>"} */
    int descriptor;              /* the document, or -1 */
    sr_pdf_output_t *output;     /* for a result of many bytes, or NULL */
    apr_size_t room;             /* the most bytes of it */
    apr_interval_time_t timeout; /* 0: the pool's */
    /* Reads the answer (and the output, already sealed) into `result`; false when it is none. */
    bool (*read)(void *result, const json_t *answer, apr_pool_t *pool);
    void *result;
} sr_pdf_question_t;

/* Puts a question. Success with *failed set when the workers that were asked failed, and the question is to blame. */
sr_error_t *sr_pdf_put(bool *failed, sr_pdf_pool_t *workers, const sr_pdf_question_t *question, apr_pool_t *pool);
/* A worker has read hostile bytes, so its words are shown to nobody unless they look like ours. */
bool sr_pdf_is_plain(const char *text);

#endif
