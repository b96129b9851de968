# SPDX-License-Identifier: Apache-2.0
# Many pages. The HTML of the signing page has the first 50 pages and stays small, and the script gets the sizes of the
# others. A submission may have SigreqMaxPages pages.
use strict;
use warnings;
use Mojo::DOM;
use Mojo::JSON 'decode_json';
use Sigreq::Here qw(organisation is_text);
use Sigreq::Httpd;
use Sigreq::PDF    'pdf';
use Sigreq::Signer 'signers_of';
use Test::More;

# The helpers of one creation have 7 s.
plan skip_all => 'with sanitizers, reading so many pages takes longer than a creation may' if $ENV{SIGREQ_SANITIZE};

my $httpd = Sigreq::Httpd->new(place => "Sigreq On\nSigreqMaxPages 500000");
$httpd->start;
my $client = organisation()->{test}->with(base => $httpd->base);

sub html { $_[0]->get('', headers => { Accept => 'text/html' }) }

my $bytes = pdf(pages => 2000);
my @files = map { ["$_.pdf", $bytes] } 1 .. 20;
my $field = Sigreq::Client::signers()->[0]{fields}[0];
my $last  = { %$field, document => '20.pdf', area => { %{ $field->{area} }, page => 1999 } };
my $signers = Sigreq::Client::signers({ fields => [$last] });
my $res = $client->create(files => \@files, signers => $signers);
is($res->code, 201, '20 documents of 2,000 pages') or diag $res->body;
my ($signer) = signers_of($res->json);
my $page = html($signer);
is($page->code, 200, 'the page is sent');
cmp_ok(length $page->body, '<', 200_000, length($page->body) . ' bytes of HTML');
my $dom = Mojo::DOM->new($page->text);
is($dom->find('.page')->size,           50, 'the first 50 sheets');
is($dom->find('.document')->size,       20, 'the page has 20 documents');
is($dom->find('.rest a[download]')->size, 20, 'without the script, each document is a link');
my $state = decode_json($dom->at('main')->{'data-state'} =~ s/([^\x00-\x7f])/my $c = $1; utf8::encode($c); $c/ger);
is_deeply($state->{documents}[19]{sizes}, [[2000, 612, 792]], 'the script knows the sizes of all');

# pages of many sizes: only a limited number of sizes is in the HTML
my @mixed = map { { mediabox => [0, 0, 600 + $_ % 2, 800] } } 1 .. 5000;
$res = $client->create(files => [['a.pdf', pdf(pages => \@mixed)]]);
is($res->code, 201, '5,000 pages, no two neighbours of one size') or diag $res->body;
$page = html(signers_of($res->json));
cmp_ok(length $page->body, '<', 200_000, length($page->body) . ' bytes of HTML');
is(scalar @{ (signers_of($res->json))[0]->state->{documents}[0]{sizes} }, 5000, 'the JSON has all sizes');
$httpd->stop;

$httpd = Sigreq::Httpd->new(place => "Sigreq On\nSigreqMaxPages 30");
$httpd->start;
$client = organisation()->{test}->with(base => $httpd->base);
my @two = map { ["$_->[0].pdf", pdf(pages => $_->[1])] } ['a', 20], ['b', 11];
is_text($client->create(files => \@two), 400, 'All documents together must have at most 30 pages');
is($client->create(files => [$two[0], ['b.pdf', pdf(pages => 10)]])->code, 201, '30 pages');
$httpd->stop;
done_testing;
