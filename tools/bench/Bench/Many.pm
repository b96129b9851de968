# SPDX-License-Identifier: Apache-2.0
# Bench::Many: the list (first page of 10) and one submission (a random one each time) among 1,000 and among 1,000,000,
# by one client alone, which gives the time one request takes, and by several at a time.
package Bench::Many;
use strict;
use warnings;
use Bench::Fill;
use Bench::Measure qw(connections in_turns ratio wrk_with);
use Bench::Report;
use Bench::Upload;

use constant SAMPLE => 100_000; # uuids at most, to choose among

sub run {
    my ($server, $report) = @_;
    my @sizes = (1_000, $ENV{BENCH_ROWS} // 1_000_000);
    my %hosts;
    for my $driver ('pgsql', 'sqlite3') {
        push @{ $hosts{$driver} }, $server->database("$driver-$_", $driver) for 'few', 'many';
    }
    $server->start;
    $_->{made} = Bench::Upload::create($server, $_) for map {@$_} values %hosts;
    $server->halt;
    for my $driver (sort keys %hosts) {
        for my $i (0, 1) {
            print STDERR "bench: filling $driver with $sizes[$i]            \r" if -t STDERR;
            Bench::Fill::fill($server, $hosts{$driver}[$i], $sizes[$i], SAMPLE);
        }
    }
    $server->start;
    for my $connections (1, connections()) {
        for my $driver (sort keys %hosts) {
            my @what = ($server, $report, $hosts{$driver}, \@sizes, $connections);
            row(@what, 'GET the list, 10 of', '/api/v3/signatures?limit=10');
            row(@what, 'GET a random one of', '/api/v3/signatures/', 'one.lua');
        }
    }
}

sub row {
    my ($server, $report, $hosts, $sizes, $connections, $what, $path, @script) = @_;
    my ($few, $many) = @$hosts;
    my $rate = sub {
        my $host = shift;
        warm($server, $host);
        return wrk_with($connections, $server, $host, $path, @_, @script ? (@script, $host->{uuids}) : ());
    };
    my $rates = in_turns(many => sub { $rate->($many, @_) }, few => sub { $rate->($few, @_) });
    my ($small, $large) = map { Bench::Report::number($_) =~ s/\.0$//r } @$sizes;
    $report->row(
        what => "$what $large, $many->{driver}, $connections at a time", beside => "the same of $small",
        a => $rates->{many}, b => $rates->{few}, ratio => ratio($rates->{few}, $rates->{many}), target => ['≤', 1.5],
        unit => ' × the time');
}

# Reads the database's files: what is measured is the database, not whether the system happens to have them in memory.
sub warm {
    my ($server, $host) = @_;
    my $place = $host->{place} //= $host->{driver} eq 'sqlite3' ? $host->{params} : pgsql_folder($server, $host);
    system('sh', '-c', 'find "$1" -type f -exec cat {} + >/dev/null', 'sh', $place) == 0
        or die "$place cannot be read\n";
}

sub pgsql_folder {
    my ($server, $host) = @_;
    my $number = $server->psql($host->{database}, 'SELECT oid FROM pg_database WHERE datname = current_database()');
    return "$server->{dir}/pg/data/base/" . ($number + 0);
}

1;
