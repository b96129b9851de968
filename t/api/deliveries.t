# SPDX-License-Identifier: Apache-2.0
# Webhook calls as their receivers see them: every member, and no second attempt. The history of calls with all kinds of
# answers. Repeating a call on request.
use strict;
use warnings;
use IO::Socket::INET;
use Sigreq::Here qw(organisation place suite wait_for sql queued is_error);
use Sigreq::PDF 'pdf';
use Sigreq::Receiver;
use Sigreq::Suite;
use Test::More;
use Time::HiRes 'sleep';

my $receiver = Sigreq::Receiver->new;
my $org      = organisation();
my $client   = $org->{test};
my $uuid     = qr/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

sub register { my ($kind, $url) = @_; $client->post("/webhooks/$kind-webhook-url", json => { url => $url })->code }
sub history  { my %o = @_; $client->get('/webhooks/history', query => { limit => 100, %o })->json->{data} }

sub ended {    # waits until a submission's calls are over: COUNT of them
    my ($submission, $count) = @_;
    my $rows;
    wait_for(sub { $rows = history(submissionId => $submission->{uuid}); @$rows >= $count });
    return @$rows;
}

is_deeply(history(), [], 'at first the history is empty');
my $silent = $client->create->json;

# --- every field
is(register(sent => $receiver->url('/ok?x=1')), 200, 'registered');
my $submission = $client->create(name => "Lease \xe2\x98\xba", skipIntro => 'true')->json;
my ($call)     = $receiver->wait_for(1);
my $body = $call->{body};
is($call->{method}, 'POST', 'the call is a POST');
is($call->{headers}{'content-type'}, 'application/json', 'the body is JSON');
like($call->{headers}{'user-agent'}, qr{^mod_sigreq/[\d.]+$}, 'the user agent is that of the service');
ok(!exists $call->{headers}{expect}, 'the call has no Expect');
is($call->{headers}{connection}, 'close', 'the connection is used once');
ok(!exists $call->{headers}{authorization}, 'the call has no secret');
is(join("\n", $client->{judge}->errors_of_event($body)), '', 'the body is as described');
my %own = map { $_ => delete $body->{$_} } qw(event userTokenId submissionId webhookUrl eventId environment);
is_deeply($body, $submission, 'the body has the submission as in the answer of the creation');
my $event = delete $own{eventId};
like($event, $uuid, 'the body has the id of the event');
is_deeply(
    \%own,
    {   event => 'sent', userTokenId => $org->{test_token}{uuid}, submissionId => $submission->{uuid},
        webhookUrl => $receiver->url('/ok?x=1'), environment => 'test' },
    'the body has the members of the call');

my ($row) = ended($submission, 1);
like(delete $row->{$_}, qr/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, "history: $_") for qw(createdAt endedAt);
is_deeply(
    $row,
    {   uuid => $event, eventId => $event, event => 'sent', submissionId => $submission->{uuid},
        userTokenId => $org->{test_token}{uuid}, url => $receiver->url('/ok?x=1'), success => Mojo::JSON::true(),
        statusCode => 200, error => undef },
    'the row has all other members');
is_deeply(history(submissionId => $silent->{uuid}), [], 'events before the URL was set are not reported');

# --- whose
is_deeply($org->{live}->get('/webhooks/history')->json->{data}, [], 'the other environment has its own history');
my $other = organisation();
is_deeply($other->{test}->get('/webhooks/history')->json->{data}, [], 'another organisation has its own history');
is_error($other->{test}->post("/webhooks/history/$event/redeliver"), 404, 'Not found',
    'another organisation cannot repeat the call');
is_error($org->{live}->post("/webhooks/history/$event/redeliver"), 404, 'Not found',
    'the other environment cannot repeat the call');
is_error($client->with(token => 'x')->get('/webhooks/history'), 401, qr/./, 'nobody');
is_error($client->with(token => 'x')->post("/webhooks/history/$event/redeliver"), 401, qr/./, 'nobody');

# --- production, and a replayed creation
$org->{live}->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/ok?live') });
my @key = (headers => { 'Idempotency-Key' => "key $$" });
my $live = $org->{live}->create(@key)->json;
is($org->{live}->create(@key)->json->{uuid}, $live->{uuid}, 'a creation is repeated');
($call) = $receiver->wait_for(1, '/ok?live');
is($call->{body}{environment}, 'production', 'the body has the environment production');
is($call->{body}{userTokenId}, $org->{live_token}{uuid}, 'the body has the uuid of the token');

# --- answers of every kind
my $closed = Sigreq::Suite::free_port();
my $silent_tls = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 9);    # connects, and says nothing
my $full = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1);          # whose queue is full: nobody connects
my @filling = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $full->sockport, Blocking => 0) } 1 .. 4;
my $tls    = Sigreq::Receiver->new(tls => [map { suite->{dir} . "/seal/seal.$_" } qw(crt key)]);
my @kinds  = (    # URL, status, error (undef: success)
    [$receiver->url('/status/204'), 204, undef],
    [$receiver->url('/status/299'), 299, undef],
    [$receiver->url('/status/404'), 404, qr/^the answer was 404$/],
    [$receiver->url('/status/500'), 500, qr/^the answer was 500$/],
    [$receiver->url('/status/401'), 401, qr/^the answer was 401$/],
    [$receiver->url('/redirect'),   302, qr/^the answer was 302, and redirects are not followed$/],
    [$receiver->url('/reset'),      undef, qr/\w/],
    [$receiver->url('/garbage'),    undef, qr/^the answer is not HTTP$/],
    [$receiver->url('/headers'),    undef, qr/^the answer's headers are larger than 64 KiB$/],
    [$receiver->url('/endless'),    200, undef],
    ["http://127.0.0.1:$closed/",     undef, qr/connect/i],
    ["http://nowhere.invalid/",     undef, qr/^the host of the URL has no address that may be called$/],
    ["http://10.1.2.3/",            undef, qr/^the host of the URL has no address that may be called$/],
    [$tls->url('/ok'),              undef, qr/certificate/i],
    ["https://127.0.0.1:$receiver->{port}/ok?plain", undef, qr/\w/],
    ["https://127.0.0.1:@{[$silent_tls->sockport]}/", undef, qr/^no TLS connection within 5 s$/],
    ["http://127.0.0.1:@{[$full->sockport]}/", undef, qr/^no connection within 5 s$/],
    [$receiver->url('/slow/2'),     200, undef],
    [$receiver->url('/drip'),       undef, qr/^no answer within 15 s$/],
    [$receiver->url('/drip-body'),  200, undef],
);
for my $kind (@kinds) {
    my $url = $kind->[0];
    is(register(sent => $url), 200, "registered: $url");
    $kind->[3] = $client->create->json;
}

sub is_late {
    my ($row, $error) = @_;
    return ($row->{error} // '') =~ /^no (?:TLS )?connection within 5 s$/ && (!$error || $row->{error} !~ $error);
}

for my $kind (@kinds) {
    my ($url, $status, $error, $made) = @$kind;
    my @rows = ended($made, 1);
    for (1 .. 20) {    # on a slow machine a connection takes longer than it may
        last if !is_late($rows[0], $error);
        register(sent => $url);
        @rows = ended($client->create->json, 1);
    }
    is(scalar @rows, 1, "$url: one row") or next;
    is($rows[0]{statusCode}, $status, "$url: the row has the status");
    is(!!$rows[0]{success}, !defined $error, "$url: the row has the success");
    defined $error ? like($rows[0]{error}, $error,
        "$url: the row has the reason in words") : is($rows[0]{error}, undef, "$url: the row has no error");
}
my $open = "SELECT count(*) FROM job WHERE state <> 'done' AND organization_id = "
    . "(SELECT id FROM organization WHERE uuid = '$org->{uuid}')";
is(sql($open), 0, 'no further call is due');
is(scalar $receiver->received('/reset'),      1, 'there is no second attempt after a lost connection');
is(scalar $receiver->received('/status/500'), 1, 'there is no second attempt after an error');
is(scalar $receiver->received('/ok'),         0, 'no redirect is followed');
is(scalar $tls->received,                     0, 'a receiver with an invalid certificate gets no request');
is(scalar(grep { $_->{body}{eventId} eq $event } $receiver->received('/ok?x=1')), 1,
    'there is no second attempt after a success');

# --- connections that would lose the next call: closed on their second request, by stray bytes, after a while
my %pauses = ('/once' => 0, '/stray' => 0.1, '/idle' => 0.29);
for my $path (sort keys %pauses) {
    register(sent => $receiver->url($path));
    my @made = map { my $made = $client->create->json; ended($made, 1); sleep $pauses{$path}; $made } 1 .. 8;
    my @rows = map { ended($_, 1) } @made;
    is(scalar @rows, 8, "$path: eight calls");
    is_deeply([map { $_->{error} } @rows], [(undef) x 8], "$path: no call is lost");
    my %events;
    $events{ $_->{body}{eventId} }++ for $receiver->received($path);
    is(join(' ', sort map {"$_ times"} values %events), join(' ', ('1 times') x 8), "$path: each event arrived once");
    my %connections = map { $_->{connection} => 1 } $receiver->received($path);
    is(scalar keys %connections, 8, "$path: each call had its own connection");
}

# --- filters and pages
is(scalar @{ history(success => 'false') } + @{ history(success => 'true') }, scalar @{ history() },
    'the filter success has these rows');
is(scalar(grep { $_->{success} } @{ history(success => 'false') }), 0, 'the filter success has only successful rows');
is(scalar @{ history(event => 'signed') }, 0, 'the filter event has no rows');
is(scalar @{ history(event => 'sent') }, scalar @{ history() }, 'the filter event has all rows');
is_error($client->get('/webhooks/history', query => { event => 'x' }), 400, qr/^event must be /);
is_error($client->get('/webhooks/history', query => { success => '1' }), 400, qr/^success must be /);
is_error($client->get('/webhooks/history', query => { submissionId => '1' }), 400, qr/^submissionId must be /);
is_error($client->get('/webhooks/history', query => { x => '1' }), 400, qr/./, 'an unknown parameter');
my (@paged, $after);
do {
    my $query = { limit => 4, defined $after ? (after => $after) : () };
    my $page  = $client->get('/webhooks/history', query => $query)->json;
    push @paged, map { $_->{uuid} } @{ $page->{data} };
    $after = $page->{pagination}{next};
} while defined $after;
is_deeply(\@paged, [map { $_->{uuid} } @{ history() }], 'the pages together have the same rows');
my @times = map { $_->{endedAt} } @{ history() };
is_deeply([sort { $b cmp $a } @times], \@times, 'newest first');

# --- once more
register(sent => $receiver->url('/ok?again'));
my $again = $client->post("/webhooks/history/$event/redeliver");
is($again->code, 202, 'the event is repeated');
isnt($again->json->{uuid}, $event, 'the repeated call is another one');
is_deeply([@{ $again->json }{qw(eventId url success endedAt)}], [$event, $receiver->url('/ok?again'), undef, undef],
    'the repeated call reports the same event at the present URL');
($call) = $receiver->wait_for(1, '/ok?again');
is($call->{body}{eventId},    $event,                       'the repeated call arrives');
is($call->{body}{webhookUrl}, $receiver->url('/ok?again'), 'the repeated call\'s body has the present URL');
is_deeply({ %{ $call->{body} }, map { $_ => 0 } qw(webhookUrl) },
    { %{ ($receiver->received('/ok?x=1'))[0]{body} }, webhookUrl => 0 },
        'the repeated call\'s body is otherwise the same');
is(scalar(ended($submission, 2)), 2, 'the history has both calls');
register(sent => undef);
is_error($client->post("/webhooks/history/$event/redeliver"), 409, qr/no longer has a webhook URL/,
    'without a URL a repetition is refused');
is_error($client->post("/webhooks/history/$_/redeliver"), 404, 'Not found') for $submission->{uuid}, 'x';
is(queued($submission->{uuid}), 2, 'no further call is made');

# --- a call that tries a URL
my $try = sub { $client->post('/webhooks/test', json => { event => $_[0] }) };
is_error($try->('sent'), 409, 'The token has no webhook URL for this event', 'a test call needs a URL');
is_error($try->($_), 400, 'event must be sent, signed, refused or completed',
    'a test call needs an event') for undef, 'test', [1];
is_error($client->with(token => 'x')->post('/webhooks/test', json => {}), 401, qr/./, 'nobody');
register(signed => $receiver->url('/status/500?try'));
my $tried = $try->('refused');
is($tried->code, 202, 'a test call is accepted');
my $made = $tried->json;
is_deeply([@$made{qw(event submissionId eventId url success)}],
    ['test', undef, $made->{uuid}, $receiver->url('/status/500?try'), undef], 'the answer is the row of the test call');
($call) = $receiver->wait_for(1, '/status/500?try');
is(join("\n", $client->{judge}->errors_of_event($call->{body})), '', 'the body of the test call is as described');
is($call->{body}{eventId}, $made->{eventId}, 'the body of the test call has the id of the event');
my $rows;
wait_for(sub { $rows = history(event => 'test'); @$rows });
is_deeply([map { "$_->{uuid} $_->{error}" } @$rows], ["$made->{uuid} the answer was 500"],
    'the result of the test call is kept');
is_error($client->post("/webhooks/history/$made->{eventId}/redeliver"), 404, 'Not found',
    'a test call is not made again');
is(join(' ', map { $try->('signed')->code } 1 .. 5), '202 202 202 202 429', 'a token can make five in a minute');
sql("UPDATE job SET created_at = created_at - 60000000 WHERE uuid = '$made->{uuid}'");
is($try->('signed')->code, 202, 'a test call is accepted after a minute');
wait_for(sub { $rows = history(event => 'test'); @$rows == 6 });
is(scalar $receiver->received('/status/500?try'), 6, 'all test calls are made once');

# --- retention
my @gc = ('gc', '--documents', suite->{dir} . '/documents');
is(Sigreq::Here::ctl(@gc)->{history_deleted}, 0, 'gc keeps what is younger than 90 days');
sql("UPDATE job SET ended_at = ended_at - 8 * 86400000000 WHERE event_id = '$event'");    # of both rows
is(Sigreq::Here::ctl(@gc, '--history-days', 9)->{history_deleted}, 0, 'a row is kept with --history-days 9');
is(Sigreq::Here::ctl(@gc, '--history-days', 7)->{history_deleted}, 2, 'the row is deleted with --history-days 7');
is(scalar @{ history(submissionId => $submission->{uuid}) }, 0, 'the history does not have the deleted row');
done_testing;
