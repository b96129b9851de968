# SPDX-License-Identifier: Apache-2.0
# Sigreq::Source: the source tree, for the guards. If a guard requests files and there are none, the guard is wrong, and
# this dies.
package Sigreq::Source;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(files slurp code sources);

my @depths = map { '/*' x $_ . '/' } 1 .. 4;

sub files {    # glob patterns, each of which must find something; ** stands for one folder or several
    my @found;
    for my $pattern (@_) {
        my @some = grep {-f} map { glob } map { $pattern =~ s{/\*\*/}{$_}r } $pattern =~ m{/\*\*/} ? @depths : '';
        die "no file matches $pattern: the check is out of date\n" unless @some;
        push @found, @some;
    }
    return @found;
}

sub sources { files('src/**/*.c', 'src/**/*.cc', 'src/**/*.h', 'mod_sigreq.c', 'include/*.h') }

sub slurp { open my $file, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar <$file> }

sub code {    # a C file without its comments, line numbers kept
    my $text = slurp(shift);
    $text =~
        s{("(?:[^"\\\n]|\\.)*")|('(?:[^'\\\n]|\\.)*')|(/\*.*?\*/|//[^\n]*)}{$1 // $2 // ("\n" x ($3 =~ tr/\n//))}gse;
    return $text;
}

1;
