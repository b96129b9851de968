/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_encrypted.c: documents that are encrypted and open without a password, by all methods: each is prepared,
 * confirmed, filled by two signers, and verified here, by pdfsig and by qpdf, which decrypts it: all strings and
 * streams that were added must then be what they are in the same document without encryption. */
#include "pdf_said.h"

#include <sys/stat.h>

static const struct {
    const char *name, *options;
} WAYS[] = {
    {"plain", NULL},
    {"rc4-40", "--encrypt '' owner 40 --"},
    {"rc4-128", "--encrypt '' owner 128 --use-aes=n --"},
    {"rc4-128-v4", "--encrypt '' owner 128 --use-aes=n --force-V4 --"},
    {"aes-128", "--encrypt '' owner 128 --use-aes=y --"},
    {"aes-128-cleartext", "--encrypt '' owner 128 --use-aes=y --cleartext-metadata --"},
    {"aes-256", "--encrypt '' owner 256 --"},
    {"aes-256-r5", "--encrypt '' owner 256 --force-R5 --"},
    {"aes-256-cleartext", "--encrypt '' owner 256 --cleartext-metadata --"},
    {"aes-256-forms", "--encrypt '' owner 256 --modify=form --"},
    {"no-owner", "--encrypt '' '' 128 --use-aes=y --"},
    {"object-streams", "--object-streams=generate --encrypt '' owner 256 --"},
    {"object-streams-40", "--object-streams=generate --encrypt '' owner 40 --"},
};
#define WAYS_COUNT (sizeof WAYS / sizeof *WAYS)

static const char *const NAMES[2] = {"Ann (\\ Lee", "Zo\xc3\xab"};

static pdf_t read_file(const char *path)
{
    char piece[65536];
    pdf_t pdf = {0};
    FILE *file = fopen(path, "rb");
    if (!file) abort();
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;) pdf_add(&pdf, piece, got);
    fclose(file);
    return pdf;
}

/* A form with texts of its own, annotations with texts, tags. */
static pdf_t document(void)
{
    return pdf_document(&(pdf_parts_t){
        .pages = 1,
        .page = "/MediaBox[0 0 612 792]/Contents 4 0 R/Annots[<</Type/Annot/Subtype/Text/Rect[1 1 9 9]"
                "/Contents(a \\(note\\) \\\\)>> 5 0 R]",
        .catalog = "/Lang(de)/AcroForm<</DA(/Helv 0 Tf 0 g)/Fields[5 0 R]>>/StructTreeRoot 6 0 R",
        .trailer = "/ID[<0102><0304>]",
        .objects = {"<</Length 36>>stream\nBT /F 24 Tf 72 700 Td (1 euro) Tj ET\nendstream",
                    "<</Type/Annot/Subtype/Widget/FT/Tx/T<FEFF00DC>/V(old)/Rect[300 300 400 320]/P 3 0 R>>",
                    "<</Type/StructTreeRoot/K 7 0 R/ParentTree 8 0 R>>",
                    "<</Type/StructElem/S/Document/P 6 0 R/T(all of it)>>", "<</Nums[]>>"}});
}

/* The document, encrypted in one of the ways. */
static pdf_t made(size_t way)
{
    pdf_t plain = document();
    if (!WAYS[way].options) return plain;
    const char *from = make_file("plain.pdf", plain.data, plain.size, root);
    const char *to = make_file("encrypted.pdf", "", 0, root);
    if (make_run("qpdf --allow-weak-crypto --static-id %s '%s' '%s'", WAYS[way].options, from, to)) abort();
    free(plain.data);
    return read_file(to);
}

static const char *prepare(pdf_t *pdf)
{
    sr_pdf_update_t update = {0};
    sr_pdf_confirmed_t confirmed;
    apr_array_header_t *fields = apr_array_make(root, 4, sizeof(sr_pdf_field_t));
    for (int i = 0; i < 4; i++) {
        // NOLINTNEXTLINE(bugprone-integer-division): pairs
        double x = 20 + 200 * (i / 2), y = i % 2 ? 20 : 80;
        sr_pdf_field_t field = {.signer = apr_psprintf(root, "s%d", i / 2), .rect = {x, y, x + 135, y + 40}};
        APR_ARRAY_PUSH(fields, sr_pdf_field_t) = field;
    }
    int fd = help_descriptor(pdf->data, pdf->size);
    sr_error_t *error = sr_pdf_prepare(&update, workers, fd, (apr_off_t)pdf->size, fields, root);
    close(fd);
    if (error || update.fault) return error ? error->message : update.reason;
    pdf->base = pdf->size;
    pdf->prepared = update.length;
    pdf_add(pdf, update.bytes, update.length);
    fd = help_descriptor(pdf->data, pdf->size);
    error = sr_pdf_confirm(&confirmed, workers, fd, (apr_off_t)pdf->base, fields, root);
    close(fd);
    return error ? error->message : confirmed.reason;
}

static const char *fill(pdf_t *pdf, int signer)
{
    const unsigned char *der;
    apr_size_t length;
    sr_pdf_revision_t revision = {0};
    sr_pdf_signature_t signature = {.signer = apr_psprintf(root, "s%d", signer),
                                    .base_size = (apr_off_t)pdf->base,
                                    .prepared_size = pdf->prepared,
                                    .name = NAMES[signer],
                                    .reason = NAMES[1 - signer],
                                    .contact = "Example Ltd",
                                    .time = apr_time_from_sec(1800000000 + signer),
                                    .test = true,
                                    .captions = help_captions("Caption (1)", root),
                                    .text = "Ann"};
    int fd = help_descriptor(pdf->data, pdf->size);
    sr_error_t *error = sr_pdf_fill(&revision, workers, fd, (apr_off_t)pdf->size, &signature, root);
    close(fd);
    if (!error && !revision.fault) error = sr_cms_sign(&der, &length, ec, revision.digest, root);
    if (!error && !revision.fault) error = sr_pdf_seal(&revision, der, length, root);
    if (error || revision.fault) return error ? error->message : revision.reason;
    pdf_add(pdf, revision.bytes, revision.length);
    return NULL;
}

static void test_found(const pdf_t *pdf)
{
    sr_pdf_verification_t found = {0};
    sr_error_t *error = verify(&found, pdf, root);
    is_str(say(error, &found, root), "signed; intact ours later=1; intact whole ours later=0",
           "both signatures are found");
    for (int i = 0; !error && i < found.count; i++) {
        const sr_pdf_found_t *one = &found.signatures[i];
        is_str(one->name, NAMES[i], "the signature has the name of the signer");
        is_str(one->reason, NAMES[1 - i], "the signature has the reason");
        is_str(one->contact, "Example Ltd", "the signature says for whom it was requested");
        is_int(apr_time_sec(one->claimed), 1800000000 + i, "the signature has its time");
    }
    ok(!found.changed && !found.incomparable, "nothing was changed between the signatures, and they could be compared");
}

static void test_others(const pdf_t *pdf, const char *name)
{
    const char *file = make_file(apr_psprintf(root, "%s.pdf", name), pdf->data, pdf->size, root);
    const char *image = apr_psprintf(root, "%s-image", file);
    is_int(make_run("qpdf --check '%s'", file), 0, "qpdf finds nothing wrong");
    is_int(make_run("qpdf --decrypt --qdf --no-original-object-ids --static-id '%s' - | grep -a -v Encrypt >'%s.txt'",
                    file, file),
           0, "qpdf decrypts the document");
    const pdf_t text = read_file(apr_psprintf(root, "%s.txt", file));
    static const char *const words[] = {"(Signature_s0)",      "(Signature_s1_2)",
                                        "/TU (Signature)",     "(Ann \\(\\\\ Lee)",
                                        "(a \\(note\\) \\\\)", "(Example Ltd)",
                                        "(D:20270115080001Z)", "(de)",
                                        "1 .78 .78 RG",        "/ActualText(Caption \\(1\\))"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ok(memmem(text.data, text.size, words[i], strlen(words[i])) != NULL, "the decrypted document has %s", words[i]);
    free(text.data);
    if (!make_has("pdfsig") || !make_has("pdftoppm")) {
        skip("pdfsig is not installed (poppler-utils)");
        return;
    }
    is_int(make_run("test $(pdfsig -nocert '%s' | grep -c 'Signature is Valid') = 4", file), 0,
           "pdfsig calls all signatures valid");
    is_int(make_run("pdftoppm -r 40 '%s' '%s' && cmp '%s-1.ppm' '%s/plain.pdf-image-1.ppm'", file, image, image,
                    apr_pstrmemdup(root, file, (apr_size_t)(strrchr(file, '/') - file))),
           0, "the document looks like the one without encryption");
}

static void test_way(size_t way)
{
    static const char *const secrets[] = {"Signature_s0", "Example Ltd", "Ann (", "D:2027", ".78 .78", "(Caption"};
    pdf_t pdf = made(way);
    sr_pdf_probe_t probe;
    const char *says = help_say(help_probe(&probe, workers, pdf.data, pdf.size, root), &probe, root);
    ok(probe.verdict == SR_PDF_ACCEPTED && strstr(says, "\"normalise\":false"), "%s: accepted: %.60s", WAYS[way].name,
       says);
    is_str(prepare(&pdf), NULL, "the document is prepared, and confirmed by another worker");
    is_said(&pdf, "unsigned", "the prepared document is not signed yet");
    is_str(fill(&pdf, 0), NULL, "the first signature is made");
    is_str(fill(&pdf, 1), NULL, "the second signature is made");
    for (size_t i = 0; WAYS[way].options && i < sizeof secrets / sizeof *secrets; i++)
        ok(!memmem(pdf.data, pdf.size, secrets[i], strlen(secrets[i])), "the encrypted document does not show %s",
           secrets[i]);
    test_found(&pdf);
    test_others(&pdf, WAYS[way].name);
    free(pdf.data);
}

static void test_refused(const char *options, const char *want)
{
    pdf_t plain = document();
    sr_pdf_probe_t probe;
    const char *from = make_file("plain.pdf", plain.data, plain.size, root);
    const char *to = make_file("encrypted.pdf", "", 0, root);
    if (make_run("qpdf --allow-weak-crypto --static-id %s '%s' '%s'", options, from, to)) abort();
    pdf_t pdf = read_file(to);
    const char *says = help_say(help_probe(&probe, workers, pdf.data, pdf.size, root), &probe, root);
    is_str(says, want, "%s", options);
    free(pdf.data);
    free(plain.data);
}

/* After an upload whose first identifier is empty, which is part of the key: it stays empty. */
static void test_identifier(void)
{
    static const char before[] = "/ID [<0102>", after[] = "/ID [<    >";
    pdf_t pdf = made(6);
    char *id = memmem(pdf.data, pdf.size, before, sizeof before - 1);
    if (!id) abort();
    memcpy(id, after, sizeof after - 1);
    is_str(prepare(&pdf), NULL, "a document without an identifier is prepared");
    ok(memmem(pdf.data + pdf.base, pdf.prepared, "/ID[<><", 7) != NULL, "a document without an identifier gets none");
    is_str(fill(&pdf, 0), NULL, "a document without an identifier is signed");
    is_said(&pdf, "signed; intact whole ours later=0", "the signature of a document without an identifier is verified");
    free(pdf.data);
}

/* An update behind a signature that has no objects. With AES-256 the key does not depend on the identifier, but that is
 * not what is relied on. */
static void test_changed(const char *from, const char *to, bool changed)
{
    pdf_t pdf = made(6);
    is_str(prepare(&pdf), NULL, "prepared");
    is_str(fill(&pdf, 0), NULL, "signed");
    char *trailer = NULL, *end = NULL, *text;
    for (char *at = pdf.data; (at = memmem(at, (size_t)(pdf.data + pdf.size - at), "trailer\n", 8)); at++) trailer = at;
    end = strstr(trailer, "startxref\n");
    const char *keys = apr_pstrmemdup(root, trailer, (apr_size_t)(strstr(trailer, "/Prev") - trailer));
    const char *start = apr_pstrmemdup(root, end + 10, strcspn(end + 10, "\n"));
    const char *found = strstr(keys, from);
    if (!found) abort();
    text = apr_pstrcat(root, apr_pstrmemdup(root, keys, (apr_size_t)(found - keys)), to, found + strlen(from), NULL);
    pdf_print(&pdf, "xref\n0 1\n0000000000 65535 f \n%s/Prev %s>>\nstartxref\n%zu\n%%%%EOF\n", text, start, pdf.size);
    sr_pdf_verification_t found_in = {0};
    sr_error_t *error = verify(&found_in, &pdf, root);
    is_str(say(error, &found_in, root), "extended; intact ours later=1", "the signed document is extended");
    const char *const *changes = error ? NULL : found_in.signatures[0].changes;
    is_int(changes && *changes, changed, "%s becomes %s: %s", from, to, changed ? "a change" : "no change");
    free(pdf.data);
}

int main(void)
{
    said_begin();
    for (size_t i = 0; i < WAYS_COUNT; i++) test_way(i);
    test_refused("--encrypt user owner 256 --", "password");
    test_identifier();
    test_changed("/ID[<0", "/ID[<0", false);
    test_changed("/ID[<0", "/ID[<4", true);
    return said_end();
}
