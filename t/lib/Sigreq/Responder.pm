# SPDX-License-Identifier: Apache-2.0
# Sigreq::Responder: a running OCSP responder and server of CRLs, t/tool/responder.c, and its control.
package Sigreq::Responder;
use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP qw(decode_json);

# new(folder, port): the folder of a Sigreq::PKI, which may be made later with `http` and `ocsp` as URLs. Without a port
# it has a free one.
sub new {
    my ($class, $folder, @port) = @_;
    my @command = (($ENV{O} // 'build') . '/t/tool/responder', $folder, @port);
    my $pid     = open my $out, '-|', @command or die "responder: $!\n";
    my $port = (<$out> // '') =~ /^(\d+)$/ ? $1 : die "responder did not start\n";
    return bless { pid => $pid, out => $out, port => $port, owner => $$ }, $class;
}

sub http { "http://127.0.0.1:$_[0]{port}" }
sub ocsp { "http://127.0.0.1:$_[0]{port}/ocsp" }

sub ask {
    my ($self, $path) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $self->{port}) or die "responder: $!\n";
    print {$socket} "GET /$path HTTP/1.0\r\n\r\n";
    my $said = do { local $/ = undef; <$socket> };
    return $said =~ s/^.*?\r\n\r\n//sr;
}

sub set   { $_[0]->ask("set/$_[1]/$_[2]") }         # a row of `settings`
sub count { decode_json($_[0]->ask('count')) }      # {ocsp, crl}: requests since the last count

sub stop {
    my ($self) = @_;
    return if !$self->{pid} || $self->{owner} != $$;
    kill 'KILL', $self->{pid};
    close $self->{out};
    delete $self->{pid};
    return;
}

sub DESTROY { local ($?, $!) = ($?, $!); $_[0]->stop }

1;
