# SPDX-License-Identifier: Apache-2.0
# Bench::Post: POST of 100 kB and two signers, of a document seen before and of a new one each time, against pgbench
# doing the same database work, and against a handler that only stores the upload.
package Bench::Post;
use strict;
use warnings;
use Bench::Measure qw(in_turns pgbench ratio wrk);
use Bench::Replay;
use Bench::Upload;

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
