/* SPDX-License-Identifier: Apache-2.0 */
/* encryption.h: encryption.cc, which is C++, for encrypt.c, which is C. */
#ifndef SR_HELPER_MAIN_WRITE_ENCRYPTION_H
#define SR_HELPER_MAIN_WRITE_ENCRYPTION_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns how a document that opens without a password is encrypted: "rc4", "aes128" or "aes256". `key` receives the
 * file encryption key of at most 32 bytes. Returns NULL if strings and streams are encrypted differently, or with
 * another algorithm. */
const char *sr_pdfd_encryption_read(unsigned char *key, size_t *length, const unsigned char *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
