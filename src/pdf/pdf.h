/* pdf.h: the client of sigreq-pdfd, the only program that parses PDF bytes.
 *
 * Sections: pool.c (workers: started, lent, replaced) · client.c (one question to a worker) · output.c (results of
 * many bytes) · show.c (what a page looks like and says) · protocol.h (shared with src/pdfd)
 *
 * A pool belongs to one process and any number of threads. Workers are started when first needed, each serves
 * one question at a time over its own Unix socket, gets the document as a file descriptor, and is killed when
 * its answer is late. Whatever happens to a worker costs the one question it had.
 */
#ifndef SR_PDF_H
#define SR_PDF_H

#include "base/base.h"
#include "model/model.h"

typedef struct sr_pdf_pool_t sr_pdf_pool_t;

typedef struct sr_pdf_options_t {
    const char *program;     /* absolute path of sigreq-pdfd */
    int workers;             /* at most so many at once */
    apr_interval_time_t timeout; /* wall clock for one question, waiting for a free worker included */
    apr_interval_time_t show_timeout; /* the same for a page to be shown; 0: 8 seconds */
    /* Told when a worker died, was killed or could not be started; may be NULL. For the log. */
    void (*notice)(void *baton, const char *message);
    void *baton;
} sr_pdf_options_t;

/* The pool ends its workers when `pool` is destroyed. */
sr_error_t *sr_pdf_pool_create(sr_pdf_pool_t **workers, const sr_pdf_options_t *options, apr_pool_t *pool);

typedef enum sr_pdf_verdict_t {
    SR_PDF_ACCEPTED,
    SR_PDF_NOT_PDF,   /* no PDF at all, or damaged beyond what qpdf recovers */
    SR_PDF_PASSWORD,  /* encrypted, with or without an empty user password */
    SR_PDF_REFUSED    /* a PDF that cannot be signed here, or too costly to read; `reason` says why */
} sr_pdf_verdict_t;

typedef struct sr_pdf_probe_t {
    sr_pdf_verdict_t verdict;
    const char *reason; /* of SR_PDF_REFUSED: plain words that go on after "cannot be signed: " */
    sr_pages_t *pages;  /* of SR_PDF_ACCEPTED */
} sr_pdf_probe_t;

/* Asks what a document is. `descriptor` is read from offset 0 and stays the caller's. A document that kills or
 * outlasts a worker is SR_PDF_REFUSED; errors are for what is no fault of the document: SR_EUNAVAILABLE when no
 * worker can be had. */
sr_error_t *sr_pdf_probe(sr_pdf_probe_t *probe, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                         apr_pool_t *pool);
/* Asks a worker for a sign of life: for GET /health. */
sr_error_t *sr_pdf_ping(sr_pdf_pool_t *workers, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- output.c */
/* A result of many bytes: a file in memory, sealed, so that nobody can change it any more. Read it by position (pread,
 * mmap, sendfile): its own position may be anywhere. */
typedef struct sr_pdf_output_t {
    int descriptor; /* closed with the pool */
    apr_off_t size;
} sr_pdf_output_t;

/* ------------------------------------------------------------------------------------------------ show.c
 * Pages count from 0 and look as poppler draws them: the CropBox within the MediaBox, turned by /Rotate, on white,
 * with annotations and form fields. A page that cannot be shown is a success with the `reason`, in plain words that
 * go on after "cannot be shown: ". Errors: SR_ENOTFOUND when the document has no such page, SR_EUNAVAILABLE when no
 * worker can be had, or none on this system can show pages. `descriptor` is read from offset 0 and stays the caller's.
 */
#define SR_PDF_MIN_WIDTH 16
#define SR_PDF_MAX_WIDTH 4000

typedef struct sr_pdf_image_t {
    const char *reason;   /* NULL: there is an image */
    sr_pdf_output_t *png; /* 8 bits per sample, gray or RGB */
    int width, height;
    bool gray;
} sr_pdf_image_t;

/* The page as an image of `width` pixels (SR_EBADREQUEST when that is not SR_PDF_MIN_WIDTH to SR_PDF_MAX_WIDTH) and
 * the height that goes with it. */
sr_error_t *sr_pdf_render(sr_pdf_image_t *image, sr_pdf_pool_t *workers, int descriptor, int page, int width,
                          apr_pool_t *pool);

typedef struct sr_pdf_text_t {
    const char *reason; /* NULL: there is a text, if only an empty one */
    /* {"width":612,"height":792,"lines":[[["Hello",9.8,8.84,5.2,1.5],["world",…]],…]}, and "truncated":true behind
     * when it was too long. Size of the displayed page in points; lines in reading order, of words, each with its box
     * in percent of the displayed page: left, top, width, height. What lies outside the page is left out. */
    const char *json;
    apr_size_t length;
} sr_pdf_text_t;

/* What the page says. */
sr_error_t *sr_pdf_text(sr_pdf_text_t *text, sr_pdf_pool_t *workers, int descriptor, int page, apr_pool_t *pool);

#endif
