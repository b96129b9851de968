# SPDX-License-Identifier: Apache-2.0
# The units of systemd: a bare machine with the packages of `make deb` is booted by systemd-nspawn, and t/package/units
# runs in it. `make test-package` runs this as root.
use strict;
use warnings;
use File::Path 'make_path';
use Sigreq::Machine qw(prepare said);
use Test::More;

my ($dir, @packages) = prepare('units', qw(mmdebstrap systemd-nspawn unshare));
my $machine = Sigreq::Machine->new("$dir/root");
$machine->put_packages('packages/old', 'packages/new', @packages);
$machine->put_script('units');
my $text = $machine->install('packages/old', 'systemd-sysv');
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
    ok($machine->report($results), 't/package/units runs to its end') or diag substr $text, -3000;
}
done_testing;
