/* SPDX-License-Identifier: Apache-2.0 */
/* creation.h: for create.c, and for the sending of a draft. */
#ifndef SR_SERVICE_SUBMISSIONS_CREATION_H
#define SR_SERVICE_SUBMISSIONS_CREATION_H

#include "service/private.h"

/* Returns the SHA-256 of the rewritten document, or NULL. */
const char *sr_creation_rewritten(const sr_document_state_t *document);
/* Returns what was appended to documents before anybody signs (sr_revision_arg_t), or NULL. */
apr_array_header_t *sr_creation_revisions(const sr_submission_t *submission, apr_pool_t *pool);
/* Returns the detail of the event: who is asked to sign which documents. `token`: the uuid of the caller's, or NULL. */
json_t *sr_creation_detail(const sr_submission_t *submission, const char *token, bool from_template, apr_pool_t *pool);
/* Returns the addresses (const char *) of all mails to be counted: invitations, and then *others for copies and to
 * viewers. */
apr_array_header_t *sr_creation_addresses(int *others, const sr_submission_t *submission, apr_pool_t *pool);

#endif
