/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c: reads a form with files as it arrives. Files are given on in pieces, texts are collected in memory. */
#include "http/http.h"

#include <string.h>

#define FIRST_ROOM 256

typedef struct reader_t {
    sr_http_t *http;
    const sr_http_parts_t *form;
    sr_multipart_t *parser;
    int files;
    enum { SKIPPED, TEXT, IN_FILE } current; /* the part that is being read */
    const char *name;
    char *text;
    apr_size_t max, length, room; /* of the text */
    apr_off_t size;               /* of the file */
} reader_t;

/* Refuses a file. The rest of the form is read if the caller wants that. */
static sr_error_t *refuse_file(reader_t *reader, sr_error_t *error)
{
    reader->current = SKIPPED;
    if (!reader->form->refused) return error;
    *reader->form->refused = error;
    return NULL;
}

static sr_error_t *parts_begin_file(reader_t *reader, const sr_part_t *part)
{
    const int most = reader->http->settings->max_files;
    if (reader->form->refused && *reader->form->refused) return NULL;
    if (reader->files++ >= most)
        return refuse_file(reader,
                           sr_error(reader->http->pool, SR_ETOOLARGE, "At most %d files can be provided", most));
    reader->current = IN_FILE;
    reader->size = 0;
    return reader->form->begin_file(reader->form->baton, part);
}

static sr_error_t *parts_begin(void *baton, const sr_part_t *part)
{
    reader_t *reader = baton;
    reader->current = SKIPPED;
    SR_TRY(sr_http_check_part(part, reader->http->pool));
    if (sr_http_is_file(part)) return parts_begin_file(reader, part);
    reader->max = 0;
    SR_TRY(reader->form->begin(reader->form->baton, &reader->max, part));
    if (!reader->max) return NULL;
    reader->current = TEXT;
    reader->name = part->name;
    reader->length = 0;
    reader->text = apr_palloc(reader->http->pool, reader->room = FIRST_ROOM);
    return NULL;
}

static sr_error_t *parts_add_text(reader_t *reader, const char *data, apr_size_t length)
{
    if (length > reader->max - reader->length)
        return sr_error(reader->http->pool, SR_ETOOLARGE, "%s must be at most %" APR_SIZE_T_FMT " bytes", reader->name,
                        reader->max);
    while (reader->room < reader->length + length + 1) {
        /* the room doubles, so the old buffers in the pool have at most the same size in all */
        char *larger = apr_palloc(reader->http->pool, reader->room *= 2);
        memcpy(larger, reader->text, reader->length);
        reader->text = larger;
    }
    memcpy(reader->text + reader->length, data, length);
    reader->length += length;
    return NULL;
}

static sr_error_t *parts_data(void *baton, const char *data, apr_size_t length)
{
    reader_t *reader = baton;
    const apr_off_t most = reader->http->settings->max_file_size;
    if (reader->current == TEXT) return parts_add_text(reader, data, length);
    if (reader->current == SKIPPED) return NULL;
    reader->size += (apr_off_t)length;
    if (reader->size > most)
        return refuse_file(reader, sr_error(reader->http->pool, SR_ETOOLARGE,
                                            "A file must be at most %" APR_OFF_T_FMT " bytes", most));
    return reader->form->file_data(reader->form->baton, data, length);
}

static sr_error_t *parts_end(void *baton)
{
    reader_t *reader = baton;
    const sr_http_parts_t *form = reader->form;
    if (reader->current == IN_FILE) return form->end_file(form->baton);
    if (reader->current == SKIPPED) return NULL;
    reader->text[reader->length] = '\0';
    return form->text(form->baton, reader->text, reader->length);
}

static sr_error_t *parts_piece(void *baton, const char *data, apr_size_t length)
{
    return sr_multipart_feed(((reader_t *)baton)->parser, data, length);
}

sr_error_t *sr_http_read_parts(sr_http_t *http, const sr_http_parts_t *form)
{
    reader_t reader = {.http = http, .form = form};
    const sr_multipart_sink_t sink = {parts_begin, parts_data, parts_end, &reader};
    const char *parameters;
    SR_TRY(sr_http_expect_type(http, "multipart/form-data", &parameters));
    SR_TRY(sr_multipart_make(&reader.parser, parameters, &sink, http->settings->max_files + form->texts, http->pool));
    SR_TRY(sr_http_read(http, http->settings->max_request_size, parts_piece, &reader));
    return sr_multipart_finish(reader.parser);
}
