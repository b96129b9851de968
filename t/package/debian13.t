# SPDX-License-Identifier: Apache-2.0
# Debian 13: the source package of `make deb` builds there, without network. The tests of sealing and verifying pass,
# which depend on the versions of poppler, qpdf and OpenSSL. `make test-debian13` runs this as root, and then uses the
# packages, which this leaves in build/deb-trixie. It takes a Debian 13 from the mirror of this machine.
# SIGREQ_MACHINES=FOLDER keeps the machine there, and what is compiled while the source package is the same.
use strict;
use warnings;
use File::Copy 'copy';
use File::Path qw(make_path remove_tree);
use Sigreq::Machine qw(built prepare said);
use Test::More;

plan skip_all => 'make test-debian13 runs this' if !$ENV{SIGREQ_DEBIAN13};
my ($dir) = prepare('debian13', qw(mmdebstrap unshare ip));
my ($from, $to) = (built(), built() . '-trixie');
my ($source) = glob "$from/*.dsc" or BAIL_OUT('there is no source package');
# what the four files need of `tools/deps test`: no browsers, no Java, no tokens
my @tools = qw(apache2 ca-certificates curl faketime fonts-dancingscript fonts-urw-base35 jq
    libapache2-mod-perl2 libaprutil1-dbd-pgsql libaprutil1-dbd-sqlite3 libcpanel-json-xs-perl libjson-validator-perl
    libmojolicious-perl mupdf-tools openssl poppler-utils postgresql python3-aiosmtpd qpdf rsync sqlite3);

# --- a machine that has what building needs, and the source package

my $root    = ($ENV{SIGREQ_MACHINES} // $dir) . '/trixie-tests';
my $machine = Sigreq::Machine->in($root);
if (!-e $machine->path('src/installed')) {
    $machine = Sigreq::Machine->new($root, 'trixie');
    $machine->write('usr/sbin/policy-rc.d', "#!/bin/sh\nexit 101\n");    # while it shares the network
    works('the packages for building and testing are installed', $machine->enter, 'sh', '-ec', <<"SH") or BAIL_OUT('');
apt-get -q update
apt-get -q -y install --no-install-recommends build-essential dpkg-dev fakeroot @tools
mkdir -p /src
touch /src/installed
SH
}
if ($machine->read('src/source') ne slurp($source)) {
    remove_tree(map { $machine->path("src/$_") } 'deb', 'tree');
    unlink glob $machine->path('src/*_*');
    make_path($machine->path('src/deb'));
    copy($_, $machine->path('src/deb')) or die "$_: $!\n" for glob "$from/*.{dsc,orig.tar.gz,debian.tar.xz}";
    works('the source package is unpacked and can be built', $machine->enter, 'sh', '-ec', <<'SH') or BAIL_OUT('');
cd /src
dpkg-source -x deb/*.dsc tree
apt-get -q -y build-dep --no-install-recommends ./tree
cp deb/*.dsc source
SH
}

# --- the packages

works('the packages are built', $machine->enter('--net'), 'sh', '-ec',
    'cd /src/tree && exec dpkg-buildpackage -us -uc -b -nc');
remove_tree($to);
make_path($to);
my @packages = glob $machine->path('src/*.deb');
cmp_ok(scalar @packages, '>=', 3, 'at least three packages are built');
copy($_, $to) or die "$_: $!\n" for @packages, glob $machine->path('src/deb/*');

# --- the tests, which are built as the packages are

works('the tests are built', $machine->enter('--net'), 'sh', '-ec',
    'cd /src/tree; export DEB_BUILD_OPTIONS=parallel=2 DEB_BUILD_MAINT_OPTIONS=hardening=+all;'
        . ' exec dh_auto_build -- all units PREFIX=/usr');
my $text = said($machine->enter('--net'), 'sh', '-ec', 'cd /src/tree && exec t/run "$@"', 'sh',
    '^build/t/pdf_(?:seal_faults|verify)$', '^sqlite3-event/t/api/(?:seal|verify)[.]t$');
my ($passed, $failed) = $text =~ /^(\d+) passed, (\d+) failed/m;
is($failed, 0, 'no test fails') or diag substr $text, -8000;
cmp_ok($passed // 0, '>', 100, 'more than 100 tests pass');
note($text);
done_testing;

sub works {
    my ($title, @command) = @_;
    my $said = said(@command);
    my $status = $?;
    return ok($status == 0, $title) || !diag(substr $said, -4000);
}

sub slurp { open my $in, '<', $_[0] or return ''; local $/; return scalar(<$in>) // '' }
