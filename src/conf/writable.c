/* SPDX-License-Identifier: Apache-2.0 */
/* writable.c: checks whether httpd's user can write to a folder. If the caller is root, a child process with the
 * rights of that user tries it, so that groups, access control lists and file servers that do not trust root are
 * respected. */
#include "conf/conf.h"

#include <apr_hash.h>
#include <errno.h>
#include <grp.h>
#include <http_log.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unixd.h>

#include "mod_sigreq.h"
#include "s3/s3.h"

APLOG_USE_MODULE(sigreq);

enum { WRITABLE, NOT_WRITABLE };

bool sr_conf_become_user(void)
{
    if (geteuid() != 0) return true;
    const struct passwd *user = getpwuid(ap_unixd_config.user_id);
    const gid_t group = ap_unixd_config.group_id;
    if (setgid(group) != 0) return false;
    if ((user ? initgroups(user->pw_name, group) : setgroups(1, &group)) != 0) return false;
    return setuid(ap_unixd_config.user_id) == 0;
}

/* If the process cannot get the rights of the user, the result is unknown, and true is returned. */
bool sr_conf_can_write(const char *folder)
{
    int status = 0;
    pid_t waited;
    if (geteuid() != 0) return access(folder, W_OK | X_OK) == 0;
    const pid_t pid = fork();
    if (pid < 0) return true;
    if (pid == 0) _exit(sr_conf_become_user() && access(folder, W_OK | X_OK) != 0 ? NOT_WRITABLE : WRITABLE);
    while ((waited = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        ;
    return waited != pid || !WIFEXITED(status) || WEXITSTATUS(status) != NOT_WRITABLE;
}

/* This is only a warning, because another module may run requests with the rights of other users. */
void sr_conf_warn_of_documents(apr_pool_t *ptemp, server_rec *main_server)
{
    apr_hash_t *seen = apr_hash_make(ptemp);
    for (server_rec *server = main_server; server; server = server->next)
        for (int i = 0; i < sr_conf_sections(); i++) {
            const sr_conf_t *conf = sr_conf_section(ptemp, i, server, main_server);
            const char *documents = conf ? conf->documents : NULL;
            if (!documents || apr_hash_get(seen, documents, APR_HASH_KEY_STRING)) continue;
            apr_hash_set(seen, documents, APR_HASH_KEY_STRING, "");
            const bool is_bucket = sr_s3_is_url(documents);
            const char *folder = is_bucket ? sr_conf_of_process(main_server)->documents_cache : documents;
            if (sr_conf_can_write(folder)) continue;
            ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_WARNING, 0, main_server,
                         "SR0712: httpd's user cannot write to %s %s: uploads will be answered with 503",
                         is_bucket ? "SigreqDocumentsCache" : "SigreqDocuments", folder);
        }
}
