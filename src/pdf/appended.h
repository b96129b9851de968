/* SPDX-License-Identifier: Apache-2.0 */
/* appended.h: what a worker wants to have appended to a document, read strictly: the objects of one incremental update
 * in the one form that src/pdfd/writer.c writes. Private to src/pdf.
 *
 * A worker has read hostile bytes, so what it writes is not believed. Here no byte of the document is parsed, only what
 * was appended: each byte of it must belong to an object, to the cross-reference section, which must say of these
 * objects what is so, or to the few words between them. Nothing recurses, and nothing is allocated by a number that
 * the bytes name.
 */
#ifndef SR_PDF_APPENDED_H
#define SR_PDF_APPENDED_H

#include "pdf/pdf.h"

typedef struct sr_pdf_span_t {
    const char *at, *end;
} sr_pdf_span_t;

typedef struct sr_pdf_object_t {
    apr_int64_t number;
    int generation;
    apr_size_t offset;  /* in what was appended */
    sr_pdf_span_t body; /* the array or dictionary, with its brackets */
    bool is_stream;
    sr_pdf_span_t data; /* of a stream */
} sr_pdf_object_t;

typedef struct sr_pdf_trailer_t {
    apr_int64_t size; /* one more than the highest number of the document */
    /* "/Root 1 0 R/Info 2 0 R/Encrypt 3 0 R/ID[<…>": what stays the same in all updates of a document */
    sr_pdf_span_t keys;
    apr_int64_t root, previous;
    apr_size_t start; /* of the section, in what was read */
    bool is_stream;   /* whose number counts */
    bool is_encrypted;
} sr_pdf_trailer_t;

typedef struct sr_pdf_appended_t {
    const apr_array_header_t *objects; /* sr_pdf_object_t, in their order, without the cross-reference stream */
    sr_pdf_trailer_t trailer;
    apr_size_t length; /* of the update */
} sr_pdf_appended_t;

/* -------------------------------------------------------------------------------------------- appended.c */
/* Reads one update of at most so many objects that is appended to `base` bytes; what follows it is left alone.
 * Returns NULL, or the reason why it is not such an update. */
const char *sr_pdf_appended_read(sr_pdf_appended_t *appended, const void *bytes, apr_size_t length, apr_off_t base,
                                 int most, apr_pool_t *pool);
/* Reads the trailer of the cross-reference section that `bytes` are, to their end: the last one of a document. */
const char *sr_pdf_appended_trailer(sr_pdf_trailer_t *trailer, const void *bytes, apr_size_t length);

/* Takes a token and says what it begins with; 'D' and 'd' are the brackets of a dictionary, '0' numbers and words. 0:
 * no token follows. */
char sr_pdf_take_token(sr_pdf_span_t *left, sr_pdf_span_t *token);
bool sr_pdf_span_is(const sr_pdf_span_t *span, const char *text);
bool sr_pdf_span_begins(const sr_pdf_span_t *span, const char *text);
bool sr_pdf_span_ends(const sr_pdf_span_t *span, const char *text);
/* Whether both have the same tokens; the space between them may differ. */
bool sr_pdf_span_same(const sr_pdf_span_t *a, const sr_pdf_span_t *b);
/* Takes a text, or a whole number of at most 15 digits, from the beginning of what is left. */
bool sr_pdf_take_text(sr_pdf_span_t *left, const char *text);
bool sr_pdf_take_number(sr_pdf_span_t *left, apr_int64_t *number);
/* Takes one value: a number, name, string, reference, array or dictionary, with nothing but space before it. */
bool sr_pdf_take_value(sr_pdf_span_t *left, sr_pdf_span_t *value);
/* Takes the next key of a dictionary (begin with its body less its first bracket) and its value. False at its end. */
bool sr_pdf_take_entry(sr_pdf_span_t *left, sr_pdf_span_t *key, sr_pdf_span_t *value);
/* The value of a key of a dictionary's body; false when there is none. */
bool sr_pdf_find_entry(sr_pdf_span_t *value, const sr_pdf_span_t *body, const char *key);

/* ------------------------------------------------------------------------------------------- decrypted.c */
/* Makes the objects what they would be in a document that is not encrypted. `contents`: the beginning of the one string
 * that is not encrypted, which becomes its place in the new text; or NULL. Returns NULL, or the reason why it cannot
 * be. */
const char *sr_pdf_appended_decrypt(sr_pdf_appended_t *appended, const sr_cipher_t *cipher, const char **contents,
                                    apr_pool_t *pool);

/* -------------------------------------------------------------------------------------------- prepared.c */
/* How the fields that a signer's placements become are called. */
#define SR_PDF_FIELD_PREFIX "Signature_"

/* What sr_pdf_prepare was answered: all new objects are exactly the asked fields, existing fields are there in their
 * order, and each other object of the document that is written again ends with references to the new ones. What such an
 * object had before is not known here: sr_pdf_confirm asks.
 * The reason why it is not so, or NULL. */
const char *sr_pdf_prepared_check(const sr_pdf_appended_t *appended, const apr_array_header_t *fields,
                                  apr_pool_t *pool);
/* The most objects that such an update has. */
int sr_pdf_prepared_most(const apr_array_header_t *fields);

/* --------------------------------------------------------------------------------------------- existing.c */
/* The index of the first field that the document had, among the objects of a prepared update. */
int sr_pdf_existing_begin(const sr_pdf_appended_t *prepared, const apr_array_header_t *fields);
/* The object there if it is a signature field without a value, merged with its widget; else NULL. */
const sr_pdf_object_t *sr_pdf_existing_at(const sr_pdf_appended_t *prepared, int index);

/* ---------------------------------------------------------------------------------------------- filled.c */
typedef struct sr_pdf_filled_t {
    const char *signer;
    const apr_array_header_t *fields; /* as of sr_pdf_signature_t */
    const char *dictionary;           /* sr_pdf_signature_text */
    const char *contents;             /* the "<" before the digits, in the bytes that were read */
    apr_int64_t start;                /* of the document's last cross-reference section */
} sr_pdf_filled_t;
/* What sr_pdf_fill was answered: the signature dictionary that was asked for, appearances that refer to nothing old,
 * and the widgets of this signer as they were prepared, with these. `before` is the document's last trailer. The reason
 * why it is not so, or NULL. */
const char *sr_pdf_filled_check(const sr_pdf_appended_t *appended, const sr_pdf_appended_t *prepared,
                                const sr_pdf_trailer_t *before, const sr_pdf_filled_t *wanted, apr_pool_t *pool);
/* The body of the signature dictionary, up to the place of the byte ranges. */
const char *sr_pdf_signature_text(const sr_pdf_signature_t *signature, const char *time, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- confirm.c */
/* Set the fault, and tell the log why, where a worker's answer is refused. */
void sr_pdf_check_prepared(sr_pdf_update_t *update, sr_pdf_pool_t *workers, apr_off_t size,
                           const apr_array_header_t *fields, apr_pool_t *pool);
sr_error_t *sr_pdf_check_filled(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                                const sr_pdf_signature_t *signature, const char *time, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ seal.c */
/* A request about fields: {"op":op,"fields":[…]}. The pool's. */
json_t *sr_pdf_fields_json(const char *op, const apr_array_header_t *fields, apr_pool_t *pool);

#endif
