/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: parses the command line and returns an exit code. The program runs in the foreground and never asks for
 * input: a missing value is an error. */
#include "ctl/ctl.h"

#include <apr_general.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Prints the fault of the command line to stderr, and which help to read. */
static ctl_exit_t misused(const ctl_t *ctl, const char *what)
{
    const ctl_command_t *command = ctl->command;
    fprintf(stderr, "sigreqctl: %s\nTry: sigreqctl %s%s%s--help\n", what, command ? command->group : "",
            command && *command->verb ? " " : "", command ? apr_pstrcat(ctl->pool, command->verb, " ", NULL) : "");
    return CTL_USAGE;
}

/* Finds the first option with this name, or with the only name that begins with it. */
static bool find_option(ctl_option_id_t *id, const char *name, apr_size_t length)
{
    const char *found = NULL;
    bool several = false;
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (strncmp(ctl_options[i].name, name, length) != 0) continue;
        if (found && ctl_options[i].name[length]) {
            several = several || strcmp(found, ctl_options[i].name) != 0;
            continue;
        }
        found = ctl_options[i].name;
        *id = (ctl_option_id_t)i;
        if (!found[length]) return true;
    }
    return found && !several && length > 0;
}

/* Moves the value of an option that the command does not have to the one of the same name that it has. */
static void choose_option(ctl_t *ctl, ctl_option_id_t id)
{
    for (int i = 0; !ctl->given[id] && i < OPTION_COUNT; i++) {
        if (!ctl->given[i] || strcmp(ctl_options[i].name, ctl_options[id].name) != 0) continue;
        ctl->given[i] = false;
        ctl->given[id] = true;
        ctl->values[id] = ctl->values[i];
    }
}

/* Reads one option of the command line. *index moves to its value. Returns the fault, or NULL. */
static const char *take_option(ctl_t *ctl, int *index, int argc, const char *const *argv)
{
    const char *name = argv[*index] + 2;
    const apr_size_t length = strcspn(name, "=");
    ctl_option_id_t id = OPTION_COUNT;
    if (!find_option(&id, name, length)) return apr_psprintf(ctl->pool, "there is no option %s", argv[*index]);
    if (ctl->given[id]) return apr_psprintf(ctl->pool, "--%s is given twice", ctl_options[id].name);
    ctl->given[id] = true;
    if (!ctl_options[id].value) return name[length] ? apr_psprintf(ctl->pool, "--%s has no value", name) : NULL;
    if (name[length]) ctl->values[id] = name + length + 1;
    else if (*index + 1 < argc) ctl->values[id] = argv[++*index];
    else return apr_psprintf(ctl->pool, "--%s needs a value", name);
    return NULL;
}

/* Splits the command line into options and words. */
static const char *take_arguments(ctl_t *ctl, apr_array_header_t *words, int argc, const char *const *argv)
{
    bool options = true;
    for (int i = 1; i < argc; i++) {
        const char *wrong = NULL;
        if (options && strcmp(argv[i], "--") == 0) options = false;
        else if (options && strcmp(argv[i], "-h") == 0) ctl->given[OPTION_HELP] = true;
        else if (options && strncmp(argv[i], "--", 2) == 0) wrong = take_option(ctl, &i, argc, argv);
        else if (options && argv[i][0] == '-' && argv[i][1]) wrong = apr_psprintf(ctl->pool, "no option %s", argv[i]);
        else APR_ARRAY_PUSH(words, const char *) = argv[i];
        if (wrong) return wrong;
    }
    return NULL;
}

/* Finds the command that the first words name. *used is the number of these words. */
static const ctl_command_t *find_command(int *used, const apr_array_header_t *words)
{
    const char *group = words->nelts > 0 ? APR_ARRAY_IDX(words, 0, const char *) : "";
    const char *verb = words->nelts > 1 ? APR_ARRAY_IDX(words, 1, const char *) : "";
    for (int i = 0; i < ctl_command_count; i++) {
        if (strcmp(ctl_commands[i].group, group) != 0) continue;
        *used = *ctl_commands[i].verb ? 2 : 1;
        if (*used == 1 || strcmp(ctl_commands[i].verb, verb) == 0) return &ctl_commands[i];
    }
    return NULL;
}

/* Prints help about everything, a group or a command, as the words name it. */
static ctl_exit_t help(const ctl_t *ctl, const apr_array_header_t *words)
{
    const char *group = words->nelts > 0 ? APR_ARRAY_IDX(words, 0, const char *) : NULL;
    for (int i = 0; group && i < ctl_command_count; i++) {
        if (strcmp(ctl_commands[i].group, group) != 0) continue;
        ctl_help(stdout, group, ctl->command ? ctl->command->verb : NULL);
        return CTL_DONE;
    }
    if (group) return misused(ctl, apr_psprintf(ctl->pool, "there is no command %s", group));
    ctl_help(stdout, NULL, NULL);
    return CTL_DONE;
}

/* Assigns words to the first options that have no value yet, and then checks all options. */
static const char *fit_options(ctl_t *ctl, const apr_array_header_t *words, int used)
{
    const ctl_command_t *command = ctl->command;
    const int fitting = abs(command->required);
    bool allowed[OPTION_COUNT] = {false};
    for (int i = 0; command->options[i] != OPTION_COUNT; i++) {
        const ctl_option_id_t id = command->options[i];
        allowed[id] = true;
        choose_option(ctl, id);
        if (!ctl->given[id] && i < fitting && used < words->nelts) {
            ctl->values[id] = APR_ARRAY_IDX(words, used++, const char *);
            ctl->given[id] = true;
        }
        if (!ctl->given[id] && i < command->required) {
            return apr_psprintf(ctl->pool, "--%s is required", ctl_options[id].name);
        }
    }
    if (used < words->nelts) {
        return apr_psprintf(ctl->pool, "unexpected argument: %s", APR_ARRAY_IDX(words, used, const char *));
    }
    for (int id = 0; id < OPTION_COUNT; id++) {
        const char *wrong;
        if (!ctl->given[id]) continue;
        if (id > OPTION_HELP && !allowed[id]) {
            return apr_psprintf(ctl->pool, "--%s does not belong to this command", ctl_options[id].name);
        }
        wrong = ctl_options[id].check ? ctl_options[id].check(&ctl->values[id], ctl->pool) : NULL;
        if (wrong) return apr_psprintf(ctl->pool, "--%s %s", ctl_options[id].name, wrong);
    }
    return NULL;
}

/* Returns what is wrong with a command that does not exist. For a group without a verb it lists the verbs. */
static const char *unknown(const ctl_t *ctl, const apr_array_header_t *words)
{
    const char *group = APR_ARRAY_IDX(words, 0, const char *), *verbs = "";
    for (int i = 0; words->nelts == 1 && i < ctl_command_count; i++) {
        if (strcmp(ctl_commands[i].group, group) != 0) continue;
        verbs = apr_pstrcat(ctl->pool, verbs, *verbs ? ", " : "", ctl_commands[i].verb, NULL);
    }
    if (*verbs) return apr_psprintf(ctl->pool, "%s needs one of: %s", group, verbs);
    return apr_psprintf(ctl->pool, "there is no command %s", apr_array_pstrcat(ctl->pool, words, ' '));
}

static ctl_exit_t failed(const sr_error_t *error)
{
    static const struct {
        sr_code_t code;
        ctl_exit_t status;
    } meanings[] = {
        {SR_EBADREQUEST, CTL_USAGE},
        {SR_ENOTFOUND, CTL_MISSING},
        {SR_ECONFLICT, CTL_CONFLICT},
        {SR_EUNAVAILABLE, CTL_AWAY},
    };

    fprintf(stderr, "sigreqctl: %s%s%s%s\n", error->message, error->cause ? " (" : "", error->cause ? error->cause : "",
            error->cause ? ")" : "");
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (error->code == meanings[i].code) return meanings[i].status;
    }
    return CTL_FAILED;
}

static ctl_exit_t perform_one(ctl_t *ctl)
{
    const sr_error_t *error = ctl->command->run(ctl);
    return error ? failed(error) : ctl->status;
}

/* Runs the command for each database of httpd's configuration, each time in a process of its own, because a command may
 * give up root's rights. Returns the last exit code that is not CTL_DONE. */
static ctl_exit_t perform_each(ctl_t *ctl)
{
    const char *text;
    ctl_exit_t result = CTL_DONE;
    const sr_error_t *error = ctl_config_text(ctl, &text);
    if (error) return failed(error);
    if (!text || !ctl_httpd_printed(text)) { /* a file has one database */
        ctl->given[OPTION_SERVER] = false;
        return perform_one(ctl);
    }
    const apr_array_header_t *servers = ctl_httpd_servers(text, ctl->pool);
    for (int i = 0; i < servers->nelts; i++) {
        int status = 0;
        const pid_t pid = fork();
        if (pid == 0) {
            ctl->values[OPTION_SERVER] = APR_ARRAY_IDX(servers, i, const char *);
            status = (int)perform_one(ctl);
            _exit(fflush(stdout) == 0 ? status : CTL_FAILED);
        }
        while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
        if (pid < 0 || status) result = pid > 0 && WIFEXITED(status) ? (ctl_exit_t)WEXITSTATUS(status) : CTL_FAILED;
    }
    return result;
}

static ctl_exit_t perform_all(ctl_t *ctl)
{
    const bool each = ctl->given[OPTION_SERVER] && strcmp(ctl->values[OPTION_SERVER], "all") == 0;
    return each ? perform_each(ctl) : perform_one(ctl);
}

/* The same with --quiet: what is printed is shown only if the command fails. */
static ctl_exit_t perform_quietly(ctl_t *ctl)
{
    FILE *kept = tmpfile();
    const int out = dup(STDOUT_FILENO);
    char bytes[4096];
    if (!kept || out < 0 || dup2(fileno(kept), STDOUT_FILENO) < 0) return perform_all(ctl);
    const ctl_exit_t status = perform_all(ctl);
    (void)fflush(stdout);
    if (dup2(out, STDOUT_FILENO) < 0) return CTL_FAILED;
    rewind(kept);
    for (size_t got; status && (got = fread(bytes, 1, sizeof bytes, kept)) > 0;) (void)fwrite(bytes, 1, got, stdout);
    return status;
}

/* Takes "help" or "version" as the first word for the option of this name. */
static void take_first_word(ctl_t *ctl, apr_array_header_t *words)
{
    static const ctl_option_id_t options[] = {OPTION_HELP, OPTION_VERSION};
    for (size_t i = 0; words->nelts && i < sizeof options / sizeof *options; i++) {
        if (strcmp(APR_ARRAY_IDX(words, 0, const char *), ctl_options[options[i]].name) != 0) continue;
        ctl->given[options[i]] = true;
        words->nelts--;
        memmove(words->elts, words->elts + words->elt_size, (size_t)words->nelts * (size_t)words->elt_size);
        return;
    }
}

static ctl_exit_t main_perform(ctl_t *ctl, int argc, const char *const *argv)
{
    apr_array_header_t *words = apr_array_make(ctl->pool, 8, sizeof(const char *));
    const char *wrong = take_arguments(ctl, words, argc, argv);
    int used = 0;
    if (wrong) return misused(ctl, wrong);
    take_first_word(ctl, words);
    ctl->command = find_command(&used, words);
    if (ctl->given[OPTION_HELP]) return help(ctl, words);
    if (ctl->given[OPTION_VERSION]) return printf("sigreqctl " SR_VERSION "\n") > 0 ? CTL_DONE : CTL_FAILED;
    if (!ctl->command && !words->nelts) {
        ctl_help(stderr, NULL, NULL);
        return CTL_USAGE;
    }
    if (!ctl->command) return misused(ctl, unknown(ctl, words));
    wrong = fit_options(ctl, words, used);
    if (wrong) return misused(ctl, wrong);
    return ctl->given[OPTION_QUIET] ? perform_quietly(ctl) : perform_all(ctl);
}

int main(int argc, const char *const *argv)
{
    ctl_t ctl = {0};
    ctl_exit_t status;
    apr_app_initialize(&argc, &argv, NULL);
    if (atexit(apr_terminate)) return CTL_FAILED;
    apr_pool_create(&ctl.pool, NULL);
    status = main_perform(&ctl, argc, argv);
    if (fflush(stdout) != 0 && status == CTL_DONE) {
        perror("sigreqctl: standard output");
        status = CTL_FAILED;
    }
    apr_pool_destroy(ctl.pool);
    return (int)status;
}
