# SPDX-License-Identifier: Apache-2.0
# The certificate of the seal is replaced by the next one while documents are signed: no request fails, each signature
# is valid, and documents that the former certificate has sealed are still recognised.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File 'path';
use Sigreq::Here qw(suite signers wait_for organisation);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Sigreq::PKI;
use Sigreq::Signer 'signers_of';
use Test::More;

my $folder = tempdir('rotate.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $ctl    = suite->{source} . '/build/sigreqctl';

sub run { system(@_) == 0 or die "@_\n" }
sub openssl { system("openssl $_[0] >'$folder/said' 2>&1") == 0 or die "openssl $_[0]: " . path("$folder/said")->slurp }

openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=Authority -days 99 "
        . "-keyout $folder/ca.key -out $folder/ca.crt");

sub issue {    # signs a request, valid from and until so many seconds from now
    my ($request, $out, $from, $until) = @_;
    Sigreq::PKI::sign_request($folder, $request, $out, issuer => 'ca', from => $from, until => $until);
}

sub pair {    # a folder with a seal, and its directives
    my ($name) = @_;
    my $dir = "$folder/$name";
    run("$ctl seal create $dir --name '$name' >'$folder/said'");
    return ($dir, Sigreq::Httpd::seal(SigreqSeal => $dir));
}

sub prepare {    # the next certificate, by the commands for it
    my ($dir, $name) = @_;
    run("$ctl seal request $dir --name '$name' >'$folder/said'");
    issue("$dir/next.csr", "$folder/sent.crt", -60, 90 * 86400);
    run("$ctl seal import $dir $folder/sent.crt >'$folder/said'");
}

sub rotate { is(system("$ctl seal rotate $_[0] >'$folder/said'"), 0, 'seal rotate') }

sub fresh { $_[0]->create(files => [['a.pdf', pdf(nonce => rand)]])->json }
sub signer { (signers_of($_[0], connections => 0))[0] }
sub document { $_[0]->get("/signatures/$_[1]{uuid}/documents/$_[1]{documents}[0]{uuid}")->body }

sub signed_by {    # pdfsig: who has signed, or what is wrong
    my $file  = path("$folder/signed.pdf")->spurt($_[0]);
    my $said  = qx(pdfsig -nocert '$file' 2>&1);
    my @names = $said =~ /Signer Certificate Common Name: (.+)/g;
    my @valid = $said =~ /Signature Validation: (.+)/g;
    return join '+', map { $valid[$_] eq 'Signature is Valid.' ? $names[$_] : $valid[$_] } 0 .. $#names;
}

sub sealed {    # a new document that was signed: who has sealed it
    my ($client) = @_;
    my $made = fresh($client);
    my $code = signer($made)->sign->code;
    return $code == 200 ? signed_by(document($client, $made)) : $code;
}

subtest 'a rotation while documents are signed' => sub {
    my ($dir, $seal) = pair('Present');
    my $httpd  = Sigreq::Httpd->new(seal => $seal, children => 2)->start;
    my $client = organisation(client => { base => $httpd->base, connections => 0 })->{live};
    my (@made, %codes);
    my $round = sub {
        my @new     = map { fresh($client) } 1 .. 8;
        my @signers = map { signer($_) } @new;
        my $at      = 0;
        $codes{ $_->code }++ for $client->parallel(scalar @signers, 4, sub { $signers[$at++]->sign_p });
        push @made, @new;
    };
    $round->();
    prepare($dir, 'Next');
    ok($httpd->graceful, 'with a next certificate, a graceful restart');
    is(sealed($client), 'Present', 'the next certificate does not seal');
    rotate($dir);
    $round->();
    my $resumed = sub { scalar(() = $httpd->log =~ /resuming normal operations/g) };
    my $before  = $resumed->();
    kill USR1 => $httpd->pid;
    for (1 .. 100) { $round->(); last if $_ > 1 && $resumed->() > $before }
    ok(wait_for(sub { sealed($client) eq 'Next' }), 'after a graceful restart the next certificate seals');
    $round->();
    is_deeply([keys %codes], [200], scalar(@made) . ' documents are signed, no request fails') or diag explain \%codes;
    my @documents = map { document($client, $_) } @made;
    my %seen      = map { signed_by($_) => 1 } @documents;
    is_deeply([sort keys %seen], ['Next', 'Present'], 'pdfsig: all are valid, by one of the certificates');

    my $ours = sub {    # whether the service, and sigreqctl verify, recognise a document
        path("$folder/verified.pdf")->spurt($_[0]);
        my $helper = suite->{source} . '/build/sigreq-pdfd';
        my $found  = $client->post('/verify', body => $_[0], headers => { 'Content-Type' => 'application/pdf' })->json;
        my @words  = ("$folder/verified.pdf", '--certificate', "$dir/seal.crt", '--helper', $helper);
        my $said   = qx($ctl --json verify @words 2>/dev/null);
        return join ' ', map { $_->{signatures}[0]{ours} ? 'ours' : 'foreign' } $found, Mojo::JSON::decode_json($said);
    };
    my ($first, $last) = @documents[0, -1];
    is($ours->($first), 'ours ours', 'what the former certificate has sealed is still recognised');
    is($ours->($last),  'ours ours', 'what the present certificate has sealed is recognised');
    path("$dir/former/bad.crt")->spurt('no certificate');
    unlike($httpd->log, qr/SR0408/, 'no warning so far');
    ok($httpd->graceful, 'with a file in the folder former that is no certificate, a graceful restart');
    like($httpd->log, qr{:warn\].* SR0408: .*former/bad\.crt: it holds no certificate},
        'httpd warns of the file that is no certificate');
    is($ours->($first), 'ours ours', 'the other former certificates are read');
    unlink glob "$dir/former/*";
    ok($httpd->graceful, 'when the certificate is removed, after a graceful restart');
    is($ours->($first), 'foreign foreign', 'the removed certificate is not recognised any more');
};

subtest 'the signer process dies after a rotation' => sub {
    my ($dir, $seal) = pair('First');
    my $httpd  = Sigreq::Httpd->new(seal => $seal)->start;
    my $client = organisation(client => { base => $httpd->base, connections => 0 })->{live};
    prepare($dir, 'Second');
    rotate($dir);
    is(sealed($client), 'First', 'before a restart the signer process has the old key');
    kill KILL => signers($httpd->pid);
    ok(wait_for(sub { sealed($client) eq 'Second' }), 'another one has the new key, and children follow');
};

subtest 'an expired certificate is replaced' => sub {
    my ($dir, $seal) = pair('Old');
    path("$dir/seal.crt")->remove;
    openssl("req -new -key $dir/seal.key -subj /CN=Old -out $folder/old.csr");
    issue("$folder/old.csr", "$dir/seal.crt", -86400, -60);
    my $httpd = Sigreq::Httpd->new(seal => $seal);
    like(($httpd->test)[1], qr/SR0400: .*expired at .*cannot be signed/, 'httpd -t reports the expired certificate');
    prepare($dir, 'New');
    like(($httpd->test)[1], qr/SR0400: .*expired at .*cannot be signed/,
        'httpd -t reports the expired certificate although there is a next one');
    rotate($dir);
    unlike(($httpd->test)[1], qr/SR04/, 'httpd -t reports nothing after the rotation');
    $httpd->start;
    my $client = organisation(client => { base => $httpd->base, connections => 0 })->{live};
    is(sealed($client), 'New', 'a document is signed');
    unlike($httpd->log, qr/SR0402/, 'nothing ends soon');
};
done_testing;
