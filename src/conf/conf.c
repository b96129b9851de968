/* SPDX-License-Identifier: Apache-2.0 */
/* conf.c: makes the defaults, the merge and the command table from directives.def, and checks what directives say
 * together. */
#include "conf/private.h"

#include <http_log.h>
#include <apr_fnmatch.h>
#include <stddef.h>

#include "mod_sigreq.h"
#include "blobs/s3/s3.h"

APLOG_USE_MODULE(sigreq);

#define OFFSET_LOCATION(field) offsetof(sr_settings_t, field)
#define OFFSET_PROCESS(field) offsetof(sr_process_settings_t, field)
static const sr_conf_row_t rows[] = {
#define SR_DIRECTIVE(scope, kind, name, field, def, min, max, help)                                                    \
    {#name, scope, kind, OFFSET_##scope(field), def, min, max},
#include "settings/directives.def"
#undef SR_DIRECTIVE
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* The sections with "Sigreq On", for check_config. The list begins empty whenever the configuration is read. */
static apr_array_header_t *enabled_sections; /* enabled_t */
typedef struct enabled_t {
    const sr_settings_t *section;
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
static const char *note_section(cmd_parms *cmd, sr_settings_t *conf)
{
    const ap_directive_t *parent = cmd->directive->parent;
    if (!parent || strcasecmp(parent->directive, "<Location") != 0 || !cmd->path || *cmd->path != '/')
        return "Sigreq must be in a <Location \"/path\"> section";
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

static const char *conf_set_value(cmd_parms *cmd, void *location, const char *text)
{
    const sr_conf_row_t *row = cmd->info;
    bool of_process = row->scope == PROCESS;
    void *conf = location;
    if (of_process) {
        const char *wrong = ap_check_cmd_context(cmd, GLOBAL_ONLY);
        if (wrong) return wrong;
        conf = ap_get_module_config(cmd->server->module_config, &sigreq_module);
    }
    const char *wrong = *text ? sr_conf_read(cmd->pool, row, text, (char *)conf + row->offset) : "must not be empty";
    if (wrong) return apr_psprintf(cmd->pool, "%s %s, not '%s'", row->name, wrong, text);
    if (of_process) return NULL;
    sr_assert(row - rows < 64); /* `set` has 64 bits: rows of LOCATION come first */
    ((sr_settings_t *)conf)->set |= (apr_uint64_t)1 << (row - rows);
    return row->offset == offsetof(sr_settings_t, enabled) ? note_section(cmd, conf) : NULL;
}

#define CONTEXT_LOCATION (RSRC_CONF | ACCESS_CONF)
#define CONTEXT_PROCESS RSRC_CONF
#define ARGUMENTS_SWITCH TAKE1
#define ARGUMENTS_DESK TAKE1
#define ARGUMENTS_PATH TAKE1
#define ARGUMENTS_KEY TAKE1
#define ARGUMENTS_PIN TAKE1
#define ARGUMENTS_DOCUMENTS TAKE1
#define ARGUMENTS_NAME TAKE1
#define ARGUMENTS_ENDPOINT ITERATE
#define ARGUMENTS_URL TAKE1
#define ARGUMENTS_LINK TAKE1
#define ARGUMENTS_ANCESTORS TAKE1
#define ARGUMENTS_EXPRESSION TAKE1
#define ARGUMENTS_ORIGIN TAKE1
#define ARGUMENTS_ACTIVE TAKE1
#define ARGUMENTS_SIZE TAKE1
#define ARGUMENTS_NUMBER TAKE1
#define ARGUMENTS_TIME TAKE1
#define ARGUMENTS_AGE TAKE1
#define ARGUMENTS_STAMPING TAKE1
#define ARGUMENTS_LONG_TERM TAKE1
#define ARGUMENTS_PROXY TAKE1
#define ARGUMENTS_CALLED TAKE1
#define ARGUMENTS_TIMES RAW_ARGS
#define ARGUMENTS_SMTP TAKE1
#define ARGUMENTS_MAILBOX TAKE1
#define ARGUMENTS_RANGES ITERATE /* called for each argument */
#define ARGUMENTS_RATES ITERATE
#define ARGUMENTS_TIMESTAMPS ITERATE
#define ARGUMENTS_REDIRECTS ITERATE
#define ARGUMENTS_MAIL_RATES ITERATE
#define ARGUMENTS_RETENTION RAW_ARGS /* the first argument belongs to all others */
enum {
#define SR_DIRECTIVE(scope, kind, name, field, def, min, max, help) ROW_##name,
#include "settings/directives.def"
#undef SR_DIRECTIVE
};
const command_rec sr_conf_commands[] = {
#define SR_DIRECTIVE(scope, kind, name, field, def, min, max, help)                                                    \
    {#name, {.take1 = conf_set_value}, (void *)&rows[ROW_##name], CONTEXT_##scope, ARGUMENTS_##kind, help},
#include "settings/directives.def"
#undef SR_DIRECTIVE
    {.name = NULL}};

static void fill_defaults(apr_pool_t *pool, sr_conf_scope_t scope, void *conf)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (rows[i].scope == scope) {
            const char *wrong = sr_conf_read(pool, &rows[i], rows[i].default_text, (char *)conf + rows[i].offset);
            sr_assert(!wrong); /* directives.def has good defaults */
        }
}

void *sr_conf_create_location(apr_pool_t *pool, char *section)
{
    sr_settings_t *conf = apr_pcalloc(pool, sizeof *conf);
    fill_defaults(pool, LOCATION, conf);
    conf->rates.given = conf->mail_rates.given = 0;
    return conf;
}

void *sr_conf_merge_location(apr_pool_t *pool, void *base_, void *over_)
{
    const sr_settings_t *base = base_, *over = over_;
    sr_settings_t *merged = apr_pmemdup(pool, base, sizeof *base);
    for (int i = 0; i < ROW_COUNT; i++)
        if (rows[i].scope == LOCATION && rows[i].kind != RATES && rows[i].kind != MAIL_RATES && over->set >> i & 1)
            memcpy((char *)merged + rows[i].offset, (const char *)over + rows[i].offset, sr_conf_size(rows[i].kind));
    sr_conf_merge_rates(&merged->rates, &over->rates);
    sr_conf_merge_rates(&merged->mail_rates, &over->mail_rates);
    merged->set = base->set | over->set;
    if (over->set >> ROW_Sigreq & 1) merged->location = over->location;
    return merged;
}

void *sr_conf_create_process(apr_pool_t *pool, server_rec *server)
{
    sr_process_settings_t *conf = apr_pcalloc(pool, sizeof *conf);
    fill_defaults(pool, PROCESS, conf);
    return conf;
}

const sr_settings_t *sr_conf_of_request(const request_rec *r)
{
    return ap_get_module_config(r->per_dir_config, &sigreq_module);
}

const sr_process_settings_t *sr_conf_of_process(server_rec *server)
{
    return ap_get_module_config(server->module_config, &sigreq_module);
}

static const char *fault_of_storage(const char *documents, const sr_process_settings_t *process)
{
    if (!sr_s3_is_url(documents)) return NULL;
    if (!*process->s3_endpoint.url) return "SigreqDocuments s3:// needs SigreqS3Endpoint";
    if (!*process->s3_credentials) return "SigreqDocuments s3:// needs SigreqS3Credentials";
    return *process->documents_cache ? NULL : "SigreqDocuments s3:// needs SigreqDocumentsCache, a local folder";
}

const sr_settings_t *sr_conf_section_place(const char **where, apr_pool_t *pool, int section)
{
    const enabled_t *entry = &APR_ARRAY_IDX(enabled_sections, section, enabled_t);
    sr_settings_t *server = ap_get_module_config(entry->server->lookup_defaults, &sigreq_module);
    *where = entry->where;
    return sr_conf_merge_location(pool, server, (void *)entry->section);
}

static const char *fault_of_section(const sr_settings_t *conf, const sr_process_settings_t *process)
{
    if (*process->smtp && !*conf->base_url)
        return "Sigreq On needs SigreqBaseURL if SigreqSMTP is set: links in mail begin with it";
    if (!*conf->documents) return "Sigreq On needs SigreqDocuments";
    const char *fault = fault_of_storage(conf->documents, process);
    if (!fault) fault = fault_of_storage(conf->documents_also, process);
    if (fault) return fault;
    if (!strcmp(conf->documents, conf->documents_also)) return "SigreqDocumentsAlso is the same as SigreqDocuments";
    /* if only SigreqMaxRequestSize is set, the smaller of both limits applies */
    if (conf->set >> ROW_SigreqMaxFileSize & 1 && conf->max_file_size > conf->max_request_size)
        return "SigreqMaxFileSize is larger than SigreqMaxRequestSize";
    return NULL;
}

static const char *fault_of_process(const sr_process_settings_t *conf)
{
    if (!ap_find_linked_module("mod_dbd.c")) return "Sigreq needs mod_dbd: LoadModule dbd_module ...";
    if (conf->long_term == SR_LONG_TERM_LTA && (!conf->timestamps->nelts || !*conf->seal_authorities))
        return "SigreqLongTerm lta needs SigreqTimestamp and SigreqSealAuthorities";
    if (!*conf->code_hook != !*conf->code_hook_secret)
        return *conf->code_hook ? "SigreqCodeHook needs SigreqCodeHookSecret"
                                : "SigreqCodeHookSecret needs SigreqCodeHook";
    return *conf->smtp && !*conf->mail_from ? "SigreqSMTP needs SigreqMailFrom" : NULL;
}

bool sr_conf_is_used(void)
{
    return enabled_sections->nelts > 0;
}

int sr_conf_sections(void)
{
    return enabled_sections->nelts;
}

const sr_settings_t *sr_conf_section(apr_pool_t *pool, int section, server_rec *server, const server_rec *main_server)
{
    const enabled_t *entry = &APR_ARRAY_IDX(enabled_sections, section, enabled_t);
    if (entry->server != server && entry->server != main_server) return NULL;
    sr_settings_t *defaults = ap_get_module_config(server->lookup_defaults, &sigreq_module);
    return sr_conf_merge_location(pool, defaults, (void *)entry->section);
}

int sr_conf_check(apr_pool_t *ptemp, server_rec *main_server)
{
    int result = OK;
    if (!sr_conf_is_used()) return OK;
    const char *fault = fault_of_process(sr_conf_of_process(main_server));
    if (fault) {
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, main_server, "SR0001: %s", fault);
        result = HTTP_INTERNAL_SERVER_ERROR;
    }
    for (int i = 0; i < enabled_sections->nelts; i++) {
        const char *where;
        const sr_settings_t *conf = sr_conf_section_place(&where, ptemp, i);
        if (!(fault = fault_of_section(conf, sr_conf_of_process(main_server)))) continue;
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, main_server, "SR0002: %s: %s", where, fault);
        result = HTTP_INTERNAL_SERVER_ERROR;
    }
    return result;
}
