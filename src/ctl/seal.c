/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c: sigreqctl seal create and show: creates the key and certificate of the seal, and shows them. A key file is
 * readable only by its owner and never overwrites an existing one, because nothing can be sealed with a certificate
 * whose key is lost. rotation.c has the other commands. */
#include "ctl/ctl.h"
#include "cms/cms.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_URI 4096

static const char *const columns[] = {"name",   "issuer", "key",    "begins_at",        "expires_at",
                                      "serial", "sha256", "usable", "certificate_file", "key_file",
                                      NULL};
static const char *const next_columns[] = {"name", "begins_at", "expires_at", "sha256", "usable", "fault", NULL};
static const char *const former_columns[] = {"name", "begins_at", "expires_at", "sha256", NULL};

sr_error_t *ctl_seal_fault(ctl_t *ctl, const char *path)
{
    if (errno == EEXIST) return sr_error(ctl->pool, SR_ECONFLICT, "%s exists, and is never overwritten", path);
    return sr_error(ctl->pool, SR_EINTERNAL, "%s: %s", path, strerror(errno));
}

sr_error_t *ctl_seal_write(ctl_t *ctl, const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return ctl_seal_fault(ctl, path);
    bool written = sr_descriptor_write(fd, text, strlen(text)) && !fchmod(fd, mode) && !fsync(fd);
    sr_error_t *error = written ? NULL : ctl_seal_fault(ctl, path);
    close(fd);
    if (error) unlink(path);
    return error;
}

void ctl_seal_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

json_t *ctl_seal_describe(const sr_cms_certificate_t *about, const char *certificate, const char *key)
{
    json_t *answer = json_object();
    json_object_set_new(answer, "name", json_string(about->name));
    json_object_set_new(answer, "subject", json_string(about->subject));
    json_object_set_new(answer, "issuer", json_string(about->issuer));
    json_object_set_new(answer, "key", json_string(about->key));
    json_object_set_new(answer, "begins_at", json_integer(about->from));
    json_object_set_new(answer, "expires_at", json_integer(about->until));
    json_object_set_new(answer, "serial", json_string(about->serial));
    json_object_set_new(answer, "sha256", json_string(about->sha256));
    json_object_set_new(answer, "usable", key && !sr_text_is_token(key) ? json_true() : json_null());
    json_object_set_new(answer, "certificate_file", json_string(certificate));
    json_object_set_new(answer, "key_file", sr_json_string_or_null(key));
    return answer;
}

sr_error_t *ctl_seal_print(ctl_t *ctl, const char *certificate, const char *key)
{
    const sr_cms_identity_t *identity;
    SR_TRY(sr_cms_identity_load(&identity, certificate, key, ctl->pool));
    ctl_print(ctl, ctl_seal_describe(sr_cms_identity_certificate(identity), certificate, key), columns);
    return NULL;
}

sr_error_t *ctl_seal_create(ctl_t *ctl)
{
    const char *folder = ctl->values[OPTION_OUT];
    const char *name = ctl->given[OPTION_NAME] ? ctl->values[OPTION_NAME] : SR_CMS_ISSUE_NAME;
    int days = SR_CMS_ISSUE_DAYS;
    const char *certificate_path = apr_pstrcat(ctl->pool, folder, "/seal.crt", NULL);
    const char *key_path = apr_pstrcat(ctl->pool, folder, "/seal.key", NULL);
    const char *certificate, *key;
    sr_error_t *error;
    if (ctl->given[OPTION_DAYS]) sr_text_number(&days, ctl->values[OPTION_DAYS]);
    if (ctl->given[OPTION_TEST]) name = apr_pstrcat(ctl->pool, name, SR_CMS_ISSUE_TEST, NULL);
    SR_TRY(sr_cms_issue(&certificate, &key, name, days, ctl->pool));
    if (mkdir(folder, 0755) != 0 && errno != EEXIST) return ctl_seal_fault(ctl, folder);
    const char *const others[] = {certificate_path, apr_pstrcat(ctl->pool, folder, "/seal.token", NULL)};
    for (int i = 0; i < 2; i++) {
        if (access(others[i], F_OK) != 0) continue;
        errno = EEXIST;
        return ctl_seal_fault(ctl, others[i]);
    }
    SR_TRY(ctl_seal_write(ctl, key_path, key, 0600));
    error = ctl_seal_write(ctl, certificate_path, certificate, 0644);
    if (error) {
        unlink(key_path);
        return error;
    }
    ctl_seal_sync(folder);
    return ctl_seal_print(ctl, certificate_path, key_path);
}

/* ------------------------------------------------------------------------------------------------- show */

const char *ctl_seal_key(const ctl_t *ctl, const char *folder, const char *which)
{
    char uri[MAX_URI + 1];
    const int descriptor = open(apr_pstrcat(ctl->pool, folder, "/", which, ".token", NULL), O_RDONLY | O_CLOEXEC);
    const ssize_t length = descriptor >= 0 ? read(descriptor, uri, MAX_URI) : -1;
    if (descriptor >= 0) close(descriptor);
    uri[length > 0 ? length : 0] = '\0';
    if (sr_text_is_token(uri)) return apr_pstrmemdup(ctl->pool, uri, strcspn(uri, "\r\n"));
    return apr_pstrcat(ctl->pool, folder, "/", which, ".key", NULL);
}

/* Describes the next certificate: JSON null if there is none. New reference. */
static sr_error_t *describe_next(ctl_t *ctl, json_t **next, const char *folder)
{
    const char *certificate = apr_pstrcat(ctl->pool, folder, "/next.crt", NULL);
    const char *key = ctl_seal_key(ctl, folder, "next");
    const sr_cms_certificate_t *about;
    const sr_cms_identity_t *unused;
    sr_error_t *fault = NULL;
    const bool token = sr_text_is_token(key);
    *next = json_null();
    if (access(certificate, F_OK) != 0) return NULL;
    SR_TRY(sr_cms_certificate_read(&about, certificate, ctl->pool));
    if (!token) fault = sr_cms_identity_load_when(&unused, certificate, key, SR_CMS_NOW_OR_LATER, ctl->pool);
    *next = ctl_seal_describe(about, certificate, key);
    if (!token) json_object_set_new(*next, "usable", json_boolean(!fault));
    json_object_set_new(*next, "fault", sr_json_string_or_null(fault ? fault->message : NULL));
    return NULL;
}

static sr_error_t *describe_former(ctl_t *ctl, json_t *former, const char *folder)
{
    const sr_cms_certificate_t *about;
    DIR *listing = opendir(apr_pstrcat(ctl->pool, folder, "/former", NULL));
    if (!listing) return NULL;
    sr_error_t *error = NULL;
    for (const struct dirent *entry; !error && (entry = readdir(listing));) {
        const char *path = apr_pstrcat(ctl->pool, folder, "/former/", entry->d_name, NULL);
        if (!strstr(entry->d_name, ".crt")) continue;
        error = sr_cms_certificate_read(&about, path, ctl->pool);
        if (!error) json_array_append_new(former, ctl_seal_describe(about, path, NULL));
    }
    closedir(listing);
    return error;
}

/* Prints a seal, and the next and former certificates in its folder, or NULL. */
static sr_error_t *seal_show(ctl_t *ctl, const char *certificate, const char *key, const char *folder)
{
    const sr_cms_certificate_t *about;
    const sr_cms_identity_t *identity;
    json_t *answer, *next = json_null(), *list = sr_json_own(json_array(), ctl->pool);
    if (key && !sr_text_is_token(key)) SR_TRY(sr_cms_identity_load(&identity, certificate, key, ctl->pool));
    SR_TRY(sr_cms_certificate_read(&about, certificate, ctl->pool));
    if (folder) SR_TRY(describe_former(ctl, list, folder));
    if (folder) SR_TRY(describe_next(ctl, &next, folder));
    answer = ctl_seal_describe(about, certificate, key);
    json_object_set_new(answer, "next", next);
    json_object_set(answer, "former", list);
    json_t *rows = sr_json_own(json_array(), ctl->pool);
    if (json_is_object(next)) json_array_append(rows, next);
    ctl_print(ctl, answer, columns);
    if (ctl->given[OPTION_JSON]) return NULL;
    ctl_print_part(ctl, "next certificate", rows, next_columns);
    ctl_print_part(ctl, "former certificates", list, former_columns);
    return NULL;
}

sr_error_t *ctl_seal_show(ctl_t *ctl)
{
    static const ctl_option_id_t wanted[] = {OPTION_CERTIFICATE, OPTION_KEY, OPTION_COUNT};
    const char *folder = ctl->values[OPTION_FOLDER];
    if (ctl->given[OPTION_FOLDER])
        return seal_show(ctl, apr_pstrcat(ctl->pool, folder, "/seal.crt", NULL), ctl_seal_key(ctl, folder, "seal"),
                         folder);
    SR_TRY(ctl_read_config(ctl, wanted, 1, false));
    if (ctl->given[OPTION_CERTIFICATE])
        return seal_show(ctl, ctl->values[OPTION_CERTIFICATE], ctl->values[OPTION_KEY], NULL);
    return sr_error(ctl->pool, SR_EBADREQUEST,
                    "no certificate is named: give a folder, --certificate and --key, or --config with "
                    "SigreqSealCertificate");
}
