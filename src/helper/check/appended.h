/* SPDX-License-Identifier: Apache-2.0 */
/* appended.h: a strict parser for one incremental update, in exactly the form that src/helper/main/write/update.c
 * writes. Private to src/helper.
 *
 * A worker has read hostile bytes, so the update that it returns is not trusted. These files parse only the appended
 * bytes and no byte of the document. Each appended byte must belong to an object, to the cross-reference section or to
 * a fixed keyword between them. The cross-reference section must match the objects. The parser is not recursive, and no
 * size that it reads from the bytes decides how much memory is allocated.
 */
#ifndef SR_HELPER_CHECK_APPENDED_H
#define SR_HELPER_CHECK_APPENDED_H

#include "helper/pdf.h"

typedef struct sr_pdf_span_t {
    const char *at, *end;
} sr_pdf_span_t;

typedef struct sr_pdf_object_t {
    apr_int64_t number;
    int generation;
    apr_size_t offset;  /* offset of the object in the appended bytes */
    sr_pdf_span_t body; /* the array or dictionary, including its brackets */
    bool is_stream;
    sr_pdf_span_t data; /* the data of a stream, without "stream" and "endstream" */
} sr_pdf_object_t;

typedef struct sr_pdf_trailer_t {
    apr_int64_t size; /* /Size: one more than the highest object number of the document */
    /* "/Root 1 0 R/Info 2 0 R/Encrypt 3 0 R/ID[<…>": this part is the same in all updates of a document */
    sr_pdf_span_t keys;
    apr_int64_t root, previous;
    apr_size_t start; /* offset of the cross-reference section in the bytes that were read */
    bool is_stream;   /* the section is a cross-reference stream, which has an object number itself */
    bool is_encrypted;
} sr_pdf_trailer_t;

typedef struct sr_pdf_appended_t {
    const apr_array_header_t
        *objects; /* sr_pdf_object_t, in the order of the file, without the cross-reference stream */
    sr_pdf_trailer_t trailer;
    apr_size_t length; /* length of the update in bytes */
} sr_pdf_appended_t;

/* -------------------------------------------------------------------------------------------- appended.c */
/* Reads one update that was appended to `base` bytes and has at most `most` objects. Bytes after the update are ignored
 * (see appended->length). The spans refer to `bytes`. Returns NULL, or the reason why the bytes are not such an update.
 */
const char *sr_pdf_appended_read(sr_pdf_appended_t *appended, const void *bytes, apr_size_t length, apr_off_t base,
                                 int most, apr_pool_t *pool);
/* Reads the trailer of the last cross-reference section of a document. `bytes` reach from the section to the end of the
 * document. Returns NULL or a reason. */
const char *sr_pdf_appended_trailer(sr_pdf_trailer_t *trailer, const void *bytes, apr_size_t length);

/* Reads the next token into *token and removes it from *left. Returns the kind of the token: its first character, 'D'
 * for "<<", 'd' for ">>", or '0' for a number or a keyword. Returns 0 if no token follows. */
char sr_pdf_take_token(sr_pdf_span_t *left, sr_pdf_span_t *token);
bool sr_pdf_span_is(const sr_pdf_span_t *span, const char *text);
bool sr_pdf_span_begins(const sr_pdf_span_t *span, const char *text);
bool sr_pdf_span_ends(const sr_pdf_span_t *span, const char *text);
/* Returns true if both spans have the same tokens. The white space between the tokens may differ. */
bool sr_pdf_span_same(const sr_pdf_span_t *a, const sr_pdf_span_t *b);
/* Remove a text that is not empty, or an integer of at most 15 digits, from the beginning of *left. They return false
 * if something else is there. */
bool sr_pdf_take_text(sr_pdf_span_t *left, const char *text);
bool sr_pdf_take_number(sr_pdf_span_t *left, apr_int64_t *number);
/* Reads one value: a number, name, string, reference, array or dictionary. Only spaces may precede it. */
bool sr_pdf_take_value(sr_pdf_span_t *left, sr_pdf_span_t *value);
/* Reads the next key of a dictionary and its value. Start with the body of the dictionary without its first "<<".
 * Returns false at the end of the dictionary. */
bool sr_pdf_take_entry(sr_pdf_span_t *left, sr_pdf_span_t *key, sr_pdf_span_t *value);
/* Reads an object from its number to "endobj", as src/helper/main/write/update.c writes it. The spans of the object are
 * in *left. */
bool sr_pdf_take_object(sr_pdf_object_t *object, sr_pdf_span_t *left);
/* Finds the value of a key in the body of a dictionary. Returns false if the key is missing. */
bool sr_pdf_find_entry(sr_pdf_span_t *value, const sr_pdf_span_t *body, const char *key);

/* ------------------------------------------------------------------------------------------- decrypted.c */
/* Replaces the objects by the objects that a document without encryption would have. `contents`, if not NULL, points to
 * the beginning of the one string that is not encrypted, and is set to its position in the new text. Returns NULL, or
 * the reason why the objects cannot be decrypted. */
const char *sr_pdf_appended_decrypt(sr_pdf_appended_t *appended, const sr_cipher_t *cipher, const char **contents,
                                    apr_pool_t *pool);

/* -------------------------------------------------------------------------------------------- prepared.c */
/* Prefix of the names of the fields that are added for a signer */
#define SR_PDF_FIELD_PREFIX "Signature_"

/* Checks the answer to sr_pdf_prepare. The new objects must be exactly the requested fields. The existing fields must
 * follow in the requested order. Each other object of the document that is rewritten must end with references to the
 * new objects. This check does not know what these objects contained before: sr_pdf_confirm checks that. Returns NULL,
 * or the reason why the update is refused. */
const char *sr_pdf_prepared_check(const sr_pdf_appended_t *appended, const apr_array_header_t *fields,
                                  apr_pool_t *pool);
/* Returns the greatest number of objects that such an update can have. */
int sr_pdf_prepared_most(const apr_array_header_t *fields);

/* ------------------------------------------------------------------------------------------------ entry.c */
/* Removes a number as sr_pdfd_put_number writes it, with the space after it. */
bool sr_pdf_take_decimal(sr_pdf_span_t *left, double wanted);
/* Removes the name of the field of an entry: the wanted name, or one with a number after it ("_2"). */
bool sr_pdf_take_entry_name(sr_pdf_span_t *left, const sr_pdf_entry_t *entry, apr_pool_t *pool);
/* Returns true if the object is a form of the size of the field with the content of its entry. */
bool sr_pdf_entry_is_shown(const sr_pdf_field_t *field, const sr_pdf_object_t *object, apr_pool_t *pool);
/* Returns true if the object may be an existing field that is filled in: it ends with the place of the field, a flag
 * that makes it read-only, and the value of its entry, and has the keys of these nowhere else. It shows the object
 * `look`, or `off` if it is a check box that is not ticked. */
bool sr_pdf_entry_is_set(const sr_pdf_field_t *field, const sr_pdf_object_t *object, apr_int64_t look, apr_int64_t off,
                         apr_pool_t *pool);

/* An entry of a signer, and its field as it was prepared (NULL: it is missing), after which the buttons of a group
 * follow. */
typedef struct sr_pdf_own_entry_t {
    const sr_pdf_field_t *field;
    const sr_pdf_object_t *before;
} sr_pdf_own_entry_t;
/* Returns the entries (sr_pdf_own_entry_t) of a signer: the added ones, then the existing ones. `fields` may be NULL.
 */
const apr_array_header_t *sr_pdf_entries_of(const sr_pdf_appended_t *prepared, const char *signer,
                                            const apr_array_header_t *fields, apr_pool_t *pool);
/* Returns true if the object is the field with its new value, and refers to an appearance by the number *look. `off` is
 * the empty appearance, which a check box shows if it is not ticked. */
bool sr_pdf_entry_is_filled(apr_int64_t *look, const sr_pdf_own_entry_t *entry, const sr_pdf_object_t *object,
                            apr_int64_t off, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ radio.c */
/* Returns true if the objects may be an existing group and its buttons with the value of the entry: each ends with what
 * the entry says, and has the keys of this nowhere else. */
bool sr_pdf_radio_is_set(const sr_pdf_entry_t *entry, const sr_pdf_object_t *objects, apr_pool_t *pool);
/* Returns true if the object is the group (0) or one of its buttons (1, …) as it was prepared, with its new value. */
bool sr_pdf_radio_is_filled(const sr_pdf_own_entry_t *entry, int index, const sr_pdf_object_t *object,
                            apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- existing.c */
/* Returns true if an update adds something for this field: the field, or the appearance of an entry. */
bool sr_pdf_existing_adds(const sr_pdf_field_t *field);
/* Returns how many objects of the document an existing field is: one, or the field of a group and its buttons. */
int sr_pdf_existing_objects(const sr_pdf_field_t *field);
/* Returns the index of the first existing field among the objects of a prepared update. */
int sr_pdf_existing_begin(const sr_pdf_appended_t *prepared, const apr_array_header_t *fields);
/* Returns the object at this index if it is a signature field without a value that is merged with its widget, or NULL.
 */
const sr_pdf_object_t *sr_pdf_existing_at(const sr_pdf_appended_t *prepared, int index);

/* ----------------------------------------------------------------------------------------------- sections.c */
/* The updates that this service has appended to the first `base` bytes of a document. */
typedef struct sr_pdf_sections_t {
    int descriptor;
    apr_off_t base, size;
    sr_pdf_trailer_t last;    /* the last trailer of the document */
    apr_int64_t start;        /* offset of its cross-reference section */
    apr_array_header_t *list; /* private: NULL until they are needed */
    apr_pool_t *pool;
} sr_pdf_sections_t;
/* Reads the last trailer. The service wrote it, because only the service has appended to the upload. Sets *why to NULL,
 * or to the reason why there is none. They live as long as `pool`. */
sr_error_t *sr_pdf_sections_read(const char **why, sr_pdf_sections_t *sections, int descriptor, apr_off_t base,
                                 apr_off_t size, apr_pool_t *pool);
/* Finds the newest version of an object that the updates contain, unless it has more than `most` bytes. */
sr_error_t *sr_pdf_sections_find(sr_pdf_object_t *object, bool *found, sr_pdf_sections_t *sections, apr_int64_t number,
                                 apr_size_t most);

/* ------------------------------------------------------------------------------------------------- dss.c */
/* A proof as it is written into a stream. */
typedef struct sr_pdf_packed_t {
    sr_pdf_proof_kind_t kind;
    bool packed; /* by deflate */
    sr_pdf_span_t data;
} sr_pdf_packed_t;
/* The document security store, and what is added to it. */
typedef struct sr_pdf_dss_t {
    const apr_array_header_t *proofs; /* sr_pdf_packed_t, none of them twice */
    apr_int64_t number;               /* its object, which an update of this service has written; 0: it must be made */
    sr_pdf_appended_t known;          /* that object, then the streams that it refers to and this service has written */
} sr_pdf_dss_t;
/* Compresses the proofs (sr_pdf_proof_t). Returns NULL if there are none, or more than SR_PDF_MAX_PROOFS or
 * SR_PDF_MAX_PROOFS_BYTES. */
const apr_array_header_t *sr_pdf_proofs_pack(const apr_array_header_t *proofs, apr_pool_t *pool);
/* Finds the store of the document. */
sr_error_t *sr_pdf_dss_find(sr_pdf_dss_t *dss, sr_pdf_sections_t *sections, const apr_array_header_t *proofs);
/* Returns the member "dss" of a request. New reference. */
json_t *sr_pdf_dss_json(const sr_pdf_dss_t *dss, apr_pool_t *pool);

/* What an update adds to the store: the new streams have the numbers from `first` to `end` - 1, except that of a new
 * store. */
typedef struct sr_pdf_added_t {
    apr_int64_t first, end;
    apr_int64_t store;   /* the object that is written, or 0 if everything was there */
    bool made;           /* it is new, and the catalog is rewritten to refer to it. Another worker must confirm that */
    apr_int64_t catalog; /* the number of that catalog, or 0 */
} sr_pdf_added_t;
/* Checks that each proof is in the store after the update. `first` is the lowest number that a new stream or store may
 * have. dss->known must be decrypted. Returns NULL, or the reason why the update is refused. */
const char *sr_pdf_dss_check(sr_pdf_added_t *added, const sr_pdf_dss_t *dss, const sr_pdf_appended_t *appended,
                             apr_int64_t first, apr_pool_t *pool);
/* Returns true if sr_pdf_dss_check has checked this object. */
bool sr_pdf_dss_has(const sr_pdf_added_t *added, const sr_pdf_object_t *object);

/* ---------------------------------------------------------------------------------------------- filled.c */
typedef struct sr_pdf_filled_t {
    const char *signer;
    const apr_array_header_t *fields; /* the same as in sr_pdf_signature_t */
    const apr_array_header_t
        *entries;            /* made by sr_pdf_entries_of, of the prepared update after it was decrypted; or NULL */
    const char *dictionary;  /* made by sr_pdf_signature_text */
    const char *contents;    /* the "<" before the digits of the CMS, in the bytes that were read */
    apr_size_t room;         /* bytes that are reserved for the CMS */
    apr_int64_t start;       /* offset of the last cross-reference section of the document */
    const sr_pdf_dss_t *dss; /* the proofs that are added; or NULL */
    bool made;               /* result: the catalog was rewritten, which another worker must confirm */
} sr_pdf_filled_t;
/* Checks the answer to sr_pdf_fill. It must contain the requested signature dictionary, appearances that refer to no
 * older object, the prepared widgets of this signer with these appearances, and the signer's entries with their values
 * and exactly their appearances. `before` is the last trailer of the
 * document. Returns NULL, or the reason why the update is refused. */
const char *sr_pdf_filled_check(const sr_pdf_appended_t *appended, const sr_pdf_appended_t *prepared,
                                const sr_pdf_trailer_t *before, sr_pdf_filled_t *wanted, apr_pool_t *pool);
/* Returns the body of the signature dictionary up to the /ByteRange, allocated in `pool`. It locks the entries. */
const char *sr_pdf_signature_text(const sr_pdf_signature_t *signature, const apr_array_header_t *entries,
                                  const char *time, apr_pool_t *pool);

#endif
