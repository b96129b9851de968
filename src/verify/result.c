/* SPDX-License-Identifier: Apache-2.0 */
/* result.c: the result of sr_pdf_verify as JSON. The API responds with it, and sigreqctl prints it. */
#include "verify/verify.h"

const char *sr_pdf_conclusion_name(sr_pdf_conclusion_t conclusion)
{
    static const char *const names[] = {"signed",    "extended", "changed",   "broken",
                                        "unchecked", "unsigned", "unreadable"};
    return names[conclusion];
}

const char *sr_cms_state_name(sr_cms_state_t state)
{
    static const char *const names[] = SR_CMS_STATE_NAMES;
    return names[state];
}

const char *sr_cms_level_name(sr_cms_level_t level)
{
    static const char *const names[] = SR_CMS_LEVEL_NAMES;
    return level == SR_CMS_LEVEL_NONE ? NULL : names[level];
}

const char *sr_cms_stamp_name(sr_cms_stamp_state_t state)
{
    static const char *const names[] = SR_CMS_STAMP_NAMES;
    return names[state];
}

/* Returns true if the document has signatures of this service and of others, so that the reason must mention this.
 * Timestamps are always of others. */
static bool is_mixed(const sr_pdf_verification_t *found)
{
    int ours = 0, others = 0;
    for (int i = 0; i < found->count; i++) {
        ours += found->signatures[i].signer.ours;
        others += !found->signatures[i].signer.ours && !found->signatures[i].timestamp;
    }
    return ours > 0 && others > 0;
}

/* Returns true if a document timestamp covers the whole document, and no signature of a person does. */
static bool is_archived(const sr_pdf_verification_t *found)
{
    bool stamp = false, person = false;
    for (int i = 0; i < found->count; i++) {
        const sr_pdf_found_t *one = &found->signatures[i];
        stamp = stamp || (one->whole && one->timestamp);
        person = person || (one->whole && !one->timestamp);
    }
    return stamp && !person;
}

const char *sr_pdf_verification_reason(const sr_pdf_verification_t *found)
{
#define MIXED "not all signatures are of this service; "
#define BOTH(sentence)                                                                                                 \
    {                                                                                                                  \
        sentence, MIXED sentence                                                                                       \
    }
    static const char *const sentences[][2] = {
        [SR_PDF_SIGNED] = BOTH("every signature is intact, and nothing was added after the last"),
        [SR_PDF_EXTENDED] = BOTH("every signature is intact, and something was added after the last"),
        [SR_PDF_CHANGED] = BOTH("the document was changed between its signatures, in a way that they do not explain"),
        [SR_PDF_BROKEN] = BOTH("not every signature is intact"),
        [SR_PDF_UNCHECKED] = BOTH("not every signature can be checked here"),
        [SR_PDF_UNSIGNED] = BOTH("it has no signatures"),
    };
    static const char *const locked[] = BOTH("a field that a signature locks was changed after the last signature");
    static const char *const incomparable[] = BOTH("what was changed between its signatures cannot be determined here");
    static const char *const archived[] =
        BOTH("every signature is intact, and a document timestamp covers the data for "
             "their validation that was added after the last");
    static const char *const validation[] =
        BOTH("every signature is intact, and data for their validation was added after the last");
    bool mixed = is_mixed(found);
    if (found->conclusion == SR_PDF_SIGNED && is_archived(found)) return archived[mixed];
    if (found->conclusion == SR_PDF_EXTENDED && found->validation) return validation[mixed];
    if (found->conclusion == SR_PDF_CHANGED && found->locked) return locked[mixed];
    if (found->conclusion == SR_PDF_UNCHECKED && found->incomparable) return incomparable[mixed];
    if (found->conclusion != SR_PDF_UNREADABLE) return sentences[found->conclusion][mixed];
    if (found->verdict == SR_PDF_PASSWORD) return "it is encrypted";
    return found->verdict == SR_PDF_REFUSED ? found->reason : "it is not a PDF, or is damaged beyond repair";
}

static json_t *result_signer_json(const sr_cms_certificate_t *signer)
{
    if (!signer) return json_null();
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(signer->name));
    json_object_set_new(object, "subject", json_string(signer->subject));
    json_object_set_new(object, "issuer", json_string(signer->issuer));
    json_object_set_new(object, "serial", json_string(signer->serial));
    json_object_set_new(object, "sha256", json_string(signer->sha256));
    json_object_set_new(object, "key", json_string(signer->key));
    json_object_set_new(object, "beginsAt", sr_time_json(signer->from));
    json_object_set_new(object, "expiresAt", sr_time_json(signer->until));
    return object;
}

static json_t *texts_json(const char *const *texts)
{
    if (!texts) return json_null();
    json_t *array = json_array();
    for (; *texts; texts++) json_array_append_new(array, json_string(*texts));
    return array;
}

static json_t *stamp_json(const sr_cms_stamp_t *stamp)
{
    if (stamp->state == SR_CMS_STAMP_NONE) return json_null();
    json_t *object = json_object();
    json_object_set_new(object, "time", sr_time_json(stamp->time));
    json_object_set_new(object, "authority", sr_json_string_or_null(stamp->authority));
    json_object_set_new(object, "state", json_string(sr_cms_stamp_name(stamp->state)));
    json_object_set_new(object, "fault", sr_json_string_or_null(stamp->fault));
    return object;
}

static json_t *result_signature_json(const sr_pdf_found_t *one)
{
    static const char *const trusts[] = SR_CMS_TRUST_NAMES;
    json_t *object = json_object();
    json_object_set_new(object, "field", json_string(one->field));
    json_object_set_new(object, "kind", json_string(one->timestamp ? "timestamp" : "signature"));
    json_object_set_new(object, "state", json_string(sr_cms_state_name(one->state)));
    json_object_set_new(object, "fault", sr_json_string_or_null(one->fault));
    json_object_set_new(object, "whole", json_boolean(one->whole));
    json_object_set_new(object, "covers", one->covers ? json_integer(one->covers) : json_null());
    json_object_set_new(object, "laterUpdates", one->later < 0 ? json_null() : json_integer(one->later));
    json_object_set_new(object, "changes", texts_json(one->changes));
    json_object_set_new(object, "filled", texts_json(one->filled));
    json_object_set_new(object, "drawn", texts_json(one->drawn));
    json_object_set_new(object, "ours", json_boolean(one->signer.ours));
    json_object_set_new(object, "name", sr_json_string_or_null(one->name));
    json_object_set_new(object, "reason", sr_json_string_or_null(one->reason));
    json_object_set_new(object, "contact", sr_json_string_or_null(one->contact));
    json_object_set_new(object, "claimedAt", sr_time_json(one->claimed));
    json_object_set_new(object, "signer", result_signer_json(one->signer.signer));
    json_object_set_new(object, "algorithm", sr_json_string_or_null(one->signer.algorithm));
    json_object_set_new(object, "expired", json_boolean(one->signer.expired));
    json_object_set_new(object, "trust", json_string(trusts[one->signer.trust]));
    json_object_set_new(object, "distrust", sr_json_string_or_null(one->signer.distrust));
    json_object_set_new(object, "level", sr_json_string_or_null(sr_cms_level_name(one->signer.level)));
    json_object_set_new(object, "timestamp", stamp_json(&one->signer.stamp));
    json_object_set_new(object, "provenUntil", sr_time_json(one->signer.proven_until));
    return object;
}

json_t *sr_pdf_verification_json(const sr_pdf_verification_t *found)
{
    json_t *response = json_object(), *all = json_array();
    json_object_set_new(response, "conclusion", json_string(sr_pdf_conclusion_name(found->conclusion)));
    json_object_set_new(response, "reason", json_string(sr_pdf_verification_reason(found)));
    for (int i = 0; i < found->count; i++) json_array_append_new(all, result_signature_json(&found->signatures[i]));
    json_object_set_new(response, "signatures", all);
    return response;
}
