# SPDX-License-Identifier: Apache-2.0
# Bench::Hostile: what others notice while somebody attacks. 40 connections request pages that take too long to draw, each
# again a second after its answer: POST /signatures of another tenant, and openapi.json. 500 connections send bodies of
# which nearly nothing arrives: GET of one submission.
package Bench::Hostile;
use strict;
use warnings;
use Bench::Measure qw(connections in_turns ratio wrk_output);
use Bench::Server;
use Bench::Upload;
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use Sigreq::Multipart qw(multipart part);
use Sigreq::PDF 'slow_pdf';
use Time::HiRes 'sleep';

use constant {
    CROWD => 40,     # connections that request pages
    PAGES => 400,
    SLOW  => 500,    # connections whose bodies do not arrive
    AGAIN => 1,      # seconds until a slow client that was refused connects again
};

sub run {
    my ($server, $report) = @_;
    my ($attacker, $tenant) = map { $server->database($_, 'pgsql') } qw(attacker tenant);
    $server->start;
    crowd($server, $report, $attacker, $tenant);
    slow($server, $report, $attacker, $tenant);
}

# --- a crowd that requests pages

sub crowd {
    my ($server, $report, $attacker, $tenant) = @_;
    my $paths = slow_pages($server, $attacker);
    Bench::Upload::create($server, $tenant);
    my @post  = ('post.lua', "$server->{dir}/upload", Bench::Upload::TYPE, $tenant->{token});
    my $posts = sub { slowest($server, $tenant, '/api/v3/signatures', @_, @post) };
    my $reads = sub { slowest($server, $tenant, '/api/v3/openapi.json', @_) };
    my $under = sub {
        my $measure = shift;
        return sub {
            my @arguments = @_;
            return during([\&request_pages, $server, $attacker, $paths], sub { $measure->(@arguments) });
        };
    };
    my $times = in_turns(
        posts => $posts, 'posts in a crowd' => $under->($posts),
        reads => $reads, 'reads in a crowd' => $under->($reads));
    my $what = ', 99 % are faster than, while ' . CROWD . ' connections request pages that take too long';
    my $ms   = sub { sprintf '%.1f ms', $_[0] };
    my @beside = (beside => 'without them', format => $ms);
    $report->row(
        what => "POST 100 kB of another tenant, document seen before, pgsql$what", @beside,
        a => $times->{'posts in a crowd'}, b => $times->{posts},
        ratio => ratio(@{$times}{'posts in a crowd', 'posts'}), unit => ' × the time', target => ['≤', 2]);
    my @reads = sort { $a <=> $b } @{ $times->{'reads in a crowd'} };
    $report->row(
        what => "GET openapi.json$what", @beside, a => \@reads, b => $times->{reads},
        ratio => [Bench::Measure::median(@reads), @reads[0, -1]], places => 1, unit => ' ms', target => ['≤', 50]);
    my $status = during([\&request_pages, $server, $attacker, $paths],
        sub { join ' ', map { $server->curl($tenant, '/api/v3/health', '-o', '/dev/null') } 1 .. 20 });
    die "health says $status while a crowd requests pages\n" if $status ne join ' ', (200) x 20;
}

# Creates a document of many pages that take too long to draw. Returns a file of the paths of its pages.
sub slow_pages {
    my ($server, $host) = @_;
    my $signers = Bench::Upload::signers();
    my $made    = Bench::Upload::post($server, $host, multipart(
        part('file', slow_pdf(pages => PAGES), filename => 'contract.pdf', type => 'application/pdf'),
        part('name', 'Slow'), part('signers', $signers)));
    my ($link)   = $made->{submitters}[0]{signatureLink} =~ m{^https?://[^/]+(/.*)};
    my $document = $made->{documents}[0];
    my @paths    = map {"$link/documents/$document->{uuid}/pages/$_.png?version=$document->{sha256}\n"} 0 .. PAGES - 1;
    return Bench::Server::spew("$server->{dir}/slow-pages", join '', @paths);
}

sub request_pages { # until it is stopped
    my ($server, $host, $paths) = @_;
    open STDOUT, '>', '/dev/null';
    open STDERR, '>', '/dev/null';
    exec 'wrk', '-t', 1, '-c', CROWD, '-d', '600s', '--timeout', '20s', '-H', "Host: $host->{name}.test", '-s',
        "$server->{source}/tools/bench/crowd.lua", "http://127.0.0.1:$server->{port}", '--', $paths;
    die "wrk: $!\n";
}

# Returns the milliseconds than which 99 % of the responses to one connection are faster.
sub slowest {
    my ($server, $host, $path, $seconds, @script) = @_;
    my $said = wrk_output(0, 1, $server, $host, $path, $seconds, @script);
    my ($figure, $unit) = $said =~ /^\s*99%\s+([\d.]+)(us|ms|s)\s*$/m or die "wrk says no percentiles:\n$said\n";
    return $figure * { us => 1e-3, ms => 1, s => 1e3 }->{$unit};
}

# --- bodies that do not arrive

sub slow {
    my ($server, $report, $attacker, $tenant) = @_;
    my $made   = Bench::Upload::create($server, $tenant);
    my ($link) = Bench::Upload::create($server, $attacker)->{submitters}[0]{signatureLink} =~ m{^https?://[^/]+(/.*)};
    my $head   = "HTTP/1.1\r\nHost: $attacker->{name}.test\r\nContent-Length: 100000\r\n";
    my @starts = (
        "POST /api/v3/signatures ${head}Authorization: Bearer $attacker->{token}\r\nContent-Type: "
            . Bench::Upload::TYPE . "\r\n\r\n--",
        "POST $link ${head}Content-Type: application/json\r\n\r\n{");
    my $get   = sub {
        my $said = wrk_output(0, connections(), $server, $tenant, "/api/v3/signatures/$made->{uuid}", @_);
        return $said =~ m{^Requests/sec:\s+([\d.]+)}m && $1 > 0 ? $1 : die "wrk says no rate:\n$said\n";
    };
    my $rates = in_turns(
        alone => $get,
        slow  => sub { my @arguments = @_; during([\&send_slowly, $server, @starts], sub { $get->(@arguments) }) });
    $report->row(
        what => 'GET one submission, pgsql, while ' . SLOW . ' clients send bodies slowly', beside => 'without them',
        a => $rates->{slow}, b => $rates->{alone}, ratio => ratio($rates->{slow}, $rates->{alone}), target => ['≥', 0.9]);
}

# Keeps so many connections, each with the beginning of a request, until it is stopped.
sub send_slowly {
    my ($server, @starts) = @_;
    my ($select, %kind, @later, $number) = (IO::Select->new);
    my $open = sub {
        my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$server->{port}", Timeout => 5) or return;
        $socket->syswrite($starts[$number++ % @starts]);
        $select->add($socket);
    };
    $open->() for 1 .. SLOW;
    for (;;) {
        for my $socket ($select->can_read(0.1)) { # a refusal, or its end
            next if $socket->sysread(my $answer, 4096);
            $select->remove($socket);
            close $socket;
        }
        my $missing = SLOW - $select->count;
        next unless $missing;
        sleep AGAIN;
        $open->() for 1 .. $missing;
    }
}

# Calls a function while another process attacks, from a second after its start.
sub during {
    my ($attack, $measure) = @_;
    my ($code, @arguments) = @$attack;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);
        eval { $code->(@arguments) };
        POSIX::_exit(1);
    }
    sleep 1;
    my $ended  = waitpid($pid, POSIX::WNOHANG()) ? "the attack ended\n" : '';
    my $result = eval { $ended ? die $ended : $measure->() };
    my $fault  = $@;
    kill KILL => $pid;
    waitpid $pid, 0 if !$ended;
    die $fault if $fault;
    return $result;
}

1;
