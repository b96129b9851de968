# SPDX-License-Identifier: Apache-2.0
# The page of a link whose signer has to wait, or whose request was withdrawn, has expired or has another signer; and
# where the page leads after signing.
use strict;
use warnings;
use Mojo::Date;
use Sigreq::Client;
use Sigreq::Here qw(organisation place is_text wait_for);
use Sigreq::Multipart 'part';
use Sigreq::Signer 'signers_of';
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my $timed  = $client->with(base => place('/timed'));

sub made {
    my ($where, $signers, %parts) = @_;
    my $res = $where->create(
        signers => Sigreq::Client::signers(@$signers),
        more    => [map { part($_, $parts{$_}) } sort keys %parts]);
    is($res->code, 201, 'a submission is created') or diag $res->body;
    return $res->json;
}

# What a browser is shown: the status, the text of the heading, the number of documents.
sub page {
    my ($signer, $path) = @_;
    my $res = $signer->get($path // '', headers => { Accept => 'text/html' });
    my $dom = $res->dom;
    my $h1  = $dom->at('h1');
    return join ' | ', $res->code, $h1 ? $h1->text : '', $dom->find('a[href*="/documents/"]')->size;
}

# The facts that the page shows, in a line, and the shape of its icon.
sub facts {
    my $signer = shift;
    my $dom    = $signer->get('', headers => { Accept => 'text/html' })->dom;
    return (join(' ', $dom->find('.facts dt, .facts dd')->map('all_text')->join(' ') =~ /\S+/g),
        $dom->at('.sign path')->{d});
}

subtest 'a signer who is not due yet' => sub {
    my $made = made($client, [{ order => 2 }, {}]);
    my ($bob, $ann) = signers_of($made);
    is(page($bob), "200 | It\x{2019}s not your turn yet | 0", 'the page says so, and shows no document');
    my ($facts) = facts($bob);
    my $number = substr $made->{uuid}, 0, 8;
    like($facts, qr/^From .+, \Q$org->{name}\E\S+@\S+ For Ann Lee Sent [\d-]{10} Request number $number$/,
        'the page names sender, signer and request number');
    my %form    = (action => 'sign', consent => 'yes', typed => 'Bob Lee');
    my $refused = $bob->post(headers => { Accept => 'text/html' }, form => \%form);
    is($refused->code, 409, 'the form of the page is refused');
    $ann->sign('Ann Lee');
    unlike(page($bob), qr/turn/, 'when the others have signed, the page has the document');
};

subtest 'withdrawn, expired, replaced' => sub {
    my $made = made($client, [{}, {}]);
    my ($ann, $bob) = signers_of($made);
    my $path = "/signatures/$made->{uuid}";
    my $eve  = { firstname => 'Eve', lastname => 'Lee' };
    is($client->post("$path/signers/$made->{submitters}[1]{uuid}/replace", json => $eve)->code, 200, 'one is replaced');
    is(page($bob), '410 | This link is no longer valid | 0', 'the old link says so');
    is($client->post("$path/cancel")->code, 200, 'the submission is cancelled');
    is(page($ann), '200 | This request was withdrawn | 0', 'the page says so');
    my $short = made($client, [{}], expiresAt => Mojo::Date->new(time + 2)->to_datetime);
    my ($late) = signers_of($short);
    unlike(page($late), qr/deadline/, 'before the deadline the page has the document');
    ok(wait_for(sub { page($late) eq '200 | The deadline has passed | 0' }), 'after it, the page says so');
    my ($expired, $clock) = facts($late);
    like($expired, qr/Sign by \d+ \w+ \d{4}, \d\d:\d\d \(\w+.*\) Sent/,
        'the page says when the deadline was, with the zone');
    my ($withdrawn, $arrow) = facts($ann);
    my $number = substr $made->{uuid}, 0, 8;
    like($withdrawn, qr/^From .+, \Q$org->{name}\E.+ $number$/, 'a withdrawn request has its sender and number');
    isnt($clock, $arrow, 'each end has an icon of its own');
};

subtest 'where the page leads' => sub {
    my $made = made($timed, [{}], redirectUrl => 'https://app.example.org/back?a=1#top');
    my ($ann) = signers_of($made);
    my $to   = "https://app.example.org/back?a=1&status=completed&submission=$made->{uuid}#top";
    is($ann->state->{redirect}, undef, 'nowhere before signing');
    my %form = (action => 'sign', consent => 'yes', typed => 'Ann Lee');
    my $res  = $ann->post(headers => { Accept => 'text/html' }, form => \%form);
    is($res->code, 303, 'the form signs');
    is($res->headers->location, $ann->{link}, 'the form leads to the page of the outcome');
    my $dom = $ann->get('', headers => { Accept => 'text/html' })->dom;
    ok(!$dom->at('meta[http-equiv=refresh]'), 'which does not lead on by a timer');
    is($dom->at('a.primary')->{href}, $to, 'the page offers the address of the caller');
    like($dom->at('a.primary')->text, qr/^Continue to \W?app\.example\.org\W?$/, 'the link has the name of the host');
    is($ann->state->{redirect}, $to, 'a program gets the same URL');
    my $no = made($timed, [{}], redirectUrl => 'https://intranet.test:8443/');
    my ($bob) = signers_of($no);
    $bob->refuse('no');
    like($bob->state->{redirect}, qr{^https://intranet\.test:8443/\?status=refused&}, 'a refusal leads there, too');
    is_text($timed->create(more => [part('redirectUrl', 'https://evil.test/')]), 400,
        'redirectUrl: https://evil.test is not allowed (SigreqRedirectAllow)');
};

subtest 'the deadline of the place' => sub {
    my $made = made($timed, [{}]);
    my $days = (Mojo::Date->new($made->{expiresAt})->epoch - Mojo::Date->new($made->{createdAt})->epoch) / 86400;
    cmp_ok(abs($days - 30), '<', 0.01, 'SigreqExpiry is counted from the creation');
    my $own = made($timed, [{}], expiresAt => '2030-01-01T00:00:00Z');
    is($own->{expiresAt}, '2030-01-01T00:00:00.000Z', 'a request may have another one');
};

done_testing;
