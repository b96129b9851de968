/* SPDX-License-Identifier: Apache-2.0 */
/* submission.h: a submission as the database stores it, what its signers do with it, and its form in the API. Part of
 * model.h.
 *
 * Sections: fields.c · roles.c · record.c · submission.c · signing.c · life.c · reminders.c */
#ifndef SR_MODEL_SUBMISSION_H
#define SR_MODEL_SUBMISSION_H

#include "model/feed.h"
#include "model/model.h"
#include "model/options.h"
#include "model/viewers.h"

/* ----------------------------------------------------------------------------------------------- fields.c */
/* Returns the fields of a signer as a JSON array. The database stores it with the signer, and the API shows it. New
 * reference. */
json_t *sr_signer_fields_json(const sr_signer_t *signer);
/* Reads that array. Errors: SR_EINTERNAL. */
sr_error_t *sr_signer_fields_parse(sr_signer_t *signer, const json_t *fields, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- signers.c */
/* Reads the fields of the signers of a draft (sr_signer_t), as sr_signers_parse does. `text`: [{"fields":[…]},…] as it
 * was sent, in which fields may also be as they are shown. NULL: the fields that they have are checked again. Errors:
 * SR_EBADREQUEST. */
sr_error_t *sr_signers_place(apr_array_header_t *signers, const char *text, apr_size_t length,
                             const sr_signers_rules_t *rules, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ roles.c */
/* Sets *list to the fields of a signer, as they were sent (`signer` is that JSON object), or, with `roles`,
 * those that the signer with this number, from 1, has in the template, with the values that were sent for them. `roles`
 * has an array of fields (sr_signer_fields_json) for each signer. Returns the fault, or NULL. */
const char *sr_role_fields(const json_t **list, const json_t *roles, int number, const json_t *signer,
                           apr_pool_t *pool);
/* A template: the documents of a submission, and the fields of its signers as they were sent. */
typedef struct sr_template_facts_t {
    const char *uuid, *name;
    apr_time_t created_at, used_at; /* used_at: when a submission was made from it last; 0: never */
    int signers, documents;         /* how many */
} sr_template_facts_t;
/* Returns it as lists show it. New reference. */
json_t *sr_template_json(const sr_template_facts_t *facts);
/* Adds its documents (sr_document_state_t), and for each signer the fields, to that object. */
void sr_template_add_content(json_t *object, const apr_array_header_t *documents, const json_t *roles);

/* ----------------------------------------------------------------------------------------------- record.c
 * Typed records, read from the rows that the operations of the store return. Their texts belong to the JSON values of
 * the rows.
 */
typedef struct sr_revised_t { /* an incremental update that a signer appended to a document */
    const char *sha256;       /* of the file that holds the appended bytes */
    apr_off_t size;
    const char *whole_sha256; /* of the whole document, up to and including this update */
    apr_off_t whole_size;
    const char *key; /* of the blob with what was appended */
    bool archives;   /* the service has appended it, and no signer: fields with values before the first signature, or
                        proofs and a document timestamp after the last one */
} sr_revised_t;

typedef struct sr_document_state_t {
    const char *uuid, *name;
    int pages;
    const char *sha256; /* of the uploaded document */
    apr_off_t size;
    const char *base_sha256; /* of the document that is sealed: the upload, or its rewritten form */
    apr_off_t base_size;
    const char *key, *base_key;    /* of the blobs of both */
    unsigned int warnings;         /* a set of sr_warning_t */
    apr_array_header_t *revisions; /* sr_revised_t */
    const sr_pages_t *boxes;       /* its page boxes; NULL if the caller did not ask for them */
} sr_document_state_t;

typedef struct sr_reminders_t {          /* automatic reminders (reminders.c) */
    const char *after_text, *every_text; /* as they were sent */
    apr_interval_time_t after, every;
    int most;           /* 1 to 5; 0: there are none */
    const json_t *mail; /* what the service has stored with them, or NULL */
} sr_reminders_t;

struct sr_submission_t {
    const char *uuid;
    const char *name;
    const char *template_uuid;
    bool skip_intro, send_email;
    sr_submission_state_t state;
    apr_int64_t access_epoch; /* raised by each change of who may see what */
    apr_time_t created_at, updated_at;
    sr_person_t created_by;
    const apr_array_header_t *documents; /* sr_document_state_t */
    const apr_array_header_t *signers;   /* sr_signer_t */
    const json_t *warnings;              /* the texts of sr_remarks_json, or NULL */
    const char *certificate_sha256;      /* of the certificate of completion, or NULL */
    const char *certificate_key;         /* of its blob, as it was read */
    apr_off_t certificate_size;
    apr_time_t closed_at;     /* when it was completed, refused, cancelled or expired; 0: it is open */
    apr_time_t expires_at;    /* the deadline, by the database's clock; 0: none */
    bool late;                /* it is open, and its deadline was over when a transition read it (SR_OP_SIGNING_GET) */
    apr_time_t stamped_until; /* when the certificate of the first of its document timestamps ends; 0: it has none */
    apr_time_t held_at;       /* since when it is under legal hold; 0: it is not */
    apr_time_t copied_at;     /* when copies were mailed last; 0: never */
    apr_time_t draft_until;   /* when a draft is deleted; 0: it was never a draft */
    const char *placement;    /* the uuid of the link where the fields of a draft are placed, or NULL */
    apr_time_t placement_until; /* when that link ends */
    apr_int64_t saves;          /* how often fields or links of the draft were changed */
    const char *cancel_reason;  /* or NULL */
    const char *external_id;    /* the caller's own name for it, or NULL */
    const char *redirect_url;   /* where the page leads after signing or refusing, or NULL */
    const json_t *metadata;     /* an object of the caller, or NULL */
    sr_reminders_t reminders;
    sr_options_t options;
    const apr_array_header_t *viewers; /* sr_viewer_t; NULL: there are none */
};

/* Reads a submission row of the store (store.h). Errors: SR_EINTERNAL. */
sr_error_t *sr_submission_parse(sr_submission_t *submission, const json_t *row, apr_pool_t *pool);
/* Reads one document row of the store. Errors: SR_EINTERNAL. */
sr_error_t *sr_document_state_parse(sr_document_state_t *document, const json_t *row, apr_pool_t *pool);
/* Returns true if a signer has signed the document. */
bool sr_document_state_is_signed(const sr_document_state_t *document);
/* Returns the states (sr_document_state_t) of uploaded documents (sr_document_t). */
apr_array_header_t *sr_document_states(const apr_array_header_t *documents, apr_pool_t *pool);
/* Return the SHA-256 and the size of the document in its current revision. */
const char *sr_document_state_sha256(const sr_document_state_t *document);
apr_off_t sr_document_state_size(const sr_document_state_t *document);
/* Returns the keys (const char *) of the blobs that, joined in this order, are the document in its current revision. */
apr_array_header_t *sr_document_state_files(const sr_document_state_t *document, apr_pool_t *pool);
/* Returns the request number: the first digits of the submission's uuid, by which people name it to each other. */
const char *sr_submission_number(const char *uuid, apr_pool_t *pool);
/* Returns the document with this name, or NULL. */
const sr_document_state_t *sr_submission_document(const sr_submission_t *submission, const char *name);
/* Returns the signer with this uuid, or NULL. */
sr_signer_t *sr_submission_signer(const sr_submission_t *submission, const char *uuid);
/* problems.c: returns what keeps a draft from being sent, [{"signer" (from 1)|null,"code","message"},…]. The codes are
 * "signature" (the signer has none), "document" (they have none in a document in which they have a field with a value)
 * and "deadline" (it is over). New reference. */
json_t *sr_submission_problems(const sr_submission_t *submission, apr_time_t now, apr_pool_t *pool);
/* Returns true if all signers have signed. Replaced signers do not count. */
bool sr_submission_all_signed(const sr_submission_t *submission);
/* Returns true if a signer has a field in a document. */
bool sr_signer_has_field(const sr_signer_t *signer, const sr_document_state_t *document);
/* Returns the first letters of both parts of a name, which may be NULL: "AL". */
const char *sr_person_initials(const char *firstname, const char *lastname, apr_pool_t *pool);
/* Returns a name such as "Ann Lee". Both parts may be NULL. */
const char *sr_person_name(const char *firstname, const char *lastname, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------- submission.c
 * The representation of a submission: the JSON text that GET returns. It is rendered from the records and stored
 * beside them, so that a GET only copies it. Where the base URL belongs, the text has the byte
 * SR_BASE_URL_PLACEHOLDER, which JSON text cannot contain otherwise. Only submission.c, fields.c and
 * signing_representation.c know the names of the API's members: a new member is added there.
 */
/* The version of representations. Raise it when the representation of the same records changes. A stored
 * representation of an older version is rendered again when it is read (src/service/submissions/submissions.c). */
#define SR_REPRESENTATION_VERSION 1
/* Returns the tag of the present representation, as the store makes it (TAG). `events_hash` is of the last event. */
const char *sr_representation_tag(const char *events_hash, apr_int64_t saves, apr_pool_t *pool);
/* Its status, deadline and the like are shown only if an extension of the contract was used: a caller of the contract
 * gets what the contract shows, and no more. In a preview, uuids and times are NULL and 0, and links are null. */
const char *sr_submission_render(const sr_submission_t *submission, apr_pool_t *pool);
/* Returns one signer in the form that they have in the representation. */
const char *sr_signer_render(const sr_submission_t *submission, const sr_signer_t *signer, apr_pool_t *pool);
/* Returns the link of a draft (uuid), and when it ends, in the form of the representation. */
const char *sr_placement_render(const char *placement, apr_time_t until, apr_pool_t *pool);
/* Returns the uuid in a representation of any version, or NULL if there is none. */
const char *sr_representation_uuid(const char *representation, apr_pool_t *pool);
/* Returns the text that `q=` searches: the name of the submission and the names and emails of its signers,
 * case-folded. */
const char *sr_submission_search_text(const sr_submission_t *submission, apr_pool_t *pool);
/* Returns a signer's link, relative to the base URL. NULL: the signer has no uuid. */
const char *sr_signature_path(const sr_signer_t *signer, bool skip_intro, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- signing.c
 * A submission from the view of one of its signers, and what that signer may do.
 */
typedef enum sr_signing_state_t {
    SR_SIGNING_SENT,
    SR_SIGNING_OPENED,
    SR_SIGNING_COMPLETED,
    SR_SIGNING_REFUSED, /* this signer has refused; their status stays "opened" */
    SR_SIGNING_CLOSED,  /* another signer has refused, so this signer can do nothing any more */
    SR_SIGNING_WAITING, /* other signers sign before this one */
    SR_SIGNING_CANCELLED,
    SR_SIGNING_EXPIRED,
    SR_SIGNING_STATE_COUNT
} sr_signing_state_t;

typedef struct sr_signing_t {
    sr_submission_t submission;
    sr_signer_t *signer; /* the signer whose link was used; their uuid is the secret of that link. NULL: the caller of
                            the API or the service itself acts, or a viewer looks */
    sr_viewer_t *viewer; /* the viewer whose link was used (viewing.c), or NULL */
    const char *organization, *organization_uuid;
    sr_environment_t environment;
    int events; /* the number of events, and the hash of the last one; a change must name them */
    const char *events_hash;
    const char *version;              /* a version of everything that is read here, which the store compares */
    bool tell_signed, tell_completed; /* the token has a webhook URL for these events */
    const char *base_url;             /* the base URL of the creation */
    apr_time_t clock;                 /* when it was read, by the database's clock */
    bool identified; /* the signer's identity is not checked, or the request has a session of one who has passed */
} sr_signing_t;

/* Reads the row of SR_OP_SIGNING_GET (store.h). `signer` is the uuid of the signer, or NULL. Errors: SR_EINTERNAL. */
sr_error_t *sr_signing_parse(sr_signing_t **signing, const char *row, const char *signer, apr_pool_t *pool);
sr_signing_state_t sr_signing_state(const sr_signing_t *signing);
const char *sr_signing_state_name(sr_signing_state_t state); /* "sent", "opened", … */
/* Returns NULL if the signer may do the action. Errors: SR_ECONFLICT, with a message for the signer. */
sr_error_t *sr_signing_may(const sr_signing_t *signing, sr_action_t action, apr_pool_t *pool);
/* Returns NULL if the signer may see the documents. A signer who is not due yet may not, nor may one who has not signed
 * before the submission was cancelled or expired. Errors: SR_ECONFLICT, SR_EGONE, with a message for the signer. */
sr_error_t *sr_signing_may_see(const sr_signing_t *signing, apr_pool_t *pool);
/* Returns the document with this uuid, or NULL. */
sr_document_state_t *sr_signing_document(const sr_signing_t *signing, const char *uuid);
/* Returns the contact of a signature in a PDF: "Example Ltd, submission <uuid>". The other function splits it again.
 * *uuid is NULL if the text is another one. */
const char *sr_signing_contact(const sr_signing_t *signing, apr_pool_t *pool);
const char *sr_signing_contact_split(const char **uuid, const char *contact, apr_pool_t *pool);
/* Begins the reason of the seal of a certificate of completion. */
#define SR_SIGNING_CERTIFICATE "Certificate of completion"
/* Returns the reason of a signature in a PDF: "Signed electronically: Lease", with `what` and the submission's name. */
const char *sr_signing_reason(const sr_signing_t *signing, const char *what, apr_pool_t *pool);
/* Returns a name for a signer that is not secret. Their fields in the PDF are named by it. A signer who replaces
 * another one has that one's alias, because the fields in the PDF stay as they are. */
const char *sr_signer_alias(const sr_signer_t *signer, apr_pool_t *pool);

/* These functions change the records after sr_signing_may has allowed the action. */
void sr_signing_open(sr_signing_t *signing, apr_time_t when);
void sr_signing_complete(sr_signing_t *signing, apr_time_t when, const sr_client_t *client, const char *kind,
                         const char *consent);
void sr_signing_refuse(sr_signing_t *signing, apr_time_t when, const char *reason);
/* ------------------------------------------------------------------------------------------------- life.c
 * What a creation may say about the life of a submission. A text that is NULL or empty gives nothing. Errors of these
 * functions: SR_EBADREQUEST.
 */
/* Reads a deadline: a date and time with a zone, in the future, within 10 years. */
sr_error_t *sr_deadline_read(apr_time_t *expires_at, const char *text, apr_time_t now, apr_pool_t *pool);
sr_error_t *sr_external_id_read(const char **external_id, const char *text, apr_pool_t *pool);
/* Reads a JSON object of at most 4 kB, which is released with the pool. */
sr_error_t *sr_metadata_read(const json_t **metadata, const char *text, apr_size_t length, apr_pool_t *pool);
/* Returns the origin of a URL (RFC 6454, 6.2) in lower case, or NULL if it is neither https nor http://localhost or
 * http://127.0.0.1, where developers try their programs. */
const char *sr_redirect_origin(const char *url, apr_pool_t *pool);
/* Reads an https URL whose origin is in `allowed` (const char *, "https://example.org"; or NULL). */
sr_error_t *sr_redirect_read(const char **redirect_url, const char *text, const apr_array_header_t *allowed,
                             apr_pool_t *pool);

/* Returns NULL if the action of the caller or the service is possible. Errors: SR_ECONFLICT. */
sr_error_t *sr_submission_may(const sr_submission_t *submission, sr_action_t action, apr_pool_t *pool);
sr_error_t *sr_submission_may_replace(const sr_submission_t *submission, const sr_signer_t *signer, apr_pool_t *pool);
/* These functions change the records. */
void sr_submission_cancel(sr_submission_t *submission, apr_time_t when, const char *reason);
void sr_submission_expire(sr_submission_t *submission, apr_time_t when);
/* Makes the signers due who come next, if those before them have signed. *due gets them (sr_signer_t *). */
void sr_submission_due(sr_submission_t *submission, apr_array_header_t *due, apr_time_t when);
/* Puts a person in the place of a signer: they get a new uuid, and their state is that of a signer who has become due
 * now, or is not due yet. */
void sr_submission_replace(sr_submission_t *submission, sr_signer_t *signer, const sr_signer_t *person, apr_time_t when,
                           apr_pool_t *pool);

/* -------------------------------------------------------------------------------------------- reminders.c */
/* Reads what a creation says about automatic reminders: {"after","every","most"}. A text that is NULL or empty gives
 * none. The texts belong to the pool. Errors: SR_EBADREQUEST. */
sr_error_t *sr_reminders_read(sr_reminders_t *reminders, const char *text, apr_size_t length, bool send_email,
                              apr_pool_t *pool);
/* Returns what was sent, as JSON. New reference. */
json_t *sr_reminders_json(const sr_reminders_t *reminders);
/* Reads the column: the object of sr_reminders_json, with "mail" of the service; NULL or JSON null gives none. Returns
 * false if it is spoilt. */
bool sr_reminders_parse(sr_reminders_t *reminders, const json_t *stored);
/* Returns when the next automatic reminder is due, of a signer or of an open submission; 0: there is none. Only signers
 * who are due are reminded. `after` counts from then on, and `every` from the last reminder of any kind. */
apr_time_t sr_signer_remind_at(const sr_submission_t *submission, const sr_signer_t *signer);
apr_time_t sr_submission_remind_at(const sr_submission_t *submission);
/* Returns NULL if the caller may have the signer reminded. Errors: SR_ECONFLICT with the reason; SR_ETOOMANY within 10
 * minutes after the last reminder. `now` is by the database's clock. */
sr_error_t *sr_submission_may_remind(const sr_submission_t *submission, const sr_signer_t *signer, apr_time_t now,
                                     apr_pool_t *pool);
/* Records a reminder. Only automatic ones count for `most`. */
void sr_signer_remind(sr_signer_t *signer, apr_time_t when, bool automatic);
/* Called after the last signature: completes the submission and sets its certificate of completion. */
void sr_signing_certify(sr_signing_t *signing, const char *sha256, apr_off_t size);
/* Returns the representation for a signer: everything that they may know, without secrets of other signers. `link` is
 * the path or URL of their link. The URLs in it begin with `link`. `terms_url` is the page that is linked beside the
 * consent, or "". New reference. */
json_t *sr_signing_representation(const sr_signing_t *signing, const sr_consent_t *consent, const char *terms_url,
                                  const char *link, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- viewing.c
 * A submission from the view of one of its viewers (signing->viewer).
 */
/* Returns the state of a viewer's link. "viewing" and "completed" show the documents. "waiting" shows them later.
 * "closed" (a signer has refused), "cancelled", "expired" and "ended" do not: a link has ended if it was revoked, or if
 * the time of a copy is over. */
const char *sr_viewing_state(const sr_signing_t *signing);
/* Returns NULL if the viewer may see the documents. Every route of a viewer asks this function. Errors: SR_ECONFLICT,
 * SR_EGONE, with a message for the viewer. */
sr_error_t *sr_viewing_may_see(const sr_signing_t *signing, apr_pool_t *pool);
/* Returns the name of the viewer who caused an event, "" if they have none, or NULL if no viewer did. */
const char *sr_viewer_name(const sr_submission_t *submission, const json_t *event, apr_pool_t *pool);
/* Returns the representation for a viewer. It contains the names and states of signers, and neither their addresses nor
 * their uuids. The URLs in it begin with `link`. New reference. */
json_t *sr_viewing_representation(const sr_signing_t *signing, const char *link, apr_pool_t *pool);

#endif
