# SPDX-License-Identifier: Apache-2.0
# Tokens by the API: made, shown, listed and revoked in the scope of the token of the request. The secret is shown once.
use strict;
use warnings;
use Sigreq::Here qw(organisation place is_error ctl wait_for);
use Mojo::Date;
use Test::More;

my $org = organisation();
my ($client, $live) = @{$org}{qw(test live)};
my $current = $client->get('/tokens/current')->json;
is($current->{uuid},        $org->{test_token}{uuid}, 'the current token');
is($current->{environment}, 'test',                   'environment');
is_deeply($current->{user},
    { uuid => $org->{user_uuid}, firstname => 'Kim', lastname => 'Roe', email => $org->{email} }, 'user');
is_deeply($current->{organization},               { uuid => $org->{uuid}, name => $org->{name} }, 'organization');
is_deeply([@{$current}{qw(expiresAt revokedAt)}], [undef, undef],
    'the token does not expire');
is($current->{parent}, undef, 'the token was made by the administrator');

for my $case ([$client, 'test', 'test'], [$live, 'production', 'live']) {
    my ($asks, $environment, $prefix) = @$case;
    my $res = $asks->post('/tokens', json => { name => "billing \x{20AC}" });
    is($res->code, 201, "$environment: created");
    my $made = $res->json;
    is($res->headers->location, place("/api/v3/tokens/$made->{uuid}"), 'Location');
    is($made->{name},           "billing \x{20AC}",                    'name');
    is($made->{environment},    $environment,
        'the new token has the environment of the token of the request');
    is($made->{parent},         $asks->get('/tokens/current')->json('/uuid'),
        'the new token has that token as its parent');
    like($made->{token}, qr/^sigreq_${prefix}_/, 'the new token has the prefix of the environment');
    my $new = $asks->with(token => $made->{token});
    is($new->get('/tokens/current')->json('/uuid'), $made->{uuid}, 'the new token is accepted');
    delete $made->{token};
    is_deeply($asks->get("/tokens/$made->{uuid}")->json, $made, 'GET shows the same without the secret');
    my $submission = $new->create()->json('/uuid');
    is($asks->get("/signatures/$submission")->code, 200, 'another token of the user can read it');

    is($asks->delete("/tokens/$made->{uuid}")->code, 204, 'revoked');
    is_error($new->get('/tokens/current'), 401, 'User not founded for this API Token',
        'the revoked token is refused at once');
    my $revoked = $asks->get("/tokens/$made->{uuid}")->json;
    ok($revoked->{revokedAt}, 'revokedAt');
    is($asks->delete("/tokens/$made->{uuid}")->code,            204,                   'revoking again');
    is($asks->get("/tokens/$made->{uuid}")->json('/revokedAt'), $revoked->{revokedAt},
        'revoking again does not change the time');
    is($asks->get("/signatures/$submission")->code,             200,                   'the submission still exists');
}

$client->post('/tokens', json => { name => "t$_" }) for 1 .. 12;
my $first = $client->get('/tokens', query => { limit => 5 })->json;
is(join(' ', map { $_->{name} } @{ $first->{data} }), 't12 t11 t10 t9 t8', 'the list, newest first');
my $second = $client->get('/tokens', query => { limit => 5, after => $first->{pagination}{next} })->json;
is(join(' ', map { $_->{name} } @{ $second->{data} }), 't7 t6 t5 t4 t3', 'the next page');
is_deeply($client->get('/tokens', query => { limit => 5, after => $second->{pagination}{prev} })->json->{data},
    $first->{data}, 'the previous page');
is($client->get('/tokens', query => { limit => 100 })->json('/pagination/count'), 14,
    'all tokens of this environment are listed, also the revoked one');
unlike($client->get('/tokens', query => { limit => 100 })->body, qr/sigreq_/, 'the list has no secrets');
is_error($client->get('/tokens', query => { limit  => 0 }),      400, qr/limit/, 'a wrong limit is refused');
is_error($client->get('/tokens', query => { status => 'sent' }), 400, qr/./,
    'a parameter of another list is refused');

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
is($client->get('/tokens', query => { limit => 100 })->json('/pagination/count'), $count,
    'refused requests store nothing');

my $self = $client->post('/tokens', json => { name => 'self' })->json;
my $own  = $client->with(token => $self->{token});
is($own->delete("/tokens/$self->{uuid}")->code, 204, 'a token may revoke itself');
is_error($own->get('/tokens'),               401,     'User not founded for this API Token',
    'a token that has revoked itself is refused');
is_error($client->delete('/tokens/current'), $_->[0], $_->[1], 'DELETE /tokens/current') for [404, 'Not found'];

# --- tokens end with those they made

my %made = (a => $client->post('/tokens', json => { name => 'a' })->json);
for (qw(ab bc)) {
    my ($by, $name) = /(.)(.)/;
    $made{$name} = $client->with(token => $made{$by}{token})->post('/tokens', json => { name => $name })->json;
}
is($made{c}{parent}, $made{b}{uuid}, 'c was made by b');
sub alive { join '', grep { $client->get("/tokens/$made{$_}{uuid}")->json('/revokedAt') ? 0 : 1 } sort keys %made }
my $family = "/tokens/$made{a}{uuid}";
is($client->delete($family, query => { children => 'false' })->code, 204, 'the token is revoked without its children');
is(alive(), 'bc', 'no other token is revoked');
is_error($client->delete($family, query => { children => "yes" }), 400, qr{^children}, "children=yes");
is_error($client->delete($family, query => { childen  => 'true' }), 400, qr/parameter/, 'mistyped');
is_error($live->delete($family, query => { children => 'true' }),
    404, 'Not found', 'by a token of another environment');
is(alive(), 'bc', 'these requests revoke nothing');
is($client->delete($family, query => { children => 'true' })->code, 204, 'children of a revoked token');
is(alive(), '', 'children of a revoked token are revoked with their children');
is_error($client->with(token => $made{c}{token})->get('/tokens'), 401, qr{^User not founded},
    'they are refused at once');
is($client->get('/tokens/current')->code, 200, 'their common parent is still valid');

# --- a token that expires

my $tomorrow = Mojo::Date->new(time + 86400)->to_datetime;
my $maker =
    $client->with(token => $client->post('/tokens', json => { name => 'day', expiresAt => $tomorrow })->json->{token});
my $child = $maker->post('/tokens', json => { name => 'child' })->json;
my $length = sub { my $end = shift; Mojo::Date->new($end =~ s/\.\d+//r)->epoch - time };
cmp_ok($length->($child->{expiresAt}), '<=', 86400, 'it makes tokens that are valid for the same time');
cmp_ok($length->($child->{expiresAt}), '>', 86400 - 3600,
    'the lifetime is not shorter, so that tokens can be replaced');
is_error($maker->post('/tokens', json => { name => 'x', expiresAt => Mojo::Date->new(time + 90000)->to_datetime }),
    400, qr/^expiresAt must not be later than 2\d\d\d-\S+Z, because the token of this request expires, too$/,
    'the lifetime is not longer');
my $hour = Mojo::Date->new(time + 3600)->to_datetime;
is($maker->post('/tokens', json => { name => 'x', expiresAt => $hour })->json('/expiresAt'), $hour =~ s/Z/.000Z/r,
    'a shorter lifetime can be asked for');

# --- SigreqMaxTokenAge

my $bound = $client->with(base => place('/small'));
my $began = time;
my $end   = sub { my $text = shift; Mojo::Date->new($text =~ s/\.\d+//r)->epoch };
my $short = $bound->post('/tokens', json => { name => 'x' })->json;
my $expires = $end->($short->{expiresAt}) - 2 * 86400;
ok($expires >= $began && $expires <= time, 'no expiresAt: the latest that is allowed');
my $soon = Mojo::Date->new($began + 86400)->to_datetime;
is($bound->post('/tokens', json => { name => 'x', expiresAt => $soon })->json('/expiresAt'), $soon =~ s/Z/.000Z/r,
    'an earlier expiresAt is accepted');
my $late = Mojo::Date->new($began + 3 * 86400)->to_datetime;
is_error($bound->post('/tokens', json => { name => 'x', expiresAt => $late }),
    400, qr/^expiresAt must not be later than 2\d\d\d-\S+Z on this server$/, 'a later expiresAt is refused');
is($bound->post('/tokens', json => { name => 'x', expiresAt => undef })->json('/expiresAt') && 1, 1,
    'null means no expiresAt');

# --- sigreqctl token list shows the day of the last request

my $idle = organisation();
sub used_on {
    return join ' ', map { "$_->{name} " . ($_->{used_on} // '-') }
        @{ ctl('token', 'list', '--organization', $idle->{uuid}) };
}
my $other = $idle->{live_token}{uuid};
is(used_on(), 'live -', 'a token that was not used');
my $used = $idle->{test};
is_error($used->with(token => "sigreq_test_" . 'x' x 36)->get('/tokens/current'), 401, qr/./, 'an unknown token');
is_error($used->get("/signatures/$other"), 404, qr/./, 'a request that is refused, but not because of its token');
my $today = qr/^live -|^test \Q@{[substr Mojo::Date->new(time)->to_datetime, 0, 10]}\E/;
wait_for(sub { used_on() =~ /test \d/ }, 'the day is recorded');
like($_, $today, 'the day is recorded only of the token that was used') for split / (?=live|test)/, used_on();
is($used->post('/tokens', json => { name => 'child' })->json('/parent'), $idle->{test_token}{uuid}, 'still accepted');
unlike($used->get('/tokens')->body, qr/used/i, 'the API does not show it');

done_testing;
