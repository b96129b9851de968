# SPDX-License-Identifier: Apache-2.0
# Viewers in the API: the part `viewers` of a creation, the member of the answers, and revoking a link.
use strict;
use warnings;
use Mojo::JSON qw(encode_json);
use Sigreq::Client;
use Sigreq::Here qw(checked is_error is_text organisation);
use Sigreq::Multipart 'part';
use Sigreq::Preview;
use Sigreq::Signer qw(signers_of chain_fault);
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my %lea    = (firstname => 'Lea', lastname => 'Holm', email => 'lea@example.net');

sub create {
    my ($viewers, %o) = @_;
    return $client->create(more => [part('viewers', ref $viewers ? encode_json($viewers) : $viewers)], %o);
}
sub revoke { my ($made, $i, $by) = @_; return ($by // $client)->delete("/signatures/$made->{uuid}/viewers/$i") }

subtest 'what is shown' => sub {
    my $plain = $client->create->json;
    ok(!exists $plain->{viewers} && !exists $plain->{status}, 'without viewers, nothing is added');
    for my $none ('', '[]') {
        my $made = create($none);
        is($made->code, 201, "viewers: '$none' is accepted");
        ok(!exists $made->json->{viewers}, 'and adds nothing');
    }
    my $made = create([\%lea, { firstname => "Max \x{1f600}", lastname => '<b>', when => 'completed' }])->json;
    my ($one, $two) = @{ $made->{viewers} };
    my ($base) = $made->{submitters}[0]{signatureLink} =~ m{(.*)/sign/};
    my %link = (uuid => $one->{uuid}, viewLink => "$base/view/$one->{uuid}");
    is_deeply($one, { %lea, %link, when => 'sent', openedAt => undef }, 'a viewer');
    is_deeply([sort keys %$two], [qw(firstname lastname openedAt uuid viewLink when)], 'one without an email');
    is($two->{firstname}, "Max \x{1f600}", 'names are as they were sent');
    is($made->{status}, 'open', 'the status is shown');
    is_deeply($client->get("/signatures/$made->{uuid}")->json->{viewers}, $made->{viewers}, 'GET shows the same');
    my ($listed) = grep { $_->{uuid} eq $made->{uuid} } @{ $client->get('/signatures')->json->{data} };
    is_deeply($listed->{viewers}, $made->{viewers}, 'so does the list');
};

subtest 'what is refused' => sub {
    my %faults = (
        'x'                            => qr/viewers must be a JSON array: /,
        '{}'                           => 'viewers must be a JSON array',
        '[{"firstname":"A","firstname":"B"}]' => qr/viewers must be a JSON array: /,
        '[1]'                          => 'viewers: viewer 1: it must be a JSON object',
        '[{"firstname":"A","lastname":"B","phone":1}]' => 'viewers: viewer 1: unknown member phone',
        '[{"lastname":"B"}]'           => 'viewers: viewer 1: a firstname must be provided',
        '[{"firstname":" ","lastname":"B"}]' => 'viewers: viewer 1: a firstname must be provided',
        '[{"firstname":"A","lastname":1}]' => 'viewers: viewer 1: a lastname must be provided',
        '[{"firstname":"A","lastname":"B\u0007"}]' => qr/viewers: viewer 1: lastname /,
        encode_json([{ %lea, firstname => 'A' x 101 }]) => qr/viewers: viewer 1: firstname /,
        encode_json([\%lea, { %lea, email => 'lea' }])  => 'viewers: viewer 2: email must be an email address',
        encode_json([{ %lea, email => 1 }])             => 'viewers: viewer 1: email must be an email address',
        encode_json([{ %lea, email => ('a' x 250) . '@x.org' }]) => 'viewers: viewer 1: email must be an email address',
        encode_json([{ %lea, when => 'later' }])        => 'viewers: viewer 1: when must be sent or completed',
        encode_json([{ %lea, when => 1 }])              => 'viewers: viewer 1: when must be sent or completed',
        encode_json([(\%lea) x 21])                     => 'viewers must have at most 20 viewers');
    for my $sent (sort keys %faults) {
        my $res = create($sent);
        my $want = $faults{$sent};
        ref $want ? like($res->code . ' ' . $res->body, qr/^400 (?:$want)/, $want) : is_text($res, 400, $want);
    }
    my $most = create([(\%lea) x 20]);
    is($most->code, 201, '20 viewers are accepted');
    my %uuids = map { $_->{uuid} => 1 } @{ $most->json->{viewers} };
    is(scalar keys %uuids, 20, 'each has a link');
};

subtest 'a repeated request' => sub {
    my %key = (headers => { 'Idempotency-Key' => "viewers $$" });
    my $made = create([\%lea], %key)->json;
    is(create([\%lea], %key)->json->{uuid}, $made->{uuid}, 'the same viewers are a repetition');
    is(create([{ %lea, firstname => 'Max' }], %key)->code, 409, 'others are another request');
};

subtest 'revoking' => sub {
    my $made = create([\%lea, { %lea, firstname => 'Max' }])->json;
    my $uuid = $made->{viewers}[0]{uuid};
    is_error(revoke($made, $uuid, organisation()->{test}), 404, 'Not found');
    is_error(revoke($made, $uuid, $org->{live}), 404, 'Not found');
    is_error(revoke($made, $made->{submitters}[0]{uuid}), 404, 'Not found');
    is_error(revoke(create([\%lea])->json, $uuid), 404, 'Not found');
    is_error(revoke($made, 'x'),                   404, 'Not found');
    is(revoke($made, $uuid)->code, 204, 'it is revoked');
    my $shown = $client->get("/signatures/$made->{uuid}")->json->{viewers};
    ok($shown->[0]{revokedAt} && !$shown->[1]{revokedAt}, 'the answer says so');
    is(revoke($made, uc $uuid)->code, 204, 'again');
    my $audit = $client->get("/signatures/$made->{uuid}/audit")->json;
    is(chain_fault($audit), undef, 'the events are a chain');
    my @revoked = grep { $_->{event} eq 'revoked' } @{ $audit->{events} };
    is(scalar @revoked, 1, 'there is one event');
    is_deeply($revoked[0]{detail}, { viewer => $uuid }, 'it names the viewer');
    ok($revoked[0]{ip} && !$revoked[0]{signer}, 'and has the client of the caller');
    $client->post("/signatures/$made->{uuid}/cancel");
    is(revoke($made, $made->{viewers}[1]{uuid})->code, 204, 'also that of a cancelled one');
    $client->delete("/signatures/$made->{uuid}");
    is(revoke($made, $uuid)->code, 410, 'a deleted one is gone');
};

subtest 'the evidence and the certificate' => sub {
    my $made = create([\%lea])->json;
    Sigreq::Signer->new(link => $made->{viewers}[0]{viewLink})->get('');
    $_->sign for signers_of($made);
    is(revoke($made, $made->{viewers}[0]{uuid})->code, 204, 'a link of a completed one is revoked');
    my $audit = $client->get("/signatures/$made->{uuid}/audit")->json;
    my $kinds = join ' ', map { $_->{event} } @{ $audit->{events} };
    is($kinds, 'created viewed opened signed completed revoked', 'the events');
    my $created = $audit->{events}[0]{detail}{viewers}[0];
    is_deeply($created, { %lea, kind => 'viewer', uuid => $made->{viewers}[0]{uuid} }, 'the first names the viewer');
    my $faults = checked('--evidence');
    ok(!grep({ /$made->{uuid}/ } encode_json($faults)), 'the rows are what the events say') or diag explain $faults;
};

done_testing;
