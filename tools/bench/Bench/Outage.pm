# SPDX-License-Identifier: Apache-2.0
# Bench::Outage: signing with `SigreqTimestampMode prefer` while the only timestamp authority accepts connections and
# never answers, beside the same while it answers: what the breaker saves the signers. An outage lasts a minute. The
# times are those of httpd's log, because wrk adds what would have been sent meanwhile to its percentiles.
package Bench::Outage;
use strict;
use warnings;
use Bench::Measure qw(connections median rounds);
use Bench::Server;
use Bench::Sign;
use List::Util qw(max min);
use Sigreq::PKI;
use Sigreq::TSA;

use constant {
    MINUTE => 60,
    MORE   => 50,    # milliseconds that the slowest hundredth may take longer
};

sub run {
    my ($server, $report) = @_;
    my $pki = Sigreq::PKI->new("$server->{dir}/pki");
    my $tsa = Sigreq::TSA->new($pki, 'tsa2');
    $server->{directives} = join "\n", 'SigreqTimestamp ' . $tsa->url, 'SigreqTimestampMode prefer',
        'SigreqTimestampAuthorities ' . $pki->file('authorities.crt'), qq(CustomLog "$server->{dir}/logs/times" "%D %r");
    my $host = $server->database('outage', 'sqlite3');
    $server->start;
    my %times = map { $_ => {} } qw(ok slow);
    Bench::Sign::sign($server, $host, 'first', $times{ok}, 2);    # a warm-up, which also tells the rate
    my (%p99, %rate, @stamped);
    for my $round (1 .. min(2, rounds())) {
        for my $mode (qw(ok slow)) {
            $times{$mode}{rate} //= $times{ok}{rate};
            $tsa->forget;
            my $begins = sub { $tsa->mode($mode); truncate "$server->{dir}/logs/times", 0 };
            push @{ $rate{$mode} }, Bench::Sign::sign($server, $host, 'first', $times{$mode}, MINUTE, $begins);
            push @{ $p99{$mode} }, slowest_hundredth("$server->{dir}/logs/times");
            push @stamped, $tsa->counts->{tokens} if $mode eq 'slow';
        }
        $tsa->mode('ok');
    }
    die "the authority answered during its outage: @stamped\n" if grep { $_ > connections() } @stamped;
    my @more = map { $p99{slow}[$_] - $p99{ok}[$_] } 0 .. $#{ $p99{ok} };
    my $rates = join ' and ', map { sprintf '%.0f/s', median(@{ $rate{$_} }) } qw(slow ok);
    $report->row(
        what => "sign two documents of 100 kB, prefer, an outage of the authority for a minute: p99 ($rates)",
        a => $p99{slow}, beside => 'while the authority answers', b => $p99{ok},
        ratio => [median(@more), min(@more), max(@more)], unit => ' ms', target => ['≤', MORE],
        format => sub { sprintf '%.1f ms', $_[0] });
}

sub slowest_hundredth { # the 99th percentile of the requests that sign, in ms
    my @times = sort { $a <=> $b } Bench::Server::slurp(shift) =~ m{^(\d+) POST /sign/}mg;
    die "httpd's log has no times\n" if @times < 100;
    return $times[0.99 * $#times] / 1000;
}

1;
