# SPDX-License-Identifier: Apache-2.0
# Invitations by mail: whom, what, in which words; names that would like to be headers; refusals, passwords, templates,
# and what is on record of each.
use strict;
use warnings;
use MIME::Base64 ();
use Mojo::File 'path';
use Sigreq::Apart;
use Sigreq::Client;
use Sigreq::Here qw(suite wait_for queued);
use Sigreq::Httpd;
use Sigreq::Mailbox;
use Sigreq::Multipart;
use Sigreq::Receiver;
use Test::More;

my $apart = Sigreq::Apart->new(organization => 'Org & <Co>', lastname => "\xc3\x89rable");
my $dir   = $apart->{dir};
my $client;

sub serve {    # httpd with these directives for the server
    my @place = (place => "Sigreq On\nSigreqBaseURL https://sign.example.org/e");
    $client = $apart->serve(server => join("\n", @_), @place);
}

sub invite {    # signers → submission, and the history of its invitations, oldest first
    my ($signers, %o) = @_;
    my $made = $client->create(sendEmail => 'true', signers => Sigreq::Client::signers(@$signers), %o)->json;
    my $rows = [];
    wait_for(
        sub {
            my $query = { submissionId => $made->{uuid}, event => 'invitation' };
            $rows = $client->get('/webhooks/history', query => $query)->json->{data};
            @$rows == @$signers;
        });
    is(scalar @$rows, scalar @$signers, 'one row for each signer');
    return ($made, sort { $a->{url} cmp $b->{url} } @$rows);
}

my $box = Sigreq::Mailbox->new;
my @to  = ("SigreqSMTP smtp://127.0.0.1:$box->{port}", "SigreqMailFrom \"B\xc3\xbcro <sign\@example.org>\"");

subtest 'two are invited' => sub {
    serve(@to);
    my ($made, @rows) = invite([{ email => 'a@x.org' }, { firstname => "Zo\x{eb}", email => 'zoe@x.org' }],
        name => "Mietvertrag \xc2\xab4\xc2\xbb <b>", skipIntro => 'true');
    is_deeply([map { [@$_{qw(url success statusCode error)}] } @rows],
        [map { ["mailto:$_\@x.org", Mojo::JSON::true(), 250, undef] } qw(a zoe)], 'both are on record');
    my %mail = map { $_->{to}[0] => $_ } $box->mails;
    is(join(' ', sort keys %mail), 'a@x.org zoe@x.org', 'both have mail');
    my $mail = $mail{'zoe@x.org'};
    is($mail->{from}, 'sign@example.org', 'the envelope');
    is_deeply([@{ $mail->{to} }], ['zoe@x.org'], '… to one alone');
    my %h = %{ $mail->{headers} };
    is(scalar(grep { @$_ != 1 } values %h), 0, 'each header once');
    is($h{from}[0],    "B\x{fc}ro <sign\@example.org>", 'From');
    is($h{to}[0],      "Zo\x{eb} Lee <zoe\@x.org>",     'To');
    is($h{subject}[0], "TEST: Ann \x{c9}rable has asked you to sign \x{201c}Mietvertrag \x{ab}4\x{bb} <b>\x{201d}",
        'Subject');
    like($h{date}[0], qr/^\w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000$/, 'Date');
    like($h{'message-id'}[0], qr/^<[0-9a-f-]{36}\@example\.org>$/, 'Message-ID');
    is($h{'auto-submitted'}[0], 'auto-generated', 'Auto-Submitted');
    like($h{'content-type'}[0], qr{^multipart/}, 'in parts');
    like($mail->{raw}, qr{multipart/alternative}, '… that are alternatives');
    unlike($mail->{head}, qr/[^\x20-\x7e\r\n\t]/, 'headers are ASCII');
    my $link = $made->{submitters}[1]{signatureLink};
    like($link, qr{^https://sign\.example\.org/e/sign/.*skipIntro=true$}, 'the link is SigreqBaseURL\'s');
    like($mail->{plain}, qr/^TEST: This is a test\./, 'a test is called a test');
    like($mail->{html}, qr/<strong>TEST: /, '… in HTML too');
    like($mail->{plain}, qr/^\Q$link\E$/m, 'it is in the text');
    like($mail->{plain}, qr/^Hello Zo\x{eb} Lee,$/m, '… with her name');
    like($mail->{plain}, qr/^Ann \x{c9}rable \(\S+\@\S+\) from Org & <Co> has asked you/m, '… and who asks');
    like($mail->{plain}, qr/^Document to sign:\n\x{2013} a\.pdf \(1 page\)$/m, '… with the documents');
    like($mail->{plain}, qr/Please don\x{2019}t forward it/, '… and what the link is');
    like($mail->{html}, qr/<a href="\Q$link\E"/, 'the link in HTML');
    like($mail->{html}, qr/Ann \x{c9}rable \(\S+\) from Org &amp; &lt;Co&gt; has/, '… texts are escaped there');
    unlike($mail->{html}, qr/<b>/, '… all of them');
    unlike($mail->{raw}, qr/\{\{/, 'nothing is left to fill in');
    my $again = $client->post("/webhooks/history/$rows[0]{eventId}/redeliver");
    is($again->code, 202, 'an invitation is sent again on request');
    is($again->json->{url}, 'mailto:a@x.org', '… to the same signer');
    ok(wait_for(sub { 2 == grep { $_->{to}[0] eq 'a@x.org' } $box->mails }), '… who gets it');
    my $history = sub { $client->get('/webhooks/history', query => { submissionId => $made->{uuid} })->json->{data} };
    ok(wait_for(sub { @{ $history->() } == 3 }), 'it is on record');
    my $refused = $client->post("/webhooks/history/$rows[0]{eventId}/redeliver");
    is($refused->code, 429, 'but once in ten minutes');
    is($refused->headers->header('Retry-After'), 60, '… as it says');
};

subtest 'in the language of each' => sub {
    serve(@to);
    invite([{ email => 'l1@x.org', locale => 'de-AT' }, { email => 'l2@x.org', locale => 'tlh' }],
        name => 'Vertrag', more => [Sigreq::Multipart::part('locale', 'es')]);
    my %mail = map { $_->{to}[0] => $_ } $box->mails;
    my $mail = $mail{'l1@x.org'};
    is($mail->{headers}{subject}[0], "TEST: Ann \x{c9}rable bittet Sie, \x{201e}Vertrag\x{201c} zu unterschreiben",
        'German for who has it, with the quotes of the language');
    like($mail->{plain}, qr/^TEST: Dies ist ein Test\. .*^Guten Tag Ann Lee,\n.*\(1 Seite\)\n/ms, 'all of it');
    like($mail->{html}, qr/<html lang="de" dir="ltr">.*Guten Tag Ann Lee,/s, '… in HTML');
    like($mail{'l2@x.org'}{html}, qr/<html lang="en"/, 'English where there are no texts');
    invite([{ email => 'l3@x.org' }], more => [Sigreq::Multipart::part('locale', 'es')]);
    ($mail) = grep { $_->{to}[0] eq 'l3@x.org' } $box->mails;
    like($mail->{html}, qr/<html lang="es"/, 'the locale of the form');
};

subtest 'with the theme of the place' => sub {
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
        'the logo');
    like($html, qr/bgcolor="#7A1f5c".*color: #fed;/s, 'the colours');
    $write->('theme.css', ':root { --accent: red; background: url(x) } /* --on-accent */');
    unlink "$theme/logo.png";
    $html = $html_of->('t2@x.org');
    like($html, qr/<bdi>Harbour &amp; &lt;Sons&gt;<\/bdi>/, 'without a logo: the name');
    like($html, qr/bgcolor="#1f3a8a".*color: #ffffff;/s, 'other colours than such as #7a1f5c: those built in');
    $write->('theme.json', '{');
    like($html_of->('t3@x.org'), qr/<bdi>Org &amp; &lt;Co&gt;<\/bdi>/, 'without a name: the organisation');
};

subtest 'names that would be headers' => sub {
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
    ok(wait_for(sub { $box->mails >= $wanted }), 'all arrive');
    for my $mail (grep { $_->{to}[0] eq 'n@x.org' } $box->mails) {
        my %h = %{ $mail->{headers} };
        is(join(' ', sort keys %h), 'auto-submitted content-type date from message-id mime-version subject to',
            'no header more: ' . substr($h{to}[0], 0, 30) =~ s/[^ -~]/?/gr);
        is_deeply($mail->{to}, ['n@x.org'], '… nor receiver');
        ok(!(grep { length > 998 } split /\r\n/, $mail->{raw}), '… nor a line that is too long');
        like($h{to}[0], qr/<n\@x\.org>$/, '… to whom it is for');
        unlike($h{to}[0] . $mail->{plain}, qr/[\x{061c}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{206f}]/,
            '… and nothing turns the direction of text');
    }
    is(scalar(grep { ($_->{plain} // '') =~ /Hello \{\{link\}\} / } $box->mails), 1, 'a name is not a template');
    my ($made, @rows) = invite([{ email => 'x>y@x.org' }, { email => '"q"@x.org' }, { email => 'a,b@x.org' }]);
    is($_->{error}, 'mail cannot be sent to this address', "no mail to $_->{url}") for @rows;
};

subtest 'addresses' => sub {
    my $long = 'l' x 240 . '@example.org';
    my ($made, @rows) = invite([{ email => "a\@b\x{fc}cher.example" }, { email => $long }]);
    is_deeply([map { $_->{error} } @rows], [undef, undef], 'the server takes both');
    is(length $rows[1]{url}, 255, 'the history cuts it');
    is($rows[1]{url}, substr("mailto:$long", 0, 255), '… at the end');
    my %mail = map { $_->{to}[0] => $_ } $box->mails;
    ok($mail{$long}, 'mail goes to the whole address');
    ok($mail{"a\@b\x{fc}cher.example"}, 'and to a domain with other letters');
};

subtest 'a server that refuses' => sub {
    my ($made, @rows) = invite([{ email => 'nobody@x.org' }, { email => 'ok@x.org' }]);
    is($rows[0]{success}, Mojo::JSON::false(), 'a refusal is on record');
    is($rows[0]{statusCode}, 550, '… with its number');
    is($rows[0]{error}, '550 5.1.1 No such user', '… in its words');
    is($rows[1]{success}, Mojo::JSON::true(), 'the other one is invited');
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
    is($mail->{headers}{subject}[0], 'TEST: Bitte N', 'the subject, of a test');
    like($mail->{plain}, qr/^TEST: [^\n]+\n\nHallo Ann Lee \{\{nothing\}\}\nhttps:/, 'the text; what is unknown stays');
    like($mail->{html}, qr/Hello Ann Lee/, 'the HTML that is built in, where there is none');
    Sigreq::Suite::write_file("$dir/templates/invitation.fr.txt", "Subject: {{:review}}\n\n{{:hello}} {{link}}");
    serve(@to, "SigreqMailTemplates $dir/templates");
    invite([{ email => 'fr@x.org', locale => 'fr-CA' }, { email => 'en@x.org' }], name => 'N');
    my %of = map { $_->{to}[0] => $_ } $box->mails;
    is($of{'fr@x.org'}{headers}{subject}[0], 'TEST: Consulter le document', 'one for a language, with its texts');
    is($of{'en@x.org'}{headers}{subject}[0], 'TEST: Bitte N', '… and that for all others');
    my $windows = $mail_of->('w@x.org', "\xef\xbb\xbf" . lc($text =~ s/\n/\r\n/gr));
    is($windows->{headers}{subject}[0], 'TEST: bitte N', "saved by another system's editor: the subject");
    is($windows->{plain} =~ s/^TEST: .*\n\n//r =~ s/ [{]{2}nothing.*//sr, 'hallo Ann Lee', '… the text');
    my $whole = $mail_of->('s@x.org', "no subject\n.\n")->{plain};
    is($whole =~ s/^TEST: .*\n\n//r, "no subject\n.\n", 'without a subject: all is text');
};

subtest 'a server that hangs, or is not there' => sub {
    plan skip_all => 'once is enough: it takes 20 s' if suite->{db} ne 'sqlite3' || suite->{mpm} ne 'event';
    serve(@to, 'SigreqWebhookAllow 127.0.0.1');
    my $receiver = Sigreq::Receiver->new;
    $client->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/ok') });
    my $ann  = Sigreq::Client::signers({ email => 'slow@x.org' });
    invite([{ email => 'first@x.org' }]);    # the mail server answers
    my $slow = sub { $client->create(sendEmail => 'true', signers => $ann) };
    my $made = $slow->()->json;
    ok(wait_for(sub { $receiver->received('/ok') }), 'the webhook of its submission does not wait for mail');
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
    is_deeply($rows->($made)->json->{data}, [], '… and in no history before it is over');
    $client->post('/webhooks/sent-webhook-url', json => { url => undef });
    for my $case (['smtp://127.0.0.1:1', qr/Failed to connect to /], ['smtp://nowhere.invalid', qr/.*resolve/]) {
        serve("SigreqSMTP $case->[0]", $to[1]);
        $made = $client->create(sendEmail => 'true', signers => Sigreq::Client::signers({ email => 'q@x.org' }))->json;
        ok(wait_for(sub { $log->() =~ /$later$case->[1]/ }), "$case->[0]: again later, and why") or diag $log->();
        is_deeply($rows->($made)->json->{data}, [], '… it is not over');
    }
    serve("SigreqSMTP smtps://127.0.0.1:$box->{port}", $to[1]);
    (undef, $row) = invite([{ email => 'q@x.org' }]);
    like($row->{error}, qr/^no TLS connection: /, 'a server without TLS, where TLS is demanded: never again');
};

subtest 'a server that refuses for a time' => sub {
    serve(@to);
    my $later = Sigreq::Client::signers({ email => 'later@x.org' });
    my $made  = $client->create(sendEmail => 'true', signers => $later)->json;
    my $said = qr/SR0600: invitation \d+ failed at attempt 1 of 5, the next is in 60 s: 450 4\.2\.0 Greylisted/;
    ok(wait_for(sub { $apart->{httpd}->log =~ $said }), 'the next attempt is later');
    my $query = { submissionId => $made->{uuid}, event => 'invitation' };
    is_deeply($client->get('/webhooks/history', query => $query)->json->{data}, [], 'it is not over');
    is(scalar(grep { $_->{to}[0] eq 'later@x.org' } $box->mails), 0, 'no mail was accepted');
};

subtest 'passwords' => sub {
    my $safe = Sigreq::Mailbox->new(tls => [(map { suite->{dir} . "/seal/seal.$_" } qw(crt key)), 'us@er', 'pa:ss']);
    serve("SigreqSMTP smtp://us%40er:pa%3ass\@127.0.0.1:$safe->{port}", $to[1]);
    my ($made, @rows) = invite([{ email => 'p@x.org' }]);
    like($rows[0]{error}, qr/certificate/i, 'a server that cannot prove itself gets no password');
    is(scalar $safe->mails, 0, '… and no mail');
    serve("SigreqSMTP smtp://127.0.0.1:$safe->{port}", $to[1]);
    ($made, @rows) = invite([{ email => 'p@x.org' }]);
    is($rows[0]{success}, Mojo::JSON::false(), 'without a password it takes none');
    is($rows[0]{statusCode}, 530, '… as it says, over TLS');
};

subtest 'no server' => sub {
    serve();
    my $res = $client->create(sendEmail => 'true', signers => Sigreq::Client::signers({ email => 'p@x.org' }));
    is($res->code, 503, 'sendEmail is refused');
    like($res->json->{message}, qr/^This service sends no mail \(SigreqSMTP\)/, '… in words');
    serve(@to);
    $res = $client->create(signers => Sigreq::Client::signers({ email => 'q@x.org' }));
    is($res->code, 201, 'sendEmail left out');
    is(queued($res->json->{uuid}, $apart->{params}), 0, 'no mail');
};

subtest 'a folder instead of a server' => sub {
    my $folder = "$dir/mail";
    mkdir $folder;
    serve("SigreqSMTP maildir:$folder", $to[1]);
    my ($made, @rows) = invite([{ email => 'a@x.org' }, { firstname => "Zo\x{eb}", email => 'zoe@x.org' }]);
    is_deeply([map { [@$_{qw(success statusCode error)}] } @rows], [([Mojo::JSON::true(), undef, undef]) x 2],
        'both are on record');
    my @files = glob "$folder/* $folder/.*.tmp";
    is(scalar @files, 2, 'a file for each');
    is(scalar(grep {/\.eml$/} @files), 2, '… that ends in .eml');
    is((stat)[2] & 07777, 0600, '… for its owner alone') for @files;
    my %mail = map { $_->{headers}{to}[0] => $_ } map { Sigreq::Mailbox::taken_apart({ data => $_ }) }
        map { MIME::Base64::encode_base64(path($_)->slurp) } @files;
    my $mail = $mail{"Zo\x{eb} Lee <zoe\@x.org>"};
    ok($mail, 'one to her') or diag join ' ', keys %mail;
    like($mail->{plain}, qr/^\Q$made->{submitters}[1]{signatureLink}\E$/m, '… with her link');
    like($mail->{html}, qr/<a href="\Q$made->{submitters}[1]{signatureLink}\E"/, '… in both texts');
    ok(!(grep { length > 998 || /[^\r]\z/ } split /\n/, $mail->{raw}), 'its lines are those of mail');
    rename $folder, "$folder.away";
    (undef, my $row) = invite([{ email => 'b@x.org' }]);
    is($row->{error}, 'the mail could not be kept in the server\'s folder', 'a folder that is gone: on record');
    like($apart->{httpd}->log, qr/SR0600: .*open \Q$folder\E.*No such file/, '… and in the log, with the reason');
};

subtest 'tests go to somebody else' => sub {
    serve(@to, 'SigreqMailTestTo "Test <test@example.org>"');
    my ($made, @rows) = invite([{ email => 'signer@x.org' }]);
    is($rows[0]{url}, 'mailto:signer@x.org', 'the history says whom it is for');
    my ($mail) = grep { $_->{to}[0] eq 'test@example.org' } $box->mails;
    is_deeply($mail->{to}, ['test@example.org'], 'another one has it');
    is($mail->{headers}{to}[0], 'Ann Lee <test@example.org>', '… with the signer\'s name');
    is(scalar(grep { $_->{to}[0] eq 'signer@x.org' } $box->mails), 0, 'the signer has none');
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
    isnt($status, 0, "refused: $case->[1]");
    like($said, qr/\Q$case->[1]\E/, '… in words');
}
my ($status, $said) = Sigreq::Httpd->new(server => join "\n", @to)->test;
like($said, qr/needs SigreqBaseURL where SigreqSMTP is given/, 'links need a base');
done_testing;
