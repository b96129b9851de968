/* SPDX-License-Identifier: Apache-2.0 */
/* zip.h: the form of a ZIP file, by libarchive: entries are stored without compression, and longer ones or more of
 * them than a ZIP may have get the form ZIP64. The same entries give the same bytes on hosts with the same time zone.
 */
#ifndef SR_SERVICE_DOCUMENTS_ZIP_H
#define SR_SERVICE_DOCUMENTS_ZIP_H

#include "base/base.h"

typedef struct sr_zip_t sr_zip_t;
/* Gets the bytes of the ZIP in their order, without the contents that `apart` leaves out. */
typedef sr_error_t *(*sr_zip_sink_t)(void *baton, const void *data, apr_size_t length);
sr_error_t *sr_zip_begin(sr_zip_t **zip, sr_zip_sink_t sink, void *baton, apr_pool_t *pool);
/* Begins an entry of this size. `name` is UTF-8. */
sr_error_t *sr_zip_entry(sr_zip_t *zip, const char *name, apr_time_t when, apr_off_t size);
/* Adds a piece of the content. `apart`: the sink does not get it, because the caller adds it to the file itself. */
sr_error_t *sr_zip_write(sr_zip_t *zip, const void *data, apr_size_t length, bool apart);
sr_error_t *sr_zip_end(sr_zip_t *zip);

#endif
