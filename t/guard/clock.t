# SPDX-License-Identifier: Apache-2.0
# All code gets the time from src/base/time.c, whose clocks a test can set. Other clocks are used where they are named
# here, with the reason.
use strict;
use warnings;
use lib 't/lib';
use Sigreq::Source qw(files code);
use Test::More;

my %other = (
    'src/base/time.c'    => [qw(apr_time_now clock_gettime)],    # the clocks
    'src/httpd/metrics.c'  => [qw(apr_time_now)],                  # compared with r->request_time, which httpd sets
    'src/helper/main/process/limits.c'  => [qw(clock_gettime)],                 # processor time
    'src/helper/client/worker.c'   => [qw(clock_gettime)],                 # processor time of a worker
    'src/base/seccomp.c' => [qw(clock_gettime gettimeofday)],    # names of system calls
);
my $clocks = qr/apr_time_now|clock_gettime|gettimeofday|timespec_get|time(?=\(NULL\))/;
my %found;
for my $file (files('src/**/*.c', 'src/**/*.cc'), 'mod_sigreq.c') {
    my %used = map { $_ => 1 } code($file) =~ /\b($clocks)\b/g;
    $found{$file} = [sort keys %used] if %used;
}
is_deeply(\%found, \%other, 'no other file uses another clock');
done_testing;
