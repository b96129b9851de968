# SPDX-License-Identifier: Apache-2.0
# Webhook calls during faults: httpd is restarted or stopped, the database stops and starts again. No event reaches its
# receiver twice, each ends in the history, and a receiver that hangs does not delay others. (t/web/fault_thousand.t
# kills children.)
use strict;
use warnings;
use Fcntl qw(F_GETLK F_UNLCK F_WRLCK SEEK_SET);
use POSIX ();
use Sigreq::Apart;
use Sigreq::Here qw(organisation suite children restarted wait_for database_stop database_start sql);
use Sigreq::PDF 'pdf';
use Sigreq::Receiver;
use Sigreq::Signer;
use Sigreq::Source 'slurp';
use Test::More;
use Time::HiRes 'sleep';

my $receiver = Sigreq::Receiver->new;
my $org      = organisation();
my $client   = $org->{test};

sub register { $client->post('/webhooks/sent-webhook-url', json => { url => $_[0] }) }

sub create {    # COUNT submissions whose event goes to a path
    my ($count, $path) = @_;
    register($receiver->url($path));
    my $crowd = $client->crowd;
    my @made = $crowd->parallel($count, 8, sub { $crowd->create_p(name => "$path $_[0]") });
    is(scalar(grep { $_->code == 201 } @made), $count, "$count submissions for $path") or diag $made[0]->body;
    return map { $_->json->{uuid} } @made;
}

sub history {    # all rows, by submission
    my (%rows, $after);
    do {
        my $query = { limit => 100, defined $after ? (after => $after) : () };
        my $page  = $client->get('/webhooks/history', query => $query);
        return {} if $page->code != 200;
        push @{ $rows{ $_->{submissionId} } }, $_ for @{ $page->json->{data} };
        $after = $page->json->{pagination}{next};
    } while defined $after;
    return \%rows;
}

sub settle {    # until each of these submissions has a row
    my @uuids = @_;
    my $rows;
    wait_for(sub { sleep 0.3; $rows = eval { history() } // {}; !grep { !$rows->{$_} } @uuids });
    is(scalar(grep { !$rows->{$_} } @uuids), 0, 'every event has ended');
    is(scalar(grep { @{ $rows->{$_} // [] } > 1 } @uuids), 0, 'every event has ended once');
    return map { $rows->{$_} ? $rows->{$_}[0] : () } @uuids;
}

sub arrived {    # what arrived at a path, each event once
    my ($path, $name) = @_;
    my %seen;
    $seen{ $_->{body}{eventId} }++ for $receiver->received($path);
    is(scalar(grep { $_ > 1 } values %seen), 0, $name // 'no event arrived twice');
    return \%seen;
}

sub again {    # httpd answers again
    ok(wait_for(sub { eval { $client->get('/health')->code == 200 } }), 'httpd is there');
}

subtest 'graceful restarts' => sub {
    my @uuids;
    my $pid = Sigreq::Here::httpd_pid();
    for (1 .. 2) {
        my $before = $receiver->received('/slow/1');
        push @uuids, create(20, '/slow/1');
        cmp_ok(scalar $receiver->wait_for($before + 1, '/slow/1'), '>', $before, 'calls are under way');
        ok(restarted($pid, sub { slurp(suite->{dir} . '/t/logs/error_log') }), 'new children come');
    }
    again();
    my @rows = settle(@uuids);
    my $seen = arrived('/slow/1');
    my @lost = grep { !$_->{success} } @rows;
    is(scalar @lost, 0, 'none is lost') or diag map {"$_->{error}\n"} @lost;
    is(scalar keys %$seen, scalar @uuids, 'all arrived');
};

# Of a receiver that never answers, one call after the other is given up after 15 s. What another receiver gets must
# not wait for that.
subtest 'one that hangs' => sub {
    my @stuck = create(60, '/slow/600');
    ok($receiver->wait_for(1, '/slow/600'), 'it is called');
    my $other = Sigreq::Receiver->new;
    register($other->url('/ok'));
    my ($arrived, $undisturbed) = (0, 0);
    for my $number (1 .. 20) {
        my $begun = $receiver->received('/slow/600');
        $client->create;
        $arrived += $other->wait_for($number) == $number;
        $undisturbed += $receiver->received('/slow/600') == $begun;
    }
    is($arrived, 20, 'another receiver gets its events');
    cmp_ok($undisturbed, '>=', 10, "$undisturbed events arrived while no call to the first receiver ended");
    kill KILL => $receiver->{pid};    # the rest is over soon
    settle(@stuck);
    $receiver = Sigreq::Receiver->new;
};

# Two events of one submission: the first one's call hangs in a child of httpd, the second one waits for it.
sub two_events {
    my $path = shift;
    my $made = ($client->post('/webhooks/signed-webhook-url', json => { url => $receiver->url("$path?second") }),
        create(1, $path))[-1];
    ok($receiver->wait_for(1, $path), 'the first call is under way');
    my ($signer) = Sigreq::Signer::signers_of($client->get("/signatures/$made")->json, connections => 0);
    is($signer->refuse('x')->code, 200, 'the second event is there');
    return $made;
}

sub prolong_leases {    # by a day: an event that waits for one waits until the test ends
    sql("UPDATE job SET claimed_until = claimed_until + 86400000000 WHERE state = 'claimed'");
}

subtest 'a child is killed while it calls' => sub {
    my $pid = Sigreq::Here::httpd_pid();
    two_events('/held?killed');
    prolong_leases();
    kill KILL => children($pid);
    ok(scalar $receiver->wait_for(1, '/held?killed?second'), 'the next event does not wait for it');
    arrived('/held?killed');
    $receiver = Sigreq::Receiver->new;
    again();
};

sub seen_at {    # when an httpd has last looked for dead processes
    my $httpd = shift;
    my $text = $client->{ua}->get($httpd->base . '/metrics')->res->body;
    return $text =~ /^sigreq_delivery_queue_seen_timestamp_seconds\{server="main"\} ([0-9.]+)$/m ? $1 : 0;
}

# Whether a process writes to SQLite: it has the lock of the writers, byte 120 of the -shm file.
sub is_writing {
    my $params = shift;
    return 0 if suite->{db} ne 'sqlite3';
    open my $shm, '+<', "$params-shm" or die "$params-shm: $!\n";
    fcntl $shm, F_GETLK, my $lock = pack 's s x4 q q i x4', F_WRLCK, SEEK_SET, 120, 1, 0 or die "F_GETLK: $!\n";
    return unpack('s', $lock) != F_UNLCK;
}

# Stops them between two writes. A process that is stopped in a write stops all other writers, too.
sub stop_between_writes {
    my ($params, @pids) = @_;
    my @stats = map { glob "/proc/$_/task/*/stat" } @pids;
    return wait_for(
        sub {
            kill STOP => @pids;
            wait_for(sub { !grep { slurp($_) !~ /\) T / } @stats });
            return 1 if !is_writing($params);
            kill CONT => @pids;
            return 0;
        });
}

subtest 'a child is stopped while it calls' => sub {
    my $apart  = Sigreq::Apart->new;
    my $before = $client;
    $client = $apart->serve(server => 'SigreqWebhookAllow 127.0.0.1');
    my $made     = two_events('/held?stopped');
    my @children = children($apart->{httpd}->pid);
    ok(stop_between_writes($apart->{params}, @children), 'its process is stopped');
    my $metrics = "<Location /metrics>\nSetHandler sigreq-metrics\n</Location>";
    my $other = $apart->httpd(server => "SigreqWebhookAllow 127.0.0.1\n$metrics");
    ok(wait_for(sub { seen_at($other) > 0 }), 'another httpd has looked for dead processes');
    my $there = $apart->client($other);
    $there->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/ok?other') });
    $there->create;
    is(scalar $receiver->wait_for(1, '/ok?other'), 1, 'the other process calls receivers itself');
    is(scalar $receiver->received('/held?stopped?second'), 0, 'the next event waits while the stopped process lives');
    $receiver->release;
    kill CONT => @children;
    my ($row);
    wait_for(sub { ($row) = grep { $_->{url} =~ /stopped$/ } @{ history()->{$made} // [] } });
    like($row->{error} // 'success', qr/^(?:success|no answer within 15 s)$/,
        'the call of the stopped process ends by itself');
    arrived('/held?stopped');
    $other->stop;
    $client = $before;
};

subtest 'httpd stops' => sub {
    $receiver = Sigreq::Receiver->new;
    my $apart     = Sigreq::Apart->new;
    my $one_child = suite->{mpm} eq 'prefork' ? "StartServers 1\nMaxRequestWorkers 1\nKeepAlive Off" : '';
    my $before    = $client;
    $client = $apart->serve(server => "SigreqWebhookAllow 127.0.0.1\n$one_child");
    my $httpd = $apart->{httpd};
    create(1, '/ok?known');    # a destination that has answered gets 16 calls at a time
    wait_for(sub { keys %{ history() } });
    create(20, '/held');
    ok($receiver->wait_for(3, '/held') >= 3, 'calls are under way');
    my $pid = $httpd->pid;
    kill TERM => $pid;
    ok(wait_for(sub { !children($pid) }), 'its children end, though receivers do not answer');
    ok(wait_for(sub { !-e "/proc/$pid" }), 'httpd ends');    # its file with the pid goes a moment earlier
    $httpd->stop;
    unlike($httpd->log, qr/SIGKILL/, 'httpd ends by itself');
    my %made = map { $_->{body}{eventId} => 1 } $receiver->received('/held');
    my $begun = keys %made;
    cmp_ok($begun, '<=', 16, "$begun calls were begun");
    $receiver->release;
    $httpd->start;
    my $held = sub { grep { $_->{url} =~ /held/ } map {@$_} values %{ history() } };
    my %all;
    wait_for(sub { %all = map { $_->{eventId} => $_ } $held->(); keys %all == 20 });
    my %ends = map { $_ => $all{$_}{error} } grep { !$all{$_}{success} } keys %all;
    is_deeply(\%ends, { map { $_ => 'interrupted, outcome unknown' } keys %made }, 'the history knows the others');
    is(scalar(grep { $_->{success} } values %all), 20 - $begun, 'what was not begun is made after the start');
    is(scalar keys %{ arrived('/held', 'nothing is sent again') }, 20, 'all arrived');
    $client = $before;
};

# Processes that create until they are refused, and that end with httpd: slowly, and without a pause after SIGUSR1.
sub writers {
    my ($client, $count) = @_;
    return map {
        my $pid = fork // die "fork: $!";
        if (!$pid) {
            my $pause = 0.1;
            local $SIG{USR1} = sub { $pause = 0 };
            my @what = (POST => '/signatures', $client->creation_options, unjudged => 1);
            sleep $pause while eval { $client->with->request(@what) };
            POSIX::_exit(0);
        }
        $pid
    } 1 .. $count;
}

subtest 'httpd stops while its children write' => sub {    # under prefork in the handler of the signal that ends them
    my $apart = Sigreq::Apart->new;
    for my $round (1 .. 3) {
        my $of_round = $apart->serve(server => "SigreqWebhookAllow 127.0.0.1\nKeepAlive Off");
        $of_round->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/slow/1?writers') });
        my @writers = writers($of_round, 6);
        my $before = $receiver->received('/slow/1?writers');
        my $after  = $receiver->wait_for($before + 5, '/slow/1?writers');
        cmp_ok($after, '>=', $before + 5, "round $round: they write, and their events are sent");
        my $pid = $apart->{httpd}->pid;
        kill USR1 => @writers;
        sleep 0.3;
        kill TERM => $pid;
        ok(wait_for(sub { !children($pid) }), 'all children end');
        unlike($apart->{httpd}->log, qr/SIGKILL/, 'all children end by themselves');
        waitpid $_, 0 for @writers;
    }
};

subtest 'PostgreSQL restarts' => sub {
    plan skip_all => 'on PostgreSQL alone' if suite->{db} ne 'pgsql';
    my @uuids;
    for (1 .. 2) {
        my $before = $receiver->received('/slow/2');
        push @uuids, create(40, '/slow/2');
        cmp_ok(scalar $receiver->wait_for($before + 1, '/slow/2'), '>', $before, 'calls are under way');
        database_stop();
        database_start();
    }
    again();
    my @rows = settle(@uuids);
    my $seen = arrived('/slow/2');
    diag scalar(grep { !$_->{success} } @rows) . ' interrupted' if grep { !$_->{success} } @rows;
    is(scalar(grep { $_->{success} && !$seen->{ $_->{eventId} } } @rows), 0, 'what is called a success arrived');
    is(scalar keys %$seen, scalar @uuids, 'all arrived: no httpd died');
};
done_testing;
