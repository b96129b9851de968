/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c: sigreqctl seal: creates the key and certificate of the seal, and shows them. A key file is readable only by
 * its owner and never overwrites an existing one, because nothing can be sealed with a certificate whose key is lost.
 */
#include "ctl/ctl.h"
#include "pdf/pdf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const columns[] = {"name",   "issuer", "key",    "begins_at",        "expires_at",
                                      "serial", "sha256", "usable", "certificate_file", "key_file",
                                      NULL};

static sr_error_t *fail(ctl_t *ctl, const char *path)
{
    if (errno == EEXIST) return sr_error(ctl->pool, SR_ECONFLICT, "%s exists, and is never overwritten", path);
    return sr_error(ctl->pool, SR_EINTERNAL, "%s: %s", path, strerror(errno));
}

static bool write_all(int fd, const char *text)
{
    size_t left = strlen(text);
    for (ssize_t count; left > 0; text += count, left -= (size_t)count) {
        count = write(fd, text, left);
        if (count < 0 && errno != EINTR) return false;
        if (count < 0) count = 0;
    }
    return true;
}

/* Writes a new file and syncs it to disk. If that fails, no file is left. */
static sr_error_t *write_new(ctl_t *ctl, const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return fail(ctl, path);
    bool written = write_all(fd, text) && !fchmod(fd, mode) && !fsync(fd);
    sr_error_t *error = written ? NULL : fail(ctl, path);
    close(fd);
    if (error) unlink(path);
    return error;
}

static void sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

static json_t *describe(const sr_cms_certificate_t *about, const char *certificate, const char *key)
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
    json_object_set_new(answer, "usable", key ? json_true() : json_null());
    json_object_set_new(answer, "certificate_file", json_string(certificate));
    json_object_set_new(answer, "key_file", sr_json_string_or_null(key));
    return answer;
}

/* Loads both files as httpd does at its start, and prints the result. */
static sr_error_t *show(ctl_t *ctl, const char *certificate, const char *key)
{
    const sr_cms_certificate_t *about;
    const sr_cms_identity_t *identity;

    if (key) {
        SR_TRY(sr_cms_identity_load(&identity, certificate, key, ctl->pool));
        about = sr_cms_identity_certificate(identity);
    } else {
        SR_TRY(sr_cms_certificate_read(&about, certificate, ctl->pool));
    }
    ctl_print(ctl, describe(about, certificate, key), columns);
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
    if (mkdir(folder, 0755) != 0 && errno != EEXIST) return fail(ctl, folder);
    if (access(certificate_path, F_OK) == 0) {
        errno = EEXIST;
        return fail(ctl, certificate_path);
    }
    SR_TRY(write_new(ctl, key_path, key, 0600));
    error = write_new(ctl, certificate_path, certificate, 0644);
    if (error) {
        unlink(key_path);
        return error;
    }
    sync_folder(folder);
    return show(ctl, certificate_path, key_path);
}

sr_error_t *ctl_seal_show(ctl_t *ctl)
{
    static const ctl_option_id_t wanted[] = {OPTION_CERTIFICATE, OPTION_KEY, OPTION_COUNT};

    SR_TRY(ctl_read_config(ctl, wanted, 1, false));
    if (ctl->given[OPTION_CERTIFICATE]) return show(ctl, ctl->values[OPTION_CERTIFICATE], ctl->values[OPTION_KEY]);
    return sr_error(ctl->pool, SR_EBADREQUEST,
                    "no certificate is named: give --certificate and --key, or --config with SigreqSealCertificate");
}
