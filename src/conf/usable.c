/* SPDX-License-Identifier: Apache-2.0 */
/* usable.c: what a configuration names and what does not work at present: folders, programs, and values that are
 * probably mistakes. Nothing of it stops httpd. The messages say which requests suffer. */
#include "conf/conf.h"

#include <ap_mpm.h>
#include <apr_hash.h>
#include <http_core.h>
#include <http_log.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mod_sigreq.h"
#include "blobs/s3/s3.h"

APLOG_USE_MODULE(sigreq);

bool sr_conf_is_rehearsal(void)
{
    return ap_state_query(AP_SQ_RUN_MODE) == AP_SQ_RM_CONFIG_TEST
           || ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG;
}

int sr_conf_level(int level)
{
    return sr_conf_is_rehearsal() ? APLOG_STARTUP | level : level;
}

static bool is_folder(apr_pool_t *pool, const char *path)
{
    apr_finfo_t info;
    return !apr_stat(&info, path, APR_FINFO_TYPE, pool) && info.filetype == APR_DIR;
}

static bool is_program(apr_pool_t *pool, const char *path)
{
    apr_finfo_t info;
    return !apr_stat(&info, path, APR_FINFO_TYPE | APR_FINFO_PROT, pool) && info.filetype == APR_REG
           && (info.protection & APR_FPROT_WEXECUTE);
}

#define SAY(main_server, level, ...) ap_log_error(APLOG_MARK, sr_conf_level(level), 0, main_server, __VA_ARGS__)

/* ---------------------------------------------------------------------------------------------- the process */

static void check_process(apr_pool_t *pool, server_rec *main_server)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    const char *maildir = sr_conf_maildir(conf->smtp);
    if (!is_program(pool, conf->helper))
        SAY(main_server, APLOG_CRIT,
            "SR0003: SigreqHelper %s is not a program that httpd's user can run: no document can be "
            "read (503) until it is",
            conf->helper);
    if (!is_program(pool, conf->seal_program))
        SAY(main_server, APLOG_CRIT,
            "SR0003: SigreqSealProgram %s is not a program that httpd's user can run: nothing can be signed "
            "(503) until it is",
            conf->seal_program);
    if (maildir && !(is_folder(pool, maildir) && sr_conf_can_write(maildir)))
        SAY(main_server, APLOG_ERR,
            "SR0003: SigreqSMTP %s is not a folder that httpd's user can write to: no mail is sent "
            "until it is",
            conf->smtp);
    if (*conf->mail_templates && !is_folder(pool, conf->mail_templates))
        SAY(main_server, APLOG_ERR, "SR0003: SigreqMailTemplates %s is not a folder: the built-in mails are sent",
            conf->mail_templates);
}

/* The administrator may have copied a file with the default rights, or have given it to httpd's user. Then every child
 * of httpd, which handles requests, could read the key. */
static void check_secrets(apr_pool_t *pool, server_rec *main_server)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    const struct {
        const char *name, *path;
    } secrets[] = {{"SigreqSealKey", conf->seal_key},
                   {"SigreqTestSealKey", conf->test_seal_key},
                   {"SigreqSealPIN", conf->seal_pin},
                   {"SigreqS3Credentials", conf->s3_credentials},
                   {"SigreqCodeHookSecret", conf->code_hook_secret},
                   {"SigreqTimestampLogin", conf->timestamp_login}};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        struct stat info;
        const char *name = secrets[i].name, *path = secrets[i].path;
        if (*path != '/' || stat(path, &info) != 0) continue;
        if (info.st_mode & S_IROTH)
            SAY(main_server, APLOG_WARNING, "SR0409: %s %s can be read by every user of this host: run: chmod 600 %s",
                name, path, path);
        else if (sr_conf_is_exposed(path))
            SAY(main_server, APLOG_WARNING,
                "SR0409: %s %s can be read by httpd's user, whose processes handle requests: run: chown root: %s; "
                "chmod 600 %s",
                name, path, path, path);
    }
}

/* One connection for each thread, one for the job thread, and one for the watch. */
static void check_connections(apr_pool_t *pool, server_rec *main_server)
{
    int threads = 0;
    const int most = sr_conf_connections(pool, main_server, main_server);
    if (ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads) || threads <= 1 || most >= threads + 2) return;
    SAY(main_server, APLOG_WARNING,
        "SR0713: DBDMax %d is less than ThreadsPerChild + 2: requests wait for database "
        "connections. Set DBDMax %d",
        most, threads + 2);
}

/* --------------------------------------------------------------------------------------------- the sections */

static void say_section(server_rec *main_server, const char *where, int level, const char *text)
{
    ap_log_error(APLOG_MARK, sr_conf_level(level), 0, main_server, "SR0004: %s: %s", where, text);
}

/* A folder that cannot be written is only a warning, because another module may run requests with the rights of other
 * users. */
static void check_storage(server_rec *main_server, const char *name, const char *documents, apr_hash_t *seen,
                          apr_pool_t *pool)
{
    const bool is_bucket = sr_s3_is_url(documents);
    const char *folder = is_bucket ? sr_conf_of_process(main_server)->documents_cache : documents;
    if (!*folder || apr_hash_get(seen, folder, APR_HASH_KEY_STRING)) return;
    apr_hash_set(seen, folder, APR_HASH_KEY_STRING, "");
    if (is_bucket) name = "SigreqDocumentsCache";
    if (!is_folder(pool, folder))
        ap_log_error(APLOG_MARK, sr_conf_level(APLOG_CRIT), 0, main_server,
                     "SR0711: %s %s is not a folder: requests for its documents get 503 until it is", name, folder);
    else if (!sr_conf_can_write(folder))
        ap_log_error(APLOG_MARK, sr_conf_level(APLOG_WARNING), 0, main_server,
                     "SR0712: httpd's user cannot write to %s %s: uploads get 503", name, folder);
}

/* Those of all virtual hosts, each once. */
static void check_storages(apr_pool_t *pool, server_rec *main_server)
{
    apr_hash_t *seen = apr_hash_make(pool);
    for (server_rec *server = main_server; server; server = server->next)
        for (int i = 0; i < sr_conf_sections(); i++) {
            const sr_settings_t *conf = sr_conf_section(pool, i, server, main_server);
            if (!conf) continue;
            check_storage(main_server, "SigreqDocuments", conf->documents, seen, pool);
            check_storage(main_server, "SigreqDocumentsAlso", conf->documents_also, seen, pool);
        }
}

static void check_cache(apr_pool_t *pool, server_rec *main_server, const char *where, const char *cache)
{
    apr_finfo_t info;
    if (!*cache) return;
    const bool exists = !apr_stat(&info, cache, APR_FINFO_TYPE, pool);
    const char *slash = strrchr(cache, '/');
    const char *parent = slash > cache ? apr_pstrmemdup(pool, cache, (apr_size_t)(slash - cache)) : "/";
    if (exists && info.filetype != APR_DIR)
        say_section(
            main_server, where, APLOG_ERR,
            apr_psprintf(pool, "SigreqCache %s is not a folder: page images are generated for each request", cache));
    else if (!exists && !(is_folder(pool, parent) && sr_conf_can_write(parent)))
        say_section(main_server, where, APLOG_WARNING,
                    apr_psprintf(pool,
                                 "SigreqCache %s does not exist, and httpd's user cannot create it: page images "
                                 "are generated for each request",
                                 cache));
}

/* A proxy may map one path to another. */
static void check_base_url(apr_pool_t *pool, server_rec *main_server, const char *where, const sr_settings_t *conf)
{
    const char *host = *conf->base_url ? strstr(conf->base_url, "://") : NULL;
    const char *path = host ? strchr(host + 3, '/') : NULL;
    if (!host || !strcmp(path ? path : "", conf->location)) return;
    say_section(main_server, where, APLOG_WARNING,
                apr_psprintf(pool,
                             "SigreqBaseURL %s does not end with the path of the location, \"%s\": links work only "
                             "if a proxy maps one to the other",
                             conf->base_url, *conf->location ? conf->location : "/"));
}

static void check_section(apr_pool_t *pool, server_rec *main_server, const sr_settings_t *conf, const char *where)
{
    if (*conf->theme && !is_folder(pool, conf->theme))
        say_section(main_server, where, APLOG_ERR,
                    apr_psprintf(pool, "SigreqTheme %s is not a folder: pages have no theme", conf->theme));
    check_cache(pool, main_server, where, conf->cache);
    check_base_url(pool, main_server, where, conf);
}

void sr_conf_check_files(apr_pool_t *ptemp, server_rec *main_server)
{
    if (!sr_conf_is_used()) return;
    check_process(ptemp, main_server);
    check_secrets(ptemp, main_server);
    check_connections(ptemp, main_server);
    check_storages(ptemp, main_server);
    for (int i = 0; i < sr_conf_sections(); i++) {
        const char *where;
        const sr_settings_t *conf = sr_conf_section_place(&where, ptemp, i);
        check_section(ptemp, main_server, conf, where);
    }
}
