/* SPDX-License-Identifier: Apache-2.0 */
/* config.c: finds the database and the documents, first in options, then in the configuration that httpd prints
 * (httpd.c), or in a file of the same form: a directive in each line. Only a few directives are read. */
#include "ctl/ctl.h"

#include <apr_file_io.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_MOST ((apr_size_t)16 << 20)

/* The directives that set options. */
static const char *const directives[OPTION_COUNT] = {
    [OPTION_DRIVER] = "DBDriver",
    [OPTION_PARAMS] = "DBDParams",
    [OPTION_DOCUMENTS] = "SigreqDocuments",
    [OPTION_CERTIFICATE] = "SigreqSealCertificate",
    [OPTION_KEY] = "SigreqSealKey",
    [OPTION_MODULE] = "SigreqPKCS11Module",
    [OPTION_PIN] = "SigreqSealPIN",
    [OPTION_SIGNER] = "SigreqSealProgram",
    [OPTION_TEST_CERTIFICATE] = "SigreqTestSealCertificate",
    [OPTION_SEALS] = "SigreqOrganizationSeals",
    [OPTION_TRUST] = "SigreqTrust",
    [OPTION_HELPER] = "SigreqHelper",
    [OPTION_CACHE] = "SigreqCache",
    [OPTION_THEME] = "SigreqTheme",
    [OPTION_QUARANTINE_DAYS] = "SigreqQuarantineDays",
    [OPTION_EVENT_DAYS] = "SigreqEventDays",
    [OPTION_TIMESTAMP] = "SigreqTimestamp",
    [OPTION_AUTHORITIES] = "SigreqTimestampAuthorities",
    [OPTION_PROXY] = "SigreqProxy",
    [OPTION_PROOFS] = "SigreqProofs",
    [OPTION_RENEW] = "SigreqRenew",
    [OPTION_CONNECTIONS] = "SigreqConnections", /* of httpd's print (conf/dump.c) */
    [OPTION_S3_ENDPOINT] = "SigreqS3Endpoint",
    [OPTION_S3_REGION] = "SigreqS3Region",
    [OPTION_S3_CREDENTIALS] = "SigreqS3Credentials",
    [OPTION_DOCUMENTS_CACHE] = "SigreqDocumentsCache",
    [OPTION_DOCUMENTS_ALSO] = "SigreqDocumentsAlso",
};

/* Returns the next word of a line by httpd's rules: bare, or in quotes with backslashes. NULL at the end. */
static const char *next_word(char **line, apr_pool_t *pool)
{
    char *in = *line + strspn(*line, " \t\r\n");
    const char quote = (char)(*in == '"' || *in == '\'' ? *in++ : '\0');
    char *word, *out;
    if (!quote && !*in) return NULL;
    word = out = apr_palloc(pool, strlen(in) + 1);
    while (*in && (quote ? *in != quote : !strchr(" \t\r\n", *in))) {
        if (quote && *in == '\\' && (in[1] == quote || in[1] == '\\')) in++;
        *out++ = *in++;
    }
    *out = '\0';
    *line = quote && *in ? in + 1 : in;
    return word;
}

/* Returns the words of a line, separated by spaces. */
static const char *all_words(const char *words, char **line, apr_pool_t *pool)
{
    for (const char *word; (word = next_word(line, pool));) words = apr_pstrcat(pool, words, " ", word, NULL);
    return words;
}

/* Returns the rest of each line (char *) of a directive, in the order of the configuration. */
static apr_array_header_t *lines_of(const char *text, const char *directive, apr_pool_t *pool)
{
    apr_array_header_t *found = apr_array_make(pool, 2, sizeof(char *));
    char *last, *lines = apr_pstrdup(pool, text);
    for (char *line = apr_strtok(lines, "\n", &last); line; line = apr_strtok(NULL, "\n", &last)) {
        const char *word = next_word(&line, pool);
        if (word && strcasecmp(word, directive) == 0) APR_ARRAY_PUSH(found, char *) = line;
    }
    return found;
}

/* Reads a whole file. */
static sr_error_t *config_read_text(ctl_t *ctl, const char **text, const char *path)
{
    apr_size_t length;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const bool read = file >= 0 && sr_descriptor_receive(text, &length, file, CONFIG_MOST, 0, ctl->pool);
    const int why = errno;
    if (file >= 0) close(file);
    return read ? NULL : sr_error(ctl->pool, SR_EBADREQUEST, "%s: %s", path, file < 0 ? strerror(why) : "too long");
}

/* Sets ctl->config and ctl->config_text to the configuration, or to NULL if there is no configuration. The text is
 * kept, because a command may give up the right to read it. */
static sr_error_t *find_config(ctl_t *ctl, bool spare)
{
    const char *path = ctl->given[OPTION_CONFIG] ? ctl->values[OPTION_CONFIG] : getenv("SIGREQ_CONFIG");
    if (ctl->config_text) return NULL;
    ctl->config = path;
    if (path) return config_read_text(ctl, &ctl->config_text, path);
    if (!getenv("SIGREQ_HTTPD") && access(SR_DEFAULT_CONFIG, R_OK) != 0) return NULL;
    sr_error_t *error = ctl_ask_httpd(ctl, &ctl->config_text);
    if (ctl->config_text) ctl->config = "httpd's configuration";
    return spare ? NULL : error;
}

sr_error_t *ctl_config_text(ctl_t *ctl, const char **text)
{
    SR_TRY(find_config(ctl, false));
    *text = ctl->config_text;
    return NULL;
}

sr_error_t *ctl_read_config(ctl_t *ctl, const ctl_option_id_t *wanted, int enough, bool spare)
{
    int given = 0;
    while (given < enough && ctl->given[wanted[given]]) given++;
    if (given == enough && !ctl->given[OPTION_CONFIG]) return NULL;
    SR_TRY(find_config(ctl, spare));
    const char *text = ctl->config_text;
    if (!text) return NULL;
    SR_TRY(ctl_httpd_block(ctl, &text, text));
    for (int i = 0; wanted[i] != OPTION_COUNT; i++) {
        const ctl_option_id_t option = wanted[i];
        if (ctl->given[option]) continue;
        char **line = apr_array_pop(lines_of(text, directives[option], ctl->pool));
        const char *value = line ? next_word(line, ctl->pool) : NULL;
        if (!value) continue;
        if (option == OPTION_TIMESTAMP || option == OPTION_S3_ENDPOINT) value = all_words(value, line, ctl->pool);
        ctl->values[option] = value;
        ctl->given[option] = true;
    }
    return NULL;
}

const char *ctl_directive(ctl_t *ctl, const char *name)
{
    const char *text = NULL, *words = NULL;
    if (ctl_config_text(ctl, &text) || !text || ctl_httpd_block(ctl, &text, text)) return NULL;
    apr_array_header_t *lines = lines_of(text, name, ctl->pool);
    for (int i = 0; i < lines->nelts; i++) {
        char **line = &APR_ARRAY_IDX(lines, i, char *);
        const char *word = next_word(line, ctl->pool);
        if (word) words = all_words(words ? apr_pstrcat(ctl->pool, words, " ", word, NULL) : word, line, ctl->pool);
    }
    return words;
}

/* ---------------------------------------------------------------------------------------- the connection */

/* Creates the file of an SQLite database for the owner of its folder. SQLite itself would create it for root, and
 * then httpd could not write to it. */
static sr_error_t *make_file(ctl_t *ctl, const char *path, bool create)
{
    const char *slash = strrchr(path, '/');
    const char *folder = slash ? apr_pstrmemdup(ctl->pool, path, (apr_size_t)(slash - path) + 1) : ".";
    struct stat owner;
    int file;
    SR_TRY(ctl_become_owner(ctl, folder));
    if (access(path, F_OK) == 0) return NULL;
    if (!create) return sr_error(ctl->pool, SR_EUNAVAILABLE, "%s: %s: run: sigreqctl db init", path, strerror(errno));
    file = stat(folder, &owner) == 0 ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640) : -1;
    if (file < 0 && errno == EEXIST) return NULL; /* another process has just created it */
    if (file < 0) return sr_error(ctl->pool, SR_EUNAVAILABLE, "%s: %s", path, strerror(errno));
    if (geteuid() == 0 && fchown(file, owner.st_uid, owner.st_gid) != 0) {
        close(file);
        return sr_error(ctl->pool, SR_EUNAVAILABLE, "%s: %s", path, strerror(errno));
    }
    close(file);
    return NULL;
}

static apr_status_t config_disconnect(void *data)
{
    ctl_t *ctl = data;
    return apr_dbd_close(ctl->driver, ctl->handle);
}

/* The parameters of a PostgreSQL database with more time for a connection. libpq takes the last value. */
static const char *patient(ctl_t *ctl, const char *params)
{
    const bool uri = !strncmp(params, "postgres://", 11) || !strncmp(params, "postgresql://", 13);
    const char *separator = !uri ? " " : strchr(params, '?') ? "&" : "?";
    return apr_pstrcat(ctl->pool, params, separator, "connect_timeout=20", NULL);
}

/* Opens the database. The time for a connection is what requests to httpd can wait for (2 s). A busy host may need
 * more, so a connection that took too long is tried once more. If one of several hosts is away, the first attempt is
 * the quick one. */
static sr_error_t *open_database(ctl_t *ctl, const char *params)
{
    const char *why = NULL;
    if (apr_dbd_open_ex(ctl->driver, ctl->pool, params, &ctl->handle, &why) == APR_SUCCESS) return NULL;
    if (why && strstr(why, "timeout expired") && !strcmp(apr_dbd_name(ctl->driver), "pgsql")
        && apr_dbd_open_ex(ctl->driver, ctl->pool, patient(ctl, params), &ctl->handle, &why) == APR_SUCCESS)
        return NULL;
    return sr_error(ctl->pool, SR_EUNAVAILABLE, "%s", why ? why : "the database cannot be opened");
}

sr_error_t *ctl_connect(ctl_t *ctl, bool create)
{
    static const ctl_option_id_t wanted[] = {OPTION_DRIVER,         OPTION_PARAMS,          OPTION_DOCUMENTS,
                                             OPTION_CACHE,          OPTION_QUARANTINE_DAYS, OPTION_S3_ENDPOINT,
                                             OPTION_S3_REGION,      OPTION_S3_CREDENTIALS,  OPTION_DOCUMENTS_CACHE,
                                             OPTION_DOCUMENTS_ALSO, OPTION_CONNECTIONS,     OPTION_COUNT};
    const char *driver, *params;
    SR_TRY(ctl_read_config(ctl, wanted, 2, false));
    if (!ctl->given[OPTION_DRIVER] || !ctl->given[OPTION_PARAMS]) {
        const char *lacks = ctl->config ? apr_psprintf(ctl->pool, "%s has no DBDriver and DBDParams", ctl->config)
                                        : "no database is named, and httpd's configuration cannot be read";
        return sr_error(ctl->pool, SR_EBADREQUEST, "%s: give --config FILE, or --driver and --params", lacks);
    }
    driver = ctl->values[OPTION_DRIVER];
    params = ctl->values[OPTION_PARAMS];
    if (strcmp(driver, "pgsql") != 0 && strcmp(driver, "sqlite3") != 0) {
        return sr_error(ctl->pool, SR_EBADREQUEST, "driver %s is not supported, use pgsql or sqlite3", driver);
    }
    if (strcmp(driver, "sqlite3") == 0) SR_TRY(make_file(ctl, params, create));
    apr_dbd_init(ctl->pool);
    if (apr_dbd_get_driver(ctl->pool, driver, &ctl->driver) != APR_SUCCESS) {
        return sr_error(ctl->pool, SR_EUNAVAILABLE, "apr has no driver %s: install libaprutil1-dbd-%s", driver, driver);
    }
    SR_TRY(open_database(ctl, params));
    apr_pool_pre_cleanup_register(ctl->pool, ctl, config_disconnect);
    return NULL;
}

sr_error_t *ctl_use_store(ctl_t *ctl)
{
    sr_store_t *store;
    SR_TRY(sr_store_open(&store, ctl->driver, ctl->handle, apr_hash_make(ctl->pool), ctl->pool, NULL, ctl->pool));
    ctl->database = sr_store_source(store, ctl->pool);
    ctl->database->servers = sr_store_servers(ctl->values[OPTION_DRIVER], ctl->values[OPTION_PARAMS]);
    return NULL;
}

sr_error_t *ctl_open_store(ctl_t *ctl)
{
    SR_TRY(ctl_connect(ctl, false));
    return ctl_use_store(ctl);
}
