# SPDX-License-Identifier: Apache-2.0
# Sigreq::TSA: a running timestamp authority, t/tool/tsa.c, and its control.
package Sigreq::TSA;
use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP qw(decode_json);
use MIME::Base64 qw(encode_base64);

# new(PKI, name of a certificate, login => "user:password", chain => FILE)
sub new {
    my ($class, $pki, $name, %more) = @_;
    my @login = defined $more{login} ? encode_base64($more{login}, '') : ();
    my @files = map { $pki->file("$name.$_") } qw(crt key);
    my $pid   = open my $out, '-|', ($ENV{O} // 'build') . '/t/tool/tsa', @files, $more{chain} // '', @login
        or die "tsa: $!\n";
    my ($port, $control) = (<$out> // '') =~ /^(\d+) (\d+)$/ or die "tsa did not start\n";
    return bless { pid => $pid, out => $out, port => $port, control => $control, owner => $$ }, $class;
}

sub url  { "http://127.0.0.1:$_[0]{port}/" . ($_[1] // '') }
sub port { $_[0]{port} }

sub ask {    # sends one request to the control, such as "mode/slow"
    my ($self, $what) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $self->{control}) or die "control: $!\n";
    print {$socket} "GET /$what HTTP/1.0\r\n\r\n";
    my $said = do { local $/ = undef; <$socket> };
    return decode_json($said =~ s/^.*?\r\n\r\n//sr);
}

sub mode   { $_[0]->ask("mode/$_[1]") }      # ok, or a lie: see t/tool/tsa.c
sub delay  { $_[0]->ask("delay/$_[1]") }     # milliseconds
sub gather { $_[0]->ask("gather/$_[1]") }    # answers only when so many queries wait; 0: at once
sub counts { $_[0]->ask('counts/1') }        # connections, queries, tokens, most (queries at the same time)
sub forget { $_[0]->ask('counts/0') }        # the same, and counts from 0 on

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
