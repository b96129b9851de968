/* SPDX-License-Identifier: Apache-2.0 */
/* corpus_folder.h: where the corpus of PDFs that broke readers is. */
#ifndef SR_TEST_CORPUS_FOLDER_H
#define SR_TEST_CORPUS_FOLDER_H

#include "tap.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns the folder of PDFs below $SIGREQ_CORPUS. If the folder is missing, skips the test and returns NULL. */
static inline const char *corpus_folder(void)
{
    static char folder[PATH_MAX];
    const char *given = getenv("SIGREQ_CORPUS");
    snprintf(folder, sizeof folder, "%s/pdf", given ? given : "");
    if (given && !access(folder, R_OK)) return folder;
    skip("no corpus of PDFs (set SIGREQ_CORPUS)");
    return NULL;
}

#endif
