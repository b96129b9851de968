# SPDX-License-Identifier: Apache-2.0
# Bench::Page: a page of a document that somebody has seen before, as the signing page asks for it (with its version),
# against a static file of the same bytes of the same httpd and virtual host.
package Bench::Page;
use strict;
use warnings;
use Bench::Measure qw(in_turns ratio wrk);
use Bench::Upload;

sub run {
    my ($server, $report) = @_;
    my @hosts = ($server->database('pgsql', 'pgsql'), $server->database('sqlite3', 'sqlite3'));
    $server->start;
    for my $host (@hosts) {
        my $made = Bench::Upload::create($server, $host);
        my ($link) = $made->{submitters}[0]{signatureLink} =~ m{^https?://[^/]+(/.*)};
        my ($document) = @{ $made->{documents} };
        my $page = "$link/documents/$document->{uuid}/pages/0";
        row($server, $report, $host, 'GET a page seen before', "$page.png?version=$document->{sha256}", ['≥', 0.8]);
        row($server, $report, $host, 'GET a page seen before, of the document as it stands', "$page.png", ['≥', 0.5]);
    }
}

sub row {
    my ($server, $report, $host, $what, $path, $target) = @_;
    my $bytes = Bench::Upload::fetch($server, $host, $path);
    Bench::Server::spew("$server->{dir}/www/page.png", $bytes);
    my $rates = in_turns(
        page => sub { wrk($server, $host, $path, @_) }, static => sub { wrk($server, $host, '/page.png', @_) });
    $report->row(
        what => "$what, $host->{driver}", beside => 'GET a static file of the same ' . length($bytes) . ' bytes',
        a => $rates->{page}, b => $rates->{static}, ratio => ratio($rates->{page}, $rates->{static}),
        target => $host->{driver} eq 'pgsql' ? $target : undef);
}

1;
