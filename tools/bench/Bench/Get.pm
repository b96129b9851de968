# SPDX-License-Identifier: Apache-2.0
# Bench::Get: GET of one submission against a static file of 1,024 bytes of the same httpd and virtual host.
package Bench::Get;
use strict;
use warnings;
use Bench::Measure qw(in_turns ratio wrk);
use Bench::Upload;

sub run {
    my ($server, $report) = @_;
    my @hosts = ($server->database('pgsql', 'pgsql'), $server->database('sqlite3', 'sqlite3'));
    $server->start;
    Bench::Server::spew("$server->{dir}/www/1k.txt", 'x' x 1023 . "\n");
    for my $host (@hosts) {
        my $made = Bench::Upload::create($server, $host);
        my $path = "/api/v3/signatures/$made->{uuid}";
        my $bytes = length Bench::Upload::fetch($server, $host, $path);
        my $rates = in_turns(
            get => sub { wrk($server, $host, $path, @_) }, static => sub { wrk($server, $host, '/1k.txt', @_) });
        $report->row(
            what => "GET one submission ($bytes bytes), $host->{driver}", beside => 'GET a static file (1024 bytes)',
            a => $rates->{get}, b => $rates->{static}, ratio => ratio($rates->{get}, $rates->{static}),
            target => $host->{driver} eq 'pgsql' ? ['≥', 0.6] : undef);
    }
}

1;
