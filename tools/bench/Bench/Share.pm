# SPDX-License-Identifier: Apache-2.0
# Bench::Share: control groups of Linux (version 1) whose processes may use a share of one processor in all. Only root
# can make one, so tools/bench/run makes them before it becomes another user.
package Bench::Share;
use strict;
use warnings;
use Time::HiRes 'sleep';

my $ROOT = '/sys/fs/cgroup/cpu';
my ($SHARE, $PERIOD) = (0.25, 10_000); # of a processor; microseconds: so that a request rarely waits long

# make(count, uid): the folders of so many groups that a user may enter; none where there are no such groups
sub make {
    my ($count, $uid) = @_;
    my @made = grep { mkdir $_ } map {"$ROOT/sigreq-bench-$$-$_"} 1 .. $count;
    my @set = grep { put("$_/cpu.cfs_quota_us", $SHARE * $PERIOD) && put("$_/cpu.cfs_period_us", $PERIOD) } @made;
    return @set if @set == $count && chown($uid, -1, map {"$_/cgroup.procs"} @set) == $count;
    remove(@made);
    return;
}

sub remove { # when the processes have ended
    my @groups = @_;
    for my $group (@groups) {
        for (1 .. 50) { last if rmdir $group or !$!{EBUSY}; sleep 0.1 }
    }
    return;
}

sub enter { my $group = shift; return put("$group/cgroup.procs", $$) } # the calling process, and all that it starts

sub put {
    my ($file, $value) = @_;
    open my $out, '>', $file or return 0;
    return defined syswrite $out, $value;
}

1;
