/* SPDX-License-Identifier: Apache-2.0 */
/* rotation.c: sigreqctl seal request, import and rotate: the way from one certificate of the seal to the next one.
 *
 *   request   next.key next.csr     if there is no certificate yet: seal.key seal.csr; for a key in a token, the file
 *                                   next.token has its URI instead of next.key
 *   import    next.crt              is complete when it appears
 *   rotate    the next pair becomes seal.crt and seal.key, and the old certificate goes to the folder former
 *   install   for own_seals.c: instead of request and import, a pair that is there
 *
 * Two files cannot be replaced in one step. So seal.key first gets the keys of both certificates, of which httpd uses
 * the one that belongs to seal.crt; then seal.crt is replaced, and then seal.key. Whatever a crash leaves, seal.crt and
 * seal.key are a pair, and the command can be repeated. */
#include "ctl/ctl.h"
#include "cms/cms.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_KEY_FILE 65536

/* The files of a folder. */
typedef struct paths_t {
    const char *folder, *certificate, *key, *next_certificate, *next_key, *former;
} paths_t;

static const char *rotation_in_folder(const ctl_t *ctl, const char *name)
{
    return apr_pstrcat(ctl->pool, ctl->values[OPTION_FOLDER], "/", name, NULL);
}

static paths_t paths_of(const ctl_t *ctl)
{
    return (paths_t){.folder = ctl->values[OPTION_FOLDER],
                     .certificate = rotation_in_folder(ctl, "seal.crt"),
                     .key = rotation_in_folder(ctl, "seal.key"),
                     .next_certificate = rotation_in_folder(ctl, "next.crt"),
                     .next_key = rotation_in_folder(ctl, "next.key"),
                     .former = rotation_in_folder(ctl, "former")};
}

static bool rotation_is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* One of these commands works in a folder at a time. The lock ends with the process. */
static sr_error_t *rotation_lock(ctl_t *ctl, const char *folder)
{
    const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0 && errno == ENOENT) return sr_error(ctl->pool, SR_ENOTFOUND, "%s: no such folder", folder);
    if (descriptor < 0) return ctl_seal_fault(ctl, folder);
    sr_descriptor_own(descriptor, ctl->pool);
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return NULL;
    return sr_error(ctl->pool, SR_ECONFLICT, "%s: another sigreqctl seal works there", folder);
}

/* Returns true if a rotation has replaced the certificate, and was interrupted before it replaced the key. */
static bool is_unfinished(ctl_t *ctl, const paths_t *paths)
{
    const sr_cms_identity_t *unused;
    return rotation_is_there(paths->next_key) && !rotation_is_there(paths->next_certificate)
           && rotation_is_there(paths->certificate)
           && !sr_cms_identity_load_when(&unused, paths->certificate, paths->next_key, SR_CMS_NOW_OR_BEFORE, ctl->pool);
}

static sr_error_t *check_finished(ctl_t *ctl, const paths_t *paths)
{
    if (!is_unfinished(ctl, paths)) return NULL;
    return sr_error(ctl->pool, SR_ECONFLICT, "%s: a rotation was interrupted: run 'sigreqctl seal rotate' again",
                    paths->folder);
}

/* Writes a file that has its name only when it is complete. `replace`: an old one is replaced. */
static sr_error_t *write_complete(ctl_t *ctl, const char *path, const char *text, mode_t mode, bool replace)
{
    const char *partial = apr_pstrcat(ctl->pool, path, ".partial", NULL);
    unlink(partial); /* of a command that was killed */
    SR_TRY(ctl_seal_write(ctl, partial, text, mode));
    const bool done = replace ? rename(partial, path) == 0 : link(partial, path) == 0;
    sr_error_t *error = done ? NULL : ctl_seal_fault(ctl, path);
    unlink(partial);
    ctl_seal_sync(ctl->values[OPTION_FOLDER]);
    return error;
}

/* ------------------------------------------------------------------------------------------------ request */

static sr_error_t *rotation_check_new(ctl_t *ctl, const char *path)
{
    if (!rotation_is_there(path)) return NULL;
    return sr_error(ctl->pool, SR_ECONFLICT,
                    "%s exists, and is never overwritten: import the certificate for it, or delete it if you do not "
                    "need it",
                    path);
}

sr_error_t *ctl_seal_request(ctl_t *ctl)
{
    static const char *const columns[] = {"name", "request_file", "key_file", NULL};
    const paths_t paths = paths_of(ctl);
    const char *request, *key, *uri = ctl->given[OPTION_KEY] ? ctl->values[OPTION_KEY] : NULL;
    if (uri && !sr_text_is_token(uri))
        return sr_error(ctl->pool, SR_EBADREQUEST, "--key is for a key in a token: its URI begins with pkcs11:");
    if (uri) SR_TRY(ctl_signer_request(ctl, &request));
    else SR_TRY(sr_cms_request(&request, &key, ctl->values[OPTION_NAME], ctl->pool));
    if (mkdir(paths.folder, 0755) != 0 && errno != EEXIST) return ctl_seal_fault(ctl, paths.folder);
    SR_TRY(rotation_lock(ctl, paths.folder));
    SR_TRY(check_finished(ctl, &paths));
    const bool first = !rotation_is_there(paths.certificate);
    const char *key_path = first ? paths.key : paths.next_key;
    const char *token_path = rotation_in_folder(ctl, first ? "seal.token" : "next.token");
    const char *request_path = rotation_in_folder(ctl, first ? "seal.csr" : "next.csr");
    SR_TRY(rotation_check_new(ctl, key_path));
    SR_TRY(rotation_check_new(ctl, token_path));
    /* the request first: it is worth nothing without a key, and is written again */
    SR_TRY(write_complete(ctl, request_path, request, 0644, true));
    if (uri) SR_TRY(write_complete(ctl, token_path, apr_pstrcat(ctl->pool, uri, "\n", NULL), 0644, false));
    else SR_TRY(write_complete(ctl, key_path, key, 0600, false));
    ctl_print(ctl,
              json_pack("{s:s,s:s,s:s}", "name", ctl->values[OPTION_NAME], "request_file", request_path, "key_file",
                        uri ? uri : key_path),
              columns);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- import */

static sr_error_t *rotation_find_key(ctl_t *ctl, const paths_t *paths, bool *first)
{
    SR_TRY(check_finished(ctl, paths));
    *first = !rotation_is_there(paths->certificate);
    if (rotation_is_there(*first ? paths->key : paths->next_key)
        || sr_text_is_token(ctl_seal_key(ctl, paths->folder, *first ? "seal" : "next"))) {
        if (!rotation_is_there(paths->next_certificate)) return NULL;
        return sr_error(ctl->pool, SR_ECONFLICT,
                        "%s exists, and is never overwritten: run 'sigreqctl seal rotate' first, or delete it if the "
                        "authority has sent another one",
                        paths->next_certificate);
    }
    return sr_error(ctl->pool, SR_ENOTFOUND, "%s: no key waits for a certificate: run 'sigreqctl seal request' first",
                    paths->folder);
}

/* Adds what the change from the present certificate to the next one means. */
static void rotation_compare(ctl_t *ctl, sr_cms_arranged_t *arranged, const paths_t *paths)
{
    const sr_cms_certificate_t *present, *next = arranged->about;
    apr_array_header_t *remarks = apr_array_copy(ctl->pool, arranged->remarks);
    if (sr_cms_certificate_read(&present, paths->certificate, ctl->pool)) return;
    if (next->from > present->until)
        APR_ARRAY_PUSH(remarks, const char *) =
            apr_psprintf(ctl->pool, "nothing can be sealed from %s, when the present certificate ends, until %s",
                         sr_time_format(present->until, ctl->pool), sr_time_format(next->from, ctl->pool));
    if (next->until <= present->until)
        APR_ARRAY_PUSH(remarks, const char *) = "it does not end later than the present certificate";
    arranged->remarks = remarks;
}

static sr_error_t *rotation_refuse(ctl_t *ctl, const char *path, const apr_array_header_t *faults)
{
    const char *all = "";
    for (int i = 0; i < faults->nelts; i++)
        all = apr_pstrcat(ctl->pool, all, i ? "; " : "", APR_ARRAY_IDX(faults, i, const char *), NULL);
    return sr_error(ctl->pool, SR_EINTERNAL, "%s: it cannot be the certificate of the seal: %s. Nothing was installed",
                    path, all);
}

static void print_installed(ctl_t *ctl, const sr_cms_arranged_t *arranged, const char *certificate, const char *key)
{
    static const char *const columns[] = {"name",   "issuer",           "key",      "begins_at", "expires_at", "serial",
                                          "sha256", "certificate_file", "key_file", NULL};
    json_t *answer = ctl_seal_describe(arranged->about, certificate, key), *remarks = json_array();
    for (int i = 0; i < arranged->remarks->nelts; i++)
        json_array_append_new(remarks, json_string(APR_ARRAY_IDX(arranged->remarks, i, const char *)));
    json_object_set_new(answer, "remarks", remarks);
    ctl_print(ctl, answer, columns);
    for (int i = 0; !ctl->given[OPTION_JSON] && i < arranged->remarks->nelts; i++)
        printf("\nNote: %s.\n", APR_ARRAY_IDX(arranged->remarks, i, const char *));
}

sr_error_t *ctl_seal_import(ctl_t *ctl)
{
    const char *sent = ctl->values[OPTION_CERTIFICATE];
    const paths_t paths = paths_of(ctl);
    sr_cms_arranged_t *arranged;
    bool first;
    SR_TRY(rotation_lock(ctl, paths.folder));
    SR_TRY(rotation_find_key(ctl, &paths, &first));
    const char *key = ctl_seal_key(ctl, paths.folder, first ? "seal" : "next");
    const char *request = rotation_in_folder(ctl, first ? "seal.csr" : "next.csr");
    const char *certificate = first ? paths.certificate : paths.next_certificate;
    /* the request has the public key of one in a token */
    SR_TRY(sr_cms_chain_order(&arranged, sent, sr_text_is_token(key) ? request : key,
                              first ? SR_CMS_NOW : SR_CMS_NOW_OR_LATER, ctl->pool));
    if (arranged->faults->nelts) return rotation_refuse(ctl, sent, arranged->faults);
    if (!first) rotation_compare(ctl, arranged, &paths);
    SR_TRY(write_complete(ctl, certificate, arranged->pem, 0644, false));
    unlink(request);
    print_installed(ctl, arranged, certificate, key);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- rotate */

static sr_error_t *rotation_read_key(ctl_t *ctl, const char **text, const char *path)
{
    char *buffer = apr_palloc(ctl->pool, MAX_KEY_FILE + 1);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return ctl_seal_fault(ctl, path);
    const ssize_t length = read(descriptor, buffer, MAX_KEY_FILE + 1);
    close(descriptor);
    if (length < 0) return ctl_seal_fault(ctl, path);
    if (length > MAX_KEY_FILE) return sr_error(ctl->pool, SR_EINTERNAL, "%s: it is too large", path);
    buffer[length] = '\0';
    *text = buffer;
    return NULL;
}

/* Links the present certificate into the folder former. It may be there already. */
static sr_error_t *keep_former(ctl_t *ctl, const paths_t *paths)
{
    const sr_cms_certificate_t *present;
    SR_TRY(sr_cms_certificate_read(&present, paths->certificate, ctl->pool));
    const char *kept = apr_pstrcat(ctl->pool, paths->former, "/", present->sha256, ".crt", NULL);
    if (mkdir(paths->former, 0755) != 0 && errno != EEXIST) return ctl_seal_fault(ctl, paths->former);
    if (link(paths->certificate, kept) != 0 && errno != EEXIST) return ctl_seal_fault(ctl, kept);
    ctl_seal_sync(paths->former);
    ctl_seal_sync(paths->folder);
    return NULL;
}

/* Writes the key file of the seal with the keys of both certificates. */
static sr_error_t *join_keys(ctl_t *ctl, const paths_t *paths)
{
    const char *old = "", *next;
    if (rotation_is_there(paths->key)) SR_TRY(rotation_read_key(ctl, &old, paths->key));
    SR_TRY(rotation_read_key(ctl, &next, paths->next_key));
    return write_complete(ctl, paths->key, apr_pstrcat(ctl->pool, old, "\n", next, NULL), 0600, true);
}

static sr_error_t *move(ctl_t *ctl, const char *from, const char *to)
{
    if (rename(from, to) != 0) return ctl_seal_fault(ctl, from);
    ctl_seal_sync(ctl->values[OPTION_FOLDER]);
    return NULL;
}

static sr_error_t *replace_certificate(ctl_t *ctl, const paths_t *paths)
{
    const sr_cms_identity_t *unused;
    const char *key = ctl_seal_key(ctl, paths->folder, "next");
    if (rotation_is_there(paths->next_certificate) && sr_text_is_token(key))
        return sr_error(ctl->pool, SR_ECONFLICT,
                        "%s: its key is in a token, which the configuration names: put it and \"%s\" into "
                        "SigreqSealCertificate and SigreqSealKey",
                        paths->next_certificate, key);
    if (!rotation_is_there(paths->next_certificate))
        return sr_error(ctl->pool, SR_ENOTFOUND,
                        "%s: there is no next certificate: 'sigreqctl seal request' and 'seal import' prepare it",
                        paths->folder);
    SR_TRY(sr_cms_identity_load(&unused, paths->next_certificate, paths->next_key, ctl->pool));
    if (rotation_is_there(paths->certificate)) SR_TRY(keep_former(ctl, paths));
    SR_TRY(join_keys(ctl, paths));
    return move(ctl, paths->next_certificate, paths->certificate);
}

sr_error_t *ctl_seal_rotate(ctl_t *ctl)
{
    const paths_t paths = paths_of(ctl);
    SR_TRY(rotation_lock(ctl, paths.folder));
    if (!is_unfinished(ctl, &paths)) SR_TRY(replace_certificate(ctl, &paths));
    SR_TRY(move(ctl, paths.next_key, paths.key));
    unlink(rotation_in_folder(ctl, "next.csr"));
    return ctl_seal_print(ctl, paths.certificate, paths.key);
}

/* ------------------------------------------------------------------------------------------------ install */

/* The key first: alone it is a next key that waits for its certificate. */
static sr_error_t *write_pair(ctl_t *ctl, const sr_cms_arranged_t *arranged, const char *certificate, const char *key,
                              bool replace)
{
    const char *text;
    SR_TRY(rotation_read_key(ctl, &text, ctl->values[OPTION_KEY]));
    SR_TRY(write_complete(ctl, key, text, 0600, replace));
    return write_complete(ctl, certificate, arranged->pem, 0644, replace);
}

sr_error_t *ctl_seal_install(ctl_t *ctl, const char *becomes)
{
    const paths_t paths = paths_of(ctl);
    const char *sent = ctl->values[OPTION_CERTIFICATE];
    sr_cms_arranged_t *arranged;
    SR_TRY(rotation_lock(ctl, paths.folder));
    SR_TRY(check_finished(ctl, &paths));
    if (!becomes && (rotation_is_there(paths.next_key) || rotation_is_there(paths.next_certificate)))
        return sr_error(ctl->pool, SR_ECONFLICT, "%s: there is a next key or certificate, which is never overwritten",
                        paths.folder);
    SR_TRY(sr_cms_chain_order(&arranged, sent, ctl->values[OPTION_KEY], becomes ? SR_CMS_NOW : SR_CMS_NOW_OR_LATER,
                              ctl->pool));
    if (arranged->faults->nelts) return rotation_refuse(ctl, sent, arranged->faults);
    if (!becomes) {
        rotation_compare(ctl, arranged, &paths);
        SR_TRY(write_pair(ctl, arranged, paths.next_certificate, paths.next_key, false));
        print_installed(ctl, arranged, paths.next_certificate, paths.next_key);
        return NULL;
    }
    SR_TRY(write_pair(ctl, arranged, paths.certificate, paths.key, true));
    if (rename(paths.folder, becomes) != 0) return ctl_seal_fault(ctl, becomes);
    ctl->values[OPTION_FOLDER] = becomes;
    print_installed(ctl, arranged, rotation_in_folder(ctl, "seal.crt"), rotation_in_folder(ctl, "seal.key"));
    return NULL;
}
