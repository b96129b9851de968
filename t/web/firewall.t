# SPDX-License-Identifier: Apache-2.0
# ModSecurity with the Core Rule Set in blocking mode, as packaged by Debian. Signing works without exclusions: drawings
# are sent as one text, images as files. Neither is refused, not even a drawing of 20,000 points. With exclusions that
# are shipped (conf/modsecurity.conf), all else works at paranoia level 2, attacks are still refused, and no log has a
# signing link or a token. `make test-firewall` runs all tests of the API and the signing page in this way.
use strict;
use warnings;
use Digest::SHA 'sha256';
use Encode 'encode';
use Mojo::File 'path';
use Sigreq::Firewall;
use Sigreq::Here qw(organisation suite wait_for);
use Sigreq::Httpd;
use Sigreq::Multipart 'part';
use Sigreq::PDF       qw(pdf pdf_of_size);
use Sigreq::Raw;
use Sigreq::Signer 'signers_of';
use Test::More;
use utf8;

plan skip_all => Sigreq::Firewall::missing() if Sigreq::Firewall::missing();
# Debian's configuration in blocking mode, its files in a folder of its own
sub behind {
    my $name = shift;
    my $dir  = suite->{dir} . "/firewall-$name-$$";
    mkdir $dir or die "$dir: $!\n";
    my $server = Sigreq::Firewall::directives(source => suite->{source}, dir => $dir, @_);
    my $modules = join ' ', qw(authz_core dbd), Sigreq::Firewall::MODULES;
    return ($dir, Sigreq::Httpd->new(modules => $modules, server => "$server\nCustomLog \"$dir/access_log\" \"%r\"",
        place => "Sigreq On\nSigreqVerifyPage On")->start);
}

my (undef, $httpd) = behind('plain', shipped => 0);
my $client  = organisation(client => { base => $httpd->base })->{test};
my %browser = (headers => {
    'User-Agent' => 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0',
    Accept       => 'application/json', 'Accept-Language' => 'en-GB', 'Accept-Encoding' => 'gzip, deflate' });
my $signer  = sub { (signers_of($client->create->json))[0] };
my $post    = sub {
    my ($link, $path, @body) = @_;
    my $tx = $link->{ua}->start($link->transaction(POST => $path, %browser, @body));
    return $tx->error && !$tx->error->{code} ? $tx->error->{message} : $tx->res->code;
};
my $signs = sub { return (json => { action => 'sign', consent => \1, signature => {@_} }) };

sub letters {    # a number as openapi.json describes it
    my $rest = $_[0] < 0 ? 1 - 2 * $_[0] : 2 * $_[0];
    my $text = '';
    for (; $rest > 15; $rest >>= 4) { $text .= chr(97 + ($rest & 15)) }
    return $text . chr(65 + $rest);
}

# Points as a hand draws them: a few units apart, with varying pressure.
sub drawing {
    my $points = shift;
    my @before = (0, 0, 128);
    return join '.', map {
        my $stroke = $_;
        join '', map {
            my $t  = $_ / 9 + $stroke;
            my @at = (int(2048 + 1900 * sin $t * 0.7), int(800 + 700 * sin $t * 1.3), int(128 + 60 * sin $t * 3));
            my $text = join '', map { letters($at[$_] - $before[$_]) } 0 .. 2;
            @before = @at;
            $text;
        } 1 .. $points / 20;
    } 1 .. 20;
}

my %attack = (action => 'refuse', reason => q{1' or '1'='1' union select * from x});
my $canary = $post->($signer->(), '', json => {%attack});
is($canary, 403, 'the rules are in force');
my @many = (type => 'drawn', width => 500, height => 500, strokes => [[map { [$_, $_] } 1 .. 600]]);
is($post->($signer->(), '', $signs->(@many)), 400, 'they refuse a JSON text of many values');
for my $points (340, 2000, 20_000) {
    my $link    = $signer->();
    my $strokes = drawing($points);
    my %drawn   = (type => 'drawn', width => 4096, height => 1600, strokes => $strokes);
    cmp_ok(length $strokes, '<', 128 * 1024, "$points points are " . length($strokes) . ' bytes');
    is($post->($link, '/preview', json => { signature => {%drawn} }), 200, 'they can be previewed');
    is($post->($link, '', $signs->(%drawn)), 200, 'they can be signed with');
}
for my $kilobytes (20, 200, 900) {
    my $link = $signer->();
    my $rgb  = join '', map { sha256("$kilobytes $_") } 1 .. $kilobytes * 32;
    my $file = sub { return { content => ppm_as_png($rgb), filename => 'signature' } };
    is($post->($link, '/preview', form => { image => $file->() }), 200, "an image of $kilobytes kB can be previewed");
    my %form = (action => 'sign', consent => 'yes', image => $file->());
    is($post->($link, '', form => {%form}), 200, 'they can be signed with');
}
for my $name ("Jean-Fran\x{e7}ois d'\x{c9}t\x{e9}", "O'Lee") {
    is($post->($signer->(), '', $signs->(type => 'typed', text => $name)), 200, 'a name with an apostrophe');
}
$httpd->stop;

(my $dir, $httpd) = behind('shipped', paranoia => 2);
$client = organisation(client => { base => $httpd->base })->{test};
my $links = '';    # all secrets
my $create = sub {
    my $res = $client->create(@_);
    $links .= ' ' . ($res->json('/submitters/0/uuid') // '');
    return $res;
};
$signer = sub { (signers_of($create->(@_)->json))[0] };

subtest 'creating' => sub {
    my @people = (["Séamus", "O'Neil-D'Arcy"], ['Дмитрий', 'Щёлоков'], ['李', '小龍'], ['محمد', 'الأمين'],
        ['Drop', 'Table; --'], ['Union', 'Select'], ['R&D <sales>', '../etc']);
    for my $person (@people) {
        my ($first, $last) = @$person;
        my $signers = Sigreq::Client::signers({ firstname => $first, lastname => $last });
        my $name    = encode('UTF-8', "Lease; select a house of $last -- from now on");
        is($create->(signers => $signers, name => $name)->code, 201, encode('UTF-8', "$first $last"));
    }
    my $field = { %{ Sigreq::Client::signers()->[0]{fields}[0] }, document => "O'Neil; lease (1=1).pdf" };
    is($create->(files => [[$field->{document}, pdf()]], signers => Sigreq::Client::signers({ fields => [$field] }),
        more => [part(metadata => '{"note":"<b>union select</b>","path":"../../etc/passwd"}'),
            part(externalId => "A'1=1")])->code, 201, 'a name of a file, and metadata');
    is($create->(files => [['a.pdf', pdf_of_size(20 << 20)]])->code, 201, 'a PDF of 20 MB');
    is($client->get('/signatures', query => { q => "O'Neil-D'Arcy" })->json('/data/0/name') // '',
        "Lease; select a house of O'Neil-D'Arcy -- from now on", 'searching');
};

subtest 'signing' => sub {
    my @zone = (timeZone => 'America/Argentina/Buenos_Aires', utcOffset => -180);
    for my $signature ({ type => 'typed', text => "Seán O'Neil" },
        { type => 'drawn', width => 4096, height => 1600, strokes => drawing(2000) }) {
        my $link = $signer->();
        is($post->($link, '/preview', json => { signature => $signature }), 200, "$signature->{type}: a preview");
        my $json = { action => 'sign', consent => \1, signature => $signature };
        is($post->($link, '', json => { %$json, @zone }), 200, 'it is signed');
    }
    my $file = { content => ppm_as_png(join '', map { sha256($_) } 1 .. 3200), filename => "Sean's signature.png" };
    my %form = (action => 'sign', consent => 'yes', image => $file);
    is($post->($signer->(), '', form => {%form}), 200, 'an image');
    is($post->($signer->(), '', form => { action => 'sign', consent => 'yes', typed => "D'Été; --" }), 303, 'a form');
    for my $reason ("I didn't agree to this price.",
        "1' or '1'='1' -- <script>alert(1)</script>\nselect the clause, drop the union; cat /etc/passwd") {
        is($post->($signer->(), '', json => { action => 'refuse', reason => $reason }), 200, 'a refusal');
        is($post->($signer->(), '', form => { action => 'refuse', reason => $reason }), 303, 'by a form');
    }
};

subtest 'placing fields' => sub {
    my $made = $create->(more => [part(draft => 'true')])->json;
    my ($uuid) = $made->{placementLink} =~ m{([^/]+)$};
    my $link = Sigreq::Signer->new(link => $made->{placementLink});
    $links .= " $uuid";
    my ($field) = @{ $made->{submitters}[0]{fields} };
    my @fields = map { +{ %$field, name => "O'Neil; drop table x; -- $_" } } 1 .. 300;
    my $ask    = sub {
        my ($method, $path, %o) = @_;
        my %headers = (%{ $browser{headers} }, %{ delete $o{headers} // {} });
        return $link->{ua}->start($link->transaction($method, $path, headers => \%headers, %o))->res;
    };
    my $state = $ask->(GET => '')->json;
    my $saved = $ask->(PUT => '/fields', json => { signers => [{ fields => \@fields }] },
        headers => { 'If-Match' => $state->{version} });
    is($saved->code, 200, '300 fields are saved') or diag $saved->body;
    is($ask->(GET => "/documents/$made->{documents}[0]{uuid}/forms")->code, 200, 'the form');
    is($ask->(POST => '/send')->code, 200, 'it is sent');
};

subtest 'other requests' => sub {
    my $made = $create->()->json;
    my $path = "/signatures/$made->{uuid}";
    is($client->request(PATCH => $path, json => { expiresAt => '2031-01-02T03:04:05Z' })->code, 200, 'PATCH');
    my $reason = "the union's clause; select another";
    is($client->post("$path/cancel", json => { reason => $reason })->code, 200, 'cancelling');
    is($client->delete($path)->code, 204, 'DELETE');
    is($client->post('/webhooks/sent-webhook-url', json => { url => 'http://192.0.2.1:8080/a?b=../c' })->code, 200,
        'a webhook with an address');
    is($client->delete('/webhooks/sent-webhook-url')->code, 200, 'it is removed');
    my $res = $client->post('/verify', body => pdf(pad => 3 << 20), headers => { 'Content-Type' => 'application/pdf' });
    is($res->code, 200, 'verifying a PDF that is sent as such');
    my $token = $client->post('/tokens', json => { name => "Kim's; drop table" });
    is($token->code, 201, 'a token');
    is($client->delete('/tokens/' . $token->json('/uuid'))->code, 204, 'it is revoked');
    for my $program (qw(curl/7.88.1 python-requests/2.28.1 Go-http-client/1.1)) {
        my $current = $client->get('/tokens/current', headers => { 'User-Agent' => $program });
        is($current->code, 200, "a request of $program");
    }
    my $raw = Sigreq::Raw->new($httpd->{port});
    $raw->send("GET /api/v3/health HTTP/1.0\r\n\r\n");
    is($raw->answer->code, 200, 'a health check without headers');
    my $page = $client->{ua}->get($httpd->base . '/verify', { %{ $browser{headers} }, Accept => 'text/html' })->res;
    is($page->code, 200, 'the verification page');
};

subtest 'attacks, and logs' => sub {
    my $link = $signer->();
    my $ask  = sub { my ($url, %more) = @_; $link->{ua}->get($url, { %{ $browser{headers} }, %more })->res->code };
    my $bad  = q{1'%20or%20'1'='1'%20union%20select%20*%20from%20x};
    my @bearer = (Authorization => "Bearer $client->{token}");
    is($ask->($httpd->base . "/other?x=$bad"), 403, 'elsewhere');
    is($ask->($httpd->base . "/api/v3/signatures?status=$bad", @bearer), 403, 'in a query');
    is($ask->("$link->{link}?x=$bad"), 403, 'in the query of a link');
    is($ask->($link->{link}, 'X-A' => '() { :; }; /bin/sh'), 403, 'in a header');
    is($ask->("$link->{link}/documents/..%5c..%5cetc%5cpasswd"), 404, 'the service refuses one in the path of a link');
    is($ask->($link->{link}, 'Content-Type' => 'x; charset=a; charset=utf-7'), 200, 'nobody reads the type of a GET');
    is($post->($link, '', json => { action => 'refuse', reason => 'x', other => q{' union select 1,2 from x --} }), 403,
        'in a member that nothing reads');
    wait_for(sub { (() = Sigreq::Firewall::audit_log($dir) =~ /^--\w+-Z--/mg) >= 5 }) 
        or fail("the audit log is written");
    my %log = (error => $httpd->log, audit => Sigreq::Firewall::audit_log($dir));
    $log{access} = path("$dir/access_log")->slurp;
    like($log{audit}, qr/id "942\d+"/, 'the audit log has the rules');
    for my $name (sort keys %log) {
        my @secret = map { quotemeta substr $_, 9 } split ' ', $links;
        my @shown  = grep { my $line = $_; grep { $line =~ /$_/ } @secret } split /\n/, $log{$name};
        is($shown[0], undef, "no signing link is in the $name log");
        is(index($log{$name}, $client->{token}), -1, "no token is in the $name log");
    }
};
done_testing;

# Colours that cannot be compressed, as a PNG of stored blocks.
sub ppm_as_png {
    my $rgb    = shift;
    my $height = int(length($rgb) / 600);
    my $rows   = join '', map { "\0" . substr $rgb, 600 * $_, 600 } 0 .. $height - 1;
    require Compress::Zlib;
    my $chunk = sub { pack('N', length $_[1]) . $_[0] . $_[1] . pack('N', Compress::Zlib::crc32("$_[0]$_[1]")) };
    return "\x89PNG\r\n\x1a\n" . $chunk->(IHDR => pack('NNC5', 200, $height, 8, 2, 0, 0, 0))
        . $chunk->(IDAT => Compress::Zlib::compress($rows)) . $chunk->(IEND => '');
}
