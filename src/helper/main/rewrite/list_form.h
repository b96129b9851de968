/* SPDX-License-Identifier: Apache-2.0 */
/* list_form.h: list_form.cc, which is C++, for probe.c, which is C. */
#ifndef SR_HELPER_MAIN_REWRITE_LIST_FORM_H
#define SR_HELPER_MAIN_REWRITE_LIST_FORM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sr_pdfd_list_limits_t {
    size_t fields, options; /* options of one field */
    size_t name, text, all; /* bytes of a name, of one text and of all texts */
} sr_pdfd_list_limits_t;
/* Returns the fields of a form as a JSON array (sr_pdf_inspect), which the caller frees with free(). Fields without a
 * place on a page, and fields beyond the limits, are left out. Returns NULL if the document cannot be read. */
char *sr_pdfd_form_fields(const unsigned char *data, size_t size, const sr_pdfd_list_limits_t *limits);

#ifdef __cplusplus
}
#endif

#endif
