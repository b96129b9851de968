/* SPDX-License-Identifier: Apache-2.0 */
/* structure.c: records and writes the logical structure of a composed document. Each part of a page that belongs to an
 * element is marked content, with a number from 0 on each page. */
#include "helper/main/compose/structure.h"

#include <string.h>

#define NONE (-1)

/* The kids of an element are other elements, and then its contents. Both are lists in which the next one is named. */
typedef struct element_t {
    const char *type, *alternative; /* alternative text, or NULL */
    int parent;                     /* comes before it */
    int first_kid, last_kid, next;
    int first_content, last_content;
} element_t;

typedef struct content_t {
    int element, page, mark, next;
} content_t;

static element_t *element_at(const sr_pdfd_structure_t *structure, int number)
{
    return number == NONE ? NULL : &APR_ARRAY_IDX(structure->elements, number, element_t);
}

static content_t *content_at(const sr_pdfd_structure_t *structure, int number)
{
    return number == NONE ? NULL : &APR_ARRAY_IDX(structure->contents, number, content_t);
}

sr_pdfd_structure_t *sr_pdfd_structure(apr_pool_t *pool)
{
    sr_pdfd_structure_t *structure = apr_palloc(pool, sizeof *structure);
    structure->elements = apr_array_make(pool, 64, sizeof(element_t));
    structure->contents = apr_array_make(pool, 64, sizeof(content_t));
    APR_ARRAY_PUSH(structure->elements, element_t) = (element_t){"Document", NULL, NONE, NONE, NONE, NONE, NONE, NONE};
    return structure;
}

int sr_pdfd_element(sr_pdfd_structure_t *structure, int parent, const char *type)
{
    if (!structure) return SR_PDFD_DOCUMENT;
    const int number = structure->elements->nelts;
    APR_ARRAY_PUSH(structure->elements, element_t) = (element_t){type, NULL, parent, NONE, NONE, NONE, NONE, NONE};
    element_t *above = element_at(structure, parent), *before = element_at(structure, above->last_kid);
    if (before) before->next = number;
    else above->first_kid = number;
    above->last_kid = number;
    return number;
}

int sr_pdfd_figure(sr_pdfd_structure_t *structure, int parent, const char *alternative)
{
    const int element = sr_pdfd_element(structure, parent, "Figure");
    if (structure) element_at(structure, element)->alternative = alternative;
    return element;
}

const char *sr_pdfd_element_type(const sr_pdfd_structure_t *structure, int element)
{
    return element_at(structure, element)->type;
}

void sr_pdfd_content_begin(sr_pdfd_canvas_t *canvas, sr_pdfd_structure_t *structure, int element)
{
    if (!structure || element == SR_PDFD_DOCUMENT) return;
    const int number = structure->contents->nelts;
    element_t *owner = element_at(structure, element);
    content_t *before = content_at(structure, owner->last_content);
    if (before) before->next = number;
    else owner->first_content = number;
    owner->last_content = number;
    APR_ARRAY_PUSH(structure->contents, content_t) =
        (content_t){element, canvas->pages->nelts, sr_pdfd_canvas_begin(canvas, owner->type), NONE};
}

void sr_pdfd_content_end(sr_pdfd_canvas_t *canvas, const sr_pdfd_structure_t *structure, int element)
{
    if (structure && element != SR_PDFD_DOCUMENT) sr_pdfd_canvas_end(canvas);
}

/* ----------------------------------------------------------------------------------------------- writing */

typedef struct writing_t {
    sr_pdfd_update_t *update;
    const sr_pdfd_structure_t *structure;
    const int *pages; /* object numbers */
    int first;        /* object number of element 0; the others follow */
} writing_t;

/* Content on the page of the first content is written as a number, and other content as a dictionary. */
static void put_kids(sr_pdfd_buffer_t *out, const writing_t *writing, const element_t *element)
{
    const content_t *first = content_at(writing->structure, element->first_content);
    if (element->first_kid == NONE && !first) return;
    if (first) sr_pdfd_print(out, "/Pg %d 0 R", writing->pages[first->page]);
    sr_pdfd_put_text(out, "/K[");
    for (int i = element->first_kid; i != NONE; i = element_at(writing->structure, i)->next)
        sr_pdfd_print(out, "%d 0 R ", writing->first + i);
    for (const content_t *each = first; each; each = content_at(writing->structure, each->next)) {
        if (each->page == first->page) sr_pdfd_print(out, "%d ", each->mark);
        else sr_pdfd_print(out, "<</Type/MCR/Pg %d 0 R/MCID %d>>", writing->pages[each->page], each->mark);
    }
    sr_pdfd_put_text(out, "]");
}

static void put_element(const writing_t *writing, int number, int root)
{
    const element_t *element = element_at(writing->structure, number);
    sr_pdfd_buffer_t *out = sr_pdfd_object_begin(writing->update, writing->first + number, 0);
    sr_pdfd_print(out, "<</Type/StructElem/S/%s/P %d 0 R", element->type,
                  element->parent == NONE ? root : writing->first + element->parent);
    if (element->alternative) {
        sr_pdfd_put_text(out, "/Alt");
        sr_pdfd_put_string(out, element->alternative);
    }
    if (!strcmp(element->type, "TH")) {
        const bool is_first = element_at(writing->structure, element->parent)->first_kid == number;
        sr_pdfd_print(out, "/A<</O/Table/Scope/%s>>", is_first ? "Row" : "Column");
    }
    put_kids(out, writing, element);
    sr_pdfd_put_text(out, ">>");
    sr_pdfd_object_end(writing->update);
}

/* Writes the number tree that maps the pages to the elements of their contents. The contents are in the order of the
 * pages. Returns its object number. */
static int put_parents(const writing_t *writing, int page_count)
{
    sr_pdfd_buffer_t *tree = sr_pdfd_buffer(writing->update->pool), *out;
    const content_t *content = content_at(writing->structure, 0);
    const content_t *end = content + writing->structure->contents->nelts;
    for (int i = 0; i < page_count; i++) {
        const int number = (int)sr_pdfd_object_number(writing->update);
        sr_pdfd_print(tree, "%d %d 0 R ", i, number);
        out = sr_pdfd_object_begin(writing->update, number, 0);
        sr_pdfd_put_text(out, "[");
        for (; content < end && content->page == i; content++)
            sr_pdfd_print(out, "%d 0 R ", writing->first + content->element);
        sr_pdfd_put_text(out, "]");
        sr_pdfd_object_end(writing->update);
    }
    const int root = (int)sr_pdfd_object_number(writing->update);
    out = sr_pdfd_object_begin(writing->update, root, 0);
    sr_pdfd_print(out, "<</Nums[%s]>>", tree->data);
    sr_pdfd_object_end(writing->update);
    return root;
}

int sr_pdfd_structure_put(sr_pdfd_update_t *update, const sr_pdfd_structure_t *structure, const int *pages,
                          int page_count)
{
    const int root = (int)sr_pdfd_object_number(update), count = structure->elements->nelts;
    const writing_t writing = {update, structure, pages, root + 1};
    for (int i = 0; i < count; i++) (void)sr_pdfd_object_number(update);
    for (int i = 0; i < count; i++) put_element(&writing, i, root);
    const int parents = put_parents(&writing, page_count);
    sr_pdfd_print(sr_pdfd_object_begin(update, root, 0),
                  "<</Type/StructTreeRoot/K %d 0 R/ParentTree %d 0 R/ParentTreeNextKey %d>>", writing.first, parents,
                  page_count);
    sr_pdfd_object_end(update);
    return root;
}
