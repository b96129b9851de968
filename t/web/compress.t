# SPDX-License-Identifier: Apache-2.0
# HTML and JSON are sent as gzip to clients that accept it, with their own ETag. Answers that create or refuse something
# are not compressed.
use strict;
use warnings;
use Compress::Zlib 'memGunzip';
use Mojo::UserAgent;
use Sigreq::Here   qw(place organisation);
use Sigreq::PDF    'pdf';
use Sigreq::Signer qw(signers_of);
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my $ua     = Mojo::UserAgent->new;
my $lines  = join ' ', 'BT /F 10 Tf 20 700 Td', ('(a line of some words) Tj 0 -12 Td') x 30, 'ET';
my $made   = $client->create(files => [['a.pdf', pdf(nonce => "gzip $$", pages => [{ content => $lines }])]])->json;
my ($ann)  = signers_of($made);
my %accept = ('Accept-Encoding' => 'gzip, deflate, br');

sub fetch {
    my ($method, $url, %headers) = @_;
    my $tx = $ua->build_tx($method => $url, { 'Accept-Encoding' => 'identity', %headers });
    $tx->res->content->auto_decompress(0);
    return $ua->start($tx)->res;
}

my $text = "$ann->{link}/documents/$made->{documents}[0]{uuid}/pages/0.json?version=$made->{documents}[0]{sha256}";
my %of   = (
    'the signing page'   => [$ann->{link}, Accept => 'text/html'],
    'the state'          => [$ann->{link}, Accept => 'application/json'],
    'the API'            => [place("/api/v3/signatures/$made->{uuid}"), Authorization => "Bearer $client->{token}"],
    'the description'    => [place('/api/v3/openapi.json')],
);
for my $what (sort keys %of) {
    subtest $what => sub {
        my ($url, %headers) = @{ $of{$what} };
        my $plain = fetch(GET => $url, %headers);
        is($plain->code, 200, 'the resource exists');
        is($plain->headers->content_encoding, undef, 'it is not compressed for clients without gzip');
        cmp_ok(length $plain->body, '>=', 1024, 'it is large enough');
        like($plain->headers->header('Vary') // '', qr/\bAccept-Encoding\b/, 'Vary');
        my $gzip = fetch(GET => $url, %headers, %accept);
        is($gzip->headers->content_encoding, 'gzip', 'gzip');
        is($gzip->headers->header('Vary'), $plain->headers->header('Vary'), 'the same Vary');
        is($gzip->headers->content_type, $plain->headers->content_type, 'the same type');
        is(memGunzip($gzip->body), $plain->body, 'the same content');
        cmp_ok(2 * length $gzip->body, '<', length $plain->body, 'in less than half of the bytes')
            if $what =~ /page|description/;
        my $head = fetch(HEAD => $url, %headers, %accept);
        is($head->headers->content_length, length $gzip->body, 'HEAD has the same length');
        is(fetch(GET => $url, %headers, 'Accept-Encoding' => 'gzip;q=0')->headers->content_encoding, undef,
            'gzip;q=0 gets no gzip');
    };
}

subtest 'the text of a page' => sub {
    my $plain = fetch(GET => $text);
    my $gzip  = fetch(GET => $text, %accept);
    is($gzip->headers->content_encoding, 'gzip', 'gzip') or return;
    is(memGunzip($gzip->body), $plain->body, 'the same content');
    my ($own, $other) = map { $_->headers->etag } $gzip, $plain;
    isnt($own, $other, 'the compressed form has its own ETag');
    is(fetch(GET => $text, %accept, 'If-None-Match' => $own)->code,   304, 'If-None-Match with this ETag is a 304');
    is(fetch(GET => $text, %accept, 'If-None-Match' => $other)->code, 200,
        'If-None-Match with the other ETag is not a 304');
    my $part = fetch(GET => $text, %accept, Range => 'bytes=0-9');
    is($part->code . ' ' . $part->body, '206 ' . substr($plain->body, 0, 10), 'a range is of the uncompressed text');
    is($part->headers->content_encoding, undef, 'it is not compressed');
};

subtest 'answers that are not compressed' => sub {
    my $token = fetch(POST => place('/api/v3/tokens'), Authorization => "Bearer $client->{token}", %accept);
    is($token->headers->content_encoding, undef, 'a new token is not compressed');
    my $gone = fetch(GET => place('/sign/' . '0' x 8 . '-0000-4000-8000-' . '0' x 12), Accept => 'text/html', %accept);
    is($gone->code, 404, 'an error is not compressed');
    is($gone->headers->content_encoding, undef, 'it is not compressed');
    my $image = fetch(GET => $text =~ s/\.json//r, %accept);
    is($image->code . ' ' . ($image->headers->content_encoding // ''), '200 ', 'an image is not compressed');
    is($image->headers->header('Vary'), undef, 'an image has no Vary');
};
done_testing;
