/* SPDX-License-Identifier: Apache-2.0 */
/* trust_proofs.c: tests of src/authorities/proof_*.c: which proofs a chain gets, when they are fetched again, what is
 * never taken, and what other processes read. A table stands for the network. */
#include "proofs_make.h"
#include "authorities/proofs.h"

#include <apr_general.h>
#include <sys/wait.h>

#define HOUR 3600L
#define OCSP_URL "http://ocsp.test/"
#define CA_CRL "http://crl.test/ca"
#define ROOT_CRL "http://crl.test/root"

static apr_pool_t *root_pool, *pool;
static made_t *root, *ca, *leaf, *responder, *plain, *foreign;
static const char *chain_pem, *root_pem, *folder;
static sr_proof_keeper_t *keeper;

/* --- the network */

static struct {
    proof_ocsp_t ocsp;
    proof_crl_t ca, root;
    bool no_ocsp, no_crl, only_post;
    int asked_ocsp, asked_ca, asked_root, posts, others;
} net;

static void reply(sr_fetch_t *request, proof_der_t der, apr_pool_t *into)
{
    request->state = SR_FETCH_DONE;
    request->answer = apr_pmemdup(into, der.data, der.length);
    request->size = der.length;
    if (der.length > request->limit) {
        request->state = SR_FETCH_LARGE;
        request->fault = "its answer is too large";
    }
    OPENSSL_free(der.data);
}

static void fetch(void *baton, sr_fetch_t *request, apr_pool_t *into)
{
    request->state = SR_FETCH_UNREACHABLE;
    request->fault = "connection refused";
    const bool ocsp = !strncmp(request->url, OCSP_URL, strlen(OCSP_URL));
    if (ocsp && net.only_post && !request->body) {
        request->state = SR_FETCH_REFUSED;
        return;
    }
    if (ocsp) {
        net.asked_ocsp++;
        net.posts += request->body != NULL;
        is_str(request->wanted, "application/ocsp-response", "the type of an OCSP response is checked");
        if (!net.no_ocsp) reply(request, proof_ocsp(&net.ocsp), into);
    } else if (!strcmp(request->url, CA_CRL)) {
        net.asked_ca++;
        if (!net.no_crl) reply(request, proof_crl(&net.ca), into);
    } else if (!strcmp(request->url, ROOT_CRL)) {
        net.asked_root++;
        if (!net.no_crl) reply(request, proof_crl(&net.root), into);
    } else {
        net.others++;
    }
}

/* --- the chain */

static const char *pem_of(const made_t *const *all, int count)
{
    char *text;
    BIO *bio = BIO_new(BIO_s_mem());
    for (int i = 0; i < count; i++) PEM_write_bio_X509(bio, all[i]->certificate);
    const long length = BIO_get_mem_data(bio, &text);
    const char *copy = apr_pstrmemdup(root_pool, text, (apr_size_t)length);
    BIO_free(bio);
    return copy;
}

/* All certificates are valid for ten years, because the tests put the clock forward. */
static made_t *make(const char *name, const made_t *issuer, const char *extended)
{
    return make_certificate(&(make_t){.name = name,
                                      .issuer = issuer,
                                      .extended = extended,
                                      .from = -86400,
                                      .until = 315360000,
                                      .ca = !extended && strcmp(name, "Leaf") != 0,
                                      .usage = !extended && strcmp(name, "Leaf") != 0 ? PROOF_CA_USAGE : NULL},
                            root_pool);
}

static void make_all(void)
{
    root = make("Root", NULL, NULL);
    ca = make("CA", root, NULL);
    proof_extend(ca, root, NID_crl_distribution_points, "URI:" ROOT_CRL);
    leaf = make("Leaf", ca, NULL);
    proof_extend(leaf, ca, NID_info_access, "OCSP;URI:" OCSP_URL);
    proof_extend(leaf, ca, NID_crl_distribution_points, "URI:ldap://crl.test/ca,URI:https://crl.test/ca,URI:" CA_CRL);
    responder = make("Responder", ca, "OCSPSigning");
    proof_extend(responder, ca, NID_id_pkix_OCSP_noCheck, "ignored");
    plain = make("Plain responder", ca, "OCSPSigning");
    proof_extend(plain, ca, NID_crl_distribution_points, "URI:" CA_CRL);
    foreign = make("Foreign", NULL, "OCSPSigning");
    chain_pem = pem_of((const made_t *[]){leaf, ca}, 2);
    root_pem = pem_of((const made_t *[]){root}, 1);
}

/* Begins with an empty folder, a keeper without memory, and a network where everything is good for six hours. */
static void begin(void)
{
    static int number;
    const sr_proof_options_t options = {.longest = apr_time_from_sec(12 * HOUR), .fetch = fetch};
    apr_pool_clear(pool);
    folder = apr_psprintf(root_pool, "%s/proofs%d", make_folder, ++number);
    if (mkdir(folder, 0700)) abort();
    sr_proof_options_t own = options;
    own.folder = folder;
    keeper = sr_proof_keeper_create(&own, pool);
    memset(&net, 0, sizeof net);
    net.ocsp = (proof_ocsp_t){.certificate = leaf, .issuer = ca, .signer = responder, .from = -60, .until = 6 * HOUR};
    net.ca = (proof_crl_t){.issuer = ca, .from = -60, .until = 7 * HOUR};
    net.root = (proof_crl_t){.issuer = root, .from = -60, .until = 30 * 24 * HOUR};
}

static void forward(long seconds)
{
    proof_ahead += seconds;
    sr_time_forward(apr_time_from_sec(seconds));
}

static apr_time_t next;

static const sr_proofs_t *collect(void)
{
    const sr_proofs_t *proofs = NULL;
    sr_error_t *error = sr_proof_collect(&proofs, &next, keeper, chain_pem, root_pem, pool);
    if (error) printf("# %s\n", error->message);
    if (error) exit(1);
    return proofs;
}

static int asked(void)
{
    const int count = net.asked_ocsp + net.asked_ca + net.asked_root;
    net.asked_ocsp = net.asked_ca = net.asked_root = 0;
    return count;
}

static const char *hash_of(const made_t *made)
{
    unsigned char *der = NULL;
    const int length = i2d_X509(made->certificate, &der);
    const char *hash = sr_sha256_hex(der, (apr_size_t)length, pool);
    OPENSSL_free(der);
    return hash;
}

/* --- collecting */

static void test_complete(void)
{
    begin();
    const sr_proofs_t *proofs = collect();
    ok(!proofs->missing && !proofs->revoked, "the set is complete (%s)", proofs->missing ? proofs->missing : "");
    is_int(proofs->certificates->nelts, 4, "it has the chain and the responder");
    is_int(proofs->ocsps->nelts, 1, "one OCSP response");
    is_int(proofs->crls->nelts, 1, "one CRL, that of the root");
    is_int(net.asked_ca, 0, "the CRL of the CA is not needed");
    is_int(net.others, 0, "LDAP and https are never used");
    is_int(asked(), 2, "each proof was fetched once");
    ok(proofs->until - sr_time_now() <= apr_time_from_sec(6 * HOUR), "the set ends with the OCSP response");
    collect();
    is_int(asked(), 0, "what is kept is not fetched again");
    ok(next > sr_time_now() + apr_time_from_sec(2 * HOUR) && next <= sr_time_now() + apr_time_from_sec(3 * HOUR),
       "the OCSP response is fetched again after half of its time, or a little earlier");
    forward(3 * HOUR + 60);
    collect();
    is_int(asked(), 1, "then it is fetched");
    net.only_post = true;
    begin();
    net.only_post = true;
    ok(!collect()->missing && net.posts == 1, "a responder that refuses GET is asked by POST");
}

static void test_failures(void)
{
    begin();
    collect();
    asked();
    net.no_ocsp = net.no_crl = true;
    forward(4 * HOUR);
    ok(!collect()->missing, "if fetching fails, the old proofs serve");
    is_int(asked(), 1, "what was due was tried");
    collect();
    is_int(asked(), 0, "it is not tried again at once");
    forward(301);
    collect();
    is_int(asked(), 1, "it is tried again after five minutes");
    forward(2 * HOUR);
    const sr_proofs_t *proofs = collect();
    ok(proofs->missing && strstr(proofs->missing, "no proof of the certificate \"Leaf\""), "until nextUpdate (%s)",
       proofs->missing ? proofs->missing : "complete");
    ok(!proofs->revoked, "that nothing is known is not a revocation");
    is_int(proofs->ocsps->nelts, 0, "the proof that is over is not in the set");
    net.no_crl = false;
    asked();
    forward(301);
    ok(!collect()->missing, "the CRL serves when there is no OCSP");
    is_int(net.asked_ca, 1, "that of the CA");
}

/* The proof of an authority ends before that of what it has issued. */
static void test_outlive(void)
{
    begin();
    net.root.until = 9 * HOUR;
    collect();
    asked();
    forward(3 * HOUR + 60); /* the OCSP response is due, and the CRL of the root is not */
    net.ocsp.until = 24 * HOUR;
    net.root.until = 48 * HOUR;
    const sr_proofs_t *proofs = collect();
    is_int(net.asked_ocsp, 1, "the OCSP response is fetched");
    is_int(net.asked_root, 1, "and the CRL that ends before it, too");
    ok(proofs->until > sr_time_now() + apr_time_from_sec(23 * HOUR), "so no proof ends before the OCSP response");
    asked();
    begin();
    net.root.until = 2 * HOUR;
    collect();
    is_int(net.asked_root, 1, "a CRL that ends early is fetched");
    collect();
    is_int(net.asked_root, 1, "not at once again");
    ok(next <= sr_time_now() + apr_time_from_sec(300), "but in five minutes");
    forward(301);
    collect();
    is_int(net.asked_root, 2, "then it is");
}

static void test_never(void)
{
    const struct {
        const char *name;
        proof_ocsp_t ocsp;
    } rows[] = {
        {"unknown", {.certificate = leaf, .issuer = ca, .status = V_OCSP_CERTSTATUS_UNKNOWN}},
        {"stale", {.certificate = leaf, .issuer = ca, .from = -7200, .until = -60}},
        {"stale and revoked",
         {.certificate = leaf, .issuer = ca, .status = V_OCSP_CERTSTATUS_REVOKED, .from = -7200, .until = -60}},
        {"without nextUpdate", {.certificate = leaf, .issuer = ca, .endless = true}},
        {"of a foreign responder", {.certificate = leaf, .issuer = ca, .signer = foreign}},
        {"of another serial number", {.certificate = plain, .issuer = ca}},
        {"of a responder without ocsp-nocheck and without a CRL", {.certificate = leaf, .issuer = ca, .signer = plain}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin();
        net.ocsp = rows[i].ocsp;
        net.ca.endless = true;
        const sr_proofs_t *proofs = collect();
        ok(proofs->missing && !proofs->ocsps->nelts && !proofs->revoked, "OCSP %s is not taken (%s)", rows[i].name,
           proofs->missing ? proofs->missing : "complete");
    }
    const struct {
        const char *name;
        proof_crl_t crl;
    } lists[] = {
        {"that is a delta", {.issuer = ca, .delta = true}},
        {"for authorities alone", {.issuer = ca, .scope = "critical,onlyCA:TRUE"}},
        {"that is over", {.issuer = ca, .from = -7200, .until = -60}},
        {"of another issuer", {.issuer = root}},
        {"by another key", {.issuer = ca, .signer = root}},
        {"of 21 MB", {.issuer = ca, .padding = 21 << 20}},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        begin();
        net.no_ocsp = true;
        net.ca = lists[i].crl;
        const sr_proofs_t *proofs = collect();
        ok(proofs->missing && proofs->crls->nelts == 1, "a CRL %s is not taken (%s)", lists[i].name,
           proofs->missing ? proofs->missing : "complete");
    }
}

static void test_responder(void)
{
    begin();
    net.ocsp.signer = plain;
    const sr_proofs_t *proofs = collect();
    ok(!proofs->missing, "a responder without ocsp-nocheck is proven by a CRL");
    is_int(proofs->crls->nelts, 2, "which goes along");
    begin();
    net.ocsp.signer = plain;
    net.ca.revoked = plain;
    proofs = collect();
    ok(!proofs->revoked && !proofs->missing && !proofs->ocsps->nelts,
       "the response of a responder that was revoked is not used, and the CRL serves");
    is_int(proofs->crls->nelts, 2, "that of the CA and that of the root");
}

static void test_revoked(void)
{
    begin();
    collect();
    net.ocsp.status = V_OCSP_CERTSTATUS_REVOKED;
    net.ocsp.reason = OCSP_REVOKED_STATUS_KEYCOMPROMISE;
    forward(3 * HOUR + 60);
    const sr_proofs_t *proofs = collect();
    ok(proofs->revoked && strstr(proofs->revoked, "\"Leaf\" was revoked at ")
           && strstr(proofs->revoked, "keyCompromise"),
       "a revocation is found (%s)", proofs->revoked ? proofs->revoked : "none");
    net.no_ocsp = net.no_crl = true;
    forward(30 * 24 * HOUR);
    ok(collect()->revoked != NULL, "and stays after the end of the proof, while nothing newer is known");
    const sr_proof_options_t options = {.folder = folder, .longest = apr_time_from_sec(12 * HOUR), .fetch = fetch};
    keeper = sr_proof_keeper_create(&options, pool);
    ok(collect()->revoked != NULL, "another process knows it, too");
    net.no_ocsp = net.no_crl = false;
    net.ocsp.status = V_OCSP_CERTSTATUS_GOOD;
    forward(301);
    ok(!collect()->revoked, "a newer response that says otherwise ends it");
    begin();
    net.root.revoked = ca;
    proofs = collect();
    ok(proofs->revoked && strstr(proofs->revoked, "\"CA\" was revoked"), "that of the CA counts, too");
    begin();
    net.no_ocsp = true;
    net.ca.revoked = leaf;
    ok(collect()->revoked != NULL, "and one by CRL");
}

static void test_strangers(void)
{
    const sr_proofs_t *proofs = NULL;
    begin();
    const char *other = pem_of((const made_t *[]){foreign}, 1);
    sr_error_t *error = sr_proof_collect(&proofs, &next, keeper, chain_pem, other, pool);
    ok(!error && proofs->missing && strstr(proofs->missing, "reaches no anchor"),
       "a chain without an anchor has no set");
    is_int(asked() + net.others, 0, "and its URLs are not called");
    ok(sr_proof_chain_fault(chain_pem, other, pool) && !sr_proof_chain_fault(chain_pem, root_pem, pool),
       "the same without fetching");
    error = sr_proof_collect(&proofs, &next, keeper, chain_pem, pem_of((const made_t *[]){ca}, 1), pool);
    ok(!error && !proofs->missing && !proofs->crls->nelts, "an anchor need not be a root, and needs no proof");
}

/* --- other processes */

static void test_cache(void)
{
    begin();
    sr_proof_cache_t *cache = sr_proof_cache_create(folder, pool);
    apr_pool_t *user;
    apr_pool_create(&user, pool);
    ok(!sr_proof_cache_get(cache, hash_of(leaf), user), "nothing is known at first");
    collect();
    const sr_proofs_t *first = sr_proof_cache_get(cache, hash_of(leaf), user);
    ok(first && first->ocsps->nelts == 1 && first->crls->nelts == 1 && first->certificates->nelts == 4,
       "the set is read");
    const sr_proofs_t *again = sr_proof_cache_get(cache, hash_of(leaf), user);
    ok(first && again && first->ocsps == again->ocsps, "and stays in memory");
    forward(3 * HOUR + 60);
    collect();
    const sr_proofs_t *newer = sr_proof_cache_get(cache, hash_of(leaf), user);
    ok(newer && newer->ocsps != first->ocsps && newer->until > first->until, "a newer one is read");
    ok(APR_ARRAY_IDX(first->ocsps, 0, sr_cms_bytes_t).data[0] == 0x30, "the older one stays while it is used");
    forward(7 * HOUR);
    newer = sr_proof_cache_get(cache, hash_of(leaf), user);
    ok(newer && newer->missing && strstr(newer->missing, "a proof has ended"), "a set that is over is not complete");
    sr_proofs_t all = {.until = 0};
    sr_proofs_join(&all, first, user);
    sr_proofs_join(&all, first, user);
    ok(all.certificates->nelts == 4 && all.ocsps->nelts == 1 && all.until == first->until && !all.missing,
       "sets are joined without repetition");
    apr_pool_destroy(user);
}

static void test_damage(void)
{
    begin();
    collect();
    sr_proof_cache_t *cache = sr_proof_cache_create(folder, pool);
    make_run("for f in '%s'/*.der; do printf x >>\"$f\"; done", folder);
    ok(!sr_proof_cache_get(cache, hash_of(leaf), pool), "files that do not fit together are no set");
    ok(collect()->missing != NULL, "what is damaged is not used");
    forward(61);
    ok(!collect()->missing, "damaged files are fetched again");
    ok(sr_proof_cache_get(cache, hash_of(leaf), pool) != NULL, "and the set is there again");
}

static void test_wanted(void)
{
    apr_time_t earliest;
    const char *missing;
    begin();
    sr_error_t *error = sr_proof_want(folder, hash_of(leaf), chain_pem, pool);
    ok(!error, "a chain is asked for");
    error = sr_proof_collect_wanted(&earliest, &missing, &next, keeper, root_pem, pool);
    ok(!error && earliest && !missing, "and collected");
    sr_proof_cache_t *cache = sr_proof_cache_create(folder, pool);
    ok(sr_proof_cache_get(cache, hash_of(leaf), pool) != NULL, "its set can be read");
    make_run("touch '%s/other'", folder);
    forward(31 * 24 * HOUR);
    asked();
    error = sr_proof_collect_wanted(&earliest, &missing, &next, keeper, root_pem, pool);
    ok(!error && !asked(), "after 30 days without a wish it is not collected any more");
    is_int(make_run("ls '%s'/*.pem", folder) != 0, 1, "and forgotten");
    is_int(make_run("ls '%s'/other", folder), 0, "a file that is not ours stays");
}

/* A signature with a timestamp needs the proofs of two chains: here those of the leaf, and those of the CA. */
static void test_all(void)
{
    apr_time_t earliest;
    const char *missing;
    begin();
    sr_proof_cache_t *cache = sr_proof_cache_create(folder, pool);
    ok(!sr_proof_cache_all(cache, hash_of(leaf), pool), "without the proofs of the seal there are none");
    collect();
    const sr_proofs_t *all = sr_proof_cache_all(cache, hash_of(leaf), pool);
    ok(all && !all->missing && all->certificates->nelts == 4, "if nobody has asked for another chain, they are all");
    unsigned char *der = NULL;
    const int length = i2d_X509(ca->certificate, &der);
    apr_array_header_t *chain = apr_array_make(pool, 1, sizeof(sr_cms_bytes_t));
    APR_ARRAY_PUSH(chain, sr_cms_bytes_t) = (sr_cms_bytes_t){der, (apr_size_t)length};
    ok(sr_proof_cache_is_time(cache, "CN=TSA") && !sr_proof_cache_is_time(cache, "CN=TSA")
           && sr_proof_cache_is_time(cache, "CN=Other"),
       "a chain is asked for once an hour");
    ok(!sr_proof_want_chain(folder, chain, pool), "another chain is asked for");
    sr_time_forward(apr_time_from_sec(3601));
    ok(sr_proof_cache_is_time(cache, "CN=TSA"), "an hour later it is time again");
    all = sr_proof_cache_all(cache, hash_of(leaf), pool);
    ok(all && all->missing && strstr(all->missing, "not collected yet"), "its proofs are missing");
    sr_error_t *error = sr_proof_collect_wanted(&earliest, &missing, &next, keeper, root_pem, pool);
    all = sr_proof_cache_all(cache, hash_of(leaf), pool);
    ok(!error && all && !all->missing, "until they are collected");
    ok(all && all->certificates->nelts == 4 && all->crls->nelts == 1, "what both chains have is there once");
    sr_time_forward(-apr_time_from_sec(3601));
    OPENSSL_free(der);
}

static void test_lock(void)
{
    const char *fault;
    apr_pool_t *own;
    begin();
    apr_pool_create(&own, pool);
    ok(sr_proof_lock(&fault, folder, SR_PROOF_COLLECTS, own) && !fault, "one process collects");
    const pid_t pid = fork();
    if (!pid) _exit(sr_proof_lock(&fault, folder, SR_PROOF_COLLECTS, pool) ? 1 : fault ? 2 : 0);
    int status = -1;
    waitpid(pid, &status, 0);
    is_int(WEXITSTATUS(status), 0, "another one does not");
    apr_pool_destroy(own);
    ok(sr_proof_lock(&fault, folder, SR_PROOF_COLLECTS, pool), "when the first one has ended, it does");
    ok(sr_proof_lock(&fault, folder, SR_PROOF_ARCHIVES, pool), "archiving has a lock of its own");
    ok(!sr_proof_lock(&fault, "/nonexistent", SR_PROOF_COLLECTS, pool) && fault, "a folder that is missing is a fault");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root_pool, NULL);
    apr_pool_create(&pool, root_pool);
    make_begin();
    make_all();
    test_complete();
    test_failures();
    test_outlive();
    test_never();
    test_responder();
    test_revoked();
    test_strangers();
    test_cache();
    test_damage();
    test_wanted();
    test_all();
    test_lock();
    made_t *all[] = {root, ca, leaf, responder, plain, foreign, NULL};
    for (made_t **one = all; *one; one++) make_free(*one);
    make_end();
    apr_pool_destroy(root_pool);
    return done();
}
