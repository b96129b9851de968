# SPDX-License-Identifier: Apache-2.0
# sigreqctl seal and verify: making and showing the seal, and checking signed documents by exit code, as text and as
# JSON. The documents are signed here by the openssl command.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use JSON::PP;
use Test::More;

my $program = abs_path('build/sigreqctl')   // '';
my $helper  = abs_path('build/sigreq-pdfd') // '';
-x $program && -x $helper or die "build/ has no programs: run make\n";
my $folder = tempdir('sigreq-seal.XXXXXX', TMPDIR => 1, CLEANUP => 1);
delete $ENV{SIGREQ_CONFIG};
my $suffix = "TEST \x{2014} not legally binding";

# Runs it and expects an exit code: (stdout, stderr).
sub exits {
    my ($code, $name, @arguments) = @_;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDIN,  '<', '/dev/null'     or die;
        open STDOUT, '>', "$folder/out"   or die;
        open STDERR, '>', "$folder/error" or die;
        exec $program, @arguments or die;
    }
    waitpid $pid, 0;
    my ($out, $error) = map { slurp("$folder/$_") } qw(out error);
    is($? & 127 ? "signal $?" : $? >> 8, $code, $name) or diag($out, $error);
    like($error, qr/^sigreqctl: .+\n\z/, "the reason is one line: $name") if $code > 2;
    return ($out, $error);
}

sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar(<$in>) // '' }
sub spit { my ($path, $text) = @_; open my $out, '>', $path or die "$path: $!\n"; print $out $text; close $out; $path }
sub mode { return sprintf '%o', (stat $_[0])[2] & 07777 }
sub json { my ($code, $name, @arguments) = @_; return decode_json((exits($code, $name, '--json', @arguments))[0]) }

# --- create
umask 0;
my $made = json(0, 'seal create succeeds', qw(seal create --name Ours --days 30 --out), "$folder/ours");
is($made->{name}, 'Ours', 'the certificate contains the name');
is($made->{key}, 'P-256', 'the result names the type of the key');
is(mode("$folder/ours/seal.key"), '600', 'only the owner can read the key');
is(mode("$folder/ours/seal.crt"), '644', 'everybody can read the certificate');
my $key = slurp("$folder/ours/seal.key");
exits(4, 'seal create never overwrites a seal', qw(seal create), "$folder/ours");
unlink "$folder/ours/seal.crt";
exits(4, 'seal create never overwrites a key', qw(seal create), "$folder/ours");
is(slurp("$folder/ours/seal.key"), $key, 'an existing file is not replaced');
ok(!-e "$folder/ours/seal.crt", 'a rejected seal create makes no certificate');
unlink "$folder/ours/seal.key";
json(0, 'seal create succeeds after the files are deleted', qw(seal create --name Ours --out), "$folder/ours");
spit("$folder/lone.crt", 'x');
mkdir "$folder/lone";
spit("$folder/lone/seal.crt", 'x');
exits(4, 'seal create never overwrites a certificate', qw(seal create), "$folder/lone");
ok(!-e "$folder/lone/seal.key", 'a rejected seal create leaves no key');
is(json(0, 'seal create --test succeeds', qw(seal create --test), "$folder/test")->{name}, "Sigreq $suffix",
    'the default name of a test seal says TEST');
is(json(0, 'seal create --test accepts a name', qw(seal create --test --name A --out), "$folder/a")->{name},
    "A $suffix", 'the given name of a test seal says TEST');
exits(1, 'seal create fails if the folder cannot be made', qw(seal create), "$folder/no/such");
exits(2, 'a name of 65 characters is rejected', qw(seal create --name), 'x' x 65, '--out', "$folder/x");
exits(2, 'a test name of 40 characters is rejected', qw(seal create --test --name), 'x' x 40, '--out', "$folder/x");
exits(2, "--days '$_' is rejected", qw(seal create --days), $_, '--out', "$folder/x")
    for '0', '-1', '36501', 'many', '', '9' x 30;
ok(!-e "$folder/x", 'rejected names and days make no file');

# --- show
my @ours = ('--certificate', "$folder/ours/seal.crt");
my ($text) = exits(0, 'seal show succeeds', qw(seal show), @ours, '--key', "$folder/ours/seal.key");
like($text, qr/^name +Ours\n(?:.*\n)*usable +yes$/m, 'the text gives the name and says that the pair is usable');
is(json(0, 'seal show accepts a certificate alone', qw(seal show), @ours)->{usable}, undef,
    'whether a certificate alone is usable is unknown');
my (undef, $error) = exits(1, 'seal show reports the key of another certificate', qw(seal show), @ours, '--key',
    "$folder/test/seal.key");
like($error, qr{ours/seal\.crt: it is not the certificate of the key in .*/test/seal\.key},
    'the message names both files');
exits(3, 'seal show fails if the file is missing', qw(seal show --certificate), "$folder/none.crt");
(undef, $error) = exits(1, 'seal show fails if the file holds no certificate', qw(seal show --certificate),
    "$folder/lone/seal.crt");
like($error, qr/it holds no certificate/, 'the message says that the file holds no certificate');
my $config = spit("$folder/sigreq.conf", <<"CONF");
DBDParams \${X}
SigreqSealCertificate "$folder/ours/seal.crt"
  sigreqsealkey '$folder/ours/seal.key'
SigreqHelper $helper
CONF
is(json(0, 'seal show accepts a configuration', qw(seal show --config), $config)->{usable}, JSON::PP::true,
    'seal show reads the certificate and the key of a configuration');
my $token = qq{SigreqSealCertificate "$folder/ours/seal.crt"\nSigreqSealKey "pkcs11:token=seal"\n};
$token = spit("$folder/t.conf", $token);
is_deeply([@{ json(0, 'seal show accepts a key in a token', qw(seal show --config), $token) }{qw(usable key_file)}],
    [undef, 'pkcs11:token=seal'], 'a key in a token is named and not used');
exits(2, 'seal show needs a certificate in the configuration', qw(seal show --config), spit("$folder/e.conf", "\n"));

# --- verify
my @helper = ('--helper', $helper);
exits(3, 'verify fails if the file is missing', 'verify', "$folder/none.pdf", @helper);
exits(1, 'verify rejects a folder',             'verify', $folder,            @helper);
exits(5, 'verify fails without a helper', 'verify', 't/data/sample.pdf', '--helper', "$folder/none");
exits(3, 'verify fails if the file of --trust is missing', 'verify', 't/data/sample.pdf', @helper, '--trust',
    "$folder/none.crt");
exits(2, 'verify needs a file', 'verify', @helper);
($text) = exits(1, 'verify reports an unsigned document', 'verify', 't/data/sample.pdf', @helper);
is($text, "t/data/sample.pdf: unsigned: it has no signatures\n", 'the text says that the document is unsigned');
my $none = json(1, 'verify reports a file that is no PDF', 'verify', spit("$folder/no.pdf", 'hello'), @helper);
is($none->{conclusion}, 'unreadable', 'a file that is no PDF is unreadable');
is_deeply($none->{signatures}, [], 'an unreadable file has no signatures');

# One page and one signature field, signed by the openssl command.
sub signed_pdf {
    my ($path, $seal) = @_;
    my $room = 8000;
    my @objects = (
        '<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]/SigFlags 3>>>>', '<</Type/Pages/Count 1/Kids[3 0 R]>>',
        '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Annots[4 0 R]>>',
        '<</Type/Annot/Subtype/Widget/FT/Sig/T(One)/F 132/Rect[0 0 0 0]/P 3 0 R/V 5 0 R>>',
        '<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/Name(Ann\\033[2J)/ContactInfo(Ltd\\033[2J)'
            . '/M(D:20261120120000Z)/ByteRange' . ' ' x 40 . '/Contents<' . '0' x $room . '>>>',
    );
    my ($pdf, @offsets) = ("%PDF-1.7\n");
    for my $i (0 .. $#objects) {
        push @offsets, length $pdf;
        $pdf .= ($i + 1) . " 0 obj\n$objects[$i]\nendobj\n";
    }
    my $start = length $pdf;
    $pdf .= "xref\n0 6\n0000000000 65535 f \n" . join '', map { sprintf "%010d 00000 n \n", $_ } @offsets;
    $pdf .= "trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n$start\n%%EOF\n";
    my $gap   = index($pdf, '/Contents<') + 9;
    my $after = $gap + $room + 2;
    my $range = "[0 $gap $after " . (length($pdf) - $after) . ']';
    substr $pdf, index($pdf, '/ByteRange') + 10, length $range, $range;
    spit("$folder/range", substr($pdf, 0, $gap) . substr $pdf, $after);
    system("openssl cms -sign -cades -binary -nosmimecap -outform DER -in '$folder/range' -out '$folder/der' "
            . "-signer '$seal/seal.crt' -inkey '$seal/seal.key' 2>/dev/null") == 0 or die "openssl failed\n";
    my $hex = unpack 'H*', slurp("$folder/der");
    substr $pdf, $gap + 1, length $hex, $hex;
    return spit($path, $pdf);
}

SKIP: {
    skip 'the openssl command is not installed', 1 if system('command -v openssl >/dev/null') != 0;
    my $pdf = signed_pdf("$folder/signed.pdf", "$folder/ours");
    my $found = json(0, 'verify accepts a signed document', 'verify', $pdf, @helper);
    is($found->{conclusion}, 'signed', 'the conclusion is signed');
    my $one = $found->{signatures}[0];
    is_deeply([@$one{qw(field state whole laterUpdates ours trust fault)}],
        ['One', 'intact', JSON::PP::true, 0, JSON::PP::false, 'unknown', undef],
            'the signature is intact, whole, and of an unknown certificate');
    is($one->{signer}{name}, 'Ours',                     'the signer is the certificate of the seal');
    is($one->{claimedAt},   '2026-11-20T12:00:00.000Z', 'the claimed time is the /M of the signature');
    unlike((exits(0, 'verify prints text', 'verify', $pdf, @helper))[0], qr/\e/,
        'no escape sequence reaches the terminal');
    $one = json(0, 'verify accepts a certificate', 'verify', $pdf, @helper, @ours)->{signatures}[0];
    is($one->{ours}, JSON::PP::true, 'the signature is by the given certificate');
    ($text) = exits(0, 'verify accepts a configuration', 'verify', $pdf, '--config', $config);
    like($text, qr/One: intact, by this service\n +covers +the whole document\n/,
        'the text says that the signature is by this service');
    like($text, qr/^ +says contact +Ltd/m, 'the text contains the contact');
    is(json(0, 'verify succeeds with the authority of the signature', 'verify', $pdf, @helper, '--trust',
            "$folder/ours/seal.crt")->{signatures}[0]{trust},
        'trusted', 'a chain to the authority is trusted');
    $one = json(1, 'verify fails with another authority', 'verify', $pdf, @helper, '--trust',
        "$folder/test/seal.crt")->{signatures}[0];
    is_deeply([@$one{qw(state trust)}], [qw(intact untrusted)],
        'a signature of another authority is intact and untrusted');
    ok(length $one->{distrust}, 'the result says why the signature is untrusted');

    my $bytes = slurp($pdf);
    my $more = json(1, 'verify reports appended bytes', 'verify', spit("$folder/more.pdf", "$bytes%\n"), @helper);
    is($more->{conclusion}, 'extended', 'a document with appended bytes is extended');
    $one = $more->{signatures}[0];
    is_deeply([@$one{qw(state whole covers)}], ['intact', JSON::PP::false, length $bytes],
        'the result gives the size that the signature covers');
    (my $other = $bytes) =~ s/0 0 9 9/0 0 9 8/;
    my $changed = json(1, 'verify reports a changed document', 'verify',
        spit("$folder/changed.pdf", $other), @helper, @ours);
    is($changed->{conclusion}, 'broken', 'a changed document is broken');
    is($changed->{signatures}[0]{fault}, 'the document is not the one that was signed',
        'the result says that the document was changed');
    is($changed->{signatures}[0]{ours}, JSON::PP::false, 'a broken signature is not by the given certificate');
    my $foreign = signed_pdf("$folder/foreign.pdf", "$folder/test");
    $one = json(0, 'verify accepts a document of another seal', 'verify', $foreign, @helper, @ours)->{signatures}[0];
    is($one->{ours}, JSON::PP::false, 'the signature of another seal is not by the given certificate');
    my @test = ('--test-certificate', "$folder/test/seal.crt");
    $one = json(0, 'verify accepts --test-certificate', 'verify', $foreign, @helper, @ours, @test)->{signatures}[0];
    is($one->{ours}, JSON::PP::true, 'the signature is by the given test certificate');
    spit($config, slurp($config) . qq{SigreqTestSealCertificate "$folder/test/seal.crt"\n});
    $one = json(0, 'verify accepts a configuration with two seals', 'verify', $foreign, '--config',
        $config)->{signatures}[0];
    is($one->{ours}, JSON::PP::true, 'the signature is by the test certificate of the configuration');
}
done_testing;
