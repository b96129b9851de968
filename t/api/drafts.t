# SPDX-License-Identifier: Apache-2.0
# Drafts: submissions that are not sent yet. Nobody but their caller sees them; their fields may change until they are
# sent, once.
use strict;
use warnings;
use Mojo::JSON qw(encode_json);
use Sigreq::Client;
use Sigreq::Here qw(checked is_error is_text organisation sql);
use Sigreq::Multipart 'part';
use Sigreq::Signer qw(signers_of chain_fault);
use Test::More;

my $org    = organisation();
my $client = $org->{live};
my $uuid   = qr/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

sub person { my ($name, %more) = @_; return { firstname => $name, lastname => 'Lee', %more } }
sub drafted { my (%o) = @_; return $client->create(%o, more => [part('draft', 'true'), @{ $o{more} // [] }]) }
sub used { return sql("SELECT used FROM organization WHERE uuid = '$org->{uuid}'") }

subtest 'a draft' => sub {
    my $before = used();
    my $res    = drafted(signers => [person('Ann'), person('Bob', fields => [])]);
    is($res->code, 201, 'signers of a draft need no fields') or diag $res->body;
    my $made = $res->json;
    is($made->{status}, 'draft', 'its status');
    my ($base) = $res->headers->location =~ m{(.*)/api/v3/};
    like($made->{placementLink}, qr{^\Q$base\E/place/$uuid$}, 'it has a link to place fields');
    like($made->{placementExpiresAt}, qr/^\d{4}-/, 'which ends');
    is_deeply([map { "$_->{status} " . ($_->{signatureLink} // 'none') } @{ $made->{submitters} }],
        [('initiated none') x 2], 'its signers have no links');
    is_deeply($client->get("/signatures/$made->{uuid}")->json, $made, 'GET shows the same');
    is(used(), $before, 'it is not counted');
    my $kinds = join ' ', map { $_->{event} } @{ $client->get("/signatures/$made->{uuid}/audit")->json->{events} };
    is($kinds, 'drafted', 'its event');
    is(Sigreq::Signer->new(link => "$base/sign/$made->{submitters}[0]{uuid}")->get('')->code, 404,
        'a signing link does not exist');
    is($client->get('/signatures?status=draft')->json->{data}[0]{uuid}, $made->{uuid}, 'the list has it');
    is($client->get("/templates/$made->{template}{uuid}")->code, 404, 'it is no template');
    is(drafted(more => [part('sendEmail', '')], draft => 'x')->code, 201, 'the other checks are as usual');
};

done_testing;
