/* SPDX-License-Identifier: Apache-2.0 */
/* accept.c: the parser of Accept, Accept-Encoding and Accept-Language. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SPACE " \t"

/* Returns the weight (q) in parameters such as ";level=1; q=0.5" (RFC 9110, 12.4.2), in thousandths. */
static int weight_of(const char *parameters)
{
    for (const char *at = strchr(parameters, ';'); at; at = strchr(at, ';')) {
        at += 1 + strspn(at + 1, SPACE);
        if (strncasecmp(at, "q=", 2) != 0) continue;
        const double value = strtod(at + 2, NULL);
        return value > 0 && value <= 1 ? (int)(value * 1000 + 0.5) : 0;
    }
    return 1000;
}

bool sr_accept_next(sr_accept_t *element, char **rest)
{
    for (char *name; *rest && (name = apr_strtok(NULL, ",", rest)) != NULL;) {
        name += strspn(name, SPACE);
        const apr_size_t length = strcspn(name, ";" SPACE);
        *element = (sr_accept_t){name, weight_of(name + length)};
        name[length] = '\0';
        if (length) return true;
    }
    return false;
}
