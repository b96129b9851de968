# SPDX-License-Identifier: Apache-2.0
# The units of systemd: a bare machine with the packages of `make deb` is booted by systemd-nspawn, and t/package/units
# runs in it. `make test-package` runs this as root.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Copy 'copy';
use File::Path 'make_path';
use File::Temp 'tempdir';
use Sigreq::Machine 'said';
use Test::More;

plan skip_all => 'it needs root' if $> != 0;
my @lacking = grep { system("command -v $_ >/dev/null 2>&1") != 0 } qw(mmdebstrap systemd-nspawn unshare);
plan skip_all => "not installed: @lacking (tools/deps test-package)" if @lacking;
my $built    = abs_path(($ENV{O} || 'build') . '/deb');
my @packages = grep { !/-dbgsym_/ } glob "$built/*.deb" or BAIL_OUT('make deb has built nothing');

my $dir = tempdir('sigreq-units.XXXXXX', DIR => '/tmp', CLEANUP => 1);
chmod 0755, $dir;
my $machine = Sigreq::Machine->new("$dir/root");
$machine->put_packages('packages/old', 'packages/new', @packages);
for (['debian/tests/service', 'src/debian/tests/service'], ['t/package/units', 'src/units'],
    ['t/package/tap', 'src/tap'], ['t/data/sample.pdf', 'src/t/data/sample.pdf']) {
    make_path(dirname($machine->path($_->[1])));
    copy($_->[0], $machine->path($_->[1])) or die "$_->[0]: $!\n";
    chmod 0755, $machine->path($_->[1]);
}
$machine->write('usr/sbin/policy-rc.d', "#!/bin/sh\nexit 101\n");    # while it shares the network
my $tools = 'apache2 curl jq poppler-utils libaprutil1-dbd-pgsql postgresql systemd systemd-sysv';
my $text = said($machine->enter, 'sh', '-ec', "apt-get -q update; apt-get -q -y install --no-install-recommends $tools"
    . ' /packages/old/*.deb; sed -i "s/^port = .*/port = 5432/" /etc/postgresql/*/main/postgresql.conf');
is($?, 0, 'apt installs the packages and what they need') or BAIL_OUT(substr $text, -3000);
unlink $machine->path('usr/sbin/policy-rc.d');
$machine->write('etc/systemd/system/test-units.service', <<'END');
[Unit]
After=apache2.service postgresql.service
[Service]
Type=oneshot
ExecStart=/src/units
StandardOutput=append:/src/results
ExecStopPost=/bin/sh -c 'systemctl --no-block poweroff 2>/dev/null'
[Install]
WantedBy=multi-user.target
END
make_path($machine->path('etc/systemd/system/multi-user.target.wants'));
symlink '../test-units.service', $machine->path('etc/systemd/system/multi-user.target.wants/test-units.service');

$text = said('timeout', 1800, qw(unshare --mount systemd-nspawn --quiet --boot --private-network --register=no
    --keep-unit --link-journal=no), '--directory=' . $machine->path(''));
my $results = $machine->read('src/results');
SKIP: {
    skip "systemd-nspawn cannot boot here: " . substr($text, -500), 1 if !length $results && $text !~ /Welcome to/;
    for my $line (split /\n/, $results) {
        if   ($line =~ /^(not )?ok \d+ - (.*)/) { ok(!$1, $2) }
        elsif ($line =~ /^1\.\.(\d+)/)          { cmp_ok($1, '>', 20, 'all of it has run') }
        else                                    { diag($line) }
    }
    like($results, qr/^1\.\./m, 'it has ended') or diag substr $text, -3000;
}
done_testing;
