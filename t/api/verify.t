# SPDX-License-Identifier: Apache-2.0
# POST /verify: the signatures of any PDF, and whether the file is one of the caller's. The signed documents are made
# here by the engine, with the certificates of the suite and with others.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use File::Temp 'tempdir';
use Mojo::File 'path';
use Sigreq::Here      qw(suite place organisation signed children is_error nothing_happens);
use Sigreq::Httpd;
use Sigreq::Multipart qw(part multipart BOUNDARY);
use Sigreq::PDF       qw(pdf pdf_of_size turned);
use Sigreq::Raw;
use Sigreq::Signer 'signers_of';
use Test::More;

my $org      = organisation();
my $client   = $org->{test};
my $stranger = tempdir('stranger.XXXXXX', DIR => suite->{dir}, CLEANUP => 1) . '/pair';
system(suite->{source} . '/build/sigreqctl', 'seal', 'create', $stranger, '--name', 'Stranger', '--json') == 0 or die;
my ($live, $test) = map { suite->{dir} . "/$_" } qw(seal seal-test);

sub raw { my ($who, $bytes, %o) = @_; $who->post('/verify', body => $bytes, headers => type('application/pdf'), %o) }
sub type { return { 'Content-Type' => $_[0] } }

my $form = 'multipart/form-data; boundary=' . BOUNDARY;
sub form { my ($who, @parts) = @_; $who->post('/verify', body => multipart(@parts), headers => type($form)) }
sub file { part('file', $_[0], filename => $_[1] // 'a.pdf', type => $_[2] // 'application/pdf') }

sub is_like {    # some members of an answer
    my ($got, $wanted, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is_deeply({ map { $_ => $got->{$_} } keys %$wanted }, $wanted, $name);
}
my ($yes, $no) = (Mojo::JSON->true, Mojo::JSON->false);
my $unknown = { known => $no, submission => undef, document => undef };

my $plain = pdf(nonce => "verify $$");
my $ours  = signed($plain, $test, 'Ann Lee');
subtest 'signed by the engine' => sub {
    my $res = raw($client, $ours);
    is($res->code, 200, 'status');
    my $found = $res->json;
    is_like(
        $found,
        { conclusion => 'signed', sha256 => sha256_hex($ours), size => length $ours, %$unknown,
            reason => 'every signature is intact, and nothing was added after the last' },
        'the document');
    is(scalar @{ $found->{signatures} }, 1, 'one signature');
    is_like(
        $found->{signatures}[0],
        {   state  => 'intact', fault => undef, whole => $yes, covers => length $ours, laterUpdates => 0, ours => $yes,
            name   => 'Ann Lee', claimedAt => '2026-11-20T18:09:23.000Z', algorithm => 'P-256 with SHA-256',
            trust  => 'unknown', expired => $no },
        'the signature has its members');
    is($found->{signatures}[0]{signer}{name}, "Sigreq TEST \x{2014} not legally binding",
        'the signature has its certificate');
    is(form($client, file($ours))->body, $res->body, 'a form gets the same answer');
    is(form($client, part('note', 'x' x 9999), file($ours, 'ö.bin', 'application/octet-stream'))->body, $res->body,
        'a form has any file name, and other parts beside the file');
};
subtest 'signed by two signers' => sub {
    my $both  = signed($plain, $test, 'Ann', "Zo\xC3\xAB");
    my $found = raw($client, $both)->json;
    is_deeply([map { [@$_{qw(name state whole laterUpdates)}] } @{ $found->{signatures} }],
        [['Ann', 'intact', $no, 1], ["Zo\xEB", 'intact', $yes, 0]], 'the first does not cover the second');
    is($found->{conclusion}, 'signed', 'both signatures are intact');
};
subtest 'seals of the environments' => sub {
    my ($legal, $foreign) = map { signed($plain, $_, 'Ann') } $live, $stranger;
    my $one = sub { my $found = raw(@_)->json; [$found->{conclusion}, @{ $found->{signatures}[0] }{qw(state ours)}] };
    is_deeply($one->($org->{live}, $legal),   ['signed', 'intact', $yes], 'the seal, with a production token');
    is_deeply($one->($org->{live}, $ours),    ['signed', 'intact', $no],
        'a production token does not recognise the test seal');
    is_deeply($one->($client,      $legal),   ['signed', 'intact', $no],
        'a test token does not recognise the seal of production');
    is_deeply($one->($client,      $foreign), ['signed', 'intact', $no],  "a stranger's");
    is(raw($client, $foreign)->json('/signatures/0/signer/subject'), 'CN=Stranger',
        'the certificate of a stranger is shown');
};
subtest 'changed documents' => sub {
    (my $changed = $ours) =~ s/verify \w/verify x/ or die;
    my $found = raw($client, $changed)->json;
    is($found->{conclusion}, 'broken', 'a changed byte');
    is_like(
        $found->{signatures}[0],
        { state => 'broken', fault => 'the document is not the one that was signed', ours => $no, whole => $no },
        'a changed byte breaks the signature');
    $found = raw($client, "$ours% more\n")->json;
    is($found->{conclusion}, 'extended', 'something appended');
    is_like($found->{signatures}[0], { state => 'intact', whole => $no, ours => $yes, covers => length $ours },
        'something appended is not covered by the signature');
    my $start = $ours =~ /.*startxref\n(\d+)/s ? $1 : die;
    my $more  = length $ours;
    my $update = "9999 0 obj\n(x)\nendobj\n";
    my $xref  = $more + length $update;
    my $root  = $ours =~ m{.*/Root (\d+ 0 R)}s ? $1 : die;
    $update .= sprintf "xref\n9999 1\n%010d 00000 n \ntrailer\n<</Size 10000/Root $root/Prev $start>>\n"
        . "startxref\n$xref\n%%%%EOF\n", $more;
    my $one = raw($client, $ours . $update)->json('/signatures/0');
    is_like($one, { state => 'intact', whole => $no, laterUpdates => 1 }, 'a whole update appended');
};
subtest 'changed between two signatures' => sub {
    my $turned = turned($ours);
    local $ENV{SIGN_ALIAS} = 'm';
    my $found = raw($client, signed($turned, $stranger, 'Mallory'))->json;
    is($found->{conclusion}, 'changed', 'the conclusion');
    my $others = 'not all signatures are of this service';
    is($found->{reason},
        "$others; the document was changed between its signatures, in a way that they do not explain", 'the reason');
    is_deeply([map { [@$_{qw(state ours changes)}] } @{ $found->{signatures} }],
        [['intact', $yes, ['page 1: its size or rotation']], ['intact', $no, []]], 'what was changed');
    $found = raw($client, signed($ours, $stranger, 'Mallory'))->json;
    is_deeply([@$found{qw(conclusion reason)}],
        ['signed', "$others; every signature is intact, and nothing was added after the last"],
        'another signature is not a change');
};
subtest 'unsigned' => sub {
    my %none = (conclusion => 'unsigned', signatures => [], reason => 'it has no signatures', %$unknown);
    is_like(raw($client, $plain)->json, \%none, 'plain');
};
subtest 'a document of this service' => sub {
    my $made = $client->create(files => [['b.pdf', pdf(nonce => "b $$")], ['a.pdf', $plain]]);
    is($made->code, 201, 'a submission') or diag $made->body;
    my ($document) = grep { $_->{name} eq 'a.pdf' } @{ $made->json('/documents') };
    my %it = (known => $yes, submission => $made->json('/uuid'),
        document => { uuid => $document->{uuid}, name => 'a.pdf' });
    is_like(raw($client, $plain)->json, \%it, 'the upload is known');
    is_like(raw($client, $plain . "\n")->json, $unknown, 'the upload with another byte is not known');
    my $colleague = Sigreq::Here::user({ uuid => $org->{uuid}, name => $org->{name} });
    is_like(raw($_->[0], $plain)->json, $unknown, "to $_->[1] it is not known")
        for [$org->{live}, 'the other environment'], [$colleague->{test}, 'another user'],
        [organisation()->{test}, 'another organisation'];
};
subtest 'signed through a link' => sub {
    for my $who ($client, $org->{live}) {
        my $made = $who->create(
            files   => [['a.pdf', pdf(nonce => "link $$")]],
            signers => Sigreq::Client::signers({}, { firstname => 'Bob', area => { y => 200 } }))->json;
        my $path = "/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}";
        my @revisions = map { $_->sign('Ann'); $who->get($path)->body } signers_of($made);
        my %it = (known => $yes, submission => $made->{uuid},
            document => { uuid => $made->{documents}[0]{uuid}, name => 'a.pdf' });
        for my $i (0, 1) {
            my $found = raw($who, $revisions[$i])->json;
            is_like($found, { conclusion => 'signed', %it }, "revision $i is known");
            my @seals = map { [@$_{qw(state ours)}] } @{ $found->{signatures} };
            is_deeply(\@seals, [(['intact', $yes]) x ($i + 1)], "revision $i: all signatures are of this service");
            is($_->{contact}, "$org->{name}, submission $made->{uuid}",
                "revision $i: the signature says for whom") for @{ $found->{signatures} };
        }
        is_like(raw($who, "$revisions[1]\n")->json, { conclusion => 'extended', %$unknown },
            'a revision with appended bytes is not known');
        my $found = raw($who, $who->get("/signatures/$made->{uuid}/certificate")->body)->json;
        is_like($found, { conclusion => 'signed', %it, document => undef }, 'the certificate of completion is known');
        is($found->{signatures}[0]{ours}, $yes, 'the certificate of completion is sealed here');
        my $other = $who == $client ? $org->{live} : $client;
        is_like(raw($other, $revisions[1])->json, $unknown, 'the document is not known in the other environment');
        is_deeply(raw($other, $revisions[1])->json('/signatures/0/ours'), $no,
            'the other environment has another seal');
    }
};

# --- what is refused

my $small = $org->{test}->with(base => place('/small'));
my $large = pdf_of_size(65537, nonce => $$);
my $unreadable = 'The document cannot be verified: it is not a PDF, or is damaged beyond repair';
my $key        = '<' . '00' x 32 . '>';
my $encrypted  = pdf(trailer => "/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/O$key/U$key/P -4>>");
my $one        = 'Exactly 1 file must be provided';
nothing_happens($org, 'refusals', sub {
    is_error(raw($client, $_), 400, $unreadable, 'no PDF: ' . substr $_, 0, 9)
        for 'hello', '{}', "\0" x 300_000, "%PDF-1.7\n";
    # qpdf 12 finds the catalog in it, and qpdf 11 finds nothing without a trailer
    my $found = 'it is damaged, so that signatures in it may not be found';
    is_error(raw($client, substr $ours, 0, 500), 400, qr/\A(?:$unreadable|The document cannot be verified: $found)\z/,
        'the beginning of a document');
    is_error(raw($client, $encrypted), 400, 'The document cannot be verified: it is encrypted', 'encrypted');
    is_error(raw($client, ''), 400, $one, 'an empty body');
    is_error(form($client, part('note', 'x')), 400, $one, 'a form without a file');
    is_error(form($client, part('file', $ours)), 400, $one, 'a text called file');
    is_error(form($client, file('')), 400, $one, 'an empty file');
    is_error(form($client, file($ours), file($ours, 'b.pdf')), 400, $one, 'two files');
    my $half = substr multipart(file($ours)), 0, -20;
    is_error($client->post('/verify', body => $half, headers => type($form)), 400,
        'Malformed multipart body: it ends before its closing boundary', 'half a form');
    is_error($client->post('/verify', body => $half, headers => type('multipart/form-data')), 400,
        'Malformed multipart body: the Content-Type of the request has no boundary', 'no boundary');
    my $encoded = qq{Content-Disposition: form-data; name="file"; filename="a.pdf"\r\n}
        . 'Content-Transfer-Encoding: base64';
    is_error(form($client, part('file', 'x', headers => $encoded)), 400,
        'Content-Transfer-Encoding is not supported', 'an encoded part');
    is_error($client->post('/verify', body => $ours, headers => $_), 415,
        'Content-Type must be application/pdf or multipart/form-data', $_->{'Content-Type'} // 'no type')
        for {}, type('text/plain'), type('application/pdfx'), type('application/json');
    is_error(raw($client->with(token => $_), $ours), 401, 'User not founded for this API Token',
        'token ' . ($_ // 'none')) for undef, 'sigreq_test_x';
    is_error(raw($small, $large), 413, 'The request must be at most 65536 bytes', 'too large');
    is_error(form($small, file($large)), 413, 'A file must be at most 65536 bytes', 'too large a file');
    is_error(form($small, file('x'), part('note', 'x' x 140_000)), 413, 'The request must be at most 131072 bytes',
        'too large a form');
    is($small->get('/verify')->code, 405, 'GET');
    is(raw($small, pdf_of_size(65536))->code, 200, 'a file of the maximal size is accepted');
    is(raw($client, $ours)->code, 200, 'verifying stores nothing');
});
subtest 'chunked' => sub {
    my $raw = Sigreq::Raw->new(suite->{port});
    my $head = "POST /small/api/v3/verify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $client->{token}\r\n"
        . "Content-Type: application/pdf\r\nTransfer-Encoding: chunked\r\n\r\n";
    $raw->send($head . sprintf "%x\r\n%s\r\n0\r\n\r\n", length $ours, $ours);
    my $res = $raw->answer;
    is($res->json('/conclusion'), 'signed', 'read') or diag $res->body;
    $raw->send($head . sprintf "%x\r\n%s\r\n", length $large, $large);
    is($raw->answer->code, 413, 'or stopped on its way');
};
subtest 'a helper that does not work' => sub {
    my $httpd = Sigreq::Httpd->new(helper => '/bin/true')->start;
    my $res   = raw(Sigreq::Here::client(base => $httpd->base, token => $client->{token}), $ours);
    is($res->code, 503, 'a helper that dies is no result');
    ok($res->headers->header('Retry-After'), 'the 503 is temporary');
};
# A document with so many signatures, each of them so many bytes of small things that take OpenSSL far more memory.
sub tlv {
    my ($tag, $body) = @_;
    my $n = length $body;
    return chr($tag) . ($n < 128 ? chr $n : "\x83" . substr pack('N', $n), 1) . $body;
}

sub bloated {
    my ($count, $size) = @_;
    my $type = sub { tlv(6, pack 'H*', "2a864886f70d01070$_[0]") };
    my $list = tlv(0x31, tlv(0x30, tlv(6, '*')) x ($size / 5));
    my $data = tlv(0x30, tlv(2, "\1") . $list . tlv(0x30, $type->(1)) . tlv(0x31, ''));
    my $hex  = unpack 'H*', tlv(0x30, $type->(2) . tlv(0xa0, $data));
    my $dict = '/Type/Sig/Filter/Adobe.PPKLite/SubFilter/adbe.pkcs7.detached';
    my (@objects, @gaps, @offsets);
    my $fields = join ' ', map { 4 + 2 * $_ . ' 0 R' } 0 .. $count - 1;
    @objects = ("<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[$fields]/SigFlags 3>>>>",
        '<</Type/Pages/Count 1/Kids[3 0 R]>>', "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Annots[$fields]>>");
    for my $i (0 .. $count - 1) {
        push @objects, "<</Type/Annot/Subtype/Widget/FT/Sig/T(S$i)/F 132/Rect[0 0 0 0]/V " . (5 + 2 * $i) . ' 0 R>>',
            "<<$dict/ByteRange" . ' ' x 50 . "/Contents<$hex>>>";
    }
    my $pdf = "%PDF-1.7\n";
    for my $i (0 .. $#objects) {
        push @offsets, length $pdf;
        $pdf .= ($i + 1) . " 0 obj\n$objects[$i]\nendobj\n";
    }
    my $start = length $pdf;
    $pdf .= 'xref' . "\n0 " . (1 + @objects) . "\n0000000000 65535 f \n";
    $pdf .= join '', map { sprintf "%010d 00000 n \n", $_ } @offsets;
    $pdf .= 'trailer<</Root 1 0 R/Size ' . (1 + @objects) . ">>\nstartxref\n$start\n%%EOF\n";
    for (my $at = 0; ($at = index $pdf, '/ByteRange', $at) >= 0; $at++) {
        my $gap   = index($pdf, '<', $at);
        my $after = $gap + 2 + length $hex;
        my $range = "[0 $gap $after " . (length($pdf) - $after) . ']';
        substr $pdf, $at + 10, length $range, $range;
    }
    return $pdf;
}

subtest 'memory' => sub {
    plan skip_all => 'under a sanitizer it says nothing' if $ENV{ASAN_OPTIONS};
    my $httpd = Sigreq::Httpd->new(children => 1, mpm => 'event')->start;
    my $here  = Sigreq::Here::client(base => $httpd->base, token => $client->{token});
    raw($here, $ours);
    my $peak = sub { path('/proc/' . (children($httpd->pid))[0] . '/status')->slurp =~ /^VmHWM:\s+(\d+)/m ? $1 : die };
    my $before = $peak->();
    my $big    = signed(pdf_of_size(40 << 20), $stranger, 'Ann');
    my $found  = raw($here, $big)->json;
    is_like($found, { conclusion => 'signed', size => length $big }, '40 MiB');
    my $grown = $peak->() - $before;
    cmp_ok($grown, '<', 4096, "the child grew by $grown KiB");
    $found = raw($here, bloated(40, 700_000))->json;
    is_deeply(
        [map { $_->{fault} } @{ $found->{signatures} }[0, 1, 39]],
        ['it does not have exactly one signer', ('it is larger than what is checked here') x 2],
        '40 bloated signatures');
    $grown = $peak->() - $before;
    cmp_ok($grown, '<', 16 << 10, "the child grew by $grown KiB");
};
done_testing;
