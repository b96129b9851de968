/* SPDX-License-Identifier: Apache-2.0 */
/* empty.c: the fields that a form already has: their names, their places, and why a field cannot be signed (ISO
 * 32000-2, 12.7.5.5) or filled in. Such a field is merged with its only widget, which is visible and on one page. A
 * field that can be signed has no value and no lock applies to it, and it requires nothing that a signature of this
 * service does not have. */
#include "helper/main/pdfd.h"

#include <apr_hash.h>
#include <math.h>
#include <string.h>

#define LEAST 0.01               /* least width and height in points */
#define HIDDEN (1 << 1 | 1 << 5) /* of /F: Hidden and NoView */
#define READ_ONLY 1              /* of /Ff: ReadOnly */
#define RADIO (1 << 15)          /* of /Ff: Radio, without Pushbutton */
#define PUSH (1 << 16)
#define MOST_BUTTONS 100 /* of a group: a choice has no more options */

/* Flags in /Ff of a seed value dictionary that make a constraint mandatory (ISO 32000-2, table 237). */
#define SEED_FILTER 1
#define SEED_SUBFILTER (1 << 1)
#define SEED_VERSION (1 << 2)
#define SEED_DIGEST (1 << 6)

typedef struct walk_t {
    qpdf_data q;
    const sr_pdfd_form_t *form;
    bool entries; /* the fields that are no signature fields */
    apr_array_header_t *fields;
    apr_hash_t *names;   /* name → index of a field (int) */
    apr_hash_t *widgets; /* object number (int) → index of a field (int), and of a button in its group, or -1 */
    int budget;
    apr_pool_t *pool;
} walk_t;

/* What a field inherits from its parents (12.7.4). */
typedef struct inherited_t {
    const char *name;
    bool is_signature, is_button, has_value;
    int flags;
} inherited_t;

static int integer_of(qpdf_data q, qpdf_oh dictionary, const char *key, int otherwise)
{
    qpdf_oh_get_value_as_int(q, qpdf_oh_get_key(q, dictionary, key), &otherwise);
    return otherwise;
}

static sr_pdfd_empty_t *field_at(const walk_t *walk, int index)
{
    return &APR_ARRAY_IDX(walk->fields, index, sr_pdfd_empty_t);
}

static void empty_fail(sr_pdfd_empty_t *empty, sr_existing_fault_t fault)
{
    if (!empty->field.fault) empty->field.fault = fault;
}

/* ------------------------------------------------------------------------------------------------ what it asks for */

static bool lists(qpdf_data q, qpdf_oh array, const char *text)
{
    for (int i = 0; i < sr_pdfd_items(q, array); i++) {
        qpdf_oh item = qpdf_oh_get_array_item(q, array, i);
        if (qpdf_oh_is_name_and_equals(q, item, text)) return true;
        if (qpdf_oh_is_string(q, item) && !strcmp(qpdf_oh_get_utf8_value(q, item), text)) return true;
    }
    return false;
}

/* Returns true if all hash functions are listed, because the key of the seal decides which one is used. */
static bool lists_hashes(qpdf_data q, qpdf_oh seed)
{
    qpdf_oh digests = qpdf_oh_get_key(q, seed, "/DigestMethod");
    return lists(q, digests, "SHA256") && lists(q, digests, "SHA384") && lists(q, digests, "SHA512");
}

/* Returns true if a signature of this service has everything that a seed value dictionary requires. */
static bool meets(qpdf_data q, qpdf_oh seed)
{
    const int flags = integer_of(q, seed, "/Ff", 0);
    qpdf_oh mdp = qpdf_oh_get_key(q, seed, "/MDP"), certificate = qpdf_oh_get_key(q, seed, "/Cert");
    if (flags & ~(SEED_FILTER | SEED_SUBFILTER | SEED_VERSION | SEED_DIGEST)) return false;
    if (flags & SEED_FILTER && !qpdf_oh_is_name_and_equals(q, qpdf_oh_get_key(q, seed, "/Filter"), "/Adobe.PPKLite"))
        return false;
    if (flags & SEED_SUBFILTER && !lists(q, qpdf_oh_get_key(q, seed, "/SubFilter"), "/ETSI.CAdES.detached"))
        return false;
    if (flags & SEED_VERSION && integer_of(q, seed, "/V", 1) > 3) return false;
    if (flags & SEED_DIGEST && !lists_hashes(q, seed)) return false;
    if (qpdf_oh_is_dictionary(q, mdp) && integer_of(q, mdp, "/P", 0) != 0)
        return false; /* the signature would have to certify */
    return !qpdf_oh_is_dictionary(q, certificate) || !integer_of(q, certificate, "/Ff", 0);
}

static void read_seed(sr_pdfd_empty_t *empty, qpdf_data q)
{
    qpdf_oh seed = qpdf_oh_get_key(q, empty->object, "/SV");
    if (!qpdf_oh_is_dictionary(q, seed)) return;
    empty->field.seed = true;
    if (!meets(q, seed)) empty_fail(empty, SR_EXISTING_SEED);
}

/* ------------------------------------------------------------------------------------------------------ the widget */

static void empty_read_rectangle(sr_pdfd_empty_t *empty, qpdf_data q)
{
    qpdf_oh rect = qpdf_oh_get_key(q, empty->object, "/Rect");
    double side[4];
    if (sr_pdfd_items(q, rect) != 4) return empty_fail(empty, SR_EXISTING_HIDDEN);
    for (int i = 0; i < 4; i++)
        if (!qpdf_oh_get_value_as_number(q, qpdf_oh_get_array_item(q, rect, i), &side[i]))
            return empty_fail(empty, SR_EXISTING_HIDDEN);
    for (int i = 0; i < 2; i++) {
        empty->field.rect[i] = fmin(side[i], side[i + 2]);
        empty->field.rect[i + 2] = fmax(side[i], side[i + 2]);
        if (!(empty->field.rect[i + 2] - empty->field.rect[i] >= LEAST)) empty_fail(empty, SR_EXISTING_HIDDEN);
        if (!(fabs(side[i]) <= 1e9 && fabs(side[i + 2]) <= 1e9)) empty_fail(empty, SR_EXISTING_HIDDEN);
    }
}

/* A field whose widget is a separate object could be signed, but pdfsig and mutool do not find such a signature, and
 * pyHanko reports the new appearance as a change. They are merged if nothing is signed yet. */
static void empty_read_widget(walk_t *walk, sr_pdfd_empty_t *empty, qpdf_oh kids)
{
    qpdf_data q = walk->q;
    const int count = sr_pdfd_items(q, kids);
    if (!walk->form->signatures && sr_pdfd_widget_apart(&empty->object, q, kids)) empty->apart = true;
    else if (count) return empty_fail(empty, count > 1 ? SR_EXISTING_PLACES : SR_EXISTING_APART);
    if (!qpdf_oh_is_indirect(q, empty->object)) return empty_fail(empty, SR_EXISTING_DIRECT);
    if (integer_of(q, empty->object, "/F", 0) & HIDDEN) empty_fail(empty, SR_EXISTING_HIDDEN);
    empty_read_rectangle(empty, q);
}

/* Counts the pages on which each field is. Only fields that can be signed are searched. */
static void find_page(walk_t *walk, int index)
{
    qpdf_data q = walk->q;
    qpdf_oh page = qpdf_get_page_n(q, (size_t)index), annotations = qpdf_oh_get_key(q, page, "/Annots");
    for (int i = 0; i < sr_pdfd_items(q, annotations); i++) {
        qpdf_oh item = qpdf_oh_get_array_item(q, annotations, i);
        const int id = qpdf_oh_get_object_id(q, item);
        const int *found = id ? apr_hash_get(walk->widgets, &id, sizeof id) : NULL;
        qpdf_oh_release(q, item);
        if (!found) continue;
        sr_pdfd_empty_t *empty = field_at(walk, found[0]);
        if (found[1] >= 0) {
            sr_pdfd_button_t *button = &APR_ARRAY_IDX(empty->buttons, found[1], sr_pdfd_button_t);
            button->pages++;
            button->page = index;
            continue;
        }
        empty->pages++;
        empty->field.page = index;
        empty->rotate = sr_pdfd_page_rotation(q, page);
    }
    qpdf_oh_release(q, annotations);
    qpdf_oh_release(q, page);
}

static bool empty_is_on_one_page(const sr_pdfd_empty_t *empty)
{
    bool alone = true;
    for (int i = 0; empty->buttons && i < empty->buttons->nelts; i++)
        alone &= APR_ARRAY_IDX(empty->buttons, i, sr_pdfd_button_t).pages == 1;
    return empty->buttons ? alone : empty->pages == 1;
}

static void find_pages(walk_t *walk)
{
    const int pages = apr_hash_count(walk->widgets) ? qpdf_get_num_pages(walk->q) : 0;
    for (int i = 0; i < pages; i++) find_page(walk, i);
    for (int i = 0; i < walk->fields->nelts; i++)
        if (!empty_is_on_one_page(field_at(walk, i))) empty_fail(field_at(walk, i), SR_EXISTING_PLACES);
}

/* ------------------------------------------------------------------------------------------------------ the fields */

/* Records that an object belongs to a field, or is a button of it. It must not belong to a second field, nor be two
 * buttons. */
static void note_object(walk_t *walk, qpdf_oh object, int index, int button)
{
    int *key = apr_palloc(walk->pool, 3 * sizeof *key);
    key[0] = qpdf_oh_get_object_id(walk->q, object);
    key[1] = index;
    key[2] = button;
    const int *other = apr_hash_get(walk->widgets, key, sizeof *key);
    if (!other) apr_hash_set(walk->widgets, key, sizeof *key, key + 1);
    else if (other[0] != index || other[1] != button) {
        empty_fail(field_at(walk, other[0]), SR_EXISTING_TWICE);
        empty_fail(field_at(walk, index), SR_EXISTING_TWICE);
    }
}

/* Reads the buttons of a group. None of them has a name or children. */
static void empty_read_buttons(walk_t *walk, sr_pdfd_empty_t *empty, int index, qpdf_oh kids)
{
    qpdf_data q = walk->q;
    const int count = sr_pdfd_items(q, kids);
    if (count > MOST_BUTTONS) return empty_fail(empty, SR_EXISTING_PLACES);
    empty->buttons = apr_array_make(walk->pool, count, sizeof(sr_pdfd_button_t));
    if (!qpdf_oh_is_indirect(q, empty->object)) return empty_fail(empty, SR_EXISTING_DIRECT);
    for (int i = 0; i < count; i++) {
        qpdf_oh button = qpdf_oh_get_array_item(q, kids, i);
        if (!qpdf_oh_is_indirect(q, button)) return empty_fail(empty, SR_EXISTING_DIRECT);
        qpdf_oh type = qpdf_oh_get_key(q, button, "/FT");
        if (!qpdf_oh_is_dictionary(q, button) || qpdf_oh_has_key(q, button, "/Kids")
            || (qpdf_oh_is_name(q, type) && !qpdf_oh_is_name_and_equals(q, type, "/Btn")))
            return empty_fail(empty, SR_EXISTING_APART);
        if (integer_of(q, button, "/F", 0) & HIDDEN) empty_fail(empty, SR_EXISTING_HIDDEN);
        APR_ARRAY_PUSH(empty->buttons, sr_pdfd_button_t) = (sr_pdfd_button_t){qpdf_oh_get_object_id(q, button), 0, 0};
        note_object(walk, button, index, i);
    }
}

static void add_field(walk_t *walk, qpdf_oh field, qpdf_oh kids, const inherited_t *own)
{
    const int *known = apr_hash_get(walk->names, own->name, APR_HASH_KEY_STRING);
    if (known) return empty_fail(field_at(walk, *known), SR_EXISTING_TWICE);
    if (strlen(own->name) > SR_EXISTING_MAX_NAME || (!walk->entries && walk->fields->nelts == SR_EXISTING_MAX)) return;
    sr_pdfd_empty_t *empty = apr_array_push(walk->fields);
    int *index = apr_palloc(walk->pool, sizeof *index);
    *empty = (sr_pdfd_empty_t){.field.name = own->name, .object = field, .flags = own->flags};
    *index = walk->fields->nelts - 1;
    apr_hash_set(walk->names, own->name, APR_HASH_KEY_STRING, index);
    if (own->has_value && !walk->entries) empty_fail(empty, SR_EXISTING_SIGNED);
    if (own->flags & READ_ONLY) empty_fail(empty, SR_EXISTING_READ_ONLY);
    if (sr_pdfd_form_locks(walk->form, own->name)) empty_fail(empty, SR_EXISTING_LOCKED);
    if (qpdf_oh_has_key(walk->q, field, "/Lock")) empty_fail(empty, SR_EXISTING_LOCK);
    if (own->is_button && (own->flags & (RADIO | PUSH)) == RADIO && sr_pdfd_items(walk->q, kids))
        return empty_read_buttons(walk, empty, *index, kids);
    read_seed(empty, walk->q);
    empty_read_widget(walk, empty, kids);
    if (!empty->field.fault) note_object(walk, empty->object, *index, -1);
}

/* Returns true if the children of a field are fields and not its widgets. */
static bool are_fields(qpdf_data q, qpdf_oh kids)
{
    bool found = false;
    for (int i = 0; !found && i < sr_pdfd_items(q, kids); i++) {
        qpdf_oh kid = qpdf_oh_get_array_item(q, kids, i);
        found = qpdf_oh_is_dictionary(q, kid) && qpdf_oh_has_key(q, kid, "/T");
        qpdf_oh_release(q, kid);
    }
    return found;
}

static void walk_fields(walk_t *walk, qpdf_oh fields, const inherited_t *parent, int depth);

// NOLINTNEXTLINE(misc-no-recursion): SR_PDFD_FORM_DEPTH
static void walk_field(walk_t *walk, qpdf_oh field, const inherited_t *parent, int depth)
{
    qpdf_data q = walk->q;
    inherited_t own = *parent;
    qpdf_oh name = qpdf_oh_get_key(q, field, "/T"), kids = qpdf_oh_get_key(q, field, "/Kids");
    if (qpdf_oh_is_string(q, name)) {
        const char *text = qpdf_oh_get_utf8_value(q, name);
        own.name =
            parent->name ? apr_pstrcat(walk->pool, parent->name, ".", text, NULL) : apr_pstrdup(walk->pool, text);
    }
    qpdf_oh type = qpdf_oh_get_key(q, field, "/FT");
    if (qpdf_oh_is_name(q, type)) own.is_signature = qpdf_oh_is_name_and_equals(q, type, "/Sig");
    if (qpdf_oh_is_name(q, type)) own.is_button = qpdf_oh_is_name_and_equals(q, type, "/Btn");
    own.has_value |= qpdf_oh_has_key(q, field, "/V") != QPDF_FALSE;
    own.flags = integer_of(q, field, "/Ff", own.flags);
    if (are_fields(q, kids)) walk_fields(walk, kids, &own, depth + 1);
    else if (own.is_signature != walk->entries && own.name && *own.name) add_field(walk, field, kids, &own);
}

// NOLINTNEXTLINE(misc-no-recursion): SR_PDFD_FORM_DEPTH
static void walk_fields(walk_t *walk, qpdf_oh fields, const inherited_t *parent, int depth)
{
    qpdf_data q = walk->q;
    for (int i = 0; depth < SR_PDFD_FORM_DEPTH && i < sr_pdfd_items(q, fields); i++) {
        qpdf_oh field = qpdf_oh_get_array_item(q, fields, i);
        if (walk->budget-- <= 0) return;
        if (qpdf_oh_is_dictionary(q, field)) walk_field(walk, field, parent, depth);
    }
}

const apr_array_header_t *sr_pdfd_empty_find(qpdf_data q, const sr_pdfd_form_t *form, bool entries, apr_pool_t *pool)
{
    walk_t walk = {.q = q, .form = form, .entries = entries, .budget = SR_PDFD_FORM_FIELDS, .pool = pool};
    walk.fields = apr_array_make(pool, 8, sizeof(sr_pdfd_empty_t));
    walk.names = apr_hash_make(pool);
    walk.widgets = apr_hash_make(pool);
    qpdf_oh dictionary = qpdf_oh_get_key(q, qpdf_get_root(q), "/AcroForm");
    if (!qpdf_oh_is_dictionary(q, dictionary)) return walk.fields;
    walk_fields(&walk, qpdf_oh_get_key(q, dictionary, "/Fields"), &(inherited_t){0}, 0);
    find_pages(&walk);
    return walk.fields;
}

const sr_pdfd_empty_t *sr_pdfd_empty_named(const apr_array_header_t *fields, const char *name)
{
    for (int i = 0; i < fields->nelts; i++) {
        const sr_pdfd_empty_t *empty = &APR_ARRAY_IDX(fields, i, sr_pdfd_empty_t);
        if (!strcmp(empty->field.name, name)) return empty->field.fault ? NULL : empty;
    }
    return NULL;
}
