# SPDX-License-Identifier: Apache-2.0
# Downloads of documents: the exact bytes, with ETag, conditions, ranges and HEAD.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use File::Basename qw(basename dirname);
use Sigreq::Here qw(organisation suite is_error stored reports collect);
use Sigreq::PDF 'pdf';
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my $bytes  = pdf(nonce => "documents $$", pad => 300_000);
my $size   = length $bytes;
my $made   = $client->create(
    files   => [["%22caf\xC3\xA9 \xE2\x82\xAC.pdf", $bytes], ['b.pdf', pdf()]],
    signers => Sigreq::Client::signers(
        {   fields => [
                {   type => 'signature', name => 'f', document => 'b.pdf',
                    area => { x => 1, y => 1, w => 1, h => 1, page => 0 } }] }))->json;
my $document = $made->{documents}[0];
my $path     = "/signatures/$made->{uuid}/documents/$document->{uuid}";
is($document->{sha256}, sha256_hex($bytes), 'sha256 as shown');
is($document->{size},   $size,              'size as shown');

for my $url ($path, "$path?version=original") {
    my $res = $client->get($url);
    is($res->code, 200, "GET $url");
    ok($res->body eq $bytes, 'the upload, byte for byte');
    is($res->headers->etag,                             qq{"$document->{sha256}"}, 'ETag');
    is($res->headers->content_length,                   $size,                     'Content-Length');
    is($res->headers->header('X-Content-Type-Options'), 'nosniff',                 'nosniff');
}
my $disposition = $client->get($path)->headers->content_disposition;
like($disposition, qr/^attachment; filename="[ -!#-~]*\.pdf"; filename\*=UTF-8''%22caf%C3%A9%20%E2%82%AC\.pdf$/,
    'Content-Disposition');

my $etag = qq{"$document->{sha256}"};
is($client->get($path, headers => { 'If-None-Match' => $_ })->code, 304, "If-None-Match: $_")
    for $etag, '*', qq{"x", $etag}, "W/$etag";
is($client->get($path, headers => { 'If-None-Match' => '"x"' })->code, 200, 'If-None-Match: another');
is($client->get($path, headers => { 'If-Match'      => '"x"' })->code, 412, 'If-Match: another');
is($client->get($path, headers => { 'If-Match'      => $etag })->code, 200, 'If-Match: this');

my %ranges = (
    'bytes=0-99'             => [0,         100], 'bytes=100-199' => [100, 100], 'bytes=-50' => [$size - 50, 50],
    "bytes=@{[$size - 1]}-"  => [$size - 1, 1],
    "bytes=0-@{[$size * 2]}" => [0,         $size]);
for my $range (sort keys %ranges) {
    my ($from, $length) = @{ $ranges{$range} };
    my $res = $client->get($path, headers => { Range => $range });
    is($res->code, 206, $range);
    ok($res->body eq substr($bytes, $from, $length), "$range: the answer has these bytes");
    is($res->headers->content_range, "bytes $from-" . ($from + $length - 1) . "/$size",
        "$range: Content-Range is right");
}
is($client->get($path, headers => { Range => 'bytes=0-9,20-29' })->headers->content_type =~ m{^multipart/byteranges}
    ? 1
    : 0, 1, 'two ranges');
is($client->get($path, headers => { Range => "bytes=$size-" }, unjudged => 1)->code, 416,
    'a range outside of the document');
is($client->get($path, headers => { Range => 'bytes=0-9', 'If-Range' => '"x"' })->code, 200, 'If-Range: another');
is($client->get($path, headers => { Range => 'bytes=0-9', 'If-Range' => $etag })->code, 206, 'If-Range: this');
my $head = $client->head($path);
is($head->code . ' ' . $head->headers->content_length . ' ' . $head->headers->etag, "200 $size $etag", 'HEAD');

is_error($client->get("$path?version=sealed"), 400, qr/version/, 'an unknown version is refused');
my $other = $client->create()->json;
is_error($client->get("/signatures/$other->{uuid}/documents/$document->{uuid}"), 404, 'Not found',
    'a document of another submission');
is_error($client->get("/signatures/$made->{uuid}/documents/$made->{uuid}"),         404, 'Not found',
    'a document that does not exist');
is_error($client->get("/signatures/$document->{uuid}/documents/$document->{uuid}"), 404, 'Not found',
    'a submission that does not exist');

# Earlier versions have stored documents and reports one folder deeper.
subtest 'a document that an earlier version has stored' => sub {
    plan skip_all => 'a bucket has none' if suite->{s3};
    my @files = map { $_->[0] } [stored($document->{sha256})], [reports($document->{sha256})];
    my @moved = map { join '/', dirname($_), substr($document->{sha256}, 2, 2), basename($_) } @files;
    mkdir dirname($moved[0]);
    rename $files[$_], $moved[$_] or die "$files[$_]: $!" for 0, 1;
    ok($client->get($path)->body eq $bytes, 'is downloaded');
    is($client->create(files => [['a.pdf', $bytes]])->code, 201, 'and is known');
    is_deeply([stored($document->{sha256})], [], 'it is not stored again');
    my @faults = grep { index($_->{key}, $document->{sha256}) == 0 } @{ Sigreq::Here::checked()->{problems} };
    is_deeply(\@faults, [], 'check finds no fault');
    collect();
    ok(-e $moved[0], 'and a collection leaves it');
};
done_testing;
