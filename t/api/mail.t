# SPDX-License-Identifier: Apache-2.0
# Invitations by mail: recipients and texts, names that look like headers, refusals, passwords, templates, and the
# history.
use strict;
use warnings;
use MIME::Base64 ();
use Mojo::File 'path';
use Mojo::Util 'decode';
use Sigreq::Apart;
use Sigreq::Client;
use Sigreq::Here qw(suite wait_for queued sql is_error);
use Sigreq::Httpd;
use Sigreq::Mailbox;
use Sigreq::Multipart;
use Sigreq::Receiver;
use Sigreq::Signer;
use Test::More;

my $apart = Sigreq::Apart->new(organization => 'Org & <Co>', lastname => "\xc3\x89rable");
my $dir   = $apart->{dir};
my $client;

sub serve {    # httpd with these directives for the server
    my @place = (place => "Sigreq On\nSigreqBaseURL https://sign.example.org/e");
    $client = $apart->serve(server => join("\n", @_), @place);
}

# On a slow machine a connection may take longer than it may, and the next attempt would be a minute later.
sub repeat_now {
    my $submission = "(SELECT id FROM submission WHERE uuid = '$_[0]')";
    sql("UPDATE job SET due_at = created_at, attempts = 0 WHERE state = 'scheduled' AND attempts > 0 "
            . "AND submission_id = $submission", $apart->{params});
}

sub invite {    # signers → submission, and the history of its invitations, oldest first
    my ($signers, %o) = @_;
    my $made = $client->create(sendEmail => 'true', signers => Sigreq::Client::signers(@$signers), %o)->json;
    my ($rows, $rounds) = ([], 0);
    wait_for(
        sub {
            my $query = { submissionId => $made->{uuid}, event => 'invitation' };
            repeat_now($made->{uuid}) if ++$rounds % 100 == 0;
            $rows = $client->get('/webhooks/history', query => $query)->json->{data};
            @$rows == @$signers;
        });
    is(scalar @$rows, scalar @$signers, 'one row for each signer');
    return ($made, sort { $a->{url} cmp $b->{url} } @$rows);
}

my $box = Sigreq::Mailbox->new;
my @to  = ("SigreqSMTP smtp://127.0.0.1:$box->{port}", "SigreqMailFrom \"B\xc3\xbcro <sign\@example.org>\"");

subtest 'two signers are invited' => sub {
    serve(@to);
    my ($made, @rows) = invite([{ email => 'a@x.org' }, { firstname => "Zo\x{eb}", email => 'zoe@x.org' }],
        name => "Mietvertrag \xc2\xab4\xc2\xbb <b>", skipIntro => 'true');
    is_deeply([map { [@$_{qw(url success statusCode error)}] } @rows],
        [map { ["mailto:$_\@x.org", Mojo::JSON::true(), 250, undef] } qw(a zoe)], 'the history has both');
    my %mail = map { $_->{to}[0] => $_ } $box->mails;
    is(join(' ', sort keys %mail), 'a@x.org zoe@x.org', 'both signers have got mail');
    my $mail = $mail{'zoe@x.org'};
    is($mail->{from}, 'sign@example.org', 'the envelope has the recipient');
    is_deeply([@{ $mail->{to} }], ['zoe@x.org'], 'the envelope has no other recipient');
    my %h = %{ $mail->{headers} };
    is(scalar(grep { @$_ != 1 } values %h), 0, 'each header is there once');
    is($h{from}[0], "Ann \x{c9}rable via B\x{fc}ro <sign\@example.org>", 'From names the requester and the service');
    my ($address) = $mail->{plain} =~ /^Ann \x{c9}rable \((\S+)\)/m;
    is($h{'reply-to'}[0], "Ann \x{c9}rable <$address>", 'Reply-To is the requester');
    is($h{to}[0],      "Zo\x{eb} Lee <zoe\@x.org>",     'To');
    is($h{subject}[0], "TEST: Ann \x{c9}rable has asked you to sign \x{201c}Mietvertrag \x{ab}4\x{bb} <b>\x{201d}",
        'Subject');
    like($h{date}[0], qr/^\w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000$/, 'Date');
    like($h{'message-id'}[0], qr/^<[0-9a-f-]{36}\@example\.org>$/, 'Message-ID');
    is($h{'auto-submitted'}[0], 'auto-generated', 'Auto-Submitted');
    like($h{'content-type'}[0], qr{^multipart/}, 'the mail has parts');
    like($mail->{raw}, qr{multipart/alternative}, 'the parts are alternatives');
    unlike($mail->{head}, qr/[^\x20-\x7e\r\n\t]/, 'headers are ASCII');
    my $link = $made->{submitters}[1]{signatureLink};
    like($link, qr{^https://sign\.example\.org/e/sign/.*skipIntro=true$}, 'the link is SigreqBaseURL\'s');
    like($mail->{plain}, qr/^TEST: This is a test\./, 'the subject says that it is a test');
    like($mail->{html}, qr/<strong>TEST: /, 'the HTML says that it is a test');
    like($mail->{plain}, qr/^\Q$link\E$/m, 'the text has the link');
    like($mail->{plain}, qr/^Hello Zo\x{eb} Lee,$/m, 'the text has the name of the signer');
    like($mail->{plain}, qr/^Ann \x{c9}rable \(\S+\@\S+\) from Org & <Co> has asked you/m,
        'the text has the requester');
    like($mail->{plain}, qr/^Document to sign:\n\x{2013} a\.pdf \(1 page\)$/m, 'the text has the documents');
    like($mail->{plain}, qr/Please don\x{2019}t forward it/, 'the text explains the link');
    like($mail->{$_}, qr/Reply to this email to reach Ann \x{c9}rable\./, "the mail says who gets replies ($_)")
        for qw(plain html);
    like($mail->{html}, qr/<a href="\Q$link\E"/, 'the HTML has the link');
    like($mail->{html}, qr/Ann \x{c9}rable \(\S+\) from Org &amp; &lt;Co&gt; has/, 'texts are escaped in the HTML');
    my $number = substr $made->{uuid}, 0, 8;
    like($mail->{$_}, qr/Request number $number\b/, "the mail has the request number ($_)") for qw(plain html);
    unlike($mail->{html}, qr/<b>/, 'all texts are escaped');
    unlike($mail->{raw}, qr/\{\{/, 'no placeholder is left');
    my $again = $client->post("/webhooks/history/$rows[0]{eventId}/redeliver");
    is($again->code, 202, 'an invitation is sent again on request');
    is($again->json->{url}, 'mailto:a@x.org', 'an invitation is sent again to the same signer');
    ok(wait_for(sub { 2 == grep { $_->{to}[0] eq 'a@x.org' } $box->mails }), 'the signer has got the invitation again');
    my $history = sub { $client->get('/webhooks/history', query => { submissionId => $made->{uuid} })->json->{data} };
    ok(wait_for(sub { @{ $history->() } == 3 }), 'the history has it');
    my $refused = $client->post("/webhooks/history/$rows[0]{eventId}/redeliver");
    is($refused->code, 429, 'a second repetition within ten minutes is refused');
    is($refused->headers->header('Retry-After'), 60, 'the refusal has Retry-After');
};

subtest 'an invitation leaves when its signer is due' => sub {
    serve(@to);
    my $signers = Sigreq::Client::signers({ email => 'o2@x.org', order => 2 }, { email => 'o1@x.org' });
    my $made    = $client->create(sendEmail => 'true', signers => $signers)->json;
    my $to      = sub { join ' ', sort map { $_->{to}[0] =~ /^(o\d)/ } $box->mails };
    ok(wait_for(sub { $to->() eq 'o1' }), 'the first one is invited');
    my ($later, $first) = map { $_->{signatureLink} =~ s{^https://sign\.example\.org/e}{$client->{base}}r }
        @{ $made->{submitters} };
    like(Sigreq::Signer->new(link => $later)->get('', headers => { Accept => 'text/html' })->dom->at('.lead')->text,
        qr/email you when/, 'the page of the next one says that a mail will come');
    is(Sigreq::Signer->new(link => $first)->sign('Ann Lee')->code, 200, 'they sign');
    ok(wait_for(sub { $to->() eq 'o1 o2' }), 'the next one is invited then');
    my $path = "/signatures/$made->{uuid}/signers/$made->{submitters}[0]{uuid}/replace";
    is($client->post($path, json => { firstname => 'Eve', lastname => 'Lee' })->code, 400,
        'a signer with mail is replaced by one with an email only');
    is($client->post($path, json => { firstname => 'Eve', lastname => 'Lee', email => 'o3@x.org' })->code,
        200, 'they are replaced');
    ok(wait_for(sub { $to->() eq 'o1 o2 o3' }), 'the new signer is invited');
};

subtest 'the sender of mails' => sub {
    my $mail_of = sub {    # a mail with these directives, to a signer with this locale
        my ($to, $locale, @directives) = @_;
        serve($to[0], @directives);
        invite([{ email => $to, locale => $locale }]);
        return (grep { $_->{to}[0] eq $to } $box->mails)[0];
    };
    my $from = sub { $_[0]{headers}{from}[0] };
    my $mail = $mail_of->('f1@x.org', 'en', 'SigreqMailFrom sign@example.org', 'SigreqMailRequester Off');
    is($from->($mail), 'sign@example.org', 'with SigreqMailRequester Off it is the service');
    ok(!$mail->{headers}{'reply-to'}, 'with SigreqMailRequester Off there is no Reply-To');
    like($mail->{plain}, qr/there\x{2019}s no need to reply\.$/m, 'the mail says that nobody reads replies');
    $mail = $mail_of->('f2@x.org', 'de', 'SigreqMailFrom sign@example.org');
    is($from->($mail), "Ann \x{c9}rable \x{fc}ber example.org <sign\@example.org>",
        'a service without a name has the name of its domain, and the signer their language');
    unlike($mail->{head}, qr/[^\x20-\x7e\r\n\t]/, 'headers are ASCII');
};

subtest 'in the language of each signer' => sub {
    serve(@to);
    invite([{ email => 'l1@x.org', locale => 'de-AT' }, { email => 'l2@x.org', locale => 'tlh' }],
        name => 'Vertrag', more => [Sigreq::Multipart::part('locale', 'es')]);
    my %mail = map { $_->{to}[0] => $_ } $box->mails;
    my $mail = $mail{'l1@x.org'};
    is($mail->{headers}{subject}[0], "TEST: Ann \x{c9}rable bittet Sie, \x{201e}Vertrag\x{201c} zu unterschreiben",
        'German for who has it, with the quotes of the language');
    like($mail->{plain}, qr/^TEST: Dies ist ein Test\. .*^Guten Tag Ann Lee,\n.*\(1 Seite\)\n/ms,
        'the whole text is German');
    like($mail->{html}, qr/<html lang="de" dir="ltr">.*Guten Tag Ann Lee,/s, 'the HTML is German');
    like($mail{'l2@x.org'}{html}, qr/<html lang="en"/, 'a language without texts gets English');
    invite([{ email => 'l3@x.org' }], more => [Sigreq::Multipart::part('locale', 'es')]);
    ($mail) = grep { $_->{to}[0] eq 'l3@x.org' } $box->mails;
    like($mail->{html}, qr/<html lang="es"/, 'the locale of the form');
};

subtest 'the deadline' => sub {
    serve(@to);
    invite([{ email => 'd1@x.org' }, { email => 'd2@x.org', locale => 'de' }],
        more => [Sigreq::Multipart::part('expiresAt', '2030-05-17T18:30:00Z')]);
    my %mail = map { $_->{to}[0] => $_ } $box->mails;
    like($mail{'d1@x.org'}{plain}, qr/^Please sign or decline by 1\d May 2030, \d\d:30 \(\w.*\)\.$/m,
        'an invitation has it, with the name of its time zone');
    like($mail{'d1@x.org'}{html}, qr/by 1\d May 2030, \d\d:30 \(/,      'the HTML has the deadline');
    like($mail{'d2@x.org'}{plain}, qr/bis 1\d\. Mai 2030, \d\d:30 \(\w/,
        'the deadline is in the language of the signer');
    invite([{ email => 'd3@x.org' }]);
    my ($mail) = grep { $_->{to}[0] eq 'd3@x.org' } $box->mails;
    unlike($mail->{plain}, qr/decline by|\n\n\n/, 'a mail without a deadline names no deadline');
};

subtest 'with the theme of the location' => sub {
    my $theme = "$dir/theme";
    mkdir $theme;
    my $write = sub { Sigreq::Suite::write_file("$theme/$_[0]", $_[1]) };
    $write->('theme.json', '{"name": "Harbour & <Sons>"}');
    $write->('theme.css',  ":root {\n  --accent-soft: #eee;\n  --accent : #7A1f5c; --on-accent:#fed }\n");
    $write->('logo.png', 'x');
    my $html_of = sub {
        my $to = shift;
        $client = $apart->serve(server => join("\n", @to),
            place => "Sigreq On\nSigreqBaseURL https://sign.example.org/e\nSigreqTheme $theme");
        invite([{ email => $to }]);
        return (grep { $_->{to}[0] eq $to } $box->mails)[0]{html};
    };
    my $html = $html_of->('t1@x.org');
    like($html, qr{<img src="https://sign\.example\.org/e/sign/theme/logo\.png\?\d+" alt="Harbour &amp; &lt;Sons&gt;"},
        'the mail has the logo');
    like($html, qr/bgcolor="#7A1f5c".*color: #fed;/s, 'the mail has the colours');
    $write->('theme.css', ':root { --accent: red; background: url(x) } /* --on-accent */');
    unlink "$theme/logo.png";
    $html = $html_of->('t2@x.org');
    like($html, qr/<bdi>Harbour &amp; &lt;Sons&gt;<\/bdi>/, 'without a logo the mail has the name');
    like($html, qr/bgcolor="#1f3a8a".*color: #ffffff;/s, 'colours of another form are replaced by the built-in ones');
    $write->('theme.json', '{');
    like($html_of->('t3@x.org'), qr/<bdi>Org &amp; &lt;Co&gt;<\/bdi>/, 'without a name the mail has the organisation');
};

subtest 'names that look like headers' => sub {
    my $before = $box->mails;
    my @names  = (
        "A\r\nBcc: evil\@x.org", "B\nX: y", 'C" <evil@x.org>, "D', '{{link}}', "\x{202e}E", "\x{2067}\x{200f}E",
        'F' x 300, "G\x{1f600}" x 60);
    for my $name (@names) {
        my $res = $client->create(sendEmail => 'true',
            signers => Sigreq::Client::signers({ firstname => $name, email => 'n@x.org' }));
        if ($res->code == 400) { pass('refused at once: ' . $res->body =~ s/[^ -~]/?/gr); $before-- }
    }
    my $wanted = $before + @names;
    ok(wait_for(sub { $box->mails >= $wanted }), 'all mails arrive');
    for my $mail (grep { $_->{to}[0] eq 'n@x.org' } $box->mails) {
        my %h = %{ $mail->{headers} };
        is(join(' ', sort keys %h), 'auto-submitted content-type date from message-id mime-version reply-to subject to',
            'no header more: ' . substr($h{to}[0], 0, 30) =~ s/[^ -~]/?/gr);
        is_deeply($mail->{to}, ['n@x.org'], 'no recipient is added');
        ok(!(grep { length > 998 } split /\r\n/, $mail->{raw}), 'no line is too long');
        like($h{to}[0], qr/<n\@x\.org>$/, 'the recipient is the signer');
        unlike($h{to}[0] . $mail->{plain}, qr/[\x{061c}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{206f}]/,
            'there are no marks of direction');
    }
    is(scalar(grep { ($_->{plain} // '') =~ /Hello \{\{link\}\} / } $box->mails), 1, 'a name is not a template');
};

subtest 'addresses' => sub {
    my $long = 'l' x 240 . '@example.org';
    my ($made, @rows) = invite([{ email => "a\@b\x{fc}cher.example" }, { email => $long }]);
    is_deeply([map { $_->{error} } @rows], [undef, undef], 'the server accepts both');
    is(length $rows[1]{url}, 255, 'the history shortens a long address');
    is($rows[1]{url}, substr("mailto:$long", 0, 255), 'the history removes the end of a long address');
    my %mail = map { $_->{to}[0] => $_ } $box->mails;
    ok($mail{$long}, 'the mail is sent to the whole address');
    my $mail = $mail{'a@xn--bcher-kva.example'};
    ok($mail, 'a domain with other letters gets mail as an A-label');
    like($mail->{headers}{to}[0], qr/<a\@xn--bcher-kva\.example>$/, 'the header has the A-label');
    unlike($_->{raw} =~ s/\r\n\r\n.*//sr, qr/[^\x00-\x7f]/, 'a header has ASCII alone') for $box->mails;
};

subtest 'addresses to which no mail can be sent' => sub {
    my $signers = sub { Sigreq::Client::signers(map { +{ email => $_ } } @_) };
    my $one     = $client->create->json;
    for my $bad (
        'x>y@x.org', '"q"@x.org', 'a,b@x.org', 'ann@example.org;', 'mailto:ann@example.org', '<ann@example.org>',
        '(ann)@example.org', 'ann@[192.0.2.1]', 'ann@ex_ample.org', "j\x{fc}rgen\@example.org", 'ann@example..org',
        'ann@example.org.', '.ann@example.org', 'a..b@example.org', 'ann@-example.org', 'ann@' . 'l' x 64 . '.org',
        "ann\@example.org\x{200b}", "ann\@\x{2764}.org", "ann\@\x{fc}\x{200d}.org")
    {
        my $name = $bad =~ s/[^ -~]/?/gr;
        my $res = $client->create(sendEmail => 'true', signers => $signers->($bad));
        is($res->code . ' ' . decode('UTF-8', $res->body), "400 Signer 1: Invalid email format: $bad", "$name: no");
        $res = $client->create(signers => $signers->($bad));
        is_deeply($res->json('/warnings'), ['Signer 1: no mail can be sent to this email'],
            'without sendEmail the address is accepted with a warning');
    }
    my $foreign = "ann\@\x{4f8b}\x{3048}.\x{30c6}\x{30b9}\x{30c8}";
    for my $good ("o'brien+x\@sub.example.org", 'ANN@EXAMPLE.ORG', $foreign) {
        my ($made, @rows) = invite([{ email => $good }]);
        is_deeply([map { $_->{error} } @rows], [undef], $good =~ s/[^ -~]/?/gr . ': is invited');
    }
    my $made   = $client->create(signers => $signers->('ann@ex_ample.org'))->json;
    my $signer = "/signatures/$made->{uuid}/signers/$made->{submitters}[0]{uuid}";
    is_error($client->post("$signer/remind"), 409, 'No mail can be sent to the email of this signer', 'a reminder');
};

subtest 'a server that refuses' => sub {
    my ($made, @rows) = invite([{ email => 'nobody@x.org' }, { email => 'ok@x.org' }]);
    is($rows[0]{success}, Mojo::JSON::false(), 'the history has a refusal');
    is($rows[0]{statusCode}, 550, 'the history has the status of the refusal');
    is($rows[0]{error}, '550 5.1.1 No such user', 'the history has the text of the refusal');
    is($rows[1]{success}, Mojo::JSON::true(), 'the other signer gets the invitation');
};

subtest 'templates of one\'s own' => sub {
    mkdir "$dir/templates";
    my $text = "Subject: Bitte {{name}}\n\nHallo {{signer}} {{nothing}}\n{{link}}";
    my $mail_of = sub {    # after a start with this text
        my $to = shift;
        Sigreq::Suite::write_file("$dir/templates/invitation.txt", shift);
        serve(@to, "SigreqMailTemplates $dir/templates");
        invite([{ email => $to }], name => 'N');
        return (grep { $_->{to}[0] eq $to } $box->mails)[0];
    };
    my $mail = $mail_of->('t@x.org', $text);
    is($mail->{headers}{subject}[0], 'TEST: Bitte N', 'the subject of a test');
    like($mail->{plain}, qr/^TEST: [^\n]+\n\nHallo Ann Lee \{\{nothing\}\}\nhttps:/,
        'the text; unknown placeholders are kept');
    like($mail->{html}, qr/Hello Ann Lee/, 'without an HTML template the built-in one is used');
    Sigreq::Suite::write_file("$dir/templates/invitation.fr.txt", "Subject: {{:review}}\n\n{{:hello}} {{link}}");
    serve(@to, "SigreqMailTemplates $dir/templates");
    invite([{ email => 'fr@x.org', locale => 'fr-CA' }, { email => 'en@x.org' }], name => 'N');
    my %of = map { $_->{to}[0] => $_ } $box->mails;
    is($of{'fr@x.org'}{headers}{subject}[0], 'TEST: Consulter le document', 'a template of a language, with its texts');
    is($of{'en@x.org'}{headers}{subject}[0], 'TEST: Bitte N', 'other languages have the general template');
    my $windows = $mail_of->('w@x.org', "\xef\xbb\xbf" . lc($text =~ s/\n/\r\n/gr));
    is($windows->{headers}{subject}[0], 'TEST: bitte N', "a template with CRLF: the subject");
    is($windows->{plain} =~ s/^TEST: .*\n\n//r =~ s/ [{]{2}nothing.*//sr, 'hallo Ann Lee',
        'a template with CRLF: the text');
    my $whole = $mail_of->('s@x.org', "no subject\n.\n")->{plain};
    is($whole =~ s/^TEST: .*\n\n//r, "no subject\n.\n", 'without a subject the whole template is text');
};

subtest 'a server that hangs or does not exist' => sub {
    plan skip_all => 'once is enough: it takes 20 s' if suite->{db} ne 'sqlite3' || suite->{mpm} ne 'event';
    serve(@to, 'SigreqWebhookAllow 127.0.0.1');
    my $receiver = Sigreq::Receiver->new;
    $client->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/ok') });
    my $ann  = Sigreq::Client::signers({ email => 'slow@x.org' });
    invite([{ email => 'first@x.org' }]);    # the mail server answers
    my $slow = sub { $client->create(sendEmail => 'true', signers => $ann) };
    my $made = $slow->()->json;
    ok(wait_for(sub { $receiver->received('/ok') }), 'the webhook of the submission does not wait for the mail');
    my (undef, $row) = invite([{ email => 'quick@x.org' }]);
    is($row->{success}, Mojo::JSON::true(), 'another mail is sent meanwhile');
    my $log = sub { join "\n", $apart->{httpd}->log =~ /SR0600: (invitation \d+ failed.*)/g };
    my $later = qr/^invitation \d+ failed at attempt 1 of 5, the next is in 60 s: /m;
    ok(wait_for(sub { $log->() =~ /${later}the mail server took too long$/m }), 'it is tried again, as the log says')
        or diag $log->();
    my $rows = sub {
        my $query = { submissionId => $_[0]{uuid}, event => 'invitation' };
        return $client->get('/webhooks/history', query => $query);
    };
    is_deeply($rows->($made)->json->{data}, [], 'the history does not have the mail before it is over');
    $client->post('/webhooks/sent-webhook-url', json => { url => undef });
    for my $case (['smtp://127.0.0.1:1', qr/Failed to connect to /], ['smtp://nowhere.invalid', qr/.*resolve/]) {
        serve("SigreqSMTP $case->[0]", $to[1]);
        $made = $client->create(sendEmail => 'true', signers => Sigreq::Client::signers({ email => 'q@x.org' }))->json;
        ok(wait_for(sub { $log->() =~ /$later$case->[1]/ }),
            "$case->[0]: the mail is scheduled again, with the reason") or diag $log->();
        is_deeply($rows->($made)->json->{data}, [], "$case->[0]: the invitation is not over");
    }
    serve("SigreqSMTP smtps://127.0.0.1:$box->{port}", $to[1]);
    (undef, $row) = invite([{ email => 'q@x.org' }]);
    like($row->{error}, qr/^no TLS connection: /, 'a server without TLS, although TLS is required, is not tried again');
};

subtest 'a server that refuses temporarily' => sub {
    serve(@to);
    my $later = Sigreq::Client::signers({ email => 'later@x.org' });
    my $made  = $client->create(sendEmail => 'true', signers => $later)->json;
    my $said = qr/SR0600: invitation \d+ failed at attempt 1 of 5, the next is in 60 s: 450 4\.2\.0 Greylisted/;
    ok(wait_for(sub { $apart->{httpd}->log =~ $said }), 'the next attempt comes later');
    my $query = { submissionId => $made->{uuid}, event => 'invitation' };
    is_deeply($client->get('/webhooks/history', query => $query)->json->{data}, [], 'the invitation is not over');
    is(scalar(grep { $_->{to}[0] eq 'later@x.org' } $box->mails), 0, 'no mail was accepted');
};

subtest 'passwords' => sub {
    my $safe = Sigreq::Mailbox->new(tls => [(map { suite->{dir} . "/seal/seal.$_" } qw(crt key)), 'us@er', 'pa:ss']);
    serve("SigreqSMTP smtp://us%40er:pa%3ass\@127.0.0.1:$safe->{port}", $to[1]);
    my ($made, @rows) = invite([{ email => 'p@x.org' }]);
    like($rows[0]{error}, qr/certificate/i, 'a server without a valid certificate gets no password');
    is(scalar $safe->mails, 0, 'a server without a valid certificate gets no mail');
    serve("SigreqSMTP smtp://127.0.0.1:$safe->{port}", $to[1]);
    ($made, @rows) = invite([{ email => 'p@x.org' }]);
    is($rows[0]{success}, Mojo::JSON::false(), 'without a password the server accepts no mail');
    is($rows[0]{statusCode}, 530, 'the history has the server\'s text, over TLS');
};

subtest 'without a server' => sub {
    serve();
    my $res = $client->create(sendEmail => 'true', signers => Sigreq::Client::signers({ email => 'p@x.org' }));
    is($res->code, 503, 'sendEmail is refused');
    like($res->json->{message}, qr/^This service sends no mail \(SigreqSMTP\)/,
        'the message says that this service sends no mail');
    serve(@to);
    $res = $client->create(signers => Sigreq::Client::signers({ email => 'q@x.org' }));
    is($res->code, 201, 'a creation without sendEmail succeeds');
    is(queued($res->json->{uuid}, $apart->{params}), 0, 'no mail is sent');
};

subtest 'a folder instead of a server' => sub {
    my $folder = "$dir/mail";
    mkdir $folder;
    serve("SigreqSMTP maildir:$folder", $to[1]);
    my ($made, @rows) = invite([{ email => 'kept@x.org' }, { firstname => "Zo\x{eb}", email => 'zoe@x.org' }]);
    is_deeply([map { [@$_{qw(success statusCode error)}] } @rows], [([Mojo::JSON::true(), undef, undef]) x 2],
        'the history has both');
    my $ours = qr/^To: .*(?:kept|zoe)\@x\.org/m;    # subtests above have left mails that are sent a minute later
    my @files = grep { path($_)->slurp =~ $ours } glob "$folder/* $folder/.*.tmp";
    is(scalar @files, 2, 'there is a file for each');
    is(scalar(grep {/\.eml$/} @files), 2, 'the names of both files end in .eml');
    is((stat)[2] & 07777, 0600, 'only its owner can read the file') for @files;
    my %mail = map { $_->{headers}{to}[0] => $_ } map { Sigreq::Mailbox::taken_apart({ data => $_ }) }
        map { MIME::Base64::encode_base64(path($_)->slurp) } @files;
    my $mail = $mail{"Zo\x{eb} Lee <zoe\@x.org>"};
    ok($mail, 'one file is the mail of the signer') or diag join ' ', keys %mail;
    like($mail->{plain}, qr/^\Q$made->{submitters}[1]{signatureLink}\E$/m, 'the text has the link of the signer');
    like($mail->{html}, qr/<a href="\Q$made->{submitters}[1]{signatureLink}\E"/, 'the HTML has the link of the signer');
    ok(!(grep { length > 998 || /[^\r]\z/ } split /\n/, $mail->{raw}), 'its lines end with CRLF');
    rename $folder, "$folder.away";
    (undef, my $row) = invite([{ email => 'b@x.org' }]);
    is($row->{error}, 'the mail could not be kept in the server\'s folder',
        'a missing folder is recorded in the history');
    like($apart->{httpd}->log, qr/SR0600: .*open \Q$folder\E.*No such file/,
        'the log has the reason for the missing folder');
};

subtest 'invitations of tests are sent to another address' => sub {
    serve(@to, 'SigreqMailTestTo "Test <test@example.org>"');
    my ($made, @rows) = invite([{ email => 'signer@x.org' }]);
    is($rows[0]{url}, 'mailto:signer@x.org', 'the history has the address of the signer');
    my ($mail) = grep { $_->{to}[0] eq 'test@example.org' } $box->mails;
    is_deeply($mail->{to}, ['test@example.org'], 'another address gets the mail');
    is($mail->{headers}{to}[0], 'Ann Lee <test@example.org>', 'the mail to the other address has the signer\'s name');
    is(scalar(grep { $_->{to}[0] eq 'signer@x.org' } $box->mails), 0, 'the signer gets no mail');
};

my @wrong = (
    [['SigreqSMTP maildir:mail', $to[1]], 'must be maildir:/folder'],
    [['SigreqSMTP maildir:/nowhere', $to[1]], 'maildir:/nowhere is not a folder that httpd\'s user can write to'],
    [['SigreqSMTP maildir:/proc', $to[1]], 'is not a folder that httpd\'s user can write to'],
    [['SigreqSMTP maildir:/tmp'], 'SigreqSMTP needs SigreqMailFrom'],
    [[@to, 'SigreqMailTestTo nobody'], 'must be name@host'],
    [['SigreqSMTP smtp://127.0.0.1'], 'SigreqSMTP needs SigreqMailFrom'],
    [['SigreqSMTP http://127.0.0.1', $to[1]], 'must be smtp://host:port'],
    [['SigreqSMTP smtp://', $to[1]], 'must be smtp://host:port'],
    [['SigreqSMTP smtp://x:99999', $to[1]], 'must be smtp://host:port'],
    [['SigreqSMTP smtp://x/path', $to[1]], 'must be smtp://host:port'],
    [['SigreqSMTP smtp://x', 'SigreqMailFrom nobody'], 'must be name@host'],
    [['SigreqSMTP smtp://x', 'SigreqMailFrom "A <b@c> d"'], 'must be name@host'],
    [[@to, 'SigreqMailTemplates /nowhere'], '/nowhere is not a folder'],
    [[@to, 'SigreqWebhookAllow 300.1.1.1'], 'must be addresses or ranges'],
    [[@to, 'SigreqWebhookAllow 10.0.0.0/33'], 'must be addresses or ranges']);
for my $case (@wrong) {
    my ($status, $said) = Sigreq::Httpd->new(server => join("\n", @{ $case->[0] }),
        place => "Sigreq On\nSigreqBaseURL https://x.org")->test;
    my $later = $case->[1] =~ /is not a folder/; # other sites start
    $later ? is($status, 0, "reported: $case->[1]") : isnt($status, 0, "refused: $case->[1]");
    like($said, qr/\Q$case->[1]\E/, "the message has the reason: $case->[1]");
}
my ($status, $said) = Sigreq::Httpd->new(server => join "\n", @to)->test;
like($said, qr/needs SigreqBaseURL if SigreqSMTP is set/, 'links need SigreqBaseURL');
done_testing;
