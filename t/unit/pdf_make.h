/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_make.h: writes small PDFs for tests: objects by number, a cross-reference table, a trailer. What a test
 * wants to be wrong it says in the object's text. */
#ifndef SR_TEST_PDF_MAKE_H
#define SR_TEST_PDF_MAKE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PDF_OBJECTS 64

typedef struct pdf_t {
    char *data;
    size_t size, room;
    size_t offset[PDF_OBJECTS];
    int count;             /* of objects; they are numbered from 1 */
    size_t base, prepared; /* bytes before it was prepared, and what that added */
} pdf_t;

static inline void pdf_add(pdf_t *pdf, const void *bytes, size_t size)
{
    if (pdf->size + size + 1 > pdf->room) {
        pdf->room = (pdf->size + size + 1) * 2;
        pdf->data = realloc(pdf->data, pdf->room);
        if (!pdf->data) abort();
    }
    memcpy(pdf->data + pdf->size, bytes, size);
    pdf->size += size;
    pdf->data[pdf->size] = '\0';
}

__attribute__((format(printf, 2, 3))) static inline void pdf_print(pdf_t *pdf, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0) abort();
    pdf_add(pdf, text, (size_t)size);
    free(text);
}

static inline void pdf_begin(pdf_t *pdf)
{
    memset(pdf, 0, sizeof *pdf);
    pdf_print(pdf, "%%PDF-1.7\n");
}

/* Adds the next object and returns its number. */
static inline int pdf_object(pdf_t *pdf, const char *text)
{
    if (++pdf->count == PDF_OBJECTS) abort();
    pdf->offset[pdf->count] = pdf->size;
    pdf_print(pdf, "%d 0 obj\n%s\nendobj\n", pdf->count, text);
    return pdf->count;
}

/* `trailer` goes into the trailer's dictionary. */
static inline void pdf_end(pdf_t *pdf, const char *trailer)
{
    size_t start = pdf->size;
    pdf_print(pdf, "xref\n0 %d\n0000000000 65535 f \n", pdf->count + 1);
    for (int i = 1; i <= pdf->count; i++) pdf_print(pdf, "%010zu 00000 n \n", pdf->offset[i]);
    pdf_print(pdf, "trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%zu\n%%%%EOF\n", pdf->count + 1, trailer, start);
}

/* What pdf_document puts together; NULL stands for nothing. */
typedef struct pdf_parts_t {
    int pages;
    const char *page;    /* in each page's dictionary; NULL: a MediaBox of 612 x 792 */
    const char *tree;    /* in the page tree's root */
    const char *catalog; /* in the catalog */
    const char *trailer;
    const char *objects[8]; /* further objects: the first has number 3 + pages */
} pdf_parts_t;

/* Object 1 is the catalog, 2 the page tree, 3 the first page. Free `data` after use. */
static inline pdf_t pdf_document(const pdf_parts_t *parts)
{
    pdf_t pdf, text = {0};
    pdf_begin(&pdf);
    pdf_print(&text, "<</Type/Catalog/Pages 2 0 R%s>>", parts->catalog ? parts->catalog : "");
    pdf_object(&pdf, text.data);
    text.size = 0;
    pdf_print(&text, "<</Type/Pages/Count %d%s/Kids[", parts->pages, parts->tree ? parts->tree : "");
    for (int i = 0; i < parts->pages; i++) pdf_print(&text, "%d 0 R ", 3 + i);
    pdf_print(&text, "]>>");
    pdf_object(&pdf, text.data);
    text.size = 0;
    pdf_print(&text, "<</Type/Page/Parent 2 0 R%s>>", parts->page ? parts->page : "/MediaBox[0 0 612 792]");
    for (int i = 0; i < parts->pages; i++) pdf_object(&pdf, text.data);
    for (int i = 0; i < 8 && parts->objects[i]; i++) pdf_object(&pdf, parts->objects[i]);
    pdf_end(&pdf, parts->trailer ? parts->trailer : "");
    free(text.data);
    return pdf;
}

#endif
