# SPDX-License-Identifier: Apache-2.0
# The lists of src/model/names.def stand in openapi.json and in the tables of both databases, too.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files slurp);
use Test::More;

my $words = slurp('src/model/names.def');
my $api   = slurp('src/api/openapi.json');
for (['SR_STATUS', 'status'], ['SR_NOTICE', 'event']) {
    my ($macro, $column) = @$_;
    my @names = $words =~ /^$macro\((\w+)\)$/mg;
    cmp_ok(scalar @names, '>', 3, "$macro has words");
    my $json = '"enum": [' . join(', ', map { qq("$_") } @names) . ']';
    ok(index($api, $json) >= 0, "$macro is an enum of openapi.json") or diag $json;
    for my $driver (qw(pgsql sqlite3)) {
        my $sql = join '', map { slurp($_) } files("conf/schema/$driver/*.sql");
        my ($list) = $sql =~ /^\s+$column \w+.*CHECK \($column IN \(([^)]*)\)\)/m;
        is($list, join(', ', map { "'$_'" } @names), "$macro is what $column may be in $driver");
    }
}
done_testing;
