/* SPDX-License-Identifier: Apache-2.0 */
/* naming.c: recognises the names of blobs and reports. */
#include "blobs/private.h"

#include <string.h>

bool sr_reports_is_name(const char *rest)
{
    static const char end[] = ".json";
    const apr_size_t length = strlen(rest);
    return *rest == '.' && length >= sizeof end - 1 && strcmp(rest + length - (sizeof end - 1), end) == 0;
}

bool sr_blobs_is_key(const char *name)
{
    if (!sr_folder_is_hex(name, SR_SHA256_HEX_LENGTH)) return false;
    const char *rest = name + SR_SHA256_HEX_LENGTH;
    return !*rest || (*rest == '.' && rest[1] && !strchr(rest + 1, '.') && !sr_reports_is_name(rest));
}
