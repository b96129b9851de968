# SPDX-License-Identifier: Apache-2.0
# An object store that lies (t/tool/s3liar.py in front of OpenStack Swift), for each fault and for creating, showing,
# signing and downloading: what passes is repeated, what lasts is a 503 whose cause is in the log, and nothing wrong is
# ever stored, sealed or sent.
use strict;
use warnings;
use File::Path qw(make_path remove_tree);
use Sigreq::Apart;
use Sigreq::Here qw(suite wait_for);
use Sigreq::PDF 'pdf';
use Sigreq::S3;
use Sigreq::Signer qw(signers_of pdfsig);
use Test::More;

plan skip_all => $_ for grep {defined} Sigreq::S3::missing();

my $s3    = Sigreq::S3->new(dir => suite->{dir}, source => suite->{source});
my $lies  = $s3->liar(suite->{source});
my $apart = Sigreq::Apart->new;
my $cache = "$apart->{dir}/cache";
make_path($cache);
my $httpd  = $apart->httpd(documents => 's3://sigreq', server => $s3->directives($cache, endpoint => $lies));
my $client = $apart->client($httpd);
my $count  = 0;

sub create { my $bytes = shift; return $client->create(files => [['a.pdf', $bytes]]) }

# A submission that was created without a fault, and is in no cache: what a signer and a caller can do with it.
sub submission {
    my $bytes = pdf(nonce => join ' ', 'liar', $$, ++$count);
    my $made  = create($bytes)->json // die "no submission\n";
    remove_tree("$cache/sigreq");
    my ($signer) = signers_of($made);
    my $document = $made->{documents}[0]{uuid};
    return {
        bytes    => $bytes, signer => $signer,
        download => sub { $client->get("/signatures/$made->{uuid}/documents/$document") },
        show     => sub { $signer->get("/documents/$document/pages/0") },
        sign     => sub { $signer->sign } };
}

sub right {    # the document is there, as it was uploaded, with so many valid signatures
    my ($submission, $signatures, $what) = @_;
    my $res   = $submission->{download}->();
    my $start = substr $res->body, 0, length $submission->{bytes};
    ok($res->code == 200 && $start eq $submission->{bytes}, "$what: the document is right") or diag $res->code;
    is(pdfsig($res->body)->{valid}, $signatures, "$what: signatures") if $signatures;
}

sub passes {    # a fault that passes: every operation succeeds
    my ($fault, $times, $method, @operations) = @_;
    my $what = "$times times $fault";
    for my $operation (@operations) {
        my $submission = submission();
        my $bytes      = pdf(nonce => join ' ', 'new', $$, ++$count);
        $s3->arm($fault, $times, $method);
        my $res = $operation eq 'create' ? create($bytes) : $submission->{$operation}->();
        cmp_ok($s3->asked, '>', $times, "$what: $operation asked again");
        $s3->arm('', 0, 'any');
        is($res->code, $operation eq 'create' ? 201 : 200, "$what: $operation succeeds") or diag $httpd->log;
        right($submission, $operation eq 'sign' ? 1 : 0, "$what: after $operation");
    }
}

sub lasts {    # a fault that lasts: 503, the cause in the log, and everything works later
    my ($fault, $method, $cause, @operations) = @_;
    for my $operation (@operations) {
        my $submission = submission();
        my $log        = length $httpd->log;
        my $bytes      = pdf(nonce => join ' ', 'new', $$, ++$count);
        $s3->arm($fault, 99, $method);
        my $res = $operation eq 'create' ? create($bytes) : $submission->{$operation}->();
        $s3->arm('', 0, 'any');
        is($res->code, 503, "$fault: $operation is answered with 503") or diag $res->body;
        like(substr($httpd->log, $log), $cause, "$fault: the log says why") unless $operation eq 'show';
        my $again = $operation eq 'create' ? sub { create($bytes) } : $submission->{$operation};
        ok(wait_for(sub { $again->()->code =~ /^20[01]$/ }), "$fault: $operation succeeds later");
        right($submission, $operation eq 'sign' ? 1 : 0, "$fault: after $operation");
    }
}

my @all = qw(create show sign download);
passes($_, 2, 'any', @all) for qw(500 503 429 html reset ok200error);
passes($_, 2, 'GET', qw(show sign download)) for qw(cut short wrong late);
passes('lost', 1, 'PUT', qw(create sign));
passes('lie',  1, 'PUT', qw(create sign));
passes('stall', 1, 'any', qw(create download));
my $id = qr/\(request liar1\)/;
lasts('503',      'any', qr{s3://sigreq/\S+: 503[^\n]* $id, tried \d times},          @all);
lasts('denied',   'any', qr{s3://sigreq/\S+: 403[^\n]* $id},                          @all);
lasts('expired',  'any', qr{s3://sigreq/\S+: 400[^\n]* $id},                          @all);
lasts('redirect', 'any', qr{s3://sigreq/\S+: 307[^\n]* $id},                          @all);
lasts('region',   'PUT', qr{400 AuthorizationHeaderMalformed, the bucket's region is eu-central-1 $id},
    qw(create sign));
lasts('bucket',   'PUT', qr{404 NoSuchBucket[^\n]* $id},                              qw(create sign));
lasts('lie',      'PUT', qr{PUT s3://sigreq/\S+: the server said that it has stored}, qw(create sign));
lasts('wrong',    'GET', qr{the content's SHA-256 is [0-9a-f]{64}},                   qw(show sign download));
lasts('late',     'GET', qr{404 NoSuchKey[^\n]* $id},                                 qw(show sign download));
done_testing;
