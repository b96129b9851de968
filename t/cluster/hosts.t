# SPDX-License-Identifier: Apache-2.0
# Two hosts behind haproxy (docs/several-hosts), with one PostgreSQL and one bucket. All signers of a submission sign
# at the same time through both hosts: nothing is sealed twice, and every signature is valid. Images of pages are
# made once for each host. Then children, whole hosts and their signer processes are killed while signers sign: what
# was acknowledged is there at both hosts, callers have seen 503 alone, and no event has arrived twice.
use strict;
use warnings;
use Mojo::UserAgent;
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for sql);
use Sigreq::PDF 'pdf';
use Sigreq::Receiver;
use Sigreq::S3;
use Sigreq::Several;
use Sigreq::Signer 'signers_of';
use Sigreq::Workload;
use Test::More;
use Time::HiRes 'time';

plan skip_all => $_ for grep {defined} Sigreq::Several::missing('haproxy'), Sigreq::S3::missing();

my $SIGNERS  = 3;
my $receiver = Sigreq::Receiver->new; # before the programs that end with our pipes, which it would keep open
my $several  = Sigreq::Several->new;
my $apart    = Sigreq::Apart->new;
my @hosts    = map { $several->host($_, $apart->{params}) } 1, 2;
my @direct   = map { $apart->client($_) } @hosts;
$several->haproxy;
my $client = Sigreq::Here::client(base => $several->base, token => $apart->{token}, connections => 0);
ok($several->serves($client), 'haproxy has found a host') or diag $several->log('haproxy');
$client->post("/webhooks/$_-webhook-url", json => { url => $receiver->url('/ok') }) for qw(sent signed completed);

sub figure {    # of one host: the sum of what has such labels
    my ($host, $name, $labels) = @_;
    my $text = Mojo::UserAgent->new->get($host->base . '/metrics')->res->body;
    my $sum  = 0;
    $sum += $_ for $text =~ /^\Q$name\E(?:\{[^}]*$labels[^}]*\})? (\S+)$/mg;
    return $sum;
}
sub figures { my @of = @_; my $sum = 0; $sum += figure($_, @of) for @hosts; return $sum }

sub load {
    my ($name, %o) = @_;
    my %load = (client => $client, dir => $several->{dir}, signers => $SIGNERS);
    return Sigreq::Workload->new(%load, name => $name, %o)->start;
}

sub is_right {    # what both hosts say of a load
    my ($load, $name) = @_;
    is_deeply([$load->wrong], [], "$name: no request is refused");
    is_deeply([grep { !/^(?:200|201|409|503)$/ } keys %{ $load->codes }], [],
        "$name: all answers are 200, 201, 409 or 503")
        or diag explain([grep {/./} map { $_->{why} // () } $load->notes]);
    is_deeply([$load->verify($direct[$_])], [], "$name: host $_ has documents, chains and valid signatures") for 0, 1;
}

sub said {    # which answers there were
    my $codes = shift->codes;
    return join ', ', map {"$codes->{$_} times $_"} sort keys %$codes;
}

sub events_are_right {
    my $waiting = "SELECT count(*) FROM sigreq.job WHERE state <> 'done' AND event IS NOT NULL";
    ok(wait_for(sub { sql($waiting, $apart->{params}) == 0 }), 'all webhooks are called');
    my %times;
    $times{ $_->{body}{eventId} }++ for $receiver->received;
    is(scalar(grep { $_ > 1 } values %times), 0, 'no event arrived twice');
    my $told = sql("SELECT count(*) FROM sigreq.job WHERE success AND event IS NOT NULL", $apart->{params});
    cmp_ok(scalar keys %times, '>=', $told, 'no event is called a success that has not arrived');
    return scalar keys %times;
}

subtest 'both hosts at once' => sub {
    my $load = load('calm', most => 12)->wait;
    is_right($load, 'nothing fails');
    is(scalar $load->done, 12, 'all are signed');
    my %requests = map { $_ => figure($hosts[$_], 'sigreq_requests_total', 'method="POST"') } 0, 1;
    cmp_ok($requests{$_}, '>', 0, "host $_ has done a part of it") for 0, 1;
    is(figures('sigreq_seals_total', 'result="sealed"'), 12 * ($SIGNERS + 1), 'no revision was sealed twice')
        or diag(Mojo::UserAgent->new->get($hosts[0]->base . '/metrics')->res->body =~ /^(sigreq_seals.*)$/mg);
    is(sql('SELECT count(*) FROM sigreq.revision', $apart->{params}), 12 * $SIGNERS, 'each signature has one revision');
    my $told = events_are_right();
    is($told, sql('SELECT count(*) FROM sigreq.job WHERE event IS NOT NULL', $apart->{params}), 'all have arrived');
    my $audit = $client->get('/signatures/' . ($load->done)[0]{uuid} . '/audit')->json;
    my ($opened) = grep { $_->{event} eq 'signed' } @{ $audit->{events} };
    like(Mojo::JSON::encode_json($opened), qr/"127\.0\.0\.1"/, 'the evidence has the address of the client');
    unlike(Mojo::JSON::encode_json($audit), qr/"\Q@{[$several->address(1)]}\E"/,
        'the evidence does not have the address of haproxy');
};

subtest 'images of pages' => sub {
    my $before = figures('sigreq_helper_question_duration_seconds_count', 'operation="render"');
    my $made   = $client->create(files => [['a.pdf', pdf(nonce => "hosts images $$", pages => 3)]])->json;
    my ($signer) = signers_of($made, connections => 0);
    my $page = "/documents/$made->{documents}[0]{uuid}/pages/";
    my @got  = $client->parallel(36, 12, sub { $signer->request_p(GET => $page . $_[0] % 3) });
    is_deeply([grep { $_->code != 200 } @got], [], 'all are shown');
    my %bodies;
    $bodies{ $got[$_]->body }{ $_ % 3 } = 1 for 0 .. $#got;
    is(scalar keys %bodies, 3, 'each page looks the same from both hosts');
    my $times = figures('sigreq_helper_question_duration_seconds_count', 'operation="render"') - $before;
    cmp_ok($times, '<=', 6, "three pages are made at most once for each host ($times)");
    cmp_ok($times, '>=', 3, 'three pages are made at least once');
};

subtest 'graceful restarts' => sub {
    my $load = load('graceful');
    for my $host (@hosts, @hosts) {
        ok($host->graceful, 'a host has restarted');
        $load->goes_on(time, 20);
    }
    $load->stop;
    is_right($load, 'nothing fails');
    diag 'graceful restarts: ' . said($load);
};

# By turns a child and a whole host, which is started again.
subtest 'hosts are killed' => sub {
    my $load   = load('killed', width => 6);
    my $killed = 0;
    for my $turn (1 .. 6) {
        my $host = $hosts[$turn % 2];
        $load->goes_on(time, 10);
        my $pid = $host->pid;
        my @children = Sigreq::Here::children($pid);
        if ($turn % 3) { $killed += kill KILL => $children[rand @children]; next }
        $killed += kill KILL => $pid, @children, Sigreq::Here::signers($pid);
        $load->goes_on(time, 10);
        unlink "$host->{dir}/pid";
        $host->start;
    }
    ok($load->goes_on(time, 20), 'signers go on');
    $load->stop;
    ok(wait_for(sub { $_->get('/health')->code == 200 }), 'both hosts work') for @direct;
    is_right($load, "$killed processes killed");
    diag "killed: $killed processes; " . said($load);
    is(sql('SELECT count(*) - count(DISTINCT (document_uuid, signer_uuid)) FROM sigreq.revision', $apart->{params}), 0,
        'nobody has two revisions of a document');
    events_are_right();
};
my $report = $several->checked($apart->{params});
is_deeply([@{$report}{qw(missing damaged)}], [0, 0], 'sigreqctl check --remote finds nothing wrong');
done_testing;
