/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c: rewrites, prepares and fills documents (update.c sends the requests). This file has no access to the key:
 * the caller makes the CMS and passes it in. */
#include "helper/client/update.h"
#include "helper/client/preview.h"

#include <string.h>

sr_error_t *sr_pdf_rewrite(sr_pdf_rewritten_t *rewritten, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                           apr_pool_t *pool)
{
    sr_pdf_response_t response = {.room = SR_PDF_MAX_NORMALISED(size)};
    SR_TRY(sr_pdf_ask(&response, &rewritten->document, workers, SR_PDF_OP_NORMALISE, NULL, descriptor, pool));
    rewritten->fault = response.fault;
    rewritten->reason = response.reason;
    return NULL;
}

/* -------------------------------------------------------------------------------------------------------- prepare */

sr_error_t *sr_pdf_prepare(sr_pdf_update_t *update, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                           const apr_array_header_t *fields, apr_pool_t *pool)
{
    apr_array_header_t *contents = apr_array_make(pool, 4, sizeof(const char *));
    const json_t *json = sr_pdf_fields_json(SR_PDF_OP_PREPARE, fields, contents, pool);
    sr_pdf_response_t response = {.room = SR_PDF_MAX_REVISION};
    const char *request = sr_pdf_entry_request(&response.asked, json, contents, pool);
    unsigned char *bytes;
    SR_TRY(sr_pdf_ask_for_bytes(&response, &bytes, workers, SR_PDF_OP_PREPARE, request, descriptor, pool));
    *update = (sr_pdf_update_t){response.fault, response.reason, bytes, response.length, response.cipher};
    if (!update->fault) sr_pdf_check_prepared(update, workers, size, fields, pool);
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------------- fill */

static const char *date_of(const sr_pdf_signature_t *signature, apr_pool_t *pool)
{
    char date[SR_TIME_PRINTED];
    sr_time_print(date, "D:%Y%m%d%H%M%SZ", signature->time);
    return apr_pstrdup(pool, date);
}

static const sr_pdf_field_t *fill_field_at(const sr_pdf_signature_t *signature, int index)
{
    return &APR_ARRAY_IDX(signature->fields, index, sr_pdf_field_t);
}

static int fill_count(const sr_pdf_signature_t *signature)
{
    return signature->fields ? signature->fields->nelts : 0;
}

static bool is_place(const sr_pdf_signature_t *signature, const sr_pdf_field_t *field)
{
    return !field->entry && !strcmp(field->signer, signature->signer);
}

/* Makes an array with the name of the existing field, or null, for each place of the signer. Returns NULL if the signer
 * has no existing field. */
static json_t *existing_json(const sr_pdf_signature_t *signature)
{
    json_t *names = json_array();
    bool any = false;
    for (int i = 0; i < fill_count(signature); i++) {
        const sr_pdf_field_t *field = fill_field_at(signature, i);
        if (!is_place(signature, field)) continue;
        json_array_append_new(names, sr_json_string_or_null(field->existing));
        any |= field->existing != NULL;
    }
    if (!any) json_decref(names);
    return any ? names : NULL;
}

/* Makes the drawing of the initials, with the numbers of the places that show it. Returns NULL if there are none. */
static json_t *initials_json(const sr_pdf_signature_t *signature, apr_pool_t *pool)
{
    json_t *json = json_object(), *places = json_array();
    json_object_set_new(json, "places", places);
    for (int i = 0, place = 0; signature->initials && i < fill_count(signature); i++) {
        const sr_pdf_field_t *field = fill_field_at(signature, i);
        if (!is_place(signature, field)) continue;
        place++;
        if (field->initials) json_array_append_new(places, json_integer(place));
    }
    const bool any = json_array_size(places) > 0;
    if (any) sr_pdf_mark_ask(json, signature->initials, pool);
    else json_decref(json);
    return any ? json : NULL;
}

static bool fill_has_entries(const sr_pdf_signature_t *signature)
{
    for (int i = 0; i < fill_count(signature); i++)
        if (fill_field_at(signature, i)->entry) return true;
    return false;
}

/* Makes an array of the signer's entries with the objects of their fields. Returns NULL if there are none. If the
 * prepared update cannot be read, the answer is refused. */
static json_t *entries_json(apr_array_header_t *contents, const sr_pdf_prepared_t *prepared,
                            const sr_pdf_signature_t *signature, apr_pool_t *pool)
{
    if (prepared->why || !fill_has_entries(signature)) return NULL;
    const apr_array_header_t *own = sr_pdf_entries_of(&prepared->appended, signature->signer, signature->fields, pool);
    if (!own->nelts) return NULL;
    json_t *entries = json_array();
    for (int i = 0; i < own->nelts; i++) {
        const sr_pdf_own_entry_t *entry = &APR_ARRAY_IDX(own, i, sr_pdf_own_entry_t);
        if (!entry->before) continue; /* it is refused later */
        json_t *json = sr_pdf_entry_json(entry->field->entry, contents);
        json_object_set_new(json, "object", json_integer(entry->before->number));
        json_object_set_new(json, "generation", json_integer(entry->before->generation));
        if (entry->field->existing) json_object_set_new(json, "existing", json_string(entry->field->existing));
        json_array_append_new(entries, json);
    }
    return entries;
}

static json_t *fill_signature_json(const sr_pdf_signature_t *signature, const sr_pdf_dss_t *dss, const char *time,
                                   apr_pool_t *pool)
{
    json_t *request = sr_json_own(json_object(), pool);
    json_object_set_new(request, "op", json_string(SR_PDF_OP_FILL));
    json_object_set_new(request, "signer", json_string(signature->signer));
    json_object_set_new(request, "existing", existing_json(signature));
    json_object_set_new(request, "name", json_string(signature->name));
    json_object_set_new(request, "reason", sr_json_string_or_null(signature->reason));
    json_object_set_new(request, "contact", sr_json_string_or_null(signature->contact));
    json_object_set_new(request, "time", json_string(time));
    json_object_set_new(request, "test", json_boolean(signature->test));
    if (signature->room) json_object_set_new(request, "room", json_integer((json_int_t)signature->room));
    if (dss) json_object_set_new(request, "dss", sr_pdf_dss_json(dss, pool));
    sr_pdf_signature_ask(request, signature, pool);
    json_object_set_new(request, "initials", initials_json(signature, pool));
    return request;
}

/* Finds the document security store, if proofs are to be added. A document whose updates cannot be read gets none; it
 * is refused after the request. */
static sr_error_t *find_dss(sr_pdf_dss_t **dss, int descriptor, apr_off_t size, const sr_pdf_signature_t *signature,
                            apr_pool_t *pool)
{
    const apr_array_header_t *packed = sr_pdf_proofs_pack(signature->proofs, pool);
    sr_pdf_sections_t *sections = apr_palloc(pool, sizeof *sections);
    const char *why;
    *dss = NULL;
    if (!packed) return NULL;
    SR_TRY(sr_pdf_sections_read(&why, sections, descriptor, signature->base_size, size, pool));
    if (why) return NULL;
    *dss = apr_palloc(pool, sizeof **dss);
    return sr_pdf_dss_find(*dss, sections, packed);
}

sr_error_t *sr_pdf_fill(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                        const sr_pdf_signature_t *signature, apr_pool_t *pool)
{
    *revision = (sr_pdf_revision_t){.fault = SR_PDF_DONE};
    revision->reason = sr_pdf_signature_fault(signature);
    if (revision->reason) {
        revision->fault = SR_PDF_SIGNATURE_AT_FAULT;
        return NULL;
    }
    const char *time = date_of(signature, pool);
    sr_pdf_dss_t *dss;
    sr_pdf_prepared_t prepared;
    SR_TRY(find_dss(&dss, descriptor, size, signature, pool));
    SR_TRY(sr_pdf_prepared_read(&prepared, descriptor, signature, pool));
    apr_array_header_t *contents = apr_array_make(pool, 4, sizeof(const char *));
    json_t *json = fill_signature_json(signature, dss, time, pool);
    json_object_set_new(json, "entries", entries_json(contents, &prepared, signature, pool));
    sr_pdf_asked_t asked = {.op = SR_PDF_OP_FILL,
                            .descriptor = descriptor,
                            .size = size,
                            .room = signature->room ? signature->room : SR_PDF_CONTENTS_BYTES};
    asked.text = sr_pdf_entry_request(&asked.length, json, contents, pool);
    SR_TRY(sr_pdf_revision_ask(revision, workers, &asked, pool));
    if (revision->fault) return NULL;
    SR_TRY(sr_pdf_check_filled(revision, workers, descriptor, size, signature, &prepared, dss, time, pool));
    if (!revision->fault && revision->unconfirmed) SR_TRY(sr_pdf_revision_confirm(revision, workers, &asked, pool));
    revision->proven = dss && !revision->fault;
    return revision->fault ? NULL : sr_pdf_revision_digest(revision, &asked, signature->hash, signature->digest, pool);
}

sr_error_t *sr_pdf_seal(sr_pdf_revision_t *revision, const void *cms, apr_size_t length, apr_pool_t *pool)
{
    unsigned char hash[32], *from = revision->bytes + revision->contents;
    if (length > revision->room)
        return sr_error(pool, SR_EINTERNAL, "The signature of the seal is longer than there is room for");
    const char *digits = sr_text_hex(cms, length, pool);
    memcpy(from + 1, digits, 2 * length);
    memset(from + 1 + 2 * length, '0', 2 * (revision->room - length));
    sr_sha256_t *digest = sr_sha256_copy(revision->until_contents, pool);
    sr_sha256_update(digest, from, revision->length - revision->contents);
    sr_sha256_end(hash, digest);
    revision->sha256 = sr_text_hex(hash, sizeof hash, pool);
    return NULL;
}
