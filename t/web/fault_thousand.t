# SPDX-License-Identifier: Apache-2.0
# A thousand signers (`make torture`), or 200 (`make test`), sign while a random child of httpd is killed each second
# and PostgreSQL restarts once. Every signer who got the answer "signed" has signed, everybody signs exactly once, and
# each event ends in the history and arrives at its receiver at most once. If no signer has signed since the last kill,
# because the machine is slow, the next waits.
use strict;
use warnings;
use Mojo::IOLoop;
use Mojo::Promise;
use POSIX ();
use Sigreq::Here   qw(organisation suite children temporary_files wait_for database_stop database_start at_once);
use Sigreq::PDF    'pdf';
use Sigreq::Receiver;
use Sigreq::Signer qw(signers_of pdfsig qpdf_check is_unchanged chain_fault);
use Test::More;
use Time::HiRes qw(sleep time);

plan skip_all => 'the event MPM is enough: it takes long' if suite->{mpm} ne 'event';
my ($SUBMISSIONS, $EACH) = ($ENV{SIGREQ_SUBMISSIONS} // ($ENV{SIGREQ_TORTURE} ? 200 : 40), 5);
my $SIGNERS = $SUBMISSIONS * $EACH;
my @EVENTS  = ('sent', ('signed') x $EACH, 'completed');
my $WIDTH   = at_once(24);     # sign at a time
my $WAVE    = $SUBMISSIONS > 50 ? 50 : 25;    # begin each second, so that more than five children are killed
my $HEAD    = 0.05;   # seconds from a wave to the next death: it is in the middle of its work then
my $LOST    = 'interrupted, outcome unknown';

my $receiver = Sigreq::Receiver->new;
my $client   = organisation()->{test};
my $crowd    = $client->crowd;
$client->post("/webhooks/$_-webhook-url", json => { url => $receiver->url('/slow/0.2') }) for qw(sent signed completed);

sub all { # an answer for each of LIST, by CODE of one of it
    my ($code, @list) = @_;
    return $crowd->parallel(scalar @list, at_once(8), sub { $code->($list[ $_[0] ]) });
}

sub figure {    # the sum of a figure's series, as Prometheus is told
    my $text = $client->{ua}->get(Sigreq::Here::place('/metrics'))->result->body;
    my $sum  = 0;
    $sum += $_ for $text =~ /^$_[0](?:\{.*\})? ([0-9.]+)$/mg;
    return $sum;
}
my %before = map { $_ => figure($_) } qw(sigreq_deliveries_lost_total sigreq_seals_total sigreq_database_errors_total);
sub grown { figure($_[0]) - $before{ $_[0] } }

# --- the signers
my @people  = map { { firstname => "S$_", area => { x => 20 + 110 * $_, w => 100 } } } 0 .. $EACH - 1;
my $signers = Sigreq::Client::signers(@people);
my $create  = sub { $crowd->create_p(signers => $signers, files => [['a.pdf', pdf(nonce => rand)]]) };
my @made    = map { $_->json } all($create, 1 .. $SUBMISSIONS);
my @signers = map { signers_of($_, connections => 0) } @made;    # those of one submission meet: they are neighbours
is(scalar @signers, $SIGNERS, "$SIGNERS signers");

# --- the faults
my (@killed, $database);
my ($over, $at_death, $moved) = (0, -1, time);    # how many have signed, now and at the last death, and when the last
my $deaths = Mojo::IOLoop->recurring(1 => sub {
    return if $over == $at_death;
    my @now = children() or return;
    $at_death = $over;
    push @killed, $now[rand @now];
    kill KILL => $killed[-1];
});
Mojo::IOLoop->timer(3.5 => sub {
    return if $database = fork // die "fork: $!";
    my $done = eval { database_stop(); sleep 0.5; database_start(); 1 };
    warn $@ unless $done;
    POSIX::_exit($done ? 0 : 1);
}) if suite->{db} eq 'pgsql';

# --- the crowd
my %tries; # their answers, by signer: a status, or 0 where the connection died

sub sign_p { # until the signer gets the answer that they have signed, or an answer that must never occur
    my $number = shift;
    return $signers[$number]->sign_p('Ann')->catch(sub { undef })->then(sub {
        my $code = $_[0] ? $_[0]->code : 0;
        push @{ $tries{$number} }, $code;
        if ($code !~ /^(?:0|503)$/) { $over++; $moved = time; return $_[0] }
        die "nobody has signed for two minutes\n" if time - $moved > 120;
        return Mojo::Promise->timer(0.2)->then(sub { sign_p($number) }) });
}

my $began   = $moved = time + 1 - $HEAD;
my @answers = $crowd->parallel($SIGNERS, $WIDTH, sub {
    my $number = shift;
    my $early  = $began + int($number / $WAVE) - time;
    return $early > 0 ? Mojo::Promise->timer($early)->then(sub { sign_p($number) }) : sign_p($number) });
my $calm = time;
Mojo::IOLoop->remove($deaths);
if ($database) {
    waitpid $database, 0;
    is($?, 0, 'PostgreSQL was restarted');
}
ok(wait_for(sub { eval { $client->get('/health')->code == 200 } }), 'httpd works');

my @tries  = @tries{ 0 .. $SIGNERS - 1 };
my $died   = grep { $_ == 0 } map { @$_ } @tries;
my $later  = grep { $_ == 503 } map { @$_ } @tries;
my $behind = grep { $_->code == 409 } @answers;    # had signed when the connection died
diag sprintf '%s: signed in %.1f s, %d children killed, %d requests without an answer (%d had signed), %d with 503',
    suite->{db}, $calm - $began, scalar @killed, $died, $behind, $later;

subtest 'everybody signs once' => sub {
    cmp_ok(scalar @killed, '>=', 5, 'children were killed');
    cmp_ok($died, '>', 0, 'children were killed while a signer signed, so the test is effective');
    is(scalar(grep { $_->code !~ /^(?:200|409)$/ } @answers), 0, 'all signers have signed');
    my @unasked = grep { $_->[-1] == 409 && @$_ == 1 } @tries;
    is(scalar @unasked, 0, 'only signers with an earlier request get the answer that they have signed already');
    my @wrong = grep { $_->code == 409 && $_->json->{message} ne 'You have signed already' } @answers;
    is(scalar @wrong, 0, 'there is no other conflict');
    my @shown = map { $_->json } all(sub { $crowd->request_p(GET => "/signatures/$_[0]{uuid}") }, @made);
    my @status = map { map { $_->{status} } @{ $_->{submitters} } } @shown;
    is(scalar(grep { $_ eq 'completed' } @status), $SIGNERS, 'GET shows that each has signed');
    is(scalar(grep { $_->{certificate} } @shown), $SUBMISSIONS, 'every submission is completed');
    my @trails = map { $_->json } all(sub { $crowd->request_p(GET => "/signatures/$_[0]{uuid}/audit") }, @made);
    my @faults = grep {defined} map { chain_fault($_) } @trails;
    is(scalar @faults, 0, 'every chain of events is complete') or diag $faults[0];
    my %signed;
    $signed{ $_->{signer} }++ for grep { $_->{event} eq 'signed' } map { @{ $_->{events} } } @trails;
    is(join(' ', scalar keys %signed, grep { $_ != 1 } values %signed), $SIGNERS, 'one event for each');
    is(scalar(grep { $_->{events}[-1]{event} ne 'completed' } @trails), 0, 'the last event of each is completed');
};

subtest 'the signed documents' => sub {
    my $document = sub { "/signatures/$_[0]{uuid}/documents/$_[0]{documents}[0]{uuid}" };
    my @files = map { $_->body } all(sub { $crowd->request_p(GET => $document->($_[0])) }, @made);
    my %type  = (headers => { 'Content-Type' => 'application/pdf' });
    my @found = map { $_->json } all(sub { $crowd->request_p(POST => '/verify', body => $_[0], %type) }, @files);
    my @bad   = grep {
        my $one = $found[$_];
        $one->{conclusion} ne 'signed' || ($one->{submission} // '') ne $made[$_]{uuid}
            || $EACH != grep { $_->{state} eq 'intact' } @{ $one->{signatures} };
    } 0 .. $#found;
    is(scalar @bad, 0, "$SUBMISSIONS documents, each with $EACH intact signatures: POST /verify");
    # other programs check the documents whose signers needed most attempts
    my @trouble = map { my $first = $EACH * $_; scalar map { @$_ } @tries[ $first .. $first + $EACH - 1 ] } 0 .. $#made;
    for my $number ((sort { $trouble[$b] <=> $trouble[$a] } 0 .. $#made)[0 .. 4]) {
        my $told = pdfsig($files[$number]);
        is_deeply([@$told{qw(signatures valid total)}], [$EACH, $EACH, 1], "pdfsig, after $trouble[$number] requests")
            or diag $told->{said};
        is(qpdf_check($files[$number]), '', 'qpdf --check');
        is_unchanged($files[$number], $EACH);
    }
};

sub history { # all rows
    my (@rows, $after);
    do {
        my $query = { limit => 100, defined $after ? (after => $after) : () };
        my $page  = $client->get('/webhooks/history', query => $query);
        push @rows, @{ $page->json->{data} };
        $after = $page->json->{pagination}{next};
    } while defined $after;
    return \@rows;
}

subtest 'every event ends once' => sub {
    my ($wanted, $rows) = ($SUBMISSIONS * @EVENTS);
    wait_for(sub { sleep 0.5; $rows = history(); @$rows >= $wanted });
    my $settled = time - $calm;
    my (%events, %ids);
    push @{ $events{ $_->{submissionId} } }, $_->{event} for @$rows;
    $ids{ $_->{eventId} }++ for @$rows;
    my $every = join ' ', sort @EVENTS;
    my @wrong = grep { join(' ', sort @{ $events{ $_->{uuid} } // [] }) ne $every } @made;
    is(scalar @wrong, 0, 'each submission has all its events') or diag join ' ', @{ $events{ $wrong[0]{uuid} } // [] };
    is(scalar keys %ids, $wanted, 'the history has one row for each event');
    is(scalar(grep { !$_->{endedAt} } @$rows), 0, 'each call is over');
    my @lost = grep { !$_->{success} } @$rows;
    is_deeply([grep { $_ ne $LOST } map { $_->{error} } @lost], [],
        scalar(@lost) . ' were interrupted, and nothing else');
    cmp_ok(scalar @lost, '>', 0, 'some calls were interrupted, so the test is effective');
    # a process that is killed after it has recorded the loss has not counted it yet
    cmp_ok(grown('sigreq_deliveries_lost_total'), '>', 0, 'the metrics count the interrupted calls');
    cmp_ok(grown('sigreq_deliveries_lost_total'), '<=', scalar @lost,
        'the metrics count no more than the interrupted calls');
    cmp_ok(grown('sigreq_seals_total'), '>=', $SIGNERS + $SUBMISSIONS, 'the metrics count every seal');
    cmp_ok(grown('sigreq_database_errors_total'), '>', 0, 'the metrics count that the database was away') if $database;
    my %seen;
    my @calls = $receiver->received;
    $seen{ $_->{body}{eventId} }++ for @calls;
    is(scalar(grep { $_ > 1 } values %seen), 0, 'no event arrived twice');
    is(scalar(grep { !$ids{$_} } keys %seen), 0, 'every call that arrived is in the history');
    is(scalar(grep { $_->{success} && !$seen{ $_->{eventId} } } @$rows), 0,
        'every call that is recorded as a success has arrived');
    my %order;
    $order{ $_->{body}{submissionId} } .= substr $_->{body}{event}, 0, 2 for @calls;
    is(scalar(grep { !/^(?:se)?(?:si)*(?:co)?$/ } values %order), 0, 'calls of a submission arrived in order');
    diag sprintf '%d events, %d interrupted, %d of these arrived, settled in %.1f s', $wanted, scalar @lost,
        scalar(grep { $seen{ $_->{eventId} } } @lost), $settled;
};
ok(wait_for(sub { !temporary_files() }), 'no temporary file is left');
done_testing;
