/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c: reads the options of a client from texts of the configuration. */
#include "blobs/s3/s3.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FILE_MOST 4096
#define SCHEME "s3://"

bool sr_s3_is_url(const char *text)
{
    return strncmp(text, SCHEME, sizeof SCHEME - 1) == 0;
}

/* A prefix has no characters that need an encoding, so that all programs agree on the names of objects. */
const char *sr_s3_read_url(sr_s3_options_t *options, const char *url, apr_pool_t *pool)
{
    static const char bucket[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
    static const char prefix[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
    static const char wanted[] = "must be s3://bucket or s3://bucket/prefix";
    if (!sr_s3_is_url(url)) return wanted;
    url += sizeof SCHEME - 1;
    const apr_size_t length = strspn(url, bucket);
    if (length < 3 || length > 63 || (url[length] && url[length] != '/')) return wanted;
    options->bucket = apr_pstrmemdup(pool, url, length);
    url += length;
    while (*url == '/') url++;
    apr_size_t end = strlen(url);
    while (end && url[end - 1] == '/') end--;
    if (url[strspn(url, prefix)] || strstr(url, "//") || strstr(url, "..") || end > 200) return wanted;
    options->prefix = end ? apr_pstrcat(pool, apr_pstrmemdup(pool, url, end), "/", NULL) : "";
    return NULL;
}

const char *sr_s3_read_endpoint(sr_s3_options_t *options, const char *url, apr_pool_t *pool)
{
    static const char wanted[] = "must be a URL such as https://s3.example.org, without a path";
    static const char host[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
    const char *authority = strstr(url, "://");
    if (!authority) return wanted;
    options->scheme = apr_pstrmemdup(pool, url, (apr_size_t)(authority - url));
    if (strcmp(options->scheme, "https") != 0 && strcmp(options->scheme, "http") != 0) return wanted;
    authority += 3;
    apr_size_t end = strlen(authority);
    while (end && authority[end - 1] == '/') end--;
    options->authority = apr_pstrmemdup(pool, authority, end);
    return end && !options->authority[strspn(options->authority, host)] ? NULL : wanted;
}

/* Cuts the first line off. Returns NULL at the end. */
static const char *next_line(char **rest)
{
    char *line = *rest;
    if (!*line) return NULL;
    char *end = line + strcspn(line, "\n");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    line[strcspn(line, "\r")] = '\0';
    return line;
}

static bool settings_is_word(const char *text)
{
    if (!text || !*text) return false;
    for (; *text; text++)
        if (*text <= ' ' || *text > '~') return false;
    return true;
}

const char *sr_s3_read_credentials(sr_s3_credentials_t *credentials, const char *path, apr_pool_t *pool)
{
    char *text = apr_pcalloc(pool, FILE_MOST + 1);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    const apr_ssize_t got = descriptor < 0 ? -1 : sr_descriptor_read(descriptor, text, FILE_MOST, 0);
    const int reason = errno;
    if (descriptor >= 0) close(descriptor);
    if (got < 0) {
        char why[200];
        apr_strerror(reason, why, sizeof why);
        return apr_psprintf(pool, "%s: %s", path, why);
    }
    credentials->access_key = next_line(&text);
    credentials->secret_key = next_line(&text);
    credentials->session_token = next_line(&text);
    if (got < FILE_MOST && settings_is_word(credentials->access_key) && settings_is_word(credentials->secret_key)
        && (!credentials->session_token || settings_is_word(credentials->session_token)))
        return NULL;
    return apr_pstrcat(pool, path,
                       " must have the access key in its first line and the secret key in its second one (and perhaps "
                       "a session token in its third one)",
                       NULL);
}

const char *sr_s3_folder(const sr_s3_options_t *options, const char *below, apr_pool_t *pool)
{
    char *name = apr_pstrcat(pool, options->bucket, "+", options->prefix, NULL);
    for (char *at = name; *at; at++)
        if (*at == '/') *at = '+';
    for (apr_size_t end = strlen(name); end && name[end - 1] == '+'; end--) name[end - 1] = '\0';
    return apr_pstrcat(pool, below, "/", name, NULL);
}
