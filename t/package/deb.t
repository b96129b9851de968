# SPDX-License-Identifier: Apache-2.0
# The packages of `make deb`: lintian, what is in them, a second build (elsewhere, without network) that gives the same
# bytes, the units of systemd, and a bare machine in which t/package/scenario installs, uses, upgrades and purges them.
# `make test-package` runs this as root. It takes a Debian from the mirror of this machine.
use strict;
use warnings;
use Digest::SHA ();
use File::Basename 'basename';
use File::Path 'make_path';
use Sigreq::Machine qw(built prepare said);
use Test::More;

my ($dir, @packages) = prepare('deb', qw(dpkg-buildpackage lintian mmdebstrap systemd-analyze unshare ip));
my @names = map { basename($_) =~ s/_.*//r } @packages;
is("@names", 'libapache2-mod-sigreq sigreq-pdfd sigreqctl', 'make deb has built three packages');

linted()  if !$ENV{SIGREQ_SUITE};    # with the tools of this machine's release
rebuilt() if !$ENV{SIGREQ_SUITE};
contents();
in_a_machine();
done_testing;

sub works {
    my ($title, @command) = @_;
    my $text = said(@command);
    my $status = $?;
    return ok($status == 0, $title) || !diag(substr $text, -3000);
}

sub linted {
    my ($changes) = glob built() . '/*.changes' or BAIL_OUT('make deb has built nothing');
    my $text = said('lintian', '--tag-display-limit', '0', $changes);
    is(join('', grep {/^[EW]:/} split /^/, $text), '', 'lintian finds no errors and warnings') or diag $text;
}

# --- what is in the packages

# Templates of mail, and what a folder below conf/ has that is no part of the build.
sub shared {
    my @files = map { ("mail/$_.html", "mail/$_.txt") } qw(code copy invitation reminder view);
    push @files, 'modsecurity.conf', map {s{^conf/}{}r} grep { !m{^conf/(?:schema|systemd)/} } glob 'conf/*/*';
    return map { (-x "conf/$_" ? '-rwxr-xr-x' : '-rw-r--r--') . " usr/share/sigreq/$_" } sort @files;
}

sub contents {
    my %wanted = (
        'libapache2-mod-sigreq' => [
            '-rw-r----- etc/apache2/mods-available/sigreq.conf', '-rw-r--r-- etc/apache2/mods-available/sigreq.load',
            '-rw-r--r-- usr/lib/apache2/modules/mod_sigreq.so', '-rwxr-xr-x usr/lib/sigreq/sigreq-signd',
            (map {"-rw-r--r-- usr/lib/systemd/system/sigreq-$_"} qw(archive.service archive.timer gc.service gc.timer
                seal.path seal.service)),
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
            is($owner, 'root/root', "$path belongs to root") if $owner ne 'root/root';
            if ($path =~ s{^\./usr/share/(?:doc/\Q$name\E|lintian/overrides)/}{}) { $docs{$path} = 1 }
            else { push @files, "$mode " . $path =~ s{^\./(?=lib/)}{usr/}r =~ s{^\./}{}r }    # Debian 12: /lib
        }
        is_deeply([sort { (split ' ', $a)[1] cmp (split ' ', $b)[1] } @files], $wanted{$name},
            "$name contains the expected files")
            or diag join "\n", @files;
        is(join(' ', grep { !$docs{$_} } qw(copyright NOTICE changelog.gz changelog.Debian.gz)), '',
            "$name contains its licence, NOTICE and changes");
        my $depends = said('dpkg-deb', '-f', $deb, 'Depends');
        is($depends =~ /poppler-glib/ ? 1 : 0, $name eq 'sigreq-pdfd' ? 1 : 0,
            "$name needs poppler only if it is sigreq-pdfd");
    }
    my ($module) = grep {/mod-sigreq_/} @packages;
    my $list = said('dpkg-deb', '-c', $module);
    like($list, qr{/usr/share/doc/libapache2-mod-sigreq/\Q$_\E$}m, "the documents contain $_")
        for qw(docs/operations.md docs/decisions/README.md docs/signing-page/done.png);
}

# --- built again: in another folder, zone and with other rights of files, without network

sub rebuilt {
    my ($dsc) = glob built() . '/*.dsc' or BAIL_OUT('there is no source package');
    my $elsewhere = "$dir/another-folder/and-one-below";
    make_path($elsewhere);
    works('the source package is unpacked', 'dpkg-source', '-x', $dsc, "$elsewhere/source") or return;
    my $build = 'ip link set lo up; umask 027; cd "$1" && exec dpkg-buildpackage -us -uc -b';
    local @ENV{qw(TZ LC_ALL HOME)} = ('Pacific/Chatham', 'C', $elsewhere);
    local $ENV{DEB_BUILD_OPTIONS} = 'parallel=2';
    works('the source package builds without network', 'unshare', '--net', 'sh', '-c', $build, 'sh',
        "$elsewhere/source") or return;
    for my $deb (glob built() . '/*.deb') {
        is(sha("$elsewhere/" . basename($deb)), sha($deb), basename($deb) . ' has the same bytes in the second build');
    }
}

sub sha { return -e $_[0] ? Digest::SHA->new(256)->addfile($_[0])->hexdigest : "no $_[0]" }

# --- a bare machine

sub in_a_machine {
    my $machine = Sigreq::Machine->new("$dir/root");
    $machine->put_packages('packages/old', 'packages/new', @packages);
    $machine->put_script('scenario');
    my $said = $machine->install('packages/old');
    is($?, 0, 'apt installs the packages and what they need') or return diag substr $said, -3000;

    my @units = map {basename($_)} glob 'conf/systemd/*';
    my @faults = split /^/, said('systemd-analyze', 'verify', '--man=no', '--root=' . $machine->path(''), @units);
    # in a machine of another release, systemd itself has units that are not for this one
    @faults = grep {m{^sigreq-|/system/sigreq-}} @faults if $ENV{SIGREQ_SUITE};
    is(join('', @faults), '', 'systemd accepts the units');
    ok($machine->report(said($machine->enter('--net'), '/src/scenario')), 'the scenario runs to its end');
}
