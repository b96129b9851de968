# SPDX-License-Identifier: Apache-2.0
# SQL is only in .sql files and not in C, and both databases have the same statements.
use strict;
use warnings;
use lib 't/lib';
use Digest::SHA 'sha256_hex';
use Sigreq::Source qw(files slurp code);
use Test::More;

my $sql =
    qr/\b(?:SELECT\s|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|(?:CREATE|ALTER|DROP)\s+(?:TABLE|INDEX|FUNCTION)|
    BEGIN\b|COMMIT\b|ROLLBACK\b|PRAGMA\b)/x;
for my $file (files('src/**/*.c'), 'mod_sigreq.c') {
    my @found = grep {/$sql/} code($file) =~ /"((?:[^"\\\n]|\\.)*)"/g;
    ok(!@found, "$file holds no SQL") or diag(join "\n", @found);
}
unlike('"nothing to select"', $sql, 'words are no SQL');
like('SELECT 1', $sql, 'SQL is');

sub operations {    # their signatures, a line each
    my $text = shift =~ s/\n-- {4,}(?=\S)/ /gr;
    return join "\n", sort($text =~ /^-- \@op (\w+\(.*?\) → .*?)(?: write(?: unsynced)?)?$/mg);
}
my %names = map { $_ => operations(all($_)) } qw(pgsql sqlite3);
like($names{pgsql}, qr/^submission_create\(token_hash hash, .*\) → ok /m, 'the operations were found');
is($names{sqlite3}, $names{pgsql}, 'the same operations on both databases, with the same signatures');
my @times = join("\n", map { all($_) } qw(common pgsql sqlite3)) =~ /\bexpires_at IS NULL OR\b/g;
is(scalar @times, 1, 'whose token it is, and whether it is valid, is a macro for both databases');
my %common = map { $_ => 1 } all('common') =~ /^-- \@op (\w+)/mg;
for my $driver (qw(pgsql sqlite3)) {
    my @both = grep { $common{$_} } all($driver) =~ /^-- \@op (\w+)/mg;
    ok(!@both, "$driver: no operation that is written for both databases") or diag("@both");
    my @inserts = (all('common') . all($driver)) =~ /\bINSERT INTO (?:sigreq\.)?job\s*\([^)]*\bevent,/g;
    is(scalar @inserts, 3, "$driver: deliveries are inserted for new events, for repetitions and for test calls alone");
}
files("conf/schema/$_/0001_*.sql") for qw(pgsql sqlite3);
for my $file (files('conf/schema/*/*.sql')) {
    unlike(slurp($file), qr/^CREATE (?:OR REPLACE )?(?:FUNCTION|VIEW|PROCEDURE|TRIGGER)\b/m,
        "$file: tables and indexes alone; functions and views are in src/store");
}

# The members of rows that are JSON are named by the views, and read by src/model/record.c.
my $views = join "\n", slurp('src/store/common/submissions.sql') =~ /^CREATE VIEW \w+_row AS\n(.*?)\n\n/msg;
my %written = map { $_ => 1 } $views =~ /'(\w+)',/g;
my @read = slurp('src/model/record.c') =~ s/^#define.*//gmr
    =~ /\b(?:(?:TEXT|NUMBER|TRUTH)\(|(?:sr_json_string|record_number|json_object_get)\(\w+, ")(\w+)/g;
cmp_ok(scalar @read, '>', 50, 'members that record.c reads were found');
is_deeply([grep { !$written{$_} } @read], [], 'record.c reads only members that the rows have');

# Frozen migrations never change: conf/schema/frozen is what `sha256sum conf/schema/*/*.sql` printed when they were
# frozen (see docs/decisions/0008-two-databases-sql-files.md).
sub thawed {    # what is wrong, given the list and the hashes of the files
    my ($list, %now) = @_;
    my %frozen = reverse $list =~ /^([0-9a-f]{64}) [ *](\S+)$/mg;
    my %last;
    for (keys %frozen) {
        my ($driver, $number) = numbers($_);
        $last{$driver} = $number if $number > ($last{$driver} // 0);
    }
    my @wrong = map {"$_ has changed"} grep { ($now{$_} // '') ne $frozen{$_} } keys %frozen;
    for my $path (grep { !$frozen{$_} } keys %now) {
        my ($driver, $number) = numbers($path);
        push @wrong, "$path is below a frozen number" if $number <= ($last{$driver} // 0);
    }
    return join ', ', sort @wrong;
}
sub numbers { return $_[0] =~ m{(\w+)/(\d{4})_\w+\.sql$} ? ($1, $2) : die "$_[0]: no migration\n" }

my ($x, $y) = ('a' x 64, 'b' x 64);
my $list = "$x  conf/schema/pgsql/0001_tables.sql\n";
my ($first, $below, $next) = map {"conf/schema/pgsql/$_.sql"} qw(0001_tables 0001_new 0002_new);
is(thawed($list, $first => $x),               '',                               'frozen: the same');
is(thawed($list, $first => $x, $next => $y),  '',                               'and a new one');
is(thawed($list, $first => $y),               "$first has changed",             'changed');
is(thawed($list),                             "$first has changed",             'removed');
is(thawed($list, $first => $x, $below => $y), "$below is below a frozen number", 'a number that was given');
is(thawed(slurp('conf/schema/frozen'), map { $_ => sha256_hex(slurp($_)) } files('conf/schema/*/*.sql')),
    '', 'frozen migrations are as they were');
done_testing;

sub all { return join "\n", map { slurp($_) } files("src/store/$_[0]/*.sql") }
