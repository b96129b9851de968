# SPDX-License-Identifier: Apache-2.0
# Bench::Life: what the life of a submission costs: a POST with a deadline, an order, an external id, metadata and a
# redirect URL, beside a POST without; and finding the deadlines that are over among those of a million submissions.
package Bench::Life;
use strict;
use warnings;
use Bench::Fill;
use Bench::Measure qw(in_turns median ratio rounds wrk);
use Bench::Upload;
use List::Util qw(max min);
use Sigreq::Multipart 'part';
use Time::HiRes ();

use constant DUE => 1_000;

my %find = (    # as job_batch does it, in src/store
    pgsql => 'SELECT submission_id, kind, due_at FROM sigreq.timer WHERE due_at <= %d ORDER BY due_at LIMIT 1000'
        . ' FOR UPDATE SKIP LOCKED',
    sqlite3 => 'SELECT submission_id, kind, due_at FROM timer WHERE due_at <= %d ORDER BY due_at, submission_id, kind'
        . ' LIMIT 1000');

sub run {
    my ($server, $report) = @_;
    my @hosts = map { $server->database($_, $_) } 'pgsql', 'sqlite3';
    my @large = map { $server->database("$_-large", $_) } 'pgsql', 'sqlite3';
    $server->start;
    Bench::Upload::create($server, $_) for @hosts, @large;
    creations($server, $report, @hosts);
    $server->halt;
    sweep($server, $report, $_) for @large;
}

sub creations {
    my ($server, $report, @hosts) = @_;
    my %file = (
        without => Bench::Server::spew("$server->{dir}/without", Bench::Upload::body(100_000)),
        with    => Bench::Server::spew("$server->{dir}/with", Bench::Upload::body(100_000,
            part('expiresAt', '2030-01-01T00:00:00Z'), part('externalId', 'Contract 17'),
            part('metadata', '{"customer": 17, "tags": ["a", "b"]}'),
            part('redirectUrl', 'https://app.example.org/back'))));
    my $ordered = Bench::Server::slurp($file{with}) =~ s/\{"firstname":"Ann"/{"order":2,"firstname":"Ann"/r;
    Bench::Server::spew($file{with}, $ordered);
    my $rates = in_turns(map {
        my $host = $_;
        map {
            my $kind = $_;
            ("$kind $host->{name}" => sub { wrk($server, $host, '/api/v3/signatures', $_[0], 'post.lua', $file{$kind},
                        Bench::Upload::TYPE, $host->{token}) });
        } 'with', 'without';
    } @hosts);
    for my $name (map { $_->{name} } @hosts) {
        my ($with, $without) = map { $rates->{"$_ $name"} } 'with', 'without';
        $report->row(
            what => "POST 100 kB with all parts of a life, $name", beside => 'the same without them', a => $with,
            b => $without, ratio => ratio($without, $with), target => ['≤', 1.1], unit => ' × the time');
    }
}

# The timers of deadlines: one of each submission, of which DUE are over.
sub sweep {
    my ($server, $report, $host) = @_;
    my $rows = $ENV{BENCH_ROWS} // 1_000_000;
    Bench::Fill::fill($server, $host, $rows, DUE);
    my $schema = $host->{driver} eq 'pgsql' ? 'sigreq.' : '';
    my $now = int(Time::HiRes::time() * 1_000_000);
    my $ask = sub { Bench::Fill->can($host->{driver} eq 'pgsql' ? 'psql' : 'sqlite3')->($server, $host, shift) };
    my $first = "(SELECT min(id) FROM ${schema}submission)";
    $ask->("UPDATE ${schema}submission SET expires_at = $now + (id - $first - " . (DUE - 1) . ") * 1000000;\n"
        . "INSERT INTO ${schema}timer (submission_id, due_at, kind)"
        . " SELECT id, expires_at, 'expiry' FROM ${schema}submission;\n"
        . ($schema ? 'VACUUM ANALYZE sigreq.timer;' : 'ANALYZE;'));
    my $find   = sprintf $find{ $host->{driver} }, $now;
    my $insert = "INSERT INTO ${schema}job (submission_id, organization_id, state, kind, created_at, due_at, body)"
        . " SELECT s.id, s.organization_id, 'pending', g.kind, $now, g.due_at, %s('submission', s.uuid)"
        . " FROM %s g CROSS JOIN ${schema}submission s WHERE s.id = g.submission_id";
    my $queue = sprintf $insert, 'json_object', "($find)";
    $queue = "WITH due AS MATERIALIZED ($find), gone AS (DELETE FROM sigreq.timer t USING due d"
        . ' WHERE t.submission_id = d.submission_id AND t.kind = d.kind RETURNING t.*) '
        . sprintf($insert, 'json_build_object', 'gone') if $schema;
    my $among  = DUE . ' deadlines that are over among ' . Bench::Report::number($rows) . ", $host->{driver}";
    my ($found) = $ask->("SELECT 'found ' || count(*) FROM ($find) AS f;") =~ /^found (\d+)$/m;
    die "$found are found\n" if $found != DUE;
    for (["find $among", $find, ['≤', 50]], ["find and queue $among", $queue]) {
        my ($what, $statement, $target) = @$_;
        my @times = map { once($ask, $statement, $schema) } 0 .. rounds();
        shift @times;    # the first one reads the disk
        $report->row(
            what => $what, a => \@times, format => sub { sprintf '%.1f ms', shift },
            ratio => [median(@times), min(@times), max(@times)], places => 1, target => $target, unit => ' ms');
    }
}

sub once {    # milliseconds; it is undone
    my ($ask, $statement, $schema) = @_;
    my $timed = $schema ? "EXPLAIN (ANALYZE, SUMMARY) $statement;" : ".timer on\n$statement;\n.timer off";
    my $said  = $ask->("BEGIN;\n$timed\nROLLBACK;\n");
    return $1        if $said =~ /Execution Time: ([\d.]+) ms/;
    return 1000 * $1 if $said =~ /Run Time: real ([\d.]+)/;
    die "no time was given:\n$said\n";
}

1;
