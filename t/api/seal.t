# SPDX-License-Identifier: Apache-2.0
# The files of the seal: `httpd -t` and the start report everything that would make bad signatures, in one line that
# names the file. httpd starts all the same: only documents are not signed. Only the parent reads the key. A restart
# reads it again.
use strict;
use warnings;
use File::Temp 'tempdir';
use Mojo::File 'path';
use Sigreq::Clock qw(clock_missing clock_set clocked);
use Sigreq::Here qw(suite place children wait_for organisation signed);
use Sigreq::Httpd;
use Sigreq::PDF 'pdf';
use Sigreq::Signer 'signers_of';
use Test::More;

my $folder = tempdir('seal.XXXXXX', DIR => suite->{dir}, CLEANUP => 1);
my $ours   = suite->{dir} . '/seal';
my @both   = ('SigreqSealCertificate and SigreqSealKey', 'SigreqTestSealCertificate and SigreqTestSealKey');

sub create {    # a pair by sigreqctl: its folder
    my ($name, @options) = @_;
    system(suite->{source} . '/build/sigreqctl', 'seal', 'create', "$folder/$name", '--json', @options) == 0
        or die "seal create\n";
    return "$folder/$name";
}

sub run     { system("$_[0] >'$folder/said' 2>&1") == 0 or die "$_[0]: " . path("$folder/said")->slurp }
sub openssl { run("openssl $_[0]") }
sub directives { my ($certificate, $key) = @_; qq{SigreqSealCertificate "$certificate"\nSigreqSealKey "$key"} }
sub pair { Sigreq::Httpd::seal($_[1] // 'SigreqSeal', $_[0]) }
sub write_file { Sigreq::Suite::write_file(@_) }
sub copy { write_file($_[1], path($_[0])->slurp) }
sub lines { grep { !/^(?:Configuration Failed|AH00014|AH00016)/ && /\S/ } split /\n/, $_[0] }

# What httpd says when it is started, and does not come up.
sub refused_start {
    my $httpd = shift;
    my $file  = "$httpd->{dir}/httpd.conf";
    my $said  = qx('@{[Sigreq::Httpd::command()]}' -f '$file' -k start 2>&1 </dev/null);
    my $status = $? >> 8;
    return ($status, $said . $httpd->log);
}

create('soon', '--days', 5);
my $other = create('other');
run("faketime -f -2d openssl x509 -in $other/seal.crt -signkey $other/seal.key -days 1 -out $folder/old.crt");
my $new = "req -x509 -nodes -subj /CN=x -days 9 -keyout $folder";
openssl("$new/tls.key -newkey rsa:2048 -out $folder/tls.crt -addext extendedKeyUsage=serverAuth");
openssl("$new/weak.key -newkey rsa:1024 -out $folder/weak.crt");
openssl("pkcs8 -topk8 -passout pass:x -in $other/seal.key -out $folder/locked.key");
copy("$ours/seal.key", "$folder/unreadable.key");
chmod 0, "$folder/unreadable.key";
write_file("$folder/empty", '');

my ($crt, $key) = ("$ours/seal.crt", "$ours/seal.key");
my @refused = (    # what is missing in the configuration, directives, what is said
    ['none',               '', qr/Sigreq On needs $both[0]: 'sigreqctl seal create'/],
    ['no key',             qq{SigreqSealCertificate "$crt"},           qr/$both[0] must be set together/],
    ['no certificate',     qq{SigreqSealKey "$key"},                   qr/$both[0] must be set together/],
    ['half a test pair',   pair($ours) . qq{\nSigreqTestSealKey "$key"},       qr/$both[1] must be set together/],
);
my @wrong = (    # what is wrong, directives, what is said
    ['a missing one',      directives("$folder/none.crt", $key),       qr{$both[0]: \S+/none\.crt: No such file}],
    ['a missing key',      directives($crt, "$folder/none.key"),       qr{$both[0]: \S+/none\.key: No such file}],
    ['a folder',           directives($folder, $key),                  qr{\Q$folder\E: Is a directory}],
    ['an empty file',      directives("$folder/empty", $key),          qr{/empty: it holds no certificate}],
    ['an empty key',       directives($crt, "$folder/empty"),          qr{/empty: it holds no private key}],
    ['the two exchanged',  directives($key, $crt),                     qr{/seal/seal\.key: it holds no certificate}],
    ['an unreadable key',  directives($crt, "$folder/unreadable.key"), qr{/unreadable\.key: Permission denied}],
    ['a key of another',   directives($crt, "$other/seal.key"),        qr{/seal\.crt: it is not the certificate of}],
    ['a passphrase',       directives("$other/seal.crt", "$folder/locked.key"), qr{/locked\.key: its .* a passphrase}],
    ['an expired one',     directives("$folder/old.crt", "$other/seal.key"), qr{/old\.crt: it expired at \d{4}-}],
    ['one for TLS',        directives("$folder/tls.crt", "$folder/tls.key"), qr{/tls\.crt: .* not for signing}],
    ['a weak one',         directives("$folder/weak.crt", "$folder/weak.key"), qr{/weak\.crt: its key is RSA 1024}],
    ['a wrong test pair',  pair($ours) . "\n" . pair("$folder/none", 'SigreqTestSeal'), qr{$both[1]: \S+/none/seal}],
);
for my $row (@refused) {
    my ($name, $seal, $expected) = @$row;
    my $httpd = Sigreq::Httpd->new(seal => $seal);
    for my $said (['httpd -t', $httpd->test], ['the start', refused_start($httpd)]) {
        isnt($said->[1], 0, "$name: $said->[0] refuses");
        my @lines = lines($said->[2]);
        is(scalar @lines, 1, "$name: $said->[0] says one line") or diag $said->[2];
        like($lines[0], $expected, "$name: the line has the reason");
    }
}
mkdir "$folder/www";
write_file("$folder/www/other.txt", 'another site');
my $site = qq{DocumentRoot "$folder/www"};
my $organisation = organisation();

sub client_of { my ($httpd, $environment) = @_; my $c = $organisation->{$environment}; $c->{base} = $httpd->base; $c }

sub signs {    # the status of a signature, and what another site answers
    my ($httpd, $environment) = @_;
    my $made = client_of($httpd, $environment)->create(files => [['a.pdf', pdf(nonce => rand)]])->json;
    my $code = (signers_of($made))[0]->sign('Ann')->code;
    return "$code " . Mojo::UserAgent->new->get($httpd->base . '/other.txt', { Accept => '*/*' })->res->body;
}

for my $row (@wrong) {
    my ($name, $seal, $expected) = @$row;
    my $httpd = Sigreq::Httpd->new(seal => $seal, server => $site);
    my ($status, $said) = $httpd->test;
    is($status, 0, "$name: httpd -t does not fail") or diag $said;
    my @lines = grep { !/Syntax OK|SR0409/ } lines($said);
    is(scalar @lines, 1, "$name: httpd -t says what is wrong, in one line") or diag $said;
    like($lines[0], qr/SR0400: .*$expected.* cannot be signed \(503\) until/,
        "$name: httpd -t says which documents cannot be signed");
    $httpd->start;
    my ($test, $expired) = map { scalar($name =~ $_) } qr/test pair/, qr/expired/;
    my $what = $expired ? qr/SR0402: the certificate .* expired at/ : qr/SR0400: .*$expected/;
    is(scalar(() = $httpd->log =~ /:crit\].* $what/g), 1, "$name: httpd starts, and says so once") or diag $httpd->log;
    my $health = Sigreq::Here::client(base => $httpd->base)->get('/health');
    is($health->code, $test || $expired ? 200 : 503, "$name: the health check has the right status");
    is($health->json('/sealing'), $test || $expired ? undef : 'unavailable',
        "$name: the health check says which part it is");
    is(signs($httpd, $test ? 'test' : 'live'), '503 another site',
        "$name: documents are not signed, another site works");
    is(signs($httpd, $test ? 'live' : 'test'), '200 another site',
        "$name: documents of the other environment are signed");
    $httpd->stop;
}
my ($status, $said) = Sigreq::Httpd->new(seal => '', place => 'Sigreq Off')->test;
is($status, 0, 'without a service no seal is needed') or diag $said;
($status, $said) = Sigreq::Httpd->new(place => "Sigreq On\n" . pair($ours))->test;
isnt($status, 0, 'in a <Location>');
like($said, qr/SigreqSealCertificate/, 'the message names SigreqSealCertificate');

sub healthy { Sigreq::Here::client(base => $_[0]->base)->get('/health')->code == 200 }

my $token = $organisation->{live}{token};

sub seals_with {    # whether the server takes what this pair has signed for its own
    my ($httpd, $signed) = @_;
    my $client = Sigreq::Here::client(base => $httpd->base, token => $token);
    my $res = $client->post('/verify', body => $signed, headers => { 'Content-Type' => 'application/pdf' });
    return $res->json('/signatures/0/ours');
}

subtest 'the key is read once, by the parent' => sub {
    my $pair  = create('mine');
    my $httpd = Sigreq::Httpd->new(seal => pair($pair))->start;
    is(sprintf('%o', (stat "$pair/seal.key")[2] & 07777), '600', 'the key is readable only for its owner');
    my $signed = signed(pdf(), $pair, 'Ann');
    unlink "$pair/seal.key", "$pair/seal.crt";
    ok(healthy($httpd), 'the server works without the files of the seal');
    my @before = children($httpd->pid);
    kill KILL => @before;
    my $renewed = sub {
        my %now = map { $_ => 1 } children($httpd->pid);
        return %now && !grep { $now{$_} } @before;
    };
    ok(wait_for($renewed),                        'the children were replaced');
    ok(wait_for(sub { eval { healthy($httpd) } }), 'a child that started later works');
    ok(seals_with($httpd, $signed),                   'a child that started later seals with the same certificate');
};
subtest 'the seal of the test environment' => sub {
    my $httpd = Sigreq::Httpd->new->start;
    ok(healthy($httpd), 'the server works without a test seal');
    like($httpd->log, qr/:info\].* SR0401: SigreqTestSealCertificate is not set/, 'the log says that one was made');
    is(scalar(() = $httpd->log =~ /SR0401/g), 1, 'once');
    unlike($httpd->log, qr/SR0402/, 'there is no warning about expiry');
    my $client = organisation(client => { base => $httpd->base })->{test};
    my $made   = $client->create->json;
    is((signers_of($made))[0]->sign('Ann')->code, 200, 'a document is signed');
    my $signed = $client->get("/signatures/$made->{uuid}/documents/$made->{documents}[0]{uuid}")->body;
    my $found  = $client->post('/verify', body => $signed, headers => { 'Content-Type' => 'application/pdf' })->json;
    is_deeply([$found->{conclusion}, $found->{signatures}[0]{ours}], ['signed', Mojo::JSON->true],
        'the signature is of that certificate');
    is($found->{signatures}[0]{signer}{name}, "Sigreq TEST \x{2014} not legally binding",
        'the name of the certificate says that it is for tests');
    $httpd = Sigreq::Httpd->new(seal => pair($ours) . "\n" . pair("$folder/soon", 'SigreqTestSeal'))->start;
    ok(healthy($httpd), 'the server works with a test seal');
    unlike($httpd->log, qr/SR0401/, 'it does not make one then');
    like(
        $httpd->log,
        qr/:warn\].* SR0402: the test certificate "Sigreq" of the seal expires at \d{4}-\d\d-\S+ .* signed then/,
        'there is a warning about a certificate that expires soon');
};
subtest 'restarts' => sub {
    my $pair  = create('changing');
    my $httpd = Sigreq::Httpd->new(seal => pair($pair))->start;
    my $again = sub {
        my $count = () = $httpd->log =~ /SR0401/g;
        kill USR1 => $httpd->pid;
        return wait_for(sub { (() = $httpd->log =~ /SR0401/g) > $count || !-e "/proc/" . $httpd->pid });
    };
    my ($first, $second) = map { signed(pdf(), $_, 'Ann') } $pair, $other;
    ok(seals_with($httpd, $first) && !seals_with($httpd, $second), 'at first the server uses its first certificate');
    copy("$other/$_", "$pair/$_") for qw(seal.crt seal.key);
    ok($again->(), 'a restart with another certificate');
    ok(wait_for(sub { eval { seals_with($httpd, $second) && !seals_with($httpd, $first) } }),
        'httpd uses the other certificate');
    my $pid = $httpd->pid;
    write_file("$pair/seal.crt", 'broken');
    my ($code, $told) = $httpd->test;
    is($code, 0, 'with a bad file httpd -t, which apachectl asks first, allows a restart for other sites');
    like($told, qr/SR0400: .*cannot be signed/, 'httpd -t says that documents cannot be signed');
    ok(healthy($httpd), 'the server works as before');
    my $before = length $httpd->log;
    ok($again->(), 'a restart');
    is($httpd->pid, $pid, 'the server goes on after the restart');
    my @lines = grep {/SR0400/} split /\n/, substr $httpd->log, $before;
    is(scalar @lines, 1, 'the log has one error') or diag $httpd->log;
    like($lines[0], qr{$both[0]: \Q$pair\E/seal\.crt: it holds no certificate}, 'the error has the reason');
    ok(wait_for(sub { !eval { healthy($httpd) } }), 'the health check fails');
    copy("$other/$_", "$pair/$_") for qw(seal.crt seal.key);
    ok($again->(), 'the file is repaired, and httpd restarted');
    ok(wait_for(sub { eval { healthy($httpd) } }), 'the repaired seal seals again');
};
subtest 'a certificate that expires soon, while httpd runs' => sub {
    plan skip_all => clock_missing() if clock_missing();
    my $new   = Sigreq::Httpd->new(seal => pair(create('weeks', '--days', 32)));
    my $httpd = clocked(sub { $new->start }, clock_set("$folder/clock", 0));
    my $warnings = sub { scalar(() = $httpd->log =~ /:warn\].* SR0402: .* expires at/g) };
    is($warnings->(), 0, 'it expires in 32 days: no warning');
    clock_set("$folder/clock", 3 * 86_400);
    ok(wait_for(sub { $warnings->() == 1 }), 'in 29 days: a warning');
    clock_set("$folder/clock", 4 * 86_400);
    ok(wait_for(sub { $warnings->() == 2 }), 'a day later: another one');
};
done_testing;
