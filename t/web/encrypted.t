# SPDX-License-Identifier: Apache-2.0
# Documents that are encrypted with only an owner's password, from the upload to the second signature, by HTTP. pdfsig
# finds both signatures valid, qpdf reports no error, and the document opens as before. Then the signed document is
# uploaded again, and both signatures stay valid after two more.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use Mojo::File 'path';
use Sigreq::Here      qw(organisation suite);
use Sigreq::PDF       'pdf';
use Sigreq::Signer    'signers_of';
use Sigreq::Validator qw(pdfsig qpdf_check text_of images_in);
use Test::More;

my $org = organisation();
my @two = ({}, { firstname => 'Bob', area => { y => 200 } });

# A PNG of 2 x 2 pixels, some of them transparent.
my $png = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAE0lEQVR4nGNgYGD4D0QNDAxQFgAi9AR9pK1QpwAAAABJRU5ErkJggg==';
my %signing = (action => 'sign', consent => \1);
my %image   = (type => 'uploaded', image => "data:image/png;base64,$png");

sub encrypted {
    my ($name, @options) = @_;
    my ($from, $to) = map { path(suite->{dir}, "encrypted-$$-$_.pdf") } 'from', 'to';
    $from->spurt(pdf(nonce => "encrypted $$ $name", pages => [{ text => 'One euro' }]));
    system('qpdf', '--allow-weak-crypto', @options, '--', $from, $to) == 0 or die "qpdf\n";
    my $bytes = $to->slurp;
    unlink $from, $to;
    like($bytes, qr{/Encrypt \d+ 0 R}, 'it is encrypted');
    return $bytes;
}

# Uploads it and lets both signers sign. Returns the signed document and the submission.
sub signed_by_both {
    my ($client, $bytes) = @_;
    my $made = $client->create(files => [['a.pdf', $bytes]], signers => Sigreq::Client::signers(@two))->json;
    my $path = "/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}";
    is($made->{documents}[0]{sha256}, sha256_hex($bytes), 'the document is accepted without a rewriting');
    for my $signer (signers_of($made)) {
        my $image = $signer->get("/documents/$made->{documents}[0]{uuid}/pages/0?width=400");
        like($image->headers->content_type, qr{^image/}, 'its page is shown');
        is($signer->post(json => { %signing, signature => \%image })->code, 200, 'signed');
    }
    my $signed = $client->get($path)->body;
    ok(substr($signed, 0, length $bytes) eq $bytes, 'the upload is a prefix of the signed document');
    my @states = map { $_->{status} } @{ $client->get("/signatures/$made->{uuid}")->json->{submitters} };
    is_deeply(\@states, ['completed', 'completed'], 'both have signed');
    is(images_in($client->get("/signatures/$made->{uuid}/certificate")->body), 2, 'the certificate shows both images');
    return $signed;
}

sub has_signatures {
    my ($bytes, $count, $client) = @_;
    my $told = pdfsig($bytes);
    my @expected = ($count, $count, 1);
    is_deeply([@{$told}{qw(signatures valid total)}], \@expected, "pdfsig: $count are valid, the last is whole")
        or diag $told->{said};
    is(qpdf_check($bytes), '', 'qpdf reports no error');
    like(text_of($bytes), qr/One euro/, 'it opens without a password');
    my @found = map { $_->{state} } @{ $client->post('/verify', body => $bytes,
            headers => { 'Content-Type' => 'application/pdf' })->json->{signatures} };
    is_deeply(\@found, [('intact') x $count], 'POST /verify agrees');
}

my %ways = (
    'RC4, 40 bits'              => ['--encrypt', '', 'owner', 40],
    'AES, 128 bits'             => ['--encrypt', '', 'owner', 128, '--use-aes=y'],
    'AES, 256 bits'             => ['--encrypt', '', 'owner', 256],
    'AES, 256 bits, forms only' => ['--encrypt', '', 'owner', 256, '--modify=form'],
    'object streams'            => ['--object-streams=generate', '--encrypt', '', 'owner', 256],
);
for my $way (sort keys %ways) {
    subtest $way => sub {
        my $first = signed_by_both($org->{test}, encrypted($way, @{ $ways{$way} }));
        has_signatures($first, 2, $org->{test});
        my $second = signed_by_both($org->{test}, $first);
        has_signatures($second, 4, $org->{test});
    };
}
# Each signer has their own document. The last signature does not change that of the first signer, and the certificate
# shows both.
subtest 'a document for each signer' => sub {
    my @files   = map { ["$_.pdf", encrypted($_, '--encrypt', '', 'owner', 256)] } 'a', 'b';
    my @signers = @{ Sigreq::Client::signers(@two) };
    $signers[1]{fields}[0]{document} = 'b.pdf';
    my $client = $org->{test};
    my $made   = $client->create(files => \@files, signers => \@signers)->json;
    is($_->post(json => { %signing, signature => \%image })->code, 200, 'signed') for signers_of($made);
    is(images_in($client->get("/signatures/$made->{uuid}/certificate")->body), 2, 'the certificate shows both images');
};
done_testing;
