# SPDX-License-Identifier: Apache-2.0
# Signature fields that a document has already, from the upload to the last signature. Two signers sign those of a form,
# and those of a certified document. Other programs find that the certification stays valid.
use strict;
use warnings;
use Mojo::File 'path';
use Sigreq::Form   qw(form judged field_named);
use Sigreq::Here   qw(organisation suite);
use Sigreq::Signer qw(signers_of pdfsig qpdf_check is_unchanged);
use Test::More;

my $client = organisation()->{test};

sub signer { my ($name, @fields) = @_; return { firstname => $name, lastname => 'Lee', fields => \@fields } }

# Lets all signers sign. Returns the document.
sub signed {
    my ($bytes, @signers) = @_;
    my $res = $client->create(files => [['a.pdf', $bytes]], signers => \@signers);
    is($res->code, 201, 'created') or diag $res->body;
    my $made = $res->json;
    is_deeply($_->[0]->state->{fields}[0]{percent}, $_->[1]{fields}[0]{percent}, 'signers see the place of the field')
        for [(signers_of($made))[0], $made->{submitters}[0]];
    is($_->sign->code, 200, 'signed') for signers_of($made);
    my $signed = $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body;
    is(substr($signed, 0, length $bytes), $bytes, 'the upload is a prefix of the signed document');
    return $signed;
}

# `fields`: the fields that show a signature, for each of the signatures.
sub is_good {
    my ($signed, $signatures, $fields) = @_;
    my $told = pdfsig($signed);
    is_deeply([@{$told}{qw(signatures valid total)}], [$signatures, $signatures, 1],
        'pdfsig: all valid, the last whole') or diag $told->{said};
    is(qpdf_check($signed), '', 'qpdf reports no error');
    my %type     = ('Content-Type' => 'application/pdf');
    my $verified = $client->post('/verify', body => $signed, headers => \%type);
    is($verified->json->{conclusion}, 'signed', 'POST /verify calls it signed') or diag $verified->body;
    my $judged = judged($signed, path(suite->{dir}, 'seal-test', 'seal.crt'));
SKIP: {
        skip 'pyHanko, a judge of signatures, is missing ($SIGREQ_JUDGE)', 1 unless $judged;
        is_deeply([map { $_->{bottom_line} ? 1 : 0 } @$judged], [(1) x $fields], 'pyHanko trusts every signature')
            or diag explain $judged;
    }
}

my @two = (signer(Ann => field_named('Tenant')), signer(Bob => field_named('Landlord')));
subtest 'an unsigned form' => sub {
    my $signed = signed(form(nonce => "existing $$"), @two);
    is_good($signed, 2, 2);
    is_unchanged($signed, 2);
    unlike($signed, qr/Signature_/, 'no field was added');
};

subtest 'a certified form' => sub {
    for my $level (2, 3) {
        my $signed = signed(form(nonce => "existing $$", level => $level), @two);
        is_good($signed, 3, 3);
        is_unchanged($signed, 3);
    }
};

subtest 'a new field beside existing ones' => sub {
    my $area = { x => 300, y => 300, w => 90, h => 40, page => 0 };
    my $ann    = signer(Ann => field_named('Tenant'), field_named('', area => $area));
    my $signed = signed(form(nonce => "existing $$"), $ann, $two[1]);
    is_good($signed, 2, 3);
    like($signed, qr/Signature_/, 'the field was added');
};
done_testing;
