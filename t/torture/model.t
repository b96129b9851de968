# SPDX-License-Identifier: Apache-2.0
# Two hosts and one database behave like the table of Sigreq::Model: every transition from every state that at most
# seven actions reach, all that changes nothing there, and two actions at the same time.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use List::Util qw(shuffle sum0);
use Mojo::Promise;
use Sigreq::Here 'sql';
use Sigreq::Mailbox;
use Sigreq::Model qw(actions start step moves pair key holds reachable walks);
use Sigreq::Receiver;
use Sigreq::Signer qw(chain_fault typed);
use Sigreq::Twin qw(seed share times);
use Sigreq::Validator 'verdict';
use Test::More;

use constant DEPTH => 7;
my $full = times('SIGREQ_MODEL_FULL', 0, 1);
my ($box, $receiver) = (Sigreq::Mailbox->new, Sigreq::Receiver->new);
my $twin = Sigreq::Twin->new(children => 2, place => "Sigreq On\nSigreqBaseURL https://sign.example.org",
    server => "SigreqWebhookAllow 127.0.0.1\nSigreqSMTP smtp://127.0.0.1:$box->{port}\nSigreqMailFrom a\@example.org\n"
        . 'SigreqMailLimit organization=none recipient=none test-organization=none test-recipient=none');
for (qw(sent signed completed)) {
    $twin->client(0)->post("/webhooks/$_-webhook-url", json => { url => $receiver->url('/ok') });
}
seed();
my $number = 0;    # of a submission of this process; in addresses
sub address { my ($run, $i) = @_; return "s$i." . ++$run->{people} . ".$run->{number}\@example.org" }

sub meet {    # signers, who may be new
    my ($run, $shown) = @_;
    $run->{signers} = [map { $_->{uuid} } @{ $shown->{submitters} }];
    $run->{index}{ $run->{signers}[$_] } = $_ for 0 .. 2;
}

sub begin {
    my $run = { number => "$$-" . ++$number, host => $number, events => ['created'], hooks => ['sent'],
        mails => [0, 1], state => start(), told => [], bad => [], old => {}, idle => 0 };
    my @people = map { { order => 1 + ($_ == 2), email => address($run, $_), area => { y => 72 + 100 * $_ } } } 0 .. 2;
    $run->{made} = $twin->create($number % 2, \@people, sendEmail => 'true', parts => { externalId => 'model' });
    $run->{path} = "/signatures/$run->{made}{uuid}";
    meet($run, $run->{made});
    return $run;
}

my %by_link = (
    open => ['GET', ''], sign => [POST => '', json => typed('Ann')],
    refuse => [POST => '', json => { action => 'refuse' }]);
my %by_token = (
    cancel => sub { (POST => '/cancel') },
    extend => sub { (PATCH => '', json => { expiresAt => sprintf '2030-01-01T00:%02d:00Z', ++$_[0]{extended} }) },
    expire => sub { (GET => '') },
    later  => sub { (GET => '') },
    remind => sub { (POST => "/signers/$_[0]{signers}[$_[1]]/remind") },
    replace => sub {
        my %person = (firstname => 'New', lastname => 'Lee', email => address(@_));
        return (POST => "/signers/$_[0]{signers}[$_[1]]/replace", json => \%person);
    });

sub id_of { return "(SELECT id FROM submission WHERE uuid = '$_[0]{made}{uuid}')" }
my %in_time = (    # what lets time pass
    expire => "UPDATE submission SET expires_at = created_at WHERE state = 'open' AND id = ",
    later  => 'UPDATE signer SET reminded_at = reminded_at - 600000000 WHERE submission_id = ');

sub act {    # at a host: a promise of the status
    my ($run, $host, $action) = @_;
    my ($name, $i) = split ' ', $action;
    if (my $request = $by_link{$name}) {
        my $signer = $twin->signer($host, $run->{signers}[$i]);
        return $signer->request_p(@$request)->then(sub { undef $signer; $_[0]->code });
    }
    my ($method, $path, @body) = $by_token{$name}->($run, $i);
    my $before = Mojo::Promise->resolve;
    $before = Mojo::IOLoop->subprocess->run_p(sub { sql($in_time{$name} . id_of($run), $twin->params) })
        if $in_time{$name};
    return $before->then(sub { $twin->client($host)->request_p($method, $run->{path} . $path, @body) })
        ->then(sub { $_[0]->code });
}

sub expected {
    my ($run, $said) = @_;
    my %shown = (waiting => 'initiated', refused => 'opened');    # the contract has four
    my $to = $said ? $said->{to} : $run->{state};
    return join ' ', $to->{state}, map({ $shown{$_} // $_ } @{ $to->{signers} }), @{ $run->{events} },
        $said ? @{ $said->{events} } : ();
}

sub observed {    # at a host; links that were replaced are gone
    my ($run, $host) = @_;
    my ($now, $audit) = map { $twin->client($host)->get($_)->json } $run->{path}, "$run->{path}/audit";
    meet($run, $now);
    my %here = map { $_ => 1 } @{ $run->{signers} };
    $run->{old}{"$host $_"} //= $twin->signer($host, $_)->get('')->code for grep { !$here{$_} } keys %{ $run->{index} };
    my @events = map { join ' ', $_->{event}, $_->{signer} ? $run->{index}{ $_->{signer} } : () } @{ $audit->{events} };
    return join ' ', $now->{status}, map({ $_->{status} } @{ $now->{submitters} }), @events, chain_fault($audit) // (),
        grep { $_ != 410 } values %{ $run->{old} };
}

sub same {
    my ($run, $what, $got, @want) = @_;
    return if grep { $got eq $_ } @want;
    push @{ $run->{bad} }, join ', ', @{ $run->{told} }, "$what: $got instead of " . join ' or ', @want;
}

sub take {    # a status that came, and what is expected of it
    my ($run, $action, $host) = @_;
    my $said = step($run->{state}, $action);
    act($run, $host, $action)->then(sub { same($run, $action, $_[0], $said->{code}) })->wait;
    follow($run, $said);
    return if $said->{code} != 202;
    $twin->jobs_are_done("kind = 'reminder' AND submission_id = " . id_of($run))
        or push @{ $run->{bad} }, 'a reminder is not sent';
}

sub follow {
    my ($run, $said) = @_;
    $run->{state} = $said->{to};
    push @{ $run->{$_} }, @{ $said->{$_} } for qw(events hooks mails);
}

sub walk {    # actions, at the two hosts in turns; where it stops, also all that changes nothing
    my ($run, $walk) = @_;
    for my $n (0 .. @{ $walk->{actions} }) {
        my %moves = map { $_ => 1 } moves($run->{state});
        my @idle  = $walk->{stops}{$n} ? grep { !$moves{$_} } actions() : ();
        meet($run, $twin->client(0)->get($run->{path})->json) if @idle;    # the last action may have replaced a signer
        take($run, $_, ++$run->{host} % 2) for @idle;
        $run->{idle} += @idle;
        same($run, 'state', observed($run, $_), expected($run)) for $walk->{stops}{$n} ? (0, 1) : 1 - $run->{host} % 2;
        my $action = $walk->{actions}[$n] // last;
        push @{ $run->{told} }, "$action at " . ++$run->{host} % 2;
        take($run, $action, $run->{host} % 2);
    }
    both($run, @{ $walk->{both} }) if $walk->{both};
}

sub both {    # two actions at the same time
    my ($run, @actions) = @_;
    my @codes;
    push @{ $run->{told} }, join ' and ', @actions;
    Mojo::Promise->all(map { my $n = $_; act($run, $n, $actions[$n])->then(sub { $codes[$n] = $_[0] }) } 0, 1)->wait;
    my @outcomes = pair($run->{state}, @actions);
    my @texts = map { "$_->{codes}: " . expected($run, $_) } @outcomes;
    my $got = "@codes: " . observed($run, int rand 2);
    same($run, 'outcome', $got, @texts);
    follow($run, $outcomes[$got eq $texts[0] ? 0 : 1]);
    for my $n (grep { $codes[$_] == 202 } 0, 1) {    # a reminder is not sent if the signer is not due any more
        my ($i) = $actions[$n] =~ /(\d)/;
        $run->{unsure} = "reminder $i" if !holds('due', $run->{state}, $i) || $actions[1 - $n] eq "replace $i";
    }
}

sub judge {    # the document, and the certificate of a completed submission, by other programs
    my $run   = shift;
    my $bytes = $twin->client(0)->get("$run->{path}/documents/$run->{made}{documents}[0]{uuid}")->body;
    my $signed = grep { $_ eq 'completed' } @{ $run->{state}{signers} };
    return same($run, 'document', sha256_hex($bytes), $run->{made}{documents}[0]{sha256}) if !$signed;
    same($run, 'PDF', verdict($bytes), "$signed intact");
    same($run, 'certificate', verdict($twin->client(1)->get("$run->{path}/certificate")->body), '1 intact')
        if $signed == 3;
}

my ($walks, $transitions, $states) = walks(DEPTH, $full);
my @open = grep { $_->{state}{state} eq 'open' } reachable(DEPTH - 2);
my (@pairs, %judged);
for my $from (@open) {    # unless both change nothing
    my %moves = map { $_ => 1 } moves($from->{state});
    my @all   = actions();
    while (defined(my $one = shift @all)) {
        my @others = grep { $moves{$one} || $moves{$_} } $one, @all;
        push @pairs, map { { actions => $from->{path}, both => [$one, $_] } } @others;
    }
}
my @tasks = (@$walks, (shuffle @pairs)[0 .. times('SIGREQ_PAIRS', 4, scalar @pairs) - 1]);
my @runs = share(3, \@tasks, sub {
    my $run = begin();
    eval { walk($run, shift); judge($run) if $full || !$judged{ key($run->{state}) }++; 1 }
        or push @{ $run->{bad} }, "@{ $run->{told} }: $@";
    return { map { $_ => $run->{$_} } qw(bad told events hooks mails unsure index number idle made) };
});
sub bad { return join "\n", map { splice @{ $_->{bad} } } @runs }
note time - $^T, ' s until all were run';
is(scalar @runs, scalar @tasks, 'all were run');
is(bad(), '', 'responses, states, events and documents are as the table says');
ok($twin->jobs_are_done('true'), 'the queue is empty');
my (%hooks, %mails);
push @{ $hooks{ $_->{body}{submissionId} } }, $_->{body} for $receiver->received;
for ($box->mails) {
    my $reminder = $_->{headers}{subject}[0] =~ /Reminder/ ? 'reminder ' : '';
    push @{ $mails{$2} }, $reminder . $1 if $_->{to}[0] =~ /^s(\d)\.\d+\.([\d-]+)\@/;
}
for my $run (@runs) {
    my @hooks = map { join ' ', $_->{event}, $_->{submitters} ? () : $run->{index}{ $_->{uuid} } }
        @{ $hooks{ $run->{made}{uuid} } };
    same($run, 'webhooks', "@hooks", "@{ $run->{hooks} }");
    my @sure = grep { $_ ne ($run->{unsure} // '') } @{ $run->{mails} };
    same($run, 'mails', map { join ' ', sort @$_ } $mails{ $run->{number} }, $run->{mails}, \@sure);
}
is(bad(), '', 'webhooks and mails are as the table says');
my $idle = sum0 map { $_->{idle} } @runs;
diag "$states states, $transitions transitions by ", scalar @$walks, " walks, $idle requests that change nothing";
diag @tasks - @$walks, ' of ', scalar @pairs, ' pairs from ', scalar @open, ' open states';
done_testing;
