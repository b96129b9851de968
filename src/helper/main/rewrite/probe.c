/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c: finds out what a document is and whether it can be signed. It is first read strictly. If anything is wrong,
 * it is read again with repairs. It can then only be accepted to be rewritten ("normalise"), which is not possible for
 * a document with signatures. The first reading that can decide gives the verdict. */
#include "helper/main/compare/changes.h"
#include "helper/main/pdfd.h"
#include "helper/main/read/scan.h"
#include "helper/main/rewrite/list_form.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_WITHIN 4096 /* bytes in which %PDF- must be; qpdf, poppler and mupdf have no limit */

static const char NO_PAGES[] = "it has no pages";
static const char TOO_MANY_PAGES[] = "it has more than 20000 pages";
static const char SIGNED_DAMAGED[] = "it is signed already and damaged: repairing it would break its signatures";
static const char DISAGREE[] = "PDF readers do not agree on its pages";
static const char ENCRYPTED[] = "it is encrypted, though it opens without a password; save it without encryption";
static const char FORBIDDEN[] = "its permissions allow neither signing nor filling in forms";
static const char UNRECOVERABLE[] = "it is damaged beyond repair";

typedef enum reading_t {
    DECIDED, /* `verdict` and `reason` are set */
    DAMAGED, /* this reading is not reliable */
    READ     /* the report can be made */
} reading_t;

typedef struct probe_t {
    sr_pdfd_bytes_t bytes;
    const unsigned char *header; /* the first "%PDF-" */
    qpdf_data q;
    sr_pdf_verdict_t verdict;
    const char *reason;
    int pages;
    bool encrypted;
    const char *runs;
    sr_pdfd_form_t form;
    const char *fields; /* its signature fields as JSON; or NULL */
    bool normalise;
    bool apart;          /* a signature field must be merged with its widget */
    bool gaps;           /* its only table leaves out numbers */
    unsigned int active; /* a set of sr_warning_t */
    apr_pool_t *pool;
} probe_t;

static reading_t decide(probe_t *probe, sr_pdf_verdict_t verdict, const char *reason)
{
    probe->verdict = verdict;
    probe->reason = reason;
    return DECIDED;
}

/* Translates an exception of qpdf. */
static reading_t probe_judge_error(probe_t *probe)
{
    qpdf_error error = qpdf_get_error(probe->q);
    if (!error) return DAMAGED;
    enum qpdf_error_code_e code = qpdf_get_error_code(probe->q, error);
    if (code == qpdf_e_password || code == qpdf_e_unsupported) /* unsupported: an encryption that qpdf does not know */
        return decide(probe, SR_PDF_PASSWORD, NULL);
    if (strstr(qpdf_get_error_message_detail(probe->q, error), SR_PDFD_NO_MEMORY_TEXT))
        return decide(probe, SR_PDF_REFUSED, SR_PDF_LIMITS_REASON);
    return DAMAGED;
}

/* The document opens without a password. Its owner decides what its permissions exclude (ISO 32000-2, table 22). */
static reading_t judge_encrypted(probe_t *probe)
{
    if (!qpdf_allow_modify_form(probe->q) && !qpdf_allow_modify_annotation(probe->q))
        return decide(probe, SR_PDF_FORBIDDEN, FORBIDDEN);
    qpdf_oh encryption = qpdf_oh_get_key(probe->q, qpdf_get_trailer(probe->q), "/Encrypt");
    sr_cipher_t cipher;
    probe->encrypted = true;
    if (!qpdf_oh_is_indirect(probe->q, encryption) || !sr_pdfd_cipher_find(&cipher, &probe->bytes))
        return decide(probe, SR_PDF_REFUSED, ENCRYPTED);
    return READ;
}

static reading_t probe_open_document(probe_t *probe, bool repairing)
{
    qpdf_data q = probe->q;
    qpdf_set_attempt_recovery(q, repairing ? QPDF_TRUE : QPDF_FALSE);
    if (qpdf_read_memory(q, SR_PDFD_INPUT, (const char *)probe->bytes.data, probe->bytes.size, NULL) & QPDF_ERRORS)
        return probe_judge_error(probe);
    if (qpdf_is_encrypted(q) && judge_encrypted(probe) == DECIDED) return DECIDED;
    qpdf_oh root = qpdf_get_root(q);
    if (!qpdf_oh_is_dictionary(q, root)) return DAMAGED;
    return qpdf_oh_is_indirect(q, root) || repairing ? READ : DAMAGED;
}

static reading_t probe_read_pages(probe_t *probe, int64_t highest, bool *odd)
{
    probe->pages = qpdf_get_num_pages(probe->q);
    if (qpdf_has_error(probe->q)) return probe_judge_error(probe);
    if (probe->pages <= 0) return decide(probe, SR_PDF_REFUSED, NO_PAGES);
    if (probe->pages > SR_PAGES_MAX) return decide(probe, SR_PDF_REFUSED, TOO_MANY_PAGES);
    const char *reason = NULL;
    probe->runs = sr_pdfd_boxes_read(&reason, odd, probe->q, probe->pages, highest, probe->pool);
    return probe->runs ? READ : decide(probe, SR_PDF_REFUSED, reason);
}

static reading_t probe_read_contents(probe_t *probe, bool repairing)
{
    sr_pdfd_xref_t xref = {.highest = INT32_MAX};
    apr_size_t length = probe->bytes.size - (apr_size_t)(probe->header - probe->bytes.data);
    if (!repairing && !sr_pdfd_xref_check(&xref, probe->header, length)) return DAMAGED;
    if (!repairing && !sr_pdfd_entries_are_right(probe->bytes.data, probe->bytes.size)) return DAMAGED;
    probe->gaps = xref.gaps;
    const char *reason = sr_pdfd_form_read(&probe->form, probe->q, probe->pool);
    if (reason) return decide(probe, SR_PDF_REFUSED, reason);
    if (repairing) sr_pdfd_pages_unshare(probe->q, probe->pool);
    else if (!probe->form.signatures && !probe->encrypted && sr_pdfd_pages_stray(probe->q, false)) return DAMAGED;
    bool odd = false;
    reading_t state = probe_read_pages(probe, xref.highest, &odd);
    return odd && !repairing ? DAMAGED : state;
}

/* Lists the signature fields. If no field can be added to the document, it needs an empty one that can be signed. */
static const char *read_existing(probe_t *probe)
{
    const apr_array_header_t *fields = sr_pdfd_empty_find(probe->q, &probe->form, false, probe->pool);
    json_t *list = sr_json_own(json_array(), probe->pool);
    int empty = 0;
    for (int i = 0; i < fields->nelts; i++) {
        const sr_existing_t *field = &APR_ARRAY_IDX(fields, i, sr_pdfd_empty_t).field;
        json_array_append_new(list, sr_existing_json(field));
        empty += !field->fault;
        probe->apart |= !field->fault && APR_ARRAY_IDX(fields, i, sr_pdfd_empty_t).apart;
    }
    if (fields->nelts) probe->fields = sr_json_text(list, probe->pool);
    return empty ? NULL : probe->form.fixed;
}

/* This comes last, because damage in objects that are only inspected here is no reason to repair a document. */
static reading_t read_rest(probe_t *probe)
{
    const char *fixed = read_existing(probe);
    if (fixed) return decide(probe, SR_PDF_REFUSED, fixed);
    probe->active = sr_pdfd_active_find(probe->q, probe->pages);
    if (!probe->form.signatures && !probe->encrypted && sr_pdfd_usage_rights(probe->q, false)) {
        probe->active |= SR_WARNING_BIT(SR_WARNING_RIGHTS);
        probe->normalise = true;
    }
    qpdf_get_error(probe->q); /* objects that cannot be read have no effect */
    if (sr_pdfd_warnings(probe->q, &probe->bytes) == SR_PDFD_NO_MEMORY)
        return decide(probe, SR_PDF_REFUSED, SR_PDF_LIMITS_REASON);
    return READ;
}

static reading_t probe_read_document(probe_t *probe, bool repairing)
{
    apr_pool_t *scratch;
    apr_pool_create(&scratch, probe->pool);
    probe->q = sr_pdfd_qpdf(scratch);
    reading_t state = probe_open_document(probe, repairing);
    bool opened = state == READ;
    if (opened) state = probe_read_contents(probe, repairing);
    sr_pdfd_warnings_t warnings = sr_pdfd_warnings(probe->q, &probe->bytes);
    if (warnings == SR_PDFD_NO_MEMORY) state = decide(probe, SR_PDF_REFUSED, SR_PDF_LIMITS_REASON);
    else if (warnings == SR_PDFD_WARNINGS && opened && !repairing) state = DAMAGED;
    if (state == READ) state = read_rest(probe);
    apr_pool_destroy(scratch);
    return state;
}

/* Returns true if the bytes contain the beginning of an object ("1 0 obj"), so that they are at least the remains of a
 * PDF. */
static bool has_object(const sr_pdfd_bytes_t *bytes)
{
    cursor_t c = {bytes->data, bytes->data + bytes->size};
    while ((c.at = memmem(c.at, (size_t)(c.end - c.at), " obj", 4))) {
        const unsigned char *digits = c.at;
        while (digits > bytes->data && isdigit(digits[-1])) digits--;
        c.at += 4;
        if (c.at < c.end && isalnum(*c.at)) continue;
        if (digits < c.at - 4 && digits - 1 > bytes->data && digits[-1] == ' ' && isdigit(digits[-2])) return true;
    }
    return false;
}

/* Decides about a document that has no pages or no catalog even after it was repaired. Its pages may be in the part
 * that could not be repaired. */
static void judge_ruin(probe_t *probe)
{
    if (probe->form.signatures) decide(probe, SR_PDF_REFUSED, SIGNED_DAMAGED);
    else if (probe->reason == NO_PAGES && sr_pdfd_poppler_count(&probe->bytes) < 1) return;
    else if (has_object(&probe->bytes)) decide(probe, SR_PDF_REFUSED, UNRECOVERABLE);
    else decide(probe, SR_PDF_NOT_PDF, NULL);
}

static void probe_judge(probe_t *probe)
{
    bool misplaced = probe->header > probe->bytes.data;
    reading_t state = probe_read_document(probe, false);
    if (state == DAMAGED) {
        probe->normalise = true;
        probe->bytes = sr_pdfd_trimmed(&probe->bytes);
        state = probe_read_document(probe, true);
        if (state == DAMAGED || probe->reason == NO_PAGES) judge_ruin(probe);
    }
    if (state != READ) return;
    if (probe->form.signatures && (probe->normalise || misplaced)) {
        decide(probe, SR_PDF_REFUSED, SIGNED_DAMAGED);
        return;
    }
    if (misplaced || probe->apart || (probe->form.need_appearances && !probe->form.signatures)) probe->normalise = true;
    if (probe->gaps && !probe->form.signatures && !probe->encrypted)
        probe->normalise = true; /* some validators reject the first of two signatures otherwise */

    if (probe->encrypted && probe->normalise) { /* rewriting does not keep the encryption */
        decide(probe, SR_PDF_REFUSED, ENCRYPTED);
        return;
    }

    int seen = sr_pdfd_poppler_count(&probe->bytes);
    if (seen == SR_PDFD_POPPLER_PASSWORD) decide(probe, SR_PDF_PASSWORD, NULL);
    else if (seen != probe->pages) decide(probe, SR_PDF_REFUSED, DISAGREE);
    else if (probe->form.signatures) probe->active |= sr_pdfd_signed_warnings(&probe->bytes, probe->pool);
}

static const unsigned char *find_header(const sr_pdfd_bytes_t *bytes)
{
    return bytes->size ? memmem(bytes->data, bytes->size < HEADER_WITHIN ? bytes->size : HEADER_WITHIN, "%PDF-", 5)
                       : NULL;
}

static const char *write_report(const probe_t *probe)
{
    const char *warnings = "";
    const char *fields = probe->fields ? apr_pstrcat(probe->pool, ",\"fields\":", probe->fields, NULL) : "";
    if (probe->active) {
        const json_t *names = sr_json_own(sr_warnings_names(probe->active), probe->pool);
        warnings = apr_pstrcat(probe->pool, ",\"warnings\":", sr_json_text(names, probe->pool), NULL);
    }
    return apr_psprintf(probe->pool,
                        "{\"version\":%d,\"pages\":%d,\"runs\":[%s],\"signatures\":%d,\"normalise\":%s%s%s}",
                        SR_PAGES_VERSION, probe->pages, probe->runs, probe->form.signatures,
                        probe->normalise ? "true" : "false", warnings, fields);
}

json_t *sr_pdfd_probe(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    static const char *const names[] = SR_PDF_VERDICT_NAMES;
    probe_t probe = {.bytes = request->bytes, .verdict = SR_PDF_ACCEPTED, .pool = pool};
    probe.header = find_header(&probe.bytes);
    if (probe.header) probe_judge(&probe);
    else decide(&probe, SR_PDF_NOT_PDF, NULL);

    json_t *response = json_object();
    json_object_set_new(response, "verdict", json_string(names[probe.verdict]));
    if (probe.verdict == SR_PDF_REFUSED || probe.verdict == SR_PDF_FORBIDDEN)
        json_object_set_new(response, "reason", json_string(probe.reason));
    if (probe.verdict == SR_PDF_ACCEPTED) json_object_set_new(response, "report", json_string(write_report(&probe)));
    return response;
}

json_t *sr_pdfd_inspect(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    static const sr_pdfd_list_limits_t limits = {SR_PDF_MAX_FIELDS, SR_PDF_MAX_OPTIONS, SR_EXISTING_MAX_NAME,
                                                 SR_PDF_MAX_FIELD_TEXT, SR_PDF_MAX_INSPECTED};
    const sr_pdfd_bytes_t bytes = sr_pdfd_trimmed(&request->bytes);
    char *fields = sr_pdfd_form_fields(bytes.data, bytes.size, &limits);
    if (!fields) return json_pack("{s:s}", "refused", UNRECOVERABLE);
    json_t *response = sr_pdfd_result(request, fields, strlen(fields));
    free(fields);
    return response;
}
