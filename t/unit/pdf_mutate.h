/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_mutate.h: puts faults into a PDF at random. The numbers are the same in each run, but for $SIGREQ_FUZZ_SEED. */
#ifndef SR_TEST_PDF_MUTATE_H
#define SR_TEST_PDF_MUTATE_H

#include "pdf_make.h"

#include <stdint.h>

static uint64_t mutate_state = 20261120;

static inline size_t random_below(size_t limit)
{
    mutate_state ^= mutate_state << 13;
    mutate_state ^= mutate_state >> 7;
    mutate_state ^= mutate_state << 17;
    return limit ? (size_t)(mutate_state % limit) : 0;
}

static const char *const TOKENS[] = {
    "<<",
    ">>",
    "[",
    "]",
    "(",
    ")",
    "%PDF-1.7",
    "9999999999",
    "-1",
    "1e9",
    " 0 R",
    "stream\n",
    "endstream",
    "endobj",
    "xref",
    "trailer",
    "/Prev 9",
    "startxref",
    "/XRefStm 9",
    "/Kids[2 0 R]",
    "/Parent 3 0 R",
    "/Count -1",
    "/Count 99999999",
    "/Type/Catalog",
    "/Encrypt 1 0 R",
    "/Length 99999999",
    "/Filter/FlateDecode",
    "/MediaBox[0 0 1]",
    "/Rotate 1 0 R",
    "/Pages 1 0 R",
};

static inline void mutate(pdf_t *pdf)
{
    for (size_t faults = 1 + random_below(6); faults > 0; faults--) {
        size_t at = random_below(pdf->size), length = 1 + random_below(20);
        const char *token = TOKENS[random_below(sizeof TOKENS / sizeof *TOKENS)];
        if (length > pdf->size - at) length = pdf->size - at;
        switch (random_below(6)) {
        case 0: pdf->data[at] = (char)(pdf->data[at] ^ (1 << random_below(8))); break;
        case 1: pdf->data[at] = (char)random_below(256); break;
        case 2: /* cut some out */
            memmove(pdf->data + at, pdf->data + at + length, pdf->size - at - length);
            pdf->size -= length;
            break;
        case 3: /* over what is there */
            memcpy(pdf->data + at, token, strlen(token) < length ? strlen(token) : length);
            break;
        case 4: /* between what is there */
            length = strlen(token);
            pdf_add(pdf, token, length);
            memmove(pdf->data + at + length, pdf->data + at, pdf->size - length - at);
            memcpy(pdf->data + at, token, length);
            break;
        default: /* a digit, which makes references and offsets point elsewhere */
            while (at + 1 < pdf->size && (pdf->data[at] < '0' || pdf->data[at] > '9')) at++;
            pdf->data[at] = (char)('0' + random_below(10));
        }
        if (!pdf->size) pdf_add(pdf, "%", 1);
    }
}

#endif
