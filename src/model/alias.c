/* SPDX-License-Identifier: Apache-2.0 */
/* alias.c: the name of a signer where their uuid, which is the secret of their link, must not be seen. */
#include "model/model.h"
#include "model/submission.h"

#include <string.h>

const char *sr_signer_alias(const sr_signer_t *signer, apr_pool_t *pool)
{
    if (signer->alias) return signer->alias;
    return apr_pstrndup(pool, sr_sha256_hex(signer->uuid, strlen(signer->uuid), pool), 12);
}
