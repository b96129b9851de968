# SPDX-License-Identifier: Apache-2.0
# SigreqTrust: what POST /verify and the verification page say of signatures with and without timestamps, when the
# service knows the authorities, other authorities or none.
use strict;
use warnings;
use Mojo::File 'path';
use Mojo::UserAgent;
use Sigreq::Apart;
use Sigreq::Here      qw(suite signed);
use Sigreq::Httpd;
use Sigreq::Multipart qw(part multipart BOUNDARY);
use Sigreq::PDF       'pdf';
use Sigreq::PKI;
use Sigreq::Signer    qw(signers_of);
use Sigreq::TSA;
use Test::More;

my $apart = Sigreq::Apart->new;
my $pki   = Sigreq::PKI->new("$apart->{dir}/pki");
my $tsa   = Sigreq::TSA->new($pki, 'tsa1');
my $type  = 'multipart/form-data; boundary=' . BOUNDARY;
my $client;

sub file { qq{"@{[$pki->file($_[0])]}"} }
my $seal = "SigreqTestSealCertificate @{[file('seal-chain.crt')]}\nSigreqTestSealKey @{[file('seal.key')]}";

sub serve {    # more directives
    $client = $apart->serve(
        server => join("\n", $seal, 'SigreqTimestamp ' . $tsa->url,
            'SigreqTimestampAuthorities ' . file('authorities.crt'), @_),
        place => "Sigreq On\nSigreqVerifyPage On");
}

sub found {    # the signatures of a document
    my $res = $client->post('/verify', body => $_[0], headers => { 'Content-Type' => 'application/pdf' });
    is($res->code, 200, 'it is verified');
    return @{ $res->json->{signatures} };
}

sub words {    # of the verification page
    my $body = multipart(part('file', $_[0], filename => 'a.pdf', type => 'application/pdf'));
    my $url  = $client->{base} =~ s{/api/v3$}{}r . '/verify';
    my $res  = Mojo::UserAgent->new->post($url, { 'Content-Type' => $type }, $body)->res;
    return $res->dom->at('main')->all_text =~ s/[\x{2068}\x{2069}]//gr =~ s/\s+/ /gr;
}

serve('SigreqTrust ' . file('roots.crt'));
my $made = $client->create(files => [['a.pdf', pdf(nonce => "trust $$")]])->json;
is($_->post(json => { action => 'sign', consent => \1, signature => { type => 'typed', text => 'Ann' } })->code, 200,
    'signed')
    for signers_of($made);
my $stamped = $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body;
path("$apart->{dir}/seal.$_")->spurt(path($pki->file($_ eq 'crt' ? 'seal-chain.crt' : 'seal.key'))->slurp)
    for qw(crt key);
my $plain = signed(pdf(nonce => "plain $$"), $apart->{dir}, 'Ann');

subtest 'authorities' => sub {
    my ($one) = found($stamped);
    is_deeply([@$one{qw(kind state level trust distrust ours)}],
        ['signature', 'intact', 'B-T', 'trusted', undef, Mojo::JSON->true], 'a signature of the service');
    is_deeply([@{ $one->{timestamp} }{qw(state authority fault)}], ['valid', 'Test tsa1', undef], 'its timestamp');
    like($one->{timestamp}{time}, qr/^\d{4}-\d\d-\d\dT[\d:.]+Z\z/, 'its time');
    ok($one->{provenUntil} gt $one->{timestamp}{time}, 'it can be proved longer');
    like(words($stamped), qr/Confirmed time \d{4}-\d\d-\d\d \d\d:\d\d UTC Time confirmed by Test tsa1/,
        'the page has it');
    ($one) = found($plain);
    is_deeply([@$one{qw(level trust timestamp)}], ['B-B', 'trusted', undef], 'without a timestamp');
};
serve('SigreqTrust ' . file('tsaroot2.crt'));
subtest 'other authorities' => sub {
    my ($one) = found($stamped);
    is_deeply([@$one{qw(state level trust provenUntil)}], ['intact', 'B-T', 'untrusted', undef], 'a signature');
    ok($one->{distrust}, 'it is said why');
    is($one->{timestamp}{state}, 'untrusted', 'its timestamp');
    like(words($stamped), qr/does not trust the authority that made it/, 'the page says it');
    unlike(words($stamped), qr/Confirmed time/, 'the page shows no time of an untrusted timestamp');
};
serve();
subtest 'none' => sub {
    my ($one) = found($stamped);
    is_deeply([@$one{qw(state level trust distrust provenUntil)}], ['intact', 'B-T', 'unknown', undef, undef],
        'a signature');
    is($one->{timestamp}{state}, 'untrusted', 'its timestamp');
};
$apart->stop;

subtest 'a file that cannot be read' => sub {
    my $httpd = Sigreq::Httpd->new($apart->database, server => "SigreqTrust $apart->{dir}/none.crt");
    my $client = Sigreq::Here::client(base => $httpd->start->base);
    like($httpd->log, qr/:crit\].* SR0430: SigreqTrust: .*No such file.* answers 503 until/, 'httpd starts');
    my $health = $client->get('/health');
    is($health->code, 503, 'the service answers 503');
    is_deeply($health->json, { status => 'unavailable', disabled => 'SR0430' }, 'health has the tag of the reason');
    my $said = 'This service is unavailable (SR0430)';
    is($client->get('/signatures')->json('/message'), $said, 'other requests get the tag of the reason');
    my $page = Mojo::UserAgent->new->get($httpd->base . '/sign/' . 'a' x 36 => { Accept => 'text/html' })->res;
    is($page->code, 503, 'so does the signing page');
    like($page->body, qr/<html/, 'the signing page\'s 503 is a page');
    Sigreq::Suite::write_file("$apart->{dir}/none.crt", path($pki->file('root.crt'))->slurp);
    ok($httpd->graceful, 'the file is repaired, and httpd restarted');
    is($client->get('/health')->code, 200, 'the service works');
};
done_testing;
