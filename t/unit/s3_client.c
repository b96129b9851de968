/* SPDX-License-Identifier: Apache-2.0 */
/* s3_client.c: tests of src/blobs/s3/repeat.c, transfer.c, objects.c and enumerate.c against a server that lies: what
 * is repeated, what is refused, and that nothing wrong is ever given out. */
#include "s3_liar.h"

#include <apr_general.h>
#include <curl/curl.h>
#include <sys/mman.h>

#include "metrics/metrics.h"
#include "blobs/s3/private.h"

#define SIZE 200000

static apr_pool_t *pool;
static char body[SIZE], noted[300];
static const char *sha256;
static int source, sink;

static void note(void *baton, const char *text)
{
    snprintf(noted, sizeof noted, "%s", text);
}

static sr_s3_t *client_of(const char *prefix)
{
    const sr_s3_options_t options = {.scheme = "http",
                                     .authority = apr_psprintf(pool, "127.0.0.1:%d", liar.port),
                                     .bucket = "b",
                                     .prefix = prefix,
                                     .region = "us-east-1",
                                     .credentials = {"test:tester", "testing", NULL},
                                     .stall = apr_time_from_sec(1),
                                     .note = note};
    sr_s3_t *s3;
    if (sr_s3_create(&s3, &options, pool)) abort();
    return s3;
}

static const char *cause_of(const sr_error_t *error)
{
    return error ? error->cause : "";
}

static bool is_right(void)
{
    static char read[SIZE + 1];
    return pread(sink, read, sizeof read, 0) == SIZE && memcmp(read, body, SIZE) == 0;
}

/* --- whole operations */

static void test_operations(void)
{
    sr_s3_t *s3 = client_of("x y/");
    apr_off_t size = 0;
    bool there = true;
    ok(!sr_s3_head(&there, &size, s3, "k", pool) && !there, "an object that is missing");
    ok(!sr_s3_put(s3, "k", source, SIZE, sha256, pool), "it is stored");
    ok(liar_find("/b/x%20y/k") != NULL, "below the prefix");
    ok(strstr(liar.head, "HEAD /b/x%20y/k HTTP/1.1") != NULL, "the server was asked whether it has it");
    ok(!sr_s3_head(&there, &size, s3, "k", pool) && there && size == SIZE, "then it is there, with its size");
    ok(!sr_s3_get(&size, s3, "k", sha256, sink, pool) && size == SIZE && is_right(), "it is fetched");
    ok(!sr_s3_copy(s3, "k", "c d/k", pool) && !sr_s3_get(&size, s3, "c d/k", sha256, sink, pool), "it is copied");
    ok(strstr(cause_of(sr_s3_copy(s3, "none", "c", pool)), "the object to copy is missing"), "if it is there");
    ok(!sr_s3_delete(s3, "k", pool) && !sr_s3_head(&there, &size, s3, "k", pool) && !there, "it is deleted");
    ok(!sr_s3_delete(s3, "k", pool), "and again");
    const sr_error_t *error = sr_s3_get(&size, s3, "k", sha256, sink, pool);
    ok(error && error->code == SR_EUNAVAILABLE, "a missing object is an error of GET");
    ok(!sr_s3_find(&there, &size, s3, "k", sink, 4096, pool) && !there, "unless it may be missing");
    liar_arm("bucket", 9);
    ok(strstr(cause_of(sr_s3_find(&there, &size, s3, "k", sink, 4096, pool)), "404 NoSuchBucket"),
       "but not its bucket");
    liar_arm("", 0);
    ok(strstr(cause_of(error), "GET s3://b/x y/k: 404 NoSuchKey (request r1), tried "), "which names it: %s",
       cause_of(error));
}

static sr_error_t *collect(void *baton, const sr_s3_object_t *object, apr_pool_t *each)
{
    char *text = baton;
    sprintf(text + strlen(text), "%s:%ld%s ", object->key, (long)object->size, object->modified ? "" : "?");
    return strcmp(object->key, "stop") ? NULL : sr_error(each, SR_ECONFLICT, "stopped");
}

static void test_list(void)
{
    sr_s3_t *s3 = client_of("l/");
    char text[400] = "";
    for (int i = 0; i < liar.count; i++) liar.objects[i].path[0] = '\0';
    liar.count = 0;
    if (sr_s3_put(s3, "one", source, 1, sr_sha256_hex(body, 1, pool), pool)) abort();
    if (sr_s3_put(client_of("other/"), "of-others", source, 3, sr_sha256_hex(body, 3, pool), pool)) abort();
    if (sr_s3_put(s3, "two", source, 2, sr_sha256_hex(body, 2, pool), pool)) abort();
    ok(!sr_s3_list(s3, "", collect, text, pool), "a list of two pages");
    is_str(text, "one:1 two:2 ", "has all objects below the prefix, and no others");
    if (sr_s3_put(s3, "stop", source, 3, sr_sha256_hex(body, 3, pool), pool)) abort();
    *text = '\0';
    ok(!sr_s3_list(s3, "t", collect, text, pool), "a list of what begins with a text");
    is_str(text, "two:2 ", "has only that");
    const sr_error_t *error = sr_s3_list(s3, "", collect, text, pool);
    ok(error && error->code == SR_ECONFLICT, "an error of the caller ends it");
    liar_arm("html", 99);
    ok(sr_s3_list(s3, "", collect, text, pool) != NULL, "what is no list is an error");
    liar_arm("", 0);
}

/* --- faults */

typedef enum how_t { PUT, GET, DELETE, HEAD } how_t;

typedef struct row_t {
    how_t how;
    const char *fault;
    int count;
    const char *want; /* a part of the cause; NULL: it succeeds at last */
    int requests;     /* how many are made; 0: any number */
} row_t;

/* A PUT that succeeds has a HEAD after it. */
static const row_t rows[] = {
    {PUT, "", 0, NULL, 2},
    {PUT, "500", 2, NULL, 4},
    {PUT, "503", 2, NULL, 4},
    {PUT, "408", 2, NULL, 4},
    {PUT, "429", 2, NULL, 4},
    {PUT, "html", 2, NULL, 4},
    {PUT, "reset", 1, NULL, 0},
    {PUT, "lost", 1, NULL, 0},
    {PUT, "stall", 1, NULL, 3},
    {PUT, "ok200error", 2, NULL, 4},
    {PUT, "lie", 1, NULL, 4},
    {PUT, "lie", 99, "said that it has stored the object, and does not have it", 6},
    {PUT, "501", 99, "501 NotImplemented (request r1)", 1},
    {PUT, "denied", 99, "403 AccessDenied (request r1)", 1},
    {PUT, "expired", 99, "400 ExpiredToken (request r1)", 1},
    {PUT, "region", 99, "400 AuthorizationHeaderMalformed (request r1)", 1},
    {PUT, "redirect", 99, "307 TemporaryRedirect (request r1)", 1},
    {PUT, "bucket", 99, "404 NoSuchBucket (request r1)", 1},
    {PUT, "503", 99, "503 SlowDown (request r1), tried 6 times", 6},
    {GET, "500", 2, NULL, 3},
    {GET, "html", 2, NULL, 3},
    {GET, "cut", 2, NULL, 3},
    {GET, "short", 2, NULL, 3},
    {GET, "wrong", 2, NULL, 3},
    {GET, "stall", 1, NULL, 2},
    {GET, "reset", 2, NULL, 0},
    {GET, "late", 2, NULL, 3},
    {GET, "denied", 99, "403 AccessDenied (request r1)", 1},
    {GET, "redirect", 99, "307 TemporaryRedirect (request r1)", 1},
    {GET, "bucket", 99, "404 NoSuchBucket (request r1)", 1},
    {GET, "late", 99, "404 NoSuchKey (request r1)", 0},
    {GET, "wrong", 99, "200, the content's SHA-256 is ", 6},
    {GET, "short", 99, "200, the content's SHA-256 is ", 6},
    {HEAD, "500", 2, NULL, 3},
    {HEAD, "denied", 99, "HEAD s3://b/k: 403 (request r1)", 1},
    {DELETE, "503", 2, NULL, 3},
    {DELETE, "lost", 1, NULL, 0},
};

static sr_error_t *operate(sr_s3_t *s3, how_t how)
{
    apr_off_t size;
    bool there;
    switch (how) {
    case PUT: return sr_s3_put(s3, "k", source, SIZE, sha256, pool);
    case GET: return sr_s3_get(&size, s3, "k", sha256, sink, pool);
    case DELETE: return sr_s3_delete(s3, "k", pool);
    default: return sr_s3_head(&there, &size, s3, "k", pool);
    }
}

static void test_row(const row_t *row)
{
    static const char *const names[] = {"PUT", "GET", "DELETE", "HEAD"};
    sr_s3_t *s3 = client_of("");
    liar_arm("", 0);
    if (operate(s3, row->how == PUT ? DELETE : PUT)) abort();
    liar_arm(row->fault, row->count);
    const sr_error_t *error = operate(s3, row->how);
    const char *shown = apr_psprintf(pool, "%s, %d times %s", names[row->how], row->count, row->fault);
    if (!row->want) ok(!error, "%s: succeeds (%s)", shown, cause_of(error));
    else ok(strstr(cause_of(error), row->want), "%s: %s", shown, cause_of(error));
    if (row->requests) is_int(liar.requests, row->requests, "%s: requests", shown);
    if (row->how == GET && !error) ok(is_right(), "%s: the content is right", shown);
    if (row->how == PUT && !error) ok(liar_find("/b/k")->size == SIZE, "%s: the content is stored", shown);
}

/* --- the clock, the breaker, the deadline */

static void test_clock(void)
{
    sr_s3_t *s3 = client_of("");
    liar.skew = 16 * 60;
    liar_arm("", 0);
    const sr_error_t *error = operate(s3, HEAD);
    is_int(liar.requests, 2, "a refusal whose date differs: once more, with the date of the server");
    ok(strstr(cause_of(error), "403"), "and not a third time: %s", cause_of(error));
    ok(strstr(noted, "differs from that of this host by 9"), "the log tells: %s", noted);
    const apr_time_t there = sr_time_now() + apr_time_from_sec(liar.skew);
    char date[SR_TIME_PRINTED];
    sr_time_print(date, "x-amz-date: %Y%m%dT%H%M", there);
    char *at = strstr(liar.head, "x-amz-date: ");
    ok(at && strncmp(at, date, strlen(date) - 1) == 0, "the date is that of the server");
    liar.skew = 0;
    ok(!operate(s3, PUT), "a clock that was set is followed");
}

static int counted(sr_metric_t metric)
{
    return (int)sr_metrics_value(metric, 0, 0);
}

static int requests(const char *method, sr_store_result_t result)
{
    return (int)sr_metrics_value(SR_METRIC_STORE_REQUESTS, sr_metrics_number(SR_LABEL_STORE_METHOD, method),
                                 (int)result);
}

static void test_metrics(void)
{
    sr_s3_t *s3 = client_of("metrics/");
    const int missing = requests("HEAD", SR_STORE_MISSING), done = requests("PUT", SR_STORE_DONE);
    const int passing = requests("PUT", SR_STORE_PASSING), refused = requests("HEAD", SR_STORE_REFUSED);
    const int repeats = counted(SR_METRIC_STORE_REPEATS), failures = counted(SR_METRIC_STORE_FAILURES);
    liar_arm("", 0);
    ok(!operate(s3, HEAD), "an object that is missing");
    is_int(requests("HEAD", SR_STORE_MISSING) - missing, 1, "counts as that");
    is_int(counted(SR_METRIC_STORE_FAILURES) - failures, 0, "and not as a failure");
    liar_arm("503", 2);
    if (operate(s3, PUT)) abort();
    is_int(requests("PUT", SR_STORE_PASSING) - passing, 2, "two requests that fail and may be repeated");
    is_int(requests("PUT", SR_STORE_DONE) - done, 1, "and one that succeeds");
    is_int(counted(SR_METRIC_STORE_REPEATS) - repeats, 2, "are two repeats");
    is_int(counted(SR_METRIC_STORE_FAILURES) - failures, 0, "and no failure");
    liar_arm("denied", 1);
    ok(operate(s3, HEAD) != NULL, "a request that is refused");
    is_int(requests("HEAD", SR_STORE_REFUSED) - refused, 1, "counts as that");
    is_int(counted(SR_METRIC_STORE_FAILURES) - failures, 1, "and is a failure");
    liar_arm("", 0);
}

static void test_breaker(void)
{
    const int skipped = counted(SR_METRIC_STORE_SKIPPED);
    sr_s3_t *s3 = client_of("");
    for (int i = 0; i < 5; i++) {
        liar_arm("503", 99);
        ok(operate(s3, HEAD) != NULL, "operation %d fails", i + 1);
    }
    liar_arm("", 0);
    const sr_error_t *error = operate(s3, HEAD);
    ok(strstr(cause_of(error), "the last requests to the server have failed"), "then none is sent: %s",
       cause_of(error));
    is_int(liar.requests, 0, "for a time");
    is_int(counted(SR_METRIC_STORE_SKIPPED) - skipped, 1, "which is counted");
    is_int(counted(SR_METRIC_STORE_STOPPED), 1, "and shown");
    liar_arm("503", 99);
    sr_time_forward(apr_time_from_sec(3));
    ok(operate(s3, HEAD) != NULL, "later one is tried");
    is_int(liar.requests, 1, "once");
    ok(operate(s3, HEAD) != NULL && liar.requests == 1, "and no other");
    liar_arm("", 0);
    sr_time_forward(apr_time_from_sec(3));
    ok(!operate(s3, HEAD) && !operate(s3, HEAD), "until one succeeds");
    is_int(counted(SR_METRIC_STORE_STOPPED), 0, "which is shown");
}

static void test_nobody(void)
{
    const int port = liar.port;
    liar.port = 1;
    sr_s3_t *s3 = client_of("");
    liar.port = port;
    const sr_error_t *error = operate(s3, HEAD);
    ok(error && strstr(error->cause, "no response, "), "nobody listens: %s", cause_of(error));
}

/* expat reports each line and each entity as a piece of its own. */
static void test_xml(void)
{
    const int lines = 32768;
    char *text = apr_palloc(pool, (size_t)lines * 7 + 40), *end = text + sprintf(text, "<E><Code>");
    for (int i = 0; i < lines; i++) end += sprintf(end, "a\n&amp;");
    end += sprintf(end, "</Code></E>");
    const apr_xml_doc *document = sr_s3_xml_parse(text, (apr_size_t)(end - text), pool);
    const char *code = document ? sr_s3_xml_text(document->root, "Code", pool) : "";
    ok(strlen(code) == (size_t)lines * 3, "a text of many pieces is joined once");
    ok(!strcmp(sr_s3_xml_text(document->root, "Other", pool), ""), "a text that is missing");
}

static void test_limits(void)
{
    sr_s3_t *s3 = client_of("");
    apr_off_t size = 0;
    bool there;
    ok(!sr_s3_put(s3, "large", source, SIZE, sha256, pool), "a large object is stored");
    ok(strstr(cause_of(sr_s3_find(&there, &size, s3, "large", sink, 4096, pool)), "the object is too large"),
       "it is not fetched where a small one is expected");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    curl_global_init(CURL_GLOBAL_ALL);
    for (size_t i = 0; i < SIZE; i++) body[i] = (char)(i * 2654435761u >> 13);
    sha256 = sr_sha256_hex(body, SIZE, pool);
    source = memfd_create("source", MFD_CLOEXEC);
    sink = memfd_create("sink", MFD_CLOEXEC);
    if (write(source, body, SIZE) != SIZE) abort();
    liar_start();
    test_operations();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) test_row(&rows[i]);
    test_clock();
    test_metrics();
    test_breaker();
    test_nobody();
    test_list();
    test_xml();
    test_limits();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
