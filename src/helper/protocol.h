/* SPDX-License-Identifier: Apache-2.0 */
/* protocol.h: the protocol between a client and sigreq-pdfd. Both sides include this file.
 *
 * A message is a fixed header and a JSON object of `length` bytes, sent over a Unix stream socket of one host. Numbers
 * in the header are in the byte order of the host. A request names its operation, {"op":"probe"}. If it has entries,
 * NUL and the texts of their contents (entry.h) follow, each with NUL at its end, which also count. It may carry
 * descriptors (SCM_RIGHTS, sent with the first byte of the header): first the document, if the request is about one,
 * and then the result. The result is a file in memory that the client has created with its final size. The worker maps
 * it and writes into it, which needs no additional system call in its sandbox. It cannot make the file larger. The
 * response repeats the id of the request. A worker sends the first message: a message with id 0 says that the worker
 * has loaded its libraries and entered its sandbox. A failure before this message is the fault of the program. A
 * failure after it is the fault of the document.
 *
 * The program that the client starts is a template if its first message has the flag SR_PDF_TEMPLATE. A template
 * answers no requests and reads no documents. Each message to it is {"cpu":seconds} with a socket. It then forks a
 * worker that uses this socket and is a child of the client. The first message of the worker contains its process id:
 * {"pid":n}. "cpu" is the processor time that one request may use before the kernel ends the worker. If the first
 * message of the program does not have the flag, the program cannot fork safely and is a worker itself.
 *
 *   request                                    response
 *   ping                                        {}
 *   probe (document)                            {"verdict":"accepted","report":"<text form of model.h, pages.c>"}
 *                                               {"verdict":"not-pdf"} {"verdict":"password"}
 *                                               {"verdict":"refused","reason":"it has no pages"}
 *                                               {"verdict":"forbidden","reason":"its permissions …"}
 *   inspect (document, result)               {"length":n}: n bytes of JSON (pdf.h) {"refused":"…"}
 *   render (document, result)                   {"length":n,"width":w,"height":h,"gray":true}: n bytes of PNG.
 *     "page":0,"width":w,"png":false              They may be JPEG if "png" is false
 *   text (document, result)                     {"length":n}: n bytes of JSON (pdf.h)
 *     "page":0
 *   Both may also respond                       {"refused":"it is password protected"}
 *                                               {"missing":true}: the document has no such page
 *                                               {"unavailable":"…"}: this system cannot do it
 *   find (document, result)                     {"length":n}: n bytes of JSON (pdf.h) {"refused":"…"}
 *     "texts":[{"text","page"?},…], "most":n      It lists at most n places for each text. An equal request may get
 *     "document": the SHA-256 of its bytes        the response that was sent before.
 *   normalise (document, result)                {"length":n}: the rewritten document
 *   prepare (document, result)                  {"length":n}: the bytes to append
 *     "fields":[{"signer","page","rect":[x0,y0,x1,y1],"existing"?,"entry"?},…]. "existing" names a field of the
 *     document. "entry" is what sr_pdf_entry_json makes (entry.h)
 *   confirm (document)                          {"confirmed":true} or {"confirmed":false,"reason":"…"}
 *     "fields" as in prepare, "size" of the        it confirms that the rest of the file is what
 *     document before it was prepared              prepare makes of the document
 *   fill (document, result)                     {"length":n,"contents":offset}: the same. The offset is that of "<"
 *     "signer","name","reason","contact",       {"fault":"signature","reason":"…"}: the signer sent bad input
 *     "time","test". "existing":[…] is optional
 *     and has a name or null for each signature
 *     field of the signer. "ink", "text"
 *     or "image" (base64). Optional "initials" with
 *     one of these and "places":[n,…], which show
 *     it. Optional "entries": as in prepare, each
 *     with the number of its field as "object".
 *     Optional "captions" (model.h, caption.c),
 *     and "dss":{"number":n?,"proofs":[{"kind":0,
 *     "data":base64,"packed":false},…]}: adds these
 *     streams to the document security store
 *   archive (document, result)                  {"length":n,"contents":offset}: adds a document timestamp
 *     "id" (part of the name of its field) and
 *     optional "dss", as in fill
 *   normalise, prepare, fill and archive may also respond
 *                                               {"fault":"document","reason":"…"}
 *                                               {"fault":"damaged","reason":"…"}: the document must be rewritten
 *   preview (result)                            {"length":n}: n bytes of JSON (pdf.h)
 *     "ink", "text" or "image", and optional      {"fault":"signature","reason":"…","unknown":[n,…]}:
 *     "captions", as in fill                      code points that no font has; may be missing
 *   values (result)                             {"length":n,"values":[…]}: for each value {"length":n,"size":n} or
 *     "values":[{"text" or "ticked":true,         {"reason":"…"}, a sentence. The result is their contents, one
 *     "width","height","size"?,"multiline"?,      after the other: texts (entry.h), or with "json":true what
 *     "align"?},…], "json"                        sr_pdfd_value_put writes
 *   signatures (document)                       {"verdict":"accepted","signatures":[{"field":"a.b","range":[0,b,c,d],
 *                                               "later":0,"subfilter","time","name","reason","contact",
 *                                               "fault"},…]}, or the other responses of probe.
 *                                               Unknown members are left out ("later" is then -1).
 *                                               "fault" is present if the signature does not cover
 *                                               what it must. Each signature except the last has
 *                                               "changes":["page 1: its content",…] and
 *                                               "filled":["a field",…]: what was changed until the
 *                                               last signature (pdf.h). They are left out if that is
 *                                               unknown. Next to "signatures" is "appended":[…], the
 *                                               changes after the last signature, and
 *                                               "validation":true if they are only data for
 *                                               validation, or "locked":true if a field was changed that
 *                                               a signature locks. Document timestamps after the last
 *                                               signature of a person do not count as signatures
 *                                               here: they have "since":[…], the changes since then.
 *                                               "widgets":[{"field":"a.b","signature":true,"text":
 *                                               "page 1: the signature field …","covers":false,"end":n},
 *                                               …] are those that the revision after the first n bytes
 *                                               draws in another way, until the last signature.
 *                                               "proofs":[{"kind":"ocsp","at":offset,
 *                                               "der":base64},…] is the document security store.
 *   compose (result)                            {"length":n,"pages":p,"field":{"page":0,"rect":[x0,y0,x1,y1]}}: n
 *     the members that pdf.h lists              bytes of PDF
 *                                               {"refused":"…"} {"unavailable":"…"}
 *   overlay (document, result)                  {"length":n}: n bytes of PDF
 *     "documents":[size,…] of the documents     {"fault":"document","reason":"…"} {"unavailable":"…"}
 *     that follow each other,
 *     "looks":[{"size":[w,h],"rotate":0,"lines":[{"at","upright","text"},…],"boxes":[{"rect":[x,y,w,h],"colour",
 *     "texts":["",""]},…]},…] in points of the displayed page, from its top left corner,
 *     "pages":[{"page","box":[x0,y0,x1,y1],"looks":[0,…]},…], counted over all documents
 *   check                                       {"results":[{"state":"intact","trust":"unknown","bound":true,
 *     "signatures":[{"der":base64,"length":n,     "expired":false,"premature":false,"timestamp":false,"time":0,
 *     "covers":n,"refuted":false},…]: zeros       "fault","algorithm","distrust","hash","signer":{"name","subject",
 *     follow the DER up to n bytes,               "issuer","serial","sha256","key","from":s,"until":s},
 *     "proofs" as in the response to              "level":"B-T","proven":s,"stamp":{"state":"valid","time":s,
 *     signatures, "now":microseconds,             "authority","fault"},
 *     "anchors":PEM                               "digest","attributes","signature"},…]}: one
 *                                               sr_cms_result_t for each. The last three members are
 *                                               in base64. The worker does not see the document. It
 *                                               returns the digest that the document must have.
 */
#ifndef SR_HELPER_PROTOCOL_H
#define SR_HELPER_PROTOCOL_H

#include "base/base.h"
#include "cms/cms.h"

#define SR_PDF_MAGIC 0x31525053u /* increase the digit ("SPR1") when the meaning of a message changes */
#define SR_PDF_SOCKET 3          /* the descriptor of the worker's socket */
#define SR_PDF_DESCRIPTORS 2     /* the greatest number that one request may carry */

#define SR_PDF_MIN_WIDTH 16 /* pixels; width of a page image */
#define SR_PDF_MAX_WIDTH 4000

/* Limits in bytes. 100,000 fields, the greatest number that can be configured, take about 14 MB. */
#define SR_PDF_MAX_REQUEST (24 << 20)
#define SR_PDF_MAX_ANSWER (4 << 20) /* 20,000 pages that all have different boxes take about 2 MB */
#define SR_PDF_MAX_REASON 200       /* bytes of printable ASCII */

#define SR_PDF_OP_PING "ping"
#define SR_PDF_OP_PROBE "probe"
#define SR_PDF_OP_INSPECT "inspect"
#define SR_PDF_OP_RENDER "render"
#define SR_PDF_OP_TEXT "text"
#define SR_PDF_OP_FIND "find"
#define SR_PDF_OP_NORMALISE "normalise"
#define SR_PDF_OP_PREPARE "prepare"
#define SR_PDF_OP_FILL "fill"
#define SR_PDF_OP_ARCHIVE "archive"
#define SR_PDF_OP_CONFIRM "confirm"
#define SR_PDF_OP_PREVIEW "preview"
#define SR_PDF_OP_VALUES "values"
#define SR_PDF_OP_COMPOSE "compose"
#define SR_PDF_OP_OVERLAY "overlay"
#define SR_PDF_OP_CHECK "check"

/* What "inspect" lists at most: fields, options of one field, bytes of one text and of all texts. */
#define SR_PDF_MAX_FIELDS 5000
#define SR_PDF_MAX_OPTIONS 1000
#define SR_PDF_MAX_FIELD_TEXT 4000
#define SR_PDF_MAX_INSPECTED (2 << 20)

/* Size limits of the results, in bytes. */
#define SR_PDF_MAX_INSPECTION ((apr_size_t)24 << 20) /* its texts, escaped, and the rest of its fields */
#define SR_PDF_MAX_PNG ((apr_size_t)192 << 20)       /* the largest raster in colour if it cannot be compressed */
#define SR_PDF_MAX_FOUND ((apr_size_t)24 << 20)      /* places of texts */
#define SR_PDF_MAX_PAGE_TEXT ((apr_size_t)4 << 20)
#define SR_PDF_MAX_REVISION ((apr_size_t)64 << 20)
#define SR_PDF_MAX_COMPOSED ((apr_size_t)64 << 20)
#define SR_PDF_MAX_VALUES ((apr_size_t)64 << 20)  /* outlines of texts of some 100,000 characters */
#define SR_PDF_MAX_PREVIEW ((apr_size_t)24 << 20) /* 4 million pixels that cannot be compressed, in base64 */
#define SR_PDF_MAX_NORMALISED(size) (2 * (apr_size_t)(size) + ((apr_size_t)64 << 20))

/* Signature dictionaries reserve at most this number of bytes for a CMS with a timestamp, and for a document timestamp,
 * and two digits for each byte. The request for a signature names a smaller number ("room") if it gets no timestamp. */
#define SR_PDF_CONTENTS_BYTES SR_CMS_MAX_BYTES
#define SR_PDF_CONTENTS_DIGITS ((apr_size_t)2 * SR_PDF_CONTENTS_BYTES)

/* The text before the "<" of those digits is "/ByteRange", then this format, padded with spaces to the width, then
 * "/Contents". The client makes the same text to verify that readers will check exactly what it has signed. */
#define SR_PDF_RANGE_FORMAT "[0 %llu %llu %llu]"
#define SR_PDF_RANGE_WIDTH 36

/* The lists of a document security store (ISO 32000-2, 12.8.4.3), by kind of proof. */
#define SR_PDF_PROOF_KINDS 3
#define SR_PDF_PROOF_KEYS                                                                                              \
    {                                                                                                                  \
        "/Certs", "/OCSPs", "/CRLs"                                                                                    \
    }

/* The field of a document timestamp is this text, the id, SR_PDF_STAMP_END and a reference to the timestamp.
 * SR_PDF_STAMP_PAGE and a reference to page 1 may follow. The field is among no page's annotations, and invisible. The
 * timestamp is the other text, the byte ranges and the digits. */
#define SR_PDF_STAMP_BEGIN "<</Type/Annot/Subtype/Widget/FT/Sig/F 132/Rect[0 0 0 0]/T(Timestamp_"
#define SR_PDF_STAMP_END ")/V "
#define SR_PDF_STAMP_PAGE "/P "
#define SR_PDF_STAMP "<</Type/DocTimeStamp/Filter/Adobe.PPKLite/SubFilter/ETSI.RFC3161"

#define SR_PDF_FAULT_DOCUMENT "document"
#define SR_PDF_FAULT_DAMAGED "damaged"
#define SR_PDF_FAULT_SIGNATURE "signature"

/* An entry of /Extensions in the catalog: PAdES signatures in a document of ISO 32000-1 (ETSI EN 319 142-1), and its
 * level if there is a document security store (ETSI TS 102 778-4). */
#define SR_PDF_EXTENSION_OF(level) "/ESIC<</BaseVersion/1.7/ExtensionLevel " level ">>"
#define SR_PDF_EXTENSION SR_PDF_EXTENSION_OF("2")
#define SR_PDF_EXTENSION_DSS SR_PDF_EXTENSION_OF("5")
#define SR_PDF_EXTENSION_DSS_LEVEL 5
#define SR_PDF_FIELD_LABEL "Signature" /* /TU: the name that screen readers announce for a field */

/* Colours of appearances in PDF/A: sRGB and its gray as CIE-based colour spaces (ISO 32000-2, 8.6.5), which no output
 * intent has to allow. The resources make DeviceRGB an alias for it (8.6.5.6). */
#define SR_PDF_RGB                                                                                                     \
    "[/CalRGB<</WhitePoint[.9505 1 1.089]/Gamma[2.2 2.2 2.2]"                                                          \
    "/Matrix[.4124 .2126 .0193 .3576 .7152 .1192 .1805 .0722 .9505]>>]"
#define SR_PDF_GRAY "[/CalGray<</WhitePoint[.9505 1 1.089]/Gamma 2.2>>]"
#define SR_PDF_RESOURCES "<</ColorSpace<</DefaultRGB" SR_PDF_RGB ">>>>"

/* The resources of a caption: a font for its invisible text, which readers can search and copy. Readers have this font,
 * and do not draw with it (text rendering mode 3). The second definition is for PDF/A. */
#define SR_PDF_CAPTION_FONT "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>>>"
#define SR_PDF_CAPTION_RESOURCES "<<" SR_PDF_CAPTION_FONT ">>"
#define SR_PDF_CAPTION_ARCHIVAL "<<" SR_PDF_CAPTION_FONT "/ColorSpace<</DefaultRGB" SR_PDF_RGB ">>>>"

/* Limits of an image that was uploaded as a signature. */
#define SR_PDF_MAX_IMAGE_BYTES (1 << 20)
#define SR_PDF_MAX_IMAGE_PIXELS 4000000
#define SR_PDF_MAX_TYPED 200 /* characters of a typed signature */

#define SR_PDF_OP_SIGNATURES "signatures"

#define SR_PDF_TIMESTAMP "ETSI.RFC3161" /* /SubFilter of a document timestamp */

#define SR_PDF_MAX_CHANGES 20     /* the greatest number that is listed for one signature, before "and more" */
#define SR_PDF_MAX_WIDGETS 1000   /* the greatest number in the response to "signatures" */
#define SR_PDF_MAX_SIGNATURES 500 /* each needs an update, and chains of cross-reference sections have at most 512 */

typedef enum sr_pdf_verdict_t {
    SR_PDF_ACCEPTED,
    SR_PDF_NOT_PDF,  /* not a PDF, or damaged beyond what qpdf can recover */
    SR_PDF_PASSWORD, /* it needs a password, or is encrypted in an unknown way */
    SR_PDF_REFUSED,  /* a PDF that cannot be signed here, or that costs too much to read; `reason` says why */
    SR_PDF_FORBIDDEN /* a PDF that opens without a password but does not permit signing; `reason` says which
                        permission is missing */
} sr_pdf_verdict_t;

/* Names of the members of sr_pdf_verdict_t. */
#define SR_PDF_VERDICT_NAMES                                                                                           \
    {                                                                                                                  \
        "accepted", "not-pdf", "password", "refused", "forbidden"                                                      \
    }

#define SR_PDF_LIMITS_REASON "it could not be read within the limits"

typedef struct sr_pdf_header_t {
    uint32_t magic;
    uint32_t id;     /* of the request; 0: the greeting of the worker */
    uint32_t flags;  /* SR_PDF_TEMPLATE or 0 */
    uint32_t length; /* of the JSON text that follows, with the contents of entries */
} sr_pdf_header_t;

#define SR_PDF_TEMPLATE 2u /* in the first message of a template */

typedef enum sr_pdf_wire_t {
    SR_PDF_WIRE_OK,
    SR_PDF_WIRE_CLOSED,  /* the peer has closed the connection */
    SR_PDF_WIRE_LATE,    /* the deadline passed */
    SR_PDF_WIRE_GARBAGE, /* not a message of this protocol, or too long */
    SR_PDF_WIRE_FAILED   /* errno says why */
} sr_pdf_wire_t;

/* Deadlines are times of sr_time_steady. */

/* Sends one message. `descriptors` is NULL or an array of SR_PDF_DESCRIPTORS, of which those before the first -1 are
 * sent. They remain the caller's. */
sr_pdf_wire_t sr_pdf_send(int socket, uint32_t id, uint32_t flags, const char *text, apr_size_t length,
                          const int *descriptors, int64_t deadline);

/* Waits until a message begins to arrive, or until the peer closes the connection. */
sr_pdf_wire_t sr_pdf_wait(int socket, int64_t deadline);

/* Receives one message of at most `limit` bytes. *text is in `pool`. It has header->length bytes and a terminating NUL.
 * `descriptors`, if not NULL, is an array of SR_PDF_DESCRIPTORS that receives descriptors, which the caller closes; the
 * rest are -1. If it is NULL, the kernel drops descriptors that arrive. */
sr_pdf_wire_t sr_pdf_receive(sr_pdf_header_t *header, const char **text, int *descriptors, int socket, apr_size_t limit,
                             int64_t deadline, apr_pool_t *pool);

#endif
