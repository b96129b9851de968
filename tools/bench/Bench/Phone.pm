# Bench::Phone: how long a signer on a throttled phone waits for the first page of a document of 20: phone.mjs.
package Bench::Phone;
use strict;
use warnings;
use Bench::Measure qw(median rounds);
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
}

1;
