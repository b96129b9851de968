/* SPDX-License-Identifier: Apache-2.0 */
/* help.c: the help pages of sigreqctl, from the tables of its commands and options. */
#include "ctl/ctl.h"

#include <stdlib.h>
#include <string.h>

#define OPTION_COLUMN 32 /* of the descriptions of options */

static void print_option(FILE *out, ctl_option_id_t id)
{
    const ctl_option_t *option = &ctl_options[id];
    const int used =
        fprintf(out, "  --%s%s%s", option->name, option->value ? " " : "", option->value ? option->value : "");
    fprintf(out, "%*s%s\n", used < OPTION_COLUMN ? OPTION_COLUMN - used : 2, "", option->help);
}

static void print_usage(FILE *out, const ctl_command_t *command)
{
    fprintf(out, "  sigreqctl %s%s%s", command->group, *command->verb ? " " : "", command->verb);
    for (int i = 0; command->options[i] != OPTION_COUNT; i++) {
        const ctl_option_t *option = &ctl_options[command->options[i]];
        const bool optional = i >= command->required;
        fprintf(out, " %s--%s%s%s%s", optional ? "[" : "", option->name, option->value ? " " : "",
                option->value ? option->value : "", optional ? "]" : "");
    }
    fprintf(out, "\n");
}

static void print_command(FILE *out, const ctl_command_t *command)
{
    fprintf(out, "%s\n\nUsage:\n", command->help);
    print_usage(out, command);
    if (command->options[0] != OPTION_COUNT) fprintf(out, "\nOptions:\n");
    for (int i = 0; command->options[i] != OPTION_COUNT; i++) print_option(out, command->options[i]);
}

static const char tail[] =
    "\nThe database is that of --driver and --params, or of the file of --config or SIGREQ_CONFIG: the output of "
    "'sigreqctl config', or directives in the same form, one in each line, without variables. Otherwise, "
    "if " SR_DEFAULT_CONFIG " can be read, httpd prints its configuration (apache2ctl -t -D DUMP_SIGREQ, or the "
    "command in SIGREQ_HTTPD instead of apache2ctl). If httpd rejects its configuration, the command fails. If several "
    "virtual hosts have databases of their own, --server names one of these hosts. A connection that takes longer than "
    "connect_timeout is tried once more, for 20 seconds.\n"
    "\nOther users of this host can read the command line (ps), so --params must not contain a password. Put it into "
    "the "
    "file of --config, or into a file that libpq reads: the file of PGPASSFILE, or service=NAME in --params.\n"
    "\nOptions outside of [brackets] are required. Their names may be omitted in this order, and shortened while they "
    "are unique (--org, --env).\n"
    "\nExit codes: 0 success, 1 failure, 2 wrong command line or configuration, 3 not found, 4 the name exists or the "
    "state does not permit the command, 5 no database or helper.\n";

static const char examples[] = "\nExamples:\n"
                               "    sigreqctl org create \"Our company\"\n"
                               "    sigreqctl user create \"Our company\" Ann Lee ann@example.org\n"
                               "    sigreqctl token create \"Our company\" ann@example.org test first\n"
                               "    sigreqctl submission list --status open --json\n"
                               "    sigreqctl gc --dry-run\n";

/* Returns the length of the first sentence of a command's help. */
static int sentence(const char *help)
{
    const char *end = strstr(help, ". ");
    return end ? (int)(end - help) + 1 : (int)strlen(help);
}

/* Returns how many columns a line of help may have. COLUMNS is not exported by most shells. */
static size_t columns_of_help(void)
{
    const char *text = getenv("COLUMNS");
    const long columns = text ? strtol(text, NULL, 10) : 0;
    return columns >= 60 ? (size_t)columns : 80;
}

/* A usage is not divided between the name of an option and its value. */
static bool is_gap(const char *at, bool usage)
{
    return *at == ' ' && (!usage || at[1] == '-' || at[1] == '[');
}

/* Prints a line. If it is too long, its other lines are indented: descriptions of options stay in their column. */
static void print_wrapped(FILE *out, const char *line, size_t length, size_t columns)
{
    const bool usage = strncmp(line, "  sigreqctl ", 12) == 0;
    const size_t indent = strspn(line, " ");
    const size_t hang = usage ? 8 : strncmp(line, "  --", 4) == 0 ? OPTION_COLUMN : indent;
    size_t room = columns, least = indent;
    while (length > room) {
        size_t at = room;
        while (at > least && !is_gap(line + at, usage)) at--;
        if (at <= least) break;
        fprintf(out, "%.*s\n%*s", (int)at, line, (int)hang, "");
        line += at + 1;
        length -= at + 1;
        room = columns - hang;
        least = 0;
    }
    fprintf(out, "%.*s\n", (int)length, line);
}

static void print_help(FILE *out, const char *group, const char *verb)
{
    const ctl_command_t *one = NULL;
    int shown = 0;
    for (int i = 0; i < ctl_command_count; i++) {
        if (group && strcmp(ctl_commands[i].group, group) != 0) continue;
        if (verb && strcmp(ctl_commands[i].verb, verb) != 0) continue;
        one = &ctl_commands[i];
        shown++;
    }
    if (shown == 1) {
        print_command(out, one);
    } else {
        fprintf(out, "sigreqctl administers the e-signature service of mod_sigreq.\n");
        if (!group) fprintf(out, "'sigreqctl COMMAND --help' describes a command and its options.\n");
        fprintf(out, "\nUsage:\n");
        for (int i = 0; i < ctl_command_count; i++) {
            if (group && strcmp(ctl_commands[i].group, group) != 0) continue;
            print_usage(out, &ctl_commands[i]);
            const char *help = ctl_commands[i].help;
            fprintf(out, "      %.*s\n", group ? (int)strlen(help) : sentence(help), help);
        }
    }
    fprintf(out, "\nOptions of every command:\n");
    for (int i = 0; i <= OPTION_HELP; i++) print_option(out, (ctl_option_id_t)i);
    fprintf(out, "%s%s", tail, group ? "" : examples);
}

void ctl_help(FILE *out, const char *group, const char *verb)
{
    const size_t columns = columns_of_help();
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory) return;
    print_help(memory, group, verb);
    if (fclose(memory) == 0)
        for (const char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
            print_wrapped(out, line, (size_t)(end - line), columns);
    free(text);
}
