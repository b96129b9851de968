# SPDX-License-Identifier: Apache-2.0
# Sigreq::Usage: the processor time of a lane of t/run and of everything that it has started, daemons too.
package Sigreq::Usage;
use strict;
use warnings;
use POSIX ();

# Runs CODE in a child, and waits for it and for whatever its programs leave behind: a daemon that ends is reaped here
# and not by the first process of the machine, which would not tell how much processor time it has used, and which, in
# some containers, reaps nothing. Returns what CODE returned.
sub followed {
    my $code = shift;
    my $SET_CHILD_SUBREAPER = 36;
    eval {
        require 'syscall.ph';    ## no critic (RequireBarewordIncludes): it is no module
        syscall SYS_prctl(), $SET_CHILD_SUBREAPER, 1, 0, 0, 0;
    };
    my $pid = fork;
    die "fork: $!\n" if !defined $pid;
    exit $code->()   if !$pid;
    local @SIG{qw(INT TERM HUP)} = (sub { kill TERM => $pid }) x 3;
    my $gone;
    do { $gone = waitpid -1, 0 } until $gone == $pid || $gone < 0 && !$!{EINTR};
    return $? >> 8 || ($? & 127 ? 1 : 0);
}

# Seconds of processor of a process, of those below it, and of those that any of them has waited for.
sub processor {
    my $top = shift;
    my (%used, %below);
    for my $file (glob '/proc/[0-9]*/stat') {
        my ($pid, $rest) = slurp($file) =~ /^(\d+) \(.*\) . (.*)/s or next;
        my ($parent, @fields) = split ' ', $rest;
        push @{ $below{$parent} }, $pid;
        $used{$pid} += $_ for @fields[9 .. 12];    # of itself and of its children, in user and system mode
    }
    my ($ticks, @todo) = (0, $top);
    while (@todo) {
        my $pid = shift @todo;
        $ticks += $used{$pid} // 0;
        push @todo, @{ $below{$pid} // [] };
    }
    return $ticks / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}

sub slurp { open my $file, '<', shift or return ''; return scalar <$file> // '' }

1;
