# SPDX-License-Identifier: Apache-2.0
# The service at several places of one httpd: sub-paths, virtual hosts, and places where it is off.
use strict;
use warnings;
use Sigreq::Here qw(organisation suite place is_error);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Sigreq::Raw;
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my $made   = $client->create()->json;
sub link_of { $_[0]->{submitters}[0]{signatureLink} =~ s/[0-9a-f-]{36}.*//r }

is(link_of($made), place('/sign/'), 'at / links have this host');
my $named = $client->with(host => 'Sign.Test:1234')->get("/signatures/$made->{uuid}")->json;
like(link_of($named), qr{^http://sign\.test(?::\d+)?/sign/$}i, 'links have the host name of the request');

my $deep = $client->with(base => place('/deep/er/place'));
my $res  = $deep->create(name => 'deep');
is($res->code,              201,                                'a sub-path has its path in links');
is(link_of($res->json),     'https://sign.example.org/e/sign/', 'SigreqBaseURL makes the links');
is($res->headers->location, 'https://sign.example.org/e/api/v3/signatures/' . $res->json('/uuid'),
    'SigreqBaseURL makes the Location');
is(link_of($deep->get("/signatures/$made->{uuid}")->json), 'https://sign.example.org/e/sign/',
    'the submission is the same from there');
is(link_of($client->get('/signatures/' . $res->json('/uuid'))->json), place('/sign/'),
    'a submission of a sub-path is the same from /');
is($client->with(base => place('/topleft'), token => undef)->get('/health')->code, 200, 'another sub-path works');
is(link_of($client->with(base => place('/topleft'))->get("/signatures/$made->{uuid}")->json), place('/topleft/sign/'),
    'the links of the other sub-path have its path');

my $nested = $client->with(base => place('/nested'));
my $pair   = [map { ["$_.pdf", pdf()] } 'a', 'b'];
is($nested->get('/health')->code, 200, 'a location with another section for a part of it');
$res = $nested->create(files => [$pair->[0]]);
is($res->code, 201, 'the location has the directives of the section for its part');
is($res->headers->location, place('/nested/api/v3/signatures/') . $res->json('/uuid'),
    'the creation has the location\'s links');
is($nested->create(files => $pair)->body, 'At most 1 files can be provided', 'the part has its own limit');

my $odd = '/~odd%20%22place%22%20%c3%a9';
$res = $client->with(base => place($odd))->create(name => 'odd');
is($res->code,              201,
    'a path with characters that need escapes');
is($res->headers->location, place("$odd/api/v3/signatures/") . $res->json('/uuid'),
    'a path with characters that need escapes has them in Location');
is(link_of($res->json),     place("$odd/sign/"),
    'a path with characters that need escapes has them in links');

my $documented = $client->with(base => place('/topleft'));
is_error($documented->get('/nothing'), 404, 'Not found', 'ErrorDocument does not replace a 404');
is_error($documented->delete('/signatures'), 405, 'Method not allowed', 'ErrorDocument does not replace a 405');
is_error($documented->with(token => undef)->get('/tokens'), 401, 'User not founded for this API Token',
    'ErrorDocument does not replace a 401');
is($documented->create(name => '')->body, 'A name must be provided', 'ErrorDocument does not replace a 400');

my $second = $client->with(base => place('/esign'), host => 'second.test');
$res = $second->create(files => [['a.pdf', pdf(nonce => "second $$")]]);
is($res->code, 201, 'a sub-path of another virtual host works');
like(link_of($res->json), qr{^http://second\.test(?::\d+)?/esign/sign/$}, 'links');
my $sha = $res->json('/documents/0/sha256');
is(scalar(my @own = glob suite->{dir} . "/documents-second/??/$sha.*[0-9a-f]"), 1,
    'its documents are in its own folder');
is($second->get('/signatures/' . $res->json('/uuid') . '/documents/' . $res->json('/documents/0/uuid'))->code, 200,
    'its documents can be downloaded');

sub status {    # of a plain GET
    my ($host, $path) = @_;
    my $raw = Sigreq::Raw->new(suite->{port});
    $raw->send("GET $path HTTP/1.1\r\nHost: $host\r\nConnection: close\r\n\r\n");
    my $answer = $raw->answer;
    return $answer->code . ' ' . ($answer->headers->content_type =~ /json/ ? 'ours' : 'not ours');
}
is(status('second.test', '/api/v3/health'),           '404 not ours',
    'at the root of the second host the service is off');
is(status('second.test', '/esign/api/v3/health'),     '200 ours',     'the service is on below');
is(status('x',           '/elsewhere/api/v3/health'), '404 not ours', 'it is off in a location below one that is on');
is(status('x',           '/deep/api/v3/health'),      '404 not ours', 'a path between two locations is not handled');
is(status('x',           '/esign/api/v3/health'),     '404 not ours', 'a location of another host is not handled');
is(status('x',           '/api/v3x/health'),          '404 ours',     'a path with a similar beginning is astray');
is(status('x',           '/apis/v3/health'),          '404 not ours', 'a path that begins otherwise is not handled');
is(status('x',           '/index.html') =~ /ours$/ ? status('x', '/nothing.html') : '', '404 not ours',
    'other paths are httpd\'s');
is(status('x', '/deep/er/place/api/v3/health'),       '200 ours',     'a location given with a slash at its end');
is(status('x', '/deep/er/placeholder/api/v3/health'), '404 not ours', 'only its own path is handled');
is(status('x', '/api/v3/../v3/health'),               '200 ours',     'a path with .. is handled');

for my $host ('a"b', 'a b', "a\x01b", 'a<b>', 'a/b', 'user@b', '') { # links are made of it
    my $raw = Sigreq::Raw->new(suite->{port});
    my $head = "Host: $host\r\nAuthorization: Bearer $client->{token}\r\n";
    $raw->send("GET /api/v3/signatures/$made->{uuid} HTTP/1.1\r\n$head\r\n");
    my $answer = $raw->answer;
    my $link   = $answer && $answer->code == 200 ? link_of($answer->json) : '';
    ok(!$link || $link =~ m{^http://[\w.:-]+/sign/$}, 'a strange Host makes no strange link: ' . $host =~ s/[^ -~]/?/gr)
        or diag $link;
}

subtest 'beside modules that also map paths' => sub {
    my $httpd = Sigreq::Httpd->new(
        modules => 'authz_core dbd rewrite proxy proxy_http negotiation',
        place   => 'Options +MultiViews',
        server  => <<'CONF')->start;
ProxyPass "/renamed" "!"
ProxyPass "/" "http://127.0.0.1:1/"
RewriteEngine On
RewriteRule "^/short$" "/renamed/api/v3/health" [PT]
<Location "/renamed">
    Sigreq On
</Location>
<Location "/esign">
    Sigreq On
</Location>
CONF
    my $at = sub { $client->with(base => $httpd->base . shift) };
    is($at->('/esign')->get('/health')->code,  200, 'a location inside of a path that mod_proxy forwards');
    is($at->('/esign')->create()->code,        201, 'a location in a forwarded path accepts a creation');
    is($at->('')->get('/x', unjudged => 1)->code, 503, 'other requests are forwarded');
    is($client->{ua}->get($httpd->base . '/short')->res->code, 200, 'a path that mod_rewrite has changed is handled');
};

subtest 'an invalid Host, if httpd accepts it' => sub {
    my $httpd = Sigreq::Httpd->new(server => 'HttpProtocolOptions Unsafe')->start;
    for my $case (['127.0.0.1:80', 200], ['a"b', 400], ['a b', 400], ["a\tb", 400], ["\xe9", 400]) {
        my $raw = Sigreq::Raw->new($httpd->{port});
        $raw->send("GET /api/v3/openapi.json HTTP/1.1\r\nHost: $case->[0]\r\nConnection: close\r\n\r\n");
        is($raw->answer->code, $case->[1], sprintf 'Host: %vd', $case->[0]);
    }
};

subtest 'a proxy, and links of the address behind it' => sub {
    my $httpd = Sigreq::Httpd->new->start;
    my $get   = sub {
        my ($path, %fields) = @_;
        $client->{ua}->get($httpd->base . "$path/api/v3/health" => \%fields)->res->code;
    };
    my $count = sub { scalar(() = $httpd->log =~ /SR0005: a proxy forwards requests, and links begin with http:/g) };
    $get->('', 'X-Forwarded-Proto' => 'http', 'X-Forwarded-Host' => '127.0.0.1:' . $httpd->{port});
    is($count->(), 0, 'a proxy that keeps name and scheme');
    $get->('', 'X-Forwarded-Host' => 'sign.example.org') for 1, 2;
    is($count->(), 1, 'one that changes the name is logged once');
    $httpd = Sigreq::Httpd->new(place => "Sigreq On\nSigreqBaseURL https://sign.example.org")->start;
    is($get->('', 'X-Forwarded-Proto' => 'https'), 200, 'with SigreqBaseURL');
    is($count->(), 0, 'with SigreqBaseURL, nothing is logged');
};
done_testing;
