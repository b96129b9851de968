# SPDX-License-Identifier: Apache-2.0
# Bench::Upload: the upload of the benchmarks: a PDF of so many bytes and two signers with a field each.
package Bench::Upload;
use strict;
use warnings;
use Bench::Server;
use JSON::PP qw(decode_json);
use Sigreq::Multipart qw(multipart part BOUNDARY);
use Sigreq::PDF 'pdf';

use constant NONCE => 'nonce:' . 'x' x 32; # post.lua looks for it
use constant TYPE => 'multipart/form-data; boundary=' . BOUNDARY;

my @signers = map {
    my ($n, $first, $last) = @$_;
    sprintf '{"firstname":"%s","lastname":"%s","email":"%s@example.org","fields":[{"type":"signature",'
        . '"name":"Signature %d","document":"contract.pdf","area":{"x":72,"y":%d,"w":180,"h":50,"page":0}}]}',
        $first, $last, lc $first, $n, 72 * $n
} [1, 'Ann', 'Lee'], [2, 'Bob', 'Roe'];

sub signers { '[' . join(',', @signers) . ']' }

sub document { # a PDF of exactly so many bytes, three pages
    my $size = shift;
    my $pad = $size;
    for (1 .. 4) { # the lengths of the numbers in it change its size a little
        my $bytes = pdf(pages => 3, pad => $pad, nonce => NONCE);
        return $bytes if length $bytes == $size;
        $pad -= length($bytes) - $size;
    }
    die "no PDF of $size bytes\n";
}

sub body { # of so many bytes, and further parts
    my ($size, @more) = @_;
    return multipart(part('file', document($size), filename => 'contract.pdf', type => 'application/pdf'),
        part('name', 'Contract of sale'), part('signers', signers()), @more);
}

# Creates a submission by the API; gives the answer, decoded.
sub create { my ($server, $host, $size) = @_; return post($server, $host, body($size // 100_000)) }

sub post { # the same of a body, which stays in the file `upload`
    my ($server, $host, $body) = @_;
    my $file = Bench::Server::spew("$server->{dir}/upload", $body);
    my $answer = "$server->{dir}/answer";
    my $status = $server->curl($host, '/api/v3/signatures', '-o', $answer, '-H', 'Content-Type: ' . TYPE,
        '--data-binary', "\@$file");
    my $text = -e $answer ? Bench::Server::slurp($answer) : '';
    die "POST /signatures answers $status: $text\n" unless $status eq '201';
    return decode_json($text);
}

sub fetch { # the bytes of a GET
    my ($server, $host, $path) = @_;
    my $status = $server->curl($host, $path, '-o', "$server->{dir}/answer");
    die "GET $path answers $status\n" unless $status eq '200';
    return Bench::Server::slurp("$server->{dir}/answer");
}

1;
