# SPDX-License-Identifier: Apache-2.0
# Types: the types of arguments, of columns and of members of JSON arguments, in C and in both databases (tools/sql2c).
package Types;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(%types @records named_types declare column_type table_of one_record each_record);

# The type in C, in a row, in SQLite's WITH, in a function of PostgreSQL, and in one that is made here.
our %types = (
    text => ['const char *', 'TEXT', '%s', qr/text/, 'text'],
    hash => ['const char *', 'TEXT', '%s', qr/text/, 'text'],
    uuid => ['const char *', 'TEXT', 'lower(%s)', qr/uuid/, 'uuid'],
    json => ['const char *', 'TEXT', '%s', qr/jsonb?/, 'json'],
    int  => ['apr_int64_t ', 'INT', 'CAST(%s AS INTEGER)', qr/integer|bigint/, 'bigint'],
    time => ['apr_time_t ', 'INT', 'CAST(%s AS INTEGER)', qr/bigint/, 'bigint'],
    bool => ['bool ', 'BOOL', "(%s = 'true')", qr/boolean/, 'boolean'],
);

our @records;    # the names of declared types, in their order
my %members;     # of each

# "name type, name type?, name record, name [record]?". A record, and a list of them, is an argument of the type json.
sub named_types {
    my ($where, $text) = @_;
    my @all;
    for my $one (split /,\s*/, $text) {
        my ($name, $open, $type, $close, $maybe) = $one =~ /^(\w+) (\[?)(\w+)(\]?)(\??)$/
            or die "$where: not understood: $one\n";
        my $record = $members{$type} ? $type : undef;
        ($record ? !$open == !$close : $types{$type} && !$open && !$close) or die "$where: there is no type $type\n";
        my %made = (name => $name, type => $record ? 'json' : $type, maybe => $maybe ne '');
        push @all, { %made, record => $record, list => $open ne '' };
    }
    return \@all;
}

sub declare {    # a record
    my ($where, $name, $text) = @_;
    $members{$name} || $types{$name} and die "$where: type $name is there twice\n";
    $members{$name} = named_types($where, $text);
    push @records, $name;
    return;
}

sub members_of { my ($where, $name) = @_; return @{ $members{$name} // die "$where: there is no type $name\n" } }

sub column_type { my $type = $_[0]{type}; return $type eq 'json' ? 'text' : $types{$type}[4] }
sub table_of { return 'TABLE (' . join(', ', 'outcome text', map { "$_->{name} " . column_type($_) } @_) . ')' }

# The members of a JSON value as columns of PostgreSQL. Lists stay JSON.
sub fields {
    return join ', ', map { "$_->{name} " . ($_->{list} ? 'json' : column_type($_)) } @_;
}

sub values_of {    # the same with SQLite
    my ($value, @members) = @_;
    my %form = (%{ { map { $_ => '%s' } keys %types } }, uuid => 'lower(%s)', map { $_ => 'CAST(%s AS INTEGER)' } qw(int time));
    return join ', ', map { sprintf("$form{ $_->{type} } AS %s", "$value->>'$_->{name}'", $_->{name}) } @members;
}

# @OF(record, value, alias): a JSON object as a row of a table.
sub one_record {
    my ($where, $driver, $record, $value, $alias) = @_;
    my @members = members_of($where, $record);
    return "json_to_record($value) AS $alias(" . fields(@members) . ')' if $driver eq 'pgsql';
    my ($argument) = $value =~ /^:(\w+)$/ or die "$where: $value is no argument\n";
    return '(SELECT ' . values_of($argument, @members) . " FROM a) AS $alias";
}

# @EACH(record, value, alias): a JSON array of objects as a table, with their numbers from 1.
sub each_record {
    my ($where, $driver, $record, $value, $alias) = @_;
    my @members = members_of($where, $record);
    my $names = join ', ', map { $_->{name} } @members;
    return "ROWS FROM (json_to_recordset($value) AS (" . fields(@members) . ")) WITH ORDINALITY AS $alias($names, nth)"
        if $driver eq 'pgsql';
    my $list = $value =~ s/^(:\w+)->'(\w+)'$/$1, '\$.$2'/r;
    return '(SELECT key + 1 AS nth, ' . values_of('value', @members) . " FROM json_each($list)) AS $alias";
}

1;
