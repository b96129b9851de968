/* SPDX-License-Identifier: Apache-2.0 */
/* model.h: the contract's things and their rules, as plain data. No I/O: what is here can be tested alone.
 *
 * Sections: warnings.c · pages.c (existing.h) · area.c · ink.c · remarks.c · states.c · signers.c · event.c ·
 * language.c · consent.c · signature.c · caption.c · completion.c · webhook.c · token.c. submission.h: fields.c ·
 * record.c · submission.c · signing.c
 */
#ifndef SR_MODEL_H
#define SR_MODEL_H

#include "base/base.h"
#include "model/existing.h"
#include "model/report.h"
#include "model/warnings.h"

typedef enum sr_environment_t { SR_TEST, SR_PRODUCTION } sr_environment_t;
const char *sr_environment_name(sr_environment_t environment); /* "test", "production" */
bool sr_environment_parse(sr_environment_t *environment, const char *name);
/* An organisation in one environment, as what is kept beside documents is named by: "<uuid>.test". */
const char *sr_owner_of(const char *organization_uuid, sr_environment_t environment, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ pages.c
 * The page boxes of a PDF as sigreq-pdfd reports them, run-length coded so that a document of 10,000 equal
 * pages stays small. Text form (the helper's answer, and the file stored beside each document):
 *   {"version":5,"pages":12,"runs":[[count,x0,y0,x1,y1,rotate],…],"signatures":0,"normalise":false,
 *    "warnings":["javascript"],          which may be absent, and so may
 *    "fields":[{"name":"Tenant","page":0,"rect":[x0,y0,x1,y1]},…]}   (existing.c)
 * and in the stored one perhaps what httpd has found out later, and a helper may never say:
 *   "prepared":[0,11]                     fields can be added on these pages: it has been tried
 *   "normalised":{"sha256":"…","size":n}  the document that was made of it by rewriting
 * A box is CropBox ∩ MediaBox (ISO 32000-2, 14.11.2), normalised, in PDF units; rotate is 0, 90, 180 or 270.
 */
typedef struct sr_page_t {
    double box[4]; /* x0 y0 x1 y1, x0 < x1, y0 < y1 */
    int rotate;    /* clockwise degrees the page is turned when displayed */
} sr_page_t;

#define SR_PAGES_MAX_PREPARED 64 /* pages remembered; others are tried again each time */

typedef struct sr_pages_t {
    int count;
    const apr_array_header_t *runs; /* sr_list_run_t */
    int signatures;                 /* that it has already */
    bool normalise;                 /* it has to be rewritten before anything can be appended */
    int prepared[SR_PAGES_MAX_PREPARED], prepared_count;
    const char *rewritten_sha256; /* or NULL */
    apr_off_t rewritten_size;
    unsigned int warnings;              /* a set of sr_warning_t */
    const apr_array_header_t *existing; /* sr_existing_t: the signature fields that it has already */
    const char *report;                 /* the text form it was read from */
} sr_pages_t;
typedef struct sr_list_run_t {
    int count;
    sr_page_t page;
} sr_list_run_t;

/* Reads the text form as a helper gives it; an error (SR_EINTERNAL) when it is not of this version, does not add up, or
 * has any other member. */
sr_error_t *sr_pages_parse(sr_pages_t **pages, const char *report, apr_pool_t *pool);
/* The same for a stored report, which may also have what httpd has added. */
sr_error_t *sr_pages_parse_stored(sr_pages_t **pages, const char *report, apr_pool_t *pool);
/* The page at a 0-based index, or NULL when there is none. */
const sr_page_t *sr_pages_at(const sr_pages_t *pages, int index);
bool sr_pages_is_prepared(const sr_pages_t *pages, int index);
/* The same pages, with one more that is prepared; `pages` itself when that was known, or there is no room for it. */
const sr_pages_t *sr_pages_prepared(const sr_pages_t *pages, int index, apr_pool_t *pool);
/* The same pages, with the document that was rewritten. */
const sr_pages_t *sr_pages_rewritten(const sr_pages_t *pages, const char *sha256, apr_off_t size, apr_pool_t *pool);
/* The text form with what was added since it was read. */
const char *sr_pages_write(const sr_pages_t *pages, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- area.c */
typedef enum sr_origin_t { SR_ORIGIN_USER_SPACE, SR_ORIGIN_TOP_LEFT } sr_origin_t;

typedef struct sr_area_t {
    double x, y, w, h;  /* points; see docs/api.md, Areas */
    int page;           /* 0-based */
    sr_origin_t origin; /* what x and y are relative to */
} sr_area_t;

typedef struct sr_placement_t {
    double percent[4]; /* x y w h in percent of the displayed page, from its top-left corner */
    double rect[4];    /* x0 y0 x1 y1 in the page's user space: the widget's /Rect */
} sr_placement_t;

void sr_area_place(sr_placement_t *placement, const sr_area_t *area, const sr_page_t *page);
/* The area of a rectangle (x0 y0 x1 y1) in the user space of a page. */
sr_area_t sr_area_of(const double rect[4], int index, const sr_page_t *page);

/* -------------------------------------------------------------------------------------------------- ink.c
 * A drawn signature, as it is sent: {"width":w,"height":h,"strokes":[[[x,y,pressure?],…],…]}, or with the strokes as
 * one text, whose form docs/api.md describes.
 */
#define SR_INK_MAX_STROKES 1000
#define SR_INK_MAX_POINTS 20000

typedef struct sr_ink_t {
    /* {"width":w,"height":h,"pen":p,"strokes":[[x,y,line,x,y,line,…],…]}: the part of the canvas that has the ink, with
     * padding around it. The longer side is 1. The width of the pen, x and y from the top left corner, and the width of
     * the line at each point are in the same unit. */
    const char *text;
    int points;
} sr_ink_t;
/* Checks, trims and normalises. Errors: SR_EBADREQUEST, in words for the author of the client. */
sr_error_t *sr_ink_parse(sr_ink_t **ink, const json_t *drawn, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- remarks.c
 * The `warnings` of a creation's answer: what was accepted but is perhaps not what the caller meant. There are 20 texts
 * at most; the rest is only counted.
 */
typedef struct sr_remarks_t sr_remarks_t;
sr_remarks_t *sr_remarks_make(apr_pool_t *pool);
/* NULL `remarks`: nobody wants to know. */
void sr_remark(sr_remarks_t *remarks, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A name that the caller chose, short and printable. */
const char *sr_remark_name(const char *name, apr_pool_t *pool);
/* An array of texts, or NULL if there are none. New reference. */
json_t *sr_remarks_json(const sr_remarks_t *remarks);

/* ------------------------------------------------------------------------------------------------ states.c
 * The states of signers and of submissions, and what leads from which to which: states.c has the table and its diagram.
 */
typedef enum sr_signer_state_t {
    SR_SIGNER_WAITING, /* others have to sign before */
    SR_SIGNER_SENT,
    SR_SIGNER_OPENED,
    SR_SIGNER_COMPLETED,
    SR_SIGNER_REFUSED,
    SR_SIGNER_REPLACED, /* by another person */
    SR_SIGNER_STATE_COUNT
} sr_signer_state_t;
typedef enum sr_submission_state_t {
    SR_SUBMISSION_OPEN,
    SR_SUBMISSION_COMPLETED,
    SR_SUBMISSION_REFUSED,
    SR_SUBMISSION_CANCELLED,
    SR_SUBMISSION_EXPIRED,
    SR_SUBMISSION_DELETED,
    SR_SUBMISSION_STATE_COUNT
} sr_submission_state_t;
typedef enum sr_action_t {
    SR_ACTION_SEND, /* of one signer */
    SR_ACTION_OPEN,
    SR_ACTION_SIGN,
    SR_ACTION_REFUSE,
    SR_ACTION_REPLACE,
    SR_ACTION_COMPLETE, /* of the submission */
    SR_ACTION_CANCEL,
    SR_ACTION_EXPIRE,
    SR_ACTION_DELETE,
    SR_ACTION_COUNT
} sr_action_t;
/* Changes the states as the table says. False, and nothing has changed: the action is not allowed in them. `signer` is
 * NULL for an action of the submission. */
bool sr_state_change(sr_signer_state_t *signer, sr_submission_state_t *submission, sr_action_t action);
/* As columns have them: "sent", "open". Parsing is false for what is no such name. */
const char *sr_signer_state_name(sr_signer_state_t state);
const char *sr_submission_state_name(sr_submission_state_t state);
bool sr_signer_state_parse(sr_signer_state_t *state, const char *name);
bool sr_submission_state_parse(sr_submission_state_t *state, const char *name);
/* The contract's status of a signer: who has refused stays "opened". */
const char *sr_signer_status(sr_signer_state_t state);
/* The states that are shown by a status of the contract: "opened,refused,replaced". NULL: there is no such status. */
const char *sr_signer_states_of_status(const char *status, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- signers.c
 * The `signers` part of POST /signatures, checked in the order of the contract's error table.
 */
typedef struct sr_document_t {
    const char *uuid;
    const char *name;   /* as shown; decoded (%22, filename*) */
    const char *raw;    /* the file name as it was sent, when it differs; a field may name either */
    const char *sha256; /* lower-case hexadecimal */
    apr_off_t size;
    const char *rewritten_sha256; /* of what is shown and sealed in its place, or NULL */
    apr_off_t rewritten_size;
    const sr_pages_t *pages;
} sr_document_t;

typedef struct sr_field_t {
    const char *type; /* "signature" */
    const char *name;
    const char *document;      /* as sent; once resolved, the document's name as shown */
    const char *document_uuid; /* once resolved */
    const char *existing;      /* the signature field of the document that its area names, or NULL */
    sr_area_t area;            /* of an existing field once resolved */
    const json_t *area_sent;   /* the object it was read from, or NULL */
    const char *caption;       /* of sr_caption_read, or NULL: nothing was sent */
    sr_placement_t placement;  /* once resolved */
} sr_field_t;

typedef struct sr_signer_t {
    const char *uuid;
    const char *firstname;
    const char *lastname;
    const char *email;                /* or NULL */
    const char *locale;               /* a language tag (BCP 47), or NULL */
    const apr_array_header_t *fields; /* sr_field_t */
    sr_signer_state_t state;
    apr_time_t opened_at, completed_at, refused_at; /* 0: not yet */
    const char *refusal_reason;                     /* or NULL */
    /* of who has signed: from where, by what ("drawn", "typed", "uploaded"), and the version of what they agreed to */
    const char *ip, *user_agent, *signature_type, *consent;
} sr_signer_t;

typedef struct sr_person_t {
    const char *firstname, *lastname, *email;
} sr_person_t;
typedef struct sr_submission_t sr_submission_t; /* submission.h */

typedef struct sr_signers_rules_t {
    bool send_email;            /* an email is then required of each signer */
    sr_origin_t default_origin; /* where an area names none */
    const char *locale;         /* where a signer names none; or NULL */
    const char *caption;        /* where a field names none, of sr_caption_read; or NULL */
    int max_signers;
    int max_fields;        /* of all signers together */
    sr_remarks_t *remarks; /* gets the members that are not known, or NULL */
} sr_signers_rules_t;

/* Parses and checks the JSON array; *signers holds sr_signer_t with fresh uuids. Errors: SR_EBADREQUEST. */
sr_error_t *sr_signers_parse(apr_array_header_t **signers, const char *text, apr_size_t length,
                             const sr_signers_rules_t *rules, apr_pool_t *pool);
/* Finds each field's document and page and works out its placement. Errors: SR_EBADREQUEST,
 * "Document {name} not found" and "Index page unknown", and why an existing field that is named cannot be signed. */
sr_error_t *sr_signers_resolve(apr_array_header_t *signers, const apr_array_header_t *documents, apr_pool_t *pool);
/* Then: the texts of a submission are repeated in every answer that shows it, so all of them have a limit together. The
 * name of a document counts for each field in it. */
#define SR_SIGNERS_TEXTS_MAX 262144
sr_error_t *sr_signers_check_texts(const char *name, const apr_array_header_t *signers,
                                   const apr_array_header_t *documents, apr_pool_t *pool);
/* Remarks on each resolved area that is partly or wholly outside of its page or too low for its caption, and on each
 * existing field that has preferences which are not followed. */
void sr_signers_remark(sr_remarks_t *remarks, const apr_array_header_t *signers, const apr_array_header_t *documents);

/* ------------------------------------------------------------------------------------------------ event.c
 * The evidence: a chain of events for each submission. The hash of an event is the SHA-256 of its JSON text in
 * canonical form (RFC 8785) without the member "hash"; "previousHash" is the hash of the event before it.
 */
typedef struct sr_client_t {
    const char *ip, *user_agent; /* UTF-8, or NULL */
    const char *time_zone;       /* as their browser calls it, "Europe/Berlin"; or NULL */
    int utc_offset;              /* minutes that it is ahead of UTC now */
} sr_client_t;
/* Takes what a browser says of its time zone; what cannot be one is passed over. */
void sr_client_set_zone(sr_client_t *client, const json_t *name, const json_t *offset);

typedef struct sr_event_t {
    const char *kind; /* "created", "opened", "signed", "refused", "completed" */
    apr_time_t at;
    const char *signer; /* uuid, or NULL */
    sr_client_t client;
    json_t *detail; /* an object of texts and whole numbers; the caller's */
} sr_event_t;

typedef struct sr_event_text_t {
    const char *hash, *body;
} sr_event_text_t;
/* The event as it is stored and shown. Numbers count from 1; the first has no previous hash: NULL. */
void sr_event_write(sr_event_text_t *written, const sr_event_t *event, int number, const char *previous_hash,
                    apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- language.c
 * The languages that signers are met in: languages.def.
 */
typedef struct sr_language_t {
    const char *code; /* of its catalogue and of the versions of its text of consent: "pt" */
    const char *tag;  /* what HTML calls it (BCP 47): "pt-PT" */
    const char *name; /* its own for itself */
} sr_language_t;
int sr_language_count(void);
const sr_language_t *sr_language(int number); /* from 0, in the order in which they are offered */
/* The one that a language tag asks for (RFC 4647, lookup: "de-AT" is "de"), or NULL. */
const sr_language_t *sr_language_of(const char *tag);
/* The one that an Accept-Language header (or NULL) asks for most; English where it asks for none of them. */
const sr_language_t *sr_language_accepted(const char *header, apr_pool_t *pool);
#define SR_LOCALE_MAX 64 /* characters */
/* Whether a text is a language tag (BCP 47) in form, of whatever language. */
bool sr_locale_is_valid(const char *text);
/* The catalogue of a language: {"dir", "page", "script", "mail"}; the pool's. */
sr_error_t *sr_language_texts(json_t **texts, const sr_language_t *language, apr_pool_t *pool);
/* Its plural categories, as sr_template_t takes them. */
const char *sr_language_plurals(const sr_language_t *language);

/* ---------------------------------------------------------------------------------------------- consent.c */
/* What has to be accepted before signing; its version, which names the language it was shown in, is evidence. */
typedef struct sr_consent_t {
    const char *language, *version, *text;
} sr_consent_t;
/* The one that is shown now; English where there is none in that language. */
const sr_consent_t *sr_consent_of_language(const char *language);
/* NULL: there was never one of this version. */
const sr_consent_t *sr_consent_of_version(const char *version);

/* -------------------------------------------------------------------------------------------- signature.c
 * What a signer sends as their signature.
 */
typedef struct sr_signature_t {
    const char *kind; /* "drawn", "typed", "uploaded" */
    const sr_ink_t *ink;
    const char *text;
    const void *image;
    apr_size_t image_size;
} sr_signature_t;
/* {"type":"typed","text":…}, {"type":"drawn","width","height","strokes"}, {"type":"uploaded","image":"data:image/…"}.
 * Errors: SR_EBADREQUEST. */
sr_error_t *sr_signature_parse(sr_signature_t *signature, const json_t *sent, apr_pool_t *pool);
sr_error_t *sr_signature_typed(sr_signature_t *signature, const char *text, apr_pool_t *pool);
#define SR_SIGNATURE_IMAGE_MAX ((apr_size_t)1 << 20)
/* The bytes of an image, which stay the caller's. */
sr_error_t *sr_signature_uploaded(sr_signature_t *signature, const void *image, apr_size_t size, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- caption.c
 * The small line under a signature: "Ann Lee · November 22, 2026 · 4b68a1f0".
 */
/* Reads "name", "date", "id", each at most once, separated by commas: without spaces then, "" for a blank text. False:
 * it is something else. */
bool sr_caption_read(const char **caption, const char *text, apr_pool_t *pool);
#define SR_CAPTION_RULE "caption must be name, date or id, or several of them separated by commas"
typedef struct sr_captions_t {
    const sr_signer_t *signer;
    const sr_language_t *language; /* of a signer without a locale */
    const sr_client_t *client;     /* for its time zone */
    apr_time_t when;
} sr_captions_t;
/* What sr_pdf_signature_t has of a signer's captions (the pool's), or NULL if no field has one: {"texts":["…"],
 * "fields":[0,-1,…]}, each text once, and for each field in a document (or NULL) the number of its text or -1. */
const json_t *sr_captions_json(const sr_captions_t *captions, const char *document, apr_pool_t *pool);
/* The same number of one field of a signer. */
int sr_caption_number(const sr_signer_t *signer, const sr_field_t *field, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------- completion.c */
typedef struct sr_zone_t {
    const char *name;
    int offset; /* minutes that it is ahead of UTC */
} sr_zone_t;
sr_zone_t sr_zone_of_server(apr_time_t when, apr_pool_t *pool);
typedef struct sr_completion_t {
    const sr_submission_t *submission; /* all of its signers have signed */
    const json_t *events; /* its audit trail, an array; and the hash of the last, which stands for all before it */
    const char *events_hash;
    const json_t *marks; /* of each signer, in their order, what they signed with (sr_pdf_mark), or null; or NULL */
    sr_environment_t environment;
    const char *organization; /* of the requester; or NULL */
    const char *service;      /* who seals the certificate, as said beneath the seal; or NULL */
    const char *seal_sha256;  /* of the certificate of the seal; or NULL */
    const char *verify_url;   /* of the page where anybody checks documents; or NULL */
    apr_time_t time;          /* of the certificate */
    const char *language;     /* of `texts`, as a tag */
    bool rtl;                 /* it is written from right to left */
    const json_t *texts;      /* "certificate" of that catalogue */
    const json_t *english;    /* the same in English, or NULL: one language is enough */
} sr_completion_t;
/* The language of most of the signers, if it is not English; else English. The language of a signer is that of their
 * locale, else that of the text they agreed to. */
const sr_language_t *sr_completion_language(const sr_submission_t *submission);
/* The certificate of completion, as the question that src/pdf/pdf.h, compose.c, describes. New reference. */
json_t *sr_completion_certificate(const sr_completion_t *completion, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- webhook.c
 * What is told of a submission (docs/api.md, Webhooks).
 */
typedef struct sr_webhook_t {
    const char *kind; /* "sent", "completed": of the submission; "signed", "refused": of one signer */
    apr_time_t at;
    const char *submission, *signer; /* uuids; signer NULL for "sent" and "completed" */
    sr_environment_t environment;
} sr_webhook_t;

/* The event as the store takes it (store.h, "webhook"), with a new event id. `text` is what it tells of, as it is after
 * the change: sr_submission_render's or sr_signer_render's. Links begin with `base_url`. New reference. */
json_t *sr_webhook_row(const sr_webhook_t *webhook, const char *text, const char *base_url, apr_pool_t *pool);
#define SR_WEBHOOK_URL_MAX 255 /* docs/api.md, Limits */
/* Why a URL cannot be stored as a webhook's, in words; NULL: it can. Which addresses may be called is decided when the
 * connection is made. */
const char *sr_webhook_url_fault(const char *url, apr_pool_t *pool);
/* What became of a webhook call or an invitation, and as the API shows it. New reference. */
typedef struct sr_delivery_t {
    const char *uuid, *event_id, *event, *submission, *token, *url;
    const bool *success;       /* NULL: it is not over */
    const apr_int64_t *status; /* or NULL */
    const char *error;         /* or NULL */
    apr_time_t created_at, ended_at;
} sr_delivery_t;
json_t *sr_delivery_representation(const sr_delivery_t *delivery);
/* The invitation of one signer by mail, in the same form, with "url": the body is {"email", "signer", "sender" (names),
 * "address" (of the sender), "organization", "environment", "name" (of the submission), "documents": [{"name",
 * "count"}] (of pages), "link", "locale"?, "theme"?}. `base_url` NULL: there is no link. `theme` is
 * sr_service_brand's, or NULL. New reference. */
typedef struct sr_token_t sr_token_t;
json_t *sr_invitation_row(const sr_submission_t *submission, const sr_signer_t *signer, const sr_token_t *token,
                          const char *base_url, json_t *theme, apr_pool_t *pool);

#include "model/token.h"

#include "model/submission.h"

#endif
