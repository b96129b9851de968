/* SPDX-License-Identifier: Apache-2.0 */
/* options.h: what surrounds a submission: the sender's words, what signers may do, and who gets a copy. Part
 * of model.h. viewers.h has the people who may look. */
#ifndef SR_MODEL_OPTIONS_H
#define SR_MODEL_OPTIONS_H

#include "model/model.h"

typedef enum sr_refusal_rule_t {
    SR_REFUSAL_ALLOWED, /* signers may decline, and may give a reason */
    SR_REFUSAL_REASON,  /* they must give a reason */
    SR_REFUSAL_NEVER    /* they cannot decline */
} sr_refusal_rule_t;

typedef struct sr_options_t {
    const char *subject, *text; /* the sender's words: plain text in NFC, its lines end with \n; or NULL */
    const char *reply_to;       /* the address for answers to mails, or NULL */
    const json_t *types;        /* the types of signatures that signers may use, ["typed", …]; NULL: all */
    sr_refusal_rule_t refusal;
    bool copies;      /* copies are mailed when it is completed */
    bool attach;      /* with the files, if they are not too large */
    const json_t *to; /* as it was sent: "signers", "sender" and addresses */
} sr_options_t;

/* The parts of the form, as they were sent; NULL or "": not sent. */
typedef struct sr_sent_t {
    const char *text;
    apr_size_t length;
} sr_sent_t;
typedef struct sr_options_form_t {
    sr_sent_t message, refusal, copies, viewers; /* JSON */
    const char *reply_to, *signature_types;
} sr_options_form_t;

/* Reads the parts of a form but `viewers`. Errors: SR_EBADREQUEST, which names the part. */
sr_error_t *sr_options_read(sr_options_t *options, const sr_options_form_t *form, apr_pool_t *pool);
/* Returns the object that the database stores and answers show; NULL: no part was sent. It belongs to the pool. */
json_t *sr_options_json(const sr_options_t *options, apr_pool_t *pool);
/* Reads that object; NULL or JSON null gives none of them. Returns false if it is spoilt. */
bool sr_options_parse(sr_options_t *options, const json_t *stored);
#define SR_COPIES_MAX 10 /* recipients */

/* Returns true if signers may use a type of signature ("typed"). */
bool sr_options_allow(const sr_options_t *options, const char *type);
/* Errors: SR_EBADREQUEST if signers must not use the type for `what`, their "signature" or "initials". */
sr_error_t *sr_options_check_type(const sr_options_t *options, const char *what, const char *type, apr_pool_t *pool);

#endif
