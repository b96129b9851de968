# SPDX-License-Identifier: Apache-2.0
# Proofs of the seal's chain (SigreqSealAuthorities): one process of a machine fetches OCSP responses and CRLs, others
# read them; what lies is not taken; and a seal whose certificate is revoked seals nothing until it has another one.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File 'path';
use Mojo::JSON 'true';
use Sigreq::Here qw(suite children wait_for organisation);
use Sigreq::Httpd;
use Sigreq::PKI;
use Sigreq::Responder;
use Sigreq::Signer 'signers_of';
use Sigreq::TSA;
use Test::More;

my $folder    = tempdir('proofs.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $responder = Sigreq::Responder->new("$folder/pki");
my $pki       = Sigreq::PKI->new("$folder/pki", http => $responder->http, ocsp => $responder->ocsp);
$pki->join_files('seal2-chain.crt', qw(seal2 ca));

my $count = 0;

sub pair {    # a folder with one of the seals
    my ($seal, $into) = @_;
    $into //= "$folder/pair" . ++$count;
    mkdir $into;
    return $pki->put_pair($seal, $into);
}

sub directives {    # with a folder of its own for proofs
    my (%o) = @_;
    my $proofs = $o{folder} // "$folder/proofs" . ++$count;
    mkdir $proofs;
    my $refresh = $o{refresh} ? "SigreqProofsRefresh $o{refresh}\n" : '';
    my $allow   = $o{allow} // '127.0.0.0/8';
    return qq{SigreqSealAuthorities "}
        . $pki->file($o{anchors} // 'root.crt')
        . qq{"\nSigreqProofs "$proofs"\nSigreqProofsAllow $allow\n$refresh}
        . qq{<Location "/metrics">\nSetHandler sigreq-metrics\n</Location>};
}

sub httpd {
    my (%o) = @_;
    my $pair = $o{pair} // pair('seal');
    return Sigreq::Httpd->new(server => directives(%o), seal => Sigreq::Httpd::seal(SigreqSeal => $pair),
        children => $o{children} // 1)->start;
}

sub seal_of {    # the state of the seal, as ?verbose says it
    my ($httpd) = @_;
    my $client = Sigreq::Here::client(base => $httpd->base, connections => 0);
    return $client->get('/health', query => { verbose => '' })->json('/seal');
}
sub proven { my $seal = eval { seal_of($_[0]) }; return $seal && $seal->{provenUntil} }
sub asked { my $count = $responder->count; return $count->{ocsp} + $count->{crl} }
sub lines { my ($httpd, $pattern) = @_; return grep {/$pattern/} split /\n/, $httpd->log }

sub behave {     # sets how the responder behaves; what is not given is as it should be
    my %o = (ocsp => 'ok', crl => 'ok', revoked => '', 'ocsp-life' => 3600, 'crl-life' => 7200, @_);
    $responder->set($_, $o{$_}) for sort keys %o;
    return;
}

subtest 'the configuration' => sub {
    my $seal  = Sigreq::Httpd::seal(SigreqSeal => pair('seal'));
    my $roots = $pki->file('root.crt');
    my $named = qq{SigreqSealAuthorities "$roots"};
    my @wrong = (
        ['a missing file', qq{SigreqSealAuthorities "$folder/none"\nSigreqProofs "$folder"},
            qr/SigreqSealAuthorities: \S+none: No such/],
        ['no folder',         $named,                                   qr/SigreqSealAuthorities needs SigreqProofs/],
        ['a missing folder',  qq{$named\nSigreqProofs "$folder/none"},  qr/SigreqProofs \S+none: httpd's user cannot/],
        ['other authorities', directives(anchors => 'tsaroot2.crt'),    qr/SigreqSealCertificate: its chain does not/],
    );
    for my $row (@wrong) {
        my ($name, $server, $expected) = @$row;
        my ($status, $said) = Sigreq::Httpd->new(server => $server, seal => $seal)->test;
        $name eq 'no folder' ? isnt($status, 0, "$name: httpd -t refuses") : is($status, 0, "$name: httpd -t");
        like($said, qr/SR0420: $expected/, "$name: httpd -t says why");
    }
    my ($status, $said) = Sigreq::Httpd->new(server => directives(), seal => $seal)->test;
    is($status, 0, 'everything is there') or diag $said;
    is(asked(), 0, 'httpd -t asks nobody');
};

subtest 'without SigreqSealAuthorities' => sub {
    my $httpd = Sigreq::Httpd->new(seal => Sigreq::Httpd::seal(SigreqSeal => pair('seal')))->start;
    my $seal  = seal_of($httpd);
    is($seal->{status}, 'ok', 'health says that the seal works');
    ok(!exists $seal->{provenUntil}, 'health says nothing of proofs');
    is(asked(), 0, 'nobody is asked');
};

subtest 'one child fetches' => sub {
    behave();
    my $httpd = httpd(children => 2);
    ok(wait_for(sub { proven($httpd) }), 'the proofs are complete');
    is_deeply($responder->count, { ocsp => 1, crl => 1 }, 'of two children one has fetched each proof once');
    like(proven($httpd), qr/^\d{4}-\d\d-\d\dT/, 'health says until when');
    my $client = Sigreq::Here::client(base => $httpd->base, connections => 0);
    like($client->{ua}->get($httpd->base . '/metrics')->res->body,
        qr/^sigreq_proof_expiry_timestamp_seconds\{environment="production"\} \d{10}/m,
            'a metric has the expiry of the proofs');
    ok(!lines($httpd, ':alert'), 'nothing is alarming');
    my $proofs = $httpd->{server} =~ /SigreqProofs "(\S+)"/ ? $1 : die;
    is(scalar(grep {/\.der$/} path($proofs)->list->each), 2, 'they are files');
    $httpd->graceful;
    ok(wait_for(sub { proven($httpd) }), 'after a restart they are complete');
    is(asked(), 0, 'no proof is fetched again after the restart');
};

subtest 'the responder ends, and the process that fetches' => sub {
    behave();
    my $httpd  = httpd(children => 2, refresh => '1s');
    my $client = organisation(client => { base => $httpd->base, connections => 0 })->{live};
    ok(wait_for(sub { proven($httpd) }), 'the proofs are complete');
    asked();
    for my $child (children($httpd->pid)) {
        kill KILL => $child;
        ok(wait_for(sub { !kill 0, $child }), 'a child is killed');
        asked();
        ok(wait_for(sub { asked() }), 'fetching goes on after a child was killed');
    }
    behave(ocsp => 'none', crl => 'none');
    asked();
    ok(wait_for(sub { asked() }), 'the responder does not answer');
    ok(proven($httpd), 'the old proofs serve');
    my $made = $client->create->json;
    is((signers_of($made))[0]->sign('Ann')->code, 200, 'documents are signed with the old proofs');
};

subtest 'strangers' => sub {
    behave();
    asked();
    my $httpd = httpd(allow => 'none');
    ok(wait_for(sub { lines($httpd, qr/SR0422: proofs of the seal: .*its address is loopback/) }),
        'a private address is not called, and the log says so');
    is(asked(), 0, 'nobody was asked');
    is(proven($httpd), undef, 'nothing is proven');
    is(seal_of($httpd)->{status}, 'ok', 'that nothing is known is no revocation');
};

subtest 'lies' => sub {
    my @lies = (
        [ocsp => 'unknown'], [ocsp => 'stale'], [ocsp => 'endless'], [ocsp => 'foreign'], [ocsp => 'serial'],
        [crl => 'delta'], [crl => 'scope'], [crl => 'stale'], [crl => 'foreign'], [crl => 'large'],
    );
    behave(@{ $lies[0] }, crl => 'none');
    my $httpd = httpd(refresh => '1s');
    for my $lie (@lies) {
        behave(ocsp => 'none', crl => 'none', @$lie);
        $responder->count;
        my %asked = (ocsp => 0, crl => 0);
        my $twice = sub {
            my $more = $responder->count;
            $asked{$_} += $more->{$_} for keys %asked;
            return $asked{ $lie->[0] } >= 3;
        };
        ok(wait_for($twice), "@$lie: it is asked for");
        is(proven($httpd), undef, "@$lie: the response is not accepted");
    }
    behave();
    ok(wait_for(sub { proven($httpd) }), 'the truth is');
};

subtest 'timestamp authorities' => sub {
    behave();
    my $tsa   = Sigreq::TSA->new($pki, 'tsa1');
    my $roots = $pki->file('authorities.crt');
    my $stamp = 'SigreqTimestamp ' . $tsa->url . qq{\nSigreqTimestampAuthorities "$roots"};
    my $httpd = Sigreq::Httpd->new(server => directives() . "\n$stamp",
        seal => Sigreq::Httpd::seal(SigreqSeal => pair('seal')))->start;
    ok(wait_for(sub { proven($httpd) }), 'the proofs of the seal are complete');
    my $client = organisation(client => { base => $httpd->base, connections => 0 })->{live};
    my $figure = sub { $client->{ua}->get($httpd->base . '/metrics')->res->body =~ $_[0] };
    my $ends   = qr/^sigreq_timestamp_proof_expiry_timestamp_seconds \d{10}/m;
    ok(!$figure->($ends), 'those of an authority that has made no timestamp are not collected');
    asked();
    is((signers_of($client->create->json))[0]->sign('Ann')->code, 200, 'a signature with a timestamp');
    ok(wait_for(sub { $figure->($ends) }), 'the proofs of the timestamp authority are complete after a signature');
    is_deeply($responder->count, { ocsp => 0, crl => 1 }, 'each once');
    is((signers_of($client->create->json))[0]->sign('Bob')->code, 200, 'another signature');
    is(asked(), 0, 'another signature needs no more proofs');
};

subtest 'revocation' => sub {
    behave();
    my $pair   = pair('seal');
    my $proofs = "$folder/revocation";
    my $httpd  = httpd(pair => $pair, refresh => '1s', folder => $proofs, children => 2);
    my $client = organisation(client => { base => $httpd->base, connections => 0 })->{live};
    ok(wait_for(sub { proven($httpd) }), 'the proofs are complete');
    my $made = $client->create(signers => $client->signers({}, { firstname => 'Bob', area => { y => 200 } }))->json;
    my ($ann, $bob) = signers_of($made);
    is($ann->sign('Ann')->code, 200, 'the first signer signs');
    my $document = "/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}";
    my $first    = $client->get($document)->body;

    behave(revoked => 'seal');
    ok(wait_for(sub { lines($httpd, ':alert') }), 'the certificate is revoked: an alert');
    for (1 .. 3) {
        my $res = $bob->sign('Bob');
        is($res->code, 503, 'the second signer gets 503');
        ok($res->headers->header('Retry-After'), 'the second signer may try again');
    }
    like((lines($httpd, ':alert'))[0], qr/SR0421: the seal of production: .*"Test seal" was revoked at .*keyCompromise/,
        'the alert says what and why');
    is($client->get($document)->body, $first, 'nothing is stored');
    is($client->get("/signatures/$made->{uuid}")->json('/submitters/1/status'),
        $made->{submitters}[1]{status}, 'the second signer is as before');
    is(seal_of($httpd)->{status}, 'revoked', 'health says so');
    my $metrics = $client->{ua}->get($httpd->base . '/metrics')->res->body;
    like($metrics, qr/^sigreq_seal_revoked\{environment="production"\} 1$/m, 'a metric says that the seal is revoked');
    my $found = $client->post('/verify', body => $first, headers => { 'Content-Type' => 'application/pdf' })->json;
    is($found->{signatures}[0]{ours}, true, 'what the first signer has signed stays intact');

    behave(ocsp => 'none', crl => 'none');
    asked();
    ok(wait_for(sub { asked() }), 'the responder ends');
    is($bob->sign('Bob')->code, 503, 'the revocation stays known without the responder');
    is(scalar(my @alerts = lines($httpd, ':alert')), 1, 'there was one alert');
    my $test = $client->with(token => organisation(client => { base => $httpd->base })->{test}{token});
    is((signers_of($test->create->json))[0]->sign('Eve')->code, 200, 'the seal of the test environment works');
    $httpd->graceful;
    ok(wait_for(sub { eval { $bob->sign('Bob')->code == 503 } }), 'after a restart, too');

    behave(revoked => 'seal');
    pair('seal2', $pair);
    ok($httpd->graceful, 'a restart with another certificate');
    ok(wait_for(sub { eval { $bob->sign('Bob')->code == 200 } }), 'the second signer signs with the other certificate');
    ok(wait_for(sub { (seal_of($httpd)->{status} // '') eq 'ok' }), 'health says that all is well');
};

done_testing;
