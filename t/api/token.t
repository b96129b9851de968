# SPDX-License-Identifier: Apache-2.0
# Keys in tokens (PKCS#11), by SoftHSM: signatures, PINs, tokens that are pulled, and configurations that are wrong.
# build/t/tool/faulty_token.so is SoftHSM with faults; it counts the logins.
use strict;
use warnings;
use File::Temp 'tempdir';
use IO::Socket::INET;
use Mojo::File 'path';
use Sigreq::Here qw(suite children signers wait_for organisation);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Sigreq::Suite;
use Sigreq::Signer 'signers_of';
use Sigreq::SoftHSM;
use Test::More;
use Time::HiRes 'sleep';

my $SOFTHSM = Sigreq::SoftHSM::MODULE;
my $FAULTY  = suite->{source} . '/build/t/tool/faulty_token.so';
my $PIN     = Sigreq::SoftHSM::PIN;
my $folder  = tempdir('token.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
mkdir "$folder/faults" or die "$folder/faults: $!\n";
$ENV{FAULTY_MODULE} = $SOFTHSM;
$ENV{FAULTY_FOLDER} = "$folder/faults";
my $softhsm = Sigreq::SoftHSM->new($folder);

sub run { return Sigreq::SoftHSM::run(@_) }

sub certify {    # makes a certificate of a key that was made in a token
    my ($label, $module, $token) = @_;
    my $file = "$folder/$label";
    run('pkcs11-tool', '--module', $module, '--token-label', $token, '--read-object', '--type', 'pubkey', '--label',
        $label, '-o', "$file.der");
    run(qw(openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out), "$folder/ca.key");
    run(qw(openssl req -x509 -new -days 30 -subj /CN=CA -key), "$folder/ca.key", '-out', "$folder/ca.crt");
    path("$folder/extensions")->spurt("keyUsage=digitalSignature\n");
    run(qw(openssl pkey -pubin -inform DER -in), "$file.der", '-out', "$file.pub");
    run(qw(openssl req -new -key), "$folder/ca.key", '-subj', "/CN=$label", '-out', "$file.csr");
    run(qw(openssl x509 -req -days 30 -in), "$file.csr", '-force_pubkey', "$file.pub", '-CA', "$folder/ca.crt",
        '-CAkey', "$folder/ca.key", '-extfile', "$folder/extensions", '-out', "$file.crt");
}

sub tool { run('pkcs11-tool', '--module', $SOFTHSM, @_) }

# The directives: production and test seal (CERTIFICATE => URI), or other ones.
sub seal {
    my %o = (production => undef, test => undef, module => $SOFTHSM, pin => "file:$folder/pin", @_);
    my $text = '';
    for (['', $o{production}], ['Test', $o{test}]) {
        my ($name, $pair) = @$_;
        $text .= qq{Sigreq${name}SealCertificate "$pair->[0]"\nSigreq${name}SealKey "$pair->[1]"\n} if $pair;
    }
    $text .= qq{SigreqPKCS11Module "$o{module}"\n} if $o{module};
    $text .= qq{SigreqSealPIN "$o{pin}"\n}         if $o{pin};
    return $text;
}

sub logins { my $file = "$folder/faults/logins"; return -e $file ? split(/\n/, path($file)->slurp) : () }
sub reset_logins { unlink "$folder/faults/logins" }

sub without_seal {    # httpd starts, and seals nothing: its log
    my $httpd = shift;
    $httpd->start;
    ok(refuses($httpd), 'httpd starts, and documents are not signed');
    return $httpd->log;
}

sub seen_in {    # those of these processes whose memory maps or memory has a text; and how many could be read
    my ($text, @pids) = @_;
    no warnings 'portable';
    my ($read, @found) = (0);
    for my $pid (@pids) {
        my $maps = eval { path("/proc/$pid/maps")->slurp } // '';
        $read++              if $maps;
        push @found, "$pid"  if $maps =~ /softhsm/;
        open my $memory, '<:raw', "/proc/$pid/mem" or next;
        while ($maps =~ /^([0-9a-f]+)-([0-9a-f]+) r.*$/mg) {
            my ($from, $size, $bytes) = (hex $1, hex($2) - hex($1), '');
            next if $& =~ /\[v/ || $size > 1 << 28;
            sysseek $memory, $from, 0 or next;
            sysread $memory, $bytes, $size;
            push @found, "$pid has the PIN" if index($bytes, $text) >= 0;
            undef $bytes;    # perl would keep its memory, and copy it for each program that it starts
        }
    }
    return ($read, "@found");
}

my %token = map { $_ => $softhsm->token($_) } qw(seal other);
my %key   = (
    'p-256' => $softhsm->key('seal',  'p-256', 'EC',  'ec_paramgen_curve:P-256'),
    'rsa'   => $softhsm->key('other', 'rsa',   'RSA', 'rsa_keygen_bits:2048'),
    'p-384' => $softhsm->key('seal',  'p-384', 'EC',  'ec_paramgen_curve:P-384'),
    'p-521' => $softhsm->key('seal',  'p-521', 'EC',  'ec_paramgen_curve:P-521'),
    'rsa-4' => $softhsm->key('seal',  'rsa-4', 'RSA', 'rsa_keygen_bits:4096'),
);
my $uri = 'pkcs11:token=seal;object=p-256;type=private';
my %p256 = (production => [$key{'p-256'}, $uri]);

my $organisation;
sub client_of { # of an environment
    my ($httpd, $environment) = @_;
    my $client = ($organisation //= organisation(client => { connections => 0 }))->{$environment};
    $client->{base} = $httpd->base;
    return $client;
}

sub fresh {
    my ($client, $nonce) = @_;
    my @file = ('a.pdf', pdf(nonce => $nonce));
    return $client->create(files => [\@file])->json;
}

sub sign_one { my ($client) = @_; return (signers_of(fresh($client, rand), connections => 0))[0]->sign }

sub is_sealed { # whether a document is intact, by pdfsig: what is wrong
    my ($client, $made, $name) = @_;
    my $res = $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}");
    return 'no document: ' . $res->code if $res->code != 200;
    path("$folder/sealed.pdf")->spurt($res->body);
    my $said = run('pdfsig', '-nocert', "$folder/sealed.pdf");
    return $said if $said !~ /Signature Validation: Signature is Valid/;
    return $said !~ /Signer Certificate Common Name: \Q$name\E/ ? $said : '';
}

sub signs {
    my ($httpd, $environment, $name) = @_;
    my $client   = client_of($httpd, $environment);
    my $made     = fresh($client, rand);
    my ($signer) = signers_of($made, connections => 0);
    is($signer->sign->code, 200, "$environment, $name: a document is signed") or diag $httpd->log;
    is(is_sealed($client, $made, $name), '', "$environment, $name: pdfsig calls the signature valid");
}

sub signs_again { my $httpd = shift; return wait_for(sub { sign_one(client_of($httpd, 'live'))->code == 200 }) }
sub refuses     { my $httpd = shift; return wait_for(sub { sign_one(client_of($httpd, 'live'))->code == 503 }) }

sub is_replaced {    # a signer process by another one
    my ($httpd, $old) = @_;
    return wait_for(sub { my @now = signers($httpd->pid); @now == 1 && $now[0] != $old });
}

subtest 'keys of all kinds' => sub {
    for ([['p-256', 'seal'], ['rsa', 'other']], [['p-384', 'seal'], ['p-521', 'seal']], [['rsa-4', 'seal'], undef]) {
        my ($production, $test) = @$_;
        my @pairs = map { $_ ? [$key{ $_->[0] }, "pkcs11:token=$_->[1];object=$_->[0];type=private"] : undef } @$_;
        my $httpd = Sigreq::Httpd->new(children => 2, seal => seal(production => $pairs[0], test => $pairs[1]));
        my ($status, $said) = $httpd->test;
        is($status, 0, 'httpd -t') or diag $said;
        $httpd->start;
        signs($httpd, 'live', $production->[0]);
        signs($httpd, 'test', $test->[0]) if $test;
        next if $production->[0] ne 'p-256';
        my ($signer)      = signers($httpd->pid);
        my ($read, $have) = seen_in($PIN, $httpd->pid, children($httpd->pid));
        cmp_ok($read, '>=', 3, 'the memory of parent and children can be read');
        is($have, '', 'no process of httpd has the module or the PIN');
        my ($here) = (seen_in($PIN, $$))[1];
        like($here, qr/has the PIN/, 'the search finds it in this process');
        my $state = path("/proc/$signer/status")->slurp;
        if (!$ENV{SIGREQ_SANITIZE}) {    # with sanitizers it has no sandbox
            like($state, qr/^NoNewPrivs:\t1$/m, 'the signer process has no new privileges');
            like($state, qr/^Seccomp:\t2$/m,    'the signer process has a filter of system calls');
        }
        like(path("/proc/$signer/limits")->slurp, qr/^Max core file size +0 /m,
            'the signer process writes no core file');
        is(eval { path("/proc/$signer/maps")->slurp } // '', '',
            'the user of the signer process cannot look into it') if $>;
    }
};

subtest 'each signature with a login of its own' => sub {
    tool('--token-label', 'seal', '--login', '--pin', $PIN, '--keypairgen', '--key-type', 'EC:prime256v1', '--label',
        'always', '--id', 'aa', '--always-auth', '--usage-sign');
    certify('always', $SOFTHSM, 'seal');
    my $httpd = Sigreq::Httpd->new(
        seal => seal(production => ["$folder/always.crt", 'pkcs11:token=seal;id=%aa;type=private'], module => $FAULTY));
    reset_logins();
    $httpd->start;
    my $before = logins();
    signs($httpd, 'live', 'always');
    cmp_ok(scalar(() = logins()), '>=', $before + 1, 'there was a login for the signature');
};

subtest 'a wrong PIN' => sub {
    path("$folder/wrong")->spurt("not the PIN\n");
    my $httpd = Sigreq::Httpd->new(seal => seal(%p256, module => $FAULTY, pin => "file:$folder/wrong"));
    reset_logins();
    my ($status, $said) = $httpd->test;
    is($status, 0, 'httpd -t does not know it') or diag $said;
    is_deeply([logins()], [], 'httpd -t tries no PIN');
    my $pair = qr/SR0400: SigreqSealCertificate and SigreqSealKey: /;
    my $why = qr/${pair}the token refuses the PIN of SigreqSealPIN\. It was tried once/;
    like(without_seal($httpd), qr/:crit\].* $why.* cannot be signed/, 'the log says why');
    my $again = qr/SR0414: \Q$uri\E: the PIN was wrong, and is not tried again/;
    ok(wait_for(sub { $httpd->log =~ $again }), 'the key is looked for again and again, and the PIN not tried');
    $httpd->stop;
    is_deeply([logins()], ['0xa0'], 'it was tried once');
    like(tool('-L'), qr/token label +: seal\n(?:.*\n)*?.*user PIN count low/, 'the token says so');

    path("$folder/faults/final")->spurt('');
    reset_logins();
    my $right = Sigreq::Httpd->new(seal => seal(%p256, module => $FAULTY));
    like(without_seal($right), qr/${pair}one more wrong PIN would lock the token/, 'if one try is left, none is made');
    is_deeply([logins()], [], 'the right PIN is not tried either');
    unlink "$folder/faults/final";
    ok(signs_again($right), 'when the token accepts logins again, documents are signed without a restart');
    $right->stop;

    path("$folder/changing")->spurt("$PIN\n");
    $httpd = Sigreq::Httpd->new(children => 2, seal => seal(%p256, module => $FAULTY, pin => "file:$folder/changing"));
    reset_logins();
    $httpd->start;
    signs($httpd, 'live', 'p-256');
    is_deeply([logins()], ['0x0'], 'the right PIN: one login');
    for my $round (1 .. 2) {    # the same PIN is right again
        my ($old) = signers($httpd->pid);
        kill KILL => $old;
        ok(signs_again($httpd), "killed $round: documents are signed again");
    }
    is_deeply([logins()], [('0x0') x 3], 'each process has logged in once');
    path("$folder/changing")->spurt("another PIN\n");
    for my $round (1 .. 3) {
        my ($old) = signers($httpd->pid);
        kill KILL => $old;
        ok(is_replaced($httpd, $old), 'the process is started again');
        ok(refuses($httpd), 'with a wrong PIN: 503');
    }
    is_deeply([logins()], [('0x0') x 3, '0xa0'], 'three processes have tried the wrong PIN once');
    like($httpd->log, qr/SR0414: \Q$uri\E: the token refuses the PIN/, 'the log says so');
    path("$folder/changing")->spurt($PIN);    # without a newline
    ok($httpd->graceful, 'httpd is restarted');
    ok(signs_again($httpd), 'documents are signed again');

    path("$folder/faults/crash")->spurt('');
    path("$folder/changing")->spurt("$PIN\n");
    reset_logins();
    ok(wait_for(sub { my @all = signers($httpd->pid); @all == 1 }), 'the process from before the restart has ended');
    for my $round (1 .. 2) {
        my ($old) = signers($httpd->pid);
        kill KILL => $old;
        my $crashed = qr/SR0414: \Q$uri\E: the process ended while it tried the PIN/;
        ok(wait_for(sub { $httpd->log =~ $crashed }), 'a module that crashes at login');
    }
    is_deeply([logins()], ['crash'], 'a module that crashes at login is called once');
    unlink "$folder/faults/crash";
};

# What happens while `$fault` is there and then is not.
sub survives {
    my ($what, $httpd, $begin, $end) = @_;
    my $client  = client_of($httpd, 'live');
    my @made    = map { fresh($client, "$what $_") } 1 .. 32;
    my @signers = map { (signers_of($_, connections => 0))[0] } @made;
    is($signers[0]->sign->code, 200, "$what: before, a document is signed");
    $begin->();
    my $at    = 1;
    my @codes = map { $_->code } $client->parallel(12, 8, sub { $signers[$at++]->sign_p });
    is(join(' ', grep { !/^(?:200|503)$/ } @codes), '', "each response is 200 or 503: @codes");
    my $refused = grep { $_ == 503 } @codes;
    cmp_ok($refused, '>=', 1, 'documents are refused while the token is away');
    my $pid = fork // die "fork: $!";
    if (!$pid) { sleep 0.5; $end->(); require POSIX; POSIX::_exit(0) }    # while others sign
    push @codes, map { $_->code } $client->parallel(19, 8, sub { $signers[$at++]->sign_p });
    waitpid $pid, 0;
    ok(wait_for(sub { sign_one($client)->code == 200 }), 'documents are signed again without a restart');
    my ($open, $broken, $wrong) = (0, 0, '');
    for my $i (1 .. $#signers) {
        my $state = $client->get("/signatures/$made[$i]{uuid}")->json->{submitters}[0]{status};
        $open++   if ($state eq 'completed') != ($codes[$i - 1] == 200);
        $broken++ if $state ne 'completed' && $signers[$i]->sign->code != 200;
        $wrong .= is_sealed($client, $made[$i], 'p-256');
    }
    is($open,   0,  'a document is completed if and only if its signer was told so');
    is($broken, 0,  'a signer who was refused can sign later');
    is($wrong,  '', 'pdfsig: all signatures are valid');
}

subtest 'tokens that fail' => sub {
    my $httpd = Sigreq::Httpd->new(children => 2, seal => seal(%p256, module => $FAULTY));
    $httpd->start;
    my $fault = sub { my $text = shift; return sub { path("$folder/faults/sign")->spurt($text) } };
    my $none = sub { unlink "$folder/faults/sign" };
    survives('the token is pulled', $httpd, sub { rename $token{seal}, "$folder/pulled" or die },
        sub { rename "$folder/pulled", $token{seal} });
    like($httpd->log, qr/SR0414: \Q$uri\E: the token is not there/, 'the log says that it is not there');
    like($httpd->log, qr/SR0415: \Q$uri\E: the token is ready again/, 'the log says that the token is ready again');
    survives('CKR_DEVICE_REMOVED',         $httpd, $fault->('0x32'), $none);
    survives('CKR_SESSION_HANDLE_INVALID', $httpd, $fault->('0xb3'), $none);
    survives('wrong signatures',           $httpd, $fault->('flip'), $none);
    like($httpd->log, qr/its signature is not valid/, 'the log says so');
    survives_kill($httpd);
    rename $token{seal}, "$folder/pulled" or die;    # while nobody signs
    rename "$folder/pulled", $token{seal} or die;
    ok(signs_again($httpd), 'pulled and returned while nobody signs');
    unlike($httpd->log, qr/exit status/, 'the process has not ended by itself');
};

sub survives_kill {
    my $httpd = shift;
    my ($old) = signers($httpd->pid);
    rename $token{seal}, "$folder/pulled" or die;
    kill KILL => $old;
    ok(is_replaced($httpd, $old), 'killed while the token is pulled');
    ok(refuses($httpd), 'the token is pulled: 503');
    rename "$folder/pulled", $token{seal} or die;
    ok(signs_again($httpd), 'the new process finds the token when it returns');
}

# A TPM in software (swtpm) behind a resource manager, and tpm2-pkcs11.
my @daemons;
END { local $?; kill TERM => $_ for grep {defined} @daemons }

sub daemon {    # starts a program: its process id
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDOUT, '>>', "$folder/daemons.log";
        open STDERR, '>&', \*STDOUT;
        exec @_ or require POSIX;
        POSIX::_exit(1);
    }
    push @daemons, $pid;
    return $pid;
}

sub tpm_start {
    my $port   = shift;
    my $before = -e "$folder/daemons.log" ? -s "$folder/daemons.log" : 0;
    daemon('swtpm', 'socket', '--tpm2', '--tpmstate', "dir=$folder/tpm", '--server', "type=tcp,port=$port", '--ctrl',
        'type=tcp,port=' . ($port + 1), '--flags', 'not-need-init,startup-clear');
    my @address = (PeerAddr => '127.0.0.1', PeerPort => $port + 1);
    wait_for(sub { IO::Socket::INET->new(@address) }) or die "swtpm does not start\n";
    daemon('tpm2-abrmd', '--session', '--flush-all', "--tcti=swtpm:host=127.0.0.1,port=$port");
    wait_for(sub { system("tpm2_getrandom 4 >>$folder/daemons.log 2>&1") == 0 })
        or die path("$folder/daemons.log")->slurp;
}

sub tpm_stop { my @pids = splice @daemons, 1; kill KILL => @pids; waitpid $_, 0 for @pids }    # not the bus

subtest 'a token of another maker' => sub {
    my ($module) = glob '/usr/lib/*/pkcs11/libtpm2_pkcs11.so';
    my $port = Sigreq::Suite::free_port();
    mkdir "$folder/$_" for qw(tpm store);
    local @ENV{qw(TPM2_PKCS11_TCTI TPM2TOOLS_TCTI TPM2_PKCS11_STORE TPM2_PKCS11_LOG_LEVEL DBUS_SESSION_BUS_ADDRESS)} =
        (('tabrmd:bus_type=session') x 2, "$folder/store", 0, "unix:path=$folder/bus");
    daemon('dbus-daemon', '--session', '--nofork', "--address=unix:path=$folder/bus");
    wait_for(sub { -S "$folder/bus" });
    tpm_start($port);
    my @store = ('--path', "$folder/store");
    run('tpm2_ptool', 'init', @store);
    run('tpm2_ptool', 'addtoken', '--pid=1', '--label=tpm', '--sopin=12345678', "--userpin=$PIN", @store);
    run('tpm2_ptool', 'addkey', '--algorithm=ecc256', '--label=tpm', '--key-label=tpm-key', "--userpin=$PIN", @store);
    certify('tpm-key', $module, 'tpm');
    my $tpm   = 'pkcs11:token=tpm;object=tpm-key;type=private';
    my $httpd = Sigreq::Httpd->new(seal => seal(production => ["$folder/tpm-key.crt", $tpm], module => $module));
    my ($status, $said) = $httpd->test;
    is($status, 0, 'httpd -t') or diag $said;
    $httpd->start;
    signs($httpd, 'live', 'tpm-key');
    tpm_stop();
    ok(refuses($httpd), 'the TPM is gone: 503');
    tpm_start($port);
    ok(signs_again($httpd), 'it is back: documents are signed');
    $httpd->stop;
    tpm_stop();
};

subtest 'the key is replaced by another one' => sub {
    my $file = path("$folder/seal.conf")->spurt(seal(%p256));
    my $httpd = Sigreq::Httpd->new(seal => qq{Include "$file"})->start;
    signs($httpd, 'live', 'p-256');
    $file->spurt(seal(production => [$key{rsa}, 'pkcs11:token=other;object=rsa;type=private']));
    ok($httpd->graceful, 'a graceful restart with another token');
    signs($httpd, 'live', 'rsa');
    my ($old) = signers($httpd->pid);
    kill KILL => $old;
    ok(is_replaced($httpd, $old), 'the process is started again');
    signs($httpd, 'live', 'rsa');
    $httpd->stop;
};

subtest 'an expired certificate' => sub {
    run(qw(openssl x509 -pubkey -noout -in), $key{'p-256'}, '-out', "$folder/p-256.pub");
    run(qw(faketime -f -60d openssl x509 -req -days 30 -in), "$folder/always.csr", '-force_pubkey',
        "$folder/p-256.pub", '-CA', "$folder/ca.crt", '-CAkey', "$folder/ca.key", '-extfile', "$folder/extensions",
        '-out', "$folder/expired.crt");
    my $httpd = Sigreq::Httpd->new(seal => seal(production => ["$folder/expired.crt", $uri]));
    like(($httpd->test)[1], qr/SR0400: .*expired at/, 'httpd -t says it');
    like(without_seal($httpd), qr/:crit\].* SR0402: the certificate "always" .*expired at/,
        'the start says that the certificate has expired');
};

subtest 'wrong configurations' => sub {
    my $wrong = sub {
        my ($what, $message, %o) = @_;
        my $httpd = Sigreq::Httpd->new(seal => seal(%p256, module => $FAULTY, %o));
        reset_logins();
        my ($status, $said) = $httpd->test;
        my $is_text = $what eq 'the PIN is no file'; # the others stop this service alone
        $is_text ? isnt($status, 0, "httpd -t: $what") : is($status, 0, "httpd -t: $what");
        like($said, $message, "$what: the message says why");
        is_deeply([logins()], [], "$what: no PIN was tried");
    };
    my $pair = sub { [$key{'p-256'}, $_[0]] };
    my $name = qr/SR0400: SigreqSealCertificate and SigreqSealKey: /;
    $wrong->('no module is named', qr/$name.*needs SigreqPKCS11Module/, module => undef);
    $wrong->('the module is missing', qr/${name}SigreqPKCS11Module: \S+no\.so: cannot open/, module => "$folder/no.so");
    $wrong->('it is no library', qr/${name}SigreqPKCS11Module: .*pin: /, module => "$folder/pin");
    $wrong->('it is another library', qr/$name.*is not a PKCS#11 module/, module => (glob '/lib/*/libm.so.6')[0]);
    $wrong->('the PIN file is missing', qr{${name}SigreqSealPIN file:\S+/no: No such file}, pin => "file:$folder/no");
    path("$folder/empty")->spurt("\n");
    $wrong->('the PIN is empty', qr{${name}SigreqSealPIN file:\S+/empty: it is empty}, pin => "file:$folder/empty");
    path("$folder/two")->spurt("1234\n5678\n");
    $wrong->('two PINs', qr{${name}SigreqSealPIN file:\S+/two: it must have one line}, pin => "file:$folder/two");
    $wrong->('no PIN', qr/$name.*there is no SigreqSealPIN/, pin => undef);
    $wrong->('the PIN is no file', qr/SigreqSealPIN must be file: and an absolute path, not '1234'/, pin => '1234');
    $wrong->('no such token', qr/${name}the token is not there/,
        production => $pair->('pkcs11:token=none;object=p-256'));
    $wrong->('no such object', qr/${name}the token has no key, public key or certificate that matches/,
        production => $pair->('pkcs11:token=seal;object=none'));
    $wrong->('several tokens', qr/${name}more than one token matches/, production => $pair->('pkcs11:object=p-256'));
    $wrong->('no URI', qr/$name.*\(RFC 7512\)/, production => $pair->('pkcs11:token=%zz'));
    $wrong->('a public key', qr/$name.*it must have type=private/,
        production => $pair->('pkcs11:token=seal;type=public'));
    $wrong->('a PIN in the URI', qr/$name.*SigreqSealPIN does/, production => $pair->("$uri?pin-value=1234"));
    $wrong->('a module in the URI', qr/$name.*SigreqPKCS11Module does/, production => $pair->("$uri?module-path=/x"));
    $wrong->('a key that does not match', qr/${name}the key in the token is not that of the certificate/,
        production => [$key{'p-384'}, $uri]);
    $wrong->('a key of the test seal', qr/SigreqTestSealCertificate and SigreqTestSealKey: the key in the token/,
        test => [$key{rsa}, 'pkcs11:token=seal;object=rsa-4']);

    my $hidden = Sigreq::Httpd->new(seal => seal(production => [$key{'p-384'}, 'pkcs11:token=bare;object=bare']));
    $softhsm->token('bare');    # with a private key and nothing that can be seen without a login
    $softhsm->key('bare', 'bare', 'EC', 'ec_paramgen_curve:P-256');
    tool('--token-label', 'bare', '--login', '--pin', $PIN, '--delete-object', '--type', 'pubkey', '--label', 'bare');
    my ($status, $said) = $hidden->test;
    is($status, 0, 'httpd -t cannot see a key that does not match in a token without public objects') or diag $said;
    like(without_seal($hidden), qr/${name}the key in the token is not that of the certificate/, 'the start sees it');
};
done_testing;
