# SPDX-License-Identifier: Apache-2.0
# A document over the years: signed and archived today, and renewed by httpd (SigreqLongTerm lta, SigreqRenew) in the
# years to come, by one timestamp authority after the other. httpd, the authorities and the OCSP responder run with the
# date of Sigreq::Clock. Other programs judge the document long after all certificates of today have ended.
# t/torture/renewals.t renews more often, and t/api/later.t compares what the proofs are worth.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use POSIX 'strftime';
use Sigreq::Apart;
use Sigreq::Clock qw(clock_missing clocked);
use Sigreq::Here qw(suite wait_for sql);
use Sigreq::Httpd;
use Sigreq::Judge qw(java_judge pyhanko_lta);
use Sigreq::PDF 'pdf';
use Sigreq::PKI;
use Sigreq::Responder;
use Sigreq::Signer qw(signers_of chain_fault qpdf_check);
use Sigreq::TSA;
use Sigreq::Validator;
use Test::More;

plan skip_all => 'once is enough: t/api/archiving.t renews with each database' if suite->{db} ne 'sqlite3';
plan skip_all => clock_missing() if clock_missing();

my $YEAR   = 365.25 * 86_400;
my $apart  = Sigreq::Apart->new;
my $folder = $apart->{dir};
our $ahead = 0;                    # seconds

sub faked {                        # runs code whose programs start with a clock that is `ahead`
    my ($code) = @_;
    return clocked($code, int $ahead);
}
sub later { my $ahead_of = shift; return time + $ahead_of * $YEAR }

my $responder = Sigreq::Responder->new("$folder/pki");
my $pki       = Sigreq::PKI->new("$folder/pki", http => $responder->http, ocsp => $responder->ocsp);
my @names     = map {"years$_"} 0 .. 2;    # each serves for four years and more, and the next one begins before it ends
$pki->issue($names[$_], 'tsaroot2', 'tsa', from => later(4 * $_ - 0.5), until => later(4 * $_ + 4)) for 0 .. $#names;
mkdir "$folder/documents";

sub seal {    # the folder of a seal that begins after so many years
    my ($years, $name) = @_;
    my $place = "$folder/seal-$name";
    mkdir $place;
    $pki->issue("seal-$name", 'ca', 'seal', from => later($years) - 86_400, until => later($years + 1));
    $pki->join_files("seal-$name-chain.crt", "seal-$name", 'ca');
    return $pki->put_pair("seal-$name", $place);
}
my $roots = $pki->file('roots.crt');

my ($httpd, $client, $tsa);

# httpd after so many years, with the authority and the seal of that time. The OCSP responder is that of today.
sub serve {
    my ($years, $name) = @_;
    undef $client;
    $_->stop for grep {defined} $httpd, $tsa, $responder;
    my $port = $responder->{port};
    my $seal = seal($years, $name);
    $ahead = $years * $YEAR;
    mkdir "$folder/proofs-$name";
    my %file = map { $_ => '"' . $pki->file("$_.crt") . '"' } qw(root roots authorities);
    faked(sub {
        $responder = Sigreq::Responder->new("$folder/pki", $port);
        $tsa       = Sigreq::TSA->new($pki, $name);
        my $server = join "\n", "SigreqSealAuthorities $file{root}", qq{SigreqProofs "$folder/proofs-$name"},
            'SigreqProofsAllow 127.0.0.0/8', 'SigreqProofsRefresh 1s', 'SigreqTimestamp ' . $tsa->url,
            "SigreqTimestampAuthorities $file{authorities}", Sigreq::Httpd::seal(SigreqTestSeal => $seal),
            'SigreqLongTerm lta';
        $httpd = $apart->httpd(server => $server, seal => Sigreq::Httpd::seal(SigreqSeal => $seal),
            documents => "$folder/documents");
    });
    $client = $apart->client($httpd);
    return;
}

sub events   { return $client->get("/signatures/$_[0]{uuid}/audit")->json }
sub archived { return scalar grep { $_->{event} eq 'archived' } @{ events(@_)->{events} } }
sub document { return $client->get("/signatures/$_[0]{uuid}/documents/$_[0]{documents}[0]{uuid}")->body }

sub java {    # of a document, after so many years: "kind intact chain" of each signature and document timestamp
    my ($pdf, $years) = @_;
    my $file = Sigreq::Validator::saved($pdf);
    my $at   = strftime '%Y-%m-%dT%H:%M:%SZ', gmtime later($years);
    my $said = java_judge({ roots => $roots, at => $at }, "$file")->{"$file"};
    return join ', ', map {"$_->{kind} $_->{intact} $_->{chain}"} @{ $said->{signatures} };
}

sub pyhanko_says {    # of the signature, offline, with the CRLs of that time
    my ($pdf, $years, $expected, $name) = @_;
    my $file = Sigreq::Validator::saved($pdf);
    local $ahead = $years * $YEAR;
    faked(sub { $pki->crl($_) for qw(tsaroot2) });
    my $said = faked(sub { scalar pyhanko_lta($roots, "$folder/pki", "$file") });
    SKIP: {
        skip 'pyHanko is not here', 1 if !defined $said;
        is($said, $expected, $name);
    }
    return;
}

sub completed {
    my $made = $client->create(files => [['a.pdf', pdf(nonce => rand)]])->json;
    is($_->sign->code, 200, 'signed today') for signers_of($made);
    return $made;
}

serve(0, $names[0]);
completed();    # so that the proofs of the authority are collected before the next signature
ok(wait_for(sub { my ($pem) = glob "$folder/proofs-$names[0]/*.pem"; $pem && -e $pem =~ s/pem$/json/r }),
    'there are proofs of it');
my $made;
# A child lists the chains once a second. Until then, it signs with the proofs of its seal alone: they have one CRL.
ok(wait_for(sub { $made = completed(); document($made) =~ m{/CRLs\[\d+ 0 R \d+ 0 R \]} }),
    'signed with them as soon as the child has listed the chains');
ok(wait_for(sub { archived($made) == 1 }), 'archived today');
my @versions = document($made);
is(java($versions[0], 1), 'signature 1 ok, timestamp 1 ok', 'a year later it is valid');
unlike(java($versions[0], 9), qr/timestamp 1 ok/, 'in nine years nothing proves it, without renewal');

for my $i (1 .. $#names) {
    serve(4 * $i - 0.17, $names[$i]);
    ok(wait_for(sub {    # it waits for proofs, and for a timestamp that would end later
            sql("UPDATE job SET due_at = 1 WHERE kind = 'archive' AND state = 'scheduled'", $apart->{params});
            sql("UPDATE job SET ended_at = 1 WHERE kind = 'archive' AND state = 'done'",    $apart->{params});
            return archived($made) == $i + 1;
        }), "renewed after @{[4 * $i]} years") or diag substr $httpd->log, -2000;
    push @versions, document($made);
    ok(substr($versions[-1], 0, length $versions[-2]) eq $versions[-2], "renewal $i begins with the version before");
    cmp_ok(length($versions[-1]) - length $versions[-2], '<', 40_000, "renewal $i appends little");
}

my ($last, $before) = @versions[-1, -2];
is(qpdf_check($last), '', 'qpdf has nothing to say about the last version');
is(java($last, 9), join(', ', 'signature 1 ok', ('timestamp 1 ok') x @names), 'in nine years it is valid for PDFBox');
isnt(java($before, 9), join(', ', 'signature 1 ok', ('timestamp 1 ok') x $#names),
    'in nine years the version before is not valid for PDFBox');
pyhanko_says($last,   9, 'PADES_LT ok, PADES_LTA ok', 'in nine years the last version is valid for pyHanko');
pyhanko_says($before, 9, 'PADES_LT NO, PADES_LTA NO', 'in nine years the version before is not valid for pyHanko');
is(chain_fault(events($made)), undef, 'the audit trail is a chain');

# One byte of a proof that a document timestamp covers.
my $forged = $last;
my $at     = index $forged, '/CRLs', length $versions[0];
cmp_ok($at, '>', 0, 'a renewal has proofs of its own');
my $stream = index $forged, 'stream', length $versions[0];
substr($forged, $stream + 60, 1) ^= "\1";
like(java($forged, 9), qr/timestamp 0/, 'a byte that is flipped behind the first document timestamp is noticed');

$_->stop for $httpd, $tsa;
done_testing;
