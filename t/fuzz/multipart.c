/* SPDX-License-Identifier: Apache-2.0 */
/* multipart.c: the multipart parser. The first line of the input is the parameters of the Content-Type, the rest the
 * body; what is heard of it does not depend on where the network cuts it. */
#include "fuzz.h"
#include "http/multipart.h"

typedef struct heard_t {
    apr_pool_t *pool;
    sr_sha256_t *digest;
    int parts, open;
    size_t bytes;
} heard_t;

static void hear(heard_t *heard, char what, const char *text)
{
    sr_sha256_update(heard->digest, &what, 1);
    if (text) sr_sha256_update(heard->digest, text, strlen(text) + 1);
}

static sr_error_t *hear_begin(void *baton, const sr_part_t *part)
{
    heard_t *heard = baton;
    fuzz_must(part->name && (!part->filename == !part->raw_filename) && !heard->open);
    heard->open = 1;
    heard->parts++;
    hear(heard, 'n', part->name);
    hear(heard, 'f', part->filename);
    hear(heard, 'r', part->raw_filename);
    hear(heard, 't', part->type);
    hear(heard, 'e', part->encoding);
    return NULL;
}

static sr_error_t *hear_data(void *baton, const char *data, apr_size_t length)
{
    heard_t *heard = baton;
    fuzz_must(heard->open && length > 0);
    heard->bytes += length;
    sr_sha256_update(heard->digest, data, length);
    return NULL;
}

static sr_error_t *hear_end(void *baton)
{
    heard_t *heard = baton;
    fuzz_must(heard->open);
    heard->open = 0;
    hear(heard, 'x', NULL);
    return NULL;
}

/* All that is heard when the body comes in pieces of `piece` bytes, or why it is malformed. */
static const char *parse(const char *parameters, const char *body, size_t size, size_t piece, apr_pool_t *pool)
{
    heard_t heard = {.pool = pool, .digest = sr_sha256_begin(pool)};
    const sr_multipart_sink_t sink = {hear_begin, hear_data, hear_end, &heard};
    sr_multipart_t *parser;
    sr_error_t *error = sr_multipart_make(&parser, parameters, &sink, 5, pool);
    for (size_t at = 0; at < size && !error; at += piece)
        error = sr_multipart_feed(parser, body + at, size - at < piece ? size - at : piece);
    if (!error) error = sr_multipart_finish(parser);
    fuzz_must(heard.parts <= 5 && heard.bytes <= size);
    if (error) {
        fuzz_must(error->code == SR_EBADREQUEST && error->cause);
        return error->cause;
    }
    fuzz_must(!heard.open);
    return sr_sha256_end_hex(heard.digest, pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
    char *parameters = line ? fuzz_text(data, (size_t)(line - data)) : NULL;
    if (!parameters) return 0;
    const char *body = (const char *)line + 1;
    size_t length = size - (size_t)(line + 1 - data);
    apr_pool_t *pool = fuzz_pool();
    const char *whole = parse(parameters, body, length, length ? length : 1, pool);
    for (size_t piece = 1; piece < 100; piece = piece * 2 + 1)
        fuzz_must(!strcmp(parse(parameters, body, length, piece, pool), whole));
    apr_pool_destroy(pool);
    free(parameters);
    return 0;
}
