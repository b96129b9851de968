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
        is($out, '', "$name: nothing on stdout");
        like($error, qr/^sigreqctl: \S/, "$name: a reason on stderr");
    }
    return ($out, $error);
}

sub json { my ($name, @arguments) = @_; return decode_json((exits(0, $name, '--json', @arguments))[0]) }

# --- help
delete $ENV{COLUMNS};
my ($out) = exits(0, 'help', '--help');
is(join("\n", grep { length > 80 } split /\n/, $out), '', 'help has 80 columns');
like($out, qr/^Examples:\n    sigreqctl org create/m, 'help has examples');
is((exits(0, 'help as a word', 'help'))[0], $out, 'the same as a word');
{
    local $ENV{COLUMNS} = 1000;
    unlike((exits(0, 'help on a wide terminal', '--help'))[0], qr/^ {32}\S/m, '… no line is divided with COLUMNS');
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
    my ($one) = exits(0, "help of $command", split(/ /, $command), '--help');
    like($one, qr/^Usage:\n  sigreqctl $command\b/m, "help shows its usage");
    like($one, qr/^Exit codes: 0 \w/m, 'help shows the exit codes');
    is(join("\n", grep { length > 80 } split /\n/, $one), '', '… in 80 columns');
}
($out) = exits(0, 'help of a group', 'token', '--help');
like($out, qr/\(ps\).*--config.*PGPASSFILE.*service=/s, 'help says where to put a password');
like($out, qr/token create.*token list.*token revoke/s, 'help of a group has its commands');
unlike($out, qr/org create/, 'it has no other commands');
is((exits(0, 'help of a group as words', 'help', 'token'))[0], $out, 'help token is the same as token --help');
my ($short) = exits(0, 'help of a group by -h', 'token', '-h');
is($short, $out, '-h is the same as --help');
my ($version) = slurp('include/mod_sigreq.h') =~ /MOD_SIGREQ_VERSION "(.*)"/;
is((exits(0, '--version', '--version'))[0], "sigreqctl $version\n", 'the version');
is((exits(0, 'version as a word', 'version'))[0], "sigreqctl $version\n", '… as a word');
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
exits(0, 'a database', @db, 'db', 'init');
for my $case (@wrong) {
    my (undef, $error) = exits(2, "refused: @{$case->[0]}", @db, @{ $case->[0] });
    like($error, qr/\Q$case->[1]/, 'the message has the reason');
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
    is(join(' ', at_once(3, @new, 'db', 'upgrade')), '0 0 0', 'db upgrade three times at the same time');
    is(json('status', @new, 'db', 'status')->{current}, JSON::PP::true, '… the tables exist');
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
    is($wrong, '', "db upgrade killed $killed times: nothing or everything was done, and the next one works");
}
killed_upgrades(sub { }, '--driver', 'sqlite3', '--params', sub {"$folder/killed$_[0].db"});

# --- where the database is
(undef, my $error) = exits(2, 'no database named', 'org', 'list');
like($error, qr/--config FILE, or --driver and --params/, 'the message says how to name a database');
exits(5, 'no such file', '--driver', 'sqlite3', '--params', "$folder/no.db", 'org', 'list');
ok(!-e "$folder/no.db", 'no database is made');
exits(5, 'no such folder', '--driver', 'sqlite3', '--params', "$folder/no/no.db", 'db', 'init');
exits(2, 'an unknown driver', '--driver', 'mysql', '--params', 'x', 'org', 'list');
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
    my (undef, $why) = exits(5, 'a server that does not answer at once', '--driver', 'pgsql', '--params',
        "@to connect_timeout=2", 'org', 'list');
    like($why, qr/connection 2$/m, '… is asked once more');
});
with_refusals(1, sub {
    my (undef, $why) = exits(5, '… also by a URI', '--driver', 'pgsql', '--params',
        "postgresql://a\@127.0.0.1:$_[0]/b?sslmode=disable&gssencmode=disable&connect_timeout=2", 'org', 'list');
    like($why, qr/connection 2$/m, '… is asked once more');
});
with_refusals(0, sub {
    my (undef, $why) = exits(5, 'a server that refuses', '--driver', 'pgsql', '--params',
        "postgresql://a\@127.0.0.1:$_[0]/b?sslmode=disable&gssencmode=disable", 'org', 'list');
    like($why, qr/connection 1$/m, '… is not');
});
exits(5, 'no server', '--driver', 'pgsql', '--params', "host=$folder connect_timeout=2", 'org', 'list');
exits(2, 'no such configuration', '--config', "$folder/no.conf", 'org', 'list');
mkdir "$folder/documents";
my $config = spit("$folder/sigreq.conf", <<"CONF");
# DBDriver pgsql
SigreqHelper \${WHERE}/sigreq-pdfd
<IfModule mod_dbd.c>
    dbdriver   sqlite3
    DBDParams  \\
       "$folder/b b.db"
</IfModule>
SigreqDocuments '$folder/documents'
CONF
is(json('init by configuration', '--config', $config, 'db', 'init')->{current}, JSON::PP::true, 'the tables exist');
ok(-e "$folder/b b.db", 'the database is in the file whose name has a space');
{
    local $ENV{SIGREQ_CONFIG} = $config;
    is(json('by the environment', 'gc')->{kept}, 0, 'gc finds the documents folder');
    exits(5, 'options go before it', '--params', "$folder/no.db", 'org', 'list');
}
my $variable = spit("$folder/v.conf", "DBDriver sqlite3\nDBDParams \${X}/b.db\n");
(undef, $error) = exits(2, 'a variable', '--config', $variable, 'org', 'list');
like($error, qr/v\.conf line 2: DBDParams/, 'the message names the line');
exits(2, 'a configuration without a database', '--config', spit("$folder/e.conf", "DBDriver sqlite3\n"), 'org', 'list');

# --- documents that the database does not know
my $hash = 'ab' x 32;
mkdir "$folder/documents/ab";
mkdir "$folder/documents/ab/ab";
my @names  = map {"abab$_"} map { "$_" x 60 . '.0123456789abcdef' } 1 .. 3;
my @stored = map { spit("$folder/documents/ab/ab/$_", 'x' x 10) } @names;
spit("$folder/documents/ab/ab/readme.txt", 'x');
my $freed = json('gc', '--config', $config, 'gc', '--history-days', '7', '--reserved', 0, '--quarantine-days', 0);
is_deeply([@$freed{qw(kept deleted quarantine_deleted history_deleted)}], [0, 0, 0, 0], 'gc removes none of them');
is(scalar(grep { -e } @stored), 3, 'the files exist');
($code, my $said, $error) = run('--config', $config, '--json', 'check');
is($code, 1, 'check finds them');
my $found = decode_json($said);
is_deeply([@$found{qw(documents missing damaged foreign)}], [0, 0, 0, 3], '… the result has their number');
is_deeply([sort map {"$_->{problem} $_->{key}"} @{ $found->{problems} }], [map {"foreign $_"} @names],
    '… and their names');
($code, $said) = run('--config', $config, 'check');
like($said, qr/^foreign +3\n.*^foreign +\Q$names[0]\E +the database does not know this file\n/ms,
    '… the text output has them, too');
unlink @stored;
is_deeply(json('check', '--config', $config, 'check')->{problems}, [], 'without them check succeeds');

# --- images of pages
mkdir for map {"$folder/documents/cache$_"} '', '/ab', '/ab/ab';
my $image = spit("$folder/documents/cache/ab/ab/$hash.1.0.800.png", 'x' x 10);
my $month = time - 30 * 24 * 3600;
utime $month + 60, $month + 60, $image;
is_deeply([@{ json('gc with a cache', '--config', $config, 'gc') }{qw(cache_kept cache_deleted)}], [1, 0],
    'an image is kept for 30 days');
is(json('gc --unused 29', '--config', $config, 'gc', '--unused', 29, '--dry-run')->{cache_freed_bytes}, 10,
    'or for the time of the option');
utime $month - 60, $month - 60, $image;
is(json('gc with a cache', '--config', $config, 'gc')->{cache_deleted}, 1, 'then gc deletes it');
ok(!-e $image, 'the image does not exist any more');
spit($config, slurp($config) . "SigreqCache $folder/elsewhere\n");
mkdir for map {"$folder/elsewhere$_"} '', '/ab', '/ab/ab';
spit("$folder/elsewhere/ab/ab/$hash.1.0.800.png", 'x');
is(json('gc with SigreqCache', '--config', $config, 'gc', '--unused', 0)->{cache_deleted}, 1, 'SigreqCache is read');

# --- the commands, on each database
sub organizations {
    my @to = @_;
    my $org = json('org create', @to, 'org', 'create', '--name', "Caf\xc3\xa9 \"A\"", '--quota', '5');
    like($org->{uuid}, qr/^[0-9a-f-]{36}$/, 'the result has a uuid');
    is_deeply([@$org{qw(name quota used)}], ["Caf\xe9 \"A\"", 5, 0], 'the result has the values');
    like($org->{created_at}, qr/^20\d\d-\d\d-\d\dT[\d:.]+Z$/, 'the result has the time');
    exits(4, 'its name is taken', @to, 'org', 'create', "Caf\xc3\xa9 \"A\"");
    is(json('org create by a word', @to, 'org', 'create', 'Org B')->{quota}, undef, 'unlimited');
    is(json('quota', @to, 'org', 'quota', 'Org B', '7')->{quota}, 7, 'set');
    is(json('quota 0', @to, 'org', 'quota', 'Org B', '0')->{quota}, 0, 'the quota is removed');
    is(json('quota unlimited', @to, 'org', 'quota', $org->{uuid}, 'unlimited')->{quota}, undef, 'unlimited');
    exits(3, 'quota of nobody', @to, 'org', 'quota', 'nobody', '7');
    is_deeply([map { $_->{name} } @{ json('org list', @to, 'org', 'list') }], ["Caf\xe9 \"A\"", 'Org B'], 'both');
    return $org;
}

sub users {
    my ($org, @to) = @_;
    my $user = json('user create', @to, 'user', 'create', '--org', 'Org B', qw(Ann Lee Ann@x.org));
    is_deeply([@$user{qw(firstname lastname email)}], [qw(Ann Lee Ann@x.org)], 'the result has the values');
    exits(4, 'its email is taken', @to, 'user', 'create', '--org', 'Org B', qw(Ann Lee ann@X.ORG));
    exits(3, 'user of nobody', @to, 'user', 'create', '--org', 'nobody', qw(Ann Lee ann@x.org));
    is(@{ json('user list', @to, 'user', 'list') }, 1, 'the organisation has one user');
    is(@{ json('user list of one', @to, 'user', 'list', '--organization', $org->{uuid}) }, 0,
        'the other organisation has no user');
    exits(3, 'users of nobody', @to, 'user', 'list', '--org', 'nobody');
    my $renamed = json('user rename', @to, 'user', 'rename', 'ann@x.org', '--lastname', 'Poe', '--email', 'ann@y.org');
    is_deeply([@$renamed{qw(uuid firstname lastname email)}], [$user->{uuid}, qw(Ann Poe ann@y.org)], 'renamed');
    json('another user', @to, 'user', 'create', '--org', 'Org B', qw(Bea Kay bea@x.org));
    exits(4, 'an email that is taken', @to, 'user', 'rename', 'ann@y.org', '--email', 'BEA@x.org');
    exits(3, 'renaming nobody', @to, 'user', 'rename', 'no@x.org', '--email', 'ann@y.org');
    json('user delete', @to, 'user', 'delete', 'bea@x.org');
    json('user rename', @to, 'user', 'rename', $user->{uuid}, '--lastname', 'Lee', '--email', 'Ann@x.org');
    return $user;
}

sub tokens {
    my ($user, @to) = @_;
    my @create = (@to, 'token', 'create', '--org', 'Org B');
    my $token = json('token create', @create, '--user', 'ann@x.org', '--env=production', 'first token', '--expires',
        '2099-01-31');
    like($token->{token}, qr/^sigreq_live_[0-9A-Za-z]{36}$/, 'the secret is printed');
    is_deeply([@$token{qw(name environment user_uuid expires_at)}],
        ['first token', 'production', $user->{uuid}, '2099-01-31T00:00:00.000Z'], 'the result has the values');
    my $other = json('token create, test', @create, '--user', $user->{uuid}, 'test', 'second');
    like($other->{token}, qr/^sigreq_test_/, 'a token of the other environment');
    exits(3, 'token for nobody', @create, '--user', 'no@x.org', 'test', 'n');
    exits(3, 'token of nobody', @to, qw(token create nobody ann@x.org test n));
    my $list = json('token list', @to, 'token', 'list');
    is(@$list, 2, 'the list has two tokens');
    ok(!grep({ defined } map { @$_{qw(token secret_hash)} } @$list), 'the list has no secrets');
    my $revoked = json('token revoke', @to, 'token', 'revoke', $token->{uuid});
    like($revoked->{revoked_at}, qr/^20/, 'revoked');
    is(json('revoking twice', @to, 'token', 'revoke', $token->{uuid})->{revoked_at}, $revoked->{revoked_at},
        'revoking again does not change the time');
    my $with = json('revoke with children', @to, 'token', 'revoke', $token->{uuid}, '--children');
    is_deeply([map { $_->{uuid} } @$with], [$token->{uuid}], 'the result is a list');
    my @hooks = (@to, 'token', 'webhooks', $other->{uuid});
    is(json('webhooks', @hooks)->{sent_webhook_url}, undef, 'there is no URL');
    my $set = json('webhooks, set', @hooks, '--sent', 'https://x.org/1', '--completed=https://x.org/3');
    is_deeply([@$set{qw(sent_webhook_url signed_webhook_url completed_webhook_url)}],
        ['https://x.org/1', undef, 'https://x.org/3'], 'set');
    $set = json('webhooks, one removed', @hooks, '--sent', 'none');
    is_deeply([@$set{qw(sent_webhook_url completed_webhook_url)}], [undef, 'https://x.org/3'], 'one URL is removed');
    my ($shown) = exits(0, 'webhooks as text', @hooks);
    like($shown, qr{^completed_webhook_url +https://x\.org/3$}m, 'shown');
    $set = json('webhooks, cleared', @hooks, '--clear');
    is(scalar(grep { defined } @$set{qw(sent_webhook_url signed_webhook_url completed_webhook_url)}), 0, 'cleared');
    exits(2, 'there is no URL', @hooks, '--sent', 'ftp://x.org/');
    exits(3, 'webhooks of nothing', @to, 'token', 'webhooks', '00000000-0000-4000-8000-000000000000', '--clear');
    my @second = ('--user', 'ann@x.org', '--organization', 'Org B');
    is_deeply(json('tokens of a user', @to, 'token', 'list', @second), json('all', @to, 'token', 'list'), 'the same');
    is_deeply(json('tokens that end', @to, 'token', 'list', @second, '--expiring', '30d'), [], 'none ends soon');
    exits(3, 'tokens of nobody', @to, 'token', 'list', '--user', 'no@x.org');
    my $next = json('token rotate', @to, 'token', 'rotate', $other->{uuid}, '--keep', '12h');
    like($next->{token}, qr/^sigreq_test_/, 'another secret');
    is_deeply([@$next{qw(name email environment expires_at)}], ['second', 'Ann@x.org', 'test', undef],
        'the rest stays');
    is_deeply([map { $_->{uuid} } @{ json('tokens that end', @to, 'token', 'list', '--expiring', '1d') }],
        [$other->{uuid}], 'the old one ends soon');
    json('token rotate', @to, 'token', 'rotate', $next->{uuid});
    exits(4, 'a token that has ended', @to, 'token', 'rotate', $next->{uuid});
    exits(3, 'rotating nothing', @to, 'token', 'rotate', '00000000-0000-4000-8000-000000000000');
    exits(3, 'revoking nothing', @to, 'token', 'revoke', '00000000-0000-4000-8000-000000000000');
    return $token;
}

# Users and organisations that leave, without submissions (t/api/people.t: with them).
sub leaving {
    my @to = @_;
    my %of;
    for my $name ('Org C', 'Org D') {
        my $org = json('org create', @to, 'org', 'create', $name);
        my $user = json('user create', @to, 'user', 'create', $name, qw(Bob Kay bob@x.org));
        my @tokens = map { json('token create', @to, 'token', 'create', $name, 'bob@x.org', 'test', $_) } 1, 2;
        $of{$name} = { org => $org, user => $user, tokens => [map { $_->{uuid} } @tokens] };
    }
    my ($c, $d) = @of{'Org C', 'Org D'};
    is($c->{user}{disabled_at}, undef, 'a new user is not disabled');
    (undef, my $error) = exits(4, 'a user of two organisations', @to, 'user', 'disable', 'bob@x.org');
    like($error, qr/2 organizations have a user with this email: give --organization/, 'the message says what to do');
    exits(3, 'no such user', @to, 'user', $_, 'no@x.org') for qw(disable enable delete);
    exits(3, 'no such organisation', @to, 'user', 'disable', 'bob@x.org', '--org', 'nobody');
    my $disabled = json('user disable', @to, 'user', 'disable', 'BOB@x.org', '--org', 'Org C');
    like($disabled->{disabled_at}, qr/^20/, 'disabled');
    is(json('disabling twice', @to, 'user', 'disable', $c->{user}{uuid})->{disabled_at}, $disabled->{disabled_at},
        'disabling again does not change the time');
    my @bobs = grep { $_->{email} eq 'bob@x.org' } @{ json('user list', @to, 'user', 'list') };
    is_deeply([map { $_->{disabled_at} } @bobs], [$disabled->{disabled_at}, undef], 'the list shows it');
    is(json('user enable', @to, 'user', 'enable', $c->{user}{uuid})->{disabled_at}, undef, 'enabled') for 1, 2;

    my $revoked = json('revoke of a user', @to, 'token', 'revoke', '--user', $d->{user}{uuid});
    is_deeply([map { $_->{uuid} } @$revoked], $d->{tokens}, 'all tokens of a user are revoked');
    is_deeply(json('again', @to, 'token', 'revoke', '--user', $d->{user}{uuid}), [], 'the second time there is none');
    $revoked = json('revoke of an organisation', @to, 'token', 'revoke', '--organization', 'Org C');
    is_deeply([map { $_->{uuid} } @$revoked], $c->{tokens}, 'all tokens of an organisation are revoked');
    exits(3, 'tokens of nobody', @to, 'token', 'revoke', $_, 'nobody') for '--user', '--org';

    exits(4, 'a name that is taken', @to, 'org', 'rename', 'Org C', 'Org D');
    exits(3, 'renaming nobody',      @to, 'org', 'rename', 'nobody', 'Org E');
    is(json('org rename', @to, 'org', 'rename', 'Org C', 'Org E')->{name}, 'Org E', 'renamed');
    is(json('org rename', @to, 'org', 'rename', $c->{org}{uuid}, 'Org E')->{name}, 'Org E', 'again');

    is(json('user delete', @to, 'user', 'delete', 'bob@x.org', '--org', 'Org D')->{uuid}, $d->{user}{uuid}, 'deleted');
    exits(3, 'a user that is deleted', @to, 'user', 'delete', $d->{user}{uuid});
    is_deeply(json('tokens', @to, 'token', 'list', '--org', 'Org D'), [], 'the tokens are deleted');
    is(json('org delete', @to, 'org', 'delete', $_)->{name}, $_, 'deleted') for 'Org D', 'Org E';
    exits(3, 'an organisation that is deleted', @to, 'org', 'delete', 'Org E');
    is(scalar(grep { $_->{email} eq 'bob@x.org' } @{ json('user list', @to, 'user', 'list') }), 0,
        'its users are deleted');
}

sub work {
    my @to = @_;
    my ($status, $report) = run(@to, 'db', 'status', '--json');
    is($status, 1, 'status before init') and is(decode_json($report)->{version}, 0, 'a new database has version 0');
    my $init = json('init', @to, 'db', 'init');
    cmp_ok(scalar @{ $init->{applied} }, '>', 0, 'migrations were applied');
    is_deeply(json('upgrade', @to, 'db', 'upgrade')->{applied}, [], 'there is nothing to apply');
    is(json('status', @to, 'db', 'status')->{version}, $init->{latest}, 'the version is the latest one');
    my $org = organizations(@to);
    my $token = tokens(users($org, @to), @to);
    leaving(@to);
    my $shown = json('org show', @to, 'org', 'show', 'Org B');
    is_deeply([$shown->{name}, map { scalar @{ $shown->{$_} } } qw(users tokens)], ['Org B', 1, 4], 'an organisation');
    is_deeply([@$shown{qw(open held closed deleted)}], [0, 0, 0, 0], '… has numbers');
    like((exits(0, 'as text', @to, 'org', 'show', 'Org B'))[0], qr/^open +0\n.*^users\nuuid .*^tokens\nuuid /ms,
        '… and tables');
    exits(3, 'no such organisation', @to, 'org', 'show', 'nobody');
    my ($table) = exits(0, 'as text', @to, 'token', 'list', '--organization', 'Org B');
    like($table, qr/^uuid +organization_name .*\n\Q$token->{uuid}\E  Org B /, 'the list is a table');
    is(($table =~ tr/\n//), 5, 'the table has five lines');
    ($table) = exits(0, 'one as text', @to, 'org', 'quota', 'Org B', 'unlimited');
    like($table, qr/^quota +unlimited$/m, 'there is a line for each');
    return $token;
}

# Tables or functions that another build has made.
sub another_build {
    my ($sql, @to) = @_;
    $sql->("UPDATE %schema_version SET checksum = 'x' || checksum WHERE version = 1");
    my ($code, $report) = run(@to, '--json', 'db', 'status');
    is($code, 1, 'tables of another build');
    my $status = decode_json($report);
    is($status->{version}, $status->{latest}, 'of the same version');
    is($status->{current}, JSON::PP::false, 'are not current');
    like($status->{problem}, qr/another build: its migration 1 differs/, 'the message has the reason');
    my (undef, $error) = exits(4, 'db upgrade refuses them', @to, 'db', 'upgrade');
    like($error, qr/Install the build that made it/, 'the message says what to do');
    (undef, $error) = exits(5, 'no work is done on them', @to, 'org', 'list');
    like($error, qr/migration 1/, 'the message has that reason');
    $sql->('UPDATE %schema_version SET checksum = substr(checksum, 2) WHERE version = 1');
    is(json('right again', @to, 'db', 'status')->{problem}, undef, 'there is no problem');
    $sql->("UPDATE %installation SET definitions_checksum = 'x'");
    ($code, $report) = exits(1, 'functions of another build', @to, 'db', 'status');
    like($code, qr/^problem .*another build's, run: sigreqctl db upgrade$/m, 'the message says what to do');
    is(join(' ', at_once(3, @to, 'db', 'upgrade')), '0 0 0', 'db upgrade three times at the same time');
    is(json('status', @to, 'db', 'status')->{current}, JSON::PP::true, 'they are this build\'s');
}

subtest 'sqlite3' => sub {
    spit("$folder/c.db", '');
    my $token = work('--driver', 'sqlite3', '--params', "$folder/c.db");
    my $stored = slurp("$folder/c.db");
    my $sql = sub { is(system('sqlite3', "$folder/c.db", $_[0] =~ s/%//gr), 0, 'a change by hand') };
    another_build($sql, '--driver', 'sqlite3', '--params', "$folder/c.db");
    like($stored, qr/\Q$token->{uuid}/, 'the token is in the file');
    unlike($stored, qr/\Q$token->{token}/, 'its secret is not');
};
subtest 'pgsql' => sub {
    my $params = $ENV{SIGREQ_TEST_PGSQL} or plan skip_all => 'SIGREQ_TEST_PGSQL is not set';
    my $drop = 'SET client_min_messages = error; DROP SCHEMA IF EXISTS sigreq CASCADE';
    my $sql = sub { is(system('psql', '-qX', $params, '-c', $_[0] =~ s/%/sigreq./gr), 0, 'a change by hand') };
    my @to = ('--driver', 'pgsql', '--params', $params);
    killed_upgrades(sub { system('psql', '-qX', $params, '-c', $drop) }, @to);
    $sql->($drop);
    is(join(' ', at_once(3, @to, 'db', 'upgrade')), '0 0 0', 'db upgrade three times at the same time');
    $sql->($drop);
    work(@to);
    another_build($sql, @to);
};
done_testing;
