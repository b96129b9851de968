# SPDX-License-Identifier: Apache-2.0
# SigreqMailLimit: invitations of an organisation and to one address, in both environments. A refused request creates
# nothing and counts nothing.
use strict;
use warnings;
use Mojo::UserAgent;
use Sigreq::Apart;
use Sigreq::Client;
use Sigreq::Here qw(suite wait_for is_error is_text);
use Sigreq::Preview;
use Test::More;

my $apart = Sigreq::Apart->new(organization => 'Org');
my $dir   = $apart->{dir};
my ($test, $live);
mkdir "$dir/mail";

my @ann        = ('--organization', 'Org', '--user', 'ann@x.org', '--environment', 'production', '--name', 'live');
my $live_token = $apart->ctl('token', 'create', @ann)->{token};

sub serve {    # two children that count from 0, with these limits in the server and others in the place
    my ($server, $place) = @_;
    my @metrics = ('<Location "/metrics">', 'SetHandler sigreq-metrics', '</Location>');
    $test = $apart->serve(
        children => 2,
        server   => join("\n", "SigreqSMTP maildir:$dir/mail", 'SigreqMailFrom sign@example.org', $server, @metrics),
        place    => "Sigreq On\nSigreqBaseURL https://sign.example.org\n$place");
    $live = $test->with(token => $live_token);
}

sub invitation {    # options for a creation that invites these addresses
    my ($to, %o) = @_;
    my @signers = map { { email => $_ } } ref $to ? @$to : $to;
    return (sendEmail => 'true', signers => Sigreq::Client::signers(@signers), %o);
}

sub invite { my $client = shift; return $client->create(invitation(@_)) }

sub is_invited {
    my ($client, $to, $name, %o) = @_;
    my $res = invite($client, $to, %o);
    is($res->code, 201, $name) or diag $res->body;
    return $res;
}

sub is_refused {    # 429, and nothing was created
    my ($client, $to, $text, $name) = @_;
    my $list   = sub { $client->get('/signatures', query => { limit => 100 })->body };
    my $before = $list->();
    my $res    = invite($client, $to);
    is_error($res, 429, $text, $name);
    like($res->headers->header('Retry-After'), qr/^[1-9]\d*$/, "$name: the refusal has Retry-After");
    is($list->(), $before, "$name: nothing is created");
    return $res;
}

sub limited {
    my $text = Mojo::UserAgent->new->get($apart->{httpd}->base . '/metrics')->res->body;
    return $text =~ /^sigreq_limited_total\{limit="mail"\} (\d+)/m ? $1 : 0;
}

sub too_many {    # the message
    my ($kind, $whose, $most) = @_;
    return qr/^Too many ${kind}invitations \Q$whose\E: the limit is $most per hour, try again in \d+ s$/;
}
my ($one, $two, $all) = ('to one address (signer 1)', 'to one address (signer 2)', 'of this organisation');

subtest 'limits of an organisation and of an address' => sub {
    serve('SigreqMailLimit test-recipient=3/h recipient=2/h', 'SigreqMailLimit test-organization=8/h organization=4/h');
    is_invited($test, $_, "to $_") for 'ann@x.org', 'Ann@X.org', 'ANN@x.org';
    my $res = is_refused($test, 'aNN@x.org', too_many('test ', $one, 3),
        'the fourth invitation is refused, also with other case');
    cmp_ok($res->headers->header('Retry-After'), '<=', 1200, 'one is allowed again after a third of an hour');
    is_invited($test, 'bob@x.org', 'another address has its own count');
    is_refused($test, ['new@x.org', 'ann@x.org'], too_many('test ', $two, 3), 'one of two addresses exceeds the limit');
    is_invited($test, 'new@x.org', "the other one was not counted: $_") for 1 .. 3;
    is_refused($test, 'new@x.org', too_many('test ', $one, 3), 'now it is counted');
    is_refused($test, ['c@x.org', 'd@x.org'], too_many('test ', $all, 8), 'seven are sent, two are too many');
    is_invited($test, 'c@x.org', 'one is not too many');
    is_refused($test, 'd@x.org', too_many('test ', $all, 8), 'the ninth invitation is refused');
    my $unmailed = Sigreq::Client::signers({ email => 'ann@x.org' });
    is($test->create(signers => $unmailed)->code, 201, 'without mail there is no limit');
    is(limited(), 5, 'all five refusals are counted');
    is_invited($live, 'ann@x.org', "production has its own count: $_") for 1, 2;
    is_refused($live, 'ann@x.org', too_many('', $one, 2), 'refusals for an address are counted');
    is_invited($live, ['e@x.org', 'f@x.org'], 'two more are counted');
    is_refused($live, 'g@x.org', too_many('', $all, 4), 'refusals for the organisation are counted');
    is_text(invite($live, [('h@x.org') x 3]), 400,
        "Too many invitations $one: the limit is 2 per hour, this submission needs 3",
        'more invitations than the limit allows at all are a 400');
};

subtest 'defaults' => sub {
    serve('', 'SigreqMailLimit organization=none');
    is_invited($test, 'a@x.org', "test: $_ of ten") for 1 .. 10;
    is_refused($test, 'a@x.org', too_many('test ', $one, 10), 'the eleventh invitation is refused');
    is_invited($live, 'a@x.org', "production: $_ of twenty") for 1 .. 20;
    is_refused($live, 'a@x.org', too_many('', $one, 20), 'the next invitation is refused');
};

subtest 'many at the same time' => sub {
    serve('', 'SigreqMailLimit test-recipient=5/h');
    is_invited($test, 'a@x.org', 'the first request is accepted');
    my $crowd   = $test->crowd;
    my @answers = $crowd->parallel(12, 6, sub { $crowd->create_p(invitation('a@x.org')) });
    is(scalar(grep { $_->code == 201 } @answers), 4, 'four more are created');
    is(scalar(grep { $_->code == 429 } @answers), 8, 'all others are refused');
};

subtest 'replays and failures' => sub {
    serve('', 'SigreqMailLimit test-recipient=2/h recipient=2/h');
    my $body = $test->creation(invitation('a@x.org'));
    my %key  = (headers => { 'Idempotency-Key' => 'one' });
    my $made = is_invited($test, 'a@x.org', 'the first request is accepted', body => $body, %key);
    my $replayed = sub {
        is(is_invited($test, 'a@x.org', $_[0], body => $body, %key)->body, $made->body,
            'a repeated request gets the first answer');
    };
    $replayed->("replay $_") for 1 .. 3;
    is_error(invite($test, 'a@x.org', name => 'Other', %key), 409, qr/Idempotency-Key/,
        'a key that is used for another request');
    is_invited($test, 'a@x.org', 'these requests count nothing');
    is_refused($test, 'a@x.org', too_many('test ', $one, 2), 'the third invitation is refused');
    $replayed->('a replay after that is answered');
    $apart->ctl('org', 'quota', 'Org', 0);
    is(invite($live, 'q@x.org')->code, 403, "the quota is used up: $_") for 1 .. 3;
    $apart->ctl('org', 'quota', 'Org', 1000);
    is_invited($live, 'q@x.org', "what the quota refused was not counted: $_") for 1, 2;
    is_refused($live, 'q@x.org', too_many('', $one, 2), 'invitations that were sent are counted');
    serve('', 'SigreqMailLimit test-recipient=2/h');    # which has forgotten the counts
    $replayed->("replay $_") for 1 .. 3;
    is_invited($test, 'a@x.org', "nothing of this was counted: $_") for 1, 2;
    $replayed->('a replay at the limit');
    is($test->post("/signatures/@{[$made->json->{uuid}]}/cancel")->code, 200, 'the submission is cancelled');
    is($test->delete("/signatures/@{[$made->json->{uuid}]}")->code, 204,
        'the submission is deleted, with what its key repeats');
    is_error(invite($test, 'a@x.org', body => $body, %key), 429, too_many('test ', $one, 2),
        'its key does not evade the limit');
};

subtest 'invitations that are repeated' => sub {
    serve('', 'SigreqMailLimit test-recipient=2/h');
    my $row_of = sub {    # the history's row of the invitation of a submission
        my $query = { submissionId => shift, event => 'invitation' };
        my $rows  = [];
        wait_for(sub { @{ $rows = $test->get('/webhooks/history', query => $query)->json->{data} } });
        return $rows->[0];
    };
    my $again = sub { $test->post("/webhooks/history/$_[0]/redeliver") };
    my @rows  = map { $row_of->(is_invited($test, $_, "to $_")->json->{uuid}) } 'a@x.org', 'b@x.org', 'b@x.org';
    is($again->($rows[0]{eventId})->code, 202, 'an invitation is sent again');
    is_refused($test, 'a@x.org', too_many('test ', $one, 2), 'the repetition is counted');
    my $res = $again->($rows[1]{eventId});
    is_error($res, 429, too_many('test ', $one, 2), 'one too many is refused');
    cmp_ok($res->headers->header('Retry-After'), '>', 60, 'the refusal of one too many has Retry-After');
    is_error($again->('00000000-0000-4000-8000-000000000000'), 404, 'Not found', 'an unknown event is not found');
};

done_testing;
