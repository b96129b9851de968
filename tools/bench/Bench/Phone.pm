# SPDX-License-Identifier: Apache-2.0
# Bench::Phone: how long a signer on a throttled phone waits for the first page of a document of 20, how much the page of
# a document of two pages loads (phone.mjs), and how long any request takes at most but for one in a hundred when 100
# signers of 20 pages load without a pause, on 100 connections.
package Bench::Phone;
use strict;
use warnings;
use Bench::Measure qw(in_turns median rounds wrk_said);
use Bench::Server;
use JSON::PP   qw(decode_json);
use List::Util qw(min max);

sub run {
    my ($server, $report) = @_;
    my $host = $server->database('pgsql', 'pgsql');
    $server->start;
    # by address, because fetch sends no Host of ours: the first virtual host is the one for unknown names
    my $said = Bench::Server::said(
        'phone.mjs', 'node', "$server->{source}/tools/bench/phone.mjs", "http://127.0.0.1:$server->{port}",
        $host->{token}, rounds(), "$server->{source}/build/npm/browser");
    my $seconds = decode_json($said);
    my ($new, $seen) = @{$seconds}{qw(new seen)};
    $report->row(
        what => 'first of 20 pages readable on a throttled phone, nobody has seen it before',
        beside => 'somebody else has', a => $new, b => $seen, format => sub { sprintf '%.2f s', $_[0] },
        ratio => [median(@$new), min(@$new), max(@$new)], unit => ' s', target => ['≤', 1.5]);
    my ($weight, $requests) = @{$seconds}{qw(kilobytes requests)};
    $report->row(
        what => 'all that the page of two pages of text loads on a phone', a => $weight, beside => 'requests',
        b => $requests, format => sub { sprintf '%.0f', $_[0] },
        ratio => [median(@$weight), min(@$weight), max(@$weight)], places => 0, unit => ' kB', target => ['≤', 120]);
    many($server, $report, $host, $seconds->{paths});
}

sub many {
    my ($server, $report, $host, $paths) = @_;
    my $file = Bench::Server::spew("$server->{dir}/paths", join '', map {"$_\n"} @$paths);
    my $times = in_turns(slowest => sub {
        my $said = wrk_said(100, $server, $host, '/sign/', shift, 'one.lua', $file);
        my ($figure, $unit) = $said =~ /^\s*99%\s+([\d.]+)(us|ms|s)\s*$/m or die "wrk says no percentiles:\n$said\n";
        return $figure * { us => 1e-6, ms => 1e-3, s => 1 }->{$unit};
    })->{slowest};
    $report->row(
        what => '100 signers of 20 pages at once, pages drawn before: 99 % of requests are faster than', a => $times,
        format => sub { sprintf '%.3f s', $_[0] }, places => 3, unit => ' s',
        ratio => [median(@$times), min(@$times), max(@$times)], target => ['≤', 1]);
}

1;
