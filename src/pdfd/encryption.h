/* SPDX-License-Identifier: Apache-2.0 */
/* encryption.h: what encryption.cc, which is C++, does for encrypt.c, which is C. */
#ifndef SR_PDFD_ENCRYPTION_H
#define SR_PDFD_ENCRYPTION_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a document that opens without a password is encrypted: "rc4", "aes128" or "aes256", and the key of the file, of
 * at most 32 bytes. NULL when strings and streams are encrypted differently, or in another way. */
const char *sr_pdfd_encryption_read(unsigned char *key, size_t *length, const unsigned char *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
