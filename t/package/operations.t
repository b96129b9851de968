# SPDX-License-Identifier: Apache-2.0
# docs/operations.md: its commands run word for word on a bare machine, from the installation to the removal, and print
# what the page shows. Requests are created and signed during backup, upgrade and restore drill: nothing that was
# acknowledged is lost, and the only error is 503. A second machine is the new host. `make test-package` runs this as
# root. For those who change the page or the test:
#   SIGREQ_MACHINES=FOLDER  keeps the machines there. The next call does not make Debian and download packages again.
#   SIGREQ_BLOCK=NUMBER     with kept machines: begins at this block, after what the calls before have done.
use strict;
use warnings;
use File::Copy 'copy';
use File::Path 'make_path';
use Sigreq::Machine qw(prepare said);
use Test::More;

my ($dir, @packages) = prepare('operations', qw(mmdebstrap unshare ip dpkg-deb));
my ($kept, $begin) = ($ENV{SIGREQ_MACHINES}, $ENV{SIGREQ_BLOCK} // 0);
plan skip_all => 'SIGREQ_BLOCK needs SIGREQ_MACHINES' if $begin && !-d ($kept // '');

# --- the page: its blocks of commands, and what they print

my (@blocks, $section);
open my $page, '<', 'docs/operations.md' or BAIL_OUT("docs/operations.md: $!");
for my $part (split /^(?=## |```)/m, do { local $/; <$page> }) {
    $section = $1 if $part =~ /^## (.*)/;
    if ($part =~ /\A```sh ?([\w-]*)\n(.*)\z/s) {
        push @blocks, { section => $section, where => $1, commands => $2, number => scalar @blocks };
    } elsif ($part =~ /\A```text\n(.*)\z/s) {
        $blocks[-1]{shown} = $1;
    }
}
cmp_ok(scalar @blocks, '>', 25, 'the page contains more than 25 blocks of commands');
# what a later call goes on with
my %variables = map { $_ => 1 } map { $_->{commands} =~ /(?:^| )([A-Z]+)=\S/mg } grep { $_->{where} eq '' } @blocks;
my %installs = map { $_ => 1 } map { $_->{commands} =~ /^apt-get install (.*)/mg } @blocks;
note('systemd and SQLite: their blocks are not run here (t/api/backup.t runs those of SQLite)');

# --- what happens beside the commands: before or after the blocks of a section

my $helpers = <<'SH';
set -u
trap 'echo "$BASH_COMMAND" >>/src/failed' ERR
begin_load() {
    sigreqctl org quota "Our company" unlimited >/dev/null
    export API TOKEN
    install -d /src/load; echo "$TOKEN" >/src/load/token
    rm -f /src/load/stop
    : >>/src/load/acknowledged
    loads=''
    for _ in 1 2; do /src/load.sh /src/load 2>>/src/load/said & loads="$loads $!"; done
}
acknowledged() { grep -c "^$1 " "${2:-/src/load/acknowledged}"; }
more() { # until some more were signed
    local before; before=$(acknowledged signed)
    until [ "$(acknowledged signed)" -ge $((before + $1)) ]; do sleep 0.5; done
}
there() { # a file of acknowledgements: how many are not there, or not as they were acknowledged
    local what uuid document
    while read -r what uuid document; do
        curl -s "$API/signatures/$uuid" -H "$AUTH" -o /src/one.json
        case $what in
            created) jq -e --arg uuid "$uuid" '.uuid == $uuid' /src/one.json >/dev/null || echo "$what $uuid" ;;
            signed)  curl -s "$API/signatures/$uuid/documents/$document" -H "$AUTH" -o /src/one.pdf
                     jq -e '[.submitters[].status] == ["completed"]' /src/one.json >/dev/null &&
                         sigreqctl verify /src/one.pdf >/dev/null || echo "$what $uuid" ;;
        esac
    done <"$1" | wc -l
}
in_drill() { # the same by the database of the restore drill
    local what uuid rest state
    while read -r what uuid rest; do
        state=$(sigreqctl --config /root/drill.conf --json submission show "$uuid" | jq -r .state)
        case $what-$state in created-?*|signed-completed) ;; *) echo "$what $uuid" ;; esac
    done <"$1" | wc -l
}
say() { echo "$1=$2" >>/src/results; }
SH
my %before = (
    'Backup' => <<'SH',
begin_load; more 10
cp /src/load/acknowledged /src/before
say before $(acknowledged signed /src/before)
SH
    'Upgrade'       => "more 5\n",
    'Restore drill' => "more 5\n",
    'Uninstall'     => "touch /src/packed; until [ -e /src/moved ]; do sleep 1; done\n");
my %between = ('Restore drill' => "say drill_lacks \$(in_drill /src/before)\n");
my %after   = (
    'Backup'        => "more 5\n",
    'Upgrade'       => "more 5\n",
    'Restore drill' => <<'SH',
more 5; touch /src/load/stop; wait $loads
say lost $(there /src/load/acknowledged)
say all $(acknowledged signed)
SH
    'Restore' => <<'SH',
say restored_lacks $(there /src/before)
tail -n 1 /src/load/acknowledged >/src/last
say restored_has_not $(there /src/last)
SH
    'Uninstall' => "service apache2 start; say others \$(curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1/)\n");

sub script {    # for a machine: its blocks
    my ($where, @more) = @_;
    my ($text, $last) = ($helpers, '');
    my @mine = grep { $_->{where} eq $where && ($where ne '' || $_->{number} >= $begin) } @blocks;
    my ($loaded) = map { $_->{number} } grep { $_->{section} eq 'Backup' } @blocks;
    my ($ended)  = map { $_->{number} } grep { $_->{section} eq 'Restore' } @blocks;
    $text .= "cd /; . /src/variables; for name in postgresql apache2 haproxy; do service \$name start; done\n"
        . ($begin > $loaded && $begin < $ended ? "begin_load\n" : '') if $where eq '' && $begin;
    for my $i (0 .. $#mine) {
        my $block = $mine[$i];
        my $name  = $block->{section};
        my $first = $name ne $last;
        $last = $name;
        my $quiet = sub { my $hook = shift // return ''; return "{\n$hook}  >>/src/hooks 2>&1\n" };
        $text .= $quiet->($first ? $before{$name} : $between{$name}) if $where eq '';
        $text .= "rm -f /src/failed\n{\n$block->{commands}} >/src/out.$block->{number} 2>&1\n"
            . "touch /src/failed; mv /src/failed /src/done.$block->{number}\n"
            . "declare -p @{[sort keys %variables]} >/src/variables 2>/dev/null\n";
        $text .= $quiet->($after{$name}) if $where eq '' && ($i == $#mine || $mine[ $i + 1 ]{section} ne $name);
    }
    return $text . join '', @more;
}

sub judge {    # the blocks that have run in a machine
    my ($machine, $where) = @_;
    for my $block (grep { $_->{where} eq $where } @blocks) {
        my $title = "$block->{section}, block $block->{number}";
        ok(-e $machine->path("src/done.$block->{number}"), "$title ends") or last;
        my $said = $machine->read("src/out.$block->{number}");
        is($machine->read("src/done.$block->{number}"), '', "each command of $title succeeds") or diag $said;
        next if !defined $block->{shown};
        my $pattern = join '.*', map {quotemeta} split /\xe2\x80\xa6/, $block->{shown} =~ s/\n\z//r, -1;
        like($said =~ s/\n\z//r, qr/\A$pattern\z/s, "$title prints what the page shows");
    }
}

# --- the machines. Packages come while there is a network; the commands run without one.

if (defined $kept) {
    $dir = $kept . ($ENV{SIGREQ_SUITE} ? "/operations-$ENV{SIGREQ_SUITE}" : '');
    make_path($dir);
    chmod 0755, $dir;
}
my $bare = Sigreq::Machine->in("$dir/bare");
if (!-e $bare->path('src/downloaded')) {
    $bare = Sigreq::Machine->new("$dir/bare");
    $bare->put_packages('root/packages', 'root/packages-new', @packages);
    # each line by itself, because apt chooses among alternatives by what is named together
    my $said = said($bare->enter, 'sh', '-ec',
        join "\n", 'apt-get -q update', map {"apt-get -q --download-only install $_"} sort keys %installs);
    is($?, 0, 'the packages that the page installs can be downloaded') or BAIL_OUT($said);
    $bare->write('src/downloaded', '');
}
my ($moved) = map { $_->{number} } grep { $_->{where} eq 'new-host' } @blocks;
my $old = $begin ? Sigreq::Machine->in("$dir/old") : $bare->copy_of("$dir/old");
my $new = $begin > $moved ? Sigreq::Machine->in("$dir/new") : $bare->copy_of("$dir/new");
$_->put_packages('root/packages', 'root/packages-new', @packages) for $old, $new;
copy('t/data/sample.pdf', $old->path('root/sample.pdf')) or die "sample.pdf: $!\n";
copy('t/package/load',    $old->path('src/load.sh'))     or die "load: $!\n";
chmod 0755, $old->path('src/load.sh');
unlink map { $old->path("src/$_") } qw(packed moved);

$old->write('src/script', script(''));
$new->write('src/script', script('new-host', <<'SH'));
AUTH="Authorization: Bearer $(cat /src/token)" API=https://sign.example.org/esign/api/v3
cp /etc/ssl/certs/sign.pem /usr/local/share/ca-certificates/sign.crt; update-ca-certificates >/dev/null
echo '127.0.0.1 sign.example.org' >>/etc/hosts
say moved_lacks $(there /src/before)
SH
my $pid = fork // die "fork: $!\n";
if (!$pid) {
    open STDOUT, '>', "$dir/said" or die "$dir/said: $!\n";
    open STDERR, '>&', \*STDOUT;
    exec 'timeout', 3600, $old->enter('--net'), 'bash', '/src/script' or die "unshare: $!\n";
}
my $over = 0;
sleep 1 until -e $old->path('src/packed') || ($over = waitpid($pid, 1) == $pid);
if (!$over) {
    if ($begin <= $moved) {
        rename $old->path('root/move.tar.gz'), $new->path('root/move.tar.gz') or die "move.tar.gz: $!\n";
        copy($old->path('src/before'), $new->path('src/before'));
        $new->write('src/token', $old->read('src/load/token'));
        diag(said($new->enter('--net'), 'bash', '/src/script'));
    }
    $old->write('src/moved', '');
    waitpid $pid, 0;
}
judge($old, '');
judge($new, 'new-host');

# --- what has happened beside them

my %result = map { $_->read('src/results') =~ /^(\w+)=(.*)$/mg } $old, $new;
my @codes  = split /\n/, $old->read('src/load/codes');
my %codes;
$codes{$_}++ for @codes;
note(join ', ', map {"$_: $codes{$_}"} sort keys %codes);
is(join(' ', grep { !/^(?:create (?:201|503|000)|sign (?:303|409|503|000))$/ } sort keys %codes), '',
    'the only error under load is 503');
cmp_ok($result{all} // 0, '>', $result{before} // 0, 'submissions were signed during backup, upgrade and drill');
is($result{lost}, 0, 'nothing that was acknowledged is lost');
is($result{drill_lacks}, 0, 'the drill contains all that was acknowledged before the backup');
is($result{restored_lacks}, 0, 'the restored service contains all that was acknowledged before the backup');
is($result{restored_has_not}, 1, 'the restored service lacks a request that came after the backup');
is($result{moved_lacks}, 0, 'the new host contains all that was acknowledged before the backup');
is($result{others}, 200, 'other sites are served after the removal');
diag($old->read('src/hooks'), $old->read('src/load/said')) if !Test::More->builder->is_passing;
done_testing;
