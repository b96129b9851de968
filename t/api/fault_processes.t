# Webhook calls and the life of httpd's processes, under every MPM: children that end after a few connections, graceful
# restarts while receivers are slow, a stop in the middle of one; and two httpds that share a database's calls.
use strict;
use warnings;
use Sigreq::Apart;
use Sigreq::Here qw(suite children wait_for);
use Sigreq::Receiver;
use Test::More;
use Time::HiRes qw(sleep time);

plan skip_all => 'once is enough: all MPMs are tried, which takes 100 s'
    if suite->{db} ne 'pgsql' || suite->{mpm} ne 'event';
my $receiver = Sigreq::Receiver->new;

sub start {    # httpd that may call us, and a client of it
    my ($apart, $server, %o) = @_;
    my $httpd = $apart->httpd(%o, server => "SigreqWebhookAllow 127.0.0.1\n$server");
    return ($httpd, $apart->client($httpd));
}

sub create {    # COUNT submissions whose event goes to a path, each on a connection of its own; the longest wait
    my ($client, $count, $path) = @_;
    is($client->post('/webhooks/sent-webhook-url', json => { url => $receiver->url($path) })->code, 200, $path);
    my ($longest, $good) = (0, 0);
    for (1 .. $count) {
        my $at = time;
        $good += $client->crowd->create->code == 201;
        $longest = time - $at if time - $at > $longest;
    }
    is($good, $count, "$count are created");
    return $longest;
}

sub make_known {    # a destination that has answered gets 16 calls at a time, an unknown one gets one
    my $client = shift;
    create($client, 1, '/ok?known');
    is(scalar history($client, 1, 20), 1, 'the receiver is known');
}

sub history {    # once COUNT calls are over
    my ($client, $count, $seconds) = @_;
    my $rows = [];
    wait_for(
        sub {
            sleep 0.3;
            $rows = eval { $client->crowd->get('/webhooks/history', query => { limit => 100 })->json->{data} } // [];
            $rows = [grep { $_->{url} !~ /known$/ } @$rows] if $count > 1;
            @$rows >= $count;
        },
        $seconds);
    return @$rows;
}

sub all_good {    # every event is a success in the history, and arrived once
    my ($client, $count, $path) = @_;
    my %ends;
    $ends{ $_->{error} // 'success' }++ for history($client, $count, 60);
    is_deeply(\%ends, { success => $count }, 'none is lost');
    my %seen;
    $seen{ $_->{body}{eventId} }++ for $receiver->received($path);
    is(scalar keys %seen, $count, 'all arrived');
    is(scalar(grep { $_ > 1 } values %seen), 0, '… once');
}

for my $mpm (qw(event worker prefork)) {
    subtest "$mpm: children come and go" => sub {
        my ($httpd, $client) =
            start(Sigreq::Apart->new, "KeepAlive Off\nMaxConnectionsPerChild 5", mpm => $mpm, children => 2);
        my $path  = "/slow/1?$mpm";
        my %first = map { $_ => 1 } children($httpd->pid);
        create($client, 40, $path);
        ok(!(grep { $first{$_} } children($httpd->pid)), 'none of the first children is left');
        all_good($client, 40, $path);
    };

    subtest "$mpm: graceful restarts while a receiver is slow" => sub {
        # worker gives no place of a child that ends to another one
        my $room = $mpm eq 'prefork' ? '' : 'MaxRequestWorkers 16';
        my ($httpd, $client) = start(Sigreq::Apart->new, "KeepAlive Off\n$room", mpm => $mpm);
        my $path = "/slow/12?$mpm";
        make_known($client);
        create($client, 10, $path);
        $receiver->wait_for(10, 5, $path);
        kill USR1 => $httpd->pid;
        sleep 0.5;
        my $at = time;
        is($client->crowd->get('/health')->code, 200, 'httpd answers');
        cmp_ok(time - $at, '<', 10, '… and does not wait for the receiver');
        all_good($client, 10, $path);
    };

    subtest "$mpm: a stop while children still end gracefully" => sub {
        my ($httpd, $client) = start(Sigreq::Apart->new, 'KeepAlive Off', mpm => $mpm);
        my $path = "/slow/9?$mpm";
        make_known($client);
        create($client, 3, $path);
        $receiver->wait_for(3, 5, $path);
        my @old = children($httpd->pid);
        kill USR1 => $httpd->pid;
        sleep 2;
        cmp_ok(scalar(grep { kill 0, $_ } @old), '>', 0, 'the old ones are still there');
        my $at = time;
        kill TERM => my $pid = $httpd->pid;
        ok(wait_for(sub { !grep { kill 0, $_ } $pid, @old }, 8), 'all end');
        cmp_ok(time - $at, '<', 4, '… soon') or diag $httpd->log;
        unlike($httpd->log, qr/SIGKILL/, '… of themselves');
        $httpd->start;
        my @errors = map { $_->{error} } history($client, 3, 3);
        is_deeply(\@errors, [('interrupted, outcome unknown') x 3], 'the history knows');
        is(scalar $receiver->received($path), 3, 'nothing is sent again');
    };
}

sub most_at_once {    # of calls that take that long
    my ($path, $seconds) = @_;
    my @at = map { $_->{at} } $receiver->received($path);
    my ($most) = sort { $b <=> $a } map { my $end = $_; scalar grep { $_ > $end - $seconds && $_ <= $end } @at } @at;
    return $most;
}

subtest 'one child' => sub {
    my ($httpd, $client) = start(Sigreq::Apart->new, '');
    create($client, 40, '/slow/2?one');
    all_good($client, 40, '/slow/2?one');
    is(most_at_once('/slow/2?one', 2), 16, 'makes 16 calls to one host at once, no more');
};

subtest 'two httpds' => sub {
    my $apart = Sigreq::Apart->new;
    my ($first, $client) = start($apart, '');
    my ($second) = start($apart, '');
    create($client, 60, '/slow/3?two');
    all_good($client, 60, '/slow/3?two');
    is(most_at_once('/slow/3?two', 3), 32, 'both make calls, though the first alone is asked and wakes its own child');
};
done_testing;
