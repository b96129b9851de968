/* SPDX-License-Identifier: Apache-2.0 */
/* caption.c: how much of a field the caption under its signature takes. The signing page, the creation of a submission
 * and the helper all use this function, so that what is shown before signing is what is sealed. */
#include "base/base.h"

#include <math.h>

#define LINE 8.0    /* points, */
#define SHARE 0.25  /* but at most so much of the field */
#define LOWEST 16.0 /* points of a field: in a lower one a caption could not be read */

double sr_caption_line(double height)
{
    return height < LOWEST ? 0 : fmin(LINE, SHARE * height);
}
