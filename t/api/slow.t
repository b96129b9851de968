# SPDX-License-Identifier: Apache-2.0
# Slow clients: bodies that arrive slowly use at most half of the threads (or half of the children, for MPMs without
# threads). More of them are refused at once, and all other requests are answered. Bodies that arrive at once are not
# counted.
use strict;
use warnings;
use Mojo::UserAgent;
use Sigreq::Here qw(organisation suite is_error wait_for);
use Sigreq::Httpd;
use Sigreq::Multipart 'BOUNDARY';
use Sigreq::Raw;
use Sigreq::Signer;
use Test::More;

my $prefork = suite->{mpm} eq 'prefork';
my $httpd   = Sigreq::Httpd->new(
    place  => 'Sigreq On',
    server => "Timeout 100\n<Location /metrics>\nSetHandler sigreq-metrics\n</Location>\n"
        . ($prefork ? 'StartServers 8' : ''));
$httpd->start;
my $places = 4;                    # half of 8 threads, or of 8 children
my $org    = organisation();
my $client = $org->{test}->with(base => $httpd->base)->crowd;
my $made   = $client->create->json;
my ($link) = map { $_->{signatureLink} } @{ $made->{submitters} };
my $path   = $link =~ s{^https?://[^/]+}{}r =~ s/\?.*//r;

my %starts = (
    'uploads with a token' => "POST /api/v3/signatures HTTP/1.1\r\nHost: x\r\n"
        . "Authorization: Bearer $client->{token}\r\n"
        . 'Content-Type: multipart/form-data; boundary=' . BOUNDARY . "\r\nContent-Length: 100000\r\n\r\n--",
    'JSON to a link' =>
        "POST $path HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
    'forms to a link' => "POST $path HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        . "Content-Length: 1000\r\n\r\na",
    'a body of which nothing comes' =>
        "POST $path HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n",
    'chunks' => "POST /api/v3/verify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $client->{token}\r\n"
        . "Content-Type: application/pdf\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n%PD\r\n",
);
sub refusals {    # waits for so many answers: [answer, …]; those that are left to wait get none
    my ($count, @slow) = @_;
    my %answers;
    my $more = sub {
        $answers{$_} = $slow[$_]->answer for grep { !$answers{$_} && $slow[$_]->has_answer } 0 .. $#slow;
        return keys %answers >= $count;
    };
    wait_for($more);
    return values %answers;
}

for my $name (sort keys %starts) {
    subtest $name => sub {
        my @slow  = map { my $raw = Sigreq::Raw->new($httpd->{port}); $raw->send($starts{$name}); $raw } 1 .. 24;
        # those that have a place are left to wait; the others are told at once
        # without threads, httpd keeps a child for 2 s after each refusal
        my $least   = $prefork ? 4 : 24 - $places;
        my @refused = refusals($least, @slow);
        cmp_ok(scalar @refused, '>=', $least, @refused . ' of 24 are refused');
        is(join(' ', sort keys %{ { map { $_->code => 1 } @refused } }), '503', 'refusals are 503');
        is((grep { ($_->headers->header('Retry-After') // '') eq '5' } @refused), @refused,
            'refusals have Retry-After');
        my @codes = map { $client->get("/signatures/$made->{uuid}")->code } 1 .. 20;
        is("@codes", join(' ', (200) x 20), 'twenty other requests are answered');
        is($client->post('/tokens', json => { name => 'x' })->code, 201, 'a body that arrives at once is read');
        is($client->create->code, 201, 'a creation is accepted, too');
        $_->close for @slow;
        ok(wait_for(sub { posts() }), 'after the slow clients have disconnected, slow bodies are read again');
    };
}

# Those that are refused do not keep the other half of the threads for long either.
subtest 'many slow clients' => sub {
    plan skip_all => 'without threads, httpd keeps a child for 2 s after each refusal' if $prefork;
    my @slow = map { Sigreq::Raw->new($httpd->{port}) } 1 .. 120;
    $_->send($starts{'JSON to a link'}) for @slow;
    is($client->get("/signatures/$made->{uuid}")->code, 200, 'another request is answered while all of them are there');
    $_->close for @slow;
    ok(wait_for(sub { posts() }), 'slow bodies are read again');
};

# A slow body of a few pieces, which is welcome as long as there are places.
sub posts {
    my $raw = Sigreq::Raw->new($httpd->{port});
    $raw->send("POST $path HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n");
    for my $piece ('{"acti', 'on":"x', '"}') { select undef, undef, undef, 0.05; $raw->send($piece) }
    my $res = $raw->answer;
    return $res && $res->code == 400;
}

my $text = Mojo::UserAgent->new->get($httpd->base . '/metrics')->res->body;
ok(scalar($text =~ /^sigreq_limited_total\{limit="bodies"\} [1-9]/m), "refusals are counted");
unlike($httpd->log, qr/SR0100/, 'and no error is logged');

if ($prefork) { # a child that is killed leaves no place taken
    my @slow = map { my $raw = Sigreq::Raw->new($httpd->{port}); $raw->send($starts{chunks}); $raw } 1 .. $places;
    my @more = map { my $raw = Sigreq::Raw->new($httpd->{port}); $raw->send($starts{chunks}); $raw } 1 .. 4;
    cmp_ok(scalar(refusals(1, @slow, @more)), '>=', 1, 'all places are taken');
    kill KILL => Sigreq::Here::children($httpd->pid);
    ok(wait_for(sub { eval { posts() } }), 'after all children were killed, slow bodies are read');
}
$httpd->stop;
done_testing;
