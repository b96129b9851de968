# SPDX-License-Identifier: Apache-2.0
# The sender's words in mails: subject, text and replyTo of invitations and reminders, and texts for signers who cannot
# decline. Nothing that the sender writes is markup, a header or a link.
use strict;
use warnings;
use utf8;
use Mojo::DOM;
use Mojo::File 'path';
use Mojo::JSON qw(encode_json false);
use Mojo::Util qw(encode);
use Sigreq::Apart;
use Sigreq::Client;
use Sigreq::Here 'wait_for';
use Sigreq::Mailbox;
use Sigreq::Multipart 'part';
use Test::More;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);
my $apart = Sigreq::Apart->new(organization => 'Org', lastname => 'Roe');
my $box   = Sigreq::Mailbox->new;
my $space = "\x{200b}";
my $client;

sub serve {
    my @place = (place => "Sigreq On\nSigreqBaseURL https://sign.example.org/e");
    my @server = ("SigreqSMTP smtp://127.0.0.1:$box->{port}", 'SigreqMailFrom sign@example.org', @_);
    $client = $apart->serve(server => join("\n", @server), @place);
}

sub made {    # address, form parts → submission
    my ($to, %part) = @_;
    my $locale = delete $part{locale};
    my @more = map { part($_, ref $part{$_} ? encode_json($part{$_}) : $part{$_}) } sort keys %part;
    my $res = $client->create(sendEmail => 'true', more => \@more,
        signers => Sigreq::Client::signers({ email => $to, $locale ? (locale => $locale) : () }));
    is($res->code, 201, 'created') or diag $res->body;
    return $res->json;
}

sub mail_to {    # the mail number N to an address
    my ($to, $number) = @_;
    my @mails;
    wait_for(sub { @mails = grep { $_->{to}[0] eq $to } $box->mails; @mails > $number });
    return $mails[$number];
}

sub quoted { return Mojo::DOM->new($_[0]{html})->at('blockquote') }

serve();
subtest 'an invitation and a reminder' => sub {
    my $text = "Dear <script>alert(1)</script> Ann,\n\n{{link}} see https://evil.example/a?b or "
        . "b\@evil.example, www.evil.example.\n👩‍💻 bye. Now";
    my %words = (subject => 'Your <lease> 4 «é» 👩‍💻', text => $text);
    my $made = made('a@x.org', message => \%words, replyTo => 'legal@example.org');
    my $mail = mail_to('a@x.org', 0);
    is($mail->{headers}{subject}[0], 'TEST: Your <lease> 4 «é» 👩‍💻', 'the subject is that of the sender');
    is($mail->{headers}{'reply-to'}[0], 'legal@example.org', 'Reply-To is the address of the request');
    is(scalar(grep { @$_ != 1 } values %{ $mail->{headers} }), 0, 'each header is there once');
    unlike($mail->{head}, qr/[^\x20-\x7e\r\n\t]/, 'headers are ASCII');
    my $safe = "Dear <script>alert(1)</script> Ann,\n\n{{link}} see https:$space//evil.${space}example/a?b or "
        . "b\@${space}evil.${space}example, www.${space}evil.${space}example.\n👩‍💻 bye. Now";
    my $lines = join "\n", map {"> $_"} split /\n/, $safe, -1;
    like($mail->{plain}, qr/^Message from Ann Roe:\n\Q$lines\E\n\nDocument to sign:$/m, 'the text quotes the message');
    like($mail->{plain}, qr/Reply to this email to reach Ann Roe/, 'the text says that replies arrive');
    my $quote = quoted($mail);
    is($quote->{dir}, 'auto', 'the HTML has the message in its own direction');
    is($quote->find('*')->map('tag')->uniq->join(' '), 'br', 'it is no markup');
    is($quote->all_text =~ s/^\n|\n$//gr, $safe, 'it has the same text');
    like($mail->{html}, qr{<title>Your &lt;lease&gt; 4}, 'the title is the subject');
    is(Mojo::DOM->new($mail->{html})->find('a')->map(attr => 'href')->uniq->join(' '),
        $made->{submitters}[0]{signatureLink}, 'the only link is that of the signer');

    is($client->post("/signatures/$made->{uuid}/signers/$made->{submitters}[0]{uuid}/remind")->code, 202, 'a reminder');
    $mail = mail_to('a@x.org', 1);
    is($mail->{headers}{subject}[0], 'TEST: Reminder: Your <lease> 4 «é» 👩‍💻', 'has the subject');
    like($mail->{plain}, qr/^\Q$lines\E$/m, 'has the message');
    is($mail->{headers}{'reply-to'}[0], 'legal@example.org', 'has replyTo');
};

subtest 'without a subject, from right to left' => sub {
    my $text = "שלום\n" . 'x' x 1990;
    made('b@x.org', locale => 'he', message => { text => $text });
    my $mail = mail_to('b@x.org', 0);
    like($mail->{headers}{subject}[0], qr/Lease/, 'the subject is that of the service');
    like($mail->{headers}{'reply-to'}[0], qr/^Ann Roe </, 'replies go to the sender');
    is(quoted($mail)->all_text =~ s/^\n|\n$//gr, $text, 'the message is there');
    like($mail->{html}, qr/<html lang="he" dir="rtl">/, 'the mail is from right to left');
};

subtest 'without words' => sub {
    made('c@x.org');
    my $mail = mail_to('c@x.org', 0);
    ok(!quoted($mail), 'the HTML has no quotation');
    unlike($mail->{plain}, qr/^>|\n\n\n|Message from/m, 'the text has none');
    like($mail->{plain}, qr/then sign or decline/, 'the text says that one can decline');
};

subtest 'who cannot decline' => sub {
    made('d@x.org', refusal => { allowed => false }, expiresAt => Mojo::Date->new(time + 86400)->to_datetime);
    my $mail = mail_to('d@x.org', 0);
    unlike("$mail->{plain} $mail->{html}", qr/declin/i, 'the mail does not say that one can');
    like($mail->{plain}, qr/^Please sign by .*\.$/m, 'it has the deadline');
};

subtest 'own templates, and a service that does not name senders' => sub {
    my $folder = "$apart->{dir}/templates";
    path($folder)->make_path;
    my $line = '{{#words}}{{#lines}}%s{{/lines}}{{/words}}';
    path("$folder/invitation.txt")->spurt("Subject: Ours\n{{signer}}\n", sprintf($line, "| {{.}}\n"), "{{link}}\n");
    path("$folder/invitation.html")->spurt('<p>', sprintf($line, '<i>{{.}}</i>'), '</p>');
    serve("SigreqMailTemplates $folder", 'SigreqMailRequester Off');
    made('e@x.org', message => { subject => 'Mine', text => "One\n<two>" }, replyTo => 'legal@example.org');
    my $mail = mail_to('e@x.org', 0);
    is($mail->{headers}{subject}[0], 'TEST: Mine', 'the subject of the request replaces that of the template');
    like($mail->{plain}, qr/^\| One\n\| <two>\nhttps/m, 'the template has the lines');
    like($mail->{html}, qr{<i>One</i><i>&lt;two&gt;</i>}, 'escaped in HTML');
    is($mail->{headers}{'reply-to'}[0], 'legal@example.org', 'replyTo counts without names, too');
    made('f@x.org');
    is(mail_to('f@x.org', 0)->{headers}{subject}[0], 'TEST: Ours', 'without one it is that of the template');
};
done_testing;
