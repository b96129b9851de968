# SPDX-License-Identifier: Apache-2.0
# The verification page, <location>/verify: its HTML, its results for each kind of document in the reader's language,
# what it does not disclose, its limits, and that it exists only if SigreqVerifyPage is On.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use File::Temp 'tempdir';
use Mojo::UserAgent;
use Mojo::Util 'html_unescape';
use Sigreq::Here      qw(suite place organisation signed is_error);
use Sigreq::Multipart qw(part multipart BOUNDARY);
use Sigreq::PDF       qw(pdf pdf_of_size turned);
use Sigreq::Signer    'signers_of';
use Test::More;

my $ua   = Mojo::UserAgent->new->request_timeout(60);
my $type = 'multipart/form-data; boundary=' . BOUNDARY;
my ($live, $test) = map { suite->{dir} . "/$_" } qw(seal seal-test);

sub file { part('file', $_[0], filename => $_[1] // 'a.pdf', type => 'application/pdf') }
sub post_to { my ($path, $body, %h) = @_; $ua->post(place($path), { 'Content-Type' => $type, %h }, $body)->res }
sub check { my ($bytes, %h) = @_; post_to('/verify', multipart(file($bytes)), %h) }
sub finding { $_[0]->dom->at('main')->attr('data-verify') }
sub words { my $text = $_[0]->dom->at('main')->all_text; $text =~ s/[\x{2068}\x{2069}]//g; $text =~ s/\s+/ /g; $text }

my $plain = pdf(nonce => "verify page 1 $$");
my $ours  = signed($plain, $live, 'Ann Lee', 'Bob Ray');

subtest 'the page' => sub {
    my $res = $ua->get(place('/verify'))->res;
    is($res->code, 200, 'the page exists, without a token');
    is($res->headers->content_type, 'text/html; charset=utf-8', 'the page is HTML');
    my $policy = $res->headers->header('Content-Security-Policy');
    like($policy, qr/^default-src 'none'; script-src 'self'; style-src 'self'/, 'its policy allows its own files');
    unlike($policy, qr/unsafe|http/, 'the policy allows nothing else');
    is($res->headers->header('Referrer-Policy'), 'no-referrer', 'no Referer is sent');
    is($res->headers->header('Set-Cookie'), undef, 'no cookie');
    is($res->headers->cache_control, 'no-store', 'the page is not cached');
    is($ua->get(place("/$_"))->res->code, 200, "its file $_") for $res->body =~ /(?:href|src)="(sign\/assets\/[^"]+)"/g;
    unlike($res->body, qr/(?:href|src)="(?!sign\/assets\/|\?lang=)/, 'all its files are of this location');
    like($res->body, qr/<form method="post" enctype="multipart\/form-data"/, 'a form that works without JavaScript');
    like($ua->get(place('/deep/er/place/verify'))->res->body, qr/Check a signed document/, 'at a deeper place');
    is($ua->get(place('/verify/x'))->res->code, 404, 'there are no paths below it');
    like($ua->get(place('/verify/x'))->res->body, qr{href="\.\./sign/assets/page-}, 'an unknown path gets a page');
    is($ua->delete(place('/verify'))->res->code, 405, 'other methods are refused');
};

subtest 'SigreqVerifyPage Off' => sub {
    is($ua->get(place('/small/verify'))->res->code, 404, 'Off: no page');
    is(post_to('/small/verify', multipart(file($ours)))->code, 404, 'no document is checked');
};

subtest 'the findings' => sub {
    my $res = check($ours);
    is($res->code, 200, 'signed: status');
    is(finding($res), 'signed', 'the finding');
    my $words = words($res);
    like($words, qr/This document is intact All signatures are valid, and nothing was added/, 'one sentence');
    like($words, qr/a\.pdf/, 'the name of the file');
    like($words, qr/Ann Lee Intact Time of the signature 2026-11-20 18:09 UTC.*Bob Ray Intact/,
        'the name and the time of the signature');
    like($words, qr/Made by this service\./, 'the seal of the signatures');
    unlike($words, qr/test environment/, 'the signatures are of production');
    is(() = $words =~ /Covers the whole document/g, 1, 'the last one covers everything');
    is(() = $words =~ /Covers the document as it was then/g, 1,
        'the first signature covers the document as it was then');

    is(finding(check("$ours% more\n")), 'extended', 'something appended');
    (my $broken = $ours) =~ s/verify page \d/verify page x/ or die;
    $res = check($broken);
    is(finding($res), 'broken', 'a changed byte');
    like(words($res), qr/not intact.*Do not rely on it.*Ann Lee.*Damaged/, 'a changed byte is reported');
    is(finding(check($plain)), 'unsigned', 'a PDF without signatures');
    $res = check('nonsense');
    is($res->code, 200, 'a file that is not a PDF gets an answer');
    is(finding($res), 'unreadable', 'a file that is not a PDF gets the reason');

    $res = check(signed($plain, $test, 'Ann'));
    like(words($res), qr/made in a test environment. It is not legally binding.*in its test environment/,
        'a signature of the test environment');
    my $stranger = tempdir('stranger.XXXXXX', DIR => suite->{dir}, CLEANUP => 1) . '/pair';
    my @made = (suite->{source} . '/build/sigreqctl', 'seal', 'create', $stranger, '--name', 'Stranger & Sons');
    system(@made) == 0 or die;
    $res = check(signed($plain, $stranger, 'Ann Lee'));
    like(words($res), qr/Stranger & Sons Intact.*Not made by this service/, "a stranger's: by the certificate's name");
    unlike($res->body, qr/Stranger & Sons/, 'the name of a stranger\'s certificate is escaped');
    local $ENV{SIGN_ALIAS} = 'm';
    like(words(check(signed($ours, $stranger, 'M'))), qr/Not all of these signatures were made by this service/,
        'ours and a stranger\'s');
};

subtest 'changed between two signatures' => sub {
    my $turned = turned($ours);
    local $ENV{SIGN_ALIAS} = 'm';
    my $res = check(signed($turned, $test, 'Mallory'));
    is(finding($res), 'changed', 'the finding');
    like(words($res), qr/Changed after this signature, without an explanation: Page 1/, 'the page lists the changes');
    $res = check(signed($turned, $test, 'Mallory'), 'Accept-Language' => 'de');
    like(words($res), qr/Nach dieser Signatur ohne Erkl.rung ge.ndert: Seite 1/, "the page has the reader's language");
};

subtest 'the page does not tell what the service knows' => sub {
    my $org    = organisation();
    my $client = $org->{live};
    my $made   = $client->create(files => [['a.pdf', $plain]])->json;
    my ($ann)  = signers_of($made);
    $ann->sign('Ann Lee');
    my $sealed = $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body;
    my $known  = check($sealed);
    is(finding($known), 'signed', 'a document of this service');
    unlike($known->body, qr/\b\Q$made->{documents}[0]{uuid}\E/, 'the page does not have the uuid of the document');
    my $number = substr $made->{uuid}, 0, 8;
    my $facts  = sub { join ' ', $_[0]->dom->find('article > dl > div')->map('all_text')->join(' ') =~ /\S+/g };
    my $sealed_by = qr/Requested by \Q$org->{name}\E Request number $number Certificate holder (?!CN=)\S.*/;
    like($facts->($known), qr/^Time of the signature \S+ \S+ UTC $sealed_by$/, 'it names requester and seal in words');
    unlike($facts->($known), qr/CN=|submission/, 'the facts have no technical names');
    my $details = $known->dom->at('article details')->all_text;
    like($details, qr/Contact \Q$org->{name}, submission $made->{uuid}\E\s+Subject CN=/,
        'the technical names are among the details');
    my $proof = check($client->get("/signatures/$made->{uuid}/certificate")->body);
    like($proof->dom->at('article h2')->all_text, qr/^Certificate of completion\s+Intact$/,
        'the seal of a certificate of completion is not listed like a person');
    like($facts->($proof), $sealed_by, 'the seal of a certificate of completion has its holder');
    my $link = $made->{submitters}[0]{uuid};
    unlike($known->body, qr/\Q$link\E/, 'the page does not have the link');
    is(words(check($plain)) =~ s/\d+//gr, words(check(pdf(nonce => 'other'))) =~ s/\d+//gr,
        'a known upload gets the same text as an unknown one');
};

subtest 'requests without a document' => sub {
    my $res = post_to('/verify', multipart(part('x', 'y')));
    is($res->code, 400, 'a form without a file is refused');
    like(words($res), qr/Choose a PDF document first/, 'a form without a file gets the reason');
    is(post_to('/verify', multipart(part('file', '', filename => '', type => 'application/octet-stream')))->code, 400,
        'an empty field of a form');
    $res = check('');
    is($res->code, 400, 'an empty file');
    like(words($res), qr/This file is empty\. Choose another one/, 'an empty file gets the reason');
    is_error(check('', Accept => 'application/json'), 400, 'Exactly 1 file must be provided',
        'programs get JSON for an empty file');
    is(post_to('/verify', multipart(file($ours), file($plain)))->code, 400, 'two files');
    is($ua->post(place('/verify'), { 'Content-Type' => 'application/pdf' }, $ours)->res->code, 415,
        'a body that is not a form is refused');
    is(check($ours, Origin => 'https://elsewhere.example')->code, 403, "a form on a page of another site is refused");
    my $large = post_to('/tiny/verify', multipart(file(pdf_of_size(90_000))));
    is($large->code, 413, 'a large file');
    like(words($large), qr/too large/, 'a large file gets the reason');
    like(words($ua->get(place('/tiny/verify'))->res), qr/At most 64 kB/, 'the page shows the limit');
};

subtest 'the limit of requests' => sub {
    is(post_to('/tiny/verify', multipart(file('x')))->code, 200, "document $_ of two more") for 1 .. 2;
    my $res = post_to('/tiny/verify', multipart(file('x')));
    is($res->code, 429, 'the fourth request in an hour is refused');
    like(words($res), qr/Too many documents were checked/, 'the fourth request in an hour gets the reason');
    like($res->headers->header('RateLimit-Policy'), qr/"verify";q=3;w=3600/, 'the answer has the policy of the limit');
    like($res->headers->header('Retry-After'), qr/^\d+$/, 'the answer has Retry-After');
    is($ua->get(place('/tiny/verify'))->res->code, 200, 'requests for the page itself are not counted');
    is(check('x')->code, 200, 'another location has its own count');
};

subtest 'a token has no effect' => sub {
    my $org   = organisation();
    my $wrong = 'Bearer sigreq_test_' . 'x' x 40;
    is($ua->get(place('/tiny/verify'), { Authorization => $wrong })->res->code, 200, 'the page ignores a token');
    my @codes = map { $ua->get(place('/tiny/api/v3/tokens/current'), { Authorization => $wrong })->res->code } 1 .. 5;
    like("@codes", qr/429$/, 'wrong tokens are still limited');
};
done_testing;
