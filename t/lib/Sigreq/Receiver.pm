# SPDX-License-Identifier: Apache-2.0
# Sigreq::Receiver: who registers webhooks: an HTTP server on the loopback in a process of its own, which keeps what
# arrives and answers, or misbehaves, as the path says. It ends with the object.
#
#   /ok  /status/CODE  /redirect     plain answers; connections are kept
#   /slow/SECONDS                    answers after that
#   /held                            answers once the test says so: release()
#   /drip  /drip-body                one byte a second, of the headers or of the body
#   /headers  /endless               64 KiB of headers; a body without an end
#   /reset                           closes when the request is there
#   /once                            answers the first request of a connection, closes on the second
#   /garbage                         what is no HTTP
#   /stray  /idle                    a plain answer; 20 ms later two bytes more; 0.3 s later the connection is closed
package Sigreq::Receiver;
use strict;
use warnings;
use File::Temp 'tempfile';
use Mojo::File 'path';
use Mojo::IOLoop;
use Mojo::JSON qw(decode_json encode_json);
use POSIX ();
use Sigreq::Here ();
use Time::HiRes qw(sleep time);

sub new {    # new(tls => [certificate, key])
    my ($class, %o) = @_;
    my ($file, $name) = tempfile(UNLINK => 0, TMPDIR => 1);
    pipe my $read, my $write or die "pipe: $!";
    my $self = bless { %o, file => $name, owner => $$ }, $class;
    $self->{pid} = fork // die "fork: $!";
    if (!$self->{pid}) {
        close $read;
        $SIG{TERM} = sub { POSIX::_exit(0) };
        eval { $self->serve($write) };
        print STDERR "receiver: $@";
        POSIX::_exit(1);
    }
    close $write;
    chomp($self->{port} = <$read> // die "the receiver did not start\n");
    return $self;
}

sub url { ($_[0]{tls} ? 'https' : 'http') . "://127.0.0.1:$_[0]{port}$_[1]" }

sub received {    # what arrived so far, in its order: {at, path, headers, body (decoded), raw, connection}
    my ($self, $path) = @_;
    my @all = map { decode_json($_) } path($self->{file})->slurp =~ /^(.*)\n/mg;    # a line half written comes later
    $_->{body} = eval { decode_json($_->{raw}) } for @all;
    return grep { !defined $path || $_->{path} eq $path } @all;
}

sub wait_for {    # COUNT, path: waits until so many have arrived (for Sigreq::Here::patience at most), and gives them
    my ($self, $count, $path) = @_;
    my $begun = time;
    my $end   = $begun + Sigreq::Here::patience();
    sleep Sigreq::Here::pause(time - $begun) while $self->received($path) < $count && time < $end;
    return $self->received($path);
}

# What is held is answered, now and from now on. (A call waits for 15 s at most.)
sub release { my $self = shift; open my $file, '>', "$self->{file}.released" or die "$self->{file}.released: $!\n" }

sub DESTROY {
    my $self = shift;
    return if $self->{owner} != $$;
    local $?;
    kill KILL => $self->{pid};
    waitpid $self->{pid}, 0;
    unlink $self->{file}, "$self->{file}.released";
}

# --- the other process

sub serve {
    my ($self, $write) = @_;
    Mojo::IOLoop->reset;
    open my $log, '>>:raw', $self->{file} or die "$self->{file}: $!\n";
    $log->autoflush(1);
    my $connections = 0;
    my @tls = $self->{tls} ? (tls => 1, tls_cert => $self->{tls}[0], tls_key => $self->{tls}[1]) : ();
    my $id = Mojo::IOLoop->server(
        { address => '127.0.0.1', port => 0, @tls },
        sub {
            my ($loop, $stream) = @_;
            my ($buffer, $number, $count) = ('', ++$connections, 0);
            $stream->timeout(0);
            $stream->on(error => sub { });
            $stream->on(
                read => sub {
                    $buffer .= $_[1];
                    while ($buffer =~ /\A(.*?)\r\n\r\n/s) {
                        my ($head, $start) = ($1, $+[0]);
                        my ($length) = $head =~ /^Content-Length: (\d+)/mi;
                        return if length($buffer) < $start + ($length // 0);
                        my $body = substr $buffer, $start, $length // 0;
                        $buffer = substr $buffer, $start + ($length // 0);
                        my ($method, $path) = $head =~ /\A(\S+) (\S+)/;
                        my %headers = map { /^([^:]+): (.*)$/ ? (lc $1 => $2) : () } split /\r\n/, $head;
                        print $log encode_json({ at => time, method => $method, path => $path, headers => \%headers,
                            raw => $body, connection => $number }) . "\n";
                        $path =~ m{^/held\b} ? $self->hold($stream) : answer($stream, $path, ++$count);
                    }
                });
        });
    print $write Mojo::IOLoop->acceptor($id)->port, "\n";
    close $write;
    Mojo::IOLoop->start;
}

my $good = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

sub answer {
    my ($stream, $path, $count) = @_;
    return $stream->write($good) if $path =~ m{^/ok\b} || ($path eq '/once' && $count == 1);
    return $stream->write("HTTP/1.1 $1 Whatever\r\nContent-Length: 0\r\n\r\n") if $path =~ m{^/status/(\d+)};
    return $stream->write("HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n") if $path eq '/redirect';
    return Mojo::IOLoop->timer($1 => sub { $stream->write($good) }) if $path =~ m{^/slow/([\d.]+)};
    return drip($stream, $good) if $path eq '/drip';
    if ($path eq '/stray' || $path eq '/idle') {
        $stream->write($good);
        return Mojo::IOLoop->timer(0.02 => sub { $stream->write("\r\n") }) if $path eq '/stray';
        return Mojo::IOLoop->timer(0.3 => sub { $stream->close });
    }
    if ($path eq '/drip-body') {
        $stream->write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
        return drip($stream, 'x' x 100);
    }
    return $stream->write("HTTP/1.1 200 OK\r\n" . "X-Filler: abcdefghijklmnopqrstuvw\r\n" x 2000 . "\r\n")
        if $path eq '/headers';
    return $stream->write("nonsense\r\n\r\n") if $path eq '/garbage';
    if ($path eq '/endless') {
        $stream->write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        my $more;
        $more = sub { shift->write("1000\r\n" . 'x' x 4096 . "\r\n", $more) };
        return $more->($stream);
    }
    return $stream->close;    # /reset, and /once
}

sub hold {
    my ($self, $stream) = @_;
    my $id;
    $id = Mojo::IOLoop->recurring(
        0.02 => sub {
            return if !-e "$self->{file}.released";
            Mojo::IOLoop->remove($id);
            $stream->write($good);
        });
    $stream->on(close => sub { Mojo::IOLoop->remove($id) });
}

sub drip {
    my ($stream, $text) = @_;
    my $at = 0;
    my $id = Mojo::IOLoop->recurring(1 => sub { $stream->write(substr $text, $at++, 1) if $at < length $text });
    $stream->on(close => sub { Mojo::IOLoop->remove($id) });
}

1;
