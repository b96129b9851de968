# SPDX-License-Identifier: Apache-2.0
# Sigreq::Clock: programs with a clock that is ahead or behind, by libfaketime. The library has a semaphore and shared
# memory, which the first program makes under its process id and removes at its end. httpd and its helpers outlive the
# program that started them, and would then leave a pair for each process in /dev/shm; a later program with the process
# id of such a pair exits. So a test file has one pair for all its programs.
package Sigreq::Clock;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(clock_missing clocked);

my ($shared, $maker, @files);

sub library { my ($file) = glob '/usr/lib/*/faketime/libfaketimeMT.so.1'; return $file }

sub clock_missing {    # why there is no such clock here; undef if there is one
    return 'libfaketime is not installed' if !library();
    return 'a sanitizer must be loaded first' if $ENV{SIGREQ_SANITIZE} || defined $ENV{ASAN_OPTIONS};
    return;
}

sub share {    # the names of the pair. _exit does not run the code of the library that removes it.
    local @ENV{qw(LD_PRELOAD FAKETIME)} = (library(), '+0');
    open my $out, '-|', $^X, '-MPOSIX', '-e', 'syswrite STDOUT, $ENV{FAKETIME_SHARED}; POSIX::_exit(0)'
        or die "perl: $!\n";
    my $names = <$out> // '';
    $names =~ m{^/(\S+) /(\S+)$} or die "libfaketime names no semaphore: $names\n";
    $maker = $$;
    @files = ("/dev/shm/sem.$1", "/dev/shm/$2");
    chmod 0666, @files;    # for httpd's user, too
    return $names;
}

END { unlink @files if @files && $maker == $$ }

# clocked(code, FAKETIME => '+3600', …): runs code whose programs start with that clock. It changes neither how long
# they wait nor the times of files.
sub clocked {
    my ($code, %of) = @_;
    $shared //= share();
    my %all = (
        LD_PRELOAD => library(), FAKETIME_SHARED => $shared, FAKETIME_DONT_FAKE_MONOTONIC => 1, NO_FAKE_STAT => 1, %of
    );
    local @ENV{ keys %all } = values %all;
    return $code->();
}

1;
