/* SPDX-License-Identifier: Apache-2.0 */
/* archive.c: adds proofs and a document timestamp to a document (src/helper/main/fields/stamp.c). The new objects are
 * checked here: the timestamp, its field and the proofs. What of the document is rewritten must end with references to
 * them. Only the document shows that it is otherwise unchanged, so another worker makes the same update (update.c).
 */
#include "helper/client/update.h"

#include <string.h>

#define MOST (SR_PDF_MAX_PROOFS + 8) /* objects */

static const char OTHER_DOCUMENT[] = "it does not continue the document as it stands";
static const char NO_TIMESTAMP[] = "the timestamp is not the requested one";
static const char NO_FIELD[] = "the field of the timestamp is not the requested one";
static const char NEW_OBJECT[] = "it has an object that was not requested";
static const char OLD_OBJECT[] = "an object of the document ends otherwise than with the new field";
static const char MORE[] = "something comes before or follows it";

typedef struct check_t {
    const sr_pdf_appended_t *appended;
    apr_int64_t first; /* the number of the timestamp; that of its field follows */
    const char *field, *contents;
    sr_pdf_added_t added;
    int references; /* number of objects of the document that refer to the field */
    apr_pool_t *pool;
} check_t;

static bool is_timestamp(const check_t *check, const sr_pdf_object_t *object)
{
    static const char between[] = "/Contents", ranges[] = SR_PDF_STAMP "/ByteRange", end[] = ">>";
    const char *contents = object->body.at + sizeof ranges - 1 + SR_PDF_RANGE_WIDTH + sizeof between - 1;
    return !object->is_stream && !object->generation && sr_pdf_span_begins(&object->body, ranges)
           && contents == check->contents && object->body.end == contents + SR_PDF_CONTENTS_DIGITS + 2 + strlen(end)
           && sr_pdf_span_ends(&object->body, end);
}

static bool is_field(const check_t *check, const sr_pdf_object_t *object)
{
    sr_pdf_span_t left = object->body;
    apr_int64_t page, generation;
    if (object->is_stream || object->generation || !sr_pdf_take_text(&left, check->field)) return false;
    if (sr_pdf_take_text(&left, SR_PDF_STAMP_PAGE)
        && (!sr_pdf_take_number(&left, &page) || page >= check->first || !sr_pdf_take_text(&left, " ")
            || !sr_pdf_take_number(&left, &generation) || !sr_pdf_take_text(&left, " R")))
        return false;
    return sr_pdf_span_is(&left, ">>");
}

/* Returns true if the object ends with a reference to the new field. It may be the form, the catalog or an array of
 * fields. */
static bool ends_with_field(const check_t *check, const sr_pdf_object_t *object)
{
    static const char *const ends[] = {"]", "]>>", "]>>>>"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sr_pdf_span_ends(&object->body,
                             apr_psprintf(check->pool, " %" APR_INT64_T_FMT " 0 R %s", check->first + 1, ends[i])))
            return true;
    return false;
}

static const char *archive_check_object(check_t *check, const sr_pdf_object_t *object)
{
    if (object->number == check->first) return is_timestamp(check, object) ? NULL : NO_TIMESTAMP;
    if (object->number == check->first + 1) return is_field(check, object) ? NULL : NO_FIELD;
    if (object->number < check->first && !object->is_stream && ends_with_field(check, object)) {
        check->references++;
        return NULL;
    }
    if (sr_pdf_dss_has(&check->added, object)) return NULL;
    return object->number < check->first ? OLD_OBJECT : NEW_OBJECT;
}

static const char *check_objects(check_t *check, const sr_pdf_sections_t *sections, const sr_pdf_dss_t *dss)
{
    const sr_pdf_trailer_t *trailer = &check->appended->trailer;
    apr_int64_t left = trailer->size - check->first - trailer->is_stream;
    if (trailer->previous != sections->start || !sr_pdf_span_same(&trailer->keys, &sections->last.keys))
        return OTHER_DOCUMENT;
    const char *reason =
        dss ? sr_pdf_dss_check(&check->added, dss, check->appended, check->first + 2, check->pool) : NULL;
    for (int i = 0; !reason && i < check->appended->objects->nelts; i++) {
        const sr_pdf_object_t *object = &APR_ARRAY_IDX(check->appended->objects, i, sr_pdf_object_t);
        reason = archive_check_object(check, object);
        left -= object->number >= check->first;
    }
    if (reason) return reason;
    if (left) return NEW_OBJECT; /* an object number that is counted but not used */
    return check->references == 1 ? NULL : OLD_OBJECT;
}

static const char *check_archived(const sr_pdf_revision_t *revision, const sr_pdf_sections_t *sections,
                                  sr_pdf_dss_t *dss, const char *id, apr_pool_t *pool)
{
    sr_pdf_appended_t appended;
    check_t check = {.appended = &appended, .first = sections->last.size, .pool = pool};
    check.contents = (const char *)revision->bytes + revision->contents;
    check.field =
        apr_psprintf(pool, SR_PDF_STAMP_BEGIN "%s" SR_PDF_STAMP_END "%" APR_INT64_T_FMT " 0 R", id, check.first);
    const char *why = sr_pdf_appended_read(&appended, revision->bytes, revision->length, sections->size, MOST, pool);
    if (!why && (appended.length != revision->length || *revision->bytes == '\n')) why = MORE;
    if (!why) why = sr_pdf_appended_decrypt(&appended, &revision->cipher, &check.contents, pool);
    if (!why && dss && dss->number) why = sr_pdf_appended_decrypt(&dss->known, &revision->cipher, NULL, pool);
    return why ? why : check_objects(&check, sections, dss);
}

static const char *archive_request_text(const sr_pdf_archival_t *archival, const sr_pdf_dss_t *dss, apr_pool_t *pool)
{
    json_t *request = sr_json_own(json_object(), pool);
    json_object_set_new(request, "op", json_string(SR_PDF_OP_ARCHIVE));
    json_object_set_new(request, "id", json_string(archival->id));
    if (dss) json_object_set_new(request, "dss", sr_pdf_dss_json(dss, pool));
    return sr_json_text(request, pool);
}

static sr_error_t *archive(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, const sr_pdf_sections_t *sections,
                           sr_pdf_dss_t *dss, const sr_pdf_archival_t *archival, apr_pool_t *pool)
{
    const sr_pdf_asked_t asked = {.op = SR_PDF_OP_ARCHIVE,
                                  .text = archive_request_text(archival, dss, pool),
                                  .descriptor = sections->descriptor,
                                  .size = sections->size,
                                  .room = SR_PDF_CONTENTS_BYTES};
    SR_TRY(sr_pdf_revision_ask(revision, workers, &asked, pool));
    if (revision->fault) return NULL;
    const char *why = check_archived(revision, sections, dss, archival->id, pool);
    if (why) sr_pdf_refuse(&revision->fault, &revision->reason, workers, SR_PDF_OP_ARCHIVE, why, pool);
    else SR_TRY(sr_pdf_revision_confirm(revision, workers, &asked, pool));
    if (revision->fault) return NULL;
    revision->proven = dss != NULL;
    return sr_pdf_revision_digest(revision, &asked, archival->hash, archival->digest, pool);
}

sr_error_t *sr_pdf_archive(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                           const sr_pdf_archival_t *archival, apr_pool_t *pool)
{
    sr_pdf_sections_t sections;
    sr_pdf_dss_t dss;
    const apr_array_header_t *proofs = sr_pdf_proofs_pack(archival->proofs, pool);
    *revision = (sr_pdf_revision_t){.fault = SR_PDF_DONE};
    SR_TRY(sr_pdf_sections_read(&revision->reason, &sections, descriptor, archival->base_size, size, pool));
    if (revision->reason) {
        revision->fault = SR_PDF_DOCUMENT_AT_FAULT;
        return NULL;
    }
    if (proofs) SR_TRY(sr_pdf_dss_find(&dss, &sections, proofs));
    return archive(revision, workers, &sections, proofs ? &dss : NULL, archival, pool);
}

const void *sr_pdf_archived_token(apr_size_t *length, const void *update, apr_size_t size, apr_pool_t *pool)
{
    static const char begin[] = SR_PDF_STAMP "/ByteRange", contents[] = "/Contents<";
    const char *end = (const char *)update + size, *at = memmem(update, size, begin, sizeof begin - 1);
    unsigned char *token = apr_palloc(pool, SR_PDF_CONTENTS_BYTES);
    if (!at || (apr_size_t)(end - at) < sizeof begin + SR_PDF_RANGE_WIDTH + sizeof contents + SR_PDF_CONTENTS_DIGITS)
        return NULL;
    at += sizeof begin - 1 + SR_PDF_RANGE_WIDTH;
    if (memcmp(at, contents, sizeof contents - 1) != 0) return NULL;
    *length = SR_PDF_CONTENTS_BYTES;
    return sr_cipher_unhex(token, at + sizeof contents - 1, SR_PDF_CONTENTS_DIGITS) ? token : NULL;
}
