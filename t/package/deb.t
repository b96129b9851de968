# SPDX-License-Identifier: Apache-2.0
# The packages of `make deb`: lintian, what is in them, a second build (elsewhere, without network) that gives the same
# bytes, the units of systemd, and a bare machine in which t/package/scenario installs, uses, upgrades and purges them.
# `make test-package` runs this as root. It takes a Debian from the mirror of this machine.
use strict;
use warnings;
use Digest::SHA ();
use File::Basename qw(basename dirname);
use File::Copy 'copy';
use File::Path 'make_path';
use File::Temp 'tempdir';
use Cwd 'abs_path';
use Sigreq::Machine 'said';
use Test::More;

plan skip_all => 'it needs root' if $> != 0;
my @tools = qw(dpkg-buildpackage lintian mmdebstrap systemd-analyze unshare ip);
my @lacking = grep { system("command -v $_ >/dev/null 2>&1") != 0 } @tools;
plan skip_all => "not installed: @lacking (tools/deps test-package)" if @lacking;

my $built = abs_path(($ENV{O} || 'build') . '/deb');
my ($changes) = glob "$built/*.changes" or BAIL_OUT('make deb has built nothing');
my ($dsc)     = glob "$built/*.dsc" or BAIL_OUT('there is no source package');
my @debs      = glob "$built/*.deb";
my @packages  = grep { !/-dbgsym_/ } @debs;
my $dir       = tempdir('sigreq-package.XXXXXX', DIR => '/tmp', CLEANUP => 1);
chmod 0755, $dir;
my @names = map { basename($_) =~ s/_.*//r } @packages;
is("@names", 'libapache2-mod-sigreq sigreq-pdfd sigreqctl', 'the packages');

my $lintian = said('lintian', '--tag-display-limit', '0', $changes);
is(join('', grep {/^[EW]:/} split /^/, $lintian), '', 'lintian finds no errors and warnings') or diag $lintian;

contents();
rebuilt();
in_a_machine();
done_testing;

sub works {
    my ($title, @command) = @_;
    my $text = said(@command);
    my $status = $?;
    return ok($status == 0, $title) || !diag(substr $text, -3000);
}

# --- what is in the packages

# Templates of mail, and what a folder below conf/ has that is no part of the build.
sub shared {
    my @files = map {"mail/$_"} qw(invitation.html invitation.txt reminder.html reminder.txt);
    push @files, 'modsecurity.conf', map {s{^conf/}{}r} grep { !m{^conf/(?:schema|systemd)/} } glob 'conf/*/*';
    return map { (-x "conf/$_" ? '-rwxr-xr-x' : '-rw-r--r--') . " usr/share/sigreq/$_" } sort @files;
}

sub contents {
    my %wanted = (
        'libapache2-mod-sigreq' => [
            '-rw-r----- etc/apache2/mods-available/sigreq.conf', '-rw-r--r-- etc/apache2/mods-available/sigreq.load',
            (map {"-rw-r--r-- lib/systemd/system/sigreq-$_"} qw(archive.service archive.timer gc.service gc.timer
                seal.path seal.service)),
            '-rw-r--r-- usr/lib/apache2/modules/mod_sigreq.so', '-rwxr-xr-x usr/lib/sigreq/sigreq-signd',
            '-rw-r--r-- usr/share/man/man8/mod_sigreq.8.gz',
            shared()
        ],
        'sigreq-pdfd' => ['-rwxr-xr-x usr/lib/sigreq/sigreq-pdfd'],
        'sigreqctl' => [
            '-rwxr-xr-x usr/sbin/sigreqctl', '-rw-r--r-- usr/share/bash-completion/completions/sigreqctl',
            '-rw-r--r-- usr/share/man/man8/sigreqctl.8.gz'
        ]);
    for my $deb (@packages) {
        my $name = basename($deb) =~ s/_.*//r;
        my (@files, %docs);
        for (split /\n/, said('dpkg-deb', '-c', $deb)) {
            my ($mode, $owner, undef, undef, undef, $path) = split ' ';
            next if $path =~ m{/$};
            is($owner, 'root/root', "$path is root's") if $owner ne 'root/root';
            if ($path =~ s{^\./usr/share/(?:doc/\Q$name\E|lintian/overrides)/}{}) { $docs{$path} = 1 }
            else { push @files, "$mode " . $path =~ s{^\./}{}r }
        }
        is_deeply([sort { (split ' ', $a)[1] cmp (split ' ', $b)[1] } @files], $wanted{$name}, "$name: its files")
            or diag join "\n", @files;
        is(join(' ', grep { !$docs{$_} } qw(copyright NOTICE changelog.gz changelog.Debian.gz)), '',
            '… its licence, NOTICE and changes');
        my $depends = said('dpkg-deb', '-f', $deb, 'Depends');
        is($depends =~ /poppler-glib/ ? 1 : 0, $name eq 'sigreq-pdfd' ? 1 : 0, '… sigreq-pdfd alone needs poppler');
    }
    my ($module) = grep {/mod-sigreq_/} @packages;
    my $list = said('dpkg-deb', '-c', $module);
    like($list, qr{/usr/share/doc/libapache2-mod-sigreq/\Q$_\E$}m, "the documents have $_")
        for qw(docs/administration.md docs/decisions/README.md docs/signing-page/done.png);
}

# --- built again: in another folder, zone and with other rights of files, without network

sub rebuilt {
    my $elsewhere = "$dir/another-folder/and-one-below";
    make_path($elsewhere);
    works('the source package is unpacked', 'dpkg-source', '-x', $dsc, "$elsewhere/source") or return;
    my $build = 'ip link set lo up; umask 027; cd "$1" && exec dpkg-buildpackage -us -uc -b';
    local @ENV{qw(TZ LC_ALL HOME)} = ('Pacific/Chatham', 'C', $elsewhere);
    local $ENV{DEB_BUILD_OPTIONS} = 'parallel=2';
    works('it is built without network', 'unshare', '--net', 'sh', '-c', $build, 'sh', "$elsewhere/source") or return;
    for my $deb (@debs) {
        is(sha("$elsewhere/" . basename($deb)), sha($deb), basename($deb) . ' has the same bytes');
    }
}

sub sha { return -e $_[0] ? Digest::SHA->new(256)->addfile($_[0])->hexdigest : "no $_[0]" }

# --- a bare machine

sub in_a_machine {
    my $machine = Sigreq::Machine->new("$dir/root");
    $machine->put_packages('packages/old', 'packages/new', @packages);
    for (['debian/tests/service', 'src/debian/tests/service'], ['t/package/scenario', 'src/scenario'],
        ['t/package/tap', 'src/tap'], ['t/data/sample.pdf', 'src/t/data/sample.pdf']) {
        make_path(dirname($machine->path($_->[1])));
        copy($_->[0], $machine->path($_->[1])) or die "$_->[0]: $!\n";
        chmod 0755, $machine->path($_->[1]);
    }
    # nothing is started while the network is shared
    $machine->write('usr/sbin/policy-rc.d', "#!/bin/sh\nexit 101\n");
    my $tools = 'apache2 curl jq poppler-utils libaprutil1-dbd-pgsql postgresql systemd';
    my $install = "apt-get -q update && apt-get -q -y install --no-install-recommends $tools /packages/old/*.deb &&"
        # if something listens at 5432 outside, while the network is shared, PostgreSQL takes another port
        . ' sed -i "s/^port = .*/port = 5432/" /etc/postgresql/*/main/postgresql.conf';
    works('apt installs the packages and what they need', $machine->enter, 'sh', '-c', $install) or return;

    my @units = map {basename($_)} glob 'conf/systemd/*';
    is(said('systemd-analyze', 'verify', '--man=no', '--root=' . $machine->path(''), @units),
        '', 'systemd accepts the units');
    for my $line (split /\n/, said($machine->enter('--net'), '/src/scenario')) {
        if   ($line =~ /^(not )?ok \d+ - (.*)/) { ok(!$1, $2) }
        elsif ($line =~ /^1\.\.(\d+)/)          { cmp_ok($1, '>', 20, 'all of the scenario has run') }
        else                                    { diag($line) }
    }
}
