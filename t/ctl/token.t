# SPDX-License-Identifier: Apache-2.0
# sigreqctl seal request, import, show and rotate for a key in a token (PKCS#11), by SoftHSM. The PIN is in a file, and
# on no command line. t/ctl/rotation.t has what they do with keys in files, t/api/token.t what httpd does with tokens.
use strict;
use warnings;
use lib 't/lib';
use Cwd 'abs_path';
use File::Copy 'copy';
use File::Temp 'tempdir';
use JSON::PP 'decode_json';
use Sigreq::PKI;
use Test::More;

my $SOFTHSM = '/usr/lib/softhsm/libsofthsm2.so';
my $PIN     = 'a PIN of 1 token';
my $folder  = tempdir('sigreq-ctl-token.XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $program = abs_path('build/sigreqctl') // die "build/ has no programs: run make\n";
my $signer  = abs_path('build/sigreq-signd');
delete $ENV{SIGREQ_CONFIG};

sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar(<$in>) // '' }
sub spit { my ($path, $text) = @_; open my $out, '>', $path or die "$path: $!\n"; print $out $text; close $out; $path }

mkdir "$folder/tokens";
$ENV{SOFTHSM2_CONF} = spit("$folder/softhsm2.conf",
    "directories.tokendir = $folder/tokens\nobjectstore.backend = file\nlog.level = ERROR\n");
spit("$folder/pin",   "$PIN\n");
spit("$folder/wrong", "another\n");

sub run {    # a command: (exit code, all it said)
    my @command = @_;
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1 </dev/null', 'sh', @command or die "$command[0]: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe;
    return ($? >> 8, $said);
}

sub must { my ($code, $said) = run(@_); die "@_: $said\n" if $code; return $said }

must('softhsm2-util', '--init-token', '--free', '--label', 'ours', '--so-pin', '12345678', '--pin', $PIN);

sub make_key {    # in the token
    my ($name, $id, $type) = @_;
    must('pkcs11-tool', '--module', $SOFTHSM, '--token-label', 'ours', '--login', '--pin', $PIN, '--keypairgen',
        '--key-type', $type, '--label', $name, '--id', $id, '--usage-sign');
    return "pkcs11:token=ours;object=$name;type=private";
}
my $first = make_key('first', '01', 'EC:prime256v1');
my $rsa   = make_key('rsa',   '02', 'rsa:2048');
my $p384  = make_key('p-384', '03', 'EC:secp384r1');

sub public_of {    # what the token says is the public key
    my ($name) = @_;
    must('pkcs11-tool', '--module', $SOFTHSM, '--token-label', 'ours', '--read-object', '--type', 'pubkey', '--label',
        $name, '-o', "$folder/public.der");
    return must(qw(openssl pkey -pubin -inform DER -pubout -in), "$folder/public.der");
}

sub seal {         # sigreqctl seal with these words
    return run($program, 'seal', @_);
}
my @token = ('--module', $SOFTHSM, '--signer', $signer);
my @pin = ('--pin', "file:$folder/pin");

sub refused {
    my ($name, $expected, $pattern, @words) = @_;
    my ($code, $said) = seal(@words);
    is($code, $expected, "$name is rejected");
    like($said, $pattern, "the message gives the reason for rejecting $name");
    return;
}

my $ours = "$folder/ours";
my @request = ('request', $ours, 'Our company', '--key');
refused('a PIN on the command line', 2, qr/--pin names a file, file:PATH/, @request, $first, @token, '--pin', $PIN);
refused('a request without a module', 2, qr/no PKCS#11 module is named/, @request, $first, @pin,
    '--config', '/dev/null');
refused('the path of a key file', 2, qr/its URI begins with pkcs11:/, @request, "$folder/seal.key", @token, @pin);
refused('an unknown key', 5, qr/no private key that matches the URI/, @request, $first =~ s/first/none/r, @token, @pin);
refused('an unknown token', 5, qr/the token is not there/, @request, $first =~ s/ours/none/r, @token, @pin);
refused('a request without a PIN', 5, qr/the token needs a PIN/, @request, $first, @token, '--config', '/dev/null');
refused('a wrong PIN', 5, qr/refuses the PIN\. It was tried once: correct it before you repeat/, @request, $first,
    @token, '--pin', "file:$folder/wrong");
refused('a missing file of the PIN', 5, qr/No such file/, @request, $first, @token, '--pin', "file:$folder/none");
refused('a module that is no library', 5, qr/SigreqPKCS11Module: /, @request, $first, '--module', '/bin/true',
    '--signer', $signer, @pin);
refused('a missing signer program', 5, qr/cannot be started/, @request, $first, '--module', $SOFTHSM, '--signer',
    "$folder/none", @pin);
ok(!-e $ours, 'rejected requests write nothing');

sub request {    # for a key: what it says, with the public key compared
    my ($name, $uri, $file, @under) = @_;
    my ($code, $said) = run(@under, $program, 'seal', @request, $uri, @token, @pin, '--json');
    is($code, 0, "a request for the key $name succeeds") or diag $said;
    my $made = decode_json($said);
    is_deeply([@$made{qw(request_file key_file)}], ["$ours/$file.csr", $uri],
        "the result names the request for $name and the key");
    like(must(qw(openssl req -verify -noout -subject -in), "$ours/$file.csr"), qr/CN ?= ?Our company/,
        "openssl finds the name in the request for $name, and the signature of its key");
    is(must(qw(openssl req -noout -pubkey -in), "$ours/$file.csr"), public_of($name),
        "the request contains the key $name of the token")
        if $name ne 'p-384';    # pkcs11-tool of Debian 12 cannot read it
    is(slurp("$ours/$file.token"), "$uri\n", "the URI of $name is kept");
    ok(!-e "$ours/$file.key", "no key file is written for $name");
    return;
}

SKIP: {
    skip 'strace cannot trace here', 1 if system('strace -qq -o /dev/null true 2>/dev/null') != 0;
    run('strace', '-f', '-v', '-s', 9999, '-qq', '-e', 'trace=execve,clone,vfork', '-o', "$folder/started", $program,
        'seal', @request, $first =~ s/first/none/r, @token, @pin);
    my $started = slurp("$folder/started");
    ok($started =~ /sigreq-signd/ && $started !~ /\Q$PIN\E/, 'no arguments and no environment contain the PIN');
}
request('first', $first, 'seal');
my $pki = Sigreq::PKI->new("$folder/pki");

sub sent {    # certificates for a request, as the authority sends them
    my ($file, $name) = @_;
    copy("$ours/$file.csr", $pki->file("$name.csr")) or die "$file.csr: $!\n";
    $pki->certify($name, 'ca', 'seal');
    $pki->join_files("$name.pem", 'ca', $name);
    return $pki->file("$name.pem");
}
my $sent = sent('seal', 'ours');
refused('a second request', 4, qr{seal\.token exists}, @request, $p384, @token, @pin);
refused('a new seal in a file beside the request', 4, qr{seal\.token exists}, 'create', $ours);
refused('a certificate of another key', 1, qr{not the certificate of the key in \S+/seal\.csr}, 'import', $ours,
    $pki->file('seal-chain.crt'));
ok(!-e "$ours/seal.crt", 'a rejected certificate is not installed');
my ($code, $said) = seal('import', $ours, $sent, '--json');
is($code, 0, 'the certificates of the request are imported') or diag $said;
is(decode_json($said)->{key_file}, $first, 'import names the key without a login');
is(slurp("$ours/seal.crt"), slurp($pki->file('ours.crt')) . slurp($pki->file('ca.crt')),
    'import writes the certificates in the right order');
ok(!-e "$ours/seal.csr", 'import deletes the request');
my $shown = decode_json((seal('show', $ours, '--json'))[1]);
is_deeply([@$shown{qw(key_file usable)}], [$first, undef], 'show names the key and does not try it');

for my $next (['rsa', $rsa], ['p-384', $p384]) {
    request(@$next, 'next');
    ($code, $said) = seal('import', $ours, sent('next', "next-$next->[0]"), '--json');
    is($code, 0, "the next certificate for $next->[0] is imported") or diag $said;
    $shown = decode_json((seal('show', $ours, '--json'))[1]);
    is($shown->{next}{key_file}, $next->[1], "show names the next key $next->[0]");
    refused("rotate to the key $next->[0]", 4,
        qr{its key is in a token, which the configuration names: put it and "pkcs11:}, 'rotate', $ours);
    unlink map {"$ours/next.$_"} qw(crt token);
}
done_testing;
