/* SPDX-License-Identifier: Apache-2.0 */
/* protocol.h: how a client and sigreq-pdfd talk, shared by both so that they cannot drift apart.
 *
 * One message is a fixed header and a JSON object of `length` bytes, over a Unix stream socket of one host (so
 * in the host's byte order). A request names its operation, {"op":"probe"}, and may carry descriptors (SCM_RIGHTS,
 * with the header's first byte): the document, where it is about one, and then the result, a file in memory that the
 * client has made and sized; the worker maps it to write into it, which needs no system call that its sandbox would not
 * have anyway, and can make it no larger. The answer repeats the request's id. A worker speaks first: a message with
 * id 0 says that it has warmed up and closed its sandbox. Until then whatever goes wrong is the program's fault,
 * afterwards the document's.
 *
 * The program that the client starts is a template, if its first message has the flag SR_PDF_TEMPLATE. It answers no
 * requests and reads no documents. Each message to it, {"cpu":seconds} with a socket, makes it fork a worker that has
 * this socket as its own, is a child of the client, and says its process id in its first message: {"pid":n}. The number
 * is the processor time that one request may take before the kernel ends the worker. A first message without the flag
 * is that of a program that cannot fork safely, and is a worker itself.
 *
 *   request                                    answer
 *   ping                                        {}
 *   probe (document)                            {"verdict":"accepted","report":"<text form of model.h, pages.c>"}
 *                                               {"verdict":"not-pdf"} {"verdict":"password"}
 *                                               {"verdict":"refused","reason":"it has no pages"}
 *                                               {"verdict":"forbidden","reason":"its permissions …"}
 *   render (document, result)                   {"length":n,"width":w,"height":h,"gray":true}: n bytes of PNG
 *     "page":0,"width":w,"png":false              or, if "png" is false, perhaps of JPEG
 *   text (document, result)                     {"length":n}: n bytes of JSON (pdf.h)
 *     "page":0
 *   The last two also answer                    {"refused":"it is password protected"}
 *                                               {"missing":true}: the document has no such page
 *                                               {"unavailable":"…"}: not on this system
 *   normalise (document, result)                {"length":n}: the rewritten document
 *   prepare (document, result)                  {"length":n}: what is to be appended
 *     "fields":[{"signer","page","rect":[x0,y0,x1,y1],"existing"?},…], the last: a field of the document
 *   confirm (document)                          {"confirmed":true} or {"confirmed":false,"reason":"…"}
 *     "fields" as in prepare, "size" of what       whether the rest is what prepare makes of it
 *     was prepared
 *   fill (document, result)                     {"length":n,"contents":offset}: the same, and where "<" is in it
 *     "signer","name","reason","contact",       {"fault":"signature","reason":"…"} for what the signer has sent
 *     "time","test"; "existing":[…]: for each
 *     place of the signer a name or null, or absent
 *     and "ink", "text" or "image" (base64),
 *     perhaps "captions" (model.h, caption.c)
 *   The last three also answer                  {"fault":"document","reason":"…"}
 *                                               {"fault":"damaged","reason":"…"}: it has to be normalised
 *   preview (result)                            {"length":n}: n bytes of JSON (pdf.h)
 *     "ink", "text" or "image", and perhaps       {"fault":"signature","reason":"…","unknown":[n,…]}:
 *     "captions", as in fill                      code points that no font has; may be absent
 *   signatures (document)                       {"verdict":"accepted","signatures":[{"field":"a.b","range":[0,b,c,d],
 *                                               "later":0,"subfilter","time","name","reason","contact",
 *                                               "fault"},…]}, or as of probe. What cannot be told is left
 *                                               out ("later" is -1 then); "fault" is there when the signature
 *                                               does not cover what it must. But for the last one there
 *                                               are "changes":["page 1: its content",…] and
 *                                               "filled":["a field",…]: what happened until the last signature (pdf.h);
 *                                               without them that cannot be told. Beside "signatures": "appended":[…],
 *                                               the changes after the last one, and "validation":true where those are
 *                                               data for validation alone.
 *   compose (result)                            {"length":n,"pages":p,"field":{"page":0,"rect":[x0,y0,x1,y1]}}: n
 *     what pdf.h says                           bytes of PDF
 *                                               {"refused":"…"} {"unavailable":"…"}
 *   reduce (document, result)                   {"length":n}: an image object and its mask, as a signed document has
 *                                               them, with as many pixels as compose can show
 *                                               {"refused":"…"}: compose would not draw it
 *   key (document)                              {"cipher":"aes256","key":hex} of an encrypted document, or {}
 *   check                                       {"results":[{"state":"intact","trust":"unknown","bound":true,
 *     "signatures":[{"der":base64,"length":n},…]  "expired":false,"premature":false,"timestamp":false,"time":0,
 *     of which what is missing to n is zeros,     "fault","algorithm","distrust","hash","signer":{"name","subject",
 *     "now":microseconds, "anchors":PEM           "issuer","serial","sha256","key","from":s,"until":s},
 *                                                 "digest","attributes","signature"},…]}: as sr_cms_result_t, one for
 *                                               each, the last three in base64. The worker sees no document, and says
 *                                               which digest it must have.
 */
#ifndef SR_PDF_PROTOCOL_H
#define SR_PDF_PROTOCOL_H

#include "base/base.h"

#define SR_PDF_MAGIC 0x31525053u /* raise the digit ("SPR1") when messages change their meaning */
#define SR_PDF_SOCKET 3          /* the worker's descriptor */
#define SR_PDF_DESCRIPTORS 2     /* that one request may carry */

#define SR_PDF_MIN_WIDTH 16 /* pixels of a page that is shown */
#define SR_PDF_MAX_WIDTH 4000

#define SR_PDF_MAX_QUESTION (24 << 20) /* 100,000 fields, the most that can be configured, take about 14 MB */
#define SR_PDF_MAX_ANSWER (4 << 20)    /* 20,000 pages, each with a box of its own, take about 2 MB */
#define SR_PDF_MAX_REASON 200          /* bytes of printable ASCII */

#define SR_PDF_OP_PING "ping"
#define SR_PDF_OP_PROBE "probe"
#define SR_PDF_OP_RENDER "render"
#define SR_PDF_OP_TEXT "text"
#define SR_PDF_OP_NORMALISE "normalise"
#define SR_PDF_OP_PREPARE "prepare"
#define SR_PDF_OP_FILL "fill"
#define SR_PDF_OP_CONFIRM "confirm"
#define SR_PDF_OP_PREVIEW "preview"
#define SR_PDF_OP_COMPOSE "compose"
#define SR_PDF_OP_REDUCE "reduce"
#define SR_PDF_OP_KEY "key"
#define SR_PDF_OP_CHECK "check"

/* What each operation may write into its result. */
#define SR_PDF_MAX_PNG ((apr_size_t)192 << 20) /* the largest raster in colour, where it cannot be compressed */
#define SR_PDF_MAX_PAGE_TEXT ((apr_size_t)4 << 20)
#define SR_PDF_MAX_REVISION ((apr_size_t)64 << 20)
#define SR_PDF_MAX_COMPOSED ((apr_size_t)64 << 20)
#define SR_PDF_MAX_REDUCED ((apr_size_t)1 << 20)  /* 600 x 144 pixels take 350 kB where they cannot be compressed */
#define SR_PDF_MAX_PREVIEW ((apr_size_t)24 << 20) /* 4 million pixels that cannot be compressed, in base64 */
#define SR_PDF_MAX_NORMALISED(size) (2 * (apr_size_t)(size) + ((apr_size_t)64 << 20))

/* Signature dictionaries keep so many bytes free for a CMS, twice as many digits. 2.7 kB are needed without a time
 * stamp. */
#define SR_PDF_CONTENTS_BYTES 16384
#define SR_PDF_CONTENTS_DIGITS ((apr_size_t)2 * SR_PDF_CONTENTS_BYTES)

/* What stands before the "<" of those digits: "/ByteRange", this with the lengths and padded with spaces to the
 * width, "/Contents". The client makes it too, to see that what it has signed is what readers will check. */
#define SR_PDF_RANGE_FORMAT "[0 %llu %llu %llu]"
#define SR_PDF_RANGE_WIDTH 36

#define SR_PDF_FAULT_DOCUMENT "document"
#define SR_PDF_FAULT_DAMAGED "damaged"
#define SR_PDF_FAULT_SIGNATURE "signature"

/* In the catalog's /Extensions: PAdES signatures in a document of ISO 32000-1 (ETSI EN 319 142-1). */
#define SR_PDF_EXTENSION "/ESIC<</BaseVersion/1.7/ExtensionLevel 2>>"
#define SR_PDF_FIELD_LABEL "Signature" /* /TU: what screen readers call a field */

/* Colours of appearances in PDF/A: sRGB and its gray by formulas of their own (ISO 32000-2, 8.6.5), so that no output
 * intent has to allow them. The resources make DeviceRGB mean that (8.6.5.6). */
#define SR_PDF_RGB                                                                                                     \
    "[/CalRGB<</WhitePoint[.9505 1 1.089]/Gamma[2.2 2.2 2.2]"                                                          \
    "/Matrix[.4124 .2126 .0193 .3576 .7152 .1192 .1805 .0722 .9505]>>]"
#define SR_PDF_GRAY "[/CalGray<</WhitePoint[.9505 1 1.089]/Gamma 2.2>>]"
#define SR_PDF_RESOURCES "<</ColorSpace<</DefaultRGB" SR_PDF_RGB ">>>>"

/* The resources of a caption: a font for the text that is not seen, only found and copied. Readers have it, and need
 * not even that (text rendering mode 3). The second one is for PDF/A. */
#define SR_PDF_CAPTION_FONT "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>>>"
#define SR_PDF_CAPTION_RESOURCES "<<" SR_PDF_CAPTION_FONT ">>"
#define SR_PDF_CAPTION_ARCHIVAL "<<" SR_PDF_CAPTION_FONT "/ColorSpace<</DefaultRGB" SR_PDF_RGB ">>>>"

/* An image as an uploaded signature. */
#define SR_PDF_MAX_IMAGE_BYTES (1 << 20)
#define SR_PDF_MAX_IMAGE_PIXELS 4000000
#define SR_PDF_MAX_TYPED 200 /* characters of a typed signature */

#define SR_PDF_OP_SIGNATURES "signatures"

#define SR_PDF_MAX_CHANGES 20     /* that are named of one signature, and "and more" */
#define SR_PDF_MAX_SIGNATURES 500 /* an update each: cross-reference chains end at 512 */

typedef enum sr_pdf_verdict_t {
    SR_PDF_ACCEPTED,
    SR_PDF_NOT_PDF,  /* no PDF at all, or damaged beyond what qpdf recovers */
    SR_PDF_PASSWORD, /* it asks for a password, or is encrypted in an unknown way */
    SR_PDF_REFUSED,  /* a PDF that cannot be signed here, or too costly to read; `reason` says why */
    SR_PDF_FORBIDDEN /* a PDF that opens without a password and does not permit signing; `reason` says what */
} sr_pdf_verdict_t;

/* Indexed by sr_pdf_verdict_t. */
#define SR_PDF_VERDICT_NAMES                                                                                           \
    {                                                                                                                  \
        "accepted", "not-pdf", "password", "refused", "forbidden"                                                      \
    }

#define SR_CMS_MAX_SERIAL 128 /* digits of a certificate's serial number: the standard has 40 */

/* Indexed by sr_cms_state_t, by sr_cms_trust_t; the hash functions that prove something. */
#define SR_CMS_STATE_NAMES                                                                                             \
    {                                                                                                                  \
        "intact", "broken", "unchecked", NULL                                                                          \
    }
#define SR_CMS_TRUST_NAMES                                                                                             \
    {                                                                                                                  \
        "unknown", "trusted", "untrusted", NULL                                                                        \
    }
#define SR_CMS_HASH_NAMES                                                                                              \
    {                                                                                                                  \
        "SHA256", "SHA384", "SHA512", NULL                                                                             \
    }

#define SR_PDF_LIMITS_REASON "it could not be read within the limits"

typedef struct sr_pdf_header_t {
    uint32_t magic;
    uint32_t id;     /* of the request; 0: the worker's greeting */
    uint32_t flags;  /* SR_PDF_TEMPLATE */
    uint32_t length; /* of the JSON text that follows */
} sr_pdf_header_t;

#define SR_PDF_TEMPLATE 2u /* in a first message: it is a template's */

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

/* Waits until a message has begun to arrive, or the other side is gone. */
sr_pdf_wire_t sr_pdf_wait(int socket, int64_t deadline);

/* Receives one message of at most `limit` bytes; *text (NUL-terminated, header->length bytes) is in `pool`.
 * With `descriptors` not NULL so many may come along (the others are -1) and are the caller's to close; with NULL
 * the kernel drops any. */
sr_pdf_wire_t sr_pdf_receive(sr_pdf_header_t *header, const char **text, int *descriptors, int socket, apr_size_t limit,
                             int64_t deadline, apr_pool_t *pool);

#endif
