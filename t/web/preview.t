# SPDX-License-Identifier: Apache-2.0
# Previews of signatures and values: drawings, names, images and texts. Nothing is stored. An image and strokes as one
# text can also be signed with.
use strict;
use warnings;
use MIME::Base64 'decode_base64';
use Mojo::JSON   qw(encode_json);
use Sigreq::Here qw(suite organisation is_error documents);
use Sigreq::Signer 'signers_of';
use Test::More;

my $client = organisation()->{test};
my @people = ({}, { firstname => 'Bob', area => { y => 300 } });
my $made   = $client->create(signers => Sigreq::Client::signers(@people))->json;
my ($ann, $bob) = signers_of($made);
my %canvas  = (type => 'drawn', width => 720, height => 360);
my $strokes = [[[0, 0], [100, 70]], [[200, 0, 1]]];
my $png     = decode_base64('iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJ'
        . 'RU5ErkJggg==');
my $preview = sub {
    my ($signer, $signature) = @_;
    return $signer->request(POST => '/preview', json => { signature => $signature });
};

my ($before, $files) = ($client->get("/signatures/$made->{uuid}")->body, scalar documents());
subtest 'drawn' => sub {
    my $res = $preview->($ann, { %canvas, strokes => $strokes });
    is($res->code, 200, 'answered');
    is($res->headers->content_type, 'application/json', 'the answer is JSON');
    my $drawing = $res->json;
    is($drawing->{width}, 1000, 'the longer side of the drawing');
    ok(abs($drawing->{height} - 418) < 2, "the height of the drawing: $drawing->{height}");
    like($_->{d}, qr/^M[\d.]+ [\d.]+ [LC]/, 'a path') for @{ $drawing->{paths} };
    ok($_->{stroke} > 20, 'its width') for @{ $drawing->{paths} };
    my ($x, $y) = $drawing->{paths}[0]{d} =~ /^M([\d.]+) ([\d.]+)/;
    ok(abs($x - 49) < 2 && abs($y - 55) < 2, "the drawing begins at $x, $y, at the top left after the padding");
    my $moved = [map { [map { [$_->[0] + 300, $_->[1] + 200, $_->[2] // ()] } @$_] } @$strokes];
    is_deeply($preview->($ann, { %canvas, strokes => $moved })->json, $drawing,
        'at another place of the canvas the drawing is the same');
    my $text = $preview->($ann, { %canvas, strokes => 'AAAiMmIA.iMnIoP' })->json;
    is(scalar @{ $text->{paths} }, scalar @{ $drawing->{paths} }, 'strokes as one text are accepted');
    ok(abs($text->{height} - $drawing->{height}) < 1, 'strokes as one text have the same height');
};

subtest 'typed' => sub {
    my $drawing = $preview->($ann, { type => 'typed', text => 'Ann Lee' })->json;
    ok($drawing->{width} > $drawing->{height}, 'a name is wider than high');
    is(scalar @{ $drawing->{paths} }, 1, 'one path');
    ok(!exists $drawing->{paths}[0]{stroke}, 'the path is filled');
    my $unknown = $preview->($ann, { type => 'typed', text => "Ann \x{10fffd}\x{f8fe}\x{10fffd}" })->json;
    is_deeply($unknown, { unknown => ["\x{10fffd}", "\x{f8fe}"] }, 'characters that no font has are named, once each');
};

subtest 'an image' => sub {
    my $url = 'data:image/png;base64,' . MIME::Base64::encode_base64($png, '');
    my $one = $preview->($ann, { type => 'uploaded', image => $url })->json;
    is($one->{type}, 'image/png', 'a PNG');
    like(decode_base64($one->{image}), qr/^\x89PNG/, 'the PNG is in base64');
    my $file = $ann->request(POST => '/preview', form => { image => { content => $png, filename => 'a.png' } });
    is_deeply($file->json, $one, 'an image is accepted as a file');
};

subtest 'signatures that cannot be drawn' => sub {
    is_error($preview->($ann, undef), 400, qr/must be of type/, 'a missing signature is refused');
    is_error($preview->($ann, { type => 'typed', text => ' ' }), 400, qr/not blank/, 'a blank name is refused');
    is_error($preview->($ann, { %canvas, strokes => 'AAa' }), 400, qr/letters A to P/,
        'strokes that end in a number are refused');
    my $junk = sub {
        return $ann->request(POST => '/preview', form => { image => { content => $_[0], filename => 'a.png' } });
    };
    is_error($junk->('GIF89a'),          400, qr/neither a PNG nor a JPEG nor a WebP/, 'a GIF');
    is_error($junk->('x' x 1_100_000),   400, qr/at most 1 MiB/, 'a large file');
    is_error($junk->('x' x 1_400_000),   413, qr/at most/,       'a larger one');
    is_error($ann->request(POST => '/preview', form => { x => 1 }), 400, qr/not blank/, 'an empty form');
    is_error($preview->(Sigreq::Signer->new(link => $ann->{link} =~ s/[0-9a-f]{12}$/000000000000/r), {}),
        404, 'Not found', 'an unknown link');
    my %foreign = (headers => { Origin => 'https://evil.example' });
    is_error($ann->request(POST => '/preview', json => {}, %foreign), 403, qr/signing page/, 'a page of another site');
};
is($client->get("/signatures/$made->{uuid}")->body, $before, 'nothing has changed');
is(scalar documents(), $files, 'no file is stored');

subtest 'values' => sub {
    my $of = sub {
        my ($type, $y, %more) = @_;
        my %area = (x => 72, y => $y, w => 180, h => 20, page => 0);
        return { type => $type, name => $type, document => 'a.pdf', area => \%area, %more };
    };
    my @fields = ($of->(signature => 600), $of->(text => 500, format => 'decimal'), $of->(checkbox => 450),
        $of->(date => 400), $of->(text => 350, value => 'x', readOnly => Mojo::JSON->true));
    my ($signer) = signers_of($client->create(
        signers => [{ firstname => 'Ann', lastname => 'Lee', email => 'ann@example.org', fields => \@fields }])->json);
    my $ask    = sub { return $signer->request(POST => '/preview', json => { values => $_[0], utcOffset => 0 }) };
    my $drawn  = $ask->({ 2 => '950,00', 3 => Mojo::JSON->true, 4 => undef })->json;
    my %values = map { $_->{number} => $_ } @{ $drawn->{values} };
    is_deeply([[sort keys %values], $drawn->{fields}], [[2, 3, 4], []], 'a text, a tick and the day can be shown');
    is_deeply([@{ $values{2} }{qw(width height)}], [180, 20], 'the size of the field in points');
    my ($left, $top, $width, $height) = @{ $values{2}{parts}[0]{box} };
    ok($left == 2 && $top > 0 && $width > 30 && $width < 50 && $top + $height < 20, 'the text is within its field');
    like($values{2}{parts}[0]{drawing}{paths}[0]{d}, qr/^M[\d.]+ /, 'the text is a path');
    cmp_ok($values{3}{parts}[0]{drawing}{paths}[0]{stroke}, '>', 0, 'a tick is a line');
    my $faults = sub { return [map {"$_->{number} $_->{code}"} @{ $ask->(shift)->json->{fields} }] };
    is_deeply($faults->({ 2 => 'much' }),      ['2 format'],  'a value of another format');
    is_deeply($faults->({ 2 => '1' x 190 }),   ['2 fit'],     'a value that does not fit');
    is_deeply($faults->({ 3 => 'yes' }),       ['3 type'],    'a value of another type');
    is_deeply($faults->({ 1 => '', x => '' }), [('0 unknown') x 2], 'a field that has no value, and none');
    is_error($ask->({ map { $_ => '' } 1 .. 21 }), 400, qr/At most 20 values/, 'many values');
    is_error($ask->([]), 400, 'values must be an object', 'an array');
};

subtest 'signing in the same ways' => sub {
    my $form = sub { return { action => 'sign', image => { content => $png, filename => 'a.png' }, @_ } };
    is_error($ann->post(form => $form->()), 400, qr/consent/, 'without consent');
    is($ann->post(form => $form->(consent => 'yes'))->json->{state}, 'completed', 'by a form with an image');
    is_error($preview->($ann, { type => 'typed', text => 'Ann' }), 409, qr/signed already/,
        'after signing there is no preview');
    my $drawn = { %canvas, strokes => 'AAAiMmIA.iMnIoP' };
    is($bob->post(json => { action => 'sign', consent => \1, signature => $drawn })->json->{state}, 'completed',
        'signing with strokes as one text');
    my @kinds = map { $_->{signerInformation}{signatureType} }
        @{ $client->get("/signatures/$made->{uuid}")->json->{submitters} };
    is_deeply(\@kinds, [qw(uploaded drawn)], 'the API shows the kinds of the signatures');
    my $page = $bob->post(form => $form->(consent => 'yes'), headers => { Accept => 'text/html' });
    is($page->code, 409, 'a browser gets a page');
    like($page->headers->content_type, qr/html/, 'the page for a browser is HTML');
};
done_testing;
