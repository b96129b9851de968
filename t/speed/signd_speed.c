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

int main(void)
{
    double process[TRIALS], here[TRIALS], ratio[TRIALS];
    const sr_cms_identity_t *remote, *local;
    signd_run_t run;
    apr_initialize();
    apr_pool_create(&root, NULL);
    make_begin();
    const made_t *made = make_certificate(&(make_t){.name = "seal"}, root);
    const char *setup = apr_psprintf(root, "{\"seals\":[{},{\"certificate\":\"%s\",\"key\":\"%s\"}]}",
                                     made->certificate_path, made->key_path);
    signd_door(&run);
    signd_start(&run, setup, root);
    sr_signd_seal_t seal = {.signd = sr_signd_create(run.door, THREADS, apr_time_from_sec(10), root), .number = 1};
    if (!signd_pem(&run, 1)
        || sr_cms_identity_without_key(&remote, signd_pem(&run, 1), "seal", sr_signd_sign, &seal, root)
        || sr_cms_identity_load(&local, made->certificate_path, made->key_path, root))
        abort();
    for (int i = 0; i < TRIALS; i++) {
        process[i] = in_threads(remote);
        here[i] = in_threads(local);
        ratio[i] = process[i] / here[i];
    }
    figures_row("1,000 signatures (P-256) by the signer process, 8 threads; at most 200 ms are wanted",
                "the same by a key in the process itself", process, here, ratio, TRIALS, 0, " × the time");
    const double median = process[TRIALS / 2]; /* sorted */
    ok(median <= MOST_MS, "%.0f signatures a second", THREADS * EACH / median * 1000);
    for (int i = 0; i < TRIALS; i++) {
        process[i] = one_by_one(remote);
        here[i] = one_by_one(local);
        ratio[i] = process[i] / here[i];
    }
    figures_row("125 signatures (CMS, B-B) by the signer process, one after the other",
                "the same by a key in the process itself", process, here, ratio, TRIALS, 0, " × the time");
    kill(run.pid, SIGKILL);
    make_end();
    return done();
}
