# SPDX-License-Identifier: Apache-2.0
# An input filter that makes a body longer than its Content-Length: mod_deflate with the example of its manual. The body
# is read completely, or refused for its size after the filter.
use strict;
use warnings;
use IO::Compress::Gzip 'gzip';
use Mojo::JSON qw(encode_json decode_json);
use Sigreq::Here qw(organisation suite);
use Sigreq::Httpd;
use Sigreq::Signer 'signers_of';
use Test::More;

my %with   = (modules => 'authz_core dbd deflate', place => "Sigreq On\nSetInputFilter DEFLATE");
my $httpd  = Sigreq::Httpd->new(%with)->start;
my $org    = organisation(client => { base => $httpd->base, connections => 0 });
my $client = $org->{test};

# Makes a text of SIZE characters that gzip compresses about fifty times. mod_deflate refuses more than two hundred
# times.
sub text_of {
    my $size   = shift;
    my $random = sub { join '', map { chr(97 + rand 26) } 1 .. shift };
    return substr join('', map { $random->(10) . 'a' x 990 } 0 .. $size / 1000), 0, $size;
}

sub packed {
    my $text = encode_json(shift);
    gzip(\$text => \my $bytes) or die 'gzip failed';
    note(length($text) . ' bytes as ' . length $bytes);
    cmp_ok(length($text), '>', 20 * length $bytes, 'a compressed body is accepted');
    return (body => $bytes, headers => { 'Content-Encoding' => 'gzip', 'Content-Type' => 'application/json' });
}

sub link_of { return (signers_of($client->create->json, connections => 0))[0] }

for my $size (10_000, 60_000) {
    my $name = join '', map { chr(97 + rand 26) } 1 .. 60;
    my $res  = $client->post('/tokens', packed({ pad => text_of($size), name => $name }));
    is($res->code, 201, "a token, by $size bytes");
    is($res->json->{name}, $name, "the end of a body of $size bytes arrived");
}
is($client->post('/tokens', packed({ name => 'n', pad => text_of(70_000) }))->code, 413,
    'more than 64 KiB are refused');
is($client->post('/tokens', packed({ name => 'n', pad => text_of(5_000_000) }))->code, 413, 'much more is refused');

my %sign = %{ Sigreq::Signer::typed('Ann Lee') };
is(link_of()->post(packed({ %sign, pad => text_of($_) }))->code, 200, "signed by $_ bytes") for 10_000, 1_500_000;
is(link_of()->post(packed({ %sign, pad => text_of($_) }))->code, 413, "not by $_") for 2_200_000, 8_000_000;

my $form = 'action=sign&consent=yes&typed=Ann&pad=' . text_of(70_000);
gzip(\$form => \my $bytes) or die 'gzip failed';
my %form = ('Content-Encoding' => 'gzip', 'Content-Type' => 'application/x-www-form-urlencoded');
is(link_of()->post(body => $bytes, headers => \%form)->code, 413, 'a form of more than 64 KiB is accepted');
is($client->get('/health')->code, 200, 'the service works');
unlike($httpd->log, qr/exit signal/, 'no child has crashed');
done_testing;
