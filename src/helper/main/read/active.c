/* SPDX-License-Identifier: Apache-2.0 */
/* active.c: finds what a document can do or show besides its pages as they are drawn here: scripts and other actions
 * (ISO 32000-2, 12.6), layers (8.11) and embedded files (7.11.4). It walks through the catalog, the name trees, the
 * form, the outline, the pages and their annotations. The walk has a budget, so that a document cannot make it long. If
 * the budget is used up, that is reported as a warning too. */
#include "helper/main/pdfd.h"

#define MAX_OBJECTS 100000
#define MAX_DEPTH 32

typedef struct walk_t {
    qpdf_data q;
    unsigned int found; /* set of SR_WARNING_BIT */
    int budget;
} walk_t;

static void active_note(walk_t *walk, sr_warning_t warning)
{
    walk->found |= SR_WARNING_BIT(warning);
}

/* Returns false if the budget is used up. */
static bool spend(walk_t *walk)
{
    if (walk->budget-- > 0) return true;
    walk->budget = 0;
    active_note(walk, SR_WARNING_UNCHECKED);
    return false;
}

static qpdf_oh get(walk_t *walk, qpdf_oh dictionary, const char *key)
{
    if (!qpdf_oh_is_dictionary(walk->q, dictionary)) return qpdf_oh_new_null(walk->q);
    return qpdf_oh_get_key(walk->q, dictionary, key);
}

static bool is(walk_t *walk, qpdf_oh dictionary, const char *key, const char *name)
{
    return qpdf_oh_is_name_and_equals(walk->q, get(walk, dictionary, key), name);
}

/* Calls `each` for the dictionaries in an array. */
static void each_of(walk_t *walk, qpdf_oh array, int depth, void (*each)(walk_t *walk, qpdf_oh item, int depth))
{
    const int count = sr_pdfd_items(walk->q, array);
    for (int i = 0; i < count && spend(walk); i++) {
        qpdf_oh item = qpdf_oh_get_array_item(walk->q, array, i);
        if (qpdf_oh_is_dictionary(walk->q, item)) each(walk, item, depth);
        qpdf_oh_release(walk->q, item);
    }
}

/* -------------------------------------------------------------------------------------------------------- actions */

static const struct {
    const char *type;
    int warning; /* sr_warning_t, or -1 */
} ACTIONS[] = {{"/JavaScript", SR_WARNING_JAVASCRIPT},
               {"/Launch", SR_WARNING_LAUNCH},
               {"/SubmitForm", SR_WARNING_SUBMIT},
               {"/ImportData", SR_WARNING_SUBMIT},
               {"/SetOCGState", -1},
               {"/Hide", -1},
               {"/ResetForm", -1},
               {"/Rendition", -1},
               {"/Movie", -1},
               {"/GoTo3DView", -1},
               {"/RichMediaExecute", -1},
               {"/GoToR", -1},
               {"/GoToE", -1},
               {"/URI", -1}};

static void read_action(walk_t *walk, qpdf_oh action, bool by_itself, int depth);

// NOLINTNEXTLINE(misc-no-recursion): MAX_DEPTH
static void read_next(walk_t *walk, qpdf_oh next, bool by_itself, int depth)
{
    const int count = sr_pdfd_items(walk->q, next);
    if (qpdf_oh_is_dictionary(walk->q, next)) read_action(walk, next, by_itself, depth);
    for (int i = 0; i < count && spend(walk); i++) {
        qpdf_oh item = qpdf_oh_get_array_item(walk->q, next, i);
        read_action(walk, item, by_itself, depth);
        qpdf_oh_release(walk->q, item);
    }
}

/* `by_itself`: the action runs without a click. */
// NOLINTNEXTLINE(misc-no-recursion): MAX_DEPTH
static void read_action(walk_t *walk, qpdf_oh action, bool by_itself, int depth)
{
    if (!qpdf_oh_is_dictionary(walk->q, action) || !spend(walk)) return;
    if (depth == MAX_DEPTH) {
        active_note(walk, SR_WARNING_UNCHECKED);
        return;
    }
    for (size_t i = 0; i < sizeof ACTIONS / sizeof *ACTIONS; i++) {
        if (!is(walk, action, "/S", ACTIONS[i].type)) continue;
        if (ACTIONS[i].warning >= 0) active_note(walk, (sr_warning_t)ACTIONS[i].warning);
        if (by_itself) active_note(walk, SR_WARNING_ACTION);
    }
    read_next(walk, get(walk, action, "/Next"), by_itself, depth + 1);
}

/* /AA contains an action for each event. */
static void active_read_events(walk_t *walk, qpdf_oh owner, bool by_itself)
{
    qpdf_oh events = get(walk, owner, "/AA");
    if (!qpdf_oh_is_dictionary(walk->q, events)) return;
    qpdf_oh_begin_dict_key_iter(walk->q, events);
    while (qpdf_oh_dict_more_keys(walk->q)) {
        const char *event = qpdf_oh_dict_next_key(walk->q);
        const bool of_page =
            event[1] == 'P'; /* events of an annotation that happen when its page is opened, closed, shown or hidden */
        read_action(walk, get(walk, events, event), by_itself || of_page, 0);
    }
}

static void read_annotation(walk_t *walk, qpdf_oh annotation, int depth)
{
    if (is(walk, annotation, "/Subtype", "/FileAttachment")) active_note(walk, SR_WARNING_FILES);
    read_action(walk, get(walk, annotation, "/A"), false, 0);
    active_read_events(walk, annotation, false);
}

static void active_read_field(walk_t *walk, qpdf_oh field, int depth)
{
    read_action(walk, get(walk, field, "/A"), false, 0);
    active_read_events(walk, field, false);
    if (depth < MAX_DEPTH) each_of(walk, get(walk, field, "/Kids"), depth + 1, active_read_field);
    else active_note(walk, SR_WARNING_UNCHECKED);
}

// NOLINTNEXTLINE(misc-no-recursion): MAX_DEPTH
static void read_outline(walk_t *walk, qpdf_oh item, int depth)
{
    while (qpdf_oh_is_dictionary(walk->q, item) && spend(walk)) {
        read_action(walk, get(walk, item, "/A"), false, 0);
        qpdf_oh first = get(walk, item, "/First");
        if (depth < MAX_DEPTH) read_outline(walk, first, depth + 1);
        item = get(walk, item, "/Next");
    }
}

static void active_read_pages(walk_t *walk, int pages)
{
    for (int i = 0; i < pages && spend(walk); i++) {
        qpdf_oh page = qpdf_get_page_n(walk->q, (size_t)i);
        active_read_events(walk, page, true);
        each_of(walk, get(walk, page, "/Annots"), 0, read_annotation);
        if (sr_pdfd_items(walk->q, get(walk, page, "/AF"))) active_note(walk, SR_WARNING_FILES);
        qpdf_oh_release_all(walk->q);
    }
}

/* --------------------------------------------------------------------------------------------------------- names */

/* Returns true if a name tree is not empty. */
// NOLINTNEXTLINE(misc-no-recursion): MAX_DEPTH
static bool has_names(walk_t *walk, qpdf_oh node, int depth)
{
    if (sr_pdfd_items(walk->q, get(walk, node, "/Names")) > 1) return true;
    qpdf_oh kids = get(walk, node, "/Kids");
    const int count = depth < MAX_DEPTH ? sr_pdfd_items(walk->q, kids) : 0;
    for (int i = 0; i < count && spend(walk); i++)
        if (has_names(walk, qpdf_oh_get_array_item(walk->q, kids, i), depth + 1)) return true;
    return false;
}

/* -------------------------------------------------------------------------------------------------------- layers */

/* Notes if the usage of a layer can hide it in some situations: a zoom, a language, or a state that is OFF. */
static void read_usage(walk_t *walk, qpdf_oh layer, qpdf_oh categories)
{
    static const struct {
        const char *category, *state; /* NULL: any value */
    } uses[] = {{"/View", "/ViewState"}, {"/Print", "/PrintState"}, {"/Export", "/ExportState"},
                {"/Zoom", NULL},         {"/Language", NULL},       {"/User", NULL}};
    qpdf_oh usage = get(walk, layer, "/Usage");
    const int count = sr_pdfd_items(walk->q, categories);
    for (int i = 0; i < count && spend(walk); i++)
        for (size_t j = 0; j < sizeof uses / sizeof *uses; j++) {
            qpdf_oh category = qpdf_oh_get_array_item(walk->q, categories, i);
            if (!qpdf_oh_is_name_and_equals(walk->q, category, uses[j].category)) continue;
            qpdf_oh use = get(walk, usage, uses[j].category);
            if (!qpdf_oh_is_dictionary(walk->q, use)) continue;
            if (!uses[j].state || is(walk, use, uses[j].state, "/OFF")) active_note(walk, SR_WARNING_LAYERS_USAGE);
        }
}

static void read_usages(walk_t *walk, qpdf_oh application, int depth)
{
    qpdf_oh layers = get(walk, application, "/OCGs"), categories = get(walk, application, "/Category");
    const int count = sr_pdfd_items(walk->q, layers);
    for (int i = 0; i < count && spend(walk); i++)
        read_usage(walk, qpdf_oh_get_array_item(walk->q, layers, i), categories);
}

static void read_layers(walk_t *walk, qpdf_oh properties)
{
    qpdf_oh normal = get(walk, properties, "/D");
    if (!sr_pdfd_items(walk->q, get(walk, properties, "/OCGs"))) return;
    if (sr_pdfd_items(walk->q, get(walk, normal, "/OFF")) || is(walk, normal, "/BaseState", "/OFF"))
        active_note(walk, SR_WARNING_LAYERS_HIDDEN);
    each_of(walk, get(walk, normal, "/AS"), 0, read_usages);
}

unsigned int sr_pdfd_active_find(qpdf_data q, int pages)
{
    walk_t walk = {.q = q, .budget = MAX_OBJECTS};
    qpdf_oh root = qpdf_get_root(q), names = get(&walk, root, "/Names");
    read_action(&walk, get(&walk, root, "/OpenAction"), true, 0);
    active_read_events(&walk, root, true);
    if (has_names(&walk, get(&walk, names, "/JavaScript"), 0)) active_note(&walk, SR_WARNING_JAVASCRIPT);
    if (has_names(&walk, get(&walk, names, "/EmbeddedFiles"), 0)) active_note(&walk, SR_WARNING_FILES);
    if (sr_pdfd_items(walk.q, get(&walk, root, "/AF"))) active_note(&walk, SR_WARNING_FILES);
    read_layers(&walk, get(&walk, root, "/OCProperties"));
    each_of(&walk, get(&walk, get(&walk, root, "/AcroForm"), "/Fields"), 0, active_read_field);
    read_outline(&walk, get(&walk, get(&walk, root, "/Outlines"), "/First"), 0);
    active_read_pages(&walk, pages);
    return walk.found;
}
