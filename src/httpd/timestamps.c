/* SPDX-License-Identifier: Apache-2.0 */
/* timestamps.c: the timestamp authorities of the configuration. The parent reads the files, usually as root, with every
 * configuration, so httpd's user need not be able to read them. Each child has its own connections to the authorities.
 * All children share what they know about authorities that fail. No authority is asked before a signature needs it. */
#include <httpd.h>
#include <http_log.h>
#include <curl/curl.h>
#include <string.h>

#include "mod_sigreq.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

#define LOGIN_MOST ((apr_off_t)64 << 10) /* bytes of the file of SigreqTimestampLogin */

_Static_assert(SR_SETTING_TIMESTAMPS_MOST == SR_TIMESTAMP_AUTHORITIES, "each authority has its shared memory");

/* Of the current configuration. */
static struct {
    const char *authorities;                      /* PEM text */
    const char *logins[SR_TIMESTAMP_AUTHORITIES]; /* "user:password" or NULL */
    void *breakers;
} loaded;

/* Returns the place of a URL in SigreqTimestamp, or -1. */
static int timestamps_number_of(const sr_process_settings_t *conf, const char *url)
{
    for (int i = 0; i < conf->timestamps->nelts; i++)
        if (!strcmp(APR_ARRAY_IDX(conf->timestamps, i, const char *), url)) return i;
    return -1;
}

static const char *timestamps_read_file(char **text, const char *path, apr_pool_t *pool)
{
    apr_file_t *file;
    apr_finfo_t info;
    apr_status_t status = apr_file_open(&file, path, APR_FOPEN_READ, APR_OS_DEFAULT, pool);
    if (status) return apr_psprintf(pool, "%s: %pm", path, &status);
    status = apr_file_info_get(&info, APR_FINFO_SIZE, file);
    if (!status && info.size > LOGIN_MOST) return apr_psprintf(pool, "%s: it is too large", path);
    *text = status ? NULL : apr_pcalloc(pool, (apr_size_t)info.size + 1);
    if (*text) status = apr_file_read_full(file, *text, (apr_size_t)info.size, NULL);
    apr_file_close(file);
    return status ? apr_psprintf(pool, "%s: %pm", path, &status) : NULL;
}

/* Reads lines "URL user:password". Empty lines and lines that begin with # are skipped. Returns the fault, which has
 * nothing of the file but a number of a line. */
static const char *read_logins(const char *logins[SR_TIMESTAMP_AUTHORITIES], const sr_process_settings_t *conf,
                               apr_pool_t *pool)
{
    char *rest;
    int line = 0;
    if (!*conf->timestamp_login) return NULL;
    const char *fault = timestamps_read_file(&rest, conf->timestamp_login, pool);
    if (fault) return apr_pstrcat(pool, "SigreqTimestampLogin: ", fault, NULL);
    for (char *text; (text = strsep(&rest, "\n")) != NULL;) {
        const char *url, *login = text;
        line++;
        text[strcspn(text, "\r")] = '\0';
        if (!*text || *text == '#') continue;
        url = ap_getword_white(pool, &login);
        const int number = timestamps_number_of(conf, url);
        if (number < 0 || !strchr(login, ':'))
            return apr_psprintf(pool,
                                "SigreqTimestampLogin: %s: line %d is not a URL of SigreqTimestamp and "
                                "user:password",
                                conf->timestamp_login, line);
        logins[number] = apr_pstrdup(pool, login);
    }
    return NULL;
}

/* Returns the fault, or NULL. Without SigreqTimestamp the files are not read. */
static const char *timestamps_load(const char **authorities, const char *logins[SR_TIMESTAMP_AUTHORITIES],
                                   server_rec *main_server, apr_pool_t *pool)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    *authorities = NULL;
    memset(logins, 0, sizeof *logins * SR_TIMESTAMP_AUTHORITIES);
    if (!sr_conf_is_used() || !conf->timestamps->nelts) return NULL;
    sr_error_t *error = sr_cms_certificates_text(authorities, conf->timestamp_authorities, pool);
    if (error) return apr_pstrcat(pool, "SigreqTimestampAuthorities: ", error->message, NULL);
    return read_logins(logins, conf, pool);
}

int sr_run_timestamps_require(server_rec *main_server)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    if (!sr_conf_is_used() || !conf->timestamps->nelts || *conf->timestamp_authorities) return OK;
    ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, main_server,
                 "SR0410: SigreqTimestamp needs SigreqTimestampAuthorities, the root certificates of the authorities");
    return HTTP_INTERNAL_SERVER_ERROR;
}

static void timestamps_report(const char *fault, server_rec *main_server, apr_pool_t *pool)
{
    if (fault) sr_run_unusable(main_server, apr_pstrcat(pool, "SR0410: ", fault, NULL));
}

void sr_run_timestamps_check(apr_pool_t *ptemp, server_rec *main_server)
{
    const char *authorities, *logins[SR_TIMESTAMP_AUTHORITIES];
    timestamps_report(timestamps_load(&authorities, logins, main_server, ptemp), main_server, ptemp);
}

int sr_run_timestamps_load(apr_pool_t *pconf, server_rec *main_server)
{
    const char *fault = timestamps_load(&loaded.authorities, loaded.logins, main_server, pconf);
    timestamps_report(fault, main_server, pconf);
    if (fault || !loaded.authorities) return OK;
    loaded.breakers = sr_run_shared(main_server, "sigreq-timestamps", sr_timestamp_breakers_size());
    return loaded.breakers ? OK : HTTP_INTERNAL_SERVER_ERROR;
}

const char *sr_run_timestamps_authorities(void)
{
    return loaded.authorities;
}

static void timestamps_notice(void *main_server, const char *text)
{
    char line[1024];
    apr_snprintf(line, sizeof line, "SR0411: %s", text);
    sr_run_log(main_server, APLOG_WARNING, line);
}

static sr_error_t *create(sr_timestamps_t **timestamps, apr_pool_t *pchild, server_rec *main_server,
                          const sr_process_settings_t *conf, const sr_setting_TIMES *times,
                          bool (*stopped)(const void *))
{
    const sr_fetch_options_t fetching = {.agent = "mod_sigreq/" MOD_SIGREQ_VERSION,
                                         .proxy = conf->proxy,
                                         .authorities = sr_run_authorities(),
                                         .stopped = stopped};
    sr_timestamp_options_t options = {.urls = conf->timestamps,
                                      .logins = loaded.logins,
                                      .authorities = loaded.authorities,
                                      .each = times->each,
                                      .all = times->all,
                                      .required = conf->timestamp_required,
                                      .breakers = loaded.breakers,
                                      .notice = timestamps_notice,
                                      .baton = main_server};
    if (curl_global_init(CURL_GLOBAL_DEFAULT)) return sr_error(pchild, SR_EINTERNAL, "libcurl cannot be used");
    SR_TRY(sr_fetcher_create(&options.fetcher, &fetching, pchild));
    return sr_timestamps_create(timestamps, &options, pchild);
}

sr_timestamps_t *sr_run_timestamps_child_init(apr_pool_t *pchild, server_rec *main_server,
                                              const sr_process_settings_t *conf)
{
    sr_timestamps_t *timestamps = NULL;
    if (!loaded.authorities) return NULL;
    sr_error_t *error = create(&timestamps, pchild, main_server, conf, &conf->timestamp_timeout, NULL);
    if (!error) return timestamps;
    /* without timestamps this child would make signatures that are not what the configuration asks for */
    sr_run_unusable(main_server,
                    apr_pstrcat(pchild, "SR0412: this child cannot get timestamps: ", error->message, NULL));
    return NULL;
}

sr_timestamps_t *sr_run_timestamps_patient(apr_pool_t *pchild, server_rec *main_server,
                                           const sr_process_settings_t *conf, bool (*stopped)(const void *baton))
{
    static const sr_setting_TIMES times = {.each = apr_time_from_sec(10), .all = apr_time_from_sec(60)};
    sr_timestamps_t *timestamps = NULL;
    sr_error_t *error = create(&timestamps, pchild, main_server, conf, &times, stopped);
    if (!error) return timestamps;
    ap_log_error(APLOG_MARK, APLOG_CRIT, 0, main_server, "SR0412: this child archives nothing: %s", error->message);
    return NULL;
}
