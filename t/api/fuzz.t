# SPDX-License-Identifier: Apache-2.0
# Mutated requests to each route of the API, the signing pages and the verify page, at random: 400 requests, or as
# many as SIGREQ_FUZZ_SECONDS permits. Each gets an answer. No answer is a 5xx other than 503 with its reason, or
# 507. t/run fails if a child of httpd crashes, and tools/sanitize if a sanitizer reports something. A request without a
# right answer is shown as a Perl string. SIGREQ_FUZZ_SEED=NUMBER tries other numbers.
use strict;
use warnings;
use Mojo::File 'path';
use Mojo::JSON qw(decode_json encode_json);
use Mojo::Util 'decode';
use Sigreq::Here qw(organisation place suite);
use Sigreq::Multipart qw(multipart part BOUNDARY);
use Sigreq::PDF 'pdf';
use Sigreq::Raw;
use Sigreq::Signer qw(signers_of typed);
use Test::More;

my $seconds = $ENV{SIGREQ_FUZZ_SECONDS};
my $seed    = $ENV{SIGREQ_FUZZ_SEED} // 1;
srand $seed;
my $spec = decode_json(path(suite->{source}, 'src/api/openapi.json')->slurp);

my @routes = map {
    my $path = $_;
    my $way = $path =~ m{^/sign/} ? '' : '/api/v3';
    map { ["\U$_", "$way$path"] } grep {/^(?:get|post|patch|delete)$/} sort keys %{ $spec->{paths}{$path} };
} sort keys %{ $spec->{paths} };
my $drawn = '/sign/{signer_uuid}/documents/{document_uuid}/pages/{n}';
push @routes, (map { [GET => $_] } '/', '/verify', '/api/v3/', '/api/v3', '/sign/{signer_uuid}/', '/sign/assets/{name}',
    '/sign/theme/{name}', "$drawn.png", "$drawn.json"), [POST => '/verify'], [POST => '/sign/{signer_uuid}#form'];

my @often = (@routes, (grep { "@$_" =~ m{^POST (?!.*webhook)} } @routes) x 4);

# --- what requests are made of

my @texts = ('', ' ', 'a', "\0", "\x7f", "\x80\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
    "\xef\xbb\xbf", "\xe2\x80\xae", "e\xcc\x81", "\xf0\x9f\x98\x80" x 20, '%', '%s%n%d', '../..',
    '"', "'", '\\', '<b>', '&amp;', '=', ';',
    "\r\nX: y", "\t", '*', '-1', '0', '1e999', '99999999999999999999', 'null', 'true', '[]', '{}', 'file', 'signers',
    '00000000-0000-0000-0000-000000000000', 'Ann@example.org', 'http://[::1]:0/', 'https://example.org/?a#b',
    '2026-11-29T06:00:00Z', '9999-12-31T23:59:60+23:59', map { 'x' x $_ } 63 .. 65, 255 .. 257, 4096, 9000, 70_000);
my @values = (undef, Mojo::JSON->true, Mojo::JSON->false, 0, -1, 0.1, 1e308, -1e-320, 9_223_372_036_854_775_807, [], {},
    [[]], { '' => {} });

sub one  { return $_[rand @_] }
sub text { return one(@texts) . (rand() < 0.2 ? one(@texts) : '') }
sub wide { my $text = text(); return decode('UTF-8', $text) // $text }    # for members of JSON

my @names;    # members that the description knows
sub note_names {
    my ($node) = @_;
    push @names, keys %{ $node->{properties} } if ref $node eq 'HASH' && ref $node->{properties} eq 'HASH';
    note_names($_) for ref $node eq 'HASH' ? values %$node : ref $node eq 'ARRAY' ? @$node : ();
    return;
}
note_names($spec->{components});

sub value { return rand() < 0.4 ? one(@values) : rand() < 0.1 ? nested() : wide() }
sub nested { my $value = 1; $value = rand() < 0.5 ? [$value] : { wide() => $value } for 0 .. rand 90; return $value }

sub mutated {    # a structure with some differences at any depth
    my ($node, $chance) = @_;
    return value() if rand() < $chance;
    return [map { (mutated($_, $chance)) x (rand() < $chance ? int rand 4 : 1) } @$node] if ref $node eq 'ARRAY';
    return $node if ref $node ne 'HASH';
    my %made = map { rand() < $chance ? () : ($_ => mutated($node->{$_}, $chance)) } sort keys %$node;
    $made{ rand() < 0.5 ? wide() : one(@names) } = value() while rand() < 2 * $chance;
    return \%made;
}

sub flipped {    # bytes with some differences
    my ($bytes) = @_;
    for (0 .. rand 6) {
        my $at = rand(1 + length $bytes);
        substr $bytes, $at, rand(4), one('', chr rand 256, text(), substr $bytes, rand(1 + length $bytes), 40);
    }
    return rand() < 0.1 ? substr $bytes, 0, rand length $bytes : $bytes;
}

sub perhaps { my ($bytes) = @_; return rand() < 0.15 ? flipped($bytes) : $bytes }

# --- documents and links that exist

my ($org, %known, @pdfs);
sub begin {
    $org = organisation();
    my $res  = $org->{test}->create(files => [['a.pdf', pdf(nonce => rand)]], signers => $org->{test}->signers({}, {}));
    my $made = $res->json;
    my @signers = signers_of($made);
    $signers[0]->sign('Ann Lee');
    %known = (uuid => [$made->{uuid}, map { $_->{uuid} } @{ $org->{test}->get('/tokens')->json->{data} // [] }],
        signer_uuid   => [map { $_->{link} =~ s{.*/}{}r } @signers],
        document_uuid => [map { $_->{uuid} } @{ $made->{documents} }], n => [0, 1, -1, '00', 65_536],
        event_id => [$made->{uuid}], name => ['page.css', 'page.js', 'x']);
    @pdfs = (pdf(), $org->{test}->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body);
    return;
}

# --- requests

my $drawing = { type => 'drawn', width => 300, height => 100, strokes => [[[10, 10], [50, 60], [90, 20]]] };
my $image = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAE0lEQVR4nGNgYGD4D0QN'
    . 'DAxQFgAi9AR9pK1QpwAAAABJRU5ErkJggg==';
my %json = (
    sign    => sub { return { %{ typed() }, signature => one(typed()->{signature}, $drawing, { type => 'uploaded',
        image => $image }), one({}, { action => 'refuse', reason => 'No' })->%* } },
    webhook => sub { return { url => 'http://127.0.0.1:9/x' } },
    tokens  => sub { return { name => 'child', environment => 'test', expiresIn => 60 } },
    other   => sub { return { firstname => 'Bob', lastname => 'Roe', email => 'bob@example.org', reason => 'No',
        expiresAt => '2030-01-01T00:00:00Z', name => 'Lease' } },
);

sub creation {
    my $signers = mutated($org->{test}->signers(map { {} } 0 .. rand 3), one(0, 0.01, 0.05));
    my $name = rand() < 0.8 ? 'a.pdf' : text();
    my @parts = (part('file', perhaps(one(@pdfs)), filename => $name, type => 'application/pdf'),
        part('name', text()), part('signers', perhaps(encode_json($signers))));
    push @parts, part(rand() < 0.5 ? text() : one(@names), text()) while rand() < 0.3;
    push @parts, part('', text(), headers => flipped('Content-Disposition: form-data; name="signers"')) if rand() < 0.2;
    splice @parts, rand @parts, 1 if rand() < 0.1;
    return perhaps(multipart(@parts));
}

sub body_of {    # (type, body)
    my ($method, $path) = @_;
    return if $method !~ /^P/;
    return ("multipart/form-data; boundary=" . BOUNDARY, creation()) if $path =~ m{/signatures$};
    return ('application/pdf', flipped(one(@pdfs))) if $path eq '/api/v3/verify';
    return ('multipart/form-data; boundary=' . BOUNDARY,
        perhaps(multipart(part('file', flipped(one(@pdfs)), filename => text())))) if $path eq '/verify';
    return ('application/x-www-form-urlencoded', perhaps(join '&', map { "$_=" . perhaps(one('sign', 'yes', 'Ann')) }
        qw(action consent typed reason timeZone utcOffset consentVersion))) if $path =~ /#form/;
    my $make = $path =~ m{/sign/} ? 'sign' : $path =~ /webhook-url/ ? 'webhook'
        : $path =~ /tokens$/ ? 'tokens' : 'other';
    return ('application/json', perhaps(encode_json(mutated($json{$make}->(), one(0, 0.05, 0.2)))));
}

sub escaped { my ($text) = @_; return $text =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ger }

my $described = $spec->{components}{parameters};
my @queries = ((map { $described->{$_}{name} // () } sort keys %$described),
    qw(lang status q externalId updatedAfter version width event success verbose));
my @headers = qw(Accept Accept-Language Accept-Encoding Range If-None-Match If-Modified-Since Origin Referer
    Idempotency-Key Content-Encoding Transfer-Encoding Expect X-Request-Id User-Agent Cookie Host);
my @right = ('text/html', 'application/json', 'de, fr;q=0.5', 'bytes=0-9', 'bytes=-5,3-', '*', '"a"', 'gzip', 'chunked',
    '100-continue', 'null');

sub request {
    my ($method, $path) = @{ $_[0] };
    my ($type, $body) = body_of($method, $path);
    my $target = ($path =~ s/#.*//sr) =~ s/\{(\w+)\}/rand() < 0.1 ? escaped(text()) : one(@{ $known{$1} })/ger;
    my $pair = sub { escaped(rand() < 0.8 ? one(@queries) : text()) . '=' . escaped(text()) };
    $target .= '?' . join '&', map { $pair->() } 0 .. rand 3 if rand() < 0.3;
    my %sent = (Host => '127.0.0.1', Connection => 'close', Authorization => "Bearer $org->{test}{token}");
    $sent{Authorization} = perhaps($sent{Authorization}) if rand() < 0.05;
    $sent{Accept} = one(@right[0, 1]);
    if (defined $body) { $sent{'Content-Type'} = $type; $sent{'Content-Length'} = length $body }
    $sent{ one(@headers) } = rand() < 0.6 ? one(@right) : text() while rand() < 0.2;
    $sent{'Content-Type'} = perhaps($sent{'Content-Type'}) if rand() < 0.1 && defined $body;
    $method = one(qw(GET HEAD POST PUT PATCH DELETE OPTIONS TRACE X)) if rand() < 0.03;
    my $head = join '', map { "$_: $sent{$_}\r\n" } sort keys %sent;
    return "$method $target HTTP/1.1\r\n$head\r\n" . ($body // '');
}

sub fault {    # what is wrong with an answer; counts it
    my ($res, $count) = @_;
    $count->{ $res ? $res->code : 'none' }++;
    return 'no answer' if !$res;
    return if $res->code < 500 || $res->code == 507 || $res->code == 501;
    return $res->code == 503 && length $res->body > 20 ? () : $res->code . ' ' . substr $res->body, 0, 200;
}

begin();
my ($sent, %count, %routes, @faults) = (0);
my $end = time + ($seconds // 0);
while ($seconds ? time < $end : $sent < 400) {
    begin() if $sent % 80 == 79;    # links are closed and tokens revoked
    my $route  = $routes[$sent] // one(@often);    # each once, then at random
    my $bytes  = request($route);
    my $socket = Sigreq::Raw->new(suite->{port});
    $socket->send($bytes);
    $socket->finish;    # a body that is shorter than its length ends
    my $fault = fault($socket->answer, \%count);
    $sent++;
    $routes{"@$route"}++;
    next if !defined $fault;
    push @faults, $fault;
    diag "request $sent, @$route: $fault\n", substr $bytes =~ s/([^\x20-\x7e])/sprintf '\\x%02x', ord $1/ger, 0, 4000;
}
is_deeply(\@faults, [], "each of $sent requests to " . keys(%routes) . ' routes has its answer');
is(scalar keys %routes, scalar @routes, 'each route was used') if $sent >= 400;
diag 'statuses: ', join ', ', map {"$_: $count{$_}"} sort keys %count;
done_testing;
