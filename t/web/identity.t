# SPDX-License-Identifier: Apache-2.0
# The page on which a signer confirms who they are: what it says in each state of a request, what it keeps to itself,
# and the way of a browser without scripts through it. Programs get the same as JSON. gate.t tries all routes.
use strict;
use warnings;
use utf8;
use Sigreq::Client;
use JSON::PP ();
use Sigreq::Here qw(organisation place sql);
use Sigreq::PDF;
use Sigreq::Signer qw(signers_of typed);
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my $code   = 'Open-4711';
my @html   = (headers => { Accept => 'text/html' });
my @hidden = ('Secret lease', 'app.example.org', 'Ann', 'Bob', 'lease.pdf');

sub made {
    my ($when, %o) = @_;
    my $check   = { method => 'code', code => $code, when => $when };
    my $signers = Sigreq::Client::signers({ authentication => $check }, @{ $o{others} // [] });
    $_->{fields}[0]{document} = 'lease.pdf' for @$signers;
    my $parts = delete $o{parts} // {};
    my $where = $parts->{redirectUrl} ? $client->with(base => place('/timed')) : $client;    # which permits its host
    my $res   = $where->create(name => 'Secret lease', files => [['lease.pdf', Sigreq::PDF::pdf(nonce => rand)]],
        signers => $signers, more => [map { Sigreq::Multipart::part($_, $parts->{$_}) } sort keys %$parts]);
    is($res->code, 201, "created, $when") or diag $res->body;
    return $res->json, signers_of($res->json);
}

sub in { my ($signer, $url) = @_; return Sigreq::Signer->new(link => $url) }
sub enter {
    my ($signer, $text) = @_;
    return $signer->request(POST => '/check', form => { code => $text }, @html);
}

sub passed {
    my ($signer) = @_;
    my $res = $signer->request(POST => '/check', json => { code => $code });
    is($res->code, 200, 'the right code') or diag $res->body;
    return in($signer, $res->json->{url});
}

sub title { return $_[0]->dom->at('h1')->all_text }
sub asks  { return $_[0]->dom->at('input[name=code]') ? 1 : 0 }

sub hides {
    my ($res, $name) = @_;
    my $said = $res->headers->to_string . $res->body;
    is(join(' ', grep { $said =~ /\Q$_\E/ } @hidden), '', "$name: nothing of the request");
    return $res;
}

subtest 'before anything is seen' => sub {
    my ($made, $ann) = made('open');
    for my $path ('', '/check', '?lang=de', '/check?lang=ar') {
        my $res = hides($ann->get($path, @html), "GET $path");
        is($res->code, 200, "GET $path");
        my $input = $res->dom->at('input[name=code]');
        is($res->dom->at("label[for=$input->{id}]") ? 1 : 0, 1, 'the field has a label');
        is($input->{autocomplete}, 'one-time-code', 'a code is offered by the keyboard');
        ok(exists $input->{autofocus} && exists $input->{required}, 'it has the focus, and is required');
        ok($res->dom->at("#$_"), "it is described by $_") for split / /, $input->{'aria-describedby'};
        is($res->dom->at('[role=alert]'), undef, 'nothing is wrong yet');
    }
    is($ann->get('/check?lang=ar', @html)->dom->at('html')->{dir}, 'rtl', 'from right to left');
    like($ann->get('/check?lang=de', @html)->dom->at('form')->{action}, qr/\?lang=de$/, 'it keeps the language');
    is_deeply($ann->get('/check')->json, { method => 'code', when => 'open', to => undef }, 'as JSON');
    is($ann->get('', headers => { Accept => 'application/json' })->code, 403, 'the state');

    my $wrong = hides(enter($ann, 'Wrong-1'), 'a wrong code');
    is($wrong->code, 403, 'a wrong code');
    my $input = $wrong->dom->at('input[name=code]');
    is($input->{'aria-invalid'}, 'true', 'the field is wrong');
    is($wrong->dom->at('#' . (split / /, $input->{'aria-describedby'})[0])->{role}, 'alert', 'the error is tied to it');
    is($input->{value}, undef, 'what was entered is not sent back');
    enter($ann, "Wrong-$_") for 2 .. 5;
    my $id = qr/"requestId"[^,}]*|[0-9a-f-]{36}/;
    is(enter($ann, $code)->body =~ s/$id//gr, $wrong->body =~ s/$id//gr, 'locked: the same page');
    is($ann->request(POST => '/check', json => { code => $code })->code, 403, 'locked: as JSON');
};

subtest 'without a script' => sub {
    my ($made, $ann) = made('open', parts => { redirectUrl => 'https://app.example.org/secret?of=lease' });
    my $res = enter($ann, lc $code);
    is($res->code, 303, 'the right code');
    my $link = $res->headers->location;
    like($link, qr{^\Q$ann->{link}\E~[0-9a-f]{32}$}, 'leads to the link in a session');
    my $me   = in($ann, $link);
    my $page = $me->get('', @html);
    is(title($page), 'Secret lease', 'the page of signing');
    ok(!$page->dom->at('form #check-code') && $page->dom->at('#plain-typed'), 'it has the form');
    my %form = (action => 'sign', consent => 'yes', typed => 'Ann Lee');
    is($ann->post(form => \%form, @html)->code, 403, 'the form is not taken without the session');
    ok(asks($ann->post(form => \%form, @html)), 'but leads to the check');
    $res = $me->post(form => \%form, @html);
    is($res->code, 200, 'signed: the page that follows is shown at once');
    is(title($res), 'All done – you’ve signed', 'it says so');
    my $back = $res->dom->at('a[href^="https://app.example.org/secret?of=lease&status=completed"]');
    like($back ? $back->all_text : '', qr/app\.example\.org/, 'it leads back to the sender');
    is($res->dom->at('a[download]'), undef, 'a download of an ended session is a page');
    for my $again ($me, $ann) {
        $res = hides($again->get('', @html), 'after signing');
        is(title($res), 'All done – you’ve signed', 'after signing: it is said again');
        ok(asks($res) && !exists $res->dom->at('input[name=code]')->{autofocus}, 'after signing: a code for downloads');
        is($res->dom->at('[role=alert]'), undef, 'after signing: nothing is wrong');
        is($res->dom->at('main')->{'data-closed'}, 'completed', 'after signing: the frame around it is told');
    }
    my $path = "/documents/$made->{documents}[0]{uuid}";
    $res = hides($me->get($path, @html), 'a download');
    is($res->code . asks($res), '4031', 'a download of an ended session shows the check');
    is($me->get($path)->code, 403, 'a program gets the error');
    is($me->post(form => \%form, @html)->code, 403, 'sending the form again signs nothing');
    is(title($me->post(form => \%form, @html)), 'All done – you’ve signed', 'and says that it is signed');
    my $later = passed($ann);
    is($later->get($path)->code, 200, 'a code gives the document');
};

subtest 'declined' => sub {
    my ($made, $ann, $bob) = made('open', others => [{ firstname => 'Bob',
        authentication => { method => 'code', code => $code } }]);
    my $me = passed($ann);
    is($me->post(form => { action => 'refuse', reason => 'Secret lease' }, @html)->code, 200, 'declined');
    is(title(hides($ann->get('', @html), 'declined')), 'You declined to sign', 'after declining');
    is(title(hides($bob->get('', @html), 'declined by another')), 'This request is closed', 'declined by another');
};

subtest 'nothing to confirm' => sub {
    my ($made, $ann, $bob) = made('open', others => [{ firstname => 'Bob', order => 2,
        authentication => { method => 'code', code => $code } }]);
    my %title = (waiting => 'It’s not your turn yet', cancelled => 'This request was withdrawn',
        expired => 'The deadline has passed');
    my $look = sub {
        my ($signer, $state, $status) = @_;
        for my $path ('', '/check') {
            my $res = hides($signer->get($path, @html), "$state$path");
            is(title($res), $title{$state}, "$state$path: its title");
            like($res->dom->at('title')->text, qr/^\Q$title{$state}\E$/, "$state$path: its title in the tab");
            is(asks($res), 0, "$state$path: no code is asked for");
        }
        is($signer->get('/check')->code, $status, "$state: as JSON");
        my $sent = hides(enter($signer, $code), "$state, a code");
        is($sent->code . asks($sent), '4090', "$state: a code is not taken");
        is($signer->request(POST => '/check', json => { code => $code })->code, $status, "$state: nor as JSON");
        return;
    };
    $look->($bob, 'waiting', 409);
    is($client->post("/signatures/$made->{uuid}/cancel")->code, 200, 'cancelled');
    $look->($ann, 'cancelled', 410);
    ($made, $ann) = made('open', parts => { expiresAt => '2035-01-01T00:00:00Z' });
    sql("UPDATE submission SET expires_at = 1000000 WHERE uuid = '$made->{uuid}'");
    $look->($ann, 'expired', 410);
};

subtest 'before signing' => sub {
    my ($made, $ann) = made('sign');
    my $state = $ann->state;
    is_deeply($state->{authentication}, { method => 'code', when => 'sign', needed => JSON::PP::true() },
        'the state says that a check is needed');
    my $page = $ann->get('?lang=de', @html);
    is($page->dom->at('#plain-typed, textarea[name=reason]'), undef, 'without a script there is nothing to fill in');
    my ($way) = grep { ($_->{href} // '') =~ m{/check\?lang=de$} } $page->dom->find('.plain-only a')->each;
    is($way ? $way->all_text : '', 'Weiter', 'but the way to the check');
    is($ann->refuse('no')->code, 403, 'declining needs it');
    my $res = $ann->post(form => { action => 'refuse' }, @html);
    is($res->code . asks($res), '4031', 'a form leads there');
    my $me = in($ann, enter($ann, $code)->headers->location);
    is($me->state->{authentication}{needed} ? 1 : 0, 0, 'no check is needed in the session');
    ok($me->get('', @html)->dom->at('#plain-typed'), 'there is the form');
    is($me->post(form => { action => 'sign', consent => 'yes', typed => 'Ann Lee' }, @html)->code, 303, 'signed');
    is(title($me->get('', @html)), 'All done – you’ve signed', 'all is shown after that');
    $res = $ann->get('/check?lang=de', @html);
    is($res->code . ' ' . $res->headers->location, "303 $ann->{link}?lang=de", 'there is nothing to confirm any more');
    my ($plain) = signers_of($client->create->json);
    ok(!exists $plain->state->{authentication}, 'a signer without a check has no such member');
    is($plain->get('/check', @html)->code, 404, 'nor such a page');
};

done_testing;
