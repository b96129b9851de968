# SPDX-License-Identifier: Apache-2.0
# Drafts are saved and sent by several requests at two hosts at the same time, while children of httpd are killed. Each
# draft is sent once or not at all, and what was sent is the fields of one save. The quota, the events and the webhook
# have exactly the drafts that were sent.
#   SIGREQ_TIMES=N  so many drafts
use strict;
use warnings;
use Mojo::IOLoop;
use Mojo::JSON 'encode_json';
use Mojo::Promise;
use Sigreq::Here qw(children sql wait_for);
use Sigreq::Multipart 'part';
use Sigreq::Receiver;
use Sigreq::Signer 'chain_fault';
use Sigreq::Twin qw(seed times);
use Test::More;

my $count    = times('SIGREQ_TIMES', 24, 600);
my $receiver = Sigreq::Receiver->new;
my $twin     = Sigreq::Twin->new(children => 2, server => 'SigreqWebhookAllow 127.0.0.1');
my $apart    = $twin->{apart};
my $token    = $apart->ctl('token', 'create', '--organization', 'Twin', '--user', 'ann@x.org', '--environment',
    'production', '--name', 'drafts')->{token};
my @clients = map { $twin->client($_)->with(token => $token, connections => 0) } 0, 1;
my %answers;
seed();
is($clients[0]->post('/webhooks/sent-webhook-url', json => { url => $receiver->url('/sent') })->code, 200, 'a webhook');

sub db { return sql($_[0], $twin->params) }

sub draft {
    my $number = shift;
    my $res    = $clients[rand 2]->create(
        signers => [map { { firstname => $_, lastname => 'Lee' } } 'Ann', 'Bob'],
        more    => [part('draft', 'true'), part('externalId', $number)]);
    die 'not drafted: ' . $res->body . "\n" if $res->code != 201;
    return { uuid => $res->json->{uuid}, saves => 0 };
}

# Both signers have a signature at the same height, which names the save.
sub save {
    my $draft  = shift;
    my $y      = ++$draft->{saves};
    my %field  = (type => 'signature', name => 'S', document => 'a.pdf');
    my $fields = [{ %field, area => { x => 10, y => $y, w => 30, h => 6, page => 0, unit => 'percent' } }];
    my $body   = { signers => [map { { fields => $fields } } 1, 2] };
    return $clients[rand 2]->request_p(PUT => "/signatures/$draft->{uuid}/fields", json => $body);
}
sub send_p { my $draft = shift; return $clients[rand 2]->request_p(POST => "/signatures/$draft->{uuid}/send") }

# A request whose child was killed has no answer. Nothing but the answers of the table may come.
sub act {
    my ($draft, $what, $code) = @_;
    return Mojo::Promise->timer(rand(0.5) + ($what eq 'send' ? 0.2 : 0))->then(sub { $code->($draft) })->then(
        sub {
            my $code = $_[0]->code // 0;
            $answers{"$what $code"}++;
            $draft->{sent}++ if $what eq 'send' && $code == 200;
        }, sub { $answers{"$what nothing"}++ });
}

my @drafts = map { draft($_) } 1 .. $count;
my $killed = 0;
my $kills  = Mojo::IOLoop->recurring(
    0.1 => sub {
        my @children = children($twin->host(int rand 2)->pid);
        $killed += kill KILL => $children[rand @children] if @children;
    });
for (my $i = 0; $i < @drafts; $i += 12) {
    my @some = grep {defined} @drafts[$i .. $i + 11];
    Mojo::Promise->all(map { my $draft = $_; save($draft)->catch(sub { }) } @some)->wait;
    Mojo::Promise->all(map {
        my $draft = $_;
        ((map { act($draft, save => \&save) } 1 .. 3), (map { act($draft, send => \&send_p) } 1 .. 2))
    } @some)->wait;
}
Mojo::IOLoop->remove($kills);
cmp_ok($killed, '>', 0, 'children were killed');
diag "$killed killed; " . join ', ', map { "$_: $answers{$_}" } sort keys %answers;
my @strange = grep { !/^(?:save|send) (?:200|409|503|nothing)$/ && $_ ne 'send 400' } sort keys %answers;
is("@strange", '', 'each answer is one of the table');

sub shown { my $draft = shift; return $clients[rand 2]->get("/signatures/$draft->{uuid}") }
ok(wait_for(sub { eval { shown($drafts[0])->code == 200 } }), 'both hosts are there');

sub fault {    # what is wrong with a draft, or ''
    my $draft  = shift;
    my $got    = shown($draft)->json;
    my $audit  = $clients[rand 2]->get("/signatures/$draft->{uuid}/audit")->json;
    my $events = join ' ', map { $_->{event} } @{ $audit->{events} };
    my $sent   = $got->{status} eq 'open';
    my %places = map { encode_json([map { $_->{percent}{y} } @{ $_->{fields} }]) => 1 } @{ $got->{submitters} };
    return 'sent ' . ($draft->{sent} // 0) . ' times' if ($draft->{sent} // 0) > 1;
    return 'sent, but it is a draft' if $draft->{sent} && !$sent;
    return chain_fault($audit) if chain_fault($audit);
    return "events: $events" if $events ne ($sent ? 'drafted created' : 'drafted');
    return 'fields of two saves: ' . join ' ', keys %places if keys %places != 1;
    return 'links' if grep { !$_->{signatureLink} != !$sent } @{ $got->{submitters} };
    return '';
}

sub counted {    # the quota, the feed and the webhook, of drafts that were sent
    my $open = db("SELECT count(*) FROM submission WHERE state = 'open'");
    my $jobs = db("SELECT count(*) FROM job WHERE event = 'sent'");
    return "$open: " . join ' ', db('SELECT used FROM organization'), $jobs,
        db("SELECT count(DISTINCT submission_id) FROM job WHERE event = 'sent'"),
        db("SELECT count(*) FROM feed WHERE type = 'submission.sent'"),
        db("SELECT count(*) FROM timer WHERE kind = 'expiry'");
}
is(join("\n", grep {$_} map { fault($_) } @drafts), '', 'each draft was sent once, or not at all');
my $open = db("SELECT count(*) FROM submission WHERE state = 'open'");
cmp_ok($open, '>', 0, 'some were sent');
is(counted(), join(' ', "$open:", ($open) x 4, $count - $open), 'exactly these were counted and announced');

# --- the others are sent, once

for my $draft (@drafts) {
    my $got = shown($draft)->json;
    next if $got->{status} eq 'open';
    save($draft)->wait;
    my $code;
    send_p($draft)->then(sub { $code = $_[0]->code })->wait;
    is($code, 200, 'a draft that is left is sent') if ($code // 0) != 200;
}
is(join("\n", grep {$_} map { fault($_) } @drafts), '', 'all were sent once');
is(counted(), join(' ', "$count:", ($count) x 4, 0), 'all were counted and announced');
ok($twin->jobs_are_done("event = 'sent'"), 'the webhooks have ended');
my %calls;
$calls{ $_->{body}{uuid} // $_->{body}{submissionId} // '' }++ for grep { $_->{path} eq '/sent' } $receiver->received;
my %known = map { $_->{uuid} => 1 } @drafts;
is(join(' ', grep { !$known{$_} || $calls{$_} > 1 } sort keys %calls), '', 'each was called once at most');
cmp_ok(scalar keys %calls, '>', $count / 2, 'most were called');
my $checked = $apart->ctl('check', '--evidence', '--documents', "$apart->{dir}/documents");
is(scalar @{ $checked->{problems} // [] }, 0, 'the rows are what the events say') or diag explain $checked;

done_testing;
