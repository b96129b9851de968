/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c: checks the signatures of a document. A worker finds them. This file verifies them on the bytes of the file:
 * the gap in the ByteRange contains hexadecimal digits and nothing else, the other bytes are hashed, and the CMS in the
 * gap signs this digest. A signature is "whole" if it covers the size of the file, so anything that is appended ends
 * that. */
#include "verify/judged.h"
#include "helper/client/listing.h"

#include <apr_encode.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

#define BLOCK_BYTES (256 << 10)
/* Limit for all signatures together, with their certificate chains and revocation data. OpenSSL needs up to 20 times
 * this memory to decode them. A signature of this service takes about a kilobyte. */
#define MAX_DER_BYTES (1 << 20)
#define MAX_GAP_BYTES ((apr_off_t)2 * MAX_DER_BYTES) /* limit of one gap, in digits and including its unused room */
/* In an honest document each signature covers a revision of its own. The bytes after all gaps are then together less
 * than the file, and hashing takes at most two passes. */
#define MAX_PASSES 4

#define PADES "ETSI.CAdES.detached"

static const char GAP[] = "its ByteRange does not leave out just its Contents";
static const char LARGE[] = "it is larger than what is checked here";
static const char COSTLY[] = "the document is too large to check all its signatures";

typedef struct job_t {
    sr_pdf_found_t *signature;
    const sr_pdf_listed_t *listed;
    int request; /* its index in the request to the worker; -1: it is not in the request */
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length; /* 0: not computed */
} job_t;

typedef struct verify_t {
    int descriptor;
    apr_off_t size, budget;  /* the number of bytes that may still be hashed */
    apr_size_t room;         /* the number of CMS bytes that may still be sent to a worker */
    unsigned char *contents; /* decoded Contents of the current signature */
    json_t *requests;
    json_t *proofs; /* the document security store, or NULL */
    unsigned char *block;
    apr_pool_t *pool;
} verify_t;

/* ------------------------------------------------------------------------------------------------ the gap */

/* Decodes "<", an even number of digits and ">" in place. */
static bool verify_decode_hex(unsigned char *text, apr_size_t *length)
{
    apr_size_t digits = *length - 2;
    if (text[0] != '<' || text[*length - 1] != '>' || digits % 2) return false;
    for (apr_size_t i = 0; i < digits; i += 2) {
        const int high = OPENSSL_hexchar2int(text[1 + i]), low = OPENSSL_hexchar2int(text[2 + i]);
        if (high < 0 || low < 0) return false;
        text[i / 2] = (unsigned char)(high << 4 | low);
    }
    *length = digits / 2;
    return true;
}

static bool verify_is_range(const apr_off_t *range, apr_off_t size)
{
    for (int i = 0; i < 4; i++)
        if (range[i] < 0 || range[i] > size) return false;
    return range[0] == 0 && range[1] > 0 && range[2] >= range[1] + 2 && range[2] + range[3] <= size;
}

static bool is_kind(const sr_pdf_listed_t *listed, const char *subfilter)
{
    return listed->subfilter && !strcmp(listed->subfilter, subfilter);
}

static bool is_checked_kind(const sr_pdf_listed_t *listed)
{
    return is_kind(listed, PADES) || is_kind(listed, "adbe.pkcs7.detached") || is_kind(listed, SR_PDF_TIMESTAMP);
}

static void set_fault(sr_pdf_found_t *signature, sr_cms_state_t state, const char *fault)
{
    signature->state = state;
    signature->fault = fault;
}

/* Returns the size of the gap in bytes of the file, or 0 if there is no gap or it cannot be read. */
static apr_size_t gap_of(const sr_pdf_listed_t *listed, apr_off_t size)
{
    const apr_off_t *range = listed->range;
    bool readable = listed->has_range && verify_is_range(range, size) && range[2] - range[1] <= MAX_GAP_BYTES;
    return readable ? (apr_size_t)(range[2] - range[1]) : 0;
}

/* Adds a CMS to the request. The zero bytes at its end are counted instead of sent. */
static bool add_question(job_t *job, verify_t *verify, apr_size_t length)
{
    apr_size_t used = length;
    while (used > 0 && !verify->contents[used - 1]) used--;
    if (used > verify->room) return false;
    verify->room -= used;
    const char *der =
        used ? apr_pencode_base64_binary(verify->pool, verify->contents, (apr_ssize_t)used, APR_ENCODE_NONE, NULL) : "";
    job->request = (int)json_array_size(verify->requests);
    json_array_append_new(verify->requests, json_pack("{s:s,s:I,s:I}", "der", der, "length", (json_int_t)length,
                                                      "covers", (json_int_t)job->signature->covers));
    return true;
}

static sr_error_t *verify_read_contents(job_t *job, verify_t *verify)
{
    const apr_off_t *range = job->listed->range;
    if (job->listed->has_range && !verify_is_range(range, verify->size)) set_fault(job->signature, SR_CMS_BROKEN, GAP);
    else if (job->listed->has_range) job->signature->covers = range[2] + range[3];
    if (job->signature->fault) return NULL;
    if (!is_checked_kind(job->listed)) {
        set_fault(job->signature, SR_CMS_UNCHECKED, "it is of a kind that is not checked here");
        return NULL;
    }
    apr_size_t length = gap_of(job->listed, verify->size);
    const bool fits = length > 0;
    if (fits) SR_TRY(sr_pdf_read(verify->contents, verify->descriptor, range[1], length, verify->pool));
    if (fits && !verify_decode_hex(verify->contents, &length)) set_fault(job->signature, SR_CMS_BROKEN, GAP);
    else if (!fits || !add_question(job, verify, length)) set_fault(job->signature, SR_CMS_UNCHECKED, LARGE);
    return NULL;
}

/* Sends one request for all signatures. They come from one document, so each of them is as hostile as the others. */
static sr_error_t *ask_about(job_t **jobs, int count, const verify_t *verify, sr_pdf_pool_t *workers,
                             const sr_cms_context_t *context)
{
    sr_cms_result_t *results = apr_pcalloc(verify->pool, sizeof *results * (apr_size_t)(count + 1));
    SR_TRY(sr_cms_ask(results, workers, verify->requests, verify->proofs, context, verify->pool));
    for (int i = 0; i < count; i++) {
        job_t *job = jobs[i];
        if (job->request < 0) continue;
        const sr_cms_result_t *result = &results[job->request];
        if (result->hash && result->timestamp != is_kind(job->listed, SR_PDF_TIMESTAMP))
            set_fault(job->signature, SR_CMS_BROKEN, "its kind is not the one that the document states");
        else job->signature->signer = *result;
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ hashing */

static sr_error_t *hash(EVP_MD_CTX *state, const verify_t *verify, apr_off_t from, apr_off_t to)
{
    while (from < to) {
        apr_size_t count = to - from < BLOCK_BYTES ? (apr_size_t)(to - from) : BLOCK_BYTES;
        SR_TRY(sr_pdf_read(verify->block, verify->descriptor, from, count, verify->pool));
        EVP_DigestUpdate(state, verify->block, count);
        from += (apr_off_t)count;
    }
    return NULL;
}

/* The bytes before the gaps are hashed once for all signatures, which are in the order of their gaps. The bytes after
 * its gap are hashed for each signature. */
static sr_error_t *hash_jobs(job_t **jobs, int count, const char *name, verify_t *verify, EVP_MD_CTX *all,
                             EVP_MD_CTX *one)
{
    apr_off_t at = 0;
    EVP_DigestInit_ex(all, EVP_get_digestbyname(name), NULL);
    for (int i = 0; i < count; i++) {
        const apr_off_t *range = jobs[i]->listed->range;
        const sr_cms_result_t *result = &jobs[i]->signature->signer;
        if (jobs[i]->signature->fault || result->state != SR_CMS_INTACT || strcmp(result->hash, name) != 0) continue;
        verify->budget -= range[1] - at + range[3];
        if (verify->budget < 0) {
            set_fault(jobs[i]->signature, SR_CMS_UNCHECKED, COSTLY);
            continue;
        }
        SR_TRY(hash(all, verify, at, range[1]));
        at = range[1];
        EVP_MD_CTX_copy_ex(one, all);
        SR_TRY(hash(one, verify, range[2], range[2] + range[3]));
        EVP_DigestFinal_ex(one, jobs[i]->digest, &jobs[i]->length);
    }
    return NULL;
}

static sr_error_t *hash_all(job_t **jobs, int count, verify_t *verify)
{
    static const char *const names[] = SR_CMS_HASH_NAMES;
    EVP_MD_CTX *all = EVP_MD_CTX_new(), *one = EVP_MD_CTX_new();
    sr_error_t *error = all && one ? NULL : sr_error(verify->pool, SR_EINTERNAL, "No memory");
    for (size_t i = 0; !error && names[i]; i++) error = hash_jobs(jobs, count, names[i], verify, all, one);
    EVP_MD_CTX_free(all);
    EVP_MD_CTX_free(one);
    return error;
}

/* ------------------------------------------------------------------------------------------------ results */

static bool read_digits(int *number, const char **text, int count)
{
    *number = 0;
    for (; count > 0; count--, (*text)++) {
        if (**text < '0' || **text > '9') return false;
        *number = *number * 10 + (**text - '0');
    }
    return true;
}

/* Reads D:YYYYMMDDHHmmSSOHH'mm'. Parts that are left out at the end have their lowest value (ISO 32000-2, 7.9.4). */
static apr_time_t verify_read_time(const char *text)
{
    apr_time_exp_t parts = {.tm_mday = 1, .tm_mon = 1};
    int hours = 0,
        minutes = 0, *const fields[] = {&parts.tm_mon, &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec};
    apr_time_t when;
    if (!text || strncmp(text, "D:", 2) != 0) return 0;
    text += 2;
    if (!read_digits(&parts.tm_year, &text, 4)) return 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && *text >= '0' && *text <= '9'; i++)
        if (!read_digits(fields[i], &text, 2)) return 0;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    char sign = *text;
    if (sign == '+' || sign == '-') {
        text++;
        if (!read_digits(&hours, &text, 2)) return 0;
        if (*text == '\'') text++;
        if (*text && !read_digits(&minutes, &text, 2)) return 0;
        parts.tm_gmtoff = (hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
    }
    bool real = parts.tm_year >= 0 && parts.tm_mon >= 0 && parts.tm_mon < 12 && parts.tm_mday >= 1
                && parts.tm_mday <= 31 && parts.tm_hour < 24 && parts.tm_min < 60 && parts.tm_sec <= 60;
    return real && apr_time_exp_gmt_get(&when, &parts) == APR_SUCCESS ? when : 0;
}

static void verify_finish(job_t *job, const verify_t *verify, const sr_cms_context_t *context)
{
    sr_pdf_found_t *signature = job->signature;
    sr_cms_result_t *result = &signature->signer;
    if (!signature->fault) {
        sr_cms_is_our_seal(result, job->digest, job->length, context);
        set_fault(signature, result->state, result->fault);
    }
    if (signature->state == SR_CMS_INTACT && !result->bound && is_kind(job->listed, PADES))
        set_fault(signature, SR_CMS_BROKEN, "it does not say by which certificate it was made, as its kind must");
    if (signature->state != SR_CMS_INTACT) {
        result->ours = false;
        result->trust = SR_CMS_TRUST_UNKNOWN;
        result->distrust = NULL;
        result->stamp = (sr_cms_stamp_t){.state = SR_CMS_STAMP_NONE};
        result->proven_until = 0;
    }
    /* the levels are those of PAdES */
    if (signature->state != SR_CMS_INTACT || !is_kind(job->listed, PADES)) result->level = SR_CMS_LEVEL_NONE;
    signature->whole = signature->state == SR_CMS_INTACT && signature->covers == verify->size;
}

/* The worker that checks the signatures believes that each document timestamp is of this document. Returns true if one
 * is not, and marks it in the request. */
static bool refute(job_t **jobs, int count, const verify_t *verify)
{
    bool refuted = false;
    for (int i = 0; i < count; i++) {
        if (jobs[i]->request < 0 || !is_kind(jobs[i]->listed, SR_PDF_TIMESTAMP)
            || jobs[i]->signature->state == SR_CMS_INTACT)
            continue;
        json_object_set_new(json_array_get(verify->requests, (size_t)jobs[i]->request), "refuted", json_true());
        refuted = true;
    }
    return refuted;
}

/* Returns the last signature of a person, or -1. If there are only timestamps, it is the last one of them. */
static int find_last(const sr_pdf_verification_t *found)
{
    int last = -1;
    for (int i = 0; i < found->count; i++) {
        const sr_pdf_found_t *one = &found->signatures[i], *other = last < 0 ? NULL : &found->signatures[last];
        if (!other || (other->timestamp && !one->timestamp)
            || (other->timestamp == one->timestamp && one->covers >= other->covers))
            last = i;
    }
    return last;
}

/* Returns true if all signatures of the widget's field are intact, and `ours` or, if that is enough, trusted. */
static bool is_vouched(const sr_pdf_drawn_t *widget, const sr_pdf_verification_t *found, bool trust_is_enough)
{
    bool any = false;
    for (int i = 0; i < found->count; i++) {
        const sr_pdf_found_t *one = &found->signatures[i];
        if (strcmp(one->field, widget->field) != 0) continue;
        const bool trusted = trust_is_enough && one->signer.trust == SR_CMS_TRUSTED;
        if (one->state != SR_CMS_INTACT || (!one->signer.ours && !trusted)) return false;
        any = true;
    }
    return any;
}

/* A text of a list that may be full. The list ends with NULL. */
static void verify_add_text(const char **texts, const char *text)
{
    int count = 0;
    while (texts[count] && strcmp(texts[count], text) != 0) count++;
    if (count <= SR_PDF_MAX_CHANGES) texts[count] = count < SR_PDF_MAX_CHANGES || texts[count] ? text : "and more";
}

static const char **verify_texts_of(const char *const *texts, apr_pool_t *pool)
{
    const char **all = apr_pcalloc(pool, (SR_PDF_MAX_CHANGES + 2) * sizeof *all);
    for (int i = 0; texts && texts[i] && i <= SR_PDF_MAX_CHANGES; i++) all[i] = texts[i];
    return all;
}

/* Names what was drawn in another way after a signature. A signature that is not trusted must not hide anything. Other
 * changes may be why a page looks different, so it is then not said. */
static void add_drawn(sr_pdf_found_t *signature, const sr_pdf_verification_t *found, const sr_pdf_list_t *list,
                      apr_pool_t *pool)
{
    const char **drawn = verify_texts_of(NULL, pool), **changes = verify_texts_of(signature->changes, pool);
    const bool unchanged = !*changes;
    for (int i = 0; i < list->drawn_count; i++) {
        const sr_pdf_drawn_t *widget = &list->drawn[i];
        if (widget->end < signature->covers || (widget->is_signature && is_vouched(widget, found, false))) continue;
        verify_add_text(drawn, widget->text);
        if (unchanged && widget->covers && !is_vouched(widget, found, true))
            verify_add_text(changes, apr_pstrcat(pool, widget->text, ", which covers what was signed", NULL));
    }
    signature->drawn = drawn;
    signature->changes = changes;
}

/* What the worker does not report is unknown, so it cannot improve a result by leaving something out. Changes after the
 * last signature of a person are changes of a document that is extended. */
static void add_changes(sr_pdf_verification_t *found, const sr_pdf_list_t *list, apr_pool_t *pool)
{
    static const char *const none[] = {NULL};
    const int last = find_last(found);
    for (int i = 0; i < found->count; i++) {
        sr_pdf_found_t *one = &found->signatures[i];
        const sr_pdf_listed_t *listed = &list->signatures[i];
        const apr_off_t end = found->signatures[last].covers;
        const bool before = one->covers<end, after = one->covers> end;
        one->changes = before ? listed->changes : one->whole ? none : after ? listed->since : list->appended;
        one->filled = !before && one->changes ? none : listed->filled;
        one->drawn = !before && one->changes ? none : NULL;
        if (before && one->changes) add_drawn(one, found, list, pool);
        if (!before || listed->fault) continue;
        found->incomparable = found->incomparable || !one->changes || !one->filled;
        found->changed = found->changed || (one->changes && *one->changes);
    }
    if (last >= 0) found->explained = found->signatures[last].changes && !*found->signatures[last].changes;
}

static sr_pdf_conclusion_t conclude(const sr_pdf_verification_t *found)
{
    bool whole = false, unchecked = found->incomparable;
    for (int i = 0; i < found->count; i++) {
        if (found->signatures[i].state == SR_CMS_BROKEN) return SR_PDF_BROKEN;
        unchecked = unchecked || found->signatures[i].state == SR_CMS_UNCHECKED;
        whole = whole || found->signatures[i].whole;
    }
    if (!found->count) return SR_PDF_UNSIGNED;
    if (found->changed) return SR_PDF_CHANGED;
    if (unchecked) return SR_PDF_UNCHECKED;
    return whole && found->explained ? SR_PDF_SIGNED : SR_PDF_EXTENDED;
}

static int by_range(const void *a, const void *b)
{
    const sr_pdf_listed_t *one = a, *other = b;
    apr_off_t first = one->has_range ? one->range[1] : -1, second = other->has_range ? other->range[1] : -1;
    return (first > second) - (first < second);
}

static sr_error_t *verify_check_all(sr_pdf_verification_t *verification, const sr_pdf_list_t *list, verify_t *verify,
                                    sr_pdf_pool_t *workers, const sr_cms_context_t *context)
{
    job_t **jobs = apr_palloc(verify->pool, sizeof(job_t *) * (apr_size_t)(list->count + 1));
    apr_size_t largest = 0;
    for (int i = 0; i < list->count; i++) {
        apr_size_t gap = gap_of(&list->signatures[i], verify->size);
        if (gap > largest) largest = gap;
    }
    verify->contents = apr_palloc(verify->pool, largest);
    if (list->count) qsort(list->signatures, (size_t)list->count, sizeof *list->signatures, by_range);
    for (int i = 0; i < list->count; i++) {
        const sr_pdf_listed_t *listed = &list->signatures[i];
        sr_pdf_found_t *signature = &verification->signatures[i];
        *signature = (sr_pdf_found_t){.field = listed->field,
                                      .state = SR_CMS_BROKEN, /* until it is verified */
                                      .fault = listed->fault,
                                      .later = listed->later,
                                      .timestamp = is_kind(listed, SR_PDF_TIMESTAMP),
                                      .name = listed->name,
                                      .reason = listed->reason,
                                      .contact = listed->contact,
                                      .claimed = verify_read_time(listed->time)};
        jobs[i] = apr_pcalloc(verify->pool, sizeof **jobs);
        *jobs[i] = (job_t){.signature = signature, .listed = listed, .request = -1};
        SR_TRY(verify_read_contents(jobs[i], verify));
    }
    verify->proofs = list->proofs;
    SR_TRY(ask_about(jobs, list->count, verify, workers, context));
    SR_TRY(hash_all(jobs, list->count, verify));
    for (int i = 0; i < list->count; i++) verify_finish(jobs[i], verify, context);
    if (refute(jobs, list->count, verify)) {
        SR_TRY(ask_about(jobs, list->count, verify, workers, context));
        for (int i = 0; i < list->count; i++) verify_finish(jobs[i], verify, context);
    }
    add_changes(verification, list, verify->pool);
    verification->validation = list->validation;
    verification->locked = list->locked;
    verification->changed = verification->changed || list->locked;
    verification->conclusion = conclude(verification);
    return NULL;
}

sr_error_t *sr_pdf_verify(sr_pdf_verification_t *verification, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                          const sr_cms_context_t *context, apr_pool_t *pool)
{
    sr_pdf_list_t list;
    *verification = (sr_pdf_verification_t){.conclusion = SR_PDF_UNREADABLE, .verdict = SR_PDF_NOT_PDF};
    if (size <= 0) return NULL;
    SR_TRY(sr_pdf_list(&list, workers, descriptor, pool));
    verification->verdict = list.verdict;
    verification->reason = list.reason;
    if (list.verdict != SR_PDF_ACCEPTED) return NULL;

    verification->count = list.count;
    verification->signatures = apr_pcalloc(pool, sizeof *verification->signatures * (apr_size_t)(list.count + 1));
    verify_t verify = {.descriptor = descriptor,
                       .size = size,
                       .budget = size * MAX_PASSES,
                       .room = MAX_DER_BYTES,
                       .requests = sr_json_own(json_array(), pool),
                       .block = apr_palloc(pool, BLOCK_BYTES),
                       .pool = pool};
    return verify_check_all(verification, &list, &verify, workers, context);
}
