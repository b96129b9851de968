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
    {0, NULL, NULL, false},
};
