# SPDX-License-Identifier: Apache-2.0
# SigreqRetention: submissions are deleted when they have been closed for the time that their environment and outcome
# have. What is open, held, or of another environment or outcome stays.
use strict;
use warnings;
use Sigreq::Apart;
use Sigreq::Here qw(suite sql wait_for is_error);
use Sigreq::Httpd;
use Sigreq::Multipart 'part';
use Sigreq::Signer 'signers_of';
use Test::More;

my $DAY   = 86400 * 1_000_000;
my $apart = Sigreq::Apart->new(organization => 'Org');
my @live  = ('--organization', 'Org', '--user', 'ann@x.org', '--environment', 'production', '--name', 'live');
my $token = $apart->ctl('token', 'create', @live)->{token};
my ($test, $live);

sub serve {
    $test = $apart->serve(children => 2, server => join "\n", @_);
    $live = $test->with(token => $token);
}

sub path_of { "/signatures/$_[0]{uuid}" }
sub row     { sql($_[0], $apart->{params}) }

sub closed {    # a submission with this outcome that was closed so many days ago
    my ($client, $outcome, $days) = @_;
    my $made = $client->create->json;
    my ($signer) = signers_of($made);
    if    ($outcome eq 'completed') { $signer->sign('Ann Lee') }
    elsif ($outcome eq 'refused')   { $signer->post(json => { action => 'refuse', reason => 'No' }) }
    elsif ($outcome eq 'cancelled') { $client->post(path_of($made) . '/cancel', json => {}) }
    elsif ($outcome eq 'expired') {
        row("UPDATE submission SET expires_at = 1 WHERE uuid = '$made->{uuid}'");
        $client->get(path_of($made));
    }
    is(row("SELECT state FROM submission WHERE uuid = '$made->{uuid}'"), $outcome, "$outcome, $days days ago");
    my $ago = sprintf '%d', $days * $DAY;
    row("UPDATE submission SET created_at = created_at - $ago, closed_at = closed_at - $ago"
            . " WHERE uuid = '$made->{uuid}'");
    return { %$made, client => $client, what => "$outcome, $days days ago" };
}

sub now_served { return map { { %$_, client => $_->{client}{token} eq $token ? $live : $test } } @_ }

sub is_kept { is($_->{client}->get(path_of($_))->code, 200, "kept: $_->{what}") for @_ }

sub is_deleted {
    my @gone = @_;
    for my $made (@gone) {
        wait_for(sub { $made->{client}->get(path_of($made))->code == 410 });
        is_error($made->{client}->get(path_of($made)), 410, 'This submission was deleted', "deleted: $made->{what}");
    }
}

subtest 'environments and outcomes' => sub {
    serve('LogLevel warn');    # without the directive all are kept
    my @gone = (
        closed($live, 'completed', 367),
        closed($live, 'refused',   11),
        closed($live, 'cancelled', 6),
        closed($test, 'expired',   3),
        map { closed($test, 'completed', 3) } 1 .. 6);
    my @kept = (
        closed($live, 'completed', 365),
        closed($live, 'refused',   9),
        closed($live, 'cancelled', 4),
        closed($live, 'expired',   9000),
        closed($live, 'open',      9000),
        closed($test, 'open',      9000),
        closed($test, 'completed', 1));
    my $held = closed($test, 'cancelled', 3);
    $apart->ctl('submission', 'hold', $held->{uuid}, '--reason', 'Case 17');
    is_kept(@gone);
    serve('SigreqRetention production completed=1y refused=10d', 'SigreqRetention production cancelled=5d',
        'SigreqRetention test all=2d');
    is_deleted(now_served(@gone));

    # It comes after all others that are due, so the kept ones have been looked at when it is gone.
    my $last = closed($test, 'refused', 2.5);
    my $next = closed($test, 'refused', 2.4);
    is_deleted($last, $next);
    is_kept(now_served(@kept, $held));
    my $events = row("SELECT count(*) FROM event e JOIN submission s ON s.id = e.submission_id"
            . " WHERE s.state = 'deleted' AND s.uuid = '$last->{uuid}' AND e.body LIKE '%\"deleted\"%'");
    like($events, qr/^1$/m, 'the chain ends with the deletion');

    $apart->ctl('submission', 'release', $held->{uuid});
    is_deleted({ %$held, client => $test, what => 'after its release' });
    is_kept(now_served(@kept));
};

subtest 'one that cannot be deleted' => sub {
    serve('LogLevel warn');
    my @stuck = map { closed($test, 'cancelled', 5) } 1 .. 9;    # a call takes 8
    my $good = closed($test, 'cancelled', 3);
    my $uuids = join ', ', map {"'$_->{uuid}'"} @stuck;
    row(suite->{db} eq 'pgsql'
        ? "ALTER TABLE submission ADD CONSTRAINT stuck CHECK (state <> 'deleted' OR uuid NOT IN ($uuids)) NOT VALID"
        : "CREATE TRIGGER stuck BEFORE UPDATE ON submission WHEN new.state = 'deleted' AND new.uuid IN ($uuids)"
            . " BEGIN SELECT raise(ABORT, 'stuck'); END");
    serve('SigreqRetention test cancelled=2d');
    is_deleted(now_served($good));
    is_kept(now_served(@stuck));
};
$apart->stop;

my $outcomes = 'must set completed=, refused=, cancelled=, expired= or all= after the environment';
my $times    = 'must use times of at least 1d, such as 90d or 10y';
my $twice    = 'must set each outcome of an environment only once';
for (
    ['staging all=30d',                       'must begin with production or test'],
    ['completed=10y',                         'must begin with production or test'],
    ['test',                                  $outcomes],
    ['test deleted=30d',                      $outcomes],
    ['test open=30d',                         $outcomes],
    ['test 30d',                              $outcomes],
    ['test all=0d',                           $times],
    ['test all=30',                           $times],
    ['test all=',                             $times],
    ['test all=-1d',                          $times],
    ['test all=30w',                          $times],
    ['test all=30days',                       $times],
    ['test all=999999d',                      $times],
    ['production completed=1y completed=2y',  $twice],
    ['production all=1y refused=2y',          $twice],
    ["test all=1d\nSigreqRetention test refused=2d", $twice, 'test refused=2d'],
    )
{
    my ($value, $fault, $said) = @$_;
    $said //= $value;
    my ($status, $text) = Sigreq::Httpd->new(server => "SigreqRetention $value")->test;
    isnt($status, 0, "SigreqRetention $value is refused");
    like($text, qr/^SigreqRetention \Q$fault\E, not '\Q$said\E'$/m,
        "SigreqRetention $value: the message has the reason");
}
my ($status, $text) = Sigreq::Httpd->new(place => "Sigreq On\nSigreqRetention test all=1d")->test;
isnt($status, 0, 'it is refused in a place');
like($text, qr/SigreqRetention/, 'the message names SigreqRetention');
# A template counts from its last use, and only for its own submission.
subtest 'a template that is used' => sub {
    serve('LogLevel warn');
    my @made = map { closed($test, 'cancelled', 90) } 1 .. 3;
    my @uses = map {
        my $signers = '[{"firstname":"Eve","lastname":"Lee"}]';
        my $res = $test->create(files => [], signers => $signers, more => [part('template', $_->{template}{uuid})]);
        is($res->code, 201, 'a use') or diag $res->body;
        $test->post(path_of($res->json) . '/cancel', json => {});
        +{ %{ $res->json }, client => $test, what => 'a use' };
    } @made;
    is($test->delete("/templates/$made[1]{template}{uuid}")->code, 204, 'one is deleted');
    my $ago = 60 * $DAY;
    row("UPDATE submission SET created_at = created_at - $ago, closed_at = closed_at - $ago "
            . "WHERE uuid = '$uses[2]{uuid}'");
    serve('SigreqRetention test all=30d', 'LogLevel warn');
    is_deleted(now_served(@made[1, 2], $uses[2]));
    is_kept(now_served($made[0], @uses[0, 1]));
};

done_testing;
