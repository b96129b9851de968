/* SPDX-License-Identifier: Apache-2.0 */
/* confirm.c: the answer to "confirm": whether what follows the first bytes of a document is the update that "prepare"
 * makes of them with these fields. It is made once more and compared, byte by byte: a worker that this document has not
 * been read by before sees what another one has smuggled into a page, the catalog or the form. */
#include "pdfd/pdfd.h"

#include <string.h>

static json_t *say(const char *reason)
{
    json_t *response = json_object();
    json_object_set_new(response, "confirmed", json_boolean(!reason));
    if (reason) json_object_set_new(response, "reason", json_string(reason));
    return response;
}

json_t *sr_pdfd_confirm(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    const json_t *value = json_object_get(request->text, "size");
    const json_int_t size = json_integer_value(value);
    sr_pdfd_buffer_t *update;
    sr_cipher_t cipher;
    if (!json_is_integer(value) || size < 1 || (apr_uint64_t)size >= request->bytes.size) return NULL;
    const sr_pdfd_bytes_t before = {request->bytes.data, (apr_size_t)size};
    const sr_pdfd_bytes_t after = {before.data + size, request->bytes.size - before.size};
    const char *reason = NULL;
    const json_t *fields = json_object_get(request->text, "fields");
    if (!sr_pdfd_prepare_update(&update, &cipher, &reason, &before, fields, pool)) return NULL;
    if (reason) return say(reason);
    return say(update->size == after.size && !memcmp(update->data, after.data, after.size)
                   ? NULL
                   : "the fields are added otherwise than they have to be");
}
