# SPDX-License-Identifier: Apache-2.0
# Bench::Measure: one measurement by wrk or pgbench, and rounds of several in turns.
package Bench::Measure;
use strict;
use warnings;
use Bench::Server;
use Exporter 'import';
use List::Util qw(min max);

our @EXPORT_OK = qw(in_turns median pgbench ratio wrk wrk_output wrk_said wrk_with connections rounds seconds);

sub rounds      { $ENV{BENCH_ROUNDS} // 5 }
sub seconds     { $ENV{BENCH_SECONDS} // 3 }
sub connections { $ENV{BENCH_CONNECTIONS} // 16 }

# in_turns(name => CODE(seconds) → rate, …): A B A B …, after a short warm-up of each; {name => [rate of each round]}
sub in_turns {
    my @things = @_;
    my (%rates, @order);
    while (my ($name, $code) = splice @things, 0, 2) {
        push @order, [$name, $code];
        $code->(1);
    }
    for my $round (1 .. rounds()) {
        for (@order) {
            my ($name, $code) = @$_;
            print STDERR "bench: round $round of ", rounds(), ": $name            \r" if -t STDERR;
            push @{ $rates{$name} }, $code->(seconds());
        }
    }
    print STDERR ' ' x 79, "\r" if -t STDERR;
    return \%rates;
}

sub median {
    my @sorted = sort { $a <=> $b } @_;
    return ($sorted[$#sorted / 2] + $sorted[@sorted / 2]) / 2;
}

# The ratio of two lists of rates, round by round: [median, least, greatest].
sub ratio {
    my ($one, $other) = @_;
    my @ratios = map { $one->[$_] / $other->[$_] } 0 .. $#$one;
    return [median(@ratios), min(@ratios), max(@ratios)];
}

# Requests per second of a path; dies unless every answer was 2xx. After the seconds: a Lua script and its arguments.
sub wrk { return wrk_with(connections(), @_) }

sub wrk_with {
    my $said = wrk_said(@_);
    return $said =~ m{^Requests/sec:\s+([\d.]+)}m && $1 > 0 ? $1 : die "wrk says no rate:\n$said\n";
}

sub wrk_said { # all it says, percentiles of the latency with it
    my ($connections, $server, $host, $path) = @_;
    # with more connections than threads httpd closes idle ones to serve others, as browsers are used to
    my $lasting = $connections <= 32;
    return wrk_output($lasting, @_);
}

# The same. Connections that httpd closes are errors if they are to be `lasting`.
sub wrk_output {
    my ($lasting, $connections, $server, $host, $path, $seconds, @script) = @_;
    my @options = @script ? ('-s', "$server->{source}/tools/bench/" . shift @script) : ();
    my $said = Bench::Server::said('wrk', 'wrk', '-t', 1, '-c', $connections, '-d', "${seconds}s", '--latency', '--timeout',
        '20s',
        '-H', "Host: $host->{name}.test", '-H', "Authorization: Bearer $host->{token}", @options,
        "http://127.0.0.1:$server->{port}$path", @script ? ('--', @script) : ());
    my $errors = $lasting ? qr/Non-2xx|Socket errors/ : qr/Non-2xx|connect [1-9]|write [1-9]|timeout [1-9]/;
    die "$path of $host->{name} gives errors:\n$said\n" if $said =~ $errors;
    return $said;
}

# Transactions per second of a script as the module's role. After the seconds: options of pgbench.
sub pgbench {
    my ($server, $host, $file, $seconds, @options) = @_;
    my $cluster = $server->cluster;
    my $said = Bench::Server::said('pgbench', "$cluster->{bin}/pgbench", '-n', '-c', connections(), '-T', $seconds,
        '-h', $cluster->{socket}, '-U', 'sigreq', '-f', $file, @options, $host->{database});
    my ($done) = $said =~ /number of transactions actually processed: (\d+)/ or die "pgbench did nothing:\n$said\n";
    die "pgbench had failures:\n$said\n" unless $said =~ /number of failed transactions: 0 /;
    $server->{pgbench_done} += $done;
    return $said =~ /^tps = ([\d.]+)/m ? $1 : die "pgbench says no rate:\n$said\n";
}

1;
