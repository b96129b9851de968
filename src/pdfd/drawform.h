/* SPDX-License-Identifier: Apache-2.0 */
/* drawform.h: what drawform.cc, which is C++, does for normalise.c, which is C. */
#ifndef SR_PDFD_DRAWFORM_H
#define SR_PDFD_DRAWFORM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A document with its form drawn, rewritten: free() it. NULL when that cannot be done. */
unsigned char *sr_pdfd_form_draw(size_t *size, const unsigned char *data, size_t length);

#ifdef __cplusplus
}
#endif

#endif
