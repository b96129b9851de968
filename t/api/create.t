# SPDX-License-Identifier: Apache-2.0
# POST /signatures with valid requests: the answer is that of the contract, and later requests show the same.
use strict;
use warnings;
use utf8;
use Mojo::JSON qw(decode_json);
use Mojo::Util 'encode';
use Sigreq::Client;
use Sigreq::Here qw(organisation place used documents not_behind_firewall);
use Sigreq::PDF 'pdf';
use Sigreq::Preview;
use Test::More;

my $org   = organisation();
my $uuid4 = qr/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;

my $two = Sigreq::Client::signers({ email => 'ann@example.org' },
    { firstname => 'Zoë', lastname => '李', area => { page => 1, x => -5 } });
my $res = $org->{test}
    ->create(name => encode('UTF-8', 'Lease of flat 4 ✓'), files => [['a.pdf', pdf(pages => 2)]], signers => $two);
is($res->code, 201, 'created');
my $made = $res->json;
is($made->{name},           "Lease of flat 4 \x{2713}",                'the answer has the name');
is($res->headers->location, place("/api/v3/signatures/$made->{uuid}"), 'Location');
like($made->{uuid}, qr/^$uuid4$/, 'uuid v4');
is($made->{template}{name}, $made->{name}, 'the template has its name');
isnt($made->{template}{uuid}, $made->{uuid}, 'the template has its own uuid');
is_deeply($made->{createdBy}, { firstname => 'Kim', lastname => 'Roe', email => $org->{email} }, 'createdBy');
is($made->{createdAt},              $made->{updatedAt}, 'times');
is(scalar @{ $made->{submitters} }, 2,                  'the answer has all signers');
my ($ann, $zoe) = @{ $made->{submitters} };
is($ann->{email}, 'ann@example.org', 'email');
ok(!exists $zoe->{email}, 'a signer without an email has none in the answer');
is("$zoe->{firstname} $zoe->{lastname}", "Zo\xEB \x{674E}", 'names may be in any script');

for my $signer ($ann, $zoe) {
    is($signer->{status},        'sent',                         'status');
    is($signer->{signatureLink}, place("/sign/$signer->{uuid}"), 'signatureLink');
    is_deeply(
        [@{$signer}{qw(signedDocuments signerInformation completedAt openedAt refusedAt refusalReason)}],
        [(undef) x 6], 'no document is signed yet');
}
is($zoe->{fields}[0]{page}, 1, 'the field has its place');
is_deeply($zoe->{fields}[0]{rect}, [-5, 72, 175, 122], 'a field may be partly outside of the page');
is_deeply([map { @{$_}{qw(name size pages)} } @{ $made->{documents} }], ['a.pdf', length pdf(pages => 2), 2],
    'the answer has the document');

is($org->{test}->get("/signatures/$made->{uuid}")->body, $res->body, 'GET shows the same');
is_deeply(decode_json($org->{test}->get('/signatures')->body)->{data}, [decode_json($res->body)],
    'the list shows the same');
is($org->{test}->get('/signatures/' . uc $made->{uuid})->code, 200, 'a uuid in capitals is the same uuid');

subtest 'switches' => sub {
    for my $yes ('true', 'TRUE', '1') {
        my $link = $org->{test}->create(skipIntro => $yes)->json->{submitters}[0];
        is($link->{signatureLink}, place("/sign/$link->{uuid}?skipIntro=true"), "skipIntro $yes");
    }
    is($org->{test}->create(skipIntro => $_)->json('/submitters/0/signatureLink') =~ /skipIntro/ ? 1 : 0, 0,
        "skipIntro '$_'")
        for 'false', '', '0';
    my $mailed = Sigreq::Client::signers({ email => 'ann@example.org' });
    my $count = sub { scalar @{ $org->{test}->get('/signatures', query => { limit => 100 })->json->{data} } };
    my $before = $count->();
    my $refused = $org->{test}->create(sendEmail => 'true', signers => $mailed);
    is($refused->code, 503, 'sendEmail without a mail server is refused');
    like($refused->json->{message}, qr/^This service sends no mail/,
        'the message says that this service sends no mail');
    is($count->(), $before, 'nothing is created');
    is($org->{test}->create(sendEmail => 'false')->code,                    201, 'no sendEmail, no emails');
    is($org->{test}->create(signers   => Sigreq::Client::signers({ email => undef }))->code, 201,
        'a null email means no email');
};

subtest 'several documents' => sub {
    my @files   = map { ["doc $_.pdf", pdf(nonce => "$$ $_", pages => $_)] } 1 .. 3;
    my $signers = [
        map {
            +{  firstname => "S$_",
                lastname  => 'X',
                fields    => [
                    map {
                        +{  type     => 'signature',  name => "f$_",
                            document => "doc $_.pdf", area => { x => 1.5, y => 2.25, w => 10, h => 5, page => $_ - 1 } }
                    } 1 .. 3] }
        } 1 .. 4];
    my $many = $org->{test}->create(files => \@files, signers => $signers)->json;
    is_deeply([map { [@{$_}{qw(name pages)}] } @{ $many->{documents} }], [map { ["doc $_.pdf", $_] } 1 .. 3],
        'the documents are in their order');
    is(scalar(map { @{ $_->{fields} } } @{ $many->{submitters} }), 12, 'all fields are in the answer');
    my $twin = $org->{test}->create(
        files   => [['b.pdf', $files[0][1]], ['c.pdf', $files[0][1]]],
        signers => Sigreq::Client::signers(
            {   fields => [
                    {   type => 'signature', name => 'f', document => 'c.pdf',
                        area => { x => 0, y => 0, w => 1, h => 1, page => 0 } }] }));
    is($twin->code,                        201,                                'the same document under two names');
    is($twin->json('/documents/0/sha256'), $twin->json('/documents/1/sha256'), 'both documents have the same content');
};

subtest 'unknown parts and unusual forms' => sub {
    not_behind_firewall('it refuses unusual forms');
    is( $org->{test}->create(
            headers => {
                'Content-Type' => qq{Multipart/Form-Data; charset=utf-8; boundary="}
                    . Sigreq::Multipart::BOUNDARY() . '"' })->code,
        201,
        'type in capitals, quoted boundary');
    is( $org->{test}->create(
            more => [
                Sigreq::Multipart::part('unknown', 'x'),
                Sigreq::Multipart::part(
                    'other',             'y',
                    filename => 'x.bin', type => 'application/octet-stream')])->code,
        201,
        'unknown parts are ignored');
    is($org->{test}->create(files => [['a.pdf', pdf(), 'Application/PDF; charset=binary']])->code, 201,
        'the type may have parameters');
    is($org->{test}->create(files => [['a.pdf', ("j" x 4090) . "\n" . pdf()]])->code, 201,
        'the header of the PDF may be anywhere in the first 4,096 bytes');
};

subtest 'file names' => sub {
    my %sent = (
        '%22quoted%22.pdf' => '"quoted".pdf', 'C:\\dir\\x.pdf' => 'C:\\dir\\x.pdf', '../../etc/passwd.pdf' =>
            '../../etc/passwd.pdf', "\xE5\xA5\x91\xE7\xB4\x84.pdf" => "\x{5951}\x{7D04}.pdf",
        "caf\xC3\xA9 100%.pdf" => "caf\xE9 100%.pdf");
    for my $raw (sort keys %sent) {
        my $name    = $sent{$raw};
        my $signers = Sigreq::Client::signers();
        for my $document ($name, $raw) {
            my $text = $document;
            utf8::decode($text) if $document eq $raw && $text !~ /[^\0-\xFF]/;
            $signers->[0]{fields}[0]{document} = $text;
            my $answer = $org->{test}->create(files => [[$raw, pdf()]], signers => $signers);
            is($answer->code, 201, "the field may name it $text" =~ s/[^ -~]/?/gr) or diag $answer->body;
            is($answer->json('/documents/0/name'), $name, 'the name is shown decoded');
        }
    }
};

subtest 'composed and decomposed names' => sub {
    my ($composed, $decomposed) = ("\x{dc}bergabe.pdf", "U\x{308}bergabe.pdf");
    for my $pair ([$composed, $decomposed], [$decomposed, $composed]) {
        my ($file, $named) = @$pair;
        my $signers = Sigreq::Client::signers();
        $signers->[0]{fields}[0]{document} = $named;
        my $res = $org->{test}->create(files => [[encode('UTF-8', $file), pdf()]], signers => $signers);
        is($res->code, 201, 'a field may name a file in the other form') or diag $res->body;
        is($res->json('/submitters/0/fields/0/document'), $file, 'the name is shown as the file was sent');
    }
};

subtest 'the quota counts only production' => sub {
    is(used($org),                   0,   'test submissions do not count against the quota');
    is($org->{live}->create()->code, 201, 'a production submission');
    is(used($org),                   1,   'it counts against the quota');
};
done_testing;
