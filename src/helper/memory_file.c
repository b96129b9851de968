/* SPDX-License-Identifier: Apache-2.0 */
/* memory_file.c: a result of many bytes is a file in memory. The client creates it, the worker maps and fills it, and
 * the client seals it. After that nobody can change it. The result does not pass through JSON, is served or stored
 * without another copy, and needs no disk. */
#include "helper/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

sr_error_t *sr_pdf_unavailable(apr_pool_t *pool, const char *cause)
{
    sr_error_t *error = sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be read at the moment, try again later");
    return sr_error_because(error, pool, "%s", cause);
}

static apr_status_t close_output(void *data)
{
    sr_pdf_output_t *output = data;
    close(output->descriptor);
    output->descriptor = -1;
    return APR_SUCCESS;
}

sr_error_t *sr_pdf_output_begin(sr_pdf_output_t *output, apr_size_t room, apr_pool_t *pool)
{
    if (output->descriptor >= 0) apr_pool_cleanup_run(pool, output, close_output);
    *output = (sr_pdf_output_t){.descriptor = memfd_create("sigreq-output", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (output->descriptor < 0)
        return sr_pdf_unavailable(pool, apr_psprintf(pool, "memfd_create: %s", strerror(errno)));
    apr_pool_cleanup_register(pool, output, close_output, apr_pool_cleanup_null);
    if (ftruncate(output->descriptor, (off_t)room))
        return sr_pdf_unavailable(pool, apr_psprintf(pool, "no room for a result: %s", strerror(errno)));
    output->size = (apr_off_t)room;
    return NULL;
}

bool sr_pdf_output_end(sr_pdf_output_t *output, const json_t *length)
{
    json_int_t size = length ? json_integer_value(length) : 0;
    if (size < 0 || size > output->size || ftruncate(output->descriptor, (off_t)size)) return false;
    output->size = (apr_off_t)size;
    return !fcntl(output->descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
}

sr_error_t *sr_pdf_read(void *bytes, int descriptor, apr_off_t offset, apr_size_t length, apr_pool_t *pool)
{
    const apr_ssize_t got = sr_descriptor_read(descriptor, bytes, length, offset);
    if (got == (apr_ssize_t)length) return NULL;
    return sr_pdf_unavailable(pool, apr_psprintf(pool, "a document cannot be read to its end: %s",
                                                 got < 0 ? strerror(errno) : "it is shorter than it was"));
}

const char *sr_pdf_output_text(const sr_pdf_output_t *output, apr_pool_t *pool)
{
    const apr_size_t length = (apr_size_t)output->size;
    char *text = apr_palloc(pool, length + 1);
    if (sr_descriptor_read(output->descriptor, text, length, 0) != (apr_ssize_t)length) return NULL;
    text[length] = '\0';
    return text;
}

const char *sr_pdf_output_json(json_t **json, const sr_pdf_output_t *output, apr_pool_t *pool)
{
    const char *text = sr_pdf_output_text(output, pool);
    return text && !sr_json_parse(json, text, (apr_size_t)output->size, pool) ? text : NULL;
}

bool sr_pdf_is_plain(const char *text)
{
    if (!text || !*text || strlen(text) > SR_PDF_MAX_REASON) return false;
    for (const char *c = text; *c; c++)
        if (*c < ' ' || *c > '~') return false;
    return true;
}
