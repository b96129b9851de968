# SPDX-License-Identifier: Apache-2.0
# Requests that exceed a limit get an answer with the limit, store nothing, and do not affect others. The limits are
# those of /small (extra.conf.in).
use strict;
use warnings;
use Sigreq::Here qw(organisation suite place is_text nothing_happens temporary_files not_behind_firewall);
use Sigreq::Multipart qw(part multipart BOUNDARY);
use Sigreq::PDF       qw(pdf pdf_of_size);
use Sigreq::Preview;
use Sigreq::Raw;
use Test::More;

my $org   = organisation();
my $small = $org->{test}->with(base => place('/small'));
sub sized { pdf_of_size($_[0], nonce => "limits $$") }

sub too_large {
    my ($res, $pattern, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is($res->code, 413, $name);
    like($res->body, $pattern, "$name: the text has the limit");
    is($res->headers->content_type, 'text/plain; charset=utf-8', "$name: the answer is text");
}
my @field = @{ Sigreq::Client::signers()->[0]{fields} };

is($small->create(files => [['a.pdf', sized(65536)]])->code, 201, 'a file of exactly 64 KiB');
my $own = { %$org, test => $small };
nothing_happens(
    $own,
    'too much',
    sub {
        too_large($small->create(files => [['a.pdf', sized(65537)]]), qr/65536/, 'one byte more is refused');
        too_large($small->create(files => [['a.pdf', sized(60_000)], ['b.pdf', sized(60_000)]], name => 'n' x 20_000),
            qr/131072/, 'a request over the limit is refused');
        too_large($small->create(files => [map { ["$_.pdf", pdf()] } 1 .. 3]), qr/2 files/, 'three files are refused');
        too_large($small->create(name  => 'n' x 70_000),                       qr/65536/,
            'a name over the limit is refused');
        is_text($small->create(signers => Sigreq::Client::signers(({}) x 4)), 400, 'At most 3 signers can be provided');
        is_text(
            $small->create(
                signers => Sigreq::Client::signers({ fields => [(@field) x 3] }, { fields => [(@field) x 2] })),
            400,
            'At most 4 fields can be provided');
    });
is($small->create(signers => Sigreq::Client::signers({ fields => [(@field) x 2] }, {}, {}))->code, 201,
    '3 signers and 4 fields are accepted');
is($small->create(files => [map { ["$_.pdf", pdf()] } 'a', 'b'])->code, 201, '2 files are accepted');
is($org->{test}->create(files => [['a.pdf', sized(65537)]])->code,      201, 'other locations have other limits');

subtest 'without Content-Length' => sub {
    not_behind_firewall('it keeps a body until it is complete');
    my $raw = Sigreq::Raw->new(suite->{port});
    $raw->send("POST /small/api/v3/signatures HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $small->{token}\r\n"
            . 'Content-Type: multipart/form-data; boundary='
            . BOUNDARY
            . "\r\nTransfer-Encoding: chunked\r\n\r\n");
    my $body = multipart(part('file', sized(60_000) . 'x' x 1_000_000, filename => 'a.pdf', type => 'application/pdf'));
    my $sent = 0;
    for my $piece ($body =~ /(.{1,8192})/gs) {
        last unless $raw->send(sprintf "%x\r\n%s\r\n", length $piece, $piece);
        $sent += length $piece;
    }
    my $res = $raw->answer;
    is($res && $res->code, 413, 'a chunked upload is refused before its end');
    ok($raw->closes,                                          'the connection is closed');
    ok(Sigreq::Here::wait_for(sub { !temporary_files() }), 'no temporary file is left');
};

subtest 'a large document' => sub {
    my $bytes = pdf(nonce => "large $$", pad => 20_000_000);
    my $res   = $org->{test}->create(files => [['a.pdf', $bytes]]);
    is($res->code, 201, '20 MB are accepted');
    my $path = '/signatures/' . $res->json('/uuid') . '/documents/' . $res->json('/documents/0/uuid');
    ok($org->{test}->get($path)->body eq $bytes, 'the download of 20 MB has the same bytes');
};
done_testing;
