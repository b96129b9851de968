/* SPDX-License-Identifier: Apache-2.0 */
/* new.h: the form of a new request. new.c has the handlers.
 *
 * Sections: new_form.c · new_page.c · new_draft.c */
#ifndef SR_DESK_NEW_H
#define SR_DESK_NEW_H

#include "desk/desk.h"

/* One input of the form. An input with a list occurs once in each of its rows, as "<list>-<name>". */
typedef struct sr_desk_input_t {
    const char *name, *list;  /* `list`: "signer", "viewer" or NULL */
    const char *type;         /* of <input>; or "select" or "textarea" */
    const char *label, *hint; /* keys of texts; or NULL */
    int most;                 /* characters that a browser lets enter */
    bool required;
} sr_desk_input_t;
extern const sr_desk_input_t sr_desk_inputs[]; /* ends with a NULL name; the first of a list begins a row */

/* What is wrong with the form. */
typedef struct sr_desk_fault_t {
    const char *list, *input; /* the input; without a list perhaps "file", "signer" or "viewer", or NULL: no input */
    int row;                  /* from 1, or 0: the input has no list */
    const char *message;
    const char *language; /* of the message */
} sr_desk_fault_t;

/* A form. */
typedef struct sr_desk_form_t {
    const char *name;     /* a uuid, which is the Idempotency-Key, too */
    const char *template; /* uuid or NULL */
    json_t *values; /* texts by the name of the input; "signer" and "viewer" are arrays of objects with such texts */
    sr_uploads_t *uploads;
    int files;                /* that were received */
    const char *add, *remove; /* the button that was pressed: "signer", or "signer-2"; or NULL */
    sr_error_t *refused;      /* a file was over a limit; or NULL */
} sr_desk_form_t;

/* Returns the array of the rows of a list. */
json_t *sr_desk_rows(const sr_desk_form_t *form, const char *list);

/* --------------------------------------------------------------------------------------------- new_form.c */
/* Reads a form that was sent, and checks its token before the first file. Errors: SR_EBADREQUEST if it has an input
 * that it cannot have, SR_EFORBIDDEN, SR_ETOOLARGE. */
sr_error_t *sr_desk_new_read(sr_desk_form_t *form, sr_desk_t *desk);

/* --------------------------------------------------------------------------------------------- new_page.c */
/* Sends the page with what was entered. `fault` is NULL, or what is wrong with it. */
sr_error_t *sr_desk_new_show(sr_desk_t *desk, const sr_desk_form_t *form, int status, const sr_desk_fault_t *fault);

/* -------------------------------------------------------------------------------------------- new_draft.c */
/* Makes a draft of the form. A form that was sent before makes no other one. */
sr_error_t *sr_desk_new_draft(const char **uuid, sr_desk_t *desk, const sr_desk_form_t *form);
/* Finds the input that an error is about. */
sr_desk_fault_t sr_desk_new_fault(const sr_error_t *error, apr_pool_t *pool);

#endif
