# SPDX-License-Identifier: Apache-2.0
# Sigreq::Model: what becomes of a submission with three signers, two of whom are due first. The rules are those of the
# decisions about the life of a request, written again, and know nothing of the code. The states are what these rules
# distinguish: submissions in the same state have the same future. t/torture/model.t drives two hosts by it.
package Sigreq::Model;
use strict;
use warnings;
use Exporter 'import';

our @EXPORT_OK = qw(actions start step moves pair key holds reachable walks);

my @all = ((map { my $name = $_; map {"$name $_"} 0 .. 2 } qw(open sign refuse replace remind)),
    qw(cancel expire extend later));
my %start = (state => 'open', signers => [qw(sent sent waiting)], extended => 0, replaced => [0, 0, 0],
    reminded => [0, 0, 0]);
sub actions { return @all }
sub start   { return copy(\%start) }
sub copy    { my $of = shift; return { %$of, map { $_ => [@{ $of->{$_} }] } qw(signers replaced reminded) } }

# The name of a state. Whether the deadline was moved and who was replaced changes no rule, but other code runs then:
# `full` distinguishes that, too. Who was reminded changes when they can be reminded again: only `step` knows that.
sub key {
    my ($of, $full) = @_;
    return join ' ', $of->{state}, @{ $of->{signers} }, $full ? ($of->{extended}, @{ $of->{replaced} }) : ();
}

# --- the rules: conditions on a state and a signer, what refuses an action, in this order, and what an action changes

my %conditions = (
    acted    => sub { $_[0]{signers}[$_[1]] =~ /^(?:completed|refused)$/ },
    closed   => sub { $_[0]{state} ne 'open' },
    dark     => sub { holds('gone', @_) && !holds('acted', @_) },
    due      => sub { !holds('closed', @_) && $_[0]{signers}[$_[1]] =~ /^(?:sent|opened)$/ },
    ended    => sub { $_[0]{state} !~ /^(?:open|cancelled)$/ },
    gone     => sub { $_[0]{state} =~ /^(?:cancelled|expired)$/ },
    idle     => sub { !holds('due', @_) },
    reminded => sub { $_[0]{reminded}[$_[1]] });
my %refused = (
    open    => [dark => 410],
    sign    => [acted => 409, gone => 410, idle => 409],
    refuse  => [acted => 409, gone => 410, idle => 409],
    replace => [closed => 409, acted => 409],
    remind  => [idle => 409, reminded => 429],
    cancel  => [ended => 409],
    extend  => [closed => 409]);
sub holds { my ($name, @of) = @_; return $conditions{$name}->(@of) }

# Each gets the state, which it changes, the number of a signer, and what follows: events, webhooks and mails.
sub note  { my ($said, $text, @lists) = @_; push @{ $said->{$_} }, $text for @lists }
sub close_as { my ($of, $said, $state) = @_; note($said, $of->{state} = $state, 'events') if $of->{state} eq 'open' }

sub opened {
    my ($of, $i, $said) = @_;
    return if $of->{state} ne 'open' || $of->{signers}[$i] ne 'sent';
    $of->{signers}[$i] = 'opened';
    note($said, "opened $i", 'events');
}

my %effects = (
    open => \&opened,
    sign => sub {    # which opens the link, too
        my ($of, $i, $said) = @_;
        opened(@_);
        $of->{signers}[$i] = 'completed';
        note($said, "signed $i", qw(events hooks));
        my @left = grep { $of->{signers}[$_] ne 'completed' } 0 .. 2;
        note($said, $of->{state} = 'completed', qw(events hooks)) if !@left;
        return if "@left" ne '2';
        $of->{signers}[2] = 'sent';
        note($said, 'due 2', 'events');
        note($said, 2,       'mails');
    },
    refuse => sub {
        my ($of, $i, $said) = @_;
        opened(@_);
        $of->{signers}[$i] = $of->{state} = 'refused';
        note($said, "refused $i", qw(events hooks));
    },
    replace => sub {
        my ($of, $i, $said) = @_;
        ($of->{replaced}[$i], $of->{reminded}[$i]) = (1, 0);
        note($said, 'replaced', 'events');
        note($said, $i, 'mails') if $of->{signers}[$i] ne 'waiting';
        $of->{signers}[$i] =~ s/opened/sent/;
    },
    remind => sub {
        my ($of, $i, $said) = @_;
        @$said{qw(code events mails)} = (202, ["reminded $i"], ["reminder $i"]);
        $of->{reminded}[$i] = 1;
    },
    later  => sub { $_[0]{reminded} = [0, 0, 0] },               # than the pause between reminders; GET
    cancel => sub { close_as(@_[0, 2], 'cancelled') },
    expire => sub { close_as(@_[0, 2], 'expired') },             # the deadline is over; GET
    extend => sub { $_[0]{extended} = 1; note($_[2], 'extended', 'events') });

# One action: { code => the status of the response, to => the next state, events, hooks, mails }.
sub step {
    my ($from, $action) = @_;
    my ($name, $i) = split ' ', $action;
    my %said = (code => 200, to => copy($from), map { $_ => [] } qw(events hooks mails));
    my @rules = @{ $refused{$name} // [] };
    while (my ($condition, $code) = splice @rules, 0, 2) {
        return { %said, code => $code } if holds($condition, $from, $i);
    }
    $effects{$name}->($said{to}, $i, \%said);
    return \%said;
}

# Two actions at the same time are as if one came after the other: both outcomes. Who acts by a link that was just
# replaced finds it gone, and the uuid of that signer is not found.
sub pair {
    my ($from, @actions) = @_;
    return map {
        my ($one, $other) = @actions[@$_];
        my ($name, $i) = split ' ', $other;
        my $first  = step($from, $one);
        my $gone   = $first->{code} == 200 && defined $i && $one eq "replace $i";
        my $second = $gone ? { code => $name =~ /^re(?:place|mind)$/ ? 404 : 410, to => $first->{to} }
            : step($first->{to}, $other);
        my @codes;
        @codes[@$_] = ($first->{code}, $second->{code});
        { codes => "@codes", to => $second->{to},
            map { my $list = $_; $list => [map { @{ $_->{$list} // [] } } $first, $second] } qw(events hooks mails) };
    } [0, 1], [1, 0];
}

sub moves {
    my $of = shift;
    return grep { @{ step($of, $_)->{events} } || $_ eq 'later' && grep {$_} @{ $of->{reminded} } } actions();
}

# All states that so many actions reach, the nearest first: [{ key, state, path => the actions }].
sub reachable {
    my ($depth, $full) = @_;
    my @found = { key => key(start(), $full), state => start(), path => [] };
    my %seen  = ($found[0]{key} => 1);
    for my $from (@found) {    # which grows
        for my $action (@{ $from->{path} } < $depth ? moves($from->{state}) : ()) {
            my $to  = step($from->{state}, $action)->{to};
            my $key = key($to, $full);
            push @found, { key => $key, state => $to, path => [@{ $from->{path} }, $action] } if !$seen{$key}++;
        }
    }
    return @found;
}

# Walks of at most so many actions that take each transition that changes something, from each reachable state, at least
# once, and stop in each state once to try all that changes nothing: [{ actions, stops => { 0 … } }].
sub walks {
    my ($depth, $full) = @_;
    my (%taken, %stopped, @walks);
    my $untaken = sub { my $at = shift; my $key = key($at, $full); grep { !$taken{"$key: $_"} } moves($at) };
    for my $from (reachable($depth - 1, $full)) {
        for my $action ($untaken->($from->{state})) {
            my ($at, %walk) = (start(), actions => []);
            my @ahead = (@{ $from->{path} }, $action);
            for my $count (0 .. $depth) {
                my $key = key($at, $full);
                $walk{stops}{$count} = 1 if !$stopped{$key}++;
                my $next = shift @ahead // ($untaken->($at))[0];
                last if !defined $next || $count == $depth;
                push @{ $walk{actions} }, $next;
                $taken{"$key: $next"}++;
                $at = step($at, $next)->{to};
            }
            push @walks, \%walk;
        }
    }
    return (\@walks, scalar keys %taken, scalar keys %stopped);
}

1;
