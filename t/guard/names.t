# SPDX-License-Identifier: Apache-2.0
# The names of src/model/names.def are in openapi.json, too. Kinds and states (src/model/states.c) are in the tables of
# both databases. No seed of a fuzz target has the name that libFuzzer gives it, a hash. The name of a test is a
# sentence, and does not begin with dots.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files slurp);
use Test::More;

my $words = slurp('src/model/names.def');
my $api   = slurp('src/api/openapi.json');
my %tables = map {
    my $driver = $_;
    $driver => join '', map { slurp($_) } files("conf/schema/$driver/*.sql")
} qw(pgsql sqlite3);
for (['SR_STATUS'], ['SR_FILTER'], ['SR_NOTICE', 'event']) {
    my ($macro, $column) = @$_;
    my @names = $words =~ /^$macro\((\w+)\)$/mg;
    cmp_ok(scalar @names, '>', 3, "$macro has words");
    my $json = '"enum": [' . join(', ', map { qq("$_") } @names) . ']';
    ok(index($api, $json) >= 0, "$macro is an enum of openapi.json") or diag $json;
    next unless $column;
    for my $driver (sort keys %tables) {
        my $list = ($tables{$driver} =~ /CHECK \($column IN \(([^)]*)\)\)/g)[-1];    # the last migration's
        my @columns = grep { !/^(?:reminder|copy|view)$/ } @names;    # whose rows are invitations of these kinds
        is($list, join(', ', map { "'$_'" } @columns), "$macro is what $column may be in $driver");
    }
}
my $states = slurp('src/model/states.c');
for my $table (qw(signer submission)) {
    my ($list) = $states =~ /\*const ${table}_names\[\w+\] = \{([^}]*)\}/;
    my @names = ($list // '') =~ /"(\w+)"/g;
    cmp_ok(scalar @names, '>', 5, "$table has states");
    for my $driver (sort keys %tables) {
        my ($columns) = $tables{$driver} =~ /^CREATE TABLE (?:sigreq\.)?$table \((.*?)^\)/ms;
        # later migrations replace the condition, in SQLite its text
        my $text = qr/'((?:[^']|'')*)'/;
        my ($old, $new) = $tables{$driver} =~ /replace\(sql, $text, $text\)\nWHERE type = 'table' AND name = '$table'/;
        if ($old) { s/''/'/g for $old, $new; $columns =~ s/\Q$old\E/$new/ }
        my ($later) = $tables{$driver} =~ /CONSTRAINT ${table}_state_check\s+(CHECK \(state IN \([^)]*\)\))/;
        my ($check) = ($later // $columns) =~ /CHECK \(state IN \(([^)]*)\)\)/;
        is($check, join(', ', map { "'$_'" } @names), "they are what its state may be in $driver");
    }
}
my @hashes = grep {m{/[0-9a-f]{40}\z}} files('t/fuzz/corpus/*/*');
is("@hashes", '', 'seeds of fuzz targets are named by what they show');
my @dotted = grep { slurp($_) =~ /["'](?:\xe2\x80\xa6|[.]{3}) / } files('t/*/*.t', 't/unit/*.[ch]');
is("@dotted", '', 'no name of a test begins with dots');
done_testing;
