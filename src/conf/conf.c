/* SPDX-License-Identifier: Apache-2.0 */
/* conf.c: makes the defaults, the merge and the command table from directives.def, and parses the values of
 * directives. A value that is not understood stops httpd (and `httpd -t`) with a message about the expected values. */
#include "conf/conf.h"

#include <http_log.h>
#include <apr_fnmatch.h>
#include <apr_lib.h>
#include <apr_uri.h>
#include <stddef.h>

#include "mod_sigreq.h"

APLOG_USE_MODULE(sigreq);

typedef enum kind_t {
    SWITCH,
    PATH,
    URL,
    LINK,
    ANCESTORS,
    ORIGIN,
    ACTIVE,
    SIZE,
    NUMBER,
    TIME,
    AGE,
    RANGES,
    RATES,
    MAIL_RATES,
    SMTP,
    MAILBOX
} kind_t;
typedef enum scope_t { LOCATION, PROCESS } scope_t;

typedef struct row_t {
    const char *name;
    scope_t scope;
    kind_t kind;
    size_t offset;
    const char *default_text;
    apr_int64_t min, max;
} row_t;

#define OFFSET_LOCATION(field) offsetof(sr_conf_t, field)
#define OFFSET_PROCESS(field) offsetof(sr_conf_process_t, field)
static const row_t rows[] = {
#define SR_DIRECTIVE(scope, kind, name, field, def, min, max, help)                                                    \
    {#name, scope, kind, OFFSET_##scope(field), def, min, max},
#include "conf/directives.def"
#undef SR_DIRECTIVE
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };
_Static_assert(ROW_COUNT <= 64, "`set` has 64 bits");

/* The parsers of values. They return NULL, or a text that describes the expected values. `slot` is the field. */
static const char *read_switch(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    if (strcasecmp(text, "on") != 0 && strcasecmp(text, "off") != 0) return "must be On or Off";
    *(sr_conf_SWITCH *)slot = !strcasecmp(text, "on");
    return NULL;
}

static const char *read_path(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    *(sr_conf_PATH *)slot = *text ? ap_server_root_relative(pool, text) : "";
    return *(sr_conf_PATH *)slot ? NULL : "must be a path";
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

static const char *read_url(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    size_t length = strlen(text);
    if (*text && !is_base_url(pool, text)) return "must be an http:// or https:// URL without user, query and fragment";
    while (length && text[length - 1] == '/') length--;
    *(sr_conf_URL *)slot = apr_pstrmemdup(pool, text, length);
    return NULL;
}

/* Parses the URL of a link on the page. */
static const char *read_link(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    apr_uri_t uri;
    if (*text
        && (strpbrk(text, " \"<>\\^`{|}") || apr_uri_parse(pool, text, &uri) || !uri.scheme || !uri.hostname
            || (strcmp(uri.scheme, "http") != 0 && strcmp(uri.scheme, "https") != 0)))
        return "must be an http:// or https:// URL";
    *(sr_conf_LINK *)slot = apr_pstrdup(pool, text);
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

static const char *read_ancestors(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    char *rest = apr_pstrdup(pool, text);
    for (const char *source; (source = apr_strtok(NULL, " ", &rest)) != NULL;)
        if (!is_ancestor(source)) return "must be 'self' or origins such as https://app.example.org";
    *(sr_conf_ANCESTORS *)slot = apr_pstrdup(pool, text);
    return NULL;
}

static const char *read_origin(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    static const char *const names[] = {[SR_ORIGIN_USER_SPACE] = "user-space", [SR_ORIGIN_TOP_LEFT] = "top-left"};
    for (int i = 0; i < 2; i++)
        if (!strcasecmp(text, names[i])) {
            *(sr_conf_ORIGIN *)slot = (sr_origin_t)i;
            return NULL;
        }
    return "must be user-space or top-left";
}

static const char *read_active(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    const bool refuse = !strcasecmp(text, "refuse");
    if (!refuse && strcasecmp(text, "warn") != 0) return "must be warn or refuse";
    *(sr_conf_ACTIVE *)slot = refuse;
    return NULL;
}

static const char *in_range(apr_pool_t *pool, const row_t *row, apr_int64_t value, void *slot)
{
    if (value < row->min) return apr_psprintf(pool, "must be at least %" APR_INT64_T_FMT, row->min);
    if (value > row->max) return apr_psprintf(pool, "must be at most %" APR_INT64_T_FMT, row->max);
    *(apr_int64_t *)slot = value;
    return NULL;
}

static const char *read_number(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    char *end;
    errno = 0;
    apr_int64_t value = apr_strtoi64(text, &end, 10);
    if (errno || *end || !apr_isdigit(*text)) return "must be a whole number";
    return in_range(pool, row, value, slot);
}

static const char *read_size(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    char *end;
    errno = 0;
    apr_int64_t value = apr_strtoi64(text, &end, 10);
    const char *units = "KMG", *unit = *end ? strchr(units, apr_toupper(*end)) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (errno || !apr_isdigit(*text) || (*end && (!unit || end[1]))) return "must be a size, such as 512K, 100M or 2G";
    if (value > (APR_INT64_MAX >> shift)) return "is too large";
    return in_range(pool, row, value << shift, slot);
}

static const char *read_time(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    apr_interval_time_t value;
    if (!apr_isdigit(*text) || ap_timeout_parameter_parse(text, &value, "s"))
        return "must be a time, such as 2500ms or 3s";
    if (value < row->min || value > row->max)
        return apr_psprintf(pool, "must be %" APR_INT64_T_FMT "ms to %" APR_INT64_T_FMT "s", row->min / 1000,
                            row->max / APR_USEC_PER_SEC);
    *(sr_conf_TIME *)slot = value;
    return NULL;
}

/* Parses a time in units up to days, or "none". */
static const char *read_age(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    static const char wanted[] = "must be a time of at least 1s, such as 90d, 12h or 30min, or none";
    const size_t digits = strspn(text, "0123456789");
    apr_interval_time_t value = 0;
    if (!strcasecmp(text, "none")) {
        *(sr_conf_AGE *)slot = 0;
        return NULL;
    }
    if (!digits || digits > 9) return wanted;
    if (!strcmp(text + digits, "d")) value = apr_time_from_sec(apr_atoi64(text) * 86400);
    else if (ap_timeout_parameter_parse(text, &value, "s")) return wanted;
    if (value < row->min || value > row->max) return wanted;
    *(sr_conf_AGE *)slot = value;
    return NULL;
}

#define MAILDIR "maildir:"

const char *sr_conf_maildir(const char *smtp)
{
    return strncmp(smtp, MAILDIR, sizeof MAILDIR - 1) ? NULL : smtp + sizeof MAILDIR - 1;
}

static const char *read_smtp(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    const char *folder = sr_conf_maildir(text);
    apr_uri_t uri;
    *(sr_conf_SMTP *)slot = text;
    if (folder) return *folder == '/' && folder[1] ? NULL : "must be maildir:/folder, with an absolute path";
    bool good = !strpbrk(text, " \"<>\\^`{|}") && !apr_uri_parse(pool, text, &uri) && uri.scheme && uri.hostname
                && *uri.hostname && (!uri.port_str || sr_text_is_port(uri.port_str))
                && (!strcmp(uri.scheme, "smtp") || !strcmp(uri.scheme, "smtps"))
                && (!uri.path || !strcmp(uri.path, "/")) && !uri.query && !uri.fragment;
    return good || !*text ? NULL : "must be smtp://host:port, smtps://host:port or maildir:/folder";
}

static const char *read_mailbox(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    const char *open = strchr(text, '<'), *close = strchr(text, '>'), *address = open ? open + 1 : text;
    size_t length = open && close ? (size_t)(close - address) : strlen(address);
    const char *at = memchr(address, '@', length);
    *(sr_conf_MAILBOX *)slot = text;
    if (!*text) return NULL;
    if (!!open != !!close || (close && (close < open || close[1])) || !at || at == address || at + 1 == address + length
        || sr_text_printable(text, pool) != text || strcspn(address, " ,;:\"\\") < length)
        return "must be name@host or \"Name <name@host>\"";
    return NULL;
}

/* Adds one range. It is called for each argument. */
static const char *read_ranges(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    sr_conf_RANGES *ranges = slot;
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

static const char *read_rates(apr_pool_t *pool, const row_t *row, const char *text, void *slot)
{
    return sr_conf_read_rates(pool, slot, row->kind == RATES ? SR_CONF_REQUESTS : SR_CONF_INVITATIONS, text);
}

static const struct {
    const char *(*read)(apr_pool_t *pool, const row_t *row, const char *text, void *slot);
    size_t size;
} kinds[] = {
    [SWITCH] = {read_switch, sizeof(sr_conf_SWITCH)},
    [PATH] = {read_path, sizeof(sr_conf_PATH)},
    [LINK] = {read_link, sizeof(sr_conf_LINK)},
    [URL] = {read_url, sizeof(sr_conf_URL)},
    [ORIGIN] = {read_origin, sizeof(sr_conf_ORIGIN)},
    [ACTIVE] = {read_active, sizeof(sr_conf_ACTIVE)},
    [SIZE] = {read_size, sizeof(sr_conf_SIZE)},
    [NUMBER] = {read_number, sizeof(sr_conf_NUMBER)},
    [ANCESTORS] = {read_ancestors, sizeof(sr_conf_ANCESTORS)},
    [TIME] = {read_time, sizeof(sr_conf_TIME)},
    [AGE] = {read_age, sizeof(sr_conf_AGE)},
    [RANGES] = {read_ranges, sizeof(sr_conf_RANGES)},
    [RATES] = {read_rates, sizeof(sr_conf_RATES)},
    [SMTP] = {read_smtp, sizeof(sr_conf_SMTP)},
    [MAIL_RATES] = {read_rates, sizeof(sr_conf_RATES)},
    [MAILBOX] = {read_mailbox, sizeof(sr_conf_MAILBOX)},
};

/* The sections with "Sigreq On", for check_config. The list begins empty whenever the configuration is read. */
static apr_array_header_t *enabled_sections; /* enabled_t */
typedef struct enabled_t {
    const sr_conf_t *section;
    server_rec *server;
    const char *where; /* file:line */
} enabled_t;

void sr_conf_reset(apr_pool_t *pconf)
{
    enabled_sections = apr_array_make(pconf, 4, sizeof(enabled_t));
}

bool sr_conf_serves(const server_rec *server, const server_rec *main_server)
{
    for (int i = 0; i < enabled_sections->nelts; i++) {
        const server_rec *where = APR_ARRAY_IDX(enabled_sections, i, enabled_t).server;
        if (where == server || where == main_server) return true;
    }
    return false;
}

/* Returns the prefix of a section: "/esign/" and "/esign" are the same location, and "/" is the empty prefix. */
static const char *prefix_of(apr_pool_t *pool, const char *section)
{
    size_t length = strlen(section);
    while (length && section[length - 1] == '/') length--;
    return apr_pstrmemdup(pool, section, length);
}

/* Notes a section with "Sigreq On". The links and routes of a location need one literal path, which <LocationMatch>
 * and <If> do not have. */
static const char *note_section(cmd_parms *cmd, sr_conf_t *conf)
{
    const ap_directive_t *parent = cmd->directive->parent;
    if (!parent || strcasecmp(parent->directive, "<Location") != 0 || !cmd->path || *cmd->path != '/')
        return "Sigreq must stand in a <Location \"/path\"> section";
    const char *arguments = parent->args;
    if (!strcmp(ap_getword_conf(cmd->temp_pool, &arguments), "~") || apr_fnmatch_test(cmd->path))
        return "Sigreq needs a <Location> without patterns";
    conf->location = prefix_of(cmd->pool, cmd->path);
    if (conf->enabled) {
        enabled_t *entry = apr_array_push(enabled_sections);
        entry->section = conf;
        entry->server = cmd->server;
        entry->where = apr_psprintf(cmd->pool, "%s:%d", cmd->directive->filename, cmd->directive->line_num);
    }
    return NULL;
}

static const char *set_value(cmd_parms *cmd, void *location, const char *text)
{
    const row_t *row = cmd->info;
    bool of_process = row->scope == PROCESS;
    void *conf = location;
    if (of_process) {
        const char *wrong = ap_check_cmd_context(cmd, GLOBAL_ONLY);
        if (wrong) return wrong;
        conf = ap_get_module_config(cmd->server->module_config, &sigreq_module);
    }
    const char *wrong =
        *text ? kinds[row->kind].read(cmd->pool, row, text, (char *)conf + row->offset) : "must not be empty";
    if (wrong) return apr_psprintf(cmd->pool, "%s %s, not '%s'", row->name, wrong, text);
    apr_uint64_t *set = of_process ? &((sr_conf_process_t *)conf)->set : &((sr_conf_t *)conf)->set;
    *set |= (apr_uint64_t)1 << (row - rows);
    return !of_process && row->offset == offsetof(sr_conf_t, enabled) ? note_section(cmd, conf) : NULL;
}

#define CONTEXT_LOCATION (RSRC_CONF | ACCESS_CONF)
#define CONTEXT_PROCESS RSRC_CONF
#define ARGUMENTS_SWITCH TAKE1
#define ARGUMENTS_PATH TAKE1
#define ARGUMENTS_URL TAKE1
#define ARGUMENTS_LINK TAKE1
#define ARGUMENTS_ANCESTORS TAKE1
#define ARGUMENTS_ORIGIN TAKE1
#define ARGUMENTS_ACTIVE TAKE1
#define ARGUMENTS_SIZE TAKE1
#define ARGUMENTS_NUMBER TAKE1
#define ARGUMENTS_TIME TAKE1
#define ARGUMENTS_AGE TAKE1
#define ARGUMENTS_SMTP TAKE1
#define ARGUMENTS_MAILBOX TAKE1
#define ARGUMENTS_RANGES ITERATE /* called for each argument */
#define ARGUMENTS_RATES ITERATE
#define ARGUMENTS_MAIL_RATES ITERATE
enum {
#define SR_DIRECTIVE(scope, kind, name, field, def, min, max, help) ROW_##name,
#include "conf/directives.def"
#undef SR_DIRECTIVE
};
const command_rec sr_conf_commands[] = {
#define SR_DIRECTIVE(scope, kind, name, field, def, min, max, help)                                                    \
    {#name, {.take1 = set_value}, (void *)&rows[ROW_##name], CONTEXT_##scope, ARGUMENTS_##kind, help},
#include "conf/directives.def"
#undef SR_DIRECTIVE
    {.name = NULL}};

static void fill_defaults(apr_pool_t *pool, scope_t scope, void *conf)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (rows[i].scope == scope) {
            const char *wrong =
                kinds[rows[i].kind].read(pool, &rows[i], rows[i].default_text, (char *)conf + rows[i].offset);
            ap_assert(!wrong);
        }
}

void *sr_conf_create_location(apr_pool_t *pool, char *section)
{
    sr_conf_t *conf = apr_pcalloc(pool, sizeof *conf);
    fill_defaults(pool, LOCATION, conf);
    conf->rates.given = conf->mail_rates.given = 0;
    return conf;
}

void *sr_conf_merge_location(apr_pool_t *pool, void *base_, void *over_)
{
    const sr_conf_t *base = base_, *over = over_;
    sr_conf_t *merged = apr_pmemdup(pool, base, sizeof *base);
    for (int i = 0; i < ROW_COUNT; i++)
        if (rows[i].scope == LOCATION && rows[i].kind != RATES && rows[i].kind != MAIL_RATES && over->set >> i & 1)
            memcpy((char *)merged + rows[i].offset, (const char *)over + rows[i].offset, kinds[rows[i].kind].size);
    sr_conf_merge_rates(&merged->rates, &over->rates);
    sr_conf_merge_rates(&merged->mail_rates, &over->mail_rates);
    merged->set = base->set | over->set;
    if (over->set >> ROW_Sigreq & 1) merged->location = over->location;
    return merged;
}

void *sr_conf_create_process(apr_pool_t *pool, server_rec *server)
{
    sr_conf_process_t *conf = apr_pcalloc(pool, sizeof *conf);
    fill_defaults(pool, PROCESS, conf);
    return conf;
}

const sr_conf_t *sr_conf_of_request(const request_rec *r)
{
    return ap_get_module_config(r->per_dir_config, &sigreq_module);
}

const sr_conf_process_t *sr_conf_of_process(server_rec *server)
{
    return ap_get_module_config(server->module_config, &sigreq_module);
}

static const char *fault_of_section(apr_pool_t *pool, const enabled_t *entry, const sr_conf_process_t *process)
{
    sr_conf_t *server = ap_get_module_config(entry->server->lookup_defaults, &sigreq_module);
    const sr_conf_t *conf = sr_conf_merge_location(pool, server, (void *)entry->section);
    apr_finfo_t info;
    if (*process->smtp && !*conf->base_url)
        return "Sigreq On needs SigreqBaseURL where SigreqSMTP is given: the links in mail begin with it";
    if (!*conf->documents) return "Sigreq On needs SigreqDocuments";
    if (apr_stat(&info, conf->documents, APR_FINFO_TYPE, pool) || info.filetype != APR_DIR)
        return apr_psprintf(pool, "SigreqDocuments %s is not a folder", conf->documents);
    if (*conf->theme && (apr_stat(&info, conf->theme, APR_FINFO_TYPE, pool) || info.filetype != APR_DIR))
        return apr_psprintf(pool, "SigreqTheme %s is not a folder", conf->theme);
    /* httpd's user creates a missing folder */
    if (*conf->cache && !apr_stat(&info, conf->cache, APR_FINFO_TYPE, pool) && info.filetype != APR_DIR)
        return apr_psprintf(pool, "SigreqCache %s is not a folder", conf->cache);
    /* if only SigreqMaxRequestSize is set, the smaller of both limits applies */
    if (conf->set >> ROW_SigreqMaxFileSize & 1 && conf->max_file_size > conf->max_request_size)
        return "SigreqMaxFileSize is larger than SigreqMaxRequestSize";
    return NULL;
}

static const char *fault_of_process(apr_pool_t *pool, server_rec *main_server)
{
    const sr_conf_process_t *conf = sr_conf_of_process(main_server);
    apr_finfo_t info;
    if (!ap_find_linked_module("mod_dbd.c")) return "Sigreq needs mod_dbd: LoadModule dbd_module ...";
    if (apr_stat(&info, conf->helper, APR_FINFO_TYPE | APR_FINFO_PROT, pool) || info.filetype != APR_REG
        || !(info.protection & APR_FPROT_WEXECUTE))
        return apr_psprintf(pool, "SigreqHelper %s is not a program that httpd's user can run", conf->helper);
    if (*conf->smtp && !*conf->mail_from) return "SigreqSMTP needs SigreqMailFrom";
    const char *maildir = sr_conf_maildir(conf->smtp);
    if (maildir
        && (apr_stat(&info, maildir, APR_FINFO_TYPE, pool) || info.filetype != APR_DIR || !sr_conf_can_write(maildir)))
        return apr_psprintf(pool, "SigreqSMTP %s is not a folder that httpd's user can write to", conf->smtp);
    if (*conf->mail_templates
        && (apr_stat(&info, conf->mail_templates, APR_FINFO_TYPE, pool) || info.filetype != APR_DIR))
        return apr_psprintf(pool, "SigreqMailTemplates %s is not a folder", conf->mail_templates);
    return NULL;
}

bool sr_conf_is_used(void)
{
    return enabled_sections->nelts > 0;
}

int sr_conf_sections(void)
{
    return enabled_sections->nelts;
}

const char *sr_conf_documents(apr_pool_t *pool, int section, server_rec *server, const server_rec *main_server)
{
    const enabled_t *entry = &APR_ARRAY_IDX(enabled_sections, section, enabled_t);
    if (entry->server != server && entry->server != main_server) return NULL;
    sr_conf_t *defaults = ap_get_module_config(server->lookup_defaults, &sigreq_module);
    const sr_conf_t *conf = sr_conf_merge_location(pool, defaults, (void *)entry->section);
    return conf->documents;
}

int sr_conf_check(apr_pool_t *ptemp, server_rec *main_server)
{
    int result = OK;
    if (!sr_conf_is_used()) return OK;
    const char *fault = fault_of_process(ptemp, main_server);
    if (fault) {
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, main_server, "SR0001: %s", fault);
        result = HTTP_INTERNAL_SERVER_ERROR;
    }
    for (int i = 0; i < enabled_sections->nelts; i++) {
        const enabled_t *entry = &APR_ARRAY_IDX(enabled_sections, i, enabled_t);
        if (!(fault = fault_of_section(ptemp, entry, sr_conf_of_process(main_server)))) continue;
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, main_server, "SR0002: %s: %s", entry->where, fault);
        result = HTTP_INTERNAL_SERVER_ERROR;
    }
    if (sr_conf_check_sharing(ptemp, main_server) != OK) result = HTTP_INTERNAL_SERVER_ERROR;
    if (result == OK) sr_conf_warn_of_documents(ptemp, main_server);
    return result;
}
