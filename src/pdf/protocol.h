/* protocol.h: how a client and sigreq-pdfd talk, shared by both so that they cannot drift apart.
 *
 * One message is a fixed header and a JSON object of `length` bytes, over a Unix stream socket of one host (so
 * in the host's byte order). A question names its operation, {"op":"probe"}, and may carry descriptors (SCM_RIGHTS,
 * with the header's first byte): the document, and then the result, a file in memory that the client has made and
 * sized; the worker maps it to write into it, which needs no system call that its sandbox would not have anyway, and
 * can make it no larger. The answer repeats the question's id. A worker speaks first: a message with id 0 says that
 * it has warmed up and closed its sandbox. Until then whatever goes wrong is the program's fault, afterwards the
 * document's.
 *
 *   question                                    answer
 *   ping                                        {}
 *   probe (document)                            {"verdict":"accepted","report":"<text form of model.h, pages.c>"}
 *                                               {"verdict":"not-pdf"} {"verdict":"password"}
 *                                               {"verdict":"refused","reason":"it has no pages"}
 *   render (document, result)                   {"length":n,"width":w,"height":h,"gray":true}: n bytes of PNG
 *     "page":0,"width":w
 *   text (document, result)                     {"length":n}: n bytes of JSON (pdf.h)
 *     "page":0
 *   The last two also answer                    {"refused":"it is password protected"}
 *                                               {"missing":true}: the document has no such page
 *                                               {"unavailable":"…"}: not on this system
 */
#ifndef SR_PDF_PROTOCOL_H
#define SR_PDF_PROTOCOL_H

#include "pdf/pdf.h"

#define SR_PDF_MAGIC 0x31525053u /* raise the digit ("SPR1") when messages change their meaning */
#define SR_PDF_SOCKET 3          /* the worker's descriptor */
#define SR_PDF_DESCRIPTORS 2     /* that one question may carry */

#define SR_PDF_MAX_QUESTION 4096
#define SR_PDF_MAX_ANSWER (4 << 20) /* 20,000 pages, each with a box of its own, take about 2 MB */
#define SR_PDF_MAX_REASON 200       /* bytes of printable ASCII */

#define SR_PDF_OP_PING "ping"
#define SR_PDF_OP_PROBE "probe"
#define SR_PDF_OP_RENDER "render"
#define SR_PDF_OP_TEXT "text"

/* What each operation may write into its result. */
#define SR_PDF_MAX_PNG ((apr_size_t)192 << 20) /* the largest raster in colour, where it cannot be compressed */
#define SR_PDF_MAX_PAGE_TEXT ((apr_size_t)4 << 20)

/* Indexed by sr_pdf_verdict_t. */
#define SR_PDF_VERDICT_NAMES                                                                                           \
    {                                                                                                                  \
        "accepted", "not-pdf", "password", "refused"                                                                   \
    }

#define SR_PDF_LIMITS_REASON "it could not be read within the limits"

typedef struct sr_pdf_header_t {
    uint32_t magic;
    uint32_t id;     /* of the question; 0: the worker's greeting */
    uint32_t flags;  /* SR_PDF_LAST */
    uint32_t length; /* of the JSON text that follows */
} sr_pdf_header_t;

#define SR_PDF_LAST 1u /* in an answer: the worker ends after it, ask another */

typedef enum sr_pdf_wire_t {
    SR_PDF_WIRE_OK,
    SR_PDF_WIRE_CLOSED,  /* the other side is gone */
    SR_PDF_WIRE_LATE,    /* the deadline passed */
    SR_PDF_WIRE_GARBAGE, /* not this protocol, or too long */
    SR_PDF_WIRE_FAILED   /* errno says why */
} sr_pdf_wire_t;

/* Monotonic microseconds: deadlines are points of this clock, so that setting the time moves none. */
int64_t sr_pdf_clock(void);

/* Sends one message. `descriptors` is NULL, or SR_PDF_DESCRIPTORS of them, of which those before the first -1 go
 * along. */
sr_pdf_wire_t sr_pdf_send(int socket, uint32_t id, uint32_t flags, const char *text, const int *descriptors,
                          int64_t deadline);

/* Receives one message of at most `limit` bytes; *text (NUL-terminated, header->length bytes) is in `pool`.
 * With `descriptors` not NULL so many may come along (the others are -1) and are the caller's to close; with NULL
 * the kernel drops any. */
sr_pdf_wire_t sr_pdf_receive(sr_pdf_header_t *header, const char **text, int *descriptors, int socket, apr_size_t limit,
                             int64_t deadline, apr_pool_t *pool);

#endif
