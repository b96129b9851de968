/* SPDX-License-Identifier: Apache-2.0 */
/* pdfd.h: sigreq-pdfd, the only program that parses PDF bytes. Its files share this header, and src/helper/README.md
 * describes their folders.
 *
 * A worker has one thread and serves one request at a time. It can only use memory, fonts, descriptor 3, which is its
 * client, and the log until it is ready. Any failure may end the process, because the client then asks another worker.
 *
 * The process that a client starts is the template. It loads and initialises the libraries, enters the sandbox, never
 * reads a document, and forks a worker for each document.
 *
 * Unless a comment says otherwise, results are allocated in the last argument `pool`.
 */
#ifndef SR_HELPER_MAIN_PDFD_H
#define SR_HELPER_MAIN_PDFD_H

#include "base/base.h"
#include "report/existing.h"
#include "report/report.h"
#include "report/warnings.h"
#include "helper/entry.h"
#include "helper/protocol.h"

#include <qpdf/qpdf-c.h>

/* A document in memory, mapped from the client's descriptor. */
typedef struct sr_pdfd_bytes_t {
    const unsigned char *data;
    apr_size_t size;
} sr_pdfd_bytes_t;

typedef struct sr_pdfd_request_t {
    const json_t *text;    /* the whole JSON object */
    sr_pdfd_bytes_t bytes; /* the document */
    unsigned char *result; /* memory for a result of many bytes, whose "length" is in the response */
    apr_size_t room;       /* size of `result`; 0 if the operation has none */
    sr_pdf_contents_t contents;
} sr_pdfd_request_t;

/* ------------------------------------------------------------------------------------------------ main.c */
/* Responds to a request. Returns a new reference, or NULL if the request is not valid; the worker then ends. */
typedef json_t *sr_pdfd_op_t(const sr_pdfd_request_t *request, apr_pool_t *pool);
sr_pdfd_op_t sr_pdfd_probe, sr_pdfd_inspect, sr_pdfd_render, sr_pdfd_text, sr_pdfd_find, sr_pdfd_prepare,
    sr_pdfd_confirm, sr_pdfd_fill, sr_pdfd_stamp, sr_pdfd_rewrite, sr_pdfd_signatures, sr_pdfd_compose, sr_pdfd_check,
    sr_pdfd_preview, sr_pdfd_values, sr_pdfd_overlay;

/* response.c: copies bytes into the result. Returns {"length":n}, or a fault if there are too many bytes. New
 * reference. */
json_t *sr_pdfd_result(const sr_pdfd_request_t *request, const void *bytes, apr_size_t size);
/* Returns a response with one of SR_PDF_FAULT_… and a reason. New reference. */
json_t *sr_pdfd_fault(const char *fault, const char *reason);

/* ------------------------------------------------------------------------------------------------ xref.c */
#define SR_PDFD_MAX_OBJECT 8388607 /* the limit that all readers support (ISO 32000-1, annex C) */
typedef struct sr_pdfd_xref_t {
    int64_t start;   /* offset of the newest section */
    bool stream;     /* the newest section is a cross-reference stream; that of a hybrid file is a table */
    int64_t highest; /* the highest object number in any section */
    bool gaps;       /* the only section is a table that leaves out numbers, which ISO 32000-2, 7.5.4, does not allow */
} sr_pdfd_xref_t;
/* Follows the chain of cross-reference sections as the incremental writer needs it. Returns false if nothing can be
 * appended to the document as it is. */
bool sr_pdfd_xref_check(sr_pdfd_xref_t *xref, const unsigned char *data, apr_size_t size);

#define SR_PDFD_MAX_SECTIONS 512
typedef struct sr_pdfd_chain_t {
    int64_t sections[SR_PDFD_MAX_SECTIONS]; /* offset of each section, the newest first */
    int count;
    bool stream; /* the newest section is a stream */
    bool gaps;   /* the oldest section is a table that leaves out numbers */
    int64_t highest;
    int overlaps; /* the number of sections that contain an object number twice */
} sr_pdfd_chain_t;
/* Does the same and lists the sections. If it returns false, the list has those that were found until then. */
bool sr_pdfd_xref_walk(sr_pdfd_chain_t *chain, const unsigned char *data, apr_size_t size);
/* Finds the offset after the last startxref. Returns false if there is none in the last kilobyte. */
bool sr_pdfd_xref_start(int64_t *offset, const unsigned char *data, apr_size_t size);

/* ------------------------------------------------------------------------------------------------ form.c */
#define SR_PDFD_FORM_DEPTH 32
#define SR_PDFD_FORM_FIELDS 50000

/* Fields that an earlier signature locks. */
typedef struct sr_pdfd_lock_t {
    bool excludes; /* the lock is for all fields except those in `names` */
    apr_array_header_t *names;
} sr_pdfd_lock_t;

typedef struct sr_pdfd_form_t {
    int signatures;            /* number of signature fields that are signed */
    bool need_appearances;     /* /NeedAppearances: readers must draw the values of fields themselves */
    const char *fixed;         /* the reason why no field may be added; or NULL */
    apr_array_header_t *locks; /* sr_pdfd_lock_t */
} sr_pdfd_form_t;
/* Reads the catalog and the form. Returns NULL, or the reason why nothing can be signed here. */
const char *sr_pdfd_form_read(sr_pdfd_form_t *form, qpdf_data q, apr_pool_t *pool);
/* Returns true if the document has usage rights (ISO 32000-2, 12.8.2.3). `ends` removes them. */
bool sr_pdfd_usage_rights(qpdf_data q, bool ends);
/* Returns true if an earlier signature locks the field with this name. */
bool sr_pdfd_form_locks(const sr_pdfd_form_t *form, const char *name);

/* ----------------------------------------------------------------------------------------------- merge.c */
/* Sets *widget to the only widget of a field, if it can be merged with the field. Returns false if it cannot. */
bool sr_pdfd_widget_apart(qpdf_oh *widget, qpdf_data q, qpdf_oh kids);
/* Merges empty signature fields, and fields of other types, with their only widgets. */
void sr_pdfd_fields_merge(qpdf_data q, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- empty.c */
typedef struct sr_pdfd_button_t {
    int number;      /* its object */
    int page, pages; /* where it is, and on how many pages */
} sr_pdfd_button_t;
typedef struct sr_pdfd_empty_t {
    sr_existing_t field;
    apr_array_header_t *buttons; /* sr_pdfd_button_t: of a group of radio buttons; NULL: it is no group */
    qpdf_oh object;
    int pages;  /* number of pages that show it */
    int rotate; /* /Rotate of its page */
    int flags;  /* /Ff, which may be inherited */
    bool apart; /* `object` is its widget, and the document must be rewritten to merge them */
} sr_pdfd_empty_t;
/* Returns the signature fields of a form (sr_pdfd_empty_t, at most SR_EXISTING_MAX), with the reason why a field cannot
 * be signed; or with `entries` all other fields, with the reason why a field cannot be filled in. */
const apr_array_header_t *sr_pdfd_empty_find(qpdf_data q, const sr_pdfd_form_t *form, bool entries, apr_pool_t *pool);
/* Returns the field with this name if it can be signed or filled in, or NULL. */
const sr_pdfd_empty_t *sr_pdfd_empty_named(const apr_array_header_t *fields, const char *name);

/* ---------------------------------------------------------------------------------------------- active.c */
/* Returns what a document may show or do besides its pages, as a set of sr_warning_t. Objects that cannot be read are
 * skipped. */
unsigned int sr_pdfd_active_find(qpdf_data q, int pages);

/* ----------------------------------------------------------------------------------------------- boxes.c */
/* Returns the `runs` of all pages as JSON text. If a page cannot be signed, it sets *reason and returns NULL. It sets
 * *odd if a page is not an indirect object, or has a number above `highest`: qpdf has then made up the page. */
const char *sr_pdfd_boxes_read(const char **reason, bool *odd, qpdf_data q, int pages, int64_t highest,
                               apr_pool_t *pool);
/* Returns how far a page is turned clockwise when it is displayed: 0, 90, 180 or 270 degrees. */
int sr_pdfd_page_rotation(qpdf_data q, qpdf_oh page);

/* -------------------------------------------------------------------------------------------- pagetree.c */
/* Called while a document is repaired: copies groups of pages that occur more than once in the page tree, so that each
 * place has its own, and removes what is no page from the ends of groups. */
void sr_pdfd_pages_unshare(qpdf_data q, apr_pool_t *pool);
/* Returns true if the /Parent of a page or group is another group than the one that lists it. `mends` sets the right
 * one, from which the page then inherits. */
bool sr_pdfd_pages_stray(qpdf_data q, bool mends);

/* --------------------------------------------------------------------------------------------- poppler.c */
#define SR_PDFD_POPPLER_UNREADABLE (-1)
#define SR_PDFD_POPPLER_PASSWORD (-2)
/* Returns the number of pages that poppler finds, or one of the above. */
int sr_pdfd_poppler_count(const sr_pdfd_bytes_t *bytes);
/* Loads poppler's global state and keeps it. Returns false if the small document `bytes` cannot be read. */
bool sr_pdfd_poppler_warm_up(const sr_pdfd_bytes_t *bytes);
/* Reads the tables of the Asian collections of characters, for workers that are forked later. */
void sr_pdfd_poppler_read_tables(void);

/* --------------------------------------------------------------------------------------------- compare.c */
/* Compares the pages of a document and of its repaired version, as far as the time allows. Returns NULL, or the reason
 * why the repaired version cannot replace the document. */
const char *sr_pdfd_compare(const sr_pdfd_bytes_t *before, const sr_pdfd_bytes_t *after, apr_pool_t *pool);
typedef struct sr_pdfd_pair_t sr_pdfd_pair_t;
/* Opens two revisions, until the pool is cleared. */
sr_pdfd_pair_t *sr_pdfd_pair_open(const sr_pdfd_bytes_t *before, const sr_pdfd_bytes_t *after, apr_pool_t *pool);
/* Returns true if `after` hides something that `before` shows in an area of a page (sr_pdfd_revision_t), or if that
 * cannot be found out. */
bool sr_pdfd_covers_content(const sr_pdfd_pair_t *pair, int page, const double *area);

/* ---------------------------------------------------------------------------------------------- buffer.c */
typedef struct sr_pdfd_buffer_t {
    unsigned char *data; /* followed by a NUL, unless the buffer is empty */
    apr_size_t size, room;
} sr_pdfd_buffer_t;

/* Returns an empty buffer. Its memory is freed with the pool. */
sr_pdfd_buffer_t *sr_pdfd_buffer(apr_pool_t *pool);
/* Makes the buffer `size` bytes longer. The caller fills them. If memory runs out, the process ends. */
unsigned char *sr_pdfd_grow(sr_pdfd_buffer_t *buffer, apr_size_t size);
void sr_pdfd_put(sr_pdfd_buffer_t *buffer, const void *bytes, apr_size_t size);
void sr_pdfd_put_text(sr_pdfd_buffer_t *buffer, const char *text);
void sr_pdfd_print(sr_pdfd_buffer_t *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes a number with up to four decimals and a space after it. */
void sr_pdfd_put_number(sr_pdfd_buffer_t *buffer, double value);
void sr_pdfd_put_numbers(sr_pdfd_buffer_t *buffer, const double *values, int count);
/* Writes UTF-8 as a text string (ISO 32000-2, 7.9.2.2): as ASCII if it is printable ASCII, otherwise as UTF-16BE. */
void sr_pdfd_put_string(sr_pdfd_buffer_t *buffer, const char *text);
/* Writes UTF-8 as UTF-16BE in hexadecimal digits. */
void sr_pdfd_put_utf16(sr_pdfd_buffer_t *buffer, const char *text);
/* Writes lower-case hexadecimal digits. */
void sr_pdfd_put_hex(sr_pdfd_buffer_t *buffer, const void *bytes, apr_size_t size);

/* ------------------------------------------------------------------------------------------------ pack.c */
#define SR_PDFD_WORTH_PACKING 256 /* bytes; less does not become smaller by more than the /Filter entry takes */
/* Compresses data (FlateDecode) into the buffer. Returns false if it does not become smaller. */
bool sr_pdfd_pack(sr_pdfd_buffer_t *packed, const void *data, apr_size_t size);

/* ------------------------------------------------------------------------------------------------- cid.c */
/* Makes the CID of each glyph its number, if this is the table "CFF " of a CID-keyed font. */
void sr_pdfd_cid(sr_pdfd_buffer_t *font, unsigned glyphs);

/* -------------------------------------------------------------------------------------------- document.c */
/* Reasons that several files use. */
#define SR_PDFD_DAMAGED "it is damaged"
#define SR_PDFD_ENCRYPTED "it is encrypted"
/* If memory runs out, the exception is that of the C++ library, which is only recognised by its text. */
#define SR_PDFD_NO_MEMORY_TEXT "bad_alloc"

/* Returns a qpdf handle that prints nothing and lives as long as the pool. */
qpdf_data sr_pdfd_qpdf(apr_pool_t *pool);
/* Returns the number of items of an array, or 0 for any other object. */
static inline int sr_pdfd_items(qpdf_data q, qpdf_oh array)
{
    return qpdf_oh_is_array(q, array) ? qpdf_oh_get_array_n_items(q, array) : 0;
}
typedef enum sr_pdfd_warnings_t { SR_PDFD_NO_WARNINGS, SR_PDFD_WARNINGS, SR_PDFD_NO_MEMORY } sr_pdfd_warnings_t;
/* Returns the kind of the warnings that qpdf has collected since the last call. Harmless ones (tidy.c) do not count. */
sr_pdfd_warnings_t sr_pdfd_warnings(qpdf_data q, const sr_pdfd_bytes_t *bytes);

typedef struct sr_pdfd_document_t {
    sr_pdfd_bytes_t bytes;
    qpdf_data q;
    sr_pdfd_xref_t xref;
    sr_cipher_t cipher; /* how it is encrypted; method 0: it is not encrypted */
} sr_pdfd_document_t;

/* Opens a document strictly, to append to it. Returns NULL or the reason why that is not possible. */
const char *sr_pdfd_document_open(sr_pdfd_document_t *document, const sr_pdfd_bytes_t *bytes, apr_pool_t *pool);
/* Checks that everything that was read so far was readable. Call it last. Returns NULL or the reason. */
const char *sr_pdfd_document_check(const sr_pdfd_document_t *document);
/* Returns the fault for a reason: "damaged" for SR_PDFD_DAMAGED, otherwise "document". New reference. */
json_t *sr_pdfd_document_fault(const char *reason);

/* ------------------------------------------------------------------------------------------------ tidy.c */
/* Moves white space from before the cross-reference sections to after their first keyword, in memory. qpdf cannot read
 * them otherwise. No object changes its content or its offset. */
void sr_pdfd_tidy(unsigned char *data, apr_size_t size);
/* Returns the bytes without the NUL bytes at their end. */
sr_pdfd_bytes_t sr_pdfd_trimmed(const sr_pdfd_bytes_t *bytes);

/* --------------------------------------------------------------------------------------------- pdfa.c */
/* Sets *archival if the document claims to be PDF/A. Returns NULL, or the reason why nothing can be appended to the
 * document. */
const char *sr_pdfd_archive_read(bool *archival, const sr_pdfd_document_t *document, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- update.c */
typedef struct sr_pdfd_update_t {
    const sr_pdfd_document_t *document;
    sr_pdfd_buffer_t *out; /* the bytes to append */
    int64_t next;          /* the lowest object number that is not used */
    apr_size_t loose;      /* streams of up to this size are not compressed */
    bool archival;         /* the document claims to be PDF/A, so additions must conform to it */
    int64_t signature;     /* number of the object whose /Contents is not encrypted; or 0 */
    int64_t number;        /* number of the object that is being written */
    int generation;
    apr_size_t body; /* offset of its text in `out` */
    bool spoils;     /* the update would have to encrypt a signature again */
    apr_array_header_t *entries;
    apr_pool_t *pool;
} sr_pdfd_update_t;

void sr_pdfd_update_begin(sr_pdfd_update_t *update, const sr_pdfd_document_t *document, apr_pool_t *pool);
/* Begins a new document, and ends it (ISO 32000-2, 7.5). */
void sr_pdfd_update_new(sr_pdfd_update_t *update, apr_pool_t *pool);
void sr_pdfd_update_close(sr_pdfd_update_t *update, int catalog, int information);
/* Skips object numbers that the document refers to but that are not in use. Such a reference means null (7.3.10) and
 * must not become a reference to a new object. Call it before sr_pdfd_object_number, in the first update. Later ones
 * continue above its numbers. */
void sr_pdfd_update_avoid(sr_pdfd_update_t *update);
/* Returns a number for a new object. */
int64_t sr_pdfd_object_number(sr_pdfd_update_t *update);
/* The text of an object is written to `out`, which the first one returns, between these two calls. */
sr_pdfd_buffer_t *sr_pdfd_object_begin(sr_pdfd_update_t *update, int64_t number, int generation);
#define SR_PDFD_OBJECT_END "\nendobj\n"
void sr_pdfd_object_end(sr_pdfd_update_t *update);
/* Writes an object of the document again with a new text. Each object may be rewritten once. */
void sr_pdfd_object_again(sr_pdfd_update_t *update, qpdf_oh object, const char *text);
/* Writes a new stream. `keys` are the entries of its dictionary except /Length. The data is compressed if that makes it
 * smaller, unless `keys` contain a /Filter. */
void sr_pdfd_stream(sr_pdfd_update_t *update, int64_t number, const char *keys, const void *data, apr_size_t size);
/* Does the same with a new number, and returns it. */
int sr_pdfd_stream_new(sr_pdfd_update_t *update, const char *keys, const void *data, apr_size_t size);
/* Writes a stream and never compresses the data. */
void sr_pdfd_stream_packed(sr_pdfd_update_t *update, int64_t number, const char *keys, const void *data,
                           apr_size_t size);
/* Returns the text of an array or dictionary with `more` at its end, in `pool`. */
const char *sr_pdfd_spliced(qpdf_data q, qpdf_oh container, const char *more, apr_pool_t *pool);
/* Adds the cross-reference section. Returns NULL, or the reason why the update cannot be used. */
const char *sr_pdfd_update_end(sr_pdfd_update_t *update);

/* --------------------------------------------------------------------------------------------- encrypt.c */
/* Finds out how a document that opens without a password is encrypted. Returns false if nothing can be appended to it.
 */
bool sr_pdfd_cipher_find(sr_cipher_t *cipher, const sr_pdfd_bytes_t *bytes);
/* Adds the cipher to a response, because the client must decrypt the appended bytes to check them. */
void sr_pdfd_cipher_tell(json_t *response, const sr_cipher_t *cipher, apr_pool_t *pool);
/* Decodes a string token into its bytes. */
void sr_pdfd_string_decode(sr_pdfd_buffer_t *out, const unsigned char *token, const unsigned char *end);
/* Encrypts the strings of the object that is being written if the document is encrypted. */
void sr_pdfd_encrypt_strings(sr_pdfd_update_t *update);
/* Encrypts the data of a stream. */
void sr_pdfd_encrypt_stream(sr_pdfd_buffer_t *out, const sr_pdfd_update_t *update, int64_t number, const void *data,
                            apr_size_t size);

/* --------------------------------------------------------------------------------------------- catalog.c */
/* Entries that the catalog gets when it is rewritten, or "". */
typedef struct sr_pdfd_catalog_t {
    const char *extensions, *dss;
} sr_pdfd_catalog_t;
/* Returns the number of an array that is an indirect object, or 0. */
int sr_pdfd_array_id(qpdf_data q, qpdf_oh array);
/* Returns the text of the array with `more` at its end. Anything else becomes a new array. */
const char *sr_pdfd_with_more(qpdf_data q, qpdf_oh array, const char *more, apr_pool_t *pool);
/* Returns the entry that declares PAdES signatures, or "" if nothing may be declared. `has_store`: with a document
 * security store, which has a higher level. */
const char *sr_pdfd_catalog_extensions(const sr_pdfd_document_t *document, bool has_store, apr_pool_t *pool);
/* Rewrites the catalog with its new entries and then `more`. The entries are then "". */
void sr_pdfd_catalog_put(sr_pdfd_update_t *update, sr_pdfd_catalog_t *catalog, const char *more);
/* Adds the references ("7 0 R 8 0 R ") to the fields of the form, and sets its flags. With NULL it only sets the
 * flags. It may have to rewrite the catalog. */
void sr_pdfd_form_refer(sr_pdfd_update_t *update, sr_pdfd_catalog_t *catalog, const char *references);

/* ------------------------------------------------------------------------------------------------- dss.c */
typedef struct sr_pdfd_dss_t {
    const json_t *parameters; /* "dss" of the request, or NULL */
    int64_t number;           /* the object that the client knows; 0: it is made */
    qpdf_oh before;           /* the DSS that the document has */
} sr_pdfd_dss_t;
/* Reads the member "dss" of a request. Returns false if it is not valid. */
bool sr_pdfd_dss_read(sr_pdfd_dss_t *dss, const json_t *parameters);
/* Writes the proofs that the DSS does not contain as streams, and the DSS with references to them. catalog->dss is set
 * if the catalog must be rewritten. Returns NULL, or the reason why that is not possible. */
const char *sr_pdfd_dss_put(sr_pdfd_dss_t *dss, sr_pdfd_update_t *update, sr_pdfd_catalog_t *catalog);

/* ------------------------------------------------------------------------------------------------ room.c */
/* Room for a CMS in a signature dictionary: where it is in the appended bytes. */
typedef struct sr_pdfd_room_t {
    apr_size_t bytes;           /* set before sr_pdfd_room_put: the size of the room */
    apr_size_t range, contents; /* offsets of the byte ranges and of the "<" before the digits */
} sr_pdfd_room_t;
/* Ends a signature dictionary, of which everything up to /ByteRange is written, with room for the CMS. */
void sr_pdfd_room_put(sr_pdfd_room_t *room, sr_pdfd_update_t *update);
/* Writes the byte ranges, after the update has ended: everything except the digits and their brackets. */
void sr_pdfd_room_end(const sr_pdfd_room_t *room, sr_pdfd_update_t *update);

/* --------------------------------------------------------------------------------------------- prepare.c */
/* Makes the update that adds the fields of a request to a document, or sets *reason if that is not possible. Returns
 * false if the fields are not valid. */
bool sr_pdfd_prepare_update(sr_pdfd_buffer_t **update, sr_cipher_t *cipher, const char **reason,
                            const sr_pdfd_bytes_t *document, const sr_pdfd_request_t *request, apr_pool_t *pool);
#define SR_PDFD_FIELD "Signature_" /* followed by the signer's id: the name of a signer's field */
/* Returns true if the text can be part of a field name. */
bool sr_pdfd_is_signer(const char *name);

/* ----------------------------------------------------------------------------------------- field_names.c */
typedef struct sr_pdfd_names_t sr_pdfd_names_t;
sr_pdfd_names_t *sr_pdfd_names_make(apr_pool_t *pool);
/* Adds a name that cannot be given. */
void sr_pdfd_names_add(sr_pdfd_names_t *names, const char *name);
/* Adds the name that an entry wants. All are added before the first name is given. */
void sr_pdfd_names_want(sr_pdfd_names_t *names, const char *name);
/* Returns the wanted name of an entry, or the wanted name with a number of at most nine digits. */
const char *sr_pdfd_names_give(sr_pdfd_names_t *names, const char *wanted);

/* ------------------------------------------------------------------------------------------------ tags.c */
typedef struct sr_pdfd_tags_t {
    bool tagged;          /* the document has a structure that can be extended */
    qpdf_oh root, parent; /* the structure root, and the parent of new elements, which is an element or the root */
    qpdf_oh tree;         /* the number tree that maps /StructParent to elements */
    bool is_leaf;         /* a new leaf is added to the tree; otherwise the entries are added to its root */
    int64_t next;         /* the first unused key of the tree */
} sr_pdfd_tags_t;

void sr_pdfd_tags_read(sr_pdfd_tags_t *tags, qpdf_data q);
/* Adds the structure element of a widget and returns its object number. */
int64_t sr_pdfd_tags_put_element(sr_pdfd_update_t *update, const sr_pdfd_tags_t *tags, qpdf_oh page, int64_t widget);
/* If the tree has leaves, adds a leaf with `count` entries ("7 12 0 R 8 13 0 R ") and returns its object number.
 * Otherwise returns 0. */
int64_t sr_pdfd_tags_put_leaf(sr_pdfd_update_t *update, const sr_pdfd_tags_t *tags, const char *numbers, int count);
/* Writes the objects that refer to the new elements and entries. It must be the last use of `tags`. */
void sr_pdfd_tags_refer(sr_pdfd_update_t *update, const sr_pdfd_tags_t *tags, const char *elements, const char *numbers,
                        int count, int64_t leaf);

/* ------------------------------------------------------------------------------------------ appearance.c */
typedef struct sr_pdfd_widget_t {
    qpdf_oh field;
    int rotate;           /* rotation of the page in degrees */
    double width, height; /* as displayed, in points */
    int number;           /* its position among the places of the signer, from 1 */
} sr_pdfd_widget_t;

/* What the widgets show: a form XObject or an image XObject. */
typedef struct sr_pdfd_mark_t {
    int64_t object;
    double width, height; /* in units of its own */
    bool is_image;
} sr_pdfd_mark_t;

/* Writes the keys of a form XObject with the size of the widget, upright on a rotated page. */
void sr_pdfd_put_form(sr_pdfd_buffer_t *keys, const sr_pdfd_widget_t *widget);
/* Adds the signature drawing that the parameters of "fill" contain. Returns NULL, or what is wrong with it. */
const char *sr_pdfd_mark(sr_pdfd_mark_t *mark, sr_pdfd_update_t *update, const json_t *parameters);
/* Adds the form XObject of a mark, whose size is set, with its resources and content. */
void sr_pdfd_mark_form(sr_pdfd_mark_t *mark, sr_pdfd_update_t *update, const char *resources,
                       const sr_pdfd_buffer_t *content);
/* Adds the form XObject with the word TEST and returns its object number. */
int64_t sr_pdfd_test_form(sr_pdfd_update_t *update);
/* Adds the appearance of a widget and returns its object number. `warning` is the form with the word TEST, or 0.
 * `caption` may be NULL. */
int64_t sr_pdfd_appearance(sr_pdfd_update_t *update, const sr_pdfd_widget_t *widget, const sr_pdfd_mark_t *mark,
                           int64_t warning, const sr_pdfd_mark_t *caption);

/* ----------------------------------------------------------------------------------------------- entry.c */
typedef struct sr_pdfd_entry_t {
    sr_pdf_entry_t entry;
    sr_pdf_content_t content;
} sr_pdfd_entry_t;

/* Adds the appearance of an entry as the object `number`. */
void sr_pdfd_entry_put(sr_pdfd_update_t *update, const sr_pdfd_entry_t *entry, const sr_pdfd_widget_t *widget,
                       int64_t number);
/* Writes a field of the document again with its place, its value and its appearance. */
void sr_pdfd_entry_again(sr_pdfd_update_t *update, const sr_pdf_entry_t *entry, qpdf_oh field, const double rect[4],
                         int flags, int64_t look, int64_t off);
/* Reads the entries of a request to "fill". Returns false if they are not valid. */
bool sr_pdfd_entries_read(apr_array_header_t **entries, const sr_pdfd_request_t *request, apr_pool_t *pool);
/* Finds their fields. Returns NULL, or the reason why that is not possible. */
const char *sr_pdfd_entries_find(const apr_array_header_t *entries, qpdf_data q, apr_pool_t *pool);
/* Writes their fields again with the new values and new appearances. */
void sr_pdfd_entries_fill(sr_pdfd_update_t *update, const apr_array_header_t *entries);
/* Writes the key of the signature dictionary that locks them, if there are any. */
void sr_pdfd_entries_refer(sr_pdfd_buffer_t *out, const apr_array_header_t *entries);

/* ----------------------------------------------------------------------------------------- radio_group.c */
/* Returns true if the group has exactly the buttons of the entry. */
bool sr_pdfd_radio_is(qpdf_data q, const sr_pdfd_empty_t *group, const sr_pdf_entry_t *entry, apr_pool_t *pool);
/* Writes the group and its buttons again with the value of the entry. `off` is the appearance of a button without one
 * of its own. */
void sr_pdfd_radio_again(sr_pdfd_update_t *update, const sr_pdf_entry_t *entry, qpdf_oh group, int flags, int64_t off);

/* --------------------------------------------------------------------------------------------- caption.c */
/* Adds the captions that the parameters of "fill" contain, each text once. Returns NULL, or what is wrong with them. */
const char *sr_pdfd_captions(apr_array_header_t **marks, sr_pdfd_update_t *update, const json_t *parameters);
/* Returns the caption of a widget, or NULL. */
const sr_pdfd_mark_t *sr_pdfd_caption_of(const apr_array_header_t *marks, const sr_pdfd_widget_t *widget,
                                         const json_t *parameters);
/* Writes ,"captions":[…] if the parameters of "preview" contain captions. Returns NULL, or what is wrong with them. */
const char *sr_pdfd_captions_json(sr_pdfd_buffer_t *out, const json_t *parameters, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- covers.c */
typedef enum sr_pdfd_key_t {
    SR_PDFD_KEY_CONTENTS,
    SR_PDFD_KEY_RANGE,
    SR_PDFD_KEY_SUBFILTER,
    SR_PDFD_KEY_TIME,
    SR_PDFD_KEY_NAME,
    SR_PDFD_KEY_REASON,
    SR_PDFD_KEY_CONTACT,
    SR_PDFD_KEY_COUNT
} sr_pdfd_key_t;

/* A signature dictionary as it is in the file. */
typedef struct sr_pdfd_signed_t {
    int object, generation; /* the object that it is, or that contains it */
    int64_t range[4];       /* its ByteRange */
    const char *contents;   /* its Contents, decoded: `contents_size` bytes */
    apr_size_t contents_size;
    sr_pdfd_bytes_t values[SR_PDFD_KEY_COUNT]; /* the text of its values; `data` is NULL if a value is missing */
} sr_pdfd_signed_t;

/* Checks that the ByteRange of a signature leaves out its own Contents and nothing else. The caller sets all members
 * except `values`. These are read from the signed bytes that the ByteRange indicates. Returns NULL, or what is wrong.
 */
const char *sr_pdfd_covers_itself(sr_pdfd_signed_t *signature, const sr_pdfd_bytes_t *bytes);
/* Calls sr_pdfd_xref_walk for a whole file, including one with bytes before its header. */
bool sr_pdfd_covers_chain(sr_pdfd_chain_t *chain, const sr_pdfd_bytes_t *bytes);
/* Checks that what a signature covers, the file up to `end`, is a revision that the document still builds on. *later is
 * the number of updates after it, or -1 if unknown. `chain` is that of the document, or NULL if it could not be
 * followed. Returns NULL, or what is wrong. */
const char *sr_pdfd_covers_revision(int *later, int64_t end, const sr_pdfd_chain_t *chain,
                                    const sr_pdfd_bytes_t *bytes);

/* ------------------------------------------------------------------------------------------ listing.c */
/* Returns the warnings (SR_WARNING_BIT) about a document with signatures: whether they cover what it shows. */
unsigned int sr_pdfd_signed_warnings(const sr_pdfd_bytes_t *bytes, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- compose.c */
/* Composes a sample document, so that pango and HarfBuzz load everything before the sandbox is entered. Load the fonts
 * first. Returns false on failure. */
bool sr_pdfd_compose_warm_up(apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- embed.c */
/* Prepares the fonts that most composed documents use, for workers that are forked later. Load the fonts first. */
void sr_pdfd_embed_prepare(void);

/* ------------------------------------------------------------------------------------------------ check.c */
/* Lets OpenSSL load what it needs from files. Returns false if it cannot be used. */
bool sr_pdfd_check_warm_up(apr_pool_t *pool);

#endif
