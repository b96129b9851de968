# SPDX-License-Identifier: Apache-2.0
# A document that has to be repaired, from its upload to its last signature: the rewritten document is shown, signed and
# downloaded, and validators report no error. The upload is kept unchanged.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use Mojo::File 'path';
use Mojo::JSON 'decode_json';
use Sigreq::Here   qw(organisation reports stored);
use Sigreq::PDF    qw(pdf repairable);
use Sigreq::Signer qw(signers_of pdfsig qpdf_check);
use Test::More;

my $client     = organisation()->{test};
my %repairable = repairable();
my @two        = ({}, { firstname => 'Bob', area => { y => 200 } });

sub rewritten {    # the rewritten form of an upload
    my $sha256 = shift;
    my $known  = decode_json(path((reports($sha256))[0])->slurp)->{rewritten}{sha256};
    return Sigreq::Here::stored_bytes((stored($known))[0]);
}

sub signed_by_both {
    my ($made, $base, $original) = @_;
    my $path    = "/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}";
    my @signers = signers_of($made);
    my $shown   = $client->get($path);
    ok($shown->body eq $base, 'the rewritten document is shown');
    is($shown->headers->etag, '"' . sha256_hex($base) . '"', 'ETag');
    ok($signers[0]->get("/documents/$made->{documents}[0]{uuid}")->body eq $base,
        'the signer gets the rewritten document');
    is($_->sign->code, 200, 'signed') for @signers;
    my $bytes = $client->get($path)->body;
    is(substr($bytes, 0, length $base), $base, 'it is a prefix of the signed document');
    my $told = pdfsig($bytes);
    is_deeply([@{$told}{qw(signatures valid total)}], [2, 2, 1], 'pdfsig: both are valid, the last is whole')
        or diag $told->{said};
    is(qpdf_check($bytes), '', 'qpdf has nothing to say') if $base ne $original;
    ok($client->get("$path?version=original")->body eq $original, 'version=original is the upload');
}

for my $what (sort keys %repairable) {
    subtest $what => sub {
        my $bytes = $repairable{$what}->("repaired $$");
        my $made  = $client->create(files => [['a.pdf', $bytes]], signers => Sigreq::Client::signers(@two))->json;
        is($made->{documents}[0]{sha256}, sha256_hex($bytes), 'the API shows SHA-256 and size of the upload');
        signed_by_both($made, rewritten($made->{documents}[0]{sha256}), $bytes);
    };
}

subtest 'damage only on the page of the second signer' => sub {
    my $bytes = pdf(
        nonce   => "repaired $$",
        pages   => [{}, { more => '/Annots 8 0 R' }],
        objects => ['[9 0 R', '<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/Border[0 0 0]>>']);
    my $there = sub {
        my ($page) = @_;
        $client->create(
            files   => [['a.pdf', $bytes]],
            signers => Sigreq::Client::signers({}, { area => { y => 200, page => $page } }))->json;
    };
    my ($before, $after) = ($there->(0), $there->(1));
    signed_by_both($before, $bytes,                                    $bytes);
    signed_by_both($after, rewritten($before->{documents}[0]{sha256}), $bytes);
};
done_testing;
