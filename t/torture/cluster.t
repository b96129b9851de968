# SPDX-License-Identifier: Apache-2.0
# Everything of docs/several-hosts.md at once: two hosts behind haproxy, PostgreSQL under Patroni and etcd, PgBouncer
# before it for the second host, and an object store. Signers sign while every five seconds something that was chosen
# by chance is killed (not haproxy, through which they see the service): a child or all of a host, its signer process
# or a PDF helper, the leader, the standby or a PostgreSQL alone, a PgBouncer, an etcd, or the object store.
# Everything that was acknowledged is there in the end, signers have seen 503 alone, and no webhook is called twice.
use strict;
use warnings;
use List::Util 'max';
use Sigreq::Here qw(wait_for sql);
use Sigreq::Processes;
use Sigreq::S3;
use Sigreq::Several;
use Sigreq::Twin qw(seed times);
use Sigreq::Workload;
use Test::More;
use Time::HiRes qw(sleep time);

plan skip_all => $_
    for grep {defined} Sigreq::Several::missing(qw(haproxy patroni etcd pgbouncer)), Sigreq::S3::missing();

my ($SIGNINGS, $FAILOVERS) = (times('SIGREQ_TIMES', 60, 10_000), times('SIGREQ_FAILOVERS', 1, 20));
my $SIGNERS = 2;
seed();
my $several = Sigreq::Several->everything;
my ($params, $receiver, $client) = @{$several}{qw(params receiver client)};
my @direct = @{ $several->{direct} };
my @hosts  = @{ $several->{hosts} };
my $ttl = times('SIGREQ_TTL', 8, 8);
ok($several->ttl($ttl), "a leader may be silent for $ttl s");
my $load = Sigreq::Workload->new(client => $client, dir => $several->{dir}, width => 4, signers => $SIGNERS)->start;
my (%killed, @healed, @done);

sub one     { return $_[rand @_] }
sub helpers { return Sigreq::Here::workers(Sigreq::Here::children(one(@hosts)->pid)) }

sub host_killed {
    my $host = one(@hosts);
    my $pid  = $host->pid;
    kill KILL => $pid, Sigreq::Here::children($pid), Sigreq::Here::signers($pid);
    wait_for(sub { !Sigreq::Processes::processes()->{$pid} });
    unlink "$host->{dir}/pid";
    return $host->start;
}

sub program_killed { my $name = one(@_); return $several->kill_all($name) && $several->again($name) }

# The leader with its Patroni. It is started again when the other one leads, or when that takes long: without a standby
# that has everything there is nobody else to lead.
sub leader_killed {
    my $old = $several->leader or return;
    my $at  = time;
    $several->kill_all($old);
    my $moved = 0;
    for (1 .. 300) { last if $moved = ($several->leader // $old) ne $old; sleep 0.1 }
    $several->again($old);
    $load->goes_on(time, 1) or return;
    push @healed, $load->silence($at, time) if $moved;
    return;
}

sub standby_killed {
    my $leader = $several->leader or return;
    return program_killed($leader eq 'pg1' ? 'pg2' : 'pg1');
}

sub postgres_killed {
    my $name = one(qw(pg1 pg2));
    return kill KILL => grep { $_ != $several->pid($name) } $several->family($name);
}

my %faults = (
    child    => sub { kill KILL => grep {defined} one(Sigreq::Here::children(one(@hosts)->pid)) },
    host     => \&host_killed,
    signer   => sub { kill KILL => Sigreq::Here::signers(one(@hosts)->pid) },
    helper   => sub { kill KILL => grep {defined} one(helpers()) },
    leader   => \&leader_killed,
    standby  => \&standby_killed,
    postgres => \&postgres_killed,
    pooler   => sub { program_killed('pgbouncer') },
    etcd     => sub { program_killed(qw(etcd1 etcd2 etcd3)) },
    store    => sub { $several->{s3}->again });

$load->goes_on(time, 50);    # Patroni has taken over the ttl meanwhile
my $signings = sub { return $SIGNERS * $load->done };
while ($signings->() < $SIGNINGS || @healed < $FAILOVERS) {
    # as many failovers as signings have their share of
    my $due   = @healed < $FAILOVERS * max(1, $signings->()) / $SIGNINGS && @healed < $FAILOVERS;
    my $fault = $due ? 'leader' : one(sort keys %faults);
    # one fault of the database at a time: without a standby nobody could take over
    if ($fault =~ /^(?:leader|standby|postgres)$/ && !$several->is_redundant) { fail('there is no standby'); last }
    my $at = time;
    $faults{$fault}->();
    $killed{$fault}++;
    push @done, [$at, $fault];
    if (!$load->goes_on($at, 1)) { fail("the service has not healed: $fault"); last }
    sleep max(0, 5 - (time - $at));
}
ok($load->goes_on(time, 5), 'signers go on in the end');
$load->stop;
ok($several->is_redundant, 'PostgreSQL has a standby');
ok(wait_for(sub { $_->get('/health')->code == 200 }), 'a host works') for @direct;

is_deeply([$load->wrong], [], 'no request was refused');
is_deeply([grep { !/^(?:200|201|409|503)$/ } keys %{ $load->codes }], [], 'there was no other answer than 503')
    or diag explain([map { $_->{why} // () } $load->notes]);
is_deeply([$load->verify($direct[0])], [], 'everything that was acknowledged is there');
my $waiting = "SELECT count(*) FROM sigreq.job WHERE state <> 'done' AND event IS NOT NULL";
ok(wait_for(sub { sql($waiting, $params) == 0 }), 'all webhooks are called');
my %times;
$times{ $_->{body}{eventId} }++ for $receiver->received;
is(scalar(grep { $_ > 1 } values %times), 0, 'no event arrived twice');
# An object that no row names is left if a host or a leader dies between the upload and the commit. It is no loss.
my $report = $several->checked($params);
is_deeply([@{$report}{qw(missing damaged)}], [0, 0], 'the bucket has all documents');
diag "$report->{foreign} objects that no row names";
my ($codes, @sorted) = ($load->codes, sort { $a <=> $b } @healed);
diag $signings->() . ' signings, killed: ' . join ', ', map {"$killed{$_} times $_"} sort keys %killed;
diag 'answers: ' . join ', ', map {"$codes->{$_} times $_"} sort keys %$codes;
diag sprintf '%d failovers, without an answer for %.1f s (%.1f to %.1f)', scalar @sorted, $sorted[@sorted / 2],
    @sorted[0, -1];
diag sprintf '%d of %d webhooks arrived', scalar keys %times,
    sql('SELECT count(*) FROM sigreq.job WHERE event IS NOT NULL', $params);
my ($what, $took, $answered) = $load->slowest;
my @before = map { sprintf '%s %.1f s', $_->[1], $answered - $_->[0] }
    grep { $_->[0] < $answered && $_->[0] > $answered - $took - 15 } @done;
diag sprintf 'the longest request (%s) took %.1f s; before its answer: %s', $what, $took, join ', ', @before;
done_testing;
