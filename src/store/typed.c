/* SPDX-License-Identifier: Apache-2.0 */
/* typed.c: the common part of the generated functions (build/sql_operations.c): it borrows a connection for an
 * operation, and converts rows of text to structs. */
#include "store/private.h"

#include <stdlib.h>
#include <string.h>

const char *sr_value_number(apr_int64_t value, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%" APR_INT64_T_FMT, value);
}

static sr_error_t *typed_refuse(sr_op_t op, const char *what, const char *which, apr_pool_t *pool)
{
    return sr_error_because(sr_error(pool, SR_EINTERNAL, "The database gave no answer"), pool, "%s: %s %s",
                            sr_sql_sqlite3.operations[op].name, what, which);
}

static bool typed_take_number(void *place, const char *text)
{
    char *end;
    const apr_int64_t number = apr_strtoi64(text, &end, 10);
    if (end == text || *end) return false;
    *(apr_int64_t *)place = number;
    return true;
}

/* PostgreSQL writes t and f, SQLite 1 and 0. */
static bool take_bool(void *place, const char *text)
{
    *(bool *)place = *text == 't' || *text == '1';
    return strcmp(text, "t") == 0 || strcmp(text, "1") == 0 || strcmp(text, "f") == 0 || strcmp(text, "0") == 0;
}

static bool take_value(char *row, const sr_column_t *column, const char *text, apr_pool_t *pool)
{
    char *place = row + column->offset;
    if (!text) return column->maybe;
    if (column->type == SR_VALUE_TEXT) {
        *(const char **)(void *)place = text;
        return true;
    }
    if (column->pointer) {
        void **pointer = (void **)(void *)place;
        *pointer = place = apr_pcalloc(pool, sizeof(apr_int64_t));
    }
    return column->type == SR_VALUE_BOOL ? take_bool(place, text) : typed_take_number(place, text);
}

/* Makes the struct of a row. A member is 0 if its column is NULL. */
static sr_error_t *make_row(void *row, sr_op_t op, const char *const *values, apr_pool_t *pool)
{
    const sr_row_kind_t *kind = sr_store_shapes[op].row;
    memset(row, 0, kind->size);
    for (int i = 0; i < kind->count; i++) {
        if (!take_value(row, &kind->columns[i], values[i], pool))
            return typed_refuse(op, "the column cannot be read:", kind->columns[i].name, pool);
    }
    return NULL;
}

static sr_error_t *typed_make_rows(void *result, sr_op_t op, const apr_array_header_t *rows, bool wanted,
                                   apr_pool_t *pool)
{
    const sr_shape_t *shape = &sr_store_shapes[op];
    if (shape->many) {
        apr_array_header_t *made = apr_array_make(pool, rows->nelts, (int)shape->row->size);
        for (int i = 0; wanted && i < rows->nelts; i++)
            SR_TRY(make_row(apr_array_push(made), op, APR_ARRAY_IDX(rows, i, sr_row_t).values, pool));
        *(apr_array_header_t **)result = made;
        return NULL;
    }
    if (!wanted) return NULL;
    if (rows->nelts != 1) return typed_refuse(op, "not one row, but", apr_itoa(pool, rows->nelts), pool);
    void *row = apr_palloc(pool, shape->row->size);
    SR_TRY(make_row(row, op, APR_ARRAY_IDX(rows, 0, sr_row_t).values, pool));
    *(void **)result = row;
    return NULL;
}

sr_error_t *sr_store_call(sr_store_source_t *source, sr_op_t op, sr_outcome_t *outcome, void *result,
                          const char *const *arguments, int count, apr_pool_t *pool)
{
    const sr_shape_t *shape = &sr_store_shapes[op];
    apr_array_header_t *rows;
    sr_store_t *store;
    const apr_time_t begun = sr_time_steady();
    if (result) *(void **)result = NULL; /* also after an error */
    source->reads = sr_store_reads(op);
    SR_TRY(source->borrow(source, &store, pool));
    sr_error_t *error = sr_store_run(store, op, outcome, &rows, arguments, count, pool);
    source->give_back(source, store);
    if (!error) sr_metrics_observe(SR_METRIC_DATABASE_SECONDS, 0, sr_time_steady() - begun);
    SR_TRY(error);
    if (!(shape->outcomes & 1u << *outcome))
        return typed_refuse(op, "no outcome of it:", apr_itoa(pool, (int)*outcome), pool);
    return result ? typed_make_rows(result, op, rows, shape->with_row & 1u << *outcome, pool) : NULL;
}

static json_t *list_json(const sr_row_kind_t *kind, const apr_array_header_t *records);

/* Returns null for SQL's NULL, which is a NULL pointer, or 0 for a time that may be NULL. */
// NOLINTNEXTLINE(misc-no-recursion): a list has no list
static json_t *value_json(const char *place, const sr_column_t *column)
{
    if (column->type == SR_VALUE_LIST)
        return list_json(column->record, *(const apr_array_header_t *const *)(const void *)place);
    if (column->type == SR_VALUE_JSON) {
        json_t *json = *(json_t *const *)(const void *)place;
        return json ? json_incref(json) : json_null();
    }
    if (column->type == SR_VALUE_TEXT) return sr_json_string_or_null(*(const char *const *)(const void *)place);
    if (column->pointer) place = *(const char *const *)(const void *)place;
    if (!place) return json_null();
    if (column->type == SR_VALUE_BOOL) return json_boolean(*(const bool *)(const void *)place);
    const apr_int64_t number = *(const apr_int64_t *)(const void *)place;
    return column->maybe && !column->pointer && !number ? json_null() : json_integer(number);
}

// NOLINTNEXTLINE(misc-no-recursion): a list has no list
static json_t *record_json(const sr_row_kind_t *kind, const void *row)
{
    json_t *object = json_object();
    for (int i = 0; i < kind->count; i++) {
        const sr_column_t *column = &kind->columns[i];
        json_object_set_new(object, column->name, value_json((const char *)row + column->offset, column));
    }
    return object;
}

// NOLINTNEXTLINE(misc-no-recursion): a list has no list
static json_t *list_json(const sr_row_kind_t *kind, const apr_array_header_t *records)
{
    json_t *list = json_array();
    for (int i = 0; records && i < records->nelts; i++)
        json_array_append_new(list, record_json(kind, records->elts + (size_t)i * kind->size));
    return list;
}

json_t *sr_store_row_json(sr_op_t op, const void *row)
{
    return record_json(sr_store_shapes[op].row, row);
}

const char *sr_value_record(const sr_row_kind_t *kind, const void *record, apr_pool_t *pool)
{
    return record ? sr_json_text(sr_json_own(record_json(kind, record), pool), pool) : NULL;
}

const char *sr_value_list(const sr_row_kind_t *kind, const apr_array_header_t *records, apr_pool_t *pool)
{
    return records && records->nelts ? sr_json_list_text(list_json(kind, records), pool) : NULL;
}

/* ------------------------------------------------------------------------------------------- a store that is open */

typedef struct opened_t {
    sr_store_source_t source; /* first, because callers have a pointer to it */
    sr_store_t *store;
} opened_t;

static sr_error_t *typed_borrow(sr_store_source_t *source, sr_store_t **store, apr_pool_t *pool)
{
    *store = ((const opened_t *)(const void *)source)->store;
    return NULL;
}

static void typed_give_back(sr_store_source_t *source, sr_store_t *store)
{
}

sr_store_source_t *sr_store_source(sr_store_t *store, apr_pool_t *pool)
{
    opened_t *opened = apr_pcalloc(pool, sizeof *opened);
    *opened = (opened_t){{.borrow = typed_borrow, .give_back = typed_give_back}, store};
    return &opened->source;
}
