/* SPDX-License-Identifier: Apache-2.0 */
/* print.c: the output of sigreqctl: results as text for people or as one JSON document. */
#include "ctl/ctl.h"

#include <string.h>

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
