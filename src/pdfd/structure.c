/* SPDX-License-Identifier: Apache-2.0 */
/* structure.c: records the logical structure of a composed document. cairo writes marked content (BDC and EMC) with
 * numbers from 0 on each page. The structure elements of cairo are replaced later, because they cannot have alternative
 * texts or content in several places. */
#include "pdfd/structure.h"

sr_pdfd_structure_t *sr_pdfd_structure(apr_pool_t *pool)
{
    sr_pdfd_structure_t *structure = apr_palloc(pool, sizeof *structure);
    structure->elements = apr_array_make(pool, 64, sizeof(sr_pdfd_element_t));
    structure->contents = apr_array_make(pool, 64, sizeof(sr_pdfd_content_t));
    sr_pdfd_element(structure, SR_PDFD_DOCUMENT, "Document");
    return structure;
}

int sr_pdfd_element(sr_pdfd_structure_t *structure, int parent, const char *type)
{
    if (!structure) return SR_PDFD_DOCUMENT;
    APR_ARRAY_PUSH(structure->elements, sr_pdfd_element_t) = (sr_pdfd_element_t){type, NULL, parent};
    return structure->elements->nelts - 1;
}

int sr_pdfd_figure(sr_pdfd_structure_t *structure, int parent, const char *alternative)
{
    const int element = sr_pdfd_element(structure, parent, "Figure");
    if (structure) APR_ARRAY_IDX(structure->elements, element, sr_pdfd_element_t).alternative = alternative;
    return element;
}

const char *sr_pdfd_element_type(const sr_pdfd_structure_t *structure, int element)
{
    return APR_ARRAY_IDX(structure->elements, element, sr_pdfd_element_t).type;
}

void sr_pdfd_content_begin(cairo_t *context, sr_pdfd_structure_t *structure, int element, int page)
{
    if (!structure || element == SR_PDFD_DOCUMENT) return;
    APR_ARRAY_PUSH(structure->contents, sr_pdfd_content_t) = (sr_pdfd_content_t){element, page};
    cairo_tag_begin(context, sr_pdfd_element_type(structure, element), NULL);
}

void sr_pdfd_content_end(cairo_t *context, const sr_pdfd_structure_t *structure, int element)
{
    if (!structure || element == SR_PDFD_DOCUMENT) return;
    cairo_tag_end(context, sr_pdfd_element_type(structure, element));
}
