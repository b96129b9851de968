# Webhook calls while things go wrong: httpd is restarted, stopped, the database goes and comes back. No event reaches
# its receiver twice, each ends in the history, and nobody waits for a receiver that hangs. (Children that are killed:
# t/web/fault_thousand.t)
use strict;
use warnings;
use POSIX ();
use Sigreq::Apart;
use Sigreq::Here qw(organisation suite children wait_for database_stop database_start);
use Sigreq::PDF 'pdf';
use Sigreq::Receiver;
use Sigreq::Signer;
use Test::More;
use Time::HiRes qw(sleep time);

my $receiver = Sigreq::Receiver->new;
my $org      = organisation();
my $client   = $org->{test};

sub register { $client->post('/webhooks/sent-webhook-url', json => { url => $_[0] }) }

sub create {    # COUNT submissions whose event goes to a path
    my ($count, $path) = @_;
    register($receiver->url($path));
    my @made = $client->crowd->parallel($count, 8, sub { $client->create_p(name => "$path $_[0]") });
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

sub settle {    # until each of these submissions has a row, or time is up
    my ($seconds, @uuids) = @_;
    my $rows;
    wait_for(sub { sleep 0.5; $rows = eval { history() } // {}; !grep { !$rows->{$_} } @uuids }, $seconds);
    is(scalar(grep { !$rows->{$_} } @uuids), 0, 'every event has ended');
    is(scalar(grep { @{ $rows->{$_} // [] } > 1 } @uuids), 0, '… once');
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
    ok(wait_for(sub { eval { $client->get('/health')->code == 200 } }, 15), 'httpd is there');
}

subtest 'graceful restarts' => sub {
    my @uuids = create(60, '/slow/2');
    for (1 .. 2) { kill USR1 => Sigreq::Here::httpd_pid(); sleep 1.5 }
    again();
    my @rows = settle(60, @uuids);
    my $seen = arrived('/slow/2');
    my @lost = grep { !$_->{success} } @rows;
    is(scalar @lost, 0, 'none is lost') or diag map {"$_->{error}\n"} @lost;
    is(scalar keys %$seen, scalar @uuids, 'all arrived');
};

subtest 'one that hangs' => sub {
    my @stuck = create(60, '/slow/600');
    my $other = Sigreq::Receiver->new;
    register($other->url('/ok'));
    my @waited;
    for (1 .. 20) {
        my $at = time;
        $client->create;
        my @got = $other->wait_for($_, 5);
        push @waited, @got == $_ ? $got[-1]{at} - $at : 5;
    }
    my ($longest) = sort { $b <=> $a } @waited;
    cmp_ok($longest, '<', 1, sprintf 'delays no other: at most %.0f ms', 1000 * $longest);
    kill KILL => $receiver->{pid};    # the rest is over soon
    settle(60, @stuck);
    $receiver = Sigreq::Receiver->new;
};

# Two events of one submission: the first one's call hangs in a child of httpd, the second one waits for it.
sub two_events {
    my $path = shift;
    my $made = ($client->post('/webhooks/signed-webhook-url', json => { url => $receiver->url("$path?second") }),
        create(1, $path))[-1];
    ok($receiver->wait_for(1, 20, $path), 'the first call is under way');
    my ($signer) = Sigreq::Signer::signers_of($client->get("/signatures/$made")->json, connections => 0);
    is($signer->refuse('x')->code, 200, 'the second event is there');
    return $made;
}

subtest 'a child is killed while it calls' => sub {
    my $pid = Sigreq::Here::httpd_pid();
    two_events('/slow/14?killed');
    kill KILL => children($pid);
    my $at = time;
    ok(scalar $receiver->wait_for(1, 25, '/slow/14?killed?second'), 'the next event does not wait for its lease');
    note sprintf 'after %.1f s', time - $at;
    arrived('/slow/14?killed');
    again();
};

subtest 'a child is stopped while it calls' => sub {
    my $apart  = Sigreq::Apart->new;
    my $before = $client;
    $client = $apart->serve(server => 'SigreqWebhookAllow 127.0.0.1');
    my $made     = two_events('/slow/10?stopped');
    my @children = children($apart->{httpd}->pid);
    kill STOP => @children;
    my $other = $apart->httpd(server => 'SigreqWebhookAllow 127.0.0.1');    # which looks for dead processes
    sleep 7;
    is(scalar $receiver->received('/slow/10?stopped?second'), 0, 'it lives: the next event waits');
    kill CONT => @children;
    my ($row) = settle(40, $made);
    is($row->{error}, undef, '… and its call ends well');
    arrived('/slow/10?stopped');
    $other->stop;
    $client = $before;
};

subtest 'httpd stops' => sub {
    my $apart     = Sigreq::Apart->new;
    my $one_child = suite->{mpm} eq 'prefork' ? "StartServers 1\nMaxRequestWorkers 1\nKeepAlive Off" : '';
    my $before    = $client;
    $client = $apart->serve(server => "SigreqWebhookAllow 127.0.0.1\n$one_child");
    my $httpd = $apart->{httpd};
    create(1, '/ok?known');    # a destination that has answered gets 16 calls at a time
    wait_for(sub { keys %{ history() } }, 10);
    create(20, '/slow/6');
    $receiver->wait_for(3, 10, '/slow/6');
    my ($pid, $at) = ($httpd->pid, time);
    kill TERM => $pid;
    ok(wait_for(sub { !children($pid) }, 5), 'its children end');
    cmp_ok(time - $at, '<', 1, '… within a second, though receivers do not answer');
    ok(wait_for(sub { !-e "/proc/$pid" }, 20), '… and so does it');    # its file with the pid goes a moment earlier
    $httpd->stop;
    unlike($httpd->log, qr/did not exit|SIGKILL|SIGTERM to child/, '… of itself');
    my %made = map { $_->{body}{eventId} => 1 } $receiver->received('/slow/6');
    my $begun = keys %made;
    cmp_ok($begun, '<=', 16, "$begun calls were begun");
    $httpd->start;
    my $slow = sub { grep { $_->{url} =~ /slow/ } map {@$_} values %{ history() } };
    my %ends = map { $_->{eventId} => $_->{error} } $slow->();
    is_deeply(\%ends, { map { $_ => 'interrupted, outcome unknown' } keys %made }, 'the history knows the others');
    my %all;
    wait_for(sub { %all = map { $_->{eventId} => $_ } $slow->(); keys %all == 20 }, 120);
    is(scalar(grep { $_->{success} } values %all), 20 - $begun, 'what was not begun is made after the start');
    is(scalar keys %{ arrived('/slow/6', 'nothing is sent again') }, 20, 'all arrived');
    $client = $before;
};

sub writers {    # processes that create until they are refused; and they end with httpd
    my ($client, $count) = @_;
    return map {
        my $pid = fork // die "fork: $!";
        if (!$pid) {
            my @what = (POST => '/signatures', $client->creation_options, unjudged => 1);
            1 while eval { $client->with->request(@what) };
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
        sleep 1.5;
        my $pid = $apart->{httpd}->pid;
        kill TERM => $pid;
        ok(wait_for(sub { !children($pid) }, 2.5), "round $round: all end soon");
        unlike($apart->{httpd}->log, qr/did not exit/, '… of themselves');
        waitpid $_, 0 for @writers;
    }
};

subtest 'PostgreSQL restarts' => sub {
    plan skip_all => 'on PostgreSQL alone' if suite->{db} ne 'pgsql';
    my @uuids = create(150, '/slow/0.5');
    for (1 .. 2) { sleep 0.7; database_stop(); sleep 0.5; database_start() }
    again();
    my @rows = settle(75, @uuids);
    my $seen = arrived('/slow/0.5');
    diag scalar(grep { !$_->{success} } @rows) . ' interrupted' if grep { !$_->{success} } @rows;
    is(scalar(grep { $_->{success} && !$seen->{ $_->{eventId} } } @rows), 0, 'what is called a success arrived');
    is(scalar keys %$seen, scalar @uuids, 'all arrived: no httpd died');
};
done_testing;
