/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c: judges the signatures and timestamps of one document together (ETSI EN 319 102-1, 5.6). It begins with the
 * newest document timestamp, whose authority must be trusted now. Everything that a trusted timestamp covers existed at
 * its time, so what is older is judged at that time: the next timestamp, and the proofs and signatures before it.
 *
 * The levels say what the file has, without regard to trust. For them each timestamp that is intact counts, and the
 * roots that the file contains count as anchors. */
#include "cms/judge.h"

#include <openssl/err.h>
#include <string.h>

#define AHEAD apr_time_from_sec(300) /* how far the clock of an authority may be ahead of ours */

typedef struct item_t {
    const sr_cms_asked_t *asked;
    sr_cms_checked_t cms, token; /* `token` is empty if the signature has none */
    sr_cms_result_t *result;
    bool stamp;           /* a document timestamp that is intact, and is of this document */
    apr_time_t proved;    /* a stamp: its time in this pass, if it is trusted; else 0 */
    sr_cms_stamp_t own;   /* the timestamp of the signature, or the document timestamp, in this pass */
    sr_cms_chain_t chain; /* of the signer, or of the authority, in this pass */
    sr_cms_chain_t by;    /* of the authority of the signature's timestamp */
    apr_time_t until;
} item_t;

typedef struct pass_t {
    item_t *items; /* the one that covers most of the file is the first */
    int count;
    sr_cms_store_t *store;
    X509_STORE *anchors;
    apr_pool_t *pool;
} pass_t;

/* ------------------------------------------------------------------------------------------------ examining */

/* Checks the timestamp of a signature. Returns why it is broken, or NULL. */
static const char *examine_token(item_t *item, STACK_OF(X509) * more, const sr_cms_context_t *context, apr_pool_t *pool)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    const sr_cms_checked_t *cms = &item->cms;
    sr_cms_inspect(&item->token, cms->token.data, cms->token.length, more, context, pool);
    const sr_cms_result_t *token = &item->token.result;
    if (token->state != SR_CMS_INTACT) return token->fault;
    if (!token->timestamp || !item->token.time) return "it is not a timestamp";
    EVP_Digest(cms->value.data, cms->value.length, digest, &size, EVP_get_digestbyname(token->hash), NULL);
    return size == token->digest.length && !memcmp(digest, token->digest.data, size) ? NULL
                                                                                     : "it is of another signature";
}

static void judge_set_stamp(sr_cms_stamp_t *stamp, const sr_cms_checked_t *token)
{
    stamp->state = SR_CMS_STAMP_UNTRUSTED;
    stamp->time = token->time;
    stamp->authority = token->result.signer ? token->result.signer->name : NULL;
    stamp->fault = "no authorities are configured with which it could be compared";
    if (!token->result.bound) stamp->fault = "it does not say by which certificate it was made, as its kind must";
}

static void judge_examine(item_t *item, STACK_OF(X509) * more, const sr_cms_context_t *context, apr_pool_t *pool)
{
    sr_cms_stamp_t *stamp = &item->result->stamp;
    sr_cms_inspect(&item->cms, item->asked->der, item->asked->length, more, context, pool);
    const sr_cms_stamp_t none = {SR_CMS_STAMP_NONE, 0, NULL, NULL};
    *item->result = item->cms.result;
    *stamp = none;
    if (item->result->state != SR_CMS_INTACT) return;
    if (item->result->timestamp) {
        item->stamp = !item->asked->refuted && item->cms.time && item->result->bound;
        judge_set_stamp(stamp, &item->cms);
    } else if (item->cms.token.length) {
        stamp->fault = examine_token(item, more, context, pool);
        if (!stamp->fault) judge_set_stamp(stamp, &item->token);
        else stamp->state = item->token.result.state == SR_CMS_UNCHECKED ? SR_CMS_STAMP_UNTRUSTED : SR_CMS_STAMP_BROKEN;
    }
}

/* --------------------------------------------------------------------------------------------------- a pass */

/* Returns the earliest time at which the first `covers` bytes of the file are known to have existed. */
static apr_time_t known_at(const pass_t *pass, apr_off_t covers)
{
    apr_time_t earliest = pass->store->now;
    for (int i = 0; i < pass->count; i++) {
        const item_t *item = &pass->items[i];
        if (item->proved && item->asked->covers > covers && item->proved < earliest) earliest = item->proved;
    }
    return earliest;
}

/* Returns the time that the token proves, or 0. `known` is when it is known to have existed. */
static apr_time_t judge_token(sr_cms_stamp_t *stamp, sr_cms_chain_t *chain, const sr_cms_checked_t *token,
                              apr_time_t known, const pass_t *pass)
{
    const sr_cms_how_t how = {.anchors = pass->anchors, .at = known, .authority = true};
    if (!token->result.bound) return 0;
    sr_cms_chain_judge(chain, token, &how, pass->store, pass->pool);
    stamp->fault = chain->distrust;
    if (!stamp->fault && token->time > known + AHEAD)
        stamp->fault = "its time is later than the time at which it is known to exist";
    stamp->state = stamp->fault ? SR_CMS_STAMP_UNTRUSTED : SR_CMS_STAMP_VALID;
    return stamp->fault ? 0 : token->time;
}

/* What is proved by a later timestamp is proved as long as that one. */
static void judge_extend(item_t *item, const pass_t *pass)
{
    for (int i = 0; i < pass->count; i++) {
        const item_t *other = &pass->items[i];
        if (other->proved && other->asked->covers > item->asked->covers && other->until > item->until)
            item->until = other->until;
    }
}

static void judge_stamp(item_t *item, const pass_t *pass)
{
    const apr_time_t known = known_at(pass, item->asked->covers);
    item->proved = judge_token(&item->own, &item->chain, &item->cms, known, pass);
    if (item->proved) sr_cms_store_existed(pass->store, item->asked->covers, item->proved);
    item->until = item->chain.until;
    judge_extend(item, pass);
}

/* Returns the earliest time that is proved for a signature. */
static apr_time_t judge_time_of(item_t *item, const pass_t *pass)
{
    const apr_time_t known = known_at(pass, item->asked->covers);
    if (item->own.state != SR_CMS_STAMP_UNTRUSTED || !item->token.time) return known;
    const apr_time_t time = judge_token(&item->own, &item->by, &item->token, known, pass);
    return time && time < known ? time : known;
}

static void judge_signature(item_t *item, const pass_t *pass)
{
    const sr_cms_how_t how = {.anchors = pass->anchors, .at = judge_time_of(item, pass)};
    sr_cms_chain_judge(&item->chain, &item->cms, &how, pass->store, pass->pool);
    item->until = item->chain.until;
    if (item->own.state == SR_CMS_STAMP_VALID && item->by.until > item->until) item->until = item->by.until;
    judge_extend(item, pass);
}

/* Document timestamps come first, because signatures rely on them. */
static void judge_run(const pass_t *pass)
{
    sr_cms_store_reset(pass->store);
    for (int i = 0; i < pass->count; i++) {
        item_t *item = &pass->items[i];
        item->own = item->result->stamp;
        item->proved = item->until = 0;
        item->chain = item->by = (sr_cms_chain_t){.trust = SR_CMS_TRUST_UNKNOWN};
    }
    for (int i = 0; i < pass->count; i++)
        if (pass->items[i].stamp) judge_stamp(&pass->items[i], pass);
    for (int i = 0; i < pass->count; i++)
        if (pass->items[i].result->state == SR_CMS_INTACT && !pass->items[i].result->timestamp)
            judge_signature(&pass->items[i], pass);
}

/* --------------------------------------------------------------------------------------------------- levels */

static void add_roots(X509_STORE *anchors, STACK_OF(X509) * certificates)
{
    for (int i = 0; i < sk_X509_num(certificates); i++)
        if (X509_self_signed(sk_X509_value(certificates, i), 0) == 1)
            X509_STORE_add_cert(anchors, sk_X509_value(certificates, i));
    ERR_clear_error();
}

/* Returns a store with all roots that the file has and the anchors. The caller frees it. */
static X509_STORE *all_roots(const pass_t *pass, const sr_cms_context_t *context)
{
    X509_STORE *roots = X509_STORE_new();
    STACK_OF(X509) *given = context->anchors ? X509_STORE_get1_all_certs(context->anchors->store) : NULL;
    if (!roots) return NULL;
    for (int i = 0; i < sk_X509_num(given); i++) X509_STORE_add_cert(roots, sk_X509_value(given, i));
    sk_X509_pop_free(given, X509_free);
    add_roots(roots, pass->store->certificates);
    for (int i = 0; i < pass->count; i++) {
        add_roots(roots, pass->items[i].cms.others);
        add_roots(roots, pass->items[i].token.others);
    }
    return roots;
}

/* Returns true if the signature has a timestamp that is intact. */
static bool has_token(const item_t *item)
{
    return item->result->stamp.state == SR_CMS_STAMP_UNTRUSTED && item->token.time && item->token.result.bound;
}

/* Returns true if the proofs before an offset are complete. 0: all proofs. */
static bool judge_is_proved(const item_t *item, apr_off_t before, const pass_t *pass)
{
    sr_cms_chain_t chain;
    const bool own = has_token(item);
    sr_cms_how_t how = {
        .anchors = pass->anchors, .at = known_at(pass, item->asked->covers), .past = true, .before = before};
    if (own && item->token.time < how.at) how.at = item->token.time;
    sr_cms_chain_judge(&chain, &item->cms, &how, pass->store, pass->pool);
    if (!chain.proved) return false;
    how.authority = true;
    if (own) sr_cms_chain_judge(&chain, &item->token, &how, pass->store, pass->pool);
    return chain.proved;
}

static sr_cms_level_t level_of(const item_t *item, const pass_t *pass)
{
    apr_off_t before = 0; /* the end of what document timestamps after the signature cover */
    for (int i = 0; i < pass->count; i++)
        if (pass->items[i].proved && pass->items[i].asked->covers > item->asked->covers && !before)
            before = pass->items[i].asked->covers;
    if (!before && !has_token(item)) return SR_CMS_LEVEL_B;
    if (!pass->store->count || !judge_is_proved(item, 0, pass)) return SR_CMS_LEVEL_T;
    return before && judge_is_proved(item, before, pass) ? SR_CMS_LEVEL_LTA : SR_CMS_LEVEL_LT;
}

static void set_levels(pass_t *pass, const sr_cms_context_t *context)
{
    pass->anchors = all_roots(pass, context);
    if (!pass->anchors) return;
    for (int i = 0; i < pass->count; i++) pass->items[i].proved = pass->items[i].stamp ? pass->items[i].cms.time : 0;
    for (int i = 0; i < pass->count; i++) {
        const item_t *item = &pass->items[i];
        if (item->result->state == SR_CMS_INTACT && !item->result->timestamp)
            item->result->level = level_of(item, pass);
    }
    X509_STORE_free(pass->anchors);
}

/* -------------------------------------------------------------------------------------------------- results */

static void judge_set_trust(pass_t *pass, const sr_cms_context_t *context)
{
    pass->anchors = context->anchors->store;
    judge_run(pass);
    for (int i = 0; i < pass->count; i++) {
        const item_t *item = &pass->items[i];
        sr_cms_result_t *result = item->result;
        if (result->state != SR_CMS_INTACT) continue;
        result->stamp = item->own;
        result->trust = item->chain.trust;
        result->distrust = item->chain.distrust;
        if (result->timestamp && result->trust != SR_CMS_REVOKED) {
            result->trust = item->proved ? SR_CMS_TRUSTED : SR_CMS_UNTRUSTED;
            result->distrust = item->proved ? NULL : item->own.fault;
        }
        if (result->trust == SR_CMS_TRUSTED) result->proven_until = item->until;
    }
}

static int by_cover(const void *a, const void *b)
{
    const item_t *one = a, *other = b;
    return (one->asked->covers < other->asked->covers) - (one->asked->covers > other->asked->covers);
}

void sr_cms_check_all(sr_cms_result_t *results, const sr_cms_asked_t *asked, int count, const sr_cms_proof_t *proofs,
                      int proof_count, const sr_cms_context_t *context, apr_pool_t *pool)
{
    const apr_time_t now = context->now ? context->now : sr_time_now();
    item_t *items = apr_pcalloc(pool, sizeof *items * (apr_size_t)(count + 1));
    pass_t pass = {
        .items = items, .count = count, .store = sr_cms_store_new(proofs, proof_count, now, pool), .pool = pool};
    for (int i = 0; i < count; i++) {
        items[i].asked = &asked[i];
        items[i].result = &results[i];
        judge_examine(&items[i], pass.store->certificates, context, pool);
    }
    if (count) qsort(items, (size_t)count, sizeof *items, by_cover);
    set_levels(&pass, context);
    if (context->anchors) judge_set_trust(&pass, context);
    ERR_clear_error();
}

void sr_cms_check(sr_cms_result_t *result, const void *der, apr_size_t length, const sr_cms_context_t *context,
                  apr_pool_t *pool)
{
    const sr_cms_asked_t asked = {der, length, 0, false};
    sr_cms_check_all(result, &asked, 1, NULL, 0, context, pool);
}
