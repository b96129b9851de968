# SPDX-License-Identifier: Apache-2.0
# Bench::Bucket: documents in an object store (OpenStack Swift with its S3 API, on this machine) beside documents in a
# folder, with one database each: a download of what the cache of documents has, and a new document of 100 kB, whose
# price is counted in requests to the store: a PUT of the same bytes by a client with one connection.
package Bench::Bucket;
use strict;
use warnings;
use Bench::Measure qw(in_turns ratio wrk wrk_with);
use Bench::Post;
use Bench::Upload;
use List::Util qw(max min);
use Sigreq::S3;
use Time::HiRes 'time';

sub run {
    my ($server, $report) = @_;
    my $missing = Sigreq::S3::missing();
    return print STDERR "bench: bucket is not measured: $missing\n" if $missing;
    my $s3 = Sigreq::S3->new(dir => $server->{dir}, source => $server->{source});
    mkdir "$server->{dir}/cache";
    my ($folder, $bucket) = map { $server->database($_, 'sqlite3') } qw(folder bucket);
    $bucket->{documents}  = 's3://sigreq';
    $server->{directives} = $s3->directives("$server->{dir}/cache");
    $server->start;
    downloads($server, $report, $folder, $bucket);
    creations($server, $report, $s3, $folder, $bucket);
    $s3->stop;
}

sub downloads {
    my ($server, $report, @hosts) = @_;
    my %path = map {
        my $made = Bench::Upload::create($server, $_);
        ($_->{name} => "/api/v3/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")
    } @hosts;
    my $rates = in_turns(
        map { my $host = $_; ($host->{name} => sub { wrk($server, $host, $path{ $host->{name} }, @_) }) }
        @hosts);
    $report->row(
        what => 'GET a document of 100 kB that the cache of an object store has', beside => 'out of a folder',
        a => $rates->{bucket}, b => $rates->{folder}, ratio => ratio($rates->{bucket}, $rates->{folder}),
        target => ['≥', 0.8]);
}

# One after the other, because what the store can do at a time is not ours: how much longer a creation takes, in the
# times that the store needs for a PUT.
sub creations {
    my ($server, $report, $s3, @hosts) = @_;
    my $bytes = Bench::Upload::document(100_000);
    my $times = in_turns(
        (map { my $host = $_; ($host->{name} => sub { 1000 / one_by_one($server, $host, @_) }) } @hosts),
        put => sub { put($s3, $bytes, @_) });
    my @more = map { ($times->{bucket}[$_] - $times->{folder}[$_]) / $times->{put}[$_] } 0 .. $#{ $times->{put} };
    $report->row(
        what => 'POST 100 kB, a new document each time, one caller, object store', beside => 'folder',
        a => $times->{bucket}, b => $times->{folder}, format => sub { sprintf '%.1f ms', $_[0] },
        ratio => ratio($times->{bucket}, $times->{folder}));
    $report->row(
        what => '… the difference, in requests to the object store', beside => 'PUT of 100 kB', b => $times->{put},
        format => sub { sprintf '%.1f ms', $_[0] }, ratio => [Bench::Measure::median(@more), min(@more), max(@more)],
        target => ['≤', 1]);
}

sub one_by_one {
    my ($server, $host, $seconds) = @_;
    return wrk_with(1, $server, $host, '/api/v3/signatures', $seconds, 'post.lua', "$server->{dir}/upload",
        Bench::Upload::TYPE, $host->{token}, Bench::Post::seed());
}

sub put {    # milliseconds of one, on a connection that stays
    my ($s3, $bytes, $seconds) = @_;
    my ($begin, $count) = (time, 0);
    while (time - $begin < $seconds) {
        my $status = $s3->native(PUT => '/bench/' . ++$count, $bytes);
        $status == 201 or die "PUT: $status\n";
    }
    return 1000 * (time - $begin) / $count;
}

1;
