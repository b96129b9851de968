# SPDX-License-Identifier: Apache-2.0
# PostgreSQL with a standby under Patroni and etcd (docs/several-hosts), and two hosts behind haproxy, the second of
# which uses PgBouncer. While callers and signers work, the leader is killed, stopped, switched over, and the
# PostgreSQL of the leader alone is killed. The service heals each time, nobody waits for a leader that is stopped,
# callers see 503 alone, nothing that was acknowledged is lost, and no webhook is called twice. How long it takes is
# printed.
use strict;
use warnings;
use Sigreq::Here qw(wait_for sql);
use Sigreq::S3;
use Sigreq::Several;
use Sigreq::Signer;
use Sigreq::Workload;
use Test::More;
use Time::HiRes 'time';

plan skip_all => $_
    for grep {defined} Sigreq::Several::missing(qw(haproxy patroni etcd pgbouncer)), Sigreq::S3::missing();

my $several = Sigreq::Several->everything;
my ($params, $receiver, $client) = @{$several}{qw(params receiver client)};
my @direct = @{ $several->{direct} };
sub durability { $_[0]->get('/health', query => { verbose => '' })->json->{durability} // '' }
is(durability($_), 'ok', 'PostgreSQL keeps what it has committed') for @direct;

ok($several->ttl(8), 'a leader may be silent for 8 s');
my $load = Sigreq::Workload->new(client => $client, dir => $several->{dir}, width => 4)->start;

# Does something to the leader, and waits until another one leads and the service works, at both hosts.
sub healed {
    my ($name, $code) = @_;
    $load->goes_on(time, 10);
    my $old = $several->leader // return fail("$name: there is no leader");
    my $at  = time;
    $code->($old);
    ok(wait_for(sub { ($several->leader // $old) ne $old }), "$name: the other one leads");
    ok($load->goes_on(time, 10), "$name: callers and signers go on");
    for my $host (@direct) { ok(wait_for(sub { $host->get('/health')->code == 200 }), "$name: each host is healthy") }
    diag sprintf '%s: nothing was acknowledged for %.1f s', $name, $load->silence($at, time);
    return $at;
}

sub is_whole_again { ok($several->is_redundant, 'there is a standby again') or diag explain $several->members }

# Codes of a signer that are entered meanwhile: each that was refused is counted, also by the new leader, and no more.
my $check  = { method => 'code', code => 'Right-4711' };
my $asked  = $direct[0]->create(signers => Sigreq::Client::signers({ authentication => $check }))->json;
my $refused = 0;
sub entered {
    my ($host, $code) = @_;
    my $signer = Sigreq::Signer->new(link => "$host->{base}/sign/$asked->{submitters}[0]{uuid}", connections => 0);
    my $answer = $signer->request(POST => '/check', json => { code => $code })->code;
    $refused++ if $answer == 403;
    return $answer;
}
is(entered($_, 'Wrong-1'), 403, 'a wrong code') for @direct;
healed('the leader is killed', sub {
    $several->kill_all($_[0]);
    wait_for(sub { entered($direct[0], 'Wrong-2') == 403 });
});
my $trail = $direct[1]->get("/signatures/$asked->{uuid}/audit")->json;
is(scalar(grep { $_->{event} eq 'codeFailed' } @{ $trail->{events} }), $refused, 'each wrong code is counted');
is($refused, 3, 'three codes were refused');
is(entered($direct[1], 'right 4711'), 200, 'the right code passes at the new leader');
ok(wait_for(sub { durability($direct[0]) eq 'at risk' }), 'what is kept without a standby is at risk');
$several->again($_) for grep { !$several->family($_) } qw(pg1 pg2);
is_whole_again();

healed('a switchover', sub { ok($several->switch_over($_[0]), 'Patroni is asked') });
is_whole_again();

# Only its PostgreSQL: Patroni starts it again, or the other one leads.
my ($leader) = $several->leader;
my $at = time;
kill KILL => grep { $_ != $several->pid($leader) } $several->family($leader);
ok($load->goes_on($at + 1, 20), 'the PostgreSQL of the leader is killed: callers and signers go on');
diag sprintf 'the PostgreSQL of the leader is killed: nothing was acknowledged for %.1f s', $load->silence($at, time);
is_whole_again();

my @stopped;
my $stopped_at = healed('the leader is stopped', sub { @stopped = $several->family($_[0]); kill STOP => @stopped });
ok($load->answered(time), 'every request is answered while it is stopped');

# Its PostgreSQL goes on without its Patroni, so nobody tells it that another one leads. It accepts connections that
# want to write, and knows nothing of what was made since.
my ($made) = map { $_->{created} ? $_->{created}{uuid} : () } reverse $load->notes;
my ($former) = grep { $_ ne $several->leader } qw(pg1 pg2);
kill CONT => grep { $_ != $several->pid($former) } @stopped;
ok(wait_for(sub { $several->is_writable($former) }), 'the former leader goes on, and would write');
my %shown;
for my $host (map { $_->crowd } @direct) {
    $shown{ $_->code }++
        for $host->parallel(60, 20, sub { $host->request_p(GET => "/signatures/$made", unjudged => 1) });
}
is_deeply([grep { !/^(?:200|503)$/ } keys %shown], [], 'nobody is told what the former leader knows')
    or diag explain(\%shown);
kill CONT => @stopped;
is_whole_again();
diag sprintf 'the longest of all requests (%s) took %.1f s; SigreqDatabaseTimeout is 6 s', ($load->slowest)[0, 1];

$load->stop;
is_deeply([$load->wrong], [], 'no request is refused');
is_deeply([grep { !/^(?:200|201|409|503)$/ } keys %{ $load->codes }], [], 'there is no other answer than 503')
    or diag explain([map { $_->{why} // () } $load->notes]);
my @done = $load->done;
cmp_ok(scalar @done, '>', 50, @done . ' submissions');
is_deeply([$load->verify($direct[0])], [], 'everything that was acknowledged is there');
my $waiting = "SELECT count(*) FROM sigreq.job WHERE state <> 'done' AND event IS NOT NULL";
ok(wait_for(sub { sql($waiting, $params) == 0 }), 'all webhooks are called');
my %times;
$times{ $_->{body}{eventId} }++ for $receiver->received;
is(scalar(grep { $_ > 1 } values %times), 0, 'no event arrived twice');
my $told = sql('SELECT count(*) FROM sigreq.job WHERE success AND event IS NOT NULL', $params);
cmp_ok(scalar keys %times, '>=', $told, 'no event is called a success that has not arrived');
my $lost = sql('SELECT count(*) FROM sigreq.job WHERE NOT success AND event IS NOT NULL', $params);
my $codes = $load->codes;
diag @done . " submissions, $told webhooks, $lost of them interrupted; answers: " . join ', ',
    map {"$codes->{$_} times $_"} sort keys %$codes;
done_testing;
