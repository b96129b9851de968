# SPDX-License-Identifier: Apache-2.0
# SigreqLongTerm: with timestamps and proofs of revocation, each signature makes the document PAdES B-LT, in the update
# that is signed, and sigreqctl archive makes it B-LTA. Without complete proofs the signature is made all the same.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File 'path';
use Mojo::JSON 'decode_json';
use Sigreq::Here  qw(suite wait_for organisation);
use Sigreq::Httpd;
use Sigreq::Judge qw(java_judge pyhanko_judge);
use Sigreq::PDF   'pdf';
use Sigreq::PKI;
use Sigreq::Responder;
use Sigreq::Signer 'signers_of';
use Sigreq::TSA;
use Test::More;

my $folder    = tempdir('longterm.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $responder = Sigreq::Responder->new("$folder/pki");
my $pki       = Sigreq::PKI->new("$folder/pki", http => $responder->http, ocsp => $responder->ocsp);
$responder->set('age', 0);    # so that nobody waits for proofs that are newer than a signature
my $tsa       = Sigreq::TSA->new($pki, 'tsa1');
$pki->put_pair('seal', $folder);

my $count = 0;

sub httpd {    # with a folder of its own for proofs; more directives
    my $proofs = "$folder/proofs" . ++$count;
    mkdir $proofs;
    my %file = map { $_ => '"' . $pki->file("$_.crt") . '"' } qw(root roots authorities);
    my $server = join "\n", "SigreqSealAuthorities $file{root}", qq{SigreqProofs "$proofs"},
        'SigreqProofsAllow 127.0.0.0/8', 'SigreqTimestamp ' . $tsa->url,
        "SigreqTimestampAuthorities $file{authorities}", "SigreqTrust $file{roots}", @_,
        qq{<Location "/metrics">\nSetHandler sigreq-metrics\n</Location>};
    return Sigreq::Httpd->new(server => $server, seal => Sigreq::Httpd::seal(SigreqSeal => $folder))->start;
}

sub live   { organisation(client => { base => $_[0]->base, connections => 0 })->{live} }
sub anybody { Sigreq::Here::client(base => $_[0]->base, connections => 0) }

sub figure {
    my ($httpd, $pattern) = @_;
    return anybody($httpd)->{ua}->get($httpd->base . '/metrics')->res->body =~ $pattern ? $1 : undef;
}
sub unproven { figure($_[0], qr/^sigreq_seals_without_proofs_total\{environment="production"\} (\d+)/m) }
sub proven {
    my $health = eval { anybody($_[0])->get('/health', query => { verbose => '' }) };
    return $health && $health->json('/seal/provenUntil');
}

sub completed {    # a submission that both have signed: its document and certificate, after each signature
    my ($client, $nonce) = @_;
    my $people = Sigreq::Client::signers({}, { firstname => 'Bob', area => { y => 200 } });
    my $made   = $client->create(files => [['a.pdf', pdf(nonce => $nonce)]], signers => $people)->json;
    my $path   = "/signatures/$made->{uuid}";
    my @versions;
    for (signers_of($made)) {
        is($_->sign('Ann')->code, 200, 'signed');
        push @versions, $client->get("$path/documents/$made->{documents}[0]{uuid}")->body;
    }
    return (@versions, $client->get("$path/certificate")->body);
}

sub levels {    # of the signatures
    my ($client, $bytes) = @_;
    my $res = $client->post('/verify', body => $bytes, headers => { 'Content-Type' => 'application/pdf' });
    is($res->json->{conclusion}, 'signed', 'nothing follows the last signature');
    my @signatures = @{ $res->json->{signatures} };
    return join ' ', map { ($_->{state}, $_->{level} // $_->{kind}, $_->{trust}) } @signatures;
}

sub judged {    # by other programs; all: with document timestamps
    my ($bytes, $signatures, $all) = @_;
    my $file = path("$folder/judged.pdf")->spurt($bytes);
    my $said = `pdfsig -nocert $file 2>&1`;
    is(scalar(() = $said =~ /Signature is Valid/g), $signatures, "pdfsig: $signatures valid");
    like($said, qr/Total document signed(?!.*Not total)/s, 'the last signature covers the whole document') if !$all;
    is(system("qpdf --check $file >/dev/null 2>&1"), 0, 'qpdf');
    my $java = java_judge({ roots => $pki->file('roots.crt') }, "$file")->{$file}{signatures};
    is_deeply([map {"$_->{intact} $_->{chain}"} @$java], [('1 ok') x ($all // $signatures)], 'PDFBox and Bouncy Castle')
        or diag explain $java;
    my $hanko = pyhanko_judge($pki->file('roots.crt'), "$file");
    SKIP: {
        skip 'pyHanko is not here', 1 if !$hanko;
        my @signed = @{ $hanko->{$file}{signatures} }[0 .. $signatures - 1];
        is_deeply([map { ($_->{intact} && $_->{valid}) ? 1 : 0 } @signed], [(1) x $signatures], 'pyHanko');
    }
}

my $httpd = httpd();
ok(wait_for(sub { proven($httpd) }), 'the proofs of the seal are complete');
my $client = live($httpd);
completed($client, "first $$");    # whose timestamps make the chain of the authority known
ok(wait_for(sub { figure($httpd, qr/^(sigreq_timestamp_proof_expiry_timestamp_seconds \d{10})/m) }),
    'the metric has the proofs of the timestamp authority');
ok(wait_for(sub { levels($client, (completed($client, 'known ' . rand))[0]) eq 'intact B-LT trusted' }),
    'a child reads the proofs within a second');
my $unproven = unproven($httpd);    # those of signatures before that

subtest 'B-LT' => sub {
    my ($one, $two, $certificate) = completed($client, "lt $$");
    is(levels($client, $one), 'intact B-LT trusted', 'the first signature');
    is(levels($client, $two), join(' ', ('intact B-LT trusted') x 2), 'the second one');
    is(substr($two, 0, length $one), $one, 'the second signature is appended');
    my $dss = () = substr($two, length $one) =~ m{/DSS|/OCSPs|/CRLs}g;
    is($dss, 0, 'the second signature repeats no proof');
    is(levels($client, $certificate), 'intact B-LT trusted', 'the certificate of completion');
    judged($two, 2);
    judged($certificate, 1);
    is(unproven($httpd), $unproven, 'the metric says that none is missing');
};

sub archived {    # how many of one submission of the first httpd: 1 or 0
    my ($uuid, $proofs) = @_;
    my @command = (
        suite->{source} . '/build/sigreqctl', '--driver', suite->{db}, '--params', suite->{params}, '--json',
        '--documents',   "$httpd->{dir}/documents", 'archive', $uuid, '--timestamp', $tsa->url,
        '--authorities', $pki->file('authorities.crt'), '--proofs', $proofs, '--certificate', "$folder/seal.crt",
        '--helper', suite->{source} . '/build/sigreq-pdfd');
    open my $pipe, '-|', @command or die "sigreqctl: $!\n";
    my $said = do { local $/ = undef; <$pipe> };
    return close $pipe ? decode_json($said)->{archived} : -1;
}

subtest 'B-LTA' => sub {
    my $made = $client->create(files => [['a.pdf', pdf(nonce => "lta $$")]])->json;
    is((signers_of($made))[0]->sign('Ann')->code, 200, 'signed');
    is(archived($made->{uuid}, "$folder/proofs1"), 0, 'it waits for proofs that are newer than the signature');
    my $newer = httpd('SigreqProofsRefresh 1s');
    completed(live($newer), "newer $$");    # makes the authority known there
    ok(wait_for(sub { archived($made->{uuid}, "$folder/proofs$count") == 1 }), 'the newer proofs archive the document');
    my $document = $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body;
    is(levels($client, $document), 'intact B-LTA trusted intact timestamp trusted', 'with a document timestamp');
    judged($document, 1, 2);
    is(archived($made->{uuid}, "$folder/proofs$count"), 0, 'and then not again');
};

subtest 'off' => sub {
    my $plain = httpd('SigreqLongTerm off');
    ok(wait_for(sub { proven($plain) }), 'the proofs are complete');
    my ($one) = completed(live($plain), "off $$");
    unlike($one, qr{/DSS}, 'but they are not in the document');
    is(levels($client, $one), 'intact B-T trusted', 'a document without proofs is B-T');
    is(unproven($plain), 0, 'and none is missing');
};

subtest 'proofs are missing' => sub {
    $responder->set($_, 'none') for qw(ocsp crl);
    my $without = httpd();
    ok(wait_for(sub { $without->log =~ /SR0422: proofs of the seal/ }), 'the log says so');
    my ($one) = completed(live($without), "none $$");
    unlike($one, qr{/DSS}, 'the document has none');
    is(levels($client, $one), 'intact B-T trusted', 'a document without proofs is B-T');
    is(unproven($without), 3, 'the metric counts the documents and the certificate');
};

my ($status, $said) = Sigreq::Httpd->new(server => 'SigreqLongTerm perhaps')->test;
isnt($status, 0, 'httpd -t refuses another value');
like($said, qr/SigreqLongTerm must be off, lt or lta/, 'httpd -t says which values are right');
($status, $said) = Sigreq::Httpd->new(server => 'SigreqLongTerm lta')->test;
isnt($status, 0, 'lta without timestamps is refused');
like($said, qr/SigreqLongTerm lta needs SigreqTimestamp and SigreqSealAuthorities/, 'httpd -t says what lta needs');

done_testing;
