# SPDX-License-Identifier: Apache-2.0
# Deadlines and automatic reminders while children of httpd are killed (one each second) and PostgreSQL is restarted:
# nobody signs after a deadline, nobody is expired before it, and each reminder leaves once at most and never after an
# end. Signers sign, and callers cancel, at random times around the deadline or the reminder.
#   SIGREQ_TIMES=N  so many submissions with a deadline, and as many with reminders; needed without SIGREQ_TORTURE
use strict;
use warnings;
use Mojo::Date;
use Mojo::IOLoop;
use Mojo::Promise;
use Sigreq::Apart;
use Sigreq::Here qw(suite children wait_for sql);
use Sigreq::Multipart 'part';
use Sigreq::Signer qw(chain_fault typed);
use Test::More;
use Time::HiRes qw(time);

plan skip_all => 'make torture runs it: jobs of killed children wait up to 45 s'
    if !$ENV{SIGREQ_TIMES} && !$ENV{SIGREQ_TORTURE};

my $count  = $ENV{SIGREQ_TIMES} // 1000;
my $spread = 10 + $count / 10;    # seconds over which deadlines and reminders are due
my $PAUSE  = 5;                   # seconds between the last question whether a signer is due and the mail, at most
my $seed   = $ENV{SIGREQ_SEED} // time % 1_000_000;
srand $seed;
diag("SIGREQ_SEED=$seed");

my $apart  = Sigreq::Apart->new(organization => 'Org');
my $dir    = $apart->{dir};
my $limits = join ' ', map { ("$_=none", "test-$_=none") } qw(organization recipient);
mkdir "$dir/mail";
my $client = $apart->serve(
    children => 2,
    server   => "SigreqSMTP maildir:$dir/mail\nSigreqMailFrom sign\@example.org",
    place    => "Sigreq On\nSigreqBaseURL https://sign.example.org\nSigreqMailLimit $limits");
my $httpd = $apart->{httpd};

sub db    { return sql($_[0], $apart->{params}) }
sub later { return Mojo::Date->new($_[0])->to_datetime }

# --- what there is

my (@deadlines, @reminders);

sub made {
    my ($email, %parts) = @_;
    my $res = $client->create(
        signers => Sigreq::Client::signers({ email => $email }),
        more    => [map { part($_, $parts{$_}) } sort keys %parts]);
    die 'not created: ' . $res->body . "\n" if $res->code != 201;
    return { uuid => $res->json->{uuid}, signer => $res->json->{submitters}[0]{uuid}, email => $email };
}

for my $i (1 .. $count) {
    push @deadlines, made("d$i\@x.org", expiresAt => later(time + 86400), externalId => "d$i");
    push @reminders, made("r$i\@x.org", sendEmail => 'true',
        reminders => '{"after":"PT1H","every":"PT1H","most":1}', externalId => "r$i");
}
ok(wait_for(sub { my @mails = glob "$dir/mail/*.eml"; @mails == $count }), 'all are invited');
unlink glob "$dir/mail/*.eml";

# The times begin now. They are set in the database, because making so many takes long.
my $start = int(time) + 3;
for my $i (0 .. $count - 1) {
    $_->{at} = $start + int(1000 * rand $spread) / 1000 for $deadlines[$i], $reminders[$i];
}
sub micros { return sprintf '%.0f', 1000 * sprintf '%.0f', 1000 * $_[0] }

sub set_times {    # of submissions that have a timer of a kind, in few statements
    my ($kind, @all) = @_;
    my $type = suite->{db} eq 'pgsql' ? 'uuid' : 'text';
    while (my @some = splice @all, 0, 100) {
        my $values = join ', ', map { "('$_->{uuid}', " . micros($_->{at}) . ')' } @some;
        my $with   = "WITH v(uuid, at) AS (VALUES $values), t AS "
            . "(SELECT s.id, v.at FROM v JOIN submission s ON s.uuid = CAST(v.uuid AS $type))";
        db($kind eq 'expiry'
            ? "$with UPDATE submission SET expires_at = t.at FROM t WHERE submission.id = t.id"
            : "$with UPDATE signer SET due_at = t.at - 3600000000 FROM t WHERE submission_id = t.id");
        db("$with UPDATE timer SET due_at = t.at FROM t WHERE submission_id = t.id AND kind = '$kind'");
    }
    return;
}
set_times(expiry => @deadlines);
set_times(remind => @reminders);
cmp_ok(time, '<', $start + $spread, 'the times are set before they have passed');

# --- what happens: faults, and people

my $crowd = $client->crowd;
my ($killed, $restarts, %answers) = (0, 0);

sub act {    # a signature, or a cancellation, at a time near that of the submission
    my ($made) = @_;
    my $when   = $made->{at} + 1.5 - rand(8) - time;    # it takes a while on a busy machine
    my $signs  = rand() < 0.6;
    my $signer = Sigreq::Signer->new(link => $httpd->base . "/sign/$made->{signer}", connections => 0);
    return Mojo::Promise->timer($when > 0 ? $when : 0)->then(
        sub {
            return $signs
                ? $signer->request_p(POST => '', json => typed('Ann Lee'))
                : $crowd->request_p(POST => "/signatures/$made->{uuid}/cancel");
        })->then(
        sub {
            my $code = $_[0]->code // 0;
            $answers{ ($signs ? 'sign ' : 'cancel ') . $code }++;
            $made->{ended} = time if $code == 200;    # the end was committed before this
        }, sub { $answers{'no answer'}++ });
}

my $kills = Mojo::IOLoop->recurring(
    1 => sub {
        my @children = children($httpd->pid);
        $killed += kill KILL => $children[rand @children] if @children;
    });
my $restart = suite->{db} eq 'pgsql' && Mojo::IOLoop->timer(
    $start - time + $spread / 2 => sub {
        Sigreq::Here::database_stop();
        Sigreq::Here::database_start();
        $restarts++;
    });
Mojo::Promise->all(
    Mojo::Promise->timer($start - time + $spread + 2),
    map { act($_) } grep { rand() < 0.5 } @deadlines, @reminders)->wait;
Mojo::IOLoop->remove($kills);
note join ', ', map {"$_: $answers{$_}"} sort keys %answers;
cmp_ok($killed, '>', 3, 'children were killed');
is($restarts, suite->{db} eq 'pgsql' ? 1 : 0, 'PostgreSQL was restarted');

# --- what has become of it

ok(wait_for(
        sub {
            db('SELECT count(*) FROM timer')
            + db("SELECT count(*) FROM job WHERE state <> 'done' AND kind IN ('expiry', 'remind', 'reminder')") == 0;
        }),
    'all jobs are over');
my (%wrong, %outcomes);
for my $made (@deadlines) {
    my $audit  = $client->get("/signatures/$made->{uuid}/audit")->json;
    my $fault  = chain_fault($audit);
    my @ends   = grep { $_->{event} =~ /^(?:signed|cancelled|expired)$/ } @{ $audit->{events} };
    my $end    = $ends[0] // { event => 'no end' };
    my $at     = $end->{at} ? Mojo::Date->new($end->{at})->epoch : 0;
    $outcomes{"deadline $end->{event}"}++;
    $wrong{chain} .= " $made->{uuid}: $fault" if $fault;
    $wrong{ends}  .= " $made->{uuid}" if @ends != 1;
    $wrong{late}  .= " $made->{uuid}" if $end->{event} eq 'signed'  && $at >= $made->{at};
    $wrong{early} .= " $made->{uuid}" if $end->{event} eq 'expired' && $at < $made->{at};
}
my %mails;    # address → the times at which its mails left
for my $file (glob "$dir/mail/*.eml") {
    my ($micros) = $file =~ m{/(\d+)\.[^/]+$} or die $file;
    open my $handle, '<', $file or die "$file: $!\n";
    my ($to) = do { local $/; <$handle> } =~ /^To: .*?(\w+\@x\.org)/m;
    push @{ $mails{$to} }, $micros / 1e6;
}
for my $made (@reminders) {
    my $audit = $client->get("/signatures/$made->{uuid}/audit")->json;
    my @events = map { $_->{event} } @{ $audit->{events} };
    my @left   = @{ $mails{ $made->{email} } // [] };
    my $times  = grep { $_ eq 'reminded' } @events;
    my $fault  = chain_fault($audit);
    $outcomes{"reminder recorded $times, sent " . @left}++;
    $wrong{chain} .= " $made->{uuid}: $fault" if $fault;
    $wrong{more}  .= " $made->{uuid}" if @left > $times || $times > 1;
    $wrong{never} .= " $made->{uuid}" if !$times && !grep {/^(?:signed|cancelled)$/} @events;
    $wrong{ended} .= " $made->{uuid}" if "@events" =~ /(?:signed|cancelled).* reminded/;
    $wrong{after} .= " $made->{uuid}" if $made->{ended} && grep { $_ > $made->{ended} + $PAUSE } @left;
    $wrong{early} .= " $made->{uuid}" if grep { $_ < $made->{at} } @left;
}
diag("$killed children killed, $restarts restarts; ", join ', ', map {"$_: $outcomes{$_}"} sort keys %outcomes);
is($wrong{chain}, undef, 'all events are chains');
is($wrong{ends},  undef, 'each submission with a deadline has one end');
is($wrong{late},  undef, 'nobody has signed after the deadline');
is($wrong{early}, undef, 'nobody was expired, and nobody reminded, too early');
is($wrong{more},  undef, 'each reminder was recorded once at most, and sent once at most');
is($wrong{never}, undef, 'nobody was forgotten: without an end, each was recorded');
is($wrong{ended}, undef, 'none was recorded after an end');
is($wrong{after}, undef, 'none was sent after an end');
ok((grep {/^reminder recorded 1, sent 1$/} keys %outcomes) && $outcomes{'deadline expired'}, 'and something happened');
done_testing;
