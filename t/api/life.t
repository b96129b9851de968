# SPDX-License-Identifier: Apache-2.0
# The life of a submission after its creation: order of signers, deadline, cancellation, replacement of a signer, and
# where it stands.
use strict;
use warnings;
use Mojo::JSON qw(encode_json);
use Mojo::Util 'decode';
use Sigreq::Client;
use Sigreq::Here qw(organisation is_error is_text wait_for sql);
use Sigreq::Multipart 'part';
use Sigreq::Preview;
use Sigreq::Signer qw(signers_of chain_fault);
use Test::More;

my $org    = organisation();
my $client = $org->{test};

sub life { my %part = @_; return (more => [map { part($_, $part{$_}) } sort keys %part]) }

sub made {    # the overrides of signers, form parts → submission
    my ($signers, %parts) = @_;
    my $res = $client->create(signers => Sigreq::Client::signers(@$signers), life(%parts));
    is($res->code, 201, 'created') or diag $res->body;
    return $res->json;
}
sub now_of { $client->get("/signatures/$_[0]{uuid}")->json }
sub events { map { $_->{event} } @{ $client->get("/signatures/$_[0]{uuid}/audit")->json->{events} } }
sub later  { Mojo::Date->new(time + $_[0])->to_datetime }

# How many timers of its deadline a submission has, and how many jobs that wait.
sub timers {
    my $of = "submission_id = (SELECT id FROM submission WHERE uuid = '$_[0]{uuid}') AND kind = 'expiry'";
    return join ' ', map { sql("SELECT count(*) FROM $_ AND $of") } 'timer WHERE true', "job WHERE state <> 'done'";
}

# Moves a deadline to the near future: a second away, or more if the machine is so busy that a second passes meanwhile.
sub soon {
    my $made = shift;
    for my $seconds (1 .. 60) {
        my $answer = $client->request(PATCH => "/signatures/$made->{uuid}", json => { expiresAt => later($seconds) });
        return Mojo::Date->new($answer->json->{expiresAt})->epoch if $answer->code == 200;
        is_error($answer, 400, 'expiresAt must be in the future');
    }
    die "the deadline cannot be moved\n";
}

sub statuses { join ' ', map { $_->{status} } @{ $_[0]{submitters} } }

subtest 'without an extension' => sub {
    my $made = $client->create->json;
    my @new  = grep { exists $made->{$_} } qw(status expiresAt externalId metadata redirectUrl cancelledAt);
    is("@new", '', 'the response of the creation has no new member');
    is((grep { exists $made->{submitters}[0]{$_} } qw(order replaces)), 0,
        'the signers of the creation have no new member');
    is_deeply(now_of($made), $made, 'GET shows the same as the creation');
    (signers_of($made))[0]->sign('Ann Lee');
    ok(!exists now_of($made)->{status}, 'a completed submission has no status');
};

subtest 'what the caller adds' => sub {
    my %parts = (externalId => "Contract \xc2\xab7\xc2\xbb", metadata => '{"customer": 17, "tags": ["a"]}');
    my $made  = made([{}], %parts);
    is($made->{status},     'open',                  'the response has the status');
    is($made->{externalId}, decode('UTF-8', $parts{externalId}), 'the response has the external id');
    is_deeply($made->{metadata}, { customer => 17, tags => ['a'] }, 'the response has the metadata');
    is_deeply(now_of($made), $made, 'GET shows the same');
    my $list = $client->get('/signatures', query => { externalId => $made->{externalId} })->json->{data};
    is_deeply([map { $_->{uuid} } @$list], [$made->{uuid}], 'the list finds it by its external id');
    is_deeply($client->get('/signatures', query => { externalId => 'none' })->json->{data}, [],
        'the list finds no other submission');
};

subtest 'faults of a creation' => sub {
    for (
        [expiresAt => 'tomorrow', 'expiresAt must be an ISO 8601 date and time with a zone, such as '
              . '2026-11-20T18:00:00Z or 2026-11-20T18:00:00+01:00'],
        [expiresAt   => '2020-01-01T00:00:00Z',  'expiresAt must be in the future'],
        [expiresAt   => '2126-01-01T00:00:00Z',  'expiresAt must be within 10 years'],
        [externalId  => 'x' x 256,               'externalId must have at most 255 characters'],
        [metadata    => '[1]',                   'metadata must be a JSON object'],
        [metadata    => '{"id":12345678901234567890}', "metadata must be a JSON object: too big integer near "
              . "'12345678901234567890' at line 1 column 26"],
        [metadata    => '{"a":"' . 'x' x 4096 . '"}', 'metadata must be at most 4096 bytes'],
        [redirectUrl => 'http://x.org/',         'redirectUrl must be an https URL'],
        [redirectUrl => 'https://x.org/', 'redirectUrl: https://x.org is not allowed (SigreqRedirectAllow)'])
    {
        my ($part, $value, $message) = @$_;
        is_text($client->create(life($part => $value)), 400, $message, "$part: $message");
    }
    is_text($client->create(signers => Sigreq::Client::signers({ order => 0 })),
        400, 'Signer 1: An order must be an integer from 1 to 10000');
};

subtest 'order' => sub {
    my $made = made([{ order => 2 }, { order => 1 }, { order => 2 }]);
    is(statuses($made), 'initiated sent initiated', 'those with the lowest order are due');
    my ($late, $first, $other) = signers_of($made);
    is($late->state->{state}, 'waiting', 'the link of another one says so');
    is_deeply($late->state->{documents}, [], 'the link of a signer who waits shows no document');
    is($late->get("/documents/$made->{documents}[0]{uuid}")->code, 409,
        'the link of a signer who waits serves no document');
    is_error($late->sign('Ann Lee'), 409, 'It is not your turn yet');
    is_error($late->refuse('no'),    409, 'It is not your turn yet');
    is(now_of($made)->{submitters}[0]{openedAt}, undef, 'they have not opened it');
    is($first->sign('Ann Lee')->code, 200, 'the first one signs');
    is(statuses(now_of($made)), 'sent completed sent', 'the others are due then');
    is($late->sign('Ann Lee')->code, 200, 'and sign');
    is(now_of($made)->{status}, 'open', 'one is left');
    is($other->sign('Ann Lee')->code,  200,         'the last one signs');
    is(now_of($made)->{status},        'completed', 'it is completed');
    is(join(' ', events($made)), 'created opened signed due due opened signed opened signed completed', 'the events');
    is(chain_fault($client->get("/signatures/$made->{uuid}/audit")->json), undef, 'the events are a chain');
};

subtest 'a signer who was never due' => sub {
    my $made = made([{ order => 1 }, { order => 2 }]);
    my ($first, $late) = signers_of($made);
    is($first->refuse('no')->code, 200, 'the one before them refuses');
    is($late->state->{state}, 'closed', 'the link says so');
    is_deeply($late->state->{documents}, [], 'the link of the closed submission shows no document');
    my $document = "/documents/$made->{documents}[0]{uuid}";
    is($late->get($_)->code, 409, "$_: none") for $document, "$document/pages/0.png", "$document/pages/0.json";
};

subtest 'cancel' => sub {
    my $made   = made([{}, {}]);
    my ($ann, $bob) = signers_of($made);
    my $path   = "/signatures/$made->{uuid}/cancel";
    is($ann->sign('Ann Lee')->code, 200, 'one has signed');
    is($bob->get('')->code, 200, 'one has opened the link');
    my $page = "/documents/$made->{documents}[0]{uuid}/pages/0.png";
    is($bob->get($page)->code, 200, 'the signer sees a page');
    my $res = $client->post($path, json => { reason => 'Wrong rent' });
    is($res->code, 200, 'cancelled');
    is($res->json->{status}, 'cancelled', 'the status');
    is($res->json->{cancelReason}, 'Wrong rent', 'the reason');
    ok($res->json->{cancelledAt}, 'the time');
    is_deeply(now_of($made), $res->json, 'GET shows the same');
    my $again = $client->post($path, json => { reason => 'Another' })->json;
    is($again->{cancelReason},       'Wrong rent', 'again: nothing changes');
    is($client->post($path)->code, 200, 'also without a body');
    is_error($bob->get(''), 410, 'This signature request was withdrawn');
    is_error($bob->sign('Bob Lee'), 410, 'This signature request was withdrawn');
    is($bob->get($page)->code, 410, 'the page is gone');
    is($bob->get("/documents/$made->{documents}[0]{uuid}")->code, 410, 'so is the document');
    my $html = $bob->get('', headers => { Accept => 'text/html' });
    is($html->code, 200, 'a browser gets a page');
    like($html->body, qr/withdrawn/, 'the page says that the submission was withdrawn');
    unlike($html->body, qr/documents\//, 'the page has no document');
    is($ann->state->{state}, 'completed', 'who has signed keeps access');
    is($ann->get($page)->code, 200, 'a signer who has signed can see what they signed');
    is(join(' ', events($made)), 'created opened signed opened cancelled', 'the events');
    my $done = made([{}]);
    (signers_of($done))[0]->sign('Ann Lee');
    is_error($client->post("/signatures/$done->{uuid}/cancel"), 409, 'This submission is completed');
    is_error(organisation()->{test}->post($path), 404, 'Not found', 'another organisation finds nothing');
    is_error($org->{live}->post($path),           404, 'Not found', 'nor does the other environment');
    my @found = map { $_->{uuid} } @{ $client->get('/signatures', query => { status => 'cancelled' })->json->{data} };
    is_deeply(\@found, [$made->{uuid}], 'the list filters by it');
};

subtest 'deadline' => sub {
    my $made = made([{}, {}], expiresAt => later(3600));
    my ($ann, $bob) = signers_of($made);
    is($made->{status}, 'open', 'before it');
    is($ann->sign('Ann Lee')->code, 200, 'one signs in time');
    is(timers($made), '1 0', 'a timer waits for the deadline');
    my $end = soon($made);
    ok(wait_for(sub { sql("SELECT state FROM submission WHERE uuid = '$made->{uuid}'") eq 'expired' }),
        'the job thread expires it');
    cmp_ok(Mojo::Date->new(now_of($made)->{expiredAt})->epoch, '>=', $end,
        'it is not expired before the deadline');
    ok(wait_for(sub { timers($made) eq '0 0' }), 'no timer and no job is left');
    is_error($bob->sign('Bob Lee'), 410, 'The deadline of this signature request is over');
    is_error($bob->get(''),         410, 'The deadline of this signature request is over');
    is($ann->state->{state}, 'completed', 'who has signed keeps access');
    is_error($client->request(PATCH => "/signatures/$made->{uuid}", json => { expiresAt => undef }),
        409, 'This submission is expired');
    is(join(' ', events($made)), 'created opened signed extended expired', 'the events');
};

subtest 'another deadline' => sub {
    my $made = made([{}], expiresAt => later(3600));
    my $path = "/signatures/$made->{uuid}";
    my $change = sub { $client->request(PATCH => $path, json => { expiresAt => $_[0] }) };
    my $new = later(7200);
    is($change->($new)->json->{expiresAt} =~ s/\.000//r, $new, 'it is moved');
    is(timers($made), '1 0', 'there is one timer');
    ok(!exists $change->(undef)->json->{expiresAt}, 'it is removed');
    is(timers($made), '0 0', 'the timer of the deadline is removed');
    is_error($change->('2020-01-01T00:00:00Z'), 400, 'expiresAt must be in the future');
    is_error($client->request(PATCH => $path, json => {}), 400, 'expiresAt must be provided');
    is_error($change->($_), 400, 'expiresAt must be a date and time with a zone, or null') for '', 5;
    is_error($client->request(PATCH => $path, json => { expiresAt => undef, name => 'x' }), 400, 'Unknown member name');
    is_error($client->request(PATCH => "$path?x=1", json => { expiresAt => undef }),
        400, 'Unknown query parameter x');
    is_error($client->post("$path/cancel", json => { reasn => 'x' }), 400, 'Unknown member reasn');
    my $end = soon($made);
    ok(wait_for(sub { time > $end }), 'it was a second away');
    is(now_of($made)->{status}, 'expired', 'whoever reads it after that sees it expired');
    is(join(' ', events($made)), 'created extended extended extended expired', 'the events');
};

subtest 'a deadline and an end' => sub {
    for my $end (
        ['cancelled', sub { $client->post("/signatures/$_[0]{uuid}/cancel") }],
        ['refused',   sub { (signers_of($_[0]))[0]->refuse('no') }],
        ['completed', sub { $_->sign('Ann Lee') for signers_of($_[0]) }])
    {
        my ($status, $do) = @$end;
        my $made = made([{}, {}], expiresAt => later(3600));
        $do->($made);
        is(now_of($made)->{status}, $status, $status);
        is(timers($made),           '0 0',   'no timer is left');
    }
};

subtest 'replace' => sub {
    my $made = made([{ firstname => 'Ann' }, { firstname => 'Bob', email => 'b@x.org' }]);
    my ($ann, $bob) = signers_of($made);
    $bob->get('');
    my $path = sub { "/signatures/$made->{uuid}/signers/$_[0]/replace" };
    my $old  = $made->{submitters}[1];
    my $res  = $client->post($path->($old->{uuid}), json => { firstname => 'Eve', lastname => 'Lee' });
    is($res->code, 200, 'replaced') or diag $res->body;
    my $eve = $res->json->{submitters}[1];
    is_deeply([map { $_->{firstname} } @{ $res->json->{submitters} }], [qw(Ann Eve)], 'at the same place');
    my $found = sub {
        scalar grep { $_->{uuid} eq $made->{uuid} }
            @{ $client->get('/signatures', query => { q => $_[0] })->json->{data} };
    };
    is($found->('eve lee'), 1, 'the list finds the new name');
    is($found->('bob lee'), 0, 'the list does not find the old name');
    is($eve->{replaces}, $old->{uuid}, 'it says whom');
    my $opened = $client->get('/signatures', query => { status => 'opened' })->json->{data};
    ok(!(grep { $_->{uuid} eq $made->{uuid} } @$opened), 'the list does not find the status of the old signer');
    isnt($eve->{uuid}, $old->{uuid}, 'the new signer has another link');
    is_deeply($eve->{fields}, $old->{fields}, 'the fields stay');
    is($eve->{status}, 'sent', 'the status is that of a new link');
    is_error($bob->get(''), 410, 'This link was replaced by another one');
    is_error($bob->sign('Bob Lee'), 410, 'This link was replaced by another one');
    is($ann->sign('Ann Lee')->code, 200, 'another one signs');
    my $again = $client->post($path->($eve->{uuid}), json => { firstname => 'Ida', lastname => 'Lee' })->json;
    my ($done, $ida) = signers_of($again);
    is($ida->sign('Ida Lee')->code, 200, 'who came in the place of Eve signs the prepared document');
    is(now_of($made)->{status}, 'completed', 'it is completed');
    is(scalar @{ now_of($made)->{submitters} }, 2, 'it has two signers');
    is_error($client->post($path->($made->{submitters}[0]{uuid}), json => { firstname => 'X', lastname => 'Y' }),
        409, 'This submission is completed');
    is(join(' ', events($made)),
        'created opened replaced opened signed replaced opened signed completed', 'the events');
};

subtest 'replace: faults' => sub {
    my $made = made([{ email => 'a@x.org' }, {}]);
    my ($ann) = signers_of($made);
    my $path = "/signatures/$made->{uuid}/signers/$made->{submitters}[0]{uuid}/replace";
    is_error($client->post($path, json => { lastname => 'Lee' }), 400, 'A firstname must be provided');
    is_error($client->post($path, json => { firstname => 'E', lastname => 'L', email => 'x' }),
        400, 'Invalid email format: x');
    is_error($client->post($path, json => { firstname => 'E', lastname => 'L', fields => [] }),
        400, 'Unknown member fields');
    is_error($client->post("/signatures/$made->{uuid}/signers/$made->{uuid}/replace",
            json => { firstname => 'E', lastname => 'L' }), 404, 'Not found');
    $ann->sign('Ann Lee');
    my $eve = { firstname => 'E', lastname => 'L' };
    is_error($client->post($path, json => $eve), 409, 'This signer has signed already');
};

subtest 'sign and cancel at once' => sub {
    my %won;
    for (1 .. 12) {
        my $made = made([{}]);
        my ($ann) = signers_of($made);
        my ($sign, $cancel);
        Mojo::Promise->all(
            $ann->sign_p('Ann Lee')->then(sub { $sign = $_[0]->code }),
            $client->request_p(POST => "/signatures/$made->{uuid}/cancel")->then(sub { $cancel = $_[0]->code }))->wait;
        my $status = now_of($made)->{status} // 'completed';
        $won{$status}++;
        is("$sign $cancel", $status eq 'completed' ? '200 409' : '410 200', "exactly one wins: $status");
    }
    note join ' ', %won;
};

subtest 'what has changed since' => sub {
    my $made = made([{}]);
    my $since = now_of($made)->{updatedAt};
    is_deeply($client->get('/signatures', query => { updatedAfter => $since })->json->{data}, [], 'nothing');
    (signers_of($made))[0]->get('');
    my $data = $client->get('/signatures', query => { updatedAfter => $since })->json->{data};
    is_deeply([map { $_->{uuid} } @$data], [$made->{uuid}], 'one was opened');
};

done_testing;
