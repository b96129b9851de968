# SPDX-License-Identifier: Apache-2.0
# Sigreq::Make: calls make for the guards of the build.
package Sigreq::Make;
use strict;
use warnings;
use Exporter 'import';
use Test::More;
our @EXPORT_OK = qw(make make_ok files_below write_file);

sub make {    # the status and output of make with these words, in a folder
    my ($folder, @words) = @_;
    my $pid = open my $from, '-|';
    die "fork: $!\n" if !defined $pid;
    if (!$pid) {
        open STDERR, '>&', \*STDOUT;
        exec 'make', '-C', $folder, '--no-print-directory', @words or die "make: $!\n";
    }
    my $said = do { local $/; <$from> } // '';
    close $from;
    return ($? >> 8, $said);
}

sub make_ok {    # its output; a failure shows the end of it
    my ($title, @words) = @_;
    my ($status, $said) = make(@words);
    is($status, 0, $title) or diag substr $said, -3000;
    return $said;
}

sub files_below { return join '', sort `cd '$_[0]' && find . -type f` }

sub write_file { open my $file, '>', $_[0] or die "$_[0]: $!\n"; print $file $_[1]; close $file or die "$_[0]: $!\n" }

1;
