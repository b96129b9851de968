# SPDX-License-Identifier: Apache-2.0
# Webhook calls and the life of httpd's processes, under every MPM: children that end after a few connections, graceful
# restarts while receivers are slow, a stop during a restart, and two httpds that share the calls of a database. A slow
# receiver answers when the test tells it to, so nothing here depends on time.
use strict;
use warnings;
use Sigreq::Apart;
use Sigreq::Here qw(suite children wait_for);
use Sigreq::Receiver;
use Test::More;
use Time::HiRes 'sleep';

plan skip_all => 'once is enough: all MPMs are tried'
    if suite->{db} ne 'pgsql' || suite->{mpm} ne 'event';

sub start {    # httpd that may call us, and a client of it
    my ($apart, $server, %o) = @_;
    my $httpd = $apart->httpd(%o, server => "SigreqWebhookAllow 127.0.0.1\n$server");
    return ($httpd, $apart->client($httpd));
}

sub create {    # COUNT submissions whose event goes to a URL, each on a connection of its own
    my ($client, $count, $url) = @_;
    is($client->post('/webhooks/sent-webhook-url', json => { url => $url })->code, 200, $url =~ s/:\d+//r);
    my $crowd = $client->crowd;
    my $good = grep { $_->code == 201 } $crowd->parallel($count, 8, sub { $crowd->create_p });
    is($good, $count, "$count are created");
}

# A receiver that has answered gets 16 calls at a time, an unknown one gets one.
sub make_known {
    my ($client, $receiver) = @_;
    create($client, 1, my $url = $receiver->url('/ok?known'));
    is(scalar history($client, 1, $url), 1, 'the receiver is known');
}

sub history {    # once COUNT calls, of a URL if it is given, are over
    my ($client, $count, $url) = @_;
    my $rows = [];
    wait_for(
        sub {
            sleep 0.1;
            $rows = eval { $client->crowd->get('/webhooks/history', query => { limit => 100 })->json->{data} } // [];
            $rows = [grep { $url ? $_->{url} eq $url : $_->{url} !~ /known$/ } @$rows];
            @$rows >= $count;
        });
    return @$rows;
}

# Every call is waited for, and each event arrived once. On a busy machine a held call may have been given up.
sub all_good {
    my ($client, $count, $receiver, $path) = @_;
    my @ends = map { $_->{error} // 'success' } history($client, $count);
    is(scalar @ends, $count, 'all are over');
    is_deeply([grep { !/^(?:success|no answer within 15 s)$/ } @ends], [], 'no call is lost');
    my %seen;
    $seen{ $_->{body}{eventId} }++ for $receiver->received($path);
    is(scalar keys %seen, $count, 'all arrived');
    is(scalar(grep { $_ > 1 } values %seen), 0, 'all arrived once');
}

sub threads { my @threads = glob "/proc/$_[0]/task/*"; return scalar @threads }

sub are_under_way {    # COUNT calls, none of which is answered before release()
    my ($receiver, $count) = @_;
    is(scalar $receiver->wait_for($count, '/held'), $count, "$count calls are under way");
}

# A graceful restart with three calls under way, then a stop. True if old children still waited for their calls when the
# stop came. On a busy machine the calls may have been given up by then, and the children have ended.
sub stop_while_ending {
    my ($httpd, $client) = @_;
    my $receiver = Sigreq::Receiver->new;
    make_known($client, $receiver);
    create($client, 3, $receiver->url('/held'));
    are_under_way($receiver, 3);
    my $pid = $httpd->pid;
    my @old = children($pid);
    $httpd->graceful;
    # the threads that serve requests have ended: the child waits for its calls alone
    wait_for(sub { !grep { threads($_) > 4 } @old });
    my $waited = grep { kill 0, $_ } @old;
    kill TERM => $pid;
    ok(wait_for(sub { !grep { kill 0, $_ } $pid, @old }), 'all end, though the receiver has not answered');
    unlike($httpd->log, qr/SIGKILL/, 'all end by themselves');
    $httpd->start;
    my @interrupted =
        grep { ($_->{error} // '') eq 'interrupted, outcome unknown' } history($client, 3, $receiver->url('/held'));
    is(scalar $receiver->received('/held'), 3, 'nothing is sent again');
    return $waited && @interrupted;
}

for my $mpm (qw(event worker prefork)) {
    subtest "$mpm: children come and go" => sub {
        my $receiver = Sigreq::Receiver->new;
        my ($httpd, $client) =
            start(Sigreq::Apart->new, "KeepAlive Off\nMaxConnectionsPerChild 5", mpm => $mpm, children => 2);
        my %first = map { $_ => 1 } children($httpd->pid);
        create($client, 30, $receiver->url('/slow/0.3'));
        # a child that got less than its share of connections goes with the next ones
        ok(wait_for(sub { $client->get('/health'); !grep { $first{$_} } children($httpd->pid) }),
            'none of the first children is left');
        all_good($client, 30, $receiver, '/slow/0.3');
    };

    subtest "$mpm: graceful restarts while a receiver is slow" => sub {
        my $receiver = Sigreq::Receiver->new;
        # worker gives no place of a child that ends to another one
        my $room = $mpm eq 'prefork' ? '' : 'MaxRequestWorkers 16';
        my ($httpd, $client) = start(Sigreq::Apart->new, "KeepAlive Off\n$room", mpm => $mpm);
        make_known($client, $receiver);
        create($client, 4, $receiver->url('/held'));
        are_under_way($receiver, 4);
        ok($httpd->graceful, 'new children come, though the receiver has not answered');
        is($client->crowd->get('/health')->code, 200, 'httpd answers after the restart');
        $receiver->release;
        all_good($client, 4, $receiver, '/held');
    };

    subtest "$mpm: a stop while children still end gracefully" => sub {
        my ($httpd, $client) = start(Sigreq::Apart->new, 'KeepAlive Off', mpm => $mpm);
        my $stopped;
        for (1 .. 8) { last if $stopped = stop_while_ending($httpd, $client) }
        ok($stopped, 'children that wait for their calls alone are stopped, and the history knows');
    };
}

subtest 'one child' => sub {
    my ($receiver, $other) = map { Sigreq::Receiver->new } 1, 2;
    my ($httpd, $client) = start(Sigreq::Apart->new, '');
    make_known($client, $receiver);
    create($client, 20, $receiver->url('/held'));
    are_under_way($receiver, 16);
    create($client, 1, $other->url('/ok'));
    is(scalar $other->wait_for(1), 1, 'another host is called');
    # on a busy machine, a call may take the place of one that was given up after 15 s, and be noted late
    my @at = map { $_->{at} } $receiver->received('/held');
    is(scalar(grep { $at[$_] - $at[$_ - 16] < 8 } 16 .. $#at), 0, 'the receiver is not called a 17th time at once');
    $receiver->release;
    history($client, 21);
    is(scalar $receiver->received('/held'), 20, 'all arrived');
};

subtest 'two httpds' => sub {
    my $receiver = Sigreq::Receiver->new;
    my $apart = Sigreq::Apart->new;
    my ($first, $client) = start($apart, '');
    my ($second) = start($apart, '');
    create($client, 5, $receiver->url('/held'));
    # each process makes one call to a host that has not answered yet
    are_under_way($receiver, 2);
    $receiver->release;
    all_good($client, 5, $receiver, '/held');
};
done_testing;
