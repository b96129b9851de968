# SPDX-License-Identifier: Apache-2.0
# The administrator has configured mod_deflate, and mod_brotli if it is installed, for all answers. Compression, ETag
# and Vary stay those of the module, and nothing is compressed twice.
use strict;
use warnings;
use Compress::Zlib 'memGunzip';
use Mojo::UserAgent;
use Sigreq::Here   qw(organisation);
use Sigreq::Httpd;
use Sigreq::PDF    'pdf';
use Sigreq::Signer 'signers_of';
use Test::More;

my $lines   = join ' ', 'BT /F 10 Tf 20 700 Td', ('(a line of some words) Tj 0 -12 Td') x 30, 'ET';
my $content = { content => $lines };
my %accept  = ('Accept-Encoding' => 'gzip, deflate, br');
my $ua      = Mojo::UserAgent->new;

sub fetch {
    my ($method, $url, $headers, @body) = @_;
    my $tx = $ua->build_tx($method => $url, $headers, @body);
    $tx->res->content->auto_decompress(0);
    return $ua->start($tx)->res;
}

# Returns the status and the headers that matter for caches, without what an ETag says about the base URL, which differs
# here. Repeated headers are joined.
sub cached_by {
    my $res = shift;
    my %by  = map { ($_ => scalar $res->headers->header($_)) } qw(Content-Encoding Vary ETag Content-Type);
    $by{ETag} =~ s/^(W.*)-[0-9a-f]{8}"$/$1"/ if defined $by{ETag};
    return { %by, status => $res->code };
}

sub unpacked {
    my $res = shift;
    return ($res->headers->content_encoding // '') eq 'gzip' ? memGunzip($res->body) : $res->body;
}

my $has_brotli = -e '/usr/lib/apache2/modules/mod_brotli.so';
my $modules    = 'authz_core dbd deflate' . ($has_brotli ? ' brotli' : '');
my $filters    = $has_brotli ? 'BROTLI_COMPRESS;DEFLATE' : 'DEFLATE';
my $place      = "Sigreq On\nSigreqVerifyPage On";
my $other      = qq{</Location>\n<Location "/filtered">\n$place\nSetOutputFilter $filters};
my $httpd      = Sigreq::Httpd->new(modules => $modules, place => "$place\n$other")->start;
my ($plain, $filtered) = ($httpd->base, $httpd->base . '/filtered');
my $org        = organisation(client => { base => $plain, connections => 0 });
my $client     = $org->{test};
my $made       = $client->create(files => [['a.pdf', pdf(nonce => "deflate $$", pages => [$content])]])->json;
my ($ann)      = signers_of($made, connections => 0);
my $pages      = "$ann->{link}/documents/$made->{documents}[0]{uuid}/pages/0";
my $version    = "version=$made->{documents}[0]{sha256}";
my $bearer     = "Bearer $client->{token}";
my ($asset)    = unpacked(fetch(GET => $ann->{link}, { Accept => 'text/html' })) =~ m{src="(assets/[^"]+)"};
my %of         = (
    'the signing page'      => [$ann->{link},               { Accept => 'text/html' }],
    'its state'             => [$ann->{link},               { Accept => 'application/json' }],
    'its script'            => [$plain . "/sign/$asset"],
    'the text of a page'    => ["$pages.json?$version"],
    'the image of a page'   => ["$pages?width=400&$version"],
    'the verification page' => [$plain . '/verify',   { Accept => 'text/html' }],
    'a submission'          => [$plain . "/api/v3/signatures/$made->{uuid}", { Authorization => $bearer }],
    'a short answer'        => [$plain . '/api/v3/tokens/current', { Authorization => $bearer }],
    'an unknown link'       => [$ann->{link} =~ s/[0-9a-f]{12}$/000000000000/r, { Accept => 'text/html' }],
    'no such submission'    => [$plain . "/api/v3/signatures/x", { Authorization => $bearer }],
);
for my $what (sort keys %of) {
    subtest $what => sub {
        my ($url, $headers) = @{ $of{$what} };
        my $there = $url =~ s/^\Q$plain\E/$filtered/r;
        isnt($there, $url, 'the request is made where the filters are configured');
        for my $with ({%accept}, { 'Accept-Encoding' => 'gzip' }, { 'Accept-Encoding' => 'identity' }) {
            my @both = map { fetch(GET => $_, { %{ $headers // {} }, %$with }) } $url, $there;
            is_deeply(cached_by($both[1]), cached_by($both[0]), "the same headers for $with->{'Accept-Encoding'}");
            my ($own, $other) = map { unpacked($_) =~ s/\Q$filtered\E/$plain/gr } @both;
            ok($own eq $other, "the same content for $with->{'Accept-Encoding'}");
        }
        my %both = (%{ $headers // {} }, %accept);
        my $etag = fetch(GET => $there, \%both)->headers->etag or return;
        is(fetch(GET => $there, { %both, 'If-None-Match' => $etag })->code, 304, 'its ETag gives a 304');
    };
}

subtest 'a new token' => sub {
    my $body  = 'x' x 2000;
    my $token = fetch(POST => $filtered . '/api/v3/tokens', { Authorization => $bearer, %accept },
        json => { name => 'n', pad => $body });
    is($token->code, 201, 'created');
    is($token->headers->content_encoding, undef, 'is never compressed');
};
done_testing;
