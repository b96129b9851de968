# SPDX-License-Identifier: Apache-2.0
# Two that exclude each other, at two hosts at the same time: exactly one of them happens, whichever comes first. The
# second one is sent a little later, or the first one is: twice as late as before if it has lost, half as late if it has
# won. So both outcomes are tried about equally often on every machine.
use strict;
use warnings;
use Mojo::Date;
use Mojo::Promise;
use Sigreq::Here   qw(wait_for);
use Sigreq::Signer qw(chain_fault typed);
use Sigreq::Twin   qw(seed times);
use List::Util 'max';
use Test::More;
use Time::HiRes ();

my $count = times('SIGREQ_TIMES', 4, 100);
my $twin  = Sigreq::Twin->new(children => 2);
seed();

sub later { my ($seconds, $code) = @_; return Mojo::Promise->timer($seconds)->then($code) }

# With an external id, its status is shown.
sub made { return $twin->create(int rand 2, [{}], parts => { externalId => 'race' }) }

sub sign   { return $_[0]->request_p(POST => '', json => typed('Ann Lee')) }
sub refuse { return $_[0]->request_p(POST => '', json => { action => 'refuse', reason => 'no' }) }
sub cancel { my ($client, $made) = @_; return $client->request_p(POST => "/signatures/$made->{uuid}/cancel") }

sub replace {
    my ($client, $made) = @_;
    my $path = "/signatures/$made->{uuid}/signers/$made->{submitters}[0]{uuid}/replace";
    return $client->request_p(POST => $path, json => { firstname => 'Eve', lastname => 'Lee' });
}

# The first one, at one host, and the other one, which begins DELAY - AHEAD seconds later, at the other host: "code
# code". With a short DELAY the other one begins before the first one, which may be the faster request.
use constant AHEAD => 0.02;

sub race {
    my ($made, $first, $other, $delay) = @_;
    my $host   = int rand 2;
    my $signer = $twin->signer($host, $made->{submitters}[0]{uuid});
    my @codes;
    Mojo::Promise->all(
        later(max(0, AHEAD - $delay), sub { $first->($signer) })
            ->then(sub { $codes[0] = $_[0]->code }),
        later(max(0, $delay - AHEAD), sub { $other->($twin->client(1 - $host), $made) })
            ->then(sub { $codes[1] = $_[0]->code }))->wait;
    return "@codes";
}

sub now_of { my ($host, $made) = @_; return $twin->client($host)->get("/signatures/$made->{uuid}")->json }

sub events {    # of a submission, at one host; the chain must be whole
    my ($host, $made) = @_;
    my $audit = $twin->client($host)->get("/signatures/$made->{uuid}/audit")->json;
    my $fault = chain_fault($audit);
    return $fault // join ' ', map { $_->{event} } @{ $audit->{events} };
}

# Runs ROUND(delay) until COUNT rounds are over and each of the two has won. It gives [what happened, who has won].
sub rounds {
    my ($name, $expected, $round) = @_;
    my ($delay, %won, @wrong) = (0.02);
    for (1 .. 4 * $count) {
        my ($happened, $winner) = $round->($delay);
        $delay = $winner ? $delay / 2 : $delay < 30 ? $delay * 2 : $delay;
        next if !defined $happened;
        push @wrong, $happened if !grep { $_ eq $happened } @$expected;
        $won{$winner}++;
        last if keys %won == 2 && $won{0} + $won{1} >= $count;
    }
    my @won = map { $won{$_} // 0 } 1, 0;
    is_deeply(\@wrong, [], "$name: exactly one happens") or diag $twin->errors;
    cmp_ok($won[0] * $won[1], '>', 0, "$name: each has come first") or diag "@won";
    diag "$name: $won[0] and $won[1] times";
}

# What both hosts show in the end, which is to be the same.
sub outcome {
    my ($codes, $made) = @_;
    my @shown = map { now_of($_, $made)->{status} . ': ' . events($_, $made) } 0, 1;
    return "$codes " . ($shown[0] eq $shown[1] ? $shown[0] : "differs: @shown");
}

my $signed = 'completed: created opened signed completed';
for (
    ['sign and cancel', \&sign, \&cancel, "200 409 $signed", '410 200 cancelled: created cancelled'],
    ['refuse and cancel', \&refuse, \&cancel, '200 409 refused: created opened refused',
        '410 200 cancelled: created cancelled'],
    ['sign and replace', \&sign, \&replace, "200 409 $signed", '410 200 open: created replaced'])
{
    my ($name, $first, $other, @expected) = @$_;
    rounds($name, \@expected, sub {
        my $made = made();
        my $codes = race($made, $first, $other, shift);
        return (outcome($codes, $made), $codes =~ /^200/ ? 1 : 0);
    });
}

# The deadline passes on its own. It is set so that the signature is just under way: after DELAY seconds.
rounds(
    'sign and expire',
    ['200 200 completed: created extended opened signed completed', '200 410 expired: created extended expired'],
    sub {
        my $delay = shift;
        my $made = made();
        my $deadline = Mojo::Date->new(sprintf '%.3f', Time::HiRes::time() + $delay)->to_datetime;
        my $set = $twin->client(0)->request(
            PATCH => "/signatures/$made->{uuid}", json => { expiresAt => $deadline })->code;
        return if $set == 400;    # it was over already
        my $code;
        sign($twin->signer(1, $made->{submitters}[0]{uuid}))->then(sub { $code = $_[0]->code })->wait;
        wait_for(sub { Time::HiRes::time() > Mojo::Date->new($deadline)->epoch });
        wait_for(sub { (now_of(0, $made)->{status} // 'open') ne 'open' });
        return (outcome("$set $code", $made), $code == 200 ? 1 : 0);
    });

done_testing;
