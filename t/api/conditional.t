# SPDX-License-Identifier: Apache-2.0
# ETag and If-None-Match of a submission and of lists: 304 while nothing that is shown has changed, only for callers who
# may see it.
use strict;
use warnings;
use Sigreq::Here qw(organisation is_error place suite wait_for sql);
use Sigreq::Signer 'signers_of';
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my $two    = Sigreq::Client::signers({}, { firstname => 'Bo', area => { x => 9, y => 9 } });
my $made = $client->create(signers => $two)->json;
my $path = "/signatures/$made->{uuid}";
my ($ann, $bo) = signers_of($made);

sub etag { return $client->get(shift)->headers->etag }
sub ask { my ($at, $known, %more) = @_; return $client->get($at, headers => { 'If-None-Match' => $known, %more }) }

subtest 'a submission' => sub {
    my $res  = $client->get($path, headers => { 'Accept-Encoding' => 'identity' });
    my $etag = $res->headers->etag;
    like($etag, qr{^W/"[0-9a-f]{64}-\d+-[0-9a-f]{8}"$}, 'the ETag is weak');
    is($res->headers->cache_control, 'private, no-cache', 'a cache may store it for this client, and asks each time');
    like($res->headers->vary // '', qr/Accept-Encoding/, 'it depends on Accept-Encoding');
    is($client->get($path, headers => { 'Accept-Encoding' => 'gzip' })->headers->etag, $etag, 'gzip has the same ETag');
    is($client->head($path)->headers->etag, $etag, 'HEAD, too');

    my ($opaque) = $etag =~ m{^W/(.*)};
    my %known = (
        'the ETag' => $etag, 'without W/ (weak comparison)' => $opaque, 'in a list' => qq{"x", $etag , W/"y"},
        'any' => '*');
    for my $name (sort keys %known) {
        for my $method (qw(GET HEAD)) {
            my $not = $client->request($method => $path, headers => { 'If-None-Match' => $known{$name} });
            is($not->code . length $not->body, '3040', "304 without a body: $method, $name");
            is_deeply([map { $not->headers->header($_) } qw(ETag Cache-Control Content-Type Content-Length)],
                [$etag, 'private, no-cache', undef, undef], "$method, $name: the headers of 304");
            like($not->headers->vary // '', qr/Accept-Encoding/, "$method, $name: 304 has Vary");
        }
    }
    my ($hash, $version, $base) = $etag =~ /([0-9a-f]{64})-(\d+)-(\w+)/;
    my $less = $version - 1;
    my %other = (
        'another one' => '"x"', 'an older version' => qq{W/"$hash-$less-$base"},
        'that of another base URL' => qq{W/"$hash-$version-00000000"}, 'no tag' => "$hash-$version-$base",
        'malformed' => qq{W/"$hash-$version-$base}, 'the beginning' => qq{"$hash-$version"});
    for my $name (sort keys %other) {
        my $all = ask($path, $other{$name});
        is($all->code . ' ' . ($all->json('/uuid') // ''), "200 $made->{uuid}", "200: $name");
    }
    my $since = 'Fri, 01 Jan 2100 00:00:00 GMT';
    is($client->get($path, headers => { 'If-Modified-Since' => $since })->code, 200, 'If-Modified-Since has no effect');
    is($client->get($path, headers => { 'If-Match' => $etag })->code, 412, 'If-Match compares strongly');
};

subtest 'who may see it' => sub {
    my $etag = etag($path);
    my $known = { 'If-None-Match' => "*" };
    for my $value ($etag, '*') {
        my %headers = (headers => { 'If-None-Match' => $value });
        is_error($client->with(token => undef)->get($path, %headers), 401, qr/User not founded/, "no token, $value");
        is_error($_->get($path, %headers), 404, 'Not found', "another token, $value")
            for organisation()->{test}, $org->{live};
    }
    my $foreign = organisation()->{test};
    $foreign->create;
    isnt($foreign->get('/signatures')->headers->etag, etag('/signatures'), 'lists of others have other ETags');
};

subtest 'each change has another ETag' => sub {
    my (%seen, $last);
    my $new = sub {
        my $name = shift;
        my $res = ask($path, $last // '"none"');
        my $list = ask('/signatures', $seen{list} // '"none"');
        is($res->code . ' ' . $list->code, '200 200', "$name: 200, and the list, too");
        ok(!$seen{ $last = $res->headers->etag }++, "$name: another ETag");
        $seen{list} = $list->headers->etag;
        is(ask($path, $last)->code, 304, "$name: 304 with the ETag");
        is(ask('/signatures', $seen{list})->code, 304, "$name: 304 for the list");
    };
    my $patch = sub {
        my $res = $client->request(PATCH => $path, json => { expiresAt => shift });
        is($res->code, 200, 'PATCH');
        ask($path, $last)->code;
    };
    $new->('created');
    $ann->get('');
    $new->('opened');
    $patch->('2033-01-01T00:00:00Z');
    $new->('another deadline');
    $patch->(undef);
    $new->('no deadline');
    is($ann->sign->code, 200, 'a signature');
    $new->('signed');
    $client->post("$path/signers/$made->{submitters}[1]{uuid}/replace", json => { firstname => 'Cy', lastname => 'D' });
    $new->('replaced');
    $client->post("$path/cancel", json => { reason => 'x' });
    $new->('cancelled');
    is($client->post("$path/cancel")->code, 200, 'cancelled again: nothing changes');
    is(ask($path, $last)->code, 304, 'cancelled again: 304');
};

subtest 'a deadline that is over while the client knows the open submission' => sub {
    my $uuid  = $client->create->json('/uuid');
    my $late  = "/signatures/$uuid";
    $client->request(PATCH => $late, json => { expiresAt => '2033-01-01T00:00:00Z' });
    my $etag = etag($late);
    is(ask($late, $etag)->code, 304, 'open: 304');
    sql("UPDATE submission SET expires_at = 1 WHERE uuid = '$uuid'");
    my $res = ask($late, $etag);
    is($res->code . ' ' . ($res->json('/status') // ''), '200 expired', 'expired: 200');
};

subtest 'a representation that was stored by an older version' => sub {
    my $uuid = $client->create->json('/uuid');
    my $etag = etag("/signatures/$uuid");
    sql("UPDATE submission SET representation_version = 0 WHERE uuid = '$uuid'");
    is(ask("/signatures/$uuid", $etag)->code, 304, 'is rendered again, and has the same ETag as before');
    sql("UPDATE submission SET representation_version = 999 WHERE uuid = '$uuid'");
    is(ask("/signatures/$uuid", $etag)->code, 200, 'one of a newer version on another host has another ETag');
};

subtest 'lists' => sub {
    for my $list ('/signatures', '/signatures?limit=1', '/tokens', '/webhooks/history', '/signatures?q=nothing') {
        my $res  = $client->get($list);
        my $etag = $res->headers->etag // '';
        like($etag, qr{^W/"[0-9a-f]{64}-[0-9a-f]{8}"$}, "$list has an ETag");
        is($res->headers->cache_control, 'private, no-cache', "$list has Cache-Control");
        my $not = ask($list, qq{"x", $etag});
        is($not->code . length $not->body, '3040', "$list: 304 with its ETag");
        is(ask($list, '"x"')->code, 200, "$list: 200 with another ETag");
    }
    my $here = $client->get('/signatures')->headers->etag;
    is($client->get('/signatures', headers => { 'If-None-Match' => $here, 'Accept-Encoding' => 'gzip' })->code, 304,
        'the compressed list has the same ETag');
};

is(etag($path), etag($path), 'it does not change by itself');
is($client->create->headers->cache_control, 'no-store', 'other responses are not stored by caches');
done_testing;
