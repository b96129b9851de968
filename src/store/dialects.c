/* SPDX-License-Identifier: Apache-2.0 */
/* dialects.c: the dialects of SQL, one for each driver of apr_dbd that is supported. */
#include "store/private.h"

#include <string.h>

bool sr_connection_make(sr_connection_t *connection, const apr_dbd_driver_t *driver, apr_dbd_t *handle)
{
    static const sr_dialect_t *const dialects[] = {&sr_dialect_pgsql, &sr_dialect_sqlite3, NULL};
    for (const sr_dialect_t *const *dialect = dialects; *dialect; dialect++) {
        if (strcmp((*dialect)->name, apr_dbd_name(driver)) != 0) continue;
        *connection = (sr_connection_t){*dialect, driver, handle, NULL};
        if ((*dialect)->begin) (*dialect)->begin(connection);
        return true;
    }
    return false;
}
