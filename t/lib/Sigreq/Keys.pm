# SPDX-License-Identifier: Apache-2.0
# Sigreq::Keys: searches the memory of processes for a private key.
package Sigreq::Keys;
use strict;
use warnings;
use Exporter 'import';
use MIME::Base64 'decode_base64';

our @EXPORT_OK = qw(parts_of_key memory_has);

sub parts_of_key {    # the forms in which memory may have a key: name → bytes
    my $pem = shift;
    my ($base64) = $pem =~ /-----BEGIN PRIVATE KEY-----\n(.*?)\n-----END/s or die "no key\n";
    my $der    = decode_base64($base64);
    my ($scalar) = $der =~ /\x02\x01\x01\x04\x20(.{32})/s or die "no P-256 key\n";
    my ($line) = split /\n/, $base64;
    return (DER => $der, text => substr($base64, 40, 24), scalar => $scalar, 'scalar, words' => scalar reverse $scalar);
}

sub memory_has {    # which parts are in the memory of a process; undef: it cannot be read
    my ($pid, %parts) = @_;
    no warnings 'portable';    # addresses have more than 32 bits
    open my $maps, '<', "/proc/$pid/maps" or return;
    open my $memory, '<:raw', "/proc/$pid/mem" or return;
    my %found;
    while (my $map = <$maps>) {
        my ($from, $to) = $map =~ /^([0-9a-f]+)-([0-9a-f]+) r/ or next;
        next if $map =~ /\[v(?:var|syscall)/;
        my ($at, $end) = (hex $from, hex $to);
        while ($at < $end) {    # pieces that overlap
            my $size = $end - $at > 1 << 24 ? 1 << 24 : $end - $at;
            sysseek $memory, $at, 0 or last;
            my $bytes = '';
            my $got   = sysread $memory, $bytes, $size;
            last unless $got;
            index($bytes, $parts{$_}) >= 0 and $found{$_} = 1 for keys %parts;
            $at += $got < $size || $at + $got == $end ? $got : $got - 4096;
        }
    }
    return join ', ', sort keys %found;
}

1;
