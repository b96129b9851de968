/* routes.c: every path below <location>/sign and <location>/verify. What is no uuid can be a name of ours: no link is
 * hidden by it. */
#include "page/page.h"

const sr_route_t sr_page_routes[] = {
    {M_GET, "/assets/{name}", sr_page_asset, false},
    {M_GET, "/theme/{name}", sr_page_theme_file, false},
    {M_GET, "/{uuid}", sr_page_get, false},
    {M_POST, "/{uuid}", sr_page_post, false},
    {M_POST, "/{uuid}/preview", sr_page_preview, false},
    {M_GET, "/{uuid}/documents/{document_uuid}", sr_page_document, false},
    {M_GET, "/{uuid}/documents/{document_uuid}/pages/{n}.png", sr_page_png, false},
    {M_GET, "/{uuid}/documents/{document_uuid}/pages/{n}.json", sr_page_text, false},
    {M_GET, "/{uuid}/documents/{document_uuid}/pages/{n}", sr_page_image, false},
    {M_GET, "/{uuid}/certificate", sr_page_certificate, false},
    {0, NULL, NULL, false},
};

const sr_route_t sr_page_verify_routes[] = {
    {M_GET, "", sr_page_verify_get, false},
    {M_POST, "", sr_page_verify_post, false},
    {0, NULL, NULL, false},
};
