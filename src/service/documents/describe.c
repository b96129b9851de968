/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c: describes a document before a request is made: its pages, the fields of its form, its signatures and
 * warnings. Of a stored document, only the fields are not known already. Nothing is stored. */
#include "service/form.h"
#include "service/private.h"

#include <string.h>

/* Returns the pages in an array. A search for each of many fields would take too long. */
static const sr_page_t **describe_all(const sr_pages_t *pages, apr_pool_t *pool)
{
    const sr_page_t **all = apr_palloc(pool, (apr_size_t)pages->count * sizeof(void *));
    int number = 0;
    for (int i = 0; i < pages->runs->nelts; i++) {
        const sr_list_run_t *run = &APR_ARRAY_IDX(pages->runs, i, sr_list_run_t);
        for (int k = 0; k < run->count; k++) all[number++] = &run->page;
    }
    return all;
}

static json_t *describe_pages(const sr_page_t *const *pages, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        double size[2];
        sr_page_size(size, pages[i]);
        json_array_append_new(list, json_pack("{s:i,s:o,s:o,s:i}", "page", i, "width", sr_area_number(size[0]),
                                              "height", sr_area_number(size[1]), "rotate", pages[i]->rotate));
    }
    return list;
}

/* Adds the percentages of the displayed page to a place, and writes its corners with four decimals. */
static void describe_place(json_t *place, const sr_page_t *const *pages)
{
    const int number = (int)json_integer_value(json_object_get(place, "page"));
    const json_t *sides = json_object_get(place, "rect");
    sr_placement_t placement;
    double corners[4];
    for (size_t i = 0; i < 4; i++) corners[i] = json_number_value(json_array_get(sides, i));
    const sr_area_t area = sr_area_of(corners, number, pages[number]);
    sr_area_place(&placement, &area, pages[number]);
    json_object_set_new(place, "rect", sr_area_rect(corners));
    json_object_set_new(place, "percent", sr_area_percent(placement.percent));
}

/* Gives a field its first place. Only radio groups, and fields that are shown in several places, keep the list. */
static void describe_field(json_t *field, const sr_page_t *const *pages)
{
    json_t *places = json_object_get(field, "places"), *first = json_array_get(places, 0);
    for (size_t i = 0; i < json_array_size(places); i++) describe_place(json_array_get(places, i), pages);
    json_object_set(field, "page", json_object_get(first, "page"));
    json_object_set(field, "rect", json_object_get(first, "rect"));
    json_object_set(field, "percent", json_object_get(first, "percent"));
    if (json_array_size(places) == 1) json_object_del(field, "places");
    if (!json_object_get(field, "value")) json_object_set_new(field, "value", json_null());
}

/* Adds the places to the fields that a helper has listed, or returns an empty array. New reference. */
static json_t *describe_fields(json_t *fields, const sr_page_t *const *pages)
{
    for (size_t i = 0; i < json_array_size(fields); i++) describe_field(json_array_get(fields, i), pages);
    return fields ? json_incref(fields) : json_array();
}

static sr_error_t *describe_refusal(const sr_pdf_probe_t *probe, apr_pool_t *pool)
{
    const char *reason = probe->verdict == SR_PDF_NOT_PDF    ? "it is not a PDF"
                         : probe->verdict == SR_PDF_PASSWORD ? "it is password protected"
                                                             : probe->reason;
    return sr_error(pool, SR_EBADREQUEST, "The document cannot be signed: %s", reason);
}

sr_error_t *sr_service_inspect(const sr_service_t *service, json_t **answer, const sr_verify_t *request,
                               apr_pool_t *pool)
{
    const sr_upload_t *file = &APR_ARRAY_IDX(request->uploads->files, 0, sr_upload_t);
    sr_pdf_probe_t probe;
    json_t *fields = NULL;
    int descriptor;
    SR_TRY(sr_blobs_descriptor(file->spool, &descriptor));
    SR_TRY(sr_pdf_probe(&probe, service->pdf, descriptor, file->size, pool));
    if (probe.verdict != SR_PDF_ACCEPTED) return describe_refusal(&probe, pool);
    SR_TRY(sr_pdf_inspect(&fields, service->pdf, descriptor, probe.pages->count, pool));
    const sr_page_t *const *pages = describe_all(probe.pages, pool);
    *answer = json_pack("{s:o,s:o,s:i,s:o}", "pages", describe_pages(pages, probe.pages->count), "fields",
                        describe_fields(fields, pages), "signatures", probe.pages->signatures, "warnings",
                        sr_warnings_sentences(probe.pages->warnings));
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ stored documents */

/* Lets a helper list the fields of a document. Its report may have been lost. */
static sr_error_t *describe_stored(const sr_service_t *service, json_t **fields, const sr_pages_t **pages,
                                   const sr_document_state_t *document, apr_pool_t *pool)
{
    sr_blobs_t *documents;
    sr_joined_t joined;
    sr_pdf_probe_t probe;
    SR_TRY(sr_service_documents(&documents, service, pool));
    SR_TRY(sr_blobs_join(&joined, documents, sr_document_state_files(document, pool), false, pool));
    if (strcmp(joined.sha256, sr_document_state_sha256(document)) != 0)
        return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "The document cannot be read now, try again later"),
                                pool, "%s: the SHA-256 of the stored document is wrong", document->uuid);
    *pages = document->boxes;
    if (!*pages) {
        SR_TRY(sr_pdf_probe(&probe, service->pdf, joined.descriptor, joined.size, pool));
        if (probe.verdict != SR_PDF_ACCEPTED) return describe_refusal(&probe, pool);
        *pages = probe.pages;
    }
    return sr_pdf_inspect(fields, service->pdf, joined.descriptor, (*pages)->count, pool);
}

sr_error_t *sr_service_form(const sr_service_t *service, json_t **answer, const sr_signing_t *signing,
                            const char *document_uuid, apr_pool_t *pool)
{
    const char *submission = signing->submission.uuid;
    const sr_service_t own = sr_service_for_request(service, submission, pool);
    const sr_document_state_t *document = sr_signing_document(signing, document_uuid);
    const sr_pages_t *pages = NULL;
    sr_pdf_visit_t *visit;
    json_t *fields = NULL;
    if (!document) return sr_error(pool, SR_ENOTFOUND, "Not found");
    SR_TRY(sr_pdf_visit_begin(&visit, service->pdf, submission, signing->organization, pool));
    sr_error_t *error = describe_stored(&own, &fields, &pages, document, pool);
    sr_pdf_visit_end(visit);
    SR_TRY(error);
    *answer = json_pack("{s:o}", "fields", describe_fields(fields, describe_all(pages, pool)));
    return NULL;
}
