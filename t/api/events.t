# SPDX-License-Identifier: Apache-2.0
# The event feed: the events of each transition, cursors, filters, scope, waiting, failed deliveries, deletion, and the
# cursors of events that were deleted or of a database that was restored.
use strict;
use warnings;
use Mojo::Promise;
use Sigreq::Apart;
use Sigreq::Here qw(wait_for sql is_error);
use Sigreq::Mailbox;
use Sigreq::Receiver;
use Sigreq::Signer 'signers_of';
use Test::More;
use Time::HiRes 'time';

my $apart    = Sigreq::Apart->new(organization => 'Org');
my $receiver = Sigreq::Receiver->new;
my $box      = Sigreq::Mailbox->new;
my $mail     = "SigreqSMTP smtp://127.0.0.1:$box->{port}\nSigreqMailFrom sign\@example.org";
my $client   = $apart->serve(server => $mail, place => "Sigreq On\nSigreqBaseURL https://sign.example.org");
my $base     = $client->{base};

sub events { my %o  = @_; return $client->get('/events', query => \%o) }
sub page   { my $at = shift; return events(defined $at ? (after => $at) : (), @_)->json }
sub types { return map { $_->{type} } @{ $_[0]{data} } }
sub now   { return page('now')->{next} }
sub db    { return sql($_[0], $apart->{params}) }

sub other {    # a client with another token
    my @token = ('--organization', 'Org', '--user', $_[0], '--environment', $_[1], '--name', "t$_[0]$_[1]");
    return $client->with(token => $apart->ctl('token', 'create', @token)->{token});
}

sub signers {
    return map { $_->{link} =~ s{^https://sign\.example\.org}{$base}; $_ } signers_of($_[0]);
}

# --- an empty feed, and mistakes
is_deeply(events()->json, { data => [], next => '0' }, 'an empty feed');
is_deeply(page('0'),      { data => [], next => '0' }, 'its cursor');
is_deeply(page('now'),    { data => [], next => '0' }, 'now');
for my $after ('', 'x', '1', '-1', '01-00000000', '0-00000000', '1-0000000', '1-000000000', '1-0000000g', ' now',
    '9999999999999999999-00000000') {
    is_error(events(after => $after), 400, qr/^after must be the id of an event, a value of next, or now$/);
}
is_error(events(limit => $_), 400, 'limit must be a whole number from 1 to 100')  for '', 0, 101, 'x';
is_error(events(wait  => $_), 400, 'wait must be a whole number from 0 to 30')    for '', 31, -1, 'x', '1.5';
is_error(events(type  => $_), 400, qr/^type must be submission\.sent, signer\.due,.* or delivery\.failed$/)
    for '', 'x', 'signer.signed,', 'signer.signed,x';
is_error(events(x => 1), 400, qr/x/);
is_error($client->with(token => undef)->get('/events'), 401, qr/./);

# --- what a submission tells
my $made = $client->create(
    more => [ Sigreq::Multipart::part(externalId => "lease \"1\"") ],
    signers => Sigreq::Client::signers({}, { firstname => 'Bob' }))->json;
my ($ann, $bob) = signers($made);
is($_->sign->code, 200, 'signed') for $ann, $bob;
my $all = page(undef);
is_deeply([types($all)], [
    qw(submission.sent signer.opened signer.signed signer.opened signer.signed submission.completed)],
    'the events of a submission');
my ($sent, undef, $signed) = @{ $all->{data} };
like($sent->{id},        qr/^1-[0-9a-f]{8}$/,                   'the id of the first event');
like($sent->{createdAt}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/, 'its time');
is_deeply($sent, { %{$sent}{qw(id createdAt)}, type => 'submission.sent', environment => 'test',
    submissionId => $made->{uuid}, externalId => 'lease "1"', detail => {} }, 'the event of a submission');
is_deeply($signed, { %{$signed}{qw(id createdAt)}, type => 'signer.signed', environment => 'test',
    submissionId => $made->{uuid}, signerId => $made->{submitters}[0]{uuid}, externalId => 'lease "1"',
    detail => { signatureType => 'typed' } }, 'the event of a signer');
is($all->{next}, $all->{data}[-1]{id}, 'next is the last id');
is_deeply([map { $_->{id} =~ /^(\d+)/ } @{ $all->{data} }], [1 .. 6], 'the positions are dense');
is(now(), $all->{next}, 'now is the last one');

# --- cursors and filters
my @paged;
for (my ($at, $page) = (undef); $page = page($at, limit => 2), @{ $page->{data} }; $at = $page->{next}) {
    is(scalar @{ $page->{data} }, 2, 'a page');
    push @paged, @{ $page->{data} };
}
is_deeply(\@paged, $all->{data}, 'page by page the same');
is_deeply(page($all->{data}[2]{id})->{data}, [@{ $all->{data} }[3 .. 5]], 'an id is a cursor');
my $of = page(undef, type => 'signer.signed,submission.completed');
is_deeply([types($of)], [qw(signer.signed signer.signed submission.completed)], 'only some types');
my $first = page(undef, type => 'signer.signed', limit => 1);
is($first->{next}, $first->{data}[-1]{id}, 'a full page ends with its last event');
my $none = page(undef, type => 'signer.refused');
is_deeply($none, { data => [], next => $all->{next} }, 'next goes on without an event of this type');
my $res  = events();
my $same = $client->get('/events', headers => { 'If-None-Match' => $res->headers->etag });
is($same->code, 304, 'the same page gets 304');

# --- the other transitions
my $at     = now();
my $second = $client->create(signers => Sigreq::Client::signers({}, { }))->json;
my ($carl) = signers($second);
is($carl->refuse('No, says ann@x.org')->code, 200, 'refused');
my $third = $client->create->json;
is($client->post("/signatures/$third->{uuid}/cancel", json => { reason => 'No' })->code, 200, 'cancelled');
is($client->delete("/signatures/$made->{uuid}")->code, 204, 'deleted');
my $more = page($at);
is_deeply([types($more)], [qw(submission.sent signer.opened signer.refused submission.refused submission.sent
    submission.cancelled submission.deleted)], 'refused, cancelled and deleted');
is_deeply($more->{data}[-1]{detail}, { outcome => 'completed' }, 'what became of the deleted one');
my $kept = events()->json;
is(scalar(grep { $_->{submissionId} eq $made->{uuid} } @{ $kept->{data} }), 7, 'the events of a deleted one are kept');
ok(!(grep { $_->{submissionId} eq $made->{uuid} && exists $_->{externalId} } @{ $kept->{data} }), 'no externalId');
unlike(events()->body, qr/ann\@|Lee|says|lease/i, 'there are no personal values');

# --- a locked signer
$at = now();
my $checked = $client->create(signers => Sigreq::Client::signers(
    { authentication => { method => 'code', code => '483920' } }))->json;
my ($guess) = signers($checked);
for (1 .. 20) {
    last if db("SELECT count(*) FROM feed WHERE type = 'signer.locked'");
    $guess->request(POST => '/check', json => { code => "00000$_" });
}
my ($locked) = grep { $_->{type} eq 'signer.locked' } @{ page($at)->{data} };
is_deeply($locked->{detail}, { method => 'code' }, 'a locked signer');
is($locked->{signerId}, $checked->{submitters}[0]{uuid}, 'who');

# --- deliveries that fail
$at = now();
$client->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/status/500') });
my $told = $client->create->json;
my @failed;
ok(wait_for(sub { @failed = @{ page($at, type => 'delivery.failed')->{data} } }), 'a failed call is an event');
my ($row) = @{ $client->get('/webhooks/history', query => { submissionId => $told->{uuid} })->json->{data} };
is_deeply($failed[0]{detail}, { map { $_ => $row->{$_} } qw(event eventId error statusCode) }, 'as the history has it');
is($failed[0]{submissionId}, $told->{uuid}, 'of this submission');
is($client->post("/webhooks/history/$row->{eventId}/redeliver")->code, 202, 'again');
ok(wait_for(sub { @{ page($failed[0]{id}, type => 'delivery.failed')->{data} } }), 'which is another event');
is($client->post('/webhooks/test', json => { event => 'sent' })->code, 202, 'a test');
my $test;
ok(wait_for(sub { ($test) = grep { !$_->{submissionId} } @{ page($at, type => 'delivery.failed')->{data} } }),
    'a test that fails');
is($test->{detail}{event}, 'test', 'it is one');
$client->delete('/webhooks/sent-webhook-url');

$at = now();
my $mailed = $client->create(sendEmail => 'true', signers => Sigreq::Client::signers({ email => 'named@x.org' }))->json;
ok(wait_for(sub { @failed = @{ page($at, type => 'mail.failed')->{data} } }), 'a failed mail is an event');
($row) = @{ $client->get('/webhooks/history', query => { submissionId => $mailed->{uuid} })->json->{data} };
is($row->{error}, '550 5.1.1 <named@x.org> is unknown', 'the history has the address');
is_deeply($failed[0]{detail}, { event => 'invitation', eventId => $row->{eventId}, statusCode => 550,
    error => '550 5.1.1 <***********> is unknown' }, 'the event does not');
is(scalar @failed, 1, 'it is told once');

# --- scope
my $stranger = other('ann@x.org', 'production');
is_deeply($stranger->get('/events')->json, { data => [], next => '0' }, 'another environment has none of them');
$apart->ctl('user', 'create', qw(--organization Org --firstname Bo --lastname Ek --email bo@x.org));
my $bo = other('bo@x.org', 'test');
is_deeply($bo->get('/events')->json, { data => [], next => '0' }, 'another user has none of them');
is_error($bo->get('/events', query => { after => $at }), 410, qr/GET \/signatures$/);
is_deeply(other('ann@x.org', 'test')->get('/events')->json, events()->json, 'another token of the user has the same');

# --- waiting
$at = now();
my $begun = time;
is_deeply(page($at, wait => 1), { data => [], next => $at }, 'nothing came');
cmp_ok(time - $begun, '>=', 1, 'after the wait');
my ($waited, $woken);
$begun = time;
my $waiting = $client->crowd;
my $promise = $waiting->request_p(GET => '/events', query => { after => $at, wait => 30 })->then(sub {
    ($waited, $woken) = ($_[0]->json, time - $begun);
});
my $creating = Mojo::Promise->timer(0.7)->then(sub { $waiting->create_p });
Mojo::Promise->all($promise, $creating)->wait;
is_deeply([types($waited)], ['submission.sent'], 'a request that waits gets the event');
cmp_ok($woken, '<', 20, 'when it is there');
is_deeply([types(page($at, wait => 30))], ['submission.sent'], 'an event that is there is not waited for');

# --- expiry, and what was restored
db("UPDATE feed SET created_at = 1 WHERE position BETWEEN 1 AND 4");

sub gc {
    my @folders = ('--documents', "$apart->{httpd}{dir}/documents", '--cache', "$apart->{dir}/cache");
    return $apart->ctl('gc', @folders);
}
is(gc()->{events_deleted}, 4, 'old events are deleted');
is_error(page_error($all->{data}[2]{id}), 410, qr/^The events after this one are not kept any more, or the database/);
is_error(page_error('0'),                 410, qr/^The events after this one/);
is((types(page($all->{data}[3]{id})))[0], 'signer.signed', 'the cursor of the last deleted one is good');
is(page(undef)->{data}[0]{id}, $all->{data}[4]{id}, 'without a cursor, the first that is kept');
is_error(page_error('4-00000000'),     410, qr/^The events after this one/);
is_error(page_error('6-00000000'),     410, qr/restored/);
is_error(page_error('9999-00000000'), 410, qr/restored/);
sub page_error { return events(after => $_[0]) }
db("UPDATE feed SET created_at = 1 WHERE position > 4");
gc();
my $last = page(undef);
is_deeply($last->{data}, [], 'all are deleted');
is_deeply(page($last->{next}), $last, 'the cursor stays');
$client->create;
is_deeply([types(page($last->{next}))], ['submission.sent'], 'the positions go on');

$apart->stop;
done_testing;
