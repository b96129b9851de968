# SPDX-License-Identifier: Apache-2.0
# Bench::Post: POST of 100 kB and two signers, of a document seen before and of a new one each time, against pgbench
# doing the same database work, and against a handler that only stores the upload. Then the processor time of the
# preview of a contract of 10 pages as PDF, beside its preview as JSON, which is its creation without the commit.
package Bench::Post;
use strict;
use warnings;
use Bench::Measure qw(in_turns pgbench ratio rounds wrk);
use Bench::Replay;
use Bench::Upload;
use Sigreq::Multipart qw(multipart part);
use Sigreq::PDF 'pdf';

use constant PREVIEWS => 200;    # whose processor time is taken together

sub run {
    my ($server, $report) = @_;
    my $pgsql = $server->database('pgsql', 'pgsql');
    my $sqlite3 = $server->database('sqlite3', 'sqlite3');
    $server->start;
    Bench::Upload::create($server, $_) for $pgsql, $sqlite3; # seen from now on
    my $script = pgbench_script($server, $pgsql);
    check_script($server, $pgsql, $script);
    my $rates = in_turns(
        'seen pgsql' => sub { post($server, $pgsql, @_) },
        'pgbench' => sub { pgbench($server, $pgsql, $script, @_) },
        'new pgsql' => sub { post($server, $pgsql, @_, seed()) },
        'store only' => sub { store_only($server, $pgsql, @_) },
        'seen sqlite3' => sub { post($server, $sqlite3, @_) },
        'new sqlite3' => sub { post($server, $sqlite3, @_, seed()) });
    for (['seen pgsql', 'pgbench', ['≥', 0.5]], ['new pgsql', 'pgbench'], ['seen pgsql', 'store only'],
        ['new pgsql', 'store only'], ['seen sqlite3', 'store only'], ['new sqlite3', 'store only']) {
        my ($what, $beside, $target) = @$_;
        $report->row(
            what => name_of($what), beside => name_of($beside), a => $rates->{$what}, b => $rates->{$beside},
            ratio => ratio($rates->{$what}, $rates->{$beside}), target => $target);
    }
    compare_previews($server, $report, $sqlite3);
}

sub compare_previews {
    my ($server, $report, $host) = @_;
    my @line = map {"BT /F 10 Tf 72 @{[740 - 13 * $_]} Td (This is line $_ of a contract between two parties.) Tj ET"}
        0 .. 49;
    my $contract = pdf(pages => [map { { content => join "\n", @line } } 1 .. 10]);
    my $file     = Bench::Server::spew("$server->{dir}/preview", multipart(
        part('file', $contract, filename => 'contract.pdf', type => 'application/pdf'),
        part('name', 'Contract of sale'), part('signers', Bench::Upload::signers())));
    my %spent;
    for my $round (0 .. rounds()) {    # the first is the warm-up
        for my $type ('application/json', 'application/pdf') {
            my $spent = spent_on_previews($server, $host, $type, $file);
            push @{ $spent{$type} }, $spent if $round;
        }
    }
    $report->row(
        what => 'processor time of a preview as PDF, 10 pages', a => $spent{'application/pdf'},
        beside => 'its creation without the commit', b => $spent{'application/json'},
        format => sub { sprintf '%.1f ms', $_[0] },
        ratio => ratio($spent{'application/pdf'}, $spent{'application/json'}), target => ['≤', 1.5]);
}

sub spent_on_previews {    # in ms for each
    my ($server, $host, $type, $file) = @_;
    my $before = $server->processor_seconds;
    for (1 .. PREVIEWS) {
        my $status = $server->curl($host, '/api/v3/signatures/preview', '-o', "$server->{dir}/answer", '-H',
            'Content-Type: ' . Bench::Upload::TYPE, '-H', "Accept: $type", '--data-binary', "\@$file");
        die "a preview answers $status: " . Bench::Server::slurp("$server->{dir}/answer") . "\n" if $status ne '200';
    }
    return 1000 * ($server->processor_seconds - $before) / PREVIEWS;
}

sub name_of {
    my $name = shift;
    return 'the same statements by pgbench' if $name eq 'pgbench';
    return 'the same upload, only stored' if $name eq 'store only';
    my ($kind, $driver) = split ' ', $name;
    return 'POST 100 kB, document ' . ($kind eq 'seen' ? 'seen before' : 'new each time') . ", $driver";
}

sub post {
    my ($server, $host, $seconds, @seed) = @_;
    return upload($server, $host, '/api/v3/signatures', $seconds, @seed);
}

sub upload {
    my ($server, $host, $path, $seconds, @seed) = @_;
    my @arguments = ("$server->{dir}/upload", Bench::Upload::TYPE, $host->{token}, @seed);
    return wrk($server, $host, $path, $seconds, 'post.lua', @arguments);
}

my $seeds = 0;
# Other documents in each round, and in each process: 16 characters at most.
sub seed { return sprintf '%08x%06x%x', time, $$ & 0xff_ffff, ++$seeds }

sub store_only {
    my ($server, $host, $seconds) = @_;
    my $rate = upload($server, $host, '/store-only', $seconds);
    # the last requests may still be under way, and their files change names
    system 'sh', '-c', 'exec find "$1" -type f -delete 2>/dev/null', 'sh', "$server->{dir}/store-only";
    return $rate;
}

sub pgbench_script {
    my ($server, $host) = @_;
    return Bench::Replay::script($server, $host, 'post', 'submission_create',
        sub { Bench::Upload::create($server, $host) }, '\set tail random(100000000000, 999999999999)');
}

sub check_script { # it must really create
    my ($server, $host, $script) = @_;
    my $count = sub { $server->psql($host->{database}, 'SELECT count(*) FROM sigreq.submission') };
    my $before = $count->();
    $server->{pgbench_done} = 0;
    pgbench($server, $host, $script, 1);
    my $made = $count->() - $before;
    die "pgbench made $made submissions in $server->{pgbench_done} transactions\n" if $made != $server->{pgbench_done};
}

1;
