# SPDX-License-Identifier: Apache-2.0
# Bench::Sign: a signer signs two documents of 100 kB with a typed name: the first of two signers, whose request also
# adds the fields, and the last, whose request also makes the certificate of completion. Beside the first: pgbench
# doing the same database work. Then the processor time of one signature of a document with 20 text fields, beside that
# of the same document without them.
package Bench::Sign;
use strict;
use warnings;
use Bench::Fill;
use Bench::Measure qw(connections in_turns median pgbench ratio rounds seconds wrk_said);
use Bench::Replay;
use Bench::Upload;
use List::Util 'max';
use Sigreq::Multipart qw(multipart part);

use constant {
    NAMES      => ['contract.pdf', 'annex.pdf'],
    SIZE       => 100_000,
    CREATION   => 2,         # seconds of creating at a time
    PER_SECOND => 5_000,     # rows pgbench may use up
    FIRST_TAIL => 100_000_000_000,
    APART      => 1_000_000, # between the tails of two of pgbench's clients
    FIELDS     => 20,        # text fields that a signer fills in
    SIGNATURES => 50,        # whose processor time is taken together
};

sub run {
    my ($server, $report) = @_;
    my ($pgsql, $sqlite3) = map { $server->database($_, $_) } qw(pgsql sqlite3);
    my $replay = $server->database('replay', 'pgsql');
    $server->start;
    my $script = prepare_replay($server, $replay);
    my %times;
    my $signs = sub {
        my ($host, $who) = @_;
        return sub { sign($server, $host, $who, $times{"$who $host->{name}"} //= {}, @_) };
    };
    my $rates = in_turns(
        'first pgsql' => $signs->($pgsql, 'first'), 'last pgsql' => $signs->($pgsql, 'last'),
        pgbench => sub { replay($server, $replay, $script, $times{pgbench} //= {}, @_) },
        'first sqlite3' => $signs->($sqlite3, 'first'), 'last sqlite3' => $signs->($sqlite3, 'last'));
    for my $name ('first pgsql', 'last pgsql', 'first sqlite3', 'last sqlite3') {
        my @beside = $name eq 'first pgsql' ? 'pgbench' : ();
        $report->row(
            what => name_of($name) . percentiles($times{$name}), a => $rates->{$name},
            map { (beside => "the same statements by pgbench" . percentiles($times{$_}), b => $rates->{$_},
                ratio => ratio($rates->{$name}, $rates->{$_})) } @beside);
    }
    compare_values($server, $report, $sqlite3);
}

sub name_of {
    my ($who, $driver) = split ' ', shift;
    return "sign two documents of 100 kB, the $who of two signers, $driver";
}

sub percentiles { # the medians of all rounds; the first is the warm-up
    my $times = shift;
    return sprintf ': p50 %.1f ms, p99 %.1f ms',
        map { my @all = @{ $times->{$_} }; median(@all[1 .. $#all]) } 50, 99;
}

sub body { # two documents and two signers, who sign both
    my @documents = (Bench::Upload::document(SIZE), Bench::Upload::document(SIZE) =~ s/x{32}/"y" x 32/er);
    my @people = map {
        my $y = 72 * ($_ + 1);
        my @fields = map {
            qq({"type":"signature","name":"Signature","document":"$_","area":{"x":72,"y":$y,"w":180,"h":50,"page":0}})
        } @{ +NAMES };
        qq({"firstname":"Ann","lastname":"Lee","fields":[) . join(',', @fields) . ']}'
    } 0, 1;
    my @files = map { part('file', $documents[$_], filename => NAMES->[$_], type => 'application/pdf') } 0, 1;
    return multipart(@files, part('name', 'Contract of sale'), part('signers', '[' . join(',', @people) . ']'));
}

# --- signing over HTTP

# {made, first, last}: submissions there are, signed by their first signer, signed by their last one too: each takes
# them in the order of the file of links.
sub stock { return $_[0]{stock} //= { made => 0, first => 0, last => 0 } }
sub links { my ($server, $host) = @_; return "$server->{dir}/links-$host->{name}" }

sub create { # so many more submissions at least, by the API
    my ($server, $host, $wanted) = @_;
    my $stock = stock($host);
    my $links = links($server, $host);
    Bench::Upload::post($server, $host, body());
    while ($stock->{made} - $stock->{first} < $wanted) {
        print STDERR "bench: creating what is to be signed, $host->{name}            \r" if -t STDERR;
        wrk_said(connections(), $server, $host, '/api/v3/signatures', CREATION, 'create.lua', "$server->{dir}/upload",
            Bench::Upload::TYPE, $host->{token}, $links);
        my $made = () = Bench::Server::slurp($links) =~ /\n/g;
        die "no submissions are made\n" if $made == $stock->{made};
        $stock->{made} = $made;
    }
}

sub sign { # $begins (may be missing) is called when all submissions are there
    my ($server, $host, $who, $times, $seconds, $begins) = @_;
    my $stock = stock($host);
    $seconds += 2 if $who eq 'first';    # those who sign last may be faster
    my $need = int(2 * $seconds * ($times->{rate} // 300)) + 4 * connections();
    create($server, $host, $need) if $who eq 'first';
    my $at = $stock->{$who};
    my $limit = $who eq 'first' ? $stock->{made} : $stock->{first};
    $begins->() if $begins;
    my $said = wrk_said(connections(), $server, $host, '/sign/', $seconds, 'sign.lua', links($server, $host),
        $who eq 'first' ? 1 : 2, $at);
    my ($done) = $said =~ /(\d+) requests in/ or die "wrk says no number:\n$said\n";
    my ($rate) = $said =~ m{^Requests/sec:\s+([\d.]+)}m;
    # those that were under way when time was up are signed, too, but maybe not yet: nobody uses them
    $stock->{$who} = $at + $done + connections();
    die "not enough submissions for the $who signer: $stock->{$who} of $limit\n" if $stock->{$who} > $limit;
    push @{ $times->{$_} }, percentile($said, $_) for 50, 99;
    $times->{done} = $done;
    $times->{rate} = max($rate, $times->{rate} // 0);
    return $rate;
}

sub percentile { # in ms, of what wrk says
    my ($said, $which) = @_;
    my ($number, $unit) = $said =~ /^\s+$which%\s+([\d.]+)(us|ms|s)\s*$/m or die "wrk says no $which%:\n$said\n";
    return $number * { us => 0.001, ms => 1, s => 1000 }->{$unit};
}

# --- processor time

sub compare_values {
    my ($server, $report, $host) = @_;
    my %spent;
    for my $round (0 .. rounds()) { # the first is the warm-up
        for my $count (0, FIELDS) {
            my $spent = spent_on_signing($server, $host, $count);
            push @{ $spent{$count} }, $spent if $round;
        }
    }
    $report->row(
        what => 'processor time of a signature with ' . FIELDS . ' text fields', a => $spent{ +FIELDS },
        beside => 'the same document without them', b => $spent{0}, format => sub { sprintf '%.1f ms', $_[0] },
        ratio => ratio($spent{ +FIELDS }, $spent{0}), target => ['≤', 1.5]);
}

sub spent_on_signing { # in ms for each signature
    my ($server, $host, $count) = @_;
    my $signature = '{"type":"signature","name":"Signature","document":"contract.pdf",'
        . '"area":{"x":72,"y":700,"w":180,"h":50,"page":0}}';
    my @texts = map {
        my $area = sprintf '{"x":%d,"y":%d,"w":180,"h":20,"page":0}', $_ % 2 ? 72 : 300, 60 + 15 * $_;
        qq({"type":"text","name":"Text $_","document":"contract.pdf","area":$area})
    } 1 .. $count;
    my $signer = '{"firstname":"Ann","lastname":"Lee","fields":[' . join(',', $signature, @texts) . ']}';
    my $body = multipart(
        part('file', Bench::Upload::document(SIZE), filename => 'contract.pdf', type => 'application/pdf'),
        part('name', 'Contract of sale'), part('signers', "[$signer]"));
    my @links = map {
        Bench::Upload::post($server, $host, $body)->{submitters}[0]{signatureLink} =~ m{(/sign/.*)}
    } 1 .. SIGNATURES;
    my $values = join ',', map { sprintf '"%d":"Value of field %d"', $_ + 1, $_ } 1 .. $count;
    my $before = $server->processor_seconds;
    sign_one($server, $host, $_, $values) for @links;
    return 1000 * ($server->processor_seconds - $before) / SIGNATURES;
}

# --- pgbench

# Copies of one submission, whose uuids end in what pgbench can count: client by client, number by number.
sub prepare_replay {
    my ($server, $host) = @_;
    my $made = Bench::Upload::post($server, $host, body());
    $server->halt;
    my $rows = PER_SECOND * (1 + rounds() * seconds());
    my ($first, $apart, $clients) = (FIRST_TAIL, APART, connections());
    my $tail = "($first + value % $clients * $apart + value / $clients)";
    print STDERR "bench: filling $host->{name} with $rows            \r" if -t STDERR;
    Bench::Fill::fill($server, $host, $rows + 1, 1, sub { "('" . substr($_[0], 0, 24) . "' || $tail)::uuid" });
    $server->start;
    my ($link) = $made->{submitters}[0]{signatureLink} =~ m{(/sign/.*)};
    my $script = Bench::Replay::script($server, $host, 'sign', 'signing_change', sub { sign_one($server, $host, $link) },
        '\set n :n + 1', "\\set tail $first + :client_id * $apart + :n");
    return $script;
}

sub sign_one {
    my ($server, $host, $link, $values) = @_;
    my $file = "$server->{dir}/answer";
    my $more = $values ? qq(,"values":{$values}) : '';
    my $status = $server->curl($host, $link, '-o', $file, '-H', 'Content-Type: application/json', '-d',
        qq({"action":"sign","consent":true,"signature":{"type":"typed","text":"Ann Lee"}$more}));
    die "signing answers $status: " . Bench::Server::slurp($file) . "\n" unless $status eq '200';
}

sub replay { # and every transaction must have been a signature
    my ($server, $host, $script, $times, $seconds) = @_;
    my $signed = sub { $server->psql($host->{database}, "SELECT count(*) FROM sigreq.signer WHERE completed_at > 0") };
    my $before = $signed->();
    my $log = "$server->{dir}/pgbench-log";
    $server->{pgbench_done} = 0;
    my $rate = pgbench($server, $host, $script, $seconds, '-l', "--log-prefix=$log", '-D', 'n=' . ($host->{used} // 0));
    my $done = $signed->() - $before;
    die "pgbench signed $done times in $server->{pgbench_done} transactions\n" if $done != $server->{pgbench_done};
    my (@times, %clients);
    for my $file (glob "$log.*") {
        for (split /\n/, Bench::Server::slurp($file)) {
            my ($client, undef, $time) = split;
            $clients{$client}++;
            push @times, $time / 1000;
        }
        unlink $file;
    }
    @times = sort { $a <=> $b } @times;
    push @{ $times->{$_} }, $times[$_ / 100 * $#times] for 50, 99;
    $host->{used} += max values %clients;
    return $rate;
}

1;
