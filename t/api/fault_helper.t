# SPDX-License-Identifier: Apache-2.0
# A helper that dies or hangs affects only the request that it had. The next request gets a new helper. Every document
# here is new, because the pages of a known document need no request.
use strict;
use warnings;
use Sigreq::Here qw(organisation workers wait_for temporary_files at_once);
use Sigreq::PDF 'pdf';
use Test::More;
use Time::HiRes 'sleep';

my $org    = organisation();
my $client = $org->{test}->crowd;
my $count  = 0;
sub fresh { [['a.pdf', pdf(nonce => "helper $$ " . ++$count)]] }

is($client->create(files => fresh())->code, 201, 'a document');
ok(wait_for(sub { workers() }), 'a worker is there');
for my $round (1 .. 3) {
    kill KILL => workers();
    ok(wait_for(sub { $client->create(files => fresh())->code == 201 }),
        "killed while idle ($round): the next request has a new one");
}

# hanging: stopped workers answer late; the request is told, and the pool is whole again
{
    my @stopped = workers();
    kill STOP => @stopped;
    my @answers = $client->parallel(6, 6, sub { $client->create_p(files => fresh()) });
    my %codes;
    $codes{ $_->code }++ for @answers;
    my $shown = join ', ', map {"$codes{$_} × $_"} sort keys %codes;
    utf8::encode($shown);
    cmp_ok($codes{201} // 0, '>=', 6 - @stopped, "hanging workers: no more requests fail than workers hung ($shown)");
    is(scalar(grep { !/^(?:201|400|503)$/ } keys %codes), 0, 'plain answers');
    # A worker that got no request meanwhile still hangs. Those that got one have ended.
    my %there = map { $_ => 1 } workers();
    my @left  = grep { $there{$_} } @stopped;
    cmp_ok(@stopped - @left, '>=', 6 - ($codes{201} // 0), 'a worker that hung with a request has ended');
    kill KILL => @left;
    # one of them may still get a request until it is dead
    ok(wait_for(sub { $client->create(files => fresh())->code == 201 }), 'then requests are served');
}

# killed under load: nobody but the one whose worker died notices
{
    my ($failed, $kills) = (0, 0);
    my @answers;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        for (1 .. 5) { sleep 0.15; my @now = workers(); kill KILL => $now[rand @now] if @now }
        require POSIX;
        POSIX::_exit(0);
    }
    @answers = $client->parallel(150, at_once(8), sub { $client->create_p(files => fresh()) });
    waitpid $pid, 0;
    $failed = grep { $_->code != 201 } @answers;
    cmp_ok($failed, '<=', 5, "5 workers killed under load: $failed of 150 requests failed");
    ok(!(grep { $_->code !~ /^(?:201|400|503)$/ } @answers), 'all answers are plain');
}
is($client->get('/health')->code, 200, 'health');
ok(wait_for(sub { !temporary_files() }), 'no temporary file');
done_testing;
