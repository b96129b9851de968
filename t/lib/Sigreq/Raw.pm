# SPDX-License-Identifier: Apache-2.0
# Sigreq::Raw: HTTP over a plain socket, for requests that other clients never send: half a request, bytes that are not
# HTTP, a body without its end.
package Sigreq::Raw;
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Mojo::Message::Response;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes 'time';

sub new {
    my ($class, $port) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 10)
        or die "connect: $@\n";
    setsockopt $socket, IPPROTO_TCP, TCP_NODELAY, 1;
    binmode $socket;
    return bless { socket => $socket, input => '' }, $class;
}

# Sends; false when the other side has closed.
sub send {
    my ($self, $bytes) = @_;
    local $SIG{PIPE} = 'IGNORE';
    my $done = 0;
    while ($done < length $bytes) {
        my $n = syswrite $self->{socket}, $bytes, length($bytes) - $done, $done;
        return 0 unless $n;
        $done += $n;
    }
    return 1;
}

# Waits for one answer, two minutes unless told otherwise: Mojo::Message::Response, or undef when none came.
sub answer {
    my ($self, $seconds) = @_;
    my $end   = time + ($seconds // 120);
    my $res   = Mojo::Message::Response->new;
    my $parse = sub {    # keeps what follows the answer for the next one
        $res->parse(shift);
        return 0 unless $res->is_finished;
        $self->{input} = $res->content->leftovers // '';
        return 1;
    };
    if (length $self->{input}) { my $kept = $self->{input}; $self->{input} = ''; return $res if $parse->($kept) }
    while ((my $left = $end - time) > 0) {
        IO::Select->new($self->{socket})->can_read($left) or last;
        my $n = sysread $self->{socket}, my $bytes, 65536;
        if (!$n) { $self->{closed} = 1; last }
        return $res if $parse->($bytes);
    }
    return defined $res->code && $self->{closed} ? $res : undef;
}

# Whether the other side closes within so many seconds, or two minutes (what it still sends is dropped).
sub closes {
    my ($self, $seconds) = @_;
    return 1 if $self->{closed};
    my $end = time + ($seconds // 120);
    while ((my $left = $end - time) > 0) {
        IO::Select->new($self->{socket})->can_read($left) or last;
        return $self->{closed} = 1 unless sysread $self->{socket}, my $bytes, 65536;
    }
    return 0;
}

# Whether there is something to read: an answer has begun, or the other side has closed.
sub has_answer { my $self = shift; return length $self->{input} || IO::Select->new($self->{socket})->can_read(0) }

sub finish { shutdown $_[0]{socket}, 1 }
sub close  { close $_[0]{socket} }

1;
