# SPDX-License-Identifier: Apache-2.0
# Codes that are sent to signers, by mail and by SigreqCodeHook: what arrives, limits, failures of either, and that a
# code is nowhere after its end.
use strict;
use warnings;
use utf8;
use Mojo::File qw(path tempfile);
use Mojo::JSON qw(decode_json encode_json);
use Mojo::Promise;
use Mojo::UserAgent;
use Sigreq::Apart;
use Sigreq::Authority;
use Sigreq::Client;
use Sigreq::Here qw(children suite wait_for sql is_error);
use Sigreq::Httpd;
use Sigreq::Mailbox;
use Sigreq::Receiver;
use Sigreq::Signer qw(signers_of chain_fault);
use Test::More;

use constant SECRET => 'hook-secret-0123456789';
use constant SECOND => 1_000_000;

my $apart    = Sigreq::Apart->new(organization => 'Org');
my $dir      = $apart->{dir};
my $box      = Sigreq::Mailbox->new;
my $receiver = Sigreq::Receiver->new;
my @mail     = ("SigreqSMTP smtp://127.0.0.1:$box->{port}", 'SigreqMailFrom "Service <sign@example.org>"');
my $client;
Sigreq::Suite::write_file("$dir/secret", SECRET . "\n");
chmod 0600, "$dir/secret";

sub hook { return ("SigreqCodeHook $_[0]", "SigreqCodeHookSecret file:$dir/secret") }

sub configured {    # the arguments of an httpd with these directives
    my @more = ('<Location "/metrics">', 'SetHandler sigreq-metrics', '</Location>', 'TransferLog access_log');
    return (server => join("\n", @_, @more), place => "Sigreq On\nSigreqBaseURL https://sign.example.org");
}

sub serve { $client = $apart->serve(configured(@_)); return }

sub db { return sql($_[0], $apart->{params}) }

sub create {
    my ($check, %o) = @_;
    return $client->create(name => 'Secret lease', signers => Sigreq::Client::signers(
        { email => 'ann@x.org', firstname => 'Free', lastname => 'Money', authentication => $check, %o }, { }));
}

my %submission;    # of a link

sub signer {    # a signer who is asked for a code
    my $res = create(@_);
    is($res->code, 201, 'created') or diag $res->body;
    my ($signer) = signers_of($res->json);
    $signer->{link} =~ s{^https://sign\.example\.org}{$client->{base}};
    $submission{ $signer->{link} } = $res->json;
    return $signer;
}

sub post_code { my ($signer, @o) = @_; return $signer->request(POST => '/code', @o) }
sub page      { return (headers => { Accept => 'text/html' }, form => {}) }

sub enter { my ($signer, $code) = @_; return $signer->request(POST => '/check', json => { code => $code })->code }

sub events {    # of a kind
    my ($signer, $kind) = @_;
    my $trail = $client->get("/signatures/$submission{ $signer->{link} }{uuid}/audit")->json;
    is(chain_fault($trail), undef, 'the chain of events is whole');
    return grep { $_->{event} eq $kind } @{ $trail->{events} };
}

sub mail_to {    # waits for the COUNTth mail to an address
    my ($to, $count) = @_;
    my @mails;
    wait_for(sub { @mails = grep { $_->{to}[0] eq $to } $box->mails; @mails >= ($count // 1) });
    is(scalar @mails, $count // 1, "mails to $to");
    return $mails[-1];
}

sub code_in { return $_[0] =~ /^(\d{6})$/m ? $1 : undef }

sub forward {    # as if so many seconds had passed for the check of this signer
    my ($signer, $seconds) = @_;
    my $where  = "uuid = '" . ($signer->{link} =~ s{.*/}{}r) . "'";
    my $stored = decode_json(db("SELECT authentication FROM signer WHERE $where"));
    $_ -= $seconds * SECOND for @{ $stored->{sent} };
    $stored->{$_} && ($stored->{$_} -= $seconds * SECOND) for qw(challenge_until locked_until);
    db("UPDATE signer SET authentication = '" . (encode_json($stored) =~ s/'/''/gr) . "' WHERE $where");
    return;
}

sub dumped {    # all rows of the database, as text
    my @command = suite->{db} eq 'pgsql'
        ? ('psql', '-qXAt', $apart->{params}, '-c', q{SELECT query_to_xml(format('SELECT t::text FROM sigreq.%I t',
            c.relname), false, false, '') FROM pg_class c WHERE c.relnamespace = 'sigreq'::regnamespace
            AND c.relkind = 'r'})
        : ('sqlite3', $apart->{params}, '.dump');
    open my $pipe, '-|', @command or die "$command[0]: $!\n";
    my $all = do { local $/; <$pipe> };
    close $pipe or die "$command[0] failed\n";
    return $all;
}

sub is_forgotten {    # no row and no log has these codes
    my ($name, @codes) = @_;
    ok(wait_for(sub { !db("SELECT count(*) FROM job WHERE kind = 'code' AND state <> 'done'") }), "$name: jobs end");
    my %text = (database => dumped(), map { ($_ => path("$apart->{httpd}{dir}/$_")->slurp) } qw(error_log access_log));
    like($text{database}, qr/Secret lease/, "$name: the rows were read");
    like($text{access_log}, qr{POST /sign/\S+/code}, "$name: the log was read");
    for my $where (sort keys %text) {
        my @found = grep { $text{$where} =~ /(?<![\d.])$_(?!\d)/ } @codes;
        is("@found", '', "$name: no code in $where");
    }
    return;
}

subtest 'a code by mail' => sub {
    serve(@mail);
    my $signer = signer({ method => 'email' }, locale => 'de', email => 'de@x.org');
    $signer->get($_, headers => { Accept => 'text/html' }) for '', '/check';
    $signer->request(HEAD => '/check');
    is($signer->request($_ => '/code')->code, 405, "$_ sends no code") for qw(GET HEAD);
    is(post_code($signer, headers => { 'Sec-Fetch-Site' => 'cross-site', Origin => 'https://evil.example' })->code,
        403, 'another site sends no code');
    my $res = post_code($signer);
    is($res->code, 202, 'sent') or diag $res->body;
    is_deeply($res->json, { to => "d\x{2022}\x{2022}\x{2022}\@x.org" }, 'it says where');
    my $mail = mail_to('de@x.org');
    my $code = code_in($mail->{plain});
    ok($code, 'the mail has a code') or diag $mail->{plain};
    is($mail->{headers}{subject}[0], "TEST: Ihr Best\x{e4}tigungscode", 'its subject');
    is($mail->{headers}{from}[0],    'Service <sign@example.org>', 'it is from the service');
    is($mail->{headers}{'reply-to'}, undef,                        'nobody gets replies');
    like($mail->{plain}, qr/^Der Code ist 10 Minuten gültig\. Geben Sie ihn an niemanden weiter\.$/m, 'the text');
    like($mail->{html}, qr{<bdi dir="ltr">$code</bdi>}, 'the HTML has the code');
    unlike($mail->{$_}, qr{Secret lease|Money|Free|Ann|/sign/|\{\{}, "it has no words of the sender and no link: $_")
        for qw(plain html head);
    is_deeply([map { $_->{detail} } events($signer, 'codeSent')], [{ method => 'email' }], 'the event');
    is(enter($signer, $code eq '000000' ? '000001' : '000000'), 403, 'a wrong code');
    is(enter($signer, $code =~ s/(\d{3})/$1 /r), 200, 'the right code, with a space');
    is(enter($signer, $code), 403, 'it works once');

    my $again = post_code($signer, page());
    is($again->code, 303, 'from the page');
    like($again->headers->location, qr{/sign/[-\w]+/check$}, 'back to the page');
    my $second = code_in(mail_to('de@x.org', 2)->{plain});
    is(post_code($signer)->code, 202, 'another one');
    my $third = code_in(mail_to('de@x.org', 3)->{plain});
    is(enter($signer, $second), 403, 'the code before it is void') if $second ne $third;
    forward($signer, 599);
    is(enter($signer, $third), 200, 'a code just before its end');
    is(post_code($signer)->code, 202, 'another one');
    my $fourth = code_in(mail_to('de@x.org', 4)->{plain});
    forward($signer, 600);
    is(enter($signer, $fourth), 403, 'an expired code');
    is_forgotten('by mail', $code, $second, $third, $fourth);
    my $history = $client->get('/webhooks/history')->json;
    is_deeply($history->{data}, [], 'no delivery is in the history');
    is_deeply($apart->ctl('delivery', 'list'), [], 'sigreqctl shows none');
    my $metrics = Mojo::UserAgent->new->get($apart->{httpd}->base . '/metrics')->res->body;
    like($metrics, qr/^sigreq_deliveries_total\{kind="code",outcome="success"\} 4$/m, 'the metrics count them');
};

subtest 'in Arabic, to the address of tests' => sub {
    serve(@mail, 'SigreqMailTestTo testing@x.org');
    my $signer = signer({ method => 'email' }, locale => 'ar');
    is(post_code($signer)->code, 202, 'sent');
    my $mail = mail_to('testing@x.org');
    like($mail->{html}, qr/<html lang="ar" dir="rtl">/, 'from right to left');
    like($mail->{plain}, qr/^الرمز صالح لمدة 10 دقائق/m, 'in the language of the signer');
    is($mail->{headers}{to}[0], 'testing@x.org', 'To');
    is(enter($signer, code_in($mail->{plain})), 200, 'the code');
};

subtest 'limits of a signer' => sub {
    serve(@mail);
    my $signer = signer({ method => 'email' }, email => 'often@x.org');
    is(post_code($signer)->code, 202, "code $_") for 1 .. 5;
    my $limited = post_code($signer);
    is_error($limited, 429, 'No code can be sent now, try again later', 'the sixth within an hour');
    is($limited->headers->header('Retry-After'), 3600, 'Retry-After');
    my $shown = post_code($signer, page());
    is($shown->code, 429, 'the same from the page');
    is($shown->headers->header('Retry-After'), 3600, 'Retry-After of the page');
    like($shown->dom->at('.error')->text, qr/^The code could not be sent/, 'the page says it');
    forward($signer, 3600);
    is(post_code($signer)->code, 202, 'after an hour');
    my $locked = signer({ method => 'email' }, email => 'locked@x.org');
    is(post_code($locked)->code, 202, 'one more signer');
    my $code = code_in(mail_to('locked@x.org')->{plain});
    enter($locked, $_) for grep { $_ ne $code } map {"00000$_"} 0 .. 5;
    my $refused = post_code($locked);
    is(Mojo::JSON::encode_json([$refused->code, map { $_->body, $_->headers->header('Retry-After') } $refused]),
        Mojo::JSON::encode_json([$limited->code, map { $_->body, $_->headers->header('Retry-After') } $limited]),
        'while the check is locked, the response is the same');
    is(scalar(events($locked, 'codeSent')), 1, 'and nothing is sent');
};

subtest 'limits of mail' => sub {
    serve(@mail, 'SigreqMailLimit test-recipient=2/h');
    my @signers = map { signer({ method => 'email' }, email => 'few@x.org') } 1, 2;
    is(post_code($_)->code, 202, 'within the limit') for @signers;
    my $refused = post_code($signers[0]);
    is_error($refused, 429, 'No code can be sent now, try again later', 'the third mail to one address');
    cmp_ok($refused->headers->header('Retry-After'), '<=', 1800, 'when the next one is allowed');
};

subtest 'who gets no code' => sub {
    serve(hook($receiver->url('/ok')));
    my $signer = signer({ method => 'code', code => '4711-KX' });
    is_error(post_code($signer), 409, 'No code is sent to this signer', 'another method');
    is($signer->request(POST => '/code', headers => { Accept => 'application/json' }, json => {})->code, 409, 'JSON');
    is_error(create({ method => 'email' }), 503, qr/^This service sends no mail \(SigreqSMTP\)/, 'without SigreqSMTP');
    serve(@mail);
    is_error(create({ method => 'hook', to => '+4915112345678' }), 503, qr/^This service has no SigreqCodeHook/,
        'without SigreqCodeHook');
};

subtest 'a mail that cannot be sent' => sub {
    serve(@mail, 'SigreqSMTP smtp://127.0.0.1:' . Sigreq::Suite::free_port());
    my $signer = signer({ method => 'email' });
    is(post_code($signer)->code, 202, 'it waits');
    my $again = "kind = 'code' AND state = 'scheduled'";
    ok(wait_for(sub { db("SELECT count(*) FROM job WHERE $again") == 1 }), 'it is tried again');
    my $body = decode_json(db("SELECT body FROM job WHERE $again"));
    like($body->{code}, qr/^\d{6}$/, 'until then, the job has the code');
    is(enter($signer, $body->{code}), 200, 'which is valid');
    my $late = encode_json({ %$body, expiresAt => '2026-01-01T00:00:00.000Z' });
    db("UPDATE job SET body = '$late', due_at = created_at WHERE $again");
    is_forgotten('too late', $body->{code});
    is(db("SELECT error FROM job WHERE kind = 'code' ORDER BY id DESC LIMIT 1"),
        'not sent, because the code is not valid any more', 'why it was not sent');
};

subtest 'a process that dies while it sends' => sub {
    my $silent = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 9) or die "listen: $!\n";
    serve(@mail, 'SigreqSMTP smtp://127.0.0.1:' . $silent->sockport);
    my $signer = signer({ method => 'email' });
    is(post_code($signer)->code, 202, 'it waits');
    ok(wait_for(sub { db("SELECT count(*) FROM job WHERE kind = 'code' AND state = 'claimed'") == 1 }), 'it is sent');
    my $code = decode_json(db("SELECT body FROM job WHERE kind = 'code' AND state = 'claimed'"))->{code};
    kill KILL => children($apart->{httpd}->pid);
    is_forgotten('the process died', $code);
    is(scalar(events($signer, 'codeSent')), 1, 'it is recorded once');
};

subtest 'a code by the hook' => sub {
    serve(hook($receiver->url('/ok')));
    my $signer = signer({ method => 'hook', to => '+4915112345678' }, locale => 'fr');
    my $res = post_code($signer);
    is($res->code, 202, 'sent') or diag $res->body;
    is_deeply($res->json, { to => "\x{2022}\x{2022}\x{2022}\x{2022} 678" }, 'it says where');
    my ($call) = $receiver->wait_for(1, '/ok');
    my $uuid = $signer->{link} =~ s{.*/}{}r;
    my %body = %{ $call->{body} };
    is($call->{method}, 'POST', 'POST');
    is($call->{headers}{authorization}, 'Bearer ' . SECRET, 'the secret');
    is(join(' ', sort keys %body), 'code environment expiresAt locale organization signerId submissionId text to',
        'the members');
    is_deeply([@body{qw(to locale organization environment submissionId)}],
        ['+4915112345678', 'fr', 'Org', 'test', $submission{ $signer->{link} }{uuid}], 'their values');
    like($body{signerId}, qr/^[0-9a-f]{12}$/, 'the signer has another name');
    unlike($call->{raw}, qr/\Q$uuid\E|Secret lease|Money/, 'neither the link nor words of the sender');
    is($body{text}, "$body{code} est votre code de confirmation, valable 10 minutes. Ne le communiquez à personne.\n\n"
            . "\@sign.example.org #$body{code}", 'a short message');
    is(enter($signer, $body{code}), 200, 'the code');
    is_forgotten('by the hook', $body{code});
    unlike($apart->{httpd}->log, qr/@{[SECRET]}/, 'the secret is in no log');
    unlike(dumped(), qr/@{[SECRET]}/, 'the secret is in no row');
};

sub in_session {    # a signer who has entered a code
    my ($signer, $code) = @_;
    my ($session) = $signer->request(POST => '/check', json => { code => $code })->json('/url') =~ /~(\w+)$/;
    return Sigreq::Signer->new(link => "$signer->{link}~$session");
}

subtest 'the certificate of completion' => sub {
    serve(@mail, hook($receiver->url('/ok/certified')));
    my $to   = '+4915187654321';
    my $made = $client->create(signers => Sigreq::Client::signers(
        { email => 'eva@x.org', authentication => { method => 'email' } },
        { firstname => 'Bo', authentication => { method => 'hook', to => $to } }))->json;
    my ($eva, $bo) = signers_of($made);
    for ($eva, $bo) {
        $_->{link} =~ s{^https://sign\.example\.org}{$client->{base}};
        $submission{ $_->{link} } = $made;
        is(post_code($_)->code, 202, 'a code is sent');
    }
    is(in_session($eva, code_in(mail_to('eva@x.org')->{plain}))->sign('Eva Lee')->code, 200, 'signed, by mail');
    my ($call) = $receiver->wait_for(1, '/ok/certified');
    is(in_session($bo, $call->{body}{code})->sign('Bo Lee')->code, 200, 'signed, by the hook');
    my $file = tempfile->spurt($client->get("/signatures/$made->{uuid}/certificate")->body);
    like(`pdftotext -raw $file -` =~ s/\s+/ /gr,
        qr/Identity check Entered a code that was sent Entered a code that was sent Code sent to eva\@x.org \Q$to\E /,
        'how both were identified');
    my (undef, $sent) = events($bo, 'codeSent');
    is_deeply([$sent->{detail}, defined $sent->{commitments}{'detail.to'}], [{ method => 'hook', to => $to }, 1],
        'the number has a commitment');
    my ($passed) = grep { $_->{signer} eq $made->{submitters}[1]{uuid} } events($bo, 'authenticated');
    is($passed->{detail}{to}, $to, 'and is evidence of the check');
};

subtest 'a hook that fails' => sub {
    for my $path (qw(/status/500 /redirect /reset /garbage)) {
        serve(hook($receiver->url($path)));
        my $signer = signer({ method => 'hook', to => '+4915112345678' });
        is_error(post_code($signer), 503, 'The code could not be sent, try again later', $path);
        my $shown = post_code($signer, page());
        is($shown->code, 503, "$path: the page");
        like($shown->dom->at('.error')->text, qr/^The code could not be sent/, "$path: the page says it");
        is(scalar(events($signer, 'codeSent')), 0, "$path: nothing is recorded");
        is(scalar(my @lines = $apart->{httpd}->log =~ /SR0607/g), 2, "$path: the log has it");
        my @codes = map { $_->{body}{code} } $receiver->received($path);
        is(scalar @codes, 2, "$path: two codes");
        is(enter($signer, $_), 403, "$path: the code is not valid") for @codes;
        is_forgotten($path, @codes);
        is(scalar $receiver->received('/ok'), 1, 'a redirect is not followed');
    }
    for my $path (qw(/endless /drip-body)) {
        serve(hook($receiver->url($path)));
        my $signer = signer({ method => 'hook', to => '+4915112345678' });
        is(post_code($signer)->code, 202, "$path: the status counts");
        is(enter($signer, ($receiver->received($path))[-1]{body}{code}), 200, "$path: the code");
    }
};

subtest 'a hook that takes long' => sub {
    serve(hook($receiver->url('/held')));
    my $signer = signer({ method => 'hook', to => '+4915112345678' });
    my $other = (signers_of($submission{ $signer->{link} }))[1];
    $other->{link} =~ s{^https://sign\.example\.org}{$client->{base}};
    my $code;
    my $promise = $signer->request_p(POST => '/code')->then(sub { $code = shift->code });
    Mojo::IOLoop->timer(0.5 => sub { Mojo::IOLoop->stop });
    Mojo::IOLoop->start;
    is(scalar $receiver->wait_for(1, '/held'), 1, 'it is called');
    is($other->sign('Ann Lee')->code, 200, 'another signer signs meanwhile');
    is(scalar(events($signer, 'codeSent')), 0, 'nothing is recorded yet');
    $receiver->release;
    $promise->wait;
    is($code, 202, 'then it is sent');
    is(enter($signer, ($receiver->received('/held'))[0]{body}{code}), 200, 'the code');
    serve(hook($receiver->url('/slow/30')));
    $signer = signer({ method => 'hook', to => '+4915112345678' });
    my $begun = time;
    is(post_code($signer)->code, 503, 'no response');
    cmp_ok(time - $begun, '<', 20, 'it is given up');
    like($apart->{httpd}->log, qr/SR0607: SigreqCodeHook has not sent a code: no response within 10 s/, 'the log');
};

subtest 'a process that dies while it calls the hook' => sub {
    serve(hook($receiver->url('/slow/5')));
    my $signer = signer({ method => 'hook', to => '+4915112345678' });
    my $promise = $signer->request_p(POST => '/code')->catch(sub { 'lost' });
    Mojo::IOLoop->timer(0.5 => sub { Mojo::IOLoop->stop });
    Mojo::IOLoop->start;
    my ($call) = $receiver->wait_for(1, '/slow/5');
    kill KILL => children($apart->{httpd}->pid);
    $promise->wait;
    ok(wait_for(sub { eval { $client->get('/health')->code == 200 } }), 'another process serves');
    my $refused = post_code($signer);
    is($refused->code, 429, 'the hook is not called again at once');
    is($refused->headers->header('Retry-After'), 30, 'but after a while');
    is(scalar $receiver->received('/slow/5'), 1, 'it was called once');
    is(enter($signer, $call->{body}{code}), 403, 'a code that was not recorded is not valid');
    is(scalar(events($signer, 'codeSent')), 0, 'nothing is recorded');
};

subtest 'a hook with TLS' => sub {
    my ($ours, $others) = map { Sigreq::Authority->new("$dir/$_") } qw(ours others);
    my %tls = map { $_->file('') => Sigreq::Receiver->new(tls => $_->issue_server('hook', 'IP:127.0.0.1')) } $ours,
        $others;
    my @trust = qq{SigreqCACertificateFile "@{[$ours->file('ca.crt')]}"};
    $client = $apart->serve(server => join("\n", @trust, hook($tls{ $ours->file('') }->url('/ok'))));
    my $signer = signer({ method => 'hook', to => '+4915112345678' }, locale => 'en');
    is(post_code($signer, headers => { Host => 'evil.example', Accept => 'application/json' })->code, 202, 'sent');
    my ($call) = $tls{ $ours->file('') }->wait_for(1, '/ok');
    is($call->{body}{text}, "$call->{body}{code} is your confirmation code. It is valid for 10 minutes. "
            . 'Do not share it with anyone.', 'without SigreqBaseURL, the message names no host');
    serve(@trust, hook($tls{ $others->file('') }->url('/ok')));
    is(post_code(signer({ method => 'hook', to => '+4915112345678' }))->code, 503, 'another authority');
    is(scalar $tls{ $others->file('') }->received, 0, 'its server gets no code');
    like($apart->{httpd}->log, qr/SR0607: \S+ has not sent a code: .*certificate/, 'the log says why');
};

subtest 'limits of the hook' => sub {
    my @numbers = ('+4915112345678', '+4915198765432', '+4916012345678', '@ann.example');
    my $codes   = sub {    # the answers for a code to each of these, each to another signer
        return join ' ', map { post_code(signer({ method => 'hook', to => $_ }))->code } @_;
    };
    serve(hook($receiver->url('/ok')), 'SigreqMailLimit hook-prefix=2/h');
    is($codes->(@numbers[0, 1, 0, 2, 3]), '202 202 429 202 202', 'of a prefix');
    $apart->ctl('org', 'create', '--name', "Other $$");
    my @of = ('--organization', "Other $$");
    $apart->ctl('user', 'create', @of, qw(--firstname Bob --lastname Poe --email bob@x.org));
    my $token = $apart->ctl('token', 'create', @of, qw(--user bob@x.org --environment test --name t))->{token};
    $client = $client->with(token => $token);
    is($codes->(@numbers[0, 2]), '429 202', 'of all organisations together');
    serve(hook($receiver->url('/ok')), 'SigreqMailLimit hook-recipient=1/h');
    is($codes->(@numbers[0, 0, 1, 3, 3]), '202 429 202 202 429', 'of a number, or another address');
    serve(hook($receiver->url('/ok')), 'SigreqMailLimit hook=2/h');
    is($codes->(@numbers[0, 1, 2]), '202 202 429', 'of an organisation');
    $client = $client->with(token => $token);
    is($codes->($numbers[2]), 202, 'another organisation has its own');
};

subtest 'many requests at once' => sub {
    serve(@mail, hook($receiver->url('/slow/0.1')), 'SigreqMailLimit hook-recipient=none');
    my %check = (email => { method => 'email' }, hook => { method => 'hook', to => '+4917012345678' });
    for my $method (sort keys %check) {
        my $signer = signer($check{$method}, email => 'race@x.org');
        my @codes;
        for (1 .. 4) {
            my @all = map { $signer->request_p(POST => '/code')->then(sub { push @codes, $_[0]->code }) } 1 .. 6;
            Mojo::Promise->all(@all)->wait;
        }
        is(scalar(grep { $_ == 202 } @codes), $method eq 'email' ? 5 : 4, "$method: as many as the limit allows");
        is(scalar(grep { $_ == 429 } @codes), $method eq 'email' ? 19 : 20, "$method: the others are refused");
        is(scalar(events($signer, 'codeSent')), $method eq 'email' ? 5 : 4, "$method: each is recorded");
    }
    is(scalar(@{ [$receiver->received('/slow/0.1')] }), 4, 'the hook was called as often');
    mail_to('race@x.org', 5);
};

subtest 'configurations' => sub {
    $apart->stop;
    my $says = sub {
        my ($name, $text, @directives) = @_;
        my ($status, $said) = Sigreq::Httpd->new($apart->database, configured(@directives))->test;
        like($said, $text, $name);
        return $status;
    };
    my $ok = 'https://sms.example.org/codes?a=b';
    is($says->('a hook', qr/Syntax OK/, hook($ok)), 0, 'accepted');
    is($says->($_, qr/Syntax OK/, hook("http://$_:8081/")), 0, "accepted: $_") for qw(127.0.0.1 [::1] localhost);
    my @wrong = ('http://sms.example.org/', 'https://a:b@sms.example.org/', 'ftp://x/', 'sms');
    isnt($says->("not $_", qr/SigreqCodeHook must be an https:/, hook($_)), 0, "refused: $_") for @wrong;
    isnt($says->('no secret', qr/SigreqCodeHook needs SigreqCodeHookSecret/, "SigreqCodeHook $ok"), 0, 'refused');
    isnt($says->('without a hook', qr/SigreqCodeHookSecret needs SigreqCodeHook/, (hook($ok))[1]), 0, 'refused');
    Sigreq::Suite::write_file("$dir/secret", "two words\n");
    $says->('not a token', qr/SR0740: SigreqCodeHookSecret: \S+ must have a bearer token/, hook($ok));
    unlink "$dir/secret";
    $says->('no file', qr/SR0740: SigreqCodeHookSecret: \S+: No such file/, hook($ok));
};

done_testing;
