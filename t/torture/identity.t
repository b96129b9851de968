# SPDX-License-Identifier: Apache-2.0
# The code of a signer is guessed from many addresses at three hosts that share a database: the attempts are counted
# as if there were one host, nobody passes while the check is locked, and nobody learns that it is. A right code that
# is entered at all hosts at once, and the caller who unlocks while somebody guesses, leave a state that one order
# explains. A code that was mailed is good for one session. The clock of a host decides nothing.
use strict;
use warnings;
use List::Util 'uniq';
use Mojo::JSON 'decode_json';
use Mojo::Promise;
use Sigreq::Clock  qw(clock_missing clocked);
use Sigreq::Here   qw(at_once sql wait_for);
use Sigreq::Mailbox;
use Sigreq::Signer qw(chain_fault);
use Sigreq::Twin   qw(seed times);
use Test::More;

use constant HOSTS => 3;
use constant HOUR  => 3600 * 1_000_000;

my $count = times('SIGREQ_TIMES', 30, 1000);
my $box  = Sigreq::Mailbox->new;
my $twin = Sigreq::Twin->new(
    hosts => HOSTS, children => 2, modules => 'authz_core dbd remoteip',
    place => "Sigreq On\nSigreqBaseURL https://sign.example.org", server => <<"CONF");
RemoteIPHeader X-Forwarded-For
RemoteIPInternalProxy 127.0.0.1
SigreqSMTP smtp://127.0.0.1:$box->{port}
SigreqMailFrom sign\@example.org
CONF
seed();

sub db { return sql($_[0], $twin->params) }

sub made {
    my (%check) = @_;
    return $twin->create(0, [{ authentication => { method => 'code', code => 'Right-4711', %check } }]);
}

# A guess at one of the hosts, from an address of its own: a promise of "status body" without the id of the request.
my $address = 0;

sub guess {
    my ($made, $code) = @_;
    my $signer = $twin->signer(int rand HOSTS, $made->{submitters}[0]{uuid});
    my $from = join '.', 198, 18, int($address / 250), 1 + $address++ % 250;
    return $signer->request_p(
        POST => '/check', json => { code => $code }, headers => { 'X-Forwarded-For' => $from })
        ->then(sub {
            my $res = $_[0];
            undef $signer;    # it has the connection
            return join ' ', $res->code, $res->code == 200 ? '' : $res->body;
        });
}

sub patient {    # the same, again while there were too many for the link: each host admits a few within a minute
    my ($made, $code) = @_;
    return guess($made, $code)->then(sub {
        return $_[0] if $_[0] !~ /^429 /;
        return Mojo::Promise->timer(1)->then(sub { patient($made, $code) });
    });
}

sub all {        # the answers of these codes, a few at a time
    my ($guess, $made, @codes) = @_;
    my @answers;
    Mojo::Promise->map({ concurrency => at_once(8) },
        sub { $guess->($made, $_)->then(sub { push @answers, $_[0] }) }, @codes)->wait;
    return @answers;
}
sub guesses { return all(\&patient, @_) }

sub kinds {    # how many events of this kind
    my ($made, $kind) = @_;
    my $trail = $twin->client(0)->get("/signatures/$made->{uuid}/audit")->json;
    is(chain_fault($trail), undef, 'the chain of events is whole');
    return scalar grep { $_->{event} eq $kind } @{ $trail->{events} };
}

sub shown {
    my ($made) = @_;
    return $twin->client(1)->get("/signatures/$made->{uuid}")->json('/submitters/0/authentication');
}

sub state_of { return shown(@_)->{state} }

sub forward {    # as if so many hours had passed for the check of this signer
    my ($made, $hours) = @_;
    my $where  = "uuid = '$made->{submitters}[0]{uuid}'";
    my $stored = decode_json(db("SELECT authentication FROM signer WHERE $where"));
    $stored->{locked_until} -= $hours * HOUR if $stored->{locked_until};
    my $text = Mojo::JSON::encode_json($stored) =~ s/'/''/gr;
    return db("UPDATE signer SET authentication = '$text' WHERE $where");
}

# --- guessing

my $made    = made();
my @answers = all(\&guess, $made, map { sprintf 'Wrong-%04d', $_ } 1 .. $count);
is(scalar @answers, $count, 'each guess has an answer');
@answers = grep { !/^429 / } @answers;
cmp_ok(scalar @answers, '>', 20, 'most were not too many');
is(scalar(uniq @answers), 1, 'all answers are the same') or diag join "\n", uniq @answers;
like($answers[0], qr/^403 /, 'they refuse');
is(kinds($made, 'codeFailed'), 5, 'five guesses were compared');
is(state_of($made), 'locked', 'the check is locked');
is_deeply([uniq guesses($made, ('Right-4711') x 6)], [$answers[0]], 'the right code gets the same answer');
is(kinds($made, 'codeFailed'), 5, 'what is entered while it is locked is not compared');
forward($made, 1);
for my $lock (2 .. 5) {
    guesses($made, map {"Wrong-$lock-$_"} 1 .. 9);
    is(kinds($made, 'codeFailed'), 5 * $lock, "five more guesses, lock $lock");
    forward($made, 1);
}
is_deeply([uniq guesses($made, 'Right-4711')], [$answers[0]], 'after five locks the right code is refused');
is(shown($made)->{lockedUntil}, undef, 'only the caller can unlock it');
is(kinds($made, 'authenticated'), 0, 'nobody has passed');

# --- the caller unlocks it while somebody guesses

my $path = "/signatures/$made->{uuid}/signers/$made->{submitters}[0]{uuid}/unlock";
my @both;
Mojo::Promise->all($twin->client(2)->request_p(POST => $path)->then(sub { push @both, $_[0]->code }),
    map { guess($made, "Wrong-$_") } 1 .. 3)->wait;
is_deeply(\@both, [200], 'unlocked');
cmp_ok(kinds($made, 'codeFailed'), '<=', 25 + 3, 'guesses before it were not compared');
like((guesses($made, 'right 4711'))[0], qr/^200/, 'the right code passes');
is(state_of($made), 'passed', 'passed');

# --- a host whose clock is two days ahead

my $missing = clock_missing();
SKIP: {
    skip $missing, 4 if $missing;
    $made = made();
    my $ahead = $twin->host(2);
    $ahead->stop;
    clocked(sub { $ahead->start }, 2 * 86_400);
    my $enter = sub {
        my ($host, $code) = @_;
        my $signer = $twin->signer($host, $made->{submitters}[0]{uuid});
        return $signer->request(POST => '/check', json => { code => $code });
    };
    $enter->($_, 'Wrong-1') for 0, 1, 2, 2, 1;
    is($enter->(2, 'Right-4711')->code, 403, 'the clock of a host does not end a lock');
    forward($made, 1);
    my $session = $enter->(0, 'Right-4711')->json->{url} =~ s{.*/}{}r;
    is(Sigreq::Signer->new(link => $twin->host($_)->base . "/sign/$session", connections => 0)->get('')->code,
        200, "its session is valid at host $_") for 0 .. 2;
    $ahead->stop;
    $ahead->start;
}

# --- the right code at all hosts at once

$made = made();
is_deeply([uniq guesses($made, ('right4711') x 9)], ['200 '], 'each has passed');
is(kinds($made, 'authenticated'), 9, 'each has an event');
# --- those who have passed sign at the same time, at all hosts

my $check = { method => 'code', code => 'Right-4711' };
$made = $twin->create(0, [map { { authentication => $check } } 1 .. 6]);
my @signed;
Mojo::Promise->all(map {
    my ($number, $uuid) = ($_, $made->{submitters}[$_]{uuid});
    my $url = $twin->signer(0, $uuid)->request(POST => '/check', json => { code => 'right4711' })->json->{url};
    my $session = $twin->signer($number % HOSTS, $uuid . ($url =~ s/.*(?=~)//r));
    $session->sign_p->then(sub { undef $session; push @signed, $_[0]->code });
} 0 .. 5)->wait;
is_deeply(\@signed, [(200) x 6], 'each has signed');

# --- a code that was mailed, at all hosts at once: it is good for one session

$made = $twin->create(0, [{ email => 'ann@example.org', authentication => { method => 'email' } }]);
is($twin->signer(1, $made->{submitters}[0]{uuid})->request(POST => '/code')->code, 202, 'a code is sent');
my @mails;
wait_for(sub { @mails = $box->mails; @mails > 0 });
my ($sent) = $mails[0]{plain} =~ /^(\d{6})\s*$/m;
ok($sent, 'the mail has a code');
@answers = sort(guesses($made, ($sent) x 4));
like($answers[0], qr/^200/, 'one has passed');
is(scalar(grep {/^403 /} @answers), 3, 'the others have not');
is(kinds($made, 'authenticated'), 1, 'one event');
is($twin->errors =~ s/^.*AH10159.*\n?//mgr, '', 'no host reports an error');
done_testing;
