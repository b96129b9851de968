# SPDX-License-Identifier: Apache-2.0
# sigreqctl as administrators and scripts use it: help, exit codes, --json, and finding the database. On SQLite, and on
# PostgreSQL if SIGREQ_TEST_PGSQL has the DBDParams of a database whose schema `sigreq` may be dropped.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use IO::Socket::INET;
use JSON::PP;
use POSIX ();
use Test::More;

my $program = abs_path('build/sigreqctl') // '';
-x $program or die "build/sigreqctl is not there: run make\n";
my $folder = tempdir('sigreq-ctl.XXXXXX', TMPDIR => 1, CLEANUP => 1);
delete $ENV{SIGREQ_CONFIG};

# Runs it: (exit code, stdout, stderr).
sub run {
    my @arguments = @_;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDIN,  '<', '/dev/null'     or die;
        open STDOUT, '>', "$folder/out"   or die;
        open STDERR, '>', "$folder/error" or die;
        exec $program, @arguments or die;
    }
    waitpid $pid, 0;
    return ($? & 127 ? "signal $?" : $? >> 8, map { slurp("$folder/$_") } qw(out error));
}

sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar(<$in>) // '' }
sub spit { my ($path, $text) = @_; open my $out, '>', $path or die "$path: $!\n"; print $out $text; close $out; $path }

# Runs it and expects an exit code; what it said.
sub exits {
    my ($code, $name, @arguments) = @_;
    my ($got, $out, $error) = run(@arguments);
    is($got, $code, $name) or diag($out, $error);
    if ($code && $code != 1) {
        is($out, '', "$name: stdout is empty");
        like($error, qr/^sigreqctl: \S/, "$name: stderr gives a reason");
    }
    return ($out, $error);
}

sub json { my ($name, @arguments) = @_; return decode_json((exits(0, $name, '--json', @arguments))[0]) }

# --- help
delete $ENV{COLUMNS};
my ($out) = exits(0, '--help succeeds', '--help');
is(join("\n", grep { length > 80 } split /\n/, $out), '', 'no line of help is longer than 80 columns');
like($out, qr/^Examples:\n    sigreqctl org create/m, 'help has examples');
is((exits(0, 'help succeeds', 'help'))[0], $out, 'help prints the same as --help');
{
    local $ENV{COLUMNS} = 1000;
    unlike((exits(0, '--help reads COLUMNS', '--help'))[0], qr/^ {32}\S/m, 'no line is wrapped at 1000 columns');
}
my @commands = ('config', 'db init', 'db upgrade', 'db status', 'org create', 'org list', 'org show', 'org quota',
    'org rename', 'org delete', 'user create', 'user list', 'user disable', 'user enable', 'user delete',
    'user rename', 'token create', 'token list', 'token rotate', 'token revoke', 'token webhooks',
    'submission list', 'submission show', 'submission cancel', 'submission extend', 'submission resend',
    'submission replace', 'stats', 'submission hold', 'submission release', 'submission delete', 'export',
    'delivery list', 'delivery redeliver', 'gc', 'check', 'documents adopt', 'db copy', 'backup', 'doctor',
    'org seal', 'seal create', 'seal show', 'verify');
for my $command (@commands) {
    like($out, qr/^  sigreqctl $command\b/m, "help names $command");
    my ($one) = exits(0, "$command --help succeeds", split(/ /, $command), '--help');
    like($one, qr/^Usage:\n  sigreqctl $command\b/m, "help shows the usage of $command");
    like($one, qr/^Exit codes: 0 \w/m, "help of $command shows the exit codes");
    is(join("\n", grep { length > 80 } split /\n/, $one), '', "no line of help of $command is longer than 80 columns");
}
($out) = exits(0, 'token --help succeeds', 'token', '--help');
like($out, qr/\(ps\).*--config.*PGPASSFILE.*service=/s, 'help says where to put a password');
like($out, qr/token create.*token list.*token revoke/s, 'help of a group lists its commands');
unlike($out, qr/org create/, 'help of a group lists no other commands');
is((exits(0, 'help token succeeds', 'help', 'token'))[0], $out, 'help token is the same as token --help');
my ($short) = exits(0, 'token -h succeeds', 'token', '-h');
is($short, $out, '-h is the same as --help');
my ($version) = slurp('include/mod_sigreq.h') =~ /MOD_SIGREQ_VERSION "(.*)"/;
is((exits(0, '--version succeeds', '--version'))[0], "sigreqctl $version\n", '--version prints the version');
is((exits(0, 'version succeeds', 'version'))[0], "sigreqctl $version\n", 'version prints the version');
my ($code, $nothing, $text) = run();
is($code, 2, 'without a command the exit code is that of a usage error');
like($text, qr/^Usage:/m, 'without a command help is printed');

# --- wrong command lines
my @db = ('--driver', 'sqlite3', '--params', "$folder/a.db");
my @wrong = (
    [['token'], 'token needs one of: create, list, rotate, revoke, webhooks'],
    [['frobnicate'], 'there is no command frobnicate'], [['org', 'nosuch'], 'there is no command org nosuch'],
    [['org', 'list', '--nosuch'], 'there is no option --nosuch'], [['org', 'list', '-x'], 'no option -x'],
    [['org', 'create'], '--name is required'], [['org', 'create', '--name'], '--name needs a value'],
    [['org', 'create', ' '], '--name must not be blank'], [['org', 'create', "a\nb"], 'control characters'],
    [['org', 'create', "\xff"], 'UTF-8'], [['org', 'create', 'a' x 501], 'at most 500'],
    [['org', 'create', 'a', 'b'], 'unexpected argument: b'],
    [['org', 'create', 'a', '--email', 'x@y.z'], 'does not belong'],
    [['org', 'create', '--name', 'b', '--name', 'c'], 'given twice'],
    (map { [['org', 'create', 'a', '--quota', $_], 'a number from 0'] } '-1', '', '9' x 30, '5 ', '0x5', '1.5'),
    [['org', 'quota', 'a'], '--quota is required'],
    (map { [['user', 'create', 'a', 'Ann', 'Lee', $_], 'email'] } 'ann', 'ann@x', '@x.org', 'ann@x.', 'a nn@x.org',
        'ann@@x.org', 'ann@.org'),
    [['token', 'create', 'a', 'u', 'live', 'n'], 'test or production'],
    [['token', 'create', 'a', 'u', 'test', 'n', '--expires', 'tomorrow'], 'must be a date'],
    [['token', 'create', 'a', 'u', 'test', 'n', '--expires', '2001-01-01'], 'in the past'],
    [['token', 'revoke', 'first'], 'must be a uuid'],
    (map { [['token', 'list', '--expiring', $_], 'a number of days or hours'] } '30', 'd', '0d', '-1d', '1.5d', '1w',
        '9' x 30 . 'd', '36501d'),
    [['token', 'revoke'], '--uuid, --user or --organization'],
    [['token', 'revoke', '--children', '--user', 'a'], 'name one token'],
    [['user', 'rename', 'a@x.org'], '--firstname, --lastname or --email is required'],
    [['org', 'rename', 'a'], '--name is required'], [['user', 'delete'], '--user is required'],
    [['org', 'list', '--json=yes'], 'has no value'],
    [['submission', 'list', '--status', 'sent'], 'must be open, completed'],
    (map { [['submission', 'list', $_, 'yesterday'], "$_ must be a date"] } '--from', '--to'),
    [['submission', 'list', '--signer', 'Ann'], '--signer must be of the form'],
    [['submission', 'list', '--fro', '/a'], '--from must be'],
    [['documents', 'copy', '--from', '/a'], '--to is required'],
    (map { [['delivery', 'list', '--limit', $_], 'from 1 to 10000'] } '0', '10001', 'x'),
    [['submission', 'hold', 'x'], '--reason is required'], [['submission', 'extend', 'x'], '--expires is required'],
    [['submission', 'replace', 'x', 'a@x.org', 'Bob', 'Kay'], '--email is required'],
    [['export', 'ann@x.org'], '--out is required'], [['export', 'ann', 'x'], '--email must be of the form'],
    [['export', 'ann@x.org', 'x'], 'no folder of documents'],
    [['org', 'delete', 'a', '--erase'], 'no folder of documents'],
    [['submission', 'show', 'x'], 'must be a uuid'], [['gc'], 'no folder of documents'],
    [['gc', '--history-days', '0'], 'must be a number from 1'],
    (map { [['gc', '--unused', $_], 'from 0 to 36500'] } '-1', '', '36501', '9' x 30, 'x', '1d'),
);
exits(0, 'db init makes a database', @db, 'db', 'init');
for my $case (@wrong) {
    my (undef, $error) = exits(2, "'@{$case->[0]}' is rejected", @db, @{ $case->[0] });
    like($error, qr/\Q$case->[1]/, "the message says: $case->[1]");
}

# --- several processes at the same time
sub at_once {    # runs the same COUNT times: their exit codes
    my ($count, @arguments) = @_;
    my @pids = map {
        my $pid = fork // die "fork: $!\n";
        if (!$pid) {
            open STDIN,  '<', '/dev/null' or die;
            open STDOUT, '>', '/dev/null' or die;
            exec $program, @arguments or die;
        }
        $pid;
    } 1 .. $count;
    return map { waitpid $_, 0; $? & 127 ? "signal $?" : $? >> 8 } @pids;
}

for my $round (1 .. 5) {
    my @new = ('--driver', 'sqlite3', '--params', "$folder/new$round.db");
    is(join(' ', at_once(3, @new, 'db', 'upgrade')), '0 0 0', 'three db upgrade at the same time succeed');
    is(json('db status succeeds', @new, 'db', 'status')->{current}, JSON::PP::true, 'the tables are current');
}

# --- killed at any moment (t/unit/store_upgrade.c: at each statement)
sub killed_upgrades {
    my ($fresh, @to) = @_;
    my ($killed, $wrong) = (0, '');
    for my $round (1 .. 12) {
        my @given = map { ref ? $_->($round) : $_ } @to;
        $fresh->($round);
        my $pid = fork // die "fork: $!\n";
        if (!$pid) {
            open STDIN,  '<', '/dev/null' or die;
            open STDOUT, '>', '/dev/null' or die;
            exec $program, @given, 'db', 'upgrade' or die;
        }
        select undef, undef, undef, rand(0.08);
        kill 'KILL', $pid;
        waitpid $pid, 0;
        $killed++ if $?;
        my ($code, $report) = run(@given, '--json', 'db', 'status');
        my $status = $code == 5 ? { version => 0, current => 0 } : decode_json($report);    # 5: no file yet
        $wrong .= " round $round: $report" unless $status->{current} xor $status->{version} == 0;
        ($code) = run(@given, 'db', 'upgrade');
        $wrong .= " round $round: upgrade $code" if $code;
    }
    is($wrong, '', "db upgrade killed $killed times did nothing or everything, and the next one works");
}
killed_upgrades(sub { }, '--driver', 'sqlite3', '--params', sub {"$folder/killed$_[0].db"});

# --- where the database is
(undef, my $error) = exits(2, 'org list needs a database', 'org', 'list');
like($error, qr/--config FILE, or --driver and --params/, 'the message says how to name a database');
exits(5, 'org list needs an existing database', '--driver', 'sqlite3', '--params', "$folder/no.db", 'org', 'list');
ok(!-e "$folder/no.db", 'org list makes no database');
exits(5, 'db init fails if the folder is missing', '--driver', 'sqlite3', '--params', "$folder/no/no.db", 'db', 'init');
exits(2, 'an unknown driver is rejected', '--driver', 'mysql', '--params', 'x', 'org', 'list');
# A server that refuses connections with their number, except the first ones, which it does not answer.
sub with_refusals {
    my ($silent, $code) = @_;
    my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 5) or die "listen: $!\n";
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        my @held;
        while (my $peer = $listener->accept) {
            push @held, $peer;
            next if @held <= $silent;
            sysread $peer, my $startup, 1000;
            my $fields = sprintf "SFATAL\0C57P03\0Mconnection %d\0\0", scalar @held;
            syswrite $peer, 'E' . pack('N', 4 + length $fields) . $fields;
        }
        POSIX::_exit(1);
    }
    $code->($listener->sockport);
    kill KILL => $pid;
    waitpid $pid, 0;
}
with_refusals(1, sub {
    my @to = ('host=127.0.0.1', "port=$_[0]", 'user=a', 'dbname=b', 'sslmode=disable', 'gssencmode=disable');
    my (undef, $why) = exits(5, 'a silent server is an error', '--driver', 'pgsql', '--params',
        "@to connect_timeout=2", 'org', 'list');
    like($why, qr/connection 2$/m, 'a silent server is asked twice');
});
with_refusals(1, sub {
    my (undef, $why) = exits(5, 'a silent server of a URI is an error', '--driver', 'pgsql', '--params',
        "postgresql://a\@127.0.0.1:$_[0]/b?sslmode=disable&gssencmode=disable&connect_timeout=2", 'org', 'list');
    like($why, qr/connection 2$/m, 'a silent server of a URI is asked twice');
});
with_refusals(0, sub {
    my (undef, $why) = exits(5, 'a server that refuses is an error', '--driver', 'pgsql', '--params',
        "postgresql://a\@127.0.0.1:$_[0]/b?sslmode=disable&gssencmode=disable", 'org', 'list');
    like($why, qr/connection 1$/m, 'a server that refuses is asked once');
});
exits(5, 'no server is an error', '--driver', 'pgsql', '--params', "host=$folder connect_timeout=2", 'org', 'list');
exits(2, 'a missing configuration is an error', '--config', "$folder/no.conf", 'org', 'list');
mkdir "$folder/documents";
my $config = spit("$folder/sigreq.conf", <<"CONF");
# DBDriver pgsql
    dbdriver   sqlite3
DBDParams  "$folder/b b.db"
SigreqDocuments '$folder/documents'
CONF
is(json('db init reads --config', '--config', $config, 'db', 'init')->{current}, JSON::PP::true, 'the tables exist');
ok(-e "$folder/b b.db", 'the name of a database may contain a space');
{
    local $ENV{SIGREQ_CONFIG} = $config;
    is(json('gc reads SIGREQ_CONFIG', 'gc')->{kept}, 0, 'gc finds the documents folder');
    exits(5, 'options have precedence over SIGREQ_CONFIG', '--params', "$folder/no.db", 'org', 'list');
}
exits(2, 'a database is needed', '--config', spit("$folder/e.conf", "DBDriver sqlite3\n"), 'org', 'list');

# --- documents that the database does not know
my $hash = 'ab' x 32;
mkdir "$folder/documents/ab";
mkdir "$folder/documents/ab/ab";
my @names  = map {"abab$_"} map { "$_" x 60 . '.0123456789abcdef' } 1 .. 3;
my @stored = map { spit("$folder/documents/ab/ab/$_", 'x' x 10) } @names;
spit("$folder/documents/ab/ab/readme.txt", 'x');
my $freed = json('gc works', '--config', $config, 'gc', '--history-days', '7', '--reserved', 0, '--quarantine-days', 0);
is_deeply([@$freed{qw(kept deleted quarantine_deleted history_deleted)}], [0, 0, 0, 0], 'gc removes no foreign file');
is(scalar(grep { -e } @stored), 3, 'foreign files stay');
($code, my $said, $error) = run('--config', $config, '--json', 'check');
is($code, 1, 'check finds foreign files');
my $found = decode_json($said);
is_deeply([@$found{qw(documents missing damaged foreign)}], [0, 0, 0, 3], 'check counts foreign files');
is_deeply([sort map {"$_->{problem} $_->{key}"} @{ $found->{problems} }], [map {"foreign $_"} @names],
    'check names foreign files');
($code, $said) = run('--config', $config, 'check');
like($said, qr/^foreign +3\n.*^foreign +\Q$names[0]\E +the database does not know this file\n/ms,
    'the text of check counts and names foreign files');
unlink @stored;
is_deeply(json('check succeeds', '--config', $config, 'check')->{problems}, [], 'check finds no problem');

# --- images of pages
mkdir for map {"$folder/documents/cache$_"} '', '/ab', '/ab/ab';
my $image = spit("$folder/documents/cache/ab/ab/$hash.1.0.800.png", 'x' x 10);
my $month = time - 30 * 24 * 3600;
utime $month + 60, $month + 60, $image;
is_deeply([@{ json('gc finds the cache', '--config', $config, 'gc') }{qw(cache_kept cache_deleted)}], [1, 0],
    'an image is kept for 30 days');
is(json('gc --unused succeeds', '--config', $config, 'gc', '--unused', 29, '--dry-run')->{cache_freed_bytes}, 10,
    '--unused 29 deletes an image of 30 days');
utime $month - 60, $month - 60, $image;
is(json('gc finds the cache', '--config', $config, 'gc')->{cache_deleted}, 1, 'gc deletes an image after 30 days');
ok(!-e $image, 'the deleted image is gone');
spit($config, slurp($config) . "SigreqCache $folder/elsewhere\n");
mkdir for map {"$folder/elsewhere$_"} '', '/ab', '/ab/ab';
spit("$folder/elsewhere/ab/ab/$hash.1.0.800.png", 'x');
is(json('gc succeeds', '--config', $config, 'gc', '--unused', 0)->{cache_deleted}, 1, 'gc reads SigreqCache');

# --- the commands, on each database
sub organizations {
    my @to = @_;
    my $org = json('org create succeeds', @to, 'org', 'create', '--name', "Caf\xc3\xa9 \"A\"", '--quota', '5');
    like($org->{uuid}, qr/^[0-9a-f-]{36}$/, 'org create returns a uuid');
    is_deeply([@$org{qw(name quota used)}], ["Caf\xe9 \"A\"", 5, 0], 'org create returns the values');
    like($org->{created_at}, qr/^20\d\d-\d\d-\d\dT[\d:.]+Z$/, 'org create returns the time');
    exits(4, 'org create rejects a name that is taken', @to, 'org', 'create', "Caf\xc3\xa9 \"A\"");
    is(json('org create takes a word', @to, 'org', 'create', 'Org B')->{quota}, undef, 'there is no quota');
    is(json('org quota succeeds', @to, 'org', 'quota', 'Org B', '7')->{quota}, 7, 'the quota is set');
    is(json('org quota takes 0', @to, 'org', 'quota', 'Org B', '0')->{quota}, 0, 'the quota can be 0');
    is(json('unlimited is accepted', @to, 'org', 'quota', $org->{uuid}, 'unlimited')->{quota}, undef,
        'the quota is removed');
    exits(3, 'org quota rejects an unknown organisation', @to, 'org', 'quota', 'nobody', '7');
    is_deeply([map { $_->{name} } @{ json('org list works', @to, 'org', 'list') }], ["Caf\xe9 \"A\"", 'Org B'],
        'both organisations are listed');
    return $org;
}

sub users {
    my ($org, @to) = @_;
    my $user = json('user create succeeds', @to, 'user', 'create', '--org', 'Org B', qw(Ann Lee Ann@x.org));
    is_deeply([@$user{qw(firstname lastname email)}], [qw(Ann Lee Ann@x.org)], 'user create returns the values');
    exits(4, 'user create rejects a taken email', @to, 'user', 'create', '--org', 'Org B', qw(Ann Lee ann@X.ORG));
    exits(3, 'user create needs an organisation', @to, 'user', 'create', '--org', 'nobody', qw(Ann Lee ann@x.org));
    is(@{ json('user list succeeds', @to, 'user', 'list') }, 1, 'the organisation has one user');
    is(@{ json('user list --organization succeeds', @to, 'user', 'list', '--organization', $org->{uuid}) }, 0,
        'the other organisation has no user');
    exits(3, 'user list rejects an unknown organisation', @to, 'user', 'list', '--org', 'nobody');
    my $renamed = json('user rename succeeds', @to, 'user', 'rename', 'ann@x.org', '--lastname', 'Poe', '--email',
        'ann@y.org');
    is_deeply([@$renamed{qw(uuid firstname lastname email)}], [$user->{uuid}, qw(Ann Poe ann@y.org)], 'names change');
    json('user create succeeds again', @to, 'user', 'create', '--org', 'Org B', qw(Bea Kay bea@x.org));
    exits(4, 'user rename rejects an email that is taken', @to, 'user', 'rename', 'ann@y.org', '--email', 'BEA@x.org');
    exits(3, 'user rename rejects an unknown user', @to, 'user', 'rename', 'no@x.org', '--email', 'ann@y.org');
    json('user delete succeeds', @to, 'user', 'delete', 'bea@x.org');
    json('user rename takes a uuid', @to, 'user', 'rename', $user->{uuid}, '--lastname', 'Lee', '--email', 'Ann@x.org');
    return $user;
}

sub tokens {
    my ($user, @to) = @_;
    my @create = (@to, 'token', 'create', '--org', 'Org B');
    my $token = json('token create works', @create, '--user', 'ann@x.org', '--env=production', 'first token',
        '--expires', '2099-01-31');
    like($token->{token}, qr/^sigreq_live_[0-9A-Za-z]{36}$/, 'token create prints the secret');
    is_deeply([@$token{qw(name environment user_uuid expires_at)}],
        ['first token', 'production', $user->{uuid}, '2099-01-31T00:00:00.000Z'], 'token create returns the values');
    my $other = json('token create takes words', @create, '--user', $user->{uuid}, 'test', 'second');
    like($other->{token}, qr/^sigreq_test_/, 'a token of the test environment says so');
    exits(3, 'token create rejects an unknown user', @create, '--user', 'no@x.org', 'test', 'n');
    exits(3, 'token create rejects an unknown organisation', @to, qw(token create nobody ann@x.org test n));
    my $list = json('token list succeeds', @to, 'token', 'list');
    is(@$list, 2, 'token list returns both tokens');
    ok(!grep({ defined } map { @$_{qw(token secret_hash)} } @$list), 'token list shows no secrets');
    my $revoked = json('token revoke succeeds', @to, 'token', 'revoke', $token->{uuid});
    like($revoked->{revoked_at}, qr/^20/, 'token revoke returns the time');
    is(json('a second revoke succeeds', @to, 'token', 'revoke', $token->{uuid})->{revoked_at}, $revoked->{revoked_at},
        'a second revoke does not change the time');
    my $with = json('token revoke --children succeeds', @to, 'token', 'revoke', $token->{uuid}, '--children');
    is_deeply([map { $_->{uuid} } @$with], [$token->{uuid}], 'token revoke --children returns a list');
    my @hooks = (@to, 'token', 'webhooks', $other->{uuid});
    is(json('token webhooks succeeds', @hooks)->{sent_webhook_url}, undef, 'a new token has no URL');
    my $set = json('token webhooks sets URLs', @hooks, '--sent', 'https://x.org/1', '--completed=https://x.org/3');
    is_deeply([@$set{qw(sent_webhook_url signed_webhook_url completed_webhook_url)}],
        ['https://x.org/1', undef, 'https://x.org/3'], 'token webhooks returns the URLs');
    $set = json('token webhooks takes none', @hooks, '--sent', 'none');
    is_deeply([@$set{qw(sent_webhook_url completed_webhook_url)}], [undef, 'https://x.org/3'], 'one URL is removed');
    my ($shown) = exits(0, 'token webhooks prints text', @hooks);
    like($shown, qr{^completed_webhook_url +https://x\.org/3$}m, 'the text shows the URL');
    $set = json('token webhooks --clear succeeds', @hooks, '--clear');
    is(scalar(grep { defined } @$set{qw(sent_webhook_url signed_webhook_url completed_webhook_url)}), 0,
        '--clear removes all URLs');
    exits(2, 'token webhooks rejects ftp', @hooks, '--sent', 'ftp://x.org/');
    exits(3, 'token webhooks rejects an unknown token', @to, 'token', 'webhooks',
        '00000000-0000-4000-8000-000000000000', '--clear');
    my @second = ('--user', 'ann@x.org', '--organization', 'Org B');
    is_deeply(json('token list takes a user', @to, 'token', 'list', @second),
        json('token list takes no user', @to, 'token', 'list'), 'the user owns all tokens');
    is_deeply(json('--expiring works', @to, 'token', 'list', @second, '--expiring', '30d'), [], 'no token ends soon');
    exits(3, 'token list rejects an unknown user', @to, 'token', 'list', '--user', 'no@x.org');
    my $next = json('token rotate succeeds', @to, 'token', 'rotate', $other->{uuid}, '--keep', '12h');
    like($next->{token}, qr/^sigreq_test_/, 'token rotate prints a secret');
    is_deeply([@$next{qw(name email environment expires_at)}], ['second', 'Ann@x.org', 'test', undef],
        'token rotate keeps name, user and environment');
    is_deeply([map { $_->{uuid} } @{ json('--expiring 1d succeeds', @to, 'token', 'list', '--expiring', '1d') }],
        [$other->{uuid}], 'the rotated token ends soon');
    json('token rotate succeeds without --keep', @to, 'token', 'rotate', $next->{uuid});
    exits(4, 'token rotate rejects a token that has ended', @to, 'token', 'rotate', $next->{uuid});
    exits(3, 'token rotate rejects an unknown token', @to, 'token', 'rotate', '00000000-0000-4000-8000-000000000000');
    exits(3, 'token revoke rejects an unknown token', @to, 'token', 'revoke', '00000000-0000-4000-8000-000000000000');
    return $token;
}

# Users and organisations that leave, without submissions (t/api/people.t: with them).
sub leaving {
    my @to = @_;
    my %of;
    for my $name ('Org C', 'Org D') {
        my $org = json('org create succeeds', @to, 'org', 'create', $name);
        my $user = json('user create succeeds', @to, 'user', 'create', $name, qw(Bob Kay bob@x.org));
        my @tokens = map { json('token create succeeds', @to, 'token', 'create', $name, 'bob@x.org', 'test', $_) } 1, 2;
        $of{$name} = { org => $org, user => $user, tokens => [map { $_->{uuid} } @tokens] };
    }
    my ($c, $d) = @of{'Org C', 'Org D'};
    is($c->{user}{disabled_at}, undef, 'a new user is not disabled');
    (undef, my $error) = exits(4, 'an email of two users is rejected', @to, 'user', 'disable', 'bob@x.org');
    like($error, qr/2 organizations have a user with this email: give --organization/, 'the message says what to do');
    exits(3, "user $_ rejects an unknown user", @to, 'user', $_, 'no@x.org') for qw(disable enable delete);
    exits(3, 'user disable rejects an unknown organisation', @to, 'user', 'disable', 'bob@x.org', '--org', 'nobody');
    my $disabled = json('user disable succeeds', @to, 'user', 'disable', 'BOB@x.org', '--org', 'Org C');
    like($disabled->{disabled_at}, qr/^20/, 'user disable returns the time');
    is(json('it can be repeated', @to, 'user', 'disable', $c->{user}{uuid})->{disabled_at}, $disabled->{disabled_at},
        'a second disable does not change the time');
    my @bobs = grep { $_->{email} eq 'bob@x.org' } @{ json('user list succeeds', @to, 'user', 'list') };
    is_deeply([map { $_->{disabled_at} } @bobs], [$disabled->{disabled_at}, undef], 'user list shows who is disabled');
    is(json('user enable succeeds', @to, 'user', 'enable', $c->{user}{uuid})->{disabled_at}, undef, 'a user is enabled')
        for 1, 2;

    my $revoked = json('token revoke --user succeeds', @to, 'token', 'revoke', '--user', $d->{user}{uuid});
    is_deeply([map { $_->{uuid} } @$revoked], $d->{tokens}, 'all tokens of a user are revoked');
    is_deeply(json('it can be repeated', @to, 'token', 'revoke', '--user', $d->{user}{uuid}), [], 'no token is left');
    $revoked = json('token revoke --organization succeeds', @to, 'token', 'revoke', '--organization', 'Org C');
    is_deeply([map { $_->{uuid} } @$revoked], $c->{tokens}, 'all tokens of an organisation are revoked');
    exits(3, "token revoke $_ rejects an unknown name", @to, 'token', 'revoke', $_, 'nobody') for '--user', '--org';

    exits(4, 'org rename rejects a name that is taken', @to, 'org', 'rename', 'Org C', 'Org D');
    exits(3, 'org rename rejects an unknown organisation', @to, 'org', 'rename', 'nobody', 'Org E');
    is(json('org rename succeeds', @to, 'org', 'rename', 'Org C', 'Org E')->{name}, 'Org E', 'the name changes');
    is(json('a uuid works', @to, 'org', 'rename', $c->{org}{uuid}, 'Org E')->{name}, 'Org E', 'the name stays');

    is(json('user delete succeeds', @to, 'user', 'delete', 'bob@x.org', '--org', 'Org D')->{uuid}, $d->{user}{uuid},
        'user delete returns the user');
    exits(3, 'a deleted user is unknown', @to, 'user', 'delete', $d->{user}{uuid});
    is_deeply(json('token list succeeds', @to, 'token', 'list', '--org', 'Org D'), [], 'its tokens are deleted');
    is(json('org delete succeeds', @to, 'org', 'delete', $_)->{name}, $_, "$_ is deleted") for 'Org D', 'Org E';
    exits(3, 'a deleted organisation is unknown', @to, 'org', 'delete', 'Org E');
    is(scalar(grep { $_->{email} eq 'bob@x.org' } @{ json('user list succeeds', @to, 'user', 'list') }), 0,
        'the users of an organisation are deleted');
}

sub work {
    my @to = @_;
    my ($status, $report) = run(@to, 'db', 'status', '--json');
    is($status, 1, 'db status needs db init') and is(decode_json($report)->{version}, 0, 'it has version 0');
    my $init = json('db init succeeds', @to, 'db', 'init');
    cmp_ok(scalar @{ $init->{applied} }, '>', 0, 'db init applies migrations');
    is_deeply(json('db upgrade succeeds', @to, 'db', 'upgrade')->{applied}, [], 'db upgrade applies nothing');
    is(json('db status succeeds', @to, 'db', 'status')->{version}, $init->{latest}, 'the version is the latest one');
    my $org = organizations(@to);
    my $token = tokens(users($org, @to), @to);
    leaving(@to);
    my $shown = json('org show succeeds', @to, 'org', 'show', 'Org B');
    is_deeply([$shown->{name}, map { scalar @{ $shown->{$_} } } qw(users tokens)], ['Org B', 1, 4], 'lists are shown');
    is_deeply([@$shown{qw(open held closed deleted)}], [0, 0, 0, 0], 'org show counts submissions');
    like((exits(0, 'text is shown', @to, 'org', 'show', 'Org B'))[0], qr/^open +0\n.*^users\nuuid .*^tokens\nuuid /ms,
        'the text of org show contains tables');
    exits(3, 'org show rejects an unknown organisation', @to, 'org', 'show', 'nobody');
    my ($table) = exits(0, 'token list prints text', @to, 'token', 'list', '--organization', 'Org B');
    like($table, qr/^uuid +organization_name .*\n\Q$token->{uuid}\E  Org B /, 'token list prints a table');
    is(($table =~ tr/\n//), 5, 'the table has five lines');
    ($table) = exits(0, 'org quota prints text', @to, 'org', 'quota', 'Org B', 'unlimited');
    like($table, qr/^quota +unlimited$/m, 'the text of org quota has a line for the quota');
    return $token;
}

# Tables or functions that another build has made.
sub another_build {
    my ($sql, @to) = @_;
    $sql->("UPDATE %schema_version SET checksum = 'x' || checksum WHERE version = 1");
    my ($code, $report) = run(@to, '--json', 'db', 'status');
    is($code, 1, 'db status reports tables of another build');
    my $status = decode_json($report);
    is($status->{version}, $status->{latest}, 'tables of another build can have the latest version');
    is($status->{current}, JSON::PP::false, 'tables of another build are not current');
    like($status->{problem}, qr/another build: its migration 1 differs/, 'the message names the migration');
    my (undef, $error) = exits(4, 'db upgrade rejects tables of another build', @to, 'db', 'upgrade');
    like($error, qr/Install the build that made it/, 'the message says what to do');
    (undef, $error) = exits(5, 'org list rejects tables of another build', @to, 'org', 'list');
    like($error, qr/migration 1/, 'the message of org list names the migration');
    $sql->('UPDATE %schema_version SET checksum = substr(checksum, 2) WHERE version = 1');
    is(json('db status succeeds', @to, 'db', 'status')->{problem}, undef, 'the original tables have no problem');
    $sql->("UPDATE %installation SET definitions_checksum = 'x'");
    ($code, $report) = exits(1, 'db status reports functions of another build', @to, 'db', 'status');
    like($code, qr/^problem .*another build's, run: sigreqctl db upgrade$/m, 'the message says what to do');
    is(join(' ', at_once(3, @to, 'db', 'upgrade')), '0 0 0', 'three db upgrade at the same time succeed');
    is(json('db status succeeds', @to, 'db', 'status')->{current}, JSON::PP::true, 'db upgrade replaces functions');
}

subtest 'sqlite3' => sub {
    spit("$folder/c.db", '');
    my $token = work('--driver', 'sqlite3', '--params', "$folder/c.db");
    my $stored = slurp("$folder/c.db");
    my $sql = sub { is(system('sqlite3', "$folder/c.db", $_[0] =~ s/%//gr), 0, 'a statement succeeds') };
    another_build($sql, '--driver', 'sqlite3', '--params', "$folder/c.db");
    like($stored, qr/\Q$token->{uuid}/, 'the file contains the uuid of the token');
    unlike($stored, qr/\Q$token->{token}/, 'the file does not contain the secret of the token');
};
subtest 'pgsql' => sub {
    my $params = $ENV{SIGREQ_TEST_PGSQL} or plan skip_all => 'SIGREQ_TEST_PGSQL is not set';
    my $drop = 'SET client_min_messages = error; DROP SCHEMA IF EXISTS sigreq CASCADE';
    my $sql = sub { is(system('psql', '-qX', $params, '-c', $_[0] =~ s/%/sigreq./gr), 0, 'a statement succeeds') };
    my @to = ('--driver', 'pgsql', '--params', $params);
    killed_upgrades(sub { system('psql', '-qX', $params, '-c', $drop) }, @to);
    $sql->($drop);
    is(join(' ', at_once(3, @to, 'db', 'upgrade')), '0 0 0', 'three db upgrade at the same time succeed');
    $sql->($drop);
    work(@to);
    another_build($sql, @to);
};
done_testing;
