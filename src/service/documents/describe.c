/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c: describes a document before a request is made: its pages, the fields of its form, its signatures and
 * warnings. Nothing is stored. */
#include "service/private.h"

static json_t *describe_pages(const sr_pages_t *pages)
{
    json_t *list = json_array();
    for (int i = 0; i < pages->count; i++) {
        const sr_page_t *page = sr_pages_at(pages, i);
        const double width = page->box[2] - page->box[0], height = page->box[3] - page->box[1];
        const bool sideways = page->rotate % 180 != 0;
        json_array_append_new(list, json_pack("{s:i,s:o,s:o,s:i}", "page", i, "width",
                                              sr_area_number(sideways ? height : width), "height",
                                              sr_area_number(sideways ? width : height), "rotate", page->rotate));
    }
    return list;
}

/* Adds the percentages of the displayed page to a place, and writes its corners with four decimals. */
static void describe_place(json_t *place, const sr_pages_t *pages)
{
    static const char *const keys[] = {"x", "y", "w", "h"};
    const int number = (int)json_integer_value(json_object_get(place, "page"));
    const json_t *sides = json_object_get(place, "rect");
    json_t *percent = json_object(), *rect = json_array();
    sr_placement_t placement;
    double corners[4];
    for (size_t i = 0; i < 4; i++) corners[i] = json_number_value(json_array_get(sides, i));
    const sr_page_t *page = sr_pages_at(pages, number);
    const sr_area_t area = sr_area_of(corners, number, page);
    sr_area_place(&placement, &area, page);
    for (size_t i = 0; i < 4; i++) {
        json_array_append_new(rect, sr_area_number(corners[i]));
        json_object_set_new(percent, keys[i], sr_area_number(placement.percent[i]));
    }
    json_object_set_new(place, "rect", rect);
    json_object_set_new(place, "percent", percent);
}

/* Gives a field its first place. Only radio groups, and fields that are shown in several places, keep the list. */
static void describe_field(json_t *field, const sr_pages_t *pages)
{
    json_t *places = json_object_get(field, "places"), *first = json_array_get(places, 0);
    for (size_t i = 0; i < json_array_size(places); i++) describe_place(json_array_get(places, i), pages);
    json_object_set(field, "page", json_object_get(first, "page"));
    json_object_set(field, "rect", json_object_get(first, "rect"));
    json_object_set(field, "percent", json_object_get(first, "percent"));
    if (json_array_size(places) == 1) json_object_del(field, "places");
    if (!json_object_get(field, "value")) json_object_set_new(field, "value", json_null());
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
    for (size_t i = 0; i < json_array_size(fields); i++) describe_field(json_array_get(fields, i), probe.pages);
    *answer = json_pack("{s:o,s:o,s:i,s:o}", "pages", describe_pages(probe.pages), "fields",
                        fields ? json_incref(fields) : json_array(), "signatures", probe.pages->signatures, "warnings",
                        sr_warnings_sentences(probe.pages->warnings));
    return NULL;
}
