/* SPDX-License-Identifier: Apache-2.0 */
/* http_multipart.c: tests of src/http/multipart.c. Each body is fed as a whole, byte by byte, and cut at every
 * possible pair of positions. The result must never depend on where the network cuts the body. */
#include "http/multipart.h"

#include <apr_general.h>

#include "tap.h"

typedef struct heard_t {
    apr_pool_t *pool;
    char *text;
} heard_t;

static sr_error_t *hear_begin(void *baton, const sr_part_t *part)
{
    heard_t *heard = baton;
    heard->text =
        apr_psprintf(heard->pool, "%s[%s|%s|%s|%s]", heard->text, part->name, part->filename ? part->filename : "-",
                     part->raw_filename ? part->raw_filename : "-", part->type ? part->type : "-");
    return NULL;
}

static sr_error_t *hear_data(void *baton, const char *data, apr_size_t length)
{
    heard_t *heard = baton;
    heard->text = apr_psprintf(heard->pool, "%s%.*s", heard->text, (int)length, data);
    return NULL;
}

static sr_error_t *hear_end(void *baton)
{
    heard_t *heard = baton;
    heard->text = apr_pstrcat(heard->pool, heard->text, ";", NULL);
    return NULL;
}

/* Parses a body that is cut at `first` and `second`. Returns the parts as text, or "error: <cause>". */
static const char *parse(const char *parameters, const char *body, size_t length, size_t first, size_t second,
                         apr_pool_t *pool)
{
    heard_t heard = {pool, apr_pstrdup(pool, "")};
    const sr_multipart_sink_t sink = {hear_begin, hear_data, hear_end, &heard};
    sr_multipart_t *parser;
    sr_error_t *error = sr_multipart_make(&parser, parameters, &sink, 3, pool);
    if (!error) error = sr_multipart_feed(parser, body, first);
    if (!error) error = sr_multipart_feed(parser, body + first, second - first);
    if (!error) error = sr_multipart_feed(parser, body + second, length - second);
    if (!error) error = sr_multipart_finish(parser);
    return error ? apr_psprintf(pool, "error: %s", error->cause) : heard.text;
}

static const char *parse_bytes(const char *parameters, const char *body, size_t length, apr_pool_t *pool)
{
    heard_t heard = {pool, apr_pstrdup(pool, "")};
    const sr_multipart_sink_t sink = {hear_begin, hear_data, hear_end, &heard};
    sr_multipart_t *parser;
    sr_error_t *error = sr_multipart_make(&parser, parameters, &sink, 3, pool);
    for (size_t i = 0; i < length && !error; i++) error = sr_multipart_feed(parser, body + i, 1);
    if (!error) error = sr_multipart_finish(parser);
    return error ? apr_psprintf(pool, "error: %s", error->cause) : heard.text;
}

#define FIELD "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
#define FILE_PART(disposition) "--b\r\nContent-Disposition: form-data; name=\"f\"; " disposition "\r\n\r\nx\r\n--b--"
#define BOUNDARY "; boundary=b"
#define JUNK "error: a boundary is followed by something other than a line end"
#define LENGTH "error: the boundary must have 1 to 70 characters, and no space at its end"

static const struct {
    const char *name, *parameters, *body, *want;
} cases[] = {
    {"one field", BOUNDARY, FIELD "hello\r\n--b--\r\n", "[a|-|-|-]hello;"},
    {"no line end after the closing delimiter", BOUNDARY, FIELD "hello\r\n--b--", "[a|-|-|-]hello;"},
    {"two fields", BOUNDARY, FIELD "1\r\n" FIELD "2\r\n--b--\r\n", "[a|-|-|-]1;[a|-|-|-]2;"},
    {"empty data", BOUNDARY, FIELD "\r\n--b--", "[a|-|-|-];"},
    {"blank line shared with the delimiter", BOUNDARY, FIELD "--b--", "[a|-|-|-];"},
    {"no parts", BOUNDARY, "--b--\r\n", ""},
    {"preamble and epilogue", BOUNDARY, "hi\r\n\r\n" FIELD "x\r\n--b--\r\nbye\r\n--b\r\n", "[a|-|-|-]x;"},
    {"white space after a boundary", BOUNDARY, "--b \t\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b--",
     "[a|-|-|-]x;"},
    {"data of line ends", BOUNDARY, FIELD "\r\n\r\n\r\r\n-\r\n--\r\n--b--", "[a|-|-|-]\r\n\r\n\r\r\n-\r\n--;"},
    {"data begins like a delimiter", BOUNDARY, FIELD "--x\r\n--b--", "[a|-|-|-]--x;"},
    {"data ends like a delimiter", BOUNDARY, FIELD "x\r\n-\r\n--b--", "[a|-|-|-]x\r\n-;"},
    {"long boundary", "; boundary=\"0123456789012345678901234567890123456789012345678901234567890123456789\"",
     "--0123456789012345678901234567890123456789012345678901234567890123456789\r\nContent-Disposition: form-data; "
     "name=a\r\n\r\n--012345678901234567890123456789012345678901234567890123456789012345678\r\n"
     "--0123456789012345678901234567890123456789012345678901234567890123456789--",
     "[a|-|-|-]--012345678901234567890123456789012345678901234567890123456789012345678;"},
    {"quoted boundary", "; charset=utf-8; boundary=\"b\"", FIELD "x\r\n--b--", "[a|-|-|-]x;"},
    {"a file", BOUNDARY,
     "--b\r\ncontent-disposition: Form-Data; NAME=f; filename=\"x.pdf\"\r\nCONTENT-TYPE: Application/PDF; "
     "q=1\r\n\r\n%PDF\r\n--b--",
     "[f|x.pdf|x.pdf|application/pdf]%PDF;"},
    {"file name of a browser", BOUNDARY, FILE_PART("filename=\"a %22b%22%0D%0A%41.pdf\""),
     "[f|a \"b\"\r\n%41.pdf|a %22b%22%0D%0A%41.pdf|-]x;"},
    {"file name with backslashes", BOUNDARY, FILE_PART("filename=\"a \\\"b\\\".pdf\""),
     "[f|a \"b\".pdf|a \\\"b\\\".pdf|-]x;"},
    {"file name of old Windows", BOUNDARY, FILE_PART("filename=\"C:\\dir\\b.pdf\""),
     "[f|C:\\dir\\b.pdf|C:\\dir\\b.pdf|-]x;"},
    {"file name in UTF-8", BOUNDARY, FILE_PART("filename=\"\xc3\xa9.pdf\""), "[f|\xc3\xa9.pdf|\xc3\xa9.pdf|-]x;"},
    {"file name extended", BOUNDARY, FILE_PART("filename=\"e.pdf\"; filename*=UTF-8''%C3%A9.pdf"),
     "[f|\xc3\xa9.pdf|e.pdf|-]x;"},
    {"empty file name", BOUNDARY, FILE_PART("filename=\"\""), "[f|||-]x;"},
    {"nothing", BOUNDARY, "", "error: it ends before its closing boundary"},
    {"cut in the data", BOUNDARY, FIELD "hello", "error: it ends before its closing boundary"},
    {"cut in the closing delimiter", BOUNDARY, FIELD "hello\r\n--b-", "error: it ends before its closing boundary"},
    {"line ends without CR", BOUNDARY, "--b\nContent-Disposition: form-data; name=a\n\nx\n--b--", JUNK},
    {"junk after a delimiter", BOUNDARY, FIELD "x\r\n--bb\r\n", JUNK},
    {"one hyphen after a delimiter", BOUNDARY, "--b-X\r\n", JUNK},
    {"CR in a header's name", BOUNDARY, "--b\r\nContent-\risposition: form-data; name=a\r\n\r\nx\r\n--b--",
     "error: a header line of a part without a name and a colon"},
    {"CR in a header's value", BOUNDARY, "--b\r\nContent-Disposition: form-data; \rname=a\r\n\r\nx\r\n--b--",
     "error: a control character in the headers of a part"},
    {"header without a name", BOUNDARY, "--b\r\n: form-data; name=a\r\n\r\nx\r\n--b--",
     "error: a header line of a part without a name and a colon"},
    {"folded header", BOUNDARY, "--b\r\nContent-Disposition: form-data;\r\n name=a\r\n\r\nx\r\n--b--",
     "error: a part without a name"},
    {"no disposition", BOUNDARY, "--b\r\n\r\nx\r\n--b--", "error: a part without Content-Disposition"},
    {"no name", BOUNDARY, "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--", "error: a part without a name"},
    {"two names", BOUNDARY, "--b\r\nContent-Disposition: form-data; name=a; name=b\r\n\r\nx\r\n--b--",
     "error: a part with two names"},
    {"two dispositions", BOUNDARY,
     "--b\r\nContent-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b"
     "\r\n\r\nx\r\n--b--",
     "error: a part with two Content-Disposition headers"},
    {"attachment", BOUNDARY, "--b\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--b--",
     "error: the Content-Disposition of a part is not form-data"},
    {"unterminated quote", BOUNDARY, "--b\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--b--",
     "error: an unterminated quoted value"},
    {"extended file name of another charset", BOUNDARY, FILE_PART("filename*=iso-8859-1''%E9.pdf"),
     "error: filename* must begin with UTF-8'' (RFC 5987)"},
    {"more parts than allowed", BOUNDARY, FIELD "1\r\n" FIELD "2\r\n" FIELD "3\r\n" FIELD "4\r\n--b--",
     "error: too many parts"},
    {"no boundary", "; charset=utf-8", FIELD "x\r\n--b--", "error: the Content-Type of the request has no boundary"},
    {"no parameters", "", FIELD "x\r\n--b--", "error: the Content-Type of the request has no boundary"},
    {"empty boundary", "; boundary=\"\"", FIELD "x\r\n--b--", LENGTH},
    {"boundary of 71", "; boundary=01234567890123456789012345678901234567890123456789012345678901234567890", "",
     LENGTH},
    {"two boundaries", "; boundary=a; boundary=b", "", "error: a parameter given twice"},
};

static void check_case(size_t n, apr_pool_t *parent)
{
    const char *body = cases[n].body, *want = cases[n].want;
    size_t length = strlen(body), differing = 0;
    apr_pool_t *pool;
    apr_pool_create(&pool, parent);
    is_str(parse(cases[n].parameters, body, length, length, length, pool), want, "%s: whole", cases[n].name);
    is_str(parse_bytes(cases[n].parameters, body, length, pool), want, "%s: byte by byte", cases[n].name);
    for (size_t first = 0; first <= length; first++)
        for (size_t second = first; second <= length; second++) {
            apr_pool_clear(pool);
            differing += strcmp(parse(cases[n].parameters, body, length, first, second, pool), want) != 0;
        }
    is_int(differing, 0, "%s: cut at every pair of positions", cases[n].name);
    apr_pool_destroy(pool);
}

static void check_header_limit(apr_pool_t *pool)
{
    char *long_name = apr_palloc(pool, SR_MULTIPART_HEADER_MAX + 1);
    memset(long_name, 'x', SR_MULTIPART_HEADER_MAX);
    long_name[SR_MULTIPART_HEADER_MAX] = '\0';
    const char *body = apr_pstrcat(pool, "--b\r\n", long_name, ": y\r\n\r\n", NULL);
    is_str(parse(BOUNDARY, body, strlen(body), 0, 0, pool), "error: the headers of a part are longer than 8192 bytes",
           "headers that exceed the limit");
    static const char with_nul[] = "--b\r\nA\0B: c\r\n\r\n";
    is_str(parse(BOUNDARY, with_nul, sizeof with_nul - 1, 0, 0, pool), "error: NUL in the headers of a part",
           "NUL in a header");
}

int main(void)
{
    apr_pool_t *pool;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(i, pool);
    check_header_limit(pool);
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
