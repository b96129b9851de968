# SPDX-License-Identifier: Apache-2.0
# A submission from its first link to its last signature, with plain HTTP requests: the state that signers see, the
# changes of the document, the answers of the API, and the results of validators.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use Mojo::File     'path';
use Sigreq::Evidence 'commands_say';
use Sigreq::Here   qw(suite organisation is_error documents temporary_files wait_for);
use Sigreq::PDF    'pdf';
use Sigreq::Raw;
use Sigreq::Signer qw(signers_of chain_fault pdfsig qpdf_check is_unchanged);
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my $bytes  = pdf(nonce => "sign $$", pages => 2);
my @two    = ({ email => 'ann@example.org' }, { firstname => 'Bob', area => { y => 200 } });
my $made   = $client->create(files => [['a.pdf', $bytes]], signers => Sigreq::Client::signers(@two))->json;
my ($ann, $bob) = signers_of($made);
my $uuid      = $made->{uuid};
my $document  = $made->{documents}[0]{uuid};
my $path      = "/signatures/$uuid/documents/$document";
my $submitter = sub { my $i = shift; $client->get("/signatures/$uuid")->json->{submitters}[$i] };

subtest 'opening' => sub {
    $ann->request(HEAD => '');
    $ann->get('', headers => { 'Sec-Purpose' => 'prefetch;prerender' });
    $ann->get('', headers => { 'Purpose'     => 'prefetch' });
    my %html = (Accept => 'text/html');
    $ann->get('', headers => { %html, 'User-Agent' => $_ })
        for 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)', 'WhatsApp/2.23.20.0',
        'Mozilla/5.0 (compatible; Example/1.0; +http://example.org/robot)';
    $ann->get('', headers => { %html, 'X-Purpose' => 'preview' });
    is($submitter->(0)->{status}, 'sent', 'HEAD, prefetching and robots open nothing');
    my $state = $ann->state;
    is($state->{state},              'opened',  'the first GET opens');
    is($state->{name},               'Lease',   'the state has the name of the submission');
    is($state->{environment},        'test',    'the state has the environment');
    is($state->{signer}{firstname},  'Ann',     'the state has the name of the signer');
    is($state->{requester}{organization}, $org->{name}, 'the state has the requester');
    ok($state->{consent}{version} && $state->{consent}{text}, 'the state has the consent text and its version');
    is_deeply($state->{documents}[0]{sizes}, [[2, 612, 792]], 'the state has the sizes of the pages');
    is_deeply($state->{fields}[0]{percent}, $made->{submitters}[0]{fields}[0]{percent},
        'the state has the place of the field');
    my $opened = $submitter->(0);
    is($opened->{status},   'opened',           'the API shows it');
    is($opened->{openedAt}, $state->{openedAt}, 'the API shows the time of opening');
    is($ann->state->{openedAt}, $state->{openedAt}, 'the time of opening never changes');
    is($submitter->(1)->{status}, 'sent', 'the other signer has not opened their link');
    unlike(encode($ann), qr/\Q@{[ uuid_of($bob) ]}\E/, 'the state does not have the link of the other signer');
};

subtest 'what is added to a link' => sub {
    my @browser = (headers => { Accept => 'text/html' });
    for my $query (qw(?fbclid=1 ?utm_source=a&utm_medium=b ?lang=de&lang=fr ?amp;lang=de ?x=%00 ?x=%ff)) {
        my $res = $ann->get($query, @browser);
        my $want = suite->{firewall} && $query eq '?x=%00' ? '403' : '200 page';
        is($res->code . ($res->dom->at('main[data-state]') ? ' page' : ''), $want, $query);
    }
    for my $tail ('/', '.', '%29', ',', '%3E', '%20', '%0A', ').') {
        my $res = $ann->get($tail, @browser);
        is($res->code . ' ' . ($res->headers->location // ''), "308 $ann->{link}", "$tail leads to the link");
    }
    is($ann->get('.?lang=de', @browser)->headers->location, "$ann->{link}?lang=de", 'the query is kept');
    is($ann->get($_,          @browser)->code,              404,                    "$_ does not") for qw(x .x);
    is($client->get('/signatures?fbclid=1')->code,          400,                    'the API is strict');
};

subtest 'openings by others' => sub {
    my $shared = $client->create->json;
    my ($eve)  = signers_of($shared);
    my $opens  = sub { $eve->get('', headers => { Accept => 'text/html', 'User-Agent' => $_[0] }) for 1 .. 2 };
    my $events = sub {
        my $all = $client->get("/signatures/$shared->{uuid}/audit")->json;
        is(chain_fault($all), undef, 'the events are a chain');
        return join '|', map { $_->{userAgent} // '' } grep { $_->{event} eq 'opened' } @{ $all->{events} };
    };
    $opens->($_) for 'Scanner', 'Browser', 'Scanner';
    is($events->(), 'Scanner|Browser', 'each agent is recorded once');
    my $at = $client->get("/signatures/$shared->{uuid}")->json->{submitters}[0]{openedAt};
    is($eve->state->{openedAt}, $at, 'the first opening counts');
    $opens->("Agent $_") for 1 .. 20;
    is(scalar(split /\|/, $events->()), 20, 'there are at most 20 openings');
    is($eve->sign('Eve Lee')->code, 200, 'the signer signs');
    my $before = $events->();
    $opens->('Later');
    is($events->(), $before, 'after that no opening is recorded');
};

subtest 'the page' => sub {
    my $res = $ann->get('', headers => { Accept => 'text/html,*/*;q=0.8' });
    is($res->code, 200, 'HTML for browsers');
    like($res->headers->content_type, qr{^text/html; charset=utf-8}i, 'the type of the page');
    my %want = (
        'Referrer-Policy' => qr/^no-referrer$/, 'Cache-Control' => qr/^no-store$/, 'X-Robots-Tag' => qr/noindex/,
        'Content-Security-Policy' => qr/default-src 'none'.*frame-ancestors 'none'/,
        'X-Content-Type-Options'  => qr/nosniff/);
    like($res->headers->header($_) // '', $want{$_}, $_) for sort keys %want;
    like($res->body, qr/<form method="post"/, 'the page has a form');
    is($ann->get('', headers => { Accept => 'application/json, text/plain, */*' })->headers->content_type,
        'application/json', 'JSON for a client that names it before any other type');
    is($ann->get('', headers => { Accept => undef })->headers->content_type =~ /html/ ? 1 : 0, 1,
        'the default is HTML');
    my $none = Sigreq::Signer->new(link => $ann->{link} =~ s/[0-9a-f]{12}$/000000000000/r);
    is_error($none->get(''), 404, 'Not found', 'an unknown link');
    like($none->get('', headers => { Accept => 'text/html' })->body, qr/<h1\b/, 'an unknown link, as a page');
    is_error(Sigreq::Signer->new(link => Sigreq::Here::place('/sign/x'))->get(''), 404, 'Not found', 'an invalid uuid');
};

subtest 'requests that are refused' => sub {
    my $typed = { type => 'typed', text => 'Ann' };
    my $with  = sub { { action => 'sign', consent => \1, signature => {@_} } };
    my @drawn = (type => 'drawn', width => 9, height => 9);
    my @image = (type => 'uploaded', image => 'data:image/png;base64,');
    my @rows  = (
        [{}, qr/^action must be/],
        [{ action => 'sing' }, qr/^action must be/],
        [{ action => 'sign', signature => $typed }, qr/consent/],
        [{ action => 'sign', consent => 'yes', signature => $typed }, qr/consent/],
        [{ action => 'sign', consent => \1 }, qr/^A signature must be of type/],
        [$with->(type => 'x'), qr/^A signature must be of type/],
        [$with->(type => 'typed', text => " \t"), qr/not blank/],
        [$with->(type => 'typed', text => "a\nb"), qr/control/],
        [$with->(type => 'typed', text => 'x' x 201), qr/at most 200/],
        [$with->(type => 'drawn'), qr/width and height/],
        [$with->(@drawn, strokes => []), qr/empty/],
        [$with->(type => 'uploaded', image => 'x'), qr/PNG, JPEG or WebP/],
        [$with->(@image[0 .. 2], "$image[3]!!!!"), qr/PNG, JPEG or WebP/],
        [$with->(@image[0 .. 2], "$image[3]AAAA"), qr/./],
        [$with->(@image[0 .. 2], $image[3] . 'A' x 1_500_000), qr/1 MiB/],
        [{ action => 'refuse', reason => 'x' x 1001 }, qr/at most 1000/],
        [{ action => 'refuse', reason => 5 }, qr/must be a string/]);
    my ($before, $files) = ($client->get("/signatures/$uuid")->body, scalar documents());
    is_error($ann->post(json => $_->[0]), 400, $_->[1]) for @rows;
    is_error($ann->post(body => '{', headers => { 'Content-Type' => 'application/json' }), 400, qr/JSON/);
    is_error($ann->post(body => 'x', headers => { 'Content-Type' => 'text/plain' }), 415, qr/application\/json/);
    is_error($ann->post(json => $rows[0][0], headers => { Origin => 'https://evil.example' }), 403, qr/signing page/);
    is_error($ann->post(json => $rows[0][0], headers => { 'Sec-Fetch-Site' => 'cross-site' }), 403, qr/signing page/);
    is($ann->request('PUT', '')->code, 405, 'PUT');
    is($client->get("/signatures/$uuid")->body, $before, 'nothing has changed');
    is(scalar documents(), $files, 'no file is stored');
    ok(wait_for(sub { !temporary_files() }), 'no temporary file is left');
};

my $first;
subtest 'the first signs' => sub {
    my $res = $ann->post(json => Sigreq::Signer::typed('Ann Lee'), headers => { 'User-Agent' => 'Pen/1.0' });
    is($res->code, 200, 'signed');
    is($res->json->{state}, 'completed', 'the state is completed');
    my $shown = $submitter->(0);
    is($shown->{status}, 'completed', 'the API shows it');
    my %information = %{ $shown->{signerInformation} };
    is($information{ip}, '127.0.0.1', 'ip');
    is($information{userAgent},     'Pen/1.0',            'user agent');
    is($information{signatureType}, 'typed',              'kind');
    is($information{signedAt},      $shown->{completedAt}, 'time');
    is($information{openedAt},      $shown->{openedAt},    'time of opening');
    ok($information{consent}, 'consent');
    my ($signed) = @{ $shown->{signedDocuments} };
    like($signed->{url}, qr{\Q/api/v3$path\E$}, 'the document\'s url');
    my $get = $client->get($path);
    $first = $get->body;
    is(sha256_hex($first), $signed->{sha256}, 'the SHA-256 of the document');
    is(length $first,      $signed->{size},   'the size of the document');
    is($get->headers->etag, qq{"$signed->{sha256}"}, 'ETag');
    is(substr($first, 0, length $bytes), $bytes, 'the upload is a prefix of the signed document');
    is($client->get("$path?version=original")->body, $bytes, 'the original can still be downloaded');
    my $told = pdfsig($first);
    is_deeply([@$told{qw(signatures valid total)}], [1, 1, 1], 'pdfsig: valid, total document') or diag $told->{said};
    is(qpdf_check($first), '', 'qpdf --check');
    is_unchanged($first, 1);
    is($submitter->(1)->{signedDocuments}, undef, 'a signer who has not signed has no signed documents');
    is($client->get("/signatures/$uuid")->json->{certificate}, undef, 'there is no certificate yet');
    is_error($client->get("/signatures/$uuid/certificate"), 404, 'Not found');
    is_error($ann->sign, 409, 'You have signed already');
    is_error($ann->refuse('no'), 409, qr/signed already/);
};

subtest 'the link as a QR code' => sub {
    my $res = $ann->get('/qr.svg');
    is($res->code,                  200,             'answered');
    is($res->headers->content_type, 'image/svg+xml', 'an image');
    like($res->body, qr{^<svg .* d="M4 4h7v1h-7zM.*z"/></svg>$}, 'its upper left corner');
    isnt($res->body, $bob->get('/qr.svg')->body, 'another link has another code');
    is($ann->get('/qr.png')->code, 404, 'it has one form');
    my $unknown = Sigreq::Signer->new(link => $ann->{link} =~ s/[^\/]+$/00000000-0000-4000-8000-000000000000/r);
    is_error($unknown->get('/qr.svg'), 404, qr/./);
};

subtest 'the second signs by a form' => sub {
    my %browser = (Accept => 'text/html');
    my $res = $bob->post(form => { action => 'sign', typed => 'Bob' }, headers => \%browser);
    is($res->code, 400, 'signing without consent is refused');
    like($res->headers->content_type, qr/html/, 'the refusal is a page');
    $res = $bob->post(form => { action => 'sign', typed => "Bob \x{e9}", consent => 'yes' }, headers => \%browser);
    is($res->code, 303, 'signed');
    is($res->headers->location, $bob->{link}, 'the form redirects to the page');
    like($bob->get('', headers => \%browser)->body, qr/All done/, 'the page says that the signer has signed');
    my $second = $client->get($path)->body;
    is(substr($second, 0, length $first), $first, 'the first signature\'s bytes are a prefix');
    my $told = pdfsig($second);
    is_deeply([@$told{qw(signatures valid total)}], [2, 2, 1], 'pdfsig: both valid, the last of all')
        or diag $told->{said};
    is(qpdf_check($second), '', 'qpdf --check');
    is_unchanged($second, 2);
    my $all = $client->get("/signatures/$uuid")->json;
    is($all->{submitters}[$_]{signedDocuments}[0]{sha256}, sha256_hex($second), "signer $_ is shown the last") for 0, 1;
    my ($from, $length) = (length($bytes) - 10, 30);
    my $part = $client->get($path, headers => { Range => "bytes=$from-" . ($from + $length - 1) });
    is($part->body, substr($second, $from, $length), 'a range over the boundary of two revisions');
    is($bob->get("/documents/$document")->body, $second, 'the signer gets the same document');
    my $name = sub { shift->headers->content_disposition };
    my $signed = qq{attachment; filename="a - signed.pdf"; filename*=UTF-8''a%20-%20signed.pdf};
    is($name->($client->get($path)), $signed, 'the file name says that it is signed');
    is($name->($bob->get("/documents/$document")), $signed, 'the signer gets the same file name');
    is($name->($client->get("$path?version=original")), q{attachment; filename="a.pdf"; filename*=UTF-8''a.pdf},
        'the upload keeps its name');
    is_error($bob->get("/documents/$uuid"), 404, 'Not found', 'a document that does not exist');
    is_error($bob->sign, 409, 'You have signed already');
};

subtest 'the certificate of completion' => sub {
    my $shown = $client->get("/signatures/$uuid")->json->{certificate};
    like($shown->{url}, qr{\Q/api/v3/signatures/$uuid/certificate\E$}, 'the URL of the certificate');
    my $res = $client->get("/signatures/$uuid/certificate");
    is(sha256_hex($res->body), $shown->{sha256}, 'the SHA-256 of the document');
    is(length $res->body,      $shown->{size},   'the size of the document');
    like($res->headers->content_disposition, qr/Lease/, 'the file name of the certificate');
    my $told = pdfsig($res->body);
    is_deeply([@$told{qw(signatures valid total)}], [1, 1, 1], 'pdfsig: valid, total document') or diag $told->{said};
    is(qpdf_check($res->body), '', 'qpdf --check');
    is_unchanged($res->body, 1);
    my $text = Sigreq::Validator::text_of($res->body);
    like($text, qr/\Q$_\E/, "it says $_") for 'Lease', 'Ann Lee', 'Bob', 'ann@example.org', '127.0.0.1', 'TEST';
    unlike($text, qr/\Q@{[ uuid_of($_) ]}\E/, 'and no link') for $ann, $bob;
    my $packed = $text =~ s/\s+//gr;
    like($packed, qr/\Q$_\E/, 'a hash') for $made->{documents}[0]{sha256};
    like($packed, qr/Requestcreated.*Documentsopened.*Signed/, 'the certificate has the events');
    like($packed, qr/Ihavereadthesedocumentsandagree/, 'the certificate has the consent text');
    like($packed, qr/Linkdeliveredbytherequester/, 'the certificate says how the link reached the signer');
    like($packed, qr/Fingerprintoftheseal/, 'the certificate has the fingerprint of the seal');
    is($bob->get('/certificate')->body, $res->body, 'the signers get the certificate, too');
    my ($last) = reverse @{ $client->get("/signatures/$uuid/audit")->json->{events} };
    is($last->{event},               'completed',      'the last event');
    is($last->{detail}{certificate}, $shown->{sha256}, 'the hash of the last event is in the certificate');
};

subtest 'the evidence' => sub {
    my $answer = $client->get("/signatures/$uuid/audit");
    my $audit  = $answer->json;
    my @events = @{ $audit->{events} };
    is_deeply([map { $_->{event} } @events[0 .. 4]], [qw(created opened signed opened signed)],
        'the events of the audit trail');
    is_deeply([map { $_->{number} } @events], [1 .. @events], 'the events are in order');
    is(chain_fault($audit), undef, 'each event has the hash of the previous one and a correct hash of its own');
    is($events[2]{detail}{documents}[0]{before}, sha256_hex($bytes),
        'the event has the SHA-256 of the document before');
    is($events[2]{detail}{documents}[0]{after},  sha256_hex($first), 'the event has the SHA-256 of the document after');
    is($events[2]{signer}, $made->{submitters}[0]{uuid}, 'who');
    like($events[2]{commitments}{$_}, qr/^[0-9a-f]{64}$/, "the event has a commitment of $_") for qw(ip userAgent);
    is($events[0]{detail}{signers}[0]{firstname}, 'Ann', 'the values are where they were before');
    is(commands_say(suite->{source}, $answer->body), '', 'the documented commands verify chain and commitments');
    my %wrong = (
        '"Ann"'      => '"Eve"',
        '"signed"'   => '"opened"',
        '"number":2' => '"number":3',
        '"salts":{'  => '"salts":{"x":"y",'
    );
    isnt(commands_say(suite->{source}, $answer->body =~ s/\Q$_\E/$wrong{$_}/r), '', "the change of $_ is detected")
        for sort keys %wrong;
};

subtest 'refusing' => sub {
    my $made = $client->create(signers => Sigreq::Client::signers(@two))->json;
    my ($one, $other) = signers_of($made);
    is($one->refuse("Not \x{201c}mine\x{201d}")->json->{state}, 'refused', 'refused');
    my $all = $client->get("/signatures/$made->{uuid}")->json;
    is($all->{submitters}[0]{status}, 'opened', 'the status stays opened');
    ok($all->{submitters}[0]{refusedAt}, 'refusedAt');
    is($all->{submitters}[0]{refusalReason}, "Not \x{201c}mine\x{201d}", 'refusalReason');
    is($other->state->{state}, 'closed', 'the submission is closed for the other signer');
    is_error($other->sign,   409, qr/Somebody else has refused/);
    is_error($other->refuse, 409, qr/Somebody else has refused/);
    is_error($one->sign,     409, 'You have refused to sign');
    is_error($one->refuse,   409, 'You have refused already');
    my $page = $other->get('', headers => { Accept => 'text/html' })->body;
    like($page, qr/Another signer declined/, 'the page says that the signer has refused');
    is($one->post(form => { action => 'refuse' }, headers => { Accept => 'text/html' })->code, 409,
        'refusing by a form works, too');
};

# A former error: the request line was shortened in an endless loop, before any check.
subtest 'links that look shortened' => sub {
    for my $path ('12345678...', '.........', 'aaaaaaaa...?x=1', 'aaaaaaaaa' x 100, "@{[ uuid_of($ann) ]}..x") {
        my $socket = Sigreq::Raw->new(suite->{port});
        $socket->send("GET /sign/$path HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        my $res = $socket->answer(10);    # not longer, because such a loop takes all memory
        is($res ? $res->code : 'no answer', 404, substr $path, 0, 20) or last;
    }
};

subtest 'the logs' => sub {
    my $secret = uuid_of($ann);
    my $short  = substr $secret, 0, 8;
    my $folder = suite->{dir} . '/t/logs';
    for my $log (qw(error_log access_log)) {
        my $text = path("$folder/$log")->slurp;
        unlike($text, qr/\Q$secret\E/, "$log does not have the link");
        like($text, qr{/sign/\Q$short\E\.\.\.}, 'the access log says that the link was used') if $log eq 'access_log';
    }
};

sub encode  { return Mojo::JSON::encode_json($_[0]->state) }
sub uuid_of { return $_[0]{link} =~ m{([^/]+)$} ? $1 : die }
done_testing;
