# SPDX-License-Identifier: Apache-2.0
# HTTP for every resource (RFC 9110): methods, Allow, OPTIONS, HEAD, media types, unknown paths. A body that is refused
# is not read.
use strict;
use warnings;
use Mojo::JSON 'decode_json';
use Sigreq::Here qw(is_text organisation suite place is_error not_behind_firewall);
use Sigreq::Multipart qw(part multipart BOUNDARY);
use Sigreq::PDF 'pdf';
use Sigreq::Raw;
use Test::More;

my $org      = organisation();
my $client   = $org->{test};
my $made     = $client->create()->json;
my $uuid     = $made->{uuid};
my $document = "/signatures/$uuid/documents/$made->{documents}[0]{uuid}";

my %allow = (
    '/signatures'                      => 'POST, GET, HEAD, OPTIONS',
    "/signatures/$uuid"                => 'GET, HEAD, PATCH, DELETE, OPTIONS',
    "/signatures/$uuid/cancel"         => 'POST, OPTIONS',
    $document                          => 'GET, HEAD, OPTIONS',
    '/webhooks/sent-webhook-url'       => 'POST, DELETE, OPTIONS',
    '/webhooks/signed-webhook-url'     => 'POST, DELETE, OPTIONS',
    '/webhooks/completed-webhook-url'  => 'POST, DELETE, OPTIONS',
    '/tokens'                          => 'POST, GET, HEAD, OPTIONS',
    '/tokens/current'                  => undef,                          # {uuid} shares the path
    "/tokens/$org->{test_token}{uuid}" => 'GET, HEAD, DELETE, OPTIONS',
    '/openapi.json'                    => 'GET, HEAD, OPTIONS',
    '/health'                          => 'GET, HEAD, OPTIONS',
);
for my $path (sort keys %allow) {
    my $options = $client->request(OPTIONS => $path);
    is($options->code, 204, "OPTIONS $path");
    my $allow = $options->headers->header('Allow') // '';
    is($allow, $allow{$path}, "OPTIONS $path says what there is") if $allow{$path};
    for my $method (qw(GET POST PUT PATCH DELETE)) {
        next if $allow =~ /\b$method\b/;
        my $res = $client->request($method => $path);
        is_error($res, 405, 'Method not allowed', "$method $path");
        is($res->headers->header('Allow'), $allow, "$method $path: the answer has Allow");
    }
    next unless $allow =~ /GET/;
    my %plain = (headers => { 'Accept-Encoding' => 'identity' });
    my ($get, $head) = map { $client->request($_ => $path, %plain) } qw(GET HEAD);
    is($head->code,                    $get->code,                  "HEAD $path has the status of GET");
    is($head->body,                    '',                          "HEAD $path has no body");
    is($head->headers->content_length, length $get->body,           "HEAD $path has the length of GET");
    is($head->headers->content_type,   $get->headers->content_type, "HEAD $path has the type of GET");
}
is_error($client->request(BREW => '/signatures'), 405, 'Method not allowed', 'an unknown method');

for my $path (
    '/nothing', '/signatures/', "/signatures/$uuid/", '/signatures/not-a-uuid', "/signatures/$uuid/documents",
    "/signatures/$uuid/documents/x", '/webhooks', '/webhooks/other-webhook-url', '/tokens/', '/tokens/x',
    '/Signatures',                   '/health/x'
) {
    is_error($client->get($path), 404, 'Not found', "GET '$path'");
}
is_error($client->with(token => undef)->get('/nothing'), 404, 'Not found', 'an unknown path needs no token');
is($client->get("/signatures/$uuid")->body, $client->get("/%73ignatures/$uuid", unjudged => 1)->body,
    'an escaped path is the same path');

# a wrong base URL
my $manual = 'there is no such path: see ' . place('/api/v3/');
is($client->get('/signature')->headers->header('X-Hint'), $manual, 'an unknown path has a hint');
is($client->get("/signatures/$uuid")->headers->header('X-Hint'), undef, 'an unknown object has no hint');
for my $path ('/api/v2/signatures', '/api', '/v3/signatures', '/signatures', '/tokens/') {
    for my $method (qw(GET POST)) {
        my $res = $client->{ua}->start($client->{ua}->build_tx($method => place($path)))->res;
        is_error($res, 404, 'Not found', "$method $path: JSON");
        next if Sigreq::Here::by_firewall($res);    # at paranoia level 2 it wants other headers
        is($res->headers->header('X-Hint'), $manual, "$method $path: the hint has the place of the API");
    }
}
is($client->{ua}->get(place("/$_"))->res->headers->header('X-Hint'), undef, "/$_ is httpd's") for qw(apis nothing);

# media types
for my $type ('text/plain', 'application/json', 'application/x-www-form-urlencoded', 'multipart/mixed; boundary=x',
    'multipart/form-datax') {
    is_error(
        $client->request(POST => '/signatures', headers => { 'Content-Type' => $type }, body => 'x'), 415,
        'Content-Type must be multipart/form-data', "POST /signatures as $type");
}
is_error($client->request(POST => '/signatures', body => 'x'), 415, 'Content-Type must be multipart/form-data',
    'a body without a type is refused like no form');
for my $path ('/tokens', '/webhooks/sent-webhook-url') {
    is_error(
        $client->request(POST => $path, headers => { 'Content-Type' => 'text/plain' }, body => '{}'), 415,
        'Content-Type must be application/json', "POST $path as text/plain");
    is( $client->request(
            POST => $path, headers => { 'Content-Type' => 'Application/JSON; charset=utf-8' },
            body => '{"name":"n","url":"http://x.org/"}')->code =~ /^20[01]$/ ? 1 : 0,
        1,
        "POST $path as JSON with a parameter");
}

subtest 'a refused body is not read' => sub {
    not_behind_firewall('it keeps a body until it is complete');
    my $secret = $client->{token};
    my %early  = (
        '401 without a token' => ['POST /api/v3/signatures', '',                                          401],
        '401 with a bad one'  => ['POST /api/v3/signatures', "Authorization: Bearer sigreq_test_bad\r\n", 401],
        '401 for a JSON body' => ['POST /api/v3/tokens',     "Content-Type: application/json\r\n",        401],
        '404'                 => ['POST /api/v3/nothing',    "Authorization: Bearer $secret\r\n",         404],
        '405'                 => ['PUT /api/v3/signatures',  "Authorization: Bearer $secret\r\n",         405],
        '413'                 => [
            'POST /api/v3/signatures',
            "Authorization: Bearer $secret\r\nContent-Type: multipart/form-data; boundary=x\r\n", 413],
        '415' => ['POST /api/v3/signatures', "Authorization: Bearer $secret\r\nContent-Type: text/plain\r\n", 415],
    );
    for my $name (sort keys %early) {
        my ($line, $headers, $status) = @{ $early{$name} };
        my $raw     = Sigreq::Raw->new(suite->{port});
        $raw->send("$line HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: 1000000000\r\n\r\nbegin");
        my $res = $raw->answer;
        is($res ? $res->code : 'no answer', $status, "refused: $name") or next;
        is(lc($res->headers->connection // ''), 'close', "refused: $name: the answer closes the connection");
        ok($raw->closes, "refused: $name: the connection is closed");
    }
};

subtest 'an encoded slash' => sub {
    for my $path ('/signatures/a%2Fb', "/signatures/$uuid%2fdocuments", '/%2F', "/tokens/current%2F") {
        my $res = $client->get($path, unjudged => 1);
        is_error($res, 404, 'Not found', $path =~ s/\Q$uuid\E/…/r);
        is($res->headers->content_type, 'application/json', 'the answer is JSON');
    }
    is($client->get("/signatures/$uuid?q=%2F")->code, 200, 'in a query it has no effect');
};

subtest 'the connection is kept after other answers' => sub {
    my $raw      = Sigreq::Raw->new(suite->{port});
    my $auth     = "Host: x\r\nAuthorization: Bearer $client->{token}\r\n";
    my $json     = "Content-Type: application/json\r\nContent-Length: 15\r\n\r\n" . '{"name":"keep"}';
    my @requests = (    # not 400: httpd closes after each of those itself
        ["GET /api/v3/signatures/$uuid HTTP/1.1\r\n$auth\r\n",      200],
        ["POST /api/v3/tokens HTTP/1.1\r\n$auth$json",               201],
        ["GET /api/v3/nothing HTTP/1.1\r\n$auth\r\n",               404],
        ["PUT /api/v3/signatures/$uuid HTTP/1.1\r\n$auth\r\n",      405],
        ["OPTIONS /api/v3/signatures HTTP/1.1\r\n$auth\r\n",        204],
        ["GET /api/v3/tokens/current HTTP/1.1\r\nHost: x\r\n\r\n", 401],
        ["GET /api/v3/tokens/current HTTP/1.1\r\n$auth\r\n",        200],
    );
    for my $request (@requests) {
        $raw->send($request->[0]);
        my $res = $raw->answer;
        is($res && $res->code, $request->[1], (split /\r/, $request->[0])[0]);
    }
    $raw->send($requests[0][0] . $requests[2][0] . $requests[0][0]);
    is(join(' ', map { my $res = $raw->answer; $res ? $res->code : 'none' } 1 .. 3), '200 404 200', 'pipelined');
};

subtest 'chunked and slow bodies' => sub {
    my $body = multipart(
        part('file',    pdf(), filename => 'a.pdf', type => 'application/pdf'), part('name', 'n'),
        part('signers', Mojo::JSON::encode_json(Sigreq::Client::signers())));
    my $head =
          "POST /api/v3/signatures HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $client->{token}\r\n"
        . 'Content-Type: multipart/form-data; boundary='
        . BOUNDARY . "\r\n";
    my $chunked = join '', map { sprintf "%x\r\n%s\r\n", length, $_ } $body =~ /(.{1,97})/gs;
    my $raw     = Sigreq::Raw->new(suite->{port});
    $raw->send("${head}Transfer-Encoding: chunked\r\n\r\n${chunked}0\r\n\r\n");
    is($raw->answer->code, 201, 'chunked');
    $raw->send("${head}Content-Length: " . length($body) . "\r\n\r\n");
    $raw->send($_) for $body =~ /(.)/gs;
    is($raw->answer->code, 201, 'byte by byte');
    $raw->send("${head}Expect: 100-continue\r\nContent-Length: " . length($body) . "\r\n\r\n");
    is($raw->answer->code, 100, 'Expect: 100-continue is answered');
    $raw->send($body);
    is($raw->answer->code, 201, 'the body is accepted after 100 Continue');
    $raw->send("${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n");
    my $res = $raw->answer;
    is($res && $res->code, 400, 'wrong chunks are refused');
    $raw = Sigreq::Raw->new(suite->{port});
    $raw->send("${head}Content-Length: " . length($body) . "\r\n\r\n" . substr $body, 0, 200);
    $raw->finish;
    is_text($raw->answer, 400, 'The request body could not be read',
        'a client that closes its side in the middle of the body');
};

subtest 'a client that stops sending' => sub {
    my $raw = Sigreq::Raw->new(suite->{port});
    $raw->send("POST /api/v3/signatures HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $client->{token}\r\n"
            . 'Content-Type: multipart/form-data; boundary='
            . BOUNDARY
            . "\r\nContent-Length: 5000\r\n\r\n--"
            . BOUNDARY);
    my $res = $raw->answer;
    is($res ? $res->code : 'none', 408, 'gets an answer');
    ok(!Sigreq::Here::temporary_files(), 'no temporary file is left');
};

my $described = $client->with(token => undef)->get('/openapi.json')->json;
my $file      = decode_json(Mojo::File::path(suite->{source}, 'src/api/openapi.json')->slurp);
my @servers   = map { $_->{servers}[0] } $file, grep { $_->{servers} } values %{ $file->{paths} };
$_->{url} = $_->{url} eq '.' ? place('/api/v3') : place() =~ s{/$}{}r for @servers;
is_deeply($described, $file, 'openapi.json has the content of the file, with absolute URLs of the servers');
is_deeply($client->with(token => undef)->get('/health')->json, { status => 'ok', database => 'ok', helper => 'ok' },
    'health');
done_testing;
