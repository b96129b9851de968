/* SPDX-License-Identifier: Apache-2.0 */
/* entry_make.h: documents whose signers fill in fields, for the tests of entries: the fields of two signers, drawn by a
 * worker that reads no document, in documents of several kinds. */
#ifndef SR_TEST_ENTRY_MAKE_H
#define SR_TEST_ENTRY_MAKE_H

#include "pdf_seal.h"

#define ENTRY_ANN "ann"
#define ENTRY_BOB "bob"

typedef struct entry_case_t {
    const char *name;
    int rotate;
    const char *catalog;    /* in its dictionary */
    const char *objects[8]; /* from number 5 on, or with a form from 4 on */
    const char *form;       /* in the dictionary of the only page, or NULL: there are two pages */
    const char *qpdf;       /* options that the document is rewritten with, or NULL */
} entry_case_t;

/* The fields of both signers, and their entries. */
typedef struct entry_fields_t {
    sr_pdf_entry_t entries[5];
    sr_pdf_field_t fields[8];
} entry_fields_t;
#define ENTRY_FIELDS 8
#define ENTRY_NO_BOX 7 /* without the check box, which is the last one */

static inline const apr_array_header_t *entry_options(apr_pool_t *pool)
{
    apr_array_header_t *options = apr_array_make(pool, 2, sizeof(char *));
    APR_ARRAY_PUSH(options, const char *) = "Yes (both)";
    APR_ARRAY_PUSH(options, const char *) = "N\xc3\xb6";
    return options;
}

/* Two radio buttons, one above the other. */
static inline const apr_array_header_t *entry_buttons(apr_pool_t *pool)
{
    apr_array_header_t *buttons = apr_array_make(pool, 2, sizeof(sr_pdf_button_t));
    APR_ARRAY_PUSH(buttons, sr_pdf_button_t) = (sr_pdf_button_t){0, {100, 300, 120, 320}, "month", "month"};
    APR_ARRAY_PUSH(buttons, sr_pdf_button_t) = (sr_pdf_button_t){0, {100, 330, 120, 350}, "1 year", "1#20year"};
    return buttons;
}

/* Draws what the fields show. */
static inline void entry_draw(const seal_bench_t *of, sr_pdf_field_t *fields, sr_pdf_entry_t *entries, int count,
                              apr_pool_t *pool)
{
    apr_array_header_t *values = apr_array_make(pool, count, sizeof(sr_pdf_value_t));
    const apr_array_header_t *drawn;
    for (int i = 0; i < count; i++) {
        const sr_pdf_entry_t *entry = fields[i].entry;
        sr_pdf_value_t value = {.text = entry ? entry->text : NULL};
        if (!entry) continue;
        value.ticked = entry->kind == SR_PDF_ENTRY_CHECKBOX;
        value.multiline = entry->multiline;
        sr_pdf_entry_size(&value.width, &value.height, fields[i].rect, entry->rotate);
        APR_ARRAY_PUSH(values, sr_pdf_value_t) = value;
    }
    if (sr_pdf_values(&drawn, of->workers, values, pool)) abort();
    for (int i = 0, at = 0; i < count; i++)
        if (fields[i].entry)
            entries[fields[i].entry - entries].content = APR_ARRAY_IDX(drawn, at++, sr_pdf_drawn_value_t).content;
}

/* Ann has a text, a check box and a signature in two places, Bob a choice, a text of several lines, an optional text
 * and a signature. */
static inline void entry_fields(entry_fields_t *made, const seal_bench_t *of, int rotate, apr_pool_t *pool)
{
    *made = (entry_fields_t){
        .entries = {{.name = "rent", .label = "Rent", .text = "950,00", .max_length = 20},
                    {.kind = SR_PDF_ENTRY_CHECKBOX, .name = "terms.read", .label = "Read"},
                    {.kind = SR_PDF_ENTRY_CHOICE, .name = "N\xc3\xa4me", .label = "Ch\xc3\xb6ice", .text = ""},
                    {.name = "rent", .label = "Notes", .text = "", .multiline = true},
                    {.name = "email", .label = "Email", .text = ""}},
        .fields = {seal_field(ENTRY_ANN, 0, 50, 50, 150, 90), seal_field(ENTRY_ANN, 0, 50, 100, 150.5, 160),
                   seal_field(ENTRY_ANN, 1, 50, 50, 150, 90), seal_field(ENTRY_BOB, 0, 200, 50, 300, 90),
                   seal_field(ENTRY_BOB, 0, 200, 100, 300, 160), seal_field(ENTRY_BOB, 0, 200, 170, 300, 230),
                   seal_field(ENTRY_BOB, 0, 200, 240, 300, 300), seal_field(ENTRY_ANN, 0, 50, 170, 70, 190)}};
    static const int fields[5] = {1, 7, 4, 5, 6};
    made->entries[2].options = entry_options(pool);
    for (int i = 0; i < 5; i++) {
        made->entries[i].rotate = rotate;
        made->fields[fields[i]].entry = &made->entries[i];
    }
    entry_draw(of, made->fields, made->entries, ENTRY_FIELDS, pool);
}

static inline void entry_read(pdf_t *pdf, const char *path)
{
    char piece[4096];
    FILE *file = fopen(path, "rb");
    if (!file) abort();
    pdf->size = 0;
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;) pdf_add(pdf, piece, got);
    fclose(file);
}

static inline pdf_t entry_document(const seal_bench_t *of, const entry_case_t *kind, apr_pool_t *pool)
{
    pdf_parts_t parts = {.pages = 2, .catalog = kind->catalog};
    int status;
    if (kind->form) parts.pages = 1;
    parts.page = apr_psprintf(pool, "/MediaBox[0 0 612 792]/Rotate %d%s", kind->rotate, kind->form ? kind->form : "");
    memcpy(parts.objects, kind->objects, sizeof parts.objects);
    pdf_t pdf = pdf_document(&parts);
    if (!kind->qpdf) return pdf;
    seal_write(of, "from.pdf", pdf.data, pdf.size);
    seal_run(&status, of, pool, "qpdf --static-id --allow-weak-crypto %s from.pdf to.pdf", kind->qpdf);
    if (status) abort();
    entry_read(&pdf, apr_pstrcat(pool, of->folder, "/to.pdf", NULL));
    return pdf;
}

#endif
