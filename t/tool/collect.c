/* SPDX-License-Identifier: Apache-2.0 */
/* collect.c: collects proofs once, as a child of httpd does in the background. t/lib/Sigreq/Years.pm runs it with
 * another clock, where a whole httpd would take seconds.
 *
 *   collect FOLDER AUTHORITIES [CHAIN ANCHORS]
 *
 * FOLDER is that of SigreqProofs. It collects for all chains that somebody has asked for and that end at AUTHORITIES,
 * and for the chain of a seal that ends at ANCHORS. All of them are PEM files. Exit status 1 if a proof is missing. */
#include "authorities/proofs.h"

#include <apr_general.h>
#include <curl/curl.h>
#include <stdio.h>

static apr_pool_t *pool;
static sr_fetcher_t *fetcher;

static bool check(const sr_error_t *error)
{
    if (error) fprintf(stderr, "collect: %s\n", error->message);
    return !error;
}

static void fetch(void *baton, sr_fetch_t *request, apr_pool_t *scratch)
{
    sr_fetch_all(fetcher, request, 1, scratch);
}

/* Returns true if nothing is missing. */
static bool collect_seal(sr_proof_keeper_t *keeper, const char *chain, const char *anchors)
{
    const sr_proofs_t *proofs;
    const char *chain_pem, *anchors_pem;
    apr_time_t next;
    if (!check(sr_cms_certificates_text(&chain_pem, chain, pool))
        || !check(sr_cms_certificates_text(&anchors_pem, anchors, pool))
        || !check(sr_proof_collect(&proofs, &next, keeper, chain_pem, anchors_pem, pool)))
        return false;
    if (proofs->missing) fprintf(stderr, "collect: %s\n", proofs->missing);
    return !proofs->missing;
}

int main(int argc, char **argv)
{
    const char *authorities, *missing;
    apr_time_t earliest, next;
    const sr_fetch_options_t fetching = {.agent = "collect"};
    sr_proof_options_t options = {.longest = APR_USEC_PER_SEC, .fetch = fetch};
    if (argc != 3 && argc != 5) return fprintf(stderr, "usage: collect FOLDER AUTHORITIES [CHAIN ANCHORS]\n"), 2;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    options.folder = argv[1];
    if (!check(sr_fetcher_create(&fetcher, &fetching, pool))
        || !check(sr_cms_certificates_text(&authorities, argv[2], pool)))
        return 1;
    sr_proof_keeper_t *keeper = sr_proof_keeper_create(&options, pool);
    const bool sealed = argc == 3 || collect_seal(keeper, argv[3], argv[4]);
    if (!check(sr_proof_collect_wanted(&earliest, &missing, &next, keeper, authorities, pool))) return 1;
    if (missing) fprintf(stderr, "collect: %s\n", missing);
    apr_pool_destroy(pool);
    return sealed && !missing ? 0 : 1;
}
