# SPDX-License-Identifier: Apache-2.0
# sigreqctl submission and delivery: what the administrator sees of submissions and calls of all organisations, and does
# to them without a token while httpd runs.
use strict;
use warnings;
use POSIX 'strftime';
use Sigreq::Client;
use Sigreq::Here qw(organisation ctl ctl_said is_error sql wait_for);
use Sigreq::Multipart 'part';
use Sigreq::Receiver;
use Sigreq::Signer qw(signers_of chain_fault);
use Test::More;

my ($org, $other) = (organisation(), organisation());
my $client = $org->{test};
my $nobody = '00000000-0000-4000-8000-000000000000';

sub said_is {    # exit code, message, words
    my ($code, $message, @words) = @_;
    my ($got, $said) = ctl_said(@words);
    is($got, $code, "@words: exit code $code");
    like($said, $message, "@words: the message has the reason");
}
# What the filters of the list find among the submissions of an organisation.
sub filters {
    my ($made, $live) = @_;
    my @signer = { email => 'Zoe@example.org', firstname => 'Zoe' };
    my @given  = (more => [part('externalId', "L-$$")], name => "Mietvertrag \xc3\x84");
    my $zoe    = $client->create(@given, signers => Sigreq::Client::signers(@signer))->json;
    my $found  = sub { uuids(ctl('submission', 'list', '--organization', $org->{uuid}, @_)) };
    is($found->('--signer', 'zoe@EXAMPLE.org'), $zoe->{uuid}, 'by the email of a signer');
    is($found->('--name', 'EASE 3'), $made->[2]{uuid}, 'by a part of the name');
    is($found->('--name', " G \xc3\xa4"), $zoe->{uuid}, 'by a part of the name in other letters');
    is($found->('--name', 'example.org'), '', 'the filter of the name does not search signers');
    is($found->('--external-id', "L-$$"), $zoe->{uuid}, 'by externalId');
    is($found->('--external-id', "L-$$", '--env', 'production'), '', 'by externalId and another filter');
    is($found->('--external-id', 'L-'), '', 'by the whole externalId only');
    sql("UPDATE submission SET created_at = 1764460800000000 WHERE uuid = '$live->{uuid}'");    # 2025-11-30T00:00Z
    is($found->('--from', '2025-11-30', '--to', '2025-11-30'), $live->{uuid}, 'from a day to its end');
    is($found->('--from', '2025-11-30T00:00:00Z', '--to', '2026-01-01T00:00:00Z'), $live->{uuid}, 'by times');
    is($found->('--to', $_), '', "before $_") for '2025-11-30T00:00:00Z', '2025-11-29';
    is($found->('--to', '2025-12-01', '--signer', 'zoe@example.org'), '', 'all filters must fit');
    is($found->('--from', '2025-12-01', '--limit', 1, '--before', $made->[2]{uuid}), $made->[1]{uuid}, 'the next page');
    said_is(3, qr/no such organization/, 'submission', 'list', '--organization', 'nobody', '--external-id', 'x');
}

sub uuids { join ' ', map { $_->{uuid} } @{ $_[0] } }

subtest 'list and show' => sub {
    my @made = map { $client->create(name => "Lease $_", signers => Sigreq::Client::signers({}, {}))->json } 1 .. 3;
    my $live = $org->{live}->create->json;
    $other->{test}->create;
    (signers_of($made[1]))[0]->sign('Ann Lee');
    $client->post("/signatures/$made[2]{uuid}/cancel");
    my @of = ('submission', 'list', '--organization', $org->{uuid});
    is(uuids(ctl(@of)), join(' ', map { $_->{uuid} } $live, reverse @made), 'the submissions of an organisation');
    is(uuids(ctl(@of, '--environment', 'test')), uuids([reverse @made]), 'the submissions of an environment');
    is(uuids(ctl(@of, '--status', 'cancelled')), $made[2]{uuid}, 'the submissions with a status');
    is(uuids(ctl(@of, '--user', $org->{email}, '--limit', 2)), "$live->{uuid} $made[2]{uuid}",
        'the newest two submissions');
    is(uuids(ctl(@of, '--limit', 2, '--before', $made[2]{uuid})), "$made[1]{uuid} $made[0]{uuid}",
        'the next two submissions');
    is(uuids(ctl('submission', 'list', '--user', $other->{user_uuid}, '--status', 'cancelled')), '',
        'no submissions of another user');
    my ($row) = @{ ctl(@of, '--before', $made[2]{uuid}, '--limit', 1) };
    is_deeply([@$row{qw(name organization email environment state signers completed)}],
        ['Lease 2', $org->{name}, $org->{email}, 'test', 'open', 2, 1], 'the columns of a row');
    said_is(3, qr/no submission with the uuid of --before/, @of, '--before', $nobody);
    filters(\@made, $live);

    my $shown = ctl('submission', 'show', $made[1]{uuid});
    is_deeply([map { $_->{state} } @{ $shown->{people} }], ['completed', 'sent'], 'show has the signers');
    like($shown->{people}[0]{completed_at}, qr/^20.*Z$/, 'show has the times of signers');
    is_deeply([map {"$_->{name} $_->{sha256} $_->{revisions}"} @{ $shown->{documents} }],
        ["$made[1]{documents}[0]{name} $made[1]{documents}[0]{sha256} 1"], 'show has the documents');
    my $audit = $client->get("/signatures/$made[1]{uuid}/audit")->json->{events};
    is_deeply([map { [@$_{qw(event at hash)}] } @{ $shown->{events} }], [map { [@$_{qw(event at hash)}] } @$audit],
        'show has the events');
    my $text = join '', map { (ctl_said('submission', 'show', $made[1]{uuid}, @$_))[1] } [], ['--json'];
    like($text, qr/^signers\nlink +state .*^documents\nuuid .*^events\nnumber /ms, 'the text has a table for each');
    unlike($text, qr/\Q$_->{uuid}/, 'the secret of a link is not shown') for @{ $made[1]{submitters} };
    said_is(3, qr/There is no such submission/, 'submission', 'show', $nobody);
};

subtest 'stats' => sub {
    my $firm = organisation();
    my ($here, $month) = ($firm->{test}, strftime('%Y-%m', gmtime));
    my @made = map { $here->create(signers => Sigreq::Client::signers({}))->json } 1 .. 4;
    my $live = $firm->{live}->create->json;
    my @signers = map { (signers_of($_))[0] } @made;
    $_->sign('Ann Lee') for @signers[0, 3];
    $signers[1]->refuse;
    my $bytes = 0;
    for my $made (@made[0 .. 2]) {
        my $now = $here->get("/signatures/$made->{uuid}")->json;
        $bytes += length $here->get("/signatures/$made->{uuid}/documents/$_->{uuid}")->body for @{ $now->{documents} };
    }
    $bytes += length $here->get("/signatures/$made[0]{uuid}/certificate")->body;
    is($here->delete("/signatures/$made[3]{uuid}")->code, 204, 'one is deleted');
    my $stats = sub { ctl('stats', '--organization', $firm->{uuid}, @_) };
    my ($production, $test) = @{ $stats->() };
    is_deeply([@$test{qw(month organization uuid environment created completed refused bytes)}],
        [$month, $firm->{name}, $firm->{uuid}, 'test', 4, 2, 1, $bytes], 'what happened in this month');
    is_deeply([@$production{qw(environment created completed refused)}], ['production', 1, 0, 0],
        'what happened in production in this month');
    sql("UPDATE submission SET created_at = 1764460800000000 WHERE uuid = '$live->{uuid}'");    # 2025-11-30T00:00Z
    is(join(' ', map {"$_->{month} $_->{environment}"} @{ $stats->() }), "2025-11 production $month test", 'by months');
    is(join(' ', map { $_->{month} } @{ $stats->('--to', '2025-11-30') }), '2025-11', 'until a day');
    is(join(' ', map { $_->{month} } @{ $stats->('--from', '2025-12-01') }), $month, 'from a day on');
    like((ctl_said('stats', '--organization', $firm->{uuid}))[1], qr/^month +organization +environment +created /,
        'a table');
    said_is(3, qr/no such organization/, 'stats', '--organization', 'nobody');
};

subtest 'cancel' => sub {
    my $made = $client->create(signers => Sigreq::Client::signers({}, {}))->json;
    my ($first, $second) = signers_of($made);
    $first->sign('Ann Lee');
    my $shown = ctl('submission', 'cancel', $made->{uuid}, '--reason', 'Fraud');
    is_deeply([@$shown{qw(state cancel_reason)}], ['cancelled', 'Fraud'], 'cancelled');
    my $now = $client->get("/signatures/$made->{uuid}")->json;
    is_deeply([@$now{qw(status cancelReason)}], ['cancelled', 'Fraud'], 'the caller sees it');
    is($second->get('')->code, 410, 'the link of a signer who has not signed says so');
    is($second->sign('Bob Kay')->code, 410, 'a signer of a cancelled submission cannot sign');
    my $audit = $client->get("/signatures/$made->{uuid}/audit")->json;
    is($audit->{events}[-1]{event}, 'cancelled', 'an event is in the chain');
    is($audit->{events}[-1]{detail}{by}, 'administrator', 'the event says that an administrator did it');
    is($audit->{events}[-1]{ip}, undef, 'the event has no address');
    is(chain_fault($audit), undef, 'the chain is intact');
    is(ctl('submission', 'cancel', $made->{uuid}, '--reason', 'Again')->{cancel_reason}, 'Fraud',
        'again: the first reason stays');
    is(scalar @{ $client->get("/signatures/$made->{uuid}/audit")->json->{events} }, scalar @{ $audit->{events} },
        'a repeated cancellation adds no event');
    my $done = $client->create->json;
    (signers_of($done))[0]->sign('Ann Lee');
    said_is(4, qr/This submission is completed/, 'submission', 'cancel', $done->{uuid});
    said_is(3, qr/There is no such submission/, 'submission', 'cancel', $nobody);
    said_is(2, qr/--reason must not be blank/, 'submission', 'cancel', $done->{uuid}, '--reason', ' ');
};

subtest 'legal hold' => sub {
    my $open   = $client->create->json;
    my $done   = $client->create(more => [part('expiresAt', '2035-01-01T00:00:00Z')])->json;
    my $audit  = sub { $client->get("/signatures/$_[0]{uuid}/audit") };
    my $events = sub { join ' ', map { $_->{event} } @{ $audit->(@_)->json->{events} } };
    (signers_of($done))[0]->sign('Ann Lee');
    sql("UPDATE submission SET expires_at = 1 WHERE uuid = '$done->{uuid}'");    # its deadline is over
    for my $made ($open, $done) {
        my $before = $client->get("/signatures/$made->{uuid}")->json;
        my $shown  = ctl('submission', 'hold', $made->{uuid}, '--reason', 'Case Zwicky');
        is($shown->{hold_reason}, 'Case Zwicky', 'held');
        like($shown->{held_at}, qr/^20/, 'the hold has its time');
        said_is(4, qr/already under legal hold/, 'submission', 'hold', $made->{uuid}, '--reason', 'Another');
        like($events->($made), qr/ held$/, 'the chain has an event');
        is(chain_fault($audit->($made)->json), undef, 'the chain is intact');
        my $now = $client->get("/signatures/$made->{uuid}");
        unlike($_->body, qr/Zwicky/, 'the caller cannot read the reason') for $audit->($made), $now;
        $now = $now->json;
        delete $_->{expiresAt} for $now, $before;
        is_deeply($now, $before, 'the caller sees the same otherwise');
        my $list = $client->get('/signatures', query => { updatedAfter => $now->{updatedAt} })->json->{data};
        ok(!(grep { $_->{uuid} eq $made->{uuid} } @$list), 'the list does not show the hold as a change');
    }
    is((signers_of($open))[0]->sign('Ann Lee')->code, 200, 'a signer can sign');
    is(ctl('submission', 'show', $open->{uuid})->{hold_reason}, 'Case Zwicky', 'the hold stays after a signature');
    my ($row) = grep { $_->{uuid} eq $open->{uuid} } @{ ctl('submission', 'list', '--organization', $org->{uuid}) };
    is($row->{hold_reason}, 'Case Zwicky', 'the list shows it');
    for my $made ($open, $done) {
        my $shown = ctl('submission', 'release', $made->{uuid});
        is_deeply([@$shown{qw(held_at hold_reason)}], [undef, undef], 'released');
        said_is(4, qr/not under legal hold/, 'submission', 'release', $made->{uuid});
        like($events->($made), qr/ held.* released$/, 'the chain has both events');
    }
    said_is(3, qr/There is no such submission/, 'submission', 'hold', $nobody, '--reason', 'x');
};

subtest 'deliveries' => sub {
    my $receiver = Sigreq::Receiver->new;
    $client->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/status/500') });
    my $made = $client->create->json;
    my ($call) = $receiver->wait_for(1);
    my $event = $call->{body}{eventId};
    my @of = ('delivery', 'list', '--submission', $made->{uuid});
    wait_for(sub { @{ ctl(@of, '--failed') } });
    is_deeply([map { [@$_{qw(event_id event status success)}] } @{ ctl(@of) }],
        [[$event, 'sent', 500, JSON::PP::false]], 'the list has the call');
    is_deeply(ctl('delivery', 'list', '--organization', $other->{uuid}), [],
        'the list has no calls of another organisation');
    $client->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/ok') });
    my $again = ctl('delivery', 'redeliver', $event);
    is_deeply([@$again{qw(event_id success)}], [$event, undef], 'it is repeated');
    my (undef, $second) = $receiver->wait_for(2);
    is($second->{body}{eventId}, $event, 'the repeated call arrives at the present URL');
    wait_for(sub { ctl(@of)->[0]{ended_at} });
    is_deeply([map { $_->{success} ? 'ok' : 'failed' } @{ ctl(@of) }], ['ok', 'failed'], 'newest first');
    is(uuids(ctl(@of, '--before', $again->{uuid})), $event, 'the list goes on after --before');
    sql("UPDATE job SET ended_at = NULL, success = NULL, state = 'scheduled', due_at = 4102444800000000 "
            . "WHERE uuid = '$again->{uuid}'");
    said_is(4, qr/A redelivery of this event is already queued/, 'delivery', 'redeliver', $event);
    sql("UPDATE job SET ended_at = 1, success = (1 = 1), state = 'done' WHERE uuid = '$again->{uuid}'");
    for my $round (2 .. 5) {
        ctl('delivery', 'redeliver', $event);
        $receiver->wait_for($round + 1);
        wait_for(sub { ctl(@of)->[0]{ended_at} });
    }
    said_is(4, qr/5 times in a minute/, 'delivery', 'redeliver', $event);
    sql("UPDATE job SET created_at = 0 WHERE event_id = '$event'");
    $client->delete('/webhooks/sent-webhook-url');
    said_is(4, qr/no longer has a webhook URL for this event/, 'delivery', 'redeliver', $event);
    said_is(3, qr/There is no such event/, 'delivery', 'redeliver', $nobody);
    said_is(3, qr/no such organization or submission/, 'delivery', 'list', '--submission', $nobody);
};
done_testing;
