/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c: the routes below <location>/sign, <location>/view, <location>/place and <location>/verify, and <location>/
 * itself. Names of files are not uuids, so no route conflicts with a signing link. */
#include "web/web.h"

const sr_route_t sr_web_routes[] = {
    {M_GET, "/embed.js", sr_web_embed, false},
    {M_GET, "/assets/{name}", sr_web_asset, false},
    {M_GET, "/theme/{name}", sr_web_theme_file, false},
    {M_GET, "/login/{name}", sr_web_login, false},
    {M_GET, "/{uuid}", sr_web_get, false},
    {M_GET, "/{uuid}/", sr_web_get_followed, false},
    {M_POST, "/{uuid}", sr_web_post, false},
    {M_GET, "/{uuid}/check", sr_web_check_get, false},
    {M_POST, "/{uuid}/check", sr_web_check_post, false},
    {M_GET, "/{uuid}/visit", sr_web_visit, false},
    {M_GET, "/{uuid}/login", sr_web_login_begin, false},
    {M_POST, "/{uuid}/code", sr_web_code_post, false},
    {M_POST, "/{uuid}/preview", sr_web_preview, false},
    {M_GET, "/{uuid}/documents/{document_uuid}", sr_web_document, false},
    {M_GET, "/{uuid}/documents/{document_uuid}/pages/{n}.png", sr_web_png, false},
    {M_GET, "/{uuid}/documents/{document_uuid}/pages/{n}.json", sr_web_text, false},
    {M_GET, "/{uuid}/documents/{document_uuid}/pages/{n}", sr_web_image, false},
    {M_GET, "/{uuid}/qr.svg", sr_web_qr, false},
    {M_GET, "/{uuid}/certificate", sr_web_certificate, false},
    {M_GET, "/{uuid}/archive", sr_web_archive, false},
    {0, NULL, NULL, false},
};

const sr_route_t sr_web_view_routes[] = {
    {M_GET, "/{uuid}", sr_web_view_get, false},
    {M_GET, "/{uuid}/", sr_web_get_followed, false},
    {M_GET, "/{uuid}/documents/{document_uuid}", sr_web_document, false},
    {M_GET, "/{uuid}/documents/{document_uuid}/pages/{n}.png", sr_web_png, false},
    {M_GET, "/{uuid}/documents/{document_uuid}/pages/{n}.json", sr_web_text, false},
    {M_GET, "/{uuid}/documents/{document_uuid}/pages/{n}", sr_web_image, false},
    {M_GET, "/{uuid}/certificate", sr_web_certificate, false},
    {M_GET, "/{uuid}/archive", sr_web_archive, false},
    {0, NULL, NULL, false},
};

const sr_route_t sr_web_place_routes[] = {
    {M_GET, "/{uuid}", sr_web_place_get, false},
    {M_GET, "/{uuid}/", sr_web_get_followed, false},
    {M_PUT, "/{uuid}/fields", sr_web_place_fields, false},
    {M_POST, "/{uuid}/send", sr_web_place_send, false},
    {M_GET, "/{uuid}/documents/{document_uuid}/forms", sr_web_place_forms, false},
    {M_GET, "/{uuid}/documents/{document_uuid}/pages/{n}.png", sr_web_png, false},
    {M_GET, "/{uuid}/documents/{document_uuid}/pages/{n}.json", sr_web_text, false},
    {M_GET, "/{uuid}/documents/{document_uuid}/pages/{n}", sr_web_image, false},
    {0, NULL, NULL, false},
};

const sr_route_t sr_web_verify_routes[] = {
    {M_GET, "", sr_web_verify_get, false},
    {M_POST, "", sr_web_verify_post, false},
    {0, NULL, NULL, false},
};

const sr_route_t sr_web_front_routes[] = {
    {M_GET, "", sr_web_front, false},
    {0, NULL, NULL, false},
};
