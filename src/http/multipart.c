/* SPDX-License-Identifier: Apache-2.0 */
/* multipart.c: the push parser of multipart.h.
 *
 * A delimiter is CRLF "--" boundary. The delimiter before the first part may lack its CRLF, so the parser starts as
 * if it had just read a CRLF. Data is searched with memmem. If the end of a piece may be the beginning of a
 * delimiter, these bytes are not copied: they are equal to the first `held` bytes of the delimiter. */
#include "http/multipart.h"

#include <string.h>

#include "http/part.h"

#define BOUNDARY_MAX 70 /* RFC 2046, 5.1.1 */
#define DELIMITER_MAX (BOUNDARY_MAX + 4)
#define JUNK "a boundary is followed by something other than a line end"

typedef enum state_t { PREAMBLE, BODY, AFTER_DELIMITER, HEADERS, EPILOGUE } state_t;

struct sr_multipart_t {
    state_t state;
    sr_multipart_sink_t sink;
    apr_pool_t *pool;
    int parts_left;
    char delimiter[DELIMITER_MAX + 1];
    apr_size_t delimiter_length;
    apr_size_t held;   /* bytes of a possible delimiter at the end of the last piece */
    apr_size_t unreal; /* how many of these are not data: the CRLF before the first line of the body or of a part */
    char tail[2];      /* AFTER_DELIMITER: the characters after the boundary so far */
    int tail_length;
    char *headers; /* SR_MULTIPART_HEADER_MAX + 1 bytes, used again for each part */
    apr_size_t headers_length;
};

static sr_error_t *multipart_malformed(apr_pool_t *pool, const char *why)
{
    return sr_part_malformed(pool, why);
}

sr_error_t *sr_multipart_make(sr_multipart_t **parser, const char *parameters, const sr_multipart_sink_t *sink,
                              int max_parts, apr_pool_t *pool)
{
    const char *boundary = NULL;
    SR_TRY(sr_part_parameter(&boundary, parameters, "boundary", pool));
    if (!boundary) return multipart_malformed(pool, "the Content-Type of the request has no boundary");
    size_t length = strlen(boundary);
    if (length < 1 || length > BOUNDARY_MAX || boundary[length - 1] == ' ')
        return multipart_malformed(pool, "the boundary must have 1 to 70 characters, and no space at its end");
    /* bchars of RFC 2046 and other characters that real clients use, but no control characters */
    for (const char *p = boundary; *p; p++)
        if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
            return multipart_malformed(pool, "the boundary must be printable ASCII");

    sr_multipart_t *made = apr_pcalloc(pool, sizeof *made);
    made->sink = *sink;
    made->pool = pool;
    made->parts_left = max_parts;
    memcpy(made->delimiter, "\r\n--", 4);
    memcpy(made->delimiter + 4, boundary, length);
    made->delimiter_length = length + 4;
    made->held = made->unreal = 2;
    made->headers = apr_palloc(pool, SR_MULTIPART_HEADER_MAX + 1);
    *parser = made;
    return NULL;
}

static sr_error_t *emit(sr_multipart_t *parser, const char *data, apr_size_t length)
{
    return parser->state == BODY && length ? parser->sink.data(parser->sink.baton, data, length) : NULL;
}

/* Gives the first bytes of resume_held's window to the sink, because they are data after all, without the unreal
 * ones. */
static sr_error_t *emit_held(sr_multipart_t *parser, const char *window, apr_size_t length)
{
    apr_size_t skip = parser->unreal < length ? parser->unreal : length;
    if (length) parser->unreal = 0;
    return emit(parser, window + skip, length - skip);
}

/* Returns the length of the longest suffix of the data that is a prefix of the delimiter. */
static apr_size_t suffix_to_hold(const sr_multipart_t *parser, const char *data, apr_size_t length)
{
    apr_size_t most = length < parser->delimiter_length ? length : parser->delimiter_length - 1;
    for (const char *p = data + length - most; (p = memchr(p, '\r', (apr_size_t)(data + length - p))) != NULL; p++) {
        apr_size_t n = (apr_size_t)(data + length - p);
        if (!memcmp(p, parser->delimiter, n)) return n;
    }
    return 0;
}

static sr_error_t *delimiter_found(sr_multipart_t *parser)
{
    bool in_part = parser->state == BODY;
    parser->state = AFTER_DELIMITER;
    parser->held = parser->unreal = 0;
    parser->tail_length = 0;
    return in_part ? parser->sink.end(parser->sink.baton) : NULL;
}

/* A delimiter may have begun in an earlier piece. This searches the held bytes together with the first bytes of this
 * piece. *used is the number of bytes of this piece that have been handled. */
static sr_error_t *resume_held(sr_multipart_t *parser, const char *data, apr_size_t length, apr_size_t *used)
{
    char window[2 * DELIMITER_MAX];
    apr_size_t held = parser->held, taken = length < parser->delimiter_length ? length : parser->delimiter_length;
    memcpy(window, parser->delimiter, held);
    memcpy(window + held, data, taken);
    const char *at = memmem(window, held + taken, parser->delimiter, parser->delimiter_length);
    if (at && (apr_size_t)(at - window) < held) {
        SR_TRY(emit_held(parser, window, (apr_size_t)(at - window)));
        *used = (apr_size_t)(at - window) + parser->delimiter_length - held;
        return delimiter_found(parser);
    }
    *used = 0;
    if (taken == parser->delimiter_length) { /* no delimiter can begin in the held bytes any more */
        parser->held = 0;
        return emit_held(parser, window, held);
    }
    apr_size_t hold = suffix_to_hold(parser, window, held + taken);
    parser->held = hold;
    *used = taken;
    return emit_held(parser, window, held + taken - hold);
}

static sr_error_t *feed_data(sr_multipart_t *parser, const char *data, apr_size_t length, apr_size_t *used)
{
    if (parser->held) {
        SR_TRY(resume_held(parser, data, length, used));
        if (*used || parser->state == AFTER_DELIMITER) return NULL;
    }
    const char *at = memmem(data, length, parser->delimiter, parser->delimiter_length);
    if (at) {
        SR_TRY(emit(parser, data, (apr_size_t)(at - data)));
        *used = (apr_size_t)(at - data) + parser->delimiter_length;
        return delimiter_found(parser);
    }
    parser->held = suffix_to_hold(parser, data, length);
    *used = length;
    return emit(parser, data, length - parser->held);
}

/* Reads the characters after a boundary: "--" ends the body, white space and CRLF begin a part, and anything else is
 * malformed. */
static sr_error_t *feed_after_delimiter(sr_multipart_t *parser, char c)
{
    if (parser->tail_length == 0 && (c == ' ' || c == '\t')) return NULL;
    parser->tail[parser->tail_length++] = c;
    if (parser->tail_length == 1) return c == '-' || c == '\r' ? NULL : multipart_malformed(parser->pool, JUNK);
    if (parser->tail[0] == '-' && c == '-') {
        parser->state = EPILOGUE;
    } else if (parser->tail[0] == '\r' && c == '\n') {
        if (parser->parts_left-- <= 0) return multipart_malformed(parser->pool, "too many parts");
        parser->state = HEADERS;
        parser->headers_length = 0;
    } else {
        return multipart_malformed(parser->pool, JUNK);
    }
    return NULL;
}

static sr_error_t *headers_complete(sr_multipart_t *parser)
{
    sr_part_t *part;
    parser->headers[parser->headers_length] = '\0';
    SR_TRY(sr_part_parse(&part, parser->headers, parser->headers_length, parser->pool));
    parser->state = BODY;
    /* RFC 2046 allows a part without data: the CRLF of its blank line then also begins the delimiter */
    parser->held = parser->unreal = 2;
    return parser->sink.begin(parser->sink.baton, part);
}

static sr_error_t *feed_header(sr_multipart_t *parser, char c)
{
    char *headers = parser->headers;
    if (parser->headers_length == SR_MULTIPART_HEADER_MAX)
        return multipart_malformed(parser->pool, "the headers of a part are longer than 8192 bytes");
    headers[parser->headers_length++] = c;
    apr_size_t n = parser->headers_length;
    bool blank_line = n == 2 ? !memcmp(headers, "\r\n", 2) : n >= 4 && !memcmp(headers + n - 4, "\r\n\r\n", 4);
    return blank_line ? headers_complete(parser) : NULL;
}

sr_error_t *sr_multipart_feed(sr_multipart_t *parser, const char *data, apr_size_t length)
{
    while (length) {
        apr_size_t used = 1;
        switch (parser->state) {
        case PREAMBLE:
        case BODY: SR_TRY(feed_data(parser, data, length, &used)); break;
        case AFTER_DELIMITER: SR_TRY(feed_after_delimiter(parser, *data)); break;
        case HEADERS: SR_TRY(feed_header(parser, *data)); break;
        case EPILOGUE: return NULL; /* RFC 2046: the epilogue is ignored */
        }
        data += used;
        length -= used;
    }
    return NULL;
}

sr_error_t *sr_multipart_finish(const sr_multipart_t *parser)
{
    return parser->state == EPILOGUE ? NULL : multipart_malformed(parser->pool, "it ends before its closing boundary");
}
