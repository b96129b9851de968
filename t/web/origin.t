# SPDX-License-Identifier: Apache-2.0
# The sites whose pages may sign: the Origin of browsers that send no Sec-Fetch-Site is compared by scheme, host and
# port, also with similar names.
use strict;
use warnings;
use utf8;
use Mojo::Util qw(decode encode);
use Sigreq::Here qw(organisation place suite is_error);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Mojo::JSON ();
use Sigreq::Signer 'signers_of';
use Sigreq::Validator;
use Test::More;

my $client = organisation()->{test};
my $made   = $client->create->json;
my ($ann)  = signers_of($made);
my $port   = suite->{port};

sub judged {    # nothing is signed: what is no action is refused after the origin
    my ($base, $origin, %headers) = @_;
    my $signer = Sigreq::Signer->new(link => "$base/sign/$made->{submitters}[0]{uuid}");
    return $signer->post(json => { action => 'none' }, headers => { Origin => $origin, %headers })->code;
}
my ($mine, $foreign) = (400, 403);

is(judged(place(), "http://127.0.0.1:$port"), $mine, 'the origin of the page');
is(judged(place(), 'null'),                   $mine, 'null is refused');
is(judged(place(), "http://127.0.0.1:$_"), $foreign, "another port of the same host: $_")
    for $port == 80 ? 81 : 80, $port + 1, '', 0;
is(judged(place(), 'http://127.0.0.1'),        $foreign, 'no port is port 80');
is(judged(place(), "https://127.0.0.1:$port"), $mine,    'https: TLS may end at a proxy');
is(judged(place(), $_),                        $foreign, "another origin: $_")
    for "http://evil.test:$port", "http://127.0.0.1.evil.test:$port", "http://evil.test/127.0.0.1:$port", '127.0.0.1',
    "ftp://127.0.0.1:$port", 'x', "http://evil.test:$port\@127.0.0.1";

my %proxied = (Host => 'sign.example.com');
is(judged(place(), 'https://sign.example.com',      %proxied), $mine,    'behind a proxy that keeps the host');
is(judged(place(), 'https://sign.example.com:443',  %proxied), $mine,    '443 is the port of https');
is(judged(place(), 'https://sign.example.com:8443', %proxied), $foreign, 'another port');

my $deep = place('/deep/er/place');    # SigreqBaseURL https://sign.example.org/e/
is(judged($deep, 'https://sign.example.org'),      $mine,    'the origin of SigreqBaseURL');
is(judged($deep, 'https://SIGN.example.org:443'),  $mine,    'in capitals, and with its port');
is(judged($deep, "http://127.0.0.1:$port"),        $mine,    'the host of the request');
is(judged($deep, $_),                              $foreign, "not: $_")
    for 'http://sign.example.org', 'https://sign.example.org:8443', 'https://example.org';

my $secure = Sigreq::Httpd->new(server => 'ServerName https://127.0.0.1')->start;    # what mod_ssl's requests are
is(judged($secure->base, 'https://127.0.0.1:' . $secure->{port}), $mine, 'by https: a page of https');
is(judged($secure->base, 'http://127.0.0.1:' . $secure->{port}), $foreign, 'by https: a page of http');

# --- names whose direction is turned

my $name = "invoice\x{202E}fdp.exe\x{2066}\x{200F}.pdf";
my @file = (encode('UTF-8', $name), pdf(nonce => 'bidi'));
my $bidi = $client->create(
    files => [\@file], name => encode('UTF-8', "Lease \x{202E}esael"),
    signers => Mojo::JSON::encode_json(
        Sigreq::Client::signers(
            { fields => [{ type => 'signature', name => 'S', document => $name,
                area => { x => 1, y => 1, w => 50, h => 20, page => 0 } }] })))->json;
is($bidi->{documents}[0]{name}, $name, 'the API shows the name unchanged');
my $path = "/signatures/$bidi->{uuid}/documents/$bidi->{documents}[0]{uuid}";
is($client->get($path)->headers->header('Content-Disposition'),
    q{attachment; filename="invoicefdp.exe.pdf"; filename*=UTF-8''invoicefdp.exe.pdf},
    'the name of a download has no marks of direction');
my ($signer) = signers_of($bidi);
my $page = decode('UTF-8', $signer->get('', headers => { Accept => 'text/html' })->body);
like($page, qr/invoicefdp\.exe\.pdf/, 'the page shows the name without marks of direction');
unlike($page, qr/[\x{202A}-\x{202E}\x{2066}\x{2067}\x{200E}\x{200F}\x{061C}]/,
    'nothing changes the direction of the page\'s text');
is($signer->sign->code, 200, 'the document can be signed');
my ($text) = Sigreq::Validator::text_of($client->get("/signatures/$bidi->{uuid}/certificate")->body);
like($text, qr/invoicefdp\.exe\.pdf/, 'the certificate of completion has the name without marks of direction');
done_testing;
