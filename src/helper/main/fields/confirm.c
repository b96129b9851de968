/* SPDX-License-Identifier: Apache-2.0 */
/* confirm.c: the operation "confirm": checks that the bytes after the first part of a document are the update that
 * "prepare" makes of this part with these fields. The update is made again and compared byte by byte. This worker has
 * not read the document before, so it finds what a worker that was taken over has added to a page, the catalog or the
 * form. */
#include "helper/main/pdfd.h"

#include <string.h>

static json_t *confirm_say(const char *reason)
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
    if (!sr_pdfd_prepare_update(&update, &cipher, &reason, &before, request, pool)) return NULL;
    if (reason) return confirm_say(reason);
    return confirm_say(update->size == after.size && !memcmp(update->data, after.data, after.size)
                           ? NULL
                           : "the fields are added otherwise than they have to be");
}
