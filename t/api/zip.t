# SPDX-License-Identifier: Apache-2.0
# The ZIP of a submission, for its caller and, when all have signed, for its signers: contents, names, the same bytes
# again, rights, and that its size takes neither memory nor descriptors.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use Mojo::File qw(path tempfile);
use Mojo::JSON 'decode_json';
use Mojo::Util qw(decode encode);
use Sigreq::Here qw(children organisation is_error stored suite wait_for);
use Sigreq::Httpd;
use Sigreq::Memory;
use Sigreq::PDF qw(pdf pdf_of_size repairable);
use Sigreq::Raw;
use Sigreq::Signer qw(signers_of);
use Test::More;

my $org    = organisation();
my $client = $org->{test};
my @two    = ({}, { firstname => 'Bob', area => { y => 200 } });

# What three programs read of a ZIP: the names in their order, the contents, and further facts of python's zipfile.
my $PYTHON = <<'PY';
import base64, json, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
print(json.dumps([[i.filename, i.date_time, i.compress_type, i.flag_bits & 0x800, i.extra.hex(),
    base64.b64encode(z.read(i)).decode() if i.file_size < 1 << 22 else i.file_size] for i in z.infolist()]))
PY

sub output_of {
    my ($name, @command) = @_;
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', @command or die "$command[0]: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe;
    is($?, 0, $name) or diag $said;
    return $said;
}

sub read_zip {
    my $file = tempfile->spurt($_[0]);
    output_of('unzip -t', 'unzip', '-tqq', $file);
    local $ENV{LC_ALL} = 'C.UTF-8';
    my @names = split /\n/, decode('UTF-8', output_of('bsdtar -tf', 'bsdtar', '-tf', $file));
    my $rows  = decode_json(output_of("python's zipfile", 'python3', '-c', $PYTHON, $file));
    is_deeply([map { $_->[0] } @$rows], \@names, 'both list the same names');
    my %extra = map { ($_->[4] => 1) } @$rows;
    is_deeply([map { $_->[2] } @$rows], [(0) x @$rows], 'nothing is compressed');
    return ([@names], { map { ($_->[0] => Mojo::Util::b64_decode($_->[5])) } @$rows }, $rows);
}

sub is_state {    # the ZIP agrees with what the API shows
    my ($uuid, $name, @paths) = @_;
    my $res  = $client->get("/signatures/$uuid/archive");
    my $made = $client->get("/signatures/$uuid");
    is($res->code, 200, "$name: there is a ZIP");
    my ($names, $content) = read_zip($res->body);
    is_deeply($names, [@paths, 'audit.json', 'submission.json'], 'its files, in their order');
    ok($content->{'submission.json'} eq $made->body, 'submission.json is the response of GET');
    ok($content->{'audit.json'} eq $client->get("/signatures/$uuid/audit")->body, 'audit.json is the audit trail');
    my @documents = map {"/documents/$_->{uuid}"} @{ $made->json->{documents} };
    for my $path (grep { !/^uploads/ } @paths) {
        my $way = $path eq 'certificate.pdf' ? '/certificate' : shift @documents;
        ok($content->{$path} eq $client->get("/signatures/$uuid$way")->body, "$path is the download");
    }
    ok($client->get("/signatures/$uuid/archive")->body eq $res->body, 'the same bytes again');
    return ($res, $content);
}

subtest 'from the creation to the last signature' => sub {
    my $made = $client->create(
        name    => 'Miete/Ümlaut "7"',
        files   => [['a.pdf', pdf(nonce => "zip $$")], ['b.pdf', pdf(nonce => "zip b $$")]],
        signers => Sigreq::Client::signers(@two))->json;
    my @signers = signers_of($made);
    my @pdfs    = map {"documents/$_.pdf"} qw(a b);
    my ($first) = is_state($made->{uuid}, 'sent', @pdfs);
    my $headers = $first->headers;
    is($headers->content_type, 'application/zip', 'Content-Type');
    is($headers->content_disposition,
        q{attachment; filename="Miete___mlaut _7_.zip"; filename*=UTF-8''Miete_%C3%9Cmlaut%20_7_.zip},
        'Content-Disposition');
    is($headers->header('X-Content-Type-Options'), 'nosniff', 'X-Content-Type-Options');
    is($headers->cache_control, 'private, no-cache', 'Cache-Control');
    is($_->get('/archive')->code, 404, 'signers get none yet') for @signers;
    is($signers[0]->sign->code, 200, 'one has signed');
    my ($second) = is_state($made->{uuid}, 'signed by one', @pdfs);
    isnt($second->headers->etag, $headers->etag, 'it has another ETag now');
    my $html = { headers => { Accept => 'text/html' } };
    unlike($signers[0]->get('', %$html)->body, qr{/archive"}, 'the page offers no ZIP yet');
    is($signers[0]->state->{archive}, undef, 'nor does its JSON');
    is($signers[1]->sign->code, 200, 'both have signed');
    my ($third, $content) = is_state($made->{uuid}, 'completed', @pdfs, 'certificate.pdf');

    my $path = "/signatures/$made->{uuid}/archive";
    my $head = $client->head($path);
    is($head->headers->content_length, length $third->body, 'HEAD has the length');
    is($client->get($path, headers => { 'If-None-Match' => $third->headers->etag })->code, 304, 'If-None-Match');
    my $range = $client->get($path, headers => { Range => 'bytes=1000-70000' });
    is($range->code, 206, 'a range');
    ok($range->body eq substr($third->body, 1000, 69001), 'of its bytes');
    is_error($client->get("$path?x=1"), 400, qr/x/, 'an unknown parameter');

    for my $signer (@signers) {
        my $res = $signer->get('/archive');
        is($res->code, 200, 'a signer gets a ZIP');
        my ($names, $theirs) = read_zip($res->body);
        is_deeply($names, [@pdfs, 'certificate.pdf'], 'documents and certificate alone');
        ok($theirs->{$_} eq $content->{$_}, $_) for @$names;
        is($res->headers->content_disposition, $headers->content_disposition, 'with the same name');
        my $page = $signer->get('', %$html)->body;
        like($page, qr{href="[0-9a-f-]{36}/archive" download>.*Download everything \(ZIP\)}, 'the page offers it');
        is($signer->state->{archive}, "$signer->{link}/archive", 'and its JSON');
    }
    is($_->request(HEAD => '/archive')->code, 200, 'HEAD of a signer') for @signers;
};

subtest 'an upload that was rewritten' => sub {
    my $bytes = { repairable() }->{'no end'}->("zip $$");
    my $made  = $client->create(files => [['a.pdf', $bytes]])->json;
    my (undef, $content) = is_state($made->{uuid}, 'rewritten', 'documents/a.pdf', 'uploads/a.pdf');
    ok($content->{'uploads/a.pdf'} eq $bytes, 'the upload');
    ok($content->{'documents/a.pdf'} ne $bytes, 'the document');
};

# a server with other limits
my $httpd =
    Sigreq::Httpd->new(place => "Sigreq On\nSigreqMaxFiles 20\nSigreqMaxFileSize 120M\nSigreqMaxRequestSize 400M");
$httpd->start;
my $own = $client->with(base => $httpd->base);

subtest 'names' => sub {
    my @rows = (
        ['CON.pdf',          '_CON.pdf'],
        ['con',              '_con (2).pdf'],
        ['lease.pdf ',       'lease.pdf'],
        ['LEASE.PDF',        'LEASE (2).pdf'],
        ['a:b?.pdf',         'a_b_.pdf'],
        ['a*b|.pdf',         'a_b_ (2).pdf'],
        ['...',              'document.pdf'],
        ['.profile',         '_.profile.pdf'],
        ["Cafe\x{301}.pdf",  "Caf\x{e9}.pdf"],
        ["CAF\x{c9}.pdf",    "CAF\x{c9} (2).pdf"],
        ["\x{5951}\x{7d04}", "\x{5951}\x{7d04}.pdf"],
        ['x' x 240,          'x' x 184 . '.pdf'],
        ['-rf.pdf',          '-rf.pdf'],
    );
    my @files = map { [encode('UTF-8', $rows[$_][0]), pdf(nonce => "zip name $_ $$")] } 0 .. $#rows;
    my $field = Sigreq::Client::signers()->[0]{fields}[0];
    my $made  = $own->create(files => \@files, signers => Sigreq::Client::signers(
        { fields => [{ %$field, document => $rows[12][0] }] }));
    is($made->code, 201, 'documents with such names') or diag $made->body;
    my ($names, $content, $facts) = read_zip($own->get('/signatures/' . $made->json->{uuid} . '/archive')->body);
    is_deeply([grep {/documents/} @$names], [map {"documents/$_->[1]"} @rows], 'their names in the ZIP');
    is(!!$_->[3], $_->[0] =~ /[^\x00-\x7f]/, encode('UTF-8', "$_->[0]: the flag of UTF-8")) for @$facts;
    ok($content->{"documents/$rows[$_][1]"} eq $files[$_][1], "document $_") for 0 .. $#rows;
};

subtest 'rights' => sub {
    my $made = $client->create->json;
    my $path = "/signatures/$made->{uuid}/archive";
    is_error(organisation()->{test}->get($path), 404, 'Not found', 'another organisation');
    is_error($org->{live}->get($path), 404, 'Not found', 'another environment');
    is($client->with(token => 'x' x 40)->get($path)->code, 401, 'a wrong token');
    is($client->with(token => undef)->get($path)->code, 401, 'no token');
    is($client->get('/signatures/00000000-0000-4000-8000-000000000000/archive')->code, 404, 'no submission');
    is($client->post("/signatures/$made->{uuid}/cancel", json => {})->code, 200, 'cancelled');
    is_state($made->{uuid}, 'cancelled', 'documents/a.pdf');
    is($client->delete("/signatures/$made->{uuid}")->code, 204, 'deleted');
    is_error($client->get($path), 410, 'This submission was deleted', 'it is gone');
};

# --- large documents

my $HUGE    = 100 << 20;
my $huge    = [map { ["$_.pdf", pdf_of_size($HUGE, nonce => "zip huge $_ $$")] } 'a' .. 'c'];
my $res     = $own->create(files => $huge);
is($res->code, 201, '300 MB of documents') or BAIL_OUT($res->body);
my $large   = $res->json;
my $request = "GET /api/v3/signatures/$large->{uuid}/archive HTTP/1.1\r\nHost: 127.0.0.1:$httpd->{port}\r\n"
    . "Authorization: Bearer $client->{token}\r\nConnection: close\r\n\r\n";
undef $huge;

sub begun {    # a client that has sent its request and reads nothing
    my $raw = Sigreq::Raw->new($httpd->{port});
    $raw->send($request);
    wait_for(sub { $raw->has_answer }) or die "no answer\n";
    return $raw;
}

# Reads the rest to a file: its path and headers.
sub rest_of {
    my $raw  = shift;
    my $file = tempfile;
    my $out  = $file->open('>');
    while (sysread $raw->{socket}, my $bytes, 1 << 20) { syswrite $out, $bytes }
    close $out;
    my $head = '';
    my $in   = $file->open('<');
    { local $/ = "\r\n\r\n"; $head = <$in> }
    my $zip = tempfile;
    system("tail -c +@{[1 + length $head]} $file >$zip") == 0 or die "tail\n";
    return ($zip, $head);
}

sub descriptors {
    return scalar map { glob "/proc/$_/fd/*" } children($httpd->pid);
}

my @zips;
Sigreq::Memory::takes_little($httpd, '300 MB', sub { push @zips, rest_of(begun()) }, 20 * 1024);
is(-s $zips[0], ($zips[1] =~ /Content-Length: (\d+)/)[0], 'all of it has arrived');
my $facts = decode_json(output_of('python reads it', 'python3', '-c', $PYTHON, $zips[0]));
is_deeply([map { $_->[5] } @$facts[0 .. 2]], [($HUGE) x 3], 'three documents of 100 MB');

subtest 'clients that do not read, and clients that go away' => sub {
    my $before = descriptors();
    my @slow;
    Sigreq::Memory::takes_little($httpd, '12 slow clients', sub { push @slow, begun() for 1 .. 12 }, 32 * 1024);
    is($own->crowd->get("/signatures/$large->{uuid}")->code, 200, 'others are served meanwhile');
    $_->close for @slow;
    ok(wait_for(sub { descriptors() <= $before + 8 }), 'their descriptors are closed') or diag descriptors();
};

subtest 'a signature during the download' => sub {
    my $raw = begun();
    my ($signer) = signers_of($own->get("/signatures/$large->{uuid}")->json);
    my $before = $own->get("/signatures/$large->{uuid}/audit")->json->{events};
    is($signer->sign->code, 200, 'signed while the client reads');
    my ($zip) = rest_of($raw);
    my ($shown) = map { decode_json(Mojo::Util::b64_decode($_->[5])) } grep { $_->[0] eq 'audit.json' }
        @{ decode_json(output_of('python reads it', 'python3', '-c', $PYTHON, $zip)) };
    is_deeply($shown->{events}, $before, 'the events are those of before');
    ok(path($zip)->slurp eq path($zips[0])->slurp, 'and so is everything else');
    my ($after) = rest_of(begun());
    my @rows = @{ decode_json(output_of('python reads it', 'python3', '-c', $PYTHON, $after)) };
    cmp_ok($rows[0][5], '>', $HUGE, 'the next download has the signature');
    is($rows[3][0], 'certificate.pdf', 'and the certificate');
};

$httpd->stop;
done_testing;
