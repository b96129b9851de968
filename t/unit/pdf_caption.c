/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_caption.c: the caption under a signature in the sealed document: pdftotext reads it, the ink is above it, on
 * pages that are turned too; each field has its own caption or none; low fields have none; the preview draws
 * the same. */
#include "pdf_seal.h"

static seal_bench_t bench;

#define ANN                                                                                                            \
    "\xe2\x80\x8e\xe2\x81\xa8"                                                                                         \
    "Ann Lee\xe2\x81\xa9 \xc2\xb7 \xe2\x81\xa8"                                                                        \
    "5. November 2026\xe2\x81\xa9"
#define ANN_PLAIN "Ann Lee \xc2\xb7 5. November 2026"

typedef struct made_t {
    pdf_t pdf;
    const char *reason;
} made_t;

/* Signs places of one signer on a page. */
static made_t sign(const char *page, const double (*rects)[4], int count, const char *captions, apr_pool_t *pool)
{
    sr_pdf_field_t fields[4];
    json_t *json = NULL;
    if (captions && sr_json_parse(&json, captions, strlen(captions), pool)) abort();
    made_t made = {.pdf = pdf_document(&(pdf_parts_t){.pages = 1, .page = page})};
    for (int i = 0; i < count; i++)
        fields[i] = seal_field("ann", 0, rects[i][0], rects[i][1], rects[i][2], rects[i][3]);
    made.reason = seal_prepare(&bench, &made.pdf, fields, count, pool);
    /* ink on all of its box, so that its edges are those of the place it has */
    static const char box[] = "{\"width\":300,\"height\":100,\"strokes\":[[[5,5],[295,5],[295,95],[5,95],[5,5]]]}";
    sr_pdf_signature_t signature = {
        .signer = "ann", .name = "Ann Lee", .time = apr_time_now(), .ink = seal_ink(box, pool), .captions = json};
    if (!made.reason) made.reason = seal_fill(&bench, &made.pdf, &signature, pool);
    seal_write(&bench, "page.pdf", made.pdf.data, made.pdf.size);
    return made;
}

static const char *text_of(const char *arguments, apr_pool_t *pool)
{
    int status;
    const char *said = seal_run(&status, &bench, pool, "pdftotext -raw -enc UTF-8 %s page.pdf -", arguments);
    return apr_pstrndup(pool, said, strcspn(said, "\n\f"));
}

/* --- where what is seen */

typedef struct seen_t {
    double ink[4], caption[4]; /* left, top, right, bottom in points of the page as displayed; all 0: nothing */
} seen_t;

static void extend(double box[4], double x, double y)
{
    const bool first = box[2] == 0;
    box[0] = first ? x : fmin(box[0], x);
    box[1] = first ? y : fmin(box[1], y);
    box[2] = fmax(box[2], x + 0.25);
    box[3] = fmax(box[3], y + 0.25);
}

static seen_t look(apr_pool_t *pool)
{
    int status, width, height;
    seen_t seen = {{0}, {0}};
    seal_run(&status, &bench, pool, "pdftoppm -r 288 -singlefile page.pdf page");
    FILE *file = fopen(apr_pstrcat(pool, bench.folder, "/page.ppm", NULL), "rb");
    if (!file || fscanf(file, "P6 %d %d 255", &width, &height) != 2) abort();
    fgetc(file);
    unsigned char *row = apr_palloc(pool, (apr_size_t)width * 3);
    for (int y = 0; y < height; y++) {
        if (fread(row, 3, (size_t)width, file) != (size_t)width) abort();
        for (int x = 0; x < width; x++) {
            const unsigned char *c = row + 3 * x;
            if (c[0] > 140) continue;
            extend(c[2] > c[1] + 20 ? seen.ink : seen.caption, x / 4.0, y / 4.0);
        }
    }
    fclose(file);
    return seen;
}

static void test_place(const char *keys, const double rect[4], const double shown[4], apr_pool_t *pool)
{
    made_t made = sign(keys, (const double(*)[4])rect, 1, "{\"texts\":[\"" ANN "\"],\"fields\":[0]}", pool);
    is_str(made.reason, NULL, "%s: signed", keys);
    is_str(seal_pdfsig(&bench, "page.pdf", 1, pool), NULL, "the signature is valid");
    is_str(text_of("", pool), ANN_PLAIN, "pdftotext reads the caption");
    int status;
    const char *said = seal_run(&status, &bench, pool, "mutool draw -q -F txt page.pdf");
    ok(strstr(said, ANN_PLAIN) != NULL, "mutool, which knows no /ActualText, reads the caption");
    const seen_t seen = look(pool);
    const double line = sr_caption_line(shown[3] - shown[1]), middle = (shown[0] + shown[2]) / 2;
    ok(seen.caption[1] >= shown[3] - line - 0.3 && seen.caption[3] <= shown[3] + 0.3 && seen.caption[2] > 0,
       "the caption is in the line at the bottom: %g to %g", seen.caption[1], seen.caption[3]);
    ok(fabs((seen.caption[0] + seen.caption[2]) / 2 - middle) < 1, "the caption is in the middle");
    ok(seen.ink[1] >= shown[1] - 0.3 && seen.ink[3] <= shown[3] - line + 0.3, "the ink is above the caption: %g to %g",
       seen.ink[1], seen.ink[3]);
    ok(seen.ink[3] - seen.ink[1] > 0.8 * (shown[3] - shown[1] - line), "the ink is as large as it fits");
    free(made.pdf.data);
}

static void test_places(apr_pool_t *pool)
{
    test_place("/MediaBox[0 0 400 300]", (const double[]){50, 60, 250, 110}, (const double[]){50, 190, 250, 240}, pool);
    test_place("/MediaBox[0 0 400 300]/Rotate 90", (const double[]){50, 60, 90, 200}, (const double[]){60, 50, 200, 90},
               pool);
    test_place("/MediaBox[0 0 400 300]/Rotate 180", (const double[]){50, 60, 250, 84},
               (const double[]){150, 60, 350, 84}, pool);
}

static void test_fields(apr_pool_t *pool)
{
    static const double rects[4][4] = {
        {20, 20, 180, 60}, {20, 80, 180, 120}, {20, 140, 180, 155.5}, {20, 180, 180, 230}};
    made_t made = sign("/MediaBox[0 0 400 300]", rects, 4, "{\"texts\":[\"One\",\"Two\"],\"fields\":[1,-1,0,0]}", pool);
    is_str(made.reason, NULL, "four places of a signer: signed");
    is_str(seal_pdfsig(&bench, "page.pdf", 1, pool), NULL, "the signature with four places is valid");
    is_str(text_of("-y 240 -H 60 -x 0 -W 400", pool), "Two", "the first place has the second caption");
    is_str(text_of("-y 180 -H 40 -x 0 -W 400", pool), "", "the second place has no caption");
    is_str(text_of("-y 144 -H 17 -x 0 -W 400", pool), "", "the third place is too low for a caption");
    is_str(text_of("-y 70 -H 51 -x 0 -W 400", pool), "One", "the last place has the first caption");
    free(made.pdf.data);
    made = sign("/MediaBox[0 0 400 300]", rects, 4, NULL, pool);
    is_str(made.reason, NULL, "without captions: signed");
    is_str(text_of("", pool), "", "without captions, nothing is written");
    ok(!memmem(made.pdf.data, made.pdf.size, "Helvetica", 9), "without captions, no font is named");
    free(made.pdf.data);
}

static void test_texts(apr_pool_t *pool)
{
    static const double rect[1][4] = {{20, 20, 220, 80}};
    static const struct {
        const char *text, *read;
    } cases[] = {
        {"\xe2\x80\x8f\xe2\x81\xa8\xd9\x84\xd9\x8a\xd9\x84\xd9\x89\xe2\x81\xa9 \xc2\xb7 \xe2\x81\xa8"
         "4b68\xe2\x81\xa9",
         NULL},
        {"\xe6\x9d\x8e\xe5\xae\x89", "\xe6\x9d\x8e\xe5\xae\x89"},
        {"(a) \\ <b>", "(a) \\ <b>"},
        {"x\xf4\x8f\xbf\xbd", "x\xf4\x8f\xbf\xbd"}, /* no font has it: it is drawn as a request mark */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *json = json_pack("{s:[s],s:[i]}", "texts", cases[i].text, "fields", 0);
        made_t made = sign("/MediaBox[0 0 400 300]", rect, 1, sr_json_text(sr_json_own(json, pool), pool), pool);
        is_str(made.reason, NULL, "the text %s: signed", cases[i].text);
        if (cases[i].read) is_str(text_of("", pool), cases[i].read, "the caption is read");
        ok(look(pool).caption[2] > 0, "the caption is seen");
        free(made.pdf.data);
    }
    made_t none = sign("/MediaBox[0 0 400 300]", rect, 1, "{\"texts\":[5],\"fields\":[0]}", pool);
    is_str(none.reason, "That is no text", "what is no text is not sealed");
    free(none.pdf.data);
}

/* --- the preview */

static void test_preview(apr_pool_t *pool)
{
    sr_pdf_preview_t preview;
    json_t *json, *captions = sr_json_own(json_pack("{s:[s,s]}", "texts", "One", ANN), pool);
    const sr_pdf_signature_t signature = {.text = "Ann", .captions = captions}, plain = {.text = "Ann"};
    ok(!sr_pdf_preview(&preview, bench.workers, &signature, pool) && !preview.reason, "a preview with captions");
    if (sr_json_parse(&json, preview.drawing, preview.length, pool)) abort();
    const json_t *drawn = json_object_get(json, "captions");
    is_int(json_array_size(drawn), 2, "the preview has both captions");
    ok(json_number_value(json_object_get(json_array_get(drawn, 1), "width"))
           > 5 * json_number_value(json_object_get(json_array_get(drawn, 0), "width")),
       "the longer caption is wider");
    json_object_del(json, "captions");
    ok(!sr_pdf_preview(&preview, bench.workers, &plain, pool) && !preview.reason, "one without them");
    json_t *without;
    if (sr_json_parse(&without, preview.drawing, preview.length, pool)) abort();
    ok(json_equal(json, without), "a preview without captions is the same but for them");
}

int main(void)
{
    bench = seal_begin(10000);
    apr_pool_t *pool = bench.pool;
    test_places(pool);
    test_fields(pool);
    test_texts(pool);
    test_preview(pool);
    return seal_end(&bench);
}
