# SPDX-License-Identifier: Apache-2.0
# Bench::Stamp: a signer signs two documents of 100 kB (as in Bench::Sign) with timestamps of an authority that answers
# after 50 ms, beside the same without timestamps; and what a timestamp takes of httpd's processor time.
package Bench::Stamp;
use strict;
use warnings;
use Bench::Measure qw(in_turns median);
use Bench::Server;
use Bench::Sign;
use POSIX ();
use Sigreq::PKI;
use Sigreq::TSA;

use constant {
    AWAY      => 50,     # milliseconds
    DOCUMENTS => 2,
};

sub run {
    my ($server, $report) = @_;
    my $pki = Sigreq::PKI->new("$server->{dir}/pki");
    my $tsa = Sigreq::TSA->new($pki, 'tsa2');
    $tsa->delay(AWAY);
    my $stamped = Bench::Server->new(dir => "$server->{dir}/stamped", source => $server->{source},
        directives => 'SigreqTimestamp ' . $tsa->url . "\nSigreqTimestampAuthorities " . $pki->file('authorities.crt'));
    my (%times, %cpu);
    my %of = (without => $server, with => $stamped);
    my %host = map { $_ => $of{$_}->database($_, 'sqlite3') } keys %of;
    $_->start for values %of;
    my $signs = sub {
        my $which = shift;
        return sub { counted($of{$which}, $host{$which}, $times{$which} //= {}, $cpu{$which} //= [], @_) };
    };
    my $rates = eval { in_turns(map { $_ => $signs->($_) } 'without', 'with') };
    my $fault = $@ . $stamped->log_tail;
    $stamped->stop;
    die $fault if !$rates;
    my $what  = 'sign two documents of 100 kB, the first of two signers, sqlite3, timestamps from ' . AWAY . ' ms away';
    my $range = sub { my @sorted = sort { $a <=> $b } @_; return [median(@sorted), @sorted[0, -1]] };
    my %p50   = map { my @all = @{ $times{$_}{50} }; $_ => [@all[1 .. $#all]] } keys %times;
    $report->row(
        what => "$what: rate", a => $rates->{with}, beside => 'without timestamps', b => $rates->{without},
        ratio => $range->(@{ $rates->{with} }), unit => '/s', places => 0, target => ['≥', 200]);
    $report->row(
        what => "$what: p50", a => $p50{with}, beside => 'without timestamps', b => $p50{without},
        ratio => $range->(@{ $p50{with} }), unit => ' ms', target => ['≤', 75],
        format => sub { sprintf '%.1f ms', $_[0] });
    my ($with, $without) = map { my @all = @$_; [@all[1 .. $#all]] } @cpu{qw(with without)};
    my @each = map { ($with->[$_] - $without->[$_]) / DOCUMENTS } 0 .. $#$with;
    $report->row(
        what => 'a timestamp: processor time of httpd', a => \@each,
        beside => "a signature of two documents, all of it",
        b    => $with, ratio => $range->(@each), unit => ' ms', target => ['≤', 2.5],
        format => sub { sprintf '%.2f ms', $_[0] });
}

# Signs, and notes the milliseconds of processor time of httpd's child for each signature.
sub counted {
    my ($server, $host, $times, $cpu, $seconds) = @_;
    my $before;
    my $rate = Bench::Sign::sign($server, $host, 'first', $times, $seconds, sub { $before = processor_time($server) });
    push @$cpu, (processor_time($server) - $before) / $times->{done};
    return $rate;
}

sub processor_time {    # of httpd's child, in ms
    my $server = shift;
    my @fields = split ' ', Bench::Server::slurp('/proc/' . $server->child . '/stat') =~ s/^.*\) //sr;
    return ($fields[11] + $fields[12]) * 1000 / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}

1;
