# SPDX-License-Identifier: Apache-2.0
# Sigreq::Machine: a bare Debian in a folder, with packages of ours, and commands that run in it as root, with processes
# and a network of their own. It takes Debian from the mirror of this machine.
package Sigreq::Machine;
use strict;
use warnings;
use Exporter 'import';
use File::Basename 'basename';
use File::Copy 'copy';
use File::Path qw(make_path remove_tree);
our @EXPORT_OK = qw(said);

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
    make_path(map { $self->path($_) } $old, $new, 'src');
    for my $deb (@packages) {
        copy($deb, $self->path($old)) or die "$deb: $!\n";
        my $tree = $self->path('src/' . basename($deb) =~ s/_.*//r);
        my $text = said('sh', '-c',
            'dpkg-deb -R "$1" "$2" && sed -i "s/upstream1/upstream2/g" "$2/DEBIAN/control" &&'
                . ' dpkg-deb -Zgzip -z1 --root-owner-group -b "$2" "$3" && rm -r "$2"',
            'sh', $deb, $tree, $self->path($new));
        die "another version of $deb: $text\n" if $? != 0;
    }
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
