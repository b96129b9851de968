/* negotiate.c: which encodings a client takes (RFC 9110, 12.5). Languages are model/language.c's. */
#include "http/http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Walks a header "a;q=0.5, b". The weight of the next element, its name in *name; -1 at the end. */
static double next(char **rest, const char **name)
{
    char *element = apr_strtok(NULL, ",", rest);
    if (!element) return -1;
    element += strspn(element, " \t");
    const char *q = strcasestr(element, ";q="), *spaced = q ? NULL : strcasestr(element, "; q=");
    const double weight = q ? atof(q + 3) : spaced ? atof(spaced + 4) : 1;
    element[strcspn(element, "; \t")] = '\0';
    *name = element;
    return weight;
}

bool sr_http_accepts_encoding(sr_http_t *http, const char *encoding)
{
    const char *header = apr_table_get(http->r->headers_in, "Accept-Encoding"), *name;
    char *rest = header ? apr_pstrdup(http->pool, header) : NULL;
    double weight;
    while (rest && (weight = next(&rest, &name)) >= 0)
        if (!strcasecmp(name, encoding)) return weight > 0;
    return false;
}
