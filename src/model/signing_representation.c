/* SPDX-License-Identifier: Apache-2.0 */
/* signing_view.c: what a signer is told of their submission: all they may know, and no secret of another's. The uuids
 * of other signers are their links, so they are nowhere in it. */
#include "model/model.h"

#include <string.h>

static void copy(json_t *to, const json_t *from, const char *const *keys)
{
    for (; *keys; keys++) {
        json_t *const value = json_object_get(from, *keys);

        if (value) json_object_set(to, *keys, value);
    }
}

/* [[pages, width, height], …]: sizes of pages as displayed, in points, one after the other. */
static json_t *sizes(const sr_pages_t *pages)
{
    json_t *const list = json_array();
    int i;

    for (i = 0; pages && i < pages->runs->nelts; i++) {
        const sr_list_run_t *const run = &APR_ARRAY_IDX(pages->runs, i, sr_list_run_t);
        const double width = run->page.box[2] - run->page.box[0], height = run->page.box[3] - run->page.box[1];
        const bool turned = run->page.rotate % 180 != 0;
        json_t *const row = json_array();

        json_array_append_new(row, json_integer(run->count));
        json_array_append_new(row, json_real(turned ? height : width));
        json_array_append_new(row, json_real(turned ? width : height));
        json_array_append_new(list, row);
    }
    return list;
}

/* The document's part of the submission's view, or NULL. */
static const json_t *view_of(const sr_signing_t *signing, const sr_document_state_t *document)
{
    const json_t *const list = json_object_get(signing->view, "documents");
    size_t i;

    for (i = 0; i < json_array_size(list); i++) {
        const char *const uuid = sr_json_string(json_array_get(list, i), "uuid");

        if (uuid && !strcmp(uuid, document->uuid)) return json_array_get(list, i);
    }
    return NULL;
}

static json_t *documents(const sr_signing_t *signing, const char *link, apr_pool_t *pool)
{
    static const char *const said[] = {"warnings", NULL};
    json_t *const list = json_array();
    int i;

    for (i = 0; i < signing->documents->nelts; i++) {
        const sr_document_state_t *const document = &APR_ARRAY_IDX(signing->documents, i, sr_document_state_t);
        json_t *const row = json_object();

        json_object_set_new(row, "uuid", json_string(document->uuid));
        json_object_set_new(row, "name", json_string(document->name));
        json_object_set_new(row, "url", json_string(apr_pstrcat(pool, link, "/documents/", document->uuid, NULL)));
        json_object_set_new(row, "sha256", json_string(sr_document_state_sha256(document)));
        json_object_set_new(row, "size", json_integer(sr_document_state_size(document)));
        json_object_set_new(row, "pages", json_integer(document->pages));
        json_object_set_new(row, "sizes", sizes(document->boxes));
        copy(row, view_of(signing, document), said);
        json_array_append_new(list, row);
    }
    return list;
}

static const sr_document_state_t *document_of(const sr_signing_t *signing, const char *name)
{
    int i;

    for (i = 0; name && i < signing->documents->nelts; i++) {
        const sr_document_state_t *const document = &APR_ARRAY_IDX(signing->documents, i, sr_document_state_t);

        if (!strcmp(document->name, name)) return document;
    }
    return NULL;
}

/* The number of the field's caption in the answer of {link}/preview, and how much of its height that takes, in percent.
 * NULL: it has none. */
static json_t *caption(const sr_signing_t *signing, const sr_document_state_t *document, const json_t *field,
                       apr_pool_t *pool)
{
    const int number = sr_caption_number(signing->submitter, field, pool);
    const json_t *rect = json_object_get(field, "rect");
    const int index = (int)json_integer_value(json_object_get(field, "page"));
    const sr_pages_t *boxes = number >= 0 && document ? document->boxes : NULL;
    const sr_page_t *page = boxes ? sr_pages_at(boxes, index) : NULL;
    if (!page) return NULL;
    const size_t side = page->rotate % 180 ? 0 : 1;
    const double height =
        json_number_value(json_array_get(rect, side + 2)) - json_number_value(json_array_get(rect, side));
    const double line = sr_caption_line(height);
    if (line == 0) return NULL;
    return json_pack("{s:i,s:f}", "number", number, "height", 100 * line / height);
}

/* The signer's fields, each with the uuid of its document in place of the name. */
static json_t *fields(const sr_signing_t *signing, apr_pool_t *pool)
{
    static const char *const keys[] = {"name", "type", "page", "percent", NULL};
    const json_t *const own = json_object_get(signing->submitter, "fields");
    json_t *const list = json_array();
    size_t i;

    for (i = 0; i < json_array_size(own); i++) {
        const json_t *const field = json_array_get(own, i);
        json_t *const row = json_object();

        const sr_document_state_t *const document = document_of(signing, sr_json_string(field, "document"));
        json_t *const line = caption(signing, document, field, pool);

        json_object_set_new(row, "document", sr_json_string_or_null(document ? document->uuid : NULL));
        copy(row, field, keys);
        if (line) json_object_set_new(row, "caption", line);
        json_array_append_new(list, row);
    }
    return list;
}

json_t *sr_signing_representation(const sr_signing_t *signing, const sr_consent_t *consent, const char *link,
                                  apr_pool_t *pool)
{
    static const char *const head[] = {"name", "createdAt", NULL},
                             *const person[] = {"firstname", "lastname", "email", NULL},
                             *const later[] = {"status", "openedAt", "completedAt", "refusedAt", "refusalReason", NULL};
    const char *const own_link = sr_json_string(signing->submitter, "signatureLink");
    json_t *const view = json_object(), *const requester = json_object(), *const self = json_object(),
                  *const terms = json_object();

    copy(view, signing->view, head);
    json_object_set_new(view, "state", json_string(sr_signing_state_name(signing->state)));
    copy(view, signing->submitter, later);
    json_object_set_new(view, "environment", json_string(sr_environment_name(signing->environment)));
    json_object_set_new(view, "skipIntro", json_boolean(own_link && strchr(own_link, '?')));
    copy(requester, json_object_get(signing->view, "createdBy"), person);
    json_object_set_new(requester, "organization", json_string(signing->organization));
    json_object_set_new(view, "requester", requester);
    copy(self, signing->submitter, person);
    json_object_set_new(view, "signer", self);
    json_object_set_new(terms, "version", json_string(consent->version));
    json_object_set_new(terms, "language", json_string(consent->language));
    json_object_set_new(terms, "text", json_string(consent->text));
    json_object_set_new(view, "consent", terms);
    json_object_set_new(view, "documents", documents(signing, link, pool));
    json_object_set_new(view, "fields", fields(signing, pool));
    json_object_set_new(
        view, "certificate",
        sr_json_string_or_null(signing->certificate_sha256 ? apr_pstrcat(pool, link, "/certificate", NULL) : NULL));
    return view;
}
