/* form.c: what the catalog and the form of a document say about signing it: signatures it has, promises they
 * made, and forms that are drawn by no PDF reader.
 *
 * Preparing a document adds signature fields. By ISO 32000-2, table 257 (12.8.2.2), a certified document allows at
 * level 1 nothing, at level 2 filling, page templates and signing, at level 3 annotations too: at no level new
 * fields, so the certification would show as broken. All three are refused. The same table governs /P of a
 * signature field's /Lock (table 236). A field lock (FieldMDP, table 259) covers new fields when it is for all
 * fields or for all but some; one that names its fields leaves room. */
#include "pdfd/pdfd.h"

#include <string.h>

#define MAX_DEPTH 32
#define MAX_FIELDS 50000
#define MAX_REFERENCES 64

static const char CERTIFIED[] = "it is certified, and its certification allows no new signature fields";
static const char LOCKED[] = "an earlier signature locks its form";
static const char DYNAMIC_XFA[] = "it is a dynamic XFA form, which PDF readers cannot show";
static const char TOO_LARGE[] = "its form has too many fields, or too deeply nested ones";

typedef struct scan_t {
    qpdf_data q;
    sr_pdfd_form_t *form;
    int budget;
} scan_t;

static bool is_true(qpdf_data q, qpdf_oh dictionary, const char *key)
{
    QPDF_BOOL value = QPDF_FALSE;
    return qpdf_oh_get_value_as_bool(q, qpdf_oh_get_key(q, dictionary, key), &value) && value;
}

static bool is_name(qpdf_data q, qpdf_oh dictionary, const char *key, const char *name)
{
    return qpdf_oh_is_name_and_equals(q, qpdf_oh_get_key(q, dictionary, key), name);
}

/* A /Lock, or the parameters of a FieldMDP, which are built alike. */
static bool covers_new_fields(qpdf_data q, qpdf_oh lock)
{
    return qpdf_oh_is_dictionary(q, lock) && !is_name(q, lock, "/Action", "/Include");
}

static const char *read_references(qpdf_data q, qpdf_oh signature)
{
    qpdf_oh references = qpdf_oh_get_key(q, signature, "/Reference");
    int count = qpdf_oh_is_array(q, references) ? qpdf_oh_get_array_n_items(q, references) : 0;
    if (count > MAX_REFERENCES) return LOCKED;
    for (int i = 0; i < count; i++) {
        qpdf_oh reference = qpdf_oh_get_array_item(q, references, i);
        if (!qpdf_oh_is_dictionary(q, reference)) continue;
        if (is_name(q, reference, "/TransformMethod", "/DocMDP")) return CERTIFIED;
        if (is_name(q, reference, "/TransformMethod", "/FieldMDP")
            && covers_new_fields(q, qpdf_oh_get_key(q, reference, "/TransformParams")))
            return LOCKED;
    }
    return NULL;
}

static const char *read_signed_field(scan_t *scan, qpdf_oh field, qpdf_oh signature)
{
    qpdf_data q = scan->q;
    scan->form->signatures++;
    qpdf_oh lock = qpdf_oh_get_key(q, field, "/Lock");
    if (covers_new_fields(q, lock)) return LOCKED;
    if (qpdf_oh_is_dictionary(q, lock) && qpdf_oh_has_key(q, lock, "/P")) return LOCKED;
    return read_references(q, signature);
}

/* `is_signature`: the type that the fields inherit (/FT). */
static const char *read_fields(scan_t *scan, qpdf_oh fields, int depth, bool is_signature)
{
    qpdf_data q = scan->q;
    int count = qpdf_oh_is_array(q, fields) ? qpdf_oh_get_array_n_items(q, fields) : 0;
    if (count > 0 && depth == MAX_DEPTH) return TOO_LARGE;
    const char *reason = NULL;
    for (int i = 0; !reason && i < count; i++) {
        if (scan->budget-- == 0) return TOO_LARGE;
        qpdf_oh field = qpdf_oh_get_array_item(q, fields, i);
        if (qpdf_oh_is_dictionary(q, field)) {
            bool own = is_signature;
            if (qpdf_oh_is_name(q, qpdf_oh_get_key(q, field, "/FT"))) own = is_name(q, field, "/FT", "/Sig");
            qpdf_oh value = qpdf_oh_get_key(q, field, "/V");
            if (own && qpdf_oh_is_dictionary(q, value) && qpdf_oh_has_key(q, value, "/ByteRange"))
                reason = read_signed_field(scan, field, value);
            if (!reason) reason = read_fields(scan, qpdf_oh_get_key(q, field, "/Kids"), depth + 1, own);
        }
        qpdf_oh_release(q, field);
    }
    return reason;
}

const char *sr_pdfd_form_read(sr_pdfd_form_t *form, qpdf_data q)
{
    *form = (sr_pdfd_form_t){0};
    qpdf_oh root = qpdf_get_root(q);
    qpdf_oh permissions = qpdf_oh_get_key(q, root, "/Perms");
    if (qpdf_oh_is_dictionary(q, permissions) && qpdf_oh_has_key(q, permissions, "/DocMDP")) return CERTIFIED;

    qpdf_oh fields = qpdf_oh_get_key(q, root, "/AcroForm");
    if (!qpdf_oh_is_dictionary(q, fields)) return NULL;
    if (qpdf_oh_has_key(q, fields, "/XFA") && is_true(q, root, "/NeedsRendering")) return DYNAMIC_XFA;
    form->need_appearances = is_true(q, fields, "/NeedAppearances");
    scan_t scan = {.q = q, .form = form, .budget = MAX_FIELDS};
    return read_fields(&scan, qpdf_oh_get_key(q, fields, "/Fields"), 0, false);
}
