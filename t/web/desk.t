# SPDX-License-Identifier: Apache-2.0
# The desk: who enters, in which scope, its forms, and the list. A login by passwords protects it. desk_login.t has the
# other modules for logins.
use strict;
use warnings;
use utf8;
use Digest::SHA 'hmac_sha256_hex';
use File::Temp 'tempdir';
use Mojo::JSON 'encode_json';
use Mojo::Promise;
use Mojo::URL;
use POSIX 'strftime';
use Sigreq::Desk qw(basic browser);
use Sigreq::Here qw(ctl ctl_said is_error is_text organisation sql suite user);
use Sigreq::Httpd;
use Sigreq::Multipart 'part';
use Sigreq::Signer;
use Test::More;

my $dir = tempdir('desk.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
mkdir "$dir/mail";
my ($own, $other) = (organisation(), organisation());
my ($ann, $eve, $out) = ($own->{email}, user($own)->{email}, $other->{email});
user($other, email => $ann);    # Ann has a user in both organisations
my $gone  = user($own);
my %login = ($ann => 'a', $eve => 'e', $gone->{email} => 'g', $out => 'o', 'nobody@example.org' => 'n', "\xff" => 'f');
my $login = basic("$dir/passwords", %login);
my $port  = Sigreq::Suite::free_port();
my $httpd = Sigreq::Httpd->new(
    place   => qq{Sigreq On\nSigreqBaseURL "http://127.0.0.1:$port"},
    port    => $port,
    modules => 'authz_core dbd authn_core authz_user authn_file auth_basic',
    server  => "SigreqSMTP maildir:$dir/mail\nSigreqMailFrom sign\@example.org\n"
        . qq{<Location "/desk">\nSigreqDesk On\n$login</Location>\n}
)->start;
my $base = $httpd->base;
my $desk = "$base/desk";

sub scope {    # the URL of a scope
    my ($organisation, $environment) = @_;
    return "$desk/$organisation->{uuid}." . ($environment // 'test') . '/';
}
my $as_ann = browser("$ann:a");
my $client = $own->{test};

sub created {    # in the test environment, by the API: its uuid
    my ($name, %o) = @_;
    my $res = $client->create(name => $name, signers => Sigreq::Client::signers({ email => 'sam@example.org' }), %o);
    is($res->code, 201, "a request is created: $name") or diag $res->body;
    return $res->json('/uuid');
}

sub page { my ($ua, @get) = @_; return $ua->get(@get)->result }
# Where a redirection from a URL leads.
sub place_of { my ($res, $url) = @_; return Mojo::URL->new($res->headers->location)->to_abs(Mojo::URL->new($url)) }
sub names { return [shift->dom->find('.rows .name > a')->map('all_text')->each] }

subtest 'who enters' => sub {
    is(page(browser(), "$desk/")->code, 401, 'nobody without a password');
    is(page(browser("$ann:b"), "$desk/")->code, 401, 'nor with a wrong one');
    my @first = sort { $a->{name} cmp $b->{name} } $own, $other;
    for my $path ('', '/') {
        my $res = page(browser("$ann:a", max_redirects => 0), "$desk$path");
        is($res->code, 303, "a user enters by $path");
        is(place_of($res, "$desk$path"), scope($first[0], 'production'), 'in the first of their scopes');
    }
    my $res = page($as_ann, "$desk/");
    is($res->code, 200, 'which is a page') or diag $res->body;
    is($res->dom->at('h1')->text, 'Requests', 'the list of requests');
    like($res->dom->at('.empty')->all_text, qr{There are no requests yet}, 'which is empty');
    my $upper = uc $eve;
    my $more = basic("$dir/passwords", %login, $upper => 'e');
    is(page(browser("$upper:e"), "$desk/")->code, 200, 'the case of an email address does not matter');
    is(page(browser("\xff:f"), "$desk/")->code, 403, 'a name that is no text');
    $res = page(browser('nobody@example.org:n'), "$desk/");
    is($res->code, 403, 'another person whom httpd knows is no user');
    like($res->dom->at('.problem')->all_text, qr/\Qnobody\E\@example\.org/, 'and sees the name that was tried');
    unlike($res->body, qr/\Q$own->{name}\E|class="scope"/, 'and nothing else');
    like($httpd->log, qr/SR0103: the user who has signed in at the desk is none of this service/, 'the log says it');
    unlike($httpd->log, qr/SR0103.*nobody/, 'without the name');
};

subtest 'scopes' => sub {
    my $res = page($as_ann, scope($own));
    is($res->code, 200, 'a user has the environment for tests');
    is($res->dom->at('.top > .badge')->text, 'TEST', 'which has a mark');
    is(page($as_ann, scope($own, 'production'))->dom->at('.top > .badge'), undef, 'that production has not');
    my @links = map { Mojo::URL->new($_)->to_abs(Mojo::URL->new(scope($own)))->to_string }
        $res->dom->find('.scope li a')->map(attr => 'href')->each;
    is_deeply([sort @links], [sort map { (scope($_), scope($_, 'production')) } $own, $other],
        'a user of two organisations chooses');
    is($res->dom->at('.scope a[aria-current]')->attr('href'), "../$own->{uuid}.test/", 'and sees which is open');
    is(page($as_ann, $_)->code, 200, "a link works: $_") for @links;
    for my $path (scope($other), scope($other, 'production'), "$desk/$own->{uuid}.live/", "$desk/$own->{uuid}/",
        "$desk/x/", uc(scope($own)) =~ s/.*DESK/$desk/r, scope($own) . 'nothing')
    {
        my $missing = page(browser("$eve:e"), $path);
        is($missing->code, 404, "there is no page for another user: $path");
        unlike($missing->body, qr/\Q$other->{name}\E/, 'and no name of another organisation');
    }
    is(page($as_ann, scope($own) =~ s{/$}{}r)->code, 200, 'a scope without the slash');
    is(browser("$ann:a", max_redirects => 0)->post(scope($own))->result->code, 405, 'a page has no other method');
};

subtest 'a header is no user' => sub {
    my %spoofed = map { ($_ => $ann) } qw(REMOTE_USER Remote-User X-Remote-User X-Forwarded-User OIDC_CLAIM_email
        OIDC-CLAIM-email X-Forwarded-Email SSL_CLIENT_S_DN_Email X-SSL-Client-Verify);
    is(page(browser(), "$desk/", \%spoofed)->code, 401, 'without a password');
    like(page(browser('nobody@example.org:n'), "$desk/", \%spoofed)->body, qr/signed in as .*nobody/,
        'with another person’s');
    my $open = Sigreq::Httpd->new(
        modules => 'authz_core dbd authn_core authz_user authz_host authn_file auth_basic',
        server  => qq{<Location "/desk">\nSigreqDesk On\nSigreqDeskUser "%{HTTP:X-Remote-User}"\n}
            . ($login =~ s/Require/<RequireAny>\nRequire ip 127.0.0.1\nRequire/r)
            . "</RequireAny>\n</Location>\n"
    )->start;
    my $res = page(browser(), $open->base . '/desk/', \%spoofed);
    is($res->code, 500, 'without authentication there is no page');
    unlike($res->body, qr/\Q$own->{name}\E|\Q$ann\E/, 'which shows nothing');
    like($open->log, qr{SR0100: .*SigreqDesk: httpd has authenticated nobody: protect <Location "/desk">},
        'the log says what to do');
};

# httpd runs the handler of an ErrorDocument in a protected location without a login, with the user who was refused.
subtest 'a user who was refused' => sub {
    my $page = "$own->{uuid}.test/";
    my $odd  = Sigreq::Httpd->new(
        modules => 'authz_core dbd authn_core authz_user authn_file auth_basic',
        server  => qq{<Location "/desk">\nSigreqDesk On\n${login}ErrorDocument 401 /desk/$page\n</Location>\n}
    )->start;
    is(page($as_ann, $odd->base . "/desk/$page")->code, 200, 'a user enters');
    my $res = page(browser("$ann:b"), $odd->base . "/desk/$page");
    isnt($res->code, 200, 'not with a wrong password');
    unlike($res->body, qr/\Q$own->{name}\E|class="scope"/, 'and sees no page, also if one stands for the error');
};

subtest 'a user who is disabled or deleted' => sub {
    my $as = browser("$gone->{email}:g");
    is(page($as, scope($own))->code, 200, 'a user enters');
    ctl(qw(user disable --user), $gone->{email});
    is(page($as, scope($own))->code, 403, 'disabled: they are out at once');
    ctl(qw(user enable --user), $gone->{email});
    is(page($as, scope($own))->code, 200, 'enabled again');
    ctl(qw(user delete --user), $gone->{email});
    is(page($as, scope($own))->code, 403, 'deleted, with the token of the desk');
};

# The uuid of the token of a user in the environment for tests.
my $token = sql("SELECT t.uuid FROM token t JOIN user_account u ON u.id = t.user_id WHERE u.uuid = '$own->{user_uuid}'"
        . " AND t.kind = 'desk' AND t.environment = 'test'");

subtest 'the tokens of the desk' => sub {
    like($token, qr/^[\w-]{36}$/, 'a user has one');
    unlike($client->get('/tokens')->body, qr/\Q$token\E/, 'which the API does not list');
    is_error($client->get("/tokens/$token"), 404, 'Not found', 'nor show');
    is_error($client->request(DELETE => "/tokens/$token"), 404, 'Not found', 'nor revoke');
    my %url = (json => { url => 'https://example.org/' });
    is_error($client->post("/tokens/$token/webhooks/sent-webhook-url", %url), 404, 'Not found', 'nor change');
    my $list = ctl(qw(token list --organization), $own->{uuid});
    unlike(encode_json($list), qr/\Q$token\E/, 'sigreqctl does not list it');
    is((ctl_said(qw(token revoke --uuid), $token))[0], 3, 'nor revoke it');
    is((ctl_said(qw(token rotate --uuid), $token))[0], 3, 'nor replace it');
    is((ctl_said(qw(token webhooks --sent https://example.org/ --uuid), $token))[0], 3, 'nor change it');
    ctl(qw(token revoke --user), $ann, '--organization', $own->{uuid});
    is(page($as_ann, scope($own))->code, 200, 'it stays when all tokens of its user are revoked');
    is(sql("SELECT count(*) FROM token WHERE uuid = '$token' AND revoked_at IS NULL AND sent_webhook_url IS NULL"),
        1, 'unchanged');
    my @of = ('--organization', $own->{uuid}, '--user', $ann, qw(--environment test --name again));
    $client = $client->with(token => ctl(qw(token create), @of)->{token});
};

subtest 'forms' => sub {
    my $uuid  = created('A lease');
    my $view  = page($as_ann, scope($own));
    my $form  = $view->dom->at('.rows form') or return fail('there is a form');
    my $url   = scope($own) . "requests/$uuid/remind";
    my $value = $form->at('input[name=token]')->attr('value');
    is(Mojo::URL->new($form->attr('action'))->to_abs(Mojo::URL->new(scope($own))), $url, 'its address');
    my $send = sub {
        my ($ua, $sent, %headers) = @_;
        my @form = defined $sent ? (form => { token => $sent }) : (form => {});
        return $ua->post($url, \%headers, @form)->result;
    };
    my $reminders = sub {
        my $events = $client->get("/signatures/$uuid/audit")->json('/events');
        return scalar grep { $_->{event} eq 'reminded' } @$events;
    };
    my $hash = sql("SELECT secret_hash FROM token WHERE uuid = '$token'");
    my $mac  = sub {
        my ($hours, $name, $user) = @_;
        my $hour = int(time / 3600) - $hours;
        return hmac_sha256_hex("form $hour " . ($user // $own->{user_uuid}) . " $name", $hash);
    };
    is($value, $mac->(0, "remind $uuid"), 'its token is an HMAC');
    my $refused = sub { my ($res, $name) = @_; is($res->code, 403, $name) or diag $res->body };
    my $theirs  = page(browser("$eve:e"), scope($own));
    is(scalar @{ names($theirs) }, 0, 'another user of the organisation does not see the request');
    $refused->($send->($as_ann, undef),                   'a form without a token is refused');
    $refused->($send->($as_ann, ''),                      'or with an empty one');
    $refused->($send->($as_ann, 'x' x 64),                'or a wrong one');
    $refused->($send->($as_ann, uc $value),               'or one in upper case');
    $refused->($send->($as_ann, $mac->(14, "remind $uuid")), 'or an old one');
    $refused->($send->($as_ann, $mac->(-2, "remind $uuid")), 'or one of the future');
    $refused->($send->($as_ann, $mac->(0, "cancel $uuid")), 'or that of another form');
    $refused->($send->(browser("$eve:e"), $value),        'or that of another user');
    $refused->($as_ann->post($url =~ s/\.test/.production/r, form => { token => $value })->result,
        'or that of another environment');
    $refused->($send->($as_ann, $value, 'Sec-Fetch-Site' => $_), "a form from elsewhere is refused: $_")
        for 'cross-site', 'same-site';
    $refused->($send->($as_ann, $value, Origin => $_), "a form from elsewhere is refused: $_")
        for 'https://evil.example', 'http://127.0.0.1:1';
    is($as_ann->post($url, json => { token => $value })->result->code, 415, 'a body that is no form');
    is($as_ann->post($url, form => { token => $value, x => 1 })->result->code, 400, 'an unknown field');
    is($as_ann->post($url, form => { token => [$value, $value] })->result->code, 400, 'a repeated field');
    is(page($as_ann, "$url?token=$value")->code, 405, 'nothing changes by GET');
    is($reminders->(), 0, 'nothing has changed');
    my $res = browser("$ann:a", max_redirects => 0)->post($url, { Origin => $base, 'Sec-Fetch-Site' => 'same-origin' },
        form => { token => $value })->result;
    is($res->code, 303, 'the form is accepted') or diag $res->body;
    is(place_of($res, $url), scope($own) . '?done=reminded', 'and leads to the list');
    is($reminders->(), 1, 'the signer is reminded');
    my $note = page($as_ann, place_of($res, $url))->dom->at('.note.good');
    like($note->text, qr/reminder is on its way/, 'which says so');
    is(page($as_ann, scope($own) . "?done=$_")->dom->at('.note.good'), undef, "it says nothing else: $_")
        for 'x', '../title', '%3Cb%3E';
    $res = $send->($as_ann, $mac->(11, "remind $uuid"));
    is($res->code, 429, 'a token is valid for hours, and the fault of a use case is shown');
    like($res->dom->at('.problem')->all_text, qr/10 minutes/, 'with its reason');
    is($client->post("/signatures/$uuid/cancel")->code, 200, 'the request is cancelled');
    is($send->($as_ann, $value)->code, 409, 'nobody is left to remind');
    my ($event) = grep { $_->{event} eq 'reminded' } @{ $client->get("/signatures/$uuid/audit")->json('/events') };
    ok(!$event->{detail}{automatic}, 'the audit trail has the reminder');
};

subtest 'a service that sends no mail' => sub {
    my $mute = Sigreq::Httpd->new(
        modules => 'authz_core dbd authn_core authz_user authn_file auth_basic',
        server  => qq{<Location "/desk">\nSigreqDesk On\n$login</Location>\n})->start;
    created('Without mail');
    my $res = page($as_ann, $mute->base . "/desk/$own->{uuid}.test/");
    is(names($res)->[0], 'Without mail', 'it shows the list');
    is($res->dom->at('.rows form'), undef, 'without reminders');
};

subtest 'a database that is away' => sub {
    my %none = suite->{db} eq 'pgsql' ? (params => 'host=/nowhere') : (params => "$dir/nothing/x");
    my $away = Sigreq::Httpd->new(
        modules => 'authz_core dbd authn_core authz_user authn_file auth_basic',
        server  => qq{<Location "/desk">\nSigreqDesk On\n$login</Location>\n}, %none)->start;
    my $res = page($as_ann, $away->base . '/desk/');
    is($res->code, 503, 'an error');
    ok($res->headers->header('Retry-After'), 'which says when to try again');
    is($res->dom->at('.problem h1')->text, 'Something’s wrong on our side', 'is a page') or diag $res->body;
};

subtest 'read-only' => sub {
    my $uuid = created('To read');
    my $only = Sigreq::Httpd->new(
        modules => 'authz_core dbd authn_core authz_user authn_file auth_basic',
        server  => "SigreqSMTP maildir:$dir/mail\nSigreqMailFrom sign\@example.org\nSigreqBaseURL $base\n"
            . qq{<Location "/desk">\nSigreqDesk read-only\n$login</Location>\n}
    )->start;
    my $there = $only->base . "/desk/$own->{uuid}.test/";
    my $res   = page($as_ann, $there);
    is($res->code, 200, 'it shows the list');
    is($res->dom->at('.rows form'), undef, 'without forms');
    like($res->body, qr/not change them/, 'and says so');
    my ($value) = page($as_ann, scope($own))->dom->at('.rows form input')->attr('value');
    is($as_ann->post("${there}requests/$uuid/remind", form => { token => $value })->result->code,
        403, 'and refuses a form, also with a good token');
};

subtest 'the list' => sub {
    my $reader = user($own);
    basic("$dir/passwords", %login, $reader->{email} => 'r');
    my $as = browser("$reader->{email}:r");
    $client = $reader->{test};
    my $markup = '<b onclick="x">&amp;"Bold"\'</b>';
    my %person = (firstname => '<i>Sam</i>', lastname => '"><script>x</script>', email => 'sam@example.org');
    my $deadline = strftime('%Y-%m-%dT%H:%M:%SZ', gmtime(time + 86_400));
    my $two      = Sigreq::Client::signers(\%person, { firstname => 'Bo' });
    my %uuid;
    $uuid{$_} = created($_) for 'First', 'Second';
    $uuid{$markup} = created($markup, signers => $two, more => [part(expiresAt => $deadline)]);
    my $res  = page($as, scope($own));
    is_deeply(names($res), [$markup, 'Second', 'First'], 'requests are in it, the newest first');
    unlike($res->body, qr/<b onclick|<i>Sam|<script>x/, 'markup in names is escaped');
    my $row = $res->dom->at('.rows tbody tr');
    is($row->at('.progress span')->all_text, '0 of 2', 'how many have signed');
    is($row->at('.state')->attr('data-state'), 'open', 'the state');
    ok($row->at('.day .soon'), 'a near deadline has a mark');
    is($row->at('.name > a')->attr('href'), "requests/$uuid{$markup}", 'a link to the request');
    my ($signer) = map { $_->{signatureLink} } @{ $client->get("/signatures/$uuid{$markup}")->json('/submitters') };
    is(Sigreq::Signer->new(link => $signer)->sign->code, 200, 'somebody signs');
    is(page($as, scope($own))->dom->at('.rows .progress span')->all_text, '1 of 2', 'one has signed');
    is($client->post("/signatures/$uuid{First}/cancel")->code, 200, 'one is cancelled');
    my $first = $client->get("/signatures/$uuid{Second}")->json('/submitters/0/signatureLink');
    is(Sigreq::Signer->new(link => $first)->refuse->code, 200, 'one is refused');
    my $found = sub { names(page($as, scope($own) . shift)) };
    is_deeply($found->('?status=cancelled'), ['First'],            'a state');
    is_deeply($found->('?status=refused'),   ['Second'],           'another state');
    is_deeply($found->('?status=open&q='),   [$markup],            'a state with an empty search');
    is_deeply($found->('?status=&q=SEC'),    ['Second'],           'a search');
    is_deeply($found->('?q=sam@example.org'), [$markup, 'Second', 'First'], 'for a signer');
    is($client->create(name => 'A draft', more => [part(draft => 'true')])->code, 201, 'a draft');
    is_deeply($found->('?status=draft'), ['A draft'], 'drafts are in it');
    is(page($as, scope($own))->dom->at('.state')->attr('data-state'), 'draft', 'with their state');
    my $none = page($as, scope($own) . '?q=nothing');
    like($none->dom->at('.empty')->all_text, qr/No request matches/, 'a search that finds nothing');
    is(page($as, scope($own) . "?$_")->code, 400, "a wrong query: $_")
        for 'status=x', 'cursor=x', 'x=1', 'q=a&q=b', 'q=%ff', 'status=initiated';
    my $states = page($as, scope($own) . '?status=refused')->dom->at('option[selected]')->attr('value');
    is($states, 'refused', 'the form shows what was chosen');
    is(page($as, scope($own) . '?q=%22%3E%3Cb%3E')->dom->at('#q')->attr('value'), '"><b>', 'and what was searched');

    created("Request $_") for 1 .. 52;
    $res = page($as, scope($own) . '?lang=en');
    is(scalar @{ names($res) }, 50, 'a page has 50 requests');
    is($res->dom->at('a[rel=prev]'), undef, 'the first has no newer ones');
    my $older = $res->dom->at('a[rel=next]')->attr('href');
    like($older, qr/^\?lang=en&cursor=[\w-]+$/, 'the link to older ones');
    my $second = page($as, scope($own) . $older);
    is_deeply(names($second), ['Request 2', 'Request 1', 'A draft', $markup, 'Second', 'First'], 'the second page');
    is($second->dom->at('a[rel=next]'), undef, 'the last has no older ones');
    my $back = page($as, scope($own) . $second->dom->at('a[rel=prev]')->attr('href'));
    is_deeply(names($back), names($res), 'and back');
    $res = page($as, scope($own) . '?q=request%20&status=open');
    like($res->dom->at('a[rel=next]')->attr('href'), qr/&status=open&q=request(?:%20|\+)$/, 'a page keeps the search');
    is_deeply(names(page($as, scope($own) . $res->dom->at('a[rel=next]')->attr('href'))), ['Request 2', 'Request 1'],
        'which goes on');
    my @crowd = map { { firstname => "S$_" } } 1 .. 9;
    created('Crowd', signers => Sigreq::Client::signers(@crowd));
    my $last = page($as, scope($own))->dom->find('.rows tbody tr:first-child li')->last;
    is($last->text, '+3', 'of many signers, six are named');
};

subtest 'languages' => sub {
    my $res = page($as_ann, scope($own), { 'Accept-Language' => 'de' });
    is($res->dom->at('html')->attr('lang'), 'de', 'that of the browser');
    isnt($res->dom->at('h1')->text, 'Requests', 'the texts are in it');
    $res = page($as_ann, scope($own) . '?lang=ar', { 'Accept-Language' => 'de' });
    is($res->dom->at('html')->attr('dir'), 'rtl', 'that of the query, in its direction');
    my @lost = grep { !/\?lang=ar/ } $res->dom->find('main a:not([hreflang]), header nav a')->map(attr => 'href')->each;
    is("@lost", '', 'links keep it');
    is($res->dom->at('form input[name=lang]')->attr('value'), 'ar', 'and the search');
};

subtest 'headers' => sub {
    my $headers = page($as_ann, scope($own))->headers;
    my $policy  = $headers->header('Content-Security-Policy');
    like($policy, qr/^default-src 'none'; script-src 'self'; style-src 'self'; (?!.*(?:unsafe|http))/, 'the policy');
    like($policy, qr/form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/, 'forbids frames');
    is($headers->cache_control,             'no-store',    'nothing is stored');
    is($headers->header('Referrer-Policy'), 'same-origin', 'other sites get no Referer');
    is($headers->header('X-Robots-Tag'), 'noindex, nofollow', 'search engines are sent away');
    is($headers->header('X-Content-Type-Options'), 'nosniff', 'the type is not guessed');
    my $error = page($as_ann, scope($own) . 'x')->headers;
    is($error->header('Content-Security-Policy'), $policy, 'an error has the same policy');
    is($error->cache_control, 'no-store', 'and is not stored');
    my $json = page($as_ann, scope($own) . 'x', { Accept => 'application/json' });
    is($json->json('/statusCode'), 404, 'a program gets errors as JSON');
    my $css = page($as_ann, scope($own))->dom->at('link[rel=stylesheet]')->attr('href');
    my $url = Mojo::URL->new($css)->to_abs(Mojo::URL->new(scope($own)));
    is(page(browser(), $url)->code, 200, 'the style sheet is public');
};

subtest 'httpd -t' => sub {
    my $on   = "SigreqDesk On\n";
    my $said = sub {
        my ($server, %o) = @_;
        return Sigreq::Httpd->new(
            modules => 'authz_core dbd authn_core authz_user authz_host authn_file auth_basic setenvif',
            server  => $server, %o)->test;
    };
    my $inside = sub { my ($path, $text) = @_; "<Location \"$path\">\n$text</Location>\n" };
    my %wrong  = (
        'nothing'                => [$inside->('/desk', $on)],
        'read-only'              => [$inside->('/desk', "SigreqDesk read-only\n")],
        'the location itself'    => ['', place => "Sigreq On\n$on"],
        'the server'             => [$on],
        'AuthType None'          => [$inside->('/desk', "${on}AuthType None\nRequire valid-user\n")],
        'no Require'             => [$inside->('/desk', $on . ($login =~ s/^Require.*//mr))],
        'Require all granted'    => [$inside->('/desk', $on . ($login =~ s/^Require.*/Require all granted/mr))],
        'a login elsewhere'      => [$inside->('/desk', $on) . $inside->('/sign/login', $login)],
        'a login of another name' => [$inside->('/desk', $on) . $inside->('/desktop', $login)],
        'a login of a folder'    => [$inside->('/desk', $on) . "<Directory \"/desk\">\n$login</Directory>\n"],
        'a pattern'              => [qq{<LocationMatch "^/desk">\n$on</LocationMatch>\n}],
    );
    for my $name (sort keys %wrong) {
        my ($status, $text) = $said->(@{ $wrong{$name} });
        isnt($status, 0, "$name: httpd refuses to start");
        like($text, qr{SR0006: .*: SigreqDesk needs a login: protect <Location "/desk">}, 'and says what to do')
            or diag $text;
    }
    my %right = (
        'a login'                    => [$inside->('/desk', "$on$login")],
        'a login of another section' => [$inside->('/desk', $on) . $inside->('/desk/', $login)],
        'a login of the server'      => ["$login$on" =~ s/^Auth.*\n|^Require.*\n//mgr, place => "Sigreq On\n$login"],
        'a login by a pattern'       =>
            [$inside->('/desk', $on) . qq{<LocationMatch "^/(desk|x)">\n$login</LocationMatch>\n}],
        'a login by an expression'   => [$inside->('/desk', "$on<If \"true\">\n$login</If>\n")],
        'the desk is off'            => [$inside->('/desk', "SigreqDesk Off\n")],
        'a desk of no service'       => [$inside->('/x', $on), place => '', modules => 'authz_core dbd'],
    );
    for my $name (sort keys %right) {
        my ($status, $text) = $said->(@{ $right{$name} });
        is($status, 0, "$name is accepted") or diag $text;
    }
    my ($status, $text) = $said->($inside->('/desk', "SigreqDesk maybe\n"));
    like($text, qr/SigreqDesk must be On, Off or read-only, not 'maybe'/, 'another value');
    ($status, $text) = $said->($inside->('/desk', "SigreqDeskUser %{X\n"));
    like($text, qr/SigreqDeskUser must be an expression of httpd \(.+\), not/, 'an expression that is none');
};

subtest 'without SigreqDesk' => sub {
    my $off = Sigreq::Httpd->new(place => 'Sigreq On')->start;
    is(page(browser(), $off->base . "/desk$_")->code, 404, "there is no desk at /desk$_")
        for '', '/', "/$own->{uuid}.test/";
};

subtest 'many at once' => sub {
    my $new = user($own);
    basic("$dir/passwords", %login, $new->{email} => 'm');
    my ($ua, @codes) = browser("$new->{email}:m");
    Mojo::Promise->all(map { $ua->get_p(scope($own))->then(sub { push @codes, $_[0]->res->code }) } 1 .. 8)->wait;
    is("@codes", '200 200 200 200 200 200 200 200', 'all get the page');
    is(sql("SELECT count(*) FROM token t JOIN user_account u ON u.id = t.user_id WHERE u.uuid = '$new->{user_uuid}'"),
        1, 'and there is one token');
};
done_testing;
