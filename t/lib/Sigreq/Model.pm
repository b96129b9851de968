# SPDX-License-Identifier: Apache-2.0
# Sigreq::Model: what becomes of a submission with three signers, two of whom are due first. The rules are those of the
# decisions about the life of a request, written again, and know nothing of the code. t/torture/model.t drives two hosts
# by it. A state has a member for all that matters: { state, 0, 1, 2, 'reminded 0', 'replaced 1', …, extended }.
package Sigreq::Model;
use strict;
use warnings;
use Exporter 'import';
use List::Util 'pairs';

our @EXPORT_OK = qw(actions start idle outcomes reachable);

sub actions {
    my @of_signers = map { my $name = $_; map {"$name $_"} 0 .. 2 } qw(open sign refuse replace remind);
    return (@of_signers, qw(cancel expire extend later));
}

sub start { return { state => 'open', 0 => 'sent', 1 => 'sent', 2 => 'initiated' } }

sub key {    # the text of a state, without the members that have the pattern
    my ($of, $without) = @_;
    return join ' ', map {"$_=$of->{$_}"} grep { !/$without/ } sort keys %$of;
}

# --- the rules: conditions on a state and a signer, when an action changes nothing, and what it changes otherwise

sub closed   { return $_[0]{state} ne 'open' }
sub ended    { return $_[0]{state} !~ /^(?:open|cancelled)$/ }
sub gone     { return $_[0]{state} =~ /^(?:cancelled|expired)$/ }
sub acted    { my ($of, $i) = @_; return $of->{$i} =~ /^(?:completed|refused)$/ }
sub opened   { my ($of, $i) = @_; return $of->{$i} ne 'sent' }
sub idle     { my ($of, $i) = @_; return closed($of) || $of->{$i} !~ /^(?:sent|opened)$/ }
sub reminded { my ($of, $i) = @_; return $of->{"reminded $i"} }

my %decided = (    # the first condition that holds decides the status of the response
    open    => [\&acted => 200, \&gone => 410, \&closed => 200, \&opened => 200],
    sign    => [\&acted => 409, \&gone => 410, \&idle => 409],
    refuse  => [\&acted => 409, \&gone => 410, \&idle => 409],
    replace => [\&closed => 409, \&acted => 409],
    remind  => [\&idle => 409, \&reminded => 429],
    cancel  => [\&ended => 409, \&closed => 200],
    extend  => [\&closed => 409],
    expire  => [\&closed => 200]);

# Each changes the state, and returns events and mails.
my %effects = (
    open => sub {
        my ($of, $i) = @_;
        $of->{$i} = 'opened';
        return "opened $i";
    },
    sign => sub {    # which opens the link, too
        my ($of, $i) = @_;
        my @opened = opened($of, $i) ? () : "opened $i";
        $of->{$i} = 'completed';
        my $left = join '', grep { $of->{$_} ne 'completed' } 0 .. 2;
        $of->{state} = 'completed' if $left eq '';
        $of->{2} = 'sent' if $left eq '2';
        return (@opened, "signed $i", $left eq '' ? 'completed' : $left eq '2' ? ('due 2', 'mail 2') : ());
    },
    refuse => sub {
        my ($of, $i) = @_;
        my @opened = opened($of, $i) ? () : "opened $i";
        $of->{$i} = $of->{state} = 'refused';
        return (@opened, "refused $i");
    },
    replace => sub {
        my ($of, $i) = @_;
        delete $of->{"reminded $i"};
        $of->{"replaced $i"} = 1;
        $of->{$i} =~ s/opened/sent/;
        return ('replaced', $of->{$i} eq 'sent' ? "mail $i" : ());
    },
    remind => sub {
        my ($of, $i) = @_;
        $of->{"reminded $i"} = 1;
        return ("reminded $i", "mail reminder $i");
    },
    extend => sub { return $_[0]{extended} = 'extended' },
    cancel => sub { return $_[0]{state} = 'cancelled' },
    expire => sub { return $_[0]{state} = 'expired' },                     # the deadline is over; GET
    later => sub { delete @{ $_[0] }{ map {"reminded $_"} 0 .. 2 }; return });

# The outcomes of an action, or of two at the same time, which are as if one came after the other: { codes => a status
# for each, to => the next state, events, hooks, mails }. A link that was just replaced is gone, and the uuid of its
# signer is not found.
sub outcomes {
    my ($from, @actions) = @_;
    return map {
        my ($to, $gone, @codes, @said) = ({%$from}, 'nobody');
        for my $n (@$_) {
            my ($name, $i) = split ' ', $actions[$n];
            my ($decided) = grep { $_->[0]->($to, $i) } pairs @{ $decided{$name} // [] };
            $codes[$n] = $decided ? $decided->[1] : $name eq 'remind' ? 202 : 200;
            $codes[$n] = $name =~ /^re(?:place|mind)$/ ? 404 : 410 if ($i // '') eq $gone;
            next if $decided || $codes[$n] > 202;
            push @said, $effects{$name}->($to, $i);
            $gone = $i if $name eq 'replace';
        }
        +{ codes => "@codes", to => $to, events => [grep { !/^mail/ } @said],
            hooks => [grep {/^(?:signed|refused|completed)/} @said], mails => [map { /^mail (.*)/ } @said] };
    } @actions > 1 ? ([0, 1], [1, 0]) : [0];
}

# All states that so many actions reach, the nearest first: { state, path => the actions, leave => the actions that
# lead to another state, stay => all others }. Members that have the pattern do not distinguish states.
sub reachable {
    my ($depth, $without) = @_;
    my @found = { state => start(), path => [], stay => [], leave => [] };
    my %seen;
    for my $from (@found) {    # which grows
        my $here = key($from->{state}, $without);
        $seen{$here}++;
        for my $action (actions()) {
            my ($outcome) = outcomes($from->{state}, $action);
            my $there = key($outcome->{to}, $without);
            push @{ $from->{ $there eq $here ? 'stay' : 'leave' } }, $action;
            next if @{ $from->{path} } == $depth || $seen{$there}++;
            push @found, { state => $outcome->{to}, path => [@{ $from->{path} }, $action], stay => [], leave => [] };
        }
    }
    return @found;
}

1;
