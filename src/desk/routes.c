/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c: the routes below <location>/desk. {scope} is "<organization uuid>.<environment>". */
#include "desk/desk.h"

const sr_route_t sr_desk_routes[] = {
    {M_GET, "", sr_desk_root, false},
    {M_GET, "/", sr_desk_root, false},
    {M_GET, "/{scope}", sr_desk_root, false},
    {M_GET, "/{scope}/", sr_desk_list, false},
    {M_GET, "/{scope}/new", sr_desk_new, false},
    {M_POST, "/{scope}/new", sr_desk_new_post, false},
    {M_GET, "/{scope}/templates", sr_desk_templates, false},
    {M_GET, "/{scope}/templates/{uuid}", sr_desk_new, false},
    {M_POST, "/{scope}/templates/{uuid}/delete", sr_desk_template_delete, false},
    {M_POST, "/{scope}/requests/{uuid}/place", sr_desk_place, false},
    {M_POST, "/{scope}/requests/{uuid}/remind", sr_desk_remind, false},
    {M_GET, "/{scope}/requests/{uuid}", sr_desk_request, false},
    {M_POST, "/{scope}/requests/{uuid}", sr_desk_change, false},
    {M_GET, "/{scope}/requests/{uuid}/delete", sr_desk_delete, false},
    {M_GET, "/{scope}/requests/{uuid}/certificate", sr_desk_certificate, false},
    {M_GET, "/{scope}/requests/{uuid}/archive", sr_desk_archive, false},
    {M_GET, "/{scope}/requests/{uuid}/audit", sr_desk_audit, false},
    {M_GET, "/{scope}/requests/{uuid}/documents/{document}", sr_desk_document, false},
    {M_GET, "/{scope}/requests/{uuid}/documents/{document}/pages/{n}", sr_desk_image, false},
    {0, NULL, NULL, false},
};
