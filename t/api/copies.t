# SPDX-License-Identifier: Apache-2.0
# Copies of completed submissions, and the mails of viewers: who gets them, in which language, with which files, how
# often, and what stops them.
use strict;
use warnings;
use Mojo::JSON qw(decode_json encode_json true false);
use Mojo::Util 'encode';
use Sigreq::Apart;
use Sigreq::Here qw(children wait_for sql is_error is_text);
use Sigreq::Mailbox;
use Sigreq::Multipart 'part';
use Sigreq::PDF 'pdf';
use Sigreq::Signer 'chain_fault';
use Test::More;

my $base  = 'https://sign.example.org/e';
my $apart = Sigreq::Apart->new(organization => 'Org');
my $box   = Sigreq::Mailbox->new;
my @to    = ("SigreqSMTP smtp://127.0.0.1:$box->{port}", 'SigreqMailFrom sign@example.org');
my $client;

sub serve {    # httpd with these directives for the server, and these for the place
    my ($server, @place) = @_;
    $client = $apart->serve(
        server => join("\n", @$server),
        place  => join "\n", 'Sigreq On', "SigreqBaseURL $base", @place);
    return;
}

sub form {    # the parts of a creation
    my %o = @_;
    return (more => [map { part($_, encode_json($o{$_})) } grep { $o{$_} } qw(copies viewers)]);
}

sub create {    # signers, then more of a creation
    my ($signers, %o) = @_;
    my $res = $client->create(signers => Sigreq::Client::signers(@$signers), %o);
    is($res->code, 201, 'created') or diag $res->body;
    return $res->json;
}

sub sign {    # all signers of it, in their order
    my $made = shift;
    for my $signer (@{ $client->get("/signatures/$made->{uuid}")->json->{submitters} }) {
        my $link = $signer->{signatureLink} =~ s/^\Q$base\E/$client->{base}/r;
        is(Sigreq::Signer->new(link => $link)->sign('Ann Lee')->code, 200, 'signed');
    }
    return;
}

sub history {
    my ($made, $event) = @_;
    my $query = { submissionId => $made->{uuid}, event => $event };
    return @{ $client->get('/webhooks/history', query => $query)->json->{data} };
}

sub settled {    # the rows of this event, when there are so many
    my ($made, $event, $count) = @_;
    wait_for(sub { history($made, $event) >= $count });
    my @rows = sort { $a->{url} cmp $b->{url} } history($made, $event);
    is(scalar @rows, $count, "$count rows of $event");
    return @rows;
}

sub mails_to { my $to = shift; return grep { $_->{to}[0] eq $to } $box->mails }

sub mail_to {    # the one
    my @mails = mails_to(@_);
    is(scalar @mails, 1, "one mail to $_[0]");
    return $mails[0] // {};
}

sub files_of {    # of a mail, as a mail program reads it: [name, size, beginning], …
    my $mail = shift;
    open my $out, '>:raw', "$apart->{dir}/mail.eml" or die $!;
    print $out $mail->{raw};
    close $out or die $!;
    my $code = 'import sys,json,email,email.policy;'
        . 'm=email.message_from_binary_file(open(sys.argv[1],"rb"),policy=email.policy.default);'
        . 'print(json.dumps([[p.get_filename(),p.get_content_type(),len(p.get_content()),p.get_content()[:5].decode()]'
        . ' for p in m.iter_attachments()]))';
    open my $in, '-|', 'python3', '-c', $code, "$apart->{dir}/mail.eml" or die $!;
    return @{ decode_json(do { local $/; <$in> }) };
}

subtest 'a copy for each recipient' => sub {
    serve(\@to);
    my $made = create([{ email => 's1@x.org', locale => 'de' }, { email => 'S2@x.org', locale => 'de' }, {}],
        name => 'Vertrag', form(copies => { to => ['signers', 'sender', 'legal@x.org', 's2@X.org', 'LEGAL@x.org'] }));
    is_deeply([map { $_->{email} } @{ $made->{copies}{links} }], ['ann@x.org', 'legal@x.org', 's2@X.org'],
        'the response has the links of those who are no signers');
    is($made->{copies}{sentAt}, undef, 'none was sent');
    is(scalar(settled($made, 'copy', 0)), 0, 'there is no copy before the end');
    sign($made);
    my @rows = settled($made, 'copy', 4);
    is_deeply([map { [@$_{qw(url success error)}] } @rows],
        [map { ["mailto:$_\@x.org", true, undef] } qw(S2 ann legal s1)], 'each address has one mail');
    my $done = $client->get("/signatures/$made->{uuid}")->json;
    like($done->{copies}{sentAt}, qr/^2/, 'the response says when');
    my $mail = mail_to('s1@x.org');
    my $link = $made->{submitters}[0]{signatureLink};
    like($mail->{$_}, qr/\Q$link\E/, "a signer gets their own link ($_)") for qw(plain html);
    is($mail->{headers}{subject}[0], "TEST: Ihre Kopie von \x{201e}Vertrag\x{201c}", 'in their language');
    like($mail->{plain}, qr/^Guten Tag Ann Lee,$/m, 'with their name');
    unlike($mail->{plain}, qr/90 Tage/, 'their link is not said to end');
    $mail = mail_to('legal@x.org');
    ($link) = map { $_->{viewLink} } grep { $_->{email} eq 'legal@x.org' } @{ $done->{copies}{links} };
    like($link, qr{^\Q$base\E/view/}, 'others have another link');
    like($mail->{$_}, qr/\Q$link\E/, "which is in the mail ($_)") for qw(plain html);
    like($mail->{html}, qr/<html lang="de"/, 'it is in the language of the signers');
    like($mail->{plain}, qr/^Guten Tag,$/m, 'a recipient without a name is greeted');
    like($mail->{$_}, qr/90 Tage/, "the mail says how long the link works ($_)") for qw(plain html);
    unlike($mail->{raw}, qr/\{\{|multipart\/mixed/, 'there is no placeholder and no file');
    is($client->post("/webhooks/history/$rows[2]{eventId}/redeliver")->code, 202, 'a copy is sent again on request');
    settled($made, 'copy', 5);
    is(scalar mails_to('legal@x.org'), 2, 'to the same address');
    is($client->get("/signatures/$made->{uuid}/audit")->json->{events}[-1]{event}, 'completed', 'without an event');
};

subtest 'repeated on request' => sub {
    my $made = create([{ email => 'r1@x.org' }], form(copies => { to => ['signers', 'r2@x.org'] }));
    my $path = "/signatures/$made->{uuid}/copies";
    is_error($client->post($path), 409, 'This submission is not completed yet', 'an open submission');
    sign($made);
    settled($made, 'copy', 2);
    my $res = $client->post($path);
    is_error($res, 429, qr/^Copies were sent less than 10 minutes ago, try again in \d+ s$/, 'at once');
    cmp_ok($res->headers->header('Retry-After'), '>', 500, 'it says when');
    sql("UPDATE submission SET copied_at = copied_at - 600000000", $apart->{params});
    sql("UPDATE viewer SET sent_at = sent_at - 600000000",         $apart->{params});
    my $before = sql("SELECT max(sent_at) FROM viewer WHERE email = 'r2\@x.org'", $apart->{params});
    $res = $client->post($path);
    is($res->code, 202, 'later') or diag $res->body;
    settled($made, 'copy', 4);
    cmp_ok(sql("SELECT max(sent_at) FROM viewer WHERE email = 'r2\@x.org'", $apart->{params}), '>', $before,
        'the link lives longer');
    my $audit = $client->get("/signatures/$made->{uuid}/audit")->json;
    is(chain_fault($audit), undef, 'the events are a chain');
    is($audit->{events}[-1]{event},         'copied', 'it is an event');
    is($audit->{events}[-1]{detail}{mails}, 2,        'which says how many mails');
    is($client->post($path)->code, 429, 'and then it waits again');
    my $other = create([{}]);
    is_error($client->post("/signatures/$other->{uuid}/copies"),
        409, 'This submission was created without copies', 'none');
    $other = create([{}], form(copies => { to => ['signers'] }));
    sign($other);
    is_error($client->post("/signatures/$other->{uuid}/copies"), 409, qr/^Nobody gets a copy/, 'no address');
    is($client->post('/signatures/6f1c1e0a-52a7-4a64-9d3c-0c6a3f3c8a11/copies')->code, 404, 'an unknown submission');
};

subtest 'another signer' => sub {
    my $made = create([{ email => 'old@x.org' }], form(copies => { to => ['signers'] }));
    my $path = "/signatures/$made->{uuid}/signers/$made->{submitters}[0]{uuid}/replace";
    is($client->post($path, json => { firstname => 'Eve', lastname => 'Lee', email => 'new@x.org' })->code,
        200, 'a signer is replaced');
    sign($made);
    my @rows = settled($made, 'copy', 1);
    is($rows[0]{url}, 'mailto:new@x.org', 'the new signer gets the copy');
};

subtest 'with the files' => sub {
    my $name = "\x{c4}nderung: \"A/B\" \x{202e}" . "\x{4f8b}" x 40;
    my $made = create([{ email => 'f1@x.org' }],
        name => encode('UTF-8', $name), files => [['a.pdf', pdf()], ["m\xc3\xbcll.PDF", pdf()]],
        form(copies => { to => ['signers', 'f2@x.org'], attach => true }));
    sign($made);
    my @rows = settled($made, 'copy', 2);
    is_deeply([map { $_->{error} } @rows], [undef, undef], 'both are accepted');
    for my $to (qw(f1 f2)) {
        my $mail  = mail_to("$to\@x.org");
        my @files = files_of($mail);
        is_deeply([map { $_->[0] } @files[0, 1]], ['a - signed.pdf', "m\x{fc}ll.PDF"],
            'the documents have their names');
        like($files[2][0], qr/^\x{c4}nderung_ _A_B_ \x{4f8b}{40} - certificate\.pdf$/,
            'the certificate has a safe name');
        is_deeply([map { "@$_[1, 3]" } @files], [('application/pdf %PDF-') x 3], 'all are PDFs');
        my $done = $client->get("/signatures/$made->{uuid}")->json;
        is($files[0][2], $done->{submitters}[0]{signedDocuments}[0]{size}, 'the document is whole');
        is($files[2][2], $done->{certificate}{size},                       'the certificate is whole');
        ok(!(grep { length > 998 } split /\r\n/, $mail->{raw}), 'no line is too long');
        unlike($mail->{head}, qr/[^\x20-\x7e\r\n\t]/, 'headers are ASCII');
        like($mail->{$_}, qr/certificate of completion are attached/, "the mail says so ($_)") for qw(plain html);
    }
    ok(!sql("SELECT 1 FROM job WHERE length(CAST(body AS text)) > 10000", $apart->{params}), 'no job holds a file');
};

subtest 'with files that are too large' => sub {
    my $made = create([{ email => 'g1@x.org' }], files => [['a.pdf', pdf(pad => 10 * 1024 * 1024)]],
        form(copies => { to => ['g2@x.org'], attach => true }));
    cmp_ok($made->{documents}[0]{size}, '>', 10 * 1024 * 1024, 'a large document');
    sign($made);
    settled($made, 'copy', 1);
    my $mail = mail_to('g2@x.org');
    is_deeply([files_of($mail)], [], 'there are no files');
    like($mail->{$_}, qr/too large for an email/, "the mail says so ($_)") for qw(plain html);
    like($mail->{plain}, qr{/view/}, 'it has the link');
    my $size = 10 * 1024 * 1024 - 300_000;
    $made = create([{ email => 'g3@x.org' }], files => [['a.pdf', pdf(pad => $size)]],
        form(copies => { to => ['signers', 'g4@x.org', 'g5@x.org'], attach => true }));
    sign($made);
    my @rows = settled($made, 'copy', 3);
    is_deeply([map { $_->{error} } @rows], [undef, undef, undef], 'smaller ones are sent');
    my @files = files_of(mail_to('g4@x.org'));
    cmp_ok($files[0][2], '>', $size, 'whole');
};

subtest 'what a mail server does' => sub {
    my $made = create([{ email => 'drop@x.org' }], form(copies => { to => ['signers', 'nobody@x.org', 'ok@x.org'] }));
    sign($made);
    my @rows = settled($made, 'copy', 3);
    is_deeply([map { $_->{success} } @rows], [false, false, true], 'the history has each');
    is($rows[1]{error}, '550 5.1.1 No such user', 'a refusal, with its reason');
    is(scalar mails_to('drop@x.org'), 1, 'a mail that the server may have is not repeated');
    is(sql("SELECT count(*) FROM job WHERE state <> 'done'", $apart->{params}), 0, 'nothing waits');
};

subtest 'children that are killed' => sub {
    my (@made, %sent);
    for my $i (1 .. 6) {
        push @made, create([{}], form(copies => { to => ["k$i\@x.org"], attach => $i % 2 ? true : false }));
        sign($made[-1]);
        kill KILL => children($apart->{httpd}->pid);
        ok(wait_for(sub { eval { $client->get('/health')->code == 200 } }), 'httpd is there');
    }
    ok(wait_for(sub { !sql("SELECT count(*) FROM job WHERE state <> 'done'", $apart->{params}) }), 'all jobs are over');
    $sent{ $_->{to}[0] }++ for $box->mails;
    is(scalar(grep { ($sent{"k$_\@x.org"} // 0) > 1 } 1 .. 6), 0, 'no copy is sent twice');
    my @lost = grep { !$sent{"k$_\@x.org"} && (history($made[$_ - 1], 'copy'))[0]{success} } 1 .. 6;
    is_deeply(\@lost, [], 'each that is said to be sent was sent');
};

subtest 'a submission that was deleted' => sub {
    serve([@to[0, 1]]);
    my $made = create([{}], form(copies => { to => ['later@x.org', 'gone@x.org'] }));
    sign($made);
    wait_for(sub { mails_to('gone@x.org') });
    ok(wait_for(sub { sql("SELECT count(*) FROM job WHERE state = 'scheduled' AND kind = 'copy'", $apart->{params}) }),
        'a copy waits');
    is($client->delete("/signatures/$made->{uuid}")->code, 204, 'the submission is deleted');
    is(sql("SELECT count(*) FROM job WHERE kind = 'copy' AND state <> 'done'", $apart->{params}), 0, 'nothing waits');
    is(sql("SELECT count(*) FROM viewer WHERE email = 'later\@x.org'", $apart->{params}), 0, 'no address stays');
    is($client->post("/signatures/$made->{uuid}/copies")->code, 410, 'and nothing is sent again');
};

subtest 'a link that was closed' => sub {
    my $made = create([{}], form(copies => { to => ['c1@x.org', 'c2@x.org'] }));
    sql("UPDATE viewer SET revoked_at = 1 WHERE email = 'c1\@x.org'", $apart->{params});
    sign($made);
    my @rows = settled($made, 'copy', 1);
    is($rows[0]{url}, 'mailto:c2@x.org', 'gets no copy');
    sql("UPDATE viewer SET revoked_at = 1 WHERE email = 'c2\@x.org'", $apart->{params});
    is($client->post("/webhooks/history/$rows[0]{eventId}/redeliver")->code, 202, 'a repetition');
    my ($row) = grep { !$_->{success} } settled($made, 'copy', 2);
    like($row->{error}, qr/^not sent, because the link shows nothing any more/, 'is not sent');
};

subtest 'viewers' => sub {
    my @viewers = ({ firstname => 'Lea', lastname => 'Holm', email => 'v1@x.org' },
        { firstname => 'Ben', lastname => 'Ito', email => 'v2@x.org', when => 'completed' },
        { firstname => 'Cem', lastname => 'Ay' });
    my $made = create([{ email => 'vs@x.org', locale => 'fr' }], sendEmail => 'true', form(viewers => \@viewers));
    my ($row) = settled($made, 'view', 1);
    is($row->{url}, 'mailto:v1@x.org', 'one who may look at once gets a mail');
    my $mail = mail_to('v1@x.org');
    like($mail->{plain}, qr/^Bonjour Lea Holm,$/m, 'with their name, in the language of the signers');
    like($mail->{plain}, qr/^\Q$made->{viewers}[0]{viewLink}\E$/m, 'with their link');
    unlike($mail->{plain}, qr/90 jours/, 'which does not end after some days');
    sign($made);
    settled($made, 'view', 2);
    mail_to('v2@x.org');
    is(sql("SELECT count(*) FROM viewer v JOIN submission s ON s.id = v.submission_id "
            . "WHERE s.uuid = '$made->{uuid}' AND v.sent_at IS NOT NULL", $apart->{params}), 3, 'all links are in use');
    $made = create([{ email => 'vs2@x.org' }], form(viewers => \@viewers));
    sign($made);
    is(sql("SELECT count(*) FROM job WHERE kind = 'view'", $apart->{params}), 2, 'without sendEmail nobody gets mail');
};

subtest 'what is refused' => sub {
    my $refused = sub {
        my ($copies, $message) = @_;
        is_text($client->create(form(copies => $copies)), 400, $message, $message);
    };
    $refused->({ to => ['signer'] }, 'copies: to must have signers, sender or email addresses');
    $refused->({ to => ["j\x{fc}rgen\@x.org"] }, 'copies: to must have signers, sender or email addresses');
    $refused->({ to => [map {"a$_\@x.org"} 1 .. 11] }, 'copies: to must be a list of 1 to 10 recipients');
    my @copies = form(copies => { to => ['l@x.org', 'sender'] });
    serve(\@to, 'SigreqMailLimit test-organization=5/h test-recipient=2/h');
    is($client->create(@copies)->code, 201, 'within the limit') for 1 .. 2;
    my $res = $client->create(@copies);
    is_error($res, 429, qr/^Too many test invitations of this organisation/, 'beyond the limit');
    serve(\@to, 'SigreqMailLimit test-organization=50/h test-recipient=1/h');
    $client->create(form(copies => { to => ['m@x.org'] }));
    is_error($client->create(form(copies => { to => ['m@x.org'] })), 429,
        qr/^Too many test invitations to one address \(of a copy or a viewer\)/, 'of one address');
    serve([]);
    is_error($client->create(@copies), 503, qr/^This service sends no mail \(SigreqSMTP\): copies must be left out/,
        'without a mail server');
    is($client->create(form(viewers => [{ firstname => 'A', lastname => 'B', email => 'a@x.org' }]))->code, 201,
        'viewers without mail need none');
};

done_testing;
