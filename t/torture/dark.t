# SPDX-License-Identifier: Apache-2.0
# A link that was ended is dark on all hosts. Connections are open to every child of two hosts, and on each of them all
# that the link gives is requested, one after the other, without a pause, before, while and after the caller cancels the
# submission or replaces the signer. A request that begins 50 ms after the response to that, or later, gets nothing. So
# the bound is one of the product: a slow machine makes requests later, and does not make this test fail.
use strict;
use warnings;
use Mojo::Promise;
use Mojo::UserAgent;
use Sigreq::Here qw(children wait_for);
use Sigreq::PDF  'pdf';
use Sigreq::Twin qw(seed times);
use Test::More;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

use constant BOUND => 0.05;
use constant CHILDREN => 3;

my $count = times('SIGREQ_TIMES', 4, 100);
my $twin  = Sigreq::Twin->new(
    children => CHILDREN, threads => 4, server => "KeepAlive On\nKeepAliveTimeout 600\nMaxKeepAliveRequests 0");
seed();

sub now { return clock_gettime(CLOCK_MONOTONIC) }

# --- connections to every child

# Whose the other ends of our connections to a host are: our port → process.
sub owners {
    my $host = shift;
    my %socket = map { (readlink // '') =~ /^(socket:\[\d+\])$/ ? ($1 => (split m{/})[2]) : () }
        map { glob "/proc/$_/fd/*" } children($host->pid);
    open my $table, '<', '/proc/net/tcp' or die "/proc/net/tcp: $!\n";
    my %owner;
    while (<$table>) {
        my ($own, $peer, $inode) = /^\s*\d+: \w+:(\w{4}) \w+:(\w{4})(?:\s+\S+){6}\s+(\d+)/ or next;
        $owner{ hex $peer } = $socket{"socket:[$inode]"} if hex $own == $host->{port};
    }
    return \%owner;
}

sub fetch {    # on one connection → { code, body, began, port }
    my ($line, $url, $headers) = @_;
    my $began = now();
    return $line->{ua}->get_p($url, { Accept => 'application/json', %{ $headers // {} } })->then(
        sub {
            my $tx = shift;
            return { code => $tx->res->code, body => $tx->res->body, etag => $tx->res->headers->etag, began => $began,
                port => $tx->local_port };
        });
}

sub connect_to {    # a connection of its own to some child of a host
    my $host = shift;
    my $ua = Mojo::UserAgent->new(max_connections => 1)->inactivity_timeout(120)->request_timeout(120);
    my $line = { ua => $ua, host => $host };
    fetch($line, $host->base . '/api/v3/health')->then(sub { $line->{port} = $_[0]{port} })->wait;
    return $line;
}

sub lines_to {    # one connection to each child of a host
    my $host = shift;
    my %lines;
    wait_for(
        sub {
            my $line = connect_to($host);
            my $child = owners($host)->{ $line->{port} };
            $lines{$child} //= $line if $child;
            return keys %lines == CHILDREN;
        });
    return values %lines;
}

# --- what a link gives

# [path, headers, whether a response is dark]
sub targets {
    my ($made, $etag) = @_;
    my ($document, $sha256) = @{ $made->{documents}[0] }{qw(uuid sha256)};
    my $page = "/documents/$document/pages/0";
    my $gone = sub { $_[0]{code} == 410 };
    return (
        ["$page.png?width=800",               {}, $gone],
        ["$page.png?width=800&version=$sha256", {}, $gone],
        ["$page.png?width=800&version=$sha256", { 'If-None-Match' => $etag }, $gone],
        ["$page.json",                        {}, $gone],
        ["$page.json?version=$sha256",        {}, $gone],
        ["/documents/$document",              {}, $gone],
        ["/documents/$document", { Range => 'bytes=0-99' }, $gone],
        ['', {}, $gone],
        ['', { Accept => 'text/html' }, sub { $_[0]{body} !~ m{/documents/} }]);
}

# Requests the targets on one connection, one after the other, until it has begun a full turn BOUND after the end.
sub poll {
    my ($line, $link, $targets, $end, $seen) = @_;
    my $step;
    my $number = int rand @$targets;
    my $left   = @$targets;
    $step = sub {
        my $target = $targets->[$number++ % @$targets];
        return fetch($line, $line->{host}->base . $link . $target->[0], $target->[1])->then(
            sub {
                my $got = shift;
                my $after = $end->{at} ? $got->{began} - $end->{at} : undef;
                my $late = defined $after && $after >= BOUND;
                $seen->{moved}++ if $got->{port} != $line->{port};
                $seen->{early}++ if !$end->{asked} && $target->[2]->($got);
                push @{ $seen->{lit} }, $after if defined $after && !$target->[2]->($got);
                push @{ $seen->{bad} }, "$target->[0]: $got->{code} after $after s" if $late && !$target->[2]->($got);
                $seen->{dark}++ if $late;
                $left-- if $late;
                return $left ? $step->() : undef;
            });
    };
    return $step->();
}

sub cancel { my $made = shift; return (POST => "/signatures/$made->{uuid}/cancel") }

sub replace {
    my $made = shift;
    return (POST => "/signatures/$made->{uuid}/signers/$made->{submitters}[0]{uuid}/replace",
        json => { firstname => 'Eve', lastname => 'Lee' });
}

my @lines = map { lines_to($_) } $twin->host(0), $twin->host(1);
is(scalar @lines, 2 * CHILDREN, 'connections to every child of both hosts');

sub round {
    my ($host, $what, $seen) = @_;
    my $made = $twin->create($host, [{}], files => [['a.pdf', pdf(nonce => rand)]]);
    my $link = "/sign/$made->{submitters}[0]{uuid}";
    my $first = (targets($made, ''))[1];
    my $etag;
    fetch($lines[0], $lines[0]{host}->base . $link . $first->[0])->then(sub { $etag = $_[0]{etag} })->wait;
    my @targets = targets($made, $etag);
    my %end;
    $seen->{kinds} = @targets;
    my @polls = map { poll($_, $link, \@targets, \%end, $seen) } @lines;
    my $ending = Mojo::Promise->timer(0.1 + rand 0.1)->then(
        sub {
            $end{asked} = 1;
            return $twin->client($host)->request_p($what->($made));
        })->then(sub { $end{at} = now(); $seen->{ended}++ if $_[0]->code == 200 });
    Mojo::Promise->all($ending, @polls)->catch(sub { push @{ $seen->{bad} }, "error: $_[0]" })->wait;
}

for (['cancel', \&cancel, $count], ['replace', \&replace, int $count / 4]) {
    my ($name, $what, $rounds) = @$_;
    my %seen = (ended => 0, lit => [], bad => [], early => 0, dark => 0);
    round($_ % 2, $what, \%seen) for 1 .. $rounds;
    is($seen{ended}, $rounds, "$name, $rounds times");
    is($seen{early}, 0,       "$name: all requests before it give something");
    is_deeply($seen{bad}, [], "$name: no request 50 ms after it gives something");
    is($seen{dark}, $rounds * @lines * $seen{kinds}, "$name: requests of all kinds came from each child");
    is($seen{moved}, undef, "$name: no connection was opened again");
    my ($last) = sort { $b <=> $a } @{ $seen{lit} }, 0;
    diag sprintf '%s: %d requests were dark, %d still got something, the last one began %.0f ms after the response',
        $name, $seen{dark}, scalar @{ $seen{lit} }, 1000 * $last;
}

done_testing;
