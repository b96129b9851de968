# SPDX-License-Identifier: Apache-2.0
# tools/sql2c names what is wrong with the .sql files by file and line, and prints the same table each time.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use Test::More;

my $here = abs_path('.');
my $sql = 'src/store/sqlite3/engine.sql';
my $tokens = 'src/store/sqlite3/tokens.sql';

# Runs it over a copy of the sources, changed by a function of path and text; (exit code, output, message).
sub sql2c {
    my ($driver, $path, $change) = @_;
    my $copy = tempdir(CLEANUP => 1);
    system("cd '$here' && tar -cf - src/store conf/schema | tar -xf - -C '$copy'") == 0 or die "copy failed\n";
    if ($path) {
        my $text = slurp("$copy/$path");
        my $changed = $change->($text);
        $changed ne $text or die "$path: the change changed nothing\n";
        open my $out, '>', "$copy/$path" or die "$path: $!\n";
        print $out $changed;
        close $out;
    }
    my $said = `cd '$copy' && '$here/tools/sql2c' $driver 2>error`;
    return ($? >> 8, $said, slurp("$copy/error"));
}

sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar(<$in>) // '' }

for my $driver (qw(pgsql sqlite3)) {
    my ($code, $table, $message) = sql2c($driver);
    is($code, 0, "$driver: as it is") or diag($message);
    like($table, qr/const sr_sql_t sr_sql_$driver = \{/, 'it is a table');
    is((sql2c($driver))[1], $table, 'and the same each time');
}

my @cases = (
    ['an operation is missing', $sql, sub { $_[0] =~ s/-- \@op PING 0\n.*?\n\n//sr },
        qr{^src/store/sqlite3: missing: \@op PING$}],
    ['an unknown operation', $sql, sub { $_[0] =~ s/\@op PING/\@op PONG/r }, qr/^\Q$sql\E:\d+: unknown: op PONG$/],
    ['the same twice', $sql, sub { $_[0] =~ s/\@op PING/\@op TOKEN_GET/r }, qr/:\d+: op TOKEN_GET is there twice$/],
    ['a mark that is none', $sql, sub { $_[0] =~ s/\@op PING/\@opp PING/r }, qr/:\d+: not understood: \@opp PING 0$/],
    ['more arguments than declared', $tokens, sub { $_[0] =~ s/\@op TOKEN_CURRENT 2/\@op TOKEN_CURRENT 1/r },
        qr/:\d+: 2 arguments, its \@op line says 1$/],
    ['fewer arguments than declared', $tokens, sub { $_[0] =~ s/\@op TOKEN_CURRENT 2/\@op TOKEN_CURRENT 3/r },
        qr/:\d+: op TOKEN_CURRENT says 3 arguments, no statement takes them$/],
    ['the drivers differ', $sql, sub { $_[0] =~ s/\@op PING 0(.*?)SELECT 'ok'/\@op PING 1$1SELECT %s/sr },
        qr/^\S+:\d+: PING takes \d arguments, \S+:\d+ says \d$/],
    ['a percent sign', $sql, sub { $_[0] =~ s/(\@op PING.*?)'ok'/$1'%d'/sr }, qr/:\d+: write %% for a percent sign$/],
    ['several statements that are no write', $tokens, sub { $_[0] =~ s/(\@op TOKEN_REVOKE 4) write/$1/r },
        qr/:\d+: op TOKEN_REVOKE has several statements and is no "write"$/],
    ['no answer', $tokens, sub { $_[0] =~ s/-- \@answer\n(SELECT 'unauthorized')/$1/r },
        qr/:\d+: the last statement of op WEBHOOK_SET must be the \@answer$/],
    ['the same definition twice', $tokens, sub { $_[0] =~ s/(CREATE VIEW token_row.*?\n\n)/$1$1/sr },
        qr/^\Q$tokens\E:\d+: token_row is there twice$/],
    ['a table among the operations', $tokens, sub { $_[0] =~ s/CREATE VIEW/CREATE TABLE/r },
        qr/^\Q$tokens\E:\d+: only CREATE FUNCTION and CREATE VIEW, tables are in conf.schema$/],
    ['a definition within an operation', $tokens, sub { $_[0] =~ s/-- \@answer\n/-- \@answer\nCREATE VIEW x AS\n/r },
        qr/^\Q$tokens\E:\d+: a definition has no marks$/],
    ['a semicolon', 'conf/schema/sqlite3/0001_tables.sql', sub { $_[0] =~ s/STRICT\n/STRICT;\n/r },
        qr{^conf/schema/sqlite3/0001_tables.sql:\d+: a statement ends at a blank line}],
);
for my $case (@cases) {
    my ($name, $path, $change, $expected) = @$case;
    my ($code, $table, $message) = sql2c('sqlite3', $path, $change);
    isnt($code, 0, "$name: it fails");
    like($message, $expected, 'and says where');
}
isnt(system("tools/sql2c oracle >/dev/null 2>&1"), 0, 'an unknown driver fails');
done_testing;
