# SPDX-License-Identifier: Apache-2.0
# SigreqRetention at two hosts that share a database, while children are killed: each submission that is due is deleted
# once, and nobody reports an error.
use strict;
use warnings;
use Sigreq::Here   qw(children sql wait_for);
use Sigreq::Signer qw(chain_fault);
use Sigreq::Twin   qw(seed times);
use Test::More;

my $count = times('SIGREQ_TIMES', 16, 200);
my $twin  = Sigreq::Twin->new(children => 2, server => 'SigreqRetention test cancelled=2d');
seed();

sub db { return sql($_[0], $twin->params) }
my @made = map {
    my $made = $twin->create($_ % 2, [{}], parts => { externalId => 'old' });
    $twin->client($_ % 2)->post("/signatures/$made->{uuid}/cancel");
    $made;
} 1 .. $count;
my $young = pop @made;
my $days  = 3 * 86_400 * 1_000_000;
is(db('SELECT count(*) FROM submission WHERE closed_at IS NOT NULL'), $count, 'all are cancelled');
db('UPDATE submission SET ' . join(', ', map { "$_ = $_ - $days" } qw(created_at closed_at))
        . " WHERE uuid <> '$young->{uuid}'");

my $killed = 0;
ok(wait_for(
        sub {
            my $deleted = db("SELECT count(*) FROM submission WHERE state = 'deleted'");
            if ($deleted > 4 * $killed && $killed < 4) {    # not again without a deletion in between
                $killed += kill KILL => map { children($twin->host($_)->pid) } 0, 1;
            }
            return $deleted == @made;
        }),
    'those that are due are deleted') or diag $twin->errors;
cmp_ok($killed, '>', 0, 'children were killed meanwhile');
is(db("SELECT state FROM submission WHERE uuid = '$young->{uuid}'"), 'cancelled', 'the one that is not due is kept');
my $twice = db('SELECT count(*) FROM (SELECT 1 FROM event WHERE body LIKE \'%"deleted"%\' GROUP BY submission_id'
        . ' HAVING count(*) > 1) AS t');
is($twice, 0, 'no submission was deleted twice');
is(db('SELECT count(*) FROM event WHERE body LIKE \'%"deleted"%\''), scalar @made, 'each deletion has an event');
my @faults = grep {defined} map { chain_fault($twin->client(0)->get("/signatures/$_->{uuid}/audit")->json) } @made;
is_deeply(\@faults, [], 'each chain of events is whole');
is(join("\n", grep { !/AH10159/ } split /\n/, $twin->errors), '', 'no host reports an error');    # a child less
unlike(join("\n", map { $_->log } map { $twin->host($_) } 0, 1), qr/SR0603: a submission/,
    'no host reports that one is left');
done_testing;
