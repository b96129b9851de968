# SPDX-License-Identifier: Apache-2.0
# tools/sql2c reports mistakes in the .sql files by file and line, and prints the same table each time.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use Test::More;

my $here = abs_path('.');
my $sql = 'src/store/sqlite3/engine.sql';
my $rows = 'src/store/common/engine.sql';
my $writing = 'src/store/common/writing.sql';
my $common = 'src/store/common/tokens.sql';
my $tokens = 'src/store/sqlite3/tokens.sql';
my $jobs = 'src/store/sqlite3/jobs.sql';
my $submissions = 'src/store/sqlite3/submissions.sql';
my $functions = 'src/store/pgsql/tokens.sql';

my $copy = tempdir(CLEANUP => 1);
system("cd '$here' && tar -cf - src/store conf/schema | tar -xf - -C '$copy'") == 0 or die "copy failed\n";

# Runs it over a copy of the sources, changed by a function of path and text; (exit code, output, message).
sub sql2c {
    my ($driver, $path, $change) = @_;
    my $text = $path && slurp("$copy/$path");
    if ($path) {
        my $changed = $change->($text);
        $changed ne $text or die "$path: the change changed nothing\n";
        spit("$copy/$path", $changed);
    }
    my $said = `cd '$copy' && '$here/tools/sql2c' $driver 2>error`;
    my $code = $? >> 8;
    spit("$copy/$path", $text) if $path;
    return ($code, $said, slurp("$copy/error"));
}

sub spit { my ($path, $text) = @_; open my $out, '>', $path or die "$path: $!\n"; print $out $text; close $out; return }
sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar(<$in>) // '' }

for my $driver (qw(pgsql sqlite3)) {
    my ($code, $table, $message) = sql2c($driver);
    is($code, 0, "$driver: as it is") or diag($message);
    like($table, qr/const sr_sql_t sr_sql_$driver = \{/, 'it is a table');
    is((sql2c($driver))[1], $table, 'and the same each time');
}

my @cases = (
    ['an operation is missing', $sql, sub { $_[0] =~ s/-- \@op ping.*?\n\n//sr },
        qr{^src/store/sqlite3: missing: \@op PING$}],
    ['an unknown operation', $sql, sub { $_[0] =~ s/\@op ping/\@op pong/r }, qr/^\Q$sql\E:\d+: unknown: op PONG$/],
    ['the same twice', $sql, sub { $_[0] =~ s/\@op ping/\@op token_list/r }, qr/:\d+: op TOKEN_LIST is there twice$/],
    ['a mark that is none', $sql, sub { $_[0] =~ s/\@op ping/\@opp ping/r }, qr/:\d+: not understood: \@opp ping\(/],
    ['an operation without signature', $sql, sub { $_[0] =~ s/\@op ping\(.*/\@op PING 0/r },
        qr/:\d+: not understood: \@op PING 0$/],
    ['an unknown type', $common, sub { $_[0] =~ s/(\@op token_current\(token_hash) hash/$1 hass/r },
        qr/^\Q$common\E:\d+: there is no type hass$/],
    ['an unknown outcome', $common, sub { $_[0] =~ s/(\@op token_current.*) unauthorized/$1 forbidden/r },
        qr/:\d+: there is no outcome forbidden$/],
    ['an unknown row', $common, sub { $_[0] =~ s/(\@op token_current.* ok) token/$1 tokens/r },
        qr/:\d+: there is no row tokens$/],
    ['rows of two kinds', $common, sub { $_[0] =~ s/(\@op token_current.*)/$1 count/r },
        qr/:\d+: an operation gives rows of one kind$/],
    ['a row twice', $rows, sub { $_[0] =~ s/(-- \@row count.*\n)/$1$1/r },
        qr/^\Q$rows\E:\d+: row count is there twice$/],
    ['a macro that is none', $tokens, sub { $_[0] =~ s/\@CALLER\(t\)/\@CALLED(t)/r },
        qr/:\d+: there is no macro CALLED$/],
    ['a macro with other arguments', $tokens, sub { $_[0] =~ s/\@CALLER\(t\)/\@CALLER(t, a)/r },
        qr/:\d+: CALLER takes t$/],
    ['a macro that uses itself', $tokens, sub { $_[0] =~ s/(\@macro TREE\(\))/$1 \@TREE()/r },
        qr/:\d+: a macro uses itself$/],
    ['fewer arguments than in the signature', $jobs,
        sub { $_[0] =~ s/(job_survey.*?)(?=-- Records)/$1 =~ s{\(SELECT %s\)}{(SELECT 1)}gr/ser },
        qr/:\d+: op JOB_SURVEY says 1 arguments, no statement takes them$/],
    ['more arguments than in the signature', $jobs,
        sub { $_[0] =~ s/(job_survey.*?)\(SELECT %s\)/$1(SELECT %s, %s)/sr },
        qr/:\d+: 2 arguments, its \@op line says 1$/],
    ['an unknown argument', $common, sub { $_[0] =~ s/:uuid/:uid/r },
        qr/^\Q$common\E:\d+: the operation has no argument uid$/],
    ['a member of an unknown type', $writing, sub { $_[0] =~ s/(-- \@type timer \{kind) text/$1 texts/r },
        qr/^\Q$writing\E:\d+: there is no type texts$/],
    ['a type twice', $writing, sub { $_[0] =~ s/(-- \@type timer.*\n)/$1$1/r },
        qr/^\Q$writing\E:\d+: type timer is there twice$/],
    ['a table of an unknown type', $writing, sub { $_[0] =~ s/\@EACH\(timer/\@EACH(timers/r },
        qr/:\d+: there is no type timers$/],
    ['a macro twice', $common, sub { $_[0] =~ s/(-- \@macro ITS.*\n)/$1$1/r },
        qr/^\Q$common\E:\d+: macro ITS is there twice$/],
    ['the signatures differ', $tokens, sub { $_[0] =~ s/(\@op token_list.*) \| unauthorized/$1/r },
        qr/^\S+:\d+: TOKEN_LIST is \(.*\) → ok token\[\] \| unauthorized, \S+:\d+ says \(.*\) → ok token\[\]$/],
    ['the arguments differ', $tokens, sub { $_[0] =~ s/(\@op token_used\(.*), day time/$1/r =~ s/:day/:now/gr },
        qr/:\d+: TOKEN_USED takes \d arguments, \S+:\d+ says \d$/],
    ['a row for one database', $sql, sub { $_[0] =~ s/(-- \@op ping)/-- \@row x {y int}\n$1/r },
        qr/^\Q$sql\E:\d+: rows are for both databases$/],
    ['a percent sign', $sql, sub { $_[0] =~ s/(\@op ping.*?)'ok'/$1'%d'/sr }, qr/:\d+: write %% for a percent sign$/],
    ['several statements that write without saying so', $tokens, sub { $_[0] =~ s/(\@op token_revoke.*) write/$1/r },
        qr/:\d+: op TOKEN_REVOKE has several statements that do more than read, and is no "write"$/],
    ['a condition on an argument that is none', $submissions, sub { $_[0] =~ s/\@if timers/\@if timer/r },
        qr/^\Q$submissions\E:\d+: the operation has no argument timer that may be NULL$/],
    ['a condition on an argument that is always there', $submissions, sub { $_[0] =~ s/\@if timers/\@if blobs/r },
        qr/:\d+: the operation has no argument blobs that may be NULL$/],
    ['an answer that may be skipped', $submissions,
        sub { $_[0] =~ s/-- \@outcome\n(SELECT 'ok'\n)/-- \@if timers\n-- \@outcome\n$1/r },
        qr/:\d+: the last statement of op SUBMISSION_CREATE must be the \@answer$/],
    ['no answer', $common, sub { $_[0] =~ s/-- \@outcome\n(SELECT 'unauthorized')/$1/r },
        qr/:\d+: the last statement of op TOKEN_CURRENT must be the \@answer$/],
    ['the same definition twice', $common, sub { $_[0] =~ s/(CREATE VIEW token_row.*?\n\n)/$1$1/sr },
        qr/^\Q$common\E:\d+: token_row is there twice$/],
    ['a table among the operations', $common, sub { $_[0] =~ s/CREATE VIEW/CREATE TABLE/r },
        qr/^\Q$common\E:\d+: only CREATE FUNCTION and CREATE VIEW, tables are in conf.schema$/],
    ['a definition within an operation', $tokens, sub { $_[0] =~ s/-- \@answer\n/-- \@answer\nCREATE VIEW x AS\n/r },
        qr/^\Q$tokens\E:\d+: a definition has no marks but a signature$/],
    ['a semicolon', 'conf/schema/sqlite3/0001_tables.sql', sub { $_[0] =~ s/STRICT\n/STRICT;\n/r },
        qr{^conf/schema/sqlite3/0001_tables.sql:\d+: a statement ends at a blank line}],
    ['a parameter of another type', $functions,
        sub { $_[0] =~ s/(FUNCTION sigreq.token_revoke\(.*p_uuid) uuid/$1 text/r },
        qr/^\Q$functions\E:\d+: token_revoke has p_uuid text for uuid uuid$/],
    ['a named statement that is not the first', $common, sub { $_[0] =~ s/(-- \@outcome\n)/-- \@named\n$1/r },
        qr/^\Q$common\E:\d+: \@named belongs to the first \@answer of an operation for both databases$/],
    ['a named statement for one database', $tokens, sub { $_[0] =~ s/(-- \@answer\n)/-- \@named\n$1/r },
        qr/^\Q$tokens\E:\d+: \@named belongs to the first \@answer of an operation for both databases$/],
    ['a named definition', $common, sub { $_[0] =~ s/(CREATE VIEW)/-- \@named\n$1/r },
        qr/^\Q$common\E:\d+: a definition has no marks but a signature$/],
    ['a parameter more', $functions,
        sub { $_[0] =~ s/(FUNCTION sigreq.token_revoke\(.*p_children boolean)/$1, p_x text/r },
        qr/^\Q$functions\E:\d+: token_revoke has p_x text, which the signature has not$/],
    ['a function of another name', $functions, sub { $_[0] =~ s/(FUNCTION sigreq.token_)list/$1lists/r },
        qr/^\Q$functions\E:\d+: /],
    ['other columns than the row has', $functions,
        sub { $_[0] =~ s/(sigreq.token_list.*?RETURNS) \@ROWS/$1 TABLE (outcome text, id int, name text)/sr },
        qr/^\Q$functions\E:\d+: token_list returns outcome id name, and its row is outcome id uuid /],
);
for my $case (@cases) {
    my ($name, $path, $change, $expected) = @$case;
    my ($code, $table, $message) = sql2c('sqlite3', $path, $change);
    isnt($code, 0, "$name: it fails");
    like($message, $expected, 'and says where');
}
isnt(system("tools/sql2c oracle >/dev/null 2>&1"), 0, 'an unknown driver fails');
done_testing;
