# SPDX-License-Identifier: Apache-2.0
# Webhooks of signing: signed, refused and completed are each called once, in order, with every member.
use strict;
use warnings;
use Sigreq::Here   qw(organisation place wait_for queued at_once);
use Sigreq::PDF    'pdf';
use Sigreq::Multipart 'part';
use Sigreq::Receiver;
use Sigreq::Signer 'signers_of';
use Test::More;

my $receiver = Sigreq::Receiver->new;
my $org      = organisation();
my $client   = $org->{test};

sub register { $client->post("/webhooks/$_[0]-webhook-url", json => { url => $_[1] }) }

sub submission {    # with these signers' first names
    my @signers = map { { firstname => $_ } } @_;
    my $res = $client->create(signers => Sigreq::Client::signers(@signers), files => [['a.pdf', pdf(nonce => rand)]]);
    die 'a creation failed: ', $res->code, ' ', $res->body, "\n" if $res->code != 201;
    return ($res->json, signers_of($res->json));
}

sub calls_of {    # what arrived for a submission, once COUNT have; it has no more
    my ($made, $count) = @_;
    my @calls;
    wait_for(
        sub {
            @calls = grep { $_->{body}{submissionId} eq $made->{uuid} } $receiver->received;
            @calls >= $count;
        });
    is(queued($made->{uuid}), $count, "there are exactly $count events");
    is(join("\n", map { $client->{judge}->errors_of_event($_->{body}) } @calls), '', 'they are as described');
    return @calls;
}

sub is_own {    # what an event tells of itself, which is taken out of the body; its id
    my ($body, $made, $event, $path, $name) = @_;
    my $own = { map { $_ => delete $body->{$_} } qw(event userTokenId submissionId webhookUrl environment eventId) };
    my $id  = delete $own->{eventId};
    like($id, qr/^[0-9a-f-]{36}$/, "$event: an event id");
    is_deeply(
        $own,
        {   event => $event, userTokenId => $org->{test_token}{uuid}, submissionId => $made->{uuid},
            webhookUrl => $receiver->url($path), environment => 'test' },
        $name);
    return $id;
}

register($_ => $receiver->url("/ok?$_")) for qw(sent signed completed);

subtest 'what the caller has added is in every call' => sub {
    my @more = (part('externalId', 'order-4711'), part('metadata', '{"customer":17}'));
    for my $refuses (0, 1) {
        my $made = $client->create(more => \@more)->json;
        my ($signer) = signers_of($made);
        is(($refuses ? $signer->refuse('no') : $signer->sign)->code, 200, $refuses ? 'refused' : 'signed');
        for (calls_of($made, $refuses ? 2 : 3)) {
            my $body = $_->{body};
            is_deeply([@$body{qw(externalId metadata)}], ['order-4711', { customer => 17 }], $body->{event});
        }
    }
};

subtest 'two signers sign' => sub {
    my ($made, $ann, $bob) = submission('Ann', 'Bob');
    is($ann->sign->code, 200, 'Ann signs');
    my @calls = calls_of($made, 2);
    is(join(' ', map { $_->{body}{event} } @calls), 'sent signed', 'sent, signed; nothing is complete yet');
    my $body = $calls[1]{body};
    is_own($body, $made, 'signed', '/ok?signed', 'the body has the members of the event');
    my $shown = $client->get("/signatures/$made->{uuid}")->json;
    is(delete $body->{createdAt}, $shown->{submitters}[0]{completedAt}, 'createdAt is the time of the signature');
    is_deeply($body, $shown->{submitters}[0], 'the body has the signer as in GET');
    is($bob->sign->code, 200, 'Bob signs');
    @calls = calls_of($made, 4);
    is(join(' ', map { $_->{body}{event} } @calls), 'sent signed signed completed', 'then the submission is completed');
    is($calls[2]{body}{uuid}, $made->{submitters}[1]{uuid}, 'Bob was the second');
    $body = $calls[3]{body};
    my $id = is_own($body, $made, 'completed', '/ok?completed', 'completed is sent to its own URL');
    $shown = $client->get("/signatures/$made->{uuid}")->json;
    is_deeply($body, $shown, 'the body has the submission as in GET');
    ok($shown->{certificate}, 'the body of a completed submission has its certificate');
    my %ids = map { $_ => 1 } $id, map { $_->{body}{eventId} // '' } @calls[0 .. 2];
    is(scalar keys %ids, 4, 'each event has its own id');
};

subtest 'one signer refuses' => sub {
    my ($made, $ann, $bob) = submission('Ann', 'Bob');
    my $reason = "Too \"dear\" \x{2013} no";
    is($ann->refuse($reason)->code, 200, 'Ann refuses');
    my @calls = calls_of($made, 2);
    my $body  = $calls[1]{body};
    is($body->{refusalReason}, $reason, 'the body has the reason');
    is_own($body, $made, 'refused', '/ok?signed', 'refused is sent to the URL of signed');
    my $shown = $client->get("/signatures/$made->{uuid}")->json;
    is(delete $body->{createdAt}, $shown->{submitters}[0]{refusedAt}, 'createdAt is the time of the refusal');
    is_deeply($body, $shown->{submitters}[0], 'the body has the signer');
    is($bob->sign->code, 409, 'Bob cannot sign');
    is(scalar calls_of($made, 2), 2, 'there is no event completed');
};

subtest 'events of a submission are sent one after the other' => sub {
    register(sent   => $receiver->url('/held'));
    register(signed => $receiver->url('/status/500'));
    my ($made, $ann) = submission('Ann');
    is(scalar $receiver->wait_for(1, '/held'), 1, 'the first call is under way');
    is($ann->sign->code, 200, 'Ann signs meanwhile');
    my ($later) = submission('Bob');
    is(scalar $receiver->wait_for(2, '/held'), 2, "a later submission's event is sent");
    my @sent = grep { $_->{body}{submissionId} eq $made->{uuid} } $receiver->received;
    is(scalar @sent, 1, 'the second event of the earlier submission waits');
    $receiver->release;
    my @calls = calls_of($made, 3);
    is(join(' ', map { $_->{body}{event} } @calls), 'sent signed completed', 'the events come in their order');
    my ($rows) = [];
    wait_for(sub {
        $rows = $client->get('/webhooks/history', query => { submissionId => $made->{uuid} })->json->{data};
        @$rows == 3 });
    is(join(' ', map {"$_->{event}:$_->{statusCode}"} reverse @$rows), 'sent:200 signed:500 completed:200',
        'a failure does not delay the next event');
};

subtest 'many signers at the same time' => sub {
    register(sent => $receiver->url('/ok?many'));
    register(signed => $receiver->url('/ok?many'));
    my ($made, @signers) = submission(map {"S$_"} 1 .. 8);
    my @answers;
    Mojo::Promise->map({ concurrency => at_once(8) }, sub { $_->sign_p }, @signers)
        ->then(sub { @answers = map { $_->[0] } @_ })->wait;
    is(scalar(grep { $_->code == 200 } @answers), 8, 'eight sign at once');
    my @calls = calls_of($made, 10);
    my $wanted = join ' ', 'sent', ('signed') x 8, 'completed';
    is(join(' ', map { $_->{body}{event} } @calls), $wanted, 'ten events in order');
    my %uuids = map { $_->{body}{uuid} => 1 } grep { $_->{body}{event} eq 'signed' } @calls;
    is(scalar keys %uuids, 8, 'each signer has one event');
};

subtest 'links do not depend on the Host of the signer' => sub {
    my ($made, $ann, $bob) = submission('Ann', 'Bob');
    my @evil = (headers => { Host => 'evil.test' });
    is($ann->post(json => Sigreq::Signer::typed(), @evil)->code, 200, 'Ann signs with another Host');
    is($bob->post(json => Sigreq::Signer::typed(), @evil)->code, 200, 'Bob signs with another Host');
    my @calls = calls_of($made, 4);
    is(scalar @calls, 4, 'sent, signed, signed, completed');
    is(scalar(grep { $_->{raw} =~ /evil/ } @calls), 0, 'links have the host that the creator used');
    like($calls[1]{body}{signedDocuments}[0]{url}, qr{^\Q@{[place()]}\E/api/v3/},
        'links to documents have the host that the creator used');
    like($calls[3]{body}{certificate}{url}, qr{^\Q@{[place()]}\E/api/v3/},
        'links to the certificate have the host that the creator used');
};

subtest 'each token has its own URLs, which are called after its revocation' => sub {
    my $token = $client->post('/tokens', json => { name => 'second' })->json;
    my $second = $client->with(token => $token->{token});
    $second->post('/webhooks/signed-webhook-url', json => { url => $receiver->url('/ok?second') });
    my $made = $second->create->json;
    is($client->delete("/tokens/$token->{uuid}")->code, 204, 'the token is revoked');
    is((signers_of($made))[0]->sign->code, 200, 'a signer signs');
    my ($body) = map { $_->{body} } calls_of($made, 1);
    is_deeply([@$body{qw(event userTokenId webhookUrl)}], ['signed', $token->{uuid}, $receiver->url('/ok?second')],
        'the event is sent to the URL of the token that created the submission');

    my $stolen = $client->post('/tokens', json => { name => 'stolen' })->json;
    my $thief = $client->with(token => $stolen->{token});
    $thief->post('/webhooks/signed-webhook-url', json => { url => $receiver->url('/ok?thief') });
    my ($first, $next, $last) = map { $thief->create->json } 1 .. 3;
    $client->delete("/tokens/$stolen->{uuid}");
    my $at = "/tokens/$stolen->{uuid}/webhooks";
    $client->post("$at/signed-webhook-url", json => { url => $receiver->url('/ok?owner') });
    is((signers_of($first))[0]->sign->code, 200, 'a signer of a stolen and revoked token signs');
    is(join(' ', map { $_->{body}{webhookUrl} } calls_of($first, 1)), $receiver->url('/ok?owner'),
        'the call is made to the URL that another token of the user has set');
    $client->delete($at);
    is((signers_of($next))[0]->sign->code, 200, 'another signer signs');
    $client->post("$at/signed-webhook-url", json => { url => $receiver->url('/ok?again') });
    is((signers_of($last))[0]->sign->code, 200, 'the last signer signs');
    is(scalar(calls_of($last, 1)), 1, 'the event of the last signer is sent');
    is(scalar(calls_of($next, 0)), 0, 'there were no events while there was no URL');
};

subtest 'no URL, no call' => sub {
    register(signed => undef);
    my ($made, $ann) = submission('Ann');
    is($ann->sign->code, 200, 'Ann signs');
    is(join(' ', map { $_->{body}{event} } calls_of($made, 2)), 'sent completed', 'there is no URL for signed now');
};
done_testing;
