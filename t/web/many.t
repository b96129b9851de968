# SPDX-License-Identifier: Apache-2.0
# Many requests and many documents: a signer who posts a hundred times at the same time signs once. Twenty signers of
# one document all sign, and each signature stays valid. Documents without a field of the signer do not change.
use strict;
use warnings;
use Sigreq::Here   qw(organisation temporary_files wait_for at_once);
use Sigreq::PDF    'pdf';
use Sigreq::Signer qw(signers_of pdfsig qpdf_check is_unchanged);
use Sigreq::Validator 'images_in';
use Compress::Zlib qw(compress crc32);
use Mojo::Util     'b64_encode';
use Test::More;

my $org    = organisation();
my $client = $org->{test};

subtest 'one signer signs a hundred times at the same time' => sub {
    my $made = $client->create(files => [['a.pdf', pdf(nonce => "hundred $$")]])->json;
    my ($signer) = signers_of($made);
    my $crowd   = Sigreq::Signer->new(link => $signer->{link}, connections => 0);
    my @answers = $client->parallel(100, at_once(50), sub { $crowd->sign_p('Ann') });
    my %codes;
    $codes{ $_->code }++ for @answers;
    $codes{ $crowd->sign('Ann')->code }++ for 1 .. delete $codes{503} // 0;    # a busy machine asks to try again
    is_deeply(\%codes, { 200 => 1, 409 => 99 }, 'one request succeeds');
    my @events = map { $_->{event} } @{ $client->get("/signatures/$made->{uuid}/audit")->json->{events} };
    is(scalar(grep { $_ eq 'signed' } @events), 1, 'there is one event');
    my $told = pdfsig($client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body);
    is_deeply([@$told{qw(signatures valid total)}], [1, 1, 1], 'there is one signature');
};

subtest 'twenty signers at the same time' => sub {
    my $place  = sub { { x => 20 + 110 * ($_[0] % 5), y => 30 + 60 * int($_[0] / 5), w => 100, h => 50 } };
    my @people = map { { firstname => "S$_", area => $place->($_) } } 0 .. 19;
    my @files  = (['a.pdf', pdf(nonce => "twenty $$")]);
    my $made   = $client->create(files => \@files, signers => Sigreq::Client::signers(@people))->json;
    my @signers = signers_of($made, connections => 0);
    my @answers = $client->parallel(20, at_once(20), sub { $signers[ $_[0] ]->sign_p("Name $_[0]") });
    is_deeply([map { $_->code } @answers], [(200) x 20], 'all signers have signed');
    my $all = $client->get("/signatures/$made->{uuid}")->json;
    is(scalar(grep { $_->{status} eq 'completed' } @{ $all->{submitters} }), 20, 'all have the status completed');
    my $bytes = $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body;
    my $told  = pdfsig($bytes);
    is_deeply([@$told{qw(signatures valid total)}], [20, 20, 1], 'twenty valid signatures') or diag $told->{said};
    is(qpdf_check($bytes), '', 'qpdf --check');
    is_unchanged($bytes, 20);
    my @numbers = map { $_->{number} } @{ $client->get("/signatures/$made->{uuid}/audit")->json->{events} };
    is_deeply(\@numbers, [1 .. @numbers], 'all events are recorded');
};

subtest 'two documents, and signers of one' => sub {
    my $field = sub {
        my @area = (area => { x => 50, y => 50, w => 100, h => 40, page => 0 });
        return { fields => [map { { type => 'signature', name => 'f', document => $_, @area } } @_] };
    };
    my $made = $client->create(
        files   => [['a.pdf', pdf(nonce => "a $$")], ['b.pdf', pdf(nonce => "b $$")]],
        signers => Sigreq::Client::signers($field->('a.pdf'), $field->('a.pdf', 'b.pdf')))->json;
    my ($one, $two) = signers_of($made);
    is($one->sign->code, 200, 'the first signs');
    my $shown = $client->get("/signatures/$made->{uuid}")->json;
    is_deeply([map { $_->{name} } @{ $shown->{submitters}[0]{signedDocuments} }],
        ['a.pdf'], 'the signer has signed the document with their field');
    my ($a, $b) = map { "/signatures/$made->{uuid}/documents/$_->{uuid}" } @{ $made->{documents} };
    is(length $client->get($b)->body, $made->{documents}[1]{size}, 'the other document has not changed');
    is($two->sign->code, 200, 'the second signs');
    is(pdfsig($client->get($a)->body)->{valid}, 2, 'the first document has two signatures');
    is(pdfsig($client->get($b)->body)->{valid}, 1, 'the second document has one signature');
};
subtest 'drawn, typed, uploaded; in any script' => sub {
    my $drawn = { type => 'drawn', width => 300, height => 100, strokes => [[[10, 90], [150, 10, 0.7], [290, 90]]] };
    my $image = { type => 'uploaded', image => 'data:image/png;base64,' . b64_encode(png(), '') };
    my @kinds = ($drawn, $image,
        map { { type => 'typed', text => $_ } }
            'Zo\x{eb}', "\x{645}\x{62d}\x{645}\x{62f}", "\x{915}\x{94d}\x{937}", "\x{674e}\x{5c0f}\x{9f99}");
    my @people = map { { firstname => "K$_", area => { x => 20 + 90 * $_, y => 300, w => 80, h => 40 } } } 0 .. $#kinds;
    my $made   = $client->create(signers => Sigreq::Client::signers(@people))->json;
    my @signers = signers_of($made);
    my $path    = "/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}";
    for my $i (0 .. $#kinds) {
        my $before = ink($client->get($path)->body);
        is($signers[$i]->post(json => { action => 'sign', consent => \1, signature => $kinds[$i] })->code, 200,
            "$i: $kinds[$i]{type}");
        cmp_ok(ink($client->get($path)->body), '>', $before + 20, "$i: ink is visible in the field");
        my $shown = $client->get("/signatures/$made->{uuid}")->json->{submitters}[$i];
        is($shown->{signerInformation}{signatureType}, $kinds[$i]{type}, "$i: the API shows the kind");
    }
    my $told = pdfsig($client->get($path)->body);
    is_deeply([@$told{qw(signatures valid total)}], [6, 6, 1], 'all signatures are valid');
};

# Together they are larger than what a certificate has room for: they are scaled down until all have room.
subtest 'the certificate shows the image of each of 16 signers, 6 MB in all' => sub {
    my $place   = sub { { x => 20 + 140 * ($_[0] % 4), y => 50 + 60 * int $_[0] / 4 } };
    my @people  = map { { firstname => "P$_", area => $place->($_) } } 0 .. 15;
    my $made    = $client->create(signers => Sigreq::Client::signers(@people))->json;
    my $noise   = photograph(600, 140);
    my %signing = (action => 'sign', consent => \1, signature => { type => 'uploaded', image => $noise });
    is_deeply([map { $_->post(json => \%signing)->code } signers_of($made)], [(200) x 16], 'all signed');
    my $certificate = $client->get("/signatures/$made->{uuid}/certificate")->body;
    is(images_in($certificate), 16, 'all images are there');
    is(pdfsig($certificate)->{valid}, 1, 'and its signature is valid');
};

sub photograph { # noise, which cannot be compressed, as a data: URL
    my ($width, $height) = @_;
    my @rows = map { "\0" . noise(3 * $width) } 1 .. $height;
    return 'data:image/png;base64,' . b64_encode(png_of($width, $height, 2, @rows), '');
}

sub noise { return join '', map { chr rand 128 } 1 .. shift }

sub png { # 60 x 30, with a black bar
    return png_of(60, 30, 0, map { "\0" . ($_ > 10 && $_ < 20 ? "\0" : "\xff") x 60 } 0 .. 29);
}

sub png_of {
    my ($width, $height, $type, @rows) = @_;
    my $chunk = sub { my $all = join '', @_; pack('N', length $_[1]) . $all . pack 'N', crc32($all) };
    return "\x89PNG\r\n\x1a\n" . $chunk->('IHDR', pack 'NNC5', $width, $height, 8, $type, 0, 0, 0)
        . $chunk->('IDAT', compress(join '', @rows)) . $chunk->('IEND', '');
}

sub ink { # pixels of the first page that are not white
    my $file = Sigreq::Validator::saved(shift);
    my $gray = qx(pdftoppm -gray -r 50 -f 1 -l 1 '$file' 2>/dev/null);
    return substr($gray, -425 * 550) =~ tr/\xff//c;
}

ok(wait_for(sub { !temporary_files() }), 'no temporary file is left');
done_testing;
