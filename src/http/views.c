/* SPDX-License-Identifier: Apache-2.0 */
/* views.c: sends responses that consist of joined stored JSON texts (representations). A small one is put together in
 * memory. A large one is written to a file without a name and sent from there, so that a slow client occupies neither
 * memory nor a thread. */
#include "http/http.h"

#include <apr_portable.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define IN_MEMORY ((apr_size_t)256 << 10)
#define PIECE ((apr_size_t)64 << 10)

/* The response while it is written: to memory, or through the buffer to a file. */
typedef struct output_t {
    sr_http_t *http;
    char *buffer;
    apr_size_t used, room;
    int file; /* -1: there is no file, and the buffer has room for everything */
    sr_error_t *error;
} output_t;

static void flush(output_t *output)
{
    const char *from = output->buffer;
    while (output->used && !output->error) {
        const ssize_t written = write(output->file, from, output->used);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            output->error = sr_error_because(
                sr_error(output->http->pool, SR_EUNAVAILABLE, "The response cannot be created now, try again later"),
                output->http->pool, "writing to %s: %s", output->http->folder, strerror(errno));
            return;
        }
        from += written;
        output->used -= (apr_size_t)written;
    }
}

static void views_put(output_t *output, const char *text, apr_size_t length)
{
    while (length && !output->error) {
        const apr_size_t free = output->room - output->used, part = length < free ? length : free;
        memcpy(output->buffer + output->used, text, part);
        output->used += part;
        text += part;
        length -= part;
        if (length) flush(output);
    }
}

static void put_view(output_t *output, const char *view)
{
    const char *base = output->http->base_url, *mark;
    for (; (mark = strchr(view, SR_BASE_URL_PLACEHOLDER)) != NULL; view = mark + 1) {
        views_put(output, view, (apr_size_t)(mark - view));
        views_put(output, base, strlen(base));
    }
    views_put(output, view, strlen(view));
}

/* Returns the length of the response. */
static apr_size_t views_length_of(const apr_array_header_t *views, apr_size_t base)
{
    apr_size_t length = 0;
    for (int i = 0; i < views->nelts; i++) {
        const char *view = APR_ARRAY_IDX(views, i, const char *);
        length += strlen(view);
        for (; (view = strchr(view, SR_BASE_URL_PLACEHOLDER)) != NULL; view++) length += base - 1;
    }
    return length;
}

/* Opens a file without a name in the documents folder. Returns -1 if the file system does not support that; memory is
 * used then. */
static int views_open_file(const sr_http_t *http)
{
    return open(http->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static sr_error_t *reply_file(output_t *output, apr_size_t length)
{
    apr_file_t *file;
    flush(output);
    if (output->error) {
        close(output->file);
        return output->error;
    }
    apr_os_file_put(&file, &output->file, APR_FOPEN_READ | APR_FOPEN_BINARY | APR_FOPEN_SENDFILE_ENABLED,
                    output->http->pool);
    sr_descriptor_own(output->file, output->http->pool); /* httpd may take it away from `file` */
    return sr_http_file(output->http, SR_HTTP_JSON, file, (apr_off_t)length);
}

static const char *tag_of(const sr_http_t *http, const apr_array_header_t *views)
{
    sr_sha256_t *digest = sr_sha256_begin(http->pool);
    for (int i = 0; i < views->nelts; i++) {
        const char *view = APR_ARRAY_IDX(views, i, const char *);
        sr_sha256_update(digest, view, strlen(view));
    }
    return sr_sha256_end_hex(digest, http->pool);
}

sr_error_t *sr_http_views(sr_http_t *http, const apr_array_header_t *views)
{
    if (sr_http_unchanged(http, tag_of(http, views))) return NULL;
    const apr_size_t length = views_length_of(views, strlen(http->base_url));
    output_t output = {.http = http, .file = length > IN_MEMORY ? views_open_file(http) : -1};
    output.room = output.file < 0 ? length : PIECE;
    output.buffer = apr_palloc(http->pool, output.room);
    for (int i = 0; i < views->nelts; i++) put_view(&output, APR_ARRAY_IDX(views, i, const char *));
    if (output.file >= 0) return reply_file(&output, length);
    return sr_http_bytes(http, HTTP_OK, SR_HTTP_JSON, output.buffer, length);
}
