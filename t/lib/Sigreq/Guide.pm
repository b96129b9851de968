# SPDX-License-Identifier: Apache-2.0
# Sigreq::Guide: the blocks of configuration in a document, so that a test starts programs with what administrators
# read.
package Sigreq::Guide;
use strict;
use warnings;
use Exporter 'import';
use Mojo::File 'path';

our @EXPORT_OK = 'blocks';

# blocks(FILE, HEADING, replaced => with, …): the texts of the blocks below "## HEADING", with other addresses and
# paths. Dies if one of the texts to replace is not there.
sub blocks {
    my ($file, $heading, %with) = @_;
    my ($section) = path($file)->slurp =~ /^## \Q$heading\E\n(.*?)(?=^## |\z)/ms or die "$file: no section $heading\n";
    my @found = $section =~ /^```\w+\n(.*?)^```$/msg or die "$file: no block in $heading\n";
    my $whole = join '', @found;
    for my $from (sort { length $b <=> length $a } keys %with) {
        index($whole, $from) >= 0 or die "$file: $heading has no $from\n";
        s/\Q$from\E/$with{$from}/g for @found;
    }
    return @found;
}

1;
