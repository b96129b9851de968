# SPDX-License-Identifier: Apache-2.0
# The event feed under two hosts: 16 readers, one after the other at both hosts, while submissions are made, signed,
# refused and cancelled, children are killed, httpd restarts, and transactions with events are held open and committed
# late or rolled back. Each reader has all events of the database, each once, in the same order, and the events
# of a submission in the order of its audit trail.
use strict;
use warnings;
use IPC::Open2 'open2';
use Mojo::IOLoop;
use Mojo::Promise;
use Sigreq::Here   qw(children sql);
use Sigreq::Signer qw(typed);
use Sigreq::Twin   qw(seed times);
use Test::More;
use Time::HiRes 'time';

my $seconds = times('SIGREQ_SECONDS', 12, 120);
my $readers = 16;
my $twin    = Sigreq::Twin->new(children => 2, threads => 24);
my @clients = map { $twin->client($_)->crowd } 0, 1;
my ($over, $written) = (0, 0);    # the writers should end; they have ended
seed();
$twin->create(0, [{}]);    # the events of transactions that are held open are of the newest submission

sub db { return sql($_[0], $twin->params) }

# --- readers: what each of them has read

my @read  = map { [] } 1 .. $readers;
my @next  = (undef) x $readers;
my @wrong = ();

# Reads until the feed is read to its end after the writers have ended. A reader whose response was lost asks again.
sub read_on {
    my $number = shift;
    my %query  = (limit => 1 + int rand 100, wait => int rand 4);
    $query{after} = $next[$number] if defined $next[$number];
    my $last = $written;
    return $clients[rand 2]->request_p(GET => '/events', query => \%query, unjudged => 1)->then(sub {
        my $res = shift;
        push @wrong, $res->code . ': ' . $res->body if $res->code != 200 && $res->code != 503;
        if ($res->code == 200) {
            push @{ $read[$number] }, @{ $res->json->{data} };
            $next[$number] = $res->json->{next};
            return if $last && !@{ $res->json->{data} };
        }
        return read_on($number);
    }, sub { return Mojo::Promise->timer(0.1)->then(sub { read_on($number) }) });
}

# --- writers

sub write_on {
    return if $over;
    my $host = int rand 2;
    my $made;
    return $clients[$host]->create_p(signers => Sigreq::Client::signers({}, {}), unjudged => 1)->then(sub {
        $made = $_[0]->code == 201 ? $_[0]->json : return;
        my @signers = map { $twin->signer(int rand 2, $_->{uuid}) } @{ $made->{submitters} };
        my $what    = int rand 4;
        my $refuse  = { action => 'refuse', reason => 'no' };
        my $path    = "/signatures/$made->{uuid}";
        return Mojo::Promise->all(map { $_->request_p(POST => '', json => typed('Ann Lee')) } @signers) if $what < 2;
        return $signers[0]->request_p(POST => '', json => $refuse) if $what == 2;
        return $clients[$host]->request_p(POST => "$path/cancel", unjudged => 1)
            ->then(sub { $clients[1 - $host]->request_p(DELETE => $path, unjudged => 1) });
    })->then(sub { write_on() }, sub { Mojo::Promise->timer(0.1)->then(sub { write_on() }) });
}

# --- transactions that are held open: their events have lower ids than those that commit before

my ($held, $lost) = (0, 0);
my $INSERT = "INSERT INTO sigreq.feed (user_id, environment, created_at, submission_id, type, mark)"
    . " SELECT user_id, environment, created_at, id, 'document.archived', '%08x'"
    . " FROM sigreq.submission ORDER BY id DESC LIMIT 1;";

sub hold_on {
    return if $over;
    my $pid    = open2(my $out, my $in, 'psql', '-qXAt', $twin->params);
    my $commit = rand() < 0.7;
    $in->autoflush;
    print {$in} 'BEGIN; ', sprintf($INSERT, $held + $lost), " SELECT 'inserted';\n";
    die "psql said nothing\n" if readline($out) !~ /inserted/;
    return Mojo::Promise->timer(0.2 + rand 2)->then(sub {
        print {$in} $commit ? "COMMIT;\n" : "ROLLBACK;\n";
        close $in;
        waitpid $pid, 0;
        $commit ? $held++ : $lost++;
        return hold_on();
    });
}

# --- faults: a child is killed, or httpd restarts gracefully

my $faults = 0;

sub fault_on {
    return if $over;
    return Mojo::Promise->timer(1 + rand 2)->then(sub {
        return if $over;
        my $httpd    = $twin->host(int rand 2);
        my @children = children($httpd->pid);
        $faults++;
        kill rand() < 0.6 && @children ? (KILL => $children[rand @children]) : (USR1 => $httpd->pid);
        return fault_on();
    });
}

my $end = time + $seconds;
Mojo::IOLoop->recurring(0.5 => sub { $over = 1 if time > $end && @{ $read[0] } > 50 });
my @reading = map { read_on($_) } 0 .. $readers - 1;
my @writing = ((map { write_on() } 1 .. 4), (map { hold_on() } 1 .. 3), fault_on());
Mojo::Promise->all(@reading, Mojo::Promise->all(@writing)->then(sub { $written = 1 }))->wait;

# --- what the database has

my $all      = db('SELECT count(*) FROM feed');
my $numbered = db('SELECT count(*) FROM feed WHERE position > 0');
my $dense    = db('SELECT max(position) FROM feed');
diag "$all events, $faults faults, $held transactions committed late, $lost rolled back";
is("$numbered $dense", "$all $all", 'all have positions, without a gap');
is("@wrong", '', 'no reader was refused');
my @ids = map { join ' ', map { $_->{id} } @$_ } @read;
diag 'events of the readers: ', join ' ', map { scalar @$_ } @read;
is(scalar @{ $read[0] }, $all, 'the first reader has all events');
is_deeply([map { $_ =~ /^(\d+)/ } map { $_->{id} } @{ $read[0] }], [1 .. $all], 'in order, each once');
is(scalar(grep { $_ ne $ids[0] } @ids), 0, 'all readers have the same');
is(scalar(grep { $_->{type} eq 'document.archived' } @{ $read[0] }), $held, 'what was committed late is there');

# The events of a submission follow its audit trail.
my %of;
push @{ $of{ $_->{submissionId} } }, $_->{type} for grep { $_->{type} ne 'document.archived' } @{ $read[0] };
my %kind = (created => 'submission.sent', refused => 'signer.refused submission.refused');
$kind{$_} = "signer.$_"     for qw(due opened signed);
$kind{$_} = "submission.$_" for qw(completed cancelled deleted);
my @disordered;
for my $uuid (sort keys %of) {
    my @kinds;
    if ($of{$uuid}[-1] eq 'submission.deleted') { @kinds = qw(created cancelled deleted) }
    else {
        my $res = $twin->client(0)->get("/signatures/$uuid/audit");
        @kinds = map { $_->{event} } @{ $res->json->{events} };
    }
    push @disordered, $uuid if "@{ $of{$uuid} }" ne join ' ', map { $kind{$_} } @kinds;
}
is("@disordered", '', 'the events of each submission are those of its audit trail, in its order');

# --- a graceful restart ends a wait at once

my $began = time;
my $res;
my %query = (after => $next[0], wait => 30);
my $waits = $clients[0]->request_p(GET => '/events', query => \%query)->then(sub { $res = shift });
Mojo::Promise->all($waits, Mojo::Promise->timer(1)->then(sub { kill USR1 => $twin->host(0)->pid; return }))->wait;
is_deeply($res->json, { data => [], next => $next[0] }, 'a restart ends a wait');
cmp_ok(time - $began, '<', 20, 'at once');
done_testing;
