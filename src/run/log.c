/* log.c: the request line for an access log. Whoever knows a signing link can sign, so a log that many may read must
 * not have it: LogFormat "… \"%{sigreq-request}e\" …" in place of \"%r\". */
#include <httpd.h>
#include <string.h>

#include "run/run.h"

#define SECRET_BEHIND "/sign/"
#define SHOWN 8 /* characters of a uuid: enough to find it again, too few to guess the rest */

int sr_run_log_request(request_rec *r)
{
    const char *line = r->the_request ? r->the_request : "-", *from = strstr(line, SECRET_BEHIND);
    if (from) {
        from += sizeof SECRET_BEHIND - 1;
        const char *rest = from + strcspn(from, "/? ");
        if (rest - from > SHOWN)
            line = apr_pstrcat(r->pool, apr_pstrmemdup(r->pool, line, (apr_size_t)(from - line) + SHOWN), "...", rest,
                               NULL);
    }
    apr_table_setn(r->subprocess_env, "sigreq-request", ap_escape_logitem(r->pool, line));
    return DECLINED;
}
