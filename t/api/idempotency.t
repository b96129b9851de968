# SPDX-License-Identifier: Apache-2.0
# Idempotency-Key: a repeated request gets the first answer and creates no second submission, and another request gets a
# 409, also if they arrive at the same time.
use strict;
use warnings;
use Mojo::Date;
use Sigreq::Client;
use Sigreq::Here qw(organisation used is_text is_error nothing_happens wait_for);
use Sigreq::Multipart 'part';
use Sigreq::PDF 'pdf';
use Test::More;

my $org    = organisation();
my $client = $org->{live};
sub key   { (headers => { 'Idempotency-Key' => $_[0] }) }
sub count { $client->get('/signatures', query => { limit => 100 })->json('/pagination/count') }

my $first = $client->create(key('a'), name => 'First');
is($first->code, 201, 'the first request creates a submission');
my $again = $client->create(key('a'), name => 'First');
is($again->code,              201,                       'the second request succeeds');
is($again->body,              $first->body,              'the answer is the same');
is($again->headers->location, $first->headers->location, 'Location is the same');
is(count(),                   1,                         'there is one submission');
is(used($org),                1,                         'it counts once against the quota');

sub conflict {"This Idempotency-Key was used for another request: its $_[0] differed"}
nothing_happens(
    $org,
    'another request',
    sub {
        is_error($client->create(key('a'), name => 'Second'), 409, conflict('name'), 'another name is another request');
        is_error($client->create(key('a'), name => 'First', skipIntro => 'true'), 409,
            conflict('skipIntro'), 'another skipIntro is another request');
        is_error($client->create(key('a'), name => 'First', files     => [['a.pdf', pdf(nonce => "x $$")]]), 409,
            conflict('file'), 'another document is another request');
        is_error($client->create(key('a'), name => 'First', signers => Sigreq::Client::signers({ lastname => 'Roe' })),
            409, conflict('signers'), 'another signer is another request');
        is_error($client->create(key('a'), name => 'Second', more => [part('externalId', 'x')]),
            409, conflict('name, externalId'), 'all parts that differ are named');
    });
is($client->create(key('b'), name => 'First')->json('/uuid') eq $first->json('/uuid') ? 'same' : 'other', 'other',
    'another key creates another submission');
is($client->create(name => 'First')->json('/uuid') eq $first->json('/uuid') ? 'same' : 'other', 'other',
    'a request without a key creates another submission');
isnt($client->create(key('A'), name => 'First')->json('/uuid'), $first->json('/uuid'), 'keys differ by case');

is_text($client->create(key('c'), name => ''), 400, 'A name must be provided', 'a request is refused');
is($client->create(key('c'), name => 'Now right')->code, 201, 'the key of the refused request can be used again');
is($client->create(key('k' x 255))->code,                201, '255 characters');
nothing_happens(
    $org,
    'bad keys',
    sub {
        is_text($client->create(key('k' x 256)), 400, 'Idempotency-Key must have 1 to 255 characters',
            '256 characters');
        is_text($client->create(key("k\xC3\xA9")), 400, 'Idempotency-Key must be printable ASCII', 'not ASCII');
    });

# a deadline that is over when the request is repeated
my $creation = sub {
    my ($key, $at) = @_;
    return $client->create(key($key), name => 'Deadline', more => [part('expiresAt', $at)]);
};
my ($seconds, $deadline, $made) = (1);
do { $made = $creation->('e' . ++$seconds, $deadline = Mojo::Date->new(time + $seconds)->to_datetime) }
    until $made->code == 201 || $seconds > 60;
ok(wait_for(sub { time > Mojo::Date->new($deadline)->epoch }), 'a deadline is over');
is($creation->("e$seconds", $deadline)->body, $made->body, 'a repeated request gets the first answer');
nothing_happens(
    $org,
    'a deadline in the past',
    sub {
        is_text($creation->('f', $deadline), 400, 'expiresAt must be in the future', 'another key creates nothing');
    });

my ($before, $used) = (count(), used($org));
my $crowd   = $client->crowd;
my @answers = $crowd->parallel(40, 20, sub { $crowd->create_p(key('crowd'), name => 'Crowd') });
is(join(' ', grep { $_ ne '201' } map { $_->code } @answers), '', '40 at the same time: all answered');
my %bodies = map { $_->body => 1 } @answers;
is(scalar keys %bodies, 1,           '40 at the same time: all have the same answer');
is(count(),             $before + 1, '40 at the same time: there is one submission');
is(used($org),          $used + 1,   '40 at the same time: the quota counts one');

@answers = $crowd->parallel(20, 20, sub { my $i = shift; $crowd->create_p(key('mixed'), name => "Crowd $i") });
is(join(' ', sort map { $_->code } @answers), join(' ', 201, ('409') x 19),
    '20 different ones with one key: one is made');
done_testing;
