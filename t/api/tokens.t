# Tokens by the API: made, shown, listed, revoked; in the scope of the token that asks; the secret once.
use strict;
use warnings;
use Sigreq::Here qw(organisation place is_error);
use Test::More;

my $org = organisation();
my ($client, $live) = @{$org}{qw(test live)};
my $current = $client->get('/tokens/current')->json;
is($current->{uuid},        $org->{test_token}{uuid}, 'the current token');
is($current->{environment}, 'test',                   'environment');
is_deeply($current->{user},
    { uuid => $org->{user_uuid}, firstname => 'Kim', lastname => 'Roe', email => $org->{email} }, 'user');
is_deeply($current->{organization},               { uuid => $org->{uuid}, name => $org->{name} }, 'organization');
is_deeply([@{$current}{qw(expiresAt revokedAt)}], [undef, undef],                                 'for ever');

for my $case ([$client, 'test', 'test'], [$live, 'production', 'live']) {
    my ($asks, $environment, $prefix) = @$case;
    my $res = $asks->post('/tokens', json => { name => "billing \x{20AC}" });
    is($res->code, 201, "$environment: created");
    my $made = $res->json;
    is($res->headers->location, place("/api/v3/tokens/$made->{uuid}"), 'Location');
    is($made->{name},           "billing \x{20AC}",                    'name');
    is($made->{environment},    $environment,                          'in the environment of the token that asks');
    like($made->{token}, qr/^sigreq_${prefix}_/, '… its prefix says so');
    my $new = $asks->with(token => $made->{token});
    is($new->get('/tokens/current')->json('/uuid'), $made->{uuid}, 'it works');
    delete $made->{token};
    is_deeply($asks->get("/tokens/$made->{uuid}")->json, $made, 'inspected: the same without the secret');
    my $submission = $new->create()->json('/uuid');
    is($asks->get("/signatures/$submission")->code, 200, 'the user sees what it made');

    is($asks->delete("/tokens/$made->{uuid}")->code, 204, 'revoked');
    is_error($new->get('/tokens/current'), 401, 'User not founded for this API Token', '… at once');
    my $revoked = $asks->get("/tokens/$made->{uuid}")->json;
    ok($revoked->{revokedAt}, 'revokedAt');
    is($asks->delete("/tokens/$made->{uuid}")->code,            204,                   'revoking again');
    is($asks->get("/tokens/$made->{uuid}")->json('/revokedAt'), $revoked->{revokedAt}, '… keeps the first time');
    is($asks->get("/signatures/$submission")->code,             200,                   'the submission stays');
}

$client->post('/tokens', json => { name => "t$_" }) for 1 .. 12;
my $first = $client->get('/tokens', query => { limit => 5 })->json;
is(join(' ', map { $_->{name} } @{ $first->{data} }), 't12 t11 t10 t9 t8', 'the list, newest first');
my $second = $client->get('/tokens', query => { limit => 5, after => $first->{pagination}{next} })->json;
is(join(' ', map { $_->{name} } @{ $second->{data} }), 't7 t6 t5 t4 t3', 'the next page');
is_deeply($client->get('/tokens', query => { limit => 5, after => $second->{pagination}{prev} })->json->{data},
    $first->{data}, 'and back');
is($client->get('/tokens', query => { limit => 100 })->json('/pagination/count'), 14,
    'all of this environment, the revoked one too');
unlike($client->get('/tokens', query => { limit => 100 })->body, qr/sigreq_/, 'no secrets');
is_error($client->get('/tokens', query => { limit  => 0 }),      400, qr/limit/, 'a bad limit');
is_error($client->get('/tokens', query => { status => 'sent' }), 400, qr/./,     'a parameter of another list');

my $future = $client->post('/tokens', json => { name => 'x', expiresAt => '2100-01-01T00:00:00+02:00' })->json;
is($future->{expiresAt}, '2099-12-31T22:00:00.000Z', 'expiresAt, in UTC');
is($client->post('/tokens', json => { name => 'x', expiresAt => undef })->json('/expiresAt'), undef, 'expiresAt null');
my $count = $client->get('/tokens', query => { limit => 100 })->json('/pagination/count');
is_error($client->post('/tokens', json => $_), 400, 'name is required') for { }
, { name => '' }, { name => '  ' }, { name => 5 }, { name => undef };
is_error($client->post('/tokens', json => { name => 'x' x 101 }),            400, qr/^name/, 'a long name');
is_error($client->post('/tokens', json => { name => "x\n" }),                400, qr/^name/, 'a line end in the name');
is_error($client->post('/tokens', json => { name => 'x', expiresAt => $_ }), 400, qr/^expiresAt/, "expiresAt $_")
    for 'tomorrow', '2020-01-01', 5, '', '2026-02-30T00:00:00Z';
is($client->get('/tokens', query => { limit => 100 })->json('/pagination/count'), $count, 'nothing of that was stored');

my $self = $client->post('/tokens', json => { name => 'self' })->json;
my $own  = $client->with(token => $self->{token});
is($own->delete("/tokens/$self->{uuid}")->code, 204, 'a token may revoke itself');
is_error($own->get('/tokens'),               401,     'User not founded for this API Token', '… and is out');
is_error($client->delete('/tokens/current'), $_->[0], $_->[1], 'DELETE /tokens/current') for [404, 'Not found'];
done_testing;
