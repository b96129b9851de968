/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h: checks the signatures of any document. A helper finds them, another helper judges them
 * (cms/judge.c), and httpd compares the result with the document (cms/our_seal.c).
 *
 * Sections: verify.c · result.c (the result as JSON). Private to src/verify: judged.c (the request "check")
 */
#ifndef SR_VERIFY_VERIFY_H
#define SR_VERIFY_VERIFY_H

#include "helper/pdf.h"

/* ----------------------------------------------------------------------------------------------- verify.c */
typedef struct sr_pdf_found_t {
    const char *field;    /* full name of the field */
    sr_cms_state_t state; /* of the bytes of the document that the signature covers */
    const char *fault;    /* why the state is not SR_CMS_INTACT */
    bool timestamp;       /* a document timestamp (RFC 3161), which no person has made */
    bool whole; /* intact, and covers every byte of the file except its own value: nothing was appended after it */
    apr_off_t covers; /* size of the file when it was signed; 0 if unknown */
    int later;        /* number of incremental updates after it; -1 if unknown */
    /* `changes`, in plain text: what later updates changed and what later signatures, form filling, validation data or
     * metadata do not explain. `filled`: the names of the form fields that were filled in later. Both end with NULL, or
     * are NULL if the changes are unknown. For the last signature they describe what was appended after it. */
    const char *const *changes, *const *filled;
    /* The widgets that later revisions drew in another way, until the last signature, except those of this service. In
     * the form of `filled`. */
    const char *const *drawn;
    const char *name, *reason, *contact; /* as the signer wrote them, not verified; NULL if missing */
    apr_time_t claimed;                  /* /M, the clock of the signer; 0 if missing */
    sr_cms_result_t signer;              /* its `state` and `fault` are those of the CMS alone */
} sr_pdf_found_t;

typedef enum sr_pdf_conclusion_t {
    /* every signature is intact, later ones explain what was added, and one covers the whole document. It may be a
     * document timestamp if only data for validation was added after the last signature of a person */
    SR_PDF_SIGNED,
    SR_PDF_EXTENDED, /* every signature is intact, and something else was appended after the last one */
    /* no signature is broken, but something was changed between two of them that nothing explains, or a field was
     * changed that a signature locks */
    SR_PDF_CHANGED,
    SR_PDF_BROKEN,    /* a signature is broken */
    SR_PDF_UNCHECKED, /* no signature is broken, but a signature, or what was changed between signatures, cannot be
                         checked */
    SR_PDF_UNSIGNED,
    SR_PDF_UNREADABLE /* `verdict` and `reason` say why */
} sr_pdf_conclusion_t;

typedef struct sr_pdf_verification_t {
    sr_pdf_conclusion_t conclusion;
    sr_pdf_verdict_t verdict;   /* SR_PDF_ACCEPTED unless the conclusion is SR_PDF_UNREADABLE */
    const char *reason;         /* for SR_PDF_REFUSED: plain text that continues "cannot be verified: " */
    bool validation;            /* according to the worker, only validation data was added after the last signature */
    bool explained;             /* nothing else was changed after the last signature, according to the worker */
    bool changed;               /* something was changed between signatures that nothing explains, or `locked` */
    bool locked;                /* a field that a signature locks was changed after the last signature */
    bool incomparable;          /* it is unknown what was changed between signatures */
    sr_pdf_found_t *signatures; /* in the order in which they were made; those of unknown order come first */
    int count;
} sr_pdf_verification_t;

/* Checks the signatures that a PDF reader shows. `descriptor` is used as in sr_pdf_probe, and nobody may write to the
 * file meanwhile. One worker finds the signatures. Another worker, which sees the signatures but not the document,
 * checks them. This process computes the digests. A worker that was taken over by a hostile document can claim that a
 * signature of somebody else is intact, but not that a signature was made by this service (sr_cms_is_our_seal). It
 * could also hide a change between signatures, because only a worker compares revisions. */
sr_error_t *sr_pdf_verify(sr_pdf_verification_t *verification, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                          const sr_cms_context_t *context, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- result.c */
/* Returns "signed", "extended", "changed", "broken", "unchecked", "unsigned" or "unreadable". */
const char *sr_pdf_conclusion_name(sr_pdf_conclusion_t conclusion);
/* Returns "intact", "broken" or "unchecked". */
const char *sr_cms_state_name(sr_cms_state_t state);
/* Returns "B-B", "B-T", "B-LT" or "B-LTA", or NULL for SR_CMS_LEVEL_NONE. */
const char *sr_cms_level_name(sr_cms_level_t level);
/* Returns "none", "valid", "broken" or "untrusted". */
const char *sr_cms_stamp_name(sr_cms_stamp_state_t state);
/* Returns the conclusion in plain text. For SR_PDF_UNREADABLE it is the reason. */
const char *sr_pdf_verification_reason(const sr_pdf_verification_t *found);
/* Returns
 * {"conclusion","reason","signatures":[{"field","kind","state","fault"|null,"whole","covers"|null,"laterUpdates"|null,
 * "changes":[…]|null,"filled":[…]|null,"drawn":[…]|null,"ours","name"|null,"reason"|null,"contact"|null,
 * "claimedAt"|null,
 * "signer":{…}|null,"algorithm"|null,"expired","trust","distrust"|null,"level"|null,
 * "timestamp":{"time"|null,"authority"|null,"state","fault"|null}|null,"provenUntil"|null}]}. docs/api.md calls it a
 * verification. The caller owns the reference. */
json_t *sr_pdf_verification_json(const sr_pdf_verification_t *found);

#endif
