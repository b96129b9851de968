/* SPDX-License-Identifier: Apache-2.0 */
/* attached.c: the encodings of a mail, and its files. Each file becomes one text in base64, so at most that of all
 * files is in memory. */
#include "jobs/attached.h"

#include <apr_encode.h>
#include <ctype.h>
#include <string.h>

#define PLAIN_MAX 60                   /* characters of a name that is written as it is */
#define PIECE 40                       /* bytes of a name in one parameter (RFC 2231) */
#define READ_SIZE (SR_MAIL_LINE * 512) /* whole lines */

char *sr_mail_base64(char *out, const unsigned char *bytes, apr_size_t length)
{
    for (apr_size_t taken = 0, line; taken < length; taken += line) {
        line = length - taken < SR_MAIL_LINE ? length - taken : SR_MAIL_LINE;
        apr_encode_base64_binary(out, bytes + taken, (apr_ssize_t)line, 0, NULL);
        out += strlen(out);
        *out++ = '\r';
        *out++ = '\n';
    }
    return out;
}

/* --- names */

const char *sr_mail_encoded(const char *text, apr_pool_t *pool)
{
    const char *words = "", *next;
    text = sr_text_undirected(sr_text_printable(text, pool), pool);
    for (next = text; *next >= 0x20 && *next < 0x7f && !strchr("\"<>@,;:\\()[]=?_", *next); next++) continue;
    if (!*next && strlen(text) < 60) return text;
    while (*text) {
        const char *end = text;
        for (next = text; *next && (sr_text_next(&next), next - text <= 42);) end = next;
        const char *word = apr_pencode_base64(pool, text, end - text, 0, NULL);
        words = apr_pstrcat(pool, words, *words ? "\r\n " : "", "=?UTF-8?B?", word, "?=", NULL);
        text = end;
    }
    return words;
}

/* Returns a name without what some system does not allow in the name of a file. */
static char *files_safe_name(const char *name, apr_pool_t *pool)
{
    char *safe = apr_pstrdup(pool, sr_text_undirected(sr_text_printable(name, pool), pool));
    for (char *at = safe; *at; at++)
        if (strchr("/\\:*?\"<>|", *at) || (at == safe && *at == '.')) *at = '_';
    return safe;
}

static bool files_is_plain(const char *name)
{
    const char *at = name;
    while (*at >= 0x20 && *at < 0x7f) at++;
    return !*at && at - name <= PLAIN_MAX;
}

/* Returns the name as parameters of Content-Disposition, in pieces, so that no line is too long. */
static const char *files_disposition(const char *name, apr_pool_t *pool)
{
    const char *text = "attachment";
    const size_t length = strlen(name);
    if (files_is_plain(name)) return apr_pstrcat(pool, text, ";\r\n filename=\"", name, "\"", NULL);
    for (size_t at = 0; at < length; at += PIECE) {
        text = apr_psprintf(pool, "%s;\r\n filename*%d*=%s", text, (int)(at / PIECE), at ? "" : "UTF-8''");
        for (size_t i = at; i < length && i < at + PIECE; i++) {
            const unsigned char c = (unsigned char)name[i];
            const bool plain = c < 0x80 && (isalnum(c) || strchr(".-_", c));
            text = apr_psprintf(pool, plain ? "%s%c" : "%s%%%02X", text, c);
        }
    }
    return text;
}

static const char *files_head(const char *name, apr_pool_t *pool)
{
    const char *safe = files_safe_name(name, pool);
    const char *word = files_is_plain(safe) ? safe : sr_mail_encoded(safe, pool);
    return apr_pstrcat(pool, "Content-Type: application/pdf;\r\n name=\"", word,
                       "\"\r\nContent-Disposition: ", files_disposition(safe, pool),
                       "\r\nContent-Transfer-Encoding: base64\r\n\r\n", NULL);
}

/* --- contents */

static sr_error_t *files_part(const char **part, const sr_attachment_t *file, unsigned char *buffer, apr_pool_t *pool)
{
    const char *head = files_head(file->name, pool);
    const size_t begin = strlen(head);
    char *text = apr_palloc(pool, begin + SR_MAIL_BASE64((apr_size_t)file->size)), *end = text + begin;
    memcpy(text, head, begin);
    for (off_t at = 0; at < file->size;) {
        const size_t left = (size_t)(file->size - at), length = left < READ_SIZE ? left : READ_SIZE;
        if (sr_descriptor_read(file->descriptor, buffer, length, at) != (apr_ssize_t)length)
            return sr_error(pool, SR_EUNAVAILABLE, "The files of the mail cannot be read");
        end = sr_mail_base64(end, buffer, length);
        at += (off_t)length;
    }
    *end = '\0';
    *part = text;
    return NULL;
}

sr_error_t *sr_mail_files(const sr_mail_files_t **made, const apr_array_header_t *files, apr_pool_t *pool)
{
    sr_mail_files_t *list = apr_pcalloc(pool, sizeof *list);
    apr_array_header_t *parts = files ? apr_array_make(pool, files->nelts, sizeof(const char *)) : NULL;
    unsigned char *buffer = apr_palloc(pool, READ_SIZE);
    for (int i = 0; files && i < files->nelts; i++)
        SR_TRY(files_part(apr_array_push(parts), &APR_ARRAY_IDX(files, i, sr_attachment_t), buffer, pool));
    list->parts = parts;
    *made = list;
    return NULL;
}
