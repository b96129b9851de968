# SPDX-License-Identifier: Apache-2.0
# Own seals of organisations (SigreqOrganizationSeals) with SigreqSealAuthorities: the proofs of their chains are
# collected, are in their documents (B-LT) and archives (B-LTA), and a revocation stops only their own organisation.
use strict;
use warnings;
use File::Copy 'copy';
use File::Temp 'tempdir';
use Mojo::File 'path';
use Mojo::JSON 'decode_json';
use Sigreq::Here qw(suite wait_for organisation);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Sigreq::PKI;
use Sigreq::Responder;
use Sigreq::Signer 'signers_of';
use Sigreq::TSA;
use Test::More;

my $folder    = tempdir('ownproofs.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $responder = Sigreq::Responder->new("$folder/pki");
my $pki       = Sigreq::PKI->new("$folder/pki", http => $responder->http, ocsp => $responder->ocsp);
$pki->join_files('seal2-chain.crt', qw(seal2 ca));
$responder->set('age', 0);    # so that nobody waits for proofs that are newer than a signature
my $tsa = Sigreq::TSA->new($pki, 'tsa1');
my ($acme, $none) = map { organisation() } 1 .. 2;
my $seals = "$folder/seals";

sub pair {    # a folder with one of the seals of the authority
    my ($seal, $into) = @_;
    mkdir $into;
    return $pki->put_pair($seal, $into);
}

mkdir "$folder/proofs";
mkdir $seals;
pair('seal2', "$seals/$acme->{uuid}");
my %file   = map { $_ => '"' . $pki->file("$_.crt") . '"' } qw(root roots authorities);
my $server = join "\n", "SigreqSealAuthorities $file{root}", qq{SigreqProofs "$folder/proofs"},
    'SigreqProofsAllow 127.0.0.0/8', 'SigreqProofsRefresh 1s', 'SigreqTimestamp ' . $tsa->url,
    "SigreqTimestampAuthorities $file{authorities}", "SigreqTrust $file{roots}",
    qq{SigreqOrganizationSeals "$seals"},            qq{<Location "/metrics">\nSetHandler sigreq-metrics\n</Location>};
my $seal  = Sigreq::Httpd::seal(SigreqSeal => pair('seal', "$folder/service"));
my $documents = "$folder/documents";
mkdir $documents;
my $httpd = Sigreq::Httpd->new(server => $server, seal => $seal, documents => $documents)->start;

sub live    { return $_[0]{live}->with(base => $_[1]->base, connections => 0) }
sub anybody { Sigreq::Here::client(base => $httpd->base, connections => 0) }
sub health { my $res = eval { anybody()->get('/health?verbose') }; return $res ? $res->json : {} }
sub metric { anybody()->{ua}->get($httpd->base . '/metrics')->res->body =~ /^$_[0] (\d+)/m ? $1 : undef }
sub fresh {    # a busy machine may refuse a creation (503)
    my ($client) = @_;
    my $made;
    wait_for(sub { $made = $client->create(files => [['a.pdf', pdf(nonce => rand)]]); $made->code == 201 });
    return $made->json;
}

sub lines { my ($pattern) = @_; return grep {/$pattern/} split /\n/, $httpd->log }

sub signatures {    # of a document: name of the certificate, level, trust
    my ($client, $one) = @_;
    my $bytes = $client->get("/signatures/$one->{uuid}/documents/$one->{documents}[0]{uuid}")->body;
    my $found = $client->post('/verify', body => $bytes, headers => { 'Content-Type' => 'application/pdf' })->json;
    my @all   = @{ $found->{signatures} };
    return join ', ', map { join ' ', $_->{signer}{name}, $_->{level} // $_->{kind}, $_->{trust} } @all;
}

sub proofs_of {    # what is known of a seal
    my ($name) = @_;
    chomp(my $sha256 = lc qx(openssl x509 -in '@{[$pki->file("$name.crt")]}' -noout -fingerprint -sha256));
    $sha256 =~ s/.*=|://g;
    my $file = "$folder/proofs/$sha256.json";
    return -e $file ? decode_json(path($file)->slurp) : undef;
}

subtest 'B-LT' => sub {
    for my $name (qw(seal seal2)) {
        ok(wait_for(sub { my $set = proofs_of($name); $set && !$set->{missing} }), "the proofs of $name are complete");
    }
    my $client = live($acme, $httpd);
    is((signers_of(fresh($client)))[0]->sign->code, 200, 'a signature makes the timestamp authority known');
    ok(wait_for(sub { metric('sigreq_timestamp_proof_expiry_timestamp_seconds') }),
        'the proofs of the timestamp authority are collected');
    my $one;
    ok(wait_for(sub {    # a child lists the chains once a second
            $one = fresh($client);
            my $signed = (signers_of($one))[0]->sign->code == 200;
            return $signed && signatures($client, $one) eq 'Test seal2 B-LT trusted';
        }), 'signed by the own seal, with the proofs of its chain') or diag signatures($client, $one);
    my $service = live($none, $httpd);
    my $other;
    ok(wait_for(sub {    # by a child that has listed the chains
            $other = fresh($service);
            my $signed = (signers_of($other))[0]->sign->code == 200;
            return $signed && signatures($service, $other) eq 'Test seal B-LT trusted';
        }), 'another organisation: by the seal of the service, with its own proofs')
        or diag signatures($service, $other);
};

sub archive {    # sigreqctl archive of one submission: how many were archived
    my ($uuid) = @_;
    my @command = (
        suite->{source} . '/build/sigreqctl', '--driver', suite->{db}, '--params', suite->{params}, '--json',
        '--documents', $documents, 'archive', $uuid, '--timestamp', $tsa->url, '--authorities',
        $pki->file('authorities.crt'), '--proofs', "$folder/proofs", '--certificate', "$folder/service/seal.crt",
        '--seals', $seals, '--helper', suite->{source} . '/build/sigreq-pdfd');
    open my $pipe, '-|', @command or die "sigreqctl: $!\n";
    my $said = do { local $/ = undef; <$pipe> };
    return close $pipe ? decode_json($said)->{archived} : -1;
}

subtest 'B-LTA' => sub {
    my $client = live($acme, $httpd);
    my $one    = fresh($client);
    is((signers_of($one))[0]->sign->code, 200, 'signed');
    $responder->set('revoked', '');
    ok(wait_for(sub { archive($one->{uuid}) == 1 }), 'archived, with proofs that are newer');
    is(signatures($client, $one), 'Test seal2 B-LTA trusted, Test tsa1 timestamp trusted', 'the own seal is proved');
    $httpd->stop;
    $httpd = Sigreq::Httpd->new(
        documents => $documents, server => "$server\nSigreqLongTerm lta", seal => $seal)->start;
    $client = live($acme, $httpd);
    my $two = fresh($client);
    is((signers_of($two))[0]->sign->code, 200, 'signed');
    ok(wait_for(sub { signatures($client, $two) =~ /B-LTA/ }), 'httpd archives in the background');
    is(signatures($client, $two), 'Test seal2 B-LTA trusted, Test tsa1 timestamp trusted',
        'archiving in the background has the same result');
};

subtest 'revoked' => sub {
    my ($client, $other) = (live($acme, $httpd), live($none, $httpd));
    my ($one,    $two)   = (fresh($client),      fresh($other));
    $responder->set('revoked', 'seal2');
    ok(wait_for(sub { lines(':alert') }), 'the own seal is revoked: an alert');
    like((lines(':alert'))[0],
        qr/SR0421: the seal of organization $acme->{uuid}: .*"Test seal2" was revoked at/,
            'the alert says which seal is revoked');
    my $answer = (signers_of($one))[0]->sign;
    is($answer->code, 503, 'its documents are not sealed');
    ok($answer->headers->header('Retry-After'), 'the signer may try again');
    is((signers_of($two))[0]->sign->code, 200, 'those of others are');
    is(signatures($other, $two), 'Test seal B-LT trusted', 'the documents of others are sealed as before');
    is_deeply([health()->{seal}{status}, @{ health()->{organizationSeals} }{qw(ok revoked)}], ['ok', 0, 1], 'health');
    ok(wait_for(sub { (metric('sigreq_organization_seals_revoked') // 0) == 1 }), 'a metric counts the revoked seal');
    is(scalar(my @alerts = lines(':alert')), 1, 'there was one alert');
    $responder->set('revoked', '');
    ok(wait_for(sub { (signers_of($one))[0]->sign->code == 200 }), 'it is good again: the signer can sign');
    ok(wait_for(sub { lines(qr/SR0423: the seal of organization $acme->{uuid}: .*no longer revoked/) }),
        'the log says that the certificate is good again');
};

subtest 'a chain that ends elsewhere' => sub {
    system(suite->{source} . "/build/sigreqctl seal create $folder/self --name Self >$folder/said") == 0 or die;
    my $dir = "$seals/$none->{uuid}";
    mkdir $dir;
    copy("$folder/self/seal.$_", "$dir/seal.$_") or die for qw(crt key);
    my ($status, $said) = $httpd->test;
    is($status, 0, 'httpd -t accepts the configuration');
    like($said, qr/SR0440: .*$none->{uuid} .*its chain does not end at SigreqSealAuthorities/,
        'httpd -t says which chain has no authority');
    ok($httpd->graceful, 'httpd restarts');
    is((signers_of(fresh(live($none, $httpd))))[0]->sign->code, 503, 'its documents are not sealed');
    is((signers_of(fresh(live($acme, $httpd))))[0]->sign->code, 200, 'those of others are');
};
done_testing;
