/* SPDX-License-Identifier: Apache-2.0 */
/* field_types.h: the types of fields, where they are, and what is filled into a field beside a signature. Part of
 * model.h.
 *
 * Sections: field_types.c · anchor.c · adopt.c · resolve.c · entries.c */
#ifndef SR_MODEL_FIELD_TYPES_H
#define SR_MODEL_FIELD_TYPES_H

#include "model/model.h"

#include <apr_hash.h>

typedef struct sr_signer_t sr_signer_t;
typedef struct sr_authentication_t sr_authentication_t;
typedef struct sr_submission_t sr_submission_t;
typedef struct sr_document_t sr_document_t;

/* ------------------------------------------------------------------------------------------------ field_types.c */
/* What a field is in a PDF and on the signing page. */
typedef enum sr_widget_t { SR_WIDGET_SIGNATURE, SR_WIDGET_TEXT, SR_WIDGET_CHECKBOX, SR_WIDGET_CHOICE } sr_widget_t;

typedef enum sr_filler_t {
    SR_FILLER_SEAL,    /* the signature is the value of the field */
    SR_FILLER_PERSON,  /* the caller or the signer enters a value */
    SR_FILLER_SERVICE, /* the service enters the day of the signature */
} sr_filler_t;

typedef struct sr_field_type_t {
    const char *name; /* "text" */
    sr_widget_t widget;
    sr_filler_t filler;
    unsigned int members; /* a set of bits, private: the members that such a field may have beside the contract's */
    bool initials;        /* it shows the initials of the signer */
    bool repeats;         /* it may be on all pages, unless the signer enters a value */
} sr_field_type_t;
/* Returns NULL if there is no such type. */
const sr_field_type_t *sr_field_type(const char *name);
/* Returns true if a field of this type may have this member. */
bool sr_field_type_has(const sr_field_type_t *type, const char *member);

/* The start and end of a text depend on its direction. */
typedef enum sr_align_t { SR_ALIGN_START, SR_ALIGN_CENTER, SR_ALIGN_END, SR_ALIGN_LEFT, SR_ALIGN_RIGHT } sr_align_t;

#define SR_ENTRY_LENGTH_MAX 4000 /* characters of a value */

/* A field that has a value beside the signature. */
typedef struct sr_entry_t {
    json_t *sent;        /* the members of its type as they were sent, without the value */
    const json_t *value; /* a string, true or false: of the caller, later of the signer. NULL: there is none */
    bool read_only, required, multiline;
    int max_length;     /* characters */
    const char *format; /* "integer", "decimal", "email" or "date"; or NULL */
    double size;        /* points; 0: as large as fits, up to 12 points */
    sr_align_t align;
    const char *group;     /* of check boxes, or NULL */
    const json_t *options; /* an array of strings, or NULL */
    const json_t *labels;  /* what the form of the document shows instead of the options, or NULL */
    /* Of a group of radio buttons in the form: [{"page","rect","percent","option","state"?},…] in the order of the
     * options. The state is the name of the appearance, if it is not that of the option. Or NULL. */
    const json_t *buttons;
    int comb;            /* the number of cells of the form, one for each character; 0: none */
    const char *color;   /* of the letters in the form: "#rrggbb", or NULL */
    const char *content; /* how the PDF shows it (sr_pdf_values), or NULL */
    const char *shown;   /* what the PDF shows instead of the value: the day in words; or NULL */
} sr_entry_t;

/* A text of the document at which an area is placed. */
typedef struct sr_anchor_t {
    const char *text;
    int occurrence; /* from 1; 0: there must be only one; or SR_ANCHOR_ALL */
    int page;       /* where to look for it, 0-based; or SR_ANCHOR_ANY_PAGE */
    bool skip;      /* without the text, the field is left out */
    double dx, dy;  /* points from the top left corner of the text to that of the area, to the right and down */
    double w, h;    /* points; 0: the size of the text */
} sr_anchor_t;
#define SR_ANCHOR_ALL (-1)
#define SR_ANCHOR_ANY_PAGE (-1)

typedef struct sr_field_t {
    int number; /* its position in the request, from 1, as messages name it; 0 if it was stored */
    const sr_field_type_t *type;
    const char *name;
    const char *document;      /* as sent; after sr_signers_resolve the document's name as shown */
    const char *document_uuid; /* set by sr_signers_resolve */
    const char *existing;      /* the name of an existing field of the document that its area refers to, or NULL */
    const json_t *sent;        /* the members of an entry in an existing field, until sr_signers_resolve reads them */
    bool on_all_pages;         /* until sr_signers_resolve: it stands for one field on each page */
    const sr_anchor_t *anchor; /* until sr_signers_resolve: it stands for the fields at places of a text; or NULL */
    sr_area_t area;            /* for an existing field set by sr_signers_resolve */
    const json_t *area_sent;   /* the JSON object that the area was read from, or NULL */
    const char *caption;       /* the result of sr_caption_read; NULL: none was sent */
    sr_entry_t *entry;         /* NULL: the signature is its value */
    sr_placement_t placement;  /* set by sr_signers_resolve */
} sr_field_t;

/* Reads a field of a type that has values. Returns the fault, such as "size must be a number from 6 to 72", or NULL. */
const char *sr_entry_read(sr_entry_t **entry, const sr_field_type_t *type, const json_t *field, apr_pool_t *pool);
/* Adds its members, and its value, to the JSON object of a field. */
void sr_entry_write(json_t *field, const sr_entry_t *entry);

/* The texts at which fields of a document are placed. */
typedef struct sr_anchors_t {
    json_t *texts;       /* what sr_pdf_find looks for; NULL: nothing */
    apr_hash_t *numbers; /* the index of each text and page */
    const json_t *found; /* the result of sr_pdf_find */
} sr_anchors_t;

/* What the creation appends to a document with fields that have values. */
typedef struct sr_prepared_t {
    const char *sha256; /* of what is appended; NULL: nothing is */
    apr_off_t size;
    const char *whole_sha256; /* of the whole document with it */
    apr_off_t whole_size;
} sr_prepared_t;

/* ------------------------------------------------------------------------------------------------ anchor.c */
extern const char *const sr_anchor_area_members[], *const sr_anchor_members[]; /* JSON members; NULL ends them */
/* Reads the anchor of an area. *anchor is NULL if the area has no anchor. Returns a fault such as "Area anchor text
 * must be provided", or NULL. The text belongs to `area`. */
const char *sr_anchor_read(const sr_anchor_t **anchor, const json_t *area, apr_pool_t *pool);
/* Returns an area with an anchor as it was sent, without unknown members. New reference. */
json_t *sr_anchor_echo(const json_t *area);
/* Adds the text of an anchor to those that are looked for in a document (sr_pdf_find), unless it is there. `numbers`
 * has the index of each. */
void sr_anchor_want(json_t *texts, apr_hash_t *numbers, const sr_anchor_t *anchor, apr_pool_t *pool);
/* Returns how many places of each text have to be listed. */
int sr_anchor_most(int max_fields);
/* Sets *areas (sr_area_t) to the areas at an anchor. *count is how often the document has the text; there may be fewer
 * areas than that. Errors: SR_EBADREQUEST, such as "Document lease.pdf has the text "Signature" 3 times". */
sr_error_t *sr_anchor_areas(apr_array_header_t **areas, json_int_t *count, const sr_anchor_t *anchor,
                            const sr_document_t *document, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ adopt.c */
/* Reads the entry of a field that refers to an existing field of its document: the place, and what the form says of its
 * length, lines, options and value. The value that was sent has precedence. *fault is a fault of sr_entry_read, or
 * NULL. Errors: SR_EBADREQUEST if the form has no such field, or one that cannot be filled in. */
sr_error_t *sr_field_adopt(const char **fault, sr_field_t *field, const sr_document_t *document, apr_pool_t *pool);
/* Returns the noun for a field of this type in messages: "text field". */
const char *sr_field_noun(const sr_field_t *field);

/* ------------------------------------------------------------------------------------------------ resolve.c */
typedef struct sr_resolving_t {
    int max_fields;        /* of all signers */
    sr_remarks_t *remarks; /* gets a remark for each field that is left out; or NULL */
    bool draft;            /* signatures may be missing */
} sr_resolving_t;
/* Finds the document and page of each field and computes its placement. A field on all pages, or at all places of a
 * text, becomes one field for each. Errors: SR_EBADREQUEST with "Document {name} not found", "Index page unknown", or
 * the reason why an existing field cannot be signed or filled in, or why a text is no place for a field. */
sr_error_t *sr_signers_resolve(apr_array_header_t *signers, const apr_array_header_t *documents,
                               const sr_resolving_t *resolving, apr_pool_t *pool);
/* Returns the first field with a value that no signature of the signer in its document seals, or NULL. */
const sr_field_t *sr_signer_unsealed(const sr_signer_t *signer);
#define SR_UNSEALED "Document %s needs a field of type signature of this signer"
/* Returns true if a field with a value refers to an existing field of the document at this index. The
 * form of the document must be set before sr_signers_resolve. */
bool sr_signers_use_form(const apr_array_header_t *signers, const apr_array_header_t *documents, int index);
/* Sets the texts (sr_anchors_t) that are looked for in the document at this index. Errors: SR_EBADREQUEST
 * if it has too many pages to look at all of them. */
sr_error_t *sr_signers_anchors(apr_array_header_t *documents, int index, const apr_array_header_t *signers,
                               apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ entries.c */
/* A value that cannot be filled in. */
typedef struct sr_entry_fault_t {
    int number;          /* of the field among the signer's, from 1 */
    const char *code;    /* "required", "type", "length", "format", "option", "group", "fit", "readOnly", "unknown" */
    const char *message; /* a sentence without its end */
} sr_entry_fault_t;

/* Returns false, and sets code and message, if a field of this type cannot have this value. */
bool sr_entry_accepts(sr_entry_fault_t *fault, const sr_field_type_t *type, const sr_entry_t *entry,
                      const json_t *value, apr_pool_t *pool);
/* Returns the fault of the fields of a signer as a creation has them, without the number of a field, or NULL: there is
 * a signature, unless the request is a draft, and at most one check box of a group is ticked. */
const char *sr_entries_fault(const sr_signer_t *signer, bool draft, apr_pool_t *pool);
/* Fills in what a signer has sent: {"3":"Engineer","4":true}, or NULL. `day` is the day of the signature, "2026-11-22",
 * and `day_text` the same in words. *faults is an array of sr_entry_fault_t; if it is empty, the fields have their
 * values. */
void sr_entries_fill(apr_array_header_t **faults, sr_signer_t *signer, const json_t *values, const char *day,
                     const char *day_text, apr_pool_t *pool);
/* Returns an SR_EBADREQUEST with the faults for the client, or NULL if there are none. */
sr_error_t *sr_entries_error(const apr_array_header_t *faults, apr_pool_t *pool);
/* Returns a value with LF at the ends of its lines. Browsers send CR and LF. */
json_t *sr_entry_normal(json_t *value, apr_pool_t *pool);
/* Returns true if a field of the signer is filled in beside the signature. */
bool sr_entries_any(const sr_signer_t *signer);
/* Returns the text of the value of a field, "" if it has none; NULL for a check box. */
const char *sr_entry_text(const sr_entry_t *entry);
/* Returns the text that is shown: the label of an option, or else the text. */
const char *sr_entry_label(const sr_entry_t *entry);
/* Sets the day of the signature. If the field has no room for it in words, it shows YYYY-MM-DD. */
void sr_entry_set_day(sr_entry_t *entry, const char *day, const char *day_text, apr_pool_t *pool);
/* In event.c: returns [{"document": uuid, "field": name, "value"}] for the fields of a signer that have a value, or
 * NULL if there are none. New reference. */
json_t *sr_entries_json(const sr_submission_t *submission, const sr_signer_t *signer);
/* Returns [[name, value]] for the fields of a signer that are filled in, for readers, or NULL if there are none. `yes`
 * and `no` are the values of check boxes, and lines are joined by spaces. Equal rows that follow each other, as those
 * of a field on all pages, are one. New reference. */
json_t *sr_entries_rows(const sr_signer_t *signer, const char *yes, const char *no, apr_pool_t *pool);

#endif
