/* SPDX-License-Identifier: Apache-2.0 */
/* form.c: what the catalog and the form of a document permit: existing signatures, their restrictions, and forms that
 * PDF readers cannot show.
 *
 * Preparing a document adds signature fields or uses empty ones. According to ISO 32000-2, table 257 (12.8.2.2), a
 * certified document permits nothing at level 1, form filling, page templates and signing at level 2, and also
 * annotations at level 3. No level permits new fields, which would break the certification. Its empty signature fields
 * may be signed at levels 2 and 3. The same table applies to /P of the /Lock of a signature field (table 236). A field
 * lock (FieldMDP, table 259) covers new fields if it is for all fields or for all except some. It covers empty fields
 * by their names.
 */
#include "helper/main/pdfd.h"

#include <string.h>

#define MAX_REFERENCES 64

static const char CERTIFIED[] = "it is certified, and its certification allows no new signature fields";
static const char FINAL[] = "it is certified, and its certification permits no changes";
static const char LOCKED[] = "an earlier signature locks its form";
static const char DYNAMIC_XFA[] = "it is a dynamic XFA form, which PDF readers cannot show";
static const char TOO_LARGE[] = "its form has too many fields, or too deeply nested ones";

typedef struct scan_t {
    qpdf_data q;
    sr_pdfd_form_t *form;
    int budget;
    apr_pool_t *pool;
} scan_t;

static bool is_true(qpdf_data q, qpdf_oh dictionary, const char *key)
{
    QPDF_BOOL value = QPDF_FALSE;
    return qpdf_oh_get_value_as_bool(q, qpdf_oh_get_key(q, dictionary, key), &value) && value;
}

static bool form_is_name(qpdf_data q, qpdf_oh dictionary, const char *key, const char *name)
{
    return qpdf_oh_is_name_and_equals(q, qpdf_oh_get_key(q, dictionary, key), name);
}

/* Returns /P of a certification or lock: 2 if it is missing, 1 if it is not valid. */
static int read_level(qpdf_data q, qpdf_oh parameters)
{
    int level = 2;
    if (!qpdf_oh_is_dictionary(q, parameters) || !qpdf_oh_has_key(q, parameters, "/P")) return level;
    if (!qpdf_oh_get_value_as_int(q, qpdf_oh_get_key(q, parameters, "/P"), &level) || level > 3) level = 1;
    return level;
}

/* Sets `reason` as the reason against new fields. Returns `final` at level 1, which permits nothing. */
static const char *limit(sr_pdfd_form_t *form, int level, const char *final, const char *reason)
{
    form->fixed = reason;
    return level < 2 ? final : NULL;
}

/* Reads a /Lock or the parameters of a FieldMDP, which have the same form. */
static const char *read_lock(scan_t *scan, qpdf_oh lock)
{
    qpdf_data q = scan->q;
    if (!qpdf_oh_is_dictionary(q, lock)) return NULL;
    sr_pdfd_lock_t *made = apr_array_push(scan->form->locks);
    *made =
        (sr_pdfd_lock_t){form_is_name(q, lock, "/Action", "/Exclude"), apr_array_make(scan->pool, 4, sizeof(char *))};
    if (made->excludes) scan->form->fixed = LOCKED;
    else if (!form_is_name(q, lock, "/Action", "/Include")) return LOCKED;
    qpdf_oh names = qpdf_oh_get_key(q, lock, "/Fields");
    int count = sr_pdfd_items(q, names);
    for (int i = 0; i < count; i++) {
        qpdf_oh name = qpdf_oh_get_array_item(q, names, i);
        if (scan->budget-- == 0) return TOO_LARGE;
        if (qpdf_oh_is_string(q, name))
            APR_ARRAY_PUSH(made->names, const char *) = apr_pstrdup(scan->pool, qpdf_oh_get_utf8_value(q, name));
    }
    return NULL;
}

bool sr_pdfd_form_locks(const sr_pdfd_form_t *form, const char *name)
{
    for (int i = 0; i < form->locks->nelts; i++) {
        const sr_pdfd_lock_t *lock = &APR_ARRAY_IDX(form->locks, i, sr_pdfd_lock_t);
        bool named = false;
        for (int j = 0; j < lock->names->nelts; j++) {
            const char *other = APR_ARRAY_IDX(lock->names, j, const char *);
            const size_t length = strlen(other); /* a field includes the fields below it */
            named |= !strncmp(name, other, length) && (!name[length] || name[length] == '.');
        }
        if (named != lock->excludes) return true;
    }
    return false;
}

/* Reads the references of a signature. *certifies is set if one of them is a certification. */
static const char *read_references(scan_t *scan, bool *certifies, qpdf_oh signature)
{
    qpdf_data q = scan->q;
    qpdf_oh references = qpdf_oh_get_key(q, signature, "/Reference");
    int count = sr_pdfd_items(q, references);
    const char *reason = count > MAX_REFERENCES ? LOCKED : NULL;
    for (int i = 0; !reason && i < count; i++) {
        qpdf_oh reference = qpdf_oh_get_array_item(q, references, i);
        if (!qpdf_oh_is_dictionary(q, reference)) continue;
        qpdf_oh parameters = qpdf_oh_get_key(q, reference, "/TransformParams");
        const bool certified = form_is_name(q, reference, "/TransformMethod", "/DocMDP");
        if (certified) reason = limit(scan->form, read_level(q, parameters), FINAL, CERTIFIED);
        else if (form_is_name(q, reference, "/TransformMethod", "/FieldMDP")) reason = read_lock(scan, parameters);
        *certifies |= certified;
    }
    return reason;
}

static const char *read_signed_field(scan_t *scan, qpdf_oh field, qpdf_oh signature)
{
    qpdf_data q = scan->q;
    bool certifies;
    scan->form->signatures++;
    qpdf_oh lock = qpdf_oh_get_key(q, field, "/Lock");
    const char *reason = read_lock(scan, lock);
    if (!reason && qpdf_oh_is_dictionary(q, lock) && qpdf_oh_has_key(q, lock, "/P"))
        reason = limit(scan->form, read_level(q, lock), LOCKED, LOCKED);
    return reason ? reason : read_references(scan, &certifies, signature);
}

/* The signature that certifies the document need not be the value of a field. */
static const char *read_certification(scan_t *scan, qpdf_oh root)
{
    qpdf_data q = scan->q;
    qpdf_oh permissions = qpdf_oh_get_key(q, root, "/Perms");
    bool certifies = false;
    if (!qpdf_oh_is_dictionary(q, permissions) || !qpdf_oh_has_key(q, permissions, "/DocMDP")) return NULL;
    qpdf_oh signature = qpdf_oh_get_key(q, permissions, "/DocMDP");
    const char *reason = qpdf_oh_is_dictionary(q, signature) ? read_references(scan, &certifies, signature) : CERTIFIED;
    return reason || certifies ? reason : CERTIFIED; /* its permissions are unknown */
}

/* `is_signature`: the fields inherit the type /Sig (/FT). */
// NOLINTNEXTLINE(misc-no-recursion): SR_PDFD_FORM_DEPTH
static const char *form_read_fields(scan_t *scan, qpdf_oh fields, int depth, bool is_signature)
{
    qpdf_data q = scan->q;
    int count = sr_pdfd_items(q, fields);
    if (count > 0 && depth == SR_PDFD_FORM_DEPTH) return TOO_LARGE;
    const char *reason = NULL;
    for (int i = 0; !reason && i < count; i++) {
        if (scan->budget-- == 0) return TOO_LARGE;
        qpdf_oh field = qpdf_oh_get_array_item(q, fields, i);
        if (qpdf_oh_is_dictionary(q, field)) {
            bool own = is_signature;
            if (qpdf_oh_is_name(q, qpdf_oh_get_key(q, field, "/FT"))) own = form_is_name(q, field, "/FT", "/Sig");
            qpdf_oh value = qpdf_oh_get_key(q, field, "/V");
            if (own && qpdf_oh_is_dictionary(q, value) && qpdf_oh_has_key(q, value, "/ByteRange"))
                reason = read_signed_field(scan, field, value);
            if (!reason) reason = form_read_fields(scan, qpdf_oh_get_key(q, field, "/Kids"), depth + 1, own);
        }
        qpdf_oh_release(q, field);
    }
    return reason;
}

bool sr_pdfd_usage_rights(qpdf_data q, bool ends)
{
    static const char *const kinds[] = {"/UR", "/UR3"};
    qpdf_oh permissions = qpdf_oh_get_key(q, qpdf_get_root(q), "/Perms");
    bool found = false;
    for (size_t i = 0; qpdf_oh_is_dictionary(q, permissions) && i < sizeof kinds / sizeof *kinds; i++) {
        found = found || qpdf_oh_has_key(q, permissions, kinds[i]);
        if (ends) qpdf_oh_remove_key(q, permissions, kinds[i]);
    }
    return found;
}

const char *sr_pdfd_form_read(sr_pdfd_form_t *form, qpdf_data q, apr_pool_t *pool)
{
    *form = (sr_pdfd_form_t){.locks = apr_array_make(pool, 2, sizeof(sr_pdfd_lock_t))};
    scan_t scan = {.q = q, .form = form, .budget = SR_PDFD_FORM_FIELDS, .pool = pool};
    qpdf_oh root = qpdf_get_root(q);
    const char *reason = read_certification(&scan, root);
    qpdf_oh fields = qpdf_oh_get_key(q, root, "/AcroForm");
    if (reason || !qpdf_oh_is_dictionary(q, fields)) return reason;
    if (qpdf_oh_has_key(q, fields, "/XFA") && is_true(q, root, "/NeedsRendering")) return DYNAMIC_XFA;
    form->need_appearances = is_true(q, fields, "/NeedAppearances");
    return form_read_fields(&scan, qpdf_oh_get_key(q, fields, "/Fields"), 0, false);
}
