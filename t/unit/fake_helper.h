/* SPDX-License-Identifier: Apache-2.0 */
/* fake_helper.h: a helper that has been taken over. A test program is its own fake: it writes a script that runs the
 * program once more, and the pool takes the script for sigreq-pdfd. */
#ifndef FAKE_HELPER_H
#define FAKE_HELPER_H

#include "pdf/protocol.h"
#include "pdf_help.h"

#include <sys/stat.h>

/* Serves one request: writes `bytes` (or NULL) to the last descriptor that came with it, and sends `response`. The
 * exit code of the program. */
static inline int fake_serve(const char *bytes, const char *response, apr_pool_t *pool)
{
    sr_pdf_header_t header;
    const char *text;
    int got[SR_PDF_DESCRIPTORS], last = -1;
    const int64_t deadline = sr_pdf_clock() + 5000000;
    if (sr_pdf_send(SR_PDF_SOCKET, 0, 0, "{}", NULL, deadline) != SR_PDF_WIRE_OK) return 1;
    if (sr_pdf_receive(&header, &text, got, SR_PDF_SOCKET, 1 << 20, deadline, pool) != SR_PDF_WIRE_OK) return 1;
    for (int i = 0; i < SR_PDF_DESCRIPTORS && got[i] >= 0; i++) last = got[i];
    if (bytes && pwrite(last, bytes, strlen(bytes), 0) != (ssize_t)strlen(bytes)) return 1;
    for (int i = 0; i < SR_PDF_DESCRIPTORS && got[i] >= 0; i++) close(got[i]);
    sr_pdf_send(SR_PDF_SOCKET, header.id, 0, response, NULL, deadline);
    sr_pdf_receive(&header, &text, NULL, SR_PDF_SOCKET, 1 << 20, deadline, pool); /* until the client hangs up */
    return 0;
}

/* Writes a script that runs this program with a number as its argument. `path` ends in XXXXXX at first, and names the
 * script then. */
static inline void fake_script(char *path, int number)
{
    char self[PATH_MAX];
    const size_t length = strlen(path);
    if (!realpath("/proc/self/exe", self)) abort();
    if (!strcmp(path + length - 6, "XXXXXX")) close(mkstemp(path));
    FILE *file = fopen(path, "w");
    if (!file) abort();
    fprintf(file, "#!/bin/sh\nexec '%s' %d\n", self, number);
    if (fclose(file) || chmod(path, 0700)) abort();
}

#endif
