# SPDX-License-Identifier: Apache-2.0
# Proofs that were made before a signature, proofs that were made after it, or both: what other programs say of the
# documents years later, when the certificates of seal, OCSP responder and first timestamp authority have ended. Two
# signers between whom the certificate of the seal is revoked: what the first one signed stays valid. httpd signs, and
# sigreqctl archive renews with another clock.
use strict;
use warnings;
use Sigreq::Clock qw(clock_missing);
use Sigreq::Here  qw(suite wait_for);
use Sigreq::PDF   'pdf';
use Sigreq::Signer 'signers_of';
use Sigreq::Years;
use Test::More;

plan skip_all => 'once is enough: other programs judge documents' if suite->{db} ne 'sqlite3';
plan skip_all => clock_missing() if clock_missing();

my $DAY   = 1 / 365.25;
my $years = Sigreq::Years->new;
my $client;

sub made {
    my @people = @_ ? @_ : {};
    return $client->create(files => [['a.pdf', pdf(nonce => rand)]], signers => Sigreq::Client::signers(@people))
        ->json;
}

sub completed {
    my $made = made();
    is($_->sign->code, 200, 'signed today') for signers_of($made);
    return $made;
}

sub seal_proofs {
    return wait_for(sub { $client->get('/health', query => { verbose => '' })->json('/seal/provenUntil') });
}

# What is said of a document after so many years, by PDFBox and by pyHanko: PADES_LT and PADES_LTA, and EN 319 102-1 if
# `ades` is given.
sub is_said {
    my ($name, $document, $at, $java, $lta, %o) = @_;
    like(($years->java($at, $document))[0], $java, "$name: PDFBox");
    my $said = $years->pyhanko($document, $at, ades => exists $o{ades}, crls => $o{crls} // ['tsaroot2', 'root']);
    SKIP: {
        skip 'pyHanko is not here', 1 if !defined $said;
        is($said, "PADES_LT $lta, PADES_LTA $lta" . (exists $o{ades} ? ", AdES $o{ades}" : ''), "$name: pyHanko");
    }
    return;
}
my $VALID   = qr/^signature 1 ok(?:, (?:signature|timestamp) 1 ok)*$/;
my $INVALID = qr/Exception/;

# The seal and the responder end after two years; the first authority after two and a half. It has another root than the
# next ones, because pyHanko would use a CRL of its issuer of today for it, which says nothing of it any more.
$years->authority(first  => 0,   2.5, issuer => 'tsaroot1');
$years->authority(second => 1.5, 12);
$years->authority(third  => 8,   29.5);
$years->seal('seal');

subtest 'before the signature, after it, or both' => sub {
    my %made;
    $years->begin(0, 'first');
    $years->responder->set(@$_) for ['ocsp-life', 10 * 86_400], ['crl-life', 20 * 86_400];
    $client = $years->serve('SigreqLongTerm lt');
    ok(seal_proofs(), 'there are proofs of the seal');
    completed();
    ok($years->has_proofs, 'there are proofs of the authority');
    ok($years->collect('seal'), 'the proofs of the seal are collected here');
    sleep 1;    # a child lists the chains once a second
    $made{$_} = completed() for qw(early both forgotten);
    $client = $years->serve('SigreqLongTerm off');
    $made{$_} = completed() for qw(later ending);
    unlike($years->document($made{$_}), qr{/DSS}, 'a document without proofs') for qw(later ending);
    like($years->document($made{early}), qr{/DSS}, 'the document has proofs from before the signature');

    is($years->archive($_->{uuid}, seal => 'seal'), 0, 'these proofs are not newer than a signature') for values %made;
    $years->begin(1.1 * $DAY, 'first');
    $years->responder->set('ocsp-life', 10 * 86_400);
    is($years->archive($made{early}{uuid}, seal => 'seal'), 1, 'archived a day later with the proofs that there are');
    $years->responder->set('crl-life', 1800);
    ok($years->collect('seal'), 'newer proofs are collected');
    is($years->archive($made{ending}{uuid}, seal => 'seal'), 1, 'archived with a CRL that ends before the OCSP answer');
    $years->responder->set('crl-life', 20 * 86_400);
    $years->responder->count;
    sleep 2;    # no proof is fetched twice in a second
    ok($years->collect('seal'), 'such a CRL is fetched again');
    cmp_ok($years->responder->count->{crl}, '>', 0, 'the CRL is fetched at once');
    is($years->archive($made{$_}{uuid}, seal => 'seal'), 1, "archived with the newer one: $_")
        for qw(later both forgotten);

    $years->begin(2.3, 'second');
    ok($years->renew($made{$_}), "renewed: $_") for qw(later early both ending);
    my %document = map { $_ => $years->document($made{$_}) } keys %made;
    is_said('proofs from after the signature', $document{later},     4, $VALID,   'NO', ades => 'OK');
    is_said('proofs from before it',           $document{early},     4, $VALID,   'ok', ades => 'OK');
    is_said('both',                            $document{both},      4, $VALID,   'ok', ades => 'OK');
    is_said('both, not renewed',               $document{forgotten}, 4, $INVALID, 'NO', ades => 'NO_POE');
    is_said('from after it, with a CRL that ends early', $document{ending}, 4, $VALID, 'NO', ades => 'TRY_LATER');
};

subtest 'revoked between two signers' => sub {
    $years->begin(0, 'first');
    $client = $years->serve('SigreqLongTerm lt', 'SigreqProofsRefresh 1s');
    ok(seal_proofs(), 'there are proofs of the seal');
    completed();
    ok($years->has_proofs, 'there are proofs of the timestamp authority');
    sleep 1;    # a child lists the chains once a second
    my $made = made({}, { firstname => 'Bob', area => { y => 200 } });
    my ($ann, $bob) = signers_of($made);
    is($ann->sign->code, 200, 'the first one signs');
    my $first = $years->document($made);
    $years->responder->set('revoked', 'seal');
    ok(wait_for(sub { $years->httpd->log =~ /SR0421: the seal of production: .*was revoked/ }),
        'then the certificate of the seal is revoked');
    is($bob->sign->code, 503, 'the second one cannot sign');
    ok($years->document($made) eq $first, 'nothing has changed in the document');

    $years->pki->revoke('seal', 'ca');
    $years->seal('seal2');
    $client = $years->serve('SigreqLongTerm lt', 'SigreqProofsRefresh 1s');
    ok(seal_proofs(), 'another certificate is installed');
    completed();
    ok($years->has_proofs, 'the other certificate has proofs');
    sleep 1;
    my $link = $bob->{link} =~ s/:\d+/':' . $years->httpd->{port}/er;    # of the httpd that was started again
    is(Sigreq::Signer->new(link => $link)->sign->code, 200, 'so the second one signs');
    sleep 1;    # a proof of the same second is not newer
    ok($years->collect('seal2'), 'newer proofs are collected');
    is($years->archive($made->{uuid}, seal => 'seal2'), 1, 'the document is archived with the newer proofs');
    is_said('a year later, with the CRL', $years->document($made), 1, $VALID, 'ok', ades => 'OK',
        crls => [qw(ca root tsaroot1)]);
    $years->begin(2.3, 'second');
    ok($years->renew($made), 'renewed');
    $years->begin(11.8, 'third');
    ok($years->renew($made), 'renewed again');
    my $last = $years->document($made);
    is(substr($last, 0, length $first), $first, 'what the first one signed is the beginning of it');
    is_said('29 years later', $last, 29, $VALID, 'ok');
};

$years->stop;
done_testing;
