# SPDX-License-Identifier: Apache-2.0
# Bench::Memory: the peak memory (VmHWM) of httpd's child for one upload of 1 MB and of 100 MB, a fresh httpd for each.
package Bench::Memory;
use strict;
use warnings;
use Bench::Measure qw(in_turns median);
use Bench::Upload;
use List::Util qw(min max);

sub run {
    my ($server, $report) = @_;
    my $host = $server->database('pgsql', 'pgsql');
    my %helper;
    my $peak_of = sub {
        my $size = shift;
        $server->start;
        Bench::Upload::create($server, $host, $size);
        my $child = $server->child;
        my $peak = $server->peak_kb($child) / 1024;
        my @workers = map { split ' ', Bench::Server::slurp($_) } glob "/proc/$child/task/*/children";
        push @{ $helper{$size} }, max(map { $server->peak_kb($_) } @workers) / 1024 if @workers;
        $server->halt;
        system 'rm', '-rf', glob "$server->{dir}/documents*/*"; # or the next one would be a document seen before
        return $peak;
    };
    my $peaks = in_turns(map { my $size = $_; ("$size bytes" => sub { $peak_of->($size) }) } 1_000_000, 100_000_000);
    my ($small, $large) = @{$peaks}{'1000000 bytes', '100000000 bytes'};
    my @more = map { $large->[$_] - $small->[$_] } 0 .. $#$small;
    my %format = (format => sub { sprintf '%.1f MB', $_[0] }, unit => ' MB', places => 1);
    $report->row(
        what => "peak memory of httpd's child, upload of 100 MB", beside => 'upload of 1 MB', a => $large, b => $small,
        ratio => [median(@more), min(@more), max(@more)], target => ['≤', 16], %format);
    return unless $helper{1_000_000} && $helper{100_000_000};
    $report->row(
        what => 'peak memory of the PDF helper, upload of 100 MB', beside => 'upload of 1 MB',
        a => $helper{100_000_000}, b => $helper{1_000_000}, %format);
}

1;
