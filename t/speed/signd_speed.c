/* SPDX-License-Identifier: Apache-2.0 */
/* signd_speed.c: how many signatures the signer process (sigreq-signd) makes for a child of httpd, beside a key in the
 * process itself. The figure to keep: 5,000 a second with a P-256 key, so 1,000 in 200 ms. */
#include "../unit/cms_make.h"
#include "../unit/signd_start.h"
#include "figures.h"

#include <pthread.h>
#include <time.h>

#define TRIALS 15
#define THREADS 8
#define EACH 125
#define MOST_MS 200

static apr_pool_t *root;

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

/* The signature alone, without the CMS around it, which the child makes in both cases. */
static void *sign(void *identity)
{
    unsigned char signature[SR_CMS_MAX_SIGNATURE], digest[SR_CMS_MAX_DIGEST] = {1};
    sr_cms_bytes_t attributes;
    apr_size_t length;
    apr_pool_t *pool;
    apr_pool_create_unmanaged_ex(&pool, NULL, NULL);
    if (sr_cms_attributes_of(&attributes, identity, digest, pool)) abort();
    for (int i = 0; i < EACH; i++)
        if (sr_cms_sign_attributes(signature, &length, identity, digest, &attributes, pool)) abort();
    apr_pool_destroy(pool);
    return NULL;
}

static double in_threads(const sr_cms_identity_t *identity)
{
    pthread_t threads[THREADS];
    const double begun = now();
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, sign, (void *)identity)) abort();
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return now() - begun;
}

/* The whole CMS, as each signature of a document needs it. */
static double one_by_one(const sr_cms_identity_t *identity)
{
    const unsigned char *der, digest[SR_CMS_MAX_DIGEST] = {1};
    apr_size_t length;
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    const double begun = now();
    for (int i = 0; i < EACH; i++, apr_pool_clear(pool))
        if (sr_cms_sign(&der, &length, identity, digest, pool)) abort();
    const double took = now() - begun;
    apr_pool_destroy(pool);
    return took;
}

static sr_signd_seal_t *seal_of(const signd_run_t *run)
{
    sr_signd_seal_t *seal = apr_pcalloc(root, sizeof *seal);
    *seal = (sr_signd_seal_t){.signd = sr_signd_create(run->door, THREADS, apr_time_from_sec(10), root), .number = 1};
    return seal;
}

/* What a way to sign takes by the signer process, beside a key in the process itself. Returns the median in ms. */
static double compare(const char *name, double (*way)(const sr_cms_identity_t *), const sr_cms_identity_t *remote,
                      const sr_cms_identity_t *local)
{
    double process[TRIALS], here[TRIALS], ratio[TRIALS];
    for (int i = 0; i < TRIALS; i++) {
        process[i] = way(remote);
        here[i] = way(local);
        ratio[i] = process[i] / here[i];
    }
    figures_row(name, "the same by a key in the process itself", process, here, ratio, TRIALS, 0, " × the time");
    return process[TRIALS / 2]; /* sorted */
}

static const sr_cms_identity_t *start(signd_run_t *run, const char *setup)
{
    const sr_cms_identity_t *remote;
    signd_door(run);
    signd_start(run, setup, root);
    if (!signd_pem(run, 1)
        || sr_cms_identity_without_key(&remote, signd_pem(run, 1), "seal", sr_signd_sign, seal_of(run), root))
        abort();
    return remote;
}

/* The same key in a token of SoftHSM. */
static void with_token(const made_t *made, const sr_cms_identity_t *local)
{
    static const char *const make =
        "d=`mktemp -d` && mkdir $d/tokens && export SOFTHSM2_CONF=$d/conf && echo 1234 >$d/pin && "
        "echo directories.tokendir = $d/tokens >$SOFTHSM2_CONF && "
        "softhsm2-util --init-token --free --label seal --so-pin 12345678 --pin 1234 >&2 && "
        "softhsm2-util --import %s --token seal --label seal --id 01 --pin 1234 >&2 && printf %%s $d";
    char folder[256] = "";
    signd_run_t run;
    /* NOLINTNEXTLINE(cert-env33-c): a script of this file alone */
    FILE *said = popen(apr_psprintf(root, make, made->key_path), "r");
    if (!said || !fgets(folder, sizeof folder, said) || pclose(said)) abort();
    setenv("SOFTHSM2_CONF", apr_pstrcat(root, folder, "/conf", NULL), 1);
    const char *setup = apr_psprintf(root,
                                     "{\"seals\":[{},{\"certificate\":\"%s\",\"key\":\"pkcs11:token=seal\"}],"
                                     "\"module\":\"/usr/lib/softhsm/libsofthsm2.so\",\"pin\":\"%s/pin\"}",
                                     made->certificate_path, folder);
    const sr_cms_identity_t *remote = start(&run, setup);
    const double median = compare("1,000 signatures (P-256) by the signer process with a key in SoftHSM, 8 threads",
                                  in_threads, remote, local);
    printf("# %.0f signatures a second\n", THREADS * EACH / median * 1000);
    kill(run.pid, SIGKILL);
    /* NOLINTNEXTLINE(cert-env33-c): a shell of this program, and a folder that it has made */
    if (system(apr_psprintf(root, "rm -rf %s", folder))) abort();
}

int main(void)
{
    const sr_cms_identity_t *local;
    signd_run_t run;
    apr_initialize();
    apr_pool_create(&root, NULL);
    make_begin();
    const made_t *made = make_certificate(&(make_t){.name = "seal"}, root);
    const char *setup = apr_psprintf(root, "{\"seals\":[{},{\"certificate\":\"%s\",\"key\":\"%s\"}]}",
                                     made->certificate_path, made->key_path);
    const sr_cms_identity_t *remote = start(&run, setup);
    if (sr_cms_identity_load(&local, made->certificate_path, made->key_path, root)) abort();
    const double median =
        compare("1,000 signatures (P-256) by the signer process, 8 threads; at most 200 ms are wanted", in_threads,
                remote, local);
    ok(median <= MOST_MS, "%.0f signatures a second", THREADS * EACH / median * 1000);
    compare("125 signatures (CMS, B-B) by the signer process, one after the other", one_by_one, remote, local);
    kill(run.pid, SIGKILL);
    with_token(made, local);
    make_end();
    return done();
}
