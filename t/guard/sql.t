# SQL lives in .sql files: none in C, and both databases have the same statements.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files slurp code);
use Test::More;

my $sql =
    qr/\b(?:SELECT\s|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|(?:CREATE|ALTER|DROP)\s+(?:TABLE|INDEX|FUNCTION)|
    BEGIN\b|COMMIT\b|ROLLBACK\b|PRAGMA\b)/x;
for my $file (files('src/*/*.c'), 'mod_sigreq.c') {
    my @found = grep {/$sql/} code($file) =~ /"((?:[^"\\\n]|\\.)*)"/g;
    ok(!@found, "$file holds no SQL") or diag(join "\n", @found);
}
unlike('"nothing to select"', $sql, 'words are no SQL');
like('SELECT 1', $sql, 'SQL is');

my %names =
    map { my $driver = $_; $driver => join "\n", sort(all($driver) =~ /^-- \@op (\w+ \d+)/mg) } qw(pgsql sqlite3);
like($names{pgsql}, qr/^SUBMISSION_CREATE 1$/m, 'the operations were found');
is($names{sqlite3}, $names{pgsql}, 'the same operations on both databases, with as many arguments');
files("conf/schema/$_/0001_*.sql") for qw(pgsql sqlite3);
for my $file (files('conf/schema/*/*.sql')) {
    unlike(slurp($file), qr/^CREATE (?:OR REPLACE )?(?:FUNCTION|VIEW|PROCEDURE|TRIGGER)\b/m,
        "$file: tables and indexes alone; functions and views are in src/store");
}
done_testing;

sub all { return join "\n", map { slurp($_) } files("src/store/$_[0]/*.sql") }
