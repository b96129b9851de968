# SPDX-License-Identifier: Apache-2.0
# autopkgtest: the test that the source package has (debian/tests), as the archive of Debian runs it, with the packages
# of `make deb` in a bare Debian. What it needs is downloaded before, and it runs without the world. `make test-package`
# runs this as root.
use strict;
use warnings;
use Sigreq::Machine qw(built prepare said);
use Test::More;

my ($dir, @packages) = prepare('autopkgtest', qw(autopkgtest dpkg-source mmdebstrap unshare ip));
my ($dsc) = glob built() . '/*.dsc' or BAIL_OUT('there is no source package');
my $text = said('dpkg-source', '-x', $dsc, "$dir/source");
is($?, 0, 'the source package is unpacked') or BAIL_OUT($text);
open my $in, '<', "$dir/source/debian/tests/control" or BAIL_OUT("debian/tests/control: $!");
my ($depends) = do { local $/; <$in> } =~ /^Depends: \@, (.*)/m or BAIL_OUT('debian/tests/control names no packages');

my $machine = Sigreq::Machine->new("$dir/root");
$machine->put_packages('packages/old', 'packages/new', @packages);
# autopkgtest makes a repository of the packages with dpkg-dev and apt-utils. apt takes the first driver that sigreqctl
# names.
$text = said($machine->enter, 'sh', '-ec', 'apt-get -q update; apt-get -q -y --download-only --no-install-recommends '
    . 'install /packages/old/*.deb dpkg-dev apt-utils libaprutil1-dbd-sqlite3 ' . $depends =~ tr/,//dr);
is($?, 0, 'the packages that the test needs can be downloaded') or BAIL_OUT($text);

# a chroot with namespaces around it is as good as a container here
# The shell is the first process, and removes processes that have lost their parent: an init script waits for that.
$text = said($machine->beside('--net'), 'sh', '-c', '"$@"; exit $?', 'sh', 'autopkgtest', "--output-dir=$dir/output",
    '--ignore-restrictions=isolation-container,breaks-testbed', '--no-built-binaries', @packages, "$dir/source",
    '--', 'chroot', $machine->path(''));
is($?, 0, 'autopkgtest succeeds') or diag substr $text, -3000;
ok($text =~ /^service\s+PASS$/m, 'the test "service" passes');
done_testing;
