/* SPDX-License-Identifier: Apache-2.0 */
/* model_file_name.c: tests of src/model/file_name.c: the rules of Windows, macOS and Linux for names of files. */
#include "model/file_name.h"
#include "tap.h"

static const struct {
    const char *name, *file;
} ROWS[] = {
    {"lease.pdf", "lease.pdf"},
    {"lease", "lease.pdf"},
    {"lease.pdf .", "lease.pdf"},
    {"Lease.PDF", "Lease.pdf"},
    {"a.b.c", "a.b.c.pdf"},
    /* paths */
    {"../../etc/passwd", "_.._.._etc_passwd.pdf"},
    {"/etc/passwd", "_etc_passwd.pdf"},
    {"..\\..\\x.pdf", "_.._.._x.pdf"},
    {"C:\\x\\lease.pdf", "C__x_lease.pdf"},
    {"..", "document.pdf"},
    {".", "document.pdf"},
    {"...pdf", "document.pdf"},
    /* characters */
    {"a<b>c:d\"e|f?g*h.pdf", "a_b_c_d_e_f_g_h.pdf"},
    {"tab\there\nand\x7Fthere.pdf", "tab_here_and_there.pdf"},
    {"c1 \xC2\x85.pdf", "c1 _.pdf"},
    {"line\xE2\x80\xA8"
     "end.pdf",
     "line_end.pdf"},
    {"bytes \xFF.pdf", "bytes _.pdf"},
    {"exe\xE2\x80\xAE"
     "fdp.pdf",
     "exefdp.pdf"},
    {"Cafe\xCC\x81.pdf", "Caf\xC3\xA9.pdf"},
    {"\xE5\xA5\x91\xE7\xB4\x84.pdf", "\xE5\xA5\x91\xE7\xB4\x84.pdf"},
    {"\xF0\x9F\x93\x84.pdf", "\xF0\x9F\x93\x84.pdf"},
    /* ends */
    {"ends with dots...", "ends with dots.pdf"},
    {"ends with spaces   ", "ends with spaces.pdf"},
    {"ends with both . . .pdf", "ends with both.pdf"},
    {"  begins", "begins.pdf"},
    {"", "document.pdf"},
    {"   ", "document.pdf"},
    {".pdf", "document.pdf"},
    {".hidden", "_.hidden.pdf"},
    /* devices */
    {"CON", "_CON.pdf"},
    {"nul.pdf", "_nul.pdf"},
    {"Aux.tar.pdf", "_Aux.tar.pdf"},
    {"prn .pdf", "_prn.pdf"},
    {"COM1.pdf", "_COM1.pdf"},
    {"lpt\xC2\xB9.pdf", "_lpt\xC2\xB9.pdf"},
    {"conin$", "_conin$.pdf"},
    {"COM10.pdf", "COM10.pdf"},
    {"console.pdf", "console.pdf"},
    {"  con", "_con.pdf"},
};

static void names(apr_pool_t *pool)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        is_str(sr_file_name(ROWS[i].name, ".pdf", NULL, pool), ROWS[i].file, "%s", ROWS[i].file);
}

static void same_names(apr_pool_t *pool)
{
    static const char *const rows[][2] = {{"a.pdf", "a.pdf"},
                                          {"A.pdf", "A (2).pdf"},
                                          {"a", "a (3).pdf"},
                                          {"a (2).pdf", "a (2) (2).pdf"},
                                          {"a:b", "a_b.pdf"},
                                          {"a?b", "a_b (2).pdf"},
                                          {"e\xCC\x81", "\xC3\xA9.pdf"},
                                          {"\xC3\x89", "\xC3\x89 (2).pdf"}};
    apr_hash_t *taken = apr_hash_make(pool);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is_str(sr_file_name(rows[i][0], ".pdf", taken, pool), rows[i][1], "%s", rows[i][1]);
}

static void long_names(apr_pool_t *pool)
{
    apr_hash_t *taken = apr_hash_make(pool);
    char text[1201] = "";
    for (int i = 0; i < 300; i++) strcat(text, "e\xCC\xA3"); /* a letter of one byte and its accent of two */
    for (int i = 0; i < 1000; i++) {
        const char *name = sr_file_name(text, ".pdf", taken, pool);
        if (strlen(name) > SR_FILE_NAME_MAX || !sr_text_is_utf8(name, strlen(name))) is_str(name, "", "a long name");
    }
    const char *last = sr_file_name(text, ".pdf", taken, pool);
    ok(strstr(last, " (1001).pdf") != NULL, "1,001 long names differ: %s", last);
    memset(text, 'x', 1200);
    for (int i = 1; i < 1200; i += 2) memcpy(text + i - 1, "\xCC\xA3", 2);
    is_str(sr_file_name(text, ".pdf", NULL, pool), "document.pdf", "accents without a letter");
}

int main(void)
{
    apr_pool_t *pool;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    names(pool);
    same_names(pool);
    long_names(pool);
    return done();
}
