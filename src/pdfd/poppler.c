/* poppler.c: the second opinion. qpdf prepares and seals, poppler shows: when they do not see the same pages,
 * somebody could sign what he did not read. */
#include "pdfd/pdfd.h"

#include <poppler.h>

static PopplerDocument *open_bytes(const sr_pdfd_bytes_t *bytes, GError **error)
{
    GBytes *shared = g_bytes_new_static(bytes->data, bytes->size);
    PopplerDocument *document = poppler_document_new_from_bytes(shared, NULL, error);
    g_bytes_unref(shared);
    return document;
}

int sr_pdfd_poppler_count(const sr_pdfd_bytes_t *bytes)
{
    GError *error = NULL;
    PopplerDocument *document = open_bytes(bytes, &error);
    if (!document) {
        bool password = g_error_matches(error, POPPLER_ERROR, POPPLER_ERROR_ENCRYPTED);
        g_clear_error(&error);
        return password ? SR_PDFD_POPPLER_PASSWORD : SR_PDFD_POPPLER_UNREADABLE;
    }
    int pages = poppler_document_get_n_pages(document);
    g_object_unref(document);
    return pages;
}

/* Documents must not fill the error log. */
static void say_nothing(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
}

bool sr_pdfd_poppler_warm_up(const sr_pdfd_bytes_t *bytes)
{
    g_log_set_default_handler(say_nothing, NULL);
    /* Never closed: poppler's global state, read from files, lives as long as one document is open. */
    PopplerDocument *document = open_bytes(bytes, NULL);
    return document && poppler_document_get_n_pages(document) == 1;
}
