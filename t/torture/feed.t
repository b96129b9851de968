# SPDX-License-Identifier: Apache-2.0
# The event feed of two hosts while signers sign or refuse, and callers replace, cancel, delete or let requests expire.
# Each second a child of httpd is killed or httpd restarts. Transactions with events are held open, committed late or
# rolled back. Each of 16 readers gets exactly the rows of the table, once and in their order. These rows are the events
# of the history of each submission, in the order of the history.
#   SIGREQ_SECONDS=N  how long
use strict;
use warnings;
use IPC::Open2 'open2';
use Mojo::Date;
use Mojo::File 'path';
use Mojo::IOLoop;
use Mojo::JSON qw(decode_json encode_json);
use Mojo::Promise;
use Mojo::URL;
use POSIX ();
use Sigreq::Here qw(children sql suite wait_for);
use Sigreq::Multipart 'part';
use Sigreq::Signer 'typed';
use Sigreq::Suite;
use Sigreq::Twin qw(seed share times);
use Test::More;
use Time::HiRes qw(sleep time);

use constant {
    READERS => 16,    # the last two read some types only
    TYPES   => 'submission.completed,signer.replaced,submission.expired',
    LATE    => 'document.archived',    # of the events that are committed late
};
my $SECONDS = times('SIGREQ_SECONDS', 12, 600);
my $twin    = Sigreq::Twin->new(children => 2, threads => 16);
my $dir     = $twin->{apart}{dir};
my $pgsql   = suite->{db} eq 'pgsql';
seed();
$twin->create(0, [{}]);    # the events that are committed late are of the newest submission
my $end = time + $SECONDS;

# --- readers: one process with a loop for each. A reader asks a host by chance, and again with the same cursor until
# it gets a page. It stops after three empty pages in a row when everything is over.

sub reader {
    my ($number, $done) = @_;
    my %reader = (number => $number, got => [], codes => {}, empty => 0, done => $done);
    $reader{type} = TYPES if $number >= READERS - 2;
    ask(\%reader);
    return \%reader;
}

sub ask {
    my $reader = shift;
    my $over   = -e "$dir/over";
    my %query  = (limit => 1 + int rand 100, wait => $over ? 0 : (0, 1, 5, 30)[rand 4]);
    $query{after} = $reader->{cursor} if defined $reader->{cursor};
    $query{type}  = $reader->{type}   if $reader->{type};
    my $client = $twin->client(int rand 2);
    my $tx     = $client->transaction(GET => '/events', query => \%query);
    $client->{ua}->start($tx => sub {
        my $res  = $_[1]->res;
        my $code = $_[1]->error ? $_[1]->error->{code} // 0 : $res->code;
        $reader->{codes}{$code}++;
        my $page = $code == 200 ? $res->json : { data => [] };
        push @{ $reader->{got} }, map { join ' ', grep {defined} @{$_}{qw(id type submissionId signerId)} }
            @{ $page->{data} };
        $reader->{cursor} = $page->{next} if $code == 200;
        $reader->{empty}  = $over && $code == 200 && !@{ $page->{data} } ? $reader->{empty} + 1 : 0;
        return $reader->{done}->() if $reader->{empty} == 3;
        my $pause = @{ $page->{data} } ? 0 : $res->headers->header('Retry-After') // 0.2;
        return Mojo::IOLoop->timer($pause => sub { ask($reader) });
    });
    return;
}

my $test = $$;

sub follow {    # in a process of its own, which ends when all readers have stopped, or with the test
    my $pid = fork // die "fork: $!\n";
    return $pid if $pid;
    Mojo::IOLoop->reset;
    Mojo::IOLoop->recurring(1 => sub { POSIX::_exit(1) if getppid != $test });
    my $left    = READERS;
    my @readers = map { reader($_, sub { Mojo::IOLoop->stop if !--$left }) } 0 .. READERS - 1;
    Mojo::IOLoop->start;
    Sigreq::Suite::write_file("$dir/readers",
        encode_json([map { my $one = $_; +{ map { $_ => $one->{$_} } qw(type got codes cursor) } } @readers]));
    POSIX::_exit(0);
}

# --- callers and signers

my %codes;

sub answer {    # what a client or a signer gets, in the end
    my ($party, @request) = @_;
    for (;;) {
        my $res  = $party->{ua}->start($party->transaction(@request))->res;
        my $code = $res->code // 0;
        $codes{$code}++;
        return $res if $code && $code != 503;
        sleep 0.2;
    }
}

sub client { return $twin->client(int rand 2) }
sub signer { return $twin->signer(int rand 2, shift) }

sub submission {    # with two signers, in one of many ways
    my $number  = shift;
    my $expires = rand() < 0.2;
    my @more    = $expires ? part('expiresAt', Mojo::Date->new(time + 2)->to_datetime) : ();
    my $signers = Sigreq::Client::signers({}, { area => { y => 200 } });
    my $made    = answer(client(), POST => '/signatures',
        client()->creation_options(
            signers => $signers, more => \@more, headers => { 'Idempotency-Key' => "$$-$number" }));
    return if $made->code != 201 || ($expires && rand() < 0.7);
    my $path    = '/signatures/' . $made->json->{uuid};
    my @signers = map { $_->{uuid} } @{ $made->json->{submitters} };
    answer(client(), POST => "$path/signers/$signers[1]/replace", json => { firstname => 'Eve', lastname => 'Lee' })
        if rand() < 0.2;
    @signers = map { $_->{uuid} } @{ answer(client(), GET => $path)->json->{submitters} };
    if (rand() < 0.3) {    # all at the same time
        Mojo::Promise->all_settled((map { signer($_)->sign_p } @signers),
            client()->request_p(POST => "$path/cancel", unjudged => 1))->wait;
    }
    for (@signers) {
        last if rand() < 0.1;
        answer(signer($_), POST => '', json => rand() < 0.1 ? { action => 'refuse' } : typed('Ann Lee'));
    }
    answer(client(), POST   => "$path/cancel") if rand() < 0.5;
    answer(client(), DELETE => $path)          if rand() < 0.1;
    return;
}

sub work {
    my $count = 0;
    submission(++$count) while time < $end;
    return { codes => \%codes };
}

# --- what disturbs them

sub kill_children {
    my %done = (killed => 0, restarts => 0);
    while (time < $end) {
        my $pid      = $twin->host(int rand 2)->pid;
        my @children = children($pid);
        if (rand() < 0.2) { $done{restarts} += kill USR1 => $pid }
        elsif (@children) { $done{killed} += kill KILL => $children[rand @children] }
        sleep 1;
    }
    return \%done;
}

# Their events have lower ids than events that are committed before.
sub hold_transactions {
    my %done = (late => 0, undone => 0);
    while ($pgsql && time < $end) {
        my $pid    = open2(my $out, my $in, 'psql', '-qXAt', $twin->params);
        my $commit = rand() < 0.7;
        $in->autoflush;
        printf {$in} "BEGIN; INSERT INTO sigreq.feed (user_id, environment, created_at, submission_id, type, mark)"
            . " SELECT user_id, environment, created_at, id, '%s', '%08x' FROM sigreq.submission"
            . " ORDER BY id DESC LIMIT 1; SELECT 'inserted';\n", LATE, rand 1 << 32;
        die "psql inserted nothing\n" if (readline $out // '') !~ /inserted/;
        sleep 0.2 + rand 2;
        print {$in} $commit ? "COMMIT;\n" : "ROLLBACK;\n";
        close $in;
        waitpid $pid, 0;
        $done{ $commit ? 'late' : 'undone' }++;
    }
    return \%done;
}

# --- what the database has: "id type submission signer" for each row of the feed

sub rows {
    my $text = "f.position || '-' || f.mark || ' ' || f.type || coalesce(' ' || s.uuid, '')"
        . " || coalesce(' ' || f.signer_uuid, '')";
    my $all = "SELECT $text AS line FROM feed f LEFT JOIN submission s ON s.id = f.submission_id ORDER BY f.position";
    return split /,/, sql('SELECT ' . ($pgsql ? 'string_agg' : 'group_concat') . "(line, ',') FROM ($all) AS rows",
        $twin->params);
}

my %types;    # kind of an event => types of the feed
my $table = path(suite->{source}, 'src/model/feed_types.def')->slurp;
push @{ $types{$2} }, $1 while $table =~ /^SR_FEED_TYPE\("([\w.]+)", "(\w+)"/mg;

sub history {    # of a submission, as lines "type submission signer"
    my ($client, $uuid) = @_;
    my @events = @{ answer($client, GET => "/signatures/$uuid/audit")->json->{events} };
    return map {
        my $event = $_;
        map { join ' ', $_, $uuid, /^signer/ ? $event->{signer} // $event->{detail}{signer} : () }
            @{ $types{ $event->{event} // '' } // [] }
    } @events;
}

# --- the run

my $readers = follow();
my @tasks   = (\&kill_children, (\&hold_transactions) x 3, (\&work) x 5);
my @done    = share(scalar @tasks, [0 .. $#tasks], sub { $tasks[$_[0]]->() });
my $open    = "SELECT count(*) FROM submission WHERE state = 'open' AND expires_at IS NOT NULL";
ok(wait_for(sub { sql($open, $twin->params) == 0 }), 'all deadlines are over') or diag $twin->errors;
Sigreq::Suite::write_file("$dir/over", '');
ok(wait_for(sub { waitpid($readers, POSIX::WNOHANG()) == $readers }), 'all readers stop') or kill KILL => $readers;
my $read = -e "$dir/readers" ? decode_json(path("$dir/readers")->slurp) : [];
is(scalar @$read, READERS, 'all readers have read');

my @rows = rows();
cmp_ok(scalar @rows, '>', 2 * $SECONDS, 'there are events');
is_deeply([map { /^(\d+)-/ } @rows], [1 .. @rows], 'their positions have no gap');
for my $reader (@$read) {
    my %wanted   = map { $_ => 1 } split /,/, $reader->{type} // '';
    my @expected = grep { !%wanted || $wanted{ (split / /)[1] } } @rows;
    my ($first)  = grep { ($reader->{got}[$_] // '') ne ($expected[$_] // '') } 0 .. @expected;
    is($first, undef, 'a reader has what is in the database, once and in this order')
        or diag explain [[@{ $reader->{got} }[$first .. $first + 3]], [@expected[$first .. $first + 3]]];
    is(scalar @{ $reader->{got} }, scalar @expected, 'and nothing else');
}

my %sum;
for my $done (@done) { $sum{$_} += $done->{$_} for grep { !ref $done->{$_} } keys %$done }
is(scalar(grep { (split / /)[1] eq LATE } @rows), $sum{late}, 'what was committed late is there');

my (%of, @wrong);
for (@rows) {
    my (undef, $type, $uuid) = split / /;
    push @{ $of{$uuid} }, s/^\S+ //r if $type ne LATE;
}
for my $uuid (sort keys %of) {
    my ($got, $expected) = (join("\n", @{ $of{$uuid} }), join "\n", history($twin->client(0), $uuid));
    push @wrong, $uuid if $got ne $expected;
    diag "$got\n\n$expected" if $got ne $expected && @wrong < 3;
}
is("@wrong", '', 'the events of each submission are its history');
is(sql('SELECT count(*) FROM submission', $twin->params), scalar keys %of, 'each submission has events');

my %all;
for my $codes (map { $_->{codes} // () } @done) { $all{$_} += $codes->{$_} for keys %$codes }
my @other = grep { !/^(?:0|20[0124]|40[049]|410|503)$/ } sort keys %all;    # 400: the deadline is over already
is("@other", '', 'callers and signers see no other answer');
my %polls;
for my $codes (map { $_->{codes} } @$read) { $polls{$_} += $codes->{$_} for keys %$codes }
is_deeply([grep { !/^(?:0|200|503)$/ } sort keys %polls], [], 'readers see no other answer');
sub said { my %count = @_; return join ', ', map {"$count{$_} times $_"} sort keys %count }
diag sprintf '%d submissions with %d events', scalar keys %of, scalar @rows;
diag said(%sum);
diag 'answers: ' . said(%all);
diag 'answers to readers: ' . said(%polls);

my ($client, $begun, $answer) = ($twin->client(0), time);
my %wait = (after => $read->[0]{cursor} // 'now', wait => 30);
my $waits = $client->request_p(GET => '/events', query => \%wait)->then(sub { $answer = shift });
Mojo::Promise->all($waits, Mojo::Promise->timer(1)->then(sub { kill USR1 => $twin->host(0)->pid; return }))->wait;
is_deeply($answer->json('/data'), [], 'a restart ends a wait');
cmp_ok(time - $begun, '<', 25, 'at once');
done_testing;
