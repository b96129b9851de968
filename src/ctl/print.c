/* SPDX-License-Identifier: Apache-2.0 */
/* print.c: the output of sigreqctl: results as text for people or as one JSON document, and the help pages, which are
 * made from the tables of commands.c. */
#include "ctl/ctl.h"

#include <stdlib.h>
#include <string.h>

#define OPTION_COLUMN 32 /* of the descriptions of options */

static bool ends(const char *name, const char *end)
{
    const size_t length = strlen(name);

    return length > 3 && strcmp(name + length - 3, end) == 0;
}

static json_t *day_json(apr_time_t when)
{
    char text[SR_TIME_PRINTED];

    sr_time_print(text, "%Y-%m-%d", when);
    return json_string(text);
}

/* Replaces times and days in microseconds by ISO 8601, in an object or an array of objects, and in those in them. */
// NOLINTNEXTLINE(misc-no-recursion): the rows of the store nest 2 deep
static void show_times(json_t *shown)
{
    const char *name;
    json_t *value;
    void *next;
    size_t index;

    json_array_foreach (shown, index, value) show_times(value);
    json_object_foreach_safe (shown, next, name, value) {
        if (json_is_array(value) || json_is_object(value)) show_times(value);
        else if (ends(name, "_at") && json_is_integer(value))
            json_object_set_new(shown, name, sr_time_json((apr_time_t)json_integer_value(value)));
        else if (ends(name, "_on") && json_is_integer(value))
            json_object_set_new(shown, name, day_json((apr_time_t)json_integer_value(value)));
    }
}

static const char *cell(const json_t *object, const char *name, apr_pool_t *pool)
{
    const json_t *value = json_object_get(object, name);

    if (json_is_string(value)) return json_string_value(value);
    if (json_is_boolean(value)) return json_is_true(value) ? "yes" : "no";
    if (json_is_integer(value)) {
        return apr_psprintf(pool, "%" APR_INT64_T_FMT, (apr_int64_t)json_integer_value(value));
    }
    return strcmp(name, "quota") == 0 ? "unlimited" : "-";
}

static void print_cell(const char *text, int width)
{
    const int length = (int)sr_text_length(text);

    printf("%s%*s", text, width > length ? width - length : 0, "");
}

static void print_object(const json_t *object, const char *const *columns, apr_pool_t *pool)
{
    int width = 0;

    for (int i = 0; columns[i]; i++) {
        if ((int)strlen(columns[i]) > width) width = (int)strlen(columns[i]);
    }
    for (int i = 0; columns[i]; i++) {
        print_cell(columns[i], width + 2);
        printf("%s\n", cell(object, columns[i], pool));
    }
}

static void print_rows(const json_t *rows, const char *const *columns, apr_pool_t *pool)
{
    const json_t *row;
    size_t index;

    for (int i = -1; i < (int)json_array_size(rows); i++) {
        for (int column = 0; columns[column]; column++) {
            int width = (int)strlen(columns[column]);
            json_array_foreach (rows, index, row) {
                const int length = (int)sr_text_length(cell(row, columns[column], pool));
                if (length > width) width = length;
            }
            if (!columns[column + 1]) width = 0;
            print_cell(i < 0 ? columns[column] : cell(json_array_get(rows, (size_t)i), columns[column], pool),
                       width ? width + 2 : 0);
        }
        printf("\n");
    }
}

void ctl_print(ctl_t *ctl, json_t *answer, const char *const *columns)
{
    sr_json_own(answer, ctl->pool);
    show_times(answer);
    if (ctl->given[OPTION_JSON]) {
        json_dumpf(answer, stdout, JSON_INDENT(2));
        printf("\n");
    } else if (json_is_array(answer)) {
        print_rows(answer, columns, ctl->pool);
    } else {
        print_object(answer, columns, ctl->pool);
    }
}

void ctl_print_part(ctl_t *ctl, const char *title, json_t *rows, const char *const *columns)
{
    if (!json_array_size(rows)) return;
    printf("\n%s\n", title);
    print_rows(rows, columns, ctl->pool);
}

/* ------------------------------------------------------------------------------------------------- rows */

sr_error_t *ctl_refusal(const ctl_t *ctl, sr_outcome_t outcome, const char *missing, const char *conflict)
{
    if (outcome == SR_MISSING) return sr_error(ctl->pool, SR_ENOTFOUND, "%s", missing);
    return outcome == SR_CONFLICT ? sr_error(ctl->pool, SR_ECONFLICT, "%s", conflict) : NULL;
}

json_t *ctl_row_json(sr_op_t op, const void *row)
{
    json_t *object = sr_store_row_json(op, row);

    json_object_del(object, "id");
    return object;
}

sr_error_t *ctl_print_row(ctl_t *ctl, sr_op_t op, const void *row, const char *const *columns)
{
    ctl_print(ctl, ctl_row_json(op, row), columns);
    return NULL;
}

json_t *ctl_rows_json(sr_op_t op, const apr_array_header_t *rows)
{
    json_t *list = json_array();

    for (int i = 0; i < rows->nelts; i++)
        json_array_append_new(list, ctl_row_json(op, rows->elts + (size_t)i * (size_t)rows->elt_size));
    return list;
}

sr_error_t *ctl_print_rows(ctl_t *ctl, sr_op_t op, const apr_array_header_t *rows, const char *const *columns)
{
    ctl_print(ctl, ctl_rows_json(op, rows), columns);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- help */

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
    "'sigreqctl config', or a configuration of httpd, of which all sections but no included files are read. Otherwise, "
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
