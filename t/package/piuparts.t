# SPDX-License-Identifier: Apache-2.0
# piuparts: the packages of `make deb` are installed, upgraded from another version, removed and purged, and leave
# nothing behind and nothing changed. `make test-package` runs this as root.
use strict;
use warnings;
use Sigreq::Machine qw(prepare said);
use Test::More;

my ($dir, @packages) = prepare('piuparts', qw(piuparts mmdebstrap unshare dpkg-scanpackages));
my $bare = Sigreq::Machine->new("$dir/bare");
$bare->put_packages('former', 'newer', @packages);

# apt finds the version that is installed first in one repository, and the next one in the other
mkdir "$dir/repositories" or die "$dir/repositories: $!\n";
for my $name ('former', 'newer') {
    rename $bare->path($name), "$dir/repositories/$name" or die "$name: $!\n";
    my $text = said('sh', '-c', 'cd "$1" && dpkg-scanpackages . >Packages', 'sh', "$dir/repositories/$name");
    is($?, 0, "a repository with the $name version is made") or diag $text;
}
$bare->write('etc/apt/sources.list.d/former.list', "deb [trusted=yes] file:$dir/repositories/former ./\n");

# The mounts and processes of piuparts are in namespaces of their own. debconf of Debian 13 makes the folder tmp.ci.
my @piuparts = (
    qw(unshare --mount --pid --fork --kill-child --mount-proc piuparts --keep-sources-list --no-eatmydata),
    '--existing-chroot=' . $bare->path(''),
    "--tmpdir=$dir", "--bindmount=$dir/repositories", "--testdebs-repo=$dir/repositories/newer",
    qw(--warn-on-others --install-remove-install --ignore=/var/cache/debconf/tmp.ci/));
my $text = said(@piuparts, glob "$dir/repositories/newer/*.deb");
is($?, 0, 'piuparts finds no fault') or diag join "\n", (grep {/ (?:ERROR|FAIL|WARN)/} split /\n/, $text),
    substr $text, -3000;
ok($text =~ /PASS: Installation, upgrade and purging tests/, 'piuparts has tested an upgrade');
done_testing;
