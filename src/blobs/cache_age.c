/* SPDX-License-Identifier: Apache-2.0 */
/* cache_age.c: classes of ages of cached files: one for each of the first sixty seconds, then sixteen for each
 * doubling.
 */
#include "blobs/private.h"

#include <math.h>

apr_int64_t sr_cache_age_of(int number)
{
    return number < 60 ? number : (apr_int64_t)ceil(60 * exp2((number - 60) / 16.0));
}

int sr_cache_age_number(apr_int64_t seconds)
{
    if (seconds < 60) return seconds < 0 ? 0 : (int)seconds;
    int number = 60 + (int)(16 * log2((double)seconds / 60));
    if (number >= SR_CACHE_AGES) number = SR_CACHE_AGES - 1;
    return sr_cache_age_of(number) > seconds ? number - 1 : number;
}
