/* SPDX-License-Identifier: Apache-2.0 */
/* pdfa.c: finds out whether a document claims to be PDF/A (ISO 19005). Additions must then conform to it: no
 * device-dependent colours, which an output intent would have to allow (ISO 19005-2, 6.2.4.3; ISO 19005-1, 6.2.3.3),
 * and no transparency (ISO 19005-1, 6.4; ISO 19005-2, 6.2.10). The claim is in the XMP metadata of the catalog (6.6.4).
 */
#include "helper/main/pdfd.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAX_METADATA (1 << 20) /* limit of bytes that are searched */
#define MAX_INTENTS 64

static const char CLAIM[] = "pdfaid:part";

/* Returns true if there is an output intent of PDF/A (6.2.3). */
static bool has_intent(qpdf_data q, qpdf_oh root)
{
    qpdf_oh intents = qpdf_oh_get_key(q, root, "/OutputIntents");
    const int count = sr_pdfd_items(q, intents);
    for (int i = 0; i < count && i < MAX_INTENTS; i++) {
        qpdf_oh intent = qpdf_oh_get_array_item(q, intents, i);
        if (!qpdf_oh_is_dictionary(q, intent)) continue;
        if (qpdf_oh_is_name_and_equals(q, qpdf_oh_get_key(q, intent, "/S"), "/GTS_PDFA1")) return true;
    }
    return false;
}

/* Decompresses the beginning of the metadata, at most `size` bytes. Returns the number of bytes. */
static size_t unpack(unsigned char *room, size_t size, unsigned char *packed, size_t length)
{
    z_stream stream = {.next_in = packed, .avail_in = (uInt)length, .next_out = room, .avail_out = (uInt)size};
    if (length > MAX_METADATA || inflateInit(&stream) != Z_OK) return 0;
    inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return stream.total_out;
}

static bool says_so(qpdf_data q, qpdf_oh metadata, unsigned char *bytes, size_t length, apr_pool_t *pool)
{
    qpdf_oh filter = qpdf_oh_get_key(q, qpdf_oh_get_dict(q, metadata), "/Filter");
    if (qpdf_oh_is_array(q, filter) && qpdf_oh_get_array_n_items(q, filter) == 1)
        filter = qpdf_oh_get_array_item(q, filter, 0);
    if (qpdf_oh_is_name_and_equals(q, filter, "/FlateDecode")) {
        unsigned char *plain = apr_palloc(pool, MAX_METADATA);
        length = unpack(plain, MAX_METADATA, bytes, length);
        bytes = plain;
    }
    return length && memmem(bytes, length < MAX_METADATA ? length : MAX_METADATA, CLAIM, sizeof CLAIM - 1);
}

static bool claims(qpdf_data q, qpdf_oh root, apr_pool_t *pool)
{
    qpdf_oh metadata = qpdf_oh_get_key(q, root, "/Metadata");
    unsigned char *bytes = NULL;
    size_t length = 0;
    if (!qpdf_oh_is_stream(q, metadata)) return false;
    if (qpdf_oh_get_stream_data(q, metadata, qpdf_dl_none, NULL, &bytes, &length) & QPDF_ERRORS) length = 0;
    const bool found = length && says_so(q, metadata, bytes, length, pool);
    free(bytes);
    return found;
}

/* Metadata that cannot be read contains no claim, and is not a reason to refuse the document. */
const char *sr_pdfd_archive_read(bool *archival, const sr_pdfd_document_t *document, apr_pool_t *pool)
{
    qpdf_data q = document->q;
    const char *reason = sr_pdfd_document_check(document);
    if (reason) return reason;
    qpdf_oh root = qpdf_get_root(q);
    *archival = has_intent(q, root) || claims(q, root, pool);
    qpdf_get_error(q);
    sr_pdfd_warnings(q, &document->bytes);
    return NULL;
}
