/* SPDX-License-Identifier: Apache-2.0 */
/* listing.c: reads the response to "signatures". A document may have taken over the worker, so every value is validated
 * as untrusted input. The names and reasons of signers are only text to be shown. */
#include "helper/client/listing.h"
#include "helper/client/worker.h"

#include <string.h>

#define MAX_TEXT_BYTES 2000 /* pdfd sends 500 bytes, before characters that cannot be shown are replaced */

/* Reads a text. *text is NULL if the member is missing. Returns false if the value is not valid. */
static bool listing_read_text(const char **text, const json_t *object, const char *key, apr_pool_t *pool)
{
    *text = NULL;
    if (!json_object_get(object, key)) return true;
    const char *value = sr_json_string(object, key);
    if (!value || strlen(value) > MAX_TEXT_BYTES) return false;
    *text = apr_pstrdup(pool, sr_text_printable(value, pool));
    return true;
}

static bool listing_read_range(sr_pdf_listed_t *listed, const json_t *range)
{
    if (!range) return true;
    for (size_t i = 0; i < 4; i++) {
        const json_t *number = json_array_get(range, i);
        if (!json_is_integer(number)) return false;
        listed->range[i] = (apr_off_t)json_integer_value(number);
    }
    listed->has_range = json_array_size(range) == 4;
    return listed->has_range;
}

/* The list ends with NULL. It is NULL if the key is missing. Returns false if the value is not a list of texts. */
static bool read_texts(const char *const **texts, const json_t *object, const char *key, apr_pool_t *pool)
{
    const json_t *array = json_object_get(object, key);
    *texts = NULL;
    if (!array) return true;
    size_t count = json_array_size(array);
    if (!json_is_array(array) || count > SR_PDF_MAX_CHANGES + 1) return false;
    const char **all = apr_pcalloc(pool, (count + 1) * sizeof *all);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(array, i));
        if (!text || !*text || strlen(text) > MAX_TEXT_BYTES) return false;
        all[i] = apr_pstrdup(pool, sr_text_printable(text, pool));
    }
    *texts = all;
    return true;
}

static bool listing_read_signature(sr_pdf_listed_t *listed, const json_t *object, apr_pool_t *pool)
{
    const json_t *later = json_object_get(object, "later");
    if (later && (!json_is_integer(later) || json_integer_value(later) < -1 || json_integer_value(later) > INT32_MAX))
        return false;
    listed->later = later ? (int)json_integer_value(later) : -1;
    if (!listing_read_text(&listed->field, object, "field", pool) || !listed->field) return false;
    if (!listing_read_text(&listed->subfilter, object, "subfilter", pool)
        || !listing_read_text(&listed->name, object, "name", pool)
        || !listing_read_text(&listed->reason, object, "reason", pool)
        || !listing_read_text(&listed->contact, object, "contact", pool)
        || !listing_read_text(&listed->time, object, "time", pool)
        || !listing_read_text(&listed->fault, object, "fault", pool))
        return false;
    if (listed->fault && !sr_pdf_is_plain(listed->fault)) return false;
    if (!listing_read_range(listed, json_object_get(object, "range"))) return false;
    if (!read_texts(&listed->changes, object, "changes", pool) || !read_texts(&listed->filled, object, "filled", pool)
        || !read_texts(&listed->since, object, "since", pool))
        return false;
    return listed->has_range || listed->fault;
}

static bool listing_read_drawn(sr_pdf_list_t *list, const json_t *widgets, apr_pool_t *pool)
{
    const size_t count = json_array_size(widgets);
    if (widgets && (!json_is_array(widgets) || count > SR_PDF_MAX_WIDGETS)) return false;
    list->drawn = apr_pcalloc(pool, sizeof *list->drawn * (count + 1));
    for (; list->drawn_count < (int)count; list->drawn_count++) {
        const json_t *object = json_array_get(widgets, (size_t)list->drawn_count);
        sr_pdf_drawn_t *one = &list->drawn[list->drawn_count];
        one->is_signature = json_is_true(json_object_get(object, "signature"));
        one->covers = json_is_true(json_object_get(object, "covers"));
        one->end = (apr_off_t)json_integer_value(json_object_get(object, "end"));
        if (!listing_read_text(&one->field, object, "field", pool) || !one->field) return false;
        if (!listing_read_text(&one->text, object, "text", pool) || !one->text || !*one->text) return false;
    }
    return true;
}

/* Only the form is checked here: the proofs are opaque, and another worker reads them. */
static bool listing_read_proofs(sr_pdf_list_t *list, const json_t *response, apr_pool_t *pool)
{
    json_t *proofs = json_object_get(response, "proofs"), *one;
    size_t i, total = 0;
    if (!proofs) return true;
    if (!json_is_array(proofs) || json_array_size(proofs) > SR_CMS_MAX_PROOFS) return false;
    json_array_foreach (proofs, i, one) {
        const char *der = sr_json_string(one, "der");
        if (!der || !sr_json_string(one, "kind") || !json_is_integer(json_object_get(one, "at"))) return false;
        total += strlen(der) / 4 * 3;
    }
    if (total > SR_CMS_MAX_PROOF_BYTES + (size_t)3 * SR_CMS_MAX_PROOFS) return false;
    list->proofs = sr_json_own(json_incref(proofs), pool);
    return true;
}

bool sr_pdf_list_read(void *result, const json_t *response, apr_pool_t *pool)
{
    static const char *const names[] = SR_PDF_VERDICT_NAMES;
    sr_pdf_list_t *list = result;
    const char *verdict = sr_json_string(response, "verdict");
    size_t i = 0;
    *list = (sr_pdf_list_t){0};
    while (verdict && i < sizeof names / sizeof *names && strcmp(names[i], verdict) != 0) i++;
    if (!verdict || i == sizeof names / sizeof *names) return false;
    list->verdict = (sr_pdf_verdict_t)i;
    if (list->verdict == SR_PDF_REFUSED) {
        const char *reason = sr_json_string(response, "reason");
        if (!sr_pdf_is_plain(reason)) return false;
        list->reason = apr_pstrdup(pool, reason);
    }
    if (list->verdict != SR_PDF_ACCEPTED) return true;

    const json_t *all = json_object_get(response, "signatures");
    if (!json_is_array(all) || json_array_size(all) > SR_PDF_MAX_SIGNATURES) return false;
    list->count = (int)json_array_size(all);
    list->signatures = apr_pcalloc(pool, sizeof *list->signatures * (apr_size_t)(list->count + 1));
    for (int at = 0; at < list->count; at++)
        if (!listing_read_signature(&list->signatures[at], json_array_get(all, (size_t)at), pool)) return false;
    list->validation = json_is_true(json_object_get(response, "validation"));
    list->locked = json_is_true(json_object_get(response, "locked"));
    return listing_read_drawn(list, json_object_get(response, "widgets"), pool)
           && listing_read_proofs(list, response, pool) && read_texts(&list->appended, response, "appended", pool);
}
