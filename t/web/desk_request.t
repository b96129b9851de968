# SPDX-License-Identifier: Apache-2.0
# The desk's page of one request: what it shows, each form and what it changes, and whom it concerns.
use strict;
use warnings;
use utf8;
use File::Temp 'tempdir';
use Mojo::JSON 'encode_json';
use Mojo::URL;
use POSIX 'strftime';
use Sigreq::Desk qw(basic browser filled form said);
use Sigreq::Here qw(ctl organisation sql suite user wait_for);
use Sigreq::Httpd;
use Sigreq::Multipart 'part';
use Sigreq::PDF 'pdf';
use Sigreq::Receiver;
use Sigreq::Signer qw(signers_of);
use Test::More;

my $dir = tempdir('desk.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
mkdir "$dir/mail";
my ($own, $other) = (organisation(), organisation());
my $mate  = user($own);
my %login = ($own->{email} => 'a', $mate->{email} => 'm', $other->{email} => 'o');
my $login = basic("$dir/passwords", %login);
my $mail  = "SigreqWebhookAllow 127.0.0.0/8\n"
    . "SigreqSMTP maildir:$dir/mail\nSigreqMailFrom sign\@example.org\n";
my %httpd = (modules => 'authz_core dbd authn_core authz_user authn_file auth_basic');
my $port  = Sigreq::Suite::free_port();
my $httpd = Sigreq::Httpd->new(
    %httpd, port => $port,
    place  => "Sigreq On\nSigreqMailLimit test-organization=none test-recipient=none\n"
        . qq{SigreqBaseURL "http://127.0.0.1:$port"},
    server => $mail . qq{<Location "/desk">\nSigreqDesk On\n$login</Location>\n})->start;
my $base = $httpd->base;
my ($client, $as) = ($own->{test}, browser("$own->{email}:a"));
my $still = browser("$own->{email}:a", max_redirects => 0);

sub scope { my ($organisation, $where) = @_; return ($where // $base) . "/desk/$organisation->{uuid}.test/" }
sub url { my ($made, $where) = @_; return scope($own, $where) . "requests/$made->{uuid}" }
sub page { my ($made, @more) = @_; return $as->get(url($made), @more)->result }
sub shown { my $made = shift; return $client->get("/signatures/$made->{uuid}")->json }
sub events { my $made = shift; return $client->get("/signatures/$made->{uuid}/audit")->json('/events') }
sub kinds { return join ' ', map { $_->{event} } @{ events(shift) } }

sub made {    # by the API of the desk's server
    my (%o) = @_;
    my $signers = delete $o{signers} // [{ email => 'ann@example.org' }];
    my %parts   = %{ delete $o{parts} // {} };
    my $maker   = (delete $o{by} // $client)->with(base => $base);
    my $res     = $maker->create(
        signers => Sigreq::Client::signers(@$signers), sendEmail => 'true', %o,
        more    => [map { part($_, $parts{$_}) } sort keys %parts]);
    is($res->code, 201, 'a request is created') or die $res->body;
    return $res->json;
}
sub viewers { return (viewers => encode_json([{ firstname => 'Lea', lastname => 'Holm', when => 'sent' }])) }

sub change {    # a form of the page of a request is filled in and sent: the answer
    my ($made, $action, $of, %fields) = @_;
    my $form = form(page($made)->dom, $action, $of) or return fail("there is a form: $action");
    return $still->post(url($made), form => filled($form, %fields))->result;
}

sub changes {    # the same, and its text is shown
    my ($made, $action, $of, %fields) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $res = change($made, $action, $of, %fields) or return;
    is($res->code, 303, "$action: the form leads on") or diag $res->body;
    my $note = $as->get(Mojo::URL->new($res->headers->location)->to_abs(Mojo::URL->new(url($made))))->result
        ->dom->at('.note.good');
    ok($note && length $note->text, "$action: the page says what was done");
    return $res;
}

my $last;

sub refuses {    # the same with a status and a message, which the form shows. Returns the form.
    my ($made, $status, $message, $action, $of, %fields) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $res = change($made, $action, $of, %fields) or return;
    $last = $res->dom;    # which keeps the elements around the form
    is($res->code, $status, "$action: the status of the API's error") or diag $res->body;
    my $form = form($last, $action, $of) or return fail("$action: the form is shown again");
    my $error = $form->at('.error') // $form->following('.error')->first;
    like($error ? $error->text : '', $message, "$action: with the API's message");
    return $form;
}

subtest 'what it shows' => sub {
    my $made = made(
        name    => 'Lease',
        files   => [['a.pdf', pdf(pages => 3, nonce => "desk $$")]],
        signers => [{ email => 'ann@example.org' }, { firstname => 'Bob', email => 'bob@example.org', order => 2 }],
        parts   => { viewers(), copies => encode_json({ to => ['carl@example.org'] }) });
    my $res = page($made);
    is($res->code, 200, 'the page') or return diag $res->body;
    my $dom = $res->dom;
    is($dom->at('h1')->all_text, 'Lease', 'its name');
    is($dom->at('.title .state')->attr('data-state'), 'open', 'its state');
    my @people = $dom->find('[data-signer]')->each;
    is(join(' ', map { $_->at('.state')->attr('data-state') } @people), 'sent waiting', 'the states of the signers');
    like(said($people[0]), qr/^Ann Lee Sent Position 1 ann\@example\.org Sent \d+ \w+ \d{4}, \d\d:\d\d /, 'with times');
    is($people[0]->at('input[readonly]')->attr('value'), $made->{submitters}[0]{signatureLink}, 'a link to copy');
    like(said($dom->at('[aria-labelledby=viewers]')), qr/Lea Holm/, 'a viewer');
    like(said($dom->at('[aria-labelledby=copies]')), qr/carl\@example\.org/, 'a recipient of a copy');
    my @images = $dom->find('.sheets img')->each;
    is(scalar @images, 3, 'the pages of the document');
    is(scalar(grep { $_->attr('loading') eq 'lazy' && $_->attr('width') && $_->attr('height') } @images), 3,
        'are loaded when they are seen, and have a size before');
    for my $address ($images[0]->attr('src'), $images[2]->parent->attr('href')) {
        my $image = $as->get(Mojo::URL->new($address)->to_abs(Mojo::URL->new(url($made))))->result;
        is($image->code, 200, 'an image') or diag $image->body;
        like($image->headers->content_type, qr{^image/}, 'is one');
        like($image->headers->cache_control, qr/immutable/, 'that browsers keep');
    }
    Sigreq::Signer->new(link => $made->{submitters}[0]{signatureLink})->sign;
    my @refuses = signers_of(shown($made));
    is($refuses[1]->refuse('Too <dear>')->code, 200, 'the second signer declines');
    $dom = page($made)->dom;
    is(join(' ', map { $_->attr('data-state') } $dom->find('[data-signer] .state')->each), 'completed refused',
        'signed and declined');
    like(said($dom->find('[data-signer]')->[1]), qr/Reason Too <dear>/, 'with the reason');
    is(join(' ', map { $_->attr('data-kind') } $dom->find('[data-kind]')->each),
        join(' ', reverse split ' ', kinds($made)), 'every event, the newest first');
    like(said($dom->find('[data-kind]')->first), qr/Declined Bob Lee Reason: Too <dear> IP 127\.0\.0\.1/,
        'who did what');
    is($dom->at('a[href$="version=original"]')->text, 'As uploaded', 'the document as it was uploaded');
    like(said($dom->at('[aria-labelledby=events]')), qr/Request sent \( Kim Roe \)/, 'and who has sent it');
};

subtest 'words for all events' => sub {
    my ($enum) = Mojo::File->new(suite->{source} . '/src/api/openapi.json')->slurp =~ /("drafted".*?\])/s;
    my $texts = Mojo::JSON::decode_json(Mojo::File->new(suite->{source} . '/src/web/assets/texts/en.json')->slurp);
    my @kinds = $enum =~ /"(\w+)"/g;
    cmp_ok(scalar @kinds, '>', 20, 'the kinds of events');
    my $desk  = $texts->{desk};
    is(join(' ', grep { !($desk->{"event.$_"} // $desk->{"signer.$_"} // $desk->{"state.$_"}) } @kinds), '',
        'each has a text');
};

subtest 'downloads' => sub {
    my $made = made(parts => { copies => encode_json({ to => ['signers'] }) });
    $_->sign for signers_of($made);
    my $dom  = page($made)->dom;
    my %type = (archive => qr{^application/zip}, certificate => qr{^application/pdf}, audit => qr{^application/json});
    my @links = map { Mojo::URL->new($_->attr('href'))->to_abs(Mojo::URL->new(url($made))) }
        $dom->find('a[download]')->each;
    is(scalar @links, 5, 'what there is to download');
    for my $link (@links) {
        my $res = $as->get($link)->result;
        my ($what) = $link->path =~ m{([^/]+)$};
        is($res->code, 200, "$link") or diag $res->body;
        like($res->headers->content_disposition, qr/^attachment; filename/, 'is a file');
        like($res->headers->content_type, $type{$what} // $type{certificate}, 'of its type');
        is(encode_json($res->json('/events')), encode_json(events($made)), 'as the API has it') if $what eq 'audit';
    }
    my $copies = change($made, 'copies');
    is($copies->code, 429, 'copies were sent a moment ago');
    sql("UPDATE submission SET copied_at = copied_at - 3600000000 WHERE uuid = '$made->{uuid}'");
    changes($made, 'copies');
    like(kinds($made), qr/ copied\b/, 'copies are sent again');
};

subtest 'reminders' => sub {
    my $made = made();
    my $uuid = $made->{submitters}[0]{uuid};
    changes($made, 'remind', $uuid);
    my ($event) = grep { $_->{event} eq 'reminded' } @{ events($made) };
    is($event->{signer}, $uuid, 'the signer is reminded');
    is($event->{ip}, '127.0.0.1', 'the event has the client');
    like($event->{userAgent}, qr/Mojolicious/, 'and the browser');
    refuses($made, 429, qr/less than 10 minutes/, 'remind', $uuid);
    is(scalar(grep { $_->{event} eq 'reminded' } @{ events($made) }), 1, 'once');
};

subtest 'the deadline' => sub {
    my $made = made();
    my $at   = time + 86_400 * 3;
    changes($made, 'extend', undef, expiresAt => strftime('%Y-%m-%dT%H:%M', localtime $at));
    is(shown($made)->{expiresAt}, strftime('%Y-%m-%dT%H:%M:00.000Z', gmtime($at)), 'the local time of the server');
    my $value = form(page($made)->dom, 'extend')->at('#expiresAt')->attr('value');
    is($value, strftime('%Y-%m-%dT%H:%M', localtime $at), 'which the form shows');
    for my $wrong (['2020-01-01T10:00', qr/must be in the future/], ['soon', qr/ISO 8601/],
        ['9999-01-01T10:00', qr/10 years/])
    {
        my $form = refuses($made, 400, $wrong->[1], 'extend', undef, expiresAt => $wrong->[0]) or next;
        is($form->at('#expiresAt')->attr('value'), $wrong->[0], 'what was typed stays');
        is($form->at('#expiresAt')->attr('aria-invalid'), 'true', 'and has a mark');
    }
    changes($made, 'extend', undef, expiresAt => '2030-05-17T18:30:00+02:00');
    is(shown($made)->{expiresAt}, '2030-05-17T16:30:00.000Z', 'a time with a zone');
    changes($made, 'extend', undef, expiresAt => '');
    is(shown($made)->{expiresAt}, undef, 'none');
    is(scalar(grep { $_->{event} eq 'extended' } @{ events($made) }), 3, 'three events');
};

subtest 'a signer is replaced' => sub {
    my $made = made(signers => [{ email => 'ann@example.org', locale => 'de' }]);
    my $uuid = $made->{submitters}[0]{uuid};
    my %new  = (firstname => 'Eve', lastname => '<i>Fox</i>', email => 'eve@example.org');
    for my $wrong ([firstname => ' ', qr/^A firstname must be provided/], [lastname => '', qr/^A lastname must/],
        [email => 'eve', qr/^Invalid email format: eve/], [email => '', qr/^An email must/])
    {
        my ($name, $value, $message) = @$wrong;
        my $form = refuses($made, 400, $message, 'replace', $uuid, %new, $name => $value) or next;
        ok(exists $form->parent->attr->{open}, 'the form is open');
        my $input = $form->at("[name=$name]");
        is($input->attr('aria-invalid'), 'true', "the fault is at $name");
        is($form->at('#' . $input->attr('aria-describedby'))->parent->at('input')->attr('name'), $name, 'beside it');
        is(filled($form)->{lastname}, $new{lastname}, 'what was typed stays') if $name ne 'lastname';
        is(filled($form)->{locale}, 'de', 'and the language');
    }
    my $form = form(page($made)->dom, 'replace', $uuid);
    changes($made, 'replace', $uuid, %new, locale => 'fr');
    my $signer = shown($made)->{submitters}[0];
    is("@$signer{qw(firstname lastname email locale replaces)}", "@new{qw(firstname lastname email)} fr $uuid",
        'by another one');
    my $dom = page($made)->dom;
    like(said($dom->at('[data-signer]')), qr/In place of Ann Lee/, 'the page says it');
    like(said($dom->at('[data-kind=replaced]')), qr/Signer replaced Eve .*In place of: Ann Lee/, 'and the event');
    my $again = $still->post(url($made), form => filled($form, %new))->result;
    is($again->code, 303, 'the same form again leads to the page');
    is(shown($made)->{submitters}[0]{uuid}, $signer->{uuid}, 'and replaces nobody');
};

subtest 'the check of an identity' => sub {
    my %check = (authentication => { method => 'code', code => 'swordfish' });
    my $made  = made(signers => [{ email => 'a@example.org', %check }]);
    my $uuid = $made->{submitters}[0]{uuid};
    my $signer = (signers_of($made))[0];
    like(said(page($made)->dom->at('[data-signer]')), qr/Identity check Code from you · not passed yet/,
        'it is shown');
    is(form(page($made)->dom, 'unlock'), undef, 'there is nothing to unlock');
    $signer->request(POST => '/check', json => { code => 'wrong' }) for 1 .. 5;
    like(said(page($made)->dom->at('[data-signer]')), qr/locked after wrong codes/, 'wrong codes lock it');
    changes($made, 'unlock', $uuid);
    like(kinds($made), qr/ unlocked$/, 'the desk unlocks it');
    my %eve  = (firstname => 'Eve', lastname => 'Fox', email => 'eve@example.org');
    my $form = refuses($made, 400, qr/authentication code must have/, 'replace', $uuid, %eve);
    is($form->at('[name=authentication]')->attr('aria-invalid'), 'true', 'a new signer needs their own code') if $form;
    changes($made, 'replace', $uuid, %eve, authentication => 'herring');
    is(shown($made)->{submitters}[0]{authentication}{method}, 'code', 'and gets one');
};

subtest 'cancelling and deleting' => sub {
    my $made = made();
    is(page($made)->dom->at('a.danger'), undef, 'an open request cannot be deleted');
    my $form = refuses($made, 400, qr/^A reason /, 'cancel', undef, reason => 'x' x 1001);
    is($form->at('textarea')->text, 'x' x 1001, 'what was typed stays') if $form;
    changes($made, 'cancel', undef, reason => 'A <b>mistake</b>');
    is(shown($made)->{cancelReason}, 'A <b>mistake</b>', 'it is cancelled');
    my $dom = page($made)->dom;
    is($dom->at('.title .state')->attr('data-state'), 'cancelled', 'the page says so');
    is($dom->find('form[method=post] [value=cancel], form [value=extend], form [value=replace]')->size, 0,
        'there is nothing left to change');
    my $ask = $as->get(url($made) . '/delete')->result;
    is($ask->dom->at('h1')->text, 'Delete this request?', 'a deletion is confirmed');
    my $sent = filled(form($ask->dom, 'delete'));
    is(shown($made)->{status}, 'cancelled', 'nothing is deleted before');
    ctl(qw(submission hold), $made->{uuid}, '--reason', 'A court');
    like(said(page($made)->dom), qr/under legal hold and can’t be deleted/, 'a legal hold is shown');
    my $res = $still->post(url($made), form => $sent)->result;
    is($res->code, 409, 'and keeps it');
    like($res->dom->at('main > .error')->text, qr/under legal hold/, 'with its reason');
    ctl(qw(submission release), $made->{uuid});
    $res = $still->post(url($made), form => $sent)->result;
    is($res->code, 303, 'it is deleted') or diag $res->body;
    is(Mojo::URL->new($res->headers->location)->to_abs(Mojo::URL->new(url($made))), scope($own) . '?done=deleted',
        'which leads to the list');
    $res = page($made);
    is($res->code, 410, 'its page');
    like(said($res->dom), qr/This request was deleted/, 'explains that');
    is($still->post(url($made), form => $sent)->result->code, 410, 'it cannot be deleted again');
    is($as->get(url($made) . "/$_")->result->code, 410, "nothing is left: $_") for qw(archive certificate delete);
    is($as->get(url($made) . '/audit')->result->code, 200, 'but the events');
};

subtest 'viewers' => sub {
    my $made = made(parts => { viewers() });
    my $uuid = $made->{viewers}[0]{uuid};
    changes($made, 'revoke', $uuid);
    ok(shown($made)->{viewers}[0]{revokedAt}, 'the link of a viewer is closed');
    my $part = page($made)->dom->at('[aria-labelledby=viewers]');
    like(said($part), qr/Lea Holm Link closed/, 'the page says so');
    is($part->at('input'), undef, 'and has no link');
    like(said(page($made)->dom->at('[data-kind=revoked]')), qr/Link closed Lea Holm \( Kim Roe \)/, 'and the event');
};

subtest 'mails and calls' => sub {
    my $receiver = Sigreq::Receiver->new;
    my $by = $mate->{test};
    $by->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/status/404') });
    my $made = made(by => $by);
    my $page = sub { browser("$mate->{email}:m")->get(url($made))->result->dom };
    my $failed;
    ok(wait_for(sub { $failed = $page->()->at('[data-result=failed]') }), 'a call fails');
    like(said($failed), qr{Webhook: Sent \Q@{[$receiver->url('/status/404')]}\E Failed: }, 'the page shows it');
    my ($mail) = grep { /Invitation/ } map { said($_) } $page->()->find('[data-result]')->each;
    like($mail, qr/Invitation ann\@example\.org/, 'and the mail');
    my $send = sub { browser("$mate->{email}:m", max_redirects => 0)->post(url($made), form => shift)->result };
    my $sent = filled(form($failed, 'again'));
    $by->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/ok') });
    is($send->($sent)->code, 303, 'again');
    ok(wait_for(sub { ($receiver->received('/ok'))[0] }), 'the call is made again')
        or diag said($page->()->at('[aria-labelledby=calls]'));
    my $soon = $send->($sent);
    like($soon->code, qr/^(?:409|303)$/, 'it is not made a third time') or diag $soon->body;
    ok(wait_for(sub { $page->()->find('[data-result=delivered]')->grep(sub { /Webhook/ })->size }), 'the page has it');
    is($send->($sent)->code, 303, 'the same form again leads to the page');
    is(scalar $page->()->find('[data-result]')->grep(sub { /Webhook/ })->size, 2, 'and calls nobody again');
};

sub drafted {
    my (%o) = @_;
    return made(name => 'A draft', parts => { draft => 'true', %{ $o{parts} // {} } }, signers => $o{signers});
}

subtest 'drafts' => sub {
    my $made = drafted(signers => [{ email => 'ann@example.org' }]);
    my $dom  = page($made)->dom;
    is($dom->at('.title .state')->attr('data-state'), 'draft', 'a draft');
    is($dom->at('[data-signer] input[readonly]'), undef, 'no link of a signer');
    is(form($dom, $_), undef, "there is no form: $_") for qw(cancel remind replace);
    my $place = $dom->at('form[action$="/place"]');
    my $res   = $still->post(url($made) . '/place', form => filled($place))->result;
    is($res->code, 303, 'a form leads to the page where fields are placed') or diag $res->body;
    my $form = form(page($made)->dom, 'send');
    changes($made, 'send');
    is(shown($made)->{status}, 'open', 'it is sent');
    my $twice = $still->post(url($made), form => filled($form))->result;
    is($twice->code, 409, 'once');
    like($twice->dom->at('main > .error')->text, qr/no draft/, 'and says so');
    my ($created) = grep { $_->{event} eq 'created' } @{ events($made) };
    my $token = sql("SELECT t.uuid FROM token t JOIN user_account u ON u.id = t.user_id WHERE t.kind = 'desk'"
            . " AND t.environment = 'test' AND u.uuid = '$own->{user_uuid}'");
    is($created->{detail}{token}, $token, 'the event has the token of the user at the desk');
    my $bare = drafted(signers => [{ email => 'ann@example.org', fields => [] }]);
    $dom = page($bare)->dom;
    like(said($dom->at('.draft')), qr/Before you can send it: Signer 1: /, 'what is missing is said');
    ok(exists form($dom, 'send')->at('button')->attr->{disabled}, 'and it cannot be sent');
    is($still->post(url($bare), form => filled(form($dom, 'send')))->result->code, 400, 'not by a program either');
    changes($bare, 'extend', undef, expiresAt => '2030-05-17T10:00');
    $form = form($as->get(url($bare) . '/delete')->result->dom, 'delete');
    is($still->post(url($bare), form => filled($form))->result->code, 303, 'a draft is deleted');
    is(page($bare)->code, 410, 'and gone');
};

# Every form of a request: its action, a request in which it can be sent, of what it is, and its page.
my $first = sub { $_[0]{submitters}[0]{uuid} };

sub locked {
    my %check = (authentication => { method => 'code', code => 'swordfish' });
    my $made  = made(signers => [{ email => 'a@example.org', %check }]);
    my ($signer) = signers_of($made);
    $signer->request(POST => '/check', json => { code => 'wrong' }) for 1 .. 5;
    return $made;
}

sub copied {    # an hour ago
    my $made = made(parts => { copies => encode_json({ to => ['signers'] }) });
    $_->sign for signers_of($made);
    sql("UPDATE submission SET copied_at = copied_at - 3600000000 WHERE uuid = '$made->{uuid}'");
    return $made;
}

sub cancelled { my $made = made(); $client->post("/signatures/$made->{uuid}/cancel"); return $made }
sub mailed { my $made = made(); wait_for(sub { call_of($made) }); return $made }
sub call_of { return (page($_[0])->dom->at('form [value=again] ~ [name=of]') // return)->attr('value') }
my @forms = (
    [extend  => \&made], [cancel => \&made], [remind => \&made, $first], [replace => \&made, $first],
    [unlock  => \&locked, $first], [copies => \&copied], [again => \&mailed, \&call_of],
    [revoke  => sub { made(parts => { viewers() }) }, sub { $_[0]{viewers}[0]{uuid} }],
    [send    => sub { drafted(signers => [{ email => 'a@example.org' }]) }], [delete => \&cancelled, undef, '/delete'],
);

subtest 'tokens of forms' => sub {
    for my $row (@forms) {
        my ($action, $make, $of, $path) = @$row;
        my ($made, $twin) = ($make->(), $make->());
        my $before = encode_json(events($made));
        my ($good, $other) = map {
            my $dom = $as->get(url($_) . ($path // ''))->result->dom;
            my $found = form($dom, $action, $of && $of->($_));
            ok($found, "there is a form: $action") ? filled($found) : {};
        } $made, $twin;
        my $token = $other->{token};
        my %wrong  = (
            'without a token' => { %$good, token => '' }, 'with a wrong one' => { %$good, token => 'a' x 64 },
            'with the token of another request' => { %$good, token => $token },
            'with the token of another form' => { %$good, action => $action eq 'cancel' ? 'extend' : 'cancel',
                $of ? (of => undef) : () });
        for my $name (sort keys %wrong) {
            my %sent = map { defined $wrong{$name}{$_} ? ($_ => $wrong{$name}{$_}) : () } keys %{ $wrong{$name} };
            is($still->post(url($made), form => \%sent)->result->code, 403, "$action $name");
        }
        for my $header ({ 'Sec-Fetch-Site' => 'cross-site' }, { Origin => 'https://evil.example' }) {
            is($still->post(url($made), $header, form => $good)->result->code, 403, "$action from another site");
        }
        is($still->post(url($made), form => { %$good, more => 1 })->result->code, 400, "$action with another field");
        is($still->get(url($made) . '?action=' . $action)->result->code, 400, "$action by GET");
        is(encode_json(events($made)), $before, "$action has changed nothing");
    }
    my $made = made();
    my $good = filled(form(page($made)->dom, 'cancel'));
    is($still->post(url($made), form => { %$good, action => $_ })->result->code, 400, "no action: $_")
        for '', 'x', 'remind';
    is($still->post(url($made), form => { %$good, of => $made->{uuid} })->result->code, 400, 'one of something else');
};

subtest 'others' => sub {
    my $made  = made(parts => { viewers() });
    my $good  = filled(form(page($made)->dom, 'cancel'));
    my $paths = [map { "/$_" } 'delete', 'certificate', 'archive', 'audit', "documents/$made->{documents}[0]{uuid}",
        "documents/$made->{documents}[0]{uuid}/pages/0", "documents/$made->{documents}[0]{uuid}/pages/0?width=400"];
    my %who = (
        'another user of the organisation' => [browser("$mate->{email}:m", max_redirects => 0), url($made)],
        'another organisation' =>
            [browser("$other->{email}:o", max_redirects => 0), url($made) =~ s/\Q$own->{uuid}/$other->{uuid}/r],
        'another organisation in this scope' => [browser("$other->{email}:o", max_redirects => 0), url($made)],
        'another environment' => [$still, url($made) =~ s/\.test/.production/r],
    );
    for my $name (sort keys %who) {
        my ($ua, $url) = @{ $who{$name} };
        for my $path ('', @$paths) {
            my $res = $ua->get("$url$path")->result;
            is($res->code, 404, "$name: GET $path");
            unlike($res->body, qr/Lease|Ann|Lee/, 'shows nothing');
        }
        is($ua->post($url, form => $good)->result->code, 404, "$name: POST");
    }
    is($still->get(scope($own) . "requests/$_")->result->code, 404, "no request: $_")
        for 'x', '00000000-0000-4000-8000-000000000000';
    is($still->put(url($made), form => $good)->result->code, 405, 'another method');
    is(shown($made)->{status}, 'open', 'nothing has changed');
};

subtest 'read-only' => sub {
    my $only = Sigreq::Httpd->new(
        %httpd, documents => "$httpd->{dir}/documents",
        server => "SigreqBaseURL $base\n" . qq{<Location "/desk">\nSigreqDesk read-only\n$login</Location>\n})->start;
    for my $row (@forms) {
        my ($action, $make, $of, $path) = @$row;
        my $made = $make->();
        my $good = filled(form($as->get(url($made) . ($path // ''))->result->dom, $action, $of && $of->($made)));
        my $res  = $as->get(url($made, $only->base))->result;
        is($res->code, 200, 'a request is shown');
        is($res->dom->find('form[method=post], a.danger, .draft a')->size, 0, 'without forms');
        unlike($res->body, qr{/sign/[\da-f]{8}-}, 'and without a link to sign') if $action ne 'copies';
        is($still->post(url($made, $only->base), form => $good)->result->code, 403, "$action is refused");
        my $confirm = $as->get(url($made, $only->base) . '/delete')->result;
        is($confirm->dom->find('form')->size, 0, 'and there is nothing to confirm');
        my $ended = $action eq 'copies' || $action eq 'delete';
        for my $file ('archive', 'audit') {
            is($as->get(url($made, $only->base) . "/$file")->result->code, $ended ? 200 : 403,
                "the $file, with the links of signers");
            is($res->dom->find(qq{a[href\$="/$file"]})->size, $ended ? 1 : 0, 'and its link');
        }
    }
};

subtest 'markup' => sub {
    my $evil = '<b onclick="x">&amp;"\'</b>';
    my $made = made(
        name    => $evil,
        files   => [["<b onclick=x>&amp;.pdf", pdf(nonce => "markup $$")]],
        signers => [{ firstname => $evil, lastname => '"><script>x</script>', email => 'a@example.org',
            fields => [{ type => 'signature', name => 'S', document => "<b onclick=x>&amp;.pdf",
                area => { x => 72, y => 72, w => 180, h => 50, page => 0 } }] }],
        parts => { viewers => encode_json([{ firstname => $evil, lastname => 'x', when => 'sent' }]) });
    is($still->post(url($made), form => filled(form(page($made)->dom, 'cancel'), reason => $evil))->result->code, 303,
        'it is cancelled');
    my $again = made();
    my @pages = (page($made), $as->get(url($made) . '/delete')->result,
        change($again, 'replace', undef, firstname => $evil, lastname => $evil, email => $evil),
        change($again, 'extend', undef, expiresAt => $evil), change($again, 'cancel', undef, reason => $evil x 100));
    for my $res (@pages) {
        unlike($res->body, qr/<b onclick|<script>x/, 'what was stored or typed is escaped');
        like($res->body, qr/&lt;b onclick/, 'and shown');
    }
};

subtest 'languages' => sub {
    my $made = made();
    my $res  = $as->get(url($made) . '?lang=ar')->result;
    is($res->dom->at('html')->attr('dir'), 'rtl', 'that of the query');
    my @lost = grep { !/\?lang=ar$/ } map { $_->attr('action') } $res->dom->find('form[method=post]')->each;
    is("@lost", '', 'forms keep it');
    $res = $still->post(url($made) . '?lang=ar', form => filled(form($res->dom, 'cancel')))->result;
    like($res->headers->location, qr/\?lang=ar&done=changed$/, 'and what follows them');
    is($still->get(url($made) . '?lang=ar&x=1')->result->code, 400, 'nothing else is in a query');
};

subtest 'programs' => sub {
    my $made = made();
    my $good = filled(form(page($made)->dom, 'cancel'), reason => 'x' x 1001);
    my $res = $still->post(url($made), { Accept => 'application/json' }, form => $good)->result;
    is($res->code, 400, 'an error');
    like($res->json('/message'), qr/^A reason/, 'is JSON for a program');
};
done_testing;
