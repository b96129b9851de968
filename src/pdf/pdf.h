/* pdf.h: the client of sigreq-pdfd, the only program that parses PDF bytes.
 *
 * Sections: pool.c (workers: started, lent, replaced) · client.c (one question to a worker) · output.c (results of
 * many bytes) · show.c (what a page looks like and says) · seal.c (what becomes of a document that is signed) ·
 * protocol.h (shared with src/pdfd)
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

/* ------------------------------------------------------------------------------------------------ seal.c
 * A document is normalised if its probe says so, or if preparing finds damage deeper in it (at upload), prepared once
 * with the fields of all signers, and filled once per signer. Preparing and filling append to it and change nothing of
 * what was there; what is stored of a revision is what was appended. Every `descriptor` is the whole document as it
 * stands, is read from offset 0 and stays the caller's. Nobody else may fill the same document at the same time.
 *
 * In all of these an error is SR_EUNAVAILABLE: no worker can be had, or this process has no memory. What the document
 * or the signature is to blame for is a fault with its reason.
 */
typedef enum sr_pdf_fault_t {
    SR_PDF_DONE,
    SR_PDF_DOCUMENT_AT_FAULT, /* the reason goes on after "cannot be signed: " */
    SR_PDF_DOCUMENT_DAMAGED,  /* the same; normalised, and prepared then, it may be signed if it has no signatures */
    SR_PDF_SIGNATURE_AT_FAULT /* what the signer sent cannot be drawn; the reason is a sentence for him */
} sr_pdf_fault_t;

typedef struct sr_pdf_normalised_t {
    sr_pdf_fault_t fault;
    const char *reason;
    sr_pdf_output_t document; /* the document anew */
} sr_pdf_normalised_t;
/* Writes a document anew that is damaged or leaves the drawing of its form to readers, so that it can be continued.
 * Only for documents without signatures. What comes out is to be probed like an upload. */
sr_error_t *sr_pdf_normalise(sr_pdf_normalised_t *normalised, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                             apr_pool_t *pool);

typedef struct sr_pdf_field_t {
    const char *signer; /* names the field: letters, digits and "-", at most 64 */
    int page;           /* 0-based */
    double rect[4];     /* as in sr_placement_t */
} sr_pdf_field_t;

typedef struct sr_pdf_update_t {
    sr_pdf_fault_t fault;
    const char *reason;
    const unsigned char *bytes; /* to be appended */
    apr_size_t length;
} sr_pdf_update_t;
/* Adds every field (sr_pdf_field_t, at least one) of every signer. A signer's first is where his signature is. */
sr_error_t *sr_pdf_prepare(sr_pdf_update_t *update, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                           const apr_array_header_t *fields, apr_pool_t *pool);

typedef struct sr_pdf_signature_t {
    const char *signer; /* as it was when the document was prepared */
    const char *name;   /* UTF-8: who signs */
    const char *reason; /* UTF-8: why, or NULL */
    apr_time_t time;
    bool test; /* its appearances say TEST */
    /* What is seen in all of the signer's fields: one of the three. */
    const sr_ink_t *ink;
    const char *text;  /* UTF-8; at most 200 characters */
    const void *image; /* PNG or JPEG; at most 1 MiB and 4 million pixels */
    apr_size_t image_size;
} sr_pdf_signature_t;

typedef struct sr_pdf_revision_t {
    sr_pdf_fault_t fault;
    const char *reason;
    unsigned char *bytes; /* to be appended, once the CMS is in it */
    apr_size_t length;
    apr_size_t contents;        /* offset in `bytes` of the "<" before the digits of the CMS */
    unsigned char digest[32];   /* SHA-256 over the byte ranges: what the CMS is to sign */
    const char *document_sha256; /* of the document that was filled, as lower-case hexadecimal */
    const char *sha256;          /* of document and `bytes`; set by sr_pdf_seal */
    struct evp_md_ctx_st *until_contents; /* private: the digest of all that is before the digits */
} sr_pdf_revision_t;
/* Fills the fields of one signer. The digest is made here, of the very bytes that are returned, and their byte ranges
 * are checked: a worker that lies can spoil its document, but not have something else signed. */
sr_error_t *sr_pdf_fill(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                        const sr_pdf_signature_t *signature, apr_pool_t *pool);
/* Puts the CMS (DER) where it goes. SR_EINTERNAL when it is too long. */
sr_error_t *sr_pdf_seal(sr_pdf_revision_t *revision, const void *cms, apr_size_t length, apr_pool_t *pool);

#endif
