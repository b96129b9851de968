# SPDX-License-Identifier: Apache-2.0
# Sigreq::Judge: PDFBox with Bouncy Castle finds a document of the service intact, its certificate trusted only by the
# right authority, and a changed document broken. Other tests rely on these results.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use lib 't/lib';
use Sigreq::Authority;
use Sigreq::Judge qw(java_judge);
use Test::More;

my $build  = abs_path('build');
my $folder = tempdir('sigreq-judges.XXXXXX', TMPDIR => 1, CLEANUP => 1);
my ($authority, $other) = map { Sigreq::Authority->new("$folder/$_") } 'one', 'other';
my $seal = $authority->issue('seal', 'Seal', 'keyUsage=critical,digitalSignature');
my ($good, $bad) = map {"$folder/$_.pdf"} qw(good bad);
system("$build/t/tool/sign", "$build/sigreq-pdfd", @$seal, 't/data/sample.pdf', $good, 'Ann Lee', 'Bob Lee') == 0
    or die "t/tool/sign failed\n";
open my $in,  '<:raw', $good or die;
open my $out, '>:raw', $bad  or die;
my $bytes = do { local $/; <$in> };
substr $bytes, 5, 3, '1.6';
print {$out} $bytes;
close $out;

my $said = java_judge({ roots => $authority->file('ca.crt') }, $good, $bad, "$folder/none.pdf");
my @rows = @{ $said->{$good}{signatures} };
is(scalar @rows, 2, 'PDFBox finds both signatures');
is_deeply([map { $_->{kind} } @rows], [('signature') x 2], 'PDFBox finds no timestamps');
is_deeply([map { $_->{intact} ? 1 : 0 } @rows], [1, 1], 'both signatures are intact');
is_deeply([map { $_->{whole} ? 1 : 0 } @rows], [0, 1], 'only the second signature covers the whole file');
is_deeply([map { $_->{chain} } @rows], ['ok', 'ok'], 'both signatures are trusted');
ok(!(grep { $_->{proofs} || $_->{stamp} } @rows), 'the document contains no timestamps and no proofs of revocation');
is_deeply([map { $_->{intact} ? 1 : 0 } @{ $said->{$bad}{signatures} }], [0, 0],
    'both signatures of a changed document are broken');
like($said->{"$folder/none.pdf"}{error}, qr/NoSuchFile/, 'a missing file is an error');
my ($first) = @{ java_judge({ roots => $other->file('ca.crt') }, $good)->{$good}{signatures} };
like($first->{chain}, qr/certification path/, 'no chain leads to another authority');
my %late = (roots => $authority->file('ca.crt'), at => '2099-01-01T00:00:00Z');
($first) = @{ java_judge(\%late, $good)->{$good}{signatures} };
unlike($first->{chain}, qr/^ok/, 'an expired certificate is not trusted');
done_testing;
