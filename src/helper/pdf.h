/* SPDX-License-Identifier: Apache-2.0 */
/* pdf.h: the client of sigreq-pdfd, which is the only program that parses PDF bytes. What a worker wants to append to a
 * document is checked in this process (src/helper/check), which has no parser.
 *
 * Sections: pool.c (how many workers there are, and which requests they serve) · fork_server.c (forks workers) ·
 * request.c (one request to a worker) · memory_file.c (results of many bytes) · form_fields.c (fields of a form) ·
 * found_texts.c (places of texts) · show.c (a page as image and text) · fill.c (prepares and signs a document) ·
 * archive.c (adds proofs and a document timestamp) · preview.c (a signature before it is made, and its drawing for a
 * certificate) · compose.c (makes a new document)
 *
 * A pool belongs to one process, and any number of threads may use it. A worker is a process that reads documents. It
 * gets each document as a file descriptor over its own Unix socket, and answers one request at a time. No worker reads
 * documents of two scopes (sr_pdf_pool_for_request), so a hostile document cannot reach a document of another
 * organisation. Workers are forked from a template process, which is started when it is first needed.
 *
 * Unless a comment says otherwise, results are allocated in the last argument `pool`, and descriptors that are passed
 * in remain the caller's.
 */
#ifndef SR_HELPER_PDF_H
#define SR_HELPER_PDF_H

#include "model/model.h"
#include "cms/cms.h"
#include "helper/entry.h"
#include "helper/protocol.h"

typedef struct sr_pdf_pool_t sr_pdf_pool_t;

typedef struct sr_pdf_options_t {
    const char *program; /* absolute path of sigreq-pdfd */
    int workers;         /* the greatest number of requests at the same time, not counting pages to be shown */
    bool keep;           /* workers are reused for later requests of their scope (sr_pdf_pool_for_request) */
    int show_workers;    /* the greatest number of pages that are made at the same time; 0: the same as `workers` */
    int visits;          /* the greatest number of requests for pages that wait or are served (admission.c); 0: 16 */
    int visits_of_all;   /* the same for all processes that share visit_places; 0: the same as `visits` */
    void *visit_places;  /* sr_pdf_visits_size() bytes, initially zeros; NULL: nothing is shared */
    /* Processor time that one request may use, in microseconds. A request waits for a free worker for at most twice
     * this time, and ends after at most eight times this time, by the clock. */
    apr_interval_time_t timeout;
    /* The same for a page to be shown. 0: 5 seconds */
    apr_interval_time_t show_timeout;
    /* Called with a message for the log when a worker died, was killed or could not be started. May be NULL. */
    void (*notice)(void *baton, const char *message);
    void *baton;
} sr_pdf_options_t;

/* Makes a pool. It ends its workers when `pool` is destroyed. Each request that uses this pool directly gets a new
 * worker. */
sr_error_t *sr_pdf_pool_create(sr_pdf_pool_t **workers, const sr_pdf_options_t *options, apr_pool_t *pool);
/* Makes a pool on top of `workers` for one thread and one HTTP request. The requests to helpers that it makes may share
 * one worker. With `scope`, that worker may have answered earlier HTTP requests of the same scope, and may answer later
 * ones. With NULL it answers no other HTTP request. `scope` must live as long as `pool`. If `within` is not 0, every
 * request to a helper ends at the latest after this time from now, in microseconds. The pool ends with `pool`. */
sr_pdf_pool_t *sr_pdf_pool_for_request(sr_pdf_pool_t *workers, const char *scope, apr_interval_time_t within,
                                       apr_pool_t *pool);
/* Returns the worker of this pool to the list of idle workers, where it waits for the next HTTP request of the scope.
 * The end of the pool does the same. */
void sr_pdf_pool_release(sr_pdf_pool_t *workers);
/* Ends the worker of this pool, because its answer was refused. */
void sr_pdf_pool_distrust(sr_pdf_pool_t *workers);
/* Makes a pool on top of `workers` for requests that anybody can make without a token or link. It has separate permits,
 * half as many as for pages to be shown, so that no other request waits for it. It ends with `pool`. */
sr_pdf_pool_t *sr_pdf_pool_for_public(sr_pdf_pool_t *workers, apr_pool_t *pool);
/* The same for previews of creations. */
sr_pdf_pool_t *sr_pdf_pool_for_preview(sr_pdf_pool_t *workers, apr_pool_t *pool);

/* Returns the processor time, in microseconds, that requests through a pool of sr_pdf_pool_for_request have used. */
apr_interval_time_t sr_pdf_pool_used(const sr_pdf_pool_t *workers);

typedef struct sr_pdf_probe_t {
    sr_pdf_verdict_t verdict;
    /* For SR_PDF_REFUSED: plain text that continues "cannot be signed: ". For SR_PDF_FORBIDDEN: plain text that
     * continues "does not permit signing: ". */
    const char *reason;
    sr_pages_t *pages; /* for SR_PDF_ACCEPTED */
} sr_pdf_probe_t;

/* Finds out what a document is. `descriptor` is read from offset 0. A document that kills its workers, or needs more
 * processor time than a request may use, is SR_PDF_REFUSED. Errors are for causes other than the document:
 * SR_EUNAVAILABLE if no worker is available, or if the machine is too busy for an answer in time. */
sr_error_t *sr_pdf_probe(sr_pdf_probe_t *probe, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                         apr_pool_t *pool);
/* Asks a worker for an empty answer, for GET /health. */
sr_error_t *sr_pdf_ping(sr_pdf_pool_t *workers, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- memory_file.c */
/* A result of many bytes: a file in memory that is sealed, so that nobody can change it. Read it with an offset (pread,
 * mmap, sendfile), because its file position is undefined. */
typedef struct sr_pdf_output_t {
    int descriptor; /* closed when the pool is destroyed */
    apr_off_t size;
} sr_pdf_output_t;
/* Reads `length` bytes of a document or a result at `offset` into `bytes`. Returns SR_EUNAVAILABLE if the file is
 * shorter. */
sr_error_t *sr_pdf_read(void *bytes, int descriptor, apr_off_t offset, apr_size_t length, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------- form_fields.c */
/* Lists the fields of the form of a document with so many pages, each as
 *   {"field":"rent","type":"text","places":[{"page":0,"rect":[x0,y0,x1,y1],"option"?},…],"required":b,"readOnly":b}
 * and "value" if it has one. The type is "text" (with "multiline" and perhaps "maxLength"), "checkbox", "choice" (with
 * "options", and "multiple" if several can be chosen) or "signature" (with "signed" if it has a signature). Radio
 * buttons are a choice with one place for each option, and "state" if its appearance has another name. *fields is
 * released with the pool, and NULL if the document cannot be read. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_pdf_inspect(json_t **fields, sr_pdf_pool_t *workers, int descriptor, int pages, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------- found_texts.c */
/* What texts a document with so many pages has. `texts` is [{"text":"…","page"?:n},…]: each is looked for on that page,
 * or on all. At most `most` places are listed for each. *found is released with the pool, and NULL if the document
 * cannot be read:
 *   {"hasText":b,"unreadable":b,"texts":[{"count":n,"places":[[page,x,y,w,h],…]},…]}
 * x and y are the top left corner of a text, in points from that of the displayed page. "unreadable": a text was not
 * found, and the document has fonts that do not say which letters they show. A worker remembers its last results by the
 * SHA-256 of the document. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_pdf_find(json_t **found, sr_pdf_pool_t *workers, int descriptor, const char *sha256, int pages,
                        const json_t *texts, int most, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ show.c
 *
 * Pages count from 0 and look as poppler draws them: the CropBox within the MediaBox, turned by /Rotate, on white, with
 * annotations and form fields. If a page cannot be shown, the function succeeds and sets `reason` to plain text that
 * continues "cannot be shown: ". Errors: SR_ENOTFOUND if the document has no such page. SR_EUNAVAILABLE if no worker is
 * available, or if workers cannot show pages on this system. `descriptor` is read from offset 0.
 */
/* A page as an image. Widths are SR_PDF_MIN_WIDTH to SR_PDF_MAX_WIDTH pixels. */

typedef struct sr_pdf_image_t {
    const char *reason;      /* NULL if there is an image */
    bool costly;             /* the reason is that the page exceeded the limits of a worker */
    sr_pdf_output_t *output; /* PNG, or JPEG if that suits the page */
    bool jpeg;
    int width, height;
    bool gray;
} sr_pdf_image_t;

/* --- admission.c: call this first for each request for a page that has to be made. The request is refused at once
 * (SR_EUNAVAILABLE) if `visits` requests are being served in this process, or `visits_of_all` in all processes. One
 * organisation may have seven eighths of these, and one submission a quarter and four more. The visit ends with the
 * pool, or by sr_pdf_visit_end. */
apr_size_t sr_pdf_visits_size(void);
typedef struct sr_pdf_visit_t sr_pdf_visit_t;
sr_error_t *sr_pdf_visit_begin(sr_pdf_visit_t **visit, sr_pdf_pool_t *workers, const char *submission,
                               const char *organization, apr_pool_t *pool);
void sr_pdf_visit_end(sr_pdf_visit_t *visit);

/* Makes an image of a page with `width` pixels and the corresponding height. Returns SR_EBADREQUEST if `width` is out
 * of range. The image is PNG for text, and JPEG for scans and photographs unless `png` is true. */
sr_error_t *sr_pdf_render(sr_pdf_image_t *image, sr_pdf_pool_t *workers, int descriptor, int page, int width, bool png,
                          apr_pool_t *pool);

typedef struct sr_pdf_text_t {
    const char *reason; /* NULL if there is a text, which may be empty */
    bool costly;        /* the same as for an image */
    /* {"width":612,"height":792,"lines":[[["Hello",9.8,8.84,5.2,1.5],["world",…]],…]}, with "truncated":true at the end
     * if the text was too long. Width and height are those of the displayed page in points. Lines are in reading order.
     * A line is a list of words. Each word has its box in percent of the displayed page: left, top, width, height. Text
     * outside the page is left out. */
    const char *json;
    apr_size_t length;
    sr_pdf_output_t *output; /* the same as a file */
} sr_pdf_text_t;

/* Makes the text of a page. */
sr_error_t *sr_pdf_text(sr_pdf_text_t *text, sr_pdf_pool_t *workers, int descriptor, int page, apr_pool_t *pool);

/* -------------------------------------------------------------------------------------------- overlaid.c */
/* Has a worker join the documents that follow each other in a file, and draw `what` over their pages: the members of
 * the request "overlay" (helper/protocol.h). The result is for the caller who sent the documents: nobody checks
 * what it shows. Errors: SR_EUNAVAILABLE. */
typedef struct sr_pdf_overlaid_t {
    const char *reason; /* NULL if there is a document */
    sr_pdf_output_t *document;
} sr_pdf_overlaid_t;
sr_error_t *sr_pdf_overlay(sr_pdf_overlaid_t *overlaid, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                           const json_t *what, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ fill.c
 *
 * At upload, a document is rewritten if its probe says so, or if preparing finds more damage. Then it is prepared once
 * with the fields of all signers, and filled once for each signer. Preparing and filling append to the document and
 * change no byte of it. The appended bytes are stored as a revision. Every `descriptor` is the whole document so far
 * and is read from offset 0. Only one thread may fill the same document at a time.
 *
 * In all of these functions an error is SR_EUNAVAILABLE: no worker is available, or this process has no memory. A
 * defect of the document or of the signature is a fault with a reason.
 */
typedef enum sr_pdf_fault_t {
    SR_PDF_DONE,
    SR_PDF_DOCUMENT_AT_FAULT, /* the reason continues "cannot be signed: " */
    SR_PDF_DOCUMENT_DAMAGED,  /* the same; the document may be signable after it is rewritten and prepared, if it has no
                                 signatures */
    SR_PDF_SIGNATURE_AT_FAULT /* the drawing, text or image of the signer cannot be drawn; the reason is a sentence for
                                 the signer */
} sr_pdf_fault_t;

typedef struct sr_pdf_rewritten_t {
    sr_pdf_fault_t fault;
    const char *reason;
    sr_pdf_output_t document; /* the rewritten document */
} sr_pdf_rewritten_t;
/* Rewrites a document that is damaged, or that leaves it to readers to draw its form, so that it can be continued. Use
 * it only for documents without signatures. The result must be probed like an upload. */
sr_error_t *sr_pdf_rewrite(sr_pdf_rewritten_t *rewritten, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                           apr_pool_t *pool);

typedef struct sr_pdf_field_t {
    const char *signer; /* part of the name of the field: letters, digits and "-", at most 64 */
    int page;           /* from 0 */
    double rect[4];     /* the same as in sr_placement_t */
    /* NULL if the field is to be added. Otherwise the name of a field of the document at this place: an empty signature
     * field, or with an entry a field of its kind. */
    const char *existing;
    const sr_pdf_entry_t *entry; /* NULL: a signature field */
    bool initials;               /* a signature field that shows the initials of the signer */
} sr_pdf_field_t;

typedef struct sr_pdf_update_t {
    sr_pdf_fault_t fault;
    const char *reason;
    const unsigned char *bytes; /* the bytes to append */
    apr_size_t length;
    sr_cipher_t cipher; /* private: how the document is encrypted, as the worker says */
} sr_pdf_update_t;
/* Adds every field (sr_pdf_field_t, at least one) of every signer. Existing fields are written again unchanged, so that
 * sr_pdf_fill can compare them with the filled ones. Entries are only possible in a document without signatures. */
sr_error_t *sr_pdf_prepare(sr_pdf_update_t *update, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                           const apr_array_header_t *fields, apr_pool_t *pool);

typedef struct sr_pdf_confirmed_t {
    sr_pdf_fault_t fault;
    const char *reason;
} sr_pdf_confirmed_t;
/* Asks another worker whether a prepared document is the old one, `base_size` bytes from its beginning, with these
 * fields and nothing else. Call it before any part of the document is signed. A negative answer is a fault. */
sr_error_t *sr_pdf_confirm(sr_pdf_confirmed_t *confirmed, sr_pdf_pool_t *workers, int descriptor, apr_off_t base_size,
                           const apr_array_header_t *fields, apr_pool_t *pool);

/* A proof, by which somebody can validate signatures later: a certificate, an OCSP response or a CRL, as DER. */
typedef enum sr_pdf_proof_kind_t { SR_PDF_CERTIFICATE, SR_PDF_OCSP, SR_PDF_CRL } sr_pdf_proof_kind_t;
typedef struct sr_pdf_proof_t {
    sr_pdf_proof_kind_t kind;
    const void *der;
    apr_size_t length;
} sr_pdf_proof_t;
#define SR_PDF_MAX_PROOFS 64 /* for one update */
#define SR_PDF_MAX_PROOFS_BYTES ((apr_size_t)4 << 20)

/* What a field shows: exactly one of the three is set. */
typedef struct sr_pdf_mark_t {
    const sr_ink_t *ink;
    const char *text;  /* UTF-8; at most 200 characters */
    const void *image; /* PNG, JPEG or WebP; at most 1 MiB and 4 million pixels */
    apr_size_t image_size;
} sr_pdf_mark_t;

typedef struct sr_pdf_signature_t {
    const char *signer; /* the same as when the document was prepared */
    /* The fields with which it was prepared. The entries of this signer have the values to be filled in, and those of
     * other signers are ignored. NULL if no field existed before, is an entry or shows initials. */
    const apr_array_header_t *fields;
    /* Where it was prepared: after `base_size` bytes. What was appended lies in the next `prepared_size` bytes. */
    apr_off_t base_size;
    apr_size_t prepared_size;
    const char *name;    /* UTF-8: name of the signer */
    const char *reason;  /* UTF-8: reason for signing, or NULL */
    const char *contact; /* UTF-8: who asked for the signature, as /ContactInfo; or NULL */
    const char *hash;    /* from sr_cms_identity_hash; NULL: SHA-256 */
    apr_size_t room;     /* bytes that are reserved for the CMS; 0: as many as there may be */
    /* SHA-256 of the document so far, if it was computed while the document was written to the file that the descriptor
     * reads. NULL: the document is read to compute it. */
    const sr_sha256_t *digest;
    apr_time_t time;
    bool test; /* the appearances show the word TEST */
    /* From sr_captions_json, for the signature fields as they were prepared in this document; or NULL */
    const json_t *captions;
    const sr_pdf_mark_t *initials; /* what the fields with initials show; NULL: the same as the others */
    /* What the signature fields of the signer show. Exactly one of the four is set. */
    const sr_ink_t *ink;
    const char *text;  /* UTF-8; at most 200 characters */
    const void *image; /* PNG, JPEG or WebP; at most 1 MiB and 4 million pixels */
    apr_size_t image_size;
    const char *seal; /* UTF-8; at most 200 characters: the name of a seal, beside its mark */
    bool right;       /* the mark is on the right of the name */
    /* sr_pdf_proof_t: what the document security store (DSS) has after this update. Proofs that it has already are not
     * written again. NULL, none, or more than the limits: nothing is added to it. */
    const apr_array_header_t *proofs;
} sr_pdf_signature_t;

typedef struct sr_pdf_revision_t {
    sr_pdf_fault_t fault;
    const char *reason;
    unsigned char *bytes; /* the bytes to append, after the CMS was inserted */
    apr_size_t length;
    apr_size_t contents; /* offset in `bytes` of the "<" before the digits of the CMS */
    apr_size_t room;     /* private: bytes that are reserved for the CMS */
    /* Digest over the byte ranges, by the hash function of the signature. The CMS signs it. */
    unsigned char digest[64];
    bool proven;                 /* the document security store has all the proofs that were requested */
    const char *document_sha256; /* of the document before filling, lower-case hexadecimal */
    const char *sha256;          /* of the document followed by `bytes`; set by sr_pdf_seal */
    sr_cipher_t cipher;          /* private: how the document is encrypted, as the worker says */
    sr_sha256_t *until_contents; /* private: SHA-256 state over all bytes before the digits */
    bool unconfirmed;            /* private: another worker must make the same update */
} sr_pdf_revision_t;
/* Fills the fields of one signer. The signature locks the entries of the signer, so that every validator calls a later
 * change of their values a violation. The answer of the worker is checked strictly: it must contain the fields as they
 * were prepared, with the requested signature dictionary and values, new appearances and the proofs, and nothing else.
 * The appearances of entries have the requested content. If the update
 * makes the document security store, another worker must make the same update. The digest is computed here from the
 * returned bytes. */
sr_error_t *sr_pdf_fill(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                        const sr_pdf_signature_t *signature, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- archive.c */
typedef struct sr_pdf_archival_t {
    const char *id;      /* part of the name of the new field: letters, digits and "-", at most 64 */
    apr_off_t base_size; /* the same as in sr_pdf_signature_t */
    const apr_array_header_t *proofs;
    const char *hash;
    const sr_sha256_t *digest;
} sr_pdf_archival_t;
/* Adds proofs and a document timestamp to a document that was signed here, in one update. Insert the timestamp of
 * revision->digest (RFC 3161, DER) by sr_pdf_seal. The answer of the worker is checked strictly, and another worker
 * must make the same update. */
sr_error_t *sr_pdf_archive(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                           const sr_pdf_archival_t *archival, apr_pool_t *pool);

/* Returns the timestamp (DER, perhaps followed by zeros) of an update that was made by sr_pdf_archive and sealed; NULL
 * if it is none. */
const void *sr_pdf_archived_token(apr_size_t *length, const void *update, apr_size_t size, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ fill.c */
/* Inserts the CMS (DER). Returns SR_EINTERNAL if it is too long. */
sr_error_t *sr_pdf_seal(sr_pdf_revision_t *revision, const void *cms, apr_size_t length, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- preview.c
 *
 * Draws a signature before it is part of a document.
 */
typedef struct sr_pdf_preview_t {
    const char *reason;                /* NULL if there is a drawing; otherwise a sentence for the signer */
    const apr_array_header_t *unknown; /* with a reason: the characters (const char *) that cannot be drawn; or NULL */
    /* {"width":w,"height":h,"paths":[{"d":"M…","stroke":s},…]}, with paths as in SVG that are filled if they have no
     * stroke. Or {"width":w,"height":h,"type":"image/png","image":"…"} in base64. A field shows the drawing centred and
     * as large as it fits. If there are captions, "captions":[…] has the paths of each. */
    const char *drawing;
    apr_size_t length;
} sr_pdf_preview_t;
/* Only `captions` and one of `ink`, `text` and `image` of the signature are used. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_pdf_preview(sr_pdf_preview_t *preview, sr_pdf_pool_t *workers, const sr_pdf_signature_t *signature,
                           apr_pool_t *pool);

#define SR_PDF_MAX_DRAWING ((apr_size_t)128 << 10)
/* Returns the drawing of a signature as JSON text of at most `most` bytes, for sr_pdf_compose:
 *   {"ink":{…}}   strokes, as in sr_ink_t
 *   {"text":"…"}  a typed signature
 *   {"png":"…"}   a small image in base64: an uploaded signature, or strokes of too many points
 * Only one of `ink`, `text` and `image` of the signature is set. A worker makes the image. *drawing is NULL if it
 * cannot. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_pdf_drawing(const char **drawing, sr_pdf_pool_t *workers, const sr_pdf_signature_t *signature,
                           apr_size_t most, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------- field_values.c */
typedef struct sr_pdf_value_t {
    const char *text;     /* UTF-8, at most 4,000 characters; NULL or blank: nothing is shown */
    bool ticked;          /* a tick is shown instead */
    double width, height; /* of the field, in points */
    double size;          /* of the font; 0: as large as fits, up to 12 points */
    bool multiline;       /* the text is broken into lines, also at "\n" */
    int comb;             /* the text is put into this number of cells, one character in each; 0: it is one text */
    const char *color;    /* "#rrggbb"; NULL: black */
    enum { SR_PDF_START, SR_PDF_CENTER, SR_PDF_END, SR_PDF_LEFT, SR_PDF_RIGHT } align; /* start: of its direction */
} sr_pdf_value_t;
typedef struct sr_pdf_drawn_value_t {
    const char *reason; /* NULL if the value can be shown; otherwise a sentence */
    /* Of the form XObject of this size, whose resources are SR_PDF_CAPTION_RESOURCES: a text of sr_pdf_content_text. */
    const char *content;
    double size; /* of the font; 0 without a text */
    /* Instead of `content`, what sr_pdf_values_shown draws: [{"box":[left,top,width,height],"drawing":{…}},…] in points
     * from the top left corner of the field. A drawing is {"width","height","paths"} as in sr_pdf_preview_t. */
    const json_t *parts;
} sr_pdf_drawn_value_t;
/* Draws values of fields (sr_pdf_value_t) in their order. *drawn is an array of sr_pdf_drawn_value_t. A text that does
 * not fit is made smaller, down to 5 points. The same values always have the same content on one system. Errors:
 * SR_EUNAVAILABLE. */
sr_error_t *sr_pdf_values(const apr_array_header_t **drawn, sr_pdf_pool_t *workers, const apr_array_header_t *values,
                          apr_pool_t *pool);
/* Does the same for the signing page. */
sr_error_t *sr_pdf_values_shown(const apr_array_header_t **drawn, sr_pdf_pool_t *workers,
                                const apr_array_header_t *values, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- compose.c
 * Makes a new document from texts. It has A4 pages, as many as it needs. `what` is
 *   {"title":"…","second":"…",                 the title, and the title in a second language, which labels also have
 *    "subtitle":"…","banner":"…",              the banner is red, at the top of each page
 *    "logo":{"png":"…","text":"…"},            a PNG file in base64, and its alternative text
 *    "sections":[{"heading":"…","panel":true,"items":[{"heading":"…","rows":[…]},…]},…],
 *    "sealNotes":["…",…],                      sentences in the panel at the end
 *    "seal":"…",                               text below the area for a signature, which is in this panel
 *    "sealRows":[["label","code"],…],          text beside this area
 *    "qr":"…","qrText":"…",                    a QR code of the first text, and the alternative text of its image
 *    "footer":"…","language":"en","dir":"rtl","time":"2026-11-20T18:09:23Z"}
 *
 * A row is one of
 *   {"event":["when","what","who"]}
 *   {"cells":["label","value","value"]}        a table with one or two values in each row. The first row has
 * "head":true. A value may be a signature of sr_pdf_drawing with its alternative text:
 *                                              {"drawing":{…},"alternative":"…"}
 *   ["label","value"]
 *   ["label","value","code"]                   a value without words, such as a hash, which may be broken anywhere
 *   ["label","value","label","value"]          side by side if both values are short
 *
 * With "dir":"rtl" the page is mirrored, and columns begin on the right. Only "time", the time of creation, is
 * required. Texts may be of any script and have at most 32 KiB each. They are never cut, except banner and footer
 * (three lines) and the texts of the panel. The document is tagged: it has headings, lists of labels and values, a
 * table of events, paragraphs and figures. On one system, the same request always makes the same bytes.
 */
#define SR_PDF_MAX_COMPOSE_TEXT ((apr_size_t)8 << 20) /* of `what` as JSON text, in bytes */

typedef struct sr_pdf_composed_t {
    const char *reason; /* NULL if there is a document; otherwise plain text that continues "cannot be composed: " */
    sr_pdf_output_t *document;
    int pages;
    struct {
        int page; /* from 0 */
        double rect[4];
        /* An empty area for a visible signature, for sr_pdf_prepare. */
    } field;
} sr_pdf_composed_t;
/* Makes the document. Errors: SR_EUNAVAILABLE if no worker is available, or if this system has no fonts. */
sr_error_t *sr_pdf_compose(sr_pdf_composed_t *composed, sr_pdf_pool_t *workers, const json_t *what, apr_pool_t *pool);

#endif
