# SPDX-License-Identifier: Apache-2.0
# A submission from its first link to its last signature, by curl's means alone: what the signers see, what becomes of
# the document, what the API shows of it, and that validators agree.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use Mojo::File     'path';
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
    is($submitter->(0)->{status}, 'sent', 'HEAD and prefetch open nothing');
    my $state = $ann->state;
    is($state->{state},              'opened',  'the first GET opens');
    is($state->{name},               'Lease',   'what it is about');
    is($state->{environment},        'test',    'that it is a test');
    is($state->{signer}{firstname},  'Ann',     'who he is');
    is($state->{requester}{organization}, $org->{name}, 'who asks');
    ok($state->{consent}{version} && $state->{consent}{text}, 'what he is to accept');
    is_deeply($state->{documents}[0]{sizes}, [[2, 612, 792]], 'how large the pages are');
    is_deeply($state->{fields}[0]{percent}, $made->{submitters}[0]{fields}[0]{percent}, 'where he is to sign');
    my $opened = $submitter->(0);
    is($opened->{status},   'opened',           'the API shows it');
    is($opened->{openedAt}, $state->{openedAt}, 'with the time');
    is($ann->state->{openedAt}, $state->{openedAt}, 'which is the first one for ever');
    is($submitter->(1)->{status}, 'sent', 'the other has not');
    unlike(encode($ann), qr/\Q@{[ uuid_of($bob) ]}\E/, 'and his link is not told');
};

subtest 'the page' => sub {
    my $res = $ann->get('', headers => { Accept => 'text/html,*/*;q=0.8' });
    is($res->code, 200, 'HTML for browsers');
    like($res->headers->content_type, qr{^text/html; charset=utf-8}i, 'its type');
    my %want = (
        'Referrer-Policy' => qr/^no-referrer$/, 'Cache-Control' => qr/^no-store$/, 'X-Robots-Tag' => qr/noindex/,
        'Content-Security-Policy' => qr/default-src 'none'.*frame-ancestors 'none'/,
        'X-Content-Type-Options'  => qr/nosniff/);
    like($res->headers->header($_) // '', $want{$_}, $_) for sort keys %want;
    like($res->body, qr/<form method="post"/, 'a form');
    is($ann->get('', headers => { Accept => undef })->headers->content_type =~ /html/ ? 1 : 0, 1, 'HTML by default');
    my $none = Sigreq::Signer->new(link => $ann->{link} =~ s/[0-9a-f]{12}$/000000000000/r);
    is_error($none->get(''), 404, 'Not found', 'an unknown link');
    like($none->get('', headers => { Accept => 'text/html' })->body, qr/<h1\b/, 'an unknown link, as a page');
    is_error(Sigreq::Signer->new(link => Sigreq::Here::place('/sign/x'))->get(''), 404, 'Not found', 'no uuid');
};

subtest 'what does not sign' => sub {
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
        [{ action => 'refuse', reason => 5 }, qr/must be a text/]);
    my ($before, $files) = ($client->get("/signatures/$uuid")->body, scalar documents());
    is_error($ann->post(json => $_->[0]), 400, $_->[1]) for @rows;
    is_error($ann->post(body => '{', headers => { 'Content-Type' => 'application/json' }), 400, qr/JSON/);
    is_error($ann->post(body => 'x', headers => { 'Content-Type' => 'text/plain' }), 415, qr/application\/json/);
    is_error($ann->post(json => $rows[0][0], headers => { Origin => 'https://evil.example' }), 403, qr/signing page/);
    is_error($ann->post(json => $rows[0][0], headers => { 'Sec-Fetch-Site' => 'cross-site' }), 403, qr/signing page/);
    is($ann->request('PUT', '')->code, 405, 'PUT');
    is($client->get("/signatures/$uuid")->body, $before, 'nothing has changed');
    is(scalar documents(), $files, 'nothing was stored');
    ok(wait_for(sub { !temporary_files() }), 'no temporary file');
};

my $first;
subtest 'the first signs' => sub {
    my $res = $ann->post(json => Sigreq::Signer::typed('Ann Lee'), headers => { 'User-Agent' => 'Pen/1.0' });
    is($res->code, 200, 'signed');
    is($res->json->{state}, 'completed', 'the state');
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
    is(sha256_hex($first), $signed->{sha256}, 'its sha256');
    is(length $first,      $signed->{size},   'its size');
    is($get->headers->etag, qq{"$signed->{sha256}"}, 'ETag');
    is(substr($first, 0, length $bytes), $bytes, 'the upload is a prefix');
    is($client->get("$path?version=original")->body, $bytes, 'the original is still there');
    my $told = pdfsig($first);
    is_deeply([@$told{qw(signatures valid total)}], [1, 1, 1], 'pdfsig: valid, total document') or diag $told->{said};
    is(qpdf_check($first), '', 'qpdf --check');
    is_unchanged($first, 1);
    is($submitter->(1)->{signedDocuments}, undef, 'nothing for who has not signed');
    is($client->get("/signatures/$uuid")->json->{certificate}, undef, 'no certificate yet');
    is_error($client->get("/signatures/$uuid/certificate"), 404, 'Not found');
    is_error($ann->sign, 409, 'You have signed already');
    is_error($ann->refuse('no'), 409, qr/signed already/);
};

subtest 'the second signs by a form' => sub {
    my %browser = (Accept => 'text/html');
    my $res = $bob->post(form => { action => 'sign', typed => 'Bob' }, headers => \%browser);
    is($res->code, 400, 'without consent');
    like($res->headers->content_type, qr/html/, 'said as a page');
    $res = $bob->post(form => { action => 'sign', typed => "Bob \x{e9}", consent => 'yes' }, headers => \%browser);
    is($res->code, 303, 'signed');
    is($res->headers->location, $bob->{link}, 'back to the page');
    like($bob->get('', headers => \%browser)->body, qr/All done/, 'which says so');
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
    is($part->body, substr($second, $from, $length), 'a range over the seam');
    is($bob->get("/documents/$document")->body, $second, 'the signer gets it too');
    my $name = sub { shift->headers->content_disposition };
    my $signed = qq{attachment; filename="a - signed.pdf"; filename*=UTF-8''a%20-%20signed.pdf};
    is($name->($client->get($path)), $signed, 'its name says that it is signed');
    is($name->($bob->get("/documents/$document")), $signed, 'for the signer too');
    is($name->($client->get("$path?version=original")), q{attachment; filename="a.pdf"; filename*=UTF-8''a.pdf},
        'the upload keeps its name');
    is_error($bob->get("/documents/$uuid"), 404, 'Not found', 'no such document');
    is_error($bob->sign, 409, 'You have signed already');
};

subtest 'the certificate of completion' => sub {
    my $shown = $client->get("/signatures/$uuid")->json->{certificate};
    like($shown->{url}, qr{\Q/api/v3/signatures/$uuid/certificate\E$}, 'its url');
    my $res = $client->get("/signatures/$uuid/certificate");
    is(sha256_hex($res->body), $shown->{sha256}, 'its sha256');
    is(length $res->body,      $shown->{size},   'its size');
    like($res->headers->content_disposition, qr/Lease/, 'its name');
    my $told = pdfsig($res->body);
    is_deeply([@$told{qw(signatures valid total)}], [1, 1, 1], 'pdfsig: valid, total document') or diag $told->{said};
    is(qpdf_check($res->body), '', 'qpdf --check');
    is_unchanged($res->body, 1);
    my $text = Sigreq::Validator::text_of($res->body);
    like($text, qr/\Q$_\E/, "it says $_") for 'Lease', 'Ann Lee', 'Bob', 'ann@example.org', '127.0.0.1', 'TEST';
    unlike($text, qr/\Q@{[ uuid_of($_) ]}\E/, 'and no link') for $ann, $bob;
    my $packed = $text =~ s/\s+//gr;
    like($packed, qr/\Q$_\E/, 'a hash') for $made->{documents}[0]{sha256};
    like($packed, qr/Requestcreated.*Documentsopened.*Signed/, 'it tells the events');
    like($packed, qr/Ihavereadthesedocumentsandagree/, '… the text that was agreed to');
    like($packed, qr/Linkdistributedbytherequester/, '… how the link reached the signer');
    like($packed, qr/Fingerprintoftheseal/, '… and which seal it has');
    is($bob->get('/certificate')->body, $res->body, 'the signers get it too');
    my ($last) = reverse @{ $client->get("/signatures/$uuid/audit")->json->{events} };
    is($last->{event},               'completed',      'the last event');
    is($last->{detail}{certificate}, $shown->{sha256}, '… has its hash');
};

subtest 'the evidence' => sub {
    my $audit  = $client->get("/signatures/$uuid/audit")->json;
    my @events = @{ $audit->{events} };
    is_deeply([map { $_->{event} } @events[0 .. 4]], [qw(created opened signed opened signed)], 'what happened');
    is_deeply([map { $_->{number} } @events], [1 .. @events], 'in order');
    is(chain_fault($audit), undef, 'each has the hash of the one before it, and its own is right');
    is($events[2]{detail}{documents}[0]{before}, sha256_hex($bytes), 'the document before');
    is($events[2]{detail}{documents}[0]{after},  sha256_hex($first), 'and after');
    is($events[2]{signer}, $made->{submitters}[0]{uuid}, 'who');
};

subtest 'refusing' => sub {
    my $made = $client->create(signers => Sigreq::Client::signers(@two))->json;
    my ($one, $other) = signers_of($made);
    is($one->refuse("Not \x{201c}mine\x{201d}")->json->{state}, 'refused', 'refused');
    my $all = $client->get("/signatures/$made->{uuid}")->json;
    is($all->{submitters}[0]{status}, 'opened', 'the status stays opened');
    ok($all->{submitters}[0]{refusedAt}, 'refusedAt');
    is($all->{submitters}[0]{refusalReason}, "Not \x{201c}mine\x{201d}", 'refusalReason');
    is($other->state->{state}, 'closed', 'closed for the other');
    is_error($other->sign,   409, qr/Somebody else has refused/);
    is_error($other->refuse, 409, qr/Somebody else has refused/);
    is_error($one->sign,     409, 'You have refused to sign');
    is_error($one->refuse,   409, 'You have refused already');
    my $page = $other->get('', headers => { Accept => 'text/html' })->body;
    like($page, qr/Another signer declined/, 'the page says so');
    is($one->post(form => { action => 'refuse' }, headers => { Accept => 'text/html' })->code, 409, 'by form too');
};

# Seen: the request line was shortened again and again, without an end, before anybody was asked for anything.
subtest 'links that look shortened' => sub {
    for my $path ('12345678...', '.........', 'aaaaaaaa...?x=1', 'aaaaaaaaa' x 100, "@{[ uuid_of($ann) ]}.") {
        my $socket = Sigreq::Raw->new(suite->{port});
        $socket->send("GET /sign/$path HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        my $res = $socket->answer(10);
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
        like($text, qr{/sign/\Q$short\E\.\.\.}, '… but that it was used') if $log eq 'access_log';
    }
};

sub encode  { return Mojo::JSON::encode_json($_[0]->state) }
sub uuid_of { return $_[0]{link} =~ m{([^/]+)$} ? $1 : die }
done_testing;
