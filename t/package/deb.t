# SPDX-License-Identifier: Apache-2.0
# The packages of `make deb`: lintian, what is in them, a second build (elsewhere, without network) that gives the same
# bytes, the units of systemd, and a bare machine in which t/package/scenario installs, uses, upgrades and purges them.
# `make test-package` runs this as root. It takes a Debian from the mirror of this machine.
use strict;
use warnings;
use Digest::SHA ();
use File::Basename 'basename';
use File::Copy 'copy';
use File::Path 'make_path';
use File::Temp 'tempdir';
use Cwd 'abs_path';
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

# What a program says, to both of its outputs.
sub said {
    my @command = @_;
    my $pid = open my $from, '-|';
    die "fork: $!\n" if !defined $pid;
    if (!$pid) {
        open STDERR, '>&', \*STDOUT;
        open STDIN, '<', '/dev/null';
        exec @command or die "$command[0]: $!\n";
    }
    my $text = do { local $/; <$from> } // '';
    close $from;
    return $text;
}

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
    push @files, map {s{^conf/}{}r} grep { !m{^conf/(?:schema|systemd)/} } glob 'conf/*/*';
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
    my $root = "$dir/root";
    my ($suite) = said('sh', '-c', '. /etc/os-release; echo $VERSION_CODENAME') =~ /(\S+)/;
    works("a bare Debian ($suite)", 'mmdebstrap', '--quiet', '--variant=minbase', '--include=ca-certificates',
        $suite, $root) or return;
    copy('/etc/resolv.conf', "$root/etc/resolv.conf");
    packages_of($root);
    my $tools = 'apache2 curl jq poppler-utils libaprutil1-dbd-pgsql postgresql systemd';
    my $install = "apt-get -q update && apt-get -q -y install --no-install-recommends $tools /packages/old/*.deb &&"
        # if something listens at 5432 outside, while the network is shared, PostgreSQL takes another port
        . ' sed -i "s/^port = .*/port = 5432/" /etc/postgresql/*/main/postgresql.conf';
    open my $policy, '>', "$root/usr/sbin/policy-rc.d" or die "policy-rc.d: $!\n";
    print $policy "#!/bin/sh\nexit 101\n";
    close $policy;
    chmod 0755, "$root/usr/sbin/policy-rc.d";
    works('apt installs the packages and what they need', enter($root), 'sh', '-c', $install) or return;

    my @units = map {basename($_)} glob 'conf/systemd/*';
    is(said('systemd-analyze', 'verify', '--man=no', "--root=$root", @units), '', 'systemd accepts the units');
    for my $line (split /\n/, said(enter($root, '--net'), '/src/scenario')) {
        if   ($line =~ /^(not )?ok \d+ - (.*)/) { ok(!$1, $2) }
        elsif ($line =~ /^1\.\.(\d+)/)          { cmp_ok($1, '>', 20, 'all of the scenario has run') }
        else                                    { diag($line) }
    }
}

# The packages, those of a version that follows, and what the scenario needs.
sub packages_of {
    my $root = shift;
    make_path("$root/packages/old", "$root/packages/new", "$root/src/debian/tests", "$root/src/t/data");
    copy($_, "$root/packages/old/") for @packages;
    for my $deb (@packages) {
        my $tree = tempdir(DIR => $dir);
        chmod 0755, $tree;
        works(basename($deb) . ' of another version', 'sh', '-c',
            'dpkg-deb -R "$1" "$2" && sed -i "s/upstream1/upstream2/g" "$2/DEBIAN/control" &&'
                . ' dpkg-deb -Zgzip -z1 --root-owner-group -b "$2" "$3"', 'sh', $deb, $tree, "$root/packages/new");
    }
    for (['debian/tests/service', 'src/debian/tests/service'], ['t/package/scenario', 'src/scenario'],
        ['t/data/sample.pdf', 'src/t/data/sample.pdf']) {
        copy($_->[0], "$root/$_->[1]") or die "$_->[0]: $!\n";
        chmod 0755, "$root/$_->[1]";
    }
}

# What stands before a command that runs in the machine, with processes and, with --net, a network of its own.
sub enter {
    my ($root, @apart) = @_;
    my $way = <<'SH';
root=$1; shift
if [ "$1" = --net ]; then ip link set lo up; shift; fi
mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"; mount -t tmpfs tmpfs "$root/tmp"; mkdir "$root/run/lock"
exec chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
SH
    return ('unshare', '--mount', '--pid', '--fork', '--kill-child', @apart, 'sh', '-c', $way, 'sh', $root, @apart);
}
