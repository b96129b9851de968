# SPDX-License-Identifier: Apache-2.0
# Sigreq::Machine: a bare Debian in a folder, with packages of ours, and commands that run in it as root, with processes
# and a network of their own. It takes Debian from the mirror of this machine.
package Sigreq::Machine;
use strict;
use warnings;
use Exporter 'import';
use Cwd 'abs_path';
use File::Basename qw(basename dirname);
use File::Copy 'copy';
use File::Path qw(make_path remove_tree);
use File::Temp 'tempdir';
use Test::More ();
our @EXPORT_OK = qw(built prepare said);

# Where the packages are: those of `make deb`, or of `make test-debian13` if SIGREQ_SUITE names this release.
sub built {
    my $folder = ($ENV{O} || 'build') . '/deb' . ($ENV{SIGREQ_SUITE} ? "-$ENV{SIGREQ_SUITE}" : '');
    return abs_path($folder) // $folder;
}

# What a test of the packages begins with. It is skipped if it is not run by root or lacks one of these tools, and all
# tests end if there are no packages. Returns a new folder, which is removed at the end, and the files of the packages
# without those for debuggers.
sub prepare {
    my ($name, @tools) = @_;
    my $test    = Test::More->builder;
    my @lacking = grep { system("command -v $_ >/dev/null 2>&1") != 0 } @tools;
    $test->plan(skip_all => 'it needs root')                                     if $> != 0;
    $test->plan(skip_all => "not installed: @lacking (tools/deps test-package)") if @lacking;
    my @packages = grep { !/-dbgsym_/ } glob built() . '/*.deb';
    $test->BAIL_OUT(built() . ' has no packages: make deb, or make test-debian13') if !@packages;
    my $dir = tempdir("sigreq-$name.XXXXXX", DIR => '/tmp', CLEANUP => 1);
    chmod 0755, $dir;
    return ($dir, @packages);
}

# What a program says, to both of its outputs. $? is its status.
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

# A minimal Debian in a new folder, of this machine's release or of another one (SIGREQ_SUITE=trixie). With
# SIGREQ_MACHINES=FOLDER it is made once, kept there, and copied from then on.
sub new {
    my ($class, $root, $suite) = @_;
    $suite //= $ENV{SIGREQ_SUITE};
    ($suite) = said('sh', '-c', '. /etc/os-release; echo $VERSION_CODENAME') =~ /(\S+)/ if !defined $suite;
    my $kept = $ENV{SIGREQ_MACHINES} && $class->in("$ENV{SIGREQ_MACHINES}/$suite");
    make_path($ENV{SIGREQ_MACHINES}) if $kept;
    return $kept->copy_of($root) if $kept && -e $kept->path('usr/sbin/policy-rc.d');
    # nobody needs what is in it after a power cut, so dpkg waits for no disk
    my $text = said(qw(mmdebstrap --quiet --variant=minbase --include=ca-certificates --dpkgopt=force-unsafe-io),
        $suite, $root);
    die "mmdebstrap: $text\n" if $? != 0;
    my $self = $class->in($root);
    copy('/etc/resolv.conf', $self->path('etc/resolv.conf'));
    $self->write('etc/hosts', "127.0.0.1 localhost\n");
    # without an init system, invoke-rc.d does only what such a file allows
    $self->write('usr/sbin/policy-rc.d', "#!/bin/sh\nexit 0\n", 0755);
    $self->copy_of($kept->{root}) if $kept;
    return $self;
}

# One that is in a folder already.
sub in { return bless { root => $_[1] }, $_[0] }

# A copy of it, in another folder. What was there is removed.
sub copy_of {
    my ($self, $root) = @_;
    system('rm', '-rf', '--one-file-system', $root) == 0 or die "rm: $root\n"; # a mount may be left over
    system('cp', '-a', $self->{root}, $root) == 0 or die "cp: $root\n";
    return bless { root => $root }, ref $self;
}

sub path { return "$_[0]{root}/$_[1]" }

sub write {
    my ($self, $name, $text, $mode) = @_;
    my $file = $self->path($name);
    make_path($file =~ s{/[^/]*\z}{}r);
    open my $out, '>', $file or die "$file: $!\n";
    print $out $text;
    close $out or die "$file: $!\n";
    chmod $mode, $file if $mode;
}

sub read {    # or nothing
    open my $in, '<', $_[0]->path($_[1]) or return '';
    local $/;
    return scalar(<$in>) // '';
}

# The packages (files) in one folder, and those of a version that follows them in another one.
sub put_packages {
    my ($self, $old, $new, @packages) = @_;
    remove_tree(map { $self->path($_) } $old, $new);
    $self->put_files($old, @packages);
    $self->put_next_version($new, @packages);
}

sub put_files {
    my ($self, $folder, @files) = @_;
    make_path($self->path($folder));
    for my $file (@files) {
        copy($file, $self->path($folder)) or die "$file: $!\n";
    }
}

# The same packages with the version that follows theirs.
sub put_next_version {
    my ($self, $folder, @packages) = @_;
    make_path(map { $self->path($_) } $folder, 'src');
    for my $deb (@packages) {
        my $tree = $self->path('src/' . basename($deb) =~ s/_.*//r);
        my $text = said('sh', '-c',
            'dpkg-deb -R "$1" "$2" && sed -i "s/upstream1/upstream2/g" "$2/DEBIAN/control" &&'
                . ' dpkg-deb -Zgzip -z1 --root-owner-group -b "$2" "$3" && rm -r "$2"',
            'sh', $deb, $tree, $self->path($folder));
        die "another version of $deb: $text\n" if $? != 0;
    }
}

# The script t/package/NAME as /src/NAME, and what it needs: t/package/tap, debian/tests/service and its document.
sub put_script {
    my ($self, $name) = @_;
    my %target = ("t/package/$name" => $name, 't/package/tap' => 'tap');
    for my $file ('debian/tests/service', 't/data/sample.pdf', sort keys %target) {
        my $copy = $self->path('src/' . ($target{$file} // $file));
        make_path(dirname($copy));
        copy($file, $copy) or die "$file: $!\n";
        chmod 0755, $copy;
    }
}

# Installs the packages of a folder, and what the service needs with PostgreSQL. Returns what apt says, with its status
# in $?.
sub install {
    my ($self, $folder, @more) = @_;
    my $started = $self->read('usr/sbin/policy-rc.d');
    $self->write('usr/sbin/policy-rc.d', "#!/bin/sh\nexit 101\n");    # nothing, while the network is shared
    my $text = said($self->enter, 'sh', '-ec', 'folder=$1; shift; apt-get -q update;'
        . ' apt-get -q -y install --no-install-recommends "$@" "/$folder"/*.deb;'
        # if something listens at 5432 outside, PostgreSQL has taken another port
        . ' sed -i "s/^port = .*/port = 5432/" /etc/postgresql/*/main/postgresql.conf', 'sh', $folder,
        qw(apache2 curl jq poppler-utils libaprutil1-dbd-pgsql postgresql systemd), @more);
    my $status = $?;
    $self->write('usr/sbin/policy-rc.d', $started);
    $? = $status; ## no critic (RequireLocalizedPunctuationVars) # as said() leaves it
    return $text;
}

# What a script has printed with t/package/tap: each of its results is a test of the caller. Returns whether it ended
# with more results than these.
sub report {
    my ($self, $text, $more_than) = @_;
    my $ended = 0;
    for my $line (split /\n/, $text) {
        if ($line =~ /^(not )?ok \d+ - (.*)/) { Test::More::ok(!$1, $2) }
        elsif ($line =~ /^1\.\.(\d+)/) { $ended = Test::More::cmp_ok($1, '>', $more_than // 20, 'all of it has run') }
        else                           { Test::More::diag($line) }
    }
    return $ended;
}

# What stands before a command that runs in the machine; with --net it has a network of its own, without the world.
sub enter {
    my ($self, @apart) = @_;
    return ($self->beside(@apart), 'chroot', $self->{root}, qw(/usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8),
        'DEBIAN_FRONTEND=noninteractive', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin');
}

# The same for a command that does not run in it, and works on its folder while everything is mounted there.
sub beside {
    my ($self, @apart) = @_;
    my $way = <<'SH';
root=$1; shift
if [ "$1" = --net ]; then ip link set lo up; shift; fi
mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"; mount -t tmpfs tmpfs "$root/tmp"; mkdir "$root/run/lock"; chmod 1777 "$root/tmp"
exec "$@"
SH
    my @unshare = ('unshare', '--mount', '--pid', '--fork', '--kill-child', @apart);
    return (@unshare, 'sh', '-c', $way, 'sh', $self->{root}, @apart);
}

1;
