# SPDX-License-Identifier: Apache-2.0
# Bench::Fill: many submissions in a database, by SQL: copies of the one made through the API, rows of all its tables,
# with uuids of their own and a second between two of them. What the tables' columns are is asked, not known.
package Bench::Fill;
use strict;
use warnings;
use Bench::Server;
use JSON::PP 'decode_json';

my $uuid = qr/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

my %drivers = (
    pgsql => {
        schema => 'sigreq.', uuid => 'gen_random_uuid()', series => 'generate_series(1, %d) AS s(value)',
        text => '%s::text', keep_ids => 'OVERRIDING SYSTEM VALUE', run => \&psql, rows => \&psql_rows,
        before => "SET session_replication_role = replica;\nSET synchronous_commit = off;\nSET work_mem = '256MB';\n",
        after => "SELECT setval(pg_get_serial_sequence('sigreq.submission', 'id'), max(id)) FROM sigreq.submission;\n"
            . "VACUUM (ANALYZE);\nCHECKPOINT;\n",
    },
    sqlite3 => {
        schema => '', series => 'generate_series(1, %d) AS s', text => '%s', keep_ids => '', run => \&sqlite3,
        rows => \&sqlite3_rows,
        uuid => "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a'"
            . " || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))",
        before => "PRAGMA foreign_keys = OFF;\nPRAGMA synchronous = OFF;\nPRAGMA cache_size = -1000000;\n"
            . "PRAGMA temp_store = MEMORY;\nPRAGMA journal_mode = OFF;\nBEGIN;\n",
        after => "COMMIT;\nANALYZE;\nPRAGMA journal_mode = WAL;\n",
    });

# fill(server, host, rows in the end, uuids wanted, [CODE: uuid of the one there is → SQL of a copy's, which is number
# `value`]): afterwards $host->{uuids} is a file of so many uuids, at random.
sub fill {
    my ($server, $host, $rows, $sample, $copy) = @_;
    my $driver = $drivers{ $host->{driver} };
    my $view = $driver->{rows}->($server, $host, "SELECT * FROM $driver->{schema}submission")->[0];
    my %number; # uuid → its column in the table of new uuids
    for my $old (map { value_uuids($_) } values %$view) {
        $number{$old} = keys %number unless exists $number{$old};
    }
    my $tables = join '', map { copies($server, $host, $_, \%number, $rows - 1) } qw(submission signer document);
    $copy //= sub { $driver->{uuid} };
    my $columns = join ', ', map { $copy->($_) . " AS u$number{$_}" } sort keys %number;
    my $series = sprintf $driver->{series}, $rows - 1;
    my $fresh = "CREATE TEMP TABLE fresh AS SELECT value AS n, $columns FROM $series;\n";
    $driver->{run}->($server, $host, $driver->{before} . $fresh . $tables . $driver->{after});
    my $choose = "SELECT uuid FROM $driver->{schema}submission ORDER BY random() LIMIT $sample;";
    my $list = $driver->{run}->($server, $host, $choose);
    my @found = $list =~ /^($uuid)$/mg;
    my $expected = $rows < $sample ? $rows : $sample;
    die "filling gave " . @found . " uuids, not $expected\n" unless @found == $expected;
    $host->{uuids} = Bench::Server::spew("$server->{dir}/uuids-$host->{name}", $list);
}

sub value_uuids { return defined $_[0] ? $_[0] =~ /($uuid)/g : () }

# INSERT … SELECT: each row of the table once per new submission.
sub copies {
    my ($server, $host, $table, $number, $copies) = @_;
    my $driver = $drivers{ $host->{driver} };
    my $sql = '';
    for my $row (@{ $driver->{rows}->($server, $host, "SELECT * FROM $driver->{schema}$table") }) {
        my @columns = sort keys %$row;
        my @values = map { value_of($driver, $_, $row->{$_}, $number, $copies) } @columns;
        $sql .= "INSERT INTO $driver->{schema}$table (" . join(', ', @columns) . ") $driver->{keep_ids}"
            . ' SELECT ' . join(', ', @values)
            . " FROM $driver->{schema}$table AS t, fresh WHERE t.uuid = '$row->{uuid}' ORDER BY n;\n";
    }
    return $sql;
}

sub value_of {
    my ($driver, $column, $value, $number, $copies) = @_;
    return "t.$column" unless defined $value;
    return "t.$column + fresh.n" if $column eq 'id' || $column eq 'submission_id';
    return "t.$column - CAST($copies - fresh.n AS bigint) * 1000000" if $column =~ /^(created|updated)_at$/;
    return "fresh.u$number->{$value}" if exists $number->{$value};
    my $text = "t.$column";
    my %seen;
    for my $old (grep { exists $number->{$_} && !$seen{$_}++ } value_uuids($value)) {
        $text = "replace($text, '$old', " . sprintf($driver->{text}, "fresh.u$number->{$old}") . ')';
    }
    return $text;
}

# --- the two databases

sub psql { my ($server, $host, $sql) = @_; return $server->psql($host->{database}, $sql) }

sub psql_rows {
    my ($server, $host, $sql) = @_;
    my $json = $server->psql($host->{database}, "SELECT json_agg(row_to_json(r)) FROM ($sql) r;");
    return decode_json($json);
}

sub sqlite3 {
    my ($server, $host, $sql) = @_;
    my $file = Bench::Server::spew("$server->{dir}/statements.sql", $sql);
    return Bench::Server::said('sqlite3', 'sqlite3', '-batch', '-bail', $host->{params}, ".read $file");
}

sub sqlite3_rows {
    my ($server, $host, $sql) = @_;
    return decode_json(Bench::Server::said('sqlite3', 'sqlite3', '-json', $host->{params}, $sql));
}

1;
