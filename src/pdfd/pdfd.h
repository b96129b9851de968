/* SPDX-License-Identifier: Apache-2.0 */
/* pdfd.h: sigreq-pdfd, the one program that parses PDF bytes. What its files share.
 *
 * Sections: main.c · template.c · libraries.c · heap.c · limits.c · sandbox.c · landlock.c · folders.c · xref.c ·
 * form.c · empty.c · boxes.c · pagetree.c · poppler.c · compare.c · probe.c · render.c · look.c · png.c · jpeg.c ·
 * text.c; page.h is of the files that show a page; and what writes: buffer.c · document.c · tidy.c · archive.c ·
 * writer.c · encrypt.c (encryption.h) · prepare.c · tags.c · fill.c · appearance.c · caption.c · drawing.c
 * (what ink.c, glyphs.c, image.c, orient.c, paper.c make) · preview.c · fonts.c (glyphs.h) ·
 * normalise.c (drawform.h) · covers.c ·
 * signatures.c · changes.cc (over rules.cc, uses.cc and revision.cc) · compose.c · flow.c (flow.h) · structure.c
 * (structure.h) · tagged.cc (tagged.h) · marks.c, drawn.c, drawnimage.c
 * (marks.h) · typeset.c (typeset.h) · fontmap.c (fontmap.h)
 *
 * One thread, one request at a time, nothing but memory, fonts, and descriptor 3, its client (and the log, until it is
 * ready).
 * Whatever goes wrong may end the process: its client asks another.
 *
 * The process that a client starts is the template: it loads and warms up the libraries, enters the sandbox, never
 * reads a document, and forks a worker for each document. */
#ifndef SR_PDFD_H
#define SR_PDFD_H

#include "base/base.h"
#include "model/existing.h"
#include "model/report.h"
#include "model/warnings.h"
#include "pdf/protocol.h"

#include <qpdf/qpdf-c.h>

/* A document in memory, mapped from the client's descriptor. */
typedef struct sr_pdfd_bytes_t {
    const unsigned char *data;
    apr_size_t size;
} sr_pdfd_bytes_t;

typedef struct sr_pdfd_request_t {
    const json_t *text;    /* the whole object */
    sr_pdfd_bytes_t bytes; /* the document */
    unsigned char *result; /* where a result of many bytes goes; its "length" is in the answer */
    apr_size_t room;       /* for it; 0: the operation has none */
} sr_pdfd_request_t;

/* ------------------------------------------------------------------------------------------------ main.c */
/* Answers a request (new reference), or NULL when it was none: the conversation is then over. */
typedef json_t *sr_pdfd_op_t(const sr_pdfd_request_t *request, apr_pool_t *pool);
sr_pdfd_op_t sr_pdfd_probe, sr_pdfd_render, sr_pdfd_text, sr_pdfd_prepare, sr_pdfd_confirm, sr_pdfd_fill,
    sr_pdfd_rewrite, sr_pdfd_signatures, sr_pdfd_compose, sr_pdfd_reduce, sr_pdfd_key, sr_pdfd_check, sr_pdfd_preview;

/* response.c: puts bytes into the result: the answer {"length":n}, or the fault that they are too many. New reference.
 */
json_t *sr_pdfd_result(const sr_pdfd_request_t *request, const void *bytes, apr_size_t size);
/* The answer that something cannot be done: one of SR_PDF_FAULT_, and why. New reference. */
json_t *sr_pdfd_fault(const char *fault, const char *reason);

/* -------------------------------------------------------------------------------------------- template.c */
/* Whether this process can be forked: it has one thread. To be asked before the sandbox closes. */
bool sr_pdfd_template_possible(void);
/* Forks workers when the client asks for them. Returns true in each worker, which then has its own socket, limits and
 * sandbox, and false in the template when the client is gone. */
bool sr_pdfd_template_serve(apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------- libraries.c */
/* In the template: workers are forked without the libraries that they have no use for. */
void sr_pdfd_libraries_leave_out(apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ heap.c */
/* In the template, as the last thing: workers allocate at the end of the heap. */
void sr_pdfd_heap_settle(void);

/* ------------------------------------------------------------------------------------------------- end.c
 * Builds for `make test SANITIZE=1` and `make coverage` define SR_SANITIZE: the options of the sanitizers. Such a
 * helper has no sandbox and no limit of memory, because it needs files and address space for what it finds out.
 */
#ifdef SR_SANITIZE
#define SR_PDFD_INSTRUMENTED true
#else
#define SR_PDFD_INSTRUMENTED false
#endif
/* Ends the process without destructors: the kernel takes everything back, and a document may have changed what they
 * would touch. A build for tests destroys the pool, reports leaks and writes its counters before. */
_Noreturn void sr_pdfd_end(apr_pool_t *pool);
/* Before each answer, because the client may kill the process as soon as it has it: a build for `make coverage` adds
 * its counters to its files. */
void sr_pdfd_note_counters(void);

/* ---------------------------------------------------------------------------------------------- limits.c */
/* For the life of the process: no core files, few descriptors, none but 0 to 3, first to go when memory ends. */
void sr_pdfd_limits_begin(void);
/* The processor time of one request, 5 seconds unless it is set. No worker has more than that of 6 requests. */
void sr_pdfd_limits_worker(unsigned seconds);
/* For one request about a document of `size` bytes: address space (`memory` and twice the document: it is mapped, and
 * may be unpacked) and CPU time. The first request sets what no later one can exceed, whatever code is running then:
 * 1.5 GiB and four times the document. */
void sr_pdfd_limits_request(apr_size_t memory, apr_size_t size);

/* --------------------------------------------------------------------------------------------- sandbox.c */
/* Leaves what reading from memory needs, and forking a worker: other system calls answer EPERM, and those that start
 * programs or open connections end the process. For ever. False (and a line on standard error) when it cannot be had.
 * Files below `folders` (ends with NULL; or NULL: none) can be opened for reading where *files is true; else the
 * kernel cannot confine that, and no files can. */
bool sr_pdfd_sandbox_enter(bool *files, const char *const *folders);
/* The flags of the one clone() that the sandbox lets pass: the worker becomes a child of the client. */
#define SR_PDFD_FORK_FLAGS (CLONE_PARENT | SIGCHLD) /* sched.h, signal.h */
/* In a worker: takes away what only the template needs. A worker that tries to fork is ended. */
bool sr_pdfd_sandbox_tighten(void);

/* -------------------------------------------------------------------------------------------- landlock.c */
/* Confines opening files to reading what is below `folders`. False when the kernel cannot: nothing is confined then,
 * or not enough. */
bool sr_pdfd_landlock_enter(const char *const *folders);

/* --------------------------------------------------------------------------------------------- folders.c */
/* The folders of the fonts that are installed, and of poppler's tables; ends with NULL. */
const char *const *sr_pdfd_folders_find(apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ xref.c */
#define SR_PDFD_MAX_OBJECT 8388607 /* what readers agree on (ISO 32000-1, annex C) */
typedef struct sr_pdfd_xref_t {
    int64_t start;   /* where the newest section begins */
    bool stream;     /* the newest section is a cross-reference stream; a hybrid's is a table */
    int64_t highest; /* the highest object number that any section claims */
} sr_pdfd_xref_t;
/* Walks the chain of cross-reference sections as the incremental writer has to. False when it cannot be continued
 * as it stands. */
bool sr_pdfd_xref_check(sr_pdfd_xref_t *xref, const unsigned char *data, apr_size_t size);

#define SR_PDFD_MAX_SECTIONS 512
typedef struct sr_pdfd_chain_t {
    int64_t sections[SR_PDFD_MAX_SECTIONS]; /* where each begins; the newest first */
    int count;
    bool stream; /* the newest one is a stream */
    int64_t highest;
    int hybrids, overlaps; /* sections with a second one (/XRefStm); sections that name a number twice */
} sr_pdfd_chain_t;
/* The same, and which sections there are: as many as were reached where it returns false. */
bool sr_pdfd_xref_walk(sr_pdfd_chain_t *chain, const unsigned char *data, apr_size_t size);
/* The section that the last startxref points at. False when there is none in the last kilobyte. */
bool sr_pdfd_xref_start(int64_t *offset, const unsigned char *data, apr_size_t size);

/* ------------------------------------------------------------------------------------------------ form.c */
#define SR_PDFD_FORM_DEPTH 32
#define SR_PDFD_FORM_FIELDS 50000

/* Fields that an earlier signature locks. */
typedef struct sr_pdfd_lock_t {
    bool excludes; /* all but those that are named */
    apr_array_header_t *names;
} sr_pdfd_lock_t;

typedef struct sr_pdfd_form_t {
    int signatures;            /* signed signature fields */
    bool need_appearances;     /* viewers must draw the fields' values themselves */
    const char *fixed;         /* the reason why no field may be added, or NULL */
    apr_array_header_t *locks; /* sr_pdfd_lock_t */
} sr_pdfd_form_t;
/* Reads catalog and form. The reason why nothing can be signed here, or NULL. */
const char *sr_pdfd_form_read(sr_pdfd_form_t *form, qpdf_data q, apr_pool_t *pool);
/* Whether an earlier signature locks the field of that name. */
bool sr_pdfd_form_locks(const sr_pdfd_form_t *form, const char *name);

/* ----------------------------------------------------------------------------------------------- empty.c */
typedef struct sr_pdfd_empty_t {
    sr_existing_t field;
    qpdf_oh object;
    int pages;  /* on which it is */
    int rotate; /* of its page */
} sr_pdfd_empty_t;
/* The signature fields that a form has (sr_pdfd_empty_t), as many as are listed, and which of them can be signed. */
const apr_array_header_t *sr_pdfd_empty_find(qpdf_data q, const sr_pdfd_form_t *form, apr_pool_t *pool);
/* The field of that name if it can be signed, or NULL. */
const sr_pdfd_empty_t *sr_pdfd_empty_named(const apr_array_header_t *fields, const char *name);

/* ---------------------------------------------------------------------------------------------- active.c */
/* What a document may show or do besides its pages, as a set of sr_warning_t. What cannot be read is passed over. */
unsigned int sr_pdfd_active_find(qpdf_data q, int pages);

/* ----------------------------------------------------------------------------------------------- boxes.c */
/* The `runs` of all pages as JSON text. *reason is set instead when a page cannot be signed. Pages that are no
 * objects of their own, or numbered above `highest`, set *odd: qpdf had to make them up. */
const char *sr_pdfd_boxes_read(const char **reason, bool *odd, qpdf_data q, int pages, int64_t highest,
                               apr_pool_t *pool);
/* How far a page is turned clockwise when it is shown: 0, 90, 180 or 270. */
int sr_pdfd_page_rotation(qpdf_data q, qpdf_oh page);

/* -------------------------------------------------------------------------------------------- pagetree.c */
/* Gives each place in the page tree a group of pages of its own, where a document is repaired. */
void sr_pdfd_pages_unshare(qpdf_data q, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- poppler.c */
#define SR_PDFD_POPPLER_UNREADABLE (-1)
#define SR_PDFD_POPPLER_PASSWORD (-2)
/* How many pages poppler sees, or one of the above. */
int sr_pdfd_poppler_count(const sr_pdfd_bytes_t *bytes);
/* Loads what poppler loads once, and keeps it. False when the small document given is not read. */
bool sr_pdfd_poppler_warm_up(const sr_pdfd_bytes_t *bytes);

/* --------------------------------------------------------------------------------------------- compare.c */
/* Whether a document and its repair show the same, as far as there is time to compare their pages. The reason why the
 * repair cannot take its place, or NULL. */
const char *sr_pdfd_compare(const sr_pdfd_bytes_t *before, const sr_pdfd_bytes_t *after, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- buffer.c */
typedef struct sr_pdfd_buffer_t {
    unsigned char *data; /* a NUL follows the bytes, once there are any */
    apr_size_t size, room;
} sr_pdfd_buffer_t;

/* An empty one; its bytes are given back with the pool. */
sr_pdfd_buffer_t *sr_pdfd_buffer(apr_pool_t *pool);
/* Makes it `size` bytes longer; the caller fills them. */
unsigned char *sr_pdfd_grow(sr_pdfd_buffer_t *buffer, apr_size_t size);
void sr_pdfd_put(sr_pdfd_buffer_t *buffer, const void *bytes, apr_size_t size);
void sr_pdfd_put_text(sr_pdfd_buffer_t *buffer, const char *text);
void sr_pdfd_print(sr_pdfd_buffer_t *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* With up to four decimals, and a space behind it. */
void sr_pdfd_put_number(sr_pdfd_buffer_t *buffer, double value);
void sr_pdfd_put_numbers(sr_pdfd_buffer_t *buffer, const double *values, int count);
/* UTF-8 as a text string (ISO 32000-2, 7.9.2.2): ASCII as it is, anything else as UTF-16BE. */
void sr_pdfd_put_string(sr_pdfd_buffer_t *buffer, const char *text);
/* Lower-case hexadecimal digits. */
void sr_pdfd_put_hex(sr_pdfd_buffer_t *buffer, const void *bytes, apr_size_t size);

/* -------------------------------------------------------------------------------------------- document.c */
/* Reasons that more than one file gives. */
#define SR_PDFD_DAMAGED "it is damaged"
#define SR_PDFD_ENCRYPTED "it is encrypted"
/* Where memory ran out, the exception is C++'s own, and only its text tells. */
#define SR_PDFD_NO_MEMORY_TEXT "bad_alloc"

/* A quiet qpdf that lives as long as the pool. */
qpdf_data sr_pdfd_qpdf(apr_pool_t *pool);
/* How many items an array has; 0 for any other object. */
static inline int sr_pdfd_items(qpdf_data q, qpdf_oh array)
{
    return qpdf_oh_is_array(q, array) ? qpdf_oh_get_array_n_items(q, array) : 0;
}
typedef enum sr_pdfd_warnings_t { SR_PDFD_NO_WARNINGS, SR_PDFD_WARNINGS, SR_PDFD_NO_MEMORY } sr_pdfd_warnings_t;
/* What qpdf has complained of since it was asked last, but for what is harmless (tidy.c). */
sr_pdfd_warnings_t sr_pdfd_warnings(qpdf_data q, const sr_pdfd_bytes_t *bytes);

typedef struct sr_pdfd_document_t {
    sr_pdfd_bytes_t bytes;
    qpdf_data q;
    sr_pdfd_xref_t xref;
    sr_cipher_t cipher; /* by which it is encrypted; method 0: it is not */
} sr_pdfd_document_t;

/* Opens a document strictly, to continue it. The reason why it cannot be, or NULL. */
const char *sr_pdfd_document_open(sr_pdfd_document_t *document, const sr_pdfd_bytes_t *bytes, apr_pool_t *pool);
/* Whether all that was read so far was readable: to be asked last. The reason why not, or NULL. */
const char *sr_pdfd_document_check(const sr_pdfd_document_t *document);
/* The fault that a document is to blame for: it is damaged, or something else. New reference. */
json_t *sr_pdfd_document_fault(const char *reason);

/* ------------------------------------------------------------------------------------------------ tidy.c */
/* Moves white space from before the cross-reference sections, in memory: qpdf does not read them else. No byte changes
 * its meaning, and no offset its object. */
void sr_pdfd_tidy(unsigned char *data, apr_size_t size);

/* --------------------------------------------------------------------------------------------- archive.c */
/* Whether the document claims to be PDF/A. The reason why it cannot be continued, or NULL. */
const char *sr_pdfd_archive_read(bool *archival, const sr_pdfd_document_t *document, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- writer.c */
typedef struct sr_pdfd_update_t {
    const sr_pdfd_document_t *document;
    sr_pdfd_buffer_t *out; /* what is to be appended */
    int64_t next;          /* the lowest object number that nothing uses */
    bool archival;         /* what is added must be fit for PDF/A */
    int64_t signature;     /* the number of the object whose /Contents is not to be encrypted; or 0 */
    int64_t number;        /* of the object that is being written */
    int generation;
    apr_size_t body; /* where its text begins */
    bool spoils;     /* a signature cannot be encrypted as it was */
    apr_array_header_t *entries;
    apr_pool_t *pool;
} sr_pdfd_update_t;

void sr_pdfd_update_begin(sr_pdfd_update_t *update, const sr_pdfd_document_t *document, apr_pool_t *pool);
/* Leaves out the numbers that an object refers to and nothing has. A reference to what is not there means null
 * (7.3.10), and is not to mean one of the new objects. Before any number is given. */
void sr_pdfd_update_avoid(sr_pdfd_update_t *update, qpdf_oh object);
/* A number for a new object. */
int64_t sr_pdfd_object_number(sr_pdfd_update_t *update);
/* Between these two the object's text goes into `out`. */
void sr_pdfd_object_begin(sr_pdfd_update_t *update, int64_t number, int generation);
#define SR_PDFD_OBJECT_END "\nendobj\n"
void sr_pdfd_object_end(sr_pdfd_update_t *update);
/* An object of the document with a new text; at most once each. */
void sr_pdfd_object_again(sr_pdfd_update_t *update, qpdf_oh object, const char *text);
/* A new stream; `keys` are those of its dictionary besides /Length. It is packed if that wins something, unless they
 * name a /Filter. */
void sr_pdfd_stream(sr_pdfd_update_t *update, int64_t number, const char *keys, const void *data, apr_size_t size);
/* The text of an array or dictionary with more in it. */
const char *sr_pdfd_spliced(qpdf_data q, qpdf_oh container, const char *more, apr_pool_t *pool);
/* Adds the cross-reference section. The reason why the update is of no use, or NULL. */
const char *sr_pdfd_update_end(sr_pdfd_update_t *update);

/* --------------------------------------------------------------------------------------------- encrypt.c */
/* How a document is encrypted that opens without a password. False when nothing can be appended to it. */
bool sr_pdfd_cipher_find(sr_cipher_t *cipher, const sr_pdfd_bytes_t *bytes);
/* Adds it to an answer: who checks what is appended has to read it. */
void sr_pdfd_cipher_tell(json_t *response, const sr_cipher_t *cipher, apr_pool_t *pool);
/* The bytes of a string, whose token is given. */
void sr_pdfd_string_decode(sr_pdfd_buffer_t *out, const unsigned char *token, const unsigned char *end);
/* Encrypts the strings of the object that is being written, if the document is encrypted. */
void sr_pdfd_encrypt_strings(sr_pdfd_update_t *update);
/* The content of a stream. */
void sr_pdfd_encrypt_stream(sr_pdfd_buffer_t *out, const sr_pdfd_update_t *update, int64_t number, const void *data,
                            apr_size_t size);

/* --------------------------------------------------------------------------------------------- prepare.c */
/* The update that adds fields, or *reason, why it cannot be. False when the fields are not understood. */
bool sr_pdfd_prepare_update(sr_pdfd_buffer_t **update, sr_cipher_t *cipher, const char **reason,
                            const sr_pdfd_bytes_t *document, const json_t *fields, apr_pool_t *pool);
#define SR_PDFD_FIELD "Signature_" /* and the signer: the name of a signer's field */
/* Whether a name can be part of a field's. */
bool sr_pdfd_is_signer(const char *name);

/* ------------------------------------------------------------------------------------------------ tags.c */
typedef struct sr_pdfd_tags_t {
    bool tagged;          /* the document has a structure that can be continued */
    qpdf_oh root, parent; /* of the structure; the element, or the root, that new elements are added to */
    qpdf_oh tree;         /* from numbers to elements */
    bool is_leaf;         /* a new leaf is added to the tree; else new numbers are added to its root */
    int64_t next;         /* the first number that the tree does not have */
} sr_pdfd_tags_t;

void sr_pdfd_tags_read(sr_pdfd_tags_t *tags, qpdf_data q);
/* Adds the element of a widget and returns its number. */
int64_t sr_pdfd_tags_put_element(sr_pdfd_update_t *update, const sr_pdfd_tags_t *tags, qpdf_oh page, int64_t widget);
/* Adds a leaf of the tree with so many `numbers` ("7 12 0 R 8 13 0 R ") if the tree has leaves. Its number, or 0. */
int64_t sr_pdfd_tags_put_leaf(sr_pdfd_update_t *update, const sr_pdfd_tags_t *tags, const char *numbers, int count);
/* Writes what refers to the new elements (references) and numbers. The last use of the tags. */
void sr_pdfd_tags_refer(sr_pdfd_update_t *update, const sr_pdfd_tags_t *tags, const char *elements, const char *numbers,
                        int count, int64_t leaf);

/* ------------------------------------------------------------------------------------------ appearance.c */
typedef struct sr_pdfd_widget_t {
    qpdf_oh field;
    int rotate;           /* of the page */
    double width, height; /* as displayed, in points */
    int number;           /* of the signer's places, from 1 */
} sr_pdfd_widget_t;

/* What the widgets show: a form or an image XObject. */
typedef struct sr_pdfd_mark_t {
    int64_t object;
    double width, height; /* in units of its own */
    bool is_image;
} sr_pdfd_mark_t;

/* Adds the signature that the parameters of "fill" have. What is wrong with it, or NULL. */
const char *sr_pdfd_mark(sr_pdfd_mark_t *mark, sr_pdfd_update_t *update, const json_t *parameters);
/* Adds a mark's form, whose size is set, with its resources and content. */
void sr_pdfd_mark_form(sr_pdfd_mark_t *mark, sr_pdfd_update_t *update, const char *resources,
                       const sr_pdfd_buffer_t *content);
/* The word TEST, and the number of its form. */
int64_t sr_pdfd_test_form(sr_pdfd_update_t *update);
/* Adds a widget's appearance and returns its number. `warning`: of the word TEST, or 0; `caption`: or NULL. */
int64_t sr_pdfd_appearance(sr_pdfd_update_t *update, const sr_pdfd_widget_t *widget, const sr_pdfd_mark_t *mark,
                           int64_t warning, const sr_pdfd_mark_t *caption);

/* --------------------------------------------------------------------------------------------- caption.c */
/* Adds the captions that the parameters of "fill" have. Each text is drawn once. What is wrong with them, or NULL. */
const char *sr_pdfd_captions(apr_array_header_t **marks, sr_pdfd_update_t *update, const json_t *parameters);
/* The caption of a widget, or NULL. */
const sr_pdfd_mark_t *sr_pdfd_caption_of(const apr_array_header_t *marks, const sr_pdfd_widget_t *widget,
                                         const json_t *parameters);
/* ,"captions":[…] for the parameters of "preview", if they have any. What is wrong with them, or NULL. */
const char *sr_pdfd_captions_json(sr_pdfd_buffer_t *out, const json_t *parameters, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- drawing.c
 * What a signature looks like: strokes and filled outlines in blue, or an image.
 */
typedef struct sr_pdfd_drawing_t {
    double width, height, left, bottom; /* of its box, in units of its own; y goes up */
    sr_pdfd_buffer_t *steps;            /* NULL: it is an image */
    int digits;                         /* of places, behind the point: 1 or 2 */
    const char *colour;                 /* operators that set it; NULL: blue ink */
    json_t *unknown;                    /* of a text that cannot be drawn: the code points that no font has. Or NULL */
    /* Of an image of width x height pixels: these, 4 bytes each, from the top; or the file as it came. */
    sr_pdfd_buffer_t *rgba, *jpeg;
    bool is_gray; /* the JPEG */
} sr_pdfd_drawing_t;

/* Draws what a parameter of a request has. What is wrong with it, or NULL. */
typedef const char *sr_pdfd_drawer_t(sr_pdfd_drawing_t *drawing, const json_t *value, apr_pool_t *pool);
sr_pdfd_drawer_t sr_pdfd_draw_ink, sr_pdfd_draw_text, sr_pdfd_draw_image; /* ink.c, glyphs.c, image.c */
/* glyphs.c: a line of plain text; a request mark for each character that no font has. */
sr_pdfd_drawer_t sr_pdfd_draw_line;
/* The one that the parameters name. */
sr_pdfd_drawer_t sr_pdfd_draw_any;
/* A step of a path, as the operator of a page's content: m, l, c, h; w before a path that S ends; f. */
void sr_pdfd_draw(sr_pdfd_drawing_t *drawing, char step, const double *values, int count);
/* The steps as content of a form whose box begins at 0 0. */
void sr_pdfd_drawing_content(sr_pdfd_buffer_t *out, const sr_pdfd_drawing_t *drawing);
/* {"width","height","paths":[{"d","stroke"?},…]} with paths as in SVG, y downwards; or {"width","height","type",
 * "image"} with the file in base64. */
void sr_pdfd_drawing_json(sr_pdfd_buffer_t *out, const sr_pdfd_drawing_t *drawing, apr_pool_t *pool);

/* fonts.c: loads the system's fonts, or as many as make sense; in the sandbox it may be too late. */
void sr_pdfd_fonts_load(void);
/* Address space that they take. */
apr_size_t sr_pdfd_fonts_mapped(void);

/* ----------------------------------------------------------------------------------------------- image.c */
/* Adds the image of a drawing, and returns its number. */
int64_t sr_pdfd_image_object(sr_pdfd_update_t *update, const sr_pdfd_drawing_t *drawing);
/* The pixels as a PNG. */
sr_pdfd_buffer_t *sr_pdfd_image_png(const sr_pdfd_drawing_t *drawing, apr_pool_t *pool);
typedef struct sr_pdfd_pixels_t {
    sr_pdfd_buffer_t *rgba; /* 4 bytes each, from the top */
    int width, height;
} sr_pdfd_pixels_t;
/* The pixels of a JPEG as sr_pdfd_image_object keeps it. False: it is damaged, has unusually many scans, or is
 * something else. */
bool sr_pdfd_image_jpeg(sr_pdfd_pixels_t *pixels, const void *data, apr_size_t size, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- paper.c */
/* Makes paper transparent where the pixels are ink on light paper. False: they are something else, and unchanged. */
bool sr_pdfd_paper_remove(sr_pdfd_pixels_t *pixels, apr_pool_t *pool);
/* Cuts off what cannot be seen, and leaves some room around the rest. False: nothing can be seen. */
bool sr_pdfd_paper_trim(sr_pdfd_pixels_t *pixels, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- orient.c */
/* How an image is to be shown, 1 to 8 as Exif counts, by a segment APP1 of its JPEG file. 1: as it is, or unknown. */
int sr_pdfd_orientation(const unsigned char *segment, apr_size_t size);
/* Mirrors and turns the pixels by that. */
void sr_pdfd_orient(sr_pdfd_pixels_t *pixels, int orientation, apr_pool_t *pool);

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

/* A signature dictionary, as it stands in the file. */
typedef struct sr_pdfd_signed_t {
    int object, generation; /* the object that it is, or is in */
    int64_t range[4];       /* its ByteRange */
    const char *contents;   /* its Contents, decoded: `contents_size` bytes */
    apr_size_t contents_size;
    sr_pdfd_bytes_t values[SR_PDFD_KEY_COUNT]; /* the text of its values; no data: not there */
} sr_pdfd_signed_t;

/* Whether the ByteRange of a signature leaves out its own Contents and nothing else. The caller fills in all but
 * `values`, which are then read where the ByteRange says, inside what is signed. NULL, or what is wrong. */
const char *sr_pdfd_covers_itself(sr_pdfd_signed_t *signature, const sr_pdfd_bytes_t *bytes);
/* sr_pdfd_xref_walk on a whole file, whatever stands before its header. */
bool sr_pdfd_covers_chain(sr_pdfd_chain_t *chain, const sr_pdfd_bytes_t *bytes);
/* Whether what a signature covers (the file to `end`) is a revision that the document still builds on, and *later:
 * the number of updates behind it, or -1 when that cannot be told. `chain` is the document's, NULL when it could
 * not be walked. NULL, or what is wrong. */
const char *sr_pdfd_covers_revision(int *later, int64_t end, const sr_pdfd_chain_t *chain,
                                    const sr_pdfd_bytes_t *bytes);

/* ------------------------------------------------------------------------------------------ signatures.c */
/* The warnings (SR_WARNING_BIT) about a document with signatures: whether they cover what it shows. */
unsigned int sr_pdfd_signed_warnings(const sr_pdfd_bytes_t *bytes, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- compose.c */
/* Composes a sample, so that everything lazy in pango and cairo is loaded before the sandbox closes; the fonts are to
 * be loaded before. False when it cannot be had. */
bool sr_pdfd_compose_warm_up(apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ check.c */
/* Lets OpenSSL load and compute what it needs files for. False: it cannot be used. */
bool sr_pdfd_check_warm_up(apr_pool_t *pool);

#endif
