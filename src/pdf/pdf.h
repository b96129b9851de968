/* SPDX-License-Identifier: Apache-2.0 */
/* pdf.h: the client of sigreq-pdfd, the only program that parses PDF bytes; and the signatures, which are made and
 * checked here, where the key is and the parser is not.
 *
 * Sections: pool.c (how many workers, and for whom) · template.c (where they come from) · client.c (one request to a
 * worker) · output.c (results of many bytes) · show.c (what a page looks like and says) · seal.c (what becomes of a
 * document that is signed) · preview.c (a signature before it is made) · compose.c (a new document) · protocol.h
 * (shared with src/pdfd) · certificate.c identity.c issue.c (keys and certificates) · cms.c (making a signature) ·
 * check.c (checking one) · verify.c (the signatures of a document) · result.c (what was found, as JSON)
 *
 * A pool belongs to one process and any number of threads. A worker is a process that reads documents: it gets each
 * as a file descriptor over its own Unix socket, and answers one request at a time. No worker reads documents of two
 * scopes (sr_pdf_pool_for_request), so a hostile one reaches no document of another organisation. Workers are forked
 * from a template that is started when it is first needed.
 */
#ifndef SR_PDF_H
#define SR_PDF_H

#include "model/model.h"
#include "pdf/cms.h"
#include "pdf/protocol.h"

typedef struct sr_pdf_pool_t sr_pdf_pool_t;

typedef struct sr_pdf_options_t {
    const char *program;              /* absolute path of sigreq-pdfd */
    int workers;                      /* at most so many requests at once, beside pages to be shown */
    bool keep;                        /* workers for later requests of their scope (sr_pdf_pool_for_request) */
    int show_workers;                 /* at most so many pages at once; 0: as many as `workers` */
    int visits;                       /* at most so many requests for pages under way (gate.c); 0: 16 */
    int visits_of_all;                /* at most so many in all processes that share visit_places; 0: `visits` */
    void *visit_places;               /* sr_pdf_visits_size() bytes, of zeros at first; NULL: nothing is shared */
    apr_interval_time_t timeout;      /* processor time of one request. It ends after twice that, by the clock, which
                                         waiting for a free place is part of */
    apr_interval_time_t show_timeout; /* the same for a page to be shown; 0: 5 seconds */
    /* Told when a worker died, was killed or could not be started; may be NULL. For the log. */
    void (*notice)(void *baton, const char *message);
    void *baton;
} sr_pdf_options_t;

/* The pool ends its workers when `pool` is destroyed. Each request has a new worker. */
sr_error_t *sr_pdf_pool_create(sr_pdf_pool_t **workers, const sr_pdf_options_t *options, apr_pool_t *pool);
/* A pool over the same workers for one thread and one HTTP request, whose requests to helpers may have the same worker.
 * It ends with `pool`. `scope` (in `pool`): that worker may have answered earlier HTTP requests of this scope, and may
 * answer later ones. NULL: it answers no other HTTP request. With `within` not 0 every request to a helper ends when
 * that much time has passed from now. */
sr_pdf_pool_t *sr_pdf_pool_for_request(sr_pdf_pool_t *workers, const char *scope, apr_interval_time_t within,
                                       apr_pool_t *pool);
/* The worker is not needed for now: it waits for the next HTTP request of the scope. So it does when the pool ends. */
void sr_pdf_pool_release(sr_pdf_pool_t *workers);
/* Ends that worker: what it answered was refused. */
void sr_pdf_pool_distrust(sr_pdf_pool_t *workers);
/* A pool over the same workers for what anybody can ask for. Its requests have half as many places as pages to be
 * shown, of their own, so that nothing else waits for them. It ends with `pool`. */
sr_pdf_pool_t *sr_pdf_pool_for_public(sr_pdf_pool_t *workers, apr_pool_t *pool);

/* The processor time that its requests took so far, of one that is for a document. */
apr_interval_time_t sr_pdf_pool_used(const sr_pdf_pool_t *workers);

typedef struct sr_pdf_probe_t {
    sr_pdf_verdict_t verdict;
    const char *reason; /* of SR_PDF_REFUSED: plain words that go on after "cannot be signed: "; of SR_PDF_FORBIDDEN:
                           after "does not permit signing: " */
    sr_pages_t *pages;  /* of SR_PDF_ACCEPTED */
} sr_pdf_probe_t;

/* Asks what a document is. `descriptor` is read from offset 0 and stays the caller's. A document that kills its
 * workers, or takes more processor time than there is for it, is SR_PDF_REFUSED; errors are for what is no fault of the
 * document: SR_EUNAVAILABLE when no worker can be had, or the machine is too busy for an answer in time. */
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
/* Reads bytes of a document or a result, from a place in it, to memory of that length. SR_EUNAVAILABLE where there are
 * not so many. */
sr_error_t *sr_pdf_read(void *bytes, int descriptor, apr_off_t offset, apr_size_t length, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ show.c
 * Pages count from 0 and look as poppler draws them: the CropBox within the MediaBox, turned by /Rotate, on white,
 * with annotations and form fields. A page that cannot be shown is a success with the `reason`, in plain words that
 * go on after "cannot be shown: ". Errors: SR_ENOTFOUND when the document has no such page, SR_EUNAVAILABLE when no
 * worker can be had, or none on this system can show pages. `descriptor` is read from offset 0 and stays the caller's.
 */
/* Widths are SR_PDF_MIN_WIDTH to SR_PDF_MAX_WIDTH pixels. */

typedef struct sr_pdf_image_t {
    const char *reason;      /* NULL: there is an image */
    bool costly;             /* the reason is that it was more than a worker may take */
    sr_pdf_output_t *output; /* PNG, or JPEG where that suits the page */
    bool jpeg;
    int width, height;
    bool gray;
} sr_pdf_image_t;

/* --- gate.c: a request for a page that has to be made begins with this. It is refused at once (SR_EUNAVAILABLE) when
 * `visits` are under way in this process or `visits_of_all` in all, seven eighths of them of its organisation, or a
 * quarter and four more of its submission. Ends with the pool, or by sr_pdf_visit_end. */
apr_size_t sr_pdf_visits_size(void);
typedef struct sr_pdf_visit_t sr_pdf_visit_t;
sr_error_t *sr_pdf_visit_begin(sr_pdf_visit_t **visit, sr_pdf_pool_t *workers, const char *submission,
                               const char *organization, apr_pool_t *pool);
void sr_pdf_visit_end(sr_pdf_visit_t *visit);

/* The page as an image of `width` pixels (SR_EBADREQUEST when that is not SR_PDF_MIN_WIDTH to SR_PDF_MAX_WIDTH) and
 * the height that goes with it: PNG for text, JPEG for scans and photographs unless only a `png` will do. */
sr_error_t *sr_pdf_render(sr_pdf_image_t *image, sr_pdf_pool_t *workers, int descriptor, int page, int width, bool png,
                          apr_pool_t *pool);

typedef struct sr_pdf_text_t {
    const char *reason; /* NULL: there is a text, if only an empty one */
    bool costly;        /* as of an image */
    /* {"width":612,"height":792,"lines":[[["Hello",9.8,8.84,5.2,1.5],["world",…]],…]}, and "truncated":true behind
     * when it was too long. Size of the displayed page in points; lines in reading order, of words, each with its box
     * in percent of the displayed page: left, top, width, height. What lies outside the page is left out. */
    const char *json;
    apr_size_t length;
    sr_pdf_output_t *output; /* the same as a file */
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
    SR_PDF_SIGNATURE_AT_FAULT /* what the signer sent cannot be drawn; the reason is a sentence for them */
} sr_pdf_fault_t;

typedef struct sr_pdf_rewritten_t {
    sr_pdf_fault_t fault;
    const char *reason;
    sr_pdf_output_t document; /* the rewritten document */
} sr_pdf_rewritten_t;
/* Rewrites a document that is damaged or leaves the drawing of its form to readers, so that it can be continued. Only
 * for documents without signatures. The result must be probed like an upload. */
sr_error_t *sr_pdf_rewrite(sr_pdf_rewritten_t *normalised, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                           apr_pool_t *pool);

typedef struct sr_pdf_field_t {
    const char *signer;   /* names the field: letters, digits and "-", at most 64 */
    int page;             /* 0-based */
    double rect[4];       /* as in sr_placement_t */
    const char *existing; /* NULL: it is to be added. Else the name of an empty signature field of the document, which
                             is in this place */
} sr_pdf_field_t;

typedef struct sr_pdf_update_t {
    sr_pdf_fault_t fault;
    const char *reason;
    const unsigned char *bytes; /* to be appended */
    apr_size_t length;
    sr_cipher_t cipher; /* private: by which the worker says the document is encrypted */
} sr_pdf_update_t;
/* Adds every field (sr_pdf_field_t, at least one) of every signer. Existing ones are written once more as they are, so
 * that sr_pdf_fill can compare what becomes of them. */
sr_error_t *sr_pdf_prepare(sr_pdf_update_t *update, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                           const apr_array_header_t *fields, apr_pool_t *pool);

typedef struct sr_pdf_confirmed_t {
    sr_pdf_fault_t fault;
    const char *reason;
} sr_pdf_confirmed_t;
/* Asks another worker whether a document with what sr_pdf_prepare gave for it, `base_size` bytes from its beginning, is
 * the old one with these fields and nothing else. To be asked before anything of it is signed. */
sr_error_t *sr_pdf_confirm(sr_pdf_confirmed_t *confirmed, sr_pdf_pool_t *workers, int descriptor, apr_off_t base_size,
                           const apr_array_header_t *fields, apr_pool_t *pool);

typedef struct sr_pdf_signature_t {
    const char *signer;               /* as it was when the document was prepared */
    const apr_array_header_t *fields; /* those that it was prepared with; NULL: it had none of them before */
    /* Where it was prepared: after so many bytes, and what was added lies within so many. */
    apr_off_t base_size;
    apr_size_t prepared_size;
    const char *name;    /* UTF-8: who signs */
    const char *reason;  /* UTF-8: why, or NULL */
    const char *contact; /* UTF-8: for whom it was asked, as /ContactInfo; or NULL */
    const char *hash;    /* of sr_cms_identity_hash; NULL: SHA-256 */
    /* SHA-256 of the document so far, as it was written to where the descriptor reads it; NULL: it is read for that */
    const sr_sha256_t *digest;
    apr_time_t time;
    bool test;              /* its appearances say TEST */
    const json_t *captions; /* of sr_captions_json, for the fields in this document as they were prepared; or NULL */
    /* What is seen in all of the signer's fields: one of the three. */
    const sr_ink_t *ink;
    const char *text;  /* UTF-8; at most 200 characters */
    const void *image; /* PNG, JPEG or WebP; at most 1 MiB and 4 million pixels */
    apr_size_t image_size;
} sr_pdf_signature_t;

typedef struct sr_pdf_revision_t {
    sr_pdf_fault_t fault;
    const char *reason;
    unsigned char *bytes; /* to be appended, once the CMS is in it */
    apr_size_t length;
    apr_size_t contents;         /* offset in `bytes` of the "<" before the digits of the CMS */
    unsigned char digest[64];    /* over the byte ranges, by the hash function of the signature: what the CMS
                                    is to sign */
    const char *document_sha256; /* of the document that was filled, as lower-case hexadecimal */
    const char *sha256;          /* of document and `bytes`; set by sr_pdf_seal */
    sr_cipher_t cipher;          /* private: by which the worker says the document is encrypted */
    sr_sha256_t *until_contents; /* private: of all that is before the digits */
} sr_pdf_revision_t;
/* Fills the fields of one signer. What a worker has written is read strictly: it must be these fields as they were
 * prepared, with the signature dictionary that was asked for and new appearances, and nothing else. The digest is made
 * here, of the very bytes that are returned. */
sr_error_t *sr_pdf_fill(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                        const sr_pdf_signature_t *signature, apr_pool_t *pool);
/* Puts the CMS (DER) where it goes. SR_EINTERNAL when it is too long. */
sr_error_t *sr_pdf_seal(sr_pdf_revision_t *revision, const void *cms, apr_size_t length, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- preview.c
 * How a signature will look, which is part of no document yet.
 */
typedef struct sr_pdf_preview_t {
    const char *reason;                /* NULL: there is a drawing; else a sentence for the signer */
    const apr_array_header_t *unknown; /* with a reason: characters (const char *) that cannot be drawn. Or NULL */
    /* {"width":w,"height":h,"paths":[{"d":"M…","stroke":s},…]}, as SVG's paths, filled where there is no stroke; or
     * {"width":w,"height":h,"type":"image/png","image":"…"} in base64. A field shows it as large as it fits, in the
     * middle. If there are captions, "captions":[…] has the paths of each. */
    const char *drawing;
    apr_size_t length;
} sr_pdf_preview_t;
/* Of a signature, `captions` and `ink`, `text` or `image` alone are looked at. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_pdf_preview(sr_pdf_preview_t *preview, sr_pdf_pool_t *workers, const sr_pdf_signature_t *signature,
                           apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- compose.c
 * A new document from texts: A4, as many pages as it needs. `what` is
 *   {"title":"…","second":"…",                  the title in another language, which labels have, too
 *    "subtitle":"…","banner":"…",               above all else on each page, in red
 *    "sections":[{"heading":"…","panel":true,"items":[{"heading":"…","rows":[…]},…]},…],
 *    "seal":"…",                                beneath the place for a signature
 *    "sealRows":[["label","value","code"],…],"qr":"…",      beside it; a QR code of this text,
 *    "qrText":"…",                              which is read as this one
 *    "footer":"…","language":"en","dir":"rtl","time":"2026-11-20T18:09:23Z"}
 * and a row is {"note":"…"}, {"event":["when","what","who"]}, {"label":"…","mark":…,"alternative":"…"} of
 * sr_pdf_mark, with what is read to those who cannot see it, or
 * ["label","value"], or ["label","value","code"] for what has no words, such as hashes, and is broken anywhere; or
 * ["label","value","label","value"], side by side where both are short. With "dir":"rtl" the page is mirrored: columns
 * begin on the right. All but `time`, when it was made, may be left out. Texts are of any script, at most 32 KiB each,
 * and never cut, but for banner and footer (three lines) and what is beside the seal. The document is tagged: it has
 * headings, lists of labels and values, a table of events, paragraphs and figures. The same request has the same
 * answer, byte by byte, on one system.
 */
#define SR_PDF_MAX_COMPOSE_TEXT ((apr_size_t)8 << 20) /* of `what` as JSON text */

typedef struct sr_pdf_composed_t {
    const char *reason; /* NULL: there is a document; else plain words that go on after "cannot be composed: " */
    sr_pdf_output_t *document;
    int pages;
    struct {
        int page; /* 0-based */
        double rect[4];
    } field; /* where nothing is written, so that a signature can be seen there: for sr_pdf_prepare */
} sr_pdf_composed_t;
/* Errors: SR_EUNAVAILABLE when no worker can be had, or this system has no fonts. */
sr_error_t *sr_pdf_compose(sr_pdf_composed_t *composed, sr_pdf_pool_t *workers, const json_t *what, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- mark.c */
/* The signature that is seen in what was appended with it, as sr_pdf_compose draws it: an array of texts. NULL: it was
 * not found, takes more than so many bytes, or is encrypted otherwise than `cipher` says. New reference. */
json_t *sr_pdf_mark(const void *revision, apr_size_t size, const sr_cipher_t *cipher, apr_size_t most,
                    apr_pool_t *pool);
#define SR_PDF_LARGE_MARK ((apr_size_t)64 << 10)
/* The same. One of more than SR_PDF_LARGE_MARK bytes is scaled down by a worker to what a composed document can show.
 * Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_pdf_mark_reduced(json_t **texts, sr_pdf_pool_t *workers, const void *revision, apr_size_t size,
                                const sr_cipher_t *cipher, apr_size_t most, apr_pool_t *pool);
/* Whether what was appended belongs to an encrypted document. */
bool sr_pdf_mark_needs_key(const void *revision, apr_size_t size);
/* How a worker says that a document is encrypted; its method is 0 if it is not, or if it cannot be read. A wrong key
 * finds another mark or none. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_pdf_key(sr_cipher_t *cipher, sr_pdf_pool_t *workers, int descriptor, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- verify.c */
typedef struct sr_pdf_found_t {
    const char *field;    /* full name of its field */
    sr_cms_state_t state; /* of the document's bytes that it covers */
    const char *fault;    /* why it is not SR_CMS_INTACT */
    bool whole;           /* intact, and it covers every byte of the file but itself: nothing came later */
    apr_off_t covers;     /* the file's size when it was signed; 0 when that cannot be told */
    int later;            /* incremental updates after it; -1 when that cannot be told */
    /* What later updates changed that is not explained by later signatures, form filling, validation data or metadata,
     * in plain words; and the names of form fields that were filled in later. Both end with NULL, or are NULL when that
     * cannot be told. Of the last signature: what was appended after it. */
    const char *const *changes, *const *filled;
    const char *name, *reason, *contact; /* as the signer wrote them: claims; NULL if missing */
    apr_time_t claimed;                  /* /M, the signer's clock; 0 if missing */
    sr_cms_result_t signer;              /* `state` and `fault` there are those of the CMS alone */
} sr_pdf_found_t;

typedef enum sr_pdf_conclusion_t {
    SR_PDF_SIGNED,    /* every signature is intact, later ones explain what was added, one covers the whole document */
    SR_PDF_EXTENDED,  /* every signature is intact, and something was appended after the last */
    SR_PDF_CHANGED,   /* none is broken, and between two of them something was changed that nothing explains */
    SR_PDF_BROKEN,    /* a signature is broken */
    SR_PDF_UNCHECKED, /* none is broken, and some, or what came between them, cannot be checked */
    SR_PDF_UNSIGNED,
    SR_PDF_UNREADABLE /* `verdict` and `reason` say why */
} sr_pdf_conclusion_t;

typedef struct sr_pdf_verification_t {
    sr_pdf_conclusion_t conclusion;
    sr_pdf_verdict_t verdict;   /* SR_PDF_ACCEPTED but for SR_PDF_UNREADABLE */
    const char *reason;         /* of SR_PDF_REFUSED: plain words that go on after "cannot be verified: " */
    bool validation;            /* what was added after the last is data for validation alone, says the worker */
    bool changed;               /* between signatures something was changed that nothing explains */
    bool incomparable;          /* what was changed between signatures cannot be told */
    sr_pdf_found_t *signatures; /* in the order they were made, broken ones first where that cannot be told */
    int count;
} sr_pdf_verification_t;

/* Checks the signatures that a PDF reader shows. `descriptor` as for sr_pdf_probe, and nobody may write to it. A
 * worker says where signatures are, another one, which sees the signatures and not the document, checks them; bytes are
 * hashed here. A worker that was taken over can say that a signature of others is intact, but not that one is ours
 * (sr_cms_match). What changed between signatures is a worker's word alone, too: it could leave a change out. */
sr_error_t *sr_pdf_verify(sr_pdf_verification_t *verification, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                          const sr_cms_context_t *context, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- result.c */
/* "signed", "extended", "changed", "broken", "unchecked", "unsigned", "unreadable" */
const char *sr_pdf_conclusion_name(sr_pdf_conclusion_t conclusion);
/* "intact", "broken", "unchecked" */
const char *sr_cms_state_name(sr_cms_state_t state);
/* The conclusion in plain words; why, when it is SR_PDF_UNREADABLE. */
const char *sr_pdf_verification_reason(const sr_pdf_verification_t *found);
/* {"conclusion","reason","signatures":[{"field","state","fault"|null,"whole","covers"|null,"laterUpdates"|null,
 * "changes":[…]|null,"filled":[…]|null,"ours","name"|null,"reason"|null,"contact"|null,"claimedAt"|null,
 * "signer":{…}|null,"algorithm"|null,"expired","trust","distrust"|null}]}:
 * what docs/api.md calls a verification. The caller's reference. */
json_t *sr_pdf_verification_json(const sr_pdf_verification_t *found);

#endif
