# SPDX-License-Identifier: Apache-2.0
# Bench::Deliver: webhook calls out of the store by one child, against wrk's raw rate of the same POST on the same
# receiver; how long one takes when nothing else is to do; and what fifty receivers that hang cost the others.
package Bench::Deliver;
use strict;
use warnings;
use Bench::Measure qw(connections in_turns median ratio);
use Bench::Upload;
use IO::Socket::INET;
use Time::HiRes 'sleep';

my $body_bytes = 1200;    # about what a signer's event has

sub run {
    my ($server, $report) = @_;
    my @hosts = map { $server->database($_, $_) } qw(pgsql sqlite3);
    $server->start;
    my $receiver = receiver($server);
    listen_at($server, $_, "http://127.0.0.1:$receiver->{port}/") for @hosts;
    Bench::Upload::create($server, $_) for @hosts;
    my $rates = eval {
        in_turns(
            'raw' => sub { raw($server, $receiver, @_) },
            map { my $host = $_; ($host->{name} => sub { calls($server, $host, $receiver, @_) }) } @hosts);
    };
    my $error = $@;
    if ($rates) {
        for my $host (@hosts) {
            $report->row(
                what => "webhook calls by one child, $host->{name}",
                beside => 'the same POST by wrk, ' . connections() . ' connections',
                a => $rates->{ $host->{name} }, b => $rates->{raw},
                ratio => ratio($rates->{ $host->{name} }, $rates->{raw}),
                target => ['≥', $host->{driver} eq 'pgsql' ? 0.15 : 0.2]);
        }
        idle($server, $report, $_) for @hosts;
        hung($server, $report, $hosts[0], $receiver);
    }
    kill TERM => $receiver->{pid};
    waitpid $receiver->{pid}, 0;
    die $error if !$rates;
}

# --- receivers

sub receiver {    # an httpd that answers 204 to everything
    my $server = shift;
    my $port   = Bench::Server::free_port();
    my $asked  = sub { Bench::Server::said('apxs', 'apxs', '-q', $_[0]) =~ s/\s+$//r };
    my $folder = $asked->('LIBEXECDIR');
    my $load   = join '', map {"LoadModule ${_}_module $folder/mod_$_.so\n"} qw(mpm_event authz_core alias);
    my $conf   = Bench::Server::spew("$server->{dir}/receiver.conf", <<"CONF");
ServerRoot "$server->{dir}"
ServerName 127.0.0.1
Listen 127.0.0.1:$port
PidFile "$server->{dir}/logs/receiver.pid"
ErrorLog "$server->{dir}/logs/receiver_log"
${load}ServerLimit 1
StartServers 1
ThreadsPerChild 64
MaxRequestWorkers 64
MaxKeepAliveRequests 0
Redirect 204 /
CONF
    my $pid = fork // die "fork: $!\n";
    if (!$pid) { exec $asked->('SBINDIR') . '/' . $asked->('PROGNAME'), '-f', $conf, '-DFOREGROUND'; die "httpd: $!\n" }
    for (1 .. 50) { last if IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port"); sleep 0.1 }
    return { port => $port, pid => $pid };
}

sub listen_at {
    my ($server, $host, $url) = @_;
    my $status = $server->curl($host, '/api/v3/webhooks/sent-webhook-url', '-o', '/dev/null', '-H',
        'Content-Type: application/json', '-d', qq({"url":"$url"}));
    die "sent-webhook-url answers $status\n" if $status ne '200';
}

# --- rates

sub raw {
    my ($server, $receiver, $seconds) = @_;
    my $script = Bench::Server::spew("$server->{dir}/raw.lua", <<"LUA");
wrk.method = "POST"
wrk.body = string.rep("x", $body_bytes)
wrk.headers["Content-Type"] = "application/json"
LUA
    my $said = Bench::Server::said('wrk', 'wrk', '-t', 1, '-c', connections(), '-d', "${seconds}s", '-s', $script,
        "http://127.0.0.1:$receiver->{port}/");
    return $said =~ m{^Requests/sec:\s+([\d.]+)}m && $1 > 0 ? $1 : die "wrk says no rate:\n$said\n";
}

sub sql {    # as the module's role; gives what it prints
    my ($server, $host, $text) = @_;
    return $server->psql($host->{database}, "SET search_path = sigreq;\n$text") if $host->{driver} eq 'pgsql';
    my $file = Bench::Server::spew("$server->{dir}/statements.sql", ".timeout 5000\n$text");
    return Bench::Server::said('sqlite3', 'sh', '-c', 'sqlite3 -batch "$1" <"$2"', 'sh', $host->{params}, $file);
}

# The table of jobs. Builds before it had another name are compared with this one (make bench BASE=…).
sub table {
    my ($server, $host) = @_;
    my $found = sql($server, $host, $host->{driver} eq 'pgsql'
        ? "SELECT count(*) FROM pg_tables WHERE schemaname = 'sigreq' AND tablename = 'job';\n"
        : "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'job';\n");
    return $found > 0 ? 'job' : 'delivery';
}

sub waiting { my $said = sql(@_, "SELECT count(*) FROM @{[table(@_)]} WHERE state <> 'done';\n"); return $said + 0 }

sub empty {
    my ($server, $host) = @_;
    sleep 0.1 while waiting($server, $host);
    sql($server, $host, "DELETE FROM @{[table($server, $host)]};\n");
}

# So many calls, each of a submission of its own (which are there from now on). The URL is an SQL expression of its id.
sub fill {
    my ($server, $host, $count, $url) = @_;
    my $pg   = $host->{driver} eq 'pgsql';
    my $uuid = $pg ? 'gen_random_uuid()' : q{lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || }
        . q{substr(hex(randomblob(2)), 2) || '-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))};
    my $numbers = $pg ? "generate_series(1, $count)"
        : "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $count) SELECT i FROM n)";
    my $columns = 'token_id, user_id, organization_id, environment, created_at, updated_at, name, template_uuid, '
        . 'skip_intro, send_email, search, base_url, representation, representation_version, events, events_hash';
    my $body = '{"event":"sent",' . ' ' x ($body_bytes - 120) . '"x":1}';
    my $have = sql($server, $host, "SELECT count(*) FROM submission;\n") + 0;
    sql($server, $host, <<"SQL") if $have < $count;
INSERT INTO submission (uuid, $columns) SELECT $uuid, $columns FROM (SELECT * FROM submission LIMIT 1) s, $numbers AS n;
SQL
    my ($table, $more, $values) = (table($server, $host), '', '');
    ($more, $values) = ('event, state, due_at, ', "'sent', 'pending', created_at, ") if $table eq 'job';
    my $kind = $table eq 'job' ? 'webhook' : 'sent';
    sql($server, $host, <<"SQL");
INSERT INTO $table (uuid, event_id, submission_id, token_id, user_id, organization_id, environment, kind, created_at,
    $more url, body)
SELECT u, u, id, token_id, user_id, organization_id, environment, '$kind', created_at, $values $url, '$body'
FROM (SELECT $uuid AS u, s.* FROM submission s LIMIT $count) s;
SQL
}

sub calls {
    my ($server, $host, $receiver, $seconds) = @_;
    my $count = 2000 * $seconds;
    empty($server, $host);
    fill($server, $host, $count, "'http://127.0.0.1:$receiver->{port}/'");
    sleep 0.2 while waiting($server, $host);
    my $table = table($server, $host);
    my ($failed, $took) = split /\|/, sql($server, $host, <<"SQL");
SELECT sum(CASE WHEN success THEN 0 ELSE 1 END), max(ended_at) - min(ended_at) FROM $table;
SQL
    die "$failed of $count calls failed\n" if $failed > 0;
    return $count / ($took / 1e6);
}

# --- times

sub durations {    # creates submissions one by one; from the event to the end of its call, in ms, sorted
    my ($server, $host, $count) = @_;
    my @uuids = map { sleep 0.05; Bench::Upload::create($server, $host)->{uuid} } 1 .. $count;
    my $in    = join ',', map {"'$_'"} @uuids;
    my $query = "FROM @{[table($server, $host)]} d JOIN submission s ON s.id = d.submission_id WHERE s.uuid IN ($in)";
    my $done  = "SELECT count(*) $query AND d.state = 'done';\n";
    for (1 .. 100) { last if sql($server, $host, $done) == $count; sleep 0.1 }
    return sort { $a <=> $b } map { $_ / 1000 } split ' ',
        sql($server, $host, "SELECT d.ended_at - d.created_at $query AND d.state = 'done';\n");
}

my %ms = (format => sub { sprintf '%.0f ms', $_[0] }, unit => ' ms', places => 0);

sub idle {
    my ($server, $report, $host) = @_;
    empty($server, $host);
    my @ms  = durations($server, $host, 50);
    my $p50 = median(@ms);
    $report->row(what => "from an event to its call's end on record, idle, $host->{name}: p50", a => [$p50],
        ratio => [$p50, $ms[0], $ms[-1]], target => ['≤', 20], %ms);
}

sub hung {
    my ($server, $report, $host, $receiver) = @_;
    my $deaf = IO::Socket::INET->new(LocalAddr => '0.0.0.0', Listen => 1000) or die "listen: $!\n";
    empty($server, $host);
    $server->halt;    # a child that has not had its peak yet
    $server->start;
    durations($server, $host, 20);
    my $before = $server->peak_kb($server->child);
    fill($server, $host, 50_000, q{'http://127.0.0.' || (2 + id % 50) || ':} . $deaf->sockport . q{/'});
    sleep 6;    # it has found them
    my @ms   = durations($server, $host, 100);
    my $p99  = $ms[98];
    my $more = ($server->peak_kb($server->child) - $before) / 1024;
    $report->row(what => 'the same beside 50 receivers that hang, with 1,000 calls each: p99', a => [$p99],
        ratio => [$p99, $ms[0], $ms[-1]], target => ['≤', 1000], %ms);
    $report->row(what => "… and httpd's child takes more memory", a => [$more], ratio => [$more, $more, $more],
        target => ['≤', 20], format => sub { sprintf '%.1f MB', $_[0] }, unit => ' MB', places => 1);
}

1;
