# SPDX-License-Identifier: Apache-2.0
# The pages of documents as images and texts. They have versions that never change, and are shown only to those who have
# the link.
use strict;
use warnings;
use Mojo::File     'path';
use Sigreq::Here   qw(organisation is_error suite place);
use Sigreq::PDF    'pdf';
use Sigreq::Pages  qw(page_url png_size png_ink cached words);
use Sigreq::Signer qw(signers_of);
use Test::More;

my $client = organisation()->{test};
my @two    = ({}, { firstname => 'Bob', area => { y => 300 } });
my $made   = $client->create(
    files   => [['a.pdf', pdf(nonce => "pages $$", pages => 3)], ['b.pdf', pdf(nonce => "more $$")]],
    signers => Sigreq::Client::signers(@two))->json;
my ($ann, $bob) = signers_of($made);
my ($document, $more) = @{ $ann->state->{documents} };
my $version = $document->{sha256};
my @forever = (version => $version);

sub image { my ($signer, $document, $n, @query) = @_; return $signer->get(page_url($document, $n, 'png', @query)) }
sub text  { my ($signer, $document, $n, @query) = @_; return $signer->get(page_url($document, $n, 'json', @query)) }

subtest 'an image' => sub {
    my $res = image($ann, $document, 0, @forever, width => 800);
    is($res->code, 200, 'there');
    is($res->headers->content_type, 'image/png', 'its type');
    is_deeply([png_size($res->body)], [800, 1035], 'the image has the requested width and the proportional height');
    is($res->headers->cache_control, 'private, max-age=3600, immutable', 'it may be cached for an hour');
    like($res->headers->etag, qr/^"[^"]+"$/, 'a strong ETag');
    my %want = ('Referrer-Policy' => 'no-referrer', 'X-Content-Type-Options' => 'nosniff', 'Vary' => undef);
    is($res->headers->header($_), $want{$_}, $_) for sort keys %want;
    cmp_ok(png_ink($res->body, 0, 85, 50, 10), '>', 100, 'ink is where the text is');
    is(png_ink($res->body, 0, 0, 100, 80), 0, 'there is no ink above');
    is($ann->get(page_url($document, 0, 'png', @forever))->body, $res->body, 'the default width is 800 pixels');
    my $head = $ann->request(HEAD => page_url($document, 0, 'png', @forever));
    is($head->code . ' ' . $head->headers->content_length, '200 ' . length $res->body, 'HEAD');
    my $part = $ann->get(page_url($document, 0, 'png', @forever), headers => { Range => 'bytes=1-3' });
    is($part->code . ' ' . $part->body, '206 PNG', 'a range');
    my %same = (headers => { 'If-None-Match' => $res->headers->etag });
    is($ann->get(page_url($document, 0, 'png', @forever), %same)->code, 304, 'If-None-Match: 304');
    is($ann->get(page_url($document, 1, 'png', @forever), %same)->code, 200, 'another page has another image');
    is($ann->get(page_url($document, 0, 'png', @forever, width => 400), %same)->code, 200,
        'another width has another image');
    my $now = image($ann, $document, 0);
    is($now->headers->cache_control, 'private, no-cache', 'without a version it must be revalidated');
    is($now->headers->etag, $res->headers->etag, 'the same ETag');
    is($now->body,          $res->body,          'the image is the same');
    is($ann->get(page_url($document, 0, 'png'), %same)->code, 304, 'If-None-Match: 304');
    is($bob->get(page_url($document, 0, 'png', @forever))->body, $res->body, 'the other signer sees the same');
};

subtest 'an image of the format that suits the page' => sub {
    my $res = $ann->get("/documents/$document->{uuid}/pages/0?version=$version");
    is($res->code . ' ' . $res->headers->content_type, '200 image/png', 'text comes as PNG');
    isnt($res->headers->etag, image($ann, $document, 0, @forever)->headers->etag, 'the PNG has its own ETag');
    my $head = $ann->request(HEAD => "/documents/$document->{uuid}/pages/0?version=$version");
    is($head->headers->content_type, 'image/png', 'HEAD');
    my $noise = join '', map { chr(160 + int rand 32) } 1 .. 64 * 64;
    my $scan  = 'q 612 0 0 792 0 0 cm BI /W 64 /H 64 /CS /G /BPC 8 /I true /F /AHx ID ';
    $scan .= unpack('H*', $noise) . '> EI Q';
    my $made = $client->create(files => [['a.pdf', pdf(nonce => "scan $$", pages => [{ content => $scan }])]])->json;
    my ($signer) = signers_of($made);
    my $url = "/documents/$made->{documents}[0]{uuid}/pages/0";
    my $jpeg = $signer->get($url);
    is($jpeg->code . ' ' . $jpeg->headers->content_type, '200 image/jpeg', 'a scan comes as JPEG');
    like($jpeg->body, qr/^\xff\xd8\xff/, 'its content has that type');
    my $png = $signer->get("$url.png");
    is($png->headers->content_type, 'image/png', 'the path .png gives a PNG');
    like($png->body, qr/^\x89PNG/, 'its content has that type');
    cmp_ok(2 * length $jpeg->body, '<', length $png->body, 'the JPEG has less than half of its bytes');
};

subtest 'widths' => sub {
    my %of = (16 => 200, 200 => 200, 201 => 400, 1999 => 2000, 2000 => 2000, 2001 => 3000, 4000 => 4000);
    for my $asked (sort { $a <=> $b } keys %of) {
        my ($width) = png_size(image($ann, $document, 0, @forever, width => $asked)->body);
        is($width, $of{$asked}, "$asked gives $of{$asked}");
    }
    is_error(image($ann, $document, 0, width => $_), 400, 'width must be 16 to 4000', "width $_")
        for qw(0 15 4001 -1 800px 8e2 99999999999999999999), '', ' 800';
    is_error(image($ann, $document, 0, width => 800, width => 800), 400, qr/more than once/);
    is_error(image($ann, $document, 0, scale => 2), 400, 'Unknown query parameter scale');
    is_error(text($ann, $document, 0, width => 800), 400, 'Unknown query parameter width');
};

subtest 'a text' => sub {
    my $res = text($ann, $document, 1, @forever);
    is($res->headers->content_type, 'application/json', 'its type');
    is($res->headers->cache_control, 'private, max-age=3600, immutable', 'it may be cached for an hour');
    my $text = $res->json;
    is(words($text), 'Page 2', 'the text of the page');
    is_deeply([@$text{qw(width height)}], [612, 792], 'the size of the page');
    my ($first) = @{ $text->{lines}[0] };
    my ($left, $top, $width, $height) = @$first[1 .. 4];
    cmp_ok(abs($left - 100 * 72 / 612), '<', 0.5, 'the box begins where the text does');
    cmp_ok($top, '<', 100 - 100 * 72 / 792, 'the box begins above the baseline');
    cmp_ok($top + $height, '>=', 100 - 100 * 72 / 792, 'the box ends at the baseline');
    cmp_ok($width, '>', 3, 'the box has the width of a word');
    is($ann->get(page_url($document, 1, 'json'), headers => { 'If-None-Match' => $res->headers->etag })->code, 304,
        'If-None-Match: 304');
    is($ann->get(page_url($document, 1, 'json', @forever), headers => { Accept => 'text/html' })->body, $res->body,
        'errors are JSON, whatever Accept says');
};

subtest 'the cells of a table' => sub {
    my @cells = ('Monthly rent', '985.00', 'Due', 'on the first day', 'Deposit', '1,136.00');
    my $at    = sub { my $i = shift; sprintf '%d %d', 72 + 148 * ($i % 2), 700 - 24 * int $i / 2 };
    my $table = join ' ', map {"BT /F 12 Tf 1 0 0 1 @{[ $at->($_) ]} Tm ($cells[$_]) Tj ET"} 0 .. $#cells;
    $table .= ' BT /F 12 Tf 0 1 -1 0 400 300 Tm (From below) Tj ET';
    my $tabular = $client->create(files => [['t.pdf', pdf(nonce => "cells $$", pages => [{ content => $table }])]],
        signers => Sigreq::Client::signers({ fields => [{ type => 'signature', name => 'S', document => 't.pdf',
            area => { x => 0, y => 0, w => 50, h => 50, page => 0 } }] }))->json;
    my ($reader) = signers_of($tabular);
    my @words = map { $_->[0] } map {@$_} @{ text($reader, $tabular->{documents}[0], 0)->json->{lines} };
    is_deeply([sort @words], [sort map { split / / } @cells, 'From below'], 'are words of their own');
};

subtest 'pages that do not exist' => sub {
    my $gone = sub { is_error(image($ann, $document, @_), 404, 'Not found', "page @_") };
    $gone->($_), $gone->($_, @forever) for 3, 4, 999_999_999, '9' x 30, -1, '00', '01', '1.0', 'x', '%20', '0x0', '+1';
    is(image($ann, $more, 0, version => $more->{sha256})->code, 200, '(the other document has its own)');
    $gone->(0, version => $_)
        for 'x', '', substr($version, 1), uc $version, "$version ", $more->{sha256}, 'a' x 64;
    is_error(text($ann, $document, 3), 404, 'Not found', 'text of page 3');
    is_error($ann->get("/documents/$document->{uuid}/pages/$_"), 404, 'Not found', "pages/$_")
        for '', '.png', '0.gif', '0.PNG', '0.png.json', '0.png/', '0/1.png';
    is_error(image($ann, { uuid => $made->{uuid} }, 0), 404, 'Not found', 'a document that does not exist');
    is_error(image($ann, { uuid => 'x' }, 0, @forever), 404, 'Not found', 'an invalid uuid');
    my $nobody = Sigreq::Signer->new(link => $ann->{link} =~ s/[0-9a-f]{12}$/000000000000/r);
    is_error(image($nobody, $document, 0, @forever), 404, 'Not found', 'a link that does not exist');
    my $else = $client->create(files => [['c.pdf', pdf(nonce => "else $$")]],
        signers => Sigreq::Client::signers({ fields => [{ type => 'signature', name => 'S', document => 'c.pdf',
            area => { x => 0, y => 0, w => 50, h => 50, page => 0 } }] }))->json;
    my ($stranger) = signers_of($else);
    is_error(image($stranger, $document, 0, @forever), 404, 'Not found', 'another submission\'s document');
    is_error(image($stranger, $stranger->state->{documents}[0], 0, @forever), 404, 'Not found',
        'another document\'s version, though it is in the cache');
    my $post = $ann->request(POST => page_url($document, 0, 'png'));
    is($post->code . ' ' . $post->headers->header('Allow'), '405 GET, HEAD, OPTIONS', 'POST');
};

subtest 'pages do not open the link' => sub {
    my $status = $client->get("/signatures/$made->{uuid}")->json->{submitters}[1]{status};
    is($status, 'sent', 'a request for a page does not open the link');
};

subtest 'after a signature' => sub {
    my @field = (11.7647, 84.596, 29.4118, 6.3131);
    my $before = image($ann, $document, 0, @forever)->body;
    my $empty = png_ink($before, 11.7647, 84.596, 29.4118, 3);
    is(image($ann, $document, 0)->body, $before, 'the version of the upload is current');
    is($ann->sign('Ann Lee')->json->{state}, 'completed', 'signed');
    isnt(image($ann, $document, 0)->body, $before, 'after a signature another version is current');
    my ($signed) = @{ $ann->state->{documents} };
    isnt($signed->{sha256}, $version, 'the version has changed');
    my $after = image($ann, $signed, 0, version => $signed->{sha256});
    is($after->code, 200, 'the new version is shown');
    cmp_ok(png_ink($after->body, @field), '>', png_ink($before, @field) + 200, 'the field has ink');
    is($after->headers->cache_control, 'private, max-age=3600, immutable', 'the new version may be cached for an hour');
    is(image($ann, $signed, 0)->body, $after->body, 'it is the current version');
    unlike(image($ann, $signed, 0)->headers->etag, qr/^\Q@{[image($ann, $document, 0, @forever)->headers->etag]}\E$/,
        'it has another ETag');
    is($_->get(page_url($document, 0, 'png', @forever))->body, $before, 'the old version shows none') for $ann, $bob;
    is($empty, 0, '(nor did it)');
    is(words(text($ann, $signed, 1)->json), 'Page 2', 'the text of the new version');
    is($bob->sign('Bob')->json->{state}, 'completed', 'the other signer signs');
    my ($last) = @{ $bob->state->{documents} };
    my @above = (11.7647, 100 - 100 * 350 / 792, 29.4118, 6.3131);
    is(png_ink($after->body, @above), 0, 'the version between the signatures has no ink of the second one');
    cmp_ok(png_ink(image($ann, $last, 0, version => $last->{sha256})->body, @above), '>', 200,
        'the last version has ink of the second signature');
    is(image($ann, $signed, 0, version => $signed->{sha256})->body, $after->body,
        'the version between the signatures is shown');
    is(image($ann, $signed, 2, version => $signed->{sha256})->code, 200, 'also a page of it that was never requested');
    unlink cached($_) for $version, $signed->{sha256};
    is(image($ann, $document, 0, @forever)->body, $before, 'without the cache the first version is shown again');
    is(image($ann, $signed, 0, version => $signed->{sha256})->body, $after->body, 'the second version is shown again');
};

subtest 'many, small and large pages' => sub {
    my @pages = map { +{ text => "Number $_" } } 1 .. 300;
    my $pdf = pdf(nonce => "many $$", pages => [
        @pages, { mediabox => [0, 0, 3, 3], text => '' }, { mediabox => [0, 0, 14400, 14400] },
        { mediabox => [0, 0, 3, 14400], text => '' }, { mediabox => [0, 0, 400, 200], rotate => 90 }]);
    my ($signer) = signers_of($client->create(files => [['a.pdf', $pdf]])->json);
    my ($document) = @{ $signer->state->{documents} };
    is($document->{pages}, 304, 'the state has the pages');
    is(words(text($signer, $document, 299)->json), 'Number 300', 'the last of 300');
    is_deeply([png_size(image($signer, $document, 299, width => 200)->body)], [200, 259], 'the last page has an image');
    is_deeply([png_size(image($signer, $document, 300, width => 200)->body)], [200, 200], 'a tiny page');
    is_deeply([png_size(image($signer, $document, 301, width => 800)->body)], [800, 800], 'a huge page');
    is_deeply([png_size(image($signer, $document, 303, width => 200)->body)], [200, 400], 'a turned page');
    for my $try (1, 2) {
        my $res = image($signer, $document, 302, version => $document->{sha256}, width => 4000);
        is_error($res, 422, qr/^Page 302 cannot be shown: ./, 'a page whose image would be too high');
        is($res->headers->cache_control, 'no-store', 'the refusal must not be cached');
    }
    is(text($signer, $document, 302)->code, 200, 'the text of this page is shown');
    is_error(image($signer, $document, 304), 404, 'Not found', 'there is no further page');
};

subtest 'at other locations' => sub {
    for my $at ('/deep/er/place', '/nested') {
        my $signer = Sigreq::Signer->new(link => $ann->{link} =~ s{^http://[^/]+}{place($at)}er);
        is(image($signer, $document, 0, @forever)->code, 200, "below $at");
    }
};

my ($secret) = $ann->{link} =~ m{([^/]+)$};
my @leaks = grep { /SR0\d+/ && index($_, $secret) >= 0 } split /\n/,
    path(suite->{dir} . '/t/logs/error_log')->slurp;
ok(!@leaks, 'the log does not have the link') or diag @leaks;
done_testing;
