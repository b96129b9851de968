/* pdfd.h: sigreq-pdfd, the one program that parses PDF bytes. What its files share.
 *
 * Sections: limits.c · sandbox.c · landlock.c · folders.c · xref.c · form.c · boxes.c · poppler.c ·
 * probe.c · render.c · png.c · text.c; page.h is of the files that show a page
 *
 * One thread, one question at a time, nothing but memory, fonts, and descriptor 3, its client (and the log, until it is
 * ready).
 * Whatever goes wrong may end the process: its client asks another. */
#ifndef SR_PDFD_H
#define SR_PDFD_H

#include "base/base.h"
#include "pdf/protocol.h"

#include <qpdf/qpdf-c.h>

/* A document in memory, mapped from the client's descriptor. */
typedef struct sr_pdfd_bytes_t {
    const unsigned char *data;
    apr_size_t size;
} sr_pdfd_bytes_t;

typedef struct sr_pdfd_question_t {
    const json_t *text;    /* the whole object */
    sr_pdfd_bytes_t bytes; /* the document */
    unsigned char *result; /* where a result of many bytes goes; its "length" is in the answer */
    apr_size_t room;       /* for it; 0: the operation has none */
} sr_pdfd_question_t;

/* ---------------------------------------------------------------------------------------------- limits.c */
/* For the life of the process: no core files, few descriptors, none but 0 to 3, first to go when memory ends. */
void sr_pdfd_limits_begin(void);
/* For one question about a document of `size` bytes: address space (`memory` and twice the document: it is mapped, and
 * may be unpacked) and CPU time. */
void sr_pdfd_limits_question(apr_size_t memory, apr_size_t size);

/* --------------------------------------------------------------------------------------------- sandbox.c */
/* Leaves what reading from memory needs: other system calls answer EPERM, and those that start programs or
 * open connections end the process. For ever. False (and a line on standard error) when it cannot be had.
 * Files below `folders` (ends with NULL; or NULL: none) can be opened for reading where *files is true; else the
 * kernel cannot confine that, and no files can. */
bool sr_pdfd_sandbox_enter(bool *files, const char *const *folders);

/* -------------------------------------------------------------------------------------------- landlock.c */
/* Confines opening files to reading what is below `folders`. False when the kernel cannot: nothing is confined then,
 * or not enough. */
bool sr_pdfd_landlock_enter(const char *const *folders);

/* --------------------------------------------------------------------------------------------- folders.c */
/* The folders of the fonts that are installed, and of poppler's tables; ends with NULL. */
const char *const *sr_pdfd_folders_find(apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ xref.c */
/* Walks the chain of cross-reference sections as the incremental writer will have to. False when it cannot be
 * continued as it stands. *highest is the highest object number that any section claims. */
bool sr_pdfd_xref_check(int64_t *highest, const unsigned char *data, apr_size_t size);

/* ------------------------------------------------------------------------------------------------ form.c */
typedef struct sr_pdfd_form_t {
    int signatures;        /* signed signature fields */
    bool need_appearances; /* viewers must draw the fields' values themselves */
} sr_pdfd_form_t;
/* Reads catalog and form. The reason why nothing can be signed here, or NULL. */
const char *sr_pdfd_form_read(sr_pdfd_form_t *form, qpdf_data q);

/* ----------------------------------------------------------------------------------------------- boxes.c */
/* The `runs` of all pages as JSON text. *reason is set instead when a page cannot be signed. Pages that are no
 * objects of their own, or numbered above `highest`, set *odd: qpdf had to make them up. */
const char *sr_pdfd_boxes_read(const char **reason, bool *odd, qpdf_data q, int pages, int64_t highest,
                               apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- poppler.c */
#define SR_PDFD_POPPLER_UNREADABLE (-1)
#define SR_PDFD_POPPLER_PASSWORD (-2)
/* How many pages poppler sees, or one of the above. */
int sr_pdfd_poppler_count(const sr_pdfd_bytes_t *bytes);
/* Loads what poppler loads once, and keeps it. False when the small document given is not read. */
bool sr_pdfd_poppler_warm_up(const sr_pdfd_bytes_t *bytes);

/* Answers to questions: new references. */
/* ----------------------------------------------------------------------------------------------- probe.c */
json_t *sr_pdfd_probe(const sr_pdfd_question_t *question, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- render.c */
json_t *sr_pdfd_render(const sr_pdfd_question_t *question, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ text.c */
json_t *sr_pdfd_text(const sr_pdfd_question_t *question, apr_pool_t *pool);

#endif
