# SPDX-License-Identifier: Apache-2.0
# Sigreq::SmallDisk: an httpd one of whose folders is a small file system: a tmpfs in its own mount namespace. It needs
# root or user namespaces.
package Sigreq::SmallDisk;
use strict;
use warnings;
use Sigreq::Here 'wait_for';
use Sigreq::Httpd;

my @unshare = ('unshare', '--user', '--map-root-user', '--mount', '--kill-child', '--fork');

sub possible { return system("@unshare true 2>/dev/null") == 0 }

# start(httpd => Sigreq::Httpd that was not started, folder => of it, size => as mount says it, with => [files that are
# copied into the folder first])
sub start {
    my ($class, %o) = @_;
    my $self  = bless {%o}, $class;
    my $httpd = $o{httpd};
    chomp(my $binary = Sigreq::Httpd::command());
    # The shell in the namespace is root there, because only root may mount. httpd runs in the foreground, in a
    # namespace in which it is the user that it is outside: as root it could not become another user.
    my $script = 'mount -t tmpfs -o size="$1",mode=755 tmpfs "$2" && { [ $# = 6 ] || cp -- "${@:7}" "$2"; } && '
        . 'exec unshare --user --map-user="$5" --map-group="$6" "$3" -f "$4" -DFOREGROUND';
    mkdir $o{folder};
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDOUT, '>',  "$httpd->{dir}/stdout";
        open STDERR, '>&', \*STDOUT;
        exec @unshare, 'bash', '-c', $script, 'bash', $o{size}, $o{folder}, $binary, "$httpd->{dir}/httpd.conf",
            $>, $) + 0, @{ $o{with} // [] };
    }
    @{$self}{qw(owner pid)} = ($$, $pid);
    wait_for(sub { $httpd->pid && eval { IO::Socket::INET->new("127.0.0.1:$httpd->{port}") } })
        or die 'httpd with a small disk: ' . Sigreq::Suite::said('stdout', 'cat', "$httpd->{dir}/stdout") . $httpd->log;
    ($self->{inside}) = Sigreq::Here::children($pid);
    return $self;
}

sub path {    # the folder, as it is seen from here
    my $self = shift;
    my $root = "/proc/$self->{inside}/root$self->{folder}";
    return -d $root ? $root : die "cannot see $root\n";
}

# Writes until there is no room, or so many bytes.
sub fill {
    my ($self, $most) = @_;
    open my $ballast, '>', $self->path . '/ballast' or die "ballast: $!";
    for (my $done = 0; !$most || $done < $most;) { $done += syswrite($ballast, 'x' x 4096) || last }
    close $ballast;
}
sub free { my $self = shift; return unlink $self->path . '/ballast' }

sub stop {    # unshare itself ignores TERM
    my $self = shift;
    return if ($self->{owner} // 0) != $$ or !(my $pid = delete $self->{pid});
    kill TERM => Sigreq::Here::children($pid);
    waitpid $pid, 0;
}

sub DESTROY { local $?; $_[0]->stop }

1;
