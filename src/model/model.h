/* SPDX-License-Identifier: Apache-2.0 */
/* model.h: the objects of the contract and their rules, as plain data. The functions do no I/O, so unit tests can
 * call them directly.
 *
 * Sections: warnings.c · page_report.c (existing.h) · area.c · ink.c · remarks.c · states.c · signers.c · event.c ·
 * language.c · consent.c · signature.c · caption_text.c · completion.c · webhook.c · token.c.
 * submission.h: fields.c · record.c · submission.c · signing.c
 * Texts that a parsed object points to belong to the JSON value or to the pool that were given to the parser. */
#ifndef SR_MODEL_MODEL_H
#define SR_MODEL_MODEL_H

#include "base/base.h"
#include "report/existing.h"
#include "report/report.h"
#include "report/warnings.h"

typedef enum sr_environment_t { SR_TEST, SR_PRODUCTION } sr_environment_t;
const char *sr_environment_name(sr_environment_t environment); /* "test", "production" */
bool sr_environment_parse(sr_environment_t *environment, const char *name);
/* Returns "<uuid>.test" or "<uuid>.production". Files beside documents that belong to one organisation in one
 * environment are named by it. */
const char *sr_owner_of(const char *organization_uuid, sr_environment_t environment, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ page_report.c
 * The page boxes of a PDF, as sigreq-pdfd reports them. Equal pages are run-length coded, so that the report of a
 * document with 10,000 equal pages is small. The text form is the helper's response, and the file stored beside each
 * document:
 *    {"version":5,"pages":12,"runs":[[count,x0,y0,x1,y1,rotate],…],"signatures":0,"normalise":false,
 *     "warnings":["javascript"],                                      optional
 *     "fields":[{"name":"Tenant","page":0,"rect":[x0,y0,x1,y1]},…]}   optional (existing.c)
 * A stored report may also have members that httpd adds. A report from a helper must not have them:
 *    "prepared":[0,11]                     preparing fields on these pages has succeeded
 *    "rewritten":{"sha256":"…","size":n}   the rewritten document that is shown and sealed instead of the upload
 * A box is the intersection of CropBox and MediaBox (ISO 32000-2, 14.11.2), with x0 < x1 and y0 < y1, in PDF units.
 * rotate is 0, 90, 180 or 270.
 */
typedef struct sr_page_t {
    double box[4]; /* x0 y0 x1 y1, x0 < x1, y0 < y1 */
    int rotate;    /* the degrees by which the page is turned clockwise when it is displayed */
} sr_page_t;

#define SR_PAGES_MAX_PREPARED 64 /* prepared pages that are remembered; other pages are tried again each time */

typedef struct sr_pages_t {
    int count;
    const apr_array_header_t *runs; /* sr_list_run_t */
    int signatures;                 /* the number of signatures that the document has already */
    bool normalise;                 /* it must be rewritten before anything can be appended */
    int prepared[SR_PAGES_MAX_PREPARED], prepared_count;
    const char *rewritten_sha256; /* or NULL */
    apr_off_t rewritten_size;
    unsigned int warnings;              /* a set of sr_warning_t */
    const apr_array_header_t *existing; /* sr_existing_t: the signature fields that it has already */
    const char *report;                 /* the text form that it was read from */
} sr_pages_t;
typedef struct sr_list_run_t {
    int count;
    sr_page_t page;
} sr_list_run_t;

/* Reads a report from a helper. Errors: SR_EINTERNAL if its version differs, its numbers are inconsistent, or it has
 * any other member. */
sr_error_t *sr_pages_parse(sr_pages_t **pages, const char *report, apr_pool_t *pool);
/* Reads a stored report, which may have the members that httpd adds. Same errors. */
sr_error_t *sr_pages_parse_stored(sr_pages_t **pages, const char *report, apr_pool_t *pool);
/* Returns the page at a 0-based index, or NULL if there is none. */
const sr_page_t *sr_pages_at(const sr_pages_t *pages, int index);
bool sr_pages_is_prepared(const sr_pages_t *pages, int index);
/* Returns a copy with one more prepared page, or `pages` itself if the page is known already or there is no room. */
const sr_pages_t *sr_pages_prepared(const sr_pages_t *pages, int index, apr_pool_t *pool);
/* Returns a copy with the rewritten document. */
const sr_pages_t *sr_pages_rewritten(const sr_pages_t *pages, const char *sha256, apr_off_t size, apr_pool_t *pool);
/* Returns the text form, with the members that were added since it was read. */
const char *sr_pages_write(const sr_pages_t *pages, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- area.c */
typedef enum sr_origin_t { SR_ORIGIN_USER_SPACE, SR_ORIGIN_TOP_LEFT } sr_origin_t;

typedef struct sr_area_t {
    double x, y, w, h;      /* in points, or in percent of the displayed page; docs/api.md, Areas, describes them */
    int page;               /* 0-based */
    sr_origin_t origin;     /* what x and y are relative to; of percentages SR_ORIGIN_TOP_LEFT */
    bool percent, from_end; /* from_end: the page counts from the last one */
} sr_area_t;

typedef struct sr_placement_t {
    double percent[4]; /* x y w h in percent of the displayed page, from its top left corner */
    double rect[4];    /* x0 y0 x1 y1 in the page's user space: the widget's /Rect */
    int page;          /* 0-based */
} sr_placement_t;

/* Computes where an area is on its page. Sets all but the number of the page. */
void sr_area_place(sr_placement_t *placement, const sr_area_t *area, const sr_page_t *page);
/* Returns the area of a rectangle (x0 y0 x1 y1) in the user space of a page. */
sr_area_t sr_area_of(const double rect[4], int index, const sr_page_t *page);
/* Returns the area, in percent, of a placement. */
sr_area_t sr_area_of_placement(const sr_placement_t *placement);
/* Computes the width and height of a page as it is displayed. */
void sr_page_size(double size[2], const sr_page_t *page);
/* fields.c: return a number with at most four decimals, [x0, y0, x1, y1] and {"x", "y", "w", "h"} of such numbers. New
 * references. */
json_t *sr_area_number(double value);
json_t *sr_area_rect(const double rect[4]);
json_t *sr_area_percent(const double percent[4]);

/* -------------------------------------------------------------------------------------------------- ink.c
 * A drawn signature. A client sends {"width":w,"height":h,"strokes":[[[x,y,pressure?],…],…]}, or the strokes as one
 * text whose form openapi.json describes.
 */
#define SR_INK_MAX_STROKES 1000
#define SR_INK_MAX_POINTS 20000

typedef struct sr_ink_t {
    /* {"width":w,"height":h,"pen":p,"strokes":[[x,y,line,x,y,line,…],…]}: the part of the canvas that has ink, with
     * padding around it. The longer side is 1. The width of the pen, x and y from the top left corner, and the width
     * of the line at each point have the same unit. */
    const char *text;
    int points;
} sr_ink_t;
/* Checks a drawn signature, trims it to its ink and scales it. Errors: SR_EBADREQUEST, with a message for the author
 * of the client. */
sr_error_t *sr_ink_parse(sr_ink_t **ink, const json_t *drawn, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- remarks.c
 * The `warnings` in the response to a creation: input that was accepted but may not be what the caller meant. At most
 * 20 texts are kept; further ones are counted.
 */
typedef struct sr_remarks_t sr_remarks_t;
sr_remarks_t *sr_remarks_make(apr_pool_t *pool);
/* Adds a remark, unless the same text was added before. Does nothing if `remarks` is NULL. */
void sr_remark(sr_remarks_t *remarks, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns a name that the caller chose, shortened and printable. */
const char *sr_remark_name(const char *name, apr_pool_t *pool);
/* Returns an array of texts, or NULL if there are none. New reference. */
json_t *sr_remarks_json(const sr_remarks_t *remarks);
/* Adds the remarks to the hint of a 400, because a member that is missing may be there under another name. Returns the
 * error, which may be NULL. */
sr_error_t *sr_remarks_hint(sr_error_t *error, const sr_remarks_t *remarks);

/* ------------------------------------------------------------------------------------------------ states.c
 * The states of signers and of submissions, and their transitions. states.c has the table and its diagram.
 */
typedef enum sr_signer_state_t {
    SR_SIGNER_WAITING, /* others have to sign first */
    SR_SIGNER_SENT,
    SR_SIGNER_OPENED,
    SR_SIGNER_COMPLETED,
    SR_SIGNER_REFUSED,
    SR_SIGNER_REPLACED, /* replaced by another person */
    SR_SIGNER_STATE_COUNT
} sr_signer_state_t;
typedef enum sr_submission_state_t {
    SR_SUBMISSION_OPEN,
    SR_SUBMISSION_COMPLETED,
    SR_SUBMISSION_REFUSED,
    SR_SUBMISSION_CANCELLED,
    SR_SUBMISSION_EXPIRED,
    SR_SUBMISSION_DELETED,
    SR_SUBMISSION_DRAFT, /* not sent yet: nobody but the caller sees it */
    SR_SUBMISSION_STATE_COUNT
} sr_submission_state_t;
typedef struct sr_retention_t { /* how long closed submissions are kept, by environment and state; 0: for ever */
    bool limited;               /* some are not kept for ever */
    apr_interval_time_t of[2][SR_SUBMISSION_STATE_COUNT];
} sr_retention_t;
/* Where a run of deletions is: the last submission that was tried. */
typedef struct sr_retained_t {
    int kind; /* the number of an environment and an outcome */
    apr_time_t closed_at;
    apr_int64_t id; /* of its row */
} sr_retained_t;
typedef enum sr_action_t {
    SR_ACTION_SEND, /* actions of one signer */
    SR_ACTION_OPEN,
    SR_ACTION_SIGN,
    SR_ACTION_REFUSE,
    SR_ACTION_REPLACE,
    SR_ACTION_RELEASE, /* actions of the submission */
    SR_ACTION_COMPLETE,
    SR_ACTION_CANCEL,
    SR_ACTION_EXPIRE,
    SR_ACTION_DELETE,
    SR_ACTION_COUNT
} sr_action_t;
/* Changes the states as the table says. Returns false, and changes nothing, if the action is not allowed in these
 * states. `signer` is NULL for an action of the submission. */
bool sr_state_change(sr_signer_state_t *signer, sr_submission_state_t *submission, sr_action_t action);
/* The names of states in database columns, such as "sent" and "open". Parsing returns false for any other name. */
const char *sr_signer_state_name(sr_signer_state_t state);
const char *sr_submission_state_name(sr_submission_state_t state);
bool sr_signer_state_parse(sr_signer_state_t *state, const char *name);
bool sr_submission_state_parse(sr_submission_state_t *state, const char *name);
/* Returns the contract's status of a signer. A signer who has refused stays "opened". */
const char *sr_signer_status(sr_signer_state_t state);
/* Returns the states that have a status of the contract, such as "opened,refused,replaced", or NULL if there is no
 * such status. */
const char *sr_signer_states_of_status(const char *status, apr_pool_t *pool);

#include "model/field_types.h"

/* ---------------------------------------------------------------------------------------------- signers.c
 * The part `signers` of POST /signatures, checked in the order of the contract's error table.
 */
struct sr_document_t {
    const char *uuid;
    const char *name;   /* as shown; decoded (%22, filename*) */
    const char *raw;    /* the file name as it was sent, if it differs; a field may use either name */
    const char *sha256; /* lower-case hexadecimal */
    apr_off_t size;
    const char *rewritten_sha256; /* of the rewritten document that is shown and sealed instead, or NULL */
    apr_off_t rewritten_size;
    const sr_pages_t *pages;
    const json_t *form; /* the fields of its form (sr_pdf_inspect), if sr_signers_use_form; or NULL */
    sr_anchors_t anchors;
    sr_prepared_t prepared;
};

struct sr_signer_t {
    const char *uuid;
    const char *firstname;
    const char *lastname;
    const char *email;                /* or NULL */
    const char *locale;               /* a language tag (BCP 47), or NULL */
    const apr_array_header_t *fields; /* sr_field_t */
    sr_signer_state_t state;
    apr_time_t opened_at, completed_at, refused_at; /* 0: not yet */
    const char *refusal_reason;                     /* or NULL */
    /* of a signer who has signed: their address and browser, how they signed ("drawn", "typed", "uploaded"), and the
     * version of the text that they accepted */
    const char *ip, *user_agent, *signature_type, *consent;
    int order;                           /* signers with the lowest order are due first; at least 1 */
    apr_time_t due_at;                   /* when they became due; 0: not yet, or with the submission */
    apr_time_t reminded_at;              /* when they were reminded last; 0: never */
    int reminders;                       /* how many automatic reminders they got */
    const char *replaces;                /* the uuid of the signer whom they replaced, or NULL */
    const char *alias;                   /* the alias of the first signer at this place, or NULL: the uuid gives it */
    sr_authentication_t *authentication; /* how their identity is checked; NULL: it is not */
};

typedef struct sr_person_t {
    const char *firstname, *lastname, *email;
} sr_person_t;

typedef struct sr_signers_rules_t {
    bool send_email;            /* each signer needs an email address */
    sr_origin_t default_origin; /* the origin of an area that has none */
    const char *locale;         /* the locale of a signer who has none; or NULL */
    const char *caption;        /* the caption of a field that has none (a result of sr_caption_read); or NULL */
    int max_signers;
    int max_fields;        /* the limit for all signers together */
    const char *template;  /* the uuid of the template that has the fields of the signers; or NULL */
    const json_t *roles;   /* of the template (roles.c); or NULL */
    bool draft;            /* signers need no fields */
    sr_remarks_t *remarks; /* gets a remark for each unknown member; or NULL */
} sr_signers_rules_t;

/* email.c: returns an email address as mail headers and SMTP have it, with A-labels in its domain, or NULL if no mail
 * can be sent to it. */
const char *sr_address_of(const char *text, apr_pool_t *pool);
/* Parses and checks the JSON array. *signers gets sr_signer_t with new uuids. Errors: SR_EBADREQUEST. */
sr_error_t *sr_signers_parse(apr_array_header_t **signers, const char *text, apr_size_t length,
                             const sr_signers_rules_t *rules, apr_pool_t *pool);
/* Reads one person from a JSON object: firstname, lastname, email (needed if `email`) and locale. The texts belong to
 * the object. Errors: SR_EBADREQUEST. */
sr_error_t *sr_signer_read_person(sr_signer_t *signer, const json_t *object, bool email, apr_pool_t *pool);
/* Called after sr_signers_resolve: checks the total length of the texts of a submission, because every response that
 * shows the submission repeats them. The name of a document counts once for each field in it. Errors: SR_EBADREQUEST.
 */
#define SR_SIGNERS_TEXTS_MAX 262144
sr_error_t *sr_signers_check_texts(const char *name, const apr_array_header_t *signers,
                                   const apr_array_header_t *documents, apr_pool_t *pool);
/* Returns an SR_EBADREQUEST that names a signer and one of their fields, counted from 1. */
sr_error_t *sr_signers_refuse(const sr_signer_t *signer, int number, int field, const char *reason, apr_pool_t *pool);
/* Adds a remark for each area that lies partly or wholly outside its page or is too low for its caption, and for each
 * existing field whose preferences are not followed. */
void sr_signers_remark(sr_remarks_t *remarks, const apr_array_header_t *signers, const apr_array_header_t *documents);

/* ------------------------------------------------------------------------------------------------ event.c
 * The audit trail: a chain of events for each submission. The hash of an event is the SHA-256 of its JSON text in
 * canonical form (RFC 8785) without the member "hash". "previousHash" is the hash of the previous event. In the place
 * of personal values the text has the member "commitments": {"<path>": hexadecimal SHA-256 of a salt and the value}. A
 * path is "ip" or "detail.signers.0.email". Salts and values are stored beside the text, so they can be erased. An
 * event from before there were commitments has no such member, and its hash covers the values.
 */
typedef struct sr_client_t {
    const char *ip, *user_agent; /* UTF-8, or NULL */
    const char *time_zone;       /* as the browser names it, "Europe/Berlin"; or NULL */
    int utc_offset;              /* its offset from UTC in minutes, now */
} sr_client_t;
/* Sets the time zone from the values that a browser sent. Invalid values are ignored. The name must live as long as
 * the client. */
void sr_client_set_zone(sr_client_t *client, const json_t *name, const json_t *offset);

typedef struct sr_event_t {
    const char *kind; /* "created", "opened", "signed", "refused", "completed" */
    apr_time_t at;
    const char *signer; /* uuid, or NULL */
    sr_client_t client;
    json_t *detail; /* an object of texts and whole numbers; "drawing" (sr_pdf_drawing) is stored beside the event. The
                     * caller keeps its reference. */
} sr_event_t;

typedef struct sr_event_text_t {
    const char *hash, *body;
    /* {"<path>": [salt, value]}, or NULL. The value of "detail.drawing" is the SHA-256 of a text, and [salt, value,
     * text] has this text, too. */
    const char *personal;
} sr_event_text_t;
/* Makes the text of an event as it is stored. Numbers begin at 1. `previous_hash` is NULL for the first event. */
void sr_event_write(sr_event_text_t *written, const sr_event_t *event, int number, const char *previous_hash,
                    apr_pool_t *pool);
/* Puts personal values (sr_event_text_t, or null) back into an event, and adds their "salts": {"<path>": salt}. A
 * drawing is only shown by its SHA-256. */
void sr_event_reveal(json_t *event, const json_t *personal, apr_pool_t *pool);
/* Returns the drawing of a signature, which is stored beside the event "signed", or NULL. */
const char *sr_event_drawing(const json_t *personal);
/* Returns what is wrong with the hash or the commitments of a stored event, or NULL. `personal` may be NULL. `erased`:
 * its submission was deleted, so personal values may be missing. */
const char *sr_event_fault(const json_t *event, const json_t *personal, bool erased, apr_pool_t *pool);
#define SR_LINK_SHOWN 8 /* characters of a signer's uuid that an export has, as logs do */

/* A person who gets a copy of the events of one submission. */
typedef struct sr_event_reader_t {
    const json_t *links; /* an array of uuids: the signers (also replaced ones) and viewers that they are */
    bool caller;         /* they have sent the submission */
} sr_event_reader_t;
/* Puts only those personal values into an event that are about the reader, and the names of documents. Salts are as
 * above. Other values of an event from before there were commitments are removed. The uuids of all signers and viewers
 * are secret, and keep 8 characters. */
void sr_event_disclose(json_t *event, const json_t *personal, const sr_event_reader_t *reader, apr_pool_t *pool);
/* Reads [[event, personal values or null], …] (SR_OP_AUDIT_GET). *events is an array of events as they are shown. */
sr_error_t *sr_events_read(json_t **events, const char *rows, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- review.c
 * Compares all that is stored of a submission with its events. `stored` is a body of SR_OP_ADMIN_EVIDENCE_GET, `calls`
 * of SR_OP_ADMIN_EVIDENCE_CALLS. Returns an array of texts, empty if everything agrees. New reference. */
json_t *sr_evidence_faults(const json_t *stored, const json_t *calls, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- language.c
 * The languages of the signing page and of mail to signers (languages.def).
 */
typedef struct sr_language_t {
    const char *code; /* names its catalogue and the versions of its consent text: "pt" */
    const char *tag;  /* its tag in HTML (BCP 47): "pt-PT" */
    const char *name; /* its name in the language itself */
} sr_language_t;
int sr_language_count(void);
const sr_language_t *sr_language(int number); /* from 0, in the order in which the page offers them */
/* Returns the language for a tag (lookup of RFC 4647: "de-AT" gives "de"), or NULL. */
const sr_language_t *sr_language_of(const char *tag);
/* Returns the language that an Accept-Language header (or NULL) prefers; English if it accepts none of them. */
const sr_language_t *sr_language_accepted(const char *header, apr_pool_t *pool);
#define SR_LOCALE_MAX 64 /* characters */
/* Returns true if a text has the form of a language tag (BCP 47), of any language. */
bool sr_locale_is_valid(const char *text);
/* Sets *texts to the catalogue of a language: {"dir", "page", "script", "mail", …}. It is released with the pool.
 * Errors: SR_EINTERNAL. */
sr_error_t *sr_language_texts(json_t **texts, const sr_language_t *language, apr_pool_t *pool);
/* Returns the plural categories of a language, for sr_template_t. */
const char *sr_language_plurals(const sr_language_t *language);

/* ---------------------------------------------------------------------------------------------- consent.c */
/* The text that a signer must accept before signing. Its version, which names the language in which it was shown, is
 * part of the evidence. */
typedef struct sr_consent_t {
    const char *language, *version, *text;
} sr_consent_t;
/* Returns the current text in a language, or the English one if there is none. */
const sr_consent_t *sr_consent_of_language(const char *language);
/* Returns the text of a version, or NULL if there was never such a version. */
const sr_consent_t *sr_consent_of_version(const char *version);
/* Returns the language of most signers if that is not English, else English. The language of a signer is that of
 * their locale, else that of the text that they accepted. */
const sr_language_t *sr_signers_language(const sr_submission_t *submission);

/* -------------------------------------------------------------------------------------------- signature.c
 * The signature that a signer sends.
 */
typedef struct sr_signature_t {
    const char *kind; /* "drawn", "typed", "uploaded" */
    const sr_ink_t *ink;
    const char *text;
    const void *image;
    apr_size_t image_size;
} sr_signature_t;
/* Parses {"type":"typed","text":…}, {"type":"drawn","width","height","strokes"} or
 * {"type":"uploaded","image":"data:image/…"}. The texts stay in `sent`. Errors: SR_EBADREQUEST. */
sr_error_t *sr_signature_parse(sr_signature_t *signature, const json_t *sent, apr_pool_t *pool);
sr_error_t *sr_signature_typed(sr_signature_t *signature, const char *text, apr_pool_t *pool);
#define SR_SIGNATURE_IMAGE_MAX ((apr_size_t)1 << 20)
/* Makes a signature of an image. The bytes are not copied. Errors: SR_EBADREQUEST if there are too many. */
sr_error_t *sr_signature_uploaded(sr_signature_t *signature, const void *image, apr_size_t size, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- caption_text.c
 * The caption, a small line under a signature: "Ann Lee · 22 November 2026 · 4b68a1f0".
 */
/* Reads a list of the words "name", "date" and "id", each at most once, separated by commas. *caption gets the list
 * without spaces, or "" for a blank text. Returns false for any other text. */
bool sr_caption_read(const char **caption, const char *text, apr_pool_t *pool);
#define SR_CAPTION_RULE "caption must be name, date or id, or several of them separated by commas"
typedef struct sr_captions_t {
    const sr_signer_t *signer;
    const sr_language_t *language; /* the language of a signer without a locale */
    const sr_client_t *client;     /* the client whose time zone is used */
    apr_time_t when;
} sr_captions_t;
/* Returns the captions of a signer for sr_pdf_signature_t, released with the pool, or NULL if no field has one:
 * {"texts":["…"],"fields":[0,-1,…]}. Each text occurs once. "fields" has an entry for each signature field in
 * `document` (none if it is NULL): the index of its text, or -1. */
const json_t *sr_captions_json(const sr_captions_t *captions, const char *document, apr_pool_t *pool);
/* Returns that index for one field of a signer. */
int sr_caption_number(const sr_signer_t *signer, const sr_field_t *field, apr_pool_t *pool);

/* Return the date of captions->when in words, as captions have it, and as "2026-11-22". */
const char *sr_captions_date(const sr_captions_t *captions, apr_pool_t *pool);
const char *sr_captions_day(const sr_captions_t *captions, apr_pool_t *pool);
/* Returns a date such as "22 November 2026" in the form of a language. `offset` is that of the time zone from UTC, in
 * minutes. */
const char *sr_date_text(const sr_language_t *language, apr_time_t when, int offset, apr_pool_t *pool);
/* Returns a time such as "17 May 2030, 20:30 (CEST, UTC+02:00)", in the time zone of this server. */
const char *sr_moment_text(const sr_language_t *language, apr_time_t when, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------- completion.c */
typedef struct sr_zone_t {
    const char *name;
    int offset; /* its offset from UTC in minutes */
} sr_zone_t;
sr_zone_t sr_zone_of_server(apr_time_t when, apr_pool_t *pool);
typedef struct sr_completion_t {
    const sr_submission_t *submission; /* all its signers have signed */
    const json_t
        *events; /* its audit trail, an array; events_hash is the hash of the last event, which covers all before it */
    const char *events_hash;
    sr_environment_t environment;
    const char *organization; /* the organisation of the requester; or NULL */
    const char *service;      /* the name of the service, for the text beside the seal; or NULL */
    const char *seal_sha256;  /* the SHA-256 of the certificate that seals it; or NULL */
    const char *verify_url;   /* the URL of the public verification page; or NULL */
    apr_time_t time;          /* the time of the certificate */
    const char *language;     /* the language tag of `texts` */
    bool rtl;                 /* the language is written from right to left */
    const json_t *texts;      /* the texts "certificate" of the catalogue */
    const json_t *english;    /* the same texts in English; NULL: the certificate is in one language */
} sr_completion_t;
/* Returns the content of the certificate of completion, as the request that src/helper/pdf.h (compose.c) describes. New
 * reference. */
json_t *sr_completion_certificate(const sr_completion_t *completion, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- webhook.c
 * The events of a submission that webhooks report (docs/api.md, Webhooks).
 */
typedef struct sr_webhook_t {
    const char *kind; /* "sent" and "completed" are events of the submission, "signed" and "refused" of one signer */
    apr_time_t at;
    const char *submission, *signer; /* uuids; signer is NULL for "sent" and "completed" */
    sr_environment_t environment;
    const char *external_id; /* for events of a signer: what the caller has added to the submission, or NULL */
    const json_t *metadata;
} sr_webhook_t;

/* Returns the event in the form of the store (store.h, "webhook"), with a new event id. `text` is the object after
 * the change, from sr_submission_render or sr_signer_render. Links begin with `base_url`. New reference. */
json_t *sr_webhook_row(const sr_webhook_t *webhook, const char *text, const char *base_url, apr_pool_t *pool);
/* Returns the body of a call that tries a URL: {"event":"test", "submissionId":null, "eventId", "environment",
 * "createdAt"}. New reference. */
json_t *sr_webhook_test(sr_environment_t environment, const char *event_id, apr_time_t now);
#define SR_WEBHOOK_URL_MAX 255 /* docs/api.md, Limits */
/* Returns the reason why a URL cannot be stored as a webhook URL, or NULL if it can. Whether its address may be
 * called is decided when the connection is made. */
const char *sr_webhook_url_fault(const char *url, apr_pool_t *pool);
/* The result of a webhook call or an invitation, and its form in the API. New reference. */
typedef struct sr_delivery_t {
    const char *uuid, *event_id, *event, *submission, *token, *url;
    const bool *success;       /* NULL: it has not ended */
    const apr_int64_t *status; /* or NULL */
    const char *error;         /* or NULL */
    apr_time_t created_at, ended_at;
} sr_delivery_t;
json_t *sr_delivery_representation(const sr_delivery_t *delivery);
/* Returns the invitation of one signer by mail, in the same form as sr_webhook_row and with "url". Its body is
 * {"email", "signer", "sender" (names), "address" (of the sender), "organization", "environment", "name" (of the
 * submission), "documents": [{"name", "count" (of pages)}], "link", "locale"?, "expiresAt"?, "theme"?, "message"?,
 * "replyTo"?, "signOnly"?}. No link if `base_url` is NULL. `theme`: of sr_service_theme, or NULL. New reference. */
typedef struct sr_inviter_t {
    const char *organization; /* or NULL */
    sr_environment_t environment;
    const char *base_url; /* or NULL */
    json_t *theme;
} sr_inviter_t;
json_t *sr_invitation_row(const sr_submission_t *submission, const sr_signer_t *signer, const sr_inviter_t *inviter,
                          apr_pool_t *pool);
/* The same for a reminder. Its body also has "reminds" (the uuid of the signer). */
json_t *sr_reminder_row(const sr_submission_t *submission, const sr_signer_t *signer, const sr_inviter_t *inviter,
                        apr_pool_t *pool);

#include "model/token.h"
#include "model/authentication.h"
#include "model/submission.h"

#endif
