/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.c: rewrites the catalog and the form of a document, when fields or validation data are added to it. What is
 * added comes last, so that the client can check it (src/helper/check/prepared.c, dss.c and archived.c). */
#include "helper/main/pdfd.h"

#include <string.h>

int sr_pdfd_array_id(qpdf_data q, qpdf_oh array)
{
    return qpdf_oh_is_array(q, array) ? qpdf_oh_get_object_id(q, array) : 0;
}

const char *sr_pdfd_with_more(qpdf_data q, qpdf_oh array, const char *more, apr_pool_t *pool)
{
    return qpdf_oh_is_array(q, array) ? sr_pdfd_spliced(q, array, more, pool) : apr_pstrcat(pool, "[", more, "]", NULL);
}

/* Only an extension of version 1.7 may be declared, and only if both the header and the catalog of the file have this
 * version (ISO 32000-1, 7.12.3). Version 2.0 includes it. */
const char *sr_pdfd_catalog_extensions(const sr_pdfd_document_t *document, bool has_store, apr_pool_t *pool)
{
    const char *own = has_store ? SR_PDF_EXTENSION_DSS : SR_PDF_EXTENSION;
    qpdf_data q = document->q;
    qpdf_oh root = qpdf_get_root(q), version = qpdf_oh_get_key(q, root, "/Version");
    qpdf_oh extensions = qpdf_oh_get_key(q, root, "/Extensions");
    if (document->bytes.size < 8 || memcmp(document->bytes.data, "%PDF-1.7", 8) != 0) return "";
    if (!qpdf_oh_is_null(q, version) && !qpdf_oh_is_name_and_equals(q, version, "/1.7")) return "";
    if (qpdf_oh_is_null(q, extensions)) return apr_pstrcat(pool, "/Extensions<<", own, ">>", NULL);
    if (!qpdf_oh_is_dictionary(q, extensions)) return "";
    if (qpdf_oh_has_key(q, extensions, "/ESIC")) {
        qpdf_oh known = qpdf_oh_get_key(q, extensions, "/ESIC");
        int level = SR_PDF_EXTENSION_DSS_LEVEL;
        if (qpdf_oh_is_dictionary(q, known))
            qpdf_oh_get_value_as_int(q, qpdf_oh_get_key(q, known, "/ExtensionLevel"), &level);
        if (!has_store || level >= SR_PDF_EXTENSION_DSS_LEVEL) return "";
        qpdf_oh_remove_key(q, extensions, "/ESIC");
    }
    return apr_pstrcat(pool, "/Extensions", sr_pdfd_spliced(q, extensions, own, pool), NULL);
}

void sr_pdfd_catalog_put(sr_pdfd_update_t *update, sr_pdfd_catalog_t *catalog, const char *more)
{
    qpdf_data q = update->document->q;
    qpdf_oh root = qpdf_get_root(q);
    if (*catalog->extensions) qpdf_oh_remove_key(q, root, "/Extensions");
    if (*catalog->dss) qpdf_oh_remove_key(q, root, "/DSS");
    more = apr_pstrcat(update->pool, catalog->extensions, catalog->dss, more, NULL);
    *catalog = (sr_pdfd_catalog_t){"", ""};
    sr_pdfd_object_again(update, root, sr_pdfd_spliced(q, root, more, update->pool));
}

/* Writes `text` as the form. If the form is not an indirect object, it rewrites the catalog. */
static void catalog_put_form(sr_pdfd_update_t *update, sr_pdfd_catalog_t *catalog, qpdf_oh form, const char *text)
{
    qpdf_data q = update->document->q;
    if (qpdf_oh_is_indirect(q, form)) {
        sr_pdfd_object_again(update, form, text);
        return;
    }
    qpdf_oh_remove_key(q, qpdf_get_root(q), "/AcroForm");
    sr_pdfd_catalog_put(update, catalog, apr_pstrcat(update->pool, "/AcroForm", text, NULL));
}

/* `references` may be NULL. */
static void put_new_form(sr_pdfd_update_t *update, sr_pdfd_catalog_t *catalog, const char *references)
{
    const int64_t number = sr_pdfd_object_number(update);
    sr_pdfd_object_begin(update, number, 0);
    sr_pdfd_print(update->out, "<</SigFlags 3/Fields[%s]>>", references ? references : "");
    sr_pdfd_object_end(update);
    catalog_put_form(update, catalog, qpdf_oh_new_null(update->document->q),
                     apr_psprintf(update->pool, " %" APR_INT64_T_FMT " 0 R", number));
}

void sr_pdfd_form_refer(sr_pdfd_update_t *update, sr_pdfd_catalog_t *catalog, const char *references)
{
    qpdf_data q = update->document->q;
    apr_pool_t *pool = update->pool;
    qpdf_oh form = qpdf_oh_get_key(q, qpdf_get_root(q), "/AcroForm");
    if (!qpdf_oh_is_dictionary(q, form)) {
        put_new_form(update, catalog, references);
        return;
    }
    qpdf_oh fields = qpdf_oh_get_key(q, form, "/Fields");
    const char *array = references ? sr_pdfd_with_more(q, fields, references, pool) : NULL;
    int flags = 0;
    qpdf_oh_get_value_as_int(q, qpdf_oh_get_key(q, form, "/SigFlags"), &flags);
    if (array && sr_pdfd_array_id(q, fields)) {
        sr_pdfd_object_again(update, fields, array);
        array = NULL;
    }
    if (!array && (flags & 3) == 3) return;
    if (array) qpdf_oh_remove_key(q, form, "/Fields");
    qpdf_oh_remove_key(q, form, "/SigFlags");
    const char *more = apr_psprintf(pool, "/SigFlags %d%s%s", flags | 3, array ? "/Fields" : "", array ? array : "");
    catalog_put_form(update, catalog, form, sr_pdfd_spliced(q, form, more, pool));
}
