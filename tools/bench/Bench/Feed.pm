# SPDX-License-Identifier: Apache-2.0
# Bench::Feed: GET of 100 events, beside GET of as many submissions as have about the same number of bytes; and GET of
# the same submissions while a thousand programs follow the feed, each again when Retry-After is over.
package Bench::Feed;
use strict;
use warnings;
use Bench::Hostile;
use Bench::Measure qw(connections in_turns ratio wrk wrk_output);
use Bench::Upload;
use IO::Select;
use IO::Socket::INET;
use JSON::PP 'decode_json';
use Time::HiRes 'time';

use constant {
    EVENTS  => 100,
    READERS => 1_000,
    PAUSE   => 7.5,      # seconds, as Retry-After says on average
};

sub run {
    my ($server, $report) = @_;
    my @hosts = map { $server->database($_, $_) } 'pgsql', 'sqlite3';
    $server->start;
    for my $host (@hosts) {
        my ($events, $cursor) = events($server, $host);
        my ($list, $count) = list_like($server, $host, length $events);
        my $bytes = length $events;
        my $rates = in_turns(
            events => sub { wrk($server, $host, '/api/v3/events?limit=' . EVENTS, @_) },
            list   => sub { wrk($server, $host, "/api/v3/signatures?limit=$count", @_) });
        $report->row(
            what => 'GET ' . EVENTS . " events ($bytes bytes), $host->{driver}",
            beside => "GET $count submissions (" . length($list) . ' bytes)',
            a => $rates->{events}, b => $rates->{list}, ratio => ratio($rates->{events}, $rates->{list}),
            target => ['≥', 0.5]);
        readers($server, $report, $host, $cursor, $count);
    }
}

# Creates submissions until there are enough events: (the response with the first ones, a cursor after all)
sub events {
    my ($server, $host) = @_;
    for (1 .. EVENTS) {
        Bench::Upload::create($server, $host);
        my $said = Bench::Upload::fetch($server, $host, '/api/v3/events?limit=' . EVENTS);
        next if @{ decode_json($said)->{data} } < EVENTS;
        my $now = Bench::Upload::fetch($server, $host, '/api/v3/events?after=now');
        return ($said, decode_json($now)->{next});
    }
    die "a creation has no event\n";
}

sub list_like { # (the list whose length is nearest to it, its number of submissions)
    my ($server, $host, $bytes) = @_;
    my @best;
    for my $count (1 .. 100) {
        my $list = Bench::Upload::fetch($server, $host, "/api/v3/signatures?limit=$count");
        last if @best && abs(length($list) - $bytes) >= abs(length($best[0]) - $bytes);
        @best = ($list, $count);
    }
    return @best;
}

sub readers {
    my ($server, $report, $host, $cursor, $count) = @_;
    my $get = sub {
        my $said = wrk_output(0, connections(), $server, $host, "/api/v3/signatures?limit=$count", @_);
        return $said =~ m{^Requests/sec:\s+([\d.]+)}m && $1 > 0 ? $1 : die "wrk says no rate:\n$said\n";
    };
    my $rates = in_turns(
        alone => $get,
        followed => sub {
            my @arguments = @_;
            return Bench::Hostile::during([\&follow, $server, $host, $cursor], sub { $get->(@arguments) });
        });
    $report->row(
        what => "GET $count submissions, $host->{driver}, while " . READERS . ' programs follow the event feed',
        beside => 'without them', a => $rates->{followed}, b => $rates->{alone},
        ratio => ratio($rates->{followed}, $rates->{alone}), target => ['≥', 0.9]);
}

# Follows the feed until it is stopped: each reader has a connection for each request, and sends it when it is due. At
# the beginning they come as evenly as later on.
sub follow {
    my ($server, $host, $cursor) = @_;
    my $request = "GET /api/v3/events?wait=30&after=$cursor HTTP/1.1\r\nHost: $host->{name}.test\r\n"
        . "Authorization: Bearer $host->{token}\r\nConnection: close\r\n\r\n";
    my $select = IO::Select->new;
    my @due    = map { time + PAUSE * $_ / READERS } 1 .. READERS;
    for (;;) {
        while (@due && $due[0] <= time) {
            my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$server->{port}", Timeout => 5) or last;
            $socket->syswrite($request);
            $select->add($socket);
            shift @due;
        }
        for my $socket ($select->can_read(0.02)) {
            $socket->sysread(my $answer = '', 4096);
            $select->remove($socket);
            close $socket;
            push @due, time + ($answer =~ /^Retry-After: (\d+)/mi ? $1 : 0);
        }
        @due = sort { $a <=> $b } @due;
    }
}

1;
