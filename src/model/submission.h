/* SPDX-License-Identifier: Apache-2.0 */
/* submission.h: a submission as the store's columns have it, what its signers do to it, and the one place that knows
 * how the API shows it. Part of model.h.
 *
 * Sections: fields.c · record.c · submission.c · signing.c
 */
#ifndef SR_MODEL_SUBMISSION_H
#define SR_MODEL_SUBMISSION_H

#include "model/model.h"

/* ----------------------------------------------------------------------------------------------- fields.c */
/* One signer's fields as a JSON array: what the store keeps with the signer, and the representation shows. New
 * reference. */
json_t *sr_signer_fields_json(const sr_signer_t *signer);
/* Reads them again. Errors: SR_EINTERNAL. */
sr_error_t *sr_signer_fields_parse(sr_signer_t *signer, const json_t *fields, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- record.c
 * Typed records, read from what the store's operations give of its columns.
 */
typedef struct sr_revised_t { /* what a signer appended to a document */
    const char *sha256;       /* of the file with what was appended */
    apr_off_t size;
    const char *whole_sha256; /* of the document with it */
    apr_off_t whole_size;
    const char *key; /* of the blob with what was appended */
} sr_revised_t;

typedef struct sr_document_state_t {
    const char *uuid, *name;
    int pages;
    const char *sha256; /* of the upload */
    apr_off_t size;
    const char *base_sha256; /* of what is sealed: the upload, or that rewritten */
    apr_off_t base_size;
    const char *key, *base_key;    /* of the blobs of both */
    unsigned int warnings;         /* a set of sr_warning_t */
    apr_array_header_t *revisions; /* sr_revised_t */
    sr_cipher_t cipher;            /* of a document that was signed now and is encrypted; else its method is 0 */
    const sr_pages_t *boxes;       /* of its pages, or NULL where nobody asked */
} sr_document_state_t;

struct sr_submission_t {
    const char *uuid;
    const char *name;
    const char *template_uuid;
    bool skip_intro, send_email;
    sr_submission_state_t state;
    apr_int64_t access_epoch; /* raised by what changes who may see what */
    apr_time_t created_at, updated_at;
    sr_person_t created_by;
    const apr_array_header_t *documents; /* sr_document_state_t */
    const apr_array_header_t *signers;   /* sr_signer_t */
    const json_t *warnings;              /* texts of sr_remarks_json, or NULL */
    const char *certificate_sha256;      /* of completion, or NULL */
    const char *certificate_key;         /* of its blob, as it was read */
    apr_off_t certificate_size;
};

/* Reads a submission row of the store (store.h). Errors: SR_EINTERNAL. */
sr_error_t *sr_submission_parse(sr_submission_t *submission, const json_t *row, apr_pool_t *pool);
/* Reads one document row of the store. Errors: SR_EINTERNAL. */
sr_error_t *sr_document_state_parse(sr_document_state_t *document, const json_t *row, apr_pool_t *pool);
/* Documents as they are when they are uploaded: sr_document_state_t of sr_document_t. */
apr_array_header_t *sr_document_states(const apr_array_header_t *documents, apr_pool_t *pool);
/* SHA-256 and size of the document as it stands. */
const char *sr_document_state_sha256(const sr_document_state_t *document);
apr_off_t sr_document_state_size(const sr_document_state_t *document);
/* The document as it stands: its blobs (const char *, keys), to be read one after the other. */
apr_array_header_t *sr_document_state_files(const sr_document_state_t *document, apr_pool_t *pool);
/* The signer of that uuid, or NULL. */
sr_signer_t *sr_submission_signer(const sr_submission_t *submission, const char *uuid);
/* Whether all have signed. */
bool sr_submission_all_signed(const sr_submission_t *submission);
/* Whether a signer has a field on a document. */
bool sr_signer_has_field(const sr_signer_t *signer, const sr_document_state_t *document);
/* "Ann Lee" */
const char *sr_person_name(const char *firstname, const char *lastname, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------- submission.c
 * What GET answers: the representation, rendered from the records and stored beside them, so that reading is a copy.
 * Where the base URL belongs, it has the byte SR_BASE_URL_PLACEHOLDER, which JSON text cannot contain otherwise. Only
 * submission.c, fields.c and signing_representation.c know the names of the API's members.
 */
/* Raise it when the representation of what is stored changes: one of an older version is rendered again when it is
 * read (src/service/submissions.c). */
#define SR_REPRESENTATION_VERSION 1
const char *sr_submission_render(const sr_submission_t *submission, apr_pool_t *pool);
/* One signer of it, as the object that it has for them. */
const char *sr_signer_render(const sr_submission_t *submission, const sr_signer_t *signer, apr_pool_t *pool);
/* The uuid in a representation of whatever version, or NULL when it is none. */
const char *sr_representation_uuid(const char *representation, apr_pool_t *pool);
/* What `q=` searches: name, signers' names and emails, folded. */
const char *sr_submission_search_text(const sr_submission_t *submission, apr_pool_t *pool);
/* A signer's link, below the base URL. */
const char *sr_signature_path(const sr_signer_t *signer, bool skip_intro, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- signing.c
 * A submission as one of its signers meets it, and what they may do in it.
 */
typedef enum sr_signing_state_t {
    SR_SIGNING_SENT,
    SR_SIGNING_OPENED,
    SR_SIGNING_COMPLETED,
    SR_SIGNING_REFUSED, /* by them: their status stays "opened" */
    SR_SIGNING_CLOSED,  /* another has refused before they signed: there is nothing left for them to do */
    SR_SIGNING_STATE_COUNT
} sr_signing_state_t;

typedef struct sr_signing_t {
    sr_submission_t submission;
    sr_signer_t *signer; /* the one of its signers whose link it is; the uuid is the secret of that link */
    const char *organization, *organization_uuid;
    sr_environment_t environment;
    int events; /* how many there are, and the hash of the last: what a change says it has seen */
    const char *events_hash;
    const char *version;              /* of all that is read here, as the store compares it */
    bool tell_signed, tell_completed; /* there are webhook URLs for that */
    const char *base_url;             /* which the creator used */
} sr_signing_t;

/* Reads the row of SR_OP_SIGNING_GET (store.h). Errors: SR_EINTERNAL. */
sr_error_t *sr_signing_parse(sr_signing_t **signing, const char *row, const char *signer, apr_pool_t *pool);
sr_signing_state_t sr_signing_state(const sr_signing_t *signing);
const char *sr_signing_state_name(sr_signing_state_t state); /* "sent", "opened", "completed", "refused", "closed" */
/* Whether the signer may do it. Errors: SR_ECONFLICT, in words for the signer. */
sr_error_t *sr_signing_may(const sr_signing_t *signing, sr_action_t action, apr_pool_t *pool);
/* The document of that uuid, or NULL. */
sr_document_state_t *sr_signing_document(const sr_signing_t *signing, const char *uuid);
/* For whom a submission was made, in words that a signature carries: "Example Ltd, submission <uuid>". */
const char *sr_signing_contact(const sr_signing_t *signing, apr_pool_t *pool);
/* Why it is signed, as a signature carries it: "Signed electronically: Lease", of the submission's name. */
const char *sr_signing_reason(const sr_signing_t *signing, const char *what, apr_pool_t *pool);
/* A name for a signer that is no secret: what their fields in the PDF are called. */
const char *sr_signing_alias(const char *signer, apr_pool_t *pool);

/* Actions that sr_signing_may has allowed. */
void sr_signing_open(sr_signing_t *signing, apr_time_t when);
void sr_signing_complete(sr_signing_t *signing, apr_time_t when, const sr_client_t *client, const char *kind,
                         const char *consent);
void sr_signing_refuse(sr_signing_t *signing, apr_time_t when, const char *reason);
/* After the last signature: the certificate of completion. */
void sr_signing_certify(sr_signing_t *signing, const char *sha256, apr_off_t size);
/* What a signer is told: all they may know, and no secret of another's. New reference. `link` is the path or URL of
 * their link, that others begin with. */
json_t *sr_signing_representation(const sr_signing_t *signing, const sr_consent_t *consent, const char *link,
                                  apr_pool_t *pool);

#endif
