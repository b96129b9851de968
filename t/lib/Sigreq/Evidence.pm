# SPDX-License-Identifier: Apache-2.0
# Sigreq::Evidence: verifies audit trails, with code of its own and with the commands of docs/api.md.
package Sigreq::Evidence;
use strict;
use warnings;
use Exporter 'import';
use Digest::SHA 'sha256_hex';
use Encode 'encode_utf8';
use File::Temp ();
use JSON::PP ();
use Mojo::File 'path';
use Storable 'dclone';

our @EXPORT_OK = qw(chain_fault commands_say);

# Takes the personal values out of an event. Returns a fault of their commitments, or undef.
sub commitments_fault {
    my $event = shift;
    my ($salts, $commitments) = (delete $event->{salts}, $event->{commitments} // {});
    return 'salts and commitments differ' if $salts && "@{[sort keys %$salts]}" ne "@{[sort keys %$commitments]}";
    for my $path (sort keys %$commitments) {
        my @names = split /[.]/, $path;
        my $last  = pop @names;
        my $at    = $event;
        $at = ref $at eq 'ARRAY' ? $at->[$_] : $at->{$_} for @names;
        my $there = exists $at->{$last};
        my $value = delete $at->{$last};
        return "$path is " . ($there ? 'there' : 'missing') if $there != !!$salts;
        my $bytes = ref $value ? JSON::PP->new->canonical->utf8->encode($value) : encode_utf8($value // '');
        return "the commitment of $path is wrong"
            if $salts && $commitments->{$path} ne sha256_hex($salts->{$path} . $bytes);
    }
    return;
}

# What is wrong with an audit trail (the decoded answer), or undef: each event is to have its number, the hash of the
# one before it, and its own hash and its commitments right.
sub chain_fault {
    my $audit = shift;
    my ($number, $previous) = (0);
    for my $event (@{ $audit->{events} }) {
        my $rest = dclone($event);
        my $hash = delete $rest->{hash};
        return "number $event->{number} is in the place of another" if $event->{number} != ++$number;
        return "event $number does not have the hash before it" if ($rest->{previousHash} // '') ne ($previous // '');
        my $fault = commitments_fault($rest);
        return "event $number: $fault" if $fault;
        $previous = $hash;
        next if keys %$rest == 2;    # an event of a deleted submission from before there were commitments
        return "the hash of event $number is wrong"
            if $hash ne sha256_hex(JSON::PP->new->canonical->utf8->encode($rest));
    }
    return $number ? undef : 'no events';
}

# What the commands of docs/api.md print about an audit trail (the bytes of an answer): nothing if it is right. `source`
# is the folder of the sources.
sub commands_say {
    my ($source, $bytes) = @_;
    my ($section) = path("$source/docs/api.md")->slurp =~ /^\#\#\# The evidence\n(.*?)^\#\# /ms;
    my (undef, @blocks) = $section =~ /^```sh\n(.*?)^```/msg;    # the first one gets the audit trail
    @blocks == 2 or die "docs/api.md: The evidence has other blocks\n";
    my $dir = File::Temp->newdir;
    path("$dir/audit.json")->spurt($bytes);
    path("$dir/run")->spurt("cd $dir\nset -e\n" . join '', @blocks);
    my $said = `/bin/sh $dir/run 2>&1`;
    return $said . ($? ? "ended with $?" : '');
}

1;
