# SPDX-License-Identifier: Apache-2.0
# X-Request-Id: each response has it, whatever its status, and so have the lines of the error log that the request
# causes. Sigreq::Spec and Sigreq::Signer look for it in every response of every test.
use strict;
use warnings;
use Mojo::File 'path';
use Mojo::UserAgent;
use Sigreq::Here qw(organisation place suite wait_for);
use Sigreq::Httpd;
use Sigreq::Raw;
use Sigreq::Signer 'signers_of';
use Test::More;

my $client   = organisation()->{test};
my $made     = $client->create->json;
my ($signer) = signers_of($made);
my $uuid     = $made->{uuid};
my $document = "/documents/$made->{documents}[0]{uuid}";
my $agent    = Mojo::UserAgent->new(max_connections => 0);
my $bearer   = { Authorization => "Bearer $client->{token}" };
my ($api, $link) = (place('/api/v3'), $signer->{link});
my $random = qr/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
my $count  = 0;

sub id_of { return shift->headers->header('X-Request-Id') // '' }

# Sends a request with an id of its own; the response must have the same.
sub same {
    my ($status, $method, $url, $headers, $body) = @_;
    my $id = "t-$$:" . ++$count . '.Root=1_a/b+c@d';
    my %headers = (%{ $headers // {} }, 'X-Request-Id' => $id);
    my $res = $agent->start($agent->build_tx($method, $url, \%headers, $body // ()))->res;
    my $name = "$method " . $url =~ s/^\Q${\place()}\E//r =~ s/[0-9a-f]{8}-[-0-9a-f]{27}/…/gr;
    is($res->code . ' ' . id_of($res), "$status $id", "$status $name");
    return $res;
}

subtest 'every kind of response' => sub {
    my $etag = same(200, GET => "$api/signatures/$uuid$document", $bearer)->headers->etag;
    same(200, GET     => "$api/signatures",                  $bearer);
    same(200, HEAD    => "$api/signatures/$uuid",            $bearer);
    same(304, GET     => "$api/signatures/$uuid$document",   { %$bearer, 'If-None-Match' => $etag });
    same(206, GET     => "$api/signatures/$uuid$document",   { %$bearer, Range           => 'bytes=0-9' });
    same(416, GET     => "$api/signatures/$uuid$document",   { %$bearer, Range           => 'bytes=99999999-' });
    same(401, GET     => "$api/signatures");
    same(404, GET     => "$api/signatures/a%2Fb", $bearer);
    same(404, GET     => "$api/nothing");
    same(405, PUT     => "$api/signatures");
    same(204, OPTIONS => "$api/signatures");
    my $json = { %$bearer, 'Content-Type' => 'application/json' };
    same(400, POST => "$api/tokens", $json, '{');
    same(413, POST => "$api/tokens", $json, '{"name":"' . 'x' x 70_000 . '"}');
    same(415, POST => "$api/signatures", $bearer, 'x');
    same(200, GET  => "$api/health");
    same(200, GET  => "$api/openapi.json");
    same(200, GET  => $link);
    same(200, GET  => "$link$document");
    same(304, GET  => "$link$document", { 'If-None-Match' => $etag });
    same(200, GET  => "$link$document/pages/0.png");
    same(400, POST => $link, { 'Content-Type' => 'application/json' }, '{"action":"?"}');
    same(404, GET  => place('/sign/') . $uuid);
    same(200, GET  => place('/verify'));
};

subtest 'an id that is not well-formed, or absent' => sub {
    my $ask = sub { id_of($agent->get("$api/health" => { 'X-Request-Id' => shift })->res) };
    my %seen;
    like($ask->($_->[1]), $random, $_->[0])
        for ['129 characters', 'a' x 129], ['a space', 'a b'], ['a quote', 'a"b'], ['another script', "\xc3\xa4"],
        ['nothing', ''], ['a comma', 'a,b'];
    is($ask->('a' x 128), 'a' x 128, '128 characters are well-formed');
    my $two = Sigreq::Raw->new(suite->{port});
    $two->send("GET /api/v3/health HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\r\nX-Request-Id: b\r\n\r\n");
    like(id_of($two->answer), $random, 'two of them');
    $seen{ id_of($agent->get("$api/health")->res) }++ for 1 .. 20;
    is(scalar keys %seen, 20, 'each request without an id gets another one');
    my $secret = $link =~ s{.*/}{}r;
    like(id_of($agent->get($link => { 'X-Request-Id' => "x-$secret" })->res),
        $random, 'the secret of a signing link is not taken as the id');
};

my $access = <<'CONF';
LogFormat "%s %{X-Request-Id}o %{SIGREQ_REQUEST_ID}e %L" ids
CustomLog "access_log" ids
ErrorLogFormat "[%l] [%L] %M"
LoadModule rewrite_module MODULES/mod_rewrite.so
RewriteEngine On
RewriteRule ^/short/(.*) /api/v3/$1 [PT]
<Location "/api/v3/tokens">
Require all denied
</Location>
LimitRequestBody 1000
CONF
my ($modules) = path(suite->{modules})->slurp =~ m{ (/\S+)/mod_};
my $httpd = Sigreq::Httpd->new(
    documents => suite->{dir} . '/documents',
    server    => ($access =~ s/MODULES/$modules/r) . 'SigreqCache "' . suite->{dir} . "/no/folder\"\n")->start;
my $unique = Sigreq::Httpd->new(modules => 'authz_core dbd unique_id')->start;

sub logged { my ($in, $pattern) = @_; return wait_for(sub { $in->log =~ $pattern }) }

subtest 'the logs' => sub {
    my ($base, $id) = ($httpd->base, "log-$$");
    my $send = sub {
        my ($name, $method, $path, @more) = @_;
        my %headers = (%$bearer, 'X-Request-Id' => "$id.$name", %{ shift @more // {} });
        return $agent->start($agent->build_tx($method, "$base$path", \%headers, @more))->res;
    };
    is($send->('refused', GET => '/api/v3/nothing')->code, 404, 'a refused request');
    ok(logged($httpd, qr/\[info\] \[\Q$id\E\.refused\] SR0101: refused with 404 .* \[request \Q$id\E\.refused\]$/m),
        'the message of the refused request has the id, as %L and in the text');
    my $res = $send->('denied', GET => '/api/v3/tokens');
    is($res->code . ' ' . id_of($res), "403 $id.denied", 'a request that httpd itself refuses');
    ok(logged($httpd, qr/\[\Q$id\E\.denied\] AH01630/), 'the message of httpd has the id as %L');
    $res = $send->('rewritten', GET => '/short/health');
    is($res->code . ' ' . id_of($res), "200 $id.rewritten", 'a path that mod_rewrite has changed');
    $res = $send->('large', POST => '/api/v3/signatures', { 'Content-Type' => 'multipart/form-data; boundary=x' },
        'x' x 2000);
    is($res->code . ' ' . id_of($res), "413 $id.large", 'a body that LimitRequestBody refuses');
    SKIP: {
        skip 'its documents are in a bucket', 1 if suite->{s3};
        $agent->get("$base/sign/" . ($link =~ s{.*/}{}r) . "$document/pages/0.png" => { 'X-Request-Id' => "$id.page" });
        ok(logged($httpd, qr/SR0500: a page cannot be cached: .* \[request \Q$id\E\.page\]$/m),
            'a page that cannot be cached is logged with the id');
    }
    my $file = "$httpd->{dir}/access_log";
    ok( wait_for(sub { path($file)->slurp =~ /^404 (\Q$id\E\.refused) \1 \1$/m }),
        'the access log has the id of the response, the variable and %L');
};

subtest 'mod_unique_id' => sub {
    my $id = id_of($agent->get($unique->base . '/api/v3/health')->res);
    like($id, qr/^[A-Za-z0-9\@_-]{24,}$/, 'its UNIQUE_ID is the id of a request without one');
    unlike($id, $random, 'the id is not a random one');
    is(id_of($agent->get($unique->base . '/api/v3/health' => { 'X-Request-Id' => 'mine' })->res),
        'mine', 'the id of the request goes before it');
};

subtest 'what a thread logs without the request' => sub {
    my $slow = Sigreq::Httpd->new(place => 'Sigreq On', server => 'SigreqHelper /bin/false')->start;
    my $res  = $agent->get($slow->base . '/api/v3/health' => { 'X-Request-Id' => "helper-$$" })->res;
    is($res->code . ' ' . id_of($res), "503 helper-$$", 'a health check without a PDF helper');
    ok(logged($slow, qr/SR0300: PDF helper: .* \[request helper-$$\]$/m), 'SR0300 has the id of the request');
    ok(logged($slow, qr/SR0110: .* \[request helper-$$\]$/m),             'SR0110 has the id of the request');
};
done_testing;
