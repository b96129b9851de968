/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_attached.c: tests of src/jobs/attached.c: the files of a mail as parts of its message. */
#include "jobs/attached.h"
#include "tap.h"

#include <apr_encode.h>
#include <stdio.h>
#include <string.h>

#define SIZE 100001

static apr_pool_t *pool;

static const char *part_of(const char *name, const unsigned char *bytes, size_t size)
{
    FILE *file = tmpfile();
    apr_array_header_t *files = apr_array_make(pool, 1, sizeof(sr_attachment_t));
    const sr_mail_files_t *made;
    if (!file || fwrite(bytes, 1, size, file) != size || fflush(file)) return NULL;
    APR_ARRAY_PUSH(files, sr_attachment_t) = (sr_attachment_t){name, fileno(file), (apr_off_t)size};
    sr_error_t *error = sr_mail_files(&made, files, pool);
    fclose(file);
    return error ? NULL : APR_ARRAY_IDX(made->parts, 0, const char *);
}

static bool has_long_line(const char *text)
{
    for (size_t length; *text; text += length + (text[length] ? 2 : 0)) {
        length = strcspn(text, "\r");
        if (length > 76) return true;
    }
    return false;
}

static void test_content(void)
{
    static const size_t sizes[] = {0, 1, 56, 57, 58, 29184, 29185, SIZE};
    unsigned char *bytes = apr_palloc(pool, SIZE), *back = apr_palloc(pool, SIZE * 2);
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (unsigned char)(i * 7 + i / 251);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *part = part_of("a.pdf", bytes, sizes[i]), *body = part ? strstr(part, "\r\n\r\n") : NULL;
        char *plain = apr_pstrdup(pool, body ? body + 4 : ""), *out = plain;
        apr_size_t length = 0;
        for (const char *at = plain; *at; at++)
            if (*at != '\r' && *at != '\n') *out++ = *at;
        *out = '\0';
        if (*plain) apr_decode_base64_binary(back, plain, APR_ENCODE_STRING, 0, &length);
        ok(body && length == sizes[i] && !memcmp(back, bytes, length), "%d bytes", (int)sizes[i]);
        ok(!has_long_line(part ? part : ""), "in short lines");
    }
}

static void test_names(void)
{
    const unsigned char *bytes = (const unsigned char *)"%PDF-";
    const char *part = part_of("Lease - signed.pdf", bytes, 5);
    ok(strstr(part, " name=\"Lease - signed.pdf\"\r\n") && strstr(part, " filename=\"Lease - signed.pdf\"\r\n"),
       "a plain name is written as it is");
    part = part_of("../\"a\"\r\nBcc: x@x.org\\.pdf", bytes, 5);
    ok(strstr(part, "UTF-8''_.__a_%EF%BF%BD%EF%BF%BDBcc_%20x%40x.org_.pdf\r\n") != NULL, "a safe name");
    ok(!strstr(part, "\nBcc"), "no header is added");
    part = part_of("M\xc3\xbcll.pdf", bytes, 5);
    ok(strstr(part, "name=\"=?UTF-8?B?TcO8bGwucGRm?=\"\r\n") != NULL, "another name as an encoded word");
    ok(strstr(part, " filename*0*=UTF-8''M%C3%BCll.pdf\r\n") != NULL, "and as a parameter of RFC 2231");
    const char *name = apr_pstrcat(pool, "a", apr_psprintf(pool, "%0250d", 1), "\xe4\xbe\x8b.pdf", NULL);
    part = part_of(name, bytes, 5);
    ok(strstr(part, ";\r\n filename*6*=") && !strstr(part, "filename*7*="), "a long name in pieces");
}

static void test_missing(void)
{
    apr_array_header_t *files = apr_array_make(pool, 1, sizeof(sr_attachment_t));
    const sr_mail_files_t *made;
    APR_ARRAY_PUSH(files, sr_attachment_t) = (sr_attachment_t){"a.pdf", -1, 5};
    sr_error_t *error = sr_mail_files(&made, files, pool);
    ok(error && error->code == SR_EUNAVAILABLE, "a file that cannot be read is an error");
    ok(!sr_mail_files(&made, NULL, pool) && !made->parts, "files that are too large are none");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_content();
    test_names();
    test_missing();
    apr_terminate();
    return done();
}
