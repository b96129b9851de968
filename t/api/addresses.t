# SPDX-License-Identifier: Apache-2.0
# Webhooks of an installation that allows only public addresses: nothing on this host is called, whatever the notation
# of the address. The history has a row for each with the same text, so that it does not tell which names exist in the
# network. The error log has the kind of the address.
use strict;
use warnings;
use IO::Socket::INET;
use Sigreq::Apart;
use Sigreq::Here 'wait_for';
use Test::More;
use Time::HiRes 'sleep';

my $apart  = Sigreq::Apart->new;
my $httpd  = $apart->httpd;
my $client = $apart->client($httpd);

# on all addresses, and it accepts nobody: who connects waits in its queue
my $listener = IO::Socket::INET->new(LocalAddr => '0.0.0.0', Listen => 50, Blocking => 0) or die "no listener: $!\n";
my $port     = $listener->sockport;

my %kinds = (
    loopback => [
        qw(127.0.0.1 127.1 2130706433 0x7f000001 0x7f.0x0.0x0.0x1 017700000001 0177.0.0.1 localhost LOCALHOST [::1]
            127.255.255.254 [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1]
            [2002:7f00:1::])],
    unspecified  => [qw(0 0.0.0.0 [::] [::ffff:0.0.0.0])],
    private      => [qw(10.0.0.1 167772161 172.16.0.1 192.168.1.1 0xc0a80101 [fd00::1] [::ffff:10.0.0.1])],
    'link-local' => [qw(169.254.169.254 0xa9fea9fe [fe80::1])],
    reserved     => [qw([::127.0.0.1] 255.255.255.255)],
    multicast    => [qw(224.0.0.1 [ff02::1])],
    'shared (carrier-grade NAT)' => [qw(100.64.0.1)]);
my %wanted;
for my $kind (sort keys %kinds) {
    for my $host (@{ $kinds{$kind} }) {
        my $url = "http://$host:$port/x";
        is($client->post('/webhooks/sent-webhook-url', json => { url => $url })->code, 200, "registered: $url");
        my $made = $client->create->json;
        $wanted{ $made->{uuid} } = $url;
    }
}
my @rows;
wait_for(
    sub {
        @rows = @{ $client->get('/webhooks/history', query => { limit => 100 })->json->{data} };
        @rows >= keys %wanted;
    });
is(scalar @rows, scalar keys %wanted, 'the history has one row for each');
for my $row (sort { $a->{url} cmp $b->{url} } @rows) {
    my ($url, $error) = ($wanted{ $row->{submissionId} }, 'the host of the URL has no address that may be called');
    is_deeply([@$row{qw(url success statusCode error)}], [$url, Mojo::JSON::false(), undef, $error], "$url: $error");
}
for my $kind (sort keys %kinds) {
    my @said = $httpd->log =~ /failed: the address is \Q$kind\E/g;
    is(scalar @said, scalar @{ $kinds{$kind} }, "the log says which were $kind");
}
ok(!$listener->accept, 'no call has connected');
done_testing;
