# SPDX-License-Identifier: Apache-2.0
# CCode: prints the C functions of operations, their rows and the records of their arguments (tools/sql2c).
package CCode;
use strict;
use warnings;
use Types qw(%types @records);

sub print_of {
    my ($wanted, @all) = @_;
    return { header => \&print_header, shapes => \&print_shapes, calls => \&print_calls }->{$wanted}->(@all);
}

# --- C functions: what may be NULL is a pointer, or a time that is 0. In a record a number that may be NULL is 0, too.

sub c_type {
    my ($it) = @_;
    my $type = $types{ $it->{type} }[0];
    return $it->{list} ? 'const apr_array_header_t *' : "const sr_$it->{record}_arg_t *" if $it->{record};
    return $it->{maybe} && $it->{type} =~ /^(?:int|bool)$/ ? "const $type*" : $type;
}

sub is_pointer { return scalar c_type($_[0]) =~ /^const (?!char)/ }    # to a number

sub c_argument {
    my ($it) = @_;
    my ($name, $type) = @$it{qw(name type)};
    return ($it->{list} ? 'sr_value_list' : 'sr_value_record') . "(&sr_arg_$it->{record}, $name, pool)" if $it->{record};
    return $name if $types{$type}[1] eq 'TEXT';
    my $value = $it->{maybe} && $type ne 'time' ? "*$name" : $name;
    my $text = $type eq 'bool' ? "($value ? \"true\" : \"false\")" : "sr_value_number($value, pool)";
    return $it->{maybe} ? "$name ? $text : NULL" : $text;
}

sub prototype_of {
    my ($op, $signature) = @_;
    my @parameters = ('sr_store_source_t *source', 'sr_outcome_t *outcome');
    push @parameters, $signature->{many} ? 'apr_array_header_t **rows' : "const sr_$signature->{row}_row_t **row"
        if $signature->{row};
    push @parameters, map { c_type($_) . $_->{name} } @{ $signature->{arguments} };
    return "sr_error_t *sr_store_\L$op\E(" . join(', ', @parameters, 'apr_pool_t *pool') . ')';
}

sub member_type {    # of a record
    my ($it) = @_;
    return $it->{type} eq 'json' && !$it->{record} ? 'const json_t *' : c_type({ %$it, maybe => 0 });
}

sub print_records {
    for my $name (@records) {
        print "typedef struct sr_${name}_arg_t {\n";
        for (Types::members_of('', $name)) {
            my $list = $_->{list} ? " /* sr_$_->{record}_arg_t */" : '';
            print '    ', member_type($_), "$_->{name};$list\n";
        }
        print "} sr_${name}_arg_t;\n\n";
    }
    return;
}

sub print_kinds {
    for my $name (@records) {
        print "static const sr_column_t members_${name}[] = {\n";
        for (Types::members_of('', $name)) {
            my $kind = $_->{list} ? 'LIST' : $_->{type} eq 'json' ? 'JSON' : $types{ $_->{type} }[1];
            printf "    {\"%s\", SR_VALUE_%s, %s, false, offsetof(sr_${name}_arg_t, %s), %s},\n", $_->{name}, $kind,
                $_->{maybe} ? 'true' : 'false', $_->{name}, $_->{list} ? "&sr_arg_$_->{record}" : 'NULL';
        }
        print "};\nconst sr_row_kind_t sr_arg_$name = {\n    \"$name\", sizeof(sr_${name}_arg_t), ",
            scalar(my @all = Types::members_of('', $name)), ", members_$name};\n";
    }
    return;
}

sub print_header {
    my $rows = shift;
    print "/* Made by tools/sql2c: the operations of the .sql files in src/store as functions. If the outcome has no\n",
        " * row, *row is NULL, or *rows is empty. A nullable number is a pointer, a nullable time is 0. */\n",
        "#ifndef SR_STORE_OPERATIONS_H\n#define SR_STORE_OPERATIONS_H\n\n";
    for my $name (sort keys %$rows) {
        print "typedef struct sr_${name}_row_t {\n";
        printf "    %s%s;\n", c_type($_), $_->{name} for @{ $rows->{$name} };
        print "} sr_${name}_row_t;\n\n";
    }
    print_records();
    print "/* \L$_->[0]\E$_->[1]{text} */\n", prototype_of(@$_), ";\n" for @_;
    print "\n#endif\n";
}

sub outcome_set {
    my ($outcomes) = @_;
    return join(' | ', map {"1u << SR_\U$_"} @{ $outcomes // [] }) || 0;
}

sub print_shapes {
    my $rows = shift;
    print "/* Made by tools/sql2c: the rows of operations.h. */\n";
    print "#include \"store/private.h\"\n\n#include <stddef.h>\n\n";
    for my $name (sort keys %$rows) {
        print "static const sr_column_t columns_${name}[] = {\n";
        printf "    {\"%s\", SR_VALUE_%s, %s, %s, offsetof(sr_${name}_row_t, %s), NULL},\n", $_->{name},
            $types{ $_->{type} }[1], map({ $_ ? 'true' : 'false' } $_->{maybe}, is_pointer($_)), $_->{name}
            for @{ $rows->{$name} };
        print "};\nstatic const sr_row_kind_t row_$name = {\n    \"$name\", sizeof(sr_${name}_row_t), ",
            scalar @{ $rows->{$name} }, ", columns_$name};\n";
    }
    print_kinds();
    print "const sr_shape_t sr_store_shapes[SR_OP_COUNT] = {\n";
    for (@_) {
        my ($op, $signature) = @$_;
        my ($all, $with) = map { outcome_set($_) } @$signature{qw(outcomes with_row)};
        my $row = $signature->{row} ? "&row_$signature->{row}" : 'NULL';
        printf "    [SR_OP_%s] = {%s, %s, %s, %s},\n", $op, $row, $all, $with, $signature->{many} ? 'true' : 'false';
    }
    print "};\n";
}

sub print_calls {
    my $rows = shift;
    print "/* Made by tools/sql2c: see operations.h. */\n#include \"store/private.h\"\n\n";
    print "extern const sr_row_kind_t sr_arg_$_;\n" for @records;
    for (@_) {
        my ($op, $signature) = @$_;
        my @values = map { c_argument($_) } @{ $signature->{arguments} };
        print "\n", prototype_of(@$_), "\n{\n";
        print "    const char *const arguments[] = {", join(', ', @values, 'NULL'), "};\n";
        printf "    return sr_store_call(source, SR_OP_%s, outcome, %s, arguments, %d, pool);\n}\n", $op,
            !$signature->{row} ? 'NULL' : $signature->{many} ? 'rows' : '(void *)row', scalar @values;
    }
}

1;
