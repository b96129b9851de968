/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h: what the fuzz targets share. A target is one file, t/fuzz/<name>.c: it takes any bytes, asks our code about
 * them, and ends the process where an answer cannot be right. libFuzzer calls it (`make fuzz`), and so does replay.c
 * with what is in t/fuzz/corpus/<name>/ (`make test`). */
#ifndef SR_FUZZ_H
#define SR_FUZZ_H

#include "base/base.h"

#include <apr_general.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A pool for one input; destroy it at the end. */
static inline apr_pool_t *fuzz_pool(void)
{
    static apr_pool_t *root;
    apr_pool_t *pool;
    if (!root) {
        apr_initialize();
        apr_pool_create(&root, NULL);
        json_object_seed(1); /* the same order of things in each run */
    }
    apr_pool_create(&pool, root);
    return pool;
}

#define fuzz_must(condition)                                                                                           \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s line %d: not so: %s\n", __FILE__, __LINE__, #condition);                               \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* The bytes as a text that ends where a sanitizer sees it; free it. NULL when there is a NUL in them. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = size && memchr(data, 0, size) ? NULL : malloc(size + 1);
    if (!text) return NULL;
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

#endif
