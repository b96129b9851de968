/* SPDX-License-Identifier: Apache-2.0 */
/* fake_helper.h: a helper that has been taken over. A test program is its own fake: it writes a script that runs the
 * program once more, and the pool takes the script for sigreq-pdfd. */
#ifndef FAKE_HELPER_H
#define FAKE_HELPER_H

#include "helper/protocol.h"
#include "pdf_help.h"

#include <sys/stat.h>

/* A request to the fake, which was sent with the descriptors before the first -1. */
typedef struct fake_request_t {
    sr_pdf_header_t header;
    const char *text;
    int descriptors[SR_PDF_DESCRIPTORS];
    int64_t deadline;
} fake_request_t;

/* Says that the fake is ready, and receives one request. */
static inline bool fake_receive(fake_request_t *request, apr_pool_t *pool)
{
    request->deadline = sr_time_steady() + 20000000;
    return sr_pdf_send(SR_PDF_SOCKET, 0, 0, "{}", 2, NULL, request->deadline) == SR_PDF_WIRE_OK
           && sr_pdf_receive(&request->header, &request->text, request->descriptors, SR_PDF_SOCKET, 1 << 20,
                             request->deadline, pool)
                  == SR_PDF_WIRE_OK;
}

/* Sends the response, and waits until the client hangs up. The exit code of the program. */
static inline int fake_reply(const fake_request_t *request, const char *response, apr_pool_t *pool)
{
    sr_pdf_header_t header;
    const char *text;
    for (int i = 0; i < SR_PDF_DESCRIPTORS && request->descriptors[i] >= 0; i++) close(request->descriptors[i]);
    sr_pdf_send(SR_PDF_SOCKET, request->header.id, 0, response, strlen(response), NULL, request->deadline);
    sr_pdf_receive(&header, &text, NULL, SR_PDF_SOCKET, 1 << 20, request->deadline, pool);
    return 0;
}

/* Serves one request: writes `bytes` (or NULL) to the last descriptor that came with it, and sends `response`. */
static inline int fake_serve(const char *bytes, const char *response, apr_pool_t *pool)
{
    fake_request_t request;
    int last = -1;
    if (!fake_receive(&request, pool)) return 1;
    for (int i = 0; i < SR_PDF_DESCRIPTORS && request.descriptors[i] >= 0; i++) last = request.descriptors[i];
    if (bytes && pwrite(last, bytes, strlen(bytes), 0) != (ssize_t)strlen(bytes)) return 1;
    return fake_reply(&request, response, pool);
}

/* Serves one request with JSON: `bytes` as the result, or `response`. */
static inline int fake_serve_json(const char *bytes, const char *response, apr_pool_t *pool)
{
    if (!response) response = apr_psprintf(pool, "{\"length\":%d}", (int)strlen(bytes));
    return fake_serve(bytes, response, pool);
}

/* Writes a script that runs this program with a number and a text as its arguments. `path` ends in XXXXXX at first, and
 * names the script then. */
static inline void fake_script(char *path, int number, const char *argument)
{
    char self[PATH_MAX];
    const size_t length = strlen(path);
    if (!realpath("/proc/self/exe", self)) abort();
    if (!strcmp(path + length - 6, "XXXXXX")) close(mkstemp(path));
    FILE *file = fopen(path, "w");
    if (!file) abort();
    fprintf(file, "#!/bin/sh\nexec '%s' %d '%s'\n", self, number, argument);
    if (fclose(file) || chmod(path, 0700)) abort();
}

/* Has `ask` ask the fake with this number, and tests the number of notices and that nothing is left afterwards. */
static inline void fake_try(char *script, int number, int notices,
                            void (*ask)(int number, sr_pdf_pool_t *workers, apr_pool_t *pool), apr_pool_t *root)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    const int before = help_descriptors();
    fake_script(script, number, "");
    ask(number, help_pool(script, 1, 5000, pool), pool);
    is_int(help_notices, notices, "with %d notices", notices);
    apr_pool_destroy(pool);
    const help_children_t now = help_children();
    ok(now.alive + now.zombies == 0 && help_descriptors() == before, "nothing is left");
}

#endif
