/* SPDX-License-Identifier: Apache-2.0 */
/* caption_area.c: the part of a field that the caption under its signature takes. The signing page, the creation of a
 * submission and the helper all use this function, so that the sealed document looks like the preview. */
#include "base/base.h"

#include <math.h>

#define LINE 8.0    /* points */
#define SHARE 0.25  /* of the field's height, at most */
#define LOWEST 16.0 /* points; in a lower field a caption would not be readable */

double sr_caption_line(double height)
{
    return height < LOWEST ? 0 : fmin(LINE, SHARE * height);
}
