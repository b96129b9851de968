/* SPDX-License-Identifier: Apache-2.0 */
/* own_seals.c: sigreqctl org seal: the own seal of an organisation. Its folder is in that of SigreqOrganizationSeals,
 * and has the files that `sigreqctl seal` makes (seal.c, rotation.c). It appears when it is complete. */
#include "ctl/ctl.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct seal_t {
    const char *folder; /* of the organisation */
    const char *organization, *name;
    bool is_own;
} seal_t;

static sr_error_t *check_options(const ctl_t *ctl)
{
    const int actions = ctl->given[OPTION_CERTIFICATE] + ctl->given[OPTION_REQUEST] + ctl->given[OPTION_ROTATE]
                        + ctl->given[OPTION_REMOVE];
    if (actions > 1)
        return sr_error(ctl->pool, SR_EBADREQUEST,
                        "--certificate, --request, --rotate and --remove exclude each other");
    if (ctl->given[OPTION_KEY] && !ctl->given[OPTION_CERTIFICATE])
        return sr_error(ctl->pool, SR_EBADREQUEST, "--key needs --certificate");
    if (ctl->given[OPTION_NAME] != ctl->given[OPTION_REQUEST])
        return sr_error(ctl->pool, SR_EBADREQUEST, "--request and --name need each other");
    return NULL;
}

static sr_error_t *find_folder(ctl_t *ctl)
{
    static const ctl_option_id_t wanted[] = {OPTION_SEALS, OPTION_COUNT};
    struct stat info;
    SR_TRY(ctl_read_config(ctl, wanted, 1, false));
    if (!ctl->given[OPTION_SEALS])
        return sr_error(ctl->pool, SR_EBADREQUEST,
                        "no folder is named: give --seals, or --config with SigreqOrganizationSeals");
    const char *folder = ctl->values[OPTION_SEALS];
    if (stat(folder, &info) != 0)
        return sr_error(ctl->pool, errno == ENOENT ? SR_ENOTFOUND : SR_EINTERNAL, "%s: %s", folder, strerror(errno));
    return S_ISDIR(info.st_mode) ? NULL : sr_error(ctl->pool, SR_EINTERNAL, "%s is not a folder", folder);
}

static sr_error_t *find_organization(ctl_t *ctl, seal_t *seal)
{
    const char *wanted = ctl->values[OPTION_ORGANIZATION];
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(sr_store_admin_organization_list(ctl->database, &outcome, &rows, ctl->pool));
    for (int i = 0; i < rows->nelts; i++) {
        const sr_organization_row_t *row = &APR_ARRAY_IDX(rows, i, sr_organization_row_t);
        if (strcmp(row->uuid, wanted) != 0 && strcmp(row->name, wanted) != 0) continue;
        seal->organization = row->uuid;
        seal->name = row->name;
        return NULL;
    }
    return sr_error(ctl->pool, SR_ENOTFOUND, CTL_NO_ORGANIZATION);
}

/* Sets the folder of the organisation, and whether it has a seal there. */
static sr_error_t *own_seals_look(ctl_t *ctl, seal_t *seal)
{
    apr_array_header_t *organizations, *strangers;
    SR_TRY(sr_cms_own_list(&organizations, &strangers, ctl->values[OPTION_SEALS], ctl->pool));
    for (int i = 0; i < organizations->nelts; i++)
        if (!strcmp(APR_ARRAY_IDX(organizations, i, const char *), seal->organization)) seal->is_own = true;
    seal->folder = apr_pstrcat(ctl->pool, ctl->values[OPTION_SEALS], "/", seal->organization, NULL);
    ctl->values[OPTION_FOLDER] = seal->folder;
    ctl->given[OPTION_FOLDER] = true;
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ commands */

/* Which seal is used is in the answer, so that a script need not know the reasons of errors. */
static sr_error_t *own_seals_show(ctl_t *ctl, const seal_t *seal)
{
    static const char *const columns[] = {"organization", "uuid", "seal", "folder", NULL};
    if (seal->is_own) return ctl_seal_show(ctl);
    const bool waiting = access(apr_pstrcat(ctl->pool, seal->folder, "/seal.csr", NULL), F_OK) == 0;
    ctl_print(ctl,
              json_pack("{s:s,s:s,s:s,s:s}", "organization", seal->name, "uuid", seal->organization, "seal",
                        waiting ? "that of the service, until a certificate is installed for the request"
                                : "that of the service",
                        "folder", seal->folder),
              columns);
    return NULL;
}

/* The first pair of an organisation is written to a folder beside, which httpd ignores. */
static sr_error_t *install(ctl_t *ctl, const seal_t *seal)
{
    if (seal->is_own) return ctl_seal_install(ctl, NULL);
    const char *partial = apr_pstrcat(ctl->pool, seal->folder, ".partial", NULL);
    if (rmdir(seal->folder) != 0 && errno != ENOENT)
        return sr_error(ctl->pool, SR_ECONFLICT,
                        "%s: a key waits for its certificate: give --certificate without --key, or delete the folder",
                        seal->folder);
    if (mkdir(partial, 0755) != 0 && errno != EEXIST) return ctl_seal_fault(ctl, partial);
    ctl->values[OPTION_FOLDER] = partial;
    sr_error_t *error = ctl_seal_install(ctl, seal->folder);
    if (error) rmdir(partial); /* with files in it, it stays, and the command may be repeated */
    ctl_seal_sync(ctl->values[OPTION_SEALS]);
    return error;
}

/* The files stay: nobody can get a key back that was deleted. */
static sr_error_t *remove_seal(ctl_t *ctl, const seal_t *seal)
{
    static const char *const columns[] = {"organization", "seal", "folder", NULL};
    char time[SR_TIME_PRINTED];
    if (!seal->is_own && access(seal->folder, F_OK) != 0)
        return sr_error(ctl->pool, SR_ENOTFOUND, "%s has no seal of its own", seal->name);
    sr_time_print(time, "%Y%m%dT%H%M%SZ", sr_time_now());
    const char *away = apr_pstrcat(ctl->pool, seal->folder, SR_CMS_OWN_REMOVED, time, NULL);
    if (rename(seal->folder, away) != 0) return ctl_seal_fault(ctl, seal->folder);
    ctl_seal_sync(ctl->values[OPTION_SEALS]);
    ctl_print(ctl,
              json_pack("{s:s,s:s,s:s}", "organization", seal->name, "seal",
                        "that of the service, after apachectl graceful", "folder", away),
              columns);
    return NULL;
}

sr_error_t *ctl_org_seal(ctl_t *ctl)
{
    seal_t seal = {0};
    ctl_rights_t unused;
    SR_TRY(check_options(ctl));
    SR_TRY(find_folder(ctl));
    SR_TRY(find_organization(ctl, &seal));
    SR_TRY(ctl_be_caller(ctl, &unused)); /* the database is not needed any more */
    SR_TRY(own_seals_look(ctl, &seal));
    if (ctl->given[OPTION_REQUEST]) return ctl_seal_request(ctl);
    if (ctl->given[OPTION_CERTIFICATE] && ctl->given[OPTION_KEY]) return install(ctl, &seal);
    if (ctl->given[OPTION_CERTIFICATE]) return ctl_seal_import(ctl);
    if (ctl->given[OPTION_ROTATE]) return ctl_seal_rotate(ctl);
    return ctl->given[OPTION_REMOVE] ? remove_seal(ctl, &seal) : own_seals_show(ctl, &seal);
}
