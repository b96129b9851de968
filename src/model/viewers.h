/* SPDX-License-Identifier: Apache-2.0 */
/* viewers.h: people who see a submission by a link and never sign it: viewers, and recipients of copies. Part of
 * model.h. */
#ifndef SR_MODEL_VIEWERS_H
#define SR_MODEL_VIEWERS_H

#include "model/options.h"

/* A person who sees the submission by a link and never signs it. */
typedef struct sr_viewer_t {
    const char *uuid;                          /* the secret of the link */
    bool is_copy;                              /* a recipient of a copy (copies.to), else one of `viewers` */
    bool when_completed;                       /* the link shows nothing before the submission is completed */
    const char *firstname, *lastname, *email;  /* a recipient of a copy has only an address */
    apr_time_t sent_at, opened_at, revoked_at; /* sent_at: since when the link is in use; of a copy, when it was mailed
                                                  last. 0: not yet */
} sr_viewer_t;

#define SR_VIEWERS_MAX 20
#define SR_COPY_LIFETIME apr_time_from_sec(APR_INT64_C(90) * 24 * 3600) /* of a link in a copy */

/* Reads the part `viewers` of a form (sr_options_form_t), and adds the recipients of copies who are no signers.
 * *viewers (sr_viewer_t) is NULL if there are none. They have new uuids. `sender` is the address of the caller. Errors:
 * SR_EBADREQUEST. */
sr_error_t *sr_viewers_read(const apr_array_header_t **viewers, const sr_sent_t *form, const sr_options_t *options,
                            const char *sender, apr_pool_t *pool);
/* Reads the viewers of a submission row. *viewers is NULL if it has none. Errors: SR_EINTERNAL. */
sr_error_t *sr_viewers_parse(const apr_array_header_t **viewers, const json_t *rows, apr_pool_t *pool);
/* Returns the path of a viewer's link, relative to the base URL. */
const char *sr_viewer_path(const sr_viewer_t *viewer, apr_pool_t *pool);
/* Returns the viewer with this uuid, or NULL. */
sr_viewer_t *sr_submission_viewer(const sr_submission_t *submission, const char *uuid);
/* Returns true if the link of a viewer shows the submission at a time, by the database's clock. */
bool sr_viewer_may_see(const sr_viewer_t *viewer, const sr_submission_t *submission, apr_time_t now);

/* --------------------------------------------------------------------------------------- recipients.c
 * Who gets a mail with a link that shows a submission.
 */
typedef struct sr_recipient_t {
    const char *email, *name; /* name: or NULL */
    const char *locale;       /* or NULL: English */
    const char *path;         /* of their link */
    const char *viewer;       /* the uuid of the viewer whose link it is; NULL: it is a signer's */
} sr_recipient_t;

/* Returns the language of people who only look: that which most signers have, or English. consent.c */
const sr_language_t *sr_viewers_language(const sr_submission_t *submission);
/* Returns a signer, who must have an email, as a recipient. */
sr_recipient_t sr_signer_recipient(const sr_submission_t *submission, const sr_signer_t *signer, apr_pool_t *pool);
/* Returns the recipients of copies (sr_recipient_t), each address once: the signers, the sender and others, as `copies`
 * says, but those whose links were closed. */
apr_array_header_t *sr_copies_recipients(const sr_submission_t *submission, apr_pool_t *pool);
/* Returns the viewers who get a mail, now that it is sent or completed. */
apr_array_header_t *sr_viewers_recipients(const sr_submission_t *submission, bool completed, apr_pool_t *pool);
/* Returns NULL if copies can be mailed again. Errors: SR_ECONFLICT with the reason; SR_ETOOMANY within 10 minutes. */
sr_error_t *sr_copies_may_repeat(const sr_submission_t *submission, apr_time_t now, apr_pool_t *pool);
/* Returns the mail in the form of sr_invitation_row, of the kind "copy" or "view". Its body also has "shows" (the uuid
 * of the submission), "viewer"?, and for a copy "copies" (true), and "attach" (true) and "folder" (the uuid of the
 * folder of the documents) if the files are attached. New reference. */
json_t *sr_copy_row(const sr_submission_t *submission, const sr_recipient_t *recipient, const sr_inviter_t *inviter,
                    const char *folder, apr_pool_t *pool);
json_t *sr_view_row(const sr_submission_t *submission, const sr_recipient_t *recipient, const sr_inviter_t *inviter,
                    apr_pool_t *pool);

/* A file of a mail. */
typedef struct sr_attachment_t {
    const char *name;
    int descriptor; /* read-only */
    apr_off_t size;
} sr_attachment_t;
#define SR_ATTACHED_MAX ((apr_off_t)10 << 20) /* bytes of all files of a mail */

#endif
