# SPDX-License-Identifier: Apache-2.0
# Sigreq::Clock: programs with a date that is ahead or behind, by t/tool/clock.c.
package Sigreq::Clock;
use strict;
use warnings;
use Exporter 'import';
use File::Spec ();
use File::Temp 'tempdir';
our @EXPORT_OK = qw(clock_missing clock_set clocked);

my $folder;

sub library { return ($ENV{SIGREQ_BUILD} // $ENV{O} // 'build') . '/t/tool/clock.so' }

sub clock_missing {    # why there is no such clock here; undef if there is one
    return 'a sanitizer must be loaded first' if $ENV{SIGREQ_SANITIZE} || defined $ENV{ASAN_OPTIONS};
    return 'make units has not built ' . library() if !-e library();
    return;
}

# clock_set(file, seconds): makes a clock that is so far ahead, or sets it. Programs that have it notice at once.
sub clock_set {
    my ($file, $seconds) = @_;
    open my $clock, -e $file ? '+<' : '>', $file or die "$file: $!\n";    # truncated, it would end these programs
    syswrite($clock, pack 'q', $seconds) or die "$file: $!\n";
    close $clock or die "$file: $!\n";
    return $file;
}

# clocked(code, seconds or the file of a clock): runs code whose programs start with that date. It changes neither how
# long they wait nor the times of files.
sub clocked {
    my ($code, $clock) = @_;
    $folder //= tempdir('sigreq-clock.XXXXXX', TMPDIR => 1, CLEANUP => 1);
    $clock = clock_set("$folder/$clock", $clock) if $clock =~ /^[+-]?\d+\z/;
    local @ENV{qw(LD_PRELOAD SIGREQ_CLOCK)} = (File::Spec->rel2abs(library()), $clock);
    return $code->();
}

1;
