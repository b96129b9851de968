/* pdfd.h: sigreq-pdfd, the one program that parses PDF bytes. What its files share.
 *
 * Sections: limits.c · sandbox.c · xref.c · form.c · boxes.c · poppler.c · probe.c ·
 * covers.c · signatures.c
 *
 * One thread, one question at a time, nothing but memory and descriptor 3, its client (and the log, until it is ready).
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

/* ---------------------------------------------------------------------------------------------- limits.c */
/* For the life of the process: no core files, few descriptors, none but 0 to 3, first to go when memory ends. */
void sr_pdfd_limits_begin(void);
/* For one question about a document of `size` bytes: address space and CPU time. */
void sr_pdfd_limits_question(apr_size_t size);

/* --------------------------------------------------------------------------------------------- sandbox.c */
/* Leaves what reading from memory needs: other system calls answer EPERM, and those that start programs or
 * open connections end the process. For ever. False (and a line on standard error) when it cannot be had. */
bool sr_pdfd_sandbox_enter(void);

/* ------------------------------------------------------------------------------------------------ xref.c */
/* Walks the chain of cross-reference sections as the incremental writer will have to. False when it cannot be
 * continued as it stands. *highest is the highest object number that any section claims. */
bool sr_pdfd_xref_check(int64_t *highest, const unsigned char *data, apr_size_t size);

#define SR_PDFD_MAX_SECTIONS 512
typedef struct sr_pdfd_chain_t {
    int64_t sections[SR_PDFD_MAX_SECTIONS]; /* where each begins; the newest first */
    int count;
    int64_t highest;
} sr_pdfd_chain_t;
/* The same, and which sections there are: as many as were reached where it returns false. */
bool sr_pdfd_xref_walk(sr_pdfd_chain_t *chain, const unsigned char *data, apr_size_t size);
/* The section that the last startxref points at. False when there is none in the last kilobyte. */
bool sr_pdfd_xref_start(int64_t *offset, const unsigned char *data, apr_size_t size);

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

/* ----------------------------------------------------------------------------------------------- probe.c */
/* The answer to "probe". New reference. */
json_t *sr_pdfd_probe(const sr_pdfd_bytes_t *bytes, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- covers.c */
typedef enum sr_pdfd_key_t {
    SR_PDFD_KEY_CONTENTS,
    SR_PDFD_KEY_RANGE,
    SR_PDFD_KEY_SUBFILTER,
    SR_PDFD_KEY_TIME,
    SR_PDFD_KEY_NAME,
    SR_PDFD_KEY_REASON,
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
/* The answer to "signatures". New reference. */
json_t *sr_pdfd_signatures(const sr_pdfd_bytes_t *bytes, apr_pool_t *pool);

#endif
