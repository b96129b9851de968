/* protocol.h: how a client and sigreq-pdfd talk, shared by both so that they cannot drift apart.
 *
 * One message is a fixed header and a JSON object of `length` bytes, over a Unix stream socket of one host (so
 * in the host's byte order). A question names its operation, {"op":"probe"}, and may carry the document's
 * descriptor (SCM_RIGHTS, with the header's first byte); the answer repeats the question's id. A worker speaks
 * first: a message with id 0 says that it has warmed up and closed its sandbox. Until then whatever goes wrong
 * is the program's fault, afterwards the document's.
 *
 *   ping   {}
 *   probe  {"verdict":"accepted","report":"<text form of model.h, pages.c>"}
 *          {"verdict":"not-pdf"} {"verdict":"password"} {"verdict":"refused","reason":"it has no pages"}
 *   signatures {"verdict":"accepted","signatures":[{"field":"a.b", "range":[0,b,c,d], "later":0, "subfilter", "time",
 *          "name", "reason", "fault"}]} or as of probe. A value that cannot be told is left out; "later" is -1 then;
 *          "fault" is there when the signature does not cover what it must.
 */
#ifndef SR_PDF_PROTOCOL_H
#define SR_PDF_PROTOCOL_H

#include "pdf/pdf.h"

#define SR_PDF_MAGIC 0x31525053u /* raise the digit ("SPR1") when messages change their meaning */
#define SR_PDF_SOCKET 3          /* the worker's descriptor */

#define SR_PDF_MAX_QUESTION 4096
#define SR_PDF_MAX_ANSWER (4 << 20) /* 20,000 pages, each with a box of its own, take about 2 MB */
#define SR_PDF_MAX_REASON 200       /* bytes of printable ASCII */

#define SR_PDF_OP_PING "ping"
#define SR_PDF_OP_PROBE "probe"
#define SR_PDF_OP_SIGNATURES "signatures"

#define SR_PDF_MAX_SIGNATURES 500 /* an update each: cross-reference chains end at 512 */

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

/* Sends one message; `descriptor` goes along unless it is -1. */
sr_pdf_wire_t sr_pdf_send(int socket, uint32_t id, uint32_t flags, const char *text, int descriptor, int64_t deadline);

/* Receives one message of at most `limit` bytes; *text (NUL-terminated, header->length bytes) is in `pool`.
 * With `descriptor` not NULL one descriptor may come along (else *descriptor is -1) and is the caller's to
 * close; with NULL the kernel drops any. */
sr_pdf_wire_t sr_pdf_receive(sr_pdf_header_t *header, const char **text, int *descriptor, int socket, apr_size_t limit,
                             int64_t deadline, apr_pool_t *pool);

#endif
