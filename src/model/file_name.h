/* SPDX-License-Identifier: Apache-2.0 */
/* file_name.h: names of files in a folder on any system. */
#ifndef SR_MODEL_FILE_NAME_H
#define SR_MODEL_FILE_NAME_H

#include <apr_hash.h>

#include "base/base.h"

/* Returns a name that Windows, macOS and Linux accept, with this ending (".pdf"), in NFC and in at most
 * SR_FILE_NAME_MAX bytes. It is never a path and never hidden. `taken` has the names of the folder, or is NULL; a name
 * that differs from one of them in case alone gets a number: "lease (2).pdf". */
#define SR_FILE_NAME_MAX 200
const char *sr_file_name(const char *name, const char *ending, apr_hash_t *taken, apr_pool_t *pool);

#endif
