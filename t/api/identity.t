# SPDX-License-Identifier: Apache-2.0
# The member authentication of signers: what callers may send, what answers, events and webhooks show of it, and what
# they may do afterwards: change it, unlock it, get a URL for one visit, and replace the signer.
use strict;
use warnings;
use Mojo::Date;
use Mojo::JSON qw(decode_json encode_json);
use Sigreq::Client;
use Sigreq::Here qw(suite organisation ctl ctl_said is_error is_text nothing_happens sql);
use Sigreq::Multipart 'part';
use Sigreq::Receiver;
use Sigreq::Signer qw(signers_of typed chain_fault);
use Sigreq::Traces qw(word pattern found_in files_below database_files);
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my $none   = '00000000-0000-4000-8000-000000000000';
my %code   = (method => 'code', code => '4711-KX');

sub create {    # the authentications of signers → the response
    my @signers = map { +{ firstname => 'Ann', email => 'ann@example.org', authentication => $_ } } @_;
    return $client->create(signers => Sigreq::Client::signers(@signers));
}

sub made {
    my $res = create(@_);
    is($res->code, 201, 'created') or BAIL_OUT($res->body);
    return $res->json;
}
sub now_of   { $client->get("/signatures/$_[0]{uuid}")->json }
sub check_of { now_of($_[0])->{submitters}[$_[1] // 0]{authentication} }

sub path_of {
    "/signatures/$_[0]{uuid}/signers/" . $_[0]{submitters}[0]{uuid} . ($_[1] // '');
}

sub change {
    my ($made, $value) = @_;
    return $client->request(
        PATCH => path_of($made),
        json  => { authentication => $value });
}
sub unlock { $client->post(path_of($_[0], '/unlock')) }

sub session {
    my ($made, %body) = @_;
    return $client->post(path_of($made, '/session'), json => \%body);
}

sub replace {
    my ($made, %more) = @_;
    return $client->post(path_of($made, '/replace'), json => { firstname => 'Eve', lastname => 'Roe', %more });
}
sub signer { my $link = shift; return Sigreq::Signer->new(link => $link) }

sub enter {
    my ($signer, $text) = @_;
    return $signer->request(POST => '/check', json => { code => $text });
}

sub events {
    my ($made, @kinds) = @_;
    my $trail = $client->get("/signatures/$made->{uuid}/audit")->json;
    is(chain_fault($trail), undef, 'the chain of events is right');
    my @events = @{ $trail->{events} };
    return @kinds
        ? grep {
        my $event = $_->{event};
        grep { $_ eq $event } @kinds
        } @events
        : @events;
}

sub stored {    # what the database has, and another value for it
    my ($made, $change) = @_;
    my $where  = "WHERE uuid = '$made->{submitters}[0]{uuid}'";
    my $stored = decode_json(sql("SELECT authentication FROM signer $where") || 'null');
    return $stored unless $change;
    $change->($stored);
    sql("UPDATE signer SET authentication = '" . encode_json($stored) . "' $where");
    return;
}

subtest 'what a caller may send' => sub {
    my $code = 'An authentication code must have 4 to 32 printable characters';
    my $to =
          'An authentication to must be a telephone number such as +4915112345678, or another address of 3 to 100 '
        . 'characters without spaces';
    my @faults = (
        ['x',                                 'An authentication must be an object'],
        [[],                                  'An authentication must be an object'],
        [{},                                  'An authentication method must be code, email, hook, caller or httpd'],
        [{ method => 'sms' },                 'An authentication method must be code, email, hook, caller or httpd'],
        [{ %code, when => 'later' },          'An authentication when must be open or sign'],
        [{ method => 'code' },                'An authentication code must be provided'],
        [{ method => 'code', code => '123' }, $code],
        [{ method => 'code', code => '1-2 3' },          $code],
        [{ method => 'code', code => 'x' x 33 },         $code],
        [{ method => 'code', code => "12\t345" },        $code],
        [{ %code, to => '+49151123456' },                'An authentication of method code has no member to'],
        [{ method => 'email', code => '1234' },          'An authentication of method email has no member code'],
        [{ method => 'hook' },                           'An authentication to must be provided'],
        [{ method => 'hook', to => '+49 151 12345678' }, $to],
        [{ method => 'hook', to => '+49151' },           $to],
        [{ method => 'hook', to => 'a b' },              $to],
        [{ method => 'httpd' },                          'An authentication user must be provided'],
        [{ method => 'httpd', user => ' ' },        'An authentication user must have 1 to 254 printable characters'],
        [{ method => 'caller', how => 'passport' }, 'An authentication of method caller has no member how'],);
    nothing_happens(
        $org, 'faults',
        sub {
            is_text(create($_->[0]), 400, "Signer 1 (ann\@example.org): $_->[1]", encode_json([$_->[0]])) for @faults;
            my $res =
                $client->create(signers => Sigreq::Client::signers({ authentication => { method => 'email' } }));
            is_text($res, 400,
                'Signer 1: An email to which mail can be sent must be provided for authentication by email');
            is_error(create({ method => 'email' }),
                503, 'This service sends no mail (SigreqSMTP): no code can be sent by email');
        });
    is(made(undef)->{submitters}[0]{authentication}, undef, 'null: no check, and no member');
};

subtest 'what answers show' => sub {
    my @sent    = (\%code, { method => 'caller', when => 'sign' }, { method => 'httpd', user => 'ann' }, undef);
    my $made    = made(@sent);
    my %pending = (state => 'pending', passedAt => undef);
    my @shown   = (
        { method => 'code',   when => 'open', %pending },
        { method => 'caller', when => 'sign', %pending },
        { method => 'httpd',  when => 'open', %pending });
    my @members = map { $_->{authentication} } @{ $made->{submitters} };
    is_deeply(\@members, [@shown, undef], 'method, when and state, and neither code nor user');
    ok(!exists $made->{submitters}[3]{authentication}, 'a signer without a check has no member');
    is_deeply(now_of($made), $made, 'the same is read again');
    my @kinds =
        map { $_->{authentication} } @{ (events($made))[0]{detail}{signers} };
    is_deeply(
        \@kinds,
        [(map { { method => $_->{method}, when => $_->{when} } } @shown), undef],
        'the event of the creation has method and when');
    my ($ann) = signers_of($made);
    is_error($ann->get(''), 403, 'The identity of the signer must be checked first');
    my $url = enter($ann, '4711 kx')->json('/url');
    like($url, qr{^\Q$ann->{link}\E~[0-9a-f]{32}$}, 'the right code gives the link with a session');
    my $check = check_of($made);
    is($check->{state}, 'passed', 'the check is passed');
    like($check->{passedAt}, qr/^20\d\d-/, 'and has a time');
    is(signer($url)->state->{status}, 'opened', 'the link in the session works');
};

subtest 'changing it' => sub {
    my $made = made(undef);
    my ($ann) = signers_of($made);
    is($ann->state->{status},                                             'opened',  'a link without a check works');
    is(change($made, \%code)->json('/submitters/0/authentication/state'), 'pending', 'a check is added');
    is_error($ann->get(''),        403, 'The identity of the signer must be checked first');
    is_error(enter($ann, 'wrong'), 403, 'This was not accepted');
    is( change($made, { method => 'code', code => 'other', when => 'sign' })
            ->json('/submitters/0/authentication/when'),
        'sign',
        'and changed');
    is_error(enter($ann, '4711-KX'), 403, 'This was not accepted', 'the old code');
    is(stored($made)->{wrong}, 1, 'wrong codes are counted from the change on');
    ok(!exists change($made, undef)->json->{submitters}[0]{authentication}, 'and removed');
    is(stored($made),         undef,    'also from the database');
    is($ann->state->{status}, 'opened', 'the link works');
    my @events = events($made, 'authenticationChanged');
    my ($open, $sign) =
        map { { method => 'code', when => $_ } } qw(open sign);
    is_deeply(
        [map { $_->{detail} } @events],
        [   { before => undef, after => $open },
            { before => $open, after => $sign },
            { before => $sign, after => undef }
        ],
        'each change is an event');
    is($events[0]{signer}, $made->{submitters}[0]{uuid}, 'of the signer');
    is(change($made, undef)->code, 200, 'nothing changes nothing');
    is(scalar(events($made, 'authenticationChanged')), 3, 'and is no event');
    my $path = path_of($made);
    is_error($client->request(PATCH => $path, json => {}), 400, 'authentication must be provided, or null');
    is_error(
        $client->request(
            PATCH => $path,
            json  => { authentication => undef, locale => 'de' }
        ),
        400,
        'Unknown member locale');
    is_error(change($made, { method => 'code' }), 400, 'An authentication code must be provided');
    is_error(change($made, { method => 'email' }),
        503, 'This service sends no mail (SigreqSMTP): no code can be sent by email');
    change($made, \%code);
    ok(enter($ann, '4711-KX')->json('/url'), 'they pass');
    is_error(change($made, undef), 409, 'The identity of this signer has been checked already');
    $made = made(undef);
    (signers_of($made))[0]->sign;
    is_error(change($made, \%code), 409, 'This submission is completed');
    $made = made(undef, undef);
    (signers_of($made))[0]->sign;
    is_error(change($made, \%code), 409, 'This signer has signed already');
};

sub lock_it {
    my ($made, $times) = @_;
    enter((signers_of($made))[0], "wrong $_") for 1 .. $times;
    return;
}

subtest 'unlocking it' => sub {
    my $made   = made(\%code);
    my ($ann)  = signers_of($made);
    my $locked = 'The check of this signer\'s identity is not locked';
    is_error(unlock($made), 409, $locked);
    lock_it($made, 4);
    is_error(unlock($made), 409, $locked, 'four wrong codes are no lock');
    lock_it($made, 1);
    my $check = check_of($made);
    is($check->{state}, 'locked', 'five are one');
    cmp_ok(abs(Mojo::Date->new($check->{lockedUntil})->epoch - time - 3600), '<', 120, 'for an hour');
    my ($wrong, $right) = map { enter($ann, $_) } 'wrong', '4711-KX';
    is_error($right, 403, 'This was not accepted', 'the right code is not accepted');
    is( $right->body =~ s/"requestId":"[^"]*"//r,
        $wrong->body =~ s/"requestId":"[^"]*"//r,
        'with the same answer as a wrong one');
    my $res = unlock($made);
    is_deeply(
        $res->json('/submitters/0/authentication'),
        {   method   => 'code',
            when     => 'open',
            state    => 'pending',
            passedAt => undef
        },
        'it is unlocked');
    is_error(unlock($made), 409, $locked, 'once');
    ok(enter($ann, '4711-KX')->json('/url'), 'the right code is accepted');
    my @kinds = map { $_->{event} } events($made, qw(codeFailed unlocked authenticated));
    is("@kinds", 'codeFailed codeFailed codeFailed codeFailed codeFailed unlocked authenticated', 'all are events');

    $made = made(\%code);
    lock_it($made, 5);
    stored($made, sub { @{ $_[0] }{qw(locks locked_until)} = (4, 1) });    # that hour is over, and three others
    lock_it($made, 5);
    stored($made, sub { $_[0]{locked_until} = 1 });
    is_error(enter((signers_of($made))[0], '4711-KX'), 403, 'This was not accepted', 'five locks do not end by time');
    lock_it($made, 5);
    is(scalar(events($made, 'codeFailed')), 10,    'while it is locked, wrong codes are not counted');
    is(check_of($made)->{lockedUntil},      undef, 'answers say that the lock has no end');
    is(unlock($made)->code,                 200,   'it is unlocked');
    ok(enter((signers_of($made))[0], '4711-KX')->json('/url'), 'the right code is accepted');
    my $other = made({ method => 'caller' }, undef);
    is_error(unlock($other), 409, $locked, 'a check without codes');
    $other->{submitters}[0] = $other->{submitters}[1];
    is_error(unlock($other), 409, $locked, 'no check');

    $made = made(\%code);
    lock_it($made, 5);
    $client->post("/signatures/$made->{uuid}/cancel");
    is(unlock($made)->code, 200, 'a closed submission');
};

my $visitor = 'Mozilla/5.0 Firefox/130.0';

sub visit {
    my ($url, $method, %headers) = @_;
    return signer($url)
        ->request($method // 'GET', '', headers => { Accept => 'text/html', 'User-Agent' => $visitor, %headers });
}

subtest 'a URL for one visit' => sub {
    my $made  = made({ method => 'caller' });
    my ($ann) = signers_of($made);
    my %words = (
        how       => 'Passport shown',
        at        => '2026-01-02T03:04:05Z',
        reference => 'case 7');
    is_error(enter($ann, '1234'), 409, 'This signer is not asked for a code');
    my $first  = session($made, %words)->json;
    my $second = session($made, %words);
    is($second->code, 201, 'a URL');
    my $url = $second->json('/url');
    like($url, qr{^\Q$ann->{link}\E~[0-9a-f]{32}/visit$}, 'it has a secret beside the link');
    cmp_ok(abs(Mojo::Date->new($second->json('/expiresAt'))->epoch - time - 300),
        '<', 60, 'it works for five minutes');
    is(visit($first->{url})->code,                               403,       'the URL before has ended');
    is(visit($url, HEAD => ())->code,                            200,       'HEAD does not use it up');
    is(visit($url, GET => 'Sec-Purpose' => 'prefetch')->code,    200,       'nor does prefetching');
    is(visit($url, GET => 'User-Agent' => 'Slackbot 1.0')->code, 200,       'nor does a robot');
    is(check_of($made)->{state},                                 'pending', 'nobody has passed');
    my $res = visit($url);
    is($res->code, 303, 'a browser is redirected');
    like($res->headers->location, qr{^\Q$ann->{link}\E~[0-9a-f]{32}$}, 'to the link in a session');
    isnt($res->headers->location . '/visit', $url, 'which has another secret');
    is(signer($res->headers->location)->state->{status}, 'opened', 'which works');
    my $again = visit($url);
    is($again->code, 403, 'the URL works once');
    like($again->body, qr/Open this request from the sender/, 'then a page says where to begin');
    is_error(signer($url)->get(''), 403, 'This was not accepted', 'and a program gets an error');
    is_error($ann->get('/visit'),   403, 'This was not accepted', 'and so does the link without a secret');
    my ($event) = events($made, 'authenticated');
    is_deeply(
        $event->{detail},
        { method => 'caller', %words, at => '2026-01-02T03:04:05.000Z' },
        'the event has the words of the caller');
    is( join(' ', sort keys %{ $event->{commitments} }),
        'detail.how detail.reference ip userAgent',
        'they are personal');
    is(scalar(events($made, 'admitted')), 2, 'each URL is an event');
    ok(!exists stored($made)->{words}, 'the words are no longer stored with the signer');
    is(signer(signer(session($made, how => 'x')->json('/url'))->get('')->json('/url'))->state->{status},
        'opened', 'a program gets the link');

    $url = session($made, how => 'x')->json('/url');
    stored($made, sub { $_[0]{ticket_until} = 1 });
    is(visit($url)->code, 403, 'after five minutes it does not work');
    my @faults = (
        [{},                   'how must be a text that is not blank'],
        [{ how => ' ' },       'how must be a text that is not blank'],
        [{ how => 7 },         'how must be a text that is not blank'],
        [{ how => 'x' x 201 }, 'how must have at most 200 characters'],
        [{ how => "a\nb" },    'how must not contain control characters'],
        [{ how => 'x', at        => '2999-01-01T00:00:00Z' }, 'at must not be in the future'],
        [{ how => 'x', at        => '2026-01-01' },           'at must be a date and time with a zone'],
        [{ how => 'x', at        => 1 },                      'at must be a date and time with a zone'],
        [{ how => 'x', at        => '2026-01-01T00:00:00' },  qr/^at must have a time zone/],
        [{ how => 'x', reference => 'x' x 201 },              'reference must have at most 200 characters'],
        [{ how => 'x', who       => 'me' },                   'Unknown member who']);
    is_error(session($made,        %{ $_->[0] }), 400, $_->[1]) for @faults;
    is_error(session(made(\%code), how => 'x'),   409, 'The identity of this signer is not checked by the caller');

    my $closed = 'It is not this signer\'s turn yet, or the request is closed';
    my $turns  = $client->create(
        signers => Sigreq::Client::signers({ order => 2, authentication => { method => 'caller' } }, { order => 1 }))
        ->json;
    is_error(session($turns, how => 'x'), 409, $closed);
    $url = session($made, how => 'x')->json('/url');
    $client->post("/signatures/$made->{uuid}/cancel");
    is_error(session($made, how => 'x'), 409, $closed);
};

subtest 'replacing the signer' => sub {
    my $made = made({ method => 'caller', when => 'sign' });
    my $old  = signer(signer(session($made, how => 'x')->json('/url'))->get('')->json('/url'));
    is($old->state->{status}, 'opened', 'a session of the old signer');
    my $res = replace($made);
    is_deeply(
        $res->json('/submitters/0/authentication'),
        {   method   => 'caller',
            when     => 'sign',
            state    => 'pending',
            passedAt => undef
        },
        'the check by the caller stays, and begins again');
    is($old->get('')->code, 410, 'the session has ended');
    is(sql("SELECT count(*) FROM signer_session WHERE signer_uuid = '$made->{submitters}[0]{uuid}'"), 0,
        'everywhere');
    my ($event) = events($made, 'replaced');
    is_deeply($event->{detail}{authentication}, { method => 'caller', when => 'sign' }, 'the event has the check');

    for my $check (\%code, { method => 'httpd', user => 'ann' }) {
        $made = made($check);
        is_error(replace($made), 400, 'authentication must be provided for the new signer, or null');
        is_error(replace($made, authentication => { method => 'code', code => 'x' }),
            400, 'An authentication code must have 4 to 32 printable characters');
        is_error(replace($made, authentication => { method => 'email' }),
            400, 'An email to which mail can be sent must be provided for authentication by email');
        $res = replace($made, authentication => { method => 'code', code => 'second' });
        is($res->json('/submitters/0/authentication/state'), 'pending', 'another one is given');
        my ($eve) = signers_of($res->json);
        is_error(enter($eve, '4711-KX'), 403, 'This was not accepted', 'the old code is not accepted');
        ok(enter($eve, 'SECOND')->json('/url'), 'the new code is accepted');
        $res = replace($res->json, authentication => undef);
        ok(!exists $res->json->{submitters}[0]{authentication}, 'or none');
        is((signers_of($res->json))[0]->state->{status}, 'opened', 'and the link works');
    }
    $made = made(\%code);
    lock_it($made, 5);
    $res = replace($made, authentication => \%code);
    is($res->json('/submitters/0/authentication/state'), 'pending', 'the lock is that of the old signer');
};

subtest 'other callers' => sub {
    my $made = made({ method => 'caller' });
    my %who  = (
        live      => $org->{live},
        other     => organisation()->{test},
        colleague => Sigreq::Here::user($org)->{test});
    for my $name (sort keys %who) {
        my $paths = { PATCH => '', POST => '/unlock' };
        is_error(
            $who{$name}->request(
                PATCH => path_of($made),
                json  => { authentication => undef }
            ),
            404,
            'Not found',
            "$name changes nothing");
        is_error($who{$name}->post(path_of($made, '/unlock')), 404, 'Not found', "$name unlocks nothing");
        is_error($who{$name}->post(path_of($made, '/session'), json => { how => 'x' }),
            404, 'Not found', "$name gets no URL");
    }
    $made->{submitters}[0]{uuid} = $none;
    is_error($_, 404, 'Not found') for change($made, undef), unlock($made), session($made, how => 'x');
};

subtest 'secrets' => sub {
    my ($code, $user) = (word(), word());
    my $receiver = Sigreq::Receiver->new;
    $client->post("/webhooks/$_-webhook-url", json => { url => $receiver->url("/$_") }) for qw(sent signed);
    my $signers = Sigreq::Client::signers(
        { authentication => { method => 'code',  code => $code, when => 'sign' } },
        { authentication => { method => 'httpd', user => $user } });
    my %request = (signers => $signers, headers => { 'Idempotency-Key' => "key-$$" });
    my $res     = $client->create(%request);
    my $made    = $res->json;
    is($client->create(%request)->body, $res->body, 'a repeated creation gets the first response');
    $signers->[0]{authentication}{code} = word();
    is_error($client->create(%request),
        409, 'This Idempotency-Key was used for another request: its signers differed');
    my $link = signer(enter((signers_of($made))[0], $code)->json('/url'));
    is($link->sign->code, 200, 'a signature in a session');
    my ($sent)   = $receiver->wait_for(1, '/sent');
    my ($signed) = $receiver->wait_for(1, '/signed');
    is($sent->{body}{submitters}[0]{authentication}{state}, 'pending', 'webhooks have the member');
    is($signed->{body}{authentication}{state},              'passed',  'as it is then');
    my $visit = session(made({ method => 'caller' }), how => 'x')->json('/url');
    is(visit($visit)->code, 303, 'a visit');
    my @files = files_below(suite->{dir} . '/t/logs');
    my $hash  = stored($made)->{code};
    like($hash, qr/^scrypt\$14\$[0-9a-f]{32}\$[0-9a-f]{64}$/, 'the database has a hash');
    is_deeply([found_in(pattern($code), [@files, database_files()])], [], 'the code is nowhere');
    my ($session) = $link->{link} =~ /~(\w+)/;
    is_deeply([found_in(pattern($session, $visit =~ /~(\w+)/), [@files, database_files()])],
        [], 'the session and the URL for one visit are nowhere');
    is_deeply([found_in(qr/\Q$user\E/,     \@files)],                    [], 'the user is in no log');
    my @said = ($res->body, $sent->{raw}, $signed->{raw}, map { encode_json($_) } events($made));
    is_deeply([grep { /\Q$user\E|\Q$hash\E|\Q$session\E|\Q$code\E/ } @said],
        [], 'nor do answers, events and webhooks have one');
};

subtest 'previews and templates' => sub {
    my %signer = (signers => Sigreq::Client::signers({ authentication => \%code }));
    my $res = $client->request(POST => '/signatures/preview', $client->creation_options(%signer));
    is($res->json('/submitters/0/authentication/state'), 'pending', 'a preview has the check');
    unlike($res->body, qr/4711|scrypt/, 'and not the code');
    my $first = made(\%code);
    my $uuid  = $first->{template}{uuid};
    unlike($client->get("/templates/$uuid")->body, qr/authentication|4711|scrypt/, 'a template has no check');
    my @ann    = ({ firstname => 'Ann', lastname => 'Lee', authentication => { %code, code => word() } });
    my %second = (
        files => undef, signers => \@ann, more => [part('template', $uuid)], headers => { 'Idempotency-Key' => $uuid });
    my $made = $client->create(%second)->body;
    is(check_of(decode_json($made))->{state}, 'pending', 'a signer of a template may have one');
    is($client->delete("/templates/$uuid")->code, 204, 'the template is deleted');
    is($client->create(%second)->body, $made, 'a repeated creation gets the first response');
    $ann[0]{authentication}{code} = 'other';
    is_error($client->create(%second), 409, qr/its signers differed/, 'another code is another request');
};

subtest 'the administrator' => sub {
    my $made  = made(\%code, undef);
    my $shown = sub { [map { $_->{identity} } @{ ctl('submission', 'show', $made->{uuid})->{people} }] };
    is_deeply($shown->(), ['code pending', undef], 'sees method and state');
    lock_it($made, 5);
    is_deeply($shown->(), ['code locked', undef], 'and a lock');
    my @unlock = ('submission', 'unlock', $made->{uuid}, substr $made->{submitters}[0]{uuid}, 0, 8);
    is((ctl_said(@unlock))[0],        0,              'unlocks it');
    is((ctl_said(@unlock))[0],        4,              'once');
    is(check_of($made)->{state}, 'pending', 'as answers show');
    my ($event) = events($made, 'unlocked');
    is_deeply([$event->{detail}, $event->{ip}], [{ by => 'administrator' }, undef], 'the event says who did it');
    like((ctl_said(@unlock[0 .. 2], 'ann@example.org'))[1], qr/2 signers have this email/, 'one signer must be named');
};

subtest 'races' => sub {
    my $made = made(\%code);
    my ($ann) = signers_of($made, connections => 0);
    my $crowd = $client->crowd;
    $crowd->parallel(32, 8, sub {
        return $crowd->request_p(POST => path_of($made, '/unlock'), unjudged => 1) if $_[0] % 8 == 7;
        return $ann->request_p(POST => '/check', json => { code => "wrong $_[0]" });
    });
    my ($failed, $most, $unlocked) = (0, 0, 0);
    for my $kind (map { $_->{event} } events($made, qw(codeFailed unlocked))) {
        $failed = $kind eq 'codeFailed' ? $failed + 1 : 0;
        $most = $failed if $failed > $most;
        $unlocked++ if $kind eq 'unlocked';
    }
    is($most, 5, 'guesses and unlocking: five wrong codes between two times');
    cmp_ok($unlocked, '>', 0, 'it was unlocked meanwhile');

    $made = made({ method => 'caller' });
    my $url     = session($made, how => 'x')->json('/url');
    my $visitor = Sigreq::Signer->new(link => $url, connections => 0);
    my @codes   = sort map { $_->code } $crowd->parallel(8, 8, sub { $visitor->request_p(GET => '') });
    is("@codes", '200 403 403 403 403 403 403 403', 'one of eight visits at the same time gets a session');
    is(scalar(events($made, 'authenticated')), 1, 'and is an event');
};
done_testing;
