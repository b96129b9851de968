/* SPDX-License-Identifier: Apache-2.0 */
/* memory_file.h: results of many bytes, for the client that asks for them and the checks that read them. Private to
 * src/helper and src/verify. */
#ifndef SR_HELPER_MEMORY_FILE_H
#define SR_HELPER_MEMORY_FILE_H

#include "helper/pdf.h"

/* Makes a new output with room for `room` bytes. The file that `output` had before is closed; its descriptor is -1 if
 * it had none. `output` must live as long as the pool, which closes it. */
sr_error_t *sr_pdf_output_begin(sr_pdf_output_t *output, apr_size_t room, apr_pool_t *pool);
/* Cuts the file to the length that the response contains (NULL: 0) and seals it. Returns false if the length is not
 * possible, or if the worker can still change the file. */
bool sr_pdf_output_end(sr_pdf_output_t *output, const json_t *length);
/* Reads a result. NUL is added to its end. Returns NULL if it cannot be read. */
const char *sr_pdf_output_text(const sr_pdf_output_t *output, apr_pool_t *pool);
/* Reads a result that is JSON. Returns its text, which ends with NUL, or NULL if it cannot be parsed. *json is released
 * with the pool. */
const char *sr_pdf_output_json(json_t **json, const sr_pdf_output_t *output, apr_pool_t *pool);
/* Makes the error for "no worker is available", with its cause. */
sr_error_t *sr_pdf_unavailable(apr_pool_t *pool, const char *cause);
/* Returns true if a text of a worker is short printable ASCII. Other texts are never shown, because the worker has read
 * hostile bytes. */
bool sr_pdf_is_plain(const char *text);

#endif
