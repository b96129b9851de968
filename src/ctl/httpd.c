/* SPDX-License-Identifier: Apache-2.0 */
/* httpd.c: gets the configuration of the service from httpd (src/conf/dump.c). Only httpd knows which files it
 * includes, which sections apply, and the values of variables. Its output has a block of directives per database. */
#include "ctl/ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST ((apr_size_t)16 << 20)
#define MARK "# mod_sigreq "

bool ctl_run_program(char *const *arguments, const char **out, const char **errors, apr_pool_t *pool)
{
    int output[2], status = -1;
    apr_size_t length = 0;
    FILE *notes = tmpfile(); /* not a second pipe, because the program could wait for it */
    *out = *errors = "";
    if (!notes || pipe2(output, O_CLOEXEC) != 0) return false;
    const pid_t pid = fork();
    if (pid == 0) {
        const int none = open("/dev/null", O_RDONLY);
        if (dup2(none, 0) == 0 && dup2(output[1], 1) == 1 && dup2(fileno(notes), 2) == 2) execvp(*arguments, arguments);
        _exit(127);
    }
    close(output[1]);
    if (pid > 0) (void)sr_descriptor_receive(out, &length, output[0], MOST, 0, pool);
    close(output[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    char text[16000];
    const apr_ssize_t got = sr_descriptor_read(fileno(notes), text, sizeof text, 0);
    if (got > 0) *errors = apr_pstrmemdup(pool, text, (apr_size_t)got);
    (void)fclose(notes);
    return pid > 0 && status == 0;
}

bool ctl_httpd_printed(const char *text)
{
    return strncmp(text, MARK, strlen(MARK)) == 0;
}

/* Returns the words that start httpd with these arguments, or NULL if it is not here. */
static char **command_of(const char *arguments, apr_pool_t *pool)
{
    const char *command = getenv("SIGREQ_HTTPD");
    char **words;
    if (!command) command = access("/usr/sbin/apache2ctl", X_OK) == 0 ? "/usr/sbin/apache2ctl" : "/usr/sbin/httpd";
    if (apr_tokenize_to_argv(apr_pstrcat(pool, command, arguments, NULL), &words, pool) || access(*words, X_OK) != 0)
        return NULL;
    return words;
}

bool ctl_configtest(ctl_t *ctl, bool *valid, const char **said)
{
    char **words = command_of(" -t", ctl->pool);
    const char *out;
    if (words) *valid = ctl_run_program(words, &out, said, ctl->pool);
    return words != NULL;
}

const char *ctl_httpd_version(const char *text, apr_pool_t *pool)
{
    const char *version = text + strlen(MARK);
    return ctl_httpd_printed(text) ? apr_pstrmemdup(pool, version, strcspn(version, "\n")) : NULL;
}

sr_error_t *ctl_ask_httpd(ctl_t *ctl, const char **text)
{
    char **words = command_of(" -t -D DUMP_SIGREQ", ctl->pool);
    const char *out, *errors;
    *text = NULL;
    if (!words) return NULL;
    if (!ctl_run_program(words, &out, &errors, ctl->pool)) {
        return sr_error(ctl->pool, SR_EBADREQUEST,
                        "%s cannot read httpd's configuration. Repair it, or give --config FILE:\n%s", *words, errors);
    }
    if (ctl_httpd_printed(out)) *text = out;
    return NULL;
}

/* Sets *block to the next block of the text, without its first and last line, and *names to the names in its first
 * line. Moves *text to the end of the block. Returns false if there is no further block. */
static bool next_block(const char **block, const char **names, const char **text, apr_pool_t *pool)
{
    static const char begin[] = "<Database", end[] = "</Database>\n";
    const char *first = strstr(*text, begin);
    const char *line_end = first ? strchr(first, '\n') : NULL;
    const char *last = line_end ? strstr(line_end, end) : NULL;
    if (!last) return false;
    *names = apr_pstrmemdup(pool, first + strlen(begin), (apr_size_t)(line_end - first) - strlen(begin) - 1);
    *block = apr_pstrmemdup(pool, line_end + 1, (apr_size_t)(last - line_end) - 1);
    *text = last + strlen(end);
    return true;
}

static bool has_name(const char *names, const char *name, apr_pool_t *pool)
{
    char *copy = apr_pstrdup(pool, names), *state;
    for (const char *one = apr_strtok(copy, " ", &state); one; one = apr_strtok(NULL, " ", &state))
        if (strcasecmp(one, name) == 0) return true;
    return false;
}

const apr_array_header_t *ctl_httpd_servers(const char *text, apr_pool_t *pool)
{
    apr_array_header_t *servers = apr_array_make(pool, 4, sizeof(const char *));
    for (const char *block, *names; next_block(&block, &names, &text, pool);) {
        const char *one = names + strspn(names, " ");
        APR_ARRAY_PUSH(servers, const char *) = apr_pstrmemdup(pool, one, strcspn(one, " "));
    }
    return servers;
}

sr_error_t *ctl_httpd_block(ctl_t *ctl, const char **chosen, const char *text)
{
    const char *wanted = ctl->given[OPTION_SERVER] ? ctl->values[OPTION_SERVER] : NULL;
    const char *all = "";
    int found = 0;
    *chosen = text;
    if (!ctl_httpd_printed(text)) return NULL;
    for (const char *block, *names; next_block(&block, &names, &text, ctl->pool);) {
        all = apr_pstrcat(ctl->pool, all, names, NULL);
        if (wanted && !has_name(names, wanted, ctl->pool)) continue;
        *chosen = block;
        found++;
    }
    if (found == 1) return NULL;
    return sr_error(ctl->pool, SR_EBADREQUEST, "%s: give --server, one of:%s",
                    !wanted ? "httpd has several databases"
                    : found ? apr_pstrcat(ctl->pool, "several databases have a server ", wanted, NULL)
                            : apr_pstrcat(ctl->pool, "httpd has no server ", wanted, NULL),
                    all);
}
