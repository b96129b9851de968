/* SPDX-License-Identifier: Apache-2.0 */
/* entry.h: a form field that a signer fills in beside the signature (ISO 32000-2, 12.7.5): a text field, a check box, a
 * combo box, or a group of radio buttons that the document has. It has a value and an appearance from the beginning,
 * and is merged with its only widget unless it is a group. Readers may not change it (ReadOnly). Both sides of the
 * protocol include this file, so that they write the same text.
 */
#ifndef SR_HELPER_ENTRY_H
#define SR_HELPER_ENTRY_H

#include "base/base.h"

typedef enum sr_pdf_entry_kind_t {
    SR_PDF_ENTRY_TEXT,
    SR_PDF_ENTRY_CHECKBOX,
    SR_PDF_ENTRY_CHOICE,
    SR_PDF_ENTRY_RADIO
} sr_pdf_entry_kind_t;

typedef struct sr_pdf_button_t {
    int page;           /* from 0 */
    double rect[4];     /* the same as in sr_placement_t */
    const char *option; /* the value of the group if this button is chosen */
    const char *state;  /* the name of its appearance if it is chosen, as a PDF has it, without the "/" */
} sr_pdf_button_t;

/* All texts are UTF-8. */
typedef struct sr_pdf_entry_t {
    sr_pdf_entry_kind_t kind;
    const char *name;  /* not empty. The name of the field: "." becomes "_", and "_2" or a higher number may follow */
    const char *label; /* what screen readers announce (/TU) */
    bool multiline;    /* of a text */
    int max_length;    /* of a text, in characters; 0: none */
    const apr_array_header_t *options; /* const char *: of a choice */
    const apr_array_header_t *buttons; /* sr_pdf_button_t: of a group. Their options and states differ */
    const char *text;                  /* the value of a text, choice or group; "" if it is empty */
    bool ticked;                       /* the value of a check box */
    int rotate;                        /* of the page: 0, 90, 180 or 270 */
    /* From sr_pdf_values for the size that sr_pdf_entry_size returns: of the text, or for a check box of the tick,
     * which is shown if the box is ticked. A group has none. */
    const char *content;
} sr_pdf_entry_t;

/* Returns the size of an area of a page as displayed, in points. `rect` is the same as in sr_placement_t. */
void sr_pdf_entry_size(double *width, double *height, const double rect[4], int rotate);

/* ------------------------------------------------------------------------------------- private to src/helper
 * Results are allocated in `pool`. */

/* The beginning of a widget, before its name. */
#define SR_PDF_WIDGET "<</Type/Annot/Subtype/Widget/F 132/T"
/* The beginning of the lock of a signature (12.7.5.5) and of a signature's reference to what it locks (12.8.2.4). The
 * names of the fields follow, and the end. */
#define SR_PDF_LOCK "<</Type/SigFieldLock/Action/Include/Fields["
#define SR_PDF_LOCK_END "]>>"
#define SR_PDF_REFERENCE                                                                                               \
    "/Reference[<</Type/SigRef/TransformMethod/FieldMDP/TransformParams<</Type/TransformParams/Action/Include/Fields["
#define SR_PDF_REFERENCE_END "]/V/1.2>>>>]"

/* What a group has of these flags (12.7.5.2.1): ReadOnly and Radio, without Pushbutton. */
#define SR_PDF_RADIO_FLAGS (1 | 1 << 15 | 1 << 16)
#define SR_PDF_RADIO_SET (1 | 1 << 15)

/* Returns a text string (7.9.2.2): as ASCII if it is printable ASCII, otherwise as UTF-16BE. */
const char *sr_pdf_string(const char *text, apr_pool_t *pool);
/* Returns the name without ".". */
const char *sr_pdf_entry_name(const sr_pdf_entry_t *entry, apr_pool_t *pool);
/* Returns the entries of its dictionary that say of which kind it is, and those with its value. */
const char *sr_pdf_entry_type(const sr_pdf_entry_t *entry, apr_pool_t *pool);
const char *sr_pdf_entry_value(const sr_pdf_entry_t *entry, apr_pool_t *pool);
/* Returns the entry of a button with the state that it shows. */
const char *sr_pdf_button_state(const sr_pdf_entry_t *entry, const sr_pdf_button_t *button, apr_pool_t *pool);
/* Returns true if the text can be a name in a PDF as it is. */
bool sr_pdf_is_state(const char *text);
/* Returns the entry of its dictionary with its appearance: the object `number`, which a check box shows if it is
 * ticked. Otherwise it shows `off`. */
const char *sr_pdf_entry_appearance(const sr_pdf_entry_t *entry, apr_int64_t number, apr_int64_t off, apr_pool_t *pool);
/* Sets the matrix that makes a form of this size, as displayed, upright on a rotated page. */
void sr_pdf_upright(double matrix[6], double width, double height, int rotate);

/* A content as it is written into a stream. Its text is "z" or "r" (packed or not), and the bytes in base64. */
typedef struct sr_pdf_content_t {
    bool packed; /* by deflate */
    const void *data;
    apr_size_t size;
} sr_pdf_content_t;
#define SR_PDF_PACKED "/Filter/FlateDecode"
const char *sr_pdf_content_text(const sr_pdf_content_t *content, apr_pool_t *pool);
/* Reads the text. Returns false if it is not valid. */
bool sr_pdf_content_read(sr_pdf_content_t *content, const char *text, apr_pool_t *pool);

/* Returns the member "entry" of a field in a request, and adds its content (const char *), if it has one, to
 * `contents`. New reference. */
json_t *sr_pdf_entry_json(const sr_pdf_entry_t *entry, apr_array_header_t *contents);
/* Returns the text of a request, with the contents that follow it. */
const char *sr_pdf_entry_request(apr_size_t *length, const json_t *request, const apr_array_header_t *contents,
                                 apr_pool_t *pool);
/* The contents of entries that were not read yet. There is a NUL at the end. */
typedef struct sr_pdf_contents_t {
    const char *at, *end;
} sr_pdf_contents_t;
/* Reads an entry and, unless it is a group, the next of the contents. entry->content is NULL, and `content` has it.
 * Returns false if they are not valid. */
bool sr_pdf_entry_read(sr_pdf_entry_t *entry, sr_pdf_content_t *content, sr_pdf_contents_t *left, const json_t *json,
                       apr_pool_t *pool);

#endif
