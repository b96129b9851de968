# SPDX-License-Identifier: Apache-2.0
# The words and choices of one request: message, replyTo, signatureTypes and refusal. What a creation may say, what the
# API and the signing page show, and what signers can do then.
use strict;
use warnings;
use utf8;
use MIME::Base64 'encode_base64';
use Mojo::DOM;
use Mojo::JSON qw(encode_json true false);
use Mojo::Util qw(decode encode);
use Sigreq::Client;
use Sigreq::Here qw(organisation is_error is_text sql);
use Sigreq::Multipart 'part';
use Sigreq::Signer 'signers_of';
use Test::More;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);
my $client  = organisation()->{test};
my %browser = (Accept => 'text/html', 'Accept-Language' => 'en');
my $png     = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18'
    . 'U1AAAAABJRU5ErkJggg==';

sub parts {
    my %part = @_;
    return (more => [map { part($_, ref $part{$_} ? encode_json($part{$_}) : $part{$_}) } sort keys %part]);
}

sub made {    # form parts, `signers`, `skipIntro` → submission, and its first signer
    my %parts = @_;
    my %own = map { ($_ => delete $parts{$_}) } grep { exists $parts{$_} } qw(signers skipIntro);
    my $res = $client->create(%own, parts(%parts));
    is($res->code, 201, 'created') or diag $res->body;
    return ($res->json, signers_of($res->json));
}
sub is_rejected {    # a creation, with this text or one that matches
    my ($res, $text) = @_;
    return is_text($res, 400, $text) if !ref $text;
    return is($res->code, 400, $text) && like($res->body, $text, $text);
}
sub page { my $signer = shift; return Mojo::DOM->new(decode('UTF-8', $signer->get('', headers => \%browser)->body)) }

subtest 'without them' => sub {
    my ($made, $signer) = made();
    is((grep { exists $made->{$_} } qw(status message replyTo signatureTypes refusal)), 0, 'the answer has no member');
    is((grep { exists $signer->state->{$_} } qw(message signatureTypes refusal)), 0, 'the state has no member');
    my $page = page($signer);
    ok(!$page->at('.words'), 'the page has no words');
    is($page->find('[role=tab]')->size, 3, 'the page offers all types');
    is($page->find('[data-open=refuse]')->size, 2, 'the page offers to decline');
};

subtest 'what is rejected' => sub {
    my %wrong = (
        message => [
            ['{"text": "a", "subject": "b\r\nBcc: c@x.org"}', 'message: subject must be one line'],
            ['{"text": "a\u0000"}',                           qr/^message must be a JSON object: /],
            ["{\"text\": \"\xff\"}",                          qr/^message must be a JSON object: /],
            [{ text => 'x' x 2001 },                          'message: text must have at most 2000 characters'],
            [{ text => 'x', subject => 'x' x 201 },           'message: subject must have at most 200 characters'],
            [{ text => "\x{200b}\n" },                        'message: text must be a text that is not blank'],
            [{ text => 'a', html => 'b' },                    'message: unknown member html']
        ],
        replyTo        => [["a\@x.org\r\nBcc: b\@x.org", 'replyTo must be an email address'],
            ['Ann <a@x.org>', 'replyTo must be an email address']],
        signatureTypes => [['typed,scribbled', qr/^signatureTypes must be typed, drawn or uploaded/]],
        refusal        => [[{ reason => 'please' }, 'refusal: reason must be required or optional'],
            [{ allowed => false, reason => 'required' }, 'refusal: there is no reason if allowed is false']]);
    for my $part (sort keys %wrong) {
        is_rejected($client->create(parts($part => $_->[0])), $_->[1]) for @{ $wrong{$part} };
    }
};

subtest 'the same key with other words' => sub {
    my %key = (headers => { 'Idempotency-Key' => "words $$" });
    my $first = $client->create(%key, parts(message => { text => 'One' }));
    is($first->code, 201, 'created');
    is($client->create(%key, parts(message => { text => 'One' }))->body, $first->body, 'a replay');
    is_error($client->create(%key, parts(message => { text => 'Two' })), 409, qr/\bmessage\b/);
    is_error($client->create(%key, parts(message => { text => 'One' }, refusal => { allowed => false })),
        409, qr/\brefusal\b/);
    is_error($client->create(%key), 409, qr/\bmessage\b/);
};

subtest 'the message' => sub {
    my $text = "\x{feff}Dear <b>Ann</b> &amp; Zoë,\r\n\r\nsee https://evil.example\x{202e}\x{2066} 👩‍💻\n";
    my $shown = "Dear <b>Ann</b> &amp; Zoë,\n\nsee https://evil.example 👩‍💻";
    my ($made, $signer) = made(message => { subject => 'Your <lease>', text => $text }, replyTo => 'legal@example.org');
    is_deeply($made->{message}, { subject => 'Your <lease>', text => $shown }, 'the answer has it as it is shown');
    is($made->{status}, 'open', 'the answer has a status');
    is_deeply($made->{warnings}, ['without sendEmail, replyTo is used only for mails that are requested later'],
        'a warning says that nobody replies');
    is_deeply($client->get("/signatures/$made->{uuid}")->json, $made, 'GET shows the same');
    is_deeply($signer->state->{message}, $made->{message}, 'the signer gets it');
    my $page = page($signer);
    is($page->at('.words figcaption')->text,
        "Message from \x{2068}Kim Roe\x{2069}", 'the page says whose words they are');
    is($page->at('.intro .words p[dir=auto]')->text, $shown, 'the page shows it as text');
    is($page->find('.words a, .words b, .words details')->size, 0, 'it is no markup, and short');
    unlike($page->to_string, qr/legal\@example\.org/, 'the page does not show replyTo');
    my ($event) = @{ $client->get("/signatures/$made->{uuid}/audit")->json->{events} };
    is_deeply($event->{detail}{message}, $made->{message}, 'it is in the evidence');
    ok($event->{commitments}{$_}, "there is a commitment to $_") for 'detail.message', 'detail.replyTo';
    $signer->refuse('No');
    is($client->delete("/signatures/$made->{uuid}")->code, 204, 'the submission is deleted');
    my $audit = $client->get("/signatures/$made->{uuid}/audit")->body;
    unlike($audit, qr/evil\.example|legal\@example|Your/, 'what is left has no words');
    is(sql("SELECT coalesce(options, '') FROM submission WHERE uuid = '$made->{uuid}'"), '', 'nor has the row');
};

subtest 'long messages' => sub {
    my ($made, $signer) = made(message => { text => "Wort\n" . 'viele Worte ' x 160 }, skipIntro => 'true');
    my $page = page($signer);
    ok($page->at('.slim .words details'), 'without an introduction it is above the documents, and folded');
    my @parts = map { $_->text } $page->find('.words p')->each;
    is(scalar @parts, 2, 'its beginning is shown');
    is("@parts", $made->{message}{text}, 'nothing of it is lost');
    ($made, $signer) = made(message => { text => join "\n", 1 .. 40 });
    is(page($signer)->at('.words p')->text, join("\n", 1 .. 10), 'ten lines are shown');
    ($made, $signer) = made(message => { text => join "\n", 1 .. 15 });
    is(page($signer)->at('.words p')->text, $made->{message}{text}, 'a few more are not folded');
    ($made, $signer) = made(message => { text => 'x' x 2000 });
    is(page($signer)->at('.words p')->text, 'x' x 2000, 'a long word stays in one piece');
    ($made, $signer) = made(message => { text => 'é' x 1990 . ' مرحبا' });
    is(join(' ', map { $_->text } page($signer)->find('.words p')->each), $made->{message}{text}, 'no letter is cut');
};

subtest 'a signer who is not due' => sub {
    my ($made, $first, $later) = made(
        signers => Sigreq::Client::signers({}, { order => 2 }), message => { text => 'Secret words' });
    unlike($later->get('', headers => \%browser)->body, qr/Secret words/, 'the page does not show it');
    ok(!exists $later->state->{message}, 'the state does not have it');
};

my %signatures = (
    typed    => { type => 'typed', text => 'Ann Lee' },
    drawn    => { type => 'drawn', width => 100, height => 50, strokes => [[[1, 1, 0], [50, 20, 10], [99, 49, 20]]] },
    uploaded => { type => 'uploaded', image => $png });
sub sign {
    my ($signer, $type, %more) = @_;
    return $signer->post(
        json => { action => 'sign', consent => true, signature => $signatures{$type}, %more });
}

subtest 'types of signatures' => sub {
    my ($made, $signer) = made(signatureTypes => 'uploaded,drawn');
    is_deeply([$made->{signatureTypes}, $signer->state->{signatureTypes}], [(['uploaded', 'drawn']) x 2], 'are shown');
    my $page = page($signer);
    is($page->find('#signature [role=tab]')->map(attr => 'data-kind')->join(' '),
        'drawn uploaded', 'the page has tabs for them');
    is($page->find('#signature [role=tabpanel]')->size, 2, 'and no other panel');
    is($page->at('[data-pad]')->{'aria-label'}, 'Area to draw your signature', 'no text names the others');
    ok(!$page->at('.plain-only input[name=typed]'), 'there is no form to type the name');
    like($page->at('.plain-only .note')->text, qr/JavaScript/, 'without scripts the page says that they are needed');
    ok($page->at('.plain-only textarea[name=reason]'), 'without scripts one can decline');
    is_error(sign($signer, 'typed'), 400, 'The signature must be uploaded or drawn');
    is($signer->post(form => { action => 'sign', consent => 'yes', typed => 'Ann' }, headers => \%browser)->code, 400,
        'a form with a name');
    is($signer->state->{state}, 'opened', 'nothing is signed');
    is(sign($signer, 'uploaded')->json->{state}, 'completed', 'an uploaded one is accepted');

    ($made, $signer) = made(signatureTypes => 'drawn');
    ok($page = page($signer), 'one type');
    ok(exists $page->at('#signature [role=tablist]')->{hidden}, 'there is nothing to choose');
    is(sign($signer, 'drawn')->json->{state}, 'completed', 'a drawn one is accepted');
    ($made, $signer) = made(signatureTypes => 'typed');
    ok(page($signer)->at('.plain-only input[name=typed]'), 'the page for typed ones has a form');
    is($signer->post(form => { action => 'sign', consent => 'yes', typed => 'Ann' })->code, 303, 'a form is accepted');
};

subtest 'types of initials' => sub {
    my $signers = Sigreq::Client::signers();
    push @{ $signers->[0]{fields} }, { type => 'initials', name => 'I', document => 'a.pdf',
        area => { x => 72, y => 200, w => 60, h => 30, page => 0 } };
    my ($made, $signer) = made(signers => $signers, signatureTypes => 'drawn');
    is_error(sign($signer, 'drawn'), 400, 'The initials must be drawn');
    is_error(sign($signer, 'drawn', initials => $signatures{typed}), 400, 'The initials must be drawn');
    is(sign($signer, 'drawn', initials => $signatures{drawn})->code, 200, 'drawn ones are accepted');
};

subtest 'declining is not possible' => sub {
    my ($made, $signer) = made(refusal => { allowed => false });
    is_deeply([$made->{refusal}, $signer->state->{refusal}], [({ allowed => false }) x 2], 'it is shown');
    my $page = page($signer);
    is($page->find('[data-open=refuse], #refuse, [name=reason], [value=refuse]')->size, 0, 'the page offers nothing');
    is_error($signer->refuse('No'), 409, 'This signature request cannot be refused');
    is($signer->post(form => { action => 'refuse' }, headers => \%browser)->code, 409, 'a form');
    is($signer->sign->code, 200, 'signing is possible');
    is_error($signer->refuse('No'), 409, 'You have signed already, and can no longer refuse');
};

subtest 'declining needs a reason' => sub {
    my ($made, $signer) = made(refusal => { reason => 'required' });
    my $page = page($signer);
    ok(exists $page->at("$_")->{required}, "$_ is required") for '#reason', '#plain-reason';
    is($page->at('label[for=reason]')->text, 'Reason', 'the label does not say that it is optional');
    for my $reason (undef, '', " \x{200b}\n") {
        is_error($signer->refuse($reason), 400, 'A reason must be provided');
    }
    my $again = $signer->post(form => { action => 'refuse', reason => ' ' }, headers => \%browser);
    is($again->code, 400, 'a form without a reason');
    my $shown  = Mojo::DOM->new(decode('UTF-8', $again->body));
    my $reason = $shown->at('details[open] #plain-reason');
    is($reason->{'aria-invalid'}, 'true', 'is shown again');
    is($shown->at("#$reason->{'aria-describedby'}")->text, 'Please give a reason.', 'it says what is missing');
    ok(!$shown->at('#plain-sign ~ form .error'), 'the form to sign has no error');
    is($signer->state->{state}, 'opened', 'nothing has happened');
    is($signer->refuse('Too expensive')->json->{state}, 'refused', 'with a reason it is possible');
};

subtest 'with a check before signing' => sub {
    my $check = { method => 'code', code => '4711-KX', when => 'sign' };
    for my $refusal ({ allowed => false }, { reason => 'required' }) {
        my $signers = Sigreq::Client::signers({ authentication => $check });
        my ($made, $signer) = made(signers => $signers, refusal => $refusal);
        my $page = Mojo::DOM->new($signer->get('/check', headers => \%browser)->body);
        is($page->at('[data-identity] p')->text =~ /decline/ ? 1 : 0,
            $refusal->{reason} ? 1 : 0, 'the check says what follows');
        is($signer->refuse->code, $refusal->{reason} ? 403 : 409, 'declining before the check');
        my $url = $signer->request(POST => '/check', json => { code => '4711-KX' })->json->{url};
        my $known = Sigreq::Signer->new(link => $url);
        is($known->refuse->code, $refusal->{reason} ? 400 : 409, 'declining after it, without a reason');
    }
};

subtest 'a preview, and a template' => sub {
    my $preview = $client->request(POST => '/signatures/preview',
        $client->creation_options(parts(message => { text => 'Words' }, signatureTypes => 'drawn')))->json;
    is_deeply([@$preview{qw(message signatureTypes)}], [{ text => 'Words' }, ['drawn']], 'a preview shows them');
    my ($made) = made(message => { text => 'Words' }, refusal => { allowed => false });
    my $copy = $client->create(files => undef, signers => [{ firstname => 'Bob', lastname => 'Ray' }],
        more => [part('template', $made->{template}{uuid})]);
    is($copy->code, 201, 'a submission from a template') or diag $copy->body;
    is((grep { exists $copy->json->{$_} } qw(message refusal)), 0, 'does not have them');
};
done_testing;
