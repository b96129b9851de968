# SPDX-License-Identifier: Apache-2.0
# Bench::Bucket: documents in an object store (OpenStack Swift with its S3 API, on this machine) beside documents in a
# folder, with one database each: a download of what the cache of documents has, and a new document of 100 kB, whose
# price is counted in requests to the store: a signed PUT of the same bytes, and a signed HEAD of it, by a client with
# one connection.
package Bench::Bucket;
use strict;
use warnings;
use Bench::Measure qw(in_turns ratio wrk wrk_with);
use Bench::Post;
use Bench::Upload;
use Digest::SHA qw(hmac_sha256 hmac_sha256_hex sha256_hex);
use HTTP::Tiny;
use POSIX 'strftime';
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
# times that the store needs for the two requests of a new document.
sub creations {
    my ($server, $report, $s3, @hosts) = @_;
    my $bytes = Bench::Upload::document(100_000);
    my $http  = HTTP::Tiny->new(timeout => 30);
    my $times = in_turns(
        (map { my $host = $_; ($host->{name} => sub { 1000 / one_by_one($server, $host, @_) }) } @hosts),
        put  => sub { requests($s3, $http, 'PUT',  $bytes, @_) },
        head => sub { requests($s3, $http, 'HEAD', undef,  @_) });
    my @turns  = 0 .. $#{ $times->{put} };
    my @more   = map { $times->{bucket}[$_] - $times->{folder}[$_] } @turns;
    my @both   = map { $times->{put}[$_] + $times->{head}[$_] } @turns;
    my $format = sub { sprintf '%.1f ms', $_[0] };
    $report->row(
        what => 'POST 100 kB, a new document each time, one caller, object store', beside => 'folder',
        a => $times->{bucket}, b => $times->{folder}, format => $format,
        ratio => ratio($times->{bucket}, $times->{folder}));
    for (['PUT of 100 kB', $times->{put}], ['PUT of 100 kB, then HEAD', \@both]) {
        my ($beside, $price) = @$_;
        $report->row(
            what => '… the difference', beside => $beside, a => \@more, b => $price, format => $format,
            ratio => ratio(\@more, $price), target => ['≤', 1]);
    }
}

sub one_by_one {
    my ($server, $host, $seconds) = @_;
    return wrk_with(1, $server, $host, '/api/v3/signatures', $seconds, 'post.lua', "$server->{dir}/upload",
        Bench::Upload::TYPE, $host->{token}, Bench::Post::seed());
}

sub requests {    # milliseconds of one, on a connection that stays
    my ($s3, $http, $method, $bytes, $seconds) = @_;
    my ($begin, $count) = (time, 0);
    while (time - $begin < $seconds) {
        $count++;
        my $name   = $method eq 'PUT' ? $count : 1;
        my $answer = request($s3, $http, $method, "/sigreq/bench/$name", $bytes);
        $answer->{success} or die "$method: $answer->{status}\n";
    }
    return 1000 * (time - $begin) / $count;
}

# One request with the signature that S3 asks for (SigV4). The path has nothing that would have to be encoded.
sub request {
    my ($s3, $http, $method, $path, $bytes) = @_;
    my $time    = strftime '%Y%m%dT%H%M%SZ', gmtime;
    my $scope   = substr($time, 0, 8) . '/us-east-1/s3/aws4_request';
    my %headers = ('x-amz-content-sha256' => sha256_hex($bytes // ''), 'x-amz-date' => $time);
    my %signed  = (host => $s3->endpoint =~ s{^http://}{}r, %headers);
    my $names   = join ';', sort keys %signed;
    my $text    = join "\n", $method, $path, '', (map {"$_:$signed{$_}"} sort keys %signed), '', $names,
        $headers{'x-amz-content-sha256'};
    my $key = 'AWS4testing';
    $key = hmac_sha256($_, $key) for split m{/}, $scope;
    my $signature = hmac_sha256_hex(join("\n", 'AWS4-HMAC-SHA256', $time, $scope, sha256_hex($text)), $key);
    $headers{authorization} =
        "AWS4-HMAC-SHA256 Credential=test:tester/$scope,SignedHeaders=$names,Signature=$signature";
    my %content = defined $bytes ? (content => $bytes) : ();
    return $http->request($method, $s3->endpoint . $path, { headers => \%headers, %content });
}

1;
