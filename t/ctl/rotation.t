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
my $asked = json('request without a seal', 'request', $first, 'Our company');
is_deeply([@$asked{qw(request_file key_file)}], ["$first/seal.csr", "$first/seal.key"],
    'the files are those of the seal');
is(mode("$first/seal.key"), '600', 'only the owner can read the key');
openssl("req -verify -noout -subject -in $first/seal.csr");
like(slurp("$folder/said"), qr/CN ?= ?Our company/, 'openssl: the request has the name, and the signature of the key');
exits(4, 'a second time', 'request', $first, 'Our company');
exits(2, 'without a name', 'request', $first);
exits(2, 'a name too long', 'request', "$folder/x", 'x' x 65);
ok(!-e "$folder/x", '… no folder was made');
my $made = json('import', 'import', $first, sent(issue("$first/seal.csr", "$folder/a.crt"), @above));
is_deeply([@$made{qw(name certificate_file remarks)}], ['Our company', "$first/seal.crt", []],
    'it is the certificate of the seal');
is(mode("$first/seal.crt"), '644', 'everybody can read it');
ok(!-e "$first/seal.csr", 'the request is done with');

my $ours = "$folder/ours";
exits(0, 'a seal', 'create', '--name', 'Old', '--days', 30, $ours);
system("cp -a '$ours' '$folder/first'");
exits(3, 'import without a request', 'import', $ours, "$folder/a.crt");
exits(3, 'rotate without a next certificate', 'rotate', $ours);
exits(3, "$_ in no folder", $_, "$folder/no", $_ eq 'import' ? 'x' : ()) for qw(import rotate);
$asked = json('request', 'request', $ours, 'New');
is_deeply([@$asked{qw(request_file key_file)}], ["$ours/next.csr", "$ours/next.key"], 'the files are the next ones');
exits(4, 'a second time', 'request', $ours, 'New');

# --- import: what is wrong
my $request = "$ours/next.csr";
my $soon    = issue($request, "$folder/soon.crt",  from => 3600);
my $good    = issue($request, "$folder/good.crt");
my $old     = issue($request, "$folder/old.crt",   from => -9000, until => -60);
my $tls     = issue($request, "$folder/tls.crt",   extensions => 'tls', from => -9000, until => -60);
my $ended   = issue($request, "$folder/ended.crt", issuer => 'Ended');
my @wrong   = (    # what is wrong, certificates, what is said
    ['of another key', ["$folder/a.crt", @above], qr{it is not the certificate of the key in \S+/next\.key}],
    ['an expired one', [$old,            @above], qr/it expired at \d{4}-/],
    ['several faults', [$tls,            @above], qr/it expired at .*; its key usage allows .*; its extended key us/],
    ['an expired issuer', [$ended, "$folder/Ended.crt", $above[0]], qr/of its issuer "Ended" expired at \d{4}-/],
    ['the issuers alone', [@above], qr{it is not the certificate of the key in \S+/next\.key; }],
);
for my $row (@wrong) {
    my ($name, $certificates, $expected) = @$row;
    like(exits(1, "import: $name", 'import', $ours, sent(@$certificates)), $expected, '… with the reason');
    ok(!-e "$ours/next.crt", '… nothing is installed');
}
like(exits(1, 'import: no certificate', 'import', $ours, spit("$folder/empty", "x\n")), qr/it holds no certificate/,
    '… with the reason');
exits(3, 'import: no file', 'import', $ours, "$folder/none.pem");

# --- import: what is not wrong
system("cp -a '$ours' '$folder/requested'");
sub chain { return [slurp($_[0]) =~ /(-----BEGIN CERT.*?-----END CERTIFICATE-----\n)/gs] }
my $expected = [map { @{ chain($_) } } $good, reverse @above];
my @orders =
    ([$good, reverse @above], [@above, $good], ["$folder/root.crt", @above, $good], [$good, @above, "$folder/a.crt"]);
for my $order (@orders) {
    my $dir  = fresh('order', 'requested');
    my $name = join ' ', map {m{(\w+)\.crt$}} @$order;
    $made = json("import: $name", 'import', $dir, sent(@$order));
    is_deeply(chain("$dir/next.crt"), $expected, '… the chain is in order, without the root');
    my @remarks = $name =~ /a$/ ? 'the certificate "Our company" is not in its chain and was left out' : ();
    is_deeply($made->{remarks}, \@remarks, '… what is left out is said');
    openssl("verify -CAfile $folder/root.crt -untrusted $dir/next.crt $dir/next.crt");
}
my $dir = fresh('lone', 'requested');
like(json('import: without the issuers', 'import', $dir, sent($good))->{remarks}[0],
    qr/^the certificate of its issuer, CN=Second, is not in the file: .* ask the authority/, '… a remark');
like(exits(4, 'import again', 'import', $dir, sent($good)),
    qr{next\.crt exists, and is never overwritten: run 'sigreqctl seal rotate}, '… nothing is overwritten');
$dir = fresh('pause', 'requested');
my $late = issue($request, "$folder/late.crt", from => 60 * 86400);
like(json('import: a pause', 'import', $dir, sent($late, @above))->{remarks}[0],
    qr/^nothing can be sealed from \d{4}-\S+, when the present certificate ends, until \d{4}-/, '… a remark');
$dir = fresh('short', 'requested');
my $short = issue($request, "$folder/short.crt", until => 86400);
is_deeply(json('import: a short one', 'import', $dir, sent($short, @above))->{remarks},
    ['it does not end later than the present certificate'], '… a remark');

# --- one that is valid later; show
$dir = fresh('later', 'requested');
json('import: valid in an hour', 'import', $dir, sent($soon, @above));
like(exits(1, 'rotate: it is not valid', 'rotate', $dir),
    qr/next\.crt: it is not valid before \d{4}-/, '… with the reason');
my $shown = json('show', 'show', $dir);
is_deeply([$shown->{name}, $shown->{usable}, @{ $shown->{next} }{qw(name usable fault)}, $shown->{former}],
    ['Old', JSON::PP::true, 'New', JSON::PP::true, undef, []], 'show: both certificates');
like($shown->{next}{$_}, qr/^[0-9a-f]{64}$|^\d{4}-/, "… $_") for qw(sha256 begins_at expires_at);
my $config = spit("$folder/sigreq.conf", <<"CONF");
SigreqSealCertificate $dir/seal.crt
SigreqSealKey $dir/seal.key
SigreqSealNextCertificate $dir/next.crt
SigreqSealNextKey $dir/next.key
CONF
is(json('show by configuration', 'show', '--config', $config)->{next}{name}, 'New', '… the same');
spit("$dir/next.key", slurp("$dir/seal.key"));
like(exits(0, 'show: a wrong next key', 'show', $dir),
    qr/^next certificate\n.*\nNew .* no +\S+next\.crt: it is not the cert/m,
    '… it cannot be used');

# --- rotate
$dir = fresh('rotated', 'requested');
json('import', 'import', $dir, sent($good, @above));
my $before = json('show', 'show', $dir);
system("cp -a '$dir' '$folder/ready'");
open my $held, '<', $dir or die;
flock $held, LOCK_EX;
like(exits(4, "$_->[0] beside another command", @$_), qr/another sigreqctl seal works there/, '… with the reason')
    for ['rotate', $dir], ['request', $dir, 'x'], ['import', $dir, $good];
close $held;
my $pair = slurp("$dir/next.crt") . slurp("$dir/next.key");
is(json('rotate', 'rotate', $dir)->{name}, 'New', '… the next certificate is that of the seal');

sub is_rotated {
    my ($dir, $name) = @_;
    my $shown = json("$name: show", 'show', $dir);
    is_deeply([$shown->{name}, $shown->{next}, map { @$_{qw(name sha256)} } @{ $shown->{former} }],
        ['New', undef, 'Old', $before->{sha256}], '… the seal, and its former certificate');
    is(slurp("$dir/seal.crt") . slurp("$dir/seal.key"), $pair, '… the files are those that were the next ones');
    is(mode("$dir/seal.key"), '600', '… only the owner can read the key');
    is(join(' ', map {m{([^/]+)$}} sort glob "$dir/*"), 'former seal.crt seal.key', '… nothing else is left');
}
is_rotated($dir, 'rotated');
exits(3, 'rotate again', 'rotate', $dir);
is_rotated($dir, 'rotated once');
exits(0, 'the next request', 'request', $dir, 'Third');

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
        is($code, 0, "rotate is killed before its change $at: the pair is usable") or diag $error;
        if (!-e "$dir/next.crt" && -e "$dir/next.key") {
            exits(4, '… no other command goes on', @$_) for ['request', $dir, 'x'], ['import', $dir, $good];
        }
        exits(0, '… it is repeated', 'rotate', $dir) if -e "$dir/next.key";
        unlink glob "$dir/*.csr"; # only the last change is to delete it
        is_rotated($dir, "killed before $at");
    }
    cmp_ok($at, '>', 12, "rotate makes $at changes");
    for ($at = 1; ; $at++) {
        $dir = fresh('killed', 'requested');
        last if $killed->($at, 'import', $dir, sent($good, @above)) eq '0';
        my ($code) = run('import', $dir, sent($good, @above));
        is($code, -e "$dir/next.crt" && $code ? 4 : 0, "import is killed before its change $at, and repeated");
        is_deeply(chain("$dir/next.crt"), $expected, '… the certificates are complete');
    }
    cmp_ok($at, '>', 4, "import makes $at changes");
    for ($at = 1; ; $at++) {
        $dir = fresh('killed', 'first');
        last if $killed->($at, 'request', $dir, 'New') eq '0';
        my ($code) = run('request', $dir, 'New');
        is($code, -e "$dir/next.key" && $code ? 4 : 0, "request is killed before its change $at, and repeated");
        openssl("req -in $dir/next.csr -noout -pubkey -out $folder/one");
        openssl("pkey -in $dir/next.key -pubout -out $folder/two");
        is(slurp("$folder/one"), slurp("$folder/two"), '… the request is that of the key');
    }
    cmp_ok($at, '>', 8, "request makes $at changes");
}
done_testing;
