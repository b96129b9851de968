# SPDX-License-Identifier: Apache-2.0
# The front page, <location>/: what it shows to people and programs, and that everything else that httpd has at this
# path is served instead: a file, a folder, a handler, a path that another module maps.
use strict;
use warnings;
use utf8;
use File::Temp 'tempdir';
use Mojo::UserAgent;
use Sigreq::Here qw(suite place);
use Sigreq::Httpd;
use Sigreq::Suite;
use Test::More;

my $ua = Mojo::UserAgent->new(max_redirects => 0)->request_timeout(60);

subtest 'the page' => sub {
    my $res = $ua->get(place('/deep/er/place/'))->result;
    is($res->code, 200, 'it needs no token');
    is($res->headers->content_type, 'text/html; charset=utf-8', 'it is HTML');
    like($res->headers->header('Content-Security-Policy'),
        qr/^default-src 'none'; script-src 'self'; style-src 'self'; (?!.*(?:unsafe|http))/, 'its policy');
    is($res->headers->header('Referrer-Policy'), 'no-referrer', 'no Referer is sent');
    is($res->headers->cache_control, 'no-store', 'it is not cached');
    ok($res->headers->header('X-Request-Id'), 'it has a request id');
    is($res->dom->at('h1')->text, 'Electronic signatures', 'its title');
    my @links = $res->dom->find('main .links a')->map(attr => 'href')->each;
    is("@links", 'api/v3/ api/v3/openapi.json api/v3/health', 'its links');
    my @files = $res->body =~ /(?:href|src)="(sign\/assets\/[^"]+)"/g;
    cmp_ok(scalar @files, '>', 2, 'its files are of this location');
    is($ua->get(place("/deep/er/place/$_"))->result->code, 200, "the front page's link $_ works") for @links, @files;
    like($res->body, qr/<a href="verify">/, 'with SigreqVerifyPage it names that page');
    is($ua->head(place('/deep/er/place/'), { 'Accept-Encoding' => 'identity' })->result->headers->content_length,
        length $res->body, 'HEAD has the length');
    is($ua->get(place('/deep/er/place/') => { 'Accept-Language' => 'de' })->result->dom->at('h1')->text,
        'Elektronische Unterschriften', 'the language of the browser');
    is($ua->get(place('/deep/er/place/?lang=fr'))->result->dom->at('h1')->text, 'Signature électronique',
        'the language of the query');
    my $moved = $ua->get(place('/topleft'))->result;
    is($moved->code, 303, 'without the slash');
    is($moved->headers->location, place('/topleft/'), 'without the slash, the answer gives the address');
    like($ua->get(place('/themed/'))->result->body, qr{<link rel="stylesheet" href="sign/theme/}, 'it has the theme');
};

subtest 'for programs' => sub {
    my $res = $ua->get(place('/topleft/') => { Accept => 'application/json' })->result;
    is($res->headers->content_type, 'application/json', 'JSON, if Accept prefers it');
    my $at = place('/topleft');
    is_deeply($res->json, {
        service => 'Signature Request Service', api => "$at/api/v3", documentation => "$at/api/v3/",
        openapi => "$at/api/v3/openapi.json", health => "$at/api/v3/health",
        verify => "$at/verify" }, 'it has the URLs');
    is($ua->get(place('/deep/er/place/') => { Accept => 'application/json' })->result->json('/api'),
        'https://sign.example.org/e/api/v3', 'they begin with SigreqBaseURL');
};

subtest 'what is not the page' => sub {
    isnt($ua->post(place('/topleft/'))->result->code, 200, 'POST');
    is($ua->get(place('/elsewhere/'))->result->code, 404, 'a location that is off');
    is($ua->get(place('/topleft/other'))->result->code, 404, 'another path');
    my $root = $ua->get(place('/'))->result;
    unlike($root->body, qr/data-front/, 'a file of the document root is served instead');
};

my $folder = tempdir('front.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
mkdir "$folder/$_" for 'www', 'www/folder', 'www/list', 'alias';
Sigreq::Suite::write_file("$folder/www/fallback.txt",   'the fallback');
Sigreq::Suite::write_file("$folder/www/folder/a.txt",   'a file');
Sigreq::Suite::write_file("$folder/alias/index.html",   'the alias');
my $locations = join '', map {"<Location \"/$_\">\nSigreq On\n</Location>\n"}
    qw(free folder list alias gone secret handler fallback proxied);

subtest 'beside other content' => sub {
    my $httpd = Sigreq::Httpd->new(
        modules => 'authz_core dbd alias dir autoindex status rewrite proxy proxy_http',
        place   => '', server => <<"CONF")->start;
DocumentRoot "$folder/www"
Alias "/alias" "$folder/alias"
ProxyPass "/proxied" "http://127.0.0.1:1/"
Redirect 302 "/gone" "http://other.test/"
<Directory "$folder/www/list">
    Options +Indexes
</Directory>
$locations
<Location "/secret">
    Require all denied
</Location>
<Location "/handler">
    SetHandler server-status
</Location>
<Location "/fallback">
    FallbackResource /fallback.txt
</Location>
CONF
    my $at = sub { $ua->get($httpd->base . shift)->result };
    like($at->('/free/')->body, qr/data-front/, 'a path that httpd has nothing for');
    unlike($at->('/folder/')->body, qr/data-front/, 'a folder');
    like($at->('/list/')->body, suite->{firewall} ? qr/403 Forbidden/ : qr/Index of/, 'a folder that is listed');
    is($at->('/alias/')->body,      'the alias',    'an Alias');
    is($at->('/proxied/')->code,    503,            'a proxy');
    is($at->('/gone/')->code,       302,            'a Redirect');
    is($at->('/secret/')->code,     403,            'access control');
    like($at->('/handler/')->body, qr/Server Status/, 'a handler');
    is($at->('/fallback/')->body,   'the fallback', 'FallbackResource');
    is($at->('/free/api/v3/openapi.json')->code, 200, 'the API is there in all cases');
};

subtest 'without a document root' => sub {
    my $httpd = Sigreq::Httpd->new(
        modules => 'authz_core dbd dir status negotiation',
        place   => "Sigreq On\nOptions +MultiViews", server => <<"CONF")->start;
<Directory "/">
    Require all denied
</Directory>
$locations
<Location "/secret">
    Require all denied
</Location>
<Location "/handler">
    SetHandler server-status
</Location>
CONF
    my $at = sub { $ua->get($httpd->base . shift)->result };
    my $page = $at->('/')->body;
    like($page, qr/data-front/, '/ is the page');
    unlike($page, qr/href="verify/, 'without SigreqVerifyPage it does not name that page');
    is($at->('/secret/')->code, 403, 'access control');
    unlike($at->('/handler/')->body, qr/data-front/, 'a handler keeps its path');
    is($at->('/other')->code, 403, 'another path is httpd\'s');
};
done_testing;
