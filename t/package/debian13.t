# SPDX-License-Identifier: Apache-2.0
# Debian 13: the source package builds there, without network, and the tests of sealing and verifying pass, which depend
# on the versions of poppler, qpdf and OpenSSL. `make test-debian13` runs this as root: it takes a Debian 13 from the
# mirror of this machine, and leaves the packages in build/debian13/deb. It has not run to its end yet.
use strict;
use warnings;
use File::Copy 'copy';
use File::Path qw(make_path remove_tree);
use File::Temp 'tempdir';
use Sigreq::Machine 'said';
use Test::More;

plan skip_all => 'make test-debian13 runs this' if !$ENV{SIGREQ_DEBIAN13};
plan skip_all => 'it needs root' if $> != 0;
my @lacking = grep { system("command -v $_ >/dev/null 2>&1") != 0 } qw(mmdebstrap unshare ip);
plan skip_all => "not installed: @lacking (tools/deps test-package)" if @lacking;
my $o = $ENV{O} || 'build';
my ($source) = glob "$o/deb/*.dsc" or BAIL_OUT('make deb has built nothing');

my $dir = $ENV{SIGREQ_MACHINES} // tempdir('sigreq-debian13.XXXXXX', DIR => '/tmp', CLEANUP => 1);
chmod 0755, $dir;
my $machine = Sigreq::Machine->new("$dir/trixie-tests", 'trixie');
make_path($machine->path('src/deb'));
copy($_, $machine->path('src/deb')) or die "$_: $!\n" for glob "$o/deb/*.{dsc,orig.tar.gz,debian.tar.xz}";
$machine->write('usr/sbin/policy-rc.d', "#!/bin/sh\nexit 101\n");    # while it shares the network

# what the four files need of `tools/deps test`: no browsers, no Java, no tokens
my @tools = qw(apache2 ca-certificates curl faketime fonts-dancingscript fonts-urw-base35 jq
    libapache2-mod-perl2 libaprutil1-dbd-pgsql libaprutil1-dbd-sqlite3 libcpanel-json-xs-perl libjson-validator-perl
    libmojolicious-perl mupdf-tools openssl poppler-utils postgresql python3-aiosmtpd qpdf rsync sqlite3);
works('what building and testing need is installed', $machine->enter, 'sh', '-ec', <<"SH") or BAIL_OUT('');
apt-get -q update
apt-get -q -y install --no-install-recommends build-essential dpkg-dev fakeroot @tools
cd /src
dpkg-source -x deb/*.dsc tree
apt-get -q -y build-dep --no-install-recommends ./tree
SH

works('the packages are built', $machine->enter('--net'), 'sh', '-ec',
    'cd /src/tree && exec dpkg-buildpackage -us -uc -b');
my @packages = glob $machine->path('src/*.deb');
cmp_ok(scalar @packages, '>=', 3, 'there are three, and those for debuggers');
remove_tree("$o/debian13/deb");
make_path("$o/debian13/deb");
copy($_, "$o/debian13/deb") or die "$_: $!\n" for @packages;

works('the tests are built', $machine->enter('--net'), 'sh', '-ec', 'cd /src/tree && exec make -s -j2 all units');
my $text = said($machine->enter('--net'), 'sh', '-ec', 'cd /src/tree && exec t/run "$@"', 'sh',
    '^build/t/pdf_(?:seal_faults|verify)$', '^sqlite3-event/t/api/(?:seal|verify)[.]t$');
my ($passed, $failed) = $text =~ /^(\d+) passed, (\d+) failed/m;
is($failed, 0, 'no test fails') or diag substr $text, -8000;
cmp_ok($passed // 0, '>', 100, 'the tests have run');
note($text);
done_testing;

sub works {
    my ($title, @command) = @_;
    my $said = said(@command);
    my $status = $?;
    return ok($status == 0, $title) || !diag(substr $said, -4000);
}
