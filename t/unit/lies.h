/* SPDX-License-Identifier: Apache-2.0 */
/* lies.h: a liar between the client and a true helper, which changes the answers to "prepare" or "fill". What comes of
 * it is well made: its cross-reference section and byte ranges are right, so every PDF reader follows it. The lies are
 * told by t/unit/pdf_lies.c to libsigreq, and by t/tool/liar.c to a whole httpd. */
#ifndef SR_TEST_LIES_H
#define SR_TEST_LIES_H

#include "helper/protocol.h"
#include "pdf_make.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static apr_pool_t *lies_pool;

typedef enum where_t {
    NOWHERE,
    OBJECT,  /* `find` in the object of that number becomes `put` */
    DROP,    /* the object is left out */
    ADD,     /* `put` is an object of that number */
    TWICE,   /* the object is there once more, changed like OBJECT */
    TRAILER, /* in the trailer */
    TABLE,   /* in the cross-reference table */
    BETWEEN, /* `put` comes before the object */
    END,     /* `put` is the end */
    KEY,     /* the key that is told begins with `put` */
    NO_KEY   /* no key is told */
} where_t;

typedef struct lie_t {
    const char *op, *name;
    where_t where;
    int number;
    const char *find, *put;
} lie_t;

typedef struct lies_piece_t {
    int number;
    const char *text; /* what is between "obj" and "endobj" */
    size_t length;
} lies_piece_t;

typedef struct lies_update_t {
    lies_piece_t pieces[32];
    int count;
    const char *trailer;
} lies_update_t;

/* The pieces of a true update. */
static inline lies_update_t lies_take_apart(const char *bytes, size_t length)
{
    lies_update_t update = {.count = 0};
    const char *at = bytes + (*bytes == '\n');
    while (strncmp(at, "xref\n", 5) != 0) {
        lies_piece_t *piece = &update.pieces[update.count++];
        char *body;
        piece->number = (int)strtol(at, &body, 10);
        piece->text = body + strlen(" 0 obj\n");
        const char *end = memmem(piece->text, (size_t)(bytes + length - piece->text), "\nendobj\n", 8);
        piece->length = (size_t)(end - piece->text);
        at = end + 8;
    }
    const char *from = strstr(at, "trailer\n"), *to = strstr(from, "startxref");
    update.trailer = apr_pstrmemdup(lies_pool, from, (size_t)(to - from));
    return update;
}

static inline lies_piece_t lies_changed(const lies_piece_t *piece, const lie_t *lie)
{
    const char *found = memmem(piece->text, piece->length, lie->find, strlen(lie->find));
    pdf_t text = {0};
    if (!found) return *piece;
    pdf_add(&text, piece->text, (size_t)(found - piece->text));
    pdf_add(&text, lie->put, strlen(lie->put));
    found += strlen(lie->find);
    pdf_add(&text, found, (size_t)(piece->text + piece->length - found));
    return (lies_piece_t){piece->number, text.data, text.size};
}

static inline void lies_about(lies_update_t *update, const lie_t *lie)
{
    for (int i = 0; i < update->count; i++) {
        lies_piece_t *piece = &update->pieces[i];
        if (piece->number != lie->number) continue;
        if (lie->where == OBJECT) *piece = lies_changed(piece, lie);
        if (lie->where == TWICE) update->pieces[update->count++] = lies_changed(piece, lie);
        if (lie->where == DROP) memmove(piece, piece + 1, sizeof *piece * (size_t)(--update->count - i));
        if (lie->where == TWICE || lie->where == DROP) return;
    }
    if (lie->where == ADD) update->pieces[update->count++] = (lies_piece_t){lie->number, lie->put, strlen(lie->put)};
}

static inline int lies_by_number(const void *a, const void *b)
{
    return ((const int *)a)[0] - ((const int *)b)[0];
}

static inline const char *lies_replaced(const char *text, const lie_t *lie)
{
    const char *found = strstr(text, lie->find);
    if (!found) return text;
    const char *before = apr_pstrmemdup(lies_pool, text, (size_t)(found - text));
    return apr_pstrcat(lies_pool, before, lie->put, found + strlen(lie->find), NULL);
}

/* An update of the pieces, whose section is right. Its highest number is said where it was raised. */
static inline pdf_t lies_put_together(const lies_update_t *update, const lie_t *lie, size_t base, bool newline)
{
    pdf_t out = {0}, table = {0};
    int offsets[32][2], highest = 0;
    if (newline) pdf_print(&out, "\n");
    for (int i = 0; i < update->count; i++) {
        const lies_piece_t *piece = &update->pieces[i];
        if (lie->where == BETWEEN && piece->number == lie->number) pdf_print(&out, "%s", lie->put);
        offsets[i][0] = piece->number;
        offsets[i][1] = (int)(base + out.size);
        if (piece->number > highest) highest = piece->number;
        pdf_print(&out, "%d 0 obj\n", piece->number);
        pdf_add(&out, piece->text, piece->length);
        pdf_print(&out, "\nendobj\n");
    }
    size_t start = base + out.size;
    qsort(offsets, (size_t)update->count, sizeof *offsets, lies_by_number);
    for (int i = 0; i < update->count;) {
        int end = i + 1;
        while (end < update->count && offsets[end][0] == offsets[end - 1][0] + 1) end++;
        pdf_print(&table, "%d %d\n", offsets[i][0], end - i);
        for (; i < end; i++) pdf_print(&table, "%010d 00000 n \n", offsets[i][1]);
    }
    const char *rows = lie->where == TABLE ? lies_replaced(table.data, lie) : table.data, *trailer = update->trailer;
    char *size = strstr(trailer, "/Size ");
    if (size && atoi(size + 6) <= highest)
        trailer = apr_psprintf(lies_pool, "trailer\n<</Size %d%s", highest + 1, strstr(trailer, "/Root"));
    if (lie->where == TRAILER) trailer = lies_replaced(trailer, lie);
    pdf_print(&out, "xref\n%s%sstartxref\n%zu\n%%%%EOF\n", rows, trailer, start);
    if (lie->where == END) pdf_print(&out, "%s", lie->put);
    return out;
}

/* Makes the byte ranges right. The offset of the digits' "<". */
static inline size_t lies_mend_ranges(pdf_t *out, size_t base)
{
    char *contents = memmem(out->data, out->size, "/Contents<", 10);
    if (!contents) return 0;
    size_t at = (size_t)(contents + 9 - out->data), to = at + strcspn(contents + 9, ">") + 1;
    char range[100];
    int length = snprintf(range, sizeof range, SR_PDF_RANGE_FORMAT, (unsigned long long)(base + at),
                          (unsigned long long)(base + to), (unsigned long long)(out->size - to));
    memset(contents - SR_PDF_RANGE_WIDTH, ' ', SR_PDF_RANGE_WIDTH);
    memcpy(contents - SR_PDF_RANGE_WIDTH, range, (size_t)length);
    return at;
}

static inline const char *lies_tell(const lie_t *lie, const char *answer, int document, int result)
{
    struct stat info;
    json_t *json;
    if (sr_json_parse(&json, answer, strlen(answer), lies_pool)) abort();
    size_t length = (size_t)json_integer_value(json_object_get(json, "length"));
    char *bytes = apr_pcalloc(lies_pool, length + 1), last;
    if (fstat(document, &info) || pread(result, bytes, length, 0) != (ssize_t)length) abort();
    if (pread(document, &last, 1, info.st_size - 1) != 1) abort();
    const char *cipher = sr_json_string(json, "cipher"), *key = sr_json_string(json, "key");
    const char *secret = "";
    if (lie->where == KEY) key = apr_pstrcat(lies_pool, lie->put, key + strlen(lie->put), NULL);
    if (cipher && lie->where != NO_KEY)
        secret = apr_psprintf(lies_pool, ",\"cipher\":\"%s\",\"key\":\"%s\"", cipher, key);
    lies_update_t update = lies_take_apart(bytes, length);
    lies_about(&update, lie);
    pdf_t out = lies_put_together(&update, lie, (size_t)info.st_size, last != '\n');
    size_t contents = lies_mend_ranges(&out, (size_t)info.st_size);
    if (pwrite(result, out.data, out.size, 0) != (ssize_t)out.size) abort();
    return contents ? apr_psprintf(lies_pool, "{\"length\":%d,\"contents\":%d%s}", (int)out.size, (int)contents, secret)
                    : apr_psprintf(lies_pool, "{\"length\":%d%s}", (int)out.size, secret);
}

/* A worker of the true helper, whose socket is the result. */
static inline int lies_start_helper(const char *program)
{
    int ends[2];
    sr_pdf_header_t header;
    const char *text;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
    if (!fork()) {
        dup2(ends[1], SR_PDF_SOCKET);
        close(ends[1]);
        execl(program, program, (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    int64_t deadline = sr_time_steady() + 5000000;
    if (sr_pdf_receive(&header, &text, NULL, ends[0], 1 << 20, deadline, lies_pool) != SR_PDF_WIRE_OK) abort();
    int template = ends[0];
    if (!(header.flags & SR_PDF_TEMPLATE) || socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
    const int sent[SR_PDF_DESCRIPTORS] = {ends[1], -1};
    sr_pdf_send(template, 0, 0, "{\"cpu\":60}", strlen("{\"cpu\":60}"), sent, deadline);
    close(ends[1]);
    if (sr_pdf_receive(&header, &text, NULL, ends[0], 1 << 20, deadline, lies_pool) != SR_PDF_WIRE_OK) abort();
    return ends[0];
}

/* Hands on requests and answers. `choose` gives the lie for a request, or NULL. */
static inline int lies_act(const lie_t *(*choose)(const char *request), const char *program)
{
    int64_t deadline = sr_time_steady() + 60000000;
    int own = fcntl(SR_PDF_SOCKET, F_DUPFD_CLOEXEC, 10);
    close(SR_PDF_SOCKET);
    int helper = lies_start_helper(program);
    sr_pdf_send(own, 0, 0, "{}", 2, NULL, deadline);
    for (;;) {
        sr_pdf_header_t header, answered;
        const char *request, *answer;
        int got[SR_PDF_DESCRIPTORS];
        if (sr_pdf_receive(&header, &request, got, own, SR_PDF_MAX_REQUEST, deadline, lies_pool) != SR_PDF_WIRE_OK)
            return 0;
        sr_pdf_send(helper, header.id, 0, request, header.length, got, deadline);
        if (sr_pdf_receive(&answered, &answer, NULL, helper, SR_PDF_MAX_ANSWER, deadline, lies_pool) != SR_PDF_WIRE_OK)
            return 1;
        const lie_t *lie = choose(request);
        if (lie && strstr(answer, "\"length\":")) answer = lies_tell(lie, answer, got[0], got[1]);
        for (int i = 0; i < SR_PDF_DESCRIPTORS; i++)
            if (got[i] >= 0) close(got[i]);
        sr_pdf_send(own, header.id, answered.flags, answer, strlen(answer), NULL, deadline);
    }
}

static inline bool lies_asks(const char *request, const char *op)
{
    return strstr(request, apr_psprintf(lies_pool, "\"op\":\"%s\"", op));
}

#endif
