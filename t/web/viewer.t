# SPDX-License-Identifier: Apache-2.0
# The link of a viewer: what each of its routes shows in every state of the submission and of the link, and that nothing
# of it lets sign, or names a signer's link or address.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use Mojo::Date;
use Mojo::JSON 'encode_json';
use Sigreq::Client;
use Sigreq::Here qw(is_error organisation sql wait_for);
use Sigreq::Multipart 'part';
use Sigreq::PDF 'pdf';
use Sigreq::Signer qw(signers_of chain_fault);
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my %lea    = (firstname => 'Lea', lastname => 'Holm', email => 'lea@example.net');
my @robot  = ('User-Agent' => 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)');

# A submission of two signers with these viewers and form parts.
sub made {
    my ($viewers, %parts) = @_;
    my $res = $client->create(
        files   => [['a.pdf', pdf(nonce => "viewer $$ " . rand, pages => 2)]],
        signers => Sigreq::Client::signers(
            { email => 'ann@example.org' }, { firstname => 'Bob', area => { y => 200 } }),
        more    => [part('viewers', encode_json($viewers)), map { part($_, $parts{$_}) } sort keys %parts]);
    is($res->code, 201, 'a submission is created') or diag $res->body;
    return $res->json;
}

# The viewer with a number, as a client of their link.
sub viewer {
    my ($made, $number) = @_;
    return Sigreq::Signer->new(link => $made->{viewers}[$number // 0]{viewLink});
}
sub plain { return $_[0] =~ s/[\x{2066}-\x{2069}]//gr }    # without the marks around a name
sub shown { my $made = shift; return $client->get("/signatures/$made->{uuid}")->json }
sub events { my $made = shift; return $client->get("/signatures/$made->{uuid}/audit")->json->{events} }
sub sign_all { $_->sign for signers_of($_[0]); return }

# Every route of a viewer as a browser asks for it, and the link as JSON: the statuses in a line, and the answers.
sub routes {
    my ($viewer, $made) = @_;
    my $document = "/documents/$made->{documents}[0]{uuid}";
    my $sha256   = $made->{documents}[0]{sha256};
    my %html     = (headers => { Accept => 'text/html' });
    my @rest = ($document, "$document/pages/0?width=200", "$document/pages/0?width=200&version=$sha256",
        "$document/pages/0.png?width=200", "$document/pages/0.json", '/certificate');
    my @all = map { $viewer->get($_, %html) } '', @rest;
    return (join(' ', (map { $_->code } @all), $viewer->get('')->code), [@all, $viewer->get('')]);
}

# Nobody can sign with what a viewer sees.
sub is_harmless {
    my ($made, $answers, $what) = @_;
    my $text = join "\n", map { $_->body } grep { ($_->headers->content_type // '') !~ /^image|pdf/ } @$answers;
    my @secrets = map { ($_->{uuid}, $_->{email} // ()) } @{ $made->{submitters} };
    my @found = grep { $text =~ /\Q$_\E/i } @secrets;
    is("@found", '', "$what: neither the link nor the address of a signer is shown");
    unlike($text, qr{/sign/[\da-f]{8}-|name="action"|data-open="refuse"|<form}, "$what: nothing to sign with");
    return;
}

sub is_closed {
    my ($made, $viewer, $want, $what) = @_;
    my ($have, $answers) = routes($viewer, $made);
    is($have, $want, "$what: every route is closed");
    is_harmless($made, $answers, $what);
    my $page = $answers->[0]->dom;
    is($page->find('a[href*="/documents/"], .page')->size, 0, "$what: the page has no document");
    return $page->at('h1') ? $page->at('h1')->text : '';
}
my %closed = (
    later => '200 409 409 409 409 409 409 200', gone => '200 410 410 410 410 410 410 410',
    ended => '410 410 410 410 410 410 410 410', unknown => '404 404 404 404 404 404 404 404');
my $reading = '200 200 200 200 200 200 404 200';

subtest 'while it is open' => sub {
    my $made = made([\%lea, { %lea, firstname => 'Max', when => 'completed' }]);
    my ($ann) = signers_of($made);
    my $viewer = viewer($made);
    $viewer->request(HEAD => '');
    $viewer->get('', headers => { Accept        => 'text/html', @robot });
    $viewer->get('', headers => { 'Sec-Purpose' => 'prefetch' });
    is(shown($made)->{viewers}[0]{openedAt}, undef, 'HEAD, robots and prefetching open nothing');
    my ($have, $answers) = routes($viewer, $made);
    is($have, $reading, 'every route is open, and there is no certificate yet');
    is_harmless($made, $answers, 'open');
    my $state = $answers->[-1]->json;
    is_deeply($state->{viewer}, { map { $_ => $lea{$_} } qw(firstname lastname email) }, 'the state has the viewer');
    is_deeply($state->{signers}, [map { { firstname => $_, lastname => 'Lee', status => 'sent' } } qw(Ann Bob)],
        'the state has the names and states of the signers');
    is($state->{state}, 'viewing', 'the state');
    my $dom = $answers->[0]->dom;
    is(plain($dom->at('.lead')->text),
        'Lea Holm, you may read this. Nothing is asked of you.', 'the page says who they are');
    is($dom->find('.page img')->size, 2, 'the page has the pages, without a script');
    my $opened = shown($made)->{viewers}[0]{openedAt};
    ok($opened, 'the opening is shown');
    $viewer->get('', headers => { 'User-Agent' => 'Other' });
    is(shown($made)->{viewers}[0]{openedAt}, $opened, 'the first one alone');
    my @viewed = grep { $_->{event} eq 'viewed' } @{ events($made) };
    is(scalar @viewed, 1, 'there is one event');
    is_deeply($viewed[0]{detail}, { viewer => $made->{viewers}[0]{uuid} }, 'the event names the viewer');
    ok($viewed[0]{ip} && $viewed[0]{userAgent} && !$viewed[0]{signer}, 'the event has the client, and no signer');
    my $feed = sql("SELECT detail FROM feed f JOIN submission s ON s.id = f.submission_id "
            . "WHERE s.uuid = '$made->{uuid}' AND f.type = 'viewer.opened'");
    like($feed, qr/$made->{viewers}[0]{uuid}/, 'so does the feed');
    my $before = $viewer->get("/documents/$made->{documents}[0]{uuid}")->body;
    $ann->sign;
    my $after = $viewer->get("/documents/$made->{documents}[0]{uuid}")->body;
    ok(index($after, $before) == 0 && length $after > length $before, 'the viewer sees what is signed so far');
    is($viewer->state->{signers}[0]{status}, 'completed', 'and who has signed');
    is(is_closed($made, viewer($made, 1), $closed{later}, 'when completed'), 'Not available yet', 'one has to wait');
    my $audit = $client->get("/signatures/$made->{uuid}/audit")->json;
    is(chain_fault($audit), undef, 'the events are a chain');
};

subtest 'headers, and what is added to a link' => sub {
    my $made   = made([\%lea]);
    my $viewer = viewer($made);
    my $page   = $viewer->get('', headers => { Accept => 'text/html' });
    my %want   = (
        'Referrer-Policy' => qr/^no-referrer$/, 'Cache-Control' => qr/^no-store$/, 'X-Robots-Tag' => qr/noindex/,
        'Content-Security-Policy' => qr/default-src 'none'.*frame-ancestors 'none'/);
    like($page->headers->header($_), $want{$_}, "the page has $_") for sort keys %want;
    my $pdf = $viewer->get("/documents/$made->{documents}[0]{uuid}");
    is($pdf->headers->cache_control, 'private, no-cache', 'a download is not cached');
    is($viewer->get(').', headers => { Accept => 'text/html' })->headers->location, $viewer->{link}, 'a tail is cut');
    is($viewer->get("?lang=$_", headers => { Accept => 'text/html' })->dom->at('html')->{lang}, $_, "in $_")
        for qw(de ar);
    is($viewer->request(POST => '', json => { action => 'refuse' })->code, 405, 'nothing can be sent');
    is($viewer->get($_, headers => { Accept => 'text/html' })->code, 404, "there is no $_")
        for '/preview', '/check', '/visit', '/login', '/qr.svg', '/code';
    my $base = $viewer->{link} =~ s{/view/.*}{}r;
    my ($signer, $uuid) = ($made->{submitters}[0]{uuid}, $made->{viewers}[0]{uuid});
    my $get = sub { return Sigreq::Signer->new(link => "$base$_[0]")->get('', headers => { 'X-Test' => 1 }) };
    is_error($get->("/view/$signer"), 404, 'Not found');
    is_error($get->("/sign/$uuid"),   404, 'Not found');
    is($get->("/sign/$uuid/documents/$made->{documents}[0]{uuid}")->code, 404, 'no document by a signing link');
    $get->("/sign/$signer/documents/$made->{documents}[0]{uuid}/pages/0?width=200") for 1, 2;
    is($get->("/view/$signer/documents/$made->{documents}[0]{uuid}/pages/0?width=200")->code,
        404, 'the permission of a signer is not one of a viewer');
    my $other = made([\%lea]);
    is($viewer->get("/documents/$other->{documents}[0]{uuid}")->code, 404, 'no document of another submission');
    is($viewer->get("/documents/$other->{documents}[0]{uuid}/pages/0")->code, 404, 'nor its pages');
    is($get->('/view/' . uc $uuid)->code, 200, 'a uuid in upper case is the same link');
};

subtest 'completed' => sub {
    my $made = made([{ %lea, when => 'completed' }]);
    sign_all($made);
    my $viewer = viewer($made);
    my ($have, $answers) = routes($viewer, $made);
    is($have, '200 200 200 200 200 200 200 200', 'every route is open');
    is_harmless($made, $answers, 'completed');
    is($answers->[-1]->json->{state}, 'completed', 'the state');
    is(sha256_hex($answers->[1]->body), shown($made)->{submitters}[0]{signedDocuments}[0]{sha256},
        'the document is the sealed one');
    is(sha256_hex($answers->[6]->body), shown($made)->{certificate}{sha256}, 'the certificate');
    ok($answers->[0]->dom->at('a[href$="/certificate"]'), 'the page offers it');
    ok(shown($made)->{viewers}[0]{openedAt}, 'the opening of a completed one is recorded');
    is($client->delete("/signatures/$made->{uuid}")->code, 204, 'it is deleted');
    is_closed($made, $viewer, $closed{unknown}, 'deleted');
};

subtest 'closed by others' => sub {
    my $cancelled = made([\%lea]);
    viewer($cancelled)->get('');
    $client->post("/signatures/$cancelled->{uuid}/cancel");
    is(is_closed($cancelled, viewer($cancelled), $closed{gone}, 'cancelled'), 'This request was withdrawn', 'the page');
    my $refused = made([\%lea]);
    my ($ann) = signers_of($refused);
    $ann->refuse('no');
    is(is_closed($refused, viewer($refused), $closed{later}, 'refused'), 'This request is closed', 'the page');
    my $short = made([\%lea], expiresAt => Mojo::Date->new(time + 2)->to_datetime);
    my $late = viewer($short);
    my $page = "/documents/$short->{documents}[0]{uuid}/pages/0?width=200";
    is($late->get($page)->code, 200, 'before the deadline there is a page');
    ok(wait_for(sub { $late->get($page)->code == 410 }), 'after it, there is none');
    is(is_closed($short, $late, $closed{gone}, 'expired'), 'The deadline has passed', 'the page');
};

subtest 'revoked' => sub {
    for my $completed (0, 1) {
        my $made = made([\%lea, { %lea, firstname => 'Max' }]);
        sign_all($made) if $completed;
        my $viewer = viewer($made);
        routes($viewer, $made);    # into the caches
        is($client->delete("/signatures/$made->{uuid}/viewers/$made->{viewers}[0]{uuid}")->code, 204, 'it is revoked');
        is(is_closed($made, $viewer, $closed{ended}, 'revoked'), 'This link is no longer valid', 'the page');
        like($viewer->get('', headers => { Accept => 'text/html' })->dom->at('.lead')->text,
            qr/^You can no longer use it/, 'and why');
        is(viewer($made, 1)->get('')->code, 200, 'the other viewer goes on');
    }
};

subtest 'a copy' => sub {
    my $made = made([\%lea]);
    my $uuid = $made->{viewers}[0]{uuid};
    sql("UPDATE viewer SET kind = 'copy', shown_when = 'completed', firstname = NULL, lastname = NULL "
            . "WHERE uuid = '$uuid'");
    my $viewer = viewer($made);
    is(is_closed($made, $viewer, $closed{later}, 'not completed'), 'Not available yet', 'the page');
    my $sent = sub { sql("UPDATE viewer SET sent_at = $_[0] WHERE uuid = '$uuid'") };
    sign_all($made);
    $sent->('NULL');
    is(is_closed($made, $viewer, $closed{later}, 'not mailed'), 'Not available yet', 'the page');
    my $day  = 24 * 3600 * 1_000_000;
    my $now  = time * 1_000_000;
    $sent->($now - 90 * $day + 3600 * 1_000_000);
    my ($have, $answers) = routes($viewer, $made);
    is($have, '200 200 200 200 200 200 200 200', 'before 90 days are over');
    like(plain($answers->[0]->dom->at('.lead')->text),
        qr/^lea\@example\.net, you may read/, 'the page has the address');
    $sent->($now - 90 * $day - 1);
    ok(wait_for(sub { $viewer->get("/documents/$made->{documents}[0]{uuid}/pages/0?width=200")->code == 410 }),
        'after 90 days the cache permits nothing');
    is(is_closed($made, $viewer, $closed{ended}, 'over'), 'This link is no longer valid', 'the page');
    $sent->($now);
    is($viewer->get('')->code, 200, 'a copy that was mailed again is open again');
};

done_testing;
