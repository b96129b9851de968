/* pdf_places.c: signers who sign in several places, in a document that nobody has signed and in one that others have
 * signed before. What is added must be signature fields alone, each with one widget, and the fields of one signer have
 * one signature. Other programs are asked whether an earlier signature is as good as before: qpdf, pdfsig, mutool,
 * openssl, and pyHanko where it is at hand. */
#include "changes_make.h"

/* Whether all new fields behind `from` are signature fields with one widget each. */
static void test_structure(const pdf_t *pdf, size_t from, const char *name)
{
    pdf_t words = {0};
    for (size_t i = from; i < pdf->size; i++) pdf_add(&words, pdf->data[i] ? pdf->data + i : " ", 1);
    const char *text = words.data;
    int fields = seal_count(text, "/FT/") + seal_count(text, "/FT /");
    ok(fields > 0, "%s: fields were added", name);
    is_int(seal_count(text, "/FT/Sig") + seal_count(text, "/FT /Sig"), fields, "%s: all are signature fields", name);
    is_int(seal_count(text, "/Kids"), 0, "%s: each has one widget", name);
    free(words.data);
}

static const char *root_file(void)
{
    BIO *pem = BIO_new(BIO_s_mem());
    char *text;
    PEM_write_bio_X509(pem, bench.key.certificate);
    long length = BIO_get_mem_data(pem, &text);
    seal_write(&bench, "root.pem", text, (size_t)length);
    BIO_free(pem);
    return "root.pem";
}

static void test_judge(const char *file, int fields)
{
    const char *judge = getenv("SIGREQ_JUDGE") ? getenv("SIGREQ_JUDGE") : "/work/shared/judges/judge";
    int status;
    const char *said = seal_run(&status, &bench, bench.pool, "/usr/bin/python3 %s --roots %s %s", judge,
                                root_file(), file);
    if (status == 77 || *said != '{') {
        skip("pyHanko, the judge of others, is not at hand ($SIGREQ_JUDGE)");
        return;
    }
    is_int(status, 0, "%s: pyHanko trusts every signature", file);
    is_int(seal_count(said, "\"bottom_line\": true"), fields, "%s: … in all fields", file);
    if (status) printf("# %s\n", said);
}

/* `last`: how many fields show the last signature. */
static void test_others(const pdf_t *pdf, const char *file, int fields, int last)
{
    int status;
    const char *said;
    seal_write(&bench, file, pdf->data, pdf->size);
    said = seal_run(&status, &bench, bench.pool, "qpdf --check %s", file);
    is_int(status, 0, "%s: qpdf has nothing to say%s", file, status ? said : "");
    said = seal_run(&status, &bench, bench.pool, "pdfsig -nocert %s", file);
    is_int(seal_count(said, "Signature is Valid"), fields, "%s: pdfsig finds a valid signature in each field", file);
    said = seal_run(&status, &bench, bench.pool, "mutool sign -v %s", file);
    int unchanged = seal_count(said, "The document is unchanged since signing");
    int intact = unchanged + seal_count(said, "The signature is valid but there have been edits since signing");
    if (status == 127) skip("mutool is not installed (mupdf-tools)");
    else ok(intact == fields && unchanged == last, "%s: mutool says the same", file);
    test_judge(file, fields);
}

int main(void)
{
    bench = seal_begin(8000);
    pdf_t fresh = changes_contract();
    size_t upload = fresh.size;
    changes_sign(&fresh, "ann", 3, bench.pool);
    is_str(changes_said(&fresh, bench.pool), "signed", "three places in a document that nobody has signed");
    test_structure(&fresh, upload, "fresh");
    test_others(&fresh, "fresh.pdf", 3, 3);

    size_t signed_size = fresh.size;
    changes_sign(&fresh, "bob", 2, bench.pool);
    changes_sign(&fresh, "carol", 1, bench.pool);
    is_str(changes_said(&fresh, bench.pool), "signed", "two places in a document that was signed before");
    test_structure(&fresh, signed_size, "again");
    test_others(&fresh, "again.pdf", 6, 1);
    free(fresh.data);
    return seal_end(&bench);
}
