/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_text.c: what pages say and where, from the real sigreq-pdfd: words, lines, boxes in percent of the page as it is
 * displayed, under rotation and crop, and text that needs tables which no document brings. */
#include "pdf_show.h"

static apr_pool_t *root;
static sr_pdf_pool_t *workers;

/* The text of a page as JSON, checked for its shape: whatever is asked of it, boxes are within the page. */
static const json_t *read_page(const char *keys, const char *content, apr_pool_t *pool)
{
    sr_pdf_text_t text = {0};
    json_t *parsed = NULL;
    int fd = show_document(keys, content, NULL, pool);
    sr_error_t *error = sr_pdf_text(&text, workers, fd, 0, pool);
    close(fd);
    if (error || text.reason || sr_json_parse(&parsed, text.json, text.length, pool)) {
        printf("# %s\n", show_say_text(error, &text, pool));
        return NULL;
    }
    size_t i, j, outside = 0;
    json_t *line, *word;
    json_array_foreach (json_object_get(parsed, "lines"), i, line)
        json_array_foreach (line, j, word) {
            double x = json_number_value(json_array_get(word, 1)), y = json_number_value(json_array_get(word, 2));
            double w = json_number_value(json_array_get(word, 3)), h = json_number_value(json_array_get(word, 4));
            bool inside = x >= 0 && y >= 0 && w >= 0 && h >= 0 && x + w <= 100.01 && y + h <= 100.01;
            if (json_array_size(word) != 5 || !inside) outside++;
        }
    if (outside) printf("# outside: %s\n", text.json);
    return outside ? NULL : parsed;
}

/* Words with blanks between, lines with "/" between. */
static const char *words(const json_t *text, apr_pool_t *pool)
{
    const char *all = "";
    size_t i, j;
    json_t *line, *word;
    json_array_foreach (json_object_get(text, "lines"), i, line)
        json_array_foreach (line, j, word)
            all = apr_pstrcat(pool, all, j ? " " : i ? "/" : "", json_string_value(json_array_get(word, 0)), NULL);
    return text ? all : "no text";
}

static double box(const json_t *text, size_t line, size_t word, size_t which)
{
    const json_t *found = json_array_get(json_array_get(json_object_get(text, "lines"), line), word);
    return found ? json_number_value(json_array_get(found, which + 1)) : -1000;
}

/* Within `tolerance` percent of the page. */
static void is_box(const json_t *text, size_t line, size_t word, const double *want, double tolerance, const char *name)
{
    bool right = true;
    for (size_t i = 0; i < 4; i++) right = right && fabs(box(text, line, word, i) - want[i]) <= tolerance;
    ok(right, "%s: its box", name);
    if (!right)
        printf("#   got:  %g %g %g %g\n#   want: %g %g %g %g\n", box(text, line, word, 0), box(text, line, word, 1),
               box(text, line, word, 2), box(text, line, word, 3), want[0], want[1], want[2], want[3]);
}

typedef struct view_t {
    const char *name, *keys, *content, *words;
    double box[4]; /* of the first word; {0}: none */
} view_t;

/* Helvetica's "Sample" is 3.392 em wide: 67.84 points at 20. Its ascender is 0.718 em, its descender 0.207: 14.36 above
 * the baseline and 4.14 below. */
#define SAMPLE "BT /F 20 Tf 20 40 Td (Sample) Tj ET"
#define TALL "/MediaBox[0 0 200 100]"

static const view_t VIEWS[] = {
    {"upright", TALL, SAMPLE, "Sample", {10, 45.64, 33.92, 18.5}},
    {"turned by 90", TALL "/Rotate 90", SAMPLE, "Sample", {35.86, 10, 18.5, 33.92}},
    {"turned by 180", TALL "/Rotate 180", SAMPLE, "Sample", {56.08, 35.86, 33.92, 18.5}},
    {"turned by 270", TALL "/Rotate 270", SAMPLE, "Sample", {45.64, 56.08, 18.5, 33.92}},
    {"cropped", TALL "/CropBox[0 0 100 100]", SAMPLE, "Sample", {20, 45.64, 67.84, 18.5}},
    {"cropped from the origin", TALL "/CropBox[10 20 110 100]", SAMPLE, "Sample", {10, 57.05, 67.84, 23.13}},
    {"away from the origin",
     "/MediaBox[1000 1000 1200 1100]",
     "1 0 0 1 1000 1000 cm " SAMPLE,
     "Sample",
     {10, 45.64, 33.92, 18.5}},
    {"text outside the crop", TALL "/CropBox[100 0 200 100]", SAMPLE, "", {0}},
    {"nothing", TALL, "", "", {0}},
    {"nothing to read", TALL, "0 0 20 20 re f", "", {0}},
    {"words and lines",
     TALL,
     "BT /F 10 Tf 20 80 Td (One two  three) Tj 0 -20 Td (four) Tj 0 -20 Td (five six) Tj ET",
     "One two three/four/five six",
     {10, 12.82, 9.45, 9.25}},
    {"quotes and backslashes", TALL, "BT /F 10 Tf 20 80 Td (a\"b\\\\c\\(d) Tj ET", "a\"b\\c(d", {0}},
    {"control characters", TALL, "BT /F 10 Tf 20 80 Td (a\\001b) Tj ET", NULL, {0}},
    {"letters that are not ASCII", TALL, "BT /F 10 Tf 20 80 Td (Andr\\351) Tj ET", "Andr\xc3\x98", {0}},
    {"unseen text, as scanners add it",
     TALL,
     "BT 3 Tr /F 20 Tf 20 40 Td (Sample) Tj ET",
     "Sample",
     {10, 45.64, 33.92, 18.5}},
    {"Japanese by a table of the system's",
     TALL,
     "BT /J 20 Tf 20 40 Td <93fa967b> Tj ET",
     "\xe6\x97\xa5\xe6\x9c\xac",
     {0}},
};

static void test_view(const view_t *view)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    const json_t *text = read_page(view->keys, view->content, pool);
    ok(text != NULL, "%s: a text", view->name);
    if (view->words) is_str(words(text, pool), view->words, "%s: its words", view->name);
    if (view->box[2] > 0) is_box(text, 0, 0, view->box, 0.05, view->name);
    apr_pool_destroy(pool);
}

static void test_form(void)
{
    apr_pool_t *pool;
    sr_pdf_text_t text;
    apr_pool_create(&pool, root);
    int fd = show_document(TALL, "BT /F 20 Tf 0 0 Td (A) Tj ET", NULL, pool);
    const char *json = show_say_text(sr_pdf_text(&text, workers, fd, 0, pool), &text, pool);
    static const char start[] = "{\"width\":200,\"height\":100,\"lines\":[[[\"A\",0,";
    ok(!strncmp(json, start, sizeof start - 1) && !strcmp(json + strlen(json) - 4, "]]]}"), "compact JSON: %s", json);
    is_str(show_say_text(sr_pdf_text(&text, workers, fd, 1, pool), &text, pool), "error 4: Not found", "no page 2");
    is_str(show_say_text(sr_pdf_text(&text, workers, fd, -1, pool), &text, pool), "error 4: Not found", "none before");
    close(fd);
    fd = help_descriptor("hello", 5);
    is_str(show_say_text(sr_pdf_text(&text, workers, fd, 0, pool), &text, pool),
           "refused: it is not a PDF that can be read", "no PDF");
    close(fd);
    apr_pool_destroy(pool);
}

/* More words than there is room for: what comes is well-formed and says that there is more. */
static void test_too_much(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    const int lines = 700, columns = 250;
    char *content = apr_palloc(pool, (apr_size_t)lines * columns * 4 + (apr_size_t)lines * 40 + 100), *at = content;
    at += sprintf(at, "BT /F 10 Tf 1 0 0 1 10 14190 Tm ");
    for (int i = 0; i < lines; i++) {
        at += sprintf(at, "0 -20 Td (");
        for (int j = 0; j < columns; j++) at += sprintf(at, "ab ");
        at += sprintf(at, ") Tj ");
    }
    sprintf(at, "ET");
    const json_t *text = read_page("/MediaBox[0 0 4000 14200]", content, pool);
    size_t count = json_array_size(json_object_get(text, "lines"));
    ok(json_is_true(json_object_get(text, "truncated")), "a text that is too long is cut and says so");
    ok(count > 400 && count < 700, "%d of %d lines are there", (int)count, lines);
    apr_pool_destroy(pool);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    workers = help_pool(help_program(), 1, 2500, root);
    for (size_t i = 0; i < sizeof VIEWS / sizeof *VIEWS; i++) test_view(&VIEWS[i]);
    test_form();
    test_too_much();
    is_int(help_notices, 0, "no worker was lost in all this");
    apr_pool_destroy(root);
    return done();
}
