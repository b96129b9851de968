/* SPDX-License-Identifier: Apache-2.0 */
/* response.c: responses that several operations use. */
#include "helper/main/pdfd.h"

#include <string.h>

json_t *sr_pdfd_fault(const char *fault, const char *reason)
{
    json_t *object = json_object();
    json_object_set_new(object, "fault", json_string(fault));
    json_object_set_new(object, "reason", json_string(reason));
    return object;
}

json_t *sr_pdfd_result(const sr_pdfd_request_t *request, const void *bytes, apr_size_t size)
{
    if (size > request->room) return sr_pdfd_fault(SR_PDF_FAULT_DOCUMENT, SR_PDF_LIMITS_REASON);
    memcpy(request->result, bytes, size);
    json_t *object = json_object();
    json_object_set_new(object, "length", json_integer((json_int_t)size));
    return object;
}
