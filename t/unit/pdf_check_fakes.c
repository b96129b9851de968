/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_check_fakes.c: how the client handles forged responses about signatures. Signatures come from others, so they
 * may take the helper over, and it may respond anything. Only responses that a real worker can send are accepted,
 * and a signature counts as ours only if our key has made it. This program is also the fake helper. */
#include "fake_helper.h"
#include "pdf_said.h"

#include <apr_encode.h>

static char script[] = "/tmp/sigreq-check-XXXXXX";

#define LIMITS "unchecked; unchecked later=0: it could not be checked within the limits"
#define UNPROVED                                                                                                       \
    "unchecked; unchecked later=0: it names the certificate of this service, and it cannot be confirmed that its key " \
    "made it"

typedef struct lie_t {
    const char *find, *put, *says;
    int notices;
} lie_t;

static const lie_t LIES[] = {
    {"{", "{", "signed; intact whole ours later=0", 0},
    {"\"results\"", "\"result\"", LIMITS, 2},
    {"[{", "[{},{", LIMITS, 2},
    {"[{", "[7,{", LIMITS, 2},
    {"\"state\":\"intact\"", "\"state\":\"perfect\"", LIMITS, 2},
    {"\"state\":\"intact\"", "\"state\":0", LIMITS, 2},
    {"\"state\":\"intact\"", "\"state\":\"broken\"", LIMITS, 2},
    {"\"trust\":\"unknown\"", "\"trust\":\"trusted\"", LIMITS, 2},
    {"\"trust\":\"unknown\"", "\"trust\":\"untrusted\",\"distrust\":\"it is odd\"", LIMITS, 2},
    {"\"trust\"", "\"distrust\":\"it is odd\",\"trust\"", LIMITS, 2},
    {"\"trust\"", "\"fault\":\"it is odd\",\"trust\"", LIMITS, 2},
    {"\"hash\":\"SHA256\"", "\"hash\":\"MD5\"", LIMITS, 2},
    {"\"hash\":\"SHA256\"", "\"hash\":\"SHA384\"", LIMITS, 2},
    {"\"hash\":\"SHA256\"", "\"hush\":1", LIMITS, 2},
    {"\"bound\":true", "\"bound\":1", LIMITS, 2},
    {"\"level\":\"B-B\"", "\"level\":\"B-C\"", LIMITS, 2},
    {"\"level\":\"B-B\"", "\"level\":\"none\"", LIMITS, 2},
    {"\"level\"", "\"lever\"", LIMITS, 2},
    {"\"proven\":0", "\"proven\":1", LIMITS, 2},
    {"\"stamp\"", "\"stump\"", LIMITS, 2},
    {"\"stamp\":{\"state\":\"none\"", "\"stamp\":{\"state\":\"valid\"", LIMITS, 2},
    {"\"stamp\":{\"state\":\"none\"", "\"stamp\":{\"authority\":\"a\",\"state\":\"valid\"", LIMITS, 2},
    {"\"stamp\":{\"state\":\"none\"", "\"stamp\":{\"state\":\"broken\"", LIMITS, 2},
    {"\"stamp\":{\"state\":\"none\"", "\"stamp\":{\"fault\":\"it is odd\",\"state\":\"none\"", LIMITS, 2},
    {"\"stamp\":{\"state\":\"none\"", "\"stamp\":{\"state\":7", LIMITS, 2},
    {"\"expired\":false", "\"expired\":null", LIMITS, 2},
    {"\"time\":0", "\"time\":\"0\"", LIMITS, 2},
    {"\"time\":0", "\"time\":253402300800", LIMITS, 2},
    {"\"algorithm\":\"", "\"algorithm\":\"\\u0007", LIMITS, 2},
    {"\"algorithm\":\"", "\"algorithm\":\"caf\xc3\xa9 ", LIMITS, 2},
    {"\"algorithm\"", "\"rhythm\"", LIMITS, 2},
    {"\"signer\"", "\"singer\"", LIMITS, 2},
    {"\"sha256\":\"", "\"sha256\":\"0", LIMITS, 2},
    {"\"serial\":\"", "\"serial\":\"no", LIMITS, 2},
    {"\"subject\":\"", "\"subject\":7,\"sub\":\"", LIMITS, 2},
    {"\"until\":", "\"until\":9999999", LIMITS, 2},
    {"\"digest\":\"", "\"digest\":\"!", LIMITS, 2},
    {"\"digest\":\"", "\"digest\":\"AAAA", LIMITS, 2},
    {"\"signature\":\"", "\"signature\":\"!", LIMITS, 2},
    {"\"attributes\":\"", "\"attributes\":7,\"other\":\"", LIMITS, 2},
    /* well formed, and not true */
    {"\"signature\":\"", "\"signature\":\"AAAA", UNPROVED, 0},
    {"\"signature\":\"", "\"signature\":\"\",\"other\":\"", UNPROVED, 0},
    {"\"attributes\":\"", "\"attributes\":\"AAAA", UNPROVED, 0},
    {"\"bound\":true", "\"bound\":false",
     "broken; broken later=0: it does not say by which certificate it was made, as "
     "its kind must",
     0},
    {"\"timestamp\":false", "\"timestamp\":true", LIMITS, 2},
    {"\"level\":\"B-B\",\"timestamp\":false", "\"level\":\"none\",\"timestamp\":true",
     "broken; broken later=0: its kind is not the one that the document states", 0},
    /* of a certificate of others the helper's word is all there is */
    {"\"name\":\"seal\",\"subject\":\"CN=seal\"", "\"name\":\"a\\u0007b\",\"subject\":\"\\u202e\"",
     "signed; intact whole ours later=0", 0},
    {NULL, "die", LIMITS, 2},
};

/* ----------------------------------------------------------------------------------------------- the helper */

static const char *read_text(const char *ending)
{
    static char text[20000];
    FILE *file = fopen(apr_pstrcat(root, script, ending, NULL), "r");
    if (!file) abort();
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* Serves one request. A worker that is asked for signatures is given nothing but them. */
static int act(void)
{
    fake_request_t request;
    if (!fake_receive(&request, root)) return 1;
    bool check = strstr(request.text, "\"check\"") != NULL;
    if (check && request.descriptors[0] >= 0) return 1;
    const char *response = read_text(check ? ".check" : ".list");
    if (!strcmp(response, "die")) raise(SIGKILL);
    return fake_reply(&request, response, root);
}

/* -------------------------------------------------------------------------------------------------- the test */

static void write_text(const char *ending, const char *text)
{
    FILE *file = fopen(apr_pstrcat(root, script, ending, NULL), "w");
    if (!file || fputs(text, file) < 0 || fclose(file)) abort();
}

static json_t *base64(const sr_cms_bytes_t *bytes)
{
    return json_string(apr_pencode_base64_binary(root, bytes->data, (apr_ssize_t)bytes->length, 0, NULL));
}

/* What a true helper says of the signature. */
static const char *truth(const pdf_t *pdf, const signed_t *at)
{
    sr_cms_result_t result;
    size_t size = (at->gap_end - at->gap - 2) / 2;
    unsigned char *der = apr_palloc(root, size);
    for (size_t i = 0; i < size; i++) {
        const char digits[] = {pdf->data[at->gap + 1 + 2 * i], pdf->data[at->gap + 2 + 2 * i], '\0'};
        der[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    sr_cms_check(&result, der, size, &(sr_cms_context_t){0}, root);
    const sr_cms_certificate_t *signer = result.signer;
    json_t *one =
        json_pack("{s:s,s:b,s:i,s:{s:s,s:i},s:s,s:s,s:s,s:s,s:b,s:b,s:b,s:i}", "level", "B-B", "timestamp", 0, "proven",
                  0, "stamp", "state", "none", "time", 0, "state", "intact", "trust", "unknown", "algorithm",
                  result.algorithm, "hash", result.hash, "bound", 1, "expired", 0, "premature", 0, "time", 0);
    json_object_set_new(one, "signer",
                        json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:I}", "name", signer->name, "subject", signer->subject,
                                  "issuer", signer->issuer, "serial", signer->serial, "sha256", signer->sha256, "key",
                                  signer->key, "from", (json_int_t)apr_time_sec(signer->from), "until",
                                  (json_int_t)apr_time_sec(signer->until)));
    json_object_set_new(one, "digest", base64(&result.digest));
    json_object_set_new(one, "attributes", base64(&result.attributes));
    json_object_set_new(one, "signature", base64(&result.signature));
    json_t *response = sr_json_own(json_pack("{s:[o]}", "results", one), root);
    char *text = json_dumps(response, JSON_COMPACT);
    const char *kept = apr_pstrdup(root, text);
    free(text);
    return kept;
}

static const char *replace(const char *text, const char *find, const char *put)
{
    const char *at = find ? strstr(text, find) : NULL;
    if (!find) return put;
    if (!at) abort();
    return apr_pstrcat(root, apr_pstrmemdup(root, text, (apr_size_t)(at - text)), put, at + strlen(find), NULL);
}

static void test_lie(const lie_t *lie, const char *told, const pdf_t *pdf)
{
    int before = help_descriptors();
    write_text(".check", replace(told, lie->find, lie->put));
    apr_pool_t *pool;
    sr_pdf_verification_t found;
    apr_pool_create(&pool, root);
    workers = help_pool(script, 1, 1000, pool);
    sr_error_t *error = verify(&found, pdf, pool);
    is_str(say(error, &found, pool), lie->says, "%s", lie->put);
    is_int(help_notices, lie->notices, "with %d notices: %s", help_notices, help_last_notice);
    if (!error && found.signatures[0].signer.ours)
        is_str(found.signatures[0].signer.signer->name, "seal", "our certificate is told in our own words");
    help_notices = 0;
    apr_pool_destroy(pool);
    help_children_t now = help_children();
    ok(now.alive + now.zombies == 0 && help_descriptors() == before, "nothing is left");
}

/* A document that was changed after it was signed, and a helper that gives the digest it has now. */
static void test_forgery(const char *told, const pdf_t *pdf, const signed_t *at)
{
    unsigned char digest[32];
    pdf_t other = copy(pdf);
    char *version = strstr(other.data, "%PDF-1.");
    version[7] = version[7] == '7' ? '6' : '7';
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    EVP_DigestInit_ex(hash, EVP_sha256(), NULL);
    EVP_DigestUpdate(hash, other.data, at->gap);
    EVP_DigestUpdate(hash, other.data + at->gap_end, at->end - at->gap_end);
    EVP_DigestFinal_ex(hash, digest, NULL);
    EVP_MD_CTX_free(hash);
    const char *now = apr_pencode_base64_binary(root, digest, sizeof digest, 0, NULL);
    test_lie(&(lie_t){"{", "{", "broken; broken later=0: the document is not the one that was signed", 0}, told,
             &other);
    const char *put = apr_pstrcat(root, "\"digest\":\"", now, "\",\"old\":\"", NULL);
    test_lie(&(lie_t){"\"digest\":\"", put, UNPROVED, 0}, told, &other);
    const char *stranger = replace(told, "\"digest\":\"", put);
    test_lie(&(lie_t){"\"sha256\":\"",
                      "\"sha256\":\"0000000000000000000000000000000000000000000000000000000000000000\","
                      "\"old\":\"",
                      "signed; intact whole later=0", 0},
             stranger, &other);
    free(other.data);
}

/* What is added to the response about the list of signatures, and whether it is accepted. */
static void test_lists(const char *list, const char *told, const pdf_t *pdf)
{
    static const struct {
        const char *put;
        bool good;
    } lists[] = {
        {"\"proofs\":[{\"kind\":\"crl\",\"at\":9,\"der\":\"AAAA\"}],", true},
        {"\"proofs\":[],", true},
        {"\"proofs\":7,", false},
        {"\"proofs\":[7],", false},
        {"\"proofs\":[{\"kind\":\"crl\",\"at\":\"9\",\"der\":\"AAAA\"}],", false},
        {"\"proofs\":[{\"kind\":\"crl\",\"at\":9}],", false},
        {"\"proofs\":[{\"at\":9,\"der\":\"AAAA\"}],", false},
    };
    write_text(".check", told);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        apr_pool_t *pool;
        sr_pdf_verification_t found;
        apr_pool_create(&pool, root);
        workers = help_pool(script, 1, 1000, pool);
        write_text(".list", replace(list, "{", apr_pstrcat(root, "{", lists[i].put, NULL)));
        sr_error_t *error = verify(&found, pdf, pool);
        const char *wanted =
            lists[i].good ? "signed; intact whole ours later=0" : "unreadable (it could not be read within the limits)";
        is_str(say(error, &found, pool), wanted, "%s", lists[i].put);
        is_int(help_notices > 0, !lists[i].good, "with or without a notice");
        help_notices = 0;
        apr_pool_destroy(pool);
    }
}

int main(int argc, char **argv)
{
    signed_t at;
    if (argc == 3) {
        apr_initialize();
        apr_pool_create(&root, NULL);
        memcpy(script, argv[2], sizeof script);
        return act();
    }
    said_begin();
    close(mkstemp(script));
    fake_script(script, 0, script);
    pdf_t pdf = signed_pdf(&at);
    const char *list = apr_psprintf(root,
                                    "{\"verdict\":\"accepted\",\"signatures\":[{\"field\":\"f\",\"range\":[0,%d,%d,%d],"
                                    "\"later\":0,\"subfilter\":\"ETSI.CAdES.detached\"}]}",
                                    (int)at.gap, (int)at.gap_end, (int)(at.end - at.gap_end));
    write_text(".list", list);
    const char *told = truth(&pdf, &at);
    for (size_t i = 0; i < sizeof LIES / sizeof *LIES; i++) test_lie(&LIES[i], told, &pdf);
    test_forgery(told, &pdf, &at);
    test_lists(list, told, &pdf);
    free(pdf.data);
    int removed = !unlink(script) + !unlink(apr_pstrcat(root, script, ".list", NULL))
                  + !unlink(apr_pstrcat(root, script, ".check", NULL));
    is_int(removed, 3, "the files are gone");
    return said_end();
}
