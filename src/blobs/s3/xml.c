/* SPDX-License-Identifier: Apache-2.0 */
/* xml.c: reads the XML of S3: errors and lists. The body of an error may be cut, empty, or the HTML of a proxy. */
#include "blobs/s3/private.h"

#include <string.h>

apr_xml_doc *sr_s3_xml_parse(const char *text, apr_size_t length, apr_pool_t *pool)
{
    apr_xml_parser *parser = apr_xml_parser_create(pool);
    apr_xml_doc *document = NULL;

    if (apr_xml_parser_feed(parser, text, length)) return NULL; /* it has released the parser */
    return apr_xml_parser_done(parser, &document) ? NULL : document;
}

const apr_xml_elem *sr_s3_xml_child(const apr_xml_elem *parent, const apr_xml_elem *after, const char *name)
{
    const apr_xml_elem *child = after ? after->next : parent->first_child;

    while (child && strcmp(child->name, name) != 0) child = child->next;
    return child;
}

const char *sr_s3_xml_text(const apr_xml_elem *parent, const char *name, apr_pool_t *pool)
{
    const apr_xml_elem *child = sr_s3_xml_child(parent, NULL, name);
    const apr_text *first = child ? child->first_cdata.first : NULL;
    apr_size_t length = 0;

    for (const apr_text *part = first; part; part = part->next) length += strlen(part->text);
    char *text = apr_palloc(pool, length + 1), *end = text;
    for (const apr_text *part = first; part; part = part->next)
        end = apr_cpystrn(end, part->text, strlen(part->text) + 1);
    *end = '\0';
    return text;
}
