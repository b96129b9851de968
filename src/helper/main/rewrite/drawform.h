/* SPDX-License-Identifier: Apache-2.0 */
/* drawform.h: drawform.cc, which is C++, for normalise.c, which is C. */
#ifndef SR_HELPER_MAIN_REWRITE_DRAWFORM_H
#define SR_HELPER_MAIN_REWRITE_DRAWFORM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a rewritten document in which the fields of the form are drawn. The caller calls free(). Returns NULL on
 * failure. */
unsigned char *sr_pdfd_form_draw(size_t *size, const unsigned char *data, size_t length);

#ifdef __cplusplus
}
#endif

#endif
