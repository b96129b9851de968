/* SPDX-License-Identifier: Apache-2.0 */
/* values.c: parses the values of directives, a function for each kind. A value that is not understood stops httpd (and
 * `httpd -t`) with a message about the expected values. */
#include "conf/private.h"

#include <ap_expr.h>
#include <apr_lib.h>
#include <apr_uri.h>
#include <http_log.h>

#include "mod_sigreq.h"

APLOG_USE_MODULE(sigreq);

/* The parsers of values. They return NULL, or a text that describes the expected values. `slot` is the field. */
static const char *read_switch(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    if (strcasecmp(text, "on") != 0 && strcasecmp(text, "off") != 0) return "must be On or Off";
    *(sr_setting_SWITCH *)slot = !strcasecmp(text, "on");
    return NULL;
}

static const char *read_desk(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    static const char *const names[] = {[SR_DESK_OFF] = "off", [SR_DESK_ON] = "on", [SR_DESK_READ_ONLY] = "read-only"};
    for (int i = SR_DESK_OFF; i <= SR_DESK_READ_ONLY; i++)
        if (!strcasecmp(text, names[i])) {
            *(sr_setting_DESK *)slot = (sr_setting_DESK)i;
            return NULL;
        }
    return "must be On, Off or read-only";
}

static const char *values_read_path(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    *(sr_setting_PATH *)slot = *text ? ap_server_root_relative(pool, text) : "";
    return *(sr_setting_PATH *)slot ? NULL : "must be a path";
}

static const char *values_read_key(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    if (!sr_text_is_token(text)) return values_read_path(pool, row, text, slot);
    *(sr_setting_KEY *)slot = text;
    return NULL;
}

static const char *read_pin(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    static const char scheme[] = "file:/";
    *(sr_setting_PIN *)slot = "";
    if (!*text) return NULL;
    if (strncmp(text, scheme, sizeof scheme - 1) != 0) return "must be file: and an absolute path";
    *(sr_setting_PIN *)slot = text + sizeof scheme - 2;
    return NULL;
}

/* Returns true for a URL that links can begin with. */
static bool is_base_url(apr_pool_t *pool, const char *text)
{
    apr_uri_t uri;
    if (strpbrk(text, " \"<>\\^`{|}") || apr_uri_parse(pool, text, &uri) || !uri.scheme) return false;
    if (strcmp(uri.scheme, "http") != 0 && strcmp(uri.scheme, "https") != 0) return false;
    if (!uri.hostname || !*uri.hostname || (uri.port_str && !sr_text_is_port(uri.port_str))) return false;
    return !uri.user && !uri.query && !uri.fragment;
}

static const char *values_read_url(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    size_t length = strlen(text);
    if (*text && !is_base_url(pool, text)) return "must be an http:// or https:// URL without user, query and fragment";
    while (length && text[length - 1] == '/') length--;
    *(sr_setting_URL *)slot = apr_pstrmemdup(pool, text, length);
    return NULL;
}

/* Parses the URL of a link on the page. */
static const char *read_link(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    apr_uri_t uri;
    if (*text
        && (strpbrk(text, " \"<>\\^`{|}") || apr_uri_parse(pool, text, &uri) || !uri.scheme || !uri.hostname
            || (strcmp(uri.scheme, "http") != 0 && strcmp(uri.scheme, "https") != 0)))
        return "must be an http:// or https:// URL";
    *(sr_setting_LINK *)slot = apr_pstrdup(pool, text);
    return NULL;
}

/* Returns true for a source of frame-ancestors, which cannot end this directive of the policy or begin another. */
static bool is_ancestor(const char *text)
{
    static const char *const schemes[] = {"https://", "http://"};
    static const char letters[] = "-._:*[]0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    if (!strcmp(text, "'self'") || !strcmp(text, "'none'")) return true;
    for (int i = 0; i < 2; i++)
        if (!strncmp(text, schemes[i], strlen(schemes[i]))) text += strlen(schemes[i]);
    return *text && strcmp(text, "*") != 0 && !text[strspn(text, letters)];
}

static const char *read_ancestors(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    char *rest = apr_pstrdup(pool, text);
    for (const char *source; (source = apr_strtok(NULL, " ", &rest)) != NULL;)
        if (!is_ancestor(source)) return "must be 'self' or origins such as https://app.example.org";
    *(sr_setting_ANCESTORS *)slot = apr_pstrdup(pool, text);
    return NULL;
}

/* httpd and its modules, such as mod_ssl, know the variables. */
static const char *read_expression(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    ap_expr_info_t *parsed = apr_pcalloc(pool, sizeof *parsed);
    parsed->filename = row->name;
    parsed->flags = AP_EXPR_FLAG_STRING_RESULT;
    parsed->module_index = APLOG_MODULE_INDEX;
    const char *fault = ap_expr_parse(pool, pool, parsed, text, NULL);
    *(sr_setting_EXPRESSION *)slot = parsed;
    return fault ? apr_pstrcat(pool, "must be an expression of httpd (", fault, ")", NULL) : NULL;
}

static const char *read_origin(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    static const char *const names[] = {[SR_ORIGIN_USER_SPACE] = "user-space", [SR_ORIGIN_TOP_LEFT] = "top-left"};
    for (int i = 0; i < 2; i++)
        if (!strcasecmp(text, names[i])) {
            *(sr_setting_ORIGIN *)slot = (sr_origin_t)i;
            return NULL;
        }
    return "must be user-space or top-left";
}

static const char *read_active(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    const bool refuse = !strcasecmp(text, "refuse");
    if (!refuse && strcasecmp(text, "warn") != 0) return "must be warn or refuse";
    *(sr_setting_ACTIVE *)slot = refuse;
    return NULL;
}

static const char *read_stamping(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    const bool required = !strcasecmp(text, "require");
    if (!required && strcasecmp(text, "prefer") != 0) return "must be require or prefer";
    *(sr_setting_STAMPING *)slot = required;
    return NULL;
}

static const char *read_long_term(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    static const char *const names[] = {
        [SR_LONG_TERM_OFF] = "off", [SR_LONG_TERM_LT] = "lt", [SR_LONG_TERM_LTA] = "lta"};
    for (int i = SR_LONG_TERM_OFF; i <= SR_LONG_TERM_LTA; i++)
        if (!strcasecmp(text, names[i])) {
            *(sr_setting_LONG_TERM *)slot = (sr_setting_LONG_TERM)i;
            return NULL;
        }
    return "must be off, lt or lta";
}

/* Parses a URL of which httpd is the client. It may have a query, but a password would be in the log of others. */
static bool is_called_url(apr_pool_t *pool, apr_uri_t *uri, const char *text)
{
    return !strpbrk(text, " \"<>\\^`{|}#") && !apr_uri_parse(pool, text, uri) && uri->scheme && uri->hostname
           && *uri->hostname && (!uri->port_str || sr_text_is_port(uri->port_str))
           && (!strcmp(uri->scheme, "http") || !strcmp(uri->scheme, "https"));
}

/* Adds one URL. It is called for each argument. */
static const char *read_timestamps(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    sr_setting_TIMESTAMPS *urls = slot;
    apr_uri_t uri;
    if (!strcasecmp(text, "none")) {
        *urls = apr_array_make(pool, 2, sizeof(const char *));
        return NULL;
    }
    if (!is_called_url(pool, &uri, text) || uri.user) return "must be http:// or https:// URLs without user, or none";
    if ((*urls)->nelts == SR_SETTING_TIMESTAMPS_MOST)
        return apr_psprintf(pool, "must have at most %d URLs", SR_SETTING_TIMESTAMPS_MOST);
    APR_ARRAY_PUSH(*urls, const char *) = text;
    return NULL;
}

static const char *read_proxy(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    apr_uri_t uri;
    if (*text && (!is_called_url(pool, &uri, text) || uri.query || (uri.path && strcmp(uri.path, "/") != 0)))
        return "must be http://host:port or https://host:port, optionally with user:password@ before the host";
    *(sr_setting_PROXY *)slot = text;
    return NULL;
}

/* Parses the URL of a service that gets secrets. Only this host may get them without TLS. */
static const char *read_called(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    static const char *const own[] = {"localhost", "127.0.0.1", "::1", NULL};
    const char *const *host = own;
    apr_uri_t uri;
    *(sr_setting_CALLED *)slot = text;
    if (!*text) return NULL;
    const bool is_good = is_called_url(pool, &uri, text) && !uri.user;
    while (is_good && *host && strcmp(*host, uri.hostname) != 0) host++;
    return is_good && (*host || !strcmp(uri.scheme, "https"))
               ? NULL
               : "must be an https:// URL without user, or http:// with the host 127.0.0.1, [::1] or localhost";
}

static const char *out_of_range(apr_pool_t *pool, const sr_conf_row_t *row, apr_int64_t value)
{
    if (value < row->min) return apr_psprintf(pool, "must be at least %" APR_INT64_T_FMT, row->min);
    if (value > row->max) return apr_psprintf(pool, "must be at most %" APR_INT64_T_FMT, row->max);
    return NULL;
}

static const char *values_read_number(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    char *end;
    errno = 0;
    apr_int64_t value = apr_strtoi64(text, &end, 10);
    if (errno || *end || !apr_isdigit(*text)) return "must be a whole number";
    *(sr_setting_NUMBER *)slot = (int)value; /* the largest `max` is 10,000,000 */
    return out_of_range(pool, row, value);
}

static const char *values_read_size(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    char *end;
    errno = 0;
    apr_int64_t value = apr_strtoi64(text, &end, 10);
    const char *units = "KMG", *unit = *end ? strchr(units, apr_toupper(*end)) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (errno || !apr_isdigit(*text) || (*end && (!unit || end[1]))) return "must be a size, such as 512K, 100M or 2G";
    if (value > (APR_INT64_MAX >> shift)) return "is too large";
    *(sr_setting_SIZE *)slot = value << shift;
    return out_of_range(pool, row, value << shift);
}

static const char *values_time_text(apr_pool_t *pool, apr_int64_t value)
{
    const bool whole = value % APR_USEC_PER_SEC == 0;
    return apr_psprintf(pool, "%" APR_INT64_T_FMT "%s", value / (whole ? APR_USEC_PER_SEC : 1000), whole ? "s" : "ms");
}

static const char *values_read_time(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    apr_interval_time_t value;
    if (!apr_isdigit(*text) || ap_timeout_parameter_parse(text, &value, "s"))
        return "must be a time, such as 2500ms or 3s";
    if (value < row->min || value > row->max)
        return apr_pstrcat(pool, "must be ", values_time_text(pool, row->min), " to ", values_time_text(pool, row->max),
                           NULL);
    *(sr_setting_TIME *)slot = value;
    return NULL;
}

/* Parses two times, of which the second one includes the first one. */
static const char *read_times(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    sr_setting_TIMES *times = slot, read;
    const char *each = ap_getword_conf(pool, &text), *all = ap_getword_conf(pool, &text);
    if (!*all || *text || values_read_time(pool, row, each, &read.each) || values_read_time(pool, row, all, &read.all)
        || read.all < read.each)
        return "must be two times from 10ms to 60s, such as 3s 6s, the second not less than the first";
    *times = read;
    return NULL;
}

/* Parses a time in units up to days, or "none". A number alone is refused, because one would take it for days. */
static const char *read_age(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    static const char wanted[] = "must be a time of at least 1s, such as 90d, 12h or 30min, or none";
    const size_t digits = strspn(text, "0123456789");
    apr_interval_time_t value = 0;
    if (!strcasecmp(text, "none")) {
        *(sr_setting_AGE *)slot = 0;
        return NULL;
    }
    if (!digits || digits > 9 || !text[digits]) return wanted;
    if (!strcmp(text + digits, "d")) value = apr_time_from_sec(apr_atoi64(text) * 86400);
    else if (ap_timeout_parameter_parse(text, &value, "s")) return wanted;
    if (value < row->min || value > row->max) return wanted;
    *(sr_setting_AGE *)slot = value;
    return NULL;
}

#define MAILDIR "maildir:"

const char *sr_conf_maildir(const char *smtp)
{
    return strncmp(smtp, MAILDIR, sizeof MAILDIR - 1) ? NULL : smtp + sizeof MAILDIR - 1;
}

static const char *read_smtp(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    const char *folder = sr_conf_maildir(text);
    apr_uri_t uri;
    *(sr_setting_SMTP *)slot = text;
    if (folder) return *folder == '/' && folder[1] ? NULL : "must be maildir:/folder, with an absolute path";
    bool good = !strpbrk(text, " \"<>\\^`{|}") && !apr_uri_parse(pool, text, &uri) && uri.scheme && uri.hostname
                && *uri.hostname && (!uri.port_str || sr_text_is_port(uri.port_str))
                && (!strcmp(uri.scheme, "smtp") || !strcmp(uri.scheme, "smtps"))
                && (!uri.path || !strcmp(uri.path, "/")) && !uri.query && !uri.fragment;
    return good || !*text ? NULL : "must be smtp://host:port, smtps://host:port or maildir:/folder";
}

static const char *read_mailbox(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    const char *open = strchr(text, '<'), *close = strchr(text, '>'), *address = open ? open + 1 : text;
    size_t length = open && close ? (size_t)(close - address) : strlen(address);
    const char *at = memchr(address, '@', length);
    *(sr_setting_MAILBOX *)slot = text;
    if (!*text) return NULL;
    if (!!open != !!close || (close && (close < open || close[1])) || !at || at == address || at + 1 == address + length
        || sr_text_printable(text, pool) != text || strcspn(address, " ,;:\"\\") < length)
        return "must be name@host or \"Name <name@host>\"";
    return NULL;
}

/* Adds one range. It is called for each argument. */
static const char *read_ranges(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    sr_setting_RANGES *ranges = slot;
    char *address = apr_pstrdup(pool, text), *bits = strchr(address, '/');
    apr_ipsubnet_t *range;
    if (!strcasecmp(text, "none")) {
        *ranges = apr_array_make(pool, 2, sizeof(apr_ipsubnet_t *));
        return NULL;
    }
    if (bits) *bits++ = '\0';
    if (!strpbrk(text, ":.") || apr_ipsubnet_create(&range, address, bits, pool))
        return "must be addresses or ranges, such as 10.1.0.0/16 or 2001:db8::1, or none";
    APR_ARRAY_PUSH(*ranges, apr_ipsubnet_t *) = range;
    return NULL;
}

/* Adds one origin. It is called for each argument. */
static const char *read_redirects(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    sr_setting_REDIRECTS *origins = slot;
    const char *origin = sr_redirect_origin(text, pool);
    if (!strcasecmp(text, "none")) {
        *origins = apr_array_make(pool, 2, sizeof(const char *));
        return NULL;
    }
    if (!origin || strlen(origin) + (text[strlen(text) - 1] == '/') < strlen(text))
        return "must be origins such as https://app.example.org, or none";
    APR_ARRAY_PUSH(*origins, const char *) = origin;
    return NULL;
}

static const char *read_rates(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    return sr_conf_read_rates(pool, slot, row->kind == RATES ? SR_CONF_REQUESTS : SR_CONF_INVITATIONS, text);
}

static const char *read_retention(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    return *text ? sr_conf_read_retention(pool, slot, text) : NULL;
}

static const struct {
    const char *(*read)(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot);
    size_t size;
} kinds[] = {
    [SWITCH] = {read_switch, sizeof(sr_setting_SWITCH)},
    [PATH] = {values_read_path, sizeof(sr_setting_PATH)},
    [KEY] = {values_read_key, sizeof(sr_setting_KEY)},
    [DOCUMENTS] = {sr_conf_read_documents, sizeof(sr_setting_DOCUMENTS)},
    [ENDPOINT] = {sr_conf_read_endpoint, sizeof(sr_setting_ENDPOINT)},
    [NAME] = {sr_conf_read_name, sizeof(sr_setting_NAME)},
    [PIN] = {read_pin, sizeof(sr_setting_PIN)},
    [LINK] = {read_link, sizeof(sr_setting_LINK)},
    [URL] = {values_read_url, sizeof(sr_setting_URL)},
    [ORIGIN] = {read_origin, sizeof(sr_setting_ORIGIN)},
    [ACTIVE] = {read_active, sizeof(sr_setting_ACTIVE)},
    [SIZE] = {values_read_size, sizeof(sr_setting_SIZE)},
    [DESK] = {read_desk, sizeof(sr_setting_DESK)},
    [NUMBER] = {values_read_number, sizeof(sr_setting_NUMBER)},
    [ANCESTORS] = {read_ancestors, sizeof(sr_setting_ANCESTORS)},
    [EXPRESSION] = {read_expression, sizeof(sr_setting_EXPRESSION)},
    [TIME] = {values_read_time, sizeof(sr_setting_TIME)},
    [TIMES] = {read_times, sizeof(sr_setting_TIMES)},
    [TIMESTAMPS] = {read_timestamps, sizeof(sr_setting_TIMESTAMPS)},
    [STAMPING] = {read_stamping, sizeof(sr_setting_STAMPING)},
    [LONG_TERM] = {read_long_term, sizeof(sr_setting_LONG_TERM)},
    [PROXY] = {read_proxy, sizeof(sr_setting_PROXY)},
    [CALLED] = {read_called, sizeof(sr_setting_CALLED)},
    [AGE] = {read_age, sizeof(sr_setting_AGE)},
    [RANGES] = {read_ranges, sizeof(sr_setting_RANGES)},
    [REDIRECTS] = {read_redirects, sizeof(sr_setting_REDIRECTS)},
    [RATES] = {read_rates, sizeof(sr_setting_RATES)},
    [SMTP] = {read_smtp, sizeof(sr_setting_SMTP)},
    [MAIL_RATES] = {read_rates, sizeof(sr_setting_RATES)},
    [RETENTION] = {read_retention, sizeof(sr_setting_RETENTION)},
    [MAILBOX] = {read_mailbox, sizeof(sr_setting_MAILBOX)},
};

const char *sr_conf_read(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    return kinds[row->kind].read(pool, row, text, slot);
}

size_t sr_conf_size(sr_conf_kind_t kind)
{
    return kinds[kind].size;
}
