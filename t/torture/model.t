# SPDX-License-Identifier: Apache-2.0
# Two hosts and one database behave like the table of Sigreq::Model: every action from every state that at most seven
# actions reach, and two actions at the same time.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use List::Util qw(shuffle sum0);
use Mojo::Promise;
use Sigreq::Here 'sql';
use Sigreq::Mailbox;
use Sigreq::Model qw(actions start idle outcomes reachable);
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
my $url = $receiver->url('/ok');
$twin->client(0)->post("/webhooks/$_-webhook-url", json => { url => $url }) for qw(sent signed completed);
seed();
my $number = 0;    # of a submission of this process; in addresses
sub address { my ($run, $i) = @_; return "s$i." . ++$run->{people} . ".$run->{number}\@example.org" }

sub begin {
    my $run = { number => "$$-" . ++$number, host => $number % 2, events => ['created'], hooks => ['sent'],
        mails => [0, 1], state => start(), told => [], bad => [], old => {}, index => {} };
    my @people = map { { order => 1 + ($_ == 2), email => address($run, $_), area => { y => 72 + 100 * $_ } } } 0 .. 2;
    $run->{made} = $twin->create($run->{host}, \@people, sendEmail => 'true', parts => { externalId => 'model' });
    $run->{path} = "/signatures/$run->{made}{uuid}";
    $run->{id} = "(SELECT id FROM submission WHERE uuid = '$run->{made}{uuid}')";
    same($run, 'created', shown($run, 1 - $run->{host}), expected($run, { to => start(), events => [] }));
    return $run;
}

my %passes = (    # what lets time pass
    expire => "UPDATE submission SET expires_at = created_at WHERE state = 'open' AND id = ",
    later  => 'UPDATE signer SET reminded_at = reminded_at - 600000000 WHERE submission_id = ');

sub act {    # at a host: a promise of the status
    my ($run, $host, $action) = @_;
    my ($name, $i) = split ' ', $action;
    my ($path, $uuid) = ($run->{path}, $run->{signers}[$i // 0]);
    my %by_link = (
        open   => [GET  => ''],
        sign   => [POST => '', json => typed('Ann')],
        refuse => [POST => '', json => { action => 'refuse' }]);
    my %by_token = (
        cancel  => [POST  => "$path/cancel"],
        extend  => [PATCH => $path, json => { expiresAt => sprintf '2030-01-01T00:00:00.%03dZ', ++$run->{dates} }],
        remind  => [POST  => "$path/signers/$uuid/remind"],
        replace => [POST  => "$path/signers/$uuid/replace",
            json => { firstname => 'New', lastname => 'Lee', email => address($run, $i // 0) }]);
    my @request = @{ $by_link{$name} // $by_token{$name} // [GET => $path] };
    my $party = $by_link{$name} ? $twin->signer($host, $uuid) : $twin->client($host);
    my $sql = $passes{$name} && $passes{$name} . $run->{id};
    my $before = $sql ? Mojo::IOLoop->subprocess->run_p(sub { sql($sql, $twin->params) }) : Mojo::Promise->resolve;
    return $before->then(sub { $party->request_p(@request) })->then(sub { undef $party; $_[0]->code });
}

# What a host shows: status of submission and signers, events, a fault of their chain, and links that do not say 410
# though their signer was replaced.
sub shown {
    my ($run, $host) = @_;
    my ($now, $audit) = map { $twin->client($host)->get($_)->json } $run->{path}, "$run->{path}/audit";
    my @here = map { $_->{uuid} } @{ $now->{submitters} };
    my ($index, $old) = @$run{qw(index old)};
    ($run->{signers}, @$index{@here}) = (\@here, 0 .. 2);
    for my $gone (grep { $here[$index->{$_}] ne $_ } keys %$index) {
        $old->{"$host $gone"} //= $twin->signer($host, $gone)->get('')->code;
    }
    my @events = map { join ' ', $_->{event}, $_->{signer} ? $index->{ $_->{signer} } : () } @{ $audit->{events} };
    return join ' ', $now->{status}, map({ $_->{status} } @{ $now->{submitters} }), @events, chain_fault($audit) // (),
        grep { $_ != 410 } values %$old;
}

sub expected {    # of a host after an outcome. The contract has no status for signers who have refused
    my ($run, $outcome) = @_;
    my @signers = map {s/refused/opened/r} @{ $outcome->{to} }{ 0 .. 2 };
    return join ' ', $outcome->{to}{state}, @signers, @{ $run->{events} }, @{ $outcome->{events} };
}

sub same {
    my ($run, $what, $got, @want) = @_;
    return if grep { $got eq $_ } @want;
    push @{ $run->{bad} }, join ', ', @{ $run->{told} }, "$what: $got instead of " . join ' or ', @want;
}

sub settle {    # an action at one host, or two at the same time at both; then the other host is asked
    my ($run, @actions) = @_;
    my ($host, @codes) = ++$run->{host} % 2;
    push @{ $run->{told} }, join(' and ', @actions) . " at $host";
    Mojo::Promise->all(
        map { my $n = $_; act($run, $host ^ $n, $actions[$n])->then(sub { $codes[$n] = $_[0] }) } 0 .. $#actions)->wait;
    my @outcomes = outcomes($run->{state}, @actions);
    my @texts = map { "$_->{codes}: " . expected($run, $_) } @outcomes;
    my $got = "@codes: " . shown($run, 1 - $host);
    same($run, 'outcome', $got, @texts);
    my $outcome = $outcomes[$got eq $texts[0] ? 0 : -1];
    $run->{state} = $outcome->{to};
    push @{ $run->{$_} }, @{ $outcome->{$_} } for qw(events hooks mails);
    for my $i (map { $codes[$_] == 202 ? $actions[$_] =~ /(\d)/ : () } 0 .. $#actions) {    # whose mail may be too late
        $run->{unsure} = "reminder $i" if idle($run->{state}, $i) || grep { $_ eq "replace $i" } @actions;
        same($run, 'reminders', $twin->jobs_are_done("kind = 'reminder' AND submission_id = $run->{id}"), 1);
    }
}

sub judge {    # the document, and the certificate of a completed submission, by other programs
    my $run = shift;
    my ($document) = @{ $run->{made}{documents} };
    my $bytes = $twin->client(0)->get("$run->{path}/documents/$document->{uuid}")->body;
    my $signed = grep { $_ eq 'completed' } @{ $run->{state} }{ 0 .. 2 };
    return same($run, 'document', sha256_hex($bytes), $document->{sha256}) if !$signed;
    same($run, 'PDF', verdict($bytes), "$signed intact");
    my $certificate = $signed == 3 && verdict($twin->client(1)->get("$run->{path}/certificate")->body);
    same($run, 'certificate', $certificate, '1 intact') if $signed == 3;
}

# In each state all actions that do not leave it are tried, and those that remind a signer again before and after the
# others: the first one is sent, the second one is refused, and after the pause the third one is sent. Each action that
# leaves the state has a walk, unless a longer one begins with it.
my $few = qr/^(?:reminded|replaced|extended)/;
my @states = reachable(DEPTH, $full ? qr/^reminded/ : $few);
my %longer = map { join(', ', @{ $_->{path} }) => 1 } @states;
my (@walks, @pairs, %judged);
for my $from (@states) {
    my @path = @{ $from->{path} };
    my @remind = grep {/^remind/} @{ $from->{stay} };
    push @walks, [@path, @remind, @{ $from->{stay} }, @remind];
    push @walks, map { [@path, $_] } grep { @path < DEPTH && !$longer{ join ', ', @path, $_ } } @{ $from->{leave} };
}
for my $from (grep { $_->{state}{state} eq 'open' } reachable(DEPTH - 2, $few)) {
    my @all = actions();
    while (defined(my $one = shift @all)) {    # unless both change nothing
        my @others = grep { grep { @{ $_->{events} } } outcomes($from->{state}, $one, $_) } $one, @all;
        push @pairs, map { [@{ $from->{path} }, "$one and $_"] } @others;
    }
}
my @tasks = (@walks, (shuffle @pairs)[0 .. times('SIGREQ_PAIRS', 4, scalar @pairs) - 1]);
my @runs = share(3, \@tasks, sub {
    my ($run, $task) = (begin(), @_);
    eval {
        settle($run, split / and /) for @$task;
        judge($run) if $full || !$judged{ join ' ', @{ $run->{state} }{ 'state', 0 .. 2 } }++;
        1;
    } or push @{ $run->{bad} }, "@{ $run->{told} }: $@";
    return { map { $_ => $run->{$_} } qw(bad told events hooks mails unsure index number made) };
});
sub bad { return join "\n", map { splice @{ $_->{bad} } } @runs }
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
diag scalar @states, ' states, ', scalar @walks, ' walks, ', sum0(map { scalar @{ $_->{told} } } @runs), ' actions';
diag @tasks - @walks, ' of ', scalar @pairs, ' pairs';
done_testing;
