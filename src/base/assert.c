/* SPDX-License-Identifier: Apache-2.0 */
/* assert.c: what happens if an assertion does not hold. */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

void sr_assert_failed(const char *condition, const char *file, int line)
{
    (void)fprintf(stderr, "mod_sigreq: assertion failed at %s:%d: %s\n", file, line, condition);
    abort();
}
