/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_sign.h: signs small PDFs for tests: one incremental update per signature, written by hand, so that each part of
 * it can be made wrong. The product's own writer is in src/helper/main. */
#ifndef SR_TEST_PDF_SIGN_H
#define SR_TEST_PDF_SIGN_H

#include "cms_make.h"
#include "pdf_make.h"

#include <openssl/sha.h>

#define SIGN_ROOM 4096 /* bytes of DER that a /Contents has room for */

typedef struct sign_t {
    const sr_cms_identity_t *identity;
    const char *subfilter;      /* NULL: ETSI.CAdES.detached */
    const char *before, *after; /* in the signature dictionary, before and behind /ByteRange and /Contents */
    const char *value;          /* stands for the whole of the signature dictionary's object */
    const char *range;          /* stands for the ByteRange, brackets included; at most 40 characters */
    long cut, widen;            /* the range ends so many bytes early; the gap so many late */
} sign_t;

/* Where things are in the file. */
typedef struct signed_t {
    size_t range, gap, gap_end, end;
    int object; /* of the signature dictionary; its field is the next */
} signed_t;

static inline size_t sign_start(const pdf_t *pdf)
{
    const char *last = NULL;
    for (const char *at = pdf->data; (at = memmem(at, pdf->size - (size_t)(at - pdf->data), "startxref\n", 10)); at++)
        last = at;
    return strtoul(last + 10, NULL, 10);
}

/* Begins an object of an update, which may have a number that is taken. */
static inline void sign_object(pdf_t *pdf, int number)
{
    if (number >= PDF_OBJECTS) abort();
    if (number > pdf->count) pdf->count = number;
    pdf->offset[number] = pdf->size;
    pdf_print(pdf, "%d 0 obj\n", number);
}

static inline void sign_update(pdf_t *pdf, const int *numbers, int count, size_t previous)
{
    size_t start = pdf->size;
    pdf_print(pdf, "xref\n");
    for (int i = 0; i < count; i++) pdf_print(pdf, "%d 1\n%010zu 00000 n \n", numbers[i], pdf->offset[numbers[i]]);
    pdf_print(pdf, "trailer\n<</Size %d/Root 1 0 R/Prev %zu>>\nstartxref\n%zu\n%%%%EOF\n", pdf->count + 1, previous,
              start);
}

/* An update of page 1 that shows something else: what an attacker appends. */
static inline void sign_alter(pdf_t *pdf, const char *page)
{
    size_t previous = sign_start(pdf);
    sign_object(pdf, 3);
    pdf_print(pdf, "<</Type/Page/Parent 2 0 R%s>>\nendobj\n", page);
    sign_update(pdf, (const int[]){3}, 1, previous);
}

/* Hashes both ranges and puts the signature into the gap. */
static inline void sign_fill(pdf_t *pdf, const sr_cms_identity_t *identity, size_t gap, size_t from, size_t to,
                             apr_pool_t *pool)
{
    unsigned char digest[32];
    const unsigned char *der = NULL;
    apr_size_t length = 0;
    SHA256_CTX state;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    SHA256_Init(&state);
    SHA256_Update(&state, pdf->data, gap);
    SHA256_Update(&state, pdf->data + from, to - from);
    SHA256_Final(digest, &state);
#pragma GCC diagnostic pop
    if (sr_cms_sign(&der, &length, identity, digest, pool) || length > SIGN_ROOM) abort();
    const char *hex = sr_text_hex(der, length, pool);
    memcpy(pdf->data + gap + 1, hex, length * 2);
}

static inline signed_t sign_pdf(pdf_t *pdf, const sign_t *sign, apr_pool_t *pool)
{
    size_t previous = sign_start(pdf);
    signed_t at = {.object = pdf->count + 1};
    pdf_t fields = {0}; /* the first has number 5, and then every second */
    for (int i = 5; i <= at.object + 1; i += 2) pdf_print(&fields, "%d 0 R ", i);

    sign_object(pdf, at.object);
    if (sign->value) pdf_print(pdf, "%s", sign->value);
    else {
        pdf_print(pdf,
                  "<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/%s/Name(Ann \\(A\\) Lee)/Reason<FEFF007A006F00EB>"
                  "/ContactInfo(Example Ltd, submission 6f1c)"
                  "/M(D:20261120180923+01'00')%s/ByteRange",
                  sign->subfilter ? sign->subfilter : "ETSI.CAdES.detached", sign->before ? sign->before : "");
        at.range = pdf->size;
        pdf_print(pdf, "%40s/Contents", "");
        at.gap = pdf->size;
        pdf_print(pdf, "<%0*d>", SIGN_ROOM * 2, 0);
        at.gap_end = pdf->size;
        pdf_print(pdf, "%s>>", sign->after ? sign->after : "");
    }
    pdf_print(pdf, "\nendobj\n");
    sign_object(pdf, at.object + 1);
    pdf_print(pdf,
              "<</Type/Annot/Subtype/Widget/FT/Sig/T(Signature_%d)/F 132/Rect[0 0 0 0]/P 3 0 R/V %d 0 R>>\nendobj\n",
              at.object, at.object);
    sign_object(pdf, 1);
    pdf_print(pdf, "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[%s]/SigFlags 3>>>>\nendobj\n", fields.data);
    sign_object(pdf, 3);
    pdf_print(pdf, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Annots[%s]>>\nendobj\n", fields.data);
    free(fields.data);
    sign_update(pdf, (const int[]){1, 3, at.object, at.object + 1}, 4, previous);
    at.end = pdf->size;
    if (sign->value) return at;

    char range[64];
    size_t from = at.gap_end + (size_t)sign->widen, to = at.end - (size_t)sign->cut;
    snprintf(range, sizeof range, "[0 %zu %zu %zu]", at.gap, from, to - from);
    memcpy(pdf->data + at.range, sign->range ? sign->range : range, strlen(sign->range ? sign->range : range));
    sign_fill(pdf, sign->identity, at.gap, from, to, pool);
    return at;
}

#endif
