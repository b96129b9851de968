# SPDX-License-Identifier: Apache-2.0
# Large requests of signers need little memory of a child: the signing page and the state of the largest submission,
# pages with a lot of text, images of pages, documents and the certificate. It uses its own httpd.
use strict;
use warnings;
use Sigreq::Client;
use Sigreq::Here qw(at_once organisation);
use Sigreq::Httpd;
use Sigreq::Memory;
use Sigreq::PDF qw(pdf pdf_of_size);
use Sigreq::Pages 'page_url';
use Sigreq::Signer 'signers_of';
use Test::More;

my $httpd  = Sigreq::Httpd->new(place => "Sigreq On\nSigreqMaxPages 500000")->start;
my $client = organisation()->{test}->with(base => $httpd->base);
my $field  = Sigreq::Client::signers()->[0]{fields}[0];
my $html   = { Accept => 'text/html', 'Accept-Language' => 'en' };

sub takes_little { return Sigreq::Memory::takes_little($httpd, @_) }

sub made {    # the signers of a new submission
    my $res = $client->create(@_);
    is($res->code, 201, 'created') or diag $res->body;
    return signers_of($res->json);
}

# A connection that is kept alive would hold up the end of the child.
sub alone { my $signer = shift; return Sigreq::Signer->new(link => $signer->{link}, connections => 0) }

# 20 documents, 1,000 fields with long names, so many pages that the HTML has only the first ones
my $documents = at_once(20);    # a helper with sanitizers has no time for more pages
my $bytes     = pdf(pages => 1000);
my @fields    = map { { %$field, document => $_ % $documents . '.pdf', name => sprintf '%0240d', $_ } } 1 .. 1000;
my ($much) = map { alone($_) } made(
    files   => [map { ["$_.pdf", $bytes] } 0 .. $documents - 1],
    signers => Sigreq::Client::signers({ fields => \@fields }));
takes_little('the signing page of 1,000 fields and 20,000 pages',
    sub { is($much->get('', headers => $html)->code, 200, 'is shown') });
takes_little('its state', sub { is(scalar @{ $much->state->{fields} }, 1000, 'has all fields') });

# a page of 300,000 words; one that is as large as an image can be
my $words = join "\n", 'BT /F 4 Tf 4 TL 10 780 Td', (map {"(@{[('word') x 100]}) '"} 1 .. 3000), 'ET';
my $noise = join "\n", map { sprintf '%.2f g %d %d 4 4 re f', rand, rand 612, rand 792 } 1 .. 20_000;
my @pages = ({ content => $words }, { content => $noise });
my ($wordy) = map { alone($_) } made(files => [['a.pdf', pdf(pages => \@pages)]]);
my $row = $wordy->state->{documents}[0];
takes_little(
    'the text of a page of 300,000 words',
    sub {
        my $res = $wordy->get(page_url($row, 0, 'json'));
        is($res->code, 200, length($res->body) . ' bytes of JSON');
    });
takes_little(
    'the largest image',
    sub {
        my $res = $wordy->get(page_url($row, 1, 'png', width => 4000));
        is($res->code, 200, length($res->body) . ' bytes of PNG');
    });

# a document of 60 MB, before and after it is signed
my ($large) = map { alone($_) } made(files => [['a.pdf', pdf_of_size(60 << 20)]]);
my $uuid = $large->state->{documents}[0]{uuid};
takes_little('60 MB, as uploaded', sub { is(length $large->get("/documents/$uuid")->body, 60 << 20, 'come whole') });
takes_little('60 MB, signed', sub { is($large->sign->code, 200, 'it is signed') });
takes_little(
    '60 MB, as signed',
    sub { cmp_ok(length $large->get("/documents/$uuid")->body, '>', 60 << 20, 'come whole, with the signature') });
takes_little('a part of it', sub {
        is($large->get("/documents/$uuid", headers => { Range => 'bytes=1000-40000000' })->code, 206, 'comes') });
takes_little('its certificate', sub { is($large->get('/certificate')->code, 200, 'comes') });
$httpd->stop;
done_testing;
