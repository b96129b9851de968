# SPDX-License-Identifier: Apache-2.0
# Signature fields that a document has already, named by an area: the answer and the refusals.
use strict;
use warnings;
use Sigreq::Form qw(form field_named);
use Sigreq::Here qw(organisation is_text);
use Sigreq::PDF 'pdf';
use Sigreq::Preview;
use Test::More;

my $client = organisation()->{test};
my $count  = 0;
sub nonce { "existing $$ " . ++$count }

sub post {    # a document and the areas of one signer each
    my ($bytes, @areas) = @_;
    my @names = qw(Ann Bob Carol);
    my @signers = map { my $area = $_; +{ firstname => shift @names, lastname => 'Lee',
            fields => [map { field_named('', area => $_) } ref $area eq 'ARRAY' ? @$area : $area] } } @areas;
    return $client->create(files => [['a.pdf', $bytes]], signers => \@signers);
}
sub field_of { my ($res, $signer, $field) = @_; return $res->json->{submitters}[$signer // 0]{fields}[$field // 0] }

subtest 'the place of a field' => sub {
    my $res = post(form(nonce => nonce()), { field => 'Tenant' });
    is($res->code, 201, 'created') or diag $res->body;
    my $field = field_of($res);
    is_deeply($field->{area}, { field => 'Tenant' }, 'the area as it was sent');
    is_deeply($field->{rect}, [50, 50, 150, 90], 'the answer has the rectangle of the field');
    is($field->{page}, 0, 'the answer has the page of the field');
    is_deeply([sort keys %$field], [qw(area document name page percent rect type)],
        'the members are those of the contract');
    is($field->{percent}{y}, sprintf('%.4f', 100 * (792 - 90) / 792), 'the answer has the percentages');
    ok(!$res->json->{warnings}, 'there are no warnings');

    my %page   = (rotate => 90, cropbox => [10, 20, 410, 620]);
    my $turned = post(form(nonce => nonce(), page => \%page), { field => 'Landlord' });
    my @want   = (100 * 130 / 600, 100 * 40 / 400, 100 * 40 / 600, 100 * 100 / 400);
    is_deeply([map { sprintf '%.3f', $_ } @{ field_of($turned)->{percent} }{qw(x y w h)}],
        [map { sprintf '%.3f', $_ } @want], 'a field on a rotated and cropped page');
    is_deeply(field_of($turned)->{rect}, [50, 150, 150, 190], 'its rectangle is the same');
    is(post(form(nonce => nonce()), $field->{area})->code, 201, 'the area can be sent again');
};

subtest 'together with other fields' => sub {
    my $area = { x => 300, y => 300, w => 90, h => 40, page => 0 };
    my $res = post(form(nonce => nonce()), [{ field => 'Tenant' }, $area], { field => 'Landlord' }, $area);
    is($res->code, 201, 'existing and new fields are accepted together') or diag $res->body;
    is_deeply(field_of($res, 0, 1)->{area}{x}, 300, 'each field has its area');
    my $seed = form(nonce => nonce(), fields => [['Tenant', '50 50 150 90', '/SV<</Reasons[(why)]>>']]);
    is_deeply(post($seed, { field => 'Tenant' })->json->{warnings},
        ['Signer 1, Field 1: the field has preferences for its signature (SV) that are not followed'], 'preferences');
};

subtest 'areas that are refused' => sub {
    my $bytes = form(nonce => nonce());
    my $both  = 'Signer 1, Field 1: Area must have either a field or coordinates, not both';
    my $named = 'Signer 1, Field 1: Area field must be the name of a signature field';
    is_text(post($bytes, { field => 'Tenant', page => 0 }), 400, $both, 'a page beside the field is refused');
    is_text(post($bytes, { field => 'Tenant', x => 1, y => 1, w => 9, h => 9, page => 0 }), 400, $both, 'coordinates');
    is_text(post($bytes, { field => 'Tenant', origin => 'top-left' }), 400, $both,
        'an origin beside the field is refused');
    is_text(post($bytes, { field => $_->[0] }), 400, $named, $_->[1])
        for [5, 'a number'], [[], 'an array'], ['', 'nothing'], [' ', 'a blank'];
    is_text(post($bytes, { field => undef }), 400, 'Signer 1, Field 1: Area x/y coordinate must be a number', 'null');
    my $none = 'Document a.pdf has no signature field';
    is_text(post($bytes, { field => 'tenant' }), 400, "$none tenant", 'a name that does not exist is refused');
    is_text(post(pdf(nonce => nonce()), { field => 'Tenant' }), 400, "$none Tenant",
        'a document without a form is refused');
    my $twice = 'Document a.pdf: signature field Tenant is named more than once';
    is_text(post($bytes, { field => 'Tenant' }, { field => 'Tenant' }), 400, $twice,
        'a field of two signers is refused');
    is_text(post($bytes, [{ field => 'Tenant' }, { field => 'Tenant' }]), 400, $twice,
        'a field that a signer names twice is refused');
};

subtest 'fields that cannot be signed' => sub {
    my %more = (
        '/V<</Type/Sig/ByteRange[0 1 2 3]/Contents<00>>>' => 'is signed already',
        '/F 2'  => 'is hidden or has no size, so signers would not see what they sign',
        '/Ff 1' => 'is read-only',
        '/Lock<</Type/SigFieldLock/Action/All>>' =>
            'would lock other fields when it is signed (Lock), which is not supported',
        '/SV<</Ff 2/SubFilter[/adbe.pkcs7.detached]>>' =>
            'requires something of its signature (SV) that this service does not do');
    for my $more (sort keys %more) {
        my $bytes = form(nonce => nonce(), fields => [['Tenant', '50 50 150 90', $more]]);
        $bytes =~ s{/F 4/T}{   /T} if $more eq '/F 2';
        is_text(post($bytes, { field => 'Tenant' }), 400, "Document a.pdf: signature field Tenant $more{$more}");
    }
    my $text = form(nonce => nonce()) =~ s{/FT/Sig/F 4/T\(Tenant\)}{/FT/Tx/F 4/T(Tenant) }r;
    is_text(post($text, { field => 'Tenant' }), 400, 'Document a.pdf has no signature field Tenant',
        'a text field is refused');
};

subtest 'certified documents' => sub {
    my $area = { x => 300, y => 300, w => 90, h => 40, page => 0 };
    my $refused = 'Document a.pdf cannot be signed: it is certified, and its certification';
    for my $level (2, 3) {
        my $bytes = form(nonce => nonce(), level => $level);
        is(post($bytes, { field => 'Tenant' }, { field => 'Landlord' })->code, 201,
            "level $level: existing fields are accepted");
        is_text(post($bytes, { field => 'Tenant' }, $area), 400,
            "$refused allows no new signature fields: only its empty ones can be signed",
                "level $level: a new field is refused");
        is_text(post($bytes, { field => 'Author' }), 400, 'Document a.pdf: signature field Author is signed already',
            "level $level: the certification");
    }
    my $final = form(nonce => nonce(), level => 1);
    is_text(post($final, { field => 'Tenant' }), 400, "$refused permits no changes", 'level 1 is refused');
    is_text(post(form(nonce => nonce(), level => 2, fields => []), $area), 400,
        "$refused allows no new signature fields", 'a certified document without an empty field is refused');
};
done_testing;
