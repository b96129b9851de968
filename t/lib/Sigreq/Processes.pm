# SPDX-License-Identifier: Apache-2.0
# Sigreq::Processes: the processes below others, by their names.
package Sigreq::Processes;
use strict;
use warnings;

sub processes {    # pid → [parent, command name]
    my %found;
    for my $stat (glob '/proc/[0-9]*/stat') {
        open my $file, '<', $stat or next;
        my $line = <$file> // next;
        $found{$1} = [$4, $2] if $line =~ /^(\d+) \((.*)\) (\S) (\d+)/ && $3 ne 'Z';
    }
    return \%found;
}

# The processes whose parent is one of these and whose name matches.
sub below {
    my ($name, @parents) = @_;
    my %parents = map { $_ => 1 } @parents;
    my $all     = processes();
    my @found   = sort { $a <=> $b } grep { $parents{ $all->{$_}[0] } && $all->{$_}[1] =~ $name } keys %$all;
    return @found;
}

sub children { return below(qr/^(?!sigreq-signd)/, @_) }    # of httpd, without the signer process
sub signers  { return below(qr/^sigreq-signd/,     @_) }    # the processes that hold the keys of the seals
sub workers  { return below(qr/^sigreq-pdfd/,      @_) }    # PDF helpers of children

sub child {                                                 # of an httpd that has one
    my @children = children(@_);
    return @children == 1 ? $children[0] : die 'httpd has ' . @children . " children, not one\n";
}

1;
