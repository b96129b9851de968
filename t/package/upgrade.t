# SPDX-License-Identifier: Apache-2.0
# An upgrade from another commit, with data: its packages are installed in a bare machine, and t/package/upgrade creates
# requests, installs the packages of `make deb` over them, and signs these requests. `make test-package` runs this as
# root. BASE=COMMIT is the other commit, by default the release before this commit or, if there is none, the commit
# before it. Its packages stay in build/base and are built once.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Path qw(make_path remove_tree);
use Sigreq::Machine qw(built prepare said);
use Test::More;

plan skip_all => 'the packages of the other commit are built for the release of this machine' if $ENV{SIGREQ_SUITE};
my ($dir, @packages) = prepare('upgrade', qw(dpkg-buildpackage git mmdebstrap unshare ip));
my $base = commit($ENV{BASE} || said(qw(git describe --tags --abbrev=0 --match v* HEAD^))) || commit('HEAD^');
plan skip_all => 'there is no other commit here' if !$base;
note("the other commit is $base");

my @old     = old_packages();
my $machine = Sigreq::Machine->new("$dir/root");
$machine->put_files('packages/old', @old);
$machine->put_next_version('packages/new', @packages);
$machine->put_script('upgrade');
# the other commit's own test sets it up, because its commands may differ from those of this tree
make_path($machine->path('src/base'));
said('sh', '-c', 'git archive "$1" debian/tests t/data/sample.pdf | tar -x -C "$2"', 'sh', $base,
    $machine->path('src/base'));
my $said = $machine->install('packages/old');
is($?, 0, 'apt installs the packages of the other commit') or BAIL_OUT(substr $said, -3000);
ok($machine->report(said($machine->enter('--net'), '/src/upgrade'), 25), 't/package/upgrade runs to its end');
done_testing;

sub commit {    # its hash, if it exists
    my ($name) = $_[0] =~ /\A(\S+)\s*\z/ or return;
    my ($hash) = said(qw(git rev-parse --verify --quiet), "$name^{commit}") =~ /^([0-9a-f]{40,})$/m;
    return $hash // ($ENV{BASE} ? BAIL_OUT("BASE=$ENV{BASE} is not a commit of this repository") : undef);
}

sub old_packages {
    my $kept = dirname(built()) . "/base/$base";
    my $find = sub {
        grep { !/-dbgsym_/ } glob "$kept/*.deb";
    };
    return $find->() if $find->();
    remove_tree(dirname($kept));
    make_path($kept);
    my $tree = "$dir/tree";
    delete local @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS O)};
    local $ENV{DEB_BUILD_OPTIONS} = 'noautodbgsym';
    my $text = said('sh', '-ec', <<'SH', 'sh', abs_path('.'), $tree, $base, $kept);
git clone -q --no-checkout "$1" "$2"
git -C "$2" checkout -q --detach "$3"
make -C "$2" -j"$(nproc)" O=build deb
mv "$2"/build/deb/*.deb "$4"
rm -rf "$2"
SH
    is($?, 0, 'the packages of the other commit are built') or BAIL_OUT(substr $text, -3000);
    return $find->();
}
