# SPDX-License-Identifier: Apache-2.0
# A document is renewed again and again, each time by a timestamp authority with another key, and from the middle on by
# authorities that sign with SHA-512. At the end it is valid, for PDFBox and for pyHanko. If a renewal is left out, or a
# document timestamp or a byte of any proof is changed, it is not. httpd signs, and everything after that is done by
# sigreqctl archive with another clock, because 30 renewals by httpd would take minutes (t/api/years.t has two).
use strict;
use warnings;
use Sigreq::Clock qw(clock_missing);
use Sigreq::Here;
use Sigreq::PDF 'pdf';
use Sigreq::Signer qw(signers_of chain_fault qpdf_check);
use Sigreq::Twin 'times';
use Sigreq::Years;
use Test::More;

plan skip_all => clock_missing() if clock_missing();

my $count    = times('SIGREQ_TIMES', 4, 30);
my $interval = 0.5;                             # years between two renewals
my $middle   = 1 + int $count / 2;
my $years    = Sigreq::Years->new;

# Each authority serves until shortly after the next one has begun.
$years->authority("key$_", $interval * $_ - 0.01, $interval * $_ + 0.7, hash => $_ < $middle ? 'sha256' : 'sha512')
    for 0 .. $count + 1;
$years->seal('seal');
$years->begin(0, 'key0');
my $client = $years->serve;

sub completed {
    my $made = $client->create(files => [['a.pdf', pdf(nonce => rand)]])->json;
    is($_->sign->code, 200, 'signed today') for signers_of($made);
    return $made;
}
completed();
ok($years->has_proofs, 'there are proofs of the authority');
sleep 1;    # a child lists the chains once a second

# One document gets all renewals. Others get the same ones but one, and then one more.
my $main  = completed();
my %lacks = map { $_ => completed() } grep { $_ <= $count } 1, $middle, $count;
is($years->archive($main->{uuid}, seal => 'seal'), 0, 'it waits for newer proofs');
sleep 1;    # a proof of the same second is not newer than the signature
ok($years->collect('seal'), 'which are collected');
is($years->archive($_->{uuid}, seal => 'seal'), 1, 'archived today') for $main, values %lacks;
my @versions = $years->document($main);

for my $i (1 .. $count + 1) {
    $years->begin($interval * $i, "key$i");
    my @due = grep { my $left_out = $_; $i < $left_out || $i == $left_out + 1 } keys %lacks;
    my @renewed = grep { $years->renew($_) } map { $lacks{$_} } @due;
    is(scalar @renewed, scalar @due, "renewal $i of those that lack none so far");
    if ($i <= $count) {
        ok($years->renew($main), "the submission with all renewals is renewed ($i)");
        push @versions, $years->document($main);
    }
    next if !$lacks{ $i - 1 };
    my $without = $years->document($lacks{ $i - 1 });
    my ($said) = $years->java($interval * $i + 0.1, $without);
    like($said, qr/1 \S+Exception/, "without renewal @{[$i - 1]}, PDFBox finds no valid chain");
    like($said, qr/timestamp 1 ok$/, 'the last document timestamp is valid all the same');
    $said = $years->pyhanko($without, $interval * $i + 0.1);
    SKIP: {
        skip 'pyHanko is not here', 1 if !defined $said;
        is($said, 'PADES_LT NO, PADES_LTA NO', 'pyHanko finds no valid chain');
    }
}

my $last = $versions[-1];
my $end  = $interval * $count + 0.5;    # everything but the last authority and the roots has ended
my $valid = join ', ', 'signature 1 ok', ('timestamp 1 ok') x ($count + 1);
my @broken = grep { substr($versions[$_], 0, length $versions[$_ - 1]) ne $versions[$_ - 1] } 1 .. $#versions;
is("@broken", '', 'each version begins with the one before');
is(qpdf_check($last), '', 'qpdf has nothing to say about the last one');
is(($years->java($end, $last))[0], $valid, "after $count renewals it is valid for PDFBox");
my $said = $years->pyhanko($last, $end);
SKIP: {
    skip 'pyHanko is not here', 1 if !defined $said;
    is($said, 'PADES_LT ok, PADES_LTA ok', 'the last version is valid for pyHanko');
}
is(chain_fault($years->events($main)), undef, 'the audit trail is a chain');
is($years->archived($main), $count + 1, 'the trail has all renewals');

# --- what is changed: a document timestamp is cut out, or a byte of the proofs before it is flipped
my (@changed, @names);
for my $i (1 .. $#versions) {
    my ($from, $to) = map { length } @versions[$i - 1, $i];
    push @changed, substr($last, 0, $from) . substr $last, $to;
    push @names, "without what renewal $i has appended";
    my $flipped = $last;
    my $stream  = index $flipped, 'stream', $from;
    die "no proofs in renewal $i\n" if $stream < 0 || $stream > $to || index($last, '/CRLs', $from) > $to;
    substr($flipped, $stream + 60, 1) ^= "\1";
    push @changed, $flipped;
    push @names, "with a byte flipped in the proofs of renewal $i";
}
my @said = $years->java($end, @changed);
my @unnoticed = map { $names[$_] } grep { $said[$_] eq $valid || $said[$_] !~ /timestamp 0|rror|xception/ } 0 .. $#said;
is("@unnoticed", '', 'PDFBox notices each of ' . @changed . ' changes');
for my $i (grep { $_ <= $#changed } 0, 1, $#changed - 1, $#changed) {
    $said = $years->pyhanko($changed[$i], $end);
    SKIP: {
        skip 'pyHanko is not here', 1 if !defined $said;
        is($said, 'PADES_LT NO, PADES_LTA NO', "pyHanko notices the document $names[$i]");
    }
}

$years->stop;
done_testing;
