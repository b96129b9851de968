/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_overlaid_again.c: a worker of the real sigreq-pdfd keeps the subset of a font that it has made last. A drawing
 * must not depend on what the worker has drawn before: it equals that of a worker which has drawn nothing. */
#include "pdf_help.h"

#define SCOPE "preview"

static apr_pool_t *root;
static sr_pdf_pool_t *workers;
static pdf_t document;

/* Draws a box with this text at x. Returns the SHA-256 of the document. */
static const char *draw(const char *text, int x, const char *scope)
{
    const int fd = help_descriptor(document.data, document.size);
    json_t *what =
        sr_json_own(json_pack("{s:s,s:[I],s:[{s:[i,i],s:i,s:[{s:[i,i,i,i],s:i,s:[s,s]}]}],s:[{s:i,s:[i,i,i,i],s:[i]}]}",
                              "op", "overlay", "documents", (json_int_t)document.size, "looks", "size", 200, 100,
                              "rotate", 0, "boxes", "rect", x, 20, 150, 40, "colour", 0, "texts", text,
                              apr_psprintf(root, "x %d", x), "pages", "page", 0, "box", 0, 0, 200, 100, "looks", 0),
                    root);
    sr_pdf_overlaid_t overlaid;
    sr_pdf_pool_t *own = sr_pdf_pool_for_request(workers, scope, 0, root);
    if (sr_pdf_overlay(&overlaid, own, fd, (apr_off_t)document.size, what, root) || overlaid.reason) abort();
    sr_pdf_pool_release(own);
    close(fd);
    const apr_size_t size = (apr_size_t)overlaid.document->size;
    char *bytes = apr_palloc(root, size);
    if (sr_descriptor_read(overlaid.document->descriptor, bytes, size, 0) != (apr_ssize_t)size) abort();
    return sr_sha256_hex(bytes, size, root);
}

int main(void)
{
    static const struct {
        const char *text, *name;
        int x;
    } drawings[] = {
        {"Ann", "the first drawing", 10},      {"Ann", "the same letters, moved", 23},
        {"Bob", "other letters", 23},          {"Anna Bob", "more letters", 23},
        {"An", "fewer letters", 23},           {"\xce\x91\xce\xbd\xce\xbd", "letters of another alphabet", 23},
        {"Ann", "the first drawing again", 10}};
    apr_initialize();
    apr_pool_create(&root, NULL);
    const sr_pdf_options_t options = {
        .program = help_program(), .workers = 1, .keep = true, .timeout = 5000 * HELP_MS, .notice = help_notice};
    if (sr_pdf_pool_create(&workers, &options, root)) abort();
    document = pdf_document(&(pdf_parts_t){.pages = 1});
    const char *first = NULL;
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++) {
        const char *kept = draw(drawings[i].text, drawings[i].x, SCOPE);
        is_str(kept, draw(drawings[i].text, drawings[i].x, NULL), "%s", drawings[i].name);
        if (!first) first = kept;
        ok(!strcmp(kept, first) == (drawings[i].x == 10), "it differs from the first drawing if its texts differ");
    }
    apr_pool_destroy(root);
    return done();
}
