/* SPDX-License-Identifier: Apache-2.0 */
/* model_resolve.c: tests of src/model/resolve.c. */
#include "model/model.h"
#include "tap.h"

static apr_pool_t *pool;
static apr_array_header_t *documents;

static void add_document(const char *uuid, const char *name, const char *raw, const char *report)
{
    sr_document_t *document = apr_array_push(documents);
    sr_pages_t *pages;
    if (sr_pages_parse(&pages, report, pool)) ok(false, "the report of %s is read", name);
    *document = (sr_document_t){.uuid = uuid, .name = name, .raw = raw, .sha256 = "00", .size = 1, .pages = pages};
}

/* Makes signers whose fields name these documents and pages, in this order. Each has two fields. */
static apr_array_header_t *signers_for(const char *const *names, const int *pages, int count)
{
    apr_array_header_t *signers = apr_array_make(pool, 2, sizeof(sr_signer_t));
    apr_array_header_t *fields = NULL;
    int i;
    for (i = 0; i < count; i++) {
        sr_field_t *field;
        if (i % 2 == 0) {
            fields = apr_array_make(pool, 2, sizeof(sr_field_t));
            APR_ARRAY_PUSH(signers, sr_signer_t) =
                (sr_signer_t){.uuid = "u", .firstname = "Ann", .lastname = "Lee", .fields = fields};
        }
        field = apr_array_push(fields);
        field->document = names[i];
        field->area = (sr_area_t){.x = 61.2, .y = 79.2, .w = 61.2, .h = 79.2, .page = pages[i]};
    }
    return signers;
}

static const char *answer(const char *const *names, const int *pages, int count)
{
    const sr_error_t *error =
        sr_signers_resolve(signers_for(names, pages, count), documents, &(sr_resolving_t){.max_fields = 1000}, pool);
    if (error && error->code != SR_EBADREQUEST) return "the wrong code";
    return error ? error->message : "resolved";
}

static void test_resolved(void)
{
    static const char *const names[] = {"a.pdf", "b%22.pdf", "b\".pdf", "c%22.pdf"};
    static const int pages[] = {0, 2, 1, 0};
    apr_array_header_t *signers = signers_for(names, pages, 4);
    const sr_field_t *field;
    ok(!sr_signers_resolve(signers, documents, &(sr_resolving_t){.max_fields = 1000}, pool), "documents are found");
    field = &APR_ARRAY_IDX(APR_ARRAY_IDX(signers, 0, sr_signer_t).fields, 0, sr_field_t);
    is_str(field->document_uuid, "uuid-a", "a document is found by its name");
    is_num(field->placement.rect[0], 61.2, "the field has its rectangle");
    is_num(field->placement.percent[1], 80, "the percentages are computed from the page's size");
    field = &APR_ARRAY_IDX(APR_ARRAY_IDX(signers, 0, sr_signer_t).fields, 1, sr_field_t);
    is_str(field->document_uuid, "uuid-b", "a document is found by its name as it was sent");
    is_str(field->document, "b\".pdf", "the document is shown with its decoded name");
    is_num(field->placement.rect[0], 161.2, "the field is on its page");
    field = &APR_ARRAY_IDX(APR_ARRAY_IDX(signers, 1, sr_signer_t).fields, 0, sr_field_t);
    is_str(field->document_uuid, "uuid-b", "a document is found by its decoded name");
    field = &APR_ARRAY_IDX(APR_ARRAY_IDX(signers, 1, sr_signer_t).fields, 1, sr_field_t);
    is_str(field->document_uuid, "uuid-d", "a decoded name has precedence over the sent name of another document");
}

static void test_refused(void)
{
    static const char *const absent[] = {"a.pdf", "A.pdf"}, *const control[] = {"a\r\nb\x01.pdf"};
    static const char *const late[] = {"a.pdf", "a.pdf", "x", "a.pdf"}, *const early[] = {"a.pdf", "x"};
    static const int zero[] = {0, 0, 0, 0}, one[] = {1, 0, 0, 0}, three[] = {3}, most[] = {2147483647};
    is_str(answer(absent, zero, 2), "Document A.pdf not found", "names must be identical");
    is_str(answer(control, zero, 1),
           "Document a\xEF\xBF\xBD\xEF\xBF\xBD"
           "b\xEF\xBF\xBD.pdf not found",
           "control characters are replaced in the message");
    is_str(answer(late, zero, 4), "Document x not found", "signers after the first are checked, too");
    is_str(answer(early, one, 2), "Index page unknown", "an error of an earlier field comes first");
    is_str(answer((const char *const[]){"b\".pdf"}, three, 1), "Index page unknown", "the page after the last");
    is_str(answer((const char *const[]){"b\".pdf"}, most, 1), "Index page unknown", "a page with a huge number");
}

/* Resolves signers with one area each, which names an existing field of form.pdf. */
static sr_error_t *resolve_existing(apr_array_header_t **signers, const char *one, const char *other)
{
    const char *const names[] = {one, other};
    *signers = apr_array_make(pool, 2, sizeof(sr_signer_t));
    for (int i = 0; i < 2 && names[i]; i++) {
        apr_array_header_t *fields = apr_array_make(pool, 1, sizeof(sr_field_t));
        APR_ARRAY_PUSH(fields, sr_field_t) = (sr_field_t){.document = "form.pdf", .existing = names[i]};
        APR_ARRAY_PUSH(*signers, sr_signer_t) = (sr_signer_t){.fields = fields};
    }
    return sr_signers_resolve(*signers, documents, &(sr_resolving_t){.max_fields = 1000}, pool);
}

static void is_existing_refused(const char *one, const char *other, const char *message)
{
    apr_array_header_t *signers;
    const sr_error_t *error = resolve_existing(&signers, one, other);
    is_str(error ? error->message : NULL, message, "%s and %s", one, other ? other : "nothing");
}

static void test_existing(void)
{
    apr_array_header_t *signers;
    ok(!resolve_existing(&signers, "Tenant", "Landlord"), "existing fields are found");
    const sr_field_t *field = &APR_ARRAY_IDX(APR_ARRAY_IDX(signers, 0, sr_signer_t).fields, 0, sr_field_t);
    is_int(field->placement.page, 1, "the field is on its page");
    is_num(field->placement.rect[0], 110, "the field has the rectangle of the existing field");
    is_num(field->placement.rect[3], 792, "the rectangle is in user space");
    is_num(field->placement.percent[0], 100 * 692.0 / 792,
           "the percentages refer to the page as it is shown, which is rotated");
    is_num(field->placement.percent[1], 100 * 10.0 / 512, "the percentages count from the top");
    is_existing_refused("Guest", NULL, "Document form.pdf has no signature field Guest");
    is_existing_refused("Author", NULL, "Document form.pdf: signature field Author is signed already");
    is_existing_refused("Tenant", "Tenant", "Document form.pdf: signature field Tenant is named more than once");
}

/* --- fields with values, and initials on all pages */

static sr_field_t field_of(const char *type, const char *document, double width)
{
    sr_field_t field = {.type = sr_field_type(type), .name = type, .document = document};
    field.area = (sr_area_t){.x = 61.2, .y = 79.2, .w = width, .h = 9, .origin = SR_ORIGIN_TOP_LEFT};
    const json_t *members = sr_json_own(json_pack("{}"), pool);
    if (field.type->filler != SR_FILLER_SEAL && sr_entry_read(&field.entry, field.type, members, pool)) abort();
    field.on_all_pages = field.type->initials;
    return field;
}

/* Returns two signers: the first has a signature in b".pdf, and the second the same and one more field. */
static apr_array_header_t *signers_with(sr_field_t field)
{
    apr_array_header_t *signers = apr_array_make(pool, 2, sizeof(sr_signer_t));
    for (int i = 0; i < 2; i++) {
        apr_array_header_t *fields = apr_array_make(pool, 2, sizeof(sr_field_t));
        APR_ARRAY_PUSH(fields, sr_field_t) = field_of("signature", "b\".pdf", 30);
        if (i) APR_ARRAY_PUSH(fields, sr_field_t) = field;
        if (i) APR_ARRAY_IDX(fields, 1, sr_field_t).number = 2;
        APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){.fields = fields};
    }
    return signers;
}

/* Returns the error, or the first remark, or NULL. */
static const char *fault_with(sr_field_t field, int max_fields)
{
    apr_array_header_t *signers = signers_with(field);
    sr_remarks_t *remarks = sr_remarks_make(pool);
    const sr_error_t *error = sr_signers_resolve(signers, documents, &(sr_resolving_t){.max_fields = max_fields}, pool);
    if (error) return error->code == SR_EBADREQUEST ? error->message : "the wrong code";
    sr_signers_remark(remarks, signers, documents);
    return json_string_value(json_array_get(sr_json_own(sr_remarks_json(remarks), pool), 0));
}

#define SMALL(width) "Signer 2, Field 2: the area is less than " width " points wide or 8 points high"

static void test_values(void)
{
    is_str(fault_with(field_of("checkbox", "b\".pdf", 8), 9), NULL, "a check box may be as small as a letter");
    is_str(fault_with(field_of("checkbox", "b\".pdf", 7), 9), SMALL("8"), "but not smaller");
    is_str(fault_with(field_of("text", "b\".pdf", 19), 9), SMALL("20"), "a text needs more width");
    is_str(fault_with(field_of("text", "a.pdf", 30), 9),
           "Signer 2, Field 2: Document a.pdf needs a field of type signature of this signer",
           "a value needs a signature in its document");
    is_str(fault_with(field_of("text", "signed.pdf", 30), 9),
           "Document signed.pdf is signed: only fields of type signature can be added",
           "a signed document gets no values");
    is_str(fault_with(field_of("signature", "signed.pdf", 30), 9), NULL, "but signatures");
}

static void test_all_pages(void)
{
    const sr_field_t initials = field_of("initials", "b\".pdf", 30);
    apr_array_header_t *signers = signers_with(initials);
    for (int i = 0; i < 2; i++) {
        ok(!sr_signers_resolve(signers, documents, &(sr_resolving_t){.max_fields = 5}, pool),
           "initials on three pages, time %d", i + 1);
        const apr_array_header_t *fields = APR_ARRAY_IDX(signers, 1, sr_signer_t).fields;
        is_int(fields->nelts, 4, "one field for each page");
        for (int k = 1; k < fields->nelts; k++)
            is_int(APR_ARRAY_IDX(fields, k, sr_field_t).placement.page, k - 1, "field %d is on its page", k);
    }
    is_str(fault_with(initials, 4), "At most 4 fields can be provided", "they count for the limit of all signers");
    is_str(fault_with(field_of("initials", "x.pdf", 30), 9), "Document x.pdf not found", "an unknown document");
}

/* Messages name a field after one that is on all pages as the request counts it. */
static void test_numbers(void)
{
    apr_array_header_t *signers = signers_with(field_of("initials", "b\".pdf", 30));
    apr_array_header_t *fields = apr_array_copy(pool, APR_ARRAY_IDX(signers, 1, sr_signer_t).fields);
    sr_field_t *small = apr_array_push(fields);
    *small = field_of("signature", "b\".pdf", 9);
    small->number = 3;
    APR_ARRAY_IDX(signers, 1, sr_signer_t).fields = fields;
    sr_remarks_t *remarks = sr_remarks_make(pool);
    ok(!sr_signers_resolve(signers, documents, &(sr_resolving_t){.max_fields = 9}, pool),
       "three initials and a small signature");
    sr_signers_remark(remarks, signers, documents);
    json_t *list = sr_json_own(sr_remarks_json(remarks), pool);
    is_str(json_string_value(json_array_get(list, 0)),
           "Signer 2, Field 3: the area is less than 20 points wide or 8 points high", "the remark has its number");
}

/* The date on each page has its own value and picture. */
static void test_all_dates(void)
{
    sr_field_t date = field_of("date", "b\".pdf", 30);
    date.on_all_pages = true;
    apr_array_header_t *signers = signers_with(date);
    ok(!sr_signers_resolve(signers, documents, &(sr_resolving_t){.max_fields = 5}, pool), "a date on three pages");
    const sr_field_t *fields = (const sr_field_t *)APR_ARRAY_IDX(signers, 1, sr_signer_t).fields->elts;
    fields[1].entry->content = "one";
    fields[2].entry->content = "other";
    is_str(fields[1].entry->content, "one", "each page has an entry of its own");
    is_str(fields[3].entry->content, NULL, "the other pages have none");
}

/* Resolves a field whose page counts from the end of b".pdf, and returns the error. */
static sr_error_t *resolve_from_end(sr_field_t *field, int page)
{
    sr_field_t sent = field_of("signature", "b\".pdf", 30);
    sent.area.page = page;
    sent.area.from_end = true;
    apr_array_header_t *signers = signers_with(sent);
    sr_error_t *error = sr_signers_resolve(signers, documents, &(sr_resolving_t){.max_fields = 9}, pool);
    if (!error)
        error = sr_signers_resolve(signers, documents, &(sr_resolving_t){.max_fields = 9},
                                   pool); /* as after a repair of the document */
    *field = APR_ARRAY_IDX(APR_ARRAY_IDX(signers, 1, sr_signer_t).fields, 1, sr_field_t);
    return error;
}

static void test_from_end(void)
{
    sr_field_t field;
    for (int page = 0; page < 3; page++) {
        ok(!resolve_from_end(&field, page), "page %d from the end is found", page);
        is_int(field.placement.page, 2 - page, "it is page %d", 2 - page);
        is_int(field.area.page, page, "the area is as it was sent");
    }
    is_num(field.placement.rect[3], 792 - 79.2, "the place is on that page");
    const sr_error_t *error = resolve_from_end(&field, 3);
    is_str(error ? error->message : NULL, "Index page unknown", "the page before the first");
    is_str(error ? error->hint : NULL, "page 3 from the end of b\".pdf: it has 3, counted from 0", "with a hint");
    error = resolve_from_end(&field, 2147483647);
    is_str(error ? error->message : NULL, "Index page unknown", "a page with a huge number");
}

/* Fields that are stored, read and resolved again have the same places. */
static void test_stored(void)
{
    sr_field_t field = field_of("initials", "b\".pdf", 10);
    field.area.percent = true;
    apr_array_header_t *signers = signers_with(field);
    field = field_of("signature", "b\".pdf", 10);
    field.area.percent = field.area.from_end = true;
    APR_ARRAY_PUSH((apr_array_header_t *)APR_ARRAY_IDX(signers, 0, sr_signer_t).fields, sr_field_t) = field;
    ok(!sr_signers_resolve(signers, documents, &(sr_resolving_t){.max_fields = 9}, pool),
       "fields in percent on all pages and on the last");
    json_t *stored[2];
    for (int i = 0; i < 2; i++) {
        sr_signer_t *signer = &APR_ARRAY_IDX(signers, i, sr_signer_t);
        stored[i] = sr_json_own(sr_signer_fields_json(signer), pool);
        ok(!sr_signer_fields_parse(signer, stored[i], pool), "stored fields are read");
    }
    ok(!sr_signers_resolve(signers, documents, &(sr_resolving_t){.max_fields = 9}, pool), "they are resolved again");
    for (int i = 0; i < 2; i++)
        ok(json_equal(sr_json_own(sr_signer_fields_json(&APR_ARRAY_IDX(signers, i, sr_signer_t)), pool), stored[i]),
           "they have the same places");
}

static void test_percent(void)
{
    sr_field_t field = field_of("signature", "b\".pdf", 10);
    field.area.page = 2;
    field.area.percent = true;
    is_str(fault_with(field, 9), NULL, "an area in percent on a rotated page has no remark");
    field.area.w = 2;
    is_str(fault_with(field, 9), SMALL("20"), "its size in points counts");
    field.area.w = 50;
    is_str(fault_with(field, 9), "Signer 2, Field 2: the area lies partly outside of page 2", "as its place does");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    documents = apr_array_make(pool, 4, sizeof(sr_document_t));
    add_document("uuid-a", "a.pdf", NULL,
                 "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,792,0]],\"signatures\":0,\"normalise\":false}");
    add_document("uuid-b", "b\".pdf", "b%22.pdf",
                 "{\"version\":5,\"pages\":3,\"runs\":[[2,0,0,612,792,0],[1,100,0,612,792,90]],\"signatures\":0,"
                 "\"normalise\":false}");
    add_document("uuid-c", "c\".pdf", "c%22.pdf",
                 "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,792,0]],\"signatures\":0,\"normalise\":false}");
    add_document("uuid-d", "c%22.pdf", "c%2522.pdf",
                 "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,792,0]],\"signatures\":0,\"normalise\":false}");
    add_document("uuid-e", "form.pdf", NULL,
                 "{\"version\":5,\"pages\":2,\"runs\":[[1,0,0,612,792,0],[1,100,0,612,792,90]],\"signatures\":0,"
                 "\"normalise\":false,\"fields\":[{\"name\":\"Tenant\",\"page\":1,\"rect\":[110,692,210,792]},"
                 "{\"name\":\"Landlord\",\"page\":0,\"rect\":[0,0,9,9]},"
                 "{\"name\":\"Author\",\"fault\":\"signed\"}]}");
    add_document("uuid-f", "signed.pdf", NULL,
                 "{\"version\":5,\"pages\":1,\"runs\":[[1,0,0,612,792,0]],\"signatures\":1,\"normalise\":false}");
    test_resolved();
    test_existing();
    test_refused();
    test_values();
    test_all_pages();
    test_all_dates();
    test_numbers();
    test_from_end();
    test_percent();
    test_stored();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
