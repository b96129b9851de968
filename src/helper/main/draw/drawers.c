/* SPDX-License-Identifier: Apache-2.0 */
/* drawers.c: which function draws which parameter of a request. */
#include "helper/main/draw/drawing.h"

static const struct {
    const char *key;
    sr_pdfd_drawer_t *draw;
} KINDS[] = {
    {"ink", sr_pdfd_draw_ink},
    {"text", sr_pdfd_draw_text},
    {"image", sr_pdfd_draw_image},
    {"seal", sr_pdfd_draw_seal},
};

const char *sr_pdfd_draw_any(sr_pdfd_drawing_t *drawing, const json_t *parameters, apr_pool_t *pool)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        const json_t *value = json_object_get(parameters, KINDS[i].key);
        if (value) return KINDS[i].draw(drawing, value, pool);
    }
    return "There is no signature";
}
