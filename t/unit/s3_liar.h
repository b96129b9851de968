/* SPDX-License-Identifier: Apache-2.0 */
/* s3_liar.h: an S3 server in memory that lies on demand, in threads of the test. It has one bucket, "b". Each fault is
 * armed for a number of requests. */
#ifndef SR_TEST_S3_LIAR_H
#define SR_TEST_S3_LIAR_H

#include "blobs/s3/s3.h"
#include "tap.h"

#include <apr_hash.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define LIAR_BODY_MOST 400000

typedef struct liar_object_t {
    char path[300], sha256[80], *bytes;
    size_t size;
} liar_object_t;

static struct {
    pthread_mutex_t mutex;
    int port;
    const char *fault; /* what is wrong with the next requests */
    int faults;        /* how many */
    int requests;      /* since the fault was armed */
    int skew;          /* seconds by which its clock is wrong; it refuses dates that differ by 15 min */
    liar_object_t objects[64];
    int count;
    char head[8192]; /* of the last request */
} liar = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static inline void liar_arm(const char *fault, int count)
{
    pthread_mutex_lock(&liar.mutex);
    liar.fault = fault;
    liar.faults = count;
    liar.requests = 0;
    pthread_mutex_unlock(&liar.mutex);
}

static inline liar_object_t *liar_find(const char *path)
{
    for (int i = 0; i < liar.count; i++)
        if (strcmp(liar.objects[i].path, path) == 0) return &liar.objects[i];
    return NULL;
}

static inline void liar_header(char *value, size_t room, const char *head, const char *name)
{
    const char *at = strcasestr(head, name);
    *value = '\0';
    if (at) snprintf(value, room, "%.*s", (int)strcspn(at + strlen(name), "\r\n"), at + strlen(name));
}

static inline void liar_reply(int fd, const char *status, const char *more, const void *body, size_t size,
                              size_t declared, bool headless)
{
    const time_t now = (time_t)apr_time_sec(sr_time_now()) + liar.skew;
    char date[64];
    struct tm tm;
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &tm));
    dprintf(fd, "HTTP/1.1 %s\r\nDate: %s\r\nx-amz-request-id: r1\r\n%sContent-Length: %zu\r\n\r\n", status, date, more,
            declared);
    if (!headless && size && write(fd, body, size) != (ssize_t)size) return;
}

static inline void liar_error(int fd, const char *status, const char *code, bool headless)
{
    char body[300];
    const int length = snprintf(body, sizeof body,
                                "<?xml version=\"1.0\"?>\n<Error><Code>%s</Code><Message>a &amp; b</Message>"
                                "<RequestId>r1</RequestId></Error>",
                                code);
    liar_reply(fd, status, "Content-Type: application/xml\r\n", body, (size_t)length, (size_t)length, headless);
}

static inline void liar_reset(int fd)
{
    const struct linger at_once = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

/* Two pages: the first object, and all others. */
static inline void liar_list(int fd, const char *query)
{
    const bool second = strstr(query, "continuation-token=more%20of%2Bit") != NULL;
    char body[20000];
    int length =
        snprintf(body, sizeof body,
                 "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                 "<IsTruncated>%s</IsTruncated>%s",
                 second ? "false" : "true", second ? "" : "<NextContinuationToken>more of+it</NextContinuationToken>");
    for (int i = second ? 1 : 0; i < (second ? liar.count : 1); i++)
        if (*liar.objects[i].path)
            length += snprintf(body + length, sizeof body - (size_t)length,
                               "<Contents><Key>%s</Key><LastModified>2026-11-24T12:00:00.000Z</LastModified><Size>%zu</"
                               "Size></Contents>",
                               liar.objects[i].path + 3, liar.objects[i].size);
    length += snprintf(body + length, sizeof body - (size_t)length, "</ListBucketResult>");
    liar_reply(fd, "200 OK", "", body, (size_t)length, (size_t)length, false);
}

static inline void liar_keep(const char *path, const char *head, const char *bytes, size_t size)
{
    liar_object_t *object = liar_find(path);
    if (!object) object = &liar.objects[liar.count++];
    if (liar.count > 64) abort();
    free(object->bytes);
    snprintf(object->path, sizeof object->path, "%s", path);
    liar_header(object->sha256, sizeof object->sha256, head, "x-amz-meta-sha256: ");
    object->bytes = malloc(size + 1);
    memcpy(object->bytes, bytes, size);
    object->size = size;
}

/* Faults that do not depend on what is asked for. Returns false if there is none. */
static inline bool liar_refuse(int fd, const char *fault, bool headless)
{
    static const struct {
        const char *fault, *status, *code;
    } refusals[] = {{"500", "500 Internal Server Error", "InternalError"},
                    {"503", "503 Slow Down", "SlowDown"},
                    {"408", "408 Request Timeout", "RequestTimeout"},
                    {"429", "429 Too Many Requests", "TooManyRequests"},
                    {"501", "501 Not Implemented", "NotImplemented"},
                    {"denied", "403 Forbidden", "AccessDenied"},
                    {"expired", "400 Bad Request", "ExpiredToken"},
                    {"region", "400 Bad Request", "AuthorizationHeaderMalformed"},
                    {"redirect", "307 Temporary Redirect", "TemporaryRedirect"},
                    {"bucket", "404 Not Found", "NoSuchBucket"},
                    {"ok200error", "200 OK", "InternalError"}};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (strcmp(fault, refusals[i].fault) == 0) {
            liar_error(fd, refusals[i].status, refusals[i].code, headless);
            return true;
        }
    if (strcmp(fault, "html") == 0) liar_reply(fd, "502 Bad Gateway", "", "<html>Bad<br>", 13, 13, headless);
    return strcmp(fault, "html") == 0;
}

static inline bool liar_get(int fd, const liar_object_t *object, const char *fault, bool headless)
{
    char more[200] = "", *bytes = malloc(object->size + 1);
    size_t size = object->size;
    memcpy(bytes, object->bytes, object->size);
    if (*object->sha256) snprintf(more, sizeof more, "x-amz-meta-sha256: %s\r\n", object->sha256);
    if (strcmp(fault, "wrong") == 0) bytes[0] ^= 1;
    const bool cut = strcmp(fault, "cut") == 0, half = strcmp(fault, "short") == 0 || cut;
    liar_reply(fd, "200 OK", more, bytes, half ? size / 2 : size, cut || !half ? size : size / 2, headless);
    free(bytes);
    return !cut;
}

/* Returns false if the connection ends. */
static inline bool liar_answer(int fd, const char *head, const char *body, size_t size, const char *fault)
{
    char method[16] = "", target[400] = "";
    sscanf(head, "%15s %399s", method, target);
    const bool headless = strcmp(method, "HEAD") == 0;
    char *query = strchr(target, '?');
    if (query) *query++ = '\0';
    if (strcmp(fault, "reset") == 0) return liar_reset(fd), false;
    if (liar_refuse(fd, fault, headless)) return true;
    if (liar.skew) return liar_error(fd, "403 Forbidden", "RequestTimeTooSkewed", headless), true;
    liar_object_t *object = liar_find(target);
    char from[300];
    liar_header(from, sizeof from, head, "x-amz-copy-source: ");
    if (*from) {
        const liar_object_t *source = liar_find(from);
        char meta[120];
        if (!source) return liar_error(fd, "404 Not Found", "NoSuchKey", false), true;
        snprintf(meta, sizeof meta, "x-amz-meta-sha256: %s\r\n", source->sha256);
        liar_keep(target, meta, source->bytes, source->size);
        liar_reply(fd, "200 OK", "", "<CopyObjectResult/>", 19, 19, false);
    } else if (strcmp(method, "PUT") == 0) {
        if (strcmp(fault, "lie") != 0) liar_keep(target, head, body, size);
        if (strcmp(fault, "lost") == 0) return liar_reset(fd), false;
        liar_reply(fd, "200 OK", "", "", 0, 0, false);
    } else if (strcmp(method, "DELETE") == 0) {
        if (object) object->path[0] = '\0';
        liar_reply(fd, "204 No Content", "", "", 0, 0, true);
    } else if (query) liar_list(fd, query);
    else if (!object || strcmp(fault, "late") == 0) liar_error(fd, "404 Not Found", "NoSuchKey", headless);
    else return liar_get(fd, object, fault, headless);
    return true;
}

static inline bool liar_take(FILE *in, int fd, char *head, size_t room, char *body, size_t *size)
{
    char line[2048];
    *size = 0;
    *head = '\0';
    while (fgets(line, sizeof line, in) && *line != '\r') {
        strncat(head, line, room - strlen(head) - 1);
        if (strncasecmp(line, "content-length:", 15) == 0) *size = strtoul(line + 15, NULL, 10);
        if (strncasecmp(line, "expect:", 7) == 0) dprintf(fd, "HTTP/1.1 100 Continue\r\n\r\n");
    }
    if (*size > LIAR_BODY_MOST) abort();
    return fread(body, 1, *size, in) == *size && *head != '\0';
}

static inline void *liar_serve(void *data)
{
    const int fd = (int)(intptr_t)data;
    char head[8192], *body = malloc(LIAR_BODY_MOST);
    FILE *in = fdopen(fd, "r");
    size_t size;
    bool more = true;
    while (more && liar_take(in, fd, head, sizeof head, body, &size)) {
        pthread_mutex_lock(&liar.mutex);
        const char *fault = liar.faults > 0 ? liar.fault : "";
        liar.faults -= liar.faults > 0;
        liar.requests++;
        memcpy(liar.head, head, sizeof head);
        const bool stalls = strcmp(fault, "stall") == 0;
        if (!stalls) more = liar_answer(fd, head, body, size, fault);
        pthread_mutex_unlock(&liar.mutex);
        while (stalls && fgetc(in) != EOF) continue; /* until the client closes the connection */
    }
    free(body);
    fclose(in);
    return NULL;
}

static inline void *liar_listen(void *data)
{
    for (;;) {
        const int fd = accept((int)(intptr_t)data, NULL, NULL);
        pthread_t thread;
        if (fd < 0) continue;
        pthread_create(&thread, NULL, liar_serve, (void *)(intptr_t)fd);
        pthread_detach(thread);
    }
    return NULL;
}

static inline void liar_start(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    pthread_t thread;
    (void)signal(SIGPIPE, SIG_IGN);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 64)) abort();
    getsockname(listener, (struct sockaddr *)&address, &length);
    liar.port = ntohs(address.sin_port);
    pthread_create(&thread, NULL, liar_listen, (void *)(intptr_t)listener);
    pthread_detach(thread);
}

#endif
