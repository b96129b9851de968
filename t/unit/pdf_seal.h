/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_seal.h: what the tests of sealing share: a throw-away key and its CMS (as docs/signed-pdf.md says), a document
 * that grows by being prepared and filled, and the programs that judge it: pdfsig, qpdf, pdftoppm. */
#ifndef SR_TEST_PDF_SEAL_H
#define SR_TEST_PDF_SEAL_H

#include "pdf_help.h"

#include <fcntl.h>
#include <openssl/cms.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

typedef struct seal_key_t {
    EVP_PKEY *key;
    X509 *certificate;
} seal_key_t;

static inline seal_key_t seal_key(void)
{
    seal_key_t made = {EVP_EC_gen("P-256"), X509_new()};
    X509 *x = made.certificate;
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x), 86400);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, (const unsigned char *)"throw-away", -1,
                               -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    X509_set_pubkey(x, made.key);
    if (!X509_sign(x, made.key, EVP_sha256())) abort();
    return made;
}

typedef struct seal_attribute_t {
    unsigned char *der;
    int size;
} seal_attribute_t;

static inline int seal_compare(const void *a, const void *b)
{
    const seal_attribute_t *left = a, *right = b;
    int order = memcmp(left->der, right->der, (size_t)(left->size < right->size ? left->size : right->size));
    return order ? order : left->size - right->size;
}

/* Signs the SET OF attributes itself, because CMS_final would add a signing time. */
static inline void seal_sign(CMS_SignerInfo *signer, EVP_PKEY *key)
{
    seal_attribute_t list[16];
    unsigned char set[4096], *at = set, *signature;
    int count = CMS_signed_get_attr_count(signer), total = 0;
    for (int i = 0; i < count; i++) {
        list[i] = (seal_attribute_t){0};
        list[i].size = i2d_X509_ATTRIBUTE(CMS_signed_get_attr(signer, i), &list[i].der);
        total += list[i].size;
    }
    qsort(list, (size_t)count, sizeof *list, seal_compare);
    ASN1_put_object(&at, 1, total, V_ASN1_SET, V_ASN1_UNIVERSAL);
    for (int i = 0; i < count; i++) {
        memcpy(at, list[i].der, (size_t)list[i].size);
        at += list[i].size;
        OPENSSL_free(list[i].der);
    }
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t size = 0;
    if (EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) <= 0) abort();
    if (EVP_DigestSign(context, NULL, &size, set, (size_t)(at - set)) <= 0) abort();
    signature = OPENSSL_malloc(size);
    if (EVP_DigestSign(context, signature, &size, set, (size_t)(at - set)) <= 0) abort();
    EVP_MD_CTX_free(context);
    ASN1_STRING_set0(CMS_SignerInfo_get0_signature(signer), signature, (int)size);
}

/* The DER of a CMS over a digest; OPENSSL_free it. */
static inline int seal_cms(unsigned char **der, const seal_key_t *key, const unsigned char *digest)
{
    CMS_ContentInfo *cms = CMS_sign(NULL, NULL, NULL, NULL, CMS_PARTIAL | CMS_DETACHED | CMS_BINARY);
    CMS_SignerInfo *signer = CMS_add1_signer(cms, key->certificate, key->key, EVP_sha256(),
                                             CMS_PARTIAL | CMS_BINARY | CMS_NOSMIMECAP | CMS_CADES);
    if (!signer) abort();
    CMS_signed_add1_attr_by_NID(signer, NID_pkcs9_contentType, V_ASN1_OBJECT, OBJ_nid2obj(NID_pkcs7_data), -1);
    CMS_signed_add1_attr_by_NID(signer, NID_pkcs9_messageDigest, V_ASN1_OCTET_STRING, digest, 32);
    seal_sign(signer, key->key);
    *der = NULL;
    int size = i2d_CMS_ContentInfo(cms, der);
    CMS_ContentInfo_free(cms);
    return size;
}

/* ------------------------------------------------------------------------------------------- a document and its life
 */

typedef struct seal_bench_t {
    sr_pdf_pool_t *workers;
    seal_key_t key;
    char folder[64]; /* for files that programs look at */
    apr_pool_t *pool;
} seal_bench_t;

static inline seal_bench_t seal_begin(int timeout_ms)
{
    seal_bench_t bench = {.key = seal_key()};
    apr_initialize();
    apr_pool_create(&bench.pool, NULL);
    bench.workers = help_pool(help_program(), 1, timeout_ms, bench.pool);
    snprintf(bench.folder, sizeof bench.folder, "/tmp/sigreq-seal.XXXXXX");
    if (!mkdtemp(bench.folder)) abort();
    return bench;
}

static inline int seal_end(seal_bench_t *bench)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", bench->folder);
    if (system(command)) abort();
    apr_pool_destroy(bench->pool);
    X509_free(bench->key.certificate);
    EVP_PKEY_free(bench->key.key);
    return done();
}

static inline sr_pdf_field_t seal_field(const char *signer, int page, double x0, double y0, double x1, double y1)
{
    return (sr_pdf_field_t){.signer = signer, .page = page, .rect = {x0, y0, x1, y1}};
}

static inline apr_array_header_t *seal_fields(const sr_pdf_field_t *fields, int count, apr_pool_t *pool)
{
    apr_array_header_t *list = apr_array_make(pool, count, sizeof *fields);
    for (int i = 0; i < count; i++) APR_ARRAY_PUSH(list, sr_pdf_field_t) = fields[i];
    return list;
}

/* NULL, or why not: the error's cause or the fault's reason, which live in `pool`. */
static inline const char *seal_prepare(const seal_bench_t *bench, pdf_t *pdf, const sr_pdf_field_t *fields, int count,
                                       apr_pool_t *pool)
{
    sr_pdf_update_t update;
    apr_array_header_t *list = seal_fields(fields, count, pool);
    int fd = help_descriptor(pdf->data, pdf->size);
    sr_error_t *error = sr_pdf_prepare(&update, bench->workers, fd, (apr_off_t)pdf->size, list, pool);
    close(fd);
    if (error) return error->cause;
    if (update.fault) return update.reason;
    pdf->base = pdf->size;
    pdf->prepared = update.length;
    pdf_add(pdf, update.bytes, update.length);
    sr_pdf_confirmed_t confirmed;
    fd = help_descriptor(pdf->data, pdf->size);
    error = sr_pdf_confirm(&confirmed, bench->workers, fd, (apr_off_t)pdf->base, list, pool);
    close(fd);
    return error ? error->cause : confirmed.reason;
}

static inline const char *seal_fill(const seal_bench_t *bench, pdf_t *pdf, sr_pdf_signature_t *signature,
                                    apr_pool_t *pool)
{
    signature->base_size = (apr_off_t)pdf->base;
    signature->prepared_size = pdf->prepared;
    sr_pdf_revision_t revision;
    int fd = help_descriptor(pdf->data, pdf->size);
    sr_error_t *error = sr_pdf_fill(&revision, bench->workers, fd, (apr_off_t)pdf->size, signature, pool);
    close(fd);
    if (error) return error->cause;
    if (revision.fault) return revision.reason;
    unsigned char *der;
    int size = seal_cms(&der, &bench->key, revision.digest);
    error = sr_pdf_seal(&revision, der, (apr_size_t)size, pool);
    OPENSSL_free(der);
    if (error) return error->message;
    if (strcmp(revision.document_sha256, sr_sha256_hex(pdf->data, pdf->size, pool)) != 0) return "a wrong hash before";
    pdf_add(pdf, revision.bytes, revision.length);
    return strcmp(revision.sha256, sr_sha256_hex(pdf->data, pdf->size, pool)) ? "a wrong hash afterwards" : NULL;
}

static inline sr_ink_t *seal_ink(const char *json, apr_pool_t *pool)
{
    json_t *drawn;
    sr_ink_t *ink = NULL;
    if (sr_json_parse(&drawn, json, strlen(json), pool) || sr_ink_parse(&ink, drawn, pool)) abort();
    return ink;
}

#define SEAL_INK                                                                                                       \
    "{\"width\":300,\"height\":100,\"strokes\":[[[10,80],[60,10],[70,90],[90,40],[120,85],[140,50],[160,85,0.9],"      \
    "[200,20,0.2],[290,60]],[[30,50],[110,50]],[[250,20]]]}"

/* ------------------------------------------------------------------------------------------------ what others say */

static inline void seal_write(const seal_bench_t *bench, const char *name, const void *data, size_t size)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", bench->folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file)) abort();
}

/* Runs a shell command in the folder, which is killed after five minutes. Its output is read from *from. */
static inline pid_t seal_start(int *from, const seal_bench_t *bench, const char *command)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) abort();
    const pid_t child = fork();
    if (child < 0) abort();
    if (child == 0) {
        alarm(300); /* stays through exec */
        if (dup2(ends[1], 1) < 0 || dup2(1, 2) < 0 || chdir(bench->folder)) _exit(126);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *from = ends[0];
    return child;
}

/* The output of a command in the folder; *status is its exit status, and 124 if a signal ended it. */
__attribute__((format(printf, 4, 5))) static inline const char *seal_run(int *status, const seal_bench_t *bench,
                                                                         apr_pool_t *pool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *command = apr_pvsprintf(pool, format, arguments);
    va_end(arguments);
    int from, ended;
    const pid_t child = seal_start(&from, bench, apr_pstrcat(pool, "exec ", command, NULL));
    pdf_t text = {0};
    char piece[4096];
    for (ssize_t got; (got = read(from, piece, sizeof piece)) > 0;) pdf_add(&text, piece, (size_t)got);
    close(from);
    if (waitpid(child, &ended, 0) != child) abort();
    *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 124;
    const char *out = text.data ? apr_pstrmemdup(pool, text.data, text.size) : "";
    free(text.data);
    return out;
}

/* What pyHanko says of files in the folder, trusting the bench's certificate: a line of JSON for each. Skips and
 * returns NULL if it is missing. */
static inline const char *seal_pyhanko(int *status, const seal_bench_t *bench, const char *files, apr_pool_t *pool)
{
    const char *judge = getenv("SIGREQ_JUDGE");
    BIO *pem = BIO_new(BIO_s_mem());
    char *text;
    PEM_write_bio_X509(pem, bench->key.certificate);
    long length = BIO_get_mem_data(pem, &text);
    seal_write(bench, "root.pem", text, (size_t)length);
    BIO_free(pem);
    const char *said =
        judge ? seal_run(status, bench, pool, "/usr/bin/python3 '%s' --roots root.pem %s", judge, files) : "";
    if (*said == '{') return said;
    skip("pyHanko, a judge of signatures, is missing ($SIGREQ_JUDGE)");
    return NULL;
}

/* Without white space, where lines may have been broken. */
static inline const char *seal_squeeze(const char *text, apr_pool_t *pool)
{
    char *copy = apr_pstrdup(pool, text), *to = copy;
    for (; *text; text++)
        if (!strchr(" \n\f", *text)) *to++ = *text;
    *to = '\0';
    return copy;
}

static inline int seal_count(const char *text, const char *word)
{
    int count = 0;
    while ((text = strstr(text, word))) {
        count++;
        text += strlen(word);
    }
    return count;
}

/* Whether pdfsig has found `signers` signatures, valid in every field that shows them, and the last one over the whole
 * file; else NULL is not returned but what it said. It lists fields: those of one signature have the same ranges. */
static inline const char *seal_pdfsig_says(const char *said, int signers, apr_pool_t *pool)
{
    static const char key[] = "- Signed Ranges: ";
    const char *last = said;
    int fields = 0, signatures = 0;
    for (const char *at = said; (at = strstr(at, key)); at++, fields++) {
        const char *ranges = apr_pstrndup(pool, at, strcspn(at, "\n"));
        if (strstr(said, ranges) == at) signatures++; /* not before */
        last = at;
    }
    bool good = signatures == signers && strstr(last, "Total document signed")
                && seal_count(said, "Signature Validation: Signature is Valid.") == fields
                && seal_count(said, "Signature #") == fields;
    return good ? NULL : said;
}

static inline const char *seal_pdfsig(const seal_bench_t *bench, const char *name, int signers, apr_pool_t *pool)
{
    int status;
    return seal_pdfsig_says(seal_run(&status, bench, pool, "pdfsig -nocert '%s'", name), signers, pool);
}

#endif
