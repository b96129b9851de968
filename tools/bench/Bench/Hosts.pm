# SPDX-License-Identifier: Apache-2.0
# Bench::Hosts: two hosts on one PostgreSQL and one folder of documents beside one of them alone. Each host, with its
# helpers, may use one processor. PostgreSQL and the load generator use what is left. So on a machine with fewer than
# four processors a host may use only a share of its processor, where there are control groups (Bench::Share). The row
# says how much of a processor the hosts used. Each host has few connections, so that the load generator uses little.
package Bench::Hosts;
use strict;
use warnings;
use Bench::Measure qw(in_turns median ratio wrk);
use Bench::Post;
use Bench::Server;
use Bench::Upload;
use List::Util 'sum0';
use POSIX ();

sub run {
    my ($server, $report) = @_;
    my $processors = () = Bench::Server::slurp('/proc/cpuinfo') =~ /^processor/mg;
    return print STDERR "bench: hosts is not measured: it needs two processors\n" if $processors < 2;
    my $second = Bench::Server->new(dir => "$server->{dir}/second", source => $server->{source}, cpu => 1);
    $server->{cpu} = 0;
    ($server->{share}, $second->{share}) = split ' ', $ENV{BENCH_SHARES} // '' if $processors < 4;
    my $host = $server->database('hosts', 'pgsql');
    $second->serve($host);
    # the same seal, as on any two hosts of a service
    system('cp', '-a', "$server->{dir}/seal/.", "$second->{dir}/seal/") == 0 or die "cp failed\n";
    $_->start for $server, $second;
    eval { measure($report, $host, $server, $second); 1 } or do { my $error = $@; $second->halt; die $error };
    $second->halt;
}

sub measure {
    my ($report, $host, @servers) = @_;
    local $ENV{BENCH_CONNECTIONS} = 4;
    my $made = Bench::Upload::create($servers[0], $host);
    Bench::Upload::create($servers[1], $host);
    my $document = "/api/v3/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}";
    my @works = (
        ['GET one submission', sub { wrk($_[0], $host, "/api/v3/signatures/$made->{uuid}", $_[1]) }],
        ['GET a document of 100 kB', sub { wrk($_[0], $host, $document, $_[1]) }],
        ['POST 100 kB, a new document each time', sub { Bench::Post::post($_[0], $host, $_[1], Bench::Post::seed()) }]);
    for (@works) {
        my ($what, $work) = @$_;
        my $used = {};
        my $rates = in_turns(
            one => sub { at_once($work, $used->{one} //= [], $_[0], $servers[0]) },
            two => sub { at_once($work, $used->{two} //= [], $_[0], @servers) });
        my ($one, $two) = map { sprintf '%.0f %%', 100 * median(@{ $used->{$_} }) } qw(one two);
        $report->row(
            what => "$what, two hosts ($two of a processor)", beside => "one host ($one)", a => $rates->{two},
            b => $rates->{one}, ratio => ratio($rates->{two}, $rates->{one}), target => ['≥', 1.7]);
    }
}

# The rates of several servers that work at the same time, in all. $used gets the share of a processor that their
# processes have used, in all.
sub at_once {
    my ($work, $used, $seconds, @servers) = @_;
    my $before = sum0 map { $_->processor_seconds } @servers;
    my @running = map {
        my $server = $_;
        my $pid = open(my $pipe, '-|') // die "fork: $!\n";
        if (!$pid) {
            my $rate = eval { $work->($server, $seconds) };
            print STDOUT $rate // "failed: $@";
            close STDOUT;
            POSIX::_exit(0);
        }
        $pipe
    } @servers;
    my @rates = map { my $said = do { local $/; readline $_ }; close $_; $said } @running;
    /^[\d.]+$/ or die "$_\n" for @rates;
    push @$used, (sum0(map { $_->processor_seconds } @servers) - $before) / $seconds;
    return sum0 @rates;
}

1;
