/* SPDX-License-Identifier: Apache-2.0 */
/* pdfd.h: what targets of sigreq-pdfd's files need of its main.c: where answers go. */
#ifndef SR_FUZZ_PDFD_H
#define SR_FUZZ_PDFD_H

#include "fuzz.h"
#include "helper/main/pdfd.h"

json_t *sr_pdfd_fault(const char *fault, const char *reason)
{
    json_t *object = json_object();
    json_object_set_new(object, "fault", json_string(fault));
    json_object_set_new(object, "reason", json_string(reason));
    return object;
}

json_t *sr_pdfd_result(const sr_pdfd_request_t *question, const void *bytes, apr_size_t size)
{
    fuzz_must(size > 0 && size <= question->room);
    memcpy(question->result, bytes, size);
    json_t *object = json_object();
    json_object_set_new(object, "length", json_integer((json_int_t)size));
    return object;
}

#endif
