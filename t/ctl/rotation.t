# SPDX-License-Identifier: Apache-2.0
# sigreqctl seal request, import, rotate and show: the way from one certificate of the seal to the next one. What the
# authority has sent is judged as a whole, nothing is overwritten, and a command that is killed at any step leaves a
# usable pair and can be repeated.
use strict;
use warnings;
use Cwd 'abs_path';
use Fcntl ':flock';
use File::Temp 'tempdir';
use lib 't/lib';
use JSON::PP;
use Sigreq::Killer;
use Sigreq::PKI;
use Test::More;

my $program = abs_path('build/sigreqctl') // '';
-x $program or die "build/ has no programs: run make\n";
my $folder = tempdir('sigreq-rotation.XXXXXX', TMPDIR => 1, CLEANUP => 1);
delete $ENV{SIGREQ_CONFIG};
plan skip_all => 'the openssl command is not installed' if system('command -v openssl >/dev/null') != 0;

sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar(<$in>) // '' }
sub spit { my ($path, $text) = @_; open my $out, '>', $path or die "$path: $!\n"; print $out $text; close $out; $path }
sub mode { return sprintf '%o', (stat $_[0])[2] & 07777 }
sub openssl { system("openssl $_[0] >'$folder/said' 2>&1") == 0 or die "openssl $_[0]: " . slurp("$folder/said") }
sub fresh { my $dir = "$folder/$_[0]"; system("rm -rf '$dir'; cp -a '$folder/$_[1]' '$dir'") == 0 or die; return $dir }

sub run {    # (exit code or "signal N", stdout, stderr)
    my @arguments = @_;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDOUT, '>', "$folder/out"   or die;
        open STDERR, '>', "$folder/error" or die;
        exec $program, 'seal', @arguments or die;
    }
    waitpid $pid, 0;
    return ($? & 127 ? 'signal ' . ($? & 127) : $? >> 8, map { slurp("$folder/$_") } qw(out error));
}

sub exits {
    my ($code, $name, @arguments) = @_;
    my ($got, $out, $error) = run(@arguments);
    is($got, $code, $name) or diag $out, $error;
    return $code ? $error : $out;
}
sub json { my ($name, @arguments) = @_; return decode_json(exits(0, $name, @arguments, '--json')) }

# --- an authority with a root and two authorities below it
my $new = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
openssl("req -x509 $new -subj /CN=Root -days 99 -keyout $folder/root.key -out $folder/root.crt");

sub authority {    # makes NAME.crt, which ISSUER has signed
    my ($name, $issuer, @dates) = @_;
    openssl("req $new -subj '/CN=$name' -keyout $folder/$name.key -out $folder/$name.csr");
    issue("$folder/$name.csr", "$folder/$name.crt", issuer => $issuer, extensions => 'authority', @dates);
}

sub issue {    # signs a request, valid from and until so many seconds from now
    my ($request, $out, @options) = @_;
    my %o = (issuer => 'Second', from => -60, until => 9e6, @options);
    return Sigreq::PKI::sign_request($folder, $request, $out, %o);
}
authority('First',  'root');
authority('Second', 'First');
authority('Ended',  'First', from => -9000, until => -60);

# Writes certificates into a file, in this order.
sub sent { return spit("$folder/sent.pem", "sent by the authority\n" . join '', map { slurp($_) } @_) }
my @above = map {"$folder/$_.crt"} qw(First Second);

# --- request
my $first = "$folder/none";
my $asked = json('a request without a seal succeeds', 'request', $first, 'Our company');
is_deeply([@$asked{qw(request_file key_file)}], ["$first/seal.csr", "$first/seal.key"],
    'without a seal, the request and the key have the names of the seal');
is(mode("$first/seal.key"), '600', 'only the owner can read the key');
openssl("req -verify -noout -subject -in $first/seal.csr");
like(slurp("$folder/said"), qr/CN ?= ?Our company/,
    'openssl finds the name in the request, and the signature of its key');
exits(4, 'a second request without a seal is rejected', 'request', $first, 'Our company');
exits(2, 'a request needs a name', 'request', $first);
exits(2, 'a name of 65 characters is rejected', 'request', "$folder/x", 'x' x 65);
ok(!-e "$folder/x", 'a rejected request makes no folder');
my $made = json('an import without a seal succeeds', 'import', $first,
    sent(issue("$first/seal.csr", "$folder/a.crt"), @above));
is_deeply([@$made{qw(name certificate_file remarks)}], ['Our company', "$first/seal.crt", []],
    'without a seal, the imported certificate is that of the seal');
is(mode("$first/seal.crt"), '644', 'everybody can read the certificate');
ok(!-e "$first/seal.csr", 'import deletes the request');

my $ours = "$folder/ours";
exits(0, 'seal create succeeds', 'create', '--name', 'Old', '--days', 30, $ours);
system("cp -a '$ours' '$folder/first'");
exits(3, 'import fails without a request', 'import', $ours, "$folder/a.crt");
exits(3, 'rotate fails without a next certificate', 'rotate', $ours);
exits(3, "$_ fails without the folder", $_, "$folder/no", $_ eq 'import' ? 'x' : ()) for qw(import rotate);
$asked = json('a request beside a seal succeeds', 'request', $ours, 'New');
is_deeply([@$asked{qw(request_file key_file)}], ["$ours/next.csr", "$ours/next.key"],
    'beside a seal, the request and the key are the next ones');
exits(4, 'a second request beside a seal is rejected', 'request', $ours, 'New');

# --- import: what is wrong
my $request = "$ours/next.csr";
my $soon    = issue($request, "$folder/soon.crt",  from => 3600);
my $good    = issue($request, "$folder/good.crt");
my $old     = issue($request, "$folder/old.crt",   from => -9000, until => -60);
my $tls     = issue($request, "$folder/tls.crt",   extensions => 'tls', from => -9000, until => -60);
my $ended   = issue($request, "$folder/ended.crt", issuer => 'Ended');
my @wrong   = (    # what is wrong, certificates, what is said
    ['a certificate of another key', ["$folder/a.crt", @above],
        qr{it is not the certificate of the key in \S+/next\.key}],
    ['an expired certificate', [$old, @above], qr/it expired at \d{4}-/],
    ['a certificate with several faults', [$tls, @above],
        qr/it expired at .*; its key usage allows .*; its extended key us/],
    ['an expired issuer', [$ended, "$folder/Ended.crt", $above[0]], qr/of its issuer "Ended" expired at \d{4}-/],
    ['the issuers alone', [@above], qr{it is not the certificate of the key in \S+/next\.key; }],
);
for my $row (@wrong) {
    my ($name, $certificates, $expected) = @$row;
    like(exits(1, "import rejects $name", 'import', $ours, sent(@$certificates)), $expected,
        "the message gives the reason for rejecting $name");
    ok(!-e "$ours/next.crt", "nothing is installed after rejecting $name");
}
like(exits(1, 'import rejects a file without a certificate', 'import', $ours, spit("$folder/empty", "x\n")),
    qr/it holds no certificate/, 'the message says that the file holds no certificate');
exits(3, 'import fails if the file is missing', 'import', $ours, "$folder/none.pem");

# --- import: what is not wrong
system("cp -a '$ours' '$folder/requested'");
sub chain { return [slurp($_[0]) =~ /(-----BEGIN CERT.*?-----END CERTIFICATE-----\n)/gs] }
my $expected = [map { @{ chain($_) } } $good, reverse @above];
my @orders =
    ([$good, reverse @above], [@above, $good], ["$folder/root.crt", @above, $good], [$good, @above, "$folder/a.crt"]);
for my $order (@orders) {
    my $dir  = fresh('order', 'requested');
    my $name = join ' ', map {m{(\w+)\.crt$}} @$order;
    $made = json("import accepts $name", 'import', $dir, sent(@$order));
    is_deeply(chain("$dir/next.crt"), $expected, "import of $name writes the chain in order, without the root");
    my @remarks = $name =~ /a$/ ? 'the certificate "Our company" is not in its chain and was left out' : ();
    is_deeply($made->{remarks}, \@remarks, "import of $name reports what it leaves out");
    openssl("verify -CAfile $folder/root.crt -untrusted $dir/next.crt $dir/next.crt");
}
my $dir = fresh('lone', 'requested');
like(json('import accepts a certificate without its issuers', 'import', $dir, sent($good))->{remarks}[0],
    qr/^the certificate of its issuer, CN=Second, is not in the file: .* ask the authority/,
    'a remark says that the certificate of the issuer is missing');
like(exits(4, 'a second import is rejected', 'import', $dir, sent($good)),
    qr{next\.crt exists, and is never overwritten: run 'sigreqctl seal rotate},
        'the message says that nothing is overwritten');
$dir = fresh('pause', 'requested');
my $late = issue($request, "$folder/late.crt", from => 60 * 86400);
like(json('import accepts a certificate that begins too late', 'import', $dir, sent($late, @above))->{remarks}[0],
    qr/^nothing can be sealed from \d{4}-\S+, when the present certificate ends, until \d{4}-/,
    'a remark says when nothing can be sealed');
$dir = fresh('short', 'requested');
my $short = issue($request, "$folder/short.crt", until => 86400);
is_deeply(json('import accepts a certificate that ends early', 'import', $dir, sent($short, @above))->{remarks},
    ['it does not end later than the present certificate'], 'a remark says that the certificate ends early');

# --- one that is valid later; show
$dir = fresh('later', 'requested');
json('import accepts a certificate that is valid in an hour', 'import', $dir, sent($soon, @above));
like(exits(1, 'rotate rejects a certificate that is not valid yet', 'rotate', $dir),
    qr/next\.crt: it is not valid before \d{4}-/, 'the message says when the certificate becomes valid');
my $shown = json('show succeeds with a next certificate', 'show', $dir);
is_deeply([$shown->{name}, $shown->{usable}, @{ $shown->{next} }{qw(name usable fault)}, $shown->{former}],
    ['Old', JSON::PP::true, 'New', JSON::PP::true, undef, []], 'show names the present and the next certificate');
like($shown->{next}{$_}, qr/^[0-9a-f]{64}$|^\d{4}-/,
    "show gives $_ of the next certificate") for qw(sha256 begins_at expires_at);
spit("$dir/next.key", slurp("$dir/seal.key"));
like(exits(0, 'show succeeds with a wrong next key', 'show', $dir),
    qr/^next certificate\n.*\nNew .* no +\S+next\.crt: it is not the cert/m,
    'show says that the next certificate cannot be used');

# --- rotate
$dir = fresh('rotated', 'requested');
json('import succeeds before the rotation', 'import', $dir, sent($good, @above));
my $before = json('show succeeds before the rotation', 'show', $dir);
system("cp -a '$dir' '$folder/ready'");
open my $held, '<', $dir or die;
flock $held, LOCK_EX;
like(exits(4, "$_->[0] is rejected beside another command", @$_), qr/another sigreqctl seal works there/,
    "the message of $_->[0] names the other command")
    for ['rotate', $dir], ['request', $dir, 'x'], ['import', $dir, $good];
close $held;
my $pair = slurp("$dir/next.crt") . slurp("$dir/next.key");
is(json('rotate succeeds', 'rotate', $dir)->{name}, 'New', 'rotate makes the next certificate that of the seal');

sub is_rotated {
    my ($dir, $name) = @_;
    my $shown = json("show succeeds with a seal that is $name", 'show', $dir);
    is_deeply([$shown->{name}, $shown->{next}, map { @$_{qw(name sha256)} } @{ $shown->{former} }],
        ['New', undef, 'Old', $before->{sha256}], "show names the former certificate of a seal that is $name");
    is(slurp("$dir/seal.crt") . slurp("$dir/seal.key"), $pair, "the files of a seal that is $name were the next ones");
    is(mode("$dir/seal.key"), '600', "only the owner can read the key of a seal that is $name");
    is(join(' ', map {m{([^/]+)$}} sort glob "$dir/*"), 'former seal.crt seal.key',
        "no other file is left of a seal that is $name");
}
is_rotated($dir, 'rotated');
exits(3, 'a second rotate fails', 'rotate', $dir);
is_rotated($dir, 'rotated once');
exits(0, 'a request after the rotation succeeds', 'request', $dir, 'Third');

# --- killed before each change of a file
SKIP: {
    skip Sigreq::Killer::why_not(), 1 if Sigreq::Killer::why_not();
    my $killer = Sigreq::Killer->new($folder, qw(rename link unlink mkdir fsync fchmod write));
    my $killed = sub {    # runs a command that is killed before its Nth change: its exit code
        my ($at, @arguments) = @_;
        return $killer->at($at, sub { (run(@arguments))[0] });
    };
    my $at = 1;
    for (; ; $at++) {
        $dir = fresh('killed', 'ready');
        last if $killed->($at, 'rotate', $dir) eq '0';
        my ($code, undef, $error) = run('show', '--certificate', "$dir/seal.crt", '--key', "$dir/seal.key");
        is($code, 0, "if rotate is killed before its change $at, the pair is usable") or diag $error;
        if (!-e "$dir/next.crt" && -e "$dir/next.key") {
            exits(4, "$_->[0] is rejected after change $at of rotate", @$_)
                for ['request', $dir, 'x'], ['import', $dir, $good];
        }
        exits(0, "rotate can be repeated after change $at", 'rotate', $dir) if -e "$dir/next.key";
        unlink glob "$dir/*.csr"; # only the last change is to delete it
        is_rotated($dir, "rotated after a kill before change $at");
    }
    cmp_ok($at, '>', 12, "rotate makes more than 12 changes");
    for ($at = 1; ; $at++) {
        $dir = fresh('killed', 'requested');
        last if $killed->($at, 'import', $dir, sent($good, @above)) eq '0';
        my ($code) = run('import', $dir, sent($good, @above));
        is($code, -e "$dir/next.crt" && $code ? 4 : 0, "import can be repeated if it is killed before its change $at");
        is_deeply(chain("$dir/next.crt"), $expected,
            "the certificates are complete after a kill before change $at of import");
    }
    cmp_ok($at, '>', 4, "import makes more than 4 changes");
    for ($at = 1; ; $at++) {
        $dir = fresh('killed', 'first');
        last if $killed->($at, 'request', $dir, 'New') eq '0';
        my ($code) = run('request', $dir, 'New');
        is($code, -e "$dir/next.key" && $code ? 4 : 0, "request can be repeated if it is killed before its change $at");
        openssl("req -in $dir/next.csr -noout -pubkey -out $folder/one");
        openssl("pkey -in $dir/next.key -pubout -out $folder/two");
        is(slurp("$folder/one"), slurp("$folder/two"), "the request belongs to the key after a kill before change $at");
    }
    cmp_ok($at, '>', 8, "request makes more than 8 changes");
}
done_testing;
