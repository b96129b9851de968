# SPDX-License-Identifier: Apache-2.0
# A seal whose certificate was issued by an authority. pdfsig and openssl trust sealed documents if they trust the
# authority, and only then. mutool finds no changes.
use strict;
use warnings;
use File::Temp 'tempdir';
use Sigreq::Here qw(suite organisation);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Sigreq::Signer qw(signers_of is_unchanged);
use Sigreq::Validator qw(authority openssl pdfsig);
use Test::More;

my ($issuer, $stranger) = map { tempdir("$_.XXXXXX", DIR => suite->{dir}, CLEANUP => 1) } qw(issuer stranger);
authority($issuer, 'Our seal') or plan skip_all => 'openssl or certutil is not installed (libnss3-tools)';
authority($stranger, 'Another seal');
my @pairs  = map { Sigreq::Httpd::seal($_ => $issuer) } qw(SigreqSeal SigreqTestSeal);
my $httpd  = Sigreq::Httpd->new(seal => join("\n", @pairs), place => "Sigreq On\nSigreqAreaOrigin top-left")->start;
my $client = organisation(client => { base => $httpd->base })->{test};
my @people = ({}, { area => { y => 200 } });
my $upload = pdf(nonce => "trust $$");
my $made   = $client->create(files => [['a.pdf', $upload]], signers => Sigreq::Client::signers(@people))->json;
my @names  = ('Ann', 'Bob');
my $count  = 0;

for my $signer (signers_of($made)) {
    is($signer->sign($names[$count])->code, 200, "$names[$count] signs");
    $count++;
    my $bytes = $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body;
    my $told  = openssl($bytes, "$issuer/ca.crt");
    is_deeply([@$told{qw(signatures valid)}], [$count, $count], "openssl: $count trusted") or diag $told->{said};
    is(openssl($bytes, "$stranger/ca.crt")->{valid}, 0, 'openssl: nothing is trusted without this authority');
    is_unchanged($bytes, $count);
    next if $count > 1; # see Sigreq::Validator: pdfsig's doubts
    $told = pdfsig($bytes, "$issuer/nss");
    is_deeply([@$told{qw(signatures valid total trusted)}], [(1) x 4], 'pdfsig: trusted') or diag $told->{said};
    $told = pdfsig($bytes, "$stranger/nss");
    is_deeply([@$told{qw(signatures valid total trusted)}], [1, 1, 1, 0],
        'pdfsig: nothing is trusted without this authority') or diag $told->{said};
    my $changed = substr($bytes, 0, 200) . chr(1 ^ ord substr $bytes, 200, 1) . substr $bytes, 201;
    is(openssl($changed, "$issuer/ca.crt")->{valid}, 0, 'a changed document is not trusted');
}
done_testing;
