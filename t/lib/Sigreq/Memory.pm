# SPDX-License-Identifier: Apache-2.0
# Sigreq::Memory: measures the largest amount of memory that a request needs in a child of httpd.
package Sigreq::Memory;
use strict;
use warnings;
use Sigreq::Here;
use Test::More;


use constant MOST => 32 * 1024;                    # KiB
my $PLAIN = !defined $ENV{ASAN_OPTIONS};           # a sanitizer has another idea of memory

# How much more memory than before a child takes at most while CODE runs, in KiB. The child is a new one: others have
# memory that they were given back, and would take that.
sub growth {
    my ($httpd, $code) = @_;
    $httpd->stop;
    $httpd->start;
    my $up = Mojo::UserAgent->new->get($httpd->base . '/api/v3/health' => { Connection => 'close' });
    is($up->res->code, 200, 'a new child');
    my @children = Sigreq::Here::children($httpd->pid);
    my %before;
    for my $pid (@children) {
        open my $peak, '>', "/proc/$pid/clear_refs" or die "clear_refs: $!\n";
        print $peak '5';
        close $peak;
        $before{$pid} = memory($pid, 'VmRSS');
    }
    $code->();
    my ($most) = sort { $b <=> $a } map { memory($_, 'VmHWM') - $before{$_} } @children;
    return $most;
}

sub memory {
    my ($pid, $what) = @_;
    open my $status, '<', "/proc/$pid/status" or die "/proc/$pid: $!\n";
    return (join('', <$status>) =~ /^$what:\s+(\d+) kB/m)[0];
}

# takes_little(Sigreq::Httpd, name, CODE, KiB)
sub takes_little {
    my ($httpd, $name, $code, $most) = (@_, MOST);
    my $grown = growth($httpd, $code);
    note "$name: $grown KiB";
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return ok(!$PLAIN || $grown < $most, "$name: little memory") || diag "$grown KiB";
}

1;
